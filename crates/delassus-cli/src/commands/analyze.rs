//! `delassus analyze`: the contact problem at the state in a file.

use std::path::PathBuf;

use clap::Args;
use delassus::analysis::{AnalyzeError, SystemAnalysis, analyze_world, analyze_written};
use delassus::lagrangian::Tolerances;
use delassus::world::{World, WorldState};
use delassus_page::{Motion, Page};
use delassus_report::{Style, analysis_certificate, analysis_document, analysis_text};
use delassus_scene::{SystemFile, WorldFile};
use delassus_solve::lcp::Verdict;
use delassus_solve::modes::EnumerateOptions;

use super::certificate::write_certificate;
use crate::output::{CommandResult, json_text, print};
use crate::picture::{cones, write_picture};
use crate::run::{is_page, write_page};
use crate::scene;
use crate::scene::{AnyScene, Scene, WorldScene};

/// Arguments of `analyze`.
#[derive(Args)]
pub struct AnalyzeArgs {
    /// File with a [system] or a [world]
    pub file: PathBuf,
    /// Override a parameter: name=value
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = scene::parse_override)]
    pub set: Vec<(String, String)>,
    /// Gaps and joint errors below this are zero
    #[arg(long, default_value_t = Tolerances::default().position, value_parser = positive)]
    pub gap_tolerance: f64,
    /// Normal, slip and joint velocities below this are zero
    #[arg(long, default_value_t = Tolerances::default().velocity, value_parser = positive)]
    pub velocity_tolerance: f64,
    /// Largest number of mode combinations that is examined
    #[arg(long, default_value_t = EnumerateOptions::default().max_modes)]
    pub max_modes: u64,
    /// Draw the generalized friction cones of the contacts: .svg or .png
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Write a page here that shows the answer in any browser: .html
    #[arg(short = 'o', long = "output", value_name = "OUT")]
    pub output: Option<PathBuf>,
    /// Write what proves the verdicts here, for `delassus verify`: .json
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && x >= 0.0 => Ok(x),
        _ => Err("expected a number that is at least 0".into()),
    }
}

/// How to analyze and print.
#[derive(Default)]
pub struct Options {
    /// What counts as zero.
    pub tolerances: Tolerances,
    /// Limits of the enumeration.
    pub enumerate: EnumerateOptions,
    /// JSON instead of a report.
    pub json: bool,
    /// Where to draw the friction cones.
    pub plot: Option<PathBuf>,
    /// Where to write a page.
    pub page: Option<PathBuf>,
    /// Where to write a certificate.
    pub certificate: Option<PathBuf>,
}

/// Runs the command: 0, or 1 where no acceleration exists; 3 without the certificate that was asked for.
pub fn run(args: &AnalyzeArgs) -> CommandResult {
    let options = Options {
        tolerances: Tolerances { position: args.gap_tolerance, velocity: args.velocity_tolerance },
        enumerate: EnumerateOptions { max_modes: args.max_modes },
        json: args.json,
        plot: args.plot.clone(),
        page: args.output.clone(),
        certificate: args.certificate.clone(),
    };
    if let Some(path) = &args.output
        && !is_page(path)
    {
        return Err(format!("error: {}: expected a file that ends in .html", path.display()));
    }
    let (report, code) = match scene::read_any(&args.file, &args.set)? {
        AnyScene::System(scene) => report_scene(&scene, &options)?,
        AnyScene::World(world) => report_world(&world, &options)?,
    };
    print(&report);
    Ok(code)
}

/// The report of a scene, and the exit code.
pub fn report_scene(scene: &Scene, options: &Options) -> Result<(String, u8), String> {
    let SystemFile { system, state, exact_state, .. } = &scene.file;
    let result = analyze_written(system, state, exact_state, &options.tolerances, &options.enumerate)
        .map_err(|e| explain(scene, e))?;
    report(&result, None, options)
}

/// The report of a world at its state, and the exit code.
fn report_world(scene: &WorldScene, options: &Options) -> Result<(String, u8), String> {
    let WorldFile { world, state, .. } = &scene.file;
    let result = analyze_world(world, state, &options.tolerances, &options.enumerate)
        .map_err(|e| format!("error: {}: {e}\n", scene.name))?;
    report(&result, Some((world, state)), options)
}

fn report(
    result: &SystemAnalysis,
    world: Option<(&World, &WorldState)>,
    options: &Options,
) -> Result<(String, u8), String> {
    if let Some(path) = &options.page {
        write_page(path, &page(result, world))?;
    }
    if let Some(path) = &options.plot {
        write_picture(&cones(result), path)?;
    }
    // Where an impact comes first, no finite force is an answer.
    let exists = result.analysis.as_ref().map_or(Verdict::Refuted, |a| a.existence);
    let text = if options.json {
        json_text(&analysis_document(result))
    } else {
        analysis_text(result, Style::for_stdout())
    };
    let mut code = u8::from(exists == Verdict::Refuted);
    if let Some(path) = &options.certificate {
        let (certificate, missing) = analysis_certificate(result).unzip();
        let written = write_certificate(path, certificate)?;
        if let (None, Some(missing)) = (written, missing.filter(|missing| !missing.is_empty())) {
            eprintln!("the certificate does not prove: {}", missing.join(", "));
        }
        code = written.unwrap_or(code);
    }
    Ok((text, code))
}

/// The page of an analysis; bodies of a world stand beside it.
fn page(result: &SystemAnalysis, world: Option<(&World, &WorldState)>) -> Page {
    let title = if result.names.title.is_empty() { "analysis" } else { &result.names.title };
    let mut page = Page::new(title);
    page.put("analysis", analysis_document(result));
    if let Some((world, state)) = world {
        let motion = Motion::of_series(vec![state.t], vec![]).with_bodies(world, vec![state.clone()]);
        page.add_motion(title, &motion);
    }
    page
}

/// The message of an error, at its place in the file.
pub fn explain(scene: &Scene, error: AnalyzeError) -> String {
    scene::ended(scene.file.explain(error, &scene.text).render(&scene.name, &scene.text))
}
