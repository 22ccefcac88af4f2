//! The shapes of bodies in world files.

use std::path::Path;

use glam::DVec3;

use super::values::{frame, pose};
use crate::diagnostic::{FileErrorKind, Result, WorldErrorKind};
use crate::mesh_file::{MeshError, Triangles, read_mesh, read_numbers};
use crate::toml_table::{Table, Value, unknown_word};
use delassus::formula::{Symbols, clip};
use delassus::world::{Pose, Shape, ShapeKind};

/// The largest number of points of a convex shape.
pub const MAX_POINTS: usize = 10_000;
const TYPES: &str = "\"plane\", \"sphere\", \"box\", \"capsule\", \"cylinder\", \"cone\", \"convex\", \"mesh\" or \"heightfield\"";

/// A shape in the axes in which the file writes its body, its density, and its table for messages.
pub(super) struct FileShape<'a> {
    pub(super) shape: Shape,
    pub(super) density: Option<f64>,
    pub(super) table: Table<'a>,
}

/// Reads a `[[body.shape]]`.
pub(super) fn shape<'a>(
    mut table: Table<'a>,
    title: String,
    symbols: &Symbols,
    folder: Option<&Path>,
) -> Result<FileShape<'a>> {
    let kind_value = table.require("type", TYPES)?;
    let word = kind_value.string(TYPES)?;
    table.title = title;
    let own: &[&str] = match word {
        "plane" => &["normal", "offset"],
        "sphere" => &["radius"],
        "box" => &["half_extents"],
        "capsule" | "cylinder" | "cone" => &["radius", "half_height"],
        "convex" => &["points", "file", "scale"],
        "mesh" => &["vertices", "triangles", "file", "scale"],
        "heightfield" => &["heights", "extent", "file"],
        _ => return unknown_word(&kind_value, word, TYPES),
    };
    let common = ["type", "position", "orientation", "euler_deg", "density"];
    table.only(&common.iter().chain(own).copied().collect::<Vec<_>>())?;
    let mut place = pose(&table, symbols)?;
    let positive =
        |key: &'static str, expected: &'static str| table.require(key, expected)?.positive(symbols);
    let kind = match word {
        "plane" => {
            place = plane(&table, symbols, place)?;
            ShapeKind::Plane
        }
        "sphere" => ShapeKind::Sphere { radius: positive("radius", "the radius")? },
        "box" => {
            let expected = "three positive numbers, half the edges";
            let value = table.require("half_extents", expected)?;
            let half_extents = DVec3::from_array(value.numbers(expected, |v| v.positive(symbols))?);
            ShapeKind::Box { half_extents }
        }
        "convex" => ShapeKind::Convex { points: convex(&table, symbols, folder)? },
        "mesh" => {
            let Triangles { vertices, triangles } = mesh(&table, symbols, folder)?;
            ShapeKind::Mesh { vertices, triangles }
        }
        "heightfield" => heightfield(&table, symbols, folder)?,
        _ => {
            let radius = positive("radius", "the radius")?;
            let half_height = positive("half_height", "half the height, along z")?;
            match word {
                "capsule" => ShapeKind::Capsule { radius, half_height },
                "cylinder" => ShapeKind::Cylinder { radius, half_height },
                _ => ShapeKind::Cone { radius, half_height },
            }
        }
    };
    let density = table.get("density").map(|v| v.nonnegative(symbols)).transpose()?;
    Ok(FileShape { shape: Shape { kind, pose: place }, density, table })
}

/// The half space below a plane: through `position` or at `offset` along its normal.
fn plane(table: &Table<'_>, symbols: &Symbols, place: Pose) -> Result<Pose> {
    let offset = table.either("position", "offset")?.filter(|v| v.key == "offset");
    let normal = table.either("normal", "orientation")?.filter(|v| v.key == "normal");
    table.either("normal", "euler_deg")?;
    let n = match &normal {
        Some(value) => value.direction(symbols)?,
        None => place.rotation * DVec3::Z,
    };
    let position = match offset {
        Some(value) => n * value.quantity(symbols)?,
        None => place.position,
    };
    Ok(if normal.is_some() { frame(position, n, None) } else { Pose { position, rotation: place.rotation } })
}

fn convex(table: &Table<'_>, symbols: &Symbols, folder: Option<&Path>) -> Result<Vec<DVec3>> {
    let Some(value) = table.either("points", "file")? else {
        let (first, second) = ("points", "file");
        return table.error(FileErrorKind::Neither { first, second, table: table.title.clone() });
    };
    let points = if value.key == "points" {
        vectors(&value, symbols)?
    } else {
        from_file(&value, folder, read_mesh)?.vertices
    };
    if points.len() > MAX_POINTS {
        let (found, limit) = (points.len(), MAX_POINTS);
        return value.world_error(WorldErrorKind::TooManyPoints { found, limit });
    }
    if points.len() < 4 {
        let (key, expected) = (value.key.clone(), "at least four points");
        return value.world_error(WorldErrorKind::Length { key, found: points.len(), expected });
    }
    scaled(table, symbols, points)
}

fn mesh(table: &Table<'_>, symbols: &Symbols, folder: Option<&Path>) -> Result<Triangles> {
    let Some(value) = table.either("vertices", "file")? else {
        let (first, second) = ("vertices", "file");
        return table.error(FileErrorKind::Neither { first, second, table: table.title.clone() });
    };
    table.either("triangles", "file")?;
    let mut mesh = if value.key == "file" {
        from_file(&value, folder, read_mesh)?
    } else {
        let vertices = vectors(&value, symbols)?;
        let expected = "an array of [a, b, c], indices of vertices from 0";
        let list = table.require("triangles", expected)?;
        let mut triangles = Vec::new();
        for item in list.items(expected)? {
            let corners = item.items(expected)?;
            let [a, b, c] = &corners[..] else {
                let (key, found) = (item.key.clone(), corners.len());
                return item.world_error(WorldErrorKind::Length { key, found, expected: "three corners" });
            };
            let index = |v: &Value<'_>| match v.count().filter(|&i| i < vertices.len()) {
                Some(i) => Ok(i as u32),
                None => {
                    let found = clip(v.text.get(v.span.clone()).unwrap_or_default());
                    v.world_error(WorldErrorKind::Corner { found, corners: vertices.len() })
                }
            };
            triangles.push([index(a)?, index(b)?, index(c)?]);
        }
        if triangles.is_empty() {
            let (key, found, expected) = (list.key.clone(), 0, "at least one triangle");
            return list.world_error(WorldErrorKind::Length { key, found, expected });
        }
        Triangles { vertices, triangles }
    };
    mesh.vertices = scaled(table, symbols, mesh.vertices)?;
    Ok(mesh)
}

/// Points times `scale`; a number or one for each axis.
fn scaled(table: &Table<'_>, symbols: &Symbols, points: Vec<DVec3>) -> Result<Vec<DVec3>> {
    let Some(value) = table.get("scale") else { return Ok(points) };
    let scale = match value.is_array() {
        true => DVec3::from_array(value.numbers("one or three positive numbers", |v| v.positive(symbols))?),
        false => DVec3::splat(value.positive(symbols)?),
    };
    Ok(points.into_iter().map(|p| p * scale).collect())
}

fn heightfield(table: &Table<'_>, symbols: &Symbols, folder: Option<&Path>) -> Result<ShapeKind> {
    let expected = "rows of heights, along y, each along x";
    let Some(value) = table.either("heights", "file")? else {
        let (first, second) = ("heights", "file");
        return table.error(FileErrorKind::Neither { first, second, table: table.title.clone() });
    };
    let rows: Vec<Vec<f64>> = if value.key == "file" {
        from_file(&value, folder, read_numbers)?
    } else {
        let row =
            |v: &Value<'_>| v.items(expected)?.iter().map(|h| h.quantity(symbols)).collect::<Result<_>>();
        value.items(expected)?.iter().map(row).collect::<Result<_>>()?
    };
    let size = [rows.first().map_or(0, Vec::len), rows.len()];
    if size[0] < 2 || size[1] < 2 {
        let (key, found) = (value.key.clone(), size[0].min(size[1]));
        let expected = "at least two rows of at least two heights";
        return value.world_error(WorldErrorKind::Length { key, found, expected });
    }
    if let Some(i) = rows.iter().position(|row| row.len() != size[0]) {
        let (row, found, first) = (i + 1, rows[i].len(), size[0]);
        return value.world_error(WorldErrorKind::Ragged { row, found, first });
    }
    let expected = "two positive numbers, the extent along x and y";
    let extent = table.require("extent", expected)?.numbers(expected, |v| v.positive(symbols))?;
    Ok(ShapeKind::Heightfield { heights: rows.concat(), size, extent })
}

fn vectors(value: &Value<'_>, symbols: &Symbols) -> Result<Vec<DVec3>> {
    value.items("an array of points [x, y, z]")?.iter().map(|item| item.vector(symbols)).collect()
}

/// Reads what a file beside the world file holds.
fn from_file<T>(
    value: &Value<'_>,
    folder: Option<&Path>,
    read: impl Fn(&Path) -> std::result::Result<T, MeshError>,
) -> Result<T> {
    let name = value.string("the name of a file in a string")?;
    let Some(folder) = folder else {
        return value.world_error(WorldErrorKind::Mesh { file: clip(name), reason: MeshError::NoFolder });
    };
    match read(&folder.join(name)) {
        Ok(contents) => Ok(contents),
        Err(reason) => value.world_error(WorldErrorKind::Mesh { file: clip(name), reason }),
    }
}
