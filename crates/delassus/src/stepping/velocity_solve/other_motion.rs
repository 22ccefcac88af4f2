//! Another motion that obeys the laws as well, by a second solve.
//!
//! ```text
//! (u', r') in the laws ,   ‖v' − v‖_M > 1e-6 ‖v − v*‖_M
//! ```
//!
//! What is returned was solved and checked as every solution is. It is searched for in two ways: redundant
//! joints whose friction grows with their load are put under a stress between each other; and at chosen times
//! solves start from other impulses of contacts, by proximal problems that stay near them among others.

use delassus_solve::contact::{ContactOptions, Method};
use delassus_solve::problem::{InvalidProblem, Status};

use super::super::warm_start::Impulses;
use super::joint_loads::stress;
use super::{Goal, SolveInput, VelocitySolver};
use crate::world::{Row, RowKind};

/// Motions are different where they differ by more than this part of what impulses did, in the sense of
/// energy.
const DIFFERENT_RATIO: f64 = 1e-6;
/// Contacts that press up to which each of them is given another impulse to start from.
const MAX_STARTS: usize = 12;
/// Impulses of one contact, in those that it has, from which others are looked for.
const START_RATIOS: [f64; 2] = [3.0, 0.0];

/// Methods that look for others.
const METHODS: [Method; 3] = [Method::Auto, Method::Newton, Method::GaussSeidel];

/// Whether the force of a row has a bound.
fn has_bound(row: &Row) -> bool {
    match row.kind {
        RowKind::Bounded { .. } => true,
        RowKind::Servo { range, .. } => range.iter().any(|f| f.is_finite()),
        _ => false,
    }
}

/// A motion that was found.
pub(super) struct FoundMotion<'a> {
    pub(super) input: &'a SolveInput<'a>,
    /// Velocities before the solve, and after it.
    pub(super) before: &'a [f64],
    pub(super) velocity: &'a [f64],
    pub(super) impulses: &'a Impulses,
}

impl FoundMotion<'_> {
    /// Whether velocities are those of another motion.
    pub(super) fn differs(&self, other: &[f64]) -> Option<f64> {
        let mass = &self.input.masses.mass;
        let size = |a: &[f64], b: &[f64]| -> f64 {
            a.iter().zip(b).zip(mass).map(|((a, b), m)| m * (a - b) * (a - b)).sum::<f64>().sqrt()
        };
        let apart = size(other, self.velocity);
        (apart > DIFFERENT_RATIO * size(self.velocity, self.before)).then_some(apart)
    }

    /// Velocities with other loads of joints, where friction follows loads that are not determined.
    pub(super) fn under_stress(
        &self,
        solver: &mut VelocitySolver,
    ) -> Result<Option<Vec<f64>>, InvalidProblem> {
        let Some(z) = stress(self.input, &self.impulses.rows, self.velocity) else { return Ok(None) };
        // What is found shall not depend on the method that was asked for.
        let options = ContactOptions { method: Method::Auto, ..self.input.options };
        let input = SolveInput { stress: &z, options, ..*self.input };
        let (mut impulses, mut v) = (self.impulses.clone(), self.before.to_vec());
        let outcome = solver.solve(&input, &mut impulses, &mut v)?;
        Ok((outcome.status == Status::Solved && self.differs(&v).is_some()).then_some(v))
    }

    /// Velocities of the motion furthest from this one that solves from other impulses lead to.
    pub(super) fn search(&self, solver: &mut VelocitySolver) -> Result<Option<Vec<f64>>, InvalidProblem> {
        let mut furthest = self.under_stress(solver)?;
        let mut distance = furthest.as_ref().and_then(|v| self.differs(v)).unwrap_or(0.0);
        let mut try_start = |goal: Goal, method: Method, start: Impulses| -> Result<(), InvalidProblem> {
            let options = ContactOptions { method, ..self.input.options };
            let input = SolveInput { options, goal, at_rest: false, ..*self.input };
            let (mut impulses, mut v) = (start, self.before.to_vec());
            let outcome = solver.solve(&input, &mut impulses, &mut v)?;
            if outcome.status == Status::Solved
                && let Some(apart) = self.differs(&v).filter(|apart| *apart > distance)
            {
                (furthest, distance) = (Some(v), apart);
            }
            Ok(())
        };
        let pressing = || (0..self.impulses.contacts.len()).filter(|&i| self.impulses.contacts[i][0] > 0.0);
        let changed = |change: &dyn Fn(usize, &mut [f64])| {
            let mut start = self.impulses.clone();
            start.contacts.iter_mut().enumerate().for_each(|(i, r)| change(i, r));
            start
        };
        // Rounds of bounds multiply what other methods take.
        let methods = if self.input.rows.rows.iter().any(has_bound) { &METHODS[..1] } else { &METHODS };
        for &method in methods {
            try_start(Goal::Any, method, changed(&|_, r| r.fill(0.0)))?;
            try_start(Goal::Any, method, changed(&|_, r| r[1..].fill(0.0)))?;
        }
        try_start(Goal::Near, Method::Auto, changed(&|_, r| r.fill(0.0)))?;
        if pressing().count() <= MAX_STARTS {
            for i in pressing() {
                for ratio in START_RATIOS {
                    let one = |k: usize, r: &mut [f64]| {
                        if k == i {
                            r.iter_mut().for_each(|x| *x *= ratio);
                        }
                    };
                    try_start(Goal::Near, Method::Auto, changed(&one))?;
                }
            }
        }
        Ok(furthest)
    }
}
