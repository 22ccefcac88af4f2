//! Equalities, contact filters, friction and actuators of MJCF files.
//!
//! An actuator acts as it does while its control is zero, or the nearest to zero that `ctrlrange` allows:
//!
//! ```text
//! force = gear (gain · control + b₀ + b₁ l + b₂ l̇) ,   l = gear · (value of the joint)
//! ```
//!
//! a spring with a damper and a constant force.

use super::Model;
use super::attributes::{Element, list_unread};
use super::body::Touch;
use super::joint::Motion;
use crate::diagnostic::{Result, WorldErrorKind};
use crate::xml::{Node, finite_numbers};
use delassus::formula::{AnyFormula, Expression, clip, nearest};
use delassus::world::{Action, ActionKind, Coordinate, Joint, JointKind, Pose, Surface};

/// Attributes of `<connect>`, `<weld>` and `<joint>` of `<equality>` that are read, or do not matter to what
/// is rigid.
pub(super) const EQUALITY: [&str; 12] = [
    "body1",
    "body2",
    "site1",
    "site2",
    "anchor",
    "relpose",
    "joint1",
    "joint2",
    "polycoef",
    "active",
    "torquescale",
    "flex",
];
/// Attributes of actuators that are read.
pub(super) const ACTUATOR: [&str; 13] = [
    "joint",
    "jointinparent",
    "gear",
    "kp",
    "kv",
    "ctrlrange",
    "ctrllimited",
    "gaintype",
    "biastype",
    "dyntype",
    "gainprm",
    "biasprm",
    "forcelimited",
];

impl<'a> Model<'a> {
    /// `<equality>`.
    pub(super) fn read_equalities(&mut self, section: Node<'a>) -> Result<()> {
        for node in section.children().filter(Node::is_element) {
            let word = node.tag_name().name();
            let element = self.defaults.element_as(&self.source, node, 0, ["equality", "equality"])?;
            list_unread(&mut self.source, node, &EQUALITY);
            if self.defaults.flag(&self.source, element, "active")? == Some(false) {
                self.source.note(node, format!("<{}> that is not active", clip(word)));
                continue;
            }
            let made = match word {
                "connect" => self.connect(node)?,
                "weld" => self.weld(node)?,
                "joint" => self.joint_equality(element)?,
                _ => {
                    self.source.note(node, format!("<{}> of <equality>", clip(word)));
                    continue;
                }
            };
            if let Some(joint) = made {
                self.joints.push(joint);
                self.spans.push(node.range());
            }
        }
        Ok(())
    }

    /// The name of an equality, or one that says what it holds.
    fn equality_name(&self, node: Node<'a>, bodies: [usize; 2]) -> String {
        let [a, b] = bodies.map(|b| &self.drafts[b].name);
        let own = node.attribute("name").filter(|name| !name.is_empty()).map(str::to_string);
        self.free_name(own.unwrap_or_else(|| format!("{} of {a} and {b}", node.tag_name().name())))
    }

    /// A body or site by its name: the draft, and where it stands on it.
    fn place_of(&self, node: Node<'a>, key: &'static str, site: bool) -> Result<(usize, Pose)> {
        let table = if site { &self.sites } else { &self.bodies };
        let Some(name) = node.attribute(key) else {
            return match key {
                "body2" => Ok((0, Pose::IDENTITY)),
                _ => self.source.attribute(node, key, "missing", "the name of a body or site"),
            };
        };
        match table.get(name) {
            Some(place) => Ok(*place),
            None if site => {
                self.source.attribute(node, key, &format!("`{}`", clip(name)), "the name of a <site>")
            }
            None => {
                let suggestion = nearest(name, table.keys().copied());
                self.source.fail(node, WorldErrorKind::UnknownBody { name: clip(name), suggestion })
            }
        }
    }

    /// Two bodies that an equality can hold together.
    fn two_bodies(&self, node: Node<'a>, bodies: [usize; 2]) -> Result<()> {
        let joint = || format!("<{}>", clip(node.tag_name().name()));
        if bodies[0] == bodies[1] {
            let body = clip(&self.drafts[bodies[0]].name);
            return self.source.fail(node, WorldErrorKind::JoinsItself { joint: joint(), body });
        }
        if bodies.iter().all(|&b| self.drafts[b].fixed) {
            return self.source.fail(node, WorldErrorKind::JoinsFixed { joint: joint() });
        }
        Ok(())
    }

    /// A joint whose first frame stands at `on_first`, the second one where the first is in the position of
    /// the file.
    fn held(&self, node: Node<'a>, kind: JointKind, bodies: [usize; 2], on_first: Pose) -> Result<Joint> {
        self.two_bodies(node, bodies)?;
        let [a, b] = bodies.map(|b| self.drafts[b].place);
        let frames = [on_first, b.inverse().compose(&a).compose(&on_first)];
        Ok(Joint::new(&self.equality_name(node, bodies), kind, bodies, frames))
    }

    /// One point of two bodies.
    fn connect(&mut self, node: Node<'a>) -> Result<Option<Joint>> {
        if node.has_attribute("site1") {
            let (places, bodies) = self.two_sites(node)?;
            self.two_bodies(node, bodies)?;
            let frames = places.map(|p| Pose { position: p.position, ..Pose::IDENTITY });
            let frames = [frames[0], Pose { rotation: self.relative_rotation(bodies), ..frames[1] }];
            return Ok(Some(Joint::new(&self.equality_name(node, bodies), JointKind::Ball, bodies, frames)));
        }
        let [(a, at), (b, _)] = [self.place_of(node, "body1", false)?, self.place_of(node, "body2", false)?];
        self.source.required(node, "anchor", "three numbers")?;
        let anchor = at.point(self.source.numbers(node, "anchor", [0.0; 3])?.into());
        self.held(node, JointKind::Ball, [a, b], Pose { position: anchor, ..Pose::IDENTITY }).map(Some)
    }

    /// The axes of the first body seen from the second, in the position of the file.
    fn relative_rotation(&self, bodies: [usize; 2]) -> glam::DQuat {
        let [a, b] = bodies.map(|b| self.drafts[b].place.rotation);
        (b.conjugate() * a).normalize()
    }

    fn two_sites(&self, node: Node<'a>) -> Result<([Pose; 2], [usize; 2])> {
        let [(a, at), (b, on)] = [self.place_of(node, "site1", true)?, self.place_of(node, "site2", true)?];
        Ok(([at, on], [a, b]))
    }

    /// No motion between two bodies.
    fn weld(&mut self, node: Node<'a>) -> Result<Option<Joint>> {
        if node.has_attribute("site1") {
            let (frames, bodies) = self.two_sites(node)?;
            self.two_bodies(node, bodies)?;
            return Ok(Some(Joint::new(&self.equality_name(node, bodies), JointKind::Fixed, bodies, frames)));
        }
        let [(a, at), (b, on)] = [self.place_of(node, "body1", false)?, self.place_of(node, "body2", false)?];
        let Some(text) = node.attribute("relpose") else {
            return self.held(node, JointKind::Fixed, [a, b], at).map(Some);
        };
        let Some([x, y, z, rw, rx, ry, rz]) = finite_numbers(text).and_then(|l| <[f64; 7]>::try_from(l).ok())
        else {
            return self.source.attribute(
                node,
                "relpose",
                &format!("`{}`", clip(text)),
                "seven finite numbers",
            );
        };
        let rotation = glam::DQuat::from_xyzw(rx, ry, rz, rw);
        if rotation.length() == 0.0 {
            // A quaternion of zeros stands for the position of the file.
            return self.held(node, JointKind::Fixed, [a, b], at).map(Some);
        }
        self.two_bodies(node, [a, b])?;
        let relative = Pose { position: glam::DVec3::new(x, y, z), rotation: rotation.normalize() };
        let name = self.equality_name(node, [a, b]);
        Ok(Some(Joint::new(&name, JointKind::Fixed, [a, b], [at.compose(&relative), on])))
    }

    /// c₁ = a₀ + a₁ c₂: a coupler, or a coordinate held where there is no second joint.
    fn joint_equality(&mut self, element: Element<'a>) -> Result<Option<Joint>> {
        let node = element.node;
        let list = self.defaults.list(&self.source, element, "polycoef", [1, 5])?;
        let mut coefficients = [0.0, 1.0, 0.0, 0.0, 0.0];
        if let Some(list) = list {
            coefficients[..list.len()].copy_from_slice(&list);
        }
        let [offset, factor, others @ ..] = coefficients;
        let first = self.motion(node, "joint1")?;
        let second = node.has_attribute("joint2").then(|| self.motion(node, "joint2")).transpose()?;
        if second.is_some() && others != [0.0; 3] {
            let found = node.attribute("polycoef").unwrap_or_default();
            return self.source.attribute(
                node,
                "polycoef",
                found,
                "at most two coefficients that are not zero",
            );
        }
        let Some(second) = second.filter(|_| factor != 0.0) else {
            let kind = ActionKind::Drive { position: constant(first.sign * offset) };
            self.joints[first.joint].actions.push(Action { coordinate: first.coordinate, kind });
            return Ok(None);
        };
        for (motion, key) in [(first, "joint1"), (second, "joint2")] {
            if self.joints[motion.joint].kind.coordinate() != Some(motion.coordinate) {
                let found = "one of several of its body";
                return self.source.attribute(
                    node,
                    key,
                    found,
                    "the only joint of its body, or the first hinge",
                );
            }
        }
        let kind = JointKind::Coupler {
            joints: [first.joint, second.joint],
            factors: [first.sign, -factor * second.sign],
            offset,
        };
        let bodies = self.joints[first.joint].bodies;
        let own = node.attribute("name").map(str::to_string);
        let name = own.unwrap_or_else(|| format!("equality of {}", self.joints[first.joint].name));
        Ok(Some(Joint::new(&self.free_name(name), kind, bodies, [Pose::IDENTITY; 2])))
    }

    /// A hinge or slide by its name.
    fn motion(&self, node: Node<'a>, key: &'static str) -> Result<Motion> {
        let name = self.source.required(node, key, "the name of a hinge or slide")?;
        let known = self.motions.get(name).copied();
        match known.filter(|m| m.coordinate != Coordinate::Swing) {
            Some(motion) => Ok(motion),
            None => {
                let suggestion = nearest(name, self.motions.keys().copied());
                self.source.fail(node, WorldErrorKind::UnknownJoint { name: clip(name), suggestion })
            }
        }
    }

    /// `<contact>`.
    pub(super) fn read_contact(&mut self, section: Node<'a>) -> Result<()> {
        for node in section.children().filter(Node::is_element) {
            match node.tag_name().name() {
                "exclude" => {
                    let [(a, _), (b, _)] =
                        [self.place_of(node, "body1", false)?, self.place_of(node, "body2", false)?];
                    if a != b {
                        self.no_contact.push([a.min(b), a.max(b)]);
                    }
                }
                word => self.source.note(node, format!("<{}> of <contact>", clip(word))),
            }
        }
        Ok(())
    }

    /// Pairs of bodies of which no geoms touch by their `contype` and `conaffinity`.
    pub(super) fn exclude_by_masks(&mut self) {
        let of_draft = |touches: &[Touch]| {
            let mut masks: Vec<[u32; 2]> = touches.iter().map(|t| t.masks).collect();
            masks.sort_unstable();
            masks.dedup();
            masks
        };
        let masks: Vec<Vec<[u32; 2]>> = self.drafts.iter().map(|d| of_draft(&d.touches)).collect();
        if masks.iter().flatten().all(|m| *m == [1, 1]) {
            return;
        }
        let touch = |a: &[u32; 2], b: &[u32; 2]| a[0] & b[1] != 0 || b[0] & a[1] != 0;
        for b in 0..masks.len() {
            for a in 0..b {
                let pairs = masks[a].iter().flat_map(|x| masks[b].iter().map(move |y| touch(x, y)));
                let (mut some, mut all) = (false, true);
                pairs.for_each(|t| (some, all) = (some | t, all & t));
                if masks[a].is_empty() || masks[b].is_empty() || all {
                    continue;
                }
                match some {
                    false => self.no_contact.push([a, b]),
                    true => {
                        let node = self.drafts[b].node;
                        let what =
                            "`contype` and `conaffinity` that differ within a body: all its geoms touch";
                        self.source.note(node, what.to_string());
                    }
                }
            }
        }
    }

    /// Friction: of two geoms that of the higher priority counts, of equals the larger one. Entries stand in
    /// this order, and the last that matches counts.
    pub(super) fn surfaces(&mut self) -> Vec<Surface> {
        let mut all: Vec<(usize, Touch)> = Vec::new();
        for i in 0..self.drafts.len() {
            let touches = &self.drafts[i].touches;
            let order = |a: &&Touch, b: &&Touch| {
                (a.priority, a.mu).partial_cmp(&(b.priority, b.mu)).unwrap_or(std::cmp::Ordering::Equal)
            };
            let Some(strongest) = touches.iter().max_by(order).copied() else { continue };
            if !touches.iter().all(|t| t.friction() == strongest.friction()) {
                let node = self.drafts[i].node;
                self.source.note(node, "friction that differs within a body: the largest counts".to_string());
            }
            all.push((i, strongest));
        }
        all.sort_by(|(_, a), (_, b)| a.priority.cmp(&b.priority).then(a.mu.total_cmp(&b.mu)));
        let surface = |between, mu, t: &Touch| Surface {
            between,
            mu,
            rolling: t.rolling,
            spinning: t.spinning,
            ..Surface::default()
        };
        let uniform = all.iter().all(|(_, t)| t.friction() == all[0].1.friction());
        if uniform {
            let one = all.first().map(|(_, t)| surface([None, None], if t.rough { t.mu } else { 0.0 }, t));
            return one.into_iter().collect();
        }
        let mut surfaces: Vec<Surface> =
            all.iter().map(|(i, t)| surface([Some(*i), None], t.mu, t)).collect();
        let smooth_bodies: Vec<usize> = all.iter().filter(|(_, t)| !t.rough).map(|(i, _)| *i).collect();
        for (k, &b) in smooth_bodies.iter().enumerate() {
            let smooth = |&a: &usize| Surface { between: [Some(a), Some(b)], ..Surface::default() };
            surfaces.extend(smooth_bodies[..k].iter().map(smooth));
        }
        surfaces
    }

    /// `<actuator>`.
    pub(super) fn read_actuators(&mut self, section: Node<'a>) -> Result<()> {
        for node in section.children().filter(Node::is_element) {
            let word = node.tag_name().name();
            if !["motor", "position", "velocity", "general"].contains(&word) {
                self.source.note(node, format!("<{}> of <actuator>", clip(word)));
                continue;
            }
            let element = self.defaults.element_as(&self.source, node, 0, [word, "general"])?;
            list_unread(&mut self.source, node, &ACTUATOR);
            self.actuator(element, word)?;
        }
        Ok(())
    }

    fn actuator(&mut self, element: Element<'a>, word: &str) -> Result<()> {
        let node = element.node;
        let key = if node.has_attribute("joint") { "joint" } else { "jointinparent" };
        if !node.has_attribute(key) {
            self.source.note(node, format!("<{word}> that acts on no joint"));
            return Ok(());
        }
        let motion = self.motion(node, key)?;
        let (source, defaults) = (&self.source, &self.defaults);
        let gear = defaults.list(source, element, "gear", [1, 6])?.map_or(1.0, |g| g[0]);
        let number = |name: &str, default: f64| defaults.nonnegative(source, element, name, default);
        let (gain, bias) = match word {
            "motor" => (1.0, [0.0; 3]),
            "position" => {
                let kp = number("kp", 1.0)?;
                (kp, [0.0, -kp, -number("kv", 0.0)?])
            }
            "velocity" => {
                let kv = number("kv", 1.0)?;
                (kv, [0.0, 0.0, -kv])
            }
            _ => {
                let word_of =
                    |name: &str, usual: &'a str| defaults.get(element, name).map_or(usual, |(w, _)| w);
                let simple = word_of("gaintype", "fixed") == "fixed" && word_of("dyntype", "none") == "none";
                let affine = match word_of("biastype", "none") {
                    "none" => false,
                    "affine" => true,
                    _ => {
                        self.source.note(node, "<general> with another bias than an affine one".to_string());
                        return Ok(());
                    }
                };
                if !simple {
                    self.source.note(node, "<general> with a state or a gain of its own".to_string());
                    return Ok(());
                }
                let gain = defaults.list(source, element, "gainprm", [1, 10])?.map_or(1.0, |g| g[0]);
                let mut bias = [0.0; 3];
                if affine {
                    let list = defaults.list(source, element, "biasprm", [1, 10])?.unwrap_or_default();
                    bias.iter_mut().zip(list).for_each(|(b, x)| *b = x);
                }
                (gain, bias)
            }
        };
        if bias[1] > 0.0 || bias[2] > 0.0 {
            self.source.note(node, format!("<{word}> that pushes away from its place"));
            return Ok(());
        }
        let range: Option<[f64; 2]> = defaults.numbers(source, element, "ctrlrange")?;
        let limited = defaults.flag(source, element, "ctrllimited")?.unwrap_or(self.compiler.autolimits);
        let control = match range.filter(|_| limited) {
            Some([low, high]) if low <= high => 0.0_f64.clamp(low, high),
            Some([low, high]) => {
                let key = "ctrlrange".to_string();
                return source.fail(node, WorldErrorKind::Limits { key, low, high });
            }
            None => 0.0,
        };
        let [constant_force, stiffness, damping] =
            [gear * (gain * control + bias[0]), -bias[1] * gear * gear, -bias[2] * gear * gear];
        let actions = &mut self.joints[motion.joint].actions;
        let mut act = |kind| actions.push(Action { coordinate: motion.coordinate, kind });
        if stiffness > 0.0 || damping > 0.0 {
            act(ActionKind::Spring { stiffness, damping, rest: -motion.sign * motion.reference });
        }
        if constant_force != 0.0 {
            act(ActionKind::Force { force: constant(motion.sign * constant_force) });
        }
        if stiffness == 0.0 && damping == 0.0 && constant_force == 0.0 {
            self.source.note(node, format!("<{word}>: without a control it gives no force"));
        }
        Ok(())
    }
}

/// A number as a function of time.
fn constant(value: f64) -> AnyFormula {
    AnyFormula::new(Expression::from(value))
}
