//! Worlds from MJCF files (`<mujoco>`).
//!
//! Bodies become bodies, `<geom>`s their shapes, joints stay joints. A body without a joint stands still with
//! the world, or is part of the body around it. Contacts and limits are rigid here: what softens them is not
//! read, and is listed.

mod attributes;
mod body;
mod equality_actuator;
mod joint;

use std::collections::BTreeMap;
use std::ops::Range;

use glam::{DMat3, DQuat, DVec3};

use crate::diagnostic::{Result, WorldErrorKind};
use crate::mesh_file::{MeshError, Triangles, read_mesh};
use crate::world_file::{WorldFile, Written, possible_moments};
use crate::xml::{Imported, Node, Source, finite_numbers};
use attributes::{Compiler, Defaults, list_unread, three_words};
use body::{Draft, GEOM};
use delassus::formula::clip;
use delassus::world::{Joint, JointKind, MassProperties, Pose, ShapeKind, World, check_body_at, shape_mass};
use equality_actuator::{ACTUATOR, EQUALITY};
use joint::{JOINT, Motion};

/// Sections that change nothing about motion.
const HARMLESS: [&str; 5] = ["visual", "statistic", "size", "custom", "sensor"];
/// Attributes of `<mesh>` that are read.
const MESH: [&str; 6] = ["file", "scale", "vertex", "face", "refpos", "refquat"];
/// Attributes of `<compiler>` that are read, or that change nothing about motion.
const COMPILER: [&str; 11] = [
    "angle",
    "coordinate",
    "meshdir",
    "assetdir",
    "autolimits",
    "eulerseq",
    "inertiafromgeom",
    "texturedir",
    "convexhull",
    "usethread",
    "discardvisual",
];
/// Part of the mass of a body that a body between two of its joints takes.
const LINK_MASS: f64 = 1e-3;
/// Acceleration of free fall where the file gives none, m/s².
const GRAVITY: f64 = 9.81;

/// A file being read.
struct Model<'a> {
    source: Source<'a>,
    compiler: Compiler,
    defaults: Defaults<'a>,
    meshes: BTreeMap<String, Node<'a>>,
    /// Bodies in the making; the first is the world.
    drafts: Vec<Draft<'a>>,
    /// Joints, their frames on the axes of the drafts, and where they stand.
    joints: Vec<Joint>,
    spans: Vec<Range<usize>>,
    /// Names of bodies and sites: the draft they belong to, and where they stand on it.
    bodies: BTreeMap<&'a str, (usize, Pose)>,
    sites: BTreeMap<&'a str, (usize, Pose)>,
    /// Names of hinges and slides.
    motions: BTreeMap<&'a str, Motion>,
    /// Pairs of drafts that pass through each other.
    no_contact: Vec<[usize; 2]>,
}

/// A mesh as a shape and as a mass.
struct Mesh {
    vertices: Vec<DVec3>,
    mass: MassProperties,
}

/// Reads the root element of an MJCF.
pub(crate) fn read_mujoco(source: Source<'_>, root: Node<'_>) -> Result<Imported> {
    let mut model = Model {
        source,
        compiler: Compiler::default(),
        defaults: Defaults::new(),
        meshes: BTreeMap::new(),
        drafts: Vec::new(),
        joints: Vec::new(),
        spans: Vec::new(),
        bodies: BTreeMap::new(),
        sites: BTreeMap::new(),
        motions: BTreeMap::new(),
        no_contact: Vec::new(),
    };
    let mut gravity = DVec3::new(0.0, 0.0, -GRAVITY);
    let mut timestep = None;
    let sections: Vec<Node<'_>> = root.children().filter(Node::is_element).collect();
    // What other sections need comes first, wherever it stands.
    for &node in &sections {
        match node.tag_name().name() {
            "compiler" => model.read_compiler(node)?,
            "option" => model.read_option(node, &mut gravity, &mut timestep)?,
            "default" => model.defaults.read(&model.source, node, None, 0)?,
            "asset" => model.read_assets(node)?,
            "include" => {
                let element = "include".to_string();
                let expected = "one file that holds the whole model";
                return model.source.fail(node, WorldErrorKind::Element { element, expected });
            }
            _ => {}
        }
    }
    model.list_unread_defaults();
    model.drafts.push(Draft::world(root));
    model.bodies.insert("world", (0, Pose::IDENTITY));
    for &node in sections.iter().filter(|n| n.tag_name().name() == "worldbody") {
        model.read_world_body(node)?;
    }
    for &node in &sections {
        match node.tag_name().name() {
            "compiler" | "option" | "default" | "asset" | "worldbody" => {}
            "equality" => model.read_equalities(node)?,
            "contact" => model.read_contact(node)?,
            "actuator" => model.read_actuators(node)?,
            word if HARMLESS.contains(&word) => {}
            word => model.source.note(node, format!("<{}>", clip(word))),
        }
    }
    let name = root.attribute("model").unwrap_or_default().to_string();
    let (mut file, source) = model.finish(name, gravity)?;
    file.simulation.dt = timestep;
    Ok(Imported { file, not_read: source.notes() })
}

impl<'a> Model<'a> {
    fn read_compiler(&mut self, node: Node<'a>) -> Result<()> {
        list_unread(&mut self.source, node, &COMPILER);
        for attribute in node.attributes() {
            let (name, text) = (attribute.name(), attribute.value());
            let bad = |expected| self.source.attribute(node, name, &format!("`{text}`"), expected);
            match name {
                "angle" => {
                    self.compiler.angle = match text {
                        "degree" => 1_f64.to_radians(),
                        "radian" => 1.0,
                        _ => return bad("degree or radian"),
                    }
                }
                "coordinate" if text != "local" => return bad("local"),
                // The more special one counts.
                "assetdir" if node.has_attribute("meshdir") => {}
                "meshdir" | "assetdir" => self.compiler.mesh_folder = text.to_string(),
                "autolimits" => {
                    self.compiler.autolimits = three_words(&self.source, node, name, text)?.unwrap_or(true);
                }
                "inertiafromgeom" => {
                    self.compiler.inertia_from_geom = three_words(&self.source, node, name, text)?;
                }
                "eulerseq" => {
                    let letters: Vec<char> = text.chars().collect();
                    match <[char; 3]>::try_from(letters) {
                        Ok(letters) if letters.iter().all(|c| "xyzXYZ".contains(*c)) => {
                            self.compiler.euler = letters;
                        }
                        _ => return bad("three of x, y, z, X, Y and Z"),
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn read_option(&mut self, node: Node<'a>, gravity: &mut DVec3, timestep: &mut Option<f64>) -> Result<()> {
        list_unread(&mut self.source, node, &["gravity", "timestep"]);
        *gravity = DVec3::from_array(self.source.numbers(node, "gravity", gravity.to_array())?);
        if let Some(text) = node.attribute("timestep") {
            let [dt] = self.source.numbers(node, "timestep", [0.0])?;
            if dt <= 0.0 {
                return self.source.attribute(node, "timestep", text, "a positive number");
            }
            *timestep = Some(dt);
        }
        for flag in node.children().filter(Node::is_element) {
            match (flag.tag_name().name(), flag.attribute("gravity")) {
                ("flag", Some("disable")) => *gravity = DVec3::ZERO,
                ("flag", _) => {}
                (word, _) => self.source.note(flag, format!("<{}> of <option>", clip(word))),
            }
            list_unread(&mut self.source, flag, &["gravity"]);
        }
        Ok(())
    }

    fn read_assets(&mut self, node: Node<'a>) -> Result<()> {
        for asset in node.children().filter(Node::is_element) {
            match asset.tag_name().name() {
                "mesh" => {
                    list_unread(&mut self.source, asset, &MESH);
                    // A mesh without a name is called like its file.
                    let stem = asset.attribute("file").map(|file| {
                        let last = file.rsplit(['/', '\\']).next().unwrap_or(file);
                        last.rsplit_once('.').map_or(last, |(stem, _)| stem)
                    });
                    let Some(name) = asset.attribute("name").or(stem) else {
                        return self.source.attribute(asset, "name", "missing", "`name` or `file`");
                    };
                    if self.meshes.insert(name.to_string(), asset).is_some() {
                        let found = format!("`{name}` again");
                        return self.source.attribute(asset, "name", &found, "a name of its own");
                    }
                }
                "texture" | "material" | "skin" | "hfield" => {}
                word => self.source.note(asset, format!("<{}> of <asset>", clip(word))),
            }
        }
        Ok(())
    }

    /// Attributes in default classes that are not read.
    fn list_unread_defaults(&mut self) {
        for node in self.defaults.elements() {
            let read: &[&str] = match node.tag_name().name() {
                "geom" => &GEOM,
                "joint" => &JOINT,
                "mesh" => &MESH,
                "equality" => &EQUALITY,
                "motor" | "position" | "velocity" | "general" => &ACTUATOR,
                "site" => &["pos", "quat", "axisangle", "xyaxes", "zaxis", "euler", "size", "type"],
                "camera" | "light" | "material" => continue,
                word => {
                    self.source.note(node, format!("<{}> of <default>", clip(word)));
                    continue;
                }
            };
            list_unread(&mut self.source, node, read);
        }
    }

    /// The mesh that a geom names, in the axes of its file, scaled.
    fn mesh(&mut self, geom: Node<'a>, name: &str) -> Result<Mesh> {
        let Some(&asset) = self.meshes.get(name) else {
            return self.source.attribute(geom, "mesh", &format!("`{name}`"), "the name of a <mesh>");
        };
        let element = self.defaults.element(&self.source, asset, 0)?;
        let scale = self.defaults.numbers(&self.source, element, "scale")?.map_or(DVec3::ONE, DVec3::from);
        let mut mesh = match (asset.attribute("file"), asset.attribute("vertex")) {
            (Some(file), _) => {
                let path = std::path::Path::new(&self.compiler.mesh_folder).join(file);
                let read = self.source.folder.ok_or(MeshError::NoFolder);
                match read.and_then(|folder| read_mesh(&folder.join(path))) {
                    Ok(mesh) => mesh,
                    Err(reason) => {
                        let kind = WorldErrorKind::Mesh { file: clip(file), reason };
                        return self.source.fail(asset, kind);
                    }
                }
            }
            (None, Some(text)) => self.inline_mesh(asset, text)?,
            (None, None) => return self.source.attribute(asset, "file", "missing", "`file` or `vertex`"),
        };
        let place = Pose {
            position: DVec3::from_array(self.source.numbers(asset, "refpos", [0.0; 3])?),
            rotation: match self.source.numbers(asset, "refquat", [1.0, 0.0, 0.0, 0.0])? {
                [w, x, y, z] if w * w + x * x + y * y + z * z > 0.0 => {
                    DQuat::from_xyzw(x, y, z, w).normalize()
                }
                _ => return self.source.fail(asset, WorldErrorKind::NoDirection { key: "refquat".into() }),
            },
        };
        mesh.vertices.iter_mut().for_each(|v| *v = place.local_point(*v * scale));
        let whole = ShapeKind::Mesh { vertices: mesh.vertices.clone(), triangles: mesh.triangles };
        let hull = ShapeKind::Convex { points: mesh.vertices.clone() };
        let mass = match shape_mass(&whole) {
            Ok(mass) => mass,
            // Corners without faces, or faces that do not enclose a volume.
            Err(_) => match shape_mass(&hull) {
                Ok(mass) => mass,
                Err(reason) => {
                    let kind = WorldErrorKind::Volume { shape: format!("mesh `{}`", clip(name)), reason };
                    return self.source.fail(asset, kind);
                }
            },
        };
        Ok(Mesh { vertices: mesh.vertices, mass })
    }

    /// A mesh whose corners stand in the file itself.
    fn inline_mesh(&self, asset: Node<'a>, text: &str) -> Result<Triangles> {
        let expected = "numbers x y z of at least four corners";
        let numbers = finite_numbers(text).filter(|n| n.len() % 3 == 0 && n.len() >= 12);
        let Some(numbers) = numbers else {
            return self.source.attribute(asset, "vertex", &format!("`{}`", clip(text)), expected);
        };
        let vertices: Vec<DVec3> = numbers.chunks_exact(3).map(DVec3::from_slice).collect();
        let faces = asset.attribute("face").unwrap_or_default();
        let corners: Option<Vec<u32>> = faces
            .split_whitespace()
            .map(|word| word.parse().ok().filter(|i: &u32| (*i as usize) < vertices.len()))
            .collect();
        match corners.filter(|c| c.len().is_multiple_of(3)) {
            Some(corners) => Ok(Triangles {
                vertices,
                triangles: corners.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect(),
            }),
            None => {
                let expected = "three indices of corners from 0 for every face";
                self.source.attribute(asset, "face", &format!("`{}`", clip(faces)), expected)
            }
        }
    }

    /// The world, once all sections are read.
    fn finish(mut self, name: String, gravity: DVec3) -> Result<(WorldFile, Source<'a>)> {
        self.give_mass_to_links();
        let surfaces = self.surfaces();
        self.exclude_by_masks();
        let (mut bodies, mut states) = (Vec::new(), Vec::new());
        for draft in &mut self.drafts {
            let given = (!draft.fixed).then_some(draft.mass);
            if given.is_some_and(|m| m.mass <= 0.0) {
                let body = format!("body `{}`", clip(&draft.name));
                return self.source.fail(draft.node, WorldErrorKind::NoMass { body });
            }
            let written = Written { place: draft.place, given, shapes: std::mem::take(&mut draft.shapes) };
            let (body, state) = written.in_principal_axes(draft.name.clone());
            if !body.fixed
                && body.inertia.is_finite()
                && let Err(kind) = possible_moments(&format!("body `{}`", clip(&body.name)), body.inertia)
            {
                return self.source.fail(draft.node, kind);
            }
            // Each number is finite, but what was made of them may not be.
            if let Err(error) = check_body_at(&body, &state) {
                return self.source.fail(draft.node, WorldErrorKind::Numbers(error));
            }
            bodies.push(body);
            states.push(state);
        }
        // The frames of joints were on the axes of drafts.
        for joint in self.joints.iter_mut().filter(|j| !matches!(j.kind, JointKind::Coupler { .. })) {
            joint.frames = [0, 1].map(|k| bodies[joint.bodies[k]].frame.compose(&joint.frames[k]));
        }
        self.no_contact.sort_unstable();
        self.no_contact.dedup();
        let (joints, no_contact) = (self.joints, self.no_contact);
        let world = World { name, gravity, bodies, joints, surfaces, no_contact, plane: None };
        Ok((WorldFile::at_start(self.source.text, world, states, self.spans)?, self.source))
    }

    /// Bodies between the joints of one body take a small part of its mass, so that the whole keeps its own.
    fn give_mass_to_links(&mut self) {
        for i in 0..self.drafts.len() {
            let links = std::mem::take(&mut self.drafts[i].links);
            let whole = self.drafts[i].mass;
            let part = whole.scaled(LINK_MASS);
            let m = part.inertia;
            let moment = m.x_axis.x.max(m.y_axis.y).max(m.z_axis.z);
            let inertia = DMat3::from_diagonal(DVec3::splat(moment));
            self.drafts[i].mass = whole.scaled(1.0 - LINK_MASS * links.len() as f64);
            for (link, anchor) in links {
                self.drafts[link].mass = MassProperties { mass: part.mass, centre: anchor, inertia };
            }
        }
    }
}
