//! The rows of all joints at a state.
//!
//! ```text
//! ġ = J(q) v + ∂g/∂t ,   v = (ẋ, ω̄) per body
//! ```
//!
//! g ∈ ℝᵐ are the values of the rows, v ∈ ℝ⁶ⁿ the velocities of n bodies, J is m × 6n with at most one block
//! of six entries per row and moving body (two bodies, more for couplers and tendons). The rows of J are the
//! exact derivatives of the values along q ⊕ h v = (x + h ẋ, ε ∘ exp(h ω̄/2)), also where joints are not
//! closed.
//! Source: 004 eq. 6.

use super::joint::{Action, ActionKind, Coordinate, Joint, JointKind, TendonPart, TendonTerm};
use super::joint_frames::{Frames, Function, first_guess};
use super::medium::resistances;
use super::rows::{Row, RowKind, Rows};
use super::{Pose, World, WorldState};
use crate::formula::{AnyFormula, HyperDual, Point};

/// One row before it is written: a sum of multiples of measures.
struct RowTerms<'a> {
    kind: RowKind,
    value: f64,
    rate: f64,
    load: f64,
    parts: &'a [(f64, Measure<'a>)],
}

/// A function of the frames of a joint, or the length of a tendon.
#[derive(Clone, Copy)]
enum Measure<'a> {
    Of(&'a Joint, &'a Frames, Function),
    Tendon {
        terms: &'a [TendonTerm],
        value: f64,
    },
    /// A function of frames on these bodies.
    On([usize; 2], &'a Frames, Function),
}

impl Measure<'_> {
    fn value(&self) -> f64 {
        match self {
            Measure::Of(.., f) | Measure::On(.., f) => f.value,
            Measure::Tendon { value, .. } => *value,
        }
    }
}

/// Fills `out` with the rows of all joints. A time step is needed by motors that move to a position.
///
/// Allocates nothing once `out` has grown, but for formulas written as text.
pub fn joint_rows(world: &World, state: &WorldState, dt: f64, out: &mut Rows) {
    out.find_frames(world, state);
    write_rows(world, state, [dt, state.t], out);
}

/// The same with the target speeds and forces of motors at a time t, after the coordinates of the state are
/// set from its poses ([`update_joint_coordinates`]).
pub fn update_joint_rows(world: &World, state: &mut WorldState, dt_and_t: [f64; 2], out: &mut Rows) {
    out.find_frames(world, state);
    update_coordinates(world, state, Some(&out.frames));
    write_rows(world, state, dt_and_t, out);
}

fn write_rows(world: &World, state: &WorldState, dt_and_t: [f64; 2], out: &mut Rows) {
    out.rows.clear();
    out.blocks.clear();
    let frames = std::mem::take(&mut out.frames);
    let joints = || world.joints.iter().zip(&frames).enumerate();
    for (j, (joint, frames)) in joints() {
        bilateral(world, state, (joint, frames), j, &mut |terms| write(world, state, j, &terms, out));
    }
    out.bilateral = out.rows.len();
    for (j, (joint, frames)) in joints() {
        limits(world, state, (joint, frames), j, &mut |terms| write(world, state, j, &terms, out));
    }
    out.limits = out.rows.len() - out.bilateral;
    out.frames = frames;
    add_others(world, state, dt_and_t, out);
}

/// The rows of [`update_joint_rows`] behind those of limits, where those before them are rows at the same
/// poses.
pub fn renew_other_rows(world: &World, state: &WorldState, dt_and_t: [f64; 2], out: &mut Rows) {
    out.rows.truncate(out.bilateral + out.limits);
    out.blocks.truncate(out.rows.last().map_or(0, |row| row.blocks[1] as usize));
    add_others(world, state, dt_and_t, out);
}

/// The same alone.
pub fn other_rows_at(world: &World, state: &WorldState, dt: f64, t: f64, out: &mut Rows) {
    out.rows.clear();
    out.blocks.clear();
    out.frames.clear();
    (out.bilateral, out.limits) = (0, 0);
    add_others(world, state, [dt, t], out);
}

fn add_others(world: &World, state: &WorldState, dt_and_t: [f64; 2], out: &mut Rows) {
    let frames = std::mem::take(&mut out.frames);
    for (j, joint) in world.joints.iter().enumerate() {
        let joint = (joint, frames.get(j));
        others(world, state, joint, j, dt_and_t, &mut |terms| write(world, state, j, &terms, out));
    }
    out.frames = frames;
}

/// Fills `out` with the values of the bilateral rows and, behind them, of the limits, in the order of
/// [`joint_rows`].
pub fn joint_values(world: &World, state: &WorldState, out: &mut Vec<f64>) {
    joint_values_with(world, state, out, &mut vec![]);
}

/// The same in memory for the limits.
pub fn joint_values_with(world: &World, state: &WorldState, out: &mut Vec<f64>, of_limits: &mut Vec<f64>) {
    out.clear();
    of_limits.clear();
    for (j, joint) in world.joints.iter().enumerate() {
        let joint = (joint, &Frames::new(joint, state));
        bilateral(world, state, joint, j, &mut |terms| out.push(terms.value));
        limits(world, state, joint, j, &mut |terms| of_limits.push(terms.value));
    }
    out.extend_from_slice(of_limits);
}

/// Sets the coordinates of a state from its poses; angles keep their turns. Where the state has no
/// coordinates yet, angles start in (−π, π] and points on curves at the nearest point.
pub fn update_joint_coordinates(world: &World, state: &mut WorldState) {
    update_coordinates(world, state, None);
}

fn update_coordinates(world: &World, state: &mut WorldState, known: Option<&[Frames]>) {
    let fresh = state.coordinates.len() != world.joints.len();
    if fresh {
        state.coordinates.clear();
        state.coordinates.resize(world.joints.len(), 0.0);
    }
    for (j, joint) in world.joints.iter().enumerate() {
        let Some(which) = joint.kind.coordinate() else { continue };
        let frames = known.map_or_else(|| Frames::new(joint, state), |known| known[j]);
        if let (JointKind::PointOnCurve(curve), true) = (&joint.kind, fresh) {
            state.coordinates[j] = first_guess(curve, frames.axes[0].transpose() * frames.d);
        }
        state.coordinates[j] = match &joint.kind {
            // Where a tendon stands before a joint of it, its length is put right below.
            JointKind::Tendon(_) => continue,
            _ => frames.coordinate(joint, which, state.coordinates[j]).value,
        };
    }
    for (j, joint) in world.joints.iter().enumerate() {
        if let JointKind::Tendon(terms) = &joint.kind {
            state.coordinates[j] = length(world, state, terms);
        }
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
    let c = measure(world, state, (this, &frames), coordinate, last(state, joint));
    let mut velocity = 0.0;
    for_each_part(world, state, 1.0, &c, &mut |bodies, frames, f| {
        for (i, body) in bodies.into_iter().enumerate() {
            let body = &state.bodies[body];
            let v = body.velocity.to_array().into_iter().chain(body.angular_velocity.to_array());
            velocity += frames.block(f, i).iter().zip(v).map(|(a, b)| a * b).sum::<f64>();
        }
    });
    [c.value(), velocity]
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
    let [c, _] = coordinate_at(world, state, joint, coordinate);
    let [[now, _], [next, _]] = [state.t, state.t + dt].map(|t| at_time(target, t));
    [now - c, (next - now) / dt]
}

fn write(world: &World, state: &WorldState, joint: usize, terms: &RowTerms<'_>, out: &mut Rows) {
    let start = out.blocks.len();
    for (factor, part) in terms.parts {
        for_each_part(world, state, *factor, part, &mut |bodies, frames, f| {
            for (i, body) in bodies.into_iter().enumerate() {
                if world.bodies[body].fixed {
                    continue;
                }
                let block = frames.block(f, i);
                // Two joints of a coupler or a tendon may share a body.
                match out.blocks[start..].iter_mut().find(|(b, _)| *b as usize == body) {
                    Some((_, sum)) => (0..6).for_each(|k| sum[k] += block[k]),
                    None => out.blocks.push((body as u32, block)),
                }
            }
        });
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

/// The same, and the length of a tendon.
fn measure<'a>(
    world: &World,
    state: &WorldState,
    (joint, frames): (&'a Joint, &'a Frames),
    coordinate: Coordinate,
    last: f64,
) -> Measure<'a> {
    match &joint.kind {
        JointKind::Tendon(terms) => Measure::Tendon { terms, value: length(world, state, terms) },
        _ => Measure::Of(joint, frames, measured(joint, frames, coordinate, last)),
    }
}

fn length(world: &World, state: &WorldState, terms: &[TendonTerm]) -> f64 {
    terms.iter().map(|term| term.factor * part(world, state, &term.part).2.value).sum()
}

/// A part of a tendon: its bodies, frames on them, and the function of these that it is.
fn part(world: &World, state: &WorldState, part: &TendonPart) -> ([usize; 2], Frames, Function) {
    match part {
        &TendonPart::Coordinate { joint, coordinate } | &TendonPart::Polynomial { joint, coordinate, .. } => {
            let of = &world.joints[joint];
            let frames = Frames::new(of, state);
            let c = measured(of, &frames, coordinate, last(state, joint));
            match part {
                TendonPart::Polynomial { coefficients, .. } => {
                    (of.bodies, frames, c.polynomial(coefficients))
                }
                _ => (of.bodies, frames, c),
            }
        }
        &TendonPart::Segment { bodies, points } => {
            let at = points.map(|position| Pose { position, ..Pose::IDENTITY });
            let frames = Frames::between(bodies, &at, state);
            (bodies, frames, frames.length())
        }
        TendonPart::Twist { bodies, frame, axes } => {
            let frames = Frames::between(*bodies, &[Pose::IDENTITY, *frame], state);
            (*bodies, frames, frames.own_motion(axes))
        }
    }
}

/// Calls a function with the bodies and frames of what a measure is the sum of, each times a factor.
fn for_each_part(
    world: &World,
    state: &WorldState,
    factor: f64,
    measure: &Measure<'_>,
    call: &mut impl FnMut([usize; 2], &Frames, &Function),
) {
    match measure {
        Measure::Of(joint, frames, f) => call(joint.bodies, frames, &(factor * *f)),
        Measure::On(bodies, frames, f) => call(*bodies, frames, &(factor * *f)),
        Measure::Tendon { terms, .. } => terms.iter().for_each(|term| {
            let (bodies, frames, f) = part(world, state, &term.part);
            call(bodies, &frames, &((factor * term.factor) * f));
        }),
    }
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
    (joint, frames): (&Joint, &Frames),
    index: usize,
    emit: &mut impl FnMut(RowTerms<'_>),
) {
    let mut constrain = |f: Function, load: f64| {
        emit(RowTerms {
            kind: RowKind::Bilateral,
            value: f.value,
            rate: 0.0,
            load,
            parts: &[(1.0, Measure::Of(joint, frames, f))],
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
            let frames = joints.map(|other| Frames::new(&world.joints[other], state));
            let [f, g] = [0, 1].map(|i| {
                let other = &world.joints[joints[i]];
                // `joint_check` refuses couplers of joints without a coordinate.
                let which = other.kind.coordinate().unwrap_or(Coordinate::Length);
                measure(world, state, (other, &frames[i]), which, last(state, joints[i]))
            });
            let value = factors[0] * f.value() + factors[1] * g.value() - offset;
            let parts = &[(factors[0], f), (factors[1], g)];
            emit(RowTerms { kind: RowKind::Bilateral, value, rate: 0.0, load: 0.0, parts });
        }
        _ => {}
    }
    for Action { coordinate, kind } in &joint.actions {
        if let ActionKind::Drive { position } = kind {
            let c = measure(world, state, (joint, frames), *coordinate, last(state, index));
            let [target, speed] = at_time(position, state.t);
            let (value, parts) = (c.value() - target, &[(1.0, c)]);
            emit(RowTerms { kind: RowKind::Bilateral, value, rate: -speed, load: 0.0, parts });
        }
    }
}

/// The rows that are not negative.
fn limits(
    world: &World,
    state: &WorldState,
    (joint, frames): (&Joint, &Frames),
    index: usize,
    emit: &mut impl FnMut(RowTerms<'_>),
) {
    let rope = match joint.kind {
        JointKind::Rope { length, restitution } => Some((length, restitution)),
        _ => None,
    };
    if rope.is_none() && !joint.actions.iter().any(|a| matches!(a.kind, ActionKind::Limits { .. })) {
        return;
    }
    let mut keep = |sign: f64, measure: Measure<'_>, bound: f64, restitution: f64| {
        let (kind, parts) = (RowKind::Limit { restitution }, &[(sign, measure)]);
        let value = sign * measure.value() + bound;
        emit(RowTerms { kind, value, rate: 0.0, load: 0.0, parts });
    };
    if let Some((length, restitution)) = rope {
        keep(-1.0, Measure::Of(joint, frames, frames.length()), length, restitution);
    }
    for Action { coordinate, kind } in &joint.actions {
        if let &ActionKind::Limits { lower, upper, restitution } = kind {
            let c = measure(world, state, (joint, frames), *coordinate, last(state, index));
            if lower > f64::NEG_INFINITY {
                keep(1.0, c, -lower, restitution);
            }
            if upper < f64::INFINITY {
                keep(-1.0, c, upper, restitution);
            }
        }
    }
}

/// Motors, springs, rotors, forces and friction.
fn others(
    world: &World,
    state: &WorldState,
    (joint, frames): (&Joint, Option<&Frames>),
    index: usize,
    [dt, t]: [f64; 2],
    emit: &mut impl FnMut(RowTerms<'_>),
) {
    if joint.is_medium() {
        return resistances(world, state, joint.bodies[0], |bodies, frames, along, damping| {
            let kind = RowKind::Spring { stiffness: 0.0, damping };
            let parts = &[(1.0, Measure::On(bodies, frames, along))];
            emit(RowTerms { kind, value: 0.0, rate: 0.0, load: 0.0, parts });
        });
    }
    if joint.actions.is_empty() && joint.friction.is_none() {
        return;
    }
    let frames = &frames.copied().unwrap_or_else(|| Frames::new(joint, state));
    for Action { coordinate, kind } in &joint.actions {
        if matches!(kind, ActionKind::Limits { .. } | ActionKind::Drive { .. }) {
            continue;
        }
        let c = measure(world, state, (joint, frames), *coordinate, last(state, index));
        let (kind, value, rate) = match kind {
            ActionKind::Limits { .. } | ActionKind::Drive { .. } => continue,
            ActionKind::Speed { target, force } => {
                let [speed, _] = at_time(target, t);
                (RowKind::Bounded { force: *force, per_load: 0.0 }, 0.0, -speed)
            }
            ActionKind::Position { target, force, speed } => {
                let [position, _] = at_time(target, state.t + dt);
                let towards = ((position - c.value()) / dt).clamp(-speed, *speed);
                (RowKind::Bounded { force: *force, per_load: 0.0 }, 0.0, -towards)
            }
            ActionKind::Force { force } => (RowKind::Applied { force: at_time(force, t)[0] }, 0.0, 0.0),
            ActionKind::Spring { stiffness, damping, rest } => {
                (RowKind::Spring { stiffness: *stiffness, damping: *damping }, c.value() - rest, 0.0)
            }
            ActionKind::Servo(servo) => {
                let (stiffness, damping, range) = (servo.stiffness, servo.damping, servo.force_range);
                (RowKind::Servo { stiffness, damping, push: servo.push(t), range }, c.value(), 0.0)
            }
            ActionKind::Armature { inertia } => (RowKind::Armature { inertia: *inertia }, 0.0, 0.0),
        };
        emit(RowTerms { kind, value, rate, load: 0.0, parts: &[(1.0, c)] });
    }
    let Some(friction) = joint.friction else { return };
    let mut rub_along = |measure: Measure<'_>, force: f64, per_load: f64| {
        if force == 0.0 && per_load == 0.0 {
            return;
        }
        let (kind, parts) = (RowKind::Bounded { force, per_load }, &[(1.0, measure)]);
        emit(RowTerms { kind, value: 0.0, rate: 0.0, load: 0.0, parts });
    };
    if let JointKind::Tendon(terms) = &joint.kind {
        return rub_along(Measure::Tendon { terms, value: 0.0 }, friction.force, 0.0);
    }
    let mut rub = |f, force, per_load| rub_along(Measure::Of(joint, frames, f), force, per_load);
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
    use crate::world::rigid_body::spring_energy;
    use crate::world::{Axis, Body, BodyState, Pose};
    use glam::{DQuat, DVec3};

    fn pose(position: [f64; 3], axis: [f64; 3]) -> Pose {
        let rotation = DQuat::from_scaled_axis(DVec3::from_array(axis));
        Pose { position: DVec3::from_array(position), rotation }
    }

    fn body(name: &str, fixed: bool) -> Body {
        Body { name: name.into(), fixed, ..Body::default() }
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
            medium: None,
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
