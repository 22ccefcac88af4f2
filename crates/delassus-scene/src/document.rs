//! What all scenes in TOML share: the size limit, the header that names what the file describes,
//! and parameters.

use std::collections::BTreeMap;

use toml::de::DeTable;

use crate::diagnostic::{FileError, FileErrorKind, Result};
use crate::toml_table::Table;
use delassus::formula::{Expression, Symbols, clip, nearest};

/// The largest file that is read, in bytes.
pub const MAX_FILE: usize = 1 << 24;

/// Parses the text into TOML tables.
pub(super) fn parse(text: &str) -> Result<toml::Spanned<DeTable<'_>>> {
    if text.len() > MAX_FILE {
        let kind = FileErrorKind::TooLarge { bytes: text.len(), limit: MAX_FILE };
        return Err(FileError::new(text, None, kind));
    }
    DeTable::parse(text).map_err(|error| {
        let message = error.message().to_string();
        FileError::new(text, Some(error.span().unwrap_or(0..0)), FileErrorKind::NotToml { message })
    })
}

/// What a file describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SceneKind {
    /// A Lagrangian system, `[system]`.
    System,
    /// A world of rigid bodies, `[world]`.
    World,
}

/// What a file describes; an error where it names neither or both.
pub fn scene_kind(text: &str) -> Result<SceneKind> {
    Ok(scene_table(&Table::root(text, &parse(text)?))?.0)
}

/// What a file describes, with its header.
pub(super) fn scene_table<'a>(root: &Table<'a>) -> Result<(SceneKind, Table<'a>)> {
    match (root.table("system", "[system]")?, root.table("world", "[world]")?) {
        (Some(system), None) => Ok((SceneKind::System, system)),
        (None, Some(world)) => Ok((SceneKind::World, world)),
        (None, None) => root.error(FileErrorKind::NoScene),
        (Some(_), Some(world)) => world.error(FileErrorKind::TwoScenes),
    }
}

/// The overrides of these options, then those of parameters. A parameter of the same name hides an option.
pub(super) fn split_overrides<'o>(
    root: &Table<'_>,
    overrides: &[(&'o str, &'o str)],
    options: &[&str],
) -> Result<[Vec<(&'o str, &'o str)>; 2]> {
    let own = root.table("parameters", "[parameters]")?;
    let is_option =
        |name: &str| options.contains(&name) && own.as_ref().is_none_or(|table| table.get(name).is_none());
    let (options, parameters) = overrides.iter().copied().partition(|(name, _)| is_option(name));
    Ok([options, parameters])
}

/// Parameters with their values; those in `free` are variables.
pub(super) fn parameters(
    text: &str,
    root: &Table<'_>,
    overrides: &[(&str, &str)],
    free: &[&str],
    symbols: &mut Symbols,
) -> Result<Vec<(String, Expression)>> {
    let entries = root.table("parameters", "[parameters]")?.map_or(Vec::new(), |table| table.entries());
    let mut named = overrides.iter().map(|(name, _)| name).chain(free);
    if let Some(name) = named.find(|name| entries.iter().all(|(_, v)| v.key != **name)) {
        let suggestion = nearest(name, entries.iter().map(|(_, v)| v.key.as_str()));
        let kind = FileErrorKind::UnknownParameter { name: clip(name), suggestion };
        return Err(FileError::new(text, None, kind));
    }
    let overrides: BTreeMap<&str, &str> = overrides.iter().copied().collect();
    let mut parameters = Vec::with_capacity(entries.len());
    for (span, entry) in entries {
        let value = match overrides.get(entry.key.as_str()) {
            None => entry.parametric(symbols)?,
            Some(value) => Expression::parse_parametric(value, symbols).map_err(|error| {
                let (name, value) = (clip(&entry.key), clip(value));
                FileError::new(text, None, FileErrorKind::Override { name, value, kind: error.kind })
            })?,
        };
        let added = match value.written() {
            Some(constant) if !free.contains(&entry.key.as_str()) => {
                symbols.add_parameter(&entry.key, constant)
            }
            _ => symbols.add_variable(&entry.key),
        };
        if let Err(error) = added {
            return Err(FileError::new(text, Some(span), FileErrorKind::Name(error)));
        }
        parameters.push((entry.key, value));
    }
    Ok(parameters)
}

/// The `name` of a table.
pub(super) fn name(table: &Table<'_>) -> Result<String> {
    Ok(table.require("name", "a name in a string")?.string("a name in a string")?.to_string())
}
