//! Rigid bodies by themselves: free motion, mass, energy.
//!
//! ```text
//! ẋ = v ,   ε̇ = ½ ε ∘ ω̄ ,   m v̇ = f ,   I ω̄˙ + ω̄ × I ω̄ = τ̄        (004 eq. 1–2, axes of the body)
//! ```
//!
//! Between impulses a body rotates freely: its angular momentum is constant in space. [`drift`] composes
//! exact rotations symmetrically, so that momentum holds to rounding, and the energy error does not grow:
//! gyroscopic terms never feed a motion. With l̄ the momentum in the axes of the body and c_a ≤ c_b ≤ c_c the
//! inverses of its moments,
//!
//! ```text
//! T = ½ c_b |l̄|² + ½ (c_a − c_b) l̄_a² + ½ (c_c − c_b) l̄_c²
//! ```
//!
//! The first term is a rotation about l, which commutes with the other two, rotations about axes of the body.
//! Of a symmetric top one of these is none, and the motion is exact for any step: rods and discs. The motion
//! of others has an error of energy that grows as θ² = h² |l|² (c_b − c_a)(c_c − c_b). Up to a thousandth of
//! a radian three rotations leave 2e-7 of the energy. Beyond it 21 of sixth order leave 3e-9 and less, whose
//! error grows as the sixth power of φ = h |l| (d D⁵)^(1/6), d and D the smaller and the larger of the two
//! differences; more than 0.3 rad is divided. Impacts turn an error of the energy that comes and goes into
//! one that stays: three boxes that hit each other gained 1.7e-5 with three rotations in steps of 0.1 rad.
//! Source of the coefficients: Blanes and Moan, J. Comput. Appl. Math. 142 (2002), Table 2, S of order 6.

use glam::{DQuat, DVec3};

use super::joint::{Action, ActionKind};
use super::joint_rows::coordinate_at;
use super::{Body, BodyState, World, WorldState};

/// The angle θ up to which three rotations will do, the angle φ in one composition of more, and the most
/// compositions.
const MAX_SMALL_ROTATION: f64 = 1e-3;
const MAX_COMPOSED_ROTATION: f64 = 0.3;
const MAX_ROTATION_PARTS: f64 = 1000.0;
/// Parts of the time in which the body turns about the axis of its largest moment and about that of its
/// smallest, by turns, up to the middle of a composition; the rest mirrors them.
const SECOND_ORDER: [f64; 2] = [0.5, 1.0];
const SIXTH_ORDER: [f64; 11] = [
    0.0502627644003922,
    0.148816447901042,
    0.413514300428344,
    -0.132385865767784,
    0.0450798897943977,
    0.067307604692185,
    -0.188054853819569,
    0.432666402578175,
    0.541960678450780,
    // What is left of half and of the whole time.
    -0.016404589403617997,
    -0.7255255585086897,
];

/// The free motion of a body over the time h: velocity and angular momentum constant in space.
pub fn drift(body: &Body, state: &BodyState, h: f64) -> BodyState {
    let mut next = *state;
    next.pose.position += h * state.velocity;
    let inertia = body.inertia;
    let omega = state.angular_velocity;
    if omega == DVec3::ZERO {
        // What does not turn keeps its rotation to the last bit, which a quaternion made of unit length anew
        // need not.
        return next;
    }
    let spread = inertia.max_element() - inertia.min_element();
    if spread <= 1e-15 * inertia.max_element() {
        next.pose.rotation = (state.pose.rotation * DQuat::from_scaled_axis(h * omega)).normalize();
        return next;
    }
    let rates = inertia.recip();
    let mut order = [0, 1, 2];
    order.sort_unstable_by(|&i, &j| rates[i].total_cmp(&rates[j]));
    let [low, middle, high] = order;
    // L̄ in the axes of the body rotates against them, so that L is constant in space.
    let mut momentum = inertia * omega;
    let mut rotation = state.pose.rotation * DQuat::from_scaled_axis(h * rates[middle] * momentum);
    let mut rotate = |k: usize, time: f64| {
        let quaternion =
            DQuat::from_axis_angle(DVec3::AXES[k], time * (rates[k] - rates[middle]) * momentum[k]);
        rotation *= quaternion;
        momentum = quaternion.conjugate() * momentum;
    };
    let differences = [rates[middle] - rates[low], rates[high] - rates[middle]];
    let (less, more) = (differences[0].min(differences[1]), differences[0].max(differences[1]));
    let angle = h * (inertia * omega).length();
    let small = angle * (less * more).sqrt() <= MAX_SMALL_ROTATION;
    let times = if small { &SECOND_ORDER[..] } else { &SIXTH_ORDER[..] };
    let composed = angle * more * (less / more).cbrt().sqrt() / MAX_COMPOSED_ROTATION;
    let parts = if small { 1.0 } else { composed.ceil().clamp(1.0, MAX_ROTATION_PARTS) };
    let part = h / parts;
    for _ in 0..parts as usize {
        let mirrored = times.iter().chain(times.iter().rev().skip(1));
        for (time, axis) in mirrored.zip([low, high].into_iter().cycle()) {
            rotate(axis, time * part);
        }
    }
    next.pose.rotation = rotation.normalize();
    next.angular_velocity = momentum / inertia;
    next
}

/// Energy in the springs of all joints: Σ ½ stiffness (c − rest)².
pub(super) fn spring_energy(world: &World, state: &WorldState) -> f64 {
    let mut energy = 0.0;
    for (j, joint) in world.joints.iter().enumerate() {
        for Action { coordinate, kind } in &joint.actions {
            if let &ActionKind::Spring { stiffness, rest, .. } = kind
                && stiffness > 0.0
            {
                let stretch = coordinate_at(world, state, j, *coordinate)[0] - rest;
                energy += 0.5 * stiffness * stretch * stretch;
            }
        }
    }
    energy
}

/// Energy of the rotors of all joints: Σ ½ inertia ċ².
fn rotor_energy(world: &World, state: &WorldState) -> f64 {
    let mut energy = 0.0;
    for (j, joint) in world.joints.iter().enumerate() {
        for Action { coordinate, kind } in &joint.actions {
            if let &ActionKind::Armature { inertia } = kind {
                let [_, speed] = coordinate_at(world, state, j, *coordinate);
                energy += 0.5 * inertia * speed * speed;
            }
        }
    }
    energy
}

/// Kinetic energy of the bodies that move and of the rotors of joints.
pub fn kinetic_energy(world: &World, state: &WorldState) -> f64 {
    let moving = world.bodies.iter().zip(&state.bodies).filter(|(body, _)| !body.fixed);
    let of_bodies: f64 = moving
        .map(|(body, s)| {
            let w = s.angular_velocity;
            0.5 * body.mass * s.velocity.length_squared() + 0.5 * (body.inertia * w).dot(w)
        })
        .sum();
    of_bodies + rotor_energy(world, state)
}

/// Potential energy in gravity, zero at the origin, under the constant forces on bodies, and in the springs
/// of joints.
pub fn potential_energy(world: &World, state: &WorldState) -> f64 {
    let moving = world.bodies.iter().zip(&state.bodies).filter(|(body, _)| !body.fixed);
    let weight: f64 = moving
        .map(|(body, s)| -(body.mass * world.gravity + body.constant_force()).dot(s.pose.position))
        .sum();
    weight + spring_energy(world, state)
}

/// Kinetic and potential energy.
pub fn energy(world: &World, state: &WorldState) -> f64 {
    kinetic_energy(world, state) + potential_energy(world, state)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Pose;

    fn body(inertia: DVec3) -> Body {
        Body {
            name: "top".into(),
            fixed: false,
            mass: 2.0,
            inertia,
            shapes: vec![],
            frame: Pose::IDENTITY,
            force: [DVec3::ZERO; 2],
            carried: DVec3::ZERO,
        }
    }

    fn rotate_freely(body: &Body, omega: DVec3, h: f64, steps: usize) -> (DVec3, f64, BodyState) {
        let mut s = BodyState { pose: Pose::IDENTITY, velocity: DVec3::X, angular_velocity: omega };
        let kinetic = |s: &BodyState| 0.5 * (body.inertia * s.angular_velocity).dot(s.angular_velocity);
        let (start, mut worst) = (kinetic(&s), 0.0f64);
        for _ in 0..steps {
            s = drift(body, &s, h);
            worst = worst.max((kinetic(&s) / start - 1.0).abs());
        }
        (s.pose.rotation * (body.inertia * s.angular_velocity), worst, s)
    }

    /// 13 radians a step: the energy of a box stays, and two steps of half the length end where one does.
    #[test]
    fn a_body_that_turns_several_times_in_a_step_keeps_its_energy() {
        let b = body(DVec3::new(1.7e-4, 3.3e-4, 4.3e-4));
        let omega = DVec3::new(5e3, 9e3, 8e3);
        let (momentum, worst, whole) = rotate_freely(&b, omega, 1e-3, 1);
        assert!(worst < 1e-8, "{worst}");
        assert!((momentum - b.inertia * omega).length() < 1e-12 * momentum.length());
        let (_, worst, halves) = rotate_freely(&b, omega, 5e-4, 2);
        assert!(worst < 1e-8, "{worst}");
        let apart = (whole.angular_velocity - halves.angular_velocity).length();
        assert!(apart < 1e-6 * omega.length(), "{apart}");
        // What is not finite stays so without an end.
        rotate_freely(&b, DVec3::splat(1e300), 1.0, 1);
    }

    /// The composition of three rotations is of second order, that of more of sixth; neither error grows.
    #[test]
    fn a_tumbling_body_keeps_its_momentum_and_its_energy() {
        let b = body(DVec3::new(1.0, 2.0, 3.0));
        // About the middle axis, which is unstable, with a small push: θ = 2.9 h, φ = 4.2 h, h in seconds.
        let omega = DVec3::new(0.01, 5.0, 0.01);
        for (h, ratio, most) in [(3e-4, 3.8..4.2, 2e-7), (7e-2, 40.0..90.0, 3e-9)] {
            let (momentum, coarse, _) = rotate_freely(&b, omega, h, 10_000);
            let (_, fine, _) = rotate_freely(&b, omega, 0.5 * h, 20_000);
            assert!((momentum - b.inertia * omega).length() < 1e-10, "{momentum}");
            assert!(coarse < most && ratio.contains(&(coarse / fine)), "{h}: {coarse} {fine}");
            // Not more after ten times the time: the error is bounded.
            let (_, long, _) = rotate_freely(&b, omega, h, 100_000);
            assert!(long < 1.1 * coarse, "{long} {coarse}");
        }
    }

    #[test]
    fn a_symmetric_top_precesses_with_its_closed_rate() {
        // Free symmetric top: ω̄ rotates about the body's z axis with (I₃ − I₁)/I₁ ω₃.
        let b = body(DVec3::new(2.0, 2.0, 1.0));
        let (_, _, s) = rotate_freely(&b, DVec3::new(0.3, 0.0, 4.0), 1e-3, 1000);
        let rate = (1.0 - 2.0) / 2.0 * 4.0;
        let expected = DVec3::new(0.3 * f64::cos(rate), 0.3 * f64::sin(rate), 4.0);
        assert!((s.angular_velocity - expected).length() < 1e-6, "{} {expected}", s.angular_velocity);
    }

    /// Slender rods and thin discs at half a radian a step and more: R(t) = exp(t L/I₁) R exp(t ω₃ (1 −
    /// I₃/I₁) e₃).
    #[test]
    fn a_symmetric_top_moves_exactly_at_any_step() {
        for inertia in [DVec3::new(1.0, 1.0, 1e-4), DVec3::new(1.0, 2.0, 1.0), DVec3::new(1e-5, 0.1, 0.1)] {
            let b = body(inertia);
            let axis = (0..3).find(|&k| (0..3).filter(|&j| inertia[j] == inertia[k]).count() == 1).unwrap();
            let across = inertia[(axis + 1) % 3];
            let omega = DVec3::new(7.0, -20.0, 45.0);
            let (h, steps) = (0.02, 500);
            let (momentum, worst, s) = rotate_freely(&b, omega, h, steps);
            let start = inertia * omega;
            assert!((momentum - start).length() < 1e-10 * start.length() && worst < 1e-10, "{worst}");
            let t = h * steps as f64;
            let spin = omega[axis] * (1.0 - inertia[axis] / across);
            let expected = DQuat::from_scaled_axis(t / across * start)
                * DQuat::from_axis_angle(DVec3::AXES[axis], t * spin);
            // Angles of up to 10⁵ rad in doubles.
            let apart = (s.pose.rotation - expected).length().min((s.pose.rotation + expected).length());
            assert!(apart < 1e-8, "{inertia}: {apart}");
        }
    }

    #[test]
    fn a_rod_whose_moments_differ_by_rounding_goes_on_spinning_about_its_middle() {
        let b = body(DVec3::new(0.0856, 0.0856 * (1.0 + 1e-13), 5e-5));
        let (_, worst, s) = rotate_freely(&b, DVec3::new(0.0, 50.0, 1e-9), 1e-2, 10_000);
        assert!(worst < 1e-10 && s.angular_velocity.z.abs() < 1e-6, "{worst} {}", s.angular_velocity);
    }
}
