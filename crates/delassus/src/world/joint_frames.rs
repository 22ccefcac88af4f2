//! Functions of the relative position of two frames, with their derivatives.
//!
//! ```text
//! d/dt f = u·(velocity of B − velocity of A, both at the origin of B) + w·(ω_B − ω_A)
//! ```
//!
//! A sits on the first body, B on the second; u, w ∈ ℝ³ in world axes. Nothing but the relative position
//! counts, so the two vectors are the whole derivative, and the Jacobian of the two bodies follows from them:
//!
//! ```text
//! body of B: ( u, R_Bᵀ((p − x_B)×u + w))      p  the origin of B, x  centres of mass,
//! body of A: (−u, −R_Aᵀ((p − x_A)×u + w))     R  rotations of the bodies
//! ```
//!
//! r = (r_w, r_v) is the unit quaternion of B seen from A; with ω = ω_B − ω_A in the axes of A, 2 ṙ = (0,
//! ω)∘r.

use std::f64::consts::TAU;
use std::ops::{Add, Mul};

use glam::{DMat3, DQuat, DVec3};

use super::joint::{Axis, Coordinate, Curve, Joint, JointKind};
use super::{Pose, WorldState};
use crate::formula::{HyperDual, Point};

/// A function: its value and its derivative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function {
    pub value: f64,
    /// u.
    pub along: DVec3,
    /// w.
    pub about: DVec3,
}

impl Add for Function {
    type Output = Function;
    fn add(self, o: Function) -> Function {
        Function { value: self.value + o.value, along: self.along + o.along, about: self.about + o.about }
    }
}

impl Mul<Function> for f64 {
    type Output = Function;
    fn mul(self, f: Function) -> Function {
        Function { value: self * f.value, along: self * f.along, about: self * f.about }
    }
}

impl Add<f64> for Function {
    type Output = Function;
    fn add(self, c: f64) -> Function {
        Function { value: self.value + c, ..self }
    }
}

impl Function {
    /// a₁ x + a₂ x² + a₃ x³ + a₄ x⁴ of this function x.
    pub fn polynomial(self, [a, b, c, d]: &[f64; 4]) -> Function {
        let x = self.value;
        let slope = a + x * (2.0 * b + x * (3.0 * c + x * 4.0 * d));
        Function { value: x * (a + x * (b + x * (c + x * d))), ..slope * self }
    }
}

/// atan2(y, x) of two functions.
fn angle(y: Function, x: Function) -> Function {
    let square = x.value * x.value + y.value * y.value;
    // Where both vanish the angle has no direction; a derivative of zero keeps numbers finite.
    let scale = if square > 0.0 { 1.0 / square } else { 0.0 };
    Function { value: y.value.atan2(x.value), ..(scale * x.value) * y + (-scale * y.value) * x }
}

/// The frames A and B of a joint at a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frames {
    /// Axes of A and of B, as columns.
    pub axes: [DMat3; 2],
    /// d, from the origin of A to that of B.
    pub d: DVec3,
    /// The origin of B from the centre of mass of either body.
    pub arm: [DVec3; 2],
    /// Rotations of the bodies.
    pub rotation: [DQuat; 2],
    /// Those of A and of B.
    turn: [DQuat; 2],
}

impl Frames {
    /// The frames of a joint.
    pub fn new(joint: &Joint, state: &WorldState) -> Frames {
        Frames::between(joint.bodies, &joint.frames, state)
    }

    /// Frames on two bodies.
    pub fn between(bodies: [usize; 2], frames: &[Pose; 2], state: &WorldState) -> Frames {
        let [a, b] = bodies.map(|i| state.bodies[i].pose);
        let rotation = [a.rotation * frames[0].rotation, b.rotation * frames[1].rotation];
        let p = b.point(frames[1].position);
        Frames {
            axes: rotation.map(DMat3::from_quat),
            d: p - a.point(frames[0].position),
            arm: [p - a.position, p - b.position],
            rotation: [a.rotation, b.rotation],
            turn: rotation,
        }
    }

    /// r, with r_w ≥ 0.
    fn relative(&self) -> DQuat {
        let r = (self.turn[0].conjugate() * self.turn[1]).normalize();
        if r.w < 0.0 { -r } else { r }
    }

    /// The entries of the Jacobian for the first or second body.
    pub fn block(&self, f: &Function, which: usize) -> [f64; 6] {
        let sign = if which == 0 { -1.0 } else { 1.0 };
        let force = sign * f.along;
        let moment = self.rotation[which].conjugate() * (sign * (self.arm[which].cross(f.along) + f.about));
        [force.x, force.y, force.z, moment.x, moment.y, moment.z]
    }

    /// d·e, e an axis of A.
    pub fn displacement(&self, k: usize) -> Function {
        let along = self.axes[0].col(k);
        Function { value: along.dot(self.d), along, about: DVec3::ZERO }
    }

    /// Cosine between an axis of A and an axis of B.
    pub fn cosine(&self, of_a: usize, of_b: usize) -> Function {
        let (e, f) = (self.axes[0].col(of_a), self.axes[1].col(of_b));
        Function { value: e.dot(f), along: DVec3::ZERO, about: f.cross(e) }
    }

    /// 2 rₖ of r: zero for all k only where the axes of A and B are the same.
    fn quaternion_part(&self, r: DQuat, k: usize) -> Function {
        let e = DVec3::AXES[k];
        let (w, v) = (r.w, r.xyz());
        Function { value: 2.0 * v[k], along: DVec3::ZERO, about: self.axes[0] * (w * e + v.cross(e)) }
    }

    /// 2 atan2(rₖ, r_w).
    fn twist(&self, k: usize) -> Function {
        let e = DVec3::AXES[k];
        let r = self.relative();
        let (w, v) = (r.w, r.xyz());
        let square = w * w + v[k] * v[k];
        let scale = if square > 0.0 { 1.0 / square } else { 0.0 };
        let about = scale * (w * w * e + w * v.cross(e) + v[k] * v);
        Function { value: 2.0 * v[k].atan2(w), along: DVec3::ZERO, about: self.axes[0] * about }
    }

    /// |d|.
    pub fn length(&self) -> Function {
        let value = self.d.length();
        // Where the origins coincide, any direction serves.
        let along = if value > 0.0 { self.d / value } else { self.axes[0].z_axis };
        Function { value, along, about: DVec3::ZERO }
    }

    /// The angle between the z axes.
    fn swing(&self) -> Function {
        let (e, f) = (self.axes[0].z_axis, self.axes[1].z_axis);
        let across = e.cross(f);
        let sine = across.length();
        let about = if sine > 0.0 { across / sine } else { self.axes[0].x_axis };
        Function { value: sine.atan2(e.dot(f)), along: DVec3::ZERO, about }
    }

    /// The rotation about an axis, in (−π, π].
    fn rotation_about(&self, axis: Axis, locked: &[bool; 6]) -> Function {
        let axis = axis as usize;
        match one_locked_rotation(locked) {
            // B rotated by R_i(α) R_j(β) against A, with e_k = e_i × e_j the locked axis.
            Some((i, j, k)) if axis == i => angle(self.cosine(k, j), self.cosine(j, j)),
            Some((i, j, k)) if axis == j => angle(self.cosine(i, k), self.cosine(i, i)),
            _ => self.twist(axis),
        }
    }

    /// An angle of Rx(α) Ry(β) Rz(γ), which rotates A into B, in (−π, π].
    fn angle_in_sequence(&self, axis: Axis) -> Function {
        match axis {
            Axis::X => angle(-1.0 * self.cosine(1, 2), self.cosine(2, 2)),
            Axis::Z => angle(-1.0 * self.cosine(0, 1), self.cosine(0, 0)),
            Axis::Y => {
                // cos β = √(R₂₃² + R₃₃²)
                let (a, b) = (self.cosine(1, 2), self.cosine(2, 2));
                let value = a.value.hypot(b.value);
                let scale = if value > 0.0 { 1.0 / value } else { 0.0 };
                let cosine = Function { value, ..(scale * a.value) * a + (scale * b.value) * b };
                angle(self.cosine(0, 2), cosine)
            }
        }
    }

    /// Relative rotation about a free axis; a velocity, without a value.
    pub fn relative_rotation(&self, k: usize, locked: &[bool; 6]) -> Function {
        let of_b = one_locked_rotation(locked).is_some_and(|(_, j, _)| k == j);
        Function { value: 0.0, along: DVec3::ZERO, about: self.axes[usize::from(of_b)].col(k) }
    }

    /// The motion of B along and about its own axes, each times a number; a velocity, without a value.
    pub fn own_motion(&self, axes: &[f64; 6]) -> Function {
        let [along, about] = [&axes[..3], &axes[3..]].map(|v| self.axes[1] * DVec3::from_slice(v));
        Function { value: 0.0, along, about }
    }

    /// The functions that are zero where these motions are locked, with their share in the load of the joint.
    pub fn lock(&self, locked: &[bool; 6], constrain: &mut impl FnMut(Function, f64)) {
        for k in 0..3 {
            if locked[k] {
                constrain(self.displacement(k), 1.0);
            }
        }
        match locked[3..] {
            [true, true, true] => {
                let r = self.relative();
                (0..3).for_each(|k| constrain(self.quaternion_part(r, k), 0.0));
            }
            [false, false, false] => {}
            _ => match one_locked_rotation(locked) {
                Some((i, j, _)) => constrain(self.cosine(i, j), 0.0),
                None => {
                    let axis = (0..3).find(|&k| !locked[3 + k]).unwrap_or(2);
                    constrain(self.cosine((axis + 1) % 3, axis), 0.0);
                    constrain(self.cosine((axis + 2) % 3, axis), 0.0);
                }
            },
        }
    }

    /// Zero where the displacement along z is the part of the rotation about z that a thread gives.
    pub fn thread(&self, joint: &Joint, pitch: f64, last: f64) -> Function {
        let angle = self.coordinate(joint, Coordinate::About(Axis::Z), last);
        self.displacement(2) + (-pitch / TAU) * angle
    }

    /// A coordinate; `last` is its last value, which gives the number of full turns of an angle and where on
    /// a curve to begin.
    pub fn coordinate(&self, joint: &Joint, coordinate: Coordinate, last: f64) -> Function {
        match coordinate {
            Coordinate::Along(axis) => self.displacement(axis as usize),
            Coordinate::About(axis) => {
                let f = self.rotation_about(axis, &joint.kind.locked());
                f + TAU * ((last - f.value) / TAU).round()
            }
            Coordinate::Cardan(axis) => self.angle_in_sequence(axis),
            Coordinate::Length => self.length(),
            Coordinate::Swing => self.swing(),
            Coordinate::Parameter => match &joint.kind {
                JointKind::PointOnCurve(curve) => self.curve(curve, last).parameter,
                // Refused by `joint::check`.
                _ => Function { value: 0.0, along: DVec3::ZERO, about: DVec3::ZERO },
            },
        }
    }

    /// The nearest point of a curve on the first body to the origin of B.
    pub fn curve(&self, curve: &Curve, start: f64) -> OnCurve {
        let p = self.axes[0].transpose() * self.d;
        let s = nearest(curve, p, start);
        let [c, c1, c2] = derivatives(curve, s);
        let off = p - c;
        // (p − c)·c′ = 0 defines s, so c′·dp = (c′·c′ − (p − c)·c″) ds.
        let bend = c1.length_squared() - off.dot(c2);
        let ds = if bend == 0.0 { DVec3::ZERO } else { c1 / bend };
        let local = |value: f64, gradient: DVec3| Function {
            value,
            along: self.axes[0] * gradient,
            about: DVec3::ZERO,
        };
        // The axis that the tangent is least along spans the normal plane with it. That of the parameter at
        // the start: offsets at both ends of a short motion are along the same normals.
        let least_along = |tangent: DVec3| {
            let tangent = tangent.abs();
            DVec3::AXES[if tangent.x <= tangent.y.min(tangent.z) {
                0
            } else if tangent.y <= tangent.z {
                1
            } else {
                2
            }]
        };
        let before = least_along(derivatives(curve, start)[1]);
        let e = if before.dot(c1).abs() < 0.9 * c1.length() { before } else { least_along(c1) };
        let (a, da) = (e.cross(c1), e.cross(c2));
        let (b, db) = (c1.cross(a), c2.cross(a) + c1.cross(da));
        let normal = |v: DVec3, dv: DVec3| {
            let length = v.length();
            let n = if length > 0.0 { v / length } else { e };
            let dn = if length > 0.0 { (dv - n * n.dot(dv)) / length } else { DVec3::ZERO };
            // n·c′ = 0, so only the rotation of n remains beside n·dp.
            local(n.dot(off), n + off.dot(dn) * ds)
        };
        OnCurve {
            parameter: local(s, ds),
            offsets: [normal(a, da), normal(b, db)],
            tangent: local(0.0, c1.normalize_or_zero()),
        }
    }
}

/// The axes (i, j, k) where the rotation about k alone is locked: i of A, j of B, e_i × e_j = e_k.
fn one_locked_rotation(locked: &[bool; 6]) -> Option<(usize, usize, usize)> {
    match locked[3..] {
        [true, false, false] => Some((1, 2, 0)),
        [false, true, false] => Some((2, 0, 1)),
        [false, false, true] => Some((0, 1, 2)),
        _ => None,
    }
}

/// A point and the nearest point of a curve.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnCurve {
    /// Parameter of the nearest point.
    pub parameter: Function,
    /// Offset from the curve along two normals.
    pub offsets: [Function; 2],
    /// Motion along the curve; a velocity, without a value.
    pub tangent: Function,
}

/// c, c′, c″ at a parameter.
fn derivatives(curve: &Curve, s: f64) -> [DVec3; 3] {
    let s = [HyperDual::variable(s, 1.0, 1.0)];
    let at = Point { q: &s, v: &[HyperDual::constant(0.0)], t: HyperDual::constant(0.0) };
    let [x, y, z] = [0, 1, 2].map(|k| curve.point[k].hyper(&at));
    [DVec3::new(x.value, y.value, z.value), DVec3::new(x.d1, y.d1, z.d1), DVec3::new(x.d12, y.d12, z.d12)]
}

fn distance_squared(curve: &Curve, s: f64, p: DVec3) -> f64 {
    let at = Point { q: &[s], v: &[0.0], t: 0.0 };
    let [x, y, z] = [0, 1, 2].map(|k| curve.point[k].value(&at));
    DVec3::new(x, y, z).distance_squared(p)
}

/// The parameter of the point nearest to p, by Newton's method on (p − c(s))·c′(s) = 0, downhill in the
/// distance.
fn nearest(curve: &Curve, p: DVec3, start: f64) -> f64 {
    let mut s = start;
    for _ in 0..50 {
        let [c, c1, c2] = derivatives(curve, s);
        let off = p - c;
        let (slope, square) = (off.dot(c1), c1.length_squared());
        let bend = square - off.dot(c2);
        // Where the distance is not convex in s, the step of Gauss and Newton still goes downhill.
        let mut step = slope / if bend > 0.1 * square { bend } else { square };
        if !step.is_finite() || step.abs() <= 4.0 * f64::EPSILON * s.abs().max(f64::MIN_POSITIVE) {
            break;
        }
        // Near the end rounding hides the descent; a Newton step is then right without it.
        let small = step * step * square <= 1e-12 * (off.length_squared() + p.length_squared());
        let here = off.length_squared();
        while !small && distance_squared(curve, s + step, p) > here && step.abs() > 1e-16 * (1.0 + s.abs()) {
            step *= 0.5;
        }
        s += step;
        if step.abs() <= 1e-15 * (1.0 + s.abs()) {
            break;
        }
    }
    s
}

/// Whether a curve ends where it begins, in the same direction, to the six digits of a file.
pub fn is_closed(curve: &Curve) -> bool {
    const SAME_POINT: f64 = 1e-6;
    let [[from, along, _], [to, on, _]] = curve.range.map(|s| derivatives(curve, s));
    let size = from.length().max(to.length()).max((curve.range[1] - curve.range[0]) * along.length());
    from.distance(to) <= SAME_POINT * size && along.angle_between(on) <= 1e-3
}

/// Where on a curve to begin: the best of many points of its range.
pub(super) fn first_guess(curve: &Curve, p: DVec3) -> f64 {
    const POINTS: usize = 512;
    let [from, to] = curve.range;
    let at = |i: usize| from + (to - from) * (i as f64 / POINTS as f64);
    let best = (0..=POINTS)
        .map(at)
        .min_by(|&a, &b| distance_squared(curve, a, p).total_cmp(&distance_squared(curve, b, p)));
    best.unwrap_or(from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::{AnyFormula, Number};
    use crate::world::{BodyState, Pose};

    fn pose(position: [f64; 3], axis: [f64; 3]) -> Pose {
        let rotation = DQuat::from_scaled_axis(DVec3::from_array(axis));
        Pose { position: DVec3::from_array(position), rotation }
    }

    /// Two bodies in general position and motion.
    fn state() -> WorldState {
        let bodies = vec![
            BodyState {
                pose: pose([0.3, -0.2, 0.5], [0.4, 0.1, -0.3]),
                velocity: DVec3::new(0.7, -0.4, 0.2),
                angular_velocity: DVec3::new(0.5, 0.9, -0.6),
            },
            BodyState {
                pose: pose([-0.4, 0.6, 0.1], [-0.2, 0.5, 0.3]),
                velocity: DVec3::new(-0.3, 0.8, 0.6),
                angular_velocity: DVec3::new(-0.8, 0.2, 0.7),
            },
        ];
        WorldState { t: 0.0, bodies, coordinates: vec![] }
    }

    /// q ⊕ h v.
    fn moved(state: &WorldState, h: f64) -> WorldState {
        let mut next = state.clone();
        for s in &mut next.bodies {
            s.pose.position += h * s.velocity;
            s.pose.rotation *= DQuat::from_scaled_axis(h * s.angular_velocity);
        }
        next
    }

    fn joint(kind: JointKind) -> Joint {
        let frames = [pose([0.1, 0.2, -0.1], [0.3, -0.1, 0.2]), pose([-0.2, 0.1, 0.3], [0.1, 0.6, -0.2])];
        Joint::new("joint", kind, [0, 1], frames)
    }

    fn assert_differentiates(joint: &Joint, name: &str, function: impl Fn(&Frames) -> Function) {
        let (state, h) = (state(), 1e-5);
        let frames = Frames::new(joint, &state);
        let f = function(&frames);
        let rate: f64 = (0..2)
            .flat_map(|i| {
                let s = &state.bodies[i];
                let v = s.velocity.to_array().into_iter().chain(s.angular_velocity.to_array());
                frames.block(&f, i).into_iter().zip(v).map(|(a, b)| a * b)
            })
            .sum();
        let value = |h: f64| function(&Frames::new(joint, &moved(&state, h))).value;
        // Central differences: h² from truncation, ε/h from rounding.
        let difference = (value(h) - value(-h)) / (2.0 * h);
        assert!((rate - difference).abs() < 1e-8, "{name}: {rate} {difference}");
    }

    #[test]
    fn blocks_are_the_derivatives_of_values() {
        let fixed = joint(JointKind::Fixed);
        for k in 0..3 {
            assert_differentiates(&fixed, "displacement", |f| f.displacement(k));
            assert_differentiates(&fixed, "quaternion", |f| f.quaternion_part(f.relative(), k));
            assert_differentiates(&fixed, "twist", |f| f.twist(k));
            assert_differentiates(&fixed, "cosine", |f| f.cosine(k, (k + 1) % 3));
            assert_differentiates(&fixed, "sequence", |f| f.angle_in_sequence(Axis::ALL[k]));
        }
        assert_differentiates(&fixed, "length", Frames::length);
        assert_differentiates(&fixed, "swing", Frames::swing);
        let universal = JointKind::Universal.locked();
        assert_differentiates(&fixed, "about z", |f| f.rotation_about(Axis::Z, &universal));
        assert_differentiates(&fixed, "about x", |f| f.rotation_about(Axis::X, &universal));
    }

    #[test]
    fn offsets_from_a_curve_have_their_derivatives() {
        // A helix, parametrized by its angle.
        let point: [AnyFormula; 3] = [
            AnyFormula::derivatives_only(|at| at.q[0].cos()),
            AnyFormula::derivatives_only(|at| at.q[0].sin()),
            AnyFormula::derivatives_only(|at| at.q[0] * 0.2),
        ];
        let curve = Curve { point, range: [-3.0, 3.0] };
        let on = joint(JointKind::PointOnCurve(curve.clone()));
        let frames = Frames::new(&on, &state());
        let start = first_guess(&curve, frames.axes[0].transpose() * frames.d);
        assert_differentiates(&on, "parameter", |f| f.curve(&curve, start).parameter);
        assert_differentiates(&on, "first offset", |f| f.curve(&curve, start).offsets[0]);
        assert_differentiates(&on, "second offset", |f| f.curve(&curve, start).offsets[1]);
        assert!(!is_closed(&curve));
    }

    #[test]
    fn a_rotation_about_an_axis_is_its_angle() {
        let hinge = Joint::new("hinge", JointKind::Revolute, [0, 1], [Pose::IDENTITY; 2]);
        let mut state = state();
        state.bodies[0].pose = Pose::IDENTITY;
        for angle in [-3.0, -0.5, 0.0, 1.0, 3.1] {
            state.bodies[1].pose = Pose { position: DVec3::ZERO, rotation: DQuat::from_rotation_z(angle) };
            let found =
                Frames::new(&hinge, &state).coordinate(&hinge, Coordinate::About(Axis::Z), 10.0 * TAU);
            // Nearest to the last value: ten full rotations more.
            assert!((found.value - 10.0 * TAU - angle).abs() < 1e-13, "{angle}: {}", found.value);
        }
    }
}
