//! Points and velocities of rigid bodies as formulas: the geometry behind a world that moves as a system.
//!
//! ```text
//! x_P = x + R(ε) c ,     ẋ_P = ẋ + ω × ρ ,     R(ε) c = ((w² − ‖u‖²) c + 2 (u·c) u + 2 w u × c)/‖ε‖²
//! ω = 2 (w u̇ − ẇ u + u × u̇)/‖ε‖²          ε = (w, u), in world axes; in the axes of the body the last term has a minus
//! ```
//!
//! A body has the seven coordinates (x, ε). With the division by ‖ε‖² nothing depends on the length of ε, so
//! that the joint that holds it at 1 carries no force.

use crate::formula::{Number, Point, Variables};

/// Coordinates of a body.
pub(super) const PER_BODY: usize = 7;

pub(super) type Vector<N> = [N; 3];

pub(super) fn constant<N: Number>(v: [f64; 3]) -> Vector<N> {
    v.map(N::from_f64)
}

pub(super) fn add<N: Number>(a: Vector<N>, b: Vector<N>) -> Vector<N> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

pub(super) fn sub<N: Number>(a: Vector<N>, b: Vector<N>) -> Vector<N> {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

pub(super) fn scale<N: Number>(a: Vector<N>, s: N) -> Vector<N> {
    [a[0] * s, a[1] * s, a[2] * s]
}

pub(super) fn dot<N: Number>(a: Vector<N>, b: Vector<N>) -> N {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn cross<N: Number>(a: Vector<N>, b: Vector<N>) -> Vector<N> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(super) fn unit<N: Number>(a: Vector<N>) -> Vector<N> {
    let size = dot(a, a).sqrt();
    [a[0] / size, a[1] / size, a[2] / size]
}

/// Where something is fixed: on the body with this place among those that move, or on the ground.
pub(super) type Slot = Option<usize>;

/// The part w and the vector u of a quaternion at these four numbers.
pub(super) fn quaternion<N: Number>(x: &[N]) -> (N, Vector<N>) {
    (x[0], [x[1], x[2], x[3]])
}

/// R(ε) c.
pub(super) fn rotated<N: Number>(slot: Slot, c: Vector<N>, at: &Point<'_, N>) -> Vector<N> {
    let Some(slot) = slot else { return c };
    let (w, u) = quaternion(&at.q[PER_BODY * slot + 3..PER_BODY * slot + 7]);
    let (ww, uu) = (w * w, dot(u, u));
    let straight = scale(c, ww - uu);
    let along = scale(u, dot(u, c) * 2.0);
    let across = scale(cross(u, c), w * 2.0);
    let size = ww + uu;
    add(add(straight, along), across).map(|x| x / size)
}

/// R(ε) c of a point that is fixed on a body; the centre of mass does not depend on ε, which bounds would not
/// see.
pub(super) fn arm<N: Number>(slot: Slot, c: [f64; 3], at: &Point<'_, N>) -> Vector<N> {
    if c == [0.0; 3] { constant(c) } else { rotated(slot, constant(c), at) }
}

/// x + R c.
pub(super) fn place<N: Number>(slot: Slot, c: [f64; 3], at: &Point<'_, N>) -> Vector<N> {
    let offset = arm(slot, c, at);
    match slot {
        None => offset,
        Some(s) => add([at.q[PER_BODY * s], at.q[PER_BODY * s + 1], at.q[PER_BODY * s + 2]], offset),
    }
}

/// ω in the axes of the world (sign 1) or of the body (sign −1).
pub(super) fn angular_velocity<N: Number>(slot: usize, sign: f64, at: &Point<'_, N>) -> Vector<N> {
    let range = PER_BODY * slot + 3..PER_BODY * slot + 7;
    let (w, u) = quaternion(&at.q[range.clone()]);
    let (dw, du) = quaternion(&at.v[range]);
    let size = w * w + dot(u, u);
    let relative = sub(scale(du, w), scale(u, dw));
    add(relative, scale(cross(u, du), N::from_f64(sign))).map(|x| x * 2.0 / size)
}

/// ẋ + ω × ρ of a point of a body that is at ρ from its centre of mass, in world axes.
pub(super) fn velocity<N: Number>(slot: Slot, rho: Vector<N>, at: &Point<'_, N>) -> Vector<N> {
    let Some(s) = slot else { return constant([0.0; 3]) };
    let v = [at.v[PER_BODY * s], at.v[PER_BODY * s + 1], at.v[PER_BODY * s + 2]];
    add(v, cross(angular_velocity(s, 1.0, at), rho))
}

/// All positions of these bodies, and their velocities where they occur.
pub(super) fn variables(slots: &[Slot], velocities: bool) -> Variables {
    let mut positions: Vec<usize> =
        slots.iter().flatten().flat_map(|s| PER_BODY * s..PER_BODY * (s + 1)).collect();
    positions.sort_unstable();
    positions.dedup();
    let velocities = if velocities { positions.clone() } else { vec![] };
    Variables { positions, velocities, time: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DQuat, DVec3};

    #[test]
    fn points_rotate_as_quaternions_do() {
        let r = DQuat::from_xyzw(0.1, -0.4, 0.3, 0.8).normalize();
        let (x, c) = (DVec3::new(1.0, 2.0, 3.0), DVec3::new(0.3, -0.2, 0.7));
        let q = [x.x, x.y, x.z, r.w, r.x, r.y, r.z];
        // A velocity and the rate of the quaternion that goes with an angular velocity in the axes of the
        // body.
        let (v, omega) = (DVec3::new(0.5, -1.0, 0.2), DVec3::new(2.0, -3.0, 1.5));
        let rate = r * DQuat::from_xyzw(omega.x, omega.y, omega.z, 0.0);
        let v7 = [v.x, v.y, v.z, 0.5 * rate.w, 0.5 * rate.x, 0.5 * rate.y, 0.5 * rate.z];
        let at = Point { q: &q, v: &v7, t: 0.0 };
        let p = DVec3::from_array(place(Some(0), c.to_array(), &at));
        assert!((p - (x + r * c)).length() < 1e-14);
        assert!((DVec3::from_array(angular_velocity(0, -1.0, &at)) - omega).length() < 1e-14);
        let world = r * omega;
        assert!((DVec3::from_array(angular_velocity(0, 1.0, &at)) - world).length() < 1e-14);
        let rho = r * c;
        let found = DVec3::from_array(velocity(Some(0), rho.to_array(), &at));
        assert!((found - (v + world.cross(rho))).length() < 1e-13);
    }
}
