//! What all propositions of the papers say about a problem, each claim checked.
//!
//! 000: [`crate::theorems_000`]; 001: [`crate::theorems_001`]; 002: [`crate::theorems_002`];
//! 003: [`crate::theorems_003`]. The list of modes itself is a finding too, id `modes`.

use crate::analyze::{Analysis, Method};
use crate::certificate::{Certificate, Claims, Fact, Finding, Outcome};
use crate::classes::Verdict;
use crate::dynamics::Dynamics;
use crate::theorems_000::all_000;
use crate::theorems_001::all_001;
use crate::theorems_002::all_002;
use crate::theorems_003::all_003;

/// A finding, and whether its certificate stood up to exact checking; `None` where it claims nothing.
#[derive(Clone, Debug)]
pub struct CheckedFinding {
    /// What the proposition says.
    pub finding: Finding,
    /// Whether the certificate was verified.
    pub verified: Option<bool>,
}

/// Largest number of coordinates and of rows for which all propositions are looked at: beyond it their matrices are no
/// longer a matter of a moment.
pub const LARGEST: usize = 24;

/// All propositions that apply to a problem, and the list of all modes where `analysis` has it, each checked.
pub fn findings(d: &Dynamics, analysis: &Analysis) -> Vec<CheckedFinding> {
    let mut all = Vec::new();
    if d.coordinates() <= LARGEST && d.jacobian.rows() <= LARGEST {
        all.extend(all_000(d));
        all.extend(all_003(d));
        all.extend(all_001(d));
        all.extend(all_002(d));
    }
    all.extend(modes(d, analysis));
    all.into_iter()
        .map(|finding| CheckedFinding {
            verified: finding.certificate.as_ref().map(Certificate::verify),
            finding,
        })
        .collect()
}

/// The verdicts that came from the list of all modes, as a finding.
fn modes(d: &Dynamics, analysis: &Analysis) -> Option<Finding> {
    if analysis.method != Method::AllModes {
        return None;
    }
    let claim = |v: Verdict| match v {
        Verdict::Proved => Some(true),
        Verdict::Refuted => Some(false),
        Verdict::Unknown => None,
    };
    let claims = Claims {
        existence: claim(analysis.existence),
        acceleration_unique: claim(analysis.acceleration_unique),
        forces_unique: claim(analysis.forces_unique),
    };
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

/// The verdicts with what verified findings add where they were unknown.
pub fn with_findings(analysis: &mut Analysis, findings: &[CheckedFinding]) {
    let verified = || findings.iter().filter(|f| f.verified == Some(true)).map(|f| f.finding.claims);
    let settle = |verdict: &mut Verdict, of: fn(&Claims) -> Option<bool>| {
        if *verdict == Verdict::Unknown {
            // Claims that contradict each other would be a bug; then nothing is said.
            let claims: Vec<bool> = verified().filter_map(|c| of(&c)).collect();
            if let Some(&first) = claims.first()
                && claims.iter().all(|c| *c == first)
            {
                *verdict = if first { Verdict::Proved } else { Verdict::Refuted };
            }
        }
    };
    settle(&mut analysis.existence, |c| c.existence);
    settle(&mut analysis.acceleration_unique, |c| c.acceleration_unique);
    settle(&mut analysis.forces_unique, |c| c.forces_unique);
}
