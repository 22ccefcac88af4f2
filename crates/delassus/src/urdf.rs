//! Worlds from URDF files (`<robot>`).
//!
//! Links become bodies, `<collision>` their shapes, joints stay joints. The root link is fixed where it has no `<inertial>` or is called
//! `world`, and free otherwise. A link without `<inertial>` on a fixed joint becomes part of its parent. What is not read is listed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use glam::{DMat3, DQuat, DVec3, EulerRot};
use roxmltree::{Document, Node};

use crate::diagnostic::{FileError, FileErrorKind};
use crate::file::MAX_FILE;
use crate::joint::{Action, ActionKind, Coordinate, Joint, JointFriction, JointKind};
use crate::mass::MassProperties;
use crate::mesh_file::{MeshError, Triangles, read_mesh};
use crate::suggest::clip;
use crate::table::Result;
use crate::world::{Pose, Shape, ShapeKind};
use crate::world_error::WorldErrorKind;
use crate::world_file::WorldFile;
use crate::world_file_body::{Written, possible_moments};
use crate::world_values::frame;

/// Elements that change nothing about how a robot moves.
const HARMLESS: [&str; 5] = ["visual", "material", "transmission", "gazebo", "calibration"];

/// A world from another format, and what of the file was not read.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The world.
    pub file: WorldFile,
    /// Elements and attributes that were not read.
    pub not_read: Vec<String>,
}

/// Reads a URDF. Meshes are looked for in `folder`.
pub fn read_urdf(text: &str, folder: Option<&Path>) -> Result<Imported> {
    if text.len() > MAX_FILE {
        let kind = FileErrorKind::TooLarge { bytes: text.len(), limit: MAX_FILE };
        return Err(FileError::new(text, None, kind));
    }
    let document = Document::parse(text).map_err(|error| {
        let at = error.pos();
        let line: usize =
            text.split_inclusive('\n').take(at.row.saturating_sub(1) as usize).map(str::len).sum();
        let start = line + at.col.saturating_sub(1) as usize;
        FileError::new(text, Some(start..start + 1), FileErrorKind::NotXml { message: error.to_string() })
    })?;
    let robot = document.root_element();
    let mut reader = Reader { text, folder, not_read: BTreeSet::new() };
    if robot.tag_name().name() != "robot" {
        return reader.attribute(robot, "name", "not of a <robot>", "a <robot>, the root of a URDF");
    }
    let file = reader.robot(robot)?;
    Ok(Imported { file, not_read: reader.not_read.into_iter().collect() })
}

struct Reader<'a> {
    text: &'a str,
    folder: Option<&'a Path>,
    not_read: BTreeSet<String>,
}

/// A body in the making.
struct Draft<'a, 'n> {
    link: Node<'a, 'n>,
    name: String,
    written: Written,
}

impl Reader<'_> {
    /// An error at the first tag of an element.
    fn fail<T>(&self, node: Node<'_, '_>, kind: WorldErrorKind) -> Result<T> {
        let range = node.range();
        let tag =
            self.text.get(range.clone()).and_then(|t| t.find('>')).map_or(range.end, |i| range.start + i + 1);
        Err(FileError::new(self.text, Some(range.start..tag), FileErrorKind::World(kind)))
    }

    fn attribute<T>(&self, node: Node<'_, '_>, name: &str, found: &str, expected: &'static str) -> Result<T> {
        let (element, attribute) = (clip(node.tag_name().name()), name.to_string());
        self.fail(node, WorldErrorKind::Attribute { element, attribute, found: clip(found), expected })
    }

    fn required<'n>(&self, node: Node<'n, '_>, name: &str, expected: &'static str) -> Result<&'n str> {
        match node.attribute(name) {
            Some(value) if !value.is_empty() => Ok(value),
            _ => self.attribute(node, name, "missing", expected),
        }
    }

    fn numbers<const N: usize>(&self, node: Node<'_, '_>, name: &str, default: [f64; N]) -> Result<[f64; N]> {
        let Some(value) = node.attribute(name) else { return Ok(default) };
        let parsed: Option<Vec<f64>> = value.split_whitespace().map(|w| w.parse().ok()).collect();
        match parsed
            .and_then(|list| <[f64; N]>::try_from(list).ok())
            .filter(|a| a.iter().all(|x| x.is_finite()))
        {
            Some(array) => Ok(array),
            None => {
                let expected =
                    ["a finite number", "two finite numbers", "three finite numbers"][N.clamp(1, 3) - 1];
                self.attribute(node, name, &format!("`{value}`"), expected)
            }
        }
    }

    /// A number that must be there and be positive.
    fn positive(&self, node: Node<'_, '_>, name: &str) -> Result<f64> {
        let [value] = self.numbers(node, name, [f64::NAN])?;
        if value > 0.0 {
            return Ok(value);
        }
        self.attribute(node, name, node.attribute(name).unwrap_or("missing"), "a positive number")
    }

    /// `<origin xyz rpy/>` of an element.
    fn origin(&self, node: Node<'_, '_>) -> Result<Pose> {
        let Some(origin) = child(node, "origin") else { return Ok(Pose::IDENTITY) };
        let position = DVec3::from_array(self.numbers(origin, "xyz", [0.0; 3])?);
        let [roll, pitch, yaw] = self.numbers(origin, "rpy", [0.0; 3])?;
        Ok(Pose { position, rotation: DQuat::from_euler(EulerRot::ZYX, yaw, pitch, roll) })
    }

    fn note(&mut self, what: String) {
        self.not_read.insert(what);
    }

    fn robot(&mut self, robot: Node<'_, '_>) -> Result<WorldFile> {
        let mut links: BTreeMap<&str, Node<'_, '_>> = BTreeMap::new();
        let mut children: BTreeMap<&str, Vec<Node<'_, '_>>> = BTreeMap::new();
        let mut parents: BTreeMap<&str, &str> = BTreeMap::new();
        let mut names = BTreeSet::new();
        for node in robot.children().filter(Node::is_element) {
            match node.tag_name().name() {
                "link" => {
                    let name = self.required(node, "name", "the name of the link")?;
                    if links.insert(name, node).is_some() {
                        return self.attribute(node, "name", &format!("`{name}` again"), "a name of its own");
                    }
                }
                "joint" => {
                    let name = self.required(node, "name", "the name of the joint")?;
                    let [parent, link] = [self.end(node, "parent")?, self.end(node, "child")?];
                    if !names.insert(name) {
                        return self.attribute(node, "name", &format!("`{name}` again"), "a name of its own");
                    }
                    if parent == link {
                        let (joint, body) = (format!("joint `{}`", clip(name)), clip(link));
                        return self.fail(node, WorldErrorKind::JoinsItself { joint, body });
                    }
                    if parents.insert(link, parent).is_some() {
                        return self.attribute(
                            node,
                            "child",
                            &format!("`{link}`"),
                            "a link without another parent",
                        );
                    }
                    children.entry(parent).or_default().push(node);
                }
                word if HARMLESS.contains(&word) => {}
                word => self.note(format!("<{}>", clip(word))),
            }
        }
        for joint in children.values().flatten() {
            for end in ["parent", "child"] {
                let name = self.end(*joint, end)?;
                if !links.contains_key(name) {
                    let suggestion = crate::suggest::nearest(name, links.keys().copied());
                    return self.fail(*joint, WorldErrorKind::UnknownBody { name: clip(name), suggestion });
                }
            }
        }
        let roots: Vec<&str> = links.keys().copied().filter(|name| !parents.contains_key(name)).collect();
        let mut drafts: Vec<Draft<'_, '_>> = Vec::new();
        let mut joints = Vec::new();
        let mut spans = Vec::new();
        let mut reached = 0;
        // Links with the body they belong to, and where they stand on it.
        let mut queue: Vec<(&str, usize, Pose)> = Vec::new();
        for root in roots {
            let given = if root == "world" { None } else { self.inertial(links[root])? };
            let written = Written { place: Pose::IDENTITY, given, shapes: Vec::new() };
            drafts.push(Draft { link: links[root], name: root.to_string(), written });
            queue.push((root, drafts.len() - 1, Pose::IDENTITY));
            while let Some((name, body, on_body)) = queue.pop() {
                reached += 1;
                let shapes = self.shapes(links[name], &on_body)?;
                drafts[body].written.shapes.extend(shapes);
                for &joint in children.get(name).into_iter().flatten() {
                    let link = self.end(joint, "child")?;
                    let place = on_body.compose(&self.origin(joint)?);
                    let given = self.inertial(links[link])?;
                    if given.is_none() && joint.attribute("type") == Some("fixed") {
                        queue.push((link, body, place));
                        continue;
                    }
                    if given.is_none() {
                        return self.fail(
                            links[link],
                            WorldErrorKind::NoMass { body: format!("link `{}`", clip(link)) },
                        );
                    }
                    let place = drafts[body].written.place.compose(&place);
                    drafts.push(Draft {
                        link: links[link],
                        name: link.to_string(),
                        written: Written { place, given, shapes: Vec::new() },
                    });
                    if let Some(made) = self.joint(joint, [body, drafts.len() - 1], &drafts)? {
                        joints.push(made);
                        spans.push(joint.range());
                    }
                    queue.push((link, drafts.len() - 1, Pose::IDENTITY));
                }
            }
        }
        if reached < links.len() {
            return self.attribute(
                robot,
                "name",
                "of links that hang on themselves",
                "joints without a loop",
            );
        }
        self.mimics(&children, &mut joints, &mut spans)?;
        let mut bodies = Vec::new();
        for Draft { link, name, written } in drafts {
            let (body, state) = written.in_principal_axes(name);
            if !body.fixed
                && let Err(kind) = possible_moments(&format!("link `{}`", clip(&body.name)), body.inertia)
            {
                return self.fail(link, kind);
            }
            bodies.push((body, state));
        }
        // The frames of joints were on the axes of links.
        for joint in joints.iter_mut().filter(|j| !matches!(j.kind, JointKind::Coupler { .. })) {
            joint.frames = [0, 1].map(|k| bodies[joint.bodies[k]].0.frame.compose(&joint.frames[k]));
        }
        let name = robot.attribute("name").unwrap_or_default().to_string();
        WorldFile::of_bodies(self.text, name, bodies, joints, spans)
    }

    /// The link at one end of a joint.
    fn end<'n>(&self, joint: Node<'n, '_>, end: &'static str) -> Result<&'n str> {
        match child(joint, end).and_then(|e| e.attribute("link")) {
            Some(link) => Ok(link),
            None => self.attribute(joint, end, "missing", "<parent link=…/> and <child link=…/>"),
        }
    }

    fn inertial(&mut self, link: Node<'_, '_>) -> Result<Option<MassProperties>> {
        let Some(node) = child(link, "inertial") else { return Ok(None) };
        let place = self.origin(node)?;
        let Some(mass) = child(node, "mass") else {
            return self.attribute(node, "mass", "missing", "<mass value=…/>");
        };
        let mass = self.positive(mass, "value")?;
        let Some(inertia) = child(node, "inertia") else {
            return self.attribute(node, "inertia", "missing", "<inertia ixx=… …/>");
        };
        let entry = |name: &str| self.numbers(inertia, name, [0.0]).map(|[x]| x);
        let [xx, xy, xz] = [entry("ixx")?, entry("ixy")?, entry("ixz")?];
        let [yy, yz, zz] = [entry("iyy")?, entry("iyz")?, entry("izz")?];
        let columns = [DVec3::new(xx, xy, xz), DVec3::new(xy, yy, yz), DVec3::new(xz, yz, zz)];
        let inertia = DMat3::from_cols(columns[0], columns[1], columns[2]);
        Ok(Some(MassProperties { mass, centre: DVec3::ZERO, inertia }.placed(&place)))
    }

    /// The shapes of a link that stands at `on_body`.
    fn shapes(&mut self, link: Node<'_, '_>, on_body: &Pose) -> Result<Vec<Shape>> {
        let mut shapes = Vec::new();
        for node in link.children().filter(Node::is_element) {
            match node.tag_name().name() {
                "collision" => {
                    let place = on_body.compose(&self.origin(node)?);
                    let geometry = child(node, "geometry").and_then(|g| g.first_element_child());
                    let Some(geometry) = geometry else {
                        return self.attribute(node, "geometry", "missing", "<geometry> with a shape");
                    };
                    if let Some(kind) = self.geometry(geometry)? {
                        shapes.push(Shape { kind, pose: place });
                    }
                }
                word if HARMLESS.contains(&word) || word == "inertial" => {}
                word => self.note(format!("<{}> of a link", clip(word))),
            }
        }
        Ok(shapes)
    }

    fn geometry(&mut self, node: Node<'_, '_>) -> Result<Option<ShapeKind>> {
        Ok(Some(match node.tag_name().name() {
            "sphere" => ShapeKind::Sphere { radius: self.positive(node, "radius")? },
            word @ ("cylinder" | "capsule") => {
                let (radius, half_height) =
                    (self.positive(node, "radius")?, self.positive(node, "length")? / 2.0);
                match word {
                    "capsule" => ShapeKind::Capsule { radius, half_height },
                    _ => ShapeKind::Cylinder { radius, half_height },
                }
            }
            "box" => {
                let size: [f64; 3] = self.numbers(node, "size", [0.0; 3])?;
                if size.iter().any(|x| *x <= 0.0) {
                    let found = node.attribute("size").unwrap_or("missing");
                    return self.attribute(node, "size", found, "three positive numbers");
                }
                ShapeKind::Box { half_extents: DVec3::from_array(size) / 2.0 }
            }
            "mesh" => {
                let name = self.required(node, "filename", "the name of a mesh file")?;
                let scale = DVec3::from_array(self.numbers(node, "scale", [1.0; 3])?);
                // The folder of the file stands for the package.
                let local = match name.strip_prefix("package://") {
                    Some(rest) => rest.split_once('/').map_or(rest, |(_, path)| path),
                    None => name.strip_prefix("file://").unwrap_or(name),
                };
                let read = self.folder.ok_or(MeshError::NoFolder).and_then(|f| read_mesh(&f.join(local)));
                match read {
                    Ok(Triangles { vertices, triangles }) => {
                        let vertices = vertices.into_iter().map(|v| v * scale).collect();
                        ShapeKind::Mesh { vertices, triangles }
                    }
                    Err(reason) => {
                        return self.fail(node, WorldErrorKind::Mesh { file: clip(local), reason });
                    }
                }
            }
            word => {
                self.note(format!("<{}> of a geometry", clip(word)));
                return Ok(None);
            }
        }))
    }

    /// A joint with frames on the axes of its links; `None` where it holds nothing.
    fn joint(
        &mut self,
        node: Node<'_, '_>,
        bodies: [usize; 2],
        drafts: &[Draft<'_, '_>],
    ) -> Result<Option<Joint>> {
        const TYPES: &str = "revolute, continuous, prismatic, fixed, planar or floating";
        let name = self.required(node, "name", "the name of the joint")?;
        let word = self.required(node, "type", TYPES)?;
        let kind = match word {
            "revolute" | "continuous" => JointKind::Revolute,
            "prismatic" => JointKind::Prismatic,
            "fixed" => JointKind::Fixed,
            "planar" => JointKind::Planar,
            "floating" => return Ok(None),
            _ => return self.attribute(node, "type", &format!("`{word}`"), TYPES),
        };
        let mut axis = DVec3::X;
        if let Some(element) = child(node, "axis") {
            let xyz = DVec3::from_array(self.numbers(element, "xyz", [1.0, 0.0, 0.0])?);
            axis = match xyz.try_normalize() {
                Some(unit) => unit,
                None => return self.fail(element, WorldErrorKind::NoDirection { key: "xyz".to_string() }),
            };
        }
        let places = bodies.map(|b| drafts[b].written.place);
        let on_child = frame(DVec3::ZERO, axis, None);
        let frames = [places[0].inverse().compose(&places[1]).compose(&on_child), on_child];
        let mut joint = Joint::new(name, kind, bodies, frames);
        let Some(coordinate) = joint.kind.coordinate() else { return Ok(Some(joint)) };
        for element in node.children().filter(Node::is_element) {
            match element.tag_name().name() {
                "limit" => {
                    for unread in ["effort", "velocity"].iter().filter(|a| element.has_attribute(**a)) {
                        self.note(format!("{unread} of <limit>"));
                    }
                    let [lower] = self.numbers(element, "lower", [0.0])?;
                    let [upper] = self.numbers(element, "upper", [0.0])?;
                    if word == "continuous" || word == "planar" {
                        continue;
                    }
                    if lower >= upper {
                        let key = "lower and upper".to_string();
                        return self.fail(element, WorldErrorKind::Limits { key, low: lower, high: upper });
                    }
                    let kind = ActionKind::Limits { lower, upper, restitution: 0.0 };
                    joint.actions.push(Action { coordinate, kind });
                }
                "dynamics" => {
                    let [damping] = self.numbers(element, "damping", [0.0])?;
                    let [friction] = self.numbers(element, "friction", [0.0])?;
                    if damping > 0.0 {
                        let kind = ActionKind::Spring { stiffness: 0.0, damping, rest: 0.0 };
                        joint.actions.push(Action { coordinate, kind });
                    }
                    if friction > 0.0 {
                        let mut dry = JointFriction::default();
                        match coordinate {
                            Coordinate::About(_) => dry.moment = friction,
                            _ => dry.force = friction,
                        }
                        joint.friction = Some(dry);
                    }
                }
                "origin" | "parent" | "child" | "axis" | "mimic" => {}
                other if HARMLESS.contains(&other) => {}
                other => self.note(format!("<{}> of a joint", clip(other))),
            }
        }
        Ok(Some(joint))
    }

    /// `<mimic joint multiplier offset/>`: c = multiplier · c of the other joint + offset.
    fn mimics(
        &self,
        children: &BTreeMap<&str, Vec<Node<'_, '_>>>,
        joints: &mut Vec<Joint>,
        spans: &mut Vec<std::ops::Range<usize>>,
    ) -> Result<()> {
        for &node in children.values().flatten() {
            let Some(mimic) = child(node, "mimic") else { continue };
            let find = |name: Option<&str>| joints.iter().position(|j| Some(j.name.as_str()) == name);
            let own = find(node.attribute("name")).filter(|&i| joints[i].kind.coordinate().is_some());
            let other = find(mimic.attribute("joint")).filter(|&i| joints[i].kind.coordinate().is_some());
            let (Some(own), Some(other)) = (own, other) else {
                let found = mimic.attribute("joint").unwrap_or("missing");
                return self.attribute(mimic, "joint", found, "the name of another joint that moves");
            };
            let [multiplier] = self.numbers(mimic, "multiplier", [1.0])?;
            let [offset] = self.numbers(mimic, "offset", [0.0])?;
            let kind =
                JointKind::Coupler { joints: [other, own], factors: [multiplier, -1.0], offset: -offset };
            let name = format!("mimic of {}", joints[own].name);
            joints.push(Joint::new(&name, kind, joints[own].bodies, [Pose::IDENTITY; 2]));
            spans.push(mimic.range());
        }
        Ok(())
    }
}

/// The first child element of this name.
fn child<'a, 'n>(node: Node<'a, 'n>, name: &str) -> Option<Node<'a, 'n>> {
    node.children().find(|c| c.is_element() && c.tag_name().name() == name)
}
