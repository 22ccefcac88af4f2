//! Sparse real matrices in compressed rows.
//!
//! ```text
//! y_i = Σ_k value[k] · x[column[k]] ,   k = start[i] … start[i+1] − 1
//! ```
//!
//! A is m × n; the columns of a row ascend. Zeros may be stored: the structure is where entries can be, the
//! values what they are. Sums run over a row in the order of its columns, so that products have the same bits
//! on every run.

use super::matrix::Matrix;

/// Rows up to which a matrix is filled again without a look at all of its places: those of some bodies.
const FEW_ROWS: usize = 64;

/// A sparse matrix of `f64`, compressed rows.
#[derive(Debug, PartialEq)]
pub struct Sparse {
    rows: usize,
    cols: usize,
    start: Vec<usize>,
    column: Vec<usize>,
    value: Vec<f64>,
}

impl Default for Sparse {
    /// The matrix without rows and columns.
    fn default() -> Self {
        Sparse::zeros(0, 0)
    }
}

impl Clone for Sparse {
    fn clone(&self) -> Self {
        let Sparse { rows, cols, start, column, value } = self;
        Sparse {
            rows: *rows,
            cols: *cols,
            start: start.clone(),
            column: column.clone(),
            value: value.clone(),
        }
    }

    /// In the memory that it has, which the derived one gives back.
    fn clone_from(&mut self, other: &Self) {
        (self.rows, self.cols) = (other.rows, other.cols);
        self.start.clone_from(&other.start);
        self.column.clone_from(&other.column);
        self.value.clone_from(&other.value);
    }
}

impl Sparse {
    /// The m × n matrix with nothing stored.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Sparse { rows, cols, start: vec![0; rows + 1], column: vec![], value: vec![] }
    }

    /// The matrix with these entries (row, column, value); what falls on one place is added, in the order
    /// given.
    ///
    /// # Panics
    /// If an entry lies outside of the matrix.
    pub fn from_triplets(rows: usize, cols: usize, entries: &[(usize, usize, f64)]) -> Self {
        let mut count = vec![0; rows + 1];
        for &(i, j, _) in entries {
            assert!(i < rows && j < cols, "entry ({i}, {j}) lies in a {rows} × {cols} matrix");
            count[i + 1] += 1;
        }
        for i in 0..rows {
            count[i + 1] += count[i];
        }
        let mut next = count.clone();
        let mut sorted = vec![(0, 0.0); entries.len()];
        for &(i, j, x) in entries {
            sorted[next[i]] = (j, x);
            next[i] += 1;
        }
        let mut out = Sparse {
            rows,
            cols,
            start: Vec::with_capacity(rows + 1),
            column: Vec::with_capacity(entries.len()),
            value: Vec::with_capacity(entries.len()),
        };
        out.start.push(0);
        for i in 0..rows {
            let row = &mut sorted[count[i]..count[i + 1]];
            // Stable: entries of one place keep their order.
            row.sort_by_key(|e| e.0);
            let first = out.column.len();
            for &(j, x) in row.iter() {
                if out.column.len() > first && out.column[out.column.len() - 1] == j {
                    let last = out.value.len() - 1;
                    out.value[last] += x;
                } else {
                    out.column.push(j);
                    out.value.push(x);
                }
            }
            out.start.push(out.column.len());
        }
        out
    }

    /// Makes this the matrix with these entries (row, column, value), in the memory that it has. No place may
    /// occur twice, and the entries of a row come with ascending columns.
    ///
    /// # Panics
    /// If an entry lies outside of the matrix or breaks the order.
    pub fn refill(&mut self, rows: usize, cols: usize, entries: &[(usize, usize, f64)]) {
        if (rows, cols) == (self.rows, self.cols) && self.refill_values(entries) {
            return;
        }
        (self.rows, self.cols) = (rows, cols);
        self.start.clear();
        self.start.resize(rows + 1, 0);
        for &(i, j, _) in entries {
            assert!(i < rows && j < cols, "entry ({i}, {j}) lies in a {rows} × {cols} matrix");
            self.start[i + 1] += 1;
        }
        for i in 0..rows {
            self.start[i + 1] += self.start[i];
        }
        self.column.clear();
        self.column.resize(entries.len(), 0);
        self.value.clear();
        self.value.resize(entries.len(), 0.0);
        // Each row's start moves to its end while the row is filled, and back afterwards.
        for &(i, j, x) in entries {
            let at = self.start[i];
            (self.column[at], self.value[at]) = (j, x);
            self.start[i] += 1;
        }
        for i in (0..rows).rev() {
            self.start[i + 1] = self.start[i];
        }
        self.start[0] = 0;
        let ascending = |i: usize| self.row(i).0.windows(2).all(|pair| pair[0] < pair[1]);
        assert!((0..rows).all(ascending), "columns ascend in every row");
    }

    /// Takes over values where few rows have the same places as before; false, with some values lost, where
    /// they have others.
    fn refill_values(&mut self, entries: &[(usize, usize, f64)]) -> bool {
        let mut next = [0; FEW_ROWS];
        if self.rows > FEW_ROWS || entries.len() != self.value.len() {
            return false;
        }
        next[..self.rows].copy_from_slice(&self.start[..self.rows]);
        entries.iter().all(|&(i, j, x)| {
            // As many entries as places, each within its row: all rows are full in the end.
            let at = next.get(i).copied().unwrap_or(usize::MAX);
            let known = i < self.rows && at < self.start[i + 1] && self.column[at] == j;
            if known {
                self.value[at] = x;
                next[i] += 1;
            }
            known
        })
    }

    /// Whether this is another matrix to the last bit, the signs of zeros included.
    pub fn has_bits_of(&self, other: &Self) -> bool {
        (self.rows, self.cols) == (other.rows, other.cols)
            && self.start == other.start
            && self.column == other.column
            && self.value.iter().zip(&other.value).all(|(a, b)| a.to_bits() == b.to_bits())
    }

    /// The entries of a dense matrix that are not zero.
    pub fn from_dense(a: &Matrix) -> Self {
        let entries: Vec<(usize, usize, f64)> = (0..a.rows())
            .flat_map(|i| {
                a.row(i).iter().enumerate().filter(|(_, x)| **x != 0.0).map(move |(j, x)| (i, j, *x))
            })
            .collect();
        Self::from_triplets(a.rows(), a.cols(), &entries)
    }

    /// Becomes a square matrix with zeros stored in the columns that `row` pushes for each row, ascending.
    pub(crate) fn set_places(&mut self, rows: usize, mut row: impl FnMut(usize, &mut Vec<usize>)) {
        (self.rows, self.cols) = (rows, rows);
        self.start.clear();
        self.start.push(0);
        self.column.clear();
        for i in 0..rows {
            row(i, &mut self.column);
            self.start.push(self.column.len());
        }
        debug_assert!(self.column.iter().all(|&j| j < rows));
        self.value.clear();
        self.value.resize(self.column.len(), 0.0);
    }

    /// Starts, columns and values, the latter to be written.
    pub(crate) fn parts_mut(&mut self) -> (&[usize], &[usize], &mut [f64]) {
        (&self.start, &self.column, &mut self.value)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of stored entries.
    pub fn stored(&self) -> usize {
        self.value.len()
    }

    /// Where each row starts in [`Sparse::columns`] and [`Sparse::values`]; the last entry is their length.
    pub fn starts(&self) -> &[usize] {
        &self.start
    }

    /// The column of every stored entry, row after row.
    pub fn columns(&self) -> &[usize] {
        &self.column
    }

    /// The value of every stored entry, row after row.
    pub fn values(&self) -> &[f64] {
        &self.value
    }

    /// The values, to be written; the structure stays.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.value
    }

    /// Columns and values of row i.
    #[inline]
    pub fn row(&self, i: usize) -> (&[usize], &[f64]) {
        let range = self.start[i]..self.start[i + 1];
        (&self.column[range.clone()], &self.value[range])
    }

    /// All stored entries (row, column, value), row after row.
    pub fn triplets(&self) -> impl Iterator<Item = (usize, usize, f64)> + Clone + '_ {
        (0..self.rows).flat_map(move |i| {
            let (columns, values) = self.row(i);
            columns.iter().zip(values).map(move |(&j, &x)| (i, j, x))
        })
    }

    /// a_ij; zero where nothing is stored.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        let (columns, values) = self.row(i);
        columns.binary_search(&j).map_or(0.0, |k| values[k])
    }

    /// y ← A x.
    pub fn mul_vec_into(&self, x: &[f64], y: &mut [f64]) {
        assert!(x.len() == self.cols && y.len() == self.rows, "inner dimensions of a product agree");
        // Rows of one contact have as many entries. Two side by side, each summed in its own order: one need
        // not wait for the other.
        let (pairs, last) = y.as_chunks_mut::<2>();
        for (k, pair) in pairs.iter_mut().enumerate() {
            let ((c, a), (d, b)) = (self.row(2 * k), self.row(2 * k + 1));
            let common = a.len().min(b.len());
            // What a sum of numbers begins with.
            let mut sums = [-0.0, -0.0];
            for (((&i, &a), &j), &b) in c.iter().zip(a).zip(&d[..common]).zip(&b[..common]) {
                sums[0] += a * x[i];
                sums[1] += b * x[j];
            }
            c[common..].iter().zip(&a[common..]).for_each(|(&i, &a)| sums[0] += a * x[i]);
            d[common..].iter().zip(&b[common..]).for_each(|(&j, &b)| sums[1] += b * x[j]);
            *pair = sums;
        }
        if let [last] = last {
            *last = self.row_times(self.rows - 1, x);
        }
    }

    /// A x.
    pub fn mul_vec(&self, x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.rows];
        self.mul_vec_into(x, &mut y);
        y
    }

    /// y ← Aᵀ x.
    pub fn tr_mul_vec_into(&self, x: &[f64], y: &mut [f64]) {
        assert!(x.len() == self.rows && y.len() == self.cols, "inner dimensions of a product agree");
        y.fill(0.0);
        for (i, &xi) in x.iter().enumerate() {
            let (columns, values) = self.row(i);
            for (&j, &a) in columns.iter().zip(values) {
                y[j] += a * xi;
            }
        }
    }

    /// Aᵀ x.
    pub fn tr_mul_vec(&self, x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.cols];
        self.tr_mul_vec_into(x, &mut y);
        y
    }

    /// Row i times x.
    #[inline]
    pub(crate) fn row_times(&self, i: usize, x: &[f64]) -> f64 {
        let (columns, values) = self.row(i);
        columns.iter().zip(values).map(|(&j, &a)| a * x[j]).sum()
    }

    /// Aᵀ.
    pub fn transpose(&self) -> Self {
        let mut start = vec![0; self.cols + 1];
        for &j in &self.column {
            start[j + 1] += 1;
        }
        for j in 0..self.cols {
            start[j + 1] += start[j];
        }
        let mut next = start.clone();
        let (mut column, mut value) = (vec![0; self.stored()], vec![0.0; self.stored()]);
        for (i, j, x) in self.triplets() {
            column[next[j]] = i;
            value[next[j]] = x;
            next[j] += 1;
        }
        Sparse { rows: self.cols, cols: self.rows, start, column, value }
    }

    /// The same matrix, dense.
    pub fn to_dense(&self) -> Matrix {
        let mut out = Matrix::zeros(self.rows, self.cols);
        for (i, j, x) in self.triplets() {
            out[(i, j)] = x;
        }
        out
    }

    /// Whether no entry is NaN or infinite.
    pub fn is_finite(&self) -> bool {
        self.value.iter().all(|x| x.is_finite())
    }

    /// Whether a_ij = a_ji for all entries, bit for bit.
    pub fn is_symmetric(&self) -> bool {
        self.rows == self.cols && self.triplets().all(|(i, j, x)| i == j || self.get(j, i) == x)
    }

    /// (A + Aᵀ)/2.
    ///
    /// # Panics
    /// If A is not square.
    pub fn symmetric_part(&self) -> Self {
        assert_eq!(self.rows, self.cols, "the symmetric part of a square matrix");
        let halves: Vec<(usize, usize, f64)> =
            self.triplets().flat_map(|(i, j, x)| [(i, j, 0.5 * x), (j, i, 0.5 * x)]).collect();
        Self::from_triplets(self.rows, self.cols, &halves)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn refilled_is_as_new() {
        let entries = [(2, 0, 1.0), (0, 1, 2.0), (2, 1, 3.0), (1, 3, 4.0), (2, 3, 5.0)];
        let mut a = Sparse::from_triplets(2, 2, &[(0, 0, 7.0), (1, 1, 8.0)]);
        a.refill(4, 4, &entries);
        assert_eq!(a, Sparse::from_triplets(4, 4, &entries));
        a.refill(2, 2, &[(1, 0, 9.0)]);
        assert_eq!(a, Sparse::from_triplets(2, 2, &[(1, 0, 9.0)]));
    }

    #[test]
    fn the_bits_of_a_copy_are_the_same_and_a_sign_of_zero_counts() {
        let a = Sparse::from_triplets(2, 2, &[(0, 0, 7.0), (1, 1, 0.0)]);
        let mut copy = Sparse::default();
        assert!(!copy.has_bits_of(&a));
        copy.clone_from(&a);
        assert!(copy.has_bits_of(&a) && copy == a);
        let b = Sparse::from_triplets(2, 2, &[(0, 0, 7.0), (1, 1, -0.0)]);
        assert!(!b.has_bits_of(&a) && b == a);
    }

    use crate::problem::Delassus;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn rows_side_by_side_have_the_bits_of_each_row() {
        // Rows of 0, 3, 1, 4 and 2 entries; sums whose order shows.
        let rows: [&[usize]; 5] = [&[], &[0, 1, 3], &[2], &[0, 1, 2, 3], &[1, 2]];
        let entries = rows.iter().enumerate();
        let entries: Vec<(usize, usize, f64)> =
            entries.flat_map(|(i, row)| row.iter().map(move |&j| (i, j, 0.1 + (i + 7 * j) as f64))).collect();
        let x = [1e16, 1.0, -1e16, 0.3];
        for count in 0..=rows.len() {
            let some = entries.iter().copied().filter(|e| e.0 < count).collect::<Vec<_>>();
            let a = Sparse::from_triplets(count, 4, &some);
            let bits = |y: f64| y.to_bits();
            let alone: Vec<u64> = (0..count).map(|i| bits(a.row_times(i, &x))).collect();
            assert_eq!(a.mul_vec(&x).into_iter().map(bits).collect::<Vec<_>>(), alone);
        }
    }

    #[test]
    fn duplicates_are_added_and_columns_ascend() {
        let a = Sparse::from_triplets(2, 3, &[(1, 2, 1.0), (0, 1, 5.0), (1, 0, 7.0), (1, 2, 2.0)]);
        assert_eq!(a.row(1), (&[0, 2][..], &[7.0, 3.0][..]));
        assert_eq!((a.get(1, 2), a.get(0, 0), a.stored()), (3.0, 0.0, 3));
        assert_eq!(Sparse::zeros(2, 3).to_dense(), Matrix::zeros(2, 3));
    }

    proptest! {
        #[test]
        fn agrees_with_dense(
            (rows, cols) in (1usize..6, 1usize..6),
            entries in prop::collection::vec((0usize..6, 0usize..6, -4i32..4), 0..30),
            x in prop::collection::vec(-8i32..8, 6),
        ) {
            // Small integers: all sums are exact, so equality is exact.
            let entries: Vec<_> =
                entries.iter().map(|&(i, j, v)| (i % rows, j % cols, f64::from(v))).collect();
            let x: Vec<f64> = x.iter().map(|&v| f64::from(v)).collect();
            let a = Sparse::from_triplets(rows, cols, &entries);
            let mut dense = Matrix::zeros(rows, cols);
            for &(i, j, v) in &entries {
                dense[(i, j)] += v;
            }
            prop_assert_eq!(a.to_dense(), dense.clone());
            prop_assert_eq!(Sparse::from_dense(&dense).to_dense(), dense.clone());
            prop_assert_eq!(a.mul_vec(&x[..cols]), dense.mul_vec(&x[..cols]));
            prop_assert_eq!(a.tr_mul_vec(&x[..rows]), dense.tr_mul_vec(&x[..rows]));
            prop_assert_eq!(a.transpose().to_dense(), dense.transpose());
            prop_assert_eq!(a.transpose().transpose(), a.clone());
            let right = Matrix::from_fn(rows, cols - 1, |i, j| dense[(i, j + 1)]);
            prop_assert_eq!(a.block(0..rows, 1..cols), right);
            prop_assert!((0..rows).all(|i| (0..cols).all(|j| a.entry(i, j) == dense[(i, j)])));
            if rows == cols {
                prop_assert_eq!(a.symmetric_part().to_dense(), dense.symmetric_part());
                prop_assert!(a.symmetric_part().is_symmetric());
                prop_assert_eq!(a.is_symmetric(), dense.asymmetry() == 0.0);
            }
        }
    }
}
