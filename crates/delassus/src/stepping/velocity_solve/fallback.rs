//! What is tried where a velocity solve fails: another start, then the associated law.
//!
//! ```text
//! warm start  →  proximal iteration  →  zero impulses, method Auto  →  associated law  →  no impulses
//! ```
//!
//! Where few contacts came near a solution, the proximal iteration (`canonical.rs`) goes on from there:
//! methods stall where contacts share their loads in many ways, and each of its problems has a W that is not
//! singular.
//! Where many contacts came near, the first try goes on with more work instead of another start.
//!
//! Each is tried where the one before it failed. With much friction a wedged body may have no solution at
//! all, and impulses that solve nothing would throw it off. The associated law (004 eq. 11)
//! always has a solution, and gives no energy. The step is reported as not solved all the same.

use delassus_solve::contact::{ContactOptions, Method};
use delassus_solve::problem::{ContactProblem, InvalidProblem, Status};

use super::super::model::MAX_CAREFUL_CONTACTS;
use super::super::warm_start::Impulses;
use super::other_motion::FoundMotion;
use super::rest::Onset;
use super::{Goal, SolveInput, SolveOutcome, VelocitySolver};
use crate::collision::ContactRows;
use crate::world::Masses;

/// Solves of one step that may fail. From then on the step takes the time that is left in one substep, each
/// solve is tried once, and where there seems to be no solution at all, with the associated law.
const MAX_FAILED_SOLVES: usize = 6;
/// What a failed solve counts where there are many contacts and it takes long: two of them are enough.
const FAILED_SOLVE_OF_MANY: usize = 3;
/// A solve of many contacts that ended within this many tolerances goes on, with so many times the work:
/// piles of spheres need it now and then. What is farther away does not come nearer.
const PROMISING_TOLERANCES: f64 = 1e4;
const PROMISING_WORK: u64 = 10;
/// Residuals of many contacts below this are rounding: a tolerance that is smaller is not reached by more
/// work.
const ROUNDING_RESIDUAL: f64 = 1e-14;
/// A residual from which on impulses have nothing to do with the law.
const DIVERGED_RESIDUAL: f64 = 1e-3;
/// Kinetic energy after a solve that failed, in those before it, from which on it is not taken.
const DIVERGED_ENERGY_RATIO: f64 = 4.0;
/// The associated law is convex: a solve gets this part of the work, as what takes long is of no use.
const ASSOCIATED_WORK_DIVISOR: u64 = 4;

/// The solves of a step that failed.
#[derive(Clone, Copy, Default)]
pub struct FailedSolves {
    count: usize,
    last_residual: f64,
}

impl FailedSolves {
    /// Counts one with this many contacts.
    fn add(&mut self, contacts: usize) {
        self.count += if contacts <= MAX_CAREFUL_CONTACTS { 1 } else { FAILED_SOLVE_OF_MANY };
    }

    /// Whether no other start is tried any more.
    pub fn exhausted(&self) -> bool {
        self.count >= MAX_FAILED_SOLVES
    }
}

/// A velocity solver that tries again.
#[derive(Default)]
pub struct FallbackSolver {
    solver: VelocitySolver,
    /// The velocities before the last solve.
    velocity_before: Vec<f64>,
    /// What the first try found, while others are made.
    first_velocity: Vec<f64>,
    first_impulses: Impulses,
    /// Solves for rest, where contacts that stuck begin to move.
    rest_solver: VelocitySolver,
    chose_rest: bool,
}

impl FallbackSolver {
    /// A half of a substep begins.
    pub fn begin(&mut self) {
        self.solver.begin();
        self.rest_solver.begin();
    }

    /// The velocities before the last solve.
    pub fn velocity_before(&self) -> &[f64] {
        &self.velocity_before
    }

    /// Whether rest was taken last though another motion had been found.
    pub fn chose_rest(&self) -> bool {
        self.chose_rest
    }

    /// The status and the residual of the impulses of the problem solved last, where these were only checked.
    pub fn check_again(&mut self, tolerance: f64) -> (Status, f64) {
        self.solver.check_again(tolerance)
    }

    /// The problem solved last and its impulses.
    pub fn last_problem(&self) -> (&ContactProblem, &[f64]) {
        (self.solver.problem(), self.solver.impulse())
    }

    /// Solves from the impulses given: `v` and `impulses` become those after the solve, whatever its status.
    /// Contacts without velocity at the start of the substep, where velocities were `start`, go on sticking
    /// where they can.
    pub fn solve(
        &mut self,
        input: &SolveInput<'_>,
        start: &[f64],
        failed: &mut FailedSolves,
        impulses: &mut Impulses,
        v: &mut Vec<f64>,
    ) -> Result<SolveOutcome, InvalidProblem> {
        self.velocity_before.clone_from(v);
        let exhausted = failed.exhausted();
        if exhausted && failed.last_residual > DIVERGED_RESIDUAL {
            let iterations = self.solve_associated(input, impulses, v)?;
            return Ok(SolveOutcome { status: Status::Stalled, residual: failed.last_residual, iterations });
        }
        let warm = impulses.are_nonzero();
        let mut first = self.solver.solve(input, impulses, v)?;
        self.chose_rest = false;
        // What counts by its rounding sticks, as far as numbers can say.
        let sticks = first.status == Status::Solved && first.residual > input.options.tolerance;
        // The search for rest is a solve with another law, which has no less to do.
        let searches = !exhausted && !has_spent_all(&first, input);
        if searches && !input.contacts.is_empty() && !sticks {
            first = self.keep_rest(first, input, start, impulses, v)?;
        }
        if first.status == Status::Solved {
            return Ok(first);
        }
        if exhausted && !diverged(first.residual, input.masses, v, &self.velocity_before) {
            return Ok(first);
        }
        failed.add(input.contacts.len());
        let first = self.solve_near(first, input, impulses, v)?;
        if first.status == Status::Solved {
            return Ok(first);
        }
        let mut last = first;
        // Another start, where it is another one: the first may have been a bad one.
        if is_promising(&first, input) {
            last = self.solve_longer(first, input, failed, impulses, v)?;
            if last.status == Status::Solved {
                return Ok(last);
            }
        } else if (warm || input.options.method != Method::Auto) && !has_spent_all(&first, input) {
            last = self.solve_cold(first, input, failed, impulses, v)?;
            if last.status == Status::Solved {
                return Ok(last);
            }
        }
        failed.last_residual = last.residual;
        if diverged(last.residual, input.masses, v, &self.velocity_before) {
            last.iterations += self.solve_associated(input, impulses, v)?;
        }
        Ok(last)
    }

    /// The motion in which contacts that stuck go on sticking, where there is one and the first solve found
    /// another or none; else what it found.
    fn keep_rest(
        &mut self,
        first: SolveOutcome,
        input: &SolveInput<'_>,
        start: &[f64],
        impulses: &mut Impulses,
        v: &mut [f64],
    ) -> Result<SolveOutcome, InvalidProblem> {
        let FallbackSolver { solver, velocity_before, first_velocity, first_impulses, rest_solver, .. } =
            self;
        let solved = first.status == Status::Solved;
        let onset =
            Onset { input, start, before: velocity_before, fall: input.fall, impulses, velocity: v, solved };
        let Some(mut rest) = onset.find_rest(rest_solver)? else { return Ok(first) };
        first_velocity.clear();
        first_velocity.extend_from_slice(v);
        first_impulses.clone_from(impulses);
        // A method might find the other motion again: Coulomb's law only confirms these impulses.
        let mut found = rest.impulses.clone();
        let mut velocity = velocity_before.clone();
        let outcome = solver.solve(&input.with_goal(Goal::Check), &mut found, &mut velocity)?;
        let iterations = first.iterations + rest.iterations + outcome.iterations;
        if onset.rests(&mut rest, &outcome, &velocity) {
            impulses.clone_from(&found);
            v.copy_from_slice(&velocity);
            self.chose_rest = solved;
            return Ok(SolveOutcome { iterations, ..outcome });
        }
        // Back to what was found first, so that the problem solved last is the one of these impulses.
        v.copy_from_slice(velocity_before);
        let again = solver.solve(input, impulses, v)?;
        if again.status != first.status {
            impulses.clone_from(first_impulses);
            v.copy_from_slice(first_velocity);
        }
        Ok(SolveOutcome { iterations, ..first })
    }

    /// Solves what was solved last for the motion that is taken where there are several; keeps the one that
    /// was found where that fails. Whether they differ.
    pub fn solve_canonical(
        &mut self,
        found: SolveOutcome,
        input: &SolveInput<'_>,
        impulses: &mut Impulses,
        v: &mut [f64],
    ) -> Result<(SolveOutcome, bool), InvalidProblem> {
        let FallbackSolver { solver, velocity_before, first_velocity, first_impulses, .. } = self;
        first_velocity.clear();
        first_velocity.extend_from_slice(v);
        first_impulses.clone_from(impulses);
        v.copy_from_slice(velocity_before);
        impulses.fill_zero();
        let chosen = solver.solve(&input.with_goal(Goal::Canonical), impulses, v)?;
        let iterations = found.iterations + chosen.iterations;
        if chosen.status == Status::Solved {
            let found = FoundMotion { input, before: velocity_before, velocity: first_velocity, impulses };
            return Ok((SolveOutcome { iterations, ..chosen }, found.differs(v).is_some()));
        }
        v.copy_from_slice(velocity_before);
        impulses.clone_from(first_impulses);
        let again = solver.solve(input, impulses, v)?;
        if again.status != Status::Solved {
            impulses.clone_from(first_impulses);
            v.copy_from_slice(first_velocity);
        }
        Ok((SolveOutcome { iterations, ..found }, false))
    }

    /// Whether what was found last would be another motion with other loads of joints that hold more than
    /// they need to.
    pub fn moves_otherwise_under_stress(
        &mut self,
        input: &SolveInput<'_>,
        impulses: &Impulses,
        velocity: &[f64],
    ) -> Result<bool, InvalidProblem> {
        let found = FoundMotion { input, before: &self.velocity_before, velocity, impulses };
        Ok(found.under_stress(&mut self.rest_solver)?.is_some())
    }

    /// Velocities of another motion than the one that was found last, where a search from other impulses
    /// finds one.
    pub fn other_motion(
        &mut self,
        input: &SolveInput<'_>,
        impulses: &Impulses,
        velocity: &[f64],
    ) -> Result<Option<Vec<f64>>, InvalidProblem> {
        let found = FoundMotion { input, before: &self.velocity_before, velocity, impulses };
        found.search(&mut self.rest_solver)
    }

    /// Goes on from the impulses that were found by the proximal iteration, where few contacts came near a
    /// solution; what was found where that fails too.
    fn solve_near(
        &mut self,
        first: SolveOutcome,
        input: &SolveInput<'_>,
        impulses: &mut Impulses,
        v: &mut [f64],
    ) -> Result<SolveOutcome, InvalidProblem> {
        let few = (1..=MAX_CAREFUL_CONTACTS).contains(&input.contacts.len());
        // Not `>`: NaN is not near.
        if !(few && first.residual <= DIVERGED_RESIDUAL) {
            return Ok(first);
        }
        self.keep_first(impulses, v);
        let mut iterations = first.iterations;
        for goal in [Goal::Near, Goal::Polish] {
            let near = self.solver.solve(&input.with_goal(goal), impulses, v)?;
            iterations += near.iterations;
            if near.status == Status::Solved {
                return Ok(SolveOutcome { iterations, ..near });
            }
            impulses.clone_from(&self.first_impulses);
            v.copy_from_slice(&self.velocity_before);
        }
        v.copy_from_slice(&self.first_velocity);
        Ok(SolveOutcome { iterations, ..first })
    }

    /// Solves from zero impulses; the better of the two where that fails too.
    fn solve_cold(
        &mut self,
        first: SolveOutcome,
        input: &SolveInput<'_>,
        failed: &mut FailedSolves,
        impulses: &mut Impulses,
        v: &mut [f64],
    ) -> Result<SolveOutcome, InvalidProblem> {
        self.keep_first(impulses, v);
        impulses.fill_zero();
        let options = ContactOptions { method: Method::Auto, ..input.options };
        self.solve_again(first, &SolveInput { options, ..*input }, failed, impulses, v)
    }

    /// Goes on from the impulses that were found, with more work; the better of the two where that fails too.
    fn solve_longer(
        &mut self,
        first: SolveOutcome,
        input: &SolveInput<'_>,
        failed: &mut FailedSolves,
        impulses: &mut Impulses,
        v: &mut [f64],
    ) -> Result<SolveOutcome, InvalidProblem> {
        self.keep_first(impulses, v);
        let max_work = input.options.max_work.map(|work| work.saturating_mul(PROMISING_WORK));
        let options = ContactOptions { method: Method::Auto, max_work, ..input.options };
        self.solve_again(first, &SolveInput { options, ..*input }, failed, impulses, v)
    }

    /// Keeps what a first try found, and goes back to the velocities before it.
    fn keep_first(&mut self, impulses: &Impulses, v: &mut [f64]) {
        self.first_velocity.clear();
        self.first_velocity.extend_from_slice(v);
        self.first_impulses.clone_from(impulses);
        v.copy_from_slice(&self.velocity_before);
    }

    /// A second try; what the first one found where that is better.
    fn solve_again(
        &mut self,
        first: SolveOutcome,
        input: &SolveInput<'_>,
        failed: &mut FailedSolves,
        impulses: &mut Impulses,
        v: &mut [f64],
    ) -> Result<SolveOutcome, InvalidProblem> {
        let second = self.solver.solve(input, impulses, v)?;
        let iterations = first.iterations + second.iterations;
        if second.status == Status::Solved {
            return Ok(SolveOutcome { iterations, ..second });
        }
        failed.add(input.contacts.len());
        if first.residual <= second.residual {
            impulses.clone_from(&self.first_impulses);
            v.copy_from_slice(&self.first_velocity);
            return Ok(SolveOutcome { iterations, ..first });
        }
        Ok(SolveOutcome { iterations, ..second })
    }

    /// Solves with the associated law in the place of Coulomb's; without impulses where even that fails. The
    /// iterations.
    fn solve_associated(
        &mut self,
        input: &SolveInput<'_>,
        impulses: &mut Impulses,
        v: &mut [f64],
    ) -> Result<usize, InvalidProblem> {
        v.copy_from_slice(&self.velocity_before);
        impulses.fill_zero();
        let relaxed: Vec<ContactRows> = input.contacts.iter().map(ContactRows::associated).collect();
        let max_work = input.options.max_work.map(|work| work / ASSOCIATED_WORK_DIVISOR);
        let options = ContactOptions { method: Method::Auto, max_work, ..input.options };
        let outcome =
            self.solver.solve(&SolveInput { contacts: &relaxed, options, ..*input }, impulses, v)?;
        if outcome.status != Status::Solved
            && diverged(outcome.residual, input.masses, v, &self.velocity_before)
        {
            v.copy_from_slice(&self.velocity_before);
            impulses.fill_zero();
        }
        Ok(outcome.iterations)
    }
}

/// Whether a solve of many contacts that failed for lack of work came so near that it should go on.
fn is_promising(first: &SolveOutcome, input: &SolveInput<'_>) -> bool {
    let tolerance = input.options.tolerance;
    input.contacts.len() > MAX_CAREFUL_CONTACTS
        && input.options.max_work.is_some()
        && first.residual <= PROMISING_TOLERANCES * tolerance
        && first.residual > ROUNDING_RESIDUAL
}

/// Whether a solve of very many contacts, which has its own bound, came to it: other starts were among what
/// it tried, and one more would take as long again.
fn has_spent_all(first: &SolveOutcome, input: &SolveInput<'_>) -> bool {
    first.status == Status::MaxIterations && input.options.max_work.is_none()
}

/// Whether velocities that are no solution had better not be taken: they have nothing to do with the laws, or
/// much more energy than those before the solve.
fn diverged(residual: f64, masses: &Masses, v: &[f64], before: &[f64]) -> bool {
    let energy = |v: &[f64]| v.iter().zip(&masses.mass).map(|(v, m)| m * v * v).sum::<f64>();
    residual.is_nan() || residual > DIVERGED_RESIDUAL || energy(v) > DIVERGED_ENERGY_RATIO * energy(before)
}

#[cfg(test)]
mod tests {
    use super::super::super::model::fixtures::*;
    use super::super::super::options::StepOptions;
    use super::super::super::row_targets::RowTargets;
    use super::super::tests::input;
    use super::*;
    use crate::world::Surface;
    use glam::DVec3;

    #[test]
    fn velocities_far_from_the_law_or_with_four_times_the_energy_are_not_taken() {
        let (world, _) = ball_on_floor(smooth(), 0.0, DVec3::ZERO);
        let masses = Masses::new(&world);
        let before = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let faster = [2.1, 0.0, 0.0, 0.0, 0.0, 0.0];
        assert!(!diverged(1e-4, &masses, &before, &before));
        assert!(diverged(1e-2, &masses, &before, &before));
        assert!(diverged(f64::NAN, &masses, &before, &before));
        assert!(diverged(1e-4, &masses, &faster, &before));
    }

    #[test]
    fn many_contacts_go_on_where_they_came_near_and_rounding_is_not_the_reason() {
        let (world, mut state) = ball_on_floor(Surface { mu: 0.5, ..smooth() }, 0.0, DVec3::ZERO);
        let (model, linearization) = linearized(world, &mut state, StepOptions::default(), 1e-3);
        let targets = RowTargets { joints: vec![], normal_bias: vec![Some(0.0)], slip_bias: vec![] };
        let one = input(&model, &linearization, &targets, 1e-3);
        let rows = vec![linearization.contact_rows()[0]; MAX_CAREFUL_CONTACTS + 1];
        let goes_on = |contacts: &[ContactRows], tolerance: f64, residual: f64| {
            let options = ContactOptions { tolerance, max_work: Some(1), ..one.options };
            let first = SolveOutcome { status: Status::MaxIterations, residual, iterations: 1 };
            is_promising(&first, &SolveInput { contacts, options, ..one })
        };
        assert!(goes_on(&rows, 1e-10, 1e-7));
        assert!(!goes_on(&rows, 1e-10, 1e-5) && !goes_on(&rows[1..], 1e-10, 1e-7));
        // No work leads from 5e-15 to 1e-17.
        assert!(!goes_on(&rows, 1e-17, 5e-15) && !goes_on(&rows, 1e-17, f64::NAN));
    }

    #[test]
    fn once_too_many_solves_have_failed_the_associated_law_is_taken_and_reported() {
        let (world, mut state) = ball_on_floor(Surface { mu: 0.5, ..smooth() }, 0.0, DVec3::ZERO);
        let (model, linearization) = linearized(world, &mut state, StepOptions::default(), 1e-3);
        let targets = RowTargets { joints: vec![], normal_bias: vec![Some(0.0)], slip_bias: vec![] };
        let mut impulses = Impulses { rows: vec![], contacts: vec![[0.0; 6]] };
        let mut failed = FailedSolves { count: MAX_FAILED_SOLVES, last_residual: 1.0 };
        let mut v = vec![5.0, 0.0, -1.0, 0.0, 0.0, 0.0];
        let mut solver = FallbackSolver::default();
        let outcome = solver.solve(
            &input(&model, &linearization, &targets, 1e-3),
            &v.clone(),
            &mut failed,
            &mut impulses,
            &mut v,
        );
        let outcome = outcome.unwrap();
        assert_eq!((outcome.status, outcome.residual), (Status::Stalled, 1.0));
        // The associated law lifts off while it slides: u_n = μ |u_t|.
        let slip = v[0] - RADIUS * v[4];
        assert!(v[2] > 0.0 && (v[2] - 0.5 * slip.abs()).abs() < 1e-9, "{v:?}");
        assert_eq!(solver.velocity_before(), [5.0, 0.0, -1.0, 0.0, 0.0, 0.0]);
    }
}
