//! A lower bound of the least singular value of a sparse matrix, proved by a Cholesky factorization.
//!
//! ```text
//! Ã = fl(A Aᵀ − s I) = L̃ L̃ᵀ − Δ          σ_min(A)² ≥ s − e ,   e ≥ ‖Δ‖ + ‖Ã − (A Aᵀ − s I)‖
//! ```
//!
//! A is r × c with T = ‖A‖²_F and at most w entries in a row; the factor has at most p entries in a row.
//! With u = 2⁻⁵³ and γ_k = k u/(1 − k u):
//!
//! - An entry of fl(A Aᵀ) is a sum of at most w products, in any order: off by at most γ_w (|A||A|ᵀ)_ij, and
//!   ‖|A||A|ᵀ‖₂ ≤ tr(|A||A|ᵀ) = T. The shift of the diagonal rounds once, by at most u ((1 + γ_w) T + s).
//! - If the factorization runs to its end, L̃ L̃ᵀ = Ã + Δ with |Δ_ij| ≤ γ_{p+1} (|L̃||L̃|ᵀ)_ij, sums in any
//!   order (Higham, Accuracy and stability of numerical algorithms, theorem 10.3), and (|L̃||L̃|ᵀ)_ii ≤
//!   ã_ii/(1 − γ_{p+1}). By Cauchy and Schwarz |Δ_ij| ≤ γ_{p+1}/(1 − γ_{p+1}) √(ã_ii ã_jj), a matrix of
//!   rank one, so that ‖Δ‖₂ ≤ γ_{p+1}/(1 − γ_{p+1}) tr Ã (Rump 2006).
//! - L̃ L̃ᵀ is positive semidefinite, hence λ_min(Ã) ≥ −‖Δ‖₂.
//!
//! Numbers so small that they leave the normal range add less than r² (w + p) 2⁻¹⁰⁷⁴, which is covered by a
//! constant. Rows are put in an order in which those that share a column are near each other (Cuthill and
//! McKee, reversed); the proof needs none.

use crate::linalg::{Envelope, Interval, Matrix, Sparse};

/// Entries of a factor up to which it is made.
const MAX_PROFILE: usize = 100_000_000;
/// Rows up to which a factor is made.
const MAX_ROWS: usize = 60_000;
/// More than what leaves the range of normal numbers.
const UNDERFLOW: f64 = 1e-280;

/// A number not above the least singular value of every matrix whose distance from A, in the norm of
/// Frobenius, is at most `error`; `None` where none above zero could be proved. A has at least as many
/// columns as rows, and rows without entries make it singular.
pub(super) fn least_singular_value(a: &Sparse, error: f64) -> Option<f64> {
    if a.rows() == 0 {
        return Some(f64::INFINITY);
    }
    if a.rows() > a.cols() || a.rows() > MAX_ROWS {
        return None;
    }
    let across = a.transpose();
    let mut position = vec![0; a.rows()];
    order(a, &across).iter().enumerate().for_each(|(k, &row)| position[row] = k);
    let mut factor = gram(a, &across, &position)?;
    let products = factor.clone();
    if !factorizes(&mut factor) {
        return None;
    }
    let least = estimate(&factor);
    let widest = (0..a.rows()).map(|i| a.row(i).0.len()).max().unwrap_or(0);
    let profile = (0..a.rows()).map(|i| products.row(i).len()).max().unwrap_or(0);
    [0.7, 0.3, 0.1, 0.01].into_iter().find_map(|share| {
        let shift = share * least;
        let mut shifted = products.clone();
        (0..a.rows()).for_each(|i| {
            let last = shifted.row(i).len() - 1;
            shifted.row_mut(i)[last] -= shift;
        });
        let rounding = rounding_bound(a, &shifted, shift, [widest, profile]);
        if !factorizes(&mut shifted) {
            return None;
        }
        let square = Interval::point(shift) - rounding?;
        let root = if square.lo > 0.0 { Interval::point(square.lo).increasing(f64::sqrt) } else { square };
        let found = (root - Interval::point(error)).lo;
        (found > 0.0).then_some(found)
    })
}

/// A factorization A Aᵀ − s I ≈ L Lᵀ whose rows are those of A: what shows σ_min(A)² ≥ s − ‖Δ‖ to whoever
/// multiplies it out.
#[derive(Clone, Debug, PartialEq)]
pub struct GramFactor {
    /// s.
    pub shift: f64,
    /// What entries of L are multiples of, a power of two.
    pub unit: f64,
    /// First column and entries of each row of L, below 2⁵³ in size.
    pub rows: Vec<(usize, Vec<i64>)>,
}

/// A factorization of a symmetric matrix less about half of its least eigenvalue; `None` where it may not be
/// positive definite.
pub fn definite_factor(a: &Matrix) -> Option<GramFactor> {
    let mut envelope = Envelope::default();
    envelope.set_profile((0..a.rows()).map(|_| 0));
    envelope.clear();
    for i in 0..a.rows() {
        envelope.row_mut(i).copy_from_slice(&a.row(i)[..=i]);
    }
    shifted_factor(envelope, &(0..a.rows()).collect::<Vec<_>>())
}

/// A factorization of A Aᵀ less about half of its least eigenvalue; `None` where A may be singular.
pub fn gram_factor(a: &Sparse) -> Option<GramFactor> {
    if a.rows() == 0 {
        return Some(GramFactor { shift: 1.0, unit: 1.0, rows: vec![] });
    }
    if a.rows() > a.cols() || a.rows() > MAX_ROWS {
        return None;
    }
    let across = a.transpose();
    let mut position = vec![0; a.rows()];
    order(a, &across).iter().enumerate().for_each(|(k, &row)| position[row] = k);
    shifted_factor(gram(a, &across, &position)?, &position)
}

/// A factorization of a matrix less about half of its least eigenvalue, with rows from their positions.
fn shifted_factor(mut factor: Envelope, position: &[usize]) -> Option<GramFactor> {
    let n = position.len();
    if n == 0 {
        return Some(GramFactor { shift: 1.0, unit: 1.0, rows: vec![] });
    }
    let mut shifted = factor.clone();
    if !factorizes(&mut factor) {
        return None;
    }
    let shift = 0.5 * estimate(&factor);
    (0..n).for_each(|i| {
        let last = shifted.row(i).len() - 1;
        shifted.row_mut(i)[last] -= shift;
    });
    if !factorizes(&mut shifted) {
        return None;
    }
    let top = (0..n).fold(0.0_f64, |top, i| top.max(crate::linalg::max_abs(shifted.row(i))));
    let unit = (top.log2().ceil() - 52.0).exp2();
    if !(unit.is_normal() && shift.is_normal()) {
        return None;
    }
    let row = |&at: &usize| {
        let entries = shifted.row(at).iter().map(|x| (x / unit).round() as i64).collect();
        (shifted.first(at), entries)
    };
    Some(GramFactor { shift, unit, rows: position.iter().map(row).collect() })
}

/// e of the front, rounded up.
fn rounding_bound(a: &Sparse, shifted: &Envelope, shift: f64, [w, p]: [usize; 2]) -> Option<Interval> {
    let gamma = |k: usize| {
        let ku = Interval::point(k as f64) * (0.5 * f64::EPSILON);
        ku / (Interval::ONE - ku)
    };
    let squares = |sum: Interval, x: &f64| sum + Interval::point(*x) * *x;
    let total = a.values().iter().fold(Interval::ZERO, squares);
    let trace = (0..a.rows()).fold(Interval::ZERO, |sum, i| {
        let row = shifted.row(i);
        sum + row[row.len() - 1].abs()
    });
    let products = gamma(w + 1) * (total * 2.0 + shift);
    let factor = gamma(p + 1) / (Interval::ONE - gamma(p + 1)) * trace;
    let sum = products + factor + UNDERFLOW;
    (!sum.is_undefined()).then(|| Interval::point(sum.hi))
}

/// A ← L; false where a pivot is not positive.
fn factorizes(a: &mut Envelope) -> bool {
    let mut positive = true;
    a.factorize(|_, left| {
        positive &= left > 0.0 && left.is_finite();
        if positive { left.sqrt() } else { 1.0 }
    });
    positive
}

/// About the least eigenvalue of L Lᵀ: some steps of inverse iteration, from above.
fn estimate(factor: &Envelope) -> f64 {
    let n = factor.rows();
    // Any vector that is not orthogonal to the eigenvector.
    let mut x: Vec<f64> = (0..n).map(|i| 1.0 + 0.37 * ((i * 7919 % 101) as f64 / 101.0 - 0.5)).collect();
    let mut least = f64::INFINITY;
    for _ in 0..12 {
        let before = crate::linalg::norm(&x);
        x.iter_mut().for_each(|x| *x /= before);
        factor.solve(&mut x);
        least = least.min(1.0 / crate::linalg::norm(&x));
    }
    least
}

/// The lower half of A Aᵀ with rows at their positions; `None` where it has too many entries.
fn gram(a: &Sparse, across: &Sparse, position: &[usize]) -> Option<Envelope> {
    let mut first: Vec<u32> = (0..a.rows() as u32).collect();
    for k in 0..across.rows() {
        let rows = across.row(k).0;
        let least = rows.iter().map(|&i| position[i]).min().unwrap_or(0) as u32;
        rows.iter().for_each(|&i| first[position[i]] = first[position[i]].min(least));
    }
    let entries: usize = first.iter().enumerate().map(|(i, f)| i + 1 - *f as usize).sum();
    if entries > MAX_PROFILE {
        return None;
    }
    let mut out = Envelope::default();
    out.set_profile(first.iter().copied());
    out.clear();
    for i in 0..a.rows() {
        let (columns, values) = a.row(i);
        let (at, from) = (position[i], first[position[i]] as usize);
        for (&k, &x) in columns.iter().zip(values) {
            let (rows, others) = across.row(k);
            for (&j, &y) in rows.iter().zip(others).filter(|(j, _)| position[**j] <= at) {
                out.row_mut(at)[position[j] - from] += x * y;
            }
        }
    }
    Some(out)
}

/// Rows in an order in which those that share columns are near each other.
fn order(a: &Sparse, across: &Sparse) -> Vec<usize> {
    let neighbours = |i: usize| a.row(i).0.iter().flat_map(|&k| across.row(k).0.iter().copied());
    let degree: Vec<usize> = (0..a.rows()).map(|i| neighbours(i).count()).collect();
    let mut seen = vec![false; a.rows()];
    // Breadth first from a row, those of few neighbours first.
    let walk = |start: usize, seen: &mut Vec<bool>| {
        let mut found = vec![start];
        seen[start] = true;
        let mut next = 0;
        while next < found.len() {
            let from = found.len();
            for j in neighbours(found[next]) {
                if !seen[j] {
                    seen[j] = true;
                    found.push(j);
                }
            }
            found[from..].sort_by_key(|&j| (degree[j], j));
            next += 1;
        }
        found
    };
    let mut out = Vec::with_capacity(a.rows());
    for start in 0..a.rows() {
        if seen[start] {
            continue;
        }
        // From the far end of a first walk, the levels are narrow.
        let far = walk(start, &mut seen.clone()).last().copied().unwrap_or(start);
        out.extend(walk(far, &mut seen));
    }
    out.reverse();
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bounds_are_below_and_near_the_least_singular_value(
            entries in prop::collection::vec((0usize..8, 0usize..12, -4.0..4.0_f64), 30..70),
            error in 0.0..0.01_f64,
        ) {
            let a = Sparse::from_triplets(8, 12, &entries);
            let values = a.to_dense().singular_values();
            let true_least = values.last().copied().unwrap_or(0.0);
            match least_singular_value(&a, error) {
                // The singular values of faer are right to some units of the largest.
                Some(found) => {
                    prop_assert!(found <= true_least - error + 1e-13 * values[0]);
                    prop_assert!(found >= 0.05 * true_least - error);
                }
                None => prop_assert!(true_least < 1e-6 * values[0] || 0.8 * true_least < error),
            }
        }
    }

    #[test]
    fn a_matrix_that_may_be_singular_has_no_bound() {
        let a = Sparse::from_triplets(2, 3, &[(0, 0, 1.0), (1, 0, 2.0)]);
        assert_eq!(least_singular_value(&a, 0.0), None);
        // σ = 1 and 1e-3.
        let b = Sparse::from_triplets(2, 2, &[(0, 0, 1.0), (1, 1, 1e-3)]);
        assert!(least_singular_value(&b, 0.0).is_some_and(|s| s <= 1e-3 && s > 5e-4));
        assert_eq!(least_singular_value(&b, 1e-3), None);
        // A row without entries, and more rows than columns.
        assert_eq!(least_singular_value(&Sparse::from_triplets(2, 2, &[(0, 0, 1.0)]), 0.0), None);
        assert_eq!(
            least_singular_value(&Sparse::from_triplets(2, 1, &[(0, 0, 1.0), (1, 0, 1.0)]), 0.0),
            None
        );
    }
}
