//! The Delassus operator W: what a force at the contacts does to the velocities there.
//!
//! u = W f + q, W = J M⁻¹ Jᵀ symmetric positive semidefinite (000 eq. 9). Solvers see W only through
//! [`Delassus`], so that it may be stored dense, in sparse blocks, or not at all.

use std::ops::Range;

use crate::matrix::{Matrix, dot};

/// The operator W of a contact problem.
pub trait Delassus: Sync {
    /// Number of rows (and columns).
    fn dim(&self) -> usize;

    /// out ← (W f) on the rows asked for; `out` has as many entries as `rows`.
    fn apply_rows(&self, rows: Range<usize>, force: &[f64], out: &mut [f64]);

    /// The entry W_ij.
    fn entry(&self, i: usize, j: usize) -> f64;

    /// W f.
    fn apply(&self, force: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.dim()];
        self.apply_rows(0..self.dim(), force, &mut out);
        out
    }

    /// The block of these rows and columns.
    fn block(&self, rows: Range<usize>, cols: Range<usize>) -> Matrix {
        let (i0, j0) = (rows.start, cols.start);
        Matrix::from_fn(rows.len(), cols.len(), |i, j| self.entry(i0 + i, j0 + j))
    }
}

/// W stored as a dense matrix.
impl Delassus for Matrix {
    fn dim(&self) -> usize {
        self.rows()
    }

    fn apply_rows(&self, rows: Range<usize>, force: &[f64], out: &mut [f64]) {
        for (o, i) in out.iter_mut().zip(rows) {
            *o = dot(self.row(i), force);
        }
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        self[(i, j)]
    }
}
