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
        self.assembly.set_dynamics(input, v);
        let unknown = |i: usize| self.assembly.unknown(input, &self.bounds, i).is_some();
        self.bounds.ranges(input, unknown, &mut self.ranges);
        let problem = &self.assembly.problem;
        // Where the impulses given hold as they are, they tell nothing of sides: a row that nothing moves, as
        // another one holds the same motion, may be at its bound and below it. It stays where the round
        // before has put it, which would come to the same again.
        let found = self.few_dofs.solve_within(problem, &self.ranges, tolerance, r).is_some_and(|n| n > 0);
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

#[cfg(test)]
mod tests {
    use super::super::tests::input;
    use super::*;
    use crate::stepping::linearization::Linearization;
    use crate::stepping::model::Model;
    use crate::stepping::model::fixtures::*;
    use crate::stepping::options::{Coordinates, StepOptions};
    use crate::stepping::row_targets::{RowTarget, RowTargets};
    use crate::world::ActionKind;

    const H: f64 = 0.01;

    /// A ball on a guide at 1 m/s with a motor to 3 m/s, in these coordinates.
    fn motor(force: f64, coordinates: Coordinates) -> (Model, Linearization, RowTargets) {
        let kind = ActionKind::Speed { target: formula("3"), force };
        let (world, mut state) = slider(kind, 0.5, 1.0);
        let options = StepOptions { coordinates, ..StepOptions::default() };
        let (model, on) = linearized(world, &mut state, options, H);
        let mut joints = vec![RowTarget::Velocity { bias: 0.0 }; on.joint_rows().bilateral];
        joints.push(RowTarget::Velocity { bias: -3.0 });
        (model, on, RowTargets { joints, ..RowTargets::default() })
    }

    #[test]
    fn newton_finds_at_once_whether_a_motor_is_at_its_bound() {
        // 4 N s are needed; 50 N give 0.5 in the step.
        for (force, impulse, known) in [(50.0, 0.5, Some(0.5)), (1e3, 2.0 * MASS, None)] {
            let (model, on, targets) = motor(force, Coordinates::Reduced);
            let input = input(&model, &on, &targets, H);
            assert!(settles_bounds(&input));
            let motor = on.joint_rows().bilateral;
            let mut impulses = Impulses { rows: vec![0.0; motor + 1], contacts: vec![] };
            let mut v = vec![0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
            let mut solver = VelocitySolver::default();
            assert!(solver.bounds.begin(&input, &impulses.rows));
            solver.velocity_before.extend_from_slice(&v);
            assert!(solver.settle_bounds(&input, &mut impulses, &mut v), "{force}");
            assert!((impulses.rows[motor] - impulse).abs() < 1e-10, "{force}: {:?}", impulses.rows);
            assert_eq!(solver.bounds.known(&input, motor), known, "{force}");
        }
    }

    #[test]
    fn newton_is_asked_for_any_solution_in_reduced_coordinates_alone() {
        let (model, on, targets) = motor(50.0, Coordinates::Reduced);
        let asked = input(&model, &on, &targets, H);
        for goal in [Goal::Canonical, Goal::Near, Goal::Check] {
            assert!(!settles_bounds(&asked.with_goal(goal)), "{goal:?}");
        }
        assert!(settles_bounds(&asked.with_goal(Goal::Rest)));
        let least = ContactOptions { minimum_norm: true, ..asked.options };
        assert!(!settles_bounds(&SolveInput { options: least, ..asked }));
        let (model, on, targets) = motor(50.0, Coordinates::Maximal);
        assert!(!settles_bounds(&input(&model, &on, &targets, H)));
    }
}
