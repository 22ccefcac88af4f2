//! What a solver of complementarity problems returns, and how its status is decided.
//!
//! ```text
//! status = Solved   ⇒   ‖min(z, M z + q)‖ / ‖q‖ ≤ tolerance , free of units
//! ```
//!
//! The status of a solution comes from its residual, which is computed by code of its own
//! ([`Lcp::residual`](super::Lcp::residual), [`Mlcp::residual`](super::Mlcp::residual)), not from what the
//! method reports. `NoSolution` needs a proof: a ray or multipliers that show infeasibility (Farkas), or an
//! empty search over all index sets.

use std::str::FromStr;

use crate::problem::{Status, settle};
use serde::{Deserialize, Serialize};

use super::residual::Measure;

/// A method, by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Solver {
    /// Cheap methods first, then the others; the best residual wins.
    #[default]
    Auto,
    /// Complementary pivoting, [`lemke`](super::lemke()).
    Lemke,
    /// [`principal_pivoting`](super::principal_pivoting()).
    PrincipalPivoting,
    /// [`newton_min`](super::newton_min()).
    NewtonMin,
    /// All index sets one after the other, up to 20 complementary pairs.
    Enumerate,
}

impl Solver {
    /// All methods with their names in files and on the command line.
    pub const ALL: [(&'static str, Solver); 5] = [
        ("auto", Solver::Auto),
        ("lemke", Solver::Lemke),
        ("principal-pivoting", Solver::PrincipalPivoting),
        ("newton-min", Solver::NewtonMin),
        ("enumerate", Solver::Enumerate),
    ];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, solver)| *solver == self).map_or("auto", |(name, _)| name)
    }
}

/// A name that no method has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown solver \"{0}\", expected one of auto, lemke, principal-pivoting, newton-min, enumerate")]
pub struct UnknownSolver(pub String);

impl FromStr for Solver {
    type Err = UnknownSolver;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().find(|(n, _)| *n == name);
        found.map(|(_, solver)| *solver).ok_or_else(|| UnknownSolver(name.to_owned()))
    }
}

/// The point that a solver found, good or not; see its status.
#[derive(Clone, Debug, PartialEq)]
pub struct LcpSolution {
    /// z, in the order of the problem.
    pub z: Vec<f64>,
    /// w = M z + q.
    pub w: Vec<f64>,
    /// How the solve ended.
    pub status: Status,
    /// Pivots or steps.
    pub iterations: usize,
    /// The scale-free residual of z.
    pub residual: f64,
}

/// The record of a point: solved where its residual is within the tolerance, else as the method reports.
pub(super) fn check_residual(
    measure: &Measure<'_>,
    z: Vec<f64>,
    otherwise: Status,
    iterations: usize,
    tolerance: f64,
) -> LcpSolution {
    let w = measure.slack(&z);
    let residual = measure.residual_at(&z, &w);
    LcpSolution { z, w, status: settle(residual, otherwise, tolerance), iterations, residual }
}
