//! Worlds at rest: whether they stand, what is left before they fall, and what they hold.

use std::sync::Arc;

use delassus::analysis::{Margin, WorldAtRest, margin, resistance, resistance_proof, stand};
use delassus::formula::nearest;
use delassus::simulation::SimulationError;
use delassus::world::World;
use delassus_report::{
    AskedMargin, Style, hold_certificate, hold_document, hold_text, stand_certificate, stand_document,
    stand_text,
};
use delassus_scene::WorldFile;
use pyo3::prelude::*;
use serde_json::Value;

use crate::array::vec3;
use crate::error::{scene_message, simulation_error, value_error};
use crate::options::tolerances_of;
use crate::value::{certificate_of, to_python};
use crate::wait::{Shared, waiting};

/// A document, a report, and the certificate where one was asked for and proves something.
pub type Answer = (Py<PyAny>, String, Option<Py<PyAny>>);
type Found = (Value, String, Option<Value>);

/// What is asked of a world at rest: the arguments of `World.stand`.
#[derive(FromPyObject)]
pub struct StandRequest {
    friction: bool,
    load: Vec<String>,
    tilt: Vec<[f64; 3]>,
    tolerances: Option<(f64, f64)>,
    certificate: bool,
}

/// The arguments of `World.hold`.
#[derive(FromPyObject)]
pub struct HoldRequest {
    body: String,
    point: Option<[f64; 3]>,
    force: Option<f64>,
    tolerances: Option<(f64, f64)>,
    certificate: bool,
}

/// The number of a body that moves.
fn moving_body(world: &World, name: &str) -> PyResult<usize> {
    let names = || world.bodies.iter().map(|body| body.name.as_str());
    match names().position(|other| other == name) {
        Some(body) if !world.bodies[body].fixed => Ok(body),
        Some(_) => Err(value_error(format!("the body `{name}` is fixed, expected one that can move"))),
        None => Err(simulation_error(&SimulationError::UnknownBody {
            name: name.chars().take(80).collect(),
            suggestion: nearest(name, names()),
        })),
    }
}

fn answered(py: Python<'_>, name: &str, found: Result<Found, String>) -> PyResult<Answer> {
    let (document, text, certificate) = found.map_err(|message| scene_message(name, message))?;
    let certificate = certificate.map(|c| to_python(py, &c).map(Bound::unbind)).transpose()?;
    Ok((to_python(py, &document)?.unbind(), text, certificate))
}

/// The document and the report of `delassus stand`.
pub fn stands(py: Python<'_>, file: &Arc<WorldFile>, name: &str, asked: StandRequest) -> PyResult<Answer> {
    let mut margins = Vec::new();
    if asked.friction {
        margins.push(Margin::Friction);
    }
    for body in &asked.load {
        margins.push(Margin::Load { body: moving_body(&file.world, body)? });
    }
    for direction in &asked.tilt {
        let direction = vec3(*direction);
        if !(direction.is_finite() && direction.length() > 0.0) {
            return Err(value_error("tilt: expected directions, finite and not 0"));
        }
        margins.push(Margin::Tilt { direction });
    }
    let (tolerances, file) = (tolerances_of(asked.tolerances)?, file.clone());
    let found = waiting(py, &Shared::default(), None, move || -> Result<Found, String> {
        let world = &file.world;
        let at_rest = WorldAtRest::new(world, &file.state, &tolerances).map_err(|e| e.to_string())?;
        let bracket = |what: Margin| {
            let bracket = margin(&at_rest, what)
                .ok_or_else(|| "expected a direction across gravity, and gravity, for a tilt".to_string())?;
            let unit = if what == Margin::Friction { at_rest.common_friction() } else { None };
            Ok(AskedMargin { margin: what, bracket, unit })
        };
        let margins: Vec<AskedMargin> = margins.into_iter().map(bracket).collect::<Result<_, String>>()?;
        let standing = stand(&at_rest, &tolerances);
        let certificate = asked.certificate.then(|| stand_certificate(world, &at_rest, &standing, &margins));
        Ok((
            stand_document(world, &standing, &margins),
            stand_text(world, &standing, &margins, Style::plain()),
            certificate_of(certificate.flatten()),
        ))
    })?;
    answered(py, name, found)
}

/// The document and the report of `delassus hold`.
pub fn holds(py: Python<'_>, file: &Arc<WorldFile>, name: &str, asked: HoldRequest) -> PyResult<Answer> {
    let body = moving_body(&file.world, &asked.body)?;
    if let Some(force) = asked.force
        && !(force.is_finite() && force > 0.0)
    {
        return Err(value_error(format!("force: expected a positive number of newtons, found {force}")));
    }
    let point = asked.point.map(vec3);
    if point.is_some_and(|point| !point.is_finite()) {
        return Err(value_error("point: expected three finite numbers"));
    }
    let (tolerances, file) = (tolerances_of(asked.tolerances)?, file.clone());
    let found = waiting(py, &Shared::default(), None, move || -> Result<Found, String> {
        let (world, state) = (&file.world, &file.state);
        let at_rest = WorldAtRest::new(world, state, &tolerances).map_err(|e| e.to_string())?;
        let place = point.unwrap_or(state.bodies[body].pose.position);
        let found =
            resistance(&at_rest, body, place).ok_or_else(|| format!("the body `{}` is fixed", asked.body))?;
        let certificate = asked.certificate.then(|| {
            let proof = resistance_proof(&at_rest, body, place, &found)?;
            hold_certificate(&world.name, &at_rest, &proof)
        });
        Ok((
            hold_document(world, body, place, &found, asked.force),
            hold_text(world, body, place, &found, asked.force, Style::plain()),
            certificate_of(certificate.flatten()),
        ))
    })?;
    answered(py, name, found)
}
