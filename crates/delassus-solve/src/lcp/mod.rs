//! The linear complementarity problem.
//!
//! ```text
//! w = M z + q,  0 ≤ z ⊥ w ≥ 0
//! ```
//!
//! M is n × n, q, z and w are in Rⁿ. Frictionless contact (000 eq. 9, 31), sliding friction (000 eq. 50) and
//! the mixed problems after elimination of their joints (000 eq. 58) are of this form.
//!
//! The measure of a candidate z is the norm of min(z, M z + q), zero exactly at the solutions, in units
//! that the matrix gives: entries of 10⁹ or 10⁻⁹ do not hide an error. It shares no line with any solver.
//!
//! A problem with a few unknowns is then decided by rational arithmetic: it counts as solved only where it
//! has a solution, and as one without a solution only where it has none.

mod auto;
mod enclosure;
mod exact;
mod hlcp;
mod index_sets;
mod inequalities;
mod lemke;
mod lift;
mod matrix_classes;
mod mlcp;
mod newton_min;
mod newton_mixed;
mod polyhedron;
mod principal_pivoting;
mod qp;
mod residual;
mod simplex;
mod solution;

pub use auto::{solve_lcp, solve_mlcp};
pub use hlcp::HorizontalLcp;
pub use lemke::{LemkeOptions, SecondaryRay, lemke, lemke_with_ray};
pub use lift::{HorizontalLift, LcpLift, MlcpLift, couplings, guide_horizontal_lcp, sliding_lcp, to_mlcp};
pub use matrix_classes::{P_MATRIX_MAX, Verdict, p_matrix};
pub use mlcp::{Elimination, Mlcp};
pub use newton_min::{NewtonMinOptions, newton_min};
pub use polyhedron::{Lp, Nearest, linear_program, nearest_point};
pub use principal_pivoting::{PrincipalPivotingOptions, principal_pivoting};
pub use qp::{
    QpOutcome, QuadraticProgram, dual_multiplier_program, gauss_principle, least_deviation,
    multiplier_program, percussion_dual_program, percussion_program, projected_gauss_principle,
};
pub use solution::{LcpSolution, Solver, UnknownSolver};

pub(crate) use auto::solve_lifted_mlcp;

use crate::linalg::Matrix;

/// w = M z + q, 0 ≤ z ⊥ w ≥ 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Lcp {
    /// M, n × n.
    pub matrix: Matrix,
    /// q, n numbers.
    pub vector: Vec<f64>,
}

/// Data that do not make a complementarity problem.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProblemError {
    /// A matrix or vector has the wrong size.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// Which size is wrong.
        what: &'static str,
        /// The size that fits the rest of the problem.
        expected: usize,
        /// The size that was given.
        found: usize,
    },
    /// An entry is NaN or infinite.
    #[error("{what}: row {row} holds a number that is not finite")]
    NotFinite {
        /// Which matrix or vector holds it.
        what: &'static str,
        /// Its row, from 0.
        row: usize,
    },
}

/// Refuses a size other than the expected one.
fn check_size(what: &'static str, expected: usize, found: usize) -> Result<(), ProblemError> {
    if expected == found { Ok(()) } else { Err(ProblemError::Shape { what, expected, found }) }
}

/// Refuses a matrix that is not n × n or not finite.
fn check_square(names: [&'static str; 2], n: usize, a: &Matrix) -> Result<(), ProblemError> {
    check_size(names[0], n, a.rows())?;
    check_size(names[1], n, a.cols())?;
    match (0..n).find(|&i| a.row(i).iter().any(|x| !x.is_finite())) {
        Some(row) => Err(ProblemError::NotFinite { what: "matrix", row }),
        None => Ok(()),
    }
}

/// Refuses a vector with an entry that is not finite.
fn check_vector(q: &[f64]) -> Result<(), ProblemError> {
    match q.iter().position(|x| !x.is_finite()) {
        Some(row) => Err(ProblemError::NotFinite { what: "vector", row }),
        None => Ok(()),
    }
}

impl Lcp {
    /// The problem with this matrix and vector, checked for size and finiteness.
    pub fn new(matrix: Matrix, vector: Vec<f64>) -> Result<Self, ProblemError> {
        check_square(["rows of the matrix", "columns of the matrix"], vector.len(), &matrix)?;
        check_vector(&vector)?;
        Ok(Lcp { matrix, vector })
    }

    /// Number of unknowns n.
    pub fn size(&self) -> usize {
        self.vector.len()
    }

    /// w = M z + q.
    pub fn slack(&self, z: &[f64]) -> Vec<f64> {
        residual::slack(&self.matrix, &self.vector, z)
    }

    /// ‖min(z, M z + q)‖₂ / ‖q‖₂ in units in which the entries of M are about one, whatever they are in the
    /// problem; the divisor is 1 where q = 0. +∞ where it is not a number.
    ///
    /// # Panics
    /// If `z` has not n entries.
    pub fn residual(&self, z: &[f64]) -> f64 {
        self.measure().residual(z)
    }

    /// What the points of the problem are measured with.
    fn measure(&self) -> residual::Measure<'_> {
        residual::Measure::new(&self.matrix, &self.vector, &[])
    }

    /// max |min(zᵢ, (M z + q)ᵢ)|, in the units of z and w; +∞ where it is not a number.
    ///
    /// # Panics
    /// If `z` has not n entries.
    pub fn physical_residual(&self, z: &[f64]) -> f64 {
        residual::physical(&self.matrix, &self.vector, z, |_| false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residual_by_hand() {
        let lcp = Lcp::new(Matrix::from_rows(&[[2.0, 1.0], [1.0, 2.0]]), vec![-3.0, 4.0]).unwrap();
        // z = (1, −1): w = (1 − 3, 1 − 2 + 4) = (−2, 3), min = (−2, −1).
        assert_eq!(lcp.slack(&[1.0, -1.0]), vec![-2.0, 3.0]);
        assert!((lcp.residual(&[1.0, -1.0]) - 5.0_f64.sqrt() / 5.0).abs() < 1e-16);
        assert_eq!(lcp.physical_residual(&[1.0, -1.0]), 2.0);
        assert_eq!(lcp.residual(&[1.5, 0.0]), 0.0);
        assert_eq!(lcp.residual(&[f64::NAN, 0.0]), f64::INFINITY);
        let zero = Lcp::new(Matrix::identity(1), vec![0.0]).unwrap();
        assert_eq!(zero.residual(&[-2.0]), 2.0);
    }

    #[test]
    fn bad_data_are_refused() {
        let shape = Lcp::new(Matrix::zeros(2, 3), vec![0.0; 2]).unwrap_err();
        assert_eq!(shape, ProblemError::Shape { what: "columns of the matrix", expected: 2, found: 3 });
        let nan = Lcp::new(Matrix::from_rows(&[[1.0, 0.0], [0.0, f64::NAN]]), vec![0.0; 2]).unwrap_err();
        assert_eq!(nan, ProblemError::NotFinite { what: "matrix", row: 1 });
        let inf = Lcp::new(Matrix::identity(1), vec![f64::INFINITY]).unwrap_err();
        assert_eq!(inf, ProblemError::NotFinite { what: "vector", row: 0 });
        assert_eq!(Lcp::new(Matrix::zeros(0, 0), vec![]).unwrap().residual(&[]), 0.0);
    }
}
