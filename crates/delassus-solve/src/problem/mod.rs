//! The contact problem: find f and u with u = W f + q and, at every constraint, its law.
//!
//! W ∈ R^{m×m} is the Delassus operator, q ∈ R^m the free velocity (what happens with no contact force),
//! m the rows of all laws together. One type serves accelerations and forces at an instant, velocities and
//! percussions at an impact, velocities and impulses over a time step: only the meaning of the rows changes.

mod contact_problem;
mod delassus_assembly;
mod dynamics;
mod law;
mod mass_blocks;
mod natural_step;
mod operator;
mod reduced_coordinates;
mod residual;
mod residual_check;
mod sphere_pile;
mod status;

pub use contact_problem::{ContactProblem, Form};
pub use dynamics::{Dynamics, Reduced, constrained_delassus, constrained_inverse_mass, kinetic_angle};
pub use law::{Law, PolyhedralLaw, Slip, row_offsets};
pub(crate) use law::{MAX_LAW_ROWS, SlidingKinds};
pub use operator::{Delassus, MatrixFree};
pub use reduced_coordinates::{ReducedCoordinates, reduced_coordinates};
pub(crate) use residual::residual_with_least_normal;
pub use residual::{
    RelativeResidual, Residual, project_cone, project_ellipse, project_rolling, project_spinning, residual,
    worst_constraint,
};
pub use residual_check::ResidualCheck;
pub use sphere_pile::sphere_pile;
pub use status::Status;

pub(crate) use delassus_assembly::Elimination;
pub use mass_blocks::diagonal_blocks;
pub(crate) use mass_blocks::inverse_blocks;
pub(crate) use status::settle;

use thiserror::Error;

/// A contact problem: a view, cheap to copy.
#[derive(Clone, Copy)]
pub struct ContactView<'a> {
    /// W.
    pub delassus: &'a dyn Delassus,
    /// q.
    pub free_velocity: &'a [f64],
    /// One law per constraint, in the order of the rows.
    pub laws: &'a [Law],
}

/// Why the data do not define a valid contact problem.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum InvalidProblem {
    /// Two sizes that must agree do not.
    #[error("{what}: expected {expected}, found {found}")]
    Size {
        /// What was counted.
        what: &'static str,
        /// The size implied by the rest of the problem.
        expected: usize,
        /// The number found.
        found: usize,
    },
    /// A number is NaN or infinite.
    #[error("{what} has an entry that is not finite (entry {index})")]
    NotFinite {
        /// Where.
        what: &'static str,
        /// Which entry, counted from 0.
        index: usize,
    },
    /// A friction coefficient is negative or not a number.
    #[error("constraint {constraint}: a friction coefficient must be a number ≥ 0, found {mu}")]
    Friction {
        /// Which constraint, counted from 0.
        constraint: usize,
        /// The coefficient found.
        mu: f64,
    },
    /// A diagonal block of the mass matrix has no inverse.
    #[error("the mass matrix is singular in the block of {size} rows that begins with row {row}")]
    SingularMass {
        /// First row of the block, counted from 0.
        row: usize,
        /// Rows of the block.
        size: usize,
    },
    /// A slip direction is not a unit vector.
    #[error("constraint {constraint}: a slip direction must have length 1, found {length}")]
    SlipDirection {
        /// Which constraint, counted from 0.
        constraint: usize,
        /// Its length.
        length: f64,
    },
}

/// An error unless the laws are laws: μ ≥ 0, slip directions of length 1 (to 1e-9, what a division by a
/// rounded norm leaves with a margin).
pub fn check_laws(laws: &[Law]) -> Result<(), InvalidProblem> {
    for (constraint, law) in laws.iter().enumerate() {
        let coefficients = law.coefficients();
        if let Some(&mu) = coefficients.iter().find(|mu| !(mu.is_finite() && **mu >= 0.0)) {
            return Err(InvalidProblem::Friction { constraint, mu });
        }
        if let Law::Sliding { slip, .. } | Law::BilateralSliding { slip, .. } = law {
            let length = crate::linalg::norm(slip.components());
            if length.is_nan() || (length - 1.0).abs() > 1e-9 {
                return Err(InvalidProblem::SlipDirection { constraint, length });
            }
        }
    }
    Ok(())
}

/// An error unless all entries are finite.
pub fn check_finite(what: &'static str, numbers: &[f64]) -> Result<(), InvalidProblem> {
    if are_finite(numbers) {
        return Ok(());
    }
    match numbers.iter().position(|x| !x.is_finite()) {
        Some(index) => Err(InvalidProblem::NotFinite { what, index }),
        None => Ok(()),
    }
}

/// Whether all numbers are finite: without a way out at each of them, several are tested at once.
fn are_finite(numbers: &[f64]) -> bool {
    numbers.chunks(64).all(|some| some.iter().fold(true, |all, x| all & x.is_finite()))
}

/// An error unless `found` is `expected`.
pub fn check_size(what: &'static str, expected: usize, found: usize) -> Result<(), InvalidProblem> {
    if expected == found { Ok(()) } else { Err(InvalidProblem::Size { what, expected, found }) }
}

impl<'a> ContactView<'a> {
    /// Builds the problem and checks its sizes and values.
    pub fn new(
        delassus: &'a dyn Delassus,
        free_velocity: &'a [f64],
        laws: &'a [Law],
    ) -> Result<Self, InvalidProblem> {
        check_laws(laws)?;
        let rows = *row_offsets(laws).last().unwrap_or(&0);
        check_size("rows of the Delassus operator", rows, delassus.dim())?;
        check_size("entries of the free velocity", rows, free_velocity.len())?;
        check_finite("the free velocity", free_velocity)?;
        Ok(ContactView { delassus, free_velocity, laws })
    }

    /// u = W f + q.
    pub fn velocity(&self, force: &[f64]) -> Vec<f64> {
        let mut u = self.delassus.apply(force);
        for (ui, qi) in u.iter_mut().zip(self.free_velocity) {
            *ui += qi;
        }
        u
    }
}
