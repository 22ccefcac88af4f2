//! Positions and velocities moved by the least amount, measured by the mass, onto the constraints that are active.
//!
//! ```text
//! q ← q − M⁻¹Rᵀ (R M⁻¹ Rᵀ)⁺ h(q) ,     v ← v − M⁻¹Rᵀ (R M⁻¹ Rᵀ)⁺ (R v + b)
//! ```
//!
//! R holds the joints and the closed contacts; for velocities also the tangents of what sticks.

use delassus_solve::matrix::{Matrix, axpy, max_abs};

use crate::event_mechanics::{ContactMode, Equations, JointMode, Mechanics, ModeError, Modes};
use crate::kinematics::Row;
use crate::system::State;

/// Newton steps at most; from an error of 1e-6 two are enough.
const STEPS: usize = 8;
/// Errors below this are rounding of the formulas.
const CLOSED: f64 = 2e-16;

/// How far a state was from its constraints.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Distance {
    pub(crate) gap: f64,
    pub(crate) joint: f64,
}

/// Moves a state onto the constraints of these modes; returns how far off it was.
pub(crate) fn project(
    mechanics: &mut Mechanics<'_>,
    state: &mut State,
    modes: &Modes,
) -> Result<Distance, ModeError> {
    let mut distance = Distance::default();
    let closed = |i: usize| modes.contacts[i].is_closed();
    if !(0..modes.contacts.len()).any(closed) && modes.joints.is_empty() {
        return Ok(distance);
    }
    let mut last = f64::INFINITY;
    for step in 0..STEPS {
        let at = mechanics.equations((state.t, &state.q, &state.v), closed)?;
        let (mut rows, mut values): (Vec<&Row>, Vec<f64>) = (vec![], vec![]);
        for joint in &at.joints {
            rows.push(&joint.row);
            values.push(joint.value);
        }
        for contact in at.contacts.iter().flatten() {
            rows.push(&contact.normal);
            values.push(contact.gap);
        }
        let error = max_abs(&values);
        if step == 0 {
            let joints = at.joints.len();
            distance = Distance { joint: max_abs(&values[..joints]), gap: max_abs(&values[joints..]) };
        }
        if error <= CLOSED || error >= 0.5 * last {
            break;
        }
        last = error;
        let change = correction(mechanics, &at, &rows, &values)?;
        axpy(-1.0, &change, &mut state.q);
    }
    project_velocity(mechanics, state, modes)?;
    Ok(distance)
}

/// Moves velocities onto the constraints of these modes.
pub(crate) fn project_velocity(
    mechanics: &mut Mechanics<'_>,
    state: &mut State,
    modes: &Modes,
) -> Result<(), ModeError> {
    let closed = |i: usize| modes.contacts[i].is_closed();
    for _ in 0..2 {
        let at = mechanics.equations((state.t, &state.q, &state.v), closed)?;
        let mut rows: Vec<&Row> = vec![];
        for (joint, mode) in at.joints.iter().zip(&modes.joints) {
            rows.push(&joint.row);
            rows.extend(joint.slip.iter().filter(|_| *mode == JointMode::Stick));
        }
        for (contact, mode) in at.contacts.iter().zip(&modes.contacts) {
            let Some(contact) = contact else { continue };
            rows.push(&contact.normal);
            rows.extend(contact.slip.iter().filter(|_| *mode == ContactMode::Stick));
        }
        let values: Vec<f64> = rows.iter().map(|r| r.velocity).collect();
        if max_abs(&values) <= CLOSED {
            return Ok(());
        }
        let change = correction(mechanics, &at, &rows, &values)?;
        axpy(-1.0, &change, &mut state.v);
    }
    Ok(())
}

/// M⁻¹Rᵀ (R M⁻¹ Rᵀ)⁺ values.
fn correction(
    mechanics: &Mechanics<'_>,
    at: &Equations,
    rows: &[&Row],
    values: &[f64],
) -> Result<Vec<f64>, ModeError> {
    let (n, k) = (mechanics.coordinates(), rows.len());
    let effect =
        mechanics.inverse_mass_times(&at.mass, &Matrix::from_fn(n, k, |i, j| rows[j].gradient[i]))?;
    let w = Matrix::from_fn(k, k, |i, j| (0..n).map(|l| rows[i].gradient[l] * effect[(l, j)]).sum());
    let rhs = Matrix::from_vec(k, 1, values.to_vec());
    let x = w.symmetric_part().solve_positive_definite(&rhs).unwrap_or_else(|| w.pseudo_solve_matrix(&rhs));
    Ok(effect.mul_vec(x.data()))
}
