//! Tests of `row_targets`.

use super::super::model::fixtures::*;
use super::super::options::{Scheme, StepOptions};
use super::*;
use crate::world::{ActionKind, Surface, World, WorldState};
use glam::DVec3;

const H: f64 = 0.01;

fn plan(limits: LimitRule, gaps: GapRule) -> SubstepPlan {
    SubstepPlan {
        length: H,
        opening_time: H,
        joint_time: H,
        limits,
        gaps,
        energy: ContactEnergy::Bounded,
        may_retry: true,
        may_shorten: true,
        opening: 1.0,
        may_cut: true,
    }
}

/// A substep of length H that begins at a state.
struct Case {
    model: Model,
    linearization: Linearization,
    start: SubstepStart,
    state: WorldState,
}

impl Case {
    fn new((world, mut state): (World, WorldState), scheme: Scheme) -> Self {
        let options = StepOptions { scheme, dt: H, ..StepOptions::default() };
        let (model, linearization) = linearized(world, &mut state, options, H);
        let mut start = SubstepStart::default();
        start.record(&model, &linearization, &state, H);
        Case { model, linearization, start, state }
    }

    fn view<'a>(&'a self, plan: &'a SubstepPlan) -> SubstepView<'a> {
        let Case { model, linearization, start, .. } = self;
        SubstepView { model, linearization, start, plan }
    }

    fn positions(&self, limits: LimitRule, gaps: GapRule) -> RowTargets {
        let mut out = RowTargets::default();
        position_targets(self.view(&plan(limits, gaps)), &mut out);
        out
    }

    /// The target of the row behind the bilateral ones.
    fn last(&self, limits: LimitRule) -> RowTarget {
        *self.positions(limits, GapRule::Exact).joints.last().unwrap()
    }

    /// Targets of velocities after a drift in which nothing moved, from these impulses of the first half.
    fn velocities(&self, rows: &[f64], contacts: &[[f64; MAX_CONTACT_ROWS]]) -> (RowTargets, Rebounds) {
        let mut velocity = vec![];
        self.model.masses.gather_velocities(&self.state.bodies, &mut velocity);
        let half = FirstHalf {
            bodies: &self.state.bodies,
            t: H,
            velocity: &velocity,
            row_impulse: rows,
            contact_impulse: contacts,
        };
        let mut out = RowTargets::default();
        let plan = plan(LimitRule::Enforce, GapRule::Exact);
        let found = velocity_targets(self.view(&plan), &half, &mut ArrivalScratch::default(), &mut out);
        (out, found)
    }
}

fn assert_near(found: f64, expected: f64) {
    // Each target is a handful of operations on numbers of its own size.
    assert!((found - expected).abs() <= 1e-13 * expected.abs().max(1.0), "{found} for {expected}");
}

#[test]
fn a_spring_is_the_midpoint_rule_without_a_damper_and_implicit_in_the_first_order_scheme() {
    let (k, g) = (30.0, 0.5);
    let spring = ActionKind::Spring { stiffness: k, damping: 0.0, rest: 0.0 };
    let symmetric = Case::new(slider(spring.clone(), g, 0.0), Scheme::Symmetric);
    let RowTarget::Compliant { bias, compliance } = symmetric.last(LimitRule::Enforce) else { panic!() };
    // r = −½h k (g + ½h u): u + 2g/h + r/(¼h² k) = 0.
    assert_near(bias, 2.0 * g / H);
    assert_near(compliance, 4.0 / (H * H * k));
    let implicit = Case::new(slider(spring, g, 0.0), Scheme::HalfImplicit);
    let RowTarget::Compliant { bias, compliance } = implicit.last(LimitRule::Enforce) else { panic!() };
    // r = −h k (g + h u).
    assert_near(bias, g / H);
    assert_near(compliance, 1.0 / (H * H * k));
}

#[test]
fn a_damper_takes_its_share_at_the_end_of_the_step() {
    let d = 100.0;
    let damper = ActionKind::Spring { stiffness: 0.0, damping: d, rest: 0.0 };
    let case = Case::new(slider(damper, 0.5, 3.0), Scheme::Symmetric);
    let RowTarget::Compliant { bias, compliance } = case.last(LimitRule::Enforce) else { panic!() };
    assert_near(bias, 0.0);
    assert_near(compliance, 1.0 / (0.5 * H * d));
    let z = 0.5 * H * d / MASS;
    let resistance = 0.5 * H * d * z / (1.0 + z);
    let first = -0.75;
    let (targets, _) = case.velocities(&[0.0, 0.0, 0.0, 0.0, 0.0, first], &[]);
    let Some(RowTarget::Compliant { bias, compliance }) = targets.joints.last() else { panic!() };
    // r₂ = r₁ − ½h σ d (u − u½), u½ = 3.
    assert_near(*compliance, 1.0 / resistance);
    assert_near(*bias, -3.0 - first / resistance);
}

#[test]
fn a_spring_without_a_damper_pushes_alike_in_both_halves() {
    let spring = ActionKind::Spring { stiffness: 30.0, damping: 0.0, rest: 0.0 };
    let case = Case::new(slider(spring, 0.5, 3.0), Scheme::Symmetric);
    let (targets, _) = case.velocities(&[0.0, 0.0, 0.0, 0.0, 0.0, -0.75], &[]);
    assert_eq!(targets.joints.last(), Some(&RowTarget::Impulse(-0.75)));
}

#[test]
fn a_motor_has_its_speed_as_target_in_both_solves_whatever_the_length() {
    let motor = ActionKind::Speed { target: formula("3 + t"), force: 10.0 };
    let case = Case::new(slider(motor, 0.5, 0.0), Scheme::HalfImplicit);
    // At the end of the step, where the velocities of the solve are.
    let RowTarget::Velocity { bias } = case.last(LimitRule::Enforce) else { panic!() };
    assert_near(bias, -(3.0 + H));
}

#[test]
fn a_force_is_given_in_equal_halves() {
    let case = Case::new(slider(ActionKind::Force { force: formula("8") }, 0.5, 0.0), Scheme::Symmetric);
    let RowTarget::Impulse(r) = case.last(LimitRule::Enforce) else { panic!() };
    assert_near(r, 0.5 * H * 8.0);
    let (targets, _) = case.velocities(&[0.0, 0.0, 0.0, 0.0, 0.0, r], &[]);
    assert_eq!(targets.joints.last(), Some(&RowTarget::Impulse(r)));
}

/// A slider whose upper limit is this far away, and the target of that limit: the lower one is far.
fn limit_case(distance: f64, velocity: f64, scheme: Scheme) -> Case {
    let limits = ActionKind::Limits { lower: -10.0, upper: 1.0, restitution: 0.5 };
    Case::new(slider(limits, 1.0 - distance, velocity), scheme)
}

fn limit_target(case: &Case, targets: &RowTargets) -> RowTarget {
    let rows = case.linearization.joint_rows();
    let upper = (rows.bilateral..rows.rows.len()).find(|&i| rows.rows[i].value < 5.0).unwrap();
    targets.joints[upper]
}

#[test]
fn a_limit_counts_where_it_can_be_reached_and_not_where_it_is_passed_by() {
    let target = |distance: f64, velocity: f64, limits: LimitRule| {
        let case = limit_case(distance, velocity, Scheme::Symmetric);
        limit_target(&case, &case.positions(limits, GapRule::Exact))
    };
    assert_eq!(target(0.5, 1.0, LimitRule::Enforce), RowTarget::LeftOut);
    assert_eq!(target(0.005, 1.0, LimitRule::PassBy), RowTarget::LeftOut);
    let RowTarget::Velocity { bias } = target(0.005, 1.0, LimitRule::Enforce) else { panic!() };
    assert_near(bias, 0.005 / H);
    // One that is reached is kept even where others are passed by.
    assert!(matches!(target(0.0, 1.0, LimitRule::PassBy), RowTarget::Velocity { .. }));
}

#[test]
fn a_limit_that_is_hit_sends_back_its_part_of_the_speed_of_arrival() {
    let half_implicit = limit_case(0.0, 2.0, Scheme::HalfImplicit);
    let found = half_implicit.positions(LimitRule::Enforce, GapRule::Exact);
    assert_eq!(limit_target(&half_implicit, &found), RowTarget::Velocity { bias: 0.5 * -2.0 });
    let symmetric = limit_case(0.0, 2.0, Scheme::Symmetric);
    let (found, rebounds) = symmetric.velocities(&[0.0; 7], &[]);
    assert_eq!(limit_target(&symmetric, &found), RowTarget::Velocity { bias: 0.5 * -2.0 });
    assert_eq!(rebounds.impacts, 1);
    let leaving = limit_case(0.0, -2.0, Scheme::Symmetric);
    let (found, rebounds) = leaving.velocities(&[0.0; 7], &[]);
    assert_eq!(limit_target(&leaving, &found), RowTarget::Velocity { bias: 0.0 });
    assert_eq!(rebounds.impacts, 0);
}

fn falling(gap: f64, speed: f64, e: f64, scheme: Scheme) -> Case {
    let surface = Surface { restitution: e, ..smooth() };
    Case::new(ball_on_floor(surface, gap, DVec3::new(0.0, 0.0, -speed)), scheme)
}

#[test]
fn a_gap_may_close_and_an_overlap_opens_unless_gaps_are_linearized() {
    let bias = |gap: f64, gaps: GapRule| {
        let case = falling(gap, 0.0, 0.0, Scheme::Symmetric);
        case.positions(LimitRule::Enforce, gaps).normal_bias[0].unwrap()
    };
    assert_near(bias(1e-4, GapRule::Exact), 1e-4 / H);
    assert_near(bias(-1e-4, GapRule::Exact), -1e-4 / H);
    assert_near(bias(-1e-4, GapRule::Linearized), 0.0);
}

#[test]
fn a_contact_rebounds_in_the_solve_that_ends_in_velocities() {
    let hit = falling(0.0, 2.0, 0.5, Scheme::Symmetric);
    assert_eq!(hit.positions(LimitRule::Enforce, GapRule::Exact).normal_bias, [Some(0.0)]);
    let (targets, rebounds) = hit.velocities(&[], &[[0.0; MAX_CONTACT_ROWS]]);
    assert_eq!((targets.normal_bias[0], rebounds.impacts), (Some(-1.0), 1));
    let only_solve = falling(0.0, 2.0, 0.5, Scheme::HalfImplicit);
    assert_eq!(only_solve.positions(LimitRule::Enforce, GapRule::Exact).normal_bias, [Some(-1.0)]);
    let apart = falling(1e-3, 2.0, 0.5, Scheme::Symmetric);
    assert_eq!(apart.velocities(&[], &[[0.0; MAX_CONTACT_ROWS]]).0.normal_bias, [None]);
    let dead = falling(0.0, 2.0, 0.0, Scheme::Symmetric);
    assert_eq!(dead.velocities(&[], &[[0.0; MAX_CONTACT_ROWS]]).0.normal_bias, [Some(0.0)]);
}

#[test]
fn rebounds_too_slow_to_follow_are_summed_to_their_end() {
    // Rest is below 0.1 g h = 0.01 m/s.
    let slow = falling(0.0, 0.005, 0.5, Scheme::Symmetric);
    let (targets, rebounds) = slow.velocities(&[], &[[0.0; MAX_CONTACT_ROWS]]);
    assert_eq!((targets.normal_bias[0], rebounds.impacts), (Some(0.0), 0));
    // It came to rest where it stood, closed and slow: no accumulation of a contact that does not fly.
    let resting = falling(0.0, 0.0, 0.5, Scheme::Symmetric);
    assert!(resting.velocities(&[], &[[0.0; MAX_CONTACT_ROWS]]).1.accumulations.is_empty());
}

#[test]
fn what_the_linearization_missed_is_added_to_the_targets() {
    let case = falling(1e-3, 1.0, 0.0, Scheme::Symmetric);
    let plan = plan(LimitRule::Enforce, GapRule::Exact);
    let mut targets = case.positions(LimitRule::Enforce, GapRule::Exact);
    let mut bodies = case.state.bodies.clone();
    // The solve left the ball with u_n = −gap/h, and it came 2e-4 m too far.
    bodies[1].pose.position.z = RADIUS - 2e-4;
    let impulses = Impulses { rows: vec![], contacts: vec![[1.0; MAX_CONTACT_ROWS]] };
    let velocity = [0.0, 0.0, -1e-3 / H, 0.0, 0.0, 0.0];
    let end = DriftEnd { bodies: &bodies, joint_values: &[], velocity: &velocity, impulses: &impulses };
    let missed = correct_position_targets(case.view(&plan), &end, &mut targets);
    assert!((targets.normal_bias[0].unwrap() - (1e-3 - 2e-4) / H).abs() < 1e-12);
    // What is allowed is 1e-8 m, and the gap has rounding errors of a ball at half a metre.
    assert!((missed.worst - 2e4).abs() < 1e-3 && !missed.pushed_apart, "{missed:?}");
    // Too far away with an impulse: it pushed what does not touch.
    bodies[1].pose.position.z = RADIUS + 2e-4;
    let end = DriftEnd { bodies: &bodies, joint_values: &[], velocity: &velocity, impulses: &impulses };
    let mut targets = case.positions(LimitRule::Enforce, GapRule::Exact);
    let missed = correct_position_targets(case.view(&plan), &end, &mut targets);
    assert_eq!(missed, Missed { worst: 0.0, joints: 0.0, pushed_apart: true });
}

/// A spring without stiffness and damping is none, in both schemes.
#[test]
fn a_spring_of_zero_stiffness_and_damping_pushes_nothing() {
    for scheme in [Scheme::Symmetric, Scheme::HalfImplicit] {
        let spring = ActionKind::Spring { stiffness: 0.0, damping: 0.0, rest: 0.1 };
        let (world, state) = slider(spring, 0.5, 2.0);
        let options = StepOptions { scheme, ..StepOptions::default() };
        let mut stepper = super::super::Stepper::new(world, state, options).unwrap();
        for _ in 0..10 {
            stepper.step().unwrap();
        }
        // Free motion: z = 0.5 + 2 t.
        let body = &stepper.state().bodies[1];
        assert!((body.pose.position.z - 0.52).abs() < 1e-14 && (body.velocity.z - 2.0).abs() < 1e-14);
    }
}

#[test]
fn an_overlap_opens_within_the_rest_of_the_step_however_short_the_substep() {
    let case = Case::new(ball_on_floor(smooth(), -1e-8, DVec3::ZERO), Scheme::Symmetric);
    let short = SubstepPlan { length: 1e-9, opening_time: 1e-2, ..plan(LimitRule::Enforce, GapRule::Exact) };
    let mut targets = RowTargets::default();
    position_targets(case.view(&short), &mut targets);
    // 1e-8 m in 10 ms, not in a nanosecond; a gap may close within the substep.
    assert!((targets.normal_bias[0].unwrap() + 1e-6).abs() < 1e-12, "{:?}", targets.normal_bias);
    assert_eq!(short.gap_bias(1e-9), 1.0);
    // Where the substep has done that, nothing is missed and nothing is added.
    let mut end = case.state.clone();
    end.bodies[1].pose.position.z += 1e-6 * short.length;
    let impulses = Impulses { rows: vec![], contacts: vec![[1.0; MAX_CONTACT_ROWS]] };
    let velocity = [0.0, 0.0, 1e-6, 0.0, 0.0, 0.0];
    let drift = DriftEnd { bodies: &end.bodies, joint_values: &[], velocity: &velocity, impulses: &impulses };
    let missed = correct_position_targets(case.view(&short), &drift, &mut targets);
    // The gap is a difference of numbers of 0.5 m.
    assert!(missed.worst < 1e-6 && !missed.pushed_apart, "{missed:?}");
    // Over the whole step the overlap is gone.
    let whole = SubstepPlan { length: 1e-2, ..short };
    assert_eq!((whole.overlap_left(-1e-8), whole.gap_bias(-1e-8)), (0.0, -1e-6));
}
