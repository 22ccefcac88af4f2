//! `delassus explore`: all motions of a system or a small world, where several accelerations satisfy the
//! laws.
//!
//! At each state with several answers the motion branches, an impact without collision among them where there
//! is one (003 §5); every branch is followed to its end or to the next such state, down to a depth. Time
//! stepping also moves a world, with ever shorter steps; the report names the branch to which it converges.
//! Exit codes: 0 one motion only; 1 there are several; 2 misuse or bad input.

use std::path::PathBuf;

use clap::Args;
use delassus::events::{ContactMode, Ending, EventKind, EventOptions, Indeterminate, Trajectory};
use delassus::lagrangian::System;
use delassus::stepping::{StepOptions, Stepper};
use delassus::world::WorldState;
use delassus_report::{Style, number};
use delassus_solve::impact::ImpactLaw;
use serde_json::{Value, json};

use crate::arguments::{impact_law, seconds};
use crate::output::print;
use crate::picture::{MotionTree, check_picture_name, draw_tree, write_picture};
use crate::run::{Subject, WorldSubject, contact_mode_word, ending_word, event_json, world_as_system};
use crate::scene;
use crate::scene::AnyScene;

/// Branches after which the search ends.
const MAX_BRANCHES: usize = 4096;
/// Steps of time stepping: the first, and how often it is halved.
const FIRST_STEPS: f64 = 64.0;
const HALVINGS: usize = 8;
/// Time stepping has found its branch where the last halvings, this many, made it come nearer by this factor
/// together.
const SETTLED: usize = 3;
const NEARER: f64 = 0.5;

/// Arguments of `explore`.
#[derive(Args)]
pub struct ExploreArgs {
    /// File with a [system] or a small [world]
    pub file: PathBuf,
    /// States with several answers that are followed, one after the other
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = depth)]
    pub depth: usize,
    /// End, s [default: of the file, else 1]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    pub t_end: Option<f64>,
    /// Law of impact [default: of the file, else moreau]
    #[arg(long, value_parser = impact_law())]
    pub impact_law: Option<ImpactLaw>,
    /// Apply the impact law to contacts that touch and approach at the start; else they are an error
    #[arg(long)]
    pub impact_at_start: bool,
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

/// A depth on the command line.
fn depth(text: &str) -> Result<usize, String> {
    const DEEPEST: usize = 64;
    let depth = text.trim().parse().ok().filter(|depth| (1..=DEEPEST).contains(depth));
    depth.ok_or_else(|| format!("expected a whole number from 1 to {DEEPEST}, found \"{text}\""))
}

/// A motion, and those that branch off where it stops.
struct Node {
    choice: Option<usize>,
    /// The answers that lead here, one after the other.
    names: Vec<String>,
    /// The motion from the start.
    run: Trajectory,
    /// Those that branch off.
    children: Vec<Node>,
}

impl Node {
    /// The last answer that leads here, in words: what contacts do by it.
    fn label(&self, system: &System) -> String {
        let Some(name) = self.names.last() else { return "start".into() };
        let taken = self.run.events.iter().filter(|e| e.kind == EventKind::Indeterminate);
        let Some(event) = taken.clone().nth(self.names.len() - 1) else { return name.clone() };
        let jammed = self.run.events.iter().find(|e| e.kind == EventKind::Jam && e.t == event.t);
        match jammed.filter(|_| event.chosen.is_empty()) {
            Some(jam) => format!("{name}: {}", jam.contact),
            None => format!("{name}: {}", modes(system, &event.chosen)),
        }
    }

    /// How the motion ends, in words.
    fn end(&self, system: &System) -> String {
        match &self.run.ending {
            Ending::Done => {
                format!("to t = {} s, {}", number(self.run.state.t), modes(system, &self.run.modes))
            }
            Ending::Indeterminate { answers } => {
                format!("to t = {} s, then {answers} answers", number(self.run.state.t))
            }
            other => format!("to t = {} s: {other}", number(self.run.state.t)),
        }
    }

    /// The tree for its picture.
    fn to_draw(&self, system: &System) -> MotionTree<'_> {
        MotionTree {
            label: self.label(system),
            end: self.end(system),
            run: &self.run,
            children: self.children.iter().map(|child| child.to_draw(system)).collect(),
        }
    }
}

/// What contacts do.
fn modes(system: &System, modes: &[ContactMode]) -> String {
    const NAMED: usize = 6;
    let contacts = system.contacts.iter().zip(modes).take(NAMED);
    let mut words: Vec<String> =
        contacts.map(|(c, m)| format!("{} {}", c.name, contact_mode_word(*m))).collect();
    if modes.len() > NAMED {
        words.push(format!("and {} more", modes.len() - NAMED));
    }
    words.join(", ")
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
    if let Some(path) = &args.output {
        check_picture_name(path)?;
    }
    let mut left = MAX_BRANCHES;
    let tree = follow(scene, args, &mut Path::default(), &mut left)?;
    if let Some(path) = &args.output {
        write_picture(
            &draw_tree(scene.system, &tree.to_draw(scene.system), [scene.state.t, scene.t_end]),
            path,
        )?;
    }
    let stepped = time_stepping(scene, &tree)?;
    let leaves = leaves(&tree);
    let complete = left > 0 && !cut(&tree);
    let notes = scene.notes(&tree.run);
    if args.json {
        let mut document = json!({
            "name": scene.system.name, "branches": leaves, "complete": complete, "tree": to_json(scene, &tree),
            "notes": notes,
        });
        if let Some(stepped) = &stepped {
            document["time_stepping"] = stepped.to_json();
        }
        print(&format!("{document:#}\n"));
    } else {
        let style = Style::for_stdout();
        notes.iter().for_each(|note| eprintln!("note: {}: {note}", scene.name));
        let mut out = if leaves == 1 { "1 motion\n".into() } else { format!("{leaves} motions\n") };
        if !complete {
            out +=
                &format!("  {}\n", style.caution("there are more than were followed: --depth goes further"));
        }
        in_words(scene, &tree, 1, style, &mut out);
        if let Some(stepped) = &stepped {
            out += &stepped.in_words();
        }
        print(&out);
    }
    Ok(u8::from(leaves > 1))
}

/// The answers that lead to a motion, one after the other.
#[derive(Default)]
struct Path {
    choices: Vec<usize>,
    /// Their names.
    names: Vec<String>,
}

fn follow(
    scene: &Subject<'_>,
    args: &ExploreArgs,
    path: &mut Path,
    left: &mut usize,
) -> Result<Node, String> {
    *left = left.saturating_sub(1);
    let options = EventOptions {
        t_end: scene.t_end,
        law: scene.law(args.impact_law.as_ref()),
        impact_at_start: args.impact_at_start || scene.impact_at_start,
        indeterminate: Indeterminate::Stop,
        choices: path.choices.clone(),
        breakpoints: scene.breakpoints.to_vec(),
        ..Default::default()
    };
    let run = scene.motion(&options)?;
    let mut children = vec![];
    if let Ending::Indeterminate { answers } = run.ending
        && path.choices.len() < args.depth
    {
        for choice in 0..=answers {
            if *left == 0 {
                break;
            }
            path.choices.push(choice);
            path.names.push(if choice == answers { "jam".into() } else { format!("answer {}", choice + 1) });
            let child = follow(scene, args, path, left)?;
            // Besides the answers, an impact without collision, where there is one.
            if choice < answers || jams(&child.run, run.state.t) > jams(&run, run.state.t) {
                children.push(child);
            }
            path.choices.pop();
            path.names.pop();
        }
    }
    Ok(Node { choice: path.choices.last().copied(), names: path.names.clone(), run, children })
}

/// Impacts without collision at a time.
fn jams(run: &Trajectory, t: f64) -> usize {
    run.events.iter().filter(|e| e.kind == EventKind::Jam && e.t == t).count()
}

fn leaves(node: &Node) -> usize {
    if node.children.is_empty() { 1 } else { node.children.iter().map(leaves).sum() }
}

/// Whether a motion ends where it branches.
fn cut(node: &Node) -> bool {
    let ends = matches!(node.run.ending, Ending::Indeterminate { .. }) && node.children.is_empty();
    ends || node.children.iter().any(cut)
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

/// The branch to which time stepping converges.
struct Stepped {
    levels: Vec<Level>,
}

/// Time stepping with one step length.
struct Level {
    /// The step, s.
    dt: f64,
    /// The nearest branch, by its answers.
    branch: Vec<String>,
    /// How far its end is, m.
    distance: f64,
}

impl Level {
    fn to_json(&self) -> Value {
        json!({ "dt": self.dt, "branch": self.branch, "distance": self.distance })
    }
}

impl Stepped {
    /// The branch that the last steps agree on and come nearer to.
    fn branch(&self) -> Option<&[String]> {
        let recent = &self.levels[self.levels.len().saturating_sub(SETTLED + 1)..];
        let (first, last) = (recent.first()?, recent.last()?);
        let agree = recent.iter().all(|level| level.branch == last.branch);
        let nearer = last.distance <= NEARER * first.distance || last.distance < 1e-9;
        (agree && nearer).then_some(&last.branch)
    }

    fn to_json(&self) -> Value {
        let levels = self.levels.iter();
        json!({
            "branch": self.branch(),
            "levels": levels.map(Level::to_json).collect::<Vec<_>>(),
        })
    }

    fn in_words(&self) -> String {
        let mut out = String::from("  time stepping, and the branch whose end is nearest\n");
        for Level { dt, branch, distance } in &self.levels {
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

/// Time stepping of a world with ever shorter steps, against all branches; `None` for a system, which it does
/// not move.
fn time_stepping(scene: &Subject<'_>, tree: &Node) -> Result<Option<Stepped>, String> {
    let Some(WorldSubject { world, start, as_system }) = scene.world else { return Ok(None) };
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
            levels.push(Level { dt, branch: node.names.clone(), distance });
        }
    }
    Ok(Some(Stepped { levels }))
}

fn summary(scene: &Subject<'_>, node: &Node) -> String {
    format!("{}; {}", node.label(scene.system), node.end(scene.system))
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
        "events": node.run.events.iter().map(|e| event_json(system, e)).collect::<Vec<_>>(),
        "branches": node.children.iter().map(|c| to_json(scene, c)).collect::<Vec<_>>(),
    })
}
