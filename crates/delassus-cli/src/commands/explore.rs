//! `delassus explore`: all motions of a system or a small world, where several accelerations satisfy the
//! laws.
//!
//! Exit codes: 0 one motion only; 1 there are several; 2 misuse or bad input.

use std::path::PathBuf;

use clap::Args;
use delassus::events::EventOptions;
use delassus::lagrangian::System;
use delassus::simulation::{Branch, ExploreError, explore as all_motions};
use delassus_page::Page;
use delassus_report::{Style, branch_end, branch_label, exploration_document, exploration_text};
use delassus_solve::impact::ImpactLaw;

use crate::arguments::{impact_law, seconds};
use crate::output::{CommandResult, json_text, print};
use crate::picture::{MotionTree, check_picture_name, draw_tree, write_picture};
use crate::run::{Subject, add_tree, frame_times, is_page, world_as_system, write_page};
use crate::scene;
use crate::scene::AnyScene;

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
    /// Show all motions on a page, or draw their tree: .html, .svg or .png
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

/// Runs the command: 0 where there is one motion, 1 where there are several.
pub fn run(args: &ExploreArgs) -> CommandResult {
    match scene::read_any(&args.file, &args.set)? {
        AnyScene::System(scene) => explore(&Subject::of_system(&scene, args.t_end), args),
        AnyScene::World(mut scene) => {
            let as_system = world_as_system(&mut scene)?;
            explore(&Subject::of_world(&scene, &as_system, args.t_end), args)
        }
    }
}

fn explore(scene: &Subject<'_>, args: &ExploreArgs) -> CommandResult {
    let page = args.output.as_ref().filter(|path| is_page(path));
    if let Some(path) = args.output.as_ref().filter(|path| !is_page(path)) {
        check_picture_name(path).map_err(|_| {
            format!("error: {}: expected a name that ends in .html, .svg or .png\n", path.display())
        })?;
    }
    let options = EventOptions {
        t_end: scene.t_end,
        law: scene.law(args.impact_law.as_ref()),
        impact_at_start: args.impact_at_start || scene.impact_at_start,
        breakpoints: scene.breakpoints.to_vec(),
        sample_times: page.map_or(vec![], |_| frame_times(scene.state.t, scene.t_end)),
        ..Default::default()
    };
    let system = scene.system;
    let found = all_motions(system, scene.state, scene.world, &options, args.depth).map_err(|e| match e {
        ExploreError::Events(e) => scene.explain(&e),
        e => format!("error: {}: {e}\n", scene.name),
    })?;
    let notes = scene.notes(&found.tree.run);
    match (&args.output, page) {
        (_, Some(path)) => {
            let title = if system.name.is_empty() { "all motions" } else { &system.name };
            let mut page = Page::new(title);
            add_tree(&mut page, scene, &found, &notes);
            write_page(path, &page)?;
        }
        (Some(path), None) => {
            let times = [scene.state.t, scene.t_end];
            write_picture(&draw_tree(system, &to_draw(system, &found.tree), times), path)?;
        }
        (None, None) => {}
    }
    if args.json {
        print(&json_text(&exploration_document(system, &found, &notes)));
    } else {
        notes.iter().for_each(|note| eprintln!("note: {}: {note}", scene.name));
        print(&exploration_text(system, &found, Style::for_stdout()));
    }
    Ok(u8::from(found.leaves() > 1))
}

/// The tree for its picture.
fn to_draw<'a>(system: &System, node: &'a Branch) -> MotionTree<'a> {
    MotionTree {
        label: branch_label(system, node),
        end: branch_end(system, node),
        run: &node.run,
        children: node.children.iter().map(|child| to_draw(system, child)).collect(),
    }
}
