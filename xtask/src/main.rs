//! What cargo cannot do: `cargo xtask props`, `cargo xtask docs`, `cargo xtask gallery`,
//! `cargo xtask bench`, `cargo xtask convergence`, `cargo xtask verdicts`, `cargo xtask wheel`,
//! `cargo xtask web`, `cargo xtask ci`.
//!
//! What prose claims, a program reads: the table of equations in the book names functions and tests,
//! ARCHITECTURE.md names files, links name pages. Each task prints what it checked and exits with 1 where a
//! claim is not true.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

mod bench;
mod convergence;
mod cycles;
mod docs;
mod gallery;
mod house;
mod props;
#[allow(dead_code, reason = "tests use the rest")]
#[path = "../../crates/delassus-solve/tests/support/random.rs"]
mod random;
mod source;
mod web;
mod wheel;

const USAGE: &str = "\
usage: cargo xtask TASK

  props   each row of book/src/equations.md names a function and tests that exist, each test prop_… or eq_… has a row
  docs    paths in ARCHITECTURE.md exist and it names every room, rooms do not import each other and are entered by their
          fronts, files and functions are short, links resolve, no path of one machine
  gallery draws the pictures of README and book anew, and writes a page of every scene with its picture and command into
          target/gallery
  bench   bench solvers [FOLDER] [--csv FILE]: time, residual and status of every solver on every problem file of the
          folder (default: DELASSUS_PROBLEMS) at 1e-4, 1e-8 and 1e-12
          bench motion [--seconds S] [--no-counts] [NAME…]: time per step and error of the engines that DELASSUS_PEER,
          RAPIER_PEER, MUJOCO_PEER and PEERS_PY name, as bench/motion.csv and bench/motion.svg; balls fall for S (5) seconds,
          valgrind counts instructions and allocations
          bench threads [BALLS]: wall time of a step of many balls with 1, 2, 4, … threads
  convergence
          the error of time stepping against event-driven integration, over the step: table and picture of the book
  verdicts
          100,000 random problems near ties, as many on rounded data, 10,000 LCPs and mixed LCPs over scales from 2⁻⁴⁰
          to 2⁴⁰, 100,000 contact problems, then maps, analyses and safe intervals of 3,000 systems as a user types them,
          all against an exact checker: prints the shares of unknown, fails where a verdict is wrong (minutes on 16 cores;
          DELASSUS_SEED starts elsewhere, DELASSUS_RANDOM gives another number)
  web     builds the viewer of pages from web/ (Node 20 or later); web --check compares it with what is committed,
          web --test opens pages in Chromium, web --playground compiles the engine to WebAssembly and builds the
          playground into web/dist/playground
  wheel   builds the Python package as a wheel into target/wheels
  ci      all checks (.ci/run)";

fn main() -> ExitCode {
    let root = root();
    let task = std::env::args().nth(1);
    let found = match task.as_deref() {
        Some("props") => props::check(&root),
        Some("docs") => docs::check(&root),
        Some("gallery") => gallery::draw(&root).map(|()| vec![]),
        Some("bench") => {
            let arguments: Vec<String> = std::env::args().skip(2).collect();
            bench::run(&root, &arguments).map(|()| vec![])
        }
        Some("convergence") => convergence::run(&root).map(|()| vec![]),
        Some("verdicts") => return verdicts(&root),
        Some("web") => {
            let arguments: Vec<String> = std::env::args().skip(2).collect();
            web::run(&root, &arguments)
        }
        Some("wheel") => wheel::build(&root).map(|()| vec![]),
        Some("ci") => return run_in(&root, Command::new("bash").arg(".ci/run")),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match found {
        Ok(problems) if problems.is_empty() => ExitCode::SUCCESS,
        Ok(problems) => {
            for problem in &problems {
                eprintln!("✗ {problem}");
            }
            eprintln!("{} claims are not true", problems.len());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

/// The repository: the folder above this package.
fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_path_buf()
}

/// The random tests of verdicts, as many as are asked for outside of `cargo test`.
fn verdicts(root: &Path) -> ExitCode {
    let test = |package: &str, more: &[&str]| {
        let mut cargo = Command::new("cargo");
        cargo.args(["test", "--release", "-p", package, "--test", "main", "exact::", "--"]);
        cargo.args(more).args(["--nocapture", "--test-threads", "1"]);
        cargo
    };
    let solve = run_in(root, &mut test("delassus-solve", &["--ignored"]));
    let mut typed = test("delassus-cli", &[]);
    if std::env::var_os("DELASSUS_RANDOM").is_none() {
        typed.env("DELASSUS_RANDOM", "3000");
    }
    if solve == ExitCode::SUCCESS { run_in(root, &mut typed) } else { solve }
}

/// Runs a command in a folder.
fn run_in(root: &Path, command: &mut Command) -> ExitCode {
    match command.current_dir(root).status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{command:?}: {error}");
            ExitCode::from(2)
        }
    }
}
