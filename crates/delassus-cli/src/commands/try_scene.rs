//! `delassus try`: built-in scenes, for the first five minutes.

use delassus_report::Style;
use std::path::Path;

use clap::Args;

use super::analyze::{Options, report_scene};
use crate::output::{CommandResult, print};
use crate::run::{RunArgs, move_world};
use crate::scene;
use crate::scene::AnyScene;

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
    ($list:ident: $($file:literal),* $(,)?) => {
        /// File and text of built-in scenes.
        const $list: &[(&str, &str)] = &[$(($file, include_str!(concat!("../../../../scenes/", $file)))),*];
    };
}

scenes![
    SYSTEMS: "painleve-rod.toml",
    "painleve-rod-pulled.toml",
    "rod-in-space.toml",
    "painleve-klein.toml",
    "ladder.toml",
    "articulated-arm.toml",
    "block-three-points.toml",
    "constrained-rod.toml",
    "elliptic-manipulator.toml",
    "table-four-legs.toml",
    "table-five-legs.toml",
    "ball-on-string.toml",
    "bar-under-ceiling.toml",
    "block-on-incline.toml",
    "bouncing-ball.toml",
    "rocking-block.toml",
    "stick-slip.toml",
    "double-pendulum-wall.toml",
    "billiard.toml",
    "woodpecker.toml",
    "slider-crank-clearance.toml",
    "drawer.toml",
    "slider-crank-friction.toml",
    "four-bar-pin.toml",
];

scenes![
    WORLDS: "incline.toml",
    "sliding-block.toml",
    "rolling-sphere.toml",
    "stack.toml",
    "sphere-pile.toml",
    "four-bar.toml",
    "bennett.toml",
    "slider-crank.toml",
    "table.toml",
    "chain.toml",
    "cradle.toml",
    "rover.toml",
    "dominoes.toml",
    "arch.toml",
    "gear-pair.toml",
    "painleve-rod-world.toml",
    "painleve-rod-pulled-world.toml",
    "ragdoll.xml",
];

/// The name under which a scene is asked for.
fn name_of(file: &str) -> &str {
    file.rsplit_once('.').map_or(file, |(stem, _)| stem)
}

/// The comment at the start of a scene, without its marks.
fn story(text: &str, style: &Style) -> String {
    let line = |l: &str| format!("  {}\n", style.dim(l.trim_start_matches('#').trim()));
    match text.strip_prefix("<!--").and_then(|rest| rest.split_once("-->")) {
        Some((comment, _)) => comment.trim().lines().map(line).collect(),
        None => text.lines().take_while(|l| l.starts_with('#')).map(line).collect(),
    }
}

/// Writes a file that is not there yet; false where it is.
fn write_new(path: &str, text: &str) -> std::io::Result<bool> {
    match std::fs::File::create_new(path) {
        Ok(mut file) => std::io::Write::write_all(&mut file, text.as_bytes()).map(|()| true),
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => Ok(false),
        Err(e) => Err(e),
    }
}

/// Runs the command: 0, since showing a scene is what was asked.
pub fn run(args: &TryArgs) -> CommandResult {
    let name = args.name.as_deref().unwrap_or(name_of(SYSTEMS[0].0));
    let Some((file, text)) = SYSTEMS.iter().chain(WORLDS).find(|(file, _)| name_of(file) == name) else {
        let names: Vec<&str> = SYSTEMS.iter().chain(WORLDS).map(|(file, _)| name_of(file)).collect();
        return Err(format!("error: no scene `{name}`; expected one of: {}\n", names.join(", ")));
    };
    let read = scene::any_of_text(
        Path::new(file),
        file.to_string(),
        text.to_string(),
        &args.set,
        &Default::default(),
    )?;
    let style = Style::for_stdout();
    // A named scene is left in the current folder, to be looked at and changed.
    let mut written = String::new();
    if args.name.is_some() && !args.json {
        let command = if matches!(read, AnyScene::World(_)) { "run" } else { "analyze" };
        written = match write_new(file, text) {
            Ok(true) => format!("  written to {file}; change it and run: delassus {command} {file}\n"),
            Ok(false) => format!("  {file} is here already and was left as it is\n"),
            Err(e) => format!("  {file} could not be written: {e}\n"),
        };
    }
    if !args.json {
        print(&format!("{} {file}\n{}\n", style.bold("scene"), story(text, &style)));
    }
    match read {
        AnyScene::System(scene) => {
            let options = Options { json: args.json, ..Options::default() };
            print(&report_scene(&scene, &options)?.0);
        }
        AnyScene::World(scene) => {
            move_world(*scene, &RunArgs::plain(file, args.json))?;
        }
    }
    if args.json {
        return Ok(0);
    }
    print(&format!("\n{}", style.dim(&written)));
    if args.name.is_none() {
        let list = |scenes: &[(&str, &str)]| -> String {
            scenes.iter().map(|(file, _)| format!("  delassus try {}\n", name_of(file))).collect()
        };
        print(&format!("{}\n{}\n", style.bold("more systems, analysed at an instant"), list(SYSTEMS)));
        print(&format!("{}\n{}", style.bold("worlds of rigid bodies, in motion"), list(WORLDS)));
    }
    Ok(0)
}
