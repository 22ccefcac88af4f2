//! Event-driven integration: a step, the first event in it, what the event changes, and again.
//!
//! ```text
//! ẏ = f_m(t, y)  over h  →  θ = first zero of guards and gaps  →  y(t + θh)  →  (v, m) ← transition  →  record
//! ```
//!
//! y = (q, v) ∈ ℝ²ⁿ is the state, m the modes of contacts and joints (002 §4). h follows from the error of
//! the step, ends at times where forces may jump, and shrinks where the points of the step do not resolve the
//! formulas that act in it.

use delassus_solve::linalg::max_abs;

use super::equations::ModeError;
use super::external_impulse::{Schedule, apply_impulse};
use super::gauss_collocation::{StepOutcome, next_length};
use super::guards::{Cause, FirstEvent};
use super::mode_change::jam_at_border;
use super::motion::{Checkpoint, Motion};
use super::recorder::{Recorder, RunEnd};
use super::singular::{Crossing, PLACES, Passage};
use super::spatial_slip::growth_limit;
use super::start::begin;
use super::step_history::{AcceptedStep, NoProgress, StepHistory};
use super::transition::apply_event;
use super::zeno::ZenoDetector;
use super::{Ending, EventError, EventOptions, Trajectory};
use crate::lagrangian::{Kinematics, KinematicsError, State, System, kinematics};

/// Steps and times up to this part of the time, or of 1 s, are lost in its rounding.
const SHORTEST_STEP: f64 = 1e-13;
/// Steps up to this are not shortened any more for formulas that their points do not resolve, s: a formula
/// with faster features, such as a jump, would otherwise never be passed.
const SHORTEST_RESOLVING_STEP: f64 = 1e-6;
/// Velocities that projection changes by more than this part of the largest, or by more than a thousand local
/// errors, are no motion of the step.
const MAX_CORRECTION: f64 = 1e-6;
/// By how much a step is shortened whose equations were not solved.
const SHORTENING: f64 = 0.25;
/// A singular position is stepped over when it is no further ahead than so many steps: they become shorter
/// the nearer it is, and never reach it.
const STEPS_AHEAD: f64 = 3.0;
/// A step over a singular position is at most this many times the one that was to be tried: those before it
/// became short because of it.
const LONGEST_STRIDE: f64 = 32.0;
/// A step over a singular position is at least this accurate: rounding ε of positions is ε/σ³ in
/// accelerations where the smallest singular value is σ, which is 1e-2 and less at its points.
const STRIDE_TOLERANCE: f64 = 1e-9;

impl From<ModeError> for Ending {
    fn from(error: ModeError) -> Self {
        Ending::Failed(error)
    }
}

impl From<KinematicsError> for Ending {
    fn from(error: KinematicsError) -> Self {
        Ending::Failed(error.into())
    }
}

impl From<NoProgress> for Ending {
    fn from(NoProgress: NoProgress) -> Self {
        Ending::Stuck
    }
}

/// The time in which the next step lies.
#[derive(Clone, Copy, Debug)]
struct Span {
    /// Where it ends at the latest.
    stop: f64,
    /// Time up to there.
    length: f64,
    /// Shorter intervals count as zero.
    shortest: f64,
}

/// A step over a singular position.
#[derive(Debug)]
struct Stride {
    length: f64,
    error: f64,
    passage: Passage,
}

/// What became of a step that was tried.
enum Attempt {
    Accepted(AcceptedStep, Option<FirstEvent>),
    /// To be tried again with this length.
    Retry {
        length: f64,
    },
}

/// A run under way.
pub(super) struct Run<'a> {
    motion: Motion<'a>,
    history: StepHistory,
    zeno: ZenoDetector,
    schedule: Schedule,
    recorder: Recorder,
    start_energy: f64,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        system: &'a System,
        start: &State,
        options: &'a EventOptions,
        at: &Kinematics,
    ) -> Result<Self, EventError> {
        Ok(Run {
            motion: Motion::new(system, start, options)?,
            history: StepHistory::new(start.t),
            zeno: ZenoDetector::new(system.contacts.len(), options.accumulation_window),
            schedule: Schedule::new(system, options, start.t),
            recorder: Recorder::new(options, start.t),
            start_energy: at.kinetic_energy + at.potential_energy,
        })
    }

    /// Runs to the end.
    pub(super) fn finish(mut self) -> Trajectory {
        let ending = match self.run() {
            Ok(()) => Ending::Done,
            Err(ending) => ending,
        };
        let (system, options) = (self.motion.system(), self.motion.options());
        let mut energy = [self.start_energy; 2];
        if let Ok(at) = kinematics(system, self.motion.state()) {
            energy[1] = at.kinetic_energy + at.potential_energy;
        }
        let late = system.impulses.iter().copied().filter(|i| i.time > options.t_end);
        let (state, modes) = self.motion.into_end();
        let evaluations = self.history.evaluations();
        let (late_impulses, without_intervals) = (late.collect(), system.without_intervals());
        let end = RunEnd { state, modes, ending, evaluations, energy, late_impulses, without_intervals };
        self.recorder.into_trajectory(options.max_events, end)
    }

    fn run(&mut self) -> Result<(), Ending> {
        let next_breakpoint = self.schedule.next_breakpoint();
        begin(&mut self.motion, &mut self.zeno, &mut self.recorder, next_breakpoint)?;
        self.limit_events(self.motion.checkpoint())?;
        while self.motion.t() < self.motion.options().t_end {
            if self.motion.options().is_interrupted() {
                return Err(Ending::Interrupted);
            }
            self.advance()?;
        }
        self.apply_due_impulses()?;
        self.recorder.sample_end(&mut self.motion);
        Ok(())
    }

    /// One step, to its end or to the first event in it.
    fn advance(&mut self) -> Result<(), Ending> {
        let Some(span) = self.next_span()? else { return Ok(()) };
        let Some((step, event)) = self.integrate(span)? else { return Ok(()) };
        self.recorder.count_step(self.motion.guards().watch_redundant_forces());
        match event {
            None => self.complete(step, span),
            Some(event) if self.motion.slip_remains(self.history.current(), event)? => {
                // The slip passed zero at a distance: a shorter step sees its direction rotate.
                self.history.repeat_with(0.5 * event.theta * step.length);
                Ok(())
            }
            Some(event) => self.pass_event(step, span, event),
        }
    }

    /// Applies what is due now, and finds the time up to the next stop; `None` where that is no time for a
    /// step.
    fn next_span(&mut self) -> Result<Option<Span>, Ending> {
        self.motion.forget_dependent_rows();
        if self.schedule.pass_breakpoints(self.motion.t()) {
            self.history.interrupt();
        }
        self.apply_due_impulses()?;
        if let Some(factor) = growth_limit(self.motion.update_slip_directions()?) {
            self.history.limit_growth(factor);
        }
        let (t, stop) = (self.motion.t(), self.schedule.next_stop());
        let span = Span { stop, length: stop - t, shortest: SHORTEST_STEP * t.abs().max(1.0) };
        if span.length < span.shortest {
            // An event just before a given time is at that time.
            self.motion.skip(span.length);
            return Ok(None);
        }
        self.motion.find_dependent_rows()?;
        Ok(Some(span))
    }

    /// Solves the equations of motion over the longest step that is accurate, and finds the first event in
    /// it; `None` where a contact jams instead.
    fn integrate(&mut self, span: Span) -> Result<Option<(AcceptedStep, Option<FirstEvent>)>, Ending> {
        let max_step = self.motion.options().max_step;
        let mut h = self.history.next_length().min(max_step).min(span.length);
        loop {
            if h < span.shortest && h < span.length {
                self.motion.forget_dependent_rows();
                let slides = self.motion.guards().watch_contact_slip();
                if slides && jam_at_border(&mut self.motion, &mut self.recorder)? {
                    self.history.interrupt();
                    return Ok(None);
                }
                return Err(Ending::StepTooShort);
            }
            match self.attempt(h, span)? {
                Attempt::Accepted(step, event) => return Ok(Some((step, event))),
                Attempt::Retry { length } => h = length,
            }
            self.history.interrupt();
        }
    }

    /// Tries steps over a singular position that is not far ahead of a step of length h, with their points on
    /// the constraints and away from it; the most accurate of them, if one is, is the present step.
    fn step_over_singular_position(&mut self, h: f64, span: Span) -> Result<Option<Stride>, ModeError> {
        let ahead = self.motion.time_to_singular_position().ok().flatten();
        let Some(ahead) = ahead.filter(|ahead| *ahead <= STEPS_AHEAD * h) else { return Ok(None) };
        let longest = span.length.min(self.motion.options().max_step).min(LONGEST_STRIDE * h);
        // From within the singular position a step of any length goes.
        let start = ahead < span.shortest;
        let lengths = PLACES.map(|place| if start { place * h } else { ahead / place });
        let mut best: Option<Stride> = None;
        for length in lengths.into_iter().filter(|length| *length <= longest) {
            let Some(stride) = self.try_stride(length)? else { continue };
            if stride.error <= self.motion.options().tolerance {
                return Ok(Some(stride));
            }
            if best.as_ref().is_none_or(|best| stride.error < best.error) {
                best = Some(stride);
            }
        }
        // The polynomial of the best one again.
        best.map_or(Ok(None), |stride| self.try_stride(stride.length))
    }

    /// A step of this length over a singular position; `None` where it is not accurate or passes none.
    fn try_stride(&mut self, length: f64) -> Result<Option<Stride>, ModeError> {
        let tolerance = self.motion.options().tolerance.max(STRIDE_TOLERANCE);
        let Ok(StepOutcome::Converged(error)) =
            self.motion.integrate_on_constraints(&mut self.history, length, tolerance)
        else {
            return Ok(None);
        };
        let crossing = self.motion.crossing(self.history.current())?;
        Ok(match crossing {
            Crossing::Passes(passage) if error <= tolerance => Some(Stride { length, error, passage }),
            _ => None,
        })
    }

    /// Tries a step of length h.
    fn attempt(&mut self, mut h: f64, span: Span) -> Result<Attempt, Ending> {
        let shorter = Attempt::Retry { length: SHORTENING * h };
        let tolerance = self.motion.options().tolerance;
        let mut passage = None;
        let stride =
            if self.motion.has_weak_rows() { self.step_over_singular_position(h, span)? } else { None };
        let error = if let Some(stride) = stride {
            (h, passage) = (stride.length, Some(stride.passage));
            (stride.error / tolerance).min(1.0)
        } else {
            match self.motion.integrate(&mut self.history, h) {
                Ok(StepOutcome::Converged(error)) if error <= tolerance => error / tolerance,
                Ok(StepOutcome::Converged(error) | StepOutcome::Rough(error)) => {
                    return Ok(Attempt::Retry { length: next_length(h, error / tolerance) });
                }
                Ok(StepOutcome::Diverged) => return Ok(shorter),
                Err(error) if h < 4.0 * span.shortest => return Err(error.into()),
                Err(_) => return Ok(shorter),
            }
        };
        let step = self.history.current();
        if !self.motion.dependent_rows_hold(step)? {
            self.motion.forget_dependent_rows();
            return Ok(Attempt::Retry { length: h });
        }
        if passage.is_none() && self.motion.has_weak_rows() {
            match self.motion.crossing(step)? {
                Crossing::Apart => {}
                Crossing::Passes(found) => passage = Some(found),
                Crossing::Misses => return Ok(shorter),
            }
        }
        let event = match self.motion.first_event(step)? {
            Ok(event) => event,
            Err(_) if h > span.shortest.max(SHORTEST_RESOLVING_STEP) => return Ok(shorter),
            Err(undecided) => {
                let contact = self.motion.system().contacts[undecided.contact].name.clone();
                return Err(Ending::Unresolved { contact });
            }
        };
        let end = event.map_or(1.0, |event| event.theta);
        match self.motion.first_unresolved(step, end) {
            Some(theta) if h > SHORTEST_RESOLVING_STEP => {
                Ok(Attempt::Retry { length: h * theta.clamp(0.1, 0.5) })
            }
            _ => {
                if let Some(passage) = passage.filter(|passage| passage.theta < end) {
                    self.recorder.report_passage(step.time(passage.theta), passage);
                }
                Ok(Attempt::Accepted(AcceptedStep { length: h, error }, event))
            }
        }
    }

    /// Goes to the end of a step without event.
    fn complete(&mut self, step: AcceptedStep, span: Span) -> Result<(), Ending> {
        let h = step.length;
        let end = if h == span.length { span.stop } else { self.motion.t() + h };
        self.recorder.keep_force_violation(self.motion.guards().force_violation());
        self.recorder.sample_step(&mut self.motion, self.history.current(), 1.0);
        self.go_to(1.0, end)?;
        self.motion.gaps().clear_leaving();
        self.history.accept(step);
        Ok(())
    }

    /// Goes to the event in a step, and applies it.
    fn pass_event(&mut self, step: AcceptedStep, span: Span, event: FirstEvent) -> Result<(), Ending> {
        let (t, theta) = (self.motion.t(), event.theta);
        self.history.end_at_event(step, t, theta, span.shortest)?;
        self.recorder.sample_step(&mut self.motion, self.history.current(), theta);
        if theta > 0.0 {
            self.motion.gaps().clear_leaving();
        }
        let low = match event.cause {
            Cause::Touch(contact) if self.motion.gaps().is_low_flight(contact) => Some(contact),
            _ => None,
        };
        self.go_to(theta, t + theta * step.length)?;
        self.motion.forget_dependent_rows();
        if let Some(contact) = low {
            // The rate gave the time at which it closes; positions follow, to their rounding.
            self.motion.place_on_surfaces(&[contact])?;
            self.motion.gaps().end_flight(contact);
        }
        self.between_samples(|run| {
            let (step, next_breakpoint) = (run.history.current(), run.schedule.next_breakpoint());
            apply_event(&mut run.motion, &mut run.zeno, &mut run.recorder, next_breakpoint, step, event)
        })
    }

    /// Goes to θ of the present step, which is the time t, and onto the constraints there.
    fn go_to(&mut self, theta: f64, t: f64) -> Result<(), Ending> {
        let step = self.history.current();
        self.zeno.advance(step.length * theta);
        self.motion.advance_to(step, theta, t);
        let distance = self.motion.project()?;
        let opened = distance.joint;
        self.recorder.keep_distance(distance);
        // Errors of steps are far smaller; next to a singular position anything can come out.
        let (step, options) = (self.history.current(), self.motion.options());
        let most = MAX_CORRECTION.max(1e3 * options.tolerance);
        let (size, speed) =
            (max_abs(&self.motion.state().q).max(1.0), max_abs(&self.motion.state().v).max(1.0));
        if opened > most * size || self.motion.velocity_change(step, theta) > most * speed {
            return Err(Ending::StepTooShort);
        }
        Ok(())
    }

    /// Applies the external impulses whose time has come.
    fn apply_due_impulses(&mut self) -> Result<(), Ending> {
        let (t, coordinates) = (self.motion.t(), self.motion.state().v.len());
        let Some(external) = self.schedule.take_impulse(t, coordinates) else { return Ok(()) };
        self.between_samples(|run| {
            let next_breakpoint = run.schedule.next_breakpoint();
            apply_impulse(&mut run.motion, &mut run.zeno, &mut run.recorder, next_breakpoint, &external)
        })?;
        self.history.interrupt();
        Ok(())
    }

    /// Applies an event, with samples just before and just after it.
    fn between_samples(&mut self, apply: impl FnOnce(&mut Self) -> Result<(), Ending>) -> Result<(), Ending> {
        let before = self.motion.checkpoint();
        self.recorder.sample_event(&mut self.motion);
        apply(self)?;
        self.limit_events(before)?;
        self.recorder.sample_event(&mut self.motion);
        Ok(())
    }

    /// Ends the run before an instant with more events than allowed.
    fn limit_events(&mut self, before: Checkpoint) -> Result<(), Ending> {
        let events = self.motion.options().max_events;
        if !self.recorder.has_more_events_than(events) {
            return Ok(());
        }
        self.motion.rollback(before);
        self.recorder.drop_samples_after(self.motion.t());
        Err(Ending::TooManyEvents { events })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::EventKind;
    use crate::events::fixtures::{G, ball, state};

    fn run<'a>(system: &'a System, start: &State, options: &'a EventOptions) -> Run<'a> {
        Run::new(system, start, options, &kinematics(system, start).unwrap()).unwrap()
    }

    /// A fall of 1 m takes √(2/g), and each flight after it the factor e of the one before.
    #[test]
    fn a_run_ends_before_the_instant_with_one_event_too_many() {
        let system = ball(0.5);
        let options = EventOptions { t_end: 10.0, max_events: 1, ..Default::default() };
        let found = run(&system, &state(&[1.0], &[0.0]), &options).finish();
        let fall = (2.0 / G).sqrt();
        assert_eq!(found.ending, Ending::TooManyEvents { events: 1 });
        assert_eq!(found.events.len(), 1);
        // Impacts are located to 1e-12 s; the second comes after a flight of 2 e √(2/g), at the speed of
        // its begin.
        assert!((found.events[0].t - fall).abs() < 1e-12);
        assert!((found.state.t - 2.0 * fall).abs() < 3e-12 && found.state.q[0].abs() < 1e-11);
        assert!((found.state.v[0] + 0.5 * G * fall).abs() < 1e-10, "{:?}", found.state);
    }

    #[test]
    fn a_step_ends_at_a_breakpoint_and_a_rest_within_rounding_of_it_is_none() {
        let system = ball(0.5);
        let options = EventOptions { t_end: 1.0, breakpoints: vec![0.25], ..Default::default() };
        let mut motion = run(&system, &state(&[9.0], &[0.0]), &options);
        let span = motion.next_span().unwrap().unwrap();
        assert_eq!((span.stop, span.length), (0.25, 0.25));
        let near = State { t: 0.25 - 5e-14, ..state(&[9.0], &[0.0]) };
        let mut motion = run(&system, &near, &options);
        assert!(motion.next_span().unwrap().is_none());
        assert_eq!(motion.motion.t(), 0.25);
        // From there to the end.
        let span = motion.next_span().unwrap().unwrap();
        assert_eq!((span.stop, span.length), (1.0, 0.75));
    }

    #[test]
    fn one_advance_goes_to_the_first_event_and_applies_it() {
        let system = ball(1.0);
        let options = EventOptions { t_end: 0.6, ..Default::default() };
        let mut motion = run(&system, &state(&[1.0], &[0.0]), &options);
        let fall = (2.0 / G).sqrt();
        // Steps before the impact keep y = 1 − g t²/2.
        while motion.recorder.last_event().is_none() {
            motion.advance().unwrap();
            let (t, y) = (motion.motion.t(), motion.motion.state().q[0]);
            assert!((y - (1.0 - 0.5 * G * t * t)).abs() < 1e-11, "{y} at {t}");
        }
        assert_eq!(motion.recorder.last_event().unwrap().kind, EventKind::Impact);
        assert!(
            (motion.motion.t() - fall).abs() < 1e-12 && (motion.motion.state().v[0] - G * fall).abs() < 1e-10
        );
    }
}
