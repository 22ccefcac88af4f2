//! What cargo cannot do: `cargo xtask props`, `cargo xtask docs`, `cargo xtask gallery`,
//! `cargo xtask bench`, `cargo xtask convergence`, `cargo xtask ci`.
//!
//! What prose claims, a program reads: the table of equations in the book names functions and tests,
//! ARCHITECTURE.md names files, links name pages. Each task prints what it checked and exits with 1 where a
//! claim is not true.

#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

mod bench;
mod convergence;
mod docs;
mod gallery;
mod house;
mod props;
mod source;

const USAGE: &str = "\
usage: cargo xtask TASK

  props   each row of book/src/equations.md names a function and tests that exist, each test prop_… or eq_… has a row
  docs    paths in ARCHITECTURE.md exist and it names every room, rooms do not import each other and are entered by their
          fronts, files and functions are short, links resolve, no path of one machine
  gallery draws the pictures of README and book anew
  bench   bench solvers [FOLDER] [--csv FILE]: time, residual and status of every solver on every problem file of the
          folder (default: DELASSUS_PROBLEMS) at 1e-4, 1e-8 and 1e-12
          bench motion [NAME…]: time per step and error of the engines that DELASSUS_PEER, RAPIER_PEER and MUJOCO_PEER name,
          as bench/motion.csv and bench/motion.svg
          bench threads [BALLS]: wall time of a step of many balls with 1, 2, 4, … threads
  convergence
          the error of time stepping against event-driven integration, over the step: table and picture of the book
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
        Some("ci") => return ci(&root),
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

/// The list of steps stands in `.ci/run` alone.
fn ci(root: &Path) -> ExitCode {
    match Command::new("bash").arg(".ci/run").current_dir(root).status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bash .ci/run: {error}");
            ExitCode::from(2)
        }
    }
}
