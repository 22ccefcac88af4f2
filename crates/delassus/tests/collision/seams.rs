//! Bodies that pass corners, edges and seams: nothing touches there but what is there.

use delassus::stepping::{StepOptions, Stepper};
use delassus::world::{Body, Pose, Shape, ShapeKind, Surface, World, WorldState, energy};
use delassus_solve::problem::Status;
use glam::{DQuat, DVec3};

use super::{cuboid, place, state_of};

const G: f64 = 9.81;

/// Fixed shapes, and one body that moves: mass 1, moments 0.01.
fn scene(
    ground: &[(ShapeKind, Pose)],
    mover: ShapeKind,
    start: Pose,
    v: DVec3,
    mu: f64,
) -> (World, WorldState) {
    let body = |kind: ShapeKind, fixed: bool| Body {
        name: if fixed { "ground".into() } else { "mover".into() },
        fixed,
        mass: 1.0,
        inertia: DVec3::splat(0.01),
        shapes: vec![Shape { kind, pose: Pose::IDENTITY }],
        frame: Pose::IDENTITY,
        force: [DVec3::ZERO; 2],
        carried: DVec3::ZERO,
    };
    let mut bodies: Vec<Body> = ground.iter().map(|(kind, _)| body(kind.clone(), true)).collect();
    bodies.push(body(mover, false));
    let mut poses: Vec<Pose> = ground.iter().map(|(_, pose)| *pose).collect();
    poses.push(start);
    let surfaces = vec![Surface::friction(mu)];
    let (name, gravity) = (String::new(), DVec3::new(0.0, 0.0, -G));
    let world = World {
        name,
        gravity,
        bodies,
        joints: Vec::new(),
        surfaces,
        no_contact: Vec::new(),
        plane: None,
        sensors: vec![],
        medium: None,
    };
    let mut state = state_of(&poses);
    state.bodies[ground.len()].velocity = v;
    (world, state)
}

/// A flat square at z = 0 of n × n squares of edge d, two triangles each, centred.
fn grid(n: u32, d: f64) -> ShapeKind {
    let corner = |i: u32, j: u32| {
        let at = |k: u32| (f64::from(k) - 0.5 * f64::from(n)) * d;
        DVec3::new(at(i), at(j), 0.0)
    };
    let vertices = (0..=n).flat_map(|j| (0..=n).map(move |i| corner(i, j))).collect();
    let index = |i: u32, j: u32| j * (n + 1) + i;
    let squares = (0..n).flat_map(|j| (0..n).map(move |i| (i, j)));
    let triangles = squares.flat_map(|(i, j)| {
        let [a, b, c, e] = [index(i, j), index(i + 1, j), index(i + 1, j + 1), index(i, j + 1)];
        // Diagonals both ways.
        if (i + j) % 2 == 0 { [[a, b, c], [a, c, e]] } else { [[a, b, e], [b, c, e]] }
    });
    ShapeKind::Mesh { vertices, triangles: triangles.collect() }
}

/// Tiles with flush tops at z = 0.
fn tiles(n: i32, d: f64) -> Vec<(ShapeKind, Pose)> {
    let half = 0.5 * d;
    let at = |i: i32, j: i32| place(d * f64::from(i), d * f64::from(j), -half);
    (-n..=n).flat_map(|i| (-1..=1).map(move |j| (cuboid(half, half, half), at(i, j)))).collect()
}

/// Slides until it stops: the way, and how far it left its height. Every step must be solved.
fn slide(world: &World, state: WorldState, t_end: f64) -> (DVec3, f64) {
    let moving = world.bodies.len() - 1;
    let start = state.bodies[moving].pose.position;
    let mut stepper = Stepper::new(world, state, StepOptions::default()).unwrap();
    let mut off = 0.0_f64;
    while stepper.state().t < t_end - 1e-9 {
        let report = stepper.step().unwrap();
        assert_eq!(report.status, Status::Solved, "t = {}", stepper.state().t);
        off = off.max((stepper.state().bodies[moving].pose.position.z - start.z).abs());
    }
    (stepper.state().bodies[moving].pose.position - start, off)
}

#[test]
fn blocks_slide_over_the_seams_of_tiles_and_meshes() {
    // Half edges such that the corners pass seams one by one, and together.
    let mu = 0.2;
    let way = 1.0 / (2.0 * mu * G);
    for (what, ground) in
        [("tiles", tiles(8, 0.1)), ("mesh", vec![(grid(16, 0.1), place(0.003, 0.007, 0.0))])]
    {
        for (yaw, direction) in [(0.0, 0.0), (0.3, 0.0), (0.0, 0.4), (0.7, 1.1)] {
            let v = DVec3::new(f64::cos(direction), f64::sin(direction), 0.0);
            for (half, height) in [(DVec3::new(0.07, 0.05, 0.02), 0.02), (DVec3::new(0.1, 0.1, 0.02), 0.02)] {
                let start =
                    Pose { position: DVec3::new(-0.2, -0.1, height), rotation: DQuat::from_rotation_z(yaw) };
                let (world, state) = scene(&ground, cuboid(half.x, half.y, half.z), start, v, mu);
                let (moved, off) = slide(&world, state, 0.6);
                // The stop falls inside of a step: (μ g dt²)/2 at most, and the solver's share.
                let error = (moved - v * way).length();
                assert!(
                    error < 2e-6 && off < 1e-9,
                    "{what} {yaw} {direction} {half}: {error:e}, off its height {off:e}"
                );
            }
        }
    }
}

/// A flat heightfield of n × n squares of edge d.
fn field(n: usize, d: f64) -> ShapeKind {
    let extent = [n as f64 * d; 2];
    ShapeKind::Heightfield { heights: vec![0.0; (n + 1) * (n + 1)], size: [n + 1; 2], extent }
}

#[test]
fn what_slides_over_inner_edges_moves_as_on_a_plane() {
    // With friction: a box stops, a ball comes to roll. Every normal of a contact that touches is vertical,
    // and the way is that on a plane, where no edges are.
    let plane = vec![(ShapeKind::Plane, Pose::IDENTITY)];
    let grounds = [
        ("heightfield", vec![(field(16, 0.1), place(0.003, 0.007, 0.0))]),
        ("mesh", vec![(grid(16, 0.1), place(0.003, 0.007, 0.0))]),
    ];
    let movers = [
        (cuboid(0.07, 0.05, 0.02), 0.02),
        (cuboid(0.1, 0.1, 0.02), 0.02),
        (ShapeKind::Sphere { radius: 0.04 }, 0.04),
    ];
    for (kind, height) in movers {
        for direction in [0.0, 0.4, 0.25 * std::f64::consts::PI] {
            let v = DVec3::new(f64::cos(direction), f64::sin(direction), 0.0);
            let start = place(-0.3, -0.3, height);
            let moved = |ground: &[(ShapeKind, Pose)]| {
                let (world, state) = scene(ground, kind.clone(), start, v, 0.2);
                let mut stepper = Stepper::new(&world, state, StepOptions::default()).unwrap();
                let mut tilt = 0.0_f64;
                for _ in 0..600 {
                    let report = stepper.step().unwrap();
                    assert_eq!(report.status, Status::Solved, "t = {}", stepper.state().t);
                    let touching = stepper.contact_forces().filter(|(_, force, _)| *force > 0.0);
                    tilt = touching.map(|(c, ..)| (c.normal - DVec3::Z).length()).fold(tilt, f64::max);
                }
                (stepper.state().bodies[1], tilt)
            };
            let (exact, _) = moved(&plane);
            for (what, ground) in &grounds {
                let (found, tilt) = moved(ground);
                let error = (found.pose.position - exact.pose.position).length();
                let slower = (found.velocity - exact.velocity).length();
                assert!(tilt < 1e-9, "{what} {kind:?} {direction}: a normal is off by {tilt:e}");
                assert!(
                    error < 1e-6 && slower < 1e-6,
                    "{what} {kind:?} {direction}: {error:e} m, {slower:e} m/s"
                );
            }
        }
    }
}

#[test]
fn round_bodies_roll_and_slide_over_seams() {
    // Without friction nothing slows them down: any change of velocity is a seam that was hit.
    let shapes = [
        (ShapeKind::Sphere { radius: 0.04 }, 0.04, DQuat::IDENTITY),
        (
            ShapeKind::Capsule { radius: 0.03, half_height: 0.06 },
            0.03,
            DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2),
        ),
        (
            ShapeKind::Capsule { radius: 0.03, half_height: 0.06 },
            0.03,
            DQuat::from_rotation_y(std::f64::consts::FRAC_PI_2),
        ),
        (ShapeKind::Cylinder { radius: 0.05, half_height: 0.03 }, 0.03, DQuat::IDENTITY),
        (
            ShapeKind::Cylinder { radius: 0.03, half_height: 0.06 },
            0.03,
            DQuat::from_rotation_x(std::f64::consts::FRAC_PI_2),
        ),
    ];
    for (what, ground) in
        [("tiles", tiles(8, 0.1)), ("mesh", vec![(grid(16, 0.1), place(0.003, 0.007, 0.0))])]
    {
        for (kind, height, rotation) in &shapes {
            for direction in [0.0, 0.4] {
                let v = DVec3::new(f64::cos(direction), f64::sin(direction), 0.0);
                let start = Pose { position: DVec3::new(-0.2037, -0.1021, *height), rotation: *rotation };
                let (world, state) = scene(&ground, kind.clone(), start, v, 0.0);
                let (moved, off) = slide(&world, state, 0.4);
                // Rounding; lines that leave a tile with their end touch the next one in a step of their own,
                // and share the load of half a step then: g dt/2 times the tilt of a normal that passes
                // within the step.
                let error = (moved - v * 0.4).length();
                assert!(
                    error < 5e-6 && off < 1e-8,
                    "{what} {kind:?} {direction}: {error:e}, off its height {off:e}"
                );
            }
        }
    }
}

#[test]
fn a_ball_slides_over_the_edge_of_a_box_and_leaves_it_at_its_angle() {
    // cos θ = (2 + v²/gR)/3 where it leaves; energy holds; then a parabola.
    let (r, v0) = (0.1, 0.3);
    for ground in [cuboid(0.5, 0.5, 0.1), cube_mesh(0.5, 0.1)] {
        let (world, state) = scene(
            &[(ground.clone(), place(0.0, 0.0, -0.1))],
            ShapeKind::Sphere { radius: r },
            place(0.4, 0.0, r),
            DVec3::X * v0,
            0.0,
        );
        let start = energy(&world, &state);
        let mut stepper = Stepper::new(&world, state, StepOptions::default()).unwrap();
        let mut worst = 0.0_f64;
        // Before it leaves the edge, and well after.
        while stepper.state().bodies[1].pose.position.z > -0.5 {
            let report = stepper.step().unwrap();
            assert_eq!(report.status, Status::Solved);
            assert!(report.penetration < 1e-9, "{report:?}");
            worst = worst.max((energy(&world, stepper.state()) - start).abs());
        }
        let speed = stepper.state().bodies[1].velocity.x;
        let cosine = (2.0 + v0 * v0 / (G * r)) / 3.0;
        let leaving = (v0 * v0 + 2.0 * G * r * (1.0 - cosine)).sqrt() * cosine;
        // The force jumps where the edge begins, within a step: first order there, v dt/R of the energy that
        // turns.
        assert!(worst < 2e-3 * start.abs(), "{ground:?}: {worst} of {start}");
        assert!((speed - leaving).abs() < 5e-3 * leaving, "{ground:?}: {speed} {leaving}");
    }
}

/// A box as a mesh.
fn cube_mesh(half: f64, height: f64) -> ShapeKind {
    let corner = |k: u32| DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) * 2.0 - 1.0;
    let vertices = (0..8).map(|k| corner(k) * DVec3::new(half, half, height)).collect();
    ShapeKind::Mesh { vertices, triangles: super::CUBE.to_vec() }
}

#[test]
fn a_box_that_slides_off_a_table_tips_and_falls_without_a_kick() {
    // Its energy without friction: constant as long as the corner slides over the edge without an impact.
    for (what, ground) in [("box", cuboid(0.3, 0.3, 0.05)), ("mesh", cube_mesh(0.3, 0.05))] {
        let (world, state) = scene(
            &[(ground, place(0.0, 0.0, -0.05))],
            cuboid(0.1, 0.06, 0.05),
            place(0.1, 0.0, 0.05),
            DVec3::X,
            0.0,
        );
        let start = energy(&world, &state);
        let mut stepper = Stepper::new(&world, state, StepOptions::default()).unwrap();
        let (mut gain, mut before) = (0.0_f64, start);
        for _ in 0..500 {
            let report = stepper.step().unwrap();
            assert_eq!(report.status, Status::Solved, "{what} t = {}", stepper.state().t);
            // A tenth of what counts as touching.
            assert!(report.penetration < 1e-8, "{what}: {report:?}");
            let now = energy(&world, stepper.state());
            gain = gain.max(now - before);
            before = now;
        }
        let s = stepper.state().bodies[1];
        assert!(s.pose.position.z < -0.2, "{what}: it fell: {}", s.pose.position);
        // Sliding is smooth: what a step gains is of the order of (dt)² g v.
        assert!(gain < 1e-4, "{what}: a step gained {gain} J");
        assert!((before - start).abs() < 5e-3, "{what}: {start} {before}");
        assert!(s.velocity.x > 0.9, "{what}: nothing stopped it: {}", s.velocity);
    }
}

#[test]
fn a_body_that_falls_past_another_does_not_touch_it() {
    // A tenth of a millimetre between the sides: edges and corners pass edges and corners.
    let hull = |half: DVec3| {
        let corner =
            |k: u32| DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2)) * 2.0 - 1.0;
        ShapeKind::Convex { points: (0..8).map(|k| corner(k) * half).collect() }
    };
    let posts = [cuboid(0.1, 0.1, 0.1), cube_mesh(0.1, 0.1), hull(DVec3::splat(0.1))];
    let movers = [
        (cuboid(0.05, 0.05, 0.05), 0.0),
        (hull(DVec3::splat(0.05)), 0.0),
        (cuboid(0.05, 0.05, 0.05), 0.5),
        (hull(DVec3::splat(0.05)), 0.5),
        (ShapeKind::Cylinder { radius: 0.05, half_height: 0.05 }, 0.0),
        (ShapeKind::Sphere { radius: 0.05 }, 0.0),
    ];
    for post in &posts {
        for (mover, yaw) in &movers {
            for (vx, gap) in [(0.0, 1e-4), (0.3, 1e-4), (0.0, 1e-6)] {
                let round = !matches!(mover, ShapeKind::Box { .. } | ShapeKind::Convex { .. });
                let side = if round { 1.0 } else { f64::cos(*yaw) + f64::sin(*yaw) };
                let start = Pose {
                    position: DVec3::new(0.1 + 0.05 * side + gap, 0.02, 0.3),
                    rotation: DQuat::from_rotation_z(*yaw),
                };
                let ground = [(post.clone(), Pose::IDENTITY)];
                let (world, state) = scene(&ground, mover.clone(), start, DVec3::X * vx, 0.5);
                let mut stepper = Stepper::new(&world, state, StepOptions::default()).unwrap();
                for _ in 0..400 {
                    let report = stepper.step().unwrap();
                    assert_eq!(report.status, Status::Solved, "{post:?} {mover:?}");
                }
                let s = stepper.state().bodies[1];
                let expected = start.position + DVec3::new(0.4 * vx, 0.0, -0.5 * G * 0.16);
                let off = (s.pose.position - expected).length();
                // Rounding.
                assert!(off < 1e-12, "{post:?} {mover:?} {yaw} {vx} {gap}: {off:e} at {}", s.pose.position);
            }
        }
    }
}
