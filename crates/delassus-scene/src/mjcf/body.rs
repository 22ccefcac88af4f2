//! Bodies of MJCF files: where they stand, their geoms and their mass.
//!
//! | `inertiafromgeom` | mass comes from |
//! |---|---|
//! | `auto` | `<inertial>` where there is one, else the geoms |
//! | `true` | the geoms |
//! | `false` | `<inertial>` |
//!
//! Meshes touch as their convex hulls, ellipsoids as polyhedra. Geoms with `contype` and `conaffinity` zero
//! have mass and touch nothing, but in a `<pair>`.

use std::f64::consts::PI;

use glam::{DMat3, DQuat, DVec3};

use super::Model;
use super::attributes::{Element, MAX_DEPTH, too_deep};
use super::draft::{Draft, Touch};
use super::keyframe::Moving;
use super::medium::{Wet, half_axes};
use super::terrain::{ELLIPSOID_ERROR, ellipsoid_points};
use super::unread::list_unread;
use crate::diagnostic::{Result, WorldErrorKind};
use crate::xml::{Node, how_many};
use delassus::formula::clip;
use delassus::world::{MassProperties, Pose, Shape, ShapeKind, Zone, principal_axes, shape_mass};

/// Attributes of `<geom>` that are read.
pub(super) const GEOM: [&str; 21] = [
    "type",
    "size",
    "fromto",
    "pos",
    "quat",
    "axisangle",
    "xyaxes",
    "zaxis",
    "euler",
    "mass",
    "density",
    "friction",
    "condim",
    "contype",
    "conaffinity",
    "priority",
    "mesh",
    "hfield",
    "fitscale",
    "fluidshape",
    "fluidcoef",
];
const BODY: [&str; 8] = ["pos", "quat", "axisangle", "xyaxes", "zaxis", "euler", "mocap", "gravcomp"];
const INERTIAL: [&str; 9] =
    ["pos", "quat", "axisangle", "xyaxes", "zaxis", "euler", "mass", "diaginertia", "fullinertia"];
/// Density of a geom where none is given, kg/m³.
const DENSITY: f64 = 1000.0;
/// Each size of a site where none is given, m.
const SITE_SIZE: f64 = 0.005;
/// Coefficients of sliding, torsional and rolling friction where none are given.
const FRICTION: [f64; 3] = [1.0, 0.005, 0.0001];
/// Elements that would add bodies.
const GROWING: [&str; 3] = ["composite", "flexcomp", "plugin"];

/// Where an element stands: the body, the place on it, the class around it, how deep.
#[derive(Clone, Copy)]
struct Around {
    draft: usize,
    at: Pose,
    class: usize,
    depth: usize,
    /// Whether geoms give it its mass.
    mass: bool,
}

/// Mass from the elements of one body, and what of it a medium acts on.
struct Masses {
    inertial: Option<MassProperties>,
    geoms: MassProperties,
    wet: Wet,
}

impl Masses {
    fn none() -> Masses {
        Masses { inertial: None, geoms: MassProperties::ZERO, wet: Wet::default() }
    }
}

impl<'a> Model<'a> {
    /// `<worldbody>`.
    pub(super) fn read_world_body(&mut self, node: Node<'a>) -> Result<()> {
        let around = Around { draft: 0, at: Pose::IDENTITY, class: 0, depth: 0, mass: false };
        if let Some(joint) = self.joints_of(node, Pose::IDENTITY, 0, 0)?.first() {
            return self.source.attribute(joint.node(), "name", "of the world", "a joint in a <body>");
        }
        self.contents(node, around, &mut Masses::none())
    }

    /// A body: a draft of its own, or part of the one around it.
    fn body(&mut self, node: Node<'a>, around: Around) -> Result<()> {
        list_unread(&mut self.source, node, &BODY);
        let class = self.defaults.class(&self.source, node, "childclass", around.class)?;
        let element = self.defaults.element(&self.source, node, class)?;
        let on_draft = around.at.compose(&self.defaults.pose(&self.source, &self.compilers, element)?);
        let joints = self.joints_of(node, Pose::IDENTITY, class, around.depth)?;
        let mocap = node.attribute("mocap") == Some("true");
        let parent_fixed = self.drafts[around.draft].fixed;
        let name = node.attribute("name").filter(|name| !name.is_empty());
        let has_inertial = node.children().any(|child| child.tag() == "inertial");
        let from_geoms = self.compiler(node).inertia_from_geom.unwrap_or(!has_inertial);
        let depth = around.depth + 1;
        let mut inner = Around { draft: around.draft, at: on_draft, class, depth, mass: from_geoms };
        if !joints.is_empty() || mocap || parent_fixed {
            let place = self.drafts[around.draft].place.compose(&on_draft);
            let own = name.map_or_else(|| format!("body {}", self.drafts.len()), str::to_string);
            inner = Around { draft: self.drafts.len(), at: Pose::IDENTITY, ..inner };
            let fixed = joints.is_empty();
            if mocap && !fixed {
                return self.source.attribute(node, "mocap", "true", "a body without joints");
            }
            self.drafts.push(Draft { fixed, ..Draft::new(node, own, place) });
            if !fixed {
                let links = self.join(&joints, around.draft, inner.draft)?;
                let (draft, parent) = (inner.draft, around.draft);
                self.start.moving.push(Moving { draft, parent, on_parent: on_draft, joints, links });
            }
        }
        if let Some(name) = name
            && self.names.bodies.insert(name, (inner.draft, inner.at)).is_some()
        {
            return self.source.attribute(node, "name", &format!("`{name}` again"), "a name of its own");
        }
        // The mass of what stands still counts only as part of a total.
        if self.drafts[inner.draft].fixed && self.compilers[0].total_mass.is_none() {
            inner.mass = false;
        }
        let mut masses = Masses::none();
        self.contents(node, inner, &mut masses)?;
        let mass = match from_geoms {
            true => masses.geoms,
            false => masses.inertial.unwrap_or(MassProperties::ZERO),
        };
        let mass = self.bounded(node, mass);
        self.immerse(inner.draft, &mass, inner.at.rotation, from_geoms, masses.wet);
        let carries = !self.without_passive_forces();
        let draft = &mut self.drafts[inner.draft];
        draft.mass = draft.mass.plus(&mass);
        let [gravcomp] = self.source.numbers(node, "gravcomp", [0.0])?;
        if gravcomp != 0.0 && carries {
            draft.compensated = draft.compensated.plus(&mass.scaled(gravcomp));
        }
        Ok(())
    }

    /// Mass and moments with `boundmass`, `boundinertia` and `balanceinertia`.
    fn bounded(&self, node: Node<'a>, mut mass: MassProperties) -> MassProperties {
        let compiler = self.compiler(node);
        let [least_mass, least_moment] = compiler.least;
        if mass.mass == 0.0 && mass.inertia == DMat3::ZERO && least_mass > 0.0 {
            mass.centre = DVec3::ZERO;
        }
        mass.mass = mass.mass.max(least_mass);
        if least_moment > 0.0 || compiler.balance {
            let (moments, rotation) = principal_axes(&mass.inertia);
            let mut moments = moments.max(DVec3::splat(least_moment));
            if compiler.balance && 2.0 * moments.max_element() > moments.element_sum() {
                moments = DVec3::splat(moments.element_sum() / 3.0);
            }
            let r = DMat3::from_quat(rotation);
            mass.inertia = r * DMat3::from_diagonal(moments) * r.transpose();
        }
        mass
    }

    /// All that stands in a body or a frame, but its joints.
    fn contents(&mut self, node: Node<'a>, around: Around, masses: &mut Masses) -> Result<()> {
        if around.depth > MAX_DEPTH {
            return too_deep(&self.source, node);
        }
        for child in node.children() {
            match child.tag() {
                "body" => self.body(child, around)?,
                "geom" => {
                    let part = self.geom(child, around, &mut masses.wet)?;
                    masses.geoms = masses.geoms.plus(&part);
                }
                "inertial" if around.mass => {}
                "inertial" => {
                    masses.inertial = Some(self.inertial(child)?.placed(&around.at));
                    let element = self.defaults.element(&self.source, child, 0)?;
                    let place = self.defaults.pose(&self.source, &self.compilers, element)?;
                    masses.wet.inertial = Some(around.at.rotation * place.rotation);
                }
                "site" => {
                    let element = self.defaults.element(&self.source, child, around.class)?;
                    let mut pose = self.defaults.pose(&self.source, &self.compilers, element)?;
                    let zone = self.zone(element, &mut pose)?;
                    if let Some(name) = child.attribute("name") {
                        self.names.sites.insert(name, (around.draft, around.at.compose(&pose)));
                        self.names.zones.insert(name, zone);
                    }
                }
                "frame" => {
                    list_unread(&mut self.source, child, &BODY);
                    let class = self.defaults.class(&self.source, child, "childclass", around.class)?;
                    let element = self.defaults.element(&self.source, child, class)?;
                    let pose = self.defaults.pose(&self.source, &self.compilers, element)?;
                    let (at, depth) = (around.at.compose(&pose), around.depth + 1);
                    self.contents(child, Around { at, class, depth, ..around }, masses)?;
                }
                "joint" | "freejoint" | "camera" | "light" => {}
                word if GROWING.contains(&word) => {
                    let (element, expected) = (clip(word), "rigid bodies: no soft bodies and no plugins");
                    return self.source.fail(child, WorldErrorKind::Element { element, expected });
                }
                word => self.source.note(child, format!("<{}> of a body", clip(word))),
            }
        }
        Ok(())
    }

    /// `<inertial>`, in the axes of its body.
    fn inertial(&mut self, node: Node<'a>) -> Result<MassProperties> {
        list_unread(&mut self.source, node, &INERTIAL);
        let element = self.defaults.element(&self.source, node, 0)?;
        let place = self.defaults.pose(&self.source, &self.compilers, element)?;
        let text = self.source.required(node, "mass", "a positive number")?;
        let [mass] = self.source.numbers(node, "mass", [0.0])?;
        if mass <= 0.0 {
            return self.source.attribute(node, "mass", text, "a positive number");
        }
        let inertia = match (node.has_attribute("diaginertia"), node.has_attribute("fullinertia")) {
            (true, false) => {
                DMat3::from_diagonal(DVec3::from(self.source.numbers(node, "diaginertia", [0.0; 3])?))
            }
            (false, true) => {
                let [xx, yy, zz, xy, xz, yz] = self.source.numbers(node, "fullinertia", [0.0; 6])?;
                DMat3::from_cols(DVec3::new(xx, xy, xz), DVec3::new(xy, yy, yz), DVec3::new(xz, yz, zz))
            }
            _ => {
                let found = "missing, or beside `fullinertia`";
                return self.source.attribute(node, "diaginertia", found, "`diaginertia` or `fullinertia`");
            }
        };
        Ok(MassProperties { mass, centre: DVec3::ZERO, inertia }.placed(&place))
    }

    /// A geom: its shape goes to the draft, its mass is given back, both in the axes of the draft.
    fn geom(&mut self, node: Node<'a>, around: Around, wet: &mut Wet) -> Result<MassProperties> {
        list_unread(&mut self.source, node, &GEOM);
        let element = self.defaults.element(&self.source, node, around.class)?;
        let mut touch = self.touch(element)?;
        if self.disabled.contains("contact") {
            touch.masks = [0, 0];
        }
        let name = node.attribute("name");
        let touches = touch.masks != [0, 0]
            || !self.disabled.contains("contact")
                && name.is_some_and(|name| self.filter.paired.contains(name));
        let group = self.defaults.number(&self.source, element, "group", 0.0)?;
        let [low, high] = self.compiler(node).mass_groups;
        let massive = around.mass && (low..=high).contains(&group) && !self.massless(element)?;
        name.map(|name| self.filter.geoms.insert(name, around.draft));
        let fluid = self.fluid_coefficients(element)?.filter(|_| !self.drafts[around.draft].fixed);
        if !touches && !massive && fluid.is_none() {
            return Ok(MassProperties::ZERO);
        }
        let mut pose = self.defaults.pose(&self.source, &self.compilers, element)?;
        let word = self.defaults.get(element, "type").map_or("sphere", |(word, _)| word);
        let mut others = Vec::new();
        let (kind, unit) = match word {
            "mesh" => {
                let Some((name, _)) = self.defaults.get(element, "mesh") else {
                    return self.source.attribute(node, "mesh", "missing", "the name of a <mesh>");
                };
                let mesh = self.mesh(node, name)?;
                let shapes = touches.then(|| self.mesh_shapes(node, name, &mesh)).transpose()?;
                let mut shapes = shapes.unwrap_or_default().into_iter();
                let kind = shapes.next();
                others = shapes.collect();
                let zero = Ok(MassProperties::ZERO);
                (kind, if massive { self.mesh_mass(node, name, &mesh) } else { zero }?)
            }
            "hfield" => (Some(self.hfield(element)?), MassProperties::ZERO),
            "plane" => (Some(ShapeKind::Plane), MassProperties::ZERO),
            _ => self.primitive(element, word, &mut pose)?,
        };
        let pose = around.at.compose(&pose);
        if massive {
            wet.geoms.push(pose.rotation);
        }
        if let Some(coefficients) = fluid {
            match half_axes(word, &kind, &unit) {
                Some(axes) => wet.ellipsoids.push((pose, axes, coefficients)),
                None => {
                    let what = format!("`fluidshape` of a {word}: the medium does not act on it");
                    self.source.note(node, what);
                }
            }
        }
        if let Some(kind) = kind.filter(|_| touches) {
            let draft = &mut self.drafts[around.draft];
            if matches!(kind, ShapeKind::Plane | ShapeKind::Heightfield { .. }) && !draft.fixed {
                let found = format!("a {word} on a body that moves");
                return self.source.attribute(node, "type", &found, "a fixed plane or height field");
            }
            for kind in std::iter::once(kind).chain(others) {
                draft.shapes.push(Shape { kind, pose });
                draft.touches.push(touch);
            }
        }
        if !massive {
            return Ok(MassProperties::ZERO);
        }
        let density = self.defaults.nonnegative(&self.source, element, "density", DENSITY)?;
        let factor = match self.defaults.get(element, "mass") {
            Some(_) if unit.mass > 0.0 => {
                self.defaults.nonnegative(&self.source, element, "mass", 0.0)? / unit.mass
            }
            _ => density,
        };
        Ok(unit.scaled(factor).placed(&pose))
    }

    /// Whether a geom says that it has no mass.
    fn massless(&self, element: Element<'a>) -> Result<bool> {
        let number = |name| self.defaults.nonnegative(&self.source, element, name, 1.0);
        match self.defaults.get(element, "mass") {
            Some(_) => Ok(number("mass")? == 0.0),
            None => Ok(number("density")? == 0.0),
        }
    }

    /// A sphere, capsule, cylinder, box or ellipsoid: by its size, between two points, or fitted to a mesh.
    fn primitive(
        &mut self,
        element: Element<'a>,
        word: &str,
        pose: &mut Pose,
    ) -> Result<(Option<ShapeKind>, MassProperties)> {
        let node = element.node;
        let numbers = match word {
            "sphere" => 1,
            "capsule" | "cylinder" => 2,
            "box" | "ellipsoid" => 3,
            _ => {
                let expected = "plane, hfield, sphere, capsule, ellipsoid, cylinder, box or mesh";
                return self.source.attribute(node, "type", &format!("`{word}`"), expected);
            }
        };
        let size: [f64; 3] = match self.defaults.get(element, "mesh") {
            Some((name, _)) => {
                let mesh = self.mesh(node, name)?;
                let scale = self.defaults.number(&self.source, element, "fitscale", 1.0)?;
                match mesh.fitted(word, self.compiler(node).fit_aabb, scale) {
                    Ok((mut size, place)) => {
                        *pose = pose.compose(&place);
                        size.resize(3, 0.0);
                        // A capsule that is as wide as it is long.
                        let least = 1e-9 * size[0];
                        [size[0], size[1].max(least), size[2]]
                    }
                    Err(reason) => {
                        let kind = WorldErrorKind::Volume { shape: format!("mesh `{}`", clip(name)), reason };
                        return self.source.fail(node, kind);
                    }
                }
            }
            None => {
                let stretched = if numbers > 1 { self.stretch(element, pose, word == "box")? } else { None };
                let size = match numbers {
                    1 => self.size::<1>(element, None)?.to_vec(),
                    2 => self.size::<2>(element, stretched)?.to_vec(),
                    _ => self.size::<3>(element, stretched)?.to_vec(),
                };
                std::array::from_fn(|k| size.get(k).copied().unwrap_or(0.0))
            }
        };
        let [a, b, c] = size;
        Ok(match word {
            "sphere" => solid(ShapeKind::Sphere { radius: a }),
            "capsule" => solid(ShapeKind::Capsule { radius: a, half_height: b }),
            "cylinder" => solid(ShapeKind::Cylinder { radius: a, half_height: b }),
            "box" => solid(ShapeKind::Box { half_extents: DVec3::new(a, b, c) }),
            _ => {
                let half = DVec3::new(a, b, c);
                let percent = 100.0 * ELLIPSOID_ERROR;
                let what = format!(
                    "the curved surface of an ellipsoid: a polyhedron within {percent:.2} % of its half axes"
                );
                self.source.note(node, what);
                (Some(ShapeKind::Convex { points: ellipsoid_points(half) }), ellipsoid(half))
            }
        })
    }

    /// The region of a site, and its pose where it stands between two points.
    fn zone(&self, element: Element<'a>, pose: &mut Pose) -> Result<Zone> {
        let mut size = [SITE_SIZE; 3];
        let list = self.defaults.list(&self.source, element, "size", [1, 3])?;
        size.iter_mut().zip(list.unwrap_or_default()).for_each(|(size, given)| *size = given);
        let (word, node) = self.defaults.get(element, "type").unwrap_or(("sphere", element.node));
        let last = if word == "box" || word == "ellipsoid" { 2 } else { 1 };
        if let Some(half) = self.stretch(element, pose, true)? {
            size = [size[0]; 3];
            size[last] = half;
        }
        let [radius, half_height, _] = size;
        Ok(match word {
            "sphere" => Zone::Ellipsoid { half_axes: DVec3::splat(radius) },
            "capsule" => Zone::Capsule { radius, half_height },
            "cylinder" => Zone::Cylinder { radius, half_height },
            "box" => Zone::Box { half_extents: size.into() },
            "ellipsoid" => Zone::Ellipsoid { half_axes: size.into() },
            _ => {
                let expected = "sphere, capsule, ellipsoid, cylinder or box";
                return self.source.attribute(node, "type", &format!("`{}`", clip(word)), expected);
            }
        })
    }

    /// `fromto`: half the length, and a pose between the two points, z from the first to the second, or back
    /// as in MuJoCo, where that can be told.
    fn stretch(&self, element: Element<'a>, pose: &mut Pose, back: bool) -> Result<Option<f64>> {
        let Some(points) = self.defaults.numbers::<6>(&self.source, element, "fromto")? else {
            return Ok(None);
        };
        let [a, b] = [DVec3::from_slice(&points[..3]), DVec3::from_slice(&points[3..])];
        let Some(along) = crate::mjcf::attributes::direction(b - a) else {
            let node = self.defaults.get(element, "fromto").map_or(element.node, |(_, node)| node);
            return self.source.fail(node, WorldErrorKind::NoDirection { key: "fromto".to_string() });
        };
        let along = if back { -along } else { along };
        *pose = Pose { position: (a + b) / 2.0, rotation: DQuat::from_rotation_arc(DVec3::Z, along) };
        Ok(Some((b - a).length() / 2.0))
    }

    /// `size`; with `fromto` only its first number counts, the last one is half the length.
    fn size<const N: usize>(&self, element: Element<'a>, stretched: Option<f64>) -> Result<[f64; N]> {
        let least = if stretched.is_some() { 1 } else { N };
        let list = self.defaults.list(&self.source, element, "size", [least, 3])?;
        let node = self.defaults.get(element, "size").map_or(element.node, |(_, node)| node);
        let Some(list) = list else {
            return self.source.attribute(element.node, "size", "missing", how_many(least));
        };
        let mut size = [list[0]; N];
        match stretched {
            Some(half) => size[N - 1] = half,
            None => size.copy_from_slice(&list[..N]),
        }
        match size.iter().find(|x| **x <= 0.0) {
            None => Ok(size),
            Some(x) => self.source.attribute(node, "size", &x.to_string(), "positive numbers"),
        }
    }

    fn touch(&mut self, element: Element<'a>) -> Result<Touch> {
        let node = element.node;
        let whole = |model: &Self, name: &str, default: f64| -> Result<f64> {
            let value = model.defaults.number(&model.source, element, name, default)?;
            if value.fract() == 0.0 && value.abs() <= f64::from(u32::MAX) {
                return Ok(value);
            }
            model.source.attribute(node, name, &value.to_string(), "a whole number")
        };
        let masks = [whole(self, "contype", 1.0)?, whole(self, "conaffinity", 1.0)?];
        // Negative numbers are masks with high bits, as in C.
        let masks = masks.map(|m| m as i64 as u32);
        let condim = whole(self, "condim", 3.0)?;
        if ![1.0, 3.0, 4.0, 6.0].contains(&condim) {
            return self.source.attribute(node, "condim", &condim.to_string(), "1, 3, 4 or 6");
        }
        let list = self.defaults.list(&self.source, element, "friction", [1, 3])?.unwrap_or_default();
        let mut friction = FRICTION;
        friction[..list.len()].copy_from_slice(&list);
        if let Some(x) = friction.iter().find(|x| **x < 0.0) {
            return self.source.attribute(node, "friction", &x.to_string(), "numbers that are not negative");
        }
        Ok(Touch {
            masks,
            priority: whole(self, "priority", 0.0)? as i64,
            mu: friction[0],
            rolling: if condim >= 6.0 { friction[2] } else { 0.0 },
            spinning: if condim >= 4.0 { friction[1] } else { 0.0 },
            rough: condim > 1.0,
        })
    }
}

/// A shape and its mass at density one.
fn solid(kind: ShapeKind) -> (Option<ShapeKind>, MassProperties) {
    // Primitives other than planes have a volume.
    let mass = shape_mass(&kind).unwrap_or(MassProperties::ZERO);
    (Some(kind), mass)
}

/// Mass of an ellipsoid of density one with these half axes.
fn ellipsoid(half: DVec3) -> MassProperties {
    let mass = 4.0 / 3.0 * PI * half.x * half.y * half.z;
    let s = half * half;
    let moments = DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y) * (mass / 5.0);
    MassProperties { mass, centre: DVec3::ZERO, inertia: DMat3::from_diagonal(moments) }
}
