//! Worlds from the formats of other programs, distinguished by their root element.

use std::path::{Path, PathBuf};

use crate::control::ControlTable;
use crate::diagnostic::{Result, WorldErrorKind};
use crate::mjcf::{expand, read_mujoco};
use crate::urdf::read_robot;
use crate::xml::{Imported, Source};
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
}

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
