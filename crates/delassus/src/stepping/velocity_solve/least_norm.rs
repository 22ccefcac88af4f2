//! The contact impulses of least norm, where a run asks for them.
//!
//! ```text
//! min ‖r_c‖   subject to   M⁻¹H r = M⁻¹H r⁰ ,   r in the laws at the velocities u of r⁰
//! ```
//!
//! r⁰ is the solution that was found, r_c its contacts. Forces of joints do not
//! count: in a planar world the joints that keep the plane take over all friction across it.

use delassus_solve::analysis::least_contact_impulses;
use delassus_solve::contact::{ContactOptions, Solution, solve_into};
use delassus_solve::linalg::norm;
use delassus_solve::problem::{InvalidProblem, Law, Status, row_offsets};

use super::{SolveOutcome, VelocitySolver};

/// Norms that differ by less than this part are the same: the precision of a cone program.
const LEAST_NORM_ERROR: f64 = 1e-7;

impl VelocitySolver {
    /// The contact impulses of least norm that go with the velocities of the solution, where it has not found
    /// them itself: solvers choose by a term that they take back, and may end before it has chosen.
    pub(super) fn shorten(
        &mut self,
        outcome: SolveOutcome,
        options: &ContactOptions,
    ) -> Result<SolveOutcome, InvalidProblem> {
        let (problem, solution) = (&self.assembly.problem, &mut self.found.solution);
        let laws = &problem.laws;
        let offsets = row_offsets(laws);
        let norm_of = |r: &[f64]| {
            let rows = laws.iter().zip(offsets.windows(2)).filter(|(law, _)| **law != Law::Bilateral);
            rows.map(|(_, at)| norm(&r[at[0]..at[1]])).fold(0.0, f64::hypot)
        };
        let found = solution.impulse.clone();
        let Some(least) = least_contact_impulses(problem, &found)? else { return Ok(outcome) };
        if norm_of(&found) <= (1.0 + LEAST_NORM_ERROR) * norm_of(&least) {
            return Ok(outcome);
        }
        // A cone program knows its solution less well than a solver that begins there.
        solution.impulse = least;
        let plain = ContactOptions { minimum_norm: false, ..*options };
        solve_into(problem, &plain, &mut self.found.workspace, solution)?;
        let Solution { status, residual, iterations, .. } = *solution;
        if status != Status::Solved || norm_of(&solution.impulse) >= norm_of(&found) {
            solution.impulse = found;
            return Ok(outcome);
        }
        Ok(SolveOutcome { status, residual, iterations: outcome.iterations + iterations })
    }
}
