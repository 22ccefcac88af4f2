//! Findings and their certificates.
//!
//! ```text
//! problem ⊨ facts ,      facts ⇒ claims
//! ```
//!
//! A [`Finding`] is the result of one proposition on one contact problem. Where it makes a claim, it carries
//! a [`Certificate`]: the problem itself and facts about its matrices that imply the claim.
//! [`Certificate::verify`] checks the facts in exact rational arithmetic on the numbers of the problem (every
//! `f64` is a rational number), deriving all matrices anew, and that the facts imply the claim
//! (`implication`). It shares no code with the solvers and uses no number that they computed.

use std::fmt;
use std::fmt::Write as _;

use num_rational::BigRational;

use crate::problem::Dynamics;

/// Whether the hypotheses of a proposition are met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// They are: what the proposition concludes is true of this problem.
    Holds,
    /// They are not: the proposition claims nothing more (or, where it is an equivalence, the opposite).
    Fails,
    /// The problem is not of the kind that the proposition speaks of.
    NotApplicable,
    /// Not decided: beyond the size that is examined, or too close to call.
    Undecided,
}

/// What follows for the problem at hand: `Some(true)` and `Some(false)` are claims, `None` is silence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Claims {
    /// There is a solution.
    pub existence: Option<bool>,
    /// There is exactly one acceleration.
    pub acceleration_unique: Option<bool>,
    /// There is exactly one set of forces.
    pub forces_unique: Option<bool>,
}

/// The result of a proposition on a problem.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The proposition, e.g. `000.prop12`.
    pub id: &'static str,
    /// Whether its hypotheses are met.
    pub outcome: Outcome,
    /// The number that the proposition compares, e.g. the largest friction coefficient.
    pub value: Option<f64>,
    /// What it is compared with.
    pub bound: Option<f64>,
    /// What follows for this problem.
    pub claims: Claims,
    /// The finding in words.
    pub meaning: String,
    /// Why it is true; `None` where nothing is claimed.
    pub certificate: Option<Certificate>,
}

impl Finding {
    /// A finding that claims nothing.
    pub fn silent(id: &'static str, outcome: Outcome, meaning: impl Into<String>) -> Self {
        Finding {
            id,
            outcome,
            value: None,
            bound: None,
            claims: Claims::default(),
            meaning: meaning.into(),
            certificate: None,
        }
    }
}

/// Constraints by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Joints and guides.
    Bilateral,
    /// Contacts.
    Unilateral,
    /// All, in the order of the problem.
    All,
}

/// A matrix that is derived from a problem. N has the normal rows of a kind, E the slip directions of the
/// same constraints as columns in the space of rows (zero for a constraint without friction), W = J M⁻¹ Jᵀ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixOf {
    /// M.
    Mass,
    /// The normal gradients of a kind, one row each.
    Gradients(Kind),
    /// [M; N]: mass and normal gradients of a kind, one above the other (its null space is Ker M ∩ Ker N).
    MassAndGradients(Kind),
    /// A_n = N M⁻¹ Nᵀ of a kind.
    Delassus(Kind),
    /// A_t = N M⁻¹ (E)ᵀ of a kind: normal accelerations caused by unit forces along the slip directions.
    SlipCoupling(Kind),
    /// A_n of the kind with the normals of frictionless joints eliminated (A_c for contacts; Ã_nb for
    /// guides).
    ConstrainedDelassus(Kind),
    /// A_t of the kind with the normals of frictionless joints eliminated (Ã_tb; the bracket of 000 eq. 64).
    ConstrainedSlipCoupling(Kind),
    /// N_u M⁻¹ N_bᵀ: normal accelerations of contacts caused by unit forces of joints and guides (E of 001).
    Coupling,
    /// The matrix of the LCP in (λ⁻ of guides with friction, λ_n of contacts): 000 eq. 9, 31, 41, 50, 58.
    SlidingLcp,
}

/// A fact about a problem that can be checked exactly.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// The symmetric part is positive definite.
    PositiveDefinite(MatrixOf),
    /// It is not: xᵀAx ≤ 0 for this x ≠ 0.
    NotPositiveDefinite(MatrixOf, Vec<f64>),
    /// The symmetric part is positive semidefinite.
    PositiveSemidefinite(MatrixOf),
    /// All principal minors are positive.
    PMatrix(MatrixOf),
    /// The principal minor of these rows is not positive.
    NotPMatrix(MatrixOf, Vec<usize>),
    /// xᵀAx ≥ 0 for all x ≥ 0.
    Copositive(MatrixOf),
    /// It is not: xᵀAx < 0 for this x ≥ 0.
    NotCopositive(MatrixOf, Vec<f64>),
    /// The rank is this.
    Rank(MatrixOf, usize),
    /// All entries are ≤ 0.
    Nonpositive(MatrixOf),
    /// Every singular value is at least this.
    SingularValuesAtLeast(MatrixOf, f64),
    /// Every singular value is at most this.
    SingularValuesAtMost(MatrixOf, f64),
    /// Every friction coefficient of the kind, times the first number, is less than the second.
    FrictionBelow(Kind, f64, f64),
    /// An acceleration that satisfies every bilateral row to rounding (relative 1e-9) and every unilateral
    /// row strictly: N_u a + γ_u > 0.
    Reachable(Vec<f64>),
    /// γ = 0 at the normals of the kind.
    NoBias(Kind),
    /// Whether some acceleration satisfies all constraints, N_b a + γ_b = 0 and N_u a + γ_u ≥ 0, is this.
    Admissible(bool),
    /// No motion without mass keeps the constraints: M v = 0, N_b v = 0, N_u v ≥ 0 only for v = 0.
    NoMasslessMotion,
    /// Multipliers λ (one per normal row, contacts ≥ 0) with Nᵀλ = 0 and γᵀλ < 0, exactly: no acceleration
    /// satisfies the constraints.
    Unreachable(Vec<f64>),
    /// This force solves the problem: its residual, evaluated exactly, is at most the second number (relative
    /// to the problem's scale).
    Solution(Vec<f64>, f64),
    /// Friction is too weak to pull the problem apart: with W on the rows that are not of joints, joints
    /// held, W − Σ ½μ (s e_n e_nᵀ + s⁻¹ W_tᵀ W_t) is positive definite. The sum is over contacts and guides,
    /// with their tangents and, where they resist rolling, their rotations; s > 0 are these numbers, two per
    /// constraint.
    WeakFriction(Vec<f64>),
    /// γ = 0, and these forces, one per row, balance F: Jᵀf = F, without friction at contacts, whose normals
    /// push, and with friction within its bound where a given load presses a pad.
    Equilibrium(Vec<BigRational>),
    /// The exact list of all modes has these answers.
    AllModes(Claims),
}

/// A problem, facts about it, and what they imply.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The problem.
    pub dynamics: Dynamics,
    /// The facts.
    pub facts: Vec<Fact>,
    /// What they imply.
    pub claims: Claims,
    /// The proposition that draws the implication.
    pub id: &'static str,
    /// Digest of all of the above, so that a certificate that was damaged on its way is refused.
    pub seal: u64,
}

impl Certificate {
    /// A sealed certificate.
    pub fn new(id: &'static str, dynamics: &Dynamics, facts: Vec<Fact>, claims: Claims) -> Self {
        let mut certificate = Certificate { dynamics: dynamics.clone(), facts, claims, id, seal: 0 };
        certificate.seal = certificate.digest();
        certificate
    }

    /// Whether nothing was changed since it was written.
    pub(super) fn is_whole(&self) -> bool {
        self.seal == self.digest()
    }

    fn digest(&self) -> u64 {
        let Certificate { dynamics, facts, claims, id, seal: _ } = self;
        let Dynamics { mass, force, jacobian, bias, laws } = dynamics;
        let mut digest = Digest::default();
        for numbers in [mass.data(), force, jacobian.data(), bias] {
            digest.add(numbers.len() as u64);
            numbers.iter().for_each(|x| digest.add(x.to_bits()));
        }
        // The debug form prints every number with all its digits, and every name. A digest takes all text.
        let _ = write!(digest, "{laws:?}{facts:?}{claims:?}{id}");
        digest.0
    }
}

/// FNV-1a, by words of 64 bits for numbers and by bytes for text: what is changed in one place changes it.
struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Digest(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    fn add(&mut self, word: u64) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0100_0000_01b3);
    }
}

impl fmt::Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(|b| self.add(b.into()));
        Ok(())
    }
}
