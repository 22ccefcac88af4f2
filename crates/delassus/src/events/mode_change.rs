//! The modes after an event, chosen among all solutions of the acceleration problem.
//!
//! ```text
//! m⁺ ∈ { modes of (q̈, f) : M q̈ + F = Jᵀ f , (f, J q̈ + γ) in the laws }    one: take it; several: the policy
//! none: v⁺ − v⁻ = M⁻¹ Jᵀ p by a jam, then again
//! ```
//!
//! M (n × n) is the mass, F ∈ ℝⁿ the forces, J (k × n) the rows of joints and touching contacts, γ ∈ ℝᵏ their
//! bias, p ∈ ℝᵏ percussions (002 §4, 5; 003 §5). Where force and acceleration of a contact vanish together,
//! higher derivatives decide (002 Theorem 5.4).

use delassus_solve::linalg::norm;

use super::equations::{ContactMode, Equations, JointMode, Modes};
use super::gauss_collocation::DenseStep;
use super::guards::Guard;
use super::impact::{jam, named_joint_percussions};
use super::mode_selection::{Answer, Decision, decide};
use super::motion::Motion;
use super::recorder::Recorder;
use super::{Ending, EventKind, Indeterminate};
use crate::lagrangian::{DecidingOptions, Fate, deciding_order};

/// Jams at one instant, at most.
const MAX_JAMS: usize = 100;
/// Systems with more coordinates than this have series that are expensive: each order costs more than all
/// before it.
const MAX_COORDINATES_WITH_ALL_ORDERS: usize = 6;
/// The highest derivative that is computed for them.
const MAX_ORDER_OF_LARGE_SYSTEMS: usize = 4;
/// How far after an event, in step lengths, modes are selected where those at the event itself do not change.
const PROBES: [f64; 2] = [1e-4, 1e-2];
/// By how much friction is enlarged to decide which way a state at the very border of a jam goes.
const BEYOND_BORDER: f64 = 1.0 + 1e-6;

/// When modes are selected: contacts that close at the start, or by an impact that is itself an event, report
/// no closing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occasion {
    /// Before anything moved.
    Start,
    /// At an event without jump of velocities.
    Continuous,
    /// Right after a jump of velocities.
    Jump,
}

/// Selects the modes after an event, with these contacts touching. `cause` is the guard that ended.
pub(super) fn settle(
    motion: &mut Motion<'_>,
    recorder: &mut Recorder,
    touching: &[usize],
    cause: Option<Guard>,
    occasion: Occasion,
) -> Result<(), Ending> {
    let mut touches = flags(touching, motion.modes().contacts.len());
    for _ in 0..MAX_JAMS {
        let at = motion.equations()?;
        // A contact that is nowhere near has no equations.
        touches.iter_mut().zip(&at.contacts).for_each(|(touches, at)| *touches &= at.is_some());
        match select(motion, &at, &touches, cause)? {
            Decision::Answers(answers) => {
                if jam_is_chosen(motion, recorder, &at, &mut touches, answers.len())? {
                    continue;
                }
                let mut answer = choose(motion, recorder, answers)?;
                if !answer.ties.is_empty() {
                    break_ties(motion, recorder, &mut answer, &touches);
                }
                return adopt(motion, recorder, answer.modes, &touches, occasion);
            }
            Decision::NoSolution => {
                if !jam_among(motion, recorder, &at, &mut touches)? {
                    return Err(Ending::NoSolution);
                }
            }
            Decision::Unknown => return Err(Ending::Undecided),
        }
    }
    Err(Ending::Stuck)
}

/// Selects the modes a little after the event at θ of a step, where those at the event itself do not change;
/// the guards start anew where these do not change either.
pub(super) fn settle_ahead(
    motion: &mut Motion<'_>,
    recorder: &mut Recorder,
    step: &DenseStep,
    theta: f64,
    touching: &[usize],
) -> Result<(), Ending> {
    let touches = flags(touching, motion.modes().contacts.len());
    for probe in PROBES {
        let mut y = vec![];
        let later = (theta + probe).min(1.0);
        step.at(later, &mut y);
        let (q, v) = y.split_at(y.len() / 2);
        let at = motion.equations_at(step.time(later), q, v)?;
        if let Decision::Answers(answers) = select(motion, &at, &touches, None)?
            && answers[0].modes != *motion.modes()
        {
            let answer = choose(motion, recorder, answers)?;
            return adopt(motion, recorder, answer.modes, &touches, Occasion::Continuous);
        }
    }
    Ok(motion.reset_guards()?)
}

/// Whether a contact that is closed now jams, at the border where det(R M⁻¹ C) vanishes; the modes after it.
pub(super) fn jam_at_border(motion: &mut Motion<'_>, recorder: &mut Recorder) -> Result<bool, Ending> {
    let mut at = motion.equations()?;
    for contact in at.contacts.iter_mut().flatten() {
        contact.mu_kinetic *= BEYOND_BORDER;
    }
    let closed = motion.closed_contacts();
    if !apply_jam(motion, recorder, &at, &closed)? {
        return Ok(false);
    }
    let (leaving, touching) = split_by_separation(motion, &closed)?;
    leaving.iter().for_each(|&i| motion.gaps().leave(i));
    settle(motion, recorder, &touching, None, Occasion::Jump)?;
    Ok(true)
}

/// Which of these contacts separate now, and which do not.
fn split_by_separation(
    motion: &mut Motion<'_>,
    contacts: &[usize],
) -> Result<(Vec<usize>, Vec<usize>), Ending> {
    let after = motion.equations()?;
    let zero = motion.zero_velocity();
    Ok(contacts.iter().partition(|i| after.normal_velocity(**i) > zero))
}

fn flags(list: &[usize], count: usize) -> Vec<bool> {
    let mut flags = vec![false; count];
    list.iter().for_each(|&i| flags[i] = true);
    flags
}

fn select(
    motion: &Motion<'_>,
    at: &Equations,
    touches: &[bool],
    cause: Option<Guard>,
) -> Result<Decision, Ending> {
    let zero = motion.zero_velocity();
    decide(at, touches, zero, cause, motion.modes()).map_err(|e| Ending::Impact(e.into()))
}

/// Opens contacts that higher derivatives open, and reports the order that decided. What has no power series,
/// or is not decided, stays closed and opens when its force becomes negative.
fn break_ties(motion: &Motion<'_>, recorder: &mut Recorder, answer: &mut Answer, touches: &[bool]) {
    let list: Vec<usize> = (0..touches.len()).filter(|i| touches[*i]).collect();
    let mut options = DecidingOptions { rest_speed: motion.zero_velocity(), ..Default::default() };
    if motion.state().q.len() > MAX_COORDINATES_WITH_ALL_ORDERS {
        options.max_order = options.max_order.min(MAX_ORDER_OF_LARGE_SYSTEMS);
    }
    let system = motion.system();
    let Ok(found) = deciding_order(system, motion.state(), &list, &options) else { return };
    for fate in found.contacts.iter().filter(|fate| answer.ties.contains(&fate.contact)) {
        let kind = match fate.fate {
            Fate::Opens => EventKind::Open,
            Fate::Stays => EventKind::Close,
            Fate::Carried | Fate::Undecided => continue,
        };
        if fate.fate == Fate::Opens {
            answer.modes.contacts[fate.contact] = ContactMode::Open;
        }
        if !motion.is_closed(fate.contact) {
            let name = &system.contacts[fate.contact].name;
            recorder.report(motion.t(), kind, name).order = Some(fate.order);
        }
    }
}

/// One of the answers, by the list of choices or by the policy.
fn choose(motion: &Motion<'_>, recorder: &mut Recorder, mut answers: Vec<Answer>) -> Result<Answer, Ending> {
    let count = answers.len();
    if count == 1 {
        return Ok(answers.swap_remove(0));
    }
    let options = motion.options();
    let choice = options.choices.get(recorder.indeterminate_states()).copied();
    recorder.report(motion.t(), EventKind::Indeterminate, "").answers = count;
    let pick = match choice {
        Some(choice) => choice.min(count - 1),
        None if options.indeterminate == Indeterminate::Stop => {
            return Err(Ending::Indeterminate { answers: count });
        }
        None => 0,
    };
    let answer = answers.swap_remove(pick);
    if let Some(event) = recorder.last_event() {
        event.chosen.clone_from(&answer.modes.contacts);
    }
    Ok(answer)
}

/// Where several accelerations satisfy the laws an impact without collision may do so too: whether it was
/// chosen, and exists.
fn jam_is_chosen(
    motion: &mut Motion<'_>,
    recorder: &mut Recorder,
    at: &Equations,
    touches: &mut [bool],
    answers: usize,
) -> Result<bool, Ending> {
    let choice = motion.options().choices.get(recorder.indeterminate_states());
    if answers < 2 || choice != Some(&answers) {
        return Ok(false);
    }
    recorder.report(motion.t(), EventKind::Indeterminate, "").answers = answers;
    if jam_among(motion, recorder, at, touches)? {
        return Ok(true);
    }
    recorder.withdraw();
    Ok(false)
}

/// Whether one of the contacts that touch jams; those that it throws off touch no longer.
fn jam_among(
    motion: &mut Motion<'_>,
    recorder: &mut Recorder,
    at: &Equations,
    touches: &mut [bool],
) -> Result<bool, Ending> {
    let list: Vec<usize> = (0..touches.len()).filter(|i| touches[*i]).collect();
    if !apply_jam(motion, recorder, at, &list)? {
        return Ok(false);
    }
    let (leaving, _) = split_by_separation(motion, &list)?;
    for i in leaving {
        touches[i] = false;
        motion.gaps().leave(i);
    }
    Ok(true)
}

/// The impact without collision of one of these contacts; whether there was one.
fn apply_jam(
    motion: &mut Motion<'_>,
    recorder: &mut Recorder,
    at: &Equations,
    touching: &[usize],
) -> Result<bool, Ending> {
    let v = &motion.state().v;
    let Some(jam) = jam(at, v, touching).map_err(Ending::Impact)? else { return Ok(false) };
    let kinetic = |v: &[f64]| 0.5 * at.mass.mul_vec(v).iter().zip(v).map(|(p, v)| p * v).sum::<f64>();
    let change = kinetic(&jam.velocity) - kinetic(v);
    motion.set_velocity(&jam.velocity);
    let system = motion.system();
    let event = recorder.report(motion.t(), EventKind::Jam, &system.contacts[jam.contact].name);
    event.impulse = jam.impulse;
    event.joint_impulses = named_joint_percussions(system, &jam.joints);
    event.energy_change = change;
    Ok(true)
}

/// Takes these modes, and reports what changed.
fn adopt(
    motion: &mut Motion<'_>,
    recorder: &mut Recorder,
    modes: Modes,
    touches: &[bool],
    occasion: Occasion,
) -> Result<(), Ending> {
    let old = motion.replace_modes(modes);
    let (system, t) = (motion.system(), motion.t());
    for (i, contact) in system.contacts.iter().enumerate() {
        let is = motion.modes().contacts[i];
        if touches[i] && is == ContactMode::Open {
            motion.gaps().leave(i);
        }
        let Some(kind) = contact_change(old.contacts[i], is) else { continue };
        let implied = kind == EventKind::Close
            && (occasion != Occasion::Continuous || recorder.event_at(t, kind, &contact.name).is_some());
        if !implied {
            recorder.report(t, kind, &contact.name);
        }
    }
    for (j, joint) in system.joints.iter().enumerate() {
        if let Some(kind) = joint_change(old.joints[j], motion.modes().joints[j]) {
            recorder.report(t, kind, &joint.name);
        }
    }
    motion.project_velocity()?;
    Ok(motion.reset_guards()?)
}

/// The event that a change of a contact's mode is.
fn contact_change(was: ContactMode, is: ContactMode) -> Option<EventKind> {
    match (was, is) {
        (ContactMode::Open, ContactMode::Open) => None,
        (ContactMode::Open, _) => Some(EventKind::Close),
        (_, ContactMode::Open) => Some(EventKind::Open),
        (ContactMode::Stick, ContactMode::Slide { .. }) => Some(EventKind::Slide),
        (ContactMode::Slide { direction }, ContactMode::Stick) => {
            (norm(&direction) > 0.0).then_some(EventKind::Stick)
        }
        (ContactMode::Slide { direction: a }, ContactMode::Slide { direction: b }) => {
            reverses(a, b).then_some(EventKind::Slide)
        }
        (ContactMode::Stick, ContactMode::Stick) => None,
    }
}

/// The event that a change of a joint's mode is.
fn joint_change(was: JointMode, is: JointMode) -> Option<EventKind> {
    match (was, is) {
        (JointMode::Stick, JointMode::Slide { .. }) => Some(EventKind::Slide),
        (JointMode::Slide { .. }, JointMode::Stick) => Some(EventKind::Stick),
        (JointMode::Slide { direction: a, .. }, JointMode::Slide { direction: b, .. }) => {
            reverses(a, b).then_some(EventKind::Slide)
        }
        _ => None,
    }
}

fn reverses(a: [f64; 2], b: [f64; 2]) -> bool {
    a[0] * b[0] + a[1] * b[1] < 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::fixtures::{SLIDE_DOWN, SLIDE_UP};

    #[test]
    fn changes_of_contact_modes_are_events() {
        let frictionless = ContactMode::Slide { direction: [0.0; 2] };
        let (open, stick) = (ContactMode::Open, ContactMode::Stick);
        for (was, is, kind) in [
            (open, open, None),
            (open, stick, Some(EventKind::Close)),
            (open, frictionless, Some(EventKind::Close)),
            (SLIDE_UP, open, Some(EventKind::Open)),
            (stick, SLIDE_UP, Some(EventKind::Slide)),
            (SLIDE_UP, stick, Some(EventKind::Stick)),
            (SLIDE_UP, SLIDE_DOWN, Some(EventKind::Slide)),
            (SLIDE_UP, SLIDE_UP, None),
            (frictionless, stick, None),
            (stick, stick, None),
        ] {
            assert_eq!(contact_change(was, is), kind, "{was:?} to {is:?}");
        }
    }

    #[test]
    fn changes_of_joint_modes_are_events() {
        let slide = |x: f64, sign: f64| JointMode::Slide { direction: [x, 0.0], sign };
        for (was, is, kind) in [
            (JointMode::Smooth, JointMode::Smooth, None),
            (JointMode::Stick, slide(1.0, 1.0), Some(EventKind::Slide)),
            (slide(1.0, 1.0), JointMode::Stick, Some(EventKind::Stick)),
            (slide(1.0, 1.0), slide(-1.0, 1.0), Some(EventKind::Slide)),
            // The normal force changes its side, the slip does not.
            (slide(1.0, 1.0), slide(1.0, -1.0), None),
        ] {
            assert_eq!(joint_change(was, is), kind, "{was:?} to {is:?}");
        }
    }
}
