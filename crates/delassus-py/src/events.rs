//! Event-driven motion: of systems, and of worlds as systems.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use delassus::events::{EventOptions, Indeterminate, WorldSystem, run_events, world_system};
use delassus::lagrangian::{State, System};
use delassus::simulation::{WorldAsSystem, explore};
use delassus::world::{World, WorldState};
use delassus_report::{Style, exploration_document, exploration_text};
use delassus_scene::WorldFile;
use delassus_solve::impact::ImpactLaw;
use pyo3::prelude::*;

use crate::error::{scene_error, scene_message, value_error};
use crate::source::Source;
use crate::trajectory::trajectory;
use crate::value::to_python;
use crate::wait::{Shared, waiting};

/// How a motion is asked for.
#[derive(FromPyObject)]
pub struct Request {
    t_end: Option<f64>,
    times: Vec<f64>,
    tolerance: Option<f64>,
    impact_law: Option<String>,
    impact_at_start: Option<bool>,
    indeterminate: Option<String>,
    max_events: Option<usize>,
    depth: usize,
}

/// What moves, and how its file moves it.
pub struct Subject {
    pub system: Arc<System>,
    pub state: State,
    pub t_end: f64,
    pub breakpoints: Vec<f64>,
    pub impact_law: Option<ImpactLaw>,
    pub impact_at_start: bool,
    pub world: Option<(World, WorldState, WorldSystem)>,
}

impl Subject {
    /// A world, its loops closed, as a system.
    pub fn of_world(file: &WorldFile, source: &Source) -> PyResult<Subject> {
        let mut file = file.clone();
        file.close_loops(&source.text).map_err(|e| scene_error(&e, &source.name, &source.text))?;
        let as_system = world_system(&file.world, &file.state).map_err(|e| scene_message(&source.name, e))?;
        Ok(Subject {
            system: Arc::new(as_system.system.clone()),
            state: as_system.state.clone(),
            t_end: file.simulation.t_end.unwrap_or(file.state.t + 1.0),
            breakpoints: vec![],
            impact_law: None,
            impact_at_start: file.simulation.impact_at_start,
            world: Some((file.world, file.state, as_system)),
        })
    }

    fn options(&self, request: Request, interrupt: Arc<AtomicBool>) -> PyResult<EventOptions> {
        let defaults = EventOptions::default();
        let law = match request.impact_law {
            None => self.impact_law.clone().unwrap_or(ImpactLaw::Moreau),
            Some(name) => match (name.parse::<ImpactLaw>().map_err(value_error)?, &self.impact_law) {
                (ImpactLaw::Newton, Some(matrix @ ImpactLaw::NewtonMatrix(_))) => matrix.clone(),
                (law, _) => law,
            },
        };
        let indeterminate = match request.indeterminate.as_deref() {
            None | Some("detach") => Indeterminate::Detach,
            Some("stop") => Indeterminate::Stop,
            Some(other) => {
                return Err(value_error(format!(
                    "indeterminate: expected \"detach\" or \"stop\", found \"{other}\""
                )));
            }
        };
        Ok(EventOptions {
            t_end: request.t_end.unwrap_or(self.t_end),
            tolerance: request.tolerance.unwrap_or(defaults.tolerance),
            law,
            impact_at_start: request.impact_at_start.unwrap_or(self.impact_at_start),
            indeterminate,
            max_events: request.max_events.unwrap_or(defaults.max_events),
            breakpoints: self.breakpoints.clone(),
            sample_times: request.times,
            interrupt: Some(interrupt),
            ..defaults
        })
    }

    /// The motion.
    pub fn run(self, py: Python<'_>, name: &str, request: Request) -> PyResult<Py<PyAny>> {
        let shared = Shared::default();
        let options = self.options(request, shared.interrupt.clone())?;
        let (system, state) = (self.system.clone(), self.state);
        let run = waiting(py, &shared, None, move || run_events(&system, &state, &options))?;
        trajectory(py, &self.system, &run.map_err(|error| scene_message(name, error))?)
    }

    /// All motions: the document and the report.
    pub fn explore(self, py: Python<'_>, name: &str, request: Request) -> PyResult<(Py<PyAny>, String)> {
        if !(1..=64).contains(&request.depth) {
            return Err(value_error(format!("depth: expected 1 to 64, found {}", request.depth)));
        }
        let (shared, depth) = (Shared::default(), request.depth);
        let options = self.options(request, shared.interrupt.clone())?;
        let system = self.system.clone();
        let found = waiting(py, &shared, None, move || {
            let world = self.world.as_ref().map(|(world, start, as_system)| WorldAsSystem {
                world,
                start,
                as_system,
            });
            explore(&self.system, &self.state, world, &options, depth)
        })?;
        let found = found.map_err(|error| scene_message(name, error))?;
        let document = to_python(py, &exploration_document(&system, &found, &[]))?.unbind();
        Ok((document, exploration_text(&system, &found, Style::plain())))
    }
}
