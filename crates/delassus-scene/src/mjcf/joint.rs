//! Joints of MJCF files.
//!
//! The joints of a body follow each other from the body around it: the second moves with the first. Where one
//! joint of ours allows the same motions it stands for all of them:
//!
//! | joints of one body | become |
//! |---|---|
//! | hinge, slide, ball | revolute, prismatic, ball |
//! | two hinges at one point, axes perpendicular | universal |
//! | three hinges at one point, axes perpendicular, no friction | ball, with one angle after the other as coordinates |
//! | hinge and slide along one axis | cylindrical |
//! | two or three slides, axes perpendicular | generic |
//! | two slides, then a hinge across both | planar |
//! | others | a chain, with a body of 1/1000 of the mass between two joints |

use glam::DVec3;

use super::Model;
use super::attributes::{Element, direction};
use super::draft::Draft;
use super::unread::list_unread;
use crate::diagnostic::{Result, WorldErrorKind};
use crate::world_file::frame;
use crate::xml::Node;
use delassus::world::{
    Action, ActionKind, Axis, Coordinate, Joint, JointFriction, JointKind, Measured, Pose,
};

/// Attributes of `<joint>` that are read.
pub(super) const JOINT: [&str; 14] = [
    "type",
    "pos",
    "axis",
    "range",
    "limited",
    "stiffness",
    "damping",
    "springdamper",
    "springref",
    "ref",
    "frictionloss",
    "armature",
    "actuatorfrcrange",
    "actuatorfrclimited",
];
/// How far axes may be from perpendicular (cosine): six digits in a file.
const PERPENDICULAR: f64 = 1e-5;
/// How far two anchors may be from each other to be one, m.
const ONE_POINT: f64 = 1e-9;

/// What a joint of the file is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Hinge,
    Slide,
    Ball,
    Free,
}

/// A joint of the file.
pub(super) struct FileJoint<'a> {
    element: Element<'a>,
    pub(super) name: Option<&'a str>,
    pub(super) kind: Kind,
    /// In the axes of the body.
    pub(super) anchor: DVec3,
    pub(super) axis: DVec3,
    limits: Option<[f64; 2]>,
    /// `range`, whether it is a limit or not.
    pub(super) range: Option<[f64; 2]>,
    stiffness: f64,
    pub(super) damping: f64,
    /// A time constant and a ratio to critical damping, from which its spring and damper follow.
    pub(super) spring_damper: Option<[f64; 2]>,
    /// Where its spring has no force, and the value of the coordinate in the position of the file.
    spring_rest: f64,
    pub(super) reference: f64,
    friction: f64,
    pub(super) armature: f64,
    force_range: Option<[f64; 2]>,
}

impl<'a> FileJoint<'a> {
    pub(super) fn node(&self) -> Node<'a> {
        self.element.node
    }
}

/// A coordinate of a joint by the name of the file: sign · (coordinate) + reference is its value there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Motion {
    pub(super) joint: usize,
    pub(super) coordinate: Coordinate,
    pub(super) sign: f64,
    pub(super) reference: f64,
    /// Its value where its spring has no force.
    pub(super) spring_rest: f64,
    /// What actuators may give to it, in its sense in the file.
    pub(super) force_range: Option<[f64; 2]>,
}

impl Motion {
    /// The same as a sensor reads it.
    pub(super) fn measured(&self) -> Measured {
        let Motion { joint, coordinate, sign, reference, .. } = *self;
        Measured { joint, coordinate, sign, reference }
    }
}

/// One joint of ours for several of the file, in the axes of the body.
struct Merged {
    kind: JointKind,
    frame: Pose,
    /// The coordinate of each joint of the file, and its sign.
    coordinates: Vec<(Coordinate, f64)>,
}

impl<'a> Model<'a> {
    /// The joints of a body, also those in frames.
    pub(super) fn joints_of(
        &mut self,
        node: Node<'a>,
        at: Pose,
        class: usize,
        depth: usize,
    ) -> Result<Vec<FileJoint<'a>>> {
        if depth > crate::mjcf::attributes::MAX_DEPTH {
            return crate::mjcf::attributes::too_deep(&self.source, node);
        }
        let mut joints = Vec::new();
        for child in node.children() {
            match child.tag() {
                "joint" | "freejoint" => joints.push(self.file_joint(child, &at, class)?),
                "frame" => {
                    let class = self.defaults.class(&self.source, child, "childclass", class)?;
                    let element = self.defaults.element(&self.source, child, class)?;
                    let pose = self.defaults.pose(&self.source, &self.compilers, element)?;
                    joints.extend(self.joints_of(child, at.compose(&pose), class, depth + 1)?);
                }
                _ => {}
            }
        }
        Ok(joints)
    }

    // Long: one attribute after the other.
    fn file_joint(&mut self, node: Node<'a>, at: &Pose, class: usize) -> Result<FileJoint<'a>> {
        const TYPES: &str = "hinge, slide, ball or free";
        list_unread(&mut self.source, node, &JOINT);
        let element = self.defaults.element(&self.source, node, class)?;
        let (source, defaults) = (&self.source, &self.defaults);
        let word = match node.tag() {
            "freejoint" => "free",
            _ => defaults.get(element, "type").map_or("hinge", |(word, _)| word),
        };
        let kind = match word {
            "hinge" => Kind::Hinge,
            "slide" => Kind::Slide,
            "ball" => Kind::Ball,
            "free" => Kind::Free,
            _ => return source.attribute(node, "type", &format!("`{word}`"), TYPES),
        };
        let anchor = at.point(defaults.numbers(source, element, "pos")?.map_or(DVec3::ZERO, DVec3::from));
        let axis = defaults.numbers(source, element, "axis")?.map_or(DVec3::Z, DVec3::from);
        let Some(axis) = direction(axis) else {
            return source.fail(node, WorldErrorKind::NoDirection { key: "axis".to_string() });
        };
        let unit = if kind == Kind::Hinge { self.compiler(node).angle } else { 1.0 };
        let range: Option<[f64; 2]> = defaults.numbers(source, element, "range")?;
        let limited = defaults
            .flag(source, element, "limited")?
            .unwrap_or(self.compiler(node).autolimits && range.is_some());
        let limited = limited && !self.disabled.contains("limit");
        let limits = match range.filter(|_| limited && kind != Kind::Free) {
            Some([low, high]) if low >= high => {
                let key = "range".to_string();
                return source.fail(node, WorldErrorKind::Limits { key, low, high });
            }
            Some(range) => Some(range.map(|x| x * unit)),
            None if limited && range.is_none() => {
                return source.attribute(node, "range", "missing", "two numbers, since `limited` is true");
            }
            None => None,
        };
        let off = |name: &str| self.disabled.contains(name) || self.disabled.contains("passive");
        let (off_spring, off_damper) = (off("spring"), off("damper"));
        let off_friction = self.disabled.contains("frictionloss");
        let tuned = defaults.list(source, element, "springdamper", [2, 2])?;
        let spring_damper = tuned.map(|list| [list[0], list[1]]).filter(|pair| pair.iter().all(|x| *x > 0.0));
        let mut joint = FileJoint {
            element,
            spring_damper,
            name: node.attribute("name").filter(|name| !name.is_empty()),
            kind,
            anchor,
            axis: at.rotation * axis,
            limits,
            range: range.map(|range| range.map(|x| x * unit)),
            stiffness: defaults.nonnegative(source, element, "stiffness", 0.0)?,
            damping: defaults.nonnegative(source, element, "damping", 0.0)?,
            spring_rest: defaults.number(source, element, "springref", 0.0)? * unit,
            reference: defaults.number(source, element, "ref", 0.0)? * unit,
            friction: defaults.nonnegative(source, element, "frictionloss", 0.0)?,
            armature: defaults.nonnegative(source, element, "armature", 0.0)?,
            force_range: self.range_of(element, "actuatorfrcrange", "actuatorfrclimited")?,
        };
        if off_spring || off_damper {
            joint.spring_damper = None;
        }
        if off_spring {
            joint.stiffness = 0.0;
        }
        if off_damper {
            joint.damping = 0.0;
        }
        if off_friction {
            joint.friction = 0.0;
        }
        let unread = [
            ("range", kind == Kind::Ball && joint.limits.is_some()),
            ("stiffness", kind == Kind::Ball && joint.stiffness > 0.0),
            ("springdamper", matches!(kind, Kind::Ball | Kind::Free) && joint.spring_damper.is_some()),
            ("frictionloss", kind == Kind::Free && joint.friction > 0.0),
        ];
        for (name, _) in unread.iter().filter(|(_, lost)| *lost) {
            self.source.note(node, format!("`{name}` of a {word} joint"));
        }
        Ok(joint)
    }

    /// Joins a body to the one around it; returns the bodies between its joints.
    pub(super) fn join(
        &mut self,
        joints: &[FileJoint<'a>],
        parent: usize,
        child: usize,
    ) -> Result<Vec<usize>> {
        if let Some(free) = joints.iter().find(|j| j.kind == Kind::Free) {
            return match (joints.len(), parent) {
                (1, _) if self.drafts[parent].fixed => {
                    self.drag_joint(free, [0, child]);
                    Ok(Vec::new())
                }
                (1, _) => self.source.attribute(free.node(), "type", "free", "a body of the <worldbody>"),
                _ => self.source.attribute(free.node(), "type", "free", "no other joint of this body"),
            };
        }
        if !self.drafts[parent].fixed {
            self.filter.no_contact.push([parent.min(child), parent.max(child)]);
        }
        if let Some(merged) = merge(joints) {
            self.joint(joints, &merged, [parent, child])?;
            return Ok(Vec::new());
        }
        let node = self.drafts[child].node;
        let what =
            "that there is no mass between joints of one body: each link between them takes 1/1000 of it";
        self.source.note(node, what.to_string());
        let (mut before, mut links) = (parent, Vec::new());
        for (i, joint) in joints.iter().enumerate() {
            let after = if i + 1 == joints.len() { child } else { self.link(child, joint.anchor, i) };
            let single = std::slice::from_ref(joint);
            if let Some(merged) = merge(single) {
                self.joint(single, &merged, [before, after])?;
            }
            before = after;
            if after != child {
                links.push(after);
            }
        }
        Ok(links)
    }

    /// A body between two joints of another.
    fn link(&mut self, child: usize, anchor: DVec3, i: usize) -> usize {
        let carrier = &self.drafts[child];
        let link = Draft::new(carrier.node, format!("{} link {}", carrier.name, i + 1), carrier.place);
        let index = self.drafts.len();
        self.drafts[child].links.push((index, anchor));
        self.drafts.push(link);
        index
    }

    /// One joint between two drafts; its frame is in the axes of the second.
    fn joint(&mut self, joints: &[FileJoint<'a>], merged: &Merged, bodies: [usize; 2]) -> Result<()> {
        let names: Vec<&str> = joints.iter().filter_map(|j| j.name).collect();
        let name = match names.is_empty() {
            true => self.free_name(format!("joint of {}", self.drafts[bodies[1]].name)),
            false => self.free_name(names.join("+")),
        };
        let places = bodies.map(|b| self.drafts[b].place);
        let frames = [places[0].inverse().compose(&places[1]).compose(&merged.frame), merged.frame];
        let mut joint = Joint::new(&name, merged.kind.clone(), bodies, frames);
        let mut dry = JointFriction::default();
        for (file, &(coordinate, sign)) in joints.iter().zip(&merged.coordinates) {
            match file.kind {
                Kind::Slide => dry.force = file.friction,
                _ => dry.moment = file.friction,
            }
            let FileJoint { reference, spring_rest, force_range, .. } = *file;
            let joint_index = self.joints.len();
            let motion = Motion { joint: joint_index, coordinate, sign, reference, spring_rest, force_range };
            if let Some(name) = file.name
                && self.names.motions.insert(name, motion).is_some()
            {
                let found = format!("`{name}` again");
                return self.source.attribute(file.node(), "name", &found, "a name of its own");
            }
            if file.kind != Kind::Ball {
                joint.actions.extend(passive(file, coordinate, sign));
            }
        }
        joint.friction = (dry != JointFriction::default()).then_some(dry);
        self.joints.push(joint);
        self.spans.push(joints[0].node().range());
        joints.iter().filter(|file| file.kind == Kind::Ball).for_each(|file| self.drag_joint(file, bodies));
        Ok(())
    }

    /// A name that no joint has.
    pub(super) fn free_name(&self, mut name: String) -> String {
        while self.joints.iter().any(|j| j.name == name) {
            name.push('_');
        }
        name
    }
}

/// Limits, spring and rotor of a hinge or slide, on the coordinate that is zero in the position of the file.
fn passive(file: &FileJoint<'_>, coordinate: Coordinate, sign: f64) -> Vec<Action> {
    let mut actions = Vec::new();
    if let Some([low, high]) = file.limits {
        let [a, b] = [low, high].map(|x| sign * (x - file.reference));
        let kind = ActionKind::Limits { lower: a.min(b), upper: a.max(b), restitution: 0.0 };
        actions.push(Action { coordinate, kind });
    }
    if file.stiffness > 0.0 || file.damping > 0.0 {
        let rest = sign * (file.spring_rest - file.reference);
        let kind = ActionKind::Spring { stiffness: file.stiffness, damping: file.damping, rest };
        actions.push(Action { coordinate, kind });
    }
    if file.armature > 0.0 {
        actions.push(Action { coordinate, kind: ActionKind::Armature { inertia: file.armature } });
    }
    actions
}

/// One joint that allows the motions of all, where there is one.
fn merge(joints: &[FileJoint<'_>]) -> Option<Merged> {
    use Kind::{Ball, Hinge, Slide};
    let (about_z, along_z) = (Coordinate::About(Axis::Z), Coordinate::Along(Axis::Z));
    let anchor = joints.first()?.anchor;
    let kinds: Vec<Kind> = joints.iter().map(|j| j.kind).collect();
    let perpendicular = |a: &FileJoint<'_>, b: &FileJoint<'_>| a.axis.dot(b.axis).abs() <= PERPENDICULAR;
    let made = |kind, frame, coordinates| Some(Merged { kind, frame, coordinates });
    // Friction is one number for all rotations, and one for all displacements, of a joint.
    let one_friction = |kind: Kind| {
        joints.windows(2).all(|w| w.iter().any(|j| j.kind != kind) || w[0].friction == w[1].friction)
    };
    if !one_friction(Hinge) || !one_friction(Slide) {
        return None;
    }
    match (&kinds[..], joints) {
        ([Hinge], [a]) => made(JointKind::Revolute, frame(anchor, a.axis, None), vec![(about_z, 1.0)]),
        ([Slide], [a]) => made(JointKind::Prismatic, frame(anchor, a.axis, None), vec![(along_z, 1.0)]),
        ([Ball], _) => {
            let frame = Pose { position: anchor, ..Pose::IDENTITY };
            made(JointKind::Ball, frame, vec![(Coordinate::Swing, 1.0)])
        }
        ([Hinge, Hinge], [a, b]) if perpendicular(a, b) && (a.anchor - b.anchor).length() <= ONE_POINT => {
            let coordinates = vec![(about_z, 1.0), (Coordinate::About(Axis::X), 1.0)];
            made(JointKind::Universal, frame(anchor, a.axis, Some(b.axis)), coordinates)
        }
        ([Hinge, Hinge, Hinge], [a, b, c])
            if perpendicular(a, b)
                && [b, c].iter().all(|j| (a.anchor - j.anchor).length() <= ONE_POINT)
                && a.axis.cross(b.axis).cross(c.axis).length() <= PERPENDICULAR
                && a.friction == 0.0 =>
        {
            let z = a.axis.cross(b.axis).normalize();
            let turn = Coordinate::Cardan;
            let coordinates =
                vec![(turn(Axis::X), 1.0), (turn(Axis::Y), 1.0), (turn(Axis::Z), z.dot(c.axis).signum())];
            made(JointKind::Ball, frame(anchor, z, Some(a.axis)), coordinates)
        }
        ([Hinge, Slide] | [Slide, Hinge], [a, b]) if a.axis.cross(b.axis).length() <= PERPENDICULAR => {
            let hinge = if a.kind == Hinge { a } else { b };
            let sign = a.axis.dot(b.axis).signum();
            let of = |j: &FileJoint<'_>| if j.kind == Hinge { (about_z, 1.0) } else { (along_z, sign) };
            let frame = frame(hinge.anchor, hinge.axis, None);
            made(JointKind::Cylindrical, frame, vec![of(a), of(b)])
        }
        ([Slide, Slide, ..], [a, b, rest @ ..]) if rest.len() <= 1 && perpendicular(a, b) => {
            let z = a.axis.cross(b.axis).normalize();
            let mut coordinates = vec![(Coordinate::Along(Axis::X), 1.0), (Coordinate::Along(Axis::Y), 1.0)];
            let Some(third) = rest.first() else {
                let kind = JointKind::Generic { locked: [false, false, true, true, true, true] };
                return made(kind, frame(anchor, z, Some(a.axis)), coordinates);
            };
            if third.axis.cross(z).length() > PERPENDICULAR {
                return None;
            }
            let sign = third.axis.dot(z).signum();
            match third.kind {
                Hinge => {
                    coordinates.push((about_z, sign));
                    made(JointKind::Planar, frame(third.anchor, z, Some(a.axis)), coordinates)
                }
                Slide => {
                    coordinates.push((along_z, sign));
                    let kind = JointKind::Generic { locked: [false, false, false, true, true, true] };
                    made(kind, frame(anchor, z, Some(a.axis)), coordinates)
                }
                _ => None,
            }
        }
        _ => None,
    }
}
