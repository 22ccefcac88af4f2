//! Contact problems from anyone's arrays: solved, analyzed, measured.
//!
//! ```text
//! u = W r + q   or   M a + F = Jᵀ f , u = J a + γ ;   (r_i, u_i) ∈ law i
//! ```

use delassus_report::problem_document;
use delassus_solve::analysis::{ImpulseRange, analyze, impulse_range, theorems::findings};
use delassus_solve::contact::{Solution, solve};
use delassus_solve::linalg::Matrix;
use delassus_solve::modes::EnumerateOptions;
use delassus_solve::problem::{ContactProblem, ContactView, Dynamics, Form, Law, residual};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::array::{AnyMatrix, matrix, shaped, vector};
use crate::error::value_error;
use crate::options::contact_options;
use crate::value::to_python;
use crate::wait::{Shared, detached, waiting};

/// Rows up to which a solve, and constraints up to which an analysis takes less than a look for Ctrl-C.
const ROWS_AT_ONCE: usize = 60;
const LAWS_AT_ONCE: usize = 3;

/// Does work that can take long on a thread that Ctrl-C leaves behind, and other work here: a thread costs
/// more than a small solve.
fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    long: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    if long { waiting(py, &Shared::default(), None, work) } else { Ok(detached(py, work)) }
}

/// The laws of a problem: a coefficient per contact and the rows of each, or a JSON list in the form of
/// problem files.
#[derive(FromPyObject)]
pub enum Laws<'py> {
    Coulomb(usize, PyReadonlyArray1<'py, f64>),
    Written(String),
}

impl Laws<'_> {
    fn list(&self) -> PyResult<Vec<Law>> {
        match self {
            Laws::Coulomb(rows, mu) => {
                let law = |mu: &f64| match rows {
                    1 => Law::Unilateral,
                    2 => Law::CoulombPlane { mu: *mu },
                    _ => Law::Coulomb { mu: *mu },
                };
                Ok(mu.as_array().iter().map(law).collect())
            }
            Laws::Written(text) => serde_json::from_str(text).map_err(|e| value_error(format!("laws: {e}"))),
        }
    }
}

fn answer(
    py: Python<'_>,
    problem: ContactProblem,
    keywords: Option<&Bound<'_, PyDict>>,
    start: Option<PyReadonlyArray1<'_, f64>>,
) -> PyResult<Py<PyAny>> {
    let options = contact_options(keywords)?;
    let start = start.map(|x| vector(&x));
    let rows = problem.rows();
    let solved = interruptible(py, rows > ROWS_AT_ONCE, move || solve(&problem, &options, start.as_deref()))?;
    let Solution { impulse, velocity, status, iterations, residual, islands } =
        solved.map_err(value_error)?;
    let (impulse, velocity) = (PyArray1::from_vec(py, impulse), PyArray1::from_vec(py, velocity));
    let status = serde_json::to_value(status).ok();
    let status = status.as_ref().and_then(|s| s.as_str()).unwrap_or_default();
    Ok((impulse, velocity, status, residual, iterations, islands).into_pyobject(py)?.into_any().unbind())
}

/// Solves u = W r + q; returns impulse, velocity, status, residual, iterations and islands.
#[pyfunction]
#[pyo3(signature = (w, q, laws, start=None, **options))]
pub fn solve_local(
    py: Python<'_>,
    w: AnyMatrix<'_>,
    q: PyReadonlyArray1<'_, f64>,
    laws: Laws<'_>,
    start: Option<PyReadonlyArray1<'_, f64>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<PyAny>> {
    let form = Form::Local { delassus: w.sparse()?, free_velocity: vector(&q) };
    let problem = ContactProblem::new(laws.list()?, form).map_err(value_error)?;
    answer(py, problem, options, start)
}

/// Solves M v = f + Jᵀ r, u = J v + b.
#[pyfunction]
#[pyo3(signature = (mass, jacobian, force, bias, laws, start=None, **options))]
#[expect(clippy::too_many_arguments, reason = "the symbols of the equation")]
pub fn solve_global(
    py: Python<'_>,
    mass: AnyMatrix<'_>,
    jacobian: AnyMatrix<'_>,
    force: PyReadonlyArray1<'_, f64>,
    bias: PyReadonlyArray1<'_, f64>,
    laws: Laws<'_>,
    start: Option<PyReadonlyArray1<'_, f64>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<PyAny>> {
    let problem = global_problem(&mass, &jacobian, &force, &bias, &laws)?;
    answer(py, problem, options, start)
}

/// How far impulses are from solving u = W r + q: relative, velocity, force, power.
#[pyfunction]
pub fn residual_local(
    w: PyReadonlyArray2<'_, f64>,
    q: PyReadonlyArray1<'_, f64>,
    laws: Laws<'_>,
    impulse: PyReadonlyArray1<'_, f64>,
) -> PyResult<(f64, f64, f64, f64)> {
    let (w, q, laws, impulse) = (matrix(&w), vector(&q), laws.list()?, vector(&impulse));
    let view = ContactView::new(&w, &q, &laws).map_err(value_error)?;
    if impulse.len() != q.len() || !impulse.iter().all(|x| x.is_finite()) {
        return Err(value_error(format!("impulse: expected {} finite numbers", q.len())));
    }
    let r = residual(&view, &impulse);
    Ok((r.relative, r.velocity, r.force, r.power))
}

/// Which other impulses go with the same velocities, around a solution of M v = f + Jᵀ r, u = J v + b:
/// `None` where that is not known, an interval per row, and the impulses of least norm.
#[pyfunction]
pub fn other_impulses(
    py: Python<'_>,
    mass: AnyMatrix<'_>,
    jacobian: AnyMatrix<'_>,
    force: PyReadonlyArray1<'_, f64>,
    bias: PyReadonlyArray1<'_, f64>,
    laws: Laws<'_>,
    impulse: PyReadonlyArray1<'_, f64>,
) -> PyResult<Option<Py<PyAny>>> {
    let problem = global_problem(&mass, &jacobian, &force, &bias, &laws)?;
    let impulse = vector(&impulse);
    if impulse.len() != problem.rows() || !impulse.iter().all(|x| x.is_finite()) {
        return Err(value_error(format!("impulse: expected {} finite numbers", problem.rows())));
    }
    let range = detached(py, || impulse_range(&problem, &impulse)).map_err(value_error)?;
    let (rows, least) = match range {
        ImpulseRange::Unknown => return Ok(None),
        ImpulseRange::Unique => (impulse.iter().flat_map(|x| [*x, *x]).collect(), impulse),
        ImpulseRange::Ranges { rows, least_norm, .. } => (rows.into_iter().flatten().collect(), least_norm),
    };
    let rows = shaped(py, rows, &[problem.rows(), 2])?;
    Ok(Some((rows, PyArray1::from_vec(py, least)).into_pyobject(py)?.into_any().unbind()))
}

fn global_problem(
    mass: &AnyMatrix<'_>,
    jacobian: &AnyMatrix<'_>,
    force: &PyReadonlyArray1<'_, f64>,
    bias: &PyReadonlyArray1<'_, f64>,
    laws: &Laws<'_>,
) -> PyResult<ContactProblem> {
    let form = Form::Global {
        mass: mass.sparse()?,
        jacobian_transposed: jacobian.sparse()?.transpose(),
        force: vector(force),
        bias: vector(bias),
    };
    ContactProblem::new(laws.list()?, form).map_err(value_error)
}

fn document(py: Python<'_>, dynamics: Dynamics, max_modes: Option<u64>) -> PyResult<Py<PyAny>> {
    let options = max_modes.map_or(EnumerateOptions::default(), |max_modes| EnumerateOptions { max_modes });
    let large = dynamics.laws.len() > LAWS_AT_ONCE;
    let document = interruptible(py, large, move || {
        let mut analysis = analyze(&dynamics, &options);
        let found = findings(&dynamics, &mut analysis);
        problem_document(&dynamics, &analysis, &found)
    })?;
    Ok(to_python(py, &document)?.unbind())
}

/// Existence and uniqueness for M a + F = Jᵀ f, u = J a + γ.
#[pyfunction]
#[pyo3(signature = (mass, jacobian, force, bias, laws, max_modes=None))]
pub fn analyze_dynamics(
    py: Python<'_>,
    mass: PyReadonlyArray2<'_, f64>,
    jacobian: PyReadonlyArray2<'_, f64>,
    force: PyReadonlyArray1<'_, f64>,
    bias: PyReadonlyArray1<'_, f64>,
    laws: Laws<'_>,
    max_modes: Option<u64>,
) -> PyResult<Py<PyAny>> {
    let dynamics =
        Dynamics::new(matrix(&mass), vector(&force), matrix(&jacobian), vector(&bias), laws.list()?);
    document(py, dynamics.map_err(value_error)?, max_modes)
}

/// Existence and uniqueness for u = W f + q.
#[pyfunction]
#[pyo3(signature = (w, q, laws, max_modes=None))]
pub fn analyze_local(
    py: Python<'_>,
    w: PyReadonlyArray2<'_, f64>,
    q: PyReadonlyArray1<'_, f64>,
    laws: Laws<'_>,
    max_modes: Option<u64>,
) -> PyResult<Py<PyAny>> {
    let (w, q, laws) = (matrix(&w), vector(&q), laws.list()?);
    // Sizes and numbers are checked as those of a problem.
    ContactView::new(&w, &q, &laws).map_err(value_error)?;
    let asymmetry = w.asymmetry();
    if asymmetry > 1e-9 * w.max_abs() {
        return Err(value_error("W: expected a symmetric matrix; friction with a known direction is a law"));
    }
    let dynamics = coordinates_of(&w).and_then(|(mass, jacobian)| {
        let force = vec![0.0; mass.rows()];
        Dynamics::new(mass, force, jacobian, q, laws).map_err(value_error)
    });
    document(py, dynamics?, max_modes)
}

/// M and J with J M⁻¹ Jᵀ = W: both are W where that is definite, which rounds nothing. Elsewhere M is the
/// identity and J the Cholesky factor with pivots, with as many columns as W has rank.
fn coordinates_of(w: &Matrix) -> PyResult<(Matrix, Matrix)> {
    if w.asymmetry() == 0.0 && w.rank() == w.rows() && w.is_positive_definite() {
        return Ok((w.clone(), w.clone()));
    }
    let mut rest = w.symmetric_part();
    let n = rest.rows();
    let largest = (0..n).fold(0.0_f64, |m, i| m.max(rest[(i, i)]));
    // What rounding leaves of a pivot that is zero.
    let zero = 64.0 * n as f64 * f64::EPSILON * largest;
    let mut columns: Vec<Vec<f64>> = vec![];
    for _ in 0..n {
        let Some(p) = (0..n).max_by(|a, b| rest[(*a, *a)].total_cmp(&rest[(*b, *b)])) else { break };
        let pivot = rest[(p, p)];
        if pivot <= zero {
            break;
        }
        let column: Vec<f64> = (0..n).map(|i| rest[(i, p)] / pivot.sqrt()).collect();
        for i in 0..n {
            for j in 0..n {
                rest[(i, j)] -= column[i] * column[j];
            }
        }
        columns.push(column);
    }
    if rest.max_abs() > 1e3 * zero {
        return Err(value_error("W: expected a positive semidefinite matrix"));
    }
    let jacobian = Matrix::from_fn(n, columns.len(), |i, j| columns[j][i]);
    Ok((Matrix::identity(columns.len()), jacobian))
}
