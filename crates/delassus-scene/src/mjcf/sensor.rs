//! Sensors of MJCF files that have a mechanical meaning.
//!
//! Every joint with a name is recorded by its position and velocity as the file counts them, every actuator
//! by its effort; `<sensor>`s are recorded under their names.

use std::collections::BTreeMap;

use super::Model;
use super::keyframe::Moving;
use super::unread::list_unread;
use crate::diagnostic::Result;
use crate::xml::Node;
use delassus::formula::clip;
use delassus::world::{
    Actuator, Axis, Body, BodyFrame, JointKind, Measured, Pose, Seen, Sensor, SensorKind, TendonPart,
    TendonTerm, Together, World, actuators, effort_sensors, joint_sensors,
};

/// Attributes of sensors that are read, or do not change what is measured.
const SENSOR: [&str; 13] = [
    "name", "joint", "tendon", "actuator", "site", "body", "objtype", "objname", "reftype", "refname",
    "noise", "user", "nsample",
];

impl<'a> Model<'a> {
    /// The sensors of a world that was made of this model; `<sensor>` sections among these.
    pub(super) fn sensors(&mut self, sections: &[Node<'a>], world: &World) -> Result<Vec<Sensor>> {
        let mut joints: Vec<(&str, Measured)> =
            self.names.motions.iter().map(|(name, motion)| (*name, motion.measured())).collect();
        joints.sort_by_key(|(_, measured)| measured.joint);
        let mut sensors = joint_sensors(joints);
        sensors.extend(effort_sensors(world));
        let names = actuators(world).into_iter().enumerate();
        let places: BTreeMap<String, usize> = names.map(|(place, actuator)| (actuator.name, place)).collect();
        for node in sections.iter().flat_map(|section| section.children()) {
            list_unread(&mut self.source, node, &SENSOR);
            match self.sensor(node, world, &places)? {
                Some(kind) => {
                    let usual = || format!("{} {}", node.tag(), sensors.len());
                    let name = node.attribute("name").map_or_else(usual, str::to_string);
                    sensors.push(Sensor { name, kind });
                }
                None => {
                    self.source.note(node, format!("<{}> of <sensor>: it is not recorded", clip(node.tag())))
                }
            }
        }
        Ok(sensors)
    }

    /// What a `<sensor>` measures; `None` where that is not known here.
    // Long: one kind after the other.
    fn sensor(
        &self,
        node: Node<'a>,
        world: &World,
        actuators: &BTreeMap<String, usize>,
    ) -> Result<Option<SensorKind>> {
        let bodies = &world.bodies[..];
        Ok(match node.tag() {
            "jointpos" => Some(SensorKind::JointPosition(self.motion(node, "joint")?.measured())),
            "jointvel" => Some(SensorKind::JointVelocity(self.motion(node, "joint")?.measured())),
            "tendonpos" => self
                .tendon_of(node, "tendon")?
                .map(|tendon| SensorKind::JointPosition(tendon.motion.measured())),
            "tendonvel" => self
                .tendon_of(node, "tendon")?
                .map(|tendon| SensorKind::JointVelocity(tendon.motion.measured())),
            "actuatorpos" => self.driven_length(node)?.map(SensorKind::JointPosition),
            "actuatorvel" => self.driven_length(node)?.map(SensorKind::JointVelocity),
            "actuatorfrc" => {
                let name = self.source.required(node, "actuator", "the name of an actuator")?;
                let factor = self.actuation.transmissions.get(name).filter(|factor| **factor != 0.0);
                actuators
                    .get(name)
                    .zip(factor)
                    .map(|(&actuator, factor)| SensorKind::Effort { actuator, factor: 1.0 / factor })
            }
            "ballquat" => self.ball(node, world, Seen::Orientation)?,
            "ballangvel" => self.ball(node, world, Seen::OwnAngularVelocity)?,
            "jointactuatorfrc" => self.force_on_joint(node, world)?,
            "subtreecom" => self.subtree(node, bodies, Together::Centre)?,
            "subtreelinvel" => self.subtree(node, bodies, Together::Velocity)?,
            "subtreeangmom" => self.subtree(node, bodies, Together::AngularMomentum)?,
            "clock" => Some(SensorKind::Time),
            "e_kinetic" => Some(SensorKind::Energy { kinetic: true }),
            "e_potential" => Some(SensorKind::Energy { kinetic: false }),
            "touch" => {
                let of = self.frame_of(node, bodies)?;
                let zone = node.attribute("site").and_then(|name| self.names.zones.get(name));
                zone.map(|&zone| SensorKind::Touch { of, zone })
            }
            "gyro" => Some(SensorKind::AngularVelocity { of: self.frame_of(node, bodies)?, local: true }),
            "velocimeter" => {
                Some(SensorKind::LinearVelocity { of: self.frame_of(node, bodies)?, local: true })
            }
            "framepos" | "framequat" | "framelinvel" | "frameangvel" | "framexaxis" | "frameyaxis"
            | "framezaxis"
                if ["site", "body", "xbody"].contains(&node.attribute("objtype").unwrap_or_default()) =>
            {
                let of = self.frame_of(node, bodies)?;
                if node.has_attribute("reftype") || node.has_attribute("refname") {
                    let from = self.reference_of(node, bodies)?;
                    let what = match node.tag() {
                        "framepos" => Seen::Position,
                        "framequat" => Seen::Orientation,
                        "framelinvel" => Seen::LinearVelocity,
                        "framexaxis" => Seen::AxisOf(Axis::X),
                        "frameyaxis" => Seen::AxisOf(Axis::Y),
                        "framezaxis" => Seen::AxisOf(Axis::Z),
                        _ => Seen::AngularVelocity,
                    };
                    return Ok(from.map(|from| SensorKind::Relative { of, from, what }));
                }
                Some(match node.tag() {
                    "framepos" => SensorKind::Position(of),
                    "framequat" => SensorKind::Orientation(of),
                    "framelinvel" => SensorKind::LinearVelocity { of, local: false },
                    "framexaxis" => SensorKind::AxisOf { of, axis: Axis::X },
                    "frameyaxis" => SensorKind::AxisOf { of, axis: Axis::Y },
                    "framezaxis" => SensorKind::AxisOf { of, axis: Axis::Z },
                    _ => SensorKind::AngularVelocity { of, local: false },
                })
            }
            _ => None,
        })
    }

    /// What is seen of the child of a ball joint from its parent; a quaternion of one where the file has it.
    fn ball(&self, node: Node<'a>, world: &World, what: Seen) -> Result<Option<SensorKind>> {
        let name = self.source.required(node, "joint", "the name of a ball joint")?;
        let joint = self.names.motions.get(name).map(|motion| &world.joints[motion.joint]);
        let Some(joint) = joint.filter(|j| matches!(j.kind, JointKind::Ball)) else { return Ok(None) };
        let [a, b] = joint.bodies;
        // The axes of the file on the child, and where they stand on the parent when the joint is at rest.
        let own = world.bodies[b].frame;
        let at_rest = joint.frames[0].compose(&joint.frames[1].inverse().compose(&own));
        let (of, from) = (BodyFrame { body: b, frame: own }, BodyFrame { body: a, frame: at_rest });
        Ok(Some(SensorKind::Relative { of, from, what }))
    }

    /// The force of the one actuator on a joint, in its sense in the file.
    fn force_on_joint(&self, node: Node<'a>, world: &World) -> Result<Option<SensorKind>> {
        let motion = self.motion(node, "joint")?;
        let all = actuators(world);
        let moves = |terms: &[TendonTerm]| {
            let is_this = |part: &TendonPart| matches!(part, TendonPart::Coordinate { joint, .. } if *joint == motion.joint);
            terms.iter().any(|term| is_this(&term.part))
        };
        let on = |actuator: &Actuator| match &world.joints[actuator.joint].kind {
            JointKind::Tendon(terms) => moves(terms),
            _ => {
                let action = &world.joints[actuator.joint].actions[actuator.action];
                actuator.joint == motion.joint && action.coordinate == motion.coordinate
            }
        };
        let found: Vec<usize> = (0..all.len()).filter(|&i| on(&all[i])).collect();
        let is_direct = |i: usize| all[i].joint == motion.joint;
        Ok(match found[..] {
            [one] if is_direct(one) => Some(SensorKind::Effort { actuator: one, factor: motion.sign }),
            _ => None,
        })
    }

    /// A body with all that it carries.
    fn subtree(&self, node: Node<'a>, bodies: &[Body], what: Together) -> Result<Option<SensorKind>> {
        let name = self.source.required(node, "body", "the name of a body")?;
        let (first, _) = self.place_of(node, "body", false)?;
        // One that is part of another has no bodies of its own; what stands still has no mass here.
        let whole = bodies[first].name == name && !bodies[first].fixed;
        let carried = |moving: &&Moving<'a>| moving.draft > first && moving.parent < first;
        let next = self.start.moving.iter().find(carried).map(|moving| moving.draft);
        let end = next.unwrap_or(bodies.len());
        let fixed = bodies[first..end].iter().any(|body| body.fixed);
        Ok((whole && !fixed).then(|| SensorKind::Of { first, count: end - first, what }))
    }

    /// The frame that `reftype` and `refname` give; `None` for one of a kind not known here.
    fn reference_of(&self, node: Node<'a>, bodies: &[Body]) -> Result<Option<BodyFrame>> {
        let kind = node.attribute("reftype").unwrap_or_default();
        if !["site", "body", "xbody"].contains(&kind) {
            return Ok(None);
        }
        let (body, on_draft) = self.place_of(node, "refname", kind == "site")?;
        let frame = if kind == "body" { Pose::IDENTITY } else { bodies[body].frame.compose(&on_draft) };
        Ok(Some(BodyFrame { body, frame }))
    }

    /// The length that an actuator acts along: gear · (value of a joint or tendon).
    fn driven_length(&self, node: Node<'a>) -> Result<Option<Measured>> {
        let name = self.source.required(node, "actuator", "the name of an actuator")?;
        Ok(self.actuation.lengths.get(name).copied())
    }

    /// The frame that a sensor is on. That of a `body` is its centre of mass, as far as it was not merged.
    fn frame_of(&self, node: Node<'a>, bodies: &[Body]) -> Result<BodyFrame> {
        let is_on_site = node.attribute("objtype").is_none_or(|kind| kind == "site");
        let key = if node.has_attribute("objtype") { "objname" } else { "site" };
        let (body, on_draft) = self.place_of(node, key, is_on_site)?;
        let frame = match node.attribute("objtype") {
            Some("body") => Pose::IDENTITY,
            _ => bodies[body].frame.compose(&on_draft),
        };
        Ok(BodyFrame { body, frame })
    }
}
