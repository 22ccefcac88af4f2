//! Matrices of intervals: products, linear systems, positive definite and P-matrices.
//!
//! ```text
//! 𝐀 = [A̲, A̅] ⊂ ℝ^(m × n) ,   every statement about 𝐀 is true of every real A ∈ 𝐀
//! ```

use delassus_solve::linalg::Matrix;

use crate::formula::Interval;

/// Largest size for which all principal minors are examined (2¹⁰ of them).
pub(super) const P_MATRIX_MAX: usize = 10;

/// A dense matrix of intervals.
#[derive(Clone, Debug)]
pub(super) struct IntervalMatrix {
    rows: usize,
    cols: usize,
    data: Vec<Interval>,
}

impl std::ops::Index<(usize, usize)> for IntervalMatrix {
    type Output = Interval;
    fn index(&self, (i, j): (usize, usize)) -> &Interval {
        &self.data[i * self.cols + j]
    }
}

impl std::ops::IndexMut<(usize, usize)> for IntervalMatrix {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut Interval {
        &mut self.data[i * self.cols + j]
    }
}

impl IntervalMatrix {
    pub(super) fn from_fn(rows: usize, cols: usize, f: impl Fn(usize, usize) -> Interval) -> Self {
        let data = (0..rows * cols).map(|k| f(k / cols, k % cols)).collect();
        IntervalMatrix { rows, cols, data }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn cols(&self) -> usize {
        self.cols
    }

    pub(super) fn is_defined(&self) -> bool {
        self.data.iter().all(|x| !x.is_undefined())
    }

    pub(super) fn mul(&self, b: &Self) -> Self {
        IntervalMatrix::from_fn(self.rows, b.cols, |i, j| {
            (0..self.cols).fold(Interval::ZERO, |sum, k| sum + self[(i, k)] * b[(k, j)])
        })
    }

    pub(super) fn transpose(&self) -> Self {
        IntervalMatrix::from_fn(self.cols, self.rows, |i, j| self[(j, i)])
    }

    fn point(a: &Matrix) -> Self {
        IntervalMatrix::from_fn(a.rows(), a.cols(), |i, j| Interval::point(a[(i, j)]))
    }

    fn middle(&self) -> Matrix {
        Matrix::from_fn(self.rows, self.cols, |i, j| self[(i, j)].middle())
    }

    /// +1 or −1 where every determinant inside has this sign; `None` where that is not seen.
    pub(super) fn determinant_sign(&self) -> Option<f64> {
        let n = self.rows;
        if !self.is_defined() {
            return None;
        }
        let mut a = self.clone();
        let mut sign = 1.0;
        // The distance of a pivot from zero decides: undefined and zero are not taken.
        let away = |x: Interval| {
            if x.lo > 0.0 {
                x.lo
            } else if x.hi < 0.0 {
                -x.hi
            } else {
                0.0
            }
        };
        for k in 0..n {
            let best = (k..n).max_by(|&i, &j| away(a[(i, k)]).total_cmp(&away(a[(j, k)])))?;
            if away(a[(best, k)]) == 0.0 {
                return None;
            }
            if best != k {
                for j in 0..n {
                    a.data.swap(best * n + j, k * n + j);
                }
                sign = -sign;
            }
            if a[(k, k)].hi < 0.0 {
                sign = -sign;
            }
            for i in k + 1..n {
                let factor = a[(i, k)] / a[(k, k)];
                for j in k + 1..n {
                    a[(i, j)] = a[(i, j)] - factor * a[(k, j)];
                }
            }
        }
        Some(sign)
    }

    /// Bounds of A⁻¹B; `None` where some A inside may be singular.
    ///
    /// A and B are multiplied by an approximate inverse of the middle of A, which changes no solution and
    /// brings A close to the identity; then elimination.
    pub(super) fn solve(&self, b: &Self) -> Option<Self> {
        let n = self.rows;
        if n == 0 {
            return Some(b.clone());
        }
        if !self.is_defined() || !b.is_defined() {
            return None;
        }
        let inverse = IntervalMatrix::point(&self.middle().solve_matrix(&Matrix::identity(n))?);
        let (mut a, mut x) = (inverse.mul(self), inverse.mul(b));
        for k in 0..n {
            if a[(k, k)].contains(0.0) || a[(k, k)].is_undefined() {
                return None;
            }
            for i in k + 1..n {
                let factor = a[(i, k)] / a[(k, k)];
                for j in k + 1..n {
                    a[(i, j)] = a[(i, j)] - factor * a[(k, j)];
                }
                for j in 0..x.cols {
                    x[(i, j)] = x[(i, j)] - factor * x[(k, j)];
                }
            }
        }
        for k in (0..n).rev() {
            for j in 0..x.cols {
                let sum = (k + 1..n).fold(x[(k, j)], |s, i| s - a[(k, i)] * x[(i, j)]);
                x[(k, j)] = sum / a[(k, k)];
            }
        }
        x.is_defined().then_some(x)
    }

    /// Whether the symmetric part of every matrix inside is positive definite; `false` where that is not
    /// seen.
    ///
    /// With L Lᵀ the Cholesky factors of the middle, L⁻¹ A L⁻ᵀ is close to the identity; where its diagonal
    /// dominates, it is positive definite, and so is A.
    pub(super) fn is_positive_definite(&self) -> bool {
        let n = self.rows;
        if !self.is_defined() {
            return false;
        }
        let half = Interval::point(0.5);
        let symmetric = IntervalMatrix::from_fn(n, n, |i, j| (self[(i, j)] + self[(j, i)]) * half);
        let Some(c) = inverse_cholesky(&symmetric.middle()) else { return false };
        let c = IntervalMatrix::point(&c);
        let scaled = c.mul(&symmetric).mul(&c.transpose());
        (0..n).all(|i| {
            let others = (0..n)
                .filter(|&j| j != i)
                .fold(Interval::ZERO, |sum, j| sum + Interval::point(scaled[(i, j)].magnitude()));
            // Negated, so that an undefined difference is not positive.
            (scaled[(i, i)] - others).lo > 0.0
        })
    }

    /// Whether every matrix inside is a P-matrix; `false` where that is not seen.
    pub(super) fn is_p_matrix(&self) -> bool {
        if self.rows > 1 && self.is_positive_definite() {
            return true;
        }
        self.rows <= P_MATRIX_MAX && self.is_defined() && minors_positive(self)
    }
}

/// A is P if and only if a₁₁ > 0 and both the trailing block and its Schur complement are P.
fn minors_positive(a: &IntervalMatrix) -> bool {
    let n = a.rows;
    if n == 0 {
        return true;
    }
    let pivot = a[(0, 0)];
    if pivot.is_undefined() || pivot.lo <= 0.0 {
        return false;
    }
    let rest = IntervalMatrix::from_fn(n - 1, n - 1, |i, j| a[(i + 1, j + 1)]);
    let complement = IntervalMatrix::from_fn(n - 1, n - 1, |i, j| {
        a[(i + 1, j + 1)] - a[(i + 1, 0)] * a[(0, j + 1)] / pivot
    });
    minors_positive(&rest) && minors_positive(&complement)
}

/// L⁻¹ of A = L Lᵀ, rounded; `None` where A is not positive definite. Every positive pivot is taken, however
/// small, which those of `linalg` refuse: what follows from L⁻¹ is proved by intervals.
fn inverse_cholesky(a: &Matrix) -> Option<Matrix> {
    let n = a.rows();
    let mut l = Matrix::zeros(n, n);
    for i in 0..n {
        for j in 0..=i {
            let sum = (0..j).fold(a[(i, j)], |s, k| s - l[(i, k)] * l[(j, k)]);
            l[(i, j)] = if i == j {
                if sum.is_nan() || sum <= 0.0 {
                    return None;
                }
                sum.sqrt()
            } else {
                sum / l[(j, j)]
            };
        }
    }
    l.solve_matrix(&Matrix::identity(n))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(entries: &[&[f64]], radius: f64) -> IntervalMatrix {
        IntervalMatrix::from_fn(entries.len(), entries[0].len(), |i, j| {
            Interval::new(entries[i][j] - radius, entries[i][j] + radius)
        })
    }

    #[test]
    fn solve_encloses_the_solutions_of_all_corners() {
        let (a, b) = (wide(&[&[4.0, 1.0], &[-1.0, 3.0]], 0.1), wide(&[&[1.0], &[2.0]], 0.0));
        let x = a.solve(&b).unwrap();
        for corner in 0..16 {
            let s = |k: u32| if corner >> k & 1 == 1 { 0.1 } else { -0.1 };
            let (p, q, r, t) = (4.0 + s(0), 1.0 + s(1), -1.0 + s(2), 3.0 + s(3));
            let det = p * t - q * r;
            assert!(x[(0, 0)].contains((t - 2.0 * q) / det), "{corner}");
            assert!(x[(1, 0)].contains((2.0 * p - r) / det), "{corner}");
        }
        // A singular matrix lies inside.
        assert!(wide(&[&[1.0, 1.0], &[1.0, 1.2]], 0.1).solve(&b).is_none());
    }

    #[test]
    fn determinants_have_a_sign_or_none() {
        assert_eq!(wide(&[&[0.0, 2.0], &[3.0, 0.0]], 0.1).determinant_sign(), Some(-1.0));
        assert_eq!(
            wide(&[&[2.0, 1.0, 0.0], &[1.0, 2.0, 1.0], &[0.0, 1.0, 2.0]], 0.01).determinant_sign(),
            Some(1.0)
        );
        // det [1 1; 1 1.1] = 0.1 changes its sign within 0.1.
        assert_eq!(wide(&[&[1.0, 1.0], &[1.0, 1.1]], 0.1).determinant_sign(), None);
        assert_eq!(wide(&[&[1.0, 1.0], &[1.0, 1.1]], 0.01).determinant_sign(), Some(1.0));
    }

    #[test]
    fn definite_and_p_matrices() {
        let a: [&[f64]; 2] = [&[2.0, -1.0], &[-1.0, 2.0]];
        assert!(wide(&a, 0.2).is_positive_definite());
        assert!(!wide(&a, 1.0).is_positive_definite());
        // P, not positive definite: [1 −3; 0 1].
        let p: [&[f64]; 2] = [&[1.0, -3.0], &[0.0, 1.0]];
        assert!(!wide(&p, 0.01).is_positive_definite());
        assert!(wide(&p, 0.01).is_p_matrix());
        // det = 1 − 3·(1/3) = 0 lies inside.
        assert!(!wide(&p, 0.4).is_p_matrix());
        assert!(!wide(&[&[-1.0]], 0.1).is_p_matrix());
    }
}
