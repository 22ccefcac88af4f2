//! Rows with a bound on their force, settled together with contacts by one Newton solve.
//!
//! ```text
//! u_i = 0 ,  a_i ≤ r_i ≤ b_i     or     r_i = a_i ,  u_i ≥ 0     or     r_i = b_i ,  u_i ≤ 0
//! ```
//!
//! Rounds that move rows to their bounds one after the other take as many solves as rows change places.
//! Newton's method in the motions that joints leave has the bounds among its modes. Only the sides that it
//! ends with count, and impulses to start from: a round solves and checks the problem that has them.

use delassus_solve::contact::{ContactOptions, Method};

use super::bounds::BoundedRows;
use super::{Goal, SolveInput, VelocitySolver};
use crate::stepping::warm_start::Impulses;

/// Whether Newton's method looks for the rows that are at their bounds.
pub(super) fn settles_bounds(input: &SolveInput<'_>) -> bool {
    let ContactOptions { method, minimum_norm, .. } = input.options;
    let asked = input.tree.is_some() && matches!(input.goal, Goal::Any | Goal::Rest);
    asked && method == Method::Auto && !minimum_norm
}

impl VelocitySolver {
    /// Finds the rows that are at their bounds, from the impulses given; whether it did. Rows stay where they
    /// are where not.
    pub(super) fn settle_bounds(
        &mut self,
        input: &SolveInput<'_>,
        impulses: &mut Impulses,
        v: &mut [f64],
    ) -> bool {
        let tolerance = input.options.tolerance;
        let mut sides = self.bounds.release();
        v.copy_from_slice(&self.velocity_before);
        self.apply_known_impulses(input, impulses, v);
        let r = &mut self.found.solution.impulse;
        self.assembly.set_bounded_rows(input, &self.bounds, impulses, r);
        self.assembly.set_dynamics(input, &self.bounds, v);
        let unknown = |i: usize| self.assembly.unknown(input, &self.bounds, i).is_some();
        self.bounds.ranges(input, unknown, &mut self.ranges);
        let problem = &self.assembly.problem;
        let found = self.few_dofs.solve_within(problem, &self.ranges, tolerance, r).is_some();
        if found {
            let mut at = 0;
            for (i, side) in sides.iter_mut().enumerate() {
                if self.assembly.unknown(input, &self.bounds, i).is_some() {
                    impulses.rows[i] = r[at];
                    *side = BoundedRows::side_in(r[at], self.ranges[at], *side);
                    at += 1;
                }
            }
            let pressed = input.contacts.iter().zip(&input.targets.normal_bias).enumerate();
            for (i, (contact, _)) in pressed.filter(|(_, (_, bias))| bias.is_some()) {
                let rows = contact.law.dim();
                impulses.contacts[i][..rows].copy_from_slice(&r[at..at + rows]);
                at += rows;
            }
        }
        self.bounds.restore(sides);
        found
    }
}
