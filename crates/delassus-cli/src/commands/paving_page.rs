//! Pavings as pages: a click on a cell shows the state in its middle with its verdict, cones and solutions.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use delassus::analysis::{PavedCell, Paving, PavingReason};
use delassus_page::Page;
use delassus_report::{Axis, Grid, Quantity, paving_meaning, paving_word};
use serde_json::{Value, json};

use crate::run::write_page;
use crate::scene::Scene;

/// Cells with an analysis of their middle, the largest first.
const MAX_ANALYZED: usize = 4_000;
/// In the order of the numbers in the page.
const REASONS: [PavingReason; 7] = [
    PavingReason::EveryLoad,
    PavingReason::ThisLoad,
    PavingReason::NoSolution,
    PavingReason::SeveralSolutions,
    PavingReason::SomeLoad,
    PavingReason::NoState,
    PavingReason::Undecided,
];

/// Writes the page of a paving: `axes` are the two ends of each range, `text` is the report; the error is a
/// message ready for stderr.
pub fn write_paving_page(
    path: &Path,
    scene: &Scene,
    set: &[(String, String)],
    axes: &[Axis],
    found: &Paving,
    text: &str,
) -> Result<(), String> {
    let name = &scene.file.system.name;
    let title = format!("{}: where the answer is unique", if name.is_empty() { "system" } else { name });
    let mut page = Page::new(&title);
    let (mut texts, mut ends) = (vec![], Vec::with_capacity(found.cells.len()));
    for state in analyses(scene, set, axes, found) {
        texts.extend(state.as_bytes());
        ends.push(texts.len() as u32);
    }
    let bounds = |of: fn(&PavedCell) -> &[f64]| -> Vec<f64> {
        found.cells.iter().flat_map(|cell| of(cell).iter().copied()).collect()
    };
    let number = |reason: PavingReason| REASONS.iter().position(|r| *r == reason).unwrap_or(0) as u8;
    let reasons: Vec<u8> = found.cells.iter().map(|cell| number(cell.reason)).collect();
    let axis = |(axis, range): (&Axis, &[f64; 2])| {
        let factor = axis.unit.map_or(1.0, |(_, factor)| factor);
        json!({ "name": axis.name, "label": axis.label(), "factor": factor, "range": range })
    };
    let reason = |reason: &PavingReason| {
        let share = found.share(|other| other == *reason);
        json!({ "word": paving_word(*reason), "meaning": paving_meaning(*reason), "share": share })
    };
    let counterexample = found.counterexample.as_ref();
    let mut paving = json!({
        "axes": axes.iter().zip(&found.ranges).map(axis).collect::<Value>(),
        "reasons": REASONS.iter().map(reason).collect::<Value>(),
        // The first line names the system.
        "words": text.lines().skip(1).map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<&str>>(),
        "design": found.design,
        "certified": found.certified,
        "counterexample": counterexample.map(|c| json!({ "point": c.point, "meaning": paving_meaning(c.reason) })),
        "analyzed": MAX_ANALYZED,
    });
    let arrays = page.arrays();
    paving["lo"] = arrays.doubles(&bounds(|cell| &cell.lo));
    paving["hi"] = arrays.doubles(&bounds(|cell| &cell.hi));
    paving["cells"] = arrays.small(&reasons);
    paving["states"] = arrays.small(&texts);
    paving["ends"] = arrays.words(&ends);
    page.put("paving", paving);
    write_page(path, &page)
}

/// The analysis in the middle of each cell as JSON; empty where the file poses no state there, and for all
/// but the largest cells.
fn analyses(scene: &Scene, set: &[(String, String)], axes: &[Axis], found: &Paving) -> Vec<String> {
    let size = |cell: &PavedCell| -> f64 {
        let sides = found.ranges.iter().zip(cell.lo.iter().zip(&cell.hi));
        sides.map(|([lo, hi], (a, b))| (b - a) / (hi - lo)).product()
    };
    let mut order: Vec<usize> = (0..found.cells.len()).collect();
    order.sort_by(|&a, &b| size(&found.cells[b]).total_cmp(&size(&found.cells[a])));
    order.truncate(MAX_ANALYZED);
    let at = |cell: &PavedCell| -> String {
        let middle = |(k, axis): (usize, &Axis)| Axis {
            name: axis.name.clone(),
            values: vec![0.5 * (cell.lo[k] + cell.hi[k])],
            unit: None,
        };
        let point: Vec<Axis> = axes.iter().enumerate().map(middle).collect();
        let grid = Grid { text: &scene.text, folder: None, overrides: set, axes: &point };
        let found = grid.analyses(&Quantity::Solutions, 1, &|_| true).unwrap_or_default();
        found.into_iter().next().map_or(String::new(), |(_, text)| text)
    };
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut made = vec![];
        while let Some(&cell) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
            made.push((cell, at(&found.cells[cell])));
        }
        made
    };
    let mut out = vec![String::new(); found.cells.len()];
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        for worker in workers {
            for (cell, text) in worker.join().unwrap_or_else(|bug| std::panic::resume_unwind(bug)) {
                out[cell] = text;
            }
        }
    });
    out
}
