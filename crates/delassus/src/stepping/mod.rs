//! Time stepping of rigid bodies with joints, contacts and exact Coulomb friction.
//!
//! A step is a sequence of substeps, most often one: detect → linearize → targets → solve → advance → accept,
//! shorten or separate.
//!
//! Default, symmetric: half a kick, a drift that ends with all joints closed and no bodies overlapping, half
//! a kick that ends with velocities which the joints and contacts allow.
//!
//! ```text
//! v½ = v_k + ½h M⁻¹F(q_k) + M⁻¹H(q_k)ᵀ r₁ ,   q_{k+1} = q_k ⊕ h v½ ,   g(q_{k+1}) = 0 ,   0 ≤ gap(q_{k+1}) ⊥ r₁ₙ ≥ 0
//! v_{k+1} = v½ + ½h M⁻¹F(q_{k+1}) + M⁻¹H(q_{k+1})ᵀ r₂ ,   ġ = 0 ,   0 ≤ u_n + e u_n⁻ ⊥ r₂ₙ ≥ 0
//! ```
//!
//! Friction obeys Coulomb's law in both halves, with the velocities v½ and v_{k+1}. Without contacts this is
//! the RATTLE scheme: symplectic, of second order, constraints at the level of positions and of velocities.
//! The half-implicit scheme of 004 eq. 9 has one solve a step, v_{k+1} = v_k + h M⁻¹F + M⁻¹Hᵀ r with gap/h +
//! u_n ≥ 0 and q_{k+1} = q_k ⊕ h v_{k+1}, and is of first order. In both, gaps and joints are those at the
//! end of the step, found by repeating the solve with what the linearization missed (004 keeps them at the
//! level of velocities only).
//!
//! A rebound needs its moment: where a contact with restitution closes or a limit is reached within a step,
//! the step is cut there (`time_of_impact.rs`). The law in the second solve is Moreau's; other laws of impact
//! act before it (`impact.rs`).

mod adaptive;
mod arrivals;
mod contact_events;
mod control;
mod depenetrate;
mod energy;
mod force_uniqueness;
mod forces;
mod impact;
mod linearization;
mod model;
mod motion_choice;
mod options;
mod report;
mod retry;
mod row_targets;
mod run;
mod speculative;
mod start;
mod static_friction;
mod substep;
#[cfg(test)]
mod test_worlds;
#[cfg(test)]
mod tests;
mod time_of_impact;
mod velocity_solve;
mod warm_start;

pub use adaptive::{ControlledStep, MOST_HALVINGS, StepControl, controlled_step};
pub use contact_events::{ContactEvent, ContactEventKind, ContactEvents, PairMode};
pub use control::ControlError;
pub use depenetrate::depenetrate;
pub use energy::{EnergyAccount, EnergyGain};
pub use options::{Coordinates, FrictionLaw, Scheme, StepImpactLaw, StepOptions, UnknownOption};
pub use report::{Forces, Jam, KeyedImpulse, OtherBodyMotion, Snapshot, StepFailure, StepReport, Uniqueness};
pub use row_targets::Accumulation;
pub use run::{RunError, StepEstimate, StepLength, StepRecord, no_time_left, run_until, time_slack};
pub use start::{
    CLOSED, ClosedJoints, Overlap, StartReport, StartVelocities, is_closed, obey_joints, overlaps_for_good,
    prepare_start,
};

use std::sync::Arc;

use delassus_solve::modes::Mode;
use delassus_solve::problem::{InvalidProblem, Status};
use glam::DVec3;

use crate::collision::Contact;
use crate::world;
use crate::world::{World, WorldError, WorldState, close_loops};
use arrivals::Arrivals;
use contact_events::contact_mode;
use force_uniqueness::{UniquenessScratch, UniquenessSearch};
use linearization::{Linearization, Linearizer};
use model::Model;
use options::{check, check_options};
use report::{worse, worst_opening};
use retry::{Checkpoint, Clock, Schedule, SubstepOutcome, length_until};
use row_targets::{ContactEnergy, GapRule, LimitRule, SubstepPlan};
use substep::{SteadyStep, StepBegin, SubstepWorkspace};
use time_of_impact::ImpactClock;
use warm_start::{HandedOver, ImpulseSum, Impulses, Keyed, Trend, add_impulses, impulses_of, name_of};

/// Overlaps and openings at the end of a step are reported from this many times what counts as touching.
const REPORTED_TOUCHING_RATIO: f64 = 10.0;

/// Moves a world in time.
///
/// ```
/// use delassus::stepping::{StepOptions, Stepper};
/// use delassus::world::{World, WorldState};
/// # fn run(world: World, state: WorldState) -> Result<(), Box<dyn std::error::Error>> {
/// let mut stepper = Stepper::new(world, state, StepOptions::default())?;
/// while stepper.state().t < 1.0 {
///     stepper.step()?;
/// }
/// # Ok(()) }
/// ```
pub struct Stepper {
    model: Model,
    state: WorldState,
    clock: Clock,
    linearizer: Linearizer,
    /// Joints and contacts at the present state.
    linearization: Linearization,
    /// Impulses of what was made last, a step or a substep of it: the next solve starts from them.
    impulses: Impulses,
    /// How those of joints change from step to step.
    trend: Trend,
    /// Impulses of all substeps of a step add up to its forces.
    step_sum: ImpulseSum,
    handed_over: HandedOver,
    arrivals: Arrivals,
    impact_clock: ImpactClock,
    substep: SubstepWorkspace,
    uniqueness: UniquenessScratch,
    steady: SteadyStep,
}

impl Stepper {
    /// A stepper that begins at a state. Joints that are beyond their limits there are first brought back by
    /// the least motion ([`close_loops`]). Bodies that overlap are separated by the least motion in the sense
    /// of their masses, and keep their velocities ([`depenetrate`]); where that cannot be done, the first
    /// step pushes them.
    ///
    /// Refuses what [`check_world`](crate::world::check_world) refuses, and steps and tolerances that are no
    /// positive numbers.
    pub fn new(
        world: impl Into<Arc<World>>,
        state: WorldState,
        options: StepOptions,
    ) -> Result<Self, WorldError> {
        let world = world.into();
        check(&world, &state, &options)?;
        let mut stepper = Stepper::as_given(world, state, options);
        let world = stepper.model.world.clone();
        let beyond = stepper.linearization.limit_error() > stepper.model.touching();
        if beyond && close_loops(&world, &mut stepper.state).is_ok() {
            stepper.begin();
        }
        if stepper.linearization.penetration() > stepper.model.yielding()
            && depenetrate(&world, &mut stepper.state).is_some()
        {
            stepper.begin();
        }
        Ok(stepper)
    }

    /// A stepper that begins at a state whatever overlaps there.
    fn as_given(world: Arc<World>, state: WorldState, options: StepOptions) -> Self {
        let model = Model::new(world, options);
        let mut stepper = Stepper {
            clock: Clock { start: state.t, steps: 0 },
            linearizer: Linearizer::new(&model),
            linearization: Linearization::default(),
            impulses: Impulses::default(),
            trend: Trend::default(),
            step_sum: ImpulseSum::default(),
            handed_over: HandedOver::default(),
            arrivals: Arrivals::default(),
            impact_clock: ImpactClock::default(),
            substep: SubstepWorkspace::default(),
            uniqueness: UniquenessScratch::default(),
            steady: SteadyStep::default(),
            model,
            state,
        };
        stepper.begin();
        stepper
    }

    /// Linearizes at the present state, without impulses to start from.
    fn begin(&mut self) {
        self.linearize(self.model.options.dt);
        self.forget_contact_impulses();
        self.impulses.rows.fill(0.0);
    }

    /// A stepper that goes on from a snapshot, with the same bits as the one that made it. Refuses what
    /// [`Stepper::new`] refuses.
    pub fn resume(
        world: impl Into<Arc<World>>,
        snapshot: Snapshot,
        options: StepOptions,
    ) -> Result<Self, WorldError> {
        let world = world.into();
        check(&world, &snapshot.state, &options)?;
        let mut stepper = Stepper::as_given(world, snapshot.state, options);
        stepper.clock = Clock { start: snapshot.start, steps: snapshot.steps };
        let sum: Vec<Keyed> =
            snapshot.contact_impulse.into_iter().map(|(b, s, f, r)| ((b, s, f), r)).collect();
        let Stepper { linearization, impulses, trend, .. } = &mut stepper;
        let rows = linearization.joint_rows().rows.len();
        trend.restore(options.dt, rows, &snapshot.row_impulse);
        impulses.rows = snapshot.row_impulse;
        impulses.rows.resize(rows, 0.0);
        impulses_of(&sum, linearization.contacts(), &mut impulses.contacts);
        Ok(stepper)
    }

    /// What is needed to go on from here.
    pub fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot {
            state: WorldState { t: 0.0, bodies: vec![], coordinates: vec![] },
            steps: 0,
            start: 0.0,
            row_impulse: vec![],
            contact_impulse: vec![],
        };
        self.snapshot_into(&mut snapshot);
        snapshot
    }

    /// The same, in the memory of another snapshot.
    pub fn snapshot_into(&self, out: &mut Snapshot) {
        let WorldState { t, bodies, coordinates } = &self.state;
        out.state.t = *t;
        out.state.bodies.clone_from(bodies);
        out.state.coordinates.clone_from(coordinates);
        (out.steps, out.start) = (self.clock.steps, self.clock.start);
        out.row_impulse.clone_from(&self.impulses.rows);
        self.trend.save(self.model.options.dt, &mut out.row_impulse);
        let contacts = self.linearization.contacts().iter().zip(&self.impulses.contacts);
        out.contact_impulse.clear();
        out.contact_impulse.extend(contacts.map(|(c, r)| (c.bodies, c.shapes, c.feature, *r)));
    }

    /// Goes back to a snapshot that was made with steps of length `before`, and on from it with steps of
    /// length `dt`. Impulses, where solves start and which forces are read from, are scaled with the length.
    fn return_to(&mut self, snapshot: &Snapshot, before: f64, dt: f64) {
        self.model.options.dt = dt;
        self.handed_over.clear();
        self.state.clone_from(&snapshot.state);
        self.clock.restart(self.state.t);
        self.linearize(dt);
        let factor = dt / before;
        let scaled = |(b, s, f, r): &KeyedImpulse| ((*b, *s, *f), r.map(|x| x * factor));
        let sum: Vec<Keyed> = snapshot.contact_impulse.iter().map(scaled).collect();
        impulses_of(&sum, self.linearization.contacts(), &mut self.impulses.contacts);
        let rows = self.linearization.joint_rows().rows.len();
        self.trend.restore(before, rows, &snapshot.row_impulse);
        self.impulses.rows.clear();
        self.impulses.rows.extend(snapshot.row_impulse.iter().map(|x| x * factor));
        self.impulses.rows.resize(rows, 0.0);
    }

    /// Positions and velocities now.
    pub fn state(&self) -> &WorldState {
        &self.state
    }

    /// The world that moves.
    pub fn world(&self) -> &Arc<World> {
        &self.model.world
    }

    /// The options of the next step.
    pub fn options(&self) -> &StepOptions {
        &self.model.options
    }

    /// Goes on with other options. Where the length of steps changes, time goes on from now as by
    /// [`Stepper::set_dt`].
    ///
    /// Refuses steps and tolerances that are no positive numbers.
    pub fn set_options(&mut self, options: StepOptions) -> Result<(), WorldError> {
        check_options(&self.model.world, &options)?;
        let (dt, clock) = (self.model.options.dt, self.clock);
        let coordinates = self.model.options.coordinates;
        self.model.options = StepOptions { dt, ..options };
        if options.coordinates != coordinates {
            self.linearizer = Linearizer::new(&self.model);
        }
        self.change_dt(options.dt);
        if options.dt == dt {
            self.clock = clock;
        }
        Ok(())
    }

    /// Goes on with steps of this length, s: after n of them the time is that of now plus n dt. Forces stay
    /// what they are. The count of steps begins anew.
    ///
    /// Refuses a length that is no positive number.
    pub fn set_dt(&mut self, dt: f64) -> Result<(), WorldError> {
        StepOptions { dt, ..self.model.options }.check()?;
        self.change_dt(dt);
        Ok(())
    }

    fn change_dt(&mut self, dt: f64) {
        let (snapshot, before) = (self.snapshot(), self.model.options.dt);
        self.return_to(&snapshot, before, dt);
    }

    /// Steps made since the start, or since the length of steps was changed.
    pub fn steps(&self) -> u64 {
        self.clock.steps
    }

    /// Contacts within the detection margin now.
    pub fn contacts(&self) -> &[Contact] {
        self.linearization.contacts()
    }

    /// Mean force of the last step per contact: normal, and friction in world axes. In a planar world
    /// friction is that in its plane: what a solve may find across it moves nothing, and the plane takes it.
    pub fn contact_forces(&self) -> impl Iterator<Item = (&Contact, f64, DVec3)> + '_ {
        let h = self.model.options.dt;
        let on = &self.linearization;
        let across = self.model.world.plane.map_or(DVec3::ZERO, |axis| DVec3::AXES[axis as usize]);
        on.contacts().iter().zip(on.contact_rows()).zip(&self.impulses.contacts).map(move |((c, rows), r)| {
            let [t1, t2] = rows.tangents;
            let (normal, friction) = self.handed_over.of(c);
            let friction = t1 * r[1] + t2 * r[2] + friction;
            (c, (r[0] + normal) / h, (friction - across * across.dot(friction)) / h)
        })
    }

    /// What a contact does now: open, sliding, or sticking or rolling.
    pub fn contact_mode(&self, contact: &Contact) -> Mode {
        contact_mode(self, contact)
    }

    /// The name of a contact: its bodies, and a number where they touch at several points.
    pub fn contact_name(&self, contact: &Contact) -> String {
        name_of(&self.model.world, self.linearization.contacts(), contact)
    }

    /// One step.
    ///
    /// Once a scene is steady (the same contacts and joints from step to step) a step takes no memory. What
    /// does take some: contacts and boxes of shapes that come and go, until there is memory for them; jams
    /// and Zeno accumulations, which are named in the report; problems of more than 500 contacts, which are
    /// swept without W or by several threads; motors, drives and forces given by formulas; contacts of hulls
    /// and meshes; and solves that fail and are tried again by other methods.
    pub fn step(&mut self) -> Result<StepReport, InvalidProblem> {
        self.arrivals.clear();
        let Stepper { model, state, linearization, impulses, trend, substep, steady, .. } = self;
        let now = StepBegin { bodies: &state.bodies, contacts: linearization.contacts(), impulses, trend };
        if let Some(report) = steady.repeat(&model.options, now, &mut substep.solver) {
            state.t = self.clock.tick(model.options.dt);
            return Ok(report);
        }
        steady.begin(now);
        let t = self.state.t;
        let mut report = self.advance(ContactEnergy::Bounded)?;
        if let Some(StepFailure::JointEnergy { .. }) = report.failure {
            return Ok(self.rollback_step(t, report));
        }
        self.separate_overlaps(&mut report);
        let Stepper { model, state, linearization, impulses, trend, steady, .. } = self;
        let now = StepBegin { bodies: &state.bodies, contacts: linearization.contacts(), impulses, trend };
        steady.end(model, now, &report);
        Ok(report)
    }

    /// Back to the start of a step that cannot be made, at t: nothing of it is taken, whatever its first
    /// substeps gave.
    fn rollback_step(&mut self, t: f64, report: StepReport) -> StepReport {
        self.state.t = t;
        self.clock.restart(t);
        self.handed_over.clear();
        self.arrivals.clear();
        self.steady.restore_bodies(&mut self.state.bodies);
        self.linearize(self.model.options.dt);
        self.steady.restore_impulses(&mut self.impulses, &mut self.trend);
        let StepReport { status, failure, residual, solves, iterations, .. } = report;
        StepReport { status, failure, residual, solves, iterations, ..StepReport::solved() }
    }

    /// A step as a sequence of substeps that are accepted, made again or depenetrated.
    fn advance(&mut self, energy: ContactEnergy) -> Result<StepReport, InvalidProblem> {
        self.close_joints_beyond_limits();
        let mut report = StepReport::solved();
        let mut schedule = Schedule::new(self.model.options.dt, self.contacts().len(), self.model.rebounds());
        self.substep.begin_step();
        self.step_sum.clear(self.linearization.joint_rows().rows.len());
        self.handed_over.clear();
        while schedule.remaining() > 0.0 {
            let before = Checkpoint::of(&report);
            let (plan, outcome) = self.try_substep(&mut schedule, energy, before, &mut report)?;
            match outcome {
                SubstepOutcome::Shorten { length } => {
                    schedule.shorten(self.contacts().len());
                    self.linearizer.pass_singular(schedule.is_short());
                    self.undo_substep(length, before, &mut report);
                    continue;
                }
                SubstepOutcome::Retry { length } | SubstepOutcome::EndAtLimit { length } => {
                    schedule.halve();
                    self.undo_substep(length, before, &mut report);
                    continue;
                }
                SubstepOutcome::Depenetrate => {
                    self.rollback(plan.length);
                    self.substep(&plan.linearized(), &mut report)?;
                }
                SubstepOutcome::JointEnergy { gained } => {
                    if self.goes_on_in_maximal_coordinates() {
                        before.restore(&mut report);
                        schedule.grow_again();
                        continue;
                    }
                    self.clock.restart(self.state.t);
                    report.status = worse(report.status, Status::Stalled);
                    report.failure = Some(StepFailure::JointEnergy { gained });
                    return Ok(report);
                }
                SubstepOutcome::Accepted | SubstepOutcome::EndAtTouch { .. } => {}
            }
            self.accept_substep(&plan, &mut schedule, &mut report);
        }
        self.end_step(&mut report);
        Ok(report)
    }

    /// Back to the start of a substep that cannot be made, and whether the step goes on from there: near
    /// singular positions maximal coordinates may pass where those of a tree do not.
    fn goes_on_in_maximal_coordinates(&mut self) -> bool {
        let goes_on = self.linearizer.set_tree_aside(self.model.options.coordinates);
        self.linearizer.pass_singular(false);
        self.rollback(self.model.options.dt);
        if !goes_on {
            self.linearizer.take_tree_back();
        }
        goes_on
    }

    /// Makes the next substep, and again until the first touch or limit in it where it passes one. How it was
    /// made last.
    fn try_substep(
        &mut self,
        schedule: &mut Schedule,
        energy: ContactEnergy,
        before: Checkpoint,
        report: &mut StepReport,
    ) -> Result<(SubstepPlan, SubstepOutcome), InvalidProblem> {
        // Joints that no substep is short enough for will not be solved in the next thousand either.
        let hopeless = report.status != Status::Solved && schedule.is_shortest();
        if self.substep.solver.failed().exhausted() && (hopeless || !self.contacts().is_empty()) {
            schedule.give_up_short();
        }
        let mut plan = self.plan_substep(schedule, energy, report.status);
        self.substep.begin_search();
        let mut outcome = self.substep(&plan, report)?;
        while let SubstepOutcome::EndAtTouch { length } = outcome {
            schedule.cut();
            plan = SubstepPlan { may_cut: schedule.may_cut(), ..plan.of_length(length) };
            self.undo_substep(length, before, report);
            outcome = self.substep(&plan, report)?;
        }
        if let SubstepOutcome::EndAtLimit { length } = outcome {
            plan = plan.ending_at_limit(length);
            self.undo_substep(length, before, report);
            outcome = self.substep(&plan, report)?;
        }
        Ok((plan, outcome))
    }

    /// Back to the start of a substep, for one of this length, and out of the report with it.
    fn undo_substep(&mut self, length: f64, before: Checkpoint, report: &mut StepReport) {
        before.restore(report);
        self.rollback(length);
    }

    /// Takes a substep: its energy, time and impulses count, and the next one begins at its end.
    fn accept_substep(&mut self, plan: &SubstepPlan, schedule: &mut Schedule, report: &mut StepReport) {
        let contacts = self.linearization.contacts();
        self.substep.move_account(&self.model.world, contacts, self.state.t, report);
        schedule.pass(plan.length, self.substep.lets_grow(), self.contacts().len());
        self.step_sum.add(self.linearization.contacts(), &self.impulses);
        self.handed_over.accept();
        self.arrivals.accept();
        self.trend.accept(plan.length, self.model.options.dt);
        self.linearizer.pass_singular(schedule.is_short());
        if schedule.remaining() > 0.0 {
            let on = &self.linearization;
            self.handed_over.record_earlier(on.contacts(), on.contact_rows(), &self.impulses);
            self.linearize(schedule.remaining());
            self.forget_contact_impulses();
        }
    }

    /// Joints beyond their limits are brought back by a motion, not by a velocity with which they would go on
    /// to the other side.
    fn close_joints_beyond_limits(&mut self) {
        let beyond = self.linearization.limit_error() > self.model.touching();
        if beyond && close_loops(&self.model.world, &mut self.state).is_ok() {
            self.linearize(self.model.options.dt);
            self.forget_contact_impulses();
        }
    }

    /// The next substep: as long as it may be, or until the next impact.
    fn plan_substep(&mut self, schedule: &Schedule, energy: ContactEnergy, status: Status) -> SubstepPlan {
        let Stepper { model, linearization, impact_clock, .. } = self;
        let (bodies, failed) = (&self.state.bodies, self.substep.solver.failed());
        let longest = schedule.longest(failed);
        let may_cut = schedule.may_cut() && !failed.exhausted();
        let impact =
            if may_cut { impact_clock.next_impact(model, linearization, bodies, longest) } else { None };
        let length = length_until(impact, longest);
        let pass_by = may_cut && impact_clock.nears_limit(model, linearization, bodies, length);
        SubstepPlan {
            length,
            opening_time: schedule.opening_time(),
            joint_time: if schedule.is_short() { schedule.opening_time().max(length) } else { length },
            limits: if pass_by { LimitRule::PassBy } else { LimitRule::Enforce },
            gaps: GapRule::Exact,
            energy,
            may_retry: schedule.may_retry(status, linearization.contacts().len(), failed),
            may_shorten: schedule.may_shorten(linearization.contacts().len(), failed),
            opening: schedule.opening(),
            may_cut,
        }
    }

    /// Time, linearization, forces and report at the end of a step.
    fn end_step(&mut self, report: &mut StepReport) {
        let dt = self.model.options.dt;
        self.state.t = self.clock.tick(dt);
        self.linearizer.take_tree_back();
        self.linearizer.pass_singular(false);
        self.linearize(dt);
        let Stepper { model, linearization, impulses, .. } = self;
        self.step_sum.move_to(linearization.contacts(), linearization.joint_rows().rows.len(), impulses);
        self.handed_over.end(linearization.contacts());
        let mut velocity = std::mem::take(&mut self.uniqueness.velocity);
        model.masses.gather_velocities(&self.state.bodies, &mut velocity);
        let search = UniquenessSearch { model, linearization, impulses, velocity: &velocity };
        report.non_unique = search.finds_others(&mut self.uniqueness);
        report.non_unique_motion = self.substep.solver.has_other_motion();
        self.uniqueness.velocity = velocity;
        report.penetration = linearization.penetration();
        report.joint_error = linearization.joint_error();
    }

    /// Whatever was solved, bodies that overlap and joints that are open are reported, and the next step
    /// shall not throw them apart.
    fn separate_overlaps(&mut self, report: &mut StepReport) {
        let reported = REPORTED_TOUCHING_RATIO * self.model.touching();
        let beyond = self.linearization.limit_error();
        if beyond > reported {
            report.joint_error = report.joint_error.max(beyond);
        }
        if report.penetration <= reported && report.joint_error <= reported {
            return;
        }
        let world = self.model.world.clone();
        if report.status == Status::Solved {
            let mut values = vec![];
            world::joint_values(&world, &self.state, &mut values);
            let opening = worst_opening(&self.model, &self.linearization, &self.state.bodies, &values);
            (report.status, report.failure) = (Status::Stalled, Some(opening));
        }
        if report.penetration > reported && depenetrate(&world, &mut self.state).is_some() {
            let mut kept: Vec<Keyed> = vec![];
            add_impulses(&mut kept, self.linearization.contacts(), &self.impulses.contacts);
            self.linearize(self.model.options.dt);
            impulses_of(&kept, self.linearization.contacts(), &mut self.impulses.contacts);
        }
    }

    /// Contacts and rows of joints at the present state, for a substep of length h that begins here.
    fn linearize(&mut self, h: f64) {
        self.linearize_for(h, self.model.first_kick(h));
    }

    /// The same; the velocities of the next solve are those after a time `ahead`.
    fn linearize_for(&mut self, h: f64, ahead: f64) {
        self.linearizer.linearize(&self.model, &mut self.state, h, ahead, &mut self.linearization);
    }

    /// No impulses of contacts; those of joints stay.
    fn forget_contact_impulses(&mut self) {
        let on = &self.linearization;
        self.impulses.forget_contacts(on.joint_rows().rows.len(), on.contacts().len());
    }
}
