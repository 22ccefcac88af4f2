//! Positions and rotations as whole numbers.
//!
//! ```text
//! x ≈ δ k ,      δ = 2^⌊log₂(10⁻⁴ r)⌋ ,      r the radius of the smallest body that moves
//! ε ≈ the three smallest components of the unit quaternion, each √2 ε ≈ k/32767; the fourth follows
//! ```
//!
//! A position is wrong by at most δ/2 in each direction, a rotation by at most 2√3/(2·32767·√2) < 3.8e-5 rad
//! to first order. Stored are the differences from frame to frame, as zigzag numbers 0, −1, 1, −2, … ↦ 0, 1,
//! 2, 3, …: small ones of both signs have upper bytes that are zero.

use glam::{DQuat, DVec3};

/// The step of positions for bodies of this radius that go as far as this from the origin, m.
pub fn quantum(radius: f64, farthest: f64) -> f64 {
    let wanted = if radius > 0.0 && radius.is_finite() { 1e-4 * radius } else { 1e-6 };
    // Numbers have 31 bits.
    let least = farthest.min(1e30) / f64::from(1u32 << 30);
    2f64.powi(wanted.max(least).max(1e-30).log2().floor() as i32)
}

/// A number of quanta.
pub fn to_quanta(x: f64, quantum: f64) -> i32 {
    // A cast takes the nearest number that there is.
    (x / quantum).round() as i32
}

/// Differences of whole numbers.
pub fn zigzag(delta: i32) -> u32 {
    ((delta << 1) ^ (delta >> 31)) as u32
}

/// Which component of a quaternion is left out, and the others.
pub fn smallest_three(q: DQuat) -> (u8, [i16; 3]) {
    let q = q.to_array();
    let largest = (0..4).fold(0, |best, i| if q[i].abs() > q[best].abs() { i } else { best });
    let sign = if q[largest] < 0.0 { -1.0 } else { 1.0 };
    let mut out = [0; 3];
    for (slot, i) in (0..4).filter(|i| *i != largest).enumerate() {
        out[slot] = (sign * q[i] * std::f64::consts::SQRT_2 * 32767.0).round() as i16;
    }
    (largest as u8, out)
}

/// A direction in 16 bits a component.
pub fn direction(n: DVec3) -> [i16; 3] {
    n.to_array().map(|x| (x * 32767.0).round() as i16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn quanta_are_powers_of_two_below_what_is_asked() {
        assert_eq!(quantum(1.0, 10.0), 2f64.powi(-14));
        assert_eq!(quantum(0.05, 10.0), 2f64.powi(-18));
        // So far away that 31 bits hold no finer step.
        assert!(quantum(1e-3, 1e6) >= 0.5e6 / f64::from(1u32 << 30));
        for bad in [0.0, f64::NAN, f64::INFINITY] {
            assert_eq!(quantum(bad, 1.0), 2f64.powi(-20));
        }
    }

    #[test]
    fn zigzag_numbers_grow_with_size() {
        assert_eq!(
            [0, -1, 1, -2, 2, i32::MIN, i32::MAX].map(zigzag),
            [0, 1, 2, 3, 4, u32::MAX, u32::MAX - 1]
        );
    }

    #[test]
    fn rotations_come_back_within_the_bound() {
        let mut random = Random(1);
        let mut random = move || random.centred();
        for _ in 0..10_000 {
            let q = DQuat::from_xyzw(random(), random(), random(), random()).normalize();
            let (left_out, three) = smallest_three(q);
            let three = three.map(|x| f64::from(x) / 32767.0 / std::f64::consts::SQRT_2);
            let last = (1.0 - three.iter().map(|x| x * x).sum::<f64>()).max(0.0).sqrt();
            let mut back = three.to_vec();
            back.insert(left_out as usize, last);
            let back = DQuat::from_xyzw(back[0], back[1], back[2], back[3]);
            let off = q.dot(back).abs().min(1.0);
            // The last component is at least ½ and takes up to √3 times the error of the others.
            let angle = 2.0 * (1.0 - off * off).max(0.0).sqrt().asin();
            assert!(angle < 8e-5, "{q}: {angle}");
        }
    }
}
