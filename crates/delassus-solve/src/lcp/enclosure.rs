//! A solution near a point, proved in floating point with bounds on its rounding.
//!
//! ```text
//! B x = −q_A ,   B = M_AA ,   α = ‖I − R B‖ < 1        ⇒   B is regular , ‖x − z_A‖ ≤ ‖R (B z_A + q_A)‖/(1 − α)
//! ```
//!
//! A holds the free unknowns and those of the pairs (z, w) whose z is the positive one, R is an inverse of B
//! up to rounding, ‖y‖ = max |y_i|/d_i in units d of the unknowns. Where within these bounds x stays positive
//! on pairs, and w = M x + q on all other rows, x is the solution with these sides, and the only one. A tie,
//! or a matrix too close to a singular one, proves nothing.

use super::residual::Measure;
use crate::linalg::Lu;

/// Largest α. The bounds below double what follows from it, for the rounding of bounds themselves.
const MAX_DEFECT: f64 = 0.5;

/// Units from its inverse to this keep products with them in range.
const MAX_UNIT: f64 = 1e250;

/// Whether the problem has, for certain, a solution with these sides of its pairs (`active`: z may be other
/// than zero) near z.
pub(super) fn is_surely_near(on: &Measure<'_>, active: &[bool], z: &[f64]) -> bool {
    let n = on.size();
    let (inside, off): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| active[i]);
    // A sum of n + 2 products is off by less than this part of the sum of their sizes, and by less than
    // `least` where products are below the normal numbers.
    let part = 4.0 * (n + 2) as f64 * f64::EPSILON;
    let least = (n + 2) as f64 * f64::MIN_POSITIVE;
    let entry = |i: usize, j: usize| on.matrix[(i, j)];
    // M_iA z_A + q_i, and how far it may be off.
    let slack = |i: usize| {
        let terms = inside.iter().map(|&j| entry(i, j) * z[j]);
        let (sum, size) =
            terms.fold((on.vector[i], on.vector[i].abs()), |(sum, size), x| (sum + x, size + x.abs()));
        (sum, part * size + least)
    };
    let Some(radius) = radius(on, &inside, &slack, [part, least]) else { return false };
    let stays_positive = inside.iter().zip(&radius).all(|(&j, r)| on.is_free(j) || z[j] > *r);
    stays_positive
        && off.iter().all(|&i| {
            let (w, error) = slack(i);
            let moved: f64 = inside.iter().zip(&radius).map(|(&j, r)| entry(i, j).abs() * r).sum();
            w - error - 2.0 * moved - least > 0.0
        })
}

/// How far each of the unknowns A of the solution is from z at most; `None` where B may be singular.
fn radius(
    on: &Measure<'_>,
    inside: &[usize],
    slack: &dyn Fn(usize) -> (f64, f64),
    [part, least]: [f64; 2],
) -> Option<Vec<f64>> {
    let k = inside.len();
    let inverse = if k > 0 { Lu::principal(on.matrix, inside)?.inverse() } else { return Some(vec![]) };
    let unit: Vec<f64> = inside.iter().map(|&j| on.scales.unit(j)).collect();
    if !unit.iter().all(|d| (1.0 / MAX_UNIT..=MAX_UNIT).contains(d)) {
        return None;
    }
    let size_of = |&i: &usize| {
        let (value, error) = slack(i);
        value.abs() + error
    };
    let defect: Vec<f64> = inside.iter().map(size_of).collect();
    let mut largest = 0.0_f64;
    // A row of R B, and the sizes of its terms.
    let mut product = vec![[0.0; 2]; k];
    for (i, row) in inverse.chunks_exact(k).enumerate() {
        product.fill([0.0; 2]);
        for (r, &l) in row.iter().zip(inside) {
            let entries = on.matrix.row(l);
            for ([sum, size], &column) in product.iter_mut().zip(inside) {
                let x = r * entries[column];
                *sum += x;
                *size += x.abs();
            }
        }
        let mut alpha = 0.0;
        for (j, [sum, size]) in product.iter().enumerate() {
            let off = (f64::from(u8::from(i == j)) - sum).abs() + part * size + least;
            alpha += off * unit[j] / unit[i];
        }
        let step: f64 = row.iter().zip(&defect).map(|(r, d)| r.abs() * d).sum();
        let relative = (step + least) / unit[i];
        // Also where one of them is not a number.
        if !(alpha <= MAX_DEFECT && relative.is_finite()) {
            return None;
        }
        largest = largest.max(relative);
    }
    let bound = 2.0 / (1.0 - MAX_DEFECT) * largest;
    Some(unit.iter().map(|d| bound * d).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lcp::Mlcp;
    use crate::lcp::exact::{Decision, decide};
    use crate::linalg::Matrix;

    fn is_near(mlcp: &Mlcp, z: &[f64]) -> bool {
        let active: Vec<bool> = z.iter().zip(&mlcp.free).map(|(z, free)| *free || *z > 0.0).collect();
        is_surely_near(&mlcp.measure(), &active, z)
    }

    #[test]
    fn a_solution_with_room_is_proved_in_any_units_and_a_tie_is_not() {
        // 2 z₁ + z₂ = 3, z₁ + 2 z₂ = 3; w₃ = z₁ + z₂ − 1 = 1. A free row may have either sign.
        let matrix = Matrix::from_rows(&[[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [1.0, 1.0, 1.0]]);
        let problem = |q: [f64; 3]| Mlcp::new(matrix.clone(), q.to_vec(), vec![false; 3]).unwrap();
        assert!(is_near(&problem([-3.0, -3.0, -1.0]), &[1.0, 1.0, 0.0]));
        assert!(is_near(&problem([-3.0, -3.0, -1.0]), &[1.0 + 1e-9, 1.0, 0.0]));
        // w₃ = 0, or below by one digit; a point that is far off; sides that are wrong.
        assert!(!is_near(&problem([-3.0, -3.0, -2.0]), &[1.0, 1.0, 0.0]));
        assert!(!is_near(&problem([-3.0, -3.0, -2.0_f64.next_up()]), &[1.0, 1.0, 0.0]));
        assert!(!is_near(&problem([-3.0, -3.0, -1.0]), &[2.0, 2.0, 0.0]));
        assert!(!is_near(&problem([-3.0, -3.0, -1.0]), &[1.0, 0.0, 1.0]));
        assert!(!is_near(&problem([-3.0, -3.0, -1.0]), &[f64::NAN, 1.0, 0.0]));
        let scaled = Matrix::from_rows(&[[2e-5, 1.0, 0.0], [1.0, 2e5, 0.0], [1e-5, 1.0, 1.0]]);
        let mixed = Mlcp::new(scaled, vec![3.0, 3e5, -1.0], vec![true, true, false]).unwrap();
        assert!(!is_near(&mixed, &[-1e5, -1.0, 0.0]));
        let mixed = Mlcp { vector: vec![3.0, 3e5, 3.0], ..mixed };
        assert!(is_near(&mixed, &[-1e5, -1.0, 0.0]));
    }

    #[test]
    fn nothing_is_proved_of_a_singular_block() {
        let line = Mlcp::new(Matrix::from_rows(&[[1.0, 1.0], [1.0, 1.0]]), vec![-1.0; 2], vec![false; 2]);
        assert!(!is_near(&line.unwrap(), &[0.5, 0.5]));
        assert!(is_near(&Mlcp::new(Matrix::zeros(1, 1), vec![1.0], vec![false]).unwrap(), &[0.0]));
    }

    proptest! {
        /// What is proved here rational arithmetic finds too: small integers with their many ties, moved by
        /// the last digit.
        #[test]
        fn what_is_proved_is_true((n, m, q, by) in (1usize..5).prop_flat_map(|n| (
            Just(n),
            prop::collection::vec(-2i32..3, n * n),
            prop::collection::vec(-2i32..3, n),
            prop::collection::vec(-1i32..2, n),
        ))) {
            let whole = |x: Vec<i32>| x.into_iter().map(f64::from).collect::<Vec<f64>>();
            let free: Vec<bool> = (0..n).map(|i| i % 3 == 2).collect();
            let mut mlcp = Mlcp { matrix: Matrix::from_vec(n, n, whole(m)), vector: whole(q), free };
            let Decision::Solution(z) = decide(&mlcp) else { return Ok(()) };
            let moved = mlcp.vector.iter().zip(by).map(|(q, by)| match by {
                0 => *q,
                1 => q.next_up(),
                _ => q.next_down(),
            });
            mlcp.vector = moved.collect();
            if is_near(&mlcp, &z) {
                prop_assert!(matches!(decide(&mlcp), Decision::Solution(_)));
            }
        }
    }
}
