//! Dense real matrices, small and plain.
//!
//! ```text
//! A ∈ R^{m×n} ,      rank A = #{i : σ_i > rank_tolerance(m, n) · σ_max}
//! ```
//!
//! Storage is row-major, because the pivoting methods of this crate work on rows. Products and views are
//! written out here; factorizations (LU, Cholesky, singular values, eigenvalues) are those of `faer`. Rank
//! decisions are made in one place, [`Matrix::row_space`].

use std::ops::{Index, IndexMut};

use faer::linalg::solvers::Solve;

/// A dense matrix of `f64`, row-major.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    rows: usize,
    cols: usize,
    data: Vec<f64>,
}

/// The orthonormal bases that a singular value decomposition gives: A = U diag(σ) Vᵀ.
#[derive(Clone, Debug)]
pub struct RowSpace {
    /// Number of singular values that count as nonzero.
    pub rank: usize,
    /// Singular values, largest first, min(m, n) of them.
    pub singular_values: Vec<f64>,
    /// Orthonormal basis of the row space R(Aᵀ), n × rank.
    pub basis: Matrix,
    /// Orthonormal basis of the null space N(A), n × (n − rank).
    pub null_basis: Matrix,
    /// Orthonormal basis of the column space R(A), m × rank.
    pub column_basis: Matrix,
}

impl RowSpace {
    /// A⁺ B for the matrix A with these spaces.
    fn pseudo_solve_matrix(&self, b: &Matrix) -> Matrix {
        // X = V Σ⁻¹ Uᵀ B on the leading `rank` triplets.
        let mut ub = self.column_basis.transpose().mul(b);
        for k in 0..self.rank {
            ub.row_mut(k).iter_mut().for_each(|x| *x /= self.singular_values[k]);
        }
        self.basis.mul(&ub)
    }

    /// A⁺ b.
    pub fn pseudo_solve(&self, b: &[f64]) -> Vec<f64> {
        self.pseudo_solve_matrix(&Matrix::from_vec(b.len(), 1, b.to_vec())).data
    }
}

/// Relative size below which a singular value of an m × n matrix counts as zero.
///
/// Rounding in forming the matrix and in the decomposition moves singular values by a modest multiple of
/// ε·max(m, n)·σ_max; the factor 64 covers data that were themselves computed with a few dozen roundings.
pub fn rank_tolerance(rows: usize, cols: usize) -> f64 {
    64.0 * f64::EPSILON * rows.max(cols).max(1) as f64
}

impl Matrix {
    /// The m × n zero matrix.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Matrix { rows, cols, data: vec![0.0; rows * cols] }
    }

    /// The n × n identity.
    pub fn identity(n: usize) -> Self {
        Self::from_fn(n, n, |i, j| if i == j { 1.0 } else { 0.0 })
    }

    /// The matrix with entries f(i, j).
    pub fn from_fn(rows: usize, cols: usize, mut f: impl FnMut(usize, usize) -> f64) -> Self {
        let mut data = Vec::with_capacity(rows * cols);
        for i in 0..rows {
            for j in 0..cols {
                data.push(f(i, j));
            }
        }
        Matrix { rows, cols, data }
    }

    /// The matrix whose rows are given; all must have the same length.
    ///
    /// # Panics
    /// If the rows differ in length.
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Self {
        let cols = rows.first().map_or(0, |r| r.as_ref().len());
        let mut data = Vec::with_capacity(rows.len() * cols);
        for r in rows {
            assert_eq!(r.as_ref().len(), cols, "rows of a matrix have one length");
            data.extend_from_slice(r.as_ref());
        }
        Matrix { rows: rows.len(), cols, data }
    }

    /// The matrix with these entries, row after row.
    ///
    /// # Panics
    /// If `data` does not hold rows × cols numbers.
    pub fn from_vec(rows: usize, cols: usize, data: Vec<f64>) -> Self {
        assert_eq!(data.len(), rows * cols, "a matrix holds rows × cols numbers");
        Matrix { rows, cols, data }
    }

    /// The diagonal matrix with this diagonal.
    pub fn diagonal(d: &[f64]) -> Self {
        Self::from_fn(d.len(), d.len(), |i, j| if i == j { d[i] } else { 0.0 })
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Row i.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Row i, to be written.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.cols..(i + 1) * self.cols]
    }

    /// Rows i and j at once, i ≠ j: the first to be written, the second to be read.
    pub fn two_rows_mut(&mut self, write: usize, read: usize) -> (&mut [f64], &[f64]) {
        let n = self.cols;
        if write < read {
            let (a, b) = self.data.split_at_mut(read * n);
            (&mut a[write * n..(write + 1) * n], &b[..n])
        } else {
            let (a, b) = self.data.split_at_mut(write * n);
            (&mut b[..n], &a[read * n..(read + 1) * n])
        }
    }

    /// Column j, copied.
    pub fn col(&self, j: usize) -> Vec<f64> {
        (0..self.rows).map(|i| self[(i, j)]).collect()
    }

    /// All entries, row after row.
    pub fn data(&self) -> &[f64] {
        &self.data
    }

    /// The rows as nested vectors, for output.
    pub fn to_rows(&self) -> Vec<Vec<f64>> {
        (0..self.rows).map(|i| self.row(i).to_vec()).collect()
    }

    /// Aᵀ.
    pub fn transpose(&self) -> Self {
        Self::from_fn(self.cols, self.rows, |i, j| self[(j, i)])
    }

    /// A B.
    ///
    /// # Panics
    /// If the inner dimensions differ.
    pub fn mul(&self, other: &Matrix) -> Matrix {
        assert_eq!(self.cols, other.rows, "inner dimensions of a product agree");
        let mut out = Matrix::zeros(self.rows, other.cols);
        for i in 0..self.rows {
            for k in 0..self.cols {
                let a = self[(i, k)];
                if a != 0.0 {
                    axpy(a, other.row(k), out.row_mut(i));
                }
            }
        }
        out
    }

    /// A x.
    pub fn mul_vec(&self, x: &[f64]) -> Vec<f64> {
        assert_eq!(self.cols, x.len(), "inner dimensions of a product agree");
        (0..self.rows).map(|i| dot(self.row(i), x)).collect()
    }

    /// Aᵀ x.
    pub fn tr_mul_vec(&self, x: &[f64]) -> Vec<f64> {
        assert_eq!(self.rows, x.len(), "inner dimensions of a product agree");
        let mut out = vec![0.0; self.cols];
        for i in 0..self.rows {
            axpy(x[i], self.row(i), &mut out);
        }
        out
    }

    /// The submatrix of these rows and columns, in this order.
    pub fn select(&self, rows: &[usize], cols: &[usize]) -> Matrix {
        Self::from_fn(rows.len(), cols.len(), |i, j| self[(rows[i], cols[j])])
    }

    /// The submatrix of these rows.
    pub fn select_rows(&self, rows: &[usize]) -> Matrix {
        let mut data = Vec::with_capacity(rows.len() * self.cols);
        for &i in rows {
            data.extend_from_slice(self.row(i));
        }
        Matrix { rows: rows.len(), cols: self.cols, data }
    }

    /// [A; B], one above the other.
    pub fn stack(&self, below: &Matrix) -> Matrix {
        if self.rows == 0 {
            return below.clone();
        }
        if below.rows == 0 {
            return self.clone();
        }
        assert_eq!(self.cols, below.cols, "stacked matrices have one width");
        let mut data = self.data.clone();
        data.extend_from_slice(&below.data);
        Matrix { rows: self.rows + below.rows, cols: self.cols, data }
    }

    /// (A + Aᵀ)/2.
    pub fn symmetric_part(&self) -> Matrix {
        Self::from_fn(self.rows, self.cols, |i, j| 0.5 * (self[(i, j)] + self[(j, i)]))
    }

    /// The largest |aᵢⱼ|; 0 for an empty matrix.
    pub fn max_abs(&self) -> f64 {
        self.data.iter().fold(0.0, |m, x| m.max(x.abs()))
    }

    /// The largest |aᵢⱼ − aⱼᵢ|.
    pub fn asymmetry(&self) -> f64 {
        let mut worst = 0.0_f64;
        for i in 0..self.rows {
            for j in 0..i {
                worst = worst.max((self[(i, j)] - self[(j, i)]).abs());
            }
        }
        worst
    }

    /// Whether no entry is NaN or infinite.
    pub fn is_finite(&self) -> bool {
        self.data.iter().all(|x| x.is_finite())
    }

    fn as_faer(&self) -> faer::MatRef<'_, f64> {
        faer::MatRef::from_row_major_slice(&self.data, self.rows, self.cols)
    }

    fn from_faer(a: faer::MatRef<'_, f64>) -> Self {
        Self::from_fn(a.nrows(), a.ncols(), |i, j| a[(i, j)])
    }

    /// Singular values, largest first.
    pub fn singular_values(&self) -> Vec<f64> {
        if self.rows == 0 || self.cols == 0 {
            return Vec::new();
        }
        self.as_faer().singular_values().unwrap_or_else(|_| vec![f64::NAN; self.rows.min(self.cols)])
    }

    /// Eigenvalues of the symmetric part, smallest first.
    pub fn symmetric_eigenvalues(&self) -> Vec<f64> {
        if self.rows == 0 {
            return Vec::new();
        }
        self.symmetric_part()
            .as_faer()
            .self_adjoint_eigenvalues(faer::Side::Lower)
            .unwrap_or_else(|_| vec![f64::NAN; self.rows])
    }

    /// Row space, null space, column space and rank, at the tolerance of [`rank_tolerance`].
    pub fn row_space(&self) -> RowSpace {
        self.row_space_with(rank_tolerance(self.rows, self.cols))
    }

    /// As [`Matrix::row_space`], with the relative tolerance given.
    pub fn row_space_with(&self, tolerance: f64) -> RowSpace {
        let n = self.cols;
        let zero = |basis: Matrix| RowSpace {
            rank: 0,
            singular_values: vec![0.0; self.rows.min(n)],
            basis: Matrix::zeros(n, 0),
            null_basis: basis,
            column_basis: Matrix::zeros(self.rows, 0),
        };
        if self.rows == 0 || n == 0 || self.max_abs() == 0.0 {
            return zero(Matrix::identity(n));
        }
        let Ok(svd) = self.as_faer().svd() else { return zero(Matrix::identity(n)) };
        let s: Vec<f64> = svd.S().column_vector().iter().copied().collect();
        let rank = s.iter().take_while(|&&x| x > tolerance * s[0]).count();
        let v = Self::from_faer(svd.V());
        let u = Self::from_faer(svd.U());
        let all: Vec<usize> = (0..n).collect();
        let left: Vec<usize> = (0..self.rows).collect();
        RowSpace {
            rank,
            singular_values: s,
            basis: v.select(&all, &all[..rank]),
            null_basis: v.select(&all, &all[rank..]),
            column_basis: u.select(&left, &left[..rank]),
        }
    }

    /// Singular values σ above a part of the largest, and the right singular vectors v that belong to them, a
    /// column each: (AᵀA)⁺ u = Σ v (v · u)/σ². Takes less than [`Matrix::row_space_with`] where one side is
    /// much shorter than the other.
    pub fn right_vectors(&self, tolerance: f64) -> (Vec<f64>, Matrix) {
        let none = (vec![], Matrix::zeros(self.cols, 0));
        if self.rows == 0 || self.cols == 0 || self.max_abs() == 0.0 {
            return none;
        }
        let Ok(svd) = self.as_faer().thin_svd() else { return none };
        let s = svd.S().column_vector();
        let kept: Vec<usize> = (0..s.nrows()).take_while(|&k| s[k] > tolerance * s[0]).collect();
        let all: Vec<usize> = (0..self.cols).collect();
        (kept.iter().map(|&k| s[k]).collect(), Self::from_faer(svd.V()).select(&all, &kept))
    }

    /// Rank at the tolerance of [`rank_tolerance`].
    pub fn rank(&self) -> usize {
        let s = self.singular_values();
        let top = s.first().copied().unwrap_or(0.0);
        s.iter().filter(|&&x| x > rank_tolerance(self.rows, self.cols) * top).count()
    }

    /// The solution of A x = b by LU with partial pivoting, or `None` where a pivot is zero or the result
    /// is not finite. A nearly singular matrix gives a finite but inaccurate result: ask the rank first
    /// where that matters.
    pub fn solve(&self, b: &[f64]) -> Option<Vec<f64>> {
        let x = self.solve_matrix(&Matrix::from_vec(b.len(), 1, b.to_vec()))?;
        Some(x.data)
    }

    /// The solution of A X = B, as [`Matrix::solve`].
    pub fn solve_matrix(&self, b: &Matrix) -> Option<Matrix> {
        assert_eq!(self.rows, self.cols, "a square system");
        assert_eq!(self.rows, b.rows, "right-hand side of the system's size");
        if self.rows == 0 || b.cols == 0 {
            return Some(Matrix::zeros(self.rows, b.cols));
        }
        let x = Self::from_faer(self.as_faer().partial_piv_lu().solve(b.as_faer()).as_ref());
        x.is_finite().then_some(x)
    }

    /// A⁻¹ B for a symmetric positive definite A by Cholesky, or `None` where A is not positive definite to
    /// working precision: a pivot of the diagonally scaled matrix below [`rank_tolerance`].
    pub fn solve_positive_definite(&self, b: &Matrix) -> Option<Matrix> {
        assert_eq!(self.rows, self.cols, "a square system");
        let n = self.rows;
        if n == 0 {
            return Some(Matrix::zeros(0, b.cols));
        }
        let d: Vec<f64> = (0..n).map(|i| self[(i, i)]).collect();
        if d.iter().any(|&x| x.is_nan() || x <= 0.0) {
            return None;
        }
        let scale: Vec<f64> = d.iter().map(|x| 1.0 / x.sqrt()).collect();
        let scaled = Matrix::from_fn(n, n, |i, j| scale[i] * self[(i, j)] * scale[j]);
        let llt = scaled.as_faer().llt(faer::Side::Lower).ok()?;
        let l = llt.L();
        if (0..n).any(|i| (l[(i, i)] * l[(i, i)]).is_nan() || l[(i, i)] * l[(i, i)] < rank_tolerance(n, n)) {
            return None;
        }
        let rhs = Matrix::from_fn(n, b.cols, |i, j| scale[i] * b[(i, j)]);
        let x = Self::from_faer(llt.solve(rhs.as_faer()).as_ref());
        let x = Matrix::from_fn(n, b.cols, |i, j| scale[i] * x[(i, j)]);
        x.is_finite().then_some(x)
    }

    /// The lower triangular L with A = L Lᵀ of a symmetric positive definite A, or `None` as
    /// [`Matrix::solve_positive_definite`].
    pub fn cholesky(&self) -> Option<Matrix> {
        let n = self.rows;
        self.solve_positive_definite(&Matrix::zeros(n, 0))?;
        let l = self.as_faer().llt(faer::Side::Lower).ok()?;
        Some(Self::from_fn(n, n, |i, j| if j <= i { l.L()[(i, j)] } else { 0.0 }))
    }

    /// Whether the symmetric part is positive definite to working precision.
    pub fn is_positive_definite(&self) -> bool {
        self.rows == self.cols
            && self.symmetric_part().solve_positive_definite(&Matrix::zeros(self.rows, 0)).is_some()
    }

    /// The Moore–Penrose solution X = A⁺ B: in each column the shortest of the least-squares solutions.
    pub fn pseudo_solve_matrix(&self, b: &Matrix) -> Matrix {
        self.row_space().pseudo_solve_matrix(b)
    }

    /// The Moore–Penrose solution x = A⁺ b.
    pub fn pseudo_solve(&self, b: &[f64]) -> Vec<f64> {
        self.pseudo_solve_matrix(&Matrix::from_vec(b.len(), 1, b.to_vec())).data
    }
}

impl Index<(usize, usize)> for Matrix {
    type Output = f64;
    fn index(&self, (i, j): (usize, usize)) -> &f64 {
        &self.data[i * self.cols + j]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut f64 {
        &mut self.data[i * self.cols + j]
    }
}

/// xᵀ y.
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

/// ‖x‖₂.
pub fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

/// max |xᵢ|; 0 for an empty vector.
pub fn max_abs(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, v| m.max(v.abs()))
}

/// y ← y + a x.
#[inline(always)]
pub fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    for (yi, xi) in y.iter_mut().zip(x) {
        *yi += a * xi;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_of_a_rank_one_matrix() {
        let a = Matrix::from_rows(&[[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]);
        let s = a.row_space();
        assert_eq!(s.rank, 1);
        assert_eq!(a.rank(), 1);
        assert!(max_abs(&a.mul_vec(&s.null_basis.col(0))) < 1e-14);
        let x = a.pseudo_solve(&[1.0, 2.0, 3.0]);
        assert!((x[0] - 0.2).abs() < 1e-14 && (x[1] - 0.4).abs() < 1e-14);
    }

    #[test]
    fn positive_definite_is_scale_free() {
        // Badly scaled but well conditioned after diagonal scaling: definite.
        let a = Matrix::from_rows(&[[1e-12, 5e-7], [5e-7, 1.0]]);
        assert!(a.is_positive_definite());
        // Singular to rounding: not definite.
        let b = Matrix::from_rows(&[[1.0, 1.0], [1.0, 1.0 + 1e-16]]);
        assert!(!b.is_positive_definite());
    }

    #[test]
    fn solves_what_it_claims() {
        let a = Matrix::from_rows(&[[0.0, 2.0], [1.0, 1.0]]);
        assert_eq!(a.solve(&[2.0, 3.0]).unwrap(), vec![2.0, 1.0]);
        assert!(Matrix::zeros(2, 2).solve(&[1.0, 1.0]).is_none());
    }
}
