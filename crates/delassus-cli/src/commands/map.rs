//! `delassus map`: a quantity or a verdict over one or two parameters.

use std::path::{Path, PathBuf};

use clap::Args;
use delassus::lagrangian::Names;
use delassus_report::{Axis, Cell, Grid, Quantity};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use super::map_page::MapPage;
use super::safe::range;
use crate::output::{CommandResult, json_text, print};
use crate::picture::{Axis as Drawn, Colour, GREY, Picture, Values, categories, curve, heat, write_picture};
use crate::scene;
use crate::scene::Scene;

/// Arguments of `map`.
#[derive(Args)]
pub struct MapArgs {
    /// File with a [system]
    pub file: PathBuf,
    /// Parameter along the axis to the right: name=lo:hi:n, for example angle=5deg:85deg:200
    #[arg(long, value_name = "NAME=LO:HI:N", value_parser = sweep)]
    pub x: Axis,
    /// Parameter along the axis upward
    #[arg(long, value_name = "NAME=LO:HI:N", value_parser = sweep)]
    pub y: Option<Axis>,
    /// What to show: solutions, existence, acceleration_unique, forces_unique, p_matrix, mu_jam[:CONTACT],
    /// mu_crit[:CONTACT], locking_angle[:CONTACT], friction_bound, force:NAME, proposition:ID (such as
    /// 000.prop13), or a place in the document of `analyze --json` such as /contacts/0/mu
    #[arg(long, value_name = "QUANTITY")]
    pub show: String,
    /// Page, picture or table to write: .html, .svg, .png or .csv; without it the table goes to stdout
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The least and the greatest number that the colours or the curve show: lo:hi
    #[arg(long, value_name = "LO:HI", value_parser = range, allow_hyphen_values = true)]
    pub scale: Option<[f64; 2]>,
    /// Override a parameter: name=value
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = scene::parse_override)]
    pub set: Vec<(String, String)>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

fn sweep(text: &str) -> Result<Axis, String> {
    let (name, values) = scene::parse_override(text)?;
    Axis::parse(&name, &values)
}

/// Runs the command: 0, or 1 where no point has a state.
pub fn run(args: &MapArgs) -> CommandResult {
    let scene = scene::read(&args.file, &args.set)?;
    let sweeps: Vec<&Axis> = std::iter::once(&args.x).chain(&args.y).collect();
    for (k, sweep) in sweeps.iter().enumerate() {
        if sweeps[..k].iter().any(|s| s.name == sweep.name) {
            return Err(format!("error: the parameter `{}` is on both axes", sweep.name));
        }
        if !scene.file.parameters.iter().any(|(name, _)| *name == sweep.name) {
            let names: Vec<&str> = scene.file.parameters.iter().map(|(n, _)| n.as_str()).collect();
            let (file, name) = (&scene.name, &sweep.name);
            return Err(format!(
                "error: {file}: no parameter `{name}`; expected one of: {}",
                names.join(", ")
            ));
        }
    }
    if args.scale.is_some_and(|[lo, hi]| lo >= hi) {
        return Err("error: --scale: expected lo:hi in increasing order".into());
    }
    let names = Names::of(&scene.file.system);
    let quantity = Quantity::parse(&args.show, Some(&names)).map_err(|e| format!("error: --show: {e}"))?;
    let format = match args.output.as_deref().map(extension) {
        None => None,
        Some(e) if ["html", "svg", "png", "csv"].contains(&e.as_str()) => Some(e),
        Some(_) => return Err("error: -o: expected a name that ends in .html, .svg, .png or .csv".into()),
    };
    let is_page = format.as_deref() == Some("html");
    let found = evaluate(args, &scene, &quantity, is_page);
    let cells: Vec<Cell> = found.iter().map(|(cell, _)| cell.clone()).collect();
    let valid = cells.iter().filter(|c| **c != Cell::NoState).count();
    if valid > 0 && cells.iter().all(|c| matches!(c, Cell::NoState | Cell::Missing)) {
        return Err(format!("error: --show: the analysis has no value for {}", args.show));
    }
    if valid < cells.len() {
        eprintln!("note: {} of {} points have no such state", cells.len() - valid, cells.len());
    }
    if let (Some(path), Some(format)) = (&args.output, format) {
        if is_page {
            let label = quantity.label(&args.show);
            let (name, x, y) = (&scene.file.system.name, &args.x, args.y.as_ref());
            MapPage { name, show: &args.show, label: &label, x, y, cells: &found, safe: None }.write(path)?;
        } else if format == "csv" {
            let failed = |e| format!("error: {}: cannot be written: {e}", path.display());
            std::fs::write(path, csv(args, &cells)).map_err(failed)?;
        } else {
            write_picture(&picture(args, &scene, &quantity, &cells), path)?;
        }
    } else if !args.json {
        print(&csv(args, &cells));
    }
    if args.json {
        print(&json_text(&json_document(args, &cells)));
    }
    Ok(u8::from(valid == 0))
}

fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// All points, row by row from the least y; with their analyses as JSON where they are wanted.
fn evaluate(args: &MapArgs, scene: &Scene, quantity: &Quantity, analyses: bool) -> Vec<(Cell, String)> {
    let axes: Vec<Axis> = args.y.iter().chain([&args.x]).cloned().collect();
    let grid = Grid { text: &scene.text, folder: None, overrides: &args.set, axes: &axes };
    let points = grid.points().unwrap_or(0);
    let progress = ProgressBar::new(points as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {percent}% {eta}") {
        progress.set_style(style);
    }
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let done = |count: usize| {
        progress.inc(count as u64);
        true
    };
    let cells = if analyses {
        grid.analyses(quantity, threads, &done)
    } else {
        let cells = grid.evaluate(std::slice::from_ref(quantity), 0..points, threads, &done);
        cells.map(|cells| cells.into_iter().map(|cell| (cell, String::new())).collect())
    };
    progress.finish_and_clear();
    cells.unwrap_or_default()
}

fn csv(args: &MapArgs, cells: &[Cell]) -> String {
    let mut out = args.x.label().replace(',', "").replace(' ', "_");
    if let Some(y) = &args.y {
        out += &format!(",{}", y.label().replace(',', "").replace(' ', "_"));
    }
    out += &format!(",{}\n", args.show);
    for (k, cell) in cells.iter().enumerate() {
        let columns = args.x.values.len();
        out += &args.x.shown(args.x.values[k % columns]).to_string();
        if let Some(y) = &args.y {
            out += &format!(",{}", y.shown(y.values[k / columns]));
        }
        out += &match cell {
            Cell::Number(x) => format!(",{x}\n"),
            Cell::Word(w) => format!(",{w}\n"),
            Cell::Absent | Cell::Missing => ",\n".to_string(),
            Cell::NoState => ",no state\n".to_string(),
        };
    }
    out
}

fn json_document(args: &MapArgs, cells: &[Cell]) -> Value {
    let axis = |axis: &Axis| json!({"name": axis.name, "values": axis.values});
    let value = |c: &Cell| match c {
        Cell::Number(x) => json!(x),
        Cell::Word(w) => json!(w),
        Cell::Absent | Cell::Missing | Cell::NoState => Value::Null,
    };
    let rows: Vec<Vec<Value>> =
        cells.chunks(args.x.values.len()).map(|row| row.iter().map(value).collect()).collect();
    json!({
        "x": axis(&args.x),
        "y": args.y.as_ref().map(axis),
        "show": args.show,
        "values": rows,
        "no_state": cells.iter().filter(|c| **c == Cell::NoState).count(),
    })
}

/// Colours of words that have a meaning; others take what is left, in the order of the alphabet.
const MEANINGS: [(&str, Colour); 10] = [
    ("one solution", [158, 202, 225]),
    ("no solution", [203, 24, 29]),
    ("several solutions", [253, 174, 97]),
    ("infinitely many solutions", [158, 154, 200]),
    ("proved", [158, 202, 225]),
    ("refuted", [203, 24, 29]),
    ("unknown", [253, 174, 97]),
    ("holds", [158, 202, 225]),
    ("fails", [203, 24, 29]),
    ("false", [222, 235, 247]),
];
const OTHERS: [Colour; 6] =
    [[65, 171, 93], [128, 125, 186], [254, 217, 118], [107, 174, 214], [251, 106, 74], [189, 189, 189]];

fn picture(args: &MapArgs, scene: &Scene, quantity: &Quantity, cells: &[Cell]) -> Picture {
    let system = &scene.file.system;
    let name = if system.name.is_empty() { "system" } else { &system.name };
    let what = quantity.label(&args.show);
    let title = format!("{name}: {what}");
    let words: std::collections::BTreeSet<&str> =
        cells.iter().filter_map(|c| if let Cell::Word(w) = c { Some(w.as_ref()) } else { None }).collect();
    if !words.is_empty() {
        let known = MEANINGS.iter().filter(|(w, _)| words.contains(w));
        let mut names: Vec<(Colour, String)> = known.map(|(w, c)| (*c, w.to_string())).collect();
        let rest = words.iter().filter(|w| !MEANINGS.iter().any(|(m, _)| m == *w));
        names.extend(rest.zip(OTHERS.iter().cycle()).map(|(w, c)| (*c, w.to_string())));
        names.push(([255, 255, 255], "no value".to_string()));
        names.push((GREY, "no such state".to_string()));
        let place = |w: &str| names.iter().position(|(_, n)| n == w).unwrap_or(names.len() - 2) as u16;
        let marks: Vec<u16> = cells
            .iter()
            .map(|c| match c {
                Cell::Word(w) => place(w),
                Cell::NoState => names.len() as u16 - 1,
                _ => names.len() as u16 - 2,
            })
            .collect();
        let y = args.y.as_ref().map(|y| Drawn::of(y, true));
        return categories(
            &title,
            &Drawn::of(&args.x, true),
            y.as_ref(),
            args.x.values.len(),
            &marks,
            &names,
        );
    }
    let list: Vec<Option<f64>> = cells
        .iter()
        .map(|c| match c {
            Cell::Number(x) => Some(*x),
            Cell::NoState => Some(f64::NAN),
            _ => None,
        })
        .collect();
    let values = Values { what: &what, list: &list, range: args.scale };
    match &args.y {
        Some(y) => heat(&title, &Drawn::of(&args.x, true), &Drawn::of(y, true), args.x.values.len(), &values),
        None => curve(&title, &Drawn::of(&args.x, false), &values),
    }
}
