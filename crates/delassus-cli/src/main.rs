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

use arguments::Deferred;
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
    Try(Deferred<commands::TryArgs>),
    /// Read and validate a system or a world
    Check(Deferred<commands::CheckArgs>),
    /// Move bodies the least distance that closes all loops of a world
    Assemble(Deferred<commands::AssembleArgs>),
    /// All accelerations and contact forces at the state in a file: do they exist, are they unique?
    Analyze(Deferred<commands::AnalyzeArgs>),
    /// A quantity or a verdict over one or two parameters, as a picture or a table
    Map(Deferred<commands::MapArgs>),
    /// The largest interval of a parameter on which the answer is certified to exist and be unique
    Safe(Deferred<commands::SafeArgs>),
    /// Does a world at rest stand: surely, possibly or not at all, and how much is left before it falls?
    Stand(Deferred<commands::StandArgs>),
    /// The largest force at a point of a body that a world at rest resists in every direction
    Hold(Deferred<commands::HoldArgs>),
    /// Check a certificate that another command wrote
    Verify(Deferred<commands::VerifyArgs>),
    /// Move a world of rigid bodies or a system in time
    Run(Box<Deferred<run::RunArgs>>),
    /// Follow all motions of a system where several accelerations satisfy the laws
    Explore(Deferred<commands::ExploreArgs>),
    /// Show a page in the browser, and follow the run that writes it
    View(Deferred<commands::ViewArgs>),
    /// Solve one contact or complementarity problem from a file
    Solve(Deferred<commands::SolveArgs>),
    /// All solvers on all problems: table and performance profile
    Compare(Deferred<commands::CompareArgs>),
    /// Write a problem in another format, and report what is lost
    Convert(Deferred<commands::ConvertArgs>),
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
        Command::Try(args) => commands::try_scene(&args.0),
        Command::Check(args) => commands::check(&args.0),
        Command::Assemble(args) => commands::assemble(&args.0),
        Command::Analyze(args) => commands::analyze(&args.0),
        Command::Map(args) => commands::map(&args.0),
        Command::Safe(args) => commands::safe(&args.0),
        Command::Stand(args) => commands::stand(&args.0),
        Command::Hold(args) => commands::hold(&args.0),
        Command::Verify(args) => commands::verify(&args.0),
        Command::Run(args) => run::run(&args.0),
        Command::Explore(args) => commands::explore(&args.0),
        Command::View(args) => commands::view(&args.0),
        Command::Solve(args) => commands::solve(&args.0),
        Command::Compare(args) => commands::compare(&args.0),
        Command::Convert(args) => commands::convert(&args.0),
    };
    ExitCode::from(done.unwrap_or_else(|message| {
        eprint!("{}", scene::ended(message));
        MISUSE
    }))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// Arguments are described where their command is called: here are all of them, with what each does.
    #[test]
    fn commands_say_what_they_do_and_have_their_arguments() {
        let mut cli = Cli::command();
        assert!(cli.find_subcommand("solve").is_some_and(|solve| solve.get_arguments().next().is_none()));
        cli.build();
        cli.clone().debug_assert();
        let of = |name: &str| cli.find_subcommand(name).cloned().unwrap();
        let about = |name: &str| of(name).get_about().map(ToString::to_string).unwrap_or_default();
        assert_eq!(about("solve"), "Solve one contact or complementarity problem from a file");
        assert_eq!(about("run"), "Move a world of rigid bodies or a system in time");
        assert!(of("solve").get_arguments().any(|argument| argument.get_id() == "problem"));
        assert!(Cli::try_parse_from(["delassus", "solve", "a.dat", "--tolerance", "1e-9"]).is_ok());
        assert!(Cli::try_parse_from(["delassus", "solve", "--t-end", "1"]).is_err());
    }
}
