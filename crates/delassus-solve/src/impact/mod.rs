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

pub use path::{ImpactPath, Motion, PathPoint, Restitution, impact_path};
pub use sequence::{ImpactOrders, MOST_IMPACTS, OrderOutcome, impact_orders};

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::linalg::{Matrix, dot, norm};
use crate::problem::{InvalidProblem, check_finite, check_size, constrained_delassus, kinetic_angle};
use path::follow_impact;
use sequence::run_sequence;

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

/// Velocities of contacts below this part of the terms that make them up are zero: a million times what
/// rounding leaves, and what a contact at rest has after a step that was located to 1e-12.
const REST: f64 = 1e-9;

/// What velocities elsewhere add to the size of a row's terms, as a part of √(J M⁻¹ Jᵀ) √(vᵀ M v), the most
/// that the row could have: a row at rest is only as exact as the percussions that keep it there. With
/// [`REST`], 1e-13.
const ELSEWHERE: f64 = 1e-4;

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
        ImpactLaw::Sequence => Found { after_external: true, ..run_sequence(&setting) },
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

/// What a law found: percussions on all rows of the contacts.
struct Found {
    impulse: Vec<f64>,
    status: ImpactStatus,
    /// Percussions of other solutions.
    others: Vec<Vec<f64>>,
    searched: bool,
    order: Vec<usize>,
    /// Whether percussions answer to the velocities after P, which then has done its work before them.
    after_external: bool,
    /// Whether friction acts at every instant of each impact, so that no condition can be violated.
    along_impulse: bool,
}

impl Default for Found {
    fn default() -> Self {
        Found {
            impulse: vec![],
            status: ImpactStatus::Solved,
            others: vec![],
            searched: false,
            order: vec![],
            after_external: false,
            along_impulse: false,
        }
    }
}

/// The problem with its joints eliminated: u⁺ = A_c p + q.
struct Setting<'a> {
    problem: &'a ImpactProblem,
    /// First row of each contact, and the number of rows.
    offsets: Vec<usize>,
    /// A_c on all rows of the contacts.
    delassus: Matrix,
    /// q: u without percussions of contacts, after the external impulse, joints eliminated.
    free: Vec<f64>,
    /// u⁻.
    before: Vec<f64>,
    /// Size of the terms of u⁻ on each row: what its rounding is a part of.
    size: Vec<f64>,
    /// √(J M⁻¹ Jᵀ) of each row, joints above contacts.
    row_norm: Vec<f64>,
    /// J, joints above contacts, and d.
    rows: Matrix,
    drift: Vec<f64>,
    /// M⁻¹Jᵀ, and M⁻¹P + v⁻.
    response: Matrix,
    free_velocity: Vec<f64>,
    /// A_b⁺ and A_b⁺A_bu.
    joint_inverse: Matrix,
    joint_coupling: Matrix,
    joints_free: Vec<f64>,
}

impl<'a> Setting<'a> {
    fn new(problem: &'a ImpactProblem) -> Result<Self, ImpactError> {
        check(problem)?;
        let n = problem.mass.rows();
        let b = problem.joint_drift.len();
        let mut rows = if b == 0 { Matrix::zeros(0, n) } else { problem.joints.clone() };
        let mut drift = problem.joint_drift.clone();
        let mut offsets = vec![0];
        for contact in &problem.contacts {
            let mut all = vec![contact.normal.clone()];
            all.extend(contact.tangents.iter().cloned());
            rows = rows.stack(&Matrix::from_rows(&all));
            drift.push(contact.normal_drift);
            drift.extend(&contact.slip_drift);
            offsets.push(drift.len() - b);
        }
        let m = rows.rows();
        let external = |i: usize| problem.external.get(i).copied().unwrap_or(0.0);
        // One factorization for [Jᵀ | P].
        let rhs = Matrix::from_fn(n, m + 1, |i, j| if j < m { rows[(j, i)] } else { external(i) });
        let x = problem.mass.solve_positive_definite(&rhs).ok_or(ImpactError::SingularMass)?;
        let response = Matrix::from_fn(n, m, |i, j| x[(i, j)]);
        let free_velocity: Vec<f64> = (0..n).map(|i| problem.velocity[i] + x[(i, m)]).collect();
        let w = rows.mul(&response).symmetric_part();
        let at = |v: &[f64]| -> Vec<f64> { rows.mul_vec(v).iter().zip(&drift).map(|(u, d)| u + d).collect() };
        let (before, q) = (at(&problem.velocity), at(&free_velocity));
        let row_norm: Vec<f64> = (0..m).map(|i| w[(i, i)].max(0.0).sqrt()).collect();
        let speed: Vec<f64> = problem.velocity.iter().map(|v| v.abs()).collect();
        let quick =
            ELSEWHERE * dot(&problem.velocity, &problem.mass.mul_vec(&problem.velocity)).max(0.0).sqrt();
        let size = (b..m).map(|i| terms(rows.row(i), drift[i], &speed) + row_norm[i] * quick).collect();
        let joints: Vec<usize> = (0..b).collect();
        let contacts: Vec<usize> = (b..m).collect();
        let joint_inverse = w.select(&joints, &joints).pseudo_solve_matrix(&Matrix::identity(b));
        let joint_coupling = joint_inverse.mul(&w.select(&joints, &contacts));
        let joints_free = q[..b].to_vec();
        // q − A_ub A_b⁺ q_b.
        let pulled = joint_coupling.tr_mul_vec(&joints_free);
        let free = q[b..].iter().zip(&pulled).map(|(q, p)| q - p).collect();
        Ok(Setting {
            problem,
            offsets,
            delassus: constrained_delassus(&w, &contacts, &joints).symmetric_part(),
            free,
            before: before[b..].to_vec(),
            size,
            row_norm,
            rows,
            drift,
            response,
            free_velocity,
            joint_inverse,
            joint_coupling,
            joints_free,
        })
    }

    /// u = A_c p + q.
    fn contact_velocity(&self, impulse: &[f64]) -> Vec<f64> {
        self.delassus.mul_vec(impulse).iter().zip(&self.free).map(|(a, b)| a + b).collect()
    }

    /// p_b = −A_b⁺ q_b − A_b⁺A_bu p (001 eq. 72), above p.
    fn all_impulses(&self, impulse: &[f64]) -> Vec<f64> {
        let (own, pulled) =
            (self.joint_inverse.mul_vec(&self.joints_free), self.joint_coupling.mul_vec(impulse));
        own.iter().zip(&pulled).map(|(a, b)| -a - b).chain(impulse.iter().copied()).collect()
    }

    /// v⁺.
    fn velocity(&self, impulse: &[f64]) -> Vec<f64> {
        let kick = self.response.mul_vec(&self.all_impulses(impulse));
        kick.iter().zip(&self.free_velocity).map(|(a, b)| a + b).collect()
    }

    /// ½ vᵀ M v.
    fn kinetic_energy(&self, velocity: &[f64]) -> f64 {
        0.5 * dot(velocity, &self.problem.mass.mul_vec(velocity))
    }

    /// Whether u_n⁻ of a contact is clearly negative.
    fn approaches(&self, contact: usize) -> bool {
        let at = self.offsets[contact];
        self.before[at] < -REST * self.size[at]
    }

    /// The numbers of each contact out of a list over all rows.
    fn by_contact(&self, rows: &[f64]) -> Vec<Vec<f64>> {
        self.offsets.windows(2).map(|w| rows[w[0]..w[1]].to_vec()).collect()
    }

    fn outcome(&self, found: Found) -> ImpactResult {
        let p = self.problem;
        let b = p.joint_drift.len();
        let velocity = self.velocity(&found.impulse);
        let impulses = self.all_impulses(&found.impulse);
        // Recomputed from v⁺, not from A_c, so that elimination is checked too.
        let after: Vec<f64> =
            self.rows.mul_vec(&velocity).iter().zip(&self.drift).map(|(u, d)| u + d).collect();
        let (before, now) = (self.kinetic_energy(&p.velocity), self.kinetic_energy(&velocity));
        let external: f64 =
            p.external.iter().enumerate().map(|(i, f)| 0.5 * f * (velocity[i] + p.velocity[i])).sum();
        let mut work = external - dot(&impulses, &self.drift);
        if found.after_external && !p.external.is_empty() {
            let none = vec![0.0; self.free.len()];
            let alone = self.all_impulses(&none);
            let answer: Vec<f64> = impulses.iter().zip(&alone).map(|(all, alone)| all - alone).collect();
            work = self.kinetic_energy(&self.velocity(&none)) - before - dot(&answer, &self.drift);
        }
        let mut status = found.status;
        let violations = self.violations(&velocity, &impulses, &after, now - before - work);
        if status == ImpactStatus::Solved && violations.iter().any(|v| matches!(v, Violation::Joint { .. })) {
            status = ImpactStatus::NoSolution;
        }
        // What a law excludes, and is there all the same, its method has not solved.
        if status == ImpactStatus::Solved && found.along_impulse && !violations.is_empty() {
            status = ImpactStatus::NotConverged;
        }
        ImpactResult {
            status,
            contact_impulses: self.by_contact(&impulses[b..]),
            joint_impulses: impulses[..b].to_vec(),
            contact_velocities_before: self.by_contact(&self.before),
            contact_velocities_after: self.by_contact(&after[b..]),
            kinetic_energy_before: before,
            kinetic_energy_after: now,
            work,
            violations,
            alternatives: found.others.iter().map(|p| self.velocity(p)).collect(),
            searched: found.searched,
            order: found.order,
            velocity,
        }
    }

    /// What does not hold, each number relative to the size of the terms that make it up.
    fn violations(&self, velocity: &[f64], impulses: &[f64], after: &[f64], gain: f64) -> Vec<Violation> {
        let p = self.problem;
        let b = p.joint_drift.len();
        let speed: Vec<f64> = velocity.iter().zip(&p.velocity).map(|(a, b)| a.abs() + b.abs()).collect();
        let quick =
            ELSEWHERE * (2.0 * self.kinetic_energy(velocity).max(self.kinetic_energy(&p.velocity))).sqrt();
        let size = |i: usize| terms(self.rows.row(i), self.drift[i], &speed) + self.row_norm[i] * quick;
        let mut out = Vec::new();
        for joint in 0..b {
            if after[joint].abs() > REST * size(joint) {
                out.push(Violation::Joint { joint, velocity: after[joint] });
            }
        }
        let largest = impulses[b..].iter().fold(0.0_f64, |m, p| m.max(p.abs()));
        for (contact, w) in self.offsets.windows(2).enumerate() {
            let (at, end) = (b + w[0], b + w[1]);
            let guide = p.contacts[contact].bilateral;
            if after[at] < -REST * size(at) || (guide && after[at] > REST * size(at)) {
                out.push(Violation::Approach { contact, velocity: after[at] });
            }
            if impulses[at] < -REST * largest && !guide {
                out.push(Violation::Adhesion { contact, impulse: impulses[at] });
            }
            let pressure = if guide { impulses[at].abs() } else { impulses[at].max(0.0) };
            let excess = norm(&impulses[at + 1..end]) - p.contacts[contact].friction * pressure;
            if excess > REST * largest {
                out.push(Violation::Friction { contact, excess });
            }
        }
        let scale: f64 = (0..speed.len())
            .map(|i| (0..speed.len()).map(|j| speed[i] * p.mass[(i, j)].abs() * speed[j]).sum::<f64>())
            .sum();
        if gain > REST * scale {
            out.push(Violation::Energy { gain });
        }
        out
    }
}

/// An error where a contact is a guide.
fn no_guides(problem: &ImpactProblem) -> Result<(), ImpactError> {
    match problem.contacts.iter().position(|contact| contact.bilateral) {
        Some(contact) => Err(ImpactError::Guide { contact }),
        None => Ok(()),
    }
}

/// Σ|J_j||v_j| + |d|.
fn terms(row: &[f64], drift: f64, speed: &[f64]) -> f64 {
    drift.abs() + row.iter().zip(speed).map(|(j, v)| j.abs() * v).sum::<f64>()
}

fn check(p: &ImpactProblem) -> Result<(), ImpactError> {
    let n = p.mass.rows();
    check_size("columns of the mass matrix", n, p.mass.cols())?;
    check_finite("the mass matrix", p.mass.data())?;
    check_size("rates of joints", p.joints.rows(), p.joint_drift.len())?;
    if p.joints.rows() > 0 {
        check_size("columns of the joints", n, p.joints.cols())?;
    }
    check_finite("the joints", p.joints.data())?;
    check_finite("the rates of joints", &p.joint_drift)?;
    check_size("entries of the velocity", n, p.velocity.len())?;
    check_finite("the velocity", &p.velocity)?;
    if !p.external.is_empty() {
        check_size("entries of the external impulse", n, p.external.len())?;
    }
    check_finite("the external impulse", &p.external)?;
    for (contact, c) in p.contacts.iter().enumerate() {
        check_size("entries of a normal", n, c.normal.len())?;
        check_finite("a normal", &c.normal)?;
        check_finite("the rate of a gap", &[c.normal_drift])?;
        if c.tangents.len() > 2 {
            check_size("tangents of a contact (at most two)", 2, c.tangents.len())?;
        }
        for t in &c.tangents {
            check_size("entries of a tangent", n, t.len())?;
            check_finite("a tangent", t)?;
        }
        check_size("slip velocities of a contact", c.tangents.len(), c.slip_drift.len())?;
        check_finite("the slip velocities", &c.slip_drift)?;
        if !(c.friction.is_finite() && c.friction >= 0.0) {
            return Err(InvalidProblem::Friction { constraint: contact, mu: c.friction }.into());
        }
        if !(0.0..=1.0).contains(&c.restitution) {
            return Err(ImpactError::Restitution { contact, value: c.restitution });
        }
    }
    Ok(())
}
