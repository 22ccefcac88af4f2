//! Positions and velocities moved by the least amount, measured by the mass, onto the constraints that are active.
//!
//! ```text
//! q ← q − M⁻¹Rᵀ (R M⁻¹ Rᵀ)⁺ h(q) ,     v ← v − M⁻¹Rᵀ (R M⁻¹ Rᵀ)⁺ (R v + b)
//! ```
//!
//! R holds the joints and the closed contacts; for velocities also the tangents of what sticks. Where some of these rows
//! depend on others, a step is followed without them (002 Lemma 5.1), and they are looked at when it ends.

use delassus_solve::linalg::{Matrix, axpy, max_abs};

use super::Ending;
use super::equations::{ContactMode, Equations, Held, JointMode, Mechanics, ModeError, Modes, times};
use super::guards::Condition;
use super::integrate::Run;
use super::linear_solve::solve_dependent;
use crate::lagrangian::{Row, State};

/// Newton steps at most; from an error of 1e-6 two are enough.
const STEPS: usize = 8;
/// Errors below this are rounding of the formulas.
const CLOSED: f64 = 2e-16;

/// Rows that were left out of a step are violated by so many local errors, at most.
const LEFT_OUT: f64 = 10.0;
/// What rounding makes of the rate of a row that is held, relative to velocities.
const ROW_ROUNDING: f64 = 1e-12;

/// How far a state was from its constraints.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Distance {
    pub(super) gap: f64,
    pub(super) joint: f64,
}

/// Moves a state onto the constraints of these modes; returns how far off it was.
pub(super) fn project(
    mechanics: &mut Mechanics<'_>,
    state: &mut State,
    modes: &Modes,
) -> Result<Distance, ModeError> {
    let distance = project_positions(mechanics, state, modes)?;
    if modes.contacts.iter().any(ContactMode::is_closed) || !modes.joints.is_empty() {
        project_velocity(mechanics, state, modes)?;
    }
    Ok(distance)
}

/// Moves positions onto the constraints of these modes; returns how far off they were.
pub(super) fn project_positions(
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
    Ok(distance)
}

/// Moves velocities onto the constraints of these modes.
pub(super) fn project_velocity(
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
    let effect = mechanics.inverse_mass_times(&at.mass, Matrix::from_fn(n, k, |i, j| rows[j].gradient[i]))?;
    let w = times(rows, &effect, k);
    // Where the motion was followed by some of the rows, the same way back.
    if let Some(dependent) = mechanics.dependent.as_ref().filter(|d| d.rows == k && d.symmetric) {
        return Ok(effect.mul_vec(&solve_dependent(&w, values, &dependent.pivots)?.x));
    }
    let rhs = Matrix::from_vec(k, 1, values.to_vec());
    let x = w.symmetric_part().solve_positive_definite(&rhs).unwrap_or_else(|| w.pseudo_solve_matrix(&rhs));
    Ok(effect.mul_vec(x.data()))
}

impl Run<'_> {
    /// Which rows the next step may leave out.
    pub(super) fn find_dependent_rows(&mut self) -> Result<(), Ending> {
        if self.list.contains(&Condition::Together) {
            let closed = |i: usize| self.modes.contacts[i].is_closed();
            let at = self.mechanics.equations((self.state.t, &self.state.q, &self.state.v), closed)?;
            self.mechanics.dependent = self.mechanics.respond(&at, &self.modes)?.dependent;
        }
        Ok(())
    }

    /// Whether rows that were left out hold at the end of the step all the same. They do not where they depended on others
    /// at its first instant only.
    pub(super) fn dependent_rows_hold(&mut self) -> Result<bool, Ending> {
        if self.mechanics.dependent.is_none() {
            return Ok(true);
        }
        let mut y = vec![];
        self.dense.at(1.0, &mut y);
        let (q, v) = y.split_at(y.len() / 2);
        let closed = |i: usize| self.modes.contacts[i].is_closed();
        let at = self.mechanics.equations((self.dense.start + self.dense.length, q, v), closed)?;
        let error = (LEFT_OUT * self.options.tolerance).max(ROW_ROUNDING) * max_abs(v).max(1.0);
        let held = Held::new(&at, &self.modes, self.mechanics.no_slip);
        Ok(held.rows.iter().all(|row| row.velocity.abs() <= error * max_abs(&row.gradient).max(1.0)))
    }
}
