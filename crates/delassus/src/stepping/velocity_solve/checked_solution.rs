//! Impulses of the assembled problem, with the check that decides on them.
//!
//! What a method finds counts where the residual of the problem is within the tolerance. A change of impulses
//! that have passed is kept where it passes the same check, and is rolled back where it does not.

use delassus_solve::contact::{Solution, Workspace};
use delassus_solve::problem::{ContactProblem, RelativeResidual, Status};

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
    pub(super) fn residual_of(&mut self, problem: &ContactProblem, impulse: &[f64]) -> RelativeResidual {
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

#[cfg(test)]
mod tests {
    use super::*;
    use delassus_solve::linalg::{Matrix, Sparse};
    use delassus_solve::problem::{Form, Law};

    /// u = W r + q on contacts without friction.
    fn problem(w: &[&[f64]], q: &[f64]) -> ContactProblem {
        let delassus = Sparse::from_dense(&Matrix::from_rows(w));
        ContactProblem {
            laws: vec![Law::Unilateral; q.len()],
            form: Form::Local { delassus, free_velocity: q.to_vec() },
        }
    }

    fn with_impulse(impulse: &[f64]) -> CheckedSolution {
        let mut found = CheckedSolution::default();
        found.solution.impulse = impulse.to_vec();
        found
    }

    #[test]
    fn what_is_no_solution_is_not_solved() {
        // 2 r − 1 = 0.
        let single = problem(&[&[2.0]], &[-1.0]);
        let mut right = with_impulse(&[0.5]);
        assert_eq!(right.settle(&single, 1e-10), (Status::Solved, 0.0));
        assert_eq!(right.solution.velocity, [0.0]);
        // Too little, and more than stops it.
        for (impulse, velocity) in [(0.4, -0.2), (0.6, 0.2)] {
            let mut wrong = with_impulse(&[impulse]);
            let (status, residual) = wrong.settle(&single, 1e-10);
            assert!(status == Status::Stalled && residual > 1e-2, "{impulse}: {status:?} {residual}");
            assert!((wrong.solution.velocity[0] - velocity).abs() < 1e-15);
        }
    }

    #[test]
    fn joints_alone_may_pull_but_must_stop_what_they_join() {
        // 2 v = f + r, one row.
        let with = |law: Law, force: f64| ContactProblem {
            laws: vec![law],
            form: Form::Global {
                mass: Sparse::from_triplets(1, 1, &[(0, 0, 2.0)]),
                jacobian_transposed: Sparse::from_triplets(1, 1, &[(0, 0, 1.0)]),
                force: vec![force],
                bias: vec![0.0],
            },
        };
        for force in [-1.0, 1.0] {
            let problem = with(Law::Bilateral, force);
            assert_eq!(with_impulse(&[-force]).settle_bilateral(&problem, 1e-10), (Status::Solved, 0.0));
            assert_eq!(with_impulse(&[-0.9 * force]).settle_bilateral(&problem, 1e-10).0, Status::Stalled);
        }
        // A contact is no joint.
        let contact = with(Law::Unilateral, -1.0);
        assert_eq!(with_impulse(&[1.0]).settle_bilateral(&contact, 1e-10).0, Status::Stalled);
        assert_eq!(with_impulse(&[1.0]).settle(&contact, 1e-10).0, Status::Solved);
    }

    #[test]
    fn a_change_stays_where_the_check_holds_and_is_rolled_back_elsewhere() {
        // Two rows that carry a load of 1 together, as they like.
        let shared = problem(&[&[1.0, 1.0], &[1.0, 1.0]], &[-1.0, -1.0]);
        let mut found = with_impulse(&[1.0, 0.0]);
        let to = |new: [f64; 2], iterations: Option<usize>| {
            move |r: &mut Vec<f64>| {
                r.copy_from_slice(&new);
                iterations
            }
        };
        let kept = found.try_change(&shared, 1e-10, to([0.25, 0.75], Some(7))).unwrap();
        assert_eq!((kept.status, kept.residual, kept.iterations), (Status::Solved, 0.0, 7));
        assert_eq!(found.solution.impulse, [0.25, 0.75]);
        // More than the load; less; a change that gives up halfway.
        for (new, iterations) in [([0.75, 0.75], Some(1)), ([0.1, 0.1], Some(1)), ([0.5, 0.5], None)] {
            assert!(found.try_change(&shared, 1e-10, to(new, iterations)).is_none(), "{new:?}");
            assert_eq!(found.solution.impulse, [0.25, 0.75]);
            assert!(found.try_change_again(&shared, 1e-10, to(new, iterations)).is_none(), "{new:?}");
            assert_eq!(found.solution.impulse, [0.25, 0.75]);
        }
        assert!(found.try_change_again(&shared, 1e-10, to([0.5, 0.5], Some(2))).is_some());
        assert_eq!(found.solution.impulse, [0.5, 0.5]);
    }

    #[test]
    fn memory_is_taken_once_for_each_size() {
        let mut found = CheckedSolution::default();
        let [small, large] = [1, 2].map(|n: usize| {
            let rows: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(i == j)).collect()).collect();
            problem(&rows.iter().map(|row| &row[..]).collect::<Vec<_>>(), &vec![-1.0; n])
        });
        assert!(found.reserve(&small) && !found.reserve(&small));
        assert!(found.reserve(&large) && !found.reserve(&small));
    }
}
