//! JSON documents as Python objects.

use delassus::analysis::SystemAnalysis;
use delassus_report::{Style, analysis_certificate, analysis_document, analysis_text};
use delassus_verify::verify;
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

/// A certificate that was checked; none where it proves nothing.
pub fn certificate_of(certificate: Option<Value>) -> Option<Value> {
    certificate.filter(|certificate| verify(certificate).is_ok())
}

/// The document and the report of an analysis, and its certificate where one is wanted and proves something.
pub fn reported(
    py: Python<'_>,
    result: &SystemAnalysis,
    certificate: bool,
) -> PyResult<(Py<PyAny>, String, Option<Py<PyAny>>)> {
    let document = to_python(py, &analysis_document(result))?.unbind();
    let found = if certificate { analysis_certificate(result).map(|(found, _)| found) } else { None };
    let found = certificate_of(found).map(|found| to_python(py, &found).map(Bound::unbind)).transpose()?;
    Ok((document, analysis_text(result, Style::plain()), found))
}
