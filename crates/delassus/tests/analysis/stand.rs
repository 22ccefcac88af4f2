//! Which worlds stand, against closed forms, published values and time stepping.

use std::f64::consts::PI;

use delassus::analysis::{
    Bracket, Margin, Proof, Reason, StandError, Standing, Stands, WorldAtRest, margin, resistance, stand,
};
use delassus::lagrangian::Tolerances;
use delassus::prelude::*;
use delassus::world::{Joint, kinetic_energy};
use proptest::prelude::*;

fn at_rest(scene: &Scene) -> WorldAtRest {
    WorldAtRest::new(&scene.world, &scene.state, &Tolerances::default()).unwrap()
}

fn stands(scene: &Scene) -> Standing {
    stand(&at_rest(scene), &Tolerances::default())
}

/// The bracket of the least friction, as a coefficient.
fn least_friction(scene: &Scene) -> [f64; 2] {
    let world = at_rest(scene);
    let mu = world.common_friction().unwrap();
    let Bracket { stands, falls, .. } = margin(&world, Margin::Friction).unwrap();
    [falls.unwrap() * mu, stands.unwrap() * mu]
}

/// Gravity of a ground that is tilted so that +x goes down.
fn tilted(angle: f64) -> DVec3 {
    9.81 * DVec3::new(angle.sin(), 0.0, -angle.cos())
}

/// Flat blocks on each other.
fn stack(blocks: usize, angle: f64, mu: f64) -> Scene {
    let mut scene = Scene::default();
    scene.world.gravity = tilted(angle);
    scene.add(Body::ground());
    for k in 0..blocks {
        let at = DVec3::new(0.0, 0.0, 0.1 + 0.2 * k as f64);
        scene.add(Body::block(&format!("block{k}"), 2.0, DVec3::new(0.3, 0.3, 0.1)).at(at));
    }
    scene.world.surfaces.push(Surface::friction(mu));
    scene
}

#[test]
fn a_stack_on_a_slope_needs_the_tangent_of_its_angle() {
    let angle = 20_f64.to_radians();
    let scene = stack(3, angle, 0.5);
    let found = stands(&scene);
    assert_eq!((found.stands, found.reason), (Stands::Surely, Some(Reason::Faces)));
    assert!(found.contacts.iter().all(|c| c.utilization < 1.0 && c.force > 0.0));
    let [falls, stands_with] = least_friction(&scene);
    assert!(falls < angle.tan() && angle.tan() < stands_with, "{falls} {stands_with}");
    assert!(stands_with - falls < 1e-5);
    // On level ground no friction is needed, and no motion is possible.
    let level = stands(&stack(3, 0.0, 0.5));
    assert_eq!(level.stands, Stands::Surely);
    // Tilted from there it slides at the angle of friction, before it tips: its base is as wide as it is
    // high.
    let tilt = margin(&at_rest(&stack(3, 0.0, 0.5)), Margin::Tilt { direction: DVec3::X }).unwrap();
    let [s, f] = [tilt.stands.unwrap(), tilt.falls.unwrap()];
    assert!(s < 0.5_f64.atan() && 0.5_f64.atan() < f && f - s < 1e-5, "{tilt:?}");
    // With less friction it slides down as a whole, or in parts.
    let falls = stands_not(&stack(3, angle, 0.36));
    assert!(falls[3][0].x > 0.0);
}

#[test]
fn bodies_on_faces_surely_stand_up_to_the_slope_at_which_they_slide_or_tip() {
    // n blocks of width 0.6 and height 0.2 tip at the slope 3/n, and slide at their friction.
    for (blocks, mu, limit) in [(1, 5.0, 3.0), (1, 0.4, 0.4), (3, 0.8, 0.8), (6, 0.3, 0.3), (10, 0.2, 0.2)] {
        for (share, answer) in [(0.999, Stands::Surely), (1.001, Stands::No)] {
            let found = stands(&stack(blocks, (share * limit).atan(), mu));
            assert_eq!(found.stands, answer, "{blocks} blocks, friction {mu}, {share} of {limit}");
        }
    }
    // A stack with a block beside it: two trees.
    let mut scene = stack(3, 0.2, 0.5);
    scene.add(Body::block("beside", 1.0, DVec3::new(0.1, 0.1, 0.1)).at(DVec3::new(2.0, 0.3, 0.1)));
    let Some(Proof::Faces(proof)) = stands(&scene).proof else { panic!("no proof by faces") };
    let on: Vec<Option<usize>> = proof.tree.bodies.iter().map(|b| b.on).collect();
    assert_eq!(on.iter().filter(|on| on.is_none()).count(), 2, "{on:?}");
    // A push, a joint or a second support is not weight on one face.
    let mut pushed = stack(2, 0.2, 0.5);
    pushed.world.bodies[1].force[0].y = 0.1;
    assert_eq!(stands(&pushed).stands, Stands::Possibly);
    let mut bridged = stack(1, 0.2, 0.5);
    bridged.add(Body::block("other", 2.0, DVec3::new(0.3, 0.3, 0.1)).at(DVec3::new(0.7, 0.0, 0.1)));
    bridged.add(Body::block("lintel", 2.0, DVec3::new(0.6, 0.3, 0.1)).at(DVec3::new(0.35, 0.0, 0.3)));
    assert_eq!(stands(&bridged).stands, Stands::Possibly);
}

/// The collapse of what does not stand.
fn stands_not(scene: &Scene) -> Vec<[DVec3; 2]> {
    let found = stands(scene);
    assert_eq!(found.stands, Stands::No);
    found.collapse.unwrap()
}

/// A half circle of stones between these radii on level ground; the first and the last may be fixed.
fn arch(stones: usize, radii: [f64; 2], mu: f64, fixed_ends: bool) -> Scene {
    let mut scene = Scene::default();
    scene.world.gravity = tilted(0.0);
    scene.add(Body::ground());
    let half = PI / (2.0 * stones as f64);
    for k in 0..stones {
        let middle = (2 * k + 1) as f64 * half;
        let mut points = Vec::new();
        for r in radii {
            for angle in [middle - half, middle + half] {
                points.extend([-0.25, 0.25].map(|y| DVec3::new(r * angle.cos(), y, r * angle.sin())));
            }
        }
        let shape = Shape { kind: ShapeKind::Convex { points }, pose: Pose::IDENTITY };
        let mut body = Body::solid(&format!("stone{}", k + 1), 100.0, vec![shape]).unwrap();
        body.fixed = fixed_ends && (k == 0 || k + 1 == stones);
        scene.add(body);
    }
    scene.world.surfaces.push(Surface::friction(mu));
    scene
}

#[test]
fn an_arch_of_nine_stones_stands_above_its_least_thickness() {
    // With forces in the joints (H, W) at the radius r = (H y + W x̄)/(H cos φ + W sin φ), φ from the
    // crown, and all of them within the joints, the least thickness relative to the mean radius is this
    // for nine stones, by a linear program in H and H y. It is 0.1075 for infinitely many.
    const LEAST: f64 = 0.10152546752546;
    for (share, answer) in [(1.01, Stands::Possibly), (0.99, Stands::No)] {
        let half = 0.5 * share * LEAST;
        let found = stands(&arch(9, [1.0 - half, 1.0 + half], 2.0, false));
        assert_eq!(found.stands, answer, "{share}");
    }
}

#[test]
fn the_least_thickness_of_an_arch_depends_on_its_stones_and_their_friction() {
    // Bisections of a linear program in the plane for normal and frictional forces at both ends of each
    // joint, by another program. Below about 0.4 stones slide before the arch becomes a mechanism of hinges.
    let cases = [
        (5, 2.0, 0.0949796),
        (15, 2.0, 0.1060680),
        (31, 2.0, 0.1071304),
        (9, 0.4, 0.1015254),
        (9, 0.37, 0.1221467),
        (9, 0.35, 0.1393910),
        (9, 0.32, 0.1700144),
    ];
    for (stones, mu, least) in cases {
        for (share, answer) in [(1.01, Stands::Possibly), (0.99, Stands::No)] {
            let half = 0.5 * share * least;
            let found = stands(&arch(stones, [1.0 - half, 1.0 + half], mu, false));
            assert_eq!(found.stands, answer, "{stones} stones, friction {mu}, {share}");
        }
    }
}

#[test]
fn the_least_friction_of_an_arch_of_twenty_stones() {
    // Geometry of the arch of compas_cra: span 10, height 5, the first and the last stone held. The
    // values are bisections by time stepping.
    for (thickness, low, high) in [(0.5, 0.2773, 0.2778), (0.6, 0.2568, 0.2573)] {
        let [falls, stands] = least_friction(&arch(20, [5.0, 5.0 + thickness], 0.7, true));
        assert!(stands - falls < 1e-5 && low <= falls && stands <= high, "{thickness}: {falls} {stands}");
    }
}

#[test]
fn an_arch_whose_first_and_last_stones_may_slide_needs_more() {
    // The assemblies with supports of compas_cra: all twenty stones are free. The balance of forces, as a
    // linear program with inner and outer polygons of 64 corners for the cones, agrees on both.
    assert_eq!(stands(&arch(20, [5.0, 5.5], 0.7, false)).stands, Stands::No);
    let [falls, stands_with] = least_friction(&arch(20, [5.0, 5.6], 0.7, false));
    assert!(stands_with - falls < 1e-5 && 0.3899 < falls && stands_with < 0.3900, "{falls} {stands_with}");
}

/// A block with a wedge at its foot in a notch between two fixed blocks, with the geometry of the assemblies
/// `type-a` to `type-d` of compas_cra, turned by 90° about y: the rim of the notch is at (±w, h), its bottom
/// at (0, 1/2), and the weight points along x.
fn wedge([w, h]: [f64; 2], top: f64, mu: f64) -> Scene {
    let mut scene = Scene::default();
    scene.world.gravity = 9.81 * DVec3::X;
    let mut add = |name: &str, outline: &[[f64; 2]], fixed: bool| {
        let corner = |[x, z]: &[f64; 2]| [0.0, 1.0].map(|y| DVec3::new(*x, y, *z));
        let points = outline.iter().flat_map(corner).collect();
        let shape = Shape { kind: ShapeKind::Convex { points }, pose: Pose::IDENTITY };
        let mut body = Body::solid(name, 1.0, vec![shape]).unwrap();
        body.fixed = fixed;
        scene.add(body);
    };
    add("right", &[[0.0, 0.0], [2.0, 0.0], [2.0, h], [w, h], [0.0, 0.5]], true);
    add("left", &[[0.0, 0.0], [-2.0, 0.0], [-2.0, h], [-w, h], [0.0, 0.5]], true);
    add("wedge", &[[0.0, 0.5], [w, h], [w, top], [-w, top], [-w, h]], false);
    scene.world.surfaces.push(Surface::friction(mu));
    scene
}

#[test]
fn wedges_in_a_notch_that_opens_sideways_need_the_tangent_of_its_slope() {
    // Faces steep by 60° or 30°: the horizontal between two points of them is in both friction cones above
    // the friction tan 30° or tan 60°, and then any load is balanced. Below, all forces lift.
    let (steep, flat) = ([0.6, 1.5392304845413263], [1.0, 1.0773502691896253]);
    let cases = [
        (steep, 1.6, 3f64.sqrt().recip()),
        (steep, 2.8, 3f64.sqrt().recip()),
        (flat, 2.338119784648299, 3f64.sqrt()),
        (flat, 1.1381197846482995, 3f64.sqrt()),
    ];
    for (rim, top, least) in cases {
        let [falls, stands_with] = least_friction(&wedge(rim, top, 1.1 * least));
        assert!(falls < least * (1.0 + 1e-9) && least < stands_with, "{falls} {least} {stands_with}");
        assert!(stands_with - falls < 1e-4 * least, "{falls} {least} {stands_with}");
        let found = stands(&wedge(rim, top, 1.02 * least));
        assert_eq!(found.stands, Stands::Possibly, "{rim:?} {top}");
        stands_not(&wedge(rim, top, 0.98 * least));
    }
    // The tall block with flat faces rests only if it is wedged in, which nothing does that has no impulse to
    // begin with: it also falls, with every friction that was tried.
    for mu in [2.0, 3.0] {
        let found = stands(&wedge(flat, 2.338119784648299, mu));
        assert!(found.stands == Stands::Possibly && found.other_motion.is_some(), "{mu}: {found:?}");
    }
}

/// A cube of 1 kg between a wall and a finger that a force presses on it.
fn grasp(press: f64, mu: f64) -> Scene {
    let mut scene = Scene::default();
    scene.world.gravity = tilted(0.0);
    let block = |half: DVec3| Shape { kind: ShapeKind::Box { half_extents: half }, pose: Pose::IDENTITY };
    let wall = Body::fixed("wall", vec![block(DVec3::new(0.1, 0.2, 0.2))]);
    let wall = scene.add(wall.at(DVec3::new(-0.15, 0.0, 0.0)));
    scene.add(Body::block("cube", 1.0, DVec3::splat(0.05)).at(DVec3::ZERO));
    let finger =
        scene.add(Body::block("finger", 0.2, DVec3::new(0.02, 0.03, 0.03)).at(DVec3::new(0.07, 0.0, 0.0)));
    let slider = Joint::prismatic("slider").with_force(-press);
    scene.join([wall, finger], Pose::along(DVec3::new(0.07, 0.0, 0.0), DVec3::X), slider);
    scene.world.surfaces.push(Surface::friction(mu));
    scene
}

#[test]
fn a_cube_in_a_grasp_is_held_by_twice_the_friction_of_a_finger() {
    // 2 μ N = m g.
    let critical = 9.81 / 40.0;
    for (share, answer) in [(0.98, Stands::No), (1.0, Stands::Undecided), (1.02, Stands::Possibly)] {
        assert_eq!(stands(&grasp(20.0, share * critical)).stands, answer, "{share}");
    }
    // Pressed twice as hard it carries as much again, down. A pull that also takes the cube off the wall
    // by the angle of friction is the weakest: F (cos φ + μ sin φ) = m g.
    let scene = grasp(40.0, critical);
    let least = 9.81 / (1.0 + critical * critical).sqrt();
    let found = resistance(&at_rest(&scene), 1, DVec3::ZERO).unwrap();
    let fails = found.fails.unwrap();
    assert!(found.weakest.unwrap().z < -0.9, "{found:?}");
    // The polyhedron of 162 corners is within 2 % of a ball.
    assert!(found.resists <= least && found.resists > 0.97 * least, "{found:?}");
    assert!(fails >= least && fails < 1.02 * least, "{found:?}");
    let more = margin(&at_rest(&scene), Margin::Load { body: 1 }).unwrap();
    let [s, f] = [more.stands.unwrap(), more.falls.unwrap()];
    assert!(s < 2.0 && 2.0 < f && f - s < 1e-5, "{more:?}");
}

/// A cube of 1 kg with sides of 0.1 m between a wall and a finger, both as large as its faces. The finger has
/// a joint across the faces.
fn flush_grasp(finger_joint: Joint, mu: f64) -> Scene {
    let mut scene = Scene::default();
    scene.world.gravity = tilted(0.0);
    let block = |half: DVec3| Shape { kind: ShapeKind::Box { half_extents: half }, pose: Pose::IDENTITY };
    let wall = Body::fixed("wall", vec![block(DVec3::new(0.1, 0.05, 0.05))]);
    let wall = scene.add(wall.at(DVec3::new(-0.15, 0.0, 0.0)));
    scene.add(Body::block("cube", 1.0, DVec3::splat(0.05)).at(DVec3::ZERO));
    let half = DVec3::new(0.02, 0.05, 0.05);
    let finger = scene.add(Body::block("finger", 0.2, half).at(DVec3::new(0.07, 0.0, 0.0)));
    scene.join([wall, finger], Pose::along(DVec3::new(0.07, 0.0, 0.0), DVec3::X), finger_joint);
    scene.world.surfaces.push(Surface::friction(mu));
    scene
}

#[test]
fn a_cube_in_a_grasp_of_faces_may_swing_about_two_of_its_corners() {
    // The whole press may pass through one corner of the cube on each side, and the others slide without
    // forces: a pendulum about the line of these corners. With sides 2 a its inertia about it is 8/3 m a²,
    // the moment of its weight m g a. The corners hold with (3/8, 5/8) m g together.
    let (a, g) = (0.05, 9.81);
    let swing = 3.0 * g / (8.0 * a);
    let (centre, hold) =
        (DVec3::new(0.0, 3.0 / 8.0, -3.0 / 8.0) * g, DVec3::new(0.0, 3.0 / 8.0, 5.0 / 8.0) * g);
    assert!((hold - g * DVec3::Z - centre).length() < 1e-12);
    let corner = DVec3::new(0.0, a, a);
    let inertia = 2.0 / 3.0 * a * a;
    assert!((corner.cross(hold) - inertia * swing * DVec3::X).length() < 1e-12);
    assert!((centre + swing * DVec3::X.cross(corner)).length() < 1e-12);
    // It is one of several; whichever is found, the weight moves it.
    let critical = 9.81 / 40.0;
    for share in [1.02, 1.5, 4.0] {
        assert!(hold.length() < 2.0 * share * critical * 20.0);
        let found = stands(&flush_grasp(Joint::prismatic("slider").with_force(-20.0), share * critical));
        assert_eq!(found.stands, Stands::Possibly, "{share}");
        let [velocity, spin] = found.other_motion.unwrap()[1];
        assert!(velocity.z < -0.1 && spin.x.abs() > 1.0, "{share}: {velocity} {spin}");
    }
    for (share, answer) in [(0.98, Stands::No), (1.0, Stands::Undecided)] {
        let found = stands(&flush_grasp(Joint::prismatic("slider").with_force(-20.0), share * critical));
        assert_eq!(found.stands, answer, "{share}");
    }
}

#[test]
fn a_motor_that_holds_its_place_may_let_a_cube_fall() {
    // A motor with at most 20 N may press, and then the cube rests; or hold its place without any force.
    let critical = 9.81 / 40.0;
    let held =
        |share: f64| flush_grasp(Joint::prismatic("slider").with_position_motor(0.0, 20.0), share * critical);
    assert_eq!(stands(&held(0.98)).stands, Stands::No);
    assert_eq!(stands(&held(1.0)).stands, Stands::Undecided);
    let found = stands(&held(1.02));
    assert_eq!(found.stands, Stands::Possibly);
    let [velocity, spin] = found.other_motion.unwrap()[1];
    assert!((velocity + 9.81 * DVec3::Z).length() < 1e-9 && spin.length() < 1e-9, "{velocity} {spin}");
}

/// The grasp with all loads times a factor, and with a light cube between fingers that carry much more than
/// they press.
#[test]
fn what_a_grasp_resists_is_as_exact_in_every_unit() {
    let base = resistance(&at_rest(&grasp(40.0, 0.3)), 1, DVec3::ZERO).unwrap();
    for factor in [1e-9, 1e-6, 1e6, 1e9] {
        let mut scene = grasp(40.0 * factor, 0.3);
        scene.world.gravity *= factor;
        let found = resistance(&at_rest(&scene), 1, DVec3::ZERO).unwrap();
        let ratio = found.resists / factor / base.resists;
        assert!((ratio - 1.0).abs() < 1e-5, "{factor}: {found:?}");
    }
    for factor in [1e-3, 1e-6] {
        let mut scene = grasp(40.0 * factor, 0.3);
        scene.world.bodies[1].mass *= factor;
        scene.world.bodies[1].inertia *= factor;
        let found = resistance(&at_rest(&scene), 1, DVec3::ZERO).unwrap();
        let ratio = found.resists / factor / base.resists;
        assert!(ratio < 1.0 + 1e-6 && ratio > 0.98, "{factor}: {ratio} {found:?}");
    }
}

#[test]
fn friction_beyond_all_measure_is_as_good_as_much_friction() {
    let mu = 1e9;
    assert_eq!(stands(&stack(2, 0.3, mu)).stands, Stands::Surely);
    // Lifted by more than its weight it goes.
    let found = resistance(&at_rest(&stack(1, 0.0, mu)), 1, DVec3::new(0.0, 0.0, 0.1)).unwrap();
    assert!(found.resists > 5.0 && found.resists < 2.0 * 9.81, "{found:?}");
    // Where squares overflow nothing is proved that needs friction, and nothing that is wrong.
    let most = stack(1, 0.2, 1e300);
    assert_ne!(stands(&most).stands, Stands::No);
    assert_eq!(stands(&stack(1, 0.0, 1e300)).stands, Stands::Surely);
    assert_eq!(resistance(&at_rest(&most), 1, DVec3::ZERO).unwrap().fails, None);
    assert_eq!(margin(&at_rest(&most), Margin::Friction).unwrap().stands, None);
}

/// Bricks of length 1 on a table's edge, the upper end of each beyond the lower by a share of 1/2, 1/4,
/// 1/6, …
fn overhang(bricks: usize, share: f64) -> Scene {
    let mut scene = Scene::default();
    scene.world.gravity = tilted(0.0);
    let block =
        Shape { kind: ShapeKind::Box { half_extents: DVec3::new(2.0, 0.5, 0.5) }, pose: Pose::IDENTITY };
    scene.add(Body::fixed("table", vec![block]).at(DVec3::new(-2.0, 0.0, -0.5)));
    let mut end = 0.0;
    for k in (1..=bricks).rev() {
        end += share / (2 * k) as f64;
        let at = DVec3::new(end - 0.5, 0.0, 0.1 + 0.2 * (bricks - k) as f64);
        scene.add(Body::block(&format!("brick{k}"), 2.0, DVec3::new(0.5, 0.25, 0.1)).at(at));
    }
    scene.world.surfaces.push(Surface::friction(0.4));
    scene
}

#[test]
fn a_tower_of_overhanging_bricks_stands_up_to_the_harmonic_sum() {
    for bricks in [1, 2, 5] {
        assert_eq!(stands(&overhang(bricks, 0.9999)).stands, Stands::Surely, "{bricks}");
        let collapse = stands_not(&overhang(bricks, 1.0001));
        // It turns over the edge.
        assert!(collapse[bricks][1].y > 0.0, "{collapse:?}");
    }
    // Beyond one half of the sum of 1/k, at four bricks, the top one is beyond the edge as a whole.
    let four = overhang(4, 0.999);
    assert!(four.state.bodies[4].pose.position.x > 0.5 && stands(&four).stands == Stands::Surely);
}

#[test]
fn what_moves_or_overlaps_is_refused() {
    let mut scene = stack(2, 0.0, 0.5);
    scene.state.bodies[2].velocity = DVec3::X * 0.1;
    let error = WorldAtRest::new(&scene.world, &scene.state, &Tolerances::default()).err().unwrap();
    assert!(matches!(&error, StandError::Moves { speed, .. } if *speed == 0.1));
    assert!(error.to_string().contains("`block1` moves with 1e-1, expected a world at rest"), "{error}");
    let mut scene = stack(2, 0.0, 0.5);
    scene.state.bodies[1].pose.position.z -= 1e-3;
    let error = WorldAtRest::new(&scene.world, &scene.state, &Tolerances::default()).err().unwrap();
    assert!(matches!(error, StandError::State(_)));
}

/// Boxes on each other, each turned about the vertical and moved aside, on tilted ground.
fn random_stack(parts: &[([f64; 2], f64, [f64; 3])], angle: f64, mu: f64) -> Scene {
    let mut scene = Scene::default();
    scene.world.gravity = tilted(angle);
    scene.add(Body::ground());
    let (mut height, mut at) = (0.0, DVec3::ZERO);
    for (k, (aside, turn, half)) in parts.iter().enumerate() {
        let half = DVec3::from_array(*half);
        at += DVec3::new(aside[0], aside[1], 0.0);
        let position = DVec3::new(at.x, at.y, height + half.z);
        height += 2.0 * half.z;
        let body =
            Body::block(&format!("box{k}"), 8.0 * half.x * half.y * half.z * 1000.0, half).at(position);
        scene.add(body.rotated(DQuat::from_rotation_z(*turn)));
    }
    scene.world.surfaces.push(Surface::friction(mu));
    scene
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn time_stepping_moves_what_does_not_stand_and_keeps_what_surely_does(
        parts in prop::collection::vec(
            (prop::array::uniform2(-0.18..0.18_f64), 0.0..1.5_f64, prop::array::uniform3(0.1..0.25_f64)), 1..4),
        angle in 0.0..0.6_f64, level: bool, mu in 0.05..0.9_f64,
    ) {
        let scene = random_stack(&parts, if level { 0.0 } else { angle }, mu);
        let found = stands(&scene);
        if found.stands == Stands::Undecided {
            return Ok(());
        }
        let mut sim = Simulation::new(scene.clone(), StepOptions::default()).unwrap();
        let steps = 20;
        for _ in 0..steps {
            sim.step().unwrap();
        }
        let energy = kinetic_energy(&scene.world, sim.state());
        let mass: f64 = scene.world.bodies.iter().filter(|b| !b.fixed).map(|b| b.mass).sum();
        // Free fall over the time of the steps has g t.
        let fall = 0.5 * mass * (9.81 * f64::from(steps) * 1e-3_f64).powi(2);
        match found.stands {
            Stands::No => prop_assert!(energy > 1e-12 * fall, "{energy} of {fall}"),
            Stands::Surely => prop_assert!(energy < 1e-9 * fall, "{energy} of {fall}"),
            _ => {}
        }
    }
}
