//! The motion of a system as arrays and events.

use delassus::events::{Ending, Trajectory};
use delassus::lagrangian::System;
use delassus_report::contact_mode_word;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::array::shaped;

/// A dictionary of arrays over the recorded times, of events, and of the end.
pub fn trajectory(py: Python<'_>, system: &System, run: &Trajectory) -> PyResult<Py<PyAny>> {
    let (n, samples) = (system.coordinates.len(), run.samples.len());
    let (contacts, joints) = (system.contacts.len(), system.joints.len());
    let all = |of: fn(&delassus::events::Sample) -> &[f64]| {
        run.samples.iter().flat_map(of).copied().collect::<Vec<f64>>()
    };
    let out = PyDict::new(py);
    out.set_item("coordinates", &system.coordinates)?;
    out.set_item("contacts", system.contacts.iter().map(|c| &c.name).collect::<Vec<_>>())?;
    out.set_item("joints", system.joints.iter().map(|j| &j.name).collect::<Vec<_>>())?;
    out.set_item("time", PyArray1::from_vec(py, run.samples.iter().map(|s| s.state.t).collect()))?;
    out.set_item("position", shaped(py, all(|s| &s.state.q), &[samples, n])?)?;
    out.set_item("velocity", shaped(py, all(|s| &s.state.v), &[samples, n])?)?;
    out.set_item("acceleration", shaped(py, all(|s| &s.acceleration), &[samples, n])?)?;
    let forces: Vec<f64> =
        run.samples.iter().flat_map(|s| s.contact_forces.iter().flatten()).copied().collect();
    out.set_item("contact_force", shaped(py, forces, &[samples, contacts, 3])?)?;
    let forces: Vec<f64> =
        run.samples.iter().flat_map(|s| s.joint_forces.iter().flatten()).copied().collect();
    out.set_item("joint_force", shaped(py, forces, &[samples, joints, 3])?)?;
    let modes: Vec<Vec<&str>> =
        run.samples.iter().map(|s| s.modes.iter().map(|m| contact_mode_word(*m)).collect()).collect();
    out.set_item("mode", modes)?;
    out.set_item("energy", PyArray1::from_vec(py, run.samples.iter().map(|s| s.energy).collect()))?;
    let events = PyList::empty(py);
    for event in &run.events {
        let entry = PyDict::new(py);
        entry.set_item("t", event.t)?;
        entry.set_item("kind", event.kind.name())?;
        entry.set_item("contact", &event.contact)?;
        entry.set_item("impulse", event.impulse.clone())?;
        entry.set_item("energy_change", event.energy_change)?;
        events.append(entry)?;
    }
    out.set_item("events", events)?;
    out.set_item("t_end", run.state.t)?;
    out.set_item("final_position", PyArray1::from_slice(py, &run.state.q))?;
    out.set_item("final_velocity", PyArray1::from_slice(py, &run.state.v))?;
    out.set_item("done", run.ending == Ending::Done)?;
    out.set_item("ending", run.ending.to_string())?;
    Ok(out.into_any().unbind())
}
