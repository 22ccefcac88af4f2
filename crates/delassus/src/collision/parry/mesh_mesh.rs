//! Two meshes, convex or not: corners of one over faces of the other, and edges that cross.
//!
//! ```text
//! m·(w − v) ≥ 0   for the corners w beside a corner v of B over a face of A with normal m
//! ```
//!
//! Each feature is asked for itself whether it can touch along a normal: its mesh must lie on one side of it
//! there. So faces that lie flush on each other, beside others at any angle, touch where they do and nowhere
//! else, which no measure of the overlap of two triangles shows.

use glam::DVec3;
use parry3d_f64::bounding_volume::{Aabb, BoundingVolume};
use parry3d_f64::math::Pose as ParryPose;

use super::super::contact::nearest_on_lines;
use super::{MERGE_DISTANCE, MIN_PARALLEL_COSINE, Mesh, Work, flip, number, reduce_patches, touch};
use crate::collision::contact::{Contact, Features};
use crate::world::Pose;

/// How deep corners and edges are looked for in another mesh, in parts of the smaller one.
const MAX_DEPTH: f64 = 0.05;
/// Square of the sine between edges that are parallel: their corners touch instead.
const MIN_CROSSING_SQUARED: f64 = 1e-6;
/// No edge.
pub(super) const NO_EDGE: u32 = u32::MAX;

/// An edge with the corners of the triangles beside it that are not on it; the same twice where there is one.
pub(super) struct Edge {
    ends: [u32; 2],
    beside: [u32; 2],
}

/// The edges that are not flat and not hollow, and which of them each triangle has.
pub(super) fn convex_edges(
    vertices: &[DVec3],
    triangles: &[[u32; 3]],
    around: &[Vec<u32>],
    flat: f64,
) -> (Vec<Edge>, Vec<[u32; 3]>) {
    let at = |k: u32| vertices[k as usize];
    let (mut edges, mut edges_of) = (Vec::new(), vec![[NO_EDGE; 3]; triangles.len()]);
    for (t, corners) in triangles.iter().enumerate() {
        let [p, q, r] = corners.map(at);
        let normal = (q - p).cross(r - p).normalize_or_zero();
        for k in 0..3 {
            let (i, j, opposite) = (corners[k], corners[(k + 1) % 3], corners[(k + 2) % 3]);
            let other =
                around[i as usize].iter().find(|&&u| u as usize != t && triangles[u as usize].contains(&j));
            let Some(&other) = other else {
                edges_of[t][k] = edges.len() as u32;
                edges.push(Edge { ends: [i, j], beside: [opposite; 2] });
                continue;
            };
            let Some(&far) = triangles[other as usize].iter().find(|&&v| v != i && v != j) else { continue };
            if (other as usize) < t {
                // Found from the other side.
                let known = (0..3).find(|&m| {
                    let edge = edges_of[other as usize][m];
                    edge != NO_EDGE && edges.get(edge as usize).is_some_and(|e: &Edge| e.ends == [j, i])
                });
                edges_of[t][k] = known.map_or(NO_EDGE, |m| edges_of[other as usize][m]);
            } else if normal.dot(at(far) - p) < -flat {
                edges_of[t][k] = edges.len() as u32;
                edges.push(Edge { ends: [i, j], beside: [opposite, far] });
            }
        }
    }
    (edges, edges_of)
}

/// Contacts of two meshes, the second at a pose seen from the first.
pub(super) fn mesh_mesh(
    mesh: &Mesh,
    other: &Mesh,
    pose: &Pose,
    max_gap: f64,
    work: &mut Work,
    out: &mut Vec<Contact>,
) {
    let start = out.len();
    corners_on_faces(mesh, other, pose, max_gap, out);
    let middle = out.len();
    corners_on_faces(other, mesh, &pose.inverse(), max_gap, out);
    for contact in &mut out[middle..] {
        flip(contact, pose);
        contact.feature = number(&[1, contact.feature]);
    }
    edges_on_edges(mesh, other, pose, max_gap, out);
    let merge = MERGE_DISTANCE * mesh.size.min(other.size);
    reduce_patches(pose, merge, MIN_PARALLEL_COSINE, start, &mut work.spare, out);
}

/// Triangles of a mesh near another one.
fn near<'a>(
    mesh: &'a Mesh,
    other: &Mesh,
    pose: &Pose,
    search_gap: f64,
) -> impl Iterator<Item = u32> + use<'a> {
    let at = ParryPose::from_parts(pose.position, pose.rotation).inverse();
    let around = other.tree.root_aabb().transform_by(&at).loosened(search_gap);
    let mut found: Vec<u32> = mesh.tree.intersect_aabb(&around).collect();
    found.sort_unstable();
    found.into_iter()
}

/// Corners of B over or behind faces of A.
fn corners_on_faces(mesh: &Mesh, other: &Mesh, pose: &Pose, max_gap: f64, out: &mut Vec<Contact>) {
    let size = mesh.size.min(other.size);
    let (merge, search_gap) = (MERGE_DISTANCE * size, max_gap.max(MAX_DEPTH * size));
    let mut corners: Vec<u32> =
        near(other, mesh, pose, search_gap).flat_map(|t| other.triangles[t as usize]).collect();
    corners.sort_unstable();
    corners.dedup();
    for k in corners {
        let v = other.vertices[k as usize];
        let x = pose.point(v);
        // The face normal, the height over it and the triangle.
        let mut faces: Vec<(DVec3, f64, u32)> = vec![];
        for t in mesh.tree.intersect_aabb(&Aabb::new(x - search_gap, x + search_gap)) {
            let [p, q, r] = mesh.triangles[t as usize].map(|k| mesh.vertices[k as usize]);
            let mut m = (q - p).cross(r - p).normalize_or_zero();
            let over = [(p, q), (q, r), (r, p)];
            let inside = |(a, b): &(DVec3, DVec3)| m.cross(*b - *a).normalize_or_zero().dot(x - *a) >= -merge;
            if !over.iter().all(inside) {
                continue;
            }
            if mesh.open && m.dot(pose.position - p) < 0.0 {
                m = -m;
            }
            faces.push((m, m.dot(x - p), t));
        }
        // In the solid only the nearest face counts.
        let nearest = faces.iter().map(|face| face.1.abs()).fold(f64::INFINITY, f64::min);
        let inside = faces.iter().any(|face| face.1 < -merge && face.1.abs() <= nearest);
        faces.retain(|&(_, s, _)| match inside {
            true => s < 0.0 && s.abs() <= nearest + merge,
            false => s >= -merge && s <= max_gap,
        });
        for (m, s, t) in faces {
            let up = pose.local_vector(m);
            let lowest =
                other.around[k as usize].iter().flat_map(|&u| other.triangles[u as usize]).all(|w| {
                    let d = other.vertices[w as usize] - v;
                    up.dot(d) >= -merge.max(1e-6 * d.length())
                });
            if lowest {
                out.push(touch(number(&[t, k]), [x - m * s, v], [0.0; 2], Features::FaceOfA(m), m));
            }
        }
    }
}

/// Edges of A and B that cross.
fn edges_on_edges(mesh: &Mesh, other: &Mesh, pose: &Pose, max_gap: f64, out: &mut Vec<Contact>) {
    let size = mesh.size.min(other.size);
    let (merge, depth) = (MERGE_DISTANCE * size, MAX_DEPTH * size);
    let search_gap = max_gap.max(depth);
    let edges = |mesh: &Mesh, hits: &mut dyn Iterator<Item = u32>| {
        let all = hits.flat_map(|t| mesh.edges_of[t as usize]).filter(|&e| e != NO_EDGE);
        let mut found: Vec<u32> = all.collect();
        found.sort_unstable();
        found.dedup();
        found
    };
    let there = |k: u32| pose.point(other.vertices[k as usize]);
    let here = |k: u32| mesh.vertices[k as usize];
    for second in edges(other, &mut near(other, mesh, pose, search_gap)) {
        let g = &other.edges[second as usize];
        let [y, z] = g.ends.map(there);
        let around = Aabb::new(y.min(z) - search_gap, y.max(z) + search_gap);
        for first in edges(mesh, &mut mesh.tree.intersect_aabb(&around)) {
            let f = &mesh.edges[first as usize];
            let [w, x] = f.ends.map(here);
            let (along_a, along_b) = ((x - w).normalize_or_zero(), (z - y).normalize_or_zero());
            let cross = along_a.cross(along_b);
            if cross.length_squared() < MIN_CROSSING_SQUARED {
                continue;
            }
            let (s, t) = nearest_on_lines(along_a, along_b, y - w);
            let on = |s: f64, length: f64| s >= -merge && s <= length + merge;
            if !on(s, (x - w).length()) || !on(t, (z - y).length()) {
                continue;
            }
            let (a, b) = (w + along_a * s, y + along_b * t);
            for n in [cross.normalize(), -cross.normalize()] {
                let gap = n.dot(b - a);
                let below = f.beside.iter().all(|&k| n.dot(here(k) - a) <= merge);
                let above = g.beside.iter().all(|&k| n.dot(there(k) - b) >= -merge);
                let core = [a, pose.local_point(b)];
                // An edge at the far side of a thin plate is not in it.
                let through = || {
                    gap < -merge
                        && (leaves(mesh, a, b, merge) || leaves(other, core[1], pose.local_point(a), merge))
                };
                if gap >= -depth && gap <= max_gap && below && above && !through() {
                    let features = Features::Edges(along_a, pose.local_vector(along_b));
                    out.push(touch(number(&[2, first, second]), core, [0.0; 2], features, n));
                }
            }
        }
    }
}

/// Whether the way from a to b goes out through a triangle.
fn leaves(mesh: &Mesh, a: DVec3, b: DVec3, merge: f64) -> bool {
    mesh.tree.intersect_aabb(&Aabb::new(a.min(b), a.max(b))).any(|t| {
        let [p, q, r] = mesh.triangles[t as usize].map(|k| mesh.vertices[k as usize]);
        let m = (q - p).cross(r - p).normalize_or_zero();
        let (s, t) = (m.dot(a - p), m.dot(b - p));
        let x = a + (b - a) * (s / (s - t));
        s < -merge
            && t > merge
            && [(p, q), (q, r), (r, p)].iter().all(|(v, w)| m.cross(*w - *v).dot(x - *v) >= 0.0)
    })
}
