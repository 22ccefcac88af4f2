//! Bodies that overlap, moved apart without a velocity.
//!
//! ```text
//! min ½ Δqᵀ M Δq   with   gap(q ⊕ Δq) ≥ 0 ,   g(q ⊕ Δq) = 0
//! ```
//!
//! Δq are displacements and turns, M the masses (6 per body), to first order: one step of 004 eq. 9 from rest, without weight and
//! friction, whose positions are kept and whose velocities are not.

use glam::DVec3;

use super::{Scheme, StepOptions, Stepper};
use crate::world::{World, WorldState};

/// The step that parts bodies, s: so short that springs and motors do not count.
const PUSH: f64 = 1e-6;
/// Overlaps of bodies and openings of joints that may be left, m or rad.
const LEFT: f64 = 1e-6;

/// Moves bodies that overlap apart, the least in the sense of their masses; velocities stay as they are in space. How far
/// the centre moved that moved most, m; `None` where bodies still overlap or joints are open: then the state is as it was.
pub fn part_bodies(world: &World, state: &mut WorldState) -> Option<f64> {
    let mut idle = world.clone();
    (idle.gravity, idle.surfaces) = (DVec3::ZERO, vec![]);
    idle.bodies.iter_mut().for_each(|body| body.force = [DVec3::ZERO; 2]);
    let mut still = state.clone();
    for s in &mut still.bodies {
        (s.velocity, s.angular_velocity) = (DVec3::ZERO, DVec3::ZERO);
    }
    let options = StepOptions { dt: PUSH, scheme: Scheme::HalfImplicit, ..StepOptions::default() };
    let mut stepper = Stepper::as_given(idle.into(), still, options);
    stepper.parting = true;
    let report = stepper.step().ok()?;
    if report.penetration > LEFT || report.joint_error > LEFT {
        return None;
    }
    let mut moved = 0.0_f64;
    for (s, now) in state.bodies.iter_mut().zip(&stepper.state().bodies) {
        moved = moved.max(now.pose.position.distance(s.pose.position));
        // The velocity of a turned body stays as it is in space.
        let spin = s.spin();
        s.pose = now.pose;
        s.angular_velocity = s.pose.local_vector(spin);
    }
    Some(moved)
}
