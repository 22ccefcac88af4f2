//! What the solves of a time step want of joints and contacts.
//!
//! ```text
//! positions:   u + rate + g/h = 0 (joints) ,   0 ≤ u_n + gap/h ⊥ r_n ≥ 0 (contacts, limits)
//! velocities:  u + rate = 0 ,                  0 ≤ u_n + e u_n⁻ ⊥ r_n ≥ 0
//! ```
//!
//! u are the velocities of rows, g their values, u_n⁻ the speed of arrival. Source: 004 eq. 9; restitution by Moreau (001 eq.
//! 84).
//!
//! Springs and dampers, k and d, in the two halves of a symmetric step:
//!
//! ```text
//! r₁ = −½h (k (g + ½(1 + σ) h u½) + d u½) ,   r₂ = r₁ − ½h σ d (u − u½) ,   σ = z/(1 + z) ,   z = ½h d H M⁻¹ Hᵀ
//! ```
//!
//! Without damping σ is zero: the midpoint rule, which keeps the energy. With it the step is of second order still, σ being
//! of the order of h, and what is damped stiffly decays at once instead of changing its sign from step to step: a damper by
//! itself slows down by 1/(1 + 2z + 2z² + z³) for e^(−2z).

use super::report::{Accumulation, StepReport};
use super::substep::{Approach, Room, find_approach};
use super::velocity_solve::{Want, row_mobility, row_velocity};
use super::warm_start::key;
use super::{REST, Scheme, Stepper};
use crate::world;
use crate::world::{Row, RowKind};

/// Dampers are soft below this σ z.
const SOFT: f64 = 1e-9;

/// σ = z/(1 + z): how much of a damper is taken at the end of the step.
fn stiffly(z: f64) -> f64 {
    // Without a number: a damper of infinite strength.
    if z.is_finite() { z / (1.0 + z) } else { 1.0 }
}

/// A limit arrives freely where the first half of a step takes no more than this part of its speed.
const FREE: f64 = 0.01;

/// Whether a limit that is reached sends back what arrives at this speed.
fn rebounds(row: &Row, speed: f64, touching: f64, rest: f64) -> bool {
    matches!(row.kind, RowKind::Limit { restitution } if restitution > 0.0)
        && row.value <= touching
        && speed < -rest
}

impl Stepper {
    /// The wants of the solve that ends in positions.
    pub(super) fn want_positions(&mut self, h: f64, symmetric: bool, room: &Room) {
        let Room { approach, free, limit_begin, past_limits, linear, .. } = room;
        let share = if symmetric { 0.5 } else { 1.0 };
        let (rows, masses) = (&self.rows, &self.masses);
        let stiffly = |row: &Row, damping: f64| stiffly(0.5 * h * damping * row_mobility(rows, row, masses));
        let (touching, rest) = (self.touching(), self.rest_speed());
        let far = |i: usize, row: &Row| {
            let u = row_velocity(rows, i, masses, free) + row.rate;
            row.value > touching && (*past_limits || row.value + 2.0 * h * u > 0.0)
        };
        let speed = |i: usize| limit_begin[i - rows.held].speed;
        let want = |i: usize, row: &Row| match row.kind {
            // Taken back in by `correct_biases` where it is passed after all.
            RowKind::Limit { .. } if far(i, row) => Want::Nothing,
            RowKind::Limit { restitution } if !symmetric && rebounds(row, speed(i), touching, rest) => {
                Want::Velocity { bias: row.rate + restitution * speed(i) }
            }
            RowKind::Held | RowKind::Limit { .. } => Want::Velocity { bias: row.rate + row.value / h },
            RowKind::Bounded { .. } => Want::Velocity { bias: row.rate },
            RowKind::Applied { force } => Want::Impulse(share * h * force),
            RowKind::Spring { stiffness, damping } => {
                // r = −share·h (k (g + θh u) + d u)
                let sigma = if symmetric { stiffly(row, damping) } else { 1.0 };
                let theta = 0.5 + 0.5 * sigma;
                let resistance = stiffness * theta * h + damping;
                Want::Compliant {
                    bias: stiffness * row.value / resistance + row.rate,
                    compliance: 1.0 / (share * h * resistance),
                }
            }
        };
        self.stage.wants.clear();
        let all = self.rows.rows.iter().zip(&self.redundant).enumerate();
        self.stage.wants.extend(all.map(|(i, (row, out))| if *out { Want::Nothing } else { want(i, row) }));
        self.stage.normal_bias.clear();
        for (i, contact) in self.contacts.iter().enumerate() {
            let speed = approach[i].speed;
            let rebounds = !symmetric && contact.gap <= touching && speed < -rest;
            let bias = if rebounds && self.restitution[i] > 0.0 {
                self.restitution[i] * speed
            } else if *linear {
                contact.gap.max(0.0) / h
            } else {
                contact.gap / h
            };
            self.stage.normal_bias.push(Some(bias));
        }
    }

    /// Arrivals below this do not rebound.
    pub(super) fn rest_speed(&self) -> f64 {
        REST * self.world.gravity.length() * self.options.dt
    }

    /// Adds to the wants what the linearization missed. How far joints are open or bodies overlap, in parts of what is allowed,
    /// and whether a contact pushed bodies that do not touch.
    pub(super) fn correct_biases(&mut self, h: f64, room: &Room) -> (f64, bool) {
        let Room { velocity: v, limit_begin, past_limits, .. } = room;
        let tolerance = self.options.position_tolerance;
        let (mut worst, mut inexact) = (0.0f64, false);
        world::values(&self.world, &self.state, &mut self.values);
        let (near, yielding, rest) = (self.touching(), self.yielding(), self.rest_speed());
        let half_implicit = self.options.scheme == Scheme::HalfImplicit;
        for (i, &value) in self.values.iter().enumerate() {
            let row = &self.rows.rows[i];
            if let (RowKind::Limit { .. }, Want::Nothing) = (row.kind, self.stage.wants[i]) {
                if value < -tolerance && !self.redundant[i] && !past_limits {
                    self.stage.wants[i] = Want::Velocity { bias: row.rate + row.value / h };
                    worst = worst.max(-value / tolerance);
                }
                continue;
            }
            let Want::Velocity { bias } = &mut self.stage.wants[i] else { continue };
            match row.kind {
                RowKind::Held => {
                    worst = worst.max(value.abs() / tolerance);
                    *bias += value / h;
                }
                // A rebound wants a velocity, not a distance.
                RowKind::Limit { .. }
                    if half_implicit && rebounds(row, limit_begin[i - self.rows.held].speed, near, rest) => {}
                RowKind::Limit { .. } => {
                    let pushed = self.stage.row_impulse[i] > 0.0;
                    worst = worst.max(-value / tolerance);
                    inexact |= pushed && value > near;
                    let predicted = h * (row_velocity(&self.rows, i, &self.masses, v) + *bias);
                    *bias += (value - predicted) / h;
                }
                _ => {}
            }
        }
        for (i, contact) in self.contacts.iter().enumerate() {
            let Some(bias) = &mut self.stage.normal_bias[i] else { continue };
            // A rebound wants a velocity, not a distance.
            if half_implicit && self.restitution[i] > 0.0 && contact.gap <= near {
                continue;
            }
            let [a, b] = contact.bodies.map(|b| &self.state.bodies[b as usize].pose);
            let (gap, _) = contact.gap_at(a, b);
            let pushed = self.stage.contact_impulse[i][0] > 0.0;
            let predicted = h * (self.contact_rows[i].velocity(0, v) + *bias);
            let missed = gap - predicted;
            if missed < -tolerance {
                worst = worst.max(-gap / yielding);
            }
            inexact |= pushed && missed > near;
            *bias += missed / h;
        }
        (worst, inexact)
    }

    /// The wants of the solve that ends in velocities, with rebounds.
    pub(super) fn want_velocities(&mut self, h: f64, room: &mut Room, report: &mut StepReport) {
        let Room { velocity: v, approach, kicked, start, before, limit_begin, past_limits, .. } = room;
        let touching = self.touching();
        let rest = self.rest_speed();
        // The velocities in the middle of the step, as they have been carried to its end.
        self.velocities_of(&self.state.bodies, kicked);
        self.stage.wants.clear();
        for (i, row) in self.rows.rows.iter().enumerate() {
            let want = match row.kind {
                _ if self.redundant[i] => Want::Nothing,
                RowKind::Held | RowKind::Bounded { .. } => Want::Velocity { bias: row.rate },
                RowKind::Limit { .. } if *past_limits && limit_begin[i - self.rows.held].value > touching => {
                    Want::Nothing
                }
                RowKind::Limit { restitution } if row.value <= touching => {
                    // The speed at which it arrived: not the one with which the step left it here, nor the weight on it.
                    let begin = limit_begin[i - self.rows.held].speed;
                    let push = self.row_impulse.get(i).copied().unwrap_or(0.0);
                    let taken = push * row_mobility(&self.rows, row, &self.masses);
                    // Where next to nothing was taken from it on the way, the middle tells how it went on.
                    let u = if taken.abs() <= FREE * begin.abs() {
                        2.0 * (row_velocity(&self.rows, i, &self.masses, kicked) + row.rate) - begin
                    } else {
                        begin
                    };
                    let bias = if u < -rest { restitution * u } else { 0.0 };
                    report.impacts += usize::from(bias < 0.0);
                    Want::Velocity { bias: row.rate + bias }
                }
                RowKind::Limit { .. } => Want::Nothing,
                // Both halves have the force of the middle.
                RowKind::Applied { .. } => Want::Impulse(self.row_impulse.get(i).copied().unwrap_or(0.0)),
                RowKind::Spring { damping, .. } => {
                    let first = self.row_impulse.get(i).copied().unwrap_or(0.0);
                    let z = 0.5 * h * damping * row_mobility(&self.rows, row, &self.masses);
                    let resistance = 0.5 * h * damping * stiffly(z);
                    if stiffly(z) * z < SOFT {
                        Want::Impulse(first)
                    } else {
                        // r₂ = r₁ − ½h σ d (u − u½)
                        let middle = row_velocity(&self.rows, i, &self.masses, kicked);
                        Want::Compliant { bias: -middle - first / resistance, compliance: 1.0 / resistance }
                    }
                }
            };
            self.stage.wants.push(want);
        }
        self.stage.normal_bias.clear();
        let rebounding = self.restitution.iter().any(|e| *e > 0.0);
        if rebounding {
            // 2 v½ − v_k: how bodies would go on at the end of the step, forces of joints with it.
            self.velocities_of(before, start);
            start.iter_mut().zip(kicked.iter()).for_each(|(old, middle)| *old = 2.0 * middle - *old);
            self.accelerations(kicked);
        }
        for (i, contact) in self.contacts.iter().enumerate() {
            let bias = (contact.gap <= touching).then(|| {
                if self.restitution[i] == 0.0 {
                    return 0.0;
                }
                let now = self.contact_rows[i].velocity(0, v);
                let weight = -self.contact_rows[i].velocity(0, kicked);
                let then = find_approach(approach, key(contact));
                let fall = then.map_or(weight, |then| {
                    let push = self.stage.contact_impulse[i][0];
                    let taken = push * self.contact_rows[i].self_block(&self.masses.inverse, 0, 0);
                    let arrives = self.contact_rows[i].velocity(0, start) - 2.0 * taken;
                    let free = taken.abs() <= FREE * then.speed.abs() && h > 1e-3 * self.options.dt;
                    if free { (then.speed - arrives) / h } else { weight }
                });
                let u = match then {
                    // A contact that is closed and stays so feels its weight, which is no impact.
                    Some(then) if then.closed && then.speed <= 1e-3 * rest => then.speed,
                    Some(then) => {
                        // The speed at which it arrived, which is not the one with which the step left it here.
                        let arrival = (then.speed * then.speed + 2.0 * fall * then.gap).max(0.0).sqrt();
                        if arrival <= REST * fall.abs() * self.options.dt {
                            report.accumulations.extend(self.accumulation(i, h, then, arrival, fall));
                            return 0.0;
                        }
                        -arrival
                    }
                    None => now,
                };
                if u < -rest {
                    report.impacts += 1;
                    self.restitution[i] * u
                } else {
                    0.0
                }
            });
            self.stage.normal_bias.push(bias);
        }
    }

    /// When a contact that arrives too slowly to rebound would have come to rest.
    fn accumulation(
        &self,
        i: usize,
        h: f64,
        then: &Approach,
        arrival: f64,
        fall: f64,
    ) -> Option<Accumulation> {
        let e = self.restitution[i];
        if fall <= 0.0 || e >= 1.0 {
            return None;
        }
        // Arrival of the free fall, and the rebounds that are left out: Σ 2 eᵏ u/a.
        let rest = (then.speed + arrival) / fall + 2.0 * e * arrival / (fall * (1.0 - e));
        Some(Accumulation { t: self.state.t - h + rest, contact: self.contact_name(&self.contacts[i]) })
    }
}
