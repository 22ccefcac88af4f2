//! `delassus safe`: the largest interval of a parameter on which the answer is certified to exist and be
//! unique.

use std::path::PathBuf;

use clap::Args;
use delassus::analysis::{End, Question, Safe, SafeInterval, SafeMethod};
use delassus::formula::{Symbols, constant};
use delassus::lagrangian::{Names, Tolerances};
use delassus_report::{Style, number, title};
use delassus_scene::{SafeTextError, safe_interval_of};
use serde_json::{Map, Value, json};

use crate::output::print;
use crate::scene;
use crate::scene::Scene;

/// Arguments of `safe`.
#[derive(Args)]
pub struct SafeArgs {
    /// File with a [system]
    pub file: PathBuf,
    /// The parameter whose interval is wanted
    #[arg(long, value_name = "NAME")]
    pub over: String,
    /// Where to look: lo:hi [default: from 0 to ten times the present value, at least 10]
    #[arg(long, value_name = "LO:HI", value_parser = range, allow_hyphen_values = true)]
    pub within: Option<[f64; 2]>,
    /// Another parameter, every value of which is meant: name=lo:hi
    #[arg(long, value_name = "NAME=LO:HI", value_parser = named_range)]
    pub for_all: Vec<(String, [f64; 2])>,
    /// Every direction of sliding is meant, not only that of the state
    #[arg(long)]
    pub any_slip: bool,
    /// Override a parameter: name=value
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = scene::parse_override)]
    pub set: Vec<(String, String)>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
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

/// Runs the command; returns the exit code: 0 where an interval is certified.
pub fn run(args: &SafeArgs) -> u8 {
    match answer(args) {
        Ok((text, certified)) => {
            print(&text);
            u8::from(!certified)
        }
        Err(message) => {
            eprint!("{message}");
            2
        }
    }
}

fn answer(args: &SafeArgs) -> Result<(String, bool), String> {
    let scene = scene::read(&args.file, &args.set)?;
    let overrides: Vec<(&str, &str)> = args.set.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let for_all: Vec<(&str, [f64; 2])> = args.for_all.iter().map(|(n, r)| (n.as_str(), *r)).collect();
    let question = Question {
        over: &args.over,
        within: args.within,
        for_all: &for_all,
        any_slip: args.any_slip,
        tolerances: Tolerances::default(),
    };
    let found = safe_interval_of(&scene.text, &overrides, &question).map_err(|e| match e {
        SafeTextError::File(e) => scene::ended(e.render(&scene.name, &scene.text)),
        e => format!("error: {}: {e}\n", scene.name),
    })?;
    let certified = found.interval.is_some_and(|i| i.method == SafeMethod::IntervalArithmetic);
    let text =
        if args.json { format!("{:#}\n", document(args, &found)) } else { words(args, &scene, &found) };
    Ok((text, certified))
}

fn contains(interval: &SafeInterval, x: f64) -> bool {
    interval.lo <= x && x <= interval.hi
}

fn document(args: &SafeArgs, found: &Safe) -> Value {
    let interval = found.interval;
    let end = |e: End| match e {
        End::Range => "range",
        End::Boundary => "boundary",
    };
    let for_all: Map<String, Value> = args.for_all.iter().map(|(n, r)| (n.clone(), json!(r))).collect();
    json!({
        "parameter": args.over,
        "present": found.present,
        "within": found.within,
        "for_all": for_all,
        "any_slip": args.any_slip,
        "certified": interval.is_some_and(|i| i.method == SafeMethod::IntervalArithmetic),
        "method": interval.map(|i| match i.method {
            SafeMethod::IntervalArithmetic => "interval-arithmetic",
            SafeMethod::Sampled => "sampled",
        }),
        "interval": interval.map(|i| [i.lo, i.hi]),
        "ends": interval.map(|i| i.ends.map(end)),
        "contains_present": interval.is_some_and(|i| contains(&i, found.present)),
        "boxes": found.boxes,
        "given_up": found.given_up,
    })
}

/// A number with enough digits that the last step shows, rounded towards the inside.
fn inward(x: f64, up: bool) -> String {
    if x == 0.0 {
        return "0".into();
    }
    let unit = 10f64.powi(x.abs().log10().floor() as i32 - 7);
    let scaled = x / unit;
    let whole = if up { scaled.ceil() } else { scaled.floor() };
    let digits = (7 - x.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{:.digits$}", whole * unit);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn given_up(found: &Safe) -> &'static str {
    if found.given_up {
        "  some steps took too many boxes and were given up: there may be more\n"
    } else {
        ""
    }
}

fn words(args: &SafeArgs, scene: &Scene, found: &Safe) -> String {
    let style = Style::for_stdout();
    let name = &args.over;
    let mut out = format!("{}\n", style.bold(&title(&Names::of(&scene.file.system))));
    let [from, to] = found.within.map(number);
    let Some(interval) = found.interval else {
        let verdict = style.bad("NOTHING CERTIFIED");
        out += &format!("{verdict}  no value of {name} from {from} to {to} is known to be safe\n");
        return out + given_up(found);
    };
    let (lo, hi) = (inward(interval.lo, true), inward(interval.hi, false));
    match interval.method {
        SafeMethod::IntervalArithmetic => {
            out += &format!("{}  {lo} ≤ {name} ≤ {hi}\n", style.good("CERTIFIED"));
            out += "  exactly one acceleration and one set of forces, for every load: proved by interval arithmetic\n";
        }
        SafeMethod::Sampled => {
            out += &format!("{}  {lo} ≤ {name} ≤ {hi}\n", style.caution("SAMPLED"));
            out +=
                "  exactly one acceleration at each value that was tried; nothing is proved between them\n";
        }
    }
    for (other, [a, b]) in &args.for_all {
        out += &format!("  for all {other} from {} to {}\n", number(*a), number(*b));
    }
    if args.any_slip {
        out += "  for all directions of sliding\n";
    }
    for (end, value) in interval.ends.iter().zip([&lo, &hi]) {
        if *end == End::Range {
            out += &format!("  {value} is the end of the range that was looked at\n");
        }
    }
    out += given_up(found);
    if !contains(&interval, found.present) {
        let present = number(found.present);
        out +=
            &format!("  {}\n", style.caution(&format!("the present value {name} = {present} lies outside")));
    }
    out
}
