//! One of the two solves of a substep: a solution, the canonical one of several, with the friction that goes
//! with its motion.
//!
//! ```text
//! v = v* + M⁻¹Hᵀ r ,   (H v + b, r) in the laws ,   with μ_s at contacts that stick, μ_k at those that slide
//! ```
//!
//! Where several motions obey the laws, the one of least impulses is taken (`velocity_solve`); where contacts
//! begin to stick or to slide, the solve is repeated with their other coefficient (`static_friction`).

use delassus_solve::contact::ContactOptions;
use delassus_solve::problem::{InvalidProblem, Status};

use super::super::force_uniqueness::UniquenessScratch;
use super::super::linearization::Linearization;
use super::super::model::Model;
use super::super::motion_choice::MotionChoice;
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

/// One of the two solves.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Half {
    /// Ends in positions.
    First,
    /// Ends in velocities.
    Second,
}

/// What the solves of substeps work with, kept so that the next one takes no memory.
#[derive(Default)]
pub(in super::super) struct HalfSolver {
    /// Boxed because they are large and change places.
    first: Box<FallbackSolver>,
    second: Box<FallbackSolver>,
    static_friction: StaticFriction,
    uniqueness: UniquenessScratch,
    /// Solves of the step that failed.
    failed: FailedSolves,
    other_motion: bool,
}

impl HalfSolver {
    /// A step begins.
    pub(in super::super) fn begin_step(&mut self) {
        self.failed = FailedSolves::default();
    }

    /// A substep begins. Positions at its start are those that the velocities before were found at: often
    /// the same rows, so that the solvers change places where there are two of them.
    pub(super) fn begin_substep(&mut self, symmetric: bool) {
        if symmetric {
            std::mem::swap(&mut self.first, &mut self.second);
        }
        self.both().into_iter().for_each(FallbackSolver::begin);
        self.static_friction.begin();
    }

    /// Solves of the step that failed.
    pub(in super::super) fn failed(&self) -> &FailedSolves {
        &self.failed
    }

    /// Whether the solve made last had another motion beside the one that was taken.
    pub(in super::super) fn has_other_motion(&self) -> bool {
        self.other_motion
    }

    pub(super) fn static_friction(&mut self) -> &mut StaticFriction {
        &mut self.static_friction
    }

    /// The velocities before the last solve of a half, after its kick.
    pub(super) fn velocity_before(&self, half: Half) -> &[f64] {
        self.of(half).velocity_before()
    }

    /// The solver of a half.
    pub(super) fn of(&self, half: Half) -> &FallbackSolver {
        match half {
            Half::First => &self.first,
            Half::Second => &self.second,
        }
    }

    /// Both solvers, in the order of their solves.
    pub(super) fn both(&mut self) -> [&mut FallbackSolver; 2] {
        [&mut self.first, &mut self.second]
    }
}

/// A solve of a substep.
pub(super) struct HalfSolve<'a> {
    pub(super) half: Half,
    pub(super) model: &'a Model,
    pub(super) linearization: &'a mut Linearization,
    /// Velocities at the start of the substep.
    pub(super) start: &'a [f64],
    /// For how long its forces act.
    pub(super) duration: f64,
}

impl HalfSolve<'_> {
    /// Solves for these targets from the impulses given: `velocity` and `impulses` become those after it.
    pub(super) fn solve(
        &mut self,
        with: &mut HalfSolver,
        targets: &RowTargets,
        impulses: &mut Impulses,
        velocity: &mut Vec<f64>,
    ) -> Result<SolveOutcome, InvalidProblem> {
        let (model, start) = (self.model, self.start);
        let HalfSolver { first, second, static_friction, uniqueness, failed, other_motion } = with;
        let solver = if self.half == Half::First { first } else { second };
        let (mut iterations, mut round) = (0, 0);
        loop {
            let input = solve_input(model, self.linearization, start, targets, self.duration, failed);
            let found = solver.solve(&input, start, failed, impulses, velocity)?;
            let solved = found.status == Status::Solved;
            let linearization = &*self.linearization;
            let choice = MotionChoice {
                model,
                linearization,
                solver: &mut *solver,
                input: &input,
                impulses,
                velocity,
            };
            let (mut outcome, by_contacts) = choice.choose(found, uniqueness)?;
            *other_motion = solved
                && (by_contacts
                    || solver.chose_rest()
                    || solver.moves_otherwise_under_stress(&input, impulses, velocity)?);
            outcome.iterations += iterations;
            let contacts = (self.linearization.contacts(), self.linearization.contact_rows());
            let changes = static_friction.changes(model, contacts, targets, impulses, [start, velocity]);
            if changes.is_empty() {
                return Ok(outcome);
            }
            self.linearization.renew(|on| on.with_friction(changes));
            round += 1;
            if round > MAX_FRICTION_ROUNDS {
                return Ok(SolveOutcome { status: Status::Stalled, ..outcome });
            }
            iterations = outcome.iterations;
            velocity.copy_from_slice(solver.velocity_before());
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

#[cfg(test)]
mod tests {
    use super::super::super::model::fixtures::*;
    use super::super::super::options::StepOptions;
    use super::*;
    use crate::world::Surface;
    use glam::DVec3;

    /// Friction over normal impulse, and the coefficient in the end, of a ball at rest that is pushed so that
    /// sticking takes this ratio.
    fn pushed(ratio: f64) -> (f64, f64) {
        let surface = Surface { mu: 0.2, mu_static: Some(0.5), ..smooth() };
        let (world, mut state) = ball_on_floor(surface, 0.0, DVec3::ZERO);
        let (model, mut linearization) = linearized(world, &mut state, StepOptions::default(), 1e-3);
        assert_eq!(linearization.contact_rows()[0].law.mu(), 0.5);
        let normal = MASS * 1e-2;
        // A push u of the centre takes m u / (1 + m ρ²/I) to stop the point of contact.
        let u = ratio * normal * (1.0 + MASS * RADIUS * RADIUS / INERTIA) / MASS;
        let targets = RowTargets { joints: vec![], normal_bias: vec![Some(0.0)], slip_bias: vec![] };
        let mut impulses = Impulses { rows: vec![], contacts: vec![[0.0; 6]] };
        let mut velocity = vec![u, 0.0, -1e-2, 0.0, 0.0, 0.0];
        let mut solve = HalfSolve {
            half: Half::First,
            model: &model,
            linearization: &mut linearization,
            start: &[0.0; 6],
            duration: 1e-3,
        };
        let mut solver = HalfSolver::default();
        let outcome = solve.solve(&mut solver, &targets, &mut impulses, &mut velocity).unwrap();
        assert_eq!(outcome.status, Status::Solved);
        assert!((impulses.contacts[0][0] - normal).abs() < 1e-9 * normal);
        assert_eq!(solver.velocity_before(Half::First), [u, 0.0, -1e-2, 0.0, 0.0, 0.0]);
        let [_, a, b, ..] = impulses.contacts[0];
        (a.hypot(b) / normal, linearization.contact_rows()[0].law.mu())
    }

    #[test]
    fn what_sticks_holds_up_to_static_friction_and_then_slides_with_less() {
        let (held, mu) = pushed(0.4);
        assert!((held - 0.4).abs() < 1e-8 && mu == 0.5, "{held} {mu}");
        let (slid, mu) = pushed(0.6);
        assert!((slid - 0.2).abs() < 1e-8 && mu == 0.2, "{slid} {mu}");
    }

    #[test]
    fn the_solvers_change_places_where_there_are_two_of_them() {
        let mut solver = HalfSolver::default();
        let first: *const FallbackSolver = solver.of(Half::First);
        solver.begin_substep(false);
        assert!(std::ptr::eq(solver.of(Half::First), first));
        solver.begin_substep(true);
        assert!(std::ptr::eq(solver.of(Half::Second), first));
    }
}
