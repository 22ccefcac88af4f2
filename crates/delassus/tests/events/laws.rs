//! Impulses from outside, percussions in joints and guides, impacts that no law resolves, and a slider-crank
//! whose corners hit the walls: closed forms, and counts that do not depend on the tolerance.

use delassus::events::{Ending, EventError, EventKind, EventOptions, Trajectory, run_events};
use delassus_scene::read_system;
use delassus_solve::impact::{ImpactLaw, ImpactStatus};

use crate::support::near::near;

fn run(text: &str, options: &EventOptions) -> Trajectory {
    let file = read_system(text, &[]).unwrap_or_else(|e| panic!("{e}"));
    run_events(&file.system, &file.state, options).unwrap_or_else(|e| panic!("{e}"))
}

fn with(law: ImpactLaw, t_end: f64) -> EventOptions {
    EventOptions { law, t_end, ..Default::default() }
}

/// A mass of 2 kg, hit with 3 N s at 0.5 s, and once more at the very start.
#[test]
fn an_impulse_on_a_free_mass() {
    let text = r#"
[system]
coordinates = ["x"]
[parameters]
when = 0.5
[energy]
kinetic = "x'^2"
[[impulse]]
time = "when"
coordinate = "x"
value = "2 + 1"
[[impulse]]
time = 0.0
coordinate = "x"
value = -2
"#;
    let run = run(text, &with(ImpactLaw::Moreau, 1.0));
    assert_eq!(run.ending, Ending::Done);
    let reported: Vec<_> =
        run.events.iter().map(|e| (e.t, e.kind, e.contact.as_str(), e.impulse[0])).collect();
    assert_eq!(reported, [(0.0, EventKind::Impulse, "x", -2.0), (0.5, EventKind::Impulse, "x", 3.0)]);
    // −1 m/s for half a second, then +0.5 m/s.
    near(run.state.q[0], -0.25, 1e-14);
    near(run.state.v[0], 0.5, 1e-14);
    near(run.events[1].energy_change, 0.25 - 1.0, 1e-14);
}

const BLOCK: &str = r#"
[system]
coordinates = ["x", "y"]
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "10*y"
[[impulse]]
time = 0.25
coordinate = "x"
value = 1.0
[[impulse]]
time = 0.25
coordinate = "y"
value = -1.0
[[contact]]
name = "floor"
gap = "y"
slip = ["x"]
mu = 0.5
restitution = 0.5
"#;

/// A block at rest, hit from above and from behind: the floor answers with 1 N s and friction with half of
/// it. It then slides v²/(2 μ g) = 0.025 m.
#[test]
fn the_floor_answers_to_an_impulse() {
    let run = run(BLOCK, &with(ImpactLaw::Moreau, 1.0));
    assert_eq!(run.ending, Ending::Done);
    let kinds: Vec<&str> = run.events.iter().map(|e| e.kind.name()).collect();
    assert_eq!(kinds, ["impulse", "impact", "slide", "stick"]);
    assert_eq!(run.events[0].contact, "x, y");
    near(run.events[1].impulse[0], 1.0, 1e-14);
    near(run.events[1].impulse[1], -0.5, 1e-14);
    near(run.events[3].t, 0.25 + 0.5 / 5.0, 1e-12);
    near(run.state.q[0], 0.025, 1e-12);
}

/// Under Poisson's law half of what was pressed in comes back: the block hops with 0.5 m/s.
#[test]
fn poissons_law_gives_an_impulse_back() {
    let run = run(BLOCK, &with(ImpactLaw::Poisson, 0.25 + 0.05));
    near(run.state.v[1], 0.5 - 10.0 * 0.05, 1e-12);
    near(run.state.q[1], 0.5 * 0.05 - 5.0 * 0.05 * 0.05, 1e-12);
}

/// A pendulum that hangs down, hit with (1, 2): it swings with 1, and the rod, whose value has the gradient
/// (0, −2), takes the rest with a percussion of 1 (001 eq. 72).
#[test]
fn joints_tell_their_percussion() {
    let text = r#"
[system]
coordinates = ["x", "y"]
[energy]
kinetic = "(x'^2 + y'^2)/2"
[[impulse]]
time = 0.5
coordinate = "x"
value = 1.0
[[impulse]]
time = 0.5
coordinate = "y"
value = 2.0
[[joint]]
name = "rod"
value = "x^2 + y^2 - 1"
[state.position]
y = -1.0
"#;
    let run = run(text, &with(ImpactLaw::Moreau, 1.0));
    let event = &run.events[0];
    assert_eq!(event.joint_impulses.len(), 1);
    assert_eq!(event.joint_impulses[0].0, "rod");
    near(event.joint_impulses[0].1[0], 1.0, 1e-14);
    near(run.state.q[0], 0.5f64.sin(), 1e-12);
}

const GUIDE: &str = r#"
[system]
coordinates = ["x", "y"]
[energy]
kinetic = "(x'^2 + y'^2)/2"
[[contact]]
name = "wall"
gap = "1 - x - y"
restitution = 0.5
[[joint]]
name = "guide"
value = "y"
slip = ["x"]
mu = 0.3
[state.velocity]
x = 1.0
"#;

/// A mass in a guide with friction hits a slanted wall. It leaves with x' = −½, so that friction in the guide
/// pushes forward with 0.3 p against p at the wall: 1 − p + 0.3 p = −½.
#[test]
fn a_guide_rubs_while_it_is_struck() {
    let p = 1.5 / 0.7;
    for law in [ImpactLaw::Moreau, ImpactLaw::Newton] {
        let run = run(GUIDE, &with(law, 1.5));
        let event = &run.events[0];
        near(event.impulse[0], p, 1e-12);
        let (name, guide) = &event.joint_impulses[0];
        assert_eq!(name, "guide");
        near(guide[0], p, 1e-12);
        near(guide[1], 0.3 * p, 1e-12);
        near(run.state.v[0], -0.5, 1e-12);
        near(event.energy_change, 0.5 * (0.25 - 1.0), 1e-12);
        assert!(event.violations.is_empty());
    }
    // Along the percussion the guide holds without friction.
    let run = run(GUIDE, &with(ImpactLaw::Sequence, 1.5));
    near(run.events[0].impulse[0], 1.5, 1e-12);
}

fn squeezed(rest: &str) -> String {
    format!(
        r#"
[system]
coordinates = ["x"]
[energy]
kinetic = "x'^2/2"
[[contact]]
name = "piston"
gap = "x - t + 0.5"
{rest}
"#
    )
}

/// A piston that presses a mass against a wall, or against a joint, or two walls that require two rebounds:
/// no outcome, and the message names the contacts.
#[test]
fn impacts_without_outcome_are_told() {
    let wall = "[[contact]]\nname = \"wall\"\ngap = \"1 - x\"";
    let run_wall = run(&squeezed(wall), &with(ImpactLaw::Moreau, 3.0));
    let Ending::NoOutcome { contacts, velocities, law, status } = &run_wall.ending else {
        panic!("{:?}", run_wall.ending)
    };
    assert_eq!(contacts, &["piston", "wall"]);
    assert_eq!((*law, *status), ("moreau", ImpactStatus::NoSolution));
    near(velocities[1], -1.0, 1e-12);
    // The trajectory so far is there.
    near(run_wall.state.t, 1.5, 1e-12);
    near(run_wall.state.q[0], 1.0, 1e-12);
    assert_eq!(run_wall.events.len(), 1);
    let words = run_wall.ending.to_string();
    assert!(words.contains("`piston`, `wall`") && words.contains("no solution"), "{words}");

    let held = run(&squeezed("[[joint]]\nname = \"held\"\nvalue = \"x\""), &with(ImpactLaw::Moreau, 3.0));
    assert!(matches!(&held.ending, Ending::NoOutcome { contacts, .. } if contacts == &["piston"]));

    let twice = r#"
[system]
coordinates = ["x", "y"]
[energy]
kinetic = "(x'^2 + y'^2)/2"
[[contact]]
name = "a"
gap = "y"
slip = ["x"]
mu = 0.5
restitution = 0.3
[[contact]]
name = "b"
gap = "y"
slip = ["x"]
mu = 0.5
restitution = 0.9
[state.velocity]
x = 1.0
y = -1.0
"#;
    let with = |law: ImpactLaw, t_end: f64| EventOptions { impact_at_start: true, ..with(law, t_end) };
    let newton = run(twice, &with(ImpactLaw::Newton, 1.0));
    assert!(matches!(&newton.ending, Ending::NoOutcome { law: "newton", .. }), "{:?}", newton.ending);
    assert_eq!(run(twice, &with(ImpactLaw::Moreau, 1.0)).ending, Ending::Done);
    let energetic = run(twice, &with(ImpactLaw::Energetic, 1.0));
    assert_eq!(energetic.ending, Ending::OneContact { contacts: vec!["a".into(), "b".into()] });
    let words = energetic.ending.to_string();
    assert!(words.contains("`a`, `b`") && words.contains("`sequence`"), "{words}");
}

#[test]
fn velocities_that_tear_a_joint_are_refused() {
    let text = r#"
[system]
coordinates = ["x", "y"]
[energy]
kinetic = "(x'^2 + y'^2)/2"
[[joint]]
name = "rod"
value = "x^2 + y^2 - 1"
[state.position]
x = 1.0
[state.velocity]
x = 1.0
"#;
    let file = read_system(text, &[]).unwrap();
    let error = run_events(&file.system, &file.state, &with(ImpactLaw::Moreau, 1.0)).unwrap_err();
    assert!(matches!(&error, EventError::JointTorn { joint, rate, .. } if joint == "rod" && *rate == 2.0));
}

/// Counts of events do not depend on the tolerance; the slider stays in its guide, and hits it.
#[test]
fn a_slider_crank_with_clearance() {
    let text = include_str!("../../../../scenes/slider-crank-clearance.toml");
    let file = read_system(text, &[]).unwrap();
    let t_end = 0.09;
    let sample_times: Vec<f64> = (0..=500).map(|k| t_end * f64::from(k) / 500.0).collect();
    let moved = |tolerance: f64| {
        let options =
            EventOptions { t_end, tolerance, sample_times: sample_times.clone(), ..Default::default() };
        let run = run_events(&file.system, &file.state, &options).unwrap();
        assert_eq!(run.ending, Ending::Done);
        run
    };
    let (run, again) = (moved(1e-12), moved(5e-13));
    // Both corners of a side hit at once, up to rounding, and then once more or not: moments count.
    let counts = |run: &Trajectory| {
        EventKind::ALL.map(|kind| {
            let mut times: Vec<f64> = run.events.iter().filter(|e| e.kind == kind).map(|e| e.t).collect();
            times.dedup_by(|later, t| *later - *t < 1e-12);
            times.len()
        })
    };
    assert_eq!(counts(&run), counts(&again));
    // Rattling ends where it should, not where rounding puts it: some 40 impacts later nine digits are left.
    for (a, b) in run.state.q.iter().zip(&again.state.q) {
        near(*a, *b, 1e-9);
    }
    let (l1, l2, a, b, c) = (0.153, 0.306, 0.05, 0.025, 0.001);
    let mut sides = [false; 2];
    for sample in &run.samples {
        let q = &sample.state.q;
        let y = l1 * q[0].sin() + l2 * q[1].sin();
        // How far the highest and the lowest corner are from the walls.
        let reach = a * q[2].sin().abs() + b * q[2].cos();
        let room = [b + c - (y + reach), b + c + (y - reach)];
        for (side, room) in sides.iter_mut().zip(room) {
            assert!(room > -1e-10, "{room} at {}", sample.state.t);
            *side |= room < 1e-10;
        }
    }
    assert_eq!(sides, [true; 2], "it slides along both walls");
    for corner in ["upper left", "upper right", "lower left", "lower right"] {
        assert!(run.events.iter().any(|e| e.kind == EventKind::Impact && e.contact == corner), "{corner}");
    }
    assert!(run.events.iter().any(|e| e.kind == EventKind::Accumulation));
    // Impacts and friction only take.
    assert!(run.events.iter().all(|e| e.energy_change <= 1e-12));
    let energies = run.samples.windows(2).map(|w| w[1].energy - w[0].energy);
    assert!(energies.fold(0.0, f64::max) < 1e-9);
}
