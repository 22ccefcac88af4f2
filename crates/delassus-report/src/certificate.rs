//! Certificates: a problem, a claim about it and facts that prove it, as a document that others can check.
//!
//! Numbers are exact: a double is the fraction that it is, and a number that is known within bounds is the
//! list of both. The book's chapter on certificates has the format.

use delassus::analysis::{
    FaceProof, MarginProof, Proof, Reason, ResistanceProof, Standing, Stands, WorldAtRest, margin_proof,
};
use delassus::world::World;
use delassus_solve::analysis::equilibrium::{Balance, GramFactor, Support, joint_factor, rest_factor};
use delassus_solve::linalg::{Interval, max_abs, rational};
use delassus_solve::problem::Law;
use serde_json::{Value, json};

use crate::stand::AskedMargin;

/// The certificate of whether a world stands, with those of its margins; `None` where nothing is proved, or
/// by means that no certificate has.
pub fn stand_certificate(
    world: &World,
    at_rest: &WorldAtRest,
    standing: &Standing,
    margins: &[AskedMargin],
) -> Option<Value> {
    let own = standing_certificate(world, at_rest, standing)?;
    if margins.is_empty() {
        return Some(own);
    }
    let of_margin = |asked: &AskedMargin| {
        let proof = margin_proof(at_rest, asked.margin, &asked.bracket)?;
        margin_certificate(&world.name, at_rest, asked.kind(), &proof)
    };
    let all: Option<Vec<Value>> = [Some(own)].into_iter().chain(margins.iter().map(of_margin)).collect();
    Some(json!({
        "format": "delassus-certificate", "version": 1, "kind": "list", "about": world.name,
        "certificates": all?,
    }))
}

/// The certificate of the ends of a margin.
fn margin_certificate(title: &str, at_rest: &WorldAtRest, of: &str, proof: &MarginProof) -> Option<Value> {
    let balance = &proof.balance;
    let mut problem = balance_document(at_rest, balance);
    if let Some([along, error]) = &proof.along {
        let size = max_abs(along);
        let entries = along.iter().zip(error).enumerate().filter(|(_, (x, _))| **x != 0.0);
        problem["along"] = entries
            .map(|(j, (x, error))| {
                let known = balance.bounds(*x, size);
                let wide = Interval::new((known.lo - error).next_down(), (known.hi + error).next_up());
                json!([j, interval(if *error == 0.0 { known } else { wide })])
            })
            .collect();
    }
    let with = |x: f64| match &proof.along {
        None => balance.with_friction(x),
        Some([along, error]) => {
            let load = balance.load.iter().zip(along).map(|(f, d)| f + x * d).collect();
            balance.with_load(load, error.clone())
        }
    };
    let (mut claim, mut facts) = (json!({ "of": of }), json!({}));
    if let Some((x, forces)) = &proof.stands {
        claim["stands"] = exact(*x);
        facts["stands"] = rest_facts(&with(*x), forces)?;
    }
    if let Some((x, velocity)) = &proof.falls {
        claim["falls"] = exact(*x);
        facts["falls"] = collapse_facts(balance, velocity)?;
    }
    Some(container("margin", title, problem, claim, facts))
}

/// The certificate that bodies on plane faces surely stand.
fn face_certificate(world: &World, proof: &FaceProof) -> Value {
    let all = |x: &[Interval]| x.iter().map(|x| interval(*x)).collect::<Value>();
    let bodies = proof.tree.bodies.iter().map(|b| {
        let contact = |(point, mu): &([Interval; 3], Interval)| json!({ "point": all(point), "mu": interval(*mu) });
        json!({
            "name": world.bodies[b.index].name, "on": b.on, "mass": interval(b.mass), "inertia": all(&b.inertia),
            "centre": all(&b.centre), "normal": all(&b.normal),
            "contacts": b.contacts.iter().map(contact).collect::<Value>(),
        })
    });
    let problem = json!({ "gravity": all(&proof.tree.gravity), "bodies": bodies.collect::<Value>() });
    let facts = json!({
        "around": proof.around, "lift": exact(proof.lift), "scales": exacts(&proof.scales),
        "bound": factor(&proof.bound),
    });
    container("faces", &world.name, problem, json!({ "stands": "surely" }), facts)
}

fn standing_certificate(world: &World, at_rest: &WorldAtRest, standing: &Standing) -> Option<Value> {
    let (balance, title) = (at_rest.balance(), &world.name);
    if let Some(Proof::Faces(proof)) = &standing.proof {
        return Some(face_certificate(world, proof));
    }
    let word = match (standing.stands, standing.reason) {
        (Stands::Surely, Some(Reason::Frictionless)) => "surely",
        (Stands::Possibly, _) => "possibly",
        (Stands::No, _) => "no",
        _ => return None,
    };
    let facts = match standing.proof.as_ref()? {
        Proof::Forces(forces) => rest_facts(balance, forces)?,
        Proof::Velocity(velocity) => collapse_facts(balance, velocity)?,
        Proof::Faces(_) => return None,
    };
    let problem = balance_document(at_rest, balance);
    Some(container("balance", title, problem, json!({ "stands": word }), facts))
}

/// The certificate of a set of forces that is resisted; `None` where nothing is proved.
pub fn hold_certificate(title: &str, at_rest: &WorldAtRest, proof: &ResistanceProof) -> Option<Value> {
    let balance = at_rest.balance();
    let with = |force: &[f64; 3]| {
        let sum = |i: usize| (0..3).fold(balance.load[i], |sum, k| sum + force[k] * proof.push[k][i]);
        balance.with_load((0..balance.load.len()).map(sum).collect(), balance.load_error.clone())
    };
    let mut problem = balance_document(at_rest, balance);
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

/// Constraints and load of a balance of a world at rest.
fn balance_document(at_rest: &WorldAtRest, balance: &Balance) -> Value {
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
