//! Rows of joints against finite differences of their values, at random poses that are not closed.

use delassus::expression::{Expression, Symbols};
use delassus::formula::AnyFormula;
use delassus::joint::{
    Action, ActionKind, Axis, Coordinate, Curve, Joint, JointError, JointFriction, JointKind, RowKind, Rows,
    check,
};
use delassus::joint_rows::{coordinate, rows, update_coordinates, values};
use delassus::world::{Body, BodyState, Pose, World, WorldState};
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
    }
}

pub fn world(bodies: Vec<Body>, joints: Vec<Joint>) -> World {
    let gravity = DVec3::new(0.0, 0.0, -9.81);
    World { name: String::new(), gravity, bodies, joints, surfaces: Vec::new(), no_contact: Vec::new() }
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
        update_coordinates(&world, &mut state);
        (world, state)
    })
}

/// Whether the frames of a joint are away from where its angles and lengths have no derivative: origins or z axes that
/// coincide, a half turn between the axes.
fn smooth(joint: &Joint, state: &WorldState) -> bool {
    let [a, b] = [0, 1].map(|i| state.bodies[joint.bodies[i]].pose.compose(&joint.frames[i]));
    let swing = (a.rotation * DVec3::Z).angle_between(b.rotation * DVec3::Z);
    a.position.distance(b.position) > 0.1 && swing > 0.1 && a.rotation.angle_between(b.rotation) < 3.0
}

/// Velocities of all rows, rates included.
pub fn velocities(rows: &Rows, state: &WorldState) -> Vec<f64> {
    let velocity = |row: &delassus::joint::Row| {
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
        check(&world).unwrap();
        let mut out = Rows::default();
        rows(&world, &state, 1e-3, &mut out);
        let h = 1e-5;
        let mut shifted = [1.0, -1.0, 2.0, -2.0].map(|k| {
            let at = moved(&state, k * h);
            let mut out = Rows::default();
            rows(&world, &at, 1e-3, &mut out);
            (at, out)
        });
        let velocity = velocities(&out, &state);
        for (i, row) in out.rows.iter().enumerate() {
            let [f1, f2, f3, f4] = std::array::from_fn(|k| shifted[k].1.rows[i].value);
            // Fourth order: the error is h⁴ times the fifth derivative, below rounding of values, 1e-15 / h.
            let difference = (8.0 * (f1 - f2) - (f3 - f4)) / (12.0 * h);
            // Angles are steep where the axes that span them are nearly parallel, and so is the parameter of a curve near
            // a centre of curvature; errors grow with the derivative.
            let size = 1.0 + velocity[i].abs() + row_size(&out, i).powi(2);
            prop_assert!((difference - velocity[i]).abs() < 2e-8 * size, "{row:?} {difference} {}", velocity[i]);
        }
        // Values alone are the same numbers.
        let mut g = Vec::new();
        values(&world, &shifted[0].0, &mut g);
        let with_rows: Vec<f64> = shifted[0].1.rows.iter().map(|row| row.value).collect();
        prop_assert_eq!(g.as_slice(), &with_rows[..out.held + out.limits]);
        // The coordinate moves with its velocity.
        for j in 0..world.joints.len() {
            if let Some([c, speed]) = coordinate(&world, &state, j) {
                // The nearest point of a curve is found again, to rounding.
                prop_assert!((c - state.coordinates[j]).abs() < 1e-13, "{c} {}", state.coordinates[j]);
                let [ahead, behind] = [0, 1].map(|k| {
                    update_coordinates(&world, &mut shifted[k].0);
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
        update_coordinates(&world, &mut state);
        rows(&world, &state, 1e-3, &mut out);
        assert_eq!(out.held, held, "{kind:?}");
        assert!(out.rows[..held].iter().all(|row| row.kind == RowKind::Held));
        // Where the frames coincide, all of these are closed.
        if !matches!(kind, JointKind::Distance { .. } | JointKind::PointOnCurve(_)) {
            assert!(out.rows[..held].iter().all(|row| row.value == 0.0), "{kind:?}");
        }
    }
}
