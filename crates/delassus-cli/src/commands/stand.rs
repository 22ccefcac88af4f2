//! `delassus stand`: does a world at rest stand, and how much is left before it falls?

use std::path::{Path, PathBuf};

use clap::Args;
use delassus::analysis::{Margin, Stands, WorldAtRest, margin, stand};
use delassus::glam::DVec3;
use delassus::lagrangian::Tolerances;
use delassus::world::World;
use delassus_report::{AskedMargin, Style, stand_certificate, stand_document, stand_text};

use super::certificate::write_certificate;
use crate::arguments::tolerance;
use crate::output::{CommandResult, json_text, print};
use crate::picture::{draw_standing, write_picture};
use crate::scene;
use crate::scene::{AnyScene, WorldScene};

/// Arguments of `stand`.
#[derive(Args)]
pub struct StandArgs {
    /// File with a [world]
    pub file: PathBuf,
    /// Override a parameter: name=value
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = scene::parse_override)]
    pub set: Vec<(String, String)>,
    /// Bracket the least friction with which it stands: a common factor on all coefficients
    #[arg(long)]
    pub friction: bool,
    /// Bracket the largest factor on the force given on a body or, where it has none, on its weight
    #[arg(long, value_name = "BODY")]
    pub load: Vec<String>,
    /// Bracket the largest tilt of the ground towards a direction: x, -x, y, -y, z, -z or X,Y,Z
    #[arg(long, value_name = "DIRECTION", value_parser = direction, allow_hyphen_values = true)]
    pub tilt: Vec<DVec3>,
    /// Gaps and joint errors below this are zero
    #[arg(long, default_value_t = Tolerances::default().position, value_parser = tolerance)]
    pub gap_tolerance: f64,
    /// Velocities below this are zero
    #[arg(long, default_value_t = Tolerances::default().velocity, value_parser = tolerance)]
    pub velocity_tolerance: f64,
    /// Draw bodies by how much of their friction they use, with forces or the collapse: .svg or .png
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Write what proves the answer here, for `delassus verify`: .json
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// A direction: an axis, or three numbers.
pub fn direction(text: &str) -> Result<DVec3, String> {
    let (sign, name) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    match name {
        "x" => return Ok(sign * DVec3::X),
        "y" => return Ok(sign * DVec3::Y),
        "z" => return Ok(sign * DVec3::Z),
        _ => {}
    }
    let found = point(text)?;
    if found == DVec3::ZERO {
        Err("expected a direction, found a vector of length 0".into())
    } else {
        Ok(found)
    }
}

/// Three finite numbers.
pub fn point(text: &str) -> Result<DVec3, String> {
    let numbers: Vec<f64> = text.split(',').filter_map(|x| x.trim().parse().ok()).collect();
    match (numbers.as_slice(), text.split(',').count()) {
        ([x, y, z], 3) if numbers.iter().all(|x| x.is_finite()) => Ok(DVec3::new(*x, *y, *z)),
        _ => Err(format!("expected three numbers, for example 0.1,0,0.5, found \"{text}\"")),
    }
}

/// Reads a world; the error is a message ready for stderr.
pub fn read_world(file: &Path, set: &[(String, String)]) -> Result<Box<WorldScene>, String> {
    match scene::read_any(file, set)? {
        AnyScene::World(scene) => Ok(scene),
        AnyScene::System(scene) => {
            Err(format!("error: {}: expected a [world], found a [system]\n", scene.name))
        }
    }
}

/// The number of a body that moves; the error is a message ready for stderr.
pub fn moving_body(world: &World, name: &str, file: &str) -> Result<usize, String> {
    match world.bodies.iter().position(|body| body.name == name) {
        Some(body) if !world.bodies[body].fixed => Ok(body),
        Some(_) => Err(format!("error: {file}: the body `{name}` is fixed, expected one that can move\n")),
        None => {
            let all: Vec<&str> = world.bodies.iter().filter(|b| !b.fixed).map(|b| b.name.as_str()).collect();
            let more = if all.len() > 12 { ", …" } else { "" };
            let some = all[..all.len().min(12)].join(", ");
            Err(format!("error: {file}: no body `{name}`; expected one of: {some}{more}\n"))
        }
    }
}

/// Runs the command: 0 surely or possibly, 1 no, 3 undecided, or no certificate.
pub fn run(args: &StandArgs) -> CommandResult {
    let scene = read_world(&args.file, &args.set)?;
    let world = &scene.file.world;
    let tolerances = Tolerances { position: args.gap_tolerance, velocity: args.velocity_tolerance };
    let mut asked = Vec::new();
    if args.friction {
        asked.push(Margin::Friction);
    }
    for name in &args.load {
        asked.push(Margin::Load { body: moving_body(world, name, &scene.name)? });
    }
    asked.extend(args.tilt.iter().map(|direction| Margin::Tilt { direction: *direction }));
    let at_rest = WorldAtRest::new(world, &scene.file.state, &tolerances)
        .map_err(|e| format!("error: {}: {e}\n", scene.name))?;
    let mut margins = Vec::new();
    for what in asked {
        let bracket = margin(&at_rest, what).ok_or_else(|| {
            format!("error: {}: expected a direction across gravity, and gravity, for --tilt\n", scene.name)
        })?;
        let unit = if what == Margin::Friction { at_rest.common_friction() } else { None };
        margins.push(AskedMargin { margin: what, bracket, unit });
    }
    let standing = stand(&at_rest, &tolerances);
    if let Some(path) = &args.plot {
        write_picture(&draw_standing(world, &scene.file.state, &standing), path)?;
    }
    let text = if args.json {
        json_text(&stand_document(world, &standing, &margins))
    } else {
        stand_text(world, &standing, &margins, Style::for_stdout())
    };
    let mut code = match standing.stands {
        Stands::Surely | Stands::Possibly => 0,
        Stands::No => 1,
        Stands::Undecided => 3,
    };
    if let Some(path) = &args.certificate {
        let certificate = stand_certificate(world, &at_rest, &standing, &margins);
        code = write_certificate(path, certificate)?.unwrap_or(code);
    }
    print(&text);
    Ok(code)
}
