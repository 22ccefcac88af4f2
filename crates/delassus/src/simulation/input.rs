//! Names and ids, and what a program sets between steps.

use glam::DVec3;

use super::{Changed, Simulation, SimulationError, StepForces};
use crate::formula::{clip, nearest};
use crate::stepping::ControlError;
use crate::world::{Action, ActionKind, BodyId, BodyState, JointId, Pose, World, WorldState, set_joint};

/// A body by its name or its id: whatever takes one takes either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyKey<'a> {
    /// By its name; looked for at each call.
    Name(&'a str),
    /// By its id; costs nothing.
    Id(BodyId),
}

/// A joint by its name or its id: whatever takes one takes either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JointKey<'a> {
    /// By its name; looked for at each call.
    Name(&'a str),
    /// By its id; costs nothing.
    Id(JointId),
}

impl<'a> From<&'a str> for BodyKey<'a> {
    fn from(name: &'a str) -> Self {
        BodyKey::Name(name)
    }
}

impl From<BodyId> for BodyKey<'_> {
    fn from(id: BodyId) -> Self {
        BodyKey::Id(id)
    }
}

impl<'a> From<&'a str> for JointKey<'a> {
    fn from(name: &'a str) -> Self {
        JointKey::Name(name)
    }
}

impl From<JointId> for JointKey<'_> {
    fn from(id: JointId) -> Self {
        JointKey::Id(id)
    }
}

/// What became of a name.
enum Found {
    One(usize),
    Many(usize),
    None(Option<String>),
}

fn find<'a>(name: &str, all: impl Iterator<Item = &'a str> + Clone) -> Found {
    let mut places = all.clone().enumerate().filter(|(_, other)| *other == name);
    match (places.next(), places.count()) {
        (Some((place, _)), 0) => Found::One(place),
        (Some(_), others) => Found::Many(1 + others),
        (None, _) => Found::None(nearest(name, all)),
    }
}

/// The id of a body.
pub(super) fn body_id(world: &World, key: BodyKey<'_>) -> Result<BodyId, SimulationError> {
    let bodies = &world.bodies;
    match key {
        BodyKey::Id(id) if id.index() < bodies.len() => Ok(id),
        BodyKey::Id(id) => Err(ControlError::NoBody { body: id.index(), bodies: bodies.len() }.into()),
        BodyKey::Name(name) => match find(name, bodies.iter().map(|body| body.name.as_str())) {
            Found::One(place) => Ok(BodyId::new(place)),
            Found::Many(found) => Err(SimulationError::Ambiguous { what: "bodies", name: clip(name), found }),
            Found::None(suggestion) => Err(SimulationError::UnknownBody { name: clip(name), suggestion }),
        },
    }
}

/// The id of a joint.
pub(super) fn joint_id(world: &World, key: JointKey<'_>) -> Result<JointId, SimulationError> {
    let joints = &world.joints;
    match key {
        JointKey::Id(id) if id.index() < joints.len() => Ok(id),
        JointKey::Id(id) => Err(ControlError::NoJoint { joint: id.index(), joints: joints.len() }.into()),
        JointKey::Name(name) => match find(name, joints.iter().map(|joint| joint.name.as_str())) {
            Found::One(place) => Ok(JointId::new(place)),
            Found::Many(found) => Err(SimulationError::Ambiguous { what: "joints", name: clip(name), found }),
            Found::None(suggestion) => Err(SimulationError::UnknownJoint { name: clip(name), suggestion }),
        },
    }
}

/// The joint of a servo with this name, and its place among the actuators of the joint; `None` where there is
/// none, or several.
fn named_actuator(world: &World, name: &str) -> Option<(JointId, usize)> {
    let is_named = |action: &Action| matches!(&action.kind, ActionKind::Servo(servo) if servo.name == name);
    let mut found = world.joints.iter().enumerate().flat_map(|(joint, of)| {
        let actuators = of.actions.iter().filter(|action| action.kind.input().is_some()).enumerate();
        actuators.filter(|(_, action)| is_named(action)).map(move |(place, _)| (JointId::new(joint), place))
    });
    found.next().filter(|_| found.next().is_none())
}

impl Simulation {
    /// The id of a body.
    pub fn body_id<'k>(&self, key: impl Into<BodyKey<'k>>) -> Result<BodyId, SimulationError> {
        body_id(self.world(), key.into())
    }

    /// The id of a joint.
    pub fn joint_id<'k>(&self, key: impl Into<JointKey<'k>>) -> Result<JointId, SimulationError> {
        joint_id(self.world(), key.into())
    }

    /// Sets the force on the centre of mass of a body, world axes, N. It stays until it is set again.
    pub fn set_force<'k>(
        &mut self,
        body: impl Into<BodyKey<'k>>,
        force: DVec3,
    ) -> Result<(), SimulationError> {
        let id = self.body_id(body)?;
        let [_, moment] = self.world().bodies[id.index()].force;
        self.set_load(id, force, moment)
    }

    /// Sets the moment on a body, world axes, N m. It stays until it is set again.
    pub fn set_torque<'k>(
        &mut self,
        body: impl Into<BodyKey<'k>>,
        torque: DVec3,
    ) -> Result<(), SimulationError> {
        let id = self.body_id(body)?;
        let [force, _] = self.world().bodies[id.index()].force;
        self.set_load(id, force, torque)
    }

    /// Sets force and moment on a body to those of a force at a point, both in world axes. They stay until
    /// they are set again, whereas the point does not follow the body.
    pub fn set_force_at<'k>(
        &mut self,
        body: impl Into<BodyKey<'k>>,
        force: DVec3,
        point: DVec3,
    ) -> Result<(), SimulationError> {
        let id = self.body_id(body)?;
        let arm = point - self.state().bodies[id.index()].pose.position;
        self.set_load(id, force, arm.cross(force))
    }

    /// Sets an actuator by its own name, or the one actuator of a joint: the target of its motor, m/s, rad/s,
    /// m or rad, its force or moment, N or N m, or its control. It stays until it is set again; a function of
    /// time that was there is replaced.
    pub fn set_control<'k>(
        &mut self,
        joint: impl Into<JointKey<'k>>,
        value: f64,
    ) -> Result<(), SimulationError> {
        let key = joint.into();
        if let JointKey::Name(name) = key
            && let Some((joint, actuator)) = named_actuator(self.world(), name)
        {
            return self.set_actuator(joint, actuator, value);
        }
        let id = self.joint_id(key)?;
        let actuators = self.stepper.actuators(id.index());
        if actuators > 1 {
            let joint = self.world().joints[id.index()].name.clone();
            return Err(SimulationError::ManyActuators { joint, actuators });
        }
        self.set_actuator(id, 0, value)
    }

    /// As [`Simulation::set_control`], for one of several forces and motors of a joint, counted from 0.
    pub fn set_actuator<'k>(
        &mut self,
        joint: impl Into<JointKey<'k>>,
        actuator: usize,
        value: f64,
    ) -> Result<(), SimulationError> {
        let id = self.joint_id(joint)?;
        if self.stepper.set_target(id.index(), actuator, value)? {
            self.changed = self.changed.max(Changed::Targets);
        }
        Ok(())
    }

    /// Sets centre of mass and principal axes of a body. Before the next step joints that are open by it are
    /// closed, and bodies that overlap are separated, as at a start: several bodies of a mechanism can be set
    /// one after the other.
    pub fn set_pose<'k>(&mut self, body: impl Into<BodyKey<'k>>, pose: Pose) -> Result<(), SimulationError> {
        let id = self.body_id(body)?;
        let s = self.state().bodies[id.index()];
        // The angular velocity stays as it is in space.
        let angular_velocity = pose.local_vector(s.world_angular_velocity());
        self.set_body(id, BodyState { pose, angular_velocity, ..s }, Changed::Positions)
    }

    /// As [`Simulation::set_pose`], by the frame in which the body was written.
    pub fn set_frame<'k>(
        &mut self,
        body: impl Into<BodyKey<'k>>,
        frame: Pose,
    ) -> Result<(), SimulationError> {
        let id = self.body_id(body)?;
        let own = self.world().bodies[id.index()].frame;
        self.set_pose(id, frame.compose(&own.inverse()))
    }

    /// Sets the velocity of the centre of mass of a body, world axes, m/s. Before the next step velocities
    /// that break the joints are changed the least that obeys them.
    pub fn set_velocity<'k>(
        &mut self,
        body: impl Into<BodyKey<'k>>,
        velocity: DVec3,
    ) -> Result<(), SimulationError> {
        let id = self.body_id(body)?;
        let s = self.state().bodies[id.index()];
        self.set_body(id, BodyState { velocity, ..s }, Changed::Velocities)
    }

    /// Sets the angular velocity of a body, world axes, rad/s; joints are obeyed as for
    /// [`Simulation::set_velocity`].
    pub fn set_angular_velocity<'k>(
        &mut self,
        body: impl Into<BodyKey<'k>>,
        angular_velocity: DVec3,
    ) -> Result<(), SimulationError> {
        let id = self.body_id(body)?;
        let s = self.state().bodies[id.index()];
        let angular_velocity = s.pose.local_vector(angular_velocity);
        self.set_body(id, BodyState { angular_velocity, ..s }, Changed::Velocities)
    }

    /// Puts a joint at a coordinate, m or rad, with a rate, m/s or rad/s. All bodies that hang on it move
    /// with it, so that the other joints keep their coordinates and rates; turns count. Where it is in a
    /// loop, the loop is closed by the least motion that keeps it there ([`set_joint`]).
    ///
    /// Refuses positions beyond the limits of the joint and such that the loop does not reach.
    pub fn set_joint<'k>(
        &mut self,
        joint: impl Into<JointKey<'k>>,
        position: f64,
        velocity: f64,
    ) -> Result<(), SimulationError> {
        let id = self.joint_id(joint)?;
        let joint = &self.world().joints[id.index()];
        let Some(coordinate) = joint.kind.coordinate() else {
            return Err(SimulationError::NoCoordinate { joint: joint.name.clone() });
        };
        let number = |what, value: f64, range| {
            SimulationError::from(ControlError::Number { what, of: joint.name.clone(), value, range })
        };
        for (what, value) in [("the position", position), ("the velocity", velocity)] {
            if !value.is_finite() {
                return Err(number(what, value, "finite"));
            }
        }
        let within = |action: &Action| match action.kind {
            ActionKind::Limits { lower, upper, .. } if action.coordinate == coordinate => {
                (lower..=upper).contains(&position)
            }
            _ => true,
        };
        if !joint.actions.iter().all(within) {
            return Err(number("the position", position, "within the limits of the joint"));
        }
        let mut state = self.state().clone();
        set_joint(self.world(), &mut state, id.index(), [position, velocity])?;
        self.set_state(state)
    }

    /// Sets positions, velocities and coordinates of all bodies and joints, and the time. Before the next
    /// step joints that are open are closed and bodies that overlap are separated, as at a start.
    ///
    /// Refuses states with other numbers of bodies, and numbers that are not finite.
    pub fn set_state(&mut self, state: WorldState) -> Result<(), SimulationError> {
        let last = self.forces.is_none().then(|| StepForces::read(&self.stepper));
        self.stepper.set_state(state)?;
        self.forces = self.forces.take().or(last);
        self.changed = Changed::Positions;
        Ok(())
    }

    fn set_load(&mut self, id: BodyId, force: DVec3, moment: DVec3) -> Result<(), SimulationError> {
        self.stepper.set_load(id.index(), force, moment)?;
        // Motors that go to a position brake by what the loads do: linearized again.
        let brakes = |kind: &ActionKind| matches!(kind, ActionKind::Position { .. });
        if self.world().joints.iter().any(|joint| joint.actions.iter().any(|action| brakes(&action.kind))) {
            self.changed = self.changed.max(Changed::Targets);
        }
        Ok(())
    }

    fn set_body(&mut self, id: BodyId, to: BodyState, changed: Changed) -> Result<(), SimulationError> {
        // The forces of the last step belong to the state at its end.
        let last = self.forces.is_none().then(|| StepForces::read(&self.stepper));
        self.stepper.set_body(id.index(), to)?;
        self.forces = self.forces.take().or(last);
        self.changed = self.changed.max(changed);
        Ok(())
    }
}
