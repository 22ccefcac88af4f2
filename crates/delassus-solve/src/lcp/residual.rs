//! How far z is from solving a complementarity problem, free of units.
//!
//! ```text
//! e = max over blocks ‖F‖₂ / ‖R q‖₂ ,   Fᵢ = min(zᵢ/cᵢ, rᵢwᵢ) on pairs, rᵢwᵢ on free rows ,   w = M z + q
//! ```
//!
//! R = diag(r) and C = diag(c) are powers of two for which the largest entry of each row and column of R M
//! C is near one: an error in Fᵢ then changes every scaled row by about as much, whatever the units of zᵢ
//! and wᵢ. Rows and columns serve, not the diagonal, which may be zero or negative. (r, c) and (t r, c/t)
//! make the same matrix and the same quotient, so that t is free for each block of unknowns without a
//! coupling to others; each block is measured by its own part of q. Only products with powers of two are
//! taken: where the scales do not matter the number is ‖min(z, w)‖₂/‖q‖₂.
//!
//! Written with its own product and its own scales, so that it shares no line with any solver.

use crate::linalg::{Matrix, UnionFind};

/// M z + q, row by row.
pub(super) fn slack(m: &Matrix, q: &[f64], z: &[f64]) -> Vec<f64> {
    assert_eq!(z.len(), m.cols(), "a candidate has as many entries as the problem has unknowns");
    let mut w = Vec::with_capacity(q.len());
    for (i, &qi) in q.iter().enumerate() {
        let mut sum = 0.0;
        for (a, x) in m.row(i).iter().zip(z) {
            sum += a * x;
        }
        w.push(sum + qi);
    }
    w
}

/// max |Fᵢ| with the scales left out, in the units of z and w; +∞ where it is not a number.
pub(super) fn physical(m: &Matrix, q: &[f64], z: &[f64], free: impl Fn(usize) -> bool) -> f64 {
    let w = slack(m, q, z);
    if z.iter().chain(&w).any(|x| !x.is_finite()) {
        return f64::INFINITY;
    }
    (0..q.len()).fold(0.0, |top: f64, i| top.max(if free(i) { w[i] } else { z[i].min(w[i]) }.abs()))
}

/// The measure of one problem, for one point after the other: its scales are found once.
pub(super) struct Measure<'a> {
    pub matrix: &'a Matrix,
    pub vector: &'a [f64],
    /// Which rows are free; none of them where the list is empty.
    free: &'a [bool],
    pub scales: Scales,
}

impl<'a> Measure<'a> {
    pub fn new(matrix: &'a Matrix, vector: &'a [f64], free: &'a [bool]) -> Self {
        Measure { matrix, vector, free, scales: Scales::new(matrix, vector) }
    }

    pub fn size(&self) -> usize {
        self.vector.len()
    }

    pub fn is_free(&self, i: usize) -> bool {
        self.free.get(i).is_some_and(|free| *free)
    }

    pub fn slack(&self, z: &[f64]) -> Vec<f64> {
        slack(self.matrix, self.vector, z)
    }

    /// e of a point; +∞ where it is not a number. A block with q = 0 is divided by one.
    pub fn residual(&self, z: &[f64]) -> f64 {
        self.residual_at(z, &self.slack(z))
    }

    /// The same where w = M z + q is known.
    pub fn residual_at(&self, z: &[f64], w: &[f64]) -> f64 {
        if z.iter().chain(w).any(|x| !x.is_finite()) {
            return f64::INFINITY;
        }
        let (q, scales) = (self.vector, &self.scales);
        // Of each block the squares of ‖F‖ and ‖R q‖.
        let mut sums = vec![[0.0; 2]; q.len()];
        for i in 0..q.len() {
            let (x, y) =
                (times_power_of_two(z[i], -scales.columns[i]), times_power_of_two(w[i], scales.rows[i]));
            let f = if self.is_free(i) { y } else { x.min(y) };
            let [error, size] = &mut sums[scales.block[i]];
            *error += f * f;
            *size += times_power_of_two(q[i], scales.rows[i]).powi(2);
        }
        let quotient = |[e, s]: &[f64; 2]| (if *s > 0.0 { e / s } else { *e }).sqrt();
        let worst = sums.iter().fold(0.0_f64, |top, sums| top.max(quotient(sums)));
        if worst.is_nan() { f64::INFINITY } else { worst }
    }
}

/// The exponents of R and C, and the block of each unknown.
pub(super) struct Scales {
    rows: Vec<i32>,
    columns: Vec<i32>,
    /// The smallest unknown of the block.
    block: Vec<usize>,
}

/// Each sweep halves how far the exponents are from their end, from 2100 at most for doubles.
const SCALING_SWEEPS: usize = 12;

impl Scales {
    pub fn new(m: &Matrix, q: &[f64]) -> Scales {
        let n = q.len();
        let mut sets = UnionFind::new(n);
        // Row, column and exponent of what is not zero.
        let (mut entries, mut is_empty) = (Vec::with_capacity(n * n), vec![true; n]);
        for i in 0..n {
            for (j, x) in m.row(i).iter().enumerate().filter(|(_, x)| **x != 0.0) {
                sets.join(i, j);
                entries.push((i, j, f64::from(exponent(*x))));
                is_empty[i] = false;
            }
        }
        // Of each row, then of each column.
        let (mut shift, mut top) = (vec![0.0_f64; 2 * n], vec![0.0_f64; 2 * n]);
        for _ in 0..SCALING_SWEEPS {
            top.fill(f64::NEG_INFINITY);
            for &(i, j, exponent) in &entries {
                let size = exponent + shift[i] + shift[n + j];
                top[i] = top[i].max(size);
                top[n + j] = top[n + j].max(size);
            }
            // Entries from 1/2 to 4 are near one; an empty row or column has nothing to scale.
            if top.iter().all(|t| *t == f64::NEG_INFINITY || t.abs() <= 1.0) {
                break;
            }
            let both = shift.iter_mut().zip(&top);
            both.filter(|(_, top)| top.is_finite()).for_each(|(s, top)| *s -= top / 2.0);
        }
        let block: Vec<usize> = (0..n).map(|i| sets.root(i)).collect();
        let (mut rows, columns) = (rounded(&shift[..n]), rounded(&shift[n..]));
        let mut out = Scales { rows: vec![], columns, block };
        let mut top = vec![i32::MIN; n];
        for i in (0..n).filter(|&i| q[i] != 0.0 && !is_empty[i]) {
            top[out.block[i]] = top[out.block[i]].max(rows[i] + exponent(q[i]));
        }
        for i in 0..n {
            let top = top[out.block[i]];
            if is_empty[i] && q[i] != 0.0 {
                // w is q here, whatever z: a violation counts in full.
                rows[i] = if top == i32::MIN { 0 } else { top } - exponent(q[i]);
            }
        }
        out.rows = rows;
        out.balance(&top);
        out
    }

    /// Takes t so that the largest entry of R q is about one in each block: squares stay in range.
    fn balance(&mut self, top: &[i32]) {
        for i in 0..self.rows.len() {
            let shift = top[self.block[i]];
            if shift != i32::MIN {
                self.rows[i] -= shift;
                self.columns[i] += shift;
            }
        }
    }

    /// What zᵢ is measured in.
    pub fn unit(&self, i: usize) -> f64 {
        times_power_of_two(1.0, self.columns[i])
    }

    /// Whether zᵢ is the positive one of the pair (zᵢ, wᵢ).
    pub fn is_active(&self, i: usize, z: f64, w: f64) -> bool {
        times_power_of_two(z, -self.columns[i]) > times_power_of_two(w, self.rows[i])
    }
}

fn rounded(exponents: &[f64]) -> Vec<i32> {
    exponents.iter().map(|x| x.round() as i32).collect()
}

/// e with 2ᵉ ≤ |x| < 2ᵉ⁺¹, for x ≠ 0 finite.
fn exponent(x: f64) -> i32 {
    let field = |x: f64| ((x.to_bits() >> 52) & 0x7ff) as i32;
    // Below the normal numbers: brought up first.
    if field(x) == 0 { field(x * 2f64.powi(64)) - 1023 - 64 } else { field(x) - 1023 }
}

/// x 2ᵉ, without a power that leaves the range on the way.
fn times_power_of_two(x: f64, e: i32) -> f64 {
    if e == 0 {
        return x;
    }
    let e = e.clamp(-4000, 4000);
    (0..4).fold(x, |x, k| x * 2f64.powi((e + k).div_euclid(4)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::lcp::{Lcp, Mlcp};

    #[test]
    fn exponents() {
        for (x, e) in [(1.0, 0), (-1.5, 0), (4.0, 2), (0.3, -2), (f64::from_bits(1), -1074), (1e300, 996)] {
            assert_eq!(exponent(x), e);
        }
        for e in [-1074, -7, -1, 0, 1, 6, 1000] {
            assert_eq!(times_power_of_two(1.0, e), 2f64.powi(e));
        }
    }

    /// z = −1/a solves w = −a z − 1 = 0 but for its sign: an error of the whole problem, at any scale.
    #[test]
    fn a_large_entry_does_not_hide_a_negative_unknown() {
        for k in [-300, -40, 0, 27, 40, 300] {
            let a = 2f64.powi(k);
            let lcp = Lcp::new(Matrix::from_rows(&[[-a]]), vec![-1.0]).unwrap();
            // One, but for the rounding of the scales to powers of two.
            assert!((0.25..4.0).contains(&lcp.residual(&[-1.0 / a])));
        }
        // Nothing moves the second row, and its vector is small next to the first.
        let m = Matrix::from_rows(&[[1.0, 1.0], [0.0, 0.0]]);
        assert!(Lcp::new(m, vec![-1.0, -1e-12]).unwrap().residual(&[1.0, 0.0]) > 0.5);
        // A block of its own is measured by itself.
        let m = Matrix::diagonal(&[1.0, -1e-9]);
        assert!(Lcp::new(m, vec![-1.0, -1e-12]).unwrap().residual(&[1.0, 0.0]) > 0.9);
    }

    proptest! {
        /// Units of z and w, row by row or one for all, move the measure by little more than the rounding
        /// of the scales to powers of two.
        #[test]
        fn units_do_not_matter((n, m, q, z, free, d, e) in (1usize..7).prop_flat_map(|n| (
            Just(n),
            prop::collection::vec(0.5f64..2.0, n * n),
            prop::collection::vec(0.1f64..1.0, n),
            prop::collection::vec(-1.0f64..1.0, n),
            prop::collection::vec(any::<bool>(), n),
            prop::collection::vec(-40i32..41, n),
            prop::collection::vec(-40i32..41, n),
        ))) {
            let measure = |d: &dyn Fn(usize) -> i32, e: &dyn Fn(usize) -> i32| {
                let p = |x: f64, k: i32| x * 2f64.powi(k);
                Mlcp {
                    matrix: Matrix::from_fn(n, n, |i, j| p(m[i * n + j], e(i) - d(j))),
                    vector: (0..n).map(|i| p(if i % 2 == 0 { q[i] } else { -q[i] }, e(i))).collect(),
                    free: free.clone(),
                }
                .residual(&(0..n).map(|i| p(z[i], d(i))).collect::<Vec<_>>())
            };
            let plain = measure(&|_| 0, &|_| 0);
            for scaled in [measure(&|i| d[i], &|i| e[i]), measure(&|_| d[0], &|_| e[0])] {
                prop_assert!((plain / 8.0..=8.0 * plain).contains(&scaled), "{} {}", plain, scaled);
            }
        }
    }
}
