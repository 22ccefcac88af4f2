//! When two shapes that move freely first touch: conservative advancement.
//!
//! ```text
//! t ← t + min (d − ε)/ḋ ,   ḋ = n·(v_a − v_b) + (|n × ω_a| + δ_a) r_a + (|n × ω_b| + δ_b) r_b
//! ```
//!
//! d is the separation of two convex parts along n, r how far points of a shape lie from the centre of mass
//! of its body, ω constant up to δ. No point moves along n faster than ḋ says, so that nothing touches before
//! t: rotations included, a motion is not sampled but covered.

use glam::DVec3;

use super::parry::Solids;
use super::{Proxy, relative};
use crate::world::{Body, BodyState, Pose, drift};

/// Advances of one pair: what passes at a distance needs a few, what rotates close to another some tens.
const MAX_ADVANCES: usize = 100;

/// How two shapes move towards each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sweep {
    /// They stay apart.
    Apart,
    /// They touch after this time, s, and not before.
    Touch(f64),
    /// They are near from the begin on, or pass so closely that it was not decided.
    Undecided,
}

/// A shape and its body, which moves freely.
pub(super) struct Mover<'a> {
    pub proxy: &'a Proxy,
    pub body: &'a Body,
    pub state: &'a BodyState,
}

impl Mover<'_> {
    fn pose(&self, t: f64) -> Pose {
        let pose = if self.body.fixed { self.state.pose } else { drift(self.body, self.state, t).pose };
        pose.compose(&self.proxy.pose)
    }

    fn velocity(&self) -> DVec3 {
        if self.body.fixed { DVec3::ZERO } else { self.state.velocity }
    }

    /// ω in world axes, twice its change within h, and the distance of points of the shape from the centre.
    /// A ball about its centre is the same however it rotates.
    fn rotation(&self, h: f64) -> (DVec3, f64, f64) {
        if self.body.fixed || self.state.angular_velocity == DVec3::ZERO {
            return (DVec3::ZERO, 0.0, 0.0);
        }
        let (omega, end) =
            (self.state.world_angular_velocity(), drift(self.body, self.state, h).world_angular_velocity());
        let radius = self.proxy.pose.position.length() + self.proxy.bounding_radius - self.proxy.radius;
        (omega, 2.0 * (end - omega).length(), radius)
    }
}

/// The first time within h at which two shapes are nearer than `near`.
pub(super) fn sweep(solids: &mut Solids, ids: [usize; 2], pair: [Mover<'_>; 2], h: f64, near: f64) -> Sweep {
    let [a, b] = &pair;
    let approach = a.velocity() - b.velocity();
    let rotations = [a.rotation(h), b.rotation(h)];
    let turning = |(omega, change, radius): &(DVec3, f64, f64), n: Option<DVec3>| {
        let speed = n.map_or(omega.length(), |n| n.cross(*omega).length()) + change;
        if speed == 0.0 { 0.0 } else { speed * radius }
    };
    let fastest = approach.length() + rotations.iter().map(|r| turning(r, None)).sum::<f64>();
    let mut t = 0.0;
    for _ in 0..MAX_ADVANCES {
        let (pose_a, pose_b) = (a.pose(t), b.pose(t));
        let pose = relative(&pose_a, &pose_b);
        let (mut touches, mut safe) = (false, f64::INFINITY);
        solids.separations(ids, &pose, fastest * (h - t) + near, &mut |gap, n| {
            let n = pose_a.rotation * n;
            let rate = n.dot(approach) + rotations.iter().map(|r| turning(r, Some(n))).sum::<f64>();
            touches |= gap <= near;
            if rate > 0.0 {
                safe = safe.min((gap - 0.5 * near) / rate);
            }
        });
        if touches {
            return if t == 0.0 { Sweep::Undecided } else { Sweep::Touch(t) };
        }
        t += safe;
        if t >= h {
            return Sweep::Apart;
        }
    }
    Sweep::Undecided
}
