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
use super::attributes::Element;
use super::joint::Motion;
use super::unread::list_unread;
use crate::control::{Activation, UNBOUNDED};
use crate::diagnostic::{Result, WorldErrorKind};
use crate::xml::{Node, Source, finite_numbers};
use delassus::formula::clip;
use delassus::world::{
    Action, ActionKind, Coordinate, Joint, JointKind, Measured, Pose, Servo, TendonPart, TendonTerm,
};

/// Attributes of actuators that are read.
pub(super) const ACTUATOR: [&str; 22] = [
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
    "inheritrange",
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
/// Actuators that are read; a class may speak of one under the tag of another.
const ACTUATORS: [&str; 6] = ["general", "motor", "position", "velocity", "intvelocity", "damper"];

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
    /// The length that each acts along.
    pub(super) lengths: BTreeMap<&'a str, Measured>,
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
            if !ACTUATORS.contains(&word) {
                self.source.note(node, format!("<{}> of <actuator>: it gives no force", clip(word)));
                continue;
            }
            let element = self.defaults.element_as(&self.source, node, 0, &ACTUATORS)?;
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

    /// The range of its joint, `inheritrange` times as wide, where an actuator takes it for its own.
    fn inherited_range(&mut self, element: Element<'a>) -> Result<Option<[f64; 2]>> {
        let width = self.defaults.nonnegative(&self.source, element, "inheritrange", 0.0)?;
        if width == 0.0 {
            return Ok(None);
        }
        let name = element.node.attribute("joint");
        let joint = self.start.moving.iter().flat_map(|moving| &moving.joints).find(|j| j.name == name);
        let Some([low, high]) = joint.filter(|_| name.is_some()).and_then(|joint| joint.range) else {
            let what = "`inheritrange` of what has no range of its own: the control is not limited";
            self.source.note(element.node, what.to_string());
            return Ok(None);
        };
        let (middle, half) = ((low + high) / 2.0, width * (high - low) / 2.0);
        Ok(Some([middle - half, middle + half]))
    }

    // Long: one quantity of an actuator after the other.
    fn actuator(&mut self, element: Element<'a>, word: &str, index: usize) -> Result<()> {
        let node = element.node;
        // Every actuator with an activation has a place in the keyframe, whatever it acts on.
        let law = self.law(element)?;
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
        let mut controls = self.range_of(element, "ctrlrange", "ctrllimited")?.unwrap_or(UNBOUNDED);
        let forces = self.range_of(element, "forcerange", "forcelimited")?.unwrap_or(UNBOUNDED);
        let mut held = self.range_of(element, "actrange", "actlimited")?.unwrap_or(UNBOUNDED);
        if let Some(range) = self.inherited_range(element)? {
            // What integrates its control is limited after that.
            *if word == "intvelocity" { &mut held } else { &mut controls } = range;
        }
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
        let Motion { joint, coordinate, reference, .. } = motion;
        if !node.has_attribute("site") {
            let length = Measured { joint, coordinate, sign: to_joint, reference: gear * reference };
            self.actuation.lengths.insert(name, length);
        }
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
    fn law(&mut self, element: Element<'a>) -> Result<Option<Law>> {
        let mut parameters = Parameters::default();
        // The outermost class first, the element itself last.
        for node in self.defaults.levels(element).into_iter().rev() {
            parameters.follow(&self.source, node)?;
        }
        let Parameters { mut gain, mut bias, words: [gain_is, bias_is, dynamics], tau, .. } = parameters;
        let activation = match dynamics {
            "none" => Some(Activation::None),
            "integrator" => Some(Activation::Integrator),
            "filter" | "filterexact" if tau > 0.0 => Some(Activation::Filter { tau }),
            _ => None,
        };
        let affine = ["fixed", "affine"].contains(&gain_is) && ["none", "affine"].contains(&bias_is);
        let Some(activation) = activation.filter(|_| affine) else {
            let what = "<general> with other dynamics, gain or bias than those of first order and affine ones: \
                        it gives no force";
            self.source.note(element.node, what.to_string());
            return Ok(None);
        };
        if gain_is == "fixed" {
            gain = [gain[0], 0.0, 0.0];
        }
        if bias_is == "none" {
            bias = [0.0; 3];
        }
        Ok(Some(Law { gain, bias, activation }))
    }
}

/// Gain and bias as classes and an element set them one after the other.
struct Parameters<'a> {
    gain: [f64; 3],
    bias: [f64; 3],
    /// `gaintype`, `biastype` and `dyntype`.
    words: [&'a str; 3],
    tau: f64,
    /// The tag under which they were set last.
    tag: &'a str,
}

impl Default for Parameters<'_> {
    fn default() -> Self {
        let words = ["fixed", "none", "none"];
        Parameters { gain: [1.0, 0.0, 0.0], bias: [0.0; 3], words, tau: 1.0, tag: "general" }
    }
}

impl<'a> Parameters<'a> {
    /// Sets what an element says. A `<general>` changes what it names. The others set all: what they do not
    /// name is what the same tag, or a `<general>` with a fixed gain, said before them.
    fn follow(&mut self, source: &Source<'_>, node: Node<'a>) -> Result<()> {
        let number = |name: &str| match node.attribute(name).map(|text| (text, text.trim().parse::<f64>())) {
            None => Ok(None),
            Some((_, Ok(x))) if x >= 0.0 && x.is_finite() => Ok(Some(x)),
            Some((text, _)) => {
                source.attribute(node, name, &format!("`{text}`"), "a number that is not negative")
            }
        };
        let tag = node.tag();
        if tag == "general" {
            for (word, name) in self.words.iter_mut().zip(["gaintype", "biastype", "dyntype"]) {
                *word = node.attribute(name).unwrap_or(word);
            }
            let mut tau = [self.tau];
            overwrite(source, node, "gainprm", &mut self.gain)?;
            overwrite(source, node, "biasprm", &mut self.bias)?;
            overwrite(source, node, "dynprm", &mut tau)?;
            (self.tau, self.tag) = (tau[0], tag);
            return Ok(());
        }
        let goes_on = self.tag == tag || self.tag == "general" && self.words[0] == "fixed";
        if !goes_on || tag == "motor" {
            *self = Parameters::default();
        }
        let before = if self.tag == tag { self.words[2] } else { "none" };
        match tag {
            "position" | "intvelocity" => {
                let kp = number("kp")?.unwrap_or(self.gain[0]);
                let damping =
                    [number("kv")?.map(|kv| -kv), number("dampratio")?.filter(|ratio| *ratio > 0.0)];
                self.bias = [0.0, -kp, damping[1].or(damping[0]).unwrap_or(self.bias[2])];
                self.gain = [kp, 0.0, 0.0];
                let filtered = number("timeconst")?;
                self.tau = filtered.unwrap_or(self.tau);
                let dynamics = match (tag, filtered) {
                    ("intvelocity", _) => "integrator",
                    (_, Some(tau)) => {
                        if tau > 0.0 {
                            "filter"
                        } else {
                            "none"
                        }
                    }
                    _ => before,
                };
                self.words = ["fixed", "affine", dynamics];
            }
            "velocity" => {
                let kv = number("kv")?.unwrap_or(self.gain[0]);
                (self.gain, self.bias) = ([kv, 0.0, 0.0], [0.0, 0.0, -kv]);
                self.words = ["fixed", "affine", "none"];
            }
            "damper" => {
                let usual = if self.tag == tag { -self.gain[2] } else { 0.0 };
                self.gain = [0.0, 0.0, -number("kv")?.unwrap_or(usual)];
                self.words = ["affine", "none", "none"];
            }
            _ => {}
        }
        self.tag = tag;
        Ok(())
    }
}

/// The first numbers of a list, as many as an attribute gives.
fn overwrite(source: &Source<'_>, node: Node<'_>, name: &str, numbers: &mut [f64]) -> Result<()> {
    let Some(text) = node.attribute(name) else { return Ok(()) };
    let Some(list) = finite_numbers(text).filter(|list| (1..=10).contains(&list.len())) else {
        return source.attribute(node, name, &format!("`{text}`"), "one to ten finite numbers");
    };
    numbers.iter_mut().zip(list).for_each(|(number, given)| *number = given);
    Ok(())
}

/// A bound times a factor; zero times infinity is infinite.
fn times(bound: f64, factor: f64) -> f64 {
    if bound.is_infinite() { bound * if factor < 0.0 { -1.0 } else { 1.0 } } else { bound * factor }
}

fn ordered([a, b]: [f64; 2]) -> [f64; 2] {
    [a.min(b), a.max(b)]
}
