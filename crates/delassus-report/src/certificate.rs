//! Certificates: a problem, a claim about it and facts that prove it, as a document that others can check.
//!
//! Numbers are exact: a double is the fraction that it is, and a number that is known within bounds is the
//! list of both. The book's chapter on certificates has the format.

use delassus::analysis::{Proof, Reason, ResistanceProof, Standing, Stands, WorldAtRest};
use delassus_solve::analysis::equilibrium::{Balance, GramFactor, Support, joint_factor, rest_factor};
use delassus_solve::linalg::{Interval, max_abs, rational};
use delassus_solve::problem::Law;
use serde_json::{Value, json};

/// The certificate of whether a world stands; `None` where nothing is proved, or by means that no certificate
/// has.
pub fn stand_certificate(title: &str, at_rest: &WorldAtRest, standing: &Standing) -> Option<Value> {
    let balance = at_rest.balance();
    let word = match (standing.stands, standing.reason) {
        (Stands::Surely, Some(Reason::Frictionless)) => "surely",
        (Stands::Possibly, _) => "possibly",
        (Stands::No, _) => "no",
        _ => return None,
    };
    let facts = match standing.proof.as_ref()? {
        Proof::Forces(forces) => rest_facts(balance, forces)?,
        Proof::Velocity(velocity) => collapse_facts(balance, velocity)?,
    };
    let problem = balance_document(at_rest);
    Some(container("balance", title, problem, json!({ "stands": word }), facts))
}

/// The certificate of a set of forces that is resisted; `None` where nothing is proved.
pub fn hold_certificate(title: &str, at_rest: &WorldAtRest, proof: &ResistanceProof) -> Option<Value> {
    let balance = at_rest.balance();
    let with = |force: &[f64; 3]| {
        let sum = |i: usize| (0..3).fold(balance.load[i], |sum, k| sum + force[k] * proof.push[k][i]);
        balance.with_load((0..balance.load.len()).map(sum).collect(), balance.load_error.clone())
    };
    let mut problem = balance_document(at_rest);
    let push = proof.push.iter().map(|p| {
        let size = max_abs(p);
        let entries = p.iter().enumerate().filter(|(_, x)| **x != 0.0);
        entries.map(|(j, x)| json!([j, interval(balance.bounds(*x, size))])).collect::<Value>()
    });
    problem["push"] = push.collect();
    let (mut claim, mut facts) = (json!({}), json!({}));
    if proof.resists > 0.0 {
        claim["resists"] = exact(proof.resists);
        let corners = proof.corners.iter().map(|(force, forces)| {
            let mut corner = rest_facts(&with(&force.to_array()), forces)?;
            corner["force"] = exacts(&force.to_array());
            Some(corner)
        });
        facts["corners"] = corners.collect::<Option<Value>>()?;
        facts["faces"] = json!(proof.faces);
    }
    if let Some((force, velocity)) = &proof.weakest {
        // A little more than its length.
        claim["fails"] = exact(force.length() * (1.0 + 1e-15));
        let mut weakest = collapse_facts(balance, velocity)?;
        weakest["force"] = exacts(&force.to_array());
        facts["weakest"] = weakest;
    }
    let proves = claim.as_object().is_some_and(|claim| !claim.is_empty());
    proves.then(|| container("resistance", title, problem, claim, facts))
}

pub(super) fn container(kind: &str, title: &str, problem: Value, claim: Value, facts: Value) -> Value {
    json!({
        "format": "delassus-certificate", "version": 1, "kind": kind, "about": title,
        "claim": claim, "problem": problem, "facts": facts,
    })
}

/// The fraction that a double is.
pub(super) fn exact(x: f64) -> Value {
    // Numbers of problems and of proofs are finite.
    rational(x).map_or(Value::Null, |x| Value::String(x.to_string()))
}

pub(super) fn exacts(all: &[f64]) -> Value {
    all.iter().map(|x| exact(*x)).collect()
}

/// A fraction, or the list of both ends.
pub(super) fn interval(x: Interval) -> Value {
    if x.lo == x.hi { exact(x.lo) } else { json!([exact(x.lo), exact(x.hi)]) }
}

/// Constraints and load of a balance.
fn balance_document(at_rest: &WorldAtRest) -> Value {
    let balance = at_rest.balance();
    let row = |i: usize| balance.row_bounds(i).map(|(j, x)| json!([j, interval(x)])).collect::<Value>();
    let mut constraints = Vec::new();
    for ((support, at), name) in balance.supports.iter().zip(balance.offsets()).zip(at_rest.support_names()) {
        let known = |x: f64| interval(balance.bounds(x, 0.0));
        let mut own = match support {
            Support::Joint => json!({ "law": "bilateral" }),
            Support::Bounded(most) => json!({ "law": "bounded", "most": known(*most) }),
            Support::Contact(law) => {
                let mut own = json!({ "law": law_name(law) });
                let keys = ["mu", "rolling", "spinning"].iter().zip(law.coefficients());
                let count = [0, 1, 1, 2, 2, 3][law.dim() - 1];
                keys.take(count).for_each(|(key, x)| own[*key] = known(x));
                own
            }
        };
        own["name"] = json!(name);
        own["rows"] = (at..at + support.dim()).map(row).collect();
        constraints.push(own);
    }
    let load: Value = balance.load_bounds().into_iter().map(interval).collect();
    json!({ "coordinates": balance.load.len(), "load": load, "constraints": constraints })
}

/// What certificates call the laws of contacts at rest.
fn law_name(law: &Law) -> &'static str {
    match law.dim() {
        1 => "unilateral",
        2 => "coulomb-plane",
        3 => "coulomb",
        5 => "rolling",
        _ => "spinning",
    }
}

fn rest_facts(balance: &Balance, forces: &[f64]) -> Option<Value> {
    let bound = factor(&rest_factor(balance, forces)?);
    Some(json!({ "forces": exacts(forces), "bound": bound }))
}

fn collapse_facts(balance: &Balance, velocity: &[f64]) -> Option<Value> {
    let bound = factor(&joint_factor(balance)?);
    Some(json!({ "velocity": exacts(velocity), "bound": bound }))
}

pub(super) fn factor(factor: &GramFactor) -> Value {
    json!({ "shift": exact(factor.shift), "unit": exact(factor.unit), "factor": factor.rows })
}
