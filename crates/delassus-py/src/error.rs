//! Errors of the libraries as exceptions of the package, which carry their data.

use std::path::Path;

use delassus::simulation::SimulationError;
use delassus_scene::FileError;
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An instance of a class of `delassus._errors` with attributes.
fn own(
    class: &str,
    message: String,
    attributes: &[(&str, Option<String>)],
    place: Option<(usize, usize)>,
) -> PyErr {
    Python::attach(|py| {
        let build = || -> PyResult<PyErr> {
            let class = py.import("delassus._errors")?.getattr(class)?;
            let keywords = PyDict::new(py);
            for (name, value) in attributes {
                keywords.set_item(name, value)?;
            }
            if let Some((line, column)) = place {
                keywords.set_item("line", line)?;
                keywords.set_item("column", column)?;
            }
            Ok(PyErr::from_value(class.call((message,), Some(&keywords))?))
        };
        build().unwrap_or_else(|error| error)
    })
}

/// Numbers or words that make no sense.
pub fn value_error(message: impl ToString) -> PyErr {
    PyValueError::new_err(message.to_string())
}

/// An argument of the wrong kind.
pub fn type_error(message: impl ToString) -> PyErr {
    PyTypeError::new_err(message.to_string())
}

/// A scene file with an error, at its place.
pub fn scene_error(error: &FileError, file: &str, text: &str) -> PyErr {
    let message = error.render(file, text);
    let message = message.trim_end().strip_prefix("error: ").unwrap_or(message.trim_end()).to_owned();
    let at = error.other.as_ref().map_or(file, |other| other[0].as_str());
    let place = error.place.as_ref().map(|place| (place.line, place.column));
    own("SceneError", message, &[("file", Some(at.to_owned())), ("expected", error.help())], place)
}

/// A scene that cannot be analyzed or moved, without a place.
pub fn scene_message(file: &str, message: impl ToString) -> PyErr {
    own("SceneError", format!("{file}: {}", message.to_string()), &[("file", Some(file.to_owned()))], None)
}

/// A file that cannot be read.
pub fn read_error(path: &Path, error: std::io::Error) -> PyErr {
    let message = format!("{}: cannot be read: {error}", path.display());
    match error.kind() {
        std::io::ErrorKind::NotFound => PyFileNotFoundError::new_err(message),
        _ => PyOSError::new_err(message),
    }
}

/// What a simulation refuses: a name that it does not know is a `KeyError`, a number that makes no sense a
/// `ValueError`, a step that cannot be made a `SimulationError`.
pub fn simulation_error(error: &SimulationError) -> PyErr {
    let class = match error {
        SimulationError::UnknownBody { .. } | SimulationError::UnknownJoint { .. } => "UnknownNameError",
        SimulationError::Step { .. }
        | SimulationError::JointEnergy { .. }
        | SimulationError::Diverged { .. }
        | SimulationError::Open(_) => "SimulationError",
        _ => return value_error(error),
    };
    own(class, error.to_string(), &[], None)
}
