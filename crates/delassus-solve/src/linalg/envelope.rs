//! Cholesky factorization that keeps the zeros before the first entry of each row.
//!
//! ```text
//! A = L Lᵀ ,   a_ij = l_ij = 0 for j < first(i)
//! ```
//!
//! A is symmetric, n × n. Only the entries from the first one of a row up to its diagonal are stored: bodies
//! that have nothing in common cost nothing together. The order of operations is part of the contract:
//! callers reproduce their results to the bit.

use super::{Matrix, axpy, dot};

/// The lower half of a symmetric matrix, then its factor, in memory that is kept.
#[derive(Clone, Debug, Default)]
pub struct Envelope {
    /// First column of each row.
    first: Vec<u32>,
    /// Where the entries of each row begin, and the end of the last.
    start: Vec<u32>,
    entries: Vec<f64>,
}

impl Envelope {
    /// Memory for so many rows with so many entries together.
    pub fn reserve(&mut self, rows: usize, entries: usize) {
        let Envelope { first, start, entries: values } = self;
        first.clear();
        first.reserve(rows);
        start.clear();
        start.reserve(rows + 1);
        values.clear();
        values.reserve(entries);
    }

    /// Begins with the first columns of all rows, none behind its diagonal. About as many multiplications
    /// does the factorization take.
    pub fn set_profile(&mut self, first: impl Iterator<Item = u32>) -> usize {
        self.first.clear();
        self.first.extend(first);
        self.start.clear();
        self.start.push(0);
        let (mut sum, mut work) = (0_u32, 0_usize);
        for (row, first) in self.first.iter().enumerate() {
            let width = row as u32 - first + 1;
            work += (width * width) as usize;
            sum = sum.saturating_add(width);
            self.start.push(sum);
        }
        work
    }

    /// All entries of the profile zero.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.entries.resize(self.start.last().map_or(0, |end| *end as usize), 0.0);
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.first.len()
    }

    /// The first column of a row.
    pub fn first(&self, row: usize) -> usize {
        self.first[row] as usize
    }

    /// The entries of a row, from its first column to the diagonal.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.entries[self.start[row] as usize..self.start[row + 1] as usize]
    }

    /// The same, to be written.
    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.entries[self.start[row] as usize..self.start[row + 1] as usize]
    }

    /// A ← L. `pivot` gets the diagonal of a row and what is left of it, and returns the diagonal of L: the
    /// root of what is left, or infinity where a row depends on those before it and is to be passed over.
    pub fn factorize(&mut self, mut pivot: impl FnMut(f64, f64) -> f64) {
        let Envelope { first, start, entries } = self;
        for row in 0..first.len() {
            let (above, own) = entries.split_at_mut(start[row] as usize);
            let (from, width) = (first[row] as usize, row - first[row] as usize);
            for j in 0..width {
                let column = from + j;
                let other = &above[start[column] as usize..start[column + 1] as usize];
                let common = from.max(first[column] as usize);
                let [mine, theirs] = [&own[common - from..j], &other[common - first[column] as usize..]];
                let divisor = other[other.len() - 1];
                own[j] = (own[j] - dot(mine, &theirs[..mine.len()])) / divisor;
            }
            let diagonal = own[width];
            own[width] = pivot(diagonal, diagonal - dot(&own[..width], &own[..width]));
        }
    }

    /// x ← (L Lᵀ)⁻¹ x.
    pub fn solve(&self, x: &mut [f64]) {
        for row in 0..self.rows() {
            let (entries, from) = (self.row(row), self.first(row));
            let width = row - from;
            x[row] = (x[row] - dot(&entries[..width], &x[from..row])) / entries[width];
        }
        for row in (0..self.rows()).rev() {
            let (entries, from) = (self.row(row), self.first(row));
            let width = row - from;
            x[row] /= entries[width];
            let factor = x[row];
            x[from..row].iter_mut().zip(entries).for_each(|(x, entry)| *x -= entry * factor);
        }
    }

    /// B ← L⁻¹ B, by the rows of B.
    pub fn solve_lower(&self, b: &mut Matrix) {
        for row in 0..self.rows() {
            let (entries, from) = (self.row(row), self.first(row));
            let width = row - from;
            for (j, entry) in entries[..width].iter().enumerate() {
                let (to, other) = b.two_rows_mut(row, from + j);
                axpy(-entry, other, to);
            }
            b.row_mut(row).iter_mut().for_each(|x| *x /= entries[width]);
        }
    }

    /// B ← L⁻ᵀ B, by the rows of B.
    pub fn solve_upper(&self, b: &mut Matrix) {
        for row in (0..self.rows()).rev() {
            let (entries, from) = (self.row(row), self.first(row));
            let width = row - from;
            b.row_mut(row).iter_mut().for_each(|x| *x /= entries[width]);
            for (j, entry) in entries[..width].iter().enumerate() {
                let (to, other) = b.two_rows_mut(from + j, row);
                axpy(-entry, other, to);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two chains that share their last row: first columns 0, 0, 2, 2, 1.
    fn arrow() -> (Envelope, Matrix) {
        let rows = [
            [4.0, 1.0, 0.0, 0.0, 0.0],
            [1.0, 5.0, 0.0, 0.0, 2.0],
            [0.0, 0.0, 3.0, -1.0, 0.5],
            [0.0, 0.0, -1.0, 6.0, 1.0],
            [0.0, 2.0, 0.5, 1.0, 7.0],
        ];
        let dense = Matrix::from_fn(5, 5, |i, j| rows[i][j]);
        let mut a = Envelope::default();
        // 1 + 4 + 1 + 4 + 16 products.
        assert_eq!(a.set_profile([0, 0, 2, 2, 1].into_iter()), 26);
        a.clear();
        for i in 0..5 {
            let first = a.first(i);
            a.row_mut(i).copy_from_slice(&rows[i][first..=i]);
        }
        (a, dense)
    }

    #[test]
    fn the_factor_times_its_transpose_is_the_matrix_and_solves_it() {
        let (mut a, dense) = arrow();
        a.factorize(|_, left| left.sqrt());
        let l = Matrix::from_fn(5, 5, |i, j| match j {
            j if j < a.first(i) || j > i => 0.0,
            j => a.row(i)[j - a.first(i)],
        });
        let product = l.mul(&l.transpose());
        let close = |x: f64, y: f64| (x - y).abs() < 1e-14 * 7.0;
        assert!((0..25).all(|k| close(product[(k / 5, k % 5)], dense[(k / 5, k % 5)])), "{product:?}");
        let x = [1.0, -2.0, 3.0, 0.25, -0.5];
        let mut b = dense.mul_vec(&x);
        let mut columns = Matrix::from_fn(5, 2, |i, j| b[i] * (1.0 + j as f64));
        a.solve(&mut b);
        a.solve_lower(&mut columns);
        a.solve_upper(&mut columns);
        // The condition of A is below 4.
        assert!(b.iter().zip(x).all(|(b, x)| (b - x).abs() < 1e-14));
        assert!((0..5).all(|i| (columns[(i, 1)] - 2.0 * x[i]).abs() < 1e-14));
    }

    #[test]
    fn a_row_that_depends_on_others_is_passed_over() {
        let mut a = Envelope::default();
        a.set_profile([0, 0, 1].into_iter());
        a.clear();
        // Row 1 is twice row 0; row 2 stands alone.
        a.row_mut(0).copy_from_slice(&[1.0]);
        a.row_mut(1).copy_from_slice(&[2.0, 4.0]);
        a.row_mut(2).copy_from_slice(&[0.0, 9.0]);
        a.factorize(|diagonal, left| if left > 1e-11 * diagonal { left.sqrt() } else { f64::INFINITY });
        let mut x = [3.0, 6.0, 18.0];
        a.solve(&mut x);
        assert_eq!(x, [3.0, 0.0, 2.0]);
    }
}
