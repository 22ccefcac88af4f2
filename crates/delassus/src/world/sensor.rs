//! Quantities of a world that are recorded under a name.
//!
//! ```text
//! (q, v), efforts of actuators, forces of contacts  ↦  1, 3 or 4 numbers
//! ```
//!
//! Frames stand on the axes of their body (principal axes, centre of mass).

use std::ops::Range;

use glam::DVec3;

use super::joint_rows::coordinate_at;
use super::{Axis, Body, BodyState, Coordinate, Pose, World, WorldState, kinetic_energy, potential_energy};

/// A quantity with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensor {
    /// Its name; with several numbers each has a suffix.
    pub name: String,
    /// What it measures.
    pub kind: SensorKind,
}

/// A coordinate as a file counts it: sign · (coordinate of the joint) + reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// The joint.
    pub joint: usize,
    /// Its coordinate.
    pub coordinate: Coordinate,
    /// 1 or −1; of the length of an actuator its gear.
    pub sign: f64,
    /// The value where the coordinate is zero, m or rad.
    pub reference: f64,
}

/// A frame on a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyFrame {
    /// The body.
    pub body: usize,
    /// The frame, in the axes of the body.
    pub frame: Pose,
}

/// What is seen of a frame from another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Seen {
    /// Its origin, in the axes of the other.
    Position,
    /// Its axes as a quaternion w, x, y, z.
    Orientation,
    /// One of its axes, in those of the other.
    AxisOf(Axis),
    /// The velocity of its origin for who turns with the other, in the axes of that.
    LinearVelocity,
    /// Its angular velocity against the other, in the axes of that.
    AngularVelocity,
    /// The same in its own axes.
    OwnAngularVelocity,
}

/// What is measured of several bodies together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Together {
    /// Their centre of mass, m.
    Centre,
    /// Its velocity, m/s.
    Velocity,
    /// Their angular momentum about it, kg m²/s.
    AngularMomentum,
}

/// A region on a body in which touches are felt, in the axes of its frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Zone {
    /// A box.
    Box {
        /// Half its edges, m.
        half_extents: DVec3,
    },
    /// An ellipsoid, or a ball.
    Ellipsoid {
        /// Its half axes, m.
        half_axes: DVec3,
    },
    /// A cylinder along z.
    Cylinder {
        /// Its radius, m.
        radius: f64,
        /// Half its height, m.
        half_height: f64,
    },
    /// A cylinder along z with half balls at its ends.
    Capsule {
        /// Its radius, m.
        radius: f64,
        /// Half the height of the cylinder, m.
        half_height: f64,
    },
}

/// The normal force of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormalForce {
    /// The bodies.
    pub bodies: [usize; 2],
    /// Where, in world axes.
    pub point: DVec3,
    /// From the first body to the second, in world axes.
    pub normal: DVec3,
    /// How large, N.
    pub force: f64,
}

/// Mean forces over the last step, as far as sensors measure them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MeasuredForces {
    /// Of all [`actuators`](super::actuators), N or N m.
    pub actuators: Vec<f64>,
    /// Of contacts.
    pub contacts: Vec<NormalForce>,
}

/// What a sensor measures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SensorKind {
    /// The sum of the normal forces on a body whose lines of action, from the contact outward, meet a zone,
    /// N.
    Touch {
        /// The frame of the zone.
        of: BodyFrame,
        /// The zone.
        zone: Zone,
    },
    /// A coordinate of a joint, m or rad.
    JointPosition(Measured),
    /// Its rate, m/s or rad/s.
    JointVelocity(Measured),
    /// Mean force or moment of an actuator over the last step, times a factor, N or N m.
    Effort {
        /// Its place among all [`actuators`](super::actuators).
        actuator: usize,
        /// The factor.
        factor: f64,
    },
    /// Origin of a frame, m.
    Position(BodyFrame),
    /// Axes of a frame as a quaternion w, x, y, z.
    Orientation(BodyFrame),
    /// An axis of a frame, in world axes.
    AxisOf {
        /// The frame.
        of: BodyFrame,
        /// The axis.
        axis: Axis,
    },
    /// Velocity of the origin of a frame, in world axes or in its own, m/s.
    LinearVelocity {
        /// The frame.
        of: BodyFrame,
        /// Whether in its own axes.
        local: bool,
    },
    /// Angular velocity of a frame, in world axes or in its own, rad/s.
    AngularVelocity {
        /// The frame.
        of: BodyFrame,
        /// Whether in its own axes.
        local: bool,
    },
    /// A frame, seen from another one.
    Relative {
        /// The frame.
        of: BodyFrame,
        /// From where.
        from: BodyFrame,
        /// What of it.
        what: Seen,
    },
    /// Bodies that follow each other, in world axes.
    Of {
        /// The first.
        first: usize,
        /// How many.
        count: usize,
        /// What of them.
        what: Together,
    },
    /// The time, s.
    Time,
    /// Energy of the whole: kinetic, or in gravity, constant forces and springs, J.
    Energy {
        /// Which.
        kinetic: bool,
    },
}

impl SensorKind {
    /// What follows the name in each of its columns.
    pub fn suffixes(&self) -> &'static [&'static str] {
        match self {
            SensorKind::JointPosition(_)
            | SensorKind::JointVelocity(_)
            | SensorKind::Effort { .. }
            | SensorKind::Touch { .. }
            | SensorKind::Time
            | SensorKind::Energy { .. } => &[""],
            SensorKind::Orientation(_) | SensorKind::Relative { what: Seen::Orientation, .. } => {
                &[".w", ".x", ".y", ".z"]
            }
            SensorKind::Position(_)
            | SensorKind::AxisOf { .. }
            | SensorKind::LinearVelocity { .. }
            | SensorKind::AngularVelocity { .. }
            | SensorKind::Relative { .. }
            | SensorKind::Of { .. } => &[".x", ".y", ".z"],
        }
    }
}

/// Adds the numbers of all sensors of a world, with the forces of the last step.
pub fn read_sensors(world: &World, state: &WorldState, forces: &MeasuredForces, to: &mut Vec<f64>) {
    for sensor in &world.sensors {
        match sensor.kind {
            SensorKind::JointPosition(m) => {
                to.push(m.sign * coordinate_at(world, state, m.joint, m.coordinate)[0] + m.reference);
            }
            SensorKind::JointVelocity(m) => {
                to.push(m.sign * coordinate_at(world, state, m.joint, m.coordinate)[1]);
            }
            SensorKind::Effort { actuator, factor } => {
                to.push(factor * forces.actuators.get(actuator).copied().unwrap_or(0.0));
            }
            SensorKind::Touch { of, zone } => to.push(touch(state, &of, &zone, &forces.contacts)),
            SensorKind::Position(of) => to.extend(pose(state, &of).position.to_array()),
            SensorKind::Orientation(of) => {
                let q = pose(state, &of).rotation;
                to.extend([q.w, q.x, q.y, q.z]);
            }
            SensorKind::AxisOf { of, axis } => {
                to.extend((pose(state, &of).rotation * axis.vector()).to_array());
            }
            SensorKind::LinearVelocity { of, local } => {
                to.extend(in_axes(velocity(state, &of), &pose(state, &of), local));
            }
            SensorKind::Relative { of, from, what } => relative(state, &of, &from, what, to),
            SensorKind::Of { first, count, what } => {
                to.extend(together(world, state, first..first + count, what).to_array());
            }
            SensorKind::Time => to.push(state.t),
            SensorKind::Energy { kinetic: true } => to.push(kinetic_energy(world, state)),
            SensorKind::Energy { kinetic: false } => to.push(potential_energy(world, state)),
            SensorKind::AngularVelocity { of, local } => {
                let w = state.bodies[of.body].world_angular_velocity();
                to.extend(in_axes(w, &pose(state, &of), local));
            }
        }
    }
}

/// The sum of the normal forces that are felt in a zone.
fn touch(state: &WorldState, of: &BodyFrame, zone: &Zone, contacts: &[NormalForce]) -> f64 {
    let at = pose(state, of);
    let felt = |contact: &&NormalForce| {
        let Some(side) = contact.bodies.iter().position(|&body| body == of.body) else { return false };
        let outward = if side == 0 { contact.normal } else { -contact.normal };
        zone.is_met(at.local_point(contact.point), at.local_vector(outward))
    };
    contacts.iter().filter(felt).map(|contact| contact.force).sum()
}

impl Zone {
    /// Whether it is met on the way from p along d.
    fn is_met(&self, p: DVec3, d: DVec3) -> bool {
        let onward = Some([0.0, f64::INFINITY]);
        let ball = |radius: f64, p: DVec3| within(onward, p, d, radius).is_some();
        let cylinder = |radius: f64, half_height: f64| {
            let across = DVec3::new(1.0, 1.0, 0.0);
            between(within(onward, p * across, d * across, radius), p.z, d.z, half_height).is_some()
        };
        match *self {
            Zone::Box { half_extents } => {
                (0..3).fold(onward, |way, k| between(way, p[k], d[k], half_extents[k])).is_some()
            }
            Zone::Ellipsoid { half_axes } => within(onward, p / half_axes, d / half_axes, 1.0).is_some(),
            Zone::Cylinder { radius, half_height } => cylinder(radius, half_height),
            Zone::Capsule { radius, half_height } => {
                let end = half_height * DVec3::Z;
                cylinder(radius, half_height) || ball(radius, p - end) || ball(radius, p + end)
            }
        }
    }
}

/// The part of a way in which |p + t d| ≤ half; `None` for none.
fn between(way: Option<[f64; 2]>, p: f64, d: f64, half: f64) -> Option<[f64; 2]> {
    within(way, p * DVec3::X, d * DVec3::X, half)
}

/// The part of a way in which ‖p + t d‖ ≤ radius.
fn within(way: Option<[f64; 2]>, p: DVec3, d: DVec3, radius: f64) -> Option<[f64; 2]> {
    let [from, to] = way?;
    let (a, b, c) = (d.dot(d), p.dot(d), p.dot(p) - radius * radius);
    if a == 0.0 {
        return way.filter(|_| c <= 0.0);
    }
    let square = b * b - a * c;
    if square < 0.0 {
        return None;
    }
    let root = square.sqrt();
    let [from, to] = [from.max((-b - root) / a), to.min((root - b) / a)];
    (from <= to).then_some([from, to])
}

/// Where a frame stands.
fn pose(state: &WorldState, of: &BodyFrame) -> Pose {
    state.bodies[of.body].pose.compose(&of.frame)
}

/// The velocity of the origin of a frame, in world axes.
fn velocity(state: &WorldState, of: &BodyFrame) -> DVec3 {
    let s = &state.bodies[of.body];
    let arm = pose(state, of).position - s.pose.position;
    s.velocity + s.world_angular_velocity().cross(arm)
}

fn relative(state: &WorldState, of: &BodyFrame, from: &BodyFrame, what: Seen, to: &mut Vec<f64>) {
    let (at, seen) = (pose(state, of), pose(state, from));
    let turning = |frame: &BodyFrame| state.bodies[frame.body].world_angular_velocity();
    let (omega, away) = (turning(of) - turning(from), at.position - seen.position);
    to.extend(match what {
        Seen::Orientation => {
            let q = seen.rotation.conjugate() * at.rotation;
            return to.extend([q.w, q.x, q.y, q.z]);
        }
        Seen::Position => seen.local_vector(away).to_array(),
        Seen::AxisOf(axis) => seen.local_vector(at.rotation * axis.vector()).to_array(),
        Seen::LinearVelocity => {
            let carried = velocity(state, from) + turning(from).cross(away);
            seen.local_vector(velocity(state, of) - carried).to_array()
        }
        Seen::AngularVelocity => seen.local_vector(omega).to_array(),
        Seen::OwnAngularVelocity => at.local_vector(omega).to_array(),
    });
}

/// Centre of mass, its velocity or the angular momentum about it of those of the bodies that move.
fn together(world: &World, state: &WorldState, bodies: Range<usize>, what: Together) -> DVec3 {
    let all =
        || bodies.clone().filter(|&b| !world.bodies[b].fixed).map(|b| (&world.bodies[b], &state.bodies[b]));
    let mass: f64 = all().map(|(body, _)| body.mass).sum();
    let mean = |of: fn(&BodyState) -> DVec3| all().map(|(b, s)| b.mass * of(s)).sum::<DVec3>() / mass;
    match what {
        _ if mass <= 0.0 => DVec3::ZERO,
        Together::Centre => mean(|s| s.pose.position),
        Together::Velocity => mean(|s| s.velocity),
        Together::AngularMomentum => {
            let (centre, v) = (mean(|s| s.pose.position), mean(|s| s.velocity));
            let of = |(body, s): (&Body, &BodyState)| {
                let arm = s.pose.position - centre;
                s.pose.rotation * (body.inertia * s.angular_velocity)
                    + arm.cross(body.mass * (s.velocity - v))
            };
            all().map(of).sum()
        }
    }
}

fn in_axes(v: DVec3, of: &Pose, local: bool) -> [f64; 3] {
    if local { of.local_vector(v).to_array() } else { v.to_array() }
}

impl World {
    /// Sensors of the coordinates of its first joints, their rates, and the efforts of all actuators.
    pub fn usual_sensors(&self, joints: usize) -> Vec<Sensor> {
        let measured = self.joints[..joints].iter().enumerate().filter_map(|(joint, of)| {
            let coordinate = of.kind.coordinate()?;
            Some((of.name.as_str(), Measured { joint, coordinate, sign: 1.0, reference: 0.0 }))
        });
        let mut sensors = joint_sensors(measured);
        sensors.extend(effort_sensors(self));
        sensors
    }
}

/// Sensors of a coordinate and its rate, by the name of its joint.
pub fn joint_sensors<'a>(joints: impl IntoIterator<Item = (&'a str, Measured)>) -> Vec<Sensor> {
    let of = |(name, m): (&str, Measured)| {
        [("position", SensorKind::JointPosition(m)), ("velocity", SensorKind::JointVelocity(m))]
            .map(|(what, kind)| Sensor { name: format!("{name}.{what}"), kind })
    };
    joints.into_iter().flat_map(of).collect()
}

/// A sensor of the effort of every actuator.
pub fn effort_sensors(world: &World) -> Vec<Sensor> {
    let of = |(actuator, named): (usize, super::Actuator)| Sensor {
        name: format!("{}.effort", named.name),
        kind: SensorKind::Effort { actuator, factor: 1.0 },
    };
    super::actuators(world).into_iter().enumerate().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Body, Joint, JointKind, Scene};
    use glam::DQuat;
    use std::f64::consts::FRAC_PI_2;

    #[test]
    fn an_arm_that_turns_reads_its_angle_and_the_motion_of_its_tip() {
        let mut scene = Scene::default();
        scene.add(Body::ground());
        scene.add(Body::block("arm", 1.0, DVec3::new(0.5, 0.1, 0.1)).at(DVec3::ZERO));
        let World { joints, .. } = &mut scene.world;
        joints.push(Joint::new("hinge", JointKind::Revolute, [0, 1], [Pose::IDENTITY; 2]));
        let turned = DQuat::from_axis_angle(DVec3::Z, FRAC_PI_2);
        scene.state.bodies[1].pose.rotation = turned;
        scene.state.bodies[1].angular_velocity = 2.0 * DVec3::Z;
        scene.state.coordinates = vec![0.0];
        let measured =
            Measured { joint: 0, coordinate: Coordinate::About(Axis::Z), sign: -1.0, reference: 0.5 };
        let of = BodyFrame { body: 1, frame: Pose { position: 0.5 * DVec3::X, ..Pose::IDENTITY } };
        let ground = BodyFrame { body: 0, frame: Pose::IDENTITY };
        let named = |kind| Sensor { name: "tip".into(), kind };
        scene.world.sensors = joint_sensors([("hinge", measured)]);
        scene.world.sensors.extend([
            named(SensorKind::Position(of)),
            named(SensorKind::Orientation(of)),
            named(SensorKind::LinearVelocity { of, local: false }),
            named(SensorKind::LinearVelocity { of, local: true }),
            named(SensorKind::AngularVelocity { of, local: true }),
            named(SensorKind::Effort { actuator: 0, factor: 2.0 }),
            named(SensorKind::Relative { of: ground, from: of, what: Seen::Position }),
            named(SensorKind::Relative { of: ground, from: of, what: Seen::LinearVelocity }),
            named(SensorKind::Relative { of, from: ground, what: Seen::LinearVelocity }),
            named(SensorKind::Relative { of: ground, from: of, what: Seen::AngularVelocity }),
            named(SensorKind::Of { first: 0, count: 2, what: Together::Centre }),
            named(SensorKind::Of { first: 0, count: 2, what: Together::AngularMomentum }),
            named(SensorKind::Time),
        ]);
        let mut found = vec![];
        let forces = MeasuredForces { actuators: vec![1.5], contacts: vec![] };
        read_sensors(&scene.world, &scene.state, &forces, &mut found);
        let columns: usize = scene.world.sensors.iter().map(|s| s.kind.suffixes().len()).sum();
        assert_eq!(found.len(), columns);
        let half = 0.5_f64.sqrt();
        // The tip is at 0.5 y and moves along −x with 1 m/s, which is its own y axis.
        let expected = [
            [0.5 - FRAC_PI_2, -2.0].as_slice(),
            &[0.0, 0.5, 0.0],
            &[half, 0.0, 0.0, half],
            &[-1.0, 0.0, 0.0],
            &[0.0, 1.0, 0.0],
            &[0.0, 0.0, 2.0],
            &[3.0],
            // From the tip, whose x axis is along y: the ground lies behind it, and for who turns with it at
            // rest.
            &[-0.5, 0.0, 0.0],
            &[0.0, 0.0, 0.0],
            &[-1.0, 0.0, 0.0],
            &[0.0, 0.0, -2.0],
            &[0.0, 0.0, 0.0],
            &[0.0, 0.0, 2.0 * scene.world.bodies[1].inertia.z],
            &[scene.state.t],
        ]
        .concat();
        let near = found.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-14);
        assert!(near, "{found:?}");
    }

    #[test]
    fn zones_are_met_where_lines_through_them_say() {
        let cylinder = Zone::Cylinder { radius: 1.0, half_height: 2.0 };
        let capsule = Zone::Capsule { radius: 1.0, half_height: 2.0 };
        let block = Zone::Box { half_extents: DVec3::new(1.0, 2.0, 3.0) };
        let ball = Zone::Ellipsoid { half_axes: DVec3::new(1.0, 2.0, 3.0) };
        let met = |zone: Zone, p: [f64; 3], d: DVec3| zone.is_met(p.into(), d);
        for zone in [cylinder, capsule, block, ball] {
            // From within; from before it and from behind it.
            assert!(met(zone, [0.1, 0.2, 0.3], -DVec3::Y) && met(zone, [0.0, 5.0, 0.0], -DVec3::Y));
            assert!(!met(zone, [0.0, 5.0, 0.0], DVec3::Y) && !met(zone, [1.5, 5.0, 0.0], -DVec3::Y));
        }
        // A line across, 2.5 up: over the cylinder, through the end of the capsule within √(1 − ½²) of it.
        let far = DVec3::new(-9.0, 0.8, 2.5);
        assert!(!cylinder.is_met(far, DVec3::X) && capsule.is_met(far, DVec3::X));
        assert!(!capsule.is_met(far + 0.1 * DVec3::Y, DVec3::X) && block.is_met(far, DVec3::X));
        // (y/2)² + (z/3)² at the ellipsoid.
        let edge = 2.0 * (1.0 - (2.5_f64 / 3.0).powi(2)).sqrt();
        let across = |y: f64| ball.is_met(DVec3::new(-9.0, y, 2.5), DVec3::X);
        assert!(across(edge - 1e-9) && !across(edge + 1e-9));
    }
}
