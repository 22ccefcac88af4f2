//! LU factorization of sparse matrices of small blocks.
//!
//! ```text
//! A = W + blockdiag(D₁ … D_n) = L U
//! ```
//!
//! A has n block rows of D × D blocks: the Newton systems of all contact solvers. The sparsity pattern is
//! symmetric; the values need not be. Rows are not exchanged, because the diagonal blocks of such a matrix
//! carry the pivots. The elimination order has minimum degree in the graph of blocks and is computed once per
//! pattern.

use super::block_matrix::{Block, BlockMatrix, Vector, inverse, mul, mul_sub, product, zero_block};
use super::elimination::least_degree;

/// LU factors on a pattern that is found once and used for many matrices.
#[derive(Clone, Debug)]
pub struct BlockLu<const D: usize> {
    /// Which row is eliminated k-th, and when each row is.
    order: Vec<usize>,
    position: Vec<usize>,
    /// Strictly upper pattern of row k in the order of elimination, ascending; the strictly lower pattern of
    /// column k is its mirror image.
    upper_start: Vec<usize>,
    upper: Vec<usize>,
    /// Strictly lower pattern of row k: columns ascending.
    lower_start: Vec<usize>,
    lower: Vec<usize>,
    upper_value: Vec<Block<D>>,
    lower_value: Vec<Block<D>>,
    /// U_kk⁻¹.
    pivot: Vec<Block<D>>,
    /// One row being worked on.
    row: Vec<Block<D>>,
    x: Vector<D>,
    /// Products of blocks that a factorization takes, about.
    work: usize,
}

impl<const D: usize> BlockLu<D> {
    /// Memory for the factors of matrices with the pattern of `a`; `None` where a factorization takes more
    /// than `work_max` products of blocks.
    pub fn new(a: &BlockMatrix<D>, work_max: usize) -> Option<Self> {
        let n = a.len();
        let near = (0..n)
            .map(|i| a.column[a.start[i]..a.start[i + 1]].iter().copied().filter(|&j| j != i).collect())
            .collect();
        let (order, rows, work) = least_degree(near, work_max)?;
        let mut position = vec![0; n];
        for (k, &i) in order.iter().enumerate() {
            position[i] = k;
        }
        let mut upper_start = vec![0; n + 1];
        let mut upper = Vec::with_capacity(rows.iter().map(Vec::len).sum());
        let mut lower_start = vec![0; n + 1];
        for (k, row) in rows.iter().enumerate() {
            let from = upper.len();
            upper.extend(row.iter().map(|&j| position[j]));
            upper[from..].sort_unstable();
            upper_start[k + 1] = upper.len();
            for &j in &upper[from..] {
                lower_start[j + 1] += 1;
            }
        }
        for k in 0..n {
            lower_start[k + 1] += lower_start[k];
        }
        let mut next = lower_start.clone();
        let mut lower = vec![0; upper.len()];
        for k in 0..n {
            for &j in &upper[upper_start[k]..upper_start[k + 1]] {
                lower[next[j]] = k;
                next[j] += 1;
            }
        }
        Some(BlockLu {
            upper_value: vec![zero_block(); upper.len()],
            lower_value: vec![zero_block(); lower.len()],
            pivot: vec![zero_block(); n],
            row: vec![zero_block(); n],
            x: vec![[0.0; D]; n],
            order,
            position,
            upper_start,
            upper,
            lower_start,
            lower,
            work,
        })
    }

    /// Products of blocks that a factorization takes, about.
    pub fn work(&self) -> usize {
        self.work
    }

    /// The same in multiplications of numbers.
    pub fn multiplications(&self) -> u64 {
        (self.work as u64).saturating_mul((D * D * D) as u64)
    }

    /// Factors A + blockdiag(shift); false where a pivot is singular.
    pub fn factor(&mut self, a: &BlockMatrix<D>, shift: &[Block<D>]) -> bool {
        self.factor_rows(a, shift, |_, block| *block)
    }

    /// Factors blockdiag(left) A + blockdiag(shift); false where a pivot is singular.
    pub fn factor_scaled(&mut self, a: &BlockMatrix<D>, left: &[Block<D>], shift: &[Block<D>]) -> bool {
        self.factor_rows(a, shift, |i, block| product(&left[i], block))
    }

    #[inline(always)]
    fn factor_rows(
        &mut self,
        a: &BlockMatrix<D>,
        shift: &[Block<D>],
        scaled: impl Fn(usize, &Block<D>) -> Block<D>,
    ) -> bool {
        let n = self.pivot.len();
        for k in 0..n {
            let (l, u) =
                (self.lower_start[k]..self.lower_start[k + 1], self.upper_start[k]..self.upper_start[k + 1]);
            for &j in self.lower[l.clone()].iter().chain(&self.upper[u.clone()]) {
                self.row[j] = zero_block();
            }
            let i = self.order[k];
            for at in a.start[i]..a.start[i + 1] {
                self.row[self.position[a.column[at]]] = scaled(i, &a.value[at]);
            }
            for r in 0..D {
                for c in 0..D {
                    self.row[k][r][c] += shift[i][r][c];
                }
            }
            for at in l {
                let j = self.lower[at];
                let factor = product(&self.row[j], &self.pivot[j]);
                self.lower_value[at] = factor;
                let range = self.upper_start[j]..self.upper_start[j + 1];
                for (b, &c) in self.upper_value[range.clone()].iter().zip(&self.upper[range]) {
                    mul_sub(&mut self.row[c], &factor, b);
                }
            }
            for at in u {
                self.upper_value[at] = self.row[self.upper[at]];
            }
            match inverse(&self.row[k]) {
                Some(pivot) => self.pivot[k] = pivot,
                None => return false,
            }
        }
        true
    }

    /// b ← A⁻¹ b.
    pub fn solve(&mut self, b: &mut [[f64; D]]) {
        let n = self.pivot.len();
        for k in 0..n {
            let mut y = b[self.order[k]];
            let range = self.lower_start[k]..self.lower_start[k + 1];
            for (l, &j) in self.lower_value[range.clone()].iter().zip(&self.lower[range]) {
                let t = mul(l, &self.x[j]);
                for r in 0..D {
                    y[r] -= t[r];
                }
            }
            self.x[k] = y;
        }
        for k in (0..n).rev() {
            let mut y = self.x[k];
            let range = self.upper_start[k]..self.upper_start[k + 1];
            for (u, &j) in self.upper_value[range.clone()].iter().zip(&self.upper[range]) {
                let t = mul(u, &self.x[j]);
                for r in 0..D {
                    y[r] -= t[r];
                }
            }
            self.x[k] = mul(&self.pivot[k], &y);
            b[self.order[k]] = self.x[k];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::block_matrix::mul_add;
    use crate::linalg::sparse::Sparse;
    use crate::random::Random;

    /// A matrix of n rows of 2 × 2 blocks with a random pattern, dominated by its diagonal.
    fn example(n: usize, seed: u64) -> BlockMatrix<2> {
        let mut random = Random(seed);
        let mut entries = Vec::new();
        for i in 0..2 * n {
            entries.push((i, i, 8.0));
            for _ in 0..2 {
                entries.push((i, random.below(2 * n), random.centred()));
            }
        }
        let place: Vec<(usize, usize)> = (0..2 * n).map(|i| (i / 2, i % 2)).collect();
        BlockMatrix::from_sparse(
            n,
            &Sparse::from_triplets(2 * n, 2 * n, &entries),
            &place,
            &vec![1.0; 2 * n],
            1.0,
        )
    }

    #[test]
    fn factors_solve() {
        for n in [1, 2, 7, 40] {
            let a = example(n, 3 + n as u64);
            let shift = vec![[[0.5, 0.25], [-0.25, 0.5]]; n];
            let x: Vector<2> = (0..n).map(|i| [i as f64 - 3.0, 1.0 / (1.0 + i as f64)]).collect();
            let mut b = vec![[0.0; 2]; n];
            a.mul_into(&x, &mut b);
            for i in 0..n {
                mul_add(&mut b[i], &shift[i], &x[i]);
            }
            let mut lu = BlockLu::new(&a, usize::MAX).unwrap();
            assert!(lu.factor(&a, &shift));
            lu.solve(&mut b);
            for (p, q) in x.iter().flatten().zip(b.iter().flatten()) {
                // Diagonal dominance keeps the condition number below 10.
                assert!((p - q).abs() < 1e-12 * n as f64, "{n}: {p} {q}");
            }
        }
    }

    #[test]
    fn a_singular_pivot_is_refused() {
        let a: BlockMatrix<1> = BlockMatrix::from_sparse(1, &Sparse::zeros(1, 1), &[(0, 0)], &[1.0], 1.0);
        assert!(!BlockLu::new(&a, 1).unwrap().factor(&a, &[[[0.0]]]));
    }
}
