//! Whether a world stands and what it holds, in words and as a document.

use delassus::analysis::{Bracket, ContactAtRest, Margin, Reason, Resistance, Standing, Stands};
use delassus::glam::DVec3;
use delassus::world::World;
use serde_json::{Value, json};

use crate::style::{Style, count, number};

/// Contacts that a report lists, those that use most of their friction first.
const MAX_LISTED: usize = 16;
/// What motions are called in documents.
const VELOCITY: [&str; 2] = ["velocity", "angular_velocity"];
const ACCELERATION: [&str; 2] = ["acceleration", "angular_acceleration"];
/// Bodies of a motion that a report lists, the fastest first.
const MAX_MOVING: usize = 8;

/// `surely`, `possibly`, `no` or `undecided`.
pub fn stands_word(stands: Stands) -> &'static str {
    match stands {
        Stands::Surely => "surely",
        Stands::Possibly => "possibly",
        Stands::No => "no",
        Stands::Undecided => "undecided",
    }
}

/// A margin that was asked for, with its bracket.
pub struct AskedMargin {
    /// What was varied.
    pub margin: Margin,
    /// Where it stands and where it falls.
    pub bracket: Bracket,
    /// What of the present value the ends of the bracket are factors of: the coefficient of friction where
    /// there is one.
    pub unit: Option<f64>,
}

impl AskedMargin {
    /// What documents call it.
    pub(super) fn kind(&self) -> &'static str {
        match self.margin {
            Margin::Friction => "friction",
            Margin::Load { .. } => "load",
            Margin::Tilt { .. } => "tilt",
        }
    }
}

fn heading(world: &World, contacts: usize, style: Style) -> String {
    let moving = world.bodies.iter().filter(|b| !b.fixed).count();
    let bodies = if moving == 1 { "1 body".into() } else { format!("{moving} bodies") };
    let title = format!("{}: {bodies}, {}", world.name, count(contacts, "contact"));
    format!("{}\n\n", style.bold(&title))
}

/// Why the answer is what it is.
fn reasons(standing: &Standing) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    match (standing.stands, standing.reason) {
        (Stands::Surely, Some(Reason::UniqueAcceleration)) => {
            out.push("rest is the only motion that satisfies the laws: the acceleration is unique".into());
        }
        (Stands::Surely, Some(Reason::Faces)) => out.push(
            "rest is the only motion that satisfies the laws: each body stands on a plane face within its friction"
                .into(),
        ),
        (Stands::Surely, _) => out
            .push("rest is the only motion that satisfies the laws: forces without friction hold it".into()),
        (Stands::Possibly, _) => {
            out.push("forces within friction hold it, proved; other motions are not excluded".into());
        }
        (Stands::No, _) => {
            out.push("no forces within friction hold it, proved by the motion below".into());
        }
        (Stands::Undecided, _) => out.push(match standing.slack {
            Some(slack) if slack > 0.0 => {
                "forces were found that hold it, but not for all data within rounding".into()
            }
            Some(_) => "it is too close to the limit to call within rounding, or some motion is free".into(),
            None => "neither forces that hold it nor a motion with which it falls could be proved".into(),
        }),
    }
    if let Some(slack) = standing.slack {
        out.push(if slack > 0.0 {
            format!("all contacts can press with {} N more than they need, at once", number(slack))
        } else {
            format!("each contact would need {} N of glue", number(-slack))
        });
    }
    out.extend(standing.notes.iter().cloned());
    out
}

/// The report of `delassus stand`.
pub fn stand_text(world: &World, standing: &Standing, margins: &[AskedMargin], style: Style) -> String {
    let mut out = heading(world, standing.contacts.len(), style);
    out += &match standing.stands {
        Stands::Surely => format!("  {}\n", style.good("SURELY STANDS")),
        Stands::Possibly => format!("  {}\n", style.caution("POSSIBLY STANDS")),
        Stands::No => format!("  {}\n", style.bad("DOES NOT STAND")),
        Stands::Undecided => format!("  {}\n", style.caution("UNDECIDED")),
    };
    for reason in reasons(standing) {
        out += &format!("  {reason}\n");
    }
    if let Some(motion) = &standing.other_motion {
        out += &format!(
            "\n{}\n",
            style.bold("another motion that satisfies the laws, to rounding: accelerations")
        );
        out += &motion_lines(world, motion, 1.0);
    }
    if let Some(motion) = &standing.collapse {
        out += &format!("\n{}\n", style.bold("collapse: velocities, up to a factor"));
        out += &motion_lines(world, motion, top_speed(motion));
    }
    if standing.stands != Stands::No && standing.contacts.iter().any(|c| c.force != 0.0) {
        out += &contact_lines(&standing.contacts, style);
    }
    if !margins.is_empty() {
        out += &format!("\n{}\n", style.bold("margins, both ends proved"));
        for asked in margins {
            out += &format!("  {}\n", margin_line(world, asked));
            if !asked.bracket.critical.is_empty() {
                let names = &asked.bracket.critical;
                let more = if names.len() > 6 { ", …" } else { "" };
                out += &format!("    critical: {}{more}\n", names[..names.len().min(6)].join(", "));
            }
        }
    }
    out
}

fn contact_lines(contacts: &[ContactAtRest], style: Style) -> String {
    let mut sorted: Vec<&ContactAtRest> = contacts.iter().collect();
    sorted.sort_by(|a, b| b.utilization.total_cmp(&a.utilization));
    let which = if sorted.len() > MAX_LISTED {
        format!("contacts: the {MAX_LISTED} that use most of their friction")
    } else {
        "contacts".into()
    };
    let mut out = format!("\n{}\n", style.bold(&format!("{which}; one choice of forces")));
    sorted.truncate(MAX_LISTED);
    let width = sorted.iter().map(|c| c.name.chars().count()).max().unwrap_or(0);
    for c in sorted {
        let interval = c
            .interval
            .map_or(String::new(), |[a, b]| style.dim(&format!(" in [{}, {}]", number(a), number(b))));
        let percent = number((1000.0 * c.utilization).round() / 10.0);
        out += &format!(
            "  {:<width$}  force {}{interval}   friction {}   {percent} % of its limit\n",
            c.name,
            number(c.force),
            number(c.friction.length())
        );
    }
    out
}

/// The faster one of moving and turning.
fn speed(motion: &[DVec3; 2]) -> f64 {
    motion[0].length().max(motion[1].length())
}

fn top_speed(motion: &[[DVec3; 2]]) -> f64 {
    motion.iter().map(speed).fold(f64::MIN_POSITIVE, f64::max)
}

/// The fastest bodies of a motion, in a unit of velocity.
fn motion_lines(world: &World, motion: &[[DVec3; 2]], unit: f64) -> String {
    let top = top_speed(motion);
    let mut moving: Vec<usize> = (0..motion.len()).filter(|&b| speed(&motion[b]) > 1e-4 * top).collect();
    moving.sort_by(|&a, &b| speed(&motion[b]).total_cmp(&speed(&motion[a])));
    let vector = |v: DVec3| {
        let part = |x: f64| number(if x.abs() < 1e-6 * top { 0.0 } else { x / unit });
        format!("({}, {}, {})", part(v.x), part(v.y), part(v.z))
    };
    let mut out = String::new();
    for &b in moving.iter().take(MAX_MOVING) {
        let [v, w] = motion[b];
        out += &format!("  {:<12} moves {}   turns {}\n", world.bodies[b].name, vector(v), vector(w));
    }
    if moving.len() > MAX_MOVING {
        out += &format!("  and {} more\n", moving.len() - MAX_MOVING);
    }
    out
}

/// A number with enough digits that brackets of a millionth show.
fn long(x: f64) -> String {
    if x != 0.0 && !(1e-3..1e9).contains(&x.abs()) {
        return format!("{x:.7e}");
    }
    let text = format!("{x:.7}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn margin_line(world: &World, asked: &AskedMargin) -> String {
    let Bracket { stands, falls, .. } = &asked.bracket;
    let (what, show): (String, Box<dyn Fn(f64) -> String>) = match asked.margin {
        Margin::Friction => match asked.unit {
            Some(mu) => ("friction".into(), Box::new(move |x| long(x * mu))),
            None => ("friction, a factor on all".into(), Box::new(long)),
        },
        Margin::Load { body } => (format!("load on {}, a factor", world.bodies[body].name), Box::new(long)),
        Margin::Tilt { direction } => {
            let [x, y, z] = direction.to_array().map(number);
            (format!("tilt towards ({x}, {y}, {z})"), Box::new(|x| format!("{}°", long(x.to_degrees()))))
        }
    };
    let ends = match (stands, falls) {
        (Some(s), Some(f)) => format!("stands with {}, falls with {}", show(*s), show(*f)),
        (Some(s), None) => format!("stands with {}; that it falls is proved for no value", show(*s)),
        (None, Some(f)) => format!("falls with {}; that it stands is proved for no value", show(*f)),
        (None, None) => "undecided".into(),
    };
    format!("{what}: {ends}")
}

fn motion_document(world: &World, motion: &[[DVec3; 2]], [first, second]: [&str; 2]) -> Value {
    let moving = world.bodies.iter().zip(motion).filter(|(body, _)| !body.fixed);
    moving
        .map(|(body, [v, w])| json!({ "body": body.name, first: v.to_array(), second: w.to_array() }))
        .collect()
}

/// The document of `delassus stand --json`.
pub fn stand_document(world: &World, standing: &Standing, margins: &[AskedMargin]) -> Value {
    let contact = |c: &ContactAtRest| {
        json!({
            "name": c.name,
            "point": c.point.to_array(),
            "normal": c.normal.to_array(),
            "normal_force": c.force,
            "friction": c.friction.to_array(),
            "utilization": c.utilization,
            "interval": c.interval,
        })
    };
    let joint = |(name, force): &(String, f64)| json!({ "name": name, "force": force });
    let other = standing.other_motion.as_ref().map(|m| motion_document(world, m, ACCELERATION));
    let margin = |asked: &AskedMargin| {
        let of = match asked.margin {
            Margin::Friction => Value::Null,
            Margin::Load { body } => json!(world.bodies[body].name),
            Margin::Tilt { direction } => json!(direction.to_array()),
        };
        json!({
            "kind": asked.kind(),
            "of": of,
            "stands": asked.bracket.stands,
            "falls": asked.bracket.falls,
            "coefficient": asked.unit,
            "critical": asked.bracket.critical,
            "collapse": asked.bracket.collapse.as_ref().map(|m| motion_document(world, m, VELOCITY)),
        })
    };
    json!({
        "name": world.name,
        "stands": stands_word(standing.stands),
        "reason": standing.reason.map(|reason| match reason {
            Reason::Frictionless => "frictionless",
            Reason::Faces => "plane-faces",
            Reason::UniqueAcceleration => "unique-acceleration",
        }),
        "slack": standing.slack,
        "contacts": standing.contacts.iter().map(contact).collect::<Vec<Value>>(),
        "joints": standing.joints.iter().map(joint).collect::<Vec<Value>>(),
        "collapse": standing.collapse.as_ref().map(|m| motion_document(world, m, VELOCITY)),
        "other_motion": other,
        "margins": margins.iter().map(margin).collect::<Vec<Value>>(),
        "notes": standing.notes,
    })
}

/// The report of `delassus hold`; `wanted` is the force that was asked for.
pub fn hold_text(
    world: &World,
    body: usize,
    point: DVec3,
    found: &Resistance,
    wanted: Option<f64>,
    style: Style,
) -> String {
    let name = &world.bodies[body].name;
    let [x, y, z] = point.to_array().map(number);
    let mut out =
        format!("{}\n\n", style.bold(&format!("{}: forces on {name} at ({x}, {y}, {z})", world.name)));
    if let Some(force) = wanted {
        let force_text = number(force);
        out += &match holds(found, force) {
            Some(true) => format!("  {}  every force up to {force_text} N\n", style.good("HOLDS")),
            Some(false) => format!("  {}  some force of {force_text} N\n", style.bad("GIVES WAY TO")),
            None => format!("  {}  at {force_text} N\n", style.caution("UNDECIDED")),
        };
    }
    out += &format!("  every force up to {} N is resisted, in any direction: proved\n", long(found.resists));
    match (found.fails, found.weakest) {
        (Some(fails), Some(d)) => {
            let [x, y, z] = d.to_array().map(number);
            out += &format!("  {} N along ({x}, {y}, {z}) is not: proved\n", long(fails));
        }
        _ => out += "  no force that is not resisted was found\n",
    }
    out += &format!("  asked in {} directions\n", found.directions);
    if let Some(motion) = &found.collapse {
        out += &format!(
            "\n{}\n{}",
            style.bold("how it gives way there, up to a factor"),
            motion_lines(world, motion, top_speed(motion))
        );
    }
    out
}

/// Whether every force up to this is resisted.
pub fn holds(found: &Resistance, force: f64) -> Option<bool> {
    if force <= found.resists {
        Some(true)
    } else if found.fails.is_some_and(|fails| force >= fails) {
        Some(false)
    } else {
        None
    }
}

/// The document of `delassus hold --json`.
pub fn hold_document(
    world: &World,
    body: usize,
    point: DVec3,
    found: &Resistance,
    wanted: Option<f64>,
) -> Value {
    json!({
        "name": world.name,
        "body": world.bodies[body].name,
        "point": point.to_array(),
        "force": wanted,
        "holds": wanted.map(|force| match holds(found, force) {
            Some(true) => "yes",
            Some(false) => "no",
            None => "undecided",
        }),
        "resists": found.resists,
        "fails": found.fails,
        "weakest": found.weakest.map(|d| d.to_array()),
        "collapse": found.collapse.as_ref().map(|m| motion_document(world, m, VELOCITY)),
        "directions": found.directions,
    })
}
