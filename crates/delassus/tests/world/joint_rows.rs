//! Rows of joints against finite differences of their values, at random poses that are not closed.

use delassus::formula::{AnyFormula, Expression, Symbols};
use delassus::world::{
    Action, ActionKind, Axis, Body, BodyState, Coordinate, Curve, Joint, JointError, JointFriction,
    JointKind, Pose, RowKind, Rows, World, WorldState, check_joints, joint_coordinate, joint_rows,
    joint_values, update_joint_coordinates,
};
use glam::{DQuat, DVec3};
use proptest::prelude::*;

pub fn body(name: &str, mass: f64, inertia: DVec3) -> Body {
    Body {
        name: name.to_string(),
        fixed: false,
        mass,
        inertia,
        shapes: Vec::new(),
        frame: Pose::IDENTITY,
        force: [DVec3::ZERO; 2],
        carried: DVec3::ZERO,
    }
}

pub fn world(bodies: Vec<Body>, joints: Vec<Joint>) -> World {
    let gravity = DVec3::new(0.0, 0.0, -9.81);
    World {
        name: String::new(),
        gravity,
        bodies,
        joints,
        surfaces: Vec::new(),
        no_contact: Vec::new(),
        plane: None,
        sensors: vec![],
        medium: None,
    }
}

pub fn at_rest(poses: &[Pose]) -> WorldState {
    let still = |&pose: &Pose| BodyState { pose, velocity: DVec3::ZERO, angular_velocity: DVec3::ZERO };
    WorldState { t: 0.0, bodies: poses.iter().map(still).collect(), coordinates: Vec::new() }
}

/// A frame at a point of the world with its z axis along `axis`, on bodies at these poses.
pub fn frames(point: DVec3, axis: DVec3, a: &Pose, b: &Pose) -> [Pose; 2] {
    let drawn = Pose { position: point, rotation: DQuat::from_rotation_arc(DVec3::Z, axis.normalize()) };
    [a.inverse().compose(&drawn), b.inverse().compose(&drawn)]
}

/// q ⊕ h v: the bodies move on with their velocities for a time h.
pub fn moved(state: &WorldState, h: f64) -> WorldState {
    let mut next = state.clone();
    next.t += h;
    for body in &mut next.bodies {
        body.pose.position += h * body.velocity;
        let turn = DQuat::from_scaled_axis(h * body.angular_velocity);
        body.pose.rotation = (body.pose.rotation * turn).normalize();
    }
    next
}

fn text(formula: &str) -> AnyFormula {
    AnyFormula::new(Expression::parse(formula, &Symbols::default()).unwrap())
}

fn helix() -> Curve {
    let mut symbols = Symbols::default();
    symbols.add_coordinate("s").unwrap();
    let point = ["0.9*cos(s)", "1.1*sin(s)", "0.4*s + 0.1*s^2"];
    Curve {
        point: point.map(|x| AnyFormula::new(Expression::parse(x, &symbols).unwrap())),
        range: [-3.0, 3.0],
    }
}

/// All kinds, with the number of rows that each holds.
fn kinds() -> Vec<(JointKind, usize)> {
    let mut all = vec![
        (JointKind::Fixed, 6),
        (JointKind::Revolute, 5),
        (JointKind::Prismatic, 5),
        (JointKind::Cylindrical, 4),
        (JointKind::Universal, 4),
        (JointKind::Ball, 3),
        (JointKind::Planar, 3),
        (JointKind::Screw { pitch: 0.3 }, 5),
        (JointKind::Distance { length: 0.7 }, 1),
        (JointKind::Rope { length: 0.7, restitution: 0.5 }, 0),
        (JointKind::PointOnLine, 2),
        (JointKind::PointOnPlane, 1),
        (JointKind::PointOnCurve(helix()), 2),
    ];
    for bits in 0..64_usize {
        let locked = std::array::from_fn(|k| bits >> k & 1 == 1);
        all.push((JointKind::Generic { locked }, bits.count_ones() as usize));
    }
    all
}

/// Every action on every coordinate that is smooth at poses in general position.
fn actions(kind: &JointKind) -> Vec<Action> {
    let mut coordinates = vec![Coordinate::Length, Coordinate::Swing];
    coordinates.extend(Axis::ALL.map(Coordinate::Along));
    coordinates.extend(Axis::ALL.map(Coordinate::About));
    coordinates.extend(Axis::ALL.map(Coordinate::Cardan));
    if matches!(kind, JointKind::PointOnCurve(_)) {
        coordinates.push(Coordinate::Parameter);
    }
    let act = |coordinate| {
        let drive = ActionKind::Drive { position: text("0.3*sin(2*t) + t^2") };
        let limits = ActionKind::Limits { lower: -0.5, upper: 0.4, restitution: 0.2 };
        let spring = ActionKind::Spring { stiffness: 3.0, damping: 0.1, rest: 0.2 };
        [drive, limits, spring].map(|kind| Action { coordinate, kind })
    };
    coordinates.into_iter().flat_map(act).collect()
}

fn vector() -> impl Strategy<Value = DVec3> {
    prop::array::uniform3(-1.0..1.0_f64).prop_map(DVec3::from_array)
}

/// A pose turned by less than 1.1 rad about each of three axes, so that no angle comes near a half turn.
fn pose(size: f64) -> impl Strategy<Value = Pose> {
    (vector(), vector())
        .prop_map(move |(x, a)| Pose { position: size * x, rotation: DQuat::from_scaled_axis(0.6 * a) })
}

fn any_world() -> impl Strategy<Value = (World, WorldState)> {
    let state = prop::collection::vec((pose(0.5), vector(), vector()), 3);
    let frames = prop::collection::vec(pose(0.4), 4);
    (0..kinds().len(), state, frames, 0.1..2.0_f64).prop_map(|(kind, bodies, frames, t)| {
        let (kind, _) = kinds().swap_remove(kind);
        let mut joint = Joint::new("j", kind.clone(), [0, 1], [frames[0], frames[1]]);
        joint.actions = actions(&kind);
        let other = Joint::new("k", JointKind::Revolute, [1, 2], [frames[2], frames[3]]);
        let mut joints = vec![joint, other];
        if joints[0].kind.coordinate().is_some() {
            let couple = JointKind::Coupler { joints: [0, 1], factors: [1.5, -0.7], offset: 0.1 };
            joints.push(Joint::new("c", couple, [0, 2], [Pose::IDENTITY; 2]));
        }
        let bodies_of = |name: &str| body(name, 1.0, DVec3::ONE);
        let world = world(["a", "b", "c"].map(bodies_of).to_vec(), joints);
        let state = |&(pose, velocity, angular_velocity): &(Pose, DVec3, DVec3)| BodyState {
            pose,
            velocity,
            angular_velocity,
        };
        let mut state = WorldState { t, bodies: bodies.iter().map(state).collect(), coordinates: Vec::new() };
        update_joint_coordinates(&world, &mut state);
        (world, state)
    })
}

/// Whether the frames of a joint are away from where its angles and lengths have no derivative: origins or z
/// axes that coincide, a half turn between the axes.
fn smooth(joint: &Joint, state: &WorldState) -> bool {
    let [a, b] = [0, 1].map(|i| state.bodies[joint.bodies[i]].pose.compose(&joint.frames[i]));
    let swing = (a.rotation * DVec3::Z).angle_between(b.rotation * DVec3::Z);
    a.position.distance(b.position) > 0.1 && swing > 0.1 && a.rotation.angle_between(b.rotation) < 3.0
}

/// Velocities of all rows, rates included.
pub fn velocities(rows: &Rows, state: &WorldState) -> Vec<f64> {
    let velocity = |row: &delassus::world::Row| {
        let blocks = rows.blocks_of(row).iter().map(|(body, block)| {
            let b = &state.bodies[*body as usize];
            let v = [b.velocity.to_array(), b.angular_velocity.to_array()].concat();
            block.iter().zip(v).map(|(a, b)| a * b).sum::<f64>()
        });
        blocks.sum::<f64>() + row.rate
    };
    rows.rows.iter().map(velocity).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn rows_are_the_derivatives_of_values((world, state) in any_world()) {
        prop_assume!(smooth(&world.joints[0], &state) && smooth(&world.joints[1], &state));
        check_joints(&world).unwrap();
        let mut out = Rows::default();
        joint_rows(&world, &state, 1e-3, &mut out);
        let h = 1e-5;
        let mut shifted = [1.0, -1.0, 2.0, -2.0].map(|k| {
            let at = moved(&state, k * h);
            let mut out = Rows::default();
            joint_rows(&world, &at, 1e-3, &mut out);
            (at, out)
        });
        let velocity = velocities(&out, &state);
        for (i, row) in out.rows.iter().enumerate() {
            let [f1, f2, f3, f4] = std::array::from_fn(|k| shifted[k].1.rows[i].value);
            // Fourth order: the error is h⁴ times the fifth derivative, below rounding of values, 1e-15 / h.
            let difference = (8.0 * (f1 - f2) - (f3 - f4)) / (12.0 * h);
            // Angles are steep where the axes that span them are nearly parallel, and so is the parameter of
            // a curve near a centre of curvature; errors grow with the derivative.
            let size = 1.0 + velocity[i].abs() + row_size(&out, i).powi(2);
            prop_assert!((difference - velocity[i]).abs() < 2e-8 * size, "{row:?} {difference} {}", velocity[i]);
        }
        // Values alone are the same numbers.
        let mut g = Vec::new();
        joint_values(&world, &shifted[0].0, &mut g);
        let with_rows: Vec<f64> = shifted[0].1.rows.iter().map(|row| row.value).collect();
        prop_assert_eq!(g.as_slice(), &with_rows[..out.bilateral + out.limits]);
        // The coordinate moves with its velocity.
        for j in 0..world.joints.len() {
            if let Some([c, speed]) = joint_coordinate(&world, &state, j) {
                // The nearest point of a curve is found again, to rounding.
                prop_assert!((c - state.coordinates[j]).abs() < 1e-13, "{c} {}", state.coordinates[j]);
                let [ahead, behind] = [0, 1].map(|k| {
                    update_joint_coordinates(&world, &mut shifted[k].0);
                    shifted[k].0.coordinates[j]
                });
                let difference = (ahead - behind) / (2.0 * h);
                prop_assert!((difference - speed).abs() < 1e-5 * (1.0 + speed.abs().powi(3)), "{difference} {speed}");
            }
        }
    }
}

fn row_size(rows: &Rows, i: usize) -> f64 {
    let blocks = rows.blocks_of(&rows.rows[i]).iter();
    blocks.flat_map(|(_, block)| block).fold(0.0, |m, x| m.max(x.abs()))
}

#[test]
fn each_kind_holds_its_rows() {
    for (kind, held) in kinds() {
        let bodies = vec![body("a", 1.0, DVec3::ONE), body("b", 1.0, DVec3::ONE)];
        let world = world(bodies, vec![Joint::new("j", kind.clone(), [0, 1], [Pose::IDENTITY; 2])]);
        let mut out = Rows::default();
        let mut state = at_rest(&[Pose::IDENTITY; 2]);
        update_joint_coordinates(&world, &mut state);
        joint_rows(&world, &state, 1e-3, &mut out);
        assert_eq!(out.bilateral, held, "{kind:?}");
        assert!(out.rows[..held].iter().all(|row| row.kind == RowKind::Bilateral));
        // Where the frames coincide, all of these are closed.
        if !matches!(kind, JointKind::Distance { .. } | JointKind::PointOnCurve(_)) {
            assert!(out.rows[..held].iter().all(|row| row.value == 0.0), "{kind:?}");
        }
    }
}

fn pair(kind: JointKind) -> (World, WorldState) {
    let mut ground = body("ground", 1.0, DVec3::ONE);
    ground.fixed = true;
    let joint = Joint::new("j", kind, [0, 1], [Pose::IDENTITY; 2]);
    let world = world(vec![ground, body("b", 1.0, DVec3::ONE)], vec![joint]);
    let mut state = at_rest(&[Pose::IDENTITY; 2]);
    update_joint_coordinates(&world, &mut state);
    (world, state)
}

fn rows_of(world: &World, state: &WorldState, dt: f64) -> Rows {
    let mut out = Rows::default();
    joint_rows(world, state, dt, &mut out);
    out
}

#[test]
fn angles_count_full_turns() {
    let (world, mut state) = pair(JointKind::Screw { pitch: 0.2 });
    for k in 1..=60 {
        let angle = 0.5 * k as f64;
        state.bodies[1].pose.rotation = DQuat::from_rotation_z(angle);
        state.bodies[1].pose.position.z = 0.2 * angle / std::f64::consts::TAU;
        update_joint_coordinates(&world, &mut state);
        assert!((state.coordinates[0] - angle).abs() < 1e-12);
        let out = rows_of(&world, &state, 1e-3);
        assert!(out.rows.iter().all(|row| row.value.abs() < 1e-13));
    }
}

#[test]
fn a_universal_joint_has_two_angles_in_sequence() {
    let (mut world, mut state) = pair(JointKind::Universal);
    let spring = |coordinate| Action {
        coordinate,
        kind: ActionKind::Spring { stiffness: 1.0, damping: 0.0, rest: 0.0 },
    };
    world.joints[0].actions = vec![spring(Coordinate::About(Axis::Z)), spring(Coordinate::About(Axis::X))];
    let (first, second) = (2.1, -0.8);
    state.bodies[1].pose.rotation = DQuat::from_rotation_z(first) * DQuat::from_rotation_x(second);
    let out = rows_of(&world, &state, 1e-3);
    assert!(out.rows[..4].iter().all(|row| row.value.abs() < 1e-15));
    assert!((out.rows[4].value - first).abs() < 1e-14 && (out.rows[5].value - second).abs() < 1e-14);
}

#[test]
fn gears_share_a_carrier_in_one_block() {
    // A planet gear: sun and planet turn against an arm that turns itself.
    let names = ["arm", "sun", "planet"];
    let bodies = names.iter().map(|name| body(name, 1.0, DVec3::ONE)).collect();
    let at = |x: f64| Pose { position: DVec3::new(x, 0.0, 0.0), rotation: DQuat::IDENTITY };
    let gear = JointKind::Coupler { joints: [0, 1], factors: [3.0, 1.0], offset: 0.0 };
    let joints = vec![
        Joint::new("sun", JointKind::Revolute, [0, 1], [at(0.0); 2]),
        Joint::new("planet", JointKind::Revolute, [0, 2], [at(1.0), at(0.0)]),
        Joint::new("gear", gear, [1, 2], [at(0.0); 2]),
    ];
    let world = world(bodies, joints);
    let mut state = at_rest(&[at(0.0), at(0.0), at(1.0)]);
    update_joint_coordinates(&world, &mut state);
    let out = rows_of(&world, &state, 1e-3);
    let blocks = out.blocks_of(&out.rows[10]);
    let turns: Vec<(u32, f64)> = blocks.iter().map(|(b, block)| (*b, block[5])).collect();
    assert_eq!(turns, [(0, -4.0), (1, 3.0), (2, 1.0)]);
    // 3 θ₁ + θ₂ = 0 after more than a turn of the planet.
    for k in 1..=40 {
        let angle = 0.1 * k as f64;
        state.bodies[1].pose.rotation = DQuat::from_rotation_z(angle);
        state.bodies[2].pose.rotation = DQuat::from_rotation_z(-3.0 * angle);
        update_joint_coordinates(&world, &mut state);
    }
    assert!(rows_of(&world, &state, 1e-3).rows[10].value.abs() < 1e-13);
}

#[test]
fn motors_springs_forces_and_friction_give_their_numbers() {
    let (mut world, mut state) = pair(JointKind::Cylindrical);
    let (z, turn) = (Coordinate::Along(Axis::Z), Coordinate::About(Axis::Z));
    let joint = &mut world.joints[0];
    joint.actions = vec![
        Action { coordinate: turn, kind: ActionKind::Speed { target: text("2*t"), force: 5.0 } },
        Action { coordinate: z, kind: ActionKind::Position { target: 0.3.into(), force: 7.0, speed: 1.0 } },
        Action { coordinate: z, kind: ActionKind::Position { target: 0.3.into(), force: 7.0, speed: 50.0 } },
        Action { coordinate: z, kind: ActionKind::Force { force: text("4*t") } },
        Action { coordinate: turn, kind: ActionKind::Spring { stiffness: 9.0, damping: 0.5, rest: 1.0 } },
        Action {
            coordinate: z,
            kind: ActionKind::Limits { lower: -0.1, upper: f64::INFINITY, restitution: 0.3 },
        },
    ];
    joint.friction = Some(JointFriction { coefficient: 0.2, radius: 0.05, force: 1.5, moment: 0.0 });
    state.t = 1.0;
    state.bodies[1].pose.position.z = 0.1;
    check_joints(&world).unwrap();
    let out = rows_of(&world, &state, 0.01);
    let bounded = |force, per_load| RowKind::Bounded { force, per_load };
    let expected = [
        (RowKind::Limit { restitution: 0.3 }, 0.2, 0.0),
        (bounded(5.0, 0.0), 0.0, -2.0),
        (bounded(7.0, 0.0), 0.0, -1.0),
        (bounded(7.0, 0.0), 0.0, -20.0),
        (RowKind::Applied { force: 4.0 }, 0.0, 0.0),
        (RowKind::Spring { stiffness: 9.0, damping: 0.5 }, -1.0, 0.0),
        (bounded(1.5, 0.2), 0.0, 0.0),
        (bounded(0.0, 0.2 * 0.05), 0.0, 0.0),
    ];
    assert_eq!([out.bilateral, out.limits, out.rows.len()], [4, 1, 4 + expected.len()]);
    for (row, (kind, value, rate)) in out.rows[4..].iter().zip(expected) {
        assert_eq!(row.kind, kind);
        assert!((row.value - value).abs() < 1e-14 && (row.rate - rate).abs() < 1e-13, "{row:?}");
    }
    // The load of the joint is the force of its two locked displacements.
    assert_eq!(out.rows.iter().map(|row| row.load).sum::<f64>(), 2.0);
}

#[test]
fn friction_acts_on_each_free_motion_once() {
    let all = JointFriction { coefficient: 0.2, radius: 0.05, force: 1.0, moment: 1.0 };
    let cases = [
        (JointKind::Fixed, 0),
        (JointKind::Revolute, 1),
        (JointKind::Cylindrical, 2),
        (JointKind::Screw { pitch: 0.1 }, 1),
        (JointKind::Universal, 2),
        (JointKind::Ball, 3),
        (JointKind::Planar, 3),
        (JointKind::PointOnCurve(helix()), 1),
        (JointKind::Distance { length: 1.0 }, 0),
    ];
    for (kind, count) in cases {
        let (mut world, state) = pair(kind.clone());
        world.joints[0].friction = Some(all);
        let out = rows_of(&world, &state, 1e-3);
        assert_eq!(out.rows.len() - out.bilateral - out.limits, count, "{kind:?}");
    }
}

#[test]
fn joints_that_make_no_sense_are_refused() {
    let refused = |kind: JointKind, action: Option<ActionKind>| {
        let (mut world, _) = pair(kind);
        let coordinate = Coordinate::Along(Axis::Z);
        world.joints[0].actions.extend(action.map(|kind| Action { coordinate, kind }));
        check_joints(&world).unwrap_err().to_string()
    };
    let limits = ActionKind::Limits { lower: 1.0, upper: 0.5, restitution: 0.0 };
    let message = refused(JointKind::Prismatic, Some(limits));
    assert_eq!(message, "joint `j`: upper limit is 0.5, but must be above the lower one");
    let spring = ActionKind::Spring { stiffness: -1.0, damping: 0.0, rest: 0.0 };
    assert!(refused(JointKind::Prismatic, Some(spring)).contains("stiffness is -1"));
    assert!(refused(JointKind::Distance { length: 0.0 }, None).contains("length is 0"));
    assert!(refused(JointKind::Rope { length: 1.0, restitution: 1.5 }, None).contains("restitution is 1.5"));
    assert!(refused(JointKind::Screw { pitch: f64::NAN }, None).contains("pitch is NaN"));
    let coupler = JointKind::Coupler { joints: [0, 7], factors: [1.0; 2], offset: 0.0 };
    assert!(refused(coupler, None).contains("joint number 0 does not exist or has no coordinate"));
    let (mut world, _) = pair(JointKind::Ball);
    world.joints[0].bodies = [1, 1];
    let same = JointError::SameBody { joint: "j".to_string(), body: "b".to_string() };
    assert_eq!(check_joints(&world), Err(same));
    world.joints[0].bodies = [1, 2];
    assert_eq!(check_joints(&world), Err(JointError::NoBody { joint: "j".to_string(), body: 2 }));
    let (mut world, _) = pair(JointKind::Ball);
    let kind = ActionKind::Force { force: 1.0.into() };
    world.joints[0].actions.push(Action { coordinate: Coordinate::Parameter, kind });
    assert_eq!(check_joints(&world), Err(JointError::NoCurve { joint: "j".to_string() }));
    let (mut world, _) = pair(JointKind::Ball);
    world.joints[0].frames[0].position.x = f64::INFINITY;
    assert!(check_joints(&world).unwrap_err().to_string().contains("frames is inf"));
}

#[test]
fn friction_opposes_the_velocity_of_the_motion() {
    let friction = Some(JointFriction { coefficient: 0.2, radius: 0.05, force: 1.0, moment: 0.0 });
    for kind in [JointKind::Revolute, JointKind::Prismatic, JointKind::PointOnCurve(helix())] {
        let (mut world, mut state) = pair(kind.clone());
        world.joints[0].friction = friction;
        let body = &mut state.bodies[1];
        body.velocity = DVec3::new(0.3, -0.4, 0.7);
        body.angular_velocity = DVec3::new(0.1, 0.2, 1.3);
        // What one unit of the coordinate is along the path: |c′| on the curve at s = 0, one elsewhere.
        let mut unit = 1.0;
        if matches!(kind, JointKind::PointOnCurve(_)) {
            body.pose.position = DVec3::new(0.9, 0.0, 0.0);
            unit = DVec3::new(0.0, 1.1, 0.4).length();
        }
        state.coordinates.clear();
        update_joint_coordinates(&world, &mut state);
        let out = rows_of(&world, &state, 1e-3);
        let rubbing = velocities(&out, &state)[out.bilateral];
        let speed = joint_coordinate(&world, &state, 0).unwrap()[1];
        assert!(speed.abs() > 0.1 && (rubbing - unit * speed).abs() < 1e-14, "{kind:?} {rubbing} {speed}");
    }
}
