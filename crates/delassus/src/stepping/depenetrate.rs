//! Bodies that overlap, separated without a velocity.
//!
//! ```text
//! min ½ Δqᵀ M Δq   with   gap(q ⊕ Δq) ≥ 0 ,   g(q ⊕ Δq) = 0
//! ```
//!
//! Δq are displacements and rotations, M the masses (6 per body), to first order: one step of 004 eq. 9 from
//! rest, without weight and friction, whose positions are kept and whose velocities are not.

use glam::DVec3;

use super::row_targets::ContactEnergy;
use super::{Scheme, StepOptions, Stepper};
use crate::world::{World, WorldState};

/// The step that separates bodies, s: so short that springs and motors do not count.
const SEPARATION_STEP: f64 = 1e-6;
/// Overlaps of bodies and openings of joints that may remain, m or rad.
const MAX_REMAINING_OPENING: f64 = 1e-6;
/// Steps that separate bodies: normals change on the way.
const MAX_ROUNDS: usize = 16;
/// The part of the overlap that a round may leave for another to follow.
const MAX_REMAINING_RATIO: f64 = 0.9;

/// Separates bodies that overlap, by the least motion in the sense of their masses; velocities stay as they
/// are in space. How far the centre moved that moved most, m; `None` where bodies still overlap or joints are
/// open: then the state is as it was.
pub fn depenetrate(world: &World, state: &mut WorldState) -> Option<f64> {
    let mut idle = world.clone();
    (idle.gravity, idle.surfaces) = (DVec3::ZERO, vec![]);
    idle.medium = None;
    idle.bodies.iter_mut().for_each(|body| (body.force, body.carried) = ([DVec3::ZERO; 2], DVec3::ZERO));
    let options = StepOptions { dt: SEPARATION_STEP, scheme: Scheme::HalfImplicit, ..StepOptions::default() };
    let mut stepper = Stepper::as_given(idle.into(), state.clone(), options);
    stop(&mut stepper);
    let mut overlap = f64::INFINITY;
    for round in 1.. {
        let report = stepper.advance(ContactEnergy::Free).ok()?;
        if report.penetration <= MAX_REMAINING_OPENING && report.joint_error <= MAX_REMAINING_OPENING {
            break;
        }
        if round == MAX_ROUNDS || report.penetration > MAX_REMAINING_RATIO * overlap {
            return None;
        }
        overlap = report.penetration;
        stop(&mut stepper);
    }
    let mut moved = 0.0_f64;
    for (s, now) in state.bodies.iter_mut().zip(&stepper.state().bodies) {
        moved = moved.max(now.pose.position.distance(s.pose.position));
        // The angular velocity of a rotated body stays as it is in space.
        let angular_velocity = s.world_angular_velocity();
        s.pose = now.pose;
        s.angular_velocity = s.pose.local_vector(angular_velocity);
    }
    Some(moved)
}

/// Takes all velocities, and the impulses that belong to them.
fn stop(stepper: &mut Stepper) {
    for s in &mut stepper.state.bodies {
        (s.velocity, s.angular_velocity) = (DVec3::ZERO, DVec3::ZERO);
    }
    stepper.begin();
}

#[cfg(test)]
mod tests {
    use super::super::model::fixtures::*;
    use super::super::test_worlds::on_a_floor;
    use super::*;
    use crate::world::{Joint, JointKind, Pose, ShapeKind};
    use delassus_solve::problem::Status;
    use glam::DQuat;
    use std::f64::consts::FRAC_PI_2;

    #[test]
    fn two_balls_separate_by_the_inverse_of_their_masses_and_keep_their_velocities() {
        let (mut world, mut state) = ball_on_floor(smooth(), 1.0, DVec3::X);
        world.bodies.push(body("other", false, ShapeKind::Sphere { radius: RADIUS }));
        world.bodies[2].mass = 3.0 * MASS;
        let centre = state.bodies[1].pose.position;
        state.bodies.push(at(centre + DVec3::new(2.0 * RADIUS - 0.04, 0.0, 0.0), -DVec3::X));
        let before = state.clone();
        let moved = depenetrate(&world, &mut state).unwrap();
        // Δx_i = overlap (1/m_i)/(1/m₁ + 1/m₂): three quarters and one quarter.
        assert!((moved - 0.03).abs() < 1e-9, "{moved}");
        let by = |i: usize| state.bodies[i].pose.position - before.bodies[i].pose.position;
        assert!((by(1) - DVec3::new(-0.03, 0.0, 0.0)).length() < 1e-9, "{}", by(1));
        assert!((by(2) - DVec3::new(0.01, 0.0, 0.0)).length() < 1e-9, "{}", by(2));
        assert_eq!(state.bodies[1].velocity, DVec3::X);
    }

    #[test]
    fn what_cannot_be_separated_stays_as_it_was() {
        let (mut world, mut state) = ball_on_floor(smooth(), 1.0, DVec3::ZERO);
        world.bodies.push(body("other", true, ShapeKind::Sphere { radius: RADIUS }));
        // Between the floor and a fixed ball with too little room.
        state.bodies[1].pose.position = DVec3::new(0.0, 0.0, RADIUS - 0.05);
        state.bodies.push(at(DVec3::new(0.0, 0.0, 3.0 * RADIUS - 0.1), DVec3::ZERO));
        let before = state.clone();
        assert_eq!(depenetrate(&world, &mut state), None);
        assert_eq!(state, before);
    }

    #[test]
    fn joined_bodies_that_overlap_for_good_stay_where_they_are() {
        // Capsules in a row whose hinges hold them 2 cm too close: any motion that separates two of them
        // presses others together.
        let kind = ShapeKind::Capsule { radius: 0.04, half_height: 0.07 };
        let (mut world, mut state) = on_a_floor(kind, 0.05, [0.5, 0.0]);
        world.bodies[1].shapes[0].pose.rotation = DQuat::from_rotation_y(FRAC_PI_2);
        for k in 1..3 {
            world.bodies.push(world.bodies[1].clone());
            let mut beside = state.bodies[1];
            beside.pose.position.x = 0.2 * k as f64;
            state.bodies.push(beside);
            let at = |x: f64| Pose { position: DVec3::new(x, 0.0, 0.0), ..Pose::IDENTITY };
            world.joints.push(Joint::new("hinge", JointKind::Revolute, [k, k + 1], [at(0.1), at(-0.1)]));
        }
        let before = state.clone();
        assert_eq!(depenetrate(&world, &mut state), None);
        assert_eq!(state, before);
        let mut stepper = Stepper::new(world, state, StepOptions::default()).unwrap();
        for _ in 0..3 {
            let report = stepper.step().unwrap();
            assert!(report.status != Status::Solved && report.penetration > 0.01, "{report:?}");
            assert!(stepper.state().bodies.iter().all(crate::world::BodyState::is_finite));
        }
    }
}
