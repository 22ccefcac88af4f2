//! Many motions of one world under different controls, in parallel, with the bits of one after the other.

use std::sync::atomic::{AtomicBool, Ordering};

use delassus::simulation::{SimulationError, Snapshot as Start};
use delassus::world::JointId;
use numpy::{PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;

use crate::array::{shaped, wxyz};
use crate::error::{simulation_error, value_error};
use crate::simulation::{Simulation, Snapshot, frame};
use crate::wait::{Shared, shared_out, waiting_for};

/// What one motion leaves.
struct Motion {
    /// Per step and body: position, orientation, velocity, angular velocity.
    bodies: Vec<f64>,
    /// Per step and joint: coordinate and its rate, NaN where it has none.
    joints: Vec<f64>,
    unsolved: u64,
    residual: f64,
}

/// Numbers of a body: position 3, orientation 4, velocity 3, angular velocity 3.
const BODY_NUMBERS: usize = 13;

/// A motion; what there is of it where it was interrupted.
fn motion(
    start: &Start,
    joints: &[JointId],
    controls: &[f64],
    interrupt: &AtomicBool,
) -> Result<Motion, SimulationError> {
    let mut sim = delassus::simulation::Simulation::from_snapshot(start)?;
    let mut out = Motion { bodies: vec![], joints: vec![], unsolved: 0, residual: 0.0 };
    for row in controls.chunks(joints.len().max(1)) {
        if interrupt.load(Ordering::Relaxed) {
            break;
        }
        for (joint, value) in joints.iter().zip(row) {
            sim.set_control(*joint, *value)?;
        }
        let report = sim.step()?;
        out.unsolved += u64::from(report.status != delassus_solve::problem::Status::Solved);
        out.residual = out.residual.max(report.residual);
        for (i, s) in sim.state().bodies.iter().enumerate() {
            let written = frame(&sim, i);
            out.bodies.extend(written.position.to_array());
            out.bodies.extend(wxyz(written.rotation));
            out.bodies.extend(s.velocity.to_array());
            out.bodies.extend(s.world_angular_velocity().to_array());
        }
        for j in 0..sim.world().joints.len() {
            let at = sim.joint(JointId::new(j));
            out.joints.extend(at.map_or([f64::NAN; 2], |view| [view.position, view.velocity]));
        }
    }
    Ok(out)
}

/// Motions from `snapshot` under controls[motion, step, actuator].
#[pyfunction]
pub fn rollout(
    py: Python<'_>,
    snapshot: &Snapshot,
    joints: Vec<String>,
    controls: PyReadonlyArray3<'_, f64>,
) -> PyResult<Py<PyAny>> {
    let start = Simulation::inner_of(&snapshot.inner)?;
    let shape = [controls.shape()[0], controls.shape()[1], controls.shape()[2]];
    if shape[2] != joints.len() || joints.is_empty() {
        let found = shape[2];
        let names = joints.len();
        return Err(value_error(format!(
            "controls: expected one column for each of {names} joints, found {found}"
        )));
    }
    let ids = joints.iter().map(|name| start.joint_id(name.as_str()).map_err(|e| simulation_error(&e)));
    let ids = ids.collect::<PyResult<Vec<JointId>>>()?;
    let data: Vec<f64> = controls.as_array().iter().copied().collect();
    let per = shape[1] * shape[2];
    let (shared, inner) = (Shared::default(), snapshot.inner.clone());
    let interrupt = shared.interrupt.clone();
    let made = waiting_for(py, &shared, None, move || -> Result<Vec<Motion>, SimulationError> {
        let one = |k: usize| motion(&inner, &ids, &data[k * per..(k + 1) * per], &interrupt);
        shared_out(|| (0..shape[0]).into_par_iter().map(one).collect())
    })?;
    let made = made.map_err(|e| simulation_error(&e))?;
    let (bodies, n_joints) = (start.state().bodies.len(), start.world().joints.len());
    let out = PyDict::new(py);
    let all = |of: fn(&Motion) -> &[f64]| made.iter().flat_map(of).copied().collect::<Vec<f64>>();
    out.set_item("body", shaped(py, all(|m| &m.bodies), &[shape[0], shape[1], bodies, BODY_NUMBERS])?)?;
    out.set_item("joint", shaped(py, all(|m| &m.joints), &[shape[0], shape[1], n_joints, 2])?)?;
    out.set_item("unsolved_steps", made.iter().map(|m| m.unsolved).collect::<Vec<_>>())?;
    out.set_item("residual", shaped(py, made.iter().map(|m| m.residual).collect(), &[shape[0]])?)?;
    Ok(out.into_any().unbind())
}
