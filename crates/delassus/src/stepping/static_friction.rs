//! Static friction above kinetic friction: which coefficient each contact has in a solve.
//!
//! ```text
//! sticks before the solve:  μ_s ,  then μ_k where its force reaches the cone of μ_s and it slips
//! slides before the solve:  μ_k ,  then μ_s where its slip would turn back: it passes rest on the way
//! ```
//!
//! This is a decision only: whoever solves sets the coefficients, and solves again. A contact that changes
//! its coefficient is solved again with all others, in the same substep, and has at most two changes: what
//! slips in the end, slips with μ_k. All that change in a round change together, so that the order of
//! contacts does not enter. The second half of a substep goes on from the slip that the first half ended
//! with. A contact sticks whose slip is below the speed at which events call it sticking.

use glam::DVec3;

use super::linearization::{Linearization, NewCoefficient};
use super::model::Model;
use super::row_targets::RowTargets;
use super::warm_start::{Impulses, Key, key};
use crate::collision::{Contact, ContactRows};

/// Friction within this part of its limit is at its limit.
const LIMIT_MARGIN: f64 = 1e-8;
/// Rounds in which contacts may begin to slip one after the other, as a row of blocks does that is pulled.
pub(super) const MAX_FRICTION_ROUNDS: usize = 50;
/// Slip below this part of what a step of free fall gives, and below this speed, m/s, is what solves leave.
const SLIP_RATIO: f64 = 1e-6;
const LEAST_SLIP: f64 = 1e-9;

/// What became of the contacts of a substep, in memory that is kept.
#[derive(Default)]
pub(super) struct StaticFriction {
    /// Per contact of the present half, whether it was found to slip with μ_s.
    slipped: Vec<bool>,
    /// Slip at the end of the first half, world axes, sorted by key.
    first_half: Vec<(Key, DVec3)>,
    /// The coefficients decided last.
    changes: Vec<NewCoefficient>,
}

impl StaticFriction {
    /// A substep begins.
    pub(super) fn begin(&mut self) {
        self.slipped.clear();
        self.first_half.clear();
    }

    /// Records the slip that the first solve ended with.
    pub(super) fn end_first_half(
        &mut self,
        model: &Model,
        on: &Linearization,
        targets: &RowTargets,
        v: &[f64],
    ) {
        self.slipped.clear();
        if !model.has_static_friction() {
            return;
        }
        let all = on.contacts().iter().zip(on.contact_rows()).enumerate();
        self.first_half.extend(
            all.filter(|(_, (_, rows))| rows.law.dim() > 1)
                .map(|(i, (contact, rows))| (key(contact), rows.slip(slip(rows, targets, i, v)))),
        );
        self.first_half.sort_unstable_by_key(|(key, _)| *key);
    }

    /// The coefficients of the second half, which go with the end of the first.
    pub(super) fn begin_second_half(&mut self, model: &Model, on: &Linearization) -> &[NewCoefficient] {
        self.changes.clear();
        if !model.has_static_friction() {
            return &[];
        }
        for (i, contact) in on.contacts().iter().enumerate() {
            let (Some([slides, sticks]), Some(slip)) =
                (coefficients(model, contact), self.slip_before(&key(contact)))
            else {
                continue;
            };
            self.changes.push((i, if slip.length() <= model.stick_speed() { sticks } else { slides }));
        }
        &self.changes
    }

    fn slip_before(&self, key: &Key) -> Option<DVec3> {
        let at = self.first_half.binary_search_by_key(key, |(key, _)| *key).ok()?;
        Some(self.first_half[at].1)
    }

    /// The contacts that have another coefficient in the motion that was solved, and which. `before` are the
    /// velocities at the start of the substep.
    pub(super) fn changes(
        &mut self,
        model: &Model,
        (contacts, rows): (&[Contact], &[ContactRows]),
        targets: &RowTargets,
        impulses: &Impulses,
        [before, v]: [&[f64]; 2],
    ) -> &[NewCoefficient] {
        self.changes.clear();
        if !model.has_static_friction() {
            return &[];
        }
        let least = (SLIP_RATIO * model.options.dt * model.world.gravity.length()).max(LEAST_SLIP);
        self.slipped.resize(contacts.len(), false);
        for (i, (rows, r)) in rows.iter().zip(&impulses.contacts).enumerate() {
            let at_limit = r[1].hypot(r[2]) >= (1.0 - LIMIT_MARGIN) * rows.law.mu() * r[0];
            if targets.normal_bias[i].is_none() || r[0] <= 0.0 || !at_limit || self.slipped[i] {
                continue;
            }
            let Some([slides, sticks]) = coefficients(model, &contacts[i]) else { continue };
            let u = slip(rows, targets, i, v);
            if u[0].hypot(u[1]) <= least {
                continue;
            }
            if rows.law.mu() == sticks {
                self.slipped[i] = true;
                self.changes.push((i, slides));
                continue;
            }
            let then = self.slip_before(&key(&contacts[i]));
            let then = then.unwrap_or_else(|| rows.slip([1, 2].map(|k| rows.velocity(k, before))));
            if then.dot(rows.slip(u)) < 0.0 {
                self.changes.push((i, sticks));
            }
        }
        &self.changes
    }
}

/// The coefficients of what slides and of what sticks, where these differ.
fn coefficients(model: &Model, contact: &Contact) -> Option<[f64; 2]> {
    let surface = model.surface_of(contact);
    surface.mu_static.filter(|sticks| *sticks > surface.mu).map(|sticks| [surface.mu, sticks])
}

/// The slip of a contact in the solve of these targets, in its rows.
fn slip(rows: &ContactRows, targets: &RowTargets, i: usize, v: &[f64]) -> [f64; 2] {
    [1, 2].map(|k| rows.velocity(k, v) + targets.contact_bias(i, k).unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::super::model::fixtures::*;
    use super::super::options::StepOptions;
    use super::*;
    use crate::world::Surface;

    const TARGET: f64 = 0.0;

    /// The coefficient decided for a ball with these tangential velocities before and after a solve that
    /// found friction of this part of its normal impulse; its law has `mu`.
    fn decided(mu: f64, part: f64, [before, after]: [f64; 2]) -> Option<f64> {
        let surface = Surface { mu: 0.2, mu_static: Some(0.5), ..smooth() };
        let (world, mut state) = ball_on_floor(surface, 0.0, DVec3::ZERO);
        let (model, on) = linearized(world, &mut state, StepOptions::default(), 1e-3);
        let on = on.with_friction(&[(0, mu)]);
        let targets = RowTargets { joints: vec![], normal_bias: vec![Some(TARGET)], slip_bias: vec![] };
        let impulses = Impulses { rows: vec![], contacts: vec![[2.0, -2.0 * part, 0.0, 0.0, 0.0, 0.0]] };
        let along = on.contact_rows()[0].tangents[0];
        let velocity = |u: f64| [u * along.x, u * along.y, u * along.z, 0.0, 0.0, 0.0];
        let [before, after] = [before, after].map(velocity);
        let mut friction = StaticFriction::default();
        let contacts = (on.contacts(), on.contact_rows());
        let changes = friction.changes(&model, contacts, &targets, &impulses, [&before, &after]);
        changes.first().map(|(_, mu)| *mu)
    }

    #[test]
    fn a_contact_slips_with_less_and_one_whose_slip_turns_back_sticks_first() {
        // At its limit and slipping: kinetic friction from now on.
        assert_eq!(decided(0.5, 0.5, [0.0, 0.1]), Some(0.2));
        // Below its limit it sticks, and so does what only rounding moves.
        assert_eq!(decided(0.5, 0.4, [0.0, 0.1]), None);
        assert_eq!(decided(0.5, 0.5, [0.0, 1e-10]), None);
        // What slides on keeps its coefficient; what would slide back passes rest on the way.
        assert_eq!(decided(0.2, 0.2, [0.3, 0.1]), None);
        assert_eq!(decided(0.2, 0.2, [-0.3, 0.1]), Some(0.5));
    }

    #[test]
    fn the_second_half_goes_on_from_the_slip_of_the_first() {
        let surface = Surface { mu: 0.2, mu_static: Some(0.5), ..smooth() };
        let (world, mut state) = ball_on_floor(surface, 0.0, DVec3::ZERO);
        let (model, on) = linearized(world, &mut state, StepOptions::default(), 1e-3);
        let targets = RowTargets { joints: vec![], normal_bias: vec![Some(TARGET)], slip_bias: vec![] };
        for (speed, mu) in [(0.0, 0.5), (1.0, 0.2)] {
            let mut friction = StaticFriction::default();
            friction.begin();
            friction.end_first_half(&model, &on, &targets, &[speed, 0.0, 0.0, 0.0, 0.0, 0.0]);
            assert_eq!(friction.begin_second_half(&model, &on), [(0, mu)]);
        }
    }
}
