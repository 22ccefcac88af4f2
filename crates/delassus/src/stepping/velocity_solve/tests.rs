//! Tests of the velocity solve.

use super::super::linearization::Linearization;
use super::super::model::Model;
use super::super::model::fixtures::*;
use super::super::options::{Coordinates, StepOptions};
use super::super::test_worlds::on_a_floor;
use super::other_motion::FoundMotion;
use super::*;
use crate::world::{ActionKind, BodyState, FIXED_SLOT, Pose, ShapeKind, Surface};
use delassus_solve::linalg::Sparse;
use delassus_solve::problem::Form;
use glam::{DQuat, DVec3};

pub(super) fn input<'a>(
    model: &'a Model,
    linearization: &'a Linearization,
    targets: &'a RowTargets,
    duration: f64,
) -> SolveInput<'a> {
    SolveInput {
        masses: &model.masses,
        rows: linearization.joint_rows(),
        contacts: linearization.contact_rows(),
        tree: linearization.tree(),
        targets,
        duration,
        fall: 0.0,
        at_rest: false,
        stress: &[],
        goal: Goal::Any,
        options: ContactOptions { tolerance: 1e-12, ..ContactOptions::default() },
    }
}

fn zeros(linearization: &Linearization) -> Impulses {
    Impulses {
        rows: vec![0.0; linearization.joint_rows().rows.len()],
        contacts: vec![[0.0; MAX_CONTACT_ROWS]; linearization.contacts().len()],
    }
}

#[test]
fn a_ball_that_slides_into_the_floor_gets_the_impulse_of_coulombs_law() {
    let surface = Surface { mu: 0.25, ..smooth() };
    let (world, mut state) = ball_on_floor(surface, 0.0, DVec3::ZERO);
    let (model, linearization) = linearized(world, &mut state, StepOptions::default(), 1e-3);
    let targets = RowTargets { joints: vec![], normal_bias: vec![Some(0.0)], slip_bias: vec![] };
    let mut impulses = zeros(&linearization);
    let mut v = vec![3.0, 0.0, -1.0, 0.0, 0.0, 0.0];
    let mut solver = VelocitySolver::default();
    let outcome =
        solver.solve(&input(&model, &linearization, &targets, 1e-3), &mut impulses, &mut v).unwrap();
    assert_eq!(outcome.status, Status::Solved);
    // r_n = m u_n stops the fall. Sliding at 3 m/s, friction is μ r_n: it would take m u_t/(1 + m ρ²/I) =
    // 6/3.5 N s to stop the point of contact, and there are 0.5.
    let (normal, friction) = (MASS * 1.0, 0.25 * MASS);
    assert!((impulses.contacts[0][0] - normal).abs() < 1e-10, "{:?}", impulses.contacts);
    assert!((impulses.contacts[0][1].hypot(impulses.contacts[0][2]) - friction).abs() < 1e-10);
    let expected = [3.0 - friction / MASS, 0.0, 0.0, 0.0, friction * RADIUS / INERTIA, 0.0];
    // The residual is below 1e-12 in the units of impulses of a few N s, over the smallest inertia 0.05.
    assert!(v.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{v:?} for {expected:?}");
}

#[test]
fn a_contact_that_is_left_out_gets_no_impulse() {
    let (world, mut state) = ball_on_floor(smooth(), 0.0, DVec3::ZERO);
    let (model, linearization) = linearized(world, &mut state, StepOptions::default(), 1e-3);
    let targets = RowTargets { joints: vec![], normal_bias: vec![None], slip_bias: vec![] };
    let (mut impulses, mut v) = (zeros(&linearization), vec![0.0, 0.0, -1.0, 0.0, 0.0, 0.0]);
    let mut solver = VelocitySolver::default();
    let outcome =
        solver.solve(&input(&model, &linearization, &targets, 1e-3), &mut impulses, &mut v).unwrap();
    assert_eq!((outcome.status, outcome.iterations), (Status::Solved, 0));
    assert_eq!((v[2], impulses.contacts[0][0]), (-1.0, 0.0));
    // Nor does it keep that of the solve before.
    impulses.contacts[0] = [3.0; MAX_CONTACT_ROWS];
    solver.solve(&input(&model, &linearization, &targets, 1e-3), &mut impulses, &mut v).unwrap();
    assert_eq!((v[2], impulses.contacts[0]), (-1.0, [0.0; MAX_CONTACT_ROWS]));
}

/// Velocity along the guide, and impulses, of a ball with one action after one solve from this velocity.
fn slide(kind: ActionKind, target: RowTarget, velocity: f64, duration: f64) -> (f64, Impulses) {
    let (world, mut state) = slider(kind, 0.5, velocity);
    let (model, linearization) = linearized(world, &mut state, StepOptions::default(), duration);
    let bilateral = linearization.joint_rows().bilateral;
    let mut joints = vec![RowTarget::Velocity { bias: 0.0 }; bilateral];
    joints.push(target);
    let targets = RowTargets { joints, ..RowTargets::default() };
    let (mut impulses, mut v) = (zeros(&linearization), vec![0.0, 0.0, velocity, 0.0, 0.0, 0.0]);
    let mut solver = VelocitySolver::default();
    let outcome =
        solver.solve(&input(&model, &linearization, &targets, duration), &mut impulses, &mut v).unwrap();
    assert_eq!(outcome.status, Status::Solved);
    (v[2], impulses)
}

#[test]
fn a_motor_reaches_its_speed_or_its_bound() {
    let motor = |force: f64| ActionKind::Speed { target: formula("3"), force };
    let target = RowTarget::Velocity { bias: -3.0 };
    let (u, strong) = slide(motor(1e3), target, 1.0, 0.01);
    assert!((u - 3.0).abs() < 1e-12 && (strong.rows.last().unwrap() - MASS * 2.0).abs() < 1e-12);
    // 50 N for 0.01 s give 2 kg a quarter of a metre per second.
    let (u, weak) = slide(motor(50.0), target, 1.0, 0.01);
    assert!((u - 1.25).abs() < 1e-12 && (weak.rows.last().unwrap() - 0.5).abs() < 1e-12, "{u}");
}

#[test]
fn forged_ends_of_rows_that_are_no_unknowns_are_seen() {
    // A motor of 50 N that cannot reach 3 m/s from 1 m/s: it ends at its bound.
    let kind = ActionKind::Speed { target: formula("3"), force: 50.0 };
    let (world, mut state) = slider(kind, 0.5, 1.0);
    let (model, linearization) = linearized(world, &mut state, StepOptions::default(), 0.01);
    let mut joints = vec![RowTarget::Velocity { bias: 0.0 }; linearization.joint_rows().bilateral];
    joints.push(RowTarget::Velocity { bias: -3.0 });
    let motor = joints.len() - 1;
    let targets = RowTargets { joints, ..RowTargets::default() };
    let input = input(&model, &linearization, &targets, 0.01);
    let before = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
    let (mut impulses, mut v) = (zeros(&linearization), before.to_vec());
    VelocitySolver::default().solve(&input, &mut impulses, &mut v).unwrap();
    let residual = |impulses: &Impulses, velocity: &[f64]| {
        let end = RowsEnd { input: &input, impulses, before: &before, velocity, loads: &impulses.rows };
        RowCheck::default().residual(&end)
    };
    assert!(residual(&impulses, &v) < 1e-14);
    // Velocities without their impulses, and a sum that is no number.
    let mut forged = v.clone();
    forged[2] += 1e-6;
    assert!(residual(&impulses, &forged) > 1e-7);
    forged[2] = f64::NAN;
    assert_eq!(residual(&impulses, &forged), f64::INFINITY);
    // Consistent impulses and velocities, beyond the bound or short of it: 1e-6 N s of 0.5 and of 2 kg.
    for change in [1e-6, -1e-6] {
        let mut forged = impulses.clone();
        forged.rows[motor] += change;
        let along = [v[0], v[1], v[2] + change / MASS, v[3], v[4], v[5]];
        assert!(residual(&forged, &along) > 1e-8, "{change}");
    }
}

#[test]
fn a_compliant_row_gives_way_in_proportion_to_its_impulse() {
    let spring = ActionKind::Spring { stiffness: 1.0, damping: 1.0, rest: 0.0 };
    // u + b + c r = 0 and u = u₀ + r/m: r = −(u₀ + b)/(c + 1/m).
    let target = RowTarget::Compliant { bias: 0.5, compliance: 0.25 };
    let (u, impulses) = slide(spring.clone(), target, 1.0, 0.01);
    let r = -(1.0 + 0.5) / (0.25 + 1.0 / MASS);
    assert!((impulses.rows.last().unwrap() - r).abs() < 1e-12 && (u - (1.0 + r / MASS)).abs() < 1e-12);
    // A given impulse is given.
    let (u, impulses) = slide(spring, RowTarget::Impulse(0.75), 1.0, 0.01);
    assert_eq!(*impulses.rows.last().unwrap(), 0.75);
    // Rounding of the root of the mass.
    assert!((u - (1.0 + 0.75 / MASS)).abs() < 1e-15, "{u}");
}

/// Two rows that carry the same load together.
fn shared_load() -> ContactProblem {
    let form = Form::Global {
        mass: Sparse::from_triplets(1, 1, &[(0, 0, 2.0)]),
        jacobian_transposed: Sparse::from_triplets(1, 2, &[(0, 0, 1.0), (0, 1, 1.0)]),
        force: vec![-3.0],
        bias: vec![0.0; 2],
    };
    ContactProblem { laws: vec![Law::Unilateral; 2], form }
}

#[test]
fn of_several_impulses_the_canonical_ones_are_least_and_those_nearby_stay() {
    let problem = shared_load();
    let options = ContactOptions { tolerance: 1e-10, ..ContactOptions::default() };
    // r₁ + r₂ = 3 stops what comes; what W does not determine is found to 1e-9 of it (`canonical.rs`).
    for (start, expected) in [([0.0, 0.0], [1.5, 1.5]), ([3.0, 0.0], [3.0, 0.0])] {
        let mut solution = Solution { impulse: start.to_vec(), ..Solution::default() };
        let outcome = solve_proximal(&problem, &options, PROXIMAL_RATIO, &mut solution).unwrap();
        assert_eq!(outcome.status, Status::Solved);
        let error = solution.impulse.iter().zip(expected).map(|(r, e)| (r - e).abs()).fold(0.0, f64::max);
        assert!(error < 1e-8, "{:?} for {expected:?}", solution.impulse);
    }
}

#[test]
fn impulses_of_least_norm_share_the_weight_of_a_box_equally() {
    let kind = ShapeKind::Box { half_extents: DVec3::splat(0.1) };
    let (world, mut state) = on_a_floor(kind, 0.1, [0.5, 0.0]);
    let (model, on) = linearized(world, &mut state, StepOptions::default(), 1e-3);
    let targets = RowTargets { joints: vec![], normal_bias: vec![Some(0.0); 4], slip_bias: vec![] };
    let (weight, before) = (9.81e-3, [0.0, 0.0, -9.81e-3, 0.0, 0.0, 0.0]);
    // Two corners across from each other carry all of it to begin with: a solution, but not the least.
    let far = |a: &DVec3, b: &DVec3| a.distance(*b) > 0.25;
    let corners: Vec<DVec3> = on.contacts().iter().map(|c| c.point).collect();
    let across: Vec<bool> = corners.iter().map(|c| *c == corners[0] || far(c, &corners[0])).collect();
    assert_eq!(across.iter().filter(|x| **x).count(), 2);
    let start = || {
        let normal = |i: usize| if across[i] { 0.5 * weight } else { 0.0 };
        let contacts = (0..4).map(|i| [normal(i), 0.0, 0.0, 0.0, 0.0, 0.0]).collect();
        Impulses { rows: vec![], contacts }
    };
    for (minimum_norm, shares) in [(false, None), (true, Some(0.25))] {
        let mut input = input(&model, &on, &targets, 1e-3);
        input.options.minimum_norm = minimum_norm;
        let (mut impulses, mut v) = (start(), before.to_vec());
        let outcome = VelocitySolver::default().solve(&input, &mut impulses, &mut v).unwrap();
        assert_eq!(outcome.status, Status::Solved);
        for (i, r) in impulses.contacts.iter().enumerate() {
            let share = shares.unwrap_or(if across[i] { 0.5 } else { 0.0 });
            // Norms are compared to 1e-7, which is second order in the impulses.
            assert!((r[0] - share * weight).abs() < 1e-3 * weight, "{minimum_norm} {i}: {r:?}");
            assert!(r[1].hypot(r[2]) < 1e-3 * weight);
        }
    }
}

/// A ball between two walls that it just touches, and velocities of half a kick.
fn between_walls() -> (Model, Linearization) {
    let surface = Surface { mu: 1.0, ..smooth() };
    let (mut world, mut state) = ball_on_floor(surface, 0.0, DVec3::ZERO);
    world.bodies.push(world.bodies[0].clone());
    for (wall, side) in [(0, -1.0), (2, 1.0)] {
        let position = side * RADIUS * DVec3::X;
        let rotation = DQuat::from_rotation_arc(DVec3::Z, -side * DVec3::X);
        let there = BodyState { pose: Pose { position, rotation }, ..state.bodies[0] };
        match wall {
            0 => state.bodies[0] = there,
            _ => state.bodies.push(there),
        }
    }
    state.bodies[1].pose.position = DVec3::ZERO;
    linearized(world, &mut state, StepOptions::default(), 1e-3)
}

#[test]
fn a_ball_that_walls_squeeze_may_also_fall_and_one_on_a_floor_may_not() {
    let (model, on) = between_walls();
    assert_eq!(on.contacts().len(), 2);
    let targets = RowTargets { joints: vec![], normal_bias: vec![Some(0.0); 2], slip_bias: vec![] };
    let fall = [0.0, 0.0, -1e-2, 0.0, 0.0, 0.0];
    // Each wall presses with twice the friction that it needs to carry half of the weight.
    let carried = 0.5 * MASS * 1e-2;
    let contacts = on.contact_rows().iter().map(|rows| {
        let upwards = rows.tangents.map(|t| t.z.signum() * t.z.abs().round());
        let side = if rows.slots[0] == FIXED_SLOT { 1.0 } else { -1.0 };
        let [a, b] = upwards.map(|t| side * carried * t);
        [2.0 * carried, a, b, 0.0, 0.0, 0.0]
    });
    let held = Impulses { rows: vec![], contacts: contacts.collect() };
    let mut rest = fall.to_vec();
    for (rows, r) in on.contact_rows().iter().zip(&held.contacts) {
        rows.apply_impulse(&r[..3], &model.masses.inverse, &mut rest);
    }
    assert!(rest.iter().all(|v| v.abs() < 1e-15), "{rest:?}");
    let input_of_walls = input(&model, &on, &targets, 1e-3);
    let found = FoundMotion { input: &input_of_walls, before: &fall, velocity: &rest, impulses: &held };
    let other = found.search(&mut VelocitySolver::default()).unwrap().unwrap();
    assert!(other.iter().zip(fall).all(|(a, b)| (a - b).abs() < 1e-12), "{other:?}");
    let (world, mut state) = ball_on_floor(Surface { mu: 1.0, ..smooth() }, 0.0, DVec3::ZERO);
    let (model, on) = linearized(world, &mut state, StepOptions::default(), 1e-3);
    let targets = RowTargets { joints: vec![], normal_bias: vec![Some(0.0)], slip_bias: vec![] };
    let carried = Impulses { rows: vec![], contacts: vec![[MASS * 1e-2, 0.0, 0.0, 0.0, 0.0, 0.0]] };
    let input = input(&model, &on, &targets, 1e-3);
    let found = FoundMotion { input: &input, before: &fall, velocity: &[0.0; 6], impulses: &carried };
    assert!(found.search(&mut VelocitySolver::default()).unwrap().is_none());
}

#[test]
fn in_reduced_coordinates_a_guide_leaves_its_motion_and_takes_the_rest_by_impulses() {
    let spring = ActionKind::Spring { stiffness: 0.0, damping: 0.0, rest: 0.0 };
    let before = [0.5, -1.0, 2.0, 0.25, -0.75, 1.5];
    for coordinates in [Coordinates::Reduced, Coordinates::Maximal] {
        let (world, mut state) = slider(spring.clone(), 0.5, 0.0);
        let options = StepOptions { coordinates, ..StepOptions::default() };
        let (model, on) = linearized(world, &mut state, options, 1e-3);
        assert_eq!(on.tree().is_some(), coordinates == Coordinates::Reduced);
        let mut joints = vec![RowTarget::Velocity { bias: 0.0 }; on.joint_rows().bilateral];
        joints.resize(on.joint_rows().rows.len(), RowTarget::LeftOut);
        let targets = RowTargets { joints, ..RowTargets::default() };
        let (mut impulses, mut v) = (zeros(&on), before.to_vec());
        let outcome = VelocitySolver::default()
            .solve(&input(&model, &on, &targets, 1e-3), &mut impulses, &mut v)
            .unwrap();
        assert_eq!(outcome.status, Status::Solved);
        assert!(v.iter().zip([0.0, 0.0, 2.0, 0.0, 0.0, 0.0]).all(|(a, b)| (a - b).abs() < 1e-14), "{v:?}");
        let mut sum = before.to_vec();
        for (i, r) in impulses.rows.iter().enumerate() {
            apply_row_impulse(on.joint_rows(), i, *r, &model.masses, &mut sum);
        }
        assert!(sum.iter().zip(&v).all(|(a, b)| (a - b).abs() < 1e-14), "{sum:?}");
    }
}
