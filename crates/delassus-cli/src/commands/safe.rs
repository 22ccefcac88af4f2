//! `delassus safe`: the largest interval of a parameter on which the answer is certified to exist and be
//! unique.

use std::path::PathBuf;

use clap::Args;
use delassus::analysis::{Question, SafeMethod};
use delassus::formula::{Symbols, constant};
use delassus::lagrangian::{Names, Tolerances};
use delassus_report::{Style, safe_document, safe_text};
use delassus_scene::{SafeTextError, safe_interval_of};

use super::map_page::write_safe_page;
use crate::output::print;
use crate::run::is_page;
use crate::scene;

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
    /// Page to write: .html
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
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
    if args.output.as_ref().is_some_and(|path| !is_page(path)) {
        return Err("error: -o: expected a name that ends in .html\n".into());
    }
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
    if let Some(path) = &args.output {
        let text = safe_text(&Names::of(&scene.file.system), &question, &found, Style::plain());
        write_safe_page(path, &scene, &args.set, &safe_document(&question, &found), &text)?;
    }
    let text = if args.json {
        format!("{:#}\n", safe_document(&question, &found))
    } else {
        safe_text(&Names::of(&scene.file.system), &question, &found, Style::for_stdout())
    };
    Ok((text, certified))
}
