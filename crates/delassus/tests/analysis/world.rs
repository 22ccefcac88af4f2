//! Worlds analyzed at a state, against closed forms.

use delassus::analysis::{SystemAnalysis, analyze_world};
use delassus::lagrangian::{ContactState, Tolerances};
use delassus_scene::read_world;
use delassus_solve::lcp::Verdict;
use delassus_solve::modes::EnumerateOptions;

use crate::support::near::near_relative as near;
use crate::support::texts::{FLOOR, WEIGHT, cuboid, hinge, on_floor, sphere, surfaces};
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
        let unique = analysis.unique_part().unwrap();
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
    // On level ground the rows of both points along the cylinder are the same numbers, a proof.
    let level = text.replace("normal = [0.5, 0, \"sqrt(0.75)\"]", "normal = [0, 0, 1]");
    let level = level.replace("position = [0.05, 0, \"0.1*sqrt(0.75)\"]", "position = [0, 0, 0.1]");
    assert_eq!(analyze(&level, &[]).analysis.unwrap().forces_unique, Verdict::Refuted);
    // On the slope they differ in the last digit, and forces that are unique by that are not excluded.
    let result = analyze(text, &[]);
    let analysis = result.analysis.unwrap();
    assert_eq!(analysis.forces_unique, Verdict::Unknown);
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
fn springs_gyroscopes_and_motors_that_brake() {
    // A spring of 100 N/m stretched by 0.2 m on 4 kg without weight, and a motor that brakes with 1 N m: the
    // top turns at √2 rad/s, faster than its target.
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
    assert!(result.notes.is_empty(), "{:?}", result.notes);
    assert_eq!((result.names.joints.len(), result.names.contacts.len()), (10, 0));
    assert_eq!(result.names.coordinates[0], "cart.x");
    let analysis = result.analysis.unwrap();
    let piece = &analysis.solutions.components[0];
    near(piece.acceleration[0], -5.0, 1e-9);
    // ω̄ × I ω̄ = (1, 1, 0) × (1, 2, 0) = (0, 0, 1): held by the joint, since the axis is no principal axis.
    near(result.assembly.dynamics.force[11], 1.0, 1e-12);
    near(piece.acceleration[11], 0.0, 1e-9);
    // I about the axis is (1 + 2)/2.
    for c in [9, 10] {
        near(piece.acceleration[c], -(0.5f64).sqrt() / 1.5, 1e-9);
    }
}

/// A slider of 2 kg on a vertical rail, with what its joint has and a velocity along it.
fn slider(joint: &str, velocity: f64) -> SystemAnalysis {
    let text = format!(
        "[world]\n[[body]]\nname = \"slider\"\nmass = 2\ninertia = [1, 1, 1]\nvelocity = [0, 0, {velocity:?}]\n\
         [[joint]]\nname = \"rail\"\ntype = \"prismatic\"\nbodies = [\"world\", \"slider\"]\nanchor = [0, 0, 0]\n\
         axis = [0, 0, 1]\n{joint}\n"
    );
    analyze(&text, &[])
}

#[test]
fn dry_friction_and_motors_of_joints_take_part_up_to_their_bound() {
    let weight = 2.0 * 9.81;
    let friction = |force: f64| format!("friction = {{ mu = 0.0, force = {force:?} }}");
    let motor = |speed: &str, force: f64| format!("motor = {{ speed = {speed:?}, force = {force:?} }}");
    // What the joint has, the velocity, and the force that acts along the rail.
    for (joint, velocity, force) in [
        (friction(100.0), 0.0, weight),
        (friction(5.0), 0.0, 5.0),
        (friction(5.0), 0.3, -5.0),
        (friction(5.0), -0.3, 5.0),
        (motor("0", 30.0), 0.0, weight),
        (motor("0", 3.0), 0.0, 3.0),
        (motor("0.5", 3.0), 0.0, 3.0),
        (motor("-0.5", 3.0), 0.0, -3.0),
        // At its speed, which grows by 1.5 m/s each second: 3 N more than the weight, or all there is.
        (motor("0.25 + 1.5*t", 30.0), 0.25, weight + 3.0),
        (motor("0.25 + 1.5*t", 21.0), 0.25, 21.0),
    ] {
        let result = slider(&joint, velocity);
        let analysis = result.analysis.unwrap();
        assert_eq!(analysis.verdicts(), [Verdict::Proved; 3], "{joint} {velocity}");
        let a = &analysis.solutions.components[0].acceleration;
        near(a[2] + 20.0, force / 2.0 - 9.81 + 20.0, 1e-10);
        assert_eq!(result.names.coordinates.len(), 6, "pads have no names");
        assert!(result.findings.iter().all(|f| f.verified != Some(false)), "{joint}: {:?}", result.findings);
    }
}

#[test]
fn what_the_contact_problem_cannot_hold_leaves_everything_open() {
    for (joint, velocity, what) in [
        ("motor = { position = 1, force = 30 }", 0.0, "position"),
        ("friction = { mu = 0.2 }", 0.0, "grows with its load"),
        ("friction = { mu = 0.2, force = 5 }", 0.4, "grows with its load"),
        ("motor = { speed = 1 }", 0.0, "has not reached its speed"),
    ] {
        let result = slider(joint, velocity);
        assert!(!result.is_whole && result.notes[0].contains(what), "{joint}: {:?}", result.notes);
        assert_eq!(result.analysis.unwrap().verdicts(), [Verdict::Unknown; 3], "{joint}");
        assert!(result.findings.is_empty() && result.friction_bounds.is_empty() && result.lcp.is_none());
    }
    // At its speed a motor without bound is a joint.
    let result = slider("motor = { speed = \"0.5 + t\" }", 0.5);
    near(result.analysis.unwrap().solutions.components[0].acceleration[2], 1.0, 1e-9);
}

#[test]
fn a_ball_that_resists_rolling_rests() {
    let surface = surfaces(0.5, 0.0).replace("mu = 0.5", "mu = 0.5\nrolling = 0.05");
    let ball = |velocity: [f64; 3]| {
        let floor = FLOOR;
        let text = format!(
            "[world]\ngravity = [1, 0, -9.81]\n{floor}{}{surface}",
            sphere("ball", 1.0, 0.1, [0.0, 0.0, 0.1], velocity)
        );
        analyze(&text, &[])
    };
    let result = ball([0.0; 3]);
    let analysis = result.analysis.unwrap();
    assert_eq!(analysis.existence, Verdict::Proved);
    let piece = &analysis.solutions.components[0];
    assert!(piece.acceleration.iter().all(|a| a.abs() < 1e-9), "{piece:?}");
    // Friction of 1 N at 0.1 m is held by a moment, below 0.05 m times 9.81 N.
    near(piece.force[3].hypot(piece.force[4]), 0.1, 1e-9);
    let rolling = ball([0.3, 0.0, 0.0]);
    assert!(!rolling.is_whole, "{:?}", rolling.notes);
}

/// Laws that the analysis does not have are named, and nothing is decided; static friction it has.
#[test]
fn laws_of_surfaces_that_are_not_analyzed_leave_all_open() {
    let block = |friction: &str, gravity: &str| {
        let text = format!(
            "[world]\ngravity = {gravity}\n{FLOOR}{}[[friction]]\nbetween = [\"floor\", \"*\"]\n{friction}\n",
            sphere("ball", 1.0, 0.1, [0.0, 0.0, 0.1], [0.0; 3])
        );
        analyze(&text, &[])
    };
    for (friction, what) in [
        ("mu = 0.5\nspinning = 0.01", "spinning friction"),
        ("rolling = 0.01", "rolling friction of contacts without sliding friction"),
        ("mu = [0.2, 0.5]\naxis = [1, 0, 0]", "along and across a direction"),
        ("mu = 0.5\nrestitution = 0.5\nrestitution_tangential = 0.5", "tangential restitution"),
    ] {
        let result = block(friction, "[0, 0, -9.81]");
        assert!(!result.is_whole && result.notes.iter().any(|n| n.contains(what)), "{:?}", result.notes);
        assert_eq!(result.analysis.unwrap().verdicts(), [Verdict::Unknown; 3], "{friction}");
    }
    // A ball that is pulled by 0.4 of its weight rolls: friction of 2/7 of it, held by what sticks alone.
    let held = block("mu_static = 0.5\nmu_kinetic = 0.1", "[3.924, 0, -9.81]");
    let piece = &held.analysis.unwrap().solutions.components[0];
    assert!(held.is_whole);
    near(piece.force[1].hypot(piece.force[2]), 2.0 / 7.0 * 3.924, 1e-9);
}

/// A planar world of bodies and what else there is, friction 0.5.
fn planar(rest: &str) -> SystemAnalysis {
    let floor = FLOOR;
    analyze(&format!("[world]\nplane = \"xz\"\n{floor}{rest}{}", surfaces(0.5, 0.0)), &[])
}

#[test]
fn a_leaning_ladder_is_judged_as_the_same_system_is() {
    let ladder = "[[body]]\nname = \"wall\"\nfixed = true\n[[body.shape]]\ntype = \"plane\"\nnormal = [1, 0, 0]\n\
        [[body]]\nname = \"ladder\"\nmass = 1.0\ninertia = [0.1, 0.0833333333, 0.1]\nposition = [0.3, 0, 0.4]\n\
        [[body.shape]]\ntype = \"sphere\"\nradius = 0.01\nposition = [0.3, 0, -0.39]\n\
        [[body.shape]]\ntype = \"sphere\"\nradius = 0.01\nposition = [-0.29, 0, 0.4]\n";
    let world = planar(ladder);
    let system = delassus_scene::read_system(
        "[system]\ncoordinates = [\"x\", \"z\", \"r\"]\n[energy]\nkinetic = \"0.5*x'^2 + 0.5*z'^2 + 0.5*0.0833333333*r'^2\"\n\
         potential = \"9.81*z\"\n[[contact]]\nname = \"floor\"\ngap = \"z - 0.3*r\"\nslip = [\"x - 0.4*r\"]\nmu = 0.5\n\
         [[contact]]\nname = \"wall\"\ngap = \"x + 0.4*r\"\nslip = [\"z + 0.3*r\"]\nmu = 0.5\n",
        &[],
    )
    .unwrap();
    let system = delassus::analysis::analyze_at(&system.system, &system.state).unwrap();
    let (a, b) = (world.analysis.unwrap(), system.analysis.unwrap());
    assert_eq!(a.verdicts(), [Verdict::Proved, Verdict::Proved, Verdict::Refuted]);
    assert_eq!(a.verdicts(), b.verdicts());
    assert_eq!(world.names.coordinates, ["ladder.x", "ladder.z", "ladder.ry"]);
    // The tangents of the world may point the other way.
    for (x, y) in a.minimum_norm.unwrap().iter().zip(b.minimum_norm.unwrap()) {
        near(x.abs(), y.abs(), 1e-8);
    }
}

#[test]
fn planar_worlds_at_rest_are_decided() {
    let ball = planar(&sphere("ball", 1.0, 0.1, [0.0, 0.0, 0.1], [0.0; 3]));
    assert_eq!(ball.analysis.unwrap().verdicts(), [Verdict::Proved; 3]);
    let hinge = hinge("hinge", ["world", "bar"], [0.0, 0.0, 0.8]);
    let bar = format!(
        "[[body]]\nname = \"bar\"\nmass = 1\ninertia = [0.01, 0.08, 0.08]\nposition = [0.3, 0, 0.4]\n[[body.shape]]\n\
         type = \"sphere\"\nradius = 0.01\nposition = [0.3, 0, -0.39]\n{hinge}"
    );
    let bar = planar(&bar);
    assert_eq!((bar.names.coordinates.len(), bar.names.joints.len()), (3, 2));
    let analysis = bar.analysis.unwrap();
    assert_eq!(analysis.verdicts(), [Verdict::Proved, Verdict::Proved, Verdict::Refuted]);
    // The corners of a box one behind the other are one contact: two of each of two boxes.
    let boxes = [0.1, 0.3].map(|z| cuboid(&format!("b{z}"), 1.0, [0.1; 3], [0.0, 0.0, z], [0.0; 3]));
    let stack = planar(&boxes.concat());
    assert_eq!((stack.names.coordinates.len(), stack.names.contacts.len()), (6, 4));
    let analysis = stack.analysis.unwrap();
    assert_eq!(analysis.verdicts(), [Verdict::Proved, Verdict::Proved, Verdict::Refuted]);
}

/// A rod that slides on a ball at its end so that friction presses it down: 0 ≤ −z + q ⊥ z ≥ 0 but for a
/// factor. With q = 0 it has one solution, with q < 0 none and with q > 0 two.
fn jammed(mass: f64, weight: f64, lift: f64, spin: f64, speed: f64, height: f64) -> SystemAnalysis {
    let text = format!(
        "[world]\nplane = \"xz\"\ngravity = [0, 0, -{weight}]\n{FLOOR}[[body]]\nname = \"rod\"\nmass = {mass}\n\
         inertia = [0.1, 0.1, 0.1]\nposition = [0.3, 0, {}]\nforce = [0, 0, {lift}]\nvelocity = [{speed}, 0, {}]\n\
         angular_velocity = [0, {spin}, 0]\n[[body.shape]]\ntype = \"sphere\"\nradius = 4\nposition = [-2, 0, {}]\n{}",
        4.0 + height,
        -2.0 * spin,
        -height,
        surfaces(3.0, 0.0)
    );
    analyze(&text, &[])
}

#[test]
fn what_is_left_of_terms_that_cancel_decides_nothing() {
    use Verdict::{Proved, Refuted};
    // Far from the tie, on both sides.
    for (lift, verdicts) in [(0.29, [Refuted; 3]), (0.31, [Proved, Refuted, Refuted])] {
        assert_eq!(jammed(0.1, 3.0, lift, 0.0, -1.0, 2.0).analysis.unwrap().verdicts(), verdicts, "{lift}");
    }
    assert_eq!(jammed(0.1, 3.0, 0.3, 0.0, 1.0, 2.0).analysis.unwrap().verdicts(), [Proved; 3]);
    // 0.1·3 − 0.3 is zero, and 5.6·10⁻¹⁷ in doubles.
    let balanced = jammed(0.1, 3.0, 0.3, 0.0, -1.0, 2.0).analysis.unwrap();
    // The middle of the ball is on the level of the centre of mass, and ω² times no height is no
    // acceleration; differences of velocities leave 10⁻¹⁴ to 10⁻¹¹ of it.
    let spins = [(1.0, -9.3), (1.0, 9.3), (3.1, 5.0), (3.1, -5.0), (0.7, -9.3)];
    let spinning = spins.map(|(spin, speed)| jammed(1.0, 0.0, 0.0, spin, speed, 0.0).analysis.unwrap());
    for analysis in spinning.into_iter().chain([balanced]) {
        assert!(!analysis.verdicts().contains(&Refuted), "{:?}", analysis.verdicts());
    }
    // Whole numbers are exact: a tie is a tie.
    let even = jammed(1.0, 10.0, 10.0, 0.0, -1.0, 2.0).analysis.unwrap();
    assert_eq!(even.existence, Proved);
}

#[test]
fn bodies_far_from_the_origin_are_not_judged() {
    // The same box at rest; at 10⁷ m its lever arms of 0.1 m are known to 10⁻⁸.
    for (x, decided) in [(0.0, true), (1e3, true), (1e7, false), (1e10, false)] {
        let found = planar(&cuboid("box", 1.0, [0.1; 3], [x, 0.0, 0.1], [0.0; 3]));
        let verdicts = found.analysis.as_ref().map(|a| a.verdicts());
        let [existence, ..] = verdicts.unwrap_or([Verdict::Unknown; 3]);
        assert_eq!(existence == Verdict::Proved, decided, "{x}: {:?}", found.notes);
        assert_eq!(found.is_whole, decided, "{x}");
    }
}

#[test]
fn friction_of_a_guide_in_the_plane_grows_with_its_one_load() {
    // A slider on a guide at the angle θ: it rests where tan θ < μ, and slides by g (sin θ − μ cos θ)
    // elsewhere.
    let slider = |angle: f64| {
        let (s, c) = angle.sin_cos();
        planar(&format!(
            "[[body]]\nname = \"slider\"\nmass = 2\ninertia = [1, 1, 1]\nposition = [0, 0, 5]\n[[joint]]\nname = \"guide\"\n\
             type = \"prismatic\"\nbodies = [\"world\", \"slider\"]\nanchor = [0, 0, 5]\naxis = [{c:?}, 0, {:?}]\n\
             friction = {{ mu = 0.5 }}\n",
            -s
        ))
    };
    for angle in [0.3, 0.7] {
        let result = slider(angle);
        assert_eq!(result.names.coordinates.len(), 3);
        let analysis = result.analysis.unwrap();
        assert_eq!(analysis.verdicts(), [Verdict::Proved; 3], "{angle}");
        let a = &analysis.solutions.components[0].acceleration;
        let down = (9.81 * (angle.sin() - 0.5 * angle.cos())).max(0.0);
        near(a[0] + 20.0, down * angle.cos() + 20.0, 1e-10);
        near(a[1] + 20.0, -down * angle.sin() + 20.0, 1e-10);
    }
}

#[test]
fn joints_that_say_the_same_at_the_origin_are_decided() {
    let joint = |name: &str| {
        format!(
            "[[joint]]\nname = {name:?}\ntype = \"revolute\"\nbodies = [\"world\", \"door\"]\nanchor = [0, 0, 0]\naxis = [0, 0, 1]\n"
        )
    };
    for gravity in ["[0, 0, -9.81]", "[0, 0, -10]"] {
        let text = format!(
            "[world]\ngravity = {gravity}\n[[body]]\nname = \"door\"\nmass = 1\ninertia = [0.1, 0.1, 0.1]\n{}{}",
            joint("a"),
            joint("b")
        );
        let analysis = analyze(&text, &[]).analysis.unwrap();
        assert_eq!(analysis.verdicts(), [Verdict::Proved, Verdict::Proved, Verdict::Refuted]);
    }
}

#[test]
fn a_box_on_four_corners_has_no_effective_masses() {
    let cube = cuboid("cube", 1.0, [0.1; 3], [0.0, 0.0, 0.1], [0.0; 3]);
    let result = analyze(&on_floor(&[&cube, &surfaces(0.5, 0.0)]), &[]);
    assert_eq!(result.contacts.len(), 4);
    for contact in &result.contacts {
        let cone = contact.cone.as_ref().unwrap();
        assert!(cone.effective_mass.is_none() && cone.cone.is_none() && cone.mu_jam.is_none(), "{cone:?}");
    }
    // It rests without friction, and so there is no other motion; its forces are any that balance.
    let verdicts = result.analysis.unwrap().verdicts();
    assert_eq!(verdicts, [Verdict::Proved, Verdict::Proved, Verdict::Refuted]);
    // A ball on the floor has effective masses, and its tangents do not act on its normal: one solution with
    // any friction. A bound shows it below 2 √(2/7); beyond, all directions of slip are searched, and where
    // nothing pushes the ball along the floor it rests.
    let ball = sphere("ball", 1.0, 0.1, [0.0, 0.0, 0.1], [0.0; 3]);
    let pushed = ball.replace("mass = ", "force = [0.1, 0.0, 0.0]\nmass = ");
    assert_ne!(ball, pushed);
    for (mu, ball) in [(1.06, &pushed), (1.08, &pushed), (1.08, &ball)] {
        let result = analyze(&on_floor(&[ball, &surfaces(mu, 0.0)]), &[]);
        near(result.contacts[0].cone.as_ref().unwrap().effective_mass.as_ref().unwrap()[(0, 0)], 1.0, 1e-12);
        let verdicts = result.analysis.unwrap().verdicts();
        assert_eq!(verdicts, [Verdict::Proved; 3], "{mu}");
    }
}

#[test]
fn what_rests_without_friction_has_no_other_acceleration() {
    use Verdict::{Proved, Refuted, Unknown};
    let motions = |text: &str| {
        let [existence, acceleration, forces] = analyze(text, &[]).analysis.unwrap().verdicts();
        assert_ne!(forces, Proved);
        [existence, acceleration]
    };
    // Two boxes, one on the other, without and with rolling friction.
    let low = cuboid("low", 1.3, [0.3, 0.2, 0.1], [0.1, 0.0, 0.1], [0.0; 3]);
    let high = cuboid("high", 0.7, [0.11, 0.13, 0.07], [0.13, 0.02, 0.27], [0.0; 3]);
    let surface = surfaces(0.7, 0.0).replace("mu = ", "rolling = 0.01\nmu = ");
    assert_eq!(motions(&on_floor(&[&low, &high, &surfaces(0.7, 0.0)])), [Proved; 2]);
    assert_eq!(motions(&on_floor(&[&low, &high, &surface])), [Proved; 2]);
    // With its weight over an edge of the lower one, the last digits decide; beyond it, it tips.
    let edge = cuboid("high", 0.7, [0.11, 0.13, 0.07], [0.4, 0.02, 0.27], [0.0; 3]);
    let analysis = analyze(&on_floor(&[&low, &edge, &surfaces(0.7, 0.0)]), &[]).analysis.unwrap();
    assert_eq!(analysis.acceleration_unique, Unknown);
    let over = cuboid("high", 0.7, [0.11, 0.13, 0.07], [0.45, 0.02, 0.27], [0.0; 3]);
    let analysis = analyze(&on_floor(&[&low, &over, &surfaces(0.7, 0.0)]), &[]).analysis.unwrap();
    assert_ne!(analysis.acceleration_unique, Refuted);
    assert!(analysis.solutions.components.iter().all(|c| c.acceleration.iter().any(|a| a.abs() > 0.1)));
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
