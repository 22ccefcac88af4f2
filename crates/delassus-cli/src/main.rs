//! The program `delassus`.
//!
//! Exit codes: 0 done, or the answer is yes; 1 the answer is no; 2 misuse or bad input, with one message on stderr.
#![forbid(unsafe_code)]

mod analyze;
mod assemble;
mod chart;
mod check;
mod check_world;
mod checkpoint;
mod compare;
mod convert;
mod explore;
mod explore_plot;
mod map;
mod parquet;
mod picture;
mod plot;
mod profile;
mod raster;
mod report;
mod report_impact;
mod run;
mod run_events;
mod run_loop;
mod run_options;
mod run_output;
mod run_parquet;
mod run_report;
mod run_start;
mod run_subject;
mod run_system;
mod run_system_plot;
mod safe;
mod scene;
mod solve;
mod style;
mod triangles;
mod try_scene;
mod vtk;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Mechanical systems with joints, contacts and friction: do the forces exist, and are they the only ones?
#[derive(Parser)]
#[command(name = "delassus", version, about, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show a built-in scene and its analysis; without a name, the list and the first of them
    Try(try_scene::TryArgs),
    /// Read and validate a system or a world
    Check(check::CheckArgs),
    /// Move bodies the least distance that closes all loops of a world
    Assemble(assemble::AssembleArgs),
    /// All accelerations and contact forces at the state in a file: do they exist, are they unique?
    Analyze(analyze::AnalyzeArgs),
    /// A quantity or a verdict over one or two parameters, as a picture or a table
    Map(map::MapArgs),
    /// The largest interval of a parameter on which the answer is certified to exist and be unique
    Safe(safe::SafeArgs),
    /// Move a world of rigid bodies or a system in time
    Run(Box<run::RunArgs>),
    /// Follow all motions of a system where several accelerations satisfy the laws
    Explore(explore::ExploreArgs),
    /// Solve one contact or complementarity problem from a file
    Solve(solve::SolveArgs),
    /// All solvers on all problems: table and performance profile
    Compare(compare::CompareArgs),
    /// Write a problem in another format, and tell what is lost
    Convert(convert::ConvertArgs),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            // Help and version are answers; everything else is misuse.
            let code = if e.use_stderr() { 2 } else { 0 };
            let _ = e.print();
            return ExitCode::from(code);
        }
    };
    let code = match cli.command {
        Command::Try(args) => try_scene::run(args),
        Command::Check(args) => check::run(&args),
        Command::Assemble(args) => assemble::run(&args),
        Command::Analyze(args) => analyze::run(&args),
        Command::Map(args) => map::run(&args),
        Command::Safe(args) => safe::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Explore(args) => explore::run(&args),
        Command::Solve(args) => solve::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Convert(args) => convert::run(&args),
    };
    ExitCode::from(code)
}
