//! Worlds from URDF files (`<robot>`).
//!
//! Links become bodies, `<collision>` their shapes, joints stay joints.
//!
//! | link | becomes |
//! |---|---|
//! | root | fixed where it has no `<inertial>` or is called `world`, else free; or as asked for |
//! | on a fixed joint | part of its parent, mass included |
//! | without mass, and nothing with mass beyond it | part of its parent, its joint at zero |
//! | without mass between two joints that move | a body of 1/1000 of the mass of what hangs on it |
//!
//! Meshes of bodies that move touch as their convex hulls. What is not read is listed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use glam::{DMat3, DQuat, DVec3, EulerRot};

use crate::diagnostic::{Result, WorldErrorKind};
use crate::mesh_file::{Triangles, kept_parts, read_mesh};
use crate::package::resolve;
use crate::world_file::{WorldFile, Written, frame, possible_moments};
use crate::xml::{Imported, Node, Source, child};
use delassus::formula::{clip, nearest};
use delassus::world::{
    Action, ActionKind, Body, BodyState, Coordinate, Joint, JointFriction, JointKind, MassProperties, Pose,
    Shape, ShapeKind, check_body_at, principal_axes, reduced_hull,
};

/// Elements that change nothing about how a robot moves.
const HARMLESS: [&str; 7] =
    ["visual", "material", "transmission", "gazebo", "calibration", "verbose", "safety_controller"];
/// Part of the mass of what hangs on it that a link without mass takes.
const LINK_MASS: f64 = 1e-3;
/// How many points a hull may have, and how far others may lie outside as part of the extent.
const HULL: (usize, f64) = (256, 1e-4);

/// Reads the root element of a URDF.
pub(super) fn read_robot(source: Source<'_>, robot: Node<'_>) -> Result<Imported> {
    let mut reader = Reader { source };
    let file = reader.robot(robot)?;
    Ok(Imported { file, not_read: reader.source.notes() })
}

struct Reader<'a> {
    source: Source<'a>,
}

/// A body in the making.
struct Draft<'a> {
    link: Node<'a>,
    name: String,
    written: Written,
}

/// Links by name, the joints on which others hang on them, and their parents.
#[derive(Default)]
struct Tree<'a> {
    links: BTreeMap<&'a str, Node<'a>>,
    children: BTreeMap<&'a str, Vec<Node<'a>>>,
    parents: BTreeMap<&'a str, &'a str>,
}

/// Bodies in the making, and joints with their places in the file.
#[derive(Default)]
struct Assembly<'a> {
    drafts: Vec<Draft<'a>>,
    joints: Vec<Joint>,
    spans: Vec<Range<usize>>,
    /// Bodies with those that hang on them.
    parents: Vec<(usize, usize)>,
}

impl<'a> Assembly<'a> {
    /// Adds a body without mass so far and returns its number.
    fn add(&mut self, link: Node<'a>, name: &str, place: Pose, fixed: bool) -> usize {
        let given = (!fixed).then_some(MassProperties::ZERO);
        let written = Written { place, given, shapes: Vec::new() };
        self.drafts.push(Draft { link, name: name.to_string(), written });
        self.drafts.len() - 1
    }
}

impl Reader<'_> {
    /// A number that must be there and be positive.
    fn positive(&self, node: Node<'_>, name: &str) -> Result<f64> {
        let [value] = self.source.numbers(node, name, [f64::NAN])?;
        if value > 0.0 {
            return Ok(value);
        }
        self.source.attribute(node, name, node.attribute(name).unwrap_or("missing"), "a positive number")
    }

    /// `<origin xyz rpy/>` of an element.
    fn origin(&self, node: Node<'_>) -> Result<Pose> {
        let Some(origin) = child(node, "origin") else { return Ok(Pose::IDENTITY) };
        let position = DVec3::from_array(self.source.numbers(origin, "xyz", [0.0; 3])?);
        let [roll, pitch, yaw] = self.source.numbers(origin, "rpy", [0.0; 3])?;
        Ok(Pose { position, rotation: DQuat::from_euler(EulerRot::ZYX, yaw, pitch, roll) })
    }

    fn robot(&mut self, robot: Node<'_>) -> Result<WorldFile> {
        let tree = self.tree(robot)?;
        let mut assembly = self.assemble(robot, &tree)?;
        self.mimics(&tree.children, &mut assembly.joints, &mut assembly.spans)?;
        let Assembly { drafts, mut joints, spans, .. } = assembly;
        let bodies = drafts.into_iter().map(|draft| self.body(draft)).collect::<Result<Vec<_>>>()?;
        // The frames of joints were on the axes of links.
        for joint in joints.iter_mut().filter(|j| !matches!(j.kind, JointKind::Coupler { .. })) {
            joint.frames = [0, 1].map(|k| bodies[joint.bodies[k]].0.frame.compose(&joint.frames[k]));
        }
        let name = robot.attribute("name").unwrap_or_default().to_string();
        WorldFile::of_bodies(self.source.text, name, bodies, joints, spans)
    }

    /// The links, and the joints between them.
    fn tree<'n>(&mut self, robot: Node<'n>) -> Result<Tree<'n>> {
        let mut tree = Tree::default();
        let mut names = BTreeSet::new();
        for node in robot.children() {
            match node.tag() {
                "link" => {
                    let name = self.source.required(node, "name", "the name of the link")?;
                    if tree.links.insert(name, node).is_some() {
                        return self.repeated(node, name);
                    }
                }
                "joint" => {
                    let name = self.source.required(node, "name", "the name of the joint")?;
                    let [parent, link] = [self.end(node, "parent")?, self.end(node, "child")?];
                    if !names.insert(name) {
                        return self.repeated(node, name);
                    }
                    if parent == link {
                        let (joint, body) = (format!("joint `{}`", clip(name)), clip(link));
                        return self.source.fail(node, WorldErrorKind::JoinsItself { joint, body });
                    }
                    if tree.parents.insert(link, parent).is_some() {
                        let (found, expected) = (format!("`{link}`"), "a link without another parent");
                        return self.source.attribute(node, "child", &found, expected);
                    }
                    tree.children.entry(parent).or_default().push(node);
                }
                word if HARMLESS.contains(&word) => {}
                word if word.starts_with("xacro:") => {
                    let element = clip(word);
                    let expected = "a URDF: `xacro FILE.xacro > FILE.urdf` makes one";
                    return self.source.fail(node, WorldErrorKind::Element { element, expected });
                }
                word => self.source.note(node, format!("<{}>", clip(word))),
            }
        }
        for &joint in tree.children.values().flatten() {
            for end in ["parent", "child"] {
                let name = self.end(joint, end)?;
                if !tree.links.contains_key(name) {
                    let suggestion = nearest(name, tree.links.keys().copied());
                    let kind = WorldErrorKind::UnknownBody { name: clip(name), suggestion };
                    return self.source.fail(joint, kind);
                }
            }
        }
        Ok(tree)
    }

    /// A name that another element of its kind has already.
    fn repeated<T>(&self, node: Node<'_>, name: &str) -> Result<T> {
        self.source.attribute(node, "name", &format!("`{name}` again"), "a name of its own")
    }

    /// Bodies and joints from the roots outward; links on fixed joints join their parent.
    fn assemble<'n>(&mut self, robot: Node<'_>, tree: &Tree<'n>) -> Result<Assembly<'n>> {
        let mut assembly = Assembly::default();
        let mut reached = 0;
        // Links with the body they belong to, and where they stand on it.
        let mut queue: Vec<(&str, usize, Pose)> = Vec::new();
        for (&root, &link) in tree.links.iter().filter(|(name, _)| !tree.parents.contains_key(*name)) {
            let fixed = root == "world" || self.inertial(link)?.is_none();
            let fixed = self.source.options.fixed_base.unwrap_or(fixed);
            queue.push((root, assembly.add(link, root, Pose::IDENTITY, fixed), Pose::IDENTITY));
            while let Some((name, body, on_body)) = queue.pop() {
                reached += 1;
                let link = tree.links[name];
                let fixed = assembly.drafts[body].written.given.is_none();
                let shapes = self.shapes(link, &on_body, fixed)?;
                assembly.drafts[body].written.shapes.extend(shapes);
                if let Some(mass) = self.inertial(link)?
                    && let Some(given) = &mut assembly.drafts[body].written.given
                {
                    *given = given.plus(&mass.placed(&on_body));
                }
                for &joint in tree.children.get(name).into_iter().flatten() {
                    let child = self.end(joint, "child")?;
                    let link = tree.links[child];
                    let place = on_body.compose(&self.origin(joint)?);
                    let moves = joint.attribute("type") != Some("fixed");
                    if moves && !self.carries_mass(tree, child)? {
                        self.source.note(
                            joint,
                            "a joint that moves nothing with mass: it stays at zero".to_string(),
                        );
                    }
                    if !moves || !self.carries_mass(tree, child)? {
                        queue.push((child, body, place));
                        continue;
                    }
                    let place = assembly.drafts[body].written.place.compose(&place);
                    let made = assembly.add(link, child, place, false);
                    if let Some(found) = self.joint(joint, [body, made], &assembly.drafts)? {
                        assembly.joints.push(found);
                        assembly.spans.push(joint.range());
                    }
                    assembly.parents.push((body, made));
                    queue.push((child, made, Pose::IDENTITY));
                }
            }
        }
        if reached < tree.links.len() {
            let found = "of links that hang on themselves";
            return self.source.attribute(robot, "name", found, "joints without a loop");
        }
        self.give_mass(&mut assembly)?;
        Ok(assembly)
    }

    /// Whether a link or one that hangs on it has mass.
    fn carries_mass(&mut self, tree: &Tree<'_>, link: &str) -> Result<bool> {
        let mut queue = vec![link];
        let mut seen = 0;
        while let Some(name) = queue.pop() {
            seen += 1;
            if self.inertial(tree.links[name])?.is_some() {
                return Ok(true);
            }
            if seen > tree.links.len() {
                return Ok(false);
            }
            for &joint in tree.children.get(name).into_iter().flatten() {
                queue.push(self.end(joint, "child")?);
            }
        }
        Ok(false)
    }

    /// Bodies without mass between joints take a small part of that of what hangs on them.
    fn give_mass(&mut self, assembly: &mut Assembly<'_>) -> Result<()> {
        for &(_, body) in assembly.parents.iter().rev() {
            let mass = |b: usize| assembly.drafts[b].written.given.unwrap_or(MassProperties::ZERO);
            if mass(body).mass > 0.0 {
                continue;
            }
            let children = assembly.parents.iter().filter(|(parent, _)| *parent == body);
            let whole = children.fold(MassProperties::ZERO, |sum, &(_, c)| sum.plus(&mass(c)));
            let part = whole.scaled(LINK_MASS);
            let m = part.inertia;
            let moment = m.x_axis.x.max(m.y_axis.y).max(m.z_axis.z);
            let link = assembly.drafts[body].link;
            let what = "that links between two joints have no mass: each takes 1/1000 of what hangs on it";
            self.source.note(link, what.to_string());
            let inertia = DMat3::from_diagonal(DVec3::splat(moment));
            let given = MassProperties { mass: part.mass, centre: DVec3::ZERO, inertia };
            assembly.drafts[body].written.given = Some(given);
        }
        for draft in &assembly.drafts {
            if draft.written.given.is_some_and(|given| given.mass <= 0.0) {
                let body = format!("link `{}`", clip(&draft.name));
                return self.source.fail(draft.link, WorldErrorKind::NoMass { body });
            }
        }
        Ok(())
    }

    /// A link in its principal axes, once its numbers make sense.
    fn body(&mut self, Draft { link, name, mut written }: Draft<'_>) -> Result<(Body, BodyState)> {
        if let Some(given) = &mut written.given {
            let (moments, _) = principal_axes(&given.inertia);
            if moments.is_finite() && possible_moments("", moments).is_err() {
                // As MuJoCo's `balanceinertia`; a point of mass becomes a small ball.
                let mean = (moments.element_sum() / 3.0).max(1e-6 * given.mass);
                given.inertia = DMat3::from_diagonal(DVec3::splat(mean));
                let what = "moments of inertia that no body has: each becomes the mean of the three";
                self.source.note(link, what.to_string());
            }
        }
        let (body, state) = written.in_principal_axes(name);
        // Each number is finite, but what was made of them may not be.
        if let Err(error) = check_body_at(&body, &state) {
            return self.source.fail(link, WorldErrorKind::Numbers(error));
        }
        Ok((body, state))
    }

    /// The link at one end of a joint.
    fn end<'n>(&self, joint: Node<'n>, end: &'static str) -> Result<&'n str> {
        match child(joint, end).and_then(|e| e.attribute("link")) {
            Some(link) => Ok(link),
            None => self.source.attribute(joint, end, "missing", "<parent link=…/> and <child link=…/>"),
        }
    }

    /// Mass in the axes of the link; `None` where it has none.
    fn inertial(&self, link: Node<'_>) -> Result<Option<MassProperties>> {
        let Some(node) = child(link, "inertial") else { return Ok(None) };
        let place = self.origin(node)?;
        let Some(mass) = child(node, "mass") else {
            return self.source.attribute(node, "mass", "missing", "<mass value=…/>");
        };
        let [value] = self.source.numbers(mass, "value", [f64::NAN])?;
        if value == 0.0 {
            return Ok(None);
        }
        let mass = self.positive(mass, "value")?;
        let Some(inertia) = child(node, "inertia") else {
            return self.source.attribute(node, "inertia", "missing", "<inertia ixx=… …/>");
        };
        let entry = |name: &str| self.source.numbers(inertia, name, [0.0]).map(|[x]| x);
        let [xx, xy, xz] = [entry("ixx")?, entry("ixy")?, entry("ixz")?];
        let [yy, yz, zz] = [entry("iyy")?, entry("iyz")?, entry("izz")?];
        let columns = [DVec3::new(xx, xy, xz), DVec3::new(xy, yy, yz), DVec3::new(xz, yz, zz)];
        let inertia = DMat3::from_cols(columns[0], columns[1], columns[2]);
        Ok(Some(MassProperties { mass, centre: DVec3::ZERO, inertia }.placed(&place)))
    }

    /// The shapes of a link that stands at `on_body`.
    fn shapes(&mut self, link: Node<'_>, on_body: &Pose, fixed: bool) -> Result<Vec<Shape>> {
        let mut shapes = Vec::new();
        for node in link.children() {
            match node.tag() {
                "collision" => {
                    let place = on_body.compose(&self.origin(node)?);
                    let geometry = child(node, "geometry").and_then(|g| g.children().next());
                    let Some(geometry) = geometry else {
                        return self.source.attribute(node, "geometry", "missing", "<geometry> with a shape");
                    };
                    let kinds = self.geometry(geometry, fixed)?;
                    shapes.extend(kinds.into_iter().map(|kind| Shape { kind, pose: place }));
                }
                word if HARMLESS.contains(&word) || word == "inertial" => {}
                word => self.source.note(node, format!("<{}> of a link", clip(word))),
            }
        }
        Ok(shapes)
    }

    fn geometry(&mut self, node: Node<'_>, fixed: bool) -> Result<Vec<ShapeKind>> {
        Ok(vec![match node.tag() {
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
                let size: [f64; 3] = self.source.numbers(node, "size", [0.0; 3])?;
                if size.iter().any(|x| *x <= 0.0) {
                    let found = node.attribute("size").unwrap_or("missing");
                    return self.source.attribute(node, "size", found, "three positive numbers");
                }
                ShapeKind::Box { half_extents: DVec3::from_array(size) / 2.0 }
            }
            "mesh" => {
                let name = self.source.required(node, "filename", "the name of a mesh file")?;
                let scale = DVec3::from_array(self.source.numbers(node, "scale", [1.0; 3])?);
                let path = resolve(name, self.source.folder, &self.source.options.packages);
                let Triangles { mut vertices, triangles } = match path.and_then(|path| read_mesh(&path)) {
                    Ok(mesh) => mesh,
                    Err(reason) => {
                        return self.source.fail(node, WorldErrorKind::Mesh { file: clip(name), reason });
                    }
                };
                vertices.iter_mut().for_each(|v| *v *= scale);
                match fixed {
                    true => ShapeKind::Mesh { vertices, triangles },
                    false => return self.mesh_shapes(node, name, Triangles { vertices, triangles }),
                }
            }
            word => {
                self.source.note(node, format!("<{}> of a geometry", clip(word)));
                return Ok(vec![]);
            }
        }])
    }

    /// What the mesh of a body that moves touches with: its hull, or those of its parts.
    fn mesh_shapes(&mut self, node: Node<'_>, file: &str, mesh: Triangles) -> Result<Vec<ShapeKind>> {
        let parts = match &self.source.options.convex_parts {
            None => vec![],
            Some(folder) => {
                let name = file.rsplit('/').next().unwrap_or(file);
                let wrong =
                    |reason| self.source.fail(node, WorldErrorKind::Mesh { file: clip(file), reason });
                kept_parts(folder, name, &mesh).or_else(wrong)?
            }
        };
        Ok(match parts.len() {
            0 | 1 => self.hull(node, &mesh.vertices).into_iter().collect(),
            _ => parts.iter().filter_map(|part| self.hull(node, part)).collect(),
        })
    }

    /// The hull of a mesh on a body that moves; `None` where it is flat.
    fn hull(&mut self, node: Node<'_>, points: &[DVec3]) -> Option<ShapeKind> {
        let inf = DVec3::INFINITY;
        let (low, high) = points.iter().fold((inf, -inf), |(l, h), p| (l.min(*p), h.max(*p)));
        let within = HULL.1 * (high - low).length();
        let Some(hull) = reduced_hull(points, within, HULL.0) else {
            self.source.note(node, "a flat <mesh>: it touches nothing".to_string());
            return None;
        };
        if hull.error > within {
            let what = format!("the whole hull of some meshes: {} points each", HULL.0);
            self.source.note(node, what);
        }
        let mut corners: Vec<u32> = hull.triangles.into_iter().flatten().collect();
        corners.sort_unstable();
        corners.dedup();
        Some(ShapeKind::Convex { points: corners.into_iter().map(|i| points[i as usize]).collect() })
    }

    /// A joint with frames on the axes of its links; `None` where it holds nothing.
    fn joint(&mut self, node: Node<'_>, bodies: [usize; 2], drafts: &[Draft<'_>]) -> Result<Option<Joint>> {
        const TYPES: &str = "revolute, continuous, prismatic, fixed, planar or floating";
        let name = self.source.required(node, "name", "the name of the joint")?;
        let word = self.source.required(node, "type", TYPES)?;
        let kind = match word {
            "revolute" | "continuous" => JointKind::Revolute,
            "prismatic" => JointKind::Prismatic,
            "fixed" => JointKind::Fixed,
            "planar" => JointKind::Planar,
            "floating" => return Ok(None),
            _ => return self.source.attribute(node, "type", &format!("`{word}`"), TYPES),
        };
        let mut axis = DVec3::X;
        if let Some(element) = child(node, "axis").filter(|_| !matches!(kind, JointKind::Fixed)) {
            let xyz = DVec3::from_array(self.source.numbers(element, "xyz", [1.0, 0.0, 0.0])?);
            axis = match xyz.try_normalize() {
                Some(unit) => unit,
                None => {
                    return self.source.fail(element, WorldErrorKind::NoDirection { key: "xyz".to_string() });
                }
            };
        }
        let places = bodies.map(|b| drafts[b].written.place);
        let on_child = frame(DVec3::ZERO, axis, None);
        let frames = [places[0].inverse().compose(&places[1]).compose(&on_child), on_child];
        let mut joint = Joint::new(name, kind, bodies, frames);
        let Some(coordinate) = joint.kind.coordinate() else { return Ok(Some(joint)) };
        for element in node.children() {
            match element.tag() {
                "limit" => {
                    for unread in ["effort", "velocity"].iter().filter(|a| element.has_attribute(a)) {
                        self.source.note(element, format!("{unread} of <limit>"));
                    }
                    let [lower] = self.source.numbers(element, "lower", [0.0])?;
                    let [upper] = self.source.numbers(element, "upper", [0.0])?;
                    let given = element.has_attribute("lower") || element.has_attribute("upper");
                    if word == "continuous" || word == "planar" || !given {
                        continue;
                    }
                    if lower == upper {
                        self.source.note(element, "<limit> with equal bounds: the joint is free".to_string());
                        continue;
                    }
                    if lower >= upper {
                        let key = "lower and upper".to_string();
                        return self
                            .source
                            .fail(element, WorldErrorKind::Limits { key, low: lower, high: upper });
                    }
                    let kind = ActionKind::Limits { lower, upper, restitution: 0.0 };
                    joint.actions.push(Action { coordinate, kind });
                }
                "dynamics" => {
                    let [damping] = self.source.numbers(element, "damping", [0.0])?;
                    let [friction] = self.source.numbers(element, "friction", [0.0])?;
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
                other => self.source.note(element, format!("<{}> of a joint", clip(other))),
            }
        }
        Ok(Some(joint))
    }

    /// `<mimic joint multiplier offset/>`: c = multiplier · c of the other joint + offset.
    fn mimics(
        &mut self,
        children: &BTreeMap<&str, Vec<Node<'_>>>,
        joints: &mut Vec<Joint>,
        spans: &mut Vec<Range<usize>>,
    ) -> Result<()> {
        for &node in children.values().flatten() {
            let Some(mimic) = child(node, "mimic") else { continue };
            let find = |name: Option<&str>| joints.iter().position(|j| Some(j.name.as_str()) == name);
            let own = find(node.attribute("name")).filter(|&i| joints[i].kind.coordinate().is_some());
            let other = find(mimic.attribute("joint")).filter(|&i| joints[i].kind.coordinate().is_some());
            let named = |name: Option<&str>| children.values().flatten().any(|n| n.attribute("name") == name);
            if (own.is_none() || other.is_none()) && named(mimic.attribute("joint")) {
                self.source.note(mimic, "<mimic> of a joint that does not move".to_string());
                continue;
            }
            let (Some(own), Some(other)) = (own, other) else {
                let found = mimic.attribute("joint").unwrap_or("missing");
                return self.source.attribute(mimic, "joint", found, "the name of another joint that moves");
            };
            let [multiplier] = self.source.numbers(mimic, "multiplier", [1.0])?;
            let [offset] = self.source.numbers(mimic, "offset", [0.0])?;
            let kind =
                JointKind::Coupler { joints: [other, own], factors: [multiplier, -1.0], offset: -offset };
            let name = format!("mimic of {}", joints[own].name);
            joints.push(Joint::new(&name, kind, joints[own].bodies, [Pose::IDENTITY; 2]));
            spans.push(mimic.range());
        }
        Ok(())
    }
}
