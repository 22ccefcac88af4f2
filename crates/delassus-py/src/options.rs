//! Keywords as the options of the libraries: one definition of each, there.

use delassus::formula::nearest;
use delassus::lagrangian::Tolerances;
use delassus::stepping::{StepImpactLaw, StepOptions};
use delassus_solve::contact::{ContactOptions, Method};
use delassus_solve::impact::ImpactLaw;
use delassus_solve::modes::EnumerateOptions;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::{type_error, value_error};

/// The keywords of time steps.
const STEP_KEYWORDS: [&str; 10] = [
    "dt",
    "scheme",
    "coordinates",
    "law",
    "impact_law",
    "tolerance",
    "solver",
    "position_tolerance",
    "warm_start",
    "minimum_norm",
];
/// The keywords of solves.
const SOLVE_KEYWORDS: [&str; 6] =
    ["tolerance", "solver", "max_iterations", "max_work", "time_limit", "minimum_norm"];

/// A keyword that nothing knows.
fn unknown(name: &str, known: &[&str]) -> PyErr {
    let hint = match nearest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("expected one of {}", known.join(", ")),
    };
    type_error(format!("unknown option `{name}`: {hint}"))
}

/// A word as a value of an option.
fn word<T: std::str::FromStr>(name: &str, value: &Bound<'_, PyAny>, all: &[&str]) -> PyResult<T> {
    let text: String = argument(name, value, "a string")?;
    text.parse().map_err(|_| {
        value_error(format!("{name}: unknown value \"{text}\", expected one of {}", all.join(", ")))
    })
}

/// An argument of a type, with a message that names it.
fn argument<'py, T: FromPyObjectOwned<'py>>(
    name: &str,
    value: &Bound<'py, PyAny>,
    expected: &str,
) -> PyResult<T> {
    value.extract().map_err(|_| {
        let found = value.get_type().name().map(|n| n.to_string()).unwrap_or_default();
        type_error(format!("{name}: expected {expected}, found {found}"))
    })
}

fn names<T>(all: &[(&'static str, T)]) -> Vec<&'static str> {
    all.iter().map(|(name, _)| *name).collect()
}

/// `base` with what the keywords change.
pub fn step_options(base: StepOptions, keywords: Option<&Bound<'_, PyDict>>) -> PyResult<StepOptions> {
    use delassus::stepping::{Coordinates, FrictionLaw, Scheme};
    let mut options = base;
    for (key, value) in keywords.into_iter().flatten() {
        let name: String = key.extract()?;
        match name.as_str() {
            "dt" => options.dt = argument(&name, &value, "a number of seconds")?,
            "scheme" => options.scheme = word(&name, &value, &names(&Scheme::ALL))?,
            "coordinates" => options.coordinates = word(&name, &value, &names(&Coordinates::ALL))?,
            "law" => options.law = word(&name, &value, &names(&FrictionLaw::ALL))?,
            "impact_law" => options.impact_law = impact_law(&name, &value)?,
            "tolerance" => options.tolerance = argument(&name, &value, "a number")?,
            "solver" => options.method = word(&name, &value, &names(&Method::ALL))?,
            "position_tolerance" => {
                options.position_tolerance = argument(&name, &value, "a number of metres")?
            }
            "warm_start" => options.warm_start = argument(&name, &value, "True or False")?,
            "minimum_norm" => options.minimum_norm = argument(&name, &value, "True or False")?,
            _ => return Err(unknown(&name, &STEP_KEYWORDS)),
        }
    }
    Ok(options)
}

/// The options as keywords: those that [`step_options`] reads.
pub fn step_keywords(py: Python<'_>, options: &StepOptions) -> PyResult<Py<PyDict>> {
    use delassus::stepping::{Coordinates, FrictionLaw, Scheme};
    fn name<T: PartialEq>(all: &[(&'static str, T)], value: &T) -> &'static str {
        all.iter().find(|(_, other)| other == value).map_or("auto", |(name, _)| *name)
    }
    let laws = ImpactLaw::NAMED.iter().find(|law| StepImpactLaw::of(law) == Some(options.impact_law));
    let out = PyDict::new(py);
    out.set_item("dt", options.dt)?;
    out.set_item("scheme", name(&Scheme::ALL, &options.scheme))?;
    out.set_item("coordinates", name(&Coordinates::ALL, &options.coordinates))?;
    out.set_item("law", name(&FrictionLaw::ALL, &options.law))?;
    out.set_item("impact_law", laws.map_or("moreau", ImpactLaw::name))?;
    out.set_item("tolerance", options.tolerance)?;
    out.set_item("solver", name(&Method::ALL, &options.method))?;
    out.set_item("position_tolerance", options.position_tolerance)?;
    out.set_item("warm_start", options.warm_start)?;
    out.set_item("minimum_norm", options.minimum_norm)?;
    Ok(out.unbind())
}

/// Tolerances of gaps and velocities.
pub fn tolerances_of(given: Option<(f64, f64)>) -> PyResult<Tolerances> {
    let Some((position, velocity)) = given else { return Ok(Tolerances::default()) };
    if ![position, velocity].iter().all(|x| x.is_finite() && *x >= 0.0) {
        return Err(value_error("tolerances: expected two numbers not below 0"));
    }
    Ok(Tolerances { position, velocity })
}

/// Tolerances of gaps and velocities, and the most modes that are examined.
pub fn analysis_options(
    tolerances: Option<(f64, f64)>,
    max_modes: Option<u64>,
) -> PyResult<(Tolerances, EnumerateOptions)> {
    let defaults = EnumerateOptions::default();
    Ok((tolerances_of(tolerances)?, max_modes.map_or(defaults, |max_modes| EnumerateOptions { max_modes })))
}

fn impact_law(name: &str, value: &Bound<'_, PyAny>) -> PyResult<StepImpactLaw> {
    let text: String = argument(name, value, "a string")?;
    let law: Option<ImpactLaw> = text.parse().ok();
    law.as_ref().and_then(StepImpactLaw::of).ok_or_else(|| {
        value_error(format!(
            "{name}: unknown value \"{text}\", expected one of moreau, newton, poisson, sequence"
        ))
    })
}

/// The options of a solve.
pub fn contact_options(keywords: Option<&Bound<'_, PyDict>>) -> PyResult<ContactOptions> {
    let mut options = ContactOptions::default();
    for (key, value) in keywords.into_iter().flatten() {
        let name: String = key.extract()?;
        match name.as_str() {
            "tolerance" => {
                options.tolerance = argument(&name, &value, "a number")?;
                if !(options.tolerance > 0.0 && options.tolerance.is_finite()) {
                    return Err(value_error(format!(
                        "tolerance: expected a positive number, found {}",
                        options.tolerance
                    )));
                }
            }
            "solver" => options.method = word(&name, &value, &names(&Method::ALL))?,
            "max_iterations" => options.max_iterations = argument(&name, &value, "a whole number")?,
            "max_work" => options.max_work = argument(&name, &value, "a whole number")?,
            "time_limit" => {
                let seconds: f64 = argument(&name, &value, "a number of seconds")?;
                let limit = std::time::Duration::try_from_secs_f64(seconds);
                options.time_limit = Some(limit.map_err(|e| value_error(format!("time_limit: {e}")))?);
            }
            "minimum_norm" => options.minimum_norm = argument(&name, &value, "True or False")?,
            _ => return Err(unknown(&name, &SOLVE_KEYWORDS)),
        }
    }
    Ok(options)
}
