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
//! Springs and dampers, k and d, in the two halves of a symmetric substep:
//!
//! ```text
//! r₁ = −½h (k (g + ½(1 + σ) h u½) + d u½) ,   r₂ = r₁ − ½h σ d (u − u½) ,   σ = z/(1 + z) ,   z = ½h d H M⁻¹ Hᵀ
//! ```
//!
//! Without damping σ is zero: the midpoint rule, which keeps the energy. With it the step is of second order
//! still, σ being of the order of h, and what is damped stiffly decays at once instead of changing its sign
//! from step to step: a damper by itself slows down by 1/(1 + 2z + 2z² + z³) for e^(−2z).

use super::linearization::Linearization;
use super::model::{Model, REST_SPEED_RATIO};
use super::report::{Accumulation, name_of};
use super::retry::{GapRule, LimitRule, SubstepPlan};
use super::substep::{ContactApproach, SubstepStart};
use super::warm_start::{Impulses, key};
use crate::collision::MAX_CONTACT_ROWS;
use crate::world::{BodyState, Row, RowKind, row_mobility, row_velocity};

/// Below this σ z the change of a damper in the second half is rounding.
const NEGLIGIBLE_DAMPING: f64 = 1e-9;
/// A contact or limit arrives freely where the first half of a step takes no more than this part of its
/// speed.
const FREE_ARRIVAL_RATIO: f64 = 0.01;
/// Substeps shorter than this part of the step are too short to measure an acceleration by.
const MIN_MEASURING_RATIO: f64 = 1e-3;
/// A closed contact that closes by less than this part of the rest speed stays closed.
const CLOSED_SPEED_RATIO: f64 = 1e-3;

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
            false => on.velocity_target(i, row, half, &scratch.middle, &mut rebounds.impacts),
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
        let closed = contact.gap <= model.touching();
        out.normal_bias.push(closed.then(|| on.rebound_target(i, half, scratch, &mut rebounds)));
    }
    rebounds
}

/// σ = z/(1 + z): how much of a damper is taken at the end of the step.
fn end_share(z: f64) -> f64 {
    // Without a number: a damper of infinite strength.
    if z.is_finite() { z / (1.0 + z) } else { 1.0 }
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

    /// z = ½h d H M⁻¹ Hᵀ of a damper.
    fn damping_number(&self, row: &Row, damping: f64) -> f64 {
        let mobility = row_mobility(self.linearization.joint_rows(), row, &self.model.masses);
        0.5 * self.h() * damping * mobility
    }

    /// The velocity of row i at the start of the substep, of a limit.
    fn limit_speed(&self, i: usize) -> f64 {
        self.start.limits[i - self.linearization.joint_rows().bilateral].speed
    }

    /// Whether a limit is not reached, or shall be passed.
    fn is_far(&self, i: usize, row: &Row) -> bool {
        let rows = self.linearization.joint_rows();
        let u = row_velocity(rows, i, &self.model.masses, &self.start.free_velocity) + row.rate;
        row.value > self.model.touching()
            && (self.plan.limits == LimitRule::PassBy || row.value + 2.0 * self.h() * u > 0.0)
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
            RowKind::Bilateral | RowKind::Limit { .. } => {
                RowTarget::Velocity { bias: row.rate + row.value / h }
            }
            RowKind::Bounded { .. } => RowTarget::Velocity { bias: row.rate },
            RowKind::Applied { force } => RowTarget::Impulse(share * h * force),
            RowKind::Spring { stiffness, damping } => {
                // r = −share·h (k (g + θh u) + d u)
                let sigma = if symmetric { end_share(self.damping_number(row, damping)) } else { 1.0 };
                let theta = 0.5 + 0.5 * sigma;
                let resistance = stiffness * theta * h + damping;
                RowTarget::Compliant {
                    bias: stiffness * row.value / resistance + row.rate,
                    compliance: 1.0 / (share * h * resistance),
                }
            }
        }
    }

    fn limit_rebounds_at_start(&self, i: usize, row: &Row) -> bool {
        limit_rebounds(row, self.limit_speed(i), self.model.touching(), self.model.rest_speed())
    }

    fn gap_target(&self, i: usize) -> f64 {
        let (gap, speed) = (self.linearization.contacts()[i].gap, self.start.approach[i].speed);
        let e = self.linearization.restitution()[i];
        let rebounds = !self.model.is_symmetric()
            && gap <= self.model.touching()
            && speed < -self.model.rest_speed()
            && e > 0.0;
        match self.plan.gaps {
            _ if rebounds => e * speed,
            GapRule::Linearized => gap.max(0.0) / self.h(),
            GapRule::Exact => gap / self.h(),
        }
    }

    fn correct_joint_targets(&self, end: &DriftEnd<'_>, targets: &mut [RowTarget]) -> Missed {
        let Model { masses, options, .. } = self.model;
        let (rows, h, tolerance) = (self.linearization.joint_rows(), self.h(), options.position_tolerance);
        let mut missed = Missed { worst: 0.0, pushed_apart: false };
        for (i, &value) in end.joint_values.iter().enumerate() {
            let row = &rows.rows[i];
            if let (RowKind::Limit { .. }, RowTarget::LeftOut) = (row.kind, targets[i]) {
                let enforced = self.plan.limits == LimitRule::Enforce;
                if value < -tolerance && !self.linearization.redundant()[i] && enforced {
                    targets[i] = RowTarget::Velocity { bias: row.rate + row.value / h };
                    missed.worst = missed.worst.max(-value / tolerance);
                }
                continue;
            }
            let RowTarget::Velocity { bias } = &mut targets[i] else { continue };
            match row.kind {
                RowKind::Bilateral => {
                    missed.worst = missed.worst.max(value.abs() / tolerance);
                    *bias += value / h;
                }
                // A rebound has a velocity as its target, not a distance.
                RowKind::Limit { .. }
                    if !self.model.is_symmetric() && self.limit_rebounds_at_start(i, row) => {}
                RowKind::Limit { .. } => {
                    let pushed = end.impulses.rows[i] > 0.0;
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
        let mut found = Missed { worst: 0.0, pushed_apart: false };
        for (i, contact) in self.linearization.contacts().iter().enumerate() {
            let Some(bias) = &mut normal_bias[i] else { continue };
            // A rebound has a velocity as its target, not a distance.
            let restitution = self.linearization.restitution()[i];
            if !self.model.is_symmetric() && restitution > 0.0 && contact.gap <= touching {
                continue;
            }
            let [a, b] = contact.bodies.map(|b| &end.bodies[b as usize].pose);
            let (gap, _) = contact.gap_at(a, b);
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
        impacts: &mut usize,
    ) -> RowTarget {
        let Model { masses, .. } = self.model;
        let (rows, touching) = (self.linearization.joint_rows(), self.model.touching());
        let first = half.row_impulse.get(i).copied().unwrap_or(0.0);
        match row.kind {
            RowKind::Bilateral | RowKind::Bounded { .. } => RowTarget::Velocity { bias: row.rate },
            RowKind::Limit { .. }
                if self.plan.limits == LimitRule::PassBy
                    && self.start.limits[i - rows.bilateral].value > touching =>
            {
                RowTarget::LeftOut
            }
            RowKind::Limit { restitution } if row.value <= touching => {
                // The speed at which it arrived: not the one with which the step left it here, nor the weight
                // on it.
                let begin = self.limit_speed(i);
                let taken = first * row_mobility(rows, row, masses);
                // Where next to nothing was taken from it on the way, the middle shows how it went on.
                let u = if taken.abs() <= FREE_ARRIVAL_RATIO * begin.abs() {
                    2.0 * (row_velocity(rows, i, masses, middle) + row.rate) - begin
                } else {
                    begin
                };
                let bias = if u < -self.model.rest_speed() { restitution * u } else { 0.0 };
                *impacts += usize::from(bias < 0.0);
                RowTarget::Velocity { bias: row.rate + bias }
            }
            RowKind::Limit { .. } => RowTarget::LeftOut,
            // Both halves have the force of the middle.
            RowKind::Applied { .. } => RowTarget::Impulse(first),
            RowKind::Spring { damping, .. } => {
                let z = self.damping_number(row, damping);
                let resistance = 0.5 * self.h() * damping * end_share(z);
                if end_share(z) * z < NEGLIGIBLE_DAMPING {
                    return RowTarget::Impulse(first);
                }
                // r₂ = r₁ − ½h σ d (u − u½)
                let middle = row_velocity(rows, i, masses, middle);
                RowTarget::Compliant { bias: -middle - first / resistance, compliance: 1.0 / resistance }
            }
        }
    }

    /// e u_n⁻ of a closed contact, zero where it does not rebound.
    fn rebound_target(
        &self,
        i: usize,
        half: &FirstHalf<'_>,
        scratch: &ArrivalScratch,
        rebounds: &mut Rebounds,
    ) -> f64 {
        let e = self.linearization.restitution()[i];
        if e == 0.0 {
            return 0.0;
        }
        let rest = self.model.rest_speed();
        let u = match self.start.approach_of(key(&self.linearization.contacts()[i])) {
            // A contact that is closed and stays so feels its weight, which is no impact.
            Some(then) if then.closed && then.speed <= CLOSED_SPEED_RATIO * rest => then.speed,
            Some(then) => {
                // The speed at which it arrived, which is not the one with which the step left it here.
                let fall = self.closing_acceleration(i, half, scratch, then);
                let arrival = (then.speed * then.speed + 2.0 * fall * then.gap).max(0.0).sqrt();
                if arrival <= REST_SPEED_RATIO * fall.abs() * self.model.options.dt {
                    rebounds.accumulations.extend(self.zeno_accumulation(i, half.t, then, arrival, fall));
                    return 0.0;
                }
                -arrival
            }
            None => self.linearization.contact_rows()[i].velocity(0, half.velocity),
        };
        if u < -rest {
            rebounds.impacts += 1;
            e * u
        } else {
            0.0
        }
    }

    /// How fast a contact gains closing speed: measured on the way where it was free, from the forces on its
    /// bodies else.
    fn closing_acceleration(
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
    fn zeno_accumulation(
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

#[cfg(test)]
mod tests {
    use super::super::model::fixtures::*;
    use super::super::options::{Scheme, StepOptions};
    use super::super::retry::ContactEnergy;
    use super::*;
    use crate::world::{ActionKind, Surface, World, WorldState};
    use glam::DVec3;

    const H: f64 = 0.01;

    fn plan(limits: LimitRule, gaps: GapRule) -> SubstepPlan {
        SubstepPlan { length: H, limits, gaps, energy: ContactEnergy::Bounded, may_retry: true }
    }

    /// A substep of length H that begins at a state.
    struct Case {
        model: Model,
        linearization: Linearization,
        start: SubstepStart,
        state: WorldState,
    }

    impl Case {
        fn new((world, mut state): (World, WorldState), scheme: Scheme) -> Self {
            let options = StepOptions { scheme, dt: H, ..StepOptions::default() };
            let (model, linearization) = linearized(world, &mut state, options, H);
            let mut start = SubstepStart::default();
            start.record(&model, &linearization, &state, H);
            Case { model, linearization, start, state }
        }

        fn view<'a>(&'a self, plan: &'a SubstepPlan) -> SubstepView<'a> {
            let Case { model, linearization, start, .. } = self;
            SubstepView { model, linearization, start, plan }
        }

        fn positions(&self, limits: LimitRule, gaps: GapRule) -> RowTargets {
            let mut out = RowTargets::default();
            position_targets(self.view(&plan(limits, gaps)), &mut out);
            out
        }

        /// The target of the row behind the bilateral ones.
        fn last(&self, limits: LimitRule) -> RowTarget {
            *self.positions(limits, GapRule::Exact).joints.last().unwrap()
        }

        /// Targets of velocities after a drift in which nothing moved, from these impulses of the first half.
        fn velocities(&self, rows: &[f64], contacts: &[[f64; MAX_CONTACT_ROWS]]) -> (RowTargets, Rebounds) {
            let mut velocity = vec![];
            self.model.masses.gather_velocities(&self.state.bodies, &mut velocity);
            let half = FirstHalf {
                bodies: &self.state.bodies,
                t: H,
                velocity: &velocity,
                row_impulse: rows,
                contact_impulse: contacts,
            };
            let mut out = RowTargets::default();
            let plan = plan(LimitRule::Enforce, GapRule::Exact);
            let found = velocity_targets(self.view(&plan), &half, &mut ArrivalScratch::default(), &mut out);
            (out, found)
        }
    }

    fn assert_near(found: f64, expected: f64) {
        // Each target is a handful of operations on numbers of its own size.
        assert!((found - expected).abs() <= 1e-13 * expected.abs().max(1.0), "{found} for {expected}");
    }

    #[test]
    fn a_spring_is_the_midpoint_rule_without_a_damper_and_implicit_in_the_first_order_scheme() {
        let (k, g) = (30.0, 0.5);
        let spring = ActionKind::Spring { stiffness: k, damping: 0.0, rest: 0.0 };
        let symmetric = Case::new(slider(spring.clone(), g, 0.0), Scheme::Symmetric);
        let RowTarget::Compliant { bias, compliance } = symmetric.last(LimitRule::Enforce) else { panic!() };
        // r = −½h k (g + ½h u): u + 2g/h + r/(¼h² k) = 0.
        assert_near(bias, 2.0 * g / H);
        assert_near(compliance, 4.0 / (H * H * k));
        let implicit = Case::new(slider(spring, g, 0.0), Scheme::HalfImplicit);
        let RowTarget::Compliant { bias, compliance } = implicit.last(LimitRule::Enforce) else { panic!() };
        // r = −h k (g + h u).
        assert_near(bias, g / H);
        assert_near(compliance, 1.0 / (H * H * k));
    }

    #[test]
    fn a_damper_takes_its_share_at_the_end_of_the_step() {
        let d = 100.0;
        let damper = ActionKind::Spring { stiffness: 0.0, damping: d, rest: 0.0 };
        let case = Case::new(slider(damper, 0.5, 3.0), Scheme::Symmetric);
        let RowTarget::Compliant { bias, compliance } = case.last(LimitRule::Enforce) else { panic!() };
        assert_near(bias, 0.0);
        assert_near(compliance, 1.0 / (0.5 * H * d));
        let z = 0.5 * H * d / MASS;
        let resistance = 0.5 * H * d * z / (1.0 + z);
        let first = -0.75;
        let (targets, _) = case.velocities(&[0.0, 0.0, 0.0, 0.0, 0.0, first], &[]);
        let Some(RowTarget::Compliant { bias, compliance }) = targets.joints.last() else { panic!() };
        // r₂ = r₁ − ½h σ d (u − u½), u½ = 3.
        assert_near(*compliance, 1.0 / resistance);
        assert_near(*bias, -3.0 - first / resistance);
    }

    #[test]
    fn a_spring_without_a_damper_pushes_alike_in_both_halves() {
        let spring = ActionKind::Spring { stiffness: 30.0, damping: 0.0, rest: 0.0 };
        let case = Case::new(slider(spring, 0.5, 3.0), Scheme::Symmetric);
        let (targets, _) = case.velocities(&[0.0, 0.0, 0.0, 0.0, 0.0, -0.75], &[]);
        assert_eq!(targets.joints.last(), Some(&RowTarget::Impulse(-0.75)));
    }

    #[test]
    fn a_motor_has_its_speed_as_target_in_both_solves_whatever_the_length() {
        let motor = ActionKind::Speed { target: formula("3 + t"), force: 10.0 };
        let case = Case::new(slider(motor, 0.5, 0.0), Scheme::HalfImplicit);
        // At the end of the step, where the velocities of the solve are.
        let RowTarget::Velocity { bias } = case.last(LimitRule::Enforce) else { panic!() };
        assert_near(bias, -(3.0 + H));
    }

    #[test]
    fn a_force_is_given_in_equal_halves() {
        let case = Case::new(slider(ActionKind::Force { force: formula("8") }, 0.5, 0.0), Scheme::Symmetric);
        let RowTarget::Impulse(r) = case.last(LimitRule::Enforce) else { panic!() };
        assert_near(r, 0.5 * H * 8.0);
        let (targets, _) = case.velocities(&[0.0, 0.0, 0.0, 0.0, 0.0, r], &[]);
        assert_eq!(targets.joints.last(), Some(&RowTarget::Impulse(r)));
    }

    /// A slider whose upper limit is this far away, and the target of that limit: the lower one is far.
    fn limit_case(distance: f64, velocity: f64, scheme: Scheme) -> Case {
        let limits = ActionKind::Limits { lower: -10.0, upper: 1.0, restitution: 0.5 };
        Case::new(slider(limits, 1.0 - distance, velocity), scheme)
    }

    fn limit_target(case: &Case, targets: &RowTargets) -> RowTarget {
        let rows = case.linearization.joint_rows();
        let upper = (rows.bilateral..rows.rows.len()).find(|&i| rows.rows[i].value < 5.0).unwrap();
        targets.joints[upper]
    }

    #[test]
    fn a_limit_counts_where_it_can_be_reached_and_not_where_it_is_passed_by() {
        let target = |distance: f64, velocity: f64, limits: LimitRule| {
            let case = limit_case(distance, velocity, Scheme::Symmetric);
            limit_target(&case, &case.positions(limits, GapRule::Exact))
        };
        assert_eq!(target(0.5, 1.0, LimitRule::Enforce), RowTarget::LeftOut);
        assert_eq!(target(0.005, 1.0, LimitRule::PassBy), RowTarget::LeftOut);
        let RowTarget::Velocity { bias } = target(0.005, 1.0, LimitRule::Enforce) else { panic!() };
        assert_near(bias, 0.005 / H);
        // One that is reached is kept even where others are passed by.
        assert!(matches!(target(0.0, 1.0, LimitRule::PassBy), RowTarget::Velocity { .. }));
    }

    #[test]
    fn a_limit_that_is_hit_sends_back_its_part_of_the_speed_of_arrival() {
        let half_implicit = limit_case(0.0, 2.0, Scheme::HalfImplicit);
        let found = half_implicit.positions(LimitRule::Enforce, GapRule::Exact);
        assert_eq!(limit_target(&half_implicit, &found), RowTarget::Velocity { bias: 0.5 * -2.0 });
        let symmetric = limit_case(0.0, 2.0, Scheme::Symmetric);
        let (found, rebounds) = symmetric.velocities(&[0.0; 7], &[]);
        assert_eq!(limit_target(&symmetric, &found), RowTarget::Velocity { bias: 0.5 * -2.0 });
        assert_eq!(rebounds.impacts, 1);
        let leaving = limit_case(0.0, -2.0, Scheme::Symmetric);
        let (found, rebounds) = leaving.velocities(&[0.0; 7], &[]);
        assert_eq!(limit_target(&leaving, &found), RowTarget::Velocity { bias: 0.0 });
        assert_eq!(rebounds.impacts, 0);
    }

    fn falling(gap: f64, speed: f64, e: f64, scheme: Scheme) -> Case {
        let surface = Surface { restitution: e, ..smooth() };
        Case::new(ball_on_floor(surface, gap, DVec3::new(0.0, 0.0, -speed)), scheme)
    }

    #[test]
    fn a_gap_may_close_and_an_overlap_opens_unless_gaps_are_linearized() {
        let bias = |gap: f64, gaps: GapRule| {
            let case = falling(gap, 0.0, 0.0, Scheme::Symmetric);
            case.positions(LimitRule::Enforce, gaps).normal_bias[0].unwrap()
        };
        assert_near(bias(1e-4, GapRule::Exact), 1e-4 / H);
        assert_near(bias(-1e-4, GapRule::Exact), -1e-4 / H);
        assert_near(bias(-1e-4, GapRule::Linearized), 0.0);
    }

    #[test]
    fn a_contact_rebounds_in_the_solve_that_ends_in_velocities() {
        let hit = falling(0.0, 2.0, 0.5, Scheme::Symmetric);
        assert_eq!(hit.positions(LimitRule::Enforce, GapRule::Exact).normal_bias, [Some(0.0)]);
        let (targets, rebounds) = hit.velocities(&[], &[[0.0; MAX_CONTACT_ROWS]]);
        assert_eq!((targets.normal_bias[0], rebounds.impacts), (Some(-1.0), 1));
        let only_solve = falling(0.0, 2.0, 0.5, Scheme::HalfImplicit);
        assert_eq!(only_solve.positions(LimitRule::Enforce, GapRule::Exact).normal_bias, [Some(-1.0)]);
        let apart = falling(1e-3, 2.0, 0.5, Scheme::Symmetric);
        assert_eq!(apart.velocities(&[], &[[0.0; MAX_CONTACT_ROWS]]).0.normal_bias, [None]);
        let dead = falling(0.0, 2.0, 0.0, Scheme::Symmetric);
        assert_eq!(dead.velocities(&[], &[[0.0; MAX_CONTACT_ROWS]]).0.normal_bias, [Some(0.0)]);
    }

    #[test]
    fn rebounds_too_slow_to_follow_are_summed_to_their_end() {
        // Rest is below 0.1 g h = 0.01 m/s.
        let slow = falling(0.0, 0.005, 0.5, Scheme::Symmetric);
        let (targets, rebounds) = slow.velocities(&[], &[[0.0; MAX_CONTACT_ROWS]]);
        assert_eq!((targets.normal_bias[0], rebounds.impacts), (Some(0.0), 0));
        // It came to rest where it stood, closed and slow: no accumulation of a contact that does not fly.
        let resting = falling(0.0, 0.0, 0.5, Scheme::Symmetric);
        assert!(resting.velocities(&[], &[[0.0; MAX_CONTACT_ROWS]]).1.accumulations.is_empty());
    }

    #[test]
    fn what_the_linearization_missed_is_added_to_the_targets() {
        let case = falling(1e-3, 1.0, 0.0, Scheme::Symmetric);
        let plan = plan(LimitRule::Enforce, GapRule::Exact);
        let mut targets = case.positions(LimitRule::Enforce, GapRule::Exact);
        let mut bodies = case.state.bodies.clone();
        // The solve left the ball with u_n = −gap/h, and it came 2e-4 m too far.
        bodies[1].pose.position.z = RADIUS - 2e-4;
        let impulses = Impulses { rows: vec![], contacts: vec![[1.0; MAX_CONTACT_ROWS]] };
        let velocity = [0.0, 0.0, -1e-3 / H, 0.0, 0.0, 0.0];
        let end = DriftEnd { bodies: &bodies, joint_values: &[], velocity: &velocity, impulses: &impulses };
        let missed = correct_position_targets(case.view(&plan), &end, &mut targets);
        assert!((targets.normal_bias[0].unwrap() - (1e-3 - 2e-4) / H).abs() < 1e-12);
        // What is allowed is 1e-8 m, and the gap has rounding errors of a ball at half a metre.
        assert!((missed.worst - 2e4).abs() < 1e-3 && !missed.pushed_apart, "{missed:?}");
        // Too far away with an impulse: it pushed what does not touch.
        bodies[1].pose.position.z = RADIUS + 2e-4;
        let end = DriftEnd { bodies: &bodies, joint_values: &[], velocity: &velocity, impulses: &impulses };
        let mut targets = case.positions(LimitRule::Enforce, GapRule::Exact);
        let missed = correct_position_targets(case.view(&plan), &end, &mut targets);
        assert_eq!(missed, Missed { worst: 0.0, pushed_apart: true });
    }
}
