//! Complementarity problems of contact mechanics: laws, solvers, all solutions, well-posedness.
//!
//! ```text
//! u = W r + q ,   (r_i, u_i) ∈ law i ,   i = 1 … number of contacts
//! ```
//!
//! W ∈ R^{m×m} is the Delassus matrix, q ∈ R^m the velocity without contact impulses, r ∈ R^m the impulses, u
//! ∈ R^m the velocities that they leave. A contact owns one to six rows (normal, tangents, moments of rolling
//! and spinning), and its [`Law`] relates its impulses to its velocities. Forces and accelerations at
//! an instant, and percussions at an impact, are the same problem. A block that comes down at 2 m/s and
//! slides at 3 m/s, with unit mass and μ = 1/2:
//!
//! ```
//! use delassus_solve::{Law, Matrix, Status, solve};
//!
//! let w = Matrix::identity(3);
//! let q = [-2.0, 3.0, 0.0];
//! let found = solve(&w, &q, &[Law::Coulomb { mu: 0.5 }])?;
//! println!("{:?} {:?} {:?}", found.impulse, found.velocity, found.status);
//! assert_eq!(found.status, Status::Solved);
//! assert!((found.impulse[1] + 1.0).abs() < 1e-7 && (found.velocity[1] - 2.0).abs() < 1e-7);
//! # Ok::<(), delassus_solve::InvalidProblem>(())
//! ```
//!
//! | module | what it answers |
//! |---|---|
//! | [`problem`] | what is a contact problem, and how far are impulses from solving it |
//! | [`contact`] | one solution with friction, for a few contacts or for a hundred thousand |
//! | [`lcp`] | linear complementarity problems: pivoting, Newton's method, quadratic programs |
//! | [`modes`] | all solutions of a small problem, mode by mode, also in exact arithmetic |
//! | [`analysis`] | existence and uniqueness, with theorems and certificates that can be checked again |
//! | [`impact`] | velocities after an impact, by several impact laws |
//! | [`linalg`] | dense, sparse and block matrices |
#![forbid(unsafe_code)]

pub mod analysis;
pub mod contact;
pub mod impact;
pub mod lcp;
pub mod linalg;
pub mod modes;
pub mod problem;

#[cfg(test)]
#[allow(dead_code, reason = "the tests in `tests` use the rest")]
#[path = "../tests/support/random.rs"]
mod random;

pub use contact::{ContactOptions, Solution};
pub use linalg::Matrix;
pub use problem::{InvalidProblem, Law, Status};

use linalg::Sparse;
use problem::{ContactProblem, Form};

/// Solves u = W r + q with a law for each contact, to a scale-free residual of 1e-8.
///
/// For sparse matrices, problems given by M and H, other tolerances and methods, and for one problem after
/// the other, see [`contact::solve`] and [`contact::solve_into`].
pub fn solve(w: &Matrix, q: &[f64], laws: &[Law]) -> Result<Solution, InvalidProblem> {
    let form = Form::Local { delassus: Sparse::from_dense(w), free_velocity: q.to_vec() };
    contact::solve(&ContactProblem::new(laws.to_vec(), form)?, &ContactOptions::default(), None)
}
