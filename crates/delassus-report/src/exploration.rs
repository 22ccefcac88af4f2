//! All motions of a system as text and as JSON; events and endings in words.

use delassus::events::{ContactMode, Ending, Event, EventKind};
use delassus::lagrangian::System;
use delassus::simulation::{Branch, Exploration, SteppedBranch};
use serde_json::{Map, Value, json};

use crate::style::{Style, number};

/// The word for what a contact does.
pub fn contact_mode_word(mode: ContactMode) -> &'static str {
    match mode {
        ContactMode::Open => "open",
        ContactMode::Slide { .. } => "slide",
        ContactMode::Stick => "stick",
    }
}

/// The word for an ending.
pub fn ending_word(ending: &Ending) -> &'static str {
    match ending {
        Ending::Done => "done",
        Ending::Interrupted => "interrupted",
        Ending::TooManyEvents { .. } => "too-many-events",
        Ending::Indeterminate { .. } => "indeterminate",
        Ending::NoSolution => "no-solution",
        Ending::Undecided | Ending::Branches { .. } => "undecided",
        Ending::Stuck => "stuck",
        Ending::StepTooShort => "step-too-short",
        Ending::Unresolved { .. } => "unresolved",
        Ending::NoOutcome { .. } => "impact-without-outcome",
        Ending::Failed(_) | Ending::Impact(_) | Ending::OneContact { .. } => "failed",
    }
}

/// Numbers by the names of what they belong to.
pub fn named(names: &[String], values: &[f64]) -> Map<String, Value> {
    names.iter().zip(values).map(|(name, x)| (name.clone(), json!(x))).collect()
}

/// Whether an event has a change of energy.
pub fn has_energy(event: &Event) -> bool {
    !event.impulse.is_empty() || event.kind == EventKind::Accumulation
}

/// An event as JSON.
pub fn event_document(system: &System, event: &Event) -> Value {
    let mut entry = json!({ "t": event.t, "kind": event.kind.name(), "contact": event.contact });
    if !event.impulse.is_empty() {
        entry["impulse"] = json!(event.impulse);
    }
    if has_energy(event) {
        entry["energy_change"] = json!(event.energy_change);
    }
    if !event.joint_impulses.is_empty() {
        let joints = event.joint_impulses.iter().filter_map(|(name, p)| {
            let (normal, tangential) = p.split_first()?;
            Some((name.clone(), json!({ "normal": normal, "tangential": tangential })))
        });
        entry["joints"] = joints.collect::<Map<String, Value>>().into();
    }
    if !event.violations.is_empty() {
        entry["violations"] = json!(event.violations);
    }
    if let Some(order) = event.order {
        entry["decided_at_order"] = json!(order);
    }
    if event.answers > 0 {
        entry["answers"] = json!(event.answers);
    }
    if event.kind == EventKind::Indeterminate {
        let chosen = system.contacts.iter().zip(&event.chosen);
        let chosen = chosen.map(|(contact, mode)| (contact.name.clone(), json!(contact_mode_word(*mode))));
        entry["chosen"] = chosen.collect::<Map<String, Value>>().into();
    }
    if !event.branch.is_empty() {
        entry["branch"] = named(&system.coordinates, &event.branch).into();
    }
    entry
}

/// What contacts do.
fn modes(system: &System, modes: &[ContactMode]) -> String {
    const NAMED: usize = 6;
    let contacts = system.contacts.iter().zip(modes).take(NAMED);
    let mut words: Vec<String> =
        contacts.map(|(c, m)| format!("{} {}", c.name, contact_mode_word(*m))).collect();
    if modes.len() > NAMED {
        words.push(format!("and {} more", modes.len() - NAMED));
    }
    words.join(", ")
}

/// The last answer that leads to a branch, in words: what contacts do by it.
pub fn branch_label(system: &System, node: &Branch) -> String {
    let Some(name) = node.names.last() else { return "start".into() };
    let taken = node.run.events.iter().filter(|e| e.kind == EventKind::Indeterminate);
    let Some(event) = taken.clone().nth(node.names.len() - 1) else { return name.clone() };
    let jammed = node.run.events.iter().find(|e| e.kind == EventKind::Jam && e.t == event.t);
    match jammed.filter(|_| event.chosen.is_empty()) {
        Some(jam) => format!("{name}: {}", jam.contact),
        None => format!("{name}: {}", modes(system, &event.chosen)),
    }
}

/// How a branch ends, in words.
pub fn branch_end(system: &System, node: &Branch) -> String {
    let t = number(node.run.state.t);
    match &node.run.ending {
        Ending::Done => format!("to t = {t} s, {}", modes(system, &node.run.modes)),
        Ending::Indeterminate { answers } => format!("to t = {t} s, then {answers} answers"),
        other => format!("to t = {t} s: {other}"),
    }
}

/// The document of `delassus explore --json`.
pub fn exploration_document(system: &System, found: &Exploration, notes: &[String]) -> Value {
    let mut document = json!({
        "name": system.name, "branches": found.leaves(), "complete": found.complete,
        "tree": branch_document(system, &found.tree), "notes": notes,
    });
    if let Some(stepped) = &found.time_stepping {
        let level = |level: &SteppedBranch| json!({ "dt": level.dt, "branch": level.branch, "distance": level.distance });
        document["time_stepping"] = json!({
            "branch": found.stepping_branch(),
            "levels": stepped.iter().map(level).collect::<Vec<_>>(),
        });
    }
    document
}

fn branch_document(system: &System, node: &Branch) -> Value {
    let (run, place) = (&node.run, |values: &[f64]| named(&system.coordinates, values));
    json!({
        "choice": node.choice, "answer": node.names.last(), "t_end": run.state.t, "ending": ending_word(&run.ending),
        "final": { "position": place(&run.state.q), "velocity": place(&run.state.v) },
        "events": run.events.iter().map(|e| event_document(system, e)).collect::<Vec<_>>(),
        "branches": node.children.iter().map(|c| branch_document(system, c)).collect::<Vec<_>>(),
    })
}

/// A branch by its answers.
fn branch_name(names: &[String]) -> String {
    if names.is_empty() { "the only motion".into() } else { names.join(", then ") }
}

/// The report of `delassus explore`.
pub fn exploration_text(system: &System, found: &Exploration, style: Style) -> String {
    let leaves = found.leaves();
    let mut out = if leaves == 1 { "1 motion\n".into() } else { format!("{leaves} motions\n") };
    if !found.complete {
        let more = "there are more than were followed: --depth goes further";
        out += &format!("  {}\n", style.caution(more));
    }
    in_words(system, &found.tree, 1, style, &mut out);
    if let Some(levels) = &found.time_stepping {
        out += "  time stepping, and the branch whose end is nearest\n";
        for SteppedBranch { dt, branch, distance } in levels {
            let name = branch_name(branch);
            out += &format!("    dt = {:>9} s: {name}, {distance:.2e} m away\n", format!("{dt:.2e}"));
        }
        out += &match found.stepping_branch() {
            Some(branch) => format!("  with dt → 0 time stepping converges to: {}\n", branch_name(branch)),
            None => "  with dt → 0 time stepping has not settled on one of them\n".into(),
        };
    }
    out
}

fn in_words(system: &System, node: &Branch, depth: usize, style: Style, out: &mut String) {
    let line = format!("{}; {}", branch_label(system, node), branch_end(system, node));
    *out += &format!("{}{}\n", "  ".repeat(depth), if depth == 1 { style.bold(&line) } else { line });
    for child in &node.children {
        in_words(system, child, depth + 1, style, out);
    }
}
