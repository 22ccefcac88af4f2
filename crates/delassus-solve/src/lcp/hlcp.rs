//! The horizontal linear complementarity problem.
//!
//! ```text
//! A x⁺ − B x⁻ + q = 0,  0 ≤ x⁺ ⊥ x⁻ ≥ 0
//! ```
//!
//! A and B are n × n, q, x⁺ and x⁻ in Rⁿ (000 eq. 41: bilateral sliding friction, where |λ| = λ⁺ + λ⁻). With
//! A regular it is the LCP x⁺ = A⁻¹B x⁻ − A⁻¹q; in general it is a mixed problem with x⁺ free.

use super::mlcp::Mlcp;
use super::{Lcp, ProblemError, check_square, check_vector};
use crate::linalg::{Matrix, rank_tolerance};

/// A x⁺ − B x⁻ + q = 0, 0 ≤ x⁺ ⊥ x⁻ ≥ 0.
#[derive(Clone, Debug, PartialEq)]
pub struct HorizontalLcp {
    /// A, n × n.
    pub a: Matrix,
    /// B, n × n.
    pub b: Matrix,
    /// q, n numbers.
    pub vector: Vec<f64>,
}

impl HorizontalLcp {
    /// The problem with these data, checked for size and finiteness.
    pub fn new(a: Matrix, b: Matrix, vector: Vec<f64>) -> Result<Self, ProblemError> {
        check_square(["rows of A", "columns of A"], vector.len(), &a)?;
        check_square(["rows of B", "columns of B"], vector.len(), &b)?;
        check_vector(&vector)?;
        Ok(HorizontalLcp { a, b, vector })
    }

    /// Number of pairs n.
    pub fn size(&self) -> usize {
        self.vector.len()
    }

    /// The residual of the mixed problem ([`HorizontalLcp::to_mlcp`]): the norm of (A x⁺ − B x⁻ + q,
    /// min(x⁺, x⁻)), free of units.
    ///
    /// # Panics
    /// If `plus` or `minus` has not n entries.
    pub fn residual(&self, plus: &[f64], minus: &[f64]) -> f64 {
        assert!(plus.len() == self.size() && minus.len() == self.size(), "n entries each");
        self.to_mlcp().residual(&[plus, minus].concat())
    }

    /// The LCP with w = x⁺ and z = x⁻, M = A⁻¹B and −A⁻¹q, or `None` where A is singular to working
    /// precision.
    pub fn to_lcp(&self) -> Option<Lcp> {
        let n = self.size();
        let values = self.a.singular_values();
        let regular = values.last().is_none_or(|&s| s > rank_tolerance(n, n) * values[0]);
        if !regular {
            return None;
        }
        let matrix = self.a.solve_matrix(&self.b)?;
        let minus_q: Vec<f64> = self.vector.iter().map(|x| -x).collect();
        Lcp::new(matrix, self.a.solve(&minus_q)?).ok()
    }

    /// The mixed problem in (x⁺, x⁻) with x⁺ free: A x⁺ − B x⁻ + q = 0, w = x⁺, 0 ≤ x⁻ ⊥ w ≥ 0.
    pub fn to_mlcp(&self) -> Mlcp {
        let n = self.size();
        Mlcp {
            matrix: Matrix::from_fn(2 * n, 2 * n, |i, j| match (i < n, j < n) {
                (true, true) => self.a[(i, j)],
                (true, false) => -self.b[(i, j - n)],
                (false, true) => f64::from(i - n == j),
                (false, false) => 0.0,
            }),
            vector: self.vector.iter().copied().chain(std::iter::repeat_n(0.0, n)).collect(),
            free: (0..2 * n).map(|i| i < n).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lcp::auto::{solve_lcp, solve_mlcp};
    use crate::lcp::solution::Solver;
    use crate::problem::Status;

    #[test]
    fn both_ways_give_the_same_pair() {
        let a = Matrix::from_rows(&[[2.0, 1.0], [0.0, 1.0]]);
        let b = Matrix::from_rows(&[[3.0, -1.0], [1.0, 2.0]]);
        let h = HorizontalLcp::new(a, b, vec![1.0, -4.0]).unwrap();
        let lcp = h.to_lcp().unwrap();
        let s = solve_lcp(&lcp, Solver::Auto, 1e-10);
        assert_eq!(s.status, Status::Solved);
        assert!(h.residual(&s.w, &s.z) < 1e-14);
        let m = solve_mlcp(&h.to_mlcp(), Solver::Auto, 1e-10);
        assert_eq!(m.status, Status::Solved);
        assert!(h.residual(&m.z[..2], &m.z[2..]) < 1e-14);
        for i in 0..2 {
            assert!((m.z[i] - s.w[i]).abs() < 1e-13 && (m.z[2 + i] - s.z[i]).abs() < 1e-13);
        }
    }

    #[test]
    fn a_singular_a_goes_through_the_mixed_form() {
        // x⁺ is absent from the equation: x⁻ = 2, x⁺ = 0.
        let h = HorizontalLcp::new(Matrix::zeros(1, 1), Matrix::identity(1), vec![2.0]).unwrap();
        assert!(h.to_lcp().is_none());
        let s = solve_mlcp(&h.to_mlcp(), Solver::Auto, 1e-10);
        assert_eq!((s.status, s.z), (Status::Solved, vec![0.0, 2.0]));
        assert!(HorizontalLcp::new(Matrix::zeros(1, 1), Matrix::zeros(2, 2), vec![0.0]).is_err());
    }
}
