//! Modes that meet where rounding hides which of them a solution lies in.
//!
//! ```text
//! Φ : (a, f, u) ↦ (M a − Jᵀf , u − J a)   on the graph of the laws ,      Φ(a, f, u) = (−F, γ)
//! ```
//!
//! The graph of the laws is a piecewise linear manifold of dimension m, and Φ is linear on each mode. A
//! solution near a face of several modes: those around the face, with the generators of the face taken as
//! free, fill the space. Where Φ is regular on all of them and maps modes that share a wall to different
//! sides of its image, it is open, and the number of points that map to one is the same wherever none lies on
//! a wall. Where that number is one for some load, the probe, Φ is one to one (two points with the same image
//! would have neighbourhoods whose images meet, and a load there would have two), and exactly one point
//! around the face maps to the loads of the problem. It is a solution, since the generators of the face have
//! positive shares in it, in whichever mode it lies.

use super::mode::{ModeAnswer, Motion, Share, Witness};
use super::{Examined, Generator};
use crate::linalg::Interval;

/// Largest number of modes around a face.
const MAX_AROUND: usize = 64;

/// The modes around the face at which one may hold a solution, and what is known of the solution that they
/// hold together; `None` where that is not shown.
pub(super) fn around(modes: &[Examined], at: usize) -> Option<(Vec<usize>, ModeAnswer)> {
    if modes[at].answer.witness.is_some() {
        return None;
    }
    let face: Vec<(usize, Generator)> =
        modes[at].answer.shares.as_ref()?.iter().filter_map(certain).collect();
    let meets = |x: &&Examined| face.iter().all(|(k, g)| x.cones[*k].iter().any(|c| c.covers(g)));
    let members: Vec<usize> = (0..modes.len()).filter(|&i| meets(&&modes[i])).collect();
    if members.len() > MAX_AROUND {
        return None;
    }
    let shares = members.iter().map(|&i| modes[i].answer.shares.as_deref()).collect::<Option<Vec<_>>>()?;
    let in_face = |s: &Share, (k, g): &(usize, Generator)| s.constraint == *k && s.generator.covers(g);
    let positive = |shares: &&[Share]| {
        face.iter().all(|c| shares.iter().any(|s| in_face(s, c) && certain(s).as_ref() == Some(c)))
    };
    if !shares.iter().all(positive) {
        return None;
    }
    for (i, one) in shares.iter().enumerate() {
        for other in &shares[i + 1..] {
            if wall(one, other).is_some_and(|[a, b]| !(a.lo > 0.0 && b.hi < 0.0 || a.hi < 0.0 && b.lo > 0.0))
            {
                return None;
            }
        }
    }
    let mut count = 0;
    for shares in &shares {
        let ray = |s: &&Share| !s.generator.is_free() && !face.iter().any(|c| in_face(s, c));
        if shares.iter().filter(ray).any(|s| s.probe.contains(0.0)) {
            return None;
        }
        count += usize::from(shares.iter().filter(ray).all(|s| s.probe.lo > 0.0));
    }
    let hull = |part: fn(&ModeAnswer) -> &Vec<Interval>| -> Vec<Interval> {
        let all = members.iter().map(|&i| part(&modes[i].answer).clone());
        let join = |(x, y): (&Interval, &Interval)| Interval::new(x.lo.min(y.lo), x.hi.max(y.hi));
        all.reduce(|x, y| x.iter().zip(&y).map(join).collect()).unwrap_or_default()
    };
    let (acceleration, force) = (hull(|a| &a.acceleration), hull(|a| &a.force));
    let answer = ModeAnswer {
        empty: false,
        shares: None,
        support: vec![],
        witness: Some(Witness { acceleration: acceleration.clone(), force: force.clone() }),
        motion: Motion::Fixed,
        forces: Motion::Fixed,
        acceleration,
        force,
    };
    (count == 1).then_some((members, answer))
}

/// The generator of a share that is positive for all data, or free; a velocity with the sign that it has.
fn certain(share: &Share) -> Option<(usize, Generator)> {
    let (value, k) = (share.value, share.constraint);
    match share.generator {
        Generator::Velocity { row, sign: 0 } if value.lo > 0.0 => {
            Some((k, Generator::Velocity { row, sign: 1 }))
        }
        Generator::Velocity { row, sign: 0 } if value.hi < 0.0 => {
            Some((k, Generator::Velocity { row, sign: -1 }))
        }
        Generator::Velocity { row, sign } if sign != 0 && value.lo > 0.0 => {
            Some((k, Generator::Velocity { row, sign }))
        }
        g @ Generator::Force { free, .. } if free || value.lo > 0.0 => Some((k, g)),
        _ => None,
    }
}

/// The probe's shares of the two generators that differ, where two modes have all others in common.
fn wall(one: &[Share], other: &[Share]) -> Option<[Interval; 2]> {
    let same = |x: &Share, y: &Share| {
        x.constraint == y.constraint && (x.generator.covers(&y.generator) || y.generator.covers(&x.generator))
    };
    let lone = |x: &[Share], y: &[Share]| {
        let mut alone = x.iter().filter(|s| !y.iter().any(|t| same(s, t)));
        match (alone.next(), alone.next()) {
            (Some(s), None) => Some((s.constraint, s.probe)),
            _ => None,
        }
    };
    let ((k, a), (l, b)) = (lone(one, other)?, lone(other, one)?);
    (k == l).then_some([a, b])
}
