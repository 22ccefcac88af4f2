//! Classes of matrices that decide complementarity problems: positive definite and P.
//!
//! ```text
//! xᵀ A x > 0 for x ≠ 0   ⇒   det A_αα > 0 for all α   ⇔   the LCP (A, q) has exactly one solution for every q
//! ```
//!
//! A is n × n, α an index set. The matrices in the middle are the P-matrices (000 App. A); A need not be
//! symmetric.

use crate::linalg::Matrix;

/// The answer to a yes-or-no question that may be out of reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Yes.
    Proved,
    /// No.
    Refuted,
    /// Not decided: too large, or too close to call in floating point.
    Unknown,
}

/// Largest size for which all principal minors are examined (2¹⁶ of them).
pub const P_MATRIX_MAX: usize = 16;

/// Pivots within this of zero, on a matrix with unit diagonal, are not decided.
const MARGIN: f64 = 1e-10;

/// Whether all principal minors of A are positive.
///
/// Recursion on Schur complements: A is P iff a₁₁ > 0 and both the trailing block and its Schur complement
/// are P. Every principal minor is a product of such pivots, each of which is compared with zero on the
/// matrix scaled to unit diagonal (scaling by positive diagonals keeps the class).
pub fn p_matrix(a: &Matrix) -> Verdict {
    let n = a.rows();
    if n != a.cols() || !a.is_finite() {
        return Verdict::Unknown;
    }
    if (0..n).any(|i| a[(i, i)] < 0.0) {
        return Verdict::Refuted;
    }
    if (0..n).any(|i| a[(i, i)] == 0.0) {
        return Verdict::Refuted;
    }
    if n > P_MATRIX_MAX {
        return if a.is_positive_definite() { Verdict::Proved } else { Verdict::Unknown };
    }
    let d: Vec<f64> = (0..n).map(|i| a[(i, i)].sqrt()).collect();
    let scaled = Matrix::from_fn(n, n, |i, j| a[(i, j)] / (d[i] * d[j]));
    minors_positive(scaled)
}

fn minors_positive(a: Matrix) -> Verdict {
    let n = a.rows();
    if n == 0 {
        return Verdict::Proved;
    }
    let pivot = a[(0, 0)];
    let mut verdict = if pivot > MARGIN {
        Verdict::Proved
    } else if pivot < -MARGIN {
        return Verdict::Refuted;
    } else {
        Verdict::Unknown
    };
    let rest = Matrix::from_fn(n - 1, n - 1, |i, j| a[(i + 1, j + 1)]);
    let mut parts = vec![];
    if verdict == Verdict::Proved {
        parts.push(Matrix::from_fn(n - 1, n - 1, |i, j| {
            a[(i + 1, j + 1)] - a[(i + 1, 0)] * a[(0, j + 1)] / pivot
        }));
    }
    parts.push(rest);
    for part in parts {
        match minors_positive(part) {
            Verdict::Refuted => return Verdict::Refuted,
            Verdict::Unknown => verdict = Verdict::Unknown,
            Verdict::Proved => {}
        }
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p_matrix_by_hand() {
        // All minors positive, not positive definite.
        assert_eq!(p_matrix(&Matrix::from_rows(&[[1.0, -3.0], [0.0, 1.0]])), Verdict::Proved);
        // Determinant 1 − 2 < 0.
        assert_eq!(p_matrix(&Matrix::from_rows(&[[1.0, 2.0], [1.0, 1.0]])), Verdict::Refuted);
        // Determinant 0: not P, but not decided in floating point.
        assert_eq!(p_matrix(&Matrix::from_rows(&[[1.0, 1.0], [1.0, 1.0]])), Verdict::Unknown);
        assert_eq!(p_matrix(&Matrix::from_rows(&[[-0.5]])), Verdict::Refuted);
        assert_eq!(p_matrix(&Matrix::zeros(0, 0)), Verdict::Proved);
    }

    #[test]
    fn p_matrix_agrees_with_determinants() {
        // Minors by another road: LU determinants of all principal submatrices of pseudo-random matrices.
        let mut random = crate::random::Random(7);
        let (mut yes, mut no) = (0, 0);
        for _ in 0..200 {
            let a = Matrix::from_fn(4, 4, |i, j| if i == j { 1.0 } else { random.between(-1.3, 1.3) });
            let direct = (1usize..16).all(|set| {
                let rows: Vec<usize> = (0..4).filter(|k| set >> k & 1 == 1).collect();
                determinant(&a.select(&rows, &rows)) > 0.0
            });
            match p_matrix(&a) {
                Verdict::Proved => yes += 1,
                Verdict::Refuted => no += 1,
                Verdict::Unknown => continue,
            }
            assert_eq!(p_matrix(&a) == Verdict::Proved, direct);
        }
        assert!(yes > 20 && no > 20, "{yes} {no}");
    }

    fn determinant(a: &Matrix) -> f64 {
        // Laplace expansion: slow, and shares nothing with the recursion above.
        let n = a.rows();
        if n == 1 {
            return a[(0, 0)];
        }
        let rows: Vec<usize> = (1..n).collect();
        (0..n)
            .map(|j| {
                let cols: Vec<usize> = (0..n).filter(|&k| k != j).collect();
                let sign = if j % 2 == 0 { 1.0 } else { -1.0 };
                sign * a[(0, j)] * determinant(&a.select(&rows, &cols))
            })
            .sum()
    }
}
