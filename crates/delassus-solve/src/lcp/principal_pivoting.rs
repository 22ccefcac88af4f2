//! Block principal pivoting with the least-index rule as a fallback.
//!
//! ```text
//! w = M z + q,  0 ≤ z ⊥ w ≥ 0
//! ```
//!
//! M is n × n. For an index set α the basic point has z = 0 off α and (M z + q)_α = 0. Indices where zᵢ < 0
//! or wᵢ < 0 change side: all of them while their number goes down, else, after a few trials, only the first
//! one (Murty's rule, which ends for every P-matrix). A singular principal block, or an index set that comes
//! again under Murty's rule, means that M is no P-matrix and the method does not apply: on most random
//! matrices, whose determinants have any sign, one of the two happens.

use super::Lcp;
use super::solution::{LcpSolution, check_residual};
use crate::linalg::solve_on;
use crate::problem::Status;

/// Options of [`principal_pivoting`].
#[derive(Clone, Debug, PartialEq)]
pub struct PrincipalPivotingOptions {
    /// Residual up to which a point counts as a solution; default 1e-8.
    pub tolerance: f64,
    /// Largest number of exchanges; default 20 000.
    pub max_iterations: usize,
    /// Block exchanges allowed without progress before the least-index rule takes over; default 8.
    pub block_trials: usize,
}

impl Default for PrincipalPivotingOptions {
    fn default() -> Self {
        PrincipalPivotingOptions { tolerance: 1e-8, max_iterations: 20_000, block_trials: 8 }
    }
}

/// Whether the sets of a sequence repeat, with one of them remembered (Brent): the one after 2ᵏ others.
#[derive(Default)]
struct Cycle {
    remembered: Vec<bool>,
    since: usize,
    until: usize,
}

impl Cycle {
    fn closes_with(&mut self, set: &[bool]) -> bool {
        if self.remembered == set {
            return true;
        }
        self.since += 1;
        if self.since >= self.until {
            self.remembered = set.to_vec();
            (self.since, self.until) = (0, 2 * self.until + 1);
        }
        false
    }
}

/// Solves the problem by principal pivoting; `Stalled` where a principal block is singular or the index sets
/// go round in a cycle.
pub fn principal_pivoting(lcp: &Lcp, options: &PrincipalPivotingOptions) -> LcpSolution {
    let n = lcp.size();
    let mut inside = vec![false; n];
    let mut z = vec![0.0; n];
    let (mut fewest, mut block_trials) = (n + 1, options.block_trials);
    let (mut iterations, mut cycle) = (0, Cycle::default());
    let status = loop {
        let w = lcp.slack(&z);
        let size = z.iter().chain(&lcp.vector).fold(0.0_f64, |t, x| t.max(x.abs()));
        // Signs below the rounding of the block solution are taken for zero.
        let wrong: Vec<usize> =
            (0..n).filter(|&i| (if inside[i] { z[i] } else { w[i] }) < -1e-14 * size).collect();
        let Some(&first) = wrong.first() else { break Status::Stalled };
        if iterations >= options.max_iterations {
            break Status::MaxIterations;
        }
        if wrong.len() < fewest {
            (fewest, block_trials, cycle) = (wrong.len(), options.block_trials, Cycle::default());
            wrong.iter().for_each(|&i| inside[i] = !inside[i]);
        } else if block_trials > 0 {
            block_trials -= 1;
            wrong.iter().for_each(|&i| inside[i] = !inside[i]);
        } else if cycle.closes_with(&inside) {
            break Status::Stalled;
        } else {
            inside[first] = !inside[first];
        }
        let alpha: Vec<usize> = (0..n).filter(|&i| inside[i]).collect();
        let Some(next) = solve_on(&lcp.matrix, &lcp.vector, &alpha) else { break Status::Stalled };
        z = next;
        iterations += 1;
    };
    check_residual(&lcp.measure(), z, status, iterations, options.tolerance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Matrix;

    #[test]
    fn murty_takes_over_where_blocks_cycle() {
        // Block exchanges alone cycle on this P-matrix; the solution is z = 1/3.
        let m = Matrix::from_rows(&[[1.0, 0.0, 2.0], [2.0, 1.0, 0.0], [0.0, 2.0, 1.0]]);
        let lcp = Lcp::new(m, vec![-1.0; 3]).unwrap();
        for block_trials in [0, 8] {
            let s =
                principal_pivoting(&lcp, &PrincipalPivotingOptions { block_trials, ..Default::default() });
            assert_eq!(s.status, Status::Solved);
            assert!(s.z.iter().all(|x| (x - 1.0 / 3.0).abs() < 1e-15));
        }
    }

    #[test]
    fn the_exponential_example_of_murty() {
        // Murty's lower triangular matrix: the least-index rule alone takes 2ⁿ − 1 exchanges.
        let n = 6;
        let m = Matrix::from_fn(n, n, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Equal => 1.0,
            std::cmp::Ordering::Less => 2.0,
            std::cmp::Ordering::Greater => 0.0,
        });
        let lcp = Lcp::new(m, vec![-1.0; n]).unwrap();
        let s = principal_pivoting(&lcp, &PrincipalPivotingOptions { block_trials: 0, ..Default::default() });
        assert_eq!(s.status, Status::Solved);
        assert_eq!(s.z, vec![0.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
        let limit = PrincipalPivotingOptions { block_trials: 0, max_iterations: 1, ..Default::default() };
        let stopped = principal_pivoting(&lcp, &limit);
        assert_eq!(stopped.status, Status::MaxIterations);
    }

    #[test]
    fn index_sets_that_go_round_are_noticed() {
        // No solution: w = −1 without z, and z = −1 with it.
        let lcp = Lcp::new(Matrix::from_rows(&[[-1.0]]), vec![-1.0]).unwrap();
        for block_trials in [0, 8] {
            let found =
                principal_pivoting(&lcp, &PrincipalPivotingOptions { block_trials, ..Default::default() });
            assert_eq!(found.status, Status::Stalled);
            assert!(found.iterations < 20, "{found:?}");
        }
        // Sets that differ close no cycle; one that comes again does, at the latest after twice its length.
        let mut cycle = Cycle::default();
        let sets: Vec<Vec<bool>> = (0..8_u8).map(|k| (0..3).map(|i| k >> i & 1 == 1).collect()).collect();
        assert!(!sets.iter().any(|set| cycle.closes_with(set)));
        assert!(sets.iter().cycle().take(24).any(|set| cycle.closes_with(set)));
    }

    #[test]
    fn a_singular_block_stalls() {
        let lcp = Lcp::new(Matrix::from_rows(&[[0.0, 1.0], [1.0, 0.0]]), vec![-1.0, 1.0]).unwrap();
        assert_eq!(principal_pivoting(&lcp, &PrincipalPivotingOptions::default()).status, Status::Stalled);
    }
}
