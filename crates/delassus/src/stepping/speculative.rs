//! Contacts that the linearized gap sees wrongly: speculative ones, which do not touch, and missed ones.
//!
//! ```text
//! speculative:  gap > 0 ,   gap + h u_n < 0 ,   no overlap at q ⊕ ½h v nor at q ⊕ h v
//! missed:       gap(q_{k+1}) < 0   without a contact in the linearization at q_k
//! ```
//!
//! u_n is the normal velocity of the motion v without impulses. A contact is linearized by its tangent plane:
//! what passes an edge would be pushed by the plane of a face that it never meets.

use super::linearization::{Linearization, Linearizer};
use super::model::Model;
use super::row_targets::{RowTargets, SubstepView};
use super::warm_start::key;
use crate::collision::{Contact, Features};
use crate::world::{BodyState, WorldState};

/// The part of the thinner shape that bodies may move by for a contact to be left out: what is faster could
/// be through.
const MAX_MOTION_RATIO: f64 = 0.5;
/// A contact sees an overlap where its own gap is below this part of what counts as touching.
const SEEN_OVERLAP_RATIO: f64 = 0.5;

/// Finds speculative and missed contacts, in memory that is kept.
#[derive(Default)]
pub(super) struct ContactSearch {
    overlaps: Vec<Contact>,
    speculative: Vec<u32>,
    left_out: Vec<usize>,
    new: Vec<Contact>,
}

/// Contacts of bodies that overlap at the end of a drift.
pub(super) struct MissedContacts<'a> {
    /// Contacts of the linearization that had been left out.
    pub(super) left_out: &'a [usize],
    /// Contacts that were not in it, measured at the begin of the substep.
    pub(super) new: &'a mut Vec<Contact>,
}

impl ContactSearch {
    /// Contacts that only the linearized gap closes: their shapes do not overlap halfway along the motion
    /// without impulses, nor at its end. [`ContactSearch::find_missed`] finds them again where other impulses
    /// lead into an overlap. The state comes back as it was.
    pub(super) fn find_speculative(
        &mut self,
        on: SubstepView<'_>,
        targets: &RowTargets,
        linearizer: &mut Linearizer,
        state: &mut WorldState,
    ) -> &[u32] {
        let SubstepView { model, linearization, start, plan } = on;
        let (h, free) = (plan.length, &start.free_velocity);
        let ContactSearch { overlaps, speculative, .. } = self;
        speculative.clear();
        for (i, contact) in linearization.contacts().iter().enumerate() {
            let closes = contact.gap > model.touching()
                && contact.gap + h * linearization.contact_rows()[i].velocity(0, free) < 0.0
                && targets.normal_bias[i].is_some_and(|bias| bias > 0.0);
            // Two points have no edge to pass.
            if closes && contact.features != Features::Points {
                let motion = contact.bodies.map(|b| linearization.margins()[b as usize]).iter().sum::<f64>();
                let [thinner, thicker] = linearizer.thickness(contact);
                // A plane has no edge either.
                if motion < MAX_MOTION_RATIO * thinner && thicker < f64::INFINITY {
                    speculative.push(i as u32);
                }
            }
        }
        if speculative.is_empty() {
            return speculative;
        }
        for share in [0.5, 1.0] {
            model.drift(free, share * h, &mut state.bodies);
            linearizer.find_overlaps(&model.world, state, overlaps);
            state.bodies.clone_from(&start.bodies);
            let overlap = |contact: &Contact| {
                let same = |c: &Contact| (c.bodies, c.shapes) == (contact.bodies, contact.shapes);
                overlaps.iter().any(|c| same(c) && c.gap < 0.0)
            };
            speculative.retain(|&i| !overlap(&linearization.contacts()[i as usize]));
        }
        speculative
    }

    /// Contacts of bodies that overlap at a state though the linearization at the poses `begin` does not keep
    /// them apart.
    pub(super) fn find_missed(
        &mut self,
        model: &Model,
        linearization: &Linearization,
        begin: &[BodyState],
        targets: &RowTargets,
        linearizer: &mut Linearizer,
        state: &WorldState,
    ) -> MissedContacts<'_> {
        let ContactSearch { overlaps, left_out, new, .. } = self;
        linearizer.find_overlaps(&model.world, state, overlaps);
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
                if targets.normal_bias[i].is_none() {
                    left_out.push(i);
                }
                continue;
            }
            if new.iter().any(sees) {
                continue;
            }
            let [a, b] = contact.bodies.map(|b| &begin[b as usize].pose);
            let (gap, normal) = contact.gap_at(a, b);
            let surfaces = (a.point(contact.core[0]) + normal * contact.radius[0])
                + (b.point(contact.core[1]) - normal * contact.radius[1]);
            (contact.gap, contact.normal, contact.point) = (gap, normal, 0.5 * surfaces);
            new.push(contact);
        }
        MissedContacts { left_out, new }
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::fixtures::*;
    use super::super::options::StepOptions;
    use super::super::retry::{ContactEnergy, GapRule, LimitRule, SubstepPlan};
    use super::super::row_targets::position_targets;
    use super::super::substep::SubstepStart;
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

    fn speculative(case: (World, WorldState)) -> (usize, Vec<u32>) {
        let (world, mut state) = case;
        let (model, linearization) = linearized(world, &mut state, StepOptions::default(), H);
        let mut start = SubstepStart::default();
        start.record(&model, &linearization, &state, H);
        let plan = SubstepPlan {
            length: H,
            limits: LimitRule::Enforce,
            gaps: GapRule::Exact,
            energy: ContactEnergy::Bounded,
            may_retry: true,
            may_shorten: true,
            opening: 1.0,
        };
        let on = SubstepView { model: &model, linearization: &linearization, start: &start, plan: &plan };
        let mut targets = RowTargets::default();
        position_targets(on, &mut targets);
        let before = state.clone();
        let (mut search, mut linearizer) = (ContactSearch::default(), Linearizer::new(&model.world));
        let found = search.find_speculative(on, &targets, &mut linearizer, &mut state).to_vec();
        assert_eq!(state, before);
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
        let begin = state.bodies.clone();
        state.bodies[1].pose.position.z = RADIUS - 0.01;
        let (mut search, mut linearizer) = (ContactSearch::default(), Linearizer::new(&model.world));
        let targets = RowTargets::default();
        let found = search.find_missed(&model, &linearization, &begin, &targets, &mut linearizer, &state);
        assert_eq!((found.left_out.len(), found.new.len()), (0, 1));
        assert!((found.new[0].gap - 0.5).abs() < 1e-12, "{}", found.new[0].gap);
    }
}
