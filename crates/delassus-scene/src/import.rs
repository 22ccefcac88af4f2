//! Worlds from the formats of other programs, distinguished by their root element.

use std::path::Path;

use roxmltree::Document;

use crate::diagnostic::{FileError, FileErrorKind, Result, WorldErrorKind};
use crate::document::MAX_FILE;
use crate::mjcf::read_mujoco;
use crate::urdf::read_robot;
use crate::xml::{Imported, Source};
use delassus::formula::clip;

/// Reads a world from XML: URDF (`<robot>`) or MJCF (`<mujoco>`). Meshes are looked for in `folder`.
pub fn read_xml(text: &str, folder: Option<&Path>) -> Result<Imported> {
    if text.len() > MAX_FILE {
        let kind = FileErrorKind::TooLarge { bytes: text.len(), limit: MAX_FILE };
        return Err(FileError::new(text, None, kind));
    }
    let document = Document::parse(text).map_err(|error| {
        let at = error.pos();
        let line: usize =
            text.split_inclusive('\n').take(at.row.saturating_sub(1) as usize).map(str::len).sum();
        let start = line + at.col.saturating_sub(1) as usize;
        FileError::new(text, Some(start..start + 1), FileErrorKind::NotXml { message: error.to_string() })
    })?;
    let source = Source::new(text, folder);
    let root = document.root_element();
    match root.tag_name().name() {
        "robot" => read_robot(source, root),
        "mujoco" => read_mujoco(source, root),
        other => {
            let element = clip(other);
            source.fail(
                root,
                WorldErrorKind::Element { element, expected: "<robot> (URDF) or <mujoco> (MJCF)" },
            )
        }
    }
}
