//! The JSON document of an analysis.

use delassus::analysis::{SystemAnalysis, constraint_names};
use delassus::lagrangian::ContactState;
use delassus_solve::analysis::Analysis;
use delassus_solve::analysis::theorems::CheckedFinding;
use delassus_solve::lcp::Verdict;
use delassus_solve::linalg::Matrix;
use serde_json::{Map, Value, json};

use crate::impact;
use crate::solution_list::{entries, finite, intervals, normals};
use crate::words::{named_meaning, outcome_word, reasons, solution_kind};

/// `proved`, `refuted` or `unknown`.
pub fn verdict_word(v: Verdict) -> &'static str {
    match v {
        Verdict::Proved => "proved",
        Verdict::Refuted => "refuted",
        Verdict::Unknown => "unknown",
    }
}

fn rows(m: Option<&Matrix>) -> Value {
    m.map_or(Value::Null, |m| json!(m.to_rows()))
}

/// The document of `analyze --json`.
pub fn analysis_document(result: &SystemAnalysis) -> Value {
    let names = &result.names;
    let analysis = result.analysis.as_ref();
    let verdict = |of: fn(&Analysis) -> Verdict| verdict_word(analysis.map_or(Verdict::Refuted, of));
    let contacts: Vec<Value> = result
        .contacts
        .iter()
        .zip(&result.kinematics.contacts)
        .map(|(c, k)| {
            let cone = c.cone.as_ref();
            json!({
                "name": c.name,
                "state": match c.state {
                    ContactState::Apart => "apart",
                    ContactState::Parting => "parting",
                    ContactState::Approaching => "approaching",
                    ContactState::Active(_) => "touching",
                },
                "gap": k.gap,
                "normal_velocity": k.normal.velocity,
                "slip_velocity": k.slip.iter().map(|r| r.velocity).collect::<Vec<_>>(),
                "mu": c.mu,
                "mu_jam": cone.and_then(|c| c.mu_jam),
                "mu_crit": cone.and_then(|c| c.mu_crit),
                "e_jam": cone.map(|c| &c.jamming_direction),
                "locking_angle_deg": cone.and_then(|c| c.locking_angle).map(f64::to_degrees),
                "jams": c.jams,
                "cone": rows(cone.and_then(|c| c.cone.as_ref())),
                "effective_mass": rows(cone.and_then(|c| c.effective_mass.as_ref())),
            })
        })
        .collect();
    let angles: Map<String, Value> = result
        .kinetic_angles
        .iter()
        .map(|a| (format!("{}|{}", a.first, a.second), json!(a.angle.to_degrees())))
        .collect();
    let bound = |id: &str| {
        result.friction_bounds.iter().find(|b| b.id == id).map_or(Value::Null, |b| finite(b.bound))
    };
    let constraints = constraint_names(names, &result.assembly);
    // Pads have coordinates of their own, behind those with a name.
    let named: Vec<usize> = (0..names.coordinates.len().min(result.kinematics.mass.rows())).collect();
    let mass = result.kinematics.mass.select(&named, &named).to_rows();
    json!({
        "name": names.title,
        "n": names.coordinates.len(),
        "bilateral": names.joints.len(),
        "unilateral": names.contacts.len(),
        "mass_rank": result.kinematics.mass_rank,
        "existence": verdict(|a| a.existence),
        "acceleration_unique": verdict(|a| a.acceleration_unique),
        "forces_unique": verdict(|a| a.forces_unique),
        "reasons": reasons(result),
        "solutions": solutions(result),
        "impact": impact::document(result),
        "contacts": contacts,
        "friction_bounds": {
            "000.prop9": bound("000.prop9"), "000.prop11": bound("000.prop11"),
            "000.prop12": bound("000.prop12"), "000.prop14": bound("000.prop14"),
        },
        "kinetic_angles_deg": angles,
        "matrices": {
            "rows": &constraints,
            "mass": mass,
            "delassus": rows(result.delassus.as_ref()),
            "constrained_delassus": rows(result.constrained_delassus.as_ref()),
            "lcp_matrix": rows(result.lcp.as_ref().map(|l| &l.matrix)),
            "lcp_vector": result.lcp.as_ref().map(|l| &l.vector),
        },
        "certificates": result.findings.iter().map(|f| certificate(f, &constraints)).collect::<Vec<_>>(),
    })
}

/// One proposition, about constraints with these names.
pub fn certificate(f: &CheckedFinding, names: &[String]) -> Value {
    json!({
        "id": f.finding.id,
        "outcome": outcome_word(f.finding.outcome),
        "value": f.finding.value.map(finite),
        "bound": f.finding.bound.map(finite),
        "verified": f.verified.unwrap_or(false),
        "claims": {
            "existence": f.finding.claims.existence,
            "acceleration_unique": f.finding.claims.acceleration_unique,
            "forces_unique": f.finding.claims.forces_unique,
        },
        "meaning": named_meaning(&f.finding.meaning, names),
    })
}

fn solutions(result: &SystemAnalysis) -> Value {
    let Some(analysis) = &result.analysis else { return json!({"kind": "none", "list": []}) };
    let list: Vec<Value> = entries(result, analysis).into_iter().map(|(_, entry)| entry).collect();
    let intervals = (!list.is_empty()).then(|| intervals(result, &analysis.intervals));
    let normals = |f: &Vec<f64>| normals(result, f);
    json!({
        "kind": solution_kind(analysis),
        "complete": !analysis.is_partial(),
        "partial": analysis.is_partial(),
        "exact": analysis.is_exact(),
        "modes": analysis.solutions.modes,
        "list": list,
        "minimum_norm": analysis.minimum_norm.as_ref().map(normals),
        "unique_part": analysis.unique_part().map(normals),
        "intervals": intervals,
    })
}
