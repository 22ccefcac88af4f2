//! What the facts of a certificate imply.
//!
//! ```text
//! facts ∧ laws ⇒ claims
//! ```
//!
//! [`crate::analysis::verify`] decides whether each fact is true of the problem; here it is decided, for the
//! proposition that the certificate names, whether facts that are true imply its claims. M is the mass, N_b
//! and N_u are the normal rows of joints and contacts, γ their bias, W = J M⁻¹ Jᵀ. A handful of theorems
//! carries all propositions (`linear`, `gauss`, `coercive`, `impossible`, `sliding_lcp`, `contraction`,
//! `copositive`, `weak_friction`, `modes` below); each proposition has its laws, the theorems it may call on,
//! and the most it can claim. Nothing here is shared with the functions that construct certificates.

use super::certificate::{Certificate, Claims, Fact, Kind, MatrixOf};
use crate::problem::{Dynamics, Law};

/// Whether the claims of a certificate follow from its facts, these being true, by the proposition it names.
pub(super) fn follows(certificate: &Certificate) -> bool {
    let Some(proposition) = proposition(certificate.id) else { return false };
    let known = Known { dynamics: &certificate.dynamics, facts: &certificate.facts };
    let implied = proposition.theorems.iter().map(|theorem| theorem(&known)).fold(Claims::default(), both);
    let claims = &certificate.claims;
    let covered = |claim: Option<bool>, implied: Option<bool>| claim.is_none() || claim == implied;
    (proposition.laws)(&certificate.dynamics.laws)
        && proposition.covers(claims)
        && covered(claims.existence, implied.existence)
        && covered(claims.acceleration_unique, implied.acceleration_unique)
        && covered(claims.forces_unique, implied.forces_unique)
}

/// Facts that are true cannot imply opposite claims: the first one stands.
fn both(x: Claims, y: Claims) -> Claims {
    Claims {
        existence: x.existence.or(y.existence),
        acceleration_unique: x.acceleration_unique.or(y.acceleration_unique),
        forces_unique: x.forces_unique.or(y.forces_unique),
    }
}

type Theorem = fn(&Known) -> Claims;

/// A proposition: the laws it speaks of, the theorems that carry it, and the most it can claim.
struct Proposition {
    laws: fn(&[Law]) -> bool,
    theorems: &'static [Theorem],
    /// 1: there is a solution; 2: and one acceleration; 3: and one set of forces.
    most: u8,
    /// May claim that there is no solution.
    refutes: bool,
    /// May claim that there are several.
    several: bool,
}

impl Proposition {
    fn covers(&self, claims: &Claims) -> bool {
        let yes = |claim: Option<bool>, level: u8| claim != Some(true) || self.most >= level;
        let none = self.refutes && claims.existence == Some(false);
        let no = |claim: Option<bool>| claim != Some(false) || none || self.several;
        yes(claims.existence, 1)
            && yes(claims.acceleration_unique, 2)
            && yes(claims.forces_unique, 3)
            && (claims.existence != Some(false) || none)
            && no(claims.acceleration_unique)
            && no(claims.forces_unique)
    }
}

/// The proposition of an id; `None` where there is none.
fn proposition(id: &str) -> Option<Proposition> {
    let of = |laws: fn(&[Law]) -> bool, theorems: &'static [Theorem], most: u8| Proposition {
        laws,
        theorems,
        most,
        refutes: false,
        several: false,
    };
    let or_none = |p: Proposition| Proposition { refutes: true, ..p };
    let or_several = |p: Proposition| Proposition { several: true, ..p };
    Some(match id {
        "modes" => or_several(or_none(of(|_| true, &[modes], 3))),
        "admissible" => or_none(of(|_| true, &[impossible], 0)),
        "weak" => of(|_| true, &[weak_friction], 3),
        "rest" => of(opposes, &[rest], 2),

        "000.prop1i" | "000.appE.iii'" => of(joints_alone, &[linear], 3),
        "000.prop1ii" | "000.appE.iv" => or_several(or_none(of(joints_alone, &[linear, impossible], 3))),
        "000.prop3i" => of(contacts_alone, &[gauss], 3),
        "000.prop3ii" | "000.prop4" => of(contacts_alone, &[gauss], 2),
        "000.prop3iii" | "000.prop3v" => of(contacts_alone, &[gauss], 1),
        "000.prop3iv" => or_none(of(contacts_alone, &[gauss, impossible], 1)),
        "000.prop3vi" => of(contacts_alone, &[coercive], 1),
        "000.cor1" => of(frictionless, &[gauss], 2),
        "000.prop7i" => of(joints_and_contacts, &[gauss], 3),
        "000.prop5" | "000.prop7ii" | "000.prop7iii" => of(joints_and_contacts, &[gauss], 2),
        "000.prop7iv" | "000.prop7vi" => of(joints_and_contacts, &[gauss], 1),
        "000.prop7v" | "000.prop8" => or_none(of(joints_and_contacts, &[gauss, impossible], 1)),
        "000.prop7vii" => of(joints_and_contacts, &[coercive], 1),

        "000.prop9" => of(|laws| slide(laws, false, true, false), &[contraction], 3),
        "000.prop10" => of(|laws| slide(laws, false, true, false), &[contraction_by_three], 3),
        "000.prop11" => of(|laws| slide(laws, true, true, false), &[contraction], 3),
        "000.prop12" => of(|laws| slide(laws, false, false, true), &[contraction], 3),
        "000.prop13" => of(|laws| slide(laws, false, true, true), &[sliding_lcp], 3),
        "000.prop14" => of(|laws| slide(laws, true, false, true), &[contraction], 3),
        "000.cor2" => of(|laws| slide(laws, false, false, true), &[copositive], 1),
        "000.hlcp" => of(guides, &[sliding_lcp], 3),
        "000.positive" => of(all_slide, &[definite_lcp], 3),
        "000.pmatrix" => of(all_slide, &[sliding_lcp], 3),

        "001.prop1" => of(contacts_alone, &[gauss], 3),
        "001.prop2" => or_none(of(contacts_alone, &[gauss, impossible], 2)),
        "001.prop3" => or_none(of(contacts_alone, &[gauss, impossible], 1)),
        "001.prop4" => of(some_contacts, &[gauss], 3),
        "001.prop6" | "001.lemma5" | "001.prop13" => or_none(of(some_contacts, &[gauss, impossible], 2)),
        "001.lemma4" => or_none(of(some_contacts, &[gauss, impossible], 1)),
        "001.prop7" | "001.thm1" | "001.cor3" | "001.prop9" | "001.cor4" | "001.prop15" => {
            of(joints_and_contacts, &[gauss], 3)
        }
        "001.prop10" => of(some_contacts, &[gauss], 3),
        "001.prop11" => of(contacts_alone, &[gauss], 1),
        "001.prop12" => of(some_contacts, &[gauss], 1),
        "001.prop14" => of(some_contacts, &[gauss], 2),
        // These are about matrices and claim nothing about solutions.
        "001.lemma1" | "001.lemma2" | "001.lemma3" => of(frictionless, &[], 0),
        "001.prop5" | "001.prop8" | "001.cor1" | "001.cor2" | "001.cor5" => of(some_contacts, &[], 0),

        "002.lemma51" => or_none(of(some_contacts, &[impossible], 0)),
        "002.lemma52" => or_none(of(frictionless, &[gauss, impossible], 3)),
        "003.jam" => or_several(or_none(of(one_sliding_contact, &[definite_lcp, modes], 3))),
        _ => return None,
    })
}

/// Joints, and contacts whose friction of every kind opposes the motion.
fn opposes(laws: &[Law]) -> bool {
    let joint_or_smooth = |law: &Law| matches!(law, Law::Bilateral | Law::Unilateral);
    let sliding = |law: &Law| matches!(law, Law::CoulombPlane { .. } | Law::Coulomb { .. });
    let rolling = |law: &Law| matches!(law, Law::Rolling { .. } | Law::Spinning { .. });
    laws.iter().all(|law| joint_or_smooth(law) || sliding(law) || rolling(law))
}

const NOTHING: Claims = Claims { existence: None, acceleration_unique: None, forces_unique: None };
const ONE: Claims =
    Claims { existence: Some(true), acceleration_unique: Some(true), forces_unique: Some(true) };
const NONE: Claims =
    Claims { existence: Some(false), acceleration_unique: Some(false), forces_unique: Some(false) };
const SOLVABLE: Claims = Claims { existence: Some(true), acceleration_unique: None, forces_unique: None };

fn count(laws: &[Law], kind: Kind) -> usize {
    let of = |law: &&Law| match kind {
        Kind::Bilateral => law.is_bilateral(),
        Kind::Unilateral => !law.is_bilateral(),
        Kind::All => true,
    };
    laws.iter().filter(of).count()
}

fn frictionless(laws: &[Law]) -> bool {
    laws.iter().all(|law| law.mu() == 0.0)
}

fn some_contacts(laws: &[Law]) -> bool {
    frictionless(laws) && count(laws, Kind::Unilateral) > 0
}

fn joints_alone(laws: &[Law]) -> bool {
    frictionless(laws) && count(laws, Kind::Unilateral) == 0
}

fn contacts_alone(laws: &[Law]) -> bool {
    some_contacts(laws) && count(laws, Kind::Bilateral) == 0
}

fn joints_and_contacts(laws: &[Law]) -> bool {
    some_contacts(laws) && count(laws, Kind::Bilateral) > 0
}

/// Joints and contacts without friction, guides and contacts that slide: the laws of the sliding LCP.
fn all_slide(laws: &[Law]) -> bool {
    laws.iter().all(|law| match law {
        Law::Bilateral | Law::Unilateral | Law::Sliding { .. } | Law::BilateralSliding { .. } => true,
        Law::CoulombPlane { .. } | Law::Coulomb { .. } => false,
        Law::Cone { .. } | Law::ConePlane { .. } | Law::ConeRolling { .. } => false,
        Law::CoulombEllipse { .. } | Law::Rolling { .. } => false,
        Law::Spinning { .. } | Law::ConeSpinning { .. } => false,
        Law::BilateralCoulombPlane { .. } | Law::BilateralCoulomb { .. } => false,
    })
}

/// As [`all_slide`], with joints, guides and contacts as asked.
fn slide(laws: &[Law], joints: bool, guides: bool, contacts: bool) -> bool {
    let any = |test: fn(&Law) -> bool| laws.iter().any(test);
    all_slide(laws)
        && any(|law| matches!(law, Law::Bilateral)) == joints
        && any(|law| matches!(law, Law::BilateralSliding { .. })) == guides
        && any(|law| !law.is_bilateral()) == contacts
}

/// Guides that slide, with or without joints.
fn guides(laws: &[Law]) -> bool {
    slide(laws, false, true, false) || slide(laws, true, true, false)
}

/// One contact that slides; all else are joints without friction.
fn one_sliding_contact(laws: &[Law]) -> bool {
    let others = laws.iter().filter(|law| !matches!(law, Law::Bilateral));
    others.clone().count() == 1 && others.into_iter().all(|law| matches!(law, Law::Sliding { .. }))
}

/// A problem and facts that are true of it.
struct Known<'a> {
    dynamics: &'a Dynamics,
    facts: &'a [Fact],
}

impl Known<'_> {
    fn has(&self, fact: &Fact) -> bool {
        self.facts.contains(fact)
    }

    fn laws(&self) -> &[Law] {
        &self.dynamics.laws
    }

    fn count(&self, kind: Kind) -> usize {
        count(self.laws(), kind)
    }

    /// M = Mᵀ exactly, so that Ker M = {x : xᵀMx = 0} for M ⪰ 0, and W is symmetric.
    fn symmetric(&self) -> bool {
        let m = &self.dynamics.mass;
        m.rows() == m.cols() && (0..m.rows()).all(|i| (0..i).all(|j| m[(i, j)] == m[(j, i)]))
    }

    /// M = Mᵀ ≻ 0.
    fn definite_mass(&self) -> bool {
        self.symmetric() && self.has(&Fact::PositiveDefinite(MatrixOf::Mass))
    }

    /// The rank that is known of the normal gradients of a kind.
    fn rank(&self, kind: Kind) -> Option<usize> {
        let found = self.facts.iter().find_map(|fact| match fact {
            Fact::Rank(MatrixOf::Gradients(k), rank) if *k == kind => Some(*rank),
            _ => None,
        });
        if self.count(kind) == 0 { Some(0) } else { found }
    }

    /// All normals are independent, M ≻ 0 being known: by their rank, by A_n ≻ 0, or by A_c ≻ 0. A_c exists
    /// only where the joints that it eliminates are independent, so that then W on all normals is definite;
    /// it has to have eliminated all of them.
    fn independent(&self) -> bool {
        let contacts_definite = |matrix: fn(Kind) -> MatrixOf| {
            self.has(&Fact::PositiveDefinite(matrix(Kind::Unilateral))) && self.count(Kind::Unilateral) > 0
        };
        let plain_joints = self.laws().iter().all(|law| !law.is_bilateral() || matches!(law, Law::Bilateral));
        self.rank(Kind::All) == Some(self.count(Kind::All))
            || joints_alone(self.laws()) && self.rank(Kind::Bilateral) == Some(self.count(Kind::All))
            || contacts_alone(self.laws()) && self.rank(Kind::Unilateral) == Some(self.count(Kind::All))
            || self.has(&Fact::PositiveDefinite(MatrixOf::Delassus(Kind::All)))
            || self.count(Kind::Bilateral) == 0 && contacts_definite(MatrixOf::Delassus)
            || plain_joints && contacts_definite(MatrixOf::ConstrainedDelassus)
    }

    /// Some a has N_b a + γ_b = 0, N_u a + γ_u ≥ 0. A reachable acceleration keeps a largest set of
    /// independent joints exactly: all of them where they are independent or where γ_b = 0.
    fn admissible(&self) -> bool {
        let no_bias = |kind: Kind| {
            self.count(kind) == 0 || self.has(&Fact::NoBias(kind)) || self.has(&Fact::NoBias(Kind::All))
        };
        let reachable = || self.facts.iter().any(|fact| matches!(fact, Fact::Reachable(_)));
        let joints_hold =
            || self.rank(Kind::Bilateral) == Some(self.count(Kind::Bilateral)) || no_bias(Kind::Bilateral);
        self.has(&Fact::Admissible(true))
            || no_bias(Kind::Bilateral) && no_bias(Kind::Unilateral)
            || reachable() && joints_hold()
    }

    /// What is known where there is no friction, a solution exists and all have one acceleration: two sets of
    /// normal forces differ by an element of Ker Nᵀ, and any element of Ker N_bᵀ can be added to those of the
    /// joints.
    fn with_forces(&self, independent: bool) -> Claims {
        let redundant = self.rank(Kind::Bilateral).is_some_and(|r| r < self.count(Kind::Bilateral));
        Claims {
            existence: Some(true),
            acceleration_unique: Some(true),
            forces_unique: if independent { Some(true) } else { redundant.then_some(false) },
        }
    }
}

/// Joints alone, M ⪰ 0, Ker M ∩ Ker N_b = {0}: ½aᵀMa + Fᵀa is strictly convex on N_b a = −γ_b, so that where
/// this is not empty there is one acceleration, with multipliers (000 Prop. 1, App. E). Independent joints
/// make it not empty.
fn linear(known: &Known) -> Claims {
    let n = known.dynamics.mass.rows();
    let holds = known.symmetric()
        && known.has(&Fact::PositiveSemidefinite(MatrixOf::Mass))
        && known.has(&Fact::Rank(MatrixOf::MassAndGradients(Kind::Bilateral), n));
    let independent = known.rank(Kind::Bilateral) == Some(known.count(Kind::Bilateral));
    if !joints_alone(known.laws()) || !holds || !(independent || known.admissible()) {
        return NOTHING;
    }
    known.with_forces(independent)
}

/// No friction, M ≻ 0: Gauss' principle min ½aᵀMa + Fᵀa over N_b a + γ_b = 0, N_u a + γ_u ≥ 0 is strictly
/// convex with linear constraints. Where an acceleration satisfies them there is one minimizer, with
/// multipliers (000 Cor. 1); independent normals make that so and the multipliers unique (000 Prop. 3 (i), 7
/// (i)).
fn gauss(known: &Known) -> Claims {
    if !frictionless(known.laws()) || !known.definite_mass() {
        return NOTHING;
    }
    let independent = known.independent();
    if independent || known.admissible() { known.with_forces(independent) } else { NOTHING }
}

/// No friction, M ⪰ 0: where N_b v = 0, N_u v ≥ 0, M v = 0 only for v = 0, the objective of Gauss' principle
/// grows along every direction of its polyhedron and has a minimum there, with multipliers; M ≻ 0 makes that
/// so (000 Prop. 3 (vi), 7 (vii)).
fn coercive(known: &Known) -> Claims {
    let holds = known.definite_mass()
        || known.symmetric()
            && known.has(&Fact::PositiveSemidefinite(MatrixOf::Mass))
            && known.has(&Fact::NoMasslessMotion);
    if frictionless(known.laws()) && holds && known.admissible() { SOLVABLE } else { NOTHING }
}

/// Every law asks for N_b a + γ_b = 0 and N_u a + γ_u ≥ 0 (the cone law too: u_n ≥ μ‖u_t‖).
fn impossible(known: &Known) -> Claims {
    let refuted = |fact: &Fact| matches!(fact, Fact::Unreachable(_) | Fact::Admissible(false));
    if known.facts.iter().any(refuted) { NONE } else { NOTHING }
}

/// The sliding LCP has one solution for every load where its matrix is P; that it exists means that M and the
/// block of the unknowns solved for are regular, so that forces and acceleration follow from it (000 App. A,
/// eq. 58).
fn sliding_lcp(known: &Known) -> Claims {
    if all_slide(known.laws()) && known.has(&Fact::PMatrix(MatrixOf::SlidingLcp)) { ONE } else { NOTHING }
}

/// A positive definite matrix is P.
fn definite_lcp(known: &Known) -> Claims {
    if all_slide(known.laws()) && known.has(&Fact::PositiveDefinite(MatrixOf::SlidingLcp)) {
        ONE
    } else {
        NOTHING
    }
}

/// max μ < σ_min(A_n)/σ_max(A_t), joints eliminated where there are any (that the matrices exist means that M
/// and A_n of the joints are regular). Guides: λ = A_n⁻¹(A_t diag(μ)|λ| − w) is a contraction (000 Prop.
/// 9–11). Contacts: A_n is symmetric and, with M ≻ 0, positive semidefinite, xᵀ(A_n − A_t diag(μ))x ≥ (σ_min
/// − max μ σ_max)‖x‖² (000 Prop. 12, 14).
fn contraction(known: &Known) -> Claims {
    contraction_by(known, 1.0)
}

/// The same with a third of the bound (000 Prop. 10).
fn contraction_by_three(known: &Known) -> Claims {
    contraction_by(known, 3.0)
}

fn contraction_by(known: &Known, factor: f64) -> Claims {
    let joints = known.laws().iter().any(|law| matches!(law, Law::Bilateral));
    let kind = if slide(known.laws(), joints, true, false) {
        Kind::Bilateral
    } else if slide(known.laws(), joints, false, true) {
        Kind::Unilateral
    } else {
        return NOTHING;
    };
    let (normal, slip) = if joints {
        (MatrixOf::ConstrainedDelassus(kind), MatrixOf::ConstrainedSlipCoupling(kind))
    } else {
        (MatrixOf::Delassus(kind), MatrixOf::SlipCoupling(kind))
    };
    let at_least = |bound: f64| {
        known.facts.iter().any(
            |fact| matches!(fact, Fact::SingularValuesAtLeast(matrix, s) if *matrix == normal && *s >= bound),
        )
    };
    let at_most = |bound: f64| {
        known.facts.iter().any(
            |fact| matches!(fact, Fact::SingularValuesAtMost(matrix, s) if *matrix == slip && factor * s <= bound),
        )
    };
    let below = known.facts.iter().any(
        |fact| matches!(fact, Fact::FrictionBelow(of, high, low) if *of == kind && at_most(*high) && at_least(*low)),
    );
    if below && known.definite_mass() { ONE } else { NOTHING }
}

/// Contacts alone, M ≻ 0, A_t ≤ 0: A_n − A_t diag(μ) is copositive, and solutions z of the homogeneous LCP
/// have zᵀA_n z = 0, N_uᵀz = 0. The LCP is solvable where zᵀw = zᵀγ_u ≥ 0 for all of them: where some a has
/// N_u a + γ_u ≥ 0, and where N_u has independent rows, so that z = 0 (000 Cor. 2).
fn copositive(known: &Known) -> Claims {
    let opens = known.has(&Fact::Nonpositive(MatrixOf::SlipCoupling(Kind::Unilateral)));
    let independent = known.has(&Fact::PositiveDefinite(MatrixOf::Delassus(Kind::Unilateral)));
    let contacts = slide(known.laws(), false, false, true);
    if contacts && known.definite_mass() && opens && (independent || known.admissible()) {
        SOLVABLE
    } else {
        NOTHING
    }
}

/// Friction that is weak against the normals, M ≻ 0, for all laws of Coulomb's kind. Two solutions differ by
/// Δf and Δu = W Δf, joints held, with
///
/// Δfᵀ W Δf ≤ Σ μ |Δf_n| ‖Δu_t‖ ≤ Δfᵀ Σ ½μ (s e_n e_nᵀ + s⁻¹ W_tᵀ W_t) Δf ,
///
/// because Δf_n Δu_n ≤ 0 and f_t·u_t = −μ |f_n| ‖u_t‖, ‖f_t‖ ≤ μ |f_n| in both (f_t = −μ |f_n| e for a known
/// slip direction). [`Fact::WeakFriction`] leaves Δf = 0, and the forces of joints follow, as that fact
/// solves for them. The same inequality with one solution bounds all solutions for the coefficients t μ, 0 ≤
/// t ≤ 1, which are unique as well: their degree is that of the problem without friction, where W ≻ 0 makes
/// it one, and there is a solution.
fn weak_friction(known: &Known) -> Claims {
    let weak = known.facts.iter().any(|fact| matches!(fact, Fact::WeakFriction(_)));
    if weak && known.definite_mass() { ONE } else { NOTHING }
}

/// Equilibrium without friction, M ≻ 0: rest is a solution, and the power of the difference of two solutions,
/// (a − a')ᵀM(a − a') = Σ (f − f')·(u − u'), is not positive (the proof stands at the head of `rest`).
fn rest(known: &Known) -> Claims {
    let balanced = known.facts.iter().any(|fact| matches!(fact, Fact::Equilibrium(_)));
    if balanced && known.definite_mass() {
        Claims { acceleration_unique: Some(true), ..SOLVABLE }
    } else {
        NOTHING
    }
}

/// All modes were examined.
fn modes(known: &Known) -> Claims {
    let of = |fact: &Fact| if let Fact::AllModes(claims) = fact { *claims } else { NOTHING };
    known.facts.iter().map(of).fold(NOTHING, both)
}
