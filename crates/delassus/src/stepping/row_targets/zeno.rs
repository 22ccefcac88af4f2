//! Rebounds that become too small to follow, at contacts and at limits of joints.
//!
//! ```text
//! t_end = t + (u₀ + u)/a + Σ_k 2 eᵏ u/a ,   k = 1, 2, … ,   u² = u₀² + 2 a gap
//! ```
//!
//! u is the speed of arrival after a fall with the acceleration a from a gap that opened with u₀. Where the
//! next rebound would last less than a small part of a step, all of them are left out, and what bounced is at
//! rest.

use super::super::warm_start::name_of;
use super::start::{ContactApproach, LimitStart};
use super::{ArrivalScratch, FREE_ARRIVAL_RATIO, FirstHalf, SubstepView};
use crate::world::{Row, RowKind};

/// Substeps shorter than this part of the step are too short to measure an acceleration by.
const MIN_MEASURING_RATIO: f64 = 1e-3;

/// A contact or a limit that has stopped bouncing.
#[derive(Clone, Debug, PartialEq)]
pub struct Accumulation {
    /// When the rebounds that were too small to follow would have ended.
    pub t: f64,
    /// Name of the contact; of a limit or a rope, the joint.
    pub contact: String,
}

/// A limit at which what arrived stays.
pub(super) struct LimitRest {
    /// Where rebounds ended.
    pub(super) accumulation: Option<Accumulation>,
}

impl SubstepView<'_> {
    /// Whether what arrives freely at a limit with the speed u, in a substep that ends at t, comes to rest
    /// there: where the next rebound is too small to follow.
    pub(super) fn limit_rest(&self, row: &Row, t: f64, then: LimitStart, u: f64) -> Option<LimitRest> {
        let RowKind::Limit { restitution: e } = row.kind else { return None };
        let fall = (then.speed - u) / self.h();
        let measured = self.h() > MIN_MEASURING_RATIO * self.model.options.dt;
        let weight = self.model.rest_speed() > 0.0;
        if !(weight && measured && fall > 0.0 && u < 0.0 && e > 0.0 && e < 1.0) {
            return None;
        }
        let (touching, rest_speed) = (self.model.touching(), self.model.rest_speed());
        let arrival = (then.speed * then.speed + 2.0 * fall * then.value.max(0.0)).sqrt();
        // A rebound that is followed is faster than rest wherever it counts as touching.
        let slowest = self.model.zeno_speed(fall).max(rest_speed);
        let least = (slowest * slowest + 2.0 * fall * touching).sqrt();
        if e * arrival > least {
            return None;
        }
        // What has not left is at rest already.
        if then.value <= touching && then.speed <= 0.0 && arrival <= least {
            return Some(LimitRest { accumulation: None });
        }
        let rest = (then.speed + arrival) / fall + 2.0 * e * arrival / (fall * (1.0 - e));
        let contact = self.model.world.joints[row.joint as usize].name.clone();
        Some(LimitRest { accumulation: Some(Accumulation { t: t - self.h() + rest, contact }) })
    }

    /// How fast a contact gains closing speed: measured on the way where it was free, from the forces on its
    /// bodies else.
    pub(super) fn closing_acceleration(
        &self,
        i: usize,
        half: &FirstHalf<'_>,
        scratch: &ArrivalScratch,
        then: &ContactApproach,
    ) -> f64 {
        let rows = &self.linearization.contact_rows()[i];
        let taken = half.contact_impulse[i][0] * rows.self_block(&self.model.masses.inverse, 0, 0);
        let arrives = rows.velocity(0, &scratch.extrapolated) - 2.0 * taken;
        let free = taken.abs() <= FREE_ARRIVAL_RATIO * then.speed.abs()
            && self.h() > MIN_MEASURING_RATIO * self.model.options.dt;
        if free { (then.speed - arrives) / self.h() } else { -rows.velocity(0, &scratch.acceleration) }
    }

    /// When a contact that arrives too slowly to rebound would have come to rest, in a substep that ends at
    /// t.
    pub(super) fn zeno_accumulation(
        &self,
        i: usize,
        t: f64,
        then: &ContactApproach,
        arrival: f64,
        fall: f64,
    ) -> Option<Accumulation> {
        let e = self.linearization.restitution()[i];
        if fall <= 0.0 || e >= 1.0 {
            return None;
        }
        // Arrival of the free fall, and the rebounds that are left out: Σ 2 eᵏ u/a.
        let rest = (then.speed + arrival) / fall + 2.0 * e * arrival / (fall * (1.0 - e));
        let contacts = self.linearization.contacts();
        let contact = name_of(&self.model.world, contacts, &contacts[i]);
        Some(Accumulation { t: t - self.h() + rest, contact })
    }
}
