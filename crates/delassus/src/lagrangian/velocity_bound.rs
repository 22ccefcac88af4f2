//! A bound on velocities that no contact can break.
//!
//! ```text
//! S(t) = √(q̇ᵀ M q̇) ≤ (S(0) + 2ac/d) exp(d t/(2a²)) − 2ac/d          S(t) ≤ S(0) + c t/a  for d = 0
//! a² ‖x‖² ≤ xᵀ M x ,     ‖f‖ ≤ c ,     ‖Ṁ‖ ≤ d
//! ```
//!
//! (002 eq. 3.2–3.7.) f = −F holds all forces but those of constraints; a, c and d are bounds along the
//! motion. Contacts and joints do no work, and impacts without a gain of energy make S no larger, so that the
//! bound does not depend on how many there are: a motion that breaks it was integrated wrongly, or an impact
//! brought energy (002 §3 needs p ≥ 0). Joints that depend on time do work, and are outside of it.

use delassus_solve::linalg::{Matrix, norm};

use super::kinematics::{KinematicsError, kinematics};
use super::{State, System};

/// Step of the difference quotient for Ṁ, relative to the time in which a coordinate of size 1 changes by 1.
const STEP: f64 = 1e-5;

/// The constants of the bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VelocityBound {
    /// S(0), √J.
    pub start: f64,
    /// Square root of the least eigenvalue of M.
    pub a: f64,
    /// Largest ‖f‖.
    pub c: f64,
    /// Largest ‖Ṁ‖.
    pub d: f64,
}

impl VelocityBound {
    /// The bound on S after a time t ≥ 0.
    pub fn at(&self, t: f64) -> f64 {
        let VelocityBound { start, a, c, d } = *self;
        let rate = d / (2.0 * a * a);
        // (e^{rt} − 1)/r tends to t where r does to 0.
        let growth = if rate * t < 1e-12 { t } else { (rate * t).exp_m1() / rate };
        start * (rate * t).exp() + c / a * growth
    }
}

/// S at a state.
pub fn weighted_speed(system: &System, state: &State) -> Result<f64, KinematicsError> {
    let at = kinematics(system, state)?;
    let momentum = at.mass.mul_vec(&state.v);
    Ok(momentum.iter().zip(&state.v).map(|(p, v)| p * v).sum::<f64>().max(0.0).sqrt())
}

/// The constants of the bound along a motion, from these states of it; `None` without states.
pub fn velocity_bound(system: &System, motion: &[State]) -> Result<Option<VelocityBound>, KinematicsError> {
    let Some(first) = motion.first() else { return Ok(None) };
    let mut bound = VelocityBound { start: weighted_speed(system, first)?, a: f64::INFINITY, c: 0.0, d: 0.0 };
    for state in motion {
        let at = kinematics(system, state)?;
        let least = at.mass.symmetric_eigenvalues().first().copied().unwrap_or(0.0);
        bound.a = bound.a.min(least.max(0.0).sqrt());
        bound.c = bound.c.max(norm(&at.force));
        let step = STEP / norm(&state.v).max(1.0);
        let mass = |sign: f64| -> Result<Matrix, KinematicsError> {
            let q = state.q.iter().zip(&state.v).map(|(q, v)| q + sign * step * v).collect();
            Ok(kinematics(system, &State { t: state.t + sign * step, q, v: state.v.clone() })?.mass)
        };
        let (after, before) = (mass(1.0)?, mass(-1.0)?);
        let n = after.rows();
        let rate = Matrix::from_fn(n, n, |i, j| (after[(i, j)] - before[(i, j)]) / (2.0 * step));
        bound.d = bound.d.max(rate.singular_values().first().copied().unwrap_or(0.0));
    }
    Ok(Some(bound))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 002.velocity_bound and 002.velocity_bound.const: the formula, with the constants given.
    #[test]
    fn the_formula() {
        let bound = VelocityBound {
            start: 1.0,
            a: std::f64::consts::FRAC_1_SQRT_2,
            c: 1.3466523139129418,
            d: 0.5887718691589653,
        };
        assert!((bound.at(1.0) - 4.3952101955427185).abs() < 1e-9);
        let fall = VelocityBound { start: 0.0, a: 2.0_f64.sqrt(), c: 2.0 * 9.81, d: 0.0 };
        assert!((fall.at(1.0) - 13.873435046880065).abs() < 1e-12);
    }
}
