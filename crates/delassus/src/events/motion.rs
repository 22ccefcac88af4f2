//! The system in motion: its state and its modes, with the guards and gaps that end them.
//!
//! ```text
//! ẏ = f_m(t, y) ,     y = (q, q̇) ∈ ℝ²ⁿ ,     g_m(t, y) ≥ 0 ,     h_m(t, q) ≥ 0
//! ```
//!
//! m are the modes of all contacts and joints, f_m the equations of motion under them ([`super::equations`]),
//! g_m their guards ([`super::guards`]) and h_m the gaps of open contacts ([`super::gaps`]); 002 §4. This is
//! the state of a hybrid system: the smooth part changes in [`Motion::integrate`] and [`Motion::advance_to`],
//! the discrete part in [`Motion::replace_modes`]. What decides on a change stands in the modules that call
//! these.

use std::cell::RefCell;

use delassus_solve::linalg::max_abs;

use super::equations::{ContactMode, Equations, JointMode, Mechanics, ModeError, Modes};
use super::gaps::{OpenGaps, Undecided};
use super::gauss_collocation::{DenseStep, FLOOR, StepOutcome, StepProblem, scales};
use super::guards::{Cause, FirstEvent, Guard, Guards};
use super::projection::{Distance, dependent_rows_hold, project, project_positions, project_velocity};
use super::singular::{self, Crossing};
use super::spatial_slip::{SlipDirections, slip_remains, update_slip_directions};
use super::step_history::StepHistory;
use super::{EventOptions, Sample};
use crate::formula::{AnyFormula, Point};
use crate::lagrangian::{KinematicsError, Measure, State, System};

/// Gaps within this of zero are closed, m. Machines and bodies are of the order of a metre: this is a hundred
/// local errors at the default tolerance, and far below the roughness of any surface.
pub(super) const CLOSED_GAP: f64 = 1e-10;
/// Contacts with gaps up to this take part in an event, m. It only saves work: contacts that close together
/// are nearer to each other than [`CLOSED_GAP`], a hundred thousand times smaller.
const NEARBY_GAP: f64 = 1e-5;
/// Velocities below this part of the largest, or of 1, are zero.
const ZERO_VELOCITY: f64 = 1e-10;
/// Slips below this part of the largest velocity, or of 1, have not begun.
const ZERO_SLIP: f64 = 1e-13;
/// Slips within this many local errors of zero have not begun either.
const SLIP_ERRORS: f64 = 4.0;
/// Features of formulas up to this may stay unresolved.
const UNRESOLVED: f64 = 1e-6;
/// Features of constraints up to this part of the largest position, or of 1, may stay unresolved: their
/// values are small because they are kept at zero.
const UNRESOLVED_CONSTRAINT: f64 = 1e-4;

/// A last pivot, about the square of the smallest singular value of the rows, below which a singular position
/// may be near: σ = 0.14 is an angle of some degrees away from it.
const WEAK_PIVOT: f64 = 0.02;

/// State and modes at an instant, to return to.
pub(super) struct Checkpoint {
    state: State,
    modes: Modes,
}

/// A system with its state, its modes, and what ends them.
pub(super) struct Motion<'a> {
    system: &'a System,
    options: &'a EventOptions,
    mechanics: Mechanics<'a>,
    state: State,
    modes: Modes,
    guards: Guards,
    gaps: OpenGaps,
    /// The least pivot at the points of the step that was tried last (see [`super::equations::Response`]).
    weakest: f64,
}

impl<'a> Motion<'a> {
    /// At the start all contacts are open.
    pub(super) fn new(
        system: &'a System,
        start: &State,
        options: &'a EventOptions,
    ) -> Result<Motion<'a>, ModeError> {
        let mut mechanics = Mechanics::new(system, start)?;
        mechanics.measure_gradients(start);
        Ok(Motion {
            system,
            options,
            mechanics,
            state: start.clone(),
            modes: Modes {
                contacts: vec![ContactMode::Open; system.contacts.len()],
                joints: vec![JointMode::Smooth; system.joints.len()],
            },
            guards: Guards::default(),
            gaps: OpenGaps::new(system.contacts.len()),
            weakest: 1.0,
        })
    }

    pub(super) fn system(&self) -> &'a System {
        self.system
    }

    pub(super) fn options(&self) -> &'a EventOptions {
        self.options
    }

    pub(super) fn state(&self) -> &State {
        &self.state
    }

    /// The time, s.
    pub(super) fn t(&self) -> f64 {
        self.state.t
    }

    pub(super) fn modes(&self) -> &Modes {
        &self.modes
    }

    pub(super) fn guards(&self) -> &Guards {
        &self.guards
    }

    /// What is known of open gaps.
    pub(super) fn gaps(&mut self) -> &mut OpenGaps {
        &mut self.gaps
    }

    /// Whether the contact's gap is zero now and positive right after.
    pub(super) fn is_leaving(&self, contact: usize) -> bool {
        self.gaps.is_leaving(contact)
    }

    pub(super) fn is_closed(&self, contact: usize) -> bool {
        self.modes.contacts[contact].is_closed()
    }

    pub(super) fn closed_contacts(&self) -> Vec<usize> {
        (0..self.modes.contacts.len()).filter(|i| self.is_closed(*i)).collect()
    }

    /// The last state and the last modes of the contacts.
    pub(super) fn into_end(self) -> (State, Vec<ContactMode>) {
        (self.state, self.modes.contacts)
    }

    /// Velocities up to this are zero.
    pub(super) fn zero_velocity(&self) -> f64 {
        ZERO_VELOCITY * max_abs(&self.state.v).max(1.0)
    }

    /// Slips up to this have not begun, or have ended.
    pub(super) fn zero_slip(&self) -> f64 {
        ZERO_SLIP.max(SLIP_ERRORS * self.options.tolerance) * max_abs(&self.state.v).max(1.0)
    }

    /// Kinetic and potential energy, J.
    pub(super) fn energy_at(&self, state: &State) -> f64 {
        let point = Point { q: &state.q, v: &state.v, t: state.t };
        let potential = self.system.potential.as_ref().map_or(0.0, |p| p.value(&point));
        self.system.kinetic.value(&point) + potential
    }

    /// Whether bodies overlap at a state.
    pub(super) fn overlaps(&self, state: &State) -> bool {
        let point = Point { q: &state.q, v: &state.v, t: state.t };
        self.system.contacts.iter().any(|contact| match &contact.normal {
            Measure::Displacement(gap) => gap.value(&point) < -CLOSED_GAP,
            Measure::Velocity(_) => false,
        })
    }

    /// Accelerations, forces and energy at a state in the present modes; `None` where formulas fail.
    pub(super) fn sample(&mut self, state: State) -> Option<Sample> {
        let closed = |i: usize| self.modes.contacts[i].is_closed();
        let at = self.mechanics.equations((state.t, &state.q, &state.v), closed).ok()?;
        let response = self.mechanics.respond(&at, &self.modes);
        // At a singular position the shortest of the forces that are left.
        let response = response.or_else(|_| singular::respond(&self.mechanics, &at, &self.modes)).ok()?;
        Some(Sample {
            energy: self.energy_at(&state),
            state,
            acceleration: response.acceleration,
            contact_forces: response.contacts,
            joint_forces: response.joints,
            modes: self.modes.contacts.clone(),
        })
    }

    /// Masses, forces and rows of the contacts that touch.
    pub(super) fn equations(&mut self) -> Result<Equations, KinematicsError> {
        let near = self.mechanics.near(&self.state, NEARBY_GAP);
        let modes = &self.modes;
        let active = |i: usize| near[i] || modes.contacts[i].is_closed();
        self.mechanics.equations((self.state.t, &self.state.q, &self.state.v), active)
    }

    /// Masses, forces and rows of all contacts, at (t, q, v).
    pub(super) fn equations_at(
        &mut self,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<Equations, KinematicsError> {
        self.mechanics.equations((t, q, v), |_| true)
    }

    /// Masses, forces and rows of all contacts, now.
    pub(super) fn all_equations(&mut self) -> Result<Equations, KinematicsError> {
        self.mechanics.equations((self.state.t, &self.state.q, &self.state.v), |_| true)
    }
}

/// The smooth part.
impl Motion<'_> {
    /// Tries a step of length h in the present modes. Where sweeps do not contract because slip in space is
    /// slow, its directions become unknowns of their own.
    pub(super) fn integrate(&mut self, history: &mut StepHistory, h: f64) -> Result<StepOutcome, ModeError> {
        let outcome = self.integrate_with(history, h, None)?;
        if outcome == StepOutcome::Diverged
            && let Some(directions) = SlipDirections::new(self.system, &self.modes)
        {
            return self.integrate_with(history, h, Some(directions));
        }
        Ok(outcome)
    }

    fn integrate_with(
        &mut self,
        history: &mut StepHistory,
        h: f64,
        directions: Option<SlipDirections>,
    ) -> Result<StepOutcome, ModeError> {
        let Motion { system, mechanics, modes, guards, state, weakest, .. } = self;
        *weakest = f64::INFINITY;
        let n = state.q.len();
        let y0: Vec<f64> = state.q.iter().chain(&state.v).copied().collect();
        let mut scale = vec![];
        scales(&state.q, &state.v, &mut scale);
        let speed = scale.last().copied().unwrap_or(1.0);
        let directions = RefCell::new(directions);
        let adjust = || directions.borrow_mut().as_mut().map(|directions| directions.adjust(h) / speed);
        guards.begin_step();
        let rate = |point: usize, t: f64, y: &[f64], dy: &mut [f64]| {
            let (q, v) = y.split_at(n);
            let at = mechanics.equations((t, q, v), |i| is_watched(system, modes, i))?;
            let response = match directions.borrow_mut().as_mut() {
                Some(directions) => directions.respond(mechanics, point, &at)?,
                None => mechanics.respond(&at, modes).inspect_err(|_| *weakest = 0.0)?,
            };
            *weakest = weakest.min(response.weakest);
            dy[..n].copy_from_slice(v);
            dy[n..].copy_from_slice(&response.acceleration);
            guards.keep(point, &at, modes, &response);
            Ok::<(), ModeError>(())
        };
        let tolerance = self.options.tolerance;
        let problem = StepProblem { t: state.t, h, y0: &y0, scale: &scale, tolerance, rounding: FLOOR };
        history.try_step(&problem, adjust, rate)
    }

    /// As [`Motion::integrate`], with every point of the step moved onto the constraints first (see
    /// [`super::singular`]).
    pub(super) fn integrate_on_constraints(
        &mut self,
        history: &mut StepHistory,
        h: f64,
        tolerance: f64,
    ) -> Result<StepOutcome, ModeError> {
        let Motion { system, mechanics, modes, guards, state, .. } = self;
        let n = state.q.len();
        let y0: Vec<f64> = state.q.iter().chain(&state.v).copied().collect();
        let mut scale = vec![];
        scales(&state.q, &state.v, &mut scale);
        guards.begin_step();
        let mut on = state.clone();
        let rate = |point: usize, t: f64, y: &[f64], dy: &mut [f64]| {
            on.t = t;
            on.q.copy_from_slice(&y[..n]);
            on.v.copy_from_slice(&y[n..]);
            project(mechanics, &mut on, modes)?;
            let at = mechanics.equations((t, &on.q, &on.v), |i| is_watched(system, modes, i))?;
            let response = singular::respond(mechanics, &at, modes)?;
            dy[..n].copy_from_slice(&on.v);
            dy[n..].copy_from_slice(&response.acceleration);
            guards.keep(point, &at, modes, &response);
            Ok::<(), ModeError>(())
        };
        // Points on the constraints have a rounding of their own.
        let rounding = FLOOR.max(0.1 * tolerance);
        let problem = StepProblem { t: state.t, h, y0: &y0, scale: &scale, tolerance, rounding };
        history.try_step(&problem, || None, rate)
    }

    /// Whether the last step was near a singular position; not while contacts are closed (often redundant).
    pub(super) fn has_weak_rows(&self) -> bool {
        self.weakest < WEAK_PIVOT && !self.modes.contacts.iter().any(ContactMode::is_closed)
    }

    /// How far ahead the next singular position is, s; `None` where singular values do not fall.
    pub(super) fn time_to_singular_position(&mut self) -> Result<Option<f64>, ModeError> {
        singular::time_ahead(&mut self.mechanics, &self.state, &self.modes)
    }

    /// The singular position that a step passes.
    pub(super) fn crossing(&mut self, step: &DenseStep) -> Result<Crossing, ModeError> {
        singular::crossing(&mut self.mechanics, &self.modes, step, self.options.tolerance)
    }

    /// The name of a joint at which several motions branch from here, at rest.
    pub(super) fn branches_at_rest(&mut self) -> Result<Option<String>, ModeError> {
        if self.system.joints.is_empty() || max_abs(&self.state.v) > self.zero_velocity() {
            return Ok(None);
        }
        singular::branches_at_rest(&mut self.mechanics, &self.state, &self.modes)
    }

    /// The first event of the step from here.
    pub(super) fn first_event(
        &mut self,
        step: &DenseStep,
    ) -> Result<Result<Option<FirstEvent>, Undecided>, ModeError> {
        let touch = match self.gaps.first_touch(&self.mechanics, &self.modes, &self.state, step) {
            Ok(touch) => touch.map(|t| FirstEvent { theta: t.theta, cause: Cause::Touch(t.contact) }),
            Err(undecided) => return Ok(Err(undecided)),
        };
        let zero_slip = self.zero_slip();
        let Motion { system, mechanics, modes, guards, .. } = self;
        let value = |guard: Guard, theta: f64| {
            let mut y = vec![];
            step.at(theta, &mut y);
            let (q, v) = y.split_at(y.len() / 2);
            let at = mechanics.equations((step.time(theta), q, v), |i| is_watched(system, modes, i))?;
            let response = mechanics.respond(&at, modes)?;
            Ok::<f64, ModeError>(guards.value(guard, &at, modes, &response))
        };
        Ok(Ok(guards.first_end(zero_slip, touch, value)?))
    }

    /// Up to where, in [0, end], the points of the step resolve the formulas that act in it; `None` for all
    /// of it.
    pub(super) fn first_unresolved(&mut self, step: &DenseStep, end: f64) -> Option<f64> {
        let kinetic = (!self.mechanics.has_constant_mass()).then_some(&self.system.kinetic);
        let constraint = UNRESOLVED_CONSTRAINT * max_abs(&self.state.q).max(1.0);
        let acting = acting_formulas(self.system, &self.modes, kinetic, constraint);
        self.gaps.first_unresolved(acting.into_iter(), step, end)
    }

    /// Goes to θ of the step, which is the time t.
    pub(super) fn advance_to(&mut self, step: &DenseStep, theta: f64, t: f64) {
        let mut y = vec![];
        step.at(theta, &mut y);
        let n = y.len() / 2;
        self.state.t = t;
        self.state.q.copy_from_slice(&y[..n]);
        self.state.v.copy_from_slice(&y[n..]);
        self.gaps.advance(theta);
    }

    /// Lets a time pass that is too short for a motion.
    pub(super) fn skip(&mut self, time: f64) {
        self.state.t += time;
    }

    /// Goes to a state by a jump in time.
    pub(super) fn jump_to(&mut self, state: &State) {
        self.state.clone_from(state);
        self.gaps.end_flights();
    }

    /// Velocities jump.
    pub(super) fn set_velocity(&mut self, v: &[f64]) {
        self.state.v.copy_from_slice(v);
    }

    /// Gives what slides in space the direction of its present slip; returns the largest angle of the
    /// rotations, rad.
    pub(super) fn update_slip_directions(&mut self) -> Result<f64, ModeError> {
        let zero_slip = self.zero_slip();
        self.mechanics.set_zero_slip(zero_slip);
        update_slip_directions(&mut self.mechanics, &self.state, &mut self.modes, zero_slip)
    }

    /// Whether the slip in space whose guard ended at θ is still there, across its direction at the start of
    /// the step.
    pub(super) fn slip_remains(&mut self, step: &DenseStep, event: FirstEvent) -> Result<bool, ModeError> {
        let zero_slip = self.zero_slip();
        slip_remains(&mut self.mechanics, &self.modes, step, event, zero_slip)
    }

    /// Which rows the next step may leave out, where forces are not unique.
    pub(super) fn find_dependent_rows(&mut self) -> Result<(), ModeError> {
        if self.guards.watch_redundant_forces() {
            self.mechanics.find_dependent_rows(&self.state, &self.modes)?;
        }
        Ok(())
    }

    /// The next equations keep all rows.
    pub(super) fn forget_dependent_rows(&mut self) {
        self.mechanics.forget_dependent_rows();
    }

    /// Whether rows that the step left out hold at its end all the same.
    pub(super) fn dependent_rows_hold(&mut self, step: &DenseStep) -> Result<bool, ModeError> {
        dependent_rows_hold(&mut self.mechanics, &self.modes, step, self.options.tolerance)
    }
}

/// The discrete part, and what puts the state onto its constraints.
impl Motion<'_> {
    /// The present modes, with these contacts closed and without friction.
    pub(super) fn modes_with_closed(&self, contacts: &[usize]) -> Modes {
        let mut modes = self.modes.clone();
        for &i in contacts {
            modes.contacts[i] = ContactMode::Slide { direction: [0.0; 2] };
        }
        modes
    }

    /// Takes these modes; returns those before.
    pub(super) fn replace_modes(&mut self, modes: Modes) -> Modes {
        std::mem::replace(&mut self.modes, modes)
    }

    /// Watches the present modes from here on.
    pub(super) fn reset_guards(&mut self) -> Result<(), ModeError> {
        let closed = |i: usize| self.modes.contacts[i].is_closed();
        let at = self.mechanics.equations((self.state.t, &self.state.q, &self.state.v), closed)?;
        let response = self.mechanics.respond(&at, &self.modes)?;
        self.guards.reset(self.system, &self.modes, &response);
        Ok(())
    }

    /// The largest velocity by which the state at θ of a step was off its constraints.
    pub(super) fn velocity_change(&self, step: &DenseStep, theta: f64) -> f64 {
        let mut y = vec![];
        step.at(theta, &mut y);
        let change = y[y.len() / 2..].iter().zip(&self.state.v).map(|(a, b)| (a - b).abs());
        change.fold(0.0, f64::max)
    }

    /// Moves the state onto the constraints of its modes; returns how far off it was.
    pub(super) fn project(&mut self) -> Result<Distance, ModeError> {
        project(&mut self.mechanics, &mut self.state, &self.modes)
    }

    /// Moves the state onto the constraints of other modes; returns how far off it was.
    pub(super) fn project_onto(&mut self, modes: &Modes) -> Result<Distance, ModeError> {
        project(&mut self.mechanics, &mut self.state, modes)
    }

    /// Moves velocities onto the constraints of the present modes.
    pub(super) fn project_velocity(&mut self) -> Result<(), ModeError> {
        project_velocity(&mut self.mechanics, &mut self.state, &self.modes)
    }

    /// Moves velocities onto the constraints of other modes.
    pub(super) fn project_velocity_onto(&mut self, modes: &Modes) -> Result<(), ModeError> {
        project_velocity(&mut self.mechanics, &mut self.state, modes)
    }

    /// Puts contacts onto their surfaces, beside those that are closed.
    pub(super) fn place_on_surfaces(&mut self, contacts: &[usize]) -> Result<(), ModeError> {
        let modes = self.modes_with_closed(contacts);
        project_positions(&mut self.mechanics, &mut self.state, &modes)?;
        Ok(())
    }

    /// State and modes as they are.
    pub(super) fn checkpoint(&self) -> Checkpoint {
        Checkpoint { state: self.state.clone(), modes: self.modes.clone() }
    }

    /// Returns to a checkpoint.
    pub(super) fn rollback(&mut self, checkpoint: Checkpoint) {
        (self.state, self.modes) = (checkpoint.state, checkpoint.modes);
    }
}

/// Whether guards need the rows of a contact: it is closed, or given by a velocity.
fn is_watched(system: &System, modes: &Modes, contact: usize) -> bool {
    modes.contacts[contact].is_closed() || matches!(system.contacts[contact].normal, Measure::Velocity(_))
}

/// The formulas that act in these modes, each with the size of features that may stay unresolved:
/// `constraint` for what is kept at zero.
fn acting_formulas<'f>(
    system: &'f System,
    modes: &Modes,
    kinetic: Option<&'f AnyFormula>,
    constraint: f64,
) -> Vec<(&'f AnyFormula, f64)> {
    let measured = |measure: &'f Measure| match measure {
        Measure::Displacement(h) | Measure::Velocity(h) => h,
    };
    let mut acting: Vec<(&AnyFormula, f64)> = system.potential.iter().map(|p| (p, UNRESOLVED)).collect();
    acting.extend(kinetic.map(|kinetic| (kinetic, UNRESOLVED)));
    acting.extend(system.forces.iter().map(|f| (&f.value, UNRESOLVED)));
    for joint in &system.joints {
        acting.push((measured(&joint.value), constraint));
        acting.extend(joint.slip.iter().map(measured).chain([&joint.mu]).map(|f| (f, UNRESOLVED)));
    }
    for (contact, mode) in system.contacts.iter().zip(&modes.contacts) {
        match (&contact.normal, mode.is_closed()) {
            (_, true) => acting.push((measured(&contact.normal), constraint)),
            (Measure::Velocity(rate), false) => acting.push((rate, UNRESOLVED)),
            (Measure::Displacement(_), false) => {}
        }
        if mode.is_closed() {
            let friction = [&contact.mu_static, &contact.mu_kinetic];
            acting.extend(contact.slip.iter().map(measured).chain(friction).map(|f| (f, UNRESOLVED)));
        }
    }
    acting
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::fixtures::{G, SLIDE_DOWN, ball, block, one_contact, state};

    const SMOOTH: ContactMode = ContactMode::Slide { direction: [0.0; 2] };

    #[test]
    fn energy_overlap_and_what_counts_as_zero_are_those_of_the_state() {
        let (system, options) = (ball(0.5), EventOptions { tolerance: 1e-10, ..Default::default() });
        let motion = Motion::new(&system, &state(&[3.0], &[-20.0]), &options).unwrap();
        // Mass 2: 2 g y + v².
        assert!((motion.energy_at(motion.state()) - (6.0 * G + 400.0)).abs() < 1e-12);
        let overlaps = |y: f64| motion.overlaps(&state(&[y], &[0.0]));
        assert!(overlaps(-2e-10) && !overlaps(-5e-11) && !overlaps(1.0));
        // Relative to 20 m/s, the slip by four times the tolerance.
        assert!((motion.zero_velocity() - 2e-9).abs() < 1e-20 && (motion.zero_slip() - 8e-9).abs() < 1e-20);
    }

    #[test]
    fn a_sample_has_the_forces_of_the_modes() {
        let (system, options) = (ball(0.5), EventOptions::default());
        let mut motion = Motion::new(&system, &state(&[0.0], &[0.0]), &options).unwrap();
        let open = motion.sample(state(&[0.0], &[0.0])).unwrap();
        assert!((open.acceleration[0] + G).abs() < 1e-14 && open.contact_forces[0][0] == 0.0);
        assert_eq!(motion.replace_modes(one_contact(SMOOTH)), one_contact(ContactMode::Open));
        assert!(motion.is_closed(0) && motion.closed_contacts() == [0]);
        let closed = motion.sample(state(&[0.0], &[0.0])).unwrap();
        assert!(
            closed.acceleration[0].abs() < 1e-14 && (closed.contact_forces[0][0] - 2.0 * G).abs() < 1e-13
        );
    }

    /// A block that slides down an incline, from rest with friction: x = ½ g (sin α − μ cos α) t².
    #[test]
    fn a_step_in_a_mode_solves_its_equations_and_ends_where_the_gap_does() {
        let (angle, mu) = (0.6_f64, 0.25);
        let (system, options) = (block(angle, mu), EventOptions::default());
        let mut motion = Motion::new(&system, &state(&[0.0, 0.0], &[1.0, 0.0]), &options).unwrap();
        motion.replace_modes(one_contact(SLIDE_DOWN));
        motion.reset_guards().unwrap();
        let mut history = StepHistory::new(0.0);
        let h = 0.5;
        assert!(matches!(motion.integrate(&mut history, h).unwrap(), StepOutcome::Converged(e) if e < 1e-12));
        assert_eq!(motion.first_event(history.current()).unwrap(), Ok(None));
        motion.advance_to(history.current(), 1.0, h);
        let a = G * (angle.sin() - mu * angle.cos());
        assert!((motion.state().q[0] - (h + 0.5 * a * h * h)).abs() < 1e-13 && motion.t() == h);
        assert!((motion.state().v[0] - (1.0 + a * h)).abs() < 1e-13);
        let (system, options) = (ball(0.5), EventOptions::default());
        let mut motion = Motion::new(&system, &state(&[1.0], &[0.0]), &options).unwrap();
        let mut history = StepHistory::new(0.0);
        motion.integrate(&mut history, 1.0).unwrap();
        // A fall of 1 m in a step of 1 s.
        let event = motion.first_event(history.current()).unwrap().unwrap().unwrap();
        assert_eq!(event.cause, Cause::Touch(0));
        assert!((event.theta - (2.0 / G).sqrt()).abs() < 1e-12, "{}", event.theta);
    }

    #[test]
    fn a_rollback_restores_state_and_modes_and_surfaces_are_met() {
        let (system, options) = (ball(0.5), EventOptions::default());
        let mut motion = Motion::new(&system, &state(&[1e-7], &[-1.0]), &options).unwrap();
        let before = motion.checkpoint();
        motion.place_on_surfaces(&[0]).unwrap();
        assert!(motion.state().q[0].abs() < 1e-15 && motion.state().v[0] == -1.0);
        motion.project_velocity_onto(&one_contact(SMOOTH)).unwrap();
        motion.replace_modes(one_contact(SMOOTH));
        motion.skip(0.5);
        assert!(motion.state().v[0].abs() < 1e-15 && motion.t() == 0.5);
        motion.rollback(before);
        assert_eq!(
            (motion.state(), motion.modes()),
            (&state(&[1e-7], &[-1.0]), &one_contact(ContactMode::Open))
        );
    }

    #[test]
    fn formulas_act_where_their_contact_is_closed() {
        let system = block(0.6, 0.25);
        let count = |mode| acting_formulas(&system, &one_contact(mode), Some(&system.kinetic), 1e-4);
        // Potential and kinetic energy; closed also the gap, its slip and two coefficients of friction.
        assert_eq!((count(ContactMode::Open).len(), count(SLIDE_DOWN).len()), (2, 6));
        assert_eq!(count(SLIDE_DOWN).iter().filter(|(_, smallest)| *smallest == 1e-4).count(), 1);
        let modes = one_contact(ContactMode::Open);
        assert!(!is_watched(&system, &modes, 0) && is_watched(&system, &one_contact(SLIDE_DOWN), 0));
    }
}
