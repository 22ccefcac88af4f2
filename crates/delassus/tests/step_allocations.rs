//! After the first steps, a step of a steady scene takes no memory.

#[path = "../../delassus-solve/tests/support/counting.rs"]
mod counting;
#[allow(dead_code, reason = "each test binary uses its share")]
#[path = "support/texts.rs"]
mod texts;

use counting::COUNT;
use delassus::stepping::{Scheme, StepOptions, StepReport, Stepper};
use delassus_scene::{WorldFile, read_world};
use delassus_solve::problem::Status;
use glam::{DQuat, DVec3};

fn world(text: &str) -> WorldFile {
    read_world(text, None, &[]).unwrap_or_else(|e| panic!("{}", e.render("test", text)))
}

/// Makes `warm` steps, then `counted` ones that must take no memory.
fn steady(
    name: &str,
    file: &WorldFile,
    scheme: Scheme,
    [warm, counted]: [usize; 2],
    mut look: impl FnMut(&StepReport, &Stepper),
) {
    let options = StepOptions { scheme, ..StepOptions::default() };
    let mut stepper = Stepper::new(&file.world, file.state.clone(), options).unwrap();
    for step in 0..warm + counted {
        let before = COUNT.get();
        let report = stepper.step().unwrap();
        let count = COUNT.get() - before;
        assert_eq!(report.status, Status::Solved, "{name}, step {step}");
        assert!(step < warm || count == 0, "{name}, {scheme:?}, step {step}: {count} allocations");
        look(&report, &stepper);
    }
}

/// A world with weight, a floor, friction and these bodies.
fn on_floor(bodies: &[String], restitution: f64) -> String {
    texts::on_floor(&[&texts::surfaces(0.5, restitution), &bodies.concat()])
}

fn cube(name: &str, z: f64, v: f64) -> String {
    texts::cuboid(name, 1.0, [0.1; 3], [0.0, 0.0, z], [v, 0.0, 0.0])
}

fn ball(name: &str, radius: f64, at: [f64; 3]) -> String {
    texts::sphere(name, 1.0, radius, at, [0.0; 3])
}

#[test]
fn a_sliding_block() {
    let file = world(&on_floor(&[cube("block", 0.1, 10.0)], 0.0));
    for scheme in [Scheme::Symmetric, Scheme::HalfImplicit] {
        // Slides by ten times its size: it leaves its box in the tree again and again.
        steady("block", &file, scheme, [50, 400], |_, stepper| {
            assert!(stepper.state().bodies[1].velocity.x > 1.0);
        });
    }
}

#[test]
fn a_stack_at_rest() {
    // Turned and on a slope below the angle of friction, so that no entry of a Jacobian is zero or rounding:
    // the solver keeps the places of what is not zero, and finds them again where a zero becomes 1e-17.
    let turn = DQuat::from_scaled_axis(DVec3::new(0.2, -0.1, 0.7));
    let normal = turn * DVec3::Z;
    let mut text =
        "[world]\ngravity = [0, 0, -9.81]\n[[friction]]\nbetween = [\"*\", \"*\"]\nmu = 0.5\n".to_owned();
    text += &format!(
        "[[body]]\nname = \"floor\"\nfixed = true\n[[body.shape]]\ntype = \"plane\"\nnormal = {:?}\n",
        normal.to_array()
    );
    for k in 0..5 {
        let at = (normal * (0.1 + 0.2 * f64::from(k))).to_array();
        text += &format!(
            "[[body]]\nname = \"cube{k}\"\nmass = 1\nposition = {at:?}\norientation = {:?}\n[[body.shape]]\n\
             type = \"box\"\nhalf_extents = [0.1, 0.1, 0.1]\n",
            [turn.w, turn.x, turn.y, turn.z]
        );
    }
    let file = world(&text);
    for scheme in [Scheme::Symmetric, Scheme::HalfImplicit] {
        steady("stack", &file, scheme, [20, 100], |_, stepper| assert_eq!(stepper.contacts().len(), 20));
    }
}

#[test]
fn a_four_bar() {
    let file = world(include_str!("../../../scenes/four-bar.toml"));
    for scheme in [Scheme::Symmetric, Scheme::HalfImplicit] {
        // Redundant rows are determined again in every step.
        steady("four-bar", &file, scheme, [50, 300], |report, _| assert!(report.non_unique));
    }
}

#[test]
fn a_bouncing_ball() {
    let file = world(&on_floor(&[ball("ball", 0.1, [0.0, 0.0, 0.2])], 0.8));
    let mut impacts = 0;
    // The first impact is at 0.14 s; those from 0.3 s on are counted.
    steady("ball", &file, Scheme::Symmetric, [300, 500], |report, _| impacts += report.impacts);
    assert!(impacts > 3, "{impacts}");
}

#[test]
fn a_pile_of_spheres_at_rest() {
    // A pyramid of 25, 16, 9 balls that touch, within walls.
    let r = 0.05;
    let mut text = on_floor(&[], 0.0);
    for (x, y) in [(1, 0), (-1, 0), (0, 1), (0, -1)] {
        text += &format!(
            "[[body]]\nname = \"wall{x}{y}\"\nfixed = true\n[[body.shape]]\ntype = \"plane\"\nnormal = [{x}, {y}, 0]\noffset = {}\n",
            -5.0 * r
        );
    }
    for layer in 0..3u32 {
        let side = 5 - layer;
        for k in 0..side * side {
            let at = |i: u32| (2.0 * f64::from(i) - f64::from(side - 1)) * r;
            let z = r * (1.0 + f64::from(layer) * 2f64.sqrt());
            text += &ball(&format!("ball{layer}-{k}"), r, [at(k % side), at(k / side), z]);
        }
    }
    let file = world(&text);
    for scheme in [Scheme::Symmetric, Scheme::HalfImplicit] {
        // Impulses hold for some steps before a solve is needed, and with it a method that had no memory yet.
        steady("pile", &file, scheme, [40, 40], |_, stepper| {
            assert!(stepper.contacts().len() > 125, "{}", stepper.contacts().len());
            let fastest = stepper.state().bodies.iter().map(|s| s.velocity.length()).fold(0.0, f64::max);
            assert!(fastest < 1e-6, "{fastest:e}");
        });
    }
}
