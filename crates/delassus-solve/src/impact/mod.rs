//! Impacts: velocities jump, percussions act, positions stay.
//!
//! ```text
//! M (v⁺ − v⁻) = J_bᵀ p_b + J_uᵀ p + P,   J_b v⁺ + d_b = 0,   u = J_u v + d,   (p, u⁻, u⁺) in the law
//! ```
//!
//! M ∈ R^{n×n} mass, J_b joints, J_u rows of the contacts (normal, tangents; one contact after the other), d
//! their rates at v = 0 (explicit dependence on time), P ∈ R^n external impulse, p_b and p percussions (001
//! eq. 71–73; 002 eq. 2.10). The joints go first: u⁺ = A_c p + q with A_c the constrained Delassus matrix,
//! and p_b = −A_b⁺(q_b + A_bu p) (001 eq. 72); redundant joints do no harm.
//!
//! | law | |
//! |---|---|
//! | [`ImpactLaw::Moreau`] | 0 ≤ p_n ⊥ u_n⁺ + e u_n⁻ ≥ 0 (001 eq. 84); with e = 0 the inelastic LCP (002 eq. 2.11) |
//! | [`ImpactLaw::Newton`] | u_n⁺ = −e u_n⁻ where u_n⁻ < 0, 0 ≤ p_n ⊥ u_n⁺ ≥ 0 elsewhere (002 eq. 3.9, 3.10) |
//! | [`ImpactLaw::NewtonMatrix`] | u_N⁺ = −E u_N⁻ as an equation (001 eq. 76, 77) |
//! | [`ImpactLaw::Poisson`] | compression with e = 0, then 0 ≤ p_n − e p_n,c ⊥ u_n⁺ ≥ 0 |
//! | [`ImpactLaw::Energetic`] | one contact, along the impulse, until the work of restitution is e² that of compression |
//! | [`ImpactLaw::Sequence`] | one contact after the other by the energetic law, the fastest first, until none approaches |
//!
//! Friction: ‖p_t‖ ≤ μ p_n, and p_t opposes u_t⁺ (in the last two laws: at every instant of an impact). A
//! guide with friction is a contact that is bilateral: u_n⁺ = 0, ‖p_t‖ ≤ μ |p_n|; the last two laws do not
//! cover it.
//!
//! No law is taken on trust. Every outcome is checked against three sets of conditions (001 §6): kinematic
//! u_n⁺ ≥ 0, kinetic p_n ≥ 0 and ‖p_t‖ ≤ μ p_n, energetic T⁺ ≤ T⁻ + work of P and of moving constraints.
//! Moreau's law without friction and with one e always satisfies the last two, and the first if u_n⁻ ≤ 0.
//! Newton's laws satisfy the first and may violate the other two (p_n < 0, which can create energy: 002 §3
//! requires p ≥ 0). Friction that opposes u_t⁺ may create energy; friction at every instant cannot.

mod laws;
mod path;
mod sequence;
mod setting;

pub use path::{ImpactPath, Motion, PathPoint, Restitution, impact_path};
pub use sequence::{ImpactOrders, MOST_IMPACTS, OrderOutcome, impact_orders};

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::linalg::Matrix;
use crate::problem::{InvalidProblem, kinetic_angle};
use path::follow_impact;
use sequence::run_sequence;
use setting::{Found, Setting};

/// What meets at an impact. Sizes: n coordinates, b joints.
#[derive(Clone, Debug, Default)]
pub struct ImpactProblem {
    /// M, n × n, positive definite.
    pub mass: Matrix,
    /// J_b, b × n; they may be redundant.
    pub joints: Matrix,
    /// d_b, b: rates of the joints at v = 0.
    pub joint_drift: Vec<f64>,
    /// All contacts that touch, whether they approach or not, and guides with friction.
    pub contacts: Vec<ImpactContact>,
    /// v⁻, n.
    pub velocity: Vec<f64>,
    /// P, n; empty where there is none. The ratios of Moreau's and Newton's laws answer to u⁻, the velocities
    /// before P; those of the others to what P presses in.
    pub external: Vec<f64>,
}

/// A contact that touches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImpactContact {
    /// Row of the normal velocity, n; positive apart.
    pub normal: Vec<f64>,
    /// Rate of the gap at v = 0.
    pub normal_drift: f64,
    /// Rows of the slip velocity, n each: none, one (plane) or two (space).
    pub tangents: Vec<Vec<f64>>,
    /// Slip velocities at v = 0, one per tangent.
    pub slip_drift: Vec<f64>,
    /// Coefficient of friction, ≥ 0.
    pub friction: f64,
    /// Coefficient of restitution e, from 0 to 1.
    pub restitution: f64,
    /// A guide with friction: bilateral, without a rebound.
    pub bilateral: bool,
}

/// A law of impact; see the [module](self) for the equations of each.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ImpactLaw {
    /// Complementarity of percussion and weighted velocity.
    #[default]
    Moreau,
    /// The ratio of normal velocities, where a contact approaches.
    Newton,
    /// A matrix E (contacts × contacts) instead of the coefficients of the contacts.
    NewtonMatrix(Matrix),
    /// The ratio of percussions of the two phases.
    Poisson,
    /// The ratio of works of the two phases (Stronge); one contact only.
    Energetic,
    /// Impacts one after the other.
    Sequence,
}

/// A word that names no law of impact.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("unknown impact law \"{0}\"")]
pub struct UnknownImpactLaw(pub String);

impl FromStr for ImpactLaw {
    type Err = UnknownImpactLaw;

    fn from_str(name: &str) -> Result<Self, UnknownImpactLaw> {
        let found = Self::NAMED.into_iter().find(|law| law.name() == name);
        found.ok_or_else(|| UnknownImpactLaw(name.to_owned()))
    }
}

impl ImpactLaw {
    /// The laws that a name alone chooses.
    pub const NAMED: [ImpactLaw; 5] =
        [ImpactLaw::Moreau, ImpactLaw::Newton, ImpactLaw::Poisson, ImpactLaw::Energetic, ImpactLaw::Sequence];

    /// The name in files and on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            ImpactLaw::Moreau => "moreau",
            ImpactLaw::Newton => "newton",
            ImpactLaw::NewtonMatrix(_) => "newton with a matrix",
            ImpactLaw::Poisson => "poisson",
            ImpactLaw::Energetic => "energetic",
            ImpactLaw::Sequence => "sequence",
        }
    }
}

/// A condition that an outcome does not satisfy. Contacts and joints are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "condition")]
pub enum Violation {
    /// Kinematic: the contact still approaches, or the guide is torn.
    Approach {
        /// Which contact.
        contact: usize,
        /// u_n⁺ < 0; of a guide, u_n⁺ ≠ 0.
        velocity: f64,
    },
    /// Kinematic: the joint is torn.
    Joint {
        /// Which joint.
        joint: usize,
        /// Its rate after the impact, expected 0.
        velocity: f64,
    },
    /// Kinetic: the contact pulls.
    Adhesion {
        /// Which contact.
        contact: usize,
        /// p_n < 0.
        impulse: f64,
    },
    /// Kinetic: more friction than the normal percussion allows.
    Friction {
        /// Which contact.
        contact: usize,
        /// ‖p_t‖ − μ max(p_n, 0) > 0.
        excess: f64,
    },
    /// Energetic: kinetic energy came out of nothing.
    Energy {
        /// T⁺ − T⁻ − work of the external impulse and of moving constraints > 0.
        gain: f64,
    },
}

/// How the law was solved.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImpactStatus {
    /// The equations of the law hold.
    Solved,
    /// They have no solution, or the joints have none. The outcome is the nearest in least squares without
    /// friction, and no percussion of contacts with friction.
    NoSolution,
    /// The solver did not get there.
    NotConverged,
    /// A sequence was stopped while a contact still approached.
    TooManyImpacts,
}

/// The outcome of an impact.
#[derive(Clone, Debug)]
pub struct ImpactResult {
    /// How the law was solved.
    pub status: ImpactStatus,
    /// v⁺, n.
    pub velocity: Vec<f64>,
    /// p of each contact: normal, tangents.
    pub contact_impulses: Vec<Vec<f64>>,
    /// p_b; the shortest where joints are redundant.
    pub joint_impulses: Vec<f64>,
    /// u⁻ of each contact: normal, tangents.
    pub contact_velocities_before: Vec<Vec<f64>>,
    /// u⁺ of each contact: normal, tangents.
    pub contact_velocities_after: Vec<Vec<f64>>,
    /// T⁻ = ½ v⁻ᵀ M v⁻.
    pub kinetic_energy_before: f64,
    /// T⁺.
    pub kinetic_energy_after: f64,
    /// ½ Pᵀ(v⁺ + v⁻) − pᵀd − p_bᵀd_b: what the external impulse and moving constraints put in. Poisson's and
    /// the last two laws answer to the velocities v_P after P and joints alone: there T(v_P) − T⁻ stands for
    /// the work of P.
    pub work: f64,
    /// Conditions that do not hold, with their numbers.
    pub violations: Vec<Violation>,
    /// Other velocities v⁺ that satisfy the same law; empty where the outcome is the only one, or where
    /// others were not searched for (`searched`).
    pub alternatives: Vec<Vec<f64>>,
    /// Whether all solutions of the law were listed.
    pub searched: bool,
    /// The contacts in the order in which they collided, for [`ImpactLaw::Sequence`].
    pub order: Vec<usize>,
}

impl ImpactResult {
    /// Whether the outcome can be taken: the law holds to its tolerance, or, where velocities are so small
    /// beside their terms that no percussions have a small residual, no condition is violated by more than
    /// these terms round to.
    pub fn is_acceptable(&self) -> bool {
        match self.status {
            ImpactStatus::Solved => true,
            ImpactStatus::NotConverged => self.violations.is_empty(),
            ImpactStatus::NoSolution | ImpactStatus::TooManyImpacts => false,
        }
    }
}

/// Why numbers make no impact, or a law cannot be asked.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ImpactError {
    /// Sizes, numbers that are not finite, friction below 0.
    #[error(transparent)]
    Invalid(#[from] InvalidProblem),
    /// A coefficient of restitution outside [0, 1].
    #[error("contact {contact}: a coefficient of restitution must be a number from 0 to 1, found {value}")]
    Restitution {
        /// Which contact, counted from 0.
        contact: usize,
        /// The coefficient found.
        value: f64,
    },
    /// The mass matrix has no inverse.
    #[error("the mass matrix is not positive definite, so that a percussion has no definite effect")]
    SingularMass,
    /// A law for one contact was asked of several.
    #[error("the energetic law is defined for one contact, found {found}")]
    OneContact {
        /// Number of contacts.
        found: usize,
    },
    /// A guide with friction, under a law that does not know it.
    #[error("contact {contact} is a guide with friction, which the laws along the percussion do not know")]
    Guide {
        /// Which contact, counted from 0.
        contact: usize,
    },
}

/// Applies a law to an impact.
pub fn resolve_impact(problem: &ImpactProblem, law: &ImpactLaw) -> Result<ImpactResult, ImpactError> {
    let setting = Setting::new(problem)?;
    if matches!(law, ImpactLaw::Energetic | ImpactLaw::Sequence) {
        no_guides(problem)?;
    }
    let found = match law {
        ImpactLaw::Moreau => laws::moreau(&setting),
        ImpactLaw::Newton => laws::newton(&setting),
        ImpactLaw::NewtonMatrix(e) => laws::newton_matrix(&setting, e)?,
        ImpactLaw::Poisson => Found { after_external: true, ..laws::poisson(&setting) },
        ImpactLaw::Energetic => {
            if problem.contacts.len() != 1 {
                return Err(ImpactError::OneContact { found: problem.contacts.len() });
            }
            let path = follow_impact(&setting, Restitution::Energetic);
            Found {
                impulse: path.impulse,
                status: path.status,
                after_external: true,
                along_impulse: true,
                ..Found::default()
            }
        }
        ImpactLaw::Sequence => Found { after_external: true, along_impulse: true, ..run_sequence(&setting) },
    };
    Ok(setting.outcome(found))
}

/// The kinetic angles θ_ij between the contacts with the joints eliminated (001 eq. 9), k × k with k
/// contacts, θ_ii = 0; NaN where a normal has no effect. With θ_ij = π/2 the contacts do not feel each other;
/// below π/2 a percussion at one closes the other (the balls of a cradle); above, it opens the other.
pub fn kinetic_angles(problem: &ImpactProblem) -> Result<Matrix, ImpactError> {
    let s = Setting::new(problem)?;
    let k = problem.contacts.len();
    Ok(Matrix::from_fn(k, k, |i, j| {
        let (a, b) = (s.offsets[i], s.offsets[j]);
        let angle = kinetic_angle(s.delassus[(a, a)], s.delassus[(a, b)], s.delassus[(b, b)]);
        if i == j { 0.0 } else { angle.unwrap_or(f64::NAN) }
    }))
}

/// An error where a contact is a guide.
fn no_guides(problem: &ImpactProblem) -> Result<(), ImpactError> {
    match problem.contacts.iter().position(|contact| contact.bilateral) {
        Some(contact) => Err(ImpactError::Guide { contact }),
        None => Ok(()),
    }
}
