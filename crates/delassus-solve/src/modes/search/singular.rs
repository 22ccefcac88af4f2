//! The solutions of a mode whose system is singular: none, or a polyhedron.
//!
//! ```text
//! K x = r   ⇔   x = x₀ + N t ,      slacks ≥ 0   ⇔   G t ≥ h
//! ```
//!
//! K is n × n of rank n − k, N its null basis n × k, t ∈ Rᵏ. Rows of G that can only be tight lower the
//! dimension of the polyhedron; the rest bound it.

use super::{Directions, Found, PIVOT_ZERO, Search, Triple};
use crate::lcp::{Lp, Nearest, linear_program, nearest_point};
use crate::linalg::{Matrix, axpy, dot, max_abs};
use crate::modes::{SLACK_NEGATIVE, SLACK_ROUNDING};

/// The solutions of K x = r: base + Σ tⱼ columnⱼ, and their slacks, G t ≥ h.
struct AffineSet {
    base: Triple,
    columns: Vec<Triple>,
    /// G.
    slack_change: Matrix,
    /// h.
    limits: Vec<f64>,
    /// h, lowered by what rounding may have moved it.
    relaxed_limits: Vec<f64>,
    /// 1 plus the largest unknown of x₀.
    size: f64,
}

impl AffineSet {
    /// The point at t.
    fn at(&self, t: &[f64]) -> Triple {
        let along = |base: &[f64], part: fn(&Triple) -> &Vec<f64>| {
            let mut out = base.to_vec();
            for (c, tj) in self.columns.iter().zip(t) {
                axpy(*tj, part(c), &mut out);
            }
            out
        };
        Triple {
            a: along(&self.base.a, |c| &c.a),
            f: along(&self.base.f, |c| &c.f),
            u: along(&self.base.u, |c| &c.u),
        }
    }
}

impl Search<'_> {
    /// Finds the solutions of a mode with the singular system K x = r. `terms`: the largest term that an
    /// entry of K is a sum of.
    pub(super) fn singular(&mut self, choice: &[usize], k: &Matrix, r: &[f64], terms: f64) {
        let size = k.max_abs();
        let tolerance = PIVOT_ZERO * if size > 0.0 { (terms / size).max(1.0) } else { 1.0 };
        let space = k.row_space_with(tolerance);
        let x0 = {
            let ub = space.column_basis.tr_mul_vec(r);
            let scaled: Vec<f64> = ub.iter().zip(&space.singular_values).map(|(x, s)| x / s).collect();
            space.basis.mul_vec(&scaled)
        };
        if !self.is_consistent(choice, k, r, &x0) {
            return;
        }
        let set = self.affine_set(choice, &x0, &space.null_basis);
        let Some(t) = self.point_within(&set) else { return };
        let tight = self.tight_rows(&set, &t);
        let directions = self.directions(&set, &t, &tight);
        let point = set.at(&t);
        // In units of SAME_SOLUTION: 10⁻¹⁵ of the largest unknown.
        let rounding = 1e-8 * max_abs(&point.f).max(max_abs(&x0));
        let found = Found { choice: choice.to_vec(), point, directions, rounding };
        // The polyhedron was found with one tolerance for all rows; its point must satisfy each by its own
        // size.
        if self.contains(&found, &Found { directions: None, ..found.clone() }) {
            self.found.push(found);
        } else {
            self.decided = false;
        }
    }

    /// Whether x₀ satisfies the equations, each relative to the size of its own terms; undecided where
    /// rounding hides it.
    fn is_consistent(&mut self, choice: &[usize], k: &Matrix, r: &[f64], x0: &[f64]) -> bool {
        let (noise, mixed) = (self.equation_noise(choice), mixed_rounding(x0));
        for i in 0..r.len() {
            let (mut sum, mut size) = (-r[i], r[i].abs() + 1e-3 * noise[i] + mixed * max_abs(k.row(i)));
            for (k, x) in k.row(i).iter().zip(x0) {
                sum += k * x;
                size += (k * x).abs();
            }
            if sum.abs() > SLACK_NEGATIVE * size {
                return false;
            }
            if sum.abs() > SLACK_ROUNDING * size {
                self.decided = false;
                return false;
            }
        }
        true
    }

    /// x₀ + N t, and the slacks on it.
    fn affine_set(&self, choice: &[usize], x0: &[f64], null: &Matrix) -> AffineSet {
        let (a, f) = self.split(choice, x0);
        let u = self.scaled.scaled_velocity(&a, &f);
        let base = Triple { a, f, u };
        let limits: Vec<f64> = self.slacks(choice, &base.f, &base.u).map(|v| -v).collect();
        let count = null.cols();
        let columns: Vec<Triple> = (0..count)
            .map(|j| {
                let (a, f) = self.split(choice, &null.col(j));
                let u = self.scaled.scaled_velocity_change(&a, &f);
                Triple { a, f, u }
            })
            .collect();
        let mut slack_change = Matrix::zeros(limits.len(), count);
        for (j, column) in columns.iter().enumerate() {
            for (i, v) in self.slacks(choice, &column.f, &column.u).enumerate() {
                slack_change[(i, j)] = v;
            }
        }
        // A slack that moves along no direction: what is left of its row is rounding.
        for i in 0..limits.len() {
            let row = slack_change.row_mut(i);
            if max_abs(row) < SLACK_ROUNDING {
                row.fill(0.0);
            }
        }
        let sizes = self.slack_sizes(choice, &self.scaled.magnitude(&base.a, &base.f));
        let mixed = mixed_rounding(x0);
        let relaxed_limits =
            limits.iter().zip(&sizes).map(|(h, size)| h - SLACK_ROUNDING * (size + mixed)).collect();
        AffineSet { base, columns, slack_change, limits, relaxed_limits, size: 1.0 + max_abs(x0) }
    }

    /// The shortest t with G t ≥ h; where rounding has made that set empty, h relaxed by rounding. `None`
    /// where there is none, or it is undecided.
    fn point_within(&mut self, set: &AffineSet) -> Option<Vec<f64>> {
        match nearest_point(&set.slack_change, &set.relaxed_limits, SLACK_ROUNDING) {
            // Points on relaxed limits break the laws by that much.
            Nearest::Point(t) => match nearest_point(&set.slack_change, &set.limits, SLACK_ROUNDING) {
                Nearest::Point(within) => Some(within),
                Nearest::Infeasible(_) | Nearest::Undecided => Some(t),
            },
            Nearest::Infeasible(y) => {
                // Some limit would have to give way by hᵀy/Σy before a point fits.
                let weight: f64 = y.iter().sum();
                if dot(&set.relaxed_limits, &y) < SLACK_NEGATIVE * weight {
                    self.decided = false;
                }
                None
            }
            Nearest::Undecided => {
                self.decided = false;
                None
            }
        }
    }

    /// The rows of G t ≥ h that no point of the set satisfies with a margin.
    fn tight_rows(&mut self, set: &AffineSet, t: &[f64]) -> Vec<usize> {
        let (g, h) = (&set.slack_change, &set.relaxed_limits);
        let margin = SLACK_NEGATIVE * set.size;
        (0..h.len())
            .filter(|&i| {
                let c: Vec<f64> = g.row(i).iter().map(|x| -x).collect();
                // A row with a margin at one point is not tight.
                max_abs(&c) > 0.0
                    && dot(g.row(i), t) - h[i] <= margin
                    && match linear_program(&c, g, h) {
                        Lp::Optimal { value, .. } => -value - h[i] <= margin,
                        Lp::Unbounded => false,
                        Lp::Infeasible | Lp::Undecided => {
                            self.decided = false;
                            false
                        }
                    }
            })
            .collect()
    }

    /// The directions that keep the tight rows tight, and the limits that the others set from the point at t
    /// on; `None` where there is no such direction.
    fn directions(&self, set: &AffineSet, t: &[f64], tight: &[usize]) -> Option<Directions> {
        let (g, count) = (&set.slack_change, set.columns.len());
        let z = g.select_rows(tight).row_space_with(1e-9).null_basis;
        let z = if tight.is_empty() { Matrix::identity(count) } else { z };
        if z.cols() == 0 {
            return None;
        }
        let loose: Vec<usize> =
            (0..set.limits.len()).filter(|i| !tight.contains(i) && max_abs(g.row(*i)) > 0.0).collect();
        let rows = g.select_rows(&loose);
        let moved = rows.mul_vec(t);
        let limits = loose.iter().zip(&moved).map(|(&i, m)| (set.limits[i] - m).min(0.0)).collect();
        let kept = self.scaled.kept;
        let unknowns = Matrix::from_fn(kept + self.scaled.rows(), count, |i, j| {
            let column = &set.columns[j];
            if i < kept { column.a[i] } else { column.f[i - kept] }
        });
        Some(Directions { unknowns: unknowns.mul(&z), bounds: rows.mul(&z), limits })
    }
}

/// A singular value decomposition mixes all unknowns, so that each has rounding of the largest.
fn mixed_rounding(x0: &[f64]) -> f64 {
    1e-3 * max_abs(x0)
}
