//! Limits of joints against closed forms, in both schemes.

use delassus::stepping::{Scheme, StepOptions, Stepper};
use delassus::world::{CloseError, WorldState, close_loops, joint_coordinate, opening};
use delassus_solve::problem::Status;

use crate::support::texts::PENDULUM;
use crate::support::worlds::world;

/// Steps of the runs whose order is measured. No moment of an impact is a whole number of them.
const LENGTHS: [f64; 4] = [8e-3, 4e-3, 2e-3, 1e-3];

/// The state after this time.
fn run(text: &str, scheme: Scheme, dt: f64, time: f64) -> WorldState {
    let (world, state) = world(text);
    let options = StepOptions { dt, scheme, ..StepOptions::default() };
    let mut stepper = Stepper::new(&world, state, options).unwrap();
    for _ in 0..(time / dt).round() as usize {
        let report = stepper.step().unwrap();
        assert_eq!(report.status, Status::Solved, "{report:?}");
    }
    stepper.state().clone()
}

/// A mass of 1 on a slide, 0.5 m/s and 1 m/s² towards its limit at 0.3 m.
fn slider(restitution: f64) -> String {
    format!(
        "[world]\ngravity = [1, 0, 0]\n[[body]]\nname = \"block\"\nmass = 1\ninertia = [1, 1, 1]\n\
         velocity = [0.5, 0, 0]\n[[joint]]\nname = \"slide\"\ntype = \"prismatic\"\nbodies = [\"world\", \"block\"]\n\
         anchor = [0, 0, 0]\naxis = [1, 0, 0]\nlimits = [-1, 0.3]\nrestitution = {restitution}\n"
    )
}

#[test]
fn a_slider_rebounds_from_its_limit() {
    // 0.5 t + t²/2 = 0.3 at t = 0.42195 s with 0.92195 m/s, then −0.46098 m/s and 1 m/s².
    let hits = -0.5 + f64::sqrt(0.25 + 0.6);
    let (time, back) = (0.8, -0.5 * (0.5 + hits));
    let exact = [0.3 + back * (time - hits) + 0.5 * (time - hits).powi(2), back + (time - hits)];
    let state = |scheme, dt| {
        let state = run(&slider(0.5), scheme, dt, time);
        [state.bodies[0].pose.position.x, state.bodies[0].velocity.x]
    };
    for dt in LENGTHS {
        // Under a constant force the symmetric scheme is exact, and so is the moment; rounding of up to 800
        // steps.
        let [x, v] = state(Scheme::Symmetric, dt);
        assert!((x - exact[0]).abs() < 1e-12 && (v - exact[1]).abs() < 1e-12, "{dt}: {x} {v} for {exact:?}");
        // First order: the moment is late by what ½a dt t makes of the way, and the part after the rebound
        // has no weight.
        let [x, v] = state(Scheme::HalfImplicit, dt);
        assert!((x - exact[0]).abs() < dt && (v - exact[1]).abs() < dt, "{dt}: {x} {v} for {exact:?}");
    }
}

/// The end of infinitely many rebounds, t₁ (1 + e)/(1 − e) after a fall of t₁: at a limit as at a contact,
/// whatever the step, it is reached and reported once.
#[test]
fn rebounds_at_a_limit_come_to_an_end() {
    let long = [(0.5, 1e-2), (0.5, 1e-3), (0.5, 1e-4), (0.9, 1e-2), (0.9, 1e-3)].map(|run| (run, 0.3));
    let short = [(0.7, 1e-4), (0.9, 1e-4), (0.9, 2e-5)].map(|run| (run, 0.003));
    for ((e, dt), way) in long.into_iter().chain(short) {
        let text = slider(e)
            .replace("velocity = [0.5, 0, 0]", "velocity = [0, 0, 0]")
            .replace("[-1, 0.3]", &format!("[-1, {way}]"));
        let (world, state) = world(&text);
        let options = StepOptions { dt, ..StepOptions::default() };
        let mut stepper = Stepper::new(&world, state, options).unwrap();
        let end = f64::sqrt(2.0 * way) * (1.0 + e) / (1.0 - e);
        let mut ends = vec![];
        while stepper.state().t < 1.1 * end {
            let report = stepper.step().unwrap();
            assert_eq!(report.status, Status::Solved);
            ends.extend(report.accumulations);
        }
        assert_eq!(ends.len(), 1, "e = {e}, dt = {dt}: {ends:?}");
        // Steps are exact under a constant force. What bounces has arrived where it is 1e-10 m from the
        // limit, which takes 1e-7 s at the speed of the last rebounds.
        assert!((ends[0].t - end).abs() < 1e-6 && ends[0].contact == "slide", "{ends:?} for {end}");
        let block = &stepper.state().bodies[0];
        assert!((block.pose.position.x - way).abs() < 1e-7 && block.velocity.x.abs() < 1e-12);
    }
}

/// A mass of 1 on a slide along x, without weight, at rest outside its limits.
fn outside(velocity: f64) -> String {
    slider(0.0)
        .replace("gravity = [1, 0, 0]", "gravity = [0, 0, 0]")
        .replace("velocity = [0.5, 0, 0]", &format!("velocity = [{velocity}, 0, 0]"))
        .replace("[-1, 0.3]", "[0.5, 1]")
}

#[test]
fn what_starts_outside_its_limits_is_put_at_the_nearer_one_and_keeps_its_velocity() {
    let hinge =
        outside(0.0).replace("prismatic", "revolute").replace("velocity = [0", "angular_velocity = [0.2");
    let rope = "[world]\ngravity = [0, 0, 0]\n[[body]]\nname = \"bob\"\nmass = 1\ninertia = [1, 1, 1]\n\
                position = [2, 0, 0]\nvelocity = [0, 0.3, 0]\n[[joint]]\nname = \"rope\"\ntype = \"rope\"\n\
                bodies = [\"world\", \"bob\"]\nanchors = [[0, 0, 0], [2, 0, 0]]\nlength = 1\n";
    for scheme in [Scheme::Symmetric, Scheme::HalfImplicit] {
        // At rest it stays; towards the limit it stops; away from it it goes on.
        for (velocity, expected) in [(0.0, 0.5), (-0.1, 0.5), (0.1, 0.6)] {
            let x = run(&outside(velocity), scheme, 1e-2, 1.0).bodies[0].pose.position.x;
            assert!((x - expected).abs() < 1e-9, "{scheme:?} {velocity}: {x}");
        }
        let turned = run(&hinge, scheme, 1e-2, 1.0).bodies[0].pose.rotation.to_scaled_axis().x;
        assert!((turned - 0.7).abs() < 1e-9, "{turned}");
        // On the circle of the rope with the speed across it: 0.3 rad in 1 s.
        let end = run(rope, scheme, 1e-3, 1.0).bodies[0].pose.position;
        assert!((end.length() - 1.0).abs() < 1e-6, "{end}");
        assert!((end.y.atan2(end.x) - 0.3).abs() < 1e-4, "{end}");
    }
}

#[test]
fn limits_and_loops_are_met_by_the_least_motion() {
    // Two equal masses that a rope of 1 m joins, 2 m apart: each comes half the way.
    let text = "[world]\ngravity = [0, 0, 0]\n[[body]]\nname = \"a\"\nmass = 1\ninertia = [1, 1, 1]\n\
                [[body]]\nname = \"b\"\nmass = 1\ninertia = [1, 1, 1]\nposition = [2, 0, 0]\n\
                [[joint]]\nname = \"rope\"\ntype = \"rope\"\nbodies = [\"a\", \"b\"]\n\
                anchors = [[0, 0, 0], [2, 0, 0]]\nlength = 1\n";
    let (two, mut state) = world(text);
    assert_eq!(opening(&two, &state).limit, Some((0, 1.0)));
    let closure = close_loops(&two, &mut state).unwrap();
    assert!((closure.moved - 0.5).abs() < 1e-9, "{closure:?}");
    let x = [0, 1].map(|b| state.bodies[b].pose.position.x);
    assert!((x[0] - 0.5).abs() < 1e-9 && (x[1] - 1.5).abs() < 1e-9, "{x:?}");
    // A limit that the way of another does not need is let go: the second slide drives the first by a coupler
    // of factor 1, c₁ + c₂ = 1, with c₁ ≥ 0.2 and c₂ ≥ 0.6 from (0, 0): (0.4, 0.6).
    let slide = |name: &str, limits: &str| {
        format!(
            "[[joint]]\nname = \"{name} slide\"\ntype = \"prismatic\"\nbodies = [\"world\", \"{name}\"]\n\
             axis = [1, 0, 0]\n{limits}\n"
        )
    };
    let text = text.split("[[joint]]").next().unwrap_or_default().to_string()
        + &slide("a", "limits = [0.2, 5]")
        + &slide("b", "limits = [0.6, 5]")
        + "[[joint]]\nname = \"pulley\"\ntype = \"coupler\"\njoints = [\"a slide\", \"b slide\"]\n\
           factors = [1, 1]\noffset = 1\n";
    let (pair, mut state) = world(&text);
    close_loops(&pair, &mut state).unwrap();
    let c = [0, 1].map(|j| joint_coordinate(&pair, &state, j).unwrap()[0]);
    assert!((c[0] - 0.4).abs() < 1e-9 && (c[1] - 0.6).abs() < 1e-9, "{c:?}");
    // Where limits and loops contradict each other, a joint is named and nothing moves.
    let (none, mut state) = world(&text.replace("limits = [0.6, 5]", "limits = [0.9, 5]"));
    let before = state.clone();
    assert!(matches!(close_loops(&none, &mut state), Err(CloseError::Open { gap, .. }) if gap > 0.01));
    assert_eq!(state, before);
}

#[test]
fn a_curve_ends_at_its_range_unless_it_is_closed() {
    let bead = |curve: &str, range: &str| {
        format!(
            "[world]\ngravity = [0, 0, 0]\n[[body]]\nname = \"bead\"\nmass = 1\ninertia = [1, 1, 1]\n\
             position = [0.5, 0, 0]\nvelocity = [2, 0, 0]\n[[joint]]\nname = \"wire\"\ntype = \"point-on-curve\"\n\
             bodies = [\"world\", \"bead\"]\nanchor = [0.5, 0, 0]\ncurve = {curve}\nrange = {range}\n"
        )
    };
    for scheme in [Scheme::Symmetric, Scheme::HalfImplicit] {
        let wire = bead("[\"s\", \"0\", \"0\"]", "[0, 1]");
        let at = run(&wire, scheme, 1e-2, 1.0).bodies[0].pose.position.x;
        assert!((at - 1.0).abs() < 1e-9, "{at}");
        // 0.25 s to the end, back with 1 m/s for 0.75 s.
        let at = run(&(wire + "restitution = 0.5\n"), scheme, 1e-2, 1.0).bodies[0].pose.position.x;
        assert!((at - 0.25).abs() < 1e-6, "{at}");
        // A circle through (0.5, 0): 2 m in 1 s are four radians of radius 0.5, beyond the range and on.
        let circle = bead("[\"0.5*sin(s)\", \"0.5 - 0.5*cos(s)\", \"0\"]", "[0, \"2*pi\"]")
            .replace("position = [0.5, 0, 0]", "position = [0, 0, 0]")
            .replace("anchor = [0.5, 0, 0]", "anchor = [0, 0, 0]");
        let end = run(&circle, scheme, 1e-3, 2.0);
        let [s, _] = joint_coordinate(&world(&circle).0, &end, 0).unwrap();
        assert!((s - 8.0).abs() < 1e-2, "{scheme:?} {s}");
    }
}

/// A pendulum of length 1 m, from the horizontal at rest, with its limit 70° below.
fn pendulum(restitution: f64) -> String {
    format!(
        "{PENDULUM}limits_deg = [-200, 70]
restitution = {restitution}
"
    )
}

/// Angle and angular velocity of the pendulum: θ̈ = g cos θ / 1.1 by Runge and Kutta, the impact by bisection
/// of the last step.
fn reference(restitution: f64, time: f64) -> [f64; 2] {
    let f = |[a, w]: [f64; 2]| [w, 9.81 * a.cos() / 1.1];
    let step = |y: [f64; 2], h: f64| {
        let at = |k: [f64; 2], s: f64| [y[0] + s * k[0], y[1] + s * k[1]];
        let k1 = f(y);
        let k2 = f(at(k1, 0.5 * h));
        let k3 = f(at(k2, 0.5 * h));
        let k4 = f(at(k3, h));
        [0, 1].map(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]))
    };
    let limit = 70_f64.to_radians();
    let (mut y, mut t) = ([0.0, 0.0], 0.0);
    while t < time {
        let h = f64::min(1e-4, time - t);
        let next = step(y, h);
        if next[0] <= limit {
            (y, t) = (next, t + h);
            continue;
        }
        let (mut low, mut high) = (0.0, h);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if step(y, middle)[0] <= limit { low = middle } else { high = middle }
        }
        let [_, w] = step(y, low);
        (y, t) = ([limit, -restitution * w], t + low);
        if restitution == 0.0 {
            return y;
        }
    }
    y
}

#[test]
fn a_pendulum_rebounds_from_its_limit() {
    let time = 1.2;
    for e in [0.5, 0.0] {
        let [a, w] = reference(e, time);
        let state = |scheme, dt| {
            let state = run(&pendulum(e), scheme, dt, time);
            let s = &state.bodies[0];
            [f64::atan2(-s.pose.position.z, s.pose.position.x) - a, s.angular_velocity.y - w]
        };
        for dt in LENGTHS {
            // Second order, with what g^(3/2) makes of dt²; first order with g dt times a part of the second
            // that passed.
            for (scheme, most) in [(Scheme::Symmetric, 10.0 * dt * dt), (Scheme::HalfImplicit, 3.0 * dt)] {
                let [x, v] = state(scheme, dt);
                assert!(x.abs() < most && v.abs() < most, "{scheme:?}, e = {e}, dt = {dt}: {x:e} {v:e}");
            }
        }
    }
}
