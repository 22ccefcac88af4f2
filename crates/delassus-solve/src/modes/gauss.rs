//! Gauss' principle by pivoting: which contacts stay closed in a problem without friction.
//!
//! ```text
//! a = argmin ½(a − a₀)ᵀM(a − a₀)   s.t.   J_b a + γ_b = 0 ,  J_u a + γ_u ≥ 0 ,      a₀ = −M⁻¹F      (000 eq. 27)
//! ```
//!
//! M is n × n and positive definite. With M = L Lᵀ and y = Lᵀ(a − a₀) this is the point of least norm of a
//! polyhedron. The acceleration is unique (000 Prop. 4, 6), and so is u = J a + γ. Every solution of the
//! contact problem has f_i = 0 where u_i > 0. All solutions therefore lie in one mode, the one that closes
//! the contacts with u_i = 0 (000 Prop. 3 (ii)).

use crate::lcp::{Nearest, nearest_point};
use crate::linalg::{Matrix, dot, max_abs};
use crate::problem::{Dynamics, Law};

/// The outcome of Gauss' principle.
pub(super) enum Gauss {
    /// u, one entry per constraint.
    Velocity(Vec<f64>),
    /// No acceleration satisfies the constraints.
    Impossible,
    /// Too close to call, or not a problem of this kind.
    Undecided,
}

/// The velocities of a problem without friction and with a positive definite mass; `tolerance` relative to
/// the largest free velocity.
pub(super) fn gauss_velocity(d: &Dynamics, tolerance: f64, clear: f64) -> Gauss {
    let rows = |of: Law| -> Vec<usize> { (0..d.laws.len()).filter(|&k| d.laws[k] == of).collect() };
    let (bilateral, unilateral) = (rows(Law::Bilateral), rows(Law::Unilateral));
    if bilateral.len() + unilateral.len() != d.laws.len() {
        return Gauss::Undecided;
    }
    let (Some(l), Some(reduced)) = (d.mass.cholesky(), d.reduce()) else { return Gauss::Undecided };
    // B = J L⁻ᵀ, so that u = B y + q.
    let Some(bt) = l.solve_matrix(&d.jacobian.transpose()) else { return Gauss::Undecided };
    let b = bt.transpose();
    let q = &reduced.free_velocity;
    let joints = b.select_rows(&bilateral);
    let target: Vec<f64> = bilateral.iter().map(|&i| -q[i]).collect();
    let space = joints.row_space();
    let y0 = space.pseudo_solve(&target);
    let size = max_abs(&target).max(f64::MIN_POSITIVE);
    let miss = joints.mul_vec(&y0).iter().zip(&target).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / size;
    if miss > clear {
        return Gauss::Impossible;
    }
    if miss > tolerance {
        return Gauss::Undecided;
    }
    let velocity = |y: &[f64]| Gauss::Velocity(b.mul_vec(y).iter().zip(q).map(|(a, b)| a + b).collect());
    if unilateral.is_empty() {
        return velocity(&y0);
    }
    let z = if bilateral.is_empty() { Matrix::identity(l.rows()) } else { space.null_basis };
    let g = b.select_rows(&unilateral).mul(&z);
    let h: Vec<f64> = unilateral.iter().map(|&i| -q[i] - dot(b.row(i), &y0)).collect();
    let t = match nearest_point(&g, &h, tolerance) {
        Nearest::Point(t) => t,
        Nearest::Infeasible(y) => {
            let weight: f64 = y.iter().zip(&h).map(|(y, h)| (y * h).abs()).sum();
            return if dot(&h, &y) > clear * weight { Gauss::Impossible } else { Gauss::Undecided };
        }
        Nearest::Undecided => return Gauss::Undecided,
    };
    let y: Vec<f64> = z.mul_vec(&t).iter().zip(&y0).map(|(a, b)| a + b).collect();
    velocity(&y)
}
