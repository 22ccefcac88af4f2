//! Maximal and reduced coordinates describe the same motion.

use std::path::PathBuf;

use delassus::stepping::{Coordinates, StepOptions, Stepper};
use delassus::world::{World, WorldState};
use delassus_scene::{read_world, read_xml};
use delassus_solve::problem::Status;

/// Worlds whose joints make trees, loops, gears and contacts.
fn jointed_scenes() -> Vec<(&'static str, World, WorldState)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let names = [
        "bennett.toml",
        "chain.toml",
        "cradle.toml",
        "four-bar.toml",
        "gear-pair.toml",
        "rover.toml",
        "slider-crank.toml",
        "ragdoll.xml",
    ];
    let read = |name: &'static str| {
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        let file = match name.ends_with(".xml") {
            true => read_xml(&text, Some(&folder)).unwrap().file,
            false => read_world(&text, Some(&folder), &[]).unwrap(),
        };
        (name, file.world, file.state)
    };
    names.into_iter().map(read).collect()
}

/// A gap or a joint that is open by 1e-10 m makes 1e-7 m/s in a step of 1e-3 s: tighter than usual.
fn stepper(world: &World, state: &WorldState, coordinates: Coordinates) -> Stepper {
    let options =
        StepOptions { coordinates, position_tolerance: 1e-13, tolerance: 1e-11, ..StepOptions::default() };
    Stepper::new(world, state.clone(), options).unwrap()
}

/// Largest difference of velocities, in parts of the largest one and of what gravity gives in a step.
fn apart(world: &World, a: &WorldState, b: &WorldState) -> f64 {
    let mut scale = 1e-3 * world.gravity.length();
    let mut largest = 0.0_f64;
    for (a, b) in a.bodies.iter().zip(&b.bodies) {
        scale = scale.max(a.velocity.length()).max(a.angular_velocity.length());
        largest = largest.max((a.velocity - b.velocity).length());
        largest = largest.max((a.angular_velocity - b.angular_velocity).length());
    }
    largest / scale
}

#[test]
fn one_step_ends_in_the_same_velocities_and_joint_forces() {
    for (name, world, start) in jointed_scenes() {
        // From states on the way of maximal coordinates, so that small differences do not add up.
        let mut leader = stepper(&world, &start, Coordinates::Maximal);
        for k in 0..60 {
            let from = leader.state().clone();
            let solved = leader.step().unwrap().status == Status::Solved;
            if k % 6 != 0 || !solved {
                continue;
            }
            let [mut a, mut b] =
                [Coordinates::Maximal, Coordinates::Reduced].map(|of| stepper(&world, &from, of));
            let reports = [a.step().unwrap(), b.step().unwrap()];
            assert_eq!(reports[1].status, Status::Solved, "{name}, step {k}");
            assert!(reports[1].joint_error < 1e-9, "{name}, step {k}: {:e}", reports[1].joint_error);
            assert_eq!(reports[0].non_unique, reports[1].non_unique, "{name}, step {k}");
            let difference = apart(&world, a.state(), b.state());
            // The moment of an impact is known to the length of the shortest substep.
            let impact = reports.iter().any(|report| report.impacts > 0);
            let allowed = if impact { 1e-6 } else { 1e-9 };
            assert!(difference < allowed, "{name}, step {k}: {difference:e}");
            // Of many contacts it is not known whether their forces are unique.
            if impact || reports[0].non_unique || !a.contacts().is_empty() {
                continue;
            }
            let forces = [a.joint_forces(), b.joint_forces()];
            let scale = forces[0].iter().flatten().map(|f| f.length()).fold(1e-3, f64::max);
            for (j, (f, g)) in forces[0].iter().zip(&forces[1]).enumerate() {
                let difference = (f[0] - g[0]).length().max((f[1] - g[1]).length());
                // Impulses are known to the tolerance of velocities over a step of 1e-3 s.
                assert!(difference < 1e-6 * scale, "{name}, step {k}, joint {j}: {difference:e} of {scale}");
            }
        }
    }
}

#[test]
fn forces_at_an_instant_are_the_same_in_both() {
    for (name, world, start) in jointed_scenes() {
        let [a, b] = [Coordinates::Maximal, Coordinates::Reduced].map(|of| {
            let mut stepper = stepper(&world, &start, of);
            (0..5).for_each(|_| assert_eq!(stepper.step().unwrap().status, Status::Solved, "{name}"));
            stepper.forces().unwrap()
        });
        assert_eq!((a.status, a.unique, a.contacts.len()), (b.status, b.unique, b.contacts.len()), "{name}");
        let scale = a.contacts.iter().map(|(normal, _)| *normal).fold(1e-3, f64::max);
        for ((normal, friction), (other, also)) in a.contacts.iter().zip(&b.contacts) {
            assert!((normal - other).abs() < 1e-5 * scale, "{name}: {normal} and {other}");
            assert!((*friction - *also).length() < 1e-5 * scale, "{name}: {friction} and {also}");
        }
    }
}

#[test]
fn a_body_that_a_joint_holds_against_another_stays_there() {
    // An overlap of 1e-7 m counts as touching, and nothing can move to end it.
    let text = "[world]\n[[body]]\nname = \"floor\"\nfixed = true\n[[body.shape]]\ntype = \"plane\"\n\
                [[body]]\nname = \"ball\"\nmass = 1\nposition = [0, 0, 0.0999999]\n[[body.shape]]\n\
                type = \"sphere\"\nradius = 0.1\n[[joint]]\nname = \"weld\"\ntype = \"fixed\"\n\
                bodies = [\"world\", \"ball\"]\nanchor = [0, 0, 0]\n";
    let file = read_world(text, None, &[]).unwrap();
    let ball = file.world.bodies.iter().position(|body| body.name == "ball").unwrap();
    for coordinates in [Coordinates::Maximal, Coordinates::Reduced] {
        let mut stepper = stepper(&file.world, &file.state, coordinates);
        (0..3).for_each(|_| _ = stepper.step().unwrap());
        let height = stepper.state().bodies[ball].pose.position.z;
        assert!((height - 0.0999999).abs() < 1e-9, "{coordinates:?}: {height}");
    }
}

/// A light body that a rod and a ball joint hold at its centre, below it a heavy one: nothing rotates the
/// light one but the rounding of the tree, which is no error.
#[test]
fn a_body_that_joints_hold_at_its_centre_is_solved_in_both() {
    let at = [-0.92, -0.285, 0.269];
    for mass in [1e-3, 1e-6] {
        let text = format!(
            "[world]\n[[body]]\nname = \"knot\"\nmass = {mass:?}\nposition = {at:?}\n\
             inertia = [{a:?}, {b:?}, {c:?}]\n[[body]]\nname = \"load\"\nmass = 10\n\
             position = [-1.3, 0.2, 0.9]\ninertia = [0.36, 0.28, 0.3]\n\
             [[joint]]\nname = \"rod\"\ntype = \"distance\"\nbodies = [\"world\", \"knot\"]\n\
             anchors = [[0, 0, 0], {at:?}]\n[[joint]]\nname = \"ball\"\ntype = \"ball\"\n\
             bodies = [\"knot\", \"load\"]\nanchor = {at:?}\n",
            a = 0.2 * mass,
            b = 0.1 * mass,
            c = 0.16 * mass,
        );
        let file = read_world(&text, None, &[]).unwrap();
        let ends = [Coordinates::Maximal, Coordinates::Reduced].map(|coordinates| {
            let options = StepOptions { coordinates, ..StepOptions::default() };
            let mut stepper = Stepper::new(&file.world, file.state.clone(), options).unwrap();
            for step in 0..100 {
                let report = stepper.step().unwrap();
                assert_eq!(report.status, Status::Solved, "{coordinates:?}, {mass} kg, step {step}");
            }
            stepper.state().bodies.clone()
        });
        for (a, b) in ends[0].iter().zip(&ends[1]) {
            let apart = (a.pose.position - b.pose.position).length();
            assert!(apart < 1e-6, "{mass} kg: {apart:e} m apart");
        }
    }
}
