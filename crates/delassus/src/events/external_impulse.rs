//! External impulses: velocities jump at a given time, and contacts answer.
//!
//! ```text
//! M (v⁺ − v⁻) = P + Jᵀ p ,     (p, J v⁻, J v⁺) in the law of impact
//! ```
//!
//! P ∈ ℝⁿ is the sum of the impulses of that time, J the rows of all joints and of all contacts that touch, p
//! their percussions (001 eq. 71–73; 002 eq. 2.10). Contacts at rest answer at once: one that is pushed into
//! its surface pushes back, by the law of impact with the velocities before P. One that separates does not
//! take part: where P drives it back, it has an impact after P with the speed it then has.

use delassus_solve::impact::ImpactLaw;
use delassus_solve::linalg::max_abs;

use super::equations::Equations;
use super::impact::{ImpactResponse, impact, named_joint_percussions};
use super::mode_change::{Occasion, settle};
use super::motion::{CLOSED_GAP, Motion};
use super::recorder::{Recorder, times_in_order};
use super::transition::apply_impacts;
use super::zeno::ZenoDetector;
use super::{Ending, EventKind, EventOptions};
use crate::lagrangian::{Impulse, System};

/// Percussions of contacts below this part of the impulse are rounding.
const ZERO_PERCUSSION: f64 = 1e-12;

/// Instants at which steps end: breakpoints, external impulses, the end.
pub(super) struct Schedule {
    breakpoints: Vec<f64>,
    next: usize,
    /// Impulses that are still to come, the next one last.
    impulses: Vec<Impulse>,
    t_end: f64,
}

impl Schedule {
    /// From time t on.
    pub(super) fn new(system: &System, options: &EventOptions, start: f64) -> Schedule {
        let t_end = options.t_end;
        let mut impulses: Vec<Impulse> =
            system.impulses.iter().copied().filter(|i| i.time <= t_end).collect();
        impulses.sort_by(|a, b| b.time.total_cmp(&a.time));
        let jumps: Vec<f64> =
            options.breakpoints.iter().copied().chain(impulses.iter().map(|i| i.time)).collect();
        Schedule { breakpoints: times_in_order(&jumps, start, t_end), next: 0, impulses, t_end }
    }

    /// Passes the breakpoints up to time t; whether there were any.
    pub(super) fn pass_breakpoints(&mut self, t: f64) -> bool {
        let first = self.next;
        while self.breakpoints.get(self.next).is_some_and(|b| *b <= t) {
            self.next += 1;
        }
        self.next > first
    }

    /// The next breakpoint.
    pub(super) fn next_breakpoint(&self) -> Option<f64> {
        self.breakpoints.get(self.next).copied()
    }

    /// The next time at which a step ends.
    pub(super) fn next_stop(&self) -> f64 {
        self.next_breakpoint().unwrap_or(self.t_end).min(self.t_end)
    }

    /// Takes the impulses whose time has come; their sum per coordinate, or nothing.
    pub(super) fn take_impulse(&mut self, t: f64, coordinates: usize) -> Option<Vec<f64>> {
        let mut external: Vec<f64> = vec![];
        while let Some(impulse) = self.impulses.pop_if(|i| i.time <= t) {
            external.resize(coordinates, 0.0);
            external[impulse.coordinate] += impulse.value;
        }
        (max_abs(&external) != 0.0).then_some(external)
    }
}

/// Applies the impulse P now, with the answer of joints and contacts.
pub(super) fn apply_impulse(
    motion: &mut Motion<'_>,
    zeno: &mut ZenoDetector,
    recorder: &mut Recorder,
    next_breakpoint: Option<f64>,
    external: &[f64],
) -> Result<(), Ending> {
    let (mut at, zero) = (motion.equations()?, motion.zero_velocity());
    let mut law = &motion.options().law;
    if let ImpactLaw::NewtonMatrix(_) = law {
        // A matrix rules contacts that approach, not how contacts at rest answer to an impulse.
        law = &ImpactLaw::Newton;
        let all = touching(motion, &at);
        if all.iter().any(|&i| at.normal_velocity(i) < -zero) {
            apply_impacts(motion, zeno, recorder, next_breakpoint, all)?;
            at = motion.equations()?;
        }
    }
    // What separates does not answer. Where the impulse drives it back, an impact follows, as if the
    // impulse had come a moment later.
    let (separate, mut meeting): (Vec<usize>, Vec<usize>) =
        touching(motion, &at).into_iter().partition(|&i| at.normal_velocity(i) > zero);
    let response = impact(motion.system(), &at, &motion.state().v, external, &meeting, law)?;
    report(motion, recorder, external, &meeting, &response);
    motion.set_velocity(&response.outcome.velocity);
    zeno.clear_all();
    let (after, zero) = (motion.equations()?, motion.zero_velocity());
    for i in separate {
        if after.normal_velocity(i) < -zero {
            meeting.push(i);
        } else {
            motion.gaps().leave(i);
        }
    }
    if meeting.iter().any(|&i| after.normal_velocity(i) < -zero) {
        return apply_impacts(motion, zeno, recorder, next_breakpoint, meeting);
    }
    let (leaving, touching): (Vec<usize>, Vec<usize>) =
        meeting.into_iter().partition(|&i| after.normal_velocity(i) > zero);
    leaving.iter().for_each(|&i| motion.gaps().leave(i));
    settle(motion, recorder, &touching, None, Occasion::Jump)
}

/// Reports the impulse, and the contacts that answered.
fn report(
    motion: &Motion<'_>,
    recorder: &mut Recorder,
    external: &[f64],
    meeting: &[usize],
    response: &ImpactResponse,
) {
    let (system, result) = (motion.system(), &response.outcome);
    let hit: Vec<usize> = (0..external.len()).filter(|i| external[*i] != 0.0).collect();
    let names: Vec<&str> = hit.iter().map(|&i| system.coordinates[i].as_str()).collect();
    let event = recorder.report(motion.t(), EventKind::Impulse, &names.join(", "));
    event.impulse = hit.iter().map(|&i| external[i]).collect();
    event.energy_change = result.kinetic_energy_after - result.kinetic_energy_before;
    event.violations.clone_from(&result.violations);
    event.joint_impulses = named_joint_percussions(system, &response.joints);
    for (&i, p) in meeting.iter().zip(&result.contact_impulses) {
        if max_abs(p) > ZERO_PERCUSSION * max_abs(external) {
            let event = recorder.report(motion.t(), EventKind::Impact, &system.contacts[i].name);
            event.impulse.clone_from(p);
        }
    }
}

/// Contacts that are closed or have no gap.
fn touching(motion: &Motion<'_>, at: &Equations) -> Vec<usize> {
    let touches = |i: usize| at.contacts[i].as_ref().is_some_and(|c| c.gap <= CLOSED_GAP);
    (0..at.contacts.len()).filter(|&i| motion.is_closed(i) || touches(i)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::equations::ContactMode;
    use crate::events::fixtures::{ball, state};

    /// The velocity of a ball on the floor, at rest or leaving with v, after an impulse; and its events.
    fn pushed(restitution: f64, v: f64, impulse: f64) -> (f64, Vec<(EventKind, Vec<f64>)>, ContactMode) {
        let (system, options) = (ball(restitution), EventOptions::default());
        let start = state(&[0.0], &[v]);
        let mut motion = Motion::new(&system, &start, &options).unwrap();
        let mut zeno = ZenoDetector::new(1, 0.0);
        let mut recorder = Recorder::new(&options, 0.0);
        apply_impulse(&mut motion, &mut zeno, &mut recorder, None, &[impulse]).unwrap();
        let (v, mode) = (motion.state().v[0], motion.modes().contacts[0]);
        let events = (0..3).map_while(|_| {
            let event = recorder.last_event().map(|e| (e.kind, e.impulse.clone()))?;
            recorder.withdraw();
            Some(event)
        });
        (v, events.collect(), mode)
    }

    /// Pushed into the floor, the floor pushes back as much; pushed off it, nothing answers.
    #[test]
    fn the_floor_answers_a_push() {
        let (v, events, mode) = pushed(0.5, 0.0, -3.0);
        assert!(v.abs() < 1e-15 && mode.is_closed());
        assert_eq!(events.len(), 2);
        assert_eq!(events[1], (EventKind::Impulse, vec![-3.0]));
        assert!(events[0].0 == EventKind::Impact && (events[0].1[0] - 3.0).abs() < 1e-14);
        let (v, events, mode) = pushed(0.5, 0.0, 3.0);
        assert!((v - 1.5).abs() < 1e-15 && mode == ContactMode::Open);
        assert_eq!(events, [(EventKind::Impulse, vec![3.0])]);
    }

    /// A ball of mass 2 that leaves with 1 m/s and is driven back to −1 m/s rebounds with half of that.
    #[test]
    fn a_ball_that_leaves_has_its_impact_after_the_push() {
        let (v, events, mode) = pushed(0.5, 1.0, -4.0);
        assert!((v - 0.5).abs() < 1e-14 && mode == ContactMode::Open);
        assert_eq!(events[1], (EventKind::Impulse, vec![-4.0]));
        // 2 (0.5 + 1).
        assert!((events[0].1[0] - 3.0).abs() < 1e-14);
    }

    /// Impulses of one time act together, in the order of time; those after the end do not act.
    #[test]
    fn a_schedule() {
        let mut system = ball(0.5);
        let impulse = |time: f64, value: f64| Impulse { time, coordinate: 0, value };
        system.impulses = vec![impulse(0.5, 1.0), impulse(0.25, 2.0), impulse(0.5, 4.0), impulse(7.0, 8.0)];
        let options = EventOptions { breakpoints: vec![0.75, -1.0], ..EventOptions::default() };
        let mut schedule = Schedule::new(&system, &options, 0.0);
        assert_eq!(schedule.next_breakpoint(), Some(0.25));
        assert_eq!(schedule.take_impulse(0.1, 1), None);
        assert!(!schedule.pass_breakpoints(0.1) && schedule.pass_breakpoints(0.25));
        assert_eq!(schedule.take_impulse(0.25, 1), Some(vec![2.0]));
        assert_eq!(schedule.next_stop(), 0.5);
        assert_eq!(schedule.take_impulse(0.5, 1), Some(vec![5.0]));
        assert!(schedule.pass_breakpoints(0.75));
        assert_eq!((schedule.next_breakpoint(), schedule.next_stop()), (None, options.t_end));
        assert_eq!(schedule.take_impulse(10.0, 1), None);
    }
}
