//! F of a world, and how far its sums may be off.
//!
//! ```text
//! F = −(m g + f) ,  ω̄ × I ω̄ − τ̄ ,  less springs and given forces of joints          δF = 16 ε Σ |terms|
//! ```
//!
//! A weight that a given force balances leaves the rounding of both, which has a sign and says nothing. Sums
//! of short binary fractions are exact, and count as they are.

use delassus_solve::linalg::Fraction;

use crate::lagrangian::Row;
use crate::world;
use crate::world::{FIXED_SLOT, Masses, RowKind, Rows, World, WorldState, lift_of_medium};

/// What products, rotations and sums of terms round away, relative to these: some units in the last place.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Sums of terms, one per coordinate.
#[derive(Clone, Debug, Default)]
pub(super) struct Forces {
    /// F.
    pub(super) value: Vec<f64>,
    /// Σ |terms|.
    pub(super) terms: Vec<f64>,
    /// Whether a term was rounded.
    pub(super) rounded: Vec<bool>,
}

impl Forces {
    /// Sums without terms.
    fn zeros(count: usize) -> Self {
        Forces { value: vec![0.0; count], terms: vec![0.0; count], rounded: vec![false; count] }
    }

    /// Another coordinate, with one term.
    pub(super) fn push(&mut self, term: f64) {
        self.value.push(0.0);
        self.terms.push(0.0);
        self.rounded.push(false);
        self.add(self.value.len() - 1, term, term);
    }

    /// Adds a term that is itself a sum of terms of this size.
    pub(super) fn add(&mut self, at: usize, term: f64, size: f64) {
        self.value[at] += term;
        self.terms[at] += size.abs();
        self.rounded[at] |= !Fraction::of_short(term).is_defined();
    }

    /// Adds a force along a row.
    pub(super) fn add_along(&mut self, gradient: &[f64], force: f64) {
        for (i, g) in gradient.iter().enumerate().filter(|(_, g)| **g != 0.0) {
            self.add(i, force * g, force * g);
        }
    }

    /// How far each may be off.
    pub(super) fn errors(&self) -> Vec<f64> {
        let of = |(terms, rounded): (&f64, &bool)| if *rounded { ROUNDING * terms } else { 0.0 };
        self.terms.iter().zip(&self.rounded).map(of).collect()
    }
}

/// F without joints.
pub(super) fn free_force(world: &World, state: &WorldState, masses: &Masses) -> Forces {
    let mut force = Forces::zeros(masses.mass.len());
    for ((body, s), &slot) in world.bodies.iter().zip(&state.bodies).zip(&masses.slot) {
        if slot == FIXED_SLOT {
            continue;
        }
        let at = 6 * slot as usize;
        let (weight, omega) = (body.mass * world.gravity, s.angular_velocity);
        let (angular_momentum, torque) = (body.inertia * omega, s.pose.local_vector(body.force[1]));
        for c in 0..3 {
            for term in [weight[c], body.force[0][c], body.carried[c]] {
                force.add(at + c, -term, term);
            }
            let (next, last) = ((c + 1) % 3, (c + 2) % 3);
            for term in [omega[next] * angular_momentum[last], -(omega[last] * angular_momentum[next])] {
                force.add(at + 3 + c, term, term);
            }
            // A component of a rotated vector is as uncertain as the whole.
            force.add(at + 3 + c, -torque[c], torque.length());
        }
    }
    lift_of_medium(
        world,
        |body| state.bodies[body],
        |body, [push, moment]| {
            let at = 6 * masses.slot[body] as usize;
            for c in 0..3 {
                // A component is as uncertain as all that was added up for it.
                force.add(at + c, -push[c], push.length());
                force.add(at + 3 + c, -moment[c], moment.length());
            }
        },
    );
    force
}

/// Inertia and row of every rotor, whose acceleration by the motion itself, γ, goes to F. `error`: how far γ
/// may be off.
pub(super) fn add_rotors(rows: &Rows, all: &[Row], error: f64, force: &mut Forces) -> Vec<(f64, Vec<f64>)> {
    let mut rotors = Vec::new();
    for (row, dense) in rows.rows.iter().zip(all) {
        let RowKind::Armature { inertia } = row.kind else { continue };
        let push = inertia * dense.bias;
        for (i, g) in dense.gradient.iter().enumerate().filter(|(_, g)| push != 0.0 && **g != 0.0) {
            force.add(i, push * g, g * (push.abs() + inertia * error / ROUNDING));
        }
        rotors.push((inertia, dense.gradient.clone()));
    }
    rotors
}

/// Moves springs and given forces of joints to F. `reach`: the largest coordinate of a position.
pub(super) fn add_joint_forces(rows: &Rows, masses: &Masses, v: &[f64], reach: f64, force: &mut Forces) {
    for (i, row) in rows.rows.iter().enumerate() {
        let velocity = world::row_velocity(rows, i, masses, v) + row.rate;
        let (pushed, size) = match row.kind {
            RowKind::Spring { stiffness, damping } => {
                let speeds = rows.blocks_of(row).iter().map(|(body, block)| {
                    let at = 6 * masses.slot[*body as usize] as usize;
                    block.iter().zip(&v[at..at + 6]).map(|(g, v)| (g * v).abs()).sum::<f64>()
                });
                let speed = speeds.sum::<f64>() + row.rate.abs();
                let stretch = if row.value == 0.0 { 0.0 } else { row.value.abs() + reach.max(1.0) };
                (-stiffness * row.value - damping * velocity, stiffness * stretch + damping * speed)
            }
            RowKind::Servo { stiffness, damping, push, range: [low, high] } => {
                let free = push - stiffness * row.value - damping * velocity;
                let size =
                    push.abs() + stiffness * (row.value.abs() + reach.max(1.0)) + damping * velocity.abs();
                (free.clamp(low, high), if free < low || free > high { free.clamp(low, high) } else { size })
            }
            RowKind::Applied { force } => (force, force),
            RowKind::Bilateral
            | RowKind::Limit { .. }
            | RowKind::Bounded { .. }
            | RowKind::Armature { .. } => continue,
        };
        for (body, block) in rows.blocks_of(row) {
            let at = 6 * masses.slot[*body as usize] as usize;
            for c in (0..6).filter(|&c| block[c] != 0.0) {
                force.add(at + c, -pushed * block[c], size * block[c]);
            }
        }
    }
}
