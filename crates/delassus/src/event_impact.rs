//! Impacts of a system: the velocities before and after, with percussions in joints and friction.
//!
//! ```text
//! M (v⁺ − v⁻) = Jᵀ p ,     (p, J v⁻, J v⁺) in the law of impact
//! ```
//!
//! on all joints and on all contacts that touch (001 §6; 002 §2). Where friction presses a sliding contact into its
//! surface and no force can answer, it jams: an impact without collision, followed along its percussion (003 §5).

use delassus_solve::impact::{
    ImpactContact, ImpactError, ImpactLaw, ImpactProblem, ImpactResult, resolve_impact,
};
use delassus_solve::impact_path::{Restitution, impact_path};
use delassus_solve::matrix::{Matrix, axpy, dot};

use crate::event_mechanics::Equations;
use crate::kinematics::{ContactKinematics, Row};

/// What is left of a row's velocity at v = 0.
fn drift(row: &Row, v: &[f64]) -> f64 {
    row.velocity - dot(&row.gradient, v)
}

fn impact_contact(contact: &ContactKinematics, v: &[f64]) -> ImpactContact {
    ImpactContact {
        normal: contact.normal.gradient.clone(),
        normal_drift: drift(&contact.normal, v),
        tangents: contact.slip.iter().map(|r| r.gradient.clone()).collect(),
        slip_drift: contact.slip.iter().map(|r| drift(r, v)).collect(),
        friction: contact.mu_kinetic,
        restitution: contact.restitution,
    }
}

/// The impact problem of all joints and the contacts in `meeting`.
fn impact_problem(at: &Equations, v: &[f64], meeting: &[usize]) -> ImpactProblem {
    let n = v.len();
    let rows: Vec<&Row> = at.joints.iter().map(|j| &j.row).collect();
    ImpactProblem {
        mass: at.mass.as_ref().clone(),
        joints: Matrix::from_fn(rows.len(), n, |i, j| rows[i].gradient[j]),
        joint_drift: rows.iter().map(|r| drift(r, v)).collect(),
        contacts: meeting
            .iter()
            .filter_map(|&i| at.contacts[i].as_ref())
            .map(|c| impact_contact(c, v))
            .collect(),
        velocity: v.to_vec(),
        external: vec![],
    }
}

/// The impact of the contacts in `meeting`, under a law.
pub(crate) fn impact(
    at: &Equations,
    v: &[f64],
    meeting: &[usize],
    law: &ImpactLaw,
) -> Result<ImpactResult, ImpactError> {
    resolve_impact(&impact_problem(at, v, meeting), law)
}

/// A contact that jams.
pub(crate) struct Jam {
    pub(crate) contact: usize,
    /// Normal, tangents.
    pub(crate) impulse: Vec<f64>,
    pub(crate) velocity: Vec<f64>,
}

/// The impact without collision of the first contact among `touching` that is pressed in by its own friction, the others
/// held (Poisson's law); `None` where there is none.
pub(crate) fn jam(at: &Equations, v: &[f64], touching: &[usize]) -> Result<Option<Jam>, ImpactError> {
    for &contact in touching {
        let mut problem = impact_problem(at, v, &[contact]);
        for &other in touching.iter().filter(|other| **other != contact) {
            let Some(other) = &at.contacts[other] else { continue };
            problem.joints = problem.joints.stack(&Matrix::from_rows(&[&other.normal.gradient]));
            problem.joint_drift.push(drift(&other.normal, v));
        }
        let path = impact_path(&problem, Restitution::Kinetic)?;
        if !path.without_collision {
            continue;
        }
        let mut external = vec![0.0; v.len()];
        for struck in &problem.contacts {
            axpy(path.impulse[0], &struck.normal, &mut external);
            for (p, row) in path.impulse[1..].iter().zip(&struck.tangents) {
                axpy(*p, row, &mut external);
            }
        }
        problem.contacts.clear();
        problem.external = external;
        let velocity = resolve_impact(&problem, &ImpactLaw::Moreau)?.velocity;
        return Ok(Some(Jam { contact, impulse: path.impulse, velocity }));
    }
    Ok(None)
}
