//! The largest interval of a parameter on which the contact problem is certified to have exactly one
//! solution.
//!
//! ```text
//! p ∈ [lo, hi]  ⇒  for all other parameters r ∈ R (and all directions of sliding, where asked): one solution, whatever
//! the load
//! ```
//!
//! Every point of the interval is covered by boxes on which interval arithmetic proves it (the matrix of the
//! sliding contact problem is a P-matrix, 000 App. A and eq. 58; for one contact that is μ below μ_jam or
//! sliding outside of the locking sector, 003 eq. 36–41). The interval grows from a point inside until a step
//! of [`RESOLUTION`] can no longer be proved, so its ends lie on the safe side of the true ones.
//!
//! The system is the one that was read: constant parts of its formulas are the doubles that they were folded
//! to.
//!
//! Where nothing can be proved (contacts at rest, singular masses, redundant joints) the interval is sampled
//! and says so.

use thiserror::Error;

use super::analyze;
use super::interval_contact::{Finding, Prover};
use crate::formula::Interval;
use crate::lagrangian::{Family, FormulaName, State, System, Tolerances};
use delassus_solve::lcp::Verdict;
use delassus_solve::modes::EnumerateOptions;

/// The last step towards an end, relative to the size of the parameter there.
const RESOLUTION: f64 = 1e-7;
/// How many boxes are examined in all; one attempt to prove a step takes a quarter of what is left, so that
/// one that fails leaves some to shorter ones.
const MAX_BOXES: usize = 2_000_000;
/// How many states are evaluated in all.
const MAX_EVALUATIONS: usize = 400_000;
/// How many values of the parameter are tried as a point to start from.
const STARTS: usize = 64;
/// How many values of each other parameter are sampled where nothing can be proved.
const SAMPLES: usize = 9;

/// A system whose parameters are free, and the same system at values of them.
pub struct FreeSystem<'a> {
    /// The parameters that are asked for, kept as variables.
    pub family: &'a Family,
    /// The present value of the parameter whose interval is sought.
    pub present: f64,
    /// The system and its state at values of the free parameters; `None` where they make no system.
    pub at: &'a SystemAt<'a>,
}

/// A system and its state at (parameter, value) pairs.
pub type SystemAt<'a> = dyn Fn(&[(&str, f64)]) -> Option<(System, State)> + 'a;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// The parameter whose interval is sought.
    pub over: &'a str,
    /// Where to look; by default from 0 to ten times the present value, at least 10, on the side of the
    /// present value.
    pub within: Option<[f64; 2]>,
    /// Other parameters, with the ranges of which every value is meant.
    pub for_all: &'a [(&'a str, [f64; 2])],
    /// Whether every direction of sliding is meant, not only that of the state.
    pub any_slip: bool,
    /// What counts as zero.
    pub tolerances: Tolerances,
}

/// What stopped the growth at an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The range that was searched ends here.
    Range,
    /// Beyond it nothing was proved.
    Boundary,
}

/// How the interval was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SafeMethod {
    /// Every point is proved.
    IntervalArithmetic,
    /// Single points were examined, and nothing is known between them.
    Sampled,
}

/// An interval of the parameter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SafeInterval {
    /// The least value.
    pub lo: f64,
    /// The greatest value.
    pub hi: f64,
    /// What lies below and above.
    pub ends: [End; 2],
    /// How it was found.
    pub method: SafeMethod,
}

/// The answer.
#[derive(Clone, Debug)]
pub struct Safe {
    /// The present value.
    pub present: f64,
    /// The range that was searched.
    pub within: [f64; 2],
    /// The interval with the present value, or the longest; `None` where no value is safe.
    pub interval: Option<SafeInterval>,
    /// How many boxes interval arithmetic examined.
    pub boxes: usize,
    /// Whether an attempt was given up because it took too many of them: the interval may be larger.
    pub given_up: bool,
    /// Formulas of the system that are closures, without intervals: nothing could be proved for them.
    pub without_intervals: Vec<FormulaName>,
}

/// Why the question cannot be answered.
#[derive(Clone, Debug, Error)]
pub enum SafeError {
    /// A range that is empty or not finite.
    #[error("the range of `{name}` is {lo} to {hi}, expected finite numbers in increasing order")]
    Range {
        /// The parameter.
        name: String,
        /// Its lower end.
        lo: f64,
        /// Its upper end.
        hi: f64,
    },
    /// Every direction of sliding is meant, which only intervals can cover, and a formula has none.
    #[error("{formula} is a closure, which has no intervals: every direction of sliding cannot be covered")]
    NoIntervals {
        /// The formula.
        formula: FormulaName,
    },
    /// A formula has no intervals, and a box of parameters cannot be covered without them.
    #[error("{formula} is a closure, which has no intervals: ranges of parameters cannot be covered")]
    Uncovered {
        /// The formula.
        formula: FormulaName,
    },
    /// A joint that is given by its velocity determines no configuration.
    #[error("joint `{joint}` is given by its velocity: it determines no configuration along a cycle")]
    VelocityJoint {
        /// The joint.
        joint: String,
    },
    /// The joints and the coordinates that are not written as functions of the parameters differ in number.
    #[error(
        "along a cycle the coordinates whose position does not depend on the parameters follow from the joints that hold them: expected as many joints as such coordinates, found {joints} joints for {}",
        if coordinates.is_empty() { "none".to_string() } else { coordinates.join(", ") }
    )]
    CannotClose {
        /// How many joints.
        joints: usize,
        /// The coordinates.
        coordinates: Vec<String>,
    },
    /// The configuration of the file is not near one that closes the joints.
    #[error(
        "the joints cannot be closed near the configuration of the file: expected positions close to one that closes them, and not at a dead point"
    )]
    OpenLoop,
    /// A parameter that is named twice.
    #[error("the parameter `{name}` is named twice")]
    Twice {
        /// The parameter.
        name: String,
    },
}

/// The largest interval of a parameter on which the answer exists and is unique.
pub fn safe_interval(subject: &FreeSystem<'_>, question: &Question<'_>) -> Result<Safe, SafeError> {
    let FreeSystem { family, present, .. } = *subject;
    let mut names: Vec<&str> = vec![question.over];
    names.extend(question.for_all.iter().map(|(name, _)| *name));
    for (k, name) in names.iter().enumerate() {
        if names[..k].contains(name) {
            return Err(SafeError::Twice { name: (*name).to_string() });
        }
    }
    let within = question.within.unwrap_or_else(|| {
        let far = 10.0 * present.abs().max(1.0);
        if present < 0.0 { [-far, 0.0] } else { [0.0, far] }
    });
    let ranges = std::iter::once((question.over, within)).chain(question.for_all.iter().copied());
    for (name, [lo, hi]) in ranges.clone() {
        if !(lo.is_finite() && hi.is_finite() && lo <= hi) {
            return Err(SafeError::Range { name: name.to_string(), lo, hi });
        }
    }
    let without_intervals = family.system.without_intervals();
    if let (true, Some(formula)) = (question.any_slip, without_intervals.first()) {
        return Err(SafeError::NoIntervals { formula: formula.clone() });
    }
    // Boxes have the free parameters in the order of the file.
    let ranges: Vec<(&str, [f64; 2])> = ranges.collect();
    let mut domain = Vec::new();
    let mut axis = 0;
    for name in family.free() {
        if name == question.over {
            axis = domain.len();
        }
        let range = ranges.iter().find(|(n, _)| *n == name).map_or(within, |(_, range)| *range);
        domain.push(Interval::new(range[0], range[1]));
    }
    let mut search = Search {
        prover: Prover::new(family, question.tolerances, question.any_slip),
        domain,
        axis,
        given_up: false,
    };
    let full_circle = Interval::new(0.0, std::f64::consts::TAU.next_up());
    search.domain.extend((0..search.prover.angles()).map(|_| full_circle));
    let mut found = search.interval(within, present);
    if found.is_none() && !question.any_slip {
        found = sampled(subject, question, within);
    }
    let Search { given_up, prover, .. } = search;
    Ok(Safe { present, within, interval: found, boxes: prover.boxes, given_up, without_intervals })
}

struct Search<'a> {
    prover: Prover<'a>,
    /// The whole range of every dimension.
    domain: Vec<Interval>,
    /// The dimension whose interval is sought.
    axis: usize,
    /// Whether an attempt took too many boxes.
    given_up: bool,
}

impl Search<'_> {
    fn interval(&mut self, within: [f64; 2], present: f64) -> Option<SafeInterval> {
        let middle: Vec<Interval> = self.domain.iter().map(|x| Interval::point(x.middle())).collect();
        let matters = self.prover.find_dependence(&middle);
        // What has no influence needs one value only.
        for (k, range) in self.domain.iter_mut().enumerate() {
            if k != self.axis && !matters[k] {
                *range = middle[k];
            }
        }
        let start = self.start(within, present)?;
        let (lo, below) = self.grow(start, within[0]);
        let (hi, above) = self.grow(start, within[1]);
        // A single point is no interval.
        (lo < hi).then_some(SafeInterval {
            lo,
            hi,
            ends: [below, above],
            method: SafeMethod::IntervalArithmetic,
        })
    }

    /// The present value if it is safe; otherwise the middle of the longest run of safe values on a grid.
    fn start(&mut self, within: [f64; 2], present: f64) -> Option<f64> {
        if within[0] <= present && present <= within[1] && self.proves(present, present) {
            return Some(present);
        }
        let at = |k: usize| within[0] + (within[1] - within[0]) * k as f64 / STARTS as f64;
        let safe: Vec<bool> = (0..=STARTS).map(|k| self.proves(at(k), at(k))).collect();
        longest_run(&safe).map(|[first, last]| at((first + last) / 2))
    }

    /// How far the proof reaches from `from` towards `end`.
    fn grow(&mut self, from: f64, end: f64) -> (f64, End) {
        let range = self.domain[self.axis].width();
        let mut reached = from;
        let mut step = range / STARTS as f64;
        while reached != end {
            let next = if end > reached { (reached + step).min(end) } else { (reached - step).max(end) };
            if next != reached && self.proves(reached, next) {
                reached = next;
                step *= 2.0;
                continue;
            }
            step *= 0.5;
            if next == reached || step < RESOLUTION * reached.abs().max(1e-3 * range) {
                return (reached, End::Boundary);
            }
        }
        (reached, End::Range)
    }

    /// Whether every value between two is proved, for all values of the other dimensions.
    fn proves(&mut self, near: f64, far: f64) -> bool {
        let mut whole = self.domain.clone();
        whole[self.axis] = Interval::new(near.min(far), near.max(far));
        let mut waiting = vec![whole];
        let limit = self.prover.boxes + MAX_BOXES.saturating_sub(self.prover.boxes) / 4;
        while let Some(part) = waiting.pop() {
            let finding = self.prover.prove(&part);
            if finding == Finding::Proved {
                continue;
            }
            // A point that is not proved cannot be proved by dividing; the far end is the least safe.
            let mut point: Vec<Interval> = part.iter().map(|x| Interval::point(x.middle())).collect();
            point[self.axis] =
                Interval::point(if far > near { part[self.axis].hi } else { part[self.axis].lo });
            let exhausted = self.prover.boxes > limit || self.prover.evaluations > MAX_EVALUATIONS;
            if part == point || self.prover.prove(&point) != Finding::Proved {
                return false;
            }
            if exhausted {
                self.given_up = true;
                return false;
            }
            let share = |k: usize| part[k].width() / self.domain[k].width();
            let widest = (0..part.len())
                .filter(|&k| part[k].width() > 0.0)
                .filter(|&k| finding == Finding::FrictionUnclear || self.prover.moves(k))
                .max_by(|&a, &b| share(a).total_cmp(&share(b)));
            let Some(k) = widest else { return false };
            let middle = part[k].middle();
            if middle <= part[k].lo || middle >= part[k].hi {
                return false;
            }
            let (mut low, mut high) = (part.clone(), part);
            low[k].hi = middle;
            high[k].lo = middle;
            waiting.push(high);
            waiting.push(low);
        }
        true
    }
}

/// First and last place of the longest run of `true`.
fn longest_run(safe: &[bool]) -> Option<[usize; 2]> {
    let mut best: Option<[usize; 2]> = None;
    let mut first = None;
    for k in 0..=safe.len() {
        match (safe.get(k) == Some(&true), first) {
            (true, None) => first = Some(k),
            (false, Some(from)) => {
                if best.is_none_or(|[a, b]| k - 1 - from > b - a) {
                    best = Some([from, k - 1]);
                }
                first = None;
            }
            _ => {}
        }
    }
    best
}

/// The interval that single points suggest: existence and a unique acceleration at each of them.
fn sampled(subject: &FreeSystem<'_>, question: &Question<'_>, within: [f64; 2]) -> Option<SafeInterval> {
    let present = subject.present;
    let safe =
        |value: f64| others(question.for_all).iter().all(|other| unique(subject, question, value, other));
    let at = |k: usize| within[0] + (within[1] - within[0]) * k as f64 / STARTS as f64;
    let grid: Vec<bool> = (0..=STARTS).map(|k| safe(at(k))).collect();
    let start = if safe(present) && within[0] <= present && present <= within[1] {
        present
    } else {
        longest_run(&grid).map(|[first, last]| at((first + last) / 2))?
    };
    let edge = |end: f64| {
        // The last safe value of the grid before it, then bisection towards the first that is not.
        let on_the_way = |x: f64| if end > start { x > start } else { x < start };
        let mut values: Vec<(f64, bool)> =
            (0..=STARTS).map(|k| (at(k), grid[k])).filter(|(x, _)| on_the_way(*x)).collect();
        if end < start {
            values.reverse();
        }
        let mut inside = start;
        for (x, is_safe) in values {
            if !is_safe {
                let mut outside = x;
                while (outside - inside).abs() > RESOLUTION * inside.abs().max(1e-3 * (within[1] - within[0]))
                {
                    let middle = 0.5 * (inside + outside);
                    if safe(middle) { inside = middle } else { outside = middle }
                }
                return (inside, End::Boundary);
            }
            inside = x;
        }
        (inside, End::Range)
    };
    let ((lo, below), (hi, above)) = (edge(within[0]), edge(within[1]));
    Some(SafeInterval { lo, hi, ends: [below, above], method: SafeMethod::Sampled })
}

/// Every combination of sampled values of the other parameters.
fn others<'a>(ranges: &[(&'a str, [f64; 2])]) -> Vec<Vec<(&'a str, f64)>> {
    ranges.iter().fold(vec![vec![]], |list, (name, [lo, hi])| {
        let values = (0..SAMPLES).map(|k| lo + (hi - lo) * k as f64 / (SAMPLES - 1) as f64);
        let extended = |done: &Vec<(&'a str, f64)>| -> Vec<Vec<(&'a str, f64)>> {
            values.clone().map(|x| done.iter().copied().chain([(*name, x)]).collect()).collect()
        };
        list.iter().flat_map(extended).collect()
    })
}

fn unique(subject: &FreeSystem<'_>, question: &Question<'_>, value: f64, other: &[(&str, f64)]) -> bool {
    let values: Vec<(&str, f64)> = other.iter().copied().chain([(question.over, value)]).collect();
    let Some((system, state)) = (subject.at)(&values) else { return false };
    let options = EnumerateOptions::default();
    match analyze(&system, &state, &question.tolerances, &options) {
        Ok(result) => result
            .analysis
            .is_some_and(|a| a.existence == Verdict::Proved && a.acceleration_unique == Verdict::Proved),
        Err(_) => false,
    }
}
