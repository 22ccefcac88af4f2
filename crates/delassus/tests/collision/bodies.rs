//! Bodies with several shapes, shapes beside the centre, pairs that pass through each other, shapes that make
//! no sense.

use delassus::collision::{Collider, Contact};
use delassus::stepping::{StepOptions, Stepper};
use delassus::world::{
    BodyState, NoVolume, Pose, Shape, ShapeError, ShapeKind, World, WorldError, WorldState, check_shape,
    check_world, shape_mass,
};
use glam::{DQuat, DVec3};

use super::{at, cuboid, place, state_of, world_of};

fn ball(radius: f64) -> ShapeKind {
    ShapeKind::Sphere { radius }
}

fn found(world: &World, state: &WorldState, margin: f64) -> Vec<Contact> {
    let mut contacts = Vec::new();
    let margins = vec![margin; world.bodies.len()];
    Collider::new(world).collide(world, state, &margins, &mut contacts);
    contacts
}

#[test]
fn the_shapes_of_a_body_touch_where_they_are_and_not_each_other() {
    // A dumbbell, turned by a right angle about y and 2 m up: its balls at x = 2 and x = 4, one of them
    // lower.
    let mut world = world_of(&[ShapeKind::Plane, ball(0.5)]);
    world.bodies[0].fixed = true;
    world.bodies[1].shapes = vec![
        Shape { kind: ball(0.5), pose: place(0.0, 0.0, 1.0) },
        Shape { kind: ball(0.75), pose: place(0.25, 0.0, -1.0) },
    ];
    let state =
        state_of(&[Pose::IDENTITY, at(3.0, 0.0, 1.0, DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2))]);
    let contacts = found(&world, &state, 1.0);
    let seen: Vec<_> = contacts.iter().map(|c| (c.shapes, c.gap, c.point)).collect();
    assert_eq!(seen.len(), 2, "{seen:?}");
    // The quarter turn takes z to x and x to −z.
    for (found, (shapes, gap, x)) in seen.iter().zip([([0, 0], 0.5, 4.0), ([0, 1], 0.0, 2.0)]) {
        assert_eq!(found.0, shapes);
        assert!((found.1 - gap).abs() < 1e-15, "{seen:?}");
        assert!((found.2 - DVec3::new(x, 0.0, 0.5 * gap)).length() < 1e-14, "{seen:?}");
    }
}

#[test]
fn a_body_of_two_shapes_is_the_same_as_one_shape_of_both() {
    // Two half boxes side by side on an incline: the same motion as the whole box.
    let run = |shapes: Vec<Shape>| {
        let mut world = world_of(&[ShapeKind::Plane, cuboid(1.0, 1.0, 1.0)]);
        world.bodies[0].fixed = true;
        world.bodies[1].shapes = shapes;
        world.bodies[1].inertia = DVec3::new(0.01, 0.02, 0.02);
        world.gravity = DVec3::new(4.0, 1.0, -9.0);
        world.surfaces = vec![delassus::world::Surface::friction(0.3)];
        let mut stepper =
            Stepper::new(&world, state_of(&[Pose::IDENTITY, place(0.0, 0.0, 0.05)]), StepOptions::default())
                .unwrap();
        for _ in 0..100 {
            stepper.step().unwrap();
        }
        stepper.state().bodies[1]
    };
    let half = |x: f64| Shape { kind: cuboid(0.1, 0.1, 0.05), pose: place(x, 0.0, 0.0) };
    let whole = run(vec![Shape { kind: cuboid(0.2, 0.1, 0.05), pose: Pose::IDENTITY }]);
    let both = run(vec![half(-0.1), half(0.1)]);
    // a = g (sin − μ cos) along the slope, over 0.1 s; both within the solver's tolerance of it.
    let (along, speed) = (DVec3::new(4.0, 1.0, 0.0), (17_f64.sqrt() - 0.3 * 9.0) * 0.1);
    for s in [whole, both] {
        assert!((s.velocity - along.normalize() * speed).length() < 1e-8, "{}", s.velocity);
        assert!((s.pose.position.z - 0.05).abs() < 1e-9, "{}", s.pose.position);
    }
}

#[test]
fn pairs_without_contact_pass_through_each_other_and_nothing_else() {
    let mut world = world_of(&[ball(1.0), ball(1.0), ball(1.0)]);
    let state = state_of(&[place(0.0, 0.0, 0.0), place(1.0, 0.0, 0.0), place(0.0, 1.0, 0.0)]);
    let pairs = |world: &World| found(world, &state, 0.0).iter().map(|c| c.bodies).collect::<Vec<_>>();
    assert_eq!(pairs(&world), [[0, 1], [0, 2], [1, 2]]);
    world.no_contact = vec![[0, 1], [1, 2]];
    assert_eq!(pairs(&world), [[0, 2]]);
    (world.bodies[0].fixed, world.bodies[2].fixed) = (true, true);
    assert!(pairs(&world).is_empty(), "fixed bodies do not touch");
}

fn bad_shapes() -> Vec<(ShapeKind, ShapeError)> {
    let corners = vec![DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
    let mesh = |vertices: &[DVec3], triangles: &[[u32; 3]]| ShapeKind::Mesh {
        vertices: vertices.to_vec(),
        triangles: triangles.to_vec(),
    };
    let field = |heights: Vec<f64>, size, extent| ShapeKind::Heightfield { heights, size, extent };
    let nan = |k: usize| {
        let mut points = corners.clone();
        points[k].y = f64::NAN;
        points
    };
    let not_finite = |what, index| ShapeError::NotFinite { what, index };
    let few = |what, found, least| ShapeError::TooFew { what, found, least };
    vec![
        (mesh(&corners, &[[0, 1, 2], [0, 1, 4]]), ShapeError::Corner { triangle: 1, corner: 4, corners: 4 }),
        (mesh(&[], &[[0, 1, 2]]), ShapeError::Corner { triangle: 0, corner: 0, corners: 0 }),
        (mesh(&corners, &[]), few("triangles", 0, 1)),
        (mesh(&nan(2), &[[0, 1, 2]]), not_finite("corner", 2)),
        (ShapeKind::Convex { points: nan(1) }, not_finite("corner", 1)),
        (ShapeKind::Convex { points: vec![] }, few("points", 0, 4)),
        (field(vec![0.0; 5], [2, 3], [1.0; 2]), ShapeError::Grid { found: 5, size: [2, 3] }),
        (field(vec![], [0, 0], [1.0; 2]), few("heights along an axis", 0, 2)),
        (field(vec![0.0; 3], [1, 3], [1.0; 2]), few("heights along an axis", 1, 2)),
        (
            field(vec![0.0; 4], [usize::MAX, usize::MAX], [1.0; 2]),
            ShapeError::Grid { found: 4, size: [usize::MAX; 2] },
        ),
        (field(vec![0.0, 0.0, f64::INFINITY, 0.0], [2, 2], [1.0; 2]), not_finite("height", 2)),
        (field(vec![0.0; 4], [2, 2], [1.0, 0.0]), ShapeError::NotPositive { what: "extent", value: 0.0 }),
        (ball(-1.0), ShapeError::NotPositive { what: "radius", value: -1.0 }),
        (
            cuboid(1.0, f64::INFINITY, 1.0),
            ShapeError::NotPositive { what: "half an edge", value: f64::INFINITY },
        ),
    ]
}

#[test]
fn shapes_that_make_no_sense_are_errors_and_never_panics() {
    for (kind, expected) in bad_shapes() {
        assert_eq!(check_shape(&kind), Err(expected.clone()));
        assert_eq!(shape_mass(&kind), Err(NoVolume::Invalid(expected.clone())));
        let world = world_of(&[kind.clone(), ball(1.0), ShapeKind::Plane]);
        let state = state_of(&[Pose::IDENTITY; 3]);
        let error = WorldError::Shape { body: String::new(), shape: 0, problem: expected };
        assert_eq!(check_world(&world, &state), Err(error));
        // Others touch as if it were not there.
        let contacts = found(&world, &state, 0.1);
        assert_eq!(contacts.iter().map(|c| c.bodies).collect::<Vec<_>>(), [[1, 2]], "{kind:?}");
    }
    let world = world_of(&[ball(1.0), ball(1.0)]);
    assert_eq!(check_world(&world, &state_of(&[Pose::IDENTITY, place(3.0, 0.0, 0.0)])), Ok(()));
    let few = WorldError::States { states: 1, bodies: 2 };
    assert_eq!(check_world(&world, &state_of(&[Pose::IDENTITY])), Err(few));
    let mut massless = world.clone();
    massless.bodies[1].mass = 0.0;
    let error = check_world(&massless, &state_of(&[Pose::IDENTITY; 2])).unwrap_err();
    assert!(error.to_string().contains("mass of body `` is 0"), "{error}");
    // A stepper reports the same, and checks its options.
    let refused = |world: &World, options: StepOptions| {
        let state = state_of(&[Pose::IDENTITY, place(3.0, 0.0, 0.0)]);
        Stepper::new(world, state, options).err().map(|e| e.to_string()).unwrap_or_default()
    };
    assert_eq!(refused(&massless, StepOptions::default()), error.to_string());
    let backwards = StepOptions { dt: -1e-3, ..StepOptions::default() };
    assert_eq!(refused(&world, backwards), "the time step is -0.001, but must be positive and finite");
    let mut flat = world.clone();
    flat.bodies[1].inertia = DVec3::new(1.0, 1.0, 3.0);
    assert!(refused(&flat, StepOptions::default()).contains("triangle inequality: 3 > 1 + 1"));
    let mut windy = world.clone();
    windy.gravity.z = f64::NAN;
    assert!(refused(&windy, StepOptions::default()).contains("gravity is NaN"));
    assert_eq!(refused(&world, StepOptions::default()), "");
    let mut lost = state_of(&[Pose::IDENTITY; 2]);
    lost.bodies[1].pose.position.x = f64::NAN;
    assert!(check_world(&world, &lost).is_err());
}

#[test]
fn boxes_that_are_measured_again_or_not_have_the_same_contacts() {
    // Boxes that stay, creep and turn on a plane, with margins that change from call to call: a collider that
    // remembers and one that is new find the same, to the last bit.
    let mut world = world_of(&[
        ShapeKind::Plane,
        cuboid(0.1, 0.1, 0.1),
        cuboid(0.2, 0.1, 0.05),
        cuboid(0.1, 0.1, 0.1),
        ShapeKind::Capsule { radius: 0.05, half_height: 0.1 },
    ]);
    world.bodies[0].fixed = true;
    let mut poses = [
        place(0.0, 0.0, 0.0),
        place(0.0, 0.0, 0.1),
        place(0.05, 0.0, 0.25),
        place(0.21, 0.0, 0.1),
        place(0.0, 0.0, 0.36),
    ];
    let mut remembers = Collider::new(&world);
    let mut found_some = 0;
    for step in 0..200_u32 {
        let which = (step / 7) as usize % 5;
        if step % 3 == 0 && which > 0 {
            let turn = DQuat::from_rotation_z(1e-3 * f64::from(step % 5)) * DQuat::from_rotation_x(1e-9);
            poses[which].position += DVec3::new(1e-4, -2e-4, 3e-6 * (f64::from(step % 4) - 1.5));
            poses[which].rotation = (turn * poses[which].rotation).normalize();
        }
        let margin = [0.0, 1e-5, 3e-5, 1e-3][step as usize % 4];
        let body =
            |pose: &Pose| BodyState { pose: *pose, velocity: DVec3::ZERO, angular_velocity: DVec3::ZERO };
        let state = WorldState { t: 0.0, bodies: poses.iter().map(body).collect(), coordinates: vec![] };
        let (mut known, mut new) = (vec![], vec![]);
        remembers.collide(&world, &state, &[margin; 5], &mut known);
        Collider::new(&world).collide(&world, &state, &[margin; 5], &mut new);
        assert_eq!(format!("{known:?}"), format!("{new:?}"), "step {step}");
        found_some += known.len();
    }
    assert!(found_some > 500, "{found_some}");
}
