//! Texts and files, and what they describe.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use delassus_scene::{
    ImportOptions, Imported, MAX_FILE, SceneFile, SystemFile, WorldFile, read_scene, read_xml_with,
};
use pyo3::prelude::*;

use crate::error::{read_error, scene_error, scene_message};

/// Values of parameters by name: numbers, or texts with a unit.
pub type Parameters<'py> = Option<BTreeMap<String, Bound<'py, PyAny>>>;
/// All that a scene is read from: name, text, folder, parameters, keyframe, controls, packages, fixed base.
pub type Parts = (
    String,
    String,
    Option<PathBuf>,
    Vec<(String, String)>,
    Option<String>,
    Vec<(String, f64)>,
    Vec<(String, PathBuf)>,
    Option<bool>,
);

/// Numbers with all their digits, texts as they are.
fn texts(parameters: Parameters<'_>) -> PyResult<Vec<(String, String)>> {
    let text = |value: &Bound<'_, PyAny>| match value.extract::<f64>() {
        Ok(number) => Ok(format!("{number:?}")),
        Err(_) => value.extract::<String>(),
    };
    parameters.unwrap_or_default().into_iter().map(|(name, value)| Ok((name, text(&value)?))).collect()
}

/// Where a scene came from.
pub struct Source {
    /// The name of the file, for messages.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Where its meshes are.
    pub folder: Option<PathBuf>,
    /// Values that replace those of the text.
    pub parameters: Vec<(String, String)>,
    import: ImportOptions,
}

/// A system or a world.
pub enum Scene {
    System(Box<SystemFile>),
    World(Box<WorldFile>, Vec<String>),
}

impl Source {
    /// A file.
    pub fn of_file(path: &Path, parameters: Parameters<'_>, import: ImportOptions) -> PyResult<Source> {
        let parameters = texts(parameters)?;
        let size = std::fs::metadata(path).map_err(|e| read_error(path, e))?.len();
        let name = path.display().to_string();
        if size > MAX_FILE as u64 {
            let message = format!("{size} bytes are too many, expected at most {MAX_FILE}");
            return Err(scene_message(&name, message));
        }
        let text = std::fs::read_to_string(path).map_err(|e| read_error(path, e))?;
        Ok(Source { name, text, folder: path.parent().map(Path::to_path_buf), parameters, import })
    }

    /// A text that is in memory.
    pub fn of_text(text: String, parameters: Parameters<'_>) -> PyResult<Source> {
        let (parameters, import) = (texts(parameters)?, ImportOptions::default());
        Ok(Source { name: "<text>".into(), text, folder: None, parameters, import })
    }

    /// What was taken apart by [`Source::parts`].
    pub fn of_parts(parts: Parts) -> Source {
        let (name, text, folder, parameters, keyframe, controls, packages, fixed_base) = parts;
        let import = ImportOptions { packages, fixed_base, keyframe, controls, ..ImportOptions::default() };
        Source { name, text, folder, parameters, import }
    }

    /// What it is made of.
    pub fn parts(&self) -> Parts {
        let ImportOptions { keyframe, controls, packages, fixed_base, .. } = self.import.clone();
        let (name, text, folder) = (self.name.clone(), self.text.clone(), self.folder.clone());
        (name, text, folder, self.parameters.clone(), keyframe, controls, packages, fixed_base)
    }

    fn is_xml(&self) -> bool {
        let extension = Path::new(&self.name).extension();
        extension.is_some_and(|e| e.eq_ignore_ascii_case("xml") || e.eq_ignore_ascii_case("urdf"))
    }

    /// Reads the scene.
    pub fn read(&self) -> PyResult<Scene> {
        let wrong = |error| scene_error(&error, &self.name, &self.text);
        if self.is_xml() {
            if let Some((name, _)) = self.parameters.first() {
                let message = format!("cannot set `{name}`: URDF and MJCF have no parameters");
                return Err(scene_message(&self.name, message));
            }
            let Imported { file, not_read } =
                read_xml_with(&self.text, self.folder.as_deref(), &self.import).map_err(wrong)?;
            return Ok(Scene::World(Box::new(file), not_read));
        }
        if self.import != ImportOptions::default() {
            let message = "keyframe, controls, packages and fixed_base belong to URDF and MJCF files";
            return Err(scene_message(&self.name, message));
        }
        let values: Vec<(&str, &str)> =
            self.parameters.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        match read_scene(&self.text, self.folder.as_deref(), &values).map_err(wrong)? {
            SceneFile::System(file) => Ok(Scene::System(file)),
            SceneFile::World(file) => Ok(Scene::World(file, vec![])),
        }
    }
}
