//! The tree of all motions over time: a line for each, with its events, from where it branches off.

use delassus::events::{Event, EventKind, Trajectory};
use delassus::lagrangian::System;
use delassus_report::number;

use super::canvas::{Anchor, BLACK, Colour, Picture};
use super::chart::{MEANINGS, meaning};
use super::over_time::{event_colour, event_meanings};
use super::plot::{Axis, Scale};

/// Height of a row, and the most of them.
const ROW: f64 = 30.0;
const ROWS: usize = 200;
/// What a letter takes at most, and what a step of depth indents.
const LETTER: f64 = 7.2;
const INDENT: f64 = 16.0;
/// Width of the chart of time, where everything begins, and where the first row is.
const CHART: f64 = 420.0;
const LEFT: f64 = 20.0;
const FIRST: f64 = 78.0;
/// Letters of the last column, and events that are marked on a line.
const LETTERS: usize = 64;
const MARKS: usize = 100;
/// Colour of the lines of motions.
const BLUE: Colour = [0, 114, 178];

/// A motion and those that branch off where it stops.
pub struct MotionTree<'a> {
    /// How the motion begins, in words.
    pub label: String,
    /// How it ends, in words.
    pub end: String,
    /// The motion from the start.
    pub run: &'a Trajectory,
    /// Those that branch off.
    pub children: Vec<MotionTree<'a>>,
}

/// A motion in its row.
struct Line<'a> {
    node: &'a MotionTree<'a>,
    depth: usize,
    /// The row of the motion that it branches off, and when.
    parent: Option<(usize, f64)>,
}

fn lines<'a>(node: &'a MotionTree<'a>, depth: usize, parent: Option<(usize, f64)>, out: &mut Vec<Line<'a>>) {
    if out.len() == ROWS {
        return;
    }
    let row = out.len();
    out.push(Line { node, depth, parent });
    for child in &node.children {
        lines(child, depth + 1, Some((row, node.run.state.t)), out);
    }
}

fn count(node: &MotionTree<'_>) -> usize {
    1 + node.children.iter().map(count).sum::<usize>()
}

fn clipped(words: String) -> String {
    if words.chars().count() <= LETTERS {
        return words;
    }
    words.chars().take(LETTERS - 1).chain(['…']).collect()
}

/// The tree of all motions of a system over the time from start to end.
pub fn draw_tree(system: &System, tree: &MotionTree<'_>, [start, end]: [f64; 2]) -> Picture {
    let mut list = vec![];
    lines(tree, 0, None, &mut list);
    let wide = |words: &str| LETTER * words.chars().count() as f64;
    let labels: Vec<String> = list.iter().map(|line| clipped(line.node.label.clone())).collect();
    let ends: Vec<String> = list.iter().map(|line| clipped(line.node.end.clone())).collect();
    let label_width = labels.iter().zip(&list).map(|(l, line)| wide(l) + INDENT * line.depth as f64);
    let chart = LEFT + label_width.fold(60.0, f64::max) + 16.0;
    let last = chart + CHART + 16.0;
    let width = last + ends.iter().map(|e| wide(e)).fold(60.0, f64::max) + 10.0;
    // Of a motion only what follows its branching is drawn: what came before belongs to its parent.
    let own = |line: &Line<'_>| -> Vec<Event> {
        let from = line.parent.map_or(f64::NEG_INFINITY, |(_, t)| t);
        let before = line.parent.map_or(0, |(row, _)| list[row].node.run.events.len());
        let events = line.node.run.events.iter().skip(before.saturating_sub(1));
        events.filter(|e| e.t >= from && e.kind != EventKind::Indeterminate).cloned().collect()
    };
    let events: Vec<Vec<Event>> = list.iter().map(own).collect();
    let meanings = event_meanings(events.iter().flatten().map(|e| e.kind));
    let bottom = FIRST + ROW * list.len() as f64;
    let below = 20.0 * meanings.len().div_ceil(MEANINGS) as f64;
    let mut picture = Picture::new(width.max(LEFT + 130.0 * MEANINGS as f64), bottom + 60.0 + below);
    let name = if system.name.is_empty() { "system" } else { &system.name };
    picture.title([LEFT, 26.0], format!("All motions: {name}"));
    let left_out = count(tree) - list.len();
    if left_out > 0 {
        picture.text([LEFT, 48.0], format!("{left_out} more are not drawn; --json lists all"), Anchor::Start);
    }
    let axis = Axis {
        label: "t, s".into(),
        lo: start,
        hi: if end > start { end } else { start + 1.0 },
        scale: Scale::Plain,
    };
    let at = |t: f64| chart + CHART * axis.share(t).clamp(0.0, 1.0);
    let height = |row: usize| FIRST + ROW * row as f64;
    for value in axis.ticks() {
        let x = at(value);
        picture.line(vec![[x, FIRST - 16.0], [x, bottom - 8.0]], [225, 225, 225], 1.0);
        picture.text([x, bottom + 8.0], number(value), Anchor::Middle);
    }
    picture.text([chart + 0.5 * CHART, bottom + 28.0], axis.label.clone(), Anchor::Middle);
    for (row, line) in list.iter().enumerate() {
        let y = height(row);
        let from = line.parent.map_or(start, |(_, t)| t);
        if let Some((parent, t)) = line.parent {
            picture.line(vec![[at(t), height(parent)], [at(t), y]], BLACK, 1.0);
        }
        picture.line(vec![[at(from), y], [at(line.node.run.state.t), y]], BLUE, 3.0);
        for event in events[row].iter().take(MARKS) {
            picture.line(vec![[at(event.t), y - 6.0], [at(event.t), y + 6.0]], event_colour(event.kind), 2.0);
        }
        picture.dot([at(from), y], 3.5, BLACK);
        picture.text([LEFT + INDENT * line.depth as f64, y + 4.5], labels[row].clone(), Anchor::Start);
        picture.text([last, y + 4.5], ends[row].clone(), Anchor::Start);
    }
    meaning(&mut picture, [LEFT, bottom + 40.0], &meanings, false);
    picture
}
