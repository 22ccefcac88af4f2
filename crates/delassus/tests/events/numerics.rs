//! Where rounding could decide: forces that cancel, bounces far from the origin, starts close to a surface,
//! flat touches.

use delassus::events::{Ending, EventError, EventKind, EventOptions, Trajectory, run_events};
use delassus_scene::read_system;
use proptest::prelude::*;

use super::closed_forms::{done, kinds, run, until};
use crate::support::near::near;

/// Balls in a column that touch each other, first the lowest, and fall from 1 m.
fn column(masses: &[f64], e: f64) -> String {
    let names: Vec<String> = (0..masses.len()).map(|i| format!("x{i}")).collect();
    let sum = |f: &dyn Fn(usize) -> String| (0..masses.len()).map(f).collect::<Vec<_>>().join(" + ");
    let mut text = format!(
        "[system]\ncoordinates = {names:?}\n[energy]\nkinetic = \"{}\"\npotential = \"9.81*({})\"\n",
        sum(&|i| format!("{}*x{i}'^2/2", masses[i])),
        sum(&|i| format!("{}*x{i}", masses[i])),
    );
    for i in 0..masses.len() {
        let gap = if i == 0 { "x0".to_owned() } else { format!("x{i} - x{}", i - 1) };
        text += &format!("[[contact]]\nname = \"c{i}\"\ngap = \"{gap}\"\nrestitution = {e}\n");
    }
    text += "[state.position]\n";
    names.iter().for_each(|name| text += &format!("{name} = 1.0\n"));
    text
}

/// Balls that touch and fall together press on each other with nothing but rounding: they stay together,
/// without an event, down to the floor at √(2h/g).
#[test]
fn balls_that_fall_together_stay_together() {
    let fall = (2.0_f64 / 9.81).sqrt();
    for masses in [&[100.0, 1.0][..], &[1.0, 1.0], &[0.3, 7.1, 1e-3], &[1e-3, 3.3, 1e3]] {
        let text = column(masses, 0.7);
        let before = done(&text, &[], 0.999 * fall);
        assert!(before.events.is_empty(), "{masses:?}: {:?}", before.events);
        assert!(before.modes[1..].iter().all(|m| m.is_closed()), "{masses:?}: {:?}", before.modes);
        for x in &before.state.q {
            near(*x, 1.0 - 0.5 * 9.81 * (0.999 * fall).powi(2), 1e-12);
        }
        let after = done(&text, &[], 1.1 * fall);
        assert_eq!((after.events[0].kind, after.events[0].contact.as_str()), (EventKind::Impact, "c0"));
        near(after.events[0].t, fall, 1e-12);
    }
}

/// A spring holds one of the two against a force that balances it: the forces that cancel are large, not
/// their sum.
#[test]
fn forces_that_balance_leave_no_force() {
    let text = r#"
[system]
coordinates = ["x", "y"]
[energy]
kinetic = "(x'^2 + 3*y'^2)/2"
potential = "500*(x - 0.1)^2 + 500*(y - 0.1)^2"
[[force]]
coordinate = "x"
value = "1000*0.2 - 1000*0.3"
[[force]]
coordinate = "y"
value = "-100"
[[contact]]
name = "pair"
gap = "y - x"
restitution = 0.5
"#;
    let run = done(text, &[], 2.0);
    assert!(run.events.is_empty(), "{:?}", run.events);
    near(run.state.q[1], 0.0, 1e-12);
}

/// When the impacts of a run end.
fn rest(run: &Trajectory) -> f64 {
    run.events.iter().find(|e| e.kind == EventKind::Accumulation).expect("an accumulation").t
}

fn ball(gap: &str, x: f64, e: f64) -> String {
    format!(
        "[system]\ncoordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"9.81*x\"\n[[contact]]\nname = \
         \"floor\"\ngap = \"{gap}\"\nrestitution = {e}\n[state.position]\nx = {x}\n"
    )
}

/// √(2h/g)(1 + e)/(1 − e), wherever the floor is: positions there are rounded to 1e-13, low bounces are 1e-10
/// high.
#[test]
fn impacts_end_when_they_should_at_any_height() {
    for floor in [0.0, 10.0, 1000.0, -1e5] {
        for e in [0.1, 0.5, 0.9, 0.99] {
            let end = (2.0_f64 / 9.81).sqrt() * (1.0 + e) / (1.0 - e);
            let run = done(&ball(&format!("x - {floor:?}"), floor + 1.0, e), &[], end + 0.5);
            near(rest(&run), end, 1e-9);
            near(run.state.q[0], floor, 1e-12 * floor.abs().max(1.0));
        }
    }
}

/// On a floor that rises with c t + a t²/2 the ball falls with G = g + a, from 1 m at the relative speed c.
#[test]
fn impacts_end_when_they_should_on_an_accelerated_floor() {
    for (c, a) in [(0.0, 1.0), (0.3, 2.5), (-2.0, -4.0), (20.0, 0.5)] {
        for e in [0.1, 0.5, 0.9, 0.99] {
            let g = 9.81 + a;
            let w = f64::sqrt(c * c + 2.0 * g);
            let end = (w - c) / g + 2.0 * w * e / (g * (1.0 - e));
            let text = ball(&format!("x - {c:?}*t - 0.5*({a:?})*t^2"), 1.0, e);
            near(rest(&done(&text, &[], end + 0.5)), end, 1e-9);
        }
    }
}

/// Down a slope the ball is fast along it and far away when its bounces end; across it only g cos α counts.
#[test]
fn impacts_end_when_they_should_on_a_slope() {
    for e in [0.1, 0.5, 0.9, 0.99] {
        let text = format!(
            r#"
[system]
coordinates = ["x", "y"]
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[contact]]
name = "slope"
gap = "sin(0.3)*x + cos(0.3)*y"
restitution = {e}
[state.position]
y = 1.0
"#
        );
        let end = (2.0_f64 / 9.81).sqrt() * (1.0 + e) / (1.0 - e);
        near(rest(&done(&text, &[], end + 0.5)), end, 1e-9);
    }
}

/// Gravity that grows, a + b t: a flight d that begins at t with u has u = (a + b t) d/2 + b d²/6 and ends
/// with w = (a + b t) d + b d²/2 − u, so that no two ratios are the same. The sum of the flights, down to the
/// last, is the end.
#[test]
fn impacts_end_when_they_should_under_a_force_that_grows() {
    for e in [0.1, 0.5, 0.9, 0.99] {
        let (b, first) = (3.0, 3.0 * (1.0 - e));
        let (mut t, mut u, mut flights) = (0.0, first, vec![]);
        while u > 1e-17 {
            let a = 10.0 + b * t;
            let mut d = 2.0 * u / a;
            for _ in 0..60 {
                d = u / (0.5 * a + b * d / 6.0);
            }
            flights.push(d);
            (t, u) = (t + d, e * (a * d + 0.5 * b * d * d - u));
        }
        let end: f64 = flights.iter().rev().sum();
        let text = format!(
            "[system]\ncoordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\n[[force]]\ncoordinate = \"x\"\nvalue = \
             \"-10 - {b:?}*t\"\n[[contact]]\nname = \"floor\"\ngap = \"x - 50\"\nrestitution = {e}\n[state.position]\nx = \
             50\n[state.velocity]\nx = {first:?}\n"
        );
        near(rest(&done(&text, &[], end + 0.5)), end, 1e-9);
    }
}

/// What moves close to a surface is left where it is: the impact comes at gap/speed, or not at all.
#[test]
fn a_start_close_to_a_surface_is_taken_as_it_is() {
    let text = |x: f64, v: f64, pull: f64| {
        ball("x", x, 0.5).replace("9.81*x", &format!("{pull}*x")) + &format!("[state.velocity]\nx = {v:e}\n")
    };
    for (x, v) in [(1e-7, -1e-3), (1e-7, -1e-7), (9e-7, -1e-7), (3e-10, -2e-10), (1e-11, -1e-9)] {
        let run = done(&text(x, v, 0.0), &[], 20.0);
        assert_eq!(kinds(&run), ["impact"], "{x} {v}");
        near(run.events[0].t, x / -v, 1e-12 * (x / -v).max(1.0));
        assert!(run.corrections.is_empty());
    }
    for v in [1e-8, 1e-3] {
        let run = done(&text(1e-7, v, 0.0), &[], 1.0);
        assert!(run.events.is_empty() && run.corrections.is_empty());
        near(run.state.q[0], 1e-7 + v, 1e-16);
    }
}

/// What rests close to a surface, or overlaps it, is projected onto it, and that is reported.
#[test]
fn a_start_that_is_put_right_is_reported() {
    for x in [1e-7, -1e-7, 8e-7] {
        let run = done(&ball("x", x, 0.5), &[], 1.0);
        assert!(run.events.is_empty(), "{:?}", run.events);
        assert_eq!(run.corrections.len(), 1);
        assert_eq!((run.corrections[0].name.as_str(), run.corrections[0].value), ("floor", x));
        near(run.state.q[0], 0.0, 1e-15);
    }
    assert!(done(&ball("x", 0.0, 0.5), &[], 1.0).corrections.is_empty());
    // An overlap that moves: into the surface it is an impact now, where that was asked for, out of it none.
    for (v, expected) in [(-1.0, &["impact"][..]), (1.0, &[])] {
        let text = ball("x", -1e-7, 0.5) + &format!("[state.velocity]\nx = {v:?}\n");
        let file = read_system(&text, &[]).unwrap();
        let unasked = run_events(&file.system, &file.state, &until(0.05));
        let refused = matches!(&unasked, Err(EventError::Approach { rate, .. }) if *rate == v);
        assert_eq!(refused, v < 0.0, "{unasked:?}");
        let run = run(&text, &[], &EventOptions { impact_at_start: true, ..until(0.05) });
        assert_eq!(kinds(&run), expected);
        assert_eq!(run.corrections.len(), 1);
        assert_eq!(run.corrections[0].value, -1e-7);
        let up = if v < 0.0 { 0.5 } else { 1.0 };
        near(run.state.q[0], 0.05 * up - 0.5 * 9.81 * 0.05 * 0.05, 1e-12);
    }
}

/// A rod with y' = −1 whose ends hit in turn, ever faster; between impacts both gaps change uniformly, so
/// that the moment of the end is the sum of flights. There all of y' and p' is gone: percussions 1 in all,
/// friction has taken μ of x'.
#[test]
fn rattling_between_two_ends_comes_to_rest() {
    let (mu, speed) = (0.1, 2.0);
    for (inertia, e) in [(0.05, 0.1), (0.05, 0.3), (0.02, 0.2), (0.02, 0.4), (0.02, 0.5), (0.1, 0.1)] {
        let mut text = format!(
            "[system]\ncoordinates = [\"x\", \"y\", \"p\"]\n[energy]\nkinetic = \"(x'^2 + y'^2 + {inertia:?}*p'^2)/2\"\n"
        );
        for (name, sign) in [("left", "-"), ("right", "+")] {
            text += &format!(
                "[[contact]]\nname = \"{name}\"\ngap = \"y {sign} p\"\nslip = [\"x\"]\nmu = {mu:?}\nrestitution = {e:?}\n"
            );
        }
        text += "[state.position]\ny = 0.055\np = 0.005\n";
        text += &format!("[state.velocity]\nx = {speed:?}\ny = -1.0\n");
        // The other end is driven down by the fraction k of the change at the one in the impact.
        let k = (1.0 / inertia - 1.0) / (1.0 / inertia + 1.0);
        let (mut gaps, mut rates, mut end, mut struck) = ([0.05, 0.06], [-1.0, -1.0], 0.0, 0);
        for _ in 0..200 {
            let d: f64 = -gaps[struck] / rates[struck];
            end += d;
            let other = 1 - struck;
            gaps[other] += d * rates[other];
            gaps[struck] = 0.0;
            let change = -(1.0 + e) * rates[struck];
            rates[struck] += change;
            rates[other] -= k * change;
            assert!(rates[other] < 0.0);
            struck = other;
        }
        let run = done(&text, &[], 0.2);
        // Told when 1e-13 m are left to go, at speeds that are above 1e-3 then.
        near(rest(&run), end, 1e-10);
        for (v, expected) in run.state.v.iter().zip([speed - mu, 0.0, 0.0]) {
            near(*v, expected, 1e-12);
        }
        assert_eq!(run.events.last().map(|e| e.kind), Some(EventKind::Accumulation));
        assert!(run.modes.iter().all(|m| m.is_closed()));
    }
}

fn free(gap: &str) -> String {
    format!(
        "[system]\ncoordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\n[[contact]]\nname = \"wall\"\ngap = \
         \"{gap}\"\nrestitution = 0.5\n"
    )
}

/// A wall that touches and goes: however flat, one graze; a wall that keeps its distance: none.
#[test]
fn touches_of_even_order_graze() {
    for (gap, at) in [
        ("x + (t - 1)^2", 1.0),
        ("x + (t - 1)^4", 1.0),
        ("x + 3*(t - 1.3)^4", 1.3),
        ("x + (t - 0.7)^6", 0.7),
        ("x + (t - 1)^4*(2 + sin(t))", 1.0),
        ("x + 1 - cos(t - 1)", 1.0),
    ] {
        for breakpoints in [vec![], vec![1.0], vec![0.9995, 1.0004]] {
            let run = run(&free(gap), &[], &EventOptions { breakpoints, ..until(2.0) });
            assert_eq!(kinds(&run), ["graze"], "{gap}");
            near(run.events[0].t, at, 1e-6);
            assert_eq!(run.state.v, [0.0]);
        }
    }
    for gap in [
        "x + (t - 1)^4 + 1e-9",
        "x + (t - 1)^2 + 1e-9",
        "x + 1e-5",
        "x + 2e-6 + 1e-9*cos(30*t)",
        "x + 1e-3*exp(-20*t)",
    ] {
        assert!(done(&free(gap), &[], 2.0).events.is_empty(), "{gap}");
    }
}

/// A slider-crank at 150 rad/s whose rod bends in two modes of 300 and 1200 rad/s, with friction in one.
const FLEXIBLE_SLIDER_CRANK: &str = r#"
[system]
coordinates = ["a", "b", "x", "p", "r"]
[energy]
kinetic = "0.36*0.15^2*a'^2/6 + 0.15*(0.15^2*a'^2/2 + 0.3^2*b'^2/6 + 0.15*0.3*a'*b'*cos(a - b)/2) + 0.15*(p'^2 + r'^2)/4 + 0.15*(0.15*a'*cos(a - b)*p'*2/pi + 0.3*b'*p'/pi - 0.3*b'*r'/(2*pi)) + 0.075*x'^2/2"
potential = "0.15*(300^2*p^2 + 1200^2*r^2)/4"
[[force]]
coordinate = "p"
value = "-0.01*p'"
[[joint]]
name = "along"
value = "0.15*cos(a) + 0.3*cos(b) - x"
[[joint]]
name = "across"
value = "0.15*sin(a) + 0.3*sin(b)"
[[joint]]
name = "drive"
value = "a - 150*t"
[state.position]
x = 0.45
[state.velocity]
a = 150.0
b = -75.0
"#;

/// Where the sweeps and not the errors limit the steps, a looser tolerance must not cost more.
#[test]
fn work_falls_with_the_tolerance() {
    let runs = [1e-4, 1e-6, 1e-8, 1e-10, 1e-12]
        .map(|tolerance| run(FLEXIBLE_SLIDER_CRANK, &[], &EventOptions { tolerance, ..until(0.1) }));
    let evaluations = runs.each_ref().map(|run| run.evaluations);
    // Within a tenth: whole steps and whole sweeps are counted.
    assert!(evaluations.windows(2).all(|w| 10 * w[0] <= 11 * w[1]), "{evaluations:?}");
    assert!(2 * evaluations[1] < evaluations[4], "{evaluations:?}");
    for (run, error) in runs.iter().zip([1e-4, 1e-6, 1e-8, 1e-10, 0.0]) {
        assert_eq!(run.ending, Ending::Done);
        let off = run.state.q.iter().zip(&runs[4].state.q).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off <= 10.0 * error, "{off:e} for {error:e}");
    }
}

proptest! {
    /// Any floor, any speed along it, any restitution up to 0.95.
    #[test]
    fn random_bounces_end_when_they_should(
        floor in -2000.0..2000.0_f64,
        height in 1e-3..3.0_f64,
        c in -3.0..3.0_f64,
        e in 0.05..0.95_f64,
        along in -10.0..10.0_f64,
    ) {
        let text = format!(
            "[system]\ncoordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"9.81*y\"\n\
             [[contact]]\nname = \"floor\"\ngap = \"y - {floor:?} - ({c:?})*t\"\nrestitution = {e:?}\n[state.position]\ny = \
             {:?}\n[state.velocity]\nx = {along:?}\n", floor + height
        );
        let g = 9.81;
        let height = (floor + height) - floor;
        let w = f64::sqrt(c * c + 2.0 * g * height);
        let end = (w - c) / g + 2.0 * w * e / (g * (1.0 - e));
        let run = done(&text, &[], end + 0.1);
        prop_assert!((rest(&run) - end).abs() < 1e-9, "{} for {end}", rest(&run));
        prop_assert!((run.state.q[0] - along * (end + 0.1)).abs() < 1e-9);
    }

    /// A gap of micrometres and a speed: the first impact by the quadratic formula.
    #[test]
    fn random_small_gaps_close_when_they_should(
        power in -9.0..-6.0_f64, speed in -8.0..-1.0_f64, up in any::<bool>(),
    ) {
        let (x, v) = (10_f64.powf(power), 10_f64.powf(speed) * if up { 1.0 } else { -1.0 });
        let text = ball("x", x, 0.5).replace(&format!("x = {x}"), &format!("x = {x:e}"))
            + &format!("[state.velocity]\nx = {v:e}\n");
        let s = (v * v + 2.0 * 9.81 * x).sqrt();
        let first = if v > 0.0 { (v + s) / 9.81 } else { 2.0 * x / (s - v) };
        let run = done(&text, &[], 2.0 * first);
        prop_assert!(run.corrections.is_empty());
        prop_assert!((run.events[0].t - first).abs() < 1e-12, "{} for {first}", run.events[0].t);
    }
}
