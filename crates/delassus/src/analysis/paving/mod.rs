//! A box of parameters divided into cells on which the answer is proved to be unique, proved not to be, or
//! open.
//!
//! ```text
//! B = ∪ Cᵢ ,   on every Cᵢ, at all its points:   one solution | none | several | not decided
//! ```
//!
//! A cell that interval arithmetic does not decide is halved, the largest cells first, until the budget is
//! spent; what is then left is undecided. It is halved along the parameter that keeps it open (the one whose
//! two end faces are decided while those of the others are not), or else along its widest side. *Proved*:
//! exactly one solution, by the P-property (whatever the load) or because every mode but one is excluded and
//! that one holds (with the load of the system). *Refuted*: every mode is excluded, or two of them hold, or
//! the P-property fails (then some load has no solution or several). Both are statements about every point of
//! the cell.
//!
//! Parameters that stand for all values of an interval without being a side of the box, and unknown
//! directions of sliding, are divided inside each cell; one of their values is enough to refute it.

mod check;
mod largest_box;
mod proof;

pub use check::{PavingFault, check_paving};
pub use proof::{Follows, PavingProof, PavingStep, ProvedCell, paving_proof};

use std::collections::VecDeque;
use std::rc::Rc;

use delassus_solve::lcp::Verdict;
use serde::{Deserialize, Serialize};

use super::interval_contact::{Answers, Prover};
use super::interval_terms::{Consistency, Touch};
use super::loop_closure::LoopClosure;
use super::safe_interval::SafeError;
use crate::formula::{Interval, IntervalDual, Point};
use crate::lagrangian::{Family, Measure, Tolerances};
use largest_box::largest_box;

/// Parts into which a cell is divided to see that its state is consistent, before the cell itself is halved.
const STATE_PARTS: usize = 512;
/// Boxes of other parameters and directions that are examined inside of one cell.
const INNER_BOXES: usize = 256;
/// How often a cell is halved at most.
const MAX_DEPTH: usize = 60;
/// How often a cell and its halves are halved until the ends are looked at again, where these showed along
/// which parameter.
const PROBE_EVERY: usize = 4;

/// What is asked.
#[derive(Clone, Debug)]
pub struct PavingQuestion<'a> {
    /// The parameters of the box, with their ranges.
    pub over: &'a [(&'a str, [f64; 2])],
    /// Other parameters, with the ranges of which every value is meant.
    pub for_all: &'a [(&'a str, [f64; 2])],
    /// Whether every direction of sliding is meant, not only that of the state; then every load is meant too.
    pub any_slip: bool,
    /// Whether every load is meant, not only that of the system.
    pub any_load: bool,
    /// Whether the coordinates that are not written as functions of the parameters follow from the joints.
    pub cycle: bool,
    /// How many boxes may be examined.
    pub boxes: usize,
    /// What counts as zero.
    pub tolerances: Tolerances,
}

/// What is known of a cell, at all its points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PavingReason {
    /// Exactly one solution, whatever the load.
    EveryLoad,
    /// Exactly one solution with the load of the system.
    ThisLoad,
    /// No solution with this load: it jams.
    NoSolution,
    /// At least two solutions with this load.
    SeveralSolutions,
    /// Some load has no solution, or several.
    SomeLoad,
    /// The parameters describe no possible state: a joint is open, a contact penetrates or approaches.
    NoState,
    /// Nothing is proved.
    Undecided,
}

impl PavingReason {
    /// Whether exactly one answer is proved, or refuted.
    pub fn verdict(self) -> Verdict {
        use PavingReason::*;
        match self {
            EveryLoad | ThisLoad => Verdict::Proved,
            NoSolution | SeveralSolutions | SomeLoad => Verdict::Refuted,
            NoState | Undecided => Verdict::Unknown,
        }
    }
}

impl From<Answers> for PavingReason {
    fn from(answers: Answers) -> Self {
        match answers {
            Answers::OneForEveryLoad => PavingReason::EveryLoad,
            Answers::One => PavingReason::ThisLoad,
            Answers::None => PavingReason::NoSolution,
            Answers::Several => PavingReason::SeveralSolutions,
            Answers::NotOneForSomeLoad => PavingReason::SomeLoad,
        }
    }
}

/// A cell, its faces included; bounds are exactly these doubles, in the order of the parameters of the
/// question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PavedCell {
    /// The least values.
    pub lo: Vec<f64>,
    /// The greatest values.
    pub hi: Vec<f64>,
    /// What is known.
    pub reason: PavingReason,
}

/// A point that is proved to have no unique answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counterexample {
    /// Values of the parameters of the question.
    pub point: Vec<f64>,
    /// What happens there.
    pub reason: PavingReason,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Paving {
    /// Names of the parameters.
    pub names: Vec<String>,
    /// The box.
    pub ranges: Vec<[f64; 2]>,
    /// Values of the file, or where they lie outside of the box the nearest ones inside.
    pub design: Vec<f64>,
    /// Cells that cover the box and share faces only.
    pub cells: Vec<PavedCell>,
    /// How many boxes were examined.
    pub boxes: usize,
    /// The largest box around the design in which every point is proved; `None` where the design is not
    /// proved.
    pub certified: Option<Vec<[f64; 2]>>,
    /// The refuted point that is nearest to the design, in parts of the ranges.
    pub counterexample: Option<Counterexample>,
}

impl Paving {
    /// The part of the box, from 0 to 1, that cells with such a reason cover; rounded.
    pub fn share(&self, of: impl Fn(PavingReason) -> bool) -> f64 {
        let volume = |cell: &PavedCell| -> f64 {
            let widths = self.ranges.iter().zip(cell.lo.iter().zip(&cell.hi));
            widths.map(|([lo, hi], (a, b))| (b - a) / (hi - lo)).product()
        };
        self.cells.iter().filter(|c| of(c.reason)).map(volume).fold(0.0, |sum, part| sum + part)
    }
}

/// Paves the box of the question. `design` are the values of the file, in the order of [`Family::free`].
pub fn pave(family: &Family, design: &[f64], question: &PavingQuestion<'_>) -> Result<Paving, SafeError> {
    let mut paver = Paver::new(family, design, question)?;
    let whole = paver.domain.clone();
    let mut waiting = VecDeque::from([Node { at: whole, touch: None, depth: 0, along: None, next_probe: 0 }]);
    let mut cells = Vec::new();
    while let Some(mut node) = waiting.pop_front() {
        let reason = if paver.prover.boxes >= question.boxes {
            PavingReason::Undecided
        } else {
            paver.decide(&mut node)
        };
        let may_halve = reason == PavingReason::Undecided && paver.prover.boxes < question.boxes;
        let halves = if may_halve { paver.halves(&mut node) } else { None };
        match halves {
            Some(halves) if paver.prover.boxes < question.boxes => waiting.extend(halves),
            _ => cells.push(paver.cell(&node.at, reason)),
        }
    }
    let names: Vec<String> = question.over.iter().map(|(name, _)| (*name).to_string()).collect();
    let ranges: Vec<[f64; 2]> = question.over.iter().map(|(_, range)| *range).collect();
    let nearest = |(&k, [lo, hi]): (&usize, &[f64; 2])| design[k].clamp(*lo, *hi);
    let design: Vec<f64> = paver.outer.iter().zip(&ranges).map(nearest).collect();
    let certified = largest_box(&ranges, &design, &cells);
    let counterexample = nearest_refuted(&ranges, &design, &cells);
    Ok(Paving { names, ranges, design, cells, boxes: paver.prover.boxes, certified, counterexample })
}

fn nearest_refuted(ranges: &[[f64; 2]], design: &[f64], cells: &[PavedCell]) -> Option<Counterexample> {
    let nearest = |cell: &PavedCell| -> Vec<f64> {
        design.iter().enumerate().map(|(k, x)| x.clamp(cell.lo[k], cell.hi[k])).collect()
    };
    let distance = |cell: &PavedCell| -> f64 {
        let parts = nearest(cell).into_iter().zip(design).zip(ranges);
        parts.map(|((a, b), [lo, hi])| (a - b).abs() / (hi - lo)).fold(0.0, f64::max)
    };
    let refuted = cells.iter().filter(|c| c.reason.verdict() == Verdict::Refuted);
    let cell = refuted.min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    Some(Counterexample { point: nearest(cell), reason: cell.reason })
}

/// A cell on its way, over all dimensions.
struct Node {
    at: Vec<Interval>,
    /// Which constraints touch, where it is known from a larger cell or from this one.
    touch: Option<Rc<Vec<Touch>>>,
    depth: usize,
    /// The dimension along which it is halved, where its ends showed one.
    along: Option<usize>,
    /// The depth at which the ends are looked at again.
    next_probe: usize,
}

struct Paver<'a> {
    prover: Prover<'a>,
    any_load: bool,
    /// The whole range of every dimension: free parameters in the order of the file, then directions of
    /// sliding.
    domain: Vec<Interval>,
    /// The dimensions of the question, in its order.
    outer: Vec<usize>,
    /// The other dimensions that matter.
    inner: Vec<usize>,
    /// Which dimensions matter.
    matters: Vec<bool>,
}

impl<'a> Paver<'a> {
    fn new(family: &'a Family, design: &[f64], question: &PavingQuestion<'_>) -> Result<Self, SafeError> {
        let ranges: Vec<(&str, [f64; 2])> = question.over.iter().chain(question.for_all).copied().collect();
        for (k, (name, [lo, hi])) in ranges.iter().enumerate() {
            if ranges[..k].iter().any(|(other, _)| other == name) {
                return Err(SafeError::Twice { name: (*name).to_string() });
            }
            let single = lo == hi && k >= question.over.len();
            if !(lo.is_finite() && hi.is_finite() && (lo < hi || single)) {
                return Err(SafeError::Range { name: (*name).to_string(), lo: *lo, hi: *hi });
            }
        }
        if let Some(formula) = family.system.without_intervals().into_iter().next() {
            return Err(SafeError::Uncovered { formula });
        }
        let names: Vec<&str> = family.free().collect();
        let range =
            |name: &str| ranges.iter().find(|(n, _)| *n == name).map(|(_, [lo, hi])| Interval::new(*lo, *hi));
        let mut domain: Vec<Interval> =
            names.iter().zip(design).map(|(n, x)| range(n).unwrap_or(Interval::point(*x))).collect();
        let outer: Vec<usize> =
            question.over.iter().filter_map(|(n, _)| names.iter().position(|m| m == n)).collect();
        let closure = if question.cycle { Some(closure(family, design)?) } else { None };
        let prover = Prover::new(family, question.tolerances, question.any_slip).with_load(design, closure);
        // A fraction above 2π that can be written exactly.
        let full_circle = Interval::new(0.0, (710.0_f64 / 113.0).next_up());
        domain.extend((0..prover.angles()).map(|_| full_circle));
        let any_load = question.any_load;
        let mut paver = Paver { prover, any_load, domain, outer, inner: vec![], matters: vec![] };
        let middle: Vec<Interval> = paver.domain.iter().map(|x| Interval::point(x.middle())).collect();
        paver.matters = paver.prover.find_dependence(&middle);
        // What has no influence needs one value only.
        let others = (0..paver.domain.len()).filter(|k| !paver.outer.contains(k));
        let (matter, idle): (Vec<usize>, Vec<usize>) = others.partition(|&k| paver.matters[k]);
        idle.iter().for_each(|&k| paver.domain[k] = middle[k]);
        paver.inner = matter;
        Ok(paver)
    }

    fn cell(&self, at: &[Interval], reason: PavingReason) -> PavedCell {
        let ends = |end: fn(&Interval) -> f64| self.outer.iter().map(|&k| end(&at[k])).collect();
        PavedCell { lo: ends(|x| x.lo), hi: ends(|x| x.hi), reason }
    }

    /// What is proved on a cell.
    fn decide(&mut self, node: &mut Node) -> PavingReason {
        if node.touch.is_none() {
            self.prover.boxes += 1;
            match self.prover.consistency_of_parts(&node.at, STATE_PARTS) {
                Consistency::Consistent(touch) => node.touch = Some(Rc::new(touch)),
                Consistency::Broken => return PavingReason::NoState,
                Consistency::Unclear => return PavingReason::Undecided,
            }
        }
        let Some(touch) = node.touch.clone() else { return PavingReason::Undecided };
        let (reason, _) = self.answers(&node.at, &touch);
        if reason == PavingReason::Undecided && touch.contains(&Touch::Unclear) {
            // A smaller cell may show which contacts touch.
            node.touch = None;
        }
        reason
    }

    /// What is proved for all values of the other dimensions; a single one of them refutes, and is then
    /// somewhere in the box that is returned too.
    fn answers(&mut self, at: &[Interval], touch: &[Touch]) -> (PavingReason, Option<Vec<Interval>>) {
        let mut waiting = vec![at.to_vec()];
        let mut reason = PavingReason::EveryLoad;
        let mut examined = 0;
        while let Some(part) = waiting.pop() {
            examined += 1;
            let found = self.prover.examine(&part, touch, self.any_load).map(PavingReason::from);
            match found.map(|reason| (reason, reason.verdict())) {
                Some((PavingReason::EveryLoad, _)) => continue,
                Some((other, Verdict::Proved)) => {
                    reason = other;
                    continue;
                }
                Some((other, _)) => return (other, Some(part)),
                None => {}
            }
            let share = |k: usize| part[k].width() / self.domain[k].width();
            let divisible = |k: &usize| part[*k].lo < part[*k].middle() && part[*k].middle() < part[*k].hi;
            let widest =
                self.inner.iter().copied().filter(divisible).max_by(|&a, &b| share(a).total_cmp(&share(b)));
            let (Some(k), true) = (widest, examined < INNER_BOXES) else {
                return (PavingReason::Undecided, None);
            };
            let mut point = part.clone();
            self.inner.iter().for_each(|&k| point[k] = Interval::point(part[k].middle()));
            let found = self.prover.examine(&point, touch, self.any_load).map(PavingReason::from);
            if let Some(other) = found.filter(|reason| reason.verdict() == Verdict::Refuted) {
                return (other, Some(point));
            }
            let (mut low, mut high) = (part.clone(), part);
            (low[k].hi, high[k].lo) = (low[k].middle(), high[k].middle());
            waiting.push(high);
            waiting.push(low);
        }
        (reason, None)
    }

    /// The two halves of a cell, along the widest dimension that can help.
    fn halves(&mut self, node: &mut Node) -> Option<[Node; 2]> {
        if node.depth >= node.next_probe {
            node.along = self.along(node);
            // Where nothing is seen, more and more rarely.
            node.next_probe = match node.along {
                Some(_) => node.depth + PROBE_EVERY,
                None => (2 * node.depth).max(1),
            };
        }
        let at = &node.at;
        let share = |k: usize| at[k].width() / self.domain[k].width();
        let helps = |k: &usize| {
            let known = node.touch.is_some() || self.prover.moves(*k);
            self.matters[*k] && known && at[*k].lo < at[*k].middle() && at[*k].middle() < at[*k].hi
        };
        if node.depth >= MAX_DEPTH {
            return None;
        }
        // Of equally wide ones the first.
        let widest =
            self.outer.iter().copied().filter(helps).rev().max_by(|&a, &b| share(a).total_cmp(&share(b)))?;
        let k = node.along.filter(helps).unwrap_or(widest);
        let half = |of: Interval| {
            let mut at = at.clone();
            at[k] = of;
            let (along, next_probe) = (node.along, node.next_probe);
            Node { at, touch: node.touch.clone(), depth: node.depth + 1, along, next_probe }
        };
        let middle = at[k].middle();
        Some([half(Interval::new(at[k].lo, middle)), half(Interval::new(middle, at[k].hi))])
    }

    /// The dimension both of whose ends are decided where no end of another one is.
    fn along(&mut self, node: &Node) -> Option<usize> {
        let touch = node.touch.clone()?;
        let all: Vec<usize> = self.outer.iter().copied().filter(|&k| self.matters[k]).collect();
        if all.len() < 2 {
            return None;
        }
        let mut found = None;
        for &k in &all {
            let ends = [node.at[k].lo, node.at[k].hi].map(|end| {
                let mut face = node.at.clone();
                face[k] = Interval::point(end);
                self.answers(&face, &touch).0 != PavingReason::Undecided
            });
            match (ends, found) {
                ([true, true], None) => found = Some(k),
                ([false, false], _) => {}
                _ => return None,
            }
        }
        found
    }
}

/// The coordinates that joints determine, and these joints: those coordinates whose position is not written
/// as a function of the parameters, and the joints that hold them.
fn closure<'a>(family: &'a Family, design: &[f64]) -> Result<(LoopClosure<'a>, Vec<&'a Measure>), SafeError> {
    let free: Vec<IntervalDual> =
        design.iter().map(|&x| IntervalDual::constant(Interval::point(x))).collect();
    let member = family.member(&free);
    let depends = |measure: &Measure, i: usize| {
        let mut q = member.q.clone();
        q[i] = IntervalDual::UNDEFINED;
        measure.formula().interval(&Point { q: &q, v: &member.v, t: member.t }).value.is_undefined()
    };
    for joint in &family.system.joints {
        if let Measure::Velocity(_) = joint.value {
            return Err(SafeError::VelocityJoint { joint: joint.name.clone() });
        }
    }
    let joints = || family.system.joints.iter().map(|j| &j.value);
    let unknowns: Vec<usize> = (0..family.q.len())
        .filter(|&i| family.q[i].constant().is_some() && joints().any(|h| depends(h, i)))
        .collect();
    let equations: Vec<&Measure> = joints().filter(|h| unknowns.iter().any(|&i| depends(h, i))).collect();
    if unknowns.is_empty() || equations.len() != unknowns.len() {
        let coordinates = unknowns.iter().map(|&i| family.system.coordinates[i].clone()).collect();
        return Err(SafeError::CannotClose { joints: equations.len(), coordinates });
    }
    let found = LoopClosure::new(family, equations.clone(), unknowns, design).ok_or(SafeError::OpenLoop)?;
    Ok((found, equations))
}
