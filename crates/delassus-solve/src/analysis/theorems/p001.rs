//! The propositions of 001 (Brogliato 2013) on existence and uniqueness without friction, as corrected.
//!
//! ```text
//! 0 ≤ λ_u ⊥ A_c λ_u + H₄ ≥ 0,   A_c = ∇hᵀ M_c⁻¹ ∇h,   M_c⁻¹ = M⁻¹ − M⁻¹∇g (∇gᵀM⁻¹∇g)⁻¹ ∇gᵀM⁻¹
//! ```
//!
//! M (n × n) is positive definite, ∇h (n × m) are the gradients of the contacts, ∇g (n × p) those of the
//! joints, A = ∇hᵀM⁻¹∇h; H₀ and H₄ are the contact accelerations without contact forces, joints free or
//! bilateral (001 eq. 2, 3, 16, 17, 20, 21). γ = d/dt(∇ᵀ)q̇ is zero where gradients do not rotate. Assumption
//! 1: A > 0. Assumption 2: ∇gᵀM⁻¹∇g > 0, the joints are independent. The definiteness of A_c from kinetic
//! angles is in [`crate::analysis::theorems::p001_angles`], reduced coordinates are in [`crate::problem`].
//!
//! All claims about a problem follow from these conditions by one argument: M > 0 and an acceleration that
//! satisfies all constraints make Gauss' principle a strictly convex program with linear constraints, which
//! has one solution, with multipliers. H₄ ∈ Q*(A_c), the condition of 001, means by Farkas' lemma that there
//! is such an acceleration.

use super::decision::{AdmissibleSet, MARGIN, NO_SOLUTION, ONE_ACCELERATION, SOLVABLE, WELL_POSED};
use super::frictionless::{Frictionless, ORTHOGONAL, ask, certified, compared};
use crate::analysis::certificate::{Claims, Fact, Finding, Kind, MatrixOf, Outcome};
use crate::contact::{DENSE_TOLERANCE, solve_any_law};
use crate::lcp::{QpOutcome, projected_gauss_principle};
use crate::linalg::{Matrix, max_abs, norm};
use crate::problem::{Dynamics, Status, constrained_inverse_mass};

/// 001 Prop. 1: contacts alone. The LCP (2) has exactly one solution for every H₀ if and only if A > 0.
/// Compares the smallest eigenvalue of A, scaled to unit diagonal, with 0.
pub fn prop_001_1(d: &Dynamics) -> Finding {
    contacts_alone(d, "001.prop1", |s, id| {
        let outcome = s.contacts_definite();
        let (_, smallest) = s.spectrum(&s.contacts);
        match outcome {
            Outcome::Holds => {
                let f = compared(
                    id,
                    outcome,
                    smallest,
                    0.0,
                    "the contacts are independent: one solution for every load",
                );
                certified(f, d, s.well_posed(), WELL_POSED)
            }
            Outcome::Fails => dependent(
                s,
                compared(
                    id,
                    outcome,
                    smallest,
                    0.0,
                    "the contacts are dependent: some loads have no solution or many",
                ),
            ),
            _ => compared(id, outcome, smallest, 0.0, "the contacts are nearly dependent"),
        }
    })
}

/// 001 Prop. 2: contacts alone, any number. ∇h λ_u (corrected: no transpose), H₀ᵀλ_u and the acceleration are
/// the same for all solutions; claimed where there is a solution.
pub fn prop_001_2(d: &Dynamics) -> Finding {
    contacts_alone(d, "001.prop2", |s, id| {
        by_admissible_set(s, id, ONE_ACCELERATION, "whatever the forces, contacts cause one acceleration")
    })
}

/// 001 Prop. 3: contacts alone, any number. The LCP (2) is solvable (i) if zᵀH₀ ≥ 0 for all z ∈ Rᵐ with 0 ≤ z
/// ⊥ Az ≥ 0 (corrected: not Rⁿ), (ii) if the gradients do not turn. By Farkas' lemma (i) is necessary too.
pub fn prop_001_3(d: &Dynamics) -> Finding {
    contacts_alone(d, "001.prop3", |s, id| {
        let meaning = if s.flat(&s.contacts) {
            "the contact gradients do not turn, so there is a solution"
        } else {
            "the contacts leave room to move, so there is a solution"
        };
        by_admissible_set(s, id, SOLVABLE, meaning)
    })
}

/// 001 Prop. 4: gradients that do not turn (γ = 0), joints and contacts in any number. (i) ∇h λ_u + ∇g λ_b
/// and the acceleration are the same for all solutions; (ii) independent constraints have one set of forces.
/// That there is a solution is 002 Lemma 5.2.
pub fn prop_001_4(d: &Dynamics) -> Finding {
    ask(d, "001.prop4", 0, 1, |s| {
        let id = "001.prop4";
        if !(s.flat(&s.joints) && s.flat(&s.contacts)) {
            return Finding::silent(id, Outcome::Fails, "some gradients turn, of which it does not speak");
        }
        let mut facts = vec![Fact::PositiveDefinite(MatrixOf::Mass), Fact::NoBias(Kind::All)];
        let mut claims = ONE_ACCELERATION;
        let mut meaning = "no gradient turns: all solutions share one acceleration";
        if s.contacts_definite() == Outcome::Holds {
            facts.push(s.rank_fact(Kind::All, s.m() + s.p()));
            claims = WELL_POSED;
            meaning = "no gradient turns and all are independent: one solution";
        }
        certified(Finding::silent(id, Outcome::Holds, meaning), d, facts, claims)
    })
}

/// 001 Prop. 5: independent joints that are orthogonal to all contacts in the metric M⁻¹ change nothing at
/// the contacts: A_c = A, H₄ = H₀. Compares the largest cosine between a joint and a contact with 0.
pub fn prop_001_5(d: &Dynamics) -> Finding {
    ask(d, "001.prop5", 1, 1, |s| {
        let id = "001.prop5";
        let cosine = s.cosines(&s.contacts, &s.joints).max_abs();
        match (s.joints_independent(), cosine) {
            (Outcome::Holds, c) if c <= ORTHOGONAL => {
                let meaning = "no joint acts on a contact: the contacts behave as if there were no joints";
                let finding = compared(id, Outcome::Holds, c, 0.0, meaning);
                // Zero to rounding need not be zero.
                let orthogonal = Fact::Rank(MatrixOf::Coupling, 0);
                if !s.exactly(&orthogonal) {
                    return finding;
                }
                let facts = s.assumption_2().into_iter().chain([orthogonal]).collect();
                certified(finding, d, facts, Claims::default())
            }
            (Outcome::Holds, c) if c > MARGIN => {
                compared(id, Outcome::Fails, c, 0.0, "a joint acts on a contact")
            }
            (Outcome::Fails, c) => compared(id, Outcome::Fails, c, 0.0, "the joints are dependent"),
            (_, c) => {
                compared(id, Outcome::Undecided, c, 0.0, "too close to orthogonal or to dependent to call")
            }
        }
    })
}

/// 001 Lemma 1: Ker M_c⁻¹ = R(∇g) and R(M_c⁻¹) = Ker ∇gᵀ for independent joints. (The idempotents of its
/// proof are not symmetric; the statement is right.) Compares ‖M_c⁻¹∇g‖/(‖M_c⁻¹‖‖∇g‖), which is 0 but for
/// rounding, with 0.
pub fn lemma_001_1(d: &Dynamics) -> Finding {
    ask(d, "001.lemma1", 1, 0, |s| {
        let g = d.jacobian.select_rows(&s.joints);
        let Some(mc) = constrained_inverse_mass(&d.mass, &g) else {
            return Finding::silent("001.lemma1", Outcome::Undecided, "the mass matrix is nearly singular");
        };
        let size = mc.max_abs() * g.max_abs();
        let left = mc.mul(&g.transpose()).max_abs();
        let value = if size > 0.0 { left / size } else { 0.0 };
        of_joints(
            s,
            "001.lemma1",
            value,
            0.0,
            "joints take exactly the forces along their gradients, and leave the motions that keep them",
        )
    })
}

/// 001 Lemma 2: M_c⁻¹ is symmetric with rank n − p for independent joints. Compares its rank with n − p.
pub fn lemma_001_2(d: &Dynamics) -> Finding {
    ask(d, "001.lemma2", 1, 0, |s| {
        let rank = constrained_inverse_mass(&d.mass, &d.jacobian.select_rows(&s.joints)).map_or(0, |mc| {
            // Joints are removed by subtraction: what is left of them is rounding of size ε‖M⁻¹‖.
            let top = mc.singular_values().first().copied().unwrap_or(0.0);
            mc.singular_values().iter().filter(|&&x| x > MARGIN * top).count()
        });
        let free = s.n() as f64 - s.p() as f64;
        of_joints(s, "001.lemma2", rank as f64, free, "the joints leave n − p independent motions")
    })
}

/// 001 Lemma 3: M_c⁻¹, and with it A_c, is positive semidefinite. (Its proof projects on R(M^(-1/2)∇g), not
/// on R(∇g).) Compares the smallest eigenvalue of M_c⁻¹ with 0.
pub fn lemma_001_3(d: &Dynamics) -> Finding {
    ask(d, "001.lemma3", 1, 0, |s| {
        let value = constrained_inverse_mass(&d.mass, &d.jacobian.select_rows(&s.joints))
            .and_then(|mc| mc.symmetric_eigenvalues().first().copied())
            .unwrap_or(0.0);
        let meaning = "forces at contacts never pull against themselves: A_c is positive semidefinite";
        let finding = of_joints(s, "001.lemma3", value, 0.0, meaning);
        if finding.outcome != Outcome::Holds || s.m() == 0 {
            return finding;
        }
        let mut facts = s.assumption_2();
        facts.push(Fact::PositiveSemidefinite(MatrixOf::ConstrainedDelassus(Kind::Unilateral)));
        certified(finding, d, facts, Claims::default())
    })
}

/// 001 Prop. 6: independent joints. Two solutions differ by ∇h(λ₁ − λ₂) ∈ Ker M_c⁻¹ and by nothing in H₄ᵀλ_u:
/// the acceleration is one; claimed where there is a solution.
pub fn prop_001_6(d: &Dynamics) -> Finding {
    with_independent_joints(d, "001.prop6", |s, id| {
        by_admissible_set(
            s,
            id,
            ONE_ACCELERATION,
            "whatever the forces, joints and contacts cause one acceleration",
        )
    })
}

/// 001 Corollary 1: where R(∇h) ∩ R(∇g) = {0}, ∇h λ_u is the same for all solutions. Compares rank(∇h ∇g)
/// with rank ∇h + rank ∇g.
pub fn corollary_001_1(d: &Dynamics) -> Finding {
    ask(d, "001.cor1", 1, 1, |s| {
        let id = "001.cor1";
        let kinds = [Kind::All, Kind::Unilateral, Kind::Bilateral];
        let [Some(all), Some(u), Some(b)] = kinds.map(|k| s.rank(k)) else {
            return Finding::silent(id, Outcome::Undecided, "the constraints are nearly dependent");
        };
        let (outcome, meaning) = if all == u + b {
            (Outcome::Holds, "contacts and joints share no direction: the sum of the contact forces is one")
        } else {
            (Outcome::Fails, "contacts and joints share a direction: a joint can take over from a contact")
        };
        let facts = kinds.iter().zip([all, u, b]).map(|(&k, r)| s.rank_fact(k, r)).collect();
        certified(compared(id, outcome, all as f64, (u + b) as f64, meaning), d, facts, Claims::default())
    })
}

/// 001 Lemma 4: independent joints. The LCP (20) is solvable (i) if zᵀH₄ ≥ 0 for all z ∈ Rᵐ with 0 ≤ z ⊥ A_c
/// z ≥ 0 (corrected: not Rⁿ), (ii) if γ = 0 and R(∇h) ∩ R(∇g) = {0}. By Farkas' lemma (i) is necessary too,
/// and in (ii) γ = 0 is enough.
pub fn lemma_001_4(d: &Dynamics) -> Finding {
    with_independent_joints(d, "001.lemma4", |s, id| {
        by_admissible_set(
            s,
            id,
            SOLVABLE,
            "joints and contacts leave an acceleration, so there is a solution",
        )
    })
}

/// 001 Lemma 5: under the condition of Lemma 4 (i) the program (56) is feasible, and the acceleration is one.
pub fn lemma_001_5(d: &Dynamics) -> Finding {
    with_independent_joints(d, "001.lemma5", |s, id| {
        by_admissible_set(
            s,
            id,
            ONE_ACCELERATION,
            "joints and contacts leave an acceleration: Gauss' principle picks one",
        )
    })
}

/// 001 Prop. 11: contacts alone. The program (42) has a solution (i) if H₀ ∈ R(A), (ii) if γ = 0. Since R(A)
/// = R(∇hᵀ), (i) means that the contacts can all be kept. Compares the distance of γ from R(∇hᵀ), relative to
/// γ, with 0.
pub fn prop_001_11(d: &Dynamics) -> Finding {
    contacts_alone(d, "001.prop11", kept)
}

/// 001 Prop. 12: the program (53) has a solution (i) if H₄ ∈ R(A_c), (ii) if γ_u = 0 and all contacts are
/// orthogonal to all joints, (iii) if γ = 0 (F ∈ R(∇h), which the paper asks for too, is not needed: H₄ =
/// −∇hᵀM_c⁻¹F ∈ R(A_c)). All three mean that contacts and joints can be kept together. Compares the distance
/// of γ from R((∇h ∇g)ᵀ), relative to γ, with 0.
pub fn prop_001_12(d: &Dynamics) -> Finding {
    with_independent_joints(d, "001.prop12", kept)
}

/// 001 Prop. 13: independent joints and a solvable LCP (20): the acceleration is the solution of (56). (The
/// paper's proof inverts I − GM⁻¹ wrongly; (56) is right.) Compares the difference of the two accelerations,
/// relative to them, with 1e-7, the accuracy asked of both solvers.
pub fn prop_001_13(d: &Dynamics) -> Finding {
    with_independent_joints(d, "001.prop13", |s, id| {
        let set = s.admissible_set();
        if let AdmissibleSet::Empty(z) = set {
            return impossible(s, id, z);
        }
        let undecided = || Finding::silent(id, Outcome::Undecided, "no solution was found to compare with");
        let Ok(problem) = s.reduced.problem(&d.laws) else { return undecided() };
        let by_forces = solve_any_law(&problem, DENSE_TOLERANCE);
        let Some((program, base)) = projected_gauss_principle(d) else { return undecided() };
        let QpOutcome::Solved { point, .. } = program.solve() else { return undecided() };
        if by_forces.status != Status::Solved {
            return undecided();
        }
        let a = s.reduced.acceleration(&by_forces.impulse);
        let difference: Vec<f64> = (0..s.n()).map(|i| point[i] + base[i] - a[i]).collect();
        let size = max_abs(&a).max(max_abs(&s.reduced.free_acceleration)).max(f64::MIN_POSITIVE);
        let value = max_abs(&difference) / size;
        let outcome = if value < 1e-7 { Outcome::Holds } else { Outcome::Undecided };
        let finding = compared(
            id,
            outcome,
            value,
            1e-7,
            "the acceleration is the nearest to the free one that the constraints allow",
        );
        match s.solvable(&set) {
            Some(facts) if outcome == Outcome::Holds => certified(finding, d, facts, ONE_ACCELERATION),
            _ => finding,
        }
    })
}

/// 001 Prop. 14: independent joints. (i) The feasible set of (56) is nonempty for every γ only if no ∇h_i
/// lies in R(∇g); (ii) where it is nonempty, (56) has one solution. Compares the smallest (A_c)_ii/A_ii, the
/// squared sine of the angle between contact i and all joints, with 0.
pub fn prop_001_14(d: &Dynamics) -> Finding {
    with_independent_joints(d, "001.prop14", |s, id| {
        let (a, a_c) = (s.w(&s.contacts, &s.contacts), s.a_c());
        let ratio = |i: usize| if a[(i, i)] > 0.0 { a_c[(i, i)] / a[(i, i)] } else { 0.0 };
        let (worst, value) =
            (0..s.m()).map(|i| (i, ratio(i))).fold((0, f64::INFINITY), |x, y| if y.1 < x.1 { y } else { x });
        if value > MARGIN {
            let finding = compared(id, Outcome::Holds, value, 0.0, "no contact is taken over by the joints");
            return match s.solvable(&s.admissible_set()) {
                Some(facts) => certified(finding, d, facts, ONE_ACCELERATION),
                None => finding,
            };
        }
        let blocked = blocked(s, worst);
        if s.exactly(&blocked) {
            let finding = compared(
                id,
                Outcome::Fails,
                value,
                0.0,
                "the joints decide the motion at a contact: a turning gradient can tear it",
            );
            return certified(finding, d, vec![blocked], Claims::default());
        }
        compared(id, Outcome::Undecided, value, 0.0, "a contact is nearly taken over by the joints")
    })
}

/// eᵢᵀA_c eᵢ = 0.
pub(super) fn blocked(s: &Frictionless, contact: usize) -> Fact {
    let mut e = vec![0.0; s.m()];
    e[contact] = 1.0;
    let matrix = if s.p() > 0 { MatrixOf::ConstrainedDelassus } else { MatrixOf::Delassus };
    Fact::NotPositiveDefinite(matrix(Kind::Unilateral), e)
}

/// The finding with the exact rank of all gradients.
pub(super) fn dependent(s: &Frictionless, finding: Finding) -> Finding {
    match s.rank(Kind::All) {
        Some(r) => certified(finding, s.dynamics, vec![s.rank_fact(Kind::All, r)], Claims::default()),
        None => finding,
    }
}

fn contacts_alone(
    d: &Dynamics,
    id: &'static str,
    then: impl FnOnce(&Frictionless, &'static str) -> Finding,
) -> Finding {
    ask(d, id, 0, 1, |s| {
        if s.p() > 0 {
            return Finding::silent(id, Outcome::NotApplicable, "there are joints");
        }
        then(s, id)
    })
}

/// The frame of the propositions that rest on Assumption 2; a system without joints satisfies it.
pub(super) fn with_independent_joints(
    d: &Dynamics,
    id: &'static str,
    then: impl FnOnce(&Frictionless, &'static str) -> Finding,
) -> Finding {
    ask(d, id, 0, 1, |s| match s.joints_independent() {
        Outcome::Holds => then(s, id),
        Outcome::Fails => Finding::silent(id, Outcome::Fails, "the joints are dependent"),
        outcome => Finding::silent(id, outcome, "the joints are nearly dependent"),
    })
}

/// Lemmas 1–3 hold with Assumption 2.
fn of_joints(s: &Frictionless, id: &'static str, value: f64, bound: f64, meaning: &str) -> Finding {
    match s.joints_independent() {
        Outcome::Holds => {
            let finding = compared(id, Outcome::Holds, value, bound, meaning);
            certified(finding, s.dynamics, s.assumption_2(), Claims::default())
        }
        Outcome::Fails => compared(id, Outcome::Fails, value, bound, "the joints are dependent"),
        outcome => compared(id, outcome, value, bound, "the joints are nearly dependent"),
    }
}

fn impossible(s: &Frictionless, id: &'static str, multipliers: Vec<f64>) -> Finding {
    let finding = Finding::silent(id, Outcome::Fails, "no acceleration satisfies all constraints");
    certified(finding, s.dynamics, vec![Fact::Unreachable(multipliers)], NO_SOLUTION)
}

/// Holds where some acceleration satisfies all constraints, fails where none does.
fn by_admissible_set(s: &Frictionless, id: &'static str, claims: Claims, meaning: &str) -> Finding {
    let set = s.admissible_set();
    match s.solvable(&set) {
        Some(facts) => certified(Finding::silent(id, Outcome::Holds, meaning), s.dynamics, facts, claims),
        None => match set {
            AdmissibleSet::Empty(z) => impossible(s, id, z),
            _ => Finding::silent(
                id,
                Outcome::Undecided,
                "whether an acceleration satisfies all constraints is too close to call",
            ),
        },
    }
}

/// Whether an acceleration keeps all constraints, J a + γ = 0: γ ∈ R(J).
fn kept(s: &Frictionless, id: &'static str) -> Finding {
    let d = s.dynamics;
    if s.contacts_definite() == Outcome::Holds {
        let finding =
            compared(id, Outcome::Holds, 0.0, 0.0, "the constraints are independent: they can all be kept");
        return certified(finding, d, s.well_posed(), SOLVABLE);
    }
    let value = distance_from_range(&d.jacobian, &d.bias);
    if value > MARGIN {
        return compared(
            id,
            Outcome::Fails,
            value,
            0.0,
            "the constraints cannot all be kept; some contact must open",
        );
    }
    let finding = |outcome, meaning: &str| compared(id, outcome, value, 0.0, meaning);
    match s.solvable(&s.admissible_set()) {
        Some(facts) => {
            certified(finding(Outcome::Holds, "the constraints can all be kept"), d, facts, SOLVABLE)
        }
        None if value <= ORTHOGONAL => {
            finding(Outcome::Holds, "the constraints can all be kept, to rounding")
        }
        None => finding(Outcome::Undecided, "whether the constraints can all be kept is too close to call"),
    }
}

/// ‖γ − JJ⁺γ‖/‖γ‖, 0 for γ = 0; rows scaled to unit length.
pub(super) fn distance_from_range(j: &Matrix, gamma: &[f64]) -> f64 {
    let scale: Vec<f64> =
        (0..j.rows()).map(|i| norm(j.row(i))).map(|x| if x > 0.0 { 1.0 / x } else { 1.0 }).collect();
    let g: Vec<f64> = gamma.iter().zip(&scale).map(|(x, s)| x * s).collect();
    let size = norm(&g);
    if size == 0.0 {
        return 0.0;
    }
    let rows = Matrix::from_fn(j.rows(), j.cols(), |i, k| j[(i, k)] * scale[i]);
    let basis = rows.row_space_with(MARGIN).column_basis;
    let inside = basis.mul_vec(&basis.tr_mul_vec(&g));
    let left: Vec<f64> = g.iter().zip(&inside).map(|(x, y)| x - y).collect();
    norm(&left) / size
}
