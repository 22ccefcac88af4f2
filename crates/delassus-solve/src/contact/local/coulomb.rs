//! One contact by itself: r and u = W r + q with its law, in closed form or by a root that is always there.
//!
//! Coulomb's law: with q_n < 0 the contact closes, u_n = 0, and the normal force is r_n = −(q_n + W_nt
//! r_t)/W_nn. What is left for the tangents is Ŵ r_t + q̂ = u_t = −α r_t with Ŵ = W_tt − W_tn W_nt/W_nn, q̂ =
//! q_t − W_tn q_n/W_nn and α ≥ 0. At α = 0 it sticks. If ‖r_t‖ > μ r_n there, it slides, and g(α) = μ
//! r_n/‖r_t‖ − 1 goes from negative values at 0 to +∞: it has a root, and is nearly a straight line.

pub use super::associated::{associated_plane, associated_space};
pub use super::associated_rolling::associated_rolling;
pub use super::rolling::rolling;
use crate::linalg::Block;

/// Coulomb's law in space. `None` where W has no positive normal entry and the contact closes, or numbers
/// overflow.
// Long: the innermost function of all sweeps, one root whose numbers all of its steps share.
pub fn coulomb_space(w: &Block<3>, q: &[f64; 3], mu: f64) -> Option<[f64; 3]> {
    if q[0] >= 0.0 {
        return Some([0.0; 3]);
    }
    if w[0][0] <= 0.0 {
        return None;
    }
    let inv = 1.0 / w[0][0];
    if mu == 0.0 {
        return Some([-q[0] * inv, 0.0, 0.0]);
    }
    let a = w[1][1] - w[1][0] * w[0][1] * inv;
    let b = w[1][2] - w[1][0] * w[0][2] * inv;
    let c = w[2][1] - w[2][0] * w[0][1] * inv;
    let d = w[2][2] - w[2][0] * w[0][2] * inv;
    let (p1, p2) = (q[1] - w[1][0] * q[0] * inv, q[2] - w[2][0] * q[0] * inv);
    let at = |alpha: f64| {
        let (a, d) = (a + alpha, d + alpha);
        let k = 1.0 / (a * d - b * c);
        let (t1, t2) = (-(d * p1 - b * p2) * k, -(a * p2 - c * p1) * k);
        // ∂r_t/∂α = −(Ŵ + α)⁻¹ r_t.
        let (s1, s2) = (-(d * t1 - b * t2) * k, -(a * t2 - c * t1) * k);
        let n = -(q[0] + w[0][1] * t1 + w[0][2] * t2) * inv;
        let dn = -(w[0][1] * s1 + w[0][2] * s2) * inv;
        (n, t1, t2, dn, s1, s2)
    };
    let size = a.abs().max(d.abs()).max(b.abs()).max(c.abs());
    let determinant = a * d - b * c;
    let mut low = 0.0;
    if determinant > 1e-14 * size * size {
        let (n, t1, t2, ..) = at(0.0);
        if t1 * t1 + t2 * t2 <= mu * mu * n * n && n >= 0.0 {
            return Some([n, t1, t2]);
        }
    } else {
        low = 1e-14 * size;
    }
    let first = low;
    let (mut alpha, mut high) = (first, f64::INFINITY);
    let mut best = [0.0; 3];
    for _ in 0..60 {
        let (n, t1, t2, dn, s1, s2) = at(alpha);
        let square = t1 * t1 + t2 * t2;
        let length = square.sqrt();
        if !n.is_finite() || !length.is_finite() {
            return None;
        }
        if length == 0.0 {
            return Some([n.max(0.0), 0.0, 0.0]);
        }
        let g = mu * n / length - 1.0;
        if alpha == first && g >= 0.0 {
            return Some([n, t1, t2]);
        }
        let slope = mu * (dn - n * (t1 * s1 + t2 * s2) / square) / length;
        // On the edge of the cone, exactly.
        let shrink = mu * n.max(0.0) / length;
        best = [n.max(0.0), t1 * shrink, t2 * shrink];
        if g.abs() <= 4e-16 {
            break;
        }
        if g < 0.0 {
            low = alpha;
        } else {
            high = alpha;
        }
        let newton = alpha - g / slope;
        let next = if newton > low && newton < high {
            newton
        } else if high.is_finite() {
            0.5 * (low + high)
        } else {
            2.0 * alpha + size.max(f64::MIN_POSITIVE)
        };
        if (next - alpha).abs() <= 4e-16 * alpha {
            break;
        }
        alpha = next;
    }
    Some(best)
}

/// Coulomb's law in the plane.
pub fn coulomb_plane(w: &Block<2>, q: &[f64; 2], mu: f64) -> Option<[f64; 2]> {
    if q[0] >= 0.0 {
        return Some([0.0; 2]);
    }
    if w[0][0] <= 0.0 {
        return None;
    }
    let inv = 1.0 / w[0][0];
    let (a, p) = (w[1][1] - w[1][0] * w[0][1] * inv, q[1] - w[1][0] * q[0] * inv);
    if mu > 0.0 && a > 1e-14 * w[1][1].abs() {
        let t = -p / a;
        let n = -(q[0] + w[0][1] * t) * inv;
        if t.abs() <= mu * n {
            return Some([n, t]);
        }
    }
    let s = if p == 0.0 { 0.0 } else { -mu * p.signum() };
    let pressed = w[0][0] + s * w[0][1];
    let n = -q[0] / pressed;
    (pressed > 0.0 && n.is_finite()).then_some([n, s * n])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Matrix;
    use crate::problem::ContactView;
    use crate::problem::Law;
    use crate::problem::{project_cone, project_rolling, residual};
    use crate::random::Random;

    /// BᵀB + ε, q, μ: from well to badly conditioned.
    fn problem(random: &mut Random, d: usize) -> (Matrix, Vec<f64>, f64) {
        let b = Matrix::from_fn(d, d, |_, _| random.centred());
        let epsilon = 10f64.powf(-8.0 * (random.centred() + 0.5));
        let w = b.transpose().mul(&b);
        let w = Matrix::from_fn(d, d, |i, j| w[(i, j)] + if i == j { epsilon } else { 0.0 });
        let mut q: Vec<f64> = (0..d).map(|_| random.centred()).collect();
        q[0] = -q[0].abs();
        (w, q, 10f64.powf(3.0 * random.centred()))
    }

    #[test]
    fn every_contact_is_solved() {
        let mut random = Random(1);
        for _ in 0..20_000 {
            let (w, q, mu) = problem(&mut random, 3);
            let block = std::array::from_fn(|i| std::array::from_fn(|j| w[(i, j)]));
            let r = coulomb_space(&block, &[q[0], q[1], q[2]], mu).unwrap();
            let e = residual(&ContactView::new(&w, &q, &[Law::Coulomb { mu }]).unwrap(), &r).relative;
            // Ŵ loses at most the eight digits of the condition number.
            assert!(e < 1e-7, "{w:?} {q:?} {mu} {e}");
            let (w, q, mu) = problem(&mut random, 2);
            let block = std::array::from_fn(|i| std::array::from_fn(|j| w[(i, j)]));
            let r = coulomb_plane(&block, &[q[0], q[1]], mu).unwrap();
            let e = residual(&ContactView::new(&w, &q, &[Law::CoulombPlane { mu }]).unwrap(), &r).relative;
            assert!(e < 1e-7, "{w:?} {q:?} {mu} {e}");
        }
    }

    #[test]
    fn the_associated_law_is_solved() {
        let mut random = Random(2);
        for _ in 0..10_000 {
            let (w, mut q, mu) = problem(&mut random, 3);
            // q of all kinds: inside of the dual cone, inside of its mirror image, between them.
            q[0] += random.centred();
            let block = std::array::from_fn(|i| std::array::from_fn(|j| w[(i, j)]));
            let r = associated_space(&block, &[q[0], q[1], q[2]], mu, &[0.0; 3]).unwrap();
            let e = residual(&ContactView::new(&w, &q, &[Law::Cone { mu }]).unwrap(), &r).relative;
            assert!(e < 1e-7, "{w:?} {q:?} {mu} {e}");
        }
    }

    /// Against the least value along the edge and inside, by brute force: the associated law is a minimum.
    #[test]
    fn no_point_of_the_cone_is_lower() {
        let mut random = Random(3);
        for _ in 0..200 {
            let (w, q, mu) = problem(&mut random, 3);
            let value = |r: &[f64]| {
                let wr = w.mul_vec(r);
                (0..r.len()).map(|i| (0.5 * wr[i] + q[i]) * r[i]).sum::<f64>()
            };
            let block = std::array::from_fn(|i| std::array::from_fn(|j| w[(i, j)]));
            let least = value(&associated_space(&block, &[q[0], q[1], q[2]], mu, &[0.0; 3]).unwrap());
            for k in 0..2000 {
                let (angle, part) = (f64::from(k) * 0.1, (f64::from(k % 5) / 4.0).sqrt());
                let ray = [1.0, part * mu * angle.cos(), part * mu * angle.sin()];
                // The best point of the ray.
                let along = (0..3).map(|i| q[i] * ray[i]).sum::<f64>();
                let bend = w.mul_vec(&ray).iter().zip(ray).map(|(a, b)| a * b).sum::<f64>();
                let n = (-along / bend).max(0.0);
                let other = value(&ray.map(|x| n * x));
                // Rounding of the value, at most.
                assert!(least <= other + 1e-12 * other.abs(), "{w:?} {q:?} {mu}: {least} {other}");
            }
            let (w, q, mu) = problem(&mut random, 2);
            let block = std::array::from_fn(|i| std::array::from_fn(|j| w[(i, j)]));
            let q = [q[0] + random.centred(), q[1]];
            let r = associated_plane(&block, &q, mu, &[0.0; 2]).unwrap();
            let laws = [Law::Cone { mu }];
            // The plane is space with a tangent along which nothing happens.
            let lifted = Matrix::from_fn(3, 3, |i, j| match (i, j) {
                (2, 2) => 1.0,
                (2, _) | (_, 2) => 0.0,
                _ => w[(i, j)],
            });
            let shifted =
                ContactView::new(&lifted, &[q[0], q[1], 0.0], &laws).unwrap().velocity(&[r[0], r[1], 0.0]);
            // K ∋ r ⊥ u ∈ K*.
            let size = 1e-7 * (q[0].abs() + q[1].abs());
            assert!(r[0] >= 0.0 && r[1].abs() <= mu * r[0] * (1.0 + 1e-14));
            assert!(shifted[0] - mu * shifted[1].abs() >= -size * (1.0 + mu), "{shifted:?}");
            assert!(
                (shifted[0] * r[0] + shifted[1] * r[1]).abs() <= size * (r[0] + r[1].abs()),
                "{shifted:?} {r:?}"
            );
        }
    }

    #[test]
    fn rolling_is_solved() {
        let mut random = Random(4);
        let (mut unsolved, rounds) = (0, 10_000);
        for _ in 0..rounds {
            let (w, q, mu) = problem(&mut random, 5);
            let nu = 10f64.powf(3.0 * random.centred());
            let block = std::array::from_fn(|i| std::array::from_fn(|j| w[(i, j)]));
            let Some(r) = rolling(&block, &std::array::from_fn(|c| q[c]), mu, nu) else {
                unsolved += 1;
                continue;
            };
            let law = [Law::Rolling { mu, rolling: nu }];
            let e = residual(&ContactView::new(&w, &q, &law).unwrap(), &r).relative;
            assert!(e < 1e-7, "{w:?} {q:?} {mu} {nu} {e}");
        }
        // Coefficients up to 30 in both, where solutions jump.
        assert!(unsolved * 1000 <= rounds, "{unsolved}");
    }

    #[test]
    fn associated_rolling_is_solved() {
        let mut random = Random(7);
        let (mut unsolved, rounds) = (0, 10_000);
        // At how many the moments are at their limit, the friction, both.
        let mut seen = [0; 3];
        for _ in 0..rounds {
            let (w, mut q, mu) = problem(&mut random, 5);
            q[0] += random.centred();
            let nu = 10f64.powf(3.0 * random.centred());
            let block = std::array::from_fn(|i| std::array::from_fn(|j| w[(i, j)]));
            let Some(r) = associated_rolling(&block, &std::array::from_fn(|c| q[c]), mu, nu, &[0.0; 5])
            else {
                unsolved += 1;
                continue;
            };
            let limits =
                [r[3].hypot(r[4]) >= 0.999_999 * nu * r[0], r[1].hypot(r[2]) >= 0.999_999 * mu * r[0]];
            if r[0] > 0.0 {
                (0..2).for_each(|k| seen[k] += usize::from(limits[k]));
                seen[2] += usize::from(limits[0] && limits[1]);
            }
            let law = [Law::ConeRolling { mu, rolling: nu }];
            let e = residual(&ContactView::new(&w, &q, &law).unwrap(), &r).relative;
            assert!(e < 1e-7, "{w:?} {q:?} {mu} {nu} {e}");
        }
        assert!(seen.iter().all(|n| *n > 500), "{seen:?}");
        // What is not found is left to projected steps, which contract.
        assert!(unsolved * 100 <= rounds, "{unsolved}");
    }

    #[test]
    fn weak_rolling_friction_never_fails() {
        let mut random = Random(5);
        for k in 0..10_000 {
            let (w, q, _) = problem(&mut random, 5);
            let [mu, nu] = [(); 2].map(|()| 0.6 * (random.centred() + 0.5));
            let (mu, nu) = (if k % 7 == 0 { 0.0 } else { mu }, if k % 5 == 0 { 0.0 } else { nu });
            let block = std::array::from_fn(|i| std::array::from_fn(|j| w[(i, j)]));
            let r = rolling(&block, &std::array::from_fn(|c| q[c]), mu, nu).unwrap();
            let law = [Law::Rolling { mu, rolling: nu }];
            let e = residual(&ContactView::new(&w, &q, &law).unwrap(), &r).relative;
            assert!(e < 1e-7, "{w:?} {q:?} {mu} {nu} {e}");
        }
    }

    /// Against many projected steps r ← P_K(r − ρ û) on weak friction and good W, where they contract.
    #[test]
    fn projected_steps_agree() {
        let mut random = Random(6);
        for _ in 0..50 {
            let mut draw = |d: usize| {
                let b = Matrix::from_fn(d, d, |_, _| random.centred());
                let gram = b.transpose().mul(&b);
                let w = Matrix::from_fn(d, d, |i, j| gram[(i, j)] + if i == j { 1.0 } else { 0.0 });
                let q: Vec<f64> =
                    (0..d).map(|c| if c == 0 { -0.5 } else { 4.0 * random.centred() }).collect();
                (w, q, 0.3 * (random.centred() + 0.5), 0.3 * (random.centred() + 0.5))
            };
            let (w, q, mu, nu) = draw(5);
            let mut r = [0.0; 5];
            let step = 0.5 / w.symmetric_eigenvalues()[4];
            for _ in 0..3000 {
                let u: Vec<f64> = w.mul_vec(&r).iter().zip(&q).map(|(a, b)| a + b).collect();
                for c in 0..5 {
                    r[c] -= step * u[c];
                }
                r[0] -= step * (mu * u[1].hypot(u[2]) + nu * u[3].hypot(u[4]));
                project_rolling(&mut r, mu, nu);
            }
            let block = std::array::from_fn(|i| std::array::from_fn(|j| w[(i, j)]));
            let found = rolling(&block, &std::array::from_fn(|c| q[c]), mu, nu).unwrap();
            assert!(r.iter().zip(found).all(|(a, b)| (a - b).abs() < 1e-10), "{r:?} {found:?}");
            let (w, q, mu, _) = draw(3);
            let mut r = [0.0; 3];
            let step = 1.0 / w.symmetric_eigenvalues()[2];
            for _ in 0..3000 {
                let u = w.mul_vec(&r);
                for c in 0..3 {
                    r[c] -= step * (u[c] + q[c]);
                }
                project_cone(&mut r, mu);
            }
            let block = std::array::from_fn(|i| std::array::from_fn(|j| w[(i, j)]));
            let found = associated_space(&block, &std::array::from_fn(|c| q[c]), mu, &[0.0; 3]).unwrap();
            assert!(r.iter().zip(found).all(|(a, b)| (a - b).abs() < 1e-12), "{r:?} {found:?}");
        }
    }

    #[test]
    fn a_proximal_step_for_a_matrix_that_is_not_definite() {
        // Two equal rows and a skew part, exactly and with errors in the seventh digit: steps from the last
        // point lead to a solution.
        let (q, law) = ([-1.0, 0.9, 0.8], [Law::Cone { mu: 0.3 }]);
        let mut r = [0.0; 3];
        for error in [0.0, 1e-7] {
            let w = [[1.0, 0.501, 0.499], [0.499, 1.0, 1.0], [0.501, 1.0 + error, 1.0 - error]];
            r = [0.0; 3];
            for _ in 0..200 {
                r = associated_space(&w, &q, 0.3, &r).unwrap();
            }
            let dense = Matrix::from_rows(&w);
            let e = residual(&ContactView::new(&dense, &q, &law).unwrap(), &r).relative;
            assert!(e < 1e-12, "{error}: {r:?} {e}");
        }
        assert_eq!(associated_space(&[[0.0; 3]; 3], &q, 0.3, &r), None);
    }

    #[test]
    fn closed_forms() {
        let w = [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 4.0]];
        assert_eq!(coulomb_space(&w, &[1.0, 5.0, 0.0], 0.5), Some([0.0; 3]));
        assert_eq!(coulomb_space(&w, &[-6.0, 1.0, 0.0], 0.5), Some([3.0, -0.25, 0.0]));
        let slide = coulomb_space(&w, &[-6.0, 12.0, 16.0], 0.5).unwrap();
        for (a, b) in slide.iter().zip([3.0, -0.9, -1.2]) {
            assert!((a - b).abs() < 1e-15);
        }
        assert_eq!(coulomb_space(&w, &[-6.0, 12.0, 16.0], 0.0), Some([3.0, 0.0, 0.0]));
        assert_eq!(coulomb_plane(&[[2.0, 0.0], [0.0, 4.0]], &[-6.0, 20.0], 0.5), Some([3.0, -1.5]));
        assert_eq!(coulomb_space(&[[0.0; 3]; 3], &[-1.0, 0.0, 0.0], 0.5), None);
        // The associated law lifts off as it slides: along the ray (1, −½, 0) u = (1, 2, 0) s is left of q.
        let slide = associated_space(&w, &[-6.0, 12.0, 0.0], 0.5, &[0.0; 3]).unwrap();
        assert!(slide.iter().zip([4.0, -2.0, 0.0]).all(|(a, b)| (a - b).abs() < 1e-14), "{slide:?}");
        assert_eq!(
            associated_plane(&[[2.0, 0.0], [0.0, 4.0]], &[-6.0, 12.0], 0.5, &[0.0; 2]),
            Some([4.0, -2.0])
        );
        // Friction and moments at their limits: along the ray (1, −½, 0, −¼, 0) u = (u_n, u_t, ω) is left of
        // q, with u_n = ½ u_t + ¼ ω.
        let unit: Block<5> = std::array::from_fn(|i| std::array::from_fn(|j| f64::from(u8::from(i == j))));
        let r = associated_rolling(&unit, &[-1.0, 4.0, 0.0, 8.0, 0.0], 0.5, 0.25, &[0.0; 5]).unwrap();
        let n = (1.0 + 2.0 + 2.0) / (1.0 + 0.25 + 0.0625);
        assert!(
            r.iter().zip([n, -0.5 * n, 0.0, -0.25 * n, 0.0]).all(|(a, b)| (a - b).abs() < 1e-14),
            "{r:?}"
        );
        let u = [-1.0 + n, 4.0 - 0.5 * n, 8.0 - 0.25 * n];
        assert!((u[0] - 0.5 * u[1] - 0.25 * u[2]).abs() < 1e-14);
        // Friction slides, moments hold.
        let w: Block<5> = std::array::from_fn(|i| std::array::from_fn(|j| if i == j { 2.0 } else { 0.0 }));
        let r = rolling(&w, &[-6.0, 8.0, 0.0, 0.5, 0.0], 0.5, 0.2).unwrap();
        assert!(r.iter().zip([3.0, -1.5, 0.0, -0.25, 0.0]).all(|(a, b)| (a - b).abs() < 1e-14), "{r:?}");
    }
}
