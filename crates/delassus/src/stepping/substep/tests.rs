use super::super::model::fixtures::*;
use super::super::options::{Scheme, StepOptions};
use super::*;
use crate::stepping::warm_start::key;
use crate::world::{ActionKind, WorldState};
use glam::DVec3;

fn stepper_of((world, state): (crate::world::World, WorldState), options: StepOptions) -> Stepper {
    Stepper::as_given(world.into(), state, options)
}

fn plan(length: f64) -> SubstepPlan {
    SubstepPlan {
        length,
        opening_time: length,
        joint_time: length,
        limits: LimitRule::Enforce,
        gaps: GapRule::Exact,
        energy: ContactEnergy::Bounded,
        may_retry: false,
        may_shorten: false,
        opening: 1.0,
        may_cut: false,
    }
}

#[test]
fn the_start_of_a_substep_knows_how_contacts_and_limits_close() {
    let (world, mut state) = ball_on_floor(smooth(), 0.125, DVec3::new(1.0, 0.0, -2.0));
    state.t = 3.0;
    let (model, on) = linearized(world, &mut state, StepOptions::default(), 0.1);
    let mut start = SubstepStart::default();
    start.record(&model, &on, &state, 0.1);
    let contact = start.approach_of(key(&on.contacts()[0])).unwrap();
    assert_eq!((contact.speed, contact.gap, contact.closed), (-2.0, 0.125, false));
    assert!(start.approach_of(([7, 8], [0, 0], 0)).is_none());
    // Half a kick of 10 m/s² for 0.1 s.
    assert_eq!((start.free_velocity[2], start.t), (-2.5, 3.0));
    let limits = ActionKind::Limits { lower: 0.0, upper: 1.0, restitution: 0.0 };
    let (world, mut state) = slider(limits, 0.75, 2.0);
    let (model, on) = linearized(world, &mut state, StepOptions::default(), 0.1);
    start.record(&model, &on, &state, 0.1);
    let mut limits: Vec<_> = start.limits.iter().map(|limit| (limit.value, limit.speed)).collect();
    limits.sort_by(|a, b| a.0.total_cmp(&b.0));
    // A quarter of a metre below the upper one and going there; away from the lower one.
    assert_eq!(limits, [(0.25, -2.0), (0.75, 2.0)]);
}

#[test]
fn a_substep_of_free_fall_is_a_parabola_or_its_first_order_scheme() {
    let h = 0.125;
    for (scheme, fallen) in [(Scheme::Symmetric, 0.5), (Scheme::HalfImplicit, 1.0)] {
        let options = StepOptions { scheme, ..StepOptions::default() };
        let mut stepper = stepper_of(ball_on_floor(smooth(), 8.0, DVec3::X), options);
        let mut report = StepReport::solved();
        let outcome = stepper.substep(&plan(h), &mut report).unwrap();
        let ball = &stepper.state.bodies[1];
        let expected = DVec3::new(h, 0.0, RADIUS + 8.0 - fallen * 10.0 * h * h);
        assert_eq!((outcome, report.status), (SubstepOutcome::Accepted, Status::Solved));
        assert!((ball.pose.position - expected).length() < 1e-14, "{ball:?}");
        assert!((ball.velocity - DVec3::new(1.0, 0.0, -10.0 * h)).length() < 1e-14);
        assert_eq!(stepper.state.t, h);
        stepper.rollback(h);
        assert_eq!((stepper.state.t, stepper.state.bodies[1].velocity), (0.0, DVec3::X));
    }
}

#[test]
fn both_halves_of_a_substep_at_rest_carry_the_weight() {
    let h = 1e-3;
    for scheme in [Scheme::Symmetric, Scheme::HalfImplicit] {
        let options = StepOptions { scheme, ..StepOptions::default() };
        let mut stepper = stepper_of(ball_on_floor(smooth(), 0.0, DVec3::ZERO), options);
        stepper.substep(&plan(h), &mut StepReport::solved()).unwrap();
        // m g h = 0.02 N s, to the tolerance of a solve.
        let impulse = stepper.impulses.contacts[0][0];
        assert!((impulse - MASS * 10.0 * h).abs() < 1e-10, "{scheme:?}: {impulse}");
    }
}

#[test]
fn a_contact_that_stops_a_ball_takes_its_kinetic_energy_as_work() {
    let (h, options) = (1e-3, StepOptions { scheme: Scheme::HalfImplicit, ..StepOptions::default() });
    let mut stepper = stepper_of(ball_on_floor(smooth(), 0.0, -DVec3::Z), options);
    stepper.begin_substep(&plan(h));
    assert!(stepper.solve_positions(&plan(h), &mut StepReport::solved()).unwrap().all_solved);
    let found = stepper.contact_work(&plan(h), Half::First);
    // From u = −1 − g h to rest: work −½ m u². Ten gaps of 1e-7 m that close in one step are no gain.
    let (u, slack) = (1.01_f64, 10.0 * 1e-7 / h);
    let energy = 0.5 * MASS * u * u;
    assert!((found.work + energy).abs() < 1e-9, "{}", found.work);
    assert!((found.energy - energy - 0.5 * MASS * slack * slack).abs() < 1e-9, "{}", found.energy);
}

#[test]
fn a_substep_that_failed_is_made_again_shorter_or_with_linearized_gaps() {
    let stepper = stepper_of(ball_on_floor(smooth(), 1.0, DVec3::ZERO), StepOptions::default());
    let (once, retry) = (plan(0.5), SubstepPlan { may_retry: true, ..plan(0.5) });
    let outcome = |plan, status, by_energy| stepper.substep_outcome(plan, status, by_energy);
    let (halved, shortened) =
        (SubstepOutcome::Retry { length: 0.25 }, SubstepOutcome::Shorten { length: 0.25 });
    assert_eq!(outcome(&retry, Status::Stalled, SubstepOutcome::Accepted), halved);
    assert_eq!(outcome(&once, Status::Stalled, SubstepOutcome::Accepted), SubstepOutcome::Accepted);
    assert_eq!(outcome(&once, Status::Stalled, SubstepOutcome::Depenetrate), SubstepOutcome::Depenetrate);
    assert_eq!(outcome(&retry, Status::Solved, SubstepOutcome::Accepted), SubstepOutcome::Accepted);
    // Energy that was given is a failure of its own.
    for by_energy in [SubstepOutcome::Depenetrate, SubstepOutcome::JointEnergy { gained: 1.0 }] {
        assert_eq!(outcome(&retry, Status::Solved, by_energy), halved);
        assert_eq!(outcome(&once, Status::Solved, by_energy), by_energy);
    }
    assert_eq!(outcome(&retry, Status::Stalled, shortened), shortened);
}

/// Contacts may give 1e-3 of the energy of what they push where a substep may be made again and 1e-2 else,
/// joints 1e-4 of the kinetic energy; and the energy of what has no bound decides nothing.
#[test]
fn energy_that_is_given_shortens_a_substep_depenetrates_or_ends_the_step() {
    let mut stepper = stepper_of(ball_on_floor(smooth(), 1.0, DVec3::ZERO), StepOptions::default());
    let once = plan(0.5);
    let retry = SubstepPlan { may_retry: true, ..once };
    let shorten = SubstepPlan { may_shorten: true, ..once };
    let free = SubstepPlan { energy: ContactEnergy::Free, ..once };
    let gain = |part: f64| ContactWork { work: part * 3.0, energy: 3.0, weights: 0.0 };
    let (halved, shortened) =
        (SubstepOutcome::Retry { length: 0.25 }, SubstepOutcome::Shorten { length: 0.25 });
    assert_eq!(stepper.energy_outcome(&retry, gain(1.1e-3)), halved);
    assert_eq!(stepper.energy_outcome(&retry, gain(0.9e-3)), SubstepOutcome::Accepted);
    assert_eq!(stepper.energy_outcome(&once, gain(1.1e-2)), SubstepOutcome::Depenetrate);
    assert_eq!(stepper.energy_outcome(&once, gain(0.9e-2)), SubstepOutcome::Accepted);
    assert_eq!(stepper.energy_outcome(&free, gain(1.0)), SubstepOutcome::Accepted);
    stepper.substep.energy = SubstepEnergy::of_joints(1.1e-4 * 2.0, 2.0);
    let given = SubstepOutcome::JointEnergy { gained: 1.1e-4 * 2.0 };
    assert_eq!(stepper.energy_outcome(&shorten, gain(0.0)), shortened);
    assert_eq!(stepper.energy_outcome(&once, gain(0.0)), given);
    // What joints gave is not separated like bodies that overlap.
    assert_eq!(stepper.energy_outcome(&once, gain(1.0)), given);
    assert_eq!(stepper.energy_outcome(&free, gain(0.0)), SubstepOutcome::Accepted);
    // What they take is an error of the scheme: shorter where that can be, and else taken.
    stepper.substep.energy = SubstepEnergy::of_joints(-1.1e-4 * 2.0, 2.0);
    assert_eq!(stepper.energy_outcome(&shorten, gain(0.0)), shortened);
    assert_eq!(stepper.energy_outcome(&once, gain(0.0)), SubstepOutcome::Accepted);
}

#[test]
fn a_limit_that_is_passed_by_ends_the_substep_at_its_moment() {
    let limits = ActionKind::Limits { lower: f64::NEG_INFINITY, upper: 1.0, restitution: 1.0 };
    let mut stepper = stepper_of(slider(limits, 0.5, 2.0), StepOptions::default());
    let passing = SubstepPlan { limits: LimitRule::PassBy, ..plan(1.0) };
    let outcome = stepper.substep(&passing, &mut StepReport::solved()).unwrap();
    // Half a metre at 2 m/s.
    let SubstepOutcome::EndAtLimit { length } = outcome else { panic!("{outcome:?}") };
    assert!((length - 0.25).abs() < 1e-9, "{length}");
}

#[test]
fn a_touch_in_a_substep_below_the_shortest_one_does_not_make_it_longer() {
    let ended = PositionsEnd { all_solved: true, joints_closed: true, touch: Some(1e-11) };
    let shorter = plan(0.25 * SHORTEST_SUBSTEP);
    let length = 0.25 * SHORTEST_SUBSTEP;
    assert_eq!(ended.outcome(&shorter, false), Some(SubstepOutcome::EndAtTouch { length }));
    assert_eq!(
        ended.outcome(&plan(1e-3), false),
        Some(SubstepOutcome::EndAtTouch { length: SHORTEST_SUBSTEP })
    );
}
