//! Whether a world at rest stands, and which forces it resists.

use std::sync::Arc;

use delassus::analysis::{Margin, WorldAtRest, margin, resistance, resistance_proof, stand};
use delassus::glam::DVec3;
use delassus::world::World;
use delassus_report::{
    AskedMargin, Style, hold_certificate, hold_document, hold_text, stand_certificate, stand_document,
    stand_text,
};
use delassus_scene::WorldFile;
use delassus_verify::verify;
use pyo3::prelude::*;
use serde_json::Value;

use crate::error::{scene_message, unknown_name, value_error};
use crate::options::analysis_options;
use crate::value::to_python;
use crate::wait::{Shared, waiting};

/// A document, its report in words, and the certificate where there is one.
pub type Reported = (Py<PyAny>, String, Option<Py<PyAny>>);

/// What [`stand_of`] is asked for: margins of friction, of loads by body, of tilts; tolerances of gaps and
/// velocities.
#[derive(FromPyObject)]
pub struct Asked {
    friction: bool,
    load: Vec<String>,
    tilt: Vec<[f64; 3]>,
    tolerances: Option<(f64, f64)>,
}

/// The body of this name, which can move.
fn moving_body(world: &World, name: &str) -> PyResult<usize> {
    match world.bodies.iter().position(|body| body.name == name) {
        Some(body) if !world.bodies[body].fixed => Ok(body),
        Some(_) => Err(value_error(format!("the body `{name}` is fixed, expected one that can move"))),
        None => Err(unknown_name(format!("no body `{name}`"))),
    }
}

fn finite(what: &str, all: [f64; 3]) -> PyResult<DVec3> {
    if all.iter().all(|x| x.is_finite()) {
        Ok(DVec3::from_array(all))
    } else {
        Err(value_error(format!("{what}: expected three finite numbers")))
    }
}

fn with_certificate(
    py: Python<'_>,
    (document, text, certificate): (Value, String, Option<Value>),
) -> PyResult<Reported> {
    let checked = certificate.filter(|own| verify(own).is_ok());
    let certificate = checked.map(|own| to_python(py, &own)).transpose()?;
    Ok((to_python(py, &document)?.unbind(), text, certificate.map(Bound::unbind)))
}

/// Whether a world stands, as `delassus stand` says.
pub fn stand_of(py: Python<'_>, file: &Arc<WorldFile>, name: &str, asked: Asked) -> PyResult<Reported> {
    let (tolerances, _) = analysis_options(asked.tolerances, None)?;
    let mut margins = Vec::new();
    if asked.friction {
        margins.push(Margin::Friction);
    }
    for name in &asked.load {
        margins.push(Margin::Load { body: moving_body(&file.world, name)? });
    }
    for direction in &asked.tilt {
        let direction = finite("tilt", *direction)?;
        if direction.cross(file.world.gravity) == DVec3::ZERO {
            return Err(value_error("tilt: expected a direction across gravity, and gravity"));
        }
        margins.push(Margin::Tilt { direction });
    }
    let file = file.clone();
    let found = waiting(py, &Shared::default(), None, move || {
        let world = &file.world;
        let at_rest = WorldAtRest::new(world, &file.state, &tolerances)?;
        let mut all = Vec::new();
        for what in margins {
            let unit = if what == Margin::Friction { at_rest.common_friction() } else { None };
            let bracket = margin(&at_rest, what).unwrap_or_default();
            all.push(AskedMargin { margin: what, bracket, unit });
        }
        let standing = stand(&at_rest, &tolerances);
        let certificate = stand_certificate(world, &at_rest, &standing, &all);
        let text = stand_text(world, &standing, &all, Style::plain());
        Ok::<_, delassus::analysis::StandError>((stand_document(world, &standing, &all), text, certificate))
    })?;
    with_certificate(py, found.map_err(|error| scene_message(name, error))?)
}

/// Which forces on a body a world resists, as `delassus hold` says.
pub fn hold_of(
    py: Python<'_>,
    file: &Arc<WorldFile>,
    name: &str,
    body: &str,
    point: Option<[f64; 3]>,
    force: Option<f64>,
) -> PyResult<Reported> {
    let body = moving_body(&file.world, body)?;
    let point = point.map(|point| finite("point", point)).transpose()?;
    if force.is_some_and(|force| !(force.is_finite() && force > 0.0)) {
        return Err(value_error("force: expected a positive number of newtons"));
    }
    let (tolerances, _) = analysis_options(None, None)?;
    let file = file.clone();
    let found = waiting(py, &Shared::default(), None, move || {
        let world = &file.world;
        let at_rest = WorldAtRest::new(world, &file.state, &tolerances)?;
        let place = point.unwrap_or(file.state.bodies[body].pose.position);
        let found = resistance(&at_rest, body, place);
        Ok::<_, delassus::analysis::StandError>(found.map(|found| {
            let proof = resistance_proof(&at_rest, body, place, &found);
            let certificate = proof.and_then(|proof| hold_certificate(&world.name, &at_rest, &proof));
            let text = hold_text(world, body, place, &found, force, Style::plain());
            (hold_document(world, body, place, &found, force), text, certificate)
        }))
    })?;
    let found = found.map_err(|error| scene_message(name, error))?;
    with_certificate(py, found.ok_or_else(|| value_error("expected a body that can move"))?)
}
