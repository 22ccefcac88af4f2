//! Rigid bodies by themselves: free motion, mass, energy.
//!
//! ```text
//! ẋ = v ,   ε̇ = ½ ε ∘ ω̄ ,   m v̇ = f ,   I ω̄˙ + ω̄ × I ω̄ = τ̄        (004 eq. 1–2, axes of the body)
//! ```
//!
//! Between impulses a body rotates freely: its angular momentum is constant in space. [`drift`] composes
//! exact rotations about the principal axes symmetrically, so that momentum holds to rounding, and the energy
//! error is of second order in the step and does not grow: gyroscopic terms never feed a motion.

use glam::{DQuat, DVec3};

use super::joint_rows::spring_energy;
use super::{Body, BodyState, World, WorldState};

/// The free motion of a body over the time h: velocity and angular momentum constant in space.
pub fn drift(body: &Body, state: &BodyState, h: f64) -> BodyState {
    let mut next = *state;
    next.pose.position += h * state.velocity;
    let inertia = body.inertia;
    let omega = state.angular_velocity;
    let spread = inertia.max_element() - inertia.min_element();
    if spread <= 1e-15 * inertia.max_element() {
        next.pose.rotation = (state.pose.rotation * DQuat::from_scaled_axis(h * omega)).normalize();
        return next;
    }
    // L̄ in the axes of the body rotates against them, so that L is constant in space.
    let mut momentum = inertia * omega;
    let mut rotation = state.pose.rotation;
    let mut rotate = |axis: DVec3, k: usize, time: f64| {
        let angle = momentum[k] / inertia[k] * time;
        let quaternion = DQuat::from_axis_angle(axis, angle);
        rotation *= quaternion;
        momentum = quaternion.conjugate() * momentum;
    };
    rotate(DVec3::X, 0, 0.5 * h);
    rotate(DVec3::Y, 1, 0.5 * h);
    rotate(DVec3::Z, 2, h);
    rotate(DVec3::Y, 1, 0.5 * h);
    rotate(DVec3::X, 0, 0.5 * h);
    next.pose.rotation = rotation.normalize();
    next.angular_velocity = momentum / inertia;
    next
}

/// Kinetic energy of the bodies that move.
pub fn kinetic_energy(world: &World, state: &WorldState) -> f64 {
    let moving = world.bodies.iter().zip(&state.bodies).filter(|(body, _)| !body.fixed);
    moving
        .map(|(body, s)| {
            let w = s.angular_velocity;
            0.5 * body.mass * s.velocity.length_squared() + 0.5 * (body.inertia * w).dot(w)
        })
        .sum()
}

/// Potential energy in gravity, zero at the origin, under the constant forces on bodies, and in the springs
/// of joints.
pub fn potential_energy(world: &World, state: &WorldState) -> f64 {
    let moving = world.bodies.iter().zip(&state.bodies).filter(|(body, _)| !body.fixed);
    let weight: f64 =
        moving.map(|(body, s)| -(body.mass * world.gravity + body.force[0]).dot(s.pose.position)).sum();
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

    #[test]
    fn a_tumbling_body_keeps_its_momentum_and_its_energy_error_is_of_second_order() {
        let b = body(DVec3::new(1.0, 2.0, 3.0));
        // About the middle axis, which is unstable, with a small push.
        let omega = DVec3::new(0.01, 5.0, 0.01);
        let (momentum, coarse, _) = rotate_freely(&b, omega, 2e-3, 10_000);
        let (_, fine, _) = rotate_freely(&b, omega, 1e-3, 20_000);
        assert!((momentum - b.inertia * omega).length() < 1e-10, "{momentum}");
        assert!((3.5..4.5).contains(&(coarse / fine)), "{coarse} {fine}");
        // Not more after ten times the time: the error is bounded.
        let (_, long, _) = rotate_freely(&b, omega, 1e-3, 200_000);
        assert!(long < 1.1 * fine, "{long} {fine}");
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
}
