//! Small dense kernels without memory of their own: Cholesky, complete pivoting, Jacobi rotations.
//!
//! ```text
//! A = L Lᵀ ,      P A Q = L U ,      A = V Λ Vᵀ
//! ```
//!
//! A is n × n, L lower and U upper triangular, P and Q permutations, V orthogonal. Arrays hold up to N rows,
//! of which the leading n count. The order of operations is part of the contract: callers reproduce their
//! results to the bit.
//!
//! Matrices with a profile are factored by [`Envelope`](super::Envelope). Similar code remains elsewhere.
//! Some of it has another structure: the tree of a mechanism, whose factor has the zeros of its branches,
//! and the joints without contacts, whose factor is kept from solve to solve. For the rest another order of
//! operations would change recorded results: the pivoting in a given order of the event-driven integrator,
//! the inverse from which proofs by intervals start, and the Jacobi angles in `contact::cone` and in the
//! principal axes of a body (these two share [`rotate`]). The residual check and the certificate verifier
//! have their own code on purpose: they share no line with a solver.

use super::{Matrix, dot, rank_tolerance};

/// A ← L with A = L Lᵀ on the leading n rows, in the lower part; false where a pivot is not above `least(i,
/// aᵢᵢ)`.
#[inline]
pub fn cholesky<const N: usize>(a: &mut [[f64; N]; N], n: usize, least: impl Fn(usize, f64) -> f64) -> bool {
    for i in 0..n {
        for j in 0..=i {
            let mut s = a[i][j];
            for k in 0..j {
                s -= a[i][k] * a[j][k];
            }
            if i > j {
                a[i][j] = s / a[j][j];
            } else if s > least(i, a[i][i]) {
                a[i][i] = s.sqrt();
            } else {
                return false;
            }
        }
    }
    true
}

/// x ← L⁻¹ x on the leading n rows.
#[inline]
pub fn forward<const N: usize>(l: &[[f64; N]; N], n: usize, x: &mut [f64; N]) {
    for i in 0..n {
        for k in 0..i {
            x[i] -= l[i][k] * x[k];
        }
        x[i] /= l[i][i];
    }
}

/// x ← L⁻ᵀ x on the leading n rows.
#[inline]
pub fn backward<const N: usize>(l: &[[f64; N]; N], n: usize, x: &mut [f64; N]) {
    for i in (0..n).rev() {
        for k in i + 1..n {
            x[i] -= l[k][i] * x[k];
        }
        x[i] /= l[i][i];
    }
}

/// B ← A⁻¹ B for a symmetric positive definite A of scale.len() rows, B column by column, through the factor
/// of A with unit diagonal; false where A is not positive definite to working precision. A is overwritten.
pub fn scaled_cholesky_solve(a: &mut [f64], scale: &mut [f64], b: &mut [f64]) -> bool {
    let s = scale.len();
    for i in 0..s {
        if a[s * i + i].is_nan() || a[s * i + i] <= 0.0 {
            return false;
        }
        scale[i] = 1.0 / a[s * i + i].sqrt();
    }
    for i in 0..s {
        for j in 0..=i {
            let mut sum = scale[i] * a[s * i + j] * scale[j];
            for k in 0..j {
                sum -= a[s * i + k] * a[s * j + k];
            }
            if j < i {
                a[s * i + j] = sum * a[s * j + j];
            } else if sum.is_nan() || sum < rank_tolerance(s, s) {
                return false;
            } else {
                // The inverse of the diagonal is kept.
                a[s * i + i] = 1.0 / sum.sqrt();
            }
        }
    }
    for x in b.chunks_exact_mut(s) {
        for i in 0..s {
            let mut sum = scale[i] * x[i];
            for k in 0..i {
                sum -= a[s * i + k] * x[k];
            }
            x[i] = sum * a[s * i + i];
        }
        for i in (0..s).rev() {
            let mut sum = x[i];
            for k in i + 1..s {
                sum -= a[s * k + i] * x[k];
            }
            x[i] = sum * a[s * i + i];
        }
        for i in 0..s {
            x[i] *= scale[i];
        }
    }
    b.iter().all(|x| x.is_finite())
}

/// Gaussian elimination with complete pivoting, in place: on return `rhs` holds the solution in the order
/// `order` (entry k is the unknown `order[k]`). Returns the smallest pivot relative to the largest, and to
/// the largest of the `terms` that the entries are sums of. At a ratio of `singular` or below, elimination
/// stops, zero is returned and `rhs` has no meaning.
pub fn solve_complete_pivoting(
    a: &mut Matrix,
    rhs: &mut [f64],
    order: &mut [usize],
    terms: f64,
    singular: f64,
) -> f64 {
    let n = rhs.len();
    let (mut largest, mut smallest) = (terms, f64::INFINITY);
    for k in 0..n {
        let (mut pr, mut pc, mut best) = (k, k, -1.0);
        for i in k..n {
            for (j, v) in a.row(i).iter().enumerate().skip(k) {
                if v.abs() > best {
                    (pr, pc, best) = (i, j, v.abs());
                }
            }
        }
        largest = largest.max(best);
        if largest <= 0.0 || best <= singular * largest {
            return 0.0;
        }
        smallest = smallest.min(best / largest);
        if pr != k {
            for j in 0..n {
                let x = a[(k, j)];
                a[(k, j)] = a[(pr, j)];
                a[(pr, j)] = x;
            }
            rhs.swap(k, pr);
        }
        if pc != k {
            for i in 0..n {
                let x = a[(i, k)];
                a[(i, k)] = a[(i, pc)];
                a[(i, pc)] = x;
            }
            order.swap(k, pc);
        }
        let pivot = a[(k, k)];
        for i in k + 1..n {
            let factor = a[(i, k)] / pivot;
            if factor != 0.0 {
                let (row, from) = a.two_rows_mut(i, k);
                for j in k..n {
                    row[j] -= factor * from[j];
                }
                rhs[i] -= factor * rhs[k];
            }
        }
    }
    for k in (0..n).rev() {
        let sum = dot(&a.row(k)[k + 1..], &rhs[k + 1..]);
        rhs[k] = (rhs[k] - sum) / a[(k, k)];
    }
    if n == 0 { 1.0 } else { smallest }
}

/// Gauss–Jordan elimination of [A | b] with complete pivoting among the first n columns: (row, column) of
/// each pivot, in the order in which they were chosen. Rows with a pivot are divided by it. Pivots up to
/// `tolerance` are zero.
pub fn gauss_jordan(rows: &mut [Vec<f64>], n: usize, tolerance: f64) -> Vec<(usize, usize)> {
    let mut pivots: Vec<(usize, usize)> = vec![];
    while pivots.len() < rows.len().min(n) {
        let mut best = (0, 0, 0.0);
        for (i, row) in rows.iter().enumerate() {
            for (j, x) in row[..n].iter().enumerate() {
                let free = pivots.iter().all(|&(r, c)| r != i && c != j);
                if free && x.abs() > best.2 {
                    best = (i, j, x.abs());
                }
            }
        }
        let (i, j, pivot) = best;
        if pivot <= tolerance {
            break;
        }
        let divided: Vec<f64> = rows[i].iter().map(|x| x / rows[i][j]).collect();
        for (k, row) in rows.iter_mut().enumerate() {
            if k != i {
                let factor = row[j];
                row.iter_mut().zip(&divided).for_each(|(x, y)| *x -= factor * y);
                row[j] = 0.0;
            }
        }
        rows[i] = divided;
        pivots.push((i, j));
    }
    pivots
}

/// A ← Gᵀ A G on the leading n rows, with the rotation G in the plane of p and q: column p of G is (c, −s)
/// there, column q is (s, c).
#[inline]
pub fn rotate<const N: usize>(a: &mut [[f64; N]; N], n: usize, [p, q]: [usize; 2], [c, s]: [f64; 2]) {
    for k in 0..n {
        let (x, y) = (a[p][k], a[q][k]);
        (a[p][k], a[q][k]) = (c * x - s * y, s * x + c * y);
    }
    rotate_columns(a, n, [p, q], [c, s]);
}

/// A ← A G on the leading n rows, G as in [`rotate`].
#[inline]
pub fn rotate_columns<const N: usize>(a: &mut [[f64; N]; N], n: usize, [p, q]: [usize; 2], [c, s]: [f64; 2]) {
    for row in &mut a[..n] {
        let (x, y) = (row[p], row[q]);
        (row[p], row[q]) = (c * x - s * y, s * x + c * y);
    }
}

/// Makes a symmetric matrix diagonal by Jacobi rotations and returns V, whose columns are the eigenvectors.
pub fn diagonalize<const N: usize>(a: &mut [[f64; N]; N]) -> [[f64; N]; N] {
    let mut v = std::array::from_fn(|i| std::array::from_fn(|j| if i == j { 1.0 } else { 0.0 }));
    // Convergence is quadratic; the limit is never met but for entries that are not numbers.
    for _ in 0..12 {
        let mut rotated = false;
        for i in 0..N {
            for j in i + 1..N {
                let off = a[i][j];
                if off * off <= 1e-34 * (a[i][i] * a[j][j]).abs() {
                    continue;
                }
                rotated = true;
                let half = 0.5 * (a[j][j] - a[i][i]);
                let tangent = off / (half.abs() + half.hypot(off)).copysign(half);
                let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
                let rotation = [cosine, tangent * cosine];
                rotate(a, N, [i, j], rotation);
                rotate_columns(&mut v, N, [i, j], rotation);
                (a[i][j], a[j][i]) = (0.0, 0.0);
            }
        }
        if !rotated {
            break;
        }
    }
    v
}

#[cfg(test)]
mod tests {
    use super::*;

    /// L Lᵀ with L = [[2, 0, 0], [1, 3, 0], [−1, 2, 1]].
    const DEFINITE: [[f64; 3]; 3] = [[4.0, 2.0, -2.0], [2.0, 10.0, 5.0], [-2.0, 5.0, 6.0]];

    #[test]
    fn cholesky_of_integers_is_exact() {
        let mut l = DEFINITE;
        assert!(cholesky(&mut l, 3, |_, d| 1e-12 * d));
        assert_eq!([l[0][0], l[1][0], l[1][1], l[2][0], l[2][1], l[2][2]], [2.0, 1.0, 3.0, -1.0, 2.0, 1.0]);
        // A (1, 2, 3) = (2, 37, 26).
        let mut x = [2.0, 37.0, 26.0];
        forward(&l, 3, &mut x);
        backward(&l, 3, &mut x);
        assert_eq!(x, [1.0, 2.0, 3.0]);
        // The leading two rows: [[4, 2], [2, 10]] (1, 2) = (8, 22); the third stays.
        let mut x = [8.0, 22.0, 7.0];
        forward(&l, 2, &mut x);
        backward(&l, 2, &mut x);
        assert_eq!(x, [1.0, 2.0, 7.0]);
    }

    #[test]
    fn cholesky_refuses_what_is_not_definite() {
        assert!(!cholesky(&mut [[1.0, 2.0], [2.0, 4.0]], 2, |_, d| 1e-12 * d));
        assert!(!cholesky(&mut [[f64::NAN]], 1, |_, _| 0.0));
        let (mut scale, mut b) = ([0.0; 2], [1.0, 2.0]);
        assert!(!scaled_cholesky_solve(&mut [1.0, 2.0, 2.0, 4.0], &mut scale, &mut b));
    }

    #[test]
    fn scaled_cholesky_solves_column_by_column() {
        let (mut a, mut scale) = ([4.0, 2.0, 2.0, 10.0], [0.0; 2]);
        let mut b = [8.0, 22.0, 2.0, 10.0];
        assert!(scaled_cholesky_solve(&mut a, &mut scale, &mut b));
        // Condition below 4: a few units in the last place.
        for (x, exact) in b.iter().zip([1.0, 2.0, 0.0, 1.0]) {
            assert!((x - exact).abs() < 1e-15, "{b:?}");
        }
    }

    #[test]
    fn complete_pivoting_returns_the_solution_in_its_order() {
        let mut a = Matrix::from_rows(&[[0.0, 2.0, 1.0], [1.0, 0.0, 0.0], [0.0, 4.0, 0.0]]);
        let (mut rhs, mut order) = ([7.0, 1.0, 8.0], [0, 1, 2]);
        // Pivots 4, 1, 1.
        assert_eq!(solve_complete_pivoting(&mut a, &mut rhs, &mut order, 0.0, 1e-12), 0.25);
        let mut x = [0.0; 3];
        order.iter().zip(rhs).for_each(|(&i, v)| x[i] = v);
        assert_eq!(x, [1.0, 2.0, 3.0]);
        // The same entries as sums of terms of size 10¹³ are zero to rounding.
        let mut a = Matrix::from_rows(&[[1.0]]);
        assert_eq!(solve_complete_pivoting(&mut a, &mut [1.0], &mut [0], 1e13, 1e-12), 0.0);
        let mut singular = Matrix::from_rows(&[[1.0, 2.0], [2.0, 4.0]]);
        assert_eq!(solve_complete_pivoting(&mut singular, &mut [1.0, 2.0], &mut [0, 1], 0.0, 1e-12), 0.0);
    }

    #[test]
    fn gauss_jordan_leaves_unit_columns() {
        // x + 2 y = 3, twice: y = 1.5 − 0.5 x.
        let mut rows = vec![vec![1.0, 2.0, 3.0], vec![2.0, 4.0, 6.0]];
        assert_eq!(gauss_jordan(&mut rows, 2, 1e-12), vec![(1, 1)]);
        assert_eq!(rows, vec![vec![0.0, 0.0, 0.0], vec![0.5, 1.0, 1.5]]);
    }

    #[test]
    fn jacobi_rotations_find_the_eigenvectors() {
        let mut a = DEFINITE;
        let v = diagonalize(&mut a);
        for i in 0..3 {
            for j in 0..3 {
                let product: f64 = (0..3).map(|k| v[i][k] * a[k][k] * v[j][k]).sum();
                let identity: f64 = (0..3).map(|k| v[i][k] * v[j][k]).sum();
                // Some ten rotations, each of four operations on entries up to 13 that are right to 2⁻⁵³.
                assert!((product - DEFINITE[i][j]).abs() < 1e-13, "{product} {}", DEFINITE[i][j]);
                assert!((identity - f64::from(u8::from(i == j))).abs() < 1e-14);
                assert!(i == j || a[i][j].abs() < 1e-16);
            }
        }
    }
}
