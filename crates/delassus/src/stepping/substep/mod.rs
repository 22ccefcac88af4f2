//! One substep: kick, drift, kick, with the constraints at its end.
//!
//! ```text
//! v½ = v_k + ½h M⁻¹F + M⁻¹Hᵀ r₁ ,   q_{k+1} = q_k ⊕ h v½ ,   g(q_{k+1}) = 0 ,   0 ≤ gap(q_{k+1}) ⊥ r₁ₙ ≥ 0
//! v_{k+1} = v½ + ½h M⁻¹F + M⁻¹Hᵀ r₂ ,   ġ = 0 ,   0 ≤ u_n + e u_n⁻ ⊥ r₂ₙ ≥ 0
//! ```
//!
//! In the first solve H is taken at q_k; the solve is repeated with what the linearization missed until g and
//! the gaps hold at q_{k+1}. In the second H is taken at q_{k+1}. The half-implicit scheme has the first
//! solve only, with whole kicks. Both schemes are stated in [`super`]. Source: 004 eq. 9.

mod contact_work;
mod half_solve;
mod prediction;
mod steady;

pub(super) use steady::{SteadyStep, StepBegin};

use delassus_solve::problem::{InvalidProblem, Status};

use contact_work::{ContactWork, ReboundSolve};
use half_solve::{Half, HalfSolve, HalfSolver};
use prediction::may_predict;

use super::Stepper;
use super::energy::{AccountedSolve, JointExcess, SubstepEnergy, kinetic};
use super::forces::{JamSearch, find_jams};
use super::impact::{ImpactState, apply_impact_law};
use super::linearization::Linearization;
use super::model::MAX_CAREFUL_CONTACTS;
use super::report::{StepFailure, StepReport, worse, worst_opening};
use super::retry::{SHORTEST_SUBSTEP, SubstepOutcome};
use super::row_targets::{
    ArrivalScratch, ContactEnergy, DriftEnd, FirstHalf, GapRule, LimitRule, RowTargets, SubstepPlan,
    SubstepStart, SubstepView, add_rebound_slip, correct_position_targets, position_targets,
    velocity_targets,
};
use super::speculative::{ContactSearch, LeftOut};
use super::time_of_impact::passed_limit;
use super::velocity_solve::{FallbackSolver, SolveOutcome};
use super::warm_start::{Impulses, Keyed, add_impulses, impulses_of};
use crate::collision::{Contact, MAX_CONTACT_ROWS};
use crate::world::{BodyState, World};

/// Passes over the positions of one substep.
const MAX_POSITION_PASSES: usize = 8;
/// How often a substep leaves out contacts that push what does not touch.
const MAX_SUSPENSIONS: usize = 4;
/// Passes among them that let bodies touch which the linearized gap kept apart, for few contacts.
const MAX_EXACT_PASSES: usize = 2;
/// What joints are open or bodies overlap by after the last pass is reported from this many times what is
/// allowed.
const REPORTED_OPENING_RATIO: f64 = 10.0;
/// Joints that a pass leaves open by this many times as much as the pass before will not close.
const DIVERGED_OPENING_RATIO: f64 = 10.0;
/// How much of the kinetic energy of the bodies that contacts push their work may be. In exact motion it is
/// at most zero. In the scenes it is below 1e-8, among thin discs in a heap now and then 1e-3; a rod that one
/// step turned by a radian was thrown away with a hundred times its energy.
const MAX_ENERGY_GAIN: f64 = 1e-2;
/// A substep in which it is more than this is made again, shorter, where it can be.
const MAX_RETRIED_GAIN: f64 = 1e-3;
/// What tangential restitution may gain in an impact, in parts of the kinetic energy: rounding.
const ROUNDING_GAIN: f64 = 1e-12;

/// How bodies arrive at the solve that ends in velocities.
#[derive(Clone, Copy)]
struct Arrival {
    /// Kinetic energy, before a law of impact that acts by itself.
    kinetic: f64,
    /// Whether contacts are to slip back by tangential restitution.
    rebound_slip: bool,
}

/// How the solves that end in positions ended.
#[derive(Clone, Copy)]
struct PositionsEnd {
    all_solved: bool,
    joints_closed: bool,
    /// Shapes that were left out touch after this time.
    touch: Option<f64>,
}

impl PositionsEnd {
    /// What becomes of the substep where that decides it. Joints alone have one solution in all positions
    /// but singular ones: a substep that does not find it is too long.
    fn outcome(self, plan: &SubstepPlan, joints_alone: bool) -> Option<SubstepOutcome> {
        if let Some(t) = self.touch {
            return Some(SubstepOutcome::EndAtTouch { length: t.max(SHORTEST_SUBSTEP).min(plan.length) });
        }
        let length = 0.5 * plan.length;
        if plan.may_shorten && (!self.joints_closed || joints_alone && !self.all_solved) {
            return Some(SubstepOutcome::Shorten { length });
        }
        (plan.may_retry && !self.all_solved).then_some(SubstepOutcome::Retry { length })
    }
}

/// What a half of a substep ended with.
#[derive(Default)]
struct HalfEnd {
    /// Velocities before its kick.
    before_kick: Vec<f64>,
    /// Where its solve starts, and what that found.
    impulses: Impulses,
    velocity: Vec<f64>,
    /// Values of bilateral rows and limits at the end of the drift.
    joint_values: Vec<f64>,
    limit_values: Vec<f64>,
}

impl HalfEnd {
    /// The end of the drift to these poses.
    fn drift<'a>(&'a self, bodies: &'a [BodyState]) -> DriftEnd<'a> {
        let HalfEnd { impulses, velocity, joint_values, .. } = self;
        DriftEnd { bodies, joint_values, velocity, impulses }
    }
}

/// What a substep works with, kept so that the next one takes no memory.
#[derive(Default)]
pub(super) struct SubstepWorkspace {
    start: SubstepStart,
    targets: RowTargets,
    end: HalfEnd,
    /// Impulses of contacts in both halves.
    contact_sum: Vec<Keyed>,
    contact_search: ContactSearch,
    arrivals: ArrivalScratch,
    jam_velocity: Vec<f64>,
    energy: SubstepEnergy,
    pub(super) solver: HalfSolver,
}

impl SubstepWorkspace {
    /// Whether a substep twice as long as the one made last would do, as far as joints go.
    pub(super) fn lets_grow(&self) -> bool {
        self.energy.lets_grow()
    }

    /// Moves the energy of the substep made last, which ended at t with these contacts, into a report.
    pub(super) fn move_account(
        &mut self,
        world: &World,
        contacts: &[Contact],
        t: f64,
        report: &mut StepReport,
    ) {
        self.energy.close(world, contacts, t, (&mut report.energy, &mut report.energy_gains));
    }

    /// A step of which nothing is made yet.
    pub(super) fn begin_step(&mut self) {
        self.solver.begin_step();
        self.energy.begin_step();
    }

    /// A substep that is not made again.
    pub(super) fn begin_search(&mut self) {
        self.contact_search.clear();
    }

    /// The solver of the last solve of a step.
    pub(super) fn last_solver(&self, symmetric: bool) -> &FallbackSolver {
        self.solver.of(if symmetric { Half::Second } else { Half::First })
    }
}

impl Stepper {
    /// One kick, drift and kick from the present state and linearization.
    pub(super) fn substep(
        &mut self,
        plan: &SubstepPlan,
        report: &mut StepReport,
    ) -> Result<SubstepOutcome, InvalidProblem> {
        let h = plan.length;
        self.begin_substep(plan);
        let ended = self.solve_positions(plan, report)?;
        if let Some(outcome) = ended.outcome(plan, self.linearization.contacts().is_empty()) {
            return Ok(outcome);
        }
        self.begin_account(plan);
        let first = self.contact_work(plan, Half::First);
        self.report_jams(h, report);
        // From here on the impulses of the stepper are those of the first half.
        std::mem::swap(&mut self.impulses, &mut self.substep.end.impulses);
        self.trend.record(&self.impulses.rows);
        let gain = match self.model.is_symmetric() {
            true => self.solve_velocities(plan, first, report)?,
            false => {
                let Stepper { model, linearization, substep, .. } = self;
                let on = SubstepView { model, linearization, start: &substep.start, plan };
                first.without_rebounds(&on)
            }
        };
        let by_energy = self.energy_outcome(plan, gain);
        if by_energy == SubstepOutcome::Depenetrate {
            report.status = worse(report.status, Status::Stalled);
            report.failure.get_or_insert(StepFailure::Energy);
        }
        if let Some(JointExcess::Took(lost)) = self.substep.energy.joint_excess()
            && plan.energy == ContactEnergy::Bounded
        {
            report.status = worse(report.status, Status::Stalled);
            report.failure.get_or_insert(StepFailure::JointLoss { lost });
        }
        Ok(self.substep_outcome(plan, report.status, by_energy))
    }

    /// What becomes of a substep by its energy alone: contacts had this work, and joints must have none.
    fn energy_outcome(&self, plan: &SubstepPlan, contacts: ContactWork) -> SubstepOutcome {
        let (bounded, length) = (plan.energy == ContactEnergy::Bounded, 0.5 * plan.length);
        let contacts_gave = |part: f64| bounded && contacts.work > part * contacts.energy;
        let joints = self.substep.energy.joint_excess();
        if plan.may_retry && contacts_gave(MAX_RETRIED_GAIN) {
            SubstepOutcome::Retry { length }
        } else if plan.may_shorten && self.substep.energy.shorter_may_help() {
            SubstepOutcome::Shorten { length }
        } else if let Some(JointExcess::Gave(gained)) = joints
            && bounded
        {
            SubstepOutcome::JointEnergy { gained }
        } else if contacts_gave(MAX_ENERGY_GAIN) {
            SubstepOutcome::Depenetrate
        } else {
            SubstepOutcome::Accepted
        }
    }

    /// What becomes of a substep that was made to its end, by its energy, its solves and its limits.
    fn substep_outcome(
        &self,
        plan: &SubstepPlan,
        status: Status,
        by_energy: SubstepOutcome,
    ) -> SubstepOutcome {
        let h = plan.length;
        if let SubstepOutcome::Retry { .. } | SubstepOutcome::Shorten { .. } = by_energy {
            return by_energy;
        }
        let failed = status != Status::Solved || by_energy != SubstepOutcome::Accepted;
        if plan.may_retry && failed {
            return SubstepOutcome::Retry { length: 0.5 * h };
        }
        let passed = match plan.limits {
            LimitRule::Enforce => None,
            LimitRule::PassBy => {
                let limits = &self.substep.end.joint_values[self.linearization.joint_rows().bilateral..];
                passed_limit(&self.model, &self.substep.start, limits, h)
            }
        };
        match passed {
            Some(tau) => SubstepOutcome::EndAtLimit { length: tau.max(SHORTEST_SUBSTEP).min(h) },
            None => by_energy,
        }
    }

    /// Back to the start of the substep made last, for one of another length.
    pub(super) fn rollback(&mut self, h: f64) {
        self.handed_over.rollback();
        self.arrivals.rollback();
        self.state.bodies.clone_from(&self.substep.start.bodies);
        self.state.t = self.substep.start.t;
        self.linearize(h);
        self.forget_contact_impulses();
        self.impulses.rows.fill(0.0);
    }

    /// Start, warm start and targets of the solve that ends in positions.
    fn begin_substep(&mut self, plan: &SubstepPlan) {
        let Stepper { model, linearization, substep, .. } = self;
        substep.solver.begin_substep(model.is_symmetric());
        let SubstepWorkspace { start, targets, end, contact_search, .. } = substep;
        start.record(model, linearization, &self.state, plan.length);
        let factor = model.first_kick(plan.length) / model.options.dt;
        let warm = model.options.warm_start;
        end.impulses.set_scaled(&self.impulses, |x| if warm { x * factor } else { 0.0 });
        if warm && linearization.contacts().is_empty() {
            self.trend.go_on(plan.length, &linearization.joint_rows().rows, &mut end.impulses.rows);
        }
        let on = SubstepView { model, linearization, start, plan };
        position_targets(on, targets);
        let speculative = contact_search.find_speculative(on, targets, &mut self.linearizer);
        targets.leave_out(speculative);
        start.ends_at.clear();
        start.ends_at.extend_from_slice(contact_search.ending());
        // Where contacts hold what joints hold too, what a prediction leaves open would be a contradiction.
        // Near singular positions, which loops have, it leads to another branch: a parallelogram that folded
        // took one with a fifth more energy.
        if self.linearizer.is_regular() && may_predict(linearization) {
            substep.predict_positions(model, linearization, &mut self.state, plan);
        }
    }

    /// Work of joints and contacts in the solve that ended in positions, and what arrived in it.
    fn begin_account(&mut self, plan: &SubstepPlan) {
        let Stepper { model, linearization, substep, arrivals, .. } = self;
        let SubstepWorkspace { start, targets, end, energy, solver, .. } = substep;
        model.masses.gather_velocities(&start.bodies, &mut end.before_kick);
        let solve = AccountedSolve {
            model,
            linearization,
            start,
            targets,
            impulses: &end.impulses,
            velocities: [&end.before_kick, solver.velocity_before(Half::First), &end.velocity],
            first: true,
            alone: !model.is_symmetric(),
        };
        energy.begin(plan, &solve);
        arrivals.on_the_way(model, linearization, start, &end.impulses);
    }

    /// Solves for velocities until the positions at the end hold.
    // Long: one loop of solve, drift and correction, whose ends depend on all of them.
    fn solve_positions(
        &mut self,
        plan: &SubstepPlan,
        report: &mut StepReport,
    ) -> Result<PositionsEnd, InvalidProblem> {
        let h = plan.length;
        let kick = self.model.first_kick(h);
        let mut passes = if plan.gaps == GapRule::Linearized { 1 } else { MAX_POSITION_PASSES };
        let mut suspensions = 0;
        let (mut all_solved, mut opening) = (true, f64::INFINITY);
        let mut pass = 0;
        loop {
            let Stepper { model, linearization, substep, .. } = self;
            let SubstepWorkspace { start, targets, end, solver, .. } = substep;
            end.velocity.clone_from(&start.free_velocity);
            let mut solve = HalfSolve {
                half: Half::First,
                model,
                linearization: &mut *linearization,
                start: &start.velocity,
                duration: kick,
            };
            let outcome = solve.solve(solver, targets, &mut end.impulses, &mut end.velocity)?;
            report.add_solve(outcome, model.options.tolerance);
            all_solved &= outcome.status == Status::Solved;
            if plan.may_retry && !all_solved {
                break;
            }
            model.drift(&end.velocity, h, &mut self.state.bodies);
            self.state.t = start.t + h;
            end.find_joint_values(&model.world, &self.state);
            let drift = end.drift(&self.state.bodies);
            let missed =
                correct_position_targets(SubstepView { model, linearization, start, plan }, &drift, targets);
            // Corrections that lead away from closed joints lead nowhere.
            if plan.may_shorten && missed.joints > DIVERGED_OPENING_RATIO * opening.max(1.0) {
                return Ok(PositionsEnd { all_solved, joints_closed: false, touch: None });
            }
            opening = missed.joints;
            let closed = missed.worst <= 1.0;
            let swept = if closed { self.sweep_left_out(plan) } else { LeftOut::Apart };
            if let LeftOut::Touch(t) = swept {
                return Ok(PositionsEnd { all_solved, joints_closed: true, touch: Some(t) });
            }
            let found = self.add_missed_contacts(plan, closed) | (swept == LeftOut::TakenIn);
            let contacts = self.linearization.contacts().len();
            let exact = if contacts <= MAX_CAREFUL_CONTACTS { MAX_EXACT_PASSES } else { 0 };
            let done = closed && !found && (!missed.pushed_apart || pass >= exact);
            pass += 1;
            if (done || pass == passes) && suspensions < MAX_SUSPENSIONS && self.suspend_contacts(plan) {
                suspensions += 1;
                passes = pass + MAX_POSITION_PASSES;
            } else if done {
                break;
            } else if pass == passes {
                if missed.worst > REPORTED_OPENING_RATIO || found {
                    report.status = worse(report.status, Status::Stalled);
                    report.failure = report.failure.or(Some(self.worst_opening()));
                }
                break;
            }
            self.state.bodies.clone_from(&self.substep.start.bodies);
            self.state.t = self.substep.start.t;
        }
        Ok(PositionsEnd { all_solved, joints_closed: opening <= REPORTED_OPENING_RATIO, touch: None })
    }

    /// Sweeps the contacts that are left out along the motion that was solved.
    fn sweep_left_out(&mut self, plan: &SubstepPlan) -> LeftOut {
        let Stepper { model, linearization, substep, linearizer, .. } = self;
        let SubstepWorkspace { start, targets, end, contact_search, .. } = substep;
        if plan.gaps == GapRule::Linearized {
            return LeftOut::Apart;
        }
        let drift = end.drift(&self.state.bodies);
        let on = SubstepView { model, linearization, start, plan };
        let swept = contact_search.sweep_left_out(on, &drift, linearizer, targets);
        self.add_contacts(plan);
        swept
    }

    /// Leaves out contacts that push what does not touch. Whether there are any.
    fn suspend_contacts(&mut self, plan: &SubstepPlan) -> bool {
        let Stepper { model, linearization, substep, linearizer, .. } = self;
        let SubstepWorkspace { start, targets, end, contact_search, .. } = substep;
        if plan.gaps == GapRule::Linearized {
            return false;
        }
        let drift = end.drift(&self.state.bodies);
        let on = SubstepView { model, linearization, start, plan };
        contact_search.suspend(on, &drift, linearizer, targets)
    }

    /// Bodies that overlap at the end of the drift though no contact was found before: their contacts join
    /// the substep. Whether there are any.
    fn add_missed_contacts(&mut self, plan: &SubstepPlan, closed: bool) -> bool {
        let Stepper { model, linearization, substep, linearizer, .. } = self;
        let SubstepWorkspace { start, targets, contact_search, .. } = substep;
        let on = SubstepView { model, linearization, start, plan };
        let left_out = contact_search.find_missed(on, targets, linearizer, &self.state, !closed);
        for &i in left_out {
            targets.take_in(i, plan.gap_bias(linearization.contacts()[i].gap));
        }
        let any = !left_out.is_empty();
        self.add_contacts(plan) | any
    }

    /// Contacts that were found join the substep. Whether there are any.
    fn add_contacts(&mut self, plan: &SubstepPlan) -> bool {
        let Stepper { model, linearization, substep, .. } = self;
        let SubstepWorkspace { start, targets, end, contact_search, .. } = substep;
        let mut any = false;
        for contact in contact_search.found() {
            targets.add_contact(plan.gap_bias(contact.gap));
            end.impulses.contacts.push([0.0; MAX_CONTACT_ROWS]);
            linearization.renew(|on| on.with_contact(model, contact, &start.bodies));
            any = true;
        }
        any
    }

    /// The half of a substep that ends in velocities; adds its impulses to those of the first half. The work
    /// of contacts in both together, and the larger of their energies.
    fn solve_velocities(
        &mut self,
        plan: &SubstepPlan,
        first: ContactWork,
        report: &mut StepReport,
    ) -> Result<ContactWork, InvalidProblem> {
        let h = plan.length;
        self.begin_second_half(h);
        let arrival = self.aim_velocities(plan, report);
        let outcome = self.solve_second_half(plan, arrival, first)?;
        report.add_solve(outcome, self.model.options.tolerance);
        self.account_second_half();
        let second = self.contact_work(plan, Half::Second);
        self.add_second_half();
        // A rebound may give what laws of restitution that differ from contact to contact give.
        let rebounds = self.substep.targets.any_rebound();
        let work = if rebounds { second.work.min(0.0) } else { second.work };
        Ok(ContactWork { work: first.work + work, energy: second.energy.max(first.energy), ..second })
    }

    /// Linearizes at the end of the drift, kicks, and starts from the impulses of the first half.
    fn begin_second_half(&mut self, h: f64) {
        let Stepper { model, linearization: on, substep, .. } = self;
        let SubstepWorkspace { start, targets, end, contact_sum, solver, .. } = substep;
        start.turning.first_half(model, on, targets, [&end.before_kick, &end.velocity]);
        solver.static_friction().end_first_half(model, on, targets, &end.velocity);
        contact_sum.clear();
        add_impulses(contact_sum, on.contacts(), &self.impulses.contacts);
        self.handed_over.record(on.contacts(), on.contact_rows(), &self.impulses);
        self.linearize_for(h, 0.0);
        self.handed_over.keep_lost(self.linearization.contacts());
        let Stepper { model, linearization, substep, state, .. } = self;
        let SubstepWorkspace { start, end, contact_sum, solver, .. } = substep;
        let friction = solver.static_friction().begin_second_half(model, linearization);
        if !friction.is_empty() {
            linearization.renew(|on| on.with_friction(friction));
        }
        let HalfEnd { before_kick, impulses, velocity, .. } = end;
        // The velocities of the way, as its start saw them: bodies have turned since.
        std::mem::swap(before_kick, velocity);
        model.masses.gather_velocities(&state.bodies, velocity);
        model.second_kick(&start.bodies, before_kick, &state.bodies, h, velocity);
        model.masses.gather_velocities(&state.bodies, before_kick);
        impulses_of(contact_sum, linearization.contacts(), &mut impulses.contacts);
        impulses.rows.clone_from(&self.impulses.rows);
    }

    /// The targets of the solve that ends in velocities. An impact law other than Moreau's then changes the
    /// velocities from which it starts.
    fn aim_velocities(&mut self, plan: &SubstepPlan, report: &mut StepReport) -> Arrival {
        let Stepper { model, linearization, substep, state, arrivals: recorded, .. } = self;
        let SubstepWorkspace { start, targets, end, contact_sum, energy, arrivals, .. } = substep;
        let HalfEnd { impulses, velocity, .. } = end;
        let half = FirstHalf {
            bodies: &state.bodies,
            t: state.t,
            velocity,
            row_impulse: &self.impulses.rows,
            contact_impulse: &impulses.contacts,
        };
        let on = SubstepView { model, linearization, start, plan };
        let rebounds = velocity_targets(on, &half, arrivals, targets);
        let rebound_slip = add_rebound_slip(model, linearization, &half, targets);
        report.impacts += rebounds.impacts;
        report.accumulations.extend(rebounds.accumulations);
        recorded.of_rebounds((&model.world, &state.bodies, state.t), linearization, targets);
        let kinetic_now = |v: &[f64]| kinetic(&model.masses, linearization.joint_rows(), v);
        let before = kinetic_now(velocity);
        let hit = linearization.contacts().iter().enumerate().find(|(i, _)| targets.rebounds(*i));
        let row_sum = &mut self.impulses.rows;
        let impact = ImpactState { targets, velocity, impulses, contact_sum, row_sum };
        report.status = worse(report.status, apply_impact_law(model, linearization, impact));
        let change = kinetic_now(velocity) - before;
        if change != 0.0 {
            energy.add_impact(change, hit.map(|(_, contact)| contact));
        }
        Arrival { kinetic: before, rebound_slip }
    }

    /// The solve that ends in velocities, after a first half in which contacts had this work.
    fn solve_second_half(
        &mut self,
        plan: &SubstepPlan,
        arrival: Arrival,
        first: ContactWork,
    ) -> Result<SolveOutcome, InvalidProblem> {
        let Stepper { model, linearization, substep, .. } = self;
        let SubstepWorkspace { start, targets, end, solver, .. } = substep;
        let HalfEnd { before_kick, impulses, velocity, .. } = end;
        let (start_velocity, duration) = (&start.velocity, 0.5 * plan.length);
        let mut solve =
            HalfSolve { half: Half::Second, model, linearization, start: start_velocity, duration };
        let mut outcome = solve.solve(solver, targets, impulses, velocity)?;
        let after = |on: &Linearization| kinetic(&model.masses, on.joint_rows(), velocity);
        if arrival.rebound_slip && after(solve.linearization) > (1.0 + ROUNDING_GAIN) * arrival.kinetic {
            // Bodies whose normals and slips are coupled may gain by tangential restitution: then without it.
            start.turning.second_slip(solve.linearization, &mut targets.slip_bias);
            velocity.copy_from_slice(solver.velocity_before(Half::Second));
            outcome = solve.solve(solver, targets, impulses, velocity)?;
        }
        match plan.energy {
            ContactEnergy::Free => Ok(outcome),
            ContactEnergy::Bounded => {
                let solve = &mut solve;
                ReboundSolve { solve, solver, targets, impulses, before_kick, velocity, plan, first }
                    .bound(outcome)
            }
        }
    }

    /// Takes the velocities of the second half, and adds its work to that of the first.
    fn account_second_half(&mut self) {
        let Stepper { model, linearization, substep, state, arrivals, .. } = self;
        let SubstepWorkspace { start, targets, end, energy, solver, contact_sum, .. } = substep;
        model.masses.scatter_velocities(&end.velocity, &mut state.bodies);
        energy.add(&AccountedSolve {
            model,
            linearization,
            start,
            targets,
            impulses: &end.impulses,
            velocities: [&end.before_kick, solver.velocity_before(Half::Second), &end.velocity],
            first: false,
            alone: false,
        });
        let ends = (&end.before_kick[..], state.t);
        arrivals.at_the_end(model, linearization, start, (&end.impulses, contact_sum), ends);
    }

    /// Adds the impulses of the second half to those of the first.
    fn add_second_half(&mut self) {
        let SubstepWorkspace { contact_sum, end: HalfEnd { impulses, .. }, .. } = &mut self.substep;
        let contacts = self.linearization.contacts();
        add_impulses(contact_sum, contacts, &impulses.contacts);
        impulses_of(contact_sum, contacts, &mut self.impulses.contacts);
        self.impulses.rows.iter_mut().zip(&impulses.rows).for_each(|(a, b)| *a += b);
    }

    fn report_jams(&mut self, h: f64, report: &mut StepReport) {
        let SubstepWorkspace { start, end, jam_velocity, .. } = &mut self.substep;
        let search = JamSearch {
            model: &self.model,
            linearization: &self.linearization,
            start,
            h,
            velocity: &end.velocity,
            contact_impulse: &end.impulses.contacts,
        };
        find_jams(&search, jam_velocity, &mut report.jams);
    }

    /// What is furthest open at the end of the drift made last.
    fn worst_opening(&self) -> StepFailure {
        worst_opening(&self.model, &self.linearization, &self.state.bodies, &self.substep.end.joint_values)
    }
}

#[cfg(test)]
mod tests;
