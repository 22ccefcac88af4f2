//! One of the two solves of a substep: a solution, the canonical one of several, with the friction that goes
//! with its motion.

use delassus_solve::contact::ContactOptions;
use delassus_solve::problem::{InvalidProblem, Status};

use super::super::force_uniqueness::{UniquenessScratch, UniquenessSearch};
use super::super::linearization::Linearization;
use super::super::model::Model;
use super::super::row_targets::RowTargets;
use super::super::static_friction::{MAX_FRICTION_ROUNDS, StaticFriction};
use super::super::velocity_solve::{FailedSolves, FallbackSolver, Goal, SolveInput, SolveOutcome};
use super::super::warm_start::Impulses;

/// The work of one solve, in multiplications: so much, and so much for each pair of constraints. That is a
/// thousand sweeps and some tens of factorizations, ten to twenty times what solves take that succeed. Beyond
/// the third number a solve has its own bound, and beyond the fourth once too many solves of a step failed.
const BASE_WORK: u64 = 2_000_000;
const WORK_PER_PAIR: u64 = 10_000;
const MAX_BOUNDED_WORK: u64 = 2_000_000_000;
const MAX_BOUNDED_WORK_AFTER_FAILURES: u64 = 20_000_000_000;
/// Bodies are at rest where they move by less than this part of what gravity gives in a step (radians count
/// as metres: it only decides whether the impulses of the step before are tried first).
const REST_SPEED_RATIO: f64 = 1e-3;

/// What a solve of a substep works with.
pub(super) struct HalfSolve<'a> {
    pub(super) model: &'a Model,
    pub(super) linearization: &'a mut Linearization,
    /// Velocities at the start of the substep.
    pub(super) start: &'a [f64],
    /// For how long its forces act.
    pub(super) duration: f64,
    pub(super) solver: &'a mut FallbackSolver,
    pub(super) failed: &'a mut FailedSolves,
    pub(super) uniqueness: &'a mut UniquenessScratch,
    pub(super) static_friction: &'a mut StaticFriction,
    /// Whether it had another motion beside the one that is taken.
    pub(super) other_motion: &'a mut bool,
}

impl HalfSolve<'_> {
    /// Solves for these targets from the impulses given: `velocity` and `impulses` become those after it.
    pub(super) fn solve(
        &mut self,
        targets: &RowTargets,
        impulses: &mut Impulses,
        velocity: &mut Vec<f64>,
    ) -> Result<SolveOutcome, InvalidProblem> {
        let (model, start) = (self.model, self.start);
        let (mut iterations, mut round) = (0, 0);
        loop {
            let input = solve_input(model, self.linearization, start, targets, self.duration, self.failed);
            let outcome = self.solver.solve(&input, start, self.failed, impulses, velocity)?;
            let search = UniquenessSearch { model, linearization: self.linearization, impulses, velocity };
            let solved = outcome.status == Status::Solved;
            let by_contacts = solved && search.finds_other_motion(self.uniqueness);
            let mut outcome = match by_contacts {
                true => self.solver.solve_canonical(outcome, &input, impulses, velocity)?,
                false => outcome,
            };
            *self.other_motion = solved
                && (by_contacts
                    || self.solver.chose_rest()
                    || self.solver.moves_otherwise_under_stress(&input, impulses, velocity)?);
            outcome.iterations += iterations;
            let contacts = self.linearization.contacts_and_rows();
            if !self.static_friction.changes(model, contacts, targets, impulses, [start, velocity]) {
                return Ok(outcome);
            }
            round += 1;
            if round > MAX_FRICTION_ROUNDS {
                return Ok(SolveOutcome { status: Status::Stalled, ..outcome });
            }
            iterations = outcome.iterations;
            velocity.copy_from_slice(self.solver.velocity_before());
        }
    }
}

/// A solve of these targets whose forces act for a time.
fn solve_input<'a>(
    model: &'a Model,
    linearization: &'a Linearization,
    start: &[f64],
    targets: &'a RowTargets,
    duration: f64,
    failed: &FailedSolves,
) -> SolveInput<'a> {
    let contacts = linearization.contacts().len();
    let constraints = (contacts + linearization.joint_rows().rows.len()) as u64;
    let work = BASE_WORK + WORK_PER_PAIR * constraints * constraints;
    let most = if failed.exhausted() { MAX_BOUNDED_WORK_AFTER_FAILURES } else { MAX_BOUNDED_WORK };
    let fall = model.options.dt * model.world.gravity.length();
    SolveInput {
        masses: &model.masses,
        rows: linearization.joint_rows(),
        contacts: linearization.contact_rows(),
        tree: linearization.tree(),
        targets,
        duration,
        fall,
        at_rest: start.iter().all(|v| v.abs() <= REST_SPEED_RATIO * fall),
        stress: &[],
        goal: Goal::Any,
        options: ContactOptions {
            tolerance: model.options.tolerance,
            method: model.options.method,
            minimum_norm: model.options.minimum_norm,
            max_work: (work < most).then_some(work),
            ..ContactOptions::default()
        },
    }
}
