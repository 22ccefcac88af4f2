//! Whether a motion from event to event can begin.
//!
//! ```text
//! h ≥ 0 ,     ḣ ≥ 0 where h = 0 ,     Φ = 0 ,     Φ̇ = 0
//! ```
//!
//! for all gaps h and joints Φ at the start (002 §2), options in their ranges. Gaps and joints that are off by rounding are put right later;
//! what is further off is an error that names it. A contact that touches and approaches is an impact before anything has moved,
//! which must be asked for.

use delassus_solve::impact::ImpactLaw;
use delassus_solve::linalg::max_abs;
use delassus_solve::problem::{check_finite, check_size};

use super::equations::ModeError;
use super::integrate::GAP;
use super::{EventError, EventOptions};
use crate::lagrangian::{Kinematics, State, System, kinematics};

/// Joints and resting contacts that are off by no more than this at the start are put right, and overlaps up to this.
pub(super) const START_TOLERANCE: f64 = 1e-6;

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
        if contact.gap <= GAP && rate < -slow && !options.impact_at_start {
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
