//! A paving over one or two parameters as a map; of more parameters, the slice through the design.

use delassus::analysis::{PavedCell, Paving, PavingReason};
use delassus_report::paving_meaning;

use super::canvas::{BLACK, Colour, Picture, Shape, WHITE};
use super::plot::{Axis, GREY, HEIGHT, LEFT, TOP, WIDTH, categories};

/// Points of the picture; a cell that is smaller than their distance may fall between them.
const COLUMNS: usize = 260;
const ROWS: usize = 180;

const COLOURS: [(PavingReason, Colour); 7] = [
    (PavingReason::EveryLoad, [158, 202, 225]),
    (PavingReason::ThisLoad, [199, 233, 192]),
    (PavingReason::NoSolution, [203, 24, 29]),
    (PavingReason::SeveralSolutions, [253, 174, 97]),
    (PavingReason::SomeLoad, [203, 24, 29]),
    (PavingReason::NoState, GREY),
    (PavingReason::Undecided, WHITE),
];

/// The map; `axes` are those of all parameters, with `factors` of their units.
pub fn draw_paving(title: &str, axes: &[Axis], factors: &[f64], paving: &Paving) -> Picture {
    let (x, y) = (&axes[0], axes.get(1));
    let rows = if y.is_some() { ROWS } else { 1 };
    let names: Vec<(Colour, String)> =
        COLOURS.iter().map(|(reason, colour)| (*colour, paving_meaning(*reason).to_string())).collect();
    // Cells that the slice meets; where it runs along a face, one of both sides.
    let meets = |c: &&PavedCell| {
        (2..c.lo.len()).all(|k| {
            let last = paving.design[k] == paving.ranges[k][1];
            c.lo[k] <= paving.design[k]
                && (paving.design[k] < c.hi[k] || (last && c.hi[k] == paving.design[k]))
        })
    };
    let mut marks = vec![0; COLUMNS * rows];
    for cell in paving.cells.iter().filter(meets) {
        let mark = COLOURS.iter().position(|(reason, _)| *reason == cell.reason).unwrap_or(0) as u16;
        // Points whose middle lies in the cell.
        let span = |k: usize, n: usize| {
            let [lo, hi] = paving.ranges[k];
            let place = |v: f64| (((v - lo) / (hi - lo) * n as f64 - 0.5).ceil().max(0.0) as usize).min(n);
            place(cell.lo[k])..place(cell.hi[k])
        };
        let lines = if y.is_some() { span(1, rows) } else { 0..1 };
        for row in lines {
            marks[row * COLUMNS..(row + 1) * COLUMNS][span(0, COLUMNS)].fill(mark);
        }
    }
    let mut picture = categories(title, x, y, COLUMNS, &marks, &names);
    let across = |v: f64| LEFT + WIDTH * x.share(v / factors[0]);
    let Some(y) = y else { return picture };
    let up = |v: f64| TOP + HEIGHT * (1.0 - y.share(v / factors[1]));
    if let Some([[x0, x1], [y0, y1], ..]) = paving.certified.as_deref() {
        let frame = [across(*x0), up(*y1), across(*x1) - across(*x0), up(*y0) - up(*y1)];
        picture.shapes.push(Shape::Rectangle { frame, fill: None, outline: true });
    }
    picture.dot([across(paving.design[0]), up(paving.design[1])], 4.0, BLACK);
    if let Some(found) = &paving.counterexample {
        let (a, b) = (across(found.point[0]), up(found.point[1]));
        picture.line(vec![[a - 5.0, b - 5.0], [a + 5.0, b + 5.0]], BLACK, 2.0);
        picture.line(vec![[a - 5.0, b + 5.0], [a + 5.0, b - 5.0]], BLACK, 2.0);
    }
    picture
}
