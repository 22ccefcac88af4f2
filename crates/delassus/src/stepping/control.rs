//! Inputs between steps: loads on bodies, targets of actuators, positions and velocities.
//!
//! ```text
//! (q, v, u)_k ─▶ step ─▶ (q, v)_{k+1} ,   u = forces and moments of bodies, targets of motors
//! ```
//!
//! An input lasts until it is changed. Loads enter the next velocity solve by themselves; targets and states
//! are in what was linearized at the end of the last step, so that it is linearized again.

use std::sync::Arc;

use glam::DVec3;
use thiserror::Error;

use super::Stepper;
use super::warm_start::{add_impulses, impulses_of};
use crate::formula::AnyFormula;
use crate::world::{BodyState, WorldError, WorldState, check_world};

/// An input that a stepper refuses.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ControlError {
    /// A body that the world does not have.
    #[error("there is no body number {body}: the world has {bodies}")]
    NoBody {
        /// The number.
        body: usize,
        /// How many bodies there are.
        bodies: usize,
    },
    /// A joint that the world does not have.
    #[error("there is no joint number {joint}: the world has {joints}")]
    NoJoint {
        /// The number.
        joint: usize,
        /// How many joints there are.
        joints: usize,
    },
    /// A number that is NaN or infinite, or a quaternion that is no rotation.
    #[error("{what} of `{of}` is {value}, but must be {range}")]
    Number {
        /// Which number.
        what: &'static str,
        /// Body or joint.
        of: String,
        /// Its value.
        value: f64,
        /// What it must be.
        range: &'static str,
    },
    /// A velocity or a load for a body that never moves.
    #[error("body `{body}` is fixed: it takes no {what}")]
    Fixed {
        /// The body.
        body: String,
        /// What was given.
        what: &'static str,
    },
    /// A joint without force and motor, or with fewer than asked for.
    #[error("joint `{joint}` has {actuators} forces and motors, number {asked} was asked for (from 0)")]
    NoActuator {
        /// The joint.
        joint: String,
        /// How many it has.
        actuators: usize,
        /// Which was asked for.
        asked: usize,
    },
}

impl Stepper {
    /// Sets the force on the centre of mass and the moment on a body, world axes, N and N m, until they are
    /// changed. What carries its weight stays.
    pub fn set_load(&mut self, body: usize, force: DVec3, moment: DVec3) -> Result<(), ControlError> {
        let to = self.checked_body(body)?;
        if to.fixed {
            return Err(ControlError::Fixed { body: to.name.clone(), what: "force" });
        }
        finite("a force", &to.name, force)?;
        finite("a moment", &to.name, moment)?;
        Arc::make_mut(&mut self.model.world).bodies[body].force = [force, moment];
        self.steady.forget();
        Ok(())
    }

    /// Sets the target of an actuator of a joint: the speed or position of a motor, the force or moment of a
    /// force, or the control of a servo, until it is changed. Actuators are counted from 0 among the forces
    /// and motors of the joint. Takes effect with [`Stepper::relinearize`]. Returns whether it is another
    /// target than before: where it is not, a scene that was steady stays so.
    pub fn set_target(&mut self, joint: usize, actuator: usize, target: f64) -> Result<bool, ControlError> {
        let joints = self.model.world.joints.len();
        let to = self.model.world.joints.get(joint).ok_or(ControlError::NoJoint { joint, joints })?;
        if !target.is_finite() {
            let (what, range) = ("the target", "finite");
            return Err(ControlError::Number { what, of: to.name.clone(), value: target, range });
        }
        let places = to.actions.iter().enumerate().filter(|(_, action)| action.kind.input().is_some());
        let places: Vec<usize> = places.map(|(place, _)| place).collect();
        let Some(&place) = places.get(actuator) else {
            let (joint, actuators) = (to.name.clone(), places.len());
            return Err(ControlError::NoActuator { joint, actuators, asked: actuator });
        };
        if to.actions[place].kind.has_input(target) {
            return Ok(false);
        }
        self.steady.forget();
        let action = &mut Arc::make_mut(&mut self.model.world).joints[joint].actions[place];
        action.kind.set_input(AnyFormula::new(target));
        Ok(true)
    }

    /// Sets position and velocity of a body; time and step count stay. Takes effect with
    /// [`Stepper::relinearize`].
    pub fn set_body(&mut self, body: usize, to: BodyState) -> Result<(), ControlError> {
        let of = self.checked_body(body)?;
        finite("a position", &of.name, to.pose.position)?;
        let length = to.pose.rotation.length();
        if !to.pose.rotation.is_normalized() {
            let (what, range) = ("the length of the quaternion", "1");
            return Err(ControlError::Number { what, of: of.name.clone(), value: length, range });
        }
        finite("a velocity", &of.name, to.velocity)?;
        finite("an angular velocity", &of.name, to.angular_velocity)?;
        if of.fixed && (to.velocity != DVec3::ZERO || to.angular_velocity != DVec3::ZERO) {
            return Err(ControlError::Fixed { body: of.name.clone(), what: "velocity" });
        }
        self.state.bodies[body] = to;
        Ok(())
    }

    /// Sets positions, velocities and coordinates of all bodies and joints, and the time. Where the time is
    /// another, the count of steps begins anew. Takes effect with [`Stepper::relinearize`].
    ///
    /// Refuses what [`Stepper::new`] refuses.
    pub fn set_state(&mut self, state: WorldState) -> Result<(), WorldError> {
        check_world(&self.model.world, &state)?;
        if state.t != self.state.t {
            self.clock.restart(state.t);
        }
        self.state = state;
        Ok(())
    }

    /// Detects contacts and linearizes again, for the next step: after [`Stepper::set_target`],
    /// [`Stepper::set_body`] and [`Stepper::set_state`]. Contacts that are still there keep their impulses,
    /// from which the next solves start.
    pub fn relinearize(&mut self) {
        let mut known = vec![];
        add_impulses(&mut known, self.linearization.contacts(), &self.impulses.contacts);
        let row_impulse = self.impulses.rows.clone();
        self.begin();
        impulses_of(&known, self.linearization.contacts(), &mut self.impulses.contacts);
        if row_impulse.len() == self.impulses.rows.len() {
            self.impulses.rows = row_impulse;
        }
    }

    /// The number of forces and motors of a joint.
    pub fn actuators(&self, joint: usize) -> usize {
        let actions = self.model.world.joints.get(joint).map_or(&[][..], |joint| &joint.actions);
        actions.iter().filter(|action| action.kind.input().is_some()).count()
    }

    fn checked_body(&self, body: usize) -> Result<&crate::world::Body, ControlError> {
        let bodies = self.model.world.bodies.len();
        self.model.world.bodies.get(body).ok_or(ControlError::NoBody { body, bodies })
    }
}

fn finite(what: &'static str, of: &str, x: DVec3) -> Result<(), ControlError> {
    match x.to_array().into_iter().find(|x| !x.is_finite()) {
        None => Ok(()),
        Some(value) => Err(ControlError::Number { what, of: of.to_string(), value, range: "finite" }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::fixtures::*;
    use super::super::options::StepOptions;
    use super::*;
    use crate::world::ActionKind;

    #[test]
    fn a_load_accelerates_until_it_is_changed() {
        let (world, state) = ball_on_floor(smooth(), 50.0, DVec3::ZERO);
        let mut stepper = Stepper::new(world, state, StepOptions { dt: 0.25, ..Default::default() }).unwrap();
        // 4 N on 2 kg and 0.1 N m on 0.05 kg m² for a quarter of a second.
        stepper.set_load(1, 4.0 * DVec3::X, 0.1 * DVec3::Y).unwrap();
        stepper.step().unwrap();
        let ball = stepper.state.bodies[1];
        assert!((ball.velocity.x - 0.5).abs() < 1e-14 && (ball.angular_velocity.y - 0.5).abs() < 1e-14);
        stepper.set_load(1, DVec3::ZERO, DVec3::ZERO).unwrap();
        stepper.step().unwrap();
        assert!((stepper.state.bodies[1].velocity.x - 0.5).abs() < 1e-14);
    }

    #[test]
    fn a_target_that_is_set_again_changes_nothing() {
        let (world, state) = slider(ActionKind::Force { force: formula("2") }, 0.0, 0.0);
        let mut stepper = Stepper::new(world, state, StepOptions::default()).unwrap();
        let world = stepper.world().clone();
        assert_eq!(stepper.set_target(0, 0, 2.0), Ok(false));
        assert!(Arc::ptr_eq(&world, stepper.world()));
        assert_eq!([3.0, 3.0, 2.0].map(|x| stepper.set_target(0, 0, x)), [Ok(true), Ok(false), Ok(true)]);
        // What depends on time is none of its values.
        let (world, state) = slider(ActionKind::Force { force: formula("2 + t") }, 0.0, 0.0);
        let mut stepper = Stepper::new(world, state, StepOptions::default()).unwrap();
        assert_eq!(stepper.set_target(0, 0, 2.0), Ok(true));
    }

    #[test]
    fn a_motor_takes_its_new_target_and_its_joint_counts_its_actuators() {
        let motor = ActionKind::Speed { target: formula("1"), force: 1e6 };
        let (mut world, state) = slider(motor, 0.0, 0.0);
        let joint = world.joints.remove(0).with_limits(-9.0, 9.0).with_force(0.0);
        world.joints.push(joint);
        let mut stepper = Stepper::new(world, state, StepOptions::default()).unwrap();
        // A motor and a force; limits are no actuators.
        assert_eq!((stepper.actuators(0), stepper.actuators(7)), (2, 0));
        stepper.set_target(0, 0, 2.5).unwrap();
        stepper.relinearize();
        stepper.step().unwrap();
        assert!((stepper.state.bodies[1].velocity.z - 2.5).abs() < 1e-9);
        let error = stepper.set_target(0, 2, 0.0).unwrap_err();
        assert_eq!(error, ControlError::NoActuator { joint: "guide".into(), actuators: 2, asked: 2 });
        assert_eq!(stepper.set_target(1, 0, 0.0), Err(ControlError::NoJoint { joint: 1, joints: 1 }));
        assert!(matches!(stepper.set_target(0, 0, f64::NAN), Err(ControlError::Number { .. })));
    }

    #[test]
    fn what_makes_no_sense_is_refused_and_changes_nothing() {
        let (world, state) = ball_on_floor(smooth(), 1.0, DVec3::ZERO);
        let mut stepper = Stepper::new(world, state, StepOptions::default()).unwrap();
        let before = stepper.state.clone();
        let (fixed, still) = (before.bodies[0], before.bodies[1]);
        let mut bent = still;
        bent.pose.rotation.w = 2.0;
        assert!(matches!(stepper.set_body(1, bent), Err(ControlError::Number { value: 2.0, .. })));
        let fast = BodyState { velocity: DVec3::INFINITY, ..still };
        assert!(matches!(stepper.set_body(1, fast), Err(ControlError::Number { .. })));
        let moving = BodyState { velocity: DVec3::X, ..fixed };
        assert!(matches!(stepper.set_body(0, moving), Err(ControlError::Fixed { what: "velocity", .. })));
        assert_eq!(stepper.set_body(2, still), Err(ControlError::NoBody { body: 2, bodies: 2 }));
        assert!(matches!(
            stepper.set_load(0, DVec3::X, DVec3::ZERO),
            Err(ControlError::Fixed { what: "force", .. })
        ));
        assert!(matches!(stepper.set_load(1, DVec3::NAN, DVec3::ZERO), Err(ControlError::Number { .. })));
        assert_eq!((stepper.state == before, stepper.model.world.bodies[1].force), (true, [DVec3::ZERO; 2]));
    }

    #[test]
    fn contacts_that_stay_keep_their_impulses_and_others_have_none() {
        let (world, state) = ball_on_floor(smooth(), 0.0, DVec3::ZERO);
        let mut stepper = Stepper::new(world, state, StepOptions::default()).unwrap();
        stepper.step().unwrap();
        let (carried, there) = (stepper.impulses.contacts[0], stepper.state.bodies[1]);
        assert!(carried[0] > 0.0);
        stepper.relinearize();
        assert_eq!(stepper.impulses.contacts, [carried]);
        let mut away = there;
        away.pose.position.z += 5.0;
        stepper.set_body(1, away).unwrap();
        stepper.relinearize();
        assert!(stepper.contacts().is_empty() && stepper.impulses.contacts.is_empty());
    }
}
