//! Gaps of open contacts over a step: the first that closes or grazes.
//!
//! ```text
//! min { θ ∈ (0, 1] : h_i(q(θ), t(θ)) = 0 for an open contact i }
//! ```
//!
//! h_i is the gap, q(θ) the polynomial of the step. A contact that just opened has h_i = 0 at θ = 0, which is
//! no event. Bounds over stretches of the step prove most gaps positive ([`enclosure`]); what is left is
//! searched ([`root_finding`]), by the integral of the gap's rate where a bounce is lower than the rounding
//! of positions ([`low_flight`]).

mod enclosure;
mod low_flight;
mod root_finding;

pub(super) use enclosure::StepBounds;
pub(super) use root_finding::{End, first_end};

use delassus_solve::linalg::max_abs;

use self::enclosure::Shape;
use self::low_flight::Flight;
use self::root_finding::{GapPoint, Search, TooLong};
use super::equations::{Mechanics, Modes, Moving};
use super::gauss_collocation::DenseStep;
use crate::formula::AnyFormula;
use crate::lagrangian::{Measure, State};

/// What counts as zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GapTolerance {
    /// A minimum within this of zero is a graze.
    pub graze: f64,
    /// What rounding leaves of a gap that is zero.
    pub rounding: f64,
    /// What rounding leaves of a rate dg/dθ that is zero.
    pub rate: f64,
}

/// A minimum of a gap within this of zero is a graze, m: the local error of positions of order 1 at the
/// default tolerance, below which a step cannot distinguish a touch from a near miss.
const GRAZE_GAP: f64 = 1e-12;
/// What rounding leaves of a gap that is zero, relative to the largest position or 1 and the distance
/// travelled at the largest velocity.
const ROUNDING: f64 = 1e-15;
/// States of one step that are kept: those at fixed places come first and are used for every contact.
const KEPT_STATES: usize = 64;

/// States of a step at instants where gaps were evaluated.
#[derive(Default)]
struct EvaluatedStates {
    entries: Vec<(f64, Moving)>,
    used: usize,
    y: Vec<f64>,
}

impl EvaluatedStates {
    fn clear(&mut self) {
        self.used = 0;
    }

    fn at(&mut self, step: &DenseStep, theta: f64) -> &Moving {
        if let Some(found) = self.entries[..self.used].iter().position(|(x, _)| *x == theta) {
            return &self.entries[found].1;
        }
        if self.used == self.entries.len() {
            self.entries.push(Default::default());
        }
        step.at(theta, &mut self.y);
        let n = self.y.len() / 2;
        let (x, moving) = &mut self.entries[self.used];
        *x = theta;
        moving.set(step.time(theta), &self.y[..n], &self.y[n..]);
        // Beyond these the last place is used again and again: root finders do not come back to a state.
        if self.used < KEPT_STATES {
            self.used += 1;
            &self.entries[self.used - 1].1
        } else {
            &self.entries[self.used].1
        }
    }
}

/// The first gap of a step that ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FirstTouch {
    pub(super) theta: f64,
    pub(super) contact: usize,
}

/// The gap of this contact stays within rounding of zero, and whether it closes is not decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Undecided {
    pub(super) contact: usize,
}

/// What counts as zero in a step, by the sizes of its positions and velocities.
#[derive(Clone, Copy, Debug)]
struct Rounding {
    /// Largest position, and of the distance travelled so far.
    size: f64,
    gap: f64,
    /// Of dg/dθ.
    rate: f64,
}

impl Rounding {
    fn new(state: &State, h: f64) -> Rounding {
        // Rounding of positions, and of the time at which fast walls and bodies are met.
        let size = max_abs(&state.q).max(1.0) + max_abs(&state.v) * state.t.abs();
        Rounding { size, gap: ROUNDING * size, rate: ROUNDING * max_abs(&state.v) * h }
    }
}

/// What is known of every contact's gap beside its formula.
pub(super) struct OpenGaps {
    /// Whether the gap is zero now and positive right after.
    leaving: Vec<bool>,
    /// Whether the gap came near zero by falling, and has not risen since.
    fell: Vec<bool>,
    /// Flights since the last impact, where they are low.
    flights: Vec<Option<Flight>>,
    states: EvaluatedStates,
    bounds: StepBounds,
}

impl OpenGaps {
    /// Nothing is known of these contacts.
    pub(super) fn new(contacts: usize) -> OpenGaps {
        OpenGaps {
            leaving: vec![false; contacts],
            fell: vec![false; contacts],
            flights: vec![None; contacts],
            states: EvaluatedStates::default(),
            bounds: StepBounds::default(),
        }
    }

    /// Whether the gap is zero now and positive right after.
    pub(super) fn is_leaving(&self, contact: usize) -> bool {
        self.leaving[contact]
    }

    /// The contact opens now.
    pub(super) fn leave(&mut self, contact: usize) {
        self.leaving[contact] = true;
    }

    /// The contact opens now by an impact: its gap is followed by its rate.
    pub(super) fn rebound(&mut self, contact: usize) {
        self.leaving[contact] = true;
        self.flights[contact] = Some(Flight::BEGIN);
    }

    /// The contact has closed.
    pub(super) fn close(&mut self, contact: usize) {
        self.leaving[contact] = false;
    }

    /// Time has passed: what left is away.
    pub(super) fn clear_leaving(&mut self) {
        self.leaving.fill(false);
    }

    /// Whether the gap is followed by its rate.
    pub(super) fn is_low_flight(&self, contact: usize) -> bool {
        self.flights[contact].is_some()
    }

    /// The gap of the contact is given by its formula again.
    pub(super) fn end_flight(&mut self, contact: usize) {
        self.flights[contact] = None;
    }

    /// All gaps are given by their formulas again.
    pub(super) fn end_flights(&mut self) {
        self.flights.fill(None);
    }

    /// The motion goes on from θ of the step.
    pub(super) fn advance(&mut self, theta: f64) {
        for flight in &mut self.flights {
            *flight = flight.and_then(|flight| flight.from(theta));
        }
    }

    /// The first gap of the step that closes or grazes; the state is the one at its start.
    pub(super) fn first_touch(
        &mut self,
        mechanics: &Mechanics<'_>,
        modes: &Modes,
        state: &State,
        step: &DenseStep,
    ) -> Result<Option<FirstTouch>, Undecided> {
        self.states.clear();
        self.bounds.clear();
        let rounding = Rounding::new(state, step.length);
        let mut first: Option<FirstTouch> = None;
        for (contact, at) in mechanics.system().contacts.iter().enumerate() {
            let Measure::Displacement(gap) = &at.normal else { continue };
            if modes.contacts[contact].is_closed() {
                continue;
            }
            let end = first.map_or(1.0, |touch| touch.theta);
            let found = self.touch_before(end, mechanics, (contact, gap), step, rounding);
            let theta = found.map_err(|TooLong| Undecided { contact })?;
            if let Some(theta) = theta.filter(|theta| first.is_none_or(|touch| *theta < touch.theta)) {
                first = Some(FirstTouch { theta, contact });
            }
        }
        Ok(first)
    }

    /// The first θ in [0, end] at which this gap closes or grazes. The rate there distinguishes the two
    /// later.
    fn touch_before(
        &mut self,
        end: f64,
        mechanics: &Mechanics<'_>,
        (contact, gap): (usize, &AnyFormula),
        step: &DenseStep,
        rounding: Rounding,
    ) -> Result<Option<f64>, TooLong> {
        let OpenGaps { states, bounds, .. } = self;
        let leaving = self.leaving[contact];
        let fell = std::mem::take(&mut self.fell[contact]);
        // A gap that does not depend on positions has no error but rounding.
        let given = gap.variables().is_some_and(|v| v.positions.is_empty());
        let graze = if given { rounding.gap } else { GRAZE_GAP.max(rounding.gap) };
        let mut formula = |theta: f64| {
            let (gap, rate) = mechanics.gap(contact, states.at(step, theta));
            (gap, rate * step.length)
        };
        let flight = self.flights[contact].and_then(|flight| flight.over(&mut formula, rounding.size));
        self.flights[contact] = flight;
        let blur = flight.map_or(0.0, |flight| flight.blur());
        // A flight may be lower than what rounding leaves of the formula.
        let zero = if flight.is_some() { 0.0 } else { rounding.gap };
        let tolerance = GapTolerance { graze, rounding: zero, rate: rounding.rate };
        if !leaving && bounds.is_clear(step, gap, (0.0, 1.0), graze + blur) {
            return Ok(None);
        }
        let bounded = bounds.has_bounds(step, gap);
        let mut eval = |theta: f64| {
            let (gap, rate) = formula(theta);
            GapPoint { theta, gap: flight.map_or(gap, |flight| flight.gap(theta, gap)), rate }
        };
        let mut shape = |a: f64, b: f64| {
            if bounded { bounds.shape(step, gap, (a, b), (&tolerance, blur)) } else { Shape::Unknown }
        };
        let (a, b) = (eval(0.0), eval(end));
        if b.theta <= a.theta {
            return Ok(None);
        }
        let mut search = Search::new(&mut eval, &mut shape, tolerance);
        let found = search.first_touch(a, b, leaving, fell);
        self.fell[contact] = search.fell();
        Ok(found?.map(|touch| touch.theta()))
    }

    /// Up to where, in [0, end], the points of the step resolve all of these formulas, each but for features
    /// of the size that comes with it; `None` where they do throughout.
    pub(super) fn first_unresolved<'f>(
        &mut self,
        formulas: impl Iterator<Item = (&'f AnyFormula, f64)>,
        step: &DenseStep,
        end: f64,
    ) -> Option<f64> {
        let mut first = None;
        for (formula, smallest) in formulas.filter(|(formula, _)| !formula.is_plain()) {
            let upto = first.unwrap_or(end);
            if upto > 0.0 {
                first = self.bounds.unresolved(step, formula, smallest, upto).or(first);
            }
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::equations::ContactMode;
    use crate::events::fixtures::{G, ball, free_fall, one_contact, state};

    /// The first touch of a ball that falls from y with velocity v, in a step of length h.
    fn touch(y: f64, v: f64, h: f64, leaving: bool) -> Option<FirstTouch> {
        let (system, start) = (ball(0.5), state(&[y], &[v]));
        let mechanics = Mechanics::new(&system, &start).unwrap();
        let mut gaps = OpenGaps::new(1);
        if leaving {
            gaps.leave(0);
        }
        let modes = one_contact(ContactMode::Open);
        gaps.first_touch(&mechanics, &modes, &start, &free_fall(y, v, h)).unwrap()
    }

    #[test]
    fn a_gap_closes_where_it_becomes_negative() {
        let (h, fall) = (0.7, (2.0 / G).sqrt());
        let found = touch(1.0, 0.0, h, false).unwrap();
        assert_eq!(found.contact, 0);
        assert!((found.theta * h - fall).abs() < 1e-15);
        // One that opens, or closes only after the step, is no event.
        assert_eq!(touch(1.0, 0.0, 0.9 * fall, false), None);
        assert_eq!(touch(0.0, 9.0, h, true), None);
    }

    /// A ball that just left has no gap at θ = 0; it comes back after 2 v/g.
    #[test]
    fn a_contact_that_leaves_comes_back_later() {
        let found = touch(0.0, 1.0, 0.5, true).unwrap();
        assert!((found.theta * 0.5 - 2.0 / G).abs() < 1e-15);
    }

    /// A ball that is thrown up to the height 0 from below only touches it: y = −g (t − t₀)²/2 has a double
    /// root. Seen from above the gap is g (t − t₀)²/2.
    #[test]
    fn a_double_root_grazes_once() {
        let mut eval = |theta: f64| {
            let x = theta - 0.375;
            GapPoint { theta, gap: 0.5 * G * x * x, rate: G * x }
        };
        let (a, b) = (eval(0.0), eval(1.0));
        let mut shape = |_: f64, _: f64| Shape::Unknown;
        let tolerance = GapTolerance { graze: 1e-12, rounding: 0.0, rate: 0.0 };
        let found = Search::new(&mut eval, &mut shape, tolerance).first_touch(a, b, false, false);
        // The minimum is known to the square root of the tolerance.
        assert!(matches!(found, Ok(Some(root_finding::Touch::Grazes(x))) if (x - 0.375).abs() < 1e-6));
    }

    /// A cubic with the roots 0.2, 0.5 and 0.9 that starts positive closes at the first of them.
    #[test]
    fn the_first_root_of_a_polynomial() {
        let mut eval = |x: f64| GapPoint {
            theta: x,
            gap: (0.2 - x) * (0.5 - x) * (0.9 - x),
            rate: -(0.5 - x) * (0.9 - x) - (0.2 - x) * (0.9 - x) - (0.2 - x) * (0.5 - x),
        };
        let (a, b) = (eval(0.0), eval(1.0));
        let mut shape = |_: f64, _: f64| Shape::Unknown;
        let tolerance = GapTolerance { graze: 1e-12, rounding: 0.0, rate: 0.0 };
        let found = Search::new(&mut eval, &mut shape, tolerance).first_touch(a, b, false, false);
        assert!(matches!(found, Ok(Some(root_finding::Touch::Closes(x))) if (x - 0.2).abs() < 1e-15));
    }
}
