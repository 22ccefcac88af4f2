//! What `delassus check` reports of a world.

use delassus::stepping::is_closed;
use delassus::world::{
    Body, BodyState, JointKind, Mobility, Opening, ShapeKind, Surface, World, joint_coordinate,
    kinetic_energy, mobility, opening, potential_energy,
};
use delassus_report::{Style, count, number};
use delassus_scene::WorldFile;
use serde_json::{Map, Value, json};

use crate::output::json_text;
use crate::run::open_in_words;
use crate::scene::{WorldScene, ended};

/// The report, as JSON or in words; the error is a message ready for stderr.
pub fn describe(scene: WorldScene, as_json: bool) -> Result<String, String> {
    let WorldScene { mut file, name, text } = scene;
    let open = opening(&file.world, &file.state);
    // Degrees of freedom are those of the position in which all loops are closed.
    let moved = match is_closed(&open) {
        true => 0.0,
        false => file.close_loops(&text).map_err(|e| ended(e.render(&name, &text)))?.moved,
    };
    let found = Found { mobility: mobility(&file.world, &file.state), open, moved };
    Ok(if as_json { to_json(&file, &found) } else { in_words(&file.world, &found) })
}

/// What is reported beside the world itself.
struct Found {
    mobility: Mobility,
    /// How far joints are open or beyond their limits in the position of the file.
    open: Opening,
    /// How far bodies had to move to put that right.
    moved: f64,
}

fn shape_word(kind: &ShapeKind) -> &'static str {
    match kind {
        ShapeKind::Plane => "plane",
        ShapeKind::Sphere { .. } => "sphere",
        ShapeKind::Box { .. } => "box",
        ShapeKind::Capsule { .. } => "capsule",
        ShapeKind::Cylinder { .. } => "cylinder",
        ShapeKind::Cone { .. } => "cone",
        ShapeKind::Convex { .. } => "convex",
        ShapeKind::Mesh { .. } => "mesh",
        ShapeKind::Heightfield { .. } => "heightfield",
    }
}

fn joint_word(kind: &JointKind) -> &'static str {
    match kind {
        JointKind::Fixed => "fixed",
        JointKind::Revolute => "revolute",
        JointKind::Prismatic => "prismatic",
        JointKind::Cylindrical => "cylindrical",
        JointKind::Universal => "universal",
        JointKind::Ball => "ball",
        JointKind::Planar => "planar",
        JointKind::Screw { .. } => "screw",
        JointKind::Distance { .. } => "distance",
        JointKind::Rope { .. } => "rope",
        JointKind::PointOnLine => "point-on-line",
        JointKind::PointOnPlane => "point-on-plane",
        JointKind::PointOnCurve(_) => "point-on-curve",
        JointKind::Coupler { .. } => "coupler",
        JointKind::Tendon(_) => "tendon",
        JointKind::Generic { .. } => "generic",
    }
}

fn shapes(body: &Body) -> Vec<&'static str> {
    body.shapes.iter().map(|shape| shape_word(&shape.kind)).collect()
}

fn to_json(file: &WorldFile, found: &Found) -> String {
    let mobility = &found.mobility;
    let (world, state) = (&file.world, &file.state);
    let body = |(body, at): (&Body, &BodyState)| {
        let written = at.pose.compose(&body.frame);
        let (x, q) = (written.position.to_array(), written.rotation);
        let mut entry = json!({
            "fixed": body.fixed, "shapes": shapes(body), "position": x, "orientation": [q.w, q.x, q.y, q.z],
        });
        if !body.fixed {
            entry["mass"] = json!(body.mass);
            entry["inertia"] = json!(body.inertia.to_array());
            entry["center_of_mass"] = json!(at.pose.position.to_array());
        }
        (body.name.clone(), entry)
    };
    let bodies: Map<String, Value> = world.bodies.iter().zip(&state.bodies).map(body).collect();
    let joints: Map<String, Value> = world
        .joints
        .iter()
        .enumerate()
        .map(|(i, joint)| {
            let between = joint.bodies.map(|b| &world.bodies[b].name);
            let unique = !mobility.joints_not_unique.contains(&i);
            let at = joint_coordinate(world, state, i).map(|[position, _]| position);
            let entry = json!({
                "type": joint_word(&joint.kind), "bodies": between, "coordinate": at, "reactions_unique": unique,
            });
            (joint.name.clone(), entry)
        })
        .collect();
    let (kinetic, potential) = (kinetic_energy(world, state), potential_energy(world, state));
    let document = json!({
        "name": world.name, "gravity": world.gravity.to_array(), "bodies": bodies, "joints": joints,
        "degrees_of_freedom": mobility.degrees_of_freedom, "joint_rows": mobility.rows,
        "redundant_rows": mobility.redundant, "joint_error": found.open.joints,
        "limit_error": found.open.limit.map_or(0.0, |(_, by)| by), "moved_to_close": found.moved,
        "kinetic_energy": kinetic, "potential_energy": potential,
        "friction": world.surfaces.iter().map(|s| surface_json(world, s)).collect::<Vec<_>>(),
    });
    json_text(&document)
}

/// The names of the bodies that a surface is between.
fn between<'a>(world: &'a World, surface: &Surface) -> [&'a str; 2] {
    surface.between.map(|body| body.map_or("*", |i| world.bodies[i].name.as_str()))
}

/// A surface with the keys of the file, those that are zero left out.
fn surface_json(world: &World, surface: &Surface) -> Value {
    let mut entry = json!({"between": between(world, surface)});
    match (surface.mu_static, surface.grain) {
        (Some(sticks), _) => {
            entry["mu_static"] = json!(sticks);
            entry["mu_kinetic"] = json!(surface.mu);
        }
        (None, Some(grain)) => {
            entry["mu"] = json!([surface.mu, grain.mu_across]);
            entry["axis"] = json!(grain.axis.to_array());
        }
        (None, None) => entry["mu"] = json!(surface.mu),
    }
    let others = [
        ("restitution", surface.restitution),
        ("restitution_tangential", surface.restitution_tangential),
        ("rolling", surface.rolling),
        ("spinning", surface.spinning),
    ];
    others.into_iter().filter(|(_, x)| *x > 0.0).for_each(|(key, x)| entry[key] = json!(x));
    entry
}

/// A surface in words.
fn surface_in_words(world: &World, surface: &Surface) -> String {
    let [a, b] = between(world, surface);
    let friction = match (surface.mu_static, surface.grain) {
        (Some(sticks), _) => {
            format!("{} while it sticks, {} while it slides", number(sticks), number(surface.mu))
        }
        (None, Some(grain)) => {
            let [along, across] = [surface.mu, grain.mu_across].map(number);
            let axis = grain.axis.to_array().map(number).join(", ");
            format!("{along} along [{axis}] of {}, {across} across", world.bodies[grain.body].name)
        }
        (None, None) => number(surface.mu),
    };
    let mut out = format!("  friction between {a} and {b}: {friction}");
    for (what, value, unit) in [
        ("rolling", surface.rolling, " m"),
        ("spinning", surface.spinning, " m"),
        ("restitution", surface.restitution, ""),
        ("tangential restitution", surface.restitution_tangential, ""),
    ] {
        if value > 0.0 {
            out += &format!(", {what} {}{unit}", number(value));
        }
    }
    out + "\n"
}

fn in_words(world: &World, found: &Found) -> String {
    let mobility = &found.mobility;
    let style = Style::for_stdout();
    let name = if world.name.is_empty() { "world" } else { &world.name };
    let free = world.bodies.iter().filter(|body| !body.fixed).count();
    let mut out = format!(
        "{}  {name}: {} ({free} free), {}\n",
        style.good("valid"),
        if world.bodies.len() == 1 { "1 body".to_string() } else { format!("{} bodies", world.bodies.len()) },
        count(world.joints.len(), "joint")
    );
    let freedom = match mobility.degrees_of_freedom {
        1 => "1 degree of freedom".to_string(),
        n => format!("{n} degrees of freedom"),
    };
    out += &format!("  {freedom}, {}\n", count(mobility.redundant, "redundant row"));
    if !mobility.joints_not_unique.is_empty() {
        let names: Vec<&str> =
            mobility.joints_not_unique.iter().map(|&i| world.joints[i].name.as_str()).collect();
        out += &format!("  {}: {}\n", style.caution("reactions not unique"), names.join(", "));
    }
    if !is_closed(&found.open) {
        let what = open_in_words(world, &found.open, "are", "is");
        out += &format!("  {what}; bodies move {} m to put that right\n", number(found.moved));
    }
    for body in &world.bodies {
        let mass = if body.fixed { "fixed".to_string() } else { format!("{} kg", number(body.mass)) };
        out += &format!(
            "  body {}: {mass}{}\n",
            body.name,
            shapes(body).iter().map(|s| format!(", {s}")).collect::<String>()
        );
    }
    for joint in &world.joints {
        let [a, b] = joint.bodies.map(|i| &world.bodies[i].name);
        out += &format!("  joint {}: {} between {a} and {b}\n", joint.name, joint_word(&joint.kind));
    }
    out.extend(world.surfaces.iter().map(|surface| surface_in_words(world, surface)));
    out
}
