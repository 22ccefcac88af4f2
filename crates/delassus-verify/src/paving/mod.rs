//! Boxes of parameters of a system, cut into cells on which the answer is unique, or is not.
//!
//! ```text
//! B = ∪ Cᵢ ,    on every Cᵢ, at all its points:    one answer | none | several | no possible state | open
//! ```
//!
//! Cells and the parts on which they are proved come as cuts in preorder, so that they cover the box whatever
//! the numbers are. Each part is proved by itself, in intervals between doubles.

mod answers;
mod bounds;
mod cell;
mod closure;
mod formula;
mod matrix;
mod system;

use serde_json::Value;

use bounds::Bounds;
use cell::{Part, Reason};
use closure::Closure;
use system::System;

use crate::document::{at as place, field, index, inside, items, list_of, numbered, read, word};
use crate::fault::{Fault, refuse};
use crate::number::{Number, decimal, number, whole};

/// Sides of a box, exactly.
type Sides = Vec<[Number; 2]>;

/// A step of a list in preorder.
enum Step<'a> {
    /// A dimension and where it is cut.
    Cut(usize, Number),
    /// What holds between cuts.
    Leaf(&'a Value),
}

fn step(value: &Value, dimensions: usize) -> Result<Step<'_>, Fault> {
    match value.as_array().map(Vec::as_slice) {
        None if value.is_object() => Ok(Step::Leaf(value)),
        Some([k, at]) => Ok(Step::Cut(index(k, dimensions)?, number(at)?)),
        _ => Err(Fault::Form("expected [dimension, number] or an object".into())),
    }
}

/// The boxes between the cuts of a list, with what holds on each; `dimensions` may be cut.
fn boxes<'a>(
    whole: Sides,
    steps: &'a [Value],
    dimensions: &[usize],
) -> Result<Vec<(usize, Sides, &'a Value)>, Fault> {
    let (mut waiting, mut found) = (vec![whole], Vec::new());
    for (i, value) in numbered(steps) {
        let Some(sides) = waiting.pop() else {
            return Err(place("", i, Fault::Form("expected no more: the box is covered".into())));
        };
        match step(value, sides.len()).map_err(|e| place("", i, e))? {
            Step::Leaf(own) => found.push((i, sides, own)),
            Step::Cut(k, at) => {
                if !dimensions.contains(&k) || at <= sides[k][0] || at >= sides[k][1] {
                    return Err(place("", i, Fault::Form("expected a cut inside of the box".into())));
                }
                let (mut low, mut high) = (sides.clone(), sides);
                (low[k][1], high[k][0]) = (at.clone(), at);
                waiting.push(high);
                waiting.push(low);
            }
        }
    }
    if waiting.is_empty() {
        Ok(found)
    } else {
        Err(Fault::Form("expected more: the box is not covered".into()))
    }
}

/// The check of a certificate of the kind `paving`.
pub fn check(document: &Value) -> Result<String, Fault> {
    let (problem, claim, facts) =
        (field(document, "problem")?, field(document, "claim")?, field(document, "facts")?);
    let system = System::read(problem).map_err(|e| inside("problem", e))?;
    let closure = match system.follows {
        Some(_) => Some(Closure::read(&system, facts).map_err(|e| inside("facts", e))?),
        None => None,
    };
    let outer: Vec<usize> = (0..system.over).collect();
    let steps = read(facts, "cells", items).map_err(|e| inside("facts", e))?;
    let ranges = system.ranges();
    let in_cell = |i: usize, e: Fault| match place("facts.cells", i, e) {
        Fault::Unproved(why) => Fault::Unproved(format!("facts.cells[{i}]: {why}")),
        form => form,
    };
    let mut cells = Vec::new();
    for (i, sides, own) in boxes(ranges.clone(), steps, &outer).map_err(|e| inside("facts.cells", e))? {
        let reason = check_cell(&system, closure.as_ref(), &sides, own).map_err(|e| in_cell(i, e))?;
        cells.push((sides[..system.over].to_vec(), reason));
    }
    check_claim(&ranges[..system.over], &cells, claim)
}

/// One cell; gives what is proved of it.
fn check_cell(
    system: &System,
    closure: Option<&Closure>,
    sides: &Sides,
    own: &Value,
) -> Result<Reason, Fault> {
    let name = read(own, "is", word)?;
    let Some(reason) = Reason::named(name) else {
        return Err(Fault::Form(format!("is: expected a verdict, found \"{name}\"")));
    };
    if reason == Reason::Undecided {
        return Ok(reason);
    }
    let mut sides = sides.clone();
    let mut dimensions: Vec<usize> = (0..sides.len()).collect();
    // One value of the others refutes.
    if reason.is_refuted() {
        let others = sides.len() - system.over;
        let at = if others == 0 { vec![] } else { read(own, "at", |v| list_of(v, others, number))? };
        for (side, x) in sides[system.over..].iter_mut().zip(at) {
            if x < side[0] || x > side[1] {
                return Err(Fault::Form("at: expected values in their ranges".into()));
            }
            *side = [x.clone(), x];
        }
        dimensions.truncate(system.over);
    }
    let whole = [Value::Object(serde_json::Map::new())];
    let parts = if own.get("parts").is_some() { read(own, "parts", items)? } else { &whole[..] };
    for (i, sides, facts) in boxes(sides, parts, &dimensions).map_err(|e| inside("parts", e))? {
        let at: Vec<Bounds> = sides.iter().map(|[lo, hi]| Bounds::of(lo).hull(Bounds::of(hi))).collect();
        let closed = match closure {
            Some(closure) => Some(closure.on(system, &at, &sides, facts).map_err(|e| place("parts", i, e))?),
            None => None,
        };
        if !(Part { system, at: &at, closed: closed.as_ref() }).proves(reason) {
            return refuse(&format!("{name} is not proved on part {i}"));
        }
    }
    Ok(reason)
}

/// The shares of the box, the certified box and the counterexample.
fn check_claim(ranges: &[[Number; 2]], cells: &[(Sides, Reason)], claim: &Value) -> Result<String, Fault> {
    let share = |sides: &Sides| {
        let parts = sides.iter().zip(ranges).map(|([a, b], [lo, hi])| (b - a) / (hi - lo));
        parts.fold(whole(1), |product, part| product * part)
    };
    let sum = |of: &dyn Fn(Reason) -> bool| {
        cells.iter().filter(|(_, reason)| of(*reason)).fold(whole(0), |sum, (sides, _)| sum + share(sides))
    };
    let mut said = Vec::new();
    let shares: [(&str, &dyn Fn(Reason) -> bool); 3] = [
        ("proved", &|r: Reason| r.is_proved()),
        ("refuted", &|r: Reason| r.is_refuted()),
        ("no_state", &|r: Reason| r == Reason::NoState),
    ];
    for (key, of) in shares {
        let claimed = read(claim, key, number).map_err(|e| inside("claim", e))?;
        if claimed != sum(of) {
            return refuse(&format!("another part of the box is {key}"));
        }
        said.push(format!("{} % {}", decimal(&(claimed * whole(100))), key.replace('_', " ")));
    }
    let pairs = |value: &Value| {
        list_of(value, ranges.len(), |pair| match list_of(pair, 2, number)?.as_slice() {
            [lo, hi] if lo < hi => Ok([lo.clone(), hi.clone()]),
            _ => Err(Fault::Form("expected two fractions in order".into())),
        })
    };
    if claim.get("box").is_some() {
        let sides = read(claim, "box", pairs).map_err(|e| inside("claim", e))?;
        if sides.iter().zip(ranges).any(|([a, b], [lo, hi])| a < lo || b > hi) {
            return refuse("the certified box reaches out of the ranges");
        }
        let reaches = |cell: &Sides| cell.iter().zip(&sides).all(|([a, b], [lo, hi])| a < hi && b > lo);
        if cells.iter().any(|(cell, reason)| !reason.is_proved() && reaches(cell)) {
            return refuse("a cell in the certified box is not proved");
        }
        said.push("a box in which every point is proved".into());
    }
    if claim.get("counterexample").is_some() {
        let point = read(claim, "counterexample", |value| list_of(value, ranges.len(), number))
            .map_err(|e| inside("claim", e))?;
        let holds = |cell: &Sides| cell.iter().zip(&point).all(|([a, b], x)| a <= x && x <= b);
        if !cells.iter().any(|(cell, reason)| reason.is_refuted() && holds(cell)) {
            return refuse("the counterexample is in no refuted cell");
        }
        said.push("a counterexample".into());
    }
    Ok(said.join(", "))
}
