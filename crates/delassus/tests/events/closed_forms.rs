//! Event-driven integration against closed forms and reference values (the name of the value is in each
//! test).

use delassus::events::{
    ContactMode, Ending, EventError, EventKind, EventOptions, Indeterminate, Trajectory, run_events,
};
use delassus_scene::read_system;
use delassus_solve::impact::ImpactLaw;

use crate::support::near::near;

pub(crate) fn run(text: &str, set: &[(&str, &str)], options: &EventOptions) -> Trajectory {
    let file = read_system(text, set).unwrap_or_else(|e| panic!("{e}"));
    run_events(&file.system, &file.state, options).unwrap_or_else(|e| panic!("{e}"))
}

pub(crate) fn until(t_end: f64) -> EventOptions {
    EventOptions { t_end, ..Default::default() }
}

pub(crate) fn done(text: &str, set: &[(&str, &str)], t_end: f64) -> Trajectory {
    let run = run(text, set, &until(t_end));
    assert_eq!(run.ending, Ending::Done, "at {}", run.state.t);
    run
}

pub(crate) fn kinds(run: &Trajectory) -> Vec<&'static str> {
    run.events.iter().map(|e| e.kind.name()).collect()
}

const BALL: &str = r#"
[system]
coordinates = ["x", "y"]
[parameters]
e = 0.5
mu = 0.0
speed = 0.0
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[contact]]
name = "floor"
gap = "y"
slip = ["x"]
mu = "mu"
restitution = 0.5
[state.position]
y = 1.0
[state.velocity]
x = "speed"
"#;

fn ball(e: f64) -> String {
    BALL.replace("restitution = 0.5", &format!("restitution = {e}"))
}

/// 002.bouncing_ball.e0.5, and the closed form √(2h/g)(1 + e)/(1 − e) elsewhere.
#[test]
fn bouncing_ball_comes_to_rest_when_it_should() {
    for e in [0.1, 0.3, 0.5, 0.7, 0.9, 0.99] {
        let first = (2.0_f64 / 9.81).sqrt();
        let end = first * (1.0 + e) / (1.0 - e);
        let run = done(&ball(e), &[("speed", "0.3")], end + 1.0);
        let impacts: Vec<f64> =
            run.events.iter().filter(|v| v.kind == EventKind::Impact).map(|v| v.t).collect();
        for (k, t) in impacts.iter().enumerate().take(5) {
            // t_k = t_1 (1 + 2 Σ eʲ).
            let exact = first * (1.0 + 2.0 * (1..=k).map(|j| e.powi(j as i32)).sum::<f64>());
            near(*t, exact, 1e-12 * exact.max(1.0));
        }
        let rest: Vec<_> = run.events.iter().filter(|v| v.kind == EventKind::Accumulation).collect();
        assert_eq!(rest.len(), 1, "e = {e}: {:?}", kinds(&run));
        near(rest[0].t, end, 1e-9);
        near(run.state.q[0], 0.3 * (end + 1.0), 1e-9);
        near(run.state.q[1], 0.0, 1e-12);
        assert!(run.modes[0].is_closed());
    }
    let golden = done(&ball(0.5), &[], 2.0);
    let expected =
        [0.4515236409857309, 0.9030472819714618, 1.1288091024643272, 1.24169001271076, 1.2981304678339762];
    for (event, t) in golden.events.iter().zip(expected) {
        near(event.t, t, 1e-9);
    }
}

/// 002.higher_derivative: λ and δ vanish together at the start, and the next derivatives decide.
#[test]
fn higher_derivatives_decide() {
    let on = |surface: &str| {
        format!(
            r#"
[system]
coordinates = ["x", "y"]
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[contact]]
name = "surface"
gap = "y - ({surface})"
[state.velocity]
x = 2.2147234590350102
"#
        )
    };
    for (surface, active, order) in [
        ("-x^2 + 0.1*x^3", true, 1),
        ("-x^2 - 0.1*x^3", false, 1),
        ("-x^2 + 0.1*x^4", true, 2),
        ("sqrt(0.25 - x^2) - 0.5", false, 2),
    ] {
        let run = done(&on(surface), &[], 0.02);
        assert_eq!(run.modes[0].is_closed(), active, "{surface}: {:?}", run.events);
        assert_eq!(kinds(&run), [if active { "close" } else { "open" }], "{surface}");
        assert_eq!(run.events[0].order, Some(order), "{surface}");
    }
    // The parabola of free flight: zero in all orders. It may touch without force for good, and the motion is
    // the same.
    let run = done(&on("-x^2*2/2"), &[], 0.1);
    near(run.state.q[1], -9.81 * 0.01 / 2.0, 1e-12);
}

/// 002.higher_derivative_force.
#[test]
fn forces_that_begin_at_zero() {
    let pushed = |force: &str| {
        format!(
            r#"
[system]
coordinates = ["y"]
[energy]
kinetic = "y'^2/2"
[[force]]
coordinate = "y"
value = "{force}"
[[contact]]
name = "floor"
gap = "y"
"#
        )
    };
    let options = EventOptions { sample_times: vec![0.5], ..until(1.0) };
    for (force, y, at_half) in
        [("-t", 0.0, 0.5), ("t", 1.0 / 6.0, 0.0), ("-t^2", 0.0, 0.25), ("t^2", 1.0 / 12.0, 0.0)]
    {
        let run = run(&pushed(force), &[], &options);
        assert_eq!(run.ending, Ending::Done);
        near(run.state.q[0], y, 1e-12);
        near(run.samples[0].contact_forces[0][0], at_half, 1e-12);
    }
}

/// phys.block_stop.
#[test]
fn sliding_block_stops() {
    let run = run(
        &BALL.replace("y = 1.0", "y = 0.0"),
        &[("mu", "0.5"), ("speed", "1")],
        &EventOptions { sample_times: vec![0.1, 0.3], ..until(0.5) },
    );
    assert_eq!(kinds(&run), ["stick"]);
    near(run.events[0].t, 0.2038735983690112, 1e-12);
    near(run.state.q[0], 0.1019367991845056, 1e-12);
    assert_eq!(run.modes[0], ContactMode::Stick);
    near(run.samples[0].contact_forces[0][0], 9.81, 1e-12);
    near(run.samples[0].contact_forces[0][1], -0.5 * 9.81, 1e-12);
    near(run.samples[1].contact_forces[0][1], 0.0, 1e-12);
}

/// phys.roll_sphere, phys.roll_disc, phys.roll_hoop; in the plane and in space with the direction of sliding
/// turned.
#[test]
fn sliding_turns_into_rolling() {
    let plane = r#"
[system]
coordinates = ["x", "y", "phi"]
[parameters]
k = 0.4
[energy]
kinetic = "(x'^2 + y'^2)/2 + k*phi'^2/2"
potential = "9.81*y"
[[contact]]
name = "floor"
gap = "y"
slip = ["x - phi"]
mu = 0.2
[state.velocity]
x = 2.0
"#;
    for (k, t, v, x) in [
        ("0.4", 0.291247997670016, 1.4285714285714286, 0.4992822817200274),
        ("0.5", 0.33978933061501865, 1.3333333333333333, 0.5663155510250312),
        ("1", 0.509683995922528, 1.0, 0.764525993883792),
    ] {
        let run = done(plane, &[("k", k)], t);
        near(run.state.q[0], x, 1e-9);
        let run = done(plane, &[("k", k)], 1.0);
        assert_eq!(kinds(&run), ["stick"]);
        near(run.events[0].t, t, 1e-12);
        near(run.state.v[0], v, 1e-12);
    }
    let space = r#"
[system]
coordinates = ["x", "y", "z", "a", "b"]
[energy]
kinetic = "(x'^2 + y'^2 + z'^2)/2 + 0.4*(a'^2 + b'^2)/2"
potential = "9.81*z"
[[contact]]
name = "floor"
gap = "z"
slip_velocity = ["x' - a'", "y' - b'"]
mu = 0.2
[state.velocity]
x = 1.2
y = 1.6
"#;
    let run = done(space, &[], 1.0);
    assert_eq!(kinds(&run), ["stick"]);
    near(run.events[0].t, 0.291247997670016, 1e-9);
    near(run.state.v[0].hypot(run.state.v[1]), 1.4285714285714286, 1e-9);
}

/// phys.ladder_leaves_wall.
#[test]
fn ladder_leaves_the_wall() {
    let ladder = r#"
[system]
coordinates = ["x", "y", "theta"]
[energy]
kinetic = "(x'^2 + y'^2)/2 + theta'^2/6"
potential = "9.81*y"
[[contact]]
name = "wall"
gap = "x - cos(theta)"
[[contact]]
name = "floor"
gap = "y - sin(theta)"
[state.position]
theta = "70 deg"
x = "cos(70*pi/180)"
y = "sin(70*pi/180)"
"#;
    let run = done(ladder, &[], 0.7);
    assert_eq!(kinds(&run), ["open"]);
    near(run.events[0].t, 0.59752780606914, 1e-9);
    assert_eq!(run.events[0].contact, "wall");
    near(run.state.v[0], 1.3449525772252835, 1e-9);
    let at = done(ladder, &[], 0.59752780606914);
    near(at.state.q[2].sin(), 0.6264617471906055, 1e-9);
    near(at.state.v[2], -2.1469029565760196, 1e-9);
}

/// phys.sphere_top, released a little beside the top: energy gives cos = (2 cos θ₀ + v²/(gR))/3 at the end of
/// contact.
#[test]
fn particle_leaves_the_sphere() {
    let sphere = r#"
[system]
coordinates = ["x", "y"]
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[contact]]
name = "sphere"
gap = "sqrt(x^2 + y^2) - 1"
[state.position]
x = "sin(0.001)"
y = "cos(0.001)"
"#;
    let options = EventOptions { t_end: 5.0, max_events: 1, ..Default::default() };
    let file = read_system(sphere, &[]).unwrap();
    let run = run_events(&file.system, &file.state, &options).unwrap();
    let event = &run.events[0];
    assert_eq!(event.kind, EventKind::Open);
    let at = done(sphere, &[], event.t);
    let cosine = 2.0 / 3.0 * 0.001_f64.cos();
    near(at.state.q[1], cosine, 1e-9);
    near(at.state.v[0].hypot(at.state.v[1]), (9.81 * cosine).sqrt(), 1e-9);
    near((9.81 * 2.0 / 3.0_f64).sqrt(), 2.5573423705088842, 1e-12);
}

/// phys.rod_fall_frictionless.
#[test]
fn rod_falls_on_a_smooth_floor() {
    let rod = r#"
[system]
coordinates = ["x", "y", "theta"]
[energy]
kinetic = "(x'^2 + y'^2)/2 + theta'^2/6"
potential = "9.81*y"
[[contact]]
name = "left"
gap = "y - sin(theta)"
[[contact]]
name = "right"
gap = "y + sin(theta)"
[state.position]
theta = "60 deg"
y = "sin(60*pi/180)"
"#;
    let file = read_system(rod, &[]).unwrap();
    let options = EventOptions { t_end: 3.0, sample_times: vec![0.0], max_events: 1, ..Default::default() };
    let run = run_events(&file.system, &file.state, &options).unwrap();
    near(run.samples[0].contact_forces[0][0], 5.605714285714285, 1e-9);
    let event = run.events.iter().find(|e| e.kind == EventKind::Impact).unwrap();
    assert_eq!(event.contact, "right");
    // Right before it is horizontal: θ̇² at θ = 0 by the energy.
    let before =
        run_events(&file.system, &file.state, &EventOptions { t_end: event.t - 1e-9, ..Default::default() })
            .unwrap();
    near(before.state.v[2] * before.state.v[2], 12.743563816688013, 1e-7);
}

/// 003.rod.impact_without_collision: the state that `analyze` refutes is left by a jump.
#[test]
fn painleve_rod_jams() {
    let rod = include_str!("../../../../scenes/painleve-rod.toml");
    let run = run(rod, &[], &until(0.01));
    assert_eq!(run.ending, Ending::Done, "{:?}", run.events);
    let jam = &run.events[0];
    assert_eq!(jam.kind, EventKind::Jam);
    assert_eq!((jam.t, jam.contact.as_str()), (0.0, "tip"));
    near(jam.impulse[0], 0.375, 1e-10);
    near(jam.impulse[1], 0.625, 1e-10);
    assert_eq!(run.modes[0], ContactMode::Stick);
}

/// phys.painleve_angles: with mu = 2 the rod jams between 37.377° and 79.188°, and nowhere else.
#[test]
fn painleve_rod_jams_between_two_angles() {
    let rod = include_str!("../../../../scenes/painleve-rod.toml");
    for (angle, jams) in
        [("37.3773 deg", false), ("37.3774 deg", true), ("79.1876 deg", true), ("79.1877 deg", false)]
    {
        let run = run(rod, &[("angle", angle)], &until(1e-6));
        assert_eq!(run.ending, Ending::Done, "{angle}");
        assert_eq!(run.events.iter().any(|e| e.kind == EventKind::Jam), jams, "{angle}: {:?}", run.events);
    }
}

#[test]
fn energy_of_a_pendulum_does_not_drift() {
    let pendulum = r#"
[system]
coordinates = ["x", "y"]
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[joint]]
name = "string"
value = "x^2 + y^2 - 1"
[state.position]
x = 1.0
"#;
    let run = done(pendulum, &[], 100.0);
    near(run.energy[1], run.energy[0], 1e-10);
    let length = run.state.q[0].hypot(run.state.q[1]);
    near(length, 1.0, 1e-13);
    assert!(run.max_joint_error < 1e-10, "{:e}", run.max_joint_error);
}

/// phys.cradle3, by impacts at once and one after the other.
#[test]
fn cradle() {
    let text = r#"
[system]
coordinates = ["a", "b", "c"]
[energy]
kinetic = "(a'^2 + b'^2 + c'^2)/2"
[[contact]]
name = "ab"
gap = "b - a"
restitution = 1.0
[[contact]]
name = "bc"
gap = "c - b"
restitution = 1.0
[state.position]
a = -1.0
[state.velocity]
a = 1.0
"#;
    for (law, v) in
        [(ImpactLaw::Moreau, [-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]), (ImpactLaw::Sequence, [0.0, 0.0, 1.0])]
    {
        let run = run(text, &[], &EventOptions { law, ..until(1.5) });
        assert_eq!(run.ending, Ending::Done);
        for k in 0..3 {
            near(run.state.v[k], v[k], 1e-10);
        }
    }
}

/// phys.two_ball_drop: with a mass ratio of 1e-9 the light ball rises to nine times its height.
#[test]
fn two_balls_dropped() {
    let text = r#"
[system]
coordinates = ["low", "high"]
[parameters]
ratio = 1e-9
[energy]
kinetic = "(low'^2 + ratio*high'^2)/2"
potential = "9.81*(low + ratio*high)"
[[contact]]
name = "floor"
gap = "low"
restitution = 1.0
[[contact]]
name = "balls"
gap = "high - low"
restitution = 1.0
[state.position]
low = 1.0
high = 1.0
"#;
    let fall = (2.0_f64 / 9.81).sqrt();
    let run = run(text, &[], &EventOptions { law: ImpactLaw::Sequence, ..until(fall + 1e-6) });
    assert_eq!(run.ending, Ending::Done, "{:?}", run.events);
    let v = run.state.v[1] + 9.81 * 1e-6;
    near(v * v / (2.0 * 9.81), 9.0, 1e-6);
}

/// phys.rocking_b0.2_h0.8: Housner's block. Every impact takes the same part of the energy, and in the end it
/// stands.
#[test]
fn rocking_block() {
    let block = r#"
[system]
coordinates = ["x", "y", "phi"]
[parameters]
b = 0.2
h = 0.8
start = 0.05
[energy]
kinetic = "(x'^2 + y'^2)/2 + (b^2 + h^2)/3*phi'^2/2"
potential = "9.81*y"
[[contact]]
name = "left"
gap = "y - b*sin(phi) - h*cos(phi)"
slip = ["x - b*cos(phi) + h*sin(phi)"]
mu = 5.0
[[contact]]
name = "right"
gap = "y + b*sin(phi) - h*cos(phi)"
slip = ["x + b*cos(phi) + h*sin(phi)"]
mu = 5.0
[state.position]
phi = "start"
x = "b*cos(start) - h*sin(start)"
y = "b*sin(start) + h*cos(start)"
"#;
    let run = done(block, &[], 6.0);
    let impacts: Vec<_> = run.events.iter().filter(|e| e.kind == EventKind::Impact).collect();
    assert!(impacts.len() > 6, "{:?}", kinds(&run));
    let energy = |phi: f64| 9.81 * (0.2 * phi.sin() + 0.8 * phi.cos() - 0.8);
    let mut kinetic = energy(0.05);
    for impact in impacts.iter().take(6) {
        near(impact.energy_change / kinetic, 0.8313148788927335 - 1.0, 1e-9);
        kinetic += impact.energy_change;
    }
    let rest = run.events.iter().find(|e| e.kind == EventKind::Accumulation).expect("it comes to rest");
    near(run.state.q[2], 0.0, 1e-9);
    assert!(run.modes.iter().all(|m| m.is_closed()));
    // The same limit from half the window.
    let other = run_with_window(block, 2e-4);
    near(rest.t, other, 1e-8);
}

fn run_with_window(text: &str, accumulation_window: f64) -> f64 {
    let run = run(text, &[], &EventOptions { accumulation_window, ..until(6.0) });
    run.events.iter().find(|e| e.kind == EventKind::Accumulation).expect("it comes to rest").t
}

/// A mass on a belt, held by a spring: it sticks until the spring is as strong as friction, slips back,
/// sticks again.
#[test]
fn stick_slip_oscillator() {
    let text = r#"
[system]
coordinates = ["x", "y"]
[parameters]
belt = 0.1
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y + x^2/2"
[[contact]]
name = "belt"
gap = "y"
slip_velocity = ["x' - belt"]
mu_static = 0.4
mu_kinetic = 0.2
[state.velocity]
x = 0.1
"#;
    let run = done(text, &[], 100.0);
    // Sticks until the spring pulls with 0.4 · 9.81.
    let slides: Vec<f64> = run.events.iter().filter(|e| e.kind == EventKind::Slide).map(|e| e.t).collect();
    let sticks: Vec<f64> = run.events.iter().filter(|e| e.kind == EventKind::Stick).map(|e| e.t).collect();
    near(slides[0], 3.924 / 0.1, 1e-9);
    // ẍ = −(x − 1.962), ẋ(0) = 0.1, x(0) − 1.962 = 1.962: ẋ = −1.962 sin t + 0.1 cos t is 0.1 again at
    // tan(t/2) = −19.62, on the other side of 1.962.
    near(sticks[0] - slides[0], 2.0 * (std::f64::consts::PI - 19.62_f64.atan()), 1e-9);
    near(slides[1] - sticks[0], 2.0 * 1.962 / 0.1, 1e-9);
}

/// Four legs: forces are not unique, the motion is. It tips when the load passes the line of two legs.
#[test]
fn table_with_four_legs_tips() {
    let table = r#"
[system]
coordinates = ["z", "a", "b"]
[energy]
kinetic = "(z'^2 + a'^2 + b'^2)/2"
potential = "9.81*z"
[[force]]
coordinate = "b"
value = "-10*t"
[[contact]]
name = "leg1"
gap = "z + a + b"
[[contact]]
name = "leg2"
gap = "z + a - b"
[[contact]]
name = "leg3"
gap = "z - a + b"
[[contact]]
name = "leg4"
gap = "z - a - b"
"#;
    // The load 9.81 at distance 1 from the line of two legs against the moment 10 t.
    let run = done(table, &[], 1.2);
    let opens: Vec<_> = run.events.iter().filter(|e| e.kind == EventKind::Open).collect();
    assert_eq!(opens.len(), 2, "{:?}", run.events);
    near(opens[0].t, 0.981, 1e-9);
    near(opens[1].t, 0.981, 1e-9);
}

/// Several answers: the rod pulled so that it may lift off, or slide on with a force.
#[test]
fn policies_where_answers_are_several() {
    let rod = include_str!("../../../../scenes/painleve-rod-pulled.toml");
    let file = read_system(rod, &[]).unwrap();
    let options = |indeterminate, choices: &[usize]| EventOptions {
        indeterminate,
        choices: choices.to_vec(),
        ..until(0.01)
    };
    let stop = run_events(&file.system, &file.state, &options(Indeterminate::Stop, &[])).unwrap();
    assert!(matches!(stop.ending, Ending::Indeterminate { answers: 2.. }), "{:?}", stop.ending);
    let detach = run_events(&file.system, &file.state, &options(Indeterminate::Detach, &[])).unwrap();
    assert_eq!(detach.ending, Ending::Done);
    assert_eq!(detach.events[0].kind, EventKind::Indeterminate);
    assert_eq!(detach.modes[0], ContactMode::Open);
    let other = run_events(&file.system, &file.state, &options(Indeterminate::Stop, &[1])).unwrap();
    assert!(!other.events.is_empty() && other.state.q != detach.state.q, "{:?}", other.events);
}

/// The same events at half and at a thousand times the tolerance, at nearly the same times.
#[test]
fn events_do_not_depend_on_the_tolerance() {
    for (scene, t_end) in [
        (include_str!("../../../../scenes/double-pendulum-wall.toml"), 5.0),
        (include_str!("../../../../scenes/stick-slip.toml"), 40.0),
        (include_str!("../../../../scenes/rocking-block.toml"), 2.0),
        (include_str!("../../../../scenes/woodpecker.toml"), 0.4),
    ] {
        let at = |tolerance: f64| run(scene, &[], &EventOptions { tolerance, ..until(t_end) });
        let reference = at(1e-12);
        assert_eq!(reference.ending, Ending::Done);
        assert!(reference.events.len() >= 3, "{:?}", reference.events);
        for tolerance in [5e-13, 1e-9] {
            let other = at(tolerance);
            assert_eq!(kinds(&other), kinds(&reference));
            for (a, b) in other.events.iter().zip(&reference.events) {
                near(a.t, b.t, 1e-6);
            }
        }
    }
}

/// A gap that touches zero at its minimum: x swings with amplitude 1, and the wall is there.
#[test]
fn grazing() {
    let text = |wall: f64| {
        format!(
            r#"
[system]
coordinates = ["x"]
[energy]
kinetic = "x'^2/2"
potential = "x^2/2"
[[contact]]
name = "wall"
gap = "{wall:?} - x"
restitution = 1.0
[state.position]
x = -1.0
"#
        )
    };
    let run = done(&text(1.0), &[], 10.0);
    assert_eq!(kinds(&run), ["graze", "graze"]);
    near(run.events[0].t, std::f64::consts::PI, 1e-6);
    near(run.state.q[0], -10.0_f64.cos(), 1e-9);
    assert_eq!(kinds(&done(&text(1.0 + 1e-9), &[], 10.0)), [""; 0]);
    let struck = done(&text(1.0 - 1e-9), &[], 10.0);
    assert!(kinds(&struck).iter().all(|k| *k == "impact") && struck.events.len() == 2, "{:?}", struck.events);
}

/// A force that jumps at a given time.
#[test]
fn breakpoints() {
    let text = r#"
[system]
coordinates = ["x"]
[energy]
kinetic = "x'^2/2"
[[force]]
coordinate = "x"
value = "max(0, min(1, 1e300*(t - 0.3)))"
"#;
    let run = run(text, &[], &EventOptions { breakpoints: vec![0.3], ..until(1.0) });
    assert_eq!(run.ending, Ending::Done);
    near(run.state.q[0], 0.5 * 0.7 * 0.7, 1e-12);
}

/// Runaway events and chattering without end are reported, with the trajectory so far.
#[test]
fn runs_that_end_early_keep_what_they_have() {
    let run = run(&ball(1.0), &[], &EventOptions { max_events: 5, sample_times: vec![0.1], ..until(100.0) });
    assert_eq!(run.ending, Ending::TooManyEvents { events: 5 });
    assert!(run.events.len() == 5 && run.samples.len() == 1 && run.state.t < 100.0);
    // A formula that ends: sqrt of what becomes negative at t = 0.5.
    let text = r#"
[system]
coordinates = ["x"]
[energy]
kinetic = "x'^2/2"
[[force]]
coordinate = "x"
value = "sqrt(0.5 - t)"
"#;
    let run = run_text(text, 1.0);
    assert!(matches!(run.ending, Ending::Failed(_) | Ending::StepTooShort), "{:?}", run.ending);
    near(run.state.t, 0.5, 1e-3);
}

fn run_text(text: &str, t_end: f64) -> Trajectory {
    run(text, &[], &until(t_end))
}

/// Velocities into a wall that is touched are an impact at the start, where that is asked for.
#[test]
fn impact_at_the_start() {
    let text = BALL.replace("y = 1.0", "y = 0.0").replace("x = \"speed\"", "y = -1.0");
    let run = run(&text, &[], &EventOptions { impact_at_start: true, ..until(0.1) });
    assert_eq!(run.ending, Ending::Done);
    assert_eq!((run.events[0].kind, run.events[0].t), (EventKind::Impact, 0.0));
    near(run.events[0].impulse[0], 1.5, 1e-12);
}

/// A constraint on velocities only (002 eq. 2.1c): a ratchet that turns one way.
#[test]
fn ratchet() {
    let text = r#"
[system]
coordinates = ["a"]
[energy]
kinetic = "a'^2/2"
[[force]]
coordinate = "a"
value = "cos(t)"
[[contact]]
name = "ratchet"
velocity = "a'"
"#;
    // a' = sin t up to π, held until cos t > 0 again at 3π/2, then a' = 1 + sin t.
    let run = done(text, &[], 8.0);
    let t: Vec<f64> = run.events.iter().map(|e| e.t).collect();
    assert_eq!(kinds(&run), ["close", "open"], "{:?}", run.events);
    near(t[0], std::f64::consts::PI, 1e-10);
    near(t[1], 1.5 * std::f64::consts::PI, 1e-10);
    near(run.state.v[0], 1.0 + 8.0_f64.sin(), 1e-10);
}

/// A rod that falls over on its rough tip: it sticks, slides back, slides forth, hits with its other end, and
/// lies at last, for every friction. Energy never grows, and nothing goes through the floor.
#[test]
fn rods_fall_over_with_any_friction() {
    let rod = r#"
[system]
coordinates = ["x", "y", "theta"]
[parameters]
mu = 0.6
start = 1.0
[energy]
kinetic = "(x'^2 + y'^2)/2 + theta'^2/6"
potential = "9.81*y"
[[contact]]
name = "tip"
gap = "y - sin(theta)"
slip = ["x - cos(theta)"]
mu = "mu"
[[contact]]
name = "end"
gap = "y + sin(theta)"
slip = ["x + cos(theta)"]
mu = "mu"
restitution = 0.3
[state.position]
y = "sin(start)"
theta = "start"
"#;
    let sample_times: Vec<f64> = (0..=400).map(|k| f64::from(k) / 100.0).collect();
    for mu in ["0", "0.02", "0.1", "0.2", "0.3", "0.45", "0.6", "0.8", "1.2", "3"] {
        for start in ["1.0", "0.6", "1.4"] {
            let options = EventOptions { sample_times: sample_times.clone(), ..until(4.0) };
            let run = run(rod, &[("mu", mu), ("start", start)], &options);
            assert_eq!(run.ending, Ending::Done, "mu {mu}, {start}: at {}, {:?}", run.state.t, run.events);
            near(run.state.q[1], 0.0, 1e-9);
            let mut energy = f64::INFINITY;
            for sample in &run.samples {
                let q = &sample.state.q;
                assert!(q[1] - q[2].sin() > -1e-9 && q[1] + q[2].sin() > -1e-9, "mu {mu}, {start}: {q:?}");
                assert!(sample.energy <= energy + 1e-9, "mu {mu}, {start}");
                energy = sample.energy;
            }
        }
    }
}

#[test]
fn bad_starts_are_refused() {
    let below = BALL.replace("y = 1.0", "y = -0.5");
    let file = read_system(&below, &[]).unwrap();
    let error = run_events(&file.system, &file.state, &until(1.0)).unwrap_err();
    assert!(matches!(error, EventError::Penetration { .. }), "{error}");
    let file = read_system(BALL, &[]).unwrap();
    for options in [until(-1.0), until(f64::NAN), EventOptions { tolerance: 0.0, ..until(1.0) }] {
        let error = run_events(&file.system, &file.state, &options).unwrap_err();
        assert!(matches!(error, EventError::Option { .. }), "{error}");
    }
}
