//! Actuators of MJCF files.
//!
//! ```text
//! force = gear · clamp((g₀ + g₁ l + g₂ l̇) · a + b₀ + b₁ l + b₂ l̇) ,   l = gear · (value of the joint)
//! a = u ,   ȧ = u  (integrator)   or   ȧ = (u − a)/τ  (filter)
//! ```
//!
//! The control u is the one that was set, else that of the keyframe, else zero, within `ctrlrange`. The force
//! is within `forcerange`, and what it gives to its joint within `actuatorfrcrange`. Activations a of
//! controls that hold or change evenly have closed forms.

use std::collections::{BTreeMap, BTreeSet};

use super::Model;
use super::attributes::{Element, list_unread};
use super::joint::Motion;
use crate::control::{Activation, UNBOUNDED};
use crate::diagnostic::{Result, WorldErrorKind};
use crate::xml::Node;
use delassus::formula::clip;
use delassus::world::{
    Action, ActionKind, Coordinate, Joint, JointKind, Pose, Servo, TendonPart, TendonTerm,
};

/// Attributes of actuators that are read.
pub(super) const ACTUATOR: [&str; 21] = [
    "joint",
    "tendon",
    "site",
    "jointinparent",
    "gear",
    "kp",
    "kv",
    "dampratio",
    "timeconst",
    "ctrlrange",
    "ctrllimited",
    "gaintype",
    "biastype",
    "dyntype",
    "dynprm",
    "gainprm",
    "biasprm",
    "forcelimited",
    "forcerange",
    "actlimited",
    "actrange",
];

/// The actuators that were read.
#[derive(Default)]
pub(super) struct Actuation<'a> {
    count: usize,
    /// How many of them have an activation.
    activations: usize,
    /// Joints whose force is limited that have one.
    limited_joints: BTreeSet<usize>,
    /// What a unit of force of each gives to its joint.
    pub(super) transmissions: BTreeMap<&'a str, f64>,
}

/// What an actuator does with its control.
struct Law {
    /// g and b, each c₀ + c₁ l + c₂ l̇.
    gain: [f64; 3],
    bias: [f64; 3],
    activation: Activation,
}

impl<'a> Model<'a> {
    /// `<actuator>`.
    pub(super) fn read_actuators(&mut self, section: Node<'a>) -> Result<()> {
        for node in section.children() {
            let word = node.tag();
            let index = self.actuation.count;
            self.actuation.count += 1;
            if !["motor", "position", "velocity", "intvelocity", "damper", "general"].contains(&word) {
                self.source.note(node, format!("<{}> of <actuator>: it gives no force", clip(word)));
                continue;
            }
            let element = self.defaults.element_as(&self.source, node, 0, [word, "general"])?;
            list_unread(&mut self.source, node, &ACTUATOR);
            self.actuator(element, word, index)?;
        }
        Ok(())
    }

    /// A range of an element, where it counts.
    pub(super) fn range_of(&self, element: Element<'a>, range: &str, flag: &str) -> Result<Option<[f64; 2]>> {
        let (source, defaults, node) = (&self.source, &self.defaults, element.node);
        let found: Option<[f64; 2]> = defaults.numbers(source, element, range)?;
        let counts = defaults.flag(source, element, flag)?.unwrap_or(self.compiler(node).autolimits);
        match found.filter(|_| counts) {
            Some([low, high]) if low > high => {
                let key = range.to_string();
                source.fail(node, WorldErrorKind::Limits { key, low, high })
            }
            found => Ok(found),
        }
    }

    fn actuator(&mut self, element: Element<'a>, word: &str, index: usize) -> Result<()> {
        let node = element.node;
        // Every actuator with an activation has a place in the keyframe, whatever it acts on.
        let law = self.law(element, word)?;
        let initial = match &law {
            Some(law) if !matches!(law.activation, Activation::None) => {
                self.actuation.activations += 1;
                self.start.keyframe.activation(self.actuation.activations - 1).unwrap_or(0.0)
            }
            _ => 0.0,
        };
        let gears = self.defaults.list(&self.source, element, "gear", [1, 6])?.unwrap_or(vec![1.0]);
        let Some(motion) = self.driven(node, &gears)? else {
            let what = format!("<{word}> that acts on no joint, tendon or site alone: it gives no force");
            self.source.note(node, what);
            return Ok(());
        };
        // The wrench at a site has its gear in it.
        let gear = if node.has_attribute("site") { 1.0 } else { gears[0] };
        let Some(Law { gain, mut bias, activation }) = law else { return Ok(()) };
        let controls = self.range_of(element, "ctrlrange", "ctrllimited")?.unwrap_or(UNBOUNDED);
        let forces = self.range_of(element, "forcerange", "forcelimited")?.unwrap_or(UNBOUNDED);
        let held = self.range_of(element, "actrange", "actlimited")?.unwrap_or(UNBOUNDED);
        let name = node.attribute("name").unwrap_or_default();
        let set = self.source.options.controls.iter().rev().find(|(n, _)| n == name);
        let asked = set.map(|(_, value)| *value).or(self.start.keyframe.control(index)).unwrap_or(0.0);
        if gain[0] == -bias[1] && bias[2] > 0.0 {
            let inertia = self.reflected_inertia(motion).unwrap_or_else(|| {
                self.source.note(node, "`dampratio` of what nothing moves: it does not damp".to_string());
                0.0
            });
            bias[2] = -2.0 * bias[2] * (gain[0] * inertia / (gear * gear)).sqrt();
        }
        // A gain that depends on the length is the one of the control at the start.
        let fixed = asked.clamp(controls[0], controls[1]);
        let moves = self.source.options.control_table.as_ref().is_some_and(|t| t.names().any(|n| n == name));
        if gain[1..] != [0.0; 2] && (moves || !matches!(activation, Activation::None)) {
            self.source.note(node, format!("<{word}> whose gain depends on its length: it gives no force"));
            return Ok(());
        }
        let [k, d] = [1, 2].map(|i| -gear * gear * (gain[i] * fixed + bias[i]));
        if k < 0.0 || d < 0.0 {
            self.source.note(node, format!("<{word}> that pushes away from its place: it gives no force"));
            return Ok(());
        }
        let to_joint = motion.sign * gear;
        let table = self.source.options.control_table.as_ref();
        let control = crate::control::control(table, name, asked, controls, (activation, initial));
        let mut force_range = ordered(forces.map(|f| times(f, to_joint)));
        if let Some(of_joint) = motion.force_range {
            let [low, high] = ordered(of_joint.map(|f| times(f, motion.sign)));
            force_range = force_range.map(|f| f.clamp(low, high));
            if !self.actuation.limited_joints.insert(motion.joint) {
                let what = "`actuatorfrcrange` of a joint with several actuators: each is limited by itself";
                self.source.note(node, what.to_string());
            }
        }
        self.actuation.transmissions.insert(name, to_joint);
        let servo = Servo {
            name: name.to_string(),
            control,
            control_range: if matches!(activation, Activation::None) { controls } else { held },
            gain: to_joint * gain[0],
            offset: to_joint * (bias[0] + (gain[1] * fixed + bias[1]) * gear * motion.reference),
            stiffness: k,
            damping: d,
            force_range,
        };
        let idle = [servo.stiffness, servo.damping, servo.push(0.0)] == [0.0; 3];
        if idle && !moves && matches!(activation, Activation::None) {
            self.source.note(node, format!("<{word}>: without a control it gives no force"));
        }
        let action = Action { coordinate: motion.coordinate, kind: ActionKind::Servo(servo) };
        self.joints[motion.joint].actions.push(action);
        Ok(())
    }

    /// What an actuator acts along; `None` where that is not read.
    fn driven(&mut self, node: Node<'a>, gears: &[f64]) -> Result<Option<Motion>> {
        for key in ["joint", "jointinparent"] {
            if node.has_attribute(key) {
                return self.motion(node, key).map(Some);
            }
        }
        if node.has_attribute("tendon") {
            return Ok(self.tendon_of(node, "tendon")?.map(|tendon| tendon.motion));
        }
        if !node.has_attribute("site") || node.has_attribute("refsite") {
            return Ok(None);
        }
        // A force and a moment along the axes of a site, on a joint that holds nothing.
        let (draft, frame) = self.place_of(node, "site", true)?;
        if self.drafts[draft].fixed {
            return Ok(None);
        }
        let mut axes = [0.0; 6];
        axes.iter_mut().zip(gears).for_each(|(axis, gear)| *axis = *gear);
        let part = TendonPart::Twist { bodies: [0, draft], frame, axes };
        let kind = JointKind::Tendon(vec![TendonTerm { factor: 1.0, part }]);
        let own = node.attribute("name").map(str::to_string);
        let name = self.free_name(own.unwrap_or_else(|| format!("thrust of {}", self.drafts[draft].name)));
        let (joint, coordinate) = (self.joints.len(), Coordinate::Length);
        self.joints.push(Joint::new(&name, kind, [0, draft], [Pose::IDENTITY; 2]));
        self.spans.push(node.range());
        let (reference, spring_rest, force_range) = (0.0, 0.0, None);
        Ok(Some(Motion { joint, coordinate, sign: 1.0, reference, spring_rest, force_range }))
    }

    /// What an actuator does; `None`, and a note, where it is something else. b₂ is positive where it is a
    /// ratio to critical damping.
    fn law(&mut self, element: Element<'a>, word: &str) -> Result<Option<Law>> {
        let (source, defaults) = (&self.source, &self.defaults);
        let number = |name: &str, default: f64| defaults.nonnegative(source, element, name, default);
        let list = |name: &str, usual: [f64; 3]| -> Result<[f64; 3]> {
            let mut found = usual;
            let list = defaults.list(source, element, name, [1, 10])?.unwrap_or_default();
            found.iter_mut().zip(list).for_each(|(c, x)| *c = x);
            Ok(found)
        };
        let one = [1.0, 0.0, 0.0];
        let law = |gain, bias, activation| Ok(Some(Law { gain, bias, activation }));
        match word {
            "motor" => law(one, [0.0; 3], Activation::None),
            "position" | "intvelocity" => {
                let kp = number("kp", 1.0)?;
                let [kv, ratio, tau] =
                    [number("kv", 0.0)?, number("dampratio", 0.0)?, number("timeconst", 0.0)?];
                let activation = match word {
                    "intvelocity" => Activation::Integrator,
                    _ if tau > 0.0 => Activation::Filter { tau },
                    _ => Activation::None,
                };
                law([kp, 0.0, 0.0], [0.0, -kp, if ratio > 0.0 { ratio } else { -kv }], activation)
            }
            "velocity" => {
                let kv = number("kv", 1.0)?;
                law([kv, 0.0, 0.0], [0.0, 0.0, -kv], Activation::None)
            }
            "damper" => law([0.0, 0.0, -number("kv", 1.0)?], [0.0; 3], Activation::None),
            _ => {
                let word_of =
                    |name: &str, usual: &'a str| defaults.get(element, name).map_or(usual, |(w, _)| w);
                let (gain, bias) = (word_of("gaintype", "fixed"), word_of("biastype", "none"));
                let activation = match (word_of("dyntype", "none"), list("dynprm", one)?[0]) {
                    ("none", _) => Some(Activation::None),
                    ("integrator", _) => Some(Activation::Integrator),
                    ("filter" | "filterexact", tau) if tau > 0.0 => Some(Activation::Filter { tau }),
                    _ => None,
                };
                let affine = ["fixed", "affine"].contains(&gain) && ["none", "affine"].contains(&bias);
                let mut gains = list("gainprm", one)?;
                if gain == "fixed" {
                    gains = [gains[0], 0.0, 0.0];
                }
                let biases = if bias == "affine" { list("biasprm", [0.0; 3])? } else { [0.0; 3] };
                match activation.filter(|_| affine) {
                    Some(activation) => law(gains, biases, activation),
                    None => {
                        let what = "<general> with other dynamics, gain or bias than those of first order and \
                                    affine ones: it gives no force";
                        self.source.note(element.node, what.to_string());
                        Ok(None)
                    }
                }
            }
        }
    }
}

/// A bound times a factor; zero times infinity is infinite.
fn times(bound: f64, factor: f64) -> f64 {
    if bound.is_infinite() { bound * if factor < 0.0 { -1.0 } else { 1.0 } } else { bound * factor }
}

fn ordered([a, b]: [f64; 2]) -> [f64; 2] {
    [a.min(b), a.max(b)]
}
