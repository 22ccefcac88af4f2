//! Worlds in which several motions obey the laws: which one is taken, and that it is reported.

use delassus::stepping::{Coordinates, Scheme, StepOptions, Stepper};
use delassus::world::{World, WorldState};
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

/// A door of 10 kg on hinges along an axis, all of it turned; it rotates with 3 rad/s.
fn door(anchors: &[f64], turn: DQuat) -> String {
    let vector = |v: DVec3| {
        let v = turn * v;
        format!("[{}, {}, {}]", v.x, v.y, v.z)
    };
    let hinge = |z: &f64| {
        format!(
            "[[joint]]\nname = \"h{z}\"\ntype = \"revolute\"\nbodies = [\"world\", \"b\"]\nanchor = {}\n\
             axis = {}\nfriction = {{ mu = 0.3, radius = 0.02 }}\n",
            vector(DVec3::new(0.0, 0.0, *z)),
            vector(DVec3::Z)
        )
    };
    format!(
        "[world]\ngravity = {}\n[[body]]\nname = \"b\"\nmass = 10\ninertia = [1, 1, 1]\nposition = {}\n\
         angular_velocity = {}\nvelocity = {}\n{}",
        vector(DVec3::new(0.0, 0.0, -9.81)),
        vector(DVec3::new(0.5, 0.0, 0.0)),
        vector(DVec3::new(0.0, 0.0, 3.0)),
        vector(DVec3::new(0.0, 1.5, 0.0)),
        anchors.iter().map(hinge).collect::<String>()
    )
}

/// How fast it rotates after so many steps, and how many of them had other motions.
fn rotation(text: &str, steps: usize) -> (f64, usize, Stepper) {
    let (world, state) = world(text);
    let b = world.bodies.iter().position(|body| body.name == "b").unwrap();
    let mut stepper = Stepper::new(&world, state, StepOptions::default()).unwrap();
    let mut others = 0;
    for _ in 0..steps {
        let report = stepper.step().unwrap();
        assert_eq!(report.status, Status::Solved);
        others += usize::from(report.non_unique_motion);
    }
    (stepper.state().bodies[b].angular_velocity.length(), others, stepper)
}

/// Coins of 1 g and 1 t in turn: no impulses in floating point numbers hold them to 1e-10, and those that
/// do to rounding are found once, not in every step.
#[test]
fn a_stack_of_light_and_heavy_coins_rests_without_work() {
    let coin = |k: usize| {
        let (mass, z) = ([1e-3, 1e3][k % 2], 0.025 + 0.05 * k as f64);
        format!(
            "[[body]]\nname = \"c{k}\"\nmass = {mass}\nposition = [0, 0, {z}]\n[[body.shape]]\n\
             type = \"cylinder\"\nradius = 0.2\nhalf_height = 0.025\n"
        )
    };
    let coins: String = (0..6).map(coin).collect();
    let text = format!("{WEIGHT}{FLOOR}{coins}[[friction]]\nbetween = [\"*\", \"*\"]\nmu = 0.5\n");
    let (world, state) = world(&text);
    let mut stepper = Stepper::new(&world, state, StepOptions::default()).unwrap();
    for step in 0..20 {
        let report = stepper.step().unwrap();
        assert!(report.status == Status::Solved && report.residual < 1e-8, "{report:?}");
        assert!(step == 0 || report.iterations == 0, "{step}: {}", report.iterations);
    }
    // The weight of all on the floor.
    let weight = 3.0 * (1e-3 + 1e3) * 9.81;
    let forces = stepper.contact_forces().filter(|(contact, ..)| contact.bodies == [0, 1]);
    let floor: f64 = forces.map(|(_, normal, _)| normal).sum();
    assert!((floor - weight).abs() < 1e-8 * weight, "{floor} for {weight}");
}

/// Whether another motion is reported does not depend on the method that found the one that is taken.
#[test]
fn a_door_on_two_hinges_has_other_motions_whatever_the_method() {
    let text = door(&[0.5, -0.5], DQuat::IDENTITY);
    for method in METHODS {
        let (world, state) = world(&text);
        let options = StepOptions { method, ..StepOptions::default() };
        let mut stepper = Stepper::new(&world, state, options).unwrap();
        for _ in 0..20 {
            let report = stepper.step().unwrap();
            assert!(report.status == Status::Solved && report.non_unique_motion, "{method:?}");
        }
    }
}

#[test]
fn a_door_on_two_hinges_with_friction_moves_alike_in_any_order_of_its_joints() {
    for anchors in [vec![0.5, -0.5], vec![0.4, -0.1, -0.5]] {
        let (reference, others, _) = rotation(&door(&anchors, DQuat::IDENTITY), 100);
        assert!(reference < 3.0 - 0.005 && others == 100, "{reference} {others}");
        let backwards: Vec<f64> = anchors.iter().rev().copied().collect();
        let turned = DQuat::from_scaled_axis(DVec3::new(0.4, -1.1, 0.7));
        for (anchors, turn) in [(&backwards, DQuat::IDENTITY), (&anchors, turned), (&backwards, turned)] {
            let (omega, ..) = rotation(&door(anchors, turn), 100);
            // Bounds follow their loads to 1e-9.
            assert!((omega - reference).abs() < 1e-9, "{omega} for {reference}");
        }
    }
}

#[test]
fn a_door_under_stress_brakes_harder_and_one_on_a_single_hinge_has_one_motion() {
    let (omega, _, stepper) = rotation(&door(&[0.5, -0.5], DQuat::IDENTITY), 10);
    let forces = stepper.forces_and_another_motion().unwrap();
    assert!(forces.other_motion && forces.unique == Some(false));
    let [motion] = forces.other_bodies[..] else { panic!("{:?}", forces.other_bodies) };
    // Both rotate about the hinges, and friction does not turn them back.
    let [taken, other] = [motion.taken, motion.other];
    assert!((taken[1].z - omega).abs() < 1e-2 && other[1].z < taken[1].z - 1e-6 && other[1].z > 0.0);
    for [v, w] in [taken, other] {
        assert!((v.length() - 0.5 * w.z).abs() < 1e-9 && w.x.abs() + w.y.abs() < 1e-9, "{v} {w}");
    }
    let (_, others, stepper) = rotation(&door(&[0.1], DQuat::IDENTITY), 10);
    let forces = stepper.forces_and_another_motion().unwrap();
    assert!(others == 0 && !forces.other_motion && forces.other_bodies.is_empty());
}

#[test]
fn another_motion_of_a_box_that_slides_and_spins_obeys_the_laws() {
    let text = format!(
        "{WEIGHT}{FLOOR}[[body]]\nname = \"b\"\nmass = 1\nposition = [0, 0, 0.1]\nvelocity = [2, 0, 0]\n\
         angular_velocity = [0, 0, 8]\n[[body.shape]]\ntype = \"box\"\nhalf_extents = [0.2, 0.1, 0.1]\n\
         [[friction]]\nbetween = [\"*\", \"*\"]\nmu = 0.3\n"
    );
    let forces = |text: &str| {
        let (world, state) = world(text);
        Stepper::new(&world, state, StepOptions::default()).unwrap().forces_and_another_motion().unwrap()
    };
    let found = forces(&text);
    assert!(found.other_motion);
    let [motion] = found.other_bodies[..] else { panic!("{:?}", found.other_bodies) };
    // The corners stay on the floor in both, so that nothing rises and nothing tips.
    for [v, w] in [motion.taken, motion.other] {
        assert!(v.z.abs() < 1e-9 && w.x.abs() + w.y.abs() < 1e-8, "{v} {w}");
        // No friction is beyond μ m g, and none drives: its power is below −μ m g of the slowest corner.
        let change = (v - DVec3::new(2.0, 0.0, 0.0)) / 1e-3;
        assert!(change.length() < 0.3 * 9.81 + 1e-6 && w.z < 8.0 && change.x < 0.0, "{change} {w}");
    }
    assert!((motion.taken[1] - motion.other[1]).length() > 1e-6);
    // Without spin there is one motion.
    let straight = forces(&text.replace("angular_velocity = [0, 0, 8]", "angular_velocity = [0, 0, 0]"));
    assert!(!straight.other_motion && straight.other_bodies.is_empty());
}

#[test]
fn several_boxes_that_slide_and_spin_move_alike_in_any_order() {
    let boxes = |order: [usize; 3]| {
        let body = |k: usize| {
            format!(
                "[[body]]\nname = \"b{k}\"\nmass = 1\nposition = [{}, 0, 0.1]\nvelocity = [2, {}, 0]\n\
                 angular_velocity = [0, 0, {}]\n[[body.shape]]\ntype = \"box\"\n\
                 half_extents = [0.2, 0.1, 0.1]\n",
                3 * k,
                0.1 * k as f64,
                8 + k
            )
        };
        let text = format!(
            "{WEIGHT}{FLOOR}{}[[friction]]\nbetween = [\"*\", \"*\"]\nmu = 0.3\n",
            order.map(body).concat()
        );
        let (world, state) = world(&text);
        let mut stepper = Stepper::new(&world, state, StepOptions::default()).unwrap();
        (0..50).for_each(|_| assert_eq!(stepper.step().unwrap().status, Status::Solved));
        let spin = |k: usize| {
            let at = world.bodies.iter().position(|body| body.name == format!("b{k}")).unwrap();
            stepper.state().bodies[at].angular_velocity.z
        };
        [0, 1, 2].map(spin)
    };
    let reference = boxes([0, 1, 2]);
    for order in [[2, 1, 0], [1, 2, 0]] {
        let found = boxes(order);
        assert!((0..3).all(|k| (found[k] - reference[k]).abs() < 1e-9), "{found:?} for {reference:?}");
    }
}

/// Six cylinders in three rows on a floor.
fn pyramid(mu: f64, order: [usize; 6]) -> String {
    let height = 0.1 * 3.0_f64.sqrt();
    let places = [(-0.2, 0.1), (0.0, 0.1), (0.2, 0.1), (-0.1, 0.1 + height), (0.1, 0.1 + height)];
    let body = |k: usize| {
        let (x, z) = places.get(k).copied().unwrap_or((0.0, 0.1 + 2.0 * height));
        format!(
            "[[body]]\nname = \"c{k}\"\nmass = 1\nposition = [{x:?}, 0, {z:?}]\neuler_deg = [90, 0, 0]\n\
             [[body.shape]]\ntype = \"cylinder\"\nradius = 0.1\nhalf_height = 0.2\n"
        )
    };
    format!("{WEIGHT}{FLOOR}{}[[friction]]\nbetween = [\"*\", \"*\"]\nmu = {mu}\n", order.map(body).concat())
}

/// Six cylinders in three rows. By a linear program over all forces in their cones, which shares nothing with
/// the solvers, they can rest from μ = 0.43399 on; below they spread. Above they may do both.
#[test]
fn a_pyramid_of_cylinders_that_can_rest_rests_in_any_order_and_is_found_to_spread_as_well() {
    let sinks = |mu: f64, order: [usize; 6]| {
        let (world, state) = world(&pyramid(mu, order));
        let at = world.bodies.iter().position(|body| body.name == "c5").unwrap();
        let mut stepper = Stepper::new(&world, state, StepOptions::default()).unwrap();
        for _ in 0..30 {
            assert_eq!(stepper.step().unwrap().status, Status::Solved);
        }
        let forces = stepper.forces_and_another_motion().unwrap();
        let top = 0.1 + 0.2 * 3.0_f64.sqrt();
        (top - stepper.state().bodies[at].pose.position.z, forces.other_bodies.len())
    };
    for order in [[0, 1, 2, 3, 4, 5], [5, 3, 1, 0, 2, 4]] {
        let (sunk, moving) = sinks(0.5, order);
        assert!(sunk.abs() < 1e-9 && moving >= 4, "{order:?}: {sunk} {moving}");
        assert!(sinks(0.3, order).0 > 1e-5);
    }
}

/// The same world, its bodies and joints in another order and all of it rotated.
fn another_view(world: &World, state: &WorldState, order: &[usize], turn: DQuat) -> (World, WorldState) {
    let place = |b: usize| order.iter().position(|k| *k == b).unwrap();
    let mut other = world.clone();
    other.bodies = order.iter().map(|&k| world.bodies[k].clone()).collect();
    other.joints.reverse();
    other.joints.iter_mut().for_each(|joint| joint.bodies = joint.bodies.map(place));
    for pair in &mut other.no_contact {
        *pair = pair.map(place);
        pair.sort_unstable();
    }
    other.gravity = turn * world.gravity;
    let mut moved = WorldState { t: state.t, bodies: vec![], coordinates: vec![] };
    for &k in order {
        let mut s = state.bodies[k];
        s.pose.position = turn * s.pose.position;
        s.pose.rotation = (turn * s.pose.rotation).normalize();
        s.velocity = turn * s.velocity;
        moved.bodies.push(s);
    }
    delassus::world::update_joint_coordinates(&other, &mut moved);
    (other, moved)
}

/// What may move in several ways moves alike however the scene is written down and whatever solves it, and
/// all ways of writing it down are reported to have another motion. That of a gripper with force to spare is
/// found by a search from other impulses, which is not complete: in some of them it has to be.
#[test]
fn the_motion_that_is_taken_does_not_depend_on_order_axes_or_solver() {
    let spinning = format!(
        "{WEIGHT}{FLOOR}[[body]]\nname = \"b\"\nmass = 1\nposition = [0, 0, 0.1]\nvelocity = [2, 0, 0]\n\
         angular_velocity = [0, 0, 8]\n[[body.shape]]\ntype = \"box\"\nhalf_extents = [0.2, 0.1, 0.1]\n\
         [[friction]]\nbetween = [\"*\", \"*\"]\nmu = 0.3\n"
    );
    // The lower box sticks: of its corners some press and others only touch, and which is chance.
    let on_a_box = format!(
        "{WEIGHT}{FLOOR}[[body]]\nname = \"a\"\nmass = 2\nposition = [0, 0, 0.1]\n[[body.shape]]\n\
         type = \"box\"\nhalf_extents = [0.5, 0.4, 0.1]\n[[body]]\nname = \"b\"\nmass = 1\n\
         position = [0, 0, 0.3]\nvelocity = [1, 0, 0]\nangular_velocity = [0, 0, 8]\n[[body.shape]]\n\
         type = \"box\"\nhalf_extents = [0.2, 0.1, 0.1]\n[[friction]]\nbetween = [\"*\", \"*\"]\nmu = 0.3\n"
    );
    let fingers = [("l", -1.0), ("r", 1.0)];
    let scenes = [
        ("box", spinning),
        ("box on a box that sticks", on_a_box),
        ("door on two hinges", door(&[0.5, -0.5], DQuat::IDENTITY)),
        ("door on three hinges", door(&[0.4, -0.1, -0.5], DQuat::IDENTITY)),
        ("gripper, 1.001 of the force", gripper(1.001 * 12.2625, fingers)),
        ("gripper, 1.1 of the force", gripper(1.1 * 12.2625, fingers)),
        ("pyramid", pyramid(0.5, [0, 1, 2, 3, 4, 5])),
        ("pyramid that just rests", pyramid(0.44, [0, 1, 2, 3, 4, 5])),
    ];
    let [as_given, skew, quarter] = [
        DQuat::IDENTITY,
        DQuat::from_scaled_axis(DVec3::new(0.4, -1.1, 0.7)),
        DQuat::from_rotation_z(std::f64::consts::FRAC_PI_2),
    ];
    let views = [
        (false, as_given, Method::Auto),
        (false, as_given, Method::Newton),
        (false, skew, Method::GaussSeidel),
        (true, as_given, Method::Auto),
        (true, skew, Method::Auto),
        (true, quarter, Method::Newton),
    ];
    for (name, text) in scenes {
        let (first, state) = world(&text);
        let count = first.bodies.len();
        let (mut reference, mut reported): (Option<Vec<[DVec3; 3]>>, _) = (None, 0);
        for (backwards, turn, method) in views {
            let order: Vec<usize> = (0..count).map(|k| if backwards { count - 1 - k } else { k }).collect();
            let (world, state) = another_view(&first, &state, &order, turn);
            let options = StepOptions { method, ..StepOptions::default() };
            let mut stepper = Stepper::new(&world, state, options).unwrap();
            let mut others = false;
            for _ in 0..10 {
                let report = stepper.step().unwrap();
                assert_eq!(report.status, Status::Solved, "{name} {method:?} {order:?} {turn}");
                others |= report.non_unique_motion;
            }
            others |= stepper.forces_and_another_motion().unwrap().other_motion;
            let found_by_search = name == "gripper, 1.1 of the force";
            assert!(others || found_by_search, "{name} {method:?} {order:?} {turn}: no other motion");
            reported += usize::from(others);
            let back = turn.conjugate();
            let found = (0..count).map(|k| {
                let s = &stepper.state().bodies[order.iter().position(|b| *b == k).unwrap()];
                [s.pose.position, s.velocity, s.world_angular_velocity()].map(|v| back * v)
            });
            let found: Vec<_> = found.collect();
            let reference = reference.get_or_insert_with(|| found.clone());
            let by = found.iter().zip(reference.iter()).flat_map(|(x, y)| [0, 1, 2].map(|k| x[k] - y[k]));
            let by = by.map(DVec3::length).fold(0.0, f64::max);
            assert!(by < 1e-9, "{name} {method:?} {order:?} {turn}: {by:e}");
        }
        assert!(reported > 0, "{name}");
    }
}

/// A disc that a motor drives, pressed with 20 N against one on an arm: they touch along a line, of which the
/// bearings take either end.
fn friction_drive(gravity: &str) -> String {
    let disc = |name: &str, radius: f64, x: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nmass = 1\nposition = [{x}, 0, 0]\n[[body.shape]]\n\
             type = \"cylinder\"\nradius = {radius}\nhalf_height = 0.05\neuler_deg = [90, 0, 0]\n"
        )
    };
    let arm = "[[body]]\nname = \"arm\"\nmass = 0.1\ninertia = [0.001, 0.001, 0.001]\nposition = [0.3, 0, 0]\n\
               force = [-20, 0, 0]\n";
    let joint = |name: &str, kind: &str, [a, b]: [&str; 2], x: f64, axis: &str, more: &str| {
        format!(
            "[[joint]]\nname = \"{name}\"\ntype = \"{kind}\"\nbodies = [\"{a}\", \"{b}\"]\n\
             anchor = [{x}, 0, 0]\naxis = {axis}\n{more}\n"
        )
    };
    format!(
        "[world]\ngravity = {gravity}\n{}{arm}{}{}{}{}[[friction]]\nbetween = [\"*\", \"*\"]\nmu = 0.3\n",
        disc("a", 0.2, 0.0),
        disc("b", 0.1, 0.3),
        joint("drives", "revolute", ["world", "a"], 0.0, "[0, 1, 0]", "motor = { speed = 10, force = 100 }"),
        joint("slides", "prismatic", ["world", "arm"], 0.3, "[1, 0, 0]", ""),
        joint("turns", "revolute", ["arm", "b"], 0.3, "[0, 1, 0]", ""),
    )
}

#[test]
fn forces_that_bearings_share_are_not_unique_for_any_method() {
    for gravity in ["[0, 0, 0]", "[0, 0, -9.81]"] {
        let (world, state) = world(&friction_drive(gravity));
        for method in METHODS {
            for coordinates in [Coordinates::Maximal, Coordinates::Reduced] {
                let options = StepOptions { method, coordinates, ..StepOptions::default() };
                let mut stepper = Stepper::new(&world, state.clone(), options).unwrap();
                for step in 0..60 {
                    let report = stepper.step().unwrap();
                    assert_eq!(report.status, Status::Solved, "{method:?} {coordinates:?}, step {step}");
                    assert!(report.non_unique, "{method:?} {coordinates:?}, step {step}");
                }
            }
        }
    }
}
