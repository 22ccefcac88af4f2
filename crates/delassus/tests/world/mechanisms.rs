//! Mechanisms with loops: mobility, accelerations with redundant joints, closing.

use std::f64::consts::PI;

use delassus::world::{
    Action, ActionKind, Axis, CloseError, Coordinate, Curve, Joint, JointKind, Pose, Rows, World, WorldState,
    close_loops, joint_coordinate, joint_rows, mobility, project_velocities, update_joint_coordinates,
};
use delassus_solve::linalg::Matrix;
use glam::{DMat3, DQuat, DVec3};
use proptest::prelude::*;

use super::joint_rows::{at_rest, body, frames, velocities, world};

/// A world with a fixed first body.
fn mechanism(
    bodies: &[(f64, DVec3, Pose)],
    joints: &[(usize, usize, JointKind, DVec3, DVec3)],
) -> (World, WorldState) {
    let mut ground = body("ground", 1.0, DVec3::ONE);
    ground.fixed = true;
    let mut all = vec![ground];
    let mut poses = vec![Pose::IDENTITY];
    for (i, &(mass, inertia, pose)) in bodies.iter().enumerate() {
        all.push(body(&format!("link {}", i + 1), mass, inertia));
        poses.push(pose);
    }
    let make = |(i, (a, b, kind, point, axis)): (usize, &(usize, usize, JointKind, DVec3, DVec3))| {
        let frames = frames(*point, *axis, &poses[*a], &poses[*b]);
        Joint::new(&format!("joint {}", i + 1), kind.clone(), [*a, *b], frames)
    };
    let joints = joints.iter().enumerate().map(make).collect();
    let world = world(all, joints);
    let mut state = at_rest(&poses);
    update_joint_coordinates(&world, &mut state);
    (world, state)
}

fn hinge(a: usize, b: usize, point: DVec3, axis: DVec3) -> (usize, usize, JointKind, DVec3, DVec3) {
    (a, b, JointKind::Revolute, point, axis)
}

/// A uniform rod of one kilogram per metre with the moments of a ball, and its axes those of the world.
fn rod(p: DVec3, q: DVec3) -> (f64, DVec3, Pose) {
    let length = p.distance(q);
    let pose = Pose { position: 0.5 * (p + q), rotation: DQuat::IDENTITY };
    (length, DVec3::splat(length.powi(3) / 12.0), pose)
}

/// Ground 1.0, crank 0.4, coupler 0.9, rocker 0.7 in the xz plane; the crank at an angle.
fn four_bar(angle: f64) -> (World, WorldState) {
    let (ground, crank, coupler, rocker) = (1.0, 0.4, 0.9, 0.7_f64);
    let (o, c) = (DVec3::ZERO, DVec3::new(ground, 0.0, 0.0));
    let a = crank * DVec3::new(angle.cos(), 0.0, angle.sin());
    let far = a.distance(c);
    let along = (coupler * coupler - rocker * rocker + far * far) / (2.0 * far);
    let u = (c - a) / far;
    let b = a + along * u + (coupler * coupler - along * along).sqrt() * DVec3::new(-u.z, 0.0, u.x);
    let y = DVec3::Y;
    let links = [rod(o, a), rod(a, b), rod(b, c)];
    mechanism(&links, &[hinge(0, 1, o, y), hinge(1, 2, a, y), hinge(2, 3, b, y), hinge(0, 3, c, y)])
}

/// Denavit–Hartenberg: turn about z, shift along x, tilt about x.
fn link(angle: f64, length: f64, tilt: f64) -> Pose {
    let rotation = DQuat::from_rotation_z(angle) * DQuat::from_rotation_x(tilt);
    Pose { position: DQuat::from_rotation_z(angle) * DVec3::new(length, 0.0, 0.0), rotation }
}

/// Bennett's linkage: four hinges in space, opposite links equal, a / sin α = b / sin β.
fn bennett() -> (World, WorldState) {
    let (a, b, alpha) = (1.0, 0.8, 50.0_f64.to_radians());
    let beta = (b / a * alpha.sin()).asin();
    let first = 70.0_f64.to_radians();
    let second =
        2.0 * (((beta + alpha) / 2.0).sin() / ((beta - alpha) / 2.0).sin() / (first / 2.0).tan()).atan();
    let mut best: Option<(f64, [Pose; 3])> = None;
    for signs in 0..8 {
        let sign = |k: i32| if signs >> k & 1 == 0 { 1.0 } else { -1.0 };
        let t1 = link(first, a, alpha);
        let t2 = t1.compose(&link(sign(0) * second, b, beta));
        let t3 = t2.compose(&link(sign(1) * first, a, alpha));
        let t4 = t3.compose(&link(sign(2) * second, b, beta));
        let turned = (DMat3::from_quat(t4.rotation) - DMat3::IDENTITY).to_cols_array();
        let open = t4.position.length() + turned.iter().map(|x| x.abs()).sum::<f64>();
        if best.as_ref().is_none_or(|(e, _)| open < *e) {
            best = Some((open, [t1, t2, t3]));
        }
    }
    let (open, [t1, t2, t3]) = best.unwrap();
    assert!(open < 1e-14, "{open}");
    let p = [DVec3::ZERO, t1.position, t2.position, t3.position];
    let z = [DVec3::Z, t1.rotation * DVec3::Z, t2.rotation * DVec3::Z, t3.rotation * DVec3::Z];
    let links = [rod(p[0], p[1]), rod(p[1], p[2]), rod(p[2], p[3])];
    let joints = [(0, 1), (1, 2), (2, 3), (0, 3)];
    mechanism(&links, &[0, 1, 2, 3].map(|i| hinge(joints[i].0, joints[i].1, p[i], z[i])))
}

fn counts(world: &World, state: &WorldState) -> [usize; 4] {
    let m = mobility(world, state);
    [m.rows, m.rank, m.degrees_of_freedom, m.redundant]
}

/// Accelerations from rest under gravity, (ẍ, ω̄̇) for each body that is not fixed, and Jᵀλ with the shortest
/// λ.
fn accelerations(world: &World, state: &WorldState) -> (Vec<f64>, Vec<f64>) {
    let mut out = Rows::default();
    joint_rows(world, state, 1e-3, &mut out);
    let n = 6 * (world.bodies.len() - 1);
    let mut j = Matrix::zeros(out.bilateral, n);
    for i in 0..out.bilateral {
        for (b, block) in out.blocks_of(&out.rows[i]) {
            (0..6).for_each(|c| j[(i, 6 * (*b as usize - 1) + c)] = block[c]);
        }
    }
    let mass = |i: usize| {
        let body = &world.bodies[1 + i / 6];
        if i % 6 < 3 { body.mass } else { body.inertia[i % 6 - 3] }
    };
    let free: Vec<f64> = (0..n).map(|i| if i % 6 < 3 { world.gravity[i % 6] } else { 0.0 }).collect();
    let scaled = Matrix::from_fn(n, out.bilateral, |i, k| j[(k, i)] / mass(i));
    // J M⁻¹ Jᵀ λ = −J a₀
    let lambda = j.mul(&scaled).pseudo_solve(&j.mul_vec(&free).iter().map(|x| -x).collect::<Vec<_>>());
    let push = j.tr_mul_vec(&lambda);
    ((0..n).map(|i| free[i] + push[i] / mass(i)).collect(), push)
}

#[test]
fn a_four_bar_has_one_freedom_and_three_redundant_rows() {
    let (world, state) = four_bar(PI / 3.0);
    let m = mobility(&world, &state);
    assert_eq!([m.rows, m.rank, m.degrees_of_freedom, m.redundant], [20, 17, 1, 3]);
    // Forces out of the plane and the moments that tilt links are not unique, in every hinge.
    assert_eq!(m.joints_not_unique, [0, 1, 2, 3]);
    // The forces in the plane are: rows x and z of each hinge, whose frame has its z axis along y and its y
    // axis along −z.
    let expected: Vec<usize> = (0..4).flat_map(|j| [5 * j + 2, 5 * j + 3, 5 * j + 4]).collect();
    assert_eq!(m.rows_not_unique, expected);
}

#[test]
fn bennetts_linkage_has_one_freedom_and_three_redundant_rows() {
    let (world, state) = bennett();
    assert_eq!(counts(&world, &state), [20, 17, 1, 3]);
}

#[test]
fn mobility_counts_bodies_without_joints_and_joints_without_bodies() {
    let (mut world, mut state) = four_bar(1.0);
    world.bodies.push(body("loose", 1.0, DVec3::ONE));
    state.bodies.push(state.bodies[1]);
    assert_eq!(counts(&world, &state), [20, 17, 7, 3]);
    let mut wall = body("wall", 1.0, DVec3::ONE);
    wall.fixed = true;
    world.bodies.push(wall);
    state.bodies.push(state.bodies[0]);
    world.joints.push(Joint::new("idle", JointKind::Ball, [0, 5], [Pose::IDENTITY; 2]));
    state.coordinates.push(0.0);
    assert_eq!(counts(&world, &state), [23, 17, 7, 6]);
    assert!(mobility(&world, &state).joints_not_unique.contains(&4));
}

#[test]
fn an_open_chain_has_no_redundant_row() {
    let links = [1.0, 2.0, 3.0].map(|x| rod(DVec3::new(x - 1.0, 0.0, 0.0), DVec3::new(x, 0.1 * x, 0.0)));
    let at = |x: f64| DVec3::new(x, 0.1 * x, 0.0);
    let kinds = [JointKind::Revolute, JointKind::Universal, JointKind::Screw { pitch: 0.1 }];
    let joints: Vec<_> = (0..3).map(|i| (i, i + 1, kinds[i].clone(), at(i as f64), DVec3::X)).collect();
    let (world, state) = mechanism(&links, &joints);
    let m = mobility(&world, &state);
    assert_eq!([m.rows, m.rank, m.degrees_of_freedom, m.redundant], [14, 14, 4, 0]);
    assert!(m.joints_not_unique.is_empty());
}

#[test]
fn golden_parallelogram() {
    // phys.fourbar_parallelogram: θ̈ = −(m_k + m_c) g L sin θ / (2/3 m_k L² + m_c L²) at 35°.
    let (crank, base, angle) = (1.0, 1.5, 35.0_f64.to_radians());
    let down = crank * DVec3::new(angle.sin(), 0.0, -angle.cos());
    let (o, c) = (DVec3::ZERO, DVec3::new(base, 0.0, 0.0));
    let (_, inertia, first) = rod(o, o + down);
    let second = rod(c, c + down).2;
    let coupler = rod(o + down, c + down).2;
    let links = [
        (1.0, inertia, first),
        (2.0, DVec3::splat(2.0 * base * base / 12.0), coupler),
        (1.0, inertia, second),
    ];
    let y = DVec3::Y;
    let joints = [hinge(0, 1, o, y), hinge(1, 2, o + down, y), hinge(2, 3, c + down, y), hinge(0, 3, c, y)];
    let (world, state) = mechanism(&links, &joints);
    assert_eq!(counts(&world, &state), [20, 17, 1, 3]);
    let (a, _) = accelerations(&world, &state);
    // A rotation that swings outwards is about −y.
    assert!((-a[4] + 6.330132945679232).abs() < 1e-9, "{}", a[4]);
    assert!((-a[16] + 6.330132945679232).abs() < 1e-9 && a[10].abs() < 1e-9);
}

#[test]
fn golden_double_pendulum_with_each_hinge_twice() {
    // phys.double_pendulum_redundant.
    let (pivot, apart) = (DVec3::new(0.0, 0.0, 3.0), DVec3::new(0.0, 0.2, 0.0));
    let angles = [60.0_f64.to_radians(), 30.0_f64.to_radians()];
    let down = angles.map(|t| DVec3::new(t.sin(), 0.0, -t.cos()));
    let inertia = DVec3::new(1.0 / 12.0, 1.0 / 12.0, 0.001);
    let middle = pivot + down[0];
    let pose = |k: usize, from: DVec3| Pose {
        position: from + 0.5 * down[k],
        rotation: DQuat::from_rotation_y(-angles[k]),
    };
    let links = [(1.0, inertia, pose(0, pivot)), (1.0, inertia, pose(1, middle))];
    let y = DVec3::Y;
    let joints = [
        hinge(0, 1, pivot, y),
        hinge(0, 1, pivot + apart, y),
        hinge(1, 2, middle, y),
        hinge(1, 2, middle + apart, y),
    ];
    let (world, state) = mechanism(&links, &joints);
    assert_eq!(counts(&world, &state), [20, 10, 2, 10]);
    let (a, push) = accelerations(&world, &state);
    let expected = [
        (-a[4], -12.399143172993744),
        (-a[10], 8.74945945945946),
        (a[0], -3.099785793248407),
        (a[1], 0.0),
        (a[2], -5.3689864864864925),
        (a[6], -2.410944505859881),
        (a[7], 0.0),
        (a[8], -8.550608108108122),
        (push[0], -3.099785793248407),
        (push[2], 4.441013513513508),
        (push[4], 1.0332619310828122),
        (push[6], -2.410944505859881),
        (push[8], 1.259391891891879),
        (push[10], -0.729121621621619),
    ];
    for (i, (found, wanted)) in expected.into_iter().enumerate() {
        assert!((found - wanted).abs() < 1e-8, "{i}: {found} {wanted}");
    }
    assert!([1, 3, 5, 7, 9, 11].iter().all(|&i| push[i].abs() < 1e-8));
}

fn shake(state: &mut WorldState, by: &[f64]) {
    for (k, body) in state.bodies.iter_mut().skip(1).enumerate() {
        let d = &by[6 * k..6 * k + 6];
        body.pose.position += DVec3::new(d[0], d[1], d[2]);
        body.pose.rotation *= DQuat::from_scaled_axis(DVec3::new(d[3], d[4], d[5]));
    }
}

/// Σ over bodies of |x − x₀|² + θ·(I/m) θ.
fn distance(world: &World, a: &WorldState, b: &WorldState) -> f64 {
    let bodies = world.bodies.iter().zip(a.bodies.iter().zip(&b.bodies));
    let each = bodies.map(|(body, (a, b))| {
        let turn = (a.pose.rotation.conjugate() * b.pose.rotation).normalize();
        let turn = if turn.w < 0.0 { -turn } else { turn }.to_scaled_axis();
        a.pose.position.distance_squared(b.pose.position) + turn.dot(body.inertia / body.mass * turn)
    });
    each.sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn loops_close_from_near_by_and_no_closed_position_is_nearer(
        by in prop::collection::vec(-0.08..0.08_f64, 18),
        space in any::<bool>(),
    ) {
        let (mut world, closed) = if space { bennett() } else { four_bar(1.0) };
        let mut start = closed.clone();
        shake(&mut start, &by);
        let mut state = start.clone();
        let found = close_loops(&world, &mut state).unwrap();
        prop_assert!(found.error < 2e-12 && found.moved > 0.0);
        prop_assert_eq!(counts(&world, &state), [20, 17, 1, 3]);
        let reached = distance(&world, &start, &state);
        prop_assert!(reached <= distance(&world, &start, &closed) * (1.0 + 1e-6));
        // Held at another angle of its one freedom, the mechanism ends further away.
        let angle = joint_coordinate(&world, &state, 0).unwrap()[0];
        for offset in [-1e-3, 1e-3] {
            let position = (angle + offset).into();
            let action = Action { coordinate: Coordinate::About(Axis::Z), kind: ActionKind::Drive { position } };
            world.joints[0].actions = vec![action];
            let mut other = start.clone();
            close_loops(&world, &mut other).unwrap();
            prop_assert!(distance(&world, &start, &other) > reached, "{offset}");
        }
    }

    #[test]
    fn velocities_are_changed_the_least(by in prop::collection::vec(-1.0..1.0_f64, 18), speed in -2.0..2.0_f64) {
        let (mut world, mut state) = four_bar(1.0);
        for (k, body) in state.bodies.iter_mut().skip(1).enumerate() {
            body.velocity = DVec3::from_slice(&by[6 * k..]);
            body.angular_velocity = DVec3::from_slice(&by[6 * k + 3..]);
        }
        let before = state.clone();
        prop_assert!(project_velocities(&world, &mut state) < 1e-13);
        let mut out = Rows::default();
        joint_rows(&world, &state, 1e-3, &mut out);
        prop_assert!(velocities(&out, &state).iter().all(|u| u.abs() < 1e-13));
        // The change is orthogonal to what is left, in the metric of the masses.
        let work: f64 = (1..4).map(|b| {
            let (old, new, body) = (&before.bodies[b], &state.bodies[b], &world.bodies[b]);
            body.mass * new.velocity.dot(old.velocity - new.velocity)
                + new.angular_velocity.dot(body.inertia * (old.angular_velocity - new.angular_velocity))
        }).sum();
        prop_assert!(work.abs() < 1e-13);
        // A drive brings its own speed.
        let symbols = delassus::formula::Symbols::default();
        let ramp = delassus::formula::Expression::parse(&format!("{speed}*t"), &symbols).unwrap();
        let kind = ActionKind::Drive { position: ramp.into() };
        world.joints[0].actions = vec![Action { coordinate: Coordinate::About(Axis::Z), kind }];
        prop_assert!(project_velocities(&world, &mut state) < 1e-13);
        prop_assert!((joint_coordinate(&world, &state, 0).unwrap()[1] - speed).abs() < 1e-13);
    }
}

#[test]
fn the_least_motion_in_closed_form() {
    let at = |x, y, z| Pose { position: DVec3::new(x, y, z), rotation: DQuat::from_rotation_x(0.3) };
    let circle = Curve {
        point: [0, 1, 2].map(|k| {
            let mut symbols = delassus::formula::Symbols::default();
            symbols.add_coordinate("s").unwrap();
            let text = ["cos(s)", "sin(s)", "0"][k];
            delassus::formula::Expression::parse(text, &symbols).unwrap().into()
        }),
        range: [0.0, 2.0 * PI],
    };
    let cases = [
        (JointKind::PointOnLine, at(3.0, 4.0, 2.0), at(0.0, 0.0, 2.0)),
        (JointKind::PointOnPlane, at(3.0, 4.0, 2.0), at(3.0, 4.0, 0.0)),
        (JointKind::Distance { length: 2.0 }, at(3.0, 4.0, 0.0), at(1.2, 1.6, 0.0)),
        (JointKind::PointOnCurve(circle), at(-3.0, -4.0, 0.5), at(-0.6, -0.8, 0.0)),
    ];
    for (kind, from, to) in cases {
        let (mut world, mut state) = mechanism(&[(2.0, DVec3::new(0.1, 0.2, 0.25), from)], &[]);
        world.joints.push(Joint::new("j", kind.clone(), [0, 1], [Pose::IDENTITY; 2]));
        let closure = close_loops(&world, &mut state).unwrap();
        let there = state.bodies[1].pose;
        assert!(there.position.distance(to.position) < 1e-9, "{kind:?} {there:?}");
        assert!(there.rotation.angle_between(to.rotation) < 1e-9, "{kind:?} {there:?}");
        assert!((closure.moved - from.position.distance(to.position)).abs() < 1e-9);
    }
}

#[test]
fn a_slider_crank_closes() {
    let (crank, rod_length, angle) = (0.2, 0.5, 0.7_f64);
    let pin = crank * DVec3::new(angle.cos(), 0.0, angle.sin());
    let reach = pin.x + (rod_length * rod_length - pin.z * pin.z).sqrt();
    let end = DVec3::new(reach, 0.0, 0.0);
    let y = DVec3::Y;
    let slider = (0.5, DVec3::splat(1e-3), Pose { position: end, rotation: DQuat::IDENTITY });
    let links = [rod(DVec3::ZERO, pin), rod(pin, end), slider];
    let joints = [
        hinge(0, 1, DVec3::ZERO, y),
        hinge(1, 2, pin, y),
        hinge(2, 3, end, y),
        (0, 3, JointKind::Prismatic, end, DVec3::X),
    ];
    let (mut world, mut state) = mechanism(&links, &joints);
    assert_eq!(counts(&world, &state), [20, 17, 1, 3]);
    // The crank turned by hand to another angle, all else left where it was.
    let turned = 1.3_f64;
    let kind = ActionKind::Drive { position: (angle - turned).into() };
    world.joints[0].actions.push(Action { coordinate: Coordinate::About(Axis::Z), kind });
    let closure = close_loops(&world, &mut state).unwrap();
    assert!(closure.error < 1e-12, "{closure:?}");
    let pin = crank * DVec3::new(turned.cos(), 0.0, turned.sin());
    let reach = pin.x + (rod_length * rod_length - pin.z * pin.z).sqrt();
    assert!((state.bodies[3].pose.position - DVec3::new(reach, 0.0, 0.0)).length() < 1e-11);
}

#[test]
fn loops_that_cannot_close_say_so_and_move_nothing() {
    // Links of 0.4 and 0.4 cannot bridge a distance of 1.
    let y = DVec3::Y;
    let at = |x: f64| DVec3::new(x, 0.0, 0.0);
    let links = [rod(at(0.0), at(0.4)), rod(at(0.6), at(1.0))];
    let (mut world, mut state) = mechanism(&links, &[hinge(0, 1, at(0.0), y), hinge(0, 2, at(1.0), y)]);
    let local = |b: usize, x: f64| Pose {
        position: at(x) - state.bodies[b].pose.position,
        rotation: DQuat::IDENTITY,
    };
    world.joints.push(Joint::new("gap", JointKind::Ball, [1, 2], [local(1, 0.4), local(2, 0.6)]));
    let before = state.clone();
    match close_loops(&world, &mut state) {
        // The misfit of 0.2 = 2 h + g is shared by three joints in series. Rows count by their length in the
        // distance, 1 for a hinge on the ground and √2 for the ball between two links: min 2 h² + g²/2 gives
        // g = 0.1.
        Err(CloseError::Open { joint, gap }) => {
            assert!(joint == "gap" && (gap - 0.1).abs() < 1e-4, "{joint} {gap}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(state, before);
    // A drive without a value at this time.
    let (mut world, mut state) = four_bar(1.0);
    let kind = ActionKind::Drive { position: f64::NAN.into() };
    world.joints[2].actions.push(Action { coordinate: Coordinate::Length, kind });
    assert_eq!(close_loops(&world, &mut state), Err(CloseError::NotFinite { joint: "joint 3".to_string() }));
}

#[test]
fn a_redundant_joint_that_does_not_fit_cannot_close() {
    let (mut world, mut state) = four_bar(1.0);
    world.joints[3].frames[0].position.y += 0.01;
    assert!(matches!(close_loops(&world, &mut state), Err(CloseError::Open { gap, .. }) if gap > 1e-3));
}

#[test]
fn where_a_loop_just_reaches_it_closes() {
    // Stretched to its full length a chain closes in one point, where its rows lose rank.
    let y = DVec3::Y;
    let at = |x: f64, z: f64| DVec3::new(x, 0.0, z);
    let links = [rod(at(0.0, 0.0), at(0.5, 0.0)), rod(at(0.5, 0.0), at(1.0, 0.0))];
    let joints = [hinge(0, 1, at(0.0, 0.0), y), hinge(1, 2, at(0.5, 0.0), y), hinge(0, 2, at(1.0, 0.0), y)];
    let (world, mut state) = mechanism(&links, &joints);
    let by: Vec<f64> = (0..12).map(|i| 0.03 * ((7 * i % 5) as f64 - 2.0)).collect();
    shake(&mut state, &by);
    let closure = close_loops(&world, &mut state).unwrap();
    // The distance from the closed position is the root of what is left of g.
    assert!(
        closure.error < 1e-12 && (state.bodies[1].pose.position - at(0.25, 0.0)).length() < 1e-5,
        "{closure:?}"
    );
}
