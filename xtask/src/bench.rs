//! `cargo xtask bench solvers`: every solver on every problem file of a folder, at three tolerances.
//!
//! The numbers are those of `delassus compare`, run in release mode. `bench motion` and `bench threads` are
//! in `bench/motion.rs` and `bench/threads.rs`.

mod counts;
mod linkages;
mod motion;
mod picture;
mod scenes;
mod threads;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TOLERANCES: [&str; 3] = ["1e-4", "1e-8", "1e-12"];

/// What was asked for on the command line.
struct Options {
    folder: PathBuf,
    csv: PathBuf,
}

/// Runs the benchmark that the arguments name, prints a table and writes CSV.
pub fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    match arguments.split_first() {
        Some((name, rest)) if name == "motion" => return motion::run(root, rest),
        Some((name, rest)) if name == "threads" => return threads::run(root, rest),
        _ => {}
    }
    let folder = std::env::var_os("DELASSUS_PROBLEMS").map(PathBuf::from);
    let options = options(arguments, folder, &root.join("target/bench-solvers.csv"))?;
    let parts = root.join("target/bench-solvers.part.csv");
    std::fs::create_dir_all(root.join("target")).map_err(|e| format!("target: {e}"))?;
    let mut all = String::new();
    for tolerance in TOLERANCES {
        eprintln!("to {tolerance}");
        // Its exit code 1 is a finding: some problem was solved by no solver.
        let status = Command::new("cargo")
            .args([
                "run",
                "--quiet",
                "--release",
                "--package",
                "delassus-cli",
                "--",
                "compare",
                "--tolerance",
            ])
            .arg(tolerance)
            .arg("--csv")
            .arg(&parts)
            .arg(&options.folder)
            .stdout(Stdio::null())
            .current_dir(root)
            .status()
            .map_err(|e| format!("cargo run: {e}"))?;
        if !matches!(status.code(), Some(0 | 1)) {
            return Err(format!("delassus compare ended with {status}"));
        }
        let text = std::fs::read_to_string(&parts).map_err(|e| format!("{}: {e}", parts.display()))?;
        let (head, lines) = text.split_once('\n').ok_or("delassus compare wrote an empty table")?;
        if all.is_empty() {
            all = format!("{head}\n");
        }
        all += lines;
    }
    let _ = std::fs::remove_file(&parts);
    std::fs::write(&options.csv, &all).map_err(|e| format!("{}: {e}", options.csv.display()))?;
    print!("{}", columns(&all));
    println!("{}", options.csv.display());
    Ok(())
}

fn options(arguments: &[String], folder: Option<PathBuf>, csv: &Path) -> Result<Options, String> {
    let (mut folder, mut csv) = (folder, csv.to_owned());
    let mut rest = arguments.iter();
    if rest.next().map(String::as_str) != Some("solvers") {
        return Err("expected: cargo xtask bench solvers [FOLDER] [--csv FILE], bench motion or bench threads [BALLS]".into());
    }
    // Paths are those of the caller, whose folder need not be the repository.
    let absolute = |path: &String| std::path::absolute(path).map_err(|e| format!("{path}: {e}"));
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--csv" => csv = absolute(rest.next().ok_or("--csv: expected the name of a file")?)?,
            option if option.starts_with('-') => return Err(format!("unknown option {option}")),
            _ => folder = Some(absolute(argument)?),
        }
    }
    let folder = folder.ok_or("expected a folder of problem files, or its name in DELASSUS_PROBLEMS")?;
    Ok(Options { folder, csv })
}

/// The table with its columns below each other.
fn columns(csv: &str) -> String {
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let count = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..count)
        .map(|c| rows.iter().filter_map(|row| row.get(c)).map(|x| x.chars().count()).max().unwrap_or(0))
        .collect();
    let line = |row: &Vec<&str>| {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(x, width)| format!("{x:width$}")).collect();
        format!("{}\n", cells.join("  ").trim_end())
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments() {
        let of = |words: &[&str], folder: Option<&str>| {
            let words: Vec<String> = words.iter().map(|w| w.to_string()).collect();
            options(&words, folder.map(PathBuf::from), Path::new("/default.csv"))
        };
        assert!(of(&[], None).is_err() && of(&["solvers"], None).is_err());
        assert!(
            of(&["solvers", "/a", "--csv"], None).is_err() && of(&["solvers", "--fast"], Some("/a")).is_err()
        );
        let found = of(&["solvers"], Some("/a")).unwrap();
        assert_eq!((found.folder, found.csv), ("/a".into(), "/default.csv".into()));
        let found = of(&["solvers", "/b", "--csv", "/c.csv"], Some("/a")).unwrap();
        assert_eq!((found.folder, found.csv), ("/b".into(), "/c.csv".into()));
    }

    #[test]
    fn columns_line_up() {
        assert_eq!(columns("a,bb,c\nlong,x,1\n"), "a     bb  c\nlong  x   1\n");
    }
}
