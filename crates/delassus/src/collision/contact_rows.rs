//! The rows of a contact: how the velocities of its two bodies become the velocity of the contact.
//!
//! ```text
//! u = H v ,   u = (u_n, u_t1, u_t2, ω_t1, ω_t2, ω_n) ,   v = (ẋ, ω̄) of both bodies
//! ```
//!
//! H has one row for the normal, two for the tangents, two for rolling and one for spinning, as many as the
//! law of the contact needs. Contact velocity is that of B less that of A; the normal points from A to B.
//! Source: 004 eq. 7.
//!
//! Where friction differs along and across a direction, the tangents are those and are scaled, û_t = D u_t
//! and r_t = D r̂_t with D = diag(μ_1, μ_2)/max μ: the ellipse of friction becomes a circle of the larger
//! coefficient, and û·r̂ is the power u·r.

use delassus_solve::problem::Law;
use glam::DVec3;

use super::Contact;
use crate::world::{BodyState, FIXED_SLOT, dot6};

/// The most rows that a contact has: normal, two tangents, two rolling rows, one of spinning.
pub const MAX_CONTACT_ROWS: usize = 6;

/// By how much the normal has to be farther from one world axis than from another to count as farther.
const AXIS_MARGIN: f64 = 1e-6;

/// A contact with its Jacobian and its law.
#[derive(Clone, Copy, Debug)]
pub struct ContactRows {
    /// Slots of the bodies among those that move; `FIXED_SLOT` for a fixed one.
    pub slots: [u32; 2],
    /// Entries for (ẋ, ω̄) of body A and of body B.
    pub blocks: [[[f64; 6]; MAX_CONTACT_ROWS]; 2],
    /// The law.
    pub law: Law,
    /// Tangents, world axes, as long as the scales of their rows.
    pub tangents: [DVec3; 2],
    /// Scales of the rows of the tangents, D.
    pub scale: [f64; 2],
}

impl ContactRows {
    /// The same rows with the associated law in the place of Coulomb's.
    pub fn associated(&self) -> Self {
        let other = self.law.associated_or_exact().filter(Law::is_associated);
        ContactRows { law: other.unwrap_or(self.law), ..*self }
    }

    /// The rows at the poses of bodies; the gap's gradient is taken at `point`.
    pub fn new(contact: &Contact, bodies: &[BodyState], slot: &[u32], law: Law) -> Self {
        let n = contact.normal;
        // The world axis that the normal is farthest from gives the first tangent; among those that are
        // equally far up to rounding, the first, so that it is the same from step to step.
        let [x, y, z] = [n.x.abs(), n.y.abs() + AXIS_MARGIN, n.z.abs() + 2.0 * AXIS_MARGIN];
        let axis = if x <= y && x <= z {
            DVec3::X
        } else if y <= z {
            DVec3::Y
        } else {
            DVec3::Z
        };
        let t1 = (axis - n * axis.dot(n)).normalize_or_zero();
        Self::along(contact, bodies, slot, law, (t1, [1.0, 1.0]))
    }

    /// The same with the first tangent given, and with the scales of both.
    pub fn along(
        contact: &Contact,
        bodies: &[BodyState],
        slot: &[u32],
        law: Law,
        (t1, scale): (DVec3, [f64; 2]),
    ) -> Self {
        let n = contact.normal;
        let t2 = n.cross(t1);
        let tangents = [scale[0] * t1, scale[1] * t2];
        let mut blocks = [[[0.0; 6]; MAX_CONTACT_ROWS]; 2];
        let slots = contact.bodies.map(|b| slot[b as usize]);
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            let pose = bodies[contact.bodies[side] as usize].pose;
            let arm = contact.point - pose.position;
            for (k, d) in [n, tangents[0], tangents[1]].into_iter().enumerate().take(law.dim()) {
                let moment = pose.local_vector(arm.cross(d));
                let linear = sign * d;
                let angular = sign * moment;
                blocks[side][k] = [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z];
            }
            for (k, d) in [t1, t2, n].into_iter().enumerate().take(law.dim().saturating_sub(3)) {
                let angular = sign * pose.local_vector(d);
                blocks[side][3 + k] = [0.0, 0.0, 0.0, angular.x, angular.y, angular.z];
            }
        }
        ContactRows { slots, blocks, law, tangents, scale }
    }

    /// The velocity along the surface, world axes, that these are the scaled parts of.
    pub fn slip(&self, [a, b]: [f64; 2]) -> DVec3 {
        let [s, t] = self.scale;
        self.tangents[0] * (a / (s * s)) + self.tangents[1] * (b / (t * t))
    }

    /// Velocity of a row.
    #[inline]
    pub fn velocity(&self, k: usize, v: &[f64]) -> f64 {
        let mut u = 0.0;
        for side in 0..2 {
            if self.slots[side] != FIXED_SLOT {
                u += dot6(&self.blocks[side][k], &v[6 * self.slots[side] as usize..]);
            }
        }
        u
    }

    /// |H| |v| of the normal: of what size the numbers are whose sum its velocity is.
    pub fn speed_of_terms(&self, v: &[f64]) -> f64 {
        let sides = self.slots.iter().zip(&self.blocks).filter(|(slot, _)| **slot != FIXED_SLOT);
        let size = |(slot, rows): (&u32, &[[f64; 6]; MAX_CONTACT_ROWS])| {
            let own = &v[6 * *slot as usize..][..6];
            rows[0].iter().zip(own).map(|(h, v)| (h * v).abs()).sum::<f64>()
        };
        sides.map(size).sum()
    }

    /// v ← v + M⁻¹ Hᵀ r.
    pub fn apply_impulse(&self, r: &[f64], inverse_mass: &[f64], v: &mut [f64]) {
        for side in 0..2 {
            if self.slots[side] != FIXED_SLOT {
                let at = 6 * self.slots[side] as usize;
                for k in 0..self.law.dim() {
                    for c in 0..6 {
                        v[at + c] += inverse_mass[at + c] * self.blocks[side][k][c] * r[k];
                    }
                }
            }
        }
    }

    /// terms ← terms + |M⁻¹ Hᵀ r|, term by term: of what size the numbers are whose sum a velocity is.
    pub fn add_sizes(&self, r: &[f64], inverse_mass: &[f64], terms: &mut [f64]) {
        for (slot, blocks) in self.slots.iter().zip(&self.blocks).filter(|(slot, _)| **slot != FIXED_SLOT) {
            let at = 6 * *slot as usize;
            for (block, r) in blocks.iter().zip(r) {
                for c in 0..6 {
                    terms[at + c] += (inverse_mass[at + c] * block[c] * r).abs();
                }
            }
        }
    }

    /// The block of W of the contact with itself.
    pub fn self_block(&self, inverse_mass: &[f64], i: usize, j: usize) -> f64 {
        let mut w = 0.0;
        for side in 0..2 {
            if self.slots[side] != FIXED_SLOT {
                let at = 6 * self.slots[side] as usize;
                for c in 0..6 {
                    w += self.blocks[side][i][c] * inverse_mass[at + c] * self.blocks[side][j][c];
                }
            }
        }
        w
    }
}
