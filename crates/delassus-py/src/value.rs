//! JSON documents as Python objects.

use delassus::analysis::SystemAnalysis;
use delassus_report::{Style, analysis_document, analysis_text};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::Value;

/// Dictionaries, lists, strings, numbers and `None`.
pub fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(x) => x.into_pyobject(py)?.to_owned().into_any(),
        Value::Number(x) => match x.as_i64() {
            Some(x) => x.into_pyobject(py)?.into_any(),
            None => x.as_f64().into_pyobject(py)?.into_any(),
        },
        Value::String(x) => x.into_pyobject(py)?.into_any(),
        Value::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(to_python(py, item)?)?;
            }
            list.into_any()
        }
        Value::Object(items) => {
            let dict = PyDict::new(py);
            for (key, item) in items {
                dict.set_item(key, to_python(py, item)?)?;
            }
            dict.into_any()
        }
    })
}

/// The document and the report of an analysis.
pub fn reported(py: Python<'_>, result: &SystemAnalysis) -> PyResult<(Py<PyAny>, String)> {
    let document = to_python(py, &analysis_document(result))?.unbind();
    Ok((document, analysis_text(result, Style::plain())))
}
