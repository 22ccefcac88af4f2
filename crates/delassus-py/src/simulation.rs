//! A world in motion.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use delassus::analysis::analyze_world;
use delassus::simulation::{
    BodyKey, Changed, ContactForce, JointKey, RunReport, Simulation as Inner, SimulationError,
    Snapshot as InnerSnapshot, Uniqueness,
};
use delassus::stepping::ContactEvent;
use delassus::world::{BodyId, JointId, Pose, Scene};
use delassus_page::event_words;
use delassus_report::{failure_text, mode_word};
use delassus_scene::{Integrator, WorldFile};
use numpy::PyArrayDyn;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::array::{rotation, shaped, vec3, wxyz};
use crate::error::{scene_message, simulation_error, value_error};
use crate::frames::Frames;
use crate::options::{analysis_options, step_keywords, step_options};
use crate::page::motion_page;
use crate::saved::Saved;
use crate::source::{Parts, Source};
use crate::standing::Answer;
use crate::value::reported;
use crate::wait::{BETWEEN_SIGNALS, Shared, detached, waiting};

/// A body by its name or its number.
#[derive(FromPyObject)]
pub enum Key {
    Number(usize),
    Name(String),
}

impl Key {
    fn body(&self) -> BodyKey<'_> {
        match self {
            Key::Number(n) => BodyKey::Id(BodyId::new(*n)),
            Key::Name(name) => BodyKey::Name(name),
        }
    }

    fn joint(&self) -> JointKey<'_> {
        match self {
            Key::Number(n) => JointKey::Id(JointId::new(*n)),
            Key::Name(name) => JointKey::Name(name),
        }
    }
}

/// A world in motion: owns its model and its state.
#[pyclass(module = "delassus._delassus")]
pub struct Simulation {
    inner: Inner,
    t_end: Option<f64>,
    source: Arc<Source>,
    /// What was set of actuators, the last for each: joint, actuator, value.
    controls: Vec<(usize, usize, f64)>,
}

/// All that a simulation needs to go on with the same bits.
#[pyclass(module = "delassus._delassus", frozen)]
pub struct Snapshot {
    pub inner: InnerSnapshot,
    t_end: Option<f64>,
    source: Arc<Source>,
    controls: Vec<(usize, usize, f64)>,
}

#[pymethods]
impl Snapshot {
    #[getter]
    fn time(&self) -> f64 {
        self.inner.time()
    }

    fn __repr__(&self) -> String {
        format!("<delassus.Snapshot at {} s>", self.inner.time())
    }
}

fn refused<T>(result: Result<T, SimulationError>) -> PyResult<T> {
    result.map_err(|error| simulation_error(&error))
}

impl Simulation {
    /// Starts where the file stands.
    pub fn start(
        py: Python<'_>,
        file: &WorldFile,
        source: Arc<Source>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Simulation> {
        let WorldFile { world, state, simulation, .. } = file.clone();
        if simulation.integrator == Some(Integrator::EventDriven) {
            let message = "asks for event-driven integration (`World.run`); a simulation steps in time";
            return Err(scene_message(&source.name, message));
        }
        let options = step_options(simulation.step_options(), options)?;
        let inner = refused(detached(py, || Inner::new(Scene { world, state }, options)))?;
        Ok(Simulation { inner, t_end: simulation.t_end, source, controls: vec![] })
    }

    /// The contacts before the first step: those of the last one, or of the instant where there was none.
    fn contacts_at_start(&self, wanted: bool) -> Vec<ContactForce> {
        if !wanted {
            return vec![];
        }
        match self.inner.report() {
            Some(_) => self.inner.contacts(),
            None => self.inner.contacts_now().unwrap_or_default(),
        }
    }

    /// What was set of an actuator.
    fn keep_control(&mut self, joint: usize, actuator: usize, value: f64) {
        self.controls.retain(|(j, a, _)| (*j, *a) != (joint, actuator));
        self.controls.push((joint, actuator, value));
    }

    /// The simulation that a snapshot goes on as.
    pub fn inner_of(snapshot: &InnerSnapshot) -> PyResult<Inner> {
        refused(Inner::from_snapshot(snapshot))
    }
}

/// One number per component of each body, in order.
pub fn body_numbers<const N: usize>(sim: &Inner, of: impl Fn(usize) -> [f64; N]) -> Vec<f64> {
    (0..sim.state().bodies.len()).flat_map(of).collect()
}

/// The frame in which a body was written.
pub fn frame(sim: &Inner, i: usize) -> Pose {
    sim.state().bodies[i].pose.compose(&sim.world().bodies[i].frame)
}

/// A contact with its force as a dictionary.
fn contact(py: Python<'_>, c: &ContactForce) -> PyResult<Py<PyAny>> {
    let out = PyDict::new(py);
    out.set_item("name", &c.name)?;
    out.set_item("bodies", (&c.body_names[0], &c.body_names[1]))?;
    out.set_item("point", c.point.to_array())?;
    out.set_item("normal", c.normal.to_array())?;
    out.set_item("gap", c.gap)?;
    out.set_item("force", c.force.to_array())?;
    out.set_item("normal_force", c.normal_force)?;
    out.set_item("friction", c.friction.to_array())?;
    out.set_item("mode", mode_word(c.mode))?;
    let (unique, interval) = match c.unique {
        Uniqueness::Unique => (Some(true), None),
        Uniqueness::Interval { least, largest } => (Some(false), Some((least, largest))),
        Uniqueness::Unknown => (None, None),
    };
    out.set_item("unique", unique)?;
    out.set_item("interval", interval)?;
    Ok(out.into_any().unbind())
}

/// What the steps of a call add up to.
fn run_report(py: Python<'_>, sim: &Inner, report: &RunReport) -> PyResult<Py<PyAny>> {
    let failure = report.first_failure.and_then(|f| f.failure);
    let failure = failure.map(|failure| failure_text(sim.world(), failure, sim.options().tolerance));
    let out = PyDict::new(py);
    out.set_item("steps", report.steps)?;
    out.set_item("unsolved_steps", report.unsolved_steps)?;
    out.set_item("first_failure_time", report.first_failure.map(|f| f.t))?;
    out.set_item("first_failure", failure)?;
    out.set_item("residual", report.residual)?;
    out.set_item("penetration", report.penetration)?;
    out.set_item("joint_error", report.joint_error)?;
    Ok(out.into_any().unbind())
}

/// Looks for Ctrl-C now and then.
struct Signals {
    looked: Instant,
}

impl Signals {
    fn new() -> Self {
        Signals { looked: Instant::now() }
    }

    /// Calls `look` with the interpreter ten times a second.
    fn after_step(&mut self, look: impl FnOnce(Python<'_>) -> PyResult<()>) -> PyResult<()> {
        if self.looked.elapsed() > BETWEEN_SIGNALS {
            self.looked = Instant::now();
            return Python::attach(|py| py.check_signals().and_then(|()| look(py)));
        }
        Ok(())
    }
}

fn event(py: Python<'_>, e: &ContactEvent) -> PyResult<Py<PyAny>> {
    let (kind, speed) = event_words(e.kind);
    let out = PyDict::new(py);
    out.set_item("t", e.t)?;
    out.set_item("kind", kind)?;
    out.set_item("contact", &e.contact)?;
    out.set_item("speed", speed)?;
    Ok(out.into_any().unbind())
}

#[pymethods]
impl Simulation {
    #[getter]
    fn time(&self) -> f64 {
        self.inner.time()
    }

    #[getter]
    fn t_end(&self) -> Option<f64> {
        self.t_end
    }

    #[getter]
    fn dt(&self) -> f64 {
        self.inner.options().dt
    }

    #[setter]
    fn set_dt(&mut self, dt: f64) -> PyResult<()> {
        refused(self.inner.set_dt(dt))
    }

    #[getter]
    fn energy(&self) -> f64 {
        self.inner.energy()
    }

    #[getter]
    fn name(&self) -> &str {
        &self.inner.world().name
    }

    #[getter]
    fn bodies(&self) -> Vec<String> {
        self.inner.world().bodies.iter().map(|b| b.name.clone()).collect()
    }

    #[getter]
    fn joints(&self) -> Vec<String> {
        self.inner.world().joints.iter().map(|j| j.name.clone()).collect()
    }

    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let sim = &self.inner;
        shaped(py, body_numbers(sim, |i| frame(sim, i).position.to_array()), &[sim.state().bodies.len(), 3])
    }

    #[getter]
    fn orientations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let sim = &self.inner;
        shaped(py, body_numbers(sim, |i| wxyz(frame(sim, i).rotation)), &[sim.state().bodies.len(), 4])
    }

    #[getter]
    fn velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let bodies = &self.inner.state().bodies;
        shaped(py, body_numbers(&self.inner, |i| bodies[i].velocity.to_array()), &[bodies.len(), 3])
    }

    #[getter]
    fn angular_velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
        let bodies = &self.inner.state().bodies;
        let numbers = body_numbers(&self.inner, |i| bodies[i].world_angular_velocity().to_array());
        shaped(py, numbers, &[bodies.len(), 3])
    }

    fn body(&self, py: Python<'_>, key: Key) -> PyResult<Py<PyAny>> {
        let view = refused(self.inner.body(key.body()))?;
        let out = PyDict::new(py);
        out.set_item("name", view.name)?;
        out.set_item("position", view.frame.position.to_array())?;
        out.set_item("orientation", wxyz(view.frame.rotation))?;
        out.set_item("centre", view.pose.position.to_array())?;
        out.set_item("velocity", view.velocity.to_array())?;
        out.set_item("angular_velocity", view.angular_velocity.to_array())?;
        Ok(out.into_any().unbind())
    }

    fn joint(&self, key: Key) -> PyResult<(f64, f64)> {
        let view = refused(self.inner.joint(key.joint()))?;
        Ok((view.position, view.velocity))
    }

    fn joint_force(&self, key: Key) -> PyResult<([f64; 3], [f64; 3])> {
        let force = refused(self.inner.joint_force(key.joint()))?;
        Ok((force.force.to_array(), force.moment.to_array()))
    }

    #[pyo3(signature = (unique=true))]
    fn contacts(&self, py: Python<'_>, unique: bool) -> PyResult<Py<PyList>> {
        let found = detached(py, || if unique { self.inner.contacts() } else { self.inner.contact_forces() });
        list_of(py, found.iter().map(|c| contact(py, c)))
    }

    fn contacts_now(&self, py: Python<'_>) -> PyResult<Py<PyList>> {
        let found = refused(detached(py, || self.inner.contacts_now()))?;
        list_of(py, found.iter().map(|c| contact(py, c)))
    }

    #[pyo3(signature = (max_modes=None, certificate=false))]
    fn analyze(&self, py: Python<'_>, max_modes: Option<u64>, certificate: bool) -> PyResult<Answer> {
        let (tolerances, options) = analysis_options(None, max_modes)?;
        let (world, state) = (self.inner.world().clone(), self.inner.state().clone());
        let result = waiting(py, &Shared::default(), None, move || {
            analyze_world(&world, &state, &tolerances, &options)
        })?;
        reported(py, &result.map_err(value_error)?, certificate)
    }

    fn set_force(&mut self, body: Key, force: [f64; 3]) -> PyResult<()> {
        refused(self.inner.set_force(body.body(), vec3(force)))
    }

    fn set_torque(&mut self, body: Key, torque: [f64; 3]) -> PyResult<()> {
        refused(self.inner.set_torque(body.body(), vec3(torque)))
    }

    fn set_force_at(&mut self, body: Key, force: [f64; 3], point: [f64; 3]) -> PyResult<()> {
        refused(self.inner.set_force_at(body.body(), vec3(force), vec3(point)))
    }

    #[pyo3(signature = (joint, value, actuator=None))]
    fn set_control(&mut self, joint: Key, value: f64, actuator: Option<usize>) -> PyResult<()> {
        refused(match actuator {
            None => self.inner.set_control(joint.joint(), value),
            Some(k) => self.inner.set_actuator(joint.joint(), k, value),
        })?;
        let id = refused(self.inner.joint_id(joint.joint()))?;
        self.keep_control(id.index(), actuator.unwrap_or(0), value);
        Ok(())
    }

    fn set_joint(&mut self, py: Python<'_>, joint: Key, position: f64, velocity: f64) -> PyResult<()> {
        refused(detached(py, || self.inner.set_joint(joint.joint(), position, velocity)))
    }

    #[getter]
    fn options(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        step_keywords(py, &self.inner.options())
    }

    #[pyo3(signature = (**options))]
    fn set_options(&mut self, options: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        let options = step_options(self.inner.options(), options)?;
        refused(self.inner.set_options(options))
    }

    #[pyo3(signature = (body, position, orientation=None))]
    fn set_pose(&mut self, body: Key, position: [f64; 3], orientation: Option<[f64; 4]>) -> PyResult<()> {
        let rotation = match orientation {
            Some(q) => rotation(q)?,
            None => refused(self.inner.body(body.body()))?.frame.rotation,
        };
        refused(self.inner.set_frame(body.body(), Pose { position: vec3(position), rotation }))
    }

    fn set_velocity(&mut self, body: Key, velocity: [f64; 3]) -> PyResult<()> {
        refused(self.inner.set_velocity(body.body(), vec3(velocity)))
    }

    fn set_angular_velocity(&mut self, body: Key, angular_velocity: [f64; 3]) -> PyResult<()> {
        refused(self.inner.set_angular_velocity(body.body(), vec3(angular_velocity)))
    }

    /// n steps without Python in between.
    #[pyo3(signature = (n=1))]
    fn step(&mut self, py: Python<'_>, n: u64) -> PyResult<Py<PyAny>> {
        let mut total = RunReport::default();
        if n > 0 {
            let (sim, total, mut signals) = (&mut self.inner, &mut total, Signals::new());
            let flow = detached(py, move || {
                sim.run_until_break(f64::INFINITY, |frame| {
                    total.add(frame.time, frame.report);
                    match signals.after_step(|_| Ok(())) {
                        Err(stop) => ControlFlow::Break(Err(stop)),
                        Ok(()) if total.steps == n => ControlFlow::Break(Ok(())),
                        Ok(()) => ControlFlow::Continue(()),
                    }
                })
            });
            if let ControlFlow::Break(stopped) = refused(flow)? {
                stopped?;
            }
        }
        run_report(py, &self.inner, &total)
    }

    /// Steps until a time; every so many steps, and at the end, a frame is kept. `progress` is called with
    /// the time, ten times a second.
    #[pyo3(signature = (t_end, every=1, contacts=false, progress=None))]
    fn run(
        &mut self,
        py: Python<'_>,
        t_end: f64,
        every: u64,
        contacts: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        if every == 0 {
            return Err(value_error("every: expected at least 1"));
        }
        if !t_end.is_finite() {
            return Err(value_error(format!("t_end: expected a finite time, found {t_end}")));
        }
        let (mut total, mut frames, mut events) = (RunReport::default(), Frames::of(&self.inner), Vec::new());
        let mut touching: Vec<Vec<ContactForce>> = vec![detached(py, || self.contacts_at_start(contacts))];
        let (sim, mut signals) = (&mut self.inner, Signals::new());
        let flow = detached(py, || {
            sim.run_until_break(t_end, |frame| {
                total.add(frame.time, frame.report);
                events.extend_from_slice(frame.events);
                frames.count(frame.report);
                if total.steps.is_multiple_of(every) {
                    frames.add(frame.state, frame.energy(), |j| frame.joint(j));
                    touching.push(if contacts { frame.contacts() } else { vec![] });
                }
                let shown = signals.after_step(|py| match &progress {
                    Some(progress) => progress.call1(py, (frame.time,)).map(|_| ()),
                    None => Ok(()),
                });
                shown.map_or_else(ControlFlow::Break, ControlFlow::Continue)
            })
        });
        if let ControlFlow::Break(stop) = refused(flow)? {
            return Err(stop);
        }
        if !total.steps.is_multiple_of(every) {
            frames.add(self.inner.state(), self.inner.energy(), |j| self.inner.joint(j));
            touching.push(if contacts { detached(py, || self.inner.contacts()) } else { vec![] });
        }
        let out = frames.into_python(py)?;
        let touching =
            touching.iter().map(|list| Ok(list_of(py, list.iter().map(|c| contact(py, c)))?.into_any()));
        out.set_item("contacts", list_of(py, touching)?)?;
        out.set_item("bodies", self.bodies())?;
        out.set_item("joints", self.joints())?;
        out.set_item("events", list_of(py, events.iter().map(|e| event(py, e)))?)?;
        out.set_item("report", run_report(py, &self.inner, &total)?)?;
        Ok(out.into_any().unbind())
    }

    /// The page of the motion of a copy until a time; this one stays where it is.
    fn page(&self, py: Python<'_>, t_end: f64) -> PyResult<String> {
        if !t_end.is_finite() {
            return Err(value_error(format!("t_end: expected a finite time, found {t_end}")));
        }
        let mut copy = Simulation::inner_of(&self.inner.save())?;
        let mut signals = Signals::new();
        let made = detached(py, || {
            motion_page(&mut copy, t_end, |_| {
                signals.after_step(|_| Ok(())).map_or_else(ControlFlow::Break, ControlFlow::Continue)
            })
        });
        match made {
            ControlFlow::Continue(page) => Ok(page),
            ControlFlow::Break(stop) => Err(stop),
        }
    }

    fn save(&self) -> Snapshot {
        let (source, controls) = (self.source.clone(), self.controls.clone());
        Snapshot { inner: self.inner.save(), t_end: self.t_end, source, controls }
    }

    fn restore(&mut self, snapshot: &Snapshot) -> PyResult<()> {
        *self = Simulation::from_snapshot(snapshot)?;
        Ok(())
    }

    #[staticmethod]
    fn from_snapshot(snapshot: &Snapshot) -> PyResult<Simulation> {
        let Snapshot { inner, t_end, source, controls } = snapshot;
        let (inner, source, controls) = (Simulation::inner_of(inner)?, source.clone(), controls.clone());
        Ok(Simulation { inner, t_end: *t_end, source, controls })
    }

    /// All that is needed to go on elsewhere: the source of the world, the options, the state and inputs.
    fn parts(&self, py: Python<'_>) -> PyResult<(Parts, Py<PyDict>, Saved)> {
        let (snapshot, bodies) = (self.inner.save(), &self.inner.world().bodies);
        let loads = bodies.iter().map(|body| body.force.map(|x| x.to_array())).collect();
        let saved = Saved::new(&snapshot, loads, self.controls.clone());
        Ok((self.source.parts(), step_keywords(py, &self.inner.options())?, saved))
    }

    /// Goes on from a state that was saved elsewhere.
    fn resume(&mut self, saved: Saved) -> PyResult<()> {
        for (i, load) in saved.loads.iter().enumerate() {
            let now = self.inner.world().bodies.get(i).map(|body| body.force.map(|x| x.to_array()));
            // Bodies that are fixed take none.
            if now != Some(*load) {
                refused(self.inner.set_force(BodyId::new(i), vec3(load[0])))?;
                refused(self.inner.set_torque(BodyId::new(i), vec3(load[1])))?;
            }
        }
        for (joint, actuator, value) in &saved.controls {
            refused(self.inner.set_actuator(JointId::new(*joint), *actuator, *value))?;
        }
        let changed = Changed::ALL.get(saved.changed).copied().unwrap_or(Changed::Positions);
        refused(self.inner.resume(saved.stepper(), saved.dt, changed))?;
        self.controls = saved.controls;
        Ok(())
    }

    fn __repr__(&self) -> String {
        let w = self.inner.world();
        let (n, t) = (w.bodies.len(), self.inner.time());
        format!(
            "<delassus.Simulation \"{}\": {n} bodies, t = {t} s, energy {} J>",
            w.name,
            self.inner.energy()
        )
    }
}

fn list_of(py: Python<'_>, items: impl Iterator<Item = PyResult<Py<PyAny>>>) -> PyResult<Py<PyList>> {
    let list = PyList::empty(py);
    for item in items {
        list.append(item?)?;
    }
    Ok(list.unbind())
}
