//! The masses of the bodies that move, as the rows of joints and contacts see them.
//!
//! ```text
//! u_i = J_i v ,   w_ii = J_i M⁻¹ J_iᵀ ,   v ← v + M⁻¹ J_iᵀ r
//! ```
//!
//! v (6 per body that moves) stacks (ẋ, ω̄) by slots: bodies that move have consecutive slots, fixed ones
//! have none. M is diagonal and constant (004 §1), J_i a row of a joint.

use super::{BodyState, Row, Rows, World};
use glam::DVec3;

/// The slot of a fixed body.
pub const FIXED_SLOT: u32 = u32::MAX;

/// The slots and masses of the bodies that move.
#[derive(Clone, Debug)]
pub struct Masses {
    /// The place of each body among those that move, or [`FIXED_SLOT`].
    pub slot: Vec<u32>,
    /// M, 6 per body that moves.
    pub mass: Vec<f64>,
    /// M⁻¹.
    pub inverse: Vec<f64>,
}

impl Masses {
    /// The masses of a world.
    pub fn new(world: &World) -> Self {
        let mut slot = vec![FIXED_SLOT; world.bodies.len()];
        let mut mass = vec![];
        for (i, body) in world.bodies.iter().enumerate().filter(|(_, body)| !body.fixed) {
            slot[i] = (mass.len() / 6) as u32;
            mass.extend([body.mass; 3]);
            mass.extend(body.inertia.to_array());
        }
        let inverse = mass.iter().map(|m| 1.0 / m).collect();
        Masses { slot, mass, inverse }
    }

    /// The velocities of bodies into `v`.
    pub fn gather_velocities(&self, bodies: &[BodyState], v: &mut Vec<f64>) {
        v.clear();
        v.resize(self.mass.len(), 0.0);
        for (s, &slot) in bodies.iter().zip(&self.slot).filter(|(_, slot)| **slot != FIXED_SLOT) {
            let at = 6 * slot as usize;
            v[at..at + 3].copy_from_slice(&s.velocity.to_array());
            v[at + 3..at + 6].copy_from_slice(&s.angular_velocity.to_array());
        }
    }

    /// Gives bodies the velocities `v`.
    pub fn scatter_velocities(&self, v: &[f64], bodies: &mut [BodyState]) {
        for (s, &slot) in bodies.iter_mut().zip(&self.slot).filter(|(_, slot)| **slot != FIXED_SLOT) {
            let at = 6 * slot as usize;
            s.velocity = DVec3::from_slice(&v[at..at + 3]);
            s.angular_velocity = DVec3::from_slice(&v[at + 3..at + 6]);
        }
    }
}

/// The product of a block of a row with the velocity of its body.
#[inline]
pub fn dot6(block: &[f64; 6], v: &[f64]) -> f64 {
    block.iter().zip(&v[..6]).map(|(a, v)| a * v).sum()
}

/// Velocity of a row of a joint, without its rate.
#[inline]
pub fn row_velocity(rows: &Rows, i: usize, masses: &Masses, v: &[f64]) -> f64 {
    let (blocks, v) = (rows.blocks_of(&rows.rows[i]), v.as_chunks::<6>().0);
    let of = |(body, block): &(u32, [f64; 6])| {
        let v = &v[masses.slot[*body as usize] as usize];
        block.iter().zip(v).map(|(a, v)| a * v).sum::<f64>()
    };
    blocks.iter().map(of).sum()
}

/// The mean of the velocities of a row in two motions, entry by entry.
pub fn mean_row_velocity(rows: &Rows, i: usize, masses: &Masses, motions: [&[f64]; 2]) -> f64 {
    let [first, second] = motions.map(|v| v.as_chunks::<6>().0);
    let mut twice = [0.0; 6];
    for (body, block) in rows.blocks_of(&rows.rows[i]) {
        let slot = masses.slot[*body as usize] as usize;
        let (block, v, w) = (*block, first[slot], second[slot]);
        twice = std::array::from_fn(|c| twice[c] + block[c] * (v[c] + w[c]));
    }
    0.5 * ((twice[0] + twice[2] + twice[4]) + (twice[1] + twice[3] + twice[5]))
}

/// J M⁻¹ Jᵀ of a row of a joint by itself.
pub fn row_mobility(rows: &Rows, row: &Row, masses: &Masses) -> f64 {
    let of = |(body, block): &(u32, [f64; 6])| {
        let at = 6 * masses.slot[*body as usize] as usize;
        (0..6).map(|c| block[c] * block[c] * masses.inverse[at + c]).sum::<f64>()
    };
    rows.blocks_of(row).iter().map(of).sum()
}

/// v ← v + M⁻¹ Jᵀ r of a row of a joint.
#[inline]
pub fn apply_row_impulse(rows: &Rows, i: usize, r: f64, masses: &Masses, v: &mut [f64]) {
    let (v, inverses) = (v.as_chunks_mut::<6>().0, masses.inverse.as_chunks::<6>().0);
    for (body, block) in rows.blocks_of(&rows.rows[i]) {
        let slot = masses.slot[*body as usize] as usize;
        let (v, inverse) = (&mut v[slot], &inverses[slot]);
        for c in 0..6 {
            v[c] += inverse[c] * block[c] * r;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Body, Pose, RowKind};

    fn body(fixed: bool, mass: f64) -> Body {
        Body {
            name: String::new(),
            fixed,
            mass,
            inertia: DVec3::new(1.0, 2.0, 4.0),
            shapes: vec![],
            frame: Pose::IDENTITY,
            force: [DVec3::ZERO; 2],
            carried: DVec3::ZERO,
        }
    }

    fn world(bodies: Vec<Body>) -> World {
        let (name, gravity) = (String::new(), DVec3::ZERO);
        World {
            name,
            gravity,
            bodies,
            joints: vec![],
            surfaces: vec![],
            no_contact: vec![],
            plane: None,
            sensors: vec![],
            medium: None,
        }
    }

    #[test]
    fn velocities_pass_fixed_bodies_by_and_come_back_the_same() {
        let bodies = vec![body(false, 2.0), body(true, 1.0), body(false, 5.0)];
        let masses = Masses::new(&world(bodies));
        assert_eq!(masses.slot, [0, FIXED_SLOT, 1]);
        assert_eq!(masses.mass, [2.0, 2.0, 2.0, 1.0, 2.0, 4.0, 5.0, 5.0, 5.0, 1.0, 2.0, 4.0]);
        let given: Vec<f64> = (1..=12).map(f64::from).collect();
        let rest = BodyState { pose: Pose::IDENTITY, velocity: DVec3::ZERO, angular_velocity: DVec3::ZERO };
        let (mut states, mut found) = (vec![rest; 3], vec![]);
        masses.scatter_velocities(&given, &mut states);
        assert_eq!((states[1].velocity, states[2].angular_velocity.x), (DVec3::ZERO, 10.0));
        masses.gather_velocities(&states, &mut found);
        assert_eq!(found, given);
    }

    #[test]
    fn an_impulse_along_a_row_changes_its_velocity_by_its_mobility() {
        let masses = Masses::new(&world(vec![body(false, 2.0), body(false, 5.0)]));
        let blocks = vec![(0, [1.0, -2.0, 0.5, 3.0, 0.0, 1.0]), (1, [0.0, 1.0, 1.0, -1.0, 2.0, 0.0])];
        let row =
            Row { kind: RowKind::Bilateral, joint: 0, value: 0.0, rate: 0.0, load: 0.0, blocks: [0, 2] };
        let rows = Rows { rows: vec![row], blocks, bilateral: 1, ..Rows::default() };
        // Σ J²/m by hand: (1 + 4 + 0.25)/2 + 9/1 + 1/4 and 2/5 + 1/1 + 4/2.
        let w = 2.625 + 9.0 + 0.25 + 0.4 + 1.0 + 2.0;
        assert!((row_mobility(&rows, &rows.rows[0], &masses) - w).abs() < 1e-14);
        let mut v = vec![0.0; 12];
        apply_row_impulse(&rows, 0, 3.0, &masses, &mut v);
        // Six products and a sum of twelve: a few roundings of numbers below 50.
        assert!((row_velocity(&rows, 0, &masses, &v) - 3.0 * w).abs() < 1e-13);
        let mean = mean_row_velocity(&rows, 0, &masses, [&v, &[0.0; 12]]);
        assert!((mean - 1.5 * w).abs() < 1e-13);
    }
}
