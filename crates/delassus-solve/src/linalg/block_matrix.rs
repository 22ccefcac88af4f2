//! Square sparse matrices of small dense blocks.
//!
//! ```text
//! y_i = Σ_j A_ij x_j ,   A_ij ∈ R^{D×D} ,   i = 1 … n
//! ```
//!
//! A block A_ij is stored wherever constraints i and j touch the same body. The sparsity pattern is
//! symmetric; the values need not be. The LU factors of such a matrix are in [`crate::linalg::block_lu`].

use std::sync::atomic::{AtomicBool, Ordering};

use super::parallel;
use super::sparse::Sparse;

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
pub(super) fn mul_sub<const D: usize>(c: &mut Block<D>, a: &Block<D>, b: &Block<D>) {
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
    /// The matrix of n block rows with the entries of a sparse matrix. `place` gives which block and which
    /// row of it a single row belongs to, D as the row where it belongs to none; each entry is multiplied by
    /// the scale of its row and of its column, and by `unit`.
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

    /// Finds where there are blocks, as [`BlockMatrix::from_sparse`]; `first` is where the rows of each block
    /// begin.
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
        self.start.reserve(n + 1);
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
            // Full blocks, and a diagonal.
            self.column.reserve(n + a.stored() / (D * D));
            for i in 0..n {
                near(i, &mut self.column);
                self.start.push(self.column.len());
            }
        }
        self.make_symmetric();
        self.diagonal.clear();
        self.diagonal.reserve(n);
        for i in 0..n {
            let row = &self.column[self.start[i]..self.start[i + 1]];
            self.diagonal.push(self.start[i] + row.partition_point(|&j| j < i));
        }
        if self.value.capacity() == 0 {
            // Memory that is zero when it comes.
            self.value = vec![zero_block(); self.column.len()];
        } else {
            self.value.clear();
            self.value.resize(self.column.len(), zero_block());
        }
    }

    /// Adds the places of the mirror image.
    fn make_symmetric(&mut self) {
        let n = self.start.len() - 1;
        // Row by row, each place below the diagonal must be the next one that the rows above have announced.
        // The diagonal is found afterwards: until then its memory serves as scratch.
        let mut next = std::mem::take(&mut self.diagonal);
        next.clone_from(&self.start);
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
        self.diagonal = next;
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

    /// Becomes a copy of another matrix in the memory that it has.
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
        rows.reserve(n);
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

    /// Writes the rows and columns of an ascending list to `out`; `index` is scratch with one entry per row.
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
pub struct Islands {
    /// Rows.
    pub rows: Vec<usize>,
    /// Where each component begins in `rows`, and the number of rows as a last entry.
    pub start: Vec<usize>,
    seen: Vec<bool>,
    open: Vec<usize>,
}

impl<const D: usize> BlockMatrix<D> {
    /// Whether `other` has its blocks where this matrix has them in another order: row k of `other` is row
    /// `order[k]`, and `place` is the inverse of `order`.
    pub(crate) fn permutes_to(&self, order: &[usize], place: &[usize], other: &Self) -> bool {
        other.start.len() == self.start.len()
            && order.iter().enumerate().all(|(k, &i)| {
                let (from, to) = (self.start[i]..self.start[i + 1], other.start[k]..other.start[k + 1]);
                let row = &other.column[to];
                from.len() == row.len()
                    && self.column[from].iter().all(|&j| row.binary_search(&place[j]).is_ok())
            })
    }

    /// Gives `out` the places of this matrix in another order, and allocates the values.
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn places_follow_the_entries() {
        let place: Vec<(usize, usize)> = (0..4).map(|i| (i / 2, i % 2)).collect();
        let first = [0, 2, 4];
        let wide = Sparse::from_triplets(4, 4, &[(0, 0, 1.0), (3, 0, 2.0)]);
        let mut a: BlockMatrix<2> = BlockMatrix::from_sparse(2, &wide, &place, &[1.0; 4], 2.0);
        // The mirror image of block (1, 0) and the diagonal are there without an entry.
        assert_eq!(
            (a.start.clone(), a.column.clone(), a.diagonal.clone()),
            (vec![0, 2, 4], vec![0, 1, 0, 1], vec![0, 3])
        );
        assert_eq!(a.value[2], [[0.0, 0.0], [4.0, 0.0]]);
        // Fewer entries fit in, others leave nothing behind; an entry without a block does not.
        let narrow = Sparse::from_triplets(4, 4, &[(2, 2, 3.0)]);
        assert!(a.set_values(&narrow, &first, &place, &[1.0; 4], 1.0));
        assert_eq!((a.value[2], a.value[3]), ([[0.0; 2]; 2], [[3.0, 0.0], [0.0, 0.0]]));
        let mut b: BlockMatrix<2> = BlockMatrix::from_sparse(2, &narrow, &place, &[1.0; 4], 1.0);
        assert!(!b.set_values(&wide, &first, &place, &[1.0; 4], 1.0));
    }

    #[test]
    fn rows_in_another_order() {
        let place: Vec<(usize, usize)> = (0..3).map(|i| (i, 0)).collect();
        let entries = [(0, 0, 1.0), (0, 2, 2.0), (2, 0, 3.0), (1, 1, 4.0), (2, 2, 5.0)];
        let a: BlockMatrix<1> =
            BlockMatrix::from_sparse(3, &Sparse::from_triplets(3, 3, &entries), &place, &[1.0; 3], 1.0);
        let (order, place) = ([2, 0, 1], [1, 2, 0]);
        let mut b = BlockMatrix::default();
        assert!(!a.permutes_to(&order, &place, &b));
        a.permute_places(&order, &place, &mut b);
        a.permute_values(&order, &place, &mut b);
        assert!(a.permutes_to(&order, &place, &b));
        // (A x) in the other order is B times x in the other order.
        let (x, y) = ([[1.0], [10.0], [100.0]], [[100.0], [1.0], [10.0]]);
        for (k, &i) in order.iter().enumerate() {
            assert_eq!(b.row_times(k, &y), a.row_times(i, &x));
        }
    }
}
