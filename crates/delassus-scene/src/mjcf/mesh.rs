//! Meshes of MJCF files: their triangles, their mass as MuJoCo counts it, the hull with which they touch, and
//! primitives fitted to them.
//!
//! | `inertia` of `<mesh>` | mass of |
//! |---|---|
//! | `legacy`, or none | pyramids on all triangles from their common centre, each counted as positive |
//! | `exact` | the same pyramids with their signs: the volume within |
//! | `convex` | the convex hull |
//! | `shell` | the surface |
//!
//! The centre is the mean of the triangles by area; moments are those of pyramids from the centre of mass.
//! The first is wrong where a mesh is not star-shaped, and what MuJoCo does by default. MuJoCo keeps corners
//! in single precision, so they are rounded here too.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use glam::{DMat3, DQuat, DVec3};

use super::{Model, file_stem};
use crate::diagnostic::{Result, WorldErrorKind};
use crate::mesh_file::{MeshError, Triangles, kept_parts, read_mesh};
use crate::xml::{Node, finite_numbers};
use delassus::formula::clip;
use delassus::world::{MassProperties, NoVolume, Pose, ShapeKind, convex_hull, principal_axes, reduced_hull};

/// Attributes of `<mesh>` that are read, or that change nothing about motion.
pub(super) const MESH: [&str; 14] = [
    "file",
    "scale",
    "vertex",
    "face",
    "refpos",
    "refquat",
    "inertia",
    "builtin",
    "params",
    "normal",
    "texcoord",
    "smoothnormal",
    "maxhullvert",
    "content_type",
];
/// How many points a hull that touches may have.
const HULL_POINTS: usize = 256;
/// How far others may lie outside, as part of the extent.
const HULL_DISTANCE: f64 = 1e-4;

/// Which mass a mesh has.
#[derive(Clone, Copy, PartialEq)]
enum Inertia {
    Legacy,
    Exact,
    Convex,
    Shell,
}

/// What `<asset>` names.
#[derive(Default)]
pub(super) struct Assets<'a> {
    meshes: BTreeMap<String, Node<'a>>,
    read: BTreeMap<String, Rc<Mesh>>,
    /// The hull that was reduced most: by how much, what to say of it, and where.
    pub(super) worst_hull: Option<(f64, String, Node<'a>)>,
    pub(super) hfields: BTreeMap<String, Node<'a>>,
}

/// A mesh in the axes of its file, scaled.
pub(super) struct Mesh {
    vertices: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    inertia: Inertia,
}

impl<'a> Model<'a> {
    /// `<mesh>` of `<asset>`.
    pub(super) fn read_mesh_asset(&mut self, asset: Node<'a>) -> Result<()> {
        super::list_unread(&mut self.source, asset, &MESH);
        let Some(name) = asset.attribute("name").or(asset.attribute("file").map(file_stem)) else {
            return self.source.attribute(asset, "name", "missing", "`name` or `file`");
        };
        if self.assets.meshes.insert(name.to_string(), asset).is_some() {
            let found = format!("`{name}` again");
            return self.source.attribute(asset, "name", &found, "a name of its own");
        }
        Ok(())
    }

    /// The mesh that a geom names.
    pub(super) fn mesh(&mut self, geom: Node<'a>, name: &str) -> Result<Rc<Mesh>> {
        if let Some(mesh) = self.assets.read.get(name) {
            return Ok(mesh.clone());
        }
        let Some(&asset) = self.assets.meshes.get(name) else {
            return self.source.attribute(geom, "mesh", &format!("`{name}`"), "the name of a <mesh>");
        };
        let element = self.defaults.element(&self.source, asset, 0)?;
        let scale = self.defaults.numbers(&self.source, element, "scale")?.map_or(DVec3::ONE, DVec3::from);
        let inertia = match self.defaults.get(element, "inertia") {
            None | Some(("legacy", _)) => Inertia::Legacy,
            Some(("exact", _)) => Inertia::Exact,
            Some(("convex", _)) => Inertia::Convex,
            Some(("shell", _)) => Inertia::Shell,
            Some((word, node)) => {
                let expected = "legacy, exact, convex or shell";
                return self.source.attribute(node, "inertia", &format!("`{word}`"), expected);
            }
        };
        let Triangles { mut vertices, mut triangles } =
            match (asset.attribute("file"), asset.attribute("vertex")) {
                (Some(file), _) => self.mesh_file(asset, file)?,
                (None, Some(text)) => self.inline_mesh(asset, text)?,
                (None, None) => {
                    return self.source.attribute(asset, "file", "missing", "`file` or `vertex`");
                }
            };
        let place = Pose {
            position: DVec3::from_array(self.source.numbers(asset, "refpos", [0.0; 3])?),
            rotation: match self.source.numbers(asset, "refquat", [1.0, 0.0, 0.0, 0.0])? {
                [w, x, y, z] if w * w + x * x + y * y + z * z > 0.0 => {
                    DQuat::from_xyzw(x, y, z, w).normalize()
                }
                _ => return self.source.fail(asset, WorldErrorKind::NoDirection { key: "refquat".into() }),
            },
        };
        let single = |v: DVec3| v.as_vec3().as_dvec3();
        vertices.iter_mut().for_each(|v| *v = place.local_point(single(*v) * scale));
        if let Some(i) = vertices.iter().position(|v| !v.is_finite()) {
            let found = format!("corner {i} beyond all numbers");
            return self.source.attribute(asset, "scale", &found, "corners that are finite");
        }
        if scale.x * scale.y * scale.z < 0.0 {
            triangles.iter_mut().for_each(|t| t.swap(1, 2));
        }
        let mesh = Rc::new(Mesh { vertices, triangles, inertia });
        self.assets.read.insert(name.to_string(), mesh.clone());
        Ok(mesh)
    }

    /// A mesh from a file.
    fn mesh_file(&self, asset: Node<'a>, file: &str) -> Result<Triangles> {
        let wrong = |reason| self.source.fail(asset, WorldErrorKind::Mesh { file: clip(file), reason });
        self.found_file(asset, file, read_mesh).or_else(wrong)
    }

    /// What is read from the file of an asset: beside the model, or beside the file that names it.
    pub(super) fn found_file<T>(
        &self,
        asset: Node<'a>,
        file: &str,
        read: impl Fn(&Path) -> std::result::Result<T, MeshError>,
    ) -> std::result::Result<T, MeshError> {
        let path = Path::new(&self.compiler(asset).mesh_folder).join(file);
        let folders = [self.source.folder_of_model(asset.model), self.source.folder_of(asset.file)];
        let mut found = Err(MeshError::NoFolder);
        for path in folders.into_iter().flatten().flat_map(|f| [f.join(&path), f.join(file)]) {
            found = read(&path);
            if !matches!(found, Err(MeshError::Unreadable { .. })) {
                break;
            }
        }
        found
    }

    /// A mesh whose corners stand in the file itself.
    fn inline_mesh(&self, asset: Node<'a>, text: &str) -> Result<Triangles> {
        let expected = "numbers x y z of at least four corners";
        let numbers = finite_numbers(text).filter(|n| n.len() % 3 == 0 && n.len() >= 12);
        let Some(numbers) = numbers else {
            return self.source.attribute(asset, "vertex", &format!("`{}`", clip(text)), expected);
        };
        let vertices: Vec<DVec3> = numbers.chunks_exact(3).map(DVec3::from_slice).collect();
        let faces = asset.attribute("face").unwrap_or_default();
        let corners: Option<Vec<u32>> = faces
            .split_whitespace()
            .map(|word| word.parse().ok().filter(|i: &u32| (*i as usize) < vertices.len()))
            .collect();
        match corners.filter(|c| c.len().is_multiple_of(3)) {
            // Corners without faces are a hull.
            Some(corners) if corners.is_empty() => {
                let triangles = convex_hull(&vertices).unwrap_or_default();
                Ok(Triangles { vertices, triangles })
            }
            Some(corners) => Ok(Triangles {
                vertices,
                triangles: corners.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect(),
            }),
            None => {
                let expected = "three indices of corners from 0 for every face";
                self.source.attribute(asset, "face", &format!("`{}`", clip(faces)), expected)
            }
        }
    }

    /// The mass of a mesh of density one.
    pub(super) fn mesh_mass(&self, geom: Node<'a>, name: &str, mesh: &Mesh) -> Result<MassProperties> {
        mesh.mass().or_else(|reason| {
            let kind = WorldErrorKind::Volume { shape: format!("mesh `{}`", clip(name)), reason };
            self.source.fail(self.assets.meshes.get(name).copied().unwrap_or(geom), kind)
        })
    }

    /// What a mesh touches with: its hull, or those of its parts.
    pub(super) fn mesh_shapes(&mut self, geom: Node<'a>, name: &str, mesh: &Mesh) -> Result<Vec<ShapeKind>> {
        let Some(folder) = &self.source.options.convex_parts else {
            return Ok(vec![self.mesh_hull(geom, name, &mesh.vertices)?]);
        };
        let surface = Triangles { vertices: mesh.vertices.clone(), triangles: mesh.triangles.clone() };
        let asset = self.assets.meshes.get(name).copied().unwrap_or(geom);
        let wrong = |reason| self.source.fail(asset, WorldErrorKind::Mesh { file: clip(name), reason });
        let parts = kept_parts(folder, name, &surface).or_else(wrong)?;
        match parts.len() {
            0 | 1 => Ok(vec![self.mesh_hull(geom, name, &mesh.vertices)?]),
            _ => parts.iter().map(|part| self.mesh_hull(geom, name, part)).collect(),
        }
    }

    /// The hull of a mesh, or of a part.
    fn mesh_hull(&mut self, geom: Node<'a>, name: &str, points: &[DVec3]) -> Result<ShapeKind> {
        let inf = DVec3::INFINITY;
        let (low, high) = points.iter().fold((inf, -inf), |(l, h), p| (l.min(*p), h.max(*p)));
        let extent = (high - low).length();
        let Some(hull) = reduced_hull(points, HULL_DISTANCE * extent, HULL_POINTS) else {
            let asset = self.assets.meshes.get(name).copied().unwrap_or(geom);
            let shape = format!("mesh `{}`", clip(name));
            let kind = WorldErrorKind::Volume { shape, reason: NoVolume::Flat { kind: "mesh" } };
            return self.source.fail(asset, kind);
        };
        if hull.error > HULL_DISTANCE * extent {
            let what = format!(
                "the whole hull of some meshes: {HULL_POINTS} points each, of mesh `{}` up to {:.1e} m short",
                clip(name),
                hull.error
            );
            self.assets.worst_hull = match self.assets.worst_hull.take() {
                Some((error, what, node)) if error >= hull.error => Some((error, what, node)),
                _ => Some((hull.error, what, geom)),
            };
        }
        let mut corners: Vec<u32> = hull.triangles.into_iter().flatten().collect();
        corners.sort_unstable();
        corners.dedup();
        Ok(ShapeKind::Convex { points: corners.into_iter().map(|i| points[i as usize]).collect() })
    }
}

impl Mesh {
    fn mass(&self) -> std::result::Result<MassProperties, NoVolume> {
        let hull;
        let triangles = match self.inertia {
            Inertia::Convex => {
                hull = convex_hull(&self.vertices).ok_or(NoVolume::Flat { kind: "mesh" })?;
                &hull
            }
            _ => &self.triangles,
        };
        let corners = |t: &[u32; 3]| t.map(|i| self.vertices[i as usize]);
        let (mut area, mut centre) = (0.0, DVec3::ZERO);
        for [a, b, c] in self.triangles.iter().map(corners) {
            let part = (b - a).cross(c - a).length() / 2.0;
            area += part;
            centre += part * (a + b + c) / 3.0;
        }
        if area <= 0.0 {
            return Err(NoVolume::Flat { kind: "mesh" });
        }
        let apex = centre / area;
        // What a triangle counts for, seen from an apex.
        let part = |[a, b, c]: [DVec3; 3], apex: DVec3| {
            let volume = (a - apex).dot((b - apex).cross(c - apex)) / 6.0;
            match self.inertia {
                Inertia::Legacy => volume.abs(),
                Inertia::Shell => (b - a).cross(c - a).length() / 2.0,
                _ => volume,
            }
        };
        let (mut whole, mut first) = (0.0, DVec3::ZERO);
        for t in triangles.iter().map(corners) {
            let volume = part(t, apex);
            whole += volume;
            first += volume * ((t[0] + t[1] + t[2]) / 4.0 + apex / 4.0);
        }
        let inf = DVec3::INFINITY;
        let (low, high) = self.vertices.iter().fold((inf, -inf), |(l, h), p| (l.min(*p), h.max(*p)));
        let least = 1e-12 * (high - low).max_element().powi(3);
        if self.inertia != Inertia::Shell && whole <= least {
            return Err(match whole < -least {
                true => NoVolume::InsideOut { volume: whole },
                false => NoVolume::Flat { kind: "mesh" },
            });
        }
        let centre = first / whole;
        let divisor = if self.inertia == Inertia::Shell { 12.0 } else { 20.0 };
        let (mut mass, mut second) = (0.0, DMat3::ZERO);
        for t in triangles.iter().map(corners) {
            let volume = part(t, centre);
            mass += volume;
            let [a, b, c] = t.map(|v| v - centre);
            let s = a + b + c;
            second += (outer(a) + outer(b) + outer(c) + outer(s)) * (volume / divisor);
        }
        let trace = second.x_axis.x + second.y_axis.y + second.z_axis.z;
        let inertia = DMat3::from_diagonal(DVec3::splat(trace)) - second;
        Ok(MassProperties { mass, centre, inertia })
    }

    /// The primitive of a type that stands for the mesh, scaled, and its pose in the axes of the mesh:
    /// `aabb` fits the box around it, otherwise the box of the same inertia is fitted.
    pub(super) fn fitted(
        &self,
        word: &str,
        aabb: bool,
        scale: f64,
    ) -> std::result::Result<(Vec<f64>, Pose), NoVolume> {
        let mass = self.mass()?;
        let (moments, rotation) = principal_axes(&mass.inertia);
        // The longest axis of the box, that of the smallest moment, is z.
        let mut order = [0, 1, 2];
        order.sort_by(|&a, &b| moments[b].total_cmp(&moments[a]));
        let axes = DMat3::from_quat(rotation);
        let [x, y] = [axes.col(order[0]), axes.col(order[1])];
        let rotation = DQuat::from_mat3(&DMat3::from_cols(x, y, x.cross(y))).normalize();
        let mut pose = Pose { position: mass.centre, rotation };
        let m = order.map(|k| moments[k] / mass.mass);
        let half = |k: usize| (1.5 * (m[0] + m[1] + m[2] - 2.0 * m[k]).max(0.0)).sqrt();
        let [mut a, mut b, mut c] = [half(0), half(1), half(2)];
        if aabb {
            let inf = DVec3::INFINITY;
            let local = self.vertices.iter().map(|v| pose.local_point(*v));
            let (low, high) = local.fold((inf, -inf), |(l, h), p| (l.min(p), h.max(p)));
            [a, b, c] = ((high - low) / 2.0).to_array();
            pose.position = pose.point((low + high) / 2.0);
        }
        let size = match (word, aabb) {
            ("sphere", false) => vec![(a + b + c) / 3.0],
            ("sphere", true) => vec![a.max(b).max(c)],
            ("capsule", false) => vec![(a + b) / 2.0, (c - (a + b) / 4.0).max(0.0)],
            ("capsule", true) => vec![a.max(b), c - a.max(b)],
            ("cylinder", false) => vec![(a + b) / 2.0, c],
            ("cylinder", true) => vec![a.max(b), c],
            _ => vec![a, b, c],
        };
        Ok((size.into_iter().map(|x| x * scale).collect(), pose))
    }
}

/// a aᵀ.
fn outer(a: DVec3) -> DMat3 {
    DMat3::from_cols(a * a.x, a * a.y, a * a.z)
}
