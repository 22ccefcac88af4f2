//! Worlds in XML: what the readers of URDF and MJCF share.
//!
//! What a file says and no reader understands is an error or is listed in
//! [`Imported::not_read`]; nothing is dropped in silence.

use std::collections::BTreeMap;
use std::path::Path;

use crate::diagnostic::{FileError, FileErrorKind, Result, WorldErrorKind};
use crate::world_file::WorldFile;
use delassus::formula::clip;

/// An element.
pub(super) type Node<'a> = roxmltree::Node<'a, 'a>;

/// A world from another format, and the parts of the file that were not read.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The world.
    pub file: WorldFile,
    /// Elements and attributes that were not read, with the line of their first occurrence.
    pub not_read: Vec<String>,
}

/// A file being read.
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    pub(super) folder: Option<&'a Path>,
    /// What was not read, with the first line where it stands and how often it does.
    not_read: BTreeMap<String, (u32, usize)>,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str, folder: Option<&'a Path>) -> Self {
        Source { text, folder, not_read: BTreeMap::new() }
    }
}

impl Source<'_> {
    /// An error at the first tag of an element.
    pub(super) fn fail<T>(&self, node: Node<'_>, kind: WorldErrorKind) -> Result<T> {
        let range = node.range();
        let tag =
            self.text.get(range.clone()).and_then(|t| t.find('>')).map_or(range.end, |i| range.start + i + 1);
        Err(FileError::new(self.text, Some(range.start..tag), FileErrorKind::World(kind)))
    }

    /// An error about an attribute or a child of an element.
    pub(super) fn attribute<T>(
        &self,
        node: Node<'_>,
        name: &str,
        found: &str,
        expected: &'static str,
    ) -> Result<T> {
        let (element, attribute) = (clip(node.tag_name().name()), name.to_string());
        self.fail(node, WorldErrorKind::Attribute { element, attribute, found: clip(found), expected })
    }

    /// An attribute that must be there.
    pub(super) fn required<'n>(&self, node: Node<'n>, name: &str, expected: &'static str) -> Result<&'n str> {
        match node.attribute(name) {
            Some(value) if !value.is_empty() => Ok(value),
            _ => self.attribute(node, name, "missing", expected),
        }
    }

    /// As many numbers as asked for, or the default where the attribute is not there.
    pub(super) fn numbers<const N: usize>(
        &self,
        node: Node<'_>,
        name: &str,
        default: [f64; N],
    ) -> Result<[f64; N]> {
        let Some(value) = node.attribute(name) else { return Ok(default) };
        match finite_numbers(value).and_then(|list| <[f64; N]>::try_from(list).ok()) {
            Some(array) => Ok(array),
            None => self.attribute(node, name, &format!("`{value}`"), how_many(N)),
        }
    }

    /// Remembers that something was not read.
    pub(super) fn note(&mut self, node: Node<'_>, what: String) {
        let line = node.document().text_pos_at(node.range().start).row;
        self.not_read.entry(what).or_insert((line, 0)).1 += 1;
    }

    /// All that was not read, in the order of the file.
    pub(super) fn notes(self) -> Vec<String> {
        let mut notes: Vec<_> = self.not_read.into_iter().collect();
        notes.sort_by_key(|(_, (line, _))| *line);
        let describe = |(what, (line, times)): (String, (u32, usize))| match times {
            1 => format!("{what} (line {line})"),
            n => format!("{what} (line {line} and {} more)", n - 1),
        };
        notes.into_iter().map(describe).collect()
    }
}

/// Numbers with spaces between them; `None` where one is not a finite number.
pub(super) fn finite_numbers(text: &str) -> Option<Vec<f64>> {
    text.split_whitespace().map(|word| word.parse().ok().filter(|x: &f64| x.is_finite())).collect()
}

/// What was expected in the place of something else.
pub(super) fn how_many(n: usize) -> &'static str {
    match n {
        1 => "a finite number",
        2 => "two finite numbers",
        3 => "three finite numbers",
        4 => "four finite numbers",
        6 => "six finite numbers",
        _ => "finite numbers",
    }
}

/// The first child element of this name.
pub(super) fn child<'a>(node: Node<'a>, name: &str) -> Option<Node<'a>> {
    node.children().find(|c| c.is_element() && c.tag_name().name() == name)
}
