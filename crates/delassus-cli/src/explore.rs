//! `delassus explore`: all motions of a system or a small world, where several accelerations satisfy the laws.
//!
//! At each state with several answers the motion branches, an impact without collision among them where there is one (003 §5);
//! every branch is followed to its end or to the next such state, down to a depth. A world is also moved by time stepping, with ever shorter steps, and the branch is told to which it
//! converges. Exit codes: 0 one motion only; 1 there are several; 2 misuse or bad input.

use std::path::PathBuf;

use clap::Args;
use delassus::event_driven::{Ending, EventKind, EventOptions, Indeterminate, Trajectory, run_events};
use delassus::stepper::{StepOptions, Stepper};
use delassus::world::WorldState;
use serde_json::{Value, json};

use crate::picture::{Anchor, BLACK, Picture};
use crate::run::ImpactLawName;
use crate::run_system::{Subject, ending_word, event_json, mode_word, world_as_system};
use crate::scene::{self, AnyScene};
use crate::style::{Style, number, print};

/// Branches after which the search ends.
const MOST: usize = 4096;
/// Steps of time stepping: the first, and how often it is halved.
const FIRST_STEPS: f64 = 64.0;
const HALVINGS: usize = 8;
/// Time stepping has found its branch where the last halvings, this many, made it come nearer by this factor together.
const SETTLED: usize = 3;
const NEARER: f64 = 0.5;

/// Arguments of `explore`.
#[derive(Args)]
pub struct ExploreArgs {
    /// File with a [system] or a small [world]
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
    /// The answers that lead here, one after the other.
    names: Vec<String>,
    run: Trajectory,
    children: Vec<Node>,
}

/// Runs the command; returns the exit code.
pub fn run(args: &ExploreArgs) -> u8 {
    let explored = match scene::read_any(&args.file, &args.set) {
        Ok(AnyScene::System(scene)) => explore(&Subject::of_system(&scene, args.t_end), args),
        Ok(AnyScene::World(mut scene)) => world_as_system(&mut scene)
            .and_then(|as_system| explore(&Subject::of_world(&scene, &as_system, args.t_end), args)),
        Err(message) => Err(message),
    };
    match explored {
        Ok(code) => code,
        Err(message) => {
            eprint!("{message}");
            2
        }
    }
}

fn explore(scene: &Subject<'_>, args: &ExploreArgs) -> Result<u8, String> {
    let mut left = MOST;
    let tree = follow(scene, args, (&mut vec![], &mut vec![]), &mut left)?;
    if let Some(path) = &args.output {
        crate::plot::write(&draw(scene, &tree), path)?;
    }
    let stepped = time_stepping(scene, &tree)?;
    let leaves = leaves(&tree);
    if args.json {
        let mut document = json!({
            "name": scene.system.name, "branches": leaves, "complete": left > 0, "tree": to_json(scene, &tree),
        });
        if let Some(stepped) = &stepped {
            document["time_stepping"] = stepped.to_json();
        }
        print(&format!("{document:#}\n"));
    } else {
        let style = Style::for_stdout();
        let mut out = format!("{} motions\n", style.bold(&leaves.to_string()));
        if left == 0 {
            out += &format!("  {}\n", style.caution("there are more than were followed"));
        }
        in_words(scene, &tree, 1, style, &mut out);
        if let Some(stepped) = &stepped {
            out += &stepped.in_words();
        }
        print(&out);
    }
    Ok(u8::from(leaves > 1))
}

fn follow(
    scene: &Subject<'_>,
    args: &ExploreArgs,
    (choices, names): (&mut Vec<usize>, &mut Vec<String>),
    left: &mut usize,
) -> Result<Node, String> {
    *left = left.saturating_sub(1);
    let options = EventOptions {
        t_end: scene.t_end,
        law: args.impact_law.into(),
        indeterminate: Indeterminate::Stop,
        choices: choices.clone(),
        breakpoints: scene.breakpoints.to_vec(),
        ..Default::default()
    };
    let run = run_events(scene.system, scene.state, &options)
        .map_err(|e| format!("error: {}: {e}\n", scene.name))?;
    let mut children = vec![];
    if let Ending::Indeterminate { answers } = run.ending
        && choices.len() < args.depth
    {
        for choice in 0..=answers {
            if *left == 0 {
                break;
            }
            choices.push(choice);
            names.push(if choice == answers { "jam".into() } else { format!("answer {}", choice + 1) });
            let child = follow(scene, args, (choices, names), left)?;
            // Besides the answers, an impact without collision, where there is one.
            if choice < answers || jams(&child.run, run.state.t) > jams(&run, run.state.t) {
                children.push(child);
            }
            choices.pop();
            names.pop();
        }
    }
    Ok(Node { choice: choices.last().copied(), names: names.clone(), run, children })
}

/// Impacts without collision at a time.
fn jams(run: &Trajectory, t: f64) -> usize {
    run.events.iter().filter(|e| e.kind == EventKind::Jam && e.t == t).count()
}

fn leaves(node: &Node) -> usize {
    if node.children.is_empty() { 1 } else { node.children.iter().map(leaves).sum() }
}

/// Branches that were followed to the end.
fn followed<'a>(node: &'a Node, out: &mut Vec<&'a Node>) {
    if node.children.is_empty() && node.run.ending == Ending::Done {
        out.push(node);
    }
    node.children.iter().for_each(|child| followed(child, out));
}

/// A branch by its answers.
fn branch_name(names: &[String]) -> String {
    if names.is_empty() { "the only motion".into() } else { names.join(", then ") }
}

/// Which branch time stepping comes to.
struct Stepped {
    /// Step, the nearest branch, and how far its end is, m.
    levels: Vec<(f64, Vec<String>, f64)>,
}

impl Stepped {
    /// The branch that the last steps agree on and come nearer to.
    fn branch(&self) -> Option<&[String]> {
        let recent = &self.levels[self.levels.len().saturating_sub(SETTLED + 1)..];
        let (first, last) = (recent.first()?, recent.last()?);
        let agree = recent.iter().all(|level| level.1 == last.1);
        (agree && (last.2 <= NEARER * first.2 || last.2 < 1e-9)).then_some(&last.1)
    }

    fn to_json(&self) -> Value {
        let levels = self.levels.iter();
        json!({
            "branch": self.branch(),
            "levels": levels.map(|(dt, b, d)| json!({ "dt": dt, "branch": b, "distance": d })).collect::<Vec<_>>(),
        })
    }

    fn in_words(&self) -> String {
        let mut out = String::from("  time stepping, and the branch whose end is nearest\n");
        for (dt, branch, distance) in &self.levels {
            let name = branch_name(branch);
            out += &format!("    dt = {:>9} s: {name}, {distance:.2e} m away\n", format!("{dt:.2e}"));
        }
        out += &match self.branch() {
            Some(branch) => format!("  with dt → 0 time stepping converges to: {}\n", branch_name(branch)),
            None => "  with dt → 0 time stepping has not settled on one of them\n".into(),
        };
        out
    }
}

/// Time stepping of a world with ever shorter steps, against all branches; `None` for a system, which it does not move.
fn time_stepping(scene: &Subject<'_>, tree: &Node) -> Result<Option<Stepped>, String> {
    let Some((world, start, as_system)) = scene.world else { return Ok(None) };
    let mut nodes = vec![];
    followed(tree, &mut nodes);
    let ends: Vec<WorldState> =
        nodes.iter().map(|node| as_system.world_state(start, &node.run.state)).collect();
    let mut levels = vec![];
    for level in 0..HALVINGS {
        let steps = FIRST_STEPS * f64::from(1u32 << level);
        let dt = (scene.t_end - start.t) / steps;
        if ends.is_empty() || dt <= 0.0 {
            break;
        }
        let options = StepOptions { dt, ..StepOptions::default() };
        let mut stepper = Stepper::new(world, start.clone(), options)
            .map_err(|e| format!("error: {}: {e}\n", scene.name))?;
        for _ in 0..steps as usize {
            let _ = stepper.step().map_err(|e| format!("error: {}: {e}\n", scene.name))?;
        }
        let away = |end: &WorldState| -> f64 {
            let pairs = end.bodies.iter().zip(&stepper.state().bodies);
            pairs.map(|(a, b)| (a.pose.position - b.pose.position).length()).sum()
        };
        let nearest = nodes.iter().zip(&ends).map(|(node, end)| (node, away(end)));
        if let Some((node, distance)) = nearest.min_by(|a, b| a.1.total_cmp(&b.1)) {
            levels.push((dt, node.names.clone(), distance));
        }
    }
    Ok(Some(Stepped { levels }))
}

fn modes(scene: &Subject<'_>, node: &Node) -> String {
    let contacts = scene.system.contacts.iter().zip(&node.run.modes);
    contacts.map(|(c, m)| format!("{} {}", c.name, mode_word(*m))).collect::<Vec<_>>().join(", ")
}

fn summary(scene: &Subject<'_>, node: &Node) -> String {
    let branch = node.names.last().map_or("start", String::as_str);
    let end = match &node.run.ending {
        Ending::Done => format!("to t = {} s, {}", number(node.run.state.t), modes(scene, node)),
        Ending::Indeterminate { answers } => {
            format!("to t = {} s, then {answers} answers", number(node.run.state.t))
        }
        other => format!("to t = {} s: {other}", number(node.run.state.t)),
    };
    format!("{branch}: {end}")
}

fn in_words(scene: &Subject<'_>, node: &Node, depth: usize, style: Style, out: &mut String) {
    let line = summary(scene, node);
    *out += &format!("{}{}\n", "  ".repeat(depth), if depth == 1 { style.bold(&line) } else { line });
    for child in &node.children {
        in_words(scene, child, depth + 1, style, out);
    }
}

fn to_json(scene: &Subject<'_>, node: &Node) -> Value {
    let system = scene.system;
    let place = |values: &[f64]| -> Value {
        system.coordinates.iter().zip(values).map(|(name, x)| (name.clone(), json!(x))).collect()
    };
    json!({
        "choice": node.choice, "answer": node.names.last(), "t_end": node.run.state.t, "ending": ending_word(&node.run.ending),
        "final": { "position": place(&node.run.state.q), "velocity": place(&node.run.state.v) },
        "events": node.run.events.iter().map(event_json).collect::<Vec<_>>(),
        "branches": node.children.iter().map(|c| to_json(scene, c)).collect::<Vec<_>>(),
    })
}

/// The tree from left to right, a line of text per motion.
fn draw(scene: &Subject<'_>, tree: &Node) -> Picture {
    const ROW: f64 = 26.0;
    const STEP: f64 = 40.0;
    fn place(
        scene: &Subject<'_>,
        node: &Node,
        depth: usize,
        row: &mut usize,
        picture: &mut Picture,
    ) -> [f64; 2] {
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
    picture.title([20.0, 26.0], format!("All motions: {}", scene.system.name));
    place(scene, tree, 0, &mut 0, &mut picture);
    picture
}
