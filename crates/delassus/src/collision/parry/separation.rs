//! How far apart two shapes are at least, and in which direction.
//!
//! ```text
//! |b − a| ≥ n·(b − a) ≥ min n·B − max n·A      for all a ∈ A, b ∈ B, |n| = 1
//! ```
//!
//! Every direction bounds the distance of two convex shapes from below, whatever the iteration lost that
//! found it. A mesh is the set of its triangles, a sheet without a back.

use glam::DVec3;
use parry3d_f64::bounding_volume::BoundingVolume;
use parry3d_f64::math::Pose as ParryPose;
use parry3d_f64::shape::SupportMap;

use super::{Convex, Core, Mesh, Solid, Solids, Work, box_around, direction};
use crate::world::Pose;

/// Steps after which a bound of a distance stays as it is, and how far below the distance it may be, in parts
/// of the size of the shapes.
const MAX_SEPARATION_STEPS: usize = 100;
const MAX_SEPARATION_ERROR: f64 = 1e-9;

impl Solids {
    /// Calls `found` with a lower bound of the distance and its direction, from the first, for each pair of
    /// convex parts of two shapes that may be nearer than `search_gap`: their separation along that
    /// direction.
    pub fn separations(
        &mut self,
        [i, j]: [usize; 2],
        pose: &Pose,
        search_gap: f64,
        found: &mut dyn FnMut(f64, DVec3),
    ) {
        let Solids { solids, work } = self;
        match (&solids[i], &solids[j]) {
            (Solid::Plane, solid) => plane_separation(solid, pose, found),
            (solid, Solid::Plane) => {
                plane_separation(solid, &pose.inverse(), &mut |gap, n| found(gap, -(pose.rotation * n)));
            }
            (Solid::Mesh(mesh), solid) => mesh_separations(mesh, solid, pose, search_gap, work, found),
            (solid, Solid::Mesh(mesh)) => {
                mesh_separations(mesh, solid, &pose.inverse(), search_gap, work, &mut |gap, n| {
                    found(gap, -(pose.rotation * n));
                });
            }
            (first, second) => {
                if let (Some(a), Some(b)) = (first.convex(), second.convex()) {
                    separation(&a, &b, pose, search_gap, found);
                }
            }
        }
    }
}

/// Two convex shapes: any direction bounds their distance from below, whatever the iteration lost.
fn separation(a: &Convex, b: &Convex, pose: &Pose, search_gap: f64, found: &mut dyn FnMut(f64, DVec3)) {
    if let Ok((n, [x, y])) = direction(a, b, pose, search_gap) {
        let (bound, n) = approach_origin(a, b, pose, n, pose.point(y) - x);
        found(bound - a.radius() - b.radius(), n);
    }
}

/// From a direction and a vector v of B − A to a direction along which the cores are farther apart, with that
/// separation: steps of Frank and Wolfe from v towards the origin.
pub(super) fn approach_origin(a: &Convex, b: &Convex, pose: &Pose, n: DVec3, mut v: DVec3) -> (f64, DVec3) {
    let lowest = |n: DVec3| {
        let x = Core(a).local_support_point(n);
        pose.point(Core(b).local_support_point(-pose.local_vector(n))) - x
    };
    let mut best = (n.dot(lowest(n)), n);
    for _ in 0..MAX_SEPARATION_STEPS {
        let near = best.0 + MAX_SEPARATION_ERROR * a.size().max(b.size());
        let Some(n) = v.try_normalize().filter(|_| v.length() > near) else { break };
        let w = lowest(n);
        if n.dot(w) > best.0 {
            best = (n.dot(w), n);
        }
        let d = w - v;
        v += d * (-v.dot(d) / d.length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
    }
    best
}

/// Half-space A and the lowest point of B.
fn plane_separation(solid: &Solid, pose: &Pose, found: &mut dyn FnMut(f64, DVec3)) {
    let down = -pose.local_vector(DVec3::Z);
    let lowest = match (solid, solid.convex()) {
        (Solid::Mesh(mesh), _) => {
            mesh.outermost.iter().map(|&v| pose.point(v).z).fold(f64::INFINITY, f64::min)
        }
        (_, Some(b)) => pose.point(Core(&b).local_support_point(down)).z - b.radius(),
        _ => return,
    };
    found(lowest, DVec3::Z);
}

/// The triangles of a mesh, each with what of B is near it.
fn mesh_separations(
    mesh: &Mesh,
    solid: &Solid,
    pose: &Pose,
    search_gap: f64,
    work: &mut Work,
    found: &mut dyn FnMut(f64, DVec3),
) {
    let mut triangle = std::mem::take(&mut work.triangles[0]);
    if let Some(b) = solid.convex() {
        for index in mesh.tree.intersect_aabb(&box_around(&b, pose, search_gap)) {
            mesh.triangle(index, &mut triangle);
            separation(&Convex::Polytope(&triangle), &b, pose, search_gap, found);
        }
    } else if let Solid::Mesh(other) = solid {
        let mut second = std::mem::take(&mut work.triangles[1]);
        let at = ParryPose::from_parts(pose.position, pose.rotation).inverse();
        for index in other.tree.intersect_aabb(&mesh.tree.root_aabb().transform_by(&at).loosened(search_gap))
        {
            other.triangle(index, &mut second);
            let b = Convex::Polytope(&second);
            for index in mesh.tree.intersect_aabb(&box_around(&b, pose, search_gap)) {
                mesh.triangle(index, &mut triangle);
                separation(&Convex::Polytope(&triangle), &b, pose, search_gap, found);
            }
        }
        work.triangles[1] = second;
    }
    work.triangles[0] = triangle;
}
