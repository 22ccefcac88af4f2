//! What rounding leaves of the velocities of rows, where jointed bodies move together.
//!
//! ```text
//! y ← y − Q Qᵀ y     where |H_j·y| ≤ k ε ‖H_j‖ ‖y‖ for all rows j ,   Q an orthonormal basis of the rows
//! ```
//!
//! y (n motions) comes from sums over a whole tree, so that a row of two small bodies has rounding of the
//! motion of all. The change is of the size of that rounding.

use delassus_solve::linalg::{Sparse, dot, norm};

/// k: roundings of the motion of all that a row may have.
const ROUNDINGS: f64 = 16.0;
/// A row with less than this part of itself beside the rows before follows from them.
const DEPENDENT: f64 = 1e-10;

/// Takes out of y what rows without bias have of it, where that is rounding; whether it is, and m is not
/// empty. Hᵀ is n × m.
pub(super) fn take_out_rounding(h: &Sparse, bias: &[f64], y: &mut [f64]) -> bool {
    if h.rows() != y.len() || bias.is_empty() || bias.iter().any(|b| *b != 0.0) {
        return false;
    }
    let mut rows = vec![vec![0.0; y.len()]; bias.len()];
    for k in 0..y.len() {
        let (columns, values) = h.row(k);
        columns.iter().zip(values).for_each(|(&j, x)| rows[j][k] = *x);
    }
    let rounding = ROUNDINGS * f64::EPSILON * norm(y);
    if !rows.iter().all(|row| dot(row, y).abs() <= rounding * norm(row)) {
        return false;
    }
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for mut row in rows {
        let before = norm(&row);
        // Twice is enough.
        (0..2).for_each(|_| basis.iter().for_each(|q| take_out(q, &mut row)));
        let left = norm(&row);
        if left > DEPENDENT * before {
            row.iter_mut().for_each(|x| *x /= left);
            basis.push(row);
        }
    }
    (0..2).for_each(|_| basis.iter().for_each(|q| take_out(q, y)));
    true
}

/// x ← x − (q·x) q.
fn take_out(q: &[f64], x: &mut [f64]) {
    let part = dot(q, x);
    x.iter_mut().zip(q).for_each(|(x, q)| *x -= part * q);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_taken_out_and_a_motion_is_not() {
        // Three rows in four motions, the third the sum of the others.
        let rows = [[1.0, 0.0, 0.5, 0.0], [0.0, 2.0, -1.0, 0.0], [1.0, 2.0, -0.5, 0.0]];
        let entry = |k: usize, j: usize| (k, j, rows[j][k]);
        let entries: Vec<_> = (0..4).flat_map(|k| (0..3).map(move |j| entry(k, j))).collect();
        let h = Sparse::from_triplets(4, 3, &entries);
        let with = |by: f64| [-0.5 + by, 0.5 - by, 1.0, 7.0];
        let mut y = with(1e-14);
        assert!(take_out_rounding(&h, &[0.0; 3], &mut y));
        for row in rows {
            assert!(dot(&row, &y).abs() < 1e-15, "{y:?}");
        }
        assert!(y.iter().zip(with(0.0)).all(|(a, b)| (a - b).abs() < 2e-14), "{y:?}");
        for (by, bias) in [(1e-13, 0.0), (1e-14, 1e-20)] {
            let mut y = with(by);
            assert!(!take_out_rounding(&h, &[0.0, 0.0, bias], &mut y));
            assert_eq!(y, with(by));
        }
        assert!(!take_out_rounding(&Sparse::from_triplets(4, 0, &[]), &[], &mut with(0.0)));
        assert!(!take_out_rounding(&h, &[0.0; 3], &mut [0.0; 3]));
    }
}
