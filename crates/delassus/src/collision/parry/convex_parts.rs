//! A mesh cut into parts that are nearly convex.
//!
//! ```text
//! mesh ≈ ∪ conv(P_k) ,   concavity(P_k) ≤ c
//! ```
//!
//! Approximate decomposition over voxels (V-HACD, of the crate parry): the box around the mesh has 64 voxels
//! along its longest side, and a part is cut where its hull is larger than itself by more than 1 % of the
//! hull of the whole. Each part is the hull of the pieces of triangles within its voxels, so that its corners
//! lie on the mesh. The same parts on every run.

use glam::DVec3;
use parry3d_f64::transformation::vhacd::{VHACD, VHACDParameters};

use crate::world::convex_hull;

/// Voxels along the longest side.
const RESOLUTION: u32 = 64;
/// How much of the hull of the whole a part may leave empty in its own.
const CONCAVITY: f64 = 0.01;
/// The most parts.
const MAX_PARTS: u32 = 64;
/// Extents below this part of the longest are flat.
const FLAT: f64 = 1e-9;

/// The corners of the parts, none for a mesh that is flat or has no triangles. Corners are finite and
/// triangles name some of them.
pub fn convex_parts(vertices: &[DVec3], triangles: &[[u32; 3]]) -> Vec<Vec<DVec3>> {
    let inf = DVec3::INFINITY;
    let (low, high) = vertices.iter().fold((inf, -inf), |(l, h), p| (l.min(*p), h.max(*p)));
    let size = high - low;
    let longest = size.max_element();
    if triangles.is_empty() || !(longest.is_finite() && size.min_element() > FLAT * longest) {
        return vec![];
    }
    // Of extent one, at the origin: what the method compares with fixed numbers does not depend on units.
    let unit: Vec<DVec3> = vertices.iter().map(|v| (*v - low) / longest).collect();
    if is_convex(&unit, triangles) {
        return vec![vertices.to_vec()];
    }
    let parameters = VHACDParameters {
        concavity: CONCAVITY,
        resolution: RESOLUTION,
        max_convex_hulls: MAX_PARTS,
        ..VHACDParameters::default()
    };
    let cut = VHACD::decompose(&parameters, &unit, triangles, true);
    let parts = cut.compute_exact_convex_hulls(&unit, triangles);
    let back = |points: Vec<DVec3>| points.into_iter().map(|p| low + longest * p).collect();
    parts.into_iter().map(|(points, _)| back(points)).collect()
}

/// Whether a mesh fills its hull up to what a part may leave empty: voxels would cut its faces apart.
fn is_convex(vertices: &[DVec3], triangles: &[[u32; 3]]) -> bool {
    let six_volumes = |triangles: &[[u32; 3]]| -> f64 {
        let corner = |i: u32| vertices[i as usize];
        triangles.iter().map(|&[a, b, c]| corner(a).dot(corner(b).cross(corner(c)))).sum()
    };
    let Some(hull) = convex_hull(vertices) else { return false };
    let [own, whole] = [triangles, &hull].map(six_volumes);
    (whole - own).abs() <= CONCAVITY * whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{ShapeKind, shape_mass};

    /// A prism over a polygon in x and y that triangles cover, from z = 0 to 1.
    fn prism(outline: &[[f64; 2]], cover: &[[u32; 3]]) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let n = outline.len() as u32;
        let level = |z: f64| outline.iter().map(move |[x, y]| DVec3::new(*x, *y, z));
        let mut triangles: Vec<[u32; 3]> = cover.iter().map(|[a, b, c]| [*a, *c, *b]).collect();
        triangles.extend(cover.iter().map(|t| t.map(|i| i + n)));
        for i in 0..n {
            let j = (i + 1) % n;
            triangles.extend([[i, j, j + n], [i, j + n, i + n]]);
        }
        (level(0.0).chain(level(1.0)).collect(), triangles)
    }

    fn volume(points: &[DVec3]) -> f64 {
        let triangles = convex_hull(points).unwrap();
        shape_mass(&ShapeKind::Mesh { vertices: points.to_vec(), triangles }).unwrap().mass
    }

    #[test]
    fn the_parts_of_a_fork_leave_its_gap_open() {
        // A U of 3 × 3 × 1 whose gap is 1 wide and 2 deep.
        let outline =
            [[0.0, 0.0], [3.0, 0.0], [3.0, 3.0], [2.0, 3.0], [2.0, 1.0], [1.0, 1.0], [1.0, 3.0], [0.0, 3.0]];
        let cover = [[0, 1, 4], [0, 4, 5], [1, 2, 3], [1, 3, 4], [0, 5, 6], [0, 6, 7]];
        let (mut vertices, triangles) = prism(&outline, &cover);
        let expected = volume(&vertices) - 2.0;
        for scale in [1.0, 1e-3] {
            vertices.iter_mut().for_each(|v| *v *= scale);
            let parts = convex_parts(&vertices, &triangles);
            assert!((3..=8).contains(&parts.len()), "{}", parts.len());
            let whole: f64 = parts.iter().map(|part| volume(part)).sum::<f64>() / scale.powi(3);
            // Cuts are between voxels of 3/64: those across the feet of the prongs have an area of 2.
            assert!((whole - expected).abs() < 0.05 * expected, "{whole} {expected}");
            // Nothing of the parts is deeper in the gap than a voxel.
            let gap = |p: &DVec3| (p.x / scale - 1.5).abs() < 0.5 - 0.05 && p.y / scale > 1.05;
            assert!(parts.iter().flatten().all(|p| !gap(p)));
        }
    }

    #[test]
    fn what_is_convex_stays_whole_and_what_is_flat_has_no_parts() {
        let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        let (mut vertices, triangles) = prism(&square, &[[0, 1, 2], [0, 2, 3]]);
        let parts = convex_parts(&vertices, &triangles);
        assert_eq!(parts.len(), 1);
        assert!((volume(&parts[0]) - 1.0).abs() < 1e-9, "{}", volume(&parts[0]));
        assert_eq!(convex_parts(&vertices, &[]), Vec::<Vec<DVec3>>::new());
        vertices.iter_mut().for_each(|v| v.z = 0.0);
        assert_eq!(convex_parts(&vertices, &triangles), Vec::<Vec<DVec3>>::new());
    }
}
