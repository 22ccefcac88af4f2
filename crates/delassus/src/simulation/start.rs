//! Where a motion starts: joints closed, velocities that obey them, no bodies that overlap.
//!
//! ```text
//! g(q) = 0 ,   l(q) ≥ 0 ,   ∂g/∂q v + ∂g/∂t = 0 ,   gap(q) ≥ 0
//! ```
//!
//! Each is reached by the least change that reaches it, in this order ([`close_loops`], [`project_velocities`],
//! [`part_bodies`]), and only where it does not hold already: what a user gave is otherwise kept to the last bit.

use glam::DVec3;

use crate::collision::{Collider, Contact};
use crate::stepping::part_bodies;
use crate::world::{CloseError, Opening, World, WorldState, close_loops, opening, project_velocities};

/// Joints that are open or beyond limits by no more than this are closed, and bodies that overlap by no more touch, m or
/// rad.
const CLOSED: f64 = 1e-9;
/// Joint velocities up to this part of the largest velocity are rounding.
const ROUNDING: f64 = 1e-9;
/// The least speed to which rounding of velocities is compared, m/s.
const LEAST_SPEED: f64 = 1e-3;

/// What was changed so that a motion can start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StartReport {
    /// Joints that were open or beyond a limit, and how far bodies were moved to close them.
    pub joints: Option<ClosedJoints>,
    /// What became of the velocities.
    pub velocities: StartVelocities,
    /// Bodies that overlapped.
    pub overlaps: Vec<Overlap>,
    /// How far the centre moved that moved most to separate them, m; `None` where none overlapped, or they could not be
    /// separated: then the first step pushes them.
    pub separated: Option<f64>,
}

/// Joints that were open at the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClosedJoints {
    /// How far they were open.
    pub opening: Opening,
    /// How far the body moved that moved most, m.
    pub moved: f64,
}

/// Velocities at the start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum StartVelocities {
    /// They obey the joints.
    #[default]
    Kept,
    /// They broke the joints, and were changed by the least kinetic energy.
    Changed {
        /// The body whose velocity changed most.
        body: usize,
        /// By how much, m/s, rotation counted at its bounding radius.
        by: f64,
    },
    /// Drives contradict each other: no velocities obey all joints.
    Contradict {
        /// The velocity that is left in a joint, m/s or rad/s.
        left: f64,
    },
}

/// Two bodies that overlapped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlap {
    /// Their places in [`World::bodies`].
    pub bodies: [usize; 2],
    /// How far, m.
    pub depth: f64,
}

/// Changes a state the least so that a motion can start from it. On an error the state is as it was.
pub fn prepare_start(world: &World, state: &mut WorldState) -> Result<StartReport, CloseError> {
    let joints = close_joints(world, state)?;
    let velocities = obey_joints(world, state);
    let overlaps = overlaps(world, state);
    let separated = if overlaps.is_empty() { None } else { part_bodies(world, state) };
    Ok(StartReport { joints, velocities, overlaps, separated })
}

fn close_joints(world: &World, state: &mut WorldState) -> Result<Option<ClosedJoints>, CloseError> {
    let found = opening(world, state);
    if found.joints <= CLOSED && found.limit.is_none_or(|(_, by)| by <= CLOSED) {
        return Ok(None);
    }
    let moved = close_loops(world, state)?.moved;
    Ok(Some(ClosedJoints { opening: found, moved }))
}

/// Changes velocities that break the joints, the least in kinetic energy.
pub(super) fn obey_joints(world: &World, state: &mut WorldState) -> StartVelocities {
    let before = state.clone();
    let left = project_velocities(world, state);
    let mut largest = 0.0_f64;
    let (mut by, mut body) = (0.0, 0);
    for (i, (old, new)) in before.bodies.iter().zip(&state.bodies).enumerate() {
        let radius = world.bodies[i].reach();
        let speed = |v: DVec3, w: DVec3| v.length() + radius * w.length();
        largest = largest.max(speed(old.velocity, old.angular_velocity));
        let change = speed(new.velocity - old.velocity, new.angular_velocity - old.angular_velocity);
        if change > by {
            (by, body) = (change, i);
        }
    }
    if left > ROUNDING * largest.max(1.0) {
        return StartVelocities::Contradict { left };
    }
    if by <= ROUNDING * largest.max(LEAST_SPEED) {
        *state = before;
        return StartVelocities::Kept;
    }
    StartVelocities::Changed { body, by }
}

/// Pairs of bodies that overlap, each with its deepest point.
fn overlaps(world: &World, state: &WorldState) -> Vec<Overlap> {
    let mut contacts: Vec<Contact> = vec![];
    Collider::new(world).collide(world, state, &vec![0.0; world.bodies.len()], &mut contacts);
    let mut found: Vec<Overlap> = vec![];
    for contact in contacts.iter().filter(|contact| contact.gap < -CLOSED) {
        let (bodies, depth) = (contact.bodies.map(|b| b as usize), -contact.gap);
        match found.last_mut() {
            Some(last) if last.bodies == bodies => last.depth = last.depth.max(depth),
            _ => found.push(Overlap { bodies, depth }),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Body, Joint, Pose, Scene};

    #[test]
    fn a_state_that_may_start_keeps_its_bits() {
        let mut scene = Scene::default();
        let ground = scene.add(Body::ground());
        let turning = Body::ball("ball", 1.0, 0.1).at(DVec3::new(0.3, 0.0, 1.0));
        let ball =
            scene.add(turning.with_velocity(DVec3::new(0.0, 0.0, -0.3)).with_angular_velocity(DVec3::Y));
        scene.join([ground, ball], Pose::along(DVec3::Z, DVec3::Y), Joint::revolute("hinge"));
        let mut state = scene.state.clone();
        let report = prepare_start(&scene.world, &mut state).unwrap();
        assert_eq!(report, StartReport::default());
        assert_eq!(state, scene.state);
    }

    #[test]
    fn what_breaks_joints_or_overlaps_is_put_right() {
        let mut scene = Scene::default();
        scene.add(Body::ground());
        scene.add(Body::ball("sunk", 1.0, 0.1).at(DVec3::new(0.0, 0.0, 0.05)));
        let base = scene.add(Body::fixed("base", vec![]));
        let swing = Body::ball("swing", 1.0, 0.1).at(DVec3::new(1.0, 0.0, 1.0));
        let swing = scene.add(swing.with_velocity(DVec3::new(2.0, 0.0, 0.0)));
        scene.join([base, swing], Pose::along(DVec3::new(1.0, 0.0, 1.0), DVec3::Y), Joint::revolute("hinge"));
        scene.state.bodies[swing.index()].pose.position.x += 0.01;
        let report = prepare_start(&scene.world, &mut scene.state).unwrap();
        let closed = report.joints.unwrap();
        assert!(
            (closed.opening.joints - 0.01).abs() < 1e-15 && (closed.moved - 0.01).abs() < 1e-9,
            "{closed:?}"
        );
        // The hinge holds the centre: the velocity is gone.
        assert!(
            matches!(report.velocities, StartVelocities::Changed { body: 3, by } if (by - 2.0).abs() < 1e-9)
        );
        assert_eq!(report.overlaps.len(), 1);
        assert!((report.overlaps[0].depth - 0.05).abs() < 1e-15, "{:?}", report.overlaps);
        assert!((report.separated.unwrap() - 0.05).abs() < 1e-6);
        assert!((scene.state.bodies[1].pose.position.z - 0.1).abs() < 1e-6);
    }
}
