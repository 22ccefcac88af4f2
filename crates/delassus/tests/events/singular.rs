//! Linkages that pass singular positions, against their motion in one coordinate.

use std::f64::consts::PI;

use delassus::events::{Ending, EventKind, EventOptions, Trajectory, run_events, world_system};

use super::closed_forms::{kinds, run, until};
use crate::support::worlds::world;

fn at(text: &str, set: &[(&str, &str)], t_end: f64, tolerance: f64) -> Trajectory {
    run(text, set, &EventOptions { t_end, tolerance, ..Default::default() })
}

/// Two cranks of length r on pivots at a distance d, joined by a coupler of length d; its mass is m. Only the
/// first crank has weight, so that power goes through the coupler.
const PARALLELOGRAM: &str = r#"
[system]
coordinates = ["a", "b", "c"]
[parameters]
r = 1.0
d = 2.0
w = 1.0
start = 1.0
[energy]
kinetic = "0.4*a'^2/2 + 0.2*c'^2/2 + 1.5*(r^2*a'^2 + d^2*b'^2/3 + r*d*a'*b'*cos(a - b))/2"
potential = "9.81*(1.5*(r*sin(a) + d*sin(b)/2) + 0.3*sin(a))"
[[joint]]
name = "x"
value = "r*cos(a) + d*cos(b) - r*cos(c) - d"
[[joint]]
name = "y"
value = "r*sin(a) + d*sin(b) - r*sin(c)"
[state.position]
a = "start"
c = "start"
[state.velocity]
a = "w"
c = "w"
"#;

/// The same while its cranks turn alike.
const ONE_CRANK: &str = r#"
[system]
coordinates = ["a"]
[parameters]
w = 1.0
start = 1.0
[energy]
kinetic = "(0.4 + 0.2 + 1.5)*a'^2/2"
potential = "9.81*(1.5 + 0.3)*sin(a)"
[state.position]
a = "start"
[state.velocity]
a = "w"
"#;

/// Three cranks, two couplers: both fold flat at the same instant.
const TWO_IN_A_ROW: &str = r#"
[system]
coordinates = ["a", "b", "c", "e", "f"]
[parameters]
w = 1.0
start = 1.0
[energy]
kinetic = "(0.3*a'^2 + 0.2*c'^2 + 0.1*f'^2)/2 + (a'^2 + b'^2/3 + a'*b'*cos(a - b))/2 + (c'^2 + e'^2/3 + c'*e'*cos(c - e))/2"
potential = "9.81*(sin(a) + sin(b)/2 + sin(c) + sin(e)/2 + 0.5*sin(f))"
[[joint]]
name = "x1"
value = "cos(a) + cos(b) - cos(c) - 1"
[[joint]]
name = "y1"
value = "sin(a) + sin(b) - sin(c)"
[[joint]]
name = "x2"
value = "cos(c) + cos(e) - cos(f) - 1"
[[joint]]
name = "y2"
value = "sin(c) + sin(e) - sin(f)"
[state.position]
a = "start"
c = "start"
f = "start"
[state.velocity]
a = "w"
c = "w"
f = "w"
"#;

/// (0.3 + 0.2 + 0.1 + 1 + 1) a'² / 2 and 9.81 (1 + 1 + 0.5) sin a.
const ONE_OF_THREE: &str = r#"
[system]
coordinates = ["a"]
[parameters]
w = 1.0
start = 1.0
[energy]
kinetic = "2.6*a'^2/2"
potential = "9.81*2.5*sin(a)"
[state.position]
a = "start"
[state.velocity]
a = "w"
"#;

/// Times at which sin a changes its sign along the motion in one coordinate, by its samples.
fn passages(text: &str, set: &[(&str, &str)], t_end: f64) -> Vec<f64> {
    let count = 1000;
    let sample_times = (0..=count).map(|k| t_end * f64::from(k) / f64::from(count)).collect();
    let run = run(text, set, &EventOptions { t_end, sample_times, ..Default::default() });
    let height = |k: usize| run.samples[k].state.q[0].sin();
    let crosses = (1..run.samples.len()).filter(|k| height(k - 1) * height(*k) < 0.0);
    // Linear between samples 2 ms apart: within g h²/8 of the zero.
    crosses
        .map(|k| {
            let (a, b) = (&run.samples[k - 1].state, &run.samples[k].state);
            a.t + (b.t - a.t) * a.q[0].sin() / (a.q[0].sin() - b.q[0].sin())
        })
        .collect()
}

/// All cranks turn alike through every position in which the linkage is flat; the event says when and with
/// which velocity.
#[test]
fn linkages_that_fold_flat_go_on_as_they_came() {
    for (text, reduced, cranks) in
        [(PARALLELOGRAM, ONE_CRANK, &[0, 2][..]), (TWO_IN_A_ROW, ONE_OF_THREE, &[0, 2, 4])]
    {
        for w in ["0.3", "-6"] {
            let exact = at(reduced, &[("w", w)], 2.0, 1e-13);
            let times = passages(reduced, &[("w", w)], 2.0);
            for tolerance in [1e-6, 1e-9, 1e-12] {
                let run = at(text, &[("w", w)], 2.0, tolerance);
                assert_eq!(run.ending, Ending::Done, "{w} {tolerance} at {}", run.state.t);
                // Local errors add up over about a hundred steps, and angles to 60 rad.
                let error = (1e3 * tolerance).max(1e-9) * exact.state.q[0].abs().max(1.0);
                for &crank in cranks {
                    let off = (run.state.q[crank] - exact.state.q[0]).abs();
                    assert!(off < error, "{w} {tolerance}: {off:e}");
                }
                assert!(((run.energy[1] - run.energy[0]) / run.energy[0]).abs() < error);
                assert!(run.events.iter().all(|event| event.kind == EventKind::Branch));
                assert_eq!(run.events.len(), times.len(), "{w} {tolerance}");
                for (event, t) in run.events.iter().zip(&times) {
                    assert!((event.t - t).abs() < 1e-4 && !event.contact.is_empty());
                    let alike = cranks.iter().map(|i| (event.branch[*i] - event.branch[0]).abs());
                    assert!(alike.fold(0.0, f64::max) < 1e-5 * event.branch[0].abs().max(1.0));
                }
            }
        }
    }
}

/// A four-bar with l₁ + d = l₂ + l₃: crank 2, coupler 4, rocker 3, ground 5, folded flat at a = π; flywheels
/// at its hinges and no weight. With `d` longer the crank does not pass.
fn four_bar(d: f64, sign: f64, w: f64) -> String {
    let [a, b, c] = angles(2.0, d, sign);
    let [rate_b, rate_c] = rates([a, b, c]).map(|rate| w * rate);
    format!(
        r#"
[system]
coordinates = ["a", "b", "c"]
[energy]
kinetic = "(a'^2 + 0.5*b'^2 + 0.7*c'^2)/2"
[[joint]]
name = "x"
value = "2*cos(a) + 4*cos(b) - 3*cos(c) - {d}"
[[joint]]
name = "y"
value = "2*sin(a) + 4*sin(b) - 3*sin(c)"
[state.position]
a = {a:e}
b = {b:e}
c = {c:e}
[state.velocity]
a = {w:e}
b = {rate_b:e}
c = {rate_c:e}
"#
    )
}

/// The angles of coupler and rocker by the law of cosines, on the side `sign` of the diagonal.
fn angles(a: f64, d: f64, sign: f64) -> [f64; 3] {
    let (x, y) = (2.0 * a.cos() - d, 2.0 * a.sin());
    let diagonal = x.hypot(y);
    let c = y.atan2(x) + sign * ((9.0 + diagonal * diagonal - 16.0) / (6.0 * diagonal)).min(1.0).acos();
    let b = (3.0 * c.sin() - 2.0 * a.sin()).atan2(3.0 * c.cos() + d - 2.0 * a.cos());
    [a, b, c]
}

/// b' and c' by a.
fn rates([a, b, c]: [f64; 3]) -> [f64; 2] {
    let (first, second) = ([-4.0 * b.sin(), 3.0 * c.sin()], [4.0 * b.cos(), -3.0 * c.cos()]);
    let (p, q) = (2.0 * a.sin(), -2.0 * a.cos());
    let determinant = first[0] * second[1] - first[1] * second[0];
    [(p * second[1] - first[1] * q) / determinant, (first[0] * q - p * second[0]) / determinant]
}

/// With all energy in J(a) a'²/2 the crank takes ∫ √(J/2E) da. The side of the diagonal changes at every flat
/// position, where the smooth branch goes through. Midpoint rule on half periods between them, where the
/// integrand is smooth; near the flat positions J has the rounding 1e-16/σ² of its angles.
fn time_to(a: f64, sign: f64, energy: f64) -> f64 {
    let (parts, start) = (20_000, 2.0);
    let h = (a - start) / f64::from(parts);
    let at = |k: i32| {
        let angle = start + h * (f64::from(k) + 0.5);
        let passed = ((angle - PI) / (2.0 * PI)).ceil().max(0.0);
        let sign = if passed as i64 % 2 == 0 { sign } else { -sign };
        let [b, c] = rates(angles(angle, 5.0, sign));
        let j = 1.0 + 0.5 * b * b + 0.7 * c * c;
        h * (j / (2.0 * energy)).sqrt()
    };
    (0..parts).map(at).sum()
}

#[test]
fn a_four_bar_with_a_change_point_changes_sides() {
    for (sign, w) in [(1.0, 1.0), (-1.0, 1.0), (1.0, 0.2), (-1.0, 3.0)] {
        for tolerance in [1e-6, 1e-9, 1e-12] {
            let run = at(&four_bar(5.0, sign, w), &[], 12.0 / w, tolerance);
            assert_eq!(run.ending, Ending::Done);
            let [a, b, c] = run.state.q[..] else { unreachable!() };
            let passages = run.events.iter().filter(|event| event.kind == EventKind::Branch);
            assert_eq!(passages.clone().count(), ((a + PI) / (2.0 * PI)) as usize);
            assert!(passages.clone().all(|event| event.answers == 2));
            let time = time_to(a, sign, run.energy[0]);
            assert!((time - 12.0 / w).abs() * w < 1e-6, "{sign} {w} {tolerance}: {time}");
            let side = if passages.count() % 2 == 0 { sign } else { -sign };
            let expected = angles(a, 5.0, side);
            assert!((b - expected[1]).sin().abs() < 1e-6 && (c - expected[2]).sin().abs() < 1e-6);
        }
    }
}

/// A ground link that is too long by 1e-7 lets no crank pass: it turns back, without a passage. One that is
/// too short lets it pass on the same side.
#[test]
fn linkages_that_come_near_a_singular_position_do_not_pass_it() {
    for (d, turns) in [(5.0 + 1e-4, false), (5.0 + 1e-7, false), (5.0 - 1e-7, true)] {
        for tolerance in [1e-6, 1e-9, 1e-12] {
            let run = at(&four_bar(d, 1.0, 1.0), &[], 4.0, tolerance);
            assert_eq!(run.ending, Ending::Done);
            assert!(run.events.is_empty(), "{d} {tolerance}: {:?}", run.events);
            assert_eq!(run.state.q[0] > PI, turns, "{d} {tolerance}");
            assert!((run.energy[1] - run.energy[0]).abs() < 1e-8);
        }
    }
}

/// From rest in the flat position either branch may begin; a velocity along one decides.
#[test]
fn rest_in_a_singular_position_is_undecided() {
    for text in [PARALLELOGRAM, TWO_IN_A_ROW] {
        let run = at(text, &[("start", "0"), ("w", "0")], 1.0, 1e-12);
        assert!(
            matches!(&run.ending, Ending::Branches { joint } if joint.starts_with('x')),
            "{:?}",
            run.ending
        );
        assert!(run.ending.to_string().contains("singular position"));
    }
    let run = at(PARALLELOGRAM, &[("start", "0"), ("w", "2")], 3.0, 1e-12);
    let exact = at(ONE_CRANK, &[("start", "0"), ("w", "2")], 3.0, 1e-13);
    assert_eq!(run.ending, Ending::Done);
    assert!((run.state.q[0] - exact.state.q[0]).abs() < 1e-9);
    // Folded flat and hanging in balance nothing moves, and nothing is to be decided.
    let resting = PARALLELOGRAM.replace("9.81", "0.0");
    let run = at(&resting, &[("start", "0"), ("w", "0")], 1.0, 1e-12);
    assert_eq!((run.ending, run.state.q), (Ending::Done, vec![0.0; 3]));
}

/// A bar of length and mass 1 at rest relative to the next, which moves with this velocity.
fn bar(name: &str, position: [f64; 2], velocity: f64, spin: f64) -> String {
    let ([x, y], i) = (position, 1.0 / 12.0);
    format!(
        "[[body]]\nname = \"{name}\"\nmass = 1\ninertia = [{i}, {i}, {i}]\nposition = [{x}, {y}, 0]\n\
         velocity = [{velocity}, 0, 0]\nangular_velocity = [0, 0, {spin}]\n"
    )
}

/// Bodies in a plane on hinges in space, whose rows are redundant all the way: two cranks and their coupler
/// fall from the upright position through the flat one.
#[test]
fn a_world_of_hinges_folds_flat() {
    let mut text = String::from("[world]\nplane = \"xy\"\ngravity = [0, -9.81, 0]\n");
    text += &bar("left", [0.0, 0.5], 0.5, -1.0);
    text += &bar("coupler", [0.5, 1.0], 1.0, 0.0);
    text += &bar("right", [1.0, 0.5], 0.5, -1.0);
    for (name, bodies, x, y) in [
        ("A", ["world", "left"], 0, 0),
        ("B", ["left", "coupler"], 0, 1),
        ("C", ["coupler", "right"], 1, 1),
        ("D", ["world", "right"], 1, 0),
    ] {
        text += &format!(
            "[[joint]]\nname = \"{name}\"\ntype = \"revolute\"\nbodies = {bodies:?}\nanchor = [{x}, {y}, 0]\n\
             axis = [0, 0, 1]\n"
        );
    }
    let (world, start) = world(&text);
    let system = world_system(&world, &start).unwrap_or_else(|e| panic!("{e}"));
    let run = run_events(&system.system, &system.state, &until(1.0)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(run.ending, Ending::Done, "at {}", run.state.t);
    assert_eq!(kinds(&run), ["branch"]);
    // Two cranks of ⅓ about their pivots and a coupler that moves as one point at their ends.
    let one = "[system]\ncoordinates = [\"a\"]\n[energy]\nkinetic = \"(2/3 + 1)*a'^2/2\"\n\
               potential = \"9.81*(0.5 + 0.5 + 1)*sin(a)\"\n[state.position]\na = \"pi/2\"\n[state.velocity]\na = -1.0\n";
    let exact = at(one, &[], 1.0, 1e-13);
    let end = system.world_state(&start, &run.state);
    let omega = end.bodies[world.bodies.iter().position(|b| b.name == "left").unwrap()].angular_velocity.z;
    assert!((omega - exact.state.v[0]).abs() < 1e-9, "{omega} for {}", exact.state.v[0]);
    assert!((run.energy[1] - run.energy[0]).abs() < 1e-9);
}
