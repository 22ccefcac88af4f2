//! Motors that move to a position, against closed forms, in both schemes.

use delassus::stepping::{Scheme, StepOptions, Stepper};
use delassus::world::joint_coordinate;
use delassus_scene::read_world;
use delassus_solve::problem::Status;

/// Position and velocity of the coordinate of the first joint at these times, with the same distance between
/// them.
fn motion(text: &str, scheme: Scheme, dt: f64, every: usize, times: usize) -> Vec<[f64; 2]> {
    let file = read_world(text, None, &[]).unwrap_or_else(|e| panic!("{}", e.render("test", text)));
    let options = StepOptions { dt, scheme, ..StepOptions::default() };
    let mut stepper = Stepper::new(&file.world, file.state, options).unwrap();
    let mut out = vec![];
    for k in 1..=every * times {
        let report = stepper.step().unwrap();
        assert_eq!(report.status, Status::Solved, "{report:?}");
        if k.is_multiple_of(every) {
            out.push(joint_coordinate(&file.world, stepper.state(), 0).unwrap());
        }
    }
    out
}

fn slide(gravity: f64, motor: &str) -> String {
    format!(
        "[world]\ngravity = [{gravity}, 0, 0]\n[[body]]\nname = \"b\"\nmass = 2\ninertia = [0.1, 0.2, 0.25]\n\
         [[joint]]\nname = \"p\"\ntype = \"prismatic\"\nbodies = [\"world\", \"b\"]\naxis = [1, 0, 0]\n\
         motor = {motor}\n"
    )
}

#[test]
fn a_motor_with_a_bound_brakes_in_time_and_stays() {
    // ±2 m/s² and 1 m/s: 0.5 s and 0.25 m to get up to speed, 0.5 s on, 0.5 s to stop: there at 1.5 s.
    let text = slide(0.0, "{ position = 1, force = 4, max_speed = 1 }");
    for scheme in [Scheme::Symmetric, Scheme::HalfImplicit] {
        let found = motion(&text, scheme, 1e-3, 250, 16);
        let expected = [[0.0625, 0.5], [0.25, 1.0], [0.5, 1.0], [0.75, 1.0], [0.9375, 0.5], [1.0, 0.0]];
        for (k, exact) in expected.iter().enumerate() {
            // A step and a half at 1 m/s, and what a step of 2 m/s² gives.
            assert!((found[k][0] - exact[0]).abs() < 1.5e-3, "{scheme:?} {k}: {:?}", found[k]);
            assert!((found[k][1] - exact[1]).abs() < 4e-3, "{scheme:?} {k}: {:?}", found[k]);
        }
        // And nothing moves any more, to what solves leave.
        for (k, [c, v]) in found.iter().enumerate().skip(6) {
            assert!((c - 1.0).abs() < 1e-9 && v.abs() < 1e-9, "{scheme:?} {k}: {c} {v}");
        }
    }
}

#[test]
fn weight_along_the_way_is_counted() {
    // Weight 1 m/s² along the way: 3 m/s² up, 1 m/s² down. Speed u with u²/6 + u²/2 = 0.6: u² = 0.9; there at
    // u/3 + u.
    let text = slide(1.0, "{ position = 0.6, force = 4 }");
    let arrives = 0.9_f64.sqrt() * 4.0 / 3.0;
    for scheme in [Scheme::Symmetric, Scheme::HalfImplicit] {
        let found = motion(&text, scheme, 1e-3, 1, 2000);
        let first = found.iter().position(|[c, v]| (c - 0.6).abs() < 1e-6 && v.abs() < 1e-3).unwrap();
        assert!((1e-3 * first as f64 - arrives).abs() < 0.02, "{scheme:?}: {first} for {arrives}");
        let furthest = found.iter().map(|[c, _]| *c).fold(0.0, f64::max);
        // What one step of 1 m/s² covers is not overshot.
        assert!(furthest < 0.6 + 1e-6, "{scheme:?}: {furthest}");
        assert!((found[1999][0] - 0.6).abs() < 1e-9, "{:?}", found[1999]);
    }
}

#[test]
fn an_arm_brakes_with_the_inertia_that_its_hinge_gives_it() {
    // I + m r² = 0.1 + 2·0.5² = 0.6 kg m², moment 1.2: 2 rad/s², 1 rad in 2 √(1/2) s, halfway after half of
    // it.
    let text = "[world]\ngravity = [0, 0, 0]\n[[body]]\nname = \"arm\"\nmass = 2\ninertia = [0.1, 0.1, 0.1]\n\
                position = [0.5, 0, 0]\n[[joint]]\nname = \"hinge\"\ntype = \"revolute\"\nbodies = [\"world\", \"arm\"]\n\
                anchor = [0, 0, 0]\naxis = [0, 0, 1]\nmotor = { position = 1, force = 1.2 }\n";
    for scheme in [Scheme::Symmetric, Scheme::HalfImplicit] {
        let found = motion(text, scheme, 1e-3, 1, 3000);
        let half = 0.5_f64.sqrt();
        let at = |t: f64| found[(1e3 * t).round() as usize - 1];
        assert!(
            (at(half)[0] - 0.5).abs() < 3e-3 && (at(half)[1] - 2.0 * half).abs() < 6e-3,
            "{:?}",
            at(half)
        );
        assert!((at(2.0 * half)[0] - 1.0).abs() < 1e-4, "{:?}", at(2.0 * half));
        let furthest = found.iter().map(|[c, _]| *c).fold(0.0, f64::max);
        assert!(furthest < 1.0 + 1e-6, "{scheme:?}: {furthest}");
        assert!((found[2999][0] - 1.0).abs() < 1e-9 && found[2999][1].abs() < 1e-9, "{:?}", found[2999]);
    }
}

#[test]
fn a_target_that_moves_is_followed_without_lag() {
    // 0.2 sin(2t) needs at most 0.8 m/s² of the 2 m/s² there are.
    let text = slide(0.0, "{ position = \"0.2*sin(2*t)\", force = 4 }");
    let found = motion(&text, Scheme::Symmetric, 1e-3, 500, 6);
    for (k, [c, _]) in found.iter().enumerate().skip(1) {
        let t = 0.5 * (k + 1) as f64;
        // The target of the next step's end is aimed at: half a step ahead or behind.
        assert!((c - 0.2 * (2.0 * t).sin()).abs() < 1e-3, "{t}: {c}");
    }
}
