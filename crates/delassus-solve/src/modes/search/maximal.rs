//! Which components of a solution set are maximal: none is kept that lies in another.
//!
//! ```text
//! S ⊆ B   ⇔   min { α·f + β·u : (f, u) ∈ S } ≥ 0   for every form (α, β) of the mode of B
//! ```
//!
//! S and B satisfy the same dynamics, so that only the mode conditions of B are to be checked. Over a
//! polyhedron S each minimum is a linear program.

use super::{Found, Search};
use crate::lcp::{Lp, linear_program};
use crate::linalg::{dot, max_abs};
use crate::modes::SLACK_ROUNDING;
use crate::modes::mode_cones::negated;

/// Two solutions closer than this, in scaled forces and velocities, are one.
const SAME_SOLUTION: f64 = 1e-7;

impl Search<'_> {
    /// Drops every component that lies in another.
    pub(super) fn keep_maximal(&mut self) {
        let mut found = std::mem::take(&mut self.found);
        // Larger sets first, so that what they contain is dropped.
        found.sort_by_key(|f| std::cmp::Reverse(f.directions.as_ref().map_or(0, |d| d.unknowns.cols())));
        let mut kept: Vec<Found> = Vec::new();
        for component in found {
            if !kept.iter().any(|big| self.contains(big, &component)) {
                kept.push(component);
            }
        }
        kept.sort_by(|x, y| x.choice.iter().rev().cmp(y.choice.iter().rev()));
        self.found = kept;
    }

    /// Whether every point of `small` satisfies the mode conditions of `big` (and so lies in `big`, since
    /// both satisfy the dynamics).
    pub(super) fn contains(&self, big: &Found, small: &Found) -> bool {
        let magnitude = self.scaled.magnitude(&small.point.a, &small.point.f);
        let kept = self.scaled.kept;
        // A form at the base point of `small`, and its change along the directions of `small`.
        let along: Vec<(Vec<f64>, Vec<f64>)> = small.directions.as_ref().map_or(vec![], |d| {
            (0..d.unknowns.cols())
                .map(|j| {
                    let c = d.unknowns.col(j);
                    let (a, f) = c.split_at(kept);
                    (f.to_vec(), self.scaled.scaled_velocity_change(a, f))
                })
                .collect()
        });
        // The least value of a form over `small`, relative to the size of its terms.
        let lowest = |alpha: &[f64], beta: &[f64], at: usize| -> f64 {
            let size: f64 =
                (0..alpha.len()).map(|r| (alpha[r].abs() + beta[r].abs()) * magnitude[at + r]).sum();
            let form = |f: &[f64], u: &[f64]| {
                dot(alpha, &f[at..at + alpha.len()]) + dot(beta, &u[at..at + beta.len()])
            };
            let base = form(&small.point.f, &small.point.u);
            let c: Vec<f64> = along.iter().map(|(f, u)| form(f, u)).collect();
            let least = match &small.directions {
                Some(d) if max_abs(&c) > SLACK_ROUNDING => match linear_program(&c, &d.bounds, &d.limits) {
                    Lp::Optimal { value, .. } => base + value,
                    _ => f64::NEG_INFINITY,
                },
                _ => base,
            };
            least / (size + small.rounding).max(f64::MIN_POSITIVE)
        };
        big.choice.iter().enumerate().all(|(k, &p)| {
            let (at, d) = (self.offsets[k], self.laws[k].dim());
            let cone = &self.cones[k][p];
            let zero = [0.0; 3];
            let vanishes = |alpha: &[f64; 3], beta: &[f64; 3]| {
                let (na, nb) = (negated(*alpha), negated(*beta));
                lowest(&alpha[..d], &beta[..d], at) >= -SAME_SOLUTION
                    && lowest(&na[..d], &nb[..d], at) >= -SAME_SOLUTION
            };
            cone.still.iter().all(|b| vanishes(&zero, b))
                && cone.absent.iter().all(|a| vanishes(a, &zero))
                && cone.nonnegative.iter().all(|(a, b)| lowest(&a[..d], &b[..d], at) >= -SAME_SOLUTION)
        })
    }
}
