//! Limits, motors, springs, rotors, drives and friction of joints in world files.
//!
//! They stand in the table of the joint and act on its coordinate, or in a `[[joint.on]]` with a coordinate
//! of its own.

use crate::diagnostic::{FileErrorKind, Result, WorldErrorKind};
use crate::toml_table::{Table, Value, unknown_word};
use delassus::formula::{AnyFormula, Expression, ExpressionErrorKind, Symbols, clip, constant};
use delassus::world::{Action, ActionKind, Axis, Coordinate, JointFriction, JointKind};

/// Keys of a joint, or of a `[[joint.on]]`, for what acts on a coordinate.
pub(super) const KEYS: [&str; 7] =
    ["limits", "limits_deg", "restitution", "motor", "spring", "armature", "drive"];
const COORDINATES: &str = "\"x\", \"y\", \"z\" (along), \"rx\", \"ry\", \"rz\" (about), \"alpha\", \"beta\", \"gamma\" (one after the other about x, y, z), \
     \"length\", \"swing\" or \"s\"";

/// The coefficient of restitution of limits and ropes; zero where it is not given.
pub(super) fn restitution(table: &Table<'_>, symbols: &Symbols) -> Result<f64> {
    table.get("restitution").map_or(Ok(0.0), |v| v.restitution(symbols, &table.title))
}

/// All that acts on the coordinates of a joint.
pub(super) fn actions(table: &Table<'_>, kind: &JointKind, symbols: &Symbols) -> Result<Vec<Action>> {
    let mut actions = Vec::new();
    let acting = KEYS.iter().filter(|k| **k != "restitution").find_map(|k| table.get(k));
    match (kind.coordinate(), acting) {
        (Some(coordinate), _) => on_coordinate(table, coordinate, symbols, &mut actions)?,
        (None, Some(value)) => {
            let joint = table.title.clone();
            return value.world_error(WorldErrorKind::NoCoordinate { joint });
        }
        (None, None) => {}
    }
    for entry in table.tables("on", "[[joint.on]]")? {
        entry.only(&KEYS.iter().chain(&["coordinate"]).copied().collect::<Vec<_>>())?;
        let coordinate = coordinate(&entry.require("coordinate", COORDINATES)?)?;
        on_coordinate(&entry, coordinate, symbols, &mut actions)?;
    }
    Ok(actions)
}

fn coordinate(value: &Value<'_>) -> Result<Coordinate> {
    Ok(match value.string(COORDINATES)? {
        "x" => Coordinate::Along(Axis::X),
        "y" => Coordinate::Along(Axis::Y),
        "z" => Coordinate::Along(Axis::Z),
        "rx" => Coordinate::About(Axis::X),
        "ry" => Coordinate::About(Axis::Y),
        "rz" => Coordinate::About(Axis::Z),
        "alpha" => Coordinate::Cardan(Axis::X),
        "beta" => Coordinate::Cardan(Axis::Y),
        "gamma" => Coordinate::Cardan(Axis::Z),
        "length" => Coordinate::Length,
        "swing" => Coordinate::Swing,
        "s" => Coordinate::Parameter,
        word => return unknown_word(value, word, COORDINATES),
    })
}

fn on_coordinate(
    table: &Table<'_>,
    coordinate: Coordinate,
    symbols: &Symbols,
    actions: &mut Vec<Action>,
) -> Result<()> {
    let mut act = |kind: ActionKind| actions.push(Action { coordinate, kind });
    if let Some(value) = table.either("limits", "limits_deg")? {
        let [lower, upper] = limits(&value, table, coordinate, symbols)?;
        act(ActionKind::Limits { lower, upper, restitution: restitution(table, symbols)? });
    }
    if let Some(motor) = table.table("motor", &format!("motor of {}", table.title))? {
        let kind = motor_kind(&motor, symbols)?;
        check_units(&motor, &["speed", "position", "torque", "force", "max_speed"], coordinate, symbols)?;
        act(kind);
    }
    if let Some(spring) = table.table("spring", &format!("spring of {}", table.title))? {
        spring.only(&["stiffness", "rest", "damping"])?;
        let number = |key: &str| spring.get(key).map_or(Ok(0.0), |v| v.nonnegative(symbols));
        act(ActionKind::Spring {
            stiffness: number("stiffness")?,
            damping: number("damping")?,
            rest: spring.get("rest").map_or(Ok(0.0), |v| v.quantity(symbols))?,
        });
        check_units(&spring, &["stiffness", "rest", "damping"], coordinate, symbols)?;
    }
    if let Some(value) = table.get("armature") {
        let inertia = value.nonnegative(symbols)?;
        if inertia > 0.0 {
            act(ActionKind::Armature { inertia });
        }
    }
    if let Some(value) = table.get("drive") {
        check_units(table, &["drive"], coordinate, symbols)?;
        act(ActionKind::Drive { position: of_time(&value, symbols)? });
    }
    Ok(())
}

/// Whether units that are written in these keys are those of a coordinate: of lengths along an axis, of
/// angles about one. The parameter of a curve may have any.
fn check_units(table: &Table<'_>, keys: &[&str], coordinate: Coordinate, symbols: &Symbols) -> Result<()> {
    let Some(way) = way_of(coordinate) else { return Ok(()) };
    let values = keys.iter().filter_map(|key| table.get(key));
    values.into_iter().try_for_each(|value| value.check_unit(symbols, &format!("{} {way}", value.key)))
}

/// Whether a coordinate is along an axis or about one.
fn way_of(coordinate: Coordinate) -> Option<&'static str> {
    match coordinate {
        Coordinate::Along(_) | Coordinate::Length => Some("along"),
        Coordinate::About(_) | Coordinate::Cardan(_) | Coordinate::Swing => Some("about"),
        _ => None,
    }
}

/// Lower and upper limit; `"-inf"` and `"inf"` for none.
fn limits(
    value: &Value<'_>,
    table: &Table<'_>,
    coordinate: Coordinate,
    symbols: &Symbols,
) -> Result<[f64; 2]> {
    let in_degrees = value.key == "limits_deg";
    if in_degrees && !matches!(coordinate, Coordinate::About(_) | Coordinate::Cardan(_) | Coordinate::Swing) {
        let joint = table.title.clone();
        return value.world_error(WorldErrorKind::NotAnAngle { joint });
    }
    let number = |v: &Value<'_>| match v.string("") {
        Ok("inf") => Ok(f64::INFINITY),
        Ok("-inf") => Ok(f64::NEG_INFINITY),
        _ if in_degrees => v.degrees(symbols),
        _ => {
            if let Some(way) = way_of(coordinate) {
                v.check_unit(symbols, &format!("limits {way}"))?;
            }
            v.quantity(symbols)
        }
    };
    let [low, high] = value.numbers("[lower, upper]", number)?;
    if low >= high {
        let key = clip(&value.key);
        return value.world_error(WorldErrorKind::Limits { key, low, high });
    }
    Ok([low, high])
}

fn motor_kind(table: &Table<'_>, symbols: &Symbols) -> Result<ActionKind> {
    table.only(&["speed", "position", "torque", "force", "max_speed"])?;
    table.either("speed", "position")?;
    table.either("torque", "force")?;
    let target = match table.either("speed", "torque")? {
        Some(value) => {
            table.either("position", "torque")?;
            value
        }
        None => match table.get("position") {
            Some(value) => value,
            None => table.require("speed", "one of `speed`, `position` and `torque`")?,
        },
    };
    if target.key != "position"
        && let Some(value) = table.get("max_speed")
    {
        let (first, second) = ("max_speed", if target.key == "speed" { "speed" } else { "torque" });
        return value.error(FileErrorKind::Conflict { first, second, table: table.title.clone() });
    }
    let formula = of_time(&target, symbols)?;
    if target.key == "torque" {
        return Ok(ActionKind::Force { force: formula });
    }
    // A motor without a bound is as strong as it takes.
    let force = table.get("force").map_or(Ok(f64::INFINITY), |v| v.nonnegative(symbols))?;
    if target.key == "speed" {
        return Ok(ActionKind::Speed { target: formula, force });
    }
    let speed = table.get("max_speed").map_or(Ok(f64::INFINITY), |v| v.positive(symbols))?;
    Ok(ActionKind::Position { target: formula, force, speed })
}

/// A formula of parameters and `t`, or a constant with a unit.
pub(super) fn of_time(value: &Value<'_>, symbols: &Symbols) -> Result<AnyFormula> {
    if let Ok(text) = value.string("")
        && let Err(error) = Expression::parse(text, symbols)
        && matches!(error.kind, ExpressionErrorKind::UnitInFormula { .. })
        && let Ok(number) = constant(text, symbols)
    {
        // A motor's position and a drive may be an angle, unlike the position of a body.
        let target = matches!(value.key.as_str(), "position" | "drive");
        value.check_unit(symbols, if target { "target" } else { value.key.as_str() })?;
        return Ok(AnyFormula::new(Expression::from(number)));
    }
    Ok(AnyFormula::new(value.formula(symbols)?))
}

/// Dry friction of a joint.
pub(super) fn friction(table: &Table<'_>, symbols: &Symbols) -> Result<Option<JointFriction>> {
    let Some(own) = table.table("friction", &format!("friction of {}", table.title))? else {
        return Ok(None);
    };
    own.only(&["mu", "radius", "force", "torque"])?;
    let number = |key: &str| own.get(key).map_or(Ok(0.0), |v| v.nonnegative(symbols));
    for key in ["force", "torque"] {
        own.get(key).map_or(Ok(()), |v| v.check_unit(symbols, &format!("plain {key}")))?;
    }
    Ok(Some(JointFriction {
        coefficient: own.get("mu").map_or(Ok(0.0), |v| v.friction(symbols, &table.title))?,
        radius: number("radius")?,
        force: number("force")?,
        moment: number("torque")?,
    }))
}
