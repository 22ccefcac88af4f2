//! Contacts that the linearized gap sees wrongly: speculative ones, which do not touch, and missed ones.
//!
//! ```text
//! speculative:  gap > 0 ,   gap + h u_n < 0 ,   shapes apart along q ⊕ t v ,  0 ≤ t ≤ h
//! missed:       gap(q_{k+1}) < 0   without a contact in the linearization at q_k
//! ```
//!
//! u_n is the normal velocity of a motion v. A contact is linearized by its tangent plane: what passes an
//! edge would be pushed by the plane of a face that it never meets. Contacts which the motion without
//! impulses does not close are left out, and so are those that push though their shapes do not touch at the
//! end, or touch there in another direction. What is left out is swept again with the motion that was solved:
//! where shapes touch, the substep ends.

use super::linearization::{Linearization, Linearizer};
use super::model::{MAX_CAREFUL_CONTACTS, Model};
use super::row_targets::{DriftEnd, GapRule, RowTargets, SubstepView};
use super::warm_start::key;
use crate::collision::{Contact, ShapePair, Sweep};
use crate::world::{BodyState, FIXED_SLOT, WorldState};

/// Bodies that move by less than this part of the thinner shape cannot be through it: what they meet is seen
/// at the end of the substep.
const MAX_MOTION_RATIO: f64 = 0.5;
/// A contact sees an overlap where its own gap is below this part of what counts as touching.
const SEEN_OVERLAP_RATIO: f64 = 0.5;
/// The same for bodies that fly past each other: a corner that passes another within a substep is inside by
/// half of its motion at most.
const MAX_UNSEEN_MOTION_RATIO: f64 = 0.1;
/// The part of its speed of arrival that a contact with a rebound may lose before it touches.
const MAX_BRAKING_RATIO: f64 = 1e-6;
/// Cosine of the angle (8°) by which a normal may rotate while its contact closes: what it pushes askew is
/// 1 % of the impulse in energy.
const MIN_NORMAL_COSINE: f64 = 0.99;

/// What the sweep of contacts that were left out found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LeftOut {
    /// They stay apart.
    Apart,
    /// Some were taken in again.
    TakenIn,
    /// Shapes touch after this time.
    Touch(f64),
}

/// Finds speculative and missed contacts, in memory that is kept.
#[derive(Default)]
pub(super) struct ContactSearch {
    overlaps: Vec<Contact>,
    speculative: Vec<u32>,
    left_out: Vec<usize>,
    new: Vec<Contact>,
    /// Begin of the substep, with the velocities of a motion.
    moving: WorldState,
    /// Pairs whose contacts are left out until the substep ends where they touch.
    suspended: Vec<ShapePair>,
    /// How many of them were so at the start: the substep ends where they touch.
    ending: usize,
}

impl ContactSearch {
    /// Pairs at whose touch the substep ends.
    pub(super) fn ending(&self) -> &[ShapePair] {
        &self.suspended[..self.ending]
    }

    /// No pair is suspended.
    pub(super) fn clear(&mut self) {
        self.suspended.clear();
    }

    /// Contacts that were found and are not in the linearization, measured at the start of the substep.
    pub(super) fn found(&mut self) -> impl Iterator<Item = Contact> + '_ {
        self.new.drain(..)
    }

    /// Sets the motion to sweep.
    fn set_motion(&mut self, model: &Model, begin: &[BodyState], velocity: &[f64]) {
        self.moving.bodies.clear();
        self.moving.bodies.extend_from_slice(begin);
        model.masses.scatter_velocities(velocity, &mut self.moving.bodies);
    }

    /// Contacts that only the linearized gap closes: their shapes stay apart along the motion without
    /// impulses. Those of pairs at whose touch the substep shall end are left out too.
    pub(super) fn find_speculative(
        &mut self,
        on: SubstepView<'_>,
        targets: &RowTargets,
        linearizer: &mut Linearizer,
    ) -> &[u32] {
        let SubstepView { model, linearization, start, plan } = on;
        let (h, free) = (plan.length, &start.free_velocity);
        self.ending = self.suspended.len();
        self.speculative.clear();
        // Memory for all pairs, before one of them is suspended.
        if self.suspended.capacity() < linearization.contacts().len() {
            self.suspended.reserve(2 * linearization.contacts().len());
        }
        if linearization.contacts().iter().all(|contact| contact.gap <= model.touching()) {
            return &self.speculative;
        }
        self.set_motion(model, &start.bodies, free);
        let ContactSearch { speculative, moving, suspended, .. } = self;
        let mut last = None;
        for (i, contact) in linearization.contacts().iter().enumerate() {
            if contact.gap <= model.touching() {
                continue;
            }
            let ends = plan.gaps == GapRule::Exact && suspended.contains(&contact.pair());
            // Where a body rotates far, what the linearized gap keeps open may be closed by its correction.
            let closes = (contact.gap + h * linearization.contact_rows()[i].velocity(0, free) < 0.0
                || is_fast(linearization, linearizer, contact.pair()))
                && targets.normal_bias[i].is_some_and(|bias| bias > 0.0);
            let mut sweep = || {
                sweep_once(&mut last, contact, || linearizer.sweep(model, contact.pair(), &moving.bodies, h))
            };
            if ends || (closes && sweep() == Sweep::Apart) {
                speculative.push(i as u32);
            }
        }
        speculative
    }

    /// Contacts that push though their shapes do not touch at the end of a drift, or touch there with
    /// another normal, or would rebound and are slowed down before they touch: they are left out and their
    /// pairs suspended, once in a substep. Whether there are any.
    pub(super) fn suspend(
        &mut self,
        on: SubstepView<'_>,
        end: &DriftEnd<'_>,
        linearizer: &mut Linearizer,
        targets: &mut RowTargets,
    ) -> bool {
        let SubstepView { model, linearization, plan, .. } = on;
        let first = self.suspended.len();
        let careful = linearization.contacts().len() <= MAX_CAREFUL_CONTACTS;
        for (i, contact) in linearization.contacts().iter().enumerate() {
            // The associated law keeps what slides apart by h μ |u_t|.
            let relaxed = linearization.contact_rows()[i].law.is_associated();
            let pushes = contact.gap > model.touching()
                && !relaxed
                && targets.normal_bias[i].is_some()
                && end.impulses.contacts[i][0] > 0.0;
            if !pushes
                || self.suspended.contains(&contact.pair())
                || !(careful || is_fast(linearization, linearizer, contact.pair()))
            {
                continue;
            }
            let early = plan.may_cut && linearization.restitution()[i] > 0.0 && brakes(on, end, i);
            let [a, b] = contact.bodies.map(|b| &end.bodies[b as usize].pose);
            let turned = contact.gap_at(a, b).1.dot(contact.normal) < MIN_NORMAL_COSINE;
            if (turned && plan.may_cut) || early || !linearizer.touches(model, contact.pair(), end.bodies) {
                self.suspended.push(contact.pair());
            }
        }
        for (i, contact) in linearization.contacts().iter().enumerate() {
            if contact.gap > model.touching() && self.suspended[first..].contains(&contact.pair()) {
                targets.normal_bias[i] = None;
            }
        }
        self.suspended.len() > first
    }

    /// Sweeps what is left out, what is fast and pushes nothing, and what is out of reach of the
    /// linearization, along a motion from the start of the substep. Where shapes touch first, the substep
    /// shall end; where it may not, or where that was not decided, contacts that were left out are taken in
    /// and [`ContactSearch::found`] has others.
    // Long: one pass over three kinds of pairs that look for the first touch.
    pub(super) fn sweep_left_out(
        &mut self,
        on: SubstepView<'_>,
        end: &DriftEnd<'_>,
        linearizer: &mut Linearizer,
        targets: &mut RowTargets,
    ) -> LeftOut {
        let SubstepView { model, linearization, start, plan } = on;
        let h = plan.length;
        self.set_motion(model, &start.bodies, end.velocity);
        let ContactSearch { overlaps, moving, suspended, new, ending, .. } = self;
        new.clear();
        let mut first: Option<(f64, ShapePair)> = None;
        let mut touch = |t: f64, pair: ShapePair| {
            if first.is_none_or(|(before, _)| t < before) {
                first = Some((t, pair));
            }
        };
        let (contacts, rows) = (linearization.contacts(), linearization.contact_rows());
        // A contact follows its point: one that the motion keeps open decides nothing for other points, nor
        // does one that has rebounded and leaves.
        let holds = |i: usize| {
            let closed = contacts[i].gap <= model.touching();
            let leaves = || h * rows[i].velocity(0, end.velocity) > model.touching();
            end.impulses.contacts[i][0] > 0.0 || closed && !leaves()
        };
        let keeps_apart =
            |pair: ShapePair| (0..contacts.len()).any(|i| contacts[i].pair() == pair && holds(i));
        // What lies on a floor of tiles comes to the next one without meeting it.
        let flies = |pair: ShapePair| {
            let own = |b: &u32| pair.bodies.contains(b) && !model.world.bodies[*b as usize].fixed;
            !(0..contacts.len()).any(|i| contacts[i].bodies.iter().any(own) && holds(i))
        };
        let (mut taken_in, mut last) = (false, None);
        for (i, contact) in contacts.iter().enumerate().filter(|(_, c)| c.gap > model.touching()) {
            let pair = contact.pair();
            let left_out = targets.normal_bias[i].is_none();
            let is_suspended = suspended.contains(&pair);
            // Where the linearized gap is closed at the end and the shapes are apart, they may have been
            // inside each other on the way: round ones and corners that graze.
            let grazes = || {
                end.impulses.contacts[i][0] == 0.0
                    && contact.gap + h * rows[i].velocity(0, end.velocity) < 0.0
            };
            let far = || moves(linearization, linearizer, pair, MAX_UNSEEN_MOTION_RATIO);
            let few = contacts.len() <= MAX_CAREFUL_CONTACTS;
            let unseen = || few && (grazes() || far()) && flies(pair);
            let cut = plan.may_cut && (is_suspended || is_fast(linearization, linearizer, pair) || unseen());
            // What moves as without impulses has been swept.
            let swept = || rows[i].slots.iter().all(|&slot| same(slot, end.velocity, &start.free_velocity));
            if (left_out && !is_suspended && swept()) || (!left_out && (!cut || keeps_apart(pair))) {
                continue;
            }
            match sweep_once(&mut last, contact, || linearizer.sweep(model, pair, &moving.bodies, h)) {
                Sweep::Apart => {}
                // As planned.
                Sweep::Touch(_)
                    if suspended[..*ending].contains(&pair)
                        && linearizer.touches(model, pair, end.bodies) => {}
                Sweep::Touch(t) | Sweep::Near(t) if cut => touch(t, pair),
                Sweep::Touch(_) | Sweep::Near(_) | Sweep::Undecided => {
                    taken_in |= left_out;
                    if left_out {
                        targets.take_in(i, contact.gap / h);
                    }
                }
            }
        }
        for &pair in linearization.silent() {
            let fast = plan.may_cut && is_fast(linearization, linearizer, pair);
            if fast && let Sweep::Touch(t) | Sweep::Near(t) = linearizer.sweep(model, pair, &moving.bodies, h)
            {
                touch(t, pair);
            }
        }
        linearizer.find_beyond(model, moving, h, linearization.margins(), overlaps);
        let known = |pair: ShapePair| linearization.contacts().iter().any(|c| c.pair() == pair);
        for contact in overlaps.drain(..).filter(|contact| !known(contact.pair())) {
            match linearizer.sweep(model, contact.pair(), &moving.bodies, h) {
                Sweep::Touch(t) | Sweep::Near(t) if plan.may_cut => touch(t, contact.pair()),
                Sweep::Touch(_) => new.push(contact),
                Sweep::Apart | Sweep::Near(_) | Sweep::Undecided => {}
            }
        }
        match first {
            Some((t, touching)) => {
                suspended.push(touching);
                LeftOut::Touch(t)
            }
            None if taken_in || !new.is_empty() => LeftOut::TakenIn,
            None => LeftOut::Apart,
        }
    }

    /// Bodies that overlap at a state though the linearization does not keep them apart: contacts of it that
    /// were left out; [`ContactSearch::found`] has the others. Those at whose touch the substep shall end
    /// can wait where `wait` is set: the motion is not the last.
    pub(super) fn find_missed(
        &mut self,
        on: SubstepView<'_>,
        targets: &RowTargets,
        linearizer: &mut Linearizer,
        state: &WorldState,
        wait: bool,
    ) -> &[usize] {
        let SubstepView { model, linearization, start, plan } = on;
        let ContactSearch { overlaps, left_out, new, suspended, .. } = self;
        linearizer.find_overlaps(model, state, overlaps);
        left_out.clear();
        new.clear();
        let tolerance = model.touching();
        for mut contact in overlaps.drain(..).filter(|contact| contact.gap < -tolerance) {
            // The point of a rim or an edge that touches may have moved on: one that does not see the overlap
            // is another.
            let poses = contact.bodies.map(|b| &state.bodies[b as usize].pose);
            let sees = |c: &Contact| {
                key(c) == key(&contact) && c.gap_at(poses[0], poses[1]).0 < -SEEN_OVERLAP_RATIO * tolerance
            };
            if let Some(i) = linearization.contacts().iter().position(sees) {
                let waits = wait
                    && plan.may_cut
                    && (suspended.contains(&contact.pair())
                        || is_fast(linearization, linearizer, contact.pair()));
                if targets.normal_bias[i].is_none() && !waits {
                    left_out.push(i);
                }
                continue;
            }
            if new.iter().any(sees) {
                continue;
            }
            let [a, b] = contact.bodies.map(|b| &start.bodies[b as usize].pose);
            let (gap, normal) = contact.gap_at(a, b);
            let surfaces = (a.point(contact.core[0]) + normal * contact.radius[0])
                + (b.point(contact.core[1]) - normal * contact.radius[1]);
            (contact.gap, contact.normal, contact.point) = (gap, normal, 0.5 * surfaces);
            new.push(contact);
        }
        left_out
    }
}

/// Sweeps a pair, whose contacts follow each other, once.
fn sweep_once(
    last: &mut Option<(ShapePair, Sweep)>,
    contact: &Contact,
    sweep: impl FnOnce() -> Sweep,
) -> Sweep {
    match *last {
        Some((swept, found)) if swept == contact.pair() => found,
        _ => last.insert((contact.pair(), sweep())).1,
    }
}

/// Whether contact i, which is open, slows down what comes: the shapes meet before the substep ends, as where
/// other points of bodies that rotate are first. A rebound would begin with less than the speed of arrival.
fn brakes(on: SubstepView<'_>, end: &DriftEnd<'_>, i: usize) -> bool {
    let rows = &on.linearization.contact_rows()[i];
    let [before, after] = [&on.start.velocity[..], end.velocity].map(|v| rows.velocity(0, v));
    -before > on.model.zeno_speed(on.model.world.gravity.length())
        && after - before > MAX_BRAKING_RATIO * -before
}

/// Whether a body, or none, has the same velocity in both.
fn same(slot: u32, v: &[f64], w: &[f64]) -> bool {
    let at = 6 * slot as usize;
    slot == FIXED_SLOT || v[at..at + 6] == w[at..at + 6]
}

/// Whether the bodies of a contact move so far that one could be through the other.
fn is_fast(linearization: &Linearization, linearizer: &Linearizer, pair: ShapePair) -> bool {
    moves(linearization, linearizer, pair, MAX_MOTION_RATIO)
}

/// Whether they move by this part of the thinner shape.
fn moves(linearization: &Linearization, linearizer: &Linearizer, pair: ShapePair, ratio: f64) -> bool {
    let motion = pair.bodies.map(|b| linearization.margins()[b as usize]).iter().sum::<f64>();
    motion >= ratio * linearizer.thickness(pair)
}

#[cfg(test)]
mod tests {
    use super::super::model::fixtures::*;
    use super::super::options::StepOptions;
    use super::super::row_targets::{ContactEnergy, LimitRule, SubstepPlan, SubstepStart, position_targets};
    use super::*;
    use crate::world::{ShapeKind, World};
    use glam::DVec3;

    const H: f64 = 0.01;

    /// A small ball beside the edge of a fixed block, at this place and with this velocity.
    fn ball_at_edge(position: DVec3, velocity: DVec3) -> (World, WorldState) {
        let (mut world, mut state) = ball_on_floor(smooth(), 0.0, velocity);
        world.gravity = DVec3::ZERO;
        world.bodies[0] = body("block", true, ShapeKind::Box { half_extents: DVec3::splat(1.0) });
        world.bodies[1].shapes[0].kind = ShapeKind::Sphere { radius: 0.05 };
        state.bodies[1].pose.position = position;
        (world, state)
    }

    fn plan(length: f64) -> SubstepPlan {
        SubstepPlan {
            length,
            opening_time: length,
            joint_time: length,
            limits: LimitRule::Enforce,
            gaps: GapRule::Exact,
            energy: ContactEnergy::Bounded,
            may_retry: true,
            may_shorten: true,
            opening: 1.0,
            may_cut: true,
        }
    }

    fn speculative(case: (World, WorldState)) -> (usize, Vec<u32>) {
        let (world, mut state) = case;
        let (model, linearization) = linearized(world, &mut state, StepOptions::default(), H);
        let mut start = SubstepStart::default();
        start.record(&model, &linearization, &state, H);
        let plan = plan(H);
        let on = SubstepView { model: &model, linearization: &linearization, start: &start, plan: &plan };
        let mut targets = RowTargets::default();
        position_targets(on, &mut targets);
        let (mut search, mut linearizer) = (ContactSearch::default(), Linearizer::new(&model));
        let found = search.find_speculative(on, &targets, &mut linearizer).to_vec();
        (linearization.contacts().len(), found)
    }

    #[test]
    fn a_ball_that_passes_an_edge_is_not_pushed_and_one_that_meets_the_face_is() {
        // Above the block by 1 mm, and 2 m/s down.
        let (contacts, found) =
            speculative(ball_at_edge(DVec3::new(0.5, 0.0, 1.051), DVec3::new(0.0, 0.0, -2.0)));
        assert_eq!((contacts, found.len()), (1, 0));
        // Diagonally beside the edge, moving along it past the corner of the linearized gap: it never
        // overlaps.
        let beside = DVec3::new(1.0 + 0.037, 0.0, 1.0 + 0.037);
        let (contacts, found) = speculative(ball_at_edge(beside, DVec3::new(1.5, 0.0, -1.9)));
        assert_eq!((contacts, found.len()), (1, 1));
    }

    #[test]
    fn bodies_that_overlap_at_the_end_without_a_contact_get_one_at_their_begin() {
        let (world, mut state) = ball_on_floor(smooth(), 0.5, DVec3::ZERO);
        let (model, linearization) = linearized(world, &mut state, StepOptions::default(), 1e-3);
        assert!(linearization.contacts().is_empty());
        let mut start = SubstepStart::default();
        start.record(&model, &linearization, &state, 1e-3);
        state.bodies[1].pose.position.z = RADIUS - 0.01;
        let (mut search, mut linearizer) = (ContactSearch::default(), Linearizer::new(&model));
        let (targets, plan) = (RowTargets::default(), plan(1e-3));
        let on = SubstepView { model: &model, linearization: &linearization, start: &start, plan: &plan };
        let left_out = search.find_missed(on, &targets, &mut linearizer, &state, false).len();
        let found: Vec<Contact> = search.found().collect();
        assert_eq!((left_out, found.len()), (0, 1));
        assert!((found[0].gap - 0.5).abs() < 1e-12, "{}", found[0].gap);
    }
}
