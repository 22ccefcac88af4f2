//! Projection: positions and velocities move by the least amount, in the norm of the mass, onto the active
//! constraints.
//!
//! ```text
//! q ← q − M⁻¹Rᵀ (R M⁻¹ Rᵀ)⁺ h(q) ,     v ← v − M⁻¹Rᵀ (R M⁻¹ Rᵀ)⁺ (R v + b)
//! ```
//!
//! h ∈ ℝᵏ are the values of joints and closed contacts, R (k × n) their gradients, b their rates at v = 0;
//! for velocities R has also the tangents of what sticks. ⁺ is the pseudoinverse. Where some of these rows
//! depend on others, a step leaves them out (002 Lemma 5.1), and they are checked when it ends.

use delassus_solve::linalg::{Matrix, axpy, max_abs};

use super::equations::{ContactMode, Equations, JointMode, Mechanics, ModeError, Modes, times};
use super::gauss_collocation::DenseStep;
use super::linear_solve::solve_dependent;
use crate::lagrangian::{Row, State};

/// Newton steps at most; from an error of 1e-6 two are enough.
const MAX_NEWTON_STEPS: usize = 8;
/// Errors below this are rounding of the formulas.
const ROUNDING: f64 = 2e-16;
/// Rows that a step leaves out are violated by so many local errors, at most.
const OMITTED_ROW_ERRORS: f64 = 10.0;
/// What rounding makes of the rate of a constraint, relative to velocities.
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
    for step in 0..MAX_NEWTON_STEPS {
        let at = mechanics.equations((state.t, &state.q, &state.v), closed)?;
        let (mut rows, mut values): (Vec<&Row>, Vec<f64>) = (vec![], vec![]);
        for (_, joint) in at.joints.iter().enumerate().filter(|(i, _)| !at.is_lost(*i)) {
            rows.push(&joint.row);
            values.push(joint.value);
        }
        let joints = values.len();
        for contact in at.contacts.iter().flatten() {
            rows.push(&contact.normal);
            values.push(contact.gap);
        }
        let error = max_abs(&values);
        if step == 0 {
            distance = Distance { joint: max_abs(&values[..joints]), gap: max_abs(&values[joints..]) };
        }
        if error <= ROUNDING || error >= 0.5 * last {
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
        for (i, (joint, mode)) in at.joints.iter().zip(&modes.joints).enumerate() {
            rows.extend((!at.is_lost(i)).then_some(&joint.row));
            rows.extend(joint.slip.iter().filter(|_| *mode == JointMode::Stick));
        }
        for (contact, mode) in at.contacts.iter().zip(&modes.contacts) {
            let Some(contact) = contact else { continue };
            rows.push(&contact.normal);
            rows.extend(contact.slip.iter().filter(|_| *mode == ContactMode::Stick));
        }
        let values: Vec<f64> = rows.iter().map(|r| r.velocity).collect();
        if max_abs(&values) <= ROUNDING {
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
    // Where the step left rows out, the projection leaves out the same.
    if let Some(dependent) = mechanics.dependent_rows().filter(|d| d.rows == k && d.symmetric) {
        return Ok(effect.mul_vec(&solve_dependent(&w, values, &dependent.pivots)?.x));
    }
    let rhs = Matrix::from_vec(k, 1, values.to_vec());
    let x = w.symmetric_part().solve_positive_definite(&rhs).unwrap_or_else(|| w.pseudo_solve_matrix(&rhs));
    Ok(effect.mul_vec(x.data()))
}

/// Whether rows that a step left out, because they depended on others at its first instant, hold at its end
/// all the same.
pub(super) fn dependent_rows_hold(
    mechanics: &mut Mechanics<'_>,
    modes: &Modes,
    step: &DenseStep,
    tolerance: f64,
) -> Result<bool, ModeError> {
    if mechanics.dependent_rows().is_none() {
        return Ok(true);
    }
    let mut y = vec![];
    step.at(1.0, &mut y);
    let (q, v) = y.split_at(y.len() / 2);
    let closed = |i: usize| modes.contacts[i].is_closed();
    let at = mechanics.equations((step.start + step.length, q, v), closed)?;
    let error = (OMITTED_ROW_ERRORS * tolerance).max(ROW_ROUNDING) * max_abs(v).max(1.0);
    let active = mechanics.active_rows(&at, modes);
    Ok(active.rows().iter().all(|row| row.velocity.abs() <= error * max_abs(&row.gradient).max(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::fixtures::{SLIDE_DOWN, block, one_contact, one_joint, point_on_circle, state};

    /// A block 1e-7 above its plane is put on it; only what sticks loses its slip.
    #[test]
    fn a_block_is_put_on_its_plane() {
        let system = block(0.3, 0.5);
        for (mode, slip) in [(SLIDE_DOWN, 2.0), (ContactMode::Stick, 0.0)] {
            let mut at = state(&[1.0, 1e-7], &[2.0, 1e-8]);
            let mut mechanics = Mechanics::new(&system, &at).unwrap();
            let off = project(&mut mechanics, &mut at, &one_contact(mode)).unwrap();
            assert_eq!(off, Distance { gap: 1e-7, joint: 0.0 });
            assert_eq!(at, state(&[1.0, 0.0], &[slip, 0.0]));
        }
        let open = state(&[1.0, 1e-7], &[2.0, 1e-8]);
        let mut at = open.clone();
        let mut mechanics = Mechanics::new(&system, &at).unwrap();
        assert_eq!(
            project(&mut mechanics, &mut at, &one_contact(ContactMode::Open)),
            Ok(Distance::default())
        );
        assert_eq!(at, open);
    }

    /// Masses are equal, so that a point off its circle goes back along the radius, and keeps its velocity
    /// along the tangent.
    #[test]
    fn a_point_is_put_on_its_circle() {
        let (system, c) = (point_on_circle(), 0.5_f64.sqrt());
        let r = 1.0 + 1e-6;
        let mut at = state(&[r * c, r * c], &[1.0, 0.0]);
        let mut mechanics = Mechanics::new(&system, &at).unwrap();
        let off = project(&mut mechanics, &mut at, &one_joint()).unwrap();
        assert!((off.joint - (r * r - 1.0)).abs() < 1e-15 && off.gap == 0.0);
        assert!(at.q.iter().all(|x| (x - c).abs() < 1e-15), "{:?}", at.q);
        assert!((at.v[0] - 0.5).abs() < 1e-15 && (at.v[1] + 0.5).abs() < 1e-15, "{:?}", at.v);
    }
}
