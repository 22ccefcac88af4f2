//! The joints of world files: their bodies and frames. What acts along them is read in `action`.
//!
//! The frames A and B stand on the first and the second of `bodies`. `anchor` and `axis` are in the world, in
//! the position in which the file draws the bodies; `anchors` gives each body its own point there,
//! `local_anchors` and `local_axes` are in the axes in which the file writes each body. The coordinate of a
//! joint is the motion of the second body against the first.

use std::collections::BTreeMap;
use std::ops::Range;

use glam::DVec3;

use super::action::{actions, friction};
use super::values::frame;
use super::{Contents, action, unique_name};
use crate::diagnostic::{FileErrorKind, Result, WorldErrorKind};
use crate::toml_table::{Table, Value, unknown_word};
use delassus::formula::{AnyFormula, Symbols, clip, nearest};
use delassus::world::{Action, ActionKind, Coordinate, Curve, Joint, JointKind, Pose, is_closed};

const TYPES: &str = "\"fixed\", \"revolute\", \"prismatic\", \"cylindrical\", \"universal\", \"ball\", \"planar\", \"screw\", \
     \"distance\", \"rope\", \"point-on-line\", \"point-on-plane\", \"point-on-curve\", \"gear\", \"coupler\" or \"generic\"";
const BODIES: &str = "the names of two bodies, \"world\" for the fixed world";
/// How far the axes of a universal joint may be from perpendicular (cosine): six digits in a file.
const PERPENDICULAR: f64 = 1e-5;

/// What the joints of a file are.
#[derive(Default)]
pub(super) struct Joints {
    pub(super) joints: Vec<Joint>,
    /// Where each stands in the file.
    pub(super) spans: Vec<Range<usize>>,
    /// Couplers whose offset is the one of the position at the start.
    pub(super) offset_at_start: Vec<usize>,
    /// Pairs of bodies that pass through each other.
    pub(super) no_contact: Vec<[usize; 2]>,
    names: BTreeMap<String, usize>,
}

/// Reads all `[[joint]]`s.
pub(super) fn joints(root: &Table<'_>, contents: &mut Contents) -> Result<Joints> {
    let mut all = Joints::default();
    for mut table in root.tables("joint", "[[joint]]")? {
        let name = unique_name(&mut table, "joint", &all.names)?;
        let type_value = table.require("type", TYPES)?;
        let word = type_value.string(TYPES)?;
        let joint = match word {
            "gear" | "coupler" => coupler(&table, &name, word, &mut all, contents)?,
            _ => between_bodies(&table, &name, &type_value, word, contents)?,
        };
        if !table.get("collide").map_or(Ok(false), |v| v.flag())? {
            let [a, b] = joint.bodies;
            all.no_contact.push([a.min(b), a.max(b)]);
        }
        all.names.insert(name, all.joints.len());
        all.joints.push(joint);
        all.spans.push(table.span.clone());
    }
    all.no_contact.sort_unstable();
    all.no_contact.dedup();
    Ok(all)
}

/// A joint that is no coupler.
fn between_bodies(
    table: &Table<'_>,
    name: &str,
    type_value: &Value<'_>,
    word: &str,
    contents: &mut Contents,
) -> Result<Joint> {
    let own: &[&str] = match word {
        "fixed" | "revolute" | "prismatic" | "cylindrical" | "ball" | "planar" | "point-on-line" => &[],
        "point-on-plane" => &[],
        "universal" => &["axis2"],
        "screw" => &["pitch"],
        "distance" | "rope" => &["length"],
        "point-on-curve" => &["curve", "range"],
        "generic" => &["axis2", "locked"],
        _ => return unknown_word(type_value, word, TYPES),
    };
    let common =
        ["name", "type", "bodies", "collide", "anchor", "anchors", "local_anchors", "axis", "local_axes"];
    let acting = action::KEYS.iter().chain(&["friction", "on"]);
    table.only(&common.iter().chain(own).chain(acting).copied().collect::<Vec<_>>())?;
    let bodies = bodies(table, contents)?;
    let symbols = &contents.symbols;
    let frames = frames(table, word, bodies, contents)?;
    let kind = match word {
        "fixed" => JointKind::Fixed,
        "revolute" => JointKind::Revolute,
        "prismatic" => JointKind::Prismatic,
        "cylindrical" => JointKind::Cylindrical,
        "universal" => JointKind::Universal,
        "ball" => JointKind::Ball,
        "planar" => JointKind::Planar,
        "point-on-line" => JointKind::PointOnLine,
        "point-on-plane" => JointKind::PointOnPlane,
        "screw" => {
            JointKind::Screw { pitch: table.require("pitch", "displacement per turn, m")?.quantity(symbols)? }
        }
        "distance" => JointKind::Distance { length: length(table, bodies, &frames, contents)? },
        "rope" => JointKind::Rope {
            length: length(table, bodies, &frames, contents)?,
            restitution: action::restitution(table, symbols)?,
        },
        "point-on-curve" => JointKind::PointOnCurve(curve(table, symbols)?),
        _ => JointKind::Generic { locked: locked(table)? },
    };
    let mut joint = Joint::new(name, kind, bodies, frames);
    joint.actions = actions(table, &joint.kind, symbols)?;
    if let JointKind::PointOnCurve(curve) = &joint.kind
        && !is_closed(curve)
    {
        // An open curve has ends.
        let ([lower, upper], restitution) = (curve.range, action::restitution(table, symbols)?);
        let kind = ActionKind::Limits { lower, upper, restitution };
        joint.actions.push(Action { coordinate: Coordinate::Parameter, kind });
    }
    joint.friction = friction(table, symbols)?;
    Ok(joint)
}

/// The two bodies of a joint.
fn bodies(table: &Table<'_>, contents: &mut Contents) -> Result<[usize; 2]> {
    let value = table.require("bodies", BODIES)?;
    let items = value.items(BODIES)?;
    let [a, b] = pair(&value, &items, BODIES)?;
    let bodies = [contents.body(a)?, contents.body(b)?];
    let joint = table.title.clone();
    if bodies[0] == bodies[1] {
        let body = clip(&contents.bodies[bodies[0]].name);
        return b.world_error(WorldErrorKind::JoinsItself { joint, body });
    }
    if bodies.iter().all(|&i| contents.bodies[i].fixed) {
        return value.world_error(WorldErrorKind::JoinsFixed { joint });
    }
    Ok(bodies)
}

/// Both of two items.
fn pair<'v, 'a>(
    value: &Value<'_>,
    items: &'v [Value<'a>],
    expected: &'static str,
) -> Result<[&'v Value<'a>; 2]> {
    match items {
        [a, b] => Ok([a, b]),
        _ => {
            let (key, found) = (clip(&value.key), items.len());
            value.world_error(WorldErrorKind::Length { key, found, expected })
        }
    }
}

/// The frames of a joint on its bodies.
fn frames(table: &Table<'_>, word: &str, bodies: [usize; 2], contents: &Contents) -> Result<[Pose; 2]> {
    let symbols = &contents.symbols;
    let poses = bodies.map(|b| contents.states[b].pose);
    let written = [0, 1].map(|k| poses[k].compose(&contents.bodies[bodies[k]].frame));
    let points = anchors(table, word, &written, symbols)?;
    let axes = axes(table, word, &written, symbols)?;
    let second = match table.get("axis2") {
        None if word == "universal" => Some(
            table
                .require("axis2", "a direction [x, y, z], the axis on the second body")?
                .direction(symbols)?,
        ),
        None => None,
        Some(value) => {
            let x = value.direction(symbols)?;
            if x.cross(axes[0]).length() < PERPENDICULAR {
                return value.world_error(WorldErrorKind::Parallel { first: "axis", second: "axis2" });
            }
            if word == "universal" && x.dot(axes[0]).abs() > PERPENDICULAR {
                return value.world_error(WorldErrorKind::NotPerpendicular { cosine: x.dot(axes[0]) });
            }
            Some(x)
        }
    };
    let curved = word == "point-on-curve" && table.get("axis").is_none() && table.get("local_axes").is_none();
    let a = match curved {
        true => Pose { position: points[0], rotation: written[0].rotation },
        false => frame(points[0], axes[0], second),
    };
    // The x axis of B as near as possible to that of A: angles are zero where the file draws the bodies.
    let b = match axes[0] == axes[1] {
        true => Pose { position: points[1], rotation: a.rotation },
        false => frame(points[1], axes[1], Some(a.rotation * DVec3::X)),
    };
    Ok([poses[0].inverse().compose(&a), poses[1].inverse().compose(&b)])
}

/// The origin of each frame in the world.
fn anchors(table: &Table<'_>, word: &str, written: &[Pose; 2], symbols: &Symbols) -> Result<[DVec3; 2]> {
    const EXPECTED: &str = "two points [[x, y, z], [x, y, z]], one on each body";
    table.either("anchor", "anchors")?;
    table.either("anchor", "local_anchors")?;
    let both = table.either("anchors", "local_anchors")?;
    if let Some(value) = both {
        let items = value.items(EXPECTED)?;
        let [a, b] = pair(&value, &items, EXPECTED)?;
        let points = [a.vector(symbols)?, b.vector(symbols)?];
        return Ok(match value.key == "anchors" {
            true => points,
            false => [written[0].point(points[0]), written[1].point(points[1])],
        });
    }
    let expected = "a point [x, y, z] in the world";
    match (word, table.get("anchor")) {
        ("distance" | "rope", None) => {
            let (first, second) = ("anchors", "local_anchors");
            table.error(FileErrorKind::Neither { first, second, table: table.title.clone() })
        }
        ("distance" | "rope", Some(value)) => {
            let (key, found) = (clip(&value.key), 1);
            value.world_error(WorldErrorKind::Length {
                key,
                found,
                expected: "`anchors`, a point on each body",
            })
        }
        // Where it stands does not matter to what it holds.
        ("fixed" | "planar" | "prismatic", None) => Ok([written[1].position; 2]),
        ("point-on-curve", _) => Ok([
            written[0].position,
            table.require("anchor", "the point that stays on the curve")?.vector(symbols)?,
        ]),
        _ => Ok([table.require("anchor", expected)?.vector(symbols)?; 2]),
    }
}

/// The z axis of each frame in the world.
fn axes(table: &Table<'_>, word: &str, written: &[Pose; 2], symbols: &Symbols) -> Result<[DVec3; 2]> {
    const EXPECTED: &str = "two directions [[x, y, z], [x, y, z]], one on each body";
    let given = table.either("axis", "local_axes")?;
    match given {
        Some(value) if value.key == "local_axes" => {
            let items = value.items(EXPECTED)?;
            let [a, b] = pair(&value, &items, EXPECTED)?;
            Ok([written[0].rotation * a.direction(symbols)?, written[1].rotation * b.direction(symbols)?])
        }
        Some(value) => Ok([value.direction(symbols)?; 2]),
        None => match word {
            "fixed" | "ball" | "distance" | "rope" | "generic" | "point-on-curve" => Ok([DVec3::Z; 2]),
            _ => {
                table.require("axis", "a direction [x, y, z] in the world")?;
                Ok([DVec3::Z; 2])
            }
        },
    }
}

/// `length`, or the distance of the anchors at the start.
fn length(table: &Table<'_>, bodies: [usize; 2], frames: &[Pose; 2], contents: &Contents) -> Result<f64> {
    if let Some(value) = table.get("length") {
        return value.positive(&contents.symbols);
    }
    let [a, b] = [0, 1].map(|k| contents.states[bodies[k]].pose.point(frames[k].position));
    let length = (b - a).length();
    if length > 0.0 {
        return Ok(length);
    }
    table
        .error(FileErrorKind::World(WorldErrorKind::NotPositive { key: "length".to_string(), value: length }))
}

fn curve(table: &Table<'_>, symbols: &Symbols) -> Result<Curve> {
    let expected = "three formulas [x, y, z] of the parameter `s`";
    let value = table.require("curve", expected)?;
    let mut symbols = symbols.clone();
    if let Err(error) = symbols.add_coordinate("s") {
        return value.error(FileErrorKind::Name(error));
    }
    let items = value.items(expected)?;
    let [x, y, z] = &items[..] else {
        let (key, found) = (clip(&value.key), items.len());
        return value.world_error(WorldErrorKind::Length { key, found, expected });
    };
    let formula = |v: &Value<'_>| Ok(AnyFormula::new(v.position_formula(&symbols)?));
    let point = [formula(x)?, formula(y)?, formula(z)?];
    let expected = "[start, end] of the parameter `s`";
    let value = table.require("range", expected)?;
    let range: [f64; 2] = value.numbers(expected, |v| v.quantity(&symbols))?;
    if range[0] >= range[1] {
        let (key, [low, high]) = (clip(&value.key), range);
        return value.world_error(WorldErrorKind::Limits { key, low, high });
    }
    Ok(Curve { point, range })
}

/// Displacements `x`, `y`, `z` and rotations `rx`, `ry`, `rz` that are locked.
fn locked(table: &Table<'_>) -> Result<[bool; 6]> {
    const MOTIONS: [&str; 6] = ["x", "y", "z", "rx", "ry", "rz"];
    const EXPECTED: &str = "an array of \"x\", \"y\", \"z\", \"rx\", \"ry\", \"rz\"";
    let mut locked = [false; 6];
    for item in table.require("locked", EXPECTED)?.items(EXPECTED)? {
        let word = item.string(EXPECTED)?;
        match MOTIONS.iter().position(|m| *m == word) {
            Some(i) => locked[i] = true,
            None => return unknown_word(&item, word, EXPECTED),
        }
    }
    Ok(locked)
}

/// A gear or a coupler, which relates two joints above it.
fn coupler(
    table: &Table<'_>,
    name: &str,
    word: &str,
    all: &mut Joints,
    contents: &Contents,
) -> Result<Joint> {
    const EXPECTED: &str = "the names of two joints above, each with a coordinate";
    let own: &[&str] = if word == "gear" { &["teeth", "ratio"] } else { &["factors", "offset"] };
    table.only(&["name", "type", "joints", "collide"].iter().chain(own).copied().collect::<Vec<_>>())?;
    let value = table.require("joints", EXPECTED)?;
    let items = value.items(EXPECTED)?;
    let pair = pair(&value, &items, EXPECTED)?;
    let joint = |value: &Value<'_>| {
        let name = value.string(EXPECTED)?;
        let found = all.names.get(name).copied();
        match found.filter(|&i| all.joints[i].kind.coordinate().is_some()) {
            Some(i) => Ok(i),
            None => {
                let suggestion = nearest(name, all.names.keys().map(String::as_str));
                value.world_error(WorldErrorKind::UnknownJoint { name: clip(name), suggestion })
            }
        }
    };
    let joints = [joint(pair[0])?, joint(pair[1])?];
    let symbols = &contents.symbols;
    let factors = if word == "coupler" {
        let expected = "two factors [a, b] of a c₁ + b c₂ = offset";
        let value = table.require("factors", expected)?;
        nonzero(&value, value.numbers(expected, |v| v.quantity(symbols))?)?
    } else {
        match table.either("teeth", "ratio")? {
            // Wheels that touch from outside rotate in opposite directions.
            Some(value) if value.key == "teeth" => {
                value.numbers("two numbers of teeth", |v| v.positive(symbols))?
            }
            Some(value) => [nonzero(&value, [value.quantity(symbols)?])?[0], -1.0],
            None => {
                let (first, second) = ("teeth", "ratio");
                return table.error(FileErrorKind::Neither { first, second, table: table.title.clone() });
            }
        }
    };
    let offset = match table.get("offset") {
        Some(value) => value.quantity(symbols)?,
        None => {
            all.offset_at_start.push(all.joints.len());
            0.0
        }
    };
    let bodies = coupled(&all.joints[joints[0]], &all.joints[joints[1]], contents);
    Ok(Joint::new(name, JointKind::Coupler { joints, factors, offset }, bodies, [Pose::IDENTITY; 2]))
}

/// The bodies that move in two joints: those that the joints do not share, where there are such.
fn coupled(first: &Joint, second: &Joint, contents: &Contents) -> [usize; 2] {
    let moving = |joint: &Joint, other: &Joint| {
        let [a, b] = joint.bodies;
        let wanted = |i: usize| !contents.bodies[i].fixed && !other.bodies.contains(&i);
        if wanted(b) || !wanted(a) { b } else { a }
    };
    let pair = [moving(first, second), moving(second, first)];
    if pair[0] == pair[1] { first.bodies } else { pair }
}

fn nonzero<const N: usize>(value: &Value<'_>, numbers: [f64; N]) -> Result<[f64; N]> {
    match numbers.contains(&0.0) {
        true => value.world_error(WorldErrorKind::Zero { key: clip(&value.key) }),
        false => Ok(numbers),
    }
}

/// The joints that keep all bodies of a planar world in their planes.
///
/// A body that a joint holds in the plane of another needs none: hinges with an axis along the normal, guides
/// in the plane and fixed joints do so. One more for each would only make reactions ambiguous.
pub(super) fn keep_in_plane(contents: &mut Contents, joints: &[Joint], normal: DVec3) -> Vec<Joint> {
    let holds = |joint: &&Joint| {
        let frame = contents.states[joint.bodies[0]].pose.compose(&joint.frames[0]);
        let cosine = (frame.rotation * DVec3::Z).dot(normal).abs();
        match joint.kind {
            JointKind::Fixed => true,
            JointKind::Revolute | JointKind::Planar => cosine > 1.0 - PERPENDICULAR,
            JointKind::Prismatic => cosine < PERPENDICULAR,
            _ => false,
        }
    };
    let links: Vec<[usize; 2]> = joints.iter().filter(holds).map(|joint| joint.bodies).collect();
    let mut held: Vec<bool> = contents.bodies.iter().map(|body| body.fixed).collect();
    let mut added = Vec::new();
    for body in 0..=held.len() {
        // Whatever hangs on a body that is held is held too.
        while let Some(&[a, b]) = links.iter().find(|&&[a, b]| held[a] != held[b]) {
            (held[a], held[b]) = (true, true);
        }
        if held.get(body) == Some(&false) {
            held[body] = true;
            added.push(body);
        }
    }
    if added.is_empty() {
        return Vec::new();
    }
    let ground = contents.any_fixed_body();
    let joint = |body: usize| {
        let drawn = frame(contents.states[body].pose.position, normal, None);
        let at = |i: usize| contents.states[i].pose.inverse().compose(&drawn);
        let name = format!("plane of {}", contents.bodies[body].name);
        Joint::new(&name, JointKind::Planar, [ground, body], [at(ground), at(body)])
    };
    added.into_iter().map(joint).collect()
}
