//! `delassus safe`: where the answer is certified to exist and be unique, over an interval of one parameter
//! or a box of several.

use std::path::{Path, PathBuf};

use clap::Args;
use delassus::analysis::{Paving, PavingQuestion, Question, SafeInterval, SafeMethod};
use delassus::formula::{Symbols, constant};
use delassus::lagrangian::{Names, Tolerances};
use delassus_report::{
    Axis, Style, paving_certificate, paving_document, paving_table, paving_text, safe_document, safe_text,
};
use delassus_scene::{SafeTextError, pave_text, paving_proof_of, safe_interval_of};
use serde_json::Value;

use super::certificate::write_certificate;
use super::map_page::write_safe_page;
use super::paving_page::write_paving_page;
use crate::output::{CommandResult, json_text, print};
use crate::picture::{Axis as DrawnAxis, check_picture_name, draw_paving, write_picture};
use crate::run::is_page;
use crate::scene;
use crate::scene::Scene;

/// Arguments of `safe`.
#[derive(Args)]
pub struct SafeArgs {
    /// File with a [system]
    pub file: PathBuf,
    /// The parameter whose interval is wanted; or, several times, name=lo:hi: the box that is divided into
    /// cells
    #[arg(long, value_name = "NAME[=LO:HI]", required = true, value_parser = over)]
    pub over: Vec<Over>,
    /// Where to look: lo:hi [default: from 0 to ten times the present value, at least 10]
    #[arg(long, value_name = "LO:HI", value_parser = range, allow_hyphen_values = true)]
    pub within: Option<[f64; 2]>,
    /// Another parameter, every value of which is meant: name=lo:hi
    #[arg(long, value_name = "NAME=LO:HI", value_parser = named_range)]
    pub for_all: Vec<(String, [f64; 2])>,
    /// Every direction of sliding is meant, not only that of the state
    #[arg(long)]
    pub any_slip: bool,
    /// Every load is meant, not only that of the file; always so for an interval
    #[arg(long)]
    pub any_load: bool,
    /// Coordinates whose position is not written with the parameters follow from the joints, over the whole
    /// cycle
    #[arg(long)]
    pub cycle: bool,
    /// How many boxes may be examined: more leave less undecided
    #[arg(long, value_name = "N", default_value_t = 20_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub boxes: u32,
    /// Page to write: .html; of cells also a map or a table: .svg, .png or .csv
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Override a parameter: name=value
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = scene::parse_override)]
    pub set: Vec<(String, String)>,
    /// Write what proves the interval or the cells here, for `delassus verify`: .json
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// A parameter, alone or with its range.
#[derive(Clone, Debug)]
pub enum Over {
    /// Alone.
    Name(String),
    /// With the two ends of its range.
    Range(Axis),
}

fn over(text: &str) -> Result<Over, String> {
    if !text.contains('=') {
        return Ok(Over::Name(text.trim().to_owned()));
    }
    let (name, values) = scene::parse_override(text)?;
    if values.split(':').count() != 2 {
        return Err("expected name=lo:hi, for example mu=0:1".into());
    }
    // The two ends are an axis of two points.
    Ok(Over::Range(Axis::parse(&name, &format!("{values}:2"))?))
}

/// `lo:hi`, each a number or an expression, with a unit or without.
pub fn range(text: &str) -> Result<[f64; 2], String> {
    let (lo, hi) = text.split_once(':').ok_or("expected lo:hi, for example 5deg:85deg")?;
    let value = |text: &str| constant(text, &Symbols::default()).map_err(|e| format!("`{text}`: {e}"));
    Ok([value(lo)?, value(hi)?])
}

fn named_range(text: &str) -> Result<(String, [f64; 2]), String> {
    let (name, values) = scene::parse_override(text)?;
    Ok((name, range(&values)?))
}

/// Runs the command: 0 where an interval is certified, 1 where none is, 3 where there is no certificate that
/// was asked for.
pub fn run(args: &SafeArgs) -> CommandResult {
    let ranges = args.over.iter().map(|over| match over {
        Over::Range(axis) => Ok(axis.clone()),
        Over::Name(name) => Err(name),
    });
    let (text, code) = match (ranges.collect::<Result<Vec<Axis>, &String>>(), args.over.as_slice()) {
        (Ok(axes), _) if args.within.is_none() => paved(args, &axes)?,
        (Ok(_), _) => return Err("error: --within: the ranges are given with --over name=lo:hi\n".into()),
        (_, [Over::Name(name)]) => interval(args, name)?,
        (Err(name), _) => {
            return Err(format!("error: --over {name}: expected {name}=lo:hi where several are given\n"));
        }
    };
    print(&text);
    Ok(code)
}

fn failed(error: SafeTextError, scene: &Scene) -> String {
    match error {
        SafeTextError::File(e) => scene::ended(e.render(&scene.name, &scene.text)),
        e => format!("error: {}: {e}\n", scene.name),
    }
}

fn interval(args: &SafeArgs, over: &str) -> Result<(String, u8), String> {
    if args.cycle {
        return Err(format!("error: --cycle: expected a range to divide, --over {over}=lo:hi\n"));
    }
    if args.output.as_ref().is_some_and(|path| !is_page(path)) {
        return Err(format!(
            "error: -o: expected a name that ends in .html, or a range to divide, --over {over}=lo:hi\n"
        ));
    }
    let scene = scene::read(&args.file, &args.set)?;
    let overrides: Vec<(&str, &str)> = args.set.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let for_all: Vec<(&str, [f64; 2])> = args.for_all.iter().map(|(n, r)| (n.as_str(), *r)).collect();
    let question = Question {
        over,
        within: args.within,
        for_all: &for_all,
        any_slip: args.any_slip,
        tolerances: Tolerances::default(),
    };
    let found = safe_interval_of(&scene.text, &overrides, &question).map_err(|e| failed(e, &scene))?;
    let certified = found.interval.is_some_and(|i| i.method == SafeMethod::IntervalArithmetic);
    if let Some(path) = &args.output {
        let text = safe_text(&Names::of(&scene.file.system), &question, &found, Style::plain());
        write_safe_page(path, &scene, &args.set, &safe_document(&question, &found), &text)?;
    }
    let text = if args.json {
        json_text(&safe_document(&question, &found))
    } else {
        safe_text(&Names::of(&scene.file.system), &question, &found, Style::for_stdout())
    };
    let code = u8::from(!certified);
    let Some(path) = &args.certificate else { return Ok((text, code)) };
    let certificate = match found.interval.filter(|_| certified) {
        Some(SafeInterval { lo, hi, .. }) => interval_certificate(args, &scene, &question, [lo, hi])?,
        None => None,
    };
    Ok((text, write_certificate(path, certificate)?.unwrap_or(code)))
}

/// What proves a certified interval: the interval divided into cells, where all of these are proved.
fn interval_certificate(
    args: &SafeArgs,
    scene: &Scene,
    question: &Question<'_>,
    [lo, hi]: [f64; 2],
) -> Result<Option<Value>, String> {
    let overrides: Vec<(&str, &str)> = args.set.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let over = [(question.over, [lo, hi])];
    let question = PavingQuestion {
        over: &over,
        for_all: question.for_all,
        any_slip: question.any_slip,
        any_load: true,
        cycle: false,
        boxes: args.boxes as usize,
        tolerances: question.tolerances,
    };
    let found = pave_text(&scene.text, &overrides, &question).map_err(|e| failed(e, scene))?;
    if found.certified.as_deref() != Some(&[[lo, hi]]) {
        return Ok(None);
    }
    let (family, proof) =
        paving_proof_of(&scene.text, &overrides, &question, &found).map_err(|e| failed(e, scene))?;
    Ok(paving_certificate(&family, &question, &found, &proof))
}

fn paved(args: &SafeArgs, axes: &[Axis]) -> Result<(String, u8), String> {
    let scene = scene::read(&args.file, &args.set)?;
    let output = args.output.as_deref();
    let table = output.is_some_and(|path| path.extension().is_some_and(|e| e == "csv"));
    if let Some(path) = output.filter(|path| !table && !is_page(path)) {
        check_picture_name(path)
            .map_err(|_| "error: -o: expected a name that ends in .html, .svg, .png or .csv\n")?;
    }
    let overrides: Vec<(&str, &str)> = args.set.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let for_all: Vec<(&str, [f64; 2])> = args.for_all.iter().map(|(n, r)| (n.as_str(), *r)).collect();
    let over: Vec<(&str, [f64; 2])> =
        axes.iter().map(|axis| (axis.name.as_str(), [axis.values[0], axis.values[1]])).collect();
    let question = PavingQuestion {
        over: &over,
        for_all: &for_all,
        any_slip: args.any_slip,
        any_load: args.any_load,
        cycle: args.cycle,
        boxes: args.boxes as usize,
        tolerances: Tolerances::default(),
    };
    let found = pave_text(&scene.text, &overrides, &question).map_err(|e| failed(e, &scene))?;
    let report = |style: Style| paving_text(&Names::of(&scene.file.system), &question, &found, axes, style);
    if let Some(path) = output.filter(|path| is_page(path)) {
        write_paving_page(path, &scene, &args.set, axes, &found, &report(Style::plain()))?;
    } else if let Some(path) = output {
        write_paving(path, table, &scene, axes, &found)?;
    }
    let text =
        if args.json { json_text(&paving_document(&question, &found)) } else { report(Style::for_stdout()) };
    let code = u8::from(found.certified.is_none());
    let Some(path) = &args.certificate else { return Ok((text, code)) };
    let (family, proof) =
        paving_proof_of(&scene.text, &overrides, &question, &found).map_err(|e| failed(e, &scene))?;
    let certificate = paving_certificate(&family, &question, &found, &proof);
    Ok((text, write_certificate(path, certificate)?.unwrap_or(code)))
}

fn write_paving(
    path: &Path,
    table: bool,
    scene: &Scene,
    axes: &[Axis],
    found: &Paving,
) -> Result<(), String> {
    if table {
        let failed = |e| format!("error: {}: cannot be written: {e}\n", path.display());
        return std::fs::write(path, paving_table(found)).map_err(failed);
    }
    let name = &scene.file.system.name;
    let title = format!("{}: where the answer is unique", if name.is_empty() { "system" } else { name });
    let shown: Vec<DrawnAxis> = axes.iter().map(|axis| DrawnAxis::of(axis, false)).collect();
    let factors: Vec<f64> = axes.iter().map(|axis| axis.unit.map_or(1.0, |(_, factor)| factor)).collect();
    write_picture(&draw_paving(&title, &shown, &factors, found), path)
}
