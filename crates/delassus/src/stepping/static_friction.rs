//! Static friction above kinetic friction: which coefficient each contact has in a solve.
//!
//! ```text
//! sticks before the solve:  μ_s ,  then μ_k where its force reaches the cone of μ_s and it slips
//! slides before the solve:  μ_k ,  then μ_s where its slip would turn back: it passes rest on the way
//! ```
//!
//! A contact that changes its coefficient is solved again with all others, in the same substep, and has at
//! most two changes: what slips in the end, slips with μ_k. All that change in a round change together, so
//! that the order of contacts does not enter. The second half of a substep goes on from the slip that the
//! first half ended with. A contact sticks whose slip is below the speed at which events call it sticking.

use delassus_solve::problem::Law;
use glam::DVec3;

use super::linearization::Linearization;
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

    /// Gives contacts of the second half the coefficients that go with the end of the first.
    pub(super) fn begin_second_half(&self, model: &Model, on: &mut Linearization) {
        if !model.has_static_friction() {
            return;
        }
        let (contacts, rows) = on.contacts_and_rows();
        for (contact, rows) in contacts.iter().zip(rows) {
            let (Some([slides, sticks]), Some(slip)) =
                (coefficients(model, contact), self.slip_before(&key(contact)))
            else {
                continue;
            };
            let mu = if slip.length() <= model.stick_speed() { sticks } else { slides };
            rows.law = with_friction(rows.law, mu);
        }
    }

    fn slip_before(&self, key: &Key) -> Option<DVec3> {
        let at = self.first_half.binary_search_by_key(key, |(key, _)| *key).ok()?;
        Some(self.first_half[at].1)
    }

    /// Changes the coefficients of contacts that have another one in the motion that was solved; whether
    /// there are any. `before` are the velocities at the start of the substep.
    pub(super) fn changes(
        &mut self,
        model: &Model,
        (contacts, rows): (&[Contact], &mut [ContactRows]),
        targets: &RowTargets,
        impulses: &Impulses,
        [before, v]: [&[f64]; 2],
    ) -> bool {
        if !model.has_static_friction() {
            return false;
        }
        let least = (SLIP_RATIO * model.options.dt * model.world.gravity.length()).max(LEAST_SLIP);
        self.slipped.resize(contacts.len(), false);
        let mut changed = false;
        for (i, (rows, r)) in rows.iter_mut().zip(&impulses.contacts).enumerate() {
            let at_limit = r[1].hypot(r[2]) >= (1.0 - LIMIT_MARGIN) * rows.law.mu() * r[0];
            if targets.normal_bias[i].is_none() || r[0] <= 0.0 || !at_limit || self.slipped[i] {
                continue;
            }
            let Some([slides, sticks]) = coefficients(model, &contacts[i]) else { continue };
            let u = slip(rows, targets, i, v);
            if u[0].hypot(u[1]) <= least {
                continue;
            }
            let mu = if rows.law.mu() == sticks {
                self.slipped[i] = true;
                slides
            } else {
                let then = self.slip_before(&key(&contacts[i]));
                let then = then.unwrap_or_else(|| rows.slip([1, 2].map(|k| rows.velocity(k, before))));
                if then.dot(rows.slip(u)) >= 0.0 {
                    continue;
                }
                sticks
            };
            rows.law = with_friction(rows.law, mu);
            changed = true;
        }
        changed
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

/// The same law with another coefficient of friction, in as many rows.
pub(super) fn with_friction(law: Law, mu: f64) -> Law {
    match law {
        Law::Coulomb { .. } => Law::Coulomb { mu },
        Law::Cone { .. } => Law::Cone { mu },
        Law::Rolling { rolling, .. } => Law::Rolling { mu, rolling },
        Law::ConeRolling { rolling, .. } => Law::ConeRolling { mu, rolling },
        Law::Spinning { rolling, spinning, .. } => Law::Spinning { mu, rolling, spinning },
        Law::ConeSpinning { rolling, spinning, .. } => Law::ConeSpinning { mu, rolling, spinning },
        other => other,
    }
}
