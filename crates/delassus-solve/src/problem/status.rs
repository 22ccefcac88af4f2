//! How a solve ended, as the residual shows, not as the method claims.

use serde::{Deserialize, Serialize};

/// How a solve ended.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The residual is within the tolerance; in a time step whose contacts stick also within what the
    /// rounding of its own impulses leaves, and then the reported residual may be above the tolerance.
    Solved,
    /// The limit on iterations or work was reached first.
    MaxIterations,
    /// The method cannot go on from here, which means nothing for the problem.
    Stalled,
    /// It was proved that the problem has no solution.
    NoSolution,
    /// The caller asked to stop, or the time that it gave was over.
    Interrupted,
}

/// `Solved` exactly where the residual is within the tolerance.
pub fn settle(residual: f64, otherwise: Status, tolerance: f64) -> Status {
    match otherwise {
        _ if residual <= tolerance => Status::Solved,
        Status::Solved => Status::Stalled,
        other => other,
    }
}
