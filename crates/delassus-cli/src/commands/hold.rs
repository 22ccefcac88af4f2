//! `delassus hold`: the largest force at a point of a body that a world at rest resists in every direction.

use std::path::PathBuf;

use clap::Args;
use delassus::analysis::{WorldAtRest, resistance, resistance_proof};
use delassus::glam::DVec3;
use delassus::lagrangian::Tolerances;
use delassus_report::{Style, hold_certificate, hold_document, hold_text, holds};

use super::certificate::write_certificate;
use super::stand::{moving_body, point, read_world};
use crate::output::{CommandResult, json_text, print};
use crate::scene;

/// Arguments of `hold`.
#[derive(Args)]
pub struct HoldArgs {
    /// File with a [world]
    pub file: PathBuf,
    /// The body that forces act on
    #[arg(long, value_name = "NAME")]
    pub body: String,
    /// Where, world axes [default: its centre of mass]
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true)]
    pub point: Option<DVec3>,
    /// The size of force that is asked for, N
    #[arg(long, value_name = "N", value_parser = positive, allow_hyphen_values = true)]
    pub force: Option<f64>,
    /// Override a parameter: name=value
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = scene::parse_override)]
    pub set: Vec<(String, String)>,
    /// Write what proves the answer here, for `delassus verify`: .json
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && x > 0.0 => Ok(x),
        _ => Err(format!("expected a positive number of newtons, found \"{text}\"")),
    }
}

/// Runs the command: 0 where the force asked for, or any, is resisted in every
/// direction, 1 where not, 3 where neither is proved, or no certificate.
pub fn run(args: &HoldArgs) -> CommandResult {
    let scene = read_world(&args.file, &args.set)?;
    let (world, state) = (&scene.file.world, &scene.file.state);
    let body = moving_body(world, &args.body, &scene.name)?;
    let at_rest = WorldAtRest::new(world, state, &Tolerances::default())
        .map_err(|e| format!("error: {}: {e}\n", scene.name))?;
    let place = args.point.unwrap_or(state.bodies[body].pose.position);
    let found = resistance(&at_rest, body, place)
        .ok_or_else(|| format!("error: {}: the body `{}` is fixed\n", scene.name, args.body))?;
    let mut code = match args.force.map(|force| holds(&found, force)) {
        Some(Some(true)) => 0,
        Some(Some(false)) => 1,
        Some(None) => 3,
        None if found.resists > 0.0 => 0,
        None if found.fails.is_some() => 1,
        None => 3,
    };
    let text = if args.json {
        json_text(&hold_document(world, body, place, &found, args.force))
    } else {
        hold_text(world, body, place, &found, args.force, Style::for_stdout())
    };
    if let Some(path) = &args.certificate {
        let proof = resistance_proof(&at_rest, body, place, &found);
        let certificate = proof.and_then(|proof| hold_certificate(&world.name, &at_rest, &proof));
        code = write_certificate(path, certificate)?.unwrap_or(code);
    }
    print(&text);
    Ok(code)
}
