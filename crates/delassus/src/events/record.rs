//! What was asked to be recorded of an event-driven run: states, forces and energies at given times.

use super::Sample;
use super::integrate::{GAP, Run};
use crate::formula::Point;
use crate::lagrangian::{Measure, State};

impl Run<'_> {
    /// Records the samples of this step up to θ; those at its end belong to the next step.
    pub(super) fn record(&mut self, theta: f64) {
        let end = self.dense.start + theta * self.dense.length;
        while let Some(&t) = self.sample_times.get(self.next_sample).filter(|t| **t < end) {
            let mut y = vec![];
            self.dense.at((t - self.dense.start) / self.dense.length, &mut y);
            let (q, v) = y.split_at(y.len() / 2);
            let state = State { t, q: q.to_vec(), v: v.to_vec() };
            self.add_sample(state);
        }
    }

    /// Records samples between here and a state that is jumped to, along the cubic with the positions and velocities of both, so
    /// that what flies beside it falls as it should; where contacts would overlap on that, along the straight line.
    pub(super) fn record_jump(&mut self, t_end: f64, q: &[f64], v: &[f64]) {
        let start = self.state.clone();
        let length = t_end - start.t;
        while let Some(&t) = self.sample_times.get(self.next_sample).filter(|t| **t < t_end) {
            let x = (t - start.t) / length;
            let along = |bend: f64| {
                let mut state = State { t, q: vec![], v: vec![] };
                for i in 0..q.len() {
                    // What both ends have beyond the straight line between them.
                    let mean = (q[i] - start.q[i]) / length;
                    let (first, last) = (bend * (start.v[i] - mean), bend * (v[i] - mean));
                    let beyond = x * (1.0 - x) * ((1.0 - x) * first - x * last);
                    state.q.push(start.q[i] + length * (x * mean + beyond));
                    let rate = (1.0 - x) * (1.0 - 3.0 * x) * first + x * (3.0 * x - 2.0) * last;
                    state.v.push(mean + rate);
                }
                state
            };
            let curved = along(1.0);
            self.add_sample(if self.overlaps(&curved) { along(0.0) } else { curved });
        }
    }

    fn overlaps(&self, state: &State) -> bool {
        let point = Point { q: &state.q, v: &state.v, t: state.t };
        self.system.contacts.iter().any(|contact| match &contact.normal {
            Measure::Displacement(gap) => gap.value(&point) < -GAP,
            Measure::Velocity(_) => false,
        })
    }

    /// Records the present state where it was asked for.
    pub(super) fn record_state(&mut self) {
        while self.sample_times.get(self.next_sample).is_some_and(|t| *t <= self.state.t) {
            self.add_sample(self.state.clone());
        }
    }

    /// Kinetic and potential energy, J.
    pub(super) fn energy_at(&self, state: &State) -> f64 {
        let point = Point { q: &state.q, v: &state.v, t: state.t };
        let potential = self.system.potential.as_ref().map_or(0.0, |p| p.value(&point));
        self.system.kinetic.value(&point) + potential
    }

    /// Records the present state beside an event, where that was asked for.
    pub(super) fn record_event(&mut self) {
        if self.options.sample_events {
            let sample = self.sample(self.state.clone());
            self.event_samples.extend(sample);
        }
    }

    fn add_sample(&mut self, state: State) {
        self.next_sample += 1;
        let sample = self.sample(state);
        self.samples.extend(sample);
    }

    /// The motion at a state; `None` where formulas fail.
    fn sample(&mut self, state: State) -> Option<Sample> {
        let closed = |i: usize| self.modes.contacts[i].is_closed();
        let at = self.mechanics.equations((state.t, &state.q, &state.v), closed).ok()?;
        let response = self.mechanics.respond(&at, &self.modes).ok()?;
        Some(Sample {
            energy: self.energy_at(&state),
            state,
            acceleration: response.acceleration,
            contact_forces: response.contacts,
            joint_forces: response.joints,
            modes: self.modes.contacts.clone(),
        })
    }
}
