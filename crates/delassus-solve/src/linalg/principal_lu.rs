//! LU factors of principal submatrices, for the many small systems of the pivoting methods.
//!
//! ```text
//! P M_αα = L U
//! ```
//!
//! M is n × n, α an index set, P a permutation: rows are pivoted by size relative to their largest entry.
//! Zero multipliers are skipped, which makes the sparse matrices of circuits and chains cheap. Where a rank
//! is in question, the singular values of [`Matrix`] decide instead.

use super::matrix::{Matrix, axpy, dot, rank_tolerance};

/// LU factors of M_αα for an index set α.
#[derive(Clone, Debug)]
pub struct Lu {
    n: usize,
    factors: Vec<f64>,
    order: Vec<usize>,
}

impl Lu {
    /// Factors M_αα, or `None` where a pivot is below [`rank_tolerance`] relative to its row.
    pub fn principal(m: &Matrix, alpha: &[usize]) -> Option<Lu> {
        let n = alpha.len();
        let mut factors = Vec::with_capacity(n * n);
        for &i in alpha {
            let row = m.row(i);
            factors.extend(alpha.iter().map(|&j| row[j]));
        }
        let mut inverse_size = Vec::with_capacity(n);
        for row in factors.chunks_exact(n.max(1)) {
            let top = row.iter().fold(0.0_f64, |t, x| t.max(x.abs()));
            inverse_size.push(if top > 0.0 { 1.0 / top } else { 0.0 });
        }
        let tolerance = rank_tolerance(n, n);
        let mut order: Vec<usize> = (0..n).collect();
        for k in 0..n {
            let (mut best, mut size) = (k, 0.0);
            for i in k..n {
                let s = factors[i * n + k].abs() * inverse_size[i];
                if s > size {
                    (best, size) = (i, s);
                }
            }
            if size.is_nan() || size <= tolerance {
                return None;
            }
            if best != k {
                let (above, below) = factors.split_at_mut(best * n);
                above[k * n..(k + 1) * n].swap_with_slice(&mut below[..n]);
                order.swap(k, best);
                inverse_size.swap(k, best);
            }
            let (above, below) = factors.split_at_mut((k + 1) * n);
            let pivot_row = &above[k * n + k..];
            for row in below.chunks_exact_mut(n) {
                if row[k] != 0.0 {
                    let l = row[k] / pivot_row[0];
                    row[k] = l;
                    axpy(-l, &pivot_row[1..], &mut row[k + 1..]);
                }
            }
        }
        Some(Lu { n, factors, order })
    }

    /// M_αα⁻¹ b.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x: Vec<f64> = self.order.iter().map(|&i| b[i]).collect();
        self.substitute(&mut x);
        x
    }

    /// M_αα⁻¹, row by row.
    pub fn inverse(&self) -> Vec<f64> {
        let n = self.n;
        let (mut inverse, mut x) = (vec![0.0; n * n], vec![0.0; n]);
        for j in 0..n {
            x.iter_mut().zip(&self.order).for_each(|(x, &i)| *x = f64::from(u8::from(i == j)));
            self.substitute(&mut x);
            x.iter().enumerate().for_each(|(i, x)| inverse[n * i + j] = *x);
        }
        inverse
    }

    /// x ← U⁻¹ L⁻¹ x.
    fn substitute(&self, x: &mut [f64]) {
        let n = self.n;
        for i in 0..n {
            x[i] -= dot(&self.factors[i * n..i * n + i], &x[..i]);
        }
        for i in (0..n).rev() {
            let row = &self.factors[i * n..(i + 1) * n];
            x[i] = (x[i] - dot(&row[i + 1..], &x[i + 1..])) / row[i];
        }
    }
}

/// The point z with (M z + q)_α = 0 and z = 0 off α, by LU and one step of iterative refinement; `None`
/// where M_αα is singular to working precision or the result is not finite.
pub fn solve_on(m: &Matrix, q: &[f64], alpha: &[usize]) -> Option<Vec<f64>> {
    let lu = Lu::principal(m, alpha)?;
    let rhs: Vec<f64> = alpha.iter().map(|&i| -q[i]).collect();
    let mut x = lu.solve(&rhs);
    let defect: Vec<f64> = alpha
        .iter()
        .zip(&rhs)
        .map(|(&i, b)| {
            let row = m.row(i);
            b - alpha.iter().zip(&x).map(|(&j, xj)| row[j] * xj).sum::<f64>()
        })
        .collect();
    if defect.iter().any(|&d| d != 0.0) {
        let correction = lu.solve(&defect);
        axpy(1.0, &correction, &mut x);
    }
    let mut z = vec![0.0; q.len()];
    for (&i, &xi) in alpha.iter().zip(&x) {
        z[i] = xi;
    }
    x.iter().all(|v| v.is_finite()).then_some(z)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_a_principal_subsystem() {
        let m = Matrix::from_rows(&[[0.0, 9.0, 2.0], [9.0, 9.0, 9.0], [3.0, 9.0, 1.0]]);
        // [[0, 2], [3, 1]] x = (4, 5) has x = (1, 2).
        let z = solve_on(&m, &[-4.0, 7.0, -5.0], &[0, 2]).unwrap();
        assert_eq!(z, vec![1.0, 0.0, 2.0]);
        // [[0, 2], [3, 1]]⁻¹ = [[−1/6, 1/3], [1/2, 0]].
        let inverse = Lu::principal(&m, &[0, 2]).unwrap().inverse();
        assert!(inverse.iter().zip([-1.0 / 6.0, 1.0 / 3.0, 0.5, 0.0]).all(|(x, y)| (x - y).abs() < 1e-16));
        assert!(solve_on(&Matrix::from_rows(&[[1.0, 1.0], [1.0, 1.0]]), &[1.0, 1.0], &[0, 1]).is_none());
        assert_eq!(solve_on(&m, &[0.0; 3], &[]).unwrap(), vec![0.0; 3]);
    }
}
