//! A system without friction at one instant, as in 001 and 002, and the decisions that their propositions
//! share.
//!
//! ```text
//! M a + F = Nᵀ λ_u + Gᵀ λ_b,   0 ≤ λ_u ⊥ N a + γ_u ≥ 0,   G a + γ_b = 0
//! ```
//!
//! M is n × n, positive definite; N (∇hᵀ, m × n) has the contacts as rows, G (∇gᵀ, p × n) the joints (001 eq.
//! 6).
//!
//! Floating point decides only what is clear: eigenvalues of W = [G; N] M⁻¹ [G; N]ᵀ, scaled to unit diagonal,
//! that are above a margin. That constraints are dependent, or that nothing satisfies them, is never a matter
//! of rounding: it is suggested by floating point and decided by exact arithmetic
//! ([`crate::analysis::verify`]).

use super::decision::{AdmissibleSet, MARGIN};
use crate::analysis::certificate::{Certificate, Claims, Fact, Finding, Kind, MatrixOf, Outcome};
use crate::analysis::verify;
use crate::lcp::{Lp, Nearest, linear_program, nearest_point};
use crate::linalg::{Matrix, dot, max_abs, norm};
use crate::problem::{Dynamics, Law, Reduced, constrained_delassus};

/// Cosines below this are zero to rounding.
pub(super) const ORTHOGONAL: f64 = 1e-12;

/// Largest number of constraints for which an acceleration is computed that satisfies them all.
const MAX_CONSTRAINTS: usize = 64;

/// Margin that an admissible acceleration must have at every contact, relative to the sizes at hand.
const INTERIOR_MARGIN: f64 = 1e-6;

/// Joints and contacts without friction, and a positive definite mass.
pub(super) struct Frictionless<'a> {
    pub(super) dynamics: &'a Dynamics,
    /// Rows of the joints.
    pub(super) joints: Vec<usize>,
    /// Rows of the contacts.
    pub(super) contacts: Vec<usize>,
    pub(super) reduced: Reduced,
    /// Eigenvalues of scaled matrices below this are not decided.
    margin: f64,
}

impl<'a> Frictionless<'a> {
    /// The system; otherwise the outcome of a proposition that does not speak of it.
    pub(super) fn of(dynamics: &'a Dynamics) -> Result<Self, Outcome> {
        let rows = |of: Law| -> Vec<usize> {
            (0..dynamics.laws.len()).filter(|&k| dynamics.laws[k] == of).collect()
        };
        let (joints, contacts) = (rows(Law::Bilateral), rows(Law::Unilateral));
        if joints.len() + contacts.len() != dynamics.laws.len() || dynamics.mass.asymmetry() != 0.0 {
            return Err(Outcome::NotApplicable);
        }
        let smallest = unit_diagonal(&dynamics.mass).symmetric_eigenvalues().first().copied().unwrap_or(1.0);
        let Some(reduced) = dynamics.reduce() else { return Err(Outcome::NotApplicable) };
        if smallest.is_nan() || smallest < MARGIN {
            return Err(Outcome::Undecided);
        }
        // Rounding in M⁻¹ is amplified by the condition of M.
        let margin = MARGIN.max(1e3 * f64::EPSILON * dynamics.coordinates() as f64 / smallest);
        Ok(Frictionless { dynamics, joints, contacts, reduced, margin })
    }

    /// n.
    pub(super) fn n(&self) -> usize {
        self.dynamics.coordinates()
    }

    /// m, the number of contacts.
    pub(super) fn m(&self) -> usize {
        self.contacts.len()
    }

    /// p, the number of joints.
    pub(super) fn p(&self) -> usize {
        self.joints.len()
    }

    /// W on the rows of these constraints.
    pub(super) fn w(&self, rows: &[usize], cols: &[usize]) -> Matrix {
        self.reduced.delassus.select(rows, cols)
    }

    /// A_c = N M_c⁻¹ Nᵀ (001 eq. 16).
    pub(super) fn a_c(&self) -> Matrix {
        constrained_delassus(&self.reduced.delassus, &self.contacts, &self.joints)
    }

    /// Cosines between the constraints `a` and `b` in the metric M⁻¹: −cos of their kinetic angles (001 eq.
    /// 9, 33).
    pub(super) fn cosines(&self, a: &[usize], b: &[usize]) -> Matrix {
        let w = &self.reduced.delassus;
        Matrix::from_fn(a.len(), b.len(), |i, j| {
            let size = (w[(a[i], a[i])] * w[(b[j], b[j])]).sqrt();
            if size > 0.0 { w[(a[i], b[j])] / size } else { 0.0 }
        })
    }

    /// The number of eigenvalues of W on these rows that are clearly positive, and the smallest eigenvalue, W
    /// scaled to unit diagonal.
    pub(super) fn spectrum(&self, rows: &[usize]) -> (usize, f64) {
        let values = unit_diagonal(&self.w(rows, rows)).symmetric_eigenvalues();
        (values.iter().filter(|&&x| x > self.margin).count(), values.first().copied().unwrap_or(1.0))
    }

    /// The rank of the gradients of a kind, if it is certain.
    pub(super) fn rank(&self, kind: Kind) -> Option<usize> {
        let all: Vec<usize> = (0..self.dynamics.laws.len()).collect();
        let rows = match kind {
            Kind::Bilateral => &self.joints,
            Kind::Unilateral => &self.contacts,
            Kind::All => &all,
        };
        let (rank, _) = self.spectrum(rows);
        let certain = rank == rows.len().min(self.n()) || self.exactly(&self.rank_fact(kind, rank));
        certain.then_some(rank)
    }

    pub(super) fn rank_fact(&self, kind: Kind, rank: usize) -> Fact {
        Fact::Rank(MatrixOf::Gradients(kind), rank)
    }

    /// Whether a fact is true of this system, by exact arithmetic.
    pub(super) fn exactly(&self, fact: &Fact) -> bool {
        verify::fact(self.dynamics, fact)
    }

    /// Assumption 2 of 001: the joints are independent.
    pub(super) fn joints_independent(&self) -> Outcome {
        compare(self.rank(Kind::Bilateral), self.p())
    }

    /// Whether A_c is positive definite, joints being independent: all constraints are.
    pub(super) fn contacts_definite(&self) -> Outcome {
        compare(self.rank(Kind::All), self.m() + self.p())
    }

    /// M > 0 and independent joints.
    pub(super) fn assumption_2(&self) -> Vec<Fact> {
        let mut facts = vec![Fact::PositiveDefinite(MatrixOf::Mass)];
        if self.p() > 0 {
            facts.push(self.rank_fact(Kind::Bilateral, self.p()));
        }
        facts
    }

    /// What makes forces and acceleration unique for every load: M > 0, independent joints, A_c > 0.
    pub(super) fn well_posed(&self) -> Vec<Fact> {
        let matrix = if self.p() > 0 {
            MatrixOf::ConstrainedDelassus(Kind::Unilateral)
        } else {
            MatrixOf::Delassus(Kind::Unilateral)
        };
        let mut facts = self.assumption_2();
        facts.push(Fact::PositiveDefinite(matrix));
        facts
    }

    /// M > 0 and an acceleration that satisfies the constraints: by Gauss' principle there is a solution, and
    /// all have one acceleration. `None` where no such acceleration is known. Where γ = 0 it is a = 0.
    pub(super) fn solvable(&self, set: &AdmissibleSet) -> Option<Vec<Fact>> {
        match set {
            AdmissibleSet::Interior(a) => {
                let mut facts = self.assumption_2();
                facts.push(Fact::Reachable(a.clone()));
                Some(facts)
            }
            AdmissibleSet::NoBias => {
                Some(vec![Fact::PositiveDefinite(MatrixOf::Mass), Fact::NoBias(Kind::All)])
            }
            AdmissibleSet::Empty(_) | AdmissibleSet::Undecided => None,
        }
    }

    /// Whether γ is zero on these rows.
    pub(super) fn flat(&self, rows: &[usize]) -> bool {
        rows.iter().all(|&i| self.dynamics.bias[i] == 0.0)
    }

    /// Whether an acceleration satisfies all constraints: max t with N a + γ_u ≥ t s, G a + γ_b = 0.
    pub(super) fn admissible_set(&self) -> AdmissibleSet {
        let d = self.dynamics;
        let otherwise = if self.flat(&self.joints) && self.flat(&self.contacts) {
            AdmissibleSet::NoBias
        } else {
            AdmissibleSet::Undecided
        };
        if self.joints_independent() != Outcome::Holds || d.laws.len() > MAX_CONSTRAINTS {
            return otherwise;
        }
        let g = d.jacobian.select_rows(&self.joints);
        let n_u = d.jacobian.select_rows(&self.contacts);
        let minus_b: Vec<f64> = self.joints.iter().map(|&i| -d.bias[i]).collect();
        let (base, free) = if self.p() == 0 {
            (vec![0.0; self.n()], Matrix::identity(self.n()))
        } else {
            (g.pseudo_solve(&minus_b), g.row_space().null_basis)
        };
        let along = n_u.mul(&free);
        let (m, k) = (self.m(), free.cols());
        let lengths: Vec<f64> = (0..m).map(|i| norm(n_u.row(i))).collect();
        let at_base: Vec<f64> = (0..m).map(|i| d.bias[self.contacts[i]] + dot(n_u.row(i), &base)).collect();
        let size = (0..m)
            .filter(|&i| lengths[i] > 0.0)
            .map(|i| at_base[i].abs().max(d.bias[self.contacts[i]].abs()) / lengths[i])
            .fold(max_abs(&base), f64::max);
        let size = if size > 0.0 { size } else { 1.0 };
        let rows = Matrix::from_fn(m + 1, k + 1, |i, j| match (i < m, j < k) {
            (true, true) => along[(i, j)],
            (true, false) => -lengths[i],
            (false, true) => 0.0,
            (false, false) => -1.0,
        });
        let bounds: Vec<f64> = at_base.iter().map(|x| -x).chain([-size]).collect();
        let mut cost = vec![0.0; k + 1];
        cost[k] = -1.0;
        if let Lp::Optimal { point, value } = linear_program(&cost, &rows, &bounds) {
            let step = free.mul_vec(&point[..k]);
            let a: Vec<f64> = base.iter().zip(&step).map(|(x, y)| x + y).collect();
            // Rounded too, so that what is zero but for rounding is zero.
            let grain = 2f64.powi((INTERIOR_MARGIN * max_abs(&a).max(size)).log2() as i32 - 20);
            let rounded = a.iter().map(|x| (x / grain).round() * grain).collect();
            if -value > INTERIOR_MARGIN * size
                && let Some(a) = [rounded, a].into_iter().find(|a| self.exactly(&Fact::Reachable(a.clone())))
            {
                return AdmissibleSet::Interior(a);
            }
        }
        if matches!(otherwise, AdmissibleSet::NoBias) {
            return otherwise;
        }
        match nearest_point(&along, &bounds[..m], 1e-10) {
            Nearest::Infeasible(y) => {
                self.farkas(&g, &n_u, &y).map_or(AdmissibleSet::Undecided, AdmissibleSet::Empty)
            }
            _ => AdmissibleSet::Undecided,
        }
    }

    /// Multipliers on all rows from those of the contacts, with small whole ratios, if they refute exactly.
    fn farkas(&self, g: &Matrix, n_u: &Matrix, y: &[f64]) -> Option<Vec<f64>> {
        let push: Vec<f64> = n_u.tr_mul_vec(y).iter().map(|x| -x).collect();
        let of_joints = if self.p() == 0 { vec![] } else { g.transpose().pseudo_solve(&push) };
        let mut z = vec![0.0; self.dynamics.laws.len()];
        self.contacts.iter().zip(y).for_each(|(&i, x)| z[i] = *x);
        self.joints.iter().zip(&of_joints).for_each(|(&i, x)| z[i] = *x);
        let top = max_abs(&z);
        let least = z.iter().map(|x| x.abs()).filter(|&x| x > MARGIN * top).fold(top, f64::min);
        let whole = |k: u32| -> Vec<f64> { z.iter().map(|x| (x * f64::from(k) / least).round()).collect() };
        (1..=12).map(whole).chain([z.clone()]).find(|z| self.exactly(&Fact::Unreachable(z.clone())))
    }
}

fn compare(rank: Option<usize>, full: usize) -> Outcome {
    match rank {
        Some(r) if r == full => Outcome::Holds,
        Some(_) => Outcome::Fails,
        None => Outcome::Undecided,
    }
}

/// D^(-1/2) A D^(-1/2) with D the diagonal of A; rows with a zero on the diagonal stay.
fn unit_diagonal(a: &Matrix) -> Matrix {
    let d: Vec<f64> = (0..a.rows()).map(|i| if a[(i, i)] > 0.0 { a[(i, i)].sqrt() } else { 1.0 }).collect();
    Matrix::from_fn(a.rows(), a.cols(), |i, j| a[(i, j)] / (d[i] * d[j]))
}

/// A finding with the numbers that were compared.
pub(super) fn compared(
    id: &'static str,
    outcome: Outcome,
    value: f64,
    bound: f64,
    meaning: impl Into<String>,
) -> Finding {
    Finding { value: Some(value), bound: Some(bound), ..Finding::silent(id, outcome, meaning) }
}

/// The finding with these facts and what they imply.
pub(super) fn certified(finding: Finding, d: &Dynamics, facts: Vec<Fact>, claims: Claims) -> Finding {
    let certificate = Some(Certificate::new(finding.id, d, facts, claims));
    Finding { claims, certificate, ..finding }
}

/// The result of a proposition on a system without friction that has at least so many joints and contacts.
pub(super) fn ask(
    d: &Dynamics,
    id: &'static str,
    joints: usize,
    contacts: usize,
    then: impl FnOnce(&Frictionless) -> Finding,
) -> Finding {
    match Frictionless::of(d) {
        Ok(s) if s.p() >= joints && s.m() >= contacts => then(&s),
        Ok(_) => {
            Finding::silent(id, Outcome::NotApplicable, "there are no constraints of the kind it speaks of")
        }
        Err(Outcome::Undecided) => {
            Finding::silent(id, Outcome::Undecided, "the mass matrix is nearly singular")
        }
        Err(outcome) => {
            Finding::silent(id, outcome, "it speaks of frictionless constraints and a positive definite mass")
        }
    }
}
