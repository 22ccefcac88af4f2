//! Where a motion starts: joints closed, velocities that obey them, no bodies that overlap.
//!
//! ```text
//! g(q) = 0 ,   l(q) ≥ 0 ,   ∂g/∂q v + ∂g/∂t = 0 ,   gap(q) ≥ 0
//! ```
//!
//! Each is reached by the least change that reaches it, in this order ([`close_loops`],
//! [`project_velocities`], [`depenetrate`]), and only where it does not hold already: what a user gave is
//! otherwise kept to the last bit.

use glam::DVec3;

use super::depenetrate;
use crate::collision::{Collider, Contact};
use crate::world::{CloseError, Joint, Opening, World, WorldState, close_loops, opening, project_velocities};

/// Joints that are open or beyond limits by no more than this are closed, and bodies that overlap by no more
/// touch, m or rad.
pub const CLOSED: f64 = 1e-9;
/// Joint velocities up to this part of the largest velocity are rounding.
const ROUNDING: f64 = 1e-9;
/// The least speed to which rounding of velocities is compared, m/s.
const LEAST_SPEED: f64 = 1e-3;
/// Motions of joints along a normal up to this part of themselves are none: numbers in files are rounded.
const PINNED: f64 = 1e-5;

/// What was changed so that a motion can start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StartReport {
    /// Joints that were open or beyond a limit, and how far bodies were moved to close them.
    pub joints: Option<ClosedJoints>,
    /// What became of the velocities.
    pub velocities: StartVelocities,
    /// Bodies that overlapped.
    pub overlaps: Vec<Overlap>,
    /// How far the centre moved that moved most to separate them, m; `None` where none overlapped, or they
    /// could not be separated: then the first step pushes them.
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

/// Whether joints are closed and within their limits.
pub fn is_closed(opening: &Opening) -> bool {
    opening.joints <= CLOSED && opening.limit.is_none_or(|(_, by)| by <= CLOSED)
}

/// Changes a state the least so that a motion can start from it. On an error the state is as it was.
pub fn prepare_start(world: &World, state: &mut WorldState) -> Result<StartReport, CloseError> {
    let joints = close_joints(world, state)?;
    let velocities = obey_joints(world, state);
    let overlaps = overlaps(world, state);
    let separated = if overlaps.is_empty() { None } else { depenetrate(world, state) };
    Ok(StartReport { joints, velocities, overlaps, separated })
}

fn close_joints(world: &World, state: &mut WorldState) -> Result<Option<ClosedJoints>, CloseError> {
    let found = opening(world, state);
    if is_closed(&found) {
        return Ok(None);
    }
    let moved = close_loops(world, state)?.moved;
    Ok(Some(ClosedJoints { opening: found, moved }))
}

/// Changes velocities that break the joints, the least in kinetic energy.
pub fn obey_joints(world: &World, state: &mut WorldState) -> StartVelocities {
    let before = state.clone();
    let left = project_velocities(world, state);
    let mut largest = 0.0_f64;
    let (mut by, mut body) = (0.0, 0);
    for (i, (old, new)) in before.bodies.iter().zip(&state.bodies).enumerate() {
        let radius = world.bodies[i].bounding_radius();
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

/// Pairs of bodies that overlap though a joint between them cannot move them apart, nor further into each
/// other: they do so in every position, and no impulse changes it.
pub fn overlaps_for_good(world: &World, state: &WorldState) -> Vec<Overlap> {
    let contacts = overlapping(world, state);
    let mut found = pairs(&contacts);
    found.retain(|overlap| {
        let [a, b] = overlap.bodies;
        let joins = |joint: &&Joint| joint.bodies == [a, b] || joint.bodies == [b, a];
        let Some(joint) = world.joints.iter().find(joins) else { return false };
        let mut own = contacts.iter().filter(|c| c.bodies.map(|b| b as usize) == overlap.bodies);
        own.all(|contact| !can_move_along(joint, state, contact))
    });
    found
}

/// Whether a motion that a joint leaves opens or closes a contact of its bodies.
fn can_move_along(joint: &Joint, state: &WorldState, contact: &Contact) -> bool {
    let frame = state.bodies[joint.bodies[0]].pose.compose(&joint.frames[0]);
    let arm = contact.point - frame.position;
    joint.kind.locked().iter().enumerate().any(|(k, locked)| {
        let axis = frame.rotation * DVec3::AXES[k % 3];
        let moved = if k < 3 { axis } else { axis.cross(arm) };
        let size = if k < 3 { 1.0 } else { arm.length() };
        !locked && moved.dot(contact.normal).abs() > PINNED * size
    })
}

/// Pairs of bodies that overlap, each with its deepest point.
fn overlaps(world: &World, state: &WorldState) -> Vec<Overlap> {
    pairs(&overlapping(world, state))
}

/// Contacts of bodies that overlap.
fn overlapping(world: &World, state: &WorldState) -> Vec<Contact> {
    let mut contacts: Vec<Contact> = vec![];
    Collider::new(world).collide(world, state, &vec![0.0; world.bodies.len()], &mut contacts);
    contacts.retain(|contact| contact.gap < -CLOSED);
    contacts
}

/// The pairs of bodies of contacts, each with its deepest point.
fn pairs(contacts: &[Contact]) -> Vec<Overlap> {
    let mut found: Vec<Overlap> = vec![];
    for contact in contacts {
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
    use crate::stepping::test_worlds::on_a_floor;
    use crate::world::{JointKind, Pose, ShapeKind};

    const BALL: ShapeKind = ShapeKind::Sphere { radius: 0.1 };

    /// A ball whose centre a ball joint holds at the height 1 m.
    fn pinned() -> (World, WorldState) {
        let (mut world, mut state) = on_a_floor(BALL, 1.0, [0.0, 0.0]);
        let frames = [Pose { position: DVec3::Z, ..Pose::IDENTITY }, Pose::IDENTITY];
        world.joints.push(Joint::new("pin", JointKind::Ball, [0, 1], frames));
        world.no_contact.push([0, 1]);
        state.coordinates.push(0.0);
        (world, state)
    }

    #[test]
    fn a_state_that_may_start_keeps_its_bits() {
        let (world, mut state) = pinned();
        state.bodies[1].angular_velocity = DVec3::new(0.3, 1.0, -0.7);
        let given = state.clone();
        assert_eq!(prepare_start(&world, &mut state).unwrap(), StartReport::default());
        assert_eq!(state, given);
    }

    #[test]
    fn open_joints_are_closed_and_velocities_obey_them() {
        let (world, mut state) = pinned();
        state.bodies[1].pose.position.x = 0.01;
        state.bodies[1].velocity = DVec3::new(2.0, 0.0, 0.0);
        let report = prepare_start(&world, &mut state).unwrap();
        let ClosedJoints { opening, moved } = report.joints.unwrap();
        assert!((opening.joints - 0.01).abs() < 1e-15 && (moved - 0.01).abs() < 1e-9, "{opening:?} {moved}");
        assert!(state.bodies[1].pose.position.distance(DVec3::Z) < 1e-9);
        let StartVelocities::Changed { body: 1, by } = report.velocities else { panic!("{report:?}") };
        assert!((by - 2.0).abs() < 1e-9 && state.bodies[1].velocity.length() < 1e-9, "{by}");
        assert_eq!((report.overlaps.len(), report.separated), (0, None));
    }

    #[test]
    fn bodies_that_overlap_are_separated() {
        let (world, mut state) = on_a_floor(BALL, 0.05, [0.5, 0.0]);
        let report = prepare_start(&world, &mut state).unwrap();
        let [Overlap { bodies: [0, 1], depth }] = report.overlaps[..] else { panic!("{report:?}") };
        assert!((depth - 0.05).abs() < 1e-15, "{depth}");
        // Separation ends within a tenth of what counts as touching, 1e-8 m.
        assert!((report.separated.unwrap() - 0.05).abs() < 1e-6);
        assert!((state.bodies[1].pose.position.z - 0.1).abs() < 1e-6);
    }

    #[test]
    fn only_overlaps_across_the_motions_of_a_joint_are_for_good() {
        // A ball 1 cm deep in the floor, on a joint to it whose axis z is upright or lies.
        let (world, state) = on_a_floor(BALL, 0.09, [0.0, 0.0]);
        let lying = glam::DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2);
        let found = |kind: JointKind, rotation: glam::DQuat, beside: f64| {
            let mut world = world.clone();
            let at = |position: DVec3| Pose { position, rotation };
            let frames = [at(DVec3::new(beside, 0.0, 0.09)), at(DVec3::new(beside, 0.0, 0.0))];
            world.joints.push(Joint::new("joint", kind, [0, 1], frames));
            overlaps_for_good(&world, &state).len()
        };
        let upright = glam::DQuat::IDENTITY;
        assert_eq!(overlaps_for_good(&world, &state), []);
        assert_eq!(found(JointKind::Fixed, upright, 0.0), 1);
        assert_eq!(found(JointKind::Revolute, upright, 0.2), 1);
        assert_eq!(found(JointKind::Prismatic, lying, 0.2), 1);
        // The lowest point of a ball turns sideways about its centre, and up about an axis beside it.
        assert_eq!([0.0, 0.2].map(|beside| found(JointKind::Revolute, lying, beside)), [1, 0]);
        assert_eq!(found(JointKind::Prismatic, upright, 0.0), 0);
        assert_eq!(found(JointKind::Ball, upright, 0.2), 0);
        assert_eq!(found(JointKind::Distance { length: 0.1 }, upright, 0.0), 0);
    }
}
