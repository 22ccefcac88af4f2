//! Arrays across the border: copied, checked for their shape.

use delassus_solve::linalg::{Matrix, Sparse};
use glam::{DQuat, DVec3};
use numpy::{
    PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use crate::error::value_error;

/// A dense matrix.
pub fn matrix(a: &PyReadonlyArray2<'_, f64>) -> Matrix {
    let (rows, cols, a) = (a.shape()[0], a.shape()[1], a.as_array());
    Matrix::from_fn(rows, cols, |i, j| a[[i, j]])
}

/// A vector.
pub fn vector(a: &PyReadonlyArray1<'_, f64>) -> Vec<f64> {
    a.as_array().to_vec()
}

/// A matrix by its entries: (rows, columns, values) and its shape. Entries at one place are summed.
#[derive(FromPyObject)]
pub struct Entries<'py> {
    rows: PyReadonlyArray1<'py, i64>,
    cols: PyReadonlyArray1<'py, i64>,
    values: PyReadonlyArray1<'py, f64>,
    shape: (usize, usize),
}

/// A matrix from Python: dense, or by its entries.
#[derive(FromPyObject)]
pub enum AnyMatrix<'py> {
    Dense(PyReadonlyArray2<'py, f64>),
    Entries(Entries<'py>),
}

impl AnyMatrix<'_> {
    /// As a sparse matrix.
    pub fn sparse(&self) -> PyResult<Sparse> {
        match self {
            AnyMatrix::Dense(a) => Ok(Sparse::from_dense(&matrix(a))),
            AnyMatrix::Entries(Entries { rows, cols, values, shape }) => {
                let (rows, cols, values) = (rows.as_array(), cols.as_array(), values.as_array());
                let mut triplets = Vec::with_capacity(values.len());
                for ((&i, &j), &x) in rows.iter().zip(cols).zip(values) {
                    let inside = |k: i64, n: usize| usize::try_from(k).ok().filter(|k| *k < n);
                    match (inside(i, shape.0), inside(j, shape.1)) {
                        (Some(i), Some(j)) => triplets.push((i, j, x)),
                        _ => {
                            return Err(value_error(format!(
                                "entry ({i}, {j}) is outside of the {shape:?} matrix"
                            )));
                        }
                    }
                }
                Ok(Sparse::from_triplets(shape.0, shape.1, &triplets))
            }
        }
    }
}

/// A vector in space from anything with three numbers.
pub fn vec3(x: [f64; 3]) -> DVec3 {
    DVec3::from_array(x)
}

/// A rotation from w, x, y, z, scaled to length one.
pub fn rotation([w, x, y, z]: [f64; 4]) -> PyResult<DQuat> {
    let q = DQuat::from_xyzw(x, y, z, w);
    let length = q.length();
    if !(length.is_finite() && length > 1e-6) {
        return Err(value_error(format!(
            "orientation [{w}, {x}, {y}, {z}]: expected w, x, y, z of a rotation"
        )));
    }
    Ok(q.normalize())
}

/// w, x, y, z.
pub fn wxyz(q: DQuat) -> [f64; 4] {
    [q.w, q.x, q.y, q.z]
}

/// An array of a shape from its numbers in order.
pub fn shaped<'py>(
    py: Python<'py>,
    data: Vec<f64>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<f64>>> {
    PyArray1::from_vec(py, data).reshape(shape.to_vec())
}
