//! Rows with a bound on their force: motors and dry friction in joints.
//!
//! ```text
//! u_i = 0 ,  |r_i| ≤ c_i     or     r_i = ∓c_i ,  ±u_i ≥ 0 ,     c_i = h (f_i + μ_i ‖load of the joint‖)
//! ```
//!
//! A round solves with the rows below their bounds as bilateral ones and the others as known impulses; after
//! it rows go to their bounds and back, and bounds follow the loads of their joints. What the last round ends
//! with is checked by code that shares nothing with this search.

use delassus_solve::problem::Status;

use super::joint_loads::least_norm_loads;
use super::row_check::RowsEnd;
use super::{SolveInput, SolveOutcome, VelocitySolver};
use crate::stepping::row_targets::RowTarget;
use crate::stepping::warm_start::Impulses;
use crate::world::{RowKind, Rows, row_mobility, row_velocity};

/// From these rounds on a bound that follows its load goes only a part of the way to the next: where the load
/// falls as the friction grows, whole steps go to and fro about the bound that both agree on.
const DAMPED_BOUNDS: [(usize, f64); 3] = [(40, 0.05), (24, 0.2), (8, 0.5)];
/// An impulse that is given reaches its bound from this part of it on: where it does not, that costs a round.
const REACHED_RATIO: f64 = 1.0 - 1e-6;
/// A bound that follows the load of its joint has converged when it changes by less than this part of itself,
/// times the tolerance.
const BOUND_TOLERANCE_RATIO: f64 = 0.1;
/// Velocities below this part of what forces changed are rounding.
const VELOCITY_ROUNDING: f64 = 1e-13;

impl VelocitySolver {
    /// Rows begin where the impulses given have them: at their bounds or below. Whether there are bounds.
    pub(super) fn begin_bounds(&mut self, input: &SolveInput<'_>, impulse: &[f64]) -> bool {
        let SolveInput { rows, duration, .. } = *input;
        self.side.clear();
        self.bound.clear();
        let mut any = false;
        for (i, row) in rows.rows.iter().enumerate() {
            let (mut bound, mut side) = (force_bound(&row.kind, 0.0) * duration, 0);
            if matches!(row.kind, RowKind::Bounded { .. }) {
                any = true;
                bound = force_bound(
                    &row.kind,
                    joint_load(rows, row.joint, impulse) / duration.max(f64::MIN_POSITIVE),
                ) * duration;
                let reached = bound > 0.0 && impulse[i].abs() >= REACHED_RATIO * bound;
                side = if reached { impulse[i].signum() as i8 } else { 0 };
            }
            self.side.push(side);
            self.bound.push(bound);
        }
        any
    }

    /// Lets bounded rows go to their bounds and back, in a round; whether one did.
    pub(super) fn update_bounds(
        &mut self,
        input: &SolveInput<'_>,
        row_impulse: &[f64],
        v: &[f64],
        round: usize,
    ) -> bool {
        let SolveInput { masses, rows, duration, targets, .. } = *input;
        let mut changed = false;
        let damped = DAMPED_BOUNDS.iter().find(|(from, _)| round >= *from).map(|(_, part)| *part);
        let shared = self.shared_loads(input, row_impulse);
        let loads = shared.as_deref().unwrap_or(row_impulse);
        for (i, row) in rows.rows.iter().enumerate() {
            let (RowKind::Bounded { .. }, RowTarget::Velocity { bias }) = (row.kind, targets.joints[i])
            else {
                continue;
            };
            let load = joint_load(rows, row.joint, loads);
            let now = force_bound(&row.kind, load / duration.max(f64::MIN_POSITIVE)) * duration;
            let settled = BOUND_TOLERANCE_RATIO * input.options.tolerance * (now + self.bound[i]);
            changed |= self.side[i] != 0 && (now - self.bound[i]).abs() > settled;
            self.bound[i] = match damped {
                Some(part) if self.side[i] != 0 => self.bound[i] + part * (now - self.bound[i]),
                _ => now,
            };
            let r = row_impulse[i];
            if self.side[i] == 0 && r.abs() > now {
                self.side[i] = if r > 0.0 { 1 } else { -1 };
                changed = true;
            } else if self.side[i] != 0 {
                // At its bound a force opposes the motion that it could not stop.
                let u = row_velocity(rows, i, masses, v) + bias;
                // Another row that holds the same motion leaves rounding of what both have stopped.
                let before = row_velocity(rows, i, masses, &self.velocity_before) + bias;
                let stopped = before.abs() + now * row_mobility(rows, row, masses);
                if u * f64::from(self.side[i]) > VELOCITY_ROUNDING * stopped {
                    self.side[i] = 0;
                    changed = true;
                }
            }
        }
        changed
    }

    /// The outcome, with the residual of the rows that are no unknowns of the problem, after a refinement
    /// where that is above the tolerance.
    pub(super) fn check_rows(
        &mut self,
        outcome: SolveOutcome,
        input: &SolveInput<'_>,
        impulses: &mut Impulses,
        v: &mut [f64],
    ) -> SolveOutcome {
        let mut error = self.row_error(input, impulses, v);
        // Masses of a tree that differ by many orders of magnitude cost digits.
        if let Some(tree) = input.tree
            && error > input.options.tolerance
        {
            self.reduced.refine(tree, input, self.row_check.velocity_by_impulses(), impulses, v);
            error = self.row_error(input, impulses, v);
        }
        let solved = outcome.status != Status::Solved || error <= input.options.tolerance;
        let status = if solved { outcome.status } else { Status::Stalled };
        SolveOutcome { status, residual: outcome.residual.max(error), ..outcome }
    }

    fn row_error(&mut self, input: &SolveInput<'_>, impulses: &Impulses, velocity: &[f64]) -> f64 {
        let shared = self.shared_loads(input, &impulses.rows);
        let loads = shared.as_deref().unwrap_or(&impulses.rows);
        self.row_check.residual(&RowsEnd { input, impulses, before: &self.velocity_before, velocity, loads })
    }

    /// Loads of joints where redundant rows share them; `None` where impulses are the loads.
    fn shared_loads(&self, input: &SolveInput<'_>, row_impulse: &[f64]) -> Option<Vec<f64>> {
        let mut loads = least_norm_loads(input, row_impulse)?;
        loads.iter_mut().zip(&self.stress).for_each(|(r, z)| *r += z);
        Some(loads)
    }
}

/// The load of a joint with these impulses of all rows.
fn joint_load(rows: &Rows, joint: u32, impulse: &[f64]) -> f64 {
    let own = rows.rows.iter().zip(impulse).filter(|(row, _)| row.joint == joint);
    own.map(|(row, r)| (row.load * r).powi(2)).sum::<f64>().sqrt()
}

/// The largest force of a row of a joint under a load.
fn force_bound(kind: &RowKind, load: f64) -> f64 {
    match kind {
        RowKind::Bounded { force, per_load } => force + per_load * load,
        _ => f64::INFINITY,
    }
}
