//! Impulses of the assembled problem, with the check that decides on them.
//!
//! What a method finds counts where the residual of the problem is within the tolerance. A change of impulses
//! that have passed is kept where it passes the same check, and is rolled back where it does not.

use delassus_solve::contact::{Solution, Workspace};
use delassus_solve::problem::{ContactProblem, Residual, Status};

use super::SolveOutcome;

/// Contacts up to which memory is taken before it is needed.
const MAX_RESERVED_CONTACTS: usize = 500;

/// A solution that is checked, in memory that is kept.
#[derive(Default)]
pub(super) struct CheckedSolution {
    pub(super) solution: Solution,
    /// Memory of solves, and the check with which they end.
    pub(super) workspace: Workspace,
    /// Impulses before a change that the check may refuse.
    before_change: Vec<f64>,
    /// Rows that there is memory for.
    reserved_rows: usize,
}

impl CheckedSolution {
    /// Memory for this problem; whether there was none before. Problems with many contacts take memory
    /// anyway.
    pub(super) fn reserve(&mut self, problem: &ContactProblem) -> bool {
        if problem.rows() <= self.reserved_rows || problem.laws.len() > MAX_RESERVED_CONTACTS {
            return false;
        }
        self.reserved_rows = problem.rows();
        self.workspace.residual_check().load(problem);
        self.before_change.reserve(self.reserved_rows);
        true
    }

    /// Status and residual of the impulses.
    pub(super) fn settle(&mut self, problem: &ContactProblem, tolerance: f64) -> (Status, f64) {
        self.workspace.residual_check().load(problem);
        self.settle_again(problem, tolerance)
    }

    /// The same for the problem that was checked last.
    pub(super) fn settle_again(&mut self, problem: &ContactProblem, tolerance: f64) -> (Status, f64) {
        let Solution { impulse, velocity, .. } = &mut self.solution;
        self.workspace
            .residual_check()
            .residual(problem, impulse, velocity)
            .settle(Status::Stalled, tolerance)
    }

    /// The same for a problem of bilateral rows alone.
    pub(super) fn settle_bilateral(&mut self, problem: &ContactProblem, tolerance: f64) -> (Status, f64) {
        let Solution { impulse, velocity, .. } = &mut self.solution;
        self.workspace.residual_check().load(problem);
        self.workspace
            .residual_check()
            .bilateral_residual(problem, impulse, velocity)
            .settle(Status::Stalled, tolerance)
    }

    /// The residual of other impulses; their velocities become those of the solution.
    pub(super) fn residual_of(&mut self, problem: &ContactProblem, impulse: &[f64]) -> Residual {
        self.workspace.residual_check().load(problem);
        self.workspace.residual_check().residual(problem, impulse, &mut self.solution.velocity)
    }

    /// Tries a change of the impulses. The outcome with as many iterations as it took, where it made one
    /// and the check holds; else the impulses are those before it.
    pub(super) fn try_change(
        &mut self,
        problem: &ContactProblem,
        tolerance: f64,
        change: impl FnOnce(&mut Vec<f64>) -> Option<usize>,
    ) -> Option<SolveOutcome> {
        self.before_change.clone_from(&self.solution.impulse);
        let iterations = change(&mut self.solution.impulse);
        if iterations.is_some() {
            self.workspace.residual_check().load(problem);
        }
        self.keep_change(problem, tolerance, iterations)
    }

    /// The same for the problem that was checked last.
    pub(super) fn try_change_again(
        &mut self,
        problem: &ContactProblem,
        tolerance: f64,
        change: impl FnOnce(&mut Vec<f64>) -> Option<usize>,
    ) -> Option<SolveOutcome> {
        self.before_change.clone_from(&self.solution.impulse);
        let iterations = change(&mut self.solution.impulse);
        self.keep_change(problem, tolerance, iterations)
    }

    /// Keeps a change that took these iterations where the check holds.
    fn keep_change(
        &mut self,
        problem: &ContactProblem,
        tolerance: f64,
        iterations: Option<usize>,
    ) -> Option<SolveOutcome> {
        let found = iterations.map(|count| (count, self.settle_again(problem, tolerance)));
        let (iterations, (status, residual)) = match found {
            Some(found) => found,
            None => (0, (Status::Stalled, f64::INFINITY)),
        };
        if status != Status::Solved {
            self.solution.impulse.clone_from(&self.before_change);
            return None;
        }
        Some(SolveOutcome { status, residual, iterations })
    }
}
