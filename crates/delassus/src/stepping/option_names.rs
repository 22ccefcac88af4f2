//! Options of time stepping by their names in files and on the command line.

use std::fmt;
use std::str::FromStr;

use delassus_solve::impact::ImpactLaw;
use thiserror::Error;

use super::{FrictionLaw, Scheme, StepImpactLaw};

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
    /// The law in time steps, where impacts of the energetic law follow each other, contact after contact; `None` for a
    /// matrix of restitution, which time steps do not have.
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
    use super::*;

    #[test]
    fn names_give_back_their_values() {
        for (name, law) in FrictionLaw::ALL {
            assert_eq!((name.parse(), law.to_string().as_str()), (Ok(law), name));
        }
        for (name, scheme) in Scheme::ALL {
            assert_eq!((name.parse(), scheme.to_string().as_str()), (Ok(scheme), name));
        }
        let unknown = "explicit".parse::<Scheme>().unwrap_err();
        assert_eq!(unknown.to_string(), "unknown scheme \"explicit\"");
    }
}
