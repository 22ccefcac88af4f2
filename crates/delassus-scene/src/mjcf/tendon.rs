//! Tendons of MJCF files.
//!
//! ```text
//! length = Σ coef · (value of a joint)                                     fixed
//! length = Σ |site − next site| / divisor                                  spatial
//! ```
//!
//! Limits, springs, dampers, rotors and dry friction act along the length, and actuators as on a joint. The
//! length here differs from that of the file by a constant, the reference. Straight segments between sites
//! are read; a tendon that lies on a geom gives no force.

use glam::DVec3;

use super::Model;
use super::attributes::Element;
use super::joint::Motion;
use super::unread::list_unread;
use crate::diagnostic::{Result, WorldErrorKind};
use crate::xml::Node;
use delassus::formula::{clip, nearest};
use delassus::world::{
    Action, ActionKind, Coordinate, Joint, JointFriction, JointKind, Pose, TendonPart, TendonTerm,
};

/// Attributes of `<fixed>` and `<spatial>` that are read, or only drawn.
pub(super) const TENDON: [&str; 13] = [
    "limited",
    "range",
    "stiffness",
    "springlength",
    "damping",
    "frictionloss",
    "armature",
    "actuatorfrclimited",
    "actuatorfrcrange",
    "width",
    "material",
    "rgba",
    "group",
];

/// A tendon.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tendon {
    pub(super) motion: Motion,
    /// Its length, without the reference, in the position of the file.
    pub(super) start: f64,
}

/// What a tendon is made of.
#[derive(Default)]
struct Parts {
    terms: Vec<TendonTerm>,
    bodies: Option<[usize; 2]>,
    /// What its length in the file has beside that of the terms.
    reference: f64,
    /// The length of the terms in the position of the file, and where its springs rest.
    start: f64,
    rest: f64,
}

impl<'a> Model<'a> {
    /// `<tendon>`.
    pub(super) fn read_tendons(&mut self, section: Node<'a>) -> Result<()> {
        for node in section.children() {
            let element = self.defaults.element_as(&self.source, node, 0, &["tendon"])?;
            list_unread(&mut self.source, node, &TENDON);
            let parts = match node.tag() {
                "fixed" => Some(self.fixed(node)?),
                "spatial" => self.spatial(node)?,
                word => {
                    self.source.note(node, format!("<{}> of <tendon>", clip(word)));
                    continue;
                }
            };
            let tendon = match parts {
                Some(Parts { bodies: Some(bodies), terms, reference, start, rest }) => {
                    Some(self.tendon(element, (terms, bodies), reference, [start, rest])?)
                }
                Some(_) => {
                    self.source.note(node, format!("<{}> whose length does not change", node.tag()));
                    None
                }
                None => None,
            };
            if let Some(name) = node.attribute("name")
                && self.names.tendons.insert(name, tendon).is_some()
            {
                return self.source.attribute(node, "name", &format!("`{name}` again"), "a name of its own");
            }
        }
        Ok(())
    }

    /// The coordinates of joints that a tendon adds up.
    fn fixed(&self, node: Node<'a>) -> Result<Parts> {
        let mut parts = Parts::default();
        for child in node.children() {
            let motion = self.motion(child, "joint")?;
            self.source.required(child, "coef", "a number")?;
            let [coef] = self.source.numbers(child, "coef", [0.0])?;
            let Motion { joint, coordinate, .. } = motion;
            let part = TendonPart::Coordinate { joint, coordinate };
            parts.terms.push(TendonTerm { factor: coef * motion.sign, part });
            parts.bodies.get_or_insert(self.joints[joint].bodies);
            parts.reference += coef * motion.reference;
            parts.rest += coef * motion.spring_rest;
        }
        Ok(parts)
    }

    /// The segments of a tendon through sites; `None`, and a note, where it lies on geoms.
    fn spatial(&mut self, node: Node<'a>) -> Result<Option<Parts>> {
        if let Some(geom) = node.children().find(|child| child.tag() == "geom") {
            self.source.note(geom, "<spatial> around a <geom>: it gives no force".to_string());
            return Ok(None);
        }
        let mut parts = Parts::default();
        let (mut last, mut divisor): (Option<(usize, DVec3)>, f64) = (None, 1.0);
        for child in node.children() {
            if child.tag() == "pulley" {
                let text = self.source.required(child, "divisor", "a positive number")?;
                [divisor] = self.source.numbers(child, "divisor", [0.0])?;
                if divisor <= 0.0 {
                    return self.source.attribute(child, "divisor", text, "a positive number");
                }
                last = None;
                continue;
            }
            let (draft, at) = self.place_of(child, "site", true)?;
            let next = (draft, at.position);
            if let Some(before) = last.replace(next) {
                let [a, b] = [before, next].map(|(draft, p)| self.drafts[draft].place.point(p));
                let (factor, length) = (1.0 / divisor, a.distance(b) / divisor);
                let bodies = [before.0, next.0];
                let moves = bodies[0] != bodies[1] && bodies.iter().any(|&b| !self.drafts[b].fixed);
                parts.rest += length;
                if !moves {
                    parts.reference += length;
                    continue;
                }
                parts.start += length;
                let part = TendonPart::Segment { bodies, points: [before.1, next.1] };
                parts.terms.push(TendonTerm { factor, part });
                parts.bodies.get_or_insert(bodies);
            }
        }
        Ok(Some(parts))
    }

    /// A tendon and what acts along it.
    fn tendon(
        &mut self,
        element: Element<'a>,
        (terms, bodies): (Vec<TendonTerm>, [usize; 2]),
        reference: f64,
        [start, rest]: [f64; 2],
    ) -> Result<Tendon> {
        let node = element.node;
        let own = node.attribute("name").filter(|name| !name.is_empty()).map(str::to_string);
        let name = self.free_name(own.unwrap_or_else(|| format!("tendon {}", self.joints.len())));
        let mut joint = Joint::new(&name, JointKind::Tendon(terms), bodies, [Pose::IDENTITY; 2]);
        let coordinate = Coordinate::Length;
        let number = |name: &str| self.defaults.nonnegative(&self.source, element, name, 0.0);
        let off = |name: &str| self.disabled.contains(name);
        let mut put = |kind| joint.actions.push(Action { coordinate, kind });
        let limits = self.range_of(element, "range", "limited")?.filter(|_| !off("limit"));
        if let Some([low, high]) = limits {
            put(ActionKind::Limits { lower: low - reference, upper: high - reference, restitution: 0.0 });
        }
        let [mut stiffness, mut damping] = [number("stiffness")?, number("damping")?];
        if off("passive") || off("spring") {
            stiffness = 0.0;
        }
        if off("passive") || off("damper") {
            damping = 0.0;
        }
        let armature = number("armature")?;
        let friction = if off("frictionloss") { 0.0 } else { number("frictionloss")? };
        let rests = self.defaults.list(&self.source, element, "springlength", [1, 2])?;
        let [low, high] = match rests.as_deref() {
            Some([both]) if *both != -1.0 => [*both; 2],
            Some([low, high]) if [*low, *high] != [-1.0; 2] => [*low, *high],
            _ => [rest; 2],
        };
        if stiffness > 0.0 && high > low {
            let what = "`springlength` of two numbers: a spring that is slack between them gives no force";
            self.source.note(node, what.to_string());
            stiffness = 0.0;
        }
        if stiffness > 0.0 || damping > 0.0 {
            put(ActionKind::Spring { stiffness, damping, rest: low - reference });
        }
        if armature > 0.0 {
            put(ActionKind::Armature { inertia: armature });
        }
        joint.friction =
            (friction > 0.0).then_some(JointFriction { force: friction, ..JointFriction::default() });
        let force_range = self.range_of(element, "actuatorfrcrange", "actuatorfrclimited")?;
        let index = self.joints.len();
        self.joints.push(joint);
        self.spans.push(node.range());
        let motion =
            Motion { joint: index, coordinate, sign: 1.0, reference, spring_rest: rest, force_range };
        Ok(Tendon { motion, start })
    }

    /// A tendon by its name; `None` where it gives no force.
    pub(super) fn tendon_of(&self, node: Node<'a>, key: &'static str) -> Result<Option<Tendon>> {
        let name = self.source.required(node, key, "the name of a tendon")?;
        match self.names.tendons.get(name) {
            Some(tendon) => Ok(*tendon),
            None => {
                let suggestion = nearest(name, self.names.tendons.keys().copied());
                self.source.fail(node, WorldErrorKind::UnknownJoint { name: clip(name), suggestion })
            }
        }
    }

    /// The terms of a joint or tendon by its number and coordinate, times a factor.
    pub(super) fn terms_of(&self, motion: &Motion, factor: f64) -> Vec<TendonTerm> {
        match &self.joints[motion.joint].kind {
            JointKind::Tendon(terms) => {
                terms.iter().map(|t| TendonTerm { factor: factor * t.factor, part: t.part.clone() }).collect()
            }
            _ => {
                let part = TendonPart::Coordinate { joint: motion.joint, coordinate: motion.coordinate };
                vec![TendonTerm { factor: factor * motion.sign, part }]
            }
        }
    }

    /// What stands still of two coordinates, c₁ − a₁ c₂ = a₀ from where both start; without a second the
    /// first is held. Each has its value in the position of the file.
    pub(super) fn hold(
        &mut self,
        node: Node<'a>,
        (first, at_first): (Motion, f64),
        second: Option<(Motion, f64)>,
        [offset, factor]: [f64; 2],
    ) -> Joint {
        let mut terms = self.terms_of(&first, 1.0);
        let mut target = at_first + offset;
        if let Some((second, at_second)) = second {
            terms.extend(self.terms_of(&second, -factor));
            target -= factor * at_second;
        }
        let of = &self.joints[first.joint];
        let own = node.attribute("name").map(str::to_string);
        let name = self.free_name(own.unwrap_or_else(|| format!("equality of {}", of.name)));
        let kind = JointKind::Tendon(terms);
        let drive = ActionKind::Drive { position: target.into() };
        Joint::new(&name, kind, of.bodies, [Pose::IDENTITY; 2]).with_action(drive)
    }

    /// c₁ − c₁₀ = a₀ + a₁ (c₂ − c₂₀) of the lengths of two tendons, or one that is held.
    pub(super) fn tendon_equality(&mut self, element: Element<'a>) -> Result<Option<Joint>> {
        let node = element.node;
        let coefficients = self.line(element, node.has_attribute("tendon2"))?;
        let first = self.tendon_of(node, "tendon1")?;
        let second = node.has_attribute("tendon2").then(|| self.tendon_of(node, "tendon2")).transpose()?;
        let (Some(first), false) = (first, matches!(second, Some(None))) else {
            self.source.note(node, "<tendon> of <equality> of a tendon that gives no force".to_string());
            return Ok(None);
        };
        let second = second.flatten().map(|t| (t.motion, t.start));
        Ok(Some(self.hold(node, (first.motion, first.start), second, coefficients)))
    }
}
