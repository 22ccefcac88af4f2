//! The start of an event-driven run: whether it can begin, and its first modes.
//!
//! ```text
//! h ≥ 0 ,     ḣ ≥ 0 where h = 0 ,     Φ = 0 ,     Φ̇ = 0
//! ```
//!
//! for all gaps h and joint functions Φ at the start (002 §2), options in their ranges. Gaps and joints that
//! are off by rounding are projected; what is further off is an error that names it. A contact that touches
//! and approaches is an impact before anything has moved, which must be asked for.

use delassus_solve::impact::ImpactLaw;
use delassus_solve::linalg::{dot, max_abs};
use delassus_solve::problem::{check_finite, check_size};

use super::equations::ModeError;
use super::mode_change::{Occasion, settle};
use super::motion::{CLOSED_GAP, Motion};
use super::recorder::Recorder;
use super::transition::apply_impacts;
use super::zeno::ZenoDetector;
use super::{Ending, EventError, EventOptions, StartCorrection};
use crate::lagrangian::{Kinematics, Row, State, System, kinematics};

/// Joints and resting contacts that are off by no more than this at the start are put right, and overlaps up
/// to this.
const START_TOLERANCE: f64 = 1e-6;
/// Corrections up to this part of the largest position or velocity, or of 1, are rounding.
const ROUNDING_CORRECTION: f64 = 1e-12;
/// What rounding leaves of a gap that is zero, relative to the largest position or 1.
const ROUNDING: f64 = 1e-15;

/// The system at its start, or why it cannot begin.
pub(super) fn check(
    system: &System,
    start: &State,
    options: &EventOptions,
) -> Result<Kinematics, EventError> {
    check_options(system, start, options)?;
    let at = kinematics(system, start)?;
    if at.mass_rank < system.coordinates.len() {
        return Err(ModeError::SingularMass.into());
    }
    let slow = START_TOLERANCE * max_abs(&start.v).max(1.0);
    for (index, contact) in at.contacts.iter().enumerate() {
        let name = || system.contacts[index].name.clone();
        if contact.gap < -START_TOLERANCE {
            let (gap, tolerance) = (contact.gap, START_TOLERANCE);
            return Err(EventError::Penetration { contact: name(), index, gap, tolerance });
        }
        let rate = contact.normal.velocity;
        if contact.gap <= CLOSED_GAP && rate < -slow && !options.impact_at_start {
            return Err(EventError::Approach { contact: name(), index, rate, tolerance: slow });
        }
    }
    for (index, joint) in at.joints.iter().enumerate() {
        let name = || system.joints[index].name.clone();
        if joint.value.abs() > START_TOLERANCE {
            let (value, tolerance) = (joint.value, START_TOLERANCE);
            return Err(EventError::JointOpen { joint: name(), index, value, tolerance });
        }
        if joint.row.velocity.abs() > slow {
            let rate = joint.row.velocity;
            return Err(EventError::JointTorn { joint: name(), index, rate, tolerance: slow });
        }
    }
    Ok(at)
}

fn check_options(system: &System, start: &State, options: &EventOptions) -> Result<(), EventError> {
    let check = |ok: bool, option, expected, found| {
        if ok { Ok(()) } else { Err(EventError::Option { option, expected, found }) }
    };
    let t_end = options.t_end;
    check(t_end.is_finite() && t_end >= start.t, "t_end", "a finite end not before the start", t_end)?;
    let tolerance = options.tolerance;
    check((1e-14..=1e-3).contains(&tolerance), "tolerance", "a number from 1e-14 to 1e-3", tolerance)?;
    check(options.max_step > 0.0, "max_step", "a step above 0", options.max_step)?;
    let window = options.accumulation_window;
    check(window.is_finite() && window >= 0.0, "accumulation_window", "a time of at least 0", window)?;
    if let ImpactLaw::NewtonMatrix(e) = &options.law {
        check_size("rows of the restitution matrix", system.contacts.len(), e.rows())?;
        check_size("columns of the restitution matrix", system.contacts.len(), e.cols())?;
        check_finite("the restitution matrix", e.data())?;
    }
    for impulse in &system.impulses {
        check(impulse.time.is_finite(), "time of an impulse", "a finite number", impulse.time)?;
        check(impulse.value.is_finite(), "impulse", "a finite number", impulse.value)?;
        let Some(coordinate) = system.coordinates.get(impulse.coordinate) else {
            let found = impulse.coordinate as f64;
            return Err(EventError::Option {
                option: "coordinate of an impulse",
                expected: "one of the system",
                found,
            });
        };
        if impulse.time < start.t {
            let (coordinate, time) = (coordinate.clone(), impulse.time);
            return Err(EventError::EarlyImpulse { coordinate, time, start: start.t });
        }
    }
    Ok(())
}

/// Puts the state at the start right and selects the first modes: joints closed, contacts that touch found.
/// What rests near its surface was meant to be on it; what moves there is left where it is.
pub(super) fn begin(
    motion: &mut Motion<'_>,
    zeno: &mut ZenoDetector,
    recorder: &mut Recorder,
    next_breakpoint: Option<f64>,
) -> Result<(), Ending> {
    let at = motion.all_equations()?;
    for (joint, given) in motion.system().joints.iter().zip(&at.joints) {
        report_correction(motion, recorder, &joint.name, given.value, given.row.velocity);
    }
    recorder.keep_distance(motion.project()?);
    if let Some(joint) = motion.branches_at_rest()? {
        return Err(Ending::Branches { joint });
    }
    let StartContacts { resting, approaching, overlapping } = sort_contacts(motion, recorder)?;
    let misplaced: Vec<usize> = overlapping.iter().chain(&resting).copied().collect();
    motion.place_on_surfaces(&misplaced)?;
    let modes = motion.modes_with_closed(&resting);
    recorder.keep_distance(motion.project_onto(&modes)?);
    recorder.forget_distances();
    if approaching.is_empty() {
        settle(motion, recorder, &resting, None, Occasion::Start)
    } else {
        let meeting = approaching.into_iter().chain(resting).collect();
        apply_impacts(motion, zeno, recorder, next_breakpoint, meeting)
    }
}

/// Contacts that touch at the start.
#[derive(Default)]
struct StartContacts {
    resting: Vec<usize>,
    approaching: Vec<usize>,
    overlapping: Vec<usize>,
}

/// What the contacts do at the start; those that touch and separate leave.
fn sort_contacts(motion: &mut Motion<'_>, recorder: &mut Recorder) -> Result<StartContacts, Ending> {
    let at = motion.all_equations()?;
    let (system, v) = (motion.system(), motion.state().v.clone());
    let rounding = ROUNDING * max_abs(&motion.state().q).max(1.0);
    let mut sorted = StartContacts::default();
    for (i, contact) in at.contacts.iter().enumerate() {
        let Some(contact) = contact else { continue };
        let u = contact.normal.velocity;
        let rests = is_zero_sum(&contact.normal, &v) || u.abs() <= ROUNDING_CORRECTION * max_abs(&v);
        if rests && contact.gap.abs() <= START_TOLERANCE {
            sorted.resting.push(i);
            report_correction(motion, recorder, &system.contacts[i].name, contact.gap, u);
            continue;
        }
        if contact.gap > rounding {
            continue;
        }
        if contact.gap < -rounding {
            sorted.overlapping.push(i);
            report_correction(motion, recorder, &system.contacts[i].name, contact.gap, 0.0);
        }
        if u < 0.0 {
            sorted.approaching.push(i);
        } else {
            motion.gaps().leave(i);
        }
    }
    Ok(sorted)
}

/// Whether the rate of a row is what is left where its terms cancel, each of them given to six digits.
fn is_zero_sum(row: &Row, v: &[f64]) -> bool {
    let terms: f64 = row.gradient.iter().zip(v).map(|(g, v)| (g * v).abs()).sum();
    let drift = row.velocity - dot(&row.gradient, v);
    row.velocity.abs() <= START_TOLERANCE * (terms + drift.abs())
}

/// Reports a correction that is more than rounding.
fn report_correction(motion: &Motion<'_>, recorder: &mut Recorder, name: &str, value: f64, rate: f64) {
    let state = motion.state();
    let (size, speed) = (max_abs(&state.q).max(1.0), max_abs(&state.v).max(1.0));
    if value.abs() > ROUNDING_CORRECTION * size || rate.abs() > ROUNDING_CORRECTION * speed {
        recorder.correct(StartCorrection { name: name.to_owned(), value, rate });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::equations::ContactMode;
    use crate::events::fixtures::{ball, state};

    /// A ball as the run begins with it: position, velocity, mode, and how many corrections.
    fn begun(y: f64, v: f64) -> (f64, f64, ContactMode, usize) {
        let (system, options) = (ball(0.5), EventOptions::default());
        let mut motion = Motion::new(&system, &state(&[y], &[v]), &options).unwrap();
        let (mut zeno, mut recorder) = (ZenoDetector::new(1, 0.0), Recorder::new(&options, 0.0));
        begin(&mut motion, &mut zeno, &mut recorder, None).unwrap();
        let run = recorder.into_trajectory(
            usize::MAX,
            crate::events::recorder::RunEnd {
                state: motion.state().clone(),
                modes: motion.modes().contacts.clone(),
                ending: Ending::Done,
                evaluations: 0,
                energy: [0.0; 2],
                late_impulses: vec![],
                without_intervals: vec![],
            },
        );
        (run.state.q[0], run.state.v[0], run.modes[0], run.corrections.len())
    }

    /// What rests near its surface is put on it and reported; what moves there is left; what is far away
    /// stays open.
    #[test]
    fn contacts_at_the_start() {
        let closed = ContactMode::Slide { direction: [0.0; 2] };
        assert_eq!(begun(1e-8, 0.0), (0.0, 0.0, closed, 1));
        assert_eq!(begun(0.0, 0.0), (0.0, 0.0, closed, 0));
        assert_eq!(begun(-1e-8, 0.0), (0.0, 0.0, closed, 1));
        assert_eq!(begun(1e-8, -1.0), (1e-8, -1.0, ContactMode::Open, 0));
        assert_eq!(begun(0.0, 1.0), (0.0, 1.0, ContactMode::Open, 0));
        assert_eq!(begun(1.0, 0.0), (1.0, 0.0, ContactMode::Open, 0));
        // One that touches and approaches has an impact.
        let (y, v, mode, _) = begun(0.0, -1.0);
        assert!(y == 0.0 && (v - 0.5).abs() < 1e-15 && mode == ContactMode::Open);
    }

    /// 3 − 3 given to six digits is zero, 1e-3 is not.
    #[test]
    fn rates_that_cancel() {
        let row = |velocity: f64| Row { gradient: vec![1.0, -1.0], velocity, bias: 0.0 };
        assert!(is_zero_sum(&row(1e-6), &[3.000001, 3.0]));
        assert!(!is_zero_sum(&row(1e-3), &[3.001, 3.0]));
    }
}
