//! Transitions: what an event does to velocities and modes.
//!
//! ```text
//! a gap closes with ḣ < 0     M (v⁺ − v⁻) = Jᵀ p , (p, J v⁻, J v⁺) in the law of impact, until J_n v⁺ ≥ 0
//! a gap closes with ḣ = 0     v⁺ = v⁻ , modes selected anew
//! a guard ends                v⁺ = v⁻ , modes selected anew
//! ```
//!
//! M is the mass, J the rows of joints and of contacts that touch, p percussions (001 §6; 002 §2, 4). Modes
//! are selected in [`super::mode_change`]; impacts that accumulate are jumped over in [`super::zeno_jump`].

use delassus_solve::impact::{ImpactLaw, ImpactStatus};

use super::equations::{ContactMode, Equations, JointMode};
use super::gauss_collocation::DenseStep;
use super::guards::{Cause, FirstEvent, Guard};
use super::impact::{impact, named_joint_percussions};
use super::mode_change::{Occasion, jam_at_border, settle, settle_ahead};
use super::motion::{CLOSED_GAP, Motion};
use super::recorder::Recorder;
use super::zeno::ZenoDetector;
use super::zeno_jump::{ZenoAccumulation, jump_to_limit};
use super::{Ending, EventKind};

/// Impacts at one instant, at most.
const MAX_IMPACTS: usize = 100;

/// Applies the event of a step; the state is there already.
pub(super) fn apply_event(
    motion: &mut Motion<'_>,
    zeno: &mut ZenoDetector,
    recorder: &mut Recorder,
    next_breakpoint: Option<f64>,
    step: &DenseStep,
    event: FirstEvent,
) -> Result<(), Ending> {
    let closed = motion.closed_contacts();
    let guard = match event.cause {
        Cause::Touch(first) => {
            let (meeting, approach) = meeting_contacts(motion, first, closed)?;
            return if approach {
                apply_impacts(motion, zeno, recorder, next_breakpoint, meeting)
            } else {
                touch(motion, recorder, &meeting, first)
            };
        }
        Cause::Guard(guard) => guard,
    };
    match guard {
        Guard::Determinant => {
            let jams = jam_at_border(motion, recorder)?;
            if jams { Ok(()) } else { Err(Ending::StepTooShort) }
        }
        Guard::NormalRate(contact) => {
            let mut touching = closed;
            touching.push(contact);
            settle(motion, recorder, &touching, None, Occasion::Continuous)
        }
        Guard::ForceMargin => settle_ahead(motion, recorder, step, event.theta, &closed),
        guard => {
            stop_slip(motion, guard)?;
            let before = motion.modes().clone();
            settle(motion, recorder, &closed, Some(guard), Occasion::Continuous)?;
            if *motion.modes() == before {
                settle_ahead(motion, recorder, step, event.theta, &closed)?;
            }
            Ok(())
        }
    }
}

/// The contacts that meet when the gap of `first` closes, beside those that are closed, and whether one of
/// them approaches.
fn meeting_contacts(
    motion: &mut Motion<'_>,
    first: usize,
    closed: Vec<usize>,
) -> Result<(Vec<usize>, bool), Ending> {
    let at = motion.equations()?;
    let zero = motion.zero_velocity();
    let mut meeting = closed;
    let mut approach = false;
    for i in 0..at.contacts.len() {
        let Some(contact) = at.contacts[i].as_ref().filter(|_| !meeting.contains(&i)) else { continue };
        let near = i == first || (contact.gap.abs() <= CLOSED_GAP && !motion.is_leaving(i));
        if near && contact.normal.velocity <= zero {
            approach |= contact.normal.velocity < -zero;
            meeting.push(i);
        }
    }
    Ok((meeting, approach))
}

/// Removes what is left of a slip whose guard ended: rounding.
fn stop_slip(motion: &mut Motion<'_>, guard: Guard) -> Result<(), Ending> {
    let mut modes = motion.modes().clone();
    match guard {
        Guard::Slip(i) => modes.contacts[i] = ContactMode::Stick,
        Guard::JointSlip(j) => modes.joints[j] = JointMode::Stick,
        _ => return Ok(()),
    }
    Ok(motion.project_velocity_onto(&modes)?)
}

/// A contact that touches without speed: it grazes, or stays.
fn touch(
    motion: &mut Motion<'_>,
    recorder: &mut Recorder,
    meeting: &[usize],
    first: usize,
) -> Result<(), Ending> {
    settle(motion, recorder, meeting, None, Occasion::Continuous)?;
    if motion.is_closed(first) {
        return Ok(());
    }
    // One that higher derivatives opened was reported so, with their order; it was not closed before.
    let (t, name) = (motion.t(), &motion.system().contacts[first].name);
    match recorder.event_at(t, EventKind::Open, name) {
        Some(event) => event.kind = EventKind::Graze,
        None => {
            recorder.report(t, EventKind::Graze, name);
        }
    }
    Ok(())
}

/// Applies the law of impact to these contacts until none approaches; then goes to the end of a series of
/// impacts that converges, or selects the modes.
pub(super) fn apply_impacts(
    motion: &mut Motion<'_>,
    zeno: &mut ZenoDetector,
    recorder: &mut Recorder,
    next_breakpoint: Option<f64>,
    mut meeting: Vec<usize>,
) -> Result<(), Ending> {
    let mut impacting: Vec<(usize, f64)> = vec![];
    let mut after = None;
    for _ in 0..MAX_IMPACTS {
        apply_impact_law(motion, recorder, &meeting, &mut impacting)?;
        let at = motion.equations()?;
        if !approaching_again(motion, &at, &mut meeting) {
            after = Some(at);
            break;
        }
    }
    let Some(after) = after else { return Err(too_many_impacts(motion, &meeting)?) };
    let zero = motion.zero_velocity();
    let mut touching = vec![];
    for &i in &meeting {
        if after.normal_velocity(i) > zero {
            motion.gaps().rebound(i);
        } else {
            motion.gaps().end_flight(i);
            touching.push(i);
        }
    }
    let y: Vec<f64> = motion.state().q.iter().chain(&motion.state().v).copied().collect();
    if let Some((contact, limit)) = zeno.observe(motion.t(), &impacting, &y) {
        let accumulation = ZenoAccumulation { contact, limit };
        if jump_to_limit(motion, zeno, recorder, next_breakpoint, &accumulation, &touching)? {
            return Ok(());
        }
    }
    settle(motion, recorder, &touching, None, Occasion::Jump)
}

/// Velocities after one impact of these contacts; those that approached are added to `impacting` with their
/// speeds, once.
fn apply_impact_law(
    motion: &mut Motion<'_>,
    recorder: &mut Recorder,
    meeting: &[usize],
    impacting: &mut Vec<(usize, f64)>,
) -> Result<(), Ending> {
    let (system, law) = (motion.system(), &motion.options().law);
    let at = motion.equations()?;
    let result = impact(system, &at, &motion.state().v, &[], meeting, law)?;
    let mut joints = named_joint_percussions(system, &result.joints);
    let result = result.outcome;
    let zero = motion.zero_velocity();
    let mut change = result.kinetic_energy_after - result.kinetic_energy_before;
    for (k, &i) in meeting.iter().enumerate() {
        let u = result.contact_velocities_before[k][0];
        if u < -zero {
            let event = recorder.report(motion.t(), EventKind::Impact, &system.contacts[i].name);
            event.impulse.clone_from(&result.contact_impulses[k]);
            event.energy_change = std::mem::take(&mut change);
            event.joint_impulses = std::mem::take(&mut joints);
            event.violations.clone_from(&result.violations);
            if !impacting.iter().any(|s| s.0 == i) {
                impacting.push((i, -u));
            }
        }
    }
    motion.set_velocity(&result.velocity);
    Ok(())
}

/// Whether a contact that touches approaches after an impact; such contacts join `meeting`.
fn approaching_again(motion: &mut Motion<'_>, after: &Equations, meeting: &mut Vec<usize>) -> bool {
    let zero = motion.zero_velocity();
    let mut again = false;
    for (i, contact) in after.contacts.iter().enumerate() {
        let Some(contact) = contact else { continue };
        let touches = meeting.contains(&i) || (contact.gap.abs() <= CLOSED_GAP && motion.is_leaving(i));
        if touches && contact.normal.velocity < -zero {
            again = true;
            if !meeting.contains(&i) {
                meeting.push(i);
            }
        }
    }
    if again && matches!(motion.options().law, ImpactLaw::NewtonMatrix(_)) {
        // An equation for all would pull back a contact that leaves; it collides where others drive it in
        // again.
        let leaves = |i: usize| after.normal_velocity(i) > zero;
        meeting.iter().filter(|i| leaves(**i)).for_each(|&i| motion.gaps().leave(i));
        meeting.retain(|i| !leaves(*i));
    }
    again
}

fn too_many_impacts(motion: &mut Motion<'_>, meeting: &[usize]) -> Result<Ending, Ending> {
    let after = motion.equations()?;
    Ok(Ending::NoOutcome {
        contacts: meeting.iter().map(|&i| motion.system().contacts[i].name.clone()).collect(),
        velocities: meeting.iter().map(|&i| after.normal_velocity(i)).collect(),
        law: motion.options().law.name(),
        status: ImpactStatus::TooManyImpacts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::EventOptions;
    use crate::events::fixtures::{ball, free_fall, state};

    /// What a touch at velocity v makes of a ball: its velocity, its mode, and the event.
    fn touched(restitution: f64, v: f64) -> (f64, ContactMode, EventKind, Vec<f64>) {
        let (system, options) = (ball(restitution), EventOptions::default());
        let mut motion = Motion::new(&system, &state(&[0.0], &[v]), &options).unwrap();
        let (mut zeno, mut recorder) = (ZenoDetector::new(1, 0.0), Recorder::new(&options, 0.0));
        let event = FirstEvent { theta: 1.0, cause: Cause::Touch(0) };
        let step = free_fall(1.0, 0.0, 0.1);
        apply_event(&mut motion, &mut zeno, &mut recorder, None, &step, event).unwrap();
        let last = recorder.last_event().unwrap();
        (motion.state().v[0], motion.modes().contacts[0], last.kind, last.impulse.clone())
    }

    /// v⁺ = −e v⁻, percussion m (1 + e) |v⁻|; without restitution the contact stays.
    #[test]
    fn a_gap_that_closes_fast_is_an_impact() {
        for e in [0.0, 0.5, 1.0] {
            let (v, mode, kind, impulse) = touched(e, -3.0);
            assert!((v - 3.0 * e).abs() < 1e-14, "{e}: {v}");
            assert_eq!((mode.is_closed(), kind), (e == 0.0, EventKind::Impact));
            assert!((impulse[0] - 6.0 * (1.0 + e)).abs() < 1e-13);
        }
    }

    /// Gravity holds a ball that touches without speed.
    #[test]
    fn a_gap_that_closes_slowly_stays_closed() {
        let (v, mode, kind, impulse) = touched(0.5, -1e-12);
        assert_eq!((v, mode.is_closed(), kind), (0.0, true, EventKind::Close));
        assert!(impulse.is_empty());
    }
}
