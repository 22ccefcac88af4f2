//! Worlds analyzed at a state, against closed forms.

use delassus::analysis::{SystemAnalysis, analyze_world};
use delassus::lagrangian::{ContactState, Tolerances};
use delassus_scene::read_world;
use delassus_solve::lcp::Verdict;
use delassus_solve::modes::EnumerateOptions;

use crate::support::near::near_relative as near;
use crate::support::texts::{WEIGHT, sphere, surfaces};
use crate::support::worlds::scene;

fn analyze(text: &str, set: &[(&str, &str)]) -> SystemAnalysis {
    let file = read_world(text, None, set).unwrap_or_else(|e| panic!("{}", e.render("world", text)));
    analyze_world(&file.world, &file.state, &Tolerances::default(), &EnumerateOptions::default()).unwrap()
}

#[test]
fn the_rod_of_painleve_jams_as_a_world_as_it_does_as_a_system() {
    let text = scene("painleve-rod-world");
    let result = analyze(&text, &[]);
    let cone = result.contacts[0].cone.as_ref().unwrap();
    near(cone.mu_jam.unwrap(), 5.0 / 3.0, 1e-8);
    near(cone.mu_crit.unwrap(), 3.0 / 5.0, 1e-8);
    assert!(result.contacts[0].jams);
    assert_eq!(result.analysis.unwrap().existence, Verdict::Refuted);
    // Less friction, or the other direction: one answer.
    for set in [("mu", "1.6"), ("slip", "1")] {
        let analysis = analyze(&text, &[set]).analysis.unwrap();
        assert_eq!(analysis.verdicts(), [Verdict::Proved; 3], "{set:?}");
    }
    // A rod that turns presses its tip with its spin: the free acceleration of the gap is −g + l ω² sin.
    let turning = text.replace("velocity = [\"slip\", 0, 0]", "angular_velocity = [0, 3, 0]");
    let turning = turning.replace("mu = 2.0", "mu = 0.0");
    let result = analyze(
        &turning.replace("angular_velocity", "velocity = [0, 0, \"-3*l*cos(angle)\"]\nangular_velocity"),
        &[],
    );
    assert!(matches!(result.contacts[0].state, ContactState::Active(_)));
    let gamma = result.assembly.dynamics.bias[0];
    near(gamma, 9.0 * (0.5f64).sqrt(), 1e-9);
}

#[test]
fn feet_of_a_table_share_its_weight_in_many_ways() {
    let text = scene("table");
    for mu in ["0", "0.5"] {
        let result = analyze(&text, &[("mu", mu)]);
        let analysis = result.analysis.unwrap();
        assert_eq!(result.contacts.len(), 4);
        assert_eq!(analysis.existence, Verdict::Proved, "mu = {mu}");
        assert_eq!(analysis.forces_unique, Verdict::Refuted, "mu = {mu}");
    }
    // Without friction all is known: the acceleration is unique, and the least forces are linear over the
    // feet.
    let result = analyze(&text, &[("mu", "0")]);
    let analysis = result.analysis.unwrap();
    assert_eq!(analysis.acceleration_unique, Verdict::Proved);
    let least = analysis.minimum_norm.unwrap();
    for (force, [x, y]) in least.iter().zip([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]]) {
        near(*force, 20.0 * 9.81 / 4.0 * (1.0 + (x * 0.15 + y * 0.08) / 0.45), 1e-7);
    }
}

#[test]
fn forces_among_many_are_the_least_with_their_intervals_in_every_order_of_the_feet() {
    let text = scene("table");
    let (start, end) = (
        text.find("[[body.shape]]                          # leg 1").unwrap(),
        text.find("[[friction]]").unwrap(),
    );
    let legs: Vec<&str> = text[start..end].split_inclusive("height\"]\n\n").collect();
    assert_eq!(legs.len(), 4);
    // N = N_min + s (1, −1, 1, −1), s from −23.98 to 41.42 where a foot lifts.
    let least = [74.12, 41.42, 23.98, 56.68];
    for order in [[0, 1, 2, 3], [2, 0, 3, 1], [3, 2, 1, 0]] {
        let shuffled: String = order.iter().map(|&leg| legs[leg]).collect();
        let text = format!("{}{shuffled}{}", &text[..start], &text[end..]);
        let result = analyze(&text, &[]);
        let analysis = result.analysis.unwrap();
        let forces = analysis.minimum_norm.as_ref().unwrap();
        let unique = analysis.unique_part.as_ref().unwrap();
        for (foot, &leg) in order.iter().enumerate() {
            let rows = 3 * foot..3 * foot + 3;
            near(forces[rows.start], least[leg], 1e-6);
            // Nothing pushes sideways, so the least forces have no friction; what all share has neither more
            // nor less.
            assert!(forces[rows.start + 1].hypot(forces[rows.start + 2]) < 1e-5, "{forces:?}");
            near(unique[rows.start], least[leg], 1e-6);
            assert_eq!(analysis.solutions.components[0].force[rows.start], forces[rows.start]);
            let ends = [-23.98, 41.42].map(|s| least[leg] + if leg % 2 == 0 { s } else { -s });
            let [low, high] = analysis.intervals[rows.start];
            near(low, ends[0].min(ends[1]), 1e-6);
            near(high, ends[0].max(ends[1]), 1e-6);
            // Friction goes both ways, up to its cone at most.
            for row in rows.clone().skip(1) {
                let [low, high] = analysis.intervals[row];
                near(low, -high, 1e-6);
                assert!(high > 1.0 && high <= 0.5 * ends[0].max(ends[1]), "{high}");
            }
        }
    }
}

#[test]
fn a_cylinder_that_rolls_is_held_across_by_any_friction() {
    // Two points of its line of contact may pull against each other: F_t up to √(μ² N² − F²) with F = m g
    // sin/3 shared.
    let text = r#"
[world]
[[body]]
name = "ground"
fixed = true
[[body.shape]]
type = "plane"
normal = [0.5, 0, "sqrt(0.75)"]
[[body]]
name = "roller"
mass = 1.0
position = [0.05, 0, "0.1*sqrt(0.75)"]
euler_deg = [90, 0, 0]
[[body.shape]]
type = "cylinder"
radius = 0.1
half_height = 0.2
[[friction]]
between = ["*", "*"]
mu = 0.4
"#;
    let result = analyze(text, &[]);
    let analysis = result.analysis.unwrap();
    assert_eq!(analysis.forces_unique, Verdict::Refuted);
    let normal = 0.5 * 9.81 * 0.75f64.sqrt();
    let along = 9.81 * 0.5 / 6.0;
    let across = ((0.4 * normal).powi(2) - along * along).sqrt();
    for contact in 0..2 {
        let rows = &analysis.intervals[3 * contact..3 * contact + 3];
        rows[0].iter().for_each(|n| near(*n, normal, 1e-7));
        // One tangent runs along the slope and is unique, the other along the cylinder.
        let across_row = if rows[1][1] - rows[1][0] > 1e-3 { 1 } else { 2 };
        near(rows[across_row][0], -across, 1e-6);
        near(rows[across_row][1], across, 1e-6);
        rows[3 - across_row].iter().for_each(|t| near(t.abs(), along, 1e-6));
        near(analysis.minimum_norm.as_ref().unwrap()[3 * contact + across_row], 0.0, 1e-6);
    }
}

#[test]
fn a_pendulum_pulls_with_its_weight_and_its_centripetal_force() {
    // A bob of 2 kg on a rod of 0.5 m, at the lowest point with 3 m/s: 2 (9.81 + 9/0.5) N.
    let text = r#"
[world]
[[body]]
name = "bob"
mass = 2.0
inertia = [1, 1, 1]
position = [0, 0, -0.5]
velocity = [3, 0, 0]
[[joint]]
name = "rod"
type = "distance"
bodies = ["world", "bob"]
local_anchors = [[0, 0, 0], [0, 0, 0]]
"#;
    let result = analyze(text, &[]);
    let analysis = result.analysis.unwrap();
    assert_eq!(analysis.verdicts(), [Verdict::Proved; 3]);
    near(analysis.solutions.components[0].force[0].abs(), 2.0 * (9.81 + 18.0), 1e-9);
    near(analysis.solutions.components[0].acceleration[2], 18.0, 1e-9);
}

#[test]
fn a_ball_that_slides_over_a_ball_presses_less() {
    // On top of a ball of 1 m with a radius of 0.1 m and 2 m/s: m (g − v²/1.1).
    let hill = "[[body]]
name = \"hill\"
fixed = true
[[body.shape]]
type = \"sphere\"
radius = 1
";
    let thrown = |speed: f64| {
        let ball = sphere("ball", 1.0, 0.1, [0.0, 0.0, 1.1], [speed, 0.0, 0.0]);
        analyze(&[WEIGHT, hill, &ball, &surfaces(0.3, 0.0)].concat(), &[])
    };
    let result = thrown(2.0);
    assert_eq!(result.names.contacts, ["hill|ball"]);
    let analysis = result.analysis.unwrap();
    assert_eq!(analysis.verdicts(), [Verdict::Proved; 3]);
    let piece = &analysis.solutions.components[0];
    near(piece.force[0], 9.81 - 4.0 / 1.1, 1e-9);
    // Friction μ N brakes it and spins it up with 5 μ N/(2 m r).
    near(piece.acceleration[0], -0.3 * (9.81 - 4.0 / 1.1), 1e-9);
    near(piece.acceleration[4], 2.5 * 0.3 * (9.81 - 4.0 / 1.1) / 0.1, 1e-9);
    // Twice as fast and it leaves: 16/1.1 > g.
    assert_eq!(thrown(4.0).analysis.unwrap().solutions.components[0].force[0], 0.0);
}

#[test]
fn blocks_on_an_incline_rest_and_slide() {
    let result = analyze(&scene("incline"), &[]);
    assert_eq!(result.contacts.len(), 8);
    let analysis = result.analysis.unwrap();
    assert_eq!(analysis.existence, Verdict::Proved);
    assert_eq!(analysis.forces_unique, Verdict::Refuted);
}

#[test]
fn springs_gyroscopes_and_what_is_left_out() {
    // A spring of 100 N/m stretched by 0.2 m on 4 kg without weight, and a motor that is not part of the
    // problem.
    let text = r#"
[world]
gravity = [0, 0, 0]
[[body]]
name = "cart"
mass = 4.0
inertia = [1, 1, 1]
position = [0.2, 0, 0]
[[joint]]
name = "rail"
type = "prismatic"
bodies = ["world", "cart"]
axis = [1, 0, 0]
local_anchors = [[0, 0, 0], [0, 0, 0]]
spring = { stiffness = 100, rest = 0 }
[[body]]
name = "top"
mass = 1.0
inertia = [1, 2, 2.5]
angular_velocity = [1, 1, 0]
position = [5, 0, 0]
[[joint]]
name = "servo"
type = "revolute"
bodies = ["world", "top"]
anchor = [5, 0, 0]
axis = [1, 1, 0]
motor = { speed = 1, force = 1 }
"#;
    let result = analyze(text, &[]);
    assert_eq!(result.notes.len(), 1, "{:?}", result.notes);
    assert!(result.notes[0].contains("servo"));
    assert_eq!(result.names.joints.len(), 10);
    assert_eq!(result.names.coordinates[0], "cart.x");
    let analysis = result.analysis.unwrap();
    let piece = &analysis.solutions.components[0];
    near(piece.acceleration[0], -5.0, 1e-9);
    // ω̄ × I ω̄ = (1, 1, 0) × (1, 2, 0) = (0, 0, 1): held by the joint, since the axis is no principal axis.
    near(result.assembly.dynamics.force[11], 1.0, 1e-12);
    near(piece.acceleration[11], 0.0, 1e-9);
}

#[test]
fn a_world_that_is_too_large_is_not_judged() {
    let mut text = String::from("[world]\n");
    for i in 0..41 {
        text += &format!("[[body]]\nname = \"b{i}\"\nmass = 1\ninertia = [1, 1, 1]\n");
    }
    let result = analyze(&text, &[]);
    assert_eq!(result.names.coordinates.len(), 246);
    assert!(result.notes[0].contains("too large"));
    let analysis = result.analysis.unwrap();
    assert_eq!(analysis.verdicts(), [Verdict::Unknown; 3]);
    assert!(analysis.solutions.components.is_empty());
}
