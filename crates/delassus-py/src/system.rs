//! Lagrangian systems: what they are, analyzed at their state, over parameters, and in motion.

use std::sync::Arc;

use delassus::analysis::{PavingQuestion, Question, analyze_written};
use delassus::lagrangian::{ExactState, Names, State, Tolerances};
use delassus_report::{
    Axis, Style, paving_certificate, paving_document, paving_text, safe_document, safe_text,
};
use delassus_scene::{SafeTextError, SystemFile, pave_text, paving_proof_of, safe_interval_of};
use pyo3::prelude::*;

use crate::error::{scene_error, scene_message, value_error};
use crate::events::{Request as Motion, Subject};
use crate::grid::{self, Request as Points};
use crate::options::analysis_options;
use crate::source::{Parameters, Parts, Scene, Source};
use crate::standing::Answer;
use crate::value::{certificate_of, reported, to_python};
use crate::wait::{Shared, waiting};

/// Time, positions, velocities.
type Moment = (f64, Vec<f64>, Vec<f64>);

/// A Lagrangian system with the state of its file.
#[pyclass(module = "delassus._delassus", frozen)]
pub struct System {
    file: Arc<SystemFile>,
    source: Arc<Source>,
    /// Whether the state is that of the text.
    as_written: bool,
}

impl System {
    /// A system that was read.
    pub fn new(file: SystemFile, source: Arc<Source>) -> Self {
        System { file: Arc::new(file), source, as_written: true }
    }

    fn subject(&self) -> Subject {
        let SystemFile { system, state, simulation, impact_law, .. } = &*self.file;
        Subject {
            system: Arc::new(system.clone()),
            state: state.clone(),
            t_end: self.t_end(),
            breakpoints: simulation.breakpoints.clone(),
            impact_law: impact_law.clone(),
            impact_at_start: simulation.impact_at_start,
            world: None,
        }
    }

    /// The text has its own state.
    fn check_as_written(&self, what: &str) -> PyResult<()> {
        if self.as_written {
            return Ok(());
        }
        let message = "reads the state of the file for every value: use parameters in the place of `at`";
        Err(value_error(format!("{what} {message}")))
    }
}

#[pymethods]
impl System {
    #[staticmethod]
    #[pyo3(signature = (text, parameters=None))]
    fn from_text(text: String, parameters: Parameters<'_>) -> PyResult<System> {
        let source = Source::of_text(text, parameters)?;
        match source.read()? {
            Scene::System(file) => Ok(System::new(*file, Arc::new(source))),
            Scene::World(..) => Err(scene_message(&source.name, "expected a [system], found a [world]")),
        }
    }

    /// The same system at another state.
    fn at(&self, t: f64, position: Vec<f64>, velocity: Vec<f64>) -> PyResult<System> {
        let n = self.file.system.coordinates.len();
        for (what, values) in [("position", &position), ("velocity", &velocity)] {
            if values.len() != n || !values.iter().all(|x| x.is_finite()) {
                let found = values.len();
                return Err(value_error(format!(
                    "{what}: expected {n} finite numbers, found {found} numbers"
                )));
            }
        }
        if !t.is_finite() {
            return Err(value_error(format!("t: expected a finite time, found {t}")));
        }
        let state = State { t, q: position, v: velocity };
        let exact_state = ExactState::from(&state);
        let mut file = (*self.file).clone();
        (file.state, file.exact_state) = (state, exact_state);
        Ok(System { file: Arc::new(file), source: self.source.clone(), as_written: false })
    }

    /// What the system is read from, and its state where that is another one.
    fn parts(&self) -> (Parts, Option<Moment>) {
        let State { t, q, v } = self.file.state.clone();
        (self.source.parts(), (!self.as_written).then_some((t, q, v)))
    }

    #[getter]
    fn name(&self) -> &str {
        &self.file.system.name
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
    fn coordinates(&self) -> Vec<String> {
        self.file.system.coordinates.clone()
    }

    #[getter]
    fn contacts(&self) -> Vec<String> {
        self.file.system.contacts.iter().map(|c| c.name.clone()).collect()
    }

    #[getter]
    fn joints(&self) -> Vec<String> {
        self.file.system.joints.iter().map(|j| j.name.clone()).collect()
    }

    #[getter]
    fn position(&self) -> Vec<f64> {
        self.file.state.q.clone()
    }

    #[getter]
    fn velocity(&self) -> Vec<f64> {
        self.file.state.v.clone()
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
            analyze_written(&file.system, &file.state, &file.exact_state, &tolerances, &options)
        })?;
        let text = &self.source.text;
        let wrong = |error| scene_error(&self.file.explain(error, text), &self.source.name, text);
        reported(py, &result.map_err(wrong)?, certificate)
    }

    /// The document and the report of the interval of a parameter in which the answer is unique.
    fn safe(
        &self,
        py: Python<'_>,
        over: String,
        within: Option<[f64; 2]>,
        for_all: Vec<(String, [f64; 2])>,
        any_slip: bool,
    ) -> PyResult<(Py<PyAny>, String)> {
        self.check_as_written("safe")?;
        let (source, names) = (self.source.clone(), Names::of(&self.file.system));
        let found = waiting(py, &Shared::default(), None, move || {
            let overrides: Vec<(&str, &str)> =
                source.parameters.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
            let for_all: Vec<(&str, [f64; 2])> = for_all.iter().map(|(n, r)| (n.as_str(), *r)).collect();
            let tolerances = Tolerances::default();
            let question = Question { over: &over, within, for_all: &for_all, any_slip, tolerances };
            safe_interval_of(&source.text, &overrides, &question).map(|found| {
                (safe_document(&question, &found), safe_text(&names, &question, &found, Style::plain()))
            })
        })?;
        let (document, text) = found.map_err(|e| match e {
            SafeTextError::File(e) => scene_error(&e, &self.source.name, &self.source.text),
            e => scene_message(&self.source.name, e),
        })?;
        Ok((to_python(py, &document)?.unbind(), text))
    }

    /// The document and the report of a box of parameters in cells.
    // One argument for each option of the command.
    #[expect(clippy::too_many_arguments)]
    fn pave(
        &self,
        py: Python<'_>,
        over: Vec<(String, [f64; 2])>,
        for_all: Vec<(String, [f64; 2])>,
        any_slip: bool,
        any_load: bool,
        cycle: bool,
        boxes: usize,
        certificate: bool,
    ) -> PyResult<Answer> {
        self.check_as_written("safe")?;
        let (source, names) = (self.source.clone(), Names::of(&self.file.system));
        let found = waiting(py, &Shared::default(), None, move || {
            let overrides: Vec<(&str, &str)> =
                source.parameters.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
            let [over, for_all] = [&over, &for_all]
                .map(|list| list.iter().map(|(n, r)| (n.as_str(), *r)).collect::<Vec<(&str, [f64; 2])>>());
            let tolerances = Tolerances::default();
            let question = PavingQuestion {
                over: &over,
                for_all: &for_all,
                any_slip,
                any_load,
                cycle,
                boxes,
                tolerances,
            };
            let axis = |(name, range): &(&str, [f64; 2])| Axis {
                name: (*name).to_owned(),
                values: range.to_vec(),
                unit: None,
            };
            let axes: Vec<Axis> = over.iter().map(axis).collect();
            let found = pave_text(&source.text, &overrides, &question)?;
            let text = paving_text(&names, &question, &found, &axes, Style::plain());
            let certificate = if certificate {
                let (family, proof) = paving_proof_of(&source.text, &overrides, &question, &found)?;
                certificate_of(paving_certificate(&family, &question, &found, &proof))
            } else {
                None
            };
            Ok((paving_document(&question, &found), text, certificate))
        })?;
        let (document, text, certificate) = found.map_err(|e| match e {
            SafeTextError::File(e) => scene_error(&e, &self.source.name, &self.source.text),
            e => scene_message(&self.source.name, e),
        })?;
        let certificate = certificate.map(|c| to_python(py, &c).map(Bound::unbind)).transpose()?;
        Ok((to_python(py, &document)?.unbind(), text, certificate))
    }

    fn grid(&self, py: Python<'_>, request: Points<'_>) -> PyResult<Py<PyAny>> {
        self.check_as_written("map")?;
        let names = Names::of(&self.file.system);
        Ok(grid::evaluate(py, &self.source, Some(&names), request)?.into_pyobject(py)?.into_any().unbind())
    }

    fn run(&self, py: Python<'_>, request: Motion) -> PyResult<Py<PyAny>> {
        self.subject().run(py, &self.source.name, request)
    }

    fn explore(&self, py: Python<'_>, request: Motion) -> PyResult<(Py<PyAny>, String)> {
        self.subject().explore(py, &self.source.name, request)
    }

    fn __repr__(&self) -> String {
        let s = &self.file.system;
        let (n, c, j) = (s.coordinates.len(), s.contacts.len(), s.joints.len());
        format!("<delassus.System \"{}\": {n} coordinates, {j} joints, {c} contacts>", s.name)
    }
}
