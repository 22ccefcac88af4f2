//! From a state to the contact problem that it poses: which constraints are active, and under which law.
//!
//! ```text
//! M q̈ + F = Jᵀ λ ,   u = J q̈ + b ,   (u, λ) ∈ law of each active constraint
//! ```
//!
//! M is n × n, F ∈ ℝⁿ, J is m × n with the rows of the active constraints, and b ∈ ℝᵐ their bias (γ of
//! [`kinematics`](crate::lagrangian::kinematics)). Joints are always active. A contact is active when its gap
//! and its normal velocity are zero within the tolerances; then 0 ≤ ḧ ⊥ λ ≥ 0 (000 Prop. 2). A contact that
//! separates is open; one that approaches needs an impact first, and no finite force answers.
//!
//! Friction: a contact that slides (slip speed above the tolerance) has the known direction of its slip and
//! the kinetic coefficient; one at rest has Coulomb's law on the acceleration level with the static
//! coefficient, which both limits sticking and is the friction at the instant of breakaway. Resistance to
//! rolling is in the problem of contacts that neither slide nor roll.
//!
//! Rows of the problem: joints in the order of the system, then active contacts; each (normal, tangents).

use delassus_solve::linalg::{Matrix, norm};
use delassus_solve::problem::{Dynamics, InvalidProblem, Law, Slip};
use thiserror::Error;

use super::kinematics::{Kinematics, Row};
use super::{FormulaId, System};

/// What counts as zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerances {
    /// Gaps and joint errors below this are zero, in the units of the gap (default 1e-6).
    pub position: f64,
    /// Normal, slip and joint velocities below this are zero, in the units of the gap per second (default
    /// 1e-6).
    pub velocity: f64,
}

impl Default for Tolerances {
    fn default() -> Self {
        Tolerances { position: 1e-6, velocity: 1e-6 }
    }
}

/// Where a contact stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactState {
    /// The gap is positive.
    Apart,
    /// Touching, and the gap is opening.
    Parting,
    /// Touching, and the gap is closing: an impact comes first.
    Approaching,
    /// Touching and staying: constraint number of the dynamics.
    Active(usize),
}

/// What the parts of a contact problem are called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The whole; may be empty.
    pub title: String,
    /// Coordinates, n.
    pub coordinates: Vec<String>,
    /// Bilateral constraints, in the order of [`Kinematics::joints`].
    pub joints: Vec<String>,
    /// Contacts, in the order of [`Kinematics::contacts`].
    pub contacts: Vec<String>,
}

impl Names {
    /// The names in a system.
    pub fn of(system: &System) -> Names {
        Names {
            title: system.name.clone(),
            coordinates: system.coordinates.clone(),
            joints: system.joints.iter().map(|joint| joint.name.clone()).collect(),
            contacts: system.contacts.iter().map(|contact| contact.name.clone()).collect(),
        }
    }
}

/// The contact problem at a state.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// Mass, forces, active constraints and their laws.
    pub dynamics: Dynamics,
    /// One entry per contact of the system.
    pub contacts: Vec<ContactState>,
}

/// Why a state poses no contact problem.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum StateError {
    /// A gap is negative.
    #[error("contact `{contact}` penetrates: its gap is {gap:e}, expected at least 0 (within {tolerance:e})")]
    Penetration {
        /// Name of the contact.
        contact: String,
        /// Its number.
        index: usize,
        /// Its gap.
        gap: f64,
        /// What counts as zero.
        tolerance: f64,
    },
    /// A joint is not closed.
    #[error("joint `{joint}` is open: its value is {value:e}, expected 0 (within {tolerance:e})")]
    JointValue {
        /// Name of the joint.
        joint: String,
        /// Its number.
        index: usize,
        /// Its value.
        value: f64,
        /// What counts as zero.
        tolerance: f64,
    },
    /// The velocities break a joint.
    #[error(
        "joint `{joint}` is torn by the velocities: its rate is {velocity:e}, expected 0 (within {tolerance:e})"
    )]
    JointVelocity {
        /// Name of the joint.
        joint: String,
        /// Its number.
        index: usize,
        /// d/dt of its value.
        velocity: f64,
        /// What counts as zero.
        tolerance: f64,
    },
    /// The numbers make no contact problem.
    #[error(transparent)]
    Invalid(#[from] InvalidProblem),
}

impl StateError {
    /// The formula that the state breaks.
    pub fn formula(&self) -> Option<FormulaId> {
        match self {
            StateError::Penetration { index, .. } => Some(FormulaId::ContactNormal(*index)),
            StateError::JointValue { index, .. } | StateError::JointVelocity { index, .. } => {
                Some(FormulaId::JointValue(*index))
            }
            StateError::Invalid(_) => None,
        }
    }
}

/// The law of friction at tangents with these rows.
enum Friction {
    None,
    Slides(f64, Slip),
    Rests(f64),
}

fn friction(slip: &[Row], mu_static: f64, mu_kinetic: f64, tolerance: f64) -> Friction {
    let velocity: Vec<f64> = slip.iter().map(|r| r.velocity).collect();
    let speed = norm(&velocity);
    match *velocity.as_slice() {
        [v] if speed > tolerance => Friction::Slides(mu_kinetic, Slip::Plane(v.signum())),
        [v1, v2] if speed > tolerance => Friction::Slides(mu_kinetic, Slip::Space([v1 / speed, v2 / speed])),
        [] => Friction::None,
        _ if mu_static == 0.0 => Friction::None,
        _ => Friction::Rests(mu_static),
    }
}

/// The contact problem at a state with these masses, forces and constraints.
pub fn assemble(
    names: &Names,
    kinematics: &Kinematics,
    tolerances: &Tolerances,
) -> Result<Assembly, StateError> {
    let mut laws = Vec::new();
    let mut rows: Vec<&Row> = Vec::new();
    for (index, (joint, k)) in names.joints.iter().zip(&kinematics.joints).enumerate() {
        if k.value.abs() > tolerances.position {
            return Err(StateError::JointValue {
                joint: joint.clone(),
                index,
                value: k.value,
                tolerance: tolerances.position,
            });
        }
        if k.row.velocity.abs() > tolerances.velocity {
            return Err(StateError::JointVelocity {
                joint: joint.clone(),
                index,
                velocity: k.row.velocity,
                tolerance: tolerances.velocity,
            });
        }
        let law = match friction(&k.slip, k.mu, k.mu, tolerances.velocity) {
            Friction::None => Law::Bilateral,
            Friction::Slides(mu, slip) => Law::BilateralSliding { mu, slip },
            Friction::Rests(mu) if k.slip.len() == 1 => Law::BilateralCoulombPlane { mu },
            Friction::Rests(mu) => Law::BilateralCoulomb { mu },
        };
        add(&mut laws, &mut rows, law, &k.row, &k.slip);
    }
    let mut contacts = Vec::new();
    for (index, (contact, k)) in names.contacts.iter().zip(&kinematics.contacts).enumerate() {
        if k.gap < -tolerances.position {
            return Err(StateError::Penetration {
                contact: contact.clone(),
                index,
                gap: k.gap,
                tolerance: tolerances.position,
            });
        }
        let state = if k.gap > tolerances.position {
            ContactState::Apart
        } else if k.normal.velocity > tolerances.velocity {
            ContactState::Parting
        } else if k.normal.velocity < -tolerances.velocity {
            ContactState::Approaching
        } else {
            ContactState::Active(laws.len())
        };
        contacts.push(state);
        if let ContactState::Active(_) = state {
            let law = match friction(&k.slip, k.mu_static, k.mu_kinetic, tolerances.velocity) {
                Friction::None => Law::Unilateral,
                Friction::Slides(mu, slip) => Law::Sliding { mu, slip },
                Friction::Rests(mu) if k.slip.len() == 1 => Law::CoulombPlane { mu },
                Friction::Rests(mu) => match &k.rolling {
                    Some(rolling) => Law::Rolling { mu, rolling: rolling.coefficient },
                    None => Law::Coulomb { mu },
                },
            };
            add(&mut laws, &mut rows, law, &k.normal, &k.slip);
            if let (Law::Rolling { .. }, Some(rolling)) = (law, &k.rolling) {
                rows.extend(&rolling.rows);
            }
        }
    }
    let n = kinematics.mass.rows();
    let jacobian = Matrix::from_fn(rows.len(), n, |i, j| rows[i].gradient[j]);
    let bias = rows.iter().map(|r| r.bias).collect();
    let dynamics = Dynamics::new(kinematics.mass.clone(), kinematics.force.clone(), jacobian, bias, laws)?;
    Ok(Assembly { dynamics, contacts })
}

fn add<'a>(laws: &mut Vec<Law>, rows: &mut Vec<&'a Row>, law: Law, normal: &'a Row, slip: &'a [Row]) {
    rows.push(normal);
    rows.extend(slip.iter().take(law.dim() - 1));
    laws.push(law);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lagrangian::{ContactKinematics, JointKinematics};

    fn row(velocity: f64) -> Row {
        Row { gradient: vec![1.0], velocity, bias: 0.5 }
    }

    fn contact(gap: f64, velocity: f64, slip: &[f64]) -> ContactKinematics {
        ContactKinematics {
            gap,
            normal: row(velocity),
            slip: slip.iter().map(|&v| row(v)).collect(),
            mu_static: 0.6,
            mu_kinetic: 0.4,
            restitution: 0.0,
            rolling: None,
        }
    }

    fn assembled(
        joints: Vec<JointKinematics>,
        contacts: Vec<ContactKinematics>,
    ) -> Result<Assembly, StateError> {
        let names = Names {
            title: String::new(),
            coordinates: vec!["x".into()],
            joints: joints.iter().map(|_| "joint".to_string()).collect(),
            contacts: contacts.iter().map(|_| "contact".to_string()).collect(),
        };
        let kinematics = Kinematics {
            mass: Matrix::from_fn(1, 1, |_, _| 2.0),
            mass_rank: 1,
            force: vec![3.0],
            kinetic_energy: 0.0,
            potential_energy: 0.0,
            contacts,
            joints,
        };
        assemble(&names, &kinematics, &Tolerances::default())
    }

    #[test]
    fn only_contacts_that_touch_and_stay_are_active() {
        use ContactState::{Active, Apart, Approaching, Parting};
        // Just beyond and just within the tolerances of 1e-6.
        let contacts = vec![
            contact(2e-6, -1.0, &[]),
            contact(5e-7, 2e-6, &[]),
            contact(-5e-7, -2e-6, &[]),
            contact(5e-7, 5e-7, &[]),
            contact(0.0, 0.0, &[0.0]),
        ];
        let found = assembled(vec![], contacts).unwrap();
        assert_eq!(found.contacts, [Apart, Parting, Approaching, Active(0), Active(1)]);
        assert_eq!(found.dynamics.laws, [Law::Unilateral, Law::CoulombPlane { mu: 0.6 }]);
        assert_eq!(found.dynamics.bias, [0.5; 3]);
    }

    #[test]
    fn the_slip_velocity_chooses_the_law() {
        let laws = |slip: &[f64]| assembled(vec![], vec![contact(0.0, 0.0, slip)]).unwrap().dynamics.laws;
        assert_eq!(laws(&[5e-7]), [Law::CoulombPlane { mu: 0.6 }]);
        assert_eq!(laws(&[-2e-6]), [Law::Sliding { mu: 0.4, slip: Slip::Plane(-1.0) }]);
        assert_eq!(laws(&[0.0, 0.0]), [Law::Coulomb { mu: 0.6 }]);
        assert_eq!(laws(&[3.0, -4.0]), [Law::Sliding { mu: 0.4, slip: Slip::Space([0.6, -0.8]) }]);
    }

    #[test]
    fn a_state_that_breaks_a_constraint_is_refused() {
        let joint =
            |value: f64, velocity: f64| JointKinematics { value, row: row(velocity), slip: vec![], mu: 0.0 };
        assert_eq!(assembled(vec![joint(5e-7, 5e-7)], vec![]).unwrap().dynamics.laws, [Law::Bilateral]);
        let refused = |value, velocity| assembled(vec![joint(value, velocity)], vec![]).unwrap_err();
        assert!(matches!(refused(2e-6, 0.0), StateError::JointValue { index: 0, .. }));
        assert!(matches!(refused(0.0, -2e-6), StateError::JointVelocity { index: 0, .. }));
        let deep = assembled(vec![], vec![contact(-2e-6, 0.0, &[])]).unwrap_err();
        assert_eq!(deep.formula(), Some(FormulaId::ContactNormal(0)));
    }
}
