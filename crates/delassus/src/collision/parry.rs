//! The interface to parry: a tree of boxes, hulls, and the direction in which two convex shapes are nearest
//! or overlap the least. Only this file and its folder know parry.
//!
//! ```text
//! n = arg max over |n| = 1 of  min n·B − max n·A        A, B ⊂ ℝ³ convex
//! ```
//!
//! A mesh is the set of its triangles, a heightfield a mesh. A triangle is solid on its back, except in a
//! mesh that is not closed, whose triangles have two sides: the one of the other shape's centre. It touches
//! with its face, and with an edge or a corner only where no triangle beside it is nearer, so that what
//! slides over a flat mesh does not catch on the lines between triangles.

mod convex_parts;
mod mesh_mesh;
mod separation;

use glam::DVec3;
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::math::Pose as ParryPose;
use parry3d_f64::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};
use parry3d_f64::query::details::contact_support_map_support_map_with_params;
use parry3d_f64::query::gjk::{GJKResult, VoronoiSimplex};
use parry3d_f64::shape::{ConvexPolyhedron, SupportMap};
use parry3d_f64::transformation::try_convex_hull;

use super::box_box::{MIN_FACE_COSINE, flip};
use super::clip::{MERGE_DISTANCE, Polygon, reduce_patches};
use super::contact::{Contact, Features};
use super::convex::{Convex, convex_contacts, face_contacts, number};
use super::polytope::{Face, Polytope};
use super::primitives::{on_plane, touch};
use crate::world::{Pose, ShapeKind, open_edges};
use mesh_mesh::{Edge, NO_EDGE, convex_edges, mesh_mesh};
use separation::approach_origin;

pub use convex_parts::convex_parts;

/// What rounding leaves of the distance of a point from a plane, as a part of the size of the shapes, with
/// much to spare.
const PLANE_ROUNDING: f64 = 1e-12;

/// Normals whose cosine exceeds this belong to one flat patch.
const MIN_PARALLEL_COSINE: f64 = 1.0 - 1e-12;

/// A tree of boxes.
#[derive(Default)]
pub(super) struct Tree {
    bvh: Bvh,
    workspace: BvhWorkspace,
}

impl Tree {
    /// Puts a box into the tree or moves it.
    pub fn put(&mut self, index: u32, [low, high]: [DVec3; 2]) {
        self.bvh.insert_or_update_partially(Aabb::new(low, high), index, 0.0);
    }

    /// All pairs of boxes that overlap, each once, after some were moved.
    pub fn pairs(&mut self, found: &mut impl FnMut(u32, u32)) {
        self.bvh.refit(&mut self.workspace);
        self.bvh.optimize_incremental(&mut self.workspace);
        self.bvh.traverse_bvtt_single_tree::<false>(&mut self.workspace, found);
    }
}

/// Shapes, prepared.
pub(super) struct Solids {
    solids: Vec<Solid>,
    work: Work,
}

/// Memory that stays from call to call.
#[derive(Default)]
struct Work {
    polygon: Polygon,
    spare: Vec<Contact>,
    hits: [Vec<u32>; 2],
    triangles: [Polytope; 2],
}

enum Solid {
    Plane,
    Ball(f64),
    Capsule { radius: f64, half_height: f64 },
    Cylinder { radius: f64, half_height: f64 },
    Cone { radius: f64, half_height: f64 },
    Hull(Polytope),
    Mesh(Mesh),
}

/// Triangles with what is beside them.
struct Mesh {
    vertices: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    /// Triangles at each vertex.
    around: Vec<Vec<u32>>,
    tree: Bvh,
    /// Edges on which others can catch, and those of each triangle.
    edges: Vec<Edge>,
    edges_of: Vec<[u32; 3]>,
    /// Whether it is a sheet with two sides: it has edges with one triangle only.
    open: bool,
    /// Corners of the hull.
    outermost: Vec<DVec3>,
    size: f64,
}

impl Solid {
    fn new(kind: &ShapeKind) -> Solid {
        match *kind {
            ShapeKind::Plane => Solid::Plane,
            ShapeKind::Sphere { radius } => Solid::Ball(radius),
            ShapeKind::Capsule { radius, half_height } => Solid::Capsule { radius, half_height },
            ShapeKind::Cylinder { radius, half_height } => Solid::Cylinder { radius, half_height },
            ShapeKind::Cone { radius, half_height } => Solid::Cone { radius, half_height },
            ShapeKind::Box { half_extents } => Solid::Hull(Polytope::cuboid(half_extents)),
            ShapeKind::Convex { ref points } => Solid::Hull(hull(points)),
            ShapeKind::Mesh { ref vertices, ref triangles } => {
                Solid::Mesh(Mesh::new(vertices.clone(), triangles.clone(), open_edges(triangles) > 0))
            }
            ShapeKind::Heightfield { ref heights, size: [columns, rows], extent } => {
                let along = |k: usize, count: usize, extent: f64| {
                    (k as f64 / (count.max(2) - 1) as f64 - 0.5) * extent
                };
                let place = |k: usize| {
                    let (i, j) = (k % columns, k / columns);
                    DVec3::new(along(i, columns, extent[0]), along(j, rows, extent[1]), heights[k])
                };
                let vertices = (0..heights.len().min(columns * rows)).map(place).collect();
                let mut triangles = Vec::new();
                for j in 1..rows as u32 {
                    for i in 1..columns as u32 {
                        let k = j * columns as u32 + i;
                        let (left, below) = (k - 1, k - columns as u32);
                        triangles.push([below - 1, below, left]);
                        triangles.push([below, k, left]);
                    }
                }
                // Ground: solid below.
                Solid::Mesh(Mesh::new(vertices, triangles, false))
            }
        }
    }

    fn convex(&self) -> Option<Convex<'_>> {
        Some(match *self {
            Solid::Ball(radius) => Convex::Ball(radius),
            Solid::Capsule { radius, half_height } => Convex::Capsule { radius, half_height },
            Solid::Cylinder { radius, half_height } => Convex::Cylinder { radius, half_height },
            Solid::Cone { radius, half_height } => Convex::Cone { radius, half_height },
            Solid::Hull(ref polytope) => Convex::Polytope(polytope),
            Solid::Plane | Solid::Mesh(_) => return None,
        })
    }
}

/// The hull of points; of points in a plane or fewer, the box around them.
fn hull(points: &[DVec3]) -> Polytope {
    let solid = try_convex_hull(points)
        .ok()
        .and_then(|(vertices, triangles)| ConvexPolyhedron::from_convex_mesh(vertices, &triangles));
    if let Some(solid) = solid {
        let faces = solid.faces().iter().map(|face| {
            let (first, count) = (face.first_vertex_or_edge as usize, face.num_vertices_or_edges as usize);
            (face.normal, solid.vertices_adj_to_face()[first..first + count].to_vec())
        });
        return Polytope::new(solid.points().to_vec(), faces);
    }
    let nothing = [DVec3::INFINITY, DVec3::NEG_INFINITY];
    let [low, high] = points.iter().fold(nothing, |[low, high], &p| [low.min(p), high.max(p)]);
    let mut polytope = Polytope::cuboid((high - low) * 0.5);
    let corners: Vec<DVec3> = polytope.vertices.iter().map(|v| *v + (high + low) * 0.5).collect();
    polytope.set_corners(corners);
    polytope
}

impl Mesh {
    fn new(vertices: Vec<DVec3>, mut triangles: Vec<[u32; 3]>, open: bool) -> Mesh {
        let corner = |k: u32| vertices[k as usize];
        // Triangles without area have no side.
        triangles.retain(|&[i, j, k]| (corner(j) - corner(i)).cross(corner(k) - corner(i)).length() > 0.0);
        let boxes: Vec<_> = triangles
            .iter()
            .map(|t| {
                let [p, q, r] = t.map(corner);
                Aabb::new(p.min(q).min(r), p.max(q).max(r))
            })
            .collect();
        let mut around = vec![Vec::new(); vertices.len()];
        for (k, triangle) in triangles.iter().enumerate() {
            triangle.iter().for_each(|&v| around[v as usize].push(k as u32));
        }
        let tree = Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes);
        let outermost = try_convex_hull(&vertices).map_or_else(|_| vertices.clone(), |(points, _)| points);
        let size = vertices.iter().map(|v| v.abs().max_element()).fold(0.0, f64::max);
        let (edges, edges_of) = convex_edges(&vertices, &triangles, &around, 1e-6 * size);
        Mesh { vertices, triangles, around, tree, edges, edges_of, open, outermost, size }
    }

    /// Makes a polytope of one face out of a triangle.
    fn triangle(&self, index: u32, polytope: &mut Polytope) {
        let corners = self.triangles[index as usize].map(|k| self.vertices[k as usize]);
        let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or_zero();
        polytope.set_corners(corners);
        if polytope.faces.is_empty() {
            polytope.faces.push(Face { normal, corners: vec![0, 1, 2] });
            polytope.edges.extend([[0, 1], [1, 2], [2, 0]]);
        }
        polytope.faces[0].normal = normal;
        let sides = self.edges_of[index as usize].into_iter().enumerate();
        polytope.inner_sides = sides.map(|(k, edge)| u8::from(edge == NO_EDGE) << k).sum();
    }

    /// Whether no triangle beside the corner or edge of a triangle on which x lies reaches farther along n
    /// than x.
    fn is_outermost(&self, index: u32, x: DVec3, n: DVec3) -> bool {
        let near = 1e-6 * self.size;
        let corners = self.triangles[index as usize];
        let at = |k: u32| self.vertices[k as usize];
        let on = |k: usize| {
            let (v, w) = (at(corners[k]), at(corners[(k + 1) % 3]));
            let e = (w - v).normalize_or_zero();
            (x - v - e * (x - v).dot(e)).length() <= near
        };
        // Corners that belong to every edge x lies on: one where it is a corner, two on an edge.
        let edges = [on(0), on(1), on(2)];
        let touched = corners.iter().enumerate().filter(|&(k, _)| {
            let opposite = edges[(k + 1) % 3];
            !opposite && (edges[k] || edges[(k + 2) % 3])
        });
        let touched = touched.map(|(_, &v)| v);
        let Some(first) = touched.clone().next() else {
            let [p, q, r] = corners.map(at);
            let along = (q - p).cross(r - p).normalize_or_zero().dot(n);
            return (if self.open { along.abs() } else { along }) > 1.0 - 1e-6;
        };
        let beside = self.around[first as usize]
            .iter()
            .filter(|&&t| touched.clone().all(|v| self.triangles[t as usize].contains(&v)));
        beside.flat_map(|&t| self.triangles[t as usize]).all(|k| {
            let d = at(k) - x;
            n.dot(d) <= near.max(1e-6 * d.length())
        })
    }
}

/// A shape without the radius around it: iterations end at corners, and creep where they have to find a round
/// place.
struct Core<'a>(&'a Convex<'a>);

impl SupportMap for Core<'_> {
    fn local_support_point(&self, direction: DVec3) -> DVec3 {
        let n = direction.try_normalize().unwrap_or(DVec3::Z);
        let across = DVec3::new(n.x, n.y, 0.0).try_normalize().unwrap_or(DVec3::ZERO);
        let end = |half_height: f64| DVec3::Z * if n.z < 0.0 { -half_height } else { half_height };
        match *self.0 {
            Convex::Ball(_) => DVec3::ZERO,
            Convex::Capsule { half_height, .. } => end(half_height),
            Convex::Cylinder { radius, half_height } => end(half_height) + across * radius,
            Convex::Cone { radius, half_height } => {
                let (apex, rim) = (DVec3::Z * half_height, across * radius - DVec3::Z * half_height);
                if n.dot(apex) > n.dot(rim) { apex } else { rim }
            }
            Convex::Polytope(polytope) => polytope.vertices[polytope.support(n)],
        }
    }
}

/// The direction from A to B in which they are nearest or overlap the least, and the points of their cores
/// there, each in its own axes. If they are farther apart than `max_gap`, how far the cores are apart at
/// least.
// Long: one search in three steps that share their best direction.
fn direction(a: &Convex, b: &Convex, pose: &Pose, max_gap: f64) -> Result<(DVec3, [DVec3; 2]), f64> {
    let at = ParryPose::from_parts(pose.position, pose.rotation);
    let size = a.size().max(b.size());
    let max_gap = max_gap + a.radius() + b.radius();
    let (core_a, core_b) = (Core(a), Core(b));
    let points =
        |n: DVec3| [core_a.local_support_point(n), core_b.local_support_point(-pose.local_vector(n))];
    let apart = |n: DVec3| {
        let [x, y] = points(n);
        n.dot(pose.point(y) - x)
    };
    let mut simplex = VoronoiSimplex::new();
    let prediction = max_gap.max(0.0) * (1.0 + 1e-6) + 1e-9 * size;
    let mut found = None;
    // From some directions the iteration does not arrive.
    for start in [pose.position.try_normalize(), Some(DVec3::new(0.48, -0.6, 0.64)), Some(DVec3::Y)] {
        let result = contact_support_map_support_map_with_params(
            &at,
            &core_a,
            &core_b,
            prediction,
            &mut simplex,
            start,
        );
        match result {
            GJKResult::ClosestPoints(x, y, n) if x.is_finite() && y.is_finite() => {
                // The direction between the points is better than the other one, except where they nearly
                // coincide.
                let n = n.try_normalize().unwrap_or(DVec3::Z);
                let side = if n.dot(y - x) < 0.0 { -1.0 } else { 1.0 };
                let between = ((y - x) * side).try_normalize().unwrap_or(n);
                let n = if apart(between) > apart(n) { between } else { n };
                found = Some((n, [x, pose.local_point(y)]));
                break;
            }
            // Farther apart than asked for, and not a failure.
            GJKResult::NoIntersection(n) => {
                let least = apart(n);
                if least > prediction * (1.0 - 1e-6) {
                    return Err(least);
                }
            }
            _ => {}
        }
    }
    // Where the shapes touch, the direction between their nearest points is noise. Faces are known exactly:
    // one that is as good takes its place, and if no direction was found the best of them does.
    let bound = found.map_or(f64::NEG_INFINITY, |(n, _)| apart(n));
    let mut best = (bound - 1e-9 * size, None);
    let mut try_direction = |n: DVec3, most: f64| {
        if most < best.0 {
            return;
        }
        let separation = apart(n);
        if separation > best.0 {
            best = (separation, Some(n));
        }
    };
    // Shapes are no farther apart along a face than the point of the other one is from its plane: that leaves
    // the faces near these points, of many.
    let slack = PLANE_ROUNDING * size;
    let (near_a, near_b) = (found.map(|(_, p)| pose.point(p[1])), found.map(|(_, p)| pose.local_point(p[0])));
    let faces = |shape: &Convex, other: Option<DVec3>, look: &mut dyn FnMut(DVec3, f64)| match *shape {
        Convex::Polytope(polytope) => {
            for (k, face) in polytope.faces.iter().enumerate() {
                look(face.normal, other.map_or(f64::INFINITY, |x| polytope.height(k, x) + slack));
            }
        }
        Convex::Cylinder { .. } => [DVec3::Z, DVec3::NEG_Z].into_iter().for_each(|n| look(n, f64::INFINITY)),
        Convex::Cone { .. } => look(DVec3::NEG_Z, f64::INFINITY),
        Convex::Ball(_) | Convex::Capsule { .. } => {}
    };
    faces(a, near_a, &mut try_direction);
    faces(b, near_b, &mut |m, most| try_direction(-(pose.rotation * m), most));
    // So are the sides of cylinders beside each other.
    let round = |shape: &Convex| matches!(shape, Convex::Cylinder { .. } | Convex::Capsule { .. });
    if round(a) && round(b) {
        let beside = |axis: DVec3| (pose.position - axis * axis.dot(pose.position)).try_normalize();
        [DVec3::Z, pose.rotation * DVec3::Z]
            .into_iter()
            .filter_map(beside)
            .for_each(|n| try_direction(n, f64::INFINITY));
    }
    if found.is_none() {
        let n = pose.position.try_normalize().unwrap_or(DVec3::Z);
        let [x, y] = points(n);
        try_direction(n, f64::INFINITY);
        try_direction(approach_origin(a, b, pose, n, pose.point(y) - x).1, f64::INFINITY);
    }
    match best.1 {
        Some(n) if best.0 <= max_gap => {
            // Of the points that were found and the farthest ones along n, those that face each other better.
            let beside = |p: &[DVec3; 2]| {
                let d = pose.point(p[1]) - p[0];
                (d - n * n.dot(d)).length()
            };
            let farthest = points(n);
            let better = found.map(|(_, p)| p).filter(|p| beside(p) < beside(&farthest));
            Ok((n, better.unwrap_or(farthest)))
        }
        Some(_) => Err(best.0),
        None => found.ok_or(f64::NEG_INFINITY),
    }
}

impl Solids {
    pub fn new<'a>(shapes: impl Iterator<Item = &'a ShapeKind>) -> Solids {
        Solids { solids: shapes.map(Solid::new).collect(), work: Work::default() }
    }

    /// Memory for polygons.
    pub fn polygon(&mut self) -> &mut Polygon {
        &mut self.work.polygon
    }

    /// Contacts of two shapes, the second at a pose seen from the first, up to the gap `max_gap`. How far the
    /// shapes are apart at least, as far as that was found.
    pub fn touches(&mut self, [i, j]: [usize; 2], pose: &Pose, max_gap: f64, out: &mut Vec<Contact>) -> f64 {
        let (first, second, work) = (&self.solids[i], &self.solids[j], &mut self.work);
        let start = out.len();
        let flipped = |out: &mut Vec<Contact>| out[start..].iter_mut().for_each(|c| flip(c, pose));
        match (first, second, first.convex(), second.convex()) {
            (_, _, Some(a), Some(b)) => return convex_pair(&a, &b, pose, max_gap, work, out),
            (Solid::Plane, solid, ..) => {
                plane_points(solid, pose, max_gap, work, out);
            }
            (solid, Solid::Plane, ..) => {
                plane_points(solid, &pose.inverse(), max_gap, work, out);
                flipped(out);
            }
            (Solid::Mesh(mesh), _, _, Some(b)) => mesh_convex(mesh, &b, pose, max_gap, work, out),
            (_, Solid::Mesh(mesh), Some(a), _) => {
                mesh_convex(mesh, &a, &pose.inverse(), max_gap, work, out);
                flipped(out);
            }
            (Solid::Mesh(mesh), Solid::Mesh(other), ..) => mesh_mesh(mesh, other, pose, max_gap, work, out),
            _ => {}
        }
        f64::NEG_INFINITY
    }
}

/// The box around a shape at a pose, loosened.
fn box_around(b: &Convex, pose: &Pose, loosened: f64) -> Aabb {
    let core = Core(b);
    let extreme = |n: DVec3| pose.point(core.local_support_point(pose.local_vector(n)));
    let [x, y, z] = DVec3::AXES;
    let high = DVec3::new(extreme(x).x, extreme(y).y, extreme(z).z) + (loosened + b.radius());
    let low = DVec3::new(extreme(-x).x, extreme(-y).y, extreme(-z).z) - (loosened + b.radius());
    Aabb::new(low, high)
}

/// Half-space A and the corners of B.
fn plane_points(solid: &Solid, pose: &Pose, max_gap: f64, work: &mut Work, out: &mut Vec<Contact>) {
    let (points, size) = match solid {
        Solid::Hull(polytope) => (&polytope.vertices, polytope.size()),
        Solid::Mesh(mesh) => (&mesh.outermost, mesh.size),
        _ => return,
    };
    let start = out.len();
    for (k, &point) in points.iter().enumerate() {
        if pose.point(point).z <= max_gap {
            on_plane(k as u32, point, 0.0, pose, out);
        }
    }
    reduce_patches(pose, MERGE_DISTANCE * size, MIN_PARALLEL_COSINE, start, &mut work.spare, out);
}

/// Two convex shapes: their contacts, and how far they are apart at least, where that was found.
fn convex_pair(
    a: &Convex,
    b: &Convex,
    pose: &Pose,
    max_gap: f64,
    work: &mut Work,
    out: &mut Vec<Contact>,
) -> f64 {
    match (a, b) {
        (Convex::Polytope(polytope), Convex::Ball(radius)) => {
            let (x, features, feature, n, _) = polytope.nearest(pose.position);
            out.push(touch(feature, [x, DVec3::ZERO], [0.0, *radius], features, n));
        }
        (Convex::Ball(_), Convex::Polytope(_)) => {
            let start = out.len();
            convex_pair(b, a, &pose.inverse(), max_gap, work, out);
            out[start..].iter_mut().for_each(|c| flip(c, pose));
        }
        _ => match direction(a, b, pose, max_gap) {
            Ok((n, p)) => convex_contacts((a, b), pose, n, p, max_gap, &mut work.polygon, out),
            Err(apart) => return apart - a.radius() - b.radius(),
        },
    }
    f64::NEG_INFINITY
}

/// A mesh and a convex shape.
fn mesh_convex(mesh: &Mesh, b: &Convex, pose: &Pose, max_gap: f64, work: &mut Work, out: &mut Vec<Contact>) {
    let mut hits = std::mem::take(&mut work.hits[0]);
    hits.clear();
    hits.extend(mesh.tree.intersect_aabb(&box_around(b, pose, max_gap)));
    hits.sort_unstable();
    let mut triangle = std::mem::take(&mut work.triangles[0]);
    let start = out.len();
    // Contacts from the front come first; those from behind count only where there is none, and then the
    // shallowest.
    let (mut front, mut depth) = (false, f64::INFINITY);
    for &index in &hits {
        mesh.triangle(index, &mut triangle);
        let normal = triangle.faces[0].normal;
        let mut behind = normal.dot(pose.position - triangle.vertices[0]) < 0.0;
        if behind && mesh.open {
            // The other side of a sheet.
            triangle.vertices.swap(1, 2);
            triangle.faces[0].normal = -normal;
            // Seen from there, edges that are not flat are hollow.
            triangle.inner_sides = 0b111;
            behind = false;
        }
        let first = out.len();
        triangle_convex((mesh, index), &triangle, b, pose, max_gap, work, out);
        for contact in &mut out[first..] {
            contact.feature = number(&[index, contact.feature]);
        }
        let below =
            out[first..].iter().map(|c| -c.gap_at(&Pose::IDENTITY, pose).0).fold(f64::NEG_INFINITY, f64::max);
        if out.len() == first || below < -max_gap {
            out.truncate(first);
        } else if !behind && !front {
            front = true;
            out.drain(start..first);
        } else if behind && (front || below > depth + MERGE_DISTANCE * mesh.size) {
            out.truncate(first);
        } else if behind && below < depth - MERGE_DISTANCE * mesh.size {
            depth = below;
            out.drain(start..first);
        }
    }
    work.hits[0] = hits;
    work.triangles[0] = triangle;
    reduce_patches(
        pose,
        MERGE_DISTANCE * mesh.size.min(b.size()),
        MIN_PARALLEL_COSINE,
        start,
        &mut work.spare,
        out,
    );
}

/// One triangle of a mesh and a convex shape.
fn triangle_convex(
    (mesh, index): (&Mesh, u32),
    triangle: &Polytope,
    b: &Convex,
    pose: &Pose,
    max_gap: f64,
    work: &mut Work,
    out: &mut Vec<Contact>,
) {
    let normal = triangle.faces[0].normal;
    let a = Convex::Polytope(triangle);
    if let Convex::Ball(radius) = *b {
        let (x, features, feature, n, _) = triangle.nearest(pose.position);
        let face = matches!(features, Features::FaceOfA(_));
        if face || (n.dot(normal) > 0.0 && mesh.is_outermost(index, x, n)) {
            out.push(touch(feature, [x, DVec3::ZERO], [0.0, radius], features, n));
        }
        return;
    }
    let Ok((n, p)) = direction(&a, b, pose, max_gap) else {
        return;
    };
    let overlap = n.dot(pose.point(p[1]) - p[0]) < b.radius();
    // What has a flat side lies with it on many triangles: each takes its part.
    let flat = n.dot(normal) > MIN_PARALLEL_COSINE && b.radius() == 0.0;
    if !flat && n.dot(normal) > -MIN_FACE_COSINE && mesh.is_outermost(index, p[0], n) {
        convex_contacts((&a, b), pose, n, p, max_gap, &mut work.polygon, out);
    } else if overlap || n.dot(normal) >= MIN_FACE_COSINE {
        face_contacts((&a, b), pose, normal, 0, &mut work.polygon, out);
    }
}
