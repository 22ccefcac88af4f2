//! Whatever a TOML text describes, a system or a world, read from one parse of it.

use std::path::Path;

use crate::diagnostic::Result;
use crate::document::{SceneKind, parse, scene_table};
use crate::system_file::{SystemFile, system_at};
use crate::toml_table::Table;
use crate::world_file::{WorldFile, world_at};

/// The contents of a scene file.
#[derive(Clone, Debug)]
pub enum SceneFile {
    /// A Lagrangian system, `[system]`.
    System(Box<SystemFile>),
    /// A world of rigid bodies, `[world]`.
    World(Box<WorldFile>),
}

/// Reads a system as [`read_system`](crate::read_system) or a world as [`read_world`](crate::read_world)
/// does, whichever the text has.
pub fn read_scene(text: &str, folder: Option<&Path>, overrides: &[(&str, &str)]) -> Result<SceneFile> {
    let document = parse(text)?;
    let root = Table::root(text, &document);
    Ok(match scene_table(&root)? {
        (SceneKind::System, header) => {
            SceneFile::System(Box::new(system_at(text, &root, &header, overrides)?))
        }
        (SceneKind::World, header) => {
            SceneFile::World(Box::new(world_at(text, &root, &header, folder, overrides)?))
        }
    })
}
