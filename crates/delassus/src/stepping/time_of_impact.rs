//! The moments at which a step is cut: contacts that close with a rebound, limits that are reached.
//!
//! ```text
//! gap + u τ + c τ² = 0
//! ```
//!
//! For a contact, c follows from the forces on its bodies: ½a in the symmetric scheme and a in the
//! half-implicit one, whose positions follow the velocities at the end, a = n·M⁻¹F. Joints bend the motion of
//! a limit by forces that only a solve gives: the substep is made as if the limit were not there, and c is
//! what takes the coordinate from where it was to where it arrived. The error is of third order in the length
//! of the substep; where it leaves a gap, the substep is cut again.

use super::linearization::Linearization;
use super::model::{LEAST_SPEED, Model};
use super::row_targets::SubstepStart;
use crate::world::{BodyState, RowKind, row_velocity};

/// An approach slower than this part of the speeds whose difference it is, is what solves leave of bodies
/// that move together. Without gravity such ones would be cut at again and again.
const LEFT_OVER_RATIO: f64 = 1e-10;

/// Finds the moments of a step, in memory that is kept.
#[derive(Default)]
pub(super) struct ImpactClock {
    velocity: Vec<f64>,
    acceleration: Vec<f64>,
    /// Velocities at the end of the free motion.
    free_velocity: Vec<f64>,
}

impl ImpactClock {
    /// When the next contact with restitution closes within the time left, if one does.
    pub(super) fn next_impact(
        &mut self,
        model: &Model,
        on: &Linearization,
        bodies: &[BodyState],
        left: f64,
    ) -> Option<f64> {
        if on.restitution().iter().all(|&e| e == 0.0) {
            return None;
        }
        let ImpactClock { velocity, acceleration, .. } = self;
        model.masses.gather_velocities(bodies, velocity);
        model.accelerations(bodies, acceleration);
        let share = if model.is_symmetric() { 0.5 } else { 1.0 };
        let mut first: Option<f64> = None;
        for (i, contact) in on.contacts().iter().enumerate().filter(|(i, _)| on.restitution()[*i] > 0.0) {
            let rows = &on.contact_rows()[i];
            let (u, a) = (rows.velocity(0, velocity), rows.velocity(0, acceleration));
            // Also where the gap counts as touching: a rebound lower than that is one, as long as its speed
            // is not that of rest.
            let tau = if contact.gap > 0.0 {
                let Some(tau) = first_root(contact.gap, u, share * a) else { continue };
                tau
            } else if u > 0.0 && a < 0.0 {
                // It leaves and may come back.
                -u / (share * a)
            } else if u < 0.0 {
                0.0
            } else {
                continue;
            };
            let size = rows.speed_of_terms(velocity);
            let rest = model.zeno_speed(a).max(LEFT_OVER_RATIO * size);
            if -(u + a * tau) > rest && tau < left {
                first = Some(first.map_or(tau, |f: f64| f.min(tau)));
            }
        }
        first
    }

    /// Whether a limit may be reached within h, fast enough to count; one with restitution always may.
    pub(super) fn nears_limit(
        &mut self,
        model: &Model,
        on: &Linearization,
        bodies: &[BodyState],
        h: f64,
    ) -> bool {
        let rows = on.joint_rows();
        if rows.limits == 0 {
            return false;
        }
        let ImpactClock { velocity, free_velocity, .. } = self;
        model.masses.gather_velocities(bodies, velocity);
        free_velocity.clone_from(velocity);
        model.kick(bodies, h, free_velocity);
        let (touching, rest) = (model.touching(), model.rest_speed());
        (rows.bilateral..rows.bilateral + rows.limits).any(|i| {
            let row = &rows.rows[i];
            let speed = |v: &[f64]| row_velocity(rows, i, &model.masses, v) + row.rate;
            let now = speed(velocity);
            // A rebound may end within h: what bends it back are also forces of joints, which are not known
            // yet.
            if rest > 0.0 && matches!(row.kind, RowKind::Limit { restitution } if restitution > 0.0) {
                return row.value > touching || now.abs() > rest.max(LEAST_SPEED);
            }
            if row.value <= touching {
                return false;
            }
            let u = now.min(speed(free_velocity));
            u < -rest && row.value + 2.0 * h * u <= 0.0
        })
    }
}

/// When the first limit was passed in a substep of length h that was made as if there were none. `end` are
/// the values of limits at its end.
pub(super) fn passed_limit(model: &Model, start: &SubstepStart, end: &[f64], h: f64) -> Option<f64> {
    let rest = model.rest_speed();
    let mut first: Option<f64> = None;
    for (begin, end) in start.limits.iter().zip(end) {
        // What bounces has not arrived where it only counts as touching: a small rebound would start on its
        // way, and the last ones would take longer than they do.
        let arrived = if begin.rebounds { model.options.position_tolerance } else { model.touching() };
        if !begin.is_off(model) || *end > arrived {
            continue;
        }
        let c = (end - begin.value - begin.speed * h) / (h * h);
        // What it was when it touched: where rounding finds no moment, at the end.
        let tau = first_root(begin.value, begin.speed, c).unwrap_or(h).min(h);
        if -(begin.speed + 2.0 * c * tau) > rest || *end < 0.0 {
            first = Some(first.map_or(tau, |f: f64| f.min(tau)));
        }
    }
    first
}

/// The smallest τ > 0 with c + b τ + a τ² = 0, c > 0.
fn first_root(c: f64, b: f64, a: f64) -> Option<f64> {
    let discriminant = b * b - 4.0 * a * c;
    if discriminant < 0.0 {
        return None;
    }
    // In this form nothing cancels, and a = 0 is no exception.
    let tau = if b < 0.0 {
        2.0 * c / (-b + discriminant.sqrt())
    } else {
        let denominator = -b - discriminant.sqrt();
        if a >= 0.0 {
            return None;
        }
        denominator / (2.0 * a)
    };
    (tau > 0.0).then_some(tau)
}

#[cfg(test)]
mod tests {
    use super::super::model::fixtures::*;
    use super::super::options::{Scheme, StepOptions};
    use super::*;
    use crate::world::{ActionKind, ShapeKind, Surface};
    use glam::DVec3;

    #[test]
    fn the_first_root_is_found_without_cancellation() {
        // (τ − 1)(τ − 3) = 3 − 4τ + τ², and its mirror images.
        assert_eq!(first_root(3.0, -4.0, 1.0), Some(1.0));
        assert_eq!(first_root(3.0, 4.0, 1.0), None);
        assert_eq!(first_root(1.0, 0.0, 1.0), None);
        assert_eq!(first_root(2.0, -4.0, 0.0), Some(0.5));
        assert_eq!(first_root(2.0, 1.0, -1.0), Some(2.0));
        // τ = c/b (1 + ca/b² + …): the naive formula has no digit of it.
        let tau = first_root(1e-9, -1.0, 1e-9).unwrap();
        assert!((tau - 1e-9).abs() < 1e-24, "{tau:e}");
    }

    #[test]
    fn a_ball_meets_the_floor_when_its_parabola_does() {
        let bouncy = Surface { restitution: 0.5, ..smooth() };
        // gap = u τ + ½ g τ² in the symmetric scheme; positions of the other follow the velocity at the end:
        // u τ + g τ².
        for (scheme, share) in [(Scheme::Symmetric, 0.5), (Scheme::HalfImplicit, 1.0)] {
            let (world, mut state) = ball_on_floor(bouncy, 1e-2, DVec3::new(0.0, 0.0, -1.0));
            let options = StepOptions { scheme, ..StepOptions::default() };
            let (model, on) = linearized(world, &mut state, options, 0.1);
            let tau = ImpactClock::default().next_impact(&model, &on, &state.bodies, 0.1).unwrap();
            let gap: f64 = 1e-2 - tau - share * 10.0 * tau * tau;
            assert!(gap.abs() < 1e-16, "{gap:e}");
            assert_eq!(ImpactClock::default().next_impact(&model, &on, &state.bodies, 0.5 * tau), None);
        }
        let (world, mut state) = ball_on_floor(smooth(), 1e-2, DVec3::new(0.0, 0.0, -1.0));
        let (model, on) = linearized(world, &mut state, StepOptions::default(), 0.1);
        assert_eq!(ImpactClock::default().next_impact(&model, &on, &state.bodies, 0.1), None);
    }

    #[test]
    fn what_solves_leave_of_bodies_that_move_together_is_no_impact() {
        let bouncy = Surface { restitution: 1.0, ..smooth() };
        let (mut world, mut state) = ball_on_floor(bouncy, 0.0, DVec3::X);
        // Without gravity there is no speed below which bodies come to rest.
        world.gravity = DVec3::ZERO;
        world.bodies[1].name = "first".into();
        world.bodies.push(body("second", false, ShapeKind::Sphere { radius: RADIUS }));
        state.bodies[1].pose.position.z = 10.0;
        for (speed, hits) in [(1.0 - 1e-13, false), (1.0 - 1e-8, true)] {
            state.bodies.truncate(2);
            state.bodies.push(at(DVec3::new(2.0 * RADIUS, 0.0, 10.0), speed * DVec3::X));
            let (model, on) = linearized(world.clone(), &mut state, StepOptions::default(), 0.1);
            assert_eq!(on.contacts().len(), 1);
            let found = ImpactClock::default().next_impact(&model, &on, &state.bodies, 0.1);
            assert_eq!(found, hits.then_some(0.0), "{speed}");
        }
    }

    fn limits(restitution: f64) -> ActionKind {
        ActionKind::Limits { lower: -1.0, upper: 1.0, restitution }
    }

    #[test]
    fn a_limit_is_near_where_twice_the_motion_reaches_it_and_passed_where_it_was() {
        // What a limit sends back may come again, however short the time.
        for (restitution, soon) in [(0.5, true), (0.0, false)] {
            let (mut world, mut state) = slider(limits(restitution), 0.75, 1.0);
            world.gravity = DVec3::new(0.0, 0.0, -1e-3);
            let (model, on) = linearized(world, &mut state, StepOptions::default(), 0.5);
            let mut clock = ImpactClock::default();
            assert!(clock.nears_limit(&model, &on, &state.bodies, 0.5));
            assert_eq!(clock.nears_limit(&model, &on, &state.bodies, 0.1), soon);
        }
        let (mut world, mut state) = slider(limits(0.5), 0.75, 1.0);
        world.gravity = DVec3::new(0.0, 0.0, -1e-3);
        let (model, on) = linearized(world, &mut state, StepOptions::default(), 0.5);
        let mut start = SubstepStart::default();
        start.record(&model, &on, &state, 0.5);
        let ends = |z: f64| {
            start.limits.iter().map(|l| l.value + if l.speed < 0.0 { -z } else { z }).collect::<Vec<_>>()
        };
        // At constant speed 1 the limit, 0.25 away, is reached after 0.25 s.
        let tau = passed_limit(&model, &start, &ends(0.5), 0.5).unwrap();
        assert!((tau - 0.25).abs() < 1e-15, "{tau}");
        assert_eq!(passed_limit(&model, &start, &ends(0.125), 0.125), None);
    }
}
