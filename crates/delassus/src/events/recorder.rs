//! The recorder: events, samples at given times, and totals of an event-driven run.
//!
//! ```text
//! (q, v)(t_k) = y(θ_k) ,     θ_k = (t_k − t₀)/h ∈ [0, 1)      for every sample time t_k of a step
//! q(x) = q₀ + ℓ (x m + x(1 − x)((1 − x)(v₀ − m) − x(v₁ − m))) ,   m = (q₁ − q₀)/ℓ    across a jump in time
//! ```
//!
//! t₀ and h are start and length of the step, ℓ the length of the jump and x ∈ [0, 1] the place in it.

use super::gauss_collocation::DenseStep;
use super::motion::Motion;
use super::projection::Distance;
use super::singular::Passage;
use super::{ContactMode, Ending, Event, EventKind, EventOptions, Sample, StartCorrection, Trajectory};
use crate::lagrangian::{FormulaName, Impulse, State};

/// How and where a run ended.
pub(super) struct RunEnd {
    pub(super) state: State,
    pub(super) modes: Vec<ContactMode>,
    pub(super) ending: Ending,
    pub(super) evaluations: u64,
    /// At the start and at the end, J.
    pub(super) energy: [f64; 2],
    pub(super) late_impulses: Vec<Impulse>,
    pub(super) without_intervals: Vec<FormulaName>,
}

/// What a run has recorded so far.
pub(super) struct Recorder {
    events: Vec<Event>,
    /// How many of the events are indeterminate states.
    indeterminate: usize,
    samples: Vec<Sample>,
    event_samples: Vec<Sample>,
    samples_at_events: bool,
    sample_times: Vec<f64>,
    next_sample: usize,
    corrections: Vec<StartCorrection>,
    steps: u64,
    steps_with_non_unique_forces: u64,
    max_gap_error: f64,
    max_joint_error: f64,
    max_force_error: f64,
}

impl Recorder {
    /// For a run with these options that starts at t.
    pub(super) fn new(options: &EventOptions, start: f64) -> Recorder {
        Recorder {
            events: vec![],
            indeterminate: 0,
            samples: vec![],
            event_samples: vec![],
            samples_at_events: options.sample_events,
            sample_times: times_in_order(&options.sample_times, start, options.t_end),
            next_sample: 0,
            corrections: vec![],
            steps: 0,
            steps_with_non_unique_forces: 0,
            max_gap_error: 0.0,
            max_joint_error: 0.0,
            max_force_error: 0.0,
        }
    }

    /// Reports an event at time t.
    pub(super) fn report(&mut self, t: f64, kind: EventKind, contact: &str) -> &mut Event {
        self.indeterminate += usize::from(kind == EventKind::Indeterminate);
        let at = self.events.len();
        self.events.push(Event {
            t,
            kind,
            contact: contact.to_owned(),
            impulse: vec![],
            joint_impulses: vec![],
            energy_change: 0.0,
            violations: vec![],
            answers: 0,
            chosen: vec![],
            order: None,
            branch: vec![],
        });
        &mut self.events[at]
    }

    /// Reports the singular position that was passed at time t.
    pub(super) fn report_passage(&mut self, t: f64, passage: Passage) {
        let event = self.report(t, EventKind::Branch, &passage.name);
        (event.answers, event.branch) = (passage.branches, passage.velocity);
    }

    /// Takes back the last event.
    pub(super) fn withdraw(&mut self) {
        let last = self.events.pop();
        self.indeterminate -= usize::from(last.is_some_and(|e| e.kind == EventKind::Indeterminate));
    }

    /// How many indeterminate states were reported.
    pub(super) fn indeterminate_states(&self) -> usize {
        self.indeterminate
    }

    /// The last event.
    pub(super) fn last_event(&mut self) -> Option<&mut Event> {
        self.events.last_mut()
    }

    /// The newest event of this kind and contact among those at time t.
    pub(super) fn event_at(&mut self, t: f64, kind: EventKind, contact: &str) -> Option<&mut Event> {
        let now = self.events.iter_mut().rev().take_while(|e| e.t == t);
        now.into_iter().find(|e| e.kind == kind && e.contact == contact)
    }

    /// Whether there are more events than this.
    pub(super) fn has_more_events_than(&self, events: usize) -> bool {
        self.events.len() > events
    }

    /// Removes samples after time t.
    pub(super) fn drop_samples_after(&mut self, t: f64) {
        self.samples.retain(|sample| sample.state.t <= t);
    }

    /// Reports that something was put right at the start.
    pub(super) fn correct(&mut self, correction: StartCorrection) {
        self.corrections.push(correction);
    }

    /// Counts a step.
    pub(super) fn count_step(&mut self, non_unique_forces: bool) {
        self.steps += 1;
        self.steps_with_non_unique_forces += u64::from(non_unique_forces);
    }

    /// Keeps the largest distance from the constraints.
    pub(super) fn keep_distance(&mut self, off: Distance) {
        self.max_gap_error = self.max_gap_error.max(off.gap);
        self.max_joint_error = self.max_joint_error.max(off.joint);
    }

    /// Forgets distances from the constraints: those at the start are reported as corrections.
    pub(super) fn forget_distances(&mut self) {
        (self.max_gap_error, self.max_joint_error) = (0.0, 0.0);
    }

    /// Keeps the most that forces were outside of their laws.
    pub(super) fn keep_force_violation(&mut self, violation: f64) {
        self.max_force_error = self.max_force_error.max(violation);
    }

    /// Records the samples of this step up to θ; those at its end belong to the next step.
    pub(super) fn sample_step(&mut self, motion: &mut Motion<'_>, step: &DenseStep, theta: f64) {
        let end = step.time(theta);
        while let Some(t) = self.sample_time_before(end) {
            let mut y = vec![];
            step.at((t - step.start) / step.length, &mut y);
            let (q, v) = y.split_at(y.len() / 2);
            self.sample(motion, State { t, q: q.to_vec(), v: v.to_vec() });
        }
    }

    /// Records samples between here and a state that is jumped to, along the cubic with the positions and
    /// velocities of both, so that what flies beside it falls as it should; where contacts would overlap on
    /// that, along the straight line.
    pub(super) fn sample_jump(&mut self, motion: &mut Motion<'_>, end: &State) {
        let start = motion.state().clone();
        while let Some(t) = self.sample_time_before(end.t) {
            let curved = between(&start, end, t, 1.0);
            let state = if motion.overlaps(&curved) { between(&start, end, t, 0.0) } else { curved };
            self.sample(motion, state);
        }
    }

    /// Records the present state where its time was asked for.
    pub(super) fn sample_end(&mut self, motion: &mut Motion<'_>) {
        while self.sample_times.get(self.next_sample).is_some_and(|t| *t <= motion.t()) {
            self.sample(motion, motion.state().clone());
        }
    }

    /// Records the present state beside an event, where that was asked for.
    pub(super) fn sample_event(&mut self, motion: &mut Motion<'_>) {
        if self.samples_at_events {
            let sample = motion.sample(motion.state().clone());
            self.event_samples.extend(sample);
        }
    }

    fn sample_time_before(&self, end: f64) -> Option<f64> {
        self.sample_times.get(self.next_sample).copied().filter(|t| *t < end)
    }

    fn sample(&mut self, motion: &mut Motion<'_>, state: State) {
        self.next_sample += 1;
        self.samples.extend(motion.sample(state));
    }

    /// The trajectory of a run that ended like this, with no more events than `max_events`.
    pub(super) fn into_trajectory(mut self, max_events: usize, end: RunEnd) -> Trajectory {
        self.events.truncate(max_events);
        Trajectory {
            corrections: self.corrections,
            events: self.events,
            samples: self.samples,
            event_samples: self.event_samples,
            state: end.state,
            modes: end.modes,
            ending: end.ending,
            steps: self.steps,
            steps_with_non_unique_forces: self.steps_with_non_unique_forces,
            evaluations: end.evaluations,
            max_gap_error: self.max_gap_error,
            max_joint_error: self.max_joint_error,
            max_force_error: self.max_force_error,
            energy: end.energy,
            late_impulses: end.late_impulses,
            without_intervals: end.without_intervals,
        }
    }
}

/// Times from `start` to `end`, in their order.
pub(super) fn times_in_order(times: &[f64], start: f64, end: f64) -> Vec<f64> {
    let mut times: Vec<f64> = times.iter().copied().filter(|t| *t >= start && *t <= end).collect();
    times.sort_by(f64::total_cmp);
    times
}

/// The state at time t between two others: on the straight line for `bend` = 0, on the cubic with their
/// velocities for 1.
fn between(start: &State, end: &State, t: f64, bend: f64) -> State {
    let length = end.t - start.t;
    let x = (t - start.t) / length;
    let mut state = State { t, q: vec![], v: vec![] };
    for i in 0..start.q.len() {
        // What both ends have beyond the straight line between them.
        let mean = (end.q[i] - start.q[i]) / length;
        let (first, last) = (bend * (start.v[i] - mean), bend * (end.v[i] - mean));
        let beyond = x * (1.0 - x) * ((1.0 - x) * first - x * last);
        state.q.push(start.q[i] + length * (x * mean + beyond));
        let rate = (1.0 - x) * (1.0 - 3.0 * x) * first + x * (3.0 * x - 2.0) * last;
        state.v.push(mean + rate);
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::fixtures::{G, ball, free_fall, state};

    fn recorder(sample_times: &[f64]) -> (EventOptions, Recorder) {
        let options = EventOptions { sample_times: sample_times.to_vec(), ..EventOptions::default() };
        let recorder = Recorder::new(&options, 0.0);
        (options, recorder)
    }

    /// Samples lie on the step, in the order of time; those at its end and outside of the run are not taken.
    #[test]
    fn samples_of_a_step() {
        let (options, mut recorder) = recorder(&[0.25, 0.1, 0.5, -1.0, 9.0]);
        let (system, start) = (ball(0.5), state(&[2.0], &[0.0]));
        let mut motion = Motion::new(&system, &start, &options).unwrap();
        let step = free_fall(2.0, 0.0, 0.5);
        recorder.sample_step(&mut motion, &step, 0.4);
        recorder.sample_step(&mut motion, &step, 1.0);
        let times: Vec<f64> = recorder.samples.iter().map(|s| s.state.t).collect();
        assert_eq!(times, [0.1, 0.25]);
        for sample in &recorder.samples {
            let t = sample.state.t;
            assert!((sample.state.q[0] - (2.0 - 0.5 * G * t * t)).abs() < 1e-15);
            assert!((sample.acceleration[0] + G).abs() < 1e-14);
            // Mass 2: energy is that at the start.
            assert!((sample.energy - 4.0 * G).abs() < 1e-13);
        }
        motion.advance_to(&step, 1.0, 0.5);
        recorder.sample_end(&mut motion);
        assert_eq!(recorder.samples.last().map(|s| s.state.t), Some(0.5));
    }

    /// q = t³ − t between t = 1 and t = 3, and the straight line there.
    #[test]
    fn a_jump_is_crossed_by_a_cubic() {
        let at = |t: f64| State { t, q: vec![t * t * t - t], v: vec![3.0 * t * t - 1.0] };
        for t in [1.0, 1.5, 2.25, 3.0] {
            let found = between(&at(1.0), &at(3.0), t, 1.0);
            assert!((found.q[0] - at(t).q[0]).abs() < 1e-14 && (found.v[0] - at(t).v[0]).abs() < 1e-14);
            let line = between(&at(1.0), &at(3.0), t, 0.0);
            assert!((line.q[0] - 12.0 * (t - 1.0)).abs() < 1e-14 && (line.v[0] - 12.0).abs() < 1e-14);
        }
    }

    #[test]
    fn indeterminate_states_are_counted_until_withdrawn() {
        let (_, mut recorder) = recorder(&[]);
        recorder.report(0.0, EventKind::Indeterminate, "");
        recorder.report(1.0, EventKind::Open, "a");
        recorder.report(1.0, EventKind::Indeterminate, "");
        assert_eq!(recorder.indeterminate_states(), 2);
        recorder.withdraw();
        assert_eq!(recorder.indeterminate_states(), 1);
        recorder.withdraw();
        assert_eq!(recorder.indeterminate_states(), 1);
    }

    /// Only events of the same instant are found, by kind and name.
    #[test]
    fn events_of_an_instant() {
        let (_, mut recorder) = recorder(&[]);
        recorder.report(0.5, EventKind::Open, "b");
        recorder.report(1.0, EventKind::Open, "a");
        recorder.report(1.0, EventKind::Close, "b");
        assert!(recorder.event_at(1.0, EventKind::Open, "a").is_some());
        assert!(recorder.event_at(1.0, EventKind::Open, "b").is_none());
        assert!(recorder.has_more_events_than(2) && !recorder.has_more_events_than(3));
    }

    /// Totals are the largest of what was reported.
    #[test]
    fn totals() {
        let (options, mut recorder) = recorder(&[]);
        recorder.keep_distance(Distance { gap: 3e-9, joint: 1e-9 });
        recorder.forget_distances();
        recorder.keep_distance(Distance { gap: 1e-10, joint: 2e-10 });
        recorder.keep_distance(Distance { gap: 0.0, joint: 4e-10 });
        recorder.keep_force_violation(0.25);
        recorder.keep_force_violation(0.125);
        recorder.count_step(true);
        recorder.count_step(false);
        for k in 0..3 {
            recorder.report(f64::from(k), EventKind::Open, "a");
        }
        let end = RunEnd {
            state: state(&[], &[]),
            modes: vec![],
            ending: Ending::Done,
            evaluations: 7,
            energy: [1.0, 2.0],
            late_impulses: vec![],
            without_intervals: vec![],
        };
        let run = recorder.into_trajectory(options.max_events.min(2), end);
        assert_eq!((run.steps, run.steps_with_non_unique_forces, run.evaluations), (2, 1, 7));
        assert_eq!((run.max_gap_error, run.max_joint_error, run.max_force_error), (1e-10, 4e-10, 0.25));
        assert_eq!(run.events.len(), 2);
    }
}
