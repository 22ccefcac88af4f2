//! Newton's method on the Fischer–Burmeister map of a mixed problem.
//!
//! ```text
//! Fᵢ = wᵢ on free rows,  Fᵢ = zᵢ + wᵢ − √(zᵢ² + wᵢ²) on the others,  w = M z + q
//! ```
//!
//! Steps δ solve (JᵀJ + ν I) δ = −JᵀF with ν small next to JᵀJ, so that singular Jacobians (as many circuits
//! have) do no harm; steps are shortened until ‖F‖ goes down. The point found serves to identify the active
//! set.

use super::mlcp::Mlcp;
use crate::linalg::{Matrix, dot, equilibrate};

/// The point the method reaches from a start (in the equilibrated unknowns), with the number of steps.
pub(super) fn fischer_burmeister(
    mlcp: &Mlcp,
    start: impl Fn(usize) -> f64,
    steps: usize,
) -> (Vec<f64>, usize) {
    let n = mlcp.size();
    let (rows, cols) = equilibrate(&mlcp.matrix);
    let size = mlcp.vector.iter().zip(&rows).fold(0.0_f64, |t, (q, r)| t.max((q * r).abs()));
    let size = if size > 0.0 { size } else { 1.0 };
    let m = Matrix::from_fn(n, n, |i, j| rows[i] * mlcp.matrix[(i, j)] * cols[j]);
    let q: Vec<f64> = mlcp.vector.iter().zip(&rows).map(|(q, r)| q * r / size).collect();
    let map = |z: &[f64]| -> (Vec<f64>, Vec<f64>) {
        let w: Vec<f64> = (0..n).map(|i| dot(m.row(i), z) + q[i]).collect();
        let f = (0..n).map(|i| if mlcp.free[i] { w[i] } else { z[i] + w[i] - z[i].hypot(w[i]) }).collect();
        (w, f)
    };
    let mut z: Vec<f64> = (0..n).map(start).collect();
    let (mut w, mut f) = map(&z);
    let mut taken = 0;
    while taken < steps && dot(&f, &f).sqrt() > 1e-14 {
        let mut j = m.clone();
        for i in (0..n).filter(|&i| !mlcp.free[i]) {
            let r = z[i].hypot(w[i]);
            // At the kink any convex combination of the two sides serves.
            let (a, b) = if r > 0.0 { (1.0 - z[i] / r, 1.0 - w[i] / r) } else { (0.3, 0.3) };
            j.row_mut(i).iter_mut().for_each(|x| *x *= b);
            j[(i, i)] += a;
        }
        let transposed = j.transpose();
        let mut normal = transposed.mul(&j);
        let merit = dot(&f, &f);
        let shift = 1e-12 + 1e-4 * merit.min(1e-4);
        (0..n).for_each(|i| normal[(i, i)] += shift);
        let gradient = transposed.mul(&Matrix::from_vec(n, 1, f.iter().map(|x| -x).collect()));
        let Some(step) = normal.solve_positive_definite(&gradient) else { break };
        taken += 1;
        let mut length = 1.0;
        let accepted = (0..30).any(|_| {
            let trial: Vec<f64> = z.iter().zip(step.data()).map(|(x, d)| x + length * d).collect();
            let (tw, tf) = map(&trial);
            let better = dot(&tf, &tf) < (1.0 - 1e-4 * length) * merit;
            if better {
                (z, w, f) = (trial, tw, tf);
            }
            length *= 0.5;
            better
        });
        if !accepted {
            break;
        }
    }
    (z.iter().zip(&cols).map(|(x, c)| x * c * size).collect(), taken)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mixed_problem_with_a_singular_free_block() {
        // z₀ free with no own entry: w₀ = z₁ − 2 = 0, w₁ = z₀ + 3: z = (−3, 2).
        let mlcp = Mlcp {
            matrix: Matrix::from_rows(&[[0.0, 1.0], [1.0, 0.0]]),
            vector: vec![-2.0, 3.0],
            free: vec![true, false],
        };
        let (z, _) = fischer_burmeister(&mlcp, |_| 0.0, 100);
        assert!(mlcp.residual(&z) < 1e-10, "{z:?}");
    }
}
