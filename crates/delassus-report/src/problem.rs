//! The JSON document of a contact problem that is given by its matrices alone.

use delassus_solve::analysis::Analysis;
use delassus_solve::analysis::theorems::CheckedFinding;
use delassus_solve::modes::SolutionComponent;
use delassus_solve::problem::Dynamics;
use serde_json::{Value, json};

use crate::document::{certificate, verdict_word};
use crate::solution_list::{dimension, finite};
use crate::style::mode_word;
use crate::words::solution_kind;

/// Verdicts, solutions and certificates of `dynamics`. Constraints have numbers, not names; `acceleration` is
/// that of the coordinates of the mass matrix.
pub fn problem_document(dynamics: &Dynamics, analysis: &Analysis, findings: &[CheckedFinding]) -> Value {
    let one = |component: &SolutionComponent| {
        json!({
            "force": component.force,
            "velocity": velocity(dynamics, component),
            "acceleration": component.acceleration,
            "modes": component.modes.iter().map(|m| mode_word(*m)).collect::<Vec<_>>(),
            "dimension": dimension(analysis, component),
        })
    };
    let mut list: Vec<Value> = vec![];
    for entry in analysis.solutions.components.iter().map(one) {
        if !list.contains(&entry) {
            list.push(entry);
        }
    }
    json!({
        "existence": verdict_word(analysis.existence),
        "acceleration_unique": verdict_word(analysis.acceleration_unique),
        "forces_unique": verdict_word(analysis.forces_unique),
        "solutions": {
            "kind": solution_kind(analysis),
            "complete": !analysis.is_partial(),
            "partial": analysis.is_partial(),
            "exact": analysis.is_exact(),
            "modes": analysis.solutions.modes,
            "list": list,
            "minimum_norm": analysis.minimum_norm,
            "unique_part": analysis.unique_part(),
            "intervals": analysis.intervals.iter().map(|x| x.map(finite)).collect::<Vec<_>>(),
        },
        "certificates": findings.iter().map(|f| certificate(f, &[])).collect::<Vec<_>>(),
    })
}

/// u = J a + γ.
fn velocity(dynamics: &Dynamics, component: &SolutionComponent) -> Vec<f64> {
    let mut u = dynamics.jacobian.mul_vec(&component.acceleration);
    u.iter_mut().zip(&dynamics.bias).for_each(|(u, bias)| *u += bias);
    u
}
