//! `delassus run`: moves a world or a system in time.
//!
//! Exit codes: 0 done; 1 the run ended early (interrupted, or a step that has no answer) or steps were not
//! solved to the tolerance; 2 misuse or bad input, before the first step.

mod arguments;
mod checkpoint;
mod interrupt;
mod options;
mod output;
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
mod triangles;
mod vtk;

pub use arguments::RunArgs;
pub use start::open_in_words;
pub use subject::{Subject, WorldSubject, world_as_system};
pub use system::{contact_mode_word, ending_word, event_json};

use delassus_scene::Integrator;

use crate::output::print;
use crate::scene;
use crate::scene::{AnyScene, WorldScene};
use options::Settings;
use output::Outputs;
use simulate::{Ending, simulate};
use start::Start;

/// Runs the command; returns the exit code.
pub fn run(args: &RunArgs) -> u8 {
    let moved = match scene::read_any_with(&args.file, &args.set, &args.import) {
        Ok(AnyScene::World(world)) if is_event_driven(args, &world) => system::move_world(*world, args),
        Ok(AnyScene::World(world)) => move_world(*world, args),
        Ok(AnyScene::System(scene)) => system::move_system(&scene, args),
        Err(message) => Err(message),
    };
    match moved {
        Ok(code) => code,
        Err(message) => {
            eprint!("{message}");
            2
        }
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

/// Moves a world that was read; the error is a message ready for stderr.
pub fn move_world(scene: WorldScene, args: &RunArgs) -> Result<u8, String> {
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
    let text = if args.json { report::to_json(&world, &run) } else { report::in_words(&world, &run) };
    print(&text);
    show(&run.notes[before..]);
    if let Ending::Failed(reason) = &run.ending {
        eprintln!("error: {name}: {reason}");
    }
    Ok(if run.ending == Ending::Done && run.totals.unsolved_steps == 0 { 0 } else { 1 })
}
