//! What is far apart stays so until it has moved.
//!
//! ```text
//! d(q′) ≥ d(q) − Σ over both shapes of ( |x′ − x| + 2 R |ε′ ∓ ε| )
//! ```
//!
//! d is a lower bound of the distance of two shapes at their poses q = (x, ε), R the radius of a ball around
//! a shape about the origin of its axes. A rotation by θ moves what is at the distance R from there by at
//! most 2 R sin θ/2, and |ε′ ∓ ε| = 2 sin θ/4 of the unit quaternions of both rotations. So a pair that was
//! measured once is not measured again until it may have come nearer than asked for.

use crate::world::Pose;

/// What rounding may take from a distance, in parts of the radii of the shapes and of how far they are from
/// the origin, with much to spare.
const ROUNDING: f64 = 1e-8;
const FAR_ROUNDING: f64 = 1e-13;
/// The search for a direction goes farther than the gap that it is asked for, by less than this part of it.
const GAP_RATIO: f64 = 1e-5;

/// How far the shapes of a pair were apart at least, and at which poses.
#[derive(Clone, Copy)]
pub(super) struct Distance {
    pub apart: f64,
    pub at: [Pose; 2],
}

impl Distance {
    /// Whether shapes within balls of these radii are farther apart than a gap at these poses.
    pub fn stays_above(&self, gap: f64, radii: [f64; 2], poses: &[Pose; 2]) -> bool {
        let mut left = self.apart - gap - GAP_RATIO * gap.max(0.0);
        for ((radius, now), before) in radii.into_iter().zip(poses).zip(&self.at) {
            let (q, p) = (now.rotation, before.rotation);
            let turned = (q - p).length_squared().min((q + p).length_squared()).sqrt();
            left -= (2.0 * turned + ROUNDING) * radius;
            left -= (now.position - before.position).length() + FAR_ROUNDING * now.position.length();
        }
        // Not where a number is lost.
        left > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DQuat, DVec3};
    use proptest::prelude::*;

    fn pose(position: DVec3, rotation: DVec3) -> Pose {
        Pose { position, rotation: DQuat::from_scaled_axis(rotation) }
    }

    fn vector(size: f64) -> impl Strategy<Value = DVec3> {
        [-size..size, -size..size, -size..size].prop_map(DVec3::from_array)
    }

    /// The distance of two rods, from one end of each.
    fn distance(poses: &[Pose; 2], ends: [DVec3; 2]) -> f64 {
        let points = [0, 1].map(|k| [ends[k], -ends[k]].map(|x| poses[k].point(x)));
        let mut least = f64::INFINITY;
        for i in 0..=40 {
            let on = |k: usize, i: i32| points[k][0].lerp(points[k][1], f64::from(i) / 40.0);
            least = (0..=40).map(|j| on(0, i).distance(on(1, j))).fold(least, f64::min);
        }
        least
    }

    proptest! {
        #[test]
        fn what_counts_as_apart_is_apart(
            x in vector(3.0), q in vector(2.0), ends in [vector(1.0), vector(1.0)],
            step in [vector(0.3), vector(0.3)], turn in [vector(0.5), vector(0.5)],
        ) {
            let before = [pose(DVec3::ZERO, q), pose(x, -q)];
            let mut now = before;
            for k in 0..2 {
                now[k].position += step[k];
                now[k].rotation *= DQuat::from_scaled_axis(turn[k]);
            }
            // The same rotation has two quaternions.
            now[1].rotation = -now[1].rotation;
            let apart = distance(&before, ends);
            let found = distance(&now, ends);
            let known = Distance { apart, at: before };
            let radii = ends.map(|x| x.length());
            // Points of the rods move by no more than the rods: this holds for the distance of these, too.
            prop_assert!(!known.stays_above(found, radii, &now));
            prop_assert!(known.stays_above(0.9 * apart, radii, &before) || apart < 1e-6);
        }
    }

    #[test]
    fn a_bound_is_spent_by_translations_and_rotations() {
        let before = [pose(DVec3::ZERO, DVec3::ZERO), pose(DVec3::X * 3.0, DVec3::ZERO)];
        let known = Distance { apart: 1.0, at: before };
        let moved = |x: f64, angle: f64| [before[0], pose(DVec3::X * (3.0 - x), DVec3::Z * angle)];
        assert!(known.stays_above(0.0, [1.0; 2], &moved(0.999, 0.0)));
        assert!(!known.stays_above(0.0, [1.0; 2], &moved(1.001, 0.0)));
        // 4 sin θ/4 = 0.5 at θ = 0.5013 rad.
        assert!(known.stays_above(0.5, [1.0; 2], &moved(0.0, 0.5)));
        assert!(!known.stays_above(0.5, [1.0; 2], &moved(0.0, 0.502)));
        assert!(!known.stays_above(0.0, [1.0; 2], &moved(f64::NAN, 0.0)));
    }
}
