//! Sensors of MJCF files that have a mechanical meaning.
//!
//! Every joint with a name is recorded by its position and velocity as the file counts them, every actuator
//! by its effort; `<sensor>`s are recorded under their names.

use std::collections::BTreeMap;

use super::Model;
use super::unread::list_unread;
use crate::diagnostic::Result;
use crate::xml::Node;
use delassus::formula::clip;
use delassus::world::{
    Axis, Body, BodyFrame, Measured, Pose, Sensor, SensorKind, World, actuators, effort_sensors,
    joint_sensors,
};

/// Attributes of sensors that are read, or do not change what is measured.
const SENSOR: [&str; 10] =
    ["name", "joint", "tendon", "actuator", "site", "objtype", "objname", "noise", "user", "nsample"];

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
            match self.sensor(node, &world.bodies, &places)? {
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
    fn sensor(
        &self,
        node: Node<'a>,
        bodies: &[Body],
        actuators: &BTreeMap<String, usize>,
    ) -> Result<Option<SensorKind>> {
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
            "gyro" => Some(SensorKind::AngularVelocity { of: self.frame_of(node, bodies)?, local: true }),
            "velocimeter" => {
                Some(SensorKind::LinearVelocity { of: self.frame_of(node, bodies)?, local: true })
            }
            "framepos" | "framequat" | "framelinvel" | "frameangvel" | "framexaxis" | "frameyaxis"
            | "framezaxis"
                if ["site", "body", "xbody"].contains(&node.attribute("objtype").unwrap_or_default()) =>
            {
                let of = self.frame_of(node, bodies)?;
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
