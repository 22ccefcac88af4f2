//! The loop of an event-driven run: a step, and the first event in it.

use std::cell::RefCell;

use super::enclosure::{Shape, StepBounds};
use super::equations::{ContactMode, JointMode, Mechanics, ModeError, Modes, Moving};
use super::gauss_collocation::{Collocation, DenseStep, GAUSS, POINTS, StepOutcome, next_length, scales};
use super::guards::{Condition, condition_values, conditions};
use super::low_flight::Flight;
use super::projection::project;
use super::root_finding::{End, GapPoint, GapTolerance, Search, TooLong, first_end};
use super::spatial_slip::Turning;
use super::start::START_TOLERANCE;
use super::zeno::Chatter;
use super::{Ending, Event, EventError, EventOptions, Sample, StartCorrection, Trajectory};
use crate::lagrangian::{Impulse, Kinematics, Measure, Row, State, System};
use delassus_solve::linalg::{dot, max_abs};

/// Gaps within this of zero are closed, m.
pub(super) const GAP: f64 = 1e-10;
/// A minimum of a gap within this of zero is a graze, m.
const GRAZE: f64 = 1e-12;
/// What rounding leaves of a gap that is zero, relative to the largest position or 1 and the way at the largest velocity.
const ROUNDING: f64 = 1e-15;
/// Corrections of the start up to this part of the largest position or velocity, or of 1, are rounding.
const CORRECTION: f64 = 1e-12;
/// Velocities below this part of the largest, or of 1, are zero.
const STILL: f64 = 1e-10;
/// Forces below this part of all forces are zero.
const NO_FORCE: f64 = 1e-10;
/// Slips below this part of the largest velocity, or of 1, have not begun.
const NO_SLIP: f64 = 1e-13;
/// Slips within so many local errors of zero have not begun either.
const SLIP_ERROR: f64 = 4.0;
/// A determinant of the scaled matrix below this is zero.
const NO_DETERMINANT: f64 = 1e-9;
/// Steps up to this are not shortened any more for what their points do not see, s.
const SHORT: f64 = 1e-6;
/// Events at one instant that lead nowhere.
const STUCK: usize = 40;
/// A step after an event, in times between the last two events.
const EVENT_STEPS: f64 = 3.0;
/// First step that is tried, s.
const FIRST_STEP: f64 = 0.1;

impl From<ModeError> for Ending {
    fn from(error: ModeError) -> Self {
        Ending::Failed(error)
    }
}

impl From<crate::lagrangian::KinematicsError> for Ending {
    fn from(error: crate::lagrangian::KinematicsError) -> Self {
        Ending::Failed(error.into())
    }
}

/// Why a step ends before its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cause {
    /// A gap closes or grazes.
    Touch(usize),
    /// A condition of a mode ends.
    Mode(Condition),
}

/// An event at θ of a step, if there is one.
type Found = Option<(f64, Cause)>;

/// States of a step at instants that were asked for.
#[derive(Default)]
struct Visited {
    entries: Vec<(f64, Moving)>,
    used: usize,
    y: Vec<f64>,
}

impl Visited {
    fn at(&mut self, dense: &DenseStep, theta: f64) -> &Moving {
        if let Some(found) = self.entries[..self.used].iter().position(|(x, _)| *x == theta) {
            return &self.entries[found].1;
        }
        if self.used == self.entries.len() {
            self.entries.push(Default::default());
        }
        dense.at(theta, &mut self.y);
        let n = self.y.len() / 2;
        let (x, moving) = &mut self.entries[self.used];
        *x = theta;
        moving.set(dense.start + theta * dense.length, &self.y[..n], &self.y[n..]);
        // The states at fixed places come first and are met again and again; those of root finders are not.
        if self.used < 64 {
            self.used += 1;
            &self.entries[self.used - 1].1
        } else {
            &self.entries[self.used].1
        }
    }
}

/// Whether the rate of a row is what is left where its terms cancel, each of them given to six digits.
fn is_zero_sum(row: &Row, v: &[f64]) -> bool {
    let terms: f64 = row.gradient.iter().zip(v).map(|(g, v)| (g * v).abs()).sum();
    let drift = row.velocity - dot(&row.gradient, v);
    row.velocity.abs() <= START_TOLERANCE * (terms + drift.abs())
}

/// A run under way.
pub(super) struct Run<'a> {
    pub(super) system: &'a System,
    pub(super) mechanics: Mechanics<'a>,
    pub(super) options: &'a EventOptions,
    pub(super) state: State,
    pub(super) modes: Modes,
    /// Contacts whose gap is zero now and positive right after.
    pub(super) leaving: Vec<bool>,
    /// Conditions of the modes, and the sign of the determinant under them.
    pub(super) list: Vec<Condition>,
    pub(super) sign: f64,
    room: Collocation,
    pub(super) dense: DenseStep,
    before: DenseStep,
    /// Whether `before` ends where the next step begins, in the same modes.
    pub(super) contiguous: bool,
    length: f64,
    /// Length and error of the step before, in units of the tolerance.
    pace: (f64, f64),
    last_event: f64,
    values: Vec<[f64; POINTS]>,
    force_size: f64,
    visited: Visited,
    pub(super) bounds: StepBounds,
    pub(super) chatter: Vec<Chatter>,
    /// Flights of contacts since their last strike, where they are low.
    pub(super) flights: Vec<Option<Flight>>,
    /// Contacts that came near by falling, and have not risen since.
    pub(super) fell: Vec<bool>,
    /// Time since the last strike of every contact.
    pub(super) since: Vec<f64>,
    pub(super) events: Vec<Event>,
    pub(super) samples: Vec<Sample>,
    pub(super) event_samples: Vec<Sample>,
    pub(super) sample_times: Vec<f64>,
    pub(super) breakpoints: Vec<f64>,
    /// External impulses that are still to come, the next one last.
    pub(super) impulses: Vec<Impulse>,
    pub(super) next_sample: usize,
    pub(super) next_break: usize,
    pub(super) ambiguous: usize,
    same_instant: usize,
    steps: u64,
    redundant_steps: u64,
    corrections: Vec<StartCorrection>,
    max_gap_error: f64,
    max_joint_error: f64,
    max_force_error: f64,
    energy: f64,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        system: &'a System,
        start: &State,
        options: &'a EventOptions,
        at: &Kinematics,
    ) -> Result<Self, EventError> {
        let contacts = system.contacts.len();
        let sorted = |times: &[f64]| {
            let mut times: Vec<f64> =
                times.iter().copied().filter(|t| *t >= start.t && *t <= options.t_end).collect();
            times.sort_by(f64::total_cmp);
            times
        };
        let mut impulses: Vec<Impulse> =
            system.impulses.iter().copied().filter(|i| i.time <= options.t_end).collect();
        impulses.sort_by(|a, b| b.time.total_cmp(&a.time));
        let jumps: Vec<f64> =
            options.breakpoints.iter().copied().chain(impulses.iter().map(|i| i.time)).collect();
        Ok(Run {
            system,
            mechanics: Mechanics::new(system, start)?,
            options,
            state: start.clone(),
            modes: Modes {
                contacts: vec![ContactMode::Open; contacts],
                joints: vec![JointMode::Smooth; system.joints.len()],
            },
            leaving: vec![false; contacts],
            list: vec![],
            sign: 1.0,
            room: Collocation::default(),
            dense: DenseStep::default(),
            before: DenseStep::default(),
            contiguous: false,
            length: FIRST_STEP,
            pace: (FIRST_STEP, 1.0),
            last_event: start.t,
            values: vec![],
            force_size: 0.0,
            visited: Visited::default(),
            bounds: StepBounds::default(),
            chatter: vec![Chatter::default(); contacts],
            flights: vec![None; contacts],
            fell: vec![false; contacts],
            since: vec![f64::INFINITY; contacts],
            events: vec![],
            samples: vec![],
            event_samples: vec![],
            sample_times: sorted(&options.sample_times),
            breakpoints: sorted(&jumps),
            impulses,
            next_sample: 0,
            next_break: 0,
            ambiguous: 0,
            same_instant: 0,
            steps: 0,
            redundant_steps: 0,
            corrections: vec![],
            max_gap_error: 0.0,
            max_joint_error: 0.0,
            max_force_error: 0.0,
            energy: at.kinetic_energy + at.potential_energy,
        })
    }

    /// Runs to the end.
    pub(super) fn finish(mut self) -> Result<Trajectory, EventError> {
        let ending = match self.begin().and_then(|()| self.run()) {
            Ok(()) => Ending::Done,
            Err(ending) => ending,
        };
        let mut energy = [self.energy; 2];
        if let Ok(at) = crate::lagrangian::kinematics(self.system, &self.state) {
            energy[1] = at.kinetic_energy + at.potential_energy;
        }
        let late = self.system.impulses.iter().copied().filter(|i| i.time > self.options.t_end);
        self.events.truncate(self.options.max_events);
        Ok(Trajectory {
            late_impulses: late.collect(),
            without_intervals: self.system.without_intervals(),
            events: self.events,
            samples: self.samples,
            event_samples: self.event_samples,
            state: self.state,
            modes: self.modes.contacts,
            ending,
            steps: self.steps,
            steps_with_non_unique_forces: self.redundant_steps,
            evaluations: self.room.evaluations,
            corrections: self.corrections,
            max_gap_error: self.max_gap_error,
            max_joint_error: self.max_joint_error,
            max_force_error: self.max_force_error,
            energy,
        })
    }

    /// Velocities up to this are zero.
    pub(super) fn still(&self) -> f64 {
        STILL * max_abs(&self.state.v).max(1.0)
    }

    /// The state at the start: joints closed, contacts that touch found, the first modes. What rests near its surface was meant to
    /// be on it; what moves there is left where it is.
    fn begin(&mut self) -> Result<(), Ending> {
        let system = self.system;
        let at = self.mechanics.equations((self.state.t, &self.state.q, &self.state.v), |_| true)?;
        for (joint, given) in system.joints.iter().zip(&at.joints) {
            self.tell_correction(&joint.name, given.value, given.row.velocity);
        }
        self.put_right()?;
        let at = self.mechanics.equations((self.state.t, &self.state.q, &self.state.v), |_| true)?;
        let rounding = ROUNDING * max_abs(&self.state.q).max(1.0);
        let (mut touching, mut closing, mut sunk) = (vec![], vec![], vec![]);
        for (i, contact) in at.contacts.iter().enumerate() {
            let Some(contact) = contact else { continue };
            let u = contact.normal.velocity;
            let rests =
                is_zero_sum(&contact.normal, &self.state.v) || u.abs() <= CORRECTION * max_abs(&self.state.v);
            if rests && contact.gap.abs() <= START_TOLERANCE {
                touching.push(i);
                self.tell_correction(&system.contacts[i].name, contact.gap, u);
                continue;
            }
            if contact.gap > rounding {
                continue;
            }
            if contact.gap < -rounding {
                sunk.push(i);
                self.tell_correction(&system.contacts[i].name, contact.gap, 0.0);
            }
            if u < 0.0 {
                closing.push(i);
            } else {
                self.leaving[i] = true;
            }
        }
        sunk.extend(&touching);
        self.meet(&sunk)?;
        for &i in &touching {
            self.modes.contacts[i] = ContactMode::Slide { direction: [0.0; 2] };
        }
        self.put_right()?;
        for &i in &touching {
            self.modes.contacts[i] = ContactMode::Open;
        }
        // What was put right at the start is told by itself.
        (self.max_gap_error, self.max_joint_error) = (0.0, 0.0);
        if closing.is_empty() {
            self.settle(&touching, None, false)
        } else {
            closing.extend(touching);
            self.strike(&closing)
        }
    }

    fn tell_correction(&mut self, name: &str, value: f64, rate: f64) {
        let (size, speed) = (max_abs(&self.state.q).max(1.0), max_abs(&self.state.v).max(1.0));
        if value.abs() > CORRECTION * size || rate.abs() > CORRECTION * speed {
            self.corrections.push(StartCorrection { name: name.to_owned(), value, rate });
        }
    }

    fn run(&mut self) -> Result<(), Ending> {
        self.keep_to_limit(self.here())?;
        while self.state.t < self.options.t_end {
            self.advance()?;
        }
        self.apply_impulses()?;
        self.record_state();
        Ok(())
    }

    /// State and modes as they are.
    pub(super) fn here(&self) -> (State, Modes) {
        (self.state.clone(), self.modes.clone())
    }

    /// Ends the run before an instant with more events than allowed.
    pub(super) fn keep_to_limit(&mut self, before: (State, Modes)) -> Result<(), Ending> {
        let events = self.options.max_events;
        if self.events.len() <= events {
            return Ok(());
        }
        (self.state, self.modes) = before;
        let t = self.state.t;
        self.samples.retain(|sample| sample.state.t <= t);
        Err(Ending::TooManyEvents { events })
    }

    fn put_right(&mut self) -> Result<(), Ending> {
        let off = project(&mut self.mechanics, &mut self.state, &self.modes)?;
        self.max_gap_error = self.max_gap_error.max(off.gap);
        self.max_joint_error = self.max_joint_error.max(off.joint);
        Ok(())
    }

    /// One step, to its end or to the first event in it.
    fn advance(&mut self) -> Result<(), Ending> {
        self.mechanics.dependent = None;
        while self.breakpoints.get(self.next_break).is_some_and(|b| *b <= self.state.t) {
            self.next_break += 1;
            self.contiguous = false;
        }
        self.apply_impulses()?;
        self.turn_directions()?;
        let stop = self.breakpoints.get(self.next_break).copied().unwrap_or(self.options.t_end);
        let room = stop.min(self.options.t_end) - self.state.t;
        let shortest = 1e-13 * self.state.t.abs().max(1.0);
        if room < shortest {
            // An event just before a given time is at that time.
            self.state.t += room;
            return Ok(());
        }
        self.find_dependent_rows()?;
        let mut h = self.length.min(self.options.max_step).min(room);
        let (error, found) = loop {
            if h < shortest && h < room {
                self.mechanics.dependent = None;
                if self.slides() && self.jam_now(1.0 + 1e-6)? {
                    return Ok(());
                }
                return Err(Ending::StepTooShort);
            }
            match self.attempt(h) {
                Ok(StepOutcome::Converged(error)) if error <= self.options.tolerance => {
                    if !self.dependent_rows_hold()? {
                        self.mechanics.dependent = None;
                        self.contiguous = false;
                        continue;
                    }
                    let found = match self.first_event()? {
                        Ok(found) => found,
                        Err(_) if h > shortest.max(SHORT) => {
                            h *= 0.25;
                            self.contiguous = false;
                            continue;
                        }
                        Err(contact) => {
                            let contact = self.system.contacts[contact].name.clone();
                            return Err(Ending::Unresolved { contact });
                        }
                    };
                    let end = found.map_or(1.0, |(theta, _)| theta);
                    match self.unresolved(end) {
                        Some(theta) if h > SHORT => h *= theta.clamp(0.1, 0.5),
                        _ => break (error / self.options.tolerance, found),
                    }
                }
                Ok(StepOutcome::Converged(error) | StepOutcome::Rough(error)) => {
                    h = next_length(h, error / self.options.tolerance);
                }
                Ok(StepOutcome::Diverged) => h *= 0.25,
                Err(error) if h < 4.0 * shortest => return Err(error.into()),
                Err(_) => h *= 0.25,
            }
            self.contiguous = false;
        };
        self.steps += 1;
        self.redundant_steps += u64::from(self.list.contains(&Condition::Together));
        let length = next_length(h, error);
        let Some((theta, cause)) = found else {
            let end = if h == room { stop.min(self.options.t_end) } else { self.state.t + h };
            self.judge_forces();
            self.record(1.0);
            self.go_to(1.0, end);
            self.put_right()?;
            self.leaving.fill(false);
            // Errors that grow from step to step are expected to grow on.
            let (h_before, error_before) = self.pace;
            let growth = if self.contiguous {
                (h / h_before) * (error_before / error).powf(1.0 / POINTS as f64)
            } else {
                1.0
            };
            self.length = if growth < 1.0 { length * growth.max(0.5) } else { length.max(h) };
            self.pace = (h, error);
            self.same_instant = 0;
            std::mem::swap(&mut self.dense, &mut self.before);
            self.contiguous = true;
            return Ok(());
        };
        if self.direction_turned(theta, cause)? {
            // The slip passed zero at a distance: a shorter step sees its direction turn.
            self.length = 0.5 * theta * h;
            self.contiguous = false;
            return Ok(());
        }
        self.length = length.max(h);
        let passed = self.state.t - self.last_event + theta * h;
        if passed > shortest {
            // The next event may well be as near; a polynomial over a much longer time would blur it.
            self.length = self.length.min(EVENT_STEPS * passed);
            self.last_event = self.state.t + theta * h;
        }
        self.same_instant = if theta * h <= shortest { self.same_instant + 1 } else { 0 };
        if self.same_instant > STUCK {
            return Err(Ending::Stuck);
        }
        self.record(theta);
        if theta > 0.0 {
            self.leaving.fill(false);
        }
        let flown = match cause {
            Cause::Touch(contact) => self.flights[contact].is_some().then_some(contact),
            Cause::Mode(_) => None,
        };
        self.go_to(theta, self.state.t + theta * h);
        self.put_right()?;
        self.mechanics.dependent = None;
        if let Some(contact) = flown {
            // The rate told when it closes; positions follow, to their rounding.
            self.meet(&[contact])?;
            self.flights[contact] = None;
        }
        self.contiguous = false;
        let before = self.here();
        self.record_event();
        self.change(theta, cause)?;
        self.keep_to_limit(before)?;
        self.record_event();
        Ok(())
    }

    /// How far forces were outside of their laws at the points of a step.
    fn judge_forces(&mut self) {
        for (condition, values) in self.list.iter().zip(&self.values) {
            let on_force = matches!(
                condition,
                Condition::Normal(_) | Condition::Limit(_) | Condition::JointLimit(_) | Condition::Together
            );
            if on_force && self.force_size > 0.0 {
                let low = values.iter().fold(0.0_f64, |m, x| m.min(*x));
                self.max_force_error = self.max_force_error.max(-low / self.force_size);
            }
        }
    }

    /// Slips up to this have not begun, or have ended.
    pub(super) fn no_slip(&self) -> f64 {
        NO_SLIP.max(SLIP_ERROR * self.options.tolerance) * max_abs(&self.state.v).max(1.0)
    }

    /// The next step is no longer than this times the last.
    pub(super) fn limit_next_step(&mut self, factor: f64) {
        self.length = self.length.min(factor * self.before.length);
    }

    fn slides(&self) -> bool {
        self.list.iter().any(|c| matches!(c, Condition::Slip(_)))
    }

    fn go_to(&mut self, theta: f64, t: f64) {
        let mut y = vec![];
        self.dense.at(theta, &mut y);
        let n = y.len() / 2;
        let passed = self.dense.length * theta;
        self.state.t = t;
        self.state.q.copy_from_slice(&y[..n]);
        self.state.v.copy_from_slice(&y[n..]);
        self.since.iter_mut().for_each(|s| *s += passed);
        for flight in &mut self.flights {
            *flight = flight.and_then(|flight| flight.from(theta));
        }
    }

    /// A step of length h in the present modes; where slip in space is so slow that sweeps do not contract, with its
    /// directions as unknowns.
    fn attempt(&mut self, h: f64) -> Result<StepOutcome, ModeError> {
        let outcome = self.attempt_with(h, None)?;
        match (outcome, Turning::new(self.system, &self.modes)) {
            (StepOutcome::Diverged, Some(turning)) => self.attempt_with(h, Some(turning)),
            _ => Ok(outcome),
        }
    }

    /// A step of length h in the present modes, with the conditions at its points.
    fn attempt_with(&mut self, h: f64, turning: Option<Turning>) -> Result<StepOutcome, ModeError> {
        let n = self.state.q.len();
        let y0: Vec<f64> = self.state.q.iter().chain(&self.state.v).copied().collect();
        let mut scale = vec![];
        scales(&self.state.q, &self.state.v, &mut scale);
        let Run { mechanics, modes, list, values, room, dense, before, system, .. } = self;
        values.clear();
        values.resize(list.len(), [0.0; POINTS]);
        let nonholonomic = |i: usize| matches!(system.contacts[i].normal, Measure::Velocity(_));
        let (mut now, mut size) = (vec![], 0.0_f64);
        let sign = self.sign;
        let guess = self.contiguous.then_some(&*before);
        let speed = scale.last().copied().unwrap_or(1.0);
        let turning = RefCell::new(turning);
        let adjust = |_: usize| turning.borrow_mut().as_mut().map(|turning| turning.adjust(h) / speed);
        let step = (self.state.t, h, &*y0);
        let tolerance = self.options.tolerance;
        let outcome = room.step(step, (&scale, tolerance), guess, dense, adjust, |point, t, y, dy| {
            let (q, v) = y.split_at(n);
            let at = mechanics.equations((t, q, v), |i| modes.contacts[i].is_closed() || nonholonomic(i))?;
            let response = match turning.borrow_mut().as_mut() {
                Some(turning) => turning.respond(mechanics, point, &at)?,
                None => mechanics.respond(&at, modes)?,
            };
            dy[..n].copy_from_slice(v);
            dy[n..].copy_from_slice(&response.acceleration);
            if !list.is_empty() {
                condition_values(list, &at, modes, &response, sign, &mut now);
                for (all, x) in values.iter_mut().zip(&now) {
                    all[point] = *x;
                }
                let forces = response.contacts.iter().chain(&response.joints).flatten();
                size = forces.fold(max_abs(&at.force_size), |m, f| m.max(f.abs()));
            }
            Ok::<(), ModeError>(())
        })?;
        self.force_size = size;
        Ok(outcome)
    }

    /// The first event of the step: θ and what it is; or the contact of which that could not be told.
    fn first_event(&mut self) -> Result<Result<Found, usize>, Ending> {
        let mut first: Found = None;
        self.visited.used = 0;
        self.bounds.clear();
        let h = self.dense.length;
        // Rounding of positions, and of the time at which fast walls and bodies are met.
        let size = max_abs(&self.state.q).max(1.0) + max_abs(&self.state.v) * self.state.t.abs();
        let rounding = ROUNDING * size;
        let rate = ROUNDING * max_abs(&self.state.v) * h;
        let (mechanics, dense, visited) = (&self.mechanics, &self.dense, &mut self.visited);
        let bounds = &mut self.bounds;
        for i in 0..self.modes.contacts.len() {
            let Measure::Displacement(gap) = &self.system.contacts[i].normal else { continue };
            if self.modes.contacts[i].is_closed() {
                continue;
            }
            let leaving = self.leaving[i];
            let fell = std::mem::take(&mut self.fell[i]);
            // A gap that is no matter of positions has no error but rounding.
            let given = gap.variables().is_some_and(|v| v.positions.is_empty());
            let graze = if given { rounding } else { GRAZE.max(rounding) };
            let mut raw = |theta: f64| {
                let (gap, rate) = mechanics.gap(i, visited.at(dense, theta));
                (gap, rate * h)
            };
            let flight = self.flights[i].and_then(|flight| flight.over(&mut raw, size));
            self.flights[i] = flight;
            let blur = flight.map_or(0.0, |flight| flight.blur());
            // A flight may be lower than what rounding leaves of the formula.
            let tolerance =
                GapTolerance { graze, rounding: if flight.is_some() { 0.0 } else { rounding }, rate };
            if !leaving && bounds.is_clear(dense, gap, (0.0, 1.0), graze + blur) {
                continue;
            }
            let bounded = bounds.has_bounds(dense, gap);
            let mut eval = |theta: f64| {
                let (gap, rate) = raw(theta);
                GapPoint { theta, gap: flight.map_or(gap, |flight| flight.gap(theta, gap)), rate }
            };
            let mut shape = |a: f64, b: f64| {
                if bounded { bounds.shape(dense, gap, (a, b), (&tolerance, blur)) } else { Shape::Unknown }
            };
            let (a, b) = (eval(0.0), eval(first.map_or(1.0, |f| f.0)));
            if b.theta > a.theta {
                let mut search = Search::new(&mut eval, &mut shape, tolerance);
                let found = search.first_touch(a, b, leaving, fell);
                self.fell[i] = search.fell();
                match found {
                    // Closing and grazing are told apart by the rate there.
                    Ok(Some(touch)) if first.is_none_or(|f| touch.theta() < f.0) => {
                        first = Some((touch.theta(), Cause::Touch(i)));
                    }
                    Ok(_) => {}
                    Err(TooLong) => return Ok(Err(i)),
                }
            }
        }
        let no_slip = self.no_slip();
        for k in 0..self.list.len() {
            let condition = self.list[k];
            let noise = match condition {
                Condition::Slip(_) | Condition::JointSlip(_) | Condition::Rate(_) => no_slip,
                Condition::Determinant => NO_DETERMINANT,
                _ => NO_FORCE * self.force_size,
            };
            let coefficients = GAUSS.coefficients(&self.values[k]);
            let found = first_end(&coefficients, noise, |theta| self.condition_at(k, theta))?;
            let theta = match found {
                Some(End::AtOnce) => 0.0,
                Some(End::At(theta)) => theta,
                None => continue,
            };
            if first.is_none_or(|f| theta < f.0) {
                first = Some((theta, Cause::Mode(condition)));
            }
        }
        Ok(Ok(first))
    }

    /// The true value of a condition inside of the step.
    fn condition_at(&mut self, k: usize, theta: f64) -> Result<f64, Ending> {
        let mut y = vec![];
        self.dense.at(theta, &mut y);
        let (q, v) = y.split_at(y.len() / 2);
        let t = self.dense.start + theta * self.dense.length;
        let system = self.system;
        let modes = &self.modes;
        let wanted = |i: usize| {
            modes.contacts[i].is_closed() || matches!(system.contacts[i].normal, Measure::Velocity(_))
        };
        let at = self.mechanics.equations((t, q, v), wanted)?;
        let response = self.mechanics.respond(&at, &self.modes)?;
        let mut values = vec![];
        condition_values(&self.list[k..=k], &at, &self.modes, &response, self.sign, &mut values);
        Ok(values[0])
    }

    /// The conditions that watch the present modes.
    pub(super) fn watch(&mut self) -> Result<(), Ending> {
        let closed = |i: usize| self.modes.contacts[i].is_closed();
        let at = self.mechanics.equations((self.state.t, &self.state.q, &self.state.v), closed)?;
        let response = self.mechanics.respond(&at, &self.modes)?;
        self.list = conditions(self.system, &self.modes, response.is_redundant());
        self.sign = response.determinant_sign();
        self.contiguous = false;
        Ok(())
    }
}
