//! The targets of joints and contacts in the solves of a substep: a pure function of linearization and start.
//!
//! ```text
//! positions:   u + rate + g/h = 0 (joints) ,   0 ≤ u_n + gap/h ⊥ r_n ≥ 0 (contacts, limits)
//! velocities:  u + rate = 0 ,                  0 ≤ u_n + e u_n⁻ ⊥ r_n ≥ 0
//! ```
//!
//! u are the velocities of rows, g their values, u_n⁻ the speed of arrival, h the length of the substep.
//! Source: 004 eq. 9; restitution by Moreau (001 eq. 84).
//!
//! u½ = ½ (H(q_k) + H(q_{k+1})) v½ is the velocity in the middle, of springs, of motors and friction in
//! joints, and of contacts that stick or roll. H turns with the bodies; with H(q_k) alone a wheel that rolls
//! and a damper that rotates have an error of first order. What H(q_{k+1}) adds is found before the solve
//! with the velocities of the start, to second order (`turning.rs`).

mod plan;
mod rebound_slip;
mod springs;
mod start;
mod turning;
mod zeno;

pub(super) use plan::{ContactEnergy, GapRule, LimitRule, SubstepPlan};
pub(super) use rebound_slip::add_rebound_slip;
use start::ContactApproach;
pub(super) use start::SubstepStart;
pub use zeno::Accumulation;

use delassus_solve::problem::Law;

use super::linearization::Linearization;
use super::model::Model;
use super::warm_start::{Impulses, key};
use crate::collision::{ContactRows, MAX_CONTACT_ROWS};
use crate::world::{BodyState, Row, RowKind, row_mobility, row_velocity};

/// A contact or limit arrives freely where the first half of a step takes no more than this part of its
/// speed.
const FREE_ARRIVAL_RATIO: f64 = 0.01;
/// A closed contact that closes by less than this part of the rest speed stays closed.
const CLOSED_SPEED_RATIO: f64 = 1e-3;

/// An arrival is that of an even fall where its square is so by what a fall over so many times what counts
/// as touching gives.
const MAX_TOUCHING_FALLS: f64 = 4.0;

/// Gaps below so many times the rounding of the places between which they are measured are none.
const GAP_ROUNDINGS: f64 = 16.0;
/// How many times what counts as touching a contact may be open whose shapes were swept until they touch.
const ROUGH_TOUCHING_RATIO: f64 = 100.0;

/// What a solve shall reach in a row of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum RowTarget {
    /// The row is left out.
    LeftOut,
    /// u + b = 0 (or ≥ 0 for a limit).
    Velocity {
        /// b.
        bias: f64,
    },
    /// u + b + c r = 0.
    Compliant {
        /// b.
        bias: f64,
        /// c.
        compliance: f64,
    },
    /// This impulse.
    Impulse(f64),
}

/// The targets of a solve.
#[derive(Clone, Debug, Default)]
pub(super) struct RowTargets {
    /// One per row of a joint.
    pub(super) joints: Vec<RowTarget>,
    /// b of the normal row per contact; `None` leaves the contact out.
    pub(super) normal_bias: Vec<Option<f64>>,
    /// b of the tangential rows per contact, zero for those behind the last.
    pub(super) slip_bias: Vec<[f64; 2]>,
}

impl RowTargets {
    /// Leaves contacts out.
    pub(super) fn leave_out(&mut self, contacts: &[u32]) {
        contacts.iter().for_each(|&i| self.normal_bias[i as usize] = None);
    }

    /// Takes a contact that was left out in again.
    pub(super) fn take_in(&mut self, contact: usize, bias: f64) {
        self.normal_bias[contact] = Some(bias);
    }

    /// The target of a contact that joins the others.
    pub(super) fn add_contact(&mut self, bias: f64) {
        self.normal_bias.push(Some(bias));
    }

    /// b of row k of a contact.
    pub(super) fn contact_bias(&self, contact: usize, k: usize) -> Option<f64> {
        let normal = self.normal_bias[contact]?;
        Some(match k {
            0 => normal,
            1 | 2 => self.slip_bias.get(contact).map_or(0.0, |slip| slip[k - 1]),
            _ => 0.0,
        })
    }

    /// Whether a contact rebounds.
    pub(super) fn rebounds(&self, contact: usize) -> bool {
        self.normal_bias[contact].is_some_and(|bias| bias < 0.0)
    }

    /// Whether any contact rebounds.
    pub(super) fn any_rebound(&self) -> bool {
        (0..self.normal_bias.len()).any(|i| self.rebounds(i))
    }
}

/// What the targets of a substep follow from.
#[derive(Clone, Copy)]
pub(super) struct SubstepView<'a> {
    pub(super) model: &'a Model,
    pub(super) linearization: &'a Linearization,
    pub(super) start: &'a SubstepStart,
    pub(super) plan: &'a SubstepPlan,
}

/// Where the drift of a substep ended, and with which impulses.
pub(super) struct DriftEnd<'a> {
    pub(super) bodies: &'a [BodyState],
    /// Values of bilateral rows and limits.
    pub(super) joint_values: &'a [f64],
    pub(super) velocity: &'a [f64],
    pub(super) impulses: &'a Impulses,
}

/// What the linearization missed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Missed {
    /// How far joints are open or bodies overlap, in parts of what is allowed.
    pub(super) worst: f64,
    /// How far joints are open alone, in the same parts.
    pub(super) joints: f64,
    /// Whether a contact or limit pushed what does not touch.
    pub(super) pushed_apart: bool,
}

/// What the second half of a substep begins with.
pub(super) struct FirstHalf<'a> {
    /// Bodies at the end of the drift, with the velocities of the middle carried along.
    pub(super) bodies: &'a [BodyState],
    pub(super) t: f64,
    /// Velocities after the second kick.
    pub(super) velocity: &'a [f64],
    /// Impulses of the first half, of contacts in the order of the new linearization.
    pub(super) row_impulse: &'a [f64],
    pub(super) contact_impulse: &'a [[f64; MAX_CONTACT_ROWS]],
}

/// Rebounds in the targets of a solve.
#[derive(Debug, Default)]
pub(super) struct Rebounds {
    pub(super) impacts: usize,
    pub(super) accumulations: Vec<Accumulation>,
}

/// Velocities from which rebounds follow, in memory that is kept.
#[derive(Default)]
pub(super) struct ArrivalScratch {
    /// In the middle of the substep, as they have been carried to its end.
    middle: Vec<f64>,
    /// 2 v½ − v_k: how bodies would go on at the end of the substep, with the forces of joints.
    extrapolated: Vec<f64>,
    /// M⁻¹F.
    acceleration: Vec<f64>,
}

/// The targets of the solve that ends in positions.
pub(super) fn position_targets(on: SubstepView<'_>, out: &mut RowTargets) {
    let rows = on.linearization.joint_rows().rows.iter().zip(on.linearization.redundant()).enumerate();
    out.joints.clear();
    out.joints.extend(rows.map(|(i, (row, redundant))| match redundant {
        true => RowTarget::LeftOut,
        false => on.position_target(i, row),
    }));
    out.normal_bias.clear();
    out.normal_bias.extend((0..on.linearization.contacts().len()).map(|i| Some(on.gap_target(i))));
    out.slip_bias.clone_from(&on.start.turning.slip);
}

/// Adds to the targets of bilateral rows and gaps what the linearization misses along a motion that ends
/// here.
pub(super) fn predict_targets(on: SubstepView<'_>, end: &DriftEnd<'_>, targets: &mut RowTargets) {
    let rows = on.linearization.joint_rows();
    for (i, value) in end.joint_values[..rows.bilateral].iter().enumerate() {
        if let RowTarget::Velocity { bias } = &mut targets.joints[i] {
            *bias = value / on.h() - row_velocity(rows, i, &on.model.masses, end.velocity);
        }
    }
    on.correct_gap_targets(end, &mut targets.normal_bias);
}

/// Adds to the targets of positions what the linearization missed.
pub(super) fn correct_position_targets(
    on: SubstepView<'_>,
    end: &DriftEnd<'_>,
    targets: &mut RowTargets,
) -> Missed {
    let joints = on.correct_joint_targets(end, &mut targets.joints);
    let contacts = on.correct_gap_targets(end, &mut targets.normal_bias);
    Missed {
        worst: joints.worst.max(contacts.worst),
        joints: joints.joints,
        pushed_apart: joints.pushed_apart | contacts.pushed_apart,
    }
}

/// The targets of the solve that ends in velocities, with rebounds.
pub(super) fn velocity_targets(
    on: SubstepView<'_>,
    half: &FirstHalf<'_>,
    scratch: &mut ArrivalScratch,
    out: &mut RowTargets,
) -> Rebounds {
    let SubstepView { model, linearization, start, .. } = on;
    let mut rebounds = Rebounds::default();
    model.masses.gather_velocities(half.bodies, &mut scratch.middle);
    out.joints.clear();
    for (i, row) in linearization.joint_rows().rows.iter().enumerate() {
        out.joints.push(match linearization.redundant()[i] {
            true => RowTarget::LeftOut,
            false => on.velocity_target(i, row, half, &scratch.middle, &mut rebounds),
        });
    }
    if linearization.restitution().iter().any(|e| *e > 0.0) {
        let ArrivalScratch { middle, extrapolated, acceleration } = scratch;
        model.masses.gather_velocities(&start.bodies, extrapolated);
        extrapolated.iter_mut().zip(middle.iter()).for_each(|(old, middle)| *old = 2.0 * middle - *old);
        model.accelerations(half.bodies, acceleration);
    }
    out.normal_bias.clear();
    for (i, contact) in linearization.contacts().iter().enumerate() {
        // What was swept until it touches does, however roughly the point on a round edge is known.
        let swept =
            start.ends_at.contains(&contact.pair()) && contact.gap <= ROUGH_TOUCHING_RATIO * model.touching();
        let closed = contact.gap <= model.touching() || swept;
        let ridden = opening_speed(&linearization.contact_rows()[i], half.velocity);
        out.normal_bias.push(match closed {
            true => on.rebound_target(i, half, scratch, &mut rebounds),
            false => (contact.gap <= model.touching() + on.h() * ridden).then(|| contact.gap / on.h()),
        });
    }
    start.turning.second_slip(linearization, &mut out.slip_bias);
    rebounds
}

/// The speed with which the associated law opens a contact that slides, rolls or spins, μ‖u_t‖ + μ_r‖ω_t‖ +
/// μ_s|ω_n|. It rides on a gap of that speed times the step, and without a force there it would fall and hop.
fn opening_speed(rows: &ContactRows, v: &[f64]) -> f64 {
    let pair = |k: usize| rows.velocity(k, v).hypot(rows.velocity(k + 1, v));
    match rows.law {
        Law::Cone { mu } => mu * pair(1),
        Law::ConeRolling { mu, rolling } => mu * pair(1) + rolling * pair(3),
        Law::ConeSpinning { mu, rolling, spinning } => {
            mu * pair(1) + rolling * pair(3) + spinning * rows.velocity(5, v).abs()
        }
        _ => 0.0,
    }
}

/// Whether a limit that is reached sends back what arrives at this speed.
fn limit_rebounds(row: &Row, speed: f64, touching: f64, rest: f64) -> bool {
    matches!(row.kind, RowKind::Limit { restitution } if restitution > 0.0)
        && row.value <= touching
        && speed < -rest
}

impl SubstepView<'_> {
    fn h(&self) -> f64 {
        self.plan.length
    }

    /// The velocity of row i at the start of the substep, of a limit.
    fn limit_speed(&self, i: usize) -> f64 {
        self.start.limits[i - self.linearization.joint_rows().bilateral].speed
    }

    /// Whether a limit is not reached, or shall be passed.
    fn is_far(&self, i: usize, row: &Row) -> bool {
        let rows = self.linearization.joint_rows();
        if self.plan.limits == LimitRule::PassBy {
            return self.start.limits[i - rows.bilateral].is_off(self.model);
        }
        let u = row_velocity(rows, i, &self.model.masses, &self.start.free_velocity) + row.rate;
        row.value > self.model.touching() && row.value + 2.0 * self.h() * u > 0.0
    }

    /// What the rotation of bodies adds to the velocity of row i in the middle.
    fn turning(&self, i: usize) -> f64 {
        self.start.turning.rows.get(i).copied().unwrap_or(0.0)
    }

    fn position_target(&self, i: usize, row: &Row) -> RowTarget {
        let (h, symmetric) = (self.h(), self.model.is_symmetric());
        let share = if symmetric { 0.5 } else { 1.0 };
        match row.kind {
            // Taken back in by `correct_joint_targets` where it is passed after all.
            RowKind::Limit { .. } if self.is_far(i, row) => RowTarget::LeftOut,
            RowKind::Limit { restitution } if !symmetric && self.limit_rebounds_at_start(i, row) => {
                RowTarget::Velocity { bias: row.rate + restitution * self.limit_speed(i) }
            }
            RowKind::Bilateral | RowKind::Limit { .. } if row.value.abs() <= self.opening_rounding(row) => {
                RowTarget::Velocity { bias: row.rate }
            }
            RowKind::Bilateral => RowTarget::Velocity { bias: row.rate + row.value / self.plan.joint_time },
            RowKind::Limit { .. } => RowTarget::Velocity { bias: row.rate + self.plan.gap_bias(row.value) },
            RowKind::Bounded { .. } => RowTarget::Velocity { bias: row.rate + self.turning(i) },
            RowKind::Applied { force } => RowTarget::Impulse(share * h * force),
            RowKind::Spring { stiffness, damping } => self.spring_target(i, row, [stiffness, damping]),
            RowKind::Servo { stiffness, damping, push, range } => {
                self.servo_target(i, row, [stiffness, damping], push, range)
            }
            RowKind::Armature { inertia } => self.rotor_target(i, inertia),
        }
    }

    fn limit_rebounds_at_start(&self, i: usize, row: &Row) -> bool {
        limit_rebounds(row, self.limit_speed(i), self.model.touching(), self.model.rest_speed())
    }

    /// Whether the only solve of a substep of the half-implicit scheme sends back what arrives at a contact.
    pub(super) fn contact_rebounds_at_start(&self, i: usize) -> bool {
        // Contacts that joined the substep have not arrived at its start.
        let arrives = |start: &ContactApproach| start.speed < -self.model.rest_speed();
        !self.model.is_symmetric()
            && self.linearization.contacts()[i].gap <= self.model.touching()
            && self.start.approach.get(i).is_some_and(arrives)
            && self.linearization.restitution()[i] > 0.0
    }

    fn gap_target(&self, i: usize) -> f64 {
        let (gap, speed) = (self.linearization.contacts()[i].gap, self.start.approach[i].speed);
        let e = self.linearization.restitution()[i];
        match self.plan.gaps {
            _ if self.contact_rebounds_at_start(i) => e * speed,
            GapRule::Linearized => gap.max(0.0) / self.h(),
            GapRule::Exact if gap.abs() <= self.gap_rounding(i) => 0.0,
            GapRule::Exact => self.plan.gap_bias(gap),
        }
    }

    /// What rounding may leave of the gap of a contact: it is a difference of the places of its points.
    fn gap_rounding(&self, i: usize) -> f64 {
        let contact = &self.linearization.contacts()[i];
        let place = |side: usize| {
            let position = self.start.bodies[contact.bodies[side] as usize].pose.position;
            position.abs().max_element() + contact.core[side].abs().max_element() + contact.radius[side]
        };
        GAP_ROUNDINGS * f64::EPSILON * (place(0) + place(1))
    }

    /// What rounding may leave of the opening of a joint, or of the distance to a limit, in reduced
    /// coordinates: a difference of the places of its points, or of directions.
    fn opening_rounding(&self, row: &Row) -> f64 {
        if self.linearization.tree().is_none() {
            return 0.0;
        }
        let bodies = self.model.world.joints[row.joint as usize].bodies;
        let place = |body: usize| self.start.bodies[body].pose.position.abs().max_element();
        GAP_ROUNDINGS * f64::EPSILON * (1.0 + place(bodies[0]) + place(bodies[1]))
    }

    fn correct_joint_targets(&self, end: &DriftEnd<'_>, targets: &mut [RowTarget]) -> Missed {
        let Model { masses, options, .. } = self.model;
        let (rows, h) = (self.linearization.joint_rows(), self.h());
        let tolerance = self.plan.opening * options.position_tolerance;
        let mut missed = Missed { worst: 0.0, joints: 0.0, pushed_apart: false };
        for (i, &value) in end.joint_values.iter().enumerate() {
            let row = &rows.rows[i];
            if let (RowKind::Limit { .. }, RowTarget::LeftOut) = (row.kind, targets[i]) {
                let enforced = self.plan.limits == LimitRule::Enforce;
                if value < -tolerance && !self.linearization.redundant()[i] && enforced {
                    targets[i] = RowTarget::Velocity { bias: row.rate + self.plan.gap_bias(row.value) };
                    missed.worst = missed.worst.max(-value / tolerance);
                }
                continue;
            }
            let RowTarget::Velocity { bias } = &mut targets[i] else { continue };
            match row.kind {
                RowKind::Bilateral => {
                    let value = value - self.plan.opening_left(row.value);
                    // What is not a number is as open as can be.
                    let opening = if value.is_nan() { f64::INFINITY } else { value.abs() / tolerance };
                    missed.worst = missed.worst.max(opening);
                    missed.joints = missed.joints.max(opening);
                    *bias += value / h;
                }
                // A rebound has a velocity as its target, and a distance where it does not suffice.
                RowKind::Limit { .. }
                    if !self.model.is_symmetric() && self.limit_rebounds_at_start(i, row) =>
                {
                    let value = value - self.plan.overlap_left(row.value);
                    let beyond = if value < -tolerance { -value } else { 0.0 };
                    missed.worst = missed.worst.max(beyond / tolerance);
                    *bias -= beyond / h;
                }
                RowKind::Limit { .. } => {
                    let pushed = end.impulses.rows[i] > 0.0;
                    let value = value - self.plan.overlap_left(row.value);
                    missed.worst = missed.worst.max(-value / tolerance);
                    missed.pushed_apart |= pushed && value > self.model.touching();
                    let predicted = h * (row_velocity(rows, i, masses, end.velocity) + *bias);
                    *bias += (value - predicted) / h;
                }
                _ => {}
            }
        }
        missed
    }

    fn correct_gap_targets(&self, end: &DriftEnd<'_>, normal_bias: &mut [Option<f64>]) -> Missed {
        let (h, tolerance) = (self.h(), self.model.options.position_tolerance);
        let (touching, yielding) = (self.model.touching(), self.model.yielding());
        let mut found = Missed { worst: 0.0, joints: 0.0, pushed_apart: false };
        for (i, contact) in self.linearization.contacts().iter().enumerate() {
            let Some(bias) = &mut normal_bias[i] else { continue };
            let [a, b] = contact.bodies.map(|b| &end.bodies[b as usize].pose);
            let gap = contact.gap_at(a, b).0 - self.plan.overlap_left(contact.gap);
            // A rebound has a velocity as its target, and a distance where it does not suffice.
            if self.contact_rebounds_at_start(i) {
                let beyond = if gap < -tolerance { -gap } else { 0.0 };
                found.worst = found.worst.max(beyond / yielding);
                *bias -= beyond / h;
                continue;
            }
            let pushed = end.impulses.contacts[i][0] > 0.0;
            let predicted = h * (self.linearization.contact_rows()[i].velocity(0, end.velocity) + *bias);
            let missed = gap - predicted;
            if missed < -tolerance {
                found.worst = found.worst.max(-gap / yielding);
            }
            found.pushed_apart |= pushed && missed > touching;
            *bias += missed / h;
        }
        found
    }

    fn velocity_target(
        &self,
        i: usize,
        row: &Row,
        half: &FirstHalf<'_>,
        middle: &[f64],
        rebounds: &mut Rebounds,
    ) -> RowTarget {
        let Model { masses, .. } = self.model;
        let (rows, touching) = (self.linearization.joint_rows(), self.model.touching());
        let first = half.row_impulse.get(i).copied().unwrap_or(0.0);
        match row.kind {
            RowKind::Bilateral | RowKind::Bounded { .. } => RowTarget::Velocity { bias: row.rate },
            RowKind::Limit { .. }
                if self.plan.limits == LimitRule::PassBy
                    && self.start.limits[i - rows.bilateral].is_off(self.model) =>
            {
                RowTarget::LeftOut
            }
            RowKind::Limit { restitution } if row.value <= touching => {
                // The speed at which it arrived: not the one with which the step left it here, nor the weight
                // on it.
                let begin = self.limit_speed(i);
                let taken = first * row_mobility(rows, row, masses);
                // Where next to nothing was taken from it on the way, the middle shows how it went on.
                let free = taken.abs() <= FREE_ARRIVAL_RATIO * begin.abs();
                let u = if free {
                    2.0 * (row_velocity(rows, i, masses, middle) + row.rate) - begin
                } else {
                    begin
                };
                let mut bias = if u < -self.model.rest_speed() { restitution * u } else { 0.0 };
                let then = self.start.limits[i - rows.bilateral];
                if free && let Some(rest) = self.limit_rest(row, half.t, then, u) {
                    rebounds.accumulations.extend(rest.accumulation);
                    bias = 0.0;
                }
                rebounds.impacts += usize::from(bias < 0.0);
                RowTarget::Velocity { bias: row.rate + bias }
            }
            RowKind::Limit { .. } => RowTarget::LeftOut,
            // Both halves have the force of the middle.
            RowKind::Applied { .. } => RowTarget::Impulse(first),
            // At its bound a servo stays there.
            RowKind::Servo { range, .. } if range.iter().any(|f| first == 0.5 * self.h() * f) => {
                RowTarget::Impulse(first)
            }
            RowKind::Spring { damping, .. } | RowKind::Servo { damping, .. } => {
                self.damper_target(i, row, damping, first, middle)
            }
            RowKind::Armature { inertia } => {
                RowTarget::Compliant { bias: -self.middle_velocity(i, middle), compliance: 1.0 / inertia }
            }
        }
    }

    /// e u_n⁻ of a closed contact, zero where it does not rebound; `None` where it will rebound and has not
    /// arrived yet.
    fn rebound_target(
        &self,
        i: usize,
        half: &FirstHalf<'_>,
        scratch: &ArrivalScratch,
        rebounds: &mut Rebounds,
    ) -> Option<f64> {
        let e = self.linearization.restitution()[i];
        if e == 0.0 {
            return Some(0.0);
        }
        let (contact, rest) = (&self.linearization.contacts()[i], self.model.rest_speed());
        let touching = self.model.touching();
        let end = self.linearization.contact_rows()[i].velocity(0, half.velocity);
        let u = match self.start.approach_of(key(contact)) {
            // A contact that is closed and stays so feels its weight, which is no impact.
            Some(then) if then.closed && then.speed.abs() <= CLOSED_SPEED_RATIO * rest => return Some(0.0),
            Some(then) => {
                let pushed = half.contact_impulse[i][0] > 0.0;
                // Within what counts as touching, and on its way up.
                if !pushed && end >= 0.0 {
                    return Some(0.0);
                }
                // The speed at which it arrived, which is not the one with which the step left it here.
                let fall = self.closing_acceleration(i, half, scratch, then);
                let arrival = (then.speed * then.speed + 2.0 * fall * then.gap.max(0.0)).max(0.0).sqrt();
                let stays = then.closed && then.speed < 0.0 && arrival <= rest;
                // The last rebound need not rise above what counts as touching.
                if stays && then.gap <= self.model.options.position_tolerance {
                    return Some(0.0);
                }
                if stays || arrival <= self.model.zeno_speed(fall) {
                    rebounds.accumulations.extend(self.zeno_accumulation(i, half.t, then, arrival, fall));
                    return Some(0.0);
                }
                if !pushed && contact.gap > self.model.options.position_tolerance {
                    return None;
                }
                // What turns as it comes does not fall evenly.
                let bent = (end * end - arrival * arrival).abs() > MAX_TOUCHING_FALLS * fall.abs() * touching;
                if !pushed && bent { end } else { -arrival }
            }
            None => end,
        };
        if u < -rest {
            rebounds.impacts += 1;
            Some(e * u)
        } else {
            Some(0.0)
        }
    }
}

#[cfg(test)]
mod tests;
