//! The options of time steps: what they must be, and their names in files and on the command line.

use std::fmt;
use std::str::FromStr;

use delassus_solve::contact::Method;
use delassus_solve::impact::ImpactLaw;
use thiserror::Error;

use crate::world::{World, WorldError, WorldState, check_world};

/// The scheme of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// Two solves a step, second order where the motion is smooth.
    #[default]
    Symmetric,
    /// One solve a step, first order (004 eq. 9).
    HalfImplicit,
}

/// The law of friction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrictionLaw {
    /// Coulomb's law.
    #[default]
    Ncp,
    /// The associated cone (004 eq. 11): lifts off while it slides.
    Ccp,
}

/// The coordinates in which joints are solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Coordinates {
    /// Reduced ones where joints carry bodies, maximal ones elsewhere.
    #[default]
    Auto,
    /// Six velocities per body, joints as constraints.
    Maximal,
    /// Velocities along and about joints (001 §5): only loops, limits and contacts are constraints.
    Reduced,
}

/// The law of impact of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepImpactLaw {
    /// Moreau's, in the solve of the step itself.
    #[default]
    Moreau,
    /// Newton's.
    Newton,
    /// Poisson's.
    Poisson,
    /// The energetic one, contact after contact, the fastest first.
    Sequence,
}

/// Options of a [`Stepper`](super::Stepper).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepOptions {
    /// Time step, s (default 1e-3).
    pub dt: f64,
    /// Scheme (default symmetric).
    pub scheme: Scheme,
    /// Coordinates in which joints are solved (default `Auto`). The motion is the same to the tolerances.
    pub coordinates: Coordinates,
    /// Law of friction (default Coulomb's).
    pub law: FrictionLaw,
    /// Law of impact (default Moreau's); the half-implicit scheme has that one only, and refuses others.
    pub impact_law: StepImpactLaw,
    /// Scale-free residual of each solve (default 1e-10).
    pub tolerance: f64,
    /// Solver (default `Auto`).
    pub method: Method,
    /// How far joints may be open and bodies may overlap after a step, m or rad (default 1e-10).
    pub position_tolerance: f64,
    /// Whether solves start from the impulses of the step before (default yes).
    pub warm_start: bool,
    /// Of several possible impulses, those of least norm (default no; costs another solve).
    pub minimum_norm: bool,
}

impl Default for StepOptions {
    fn default() -> Self {
        StepOptions {
            dt: 1e-3,
            scheme: Scheme::Symmetric,
            coordinates: Coordinates::Auto,
            law: FrictionLaw::Ncp,
            impact_law: StepImpactLaw::Moreau,
            tolerance: 1e-10,
            method: Method::Auto,
            position_tolerance: 1e-10,
            warm_start: true,
            minimum_norm: false,
        }
    }
}

impl StepOptions {
    /// Refuses steps and tolerances that are no positive numbers.
    pub(super) fn check(&self) -> Result<(), WorldError> {
        let StepOptions { dt, tolerance, position_tolerance, .. } = *self;
        let numbers = [
            ("the time step", dt),
            ("the tolerance", tolerance),
            ("the tolerance of positions", position_tolerance),
        ];
        for (what, value) in numbers {
            if !(value > 0.0 && value.is_finite()) {
                return Err(WorldError::Number { what, value, range: "positive and finite" });
            }
        }
        Ok(())
    }
}

/// Refuses options, worlds and states of which no step can be made.
pub(super) fn check(world: &World, state: &WorldState, options: &StepOptions) -> Result<(), WorldError> {
    check_options(world, options)?;
    check_world(world, state)
}

/// Refuses options with which no step of a world can be made.
pub(super) fn check_options(world: &World, options: &StepOptions) -> Result<(), WorldError> {
    options.check()?;
    if options.scheme == Scheme::HalfImplicit && options.impact_law != StepImpactLaw::Moreau {
        let what = "the half-implicit scheme, whose one solve holds Moreau's law of impact,";
        return Err(WorldError::Together { what, other: "another one" });
    }
    let value = world.surfaces.iter().map(|s| s.restitution_tangential).fold(0.0, f64::max);
    if value > 0.0 && options.impact_law != StepImpactLaw::Moreau {
        let what = "a tangential restitution with another law of impact than Moreau's";
        return Err(WorldError::Number { what, value, range: "0" });
    }
    Ok(())
}

/// A word that names no value of an option.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("unknown {option} \"{name}\"")]
pub struct UnknownOption {
    /// The option.
    pub option: &'static str,
    /// The word.
    pub name: String,
}

/// The value of a name in a list.
fn named<T: Copy>(option: &'static str, all: &[(&str, T)], name: &str) -> Result<T, UnknownOption> {
    let found = all.iter().find(|(n, _)| *n == name);
    found.map(|(_, value)| *value).ok_or_else(|| UnknownOption { option, name: name.to_owned() })
}

impl FrictionLaw {
    /// Both laws with their names.
    pub const ALL: [(&'static str, FrictionLaw); 2] = [("ncp", FrictionLaw::Ncp), ("ccp", FrictionLaw::Ccp)];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            FrictionLaw::Ncp => "ncp",
            FrictionLaw::Ccp => "ccp",
        }
    }
}

impl FromStr for FrictionLaw {
    type Err = UnknownOption;

    fn from_str(name: &str) -> Result<Self, UnknownOption> {
        named("friction law", &Self::ALL, name)
    }
}

impl fmt::Display for FrictionLaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Coordinates {
    /// All of them with their names.
    pub const ALL: [(&'static str, Coordinates); 3] =
        [("auto", Coordinates::Auto), ("maximal", Coordinates::Maximal), ("reduced", Coordinates::Reduced)];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Coordinates::Auto => "auto",
            Coordinates::Maximal => "maximal",
            Coordinates::Reduced => "reduced",
        }
    }
}

impl Scheme {
    /// Both schemes with their names.
    pub const ALL: [(&'static str, Scheme); 2] =
        [("symmetric", Scheme::Symmetric), ("half-implicit", Scheme::HalfImplicit)];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Symmetric => "symmetric",
            Scheme::HalfImplicit => "half-implicit",
        }
    }
}

impl FromStr for Coordinates {
    type Err = UnknownOption;

    fn from_str(name: &str) -> Result<Self, UnknownOption> {
        named("coordinates", &Self::ALL, name)
    }
}

impl fmt::Display for Coordinates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Scheme {
    type Err = UnknownOption;

    fn from_str(name: &str) -> Result<Self, UnknownOption> {
        named("scheme", &Self::ALL, name)
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl StepImpactLaw {
    /// The law where it is not in the solve.
    pub(super) fn apart(self) -> Option<ImpactLaw> {
        match self {
            StepImpactLaw::Moreau => None,
            StepImpactLaw::Newton => Some(ImpactLaw::Newton),
            StepImpactLaw::Poisson => Some(ImpactLaw::Poisson),
            StepImpactLaw::Sequence => Some(ImpactLaw::Sequence),
        }
    }

    /// The law in time steps, where impacts of the energetic law follow each other, contact after contact;
    /// `None` for a matrix of restitution, which time steps do not have.
    pub fn of(law: &ImpactLaw) -> Option<StepImpactLaw> {
        match law {
            ImpactLaw::Moreau => Some(StepImpactLaw::Moreau),
            ImpactLaw::Newton => Some(StepImpactLaw::Newton),
            ImpactLaw::Poisson => Some(StepImpactLaw::Poisson),
            ImpactLaw::Energetic | ImpactLaw::Sequence => Some(StepImpactLaw::Sequence),
            ImpactLaw::NewtonMatrix(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_worlds::on_a_floor;
    use super::*;
    use crate::world::ShapeKind;

    #[test]
    fn every_value_of_an_option_is_read_from_its_name_and_written_with_it() {
        for (name, law) in FrictionLaw::ALL {
            assert_eq!((name.parse(), law.to_string().as_str()), (Ok(law), name));
        }
        for (name, scheme) in Scheme::ALL {
            assert_eq!((name.parse(), scheme.to_string().as_str()), (Ok(scheme), name));
        }
        for (name, coordinates) in Coordinates::ALL {
            assert_eq!((name.parse(), coordinates.to_string().as_str()), (Ok(coordinates), name));
        }
        let error = "explicit".parse::<Scheme>().unwrap_err();
        assert_eq!(error, UnknownOption { option: "scheme", name: "explicit".into() });
        assert_eq!(error.to_string(), "unknown scheme \"explicit\"");
        // Names are as they are written: no other case, no spaces.
        assert!("NCP".parse::<FrictionLaw>().is_err() && " auto".parse::<Coordinates>().is_err());
    }

    #[test]
    fn the_first_number_that_is_not_positive_and_finite_is_named() {
        assert_eq!(StepOptions::default().check(), Ok(()));
        for bad in [0.0, -1e-3, f64::NAN, f64::INFINITY] {
            let defaults = StepOptions::default();
            for (options, named) in [
                (StepOptions { dt: bad, ..defaults }, "the time step"),
                (StepOptions { tolerance: bad, ..defaults }, "the tolerance"),
                (StepOptions { position_tolerance: bad, ..defaults }, "the tolerance of positions"),
            ] {
                let Err(WorldError::Number { what, value, range }) = options.check() else {
                    panic!("{named} of {bad} was not refused")
                };
                assert_eq!((what, value.to_bits()), (named, bad.to_bits()));
                assert_eq!(range, "positive and finite");
            }
        }
    }

    /// Only the solve of the step itself has a tangential restitution: the other laws of impact know none.
    #[test]
    fn tangential_restitution_needs_moreaus_law() {
        let (mut world, state) = on_a_floor(ShapeKind::Sphere { radius: 0.1 }, 0.1, [0.5, 0.5]);
        let newton = StepOptions { impact_law: StepImpactLaw::Newton, ..StepOptions::default() };
        assert_eq!(check(&world, &state, &newton), Ok(()));
        world.surfaces[0].restitution_tangential = 0.5;
        assert_eq!(check(&world, &state, &StepOptions::default()), Ok(()));
        let Err(WorldError::Number { value: 0.5, range: "0", .. }) = check(&world, &state, &newton) else {
            panic!("a law without tangential restitution was accepted")
        };
    }

    #[test]
    fn laws_of_impact_of_steps_are_those_of_the_solver_but_for_matrices_of_restitution() {
        let all =
            [StepImpactLaw::Moreau, StepImpactLaw::Newton, StepImpactLaw::Poisson, StepImpactLaw::Sequence];
        for law in all {
            // Moreau's is in the solve of the step; the others act before it.
            let apart = law.apart();
            assert_eq!(apart.is_none(), law == StepImpactLaw::Moreau);
            assert_eq!(StepImpactLaw::of(&apart.unwrap_or(ImpactLaw::Moreau)), Some(law));
        }
        assert_eq!(StepImpactLaw::of(&ImpactLaw::Energetic), Some(StepImpactLaw::Sequence));
        let matrix = delassus_solve::linalg::Matrix::zeros(1, 1);
        assert_eq!(StepImpactLaw::of(&ImpactLaw::NewtonMatrix(matrix)), None);
    }
}
