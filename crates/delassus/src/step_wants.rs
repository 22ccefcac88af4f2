//! What the solves of a time step want of joints and contacts.
//!
//! ```text
//! positions:   u + rate + g/h = 0 (joints) ,   0 ≤ u_n + gap/h ⊥ r_n ≥ 0 (contacts, limits)
//! velocities:  u + rate = 0 ,                  0 ≤ u_n + e u_n⁻ ⊥ r_n ≥ 0
//! ```
//!
//! u are the velocities of rows, g their values, u_n⁻ the speed of arrival. Source: 004 eq. 9; restitution by Moreau (001 eq. 84).

use crate::joint::{Row, RowKind};
use crate::joint_rows;
use crate::keyed_impulses::key;
use crate::stage::{Want, row_velocity};
use crate::step_part::{Approach, Room, find_approach};
use crate::step_report::{Accumulation, StepReport};
use crate::stepper::{REST, Scheme, Stepper};

impl Stepper<'_> {
    /// The wants of the solve that ends in positions.
    pub(crate) fn want_positions(&mut self, h: f64, symmetric: bool, approach: &[Approach]) {
        let share = if symmetric { 0.5 } else { 1.0 };
        let want = |row: &Row| match row.kind {
            RowKind::Held | RowKind::Limit { .. } => Want::Velocity { bias: row.rate + row.value / h },
            RowKind::Bounded { .. } => Want::Velocity { bias: row.rate },
            RowKind::Applied { force } => Want::Impulse(share * h * force),
            RowKind::Spring { stiffness, damping } => {
                // r = −share·h (k (g + share·h u) + d u)
                let resistance = stiffness * share * h + damping;
                Want::Compliant {
                    bias: stiffness * row.value / resistance + row.rate,
                    compliance: 1.0 / (share * h * resistance),
                }
            }
        };
        self.stage.wants.clear();
        let rows = self.rows.rows.iter().zip(&self.redundant);
        self.stage.wants.extend(rows.map(|(row, out)| if *out { Want::Nothing } else { want(row) }));
        self.stage.normal_bias.clear();
        for (i, contact) in self.contacts.iter().enumerate() {
            let speed = approach[i].speed;
            let rebounds = !symmetric && contact.gap <= self.touching() && speed < -self.rest_speed();
            let bias = if rebounds && self.restitution[i] > 0.0 {
                self.restitution[i] * speed
            } else {
                contact.gap / h
            };
            self.stage.normal_bias.push(Some(bias));
        }
    }

    fn rest_speed(&self) -> f64 {
        REST * self.world.gravity.length() * self.options.dt
    }

    /// Adds to the wants what the linearization missed. How far joints are open or bodies overlap, in parts of what is allowed,
    /// and whether a contact pushed bodies that do not touch.
    pub(crate) fn correct_biases(&mut self, h: f64, v: &[f64]) -> (f64, bool) {
        let tolerance = self.options.position_tolerance;
        let (mut worst, mut inexact) = (0.0f64, false);
        joint_rows::values(self.world, &self.state, &mut self.values);
        let (near, yielding) = (self.touching(), self.yielding());
        let half_implicit = self.options.scheme == Scheme::HalfImplicit;
        for (i, &value) in self.values.iter().enumerate() {
            let row = &self.rows.rows[i];
            let Want::Velocity { bias } = &mut self.stage.wants[i] else { continue };
            match row.kind {
                RowKind::Held => {
                    worst = worst.max(value.abs() / tolerance);
                    *bias += value / h;
                }
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
    pub(crate) fn want_velocities(&mut self, h: f64, room: &mut Room, report: &mut StepReport) {
        let Room { velocity: v, approach, kicked, .. } = room;
        let touching = self.touching();
        let rest = self.rest_speed();
        self.stage.wants.clear();
        for (i, row) in self.rows.rows.iter().enumerate() {
            let want = match row.kind {
                _ if self.redundant[i] => Want::Nothing,
                RowKind::Held | RowKind::Bounded { .. } => Want::Velocity { bias: row.rate },
                RowKind::Limit { restitution } if row.value <= touching => {
                    let u = row_velocity(&self.rows, i, &self.masses, v) + row.rate;
                    let bias = if u < -rest { restitution * u } else { 0.0 };
                    Want::Velocity { bias: row.rate + bias }
                }
                RowKind::Limit { .. } => Want::Nothing,
                RowKind::Applied { force } => Want::Impulse(0.5 * h * force),
                RowKind::Spring { .. } => Want::Impulse(self.row_impulse.get(i).copied().unwrap_or(0.0)),
            };
            self.stage.wants.push(want);
        }
        self.stage.normal_bias.clear();
        if self.restitution.iter().any(|e| *e > 0.0) {
            self.accelerations(kicked);
        }
        for (i, contact) in self.contacts.iter().enumerate() {
            let bias = (contact.gap <= touching).then(|| {
                if self.restitution[i] == 0.0 {
                    return 0.0;
                }
                let now = self.contact_rows[i].velocity(0, v);
                let fall = -self.contact_rows[i].velocity(0, kicked);
                let u = match find_approach(approach, key(contact)) {
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
