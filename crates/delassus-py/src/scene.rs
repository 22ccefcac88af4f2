//! Systems and worlds from files: what they are, analyzed at their state, and a system in motion.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use delassus::analysis::{analyze_world, analyze_written};
use delassus::events::{EventOptions, Indeterminate, run_events};
use delassus::lagrangian::Tolerances;
use delassus_scene::{
    ImportOptions, Imported, MAX_FILE, SceneFile, SystemFile, WorldFile, read_scene, read_xml_with,
};
use delassus_solve::impact::ImpactLaw;
use delassus_solve::modes::EnumerateOptions;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{read_error, scene_error, scene_message, value_error};
use crate::simulation::Simulation;
use crate::trajectory::trajectory;
use crate::value::reported;

/// Values of parameters by name: numbers, or texts with a unit.
type Parameters<'py> = Option<BTreeMap<String, Bound<'py, PyAny>>>;

/// Numbers with all their digits, texts as they are.
fn texts(parameters: Parameters<'_>) -> PyResult<Vec<(String, String)>> {
    let text = |value: &Bound<'_, PyAny>| match value.extract::<f64>() {
        Ok(number) => Ok(format!("{number:?}")),
        Err(_) => value.extract::<String>(),
    };
    parameters.unwrap_or_default().into_iter().map(|(name, value)| Ok((name, text(&value)?))).collect()
}

/// Where a text came from.
#[derive(Clone)]
struct Source {
    /// The name of the file, for messages.
    name: String,
    /// Its text.
    text: String,
    folder: Option<PathBuf>,
}

impl Source {
    fn of_file(path: &Path) -> PyResult<Source> {
        let size = std::fs::metadata(path).map_err(|e| read_error(path, e))?.len();
        if size > MAX_FILE as u64 {
            let name = path.display().to_string();
            return Err(scene_message(
                &name,
                format!("{size} bytes are too many, expected at most {MAX_FILE}"),
            ));
        }
        let text = std::fs::read_to_string(path).map_err(|e| read_error(path, e))?;
        Ok(Source { name: path.display().to_string(), text, folder: path.parent().map(Path::to_path_buf) })
    }

    fn of_text(text: String) -> Source {
        Source { name: "<text>".into(), text, folder: None }
    }

    fn is_xml(&self) -> bool {
        let extension = Path::new(&self.name).extension();
        extension.is_some_and(|e| e.eq_ignore_ascii_case("xml") || e.eq_ignore_ascii_case("urdf"))
    }
}

/// A system or a world.
enum Scene {
    System(Box<SystemFile>),
    World(Box<WorldFile>, Vec<String>),
}

fn read(source: &Source, parameters: Parameters<'_>, import: &ImportOptions) -> PyResult<Scene> {
    let values = texts(parameters)?;
    let wrong = |error| scene_error(&error, &source.name, &source.text);
    if source.is_xml() {
        if let Some((name, _)) = values.first() {
            return Err(scene_message(
                &source.name,
                format!("cannot set `{name}`: URDF and MJCF have no parameters"),
            ));
        }
        let Imported { file, not_read } =
            read_xml_with(&source.text, source.folder.as_deref(), import).map_err(wrong)?;
        return Ok(Scene::World(Box::new(file), not_read));
    }
    if *import != ImportOptions::default() {
        let message = "keyframe, controls, packages and fixed_base belong to URDF and MJCF files";
        return Err(scene_message(&source.name, message));
    }
    let values: Vec<(&str, &str)> = values.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    match read_scene(&source.text, source.folder.as_deref(), &values).map_err(wrong)? {
        SceneFile::System(file) => Ok(Scene::System(file)),
        SceneFile::World(file) => Ok(Scene::World(file, vec![])),
    }
}

/// How URDF and MJCF files are read.
fn import_options(
    keyframe: Option<String>,
    controls: Option<BTreeMap<String, f64>>,
    packages: Option<BTreeMap<String, PathBuf>>,
    fixed_base: Option<bool>,
) -> ImportOptions {
    ImportOptions {
        packages: packages.unwrap_or_default().into_iter().collect(),
        fixed_base,
        keyframe,
        controls: controls.unwrap_or_default().into_iter().collect(),
        ..ImportOptions::default()
    }
}

/// A system or a world from a file.
#[pyfunction]
#[pyo3(signature = (path, parameters=None, *, keyframe=None, controls=None, packages=None, fixed_base=None))]
pub fn load(
    py: Python<'_>,
    path: PathBuf,
    parameters: Parameters<'_>,
    keyframe: Option<String>,
    controls: Option<BTreeMap<String, f64>>,
    packages: Option<BTreeMap<String, PathBuf>>,
    fixed_base: Option<bool>,
) -> PyResult<Py<PyAny>> {
    let source = Source::of_file(&path)?;
    let import = import_options(keyframe, controls, packages, fixed_base);
    Ok(match read(&source, parameters, &import)? {
        Scene::System(file) => Py::new(py, System { file: *file, source })?.into_any(),
        Scene::World(file, not_read) => Py::new(py, World { file: *file, source, not_read })?.into_any(),
    })
}

fn analysis_options(
    tolerances: Option<(f64, f64)>,
    max_modes: Option<u64>,
) -> (Tolerances, EnumerateOptions) {
    let defaults = EnumerateOptions::default();
    (
        tolerances.map_or(Tolerances::default(), |(position, velocity)| Tolerances { position, velocity }),
        max_modes.map_or(defaults, |max_modes| EnumerateOptions { max_modes }),
    )
}

/// A Lagrangian system with the state of its file.
#[pyclass(module = "delassus._delassus", frozen)]
pub struct System {
    file: SystemFile,
    source: Source,
}

#[pymethods]
impl System {
    #[staticmethod]
    #[pyo3(signature = (text, parameters=None))]
    fn from_text(text: String, parameters: Parameters<'_>) -> PyResult<System> {
        let source = Source::of_text(text);
        match read(&source, parameters, &ImportOptions::default())? {
            Scene::System(file) => Ok(System { file: *file, source }),
            Scene::World(..) => Err(scene_message(&source.name, "expected a [system], found a [world]")),
        }
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

    #[pyo3(signature = (tolerances=None, max_modes=None))]
    fn analyze(
        &self,
        py: Python<'_>,
        tolerances: Option<(f64, f64)>,
        max_modes: Option<u64>,
    ) -> PyResult<(Py<PyAny>, String)> {
        let (tolerances, options) = analysis_options(tolerances, max_modes);
        let SystemFile { system, state, exact_state, .. } = &self.file;
        let result = py
            .detach(|| analyze_written(system, state, exact_state, &tolerances, &options))
            .map_err(|error| {
                scene_error(
                    &self.file.explain(error, &self.source.text),
                    &self.source.name,
                    &self.source.text,
                )
            })?;
        reported(py, &result)
    }

    #[pyo3(signature = (t_end=None, times=None, *, tolerance=None, impact_law=None, impact_at_start=None, indeterminate=None, max_events=None))]
    #[expect(clippy::too_many_arguments, reason = "the keywords of the call")]
    fn run(
        &self,
        py: Python<'_>,
        t_end: Option<f64>,
        times: Option<Vec<f64>>,
        tolerance: Option<f64>,
        impact_law: Option<String>,
        impact_at_start: Option<bool>,
        indeterminate: Option<&str>,
        max_events: Option<usize>,
    ) -> PyResult<Py<PyAny>> {
        let SystemFile { system, state, simulation, impact_law: of_file, .. } = &self.file;
        let defaults = EventOptions::default();
        let law = match impact_law {
            None => of_file.clone().unwrap_or(ImpactLaw::Moreau),
            Some(name) => match (name.parse::<ImpactLaw>().map_err(value_error)?, of_file) {
                (ImpactLaw::Newton, Some(matrix @ ImpactLaw::NewtonMatrix(_))) => matrix.clone(),
                (law, _) => law,
            },
        };
        let indeterminate = match indeterminate {
            None | Some("detach") => Indeterminate::Detach,
            Some("stop") => Indeterminate::Stop,
            Some(other) => {
                return Err(value_error(format!(
                    "indeterminate: expected \"detach\" or \"stop\", found \"{other}\""
                )));
            }
        };
        let options = EventOptions {
            t_end: t_end.unwrap_or(self.t_end()),
            tolerance: tolerance.unwrap_or(defaults.tolerance),
            law,
            impact_at_start: impact_at_start.unwrap_or(simulation.impact_at_start),
            indeterminate,
            max_events: max_events.unwrap_or(defaults.max_events),
            breakpoints: simulation.breakpoints.clone(),
            sample_times: times.unwrap_or_default(),
            ..defaults
        };
        let run = py.detach(|| run_events(system, state, &options));
        let run = run.map_err(|error| scene_message(&self.source.name, error))?;
        trajectory(py, system, &run)
    }

    fn __repr__(&self) -> String {
        let s = &self.file.system;
        let (n, c, j) = (s.coordinates.len(), s.contacts.len(), s.joints.len());
        format!("<delassus.System \"{}\": {n} coordinates, {j} joints, {c} contacts>", s.name)
    }
}

/// A world of rigid bodies with the state of its file.
#[pyclass(module = "delassus._delassus", frozen)]
pub struct World {
    file: WorldFile,
    source: Source,
    not_read: Vec<String>,
}

#[pymethods]
impl World {
    #[staticmethod]
    #[pyo3(signature = (text, parameters=None))]
    fn from_text(text: String, parameters: Parameters<'_>) -> PyResult<World> {
        let source = Source::of_text(text);
        match read(&source, parameters, &ImportOptions::default())? {
            Scene::World(file, not_read) => Ok(World { file: *file, source, not_read }),
            Scene::System(_) => Err(scene_message(&source.name, "expected a [world], found a [system]")),
        }
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

    #[pyo3(signature = (tolerances=None, max_modes=None))]
    fn analyze(
        &self,
        py: Python<'_>,
        tolerances: Option<(f64, f64)>,
        max_modes: Option<u64>,
    ) -> PyResult<(Py<PyAny>, String)> {
        let (tolerances, options) = analysis_options(tolerances, max_modes);
        let WorldFile { world, state, .. } = &self.file;
        let result = py.detach(|| analyze_world(world, state, &tolerances, &options));
        reported(py, &result.map_err(|error| scene_message(&self.source.name, error))?)
    }

    #[pyo3(signature = (**options))]
    fn simulate(&self, py: Python<'_>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Simulation> {
        Simulation::start(py, self.file.clone(), &self.source.name, options)
    }

    fn __repr__(&self) -> String {
        let w = &self.file.world;
        format!("<delassus.World \"{}\": {} bodies, {} joints>", w.name, w.bodies.len(), w.joints.len())
    }
}
