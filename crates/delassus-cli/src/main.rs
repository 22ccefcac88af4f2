//! The command-line program `delassus`.
//!
//! Exit codes: 0 done, or the answer is yes; 1 the answer is no; 2 misuse or bad input, with one message on
//! stderr; 3 neither yes nor no is proved (`stand` and `hold`), or a certificate was asked for and there is
//! none for the verdict.
#![forbid(unsafe_code)]

mod arguments;
mod commands;
mod output;
mod parquet_table;
mod picture;
mod run;
mod scene;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use output::MISUSE;

/// Mechanical systems with joints, contacts and friction: do the forces exist, and are they the only ones?
#[derive(Parser)]
#[command(name = "delassus", version, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Show a built-in scene and its analysis; without a name, the list and the first of them
    Try(commands::TryArgs),
    /// Read and validate a system or a world
    Check(commands::CheckArgs),
    /// Move bodies the least distance that closes all loops of a world
    Assemble(commands::AssembleArgs),
    /// All accelerations and contact forces at the state in a file: do they exist, are they unique?
    Analyze(commands::AnalyzeArgs),
    /// A quantity or a verdict over one or two parameters, as a picture or a table
    Map(commands::MapArgs),
    /// The largest interval of a parameter on which the answer is certified to exist and be unique
    Safe(commands::SafeArgs),
    /// Does a world at rest stand: surely, possibly or not at all, and how much is left before it falls?
    Stand(commands::StandArgs),
    /// The largest force at a point of a body that a world at rest resists in every direction
    Hold(commands::HoldArgs),
    /// Check a certificate that another command wrote
    Verify(commands::VerifyArgs),
    /// Move a world of rigid bodies or a system in time
    Run(Box<run::RunArgs>),
    /// Follow all motions of a system where several accelerations satisfy the laws
    Explore(commands::ExploreArgs),
    /// Show a page in the browser, and follow the run that writes it
    View(commands::ViewArgs),
    /// Solve one contact or complementarity problem from a file
    Solve(commands::SolveArgs),
    /// All solvers on all problems: table and performance profile
    Compare(commands::CompareArgs),
    /// Write a problem in another format, and report what is lost
    Convert(commands::ConvertArgs),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => {
            // Help and version are answers; everything else is misuse.
            let code = if e.use_stderr() { MISUSE } else { 0 };
            let _ = e.print();
            return ExitCode::from(code);
        }
    };
    let done = match cli.command {
        Command::Try(args) => commands::try_scene(&args),
        Command::Check(args) => commands::check(&args),
        Command::Assemble(args) => commands::assemble(&args),
        Command::Analyze(args) => commands::analyze(&args),
        Command::Map(args) => commands::map(&args),
        Command::Safe(args) => commands::safe(&args),
        Command::Stand(args) => commands::stand(&args),
        Command::Hold(args) => commands::hold(&args),
        Command::Verify(args) => commands::verify(&args),
        Command::Run(args) => run::run(&args),
        Command::Explore(args) => commands::explore(&args),
        Command::View(args) => commands::view(&args),
        Command::Solve(args) => commands::solve(&args),
        Command::Compare(args) => commands::compare(&args),
        Command::Convert(args) => commands::convert(&args),
    };
    ExitCode::from(done.unwrap_or_else(|message| {
        eprint!("{}", scene::ended(message));
        MISUSE
    }))
}
