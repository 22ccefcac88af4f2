//! Reading a system or a world from a file, with messages for people.

use std::path::Path;

use delassus_scene::{FileError, SceneFile, SystemFile, WorldFile, read_scene, read_system};
use delassus_scene::{Imported, read_xml};

/// A system that was read, with the text it came from (for messages).
pub struct Scene {
    /// Parsed contents of the file.
    pub file: SystemFile,
    /// The file's name, for messages.
    pub name: String,
    /// The file's text.
    pub text: String,
}

/// `name=value` of a `--set` option.
pub fn parse_override(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("expected name=value, for example mu=0.5".into()),
    }
}

/// Reads the text of a file; the error is a message ready for stderr.
fn read_text(path: &Path) -> Result<(String, String), String> {
    let name = path.display().to_string();
    let limit = delassus_scene::MAX_FILE as u64;
    let size = std::fs::metadata(path).map_err(|e| format!("error: {name}: cannot be read: {e}\n"))?;
    if !size.is_file() {
        return Err(format!("error: {name}: expected a file with a [system] or a [world] table\n"));
    }
    if size.len() > limit {
        let len = size.len();
        return Err(format!("error: {name}: {len} bytes are too many, expected at most {limit}\n"));
    }
    let bytes = std::fs::read(path).map_err(|e| format!("error: {name}: cannot be read: {e}\n"))?;
    let text = String::from_utf8(bytes).map_err(|e| {
        let line = 1 + e.as_bytes()[..e.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count();
        format!("error: {name}:{line}: not text: expected UTF-8\n")
    })?;
    Ok((name, text))
}

/// Reads a system from a file; the error is a message ready for stderr.
pub fn read(path: &Path, overrides: &[(String, String)]) -> Result<Scene, String> {
    let (name, text) = read_text(path)?;
    parse(name, text, overrides)
}

/// A system or a world.
pub enum AnyScene {
    /// A Lagrangian system.
    System(Box<Scene>),
    /// Rigid bodies.
    World(Box<WorldScene>),
}

/// A world that was read, with the text it came from (for messages).
pub struct WorldScene {
    /// Parsed contents of the file.
    pub file: WorldFile,
    /// The file's name, for messages.
    pub name: String,
    /// The file's text.
    pub text: String,
}

/// Reads a system or a world from a file; the error is a message ready for stderr.
pub fn read_any(path: &Path, overrides: &[(String, String)]) -> Result<AnyScene, String> {
    let (name, text) = read_text(path)?;
    any_of_text(path, name, text, overrides)
}

/// A system or a world from a text; the extension of `path` gives its format, its folder the place of meshes.
pub fn any_of_text(
    path: &Path,
    name: String,
    text: String,
    overrides: &[(String, String)],
) -> Result<AnyScene, String> {
    let explain = |e: FileError| ended(e.render(&name, &text));
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("urdf") || e.eq_ignore_ascii_case("xml")) {
        if let Some((parameter, _)) = overrides.first() {
            return Err(format!(
                "error: {name}: cannot set `{parameter}`: URDF and MJCF have no parameters\n"
            ));
        }
        let Imported { file, not_read } = read_xml(&text, path.parent()).map_err(explain)?;
        for what in not_read {
            eprintln!("note: {name}: not read: {what}");
        }
        return Ok(AnyScene::World(Box::new(WorldScene { file, name, text })));
    }
    match read_scene(&text, path.parent(), &pairs(overrides)).map_err(explain)? {
        SceneFile::System(file) => Ok(AnyScene::System(Box::new(Scene { file: *file, name, text }))),
        SceneFile::World(file) => Ok(AnyScene::World(Box::new(WorldScene { file: *file, name, text }))),
    }
}

fn pairs(overrides: &[(String, String)]) -> Vec<(&str, &str)> {
    overrides.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect()
}

/// Reads a system from a text that is in memory.
pub fn parse(name: String, text: String, overrides: &[(String, String)]) -> Result<Scene, String> {
    match read_system(&text, &pairs(overrides)) {
        Ok(file) => Ok(Scene { file, name, text }),
        Err(e) => Err(ended(e.render(&name, &text))),
    }
}

/// Returns the message with exactly one trailing newline.
pub fn ended(mut message: String) -> String {
    message.truncate(message.trim_end().len());
    message.push('\n');
    message
}
