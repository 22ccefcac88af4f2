//! The bodies of world files: mass, centre of mass and principal axes from what is given.
//!
//! | given | mass | centre of mass | inertia |
//! |---|---|---|---|
//! | `density` on every shape | from shapes | from shapes | from shapes, or `inertia` |
//! | `mass`, `inertia` | as given | `center_of_mass`, else the origin of the body | as given |
//! | `mass`, shapes | as given | `center_of_mass`, else from shapes | from shapes of one density |

use std::path::Path;

use glam::{DMat3, DVec3};

use super::shape::{FileShape, shape};
use super::values::pose;
use crate::diagnostic::{FileErrorKind, Result, WorldErrorKind};
use crate::toml_table::{Table, Value};
use delassus::formula::{Symbols, clip};
use delassus::world::{
    Body, BodyState, MassProperties, Pose, Shape, TRIANGLE_TOLERANCE, principal_axes, shape_mass,
};

/// How far an inertia may be from symmetric, relative to its largest entry.
const SYMMETRIC: f64 = 1e-9;

/// Reads a `[[body]]`, its table titled by its name.
pub(super) fn body(
    table: &Table<'_>,
    name: String,
    symbols: &Symbols,
    folder: Option<&Path>,
) -> Result<(Body, BodyState)> {
    table.only(&[
        "name",
        "fixed",
        "mass",
        "inertia",
        "center_of_mass",
        "position",
        "orientation",
        "euler_deg",
        "velocity",
        "angular_velocity",
        "force",
        "torque",
        "shape",
    ])?;
    let fixed = table.get("fixed").map_or(Ok(false), |v| v.flag())?;
    let place = pose(table, symbols)?;
    let vector = |key: &str| table.get(key).map_or(Ok(DVec3::ZERO), |v| v.vector(symbols));
    let (velocity, angular_velocity) = (vector("velocity")?, vector("angular_velocity")?);
    let force = [vector("force")?, vector("torque")?];
    for key in ["force", "torque"] {
        let items = table.get(key).map_or(Ok(vec![]), |v| v.items("three numbers [x, y, z]"))?;
        items.iter().try_for_each(|item| item.check_unit(symbols, &format!("plain {key}")))?;
    }
    let shapes = table
        .tables("shape", "[[body.shape]]")?
        .into_iter()
        .enumerate()
        .map(|(i, entry)| shape(entry, format!("shape {} of {}", i + 1, table.title), symbols, folder))
        .collect::<Result<Vec<_>>>()?;
    if fixed && (velocity != DVec3::ZERO || angular_velocity != DVec3::ZERO) {
        let key = if velocity != DVec3::ZERO { "velocity" } else { "angular_velocity" };
        let kind = WorldErrorKind::FixedMoves { body: table.title.clone() };
        return table.require(key, "a vector")?.world_error(kind);
    }
    // Mass and inertia of a fixed body do not count, but what is written must be right.
    let given = mass(table, &shapes, symbols, fixed)?;
    let written = Written { place, given, shapes: shapes.into_iter().map(|s| s.shape).collect() };
    let (mut body, mut state) = written.in_principal_axes(name);
    if !fixed {
        check_moments(table, body.inertia)?;
    }
    body.force = force;
    state.velocity = velocity;
    state.angular_velocity = state.pose.local_vector(angular_velocity);
    Ok((body, state))
}

/// A body in the axes in which a file writes it.
pub struct Written {
    /// Where these axes stand.
    pub place: Pose,
    /// Mass, centre of mass and inertia; `None` for a fixed body.
    pub given: Option<MassProperties>,
    /// Shapes.
    pub shapes: Vec<Shape>,
}

impl Written {
    /// The body at rest, in its principal axes.
    pub fn in_principal_axes(self, name: String) -> (Body, BodyState) {
        let (mass, inertia, axes) = match &self.given {
            Some(given) => {
                let (moments, rotation) = principal_axes(&given.inertia);
                (given.mass, moments, Pose { position: given.centre, rotation })
            }
            None => (0.0, DVec3::ZERO, Pose::IDENTITY),
        };
        let frame = axes.inverse();
        let shapes =
            self.shapes.into_iter().map(|s| Shape { pose: frame.compose(&s.pose), kind: s.kind }).collect();
        let pose = self.place.compose(&axes);
        let (fixed, force) = (self.given.is_none(), [DVec3::ZERO; 2]);
        let state = BodyState { pose, velocity: DVec3::ZERO, angular_velocity: DVec3::ZERO };
        (Body { name, fixed, mass, inertia, shapes, frame, force, carried: DVec3::ZERO }, state)
    }
}

/// Mass properties in the axes of the file, from the keys of a body and its shapes; `None` for a fixed body
/// without mass.
fn mass(
    table: &Table<'_>,
    shapes: &[FileShape<'_>],
    symbols: &Symbols,
    fixed: bool,
) -> Result<Option<MassProperties>> {
    let mass = table.get("mass").map(|v| v.positive(symbols)).transpose()?;
    let inertia = table.get("inertia").map(|v| inertia(&v, symbols)).transpose()?;
    let centre = table.get("center_of_mass").map(|v| v.vector(symbols)).transpose()?;
    let dense = shapes.iter().find(|s| s.density.is_some());
    if let (Some(_), Some(shape)) = (mass, dense) {
        let (first, second) = ("mass", "density");
        let kind = FileErrorKind::Conflict { first, second, table: table.title.clone() };
        return shape.table.require("density", "a number")?.error(kind);
    }
    if fixed {
        return Ok(None);
    }
    let body = || table.title.clone();
    if let (Some(mass), Some(inertia)) = (mass, inertia) {
        return Ok(Some(MassProperties { mass, centre: centre.unwrap_or(DVec3::ZERO), inertia }));
    }
    if shapes.is_empty() {
        let kind = match mass {
            None => WorldErrorKind::NoMass { body: body() },
            Some(_) => WorldErrorKind::NoInertia { body: body() },
        };
        return table.error(FileErrorKind::World(kind));
    }
    if mass.is_none() && dense.is_none() {
        return table.error(FileErrorKind::World(WorldErrorKind::NoMass { body: body() }));
    }
    let mut whole = MassProperties::ZERO;
    for FileShape { shape, density, table } in shapes {
        let density = match (mass, density) {
            (Some(_), _) => 1.0,
            (None, Some(density)) => *density,
            (None, None) => {
                let expected = "a density, 0 for a shape without mass, since other shapes have one";
                table.require("density", expected)?.nonnegative(symbols)?
            }
        };
        if density == 0.0 {
            continue;
        }
        match shape_mass(&shape.kind) {
            Ok(part) => whole = whole.plus(&part.scaled(density).placed(&shape.pose)),
            Err(reason) => {
                let kind = WorldErrorKind::Volume { shape: table.title.clone(), reason };
                return table.error(FileErrorKind::World(kind));
            }
        }
    }
    if !(whole.mass > 0.0 && whole.mass.is_finite()) {
        return table.error(FileErrorKind::World(WorldErrorKind::NoMass { body: body() }));
    }
    if let Some(mass) = mass {
        whole = whole.scaled(mass / whole.mass);
        whole.mass = mass;
    }
    // What is given overrules the shapes.
    whole.inertia = inertia.unwrap_or(whole.inertia);
    whole.centre = centre.unwrap_or(whole.centre);
    Ok(Some(whole))
}

/// Three principal moments, or a symmetric matrix by rows.
fn inertia(value: &Value<'_>, symbols: &Symbols) -> Result<DMat3> {
    const EXPECTED: &str = "three principal moments, or three rows of a symmetric matrix";
    let items = value.items(EXPECTED)?;
    if !items.iter().any(Value::is_array) {
        let moments = value.numbers(EXPECTED, |v| v.quantity(symbols))?;
        return Ok(DMat3::from_diagonal(DVec3::from_array(moments)));
    }
    let [a, b, c] = &items[..] else {
        let (key, found) = (clip(&value.key), items.len());
        return value.world_error(WorldErrorKind::Length { key, found, expected: EXPECTED });
    };
    let row = |v: &Value<'_>| v.vector(symbols);
    let matrix = DMat3::from_cols(row(a)?, row(b)?, row(c)?);
    let m = matrix.to_cols_array_2d();
    let scale = matrix.to_cols_array().iter().fold(0.0_f64, |s, x| s.max(x.abs()));
    for (i, j) in [(0, 1), (0, 2), (1, 2)] {
        if (m[i][j] - m[j][i]).abs() > SYMMETRIC * scale {
            let (row, column, upper, lower) = (i + 1, j + 1, m[i][j], m[j][i]);
            return value.world_error(WorldErrorKind::NotSymmetric { row, column, upper, lower });
        }
    }
    Ok((matrix + matrix.transpose()) * 0.5)
}

fn check_moments(table: &Table<'_>, moments: DVec3) -> Result<()> {
    match (possible_moments(&table.title, moments), table.get("inertia")) {
        (Ok(()), _) => Ok(()),
        (Err(kind), Some(value)) => value.world_error(kind),
        (Err(kind), None) => table.error(FileErrorKind::World(kind)),
    }
}

/// Moments of inertia belong to a distribution of mass: positive, none above the sum of the others.
pub fn possible_moments(body: &str, moments: DVec3) -> std::result::Result<(), WorldErrorKind> {
    let body = body.to_string();
    // The message shows no digits of rounding.
    let moments = moments.to_array().map(|m| format!("{m:.11e}").parse().unwrap_or(m));
    let mut sorted = moments;
    sorted.sort_by(f64::total_cmp);
    let [small, middle, largest] = sorted;
    if !(small > 0.0 && largest.is_finite()) {
        return Err(WorldErrorKind::InertiaNotPositive { body, moments });
    }
    if largest > (small + middle) * (1.0 + TRIANGLE_TOLERANCE) {
        return Err(WorldErrorKind::TriangleInequality { body, largest, others: [small, middle] });
    }
    Ok(())
}
