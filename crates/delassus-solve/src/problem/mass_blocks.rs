//! The diagonal blocks of a mass matrix and their inverses.
//!
//! ```text
//! M = P diag(M₁, …, M_k) Pᵀ ,   M⁻¹ = P diag(M₁⁻¹, …, M_k⁻¹) Pᵀ
//! ```
//!
//! M ∈ ℝⁿˣⁿ is sparse, P a permutation: one block per body, or per group of coordinates that inertia couples.

use super::InvalidProblem;
use crate::linalg::{Matrix, Sparse, UnionFind};

/// The rows of a square matrix in groups that no entry joins, each ascending, ordered by their first row: the
/// diagonal blocks of the matrix up to a permutation.
pub fn diagonal_blocks(a: &Sparse) -> Vec<Vec<usize>> {
    let mut sets = UnionFind::new(a.rows());
    for (i, j, _) in a.triplets().filter(|entry| entry.2 != 0.0) {
        sets.join(i, j);
    }
    sets.components()
}

/// A⁻¹ B for one block of the mass matrix; `None` where it is singular to working precision.
pub(super) fn solve_block(a: &Matrix, b: &Matrix) -> Option<Matrix> {
    if a.rows() == 1 {
        // A point mass is divided by, without a root taken of it.
        let x = Matrix::from_fn(1, b.cols(), |_, j| b[(0, j)] / a[(0, 0)]);
        return x.is_finite().then_some(x).filter(|_| a[(0, 0)] != 0.0);
    }
    if a.asymmetry() == 0.0
        && let Some(x) = a.solve_positive_definite(b)
    {
        return Some(x);
    }
    if a.rank() < a.rows() { None } else { a.solve_matrix(b) }
}

/// The dense block of these rows of a matrix without entries from them to others. `local` is written with the
/// place of each of the rows among them.
fn dense_block(a: &Sparse, rows: &[usize], local: &mut [usize]) -> Matrix {
    for (k, &i) in rows.iter().enumerate() {
        local[i] = k;
    }
    let mut block = Matrix::zeros(rows.len(), rows.len());
    for (k, &i) in rows.iter().enumerate() {
        let (js, values) = a.row(i);
        for (&j, &x) in js.iter().zip(values).filter(|e| *e.1 != 0.0) {
            block[(k, local[j])] = x;
        }
    }
    block
}

/// The diagonal blocks of the mass matrix, each with its rows, inverted.
pub fn inverse_blocks(mass: &Sparse) -> Result<Vec<(Vec<usize>, Matrix)>, InvalidProblem> {
    let mut local = vec![0; mass.rows()];
    let invert = |rows: Vec<usize>| {
        let block = dense_block(mass, &rows, &mut local);
        match solve_block(&block, &Matrix::identity(rows.len())) {
            Some(inverse) => Ok((rows, inverse)),
            None => Err(InvalidProblem::SingularMass { row: rows[0], size: rows.len() }),
        }
    };
    diagonal_blocks(mass).into_iter().map(invert).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_found_in_any_order() {
        let a =
            Sparse::from_triplets(5, 5, &[(0, 3, 1.0), (3, 0, 1.0), (4, 1, 2.0), (2, 1, 0.0), (2, 2, 1.0)]);
        assert_eq!(diagonal_blocks(&a), [vec![0, 3], vec![1, 4], vec![2]]);
    }

    #[test]
    fn the_inverse_of_each_block_undoes_it_and_a_singular_one_is_named() {
        let entries = [(0, 0, 4.0), (0, 2, 1.0), (2, 0, 1.0), (2, 2, 2.0), (1, 1, 0.5)];
        let found = inverse_blocks(&Sparse::from_triplets(3, 3, &entries)).unwrap();
        assert_eq!((found[0].0.as_slice(), found[1].0.as_slice()), (&[0, 2][..], &[1][..]));
        // The determinant of the first is 7.
        let expected = [[2.0 / 7.0, -1.0 / 7.0], [-1.0 / 7.0, 4.0 / 7.0]];
        let error = |k: usize| (found[0].1[(k / 2, k % 2)] - expected[k / 2][k % 2]).abs();
        assert!((0..4).all(|k| error(k) < 1e-15) && found[1].1[(0, 0)] == 2.0);
        let singular =
            Sparse::from_triplets(3, 3, &[(0, 0, 1.0), (1, 1, 1.0), (1, 2, 1.0), (2, 1, 1.0), (2, 2, 1.0)]);
        assert_eq!(inverse_blocks(&singular).unwrap_err(), InvalidProblem::SingularMass { row: 1, size: 2 });
    }
}
