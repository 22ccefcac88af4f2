//! Worlds from MJCF files (`<mujoco>`).
//!
//! Bodies become bodies, `<geom>`s their shapes, joints stay joints. A body without a joint stands still with
//! the world, or is part of the body around it. Contacts and limits are rigid here: what softens them is not
//! read, and is listed.

mod actuator;
mod attributes;
mod body;
mod damping;
mod draft;
mod equality;
mod expand;
mod joint;
mod keyframe;
mod medium;
mod mesh;
mod reflected;
mod sensor;
mod tendon;
mod terrain;
mod unread;

pub(crate) use expand::expand;

use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::TAU;
use std::ops::Range;

use glam::{DMat3, DVec3};

use crate::diagnostic::{Result, WorldErrorKind};
use crate::world_file::{WorldFile, Written, possible_moments};
use crate::xml::{Imported, Node, Source};
use actuator::{ACTUATOR, Actuation};
use attributes::{Compiler, Defaults};
use body::GEOM;
use delassus::formula::{clip, nearest};
use delassus::stepping::{Overlap, overlaps_for_good};
use delassus::world::{
    Body, BodyState, Immersed, Joint, JointKind, MassProperties, Medium, Pose, TendonPart, World, WorldState,
    Zone, check_body_at,
};
use draft::Draft;
use equality::{ContactFilter, EQUALITY};
use expand::MAX_MODELS;
use joint::{JOINT, Motion};
use keyframe::Start;
use mesh::{Assets, MESH};
use reflected::FreeMotions;
use tendon::{TENDON, Tendon};
use unread::list_unread;

/// Sections that change nothing about motion.
const HARMLESS: [&str; 4] = ["visual", "statistic", "size", "custom"];
/// Flags of `<option>` that are read.
const FLAGS: [&str; 10] = [
    "constraint",
    "gravity",
    "contact",
    "limit",
    "equality",
    "frictionloss",
    "spring",
    "damper",
    "actuation",
    "passive",
];
/// What the flag `constraint` disables.
const CONSTRAINTS: [&str; 4] = ["contact", "limit", "equality", "frictionloss"];
/// Part of the mass of a body that a body between two of its joints takes.
const LINK_MASS: f64 = 1e-3;
/// How far the centre of what `gravcomp` carries may be from that of its body, m.
const COMPENSATION_ERROR: f64 = 1e-9;
/// Acceleration of free fall where the file gives none, m/s².
const GRAVITY: f64 = 9.81;

/// A file being read.
struct Model<'a> {
    source: Source<'a>,
    /// How numbers are meant: in this model, then in those attached.
    compilers: Vec<Compiler>,
    defaults: Defaults<'a>,
    /// What `<flag>`s of `<option>` disable.
    disabled: BTreeSet<&'a str>,
    assets: Assets<'a>,
    /// Bodies in the making; the first is the world.
    drafts: Vec<Draft<'a>>,
    /// Joints, their frames on the axes of the drafts, and where they stand.
    joints: Vec<Joint>,
    spans: Vec<Range<usize>>,
    names: Names<'a>,
    start: Start<'a>,
    actuation: Actuation<'a>,
    filter: ContactFilter<'a>,
    medium: Medium,
    /// What moves in the position of the file, once it is asked for.
    free_motions: Option<FreeMotions<'a>>,
}

/// What other sections call by its name.
#[derive(Default)]
struct Names<'a> {
    /// Bodies and sites: the draft they belong to, and where they stand on it.
    bodies: BTreeMap<&'a str, (usize, Pose)>,
    sites: BTreeMap<&'a str, (usize, Pose)>,
    /// The regions of sites.
    zones: BTreeMap<&'a str, Zone>,
    /// Hinges and slides.
    motions: BTreeMap<&'a str, Motion>,
    /// Tendons; `None` for one that gives no force.
    tendons: BTreeMap<&'a str, Option<Tendon>>,
}

/// A part of a tendon from the axes of drafts to those of bodies.
fn move_part(part: &mut TendonPart, bodies: &[Body]) {
    match part {
        TendonPart::Coordinate { .. } | TendonPart::Polynomial { .. } => {}
        TendonPart::Segment { bodies: on, points } => {
            *points = [0, 1].map(|k| bodies[on[k]].frame.point(points[k]));
        }
        TendonPart::Twist { bodies: on, frame, .. } => *frame = bodies[on[1]].frame.compose(frame),
    }
}

/// The name of a file without folder and ending.
fn file_stem(file: &str) -> &str {
    let last = file.rsplit(['/', '\\']).next().unwrap_or(file);
    last.rsplit_once('.').map_or(last, |(stem, _)| stem)
}

/// Reads the root element of an MJCF.
pub(crate) fn read_mujoco(source: Source<'_>, root: Node<'_>) -> Result<Imported> {
    let mut model = Model {
        source,
        compilers: vec![Compiler::default(); MAX_MODELS],
        defaults: Defaults::new(),
        disabled: BTreeSet::new(),
        assets: Assets::default(),
        drafts: Vec::new(),
        joints: Vec::new(),
        spans: Vec::new(),
        names: Names::default(),
        start: Start::default(),
        actuation: Actuation::default(),
        filter: ContactFilter::default(),
        medium: Medium::default(),
        free_motions: None,
    };
    let mut gravity = DVec3::new(0.0, 0.0, -GRAVITY);
    let mut timestep = None;
    let sections: Vec<Node<'_>> = root.children().collect();
    // What other sections need comes first, wherever it stands.
    for &node in &sections {
        match node.tag() {
            "compiler" => model.compilers[node.model].read(&mut model.source, node)?,
            "option" => model.read_option(node, &mut gravity, &mut timestep)?,
            "default" => model.defaults.read(&model.source, node, None, 0)?,
            "asset" => model.read_assets(node)?,
            "contact" => {
                let names = node.children().flat_map(|p| [p.attribute("geom1"), p.attribute("geom2")]);
                model.filter.paired.extend(names.flatten());
            }
            _ => {}
        }
    }
    if model.disabled.contains("gravity") {
        gravity = DVec3::ZERO;
    }
    model.read_keyframe(root)?;
    model.list_unread_defaults();
    model.drafts.push(Draft::world(root));
    model.names.bodies.insert("world", (0, Pose::IDENTITY));
    for &node in sections.iter().filter(|n| n.tag() == "worldbody") {
        model.read_world_body(node)?;
    }
    for &node in sections.iter().filter(|n| n.tag() == "tendon") {
        model.read_tendons(node)?;
    }
    model.tune_springs();
    for &node in &sections {
        match node.tag() {
            "compiler" | "option" | "default" | "asset" | "worldbody" | "tendon" | "sensor" => {}
            "equality" if model.disabled.contains("equality") => {}
            "actuator" if model.disabled.contains("actuation") => {}
            "equality" => model.read_equalities(node)?,
            "contact" => model.read_contact(node)?,
            "actuator" => model.read_actuators(node)?,
            "keyframe" if model.source.options.keyframe.is_some() => {}
            "keyframe" => model.note_keyframes(node),
            word if HARMLESS.contains(&word) => {}
            word => model.source.note(node, format!("<{}>", clip(word))),
        }
    }
    model.all_controls_are_set(root)?;
    let name = root.attribute("model").unwrap_or_default().to_string();
    let sensors: Vec<Node<'_>> = sections.into_iter().filter(|node| node.tag() == "sensor").collect();
    let (mut file, source) = model.finish(name, gravity, &sensors)?;
    file.simulation.dt = timestep;
    Ok(Imported { file, not_read: source.notes() })
}

impl<'a> Model<'a> {
    /// Refuses a control of an actuator that is not there.
    fn all_controls_are_set(&self, root: Node<'a>) -> Result<()> {
        let sections = || root.children().filter(|c| c.tag() == "actuator");
        let names: Vec<&str> =
            sections().flat_map(|s| s.children()).filter_map(|a| a.attribute("name")).collect();
        let options = self.source.options;
        let columns = options.control_table.iter().flat_map(|table| table.names());
        for name in options.controls.iter().map(|(name, _)| name.as_str()).chain(columns) {
            if !names.contains(&name) {
                return self.not_in_file(root, "actuator", name, names.iter().copied());
            }
        }
        Ok(())
    }

    /// A name that was asked for, and those that the file has.
    fn not_in_file<'n, T>(
        &self,
        root: Node<'a>,
        what: &'static str,
        name: &str,
        others: impl Iterator<Item = &'n str> + Clone,
    ) -> Result<T> {
        let suggestion = nearest(name, others.clone());
        let (name, others) = (clip(name), others.map(clip).collect());
        self.source.fail(root, WorldErrorKind::NotInFile { what, name, others, suggestion })
    }

    /// How numbers of an element are meant.
    fn compiler(&self, node: Node<'_>) -> &Compiler {
        &self.compilers[node.model]
    }

    fn read_option(&mut self, node: Node<'a>, gravity: &mut DVec3, timestep: &mut Option<f64>) -> Result<()> {
        list_unread(&mut self.source, node, &["gravity", "timestep", "density", "viscosity", "wind"]);
        *gravity = DVec3::from_array(self.source.numbers(node, "gravity", gravity.to_array())?);
        self.read_medium(node)?;
        if let Some(text) = node.attribute("timestep") {
            let [dt] = self.source.numbers(node, "timestep", [0.0])?;
            if dt <= 0.0 {
                return self.source.attribute(node, "timestep", text, "a positive number");
            }
            *timestep = Some(dt);
        }
        for flag in node.children() {
            if flag.tag() != "flag" {
                self.source.note(flag, format!("<{}> of <option>", clip(flag.tag())));
            }
            list_unread(&mut self.source, flag, &FLAGS);
            let disabled = FLAGS.into_iter().filter(|name| flag.attribute(name) == Some("disable"));
            self.disabled.extend(disabled);
            if self.disabled.contains("constraint") {
                self.disabled.extend(CONSTRAINTS);
            }
        }
        Ok(())
    }

    fn read_assets(&mut self, node: Node<'a>) -> Result<()> {
        for asset in node.children() {
            match asset.tag() {
                "mesh" => self.read_mesh_asset(asset)?,
                "hfield" => {
                    let name = asset.attribute("name").or(asset.attribute("file").map(file_stem));
                    name.map(|name| self.assets.hfields.insert(name.to_string(), asset));
                }
                "texture" | "material" | "skin" => {}
                word => self.source.note(asset, format!("<{}> of <asset>", clip(word))),
            }
        }
        Ok(())
    }

    /// Attributes in default classes that are not read.
    fn list_unread_defaults(&mut self) {
        for node in self.defaults.elements() {
            let read: &[&str] = match node.tag() {
                "geom" => &GEOM,
                "joint" => &JOINT,
                "mesh" => &MESH,
                "equality" => &EQUALITY,
                "tendon" => &TENDON,
                "motor" | "position" | "velocity" | "intvelocity" | "damper" | "general" => &ACTUATOR,
                "site" => &["pos", "quat", "axisangle", "xyaxes", "zaxis", "euler", "size", "type", "fromto"],
                "camera" | "light" | "material" => continue,
                word => {
                    self.source.note(node, format!("<{}> of <default>", clip(word)));
                    continue;
                }
            };
            list_unread(&mut self.source, node, read);
        }
    }

    /// The world, once all sections are read.
    fn finish(
        mut self,
        name: String,
        gravity: DVec3,
        sensors: &[Node<'a>],
    ) -> Result<(WorldFile, Source<'a>)> {
        self.set_total_mass();
        self.give_mass_to_links();
        self.load_free_bodies();
        if let Some((_, what, node)) = self.assets.worst_hull.take() {
            self.source.note(node, what);
        }
        for draft in self.drafts.iter().filter(|draft| draft.compensated.mass != 0.0) {
            if (draft.compensated.centre - draft.mass.centre).length() > COMPENSATION_ERROR {
                let what = "`gravcomp` of a part of a body, or `armature` of a free joint beside its centre: it \
                            acts at the centre of the whole";
                self.source.note(draft.node, what.to_string());
            }
        }
        let mut surfaces = self.surfaces();
        surfaces.extend(self.filter.pairs.iter().filter_map(|(_, surface)| *surface));
        self.exclude_by_masks();
        let (bodies, states) = self.place_bodies(gravity)?;
        // The frames of joints were on the axes of drafts.
        for joint in &mut self.joints {
            match &mut joint.kind {
                JointKind::Coupler { .. } => {}
                JointKind::Tendon(terms) => {
                    terms.iter_mut().for_each(|term| move_part(&mut term.part, &bodies))
                }
                _ => joint.frames = [0, 1].map(|k| bodies[joint.bodies[k]].frame.compose(&joint.frames[k])),
            }
        }
        self.filter.no_contact.retain(|pair| self.filter.pairs.iter().all(|(other, _)| other != pair));
        self.filter.no_contact.sort_unstable();
        self.filter.no_contact.dedup();
        let (joints, no_contact) =
            (std::mem::take(&mut self.joints), std::mem::take(&mut self.filter.no_contact));
        let mut world = World {
            name,
            gravity,
            bodies,
            joints,
            surfaces,
            no_contact,
            plane: None,
            sensors: vec![],
            medium: None,
        };
        if !self.medium.parts.is_empty() {
            world.medium = Some(std::mem::take(&mut self.medium));
            world.joints.push(Medium::joint(0));
            self.spans.push(self.drafts[0].node.range());
        }
        world.sensors = self.sensors(sensors, &world)?;
        let mut file = WorldFile::at_start(self.source.text, world, states, std::mem::take(&mut self.spans))?;
        // Poses do not tell how often a hinge has turned.
        for (name, angle) in std::mem::take(&mut self.start.angles) {
            let Some(motion) = self.names.motions.get(name) else { continue };
            if file.world.joints[motion.joint].kind.coordinate() == Some(motion.coordinate) {
                let c = &mut file.state.coordinates[motion.joint];
                *c += TAU * ((motion.sign * (angle - motion.reference) - *c) / TAU).round();
            }
        }
        self.let_pass_what_overlaps_for_good(&mut file.world, &file.state);
        Ok((file, self.source))
    }

    /// A body on a joint to the ground touches it, but not where both overlap in any position of the joint:
    /// no force of a rigid contact changes that.
    fn let_pass_what_overlaps_for_good(&mut self, world: &mut World, state: &WorldState) {
        let grounded = |joint: &Joint| joint.bodies.iter().any(|&body| world.bodies[body].fixed);
        if !world.joints.iter().any(grounded) {
            return;
        }
        for Overlap { bodies: [a, b], depth } in overlaps_for_good(world, state) {
            let [one, other] = [a, b].map(|body| clip(&world.bodies[body].name));
            let what = format!(
                "contact of `{one}` and `{other}`, which overlap by {depth:.1e} m however the joint between them \
                 moves: they pass through each other"
            );
            let moving = if world.bodies[b].fixed { a } else { b };
            self.source.note(self.drafts[moving].node, what);
            world.no_contact.push([a.min(b), a.max(b)]);
        }
        world.no_contact.sort_unstable();
    }

    /// The bodies of all drafts in their principal axes, at the start or the keyframe, and what of them is
    /// in the medium.
    fn place_bodies(&mut self, gravity: DVec3) -> Result<(Vec<Body>, Vec<BodyState>)> {
        let (mut bodies, mut states) = (Vec::new(), Vec::new());
        let twists = self.move_to_keyframe()?;
        for (draft, twist) in self.drafts.iter_mut().zip(twists) {
            let given = (!draft.fixed).then_some(draft.mass);
            if given.is_some_and(|m| m.mass <= 0.0) {
                let body = format!("body `{}`", clip(&draft.name));
                return self.source.fail(draft.node, WorldErrorKind::NoMass { body });
            }
            let written = Written { place: draft.place, given, shapes: std::mem::take(&mut draft.shapes) };
            let (mut body, mut state) = written.in_principal_axes(draft.name.clone());
            // The centre of what is compensated is that of the body, or a note says that it is not.
            body.carried = -draft.compensated.mass * gravity;
            let parts = draft.immersed.drain(..).map(|(place, form)| {
                let pose = body.frame.compose(&place);
                Immersed { body: bodies.len(), pose, form }
            });
            self.medium.parts.extend(parts);
            let arm = state.pose.position - draft.place.position;
            state.velocity = twist.linear + twist.angular.cross(arm);
            state.angular_velocity = state.pose.local_vector(twist.angular);
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
        Ok((bodies, states))
    }

    /// `settotalmass`.
    fn set_total_mass(&mut self) {
        let Some(total) = self.compilers[0].total_mass else { return };
        let now: f64 = self.drafts.iter().map(|draft| draft.mass.mass).sum();
        if now > 0.0 {
            self.drafts.iter_mut().for_each(|draft| draft.mass = draft.mass.scaled(total / now));
        }
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
