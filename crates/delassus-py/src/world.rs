//! Worlds of rigid bodies: what they are, analyzed at their state, over parameters, and in motion.

use std::sync::Arc;

use delassus::analysis::analyze_world;
use delassus_scene::WorldFile;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::scene_message;
use crate::events::{Request as Motion, Subject};
use crate::grid::{self, Request as Points};
use crate::options::analysis_options;
use crate::simulation::Simulation;
use crate::source::{Parameters, Parts, Scene, Source};
use crate::standing::{Answer, HoldRequest, StandRequest, holds, stands};
use crate::value::reported;
use crate::wait::{Shared, waiting};

/// A world of rigid bodies with the state of its file.
#[pyclass(module = "delassus._delassus", frozen)]
pub struct World {
    file: Arc<WorldFile>,
    source: Arc<Source>,
    not_read: Vec<String>,
}

impl World {
    /// A world that was read.
    pub fn new(file: WorldFile, source: Arc<Source>, not_read: Vec<String>) -> Self {
        World { file: Arc::new(file), source, not_read }
    }
}

#[pymethods]
impl World {
    #[staticmethod]
    #[pyo3(signature = (text, parameters=None))]
    fn from_text(text: String, parameters: Parameters<'_>) -> PyResult<World> {
        let source = Source::of_text(text, parameters)?;
        match source.read()? {
            Scene::World(file, not_read) => Ok(World::new(*file, Arc::new(source), not_read)),
            Scene::System(_) => Err(scene_message(&source.name, "expected a [world], found a [system]")),
        }
    }

    /// What the world is read from.
    fn parts(&self) -> Parts {
        self.source.parts()
    }

    #[getter]
    fn name(&self) -> &str {
        &self.file.world.name
    }

    #[getter]
    fn file(&self) -> &str {
        &self.source.name
    }

    #[getter]
    fn parameters(&self) -> Vec<(String, f64)> {
        self.file.parameters.clone()
    }

    #[getter]
    fn bodies(&self) -> Vec<String> {
        self.file.world.bodies.iter().map(|b| b.name.clone()).collect()
    }

    #[getter]
    fn joints(&self) -> Vec<String> {
        self.file.world.joints.iter().map(|j| j.name.clone()).collect()
    }

    #[getter]
    fn not_read(&self) -> Vec<String> {
        self.not_read.clone()
    }

    #[getter]
    fn t_start(&self) -> f64 {
        self.file.state.t
    }

    /// The end of the file, or 1 s after the start.
    #[getter]
    fn t_end(&self) -> f64 {
        self.file.simulation.t_end.unwrap_or(self.file.state.t + 1.0)
    }

    #[pyo3(signature = (tolerances=None, max_modes=None, certificate=false))]
    fn analyze(
        &self,
        py: Python<'_>,
        tolerances: Option<(f64, f64)>,
        max_modes: Option<u64>,
        certificate: bool,
    ) -> PyResult<Answer> {
        let (tolerances, options) = analysis_options(tolerances, max_modes)?;
        let file = self.file.clone();
        let result = waiting(py, &Shared::default(), None, move || {
            analyze_world(&file.world, &file.state, &tolerances, &options)
        })?;
        reported(py, &result.map_err(|error| scene_message(&self.source.name, error))?, certificate)
    }

    fn stand(&self, py: Python<'_>, request: StandRequest) -> PyResult<Answer> {
        stands(py, &self.file, &self.source.name, request)
    }

    fn hold(&self, py: Python<'_>, request: HoldRequest) -> PyResult<Answer> {
        holds(py, &self.file, &self.source.name, request)
    }

    fn grid(&self, py: Python<'_>, request: Points<'_>) -> PyResult<Py<PyAny>> {
        Ok(grid::evaluate(py, &self.source, None, request)?.into_pyobject(py)?.into_any().unbind())
    }

    fn run(&self, py: Python<'_>, request: Motion) -> PyResult<Py<PyAny>> {
        Subject::of_world(&self.file, &self.source)?.run(py, &self.source.name, request)
    }

    fn explore(&self, py: Python<'_>, request: Motion) -> PyResult<(Py<PyAny>, String)> {
        Subject::of_world(&self.file, &self.source)?.explore(py, &self.source.name, request)
    }

    #[pyo3(signature = (**options))]
    fn simulate(&self, py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Simulation> {
        Simulation::start(py, &self.file, self.source.clone(), options)
    }

    fn __repr__(&self) -> String {
        let w = &self.file.world;
        format!("<delassus.World \"{}\": {} bodies, {} joints>", w.name, w.bodies.len(), w.joints.len())
    }
}
