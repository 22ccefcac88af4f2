//! Faces of more than three corners as triangles.
//!
//! Four corners are cut along the shorter diagonal. More are cut by clipping ears: a corner that points
//! outward, and whose triangle with its neighbours holds no other corner, is cut off until three are left.
//! A fan would fold over itself where a face is not convex.

use glam::DVec3;

/// Faces of more corners are cut into a fan: clipping ears may take the cube of their number.
const MOST_CORNERS: usize = 500;

/// The triangles of a face whose corners go around it.
pub(super) fn triangles_of(vertices: &[DVec3], corners: &[u32]) -> Vec<[u32; 3]> {
    let at = |corner: u32| vertices[corner as usize];
    let fan =
        |corners: &[u32]| (2..corners.len()).map(|k| [corners[0], corners[k - 1], corners[k]]).collect();
    if let &[a, b, c, d] = corners {
        return match at(a).distance_squared(at(c)) < at(b).distance_squared(at(d)) {
            true => vec![[a, b, c], [a, c, d]],
            false => vec![[a, b, d], [b, c, d]],
        };
    }
    if corners.len() < 4 || corners.len() > MOST_CORNERS {
        return fan(corners);
    }
    let mut left = corners.to_vec();
    let around = corners.iter().zip(corners.iter().cycle().skip(1));
    let normal: DVec3 = around.map(|(&a, &b)| at(a).cross(at(b))).sum();
    let mut triangles = Vec::with_capacity(corners.len() - 2);
    while left.len() > 3 {
        let n = left.len();
        let ear = (0..n).find(|&i| {
            let ear = [left[(i + n - 1) % n], left[i], left[(i + 1) % n]];
            let [a, b, c] = ear.map(at);
            let points_outward = (b - a).cross(c - b).dot(normal) > 0.0;
            points_outward
                && left.iter().filter(|k| !ear.contains(k)).all(|&k| !is_within(at(k), [a, b, c], normal))
        });
        // What crosses itself has no ear at last.
        let Some(i) = ear else {
            triangles.extend::<Vec<_>>(fan(&left));
            return triangles;
        };
        triangles.push([left[(i + n - 1) % n], left[i], left[(i + 1) % n]]);
        left.remove(i);
    }
    triangles.push([left[0], left[1], left[2]]);
    triangles
}

/// Whether a point lies in a triangle, seen along a normal; its corners do not.
fn is_within(p: DVec3, [a, b, c]: [DVec3; 3], normal: DVec3) -> bool {
    let is_corner = [a, b, c].contains(&p);
    let left_of = |from: DVec3, to: DVec3| (to - from).cross(p - from).dot(normal) >= 0.0;
    !is_corner && left_of(a, b) && left_of(b, c) && left_of(c, a)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(vertices: &[DVec3], triangles: &[[u32; 3]]) -> f64 {
        let corners = triangles.iter().map(|t| t.map(|i| vertices[i as usize]));
        corners.map(|[a, b, c]| (b - a).cross(c - a).length() / 2.0).sum()
    }

    #[test]
    fn a_face_that_is_not_convex_is_cut_within_itself() {
        // A star of ten corners on a tilted plane, from an inner corner and from an outer one: its area is
        // that of ten triangles from its middle.
        let star: Vec<DVec3> = (0..10)
            .map(|k| {
                let (angle, r) = (f64::from(k) * 0.2 * std::f64::consts::PI, [1.0, 0.3][k as usize % 2]);
                DVec3::new(r * angle.cos(), r * angle.sin(), 0.5 * r * angle.cos())
            })
            .collect();
        let exact: f64 = (0..10).map(|k| star[k].cross(star[(k + 1) % 10]).length() / 2.0).sum();
        for start in 0..2 {
            let corners: Vec<u32> = (0..10).map(|k| (k + start) % 10).collect();
            let triangles = triangles_of(&star, &corners);
            assert_eq!(triangles.len(), 8);
            let found = area(&star, &triangles);
            assert!((found - exact).abs() < 1e-14, "{found} {exact}");
        }
        // A fan from an outer corner covers more than the star.
        let fan: Vec<[u32; 3]> = (2..10).map(|k| [0, k - 1, k]).collect();
        assert!(area(&star, &fan) > 2.0 * exact);
    }

    #[test]
    fn four_corners_are_cut_along_the_shorter_diagonal() {
        let kite = [[0.0, 0.0], [1.0, -0.2], [3.0, 0.0], [1.0, 0.2]].map(|[x, y]| DVec3::new(x, y, 0.0));
        assert_eq!(triangles_of(&kite, &[0, 1, 2, 3]), [[0, 1, 3], [1, 2, 3]]);
        assert_eq!(triangles_of(&kite, &[1, 2, 3, 0]), [[1, 2, 3], [1, 3, 0]]);
    }

    #[test]
    fn what_crosses_itself_ends() {
        let points: Vec<DVec3> = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0], [0.5, 2.0]]
            .map(|[x, y]| DVec3::new(x, y, 0.0))
            .to_vec();
        assert_eq!(triangles_of(&points, &[0, 1, 2, 3, 4]).len(), 3);
        assert_eq!(triangles_of(&[DVec3::ZERO; 6], &[0, 1, 2, 3, 4, 5]).len(), 4);
    }
}
