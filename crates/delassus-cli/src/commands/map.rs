//! `delassus map`: a quantity or a verdict over one or two parameters.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Args;
use delassus::analysis::{SystemAnalysis, add_findings, examine};
use delassus::formula::{Symbols, constant};
use delassus::lagrangian::{ContactState, System, Tolerances};
use delassus_report::{analysis_document, outcome_word, solution_kind, verdict_word};
use delassus_scene::read_system;
use delassus_solve::analysis::Analysis;
use delassus_solve::analysis::theorems::outcome_of;
use delassus_solve::lcp::{Verdict, p_matrix};
use delassus_solve::modes::EnumerateOptions;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use super::safe::range;
use crate::output::print;
use crate::picture::{Axis, Colour, GREY, Picture, Scale, Values, categories, curve, heat, write_picture};
use crate::scene;
use crate::scene::Scene;

/// Arguments of `map`.
#[derive(Args)]
pub struct MapArgs {
    /// File with a [system]
    pub file: PathBuf,
    /// Parameter along the axis to the right: name=lo:hi:n, for example angle=5deg:85deg:200
    #[arg(long, value_name = "NAME=LO:HI:N", value_parser = sweep)]
    pub x: Sweep,
    /// Parameter along the axis upward
    #[arg(long, value_name = "NAME=LO:HI:N", value_parser = sweep)]
    pub y: Option<Sweep>,
    /// What to show: solutions, existence, acceleration_unique, forces_unique, p_matrix, mu_jam[:CONTACT],
    /// mu_crit[:CONTACT], locking_angle[:CONTACT], friction_bound, force:NAME, proposition:ID (such as
    /// 000.prop13), or a place in the document of `analyze --json` such as /contacts/0/mu
    #[arg(long, value_name = "QUANTITY")]
    pub show: String,
    /// Picture or table to write: .svg, .png or .csv; without it the table goes to standard output
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

/// Values of a parameter, from lo to hi in n points.
#[derive(Clone, Debug)]
pub struct Sweep {
    name: String,
    lo: f64,
    hi: f64,
    points: usize,
    /// `deg` or `rpm` where the values were given so, with its factor.
    unit: Option<(&'static str, f64)>,
}

/// The largest number of points along one axis.
const MAX_POINTS: usize = 10_000;

fn sweep(text: &str) -> Result<Sweep, String> {
    let (name, values) = scene::parse_override(text)?;
    let parts: Vec<&str> = values.split(':').map(str::trim).collect();
    let [lo, hi, points] = parts[..] else {
        return Err("expected name=lo:hi:n, for example mu=0:2:100".into());
    };
    let unit = [("deg", std::f64::consts::PI / 180.0), ("rpm", std::f64::consts::PI / 30.0)]
        .into_iter()
        .find(|(unit, _)| lo.ends_with(unit) || hi.ends_with(unit));
    let value = |text: &str| constant(text, &Symbols::default()).map_err(|e| format!("`{text}`: {e}"));
    let (lo, hi) = (value(lo)?, value(hi)?);
    let points: usize = points.parse().map_err(|_| format!("`{points}`: expected a number of points"))?;
    if !(2..=MAX_POINTS).contains(&points) {
        return Err(format!("{points} points, expected 2 to {MAX_POINTS}"));
    }
    if lo >= hi {
        return Err(format!("the range ends at {hi} and begins at {lo}, expected increasing values"));
    }
    Ok(Sweep { name, lo, hi, points, unit })
}

impl Sweep {
    fn value(&self, k: usize) -> f64 {
        self.lo + (self.hi - self.lo) * k as f64 / (self.points - 1) as f64
    }

    /// The value as it is shown.
    fn shown(&self, x: f64) -> f64 {
        x / self.unit.map_or(1.0, |(_, factor)| factor)
    }

    fn label(&self) -> String {
        match self.unit {
            Some((unit, _)) => format!("{}, {unit}", self.name),
            None => self.name.clone(),
        }
    }

    /// The axis; with half a cell on both sides for maps, whose cells stand around their points.
    fn axis(&self, cells: bool) -> Axis {
        let (lo, hi) = (self.shown(self.lo), self.shown(self.hi));
        let half = if cells { 0.5 * (hi - lo) / (self.points - 1) as f64 } else { 0.0 };
        let degrees = self.unit.is_some_and(|(unit, _)| unit == "deg");
        let scale = if degrees { Scale::Degrees } else { Scale::Plain };
        Axis { label: self.label(), lo: lo - half, hi: hi + half, scale }
    }
}

/// What is shown.
enum Quantity {
    Solutions,
    Existence,
    AccelerationUnique,
    ForcesUnique,
    PMatrix,
    /// Of a contact, by its place.
    MuJam(usize),
    MuCrit(usize),
    LockingAngle(usize),
    FrictionBound,
    /// Normal force of a contact or joint.
    Force(String),
    /// Whether the hypotheses of a proposition are met.
    Proposition(String),
    /// A place in the document of `analyze`.
    Pointer(String),
}

impl Quantity {
    fn parse(text: &str, system: &System) -> Result<Self, String> {
        let (name, owner) = match text.split_once(':') {
            Some((name, owner)) => (name, Some(owner)),
            None => (text, None),
        };
        let contact = || {
            let names: Vec<&str> = system.contacts.iter().map(|c| c.name.as_str()).collect();
            match owner {
                None if !names.is_empty() => Ok(0),
                None => Err("the system has no contact".to_string()),
                Some(o) => names
                    .iter()
                    .position(|n| *n == o)
                    .ok_or_else(|| format!("no contact `{o}`; expected one of: {}", names.join(", "))),
            }
        };
        if text.starts_with('/') {
            return Ok(Quantity::Pointer(text.to_string()));
        }
        match (name, owner) {
            ("solutions", None) => Ok(Quantity::Solutions),
            ("existence", None) => Ok(Quantity::Existence),
            ("acceleration_unique", None) => Ok(Quantity::AccelerationUnique),
            ("forces_unique", None) => Ok(Quantity::ForcesUnique),
            ("p_matrix", None) => Ok(Quantity::PMatrix),
            ("friction_bound", None) => Ok(Quantity::FrictionBound),
            ("mu_jam", _) => contact().map(Quantity::MuJam),
            ("mu_crit", _) => contact().map(Quantity::MuCrit),
            ("locking_angle", _) => contact().map(Quantity::LockingAngle),
            ("proposition", Some(o)) => Ok(Quantity::Proposition(o.to_string())),
            ("force", Some(o)) => {
                let mut names =
                    system.contacts.iter().map(|c| &c.name).chain(system.joints.iter().map(|j| &j.name));
                match names.any(|n| n == o) {
                    true => Ok(Quantity::Force(o.to_string())),
                    false => Err(format!("no contact or joint `{o}`")),
                }
            }
            _ => Err(format!(
                "no quantity `{text}`; expected solutions, existence, acceleration_unique, forces_unique, p_matrix, \
                 mu_jam, mu_crit, locking_angle, friction_bound, force:NAME, proposition:ID or a place such as \
                 /contacts/0/mu"
            )),
        }
    }

    /// Whether the propositions of the papers and their certificates, which take most of the time, can change
    /// what is shown.
    fn needs_propositions(&self, known: &SystemAnalysis) -> bool {
        use Quantity::*;
        let open = |of: fn(&Analysis) -> Verdict| known.analysis.as_ref().is_some_and(|a| a.may_gain(of(a)));
        match self {
            Existence => open(|a| a.existence),
            AccelerationUnique => open(|a| a.acceleration_unique),
            ForcesUnique => open(|a| a.forces_unique),
            Solutions => {
                open(|a| a.existence) || open(|a| a.acceleration_unique) || open(|a| a.forces_unique)
            }
            Pointer(_) => true,
            Proposition(_) | PMatrix | MuJam(_) | MuCrit(_) | LockingAngle(_) | FrictionBound | Force(_) => {
                false
            }
        }
    }

    /// What it is called beside a scale.
    fn label(&self, text: &str) -> String {
        match self {
            Quantity::LockingAngle(_) => "locking angle, deg".to_string(),
            Quantity::MuJam(_) => "jamming friction".to_string(),
            Quantity::MuCrit(_) => "critical friction".to_string(),
            Quantity::FrictionBound => "friction bound".to_string(),
            Quantity::Force(name) => format!("force of {name}"),
            _ => text.to_string(),
        }
    }

    fn at(&self, system: &System, result: &SystemAnalysis) -> Cell {
        let verdict =
            |v: Option<Verdict>| Cell::Word(verdict_word(v.unwrap_or(Verdict::Refuted)).to_string());
        let number = |x: Option<f64>| x.filter(|x| x.is_finite()).map_or(Cell::Absent, Cell::Number);
        let analysis = result.analysis.as_ref();
        let cone = |k: usize| result.contacts.get(k).and_then(|c| c.cone.as_ref());
        match self {
            Quantity::Solutions => Cell::Word(analysis.map_or("no solution", how_many).to_string()),
            Quantity::Existence => verdict(analysis.map(|a| a.existence)),
            Quantity::AccelerationUnique => verdict(analysis.map(|a| a.acceleration_unique)),
            Quantity::ForcesUnique => verdict(analysis.map(|a| a.forces_unique)),
            Quantity::PMatrix => match &result.lcp {
                Some(lcp) => verdict(Some(p_matrix(&lcp.matrix))),
                None => Cell::Absent,
            },
            Quantity::MuJam(k) => number(cone(*k).and_then(|c| c.mu_jam)),
            Quantity::MuCrit(k) => number(cone(*k).and_then(|c| c.mu_crit)),
            // No direction locks: the sector is empty.
            Quantity::LockingAngle(k) => {
                number(cone(*k).map(|c| c.locking_angle.unwrap_or(0.0).to_degrees()))
            }
            Quantity::FrictionBound => number(result.friction_bounds.first().map(|b| b.bound)),
            Quantity::Force(name) => number(normal_force(system, result, name)),
            Quantity::Proposition(id) => outcome_of(&result.assembly.dynamics, id)
                .map_or(Cell::Missing, |outcome| Cell::Word(outcome_word(outcome).to_string())),
            Quantity::Pointer(place) => match analysis_document(result).pointer(place) {
                Some(Value::Number(x)) => number(x.as_f64()),
                Some(Value::String(s)) => Cell::Word(s.clone()),
                Some(Value::Bool(b)) => Cell::Word(b.to_string()),
                Some(Value::Null) => Cell::Absent,
                Some(_) | None => Cell::Missing,
            },
        }
    }
}

/// How many solutions there are, as far as the verdicts say: a list alone proves nothing.
fn how_many(analysis: &Analysis) -> &'static str {
    use Verdict::{Proved, Refuted};
    let [existence, acceleration, forces] = analysis.verdicts();
    match (existence, acceleration, forces) {
        (Refuted, ..) => "no solution",
        (Proved, Proved, Proved) => "one solution",
        (Proved, _, Refuted) | (Proved, Refuted, _) => match solution_kind(analysis) {
            "infinite" if !analysis.is_partial() => "infinitely many solutions",
            _ => "several solutions",
        },
        _ => "unknown",
    }
}

/// The normal force of a contact or joint in the first solution.
fn normal_force(system: &System, result: &SystemAnalysis, name: &str) -> Option<f64> {
    let component = result.analysis.as_ref()?.solutions.components.first()?;
    let offsets = result.assembly.dynamics.offsets();
    if let Some(k) = system.joints.iter().position(|j| j.name == name) {
        return component.force.get(offsets[k]).copied();
    }
    let k = system.contacts.iter().position(|c| c.name == name)?;
    match result.assembly.contacts[k] {
        ContactState::Active(at) => component.force.get(offsets[at]).copied(),
        _ => Some(0.0),
    }
}

/// What stands at a point.
#[derive(Clone, Debug, PartialEq)]
enum Cell {
    Number(f64),
    Word(String),
    /// A quantity without a finite value.
    Absent,
    /// No such place in the document.
    Missing,
    /// The file poses no state here.
    NoState,
}

/// Runs the command; returns the exit code.
pub fn run(args: &MapArgs) -> u8 {
    match draw(args) {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(message) => {
            eprint!("{}", scene::ended(message));
            2
        }
    }
}

fn draw(args: &MapArgs) -> Result<bool, String> {
    let scene = scene::read(&args.file, &args.set)?;
    let sweeps: Vec<&Sweep> = std::iter::once(&args.x).chain(&args.y).collect();
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
    let quantity =
        Quantity::parse(&args.show, &scene.file.system).map_err(|e| format!("error: --show: {e}"))?;
    let format = match args.output.as_deref().map(extension) {
        None => None,
        Some(e) if ["svg", "png", "csv"].contains(&e.as_str()) => Some(e),
        Some(_) => return Err("error: -o: expected a name that ends in .svg, .png or .csv".into()),
    };
    let cells = evaluate(args, &scene, &quantity);
    let valid = cells.iter().filter(|c| **c != Cell::NoState).count();
    if valid > 0 && cells.iter().all(|c| matches!(c, Cell::NoState | Cell::Missing)) {
        return Err(format!("error: --show: the analysis has no value for {}", args.show));
    }
    if valid < cells.len() {
        eprintln!("note: {} of {} points have no such state", cells.len() - valid, cells.len());
    }
    if let (Some(path), Some(format)) = (&args.output, format) {
        if format == "csv" {
            let failed = |e| format!("error: {}: cannot be written: {e}", path.display());
            std::fs::write(path, csv(args, &cells)).map_err(failed)?;
        } else {
            write_picture(&picture(args, &scene, &quantity, &cells), path)?;
        }
    } else if !args.json {
        print(&csv(args, &cells));
    }
    if args.json {
        print(&format!("{:#}\n", json_document(args, &cells)));
    }
    Ok(valid > 0)
}

fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// All points, row by row from the least y; the work is shared out by rows and does not depend on who does
/// it.
fn evaluate(args: &MapArgs, scene: &Scene, quantity: &Quantity) -> Vec<Cell> {
    let columns = args.x.points;
    let rows = args.y.as_ref().map_or(1, |y| y.points);
    // A single row is shared out by its points.
    let (parts, length) = if rows > 1 { (rows, columns) } else { (columns, 1) };
    let style = ProgressStyle::with_template("{bar:40} {percent}% {eta}").ok();
    let progress = ProgressBar::new((rows * columns) as u64);
    if let Some(style) = style {
        progress.set_style(style);
    }
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done: Vec<(usize, Vec<Cell>)> = Vec::new();
        loop {
            let part = next.fetch_add(1, Ordering::Relaxed);
            if part >= parts {
                return done;
            }
            let cells = (part * length..(part + 1) * length)
                .map(|k| point(args, scene, quantity, k % columns, k / columns))
                .collect();
            done.push((part, cells));
            progress.inc(length as u64);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get()).min(parts);
    let mut all: Vec<(usize, Vec<Cell>)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(worker)).collect();
        let mut done = worker();
        for other in others {
            done.extend(other.join().unwrap_or_default());
        }
        done
    });
    progress.finish_and_clear();
    all.sort_by_key(|(part, _)| *part);
    all.into_iter().flat_map(|(_, cells)| cells).collect()
}

fn point(args: &MapArgs, scene: &Scene, quantity: &Quantity, column: usize, row: usize) -> Cell {
    let mut values = vec![(args.x.name.as_str(), format!("{:?}", args.x.value(column)))];
    if let Some(y) = &args.y {
        values.push((y.name.as_str(), format!("{:?}", y.value(row))));
    }
    let overrides: Vec<(&str, &str)> = args
        .set
        .iter()
        .map(|(n, v)| (n.as_str(), v.as_str()))
        .chain(values.iter().map(|(n, v)| (*n, v.as_str())))
        .collect();
    let Ok(file) = read_system(&scene.text, &overrides) else { return Cell::NoState };
    let (tolerances, options) = (Tolerances::default(), EnumerateOptions::default());
    match examine(&file.system, &file.state, &file.exact_state, &tolerances, &options) {
        Ok(mut result) => {
            if quantity.needs_propositions(&result) {
                add_findings(&mut result);
            }
            quantity.at(&file.system, &result)
        }
        Err(_) => Cell::NoState,
    }
}

fn csv(args: &MapArgs, cells: &[Cell]) -> String {
    let mut out = args.x.label().replace(',', "").replace(' ', "_");
    if let Some(y) = &args.y {
        out += &format!(",{}", y.label().replace(',', "").replace(' ', "_"));
    }
    out += &format!(",{}\n", args.show);
    for (k, cell) in cells.iter().enumerate() {
        out += &args.x.shown(args.x.value(k % args.x.points)).to_string();
        if let Some(y) = &args.y {
            out += &format!(",{}", y.shown(y.value(k / args.x.points)));
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
    let axis = |s: &Sweep| json!({"name": s.name, "values": (0..s.points).map(|k| s.value(k)).collect::<Vec<f64>>()});
    let value = |c: &Cell| match c {
        Cell::Number(x) => json!(x),
        Cell::Word(w) => json!(w),
        Cell::Absent | Cell::Missing | Cell::NoState => Value::Null,
    };
    let rows: Vec<Vec<Value>> =
        cells.chunks(args.x.points).map(|row| row.iter().map(value).collect()).collect();
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
        cells.iter().filter_map(|c| if let Cell::Word(w) = c { Some(w.as_str()) } else { None }).collect();
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
        let y = args.y.as_ref().map(|y| y.axis(true));
        return categories(&title, &args.x.axis(true), y.as_ref(), args.x.points, &marks, &names);
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
        Some(y) => heat(&title, &args.x.axis(true), &y.axis(true), args.x.points, &values),
        None => curve(&title, &args.x.axis(false), &values),
    }
}
