//! Steps whose length follows from their error.

use delassus::stepping::{Scheme, StepControl, StepOptions, Stepper, controlled_step};
use delassus::world::WorldState;

use crate::support::texts::PENDULUM;
use crate::support::worlds::world;

fn control(tolerance: f64, longest: f64, halvings: u32) -> StepControl {
    StepControl { tolerance, longest, halvings, level: 0, start: 0.0, ticks: 0 }
}

/// The state at a time, with the solves and the rejected steps that it took.
fn run(text: &str, scheme: Scheme, mut control: StepControl, time: f64) -> (WorldState, usize, u64) {
    let (world, state) = world(text);
    let options = StepOptions { dt: control.longest, scheme, ..StepOptions::default() };
    let mut stepper = Stepper::new(&world, state, options).unwrap();
    let (mut solves, mut rejected) = (0, 0);
    while control.time() < time - 1e-12 {
        let step = controlled_step(&mut stepper, &mut control).unwrap();
        assert!(!step.within || step.error <= control.tolerance, "{step:?}");
        assert_eq!(stepper.state().t, control.time());
        (solves, rejected) = (solves + step.report.solves, rejected + step.rejected);
    }
    assert_eq!(control.time(), time, "multiples of the longest step are hit");
    (stepper.state().clone(), solves, rejected)
}

/// The angle of the pendulum: θ̈ = g cos θ / 1.1 by Runge and Kutta in steps of 10⁻⁴ s, whose error is far
/// below 10⁻¹⁰.
fn angle(time: f64) -> f64 {
    let f = |[a, w]: [f64; 2]| [w, 9.81 * f64::cos(a) / 1.1];
    let h = 1e-4;
    let mut y = [0.0, 0.0];
    for _ in 0..(time / h).round() as usize {
        let at = |k: [f64; 2], s: f64| [y[0] + s * k[0], y[1] + s * k[1]];
        let k1 = f(y);
        let k2 = f(at(k1, 0.5 * h));
        let k3 = f(at(k2, 0.5 * h));
        let k4 = f(at(k3, h));
        y = [0, 1].map(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    y[0]
}

#[test]
fn the_error_of_a_pendulum_follows_the_tolerance() {
    let exact = angle(2.0);
    let asked =
        [(Scheme::Symmetric, [1e-4, 1e-5, 1e-6], 10.0), (Scheme::HalfImplicit, [1e-3, 1e-4, 1e-5], 3.0)];
    for (scheme, tolerances, gain) in asked {
        let errors = tolerances.map(|tolerance| {
            let (state, ..) = run(PENDULUM, scheme, control(tolerance, 0.1, 16), 2.0);
            let at = state.bodies[0].pose.position;
            let off = f64::atan2(-at.z, at.x) - exact;
            off.sin().abs()
        });
        // Steps of h have tolerance ~ h^(p+1) and the motion an error ~ hᵖ: a hundredth of the tolerance is a
        // 20th and a 10th of the error, but for lengths that are powers of two.
        assert!(errors[2] < errors[0] / gain, "{scheme:?}: {errors:?}");
        assert!(errors[1] < errors[0] && errors[2] < errors[1], "{scheme:?}: {errors:?}");
    }
}

#[test]
fn a_block_slides_to_its_stop_as_exactly_as_asked() {
    let text = "[world]\n[[body]]\nname = \"ground\"\nfixed = true\n[[body.shape]]\ntype = \"plane\"\n[[body]]\nname = \"block\"\n\
                mass = 1\nposition = [0, 0, 0.05]\nvelocity = [2, 0, 0]\n[[body.shape]]\ntype = \"box\"\n\
                half_extents = [0.1, 0.1, 0.05]\n[[friction]]\nbetween = [\"*\", \"*\"]\nmu = 0.3\n";
    let exact = 4.0 / (2.0 * 0.3 * 9.81);
    for tolerance in [1e-4, 1e-5, 1e-6] {
        let (state, _, rejected) = run(text, Scheme::Symmetric, control(tolerance, 0.1, 14), 1.0);
        let error = (state.bodies[1].pose.position.x - exact).abs();
        // One step has the stop in it, and those before are exact.
        assert!(error < 4.0 * tolerance, "{tolerance:e}: {error:e}");
        assert!(rejected > 0 && state.bodies[1].velocity.length() < 1e-9, "{tolerance:e}");
    }
}

/// A mass on a spring that swings with 100 rad/s and dies out with e^(−10 t).
const SPRING: &str = "[world]\ngravity = [0, 0, 0]\n[[body]]\nname = \"block\"\nmass = 1\ninertia = [1, 1, 1]\n\
    velocity = [10, 0, 0]\n[[joint]]\nname = \"slide\"\ntype = \"prismatic\"\nbodies = [\"world\", \"block\"]\nanchor = [0, 0, 0]\n\
    axis = [1, 0, 0]\nspring = { stiffness = 10100, damping = 20, rest = 0 }\n";

#[test]
fn a_long_calm_after_a_fast_begin_costs_little() {
    let exact = |t: f64| 0.1 * f64::exp(-10.0 * t) * f64::sin(100.0 * t);
    let (world, state) = world(SPRING);
    let (longest, time) = (0.1, 20.0);
    // The largest error at multiples of 0.1 s, and the solves.
    let mut control = control(1e-6, longest, 14);
    let mut stepper =
        Stepper::new(&world, state.clone(), StepOptions { dt: longest, ..StepOptions::default() }).unwrap();
    let (mut solves, mut error) = (0, 0.0_f64);
    while control.time() < time - 1e-12 {
        solves += controlled_step(&mut stepper, &mut control).unwrap().report.solves;
        if control.whole_steps().is_some() {
            error = error.max((stepper.state().bodies[0].pose.position.x - exact(control.time())).abs());
        }
    }
    // Steps of one length with as many solves.
    let per = (solves as f64 / (2.0 * time / longest)).ceil();
    let mut fixed =
        Stepper::new(&world, state, StepOptions { dt: longest / per, ..StepOptions::default() }).unwrap();
    let (mut solves_fixed, mut error_fixed) = (0, 0.0_f64);
    for k in 1..=(time / longest * per).round() as u64 {
        solves_fixed += fixed.step().unwrap().solves;
        if k.is_multiple_of(per as u64) {
            let t = fixed.state().t;
            error_fixed = error_fixed.max((fixed.state().bodies[0].pose.position.x - exact(t)).abs());
        }
    }
    println!("adaptive {solves} solves {error:e}, fixed {solves_fixed} solves {error_fixed:e}");
    assert!(solves <= solves_fixed && error < 0.25 * error_fixed, "{error:e} {error_fixed:e}");
}

#[test]
fn forces_are_those_of_the_whole_step_and_a_snapshot_goes_on_with_the_same_bits() {
    let text = "[world]\n[[body]]\nname = \"ground\"\nfixed = true\n[[body.shape]]\ntype = \"plane\"\n[[body]]\nname = \"ball\"\n\
                mass = 2\nposition = [0, 0, 0.2]\nvelocity = [1, 0, 0]\n[[body.shape]]\ntype = \"sphere\"\nradius = 0.1\n\
                [[friction]]\nbetween = [\"*\", \"*\"]\nmu = 0.3\nrestitution = 0.4\n";
    let (world, state) = world(text);
    let options = StepOptions { dt: 0.02, ..StepOptions::default() };
    let mut stepper = Stepper::new(&world, state, options).unwrap();
    let mut control = control(1e-5, 0.02, 8);
    let mut half = None;
    while control.time() < 1.5 - 1e-12 {
        controlled_step(&mut stepper, &mut control).unwrap();
        if half.is_none() && control.time() > 0.3 {
            half = Some((stepper.snapshot(), stepper.options().dt, control));
        }
    }
    let weight: f64 = stepper.contact_forces().map(|(_, normal, _)| normal).sum();
    assert!((weight - 2.0 * 9.81).abs() < 1e-6, "{weight}");
    let (snapshot, dt, mut control_again) = half.unwrap();
    let mut again = Stepper::resume(&world, snapshot, StepOptions { dt, ..options }).unwrap();
    while control_again.time() < 1.5 - 1e-12 {
        controlled_step(&mut again, &mut control_again).unwrap();
    }
    assert_eq!(again.snapshot(), stepper.snapshot());
    assert_eq!(control_again, control);
}
