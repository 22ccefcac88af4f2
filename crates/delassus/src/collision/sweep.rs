//! When two shapes that move freely first touch: conservative advancement.
//!
//! ```text
//! t ← t + τ ,   d − ε = ḋ τ + ½ d̈ τ²
//! ḋ = n·(v_a − v_b) + Σ (h(±n × ω) + δ r) ,   d̈ = Σ |n × ω| (|ω| + δ) r
//! ```
//!
//! d is the separation of two convex parts along n, r how far points of a shape lie from the centre of mass
//! of its body, h its support function from there, ω constant up to δ. n·(ω × x) = x·(n × ω) is at most
//! h(n × ω) now, and points x move by at most (|ω| + δ) r τ in τ: no point moves along n farther than the
//! right side says, so that nothing touches before t. Rotations included, a motion is not sampled but
//! covered. Where a tip passes close by, it moves across n, and h is small.

use glam::DVec3;

use super::parry::Solids;
use super::{Proxy, relative};
use crate::world::{Body, BodyState, Pose, drift};

/// Advances of one pair: what passes at a distance needs a few, what rotates close to another some tens.
const MAX_ADVANCES: usize = 100;
/// What touches at the start, as after a rebound, may leave within a motion of so many times `near`, looked
/// at eight times as far each time; what it meets elsewhere on such a way was as near from the start on.
const MAX_LEAVING_RATIO: f64 = 1024.0;
const LEAVING_GROWTH: f64 = 8.0;

/// How two shapes move towards each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Sweep {
    /// They stay apart.
    Apart,
    /// They touch after this time, s, and not before.
    Touch(f64),
    /// They do not touch before this time, s, and are so near then that what comes was not decided.
    Near(f64),
    /// They are near from the start on.
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

    /// Its rotation within h. A ball about its centre is the same however it rotates.
    fn rotation(&self, h: f64) -> Rotation {
        if self.body.fixed || self.state.angular_velocity == DVec3::ZERO {
            return Rotation { omega: DVec3::ZERO, change: 0.0, radius: 0.0 };
        }
        let (omega, end) =
            (self.state.world_angular_velocity(), drift(self.body, self.state, h).world_angular_velocity());
        let radius = self.proxy.pose.position.length() + self.proxy.bounding_radius - self.proxy.radius;
        Rotation { omega, change: 2.0 * (end - omega).length(), radius }
    }

    /// How far the core of the shape extends at most along a vector, from the centre of mass of its body,
    /// where the shape is at this pose; by the box around it.
    fn extent_along(&self, pose: &Pose, d: DVec3) -> f64 {
        let Proxy { pose: on_body, centre, half, .. } = self.proxy;
        let d = pose.rotation.conjugate() * d;
        (on_body.rotation.conjugate() * on_body.position + centre).dot(d) + half.dot(d.abs())
    }
}

/// How a shape rotates.
#[derive(Clone, Copy)]
struct Rotation {
    /// ω in world axes, and twice its change.
    omega: DVec3,
    change: f64,
    /// The distance of points of the shape from the centre.
    radius: f64,
}

impl Rotation {
    /// The fastest that it moves a point.
    fn speed(&self) -> f64 {
        self.farthest(self.omega.length() + self.change)
    }

    /// Radians times the radius; a plane is infinitely large.
    fn farthest(&self, angle: f64) -> f64 {
        if angle == 0.0 { 0.0 } else { angle * self.radius }
    }

    /// Bounds of the velocity and of the acceleration along n of points of a shape that extends so far.
    fn along(&self, n: DVec3, extent_along: impl Fn(DVec3) -> f64) -> [f64; 2] {
        let d = n.cross(self.omega);
        let across = d.length();
        if across == 0.0 {
            return [self.farthest(self.change), 0.0];
        }
        let velocity = extent_along(d).min(across * self.radius) + self.farthest(self.change);
        [velocity, across * self.farthest(self.omega.length() + self.change)]
    }
}

/// The first time within h at which two shapes are nearer than `near`, after they have left each other where
/// they touch at the start.
pub(super) fn sweep(solids: &mut Solids, ids: [usize; 2], pair: [Mover<'_>; 2], h: f64, near: f64) -> Sweep {
    let [a, b] = &pair;
    let approach = a.velocity() - b.velocity();
    let rotations = [a.rotation(h), b.rotation(h)];
    let fastest = approach.length() + rotations.iter().map(Rotation::speed).sum::<f64>();
    let mut t = 0.0;
    // How far points have moved at most while the shapes leave each other.
    let mut leaving = Some(0.0);
    for _ in 0..MAX_ADVANCES {
        let (pose_a, pose_b) = (a.pose(t), b.pose(t));
        let pose = relative(&pose_a, &pose_b);
        let (mut touches, mut safe) = (false, f64::INFINITY);
        solids.separations(ids, &pose, fastest * (h - t) + near, &mut |gap, n| {
            let n = pose_a.rotation * n;
            let [first, second] = [
                rotations[0].along(n, |d| a.extent_along(&pose_a, d)),
                rotations[1].along(-n, |d| b.extent_along(&pose_b, d)),
            ];
            let (rate, bend) = (n.dot(approach) + first[0] + second[0], first[1] + second[1]);
            touches |= gap <= near;
            // The positive root of left = rate τ + ½ bend τ², so that nothing cancels.
            let left = (gap - 0.5 * near).max(0.0);
            let root = (rate * rate + 2.0 * bend * left).sqrt();
            if rate > 0.0 {
                safe = safe.min(2.0 * left / (rate + root));
            } else if bend > 0.0 {
                safe = safe.min((root - rate) / bend);
            }
        });
        if touches {
            let Some(moved) = leaving else { return Sweep::Touch(t) };
            let next = (LEAVING_GROWTH * moved).max(near);
            t = next / fastest;
            if next > MAX_LEAVING_RATIO * near || t >= h {
                return Sweep::Undecided;
            }
            leaving = Some(next);
            continue;
        }
        leaving = None;
        t += safe;
        if t >= h {
            return Sweep::Apart;
        }
    }
    Sweep::Near(t)
}
