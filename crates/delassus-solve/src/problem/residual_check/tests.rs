//! Tests of `residual_check`.

use proptest::prelude::*;

use super::*;
use crate::contact::{ContactOptions, solve};
use crate::linalg::Matrix;
use crate::problem::contact_problem::tests::{dense_global, shuffled_mass};
use crate::problem::{ContactView, Status, residual, settle, sphere_pile};

fn checked(problem: &ContactProblem, impulse: &[f64]) -> (RelativeResidual, Vec<f64>) {
    let (mut check, mut velocity) = (ResidualCheck::default(), vec![]);
    check.load(problem);
    (check.residual(problem, impulse, &mut velocity), velocity)
}

fn global(mass: &Matrix, h: &Matrix, force: &[f64], bias: &[f64], laws: Vec<Law>) -> ContactProblem {
    dense_global(mass, h, force, bias, laws).unwrap()
}

#[test]
fn the_velocity_of_two_balls_between_walls() {
    // Masses 2 and 4; contacts wall–1, 1–2, 2–wall along one line, and a third body that touches nothing.
    let mass = Matrix::diagonal(&[2.0, 4.0, 1.0]);
    let h = Matrix::from_rows(&[[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [0.0, 0.0, 0.0]]);
    let p = global(&mass, &h, &[2.0, -8.0, 5.0], &[0.5, 0.0, 0.0], vec![Law::Unilateral; 3]);
    // r = (0, 2, 0): v = (0, −3/2, 5).
    let (found, u) = checked(&p, &[0.0, 2.0, 0.0]);
    assert_eq!(u, [0.5, -1.5, 1.5]);
    // ρ = (2, 4/3, 4), q = (1.5, −3, 2): F = (0, −2, 0), ‖ρ q‖² = 9 + 16 + 64.
    assert!((found.relative - 2.0 / 89f64.sqrt()).abs() <= 1e-15);
    assert!((found.rounding - 2.0 * f64::EPSILON / 89f64.sqrt()).abs() <= 1e-30);
    // The same numbers from W, and the violation in units.
    let (w, q) = p.local().unwrap();
    let formed = residual(&ContactView::new(&w, &q, &p.laws).unwrap(), &[0.0, 2.0, 0.0]);
    assert!((formed.relative - found.relative).abs() <= 1e-15);
    assert_eq!(formed.velocity, 1.5);
}

#[test]
fn what_rounding_leaves_of_a_free_velocity_is_no_error() {
    // Two bodies of masses 1 and 3 fall with 0.1 m/s and are held together: q is 0, or what 0.3/3 − 0.1
    // leaves.
    let mass = Matrix::diagonal(&[1.0, 3.0]);
    let h = Matrix::from_rows(&[[1.0], [-1.0]]);
    let p = global(&mass, &h, &[0.1, 0.3], &[2e-17], vec![Law::Bilateral]);
    assert_eq!(checked(&p, &[0.0]).0.relative, 0.0);
    // Anything larger counts, relative to the actual q.
    assert!(checked(&p, &[1e-15]).0.relative > 1.0);
    // If q is given directly, it is taken as exact.
    let (delassus, free_velocity) = p.local().unwrap();
    let given = ContactProblem::new(p.laws.clone(), Form::Local { delassus, free_velocity }).unwrap();
    assert!((checked(&given, &[0.0]).0.relative - 1.0).abs() <= 2.0 * f64::EPSILON);
}

#[test]
fn bilateral_constraints_may_carry_what_hides_their_free_velocity() {
    // A body of mass 1e-12 between the ground and one of mass 1 that pulls: W r is 1e12 times q.
    let mass = Matrix::diagonal(&[1e-12, 1.0]);
    let h = Matrix::from_rows(&[[1.0, -1.0], [0.0, 1.0]]);
    let p = global(&mass, &h, &[0.0, 0.7], &[0.0; 2], vec![Law::Bilateral; 2]);
    let (mut check, mut u) = (ResidualCheck::default(), vec![]);
    check.load(&p);
    // The rounding of r alone, 1e-16 of it, moves the light body by more than the tolerance.
    let r = [-0.7 * (1.0 + f64::EPSILON), -0.7];
    assert!(check.residual(&p, &r, &mut u).relative > 1e-6);
    assert_eq!(check.bilateral_residual(&p, &r, &mut u).relative, 0.0);
    assert!(check.bilateral_residual(&p, &[-0.7, -0.7001], &mut u).relative > 1e-6);
}

#[test]
fn a_problem_without_bodies_is_checked_too() {
    let p = global(&Matrix::zeros(0, 0), &Matrix::zeros(0, 0), &[], &[], vec![]);
    assert_eq!(checked(&p, &[]).0.relative, 0.0);
    let p = global(&Matrix::zeros(0, 0), &Matrix::zeros(0, 1), &[], &[-1.0], vec![Law::Unilateral]);
    assert!(checked(&p, &[0.0]).0.relative >= 1.0);
}

#[test]
fn what_cancels_along_a_tangent_excuses_nothing_along_the_normal() {
    let laws = vec![Law::Coulomb { mu: 0.5 }];
    let unit = Matrix::identity(3);
    let p = global(&unit, &unit, &[-2e-6, 1e9, 0.0], &[0.0, -1e9, 0.0], laws);
    assert!(checked(&p, &[0.0; 3]).0.relative >= 1.0);
    assert!(checked(&p, &[2e-6, 0.0, 0.0]).0.relative < 1e-6);
}

#[test]
fn only_bilateral_constraints_may_be_checked_as_such() {
    let p = global(&Matrix::identity(1), &Matrix::identity(1), &[1.0], &[0.0], vec![Law::Unilateral]);
    let (mut check, mut u) = (ResidualCheck::default(), vec![]);
    check.load(&p);
    assert_eq!(check.bilateral_residual(&p, &[0.0], &mut u), RelativeResidual::INFINITE);
}

#[test]
fn what_was_loaded_before_does_not_matter() {
    let (small, large) = (sphere_pile(2, 0.5).unwrap(), sphere_pile(3, 0.5).unwrap());
    let mut check = ResidualCheck::default();
    let mut u = vec![];
    for pile in [&small, &large, &large, &small] {
        check.load(pile);
        let r: Vec<f64> = (0..pile.rows()).map(|i| 1e-3 * (i as f64).sin()).collect();
        assert_eq!((check.residual(pile, &r, &mut u), u.clone()), checked(pile, &r));
    }
}

#[test]
fn perturbed_impulses_are_refused() {
    let pile = sphere_pile(3, 0.5).unwrap();
    let (w, q) = pile.local().unwrap();
    let form = Form::Local { delassus: w, free_velocity: q };
    let local = ContactProblem::new(pile.laws.clone(), form).unwrap();
    let options = ContactOptions { tolerance: 1e-9, ..Default::default() };
    for problem in [&pile, &local] {
        let found = solve(problem, &options, None).unwrap();
        assert_eq!(found.status, Status::Solved);
        let (check, velocity) = checked(problem, &found.impulse);
        assert_eq!((check.relative, &velocity), (found.residual, &found.velocity));
        // One impulse changed by a millionth of the largest moves its contact by as much, a thousand
        // times the tolerance.
        let largest = crate::linalg::max_abs(&found.impulse);
        for k in [0, 7, problem.rows() - 1] {
            let mut forged = found.impulse.clone();
            forged[k] += 1e-6 * largest;
            let refused = checked(problem, &forged).0.relative;
            assert_eq!(settle(refused, Status::Solved, options.tolerance), Status::Stalled, "{k} {refused}");
        }
        let mut none = found.impulse.clone();
        none[0] = f64::NAN;
        assert_eq!(checked(problem, &none).0, RelativeResidual::INFINITE);
        assert_eq!(checked(problem, &none[1..]).0, RelativeResidual::INFINITE);
    }
}

#[test]
fn a_singular_mass_has_an_infinite_residual() {
    let mass = Matrix::from_rows(&[[1.0, 1.0], [1.0, 1.0]]);
    let p = global(&mass, &Matrix::identity(2), &[1.0, 0.0], &[0.0; 2], vec![Law::Unilateral; 2]);
    assert_eq!(checked(&p, &[0.0, 0.0]).0, RelativeResidual::INFINITE);
}

#[test]
fn units_do_not_count() {
    // Numbers whose squares are lost, by powers of two: the same bits.
    let q = [-1.0, 0.25, 0.125];
    let w = Matrix::from_rows(&[[2.0, 0.3, 0.1], [0.3, 1.0, 0.0], [0.1, 0.0, 1.5]]);
    let f = [0.5, 0.1, -0.05];
    let of = |mass: f64, speed: f64| {
        let w = Matrix::from_fn(3, 3, |i, j| mass * w[(i, j)]);
        let q = q.map(|x| speed * x);
        let form = Form::Local { delassus: Sparse::from_dense(&w), free_velocity: q.to_vec() };
        let p = ContactProblem::new(vec![Law::Coulomb { mu: 0.3 }], form).unwrap();
        checked(&p, &f.map(|x| x * speed / mass)).0.relative
    };
    let one = of(1.0, 1.0);
    assert!(one > 1e-3);
    for (mass, speed) in [(2f64.powi(600), 1.0), (1.0, 2f64.powi(-700)), (2f64.powi(-300), 2f64.powi(600))] {
        assert_eq!(of(mass, speed), one);
    }
}

proptest! {
    /// The same residual with W formed.
    #[test]
    fn agrees_with_the_delassus_matrix(
        mass in shuffled_mass(),
        h in prop::collection::vec(prop_oneof![Just(0.0), -2.0f64..2.0], 36),
        v in prop::collection::vec(-3.0f64..3.0, 18),
    ) {
        let h = Matrix::from_vec(6, 6, h);
        let laws = vec![Law::Coulomb { mu: 0.4 }, Law::CoulombPlane { mu: 0.2 }, Law::Unilateral];
        let p = global(&mass, &h, &v[..6], &v[6..12], laws);
        let (w, q) = p.local().unwrap();
        let expected = residual(&ContactView::new(&w, &q, &p.laws).unwrap(), &v[12..]);
        let (found, u) = checked(&p, &v[12..]);
        let size = 1.0 + crate::linalg::max_abs(&u);
        for (u, (wf, q)) in u.iter().zip(w.mul_vec(&v[12..]).iter().zip(&q)) {
            prop_assert!((u - wf - q).abs() <= 1e-12 * size);
        }
        prop_assert!((found.relative - expected.relative).abs() <= 1e-11 * (1.0 + expected.relative));
    }
}
