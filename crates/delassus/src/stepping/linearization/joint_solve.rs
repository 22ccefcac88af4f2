//! Impulses of joints where there is nothing else, by one sparse factorization.
//!
//! ```text
//! W r = −q ,   W = H M⁻¹ Hᵀ (n × n) ,   q = H M⁻¹ f + b
//! ```
//!
//! H has a row per bilateral row of a joint, f = M v*, b the right-hand side. W is singular where rows of H
//! are linear combinations of others: these are left out before (`redundancy.rs`). Rows that move nothing in
//! common do not see each other in W: N loops in a row cost N times what one costs. Source: 004 eq. 9.

use delassus_solve::linalg::{GramCholesky, Sparse};

/// Solves joints without contacts, in memory that is kept.
#[derive(Default)]
pub struct JointsAlone {
    /// Whether there are factors, and H and the masses that they come from: the passes of a step, and its end
    /// and the start of the next one, have the same.
    factored: bool,
    from_h: Sparse,
    from_mass: Vec<f64>,
    factors: GramCholesky,
    q: Vec<f64>,
    defect: Vec<f64>,
}

impl JointsAlone {
    /// W r = −q by one factorization; false where W is singular to working precision.
    pub fn solve(
        &mut self,
        h: &Sparse,
        mass: &[(usize, usize, f64)],
        force: &[f64],
        bias: &[f64],
        r: &mut Vec<f64>,
    ) -> bool {
        let q = &mut self.q;
        q.clear();
        q.extend_from_slice(bias);
        for (row, &(_, _, m)) in mass.iter().enumerate() {
            let (columns, values) = h.row(row);
            for (&i, value) in columns.iter().zip(values).filter(|e| *e.1 != 0.0) {
                q[i] += value * force[row] / m;
            }
        }
        r.clear();
        r.extend(q.iter().map(|q| -q));
        if q.iter().all(|q| *q == 0.0) {
            r.fill(0.0);
            return true;
        }
        let kept = self.factored
            && self.from_h.has_bits_of(h)
            && self.from_mass.iter().eq(mass.iter().map(|(_, _, m)| m));
        if !kept {
            self.from_h.clone_from(h);
            self.from_mass.clear();
            self.from_mass.extend(mass.iter().map(|(_, _, m)| m));
            self.factored = self.factors.factorize(h, &self.from_mass);
        }
        if !self.factored {
            return false;
        }
        self.factors.solve(r);
        // One step of refinement: joints of long chains differ much in what they carry.
        self.find_defect(r);
        self.factors.solve(&mut self.defect);
        r.iter_mut().zip(&self.defect).for_each(|(r, c)| *r += c);
        true
    }

    /// −q − H M⁻¹ Hᵀ r.
    fn find_defect(&mut self, r: &[f64]) {
        let JointsAlone { from_h, from_mass, q, defect, .. } = self;
        defect.clear();
        defect.extend(q.iter().map(|q| -q));
        for (i, m) in from_mass.iter().enumerate() {
            let (columns, values) = from_h.row(i);
            let change = columns.iter().zip(values).map(|(&j, x)| x * r[j]).sum::<f64>() / m;
            columns.iter().zip(values).for_each(|(&j, x)| defect[j] -= x * change);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use delassus_solve::linalg::{Matrix, norm};

    /// H with a band of entries, and masses that differ.
    fn chain(n: usize, dofs: usize) -> (Sparse, Vec<(usize, usize, f64)>) {
        let entry = |i: usize, j: usize| ((i * 7 + j * 3) as f64).sin() + if i % n == j { 2.0 } else { 0.0 };
        let near = |i: usize, j: usize| (i * n / dofs).abs_diff(j) <= 2;
        let places = (0..dofs).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|&(i, j)| near(i, j));
        let entries: Vec<_> = places.map(|(i, j)| (i, j, entry(i, j))).collect();
        (Sparse::from_triplets(dofs, n, &entries), (0..dofs).map(|i| (i, i, 1.0 + (i % 5) as f64)).collect())
    }

    #[test]
    fn impulses_are_those_of_another_factorization() {
        let mut alone = JointsAlone::default();
        for (n, dofs) in [(1, 2), (17, 30), (6, 12), (60, 130)] {
            let (h, mass) = chain(n, dofs);
            let force: Vec<f64> = (0..dofs).map(|i| (i as f64).cos()).collect();
            let bias: Vec<f64> = (0..n).map(|i| 0.1 * i as f64).collect();
            let mut r = vec![];
            assert!(alone.solve(&h, &mass, &force, &bias, &mut r));
            let dense = Matrix::from_fn(dofs, n, |i, j| {
                let (columns, values) = h.row(i);
                columns.iter().position(|&c| c == j).map_or(0.0, |k| values[k])
            });
            let scaled = Matrix::from_fn(dofs, n, |i, j| dense[(i, j)] / mass[i].2);
            let w = dense.transpose().mul(&scaled);
            let q = scaled.tr_mul_vec(&force);
            let negative = Matrix::from_fn(n, 1, |i, _| -(q[i] + bias[i]));
            let expected = w.solve_positive_definite(&negative).unwrap();
            let error = (0..n).map(|i| (r[i] - expected[(i, 0)]).abs()).fold(0.0, f64::max);
            // Two stable factorizations differ by rounding times the condition of W, here below 1e3.
            assert!(error < 1e-11 * norm(&r), "{n}: {error:e}");
            // Once more with factors that are kept: the bits of a new factorization.
            let other: Vec<f64> = force.iter().map(|f| f + 1.0).collect();
            let (mut kept, mut new) = (vec![], vec![]);
            assert!(alone.solve(&h, &mass, &other, &bias, &mut kept));
            assert!(JointsAlone::default().solve(&h, &mass, &other, &bias, &mut new));
            assert_eq!(kept, new);
            // And with another mass.
            let heavy: Vec<_> = mass.iter().map(|&(i, j, m)| (i, j, 2.0 * m)).collect();
            assert!(alone.solve(&h, &heavy, &other, &bias, &mut kept));
            assert!(JointsAlone::default().solve(&h, &heavy, &other, &bias, &mut new));
            assert_eq!(kept, new);
        }
    }

    #[test]
    fn light_links_that_carry_a_heavy_load_are_solved_as_well_as_numbers_can() {
        // A row of points on a line, each held to the one before: r of all rows is the impulse on the load,
        // here 1e6 times what a link would need by itself, and W r cancels to that part.
        let n = 10;
        let entries: Vec<_> = (0..n).map(|i| (i, i, 1.0)).chain((1..n).map(|i| (i - 1, i, -1.0))).collect();
        let h = Sparse::from_triplets(n, n, &entries);
        let mass: Vec<_> = (0..n).map(|i| (i, i, if i + 1 == n { 1e3 } else { 1e-3 })).collect();
        let force: Vec<f64> = mass.iter().map(|(_, _, m)| -9.81e-3 * m).collect();
        let mut r = vec![];
        assert!(JointsAlone::default().solve(&h, &mass, &force, &[0.0; 10], &mut r));
        for (i, r) in r.iter().enumerate() {
            let carried: f64 = force[i..].iter().sum();
            // Rounding times the condition of W: the ratio of masses times the square of the number of links.
            assert!((r + carried).abs() < 1e-9 * carried.abs(), "{i}: {r} for {carried}");
        }
    }

    #[test]
    fn a_singular_system_is_refused_and_rest_needs_no_impulse() {
        let (h, mass) = chain(5, 4);
        let mut r = vec![];
        assert!(!JointsAlone::default().solve(&h, &mass, &[1.0; 4], &[1.0; 5], &mut r));
        assert!(JointsAlone::default().solve(&h, &mass, &[0.0; 4], &[0.0; 5], &mut r));
        assert_eq!(r, [0.0; 5]);
    }

    #[test]
    fn numbers_whose_squares_are_zero_are_numbers() {
        // One mass on a guide: r = −f, also where f² is below all numbers.
        let h = Sparse::from_triplets(1, 1, &[(0, 0, 1.0)]);
        let mut r = vec![];
        assert!(JointsAlone::default().solve(&h, &[(0, 0, 2.0)], &[1e-200], &[0.0], &mut r));
        assert_eq!(r, [-1e-200]);
    }
}
