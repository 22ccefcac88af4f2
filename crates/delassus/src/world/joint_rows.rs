//! The rows of all joints at a state.
//!
//! ```text
//! ġ = J(q) v + ∂g/∂t ,   v = (ẋ, ω̄) per body
//! ```
//!
//! g ∈ ℝᵐ are the values of the rows, v ∈ ℝ⁶ⁿ the velocities of n bodies, J is m × 6n with at most one block
//! of six entries per row and moving body (two bodies, or four for a coupler). The rows of J are the exact
//! derivatives of the values along q ⊕ h v = (x + h ẋ, ε ∘ exp(h ω̄/2)), also where joints are not closed.
//! Source: 004 eq. 6.

use super::joint::{Action, ActionKind, Coordinate, Joint, JointKind, Row, RowKind, Rows};
use super::joint_frames::{Frames, Function, first_guess};
use super::{World, WorldState};
use crate::formula::{AnyFormula, HyperDual, Point};

/// One row before it is written: a sum of functions of the frames of joints.
struct RowTerms<'a> {
    kind: RowKind,
    value: f64,
    rate: f64,
    load: f64,
    parts: &'a [(&'a Joint, &'a Frames, Function)],
}

/// Fills `out` with the rows of all joints. A time step is needed by motors that move to a position.
///
/// Allocates nothing once `out` has grown, but for formulas written as text.
pub fn joint_rows(world: &World, state: &WorldState, dt: f64, out: &mut Rows) {
    joint_rows_at(world, state, dt, state.t, out);
}

/// The same with the target speeds and forces of motors at a time t.
pub fn joint_rows_at(world: &World, state: &WorldState, dt: f64, t: f64, out: &mut Rows) {
    out.rows.clear();
    out.blocks.clear();
    for (j, joint) in world.joints.iter().enumerate() {
        bilateral(world, state, joint, j, &mut |terms| write(world, j, &terms, out));
    }
    out.bilateral = out.rows.len();
    for (j, joint) in world.joints.iter().enumerate() {
        limits(state, joint, j, &mut |terms| write(world, j, &terms, out));
    }
    out.limits = out.rows.len() - out.bilateral;
    for (j, joint) in world.joints.iter().enumerate() {
        others(state, joint, j, [dt, t], &mut |terms| write(world, j, &terms, out));
    }
}

/// Fills `out` with the values of the bilateral rows and, behind them, of the limits, in the order of
/// [`joint_rows`].
pub fn joint_values(world: &World, state: &WorldState, out: &mut Vec<f64>) {
    out.clear();
    for (j, joint) in world.joints.iter().enumerate() {
        bilateral(world, state, joint, j, &mut |terms| out.push(terms.value));
    }
    for (j, joint) in world.joints.iter().enumerate() {
        limits(state, joint, j, &mut |terms| out.push(terms.value));
    }
}

/// Sets the coordinates of a state from its poses; angles keep their turns. Where the state has no
/// coordinates yet, angles start in (−π, π] and points on curves at the nearest point.
pub fn update_joint_coordinates(world: &World, state: &mut WorldState) {
    let fresh = state.coordinates.len() != world.joints.len();
    if fresh {
        state.coordinates.clear();
        state.coordinates.resize(world.joints.len(), 0.0);
    }
    for (j, joint) in world.joints.iter().enumerate() {
        let Some(which) = joint.kind.coordinate() else { continue };
        let frames = Frames::new(joint, state);
        if let (JointKind::PointOnCurve(curve), true) = (&joint.kind, fresh) {
            state.coordinates[j] = first_guess(curve, frames.axes[0].transpose() * frames.d);
        }
        state.coordinates[j] = frames.coordinate(joint, which, state.coordinates[j]).value;
    }
}

/// The coordinate of a joint and its velocity, `None` where it has none.
pub fn joint_coordinate(world: &World, state: &WorldState, joint: usize) -> Option<[f64; 2]> {
    Some(coordinate_at(world, state, joint, world.joints[joint].kind.coordinate()?))
}

/// A coordinate of a joint and its velocity. Turns are counted of the one that the joint is known by.
pub fn coordinate_at(world: &World, state: &WorldState, joint: usize, coordinate: Coordinate) -> [f64; 2] {
    let this = &world.joints[joint];
    let frames = Frames::new(this, state);
    let f = measured(this, &frames, coordinate, last(state, joint));
    let velocity: f64 = (0..2)
        .map(|i| {
            let body = &state.bodies[this.bodies[i]];
            let v = body.velocity.to_array().into_iter().chain(body.angular_velocity.to_array());
            frames.block(&f, i).iter().zip(v).map(|(a, b)| a * b).sum::<f64>()
        })
        .sum();
    [f.value, velocity]
}

/// The distance of a coordinate of a joint to the target of a motor now, and the mean speed of that target in
/// the time dt.
pub fn distance_to_target(
    world: &World,
    state: &WorldState,
    joint: usize,
    coordinate: Coordinate,
    target: &AnyFormula,
    dt: f64,
) -> [f64; 2] {
    let this = &world.joints[joint];
    let c = measured(this, &Frames::new(this, state), coordinate, last(state, joint)).value;
    let [[now, _], [next, _]] = [state.t, state.t + dt].map(|t| at_time(target, t));
    [now - c, (next - now) / dt]
}

/// Energy in the springs of all joints: Σ ½ stiffness (c − rest)².
pub fn spring_energy(world: &World, state: &WorldState) -> f64 {
    let mut energy = 0.0;
    for (j, joint) in world.joints.iter().enumerate() {
        for Action { coordinate, kind } in &joint.actions {
            if let &ActionKind::Spring { stiffness, rest, .. } = kind
                && stiffness > 0.0
            {
                let frames = Frames::new(joint, state);
                let stretch = measured(joint, &frames, *coordinate, last(state, j)).value - rest;
                energy += 0.5 * stiffness * stretch * stretch;
            }
        }
    }
    energy
}

/// Energy of the rotors of all joints: Σ ½ inertia ċ².
pub fn rotor_energy(world: &World, state: &WorldState) -> f64 {
    let mut energy = 0.0;
    for (j, joint) in world.joints.iter().enumerate() {
        for Action { coordinate, kind } in &joint.actions {
            if let &ActionKind::Armature { inertia } = kind {
                let [_, speed] = coordinate_at(world, state, j, *coordinate);
                energy += 0.5 * inertia * speed * speed;
            }
        }
    }
    energy
}

fn write(world: &World, joint: usize, terms: &RowTerms<'_>, out: &mut Rows) {
    let start = out.blocks.len();
    for (part, frames, f) in terms.parts {
        for (i, &body) in part.bodies.iter().enumerate() {
            if world.bodies[body].fixed {
                continue;
            }
            let block = frames.block(f, i);
            // Two joints of a coupler may share a body.
            match out.blocks[start..].iter_mut().find(|(b, _)| *b as usize == body) {
                Some((_, sum)) => (0..6).for_each(|k| sum[k] += block[k]),
                None => out.blocks.push((body as u32, block)),
            }
        }
    }
    out.rows.push(Row {
        joint: joint as u32,
        blocks: [start as u32, out.blocks.len() as u32],
        kind: terms.kind,
        value: terms.value,
        rate: terms.rate,
        load: terms.load,
    });
}

fn last(state: &WorldState, joint: usize) -> f64 {
    state.coordinates.get(joint).copied().unwrap_or(0.0)
}

/// A coordinate of a joint; only the one that the joint is known by has its turns counted.
fn measured(joint: &Joint, frames: &Frames, coordinate: Coordinate, last: f64) -> Function {
    let counted = joint.kind.coordinate() == Some(coordinate);
    frames.coordinate(joint, coordinate, if counted { last } else { 0.0 })
}

/// A function of time and its derivative.
fn at_time(formula: &AnyFormula, t: f64) -> [f64; 2] {
    let f = formula.hyper(&Point { q: &[], v: &[], t: HyperDual::variable(t, 1.0, 0.0) });
    [f.value, f.d1]
}

/// Bilateral rows: zero, with a force of any sign.
fn bilateral(
    world: &World,
    state: &WorldState,
    joint: &Joint,
    index: usize,
    emit: &mut impl FnMut(RowTerms<'_>),
) {
    let frames = Frames::new(joint, state);
    let mut constrain = |f: Function, load: f64| {
        emit(RowTerms {
            kind: RowKind::Bilateral,
            value: f.value,
            rate: 0.0,
            load,
            parts: &[(joint, &frames, f)],
        });
    };
    frames.lock(&joint.kind.locked(), &mut constrain);
    match &joint.kind {
        JointKind::Screw { pitch } => {
            constrain(frames.thread(joint, *pitch, last(state, index)), 1.0);
        }
        JointKind::Distance { length } => constrain(frames.length() + -length, 1.0),
        JointKind::PointOnCurve(curve) => {
            let on = frames.curve(curve, last(state, index));
            on.offsets.into_iter().for_each(|f| constrain(f, 1.0));
        }
        JointKind::Coupler { joints, factors, offset } => {
            let part = |i: usize| {
                let other = &world.joints[joints[i]];
                let frames = Frames::new(other, state);
                // `joint::check` refuses couplers of joints without a coordinate.
                let which = other.kind.coordinate().unwrap_or(Coordinate::Length);
                let f = factors[i] * measured(other, &frames, which, last(state, joints[i]));
                (other, frames, f)
            };
            let [(a, frames_a, f), (b, frames_b, g)] = [part(0), part(1)];
            let value = f.value + g.value - offset;
            let parts = &[(a, &frames_a, f), (b, &frames_b, g)];
            emit(RowTerms { kind: RowKind::Bilateral, value, rate: 0.0, load: 0.0, parts });
        }
        _ => {}
    }
    for Action { coordinate, kind } in &joint.actions {
        if let ActionKind::Drive { position } = kind {
            let f = measured(joint, &frames, *coordinate, last(state, index));
            let [target, speed] = at_time(position, state.t);
            let (value, parts) = (f.value - target, &[(joint, &frames, f)]);
            emit(RowTerms { kind: RowKind::Bilateral, value, rate: -speed, load: 0.0, parts });
        }
    }
}

/// The rows that are not negative.
fn limits(state: &WorldState, joint: &Joint, index: usize, emit: &mut impl FnMut(RowTerms<'_>)) {
    let rope = match joint.kind {
        JointKind::Rope { length, restitution } => Some((length, restitution)),
        _ => None,
    };
    if rope.is_none() && !joint.actions.iter().any(|a| matches!(a.kind, ActionKind::Limits { .. })) {
        return;
    }
    let frames = Frames::new(joint, state);
    let mut keep = |f: Function, restitution: f64| {
        let (kind, parts) = (RowKind::Limit { restitution }, &[(joint, &frames, f)]);
        emit(RowTerms { kind, value: f.value, rate: 0.0, load: 0.0, parts });
    };
    if let Some((length, restitution)) = rope {
        keep(-1.0 * frames.length() + length, restitution);
    }
    for Action { coordinate, kind } in &joint.actions {
        if let &ActionKind::Limits { lower, upper, restitution } = kind {
            let f = measured(joint, &frames, *coordinate, last(state, index));
            if lower > f64::NEG_INFINITY {
                keep(f + -lower, restitution);
            }
            if upper < f64::INFINITY {
                keep(-1.0 * f + upper, restitution);
            }
        }
    }
}

/// Motors, springs, rotors, forces and friction.
fn others(
    state: &WorldState,
    joint: &Joint,
    index: usize,
    [dt, t]: [f64; 2],
    emit: &mut impl FnMut(RowTerms<'_>),
) {
    if joint.actions.is_empty() && joint.friction.is_none() {
        return;
    }
    let frames = Frames::new(joint, state);
    for Action { coordinate, kind } in &joint.actions {
        let f = measured(joint, &frames, *coordinate, last(state, index));
        let (kind, value, rate) = match kind {
            ActionKind::Limits { .. } | ActionKind::Drive { .. } => continue,
            ActionKind::Speed { target, force } => {
                let [speed, _] = at_time(target, t);
                (RowKind::Bounded { force: *force, per_load: 0.0 }, 0.0, -speed)
            }
            ActionKind::Position { target, force, speed } => {
                let [position, _] = at_time(target, state.t + dt);
                let towards = ((position - f.value) / dt).clamp(-speed, *speed);
                (RowKind::Bounded { force: *force, per_load: 0.0 }, 0.0, -towards)
            }
            ActionKind::Force { force } => (RowKind::Applied { force: at_time(force, t)[0] }, 0.0, 0.0),
            ActionKind::Spring { stiffness, damping, rest } => {
                (RowKind::Spring { stiffness: *stiffness, damping: *damping }, f.value - rest, 0.0)
            }
            ActionKind::Servo(servo) => {
                let (stiffness, damping, range) = (servo.stiffness, servo.damping, servo.force_range);
                (RowKind::Servo { stiffness, damping, push: servo.push(t), range }, f.value, 0.0)
            }
            ActionKind::Armature { inertia } => (RowKind::Armature { inertia: *inertia }, 0.0, 0.0),
        };
        emit(RowTerms { kind, value, rate, load: 0.0, parts: &[(joint, &frames, f)] });
    }
    let Some(friction) = joint.friction else { return };
    let mut rub = |f: Function, force: f64, per_load: f64| {
        if force == 0.0 && per_load == 0.0 {
            return;
        }
        let (kind, parts) = (RowKind::Bounded { force, per_load }, &[(joint, &frames, f)]);
        emit(RowTerms { kind, value: 0.0, rate: 0.0, load: 0.0, parts });
    };
    let (mu, radius) = (friction.coefficient, friction.radius);
    if let JointKind::PointOnCurve(curve) = &joint.kind {
        return rub(frames.curve(curve, last(state, index)).tangent, friction.force, mu);
    }
    let locked = joint.kind.locked();
    if locked == [false; 6] {
        return;
    }
    // The thread of a screw rubs once, however one looks at its motion.
    let screw = matches!(joint.kind, JointKind::Screw { .. });
    for k in 0..3 {
        if !locked[k] && !screw {
            rub(frames.displacement(k), friction.force, mu);
        }
    }
    for k in 0..3 {
        if !locked[3 + k] {
            rub(frames.relative_rotation(k, &locked), friction.moment, mu * radius);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::Number;
    use crate::world::{Axis, Body, BodyState, Pose};
    use glam::{DQuat, DVec3};

    fn pose(position: [f64; 3], axis: [f64; 3]) -> Pose {
        let rotation = DQuat::from_scaled_axis(DVec3::from_array(axis));
        Pose { position: DVec3::from_array(position), rotation }
    }

    fn body(name: &str, fixed: bool) -> Body {
        Body {
            name: name.into(),
            fixed,
            mass: 1.0,
            inertia: DVec3::ONE,
            shapes: vec![],
            frame: Pose::IDENTITY,
            force: [DVec3::ZERO; 2],
        }
    }

    /// Three bodies, of which the first is fixed, under joints that hold, limit and drive them.
    fn scene() -> (World, WorldState) {
        let frames = [pose([0.1, 0.2, -0.1], [0.3, -0.1, 0.2]), pose([-0.2, 0.1, 0.3], [0.1, 0.6, -0.2])];
        let joint = |name: &str, kind, bodies| Joint::new(name, kind, bodies, frames);
        let (factors, offset) = ([2.0, -0.5], 0.1);
        let mut joints = vec![
            joint("hinge", JointKind::Revolute, [0, 1]),
            joint("slider", JointKind::Prismatic, [1, 2]),
            joint("universal", JointKind::Universal, [1, 2]),
            joint("screw", JointKind::Screw { pitch: 0.3 }, [0, 2]),
            joint("rod", JointKind::Distance { length: 0.4 }, [1, 2]),
            joint("gear", JointKind::Coupler { joints: [0, 1], factors, offset }, [0, 1]),
            joint("rope", JointKind::Rope { length: 5.0, restitution: 0.2 }, [0, 1]),
        ];
        let limits = ActionKind::Limits { lower: -1.0, upper: 2.0, restitution: 0.0 };
        joints[0].actions.push(Action { coordinate: Coordinate::About(Axis::Z), kind: limits });
        let position = AnyFormula::derivatives_only(|at| (at.t * 3.0).sin());
        let drive = ActionKind::Drive { position };
        joints[1].actions.push(Action { coordinate: Coordinate::Along(Axis::Z), kind: drive });
        let spring = ActionKind::Spring { stiffness: 8.0, damping: 0.0, rest: 0.25 };
        joints[1].actions.push(Action { coordinate: Coordinate::Along(Axis::Z), kind: spring });
        let bodies = vec![body("ground", true), body("a", false), body("b", false)];
        let (surfaces, no_contact) = (vec![], vec![]);
        let world = World {
            name: "".into(),
            gravity: DVec3::ZERO,
            bodies,
            joints,
            surfaces,
            no_contact,
            plane: None,
            sensors: vec![],
        };
        let moving = |pose: Pose, velocity: [f64; 3], angular: [f64; 3]| BodyState {
            pose,
            velocity: DVec3::from_array(velocity),
            angular_velocity: DVec3::from_array(angular),
        };
        let bodies = vec![
            moving(pose([0.0; 3], [0.0, 0.1, 0.2]), [0.0; 3], [0.0; 3]),
            moving(pose([0.3, -0.2, 0.5], [0.4, 0.1, -0.3]), [0.7, -0.4, 0.2], [0.5, 0.9, -0.6]),
            moving(pose([-0.4, 0.6, 0.1], [-0.2, 0.5, 0.3]), [-0.3, 0.8, 0.6], [-0.8, 0.2, 0.7]),
        ];
        let mut state = WorldState { t: 0.4, bodies, coordinates: vec![] };
        update_joint_coordinates(&world, &mut state);
        (world, state)
    }

    /// The state after the time h with constant (ẋ, ω̄).
    fn moved(state: &WorldState, h: f64) -> WorldState {
        let mut next = state.clone();
        next.t += h;
        for s in &mut next.bodies {
            s.pose.position += h * s.velocity;
            s.pose.rotation *= DQuat::from_scaled_axis(h * s.angular_velocity);
        }
        next
    }

    #[test]
    fn rows_are_the_derivatives_of_their_values() {
        let ((world, state), h) = (scene(), 1e-5);
        let mut out = Rows::default();
        joint_rows(&world, &state, 0.01, &mut out);
        // 5 + 5 + 4 + 5 + 1 rows, the coupler, the drive; two limits and the rope.
        assert_eq!([out.bilateral, out.limits], [22, 3]);
        let at = |h: f64| {
            let mut found = Vec::new();
            joint_values(&world, &moved(&state, h), &mut found);
            found
        };
        let (plus, minus) = (at(h), at(-h));
        assert_eq!(plus.len(), 25);
        for i in 0..plus.len() {
            let row = &out.rows[i];
            let mut rate = row.rate;
            for (body, block) in out.blocks_of(row) {
                assert!(*body != 0, "the ground has no velocity");
                let s = &state.bodies[*body as usize];
                let v = s.velocity.to_array().into_iter().chain(s.angular_velocity.to_array());
                rate += block.iter().zip(v).map(|(a, b)| a * b).sum::<f64>();
            }
            // Central differences: h² from truncation, ε/h from rounding.
            let difference = (plus[i] - minus[i]) / (2.0 * h);
            assert!((rate - difference).abs() < 1e-8, "row {i}: {rate} {difference}");
        }
    }

    #[test]
    fn the_coordinate_and_the_spring_follow_the_slider() {
        let ((world, state), h) = (scene(), 1e-5);
        let [c, speed] = joint_coordinate(&world, &state, 1).unwrap();
        let along = |h: f64| joint_coordinate(&world, &moved(&state, h), 1).unwrap()[0];
        assert!((speed - (along(h) - along(-h)) / (2.0 * h)).abs() < 1e-8);
        let energy = 4.0 * (c - 0.25) * (c - 0.25);
        assert!((spring_energy(&world, &state) - energy).abs() < 1e-15);
        assert!(joint_coordinate(&world, &state, 5).is_none());
    }

    #[test]
    fn full_rotations_are_counted() {
        let (world, mut state) = scene();
        let start = state.coordinates[0];
        let axis = world.joints[0].frames[1].rotation * DVec3::Z;
        // Eight steps of a quarter turn about the axis of the hinge.
        for _ in 0..8 {
            let quarter = DQuat::from_axis_angle(axis, std::f64::consts::FRAC_PI_2);
            state.bodies[1].pose.rotation *= quarter;
            update_joint_coordinates(&world, &mut state);
        }
        let turned = state.coordinates[0] - start;
        assert!((turned - 2.0 * std::f64::consts::TAU).abs() < 1e-12, "{turned}");
    }
}
