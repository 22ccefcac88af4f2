//! Small square systems that may be singular.
//!
//! A x = b,   A ∈ R^{k×k} = R M⁻¹ C of the constraints that are active (see [`crate::event_mechanics`])
//!
//! Complete pivoting tells the rank. Where rows depend on each other and agree, the shortest x is taken, and the null space
//! of A is told beside it; where they do not agree there is no answer.

use delassus_solve::matrix::{Matrix, max_abs, norm};

use crate::event_mechanics::ModeError;

/// Pivots of the scaled matrix below this part of the largest are zero.
const SINGULAR: f64 = 1e-11;
/// Equations that cannot all hold leave more than this part of their terms.
const INCONSISTENT: f64 = 1e-6;

/// The shortest solution of A x = b, the determinant of A scaled to unit rows, and its null space where it has one.
pub(crate) struct Solved {
    pub(crate) x: Vec<f64>,
    pub(crate) determinant: f64,
    pub(crate) null: Option<Matrix>,
}

/// Solves A x = b, A square; where A is singular and the equations agree, for the shortest x.
pub(crate) fn solve_square(a: &Matrix, b: &[f64]) -> Result<Solved, ModeError> {
    let k = b.len();
    let scale: Vec<f64> = (0..k)
        .map(|i| {
            let size = max_abs(a.row(i));
            if size > 0.0 { 1.0 / size } else { 1.0 }
        })
        .collect();
    let mut w = Matrix::from_fn(k, k + 1, |i, j| scale[i] * if j < k { a[(i, j)] } else { b[i] });
    let mut order: Vec<usize> = (0..k).collect();
    let (mut determinant, mut top) = (1.0, 0.0_f64);
    for p in 0..k {
        // Complete pivoting: what is left is zero exactly where the rank ends.
        let (mut best, mut at) = (0.0, (p, p));
        for i in p..k {
            for j in p..k {
                if w[(i, j)].abs() > best {
                    (best, at) = (w[(i, j)].abs(), (i, j));
                }
            }
        }
        top = top.max(best);
        if best <= SINGULAR * top || best == 0.0 {
            return redundant(a, b);
        }
        for (from, to, columns) in [(at.0, p, false), (at.1, p, true)] {
            if from == to {
                continue;
            }
            determinant = -determinant;
            if columns {
                order.swap(from, to);
                for i in 0..k {
                    let x = w[(i, from)];
                    w[(i, from)] = w[(i, to)];
                    w[(i, to)] = x;
                }
            } else {
                for j in 0..=k {
                    let x = w[(from, j)];
                    w[(from, j)] = w[(to, j)];
                    w[(to, j)] = x;
                }
            }
        }
        determinant *= w[(p, p)];
        for i in p + 1..k {
            let factor = w[(i, p)] / w[(p, p)];
            if factor != 0.0 {
                for j in p..=k {
                    w[(i, j)] -= factor * w[(p, j)];
                }
            }
        }
    }
    let mut x = vec![0.0; k];
    for p in (0..k).rev() {
        let sum: f64 = (p + 1..k).map(|j| w[(p, j)] * x[order[j]]).sum();
        x[order[p]] = (w[(p, k)] - sum) / w[(p, p)];
    }
    Ok(Solved { x, determinant, null: None })
}

fn redundant(a: &Matrix, b: &[f64]) -> Result<Solved, ModeError> {
    let x = a.pseudo_solve(b);
    let left = a.mul_vec(&x).iter().zip(b).map(|(ax, b)| (ax - b).abs()).fold(0.0, f64::max);
    let terms = max_abs(b).max(a.max_abs() * norm(&x));
    if left > INCONSISTENT * terms {
        return Err(ModeError::Inconsistent);
    }
    Ok(Solved { x, determinant: 1.0, null: Some(a.row_space_with(SINGULAR).null_basis) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_redundant_and_contradictory() {
        let a = Matrix::from_rows(&[[0.0, 2.0], [1.0, 1.0]]);
        let solved = solve_square(&a, &[2.0, 3.0]).unwrap();
        assert!((solved.x[0] - 2.0).abs() < 1e-15 && (solved.x[1] - 1.0).abs() < 1e-15);
        // Rows scaled to a largest entry of 1.
        assert!((solved.determinant + 1.0).abs() < 1e-15 && solved.null.is_none());
        let twice = Matrix::from_rows(&[[1.0, 1.0], [1.0, 1.0]]);
        let solved = solve_square(&twice, &[2.0, 2.0]).unwrap();
        assert!(solved.x.iter().all(|x| (x - 1.0).abs() < 1e-14));
        assert_eq!(solved.null.map(|n| n.cols()), Some(1));
        assert_eq!(solve_square(&twice, &[1.0, 2.0]).err(), Some(ModeError::Inconsistent));
    }
}
