//! The rows of all joints at a state.
//!
//! ```text
//! ġ = J(q) v + ∂g/∂t ,   v = (ẋ, ω̄) per body
//! ```
//!
//! The rows of J are the exact derivatives of the values along q ⊕ h v = (x + h ẋ, ε ∘ exp(h ω̄/2)), also
//! where joints are not closed. Source: 004 eq. 6.

use super::joint::{Action, ActionKind, Axis, Coordinate, Joint, JointKind, Row, RowKind, Rows};
use super::joint_frames::{Frames, Function, first_guess, one_locked_rotation};
use super::{World, WorldState};
use crate::formula::{AnyFormula, HyperDual, Point};

/// One row before it is written: a sum of functions of the frames of joints.
struct Demand<'a> {
    kind: RowKind,
    value: f64,
    rate: f64,
    load: f64,
    parts: &'a [(&'a Joint, &'a Frames, Function)],
}

/// Fills `out` with the rows of all joints. A time step is needed by motors that move to a position.
///
/// Allocates nothing once `out` has grown, but for formulas written as text.
pub fn rows(world: &World, state: &WorldState, dt: f64, out: &mut Rows) {
    rows_at(world, state, dt, state.t, out);
}

/// The same with the speeds and forces that motors want at a time t.
pub fn rows_at(world: &World, state: &WorldState, dt: f64, t: f64, out: &mut Rows) {
    out.rows.clear();
    out.blocks.clear();
    for (j, joint) in world.joints.iter().enumerate() {
        held(world, state, joint, j, &mut |demand| write(world, j, &demand, out));
    }
    out.held = out.rows.len();
    for (j, joint) in world.joints.iter().enumerate() {
        limits(state, joint, j, &mut |demand| write(world, j, &demand, out));
    }
    out.limits = out.rows.len() - out.held;
    for (j, joint) in world.joints.iter().enumerate() {
        others(state, joint, j, [dt, t], &mut |demand| write(world, j, &demand, out));
    }
}

/// Fills `out` with the values of the rows that are held and, behind them, of the limits, in the order of
/// [`rows`].
pub fn values(world: &World, state: &WorldState, out: &mut Vec<f64>) {
    out.clear();
    for (j, joint) in world.joints.iter().enumerate() {
        held(world, state, joint, j, &mut |demand| out.push(demand.value));
    }
    for (j, joint) in world.joints.iter().enumerate() {
        limits(state, joint, j, &mut |demand| out.push(demand.value));
    }
}

/// Sets the coordinates of a state from its poses; angles keep their turns. Where the state has no
/// coordinates yet, angles start in (−π, π] and points on curves at the nearest point.
pub fn update_coordinates(world: &World, state: &mut WorldState) {
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
pub fn coordinate(world: &World, state: &WorldState, joint: usize) -> Option<[f64; 2]> {
    let this = &world.joints[joint];
    let frames = Frames::new(this, state);
    let f = measured(this, &frames, this.kind.coordinate()?, last(state, joint));
    let velocity: f64 = (0..2)
        .map(|i| {
            let body = &state.bodies[this.bodies[i]];
            let v = body.velocity.to_array().into_iter().chain(body.angular_velocity.to_array());
            frames.block(&f, i).iter().zip(v).map(|(a, b)| a * b).sum::<f64>()
        })
        .sum();
    Some([f.value, velocity])
}

/// How far a coordinate of a joint is from the target of a motor now, and the mean speed of that target in the time dt.
pub fn way_to_target(
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

fn write(world: &World, joint: usize, demand: &Demand<'_>, out: &mut Rows) {
    let start = out.blocks.len();
    for (part, frames, f) in demand.parts {
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
        kind: demand.kind,
        value: demand.value,
        rate: demand.rate,
        load: demand.load,
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

/// The rows that are zero whatever force it takes.
fn held(world: &World, state: &WorldState, joint: &Joint, index: usize, emit: &mut impl FnMut(Demand<'_>)) {
    let frames = Frames::new(joint, state);
    let mut hold = |f: Function, load: f64| {
        emit(Demand { kind: RowKind::Held, value: f.value, rate: 0.0, load, parts: &[(joint, &frames, f)] });
    };
    let locked = joint.kind.locked();
    for k in 0..3 {
        if locked[k] {
            hold(frames.displacement(k), 1.0);
        }
    }
    match locked[3..] {
        [true, true, true] => (0..3).for_each(|k| hold(frames.quaternion_part(k), 0.0)),
        [false, false, false] => {}
        _ => match one_locked_rotation(&locked) {
            Some((i, j, _)) => hold(frames.cosine(i, j), 0.0),
            None => {
                let axis = (0..3).find(|&k| !locked[3 + k]).unwrap_or(2);
                hold(frames.cosine((axis + 1) % 3, axis), 0.0);
                hold(frames.cosine((axis + 2) % 3, axis), 0.0);
            }
        },
    }
    match &joint.kind {
        JointKind::Screw { pitch } => {
            let turn = frames.coordinate(joint, Coordinate::About(Axis::Z), last(state, index));
            hold(frames.displacement(2) + (-pitch / std::f64::consts::TAU) * turn, 1.0);
        }
        JointKind::Distance { length } => hold(frames.length() + -length, 1.0),
        JointKind::PointOnCurve(curve) => {
            let on = frames.curve(curve, last(state, index));
            on.offsets.into_iter().for_each(|f| hold(f, 1.0));
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
            emit(Demand { kind: RowKind::Held, value, rate: 0.0, load: 0.0, parts });
        }
        _ => {}
    }
    for Action { coordinate, kind } in &joint.actions {
        if let ActionKind::Drive { position } = kind {
            let f = measured(joint, &frames, *coordinate, last(state, index));
            let [wanted, speed] = at_time(position, state.t);
            let (value, parts) = (f.value - wanted, &[(joint, &frames, f)]);
            emit(Demand { kind: RowKind::Held, value, rate: -speed, load: 0.0, parts });
        }
    }
}

/// The rows that are not negative.
fn limits(state: &WorldState, joint: &Joint, index: usize, emit: &mut impl FnMut(Demand<'_>)) {
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
        emit(Demand { kind, value: f.value, rate: 0.0, load: 0.0, parts });
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

/// Motors, springs, forces and friction.
fn others(
    state: &WorldState,
    joint: &Joint,
    index: usize,
    [dt, t]: [f64; 2],
    emit: &mut impl FnMut(Demand<'_>),
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
                let [wanted, _] = at_time(target, state.t + dt);
                let towards = ((wanted - f.value) / dt).clamp(-speed, *speed);
                (RowKind::Bounded { force: *force, per_load: 0.0 }, 0.0, -towards)
            }
            ActionKind::Force { force } => (RowKind::Applied { force: at_time(force, t)[0] }, 0.0, 0.0),
            ActionKind::Spring { stiffness, damping, rest } => {
                (RowKind::Spring { stiffness: *stiffness, damping: *damping }, f.value - rest, 0.0)
            }
        };
        emit(Demand { kind, value, rate, load: 0.0, parts: &[(joint, &frames, f)] });
    }
    let Some(friction) = joint.friction else { return };
    let mut rub = |f: Function, force: f64, per_load: f64| {
        if force == 0.0 && per_load == 0.0 {
            return;
        }
        let (kind, parts) = (RowKind::Bounded { force, per_load }, &[(joint, &frames, f)]);
        emit(Demand { kind, value: 0.0, rate: 0.0, load: 0.0, parts });
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
            rub(frames.turn(k, &locked), friction.moment, mu * radius);
        }
    }
}
