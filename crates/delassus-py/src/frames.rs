//! The states of a run as arrays.

use delassus::simulation::{JointView, Simulation as Inner, SimulationError};
use delassus::stepping::{EnergyAccount, StepReport};
use delassus::world::{JointId, Pose, WorldState};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::array::{shaped, wxyz};

/// Frames of a run in memory.
#[derive(Default)]
pub struct Frames {
    /// The frames in which bodies were written, in their own.
    own: Vec<Pose>,
    joints: usize,
    time: Vec<f64>,
    position: Vec<f64>,
    orientation: Vec<f64>,
    velocity: Vec<f64>,
    angular_velocity: Vec<f64>,
    energy: Vec<f64>,
    joint: Vec<f64>,
    /// Supplied, friction, impacts, dampers, created: up to now, and per frame.
    account: [f64; 5],
    accounts: Vec<f64>,
}

impl Frames {
    /// With the state in which a simulation stands.
    pub fn of(sim: &Inner) -> Self {
        let own = sim.world().bodies.iter().map(|body| body.frame).collect();
        let mut frames = Frames { own, joints: sim.world().joints.len(), ..Frames::default() };
        frames.add(sim.state(), sim.energy(), |j| sim.joint(j));
        frames
    }

    /// Counts the energy that went through a step.
    pub fn count(&mut self, report: &StepReport) {
        let EnergyAccount { supplied, friction, impacts, dampers, .. } = report.energy;
        let created = report.energy_gains.iter().map(|gain| gain.energy).sum();
        let step = [supplied, friction, impacts, dampers, created];
        self.account.iter_mut().zip(step).for_each(|(sum, x)| *sum += x);
    }

    /// Keeps a state.
    pub fn add<'a>(
        &mut self,
        state: &WorldState,
        energy: f64,
        joint: impl Fn(JointId) -> Result<JointView<'a>, SimulationError>,
    ) {
        self.time.push(state.t);
        self.accounts.extend(self.account);
        self.energy.push(energy);
        for (s, own) in state.bodies.iter().zip(&self.own) {
            let written = s.pose.compose(own);
            self.position.extend(written.position.to_array());
            self.orientation.extend(wxyz(written.rotation));
            self.velocity.extend(s.velocity.to_array());
            self.angular_velocity.extend(s.world_angular_velocity().to_array());
        }
        for j in 0..self.joints {
            let at = joint(JointId::new(j));
            self.joint.extend(at.map_or([f64::NAN; 2], |view| [view.position, view.velocity]));
        }
    }

    /// As a dictionary of arrays.
    pub fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let (k, n, j) = (self.time.len(), self.own.len(), self.joints);
        let out = PyDict::new(py);
        out.set_item("time", shaped(py, self.time, &[k])?)?;
        out.set_item("position", shaped(py, self.position, &[k, n, 3])?)?;
        out.set_item("orientation", shaped(py, self.orientation, &[k, n, 4])?)?;
        out.set_item("velocity", shaped(py, self.velocity, &[k, n, 3])?)?;
        out.set_item("angular_velocity", shaped(py, self.angular_velocity, &[k, n, 3])?)?;
        out.set_item("account", shaped(py, self.accounts, &[k, 5])?)?;
        out.set_item("energy", shaped(py, self.energy, &[k])?)?;
        out.set_item("joint", shaped(py, self.joint, &[k, j, 2])?)?;
        Ok(out)
    }
}
