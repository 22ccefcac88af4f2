//! A step that ended where it began, to the last bit, and is made again.
//!
//! ```text
//! Φ(q, v, r) = (q, v, r)   ⇒   Φ is evaluated by its residual
//! ```
//!
//! A step Φ is a function of positions, velocities, the impulses from which its solves start, the world and
//! the options; time enters by motors and drives alone. Where all of these are those of the step before, and
//! that step left them as they were, so does the next. That is no assumption that bodies sleep, but equality
//! of all bits that a step depends on: whatever is set, or hits one of them, changes a bit. The residuals of
//! both solves are evaluated again all the same, so that what was overlooked in that list shows.

use delassus_solve::problem::Status;
use glam::DVec3;

use super::super::model::Model;
use super::super::options::StepOptions;
use super::super::report::StepReport;
use super::super::warm_start::{Impulses, Key, Trend, key};
use super::half_solve::HalfSolver;
use crate::collision::{Contact, MAX_CONTACT_ROWS};
use crate::world::{BodyState, Joint};

/// What a step began with, and its report where it ended with the same.
#[derive(Default)]
pub(in super::super) struct SteadyStep {
    bodies: Vec<BodyState>,
    keys: Vec<Key>,
    impulses: Vec<[f64; MAX_CONTACT_ROWS]>,
    row_impulses: Vec<f64>,
    trend: Trend,
    made: Option<(StepOptions, StepReport)>,
}

/// What the next step depends on beside the world, the options and the time.
#[derive(Clone, Copy)]
pub(in super::super) struct StepBegin<'a> {
    pub(in super::super) bodies: &'a [BodyState],
    pub(in super::super) contacts: &'a [Contact],
    pub(in super::super) impulses: &'a Impulses,
    pub(in super::super) trend: &'a Trend,
}

impl SteadyStep {
    /// Forgets the step before: the world has changed.
    pub(in super::super) fn forget(&mut self) {
        self.made = None;
    }

    /// The report of the step before, where it ended where it began, nothing has changed since and its solves
    /// still hold.
    pub(in super::super) fn repeat(
        &mut self,
        options: &StepOptions,
        now: StepBegin<'_>,
        solver: &mut HalfSolver,
    ) -> Option<StepReport> {
        let (made_with, report) = self.made.as_ref()?;
        if made_with != options || !self.began_with(now) {
            self.forget();
            return None;
        }
        let mut report = report.clone();
        for solver in solver.both().into_iter().take(report.solves) {
            let (status, residual) = solver.check_again(options.tolerance);
            if status != Status::Solved {
                self.forget();
                return None;
            }
            report.residual = report.residual.max(residual);
        }
        Some(report)
    }

    /// Records what a step begins with.
    pub(in super::super) fn begin(&mut self, now: StepBegin<'_>) {
        self.made = None;
        self.bodies.clear();
        self.bodies.extend_from_slice(now.bodies);
        self.impulses.clone_from(&now.impulses.contacts);
        self.row_impulses.clone_from(&now.impulses.rows);
        self.trend.copy_from(now.trend);
        self.keys.clear();
        self.keys.extend(now.contacts.iter().map(key));
    }

    /// Gives bodies the state that the step began with.
    pub(in super::super) fn restore_bodies(&self, bodies: &mut Vec<BodyState>) {
        bodies.clone_from(&self.bodies);
    }

    /// Gives joints and contacts the impulses that the step began with.
    pub(in super::super) fn restore_impulses(&self, impulses: &mut Impulses, trend: &mut Trend) {
        trend.copy_from(&self.trend);
        impulses.contacts.clone_from(&self.impulses);
        impulses.rows.clone_from(&self.row_impulses);
    }

    /// Records a step whose solves only confirmed the impulses from which they started and which ended where
    /// it began.
    pub(in super::super) fn end(&mut self, model: &Model, now: StepBegin<'_>, report: &StepReport) {
        let once = if model.is_symmetric() { 2 } else { 1 };
        let quiet = report.status == Status::Solved && report.iterations == 0 && report.solves == once;
        let eventless = report.impacts == 0
            && report.jams.is_empty()
            && report.accumulations.is_empty()
            && report.energy_gains.is_empty();
        let timeless = model.world.joints.iter().all(Joint::is_timeless);
        if quiet && timeless && eventless && self.began_with(now) {
            self.made = Some((model.options, report.clone()));
        }
    }

    /// Whether bodies, contacts and impulses are those of the start of the step, to the last bit.
    fn began_with(&self, now: StepBegin<'_>) -> bool {
        let SteadyStep { bodies, keys, impulses, row_impulses, trend, .. } = self;
        let Impulses { rows, contacts: contact_impulses } = now.impulses;
        let same_impulses = |(a, b): (&[f64; MAX_CONTACT_ROWS], &[f64; MAX_CONTACT_ROWS])| {
            a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
        };
        bodies.len() == now.bodies.len()
            && impulses.len() == contact_impulses.len()
            && keys.len() == now.contacts.len()
            && row_impulses.len() == rows.len()
            && row_impulses.iter().zip(rows).all(|(a, b)| a.to_bits() == b.to_bits())
            && bodies.iter().zip(now.bodies).all(|(a, b)| has_bits_of(a, b))
            && impulses.iter().zip(contact_impulses).all(same_impulses)
            && keys.iter().zip(now.contacts).all(|(known, contact)| *known == key(contact))
            && trend.has_bits_of(now.trend)
    }
}

fn has_bits_of(a: &BodyState, b: &BodyState) -> bool {
    // One after the other: what moves differs in the first numbers.
    let same = |a: f64, b: f64| a.to_bits() == b.to_bits();
    let vectors = |a: &DVec3, b: &DVec3| same(a.x, b.x) && same(a.y, b.y) && same(a.z, b.z);
    let (r, s) = (&a.pose.rotation, &b.pose.rotation);
    vectors(&a.pose.position, &b.pose.position)
        && vectors(&a.velocity, &b.velocity)
        && vectors(&a.angular_velocity, &b.angular_velocity)
        && (same(r.x, s.x) && same(r.y, s.y) && same(r.z, s.z) && same(r.w, s.w))
}

#[cfg(test)]
mod tests {
    use super::super::super::Stepper;
    use super::super::super::test_worlds::on_a_floor;
    use super::*;
    use crate::formula::AnyFormula;
    use crate::stepping::StepOptions;
    use crate::world::{Action, ActionKind, Axis, Coordinate, JointKind, Pose, ShapeKind, WorldState};
    use glam::DQuat;
    use std::f64::consts::FRAC_PI_2;

    /// Boxes of 0.2 m on each other, each some millimetres beside the one below.
    fn stack(count: usize) -> Stepper {
        let kind = ShapeKind::Box { half_extents: DVec3::splat(0.1) };
        let (mut world, mut state) = on_a_floor(kind, 0.1, [0.6, 0.0]);
        for k in 1..count {
            world.bodies.push(world.bodies[1].clone());
            let mut above = state.bodies[1];
            above.pose.position =
                DVec3::new(1e-3 * (k % 3) as f64, -2e-3 * (k % 2) as f64, 0.1 + 0.2 * k as f64);
            state.bodies.push(above);
        }
        Stepper::new(world, state, StepOptions::default()).unwrap()
    }

    fn bits(state: &WorldState) -> Vec<u64> {
        let numbers = |s: &BodyState| {
            let [p, v, w] = [s.pose.position, s.velocity, s.angular_velocity].map(|x| x.to_array());
            [&p[..], &v, &w, &s.pose.rotation.to_array()].concat()
        };
        state.bodies.iter().flat_map(numbers).map(f64::to_bits).collect()
    }

    #[test]
    fn a_stack_at_rest_stays_to_the_last_bit_and_its_steps_are_those_that_are_made_in_full() {
        for count in [1, 2, 12, 20] {
            let (mut once, mut full) = (stack(count), stack(count));
            let mut repeated = 0;
            let mut rest = vec![];
            for k in 0..60 {
                repeated += usize::from(once.steady.made.is_some());
                full.steady.forget();
                let [a, b] = [once.step().unwrap(), full.step().unwrap()];
                assert_eq!((a.status, a.residual, a.iterations), (b.status, b.residual, b.iterations));
                assert_eq!((a.penetration, a.non_unique), (b.penetration, b.non_unique));
                assert_eq!(bits(once.state()), bits(full.state()));
                assert_eq!(once.impulses.contacts, full.impulses.contacts);
                assert_eq!(
                    (a.status, once.state().t),
                    (Status::Solved, once.clock.start + f64::from(k + 1) * 1e-3)
                );
                if k == 19 {
                    rest = bits(once.state());
                }
            }
            assert!(repeated >= 40, "{count}: {repeated}");
            assert_eq!(bits(once.state()), rest, "{count}");
            assert!(once.state().bodies.iter().all(|s| s.velocity == DVec3::ZERO));
            let weight: f64 =
                once.contact_forces().filter(|(c, ..)| c.bodies[0] == 0).map(|(_, n, _)| n).sum();
            assert!((weight - 9.81 * count as f64).abs() < 1e-8 * weight, "{weight}");
        }
    }

    #[test]
    fn what_is_set_at_rest_moves_in_the_next_step() {
        let at_rest = || {
            let mut stepper = stack(3);
            (0..20).for_each(|_| _ = stepper.step().unwrap());
            assert!(stepper.steady.made.is_some());
            stepper
        };
        let mut lifted = at_rest();
        lifted.set_load(3, DVec3::new(0.0, 0.0, 2.0 * 9.81), DVec3::ZERO).unwrap();
        lifted.step().unwrap();
        // A net force of m g upwards for 1 ms.
        assert!((lifted.state().bodies[3].velocity.z - 9.81e-3).abs() < 1e-12);
        let mut hit = at_rest();
        let mut body = hit.state().bodies[3];
        body.velocity.x = 1.0;
        hit.set_body(3, body).unwrap();
        hit.relinearize();
        let mut same = Stepper::resume(hit.world().clone(), hit.snapshot(), *hit.options()).unwrap();
        for stepper in [&mut hit, &mut same] {
            stepper.step().unwrap();
        }
        // It slides, by μ g for 1 ms; as it moves on, its weight does too.
        let speed = hit.state().bodies[3].velocity.x;
        assert!((speed - (1.0 - 0.6 * 9.81e-3)).abs() < 1e-4, "{speed}");
        assert_eq!(bits(hit.state()), bits(same.state()));
        let mut longer = at_rest();
        longer.set_dt(2e-3).unwrap();
        longer.step().unwrap();
        assert_eq!(longer.state().t, 20.0 * 1e-3 + 2e-3);
        let mut resumed = at_rest();
        let snapshot = resumed.snapshot();
        let mut other = Stepper::resume(resumed.world().clone(), snapshot, *resumed.options()).unwrap();
        for _ in 0..3 {
            let [a, b] = [resumed.step().unwrap(), other.step().unwrap()];
            assert_eq!((bits(resumed.state()), a.residual), (bits(other.state()), b.residual));
        }
    }

    /// Two boxes side by side, joined by a slider with a force.
    fn train() -> Stepper {
        let kind = ShapeKind::Box { half_extents: DVec3::splat(0.1) };
        let (mut world, mut state) = on_a_floor(kind, 0.1, [0.6, 0.0]);
        world.bodies.push(world.bodies[1].clone());
        let mut beside = state.bodies[1];
        beside.pose.position.x = 0.3;
        state.bodies.push(beside);
        let along_x = DQuat::from_rotation_y(FRAC_PI_2);
        let at = |x: f64| Pose { position: DVec3::new(x, 0.0, 0.0), rotation: along_x };
        let mut joint = Joint::new("slider", JointKind::Prismatic, [1, 2], [at(0.15), at(-0.15)]);
        let kind = ActionKind::Force { force: AnyFormula::new(0.0) };
        joint.actions.push(Action { coordinate: Coordinate::Along(Axis::Z), kind });
        world.joints.push(joint);
        Stepper::new(world, state, StepOptions::default()).unwrap()
    }

    #[test]
    fn joined_bodies_at_rest_are_steady_until_an_actuator_moves_them() {
        let (mut once, mut full) = (train(), train());
        let mut repeated = 0;
        for _ in 0..60 {
            repeated += usize::from(once.steady.made.is_some());
            full.steady.forget();
            let [a, b] = [once.step().unwrap(), full.step().unwrap()];
            assert_eq!((a.status, a.residual, a.iterations), (b.status, b.residual, b.iterations));
            assert_eq!(bits(once.state()), bits(full.state()));
            assert_eq!(once.impulses.rows, full.impulses.rows);
        }
        assert!(repeated >= 40, "{repeated}");
        // 20 N against a friction of at most 0.6 m g.
        once.set_target(0, 0, 20.0).unwrap();
        once.relinearize();
        once.step().unwrap();
        let pushed = once.state().bodies[2].velocity.x;
        assert!((pushed - 1e-3 * (20.0 - 0.6 * 9.81)).abs() < 1e-6, "{pushed}");
    }

    /// Capsules in a row on the floor, each with two contacts, joined by hinges upright and across in turn.
    fn chain(count: usize) -> Stepper {
        let kind = ShapeKind::Capsule { radius: 0.04, half_height: 0.05 };
        let (mut world, mut state) = on_a_floor(kind, 0.05, [0.5, 0.0]);
        let [along, across] = [DQuat::from_rotation_y(FRAC_PI_2), DQuat::from_rotation_x(FRAC_PI_2)];
        world.bodies[1].shapes[0].pose.rotation = along;
        for k in 1..count {
            world.bodies.push(world.bodies[1].clone());
            let mut beside = state.bodies[1];
            beside.pose.position.x = 0.2 * k as f64;
            state.bodies.push(beside);
            let rotation = if k % 2 == 0 { DQuat::IDENTITY } else { across };
            let at = |x: f64| Pose { position: DVec3::new(x, 0.0, 0.0), rotation };
            let joint = Joint::new("hinge", JointKind::Revolute, [k, k + 1], [at(0.1), at(-0.1)]);
            world.joints.push(joint);
        }
        state.bodies[1].angular_velocity.y = 0.01;
        Stepper::new(world, state, StepOptions::default()).unwrap()
    }

    #[test]
    fn a_chain_that_has_come_to_rest_on_more_contacts_than_it_needs_is_steady() {
        for count in [3, 8] {
            let mut chain = chain(count);
            (0..400).for_each(|_| _ = chain.step().unwrap());
            let rest = bits(chain.state());
            for _ in 0..20 {
                assert!(chain.steady.made.is_some(), "{count}");
                assert_eq!(chain.step().unwrap().status, Status::Solved);
            }
            assert_eq!(bits(chain.state()), rest, "{count}");
            let weight: f64 = chain.contact_forces().map(|(_, n, _)| n).sum();
            assert!((weight - 9.81 * count as f64).abs() < 1e-8 * weight, "{weight}");
        }
    }
}
