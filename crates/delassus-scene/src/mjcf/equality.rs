//! Equalities, contact filters and friction of MJCF files.

use std::collections::{BTreeMap, BTreeSet};

use super::Model;
use super::attributes::Element;
use super::draft::Touch;
use super::joint::Motion;
use super::unread::list_unread;
use crate::diagnostic::{Result, WorldErrorKind};
use crate::xml::{Node, finite_numbers};
use delassus::formula::{AnyFormula, Expression, clip, nearest};
use delassus::world::{
    Action, ActionKind, Coordinate, Joint, JointKind, Pose, Surface, TendonPart, TendonTerm,
};

/// Attributes of `<connect>`, `<weld>` and `<joint>` of `<equality>` that are read, or do not matter to what
/// is rigid.
pub(super) const EQUALITY: [&str; 14] = [
    "body1",
    "body2",
    "site1",
    "site2",
    "anchor",
    "relpose",
    "joint1",
    "joint2",
    "tendon1",
    "tendon2",
    "polycoef",
    "active",
    "torquescale",
    "flex",
];
/// Attributes of `<pair>` that are read.
const PAIR: [&str; 4] = ["geom1", "geom2", "condim", "friction"];

/// Which drafts touch, and how, but for what the masks of geoms say.
#[derive(Default)]
pub(super) struct ContactFilter<'a> {
    /// Pairs that pass through each other.
    pub(super) no_contact: Vec<[usize; 2]>,
    /// Names of geoms in a `<pair>`; once read, the draft of each.
    pub(super) paired: BTreeSet<&'a str>,
    pub(super) geoms: BTreeMap<&'a str, usize>,
    /// Those of `<pair>`s, and their friction where they give it.
    pub(super) pairs: Vec<([usize; 2], Option<Surface>)>,
}

impl<'a> Model<'a> {
    /// `<equality>`.
    pub(super) fn read_equalities(&mut self, section: Node<'a>) -> Result<()> {
        for node in section.children() {
            let word = node.tag();
            let element = self.defaults.element_as(&self.source, node, 0, &["equality"])?;
            list_unread(&mut self.source, node, &EQUALITY);
            if self.defaults.flag(&self.source, element, "active")? == Some(false) {
                self.source.note(node, format!("<{}> that is not active", clip(word)));
                continue;
            }
            let made = match word {
                "connect" => self.connect(node)?,
                "weld" => self.weld(node)?,
                "joint" => self.joint_equality(element)?,
                "tendon" => self.tendon_equality(element)?,
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
        self.free_name(own.unwrap_or_else(|| format!("{} of {a} and {b}", node.tag())))
    }

    /// A body or site by its name: the draft, and where it stands on it.
    pub(super) fn place_of(&self, node: Node<'a>, key: &'static str, site: bool) -> Result<(usize, Pose)> {
        let table = if site { &self.names.sites } else { &self.names.bodies };
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

    /// Whether an equality holds two bodies of which one moves.
    fn two_bodies(&mut self, node: Node<'a>, bodies: [usize; 2]) -> bool {
        let holds = bodies[0] != bodies[1] && bodies.iter().any(|&b| !self.drafts[b].fixed);
        if !holds {
            self.source
                .note(node, format!("<{}> of parts that do not move against each other", clip(node.tag())));
        }
        holds
    }

    /// A joint whose first frame stands at `on_first`, the second one where the first is in the position of
    /// the file.
    fn held(&self, node: Node<'a>, kind: JointKind, bodies: [usize; 2], on_first: Pose) -> Joint {
        let [a, b] = bodies.map(|b| self.drafts[b].place);
        let frames = [on_first, b.inverse().compose(&a).compose(&on_first)];
        Joint::new(&self.equality_name(node, bodies), kind, bodies, frames)
    }

    /// One point of two bodies.
    fn connect(&mut self, node: Node<'a>) -> Result<Option<Joint>> {
        if node.has_attribute("site1") {
            let (places, bodies) = self.two_sites(node)?;
            if !self.two_bodies(node, bodies) {
                return Ok(None);
            }
            let frames = places.map(|p| Pose { position: p.position, ..Pose::IDENTITY });
            let frames = [frames[0], Pose { rotation: self.relative_rotation(bodies), ..frames[1] }];
            return Ok(Some(Joint::new(&self.equality_name(node, bodies), JointKind::Ball, bodies, frames)));
        }
        let [(a, at), (b, _)] = [self.place_of(node, "body1", false)?, self.place_of(node, "body2", false)?];
        self.source.required(node, "anchor", "three numbers")?;
        let anchor = at.point(self.source.numbers(node, "anchor", [0.0; 3])?.into());
        let frame = Pose { position: anchor, ..Pose::IDENTITY };
        Ok(self.two_bodies(node, [a, b]).then(|| self.held(node, JointKind::Ball, [a, b], frame)))
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
            let joint = |name: &str| Joint::new(name, JointKind::Fixed, bodies, frames);
            return Ok(self.two_bodies(node, bodies).then(|| joint(&self.equality_name(node, bodies))));
        }
        let [(a, at), (b, on)] = [self.place_of(node, "body1", false)?, self.place_of(node, "body2", false)?];
        let Some(text) = node.attribute("relpose") else {
            return Ok(self.two_bodies(node, [a, b]).then(|| self.held(node, JointKind::Fixed, [a, b], at)));
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
            return Ok(self.two_bodies(node, [a, b]).then(|| self.held(node, JointKind::Fixed, [a, b], at)));
        }
        if !self.two_bodies(node, [a, b]) {
            return Ok(None);
        }
        let relative = Pose { position: glam::DVec3::new(x, y, z), rotation: rotation.normalize() };
        let name = self.equality_name(node, [a, b]);
        Ok(Some(Joint::new(&name, JointKind::Fixed, [a, b], [at.compose(&relative), on])))
    }

    /// a₀ to a₄ of `polycoef`.
    fn polynomial(&self, element: Element<'a>) -> Result<[f64; 5]> {
        let list = self.defaults.list(&self.source, element, "polycoef", [1, 5])?;
        let mut coefficients = [0.0, 1.0, 0.0, 0.0, 0.0];
        if let Some(list) = list {
            coefficients[..list.len()].copy_from_slice(&list);
        }
        Ok(coefficients)
    }

    /// a₀ and a₁ of `polycoef`; a note says where there are others.
    pub(super) fn line(&mut self, element: Element<'a>, has_second: bool) -> Result<[f64; 2]> {
        let [offset, factor, others @ ..] = self.polynomial(element)?;
        if has_second && others != [0.0; 3] {
            let what =
                format!("the curve of `polycoef` of <{}>: its tangent at zero counts", element.node.tag());
            self.source.note(element.node, what);
        }
        Ok([offset, factor])
    }

    /// c₁ = a₀ + a₁ c₂ + a₂ c₂² + …: a coupler, a curve that is held, or a coordinate held where there is no
    /// second joint.
    fn joint_equality(&mut self, element: Element<'a>) -> Result<Option<Joint>> {
        let node = element.node;
        let [offset, factor, others @ ..] = self.polynomial(element)?;
        let first = self.motion(node, "joint1")?;
        let second = node.has_attribute("joint2").then(|| self.motion(node, "joint2")).transpose()?;
        if let Some(second) = second.filter(|_| others != [0.0; 3]) {
            return Ok(Some(self.curve(
                node,
                first,
                second,
                [offset, factor, others[0], others[1], others[2]],
            )));
        }
        let Some(second) = second.filter(|_| factor != 0.0) else {
            let kind = ActionKind::Drive { position: constant(first.sign * offset) };
            self.joints[first.joint].actions.push(Action { coordinate: first.coordinate, kind });
            return Ok(None);
        };
        let is_own = |m: &Motion| self.joints[m.joint].kind.coordinate() == Some(m.coordinate);
        if !is_own(&first) || !is_own(&second) {
            return Ok(Some(self.hold(node, (first, 0.0), Some((second, 0.0)), [offset, factor])));
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

    /// c₁ − a₁ c₂ − a₂ c₂² − … = a₀ of two coordinates, both zero in the position of the file.
    fn curve(&mut self, node: Node<'a>, first: Motion, second: Motion, a: [f64; 5]) -> Joint {
        let mut joint = self.hold(node, (first, 0.0), None, [a[0], 0.0]);
        let s = second.sign;
        let (joint_of, coordinate) = (second.joint, second.coordinate);
        let coefficients = [a[1] * s, a[2], a[3] * s, a[4]];
        if let JointKind::Tendon(terms) = &mut joint.kind {
            let part = TendonPart::Polynomial { joint: joint_of, coordinate, coefficients };
            terms.push(TendonTerm { factor: -1.0, part });
        }
        joint
    }

    /// A hinge or slide by its name.
    pub(super) fn motion(&self, node: Node<'a>, key: &'static str) -> Result<Motion> {
        let name = self.source.required(node, key, "the name of a hinge or slide")?;
        let known = self.names.motions.get(name).copied();
        match known.filter(|m| m.coordinate != Coordinate::Swing) {
            Some(motion) => Ok(motion),
            None => {
                let suggestion = nearest(name, self.names.motions.keys().copied());
                self.source.fail(node, WorldErrorKind::UnknownJoint { name: clip(name), suggestion })
            }
        }
    }

    /// `<contact>`.
    pub(super) fn read_contact(&mut self, section: Node<'a>) -> Result<()> {
        for node in section.children() {
            match node.tag() {
                "exclude" => {
                    let [(a, _), (b, _)] =
                        [self.place_of(node, "body1", false)?, self.place_of(node, "body2", false)?];
                    if a != b {
                        self.filter.no_contact.push([a.min(b), a.max(b)]);
                    }
                }
                "pair" => self.pair(node)?,
                word => self.source.note(node, format!("<{}> of <contact>", clip(word))),
            }
        }
        Ok(())
    }

    /// Two geoms that touch whatever their masks say.
    fn pair(&mut self, node: Node<'a>) -> Result<()> {
        list_unread(&mut self.source, node, &PAIR);
        let draft = |key: &'static str| {
            let name = self.source.required(node, key, "the name of a <geom>")?;
            match self.filter.geoms.get(name) {
                Some(&draft) => Ok(draft),
                None => {
                    self.source.attribute(node, key, &format!("`{}`", clip(name)), "the name of a <geom>")
                }
            }
        };
        let [a, b] = [draft("geom1")?, draft("geom2")?];
        if a == b || [a, b].iter().all(|&d| self.drafts[d].fixed) {
            self.source.note(node, "<pair> of geoms that do not move against each other".to_string());
            return Ok(());
        }
        let element = self.defaults.element(&self.source, node, 0)?;
        let condim = self.defaults.number(&self.source, element, "condim", 3.0)?;
        let friction = self.defaults.list(&self.source, element, "friction", [1, 5])?;
        let surface = friction.map(|list| {
            let at = |k: usize, usual: f64| list.get(k).copied().unwrap_or(usual);
            Surface {
                between: [Some(a), Some(b)],
                mu: if condim > 1.0 { at(0, 1.0).max(0.0) } else { 0.0 },
                spinning: if condim >= 4.0 { at(2, 0.005).max(0.0) } else { 0.0 },
                rolling: if condim >= 6.0 { at(3, 0.0001).max(0.0) } else { 0.0 },
                ..Surface::default()
            }
        });
        self.filter.pairs.push(([a.min(b), a.max(b)], surface));
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
                let paired = self.filter.pairs.iter().any(|(pair, _)| *pair == [a, b]);
                // A <pair> of two geoms that are all of their bodies means no others.
                let others = self.drafts[a].touches.len() * self.drafts[b].touches.len() > 1;
                match some || paired {
                    false => self.filter.no_contact.push([a, b]),
                    true if !others => {}
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
}

/// A number as a function of time.
fn constant(value: f64) -> AnyFormula {
    AnyFormula::new(Expression::from(value))
}
