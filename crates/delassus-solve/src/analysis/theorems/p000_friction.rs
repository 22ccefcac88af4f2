//! The propositions of paper 000 about problems with sliding friction.
//!
//! ```text
//! A_n λ − A_t diag(μ) λ + w: normal accelerations N a + γ under normal forces λ and the friction that goes with them
//! ```
//!
//! A_n = N M⁻¹ Nᵀ normal couplings, A_t = N M⁻¹ Eᵀ couplings of normals with slip directions (ξ of 000 is
//! part of E), tildes where frictionless joints are eliminated, M^μ the matrix of the LCP (58), M⁰ the same
//! without friction.
//!
//! | id | constraints | criterion | source |
//! |---|---|---|---|
//! | `000.prop9`, `000.prop10` | guides | max μ < σ_min(A_n)/σ_max(A_t), a third of it | 000 eq. 38 |
//! | `000.prop11` | guides, joints | the same with tildes | 000 Prop. 11 |
//! | `000.prop12` | contacts | max μ < σ_min(A_n)/σ_max(A_t) | 000 eq. 51 |
//! | `000.prop13` | guides, contacts | ‖M^μ − M⁰‖₂ < 1/β₂(M⁰) | 000 Prop. 13 |
//! | `000.prop14` | contacts, joints | max μ < σ_min(A_c)/σ_max(Ã_t) | 000 eq. 64 |
//! | `000.cor2` | contacts | A_t ≤ 0: copositive | 000 Cor. 2 |
//! | `000.hlcp` | guides, joints | A regular, A⁻¹Ā a P-matrix: exact | 000 after eq. 41 |
//! | `000.positive`, `000.pmatrix` | all | the LCP matrix is positive definite, P | 000 App. A |

use super::decision::{AdmissibleSet, MARGIN, SOLVABLE, WELL_POSED};
use super::p000::{ROUNDING, admissible_set, definite, elsewhere, finding, normals, undecided};
use crate::analysis::certificate::{Fact, Finding, Kind, MatrixOf, Outcome};
use crate::analysis::is_free_of_rounding;
use crate::lcp::{P_MATRIX_MAX, Verdict, couplings, guide_horizontal_lcp, p_matrix, sliding_lcp};
use crate::linalg::Matrix;
use crate::problem::{Dynamics, Reduced, SlidingKinds, constrained_delassus};

/// Constraints by law; `None` where one is at rest.
struct Sliding {
    joints: Vec<usize>,
    guides: Vec<usize>,
    contacts: Vec<usize>,
    reduced: Reduced,
}

impl Sliding {
    /// The parts of a problem whose mass is positive definite and whose contacts slide or have no friction.
    fn of(d: &Dynamics) -> Option<Sliding> {
        let SlidingKinds { joints, guides, contacts } = SlidingKinds::of(&d.laws)?;
        if definite(&d.mass) != Verdict::Proved {
            return None;
        }
        Some(Sliding { joints, guides, contacts, reduced: d.reduce()? })
    }

    /// Whether there are joints, guides and contacts as asked.
    fn has(&self, joints: bool, guides: bool, contacts: bool) -> bool {
        [&self.joints, &self.guides, &self.contacts].map(|list| !list.is_empty())
            == [joints, guides, contacts]
    }
}

fn parts(d: &Dynamics, joints: bool, guides: bool, contacts: bool) -> Option<Sliding> {
    Sliding::of(d).filter(|s| s.has(joints, guides, contacts))
}

fn rows(d: &Dynamics, constraints: &[usize]) -> Vec<usize> {
    let offsets = d.offsets();
    constraints.iter().map(|&k| offsets[k]).collect()
}

fn largest_friction(d: &Dynamics, constraints: &[usize]) -> f64 {
    constraints.iter().map(|&k| d.laws[k].mu()).fold(0.0, f64::max)
}

/// max μ · `factor` < σ_min(A_n)/σ_max(A_t) on the constraints of a kind, frictionless joints eliminated.
fn contraction(id: &'static str, d: &Dynamics, s: &Sliding, kind: Kind, factor: f64) -> Finding {
    let of = if kind == Kind::Unilateral { &s.contacts } else { &s.guides };
    let eliminated = rows(d, &s.joints);
    let w = &s.reduced.delassus;
    let every: Vec<usize> = rows(d, &s.joints).into_iter().chain(rows(d, of)).collect();
    match definite(&w.select(&every, &every)) {
        Verdict::Proved => {}
        Verdict::Refuted => return Finding::silent(id, Outcome::Fails, "the normals are dependent"),
        Verdict::Unknown => return undecided(id),
    }
    let (a_n, a_t) = couplings(w, &d.laws, of, &eliminated);
    let (normal, slip) = (a_n.singular_values(), a_t.singular_values());
    let (top, bottom) = (normal.first().copied().unwrap_or(0.0), normal.last().copied().unwrap_or(0.0));
    let coupling = slip.first().copied().unwrap_or(0.0);
    // Rounded so that exact arithmetic agrees: 10⁻¹² of the matrix covers the rounding in forming it.
    let low = bottom * (1.0 - MARGIN) - 1e-12 * top;
    let high = coupling * (1.0 + MARGIN) + 1e-12 * top;
    let mu = largest_friction(d, of);
    let (value, bound) = (
        Some(mu),
        Some(if coupling > ROUNDING * top { bottom / (coupling * factor) } else { f64::INFINITY }),
    );
    let plain = s.joints.is_empty();
    let found = if mu * (factor * high) < low {
        let (normal, slip) = if plain {
            (MatrixOf::Delassus(kind), MatrixOf::SlipCoupling(kind))
        } else {
            (MatrixOf::ConstrainedDelassus(kind), MatrixOf::ConstrainedSlipCoupling(kind))
        };
        let facts = vec![
            Fact::PositiveDefinite(MatrixOf::Mass),
            Fact::PositiveDefinite(MatrixOf::Delassus(if plain { kind } else { Kind::All })),
            Fact::SingularValuesAtLeast(normal, low),
            Fact::SingularValuesAtMost(slip, high),
            Fact::FrictionBelow(kind, factor * high, low),
        ];
        finding(
            id,
            d,
            Outcome::Holds,
            WELL_POSED,
            facts,
            "friction below the bound: every load has exactly one solution",
        )
    } else if mu * coupling * factor > bottom * (1.0 + MARGIN) {
        Finding::silent(id, Outcome::Fails, "friction above the bound: the proposition is silent")
    } else {
        undecided(id)
    };
    Finding { value, bound, ..found }
}

/// 000 Prop. 9: guides alone, max μ < σ_min(A_nb)/σ_max(A_tb).
pub fn prop_000_9(d: &Dynamics) -> Finding {
    const ID: &str = "000.prop9";
    match parts(d, false, true, false) {
        Some(s) => contraction(ID, d, &s, Kind::Bilateral, 1.0),
        None => elsewhere(ID, "guides that all slide with friction"),
    }
}

/// 000 Prop. 10: guides alone, max μ below a third of the bound of Prop. 9; then the LCP matrix is positive
/// definite.
pub fn prop_000_10(d: &Dynamics) -> Finding {
    const ID: &str = "000.prop10";
    match parts(d, false, true, false) {
        Some(s) => contraction(ID, d, &s, Kind::Bilateral, 3.0),
        None => elsewhere(ID, "guides that all slide with friction"),
    }
}

/// 000 Prop. 11: guides with friction and joints without, max μ < σ_min(Ã_nb)/σ_max(Ã_tb).
pub fn prop_000_11(d: &Dynamics) -> Finding {
    const ID: &str = "000.prop11";
    match parts(d, true, true, false) {
        Some(s) => contraction(ID, d, &s, Kind::Bilateral, 1.0),
        None => elsewhere(ID, "guides that slide with friction and joints without"),
    }
}

/// 000 Prop. 12: contacts alone, max μ < σ_min(A_nu)/σ_max(A_tu).
pub fn prop_000_12(d: &Dynamics) -> Finding {
    const ID: &str = "000.prop12";
    match parts(d, false, false, true) {
        Some(s) => contraction(ID, d, &s, Kind::Unilateral, 1.0),
        None => elsewhere(ID, "contacts that slide"),
    }
}

/// 000 Prop. 14: contacts that slide and joints without friction, max μ < σ_min(A_c)/σ_max(Ã_tu).
pub fn prop_000_14(d: &Dynamics) -> Finding {
    const ID: &str = "000.prop14";
    match parts(d, true, false, true) {
        Some(s) => contraction(ID, d, &s, Kind::Unilateral, 1.0),
        None => elsewhere(ID, "contacts that slide and joints without friction"),
    }
}

/// Lower and upper bounds of β₂(M⁰) = max over D = diag(d), d ∈ [0, 1]ᵐ, of ‖(I − D + D M⁰)⁻¹ D‖₂ (000 App.
/// D) for M⁰ = [I −R; 0 A_c] with A_c symmetric positive definite, sharp enough to compare with `threshold`.
///
/// (I − D + D M⁰)⁻¹ D = [D₁ D₁RS; 0 S] with S(d₂) = (I − D₂ + D₂A_c)⁻¹D₂, symmetric and growing with d₂ in
/// the sense of quadratic forms; the factor diag(D₁, I) is a contraction, so that D₁ = I is the worst case.
/// On a box l ≤ d₂ ≤ u the norm is at most ‖[I RS(l); 0 S(l)]‖ + ‖[R; I]‖ ‖S(u) − S(l)‖, and at most ‖[I σR;
/// 0 σI]‖ with σ = ‖S(u)‖. Boxes are halved until the threshold is on one side.
pub fn beta_two(r: &Matrix, a_c: &Matrix, threshold: f64) -> (f64, f64) {
    const MAX_BOXES: usize = 2000;
    let (b, u) = (r.rows(), a_c.rows());
    let norm = |m: &Matrix| m.singular_values().first().copied().unwrap_or(0.0);
    let block = |s: &Matrix| {
        let rs = r.mul(s);
        Matrix::from_fn(b + u, b + u, |i, j| match (i < b, j < b) {
            (true, true) => f64::from(i == j),
            (true, false) => rs[(i, j - b)],
            (false, true) => 0.0,
            (false, false) => s[(i - b, j - b)],
        })
    };
    let s = |d: &[f64]| {
        let left = Matrix::from_fn(u, u, |i, j| f64::from(i == j) * (1.0 - d[i]) + d[i] * a_c[(i, j)]);
        left.solve_matrix(&Matrix::diagonal(d))
    };
    let spread = norm(&r.stack(&Matrix::identity(u)));
    // (upper bound on the box, value at its far corner)
    let evaluate = |low: &[f64], high: &[f64]| -> Option<(f64, f64)> {
        let (sl, su) = (s(low)?, s(high)?);
        let change = Matrix::from_fn(u, u, |i, j| su[(i, j)] - sl[(i, j)]);
        let near = norm(&block(&sl)) + spread * norm(&change);
        let sigma = norm(&su);
        let far = norm(&block(&Matrix::diagonal(&vec![sigma; u])));
        Some((near.min(far), norm(&block(&su))))
    };
    let root = (vec![0.0; u], vec![1.0; u]);
    let Some((top, mut lower)) = evaluate(&root.0, &root.1) else { return (1.0, f64::INFINITY) };
    let mut boxes = vec![(top, root.0, root.1)];
    let mut count = 1;
    loop {
        boxes.sort_by(|x, y| x.0.total_cmp(&y.0));
        let upper = boxes.last().map_or(lower, |b| b.0);
        let settled = upper < threshold || lower > threshold || upper <= lower * (1.0 + 1e-6);
        if settled || count >= MAX_BOXES {
            return (lower, upper * (1.0 + MARGIN));
        }
        let Some((_, low, high)) = boxes.pop() else { return (lower, upper) };
        let widest = (0..u).max_by(|&i, &j| (high[i] - low[i]).total_cmp(&(high[j] - low[j]))).unwrap_or(0);
        let middle = 0.5 * (low[widest] + high[widest]);
        for side in 0..2 {
            let (mut l, mut h) = (low.clone(), high.clone());
            if side == 0 {
                h[widest] = middle
            } else {
                l[widest] = middle
            }
            let Some((bound, value)) = evaluate(&l, &h) else { return (lower, f64::INFINITY) };
            lower = lower.max(value);
            boxes.push((bound, l, h));
            count += 1;
        }
    }
}

/// 000 Prop. 13: guides and contacts, all independent; max μ_b below the bound of Prop. 9 and ‖M^μ − M⁰‖₂ <
/// 1/β₂(M⁰). β₂ is bounded from above ([`beta_two`]).
pub fn prop_000_13(d: &Dynamics) -> Finding {
    const ID: &str = "000.prop13";
    let Some(s) = parts(d, false, true, true) else {
        return elsewhere(ID, "guides and contacts that slide, without other joints");
    };
    let w = &s.reduced.delassus;
    let (b, u) = (rows(d, &s.guides), rows(d, &s.contacts));
    let every: Vec<usize> = b.iter().chain(&u).copied().collect();
    match definite(&w.select(&every, &every)) {
        Verdict::Proved => {}
        Verdict::Refuted => return Finding::silent(ID, Outcome::Fails, "the normals are dependent"),
        Verdict::Unknown => return undecided(ID),
    }
    let (a_n, a_t) = couplings(w, &d.laws, &s.guides, &[]);
    let smallest = a_n.singular_values().last().copied().unwrap_or(0.0);
    let largest = a_t.singular_values().first().copied().unwrap_or(0.0);
    let mu = largest_friction(d, &s.guides);
    if mu * largest > smallest * (1.0 + MARGIN) {
        return Finding::silent(ID, Outcome::Fails, "friction of the guides above the bound of Prop. 9");
    }
    let lift = sliding_lcp(w, &s.reduced.free_velocity, &d.laws);
    let coupling = w.select(&b, &b).solve_positive_definite(&w.select(&b, &u));
    let (Some(lift), Some(r)) = (lift, coupling) else { return undecided(ID) };
    let a_c = constrained_delassus(w, &u, &b).symmetric_part();
    let (nb, m) = (b.len(), &lift.lcp.matrix);
    let change = Matrix::from_fn(m.rows(), m.cols(), |i, j| {
        m[(i, j)]
            - match (i < nb, j < nb) {
                (true, true) => f64::from(i == j),
                (true, false) => -r[(i, j - nb)],
                (false, true) => 0.0,
                (false, false) => a_c[(i - nb, j - nb)],
            }
    });
    let size = change.singular_values().first().copied().unwrap_or(0.0);
    let (lower, upper) = beta_two(&r, &a_c, 1.0 / size);
    let found = if size * upper < 1.0 - MARGIN && mu * largest < smallest * (1.0 - MARGIN) {
        let facts = vec![Fact::PositiveDefinite(MatrixOf::Mass), Fact::PMatrix(MatrixOf::SlidingLcp)];
        let meaning = "friction is a small change of a P-matrix: every load has exactly one solution";
        finding(ID, d, Outcome::Holds, WELL_POSED, facts, meaning)
    } else if size * lower > 1.0 + MARGIN {
        Finding::silent(ID, Outcome::Fails, "friction above the bound: the proposition is silent")
    } else {
        undecided(ID)
    };
    Finding { value: Some(size), bound: Some(1.0 / upper), ..found }
}

/// 000 Cor. 2: contacts alone; where no entry of A_t is positive, the LCP matrix is copositive, and a
/// solution exists if zᵀw ≥ 0 for all solutions z of the homogeneous LCP (N_uᵀz = 0, z ≥ 0): as soon as an
/// acceleration satisfies the contacts, and for every load where they are independent.
pub fn cor_000_2(d: &Dynamics) -> Finding {
    const ID: &str = "000.cor2";
    let Some(s) = parts(d, false, false, true) else { return elsewhere(ID, "contacts that slide") };
    let w = &s.reduced.delassus;
    let (a_n, a_t) = couplings(w, &d.laws, &s.contacts, &[]);
    let worst = a_t.data().iter().copied().fold(0.0, f64::max);
    if worst > MARGIN * w.max_abs() {
        return Finding::silent(
            ID,
            Outcome::Fails,
            "a slip direction presses a contact: the corollary is silent",
        );
    }
    let mut facts = vec![
        Fact::PositiveDefinite(MatrixOf::Mass),
        Fact::Nonpositive(MatrixOf::SlipCoupling(Kind::Unilateral)),
    ];
    match (definite(&a_n), admissible_set(&normals(d))) {
        (Verdict::Proved, _) => facts.push(Fact::PositiveDefinite(MatrixOf::Delassus(Kind::Unilateral))),
        (_, AdmissibleSet::Interior(a)) => facts.push(Fact::Reachable(a)),
        (_, AdmissibleSet::Empty(_)) => {
            return Finding::silent(ID, Outcome::Fails, "no acceleration satisfies the contacts");
        }
        _ => return undecided(ID),
    }
    let meaning = "friction opens the contacts rather than pressing them: there is a solution";
    let found = finding(ID, d, Outcome::Holds, SOLVABLE, facts, meaning);
    // Entries that are zero to rounding may be positive: exact arithmetic decides.
    if found.certificate.as_ref().is_some_and(|c| c.verify()) { found } else { undecided(ID) }
}

/// 000 after eq. 41: guides and joints; the horizontal LCP has one solution for every load if and only if
/// A = Ã_nb − Ã_tb diag(μξ) is regular and A⁻¹(Ã_nb + Ã_tb diag(μξ)) a P-matrix. (For the rod of Painlevé and
/// Klein this is μ₁ + μ₂ < 2/tan θ; the printed |μ₁ − μ₂| < 2/tan θ is for loads along the guides only.)
pub fn hlcp_000(d: &Dynamics) -> Finding {
    const ID: &str = "000.hlcp";
    let of = "guides that slide with friction, and independent joints without";
    let Some(s) = Sliding::of(d).filter(|s| s.contacts.is_empty() && !s.guides.is_empty()) else {
        return elsewhere(ID, of);
    };
    let w = &s.reduced.delassus;
    let joints = rows(d, &s.joints);
    if definite(&w.select(&joints, &joints)) != Verdict::Proved {
        return elsewhere(ID, of);
    }
    let Some(lift) = guide_horizontal_lcp(w, &s.reduced.free_velocity, &d.laws) else { return undecided(ID) };
    let values = lift.hlcp.a.singular_values();
    let (top, bottom) = (values.first().copied().unwrap_or(0.0), values.last().copied().unwrap_or(0.0));
    if bottom <= MARGIN * top.max(w.max_abs()) {
        return undecided(ID);
    }
    let Some(lcp) = lift.hlcp.to_lcp() else { return undecided(ID) };
    p_class(ID, d, &lcp.matrix, "some loads of the guides have no solution, others several")
}

/// The matrix of the sliding LCP (000 eq. 9, 31, 41, 50, 58) is positive definite.
pub fn positive_definite_000(d: &Dynamics) -> Finding {
    const ID: &str = "000.positive";
    let Some(matrix) = lcp_matrix(d) else {
        return elsewhere(ID, "constraints that slide or have no friction");
    };
    let facts = vec![Fact::PositiveDefinite(MatrixOf::Mass), Fact::PositiveDefinite(MatrixOf::SlidingLcp)];
    let meaning = "the matrix of the LCP is positive definite: every load has exactly one solution";
    in_class(ID, d, &matrix, definite, facts, [meaning, "the matrix of the LCP is not positive definite"])
}

/// The matrix of the sliding LCP (000 eq. 9, 31, 41, 50, 58) is a P-matrix: one solution for every load, if
/// and only if (000 App. A).
pub fn p_matrix_000(d: &Dynamics) -> Finding {
    const ID: &str = "000.pmatrix";
    match lcp_matrix(d) {
        Some(matrix) => p_class(ID, d, &matrix, "some loads have no solution, or several"),
        None => elsewhere(ID, "constraints that slide or have no friction"),
    }
}

fn lcp_matrix(d: &Dynamics) -> Option<Matrix> {
    let s = Sliding::of(d).filter(|s| !s.guides.is_empty() || !s.contacts.is_empty())?;
    sliding_lcp(&s.reduced.delassus, &s.reduced.free_velocity, &d.laws).map(|lift| lift.lcp.matrix)
}

fn p_class(id: &'static str, d: &Dynamics, matrix: &Matrix, otherwise: &str) -> Finding {
    if matrix.rows() > P_MATRIX_MAX {
        return undecided(id);
    }
    let facts = vec![Fact::PositiveDefinite(MatrixOf::Mass), Fact::PMatrix(MatrixOf::SlidingLcp)];
    let meaning = "the matrix of the LCP is a P-matrix: every load has exactly one solution";
    in_class(id, d, matrix, p_matrix, facts, [meaning, otherwise])
}

/// Whether the LCP matrix is of a class that positive diagonals leave only by growing. Where friction or
/// joints have consumed most of a diagonal entry, the rest may be rounding: to hold, more than 10⁻⁹ must be
/// left and exact arithmetic has to agree; to fail, the matrix has to fail with 10⁻⁹ of the consumed terms
/// added.
fn in_class(
    id: &'static str,
    d: &Dynamics,
    matrix: &Matrix,
    class: fn(&Matrix) -> Verdict,
    facts: Vec<Fact>,
    [meaning, otherwise]: [&str; 2],
) -> Finding {
    let Some((terms, clear)) = diagonal_terms(d) else { return undecided(id) };
    // Numbers without rounding leave nothing that is too close to call.
    if is_free_of_rounding(d) {
        let found = finding(id, d, Outcome::Holds, WELL_POSED, facts, meaning);
        let holds = found.certificate.as_ref().is_some_and(|certificate| certificate.verify());
        return if holds { found } else { Finding::silent(id, Outcome::Fails, otherwise) };
    }
    match class(matrix) {
        Verdict::Proved => {
            let found = finding(id, d, Outcome::Holds, WELL_POSED, facts, meaning);
            let above = |share: f64| terms.iter().enumerate().all(|(i, t)| matrix[(i, i)] > share * t);
            let exactly = || found.certificate.as_ref().is_some_and(|certificate| certificate.verify());
            let sound = above(MARGIN) && ((clear && above(CLEAR_SHARE)) || exactly());
            if sound { found } else { undecided(id) }
        }
        Verdict::Refuted => {
            let mut raised = matrix.clone();
            terms.iter().enumerate().for_each(|(i, t)| raised[(i, i)] += MARGIN * t);
            match class(&raised) {
                Verdict::Refuted => Finding::silent(id, Outcome::Fails, otherwise),
                Verdict::Proved | Verdict::Unknown => undecided(id),
            }
        }
        Verdict::Unknown => undecided(id),
    }
}

/// Share of a diagonal entry, or of an eigenvalue, that is far above rounding.
const CLEAR_SHARE: f64 = 1e-3;

/// The size of the terms that make the diagonal of the LCP matrix, and whether there are no guides (whose
/// rows are ratios) and the normals are far from dependent.
fn diagonal_terms(d: &Dynamics) -> Option<(Vec<f64>, bool)> {
    let s = Sliding::of(d)?;
    let w = &s.reduced.delassus;
    let (_, a_t) = couplings(w, &d.laws, &s.contacts, &[]);
    let all: Vec<usize> = d.offsets()[..d.laws.len()].to_vec();
    let contact = |(i, &k): (usize, &usize)| w[(all[k], all[k])] + d.laws[k].mu() * a_t[(i, i)].abs();
    let terms = s.guides.iter().map(|_| 1.0).chain(s.contacts.iter().enumerate().map(contact)).collect();
    let scale: Vec<f64> = all.iter().map(|&i| w[(i, i)].sqrt()).collect();
    let unit = Matrix::from_fn(all.len(), all.len(), |i, j| w[(all[i], all[j])] / (scale[i] * scale[j]));
    let independent = unit.symmetric_eigenvalues().first().is_some_and(|&x| x > CLEAR_SHARE);
    Some((terms, s.guides.is_empty() && independent))
}
