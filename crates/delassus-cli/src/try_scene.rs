//! `delassus try`: built-in scenes, for the first five minutes.

use clap::Args;

use crate::analyze::{Options, report_scene};
use crate::scene;
use crate::style::{Style, print};

/// Arguments of `try`.
#[derive(Args)]
pub struct TryArgs {
    /// Name of the scene
    pub name: Option<String>,
    /// Override a parameter: name=value
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = scene::parse_override)]
    pub set: Vec<(String, String)>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

macro_rules! scenes {
    ($($name:literal),* $(,)?) => {
        /// Name and text of every built-in scene.
        pub const SCENES: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../scenes/", $name, ".toml")))),*];
    };
}

scenes![
    "painleve-rod",
    "painleve-rod-pulled",
    "rod-in-space",
    "painleve-klein",
    "ladder",
    "articulated-arm",
    "block-three-points",
    "constrained-rod",
    "elliptic-manipulator",
    "table-four-legs",
    "table-five-legs",
    "ball-on-string",
    "bar-under-ceiling",
    "block-on-incline",
];

/// Writes a file that is not there yet; false where it is.
fn write_new(path: &str, text: &str) -> std::io::Result<bool> {
    match std::fs::File::create_new(path) {
        Ok(mut file) => std::io::Write::write_all(&mut file, text.as_bytes()).map(|()| true),
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(e) => Err(e),
    }
}

/// Runs the command; returns the exit code: 0, since showing a scene is what was asked.
pub fn run(args: TryArgs) -> u8 {
    let name = args.name.as_deref().unwrap_or(SCENES[0].0);
    let Some((name, text)) = SCENES.iter().find(|(n, _)| *n == name) else {
        let names: Vec<&str> = SCENES.iter().map(|(n, _)| *n).collect();
        eprintln!("error: no scene `{name}`; expected one of: {}", names.join(", "));
        return 2;
    };
    let file = format!("{name}.toml");
    let read = match scene::parse(file.clone(), (*text).to_owned(), &args.set) {
        Ok(scene) => scene,
        Err(message) => {
            eprint!("{message}");
            return 2;
        }
    };
    let style = Style::for_stdout();
    // A named scene is left in the current folder, to be looked at and changed.
    let mut written = String::new();
    if args.name.is_some() && !args.json {
        written = match write_new(&file, text) {
            Ok(true) => format!("  written to {file}; change it and run: delassus analyze {file}\n"),
            Ok(false) => format!("  {file} is here already and was left as it is\n"),
            Err(e) => format!("  {file} could not be written: {e}\n"),
        };
    }
    let options = Options { json: args.json, ..Options::default() };
    match report_scene(&read, &options) {
        Ok((report, _)) if args.json => print(&report),
        Ok((report, _)) => {
            let story: String = text
                .lines()
                .take_while(|l| l.starts_with('#'))
                .map(|l| format!("  {}\n", style.dim(l.trim_start_matches('#').trim())))
                .collect();
            print(&format!("{} {file}\n{story}\n{report}\n{}", style.bold("scene"), style.dim(&written)));
            if args.name.is_none() {
                let others: String = SCENES.iter().map(|(n, _)| format!("  delassus try {n}\n")).collect();
                print(&format!("\n{}\n{others}", style.bold("more scenes")));
            }
        }
        Err(message) => {
            eprint!("{message}");
            return 2;
        }
    }
    0
}
