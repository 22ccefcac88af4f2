//! What a step could jump over or never finish: slip that turns, narrow features of formulas, columns of
//! balls.

use std::f64::consts::PI;

use delassus::events::{ContactMode, Ending, EventKind, EventOptions, Trajectory};

use super::closed_forms;
use super::closed_forms::{kinds, until};
use crate::support::near::near;

fn run_to(text: &str, options: &EventOptions) -> Trajectory {
    closed_forms::run(text, &[], options)
}

fn done(text: &str, t_end: f64) -> Trajectory {
    closed_forms::done(text, &[], t_end)
}

fn slope(mu: f64, speed: f64) -> String {
    format!(
        r#"
[system]
coordinates = ["x", "y", "z"]
[energy]
kinetic = "(x'^2 + y'^2 + z'^2)/2"
potential = "9.81*(z*cos(0.3) - x*sin(0.3))"
[[contact]]
name = "slope"
gap = "z"
slip = ["x", "y"]
mu = {mu}
[state.velocity]
y = {speed}
"#
    )
}

/// Thrown across a slope, the slip turns downhill by a right angle before it ends. With f = g sin α and r = μ
/// g cos α, d/dt(r s + f ẋ) = f² − r², so that it ends at r v/(r² − f²).
#[test]
fn slip_that_turns_by_a_right_angle_ends_when_it_should() {
    for mu in [0.32, 0.35, 0.5, 0.8] {
        let (f, r) = (9.81 * 0.3_f64.sin(), mu * 9.81 * 0.3_f64.cos());
        let end = r * 2.0 / (r * r - f * f);
        let run = done(&slope(mu, 2.0), end + 1.0);
        assert_eq!(kinds(&run), ["stick"], "mu = {mu}");
        near(run.events[0].t, end, 1e-10 * end.max(1.0));
        assert_eq!(run.modes, [ContactMode::Stick]);
    }
}

/// A force that turns and grows: slip begins without acceleration, in a direction that turns. Against a
/// Runge-Kutta method, and a smaller tolerance.
#[test]
fn slip_begins_in_a_direction_that_turns() {
    let text = r#"
[system]
coordinates = ["x", "y", "z"]
[energy]
kinetic = "(x'^2 + y'^2 + z'^2)/2"
potential = "9.81*z"
[[contact]]
name = "floor"
gap = "z"
slip = ["x", "y"]
mu = 0.3
[[force]]
coordinate = "x"
value = "(2 + 0.5*t)*cos(t)"
[[force]]
coordinate = "y"
value = "(2 + 0.5*t)*sin(t)"
"#;
    let begin = (0.3 * 9.81 - 2.0) / 0.5;
    let run = done(text, 4.0);
    assert_eq!(kinds(&run), ["slide"]);
    near(run.events[0].t, begin, 1e-10);
    // The same motion by small steps of an explicit method from a state a little after the beginning, where
    // the slip is along the force to first order: s = (t − begin)²/4, and it lags behind by s/r rad.
    let mut state = {
        let late = 0.05;
        let (t, s) = (begin + late, 0.25 * late * late);
        let angle = t - s / 2.943;
        (t, [0.0, 0.0, s * angle.cos(), s * angle.sin()])
    };
    let rate = |t: f64, y: [f64; 4]| {
        let (speed, f) = (y[2].hypot(y[3]), 2.0 + 0.5 * t);
        [y[2], y[3], f * t.cos() - 2.943 * y[2] / speed, f * t.sin() - 2.943 * y[3] / speed]
    };
    let steps = 200_000;
    let h = (4.0 - state.0) / f64::from(steps);
    for _ in 0..steps {
        let (t, y) = state;
        let go = |k: [f64; 4], c: f64| std::array::from_fn(|i| y[i] + c * h * k[i]);
        let a = rate(t, y);
        let b = rate(t + 0.5 * h, go(a, 0.5));
        let c = rate(t + 0.5 * h, go(b, 0.5));
        let d = rate(t + h, go(c, 1.0));
        state = (t + h, std::array::from_fn(|i| y[i] + h * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]) / 6.0));
    }
    // The start is off by third order, (0.05)³.
    near(run.state.v[0], state.1[2], 2e-4);
    near(run.state.v[1], state.1[3], 2e-4);
    let finer = run_to(text, &EventOptions { tolerance: 1e-13, ..until(4.0) });
    near(run.state.v[0], finer.state.v[0], 1e-9);
    near(run.state.v[1], finer.state.v[1], 1e-9);
}

/// On a turntable the slip turns by more than a right angle without ending: no event, and the power of
/// friction is that of the kinetic energy, ½v² = −r ∫ e·v dt, here by samples.
#[test]
fn slip_on_a_turntable_does_not_end() {
    let text = r#"
[system]
coordinates = ["x", "y", "z"]
[energy]
kinetic = "(x'^2 + y'^2 + z'^2)/2"
potential = "9.81*z"
[[contact]]
name = "table"
gap = "z"
slip_velocity = ["x' + 3*y", "y' - 3*x"]
mu = 0.3
[state.position]
x = 0.3
"#;
    let count = 6000;
    let sample_times: Vec<f64> = (0..=count).map(|k| 6.0 * f64::from(k) / f64::from(count)).collect();
    let run = run_to(text, &EventOptions { sample_times, ..until(6.0) });
    assert_eq!(run.ending, Ending::Done);
    assert!(run.events.is_empty(), "{:?}", kinds(&run));
    let power: Vec<f64> = run
        .samples
        .iter()
        .map(|s| {
            let (q, v) = (&s.state.q, &s.state.v);
            let slip = [v[0] + 3.0 * q[1], v[1] - 3.0 * q[0]];
            -2.943 * (slip[0] * v[0] + slip[1] * v[1]) / slip[0].hypot(slip[1])
        })
        .collect();
    // Simpson's rule with steps of 1 ms.
    let weight =
        |k: usize| if k == 0 || k == count as usize { 1.0 } else { f64::from(2 + 2 * (k as u32 % 2)) };
    let work: f64 = power.iter().enumerate().map(|(k, p)| weight(k) * p).sum::<f64>() * 1e-3 / 3.0;
    near(run.energy[1] - run.energy[0], work, 1e-7);
}

/// One coordinate or two without gravity, and what acts.
fn free(rest: &str) -> String {
    format!("[system]\ncoordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\n{rest}")
}

/// Bumps and pulses that are narrow against the steps that the motion alone would allow.
#[test]
fn narrow_bumps_are_hit() {
    for w in [0.3, 0.1, 0.03, 0.003] {
        let text = free(&format!(
            r#"
[[contact]]
name = "bump"
gap = "y + 0.01 - exp(-((x - 5)/{w})^2)"
restitution = 1.0
[state.position]
y = 0.5
[state.velocity]
x = 1.0
"#
        ));
        let run = done(&text, 10.0);
        assert_eq!(run.events[0].kind, EventKind::Impact, "width {w}");
        near(run.events[0].t, 5.0 - w * (-(0.51_f64.ln())).sqrt(), 1e-11);
    }
    for w in [0.1, 0.02] {
        let text = free(&format!(
            r#"
potential = "(x^2 + y^2)/2"
[[contact]]
name = "peg"
gap = "y + 1 - 1.5*exp(-((x - 0.31)/{w})^2)"
restitution = 1.0
[state.position]
x = 1.0
"#
        ));
        let run = done(&text, 1.4);
        near(run.events[0].t, (0.31 + w * 1.5_f64.ln().sqrt()).acos(), 1e-11);
    }
}

#[test]
fn walls_that_move_for_a_moment_strike() {
    for w in [0.2, 0.02] {
        let text = free(&format!(
            r#"
[[contact]]
name = "wall"
gap = "x - 2*exp(-((t - 5)/{w})^2)"
[state.position]
x = 1.0
"#
        ));
        for breakpoints in [vec![], vec![4.9]] {
            let run = run_to(&text, &EventOptions { breakpoints, ..until(10.0) });
            assert_eq!(run.ending, Ending::Done);
            let strike = 5.0 - w * 2.0_f64.ln().sqrt();
            near(run.events[0].t, strike, 1e-11);
            // It is carried until the wall is fastest, t = 5 − w/√2, and flies on with that speed.
            let speed = 2.0 * (2.0_f64 / w / w).sqrt() * (-0.5_f64).exp();
            if strike < 5.0 - w / 2.0_f64.sqrt() {
                near(run.state.v[0], speed, 1e-8 * speed);
            } else {
                let at_strike = 4.0 * (5.0 - strike) / w / w * 0.5;
                near(run.state.v[0], at_strike, 1e-8 * at_strike);
            }
        }
    }
}

#[test]
fn short_pulses_of_a_force_act() {
    let push = free("[[force]]\ncoordinate = \"x\"\nvalue = \"10*exp(-((t - 5.03)/0.05)^2)\"\n");
    let run = done(&push, 10.0);
    let speed = 10.0 * 0.05 * PI.sqrt();
    near(run.state.v[0], speed, 1e-10);
    near(run.state.q[0], speed * (10.0 - 5.03), 1e-9);

    let floor =
        "potential = \"9.81*y\"\n[[contact]]\nname = \"floor\"\ngap = \"y\"\nslip = [\"x\"]\nmu = 0.5\n";
    let shove = format!("{floor}[[force]]\ncoordinate = \"x\"\nvalue = \"10*exp(-((t - 5)/0.05)^2)\"\n");
    let run = done(&free(&shove), 10.0);
    assert_eq!(kinds(&run), ["slide", "stick"]);
    near(run.events[0].t, 5.0 - 0.05 * (10.0_f64 / 4.905).ln().sqrt(), 1e-10);

    let lift = format!("{floor}[[force]]\ncoordinate = \"y\"\nvalue = \"30*exp(-((t - 5.03)/0.05)^2)\"\n");
    let run = done(&free(&lift), 5.5);
    assert_eq!(run.events[0].kind, EventKind::Open);
    near(run.events[0].t, 5.03 - 0.05 * (30.0_f64 / 9.81).ln().sqrt(), 1e-10);
}

/// A belt that outruns the block for a moment: slip turns around twice, friction with it.
#[test]
fn belts_that_run_for_a_moment_turn_the_slip() {
    let text = free(
        r#"
potential = "9.81*y"
[[contact]]
name = "belt"
gap = "y"
slip_velocity = ["x' - 2*exp(-((t - 2)/0.05)^2)"]
mu = 0.01
[[force]]
coordinate = "x"
value = "0.0981"
[state.velocity]
x = 1.0
"#,
    );
    let run = done(&text, 5.0);
    assert_eq!(kinds(&run), ["slide", "slide"]);
    near(run.events[0].t, 2.0 - 0.05 * 2.0_f64.ln().sqrt(), 1e-10);
    // Between them friction pushes as the force does.
    let between = run.events[1].t - run.events[0].t;
    near(run.state.v[0], 1.0 + 2.0 * 0.0981 * between, 1e-9);
}

fn column(n: usize, e: f64) -> String {
    let names: Vec<String> = (0..n).map(|i| format!("\"y{i}\"")).collect();
    let sum = |of: &dyn Fn(usize) -> String| (0..n).map(of).collect::<Vec<_>>().join(" + ");
    let mut text = format!(
        "[system]\ncoordinates = [{}]\n[energy]\nkinetic = \"({})/2\"\npotential = \"9.81*({})\"\n",
        names.join(", "),
        sum(&|i| format!("y{i}'^2")),
        sum(&|i| format!("y{i}")),
    );
    for i in 0..n {
        let gap = if i == 0 { "y0".to_owned() } else { format!("y{i} - y{} - 1", i - 1) };
        text += &format!("[[contact]]\nname = \"c{i}\"\ngap = \"{gap}\"\nrestitution = {e}\n");
    }
    text += "[state.position]\n";
    for i in 0..n {
        text += &format!("y{i} = {}\n", 0.5 + 1.1 * i as f64);
    }
    text
}

/// A column of balls comes to rest, whatever the order of its impacts, and stays so.
#[test]
fn columns_come_to_rest() {
    for (n, e) in [(3, 0.6), (5, 0.6), (5, 0.3), (6, 0.6)] {
        let run = done(&column(n, e), 3.0);
        assert!(run.events.iter().any(|e| e.kind == EventKind::Accumulation), "{n} balls, e = {e}");
        assert!(run.modes.iter().all(|m| m.is_closed()), "{n} balls, e = {e}: {:?}", run.modes);
        for i in 0..n {
            near(run.state.q[i], i as f64, 1e-12);
            near(run.state.v[i], 0.0, 1e-12);
        }
    }
}

/// Three equal bodies on a line without gravity: the middle one is hit to and fro until all move together.
/// The times between impacts shrink faster than the speeds; the end is where the first and the third body
/// would meet.
#[test]
fn a_collapse_ends_when_it_should() {
    let text = r#"
[system]
coordinates = ["a", "b", "c"]
[energy]
kinetic = "(a'^2 + b'^2 + c'^2)/2"
[[contact]]
name = "ab"
gap = "b - a"
restitution = 0.05
[[contact]]
name = "bc"
gap = "c - b"
restitution = 0.05
[state.position]
b = 1.0
c = 1.3
[state.velocity]
a = 1.0
"#;
    let run = done(text, 10.0);
    // The same impacts in closed form: v → v after each, gaps linear in time between them.
    let (mut x, mut v, mut t) = ([0.0, 1.0, 1.3], [1.0, 0.0, 0.0], 0.0_f64);
    let mut pair = 0;
    for _ in 0..60 {
        let wait: f64 = (x[pair + 1] - x[pair]) / (v[pair] - v[pair + 1]);
        if !wait.is_finite() || wait <= 0.0 {
            break;
        }
        t += wait;
        for i in 0..3 {
            x[i] += wait * v[i];
        }
        x[pair + 1] = x[pair];
        let (mean, half) = (0.5 * (v[pair] + v[pair + 1]), 0.5 * 0.05 * (v[pair] - v[pair + 1]));
        (v[pair], v[pair + 1]) = (mean - half, mean + half);
        pair = 1 - pair;
    }
    let last = run.events.iter().find(|e| e.kind == EventKind::Accumulation).expect("an accumulation");
    near(last.t, t, 1e-9);
    near(run.state.v[1], 1.0 / 3.0, 1e-12);
}

#[test]
fn an_accumulation_leaves_what_is_beside_it_alone() {
    // A ball comes to rest after √(2/g) (1 + e)/(1 − e); a mass that hits an elastic wall shortly before, and
    // an oscillator that turns often meanwhile, go on as if it were not there.
    let rest = |e: f64| f64::sqrt(2.0 / 9.81) * (1.0 + e) / (1.0 - e);
    for (e, before) in [(0.8, 2e-3), (0.5, 1e-3), (0.8, 1e-4), (0.5, 1e-5), (0.9, 1e-4)] {
        let away = rest(e) - before;
        let text = format!(
            r#"
[system]
coordinates = ["x", "y"]
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*x"
[[contact]]
name = "floor"
gap = "x"
restitution = {e}
[[contact]]
name = "wall"
gap = "{away} - y"
restitution = 1
[state.position]
x = 1.0
[state.velocity]
y = 1.0
"#
        );
        let run = done(&text, rest(e) + 0.1);
        near(run.state.v[1], -1.0, 1e-12);
        assert!((run.state.q[1] - (away - 0.1 - before)).abs() < 1e-9, "{}", run.state.q[1]);
        let end = run.events.iter().find(|event| event.kind == EventKind::Accumulation).unwrap().t;
        assert!((end - rest(e)).abs() < 1e-6, "e = {e}: {end}");
    }
    let omega = 1000.0_f64;
    let text = format!(
        r#"
[system]
coordinates = ["x", "y"]
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*x + {omega}^2*y^2/2"
[[contact]]
name = "floor"
gap = "x"
restitution = 0.5
[state.position]
x = 1.0
y = 1.0
"#
    );
    let run = done(&text, 1.5);
    // A phase of 1500 rad, kept to 1e-12 of the energy in each step.
    assert!((run.state.q[1] - (1.5 * omega).cos()).abs() < 1e-6, "{}", run.state.q[1]);
}

#[test]
fn given_times_that_differ_by_rounding_are_one() {
    let text = r#"
[system]
coordinates = ["x"]
[energy]
kinetic = "x'^2/2"
[[impulse]]
time = 0.3
coordinate = "x"
value = 1
[[impulse]]
time = "0.1 + 0.2"
coordinate = "x"
value = 1
"#;
    let run = done(text, 1.5);
    assert!((run.state.q[0] - 2.4).abs() < 1e-12 && run.state.v[0] == 2.0, "{:?}", run.state);
}
