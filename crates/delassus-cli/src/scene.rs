//! Reading a system or a world from a file, with messages for people.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::parquet_table;
use delassus_scene::{ControlTable, ImportOptions, Imported, read_xml_with};
use delassus_scene::{
    FileError, SceneFile, SystemFile, WorldFile, read_scene, read_system, set_controls, set_joints,
};

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

/// How a URDF or MJCF file is read.
#[derive(Args, Clone, Default)]
pub struct ImportArgs {
    /// Where a package of a URDF is: name=folder
    #[arg(long = "package", value_name = "NAME=FOLDER", value_parser = parse_override)]
    pub package: Vec<(String, String)>,
    /// Hold the root link of a URDF
    #[arg(long, conflicts_with = "free_base")]
    pub fixed_base: bool,
    /// Let the root link of a URDF move
    #[arg(long)]
    pub free_base: bool,
    /// Start from this keyframe of an MJCF, with its controls
    #[arg(long, value_name = "NAME")]
    pub keyframe: Option<String>,
    /// Set the control of an actuator: name=value
    #[arg(long = "set-control", value_name = "NAME=VALUE", value_parser = parse_control)]
    pub set_control: Vec<(String, f64)>,
    /// Put a joint somewhere before the start, m or rad, and let it move: name=position or
    /// name=position,velocity
    #[arg(long = "set-joint", value_name = "NAME=POSITION[,VELOCITY]", value_parser = parse_joint)]
    pub set_joint: Vec<(String, [f64; 2])>,
    /// Controls of actuators over time: t and a column for each by its name
    #[arg(long, value_name = "FILE.csv|.parquet")]
    pub control: Option<PathBuf>,
    /// Let the meshes of a URDF or MJCF touch as convex parts, which are kept in this folder, not as hulls
    #[arg(long, value_name = "FOLDER")]
    pub convex_parts: Option<PathBuf>,
    /// Let controls change evenly between the times of --control, and not at once
    #[arg(long, requires = "control")]
    pub control_linear: bool,
}

/// `name=value` of a `--set-control` option.
fn parse_control(text: &str) -> Result<(String, f64), String> {
    let (name, value) = parse_override(text)?;
    match value.parse::<f64>() {
        Ok(number) if number.is_finite() => Ok((name, number)),
        _ => Err(format!("expected a finite number, found \"{value}\"")),
    }
}

/// `name=position` or `name=position,velocity` of a `--set-joint` option.
fn parse_joint(text: &str) -> Result<(String, [f64; 2]), String> {
    let (name, value) = parse_override(text)?;
    let (position, velocity) = value.split_once(',').unwrap_or((&value, "0"));
    match [position, velocity].map(|word| word.trim().parse::<f64>().ok().filter(|x| x.is_finite())) {
        [Some(position), Some(velocity)] => Ok((name, [position, velocity])),
        _ => Err(format!("expected one or two finite numbers with a comma between them, found \"{value}\"")),
    }
}

impl ImportArgs {
    /// The options of the reader; the error is a message ready for stderr.
    fn options(&self) -> Result<ImportOptions, String> {
        let control_table = match &self.control {
            None => None,
            Some(path) => {
                let (name, bytes) = read_bytes(path)?;
                let linear = self.control_linear;
                let table = match parquet_table::is_parquet(&bytes) {
                    true => {
                        let columns = parquet_table::columns(&bytes)
                            .map_err(|e| format!("error: {name}: {e}; `.csv` is read as well\n"))?;
                        ControlTable::from_columns(columns, linear)
                    }
                    false => ControlTable::parse(&text_of(&name, bytes)?, linear),
                };
                Some(table.map_err(|e| format!("error: {name}: {e}\n"))?)
            }
        };
        Ok(ImportOptions {
            packages: self.package.iter().map(|(name, at)| (name.clone(), PathBuf::from(at))).collect(),
            fixed_base: (self.fixed_base || self.free_base).then_some(self.fixed_base),
            keyframe: self.keyframe.clone(),
            controls: self.set_control.clone(),
            control_table,
            convex_parts: self.convex_parts.clone(),
        })
    }
}

/// Reads the text of a file; the error is a message ready for stderr.
fn read_text(path: &Path) -> Result<(String, String), String> {
    let (name, bytes) = read_bytes(path)?;
    let text = text_of(&name, bytes)?;
    Ok((name, text))
}

/// The same, of any bytes.
fn read_bytes(path: &Path) -> Result<(String, Vec<u8>), String> {
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
    Ok((name, bytes))
}

/// Bytes as text.
fn text_of(name: &str, bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|e| {
        let line = 1 + e.as_bytes()[..e.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count();
        format!("error: {name}:{line}: not text: expected UTF-8\n")
    })
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
    read_any_with(path, overrides, &ImportArgs::default())
}

/// Reads a system or a world; `import` is how a URDF or MJCF is read.
pub fn read_any_with(
    path: &Path,
    overrides: &[(String, String)],
    import: &ImportArgs,
) -> Result<AnyScene, String> {
    let (name, text) = read_text(path)?;
    any_of_text(path, name, text, overrides, import)
}

/// A system or a world from a text; the extension of `path` gives its format, its folder the place of meshes.
pub fn any_of_text(
    path: &Path,
    name: String,
    text: String,
    overrides: &[(String, String)],
    import: &ImportArgs,
) -> Result<AnyScene, String> {
    let options = import.options()?;
    let explain = |e: FileError| ended(e.render(&name, &text));
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("urdf") || e.eq_ignore_ascii_case("xml")) {
        if let Some((parameter, _)) = overrides.first() {
            return Err(format!(
                "error: {name}: cannot set `{parameter}`: URDF and MJCF have no parameters\n"
            ));
        }
        let Imported { mut file, not_read } =
            read_xml_with(&text, path.parent(), &options).map_err(explain)?;
        set_joints(&file.world, &mut file.state, &import.set_joint)
            .map_err(|e| format!("error: {name}: {e}\n"))?;
        for what in not_read {
            eprintln!("note: {name}: not read: {what}");
        }
        return Ok(AnyScene::World(Box::new(WorldScene { file, name, text })));
    }
    if text.trim_start().starts_with('<') {
        let hint =
            if text.contains("<sdf") { "SDF is not read: convert it to URDF or MJCF" } else { "rename it" };
        return Err(format!(
            "error: {name}: it is XML, and its name ends in neither .urdf nor .xml; {hint}\n"
        ));
    }
    let ImportOptions { controls, control_table, .. } = &options;
    let is_control_only = ImportOptions {
        controls: controls.clone(),
        control_table: control_table.clone(),
        ..ImportOptions::default()
    } == options;
    if !is_control_only {
        return Err(format!(
            "error: {name}: --package, --fixed-base, --free-base, --keyframe and --convex-parts belong to URDF and MJCF files\n"
        ));
    }
    match read_scene(&text, path.parent(), &pairs(overrides)).map_err(explain)? {
        SceneFile::System(_) if options != ImportOptions::default() || !import.set_joint.is_empty() => {
            Err(format!(
                "error: {name}: --control, --set-control and --set-joint belong to worlds: a [system] has no \
                 actuators and no joints\n"
            ))
        }
        SceneFile::System(file) => Ok(AnyScene::System(Box::new(Scene { file: *file, name, text }))),
        SceneFile::World(mut file) => {
            set_controls(&mut file.world, controls, control_table.as_ref())
                .map_err(|e| format!("error: {name}: {e}\n"))?;
            set_joints(&file.world, &mut file.state, &import.set_joint)
                .map_err(|e| format!("error: {name}: {e}\n"))?;
            Ok(AnyScene::World(Box::new(WorldScene { file: *file, name, text })))
        }
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
