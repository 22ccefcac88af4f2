//! All motions on a page: the tree of `explore`, and those that are possible beside the one of a run.

use delassus::events::{EventOptions, Indeterminate, Trajectory};
use delassus::simulation::{Branch, Exploration, explore};
use delassus_page::Page;
use delassus_report::{branch_end, branch_label, ending_word};
use serde_json::{Value, json};

use super::page_output::event_motion;
use super::subject::Subject;

/// Motions that a page shows: as many views as browsers draw at once.
const MAX_MOTIONS: usize = 9;
/// Instants of each that are recorded.
const FRAMES: usize = 400;
/// States with several answers that are followed beside a run.
const DEPTH: usize = 2;

/// Instants of a motion that stands beside others.
pub fn frame_times(start: f64, end: f64) -> Vec<f64> {
    (0..=FRAMES).map(|k| start + (end - start) * k as f64 / FRAMES as f64).collect()
}

/// Puts the tree and its motions on a page.
pub fn add_tree(page: &mut Page, subject: &Subject<'_>, found: &Exploration, notes: &[String]) {
    let mut shown = 0;
    let root = node(page, subject, &found.tree, subject.state.t, &mut shown);
    let leaves = found.leaves();
    let words = if leaves == 1 { "1 motion".to_owned() } else { format!("{leaves} motions") };
    let mut notes = notes.to_vec();
    if !found.complete {
        notes.push("There are more than were followed: --depth goes further.".into());
    }
    if leaves > shown {
        notes.push(format!("The first {shown} of them are in this file."));
    }
    if let Some(names) = found.stepping_branch() {
        let name = if names.is_empty() { "the only motion".into() } else { names.join(", then ") };
        notes.push(format!("With ever shorter steps time stepping converges to: {name}."));
    }
    page.put("tree", json!({ "root": root, "words": words, "notes": notes }));
}

/// A motion of the tree, from where it branches off; those that end have a view of their own.
fn node(page: &mut Page, subject: &Subject<'_>, branch: &Branch, from: f64, shown: &mut usize) -> Value {
    let label = branch_label(subject.system, branch);
    let mut motion = Value::Null;
    if branch.children.is_empty() && *shown < MAX_MOTIONS {
        motion = json!(*shown);
        *shown += 1;
        add(page, subject, &label, &branch.run);
    }
    let to = branch.run.state.t;
    let children: Vec<Value> =
        branch.children.iter().map(|child| node(page, subject, child, to, shown)).collect();
    json!({
        "label": label, "end": branch_end(subject.system, branch), "from": from, "to": to, "motion": motion,
        "children": children,
    })
}

fn add(page: &mut Page, subject: &Subject<'_>, name: &str, run: &Trajectory) {
    let report = json!({
        "ending": ending_word(&run.ending), "t_end": run.state.t, "steps": run.steps,
        "max_penetration": run.max_gap_error, "max_residual": run.max_force_error,
        "max_joint_error": run.max_joint_error, "energy": { "start": run.energy[0], "end": run.energy[1] },
    });
    page.add_motion(name, &event_motion(subject, run, &report, &[]));
}

/// Puts the motions beside a run that obey the laws as well as it does; returns how many there are. `own` is
/// the way in which the run decided, where it was event-driven.
pub fn add_others(
    page: &mut Page,
    subject: &Subject<'_>,
    options: &EventOptions,
    own: Option<Indeterminate>,
) -> usize {
    let options =
        EventOptions { sample_times: frame_times(subject.state.t, subject.t_end), ..options.clone() };
    let Ok(found) = explore(subject.system, subject.state, None, &options, DEPTH) else { return 0 };
    let mut leaves = vec![];
    collect(&found.tree, &mut leaves);
    // Answers are counted by growing forces: who detaches takes the first one everywhere.
    if own == Some(Indeterminate::Detach) && !leaves.is_empty() {
        leaves.remove(0);
    }
    leaves.truncate(MAX_MOTIONS - 1);
    if found.leaves() < 2 {
        return 0;
    }
    for leaf in &leaves {
        add(page, subject, &format!("Possible too: {}", branch_label(subject.system, leaf)), &leaf.run);
    }
    leaves.len()
}

fn collect<'a>(branch: &'a Branch, out: &mut Vec<&'a Branch>) {
    if branch.children.is_empty() {
        out.push(branch);
    }
    branch.children.iter().for_each(|child| collect(child, out));
}
