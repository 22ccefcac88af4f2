//! Numbers and names on the command line that several commands read.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use delassus::stepping::{FrictionLaw, Scheme};
use delassus_scene::Integrator;
use delassus_solve::impact::ImpactLaw;

/// A tolerance.
pub fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && x >= 0.0 => Ok(x),
        _ => Err(format!("expected a number not below 0, found \"{text}\"")),
    }
}

/// A time; each command checks which times make sense.
pub fn seconds(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("expected a number of seconds, found \"{text}\""))
}

/// The friction laws on the command line.
pub fn friction_law() -> impl TypedValueParser<Value = FrictionLaw> {
    parser(FrictionLaw::ALL, |law| match law {
        FrictionLaw::Ncp => "Coulomb's law",
        FrictionLaw::Ccp => "The associated law (paper 004)",
    })
}

/// The schemes on the command line.
pub fn scheme() -> impl TypedValueParser<Value = Scheme> {
    parser(Scheme::ALL, |scheme| match scheme {
        Scheme::Symmetric => "Two solves a step, second order where the motion is smooth",
        Scheme::HalfImplicit => "One solve a step, first order",
    })
}

/// The integrators on the command line.
pub fn integrator() -> impl TypedValueParser<Value = Integrator> {
    parser(Integrator::ALL, |integrator| match integrator {
        Integrator::TimeStepping => "Steps of one length, impacts inside of them",
        Integrator::EventDriven => "Event-driven: smooth motion between located events",
    })
}

/// The laws of impact on the command line.
pub fn impact_law() -> impl TypedValueParser<Value = ImpactLaw> {
    parser(ImpactLaw::NAMED.map(|law| (law.name(), law)), |law| match law {
        ImpactLaw::Moreau => "Complementarity of percussion and weighted velocity",
        ImpactLaw::Newton | ImpactLaw::NewtonMatrix(_) => "The ratio of normal velocities",
        ImpactLaw::Poisson => "The ratio of percussions",
        ImpactLaw::Energetic => {
            "The ratio of works; event-driven for one contact, in time steps contact after contact"
        }
        ImpactLaw::Sequence => "One contact after the other",
    })
}

/// Reads a value by its name; each has a line of help.
fn parser<T: Clone + Send + Sync + 'static, const N: usize>(
    all: [(&'static str, T); N],
    help: impl Fn(&T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let names = all.each_ref().map(|(name, value)| PossibleValue::new(*name).help(help(value)));
    PossibleValuesParser::new(names).try_map(move |name: String| {
        let found = all.iter().find(|(n, _)| *n == name).map(|(_, value)| value.clone());
        found.ok_or_else(|| format!("unknown name \"{name}\""))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tolerances_are_numbers_not_below_zero() {
        assert!(tolerance("nan").is_err() && tolerance("-1").is_err() && tolerance("1e-8") == Ok(1e-8));
    }
}
