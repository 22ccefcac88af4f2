//! `delassus run`: moves a world or a system in time.
//!
//! Exit codes: 0 done; 1 the run ended early (interrupted, or a step that has no answer) or steps were not
//! solved to the tolerance; 2 misuse or bad input, before the first step.

mod arguments;
mod branches;
mod checkpoint;
mod interrupt;
mod options;
mod output;
mod page_output;
mod parquet;
mod parquet_output;
mod parquet_reader;
mod plot_output;
mod report;
mod simulate;
mod start;
mod subject;
mod system;
mod tables;
mod totals;
mod vtk;

pub use arguments::RunArgs;
pub use branches::{add_tree, frame_times};
pub use page_output::{is_page, write_page};
pub use start::open_in_words;
pub use subject::{Subject, world_as_system};

use delassus::events::EventOptions;
use delassus_page::Page;
use delassus_scene::Integrator;

use crate::output::{CommandResult, json_text, print};
use crate::scene;
use crate::scene::{AnyScene, WorldScene};
use options::Settings;
use output::Outputs;
use page_output::RunSummary;
use simulate::{Ending, simulate};
use start::Start;

/// Runs the command: 0, or 1 where the run ended early or steps were not solved.
pub fn run(args: &RunArgs) -> CommandResult {
    match scene::read_any_with(&args.file, &args.set, &args.import)? {
        AnyScene::World(world) if is_event_driven(args, &world) => system::move_world(*world, args),
        AnyScene::World(world) => move_world(*world, args),
        AnyScene::System(scene) => system::move_system(&scene, args),
    }
}

/// Options that only events know are refused, not ignored.
fn refuse_event_driven(args: &RunArgs) -> Result<(), String> {
    let given =
        [("--indeterminate", args.indeterminate.is_some()), ("--max-events", args.max_events.is_some())];
    match given.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(format!(
            "error: {option} belongs to event-driven integration (--integrator event-driven), this run goes in time steps\n"
        )),
        None => Ok(()),
    }
}

fn is_event_driven(args: &RunArgs, scene: &WorldScene) -> bool {
    args.integrator.or(scene.file.simulation.integrator) == Some(Integrator::EventDriven)
}

/// Moves a world that was read.
pub fn move_world(scene: WorldScene, args: &RunArgs) -> CommandResult {
    refuse_event_driven(args)?;
    let settings = Settings::new(args, &scene)?;
    let (world, start) = Start::new(scene, args, &settings)?;
    if let Some(path) = &args.checkpoint {
        checkpoint::check_writable(path)?;
    }
    let mut outputs = Outputs::open(args, &world, &start, &settings)?;
    interrupt::catch_ctrl_c();
    let show = |notes: &[String]| {
        notes.iter().filter(|_| !args.json).for_each(|note| eprintln!("note: {note}"));
    };
    show(&start.notes);
    let before = start.notes.len();
    let name = start::file_name(args);
    let run =
        simulate(&world, start, &settings, &mut outputs).map_err(|e| format!("error: {name}: {e}\n"))?;
    let document = (args.json || outputs.has_page()).then(|| report::document(&world, &run));
    print(&match &document {
        Some(document) if args.json => json_text(document),
        _ => report::in_words(&world, &run),
    });
    show(&run.notes[before..]);
    let failure = match &run.ending {
        Ending::Failed(reason) => Some(reason.clone()),
        _ => None,
    };
    if let Some(reason) = &failure {
        eprintln!("error: {name}: {reason}");
    }
    if let Some(report) = document {
        let summary = RunSummary { report, notes: run.notes, failure };
        let others = |page: &mut Page| {
            if run.totals.non_unique_motion_steps > 0 {
                add_other_motions(page, args);
            }
        };
        outputs.finish_pages(&summary, &others).map_err(|e| format!("error: {e}\n"))?;
    }
    Ok(if run.ending == Ending::Done && run.totals.unsolved_steps == 0 { 0 } else { 1 })
}

/// Moving bodies up to which other motions of a world are followed for its page.
const MAX_FOLLOWED: usize = 4;

/// Adds the motions beside one that was found not to be the only one, where the world is small enough for
/// event-driven integration; else its page says in words that there are others.
fn add_other_motions(page: &mut Page, args: &RunArgs) {
    let Ok(AnyScene::World(mut scene)) = scene::read_any_with(&args.file, &args.set, &args.import) else {
        return;
    };
    if scene.file.world.bodies.iter().filter(|body| !body.fixed).count() > MAX_FOLLOWED {
        return;
    }
    let Ok(as_system) = world_as_system(&mut scene) else { return };
    let subject = Subject::of_world(&scene, &as_system, args.t_end);
    let options = EventOptions { t_end: subject.t_end, impact_at_start: true, ..EventOptions::default() };
    branches::add_others(page, &subject, &options, None);
}
