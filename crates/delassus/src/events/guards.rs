//! Guards: the event functions of the modes. A mode lasts while its guards are not negative.
//!
//! ```text
//! closed  λ_n ≥ 0      sticks  μ λ_n − ‖λ_t‖ ≥ 0      slides  v_t·e ≥ 0      det(R M⁻¹ C) keeps its sign
//! ```
//!
//! λ_n, λ_t normal and tangential force, μ the coefficient of friction, v_t the slip velocity, e its
//! direction at the start of the step; R, M and C as in [`super::equations`] (002 §4). Gaps of open contacts
//! have their own event functions and search ([`super::gaps`]).

use super::equations::{ContactMode, Equations, JointMode, Modes, Response};
use super::gaps::{End, first_end};
use super::gauss_collocation::{GAUSS, POINTS};
use crate::lagrangian::{Measure, Row, System};
use delassus_solve::linalg::max_abs;

/// Forces below this part of all forces are zero.
const ZERO_FORCE: f64 = 1e-10;
/// A determinant of the scaled matrix below this is zero.
const ZERO_DETERMINANT: f64 = 1e-9;

/// An event function: a quantity that stays at least zero while its mode lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    /// The normal velocity of an open contact that is given by a velocity.
    NormalRate(usize),
    /// The normal force of a closed contact.
    NormalForce(usize),
    /// The friction that a sticking contact has left, μ λ_n − ‖λ_t‖.
    FrictionReserve(usize),
    /// Slip along the direction of a sliding contact.
    Slip(usize),
    /// The normal force of a sliding joint, times its sign.
    JointNormalForce(usize),
    /// The friction that a sticking joint has left.
    JointFrictionReserve(usize),
    /// Slip along the direction of a sliding joint.
    JointSlip(usize),
    /// The least reserve of all contact forces, at its largest over all forces that solve the equations;
    /// where forces are not unique.
    ForceMargin,
    /// The determinant of R M⁻¹ C, times its sign at the last event.
    Determinant,
}

impl Guard {
    fn is_force(self) -> bool {
        matches!(
            self,
            Guard::NormalForce(_)
                | Guard::FrictionReserve(_)
                | Guard::JointFrictionReserve(_)
                | Guard::ForceMargin
        )
    }
}

/// Why a step ends early.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cause {
    /// The gap of this contact closes or grazes.
    Touch(usize),
    /// A guard becomes negative.
    Guard(Guard),
}

/// The first event of a step, at θ ∈ [0, 1] of its length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FirstEvent {
    pub(super) theta: f64,
    pub(super) cause: Cause,
}

/// The guards of the present modes, and their values at the points of the step.
#[derive(Default)]
pub(super) struct Guards {
    list: Vec<Guard>,
    /// Sign of the determinant of R M⁻¹ C at the last event.
    determinant_sign: f64,
    /// Per guard, at the collocation points.
    values: Vec<[f64; POINTS]>,
    /// The largest force at the last point, by which force guards are scaled.
    force_size: f64,
}

impl Guards {
    /// Watches these modes, which have this response at the event.
    pub(super) fn reset(&mut self, system: &System, modes: &Modes, response: &Response) {
        self.list = list(system, modes, response.is_redundant());
        self.determinant_sign = response.determinant_sign();
    }

    /// Whether a contact slides with friction.
    pub(super) fn watch_contact_slip(&self) -> bool {
        self.list.iter().any(|guard| matches!(guard, Guard::Slip(_)))
    }

    /// Whether forces are not unique.
    pub(super) fn watch_redundant_forces(&self) -> bool {
        self.list.contains(&Guard::ForceMargin)
    }

    /// Clears the values of the step before.
    pub(super) fn begin_step(&mut self) {
        self.values.clear();
        self.values.resize(self.list.len(), [0.0; POINTS]);
        self.force_size = 0.0;
    }

    /// Keeps the values at a collocation point.
    pub(super) fn keep(&mut self, point: usize, at: &Equations, modes: &Modes, response: &Response) {
        if self.list.is_empty() {
            return;
        }
        for (values, guard) in self.values.iter_mut().zip(&self.list) {
            values[point] = value(*guard, at, modes, response, self.determinant_sign);
        }
        let forces = response.contacts.iter().chain(&response.joints).flatten();
        self.force_size = forces.fold(max_abs(&at.force_size), |m, f| m.max(f.abs()));
    }

    /// The value of one guard.
    pub(super) fn value(&self, guard: Guard, at: &Equations, modes: &Modes, response: &Response) -> f64 {
        value(guard, at, modes, response, self.determinant_sign)
    }

    /// How far forces were outside of their laws at the points of the step, as a part of all forces; at least
    /// 0.
    pub(super) fn force_violation(&self) -> f64 {
        let mut worst = 0.0_f64;
        for (_, values) in self.list.iter().zip(&self.values).filter(|(guard, _)| guard.is_force()) {
            if self.force_size > 0.0 {
                let low = values.iter().fold(0.0_f64, |m, x| m.min(*x));
                worst = worst.max(-low / self.force_size);
            }
        }
        worst
    }

    /// The first of all guards to become negative, before `first` if that is given; `value` evaluates a guard
    /// at θ. Slips up to `no_slip` are zero.
    pub(super) fn first_end<E>(
        &self,
        no_slip: f64,
        mut first: Option<FirstEvent>,
        mut value: impl FnMut(Guard, f64) -> Result<f64, E>,
    ) -> Result<Option<FirstEvent>, E> {
        for (&guard, values) in self.list.iter().zip(&self.values) {
            let noise = match guard {
                Guard::Slip(_) | Guard::JointSlip(_) | Guard::NormalRate(_) => no_slip,
                Guard::Determinant => ZERO_DETERMINANT,
                _ => ZERO_FORCE * self.force_size,
            };
            let found = first_end(&GAUSS.coefficients(values), noise, |theta| value(guard, theta))?;
            let theta = match found {
                Some(End::AtOnce) => 0.0,
                Some(End::At(theta)) => theta,
                None => continue,
            };
            if first.is_none_or(|event| theta < event.theta) {
                first = Some(FirstEvent { theta, cause: Cause::Guard(guard) });
            }
        }
        Ok(first)
    }
}

/// The guards of these modes.
fn list(system: &System, modes: &Modes, redundant: bool) -> Vec<Guard> {
    let mut list = Vec::new();
    for (j, mode) in modes.joints.iter().enumerate() {
        match mode {
            JointMode::Smooth => {}
            JointMode::Slide { .. } => list.extend([Guard::JointNormalForce(j), Guard::JointSlip(j)]),
            JointMode::Stick => list.push(Guard::JointFrictionReserve(j)),
        }
    }
    for (i, mode) in modes.contacts.iter().enumerate() {
        match mode {
            ContactMode::Open if matches!(system.contacts[i].normal, Measure::Velocity(_)) => {
                list.push(Guard::NormalRate(i));
            }
            ContactMode::Open => {}
            ContactMode::Slide { direction } => {
                list.extend((!redundant).then_some(Guard::NormalForce(i)));
                list.extend((*direction != [0.0; 2]).then_some(Guard::Slip(i)));
            }
            ContactMode::Stick if redundant => {}
            ContactMode::Stick => list.extend([Guard::NormalForce(i), Guard::FrictionReserve(i)]),
        }
    }
    let slides = list.iter().any(|guard| matches!(guard, Guard::Slip(_) | Guard::JointSlip(_)));
    list.extend(slides.then_some(Guard::Determinant));
    list.extend(redundant.then_some(Guard::ForceMargin));
    list
}

/// Slip along a direction.
fn along(slip: &[Row], direction: [f64; 2]) -> f64 {
    slip.iter().zip(direction).map(|(row, e)| row.velocity * e).sum()
}

fn value(guard: Guard, at: &Equations, modes: &Modes, response: &Response, determinant_sign: f64) -> f64 {
    let contact = |i: usize| at.contacts[i].as_ref();
    match guard {
        Guard::NormalRate(i) => contact(i).map_or(0.0, |c| c.normal.velocity),
        Guard::NormalForce(i) => response.contacts[i][0],
        Guard::FrictionReserve(i) => {
            let f = response.contacts[i];
            contact(i).map_or(0.0, |c| c.mu_static * f[0]) - f[1].hypot(f[2])
        }
        Guard::Slip(i) => match modes.contacts[i] {
            ContactMode::Slide { direction } => contact(i).map_or(0.0, |c| along(&c.slip, direction)),
            _ => 0.0,
        },
        Guard::JointNormalForce(j) => match modes.joints[j] {
            JointMode::Slide { sign, .. } => sign * response.joints[j][0],
            _ => 0.0,
        },
        Guard::JointFrictionReserve(j) => {
            let f = response.joints[j];
            at.joints[j].mu * f[0].abs() - f[1].hypot(f[2])
        }
        Guard::JointSlip(j) => match modes.joints[j] {
            JointMode::Slide { direction, .. } => along(&at.joints[j].slip, direction),
            _ => 0.0,
        },
        Guard::ForceMargin => response.margin.unwrap_or(0.0),
        Guard::Determinant => determinant_sign * response.determinant,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::equations::Mechanics;
    use crate::events::fixtures::{G, SLIDE_DOWN, SLIDE_UP, block, one_contact, state};

    /// The values of all guards of a block on an incline that touches it, at velocity v along it.
    fn values(angle: f64, mu: f64, mode: ContactMode, v: f64) -> Vec<(Guard, f64)> {
        let (system, start) = (block(angle, mu), state(&[0.0; 2], &[v, 0.0]));
        let mut mechanics = Mechanics::new(&system, &start).unwrap();
        let at = mechanics.equations((0.0, &start.q, &start.v), |_| true).unwrap();
        let modes = one_contact(mode);
        let response = mechanics.respond(&at, &modes).unwrap();
        let mut guards = Guards::default();
        guards.reset(&system, &modes, &response);
        guards.list.iter().map(|&guard| (guard, guards.value(guard, &at, &modes, &response))).collect()
    }

    fn value_of(list: &[(Guard, f64)], guard: Guard) -> f64 {
        list.iter().find(|(g, _)| *g == guard).map(|(_, value)| *value).unwrap()
    }

    /// The normal force pushes, g cos α; a plane that overhangs would have to pull.
    #[test]
    fn a_force_that_pushes_is_positive() {
        let pushed = values(0.3, 0.5, ContactMode::Stick, 0.0);
        assert!((value_of(&pushed, Guard::NormalForce(0)) - G * 0.3_f64.cos()).abs() < 1e-14);
        let overhang = values(2.0, 0.5, ContactMode::Stick, 0.0);
        assert!((value_of(&overhang, Guard::NormalForce(0)) - G * 2.0_f64.cos()).abs() < 1e-14);
    }

    /// A block sticks up to tan α = μ: the reserve is g (μ cos α − sin α).
    #[test]
    fn friction_is_used_up_at_the_angle_of_friction() {
        for angle in [0.2_f64, 0.6] {
            let (s, c) = angle.sin_cos();
            let list = values(angle, 0.5, ContactMode::Stick, 0.0);
            let reserve = value_of(&list, Guard::FrictionReserve(0));
            assert!((reserve - G * (0.5 * c - s)).abs() < 1e-14);
            assert_eq!(reserve > 0.0, angle.tan() < 0.5);
        }
    }

    /// Slip is positive along its direction and negative once it has reversed, uphill and downhill.
    #[test]
    fn a_slip_that_reverses_is_negative() {
        for (mode, sign) in [(SLIDE_DOWN, 1.0), (SLIDE_UP, -1.0)] {
            for v in [2.0, -2.0] {
                assert_eq!(value_of(&values(0.3, 0.5, mode, v), Guard::Slip(0)), sign * v);
            }
        }
    }

    /// A slip 1 − 2τ + τ²/4 over a step ends at 4 − √12; a guard that stays positive, or one that ends later,
    /// is no event.
    #[test]
    fn the_first_guard_that_ends() {
        let slip = |x: f64| 1.0 - 2.0 * x + 0.25 * x * x;
        let force = |x: f64| 0.8 - x;
        let guards = Guards {
            list: vec![Guard::NormalForce(0), Guard::Slip(0), Guard::NormalForce(1)],
            values: vec![GAUSS.points.map(force), GAUSS.points.map(slip), [1.0; POINTS]],
            force_size: 1.0,
            determinant_sign: 1.0,
        };
        let value = |guard: Guard, x: f64| {
            Ok::<f64, ()>(match guard {
                Guard::Slip(_) => slip(x),
                Guard::NormalForce(0) => force(x),
                _ => 1.0,
            })
        };
        let found = guards.first_end(1e-13, None, value).unwrap().unwrap();
        assert_eq!(found.cause, Cause::Guard(Guard::Slip(0)));
        assert!((found.theta - (4.0 - 12.0_f64.sqrt())).abs() < 1e-13);
        let touch = FirstEvent { theta: 0.25, cause: Cause::Touch(0) };
        assert_eq!(guards.first_end(1e-13, Some(touch), value), Ok(Some(touch)));
        // Only forces count as violated, as a part of all forces.
        let last = GAUSS.points[POINTS - 1];
        assert!((guards.force_violation() - (last - 0.8)).abs() < 1e-15);
    }
}
