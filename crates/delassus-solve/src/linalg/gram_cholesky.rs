//! Cholesky factors of sparse matrices that are products.
//!
//! ```text
//! W = H M⁻¹ Hᵀ (n × n) ,   D W D = Uᵀ U
//! ```
//!
//! H is n × m and sparse, M diagonal, D makes the diagonal of D W D one. Rows that have no column of H in
//! common do not see each other: a row of loops costs as much as it has loops. The order of elimination is
//! that of least degree and is computed once per pattern; small matrices are taken as dense and in the order
//! given.

use super::elimination::least_degree;
use super::{Sparse, axpy, dot, rank_tolerance};

/// Rows up to which a matrix counts as dense: the search for an order costs more than it saves.
const MAX_DENSE_ROWS: usize = 16;
/// Multiplications of a factorization up to which it is made.
const MAX_WORK: usize = 100_000_000;

/// Factors on a pattern that is found once, in memory that is kept.
#[derive(Clone, Debug, Default)]
pub struct GramCholesky {
    rows: usize,
    /// The pattern of Hᵀ that the rest belongs to, and whether its factorization is not too much work.
    from_start: Vec<usize>,
    from_column: Vec<usize>,
    possible: bool,
    /// Which row is eliminated k-th.
    order: Vec<usize>,
    /// Row k of U in the order of elimination: itself, then ascending.
    start: Vec<usize>,
    column: Vec<usize>,
    upper: Vec<f64>,
    /// Where the product of each pair of entries of a row of Hᵀ goes.
    target: Vec<u32>,
    scale: Vec<f64>,
    x: Vec<f64>,
}

impl GramCholesky {
    /// The factors of W with Hᵀ given (m × n) and M; false where W is singular to working precision, or has
    /// too many entries.
    pub fn factorize(&mut self, h: &Sparse, mass: &[f64]) -> bool {
        if self.rows != h.cols() || self.from_start != h.starts() || self.from_column != h.columns() {
            self.find_pattern(h);
        }
        self.possible && self.assemble(h, mass) && self.eliminate()
    }

    /// Multiplications and additions of a factorization, about.
    pub fn work(&self) -> usize {
        self.start.windows(2).map(|row| (row[1] - row[0]).pow(2)).sum()
    }

    /// x ← W⁻¹ x.
    pub fn solve(&mut self, b: &mut [f64]) {
        let GramCholesky { order, start, column, upper, scale, x, .. } = self;
        x.clear();
        x.extend(order.iter().zip(&*scale).map(|(&i, s)| s * b[i]));
        for k in 0..x.len() {
            let (columns, row) = (&column[start[k]..start[k + 1]], &upper[start[k]..start[k + 1]]);
            x[k] /= row[0];
            let done = x[k];
            match is_dense(columns) {
                true => axpy(-done, &row[1..], &mut x[k + 1..k + row.len()]),
                false => columns[1..].iter().zip(&row[1..]).for_each(|(&j, u)| x[j] -= done * u),
            }
        }
        for k in (0..x.len()).rev() {
            let (columns, row) = (&column[start[k]..start[k + 1]], &upper[start[k]..start[k + 1]]);
            let sum = match is_dense(columns) {
                true => dot(&row[1..], &x[k + 1..k + row.len()]),
                false => columns[1..].iter().zip(&row[1..]).map(|(&j, u)| u * x[j]).sum(),
            };
            x[k] = (x[k] - sum) / row[0];
        }
        for (k, &i) in order.iter().enumerate() {
            b[i] = scale[k] * x[k];
        }
    }

    /// Order of elimination, pattern of U and targets of products.
    fn find_pattern(&mut self, h: &Sparse) {
        let n = h.cols();
        self.rows = n;
        self.from_start.clear();
        self.from_start.extend_from_slice(h.starts());
        self.from_column.clear();
        self.from_column.extend_from_slice(h.columns());
        self.order.clear();
        self.start.clear();
        self.column.clear();
        self.start.push(0);
        self.possible = true;
        if n <= MAX_DENSE_ROWS {
            self.order.extend(0..n);
            for k in 0..n {
                self.column.extend(k..n);
                self.start.push(self.column.len());
            }
        } else {
            self.possible = self.find_sparse_pattern(h);
        }
        if self.possible {
            self.find_targets(h);
        }
    }

    fn find_sparse_pattern(&mut self, h: &Sparse) -> bool {
        let n = h.cols();
        let mut near: Vec<Vec<usize>> = vec![vec![]; n];
        for i in 0..h.rows() {
            let columns = h.row(i).0;
            columns.iter().for_each(|&j| near[j].extend(columns.iter().filter(|k| **k != j)));
        }
        for list in &mut near {
            list.sort_unstable();
            list.dedup();
        }
        let Some((order, rows, _)) = least_degree(near, MAX_WORK) else { return false };
        let mut position = vec![0; n];
        order.iter().enumerate().for_each(|(k, &i)| position[i] = k);
        for (k, row) in rows.iter().enumerate() {
            let from = self.column.len();
            self.column.push(k);
            self.column.extend(row.iter().map(|&j| position[j]));
            self.column[from..].sort_unstable();
            self.start.push(self.column.len());
        }
        self.order = order;
        true
    }

    fn find_targets(&mut self, h: &Sparse) {
        let GramCholesky { order, start, column, target, .. } = self;
        let mut position = vec![0; order.len()];
        order.iter().enumerate().for_each(|(k, &i)| position[i] = k);
        target.clear();
        for i in 0..h.rows() {
            let columns = h.row(i).0;
            for (a, &j) in columns.iter().enumerate() {
                for &k in &columns[a..] {
                    let [first, last] = [position[j].min(position[k]), position[j].max(position[k])];
                    let place = column[start[first]..start[first + 1]].partition_point(|c| *c < last);
                    target.push((start[first] + place) as u32);
                }
            }
        }
    }

    /// D W D; false where D has entries that are none.
    fn assemble(&mut self, h: &Sparse, mass: &[f64]) -> bool {
        let GramCholesky { start, column, upper, target, scale, .. } = self;
        upper.clear();
        upper.resize(column.len(), 0.0);
        let mut targets = target.iter();
        for (i, m) in mass.iter().enumerate() {
            let values = h.row(i).1;
            for (a, value) in values.iter().enumerate() {
                for (other, &at) in values[a..].iter().zip(&mut targets) {
                    upper[at as usize] += value * other / m;
                }
            }
        }
        let n = start.len() - 1;
        if (0..n).any(|k| upper[start[k]].is_nan() || upper[start[k]] <= 0.0) {
            return false;
        }
        scale.clear();
        scale.extend((0..n).map(|k| 1.0 / upper[start[k]].sqrt()));
        for k in 0..n {
            let row = start[k]..start[k + 1];
            upper[row.clone()].iter_mut().zip(&column[row]).for_each(|(x, &j)| *x = scale[k] * *x * scale[j]);
        }
        true
    }

    /// U in the place of D W D.
    fn eliminate(&mut self) -> bool {
        let GramCholesky { start, column, upper, .. } = self;
        let n = start.len() - 1;
        for k in 0..n {
            let (done, rest) = upper.split_at_mut(start[k + 1]);
            let (columns, row) = (&column[start[k]..start[k + 1]], &mut done[start[k]..]);
            if row[0].is_nan() || row[0] < rank_tolerance(n, n) {
                return false;
            }
            let pivot = row[0].sqrt();
            row.iter_mut().for_each(|x| *x /= pivot);
            for (e, &i) in columns.iter().enumerate().skip(1).filter(|(e, _)| row[*e] != 0.0) {
                let [from, to] = [start[i] - start[k + 1], start[i + 1] - start[k + 1]];
                let (factor, other) = (-row[e], &mut rest[from..to]);
                if other.len() == row.len() - e {
                    axpy(factor, &row[e..], other);
                    continue;
                }
                // The columns of row k behind i are among those of row i.
                let mut places = column[start[i]..start[i + 1]].iter().zip(other);
                for (j, x) in columns[e..].iter().zip(&row[e..]) {
                    if let Some((_, y)) = places.find(|(column, _)| *column == j) {
                        *y += factor * x;
                    }
                }
            }
        }
        true
    }
}

/// Whether ascending columns have no gap.
fn is_dense(columns: &[usize]) -> bool {
    columns[columns.len() - 1] - columns[0] == columns.len() - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{Matrix, norm};
    use crate::random::Random;

    /// Hᵀ of n rows in a chain: each sees the next ones by three columns that they share.
    fn chain(n: usize, random: &mut Random) -> (Sparse, Vec<f64>) {
        let entries: Vec<_> = (0..n)
            .flat_map(|j| (0..4).map(move |c| (2 * j + c, j)))
            .map(|(i, j)| (i, j, random.centred() + if i == 2 * j { 3.0 } else { 0.0 }))
            .collect();
        (Sparse::from_triplets(2 * n + 2, n, &entries), (0..2 * n + 2).map(|_| 0.5 + random.unit()).collect())
    }

    #[test]
    fn factors_solve_what_a_dense_factorization_solves() {
        let mut random = Random(5);
        let mut factors = GramCholesky::default();
        for n in [1, 3, 16, 17, 40, 90] {
            let (h, mass) = chain(n, &mut random);
            let dense = h.to_dense();
            let scaled = Matrix::from_fn(dense.rows(), n, |i, j| dense[(i, j)] / mass[i]);
            let w = dense.transpose().mul(&scaled);
            let b: Vec<f64> = (0..n).map(|_| random.centred()).collect();
            let expected = w.solve_positive_definite(&Matrix::from_fn(n, 1, |i, _| b[i])).unwrap();
            assert!(factors.factorize(&h, &mass));
            let mut x = b;
            factors.solve(&mut x);
            let error: Vec<f64> = (0..n).map(|i| x[i] - expected[(i, 0)]).collect();
            // Rounding times the condition of W, here below 1e3.
            assert!(norm(&error) < 1e-11 * norm(&x), "{n}: {:e}", norm(&error));
        }
    }

    #[test]
    fn the_work_of_a_chain_grows_as_its_length() {
        let mut random = Random(9);
        let mut work = |n: usize| {
            let (h, mass) = chain(n, &mut random);
            let mut factors = GramCholesky::default();
            assert!(factors.factorize(&h, &mass));
            factors.work() as f64 / n as f64
        };
        let short = work(100);
        assert!(work(2000) < 1.05 * short && short < 20.0, "{short}");
    }

    #[test]
    fn what_depends_on_others_is_refused() {
        let entries = [(0, 0, 1.0), (1, 0, 2.0), (0, 1, 2.0), (1, 1, 4.0)];
        let h = Sparse::from_triplets(2, 2, &entries);
        assert!(!GramCholesky::default().factorize(&h, &[1.0, 1.0]));
        assert!(!GramCholesky::default().factorize(&Sparse::zeros(2, 1), &[1.0, 1.0]));
    }
}
