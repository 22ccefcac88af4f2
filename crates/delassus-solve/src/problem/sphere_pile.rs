//! Piles of spheres as contact problems of any size, to measure how solvers grow.
//!
//! Unit spheres in a square box that is n spheres wide: layers of n × n and of (n − 1) × (n − 1) spheres by
//! turns, n of them, each sphere in the hollow between four of the layer below, the lowest on the ground, the
//! outer ones against the walls, neighbours in a layer against each other. In one time step h gravity has
//! given every sphere the velocity −g h, and some unrest is added from a fixed sequence of random numbers.
//! Masses differ by up to a factor of two. The problem is global: M v = f + H r, u = Hᵀ v.

use super::InvalidProblem;
use super::contact_problem::{ContactProblem, Form};
use super::law::Law;
use crate::linalg::Sparse;

/// A contact between sphere a and sphere b (or the ground): the normal points from b to a.
struct Touch {
    a: usize,
    b: Option<usize>,
    normal: [f64; 3],
}

/// The radius of a sphere.
const RADIUS: f64 = 0.5;

/// The number of spheres in a box that is `wide` spheres wide, and their contacts.
fn touches(wide: usize) -> (usize, Vec<Touch>) {
    let side = |k: usize| if k.is_multiple_of(2) { wide } else { wide - 1 };
    let first: Vec<usize> = (0..=wide)
        .scan(0, |at, k| {
            let from = *at;
            *at += side(k) * side(k);
            Some(from)
        })
        .collect();
    let spheres = first[wide];
    let slope = std::f64::consts::FRAC_1_SQRT_2;
    let mut touches = Vec::new();
    for k in 0..wide {
        let n = side(k);
        for i in 0..n {
            for j in 0..n {
                let a = first[k] + i * n + j;
                let mut touch = |b: Option<usize>, normal: [f64; 3]| touches.push(Touch { a, b, normal });
                if k == 0 {
                    touch(None, [0.0, 0.0, 1.0]);
                } else {
                    // Hollows of a wide layer lie between (i, j) and (i + 1, j + 1), those of a narrow one
                    // before them.
                    for (di, dj) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                        let (wider, below) = (side(k - 1) > n, side(k - 1));
                        let shift = if wider { 0 } else { 1 };
                        let (bi, bj) = (i + di, j + dj);
                        if bi >= shift && bj >= shift && bi - shift < below && bj - shift < below {
                            let b = first[k - 1] + (bi - shift) * below + bj - shift;
                            touch(Some(b), [0.5 - di as f64, 0.5 - dj as f64, slope]);
                        }
                    }
                }
                if n == wide {
                    for (at, edge, normal) in [
                        (i, 0, [1.0, 0.0, 0.0]),
                        (i, n - 1, [-1.0, 0.0, 0.0]),
                        (j, 0, [0.0, 1.0, 0.0]),
                        (j, n - 1, [0.0, -1.0, 0.0]),
                    ] {
                        if at == edge {
                            touch(None, normal);
                        }
                    }
                }
                if i > 0 {
                    touch(Some(a - n), [1.0, 0.0, 0.0]);
                }
                if j > 0 {
                    touch(Some(a - 1), [0.0, 1.0, 0.0]);
                }
            }
        }
    }
    (spheres, touches)
}

/// The entries of H: normal and two tangents of each contact.
fn contact_rows(touches: &[Touch]) -> Vec<(usize, usize, f64)> {
    let mut h = Vec::with_capacity(3 * 9 * 2 * touches.len());
    for (t, touch) in touches.iter().enumerate() {
        let n = touch.normal;
        let helper = if n[0].abs() < 0.6 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
        let t1 = unit(cross(n, helper));
        for (c, d) in [n, t1, cross(n, t1)].into_iter().enumerate() {
            // The contact point lies at −R n from a and at +R n from b.
            for (body, sign) in [(Some(touch.a), 1.0), (touch.b, -1.0)] {
                let Some(body) = body else { continue };
                let arm = n.map(|x| -sign * RADIUS * x);
                for (k, x) in d.into_iter().chain(cross(arm, d)).enumerate() {
                    if x != 0.0 {
                        h.push((6 * body + k, 3 * t + c, sign * x));
                    }
                }
            }
        }
    }
    h
}

/// The pile in a box that is `wide` spheres wide and as many layers high, with friction μ: about 4 wide³
/// contacts.
pub fn sphere_pile(wide: usize, mu: f64) -> Result<ContactProblem, InvalidProblem> {
    let (spheres, touches) = touches(wide);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let step = 0.01;
    let mut mass = Vec::with_capacity(6 * spheres);
    let mut force = Vec::with_capacity(6 * spheres);
    for s in 0..spheres {
        let m = 1.5 + random();
        for c in 0..6 {
            let inertia = if c < 3 { m } else { 0.4 * m * RADIUS * RADIUS };
            mass.push((6 * s + c, 6 * s + c, inertia));
            let gravity = if c == 2 { -9.81 * step } else { 0.0 };
            force.push(inertia * (gravity + 0.2 * step * random()));
        }
    }
    let laws = vec![Law::Coulomb { mu }; touches.len()];
    let (n, m) = (6 * spheres, 3 * touches.len());
    let form = Form::Global {
        mass: Sparse::from_triplets(n, n, &mass),
        jacobian_transposed: Sparse::from_triplets(n, m, &contact_rows(&touches)),
        force,
        bias: vec![0.0; m],
    };
    ContactProblem::new(laws, form)
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn unit(a: [f64; 3]) -> [f64; 3] {
    let length = crate::linalg::norm(&a);
    a.map(|x| x / length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_weights() {
        let pile = sphere_pile(2, 0.5).unwrap();
        // Four spheres and one above: 4 with the ground, 8 with walls, 4 neighbours, 4 below the one.
        assert_eq!((pile.laws.len(), pile.rows()), (20, 60));
        let (w, q) = pile.local().unwrap();
        assert!(w.is_symmetric());
        // Falling freely, a sphere of the lowest layer approaches the ground with about g h.
        assert!((q[0] + 0.0981).abs() < 0.01);
    }
}
