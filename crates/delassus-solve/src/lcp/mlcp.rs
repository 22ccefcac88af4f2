//! The mixed linear complementarity problem.
//!
//! ```text
//! w = M z + q;  wᵢ = 0, zᵢ free on free rows;  0 ≤ zᵢ ⊥ wᵢ ≥ 0 on the others
//! ```
//!
//! M is N × N, the free rows and unknowns carry the same indices. Joints with contacts (000 eq. 29) and
//! circuits with diodes are of this form.
//!
//! Two ways lead to a problem without free unknowns. [`Mlcp::eliminate`] exchanges every free zᵢ with its wᵢ
//! by principal pivots: single ones where the free block allows, else together with one complementary pair
//! (zⱼ, wⱼ) whose roles are then swapped. [`Mlcp::split`] writes z = z⁺ − z⁻ and doubles the free rows; it
//! always works.

use super::{Lcp, ProblemError, check_size, check_square, check_vector, residual};
use crate::linalg::{Dictionary, Matrix, equilibrate};

/// w = M z + q; wᵢ = 0 and zᵢ free where `free[i]`, else 0 ≤ zᵢ ⊥ wᵢ ≥ 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Mlcp {
    /// M, N × N.
    pub matrix: Matrix,
    /// q, N numbers.
    pub vector: Vec<f64>,
    /// Which rows are equations with a free unknown.
    pub free: Vec<bool>,
}

/// A mixed problem brought to an LCP in its complementary pairs, with the way back.
#[derive(Clone, Debug)]
pub struct Elimination {
    /// The problem in the pairs, in the order of the mixed problem (rows and columns scaled).
    pub lcp: Lcp,
    /// For each pair, whether the roles of z and w were exchanged.
    pub swapped: Vec<bool>,
    pairs: Vec<usize>,
    free: Vec<usize>,
    /// z_free = coefficients · z' + constants, constants last in each row; scaled.
    free_rows: Matrix,
    col_scale: Vec<f64>,
}

impl Elimination {
    /// The solution z of the mixed problem that belongs to a solution z' of [`Elimination::lcp`].
    ///
    /// # Panics
    /// If `z` has not one entry per pair.
    pub fn lift(&self, z: &[f64]) -> Vec<f64> {
        let w = self.lcp.slack(z);
        let mut lifted = vec![0.0; self.col_scale.len()];
        for (k, &i) in self.pairs.iter().enumerate() {
            lifted[i] = self.col_scale[i] * if self.swapped[k] { w[k] } else { z[k] };
        }
        for (k, &i) in self.free.iter().enumerate() {
            let row = self.free_rows.row(k);
            let sum: f64 = row.iter().zip(z).map(|(a, x)| a * x).sum();
            lifted[i] = self.col_scale[i] * (sum + row[z.len()]);
        }
        lifted
    }
}

/// Pivots of the equilibrated matrix below this are no pivots.
const SMALLEST_PIVOT: f64 = 1e-11;

impl Mlcp {
    /// The problem with these data, checked for size and finiteness.
    pub fn new(matrix: Matrix, vector: Vec<f64>, free: Vec<bool>) -> Result<Self, ProblemError> {
        check_square(["rows of the matrix", "columns of the matrix"], vector.len(), &matrix)?;
        check_size("flags of free rows", vector.len(), free.len())?;
        check_vector(&vector)?;
        Ok(Mlcp { matrix, vector, free })
    }

    /// Number of unknowns N.
    pub fn size(&self) -> usize {
        self.vector.len()
    }

    /// w = M z + q.
    pub fn slack(&self, z: &[f64]) -> Vec<f64> {
        residual::slack(&self.matrix, &self.vector, z)
    }

    /// ‖f‖₂/‖q‖₂ with fᵢ = wᵢ on free rows and min(zᵢ, wᵢ) on the others, in the units of [`Lcp::residual`].
    ///
    /// # Panics
    /// If `z` has not N entries.
    pub fn residual(&self, z: &[f64]) -> f64 {
        self.measure().residual(z)
    }

    /// What the points of the problem are measured with.
    pub(super) fn measure(&self) -> residual::Measure<'_> {
        residual::Measure::new(&self.matrix, &self.vector, &self.free)
    }

    /// ‖f‖∞ of f as it is, in the units of z and w.
    ///
    /// # Panics
    /// If `z` has not N entries.
    pub fn physical_residual(&self, z: &[f64]) -> f64 {
        residual::physical(&self.matrix, &self.vector, z, |i| self.free[i])
    }

    /// Eliminates the free unknowns by principal pivots, or `None` where there are none to be found.
    pub fn eliminate(&self) -> Option<Elimination> {
        let n = self.size();
        let (row_scale, col_scale) = equilibrate(&self.matrix);
        let mut d = Dictionary::zeros(n, n + 1);
        for i in 0..n {
            let row = d.row_mut(i);
            for ((t, m), c) in row.iter_mut().zip(self.matrix.row(i)).zip(&col_scale) {
                *t = row_scale[i] * m * c;
            }
            row[n] = row_scale[i] * self.vector[i];
        }
        let free: Vec<usize> = (0..n).filter(|&i| self.free[i]).collect();
        let pairs: Vec<usize> = (0..n).filter(|&i| !self.free[i]).collect();
        let mut swapped = vec![false; n];
        // Free rows and columns not yet used, and the row where each free unknown became basic.
        let (mut rows, mut cols) = (free.clone(), free.clone());
        let mut row_of = vec![usize::MAX; n];
        while !cols.is_empty() {
            let (single, r, c) = largest_entry(&d, &rows, &cols);
            let double = if single < 1e-3 { best_double(&d, &rows, &cols, &pairs) } else { None };
            match double {
                Some((size, r, c, i)) if size > 100.0 * single => {
                    // wᵢ leaves for the free unknown c, then zᵢ enters for the equation r. The dictionary's
                    // row of the pair i must keep its place, so the row that holds c moves to row r.
                    d.pivot(i, c);
                    d.pivot_and_drop(r, i);
                    d.exchange_rows(i, r);
                    d.exchange_columns(i, c);
                    row_of[c] = r;
                    swapped[i] = !swapped[i];
                    rows.retain(|&x| x != r);
                    cols.retain(|&x| x != c);
                }
                _ if single > SMALLEST_PIVOT => {
                    d.pivot_and_drop(r, c);
                    row_of[c] = r;
                    rows.retain(|&x| x != r);
                    cols.retain(|&x| x != c);
                }
                _ => return None,
            }
        }
        let matrix = Matrix::from_fn(pairs.len(), pairs.len(), |i, j| d.at(pairs[i], pairs[j]));
        let vector: Vec<f64> = pairs.iter().map(|&i| d.constant(i)).collect();
        let with_constants: Vec<usize> = pairs.iter().copied().chain([n]).collect();
        let free_rows = Matrix::from_fn(free.len(), with_constants.len(), |i, j| {
            d.at(row_of[free[i]], with_constants[j])
        });
        let lcp = Lcp::new(matrix, vector).ok()?;
        let swapped = pairs.iter().map(|&i| swapped[i]).collect();
        Some(Elimination { lcp, swapped, pairs, free, free_rows, col_scale })
    }

    /// The problem with zᵢ = zᵢ⁺ − zᵢ⁻ on free rows: the N unknowns, then one z⁻ for each free row.
    pub fn split(&self) -> Lcp {
        let n = self.size();
        let origin: Vec<usize> = (0..n).chain((0..n).filter(|&i| self.free[i])).collect();
        let sign = |k: usize| if k < n { 1.0 } else { -1.0 };
        let total = origin.len();
        Lcp {
            matrix: Matrix::from_fn(total, total, |i, j| {
                sign(i) * sign(j) * self.matrix[(origin[i], origin[j])]
            }),
            vector: (0..total).map(|i| sign(i) * self.vector[origin[i]]).collect(),
        }
    }

    /// The z of the mixed problem that belongs to a solution of [`Mlcp::split`].
    ///
    /// # Panics
    /// If `z` is shorter than the split problem.
    pub fn join(&self, z: &[f64]) -> Vec<f64> {
        let mut joined = z[..self.size()].to_vec();
        let free = (0..self.size()).filter(|&i| self.free[i]);
        for (k, i) in free.enumerate() {
            joined[i] -= z[self.size() + k];
        }
        joined
    }
}

/// The largest |T_rc| over these rows and columns, and its place.
fn largest_entry(d: &Dictionary, rows: &[usize], cols: &[usize]) -> (f64, usize, usize) {
    let mut best = (0.0, 0, 0);
    for &r in rows {
        let row = d.row(r);
        for &c in cols {
            if row[c].abs() > best.0 {
                best = (row[c].abs(), r, c);
            }
        }
    }
    best
}

/// The equation r, free unknown c and pair i whose two pivots (i, c), (r, i) are largest, by the smaller one.
fn best_double(
    d: &Dictionary,
    rows: &[usize],
    cols: &[usize],
    pairs: &[usize],
) -> Option<(f64, usize, usize, usize)> {
    let mut best = (SMALLEST_PIVOT, 0, 0, 0);
    for &i in pairs {
        for &c in cols {
            let first = d.at(i, c);
            if first.abs() <= best.0 {
                continue;
            }
            for &r in rows {
                let second = d.at(r, i) - d.at(r, c) * d.at(i, i) / first;
                let size = first.abs().min(second.abs());
                if size > best.0 {
                    best = (size, r, c, i);
                }
            }
        }
    }
    (best.0 > SMALLEST_PIVOT).then_some(best)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lcp::auto::solve_lcp;
    use crate::lcp::solution::Solver;
    use crate::problem::Status;

    #[test]
    fn residual_by_hand() {
        let m = Mlcp::new(Matrix::identity(2), vec![3.0, -4.0], vec![true, false]).unwrap();
        // z = (−1, 5): w = (2, 1), f = (2, 1); two blocks, each by its own q.
        assert!((m.residual(&[-1.0, 5.0]) - 2.0 / 3.0).abs() < 1e-15);
        assert_eq!(m.physical_residual(&[-1.0, 5.0]), 2.0);
        assert_eq!(m.residual(&[-3.0, 4.0]), 0.0);
    }

    #[test]
    fn bad_data_are_refused() {
        assert_eq!(
            Mlcp::new(Matrix::identity(2), vec![0.0; 2], vec![true]),
            Err(ProblemError::Shape { what: "flags of free rows", expected: 2, found: 1 })
        );
        assert!(Mlcp::new(Matrix::identity(1), vec![f64::NAN], vec![true]).is_err());
    }

    #[test]
    fn a_free_unknown_without_its_own_entry_takes_a_pair_with_it() {
        // w₀ = z₁ − 2 = 0, w₁ = z₀ + 3 ≥ 0 ⊥ z₁: z = (−3, 2). The pair is exchanged: nothing is left to
        // solve.
        let matrix = Matrix::from_rows(&[[0.0, 1.0], [1.0, 0.0]]);
        let m = Mlcp::new(matrix, vec![-2.0, 3.0], vec![true, false]).unwrap();
        let e = m.eliminate().unwrap();
        assert_eq!(e.swapped, vec![true]);
        let s = solve_lcp(&e.lcp, Solver::Lemke, 1e-12);
        assert_eq!(e.lift(&s.z), vec![-3.0, 2.0]);
        // A free unknown that no equation determines cannot be eliminated; split, the problem is still
        // solved.
        let m = Mlcp::new(Matrix::diagonal(&[0.0, 1.0]), vec![0.0, -1.0], vec![true, false]).unwrap();
        assert!(m.eliminate().is_none());
        let s = solve_lcp(&m.split(), Solver::Lemke, 1e-12);
        assert_eq!(s.status, Status::Solved);
        assert_eq!(m.join(&s.z)[1], 1.0);
    }

    proptest! {
        /// Positive definite plus skew, any free rows: one solution, and both ways find it.
        #[test]
        fn elimination_and_splitting_agree((n, a, k, q, free) in (1usize..9).prop_flat_map(|n| (
            Just(n),
            prop::collection::vec(-1.0f64..1.0, n * n),
            prop::collection::vec(-1.0f64..1.0, n * n),
            prop::collection::vec(-1.0f64..1.0, n),
            prop::collection::vec(any::<bool>(), n),
        ))) {
            let a = Matrix::from_vec(n, n, a);
            let gram = a.mul(&a.transpose());
            let m = Matrix::from_fn(n, n, |i, j| {
                gram[(i, j)] + k[i * n + j] - k[j * n + i] + f64::from(u8::from(i == j)) * 0.1
            });
            let mlcp = Mlcp::new(m, q, free).unwrap();
            let e = mlcp.eliminate().unwrap();
            let one = e.lift(&solve_lcp(&e.lcp, Solver::Lemke, 1e-10).z);
            let other = mlcp.join(&solve_lcp(&mlcp.split(), Solver::Lemke, 1e-10).z);
            prop_assert!(mlcp.physical_residual(&one) < 1e-11);
            for i in 0..n {
                // The smallest eigenvalue of the symmetric part is at least 0.1.
                prop_assert!((one[i] - other[i]).abs() < 1e-9, "{:?} {:?}", one, other);
            }
        }
    }
}
