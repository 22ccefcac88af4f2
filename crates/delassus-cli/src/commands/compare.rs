//! `delassus compare`: all solvers on all problems, as a table and as a performance profile.
//!
//! The solvers have no clock. A cap on the time is a limit on iterations: a method begins with 100, and as
//! long as the limit is what stopped it, it begins anew with a limit that grows in proportion to the time
//! that is left, at most twentyfold at once. The last attempt counts. The residual of what was returned
//! decides whether a problem is solved, never the method.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use delassus_files::{Problem, read};
use delassus_report::Style;
use delassus_solve::contact::ContactOptions;
use delassus_solve::problem::Status;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use super::solve::{Found, solve_problem};
use crate::arguments::{SolverName, solver, tolerance};
use crate::output::{CommandResult, json_text, print};
use crate::picture::{profile_picture, profile_steps, write_picture};

/// Arguments of `compare`.
#[derive(Args)]
pub struct CompareArgs {
    /// Problem files, and folders: all .dat, .hdf5, .h5 and .json files in them
    #[arg(required = true, value_name = "PROBLEM")]
    pub problems: Vec<PathBuf>,
    /// Write the performance profile here: .svg or .png
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Largest residual that counts as solved
    #[arg(long, default_value_t = 1e-8, value_parser = tolerance)]
    pub tolerance: f64,
    /// Write all numbers here
    #[arg(long, value_name = "FILE")]
    pub csv: Option<PathBuf>,
    /// About the longest time for one solve
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = tolerance)]
    pub cap: f64,
    /// Only these solvers, with commas between them
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = solver())]
    pub solvers: Vec<SolverName>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Iterations of the first attempt.
const FIRST_ITERATIONS: usize = 100;
/// The limit grows at most by this factor at once: the first attempts are too short to tell the time of an
/// iteration.
const MAX_GROWTH: f64 = 20.0;
/// Not worth another attempt: the time left for it is hardly more than that of the last one.
const MIN_TIME_RATIO: f64 = 1.5;
/// Solves below this time, in seconds, are measured three times, and the least time counts.
const SHORT_SOLVE: f64 = 0.05;

/// Problems that the same solvers are made for.
struct Group {
    title: &'static str,
    solvers: Vec<SolverName>,
    rows: Vec<Row>,
}

/// A problem and what each solver of its group made of it.
struct Row {
    name: String,
    path: PathBuf,
    problem: Problem,
    found: Vec<Found>,
}

/// Runs the command: 0 done, 1 some problem was solved by no solver.
pub fn run(args: &CompareArgs) -> CommandResult {
    compare(args).map(|all_solved| u8::from(!all_solved)).map_err(|e| format!("error: {e}"))
}

fn compare(args: &CompareArgs) -> Result<bool, String> {
    if let Some(path) = &args.output
        && !path.extension().is_some_and(|e| e == "svg" || e == "png")
    {
        return Err(format!("{}: expected a name that ends in .svg or .png", path.display()));
    }
    let mut groups = read_groups(args)?;
    let count: usize = groups.iter().map(|g| g.rows.len() * g.solvers.len()).sum();
    let progress = ProgressBar::new(count as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} {wide_msg}") {
        progress.set_style(style);
    }
    for group in &mut groups {
        for row in &mut group.rows {
            for &solver in &group.solvers {
                progress.set_message(format!("{}: {solver}", row.name));
                let found = measure(&row.problem, solver, args.tolerance, args.cap)
                    .map_err(|e| format!("{}: {e}", row.path.display()))?;
                row.found.push(found);
                progress.inc(1);
            }
        }
    }
    progress.finish_and_clear();
    if let Some(path) = &args.csv {
        std::fs::write(path, csv(&groups, args.tolerance))
            .map_err(|e| format!("{}: cannot be written: {e}", path.display()))?;
    }
    if let Some(path) = &args.output {
        draw(&groups, args.tolerance, path)?;
    }
    if args.json {
        print(&json_text(&document(&groups, args)));
    } else {
        print(&table(&groups, args.tolerance, Style::for_stdout()));
    }
    let mut rows = groups.iter().flat_map(|g| &g.rows);
    Ok(rows.all(|row| row.found.iter().any(|f| f.status == Status::Solved)))
}

/// One solver on one problem.
fn measure(problem: &Problem, solver: SolverName, tolerance: f64, cap: f64) -> Result<Found, String> {
    let attempt = |most: usize| {
        let options = ContactOptions { tolerance, max_iterations: most, ..Default::default() };
        solve_problem(problem, solver, &options)
    };
    let mut most = FIRST_ITERATIONS;
    let mut found = attempt(most)?;
    // Fewer iterations than allowed: it was stopped by a limit of its own.
    while found.status == Status::MaxIterations && found.iterations >= most {
        let factor = cap / found.seconds.max(1e-9);
        if factor < MIN_TIME_RATIO {
            break;
        }
        most = (most as f64 * factor.min(MAX_GROWTH)) as usize;
        found = attempt(most)?;
    }
    if found.status == Status::Solved && found.seconds < SHORT_SOLVE {
        for _ in 0..2 {
            found.seconds = found.seconds.min(attempt(most)?.seconds);
        }
    }
    Ok(found)
}

/// All problems are read before the first is solved: bad input shows at once.
fn read_groups(args: &CompareArgs) -> Result<Vec<Group>, String> {
    let chosen = |fits: fn(&SolverName) -> bool| -> Vec<SolverName> {
        let wanted = |s: &SolverName| args.solvers.is_empty() || args.solvers.contains(s);
        SolverName::all().into_iter().filter(|s| fits(s) && wanted(s)).collect()
    };
    let contact = chosen(|s| s.contact.is_some());
    let complementarity = chosen(|s| s.complementarity.is_some());
    let mut groups = [
        Group { title: "contact problems", solvers: contact, rows: vec![] },
        Group { title: "complementarity problems", solvers: complementarity, rows: vec![] },
    ];
    for given in &args.problems {
        for (name, path) in files(given)? {
            let problem = read(&path).map_err(|e| e.to_string())?;
            let group = &mut groups[usize::from(!matches!(problem, Problem::Friction(_)))];
            if group.solvers.is_empty() {
                let (what, names) = (problem.kind(), names(&args.solvers).join(", "));
                return Err(format!(
                    "{}: a problem of kind {what}, and no solver for it among {names}",
                    path.display()
                ));
            }
            group.rows.push(Row { name, path, problem, found: vec![] });
        }
    }
    Ok(groups.into_iter().filter(|g| !g.rows.is_empty()).collect())
}

/// The problem files of an argument, with their names in the table.
fn files(given: &Path) -> Result<Vec<(String, PathBuf)>, String> {
    if !given.is_dir() {
        let name = given.file_name().unwrap_or(given.as_os_str()).to_string_lossy().into_owned();
        return Ok(vec![(name, given.to_owned())]);
    }
    let mut found = Vec::new();
    let mut folders = vec![given.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
            // A link to a folder above would never end.
            if entry.file_type().map_err(failed)?.is_dir() {
                folders.push(path);
            } else if extension.is_some_and(|e| ["dat", "hdf5", "h5", "json"].contains(&e.as_str())) {
                let name = path.strip_prefix(given).unwrap_or(&path).to_string_lossy().into_owned();
                found.push((name, path));
            }
        }
    }
    found.sort();
    if found.is_empty() {
        return Err(format!(
            "{}: expected problem files (.dat, .hdf5, .h5, .json) in this folder, found none",
            given.display()
        ));
    }
    Ok(found)
}

/// Times by problem, then by solver; `None` where it was not solved.
fn times(group: &Group) -> Vec<Vec<Option<f64>>> {
    let time = |f: &Found| (f.status == Status::Solved).then_some(f.seconds);
    group.rows.iter().map(|row| row.found.iter().map(time).collect()).collect()
}

fn names(solvers: &[SolverName]) -> Vec<&'static str> {
    solvers.iter().map(|solver| solver.name).collect()
}

fn draw(groups: &[Group], tolerance: f64, path: &Path) -> Result<(), String> {
    let mut pictures = groups.iter().map(|group| {
        let title = format!("{} {} to {tolerance:.0e}", group.rows.len(), group.title);
        profile_picture(&title, &names(&group.solvers), &profile_steps(&times(group)))
    });
    let Some(mut picture) = pictures.next() else { return Ok(()) };
    pictures.for_each(|below| picture.append(below));
    write_picture(&picture, path).map_err(|e| e.trim_start_matches("error: ").trim_end().to_string())
}

/// A time for people.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.1} µs", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

/// One line per problem, one column per solver, and what each solver solved at the end.
fn table(groups: &[Group], tolerance: f64, style: Style) -> String {
    let mut out = String::new();
    for group in groups {
        let widest = group.rows.iter().map(|row| row.name.chars().count()).max().unwrap_or(0).max(8);
        let widths: Vec<usize> = group.solvers.iter().map(|s| s.name.len().max(11) + 2).collect();
        let mut head = format!("{:widest$}  {:>8}", "problem", "contacts");
        for (solver, width) in group.solvers.iter().zip(&widths) {
            let _ = write!(head, "{solver:>width$}");
        }
        let _ = writeln!(out, "{} to {tolerance:.0e}\n{}", group.title, style.bold(&head));
        for row in &group.rows {
            let contacts = row.problem.contacts().map_or("-".to_string(), |n| n.to_string());
            let _ = write!(out, "{:widest$}  {contacts:>8}", row.name);
            for (f, width) in row.found.iter().zip(&widths) {
                out += &match f.status {
                    Status::Solved => format!("{:>width$}", duration(f.seconds)),
                    Status::NoSolution => style.caution(&format!("{:>width$}", "none exists")),
                    _ => style.bad(&format!("{:>width$}", format!("✗ {:.1e}", f.residual))),
                };
            }
            out.push('\n');
        }
        let times = times(group);
        let best = |row: &[Option<f64>]| row.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        let count = |of: &dyn Fn(&[Option<f64>], usize) -> bool| -> Vec<usize> {
            (0..widths.len()).map(|s| times.iter().filter(|row| of(row, s)).count()).collect()
        };
        let solved = count(&|row, s| row[s].is_some());
        let quickest = count(&|row, s| row[s].is_some_and(|t| t <= best(row)));
        for (what, numbers) in [("solved", solved), ("quickest", quickest)] {
            let mut line = format!("{what:widest$}  {:>8}", times.len());
            for (n, width) in numbers.iter().zip(&widths) {
                let _ = write!(line, "{n:>width$}");
            }
            let _ = writeln!(out, "{}", style.bold(&line));
        }
        out.push('\n');
    }
    out + &style.dim("✗ not solved: the residual that was reached\n")
}

/// The word for a status, as in `solve --json`.
fn word(status: Status) -> String {
    json!(status).as_str().unwrap_or_default().to_owned()
}

fn csv(groups: &[Group], tolerance: f64) -> String {
    let mut out = String::from("problem,kind,contacts,solver,tolerance,status,seconds,iterations,residual\n");
    for group in groups {
        for row in &group.rows {
            let name = if row.name.contains([',', '"', '\n']) {
                format!("\"{}\"", row.name.replace('"', "\"\""))
            } else {
                row.name.clone()
            };
            let contacts = row.problem.contacts().map_or(String::new(), |n| n.to_string());
            for (solver, f) in group.solvers.iter().zip(&row.found) {
                let _ = writeln!(
                    out,
                    "{name},{},{contacts},{solver},{tolerance:e},{},{:e},{},{:e}",
                    row.problem.kind(),
                    word(f.status),
                    f.seconds,
                    f.iterations,
                    f.residual
                );
            }
        }
    }
    out
}

fn document(groups: &[Group], args: &CompareArgs) -> Value {
    let mut problems = Vec::new();
    let mut profiles = serde_json::Map::new();
    for group in groups {
        for row in &group.rows {
            let results: Vec<Value> = group
                .solvers
                .iter()
                .zip(&row.found)
                .map(|(solver, f)| {
                    json!({ "solver": solver.name, "status": f.status, "iterations": f.iterations,
                            "seconds": f.seconds, "residual": f.residual })
                })
                .collect();
            problems.push(json!({
                "problem": row.name,
                "file": row.path.to_string_lossy(),
                "kind": row.problem.kind(),
                "contacts": row.problem.contacts(),
                "results": results,
            }));
        }
        let curves = group.solvers.iter().zip(profile_steps(&times(group)));
        let curves: serde_json::Map<String, Value> =
            curves.map(|(solver, steps)| (solver.to_string(), json!(steps))).collect();
        profiles.insert(group.title.to_string(), Value::Object(curves));
    }
    json!({ "tolerance": args.tolerance, "cap": args.cap, "problems": problems, "profiles": profiles })
}
