//! What solutions that were found in floating point show of all problems within some intervals, where there
//! are too many modes to examine all.
//!
//! ```text
//! (a, f) found   ─▶   its mode holds a solution for all data
//! no friction, M > 0:   one a for all solutions
//! ```
//!
//! a ∈ Rⁿ, f ∈ Rᵐ. That there are no others is shown without friction alone.

use super::mode::{self, ModeAnswer, Motion};
use super::{ComponentBounds, RobustAnswer, all_cones, is_least, is_vague, several};
use crate::linalg::Interval;
use crate::modes::exact::ExactDynamics;
use crate::modes::{Mode, SolutionComponent};
use crate::problem::{Law, row_offsets};

/// What the modes of solutions that were found in floating point show of all problems within the bounds,
/// where there are too many modes to examine all; `None` where a law is not polyhedral.
pub fn answer_of_found(
    bounds: &ExactDynamics<Interval>,
    found: &[SolutionComponent],
) -> Option<RobustAnswer> {
    let (cones, offsets) = (all_cones(bounds)?, row_offsets(&bounds.laws));
    if bounds.mu.iter().any(is_vague) {
        return Some(RobustAnswer::OPEN);
    }
    let definite = Interval::is_positive_definite(&bounds.mass);
    let modes: Vec<ModeAnswer> = found
        .iter()
        .map(|c| {
            let cone = |k: usize| cones[k][place(&bounds.laws[k], c, k, offsets[k])].clone();
            mode::examine(bounds, &(0..cones.len()).map(cone).collect::<Vec<_>>(), definite)
        })
        .collect();
    let existing: Vec<&ModeAnswer> = modes.iter().filter(|answer| answer.witness.is_some()).collect();
    let mut answer = RobustAnswer::OPEN;
    // More joints than coordinates: forces can be added to any, so that there are none or several.
    let joints = bounds.laws.iter().filter(|law| **law == Law::Bilateral).count();
    let (acceleration, forces) = several(&existing);
    let forces = forces || joints > bounds.mass.len();
    answer.answers[2] = forces.then_some(false);
    let Some(first) = existing.first() else { return Some(answer) };
    (answer.answers[0], answer.answers[1]) = (Some(true), acceleration.then_some(false));
    if is_least(bounds, definite) {
        answer.answers[1] = Some(true);
        // One velocity for all solutions: a contact that opens for sure is open in all of them.
        let is_open = |k: usize| found[0].modes[k] == Mode::Open;
        let opens = |k: usize| !is_open(k) || velocity(bounds, first, offsets[k]).lo > 0.0;
        if modes[0].witness.is_some()
            && first.motion == Motion::Fixed
            && (0..cones.len()).all(opens)
            && first.forces == Motion::Fixed
        {
            answer.answers[2] = Some(true);
            answer.components = ComponentBounds::of(first).map(|c| vec![c]);
        }
    }
    Some(answer)
}

/// The velocity of a row in the acceleration of a mode that has one.
fn velocity(bounds: &ExactDynamics<Interval>, mode: &ModeAnswer, row: usize) -> Interval {
    let parts = bounds.jacobian[row].iter().zip(&mode.acceleration);
    parts.fold(bounds.bias[row], |sum, (j, a)| sum + *j * *a)
}

/// The cone of a law that a solution lies in: the order is that of `cones`.
fn place(law: &Law, c: &SolutionComponent, k: usize, row: usize) -> usize {
    let mode = c.modes[k];
    let pulled = c.force[row] < 0.0;
    // Slip in the direction against friction.
    let forward = || match c.force[row + 1] {
        0.0 => c.velocity[row + 1] >= 0.0,
        friction => friction < 0.0,
    };
    // A guide is bilateral, at rest or not.
    let moves = || mode == Mode::Slide || mode == Mode::Bilateral && c.velocity[row + 1] != 0.0;
    let at_rest = || match moves() {
        false => 0,
        true if forward() => 1,
        true => 2,
    };
    match law {
        Law::BilateralSliding { .. } => usize::from(pulled),
        Law::BilateralCoulombPlane { .. } => at_rest() + if pulled { 3 } else { 0 },
        Law::Bilateral => 0,
        _ if mode == Mode::Open => 0,
        Law::CoulombPlane { .. } => 1 + at_rest(),
        _ => 1,
    }
}
