//! The solutions of an analysis by name, as `analyze --json` lists them.
//!
//! Modes that differ in nothing that is shown (an open contact that touches, a guide without force) are one
//! entry: the document, the report and their counts all take the list from here.

use delassus::analysis::SystemAnalysis;
use delassus::lagrangian::ContactState;
use delassus_solve::analysis::Analysis;
use delassus_solve::lcp::Verdict;
use delassus_solve::modes::SolutionComponent;
use delassus_solve::problem::Law;
use serde_json::{Map, Value, json};

use crate::style::mode_word;

/// The solutions found, each once, with the entry that the list has for it.
pub fn entries<'a>(result: &SystemAnalysis, analysis: &'a Analysis) -> Vec<(&'a SolutionComponent, Value)> {
    let mut list: Vec<(&SolutionComponent, Value)> = vec![];
    for component in &analysis.solutions.components {
        let entry = one_solution(result, analysis, component);
        if !list.iter().any(|(_, listed)| *listed == entry) {
            list.push((component, entry));
        }
    }
    list
}

/// Dimension of the continuum that a solution stands for; `None` where it is not known.
pub fn dimension(analysis: &Analysis, component: &SolutionComponent) -> Option<usize> {
    let isolated = analysis.solutions.complete || analysis.forces_unique == Verdict::Proved;
    component.freedom.as_ref().map(|f| f.bounds.cols()).or(isolated.then_some(0))
}

/// A number, or null where it is not finite.
pub fn finite(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { Value::Null }
}

/// The normal forces by name.
pub fn normals(result: &SystemAnalysis, f: &[f64]) -> Value {
    let (contacts, joints) = by_name(result, |_, _, at| json!(f[at]), |at| json!(f[at]), || Some(json!(0.0)));
    json!({"contacts": contacts, "joints": joints})
}

/// Intervals of all forces by name, null where they are not known.
pub fn intervals(result: &SystemAnalysis, ranges: &[[f64; 2]]) -> Value {
    let range = |at: usize| ranges.get(at).map_or(Value::Null, |r| json!([finite(r[0]), finite(r[1])]));
    let (contacts, joints) = by_name(
        result,
        |_, law, at| {
            let mut tangential: Vec<Value> = (at + 1..at + law.dim()).map(range).collect();
            let moments = tangential.split_off(tangents(law));
            let mut contact = json!({"normal": range(at), "tangential": tangential});
            if !moments.is_empty() {
                contact["rolling"] = json!(moments);
            }
            contact
        },
        range,
        || None,
    );
    with_joint_friction(result, json!({"contacts": contacts, "joints": joints}), range)
}

/// Forces by name: {contacts: {name: f(rows)}, joints: {name: f(rows)}} for active constraints, `absent` for
/// others.
fn by_name(
    result: &SystemAnalysis,
    contact: impl Fn(usize, &Law, usize) -> Value,
    joint: impl Fn(usize) -> Value,
    absent: impl Fn() -> Option<Value>,
) -> (Map<String, Value>, Map<String, Value>) {
    let offsets = result.assembly.dynamics.offsets();
    let mut contacts = Map::new();
    for (c, state) in result.names.contacts.iter().zip(&result.assembly.contacts) {
        match state {
            ContactState::Active(k) => {
                contacts.insert(c.clone(), contact(*k, &result.assembly.dynamics.laws[*k], offsets[*k]));
            }
            _ => {
                if let Some(v) = absent() {
                    contacts.insert(c.clone(), v);
                }
            }
        }
    }
    let joints =
        result.names.joints.iter().enumerate().map(|(k, j)| (j.clone(), joint(offsets[k]))).collect();
    (contacts, joints)
}

/// How many of the rows of a law are tangents: two where moments come behind them.
fn tangents(law: &Law) -> usize {
    (law.dim() - 1).min(2)
}

fn one_solution(result: &SystemAnalysis, analysis: &Analysis, component: &SolutionComponent) -> Value {
    let acceleration: Map<String, Value> = result
        .names
        .coordinates
        .iter()
        .cloned()
        .zip(component.acceleration.iter().map(|x| json!(x)))
        .collect();
    let (contacts, joints) = by_name(
        result,
        |k, law, at| {
            let (tangential, moments) = component.force[at + 1..at + law.dim()].split_at(tangents(law));
            let mode = mode_word(component.modes[k]);
            let mut contact = json!({"normal": component.force[at], "tangential": tangential, "mode": mode});
            if !moments.is_empty() {
                contact["rolling"] = json!(moments);
            }
            contact
        },
        |at| json!(component.force[at]),
        || Some(json!({"normal": 0.0, "tangential": [], "mode": "open"})),
    );
    let dimension = dimension(analysis, component);
    let mut entry = json!({
        "acceleration": acceleration,
        "contacts": contacts,
        "joints": joints,
        "dimension": dimension,
    });
    if dimension != Some(0) {
        entry["intervals"] = intervals(result, &component.intervals);
    }
    with_joint_friction(result, entry, |at| json!(component.force[at]))
}

/// An entry with the friction of guides by name, where there are any.
fn with_joint_friction(result: &SystemAnalysis, mut entry: Value, row: impl Fn(usize) -> Value) -> Value {
    let dynamics = &result.assembly.dynamics;
    let guides = result.names.joints.iter().zip(&dynamics.laws).zip(dynamics.offsets());
    let friction: Map<String, Value> = guides
        .filter(|((_, law), _)| law.dim() > 1)
        .map(|((name, law), at)| (name.clone(), (at + 1..at + law.dim()).map(&row).collect()))
        .collect();
    if !friction.is_empty() {
        entry["joint_friction"] = Value::Object(friction);
    }
    entry
}
