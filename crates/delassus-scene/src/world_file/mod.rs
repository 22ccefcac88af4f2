//! Files that describe rigid bodies (`[world]`), joints, friction and how to move them.
//!
//! ```
//! let text = r#"
//! [world]
//! gravity = [0, 0, -9.81]
//! [parameters]
//! tilt = "10 deg"
//! [[body]]
//! name = "ground"
//! fixed = true
//! [[body.shape]]
//! type = "plane"
//! normal = ["sin(tilt)", 0, "cos(tilt)"]
//! [[body]]
//! name = "brick"
//! mass = 1.0
//! position = [0, 0, 0.1]
//! [[body.shape]]
//! type = "box"
//! half_extents = [0.1, 0.1, 0.1]
//! [[friction]]
//! between = ["*", "*"]
//! mu = 0.4
//! "#;
//! let file = delassus_scene::read_world(text, None, &[("tilt", "5 deg")])?;
//! assert_eq!(file.world.surface(0, 1).mu, 0.4);
//! assert!((file.world.bodies[1].inertia.x - 0.02 / 3.0).abs() < 1e-15);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod action;
mod body;
mod control;
mod joint;
mod shape;
mod values;

pub(crate) use body::{Written, possible_moments};
pub(crate) use values::frame;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::str::FromStr;

use delassus_solve::contact::Method;
use glam::DVec3;

use crate::diagnostic::{FileError, FileErrorKind, Result, WorldErrorKind};
use crate::document::{SceneKind, name, parameters, parse, scene_table, split_overrides};
use crate::expect::{Expect, ExpectedValue, expect, expected_values};
use crate::toml_table::{Table, Value, unknown_word};
use body::body;
use delassus::formula::{Symbols, clip, constant, nearest};
use delassus::stepping::{Coordinates, FrictionLaw, StepOptions, UnknownOption};
use delassus::world::{
    Axis, Body, BodyState, CloseError, Closure, Grain, Joint, JointError, JointKind, Pose, Surface, World,
    WorldState, check_joints, check_world, close_loops, update_joint_coordinates,
};
use joint::{Joints, joints, keep_in_plane};

/// Standard acceleration of free fall where the file gives none, m/s².
const GRAVITY: f64 = 9.81;
/// How far a vector may leave the plane of a planar world, relative to its length.
const IN_PLANE: f64 = 1e-12;
/// Keys of `[simulation]` that are numbers, so that they can be set from outside.
const SIMULATION_NUMBERS: [&str; 3] = ["dt", "t_end", "tolerance"];

/// The contents of a file.
#[derive(Clone, Debug)]
pub struct WorldFile {
    /// The world, parameters put in.
    pub world: World,
    /// Its state at the start.
    pub state: WorldState,
    /// How to move it, as far as the file gives it.
    pub simulation: WorldSimulation,
    /// Parameters with their values, in the order of the file.
    pub parameters: Vec<(String, f64)>,
    /// The outcome that the file itself expects, for tests.
    pub expect: Option<WorldExpect>,
    /// Where each joint stands.
    joint_spans: Vec<Range<usize>>,
}

impl WorldFile {
    /// A world with its state at the start, once its joints make sense.
    pub(crate) fn at_start(
        text: &str,
        world: World,
        bodies: Vec<BodyState>,
        spans: Vec<Range<usize>>,
    ) -> Result<WorldFile> {
        if let Err(error) = check_joints(&world) {
            let span =
                world.joints.iter().position(|j| j.name == joint_of(&error)).and_then(|i| spans.get(i));
            let kind = FileErrorKind::World(WorldErrorKind::Joint(error.clone()));
            return Err(FileError::new(text, span.cloned(), kind));
        }
        let mut state = WorldState { t: 0.0, bodies, coordinates: Vec::new() };
        // Each number is finite, but what was made of them may not be.
        if let Err(error) = check_world(&world, &state) {
            return Err(FileError::new(text, None, FileErrorKind::World(WorldErrorKind::Numbers(error))));
        }
        update_joint_coordinates(&world, &mut state);
        let (simulation, parameters) = (WorldSimulation::default(), Vec::new());
        Ok(WorldFile { world, state, simulation, parameters, expect: None, joint_spans: spans })
    }

    /// A world without friction, in which bodies that are joined do not touch.
    pub(crate) fn of_bodies(
        text: &str,
        name: String,
        bodies: Vec<(Body, BodyState)>,
        joints: Vec<Joint>,
        spans: Vec<Range<usize>>,
    ) -> Result<WorldFile> {
        let mut no_contact: Vec<[usize; 2]> =
            joints.iter().map(|j| [j.bodies[0].min(j.bodies[1]), j.bodies[0].max(j.bodies[1])]).collect();
        no_contact.sort_unstable();
        no_contact.dedup();
        let (bodies, states) = bodies.into_iter().unzip();
        let (gravity, surfaces) = (DVec3::new(0.0, 0.0, -GRAVITY), Vec::new());
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
        world.sensors = world.usual_sensors(world.joints.len());
        WorldFile::at_start(text, world, states, spans)
    }

    /// Moves the bodies the least that closes all joints, or reports which of them cannot close and where it
    /// stands. `text` is the text that was read.
    pub fn close_loops(&mut self, text: &str) -> Result<Closure> {
        close_loops(&self.world, &mut self.state).map_err(|error| self.explain_open(error, text))
    }

    /// Why a joint cannot close, with its place in `text`, the text that was read.
    pub fn explain_open(&self, error: CloseError, text: &str) -> FileError {
        let (CloseError::Open { joint, .. } | CloseError::NotFinite { joint }) = &error;
        let at = self.world.joints.iter().position(|j| j.name == *joint);
        let span = at.and_then(|i| self.joint_spans.get(i)).cloned();
        FileError::new(text, span, FileErrorKind::World(WorldErrorKind::Loops(error)))
    }
}

/// How to move a world; `None` where the file does not give it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorldSimulation {
    /// Time step, s.
    pub dt: Option<f64>,
    /// End, s.
    pub t_end: Option<f64>,
    /// Residual below which a step counts as solved.
    pub tolerance: Option<f64>,
    /// The law of friction: `ncp` (exact) or `ccp` (its convex relaxation).
    pub law: Option<FrictionLaw>,
    /// The coordinates in which joints are solved.
    pub coordinates: Option<Coordinates>,
    /// How time passes.
    pub integrator: Option<Integrator>,
    /// The solver of the contact problem.
    pub solver: Option<Method>,
    /// Whether the impact law is applied at the start to contacts that touch and approach, in event-driven
    /// integration; time stepping does so always.
    pub impact_at_start: bool,
}

impl WorldSimulation {
    /// The options of steps: those of the file, else by default.
    pub fn step_options(&self) -> StepOptions {
        let defaults = StepOptions::default();
        StepOptions {
            dt: self.dt.unwrap_or(defaults.dt),
            tolerance: self.tolerance.unwrap_or(defaults.tolerance),
            law: self.law.unwrap_or(defaults.law),
            coordinates: self.coordinates.unwrap_or(defaults.coordinates),
            method: self.solver.unwrap_or(defaults.method),
            ..defaults
        }
    }
}

/// How time passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrator {
    /// Steps of one length, impacts inside of them.
    TimeStepping,
    /// Smooth motion between located events.
    EventDriven,
}

impl Integrator {
    /// Both integrators with their names in files and on the command line.
    pub const ALL: [(&'static str, Integrator); 2] =
        [("time-stepping", Integrator::TimeStepping), ("event-driven", Integrator::EventDriven)];
}

impl FromStr for Integrator {
    type Err = UnknownOption;

    fn from_str(name: &str) -> std::result::Result<Self, UnknownOption> {
        let found = Self::ALL.iter().find(|(n, _)| *n == name).map(|(_, integrator)| *integrator);
        found.ok_or_else(|| UnknownOption { option: "integrator", name: name.to_owned() })
    }
}

/// The outcome that a world expects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorldExpect {
    /// What it expects of `analyze`.
    pub analyze: Expect,
    /// Values in the JSON of `check`.
    pub check: Vec<ExpectedValue>,
    /// Values in the JSON of `run`.
    pub run: Vec<ExpectedValue>,
}

/// What the tables of a file need of each other.
struct Contents {
    symbols: Symbols,
    bodies: Vec<Body>,
    states: Vec<BodyState>,
    /// Bodies by name.
    names: BTreeMap<String, usize>,
}

impl Contents {
    /// The body of this name; `world` and `ground` stand for a fixed body without shape where no body has the
    /// name.
    fn body(&mut self, value: &Value<'_>) -> Result<usize> {
        let name = value.string("the name of a body in a string")?;
        match self.names.get(name) {
            Some(&i) => Ok(i),
            None if name == "world" || name == "ground" => Ok(self.fixed_body(name)),
            None => {
                let suggestion = nearest(name, self.names.keys().map(String::as_str).chain(["world"]));
                value.world_error(WorldErrorKind::UnknownBody { name: clip(name), suggestion })
            }
        }
    }

    /// Adds a fixed body without shape.
    fn fixed_body(&mut self, name: &str) -> usize {
        let (name, force) = (name.to_string(), [DVec3::ZERO; 2]);
        self.names.insert(name.clone(), self.bodies.len());
        let (inertia, shapes, frame) = (DVec3::ZERO, Vec::new(), Pose::IDENTITY);
        let (fixed, mass, carried) = (true, 0.0, DVec3::ZERO);
        self.bodies.push(Body { name, fixed, mass, inertia, shapes, frame, force, carried });
        let (velocity, angular_velocity) = (DVec3::ZERO, DVec3::ZERO);
        self.states.push(BodyState { pose: Pose::IDENTITY, velocity, angular_velocity });
        self.bodies.len() - 1
    }

    /// A fixed body: the first of the file, or one of its own.
    fn any_fixed_body(&mut self) -> usize {
        match self.bodies.iter().position(|b| b.fixed) {
            Some(i) => i,
            None => {
                let mut name = "world".to_string();
                while self.names.contains_key(&name) {
                    name.push('_');
                }
                self.fixed_body(&name)
            }
        }
    }
}

/// Reads a world. Meshes are looked for in `folder`. `overrides` are (parameter, value) as for
/// [`read_system`](crate::read_system); `dt`, `t_end` and `tolerance` can be overridden too.
pub fn read_world(text: &str, folder: Option<&Path>, overrides: &[(&str, &str)]) -> Result<WorldFile> {
    let document = parse(text)?;
    let root = Table::root(text, &document);
    match scene_table(&root)? {
        (SceneKind::World, header) => world_at(text, &root, &header, folder, overrides),
        (SceneKind::System, header) => header.error(FileErrorKind::NotAWorld),
    }
}

/// The world of a text that is parsed already, with its header.
pub(super) fn world_at(
    text: &str,
    root: &Table<'_>,
    header: &Table<'_>,
    folder: Option<&Path>,
    overrides: &[(&str, &str)],
) -> Result<WorldFile> {
    root.only(&["world", "parameters", "body", "friction", "joint", "control", "simulation", "expect"])?;
    header.only(&["name", "gravity", "plane"])?;

    let mut symbols = Symbols::default();
    let [options, overrides] = split_overrides(root, overrides, &SIMULATION_NUMBERS)?;
    let parameters: Vec<(String, f64)> = parameters(text, root, &overrides, &[], &mut symbols)?
        .into_iter()
        .map(|(name, value)| (name, value.constant().unwrap_or(f64::NAN)))
        .collect();

    let plane = header.get("plane").map(|value| Plane::read(&value)).transpose()?;
    let gravity = match header.get("gravity") {
        Some(value) => in_plane(&value, value.vector(&symbols)?, plane.as_ref())?,
        None => DVec3::ZERO - plane.as_ref().map_or(DVec3::Z, |p| p.up) * GRAVITY,
    };
    let names = BTreeMap::new();
    let mut contents = Contents { symbols, bodies: Vec::new(), states: Vec::new(), names };
    bodies(root, folder, plane.as_ref(), &mut contents)?;
    let surfaces = surfaces(root, &contents)?;
    let Joints { mut joints, spans, offset_at_start, no_contact, .. } = joints(root, &mut contents)?;
    if let Some(plane) = &plane {
        joints.extend(keep_in_plane(&mut contents, &joints, plane.normal));
    }
    let simulation = simulation(text, root, &contents.symbols, &options)?;
    let expect = match root.table("expect", "[expect]")? {
        None => None,
        Some(table) => Some(WorldExpect {
            check: expected_values(&table, "check", "[[expect.check]]", &contents.symbols)?,
            run: expected_values(&table, "run", "[[expect.run]]", &contents.symbols)?,
            analyze: expect(root, &contents.symbols, &["check", "run"])?.unwrap_or_default(),
        }),
    };
    let world = World {
        name: header.get("name").map_or(Ok(""), |v| v.string("a string"))?.to_string(),
        gravity,
        bodies: contents.bodies,
        joints,
        surfaces,
        no_contact,
        plane: plane.map(|plane| plane.axis),
        sensors: vec![],
        medium: None,
    };
    let mut file = WorldFile::at_start(text, world, contents.states, spans)?;
    control::apply(root, &contents.symbols, &mut file.world)?;
    // Joints that keep bodies in a plane are not of the file.
    file.world.sensors = file.world.usual_sensors(file.joint_spans.len());
    for i in offset_at_start {
        if let JointKind::Coupler { joints: [a, b], factors, offset } = &mut file.world.joints[i].kind {
            *offset = factors[0] * file.state.coordinates[*a] + factors[1] * file.state.coordinates[*b];
        }
    }
    Ok(WorldFile { simulation, parameters, expect, ..file })
}

/// The plane of a planar world.
struct Plane {
    name: &'static str,
    normal: DVec3,
    /// The axis of the world along the normal.
    axis: Axis,
    /// The second axis of its name, against which bodies fall.
    up: DVec3,
}

impl Plane {
    fn read(value: &Value<'_>) -> Result<Plane> {
        const WORDS: &str = "\"xy\", \"xz\" or \"yz\"";
        match value.string(WORDS)? {
            "xy" => Ok(Plane { name: "xy", normal: DVec3::Z, axis: Axis::Z, up: DVec3::Y }),
            "xz" => Ok(Plane { name: "xz", normal: DVec3::Y, axis: Axis::Y, up: DVec3::Z }),
            "yz" => Ok(Plane { name: "yz", normal: DVec3::X, axis: Axis::X, up: DVec3::Z }),
            word => unknown_word(value, word, WORDS),
        }
    }
}

/// The vector, which must lie in the plane if there is one.
fn in_plane(value: &Value<'_>, vector: DVec3, plane: Option<&Plane>) -> Result<DVec3> {
    match plane {
        Some(p) if vector.dot(p.normal).abs() > IN_PLANE * vector.length() => {
            let (key, plane) = (clip(&value.key), p.name.to_string());
            value.world_error(WorldErrorKind::OutOfPlane { key, plane })
        }
        _ => Ok(vector),
    }
}

fn bodies(
    root: &Table<'_>,
    folder: Option<&Path>,
    plane: Option<&Plane>,
    contents: &mut Contents,
) -> Result<()> {
    for mut table in root.tables("body", "[[body]]")? {
        let name = unique_name(&mut table, "body", &contents.names)?;
        let (body, state) = body(&table, name.clone(), &contents.symbols, folder)?;
        if let Some(plane) = plane {
            for key in ["velocity", "force"] {
                if let Some(value) = table.get(key) {
                    in_plane(&value, value.vector(&contents.symbols)?, Some(plane))?;
                }
            }
            for key in ["angular_velocity", "torque"] {
                if let Some(value) = table.get(key) {
                    let vector = value.vector(&contents.symbols)?;
                    if vector.cross(plane.normal).length() > IN_PLANE * vector.length() {
                        let (key, plane) = (clip(&value.key), plane.name.to_string());
                        return value.world_error(WorldErrorKind::OutOfPlane { key, plane });
                    }
                }
            }
        }
        contents.names.insert(name, contents.bodies.len());
        contents.bodies.push(body);
        contents.states.push(state);
    }
    Ok(())
}

/// The name of a body or joint, which must be its own; the table is titled by it.
fn unique_name<T>(table: &mut Table<'_>, kind: &str, names: &BTreeMap<String, T>) -> Result<String> {
    let value = table.require("name", "a name in a string")?;
    let name = name(table)?;
    if name.is_empty() {
        return value.error(FileErrorKind::EmptyName);
    }
    table.title = format!("{kind} `{}`", clip(&name));
    if names.contains_key(&name) {
        return value.error(FileErrorKind::DuplicateName { owner: table.title.clone() });
    }
    Ok(name)
}

fn surfaces(root: &Table<'_>, contents: &Contents) -> Result<Vec<Surface>> {
    const EXPECTED: &str = "the names of two bodies, \"*\" for any";
    let symbols = &contents.symbols;
    let mut surfaces = Vec::new();
    for table in root.tables("friction", "[[friction]]")? {
        const KEYS: [&str; 9] = [
            "between",
            "mu",
            "mu_static",
            "mu_kinetic",
            "axis",
            "restitution",
            "restitution_tangential",
            "rolling",
            "spinning",
        ];
        table.only(&KEYS)?;
        let between = table.require("between", EXPECTED)?;
        let items = between.items(EXPECTED)?;
        let [a, b] = &items[..] else {
            let (key, found) = (between.key.clone(), items.len());
            return between.world_error(WorldErrorKind::Length { key, found, expected: EXPECTED });
        };
        let body = |value: &Value<'_>| match value.string(EXPECTED)? {
            "*" => Ok(None),
            name => match contents.names.get(name) {
                Some(&i) => Ok(Some(i)),
                None => {
                    let suggestion = nearest(name, contents.names.keys().map(String::as_str));
                    value.world_error(WorldErrorKind::UnknownBody { name: clip(name), suggestion })
                }
            },
        };
        let between = [body(a)?, body(b)?];
        let owner = table.title.clone();
        let (mu, mu_static, grain) = sliding_friction(&table, &between, symbols)?;
        let restitution = |key| table.get(key).map_or(Ok(0.0), |v| v.restitution(symbols, &owner));
        if let Some(slip) = table.get("restitution_tangential")
            && restitution("restitution")? == 0.0
            && restitution("restitution_tangential")? > 0.0
        {
            return slip.world_error(WorldErrorKind::SlipWithoutRebound);
        }
        let length = |key| table.get(key).map_or(Ok(0.0), |v| v.nonnegative(symbols));
        surfaces.push(Surface {
            between,
            mu,
            mu_static,
            grain,
            restitution: restitution("restitution")?,
            restitution_tangential: restitution("restitution_tangential")?,
            rolling: length("rolling")?,
            spinning: length("spinning")?,
        });
    }
    Ok(surfaces)
}

/// `mu`, a number or two of them with `axis`, or `mu_static` and `mu_kinetic`.
fn sliding_friction(
    table: &Table<'_>,
    between: &[Option<usize>; 2],
    symbols: &Symbols,
) -> Result<(f64, Option<f64>, Option<Grain>)> {
    const BOTH: &str = "both `mu_static` and `mu_kinetic`, or `mu` alone";
    const TWO: &str = "two coefficients, along and across `axis`";
    table.either("mu", "mu_static")?;
    table.either("mu", "mu_kinetic")?;
    table.either("mu_static", "axis")?;
    let owner = table.title.clone();
    if table.get("mu_static").is_some() || table.get("mu_kinetic").is_some() {
        let held = table.require("mu_static", BOTH)?;
        let [sticks, slides] =
            [&held, &table.require("mu_kinetic", BOTH)?].map(|v| v.friction(symbols, &owner));
        let (sticks, slides) = (sticks?, slides?);
        if sticks < slides {
            return held.world_error(WorldErrorKind::WeakStatic { sticks, slides });
        }
        return Ok((slides, Some(sticks), None));
    }
    let mu = table.get("mu");
    if table.get("axis").is_none() && mu.as_ref().is_none_or(|mu| mu.items("").is_err()) {
        return Ok((mu.map_or(Ok(0.0), |v| v.friction(symbols, &owner))?, None, None));
    }
    let axis = table.require("axis", "the direction of the first coefficient in `mu`")?;
    let [mu, mu_across] = table.require("mu", TWO)?.numbers(TWO, |v| v.positive(symbols))?;
    let direction = axis.direction(symbols)?;
    match between[0] {
        Some(body) => Ok((mu, None, Some(Grain { body, axis: direction, mu_across }))),
        None => axis.world_error(WorldErrorKind::AxisOfAnyBody),
    }
}

fn simulation(
    text: &str,
    root: &Table<'_>,
    symbols: &Symbols,
    options: &[(&str, &str)],
) -> Result<WorldSimulation> {
    let table = root.table("simulation", "[simulation]")?;
    let get = |key: &str| table.as_ref().and_then(|table| table.get(key));
    if let Some(table) = &table {
        let keys =
            ["dt", "t_end", "tolerance", "law", "coordinates", "integrator", "solver", "impact_at_start"];
        table.only(&keys)?;
    }
    let number = |key: &str| -> Result<Option<f64>> {
        let fail = |kind| FileError::new(text, None, kind);
        let Some((name, set)) = options.iter().rev().find(|(name, _)| *name == key) else {
            return get(key).map(|v| v.positive(symbols)).transpose();
        };
        let (name, shown) = (name.to_string(), clip(set));
        match constant(set, symbols) {
            Ok(value) if value > 0.0 => Ok(Some(value)),
            Ok(value) => Err(fail(FileErrorKind::World(WorldErrorKind::NotPositive { key: name, value }))),
            Err(error) => Err(fail(FileErrorKind::Override { name, value: shown, kind: error.kind })),
        }
    };
    const LAWS: &str = "\"ncp\" or \"ccp\"";
    const COORDINATES: &str = "\"auto\", \"maximal\" or \"reduced\"";
    const INTEGRATORS: &str = "\"time-stepping\" or \"event-driven\"";
    const SOLVERS: &str = "\"auto\", \"gauss-seidel\", \"projected-gradient\", \"spectral\", \"admm\", \"newton\" or \"interior-point\"";
    Ok(WorldSimulation {
        dt: number("dt")?,
        t_end: number("t_end")?,
        tolerance: number("tolerance")?,
        law: get("law").map(|v| v.named(LAWS)).transpose()?,
        coordinates: get("coordinates").map(|v| v.named(COORDINATES)).transpose()?,
        integrator: get("integrator").map(|v| v.named(INTEGRATORS)).transpose()?,
        solver: get("solver").map(|v| v.named(SOLVERS)).transpose()?,
        impact_at_start: get("impact_at_start").map_or(Ok(false), |v| v.flag())?,
    })
}

/// The name of the joint that is meant.
fn joint_of(error: &JointError) -> &str {
    let (JointError::NoBody { joint, .. }
    | JointError::SameBody { joint, .. }
    | JointError::OutOfRange { joint, .. }
    | JointError::NoCoordinate { joint, .. }
    | JointError::NoTendonPart { joint, .. }
    | JointError::NotLength { joint }
    | JointError::NoCurve { joint }) = error;
    joint
}
