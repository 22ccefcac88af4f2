//! Tests of the velocity solve.

use super::super::linearization::Linearization;
use super::super::model::Model;
use super::super::model::fixtures::*;
use super::super::options::StepOptions;
use super::*;
use crate::world::{ActionKind, Surface};
use glam::DVec3;

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
