//! The dictionary of the pivoting methods, and the scaling of the matrices that enter it.
//!
//! ```text
//! x_B = T x_N + t
//! ```
//!
//! Only the columns of the nonbasic variables x_N and the constants t (the last column) are stored. A pivot
//! on (r, c) exchanges the basic variable of row r with the nonbasic one of column c; the caller keeps track
//! of which variables these are.

use super::matrix::{Matrix, axpy};

/// Coefficients T and constants t of x_B = T x_N + t, row-major, the constants last in each row.
#[derive(Clone, Debug)]
pub struct Dictionary {
    cols: usize,
    data: Vec<f64>,
    pivot_row: Vec<f64>,
}

impl Dictionary {
    /// A dictionary of zeros with this number of rows and of columns, constants included.
    pub fn zeros(rows: usize, cols: usize) -> Self {
        Dictionary { cols, data: vec![0.0; rows * cols], pivot_row: vec![0.0; cols] }
    }

    pub fn row(&self, i: usize) -> &[f64] {
        &self.data[i * self.cols..(i + 1) * self.cols]
    }

    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.data[i * self.cols..(i + 1) * self.cols]
    }

    pub fn at(&self, i: usize, j: usize) -> f64 {
        self.data[i * self.cols + j]
    }

    /// tᵢ, the value of the i-th basic variable where the nonbasic ones are zero.
    pub fn constant(&self, i: usize) -> f64 {
        self.data[(i + 1) * self.cols - 1]
    }

    /// Exchanges the variables of row r and column c; nothing is allocated.
    pub fn pivot(&mut self, r: usize, c: usize) {
        self.exchange(r, c, 1.0 / self.at(r, c));
    }

    /// As [`Dictionary::pivot`] where the variable that leaves the basis stays at zero for good: its column
    /// becomes zero.
    pub fn pivot_and_drop(&mut self, r: usize, c: usize) {
        self.exchange(r, c, 0.0);
    }

    /// Rows i and j change places.
    pub fn exchange_rows(&mut self, i: usize, j: usize) {
        if i != j {
            let n = self.cols;
            let (above, below) = self.data.split_at_mut(i.max(j) * n);
            above[i.min(j) * n..][..n].swap_with_slice(&mut below[..n]);
        }
    }

    /// Columns i and j change places.
    pub fn exchange_columns(&mut self, i: usize, j: usize) {
        self.data.chunks_exact_mut(self.cols).for_each(|row| row.swap(i, j));
    }

    fn exchange(&mut self, r: usize, c: usize, new_entry: f64) {
        let inverse = -1.0 / self.at(r, c);
        for (new, old) in self.pivot_row.iter_mut().zip(&self.data[r * self.cols..]) {
            *new = old * inverse;
        }
        self.pivot_row[c] = new_entry;
        for (i, row) in self.data.chunks_exact_mut(self.cols).enumerate() {
            if i == r {
                row.copy_from_slice(&self.pivot_row);
            } else if row[c] != 0.0 {
                let factor = row[c];
                row[c] = 0.0;
                axpy(factor, &self.pivot_row, row);
            }
        }
    }
}

/// Powers of two r, c such that the rows and columns of diag(r) A diag(c) have largest entries near 1.
///
/// Powers of two leave every mantissa as it is. Positive row and column scalings keep the complementarity
/// problem and the matrix classes (P, sufficient, Q₀) that decide whether pivoting methods apply.
pub fn equilibrate(a: &Matrix) -> (Vec<f64>, Vec<f64>) {
    let (m, n) = (a.rows(), a.cols());
    let mut scale = (vec![1.0; m], vec![1.0; n]);
    let (mut row_max, mut col_max) = (vec![0.0_f64; m], vec![0.0_f64; n]);
    // Each sweep takes the square root of the ratio (Ruiz); four bring ratios of 1e16 to about 10.
    for _ in 0..4 {
        row_max.fill(0.0);
        col_max.fill(0.0);
        for i in 0..m {
            let mut largest = 0.0_f64;
            for ((x, c), top) in a.row(i).iter().zip(&scale.1).zip(&mut col_max) {
                let size = (x * c * scale.0[i]).abs();
                largest = largest.max(size);
                *top = top.max(size);
            }
            row_max[i] = largest;
        }
        let near_one = |x: &f64| *x == 0.0 || (0.25..=4.0).contains(x);
        if row_max.iter().chain(&col_max).all(near_one) {
            break;
        }
        for (s, top) in scale.0.iter_mut().zip(&row_max).chain(scale.1.iter_mut().zip(&col_max)) {
            if *top > 0.0 {
                // Bounded, so that scaled data cannot overflow whatever the matrix holds.
                *s = (*s / power_of_two_below(top.sqrt())).clamp(1e-140, 1e140);
                *s = power_of_two_below(*s);
            }
        }
    }
    scale
}

/// The largest power of two that is not above x > 0 (x normal).
pub fn power_of_two_below(x: f64) -> f64 {
    f64::from_bits(x.max(f64::MIN_POSITIVE).to_bits() & 0x7ff0_0000_0000_0000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pivot_twice_is_the_identity() {
        let rows = [[2.0, 1.0, 3.0], [4.0, -1.0, 5.0]];
        let mut d = Dictionary::zeros(2, 3);
        for (i, r) in rows.iter().enumerate() {
            d.row_mut(i).copy_from_slice(r);
        }
        // x₀ = 2a + b + 3 and x₁ = 4a − b + 5 give a = x₀/2 − b/2 − 3/2 and x₁ = 2x₀ − 3b − 1.
        d.pivot(0, 0);
        assert_eq!(d.row(0), [0.5, -0.5, -1.5]);
        assert_eq!(d.row(1), [2.0, -3.0, -1.0]);
        let mut e = d.clone();
        d.pivot(0, 0);
        assert_eq!(d.row(0), rows[0]);
        assert_eq!(d.row(1), rows[1]);
        e.pivot_and_drop(1, 1);
        assert_eq!(e.row(1)[1], 0.0);
    }

    #[test]
    fn equilibrated_rows_and_columns_are_near_one() {
        let a = Matrix::from_rows(&[[1e8, 1e3, 0.0], [1e3, 1e-6, 0.0], [0.0, 0.0, 1e-300]]);
        let (r, c) = equilibrate(&a);
        for i in 0..3 {
            let row = (0..3).fold(0.0_f64, |m, j| m.max((a[(i, j)] * r[i] * c[j]).abs()));
            assert!((0.05..=8.0).contains(&row) || i == 2, "row {i}: {row}");
        }
        assert!(r.iter().chain(&c).all(|x| x.log2().fract() == 0.0));
        assert_eq!(power_of_two_below(5.0), 4.0);
    }
}
