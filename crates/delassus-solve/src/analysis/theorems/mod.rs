//! The propositions of the papers on existence and uniqueness, applied to one problem, each claim checked.
//!
//! ```text
//! M a + F = Jᵀ f ,   u = J a + γ ,   (f, u) in the laws      hypotheses of a proposition ⇒ its claims
//! ```
//!
//! M is n × n, J is m × n. Paper 000: `p000`, `p000_frictionless`, `p000_friction`; 001: `p001`,
//! `p001_angles`; 002: `p002`; 003: `p003`. Laws of every kind: `any_law`, asked where a question is open.
//! The list of modes itself is a finding too, id `modes`.

mod any_law;
mod decision;
mod frictionless;
mod p000;
mod p000_friction;
mod p000_frictionless;
mod p001;
mod p001_angles;
mod p002;
mod p003;

pub use any_law::all_any_law;
pub use p000_friction::{
    beta_two, cor_000_2, hlcp_000, p_matrix_000, positive_definite_000, prop_000_9, prop_000_10, prop_000_11,
    prop_000_12, prop_000_13, prop_000_14,
};
pub use p000_frictionless::{
    app_e_000_iii, app_e_000_iv, cor_000_1, kkt_rank, kkt_rank_with, prop_000_1i, prop_000_1ii, prop_000_3i,
    prop_000_3ii, prop_000_3iii, prop_000_3iv, prop_000_3v, prop_000_3vi, prop_000_4, prop_000_5, prop_000_6,
    prop_000_7i, prop_000_7ii, prop_000_7iii, prop_000_7iv, prop_000_7v, prop_000_7vi, prop_000_7vii,
    prop_000_8, unheld_motions,
};
pub use p001::{
    corollary_001_1, lemma_001_1, lemma_001_2, lemma_001_3, lemma_001_4, lemma_001_5, prop_001_1, prop_001_2,
    prop_001_3, prop_001_4, prop_001_5, prop_001_6, prop_001_11, prop_001_12, prop_001_13, prop_001_14,
};
pub use p001_angles::{
    corollary_001_2, corollary_001_3, corollary_001_4, corollary_001_5, prop_001_7, prop_001_8, prop_001_9,
    prop_001_10, prop_001_15, theorem_001_1,
};
pub use p002::{all_002, independent_forces, least_forces, lemma_002_51, lemma_002_52};
pub use p003::{Class, OneContact, all_003, jam_003, one_contact};

use crate::analysis::certificate::{Certificate, Claims, Fact, Finding, Outcome};
use crate::analysis::verdicts::answer;
use crate::analysis::{Analysis, Method};
use crate::lcp::Verdict;
use crate::problem::Dynamics;

/// A finding, and whether its certificate stood up to exact checking; `None` where it claims nothing.
#[derive(Clone, Debug)]
pub struct CheckedFinding {
    /// The result of the proposition.
    pub finding: Finding,
    /// Whether the certificate was verified.
    pub verified: Option<bool>,
}

/// Largest number of coordinates and of rows for which all propositions are evaluated: beyond it their
/// matrices take too long.
pub const MAX_SIZE: usize = 24;

/// All propositions of 000 that speak of this problem.
pub fn all_000(d: &Dynamics) -> Vec<Finding> {
    let propositions: [fn(&Dynamics) -> Finding; 32] = [
        prop_000_1i,
        prop_000_1ii,
        app_e_000_iii,
        app_e_000_iv,
        prop_000_3i,
        prop_000_3ii,
        prop_000_3iii,
        prop_000_3iv,
        prop_000_3v,
        prop_000_3vi,
        prop_000_4,
        prop_000_5,
        prop_000_6,
        cor_000_1,
        prop_000_7i,
        prop_000_7ii,
        prop_000_7iii,
        prop_000_7iv,
        prop_000_7v,
        prop_000_7vi,
        prop_000_7vii,
        prop_000_8,
        prop_000_9,
        prop_000_10,
        prop_000_11,
        prop_000_12,
        prop_000_13,
        prop_000_14,
        cor_000_2,
        hlcp_000,
        positive_definite_000,
        p_matrix_000,
    ];
    propositions.iter().map(|p| p(d)).filter(|f| f.outcome != Outcome::NotApplicable).collect()
}

/// All propositions of 001 that speak of this problem.
pub fn all_001(d: &Dynamics) -> Vec<Finding> {
    let propositions: [fn(&Dynamics) -> Finding; 26] = [
        prop_001_1,
        prop_001_2,
        prop_001_3,
        prop_001_4,
        prop_001_5,
        lemma_001_1,
        lemma_001_2,
        lemma_001_3,
        prop_001_6,
        corollary_001_1,
        lemma_001_4,
        prop_001_7,
        prop_001_8,
        theorem_001_1,
        corollary_001_2,
        corollary_001_3,
        prop_001_9,
        corollary_001_4,
        prop_001_10,
        corollary_001_5,
        prop_001_11,
        prop_001_12,
        prop_001_13,
        prop_001_14,
        lemma_001_5,
        prop_001_15,
    ];
    propositions.iter().map(|p| p(d)).filter(|f| f.outcome != Outcome::NotApplicable).collect()
}

/// All propositions that apply to a problem, and the list of all modes where `analysis` has it, each checked.
/// The verdicts of `analysis` take account of the claims that were verified.
pub fn findings(d: &Dynamics, analysis: &mut Analysis) -> Vec<CheckedFinding> {
    let mut all = Vec::new();
    if d.coordinates() <= MAX_SIZE && d.jacobian.rows() <= MAX_SIZE {
        all.extend(all_000(d));
        all.extend(all_003(d));
        all.extend(all_001(d));
        all.extend(all_002(d));
    }
    if analysis.verdicts().contains(&Verdict::Unknown) {
        all.extend(all_any_law(d));
    }
    if analysis.rests() {
        all.extend(any_law::rest(d));
    }
    let mut all: Vec<CheckedFinding> = all
        .into_iter()
        .map(|finding| CheckedFinding {
            verified: finding.certificate.as_ref().map(|c| c.verify() && analysis.allows(&finding)),
            finding,
        })
        .collect();
    if let Some(finding) = modes(d, analysis) {
        let agrees = |claim: Option<bool>, truth: bool| claim.is_none_or(|c| c == truth);
        let Claims { existence, acceleration_unique, forces_unique } = finding.claims;
        let verified = match analysis.exact {
            // What `verify` would go through once more.
            Some(truth) => {
                agrees(existence, truth.existence)
                    && agrees(acceleration_unique, truth.acceleration_unique)
                    && agrees(forces_unique, truth.forces_unique)
            }
            None => finding.certificate.as_ref().is_some_and(Certificate::verify),
        };
        all.push(CheckedFinding { finding, verified: Some(verified) });
    }
    let verified = all.iter().filter(|f| f.verified == Some(true)).map(|f| f.finding.claims);
    analysis.add_claims(verified);
    all
}

/// Whether the hypotheses of one proposition are met, by its id, without the exact check of certificates that
/// `findings` makes.
pub fn outcome_of(d: &Dynamics, id: &str) -> Option<Outcome> {
    if d.coordinates() > MAX_SIZE || d.jacobian.rows() > MAX_SIZE {
        return None;
    }
    let all = match id.split('.').next() {
        Some("000") => all_000(d),
        Some("001") => all_001(d),
        Some("002") => all_002(d),
        Some("003") => all_003(d),
        _ => return None,
    };
    all.into_iter().find(|f| f.id == id).map(|f| f.outcome)
}

/// The verdicts that came from the list of all modes, as a finding.
fn modes(d: &Dynamics, analysis: &Analysis) -> Option<Finding> {
    if analysis.method != Method::AllModes {
        return None;
    }
    let [existence, acceleration_unique, forces_unique] = analysis.verdicts().map(answer);
    let claims = Claims { existence, acceleration_unique, forces_unique };
    Some(Finding {
        id: "modes",
        outcome: Outcome::Holds,
        value: None,
        bound: None,
        claims,
        meaning: "every combination of modes was examined".into(),
        certificate: Some(Certificate::new("modes", d, vec![Fact::AllModes(claims)], claims)),
    })
}
