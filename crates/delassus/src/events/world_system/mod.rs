//! A small world of rigid bodies as a Lagrangian system, for event-driven integration.
//!
//! ```text
//! T = Σ ½ m ‖ẋ‖² + ½ ω̄ᵀ diag(I) ω̄ + ½ Ī (2 ε·ε̇)² ,     V = −Σ m g·x ,     ‖ε‖² = 1
//! ```
//!
//! x ∈ ℝ³ and ε ∈ ℝ⁴ per body; the last term of T is zero on ‖ε‖² = 1 and makes the mass matrix definite, Ī
//! the mean of the principal moments. Contacts: balls, corners of boxes and hulls and ends of capsules on
//! fixed planes, and balls on balls; their slips are velocities of the points that touch. Joints: what they
//! lock, distances and ropes, with springs and dampers. Constant forces and moments act on bodies. What else
//! a world may have is refused by name. In a planar world contacts have one tangent.

mod formulas;
mod loads;
mod rows;
mod vectors;

use glam::{DQuat, DVec3};
use thiserror::Error;

use crate::formula::{AnyFormula, Point};
use crate::lagrangian::{Contact, Force, Joint, Measure, State, System};
use crate::world::{Action, ActionKind, Axis, Coordinate, joint_coordinate};
use crate::world::{
    BodyState, Joint as WorldJoint, JointKind, Medium, Pose, ShapeKind, Surface, World, WorldState,
};
use formulas::{Ball, Frame, Gap, Held, Kinetic, Linear, Lock, Pair, Slip, UnitLength};
use loads::{Damper, Moment, Potential, Spring, Stretch, common_axes};
use vectors::{PER_BODY, Slot, angular_velocity};

/// Bodies that move, at most: the mass matrix is evaluated entry by entry.
pub const MOST_BODIES: usize = 12;

/// Why a world cannot move as a system.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum WorldSystemError {
    /// Too many bodies.
    #[error(
        "{found} bodies move, expected at most {MOST_BODIES} for event-driven integration; time stepping moves more"
    )]
    TooManyBodies {
        /// How many.
        found: usize,
    },
    /// Two shapes without a formula for their gap.
    #[error(
        "`{first}` and `{second}` may touch as {shapes}; in event-driven integration bodies touch as balls, and balls, boxes, \
         capsules and hulls touch fixed planes: which corner, edge or face of two bodies is nearest changes on the way, and \
         no one formula has their gap; time stepping moves them"
    )]
    Contact {
        /// One body.
        first: String,
        /// The other.
        second: String,
        /// What meets.
        shapes: String,
    },
    /// A joint that is not known here.
    #[error("joint `{joint}`: {what} has no event-driven integration yet; time stepping moves it")]
    Joint {
        /// Name.
        joint: String,
        /// What about it.
        what: &'static str,
    },
    /// Air or water around bodies.
    #[error(
        "the medium around bodies (drag) has no event-driven integration yet; time stepping moves them in it"
    )]
    Medium,
    /// A law of friction or impact that is not known here.
    #[error("{law} between `{first}` and `{second}` has no event-driven integration yet")]
    SurfaceLaw {
        /// Which.
        law: &'static str,
        /// One body.
        first: String,
        /// The other.
        second: String,
    },
}

/// A world as a system.
#[derive(Clone, Debug)]
pub struct WorldSystem {
    /// The system; coordinates are `body.x`, `.y`, `.z`, `.qw`, `.qx`, `.qy`, `.qz`.
    pub system: System,
    /// The state at the start.
    pub state: State,
    /// The body of every seven coordinates.
    pub bodies: Vec<usize>,
}

impl WorldSystem {
    /// A state of the system as one of the world; `start` gives what does not move.
    pub fn world_state(&self, start: &WorldState, state: &State) -> WorldState {
        let mut result = WorldState { t: state.t, ..start.clone() };
        for (slot, &body) in self.bodies.iter().enumerate() {
            let (q, v) = (&state.q[PER_BODY * slot..], &state.v[PER_BODY * slot..]);
            let rotation = DQuat::from_xyzw(q[4], q[5], q[6], q[3]);
            let point = Point { q: &state.q, v: &state.v, t: state.t };
            result.bodies[body] = BodyState {
                pose: Pose { position: DVec3::new(q[0], q[1], q[2]), rotation: rotation.normalize() },
                velocity: DVec3::new(v[0], v[1], v[2]),
                angular_velocity: DVec3::from_array(angular_velocity(slot, -1.0, &point)),
            };
        }
        result
    }
}

/// The world as a system, with its state.
pub fn world_system(world: &World, state: &WorldState) -> Result<WorldSystem, WorldSystemError> {
    let bodies: Vec<usize> = (0..world.bodies.len()).filter(|i| !world.bodies[*i].fixed).collect();
    if bodies.len() > MOST_BODIES {
        return Err(WorldSystemError::TooManyBodies { found: bodies.len() });
    }
    if world.medium.as_ref().is_some_and(Medium::acts) {
        return Err(WorldSystemError::Medium);
    }
    let n = PER_BODY * bodies.len();
    let (mut q, mut v) = (Vec::with_capacity(n), Vec::with_capacity(n));
    let (mut names, mut masses, mut weight) = (vec![], vec![], vec![]);
    let mut system_forces = vec![];
    for (slot, &i) in bodies.iter().enumerate() {
        let (body, s) = (&world.bodies[i], &state.bodies[i]);
        names.extend(["x", "y", "z", "qw", "qx", "qy", "qz"].map(|c| format!("{}.{c}", body.name)));
        let r = s.pose.rotation;
        q.extend(s.pose.position.to_array());
        q.extend([r.w, r.x, r.y, r.z]);
        let w = s.angular_velocity;
        let rate = r * DQuat::from_xyzw(w.x, w.y, w.z, 0.0);
        v.extend(s.velocity.to_array());
        v.extend([0.5 * rate.w, 0.5 * rate.x, 0.5 * rate.y, 0.5 * rate.z]);
        masses.push((body.mass, body.inertia.to_array()));
        weight.extend((world.gravity * -body.mass).to_array());
        weight.extend([0.0; 4]);
        for (k, force) in body.constant_force().to_array().into_iter().enumerate().filter(|(_, f)| *f != 0.0)
        {
            system_forces.push(Force { coordinate: PER_BODY * slot + k, value: AnyFormula::new(force) });
        }
        let moment = body.force[1].to_array();
        for part in if moment == [0.0; 3] { 0..0 } else { 3..PER_BODY } {
            let value = AnyFormula::new(Moment { slot, part, moment });
            system_forces.push(Force { coordinate: PER_BODY * slot + part, value });
        }
    }
    let coordinates: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut system =
        System { forces: system_forces, ..System::new(&world.name, &coordinates, Kinetic(masses)) };
    for (slot, &i) in bodies.iter().enumerate() {
        let length = Measure::Displacement(AnyFormula::new(UnitLength(slot)));
        system.joints.push(Joint::frictionless(&format!("{} unit", world.bodies[i].name), length));
    }
    let slot_of = |body: usize| bodies.iter().position(|b| *b == body);
    let mut springs = vec![];
    for (j, joint) in world.joints.iter().enumerate() {
        add_joint(&mut system, state, joint, slot_of)?;
        for action in &joint.actions {
            springs.push(spring(world, state, j, action, slot_of)?);
        }
    }
    springs.iter().for_each(|spring| add_damper(&mut system, spring));
    let weight = Linear(weight);
    let springs: Vec<Spring> = springs.into_iter().filter(|s| s.stiffness != 0.0).collect();
    system.potential = Some(match springs.is_empty() {
        true => AnyFormula::new(weight),
        false => AnyFormula::new(Potential { weight, springs }),
    });
    add_contacts(&mut system, world, state, slot_of)?;
    Ok(WorldSystem { system, state: State { t: state.t, q, v }, bodies })
}

/// The frames of a joint on the bodies that move, or on the ground.
fn frames(state: &WorldState, joint: &WorldJoint, slot_of: impl Fn(usize) -> Slot) -> [Frame; 2] {
    [0, 1].map(|side: usize| {
        let (body, frame) = (joint.bodies[side], joint.frames[side]);
        let slot = slot_of(body);
        let pose = if slot.is_some() { frame } else { state.bodies[body].pose.compose(&frame) };
        let axes = [DVec3::X, DVec3::Y, DVec3::Z].map(|a| (pose.rotation * a).to_array());
        Frame { slot, origin: pose.position.to_array(), axes }
    })
}

/// The spring and damper that act on a coordinate of joint j.
fn spring(
    world: &World,
    state: &WorldState,
    j: usize,
    action: &Action,
    slot_of: impl Fn(usize) -> Slot,
) -> Result<Spring, WorldSystemError> {
    let joint = &world.joints[j];
    let refuse = |what| WorldSystemError::Joint { joint: joint.name.clone(), what };
    let (stiffness, damping, rest) = match action.kind {
        ActionKind::Spring { stiffness, damping, rest } => (stiffness, damping, rest),
        ActionKind::Armature { .. } => return Err(refuse("the rotor of a joint (armature)")),
        _ => return Err(refuse("a limit, a motor, a servo or a drive")),
    };
    let frames = frames(state, joint, &slot_of);
    let locked = joint.kind.locked();
    let stretch = match action.coordinate {
        Coordinate::Along(axis) => Stretch::Along(axis as usize),
        Coordinate::Length => Stretch::Length,
        // Where z is the only free rotation, and the one whose turns the state counts.
        Coordinate::About(Axis::Z) if locked[3..] == [true, true, false] => {
            let rotations = joint.bodies.map(|body| state.bodies[body].pose.rotation);
            let axes = rotations[0] * joint.frames[0].rotation;
            let start = joint_coordinate(world, state, j).map_or(0.0, |c| c[0]);
            Stretch::About { start, axes: common_axes(rotations, frames.map(|f| f.slot), axes) }
        }
        _ => return Err(refuse("a spring on one of several rotations")),
    };
    Ok(Spring { frames, stretch, stiffness, damping, rest })
}

/// The forces of a damper on its bodies.
fn add_damper(system: &mut System, spring: &Spring) {
    if spring.damping == 0.0 {
        return;
    }
    for (side, frame) in spring.frames.iter().enumerate() {
        let Some(slot) = frame.slot else { continue };
        for part in 0..PER_BODY {
            let value = AnyFormula::new(Damper { spring: *spring, second: side == 1, part });
            system.forces.push(Force { coordinate: PER_BODY * slot + part, value });
        }
    }
}

fn add_joint(
    system: &mut System,
    state: &WorldState,
    joint: &WorldJoint,
    slot_of: impl Fn(usize) -> Slot,
) -> Result<(), WorldSystemError> {
    let refuse = |what| Err(WorldSystemError::Joint { joint: joint.name.clone(), what });
    if joint.friction.is_some() {
        return refuse("friction in a joint");
    }
    let frames = frames(state, joint, slot_of);
    let mut locks = vec![];
    match &joint.kind {
        JointKind::Screw { .. } => return refuse("a screw"),
        JointKind::PointOnCurve(_) => return refuse("a curve"),
        JointKind::Coupler { .. } => return refuse("a coupler"),
        JointKind::Tendon(_) => return refuse("a tendon"),
        JointKind::Rope { length, restitution } => {
            let gap = Measure::Displacement(AnyFormula::new(Held { frames, lock: Lock::Distance(*length) }));
            let contact = Contact { restitution: *restitution, ..Contact::frictionless(&joint.name, gap) };
            system.contacts.push(contact);
            return Ok(());
        }
        JointKind::Distance { length } => locks.push(Lock::Distance(*length)),
        kind => {
            let locked = kind.locked();
            locks.extend((0..3).filter(|k| locked[*k]).map(Lock::Along));
            let free: Vec<usize> = (0..3).filter(|k| !locked[3 + k]).collect();
            match *free.as_slice() {
                [] => locks.extend((0..3).map(|k| Lock::Across(k, (k + 1) % 3))),
                // The axis of the second stays across the other two of the first.
                [k] => locks.extend([(k + 1) % 3, (k + 2) % 3].map(|l| Lock::Across(l, k))),
                [_, _] => {
                    // The first axis after the locked one belongs to the first body, the second to the
                    // second.
                    let held = (0..3).find(|k| locked[3 + k]).unwrap_or(0);
                    locks.push(Lock::Across((held + 1) % 3, (held + 2) % 3));
                }
                _ => {}
            }
        }
    }
    let many = locks.len() > 1;
    for (k, lock) in locks.into_iter().enumerate() {
        let name = if many { format!("{} {}", joint.name, k + 1) } else { joint.name.clone() };
        let value = Measure::Displacement(AnyFormula::new(Held { frames, lock }));
        system.joints.push(Joint::frictionless(&name, value));
    }
    Ok(())
}

/// The balls and points by which a shape touches a plane, in the axes of its body.
fn balls(kind: &ShapeKind, pose: &Pose) -> Option<Vec<(DVec3, f64)>> {
    let signs = [-1.0, 1.0];
    let local: Vec<(DVec3, f64)> = match kind {
        ShapeKind::Sphere { radius } => vec![(DVec3::ZERO, *radius)],
        ShapeKind::Capsule { radius, half_height } => {
            signs.map(|s| (DVec3::Z * (s * half_height), *radius)).to_vec()
        }
        ShapeKind::Box { half_extents: h } => {
            let corners = signs.into_iter().flat_map(|x| signs.map(|y| (x, y)));
            corners.flat_map(|(x, y)| signs.map(|z| (DVec3::new(x * h.x, y * h.y, z * h.z), 0.0))).collect()
        }
        ShapeKind::Convex { points } => points.iter().map(|p| (*p, 0.0)).collect(),
        _ => return None,
    };
    Some(local.into_iter().map(|(p, r)| (pose.point(p), r)).collect())
}

fn word(kind: &ShapeKind) -> &'static str {
    match kind {
        ShapeKind::Plane => "plane",
        ShapeKind::Sphere { .. } => "ball",
        ShapeKind::Box { .. } => "box",
        ShapeKind::Capsule { .. } => "capsule",
        ShapeKind::Cylinder { .. } => "cylinder",
        ShapeKind::Cone { .. } => "cone",
        ShapeKind::Convex { .. } => "hull",
        ShapeKind::Mesh { .. } => "mesh",
        ShapeKind::Heightfield { .. } => "heightfield",
    }
}

fn add_contacts(
    system: &mut System,
    world: &World,
    state: &WorldState,
    slot_of: impl Fn(usize) -> Slot,
) -> Result<(), WorldSystemError> {
    // In a planar world bodies are held in the plane by joints.
    let plane = world
        .joints
        .iter()
        .find(|j| matches!(j.kind, JointKind::Planar))
        .map(|joint| state.bodies[joint.bodies[0]].pose.compose(&joint.frames[0]).rotation * DVec3::Z);
    for a in 0..world.bodies.len() {
        for b in a + 1..world.bodies.len() {
            let both_fixed = world.bodies[a].fixed && world.bodies[b].fixed;
            if both_fixed || world.no_contact.binary_search(&[a, b]).is_ok() {
                continue;
            }
            let mut pairs = vec![];
            for first in &world.bodies[a].shapes {
                for second in &world.bodies[b].shapes {
                    let found = meet(state, [(a, first), (b, second)], &slot_of);
                    let Some(found) = found else {
                        let [first_name, second_name] = [a, b].map(|i| world.bodies[i].name.clone());
                        let shapes = format!("{} and {}", word(&first.kind), word(&second.kind));
                        return Err(WorldSystemError::Contact {
                            first: first_name,
                            second: second_name,
                            shapes,
                        });
                    };
                    pairs.extend(found);
                }
            }
            let surface = world.surface(a, b);
            if let Some(law) = unknown_law(&surface).filter(|_| !pairs.is_empty()) {
                let [first, second] = [a, b].map(|i| world.bodies[i].name.clone());
                return Err(WorldSystemError::SurfaceLaw { law, first, second });
            }
            let mu_static = surface.mu_static.unwrap_or(surface.mu);
            let many = pairs.len() > 1;
            for (k, pair) in pairs.into_iter().enumerate() {
                let [first, second] = [a, b].map(|i| &world.bodies[i].name);
                let name =
                    if many { format!("{first}|{second} {}", k + 1) } else { format!("{first}|{second}") };
                let gap = Measure::Displacement(AnyFormula::new(Gap(pair)));
                let reference = plane.unwrap_or_else(|| across(&pair, state, [a, b]));
                let tangents: &[bool] = if plane.is_some() { &[false] } else { &[false, true] };
                let slip = tangents.iter().map(|&second| {
                    let slip = Slip { pair, reference: reference.to_array(), second };
                    Measure::Velocity(AnyFormula::new(slip))
                });
                system.contacts.push(Contact {
                    slip: if mu_static > 0.0 { slip.collect() } else { vec![] },
                    restitution: surface.restitution,
                    mu_static: AnyFormula::new(mu_static),
                    ..Contact::frictionless(&name, gap).with_friction(surface.mu)
                });
            }
        }
    }
    Ok(())
}

/// What of a surface has no events yet.
fn unknown_law(surface: &Surface) -> Option<&'static str> {
    let laws = [
        (surface.rolling != 0.0, "rolling friction"),
        (surface.spinning != 0.0, "spinning friction"),
        (surface.grain.is_some(), "friction along and across a direction"),
        (surface.restitution_tangential != 0.0, "tangential restitution"),
    ];
    laws.into_iter().find(|(given, _)| *given).map(|(_, law)| law)
}

/// An axis of the world that is well across the normal at the start.
fn across(pair: &Pair, state: &WorldState, bodies: [usize; 2]) -> DVec3 {
    let normal = match pair {
        Pair::Plane { normal, .. } => DVec3::from_array(*normal),
        Pair::Balls(..) => state.bodies[bodies[1]].pose.position - state.bodies[bodies[0]].pose.position,
    };
    let least = |a: &DVec3, b: &DVec3| normal.dot(*a).abs().total_cmp(&normal.dot(*b).abs());
    [DVec3::Y, DVec3::X, DVec3::Z].into_iter().min_by(least).unwrap_or(DVec3::Y)
}

/// How two shapes may touch; `None` where there is no formula for it.
fn meet(
    state: &WorldState,
    [first, second]: [(usize, &crate::world::Shape); 2],
    slot_of: &impl Fn(usize) -> Slot,
) -> Option<Vec<Pair>> {
    let ball = |body: usize, (centre, radius): (DVec3, f64)| {
        let slot = slot_of(body);
        let centre = if slot.is_some() { centre } else { state.bodies[body].pose.point(centre) };
        Ball { slot, centre: centre.to_array(), radius }
    };
    let on_plane = |plane: (usize, &crate::world::Shape), other: (usize, &crate::world::Shape)| {
        if slot_of(plane.0).is_some() {
            return None;
        }
        let pose = state.bodies[plane.0].pose.compose(&plane.1.pose);
        let normal = pose.rotation * DVec3::Z;
        let offset = normal.dot(pose.position);
        let list = balls(&other.1.kind, &other.1.pose)?;
        let pair = |b| Pair::Plane { normal: normal.to_array(), offset, ball: ball(other.0, b) };
        Some(list.into_iter().map(pair).collect())
    };
    match (&first.1.kind, &second.1.kind) {
        (ShapeKind::Plane, ShapeKind::Plane) => Some(vec![]),
        (ShapeKind::Plane, _) => on_plane(first, second),
        (_, ShapeKind::Plane) => on_plane(second, first),
        (ShapeKind::Sphere { radius: r1 }, ShapeKind::Sphere { radius: r2 }) => Some(vec![Pair::Balls(
            ball(first.0, (first.1.pose.position, *r1)),
            ball(second.0, (second.1.pose.position, *r2)),
        )]),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lagrangian::kinematics;
    use crate::world::{Body, Scene, Surface};

    /// A block that turns above the ground, and a ball beside it.
    fn scene() -> Scene {
        let mut scene = Scene::default();
        scene.add(Body::ground());
        let block = Body::block("block", 4.0, DVec3::new(0.1, 0.2, 0.3)).at(DVec3::new(0.0, 0.0, 2.0));
        let block = block.rotated(DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), 0.7));
        scene.add(
            block.with_velocity(DVec3::new(1.0, 2.0, 3.0)).with_angular_velocity(DVec3::new(3.0, -2.0, 1.0)),
        );
        scene
    }

    #[test]
    fn a_state_comes_back_from_the_system() {
        let Scene { world, state } = scene();
        let found = world_system(&world, &state).unwrap();
        assert_eq!((found.bodies.clone(), found.state.q.len()), (vec![1], PER_BODY));
        let back = found.world_state(&state, &found.state);
        for (a, b) in state.bodies.iter().zip(&back.bodies) {
            // A quaternion and its rate, there and back: a few roundings of numbers up to 4.
            assert!((a.pose.position - b.pose.position).length() == 0.0 && a.velocity == b.velocity);
            assert!(a.pose.rotation.angle_between(b.pose.rotation) < 1e-7);
            assert!((a.angular_velocity - b.angular_velocity).length() < 1e-14, "{b:?}");
        }
    }

    #[test]
    fn energy_and_weight_are_those_of_the_bodies() {
        let Scene { world, mut state } = scene();
        state.t = 0.0;
        let found = world_system(&world, &state).unwrap();
        let at = kinematics(&found.system, &found.state).unwrap();
        let energy = crate::world::energy(&world, &state);
        assert!((at.kinetic_energy + at.potential_energy - energy).abs() < 1e-12 * energy);
        // The block falls: its weight is the force on its height.
        assert!((at.force[2] - 4.0 * 9.81).abs() < 1e-12, "{:?}", at.force);
    }

    #[test]
    fn corners_touch_the_ground_at_their_height() {
        let Scene { world, state } = scene();
        let found = world_system(&world, &state).unwrap();
        let at = kinematics(&found.system, &found.state).unwrap();
        assert_eq!(found.system.contacts.len(), 8);
        let block = &state.bodies[1];
        let mut heights: Vec<f64> = vec![];
        for signs in 0..8 {
            let sign = |k: u32| if signs >> k & 1 == 0 { -1.0 } else { 1.0 };
            heights.push(block.pose.point(DVec3::new(0.1 * sign(0), 0.2 * sign(1), 0.3 * sign(2))).z);
        }
        let mut gaps: Vec<f64> = at.contacts.iter().map(|c| c.gap).collect();
        heights.sort_by(f64::total_cmp);
        gaps.sort_by(f64::total_cmp);
        assert!(gaps.iter().zip(&heights).all(|(a, b)| (a - b).abs() < 1e-14), "{gaps:?} for {heights:?}");
    }

    #[test]
    fn joints_become_as_many_rows_as_they_lock() {
        for (joint, rows) in [
            (WorldJoint::fixed("j"), 6),
            (WorldJoint::revolute("j"), 5),
            (WorldJoint::prismatic("j"), 5),
            (WorldJoint::ball("j"), 3),
            (WorldJoint::of_kind("j", JointKind::Universal), 4),
            (WorldJoint::of_kind("j", JointKind::Planar), 3),
        ] {
            let mut scene = Scene::default();
            let [a, b] = ["a", "b"].map(|name| scene.add(Body::ball(name, 1.0, 0.1).at(DVec3::X)));
            let kind = joint.kind.clone();
            scene.join([a, b], Pose::IDENTITY, joint);
            scene.world.no_contact.push([0, 1]);
            let found = world_system(&scene.world, &scene.state).unwrap();
            // One more per body holds its quaternion at unit length; all hold at the start.
            assert_eq!(found.system.joints.len(), 2 + rows, "{kind:?}");
            let at = kinematics(&found.system, &found.state).unwrap();
            assert!(at.joints.iter().all(|joint| joint.value.abs() < 1e-15), "{kind:?}");
        }
    }

    #[test]
    fn what_has_no_formula_is_refused_by_name() {
        let refused = |change: fn(&mut Scene)| {
            let mut scene = scene();
            change(&mut scene);
            world_system(&scene.world, &scene.state).unwrap_err()
        };
        let many = refused(|scene| {
            (0..12).for_each(|_| {
                scene.add(Body::ball("b", 1.0, 0.1));
            })
        });
        assert_eq!(many, WorldSystemError::TooManyBodies { found: 13 });
        let limits = refused(|scene| {
            let ids = [0, 1].map(crate::world::BodyId::new);
            scene.join(ids, Pose::IDENTITY, WorldJoint::revolute("h").with_limits(-1.0, 1.0));
        });
        assert_eq!(
            limits,
            WorldSystemError::Joint { joint: "h".into(), what: "a limit, a motor, a servo or a drive" }
        );
        let rolling =
            refused(|scene| scene.world.surfaces.push(Surface { rolling: 0.1, ..Surface::friction(0.5) }));
        assert!(matches!(rolling, WorldSystemError::SurfaceLaw { law: "rolling friction", .. }));
        let pair = refused(|scene| {
            scene.add(Body::ball("ball", 1.0, 0.1).at(DVec3::X));
        });
        assert!(matches!(pair, WorldSystemError::Contact { shapes, .. } if shapes == "box and ball"));
        let screw = refused(|scene| {
            let ids = [0, 1].map(crate::world::BodyId::new);
            scene.join(ids, Pose::IDENTITY, WorldJoint::of_kind("s", JointKind::Screw { pitch: 0.1 }));
        });
        assert_eq!(screw, WorldSystemError::Joint { joint: "s".into(), what: "a screw" });
    }
}
