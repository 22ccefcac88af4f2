//! The jump over infinitely many impacts to the state at their end.
//!
//! ```text
//! (t, q, v) → (t_∞, q_∞, v_∞) ,     h_i(q_∞) = 0 ,   ḣ_i = 0      for every contact i that takes part
//! ```
//!
//! t_∞, q_∞ and v_∞ come from Zeno detection ([`super::zeno`]); they are projected onto the contacts that
//! come to rest, and modes are selected there (002 §4). The jump is refused where something else is due
//! before t_∞.

use delassus_solve::impact::ImpactLaw;

use super::equations::{ContactMode, Modes};
use super::impact::impact;
use super::mode_change::{Occasion, settle};
use super::motion::{CLOSED_GAP, Motion};
use super::recorder::Recorder;
use super::zeno::{ZenoDetector, ZenoLimit};
use super::{Ending, EventKind};
use crate::lagrangian::State;

/// Slips at the end of a series below this many times the velocity that counts as zero are none: they are
/// extrapolated.
const EXTRAPOLATED_SLIP: f64 = 1e3;
/// Contacts that an impact without restitution leaves at more than this speed do leave, m/s: slower ones rise
/// less than 1e-11 m under gravity, below the gap that counts as closed, and come back at once.
const LEAVING_SPEED: f64 = 1e-5;

/// A series of impacts that converges: the contact whose series it is, and where it ends.
pub(super) struct ZenoAccumulation {
    pub(super) contact: usize,
    pub(super) limit: ZenoLimit,
}

/// Jumps to the end of a series of impacts, with `touching` contacts touching now; false where something else
/// comes first.
pub(super) fn jump_to_limit(
    motion: &mut Motion<'_>,
    zeno: &mut ZenoDetector,
    recorder: &mut Recorder,
    next_breakpoint: Option<f64>,
    accumulation: &ZenoAccumulation,
    touching: &[usize],
) -> Result<bool, Ending> {
    let ZenoAccumulation { contact, limit } = accumulation;
    let (q, v) = limit.y.split_at(motion.state().q.len());
    let end = State { t: motion.t() + limit.remaining, q: q.to_vec(), v: v.to_vec() };
    // All that took part come to rest, and what touches now or is closed.
    let mut resting: Vec<usize> = (0..motion.modes().contacts.len())
        .filter(|&i| zeno.takes_part(i, limit) || touching.contains(&i) || motion.is_closed(i))
        .collect();
    if !is_undisturbed(motion, zeno, next_breakpoint, limit, &end, &resting)? {
        return Ok(false);
    }
    recorder.sample_jump(motion, &end);
    let energy = motion.energy_at(motion.state());
    zeno.advance(limit.remaining);
    motion.jump_to(&end);
    if limit.lost {
        stop_at_once(motion, &mut resting)?;
    }
    for &i in &resting {
        motion.gaps().close(i);
        zeno.clear(i);
    }
    bring_to_rest(motion, &resting)?;
    let change = motion.energy_at(motion.state()) - energy;
    let name = &motion.system().contacts[*contact].name;
    recorder.report(motion.t(), EventKind::Accumulation, name).energy_change = change;
    settle(motion, recorder, &resting, None, Occasion::Jump)?;
    Ok(true)
}

/// Whether nothing but the impacts of `resting` happens before the end: no breakpoint, no impact of another
/// contact while the states were collected from which the end is extrapolated, no contact that closes beside
/// them.
fn is_undisturbed(
    motion: &mut Motion<'_>,
    zeno: &ZenoDetector,
    next_breakpoint: Option<f64>,
    limit: &ZenoLimit,
    end: &State,
    resting: &[usize],
) -> Result<bool, Ending> {
    let mut others = (0..motion.modes().contacts.len()).filter(|i| !resting.contains(i));
    let disturbed =
        next_breakpoint.is_some_and(|t| t <= end.t) || others.clone().any(|i| zeno.disturbs(i, limit));
    if !limit.lost && disturbed {
        return Ok(false);
    }
    let at = motion.equations_at(end.t, &end.q, &end.v)?;
    let open = |i: usize| {
        limit.lost || at.contacts[i].as_ref().is_none_or(|c| c.gap > CLOSED_GAP || motion.is_leaving(i))
    };
    Ok(end.t <= motion.options().t_end && others.all(open))
}

/// What is left of infinitely many impacts, as one without restitution: their percussions add up to what
/// stops all of these contacts. Those that it does not stop leave.
fn stop_at_once(motion: &mut Motion<'_>, contacts: &mut Vec<usize>) -> Result<(), Ending> {
    motion.place_on_surfaces(contacts)?;
    let mut at = motion.equations()?;
    at.contacts.iter_mut().flatten().for_each(|contact| contact.restitution = 0.0);
    contacts.retain(|i| at.contacts[*i].is_some());
    let stopped = impact(motion.system(), &at, &motion.state().v, &[], contacts, &ImpactLaw::Moreau)?;
    motion.set_velocity(&stopped.outcome.velocity);
    let after = motion.equations()?;
    let leaves = |i: usize| after.normal_velocity(i) > LEAVING_SPEED;
    contacts.iter().filter(|i| leaves(**i)).for_each(|&i| motion.gaps().rebound(i));
    contacts.retain(|i| !leaves(*i));
    Ok(())
}

/// Projects the state onto these contacts and no others; slips that are only extrapolated end.
fn bring_to_rest(motion: &mut Motion<'_>, resting: &[usize]) -> Result<(), Ending> {
    let mut at_rest = Modes {
        contacts: vec![ContactMode::Open; motion.modes().contacts.len()],
        joints: motion.modes().joints.clone(),
    };
    for &i in resting {
        at_rest.contacts[i] = ContactMode::Slide { direction: [0.0; 2] };
    }
    motion.project_onto(&at_rest)?;
    let at = motion.equations()?;
    for &i in resting {
        let contact = at.contacts[i].as_ref();
        let slip =
            contact.map_or(0.0, |c| c.slip.iter().map(|r| r.velocity * r.velocity).sum::<f64>().sqrt());
        let slow = slip <= EXTRAPOLATED_SLIP * motion.zero_velocity();
        if slow && contact.is_some_and(|c| c.mu_static > 0.0) {
            at_rest.contacts[i] = ContactMode::Stick;
        }
    }
    Ok(motion.project_velocity_onto(&at_rest)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::EventOptions;
    use crate::events::fixtures::{G, ball, state};

    /// The speed of a rebound, m/s, and the time until a ball with restitution ½ comes to rest after it: the
    /// sum of its flights, 2 u/g (1 + ½ + ¼ + …).
    const SPEED: f64 = 1e-4;
    const REMAINING: f64 = 4.0 * SPEED / G;

    fn accumulation(lost: bool) -> ZenoAccumulation {
        let y = if lost { vec![0.0, SPEED] } else { vec![0.0, 0.0] };
        let remaining = if lost { 0.0 } else { REMAINING };
        ZenoAccumulation { contact: 0, limit: ZenoLimit { remaining, flight: REMAINING, lost, y } }
    }

    /// Whether a ball that rebounds with [`SPEED`] jumps to its rest, the time after that, its height, its
    /// velocity, whether it is closed, and the last event.
    fn jumped(
        options: &EventOptions,
        breakpoint: Option<f64>,
        lost: bool,
    ) -> (bool, [f64; 3], bool, Option<(EventKind, f64)>) {
        let system = ball(0.5);
        let mut motion = Motion::new(&system, &state(&[0.0], &[SPEED]), options).unwrap();
        let (mut zeno, mut recorder) = (ZenoDetector::new(1, 1e-3), Recorder::new(options, 0.0));
        zeno.observe(0.0, &[(0, 2.0 * SPEED)], &[0.0, SPEED]);
        let jumped =
            jump_to_limit(&mut motion, &mut zeno, &mut recorder, breakpoint, &accumulation(lost), &[0]);
        let event = recorder.last_event().map(|event| (event.kind, event.energy_change));
        let now = [motion.t(), motion.state().q[0], motion.state().v[0]];
        (jumped.unwrap(), now, motion.is_closed(0), event)
    }

    #[test]
    fn a_ball_comes_to_rest_at_the_end_of_its_series() {
        let (jumped, now, closed, event) = jumped(&EventOptions::default(), None, false);
        assert!(jumped && closed && now == [REMAINING, 0.0, 0.0], "{now:?}");
        let (kind, change) = event.unwrap();
        // All of ½ m u² is lost, with mass 2.
        assert_eq!(kind, EventKind::Accumulation);
        assert!((change + SPEED * SPEED).abs() < 1e-20, "{change}");
    }

    #[test]
    fn bounces_lost_in_rounding_stop_at_once() {
        let (jumped, now, closed, _) = jumped(&EventOptions::default(), None, true);
        // A ball that leaves with a speed that counts as leaving goes on; one that is stopped stays.
        assert!(jumped && now[0] == 0.0 && now[1] == 0.0, "{now:?}");
        assert_eq!((now[2] > LEAVING_SPEED, closed), (true, false), "{now:?}");
    }

    #[test]
    fn nothing_is_jumped_over() {
        let unchanged = (false, [0.0, 0.0, SPEED], false, None);
        assert_eq!(jumped(&EventOptions::default(), Some(0.5 * REMAINING), false), unchanged);
        let soon = EventOptions { t_end: 0.5 * REMAINING, ..Default::default() };
        assert_eq!(jumped(&soon, None, false), unchanged);
        assert!(jumped(&EventOptions::default(), Some(2.0 * REMAINING), false).0);
    }
}
