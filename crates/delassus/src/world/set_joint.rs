//! Sets the coordinate and the rate of one joint, and moves the bodies that it carries along with it.
//!
//! ```text
//! x' = p + R (x − p) + s ,   v' = v_A(x') + R (v − v_A(x)) + (ċ' − ċ) ∂x'/∂c
//! ```
//!
//! c and c' are the coordinates before and after, R the rotation about the axis of the joint by c' − c and s
//! the displacement along it, p a point of the axis, and v_A(x) the velocity of the first body at x. All
//! bodies behind the joint move as one, so that the other joints keep their coordinates and rates. Where the
//! joint is part of a loop or coupled to others, only its own body moves so, and the loops are closed by the
//! least motion that keeps the joint there.

use glam::{DQuat, DVec3};

use super::joint::{Action, ActionKind, Axis, Coordinate, JointKind};
use super::loop_closure::{CloseError, close_loops, project_velocities};
use super::{Pose, World, WorldState, joint_coordinate, update_joint_coordinates};
use crate::formula::AnyFormula;

/// A coordinate within this part of its target, or of 1, is there.
const REACHED: f64 = 1e-12;

/// A rotation about an axis and a displacement along it, per unit of a coordinate.
struct Screw {
    point: DVec3,
    axis: DVec3,
    turn: f64,
    advance: f64,
}

/// Puts a joint with a coordinate at `position` with the rate `velocity`. On an error the state is as it was.
pub fn set_joint(
    world: &World,
    state: &mut WorldState,
    joint: usize,
    [position, velocity]: [f64; 2],
) -> Result<(), CloseError> {
    if state.coordinates.len() != world.joints.len() {
        update_joint_coordinates(world, state);
    }
    let given = state.clone();
    let tree = moved_bodies(world, joint);
    let [a, b] = world.joints[joint].bodies;
    // The side that moves, and its sign: the second body, or the first where the second is held.
    let (moved, side) = match (&tree, world.bodies[b].fixed) {
        (Some((bodies, side)), _) => (bodies.clone(), *side),
        (None, false) => (vec![b], 1),
        (None, true) => (vec![a], 0),
    };
    move_to(world, state, joint, &moved, side, [position, velocity]);
    state.coordinates[joint] = position;
    let there = |state: &WorldState| {
        let now = joint_coordinate(world, state, joint);
        now.is_some_and(|[c, _]| (c - position).abs() <= REACHED * position.abs().max(1.0))
    };
    if tree.is_some() && there(state) {
        return Ok(());
    }
    let result = close_at(world, state, joint, [position, velocity]);
    if result.is_err() {
        *state = given;
    }
    result
}

/// The bodies behind a joint, and on which side of it they are: 1 for that of its second body. `None` where
/// both sides are held, by fixed bodies, by each other or by couplers.
fn moved_bodies(world: &World, joint: usize) -> Option<(Vec<usize>, usize)> {
    let couples =
        |kind: &JointKind| matches!(kind, JointKind::Coupler { joints, .. } if joints.contains(&joint));
    if world.joints.iter().any(|other| couples(&other.kind)) {
        return None;
    }
    [1, 0].into_iter().find_map(|side| {
        let (start, other) = (world.joints[joint].bodies[side], world.joints[joint].bodies[1 - side]);
        let mut reached = vec![start];
        let mut next = 0;
        while next < reached.len() {
            let body = reached[next];
            next += 1;
            if world.bodies[body].fixed || body == other {
                return None;
            }
            let links = world.joints.iter().enumerate().filter(|(j, link)| {
                let couples = matches!(link.kind, JointKind::Coupler { .. } | JointKind::Tendon(_));
                *j != joint && !couples && link.bodies.contains(&body)
            });
            for (_, link) in links {
                let far = if link.bodies[0] == body { link.bodies[1] } else { link.bodies[0] };
                if !reached.contains(&far) {
                    reached.push(far);
                }
            }
        }
        Some((reached, side))
    })
}

/// The motion of the second body along the coordinate of a joint, where that is one about or along an axis.
fn screw(world: &World, state: &WorldState, joint: usize) -> Option<Screw> {
    let this = &world.joints[joint];
    let [a, b] = this.bodies.map(|body| state.bodies[body].pose);
    let point = b.point(this.frames[1].position);
    let axis_of = |axis: Axis| a.rotation * (this.frames[0].rotation * DVec3::AXES[axis as usize]);
    match this.kind.coordinate()? {
        Coordinate::About(axis) => {
            let advance = match this.kind {
                JointKind::Screw { pitch } => pitch / std::f64::consts::TAU,
                _ => 0.0,
            };
            Some(Screw { point, axis: axis_of(axis), turn: 1.0, advance })
        }
        Coordinate::Along(axis) => Some(Screw { point, axis: axis_of(axis), turn: 0.0, advance: 1.0 }),
        _ => None,
    }
}

/// Moves bodies on a side of a joint to a coordinate, and gives them the rate.
fn move_to(
    world: &World,
    state: &mut WorldState,
    joint: usize,
    moved: &[usize],
    side: usize,
    [position, velocity]: [f64; 2],
) {
    let (Some([now, _]), Some(along)) = (joint_coordinate(world, state, joint), screw(world, state, joint))
    else {
        return;
    };
    let sign = if side == 1 { 1.0 } else { -1.0 };
    let change = sign * (position - now);
    let turn = DQuat::from_axis_angle(along.axis, along.turn * change);
    let shift = along.advance * change * along.axis;
    let still = state.bodies[world.joints[joint].bodies[1 - side]];
    let carried = |x: DVec3| still.velocity + still.world_angular_velocity().cross(x - still.pose.position);
    for &body in moved {
        let s = &mut state.bodies[body];
        let (v, w) = (s.velocity - carried(s.pose.position), s.world_angular_velocity());
        let w = still.world_angular_velocity() + turn * (w - still.world_angular_velocity());
        s.pose = Pose {
            position: along.point + turn * (s.pose.position - along.point) + shift,
            rotation: (turn * s.pose.rotation).normalize(),
        };
        s.velocity = carried(s.pose.position) + turn * v;
        s.angular_velocity = s.pose.local_vector(w);
    }
    state.coordinates[joint] = position;
    let Some([_, rate]) = joint_coordinate(world, state, joint) else { return };
    let change = sign * (velocity - rate);
    let point = along.point + shift;
    for &body in moved {
        let s = &mut state.bodies[body];
        let w = along.turn * change * along.axis;
        s.velocity += w.cross(s.pose.position - point) + along.advance * change * along.axis;
        s.angular_velocity += s.pose.local_vector(w);
    }
}

/// Closes the joints of a world with one of them driven.
fn close_at(
    world: &World,
    state: &mut WorldState,
    joint: usize,
    [position, velocity]: [f64; 2],
) -> Result<(), CloseError> {
    let Some(coordinate) = world.joints[joint].kind.coordinate() else { return Ok(()) };
    let mut driven = world.clone();
    let t = state.t;
    let position = AnyFormula::derivatives_only(move |at| (at.t - t) * velocity + position);
    driven.joints[joint].actions.push(Action { coordinate, kind: ActionKind::Drive { position } });
    close_loops(&driven, state)?;
    project_velocities(&driven, state);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Body, BodyState, Joint, Scene};

    /// Two arms of 1 m in the plane of x and y, hinged at the origin and at their common end.
    fn arms() -> Scene {
        let mut scene = Scene::default();
        scene.world.gravity = DVec3::ZERO;
        let ground = scene.add(Body::fixed("ground", vec![]));
        let arm = |name: &str, x: f64| {
            Body::block(name, 1.0, DVec3::new(0.5, 0.05, 0.05)).at(DVec3::new(x, 0.0, 0.0))
        };
        let [upper, fore] = [scene.add(arm("upper", 0.5)), scene.add(arm("fore", 1.5))];
        let at = |x: f64| Pose::along(DVec3::new(x, 0.0, 0.0), DVec3::Z);
        scene.join([ground, upper], at(0.0), Joint::revolute("shoulder"));
        scene.join([upper, fore], at(1.0), Joint::revolute("elbow"));
        scene
    }

    fn coordinates(scene: &Scene) -> Vec<[f64; 2]> {
        (0..scene.world.joints.len())
            .map(|j| joint_coordinate(&scene.world, &scene.state, j).unwrap())
            .collect()
    }

    fn close(a: DVec3, b: DVec3) -> bool {
        (a - b).length() < 1e-14
    }

    #[test]
    fn what_hangs_on_a_joint_moves_with_it_and_other_joints_stay() {
        let mut scene = arms();
        let Scene { world, state } = &mut scene;
        set_joint(world, state, 1, [0.5, 2.0]).unwrap();
        set_joint(world, state, 0, [0.25, -1.0]).unwrap();
        let (s, e) = (0.25_f64, 0.75_f64);
        let [upper, fore]: [BodyState; 2] = [state.bodies[1], state.bodies[2]];
        let elbow = DVec3::new(s.cos(), s.sin(), 0.0);
        let half = 0.5 * DVec3::new(e.cos(), e.sin(), 0.0);
        assert!(close(upper.pose.position, 0.5 * elbow) && close(fore.pose.position, elbow + half));
        // The upper arm turns with −1, the forearm with −1 + 2.
        assert!(close(fore.velocity, -DVec3::Z.cross(elbow) + DVec3::Z.cross(half)), "{}", fore.velocity);
        assert!(close(fore.world_angular_velocity(), DVec3::Z) && close(upper.angular_velocity, -DVec3::Z));
        for (found, expected) in coordinates(&scene).into_iter().zip([[0.25, -1.0], [0.5, 2.0]]) {
            assert!((found[0] - expected[0]).abs() < 1e-14 && (found[1] - expected[1]).abs() < 1e-14);
        }
    }

    #[test]
    fn turns_are_counted_and_the_first_body_moves_where_the_second_is_fixed() {
        let mut scene = arms();
        scene.world.joints[0].bodies.swap(0, 1);
        scene.world.joints[0].frames.swap(0, 1);
        let Scene { world, state } = &mut scene;
        set_joint(world, state, 0, [7.0, 3.0]).unwrap();
        update_joint_coordinates(world, state);
        // The first body turns the other way; the forearm with it.
        let out = DVec3::new(7.0_f64.cos(), -7.0_f64.sin(), 0.0);
        assert!(close(state.bodies[1].pose.position, 0.5 * out));
        assert!(close(state.bodies[2].pose.position, 1.5 * out));
        assert!(close(state.bodies[1].world_angular_velocity(), -3.0 * DVec3::Z));
        let found = joint_coordinate(world, state, 0).unwrap();
        assert!((found[0] - 7.0).abs() < 1e-14 && (found[1] - 3.0).abs() < 1e-14, "{found:?}");
    }

    #[test]
    fn a_loop_is_closed_around_the_joint_that_is_set() {
        // A rod slides along x at its end and turns about its other end, which an arm of 1 m carries.
        let mut scene = arms();
        let (ground, fore) = (crate::world::BodyId::new(0), crate::world::BodyId::new(2));
        let slider = JointKind::PointOnLine;
        scene.join(
            [ground, fore],
            Pose::along(DVec3::new(2.0, 0.0, 0.0), DVec3::X),
            Joint::of_kind("slider", slider),
        );
        let Scene { world, state } = &mut scene;
        // Away from the stretched position, where the loop is singular.
        state.bodies[1].pose.rotation = DQuat::from_rotation_z(0.3);
        set_joint(world, state, 0, [0.6, 0.5]).unwrap();
        // An isosceles triangle: the end is at 2 cos c, with the speed −2 sin c ċ.
        let end = joint_coordinate(world, state, 2).unwrap();
        let (c, rate) = (0.6_f64, 0.5);
        assert!((end[0] - (2.0 * c.cos() - 2.0)).abs() < 1e-9, "{end:?}");
        assert!((end[1] + 2.0 * c.sin() * rate).abs() < 1e-9, "{end:?}");
        let own = joint_coordinate(world, state, 0).unwrap();
        assert!((own[0] - c).abs() < 1e-9 && (own[1] - rate).abs() < 1e-9, "{own:?}");
        // Where the crank leaves no place for the rod there is no answer, and nothing moves.
        let before = state.clone();
        world.joints[2].kind = JointKind::Distance { length: 0.1 };
        assert!(set_joint(world, state, 0, [3.0, 0.0]).is_err());
        assert_eq!(*state, before);
    }

    #[test]
    fn prismatic_and_screw_joints_go_along_their_axes() {
        for (kind, advance, turn) in [
            (JointKind::Prismatic, 1.0, 0.0),
            (JointKind::Screw { pitch: 0.5 }, 0.5 / std::f64::consts::TAU, 1.0),
        ] {
            let mut scene = Scene::default();
            let ground = scene.add(Body::fixed("ground", vec![]));
            let block = scene.add(Body::block("block", 1.0, DVec3::splat(0.1)).at(DVec3::X));
            scene.join([ground, block], Pose::along(DVec3::ZERO, DVec3::Z), Joint::of_kind("joint", kind));
            let Scene { world, state } = &mut scene;
            set_joint(world, state, 0, [2.0, 3.0]).unwrap();
            let s = state.bodies[1];
            let around = DVec3::new(f64::cos(2.0 * turn), f64::sin(2.0 * turn), 0.0);
            assert!(close(s.pose.position, around + 2.0 * advance * DVec3::Z), "{s:?}");
            assert!(close(s.velocity, 3.0 * (advance * DVec3::Z + turn * DVec3::Z.cross(around))), "{s:?}");
            let found = joint_coordinate(world, state, 0).unwrap();
            assert!((found[0] - 2.0).abs() < 1e-14 && (found[1] - 3.0).abs() < 1e-14);
        }
    }
}
