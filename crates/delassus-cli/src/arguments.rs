//! Numbers and names on the command line that several commands read.

use std::fmt;

use clap::builder::{PossibleValue, PossibleValuesParser, Resettable, TypedValueParser};
use clap::{ArgMatches, Args, FromArgMatches};
use delassus::stepping::{Coordinates, FrictionLaw, Scheme};
use delassus_scene::Integrator;
use delassus_solve::contact::Method;
use delassus_solve::impact::ImpactLaw;
use delassus_solve::lcp::Solver;

/// Arguments of a command that are described where the command is called: a call of one of fifteen commands
/// has no use for the flags of the others.
pub struct Deferred<T>(pub T);

impl<T: Args> Args for Deferred<T> {
    fn augment_args(command: clap::Command) -> clap::Command {
        command.defer(|command| {
            // What a command does stands beside its name, and not above its arguments.
            let (about, long) = (command.get_about().cloned(), command.get_long_about().cloned());
            T::augment_args(command).about(Resettable::from(about)).long_about(Resettable::from(long))
        })
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        T::augment_args_for_update(command)
    }
}

impl<T: FromArgMatches> FromArgMatches for Deferred<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        T::from_arg_matches(matches).map(Deferred)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, clap::Error> {
        T::from_arg_matches_mut(matches).map(Deferred)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

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

/// The coordinates on the command line.
pub fn coordinates() -> impl TypedValueParser<Value = Coordinates> {
    parser(Coordinates::ALL, |coordinates| match coordinates {
        Coordinates::Auto => "Reduced where joints carry bodies, maximal elsewhere",
        Coordinates::Maximal => "Six per body, joints as constraints",
        Coordinates::Reduced => "Motions along and about joints; loops, limits and contacts as constraints",
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

/// The methods of contact problems on the command line.
pub fn method() -> impl TypedValueParser<Value = Method> {
    parser(Method::ALL, method_help)
}

fn method_help(method: &Method) -> &'static str {
    match method {
        Method::Auto => "Several methods, as far as needed",
        Method::GaussSeidel => "Block Gauss-Seidel, contact after contact",
        Method::ProjectedGradient => "Projected gradients with Nesterov's acceleration",
        Method::Spectral => "Projected gradients with spectral step lengths",
        Method::Admm => "Alternating directions",
        Method::Newton => "Newton's method on the equations of the modes",
        Method::InteriorPoint => "The interior point method",
    }
}

/// A solver by its name: `auto` is one for contact problems and for complementarity problems, any other name
/// for one of the two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverName {
    /// The name.
    pub name: &'static str,
    /// For contact problems.
    pub contact: Option<Method>,
    /// For linear and mixed linear complementarity problems.
    pub complementarity: Option<Solver>,
}

impl SolverName {
    /// All names, those of contact problems first.
    pub fn all() -> Vec<SolverName> {
        let methods = Method::ALL.map(|(name, _)| name);
        let solvers = Solver::ALL.map(|(name, _)| name).into_iter().filter(|name| !methods.contains(name));
        let of = |name: &'static str| SolverName {
            name,
            contact: name.parse().ok(),
            complementarity: name.parse().ok(),
        };
        methods.into_iter().chain(solvers).map(of).collect()
    }
}

impl fmt::Display for SolverName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name)
    }
}

/// The solvers of all problem files on the command line.
pub fn solver() -> impl TypedValueParser<Value = SolverName> {
    parser(SolverName::all().into_iter().map(|solver| (solver.name, solver)), |solver| {
        match (&solver.contact, &solver.complementarity) {
            (Some(_), Some(_)) => "Several methods, as far as needed; for all problems",
            (Some(method), None) => method_help(method),
            (None, Some(Solver::Lemke)) => "Lemke's method, for an LCP or mixed LCP",
            (None, Some(Solver::PrincipalPivoting)) => "Principal pivoting, for an LCP or mixed LCP",
            (None, Some(Solver::NewtonMin)) => "Newton's method on min(z, w), for an LCP or mixed LCP",
            (None, Some(Solver::Enumerate)) => "All index sets, for an LCP or mixed LCP",
            (None, Some(Solver::Auto) | None) => "",
        }
    })
}

/// Reads a value by its name; each has a line of help.
fn parser<T: Clone + Send + Sync + 'static>(
    all: impl IntoIterator<Item = (&'static str, T)>,
    help: impl Fn(&T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let all: Vec<(&'static str, T)> = all.into_iter().collect();
    let names: Vec<PossibleValue> =
        all.iter().map(|(name, value)| PossibleValue::new(*name).help(help(value))).collect();
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
