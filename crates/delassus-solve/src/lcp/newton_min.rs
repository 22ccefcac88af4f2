//! Newton's method on the min map, as an active-set method.
//!
//! ```text
//! F(z) = min(z, M z + q) = 0
//! ```
//!
//! M is n × n. With the active set α = {i : zᵢ > wᵢ} a Newton step is: z = 0 off α, (M z + q)_α = 0. It ends
//! where the set repeats: at once a solution, or, seen earlier, a cycle. It converges for M-matrices and near
//! regular solutions; on other P-matrices it may cycle, which is detected.

use super::Lcp;
use super::residual::Measure;
use super::solution::{LcpSolution, check_residual};
use crate::linalg::solve_on;
use crate::problem::Status;

/// Options of [`newton_min`].
#[derive(Clone, Debug, PartialEq)]
pub struct NewtonMinOptions {
    /// Residual up to which a point counts as a solution; default 1e-8.
    pub tolerance: f64,
    /// Largest number of steps; default 100.
    pub max_iterations: usize,
    /// Where to start, n numbers; default 0.
    pub start: Option<Vec<f64>>,
}

impl Default for NewtonMinOptions {
    fn default() -> Self {
        NewtonMinOptions { tolerance: 1e-8, max_iterations: 100, start: None }
    }
}

/// Solves the problem by Newton's method on the min map; `Stalled` on a cycle or a singular active block.
///
/// # Panics
/// If a start is given that has not n entries.
pub fn newton_min(lcp: &Lcp, options: &NewtonMinOptions) -> LcpSolution {
    newton_min_measured(lcp, &lcp.measure(), options)
}

/// The same with the measure of the problem.
pub(super) fn newton_min_measured(
    lcp: &Lcp,
    measure: &Measure<'_>,
    options: &NewtonMinOptions,
) -> LcpSolution {
    let n = lcp.size();
    let mut z = options.start.clone().unwrap_or_else(|| vec![0.0; n]);
    let mut w = lcp.slack(&z);
    let mut seen: Vec<Vec<usize>> = Vec::new();
    let mut status = Status::MaxIterations;
    let mut iterations = 0;
    while iterations < options.max_iterations {
        let active: Vec<usize> = (0..n).filter(|&i| z[i] > w[i]).collect();
        if seen.contains(&active) {
            // The last set again: a fixed point. An older one: a cycle.
            status = Status::Stalled;
            break;
        }
        let Some(next) = solve_on(&lcp.matrix, &lcp.vector, &active) else {
            status = Status::Stalled;
            break;
        };
        z = next;
        w = lcp.slack(&z);
        // On the set the slack is zero by construction; what rounding leaves must not move an index.
        active.iter().for_each(|&i| w[i] = 0.0);
        seen.push(active);
        iterations += 1;
        if z.iter().chain(&w).all(|&x| x >= 0.0) {
            break;
        }
    }
    check_residual(measure, z, status, iterations, options.tolerance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Matrix;

    #[test]
    fn m_matrix_in_few_steps() {
        // The obstacle problem on 20 points; the contact zone is found in far fewer steps than points.
        let n = 20;
        let m = Matrix::from_fn(n, n, |i, j| match i.abs_diff(j) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        });
        let q: Vec<f64> = (0..n).map(|i| if (5..12).contains(&i) { -1.0 } else { 0.7 }).collect();
        let s = newton_min(&Lcp::new(m, q).unwrap(), &NewtonMinOptions::default());
        assert_eq!(s.status, Status::Solved);
        assert!(s.residual < 1e-14 && s.iterations <= 10, "{s:?}");
    }

    #[test]
    fn a_cycle_is_seen() {
        // The P-matrix of Ben Gharbia and Gilbert: from z = 0 the active sets repeat with period 3.
        let m = Matrix::from_rows(&[[1.0, 0.0, 2.0], [2.0, 1.0, 0.0], [0.0, 2.0, 1.0]]);
        let lcp = Lcp::new(m, vec![-1.0; 3]).unwrap();
        let start = Some(vec![1.0, 0.0, 0.0]);
        let s = newton_min(&lcp, &NewtonMinOptions { start, ..Default::default() });
        assert_eq!(s.status, Status::Stalled);
        assert!(s.iterations < 8);
    }

    #[test]
    fn a_singular_block_stalls() {
        let lcp = Lcp::new(Matrix::zeros(1, 1), vec![-1.0]).unwrap();
        assert_eq!(newton_min(&lcp, &NewtonMinOptions::default()).status, Status::Stalled);
    }
}
