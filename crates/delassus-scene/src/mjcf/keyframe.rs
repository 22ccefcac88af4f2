//! Keyframes of MJCF files: where a model starts, and with which controls.
//!
//! ```text
//! x_child = x_parent · (place of the body) · (its joints at q, one after the other)
//! ```
//!
//! `qpos` has seven numbers for a free joint (position and quaternion), four for a ball, one for a hinge or
//! slide; `qvel` six, three and one. Joints stand in the order of the file.

use glam::{DQuat, DVec3};

use super::Model;
use super::joint::{FileJoint, Kind};
use crate::diagnostic::Result;
use crate::xml::{Node, finite_numbers};
use delassus::formula::clip;
use delassus::world::Pose;

/// A draft with joints: what it hangs on, where it stands there, its joints, and a draft between each two of
/// them where they did not become one.
pub(super) struct Moving<'a> {
    pub(super) draft: usize,
    pub(super) parent: usize,
    pub(super) on_parent: Pose,
    pub(super) joints: Vec<FileJoint<'a>>,
    pub(super) links: Vec<usize>,
}

/// Where the model starts.
#[derive(Default)]
pub(super) struct Start<'a> {
    pub(super) keyframe: Keyframe<'a>,
    /// Drafts with joints, in the order of the file.
    pub(super) moving: Vec<Moving<'a>>,
    /// Hinges by their names, and the angles of the keyframe.
    pub(super) angles: Vec<(&'a str, f64)>,
}

/// A keyframe.
#[derive(Default)]
pub(super) struct Keyframe<'a> {
    node: Option<Node<'a>>,
    positions: Option<Vec<f64>>,
    velocities: Option<Vec<f64>>,
    controls: Vec<f64>,
    activations: Vec<f64>,
}

/// Velocity of the origin of a draft and angular velocity, world axes.
#[derive(Clone, Copy, Default)]
pub(super) struct Twist {
    pub(super) linear: DVec3,
    pub(super) angular: DVec3,
}

impl Keyframe<'_> {
    /// The control of an actuator, by its number.
    pub(super) fn control(&self, actuator: usize) -> Option<f64> {
        self.controls.get(actuator).copied()
    }

    /// The activation of an actuator, by its number among those that have one.
    pub(super) fn activation(&self, number: usize) -> Option<f64> {
        self.activations.get(number).copied()
    }
}

impl<'a> Model<'a> {
    /// The `<key>` that was asked for, by its name or its number from 0.
    pub(super) fn read_keyframe(&mut self, root: Node<'a>) -> Result<()> {
        let Some(name) = &self.source.options.keyframe else { return Ok(()) };
        let sections = root.children().filter(|c| c.tag() == "keyframe");
        let keys: Vec<Node<'a>> = sections.flat_map(|s| s.children()).filter(|c| c.tag() == "key").collect();
        let by_name = keys.iter().find(|key| key.attribute("name") == Some(name));
        let by_number = || name.parse::<usize>().ok().and_then(|k| keys.get(k));
        let Some(&key) = by_name.or_else(by_number) else {
            return self.not_in_file(root, "keyframe", name, keys.iter().filter_map(|k| k.attribute("name")));
        };
        let list = |name: &str| match key.attribute(name).map(finite_numbers) {
            None => Ok(None),
            Some(Some(list)) => Ok(Some(list)),
            Some(None) => self.source.attribute(key, name, "something else", "finite numbers"),
        };
        self.start.keyframe = Keyframe {
            node: Some(key),
            positions: list("qpos")?,
            velocities: list("qvel")?,
            controls: list("ctrl")?.unwrap_or_default(),
            activations: list("act")?.unwrap_or_default(),
        };
        for unread in ["mpos", "mquat"].iter().filter(|a| key.has_attribute(a)) {
            self.source.note(key, format!("`{unread}` of <key>"));
        }
        Ok(())
    }

    /// Says that there are keyframes, and how to start from one.
    pub(super) fn note_keyframes(&mut self, section: Node<'a>) {
        let name = section.children().find_map(|key| key.attribute("name")).unwrap_or("0");
        let what = format!(
            "<keyframe>: the model starts from its joints at zero; `--keyframe {}` starts from one",
            clip(name)
        );
        self.source.note(section, what);
    }

    /// Moves drafts to where the keyframe has them and returns their velocities.
    pub(super) fn move_to_keyframe(&mut self) -> Result<Vec<Twist>> {
        let mut twists = vec![Twist::default(); self.drafts.len()];
        let Some(node) = self.start.keyframe.node else { return Ok(twists) };
        let sizes = |kind: Kind| match kind {
            Kind::Free => (7, 6),
            Kind::Ball => (4, 3),
            Kind::Hinge | Kind::Slide => (1, 1),
        };
        let joints = || self.start.moving.iter().flat_map(|m| &m.joints).map(|j| sizes(j.kind));
        let counts = joints().fold((0, 0), |(q, v), (a, b)| (q + a, v + b));
        let given = [
            ("qpos", &self.start.keyframe.positions, counts.0),
            ("qvel", &self.start.keyframe.velocities, counts.1),
        ];
        for (name, list, count) in given {
            if list.as_ref().is_some_and(|list| list.len() != count) {
                let found = format!("{} numbers", list.as_ref().map_or(0, Vec::len));
                let expected = "as many numbers as its joints have coordinates";
                return self.source.attribute(node, name, &found, expected);
            }
        }
        let (mut q, mut v) =
            (self.start.keyframe.positions.as_deref(), self.start.keyframe.velocities.as_deref());
        let mut places: Vec<Pose> = self.drafts.iter().map(|draft| draft.place).collect();
        let mut angles = Vec::new();
        for moving in &self.start.moving {
            let mut pose = places[moving.parent].compose(&moving.on_parent);
            let above = twists[moving.parent];
            let arm = pose.position - places[moving.parent].position;
            let mut twist = Twist { linear: above.linear + above.angular.cross(arm), ..above };
            for (k, joint) in moving.joints.iter().enumerate() {
                let (positions, velocities) = sizes(joint.kind);
                let take = |list: &mut Option<&'_ [f64]>, n: usize| {
                    let (own, rest) = list.as_ref()?.split_at(n);
                    let own = own.to_vec();
                    *list = list.as_ref().map(|_| rest);
                    Some(own)
                };
                let (at, rate) = (take(&mut q, positions), take(&mut v, velocities));
                if let (Kind::Hinge, Some(name), Some(q)) = (joint.kind, joint.name, &at) {
                    angles.push((name, q[0]));
                }
                (pose, twist) = joint.moved(pose, twist, at.as_deref(), rate.as_deref());
                if let Some(&link) = moving.links.get(k) {
                    (places[link], twists[link]) = (pose, twist);
                }
            }
            (places[moving.draft], twists[moving.draft]) = (pose, twist);
        }
        self.drafts.iter_mut().zip(places).for_each(|(draft, place)| draft.place = place);
        self.start.angles = angles;
        Ok(twists)
    }
}

impl FileJoint<'_> {
    /// The pose and velocity of a body after this joint, from those before it.
    fn moved(&self, pose: Pose, twist: Twist, at: Option<&[f64]>, rate: Option<&[f64]>) -> (Pose, Twist) {
        let quaternion = |q: &[f64]| {
            let q = DQuat::from_xyzw(q[1], q[2], q[3], q[0]);
            if q.length() > 0.0 { q.normalize() } else { DQuat::IDENTITY }
        };
        let rate3 = |k: usize| rate.map_or(DVec3::ZERO, |r| DVec3::from_slice(&r[k..k + 3]));
        let rate1 = rate.map_or(0.0, |r| r[0]);
        if self.kind == Kind::Free {
            let pose =
                at.map_or(pose, |q| Pose { position: DVec3::from_slice(q), rotation: quaternion(&q[3..]) });
            let angular = if rate.is_some() { pose.rotation * rate3(3) } else { DVec3::ZERO };
            return (pose, Twist { linear: rate.map_or(DVec3::ZERO, |_| rate3(0)), angular });
        }
        let axis = pose.rotation * self.axis;
        if self.kind == Kind::Slide {
            let shift = at.map_or(0.0, |q| q[0] - self.reference);
            let position = pose.position + axis * shift;
            let linear = twist.linear + twist.angular.cross(axis * shift) + axis * rate1;
            return (Pose { position, ..pose }, Twist { linear, ..twist });
        }
        let anchor = pose.point(self.anchor);
        let turn = match (self.kind, at) {
            (Kind::Ball, Some(q)) => quaternion(q),
            (_, Some(q)) => DQuat::from_axis_angle(self.axis, q[0] - self.reference),
            (_, None) => DQuat::IDENTITY,
        };
        let rotation = (pose.rotation * turn).normalize();
        let moved = Pose { position: anchor - rotation * self.anchor, rotation };
        let relative = match self.kind {
            Kind::Ball if rate.is_some() => rotation * rate3(0),
            Kind::Ball => DVec3::ZERO,
            _ => axis * rate1,
        };
        let at_anchor = twist.linear + twist.angular.cross(anchor - pose.position);
        let angular = twist.angular + relative;
        (moved, Twist { linear: at_anchor + angular.cross(moved.position - anchor), angular })
    }
}
