//! The last resort: trying every index set, that is, every choice of which side of each pair is zero.
//!
//! ```text
//! α ⊇ free rows:  (M z + q)_α = 0,  z = 0 off α,  z ≥ 0 on pairs in α,  w ≥ 0 off α
//! ```
//!
//! M is N × N with m complementary pairs, which makes 2ᵐ sets α. If M_αα is regular, the set has a single
//! candidate. If it is singular, the candidates form a polyhedron in the null space of M_αα, and the one
//! nearest to the origin is computed. A set is ruled out only if it is empty beyond rounding error. Hence
//! "none" is a proof; if any set is in doubt, the answer is "unknown".

use super::mlcp::Mlcp;
use super::polyhedron::{Nearest, nearest_point};
use crate::linalg::{Matrix, equilibrate, max_abs, solve_on};

/// Problems with more pairs than this are not searched: 2¹⁶ sets take a second.
pub(super) const MOST_PAIRS: usize = 16;

/// What the search over all index sets found.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Search {
    /// A point whose residual is within the tolerance.
    Found(Vec<f64>),
    /// Every set is empty.
    Empty,
    /// No point was found, but some set could not be proved empty.
    Unknown,
}

/// Signs and defects this far (relative) from zero are no rounding.
const MIN_CLEAR_RATIO: f64 = 1e-9;

/// The first point found that solves the mixed problem to `tolerance`, and the number of sets examined.
pub(super) fn first_complementary_solution(mlcp: &Mlcp, tolerance: f64) -> (Search, usize) {
    let n = mlcp.size();
    let pairs: Vec<usize> = (0..n).filter(|&i| !mlcp.free[i]).collect();
    if pairs.len() > MOST_PAIRS {
        return (Search::Unknown, 0);
    }
    let (rows, cols) = equilibrate(&mlcp.matrix);
    let scaled = Mlcp {
        matrix: Matrix::from_fn(n, n, |i, j| rows[i] * mlcp.matrix[(i, j)] * cols[j]),
        vector: mlcp.vector.iter().zip(&rows).map(|(q, r)| q * r).collect(),
        free: mlcp.free.clone(),
    };
    let mut inside = mlcp.free.clone();
    let mut doubtful = false;
    for set in 0..1_usize << pairs.len() {
        for (k, &i) in pairs.iter().enumerate() {
            inside[i] = set >> k & 1 == 1;
        }
        let (point, clear) = solve_index_set(&scaled, &inside);
        if let Some(z) = point {
            let z: Vec<f64> = z.iter().zip(&cols).map(|(x, c)| x * c).collect();
            if mlcp.residual(&z) <= tolerance {
                return (Search::Found(z), set + 1);
            }
        }
        doubtful |= !clear;
    }
    (if doubtful { Search::Unknown } else { Search::Empty }, 1 << pairs.len())
}

/// A point of the index set, if one comes near, and whether the set is clearly empty.
fn solve_index_set(mlcp: &Mlcp, inside: &[bool]) -> (Option<Vec<f64>>, bool) {
    let (m, q) = (&mlcp.matrix, &mlcp.vector);
    let (alpha, beta): (Vec<usize>, Vec<usize>) = (0..q.len()).partition(|&i| inside[i]);
    if let Some(z) = solve_on(m, q, &alpha) {
        let w = mlcp.slack(&z);
        let (z_size, w_size) = (max_abs(&z), max_abs(q).max(max_abs(&w)));
        let clear = alpha.iter().any(|&i| !mlcp.free[i] && z[i] < -MIN_CLEAR_RATIO * z_size)
            || beta.iter().any(|&i| w[i] < -MIN_CLEAR_RATIO * w_size);
        return (Some(z), clear);
    }
    // M_αα t + q_α = 0 has no solution, or the solutions t + N s.
    let block = m.select(&alpha, &alpha);
    let space = block.row_space();
    let top = space.singular_values.first().copied().unwrap_or(0.0);
    let gray = space.singular_values.iter().take(space.rank).any(|&s| s < MIN_CLEAR_RATIO * top);
    let right: Vec<f64> = alpha.iter().map(|&i| -q[i]).collect();
    let t = block.pseudo_solve(&right);
    let defect = block.mul_vec(&t).iter().zip(&right).fold(0.0_f64, |d, (a, b)| d.max((a - b).abs()));
    if defect > MIN_CLEAR_RATIO * max_abs(&right) {
        return (None, !gray);
    }
    let w: Vec<f64> = {
        let part = m.select(&beta, &alpha).mul_vec(&t);
        beta.iter().zip(part).map(|(&i, x)| q[i] + x).collect()
    };
    let signed: Vec<usize> = (0..alpha.len()).filter(|&k| !mlcp.free[alpha[k]]).collect();
    let null = &space.null_basis;
    let g = null.select_rows(&signed).stack(&m.select(&beta, &alpha).mul(null));
    let h: Vec<f64> = signed.iter().map(|&k| -t[k]).chain(w.iter().map(|x| -x)).collect();
    match nearest_point(&g, &h, MIN_CLEAR_RATIO) {
        Nearest::Point(s) => {
            let step = null.mul_vec(&s);
            let mut z = vec![0.0; q.len()];
            for (k, &i) in alpha.iter().enumerate() {
                z[i] = t[k] + step[k];
            }
            (Some(z), false)
        }
        Nearest::Infeasible(_) => (None, !gray),
        Nearest::Undecided => (None, false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lcp(rows: &[[f64; 2]], q: [f64; 2]) -> Mlcp {
        Mlcp { matrix: Matrix::from_rows(rows), vector: q.to_vec(), free: vec![false; 2] }
    }

    #[test]
    fn finds_or_proves() {
        // Painlevé: −z + 1 has the solutions 0 and 1, −z − 1 has none.
        let two = lcp(&[[-1.0, 0.0], [0.0, 1.0]], [1.0, -1.0]);
        let (Search::Found(z), _) = first_complementary_solution(&two, 1e-12) else { panic!() };
        assert_eq!(z, vec![0.0, 1.0]);
        let none = lcp(&[[-1.0, 0.0], [0.0, 1.0]], [-1.0, -1.0]);
        assert_eq!(first_complementary_solution(&none, 1e-12), (Search::Empty, 4));
    }

    #[test]
    fn singular_sets_are_polyhedra() {
        // w = (z₁ − z₂ − 1, −z₁ + z₂ + 1): both active, z₁ = z₂ + 1; the set {1} works as well.
        let line = lcp(&[[1.0, -1.0], [-1.0, 1.0]], [-1.0, 1.0]);
        let (Search::Found(z), _) = first_complementary_solution(&line, 1e-12) else { panic!() };
        assert!((z[0] - z[1] - 1.0).abs() < 1e-15);
        // w = z₁ − z₂ − 1 = −(−z₁ + z₂ + 2) − … : z₁ − z₂ ≥ 1 and ≥ … cannot hold with the second row.
        let none = lcp(&[[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0]);
        assert_eq!(first_complementary_solution(&none, 1e-12), (Search::Empty, 4));
    }

    #[test]
    fn free_rows_are_always_inside() {
        // z₂ = 0 (first row), z₁ = 3 free by the pair's row or its zero side.
        let m = Mlcp {
            matrix: Matrix::from_rows(&[[0.0, 1.0], [1.0, 0.0]]),
            vector: vec![-2.0, -3.0],
            free: vec![true, false],
        };
        let (Search::Found(z), _) = first_complementary_solution(&m, 1e-12) else { panic!() };
        assert_eq!(z, vec![3.0, 2.0]);
    }
}
