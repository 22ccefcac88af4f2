//! Matrices of bounds: linear systems, signs of determinants, positive definite and P-matrices.

use super::bounds::Bounds;

/// Rows of a matrix.
pub type Matrix = Vec<Vec<Bounds>>;

/// Largest size of which all principal minors are examined.
pub const MAX_MINORS: usize = 10;

pub fn matrix(rows: usize, columns: usize, entry: impl Fn(usize, usize) -> Bounds) -> Matrix {
    (0..rows).map(|i| (0..columns).map(|j| entry(i, j)).collect()).collect()
}

pub fn times(a: &Matrix, b: &Matrix) -> Matrix {
    let columns = b.first().map_or(0, Vec::len);
    matrix(a.len(), columns, |i, j| dot((0..b.len()).map(|k| (a[i][k], b[k][j]))))
}

/// Σ x y.
pub fn dot(pairs: impl Iterator<Item = (Bounds, Bounds)>) -> Bounds {
    pairs.fold(Bounds::ZERO, |sum, (x, y)| sum + x * y)
}

fn is_defined(a: &Matrix) -> bool {
    a.iter().flatten().all(|x| !x.is_undefined())
}

/// About the inverse of the middle of a matrix; any numbers will do.
fn about_inverse(a: &Matrix) -> Option<Vec<Vec<f64>>> {
    let n = a.len();
    let unit = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
    let mut x: Vec<Vec<f64>> =
        (0..n).map(|i| a[i].iter().map(|x| x.middle()).chain((0..n).map(|j| unit(i, j))).collect()).collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| x[i][k].abs().total_cmp(&x[j][k].abs()))?;
        x.swap(k, pivot);
        let scale = x[k][k];
        if scale == 0.0 || !scale.is_finite() {
            return None;
        }
        x[k].iter_mut().for_each(|entry| *entry /= scale);
        let row = x[k].clone();
        for (_, other) in x.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let factor = other[k];
            other.iter_mut().zip(&row).for_each(|(entry, pivot)| *entry -= factor * pivot);
        }
    }
    let finite = x.iter().flatten().all(|entry| entry.is_finite());
    finite.then(|| x.into_iter().map(|row| row[n..].to_vec()).collect())
}

/// The same as bounds.
pub fn inverse_of_middle(a: &Matrix) -> Option<Matrix> {
    if !is_defined(a) {
        return None;
    }
    Some(about_inverse(a)?.into_iter().map(|row| row.into_iter().map(Bounds::point).collect()).collect())
}

/// Bounds of the solutions of A X = B for all A and B; `None` where some A may be singular.
///
/// Multiplied by about the inverse, A is near the identity; then it is eliminated.
pub fn solve(a: &Matrix, b: &Matrix) -> Option<Matrix> {
    let n = a.len();
    if n == 0 {
        return Some(vec![]);
    }
    if !is_defined(a) || !is_defined(b) {
        return None;
    }
    let inverse = inverse_of_middle(a)?;
    let (mut a, mut x) = (times(&inverse, a), times(&inverse, b));
    for k in 0..n {
        if a[k][k].is_undefined() || a[k][k].contains_zero() {
            return None;
        }
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k + 1..n {
                a[i][j] = a[i][j] - factor * a[k][j];
            }
            for j in 0..x[k].len() {
                x[i][j] = x[i][j] - factor * x[k][j];
            }
        }
    }
    for k in (0..n).rev() {
        for j in 0..x[k].len() {
            let known = dot((k + 1..n).map(|i| (a[k][i], x[i][j])));
            x[k][j] = (x[k][j] - known) / a[k][k];
        }
    }
    is_defined(&x).then_some(x)
}

/// +1 or −1, where every determinant has this sign.
pub fn determinant_sign(a: &Matrix) -> Option<i32> {
    let (mut a, n, mut sign) = (a.clone(), a.len(), 1);
    let away = |x: Bounds| if x.lo > 0.0 { x.lo } else { (-x.hi).max(0.0) };
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| away(a[i][k]).total_cmp(&away(a[j][k])))?;
        if !is_defined(&a) || away(a[pivot][k]) == 0.0 {
            return None;
        }
        if pivot != k {
            a.swap(pivot, k);
            sign = -sign;
        }
        if a[k][k].hi < 0.0 {
            sign = -sign;
        }
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k + 1..n {
                a[i][j] = a[i][j] - factor * a[k][j];
            }
        }
    }
    Some(sign)
}

/// Whether the symmetric part of every matrix is positive definite, as far as that is seen: C S Cᵀ with any C
/// has a diagonal that dominates.
pub fn is_positive_definite(a: &Matrix) -> bool {
    let n = a.len();
    if !is_defined(a) {
        return false;
    }
    let symmetric = matrix(n, n, |i, j| (a[i][j] + a[j][i]) * 0.5);
    let Some(c) = about_inverse_cholesky(&symmetric) else { return false };
    let transposed = matrix(n, n, |i, j| c[j][i]);
    let scaled = times(&times(&c, &symmetric), &transposed);
    (0..n).all(|i| {
        let others = (0..n).filter(|&j| j != i).map(|j| Bounds::point(scaled[i][j].magnitude()));
        (scaled[i][i] - others.fold(Bounds::ZERO, |sum, x| sum + x)).lo > 0.0
    })
}

/// About the inverse of L, L Lᵀ the middle.
fn about_inverse_cholesky(a: &Matrix) -> Option<Matrix> {
    let n = a.len();
    let mut l = vec![vec![0.0; n]; n];
    for i in 0..n {
        for j in 0..=i {
            let sum = (0..j).fold(a[i][j].middle(), |s, k| s - l[i][k] * l[j][k]);
            if i == j && (sum.is_nan() || sum <= 0.0) {
                return None;
            }
            l[i][j] = if i == j { sum.sqrt() } else { sum / l[j][j] };
        }
    }
    let l: Matrix = l.into_iter().map(|row| row.into_iter().map(Bounds::point).collect()).collect();
    inverse_of_middle(&l)
}

/// Whether every matrix has positive principal minors only, as far as that is seen.
pub fn is_p(a: &Matrix) -> bool {
    is_defined(a) && ((a.len() > 1 && is_positive_definite(a)) || (a.len() <= MAX_MINORS && minors(a)))
}

/// A is P if and only if its first entry is positive, and what is left without it and its Schur complement
/// are P.
fn minors(a: &Matrix) -> bool {
    let Some(first) = a.first() else { return true };
    let pivot = first[0];
    if pivot.is_undefined() || pivot.lo <= 0.0 {
        return false;
    }
    let n = a.len() - 1;
    let rest = matrix(n, n, |i, j| a[i + 1][j + 1]);
    let complement = matrix(n, n, |i, j| a[i + 1][j + 1] - a[i + 1][0] * a[0][j + 1] / pivot);
    minors(&rest) && minors(&complement)
}
