//! What each law of impact makes of a state whose contacts approach.
//!
//! ```text
//! M (v⁺ − v⁻) = Jᵀ p ,   (J v⁻, J v⁺, p) ∈ law of impact
//! ```
//!
//! M is n × n; J (m × n) has the rows of all joints and of all contacts that touch, p ∈ ℝᵐ are percussions
//! (001 §6). The laws are those of [`delassus_solve::impact`].

use delassus_solve::impact::{
    ImpactContact, ImpactError, ImpactLaw, ImpactOrders, ImpactProblem, ImpactResult, impact_orders,
    resolve_impact,
};
use delassus_solve::linalg::{Matrix, dot};

use crate::lagrangian::{Assembly, ContactState, Kinematics, Row};

/// Contacts up to which all orders of impacts are tried.
const ALL_ORDERS: usize = 6;
/// Contacts up to which outcomes are reported.
const MAX_CONTACTS: usize = 64;

/// The outcome under one law.
#[derive(Clone, Debug)]
pub struct LawOutcome {
    /// Name of the law: `moreau`, `newton`, `poisson`, `energetic`, `sequence`.
    pub law: &'static str,
    /// The outcome.
    pub result: ImpactResult,
}

/// The impact at a state.
#[derive(Clone, Debug)]
pub struct ImpactReport {
    /// The contacts that take part: all that touch. Numbers in the system; the results count in this order.
    pub contacts: Vec<usize>,
    /// One entry per law that can be asked: the energetic one takes one contact, a sequence makes sense for
    /// several.
    pub outcomes: Vec<LawOutcome>,
    /// What all orders of single impacts lead to, where two to six contacts touch.
    pub orders: Option<ImpactOrders>,
}

/// The impact of all contacts in the list, from velocities v.
fn impact_problem(kinematics: &Kinematics, v: &[f64], contacts: &[usize]) -> ImpactProblem {
    let drift = |row: &Row| row.velocity - dot(&row.gradient, v);
    let joints = &kinematics.joints;
    ImpactProblem {
        mass: kinematics.mass.clone(),
        joints: Matrix::from_fn(joints.len(), v.len(), |i, j| joints[i].row.gradient[j]),
        joint_drift: joints.iter().map(|joint| drift(&joint.row)).collect(),
        contacts: contacts
            .iter()
            .map(|&i| {
                let contact = &kinematics.contacts[i];
                ImpactContact {
                    normal: contact.normal.gradient.clone(),
                    normal_drift: drift(&contact.normal),
                    tangents: contact.slip.iter().map(|row| row.gradient.clone()).collect(),
                    slip_drift: contact.slip.iter().map(drift).collect(),
                    friction: contact.mu_kinetic,
                    restitution: contact.restitution,
                    bilateral: false,
                }
            })
            .collect(),
        velocity: v.to_vec(),
        external: vec![],
    }
}

/// What the laws make of a state; `None` where no contact approaches, the mass is singular, or more than 64
/// contacts touch.
pub fn impact_report(kinematics: &Kinematics, assembly: &Assembly, v: &[f64]) -> Option<ImpactReport> {
    let contacts: Vec<usize> =
        (0..assembly.contacts.len()).filter(|&i| assembly.contacts[i] != ContactState::Apart).collect();
    let several = contacts.len() > 1;
    if !assembly.contacts.contains(&ContactState::Approaching) || contacts.len() > MAX_CONTACTS {
        return None;
    }
    let problem = impact_problem(kinematics, v, &contacts);
    let laws = [
        ("moreau", ImpactLaw::Moreau),
        ("newton", ImpactLaw::Newton),
        ("poisson", ImpactLaw::Poisson),
        if several { ("sequence", ImpactLaw::Sequence) } else { ("energetic", ImpactLaw::Energetic) },
    ];
    let outcomes: Result<Vec<LawOutcome>, ImpactError> = laws
        .into_iter()
        .map(|(law, of)| Ok(LawOutcome { law, result: resolve_impact(&problem, &of)? }))
        .collect();
    let orders = (several && contacts.len() <= ALL_ORDERS).then(|| impact_orders(&problem).ok()).flatten();
    Some(ImpactReport { contacts, outcomes: outcomes.ok()?, orders })
}
