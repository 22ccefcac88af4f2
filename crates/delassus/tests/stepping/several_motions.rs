//! Worlds in which several motions obey the laws: which one is taken, and that it is reported.

use delassus::stepping::{Scheme, StepOptions, Stepper};
use delassus_solve::contact::Method;
use delassus_solve::problem::Status;
use glam::{DQuat, DVec3};

use crate::support::texts::{FLOOR, WEIGHT};
use crate::support::worlds::world;

const METHODS: [Method; 3] = [Method::Auto, Method::Newton, Method::GaussSeidel];

/// A box of 1 kg between two fingers on guides, each pressed by a force. With friction 0.4 it takes 12.2625
/// N.
fn gripper(force: f64, fingers: [(&str, f64); 2]) -> String {
    let finger = |(name, side): (&str, f64)| {
        format!(
            "[[body]]\nname = \"{name}\"\nmass = 0.2\nposition = [{x}, 0, 0]\n[[body.shape]]\ntype = \"box\"\n\
             half_extents = [0.02, 0.04, 0.04]\n[[joint]]\nname = \"j{name}\"\ntype = \"prismatic\"\n\
             bodies = [\"world\", \"{name}\"]\nanchor = [{x}, 0, 0]\naxis = [{axis}, 0, 0]\n\
             motor = {{ torque = {force} }}\n",
            x = 0.07 * side,
            axis = -side
        )
    };
    format!(
        "{WEIGHT}[[body]]\nname = \"b\"\nmass = 1\n[[body.shape]]\ntype = \"box\"\n\
         half_extents = [0.05, 0.05, 0.05]\n{}{}[[friction]]\nbetween = [\"*\", \"*\"]\nmu = 0.4\n",
        finger(fingers[0]),
        finger(fingers[1])
    )
}

/// How far the body b of a world falls in a time.
fn fall(text: &str, options: StepOptions, t_end: f64) -> f64 {
    let (world, state) = world(text);
    let b = world.bodies.iter().position(|body| body.name == "b").unwrap();
    let mut stepper = Stepper::new(&world, state, options).unwrap();
    while stepper.state().t < t_end - 0.5 * options.dt {
        let report = stepper.step().unwrap();
        assert_eq!(report.status, Status::Solved, "t = {}", stepper.state().t);
    }
    -stepper.state().bodies[b].pose.position.z
}

#[test]
fn a_gripper_that_can_hold_holds_whatever_the_method_scheme_and_order() {
    let orders = [[("l", -1.0), ("r", 1.0)], [("r", 1.0), ("l", -1.0)]];
    for method in METHODS {
        for scheme in [Scheme::Symmetric, Scheme::HalfImplicit] {
            let options = StepOptions { method, scheme, ..StepOptions::default() };
            for fingers in orders {
                let z = fall(&gripper(1.02 * 12.2625, fingers), options, 0.1);
                // Velocities of a solve to 1e-10 of what gravity gives in a step, for 0.1 s.
                assert!(z.abs() < 1e-9, "{method:?} {scheme:?} {fingers:?}: {z}");
            }
        }
    }
    // With too little force it slides: m a = m g − 2 μ N, a = 0.02 g at least.
    let z = fall(&gripper(0.98 * 12.2625, orders[0]), StepOptions::default(), 0.1);
    assert!(z > 0.9 * 0.5 * 0.02 * 9.81 * 0.1 * 0.1, "{z}");
}

/// A box that slides and spins on a floor, all of it turned about the vertical; its angular velocity at the
/// end and the steps with other motions.
fn spin(method: Method, angle: f64, t_end: f64) -> (f64, usize) {
    let v = DQuat::from_rotation_z(angle) * DVec3::new(2.0, 0.0, 0.0);
    let text = format!(
        "{WEIGHT}{FLOOR}[[body]]\nname = \"b\"\nmass = 1\nposition = [0, 0, 0.1]\neuler_deg = [0, 0, {}]\n\
         velocity = [{}, {}, 0]\nangular_velocity = [0, 0, 8]\n[[body.shape]]\ntype = \"box\"\n\
         half_extents = [0.2, 0.1, 0.1]\n[[friction]]\nbetween = [\"*\", \"*\"]\nmu = 0.3\n",
        angle.to_degrees(),
        v.x,
        v.y
    );
    let (world, state) = world(&text);
    let options = StepOptions { method, ..StepOptions::default() };
    let mut stepper = Stepper::new(&world, state, options).unwrap();
    let mut others = 0;
    while stepper.state().t < t_end - 0.5 * options.dt {
        let report = stepper.step().unwrap();
        assert_eq!(report.status, Status::Solved, "t = {}", stepper.state().t);
        others += usize::from(report.non_unique_motion);
    }
    (stepper.state().bodies[1].angular_velocity.z, others)
}

#[test]
fn a_box_that_slides_and_spins_is_reported_and_moves_alike_in_all_directions() {
    let (reference, others) = spin(Method::Auto, 0.0, 0.1);
    assert!(others > 90, "{others}");
    for (method, angle) in
        [(Method::Newton, 0.0), (Method::GaussSeidel, 0.0), (Method::InteriorPoint, 0.0), (Method::Auto, 0.7)]
    {
        let (omega, _) = spin(method, angle, 0.1);
        // A solve to 1e-12 over ε = 1e-3 leaves 1e-9 of the impulses of a step to the method.
        assert!((omega - reference).abs() < 1e-7, "{method:?} {angle}: {omega} for {reference}");
    }
}

#[test]
fn a_door_on_two_hinges_with_friction_moves_alike_in_any_order_of_its_joints() {
    let door = |anchors: [f64; 2]| {
        let hinge = |z: f64| {
            format!(
                "[[joint]]\nname = \"h{z}\"\ntype = \"revolute\"\nbodies = [\"world\", \"b\"]\nanchor = [0, 0, {z}]\n\
                 axis = [0, 0, 1]\nfriction = {{ mu = 0.3, radius = 0.02 }}\n"
            )
        };
        let text = format!(
            "{WEIGHT}[[body]]\nname = \"b\"\nmass = 10\ninertia = [1, 1, 1]\nposition = [0.5, 0, 0]\n\
             angular_velocity = [0, 0, 3]\nvelocity = [0, 1.5, 0]\n{}{}",
            hinge(anchors[0]),
            hinge(anchors[1])
        );
        let (world, state) = world(&text);
        let b = world.bodies.iter().position(|body| body.name == "b").unwrap();
        let mut stepper = Stepper::new(&world, state, StepOptions::default()).unwrap();
        (0..200).for_each(|_| assert_eq!(stepper.step().unwrap().status, Status::Solved));
        stepper.state().bodies[b].angular_velocity.z
    };
    let (a, b) = (door([0.5, -0.5]), door([-0.5, 0.5]));
    // Bounds follow their loads to 1e-9.
    assert!((a - b).abs() < 1e-9 && a < 3.0 - 0.01, "{a} {b}");
}
