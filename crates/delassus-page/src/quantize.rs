//! Positions and rotations as whole numbers.
//!
//! ```text
//! x ≈ c + δ k ,   δ = 2^⌊log₂(10⁻⁴ r)⌋ ,   r the radius of the smallest body that moves,   |k| ≤ 2⁵¹
//! ε ≈ the three smallest components of the unit quaternion, each √2 ε ≈ k/32767; the fourth follows
//! ```
//!
//! c is near the middle of the motion: what is far from the origin is as exact as what is near. A position is
//! wrong by at most δ/2 in each direction, and δ is larger than said only where that were below 2⁻⁴⁸ of the
//! way that the bodies go, near the end of what doubles tell apart. A rotation is wrong by at most
//! 2√3/(2·32767·√2) < 3.8e-5 rad to first order. Stored are the differences from frame to frame, as zigzag
//! numbers 0, −1, 1, −2, … ↦ 0, 1, 2, 3, …: small ones of both signs have upper bytes that are zero.

use glam::{DQuat, DVec3};

/// The largest number of quanta, so that differences of two and their zigzag numbers are below 2⁵³: exact as
/// doubles, which is what a browser has.
const MAX_QUANTA: f64 = (1u64 << 51) as f64;

/// Where positions are counted from, and in which steps, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// c.
    pub centre: DVec3,
    /// δ.
    pub quantum: f64,
}

impl Grid {
    /// The grid for positions of bodies, the smallest of which has this radius (zero where none has one).
    pub fn of(radius: f64, positions: impl Iterator<Item = DVec3> + Clone) -> Grid {
        let finite = positions.filter(|p| p.is_finite());
        let least = finite.clone().reduce(DVec3::min).unwrap_or_default();
        let largest = finite.reduce(DVec3::max).unwrap_or_default();
        let (middle, half) = (0.5 * least + 0.5 * largest, (0.5 * largest - 0.5 * least).max_element());
        // Without a radius the way that they go is all that there is to compare with.
        let known = radius > 0.0 && radius.is_finite();
        let wanted = if known { 1e-4 * radius } else { 1e-6 * if half > 0.0 { half } else { 1.0 } };
        // A centre in large steps: numbers with few digits stay so. Positions are at most one step from it.
        let step = (4.0 * power_above(half.max(wanted))).min(2f64.powi(1023));
        let centre = (middle / step).round() * step;
        let centre = if centre.is_finite() { centre } else { DVec3::ZERO };
        let quantum = power_above(wanted.max(step / (0.5 * MAX_QUANTA))) / 2.0;
        Grid { centre, quantum }
    }

    /// The number of quanta of a coordinate.
    pub fn count(&self, x: f64, axis: usize) -> i64 {
        // A cast takes the nearest number that there is.
        ((x - self.centre[axis]) / self.quantum).round() as i64
    }
}

/// The power of two above a positive number, at most twice as large.
fn power_above(x: f64) -> f64 {
    2f64.powi((x.log2().floor() as i32 + 1).clamp(-1000, 1023))
}

/// Differences of whole numbers.
pub fn zigzag(delta: i64) -> u64 {
    ((delta << 1) ^ (delta >> 63)) as u64
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

    /// The largest distance of positions from what is stored of them.
    fn error(grid: &Grid, positions: &[DVec3]) -> f64 {
        let stored = |x: f64, axis: usize| {
            let count = grid.count(x, axis);
            assert!(count.unsigned_abs() <= MAX_QUANTA as u64, "{x}: {count}");
            grid.centre[axis] + count as f64 * grid.quantum
        };
        let errors = positions.iter().flat_map(|p| (0..3).map(|k| (stored(p[k], k) - p[k]).abs()));
        errors.fold(0.0, f64::max)
    }

    #[test]
    fn positions_are_right_to_a_part_of_the_radius_wherever_they_are() {
        let mut random = Random(3);
        for (radius, way, place) in [
            (1.0, 10.0, 0.0),
            (0.05, 10.0, 1e5),
            (1e-3, 2e3, 1e6),
            (1e-3, 1e6, 0.0),
            (1e-6, 1e-5, 1e-3),
            (1e-200, 1e-199, 0.0),
            (1e30, 1e31, 1e35),
        ] {
            let positions: Vec<DVec3> = (0..200)
                .map(|_| {
                    let at = DVec3::new(random.centred(), random.centred(), random.centred());
                    DVec3::splat(place) + way * at
                })
                .collect();
            let grid = Grid::of(radius, positions.iter().copied());
            // Beside half a quantum, doubles round where they are.
            let bound = radius / 20_000.0 + 2.0 * f64::EPSILON * (place + way);
            let found = error(&grid, &positions);
            assert!(found <= bound, "{radius} {way} {place}: {found} above {bound}");
        }
    }

    #[test]
    fn extremes_neither_overflow_nor_vanish() {
        let far = [DVec3::splat(-1.7e308), DVec3::splat(1.7e308), DVec3::ZERO, DVec3::splat(3.0)];
        let grid = Grid::of(0.1, far.iter().copied());
        assert!(grid.centre.is_finite() && grid.quantum.is_finite() && grid.quantum > 0.0, "{grid:?}");
        assert!(error(&grid, &far) <= 1e-14 * 1.7e308, "{grid:?}");
        for bad in [0.0, f64::NAN, f64::INFINITY] {
            for p in [DVec3::ZERO, DVec3::ONE, DVec3::splat(f64::NAN), DVec3::splat(f64::INFINITY)] {
                let grid = Grid::of(bad, [p].into_iter());
                assert!(grid.quantum > 0.0 && grid.quantum.is_finite() && grid.centre.is_finite());
            }
        }
        // Bodies without a radius that go a way of 1e-7 m are seen to move.
        let small = [DVec3::ZERO, DVec3::splat(1e-7)];
        assert!(error(&Grid::of(0.0, small.iter().copied()), &small) < 1e-12);
    }

    #[test]
    fn near_the_origin_nothing_is_moved() {
        let grid = Grid::of(1.0, [DVec3::splat(0.25), DVec3::splat(8.0)].into_iter());
        assert_eq!((grid.centre, grid.quantum), (DVec3::ZERO, 2f64.powi(-14)));
        assert_eq!((grid.count(0.25, 0), grid.count(-1.0, 2)), (1 << 12, -1 << 14));
    }

    #[test]
    fn zigzag_numbers_grow_with_size() {
        assert_eq!(
            [0, -1, 1, -2, 2, i64::MIN, i64::MAX].map(zigzag),
            [0, 1, 2, 3, 4, u64::MAX, u64::MAX - 1]
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
