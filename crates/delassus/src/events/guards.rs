//! What ends a mode: quantities that are at least zero while it lasts.
//!
//! ```text
//! closed  λ_n ≥ 0      sticks  μ λ_n − ‖λ_t‖ ≥ 0      slides  v_t·e ≥ 0      det(R M⁻¹ C) keeps its sign
//! ```
//!
//! Gaps of open contacts are watched by themselves ([`crate::events::root_finding`]).

use super::equations::{ContactMode, Equations, JointMode, Modes, Response};
use crate::lagrangian::{Measure, Row, System};

/// A quantity that stays at least zero while modes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// The rate of an open contact that is given by a velocity.
    Rate(usize),
    /// The normal force of a closed contact.
    Normal(usize),
    /// What friction has left at a sticking contact.
    Limit(usize),
    /// Slip along the direction of a sliding contact.
    Slip(usize),
    /// The normal force of a sliding joint, times its sign.
    JointNormal(usize),
    /// What friction has left at a sticking joint.
    JointLimit(usize),
    /// Slip along the direction of a sliding joint.
    JointSlip(usize),
    /// What all forces have left together, where they are not unique.
    Together,
    /// The determinant of R M⁻¹ C, by its sign at the last event.
    Determinant,
}

/// The conditions that watch these modes, in the order of [`condition_values`]; gaps are watched by themselves.
pub(super) fn conditions(system: &System, modes: &Modes, redundant: bool) -> Vec<Condition> {
    let mut list = Vec::new();
    for (j, mode) in modes.joints.iter().enumerate() {
        match mode {
            JointMode::Smooth => {}
            JointMode::Slide { .. } => list.extend([Condition::JointNormal(j), Condition::JointSlip(j)]),
            JointMode::Stick => list.push(Condition::JointLimit(j)),
        }
    }
    for (i, mode) in modes.contacts.iter().enumerate() {
        match mode {
            ContactMode::Open if matches!(system.contacts[i].normal, Measure::Velocity(_)) => {
                list.push(Condition::Rate(i));
            }
            ContactMode::Open => {}
            ContactMode::Slide { direction } => {
                list.extend((!redundant).then_some(Condition::Normal(i)));
                list.extend((*direction != [0.0; 2]).then_some(Condition::Slip(i)));
            }
            ContactMode::Stick if redundant => {}
            ContactMode::Stick => list.extend([Condition::Normal(i), Condition::Limit(i)]),
        }
    }
    let slides = list.iter().any(|c| matches!(c, Condition::Slip(_) | Condition::JointSlip(_)));
    list.extend(slides.then_some(Condition::Determinant));
    list.extend(redundant.then_some(Condition::Together));
    list
}

/// Slip along a direction.
fn along(slip: &[Row], direction: [f64; 2]) -> f64 {
    slip.iter().zip(direction).map(|(row, e)| row.velocity * e).sum()
}

/// The values of these conditions; `sign` is that of the determinant at the last event.
pub(super) fn condition_values(
    list: &[Condition],
    at: &Equations,
    modes: &Modes,
    response: &Response,
    sign: f64,
    values: &mut Vec<f64>,
) {
    let contact = |i: usize| at.contacts[i].as_ref();
    values.clear();
    values.extend(list.iter().map(|condition| match *condition {
        Condition::Rate(i) => contact(i).map_or(0.0, |c| c.normal.velocity),
        Condition::Normal(i) => response.contacts[i][0],
        Condition::Limit(i) => {
            let f = response.contacts[i];
            contact(i).map_or(0.0, |c| c.mu_static * f[0]) - f[1].hypot(f[2])
        }
        Condition::Slip(i) => match modes.contacts[i] {
            ContactMode::Slide { direction } => contact(i).map_or(0.0, |c| along(&c.slip, direction)),
            _ => 0.0,
        },
        Condition::JointNormal(j) => match modes.joints[j] {
            JointMode::Slide { sign, .. } => sign * response.joints[j][0],
            _ => 0.0,
        },
        Condition::JointLimit(j) => {
            let f = response.joints[j];
            at.joints[j].mu * f[0].abs() - f[1].hypot(f[2])
        }
        Condition::JointSlip(j) => match modes.joints[j] {
            JointMode::Slide { direction, .. } => along(&at.joints[j].slip, direction),
            _ => 0.0,
        },
        Condition::Together => response.margin.unwrap_or(0.0),
        Condition::Determinant => sign * response.determinant,
    }));
}
