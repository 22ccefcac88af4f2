//! Certificates of the verdicts on a contact problem.

use delassus::analysis::{SystemAnalysis, constraint_names};
use delassus_solve::analysis::{Analysis, Cut, Node, PiecesProof, RestProof, pieces_proof, rest_proof};
use delassus_solve::lcp::Verdict;
use delassus_solve::linalg::{Interval, Matrix};
use delassus_solve::modes::ExactDynamics;
use delassus_solve::problem::{Law, row_offsets};
use serde_json::{Map, Value, json};

use crate::certificate::{container, exact, exacts, factor, interval};

const QUESTIONS: [&str; 3] = ["existence", "acceleration_unique", "forces_unique"];

/// The certificate of the verdicts of an analysis, and those that it does not prove; `None` where it would
/// prove none.
pub fn analysis_certificate(result: &SystemAnalysis) -> Option<(Value, Vec<&'static str>)> {
    let analysis = result.analysis.as_ref()?;
    let data = analysis.data.as_ref()?;
    let problem = problem(data, &constraint_names(&result.names, &result.assembly))?;
    let rest = rest_proof(&result.assembly.dynamics, data).map(|proof| {
        let answers = [Some(true), Some(true), None];
        (claim(analysis, answers), rest_facts(&proof))
    });
    let by_pieces = || {
        let proof = pieces_proof(data)?;
        Some((claim(analysis, proof.answers), pieces_facts(&proof)))
    };
    // What pieces prove is more, but they are many.
    let all = decided(analysis).count();
    let (claim, facts) = match rest {
        Some(found) if found.0.len() == all => found,
        rest => match (rest, by_pieces()) {
            (Some(rest), Some(pieces)) => {
                if pieces.0.len() > rest.0.len() {
                    pieces
                } else {
                    rest
                }
            }
            (rest, pieces) => rest.or(pieces)?,
        },
    };
    if claim.is_empty() {
        return None;
    }
    let missing = decided(analysis).filter(|question| !claim.contains_key(*question)).collect();
    let document = container("contact-problem", &result.names.title, problem, Value::Object(claim), facts);
    Some((document, missing))
}

/// The questions that have an answer.
fn decided(analysis: &Analysis) -> impl Iterator<Item = &'static str> {
    let known = QUESTIONS.into_iter().zip(analysis.verdicts());
    known.filter(|(_, verdict)| *verdict != Verdict::Unknown).map(|(question, _)| question)
}

/// The answers that agree with the verdicts.
fn claim(analysis: &Analysis, answers: [Option<bool>; 3]) -> Map<String, Value> {
    let agrees =
        |verdict: Verdict, yes: bool| verdict == if yes { Verdict::Proved } else { Verdict::Refuted };
    let all = QUESTIONS.iter().zip(analysis.verdicts()).zip(answers);
    all.filter_map(|((question, verdict), answer)| {
        answer.filter(|yes| agrees(verdict, *yes)).map(|yes| ((*question).into(), json!(yes)))
    })
    .collect()
}

fn sparse(row: &[Interval]) -> Value {
    let entries = row.iter().enumerate().filter(|(_, x)| **x != Interval::ZERO);
    entries.map(|(j, x)| json!([j, interval(*x)])).collect()
}

/// The problem; `None` where a law or a number has no place in certificates.
fn problem(d: &ExactDynamics<Interval>, names: &[String]) -> Option<Value> {
    let numbers = d.mass.iter().flatten().chain(&d.force).chain(d.jacobian.iter().flatten());
    let mut numbers = numbers.chain(&d.bias).chain(&d.mu).chain(d.slip.iter().flatten());
    if numbers.any(|x| !(x.lo.is_finite() && x.hi.is_finite())) {
        return None;
    }
    let offsets = row_offsets(&d.laws);
    let mut constraints = Vec::new();
    for (k, law) in d.laws.iter().enumerate() {
        let mut own = match law {
            Law::Bilateral => json!({ "law": "bilateral" }),
            Law::Unilateral => json!({ "law": "unilateral" }),
            Law::CoulombPlane { .. } => json!({ "law": "coulomb-plane", "mu": interval(d.mu[k]) }),
            Law::Coulomb { .. } => json!({ "law": "coulomb", "mu": interval(d.mu[k]) }),
            Law::Rolling { rolling, .. } => {
                json!({ "law": "rolling", "mu": interval(d.mu[k]), "rolling": exact(*rolling) })
            }
            Law::Sliding { .. } | Law::BilateralSliding { .. } => {
                let slip: Value = d.slip[k].iter().map(|x| interval(*x)).collect();
                let name = if law.is_bilateral() { "bilateral-sliding" } else { "sliding" };
                json!({ "law": name, "mu": interval(d.mu[k]), "slip": slip })
            }
            Law::BilateralCoulombPlane { .. } => {
                json!({ "law": "bilateral-coulomb-plane", "mu": interval(d.mu[k]) })
            }
            Law::BilateralCoulomb { .. } => json!({ "law": "bilateral-coulomb", "mu": interval(d.mu[k]) }),
            _ => return None,
        };
        let rows = offsets[k]..offsets[k + 1];
        own["name"] = json!(names.get(k));
        own["rows"] = d.jacobian[rows.clone()].iter().map(|row| sparse(row)).collect();
        own["bias"] = d.bias[rows].iter().map(|x| interval(*x)).collect();
        constraints.push(own);
    }
    let mass: Value = d.mass.iter().map(|row| sparse(row)).collect();
    let force: Value = d.force.iter().map(|x| interval(*x)).collect();
    Some(json!({ "coordinates": d.force.len(), "mass": mass, "force": force, "constraints": constraints }))
}

fn rest_facts(proof: &RestProof) -> Value {
    json!({ "method": "rest", "forces": fractions(&proof.forces), "bound": factor(&proof.bound), "mass": factor(&proof.mass) })
}

fn fractions(all: &[impl ToString]) -> Value {
    all.iter().map(|x| json!(x.to_string())).collect()
}

fn matrix(a: &Matrix) -> Value {
    (0..a.rows()).map(|i| exacts(a.row(i))).collect()
}

fn pieces_facts(proof: &PiecesProof) -> Value {
    let solution = |s: &delassus_solve::analysis::ProvedSolution| {
        json!({
            "modes": s.modes, "centre": fractions(&s.centre), "radius": fractions(&s.radius),
            "alone": fractions(&s.alone), "inverse": matrix(&s.inverse),
        })
    };
    let solutions: Value = proof.solutions.iter().map(solution).collect();
    let mut facts = json!({ "method": "pieces", "inverse": matrix(&proof.inverse), "solutions": solutions });
    if let Some(tree) = &proof.tree {
        facts["tree"] = node(tree);
    }
    facts
}

fn node(tree: &Node) -> Value {
    match tree {
        Node::Empty(y) => json!({ "empty": exacts(y) }),
        Node::Solution(k, sides) => {
            let side = |(row, sign, y): &(usize, i32, Vec<f64>)| {
                let (y, z) = y.split_at(y.len() - 1);
                json!({ "row": row, "sign": sign, "multipliers": exacts(y), "weight": exact(z[0]) })
            };
            json!({ "solution": k, "sides": sides.iter().map(side).collect::<Value>() })
        }
        Node::Cut(contact, Cut { named, directions, sectors }) => {
            let mut own = json!({ "contact": contact });
            named.iter().for_each(|(name, child)| own[*name] = node(child));
            if !sectors.is_empty() {
                own["directions"] = directions.iter().map(|e| fractions(e)).collect();
                own["slide"] = sectors.iter().map(node).collect();
            }
            own
        }
    }
}
