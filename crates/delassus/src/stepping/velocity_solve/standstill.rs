//! Rest to the last digit: impulses that leave nothing of the motion of bodies at rest.
//!
//! ```text
//! δ = H x ,   Hᵀ H x = −M v ,   r ← r + δ
//! ```
//!
//! A solve ends within its tolerance. What it leaves of a motion, v, goes on in the next step and adds up
//! until a solve has to be made again. Bodies at rest shall have none: δ, the least change of the impulses of
//! the contacts that press, takes v away to rounding. HᵀH, 6 rows per body, has a profile of few entries
//! where bodies stand in the order in which they rest on each other: one Cholesky factorization and some
//! rounds of refinement. What nothing holds, as the spin of a ball, has no pivot and is left as it is. The
//! check of the residual decides whether r + δ is taken.

use delassus_solve::linalg::Envelope;

use super::super::row_targets::RowTargets;
use crate::collision::ContactRows;
use crate::world::{FIXED_SLOT, Masses};

/// A body is at rest if its speed is below this fraction of what gravity gives it in a step.
const STILL_RATIO: f64 = 1e-6;
/// Roundings in the velocity of a body, a sum of its impulses: velocities below so many times the rounding of
/// their terms are none.
const ROUNDINGS: f64 = 16.0;
/// What is stopped is so to this part of that.
const STOPPED_RATIO: f64 = 0.25;
/// Rounds of refinement.
const MAX_ROUNDS: usize = 6;
/// A pivot below this part of its diagonal is rounding.
const MIN_PIVOT_RATIO: f64 = 1e-11;
/// Multiplications up to which the factorization is made, some tens of milliseconds.
const MAX_WORK: usize = 50_000_000;
/// Contacts up to which it is tried.
const MAX_CONTACTS: usize = 4000;

/// What is stopped, in memory that is kept.
#[derive(Default)]
pub(super) struct Standstill {
    /// Per slot, whether its body is to be stopped.
    still: Vec<bool>,
    /// Contacts that press on such bodies, with their first rows.
    active: Vec<[u32; 2]>,
    /// Per slot, over how many bodies it rests on the ground, and its place among those that are stopped.
    level: Vec<u32>,
    place: Vec<u32>,
    /// Slots in the order of their places.
    order: Vec<u32>,
    /// First column of each row of Hᵀ H, and its factor.
    first: Vec<u32>,
    factor: Envelope,
    /// x of all rounds by slots, the motion that is left, and x of a round by places.
    x: Vec<f64>,
    rest: Vec<f64>,
    part: Vec<f64>,
}

/// A solve that left these velocities of bodies, sums of terms of these sizes.
pub(super) struct Left<'a> {
    pub(super) masses: &'a Masses,
    pub(super) contacts: &'a [ContactRows],
    pub(super) targets: &'a RowTargets,
    /// What gravity gives in a whole step, m/s.
    pub(super) fall: f64,
    pub(super) v: &'a [f64],
    pub(super) terms: &'a [f64],
}

impl Standstill {
    /// Memory for bodies with this many velocities and for this many contacts.
    pub(super) fn reserve(&mut self, velocities: usize, contacts: usize) {
        let Standstill { still, active, level, place, order, first, factor, x, rest, part } = self;
        // A body rests on few others.
        factor.reserve(velocities, 12 * velocities);
        for list in [x, rest, part] {
            list.clear();
            list.reserve(velocities);
        }
        for list in [level, place, order, first] {
            list.clear();
            list.reserve(velocities);
        }
        still.clear();
        still.reserve(velocities / 6);
        active.clear();
        active.reserve(contacts);
    }

    /// Adds δ to the impulses; whether there was a motion to take away, and δ takes it away.
    pub(super) fn stop(&mut self, left: &Left<'_>, impulse: &mut [f64]) -> bool {
        if left.contacts.len() > MAX_CONTACTS || !self.find_still(left) {
            return false;
        }
        self.find_active(left, impulse);
        if self.active.is_empty() || !self.solve(left) {
            return false;
        }
        for &[i, at] in &self.active {
            let contact = &left.contacts[i as usize];
            for k in 0..contact.law.dim() {
                impulse[at as usize + k] += contact.velocity(k, &self.x);
            }
        }
        true
    }

    /// Which bodies are to be stopped; whether one of them moves.
    fn find_still(&mut self, left: &Left<'_>) -> bool {
        let slow = STILL_RATIO * left.fall;
        self.still.clear();
        self.still.extend(left.v.chunks_exact(6).map(|v| v.iter().all(|v| v.abs() <= slow)));
        let mut moving = self.still.iter().zip(left.v.chunks_exact(6));
        moving.any(|(still, v)| *still && v.iter().any(|v| *v != 0.0))
    }

    /// Contacts that press, keep what they have and touch no other bodies than such and fixed ones.
    fn find_active(&mut self, left: &Left<'_>, impulse: &[f64]) {
        self.active.clear();
        let mut at = 0;
        for (i, contact) in left.contacts.iter().enumerate() {
            if left.targets.normal_bias[i].is_none() {
                continue;
            }
            let n = contact.law.dim();
            let resting = |slot: &u32| *slot == FIXED_SLOT || self.still[*slot as usize];
            let held = (0..n).all(|k| left.targets.contact_bias(i, k) == Some(0.0));
            if impulse[at] > 0.0 && held && contact.slots.iter().all(resting) {
                self.active.push([i as u32, at as u32]);
            }
            at += n;
        }
    }

    /// x of Hᵀ H x = −M v on the bodies that are stopped; whether that is so to rounding.
    fn solve(&mut self, left: &Left<'_>) -> bool {
        let n = left.v.len();
        self.find_order(left, n / 6);
        if !self.set_profile(left) {
            return false;
        }
        self.assemble(left);
        // What nothing holds has no pivot and gets no part.
        let root = |diagonal: f64, left: f64| match left > MIN_PIVOT_RATIO * diagonal {
            true => left.sqrt(),
            false => f64::INFINITY,
        };
        self.factor.factorize(root);
        self.x.clear();
        self.x.resize(n, 0.0);
        for _ in 0..MAX_ROUNDS {
            self.find_rest(left);
            let small = |(body, rest): (usize, &[f64])| {
                let (masses, bound) = (&left.masses.mass[3 * body..], rounding(&left.terms[3 * body..]));
                rest.iter().zip(masses).all(|(rest, mass)| rest.abs() <= STOPPED_RATIO * bound * mass)
            };
            if self.rest.chunks_exact(3).enumerate().all(small) {
                return true;
            }
            let Standstill { order, part, rest, factor, x, .. } = self;
            part.clear();
            part.extend(order.iter().flat_map(|slot| &rest[6 * *slot as usize..][..6]));
            factor.solve(part);
            for (slot, part) in order.iter().zip(part.chunks_exact(6)) {
                let own = &mut x[6 * *slot as usize..][..6];
                own.iter_mut().zip(part).for_each(|(x, part)| *x += part);
            }
        }
        false
    }

    /// Bodies that pressing contacts hold, from the ground upwards.
    fn find_order(&mut self, left: &Left<'_>, slots: usize) {
        let Standstill { active, level, place, order, .. } = self;
        level.clear();
        level.resize(slots, u32::MAX);
        let mut passes = 0;
        loop {
            let mut changed = false;
            for &[i, _] in active.iter() {
                let [a, b] = left.contacts[i as usize].slots;
                let of = |slot: u32| if slot == FIXED_SLOT { 0 } else { level[slot as usize] };
                let next = of(a).min(of(b)).saturating_add(1);
                for slot in [a, b].into_iter().filter(|slot| *slot != FIXED_SLOT) {
                    if level[slot as usize] > next {
                        level[slot as usize] = next;
                        changed = true;
                    }
                }
            }
            passes += 1;
            if !changed || passes > slots {
                break;
            }
        }
        // What rests on nothing is not held, and flies.
        let held = |slot: &u32| *slot == FIXED_SLOT || level[*slot as usize] != u32::MAX;
        active.retain(|[i, _]| left.contacts[*i as usize].slots.iter().all(held));
        order.clear();
        order.extend((0..slots as u32).filter(|slot| level[*slot as usize] != u32::MAX));
        order.sort_unstable_by_key(|slot| (level[*slot as usize], *slot));
        place.clear();
        place.resize(slots, u32::MAX);
        (0..).zip(order.iter()).for_each(|(k, slot)| place[*slot as usize] = k);
    }

    /// The profile of Hᵀ H; whether its factorization is cheap enough.
    fn set_profile(&mut self, left: &Left<'_>) -> bool {
        let Standstill { active, place, order, first, factor, .. } = self;
        first.clear();
        first.extend((0..order.len() as u32).flat_map(|k| [6 * k; 6]));
        for &[i, _] in active.iter() {
            let at = |slot: u32| if slot == FIXED_SLOT { u32::MAX } else { place[slot as usize] };
            let [a, b] = left.contacts[i as usize].slots.map(at);
            if a.max(b) != u32::MAX {
                let rows = &mut first[6 * a.max(b) as usize..][..6];
                rows.iter_mut().for_each(|first| *first = (*first).min(6 * a.min(b)));
            }
        }
        if factor.set_profile(first.iter().copied()) > MAX_WORK {
            return false;
        }
        factor.clear();
        true
    }

    fn assemble(&mut self, left: &Left<'_>) {
        let Standstill { active, place, factor, .. } = self;
        for &[i, _] in active.iter() {
            let contact = &left.contacts[i as usize];
            let sides = || (0..2).filter(|side| contact.slots[*side] != FIXED_SLOT);
            for (a, b) in sides().flat_map(|a| sides().map(move |b| (a, b))) {
                let [p, q] = [a, b].map(|side| 6 * place[contact.slots[side] as usize] as usize);
                if p < q {
                    continue;
                }
                for k in 0..contact.law.dim() {
                    let (h, g) = (&contact.blocks[a][k], &contact.blocks[b][k]);
                    for (c, h) in h.iter().enumerate() {
                        let row = p + c;
                        let at = q - factor.first(row);
                        let width = if p == q { c + 1 } else { 6 };
                        let entries = &mut factor.row_mut(row)[at..at + width];
                        entries.iter_mut().zip(g).for_each(|(entry, g)| *entry += h * g);
                    }
                }
            }
        }
    }

    /// −M v − Hᵀ H x.
    fn find_rest(&mut self, left: &Left<'_>) {
        let Standstill { still, active, x, rest, .. } = self;
        rest.clear();
        let of = |c: usize| if still[c / 6] { -left.masses.mass[c] * left.v[c] } else { 0.0 };
        rest.extend((0..left.v.len()).map(of));
        for &[i, _] in active.iter() {
            subtract_product(&left.contacts[i as usize], x, rest);
        }
    }
}

/// What rounding may leave of a velocity or of an angular velocity, three sums of terms of these sizes.
fn rounding(terms: &[f64]) -> f64 {
    ROUNDINGS * f64::EPSILON * terms[..3].iter().fold(0.0, |m: f64, x| m.max(*x))
}

/// Velocities that are the rounding of their terms become zero: what rests does not creep by the rounding of
/// what holds it. Of a body that moves, those that are the rounding of their own terms.
pub(super) fn stop_rounding(terms: &[f64], v: &mut [f64]) {
    for (v, terms) in v.chunks_exact_mut(6).zip(terms.chunks_exact(6)) {
        let bounds = [rounding(terms), rounding(&terms[3..])];
        let rests = v.iter().enumerate().all(|(c, v)| v.abs() <= bounds[c / 3]);
        for (v, terms) in v.iter_mut().zip(terms) {
            if rests || v.abs() <= ROUNDINGS * f64::EPSILON * terms {
                *v = 0.0;
            }
        }
    }
}

/// out ← out − Hᵀ H x of one contact.
fn subtract_product(contact: &ContactRows, x: &[f64], out: &mut [f64]) {
    for k in 0..contact.law.dim() {
        let u = contact.velocity(k, x);
        for (slot, blocks) in contact.slots.iter().zip(&contact.blocks) {
            if *slot != FIXED_SLOT {
                let own = &mut out[6 * *slot as usize..][..6];
                own.iter_mut().zip(&blocks[k]).for_each(|(out, h)| *out -= h * u);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::test_worlds::on_a_floor;
    use super::*;
    use crate::stepping::model::fixtures::linearized;
    use crate::stepping::options::StepOptions;
    use crate::world::ShapeKind;
    use glam::DVec3;

    #[test]
    fn velocities_that_are_rounding_of_their_terms_are_zero_and_others_stay() {
        let small = 4.0 * f64::EPSILON;
        let terms = [2.0, 1.0, 1.0, 0.5, 0.5, 0.5];
        let mut rests = [small, -small, 8.0 * small, small, 0.0, -small];
        stop_rounding(&terms, &mut rests);
        assert_eq!(rests, [0.0; 6]);
        // One that moves loses what is the rounding of its own terms only.
        let mut moves = [1.0, small, -8.0 * small, small, 0.0, 0.1];
        stop_rounding(&terms, &mut moves);
        assert_eq!(moves, [1.0, 0.0, -8.0 * small, 0.0, 0.0, 0.1]);
        // A free body has no terms but its velocity.
        let free = [1e-300, 0.0, 3.0, 1e-9, 0.0, 0.0];
        let mut same = free;
        stop_rounding(&free, &mut same);
        assert_eq!(same, free);
    }

    #[test]
    fn the_least_change_of_impulses_takes_a_small_motion_away() {
        let kind = ShapeKind::Box { half_extents: DVec3::splat(0.1) };
        let (world, mut state) = on_a_floor(kind, 0.1, [0.5, 0.0]);
        let (model, on) = linearized(world, &mut state, StepOptions::default(), 1e-3);
        assert_eq!(on.contacts().len(), 4);
        let targets = RowTargets { joints: vec![], normal_bias: vec![Some(0.0); 4], slip_bias: vec![] };
        let v = [1e-11, -2e-11, 3e-11, 4e-11, -5e-11, 6e-11];
        let terms = [1e-2; 6];
        let fall = 9.81e-3;
        let left = Left {
            masses: &model.masses,
            contacts: on.contact_rows(),
            targets: &targets,
            fall,
            v: &v,
            terms: &terms,
        };
        let mut standstill = Standstill::default();
        let pressing = [1e-3, 0.0, 0.0].repeat(4);
        let mut impulse = pressing.clone();
        assert!(standstill.stop(&left, &mut impulse));
        let mut after = v;
        for (k, rows) in on.contact_rows().iter().enumerate() {
            let change: Vec<f64> = (0..3).map(|c| impulse[3 * k + c] - pressing[3 * k + c]).collect();
            rows.apply_impulse(&change, &model.masses.inverse, &mut after);
        }
        assert!(after.iter().all(|v| v.abs() < 1e-16), "{after:?}");
        // Without what presses there is nothing to change.
        assert!(!standstill.stop(&left, &mut [0.0; 12]));
        // What falls is not at rest.
        let falls = Left { v: &[0.0, 0.0, -1e-3, 0.0, 0.0, 0.0], ..left };
        assert!(!standstill.stop(&falls, &mut pressing.clone()));
    }
}
