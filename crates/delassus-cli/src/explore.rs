//! `delassus explore`: all motions of a system, where several accelerations satisfy the laws.
//!
//! At each state with several answers the motion branches; every branch is followed to its end or to the next such
//! state, down to a depth. Exit codes: 0 one motion only; 1 there are several; 2 misuse or bad input.

use std::path::PathBuf;

use clap::Args;
use delassus::event_driven::{Ending, EventOptions, Indeterminate, Trajectory, run_events};
use serde_json::{Value, json};

use crate::picture::{Anchor, BLACK, Picture};
use crate::run::ImpactLawName;
use crate::run_system::{ending_word, event_json, mode_word, t_end};
use crate::scene::{self, Scene};
use crate::style::{Style, number, print};

/// Branches after which the search ends.
const MOST: usize = 4096;

/// Arguments of `explore`.
#[derive(Args)]
pub struct ExploreArgs {
    /// File with a [system]
    pub file: PathBuf,
    /// States with several answers that are followed, one after the other
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub depth: usize,
    /// End, s [default: of the file, else 1]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub t_end: Option<f64>,
    /// Law of impact
    #[arg(long, value_enum, default_value = "moreau")]
    pub impact_law: ImpactLawName,
    /// Draw the tree here: .svg or .png
    #[arg(short = 'o', long = "output", value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Override a parameter of the file: name=value
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = scene::parse_override)]
    pub set: Vec<(String, String)>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// A motion, and those that branch off where it stops.
struct Node {
    choice: Option<usize>,
    run: Trajectory,
    children: Vec<Node>,
}

/// Runs the command; returns the exit code.
pub fn run(args: &ExploreArgs) -> u8 {
    match scene::read(&args.file, &args.set).and_then(|scene| explore(&scene, args)) {
        Ok(code) => code,
        Err(message) => {
            eprint!("{message}");
            2
        }
    }
}

fn explore(scene: &Scene, args: &ExploreArgs) -> Result<u8, String> {
    let mut left = MOST;
    let tree = follow(scene, args, &mut vec![], &mut left)?;
    if let Some(path) = &args.output {
        crate::plot::write(&draw(scene, &tree), path)?;
    }
    let leaves = leaves(&tree);
    if args.json {
        let document = json!({
            "name": scene.file.system.name, "branches": leaves, "complete": left > 0, "tree": to_json(scene, &tree),
        });
        print(&format!("{document:#}\n"));
    } else {
        let style = Style::for_stdout();
        let mut out = format!("{} motions\n", style.bold(&leaves.to_string()));
        if left == 0 {
            out += &format!("  {}\n", style.caution("there are more than were followed"));
        }
        in_words(scene, &tree, 1, style, &mut out);
        print(&out);
    }
    Ok(u8::from(leaves > 1))
}

fn follow(
    scene: &Scene,
    args: &ExploreArgs,
    choices: &mut Vec<usize>,
    left: &mut usize,
) -> Result<Node, String> {
    *left = left.saturating_sub(1);
    let options = EventOptions {
        t_end: t_end(scene, args.t_end),
        law: args.impact_law.into(),
        indeterminate: Indeterminate::Stop,
        choices: choices.clone(),
        breakpoints: scene.file.simulation.breakpoints.clone(),
        ..Default::default()
    };
    let run = run_events(&scene.file.system, &scene.file.state, &options)
        .map_err(|e| format!("error: {}: {e}\n", scene.name))?;
    let mut children = vec![];
    if let Ending::Indeterminate { answers } = run.ending
        && choices.len() < args.depth
    {
        for choice in 0..answers {
            if *left == 0 {
                break;
            }
            choices.push(choice);
            children.push(follow(scene, args, choices, left)?);
            choices.pop();
        }
    }
    Ok(Node { choice: choices.last().copied(), run, children })
}

fn leaves(node: &Node) -> usize {
    if node.children.is_empty() { 1 } else { node.children.iter().map(leaves).sum() }
}

fn modes(scene: &Scene, node: &Node) -> String {
    let contacts = scene.file.system.contacts.iter().zip(&node.run.modes);
    contacts.map(|(c, m)| format!("{} {}", c.name, mode_word(*m))).collect::<Vec<_>>().join(", ")
}

fn summary(scene: &Scene, node: &Node) -> String {
    let branch = node.choice.map_or("start".into(), |c| format!("answer {}", c + 1));
    let end = match &node.run.ending {
        Ending::Done => format!("to t = {} s, {}", number(node.run.state.t), modes(scene, node)),
        Ending::Indeterminate { answers } => {
            format!("to t = {} s, then {answers} answers", number(node.run.state.t))
        }
        other => format!("to t = {} s: {other}", number(node.run.state.t)),
    };
    format!("{branch}: {end}")
}

fn in_words(scene: &Scene, node: &Node, depth: usize, style: Style, out: &mut String) {
    let line = summary(scene, node);
    *out += &format!("{}{}\n", "  ".repeat(depth), if depth == 1 { style.bold(&line) } else { line });
    for child in &node.children {
        in_words(scene, child, depth + 1, style, out);
    }
}

fn to_json(scene: &Scene, node: &Node) -> Value {
    let system = &scene.file.system;
    let place = |values: &[f64]| -> Value {
        system.coordinates.iter().zip(values).map(|(name, x)| (name.clone(), json!(x))).collect()
    };
    json!({
        "choice": node.choice, "t_end": node.run.state.t, "ending": ending_word(&node.run.ending),
        "final": { "position": place(&node.run.state.q), "velocity": place(&node.run.state.v) },
        "events": node.run.events.iter().map(event_json).collect::<Vec<_>>(),
        "branches": node.children.iter().map(|c| to_json(scene, c)).collect::<Vec<_>>(),
    })
}

/// The tree from left to right, a line of text per motion.
fn draw(scene: &Scene, tree: &Node) -> Picture {
    const ROW: f64 = 26.0;
    const STEP: f64 = 40.0;
    fn place(scene: &Scene, node: &Node, depth: usize, row: &mut usize, picture: &mut Picture) -> [f64; 2] {
        let at = [24.0 + STEP * depth as f64, 60.0 + ROW * *row as f64];
        *row += 1;
        picture.text([at[0] + 8.0, at[1] + 4.0], summary(scene, node), Anchor::Start);
        for child in &node.children {
            let to = place(scene, child, depth + 1, row, picture);
            picture.line(vec![at, [at[0], to[1]], to], BLACK, 1.5);
        }
        at
    }
    fn nodes(node: &Node) -> usize {
        1 + node.children.iter().map(nodes).sum::<usize>()
    }
    let mut picture = Picture::new(900.0, 90.0 + ROW * nodes(tree) as f64);
    picture.title([20.0, 26.0], format!("All motions: {}", scene.file.system.name));
    place(scene, tree, 0, &mut 0, &mut picture);
    picture
}
