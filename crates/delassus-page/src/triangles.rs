//! The surfaces of shapes as triangles, for pictures.

use delassus::world::{ShapeKind, convex_hull};
use glam::DVec3;

/// Corners, and the triangles between them, counterclockwise from outside.
#[derive(Default)]
pub struct Triangles {
    /// Corners.
    pub points: Vec<DVec3>,
    /// Corners of each triangle.
    pub triangles: Vec<[u32; 3]>,
}

/// The surface of a shape. Round shapes get `around` corners on a circle; planes a square with this half
/// side.
pub fn triangles(kind: &ShapeKind, around: usize, plane: f64) -> Triangles {
    match kind {
        ShapeKind::Plane => {
            let points = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
            let points = points.map(|[x, y]| plane * DVec3::new(x, y, 0.0)).to_vec();
            Triangles { points, triangles: vec![[0, 1, 2], [0, 2, 3]] }
        }
        ShapeKind::Sphere { radius } => revolve(&round(*radius, 0.0, around), around),
        ShapeKind::Capsule { radius, half_height } => revolve(&round(*radius, *half_height, around), around),
        ShapeKind::Cylinder { radius: r, half_height: h } => {
            revolve(&[[0.0, -h], [*r, -h], [*r, *h], [0.0, *h]], around)
        }
        ShapeKind::Cone { radius, half_height: h } => revolve(&[[0.0, -h], [*radius, -h], [0.0, *h]], around),
        ShapeKind::Box { half_extents } => {
            let corner = |i: usize| {
                let sign = |bit: usize| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
                *half_extents * DVec3::new(sign(0), sign(1), sign(2))
            };
            let faces: [[u32; 4]; 6] =
                [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
            let triangles = faces.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect();
            Triangles { points: (0..8).map(corner).collect(), triangles }
        }
        ShapeKind::Convex { points } => {
            Triangles { points: points.clone(), triangles: convex_hull(points).unwrap_or_default() }
        }
        ShapeKind::Mesh { vertices, triangles } => {
            Triangles { points: vertices.clone(), triangles: triangles.clone() }
        }
        ShapeKind::Heightfield { heights, size: [nx, ny], extent } => {
            let along = |i: usize, n: usize, extent: f64| extent * (i as f64 / (n.max(2) - 1) as f64 - 0.5);
            let point = |i: usize| {
                DVec3::new(along(i % nx, *nx, extent[0]), along(i / nx, *ny, extent[1]), heights[i])
            };
            let mut triangles = vec![];
            for y in 1..*ny {
                for x in 1..*nx {
                    let at = |x: usize, y: usize| (y * nx + x) as u32;
                    let [a, b, c, d] = [at(x - 1, y - 1), at(x, y - 1), at(x, y), at(x - 1, y)];
                    triangles.extend([[a, b, c], [a, c, d]]);
                }
            }
            Triangles { points: (0..heights.len()).map(point).collect(), triangles }
        }
    }
}

/// The outline of a ball cut at its equator, its halves moved apart: (distance from z, z), from below.
fn round(radius: f64, half_height: f64, around: usize) -> Vec<[f64; 2]> {
    let quarter = (around / 4).max(1);
    let arc = |i: usize, from: f64, shift: f64| {
        let angle = from + std::f64::consts::FRAC_PI_2 * i as f64 / quarter as f64;
        [radius * angle.cos(), radius * angle.sin() + shift]
    };
    let lower = (0..=quarter).map(|i| arc(i, -std::f64::consts::FRAC_PI_2, -half_height));
    let skip = usize::from(half_height == 0.0);
    let upper = (skip..=quarter).map(|i| arc(i, 0.0, half_height));
    let mut outline: Vec<[f64; 2]> = lower.chain(upper).collect();
    // The poles lie on the axis, whatever rounding gives.
    if let [first, .., last] = &mut outline[..] {
        (first[0], last[0]) = (0.0, 0.0);
    }
    outline
}

/// The outline, from below and with its ends on the axis, turned about z.
fn revolve(outline: &[[f64; 2]], around: usize) -> Triangles {
    let mut out = Triangles::default();
    let mut rings: Vec<(u32, bool)> = vec![];
    for &[r, z] in outline {
        rings.push((out.points.len() as u32, r == 0.0));
        let count = if r == 0.0 { 1 } else { around };
        out.points.extend((0..count).map(|i| {
            let angle = std::f64::consts::TAU * i as f64 / around as f64;
            DVec3::new(r * angle.cos(), r * angle.sin(), z)
        }));
    }
    for pair in rings.windows(2) {
        let [(low, low_pole), (high, high_pole)] = [pair[0], pair[1]];
        for i in 0..around as u32 {
            let next = (i + 1) % around as u32;
            let at = |ring: u32, pole: bool, i: u32| if pole { ring } else { ring + i };
            let [a, b] = [at(low, low_pole, i), at(low, low_pole, next)];
            let [c, d] = [at(high, high_pole, next), at(high, high_pole, i)];
            if a != b {
                out.triangles.push([a, b, c]);
            }
            if c != d {
                out.triangles.push([a, c, d]);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn volume(t: &Triangles) -> f64 {
        let corner = |i: u32| t.points[i as usize];
        t.triangles.iter().map(|&[a, b, c]| corner(a).dot(corner(b).cross(corner(c))) / 6.0).sum()
    }

    #[test]
    fn surfaces_are_closed_and_turn_outwards() {
        // Every edge is walked once each way, and the volume is that of the polyhedron.
        let n = 64;
        let circle = 0.5 * n as f64 * (std::f64::consts::TAU / n as f64).sin();
        let boxed: Vec<DVec3> = triangles(&ShapeKind::Box { half_extents: DVec3::ONE }, n, 1.0).points;
        let cases = [
            (ShapeKind::Box { half_extents: DVec3::new(1.0, 2.0, 3.0) }, 48.0, 1e-12),
            (ShapeKind::Cylinder { radius: 1.0, half_height: 2.0 }, 4.0 * circle, 1e-12),
            (ShapeKind::Cone { radius: 1.0, half_height: 1.5 }, circle, 1e-12),
            // Round both ways: the part lost is of second order in the angle of a side.
            (ShapeKind::Sphere { radius: 1.0 }, 4.18879, 0.005),
            (ShapeKind::Capsule { radius: 1.0, half_height: 1.0 }, 4.18879 + std::f64::consts::TAU, 0.005),
            (ShapeKind::Convex { points: boxed }, 8.0, 1e-12),
        ];
        for (kind, expected, tolerance) in cases {
            let t = triangles(&kind, n, 1.0);
            let v = volume(&t);
            assert!((v / expected - 1.0).abs() <= tolerance, "{kind:?}: {v}");
            let mut edges: Vec<[u32; 2]> =
                t.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
            edges.sort_unstable();
            assert!(edges.windows(2).all(|w| w[0] != w[1]), "{kind:?}");
            assert!(edges.iter().all(|[a, b]| edges.binary_search(&[*b, *a]).is_ok()), "{kind:?}");
        }
    }

    #[test]
    fn a_heightfield_looks_up() {
        let kind = ShapeKind::Heightfield {
            heights: vec![0.0, 1.0, 0.0, 1.0, 2.0, 1.0],
            size: [3, 2],
            extent: [2.0, 4.0],
        };
        let t = triangles(&kind, 8, 1.0);
        assert_eq!((t.points[4], t.triangles.len()), (DVec3::new(0.0, 2.0, 2.0), 4));
        for [a, b, c] in t.triangles.iter().map(|f| f.map(|i| t.points[i as usize])) {
            assert!((b - a).cross(c - a).z > 0.0);
        }
    }
}
