//! Scenes for Python: a system or a world, whichever a source describes.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use delassus_scene::ImportOptions;
use pyo3::prelude::*;

use crate::source::{Parameters, Parts, Scene, Source};
use crate::system::System;
use crate::world::World;

fn into_python(py: Python<'_>, source: Source) -> PyResult<Py<PyAny>> {
    let (scene, source) = (source.read()?, Arc::new(source));
    Ok(match scene {
        Scene::System(file) => Py::new(py, System::new(*file, source))?.into_any(),
        Scene::World(file, not_read) => Py::new(py, World::new(*file, source, not_read))?.into_any(),
    })
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
    let import = ImportOptions {
        packages: packages.unwrap_or_default().into_iter().collect(),
        fixed_base,
        keyframe,
        controls: controls.unwrap_or_default().into_iter().collect(),
        ..ImportOptions::default()
    };
    into_python(py, Source::of_file(&path, parameters, import)?)
}

/// A system or a world from the parts of its source.
#[pyfunction]
pub fn from_parts(py: Python<'_>, parts: Parts) -> PyResult<Py<PyAny>> {
    into_python(py, Source::of_parts(parts))
}
