//! Square sparse matrices of small dense blocks, and their LU factors.
//!
//! A ∈ R^{nD×nD} has a D × D block A_ij wherever constraints i and j touch the same body. The Newton systems of all
//! contact solvers are W + blockdiag(D₁ … D_n): one sparsity pattern, symmetric, with values that need not be. The factors
//! A = L U are taken without exchanging rows: the diagonal blocks of such a matrix carry the pivots. The order of
//! elimination is that of least degree in the graph of blocks, found once for a pattern.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::solvers::parallel;
use crate::sparse::Sparse;

/// A vector of blocks.
pub type Vector<const D: usize> = Vec<[f64; D]>;

/// A D × D block, row by row.
pub type Block<const D: usize> = [[f64; D]; D];

/// A block of zeros.
pub const fn zero_block<const D: usize>() -> Block<D> {
    [[0.0; D]; D]
}

/// A x for a block.
#[inline(always)]
pub fn mul<const D: usize>(a: &Block<D>, x: &[f64; D]) -> [f64; D] {
    let mut y = [0.0; D];
    for r in 0..D {
        for c in 0..D {
            y[r] += a[r][c] * x[c];
        }
    }
    y
}

/// y += A x for a block.
#[inline(always)]
pub fn mul_add<const D: usize>(y: &mut [f64; D], a: &Block<D>, x: &[f64; D]) {
    for r in 0..D {
        let mut sum = 0.0;
        for c in 0..D {
            sum += a[r][c] * x[c];
        }
        y[r] += sum;
    }
}

/// A B for blocks.
#[inline(always)]
pub fn product<const D: usize>(a: &Block<D>, b: &Block<D>) -> Block<D> {
    let mut out = zero_block();
    for r in 0..D {
        for k in 0..D {
            for c in 0..D {
                out[r][c] += a[r][k] * b[k][c];
            }
        }
    }
    out
}

/// C −= A B for blocks.
#[inline(always)]
fn mul_sub<const D: usize>(c: &mut Block<D>, a: &Block<D>, b: &Block<D>) {
    for r in 0..D {
        for k in 0..D {
            for j in 0..D {
                c[r][j] -= a[r][k] * b[k][j];
            }
        }
    }
}

/// A⁻¹ by elimination with exchange of rows; `None` where it is singular.
pub fn inverse<const D: usize>(a: &Block<D>) -> Option<Block<D>> {
    let mut a = *a;
    let mut inv = zero_block();
    for i in 0..D {
        inv[i][i] = 1.0;
    }
    for c in 0..D {
        let mut p = c;
        for r in c + 1..D {
            if a[r][c].abs() > a[p][c].abs() {
                p = r;
            }
        }
        let pivot = a[p][c];
        if pivot == 0.0 || !pivot.is_finite() {
            return None;
        }
        a.swap(p, c);
        inv.swap(p, c);
        let scale = 1.0 / pivot;
        for j in 0..D {
            a[c][j] *= scale;
            inv[c][j] *= scale;
        }
        for r in 0..D {
            if r != c {
                let f = a[r][c];
                for j in 0..D {
                    a[r][j] -= f * a[c][j];
                    inv[r][j] -= f * inv[c][j];
                }
            }
        }
    }
    Some(inv)
}

/// A sparse matrix of blocks in compressed rows, with every diagonal block and a symmetric pattern.
#[derive(Clone, Debug, Default)]
pub struct BlockMatrix<const D: usize> {
    /// Where each row begins, and the number of blocks as a last entry.
    pub start: Vec<usize>,
    /// The column of each block, ascending in a row.
    pub column: Vec<usize>,
    /// The blocks.
    pub value: Vec<Block<D>>,
    /// The place of each diagonal block.
    pub diagonal: Vec<usize>,
}

impl<const D: usize> BlockMatrix<D> {
    /// The matrix of n block rows with the entries of a sparse matrix. `place` says which block and which row of it a
    /// single row belongs to, D as the row where it belongs to none; each entry is multiplied by the scale of its row
    /// and of its column, and by `unit`.
    pub fn from_sparse(n: usize, a: &Sparse, place: &[(usize, usize)], scale: &[f64], unit: f64) -> Self {
        // The rows of a constraint follow each other.
        let mut first = vec![0; n + 1];
        for &(i, _) in place {
            first[i + 1] += 1;
        }
        for i in 0..n {
            first[i + 1] += first[i];
        }
        let mut out = Self::default();
        out.set_places(a, &first, place);
        out.set_values(a, &first, place, scale, unit);
        out
    }

    /// Finds where there are blocks, as [`BlockMatrix::from_sparse`]; `first` says where the rows of each block begin.
    pub(crate) fn set_places(&mut self, a: &Sparse, first: &[usize], place: &[(usize, usize)]) {
        let n = first.len() - 1;
        let near = |i: usize, list: &mut Vec<usize>| {
            let from = list.len();
            let mut sorted = true;
            for row in (first[i]..first[i + 1]).filter(|&row| place[row].1 < D) {
                // Mostly each row has entries in the same blocks as the one before.
                let mut at = from;
                for &c in a.row(row).0 {
                    let (j, k) = place[c];
                    if k == D || (at > from && list[at - 1] == j) {
                        continue;
                    }
                    while at < list.len() && list[at] < j {
                        at += 1;
                    }
                    if at == list.len() || list[at] != j {
                        sorted &= at == list.len();
                        list.push(j);
                        at = list.len();
                    } else {
                        at += 1;
                    }
                }
            }
            if !sorted || list[from..].binary_search(&i).is_err() {
                list.push(i);
                list[from..].sort_unstable();
                let mut kept = from;
                for k in from..list.len() {
                    if k == from || list[k] != list[kept - 1] {
                        list[kept] = list[k];
                        kept += 1;
                    }
                }
                list.truncate(kept);
            }
        };
        self.start.clear();
        self.start.push(0);
        self.column.clear();
        if parallel::shared(n) {
            let mut rows: Vec<Vec<usize>> = vec![Vec::new(); n];
            parallel::fill(&mut rows, |i| {
                let mut list = Vec::new();
                near(i, &mut list);
                list
            });
            self.column.reserve(rows.iter().map(Vec::len).sum());
            for list in rows {
                self.column.extend(list);
                self.start.push(self.column.len());
            }
        } else {
            for i in 0..n {
                near(i, &mut self.column);
                self.start.push(self.column.len());
            }
        }
        self.make_symmetric();
        self.diagonal.clear();
        for i in 0..n {
            let row = &self.column[self.start[i]..self.start[i + 1]];
            self.diagonal.push(self.start[i] + row.partition_point(|&j| j < i));
        }
        self.value.clear();
        self.value.resize(self.column.len(), zero_block());
    }

    /// Adds the places of the mirror image.
    fn make_symmetric(&mut self) {
        let n = self.start.len() - 1;
        // Row by row, each place below the diagonal must be the next one that the rows above have announced.
        let mut next = self.start.clone();
        let symmetric = (0..n).all(|i| {
            let range = self.start[i]..self.start[i + 1];
            let upper = range.start + self.column[range.clone()].partition_point(|&j| j < i);
            next[i] == upper
                && self.column[upper..range.end].iter().filter(|&&j| j > i).all(|&j| {
                    let announced = next[j];
                    next[j] += 1;
                    announced < self.start[j + 1] && self.column[announced] == i
                })
        });
        if symmetric {
            return;
        }
        let mut pairs = Vec::with_capacity(2 * self.column.len());
        for i in 0..n {
            for &j in &self.column[self.start[i]..self.start[i + 1]] {
                pairs.push((i, j));
                pairs.push((j, i));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        self.column.clear();
        self.column.extend(pairs.iter().map(|p| p.1));
        for i in 0..=n {
            self.start[i] = pairs.partition_point(|p| p.0 < i);
        }
    }

    /// Takes over the values, as [`BlockMatrix::from_sparse`]; false where there is an entry without a block.
    pub(crate) fn set_values(
        &mut self,
        a: &Sparse,
        first: &[usize],
        place: &[(usize, usize)],
        scale: &[f64],
        unit: f64,
    ) -> bool {
        let column = &self.column;
        let (start, fits) = (&self.start, AtomicBool::new(true));
        parallel::rows(&mut self.value, start, |i, blocks| {
            let columns = &column[start[i]..start[i + 1]];
            blocks.fill(zero_block());
            for row in first[i]..first[i + 1] {
                let r = place[row].1;
                if r == D {
                    continue;
                }
                let (entries, values) = a.row(row);
                let mut at = 0;
                for (&c, &x) in entries.iter().zip(values) {
                    let (j, k) = place[c];
                    if k == D {
                        continue;
                    }
                    while at < columns.len() && columns[at] < j {
                        at += 1;
                    }
                    if at == columns.len() || columns[at] != j {
                        fits.store(false, Ordering::Relaxed);
                        return;
                    }
                    blocks[at][r][k] = unit * x * scale[row] * scale[c];
                }
            }
        });
        fits.into_inner()
    }

    /// Becomes a copy of another matrix in the room that there is.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.start.clone_from(&other.start);
        self.column.clone_from(&other.column);
        self.value.clone_from(&other.value);
        self.diagonal.clone_from(&other.diagonal);
    }

    /// Number of block rows.
    pub fn len(&self) -> usize {
        self.diagonal.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.diagonal.is_empty()
    }

    /// (A x)_i.
    #[inline]
    pub fn row_times(&self, i: usize, x: &[[f64; D]]) -> [f64; D] {
        let mut y = [0.0; D];
        let range = self.start[i]..self.start[i + 1];
        for (a, &j) in self.value[range.clone()].iter().zip(&self.column[range]) {
            mul_add(&mut y, a, &x[j]);
        }
        y
    }

    /// out ← A x.
    pub fn mul_into(&self, x: &[[f64; D]], out: &mut [[f64; D]]) {
        for (i, o) in out.iter_mut().enumerate() {
            *o = self.row_times(i, x);
        }
    }

    /// Finds the connected components of the graph of blocks that are not zero.
    pub(crate) fn find_islands(&self, islands: &mut Islands) {
        let n = self.len();
        let Islands { rows, start, seen, open } = islands;
        rows.clear();
        start.clear();
        start.push(0);
        seen.clear();
        seen.resize(n, false);
        for first in 0..n {
            if seen[first] {
                continue;
            }
            seen[first] = true;
            open.push(first);
            let from = rows.len();
            while let Some(i) = open.pop() {
                rows.push(i);
                for k in self.start[i]..self.start[i + 1] {
                    let j = self.column[k];
                    if !seen[j] && self.value[k].iter().flatten().any(|x| *x != 0.0) {
                        seen[j] = true;
                        open.push(j);
                    }
                }
            }
            rows[from..].sort_unstable();
            start.push(rows.len());
        }
    }

    /// Writes the rows and columns of an ascending list to `out`; `index` has room for all rows and is used for counting.
    pub(crate) fn select(&self, rows: &[usize], index: &mut [usize], out: &mut Self) {
        for (k, &i) in rows.iter().enumerate() {
            index[i] = k;
        }
        out.start.clear();
        out.start.push(0);
        out.column.clear();
        out.value.clear();
        out.diagonal.clear();
        for (k, &i) in rows.iter().enumerate() {
            for at in self.start[i]..self.start[i + 1] {
                let j = self.column[at];
                let c = index[j];
                if c < rows.len() && rows[c] == j {
                    if c == k {
                        out.diagonal.push(out.column.len());
                    }
                    out.column.push(c);
                    out.value.push(self.value[at]);
                }
            }
            out.start.push(out.column.len());
        }
    }
}

/// Connected components: the rows of each, ascending, one component after the other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Islands {
    /// Rows.
    pub rows: Vec<usize>,
    /// Where each component begins in `rows`, and the number of rows as a last entry.
    pub start: Vec<usize>,
    seen: Vec<bool>,
    open: Vec<usize>,
}

impl<const D: usize> BlockMatrix<D> {
    /// Whether `other` has its blocks where this matrix has them in another order: row k of `other` is row `order[k]`, and
    /// `place` is the inverse of `order`.
    pub(crate) fn permutes_to(&self, order: &[usize], place: &[usize], other: &Self) -> bool {
        other.start.len() == self.start.len()
            && order.iter().enumerate().all(|(k, &i)| {
                let (from, to) = (self.start[i]..self.start[i + 1], other.start[k]..other.start[k + 1]);
                let row = &other.column[to];
                from.len() == row.len()
                    && self.column[from].iter().all(|&j| row.binary_search(&place[j]).is_ok())
            })
    }

    /// Gives `out` the places of this matrix in another order, and room for the values.
    pub(crate) fn permute_places(&self, order: &[usize], place: &[usize], out: &mut Self) {
        out.start.clear();
        out.start.push(0);
        out.column.clear();
        out.diagonal.clear();
        for (k, &i) in order.iter().enumerate() {
            let from = out.column.len();
            out.column.extend(self.column[self.start[i]..self.start[i + 1]].iter().map(|&j| place[j]));
            out.column[from..].sort_unstable();
            out.diagonal.push(from + out.column[from..].partition_point(|&j| j < k));
            out.start.push(out.column.len());
        }
        out.value.resize(out.column.len(), zero_block());
    }

    /// Writes the values to a matrix that has the places of this one in another order.
    pub(crate) fn permute_values(&self, order: &[usize], place: &[usize], out: &mut Self) {
        let BlockMatrix { start, column, value, .. } = out;
        let (start, column) = (&*start, &*column);
        parallel::rows(value, start, |k, blocks| {
            let (i, columns) = (order[k], &column[start[k]..start[k + 1]]);
            for at in self.start[i]..self.start[i + 1] {
                let j = place[self.column[at]];
                blocks[columns.partition_point(|&c| c < j)] = self.value[at];
            }
        });
    }
}

/// LU factors on a pattern that is found once and used for many matrices.
#[derive(Clone, Debug)]
pub struct BlockLu<const D: usize> {
    /// Which row is eliminated k-th, and when each row is.
    order: Vec<usize>,
    position: Vec<usize>,
    /// Strictly upper pattern of row k in the order of elimination, ascending; the strictly lower pattern of column k
    /// is its mirror image.
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
    /// Room for the factors of matrices with the pattern of `a`; `None` where a factorization takes more than `work_max`
    /// products of blocks.
    pub fn new(a: &BlockMatrix<D>, work_max: usize) -> Option<Self> {
        let n = a.len();
        let (order, rows, work) = least_degree(a, work_max)?;
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

/// The order of elimination by least degree, ties by number, and for each row the rows that it is joined with when its
/// turn comes, with the number of products of blocks.
fn least_degree<const D: usize>(
    a: &BlockMatrix<D>,
    work_max: usize,
) -> Option<(Vec<usize>, Vec<Vec<usize>>, usize)> {
    let n = a.len();
    let mut near: Vec<Vec<usize>> = (0..n)
        .map(|i| a.column[a.start[i]..a.start[i + 1]].iter().copied().filter(|&j| j != i).collect())
        .collect();
    // Rows by degree: a list per degree, from which entries that are out of date are dropped when met.
    let mut by_degree: Vec<Vec<usize>> = vec![Vec::new(); n.max(1)];
    for i in (0..n).rev() {
        by_degree[near[i].len()].push(i);
    }
    let mut done = vec![false; n];
    let mut mark = vec![usize::MAX; n];
    let mut order = Vec::with_capacity(n);
    let mut rows = Vec::with_capacity(n);
    let (mut least, mut work) = (0, 0);
    while order.len() < n {
        let Some(i) = by_degree[least].pop() else {
            least += 1;
            continue;
        };
        if done[i] || near[i].len() != least {
            continue;
        }
        done[i] = true;
        let clique = std::mem::take(&mut near[i]);
        work += clique.len() * (clique.len() + 2);
        if work > work_max {
            return None;
        }
        for &j in &clique {
            let list = &mut near[j];
            list.retain(|&k| k != i);
            mark[j] = j;
            for &k in list.iter() {
                mark[k] = j;
            }
            for &k in &clique {
                if mark[k] != j {
                    list.push(k);
                }
            }
            let degree = list.len();
            by_degree[degree].push(j);
            least = least.min(degree);
        }
        order.push(i);
        rows.push(clique);
    }
    Some((order, rows, work))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A matrix of n rows of 2 × 2 blocks with a random pattern, dominated by its diagonal.
    fn example(n: usize, seed: u64) -> BlockMatrix<2> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize
        };
        let mut entries = Vec::new();
        for i in 0..2 * n {
            entries.push((i, i, 8.0));
            for _ in 0..2 {
                entries.push((i, next() % (2 * n), (next() % 1000) as f64 / 1000.0 - 0.5));
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
    fn islands_are_the_components() {
        let place: Vec<(usize, usize)> = (0..5).map(|i| (i, 0)).collect();
        let entries = [(0, 2, 1.0), (2, 0, 1.0), (3, 4, 1.0), (1, 3, 0.0)];
        let a: BlockMatrix<1> =
            BlockMatrix::from_sparse(5, &Sparse::from_triplets(5, 5, &entries), &place, &[1.0; 5], 1.0);
        let mut islands = Islands::default();
        a.find_islands(&mut islands);
        assert_eq!((islands.rows, islands.start), (vec![0, 2, 1, 3, 4], vec![0, 2, 3, 5]));
        let mut part = BlockMatrix::default();
        a.select(&[3, 4], &mut [0; 5], &mut part);
        assert_eq!((part.len(), part.value.len(), part.diagonal.clone()), (2, 4, vec![0, 3]));
        assert_eq!(part.row_times(0, &[[1.0], [2.0]]), [2.0]);
    }

    #[test]
    fn a_singular_pivot_is_refused() {
        let a: BlockMatrix<1> = BlockMatrix::from_sparse(1, &Sparse::zeros(1, 1), &[(0, 0)], &[1.0], 1.0);
        assert!(!BlockLu::new(&a, 1).unwrap().factor(&a, &[[[0.0]]]));
    }
}
