//! Lagrangian systems: energies, forces, contacts and joints, each a formula of q, q̇ and t.
//!
//! ```text
//! d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q − Q = ∇h λ ,     0 ≤ h_u(q, t) ⊥ λ_u ≥ 0 ,     h_b(q, t) = 0
//! ```
//!
//! with q ∈ ℝⁿ, kinetic energy T, potential V, generalized forces Q ∈ ℝⁿ, contacts h_u and joints h_b (000
//! §1.1, eq. 1; 001 §2). Matrices and vectors are derived by
//! [`kinematics`](crate::lagrangian::kinematics::kinematics).
//!
//! The rod of Painlevé, sliding on its tip, from closures:
//!
//! ```
//! use delassus::formula::AnyFormula;
//! use delassus::lagrangian::kinematics;
//! use delassus::formula::Number;
//! use delassus::lagrangian::{Contact, Measure, State, System};
//!
//! let (m, l, g) = (1.0, 0.5, 9.81);
//! let rod = System {
//!     potential: Some(AnyFormula::derivatives_only(move |at| m * g * at.q[1])),
//!     contacts: vec![Contact {
//!         slip: vec![Measure::Displacement(AnyFormula::derivatives_only(move |at| at.q[0] - l * at.q[2].cos()))],
//!         ..Contact::frictionless(
//!             "tip",
//!             Measure::Displacement(AnyFormula::derivatives_only(move |at| at.q[1] - l * at.q[2].sin())),
//!         )
//!         .with_friction(2.0)
//!     }],
//!     ..System::new(
//!         "rod of Painlevé",
//!         &["x", "y", "theta"],
//!         AnyFormula::derivatives_only(move |at| {
//!             let (vx, vy, w) = (at.v[0], at.v[1], at.v[2]);
//!             m * (vx * vx + vy * vy) / 2.0 + m * l * l / 6.0 * w * w
//!         }),
//!     )
//! };
//! let theta = std::f64::consts::FRAC_PI_4;
//! let state = State { t: 0.0, q: vec![0.0, l * theta.sin(), theta], v: vec![-1.0, 0.0, 0.0] };
//! let at = kinematics(&rod, &state)?;
//! assert_eq!(at.mass[(0, 0)], m);
//! assert_eq!(at.force, [0.0, m * g, 0.0]);
//! assert!((at.contacts[0].normal.gradient[2] + l * theta.cos()).abs() < 1e-15);
//! assert_eq!(at.contacts[0].slip[0].velocity, -1.0);
//! # Ok::<(), delassus::lagrangian::KinematicsError>(())
//! ```
//!
//! A function that is generic over the number type enters as a [`Formula`](crate::formula::Formula):
//!
//! ```
//! use delassus::formula::{Formula, Point};
//! use delassus::formula::Number;
//! use delassus::lagrangian::System;
//!
//! struct Pendulum { m: f64, l: f64 }
//! impl Formula for Pendulum {
//!     fn eval<N: Number>(&self, at: &Point<'_, N>) -> N {
//!         at.v[0] * at.v[0] * (0.5 * self.m * self.l * self.l)
//!     }
//! }
//! let system = System::new("pendulum", &["theta"], Pendulum { m: 2.0, l: 0.5 });
//! assert_eq!(system.coordinates, ["theta"]);
//! ```

mod active_set;
mod higher_derivatives;
mod kinematics;
mod parametric;
mod taylor_motion;
mod velocity_bound;
mod written;

pub use active_set::{Assembly, ContactState, Names, StateError, Tolerances, assemble};
pub use higher_derivatives::{ContactFate, DecidingOptions, DecidingOrder, Fate, deciding_order};
pub use kinematics::{
    ContactKinematics, JointKinematics, Kinematics, KinematicsError, RollingKinematics, Row, kinematics,
};
pub use parametric::{Family, Member, Variable};
pub use taylor_motion::{DerivativesError, HIGHEST_ORDER};
pub use velocity_bound::{VelocityBound, velocity_bound, weighted_speed};
pub use written::{ExactState, is_state_certain, written_dynamics};

pub(crate) use kinematics::Evaluator;

use std::fmt;

use crate::formula::AnyFormula;

/// A mechanical system; it never changes during a motion.
#[derive(Clone, Debug)]
pub struct System {
    /// What the user calls it; may be empty.
    pub name: String,
    /// Names of the n coordinates.
    pub coordinates: Vec<String>,
    /// Kinetic energy T(q, q̇, t), J.
    pub kinetic: AnyFormula,
    /// Potential energy V(q, t), J.
    pub potential: Option<AnyFormula>,
    /// Generalized forces; several on one coordinate add up.
    pub forces: Vec<Force>,
    /// Unilateral constraints.
    pub contacts: Vec<Contact>,
    /// Bilateral constraints.
    pub joints: Vec<Joint>,
    /// External impulses, in any order; those of one time act together.
    pub impulses: Vec<Impulse>,
}

impl System {
    /// A system that moves freely: no potential, forces, contacts or joints.
    pub fn new(name: &str, coordinates: &[&str], kinetic: impl Into<AnyFormula>) -> Self {
        System {
            name: name.to_string(),
            coordinates: coordinates.iter().map(|c| c.to_string()).collect(),
            kinetic: kinetic.into(),
            potential: None,
            forces: Vec::new(),
            contacts: Vec::new(),
            joints: Vec::new(),
            impulses: Vec::new(),
        }
    }

    /// All its formulas.
    fn formulas(&self) -> Vec<(FormulaId, &AnyFormula)> {
        let mut all = vec![(FormulaId::Kinetic, &self.kinetic)];
        all.extend(self.potential.iter().map(|potential| (FormulaId::Potential, potential)));
        all.extend(self.forces.iter().enumerate().map(|(i, force)| (FormulaId::Force(i), &force.value)));
        for (i, contact) in self.contacts.iter().enumerate() {
            all.push((FormulaId::ContactNormal(i), contact.normal.formula()));
            let slips = contact.slip.iter().enumerate();
            all.extend(slips.map(|(k, slip)| (FormulaId::ContactSlip(i, k), slip.formula())));
            all.push((FormulaId::ContactMuStatic(i), &contact.mu_static));
            all.push((FormulaId::ContactMuKinetic(i), &contact.mu_kinetic));
        }
        for (i, joint) in self.joints.iter().enumerate() {
            all.push((FormulaId::JointValue(i), joint.value.formula()));
            let slips = joint.slip.iter().enumerate();
            all.extend(slips.map(|(k, slip)| (FormulaId::JointSlip(i, k), slip.formula())));
            all.push((FormulaId::JointMu(i), &joint.mu));
        }
        all
    }

    /// Its formulas that are closures: they have derivatives, but no intervals and no power series.
    pub fn without_intervals(&self) -> Vec<FormulaName> {
        let closures = self.formulas().into_iter().filter(|(_, formula)| !formula.supports_intervals());
        closures.map(|(id, _)| FormulaName::of(self, id)).collect()
    }
}

/// A generalized force Q(q, q̇, t) on one coordinate.
#[derive(Clone, Debug)]
pub struct Force {
    /// Index of the coordinate.
    pub coordinate: usize,
    /// The force, N or N·m.
    pub value: AnyFormula,
}

/// An external impulse on one coordinate at one time: velocities jump, positions stay. It acts on motions,
/// not on the forces at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impulse {
    /// When, s.
    pub time: f64,
    /// Index of the coordinate.
    pub coordinate: usize,
    /// The impulse, N·s or N·m·s.
    pub value: f64,
}

/// A constrained quantity, given by itself or by its rate.
#[derive(Clone, Debug)]
pub enum Measure {
    /// A displacement h(q, t); its rate follows by differentiation.
    Displacement(AnyFormula),
    /// A velocity a(q, t)ᵀq̇ + b(q, t), linear in q̇; it need not be the rate of anything (nonholonomic).
    Velocity(AnyFormula),
}

impl Measure {
    /// Its formula.
    pub fn formula(&self) -> &AnyFormula {
        match self {
            Measure::Displacement(formula) | Measure::Velocity(formula) => formula,
        }
    }
}

/// A unilateral constraint: gap ≥ 0, normal force ≥ 0, and friction along its slips.
#[derive(Clone, Debug)]
pub struct Contact {
    /// Name, unique among contacts and joints.
    pub name: String,
    /// The gap, positive apart, or its rate.
    pub normal: Measure,
    /// None, one (planar) or two (spatial) tangential displacements or velocities.
    pub slip: Vec<Measure>,
    /// Friction coefficient while sticking.
    pub mu_static: AnyFormula,
    /// Friction coefficient while sliding.
    pub mu_kinetic: AnyFormula,
    /// Coefficient of restitution, in [0, 1].
    pub restitution: f64,
}

impl Contact {
    /// A contact without friction and restitution.
    pub fn frictionless(name: &str, normal: Measure) -> Self {
        Contact {
            name: name.to_string(),
            normal,
            slip: Vec::new(),
            mu_static: AnyFormula::new(0.0),
            mu_kinetic: AnyFormula::new(0.0),
            restitution: 0.0,
        }
    }

    /// The same contact with one friction coefficient, sticking or sliding.
    pub fn with_friction(mut self, mu: impl Into<AnyFormula>) -> Self {
        self.mu_static = mu.into();
        self.mu_kinetic = self.mu_static.clone();
        self
    }
}

/// A bilateral constraint: value = 0, with friction |force|·mu along its slips.
#[derive(Clone, Debug)]
pub struct Joint {
    /// Name, unique among contacts and joints.
    pub name: String,
    /// What is held at zero, or its rate.
    pub value: Measure,
    /// None, one or two tangential displacements or velocities.
    pub slip: Vec<Measure>,
    /// Friction coefficient.
    pub mu: AnyFormula,
}

impl Joint {
    /// A joint without friction.
    pub fn frictionless(name: &str, value: Measure) -> Self {
        Joint { name: name.to_string(), value, slip: Vec::new(), mu: AnyFormula::new(0.0) }
    }
}

/// Where a system is and how it moves.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// Time, s.
    pub t: f64,
    /// Positions, n.
    pub q: Vec<f64>,
    /// Velocities, n.
    pub v: Vec<f64>,
}

/// One of the formulas of a system. Numbers are places in the lists of [`System`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FormulaId {
    /// The kinetic energy.
    Kinetic,
    /// The potential energy.
    Potential,
    /// A generalized force.
    Force(usize),
    /// The gap or normal velocity of a contact.
    ContactNormal(usize),
    /// A slip of a contact: contact, slip.
    ContactSlip(usize, usize),
    /// The friction coefficient of a sticking contact.
    ContactMuStatic(usize),
    /// The friction coefficient of a sliding contact.
    ContactMuKinetic(usize),
    /// The restitution of a contact.
    ContactRestitution(usize),
    /// The value or velocity of a joint.
    JointValue(usize),
    /// A slip of a joint: joint, slip.
    JointSlip(usize, usize),
    /// The friction coefficient of a joint.
    JointMu(usize),
}

/// A formula in words, with the name of what it belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaName {
    /// Which formula.
    pub id: FormulaId,
    /// The coordinate, contact or joint it belongs to; empty for energies.
    pub owner: String,
}

impl FormulaName {
    /// The name of a formula of this system.
    pub fn of(system: &System, id: FormulaId) -> Self {
        let owner = match id {
            FormulaId::Kinetic | FormulaId::Potential => None,
            FormulaId::Force(i) => {
                system.forces.get(i).and_then(|force| system.coordinates.get(force.coordinate))
            }
            FormulaId::ContactNormal(i)
            | FormulaId::ContactSlip(i, _)
            | FormulaId::ContactMuStatic(i)
            | FormulaId::ContactMuKinetic(i)
            | FormulaId::ContactRestitution(i) => system.contacts.get(i).map(|contact| &contact.name),
            FormulaId::JointValue(i) | FormulaId::JointSlip(i, _) | FormulaId::JointMu(i) => {
                system.joints.get(i).map(|joint| &joint.name)
            }
        };
        FormulaName { id, owner: owner.cloned().unwrap_or_default() }
    }
}

impl fmt::Display for FormulaName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let owner = &self.owner;
        match self.id {
            FormulaId::Kinetic => write!(f, "the kinetic energy"),
            FormulaId::Potential => write!(f, "the potential energy"),
            FormulaId::Force(_) => write!(f, "the force on `{owner}`"),
            FormulaId::ContactNormal(_) => write!(f, "the gap (or velocity) of contact `{owner}`"),
            FormulaId::ContactSlip(_, k) => write!(f, "slip {} of contact `{owner}`", k + 1),
            FormulaId::ContactMuStatic(_) => write!(f, "the static friction of contact `{owner}`"),
            FormulaId::ContactMuKinetic(_) => write!(f, "the kinetic friction of contact `{owner}`"),
            FormulaId::ContactRestitution(_) => write!(f, "the restitution of contact `{owner}`"),
            FormulaId::JointValue(_) => write!(f, "the value (or velocity) of joint `{owner}`"),
            FormulaId::JointSlip(_, k) => write!(f, "slip {} of joint `{owner}`", k + 1),
            FormulaId::JointMu(_) => write!(f, "the friction of joint `{owner}`"),
        }
    }
}
