//! Worlds in XML: what the readers of URDF and MJCF share.
//!
//! A text becomes a tree of [`Element`]s that know their file and line, so that what stands in other files
//! can be put into it. What no reader understands is an error or is listed in [`Imported::not_read`];
//! nothing is dropped in silence.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use roxmltree::Document;

use crate::control::ControlTable;
use crate::diagnostic::{FileError, FileErrorKind, Result, WorldErrorKind};
use crate::document::MAX_FILE;
use crate::world_file::WorldFile;
use delassus::formula::clip;

/// How a URDF or MJCF file is read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportOptions {
    /// Folders of packages by name, for `package://` in a URDF.
    pub packages: Vec<(String, PathBuf)>,
    /// Whether the root link of a URDF stands still; where `None`, as the file suggests: a root without
    /// `<inertial>` or called `world` does.
    pub fixed_base: Option<bool>,
    /// The `<key>` of an MJCF that it starts from.
    pub keyframe: Option<String>,
    /// Controls of the actuators of an MJCF, by name; those of the keyframe otherwise, or zero.
    pub controls: Vec<(String, f64)>,
    /// Controls of the actuators of an MJCF over time, before all others.
    pub control_table: Option<ControlTable>,
    /// The folder in which the convex parts of meshes are kept; where `None`, meshes touch as their hulls.
    pub convex_parts: Option<PathBuf>,
}

/// How deep elements may stand in each other.
const MAX_DEPTH: usize = 400;

/// An element of a file.
#[derive(Clone, Debug)]
pub(super) struct Element {
    pub(super) tag: String,
    pub(super) attributes: Vec<(String, String)>,
    pub(super) children: Vec<Element>,
    /// Its file, its bytes there and the line of the first.
    pub(super) file: usize,
    place: Range<usize>,
    line: u32,
    /// Its bytes in the first file, or those of the element that brought it from another.
    range: Range<usize>,
    /// The model it belongs to: the one that was asked for, or one that is attached to it.
    pub(super) model: usize,
}

/// An element that is read.
pub(super) type Node<'a> = &'a Element;

impl Element {
    /// Its name.
    pub(super) fn tag(&self) -> &str {
        &self.tag
    }

    /// An attribute.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// Whether it has an attribute.
    pub(super) fn has_attribute(&self, name: &str) -> bool {
        self.attribute(name).is_some()
    }

    /// Gives an attribute a value.
    pub(super) fn set(&mut self, name: &str, value: String) {
        match self.attributes.iter_mut().find(|(n, _)| n == name) {
            Some((_, old)) => *old = value,
            None => self.attributes.push((name.to_string(), value)),
        }
    }

    /// The elements in it.
    pub(super) fn children(&self) -> impl Iterator<Item = &Element> {
        self.children.iter()
    }

    /// Where it stands in the text of the first file.
    pub(super) fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// An element without attributes and contents at the place of this one.
    pub(super) fn instead(&self, tag: &str) -> Element {
        Element { tag: tag.to_string(), attributes: Vec::new(), children: Vec::new(), ..self.clone() }
    }

    /// Makes it and all in it stand at a place of the first file, for a model.
    pub(super) fn bring(&mut self, range: &Range<usize>, model: usize) {
        (self.range, self.model) = (range.clone(), model);
        self.children.iter_mut().for_each(|child| child.bring(range, model));
    }

    fn of(node: roxmltree::Node<'_, '_>, file: usize, depth: usize) -> Option<Element> {
        let (name, place) = (node.tag_name(), node.range());
        let tag = match name.namespace() {
            Some(space) if space.contains("xacro") => format!("xacro:{}", name.name()),
            _ => name.name().to_string(),
        };
        let line = node.document().text_pos_at(place.start).row;
        let attributes = node.attributes().map(|a| (a.name().to_string(), a.value().to_string())).collect();
        let children = node.children().filter(roxmltree::Node::is_element);
        let children = match depth {
            MAX_DEPTH => return None,
            _ => children.map(|child| Element::of(child, file, depth + 1)).collect::<Option<_>>()?,
        };
        Some(Element { tag, attributes, children, file, line, range: place.clone(), place, model: 0 })
    }
}

/// A world from another format, and the parts of the file that were not read.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The world.
    pub file: WorldFile,
    /// Elements and attributes that were not read, with the line of their first occurrence.
    pub not_read: Vec<String>,
}

/// A file beside the one that was asked for.
struct OtherFile {
    name: String,
    text: String,
    folder: PathBuf,
}

/// Files being read.
pub(super) struct Source<'a> {
    pub(super) text: &'a str,
    pub(super) folder: Option<&'a Path>,
    pub(super) options: &'a ImportOptions,
    others: Vec<OtherFile>,
    /// The main file of each model.
    pub(super) models: Vec<usize>,
    /// What was not read, with the first place where it stands and how often it does.
    not_read: BTreeMap<String, (usize, u32, usize)>,
}

impl<'a> Source<'a> {
    pub(super) fn new(text: &'a str, folder: Option<&'a Path>, options: &'a ImportOptions) -> Self {
        Source { text, folder, options, others: Vec::new(), models: vec![0], not_read: BTreeMap::new() }
    }
}

impl Source<'_> {
    /// The root element of the text that was asked for.
    pub(super) fn root(&self) -> Result<Element> {
        self.parse(0)
    }

    /// The root element of another file, which an element names; `None` where it cannot be opened.
    pub(super) fn open(&mut self, path: &Path, from: Node<'_>) -> Result<Option<Element>> {
        let Ok(size) = std::fs::metadata(path) else { return Ok(None) };
        if size.len() > MAX_FILE as u64 {
            let found = format!("a file of {} bytes", size.len());
            return self.attribute(from, "file", &found, "a file of at most 16 MiB");
        }
        let Ok(text) = std::fs::read_to_string(path) else { return Ok(None) };
        let folder = path.parent().map_or_else(PathBuf::new, Path::to_path_buf);
        self.others.push(OtherFile { name: path.display().to_string(), text, folder });
        self.parse(self.others.len()).map(Some)
    }

    /// The folder of a file.
    pub(super) fn folder_of(&self, file: usize) -> Option<&Path> {
        match file {
            0 => self.folder,
            file => Some(&self.others[file - 1].folder),
        }
    }

    /// The folder of the main file of a model.
    pub(super) fn folder_of_model(&self, model: usize) -> Option<&Path> {
        self.folder_of(self.models.get(model).copied().unwrap_or(0))
    }

    fn text_of(&self, file: usize) -> &str {
        if file == 0 { self.text } else { &self.others[file - 1].text }
    }

    /// An error in a file.
    fn error(&self, file: usize, place: Range<usize>, kind: FileErrorKind) -> FileError {
        let error = FileError::new(self.text_of(file), Some(place), kind);
        match file {
            0 => error,
            file => error.in_other(&self.others[file - 1].name, &self.others[file - 1].text),
        }
    }

    fn parse(&self, file: usize) -> Result<Element> {
        let text = self.text_of(file);
        if text.len() > MAX_FILE {
            let kind = FileErrorKind::TooLarge { bytes: text.len(), limit: MAX_FILE };
            return Err(FileError::new(text, None, kind));
        }
        let document = Document::parse(text).map_err(|error| {
            let at = error.pos();
            let line: usize =
                text.split_inclusive('\n').take(at.row.saturating_sub(1) as usize).map(str::len).sum();
            let start = line + at.col.saturating_sub(1) as usize;
            self.error(file, start..start + 1, FileErrorKind::NotXml { message: error.to_string() })
        })?;
        let root = document.root_element();
        Element::of(root, file, 0).ok_or_else(|| {
            let element = clip(root.tag_name().name());
            let kind = WorldErrorKind::Element { element, expected: "at most 400 elements in each other" };
            self.error(file, root.range(), FileErrorKind::World(kind))
        })
    }

    /// An error at the first tag of an element.
    pub(super) fn fail<T>(&self, node: Node<'_>, kind: WorldErrorKind) -> Result<T> {
        let (text, range) = (self.text_of(node.file), node.place.clone());
        let tag =
            text.get(range.clone()).and_then(|t| t.find('>')).map_or(range.end, |i| range.start + i + 1);
        Err(self.error(node.file, range.start..tag, FileErrorKind::World(kind)))
    }

    /// An error about an attribute or a child of an element.
    pub(super) fn attribute<T>(
        &self,
        node: Node<'_>,
        name: &str,
        found: &str,
        expected: &'static str,
    ) -> Result<T> {
        let (element, attribute) = (clip(node.tag()), name.to_string());
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
        self.not_read.entry(what).or_insert((node.file, node.line, 0)).2 += 1;
    }

    /// All that was not read, in the order of the files.
    pub(super) fn notes(self) -> Vec<String> {
        let mut notes: Vec<_> = self.not_read.into_iter().collect();
        notes.sort_by_key(|(_, (file, line, _))| (*file, *line));
        let describe = |(what, (file, line, times)): (String, (usize, u32, usize))| {
            let place = match file {
                0 => format!("line {line}"),
                file => {
                    let name = Path::new(&self.others[file - 1].name).file_name().unwrap_or_default();
                    format!("line {line} of {}", name.to_string_lossy())
                }
            };
            match times {
                1 => format!("{what} ({place})"),
                n => format!("{what} ({place} and {} more)", n - 1),
            }
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
    node.children().find(|c| c.tag() == name)
}
