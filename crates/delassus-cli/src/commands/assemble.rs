//! `delassus assemble`: moves bodies the least distance that closes all loops.

use std::path::PathBuf;

use clap::Args;
use delassus::stepping::is_closed;
use delassus::world::{Body, BodyState, World, WorldState, opening};
use delassus_report::{Style, number};
use serde_json::{Map, Value, json};

use crate::output::{CommandResult, json_text, print};
use crate::run::open_in_words;
use crate::scene;
use crate::scene::{AnyScene, WorldScene, ended};

/// Arguments of `assemble`.
#[derive(Args)]
pub struct AssembleArgs {
    /// File with a [world], URDF or MJCF
    pub file: PathBuf,
    /// Write the poses here, as [[body]] tables with name, position and orientation
    #[arg(short = 'o', long = "output", value_name = "OUT.toml")]
    pub output: Option<PathBuf>,
    /// Override a parameter: name=value
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = scene::parse_override)]
    pub set: Vec<(String, String)>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Runs the command: 0 assembled; loops that cannot close are bad input.
pub fn run(args: &AssembleArgs) -> CommandResult {
    let AnyScene::World(world) = scene::read_any(&args.file, &args.set)? else {
        let file = args.file.display();
        return Err(format!(
            "error: {file}: has a [system], expected a [world]: only its joints can be open\n"
        ));
    };
    print(&assemble(*world, args)?);
    Ok(0)
}

/// A body as the file writes it: position and orientation (w x y z), and how far its frame has moved.
struct Place {
    name: String,
    position: [f64; 3],
    orientation: [f64; 4],
    moved: f64,
}

fn places(world: &World, before: &WorldState, after: &WorldState) -> Vec<Place> {
    let place = |((body, old), new): ((&Body, &BodyState), &BodyState)| {
        let [old, new] = [old, new].map(|s| s.pose.compose(&body.frame));
        let (x, q) = (new.position, new.rotation);
        Place {
            name: body.name.clone(),
            position: x.to_array(),
            orientation: [q.w, q.x, q.y, q.z],
            moved: x.distance(old.position),
        }
    };
    let moving = world.bodies.iter().zip(&before.bodies).zip(&after.bodies);
    moving.filter(|((body, _), _)| !body.fixed).map(place).collect()
}

/// Closes the loops; the report, or a message ready for stderr.
fn assemble(scene: WorldScene, args: &AssembleArgs) -> Result<String, String> {
    let WorldScene { mut file, name, text } = scene;
    let open = opening(&file.world, &file.state);
    let before = file.state.clone();
    let moved = match is_closed(&open) {
        true => 0.0,
        false => file.close_loops(&text).map_err(|e| ended(e.render(&name, &text)))?.moved,
    };
    let places = places(&file.world, &before, &file.state);
    if let Some(path) = &args.output {
        let fail = |e: std::io::Error| format!("error: {}: cannot be written: {e}\n", path.display());
        std::fs::write(path, tables(&places)).map_err(fail)?;
    }
    if args.json {
        let bodies: Map<String, Value> = (places.into_iter())
            .map(|p| {
                let entry = json!({ "position": p.position, "orientation": p.orientation, "moved": p.moved });
                (p.name, entry)
            })
            .collect();
        let left = opening(&file.world, &file.state);
        let document = json!({
            "name": file.world.name, "joint_error": open.joints, "limit_error": open.limit.map_or(0.0, |(_, by)| by),
            "moved": moved, "joint_error_left": left.joints, "bodies": bodies,
        });
        return Ok(json_text(&document));
    }
    let style = Style::for_stdout();
    let title = if file.world.name.is_empty() { "world" } else { &file.world.name };
    let mut out = match is_closed(&open) {
        true => format!("{}  {title}: all joints are closed as they stand\n", style.good("assembled")),
        false => format!(
            "{}  {title}: {}; bodies moved by up to {} m\n",
            style.good("assembled"),
            open_in_words(&file.world, &open, "were", "was"),
            number(moved)
        ),
    };
    for p in &places {
        let (x, q) = (p.position.map(number).join(", "), p.orientation.map(number).join(", "));
        out += &format!("  {}: position [{x}], orientation [{q}], moved by {} m\n", p.name, number(p.moved));
    }
    Ok(out)
}

/// The poses as TOML, with all digits.
fn tables(places: &[Place]) -> String {
    let table = |p: &Place| {
        // A string of JSON is one of TOML.
        let name = json!(p.name);
        format!("[[body]]\nname = {name}\nposition = {:?}\norientation = {:?}\n", p.position, p.orientation)
    };
    places.iter().map(table).collect::<Vec<_>>().join("\n")
}
