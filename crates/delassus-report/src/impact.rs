//! The report on an impact, as text and as JSON.

use delassus::analysis::{ImpactReport, LawOutcome, SystemAnalysis};
use delassus_solve::impact::{ImpactStatus, Violation};
use serde_json::{Map, Value, json};

use crate::style::{Style, number};

/// How a law was solved, in a word.
fn status_word(status: ImpactStatus) -> &'static str {
    match status {
        ImpactStatus::Solved => "solved",
        ImpactStatus::NoSolution => "no-solution",
        ImpactStatus::NotConverged => "not-converged",
        ImpactStatus::TooManyImpacts => "too-many-impacts",
    }
}

/// A condition that does not hold, in words.
fn violation(v: &Violation, contact: impl Fn(usize) -> String, joint: impl Fn(usize) -> String) -> String {
    match *v {
        Violation::Approach { contact: c, velocity } => {
            format!("`{}` still approaches with {}", contact(c), number(velocity))
        }
        Violation::Joint { joint: j, velocity } => {
            format!("joint `{}` is torn with {}", joint(j), number(velocity))
        }
        Violation::Adhesion { contact: c, impulse } => {
            format!("`{}` would have to pull: {}", contact(c), number(impulse))
        }
        Violation::Friction { contact: c, excess } => {
            format!("friction of `{}` exceeds its bound by {}", contact(c), number(excess))
        }
        Violation::Energy { gain } => format!("energy out of nothing: {}", number(gain)),
    }
}

/// The outcomes in words; empty where there is no impact.
pub fn text(result: &SystemAnalysis, style: Style) -> String {
    let Some(impact) = &result.impact else { return String::new() };
    let names = &result.names;
    let contact = |k: usize| names.contacts[impact.contacts[k]].clone();
    let joint = |k: usize| names.joints[k].clone();
    let mut out = format!("\n{}\n", style.bold("impact"));
    for LawOutcome { law, result: r } in &impact.outcomes {
        let energy =
            format!("energy {} → {}", number(r.kinetic_energy_before), number(r.kinetic_energy_after));
        out += &format!("  {law:<10} {energy}");
        if r.status != ImpactStatus::Solved {
            out += &format!("   {}", style.bad(status_word(r.status)));
        }
        if !r.alternatives.is_empty() {
            out += &format!("   {}", style.caution(&format!("one of {} outcomes", r.alternatives.len() + 1)));
        }
        out.push('\n');
        let changed: Vec<String> =
            names.coordinates.iter().zip(&r.velocity).map(|(c, v)| format!("{c}' {}", number(*v))).collect();
        let largest =
            r.contact_impulses.iter().flatten().chain(&r.joint_impulses).fold(0.0_f64, |m, p| m.max(p.abs()));
        let shown = 1e-9 * largest;
        for chunk in changed.chunks(6) {
            out += &format!("             {}\n", chunk.join("   "));
        }
        for (k, p) in r.contact_impulses.iter().enumerate().filter(|(_, p)| p.iter().any(|x| x.abs() > shown))
        {
            let friction: Vec<String> =
                p[1..].iter().map(|x| format!("   friction {}", number(*x))).collect();
            out +=
                &format!("             {:<10} impulse {}{}\n", contact(k), number(p[0]), friction.concat());
        }
        for (k, p) in r.joint_impulses.iter().enumerate().filter(|(_, p)| p.abs() > shown) {
            out += &format!("             {:<10} impulse {}\n", joint(k), number(*p));
        }
        for v in &r.violations {
            out += &format!("             {}\n", style.bad(&violation(v, contact, joint)));
        }
    }
    if let Some(orders) = &impact.orders {
        let all = if orders.complete { "all orders" } else { "the orders that were followed to their end" };
        out += &match orders.outcomes.len() {
            0 => "  no order of single impacts came to an end\n".to_owned(),
            1 => format!("  one contact after the other: {all} of impacts lead to the same velocities\n"),
            n => {
                format!("  one contact after the other: {all} of impacts lead to {n} different velocities\n")
            }
        };
    }
    out
}

/// The outcomes as JSON; null where there is no impact.
pub fn document(result: &SystemAnalysis) -> Value {
    let Some(impact) = &result.impact else { return Value::Null };
    let laws: Map<String, Value> =
        impact.outcomes.iter().map(|o| (o.law.to_owned(), outcome(result, impact, o))).collect();
    let velocities = |v: &[f64]| -> Map<String, Value> { by_coordinate(result, v) };
    json!({
        "contacts": impact.contacts.iter().map(|&c| &result.names.contacts[c]).collect::<Vec<_>>(),
        "laws": laws,
        "orders": impact.orders.as_ref().map(|orders| json!({
            "complete": orders.complete,
            "outcomes": orders.outcomes.iter().map(|o| json!({
                "order": o.order.iter().map(|&k| &result.names.contacts[impact.contacts[k]]).collect::<Vec<_>>(),
                "velocity": velocities(&o.velocity),
                "kinetic_energy": o.kinetic_energy,
            })).collect::<Vec<_>>(),
        })),
    })
}

fn by_coordinate(result: &SystemAnalysis, v: &[f64]) -> Map<String, Value> {
    result.names.coordinates.iter().cloned().zip(v.iter().map(|x| json!(x))).collect()
}

fn outcome(result: &SystemAnalysis, impact: &ImpactReport, o: &LawOutcome) -> Value {
    let names = &result.names;
    let contact = |k: usize| names.contacts[impact.contacts[k]].clone();
    let r = &o.result;
    let contacts: Map<String, Value> = r
        .contact_impulses
        .iter()
        .zip(&r.contact_velocities_after)
        .enumerate()
        .map(|(k, (p, u))| {
            let value = json!({
                "normal": p[0], "tangential": p[1..], "normal_velocity": u[0], "slip_velocity": u[1..],
            });
            (contact(k), value)
        })
        .collect();
    let joints: Map<String, Value> =
        names.joints.iter().cloned().zip(r.joint_impulses.iter().map(|p| json!(p))).collect();
    let violations: Vec<Value> = r
        .violations
        .iter()
        .map(|v| match *v {
            Violation::Approach { contact: c, velocity } => {
                json!({"condition": "approach", "contact": contact(c), "velocity": velocity})
            }
            Violation::Joint { joint, velocity } => {
                json!({"condition": "joint", "joint": names.joints[joint], "velocity": velocity})
            }
            Violation::Adhesion { contact: c, impulse } => {
                json!({"condition": "adhesion", "contact": contact(c), "impulse": impulse})
            }
            Violation::Friction { contact: c, excess } => {
                json!({"condition": "friction", "contact": contact(c), "excess": excess})
            }
            Violation::Energy { gain } => json!({"condition": "energy", "gain": gain}),
        })
        .collect();
    json!({
        "status": status_word(r.status),
        "velocity": by_coordinate(result, &r.velocity),
        "contacts": contacts,
        "joints": joints,
        "kinetic_energy_before": r.kinetic_energy_before,
        "kinetic_energy_after": r.kinetic_energy_after,
        "work": r.work,
        "violations": violations,
        "all_outcomes_listed": r.searched,
        "alternatives": r.alternatives.iter().map(|v| by_coordinate(result, v)).collect::<Vec<_>>(),
    })
}
