//! The convex hull of points, as triangles seen counterclockwise from outside.
//!
//! ```text
//! conv { p₁ … p_n } = ∩ over triangles (a, b, c) of { x : det(b − a, c − a, x − a) ≤ 0 } ,   pᵢ ∈ ℝ³
//! ```
//!
//! Points are added one by one to a tetrahedron: the triangles that see the new point go, and the edge around
//! the hole is joined to it. A point within rounding of the hull counts as inside, so that flat faces and
//! points given twice do no harm. O(n f) for n points and f triangles.

use glam::DVec3;

/// Distances below this part of the extent are rounding.
const ROUNDING: f64 = 1e-12;

/// Triangles of the hull by index of their corners; `None` where the points lie in a plane.
pub fn convex_hull(points: &[DVec3]) -> Option<Vec<[u32; 3]>> {
    let extent = points.iter().fold(0.0_f64, |e, p| e.max((*p - *points.first().unwrap_or(p)).length()));
    let epsilon = ROUNDING * extent;
    let start = tetrahedron(points, epsilon)?;
    let mut faces: Vec<Face> = [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]]
        .iter()
        .map(|f: &[usize; 3]| Face::new(points, f.map(|i| start[i] as u32)))
        .collect();
    let mut edges: Vec<[u32; 2]> = Vec::new();
    for (i, &p) in points.iter().enumerate() {
        edges.clear();
        faces.retain(|face| {
            let seen = face.normal.dot(p) - face.offset > epsilon;
            if seen {
                let [a, b, c] = face.corners;
                edges.extend([[a, b], [b, c], [c, a]]);
            }
            !seen
        });
        // What remains after edges have met their opposites is the rim of the hole.
        edges.sort_unstable();
        let rim: Vec<[u32; 2]> =
            edges.iter().filter(|[a, b]| edges.binary_search(&[*b, *a]).is_err()).copied().collect();
        faces.extend(rim.iter().map(|&[a, b]| Face::new(points, [a, b, i as u32])));
    }
    Some(faces.iter().map(|face| face.corners).collect())
}

struct Face {
    corners: [u32; 3],
    normal: DVec3,
    offset: f64,
}

impl Face {
    fn new(points: &[DVec3], corners: [u32; 3]) -> Self {
        let [a, b, c] = corners.map(|i| points[i as usize]);
        // A sliver has no normal; it then sees nothing and stays, without volume.
        let normal = (b - a).cross(c - a).normalize_or_zero();
        Face { corners, normal, offset: normal.dot(a) }
    }
}

/// Four points far apart, the fourth below the triangle of the others.
fn tetrahedron(points: &[DVec3], epsilon: f64) -> Option<[usize; 4]> {
    let farthest = |distance: &dyn Fn(DVec3) -> f64| {
        let mut best = (0, 0.0);
        for (i, p) in points.iter().enumerate() {
            let d = distance(*p);
            if d > best.1 {
                best = (i, d);
            }
        }
        (best.1 > epsilon).then_some(best.0)
    };
    let a = *points.first()?;
    let i = farthest(&|p| (p - a).length())?;
    let along = (points[i] - a).normalize_or_zero();
    let j = farthest(&|p| (p - a).cross(along).length())?;
    let normal = (points[i] - a).cross(points[j] - a).normalize_or_zero();
    let k = farthest(&|p| (p - a).dot(normal).abs())?;
    let above = (points[k] - a).dot(normal) > 0.0;
    Some(if above { [0, j, i, k] } else { [0, i, j, k] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_cube_with_points_inside_and_twice_has_twelve_triangles() {
        let mut points: Vec<DVec3> =
            (0..8).map(|i| DVec3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2))).collect();
        points.push(DVec3::splat(0.5));
        points.push(points[3]);
        assert_eq!(convex_hull(&points).unwrap().len(), 12);
    }

    #[test]
    fn flat_points_have_no_hull() {
        let flat: Vec<DVec3> = (0..9).map(|i| DVec3::new(f64::from(i % 3), f64::from(i / 3), 1.0)).collect();
        for n in 0..=9 {
            assert_eq!(convex_hull(&flat[..n]), None, "{n}");
        }
    }

    proptest! {
        #[test]
        fn no_point_lies_outside(points in prop::collection::vec(prop::array::uniform3(-1.0..1.0_f64), 4..60)) {
            let points: Vec<DVec3> = points.into_iter().map(DVec3::from_array).collect();
            let hull = convex_hull(&points).unwrap();
            for t in &hull {
                let [a, b, c] = t.map(|i| points[i as usize]);
                let n = (b - a).cross(c - a).normalize_or_zero();
                // Twice the rounding that counts as inside, for an extent of at most 2√3.
                prop_assert!(points.iter().all(|p| (*p - a).dot(n) < 1e-11));
            }
            // Euler: a closed surface without holes has 2V − 4 triangles.
            let mut used: Vec<u32> = hull.iter().flatten().copied().collect();
            used.sort_unstable();
            used.dedup();
            prop_assert_eq!(hull.len(), 2 * used.len() - 4);
        }
    }
}
