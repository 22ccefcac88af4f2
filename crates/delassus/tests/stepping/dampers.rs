//! Springs and dampers of joints, soft and stiff, against closed forms.

use delassus::stepping::{StepOptions, Stepper};
use delassus::world::energy;
use delassus_solve::problem::Status;

use crate::support::worlds::world;

/// A mass of 1 on a slide along x, its start and its spring.
fn slide(x: f64, v: f64, force: f64, stiffness: f64, damping: f64) -> String {
    format!(
        "[world]\ngravity = [{force}, 0, 0]\n[[body]]\nname = \"block\"\nmass = 1\ninertia = [1, 1, 1]\n\
         position = [{x}, 0, 0]\nvelocity = [{v}, 0, 0]\n[[joint]]\nname = \"slide\"\ntype = \"prismatic\"\n\
         bodies = [\"world\", \"block\"]\nanchor = [0, 0, 0]\naxis = [1, 0, 0]\n\
         spring = {{ stiffness = {stiffness}, damping = {damping}, rest = {} }}\n",
        // The coordinate of a slide is zero at the start.
        -x
    )
}

/// Position and velocity of the first body along x after each step.
fn motion(text: &str, dt: f64, steps: usize) -> Vec<[f64; 2]> {
    let (world, state) = world(text);
    let mut stepper = Stepper::new(&world, state, StepOptions { dt, ..StepOptions::default() }).unwrap();
    let body = world.bodies.iter().position(|b| b.name == "block").unwrap();
    (0..steps)
        .map(|_| {
            let report = stepper.step().unwrap();
            assert_eq!(report.status, Status::Solved, "{report:?}");
            let s = &stepper.state().bodies[body];
            [s.pose.position.x, s.velocity.x]
        })
        .collect()
}

#[test]
fn a_damper_of_any_strength_slows_down_and_never_turns_back() {
    // e^(−d t/m), to 1/(1 + 2z + 2z² + z³) a step with z = ½ h d/m: third order in a step.
    let h = 1e-3;
    for d in [1e-3, 1.0, 30.0, 1e3, 1e4, 1e6, 1e9, 1e12] {
        let mut last = 1.0;
        for (k, [_, v]) in motion(&slide(0.0, 1.0, 0.0, 0.0, d), h, 10).into_iter().enumerate() {
            let z = 0.5 * h * d;
            let step = 1.0 / (1.0 + 2.0 * z + 2.0 * z * z + z * z * z);
            // Rounding, of the size of the first velocity.
            assert!((v - last * step).abs() < 1e-12, "d = {d}, step {k}: {v} after {last}");
            last = v;
        }
        let exact = f64::exp(-d * 10.0 * h);
        let z = 0.5 * h * d;
        assert!((last - exact).abs() <= 10.0 * z.powi(3).min(0.1) + 1e-14, "d = {d}: {last} {exact}");
    }
}

#[test]
fn a_force_against_a_strong_damper_gives_its_velocity_without_ringing() {
    let (force, d, h) = (9.81, 1e5, 1e-3);
    let end = force / d;
    let mut off = end;
    for (k, [_, v]) in motion(&slide(0.0, 0.0, force, 0.0, d), h, 8).into_iter().enumerate() {
        // Nearer to the end from step to step: at z = 50 by z², and half a kick is mg h/2 against d.
        let now = (v - end).abs();
        assert!(now <= 0.1 * off + 1e-12, "step {k}: {v} for {end}");
        off = now;
    }
}

#[test]
fn a_stiff_spring_with_a_strong_damper_comes_to_rest() {
    // Critically damped, 1/ω from a tenth of a step to a step.
    for omega in [1e3_f64, 1e4, 1e5, 1e6] {
        let path = motion(&slide(0.01, 0.0, 0.0, omega * omega, 2.0 * omega), 1e-3, 20);
        let [x, v] = path[19];
        assert!(x.abs() < 1e-5 && v.abs() < 1e-2, "ω = {omega}: {path:?}");
        let largest = path.iter().map(|[x, _]| x.abs()).fold(0.0, f64::max);
        assert!(largest <= 0.01, "ω = {omega}: {path:?}");
    }
}

#[test]
fn soft_springs_and_dampers_are_of_second_order() {
    // x = e^(−ζωt) (cos ω_d t + ζω/ω_d sin ω_d t) x₀
    let (omega, zeta, x0, t) = (10.0_f64, 0.2_f64, 0.1, 0.5_f64);
    let damped = omega * (1.0 - zeta * zeta).sqrt();
    let exact =
        x0 * f64::exp(-zeta * omega * t) * ((damped * t).cos() + zeta * omega / damped * (damped * t).sin());
    let text = slide(x0, 0.0, 0.0, omega * omega, 2.0 * zeta * omega);
    let error = |steps: usize| (motion(&text, t / steps as f64, steps)[steps - 1][0] - exact).abs();
    let (coarse, fine) = (error(250), error(500));
    let order = (coarse / fine).log2();
    assert!((1.95..2.05).contains(&order), "order {order}: {coarse:e} {fine:e}");
    assert!(fine < 1e-6 * x0 * 100.0, "{fine:e}");
}

#[test]
fn a_spring_without_a_damper_keeps_its_energy() {
    for omega in [10.0_f64, 1e3, 1e5] {
        let (world, state) = world(&slide(0.01, 0.3, 0.0, omega * omega, 0.0));
        let start = energy(&world, &state);
        let mut stepper = Stepper::new(&world, state, StepOptions::default()).unwrap();
        let mut worst = 0.0_f64;
        for _ in 0..2000 {
            stepper.step().unwrap();
            worst = worst.max((energy(&world, stepper.state()) - start).abs());
        }
        // The midpoint rule keeps quadratic energies: rounding.
        assert!(worst < 1e-9 * start, "ω = {omega}: {worst:e} of {start}");
    }
}

#[test]
fn a_light_link_hands_a_damper_on_to_a_heavy_body() {
    // A link of 1e-6 kg turns a body of 1 kg at 1 m: ω = e^(−d t/(m l² + I)), whatever the link by itself
    // would do.
    for d in [1.0, 100.0] {
        let text = format!(
            "[world]\ngravity = [0, 0, 0]\n[[body]]\nname = \"link\"\nmass = 1e-6\ninertia = [1e-7, 1e-7, 1e-7]\n\
             position = [0.5, 0, 0]\nvelocity = [0, 0.5, 0]\nangular_velocity = [0, 0, 1]\n\
             [[body]]\nname = \"block\"\nmass = 1\ninertia = [0.01, 0.01, 0.01]\nposition = [1, 0, 0]\n\
             velocity = [0, 1, 0]\nangular_velocity = [0, 0, 1]\n\
             [[joint]]\nname = \"axle\"\ntype = \"revolute\"\nbodies = [\"world\", \"link\"]\nanchor = [0, 0, 0]\n\
             axis = [0, 0, 1]\nspring = {{ stiffness = 0, damping = {d} }}\n\
             [[joint]]\nname = \"weld\"\ntype = \"fixed\"\nbodies = [\"link\", \"block\"]\nanchor = [1, 0, 0]\n"
        );
        let (world, state) = world(&text);
        let mut stepper = Stepper::new(&world, state, StepOptions::default()).unwrap();
        for k in 1..=20 {
            let report = stepper.step().unwrap();
            assert_eq!(report.status, Status::Solved, "d = {d}: {report:?}");
            let exact = f64::exp(-d * 1e-3 * f64::from(k) / 1.01);
            let omega = stepper.state().bodies[1].angular_velocity.z;
            // The link by itself is stiff, σ = 1: both halves implicit, of first order, ¾ (h d/I)² a step.
            let z = d * 1e-3 / 1.01;
            assert!((omega - exact).abs() <= f64::from(k) * z * z, "d = {d}, step {k}: {omega} {exact}");
        }
    }
}

/// A mass of 1 on a slide along x with this action on it.
fn driven(gravity: f64, v: f64, action: &str) -> String {
    format!(
        "[world]\ngravity = [{gravity}, 0, 0]\n[[body]]\nname = \"block\"\nmass = 1\ninertia = [1, 1, 1]\n\
         velocity = [{v}, 0, 0]\n[[joint]]\nname = \"slide\"\ntype = \"prismatic\"\nbodies = [\"world\", \"block\"]\n\
         anchor = [0, 0, 0]\naxis = [1, 0, 0]\n{action}\n"
    )
}

#[test]
fn motors_that_follow_formulas_are_of_second_order() {
    let exact = [1.0 - f64::cos(1.0), f64::sin(1.0)];
    let error = |action: &str, v: f64, steps: usize| {
        let [x, v] = motion(&driven(0.0, v, action), 1.0 / steps as f64, steps)[steps - 1];
        (x - exact[0]).abs() + (v - exact[1]).abs()
    };
    for action in ["motor = { torque = \"cos(t)\" }", "motor = { speed = \"sin(t)\", force = 1e3 }"] {
        let order = (error(action, 0.0, 100) / error(action, 0.0, 200)).log2();
        assert!((1.95..2.05).contains(&order), "{action}: order {order}");
    }
}

#[test]
fn limits_rebound_at_the_speed_of_arrival_wherever_in_a_step_it_is() {
    for upper in [0.3, 0.2997, 0.30001] {
        let action = format!("limits = [-1, {upper}]\nrestitution = 0.5");
        let [x, v] = motion(&driven(0.0, 1.0, &action), 1e-3, 500)[499];
        assert!((v + 0.5).abs() < 1e-12, "{upper}: {v}");
        // The moment is known to what counts as touching.
        assert!((x - (upper - 0.5 * (0.5 - upper))).abs() < 1e-6, "{upper}: {x}");
    }
}

#[test]
fn a_body_comes_to_rest_on_its_limit() {
    // Falls 0.3 m with 1 m/s²; each rebound has half the speed: at rest after √0.6 (1 + 2·½/(1 − ½)) s = 2.32
    // s.
    let path = motion(&driven(1.0, 0.0, "limits = [-1, 0.3]\nrestitution = 0.5"), 1e-3, 3000);
    let lands = f64::sqrt(0.6);
    let apex = path.iter().enumerate().filter(|(k, _)| *k as f64 * 1e-3 > lands + 0.1 && *k < 1500);
    let top = apex.map(|(_, [x, _])| 0.3 - x).fold(0.0, f64::max);
    // A step of second order: (a dt)² of 0.77 m/s, and what a part of a step takes on its way to the limit.
    assert!((top - 0.075).abs() < 1e-4 * 0.075, "a quarter of the height: {top}");
    for [x, v] in &path[2400..] {
        assert!((x - 0.3).abs() < 1e-9 && v.abs() < 1e-12, "{x} {v}");
    }
}

#[test]
fn a_pendulum_that_bounces_between_limits_keeps_its_energy() {
    let text = "[world]\n[[body]]\nname = \"block\"\nmass = 1\ninertia = [1e-3, 1e-3, 1e-3]\nposition = [1, 0, 0]\n\
                [[joint]]\nname = \"hinge\"\ntype = \"revolute\"\nbodies = [\"world\", \"block\"]\nanchor = [0, 0, 0]\n\
                axis = [0, 1, 0]\nlimits_deg = [-200, 70]\nrestitution = 1\n";
    let (world, state) = world(text);
    let mut stepper = Stepper::new(&world, state, StepOptions::default()).unwrap();
    let mut bounces = 0;
    let mut last = 0.0;
    for _ in 0..5000 {
        let report = stepper.step().unwrap();
        assert_eq!(report.status, Status::Solved, "{report:?}");
        let now = stepper.state().bodies[0].angular_velocity.y;
        bounces += usize::from(last > 1.0 && now < -1.0);
        last = now;
    }
    assert!(bounces > 3, "{bounces}");
    // 9.2 J turn to and fro. The hinge bends the motion: a rebound misses up to what a step of gravity adds
    // to 4.3 m/s, twice that of the energy.
    let lost = energy(&world, stepper.state()).abs();
    assert!(lost < bounces as f64 * 2.0 * 9.81e-3 / 4.3 * 9.2, "{lost} J of 9.2 J after {bounces} rebounds");
}
