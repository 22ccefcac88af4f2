//! Worlds from the formats of other programs, distinguished by their root element.

use std::path::Path;

use crate::diagnostic::{Result, WorldErrorKind};
use crate::mjcf::{expand, read_mujoco};
use crate::urdf::read_robot;
use crate::xml::{ImportOptions, Imported, Source};
use delassus::formula::clip;

/// Reads a world from XML: URDF (`<robot>`) or MJCF (`<mujoco>`). Meshes and included files are looked for in
/// `folder`.
pub fn read_xml(text: &str, folder: Option<&Path>) -> Result<Imported> {
    read_xml_with(text, folder, &ImportOptions::default())
}

/// Reads a world from XML as [`read_xml`] does, with these options.
pub fn read_xml_with(text: &str, folder: Option<&Path>, options: &ImportOptions) -> Result<Imported> {
    let mut source = Source::new(text, folder, options);
    let root = source.root()?;
    match root.tag() {
        "robot"
            if options.keyframe.is_some()
                || !options.controls.is_empty()
                || options.control_table.is_some() =>
        {
            let expected = "an MJCF: a URDF has no keyframes and no actuators";
            source.attribute(&root, "keyframe", "asked for, or a control", expected)
        }
        "robot" => read_robot(source, &root),
        "mujoco" => {
            let root = expand(&mut source, root)?;
            read_mujoco(source, &root)
        }
        other => {
            let element = clip(other);
            source.fail(
                &root,
                WorldErrorKind::Element { element, expected: "<robot> (URDF) or <mujoco> (MJCF)" },
            )
        }
    }
}
