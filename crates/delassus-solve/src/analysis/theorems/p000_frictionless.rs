//! The propositions of paper 000 about problems without friction.
//!
//! ```text
//! M a + F = N_bᵀ λ_b + N_uᵀ λ_u,   N_b a + γ_b = 0,   0 ≤ N_u a + γ_u ⊥ λ_u ≥ 0        (000 eq. 16)
//! ```
//!
//! | id | source | corrected |
//! |---|---|---|
//! | `000.prop1i`, `000.prop1ii` | 000 Prop. 1 | |
//! | `000.appE.iii'`, `000.appE.iv`, eq. 69, 70 | 000 App. E | (ii): n = m does not follow |
//! | `000.prop3i` … `000.prop3vi` | 000 Prop. 3 | (ii): ∇h λ, without transpose |
//! | `000.prop4`, `000.prop5`, `000.prop6`, `000.cor1` | 000 Prop. 4–6, Cor. 1 | |
//! | `000.prop7i` … `000.prop7vii` | 000 Prop. 7 | (v), (vi), (vii) |
//! | `000.prop8` | 000 Prop. 8 | z satisfies N_b z = −γ_b |
//!
//! A_n = N M⁻¹ Nᵀ; A_c = A_n on contacts with the joints eliminated (000 eq. 32).

use super::decision::{AdmissibleSet, NO_SOLUTION, ONE_ACCELERATION, SOLVABLE, WELL_POSED};
use super::p000::{
    Normals, ROUNDING, admissible_set, clear_rank, definite, elsewhere, evidence, finding, in_range,
    independent, is_frictionless, normals, undecided,
};
use crate::analysis::certificate::{Claims, Fact, Finding, Kind, MatrixOf, Outcome};
use crate::analysis::verify;
use crate::lcp::{Nearest, Verdict, nearest_point};
use crate::linalg::{Matrix, norm};
use crate::problem::{Dynamics, constrained_delassus};

const JOINTS: &str = "joints alone, without friction";
const CONTACTS: &str = "contacts alone, without friction and with a positive definite mass";
const MIXED: &str = "joints and contacts, without friction and with a positive definite mass";

/// dim(Ker M ∩ Ker Fᵀ) for F ∈ R^{n×m}: the motions without mass that no constraint holds. It is the
/// dimension of Ker Ã ∩ {z ∈ Im F} of 000 App. E (ii); where it is zero, x and z are unique, but n = m does
/// not follow (corrected: M = I, F = (1, 0)ᵀ).
pub fn unheld_motions(m: &Matrix, f: &Matrix) -> usize {
    m.rows() - m.stack(&f.transpose()).rank()
}

/// The rank of [M −F; Fᵀ 0] by 000 eq. 69: rank M + 2 rank F − dim(Im M ∩ Im F) − dim(Im[M; Fᵀ] ∩ Im[F; 0]).
pub fn kkt_rank(m: &Matrix, f: &Matrix) -> usize {
    kkt_rank_with(m, f, f)
}

/// The rank of [M N; Fᵀ 0] for a symmetric M by 000 eq. 70:
/// rank M + rank F + rank N − dim(Im M ∩ Im F) − dim(Im[M; Fᵀ] ∩ Im[N; 0]).
pub fn kkt_rank_with(m: &Matrix, f: &Matrix, n: &Matrix) -> usize {
    let upper = m.stack(&f.transpose());
    let right = n.stack(&Matrix::zeros(f.cols(), n.cols()));
    (m.rank() + f.rank() + n.rank()) - common(m, f) - common(&upper, &right)
}

/// dim(Im A ∩ Im B) = rank A + rank B − rank [A B].
fn common(a: &Matrix, b: &Matrix) -> usize {
    let beside = a.transpose().stack(&b.transpose());
    (a.rank() + b.rank()) - beside.rank()
}

/// 000 Prop. 1 (i): with independent joints, one solution for every load if and only if Ker M ∩ Ker N_b =
/// {0}.
pub fn prop_000_1i(d: &Dynamics) -> Finding {
    const ID: &str = "000.prop1i";
    let Some(p) = joints_alone(d) else { return elsewhere(ID, JOINTS) };
    match independent(&p.joints) {
        Verdict::Proved => regular(ID, d, &p),
        Verdict::Refuted => elsewhere(ID, "independent joints"),
        Verdict::Unknown => undecided(ID),
    }
}

/// 000 App. E (iii'): the matrix [M −N_bᵀ; N_b 0] is regular if and only if the joints are independent and
/// Ker M ∩ Ker N_b = {0}.
pub fn app_e_000_iii(d: &Dynamics) -> Finding {
    const ID: &str = "000.appE.iii'";
    joints_alone(d).map_or_else(|| elsewhere(ID, JOINTS), |p| regular(ID, d, &p))
}

/// 000 Prop. 1 (ii): with compatible joints, redundant or not, a solution exists for every load and its
/// acceleration is unique if and only if Ker M ∩ Ker N_b = {0}.
pub fn prop_000_1ii(d: &Dynamics) -> Finding {
    compatible("000.prop1ii", d)
}

/// 000 App. E (iv): x and F y exist and are unique for every a if and only if b ∈ Im Fᵀ and Ker M ∩ Ker Fᵀ =
/// {0}.
pub fn app_e_000_iv(d: &Dynamics) -> Finding {
    compatible("000.appE.iv", d)
}

fn joints_alone(d: &Dynamics) -> Option<Normals> {
    let p = normals(d);
    let of_kind = is_frictionless(d) && p.contacts.rows() == 0 && p.joints.rows() > 0;
    (of_kind && semidefinite(&d.mass)).then_some(p)
}

/// Whether M is symmetric and, to rounding, positive semidefinite.
fn semidefinite(m: &Matrix) -> bool {
    let values = m.symmetric_eigenvalues();
    let (low, high) = (values.first().copied().unwrap_or(0.0), values.last().copied().unwrap_or(0.0));
    m.asymmetry() == 0.0 && low >= -1e-12 * high
}

fn regular(id: &'static str, d: &Dynamics, p: &Normals) -> Finding {
    let n = d.coordinates();
    let m = p.joints.rows();
    match (independent(&p.joints), clear_rank(&d.mass.stack(&p.joints))) {
        (Verdict::Unknown, _) | (_, None) => undecided(id),
        (Verdict::Proved, Some(rank)) if rank == n => {
            let facts = vec![
                Fact::PositiveSemidefinite(MatrixOf::Mass),
                Fact::Rank(MatrixOf::Gradients(Kind::Bilateral), m),
                Fact::Rank(MatrixOf::MassAndGradients(Kind::Bilateral), n),
            ];
            finding(
                id,
                d,
                Outcome::Holds,
                WELL_POSED,
                facts,
                "every load has exactly one acceleration and one set of forces",
            )
        }
        (Verdict::Refuted, _) => Finding::silent(id, Outcome::Fails, "the joints are dependent"),
        _ => Finding::silent(id, Outcome::Fails, "a motion without mass is not held by any joint"),
    }
}

fn compatible(id: &'static str, d: &Dynamics) -> Finding {
    let Some(p) = joints_alone(d) else { return elsewhere(id, JOINTS) };
    let n = d.coordinates();
    let m = p.joints.rows();
    if let r @ AdmissibleSet::Empty(_) = admissible_set(&p) {
        return match evidence(d, &p, &r, NO_SOLUTION) {
            Some(facts) => {
                finding(id, d, Outcome::Fails, NO_SOLUTION, facts, "the joints contradict each other")
            }
            None => undecided(id),
        };
    }
    let (Some(rank), Some(total)) = (clear_rank(&p.joints), clear_rank(&d.mass.stack(&p.joints))) else {
        return undecided(id);
    };
    if total < n {
        return Finding::silent(id, Outcome::Fails, "a motion without mass is not held by any joint");
    }
    if rank == m {
        return Finding { id, ..regular(id, d, &p) };
    }
    let claims = Claims { forces_unique: Some(false), ..ONE_ACCELERATION };
    let facts = vec![
        Fact::PositiveSemidefinite(MatrixOf::Mass),
        Fact::Rank(MatrixOf::Gradients(Kind::Bilateral), rank),
        Fact::Rank(MatrixOf::MassAndGradients(Kind::Bilateral), n),
        Fact::Admissible(true),
    ];
    if !facts.iter().all(|fact| verify::fact(d, fact)) {
        return undecided(id);
    }
    let meaning = "redundant but compatible joints: one acceleration, the forces can be shared in many ways";
    finding(id, d, Outcome::Holds, claims, facts, meaning)
}

/// The normals of a problem without friction and with M ≻ 0, if it has joints and contacts as asked.
fn smooth(d: &Dynamics, joints: bool, contacts: bool) -> Option<Normals> {
    let p = normals(d);
    let of_kind =
        is_frictionless(d) && (p.joints.rows() > 0) == joints && (p.contacts.rows() > 0) == contacts;
    (of_kind && definite(&d.mass) == Verdict::Proved).then_some(p)
}

/// As [`smooth`] with joints and contacts, the joints independent (Assumption 2 of 000); then what follows.
fn mixed(id: &'static str, d: &Dynamics, then: impl FnOnce(&Normals) -> Finding) -> Finding {
    let Some(p) = smooth(d, true, true) else { return elsewhere(id, MIXED) };
    match independent(&p.joints) {
        Verdict::Proved => then(&p),
        Verdict::Refuted => elsewhere(id, "independent joints, with contacts"),
        Verdict::Unknown => undecided(id),
    }
}

/// A finding that holds where an acceleration satisfies all constraints; where none does, it claims
/// `otherwise`.
fn admissible(
    id: &'static str,
    d: &Dynamics,
    p: &Normals,
    claims: Claims,
    otherwise: Claims,
    meaning: &str,
) -> Finding {
    let r = admissible_set(p);
    let yes =
        || evidence(d, p, &r, claims).map(|facts| finding(id, d, Outcome::Holds, claims, facts, meaning));
    let no = || {
        let none = "no acceleration satisfies the constraints";
        if otherwise == Claims::default() && matches!(r, AdmissibleSet::Empty(_)) {
            return Some(Finding::silent(id, Outcome::Fails, none));
        }
        let facts = evidence(d, p, &r, NO_SOLUTION)?;
        Some(finding(id, d, Outcome::Fails, otherwise, facts, none))
    };
    match r {
        AdmissibleSet::Interior(_) => yes(),
        AdmissibleSet::Empty(_) => no(),
        AdmissibleSet::Undecided | AdmissibleSet::NoBias => yes().or_else(no),
    }
    .unwrap_or_else(|| undecided(id))
}

const GAUSS: &str =
    "an acceleration satisfies the constraints: there is a solution and its acceleration is unique";
const EXISTS: &str = "an acceleration satisfies the constraints: there is a solution";

/// 000 Prop. 3 (i): the LCP (9) has one solution for every load if and only if the gradients are independent.
pub fn prop_000_3i(d: &Dynamics) -> Finding {
    const ID: &str = "000.prop3i";
    let Some(p) = smooth(d, false, true) else { return elsewhere(ID, CONTACTS) };
    independent_normals(ID, d, &p.contacts, Kind::Unilateral)
}

fn independent_normals(id: &'static str, d: &Dynamics, rows: &Matrix, kind: Kind) -> Finding {
    match independent(rows) {
        Verdict::Proved => {
            let facts = vec![
                Fact::PositiveDefinite(MatrixOf::Mass),
                Fact::PositiveDefinite(MatrixOf::Delassus(kind)),
            ];
            let meaning = "the gradients are independent: every load has exactly one solution";
            finding(id, d, Outcome::Holds, WELL_POSED, facts, meaning)
        }
        Verdict::Refuted => Finding::silent(
            id,
            Outcome::Fails,
            "the gradients are dependent: some loads have several sets of forces, or no solution",
        ),
        Verdict::Unknown => undecided(id),
    }
}

/// 000 Prop. 3 (ii), corrected (∇h λ without transpose): where a solution exists, the acceleration, ∇h λ and
/// wᵀλ are unique.
pub fn prop_000_3ii(d: &Dynamics) -> Finding {
    const ID: &str = "000.prop3ii";
    match smooth(d, false, true) {
        Some(p) => admissible(ID, d, &p, ONE_ACCELERATION, Claims::default(), GAUSS),
        None => elsewhere(ID, CONTACTS),
    }
}

/// 000 Prop. 3 (iii): solvable if zᵀw ≥ 0 for all solutions z of the homogeneous LCP. Those are the z ≥ 0
/// with N_uᵀz = 0, for which zᵀw = zᵀγ_u.
pub fn prop_000_3iii(d: &Dynamics) -> Finding {
    const ID: &str = "000.prop3iii";
    match smooth(d, false, true) {
        Some(p) => admissible(ID, d, &p, SOLVABLE, Claims::default(), EXISTS),
        None => elsewhere(ID, CONTACTS),
    }
}

/// 000 Prop. 3 (iv): solvable if and only if λ ≥ 0, N_uᵀλ = 0 implies λᵀγ_u ≥ 0.
pub fn prop_000_3iv(d: &Dynamics) -> Finding {
    const ID: &str = "000.prop3iv";
    match smooth(d, false, true) {
        Some(p) => admissible(ID, d, &p, SOLVABLE, NO_SOLUTION, EXISTS),
        None => elsewhere(ID, CONTACTS),
    }
}

/// 000 Prop. 3 (v): solvable if γ_u ∈ Im A_nu (the range of N_u).
pub fn prop_000_3v(d: &Dynamics) -> Finding {
    const ID: &str = "000.prop3v";
    let Some(p) = smooth(d, false, true) else { return elsewhere(ID, CONTACTS) };
    match in_range(&p.contacts, &p.contact_bias) {
        Verdict::Proved => admissible(ID, d, &p, SOLVABLE, Claims::default(), EXISTS),
        Verdict::Refuted => {
            Finding::silent(ID, Outcome::Fails, "the curvature terms are outside of the range of A")
        }
        Verdict::Unknown => undecided(ID),
    }
}

/// 000 Prop. 3 (vi): with M ⪰ 0 and the constraint qualification N_u v > 0 for some v, solvable if
/// {v : N_u v ≥ 0} ∩ Ker M = {0}.
pub fn prop_000_3vi(d: &Dynamics) -> Finding {
    const ID: &str = "000.prop3vi";
    let p = normals(d);
    if p.joints.rows() > 0 || p.contacts.rows() == 0 {
        return elsewhere(ID, "contacts alone, without friction");
    }
    coercive(ID, d, &p)
}

/// 000 Prop. 7 (vii), corrected: with M ⪰ 0, independent joints and N_u v > 0 for some v with N_b v = 0,
/// solvable if Ker N_b ∩ {v : N_u v ≥ 0} ∩ Ker M = {0}. (As printed, the qualification does not see the
/// joints.)
pub fn prop_000_7vii(d: &Dynamics) -> Finding {
    const ID: &str = "000.prop7vii";
    let p = normals(d);
    if p.joints.rows() == 0 || p.contacts.rows() == 0 {
        return elsewhere(ID, "joints and contacts, without friction");
    }
    coercive(ID, d, &p)
}

fn coercive(id: &'static str, d: &Dynamics, p: &Normals) -> Finding {
    if !is_frictionless(d) || !semidefinite(&d.mass) {
        return elsewhere(id, "problems without friction whose mass is positive semidefinite");
    }
    match independent(&p.joints) {
        Verdict::Proved => {}
        Verdict::Refuted => return Finding::silent(id, Outcome::Fails, "the joints are dependent"),
        Verdict::Unknown => return undecided(id),
    }
    let kernel =
        |a: &Matrix| if a.rows() == 0 { Matrix::identity(a.cols()) } else { a.row_space().null_basis };
    let open = p.contacts.mul(&kernel(&p.joints));
    if (0..open.rows()).any(|i| norm(open.row(i)) <= 1e-9 * norm(p.contacts.row(i))) {
        return Finding::silent(id, Outcome::Fails, "no motion of the joints opens all contacts");
    }
    match nearest_point(&open, &vec![1.0; open.rows()], 1e-10) {
        Nearest::Point(_) => {}
        Nearest::Infeasible(_) => {
            return Finding::silent(id, Outcome::Fails, "no motion of the joints opens all contacts");
        }
        Nearest::Undecided => return undecided(id),
    }
    let all = d.mass.stack(&p.joints);
    let Some(rank) = clear_rank(&all) else { return undecided(id) };
    if rank < d.coordinates() {
        match only_zero(&p.contacts.mul(&kernel(&all))) {
            Verdict::Proved => {}
            Verdict::Refuted => {
                let meaning = "a motion without mass keeps all constraints: some loads have no solution";
                return Finding::silent(id, Outcome::Fails, meaning);
            }
            Verdict::Unknown => return undecided(id),
        }
    }
    let facts = if definite(&d.mass) == Verdict::Proved {
        evidence(d, p, &admissible_set(p), SOLVABLE)
    } else {
        let facts =
            vec![Fact::PositiveSemidefinite(MatrixOf::Mass), Fact::NoMasslessMotion, Fact::Admissible(true)];
        facts.iter().all(|fact| verify::fact(d, fact)).then_some(facts)
    };
    match facts {
        Some(facts) => {
            let meaning = "constraints hold every motion without mass: there is a solution for every load";
            finding(id, d, Outcome::Holds, SOLVABLE, facts, meaning)
        }
        None => undecided(id),
    }
}

/// Whether G s ≥ 0 only for s = 0: G has full column rank and Gᵀy = 0 for some y > 0 (Stiemke).
fn only_zero(g: &Matrix) -> Verdict {
    match clear_rank(&g.transpose()) {
        Some(rank) if rank == g.cols() => {}
        Some(_) => return Verdict::Refuted,
        None => return Verdict::Unknown,
    }
    let balanced = g.transpose().row_space().null_basis;
    if balanced.cols() == 0 {
        return Verdict::Refuted;
    }
    match nearest_point(&balanced, &vec![1.0; balanced.rows()], 1e-10) {
        Nearest::Point(_) => Verdict::Proved,
        Nearest::Infeasible(_) => Verdict::Refuted,
        Nearest::Undecided => Verdict::Unknown,
    }
}

/// 000 Prop. 4: where an acceleration satisfies the contacts (Assumption 1), the inclusion (14) has one
/// solution a.
pub fn prop_000_4(d: &Dynamics) -> Finding {
    const ID: &str = "000.prop4";
    match smooth(d, false, true) {
        Some(p) => admissible(ID, d, &p, ONE_ACCELERATION, Claims::default(), GAUSS),
        None => elsewhere(ID, CONTACTS),
    }
}

/// 000 Prop. 5: with independent joints, where an acceleration satisfies all constraints (Assumptions 1–3),
/// the problem (16) has one acceleration.
pub fn prop_000_5(d: &Dynamics) -> Finding {
    const ID: &str = "000.prop5";
    mixed(ID, d, |p| admissible(ID, d, p, ONE_ACCELERATION, Claims::default(), GAUSS))
}

/// 000 Prop. 6: where an acceleration satisfies all constraints (Assumption 4), the accelerations of (16) are
/// the minimizers of ½ aᵀMa + Fᵀa over those accelerations. M ⪰ 0; alone this claims no solution.
pub fn prop_000_6(d: &Dynamics) -> Finding {
    const ID: &str = "000.prop6";
    if !is_frictionless(d) || d.laws.is_empty() || !semidefinite(&d.mass) {
        return elsewhere(ID, "problems without friction whose mass is positive semidefinite");
    }
    match admissible_set(&normals(d)) {
        AdmissibleSet::Interior(_) => {
            let meaning = "the accelerations are the minimizers of Gauss' principle over the admissible ones";
            Finding::silent(ID, Outcome::Holds, meaning)
        }
        AdmissibleSet::Empty(_) => {
            Finding::silent(ID, Outcome::Fails, "no acceleration satisfies the constraints")
        }
        AdmissibleSet::Undecided | AdmissibleSet::NoBias => undecided(ID),
    }
}

/// 000 Cor. 1: with M ≻ 0, redundant joints or not, the acceleration is the projection of −M⁻¹F on the
/// accelerations that satisfy all constraints: unique where there are any.
pub fn cor_000_1(d: &Dynamics) -> Finding {
    const ID: &str = "000.cor1";
    if !is_frictionless(d) || d.laws.is_empty() || definite(&d.mass) != Verdict::Proved {
        return elsewhere(ID, "problems without friction whose mass is positive definite");
    }
    admissible(ID, d, &normals(d), ONE_ACCELERATION, Claims::default(), GAUSS)
}

/// 000 Prop. 7 (i): the LCP (31) has one solution for every load if and only if the gradients of joints and
/// contacts together are independent.
pub fn prop_000_7i(d: &Dynamics) -> Finding {
    const ID: &str = "000.prop7i";
    mixed(ID, d, |p| independent_normals(ID, d, &p.joints.stack(&p.contacts), Kind::All))
}

/// 000 Prop. 7 (ii): two solutions of (31) differ by ∇h_u(λ₁ − λ₂) ∈ Ker M_c⁻¹, which moves nothing: where a
/// solution exists, the acceleration is unique.
pub fn prop_000_7ii(d: &Dynamics) -> Finding {
    const ID: &str = "000.prop7ii";
    mixed(ID, d, |p| admissible(ID, d, p, ONE_ACCELERATION, Claims::default(), GAUSS))
}

/// Whether the ranges of the two families of gradients meet only in zero; `None` where that is too close to
/// call.
fn transversal(p: &Normals) -> Option<bool> {
    let all = clear_rank(&p.joints.stack(&p.contacts))?;
    Some(all == clear_rank(&p.joints)? + clear_rank(&p.contacts)?)
}

/// 000 Prop. 7 (iii): with Im ∇h_u ∩ Im ∇h_b = {0}, ∇h_u λ_u is unique, and the acceleration wherever a
/// solution exists.
pub fn prop_000_7iii(d: &Dynamics) -> Finding {
    const ID: &str = "000.prop7iii";
    mixed(ID, d, |p| match transversal(p) {
        Some(true) => admissible(ID, d, p, ONE_ACCELERATION, Claims::default(), GAUSS),
        Some(false) => Finding::silent(ID, Outcome::Fails, "joints and contacts share a direction"),
        None => undecided(ID),
    })
}

/// 000 Prop. 7 (iv), with z ∈ R^{m_u}: solvable if zᵀw_c ≥ 0 for all solutions z of the homogeneous LCP; and
/// where γ_b = 0, γ_u = 0, always (a = 0 satisfies the constraints).
pub fn prop_000_7iv(d: &Dynamics) -> Finding {
    const ID: &str = "000.prop7iv";
    mixed(ID, d, |p| admissible(ID, d, p, SOLVABLE, Claims::default(), EXISTS))
}

/// 000 Prop. 7 (v), corrected: solvable if and only if λ ≥ 0, N_uᵀλ = N_bᵀy implies λᵀγ_u − yᵀγ_b ≥ 0. (As
/// printed, y = 0: false for N_u = N_b, γ_u = −2, γ_b = 0.)
pub fn prop_000_7v(d: &Dynamics) -> Finding {
    const ID: &str = "000.prop7v";
    mixed(ID, d, |p| admissible(ID, d, p, SOLVABLE, NO_SOLUTION, EXISTS))
}

/// 000 Prop. 7 (vi), corrected as eq. 33: solvable if γ_u − N_u M⁻¹ N_bᵀ A_nb⁻¹ γ_b ∈ Im A_c.
pub fn prop_000_7vi(d: &Dynamics) -> Finding {
    const ID: &str = "000.prop7vi";
    mixed(ID, d, |p| curvature_in_range(ID, d, p))
}

fn curvature_in_range(id: &'static str, d: &Dynamics, p: &Normals) -> Finding {
    let Some(reduced) = d.reduce() else { return undecided(id) };
    let offsets = d.offsets();
    let rows = |bilateral: bool| -> Vec<usize> {
        (0..d.laws.len()).filter(|&k| d.laws[k].is_bilateral() == bilateral).map(|k| offsets[k]).collect()
    };
    let (b, u) = (rows(true), rows(false));
    let w = &reduced.delassus;
    let Some(y) = w.select(&b, &b).solve(&p.joint_bias) else { return undecided(id) };
    let through: Vec<f64> = w.select(&u, &b).mul_vec(&y);
    let vector: Vec<f64> = p.contact_bias.iter().zip(&through).map(|(g, t)| g - t).collect();
    // What is left of an eliminated direction is rounding, not range.
    let (a_c, size) = (constrained_delassus(w, &u, &b), w.select(&u, &u).max_abs());
    let a_c = Matrix::from_fn(u.len(), u.len(), |i, j| {
        if a_c[(i, j)].abs() > ROUNDING * size { a_c[(i, j)] } else { 0.0 }
    });
    match in_range(&a_c, &vector) {
        Verdict::Proved => admissible(id, d, p, SOLVABLE, Claims::default(), EXISTS),
        Verdict::Refuted => {
            Finding::silent(id, Outcome::Fails, "the curvature terms are outside of the range of A_c")
        }
        Verdict::Unknown => undecided(id),
    }
}

/// 000 Prop. 8, corrected: with compatible joints, redundant or not, solvable if and only if N_u(z + y) + γ_u
/// ≥ 0 for some z with N_b z = −γ_b and y ∈ Ker N_b. (As printed, z is free: then it holds for N_u = N_b, γ_u
/// = −2, γ_b = 0, which has no solution.)
pub fn prop_000_8(d: &Dynamics) -> Finding {
    const ID: &str = "000.prop8";
    let Some(p) = smooth(d, true, true) else { return elsewhere(ID, MIXED) };
    match in_range(&p.joints, &p.joint_bias) {
        Verdict::Proved => admissible(ID, d, &p, SOLVABLE, NO_SOLUTION, EXISTS),
        Verdict::Refuted => elsewhere(ID, "joints that do not contradict each other"),
        Verdict::Unknown => undecided(ID),
    }
}
