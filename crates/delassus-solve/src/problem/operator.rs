//! The Delassus operator W: what a force at the contacts does to the velocities there.
//!
//! u = W f + q, W = J M⁻¹ Jᵀ symmetric positive semidefinite (000 eq. 9). Solvers see W only through
//! [`Delassus`], so that it may be stored dense, in sparse blocks, or not at all:
//!
//! | stored as | memory | time of W f |
//! |---|---|---|
//! | [`Matrix`], dense | m² | m² |
//! | [`Sparse`], [`BlockMatrix`] | pairs of rows that share a body | the same |
//! | [`MatrixFree`], Jᵀ and the blocks of M⁻¹ | entries of J and of M⁻¹ | the same |

use std::ops::Range;

use super::mass_blocks::inverse_blocks;
use super::{InvalidProblem, check_finite, check_size};
use crate::linalg::{BlockMatrix, Matrix, Sparse, dot};

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

/// W stored sparse.
impl Delassus for Sparse {
    fn dim(&self) -> usize {
        self.rows()
    }

    fn apply_rows(&self, rows: Range<usize>, force: &[f64], out: &mut [f64]) {
        for (o, i) in out.iter_mut().zip(rows) {
            *o = self.row_times(i, force);
        }
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        self.get(i, j)
    }

    fn block(&self, rows: Range<usize>, cols: Range<usize>) -> Matrix {
        let mut out = Matrix::zeros(rows.len(), cols.len());
        for i in rows.clone() {
            let (columns, values) = self.row(i);
            let from = columns.partition_point(|&j| j < cols.start);
            for (&j, &x) in columns[from..].iter().zip(&values[from..]).take_while(|e| *e.0 < cols.end) {
                out[(i - rows.start, j - cols.start)] = x;
            }
        }
        out
    }
}

/// W stored in blocks, D rows to a constraint.
impl<const D: usize> Delassus for BlockMatrix<D> {
    fn dim(&self) -> usize {
        D * self.diagonal.len()
    }

    fn apply_rows(&self, rows: Range<usize>, force: &[f64], out: &mut [f64]) {
        for (o, i) in out.iter_mut().zip(rows) {
            let blocks = self.start[i / D]..self.start[i / D + 1];
            *o = blocks.map(|k| dot(&self.value[k][i % D], &force[D * self.column[k]..][..D])).sum();
        }
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        let blocks = self.start[i / D]..self.start[i / D + 1];
        let k = self.column[blocks.clone()].binary_search(&(j / D));
        k.map_or(0.0, |k| self.value[blocks.start + k][i % D][j % D])
    }
}

/// A body: a diagonal block of the mass matrix.
#[derive(Clone, Debug)]
struct Body {
    /// Its rows of M, ascending.
    rows: Vec<usize>,
    /// Its block of M⁻¹.
    inverse: Matrix,
}

/// W = Hᵀ M⁻¹ H, never formed: M is block diagonal up to an order of its rows, one block per body, and the
/// inverse of each block is kept.
///
/// W f is the velocity Hᵀ v of the bodies that the impulses f move, M v = H f; some rows of it, or an entry,
/// ask only for the bodies that these rows touch.
#[derive(Clone, Debug)]
pub struct MatrixFree {
    bodies: Vec<Body>,
    /// The body of each row of M, and its place there.
    place: Vec<(usize, usize)>,
    /// H, ndof × m.
    h: Sparse,
    /// Hᵀ, m × ndof.
    j: Sparse,
    /// Whether M = Mᵀ, bit for bit.
    symmetric: bool,
}

impl MatrixFree {
    /// The operator of M, ndof × ndof, and H, ndof × m.
    pub fn new(mass: &Sparse, jacobian_transposed: &Sparse) -> Result<Self, InvalidProblem> {
        check_size("columns of the mass matrix M", mass.rows(), mass.cols())?;
        check_size("rows of the matrix H", mass.rows(), jacobian_transposed.rows())?;
        check_finite("the mass matrix M", mass.values())?;
        check_finite("the matrix H", jacobian_transposed.values())?;
        let mut place = vec![(0, 0); mass.rows()];
        let mut bodies = vec![];
        for (rows, inverse) in inverse_blocks(mass)? {
            for (k, &i) in rows.iter().enumerate() {
                place[i] = (bodies.len(), k);
            }
            check_finite("the inverse of the mass matrix M", inverse.data())?;
            bodies.push(Body { rows, inverse });
        }
        // A stored zero would make a contact touch a body that it does not move.
        let entries: Vec<_> = jacobian_transposed.triplets().filter(|e| e.2 != 0.0).collect();
        let h = Sparse::from_triplets(mass.rows(), jacobian_transposed.cols(), &entries);
        let w = MatrixFree { bodies, place, j: h.transpose(), h, symmetric: mass.is_symmetric() };
        // Where M is positive definite, no entry is larger than the largest of these.
        let diagonal: Vec<f64> = (0..w.dim()).map(|i| w.entry(i, i)).collect();
        check_finite("the diagonal of Hᵀ M⁻¹ H", &diagonal)?;
        Ok(w)
    }

    /// q = Hᵀ M⁻¹ f + b for the force f on the bodies and the velocity b at the contacts.
    ///
    /// # Panics
    /// If f has not one entry per row of M, or b not one per row of W.
    pub fn free_velocity(&self, force: &[f64], bias: &[f64]) -> Vec<f64> {
        assert_eq!(bias.len(), self.dim(), "one velocity per row of W");
        let mut q = self.j.mul_vec(&self.inverse_times(force));
        for (q, b) in q.iter_mut().zip(bias) {
            *q += b;
        }
        q
    }

    /// M⁻¹ p.
    fn inverse_times(&self, p: &[f64]) -> Vec<f64> {
        assert_eq!(p.len(), self.place.len(), "one entry per row of M");
        let mut v = vec![0.0; p.len()];
        for body in &self.bodies {
            let here: Vec<f64> = body.rows.iter().map(|&i| p[i]).collect();
            for (k, &i) in body.rows.iter().enumerate() {
                v[i] = dot(body.inverse.row(k), &here);
            }
        }
        v
    }
}

/// W not stored.
impl Delassus for MatrixFree {
    fn dim(&self) -> usize {
        self.j.rows()
    }

    fn apply(&self, force: &[f64]) -> Vec<f64> {
        self.j.mul_vec(&self.inverse_times(&self.h.mul_vec(force)))
    }

    /// The same bits as [`Delassus::apply`] gives on these rows.
    fn apply_rows(&self, rows: Range<usize>, force: &[f64], out: &mut [f64]) {
        if rows == (0..self.dim()) {
            out.copy_from_slice(&self.apply(force));
            return;
        }
        let mut touched: Vec<usize> =
            rows.clone().flat_map(|i| self.j.row(i).0).map(|&k| self.place[k].0).collect();
        touched.sort_unstable();
        touched.dedup();
        let velocities: Vec<Vec<f64>> = touched
            .iter()
            .map(|&b| {
                let body = &self.bodies[b];
                body.inverse
                    .mul_vec(&body.rows.iter().map(|&i| self.h.row_times(i, force)).collect::<Vec<_>>())
            })
            .collect();
        for (o, i) in out.iter_mut().zip(rows) {
            let (dofs, values) = self.j.row(i);
            *o = dofs
                .iter()
                .zip(values)
                .map(|(&k, &x)| {
                    let (b, k) = self.place[k];
                    x * velocities[touched.partition_point(|&t| t < b)][k]
                })
                .sum();
        }
    }

    /// W_ij = Σ_b h_bᵢᵀ M_b⁻¹ h_bⱼ over the bodies b that both rows touch; W_ij = W_ji to the last bit where
    /// M is symmetric.
    fn entry(&self, i: usize, j: usize) -> f64 {
        let (i, j) = if self.symmetric { (i.min(j), i.max(j)) } else { (i, j) };
        let ((left, x), (right, y)) = (self.j.row(i), self.j.row(j));
        let mut sum = 0.0;
        for (&k, x) in left.iter().zip(x) {
            let (body, k) = self.place[k];
            for (&l, y) in right.iter().zip(y) {
                let (other, l) = self.place[l];
                if body == other {
                    sum += x * self.bodies[body].inverse[(k, l)] * y;
                }
            }
        }
        sum
    }
}
