//! The steps of a ball: its clock, its options, its rebounds.

use super::model::fixtures::*;
use super::*;

/// A ball at rest on the floor after ten steps of 1 ms.
fn resting_ball() -> Stepper {
    let (world, state) = ball_on_floor(smooth(), 0.0, DVec3::ZERO);
    let mut stepper = Stepper::new(world, state, StepOptions::default()).unwrap();
    (0..10).for_each(|_| assert_eq!(stepper.step().unwrap().status, Status::Solved));
    stepper
}

fn weight(stepper: &Stepper) -> f64 {
    stepper.contact_forces().map(|(_, normal, _)| normal).sum()
}

#[test]
fn a_change_of_dt_moves_neither_the_clock_nor_the_forces() {
    let mut stepper = resting_ball();
    assert_eq!(stepper.state().t, 10.0 * 1e-3);
    // m g = 20 N, to the tolerance of a solve.
    assert!((weight(&stepper) - 20.0).abs() < 1e-8, "{}", weight(&stepper));
    stepper.set_dt(2e-3).unwrap();
    assert_eq!((stepper.state().t, stepper.options().dt), (10.0 * 1e-3, 2e-3));
    assert!((weight(&stepper) - 20.0).abs() < 1e-8, "{}", weight(&stepper));
    for n in 1..=5 {
        stepper.step().unwrap();
        assert_eq!(stepper.state().t, 10.0 * 1e-3 + f64::from(n) * 2e-3);
        assert!((weight(&stepper) - 20.0).abs() < 1e-8, "{}", weight(&stepper));
    }
}

#[test]
fn other_options_change_from_now_on_and_bad_ones_change_nothing() {
    let mut stepper = resting_ball();
    for dt in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(stepper.set_dt(dt).is_err());
    }
    let bad = StepOptions { tolerance: -1.0, dt: 5e-3, ..*stepper.options() };
    assert!(stepper.set_options(bad).is_err());
    assert_eq!(*stepper.options(), StepOptions::default());
    let other = StepOptions { scheme: Scheme::HalfImplicit, dt: 4e-3, ..StepOptions::default() };
    stepper.set_options(other).unwrap();
    stepper.step().unwrap();
    assert_eq!((*stepper.options(), stepper.state().t), (other, 10.0 * 1e-3 + 4e-3));
    assert!((weight(&stepper) - 20.0).abs() < 1e-8, "{}", weight(&stepper));
}

#[test]
fn a_fall_is_a_parabola_and_a_rebound_comes_at_its_moment() {
    let bouncy = crate::world::Surface { restitution: 1.0, ..smooth() };
    let (world, state) = ball_on_floor(bouncy, 0.2, DVec3::ZERO);
    let mut stepper = Stepper::new(world, state, StepOptions { dt: 0.03, ..Default::default() }).unwrap();
    let mut impacts = 0;
    // The floor is reached after √(2·0.2/10) = 0.2 s at 2 m/s, and the height again after 0.4 s.
    for _ in 0..14 {
        impacts += stepper.step().unwrap().impacts;
    }
    let (t, ball) = (0.42 - 0.4, &stepper.state().bodies[1]);
    let expected = RADIUS + 0.2 - 5.0 * t * t;
    assert_eq!(impacts, 1);
    // The moment is found to the size of a gap that counts as touching, 1e-7 m, at 2 m/s.
    assert!((ball.pose.position.z - expected).abs() < 1e-6, "{} {expected}", ball.pose.position.z);
}
