//! The scenes, read.

use std::path::Path;

use delassus::simulation::Simulation;
use delassus::world::{
    self, Body, BodyState, Joint, JointKind, Pose, Shape, ShapeKind, Surface, World, WorldState, mobility,
};
use delassus_scene::{ImportOptions, read_xml_with};
use glam::{DQuat, DVec3};
use serde_json::Value;

/// A scene.
pub struct Scene {
    pub world: World,
    pub state: WorldState,
    /// The bodies of the scene among those of the world.
    pub bodies: Vec<usize>,
    pub times: Times,
}

/// How long a scene runs, and how often its state is recorded.
pub struct Times {
    pub dt: f64,
    pub t_end: f64,
    pub sample: usize,
    pub wall_cap: f64,
    /// Whether the forces of the end are asked for.
    pub forces: bool,
}

fn number(value: &Value, what: &str) -> Result<f64, String> {
    value
        .as_f64()
        .filter(|x| x.is_finite())
        .ok_or_else(|| format!("{what}: expected a number, found {value}"))
}

fn numbers<const N: usize>(value: &Value, what: &str) -> Result<[f64; N], String> {
    let items = value.as_array().filter(|items| items.len() >= N);
    let items = items.ok_or_else(|| format!("{what}: expected {N} numbers, found {value}"))?;
    let mut out = [0.0; N];
    for (x, item) in out.iter_mut().zip(items) {
        *x = number(item, what)?;
    }
    Ok(out)
}

fn vector(value: &Value, what: &str) -> Result<DVec3, String> {
    Ok(DVec3::from_array(numbers::<3>(value, what)?))
}

fn rotation(value: &Value, what: &str) -> Result<DQuat, String> {
    let [w, x, y, z] = numbers::<4>(value, what)?;
    Ok(DQuat::from_xyzw(x, y, z, w).normalize())
}

fn list<'a>(value: &'a Value, what: &str) -> Result<&'a [Value], String> {
    value.as_array().map(Vec::as_slice).ok_or_else(|| format!("{what}: expected an array"))
}

fn still(position: DVec3) -> BodyState {
    let pose = Pose { position, rotation: DQuat::IDENTITY };
    BodyState { pose, velocity: DVec3::ZERO, angular_velocity: DVec3::ZERO }
}

fn fixed(name: &str, shapes: Vec<Shape>) -> Body {
    Body {
        name: name.into(),
        fixed: true,
        mass: 0.0,
        inertia: DVec3::ZERO,
        shapes,
        frame: Pose::IDENTITY,
        force: [DVec3::ZERO; 2],
        carried: DVec3::ZERO,
    }
}

/// Reads a scene: bodies and joints, or with `model` the name of a file that has them.
pub fn read(scene: &Value) -> Result<Scene, String> {
    if let Some(path) = scene["model"].as_str() {
        return model(scene, path);
    }
    let mut bodies = vec![fixed("world", planes(scene)?)];
    let mut states = vec![still(DVec3::ZERO)];
    for (i, value) in list(&scene["bodies"], "bodies")?.iter().enumerate() {
        let (body, state) = body(value, i)?;
        bodies.push(body);
        states.push(state);
    }
    let mut joints = vec![];
    for (i, value) in list(&scene["joints"], "joints")?.iter().enumerate() {
        joints.push(joint(value, i, &states)?);
    }
    let pair = |joint: &Joint| [joint.bodies[0].min(joint.bodies[1]), joint.bodies[0].max(joint.bodies[1])];
    let mut no_contact: Vec<[usize; 2]> = joints.iter().map(pair).collect();
    no_contact.sort_unstable();
    no_contact.dedup();
    let surface = Surface {
        mu: number(&scene["mu"], "mu")?,
        restitution: number(&scene["rest"], "rest")?,
        ..Surface::default()
    };
    Ok(Scene {
        bodies: (1..bodies.len()).collect(),
        world: World {
            name: scene["name"].as_str().unwrap_or("scene").to_owned(),
            gravity: vector(&scene["gravity"], "gravity")?,
            bodies,
            joints,
            surfaces: vec![surface],
            no_contact,
            plane: None,
            sensors: vec![],
            medium: None,
        },
        state: WorldState { t: 0.0, bodies: states, coordinates: vec![] },
        times: times(scene)?,
    })
}

/// The world in a file (MJCF, URDF or `.toml`), from the `keyframe` of an MJCF where one is named, with its
/// joints closed.
fn model(scene: &Value, path: &str) -> Result<Scene, String> {
    let sim = match scene["keyframe"].as_str() {
        None => delassus_scene::load_simulation(path).map_err(|e| e.to_string())?,
        Some(name) => {
            let text = std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))?;
            let options = ImportOptions { keyframe: Some(name.to_owned()), ..ImportOptions::default() };
            let file =
                read_xml_with(&text, Path::new(path).parent(), &options).map_err(|e| e.to_string())?.file;
            let scene = world::Scene { world: file.world, state: file.state };
            Simulation::new(scene, file.simulation.step_options()).map_err(|e| e.to_string())?
        }
    };
    let (world, state) = (sim.world().clone(), sim.state().clone());
    let bodies = (0..world.bodies.len()).filter(|&b| !world.bodies[b].fixed).collect();
    Ok(Scene { world, state, bodies, times: times(scene)? })
}

fn times(scene: &Value) -> Result<Times, String> {
    Ok(Times {
        dt: number(&scene["dt"], "dt")?,
        t_end: number(&scene["t_end"], "t_end")?,
        sample: number(&scene["sample"], "sample")?.max(1.0) as usize,
        wall_cap: scene["wall_cap"].as_f64().unwrap_or(f64::INFINITY),
        forces: scene["forces"].as_bool().unwrap_or(true),
    })
}

/// The planes of the ground.
fn planes(scene: &Value) -> Result<Vec<Shape>, String> {
    let mut planes = vec![];
    for (i, plane) in list(&scene["planes"], "planes")?.iter().enumerate() {
        let what = format!("planes[{i}]");
        let normal = vector(&plane["normal"], &what)?.normalize();
        let pose = Pose {
            position: vector(&plane["point"], &what)?,
            rotation: DQuat::from_rotation_arc(DVec3::Z, normal),
        };
        planes.push(Shape { kind: ShapeKind::Plane, pose });
    }
    Ok(planes)
}

/// The body number `i`, and where it starts.
fn body(body: &Value, i: usize) -> Result<(Body, BodyState), String> {
    let what = |key: &str| format!("bodies[{i}].{key}");
    let mut shapes = vec![];
    for geom in list(&body["geoms"], &what("geoms"))? {
        shapes.push(shape(geom).map_err(|e| format!("{}: {e}", what("geoms")))?);
    }
    let pose = Pose {
        position: vector(&body["pos"], &what("pos"))?,
        rotation: rotation(&body["quat"], &what("quat"))?,
    };
    let state = BodyState {
        pose,
        velocity: vector(&body["vel"], &what("vel"))?,
        angular_velocity: pose.local_vector(vector(&body["omega"], &what("omega"))?),
    };
    let body = Body {
        name: body["name"].as_str().map_or_else(|| format!("body{i}"), str::to_owned),
        fixed: false,
        mass: number(&body["mass"], &what("mass"))?,
        inertia: vector(&body["inertia"], &what("inertia"))?,
        shapes,
        frame: Pose::IDENTITY,
        force: [DVec3::ZERO; 2],
        carried: DVec3::ZERO,
    };
    Ok((body, state))
}

/// The joint number `i`; body −1 is the world.
fn joint(joint: &Value, i: usize, states: &[BodyState]) -> Result<Joint, String> {
    let what = |key: &str| format!("joints[{i}].{key}");
    let body = |key: &str| match joint[key].as_i64() {
        Some(-1) => Ok(0),
        Some(b) if b >= 0 && (b as usize) + 1 < states.len() => Ok(b as usize + 1),
        _ => Err(format!("{}: no such body", what(key))),
    };
    let pair = [body("a")?, body("b")?];
    if joint["type"].as_str() != Some("revolute") {
        return Err(format!("{}: expected revolute", what("type")));
    }
    let anchor = vector(&joint["point"], &what("point"))?;
    let axis = vector(&joint["axis"], &what("axis"))?.normalize();
    let frame = Pose { position: anchor, rotation: DQuat::from_rotation_arc(DVec3::Z, axis) };
    let frames = pair.map(|b| states[b].pose.inverse().compose(&frame));
    Ok(Joint::new(&format!("joint{i}"), JointKind::Revolute, pair, frames))
}

fn shape(geom: &Value) -> Result<Shape, String> {
    let size = &geom["size"];
    let kind = match geom["type"].as_str().unwrap_or_default() {
        "sphere" => ShapeKind::Sphere { radius: numbers::<1>(size, "size")?[0] },
        "box" => ShapeKind::Box { half_extents: vector(size, "size")? },
        kind @ ("capsule" | "cylinder" | "cone") => {
            let [radius, half_height] = numbers::<2>(size, "size")?;
            match kind {
                "capsule" => ShapeKind::Capsule { radius, half_height },
                "cylinder" => ShapeKind::Cylinder { radius, half_height },
                _ => ShapeKind::Cone { radius, half_height },
            }
        }
        other => {
            return Err(format!("unknown shape `{other}`: expected sphere, box, capsule, cylinder or cone"));
        }
    };
    let pose = Pose { position: vector(&geom["pos"], "pos")?, rotation: rotation(&geom["quat"], "quat")? };
    Ok(Shape { kind, pose })
}

/// Degrees of freedom and redundant rows, where there are joints.
pub fn mobility_notes(scene: &Scene) -> Vec<String> {
    if scene.world.joints.is_empty() {
        return vec![];
    }
    let found = mobility(&scene.world, &scene.state);
    let plural = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    let mut notes = vec![format!(
        "{}, {}",
        plural(found.degrees_of_freedom, "degree of freedom", "degrees of freedom"),
        plural(found.redundant, "redundant row", "redundant rows")
    )];
    let name = |&j: &usize| scene.world.joints[j].name.as_str();
    if !found.joints_not_unique.is_empty() {
        let names: Vec<&str> = found.joints_not_unique.iter().map(name).collect();
        notes.push(format!("reactions are not unique in {}", names.join(", ")));
    }
    notes
}
