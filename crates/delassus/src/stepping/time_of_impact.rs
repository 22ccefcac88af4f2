//! The moments at which a step is cut: contacts that close with a rebound, limits that are reached.
//!
//! ```text
//! gap + u τ + c τ² = 0
//! ```
//!
//! Of a contact c is known from the forces on its bodies: ½a in the symmetric scheme and a in the half-implicit one, whose positions
//! follow the velocities at the end, a = n·M⁻¹F. Joints bend the motion of a limit by forces that only a solve gives: the
//! part is made as if the limit were not there, and c is what takes the coordinate from where it was to where it came.
//! What is left is of third order in the length of the part, and where that is no touch, there is another cut.

use super::substep::Room;
use super::velocity_solve::row_velocity;
use super::{REST, Scheme, Stepper};

impl Stepper {
    /// When the next contact with restitution closes within the time left, if one does.
    pub(super) fn next_impact(&self, left: f64, room: &mut Room) -> Option<f64> {
        if self.restitution.iter().all(|&e| e == 0.0) {
            return None;
        }
        let Room { velocity: v, kicked, .. } = room;
        self.velocities_of(&self.state.bodies, v);
        self.accelerations(kicked);
        let share = if self.options.scheme == Scheme::Symmetric { 0.5 } else { 1.0 };
        let mut first: Option<f64> = None;
        for (i, contact) in self.contacts.iter().enumerate().filter(|(i, _)| self.restitution[*i] > 0.0) {
            let (u, a) = (self.contact_rows[i].velocity(0, v), self.contact_rows[i].velocity(0, kicked));
            let tau = if contact.gap <= self.touching() {
                // It leaves and may come back.
                if u > 0.0 && a < 0.0 { -u / (share * a) } else { continue }
            } else {
                let Some(tau) = first_root(contact.gap, u, share * a) else { continue };
                tau
            };
            if -(u + a * tau) > REST * a.abs() * self.options.dt && tau < left {
                first = Some(first.map_or(tau, |f: f64| f.min(tau)));
            }
        }
        first
    }

    /// Whether a limit may be reached within h, fast enough to count.
    pub(super) fn nears_limit(&self, h: f64, room: &mut Room) -> bool {
        if self.rows.limits == 0 {
            return false;
        }
        let Room { velocity: v, kicked, .. } = room;
        self.velocities_of(&self.state.bodies, v);
        kicked.clone_from(v);
        self.kick(h, kicked);
        let (touching, rest) = (self.touching(), self.rest_speed());
        (self.rows.held..self.rows.held + self.rows.limits).any(|i| {
            let row = &self.rows.rows[i];
            let speed = |v: &[f64]| row_velocity(&self.rows, i, &self.masses, v) + row.rate;
            let u = speed(v).min(speed(kicked));
            row.value > touching && u < -rest && row.value + 2.0 * h * u <= 0.0
        })
    }

    /// When the first limit was passed in a part of length h that was made as if there were none.
    pub(super) fn passed_limit(&self, h: f64, room: &Room) -> Option<f64> {
        let (touching, rest) = (self.touching(), self.rest_speed());
        let mut first: Option<f64> = None;
        let held = self.rows.held;
        for (begin, end) in room.limit_begin.iter().zip(&self.values[held..]) {
            if begin.value <= touching || *end > touching {
                continue;
            }
            let c = (end - begin.value - begin.speed * h) / (h * h);
            // What it was when it touched: where rounding says it never did, at the end.
            let tau = first_root(begin.value, begin.speed, c).unwrap_or(h).min(h);
            if -(begin.speed + 2.0 * c * tau) > rest || *end < 0.0 {
                first = Some(first.map_or(tau, |f: f64| f.min(tau)));
            }
        }
        first
    }
}

/// The smallest τ > 0 with c + b τ + a τ² = 0, c > 0.
fn first_root(c: f64, b: f64, a: f64) -> Option<f64> {
    let discriminant = b * b - 4.0 * a * c;
    if discriminant < 0.0 {
        return None;
    }
    // In this form nothing cancels, and a = 0 is no exception.
    let tau = if b < 0.0 {
        2.0 * c / (-b + discriminant.sqrt())
    } else {
        let denominator = -b - discriminant.sqrt();
        if a >= 0.0 {
            return None;
        }
        denominator / (2.0 * a)
    };
    (tau > 0.0).then_some(tau)
}
