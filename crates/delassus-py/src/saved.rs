//! The state of a simulation as plain numbers, for pickling.

use delassus::simulation::{Changed, Snapshot};
use delassus::stepping::{KeyedImpulse, Snapshot as StepperSnapshot};
use delassus::world::{BodyState, Pose, WorldState};
use glam::{DQuat, DVec3};
use pyo3::prelude::*;

/// Position, rotation x y z w, velocity, and angular velocity in the axes of the body.
type SavedBody = ([f64; 3], [f64; 4], [f64; 3], [f64; 3]);

/// A state with the inputs that were set.
#[derive(FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
pub struct Saved {
    t: f64,
    steps: u64,
    start: f64,
    pub dt: f64,
    bodies: Vec<SavedBody>,
    coordinates: Vec<f64>,
    row_impulse: Vec<f64>,
    contact_impulse: Vec<KeyedImpulse>,
    pub loads: Vec<[[f64; 3]; 2]>,
    pub controls: Vec<(usize, usize, f64)>,
    pub changed: usize,
}

impl Saved {
    /// From a snapshot, forces and moments on bodies, and controls of actuators.
    pub fn new(snapshot: &Snapshot, loads: Vec<[[f64; 3]; 2]>, controls: Vec<(usize, usize, f64)>) -> Self {
        let (stepper, dt, changed) = snapshot.portable();
        let StepperSnapshot { state, steps, start, row_impulse, contact_impulse } = stepper.clone();
        let body = |s: &BodyState| {
            let Pose { position, rotation } = s.pose;
            let velocities = [s.velocity.to_array(), s.angular_velocity.to_array()];
            (position.to_array(), rotation.to_array(), velocities[0], velocities[1])
        };
        Saved {
            t: state.t,
            steps,
            start,
            dt,
            bodies: state.bodies.iter().map(body).collect(),
            coordinates: state.coordinates,
            row_impulse,
            contact_impulse,
            loads,
            controls,
            changed: Changed::ALL.iter().position(|c| *c == changed).unwrap_or(0),
        }
    }

    /// The state of the stepper.
    pub fn stepper(&self) -> StepperSnapshot {
        let body = |(position, rotation, velocity, angular_velocity): &SavedBody| BodyState {
            pose: Pose { position: DVec3::from_array(*position), rotation: DQuat::from_array(*rotation) },
            velocity: DVec3::from_array(*velocity),
            angular_velocity: DVec3::from_array(*angular_velocity),
        };
        StepperSnapshot {
            state: WorldState {
                t: self.t,
                bodies: self.bodies.iter().map(body).collect(),
                coordinates: self.coordinates.clone(),
            },
            steps: self.steps,
            start: self.start,
            row_impulse: self.row_impulse.clone(),
            contact_impulse: self.contact_impulse.clone(),
        }
    }
}
