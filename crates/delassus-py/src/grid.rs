//! Quantities of a scene over values of its parameters.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use delassus::lagrangian::Names;
use delassus_report::{Axis, Cell, Grid, Quantity};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::error::{scene_error, value_error};
use crate::source::Source;
use crate::wait::{Shared, forked, waiting};

/// The numbers, or a number of a word for each point and the words; how many points pose no state.
type Column = (Option<Py<PyArray1<f64>>>, Option<Py<PyArray1<i32>>>, Vec<String>, usize);

/// Values, and the unit in which they were given with its factor.
type Values = (Py<PyArray1<f64>>, Option<(&'static str, f64)>);

/// The points of a grid that are asked for.
#[derive(FromPyObject)]
pub struct Request<'py> {
    axes: Vec<(String, PyReadonlyArray1<'py, f64>)>,
    quantities: Vec<String>,
    start: usize,
    stop: usize,
    /// All cores where it is 0.
    threads: usize,
    progress: Option<Py<PyAny>>,
}

/// `lo:hi:n` as values, with the factor of the unit in which they were given.
#[pyfunction]
pub fn axis(py: Python<'_>, name: &str, range: &str) -> PyResult<Values> {
    let axis = Axis::parse(name, range).map_err(|e| value_error(format!("{name}: {e}")))?;
    Ok((PyArray1::from_vec(py, axis.values).unbind(), axis.unit))
}

/// The columns of the points that are asked for.
pub fn evaluate(
    py: Python<'_>,
    source: &Arc<Source>,
    names: Option<&Names>,
    request: Request<'_>,
) -> PyResult<Vec<Column>> {
    let mut axes: Vec<Axis> = Vec::with_capacity(request.axes.len());
    for (name, values) in &request.axes {
        let values: Vec<f64> = values.as_array().to_vec();
        if values.is_empty() || !values.iter().all(|x| x.is_finite()) {
            return Err(value_error(format!("{name}: expected finite values, at least one")));
        }
        if axes.iter().any(|axis| axis.name == *name) {
            return Err(value_error(format!("the parameter `{name}` is on two axes")));
        }
        axes.push(Axis { name: name.clone(), values, unit: None });
    }
    let quantities = request.quantities.iter().map(|text| Quantity::parse(text, names).map_err(value_error));
    let quantities = quantities.collect::<PyResult<Vec<Quantity>>>()?;
    let grid = Grid {
        text: &source.text,
        folder: source.folder.as_deref(),
        overrides: &source.parameters,
        axes: &axes,
    };
    grid.check().map_err(|e| scene_error(&e, &source.name, &source.text))?;
    let Some(points) = grid.points() else { return Err(value_error("there are too many points")) };
    if request.start > request.stop || request.stop > points {
        let (start, stop) = (request.start, request.stop);
        return Err(value_error(format!("points {start} to {stop}: expected some of {points}")));
    }
    // A place in the document holds words where it does at the values of the file.
    let plain = Grid { axes: &[], ..grid };
    if let Some(why) = plain.refusal(&quantities) {
        return Err(value_error(why));
    }
    let base = plain.evaluate(&quantities, 0..1, 1, &|_| true).unwrap_or_default();
    let words = |k: usize| quantities[k].is_word() || matches!(base.get(k), Some(Cell::Word(_)));
    let range = request.start..request.stop;
    let threads = match request.threads {
        _ if forked() => 1,
        0 => std::thread::available_parallelism().map_or(1, |n| n.get()),
        n => n,
    };
    let (shared, source, asked) = (Shared::default(), source.clone(), quantities.clone());
    let cells = waiting(py, &shared.clone(), request.progress.as_ref(), move || {
        let grid = Grid {
            text: &source.text,
            folder: source.folder.as_deref(),
            overrides: &source.parameters,
            axes: &axes,
        };
        grid.evaluate(&asked, range, threads, &|done| {
            shared.done.fetch_add(done, Ordering::Relaxed);
            !shared.interrupt.load(Ordering::Relaxed)
        })
    })?;
    let cells = cells.unwrap_or_default();
    let column = |k: usize| cells.iter().skip(k).step_by(quantities.len());
    Ok((0..quantities.len()).map(|k| to_column(py, words(k), column(k))).collect())
}

fn to_column<'a>(py: Python<'_>, words: bool, cells: impl Iterator<Item = &'a Cell> + Clone) -> Column {
    let no_state = cells.clone().filter(|cell| **cell == Cell::NoState).count();
    if !words {
        let number = |cell: &Cell| if let Cell::Number(x) = cell { *x } else { f64::NAN };
        let numbers = PyArray1::from_vec(py, cells.map(number).collect()).unbind();
        return (Some(numbers), None, vec![], no_state);
    }
    let mut words: Vec<String> = vec![];
    let codes = cells.map(|cell| {
        let word = match cell {
            Cell::Word(word) => word.as_ref().to_owned(),
            Cell::Number(x) => x.to_string(),
            Cell::Absent | Cell::Missing => String::new(),
            Cell::NoState => "no state".into(),
        };
        let at = words.iter().position(|w| *w == word).unwrap_or_else(|| {
            words.push(word);
            words.len() - 1
        });
        at as i32
    });
    let codes = PyArray1::from_vec(py, codes.collect()).unbind();
    (None, Some(codes), words, no_state)
}
