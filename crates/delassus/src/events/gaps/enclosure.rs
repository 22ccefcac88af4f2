//! Interval enclosures of formulas over stretches of a step: bounds of the value, the rate and the curvature,
//! and whether the points of the step resolve a formula.
//!
//! ```text
//! g(t, q(t), q̇(t)) ∈ G ,   ġ ∈ G₁ ,   g̈ ∈ G₂      for all t of a stretch of length w
//! |g − parabola through the ends with g̈ = mid G₂| ≤ width(G₂) w²/16
//! ```
//!
//! q(t) and q̇(t) are the polynomials of the step; intervals with outward rounding hold them over the
//! stretch, and formulas are evaluated over these intervals. A gap with G > 0 stays open, proved up to the
//! error of the step. A force whose parabola is known to within `UNSEEN_PART` on every stretch, and which
//! agrees at their ends with the polynomial through the step's own points, has no feature larger than that
//! between the points.

use super::super::gauss_collocation::{DenseStep, GAUSS, polynomial};
use super::GapTolerance;
use crate::formula::{AnyFormula, Interval, IntervalDual, Point};

/// A feature of a formula up to this part of its largest value may stay unseen.
const UNSEEN_PART: f64 = 1e-2;
/// How far a formula may be from the polynomial through the step's points, as a part of its largest value or
/// 1.
const AGREEMENT: f64 = 1e-6;
/// Shortest stretch that is bounded, as a part of the step.
const SHORTEST_STRETCH: f64 = 1.0 / 512.0;
/// Stretches that are bounded, at most, for one formula and one step.
const MAX_STRETCHES: usize = 400;
/// Boxes and states that are kept.
const MAX_KEPT: usize = 128;

/// What bounds prove about a gap on a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// It stays above what counts as zero.
    Clear,
    /// It has no zero.
    Positive,
    /// It is zero throughout, but for rounding.
    Zero,
    /// Its rate is positive.
    Rises,
    /// Its rate is negative.
    Falls,
    /// Its second derivative is positive.
    Convex,
    /// Its second derivative is negative.
    Concave,
    /// Nothing on so long a stretch.
    Any,
    /// Nothing, since there are no bounds.
    Unknown,
}

/// The motion over a stretch.
#[derive(Default)]
struct MotionBox {
    q: Vec<IntervalDual>,
    v: Vec<IntervalDual>,
    plain_q: Vec<Interval>,
    plain_v: Vec<Interval>,
    t: Option<IntervalDual>,
}

impl MotionBox {
    fn set(&mut self, dense: &DenseStep, stretch: (f64, f64), bounds: &mut Vec<[Interval; 3]>) {
        dense.bounds(stretch, bounds);
        let (q, v) = bounds.split_at(bounds.len() / 2);
        let moving = |b: &[Interval; 3]| IntervalDual { value: b[0], d1: b[1], d2: b[1], d12: b[2] };
        self.q.clear();
        self.q.extend(q.iter().map(moving));
        self.v.clear();
        self.v.extend(v.iter().map(moving));
        self.plain_q.clear();
        self.plain_q.extend(q.iter().map(|b| b[0]));
        self.plain_v.clear();
        self.plain_v.extend(v.iter().map(|b| b[0]));
        let time = |theta: f64| dense.start + theta * dense.length;
        let value = Interval::new(time(stretch.0), time(stretch.1));
        self.t = Some(IntervalDual { value, d1: Interval::ONE, d2: Interval::ONE, d12: Interval::ZERO });
    }

    fn range(&self, formula: &AnyFormula) -> Interval {
        let Some(t) = self.t else { return Interval::UNDEFINED };
        formula.range(&Point { q: &self.plain_q, v: &self.plain_v, t: t.value })
    }

    /// Bounds of g, ġ and g̈.
    fn bounds(&self, formula: &AnyFormula) -> [Interval; 3] {
        let Some(t) = self.t else { return [Interval::UNDEFINED; 3] };
        let x = formula.interval(&Point { q: &self.q, v: &self.v, t });
        [x.value, x.d1, x.d12]
    }
}

/// Boxes around the motion of one step, and its states, each made once.
#[derive(Default)]
pub struct StepBounds {
    boxes: Vec<((f64, f64), MotionBox)>,
    used_boxes: usize,
    states: Vec<(f64, Vec<f64>)>,
    used_states: usize,
    scratch: Vec<[Interval; 3]>,
}

impl StepBounds {
    /// Forgets the step before.
    pub fn clear(&mut self) {
        (self.used_boxes, self.used_states) = (0, 0);
    }

    fn stretch(&mut self, dense: &DenseStep, stretch: (f64, f64)) -> &MotionBox {
        let known = self.boxes[..self.used_boxes].iter().position(|(s, _)| *s == stretch);
        let place = known.unwrap_or_else(|| {
            let place = self.used_boxes;
            if place == self.boxes.len() {
                self.boxes.push(Default::default());
            }
            let (s, motion) = &mut self.boxes[place];
            *s = stretch;
            motion.set(dense, stretch, &mut self.scratch);
            // The last place is used again and again.
            self.used_boxes = (place + 1).min(MAX_KEPT);
            place
        });
        &self.boxes[place].1
    }

    fn value(&mut self, dense: &DenseStep, formula: &AnyFormula, theta: f64) -> f64 {
        let known = self.states[..self.used_states].iter().position(|(x, _)| *x == theta);
        let place = known.unwrap_or_else(|| {
            let place = self.used_states;
            if place == self.states.len() {
                self.states.push(Default::default());
            }
            let (x, y) = &mut self.states[place];
            *x = theta;
            dense.at(theta, y);
            self.used_states = (place + 1).min(MAX_KEPT);
            place
        });
        let y = &self.states[place].1;
        let (q, v) = y.split_at(y.len() / 2);
        formula.value(&Point { q, v, t: dense.start + theta * dense.length })
    }

    /// Whether a gap stays above `zero` on [a, b], by its range alone.
    pub fn is_clear(&mut self, dense: &DenseStep, gap: &AnyFormula, stretch: (f64, f64), zero: f64) -> bool {
        self.stretch(dense, stretch).range(gap).lo > zero
    }

    /// Whether there are bounds of this formula at all.
    pub fn has_bounds(&mut self, dense: &DenseStep, formula: &AnyFormula) -> bool {
        !self.stretch(dense, (0.0, 0.0)).range(formula).is_undefined()
    }

    /// What bounds prove about a gap on [a, b]. Values are known to within `blur`.
    pub fn shape(
        &mut self,
        dense: &DenseStep,
        gap: &AnyFormula,
        stretch: (f64, f64),
        (tolerance, blur): (&GapTolerance, f64),
    ) -> Shape {
        let [value, rate, curvature] = self.stretch(dense, stretch).bounds(gap);
        if value.lo > tolerance.graze + blur {
            Shape::Clear
        } else if value.lo > blur {
            Shape::Positive
        } else if value.lo >= -tolerance.rounding && value.hi <= tolerance.rounding {
            Shape::Zero
        } else if rate.lo > 0.0 {
            Shape::Rises
        } else if rate.hi < 0.0 {
            Shape::Falls
        } else if curvature.lo > 0.0 {
            Shape::Convex
        } else if curvature.hi < 0.0 {
            Shape::Concave
        } else {
            Shape::Any
        }
    }

    /// Up to where, in [0, end], the points of the step resolve this formula, but for features up to
    /// `smallest`; `None` where they do throughout.
    pub fn unresolved(
        &mut self,
        dense: &DenseStep,
        formula: &AnyFormula,
        smallest: f64,
        end: f64,
    ) -> Option<f64> {
        if !self.has_bounds(dense, formula) {
            return None;
        }
        let samples = std::array::from_fn(|i| self.value(dense, formula, GAUSS.points[i]));
        let coefficients = GAUSS.coefficients(&samples);
        let largest = samples.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let slack = UNSEEN_PART * largest + smallest;
        let agrees = AGREEMENT * largest.max(1.0);
        let mut open = vec![(0.0, end)];
        let mut count = 0;
        while let Some((a, b)) = open.pop() {
            count += 1;
            let w = (b - a) * dense.length;
            let [value, rate, curvature] = self.stretch(dense, (a, b)).bounds(formula);
            let known = curvature.width() * w * w / 16.0 <= slack
                || 0.25 * rate.width() * w <= slack
                || value.width() <= slack;
            if known {
                // The middle is the point that is farthest from those where agreement is checked anyway.
                for theta in [a, 0.5 * (a + b), b] {
                    let off = self.value(dense, formula, theta) - polynomial(&coefficients, theta);
                    if off.abs() > agrees {
                        return Some(a);
                    }
                }
                continue;
            }
            if b - a <= SHORTEST_STRETCH * end || count > MAX_STRETCHES {
                // A formula that has no bounds here, such as a root of zero, is passed over.
                if value.is_undefined() && count <= MAX_STRETCHES {
                    continue;
                }
                return Some(a);
            }
            let middle = 0.5 * (a + b);
            open.push((middle, b));
            open.push((a, middle));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::fixtures::{G, free_fall};
    use crate::formula::{Expression, Symbols};

    /// A formula of the height y of a fall from 1 m, and of time.
    fn formula(text: &str) -> AnyFormula {
        let mut symbols = Symbols::default();
        symbols.add_coordinate("y").unwrap();
        AnyFormula::new(Expression::parse(text, &symbols).unwrap())
    }

    /// What is proved of a gap in a fall of 0.1 s from 1 m, y = 1 − g t²/2 down to 0.951.
    fn shape(gap: &str, stretch: (f64, f64)) -> Shape {
        let tolerance = GapTolerance { graze: 1e-12, rounding: 1e-13, rate: 0.0 };
        let step = free_fall(1.0, 0.0, 0.1);
        StepBounds::default().shape(&step, &formula(gap), stretch, (&tolerance, 1e-14))
    }

    #[test]
    fn bounds_prove_the_shape_of_a_gap() {
        assert_eq!(shape("y - 0.9", (0.0, 1.0)), Shape::Clear);
        assert_eq!(shape("0*y + 5e-13", (0.0, 1.0)), Shape::Positive);
        assert_eq!(shape("0*y", (0.0, 1.0)), Shape::Zero);
        // The rate −g t has no zero in the second half, and one at the start.
        assert_eq!(shape("y - 0.98", (0.5, 1.0)), Shape::Falls);
        assert_eq!(shape("0.98 - y", (0.5, 1.0)), Shape::Rises);
        assert_eq!(shape("y - 0.98", (0.0, 1.0)), Shape::Concave);
        assert_eq!(shape("0.98 - y", (0.0, 1.0)), Shape::Convex);
        assert_eq!(shape("sin(200*t)", (0.0, 1.0)), Shape::Any);
    }

    #[test]
    fn enclosures_hold_value_rate_and_curvature() {
        let step = free_fall(1.0, 0.0, 0.1);
        let mut bounds = StepBounds::default();
        let [value, rate, curvature] = bounds.stretch(&step, (0.5, 1.0)).bounds(&formula("y"));
        let holds = |interval: Interval, x: f64| interval.lo <= x && x <= interval.hi;
        for t in [0.05, 0.075, 0.1] {
            assert!(
                holds(value, 1.0 - 0.5 * G * t * t) && holds(rate, -G * t) && holds(curvature, -G),
                "{t}"
            );
        }
        // Not much wider than what they hold: the value falls by 0.037 m, the curvature is constant.
        assert!(value.width() < 0.08 && rate.width() < 0.5 * G * 0.1 * 1.5 && curvature.width() < 1e-6);
        assert!(bounds.is_clear(&step, &formula("y - 0.9"), (0.0, 1.0), 0.0));
        assert!(!bounds.is_clear(&step, &formula("y - 0.98"), (0.0, 1.0), 0.0));
    }

    #[test]
    fn a_feature_between_the_points_of_a_step_is_seen() {
        let step = free_fall(1.0, 0.0, 0.1);
        let mut bounds = StepBounds::default();
        assert_eq!(bounds.unresolved(&step, &formula("y^2 + t"), 1e-6, 1.0), None);
        // A peak of height 1 and width 2e-4 of the step at its middle, between two of the eight points.
        let peak = formula("1/(1 + ((t - 0.05)/1e-5)^2)");
        let found = bounds.unresolved(&step, &peak, 1e-6, 1.0);
        assert!(found.is_some_and(|theta| theta <= 0.5), "{found:?}");
        // Whatever may stay unresolved, the polynomial through the points must agree at the ends and the
        // middle.
        assert_eq!(bounds.unresolved(&step, &peak, 2.0, 1.0), Some(0.0));
        // One that is smaller than what may stay unresolved is passed over.
        let low = formula("1e-7/(1 + ((t - 0.05)/1e-5)^2)");
        assert_eq!(bounds.unresolved(&step, &low, 1e-6, 1.0), None);
        let closure = AnyFormula::derivatives_only(|at| 1.0 * at.q[0]);
        assert!(!bounds.has_bounds(&step, &closure));
        assert_eq!(bounds.unresolved(&step, &closure, 1e-6, 1.0), None);
    }
}
