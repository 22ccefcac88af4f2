//! An impact as its laws see it: joints eliminated, and the check of what a law found.
//!
//! ```text
//! u⁺ = A_c p + q ,   A_c = A_u − A_ub A_b⁺ A_bu ,   q = u_free − A_ub A_b⁺ u_b,free
//! ```
//!
//! A = J M⁻¹ Jᵀ over joints (b) and contacts (u); p are the percussions of the contacts, those of the joints
//! follow (001 eq. 72). Velocities after the impact are computed from v⁺, not from A_c, so that the check
//! sees the elimination too.

use super::{ImpactError, ImpactProblem, ImpactResult, ImpactStatus, Violation};
use crate::linalg::{Matrix, dot, norm};
use crate::problem::{InvalidProblem, check_finite, check_size, constrained_delassus};

/// Velocities of contacts below this part of the terms that make them up are zero: a million times what
/// rounding leaves, and what a contact at rest has after a step that was located to 1e-12.
pub(super) const REST_RATIO: f64 = 1e-9;

/// What velocities elsewhere add to the size of a row's terms, as a part of √(J M⁻¹ Jᵀ) √(vᵀ M v), the most
/// that the row could have: a row at rest is only as exact as the percussions that keep it there. With
/// [`REST_RATIO`], 1e-13.
const KINETIC_RATIO: f64 = 1e-4;

/// What a law found: percussions on all rows of the contacts.
pub(super) struct Found {
    pub(super) impulse: Vec<f64>,
    pub(super) status: ImpactStatus,
    /// Percussions of other solutions.
    pub(super) others: Vec<Vec<f64>>,
    pub(super) searched: bool,
    pub(super) order: Vec<usize>,
    /// Whether percussions answer to the velocities after P, which then has done its work before them.
    pub(super) after_external: bool,
    /// Whether friction acts at every instant of each impact, so that no condition can be violated.
    pub(super) along_impulse: bool,
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
pub(super) struct Setting<'a> {
    pub(super) problem: &'a ImpactProblem,
    /// First row of each contact, and the number of rows.
    pub(super) offsets: Vec<usize>,
    /// A_c on all rows of the contacts.
    pub(super) delassus: Matrix,
    /// q: u without percussions of contacts, after the external impulse, joints eliminated.
    pub(super) free: Vec<f64>,
    /// u⁻.
    pub(super) before: Vec<f64>,
    /// Size of the terms of u⁻ on each row: what its rounding is a part of.
    pub(super) size: Vec<f64>,
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
    pub(super) fn new(problem: &'a ImpactProblem) -> Result<Self, ImpactError> {
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
            KINETIC_RATIO * dot(&problem.velocity, &problem.mass.mul_vec(&problem.velocity)).max(0.0).sqrt();
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
    pub(super) fn contact_velocity(&self, impulse: &[f64]) -> Vec<f64> {
        self.delassus.mul_vec(impulse).iter().zip(&self.free).map(|(a, b)| a + b).collect()
    }

    /// p_b = −A_b⁺ q_b − A_b⁺A_bu p (001 eq. 72), above p.
    fn all_impulses(&self, impulse: &[f64]) -> Vec<f64> {
        let (own, pulled) =
            (self.joint_inverse.mul_vec(&self.joints_free), self.joint_coupling.mul_vec(impulse));
        own.iter().zip(&pulled).map(|(a, b)| -a - b).chain(impulse.iter().copied()).collect()
    }

    /// v⁺.
    pub(super) fn velocity(&self, impulse: &[f64]) -> Vec<f64> {
        let kick = self.response.mul_vec(&self.all_impulses(impulse));
        kick.iter().zip(&self.free_velocity).map(|(a, b)| a + b).collect()
    }

    /// ½ vᵀ M v.
    pub(super) fn kinetic_energy(&self, velocity: &[f64]) -> f64 {
        0.5 * dot(velocity, &self.problem.mass.mul_vec(velocity))
    }

    /// Whether u_n⁻ of a contact is clearly negative.
    pub(super) fn approaches(&self, contact: usize) -> bool {
        let at = self.offsets[contact];
        self.before[at] < -REST_RATIO * self.size[at]
    }

    /// The numbers of each contact out of a list over all rows.
    fn by_contact(&self, rows: &[f64]) -> Vec<Vec<f64>> {
        self.offsets.windows(2).map(|w| rows[w[0]..w[1]].to_vec()).collect()
    }

    pub(super) fn outcome(&self, found: Found) -> ImpactResult {
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
        let quick = KINETIC_RATIO
            * (2.0 * self.kinetic_energy(velocity).max(self.kinetic_energy(&p.velocity))).sqrt();
        let size = |i: usize| terms(self.rows.row(i), self.drift[i], &speed) + self.row_norm[i] * quick;
        let mut out = Vec::new();
        for joint in 0..b {
            if after[joint].abs() > REST_RATIO * size(joint) {
                out.push(Violation::Joint { joint, velocity: after[joint] });
            }
        }
        let largest = impulses[b..].iter().fold(0.0_f64, |m, p| m.max(p.abs()));
        for (contact, w) in self.offsets.windows(2).enumerate() {
            let (at, end) = (b + w[0], b + w[1]);
            let guide = p.contacts[contact].bilateral;
            if after[at] < -REST_RATIO * size(at) || (guide && after[at] > REST_RATIO * size(at)) {
                out.push(Violation::Approach { contact, velocity: after[at] });
            }
            if impulses[at] < -REST_RATIO * largest && !guide {
                out.push(Violation::Adhesion { contact, impulse: impulses[at] });
            }
            let pressure = if guide { impulses[at].abs() } else { impulses[at].max(0.0) };
            let excess = norm(&impulses[at + 1..end]) - p.contacts[contact].friction * pressure;
            if excess > REST_RATIO * largest {
                out.push(Violation::Friction { contact, excess });
            }
        }
        let scale: f64 = (0..speed.len())
            .map(|i| (0..speed.len()).map(|j| speed[i] * p.mass[(i, j)].abs() * speed[j]).sum::<f64>())
            .sum();
        if gain > REST_RATIO * scale {
            out.push(Violation::Energy { gain });
        }
        out
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
