//! Pavings of boxes of parameters as text, as a table and as JSON.

use delassus::analysis::{PavedCell, Paving, PavingQuestion, PavingReason};
use delassus::lagrangian::Names;
use delassus_solve::lcp::Verdict;
use serde_json::{Map, Value, json};

use crate::document::verdict_word;
use crate::grid::Axis;
use crate::style::{Style, number};
use crate::words::title;

/// The reason of a cell, as in `--json`.
pub fn paving_word(reason: PavingReason) -> &'static str {
    match reason {
        PavingReason::EveryLoad => "every-load",
        PavingReason::ThisLoad => "this-load",
        PavingReason::NoSolution => "no-solution",
        PavingReason::SeveralSolutions => "several-solutions",
        PavingReason::SomeLoad => "some-load",
        PavingReason::NoState => "no-state",
        PavingReason::Undecided => "undecided",
    }
}

fn cell_verdict(reason: PavingReason) -> &'static str {
    match reason.verdict() {
        Verdict::Unknown => "undecided",
        verdict => verdict_word(verdict),
    }
}

/// Parts of the box: proved, refuted, without a state, undecided.
fn shares(paving: &Paving) -> [f64; 4] {
    let verdict = |verdict: Verdict| paving.share(|reason| reason.verdict() == verdict);
    let only = |wanted: PavingReason| paving.share(|reason| reason == wanted);
    [
        verdict(Verdict::Proved),
        verdict(Verdict::Refuted),
        only(PavingReason::NoState),
        only(PavingReason::Undecided),
    ]
}

/// The document of `delassus safe --json` for a box of parameters.
pub fn paving_document(question: &PavingQuestion<'_>, paving: &Paving) -> Value {
    let named =
        |values: Vec<Value>| -> Map<String, Value> { paving.names.iter().cloned().zip(values).collect() };
    let point = |values: &[f64]| named(values.iter().map(|x| json!(x)).collect());
    let sides = |values: &[[f64; 2]]| named(values.iter().map(|x| json!(x)).collect());
    let for_all: Map<String, Value> =
        question.for_all.iter().map(|(n, r)| ((*n).to_owned(), json!(r))).collect();
    let cell = |c: &PavedCell| json!({"lo": c.lo, "hi": c.hi, "verdict": cell_verdict(c.reason), "reason": paving_word(c.reason)});
    let [proved, refuted, no_state, undecided] = shares(paving);
    json!({
        "parameters": paving.names,
        "over": sides(&paving.ranges),
        "for_all": for_all,
        "any_slip": question.any_slip,
        "any_load": question.any_load || question.any_slip,
        "cycle": question.cycle,
        "design": point(&paving.design),
        "shares": {"proved": proved, "refuted": refuted, "no_state": no_state, "undecided": undecided},
        "certified_box": paving.certified.as_deref().map(sides),
        "counterexample": paving.counterexample.as_ref()
            .map(|c| json!({"point": point(&c.point), "reason": paving_word(c.reason)})),
        "boxes": paving.boxes,
        "cells": paving.cells.iter().map(cell).collect::<Vec<_>>(),
    })
}

/// The cells as a table: the least and the greatest value of each parameter, verdict and reason.
pub fn paving_table(paving: &Paving) -> String {
    let mut out: String = paving.names.iter().map(|n| format!("{n}_lo,{n}_hi,")).collect();
    out += "verdict,reason\n";
    for c in &paving.cells {
        let bounds = c.lo.iter().zip(&c.hi).map(|(lo, hi)| format!("{lo},{hi},"));
        out += &bounds.collect::<String>();
        out += &format!("{},{}\n", cell_verdict(c.reason), paving_word(c.reason));
    }
    out
}

/// What happens at a point that is refuted.
pub fn paving_meaning(reason: PavingReason) -> &'static str {
    match reason {
        PavingReason::EveryLoad => "one solution, whatever the load",
        PavingReason::ThisLoad => "one solution with this load",
        PavingReason::NoSolution => "no solution: it jams",
        PavingReason::SeveralSolutions => "several solutions",
        PavingReason::SomeLoad => "none or several, for some load",
        PavingReason::NoState => "no such state",
        PavingReason::Undecided => "undecided",
    }
}

/// The report of `delassus safe` for a box of parameters; axes give the units.
pub fn paving_text(
    names: &Names,
    question: &PavingQuestion<'_>,
    paving: &Paving,
    axes: &[Axis],
    style: Style,
) -> String {
    let shown = |k: usize, x: f64| {
        let axis = &axes[k];
        axis.unit.map_or(number(x), |(unit, _)| format!("{} {unit}", number(axis.shown(x))))
    };
    let range =
        |k: usize, [lo, hi]: [f64; 2]| format!("{} ≤ {} ≤ {}", shown(k, lo), paving.names[k], shown(k, hi));
    let list = |sides: &[[f64; 2]]| {
        sides.iter().enumerate().map(|(k, s)| range(k, *s)).collect::<Vec<_>>().join(",  ")
    };
    let mut out = format!("{}\n{}\n", style.bold(&title(names)), list(&paving.ranges));
    for (other, [a, b]) in question.for_all {
        out += &format!("  for all {other} from {} to {}\n", number(*a), number(*b));
    }
    if question.any_slip {
        out += "  for all directions of sliding\n";
    }
    if question.cycle {
        out += "  along the cycle: what is not given by the parameters follows from the joints\n";
    }
    let [proved, refuted, no_state, undecided] = shares(paving).map(|x| format!("{:.1} %", 100.0 * x));
    let one =
        if question.any_load || question.any_slip { "one solution for every load" } else { "one solution" };
    out += &format!("{} {proved:>8}  exactly {one}, at every point\n", style.good("PROVED   "));
    out += &format!("{} {refuted:>8}  none or several, at every point\n", style.bad("REFUTED  "));
    if paving.cells.iter().any(|c| c.reason == PavingReason::NoState) {
        out += &format!("NO STATE  {no_state:>8}  a joint is open, or a contact penetrates or approaches\n");
    }
    let spent = format!("{} cells, {} boxes examined; --boxes for more", paving.cells.len(), paving.boxes);
    out += &format!("{} {undecided:>8}  {spent}\n", style.caution("UNDECIDED"));
    out += &match &paving.certified {
        Some(sides) => format!("certified around the design:  {}\n", list(sides)),
        None => format!("{}\n", style.caution("nothing is certified around the design")),
    };
    if let Some(found) = &paving.counterexample {
        let at: Vec<String> = found
            .point
            .iter()
            .enumerate()
            .map(|(k, x)| format!("{} = {}", paving.names[k], shown(k, *x)))
            .collect();
        let what = paving_meaning(found.reason);
        out += &format!("the nearest counterexample:  {}:  {what}\n", at.join(",  "));
    }
    out
}
