//! The first instant in a step at which something ends: a gap closes, a force or a slip vanishes, friction is
//! used up.
//!
//! ```text
//! min { θ ∈ (0, 1] : g(θ) = 0 , and g < 0 right after it }
//! ```
//!
//! Bounds of a gap and of its first two derivatives over a stretch ([`enclosure`](super::enclosure)) prove
//! that it stays open, or that it has one zero or one minimum there; a stretch on which they prove nothing is
//! halved. Where there are no bounds, or the stretch has become very short, points decide: gaps g come with
//! their rates, so that every stretch has a cubic with the same values and rates at its ends; the cubic has
//! no zero where its Bernstein coefficients have one sign. Where the value and the rate in the middle agree
//! with the cubic the stretch is done with; where they do not, or signs differ, it is halved. A stretch on
//! which the gap falls and rises again is followed to its minimum, so that a gap that closes and opens
//! between two samples is not missed, and one that only touches is reported as a graze. A minimum without
//! curvature, such as that of (t − 1)⁴, is seen by its rates: a gap that fell and rises grazes where it was
//! within the tolerance of zero in between.
//!
//! Forces and slips are known at the points of the step as polynomials, and their zeros are polished on the
//! forces themselves.

use super::super::gauss_collocation::{POINTS, polynomial};
use super::GapTolerance;
use super::enclosure::Shape;

/// Halvings of a step at most.
const MAX_HALVINGS: u32 = 48;
/// Stretches on which bounds prove nothing are halved down to this part of the step before the cubic decides.
const SHORT_STRETCH: f64 = 1.0 / 16384.0;
/// Stretches of one search, at most.
const MAX_STRETCHES: usize = 20_000;
/// Intervals of the grid on which the polynomials of guards are evaluated.
const GRID_INTERVALS: usize = 32;
/// Steps of a root finder at most; bisection alone needs 60.
const MAX_ROOT_STEPS: usize = 200;

/// A gap at an instant of a step: θ, g, dg/dθ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GapPoint {
    pub theta: f64,
    pub gap: f64,
    pub rate: f64,
}

/// How a gap ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Touch {
    /// It goes through zero.
    Closes(f64),
    /// It touches zero and opens again.
    Grazes(f64),
}

impl Touch {
    pub fn theta(&self) -> f64 {
        match *self {
            Touch::Closes(theta) | Touch::Grazes(theta) => theta,
        }
    }
}

/// The search took more evaluations than it may: the gap stays within rounding of zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// The gap of one contact over a step, and what bounds prove about its stretches.
pub struct Search<'a> {
    pub eval: &'a mut dyn FnMut(f64) -> GapPoint,
    pub shape: &'a mut dyn FnMut(f64, f64) -> Shape,
    pub tolerance: GapTolerance,
    budget: usize,
    /// Where the gap fell last, if it may have come to zero and has not risen since.
    fell: Option<GapPoint>,
    /// Whether it has been away from zero, so that a fall is more than rounding.
    away: bool,
}

impl<'a> Search<'a> {
    pub fn new(
        eval: &'a mut dyn FnMut(f64) -> GapPoint,
        shape: &'a mut dyn FnMut(f64, f64) -> Shape,
        tolerance: GapTolerance,
    ) -> Self {
        Search { eval, shape, tolerance, budget: MAX_STRETCHES, fell: None, away: true }
    }

    /// The first touch in [a, b]. `leaving`: the gap is zero at a, and positive right after it. `fell`: it
    /// fell to where it is at a, if it does not rise there.
    pub fn first_touch(
        &mut self,
        a: GapPoint,
        b: GapPoint,
        leaving: bool,
        fell: bool,
    ) -> Result<Option<Touch>, TooLong> {
        self.away = !leaving;
        let near = a.gap.abs() <= self.tolerance.graze;
        self.fell = (!leaving && (a.rate < -self.tolerance.rate || (fell && near))).then_some(a);
        self.search(a, b, leaving, MAX_HALVINGS)
    }

    /// Whether the gap fell at the end of what was searched, and did not rise since.
    pub fn fell(&self) -> bool {
        self.fell.is_some()
    }

    /// The end of a stretch on which the gap stays clear of zero.
    fn clear(&mut self, b: GapPoint) -> Option<Touch> {
        self.away = true;
        self.fell = (b.rate < -self.tolerance.rate).then_some(b);
        None
    }

    /// The end of a stretch on which the gap does not go through zero: one that fell before and rises here
    /// may have grazed.
    fn passed(&mut self, b: GapPoint) -> Option<Touch> {
        self.away |= b.gap > self.tolerance.graze;
        if b.rate < -self.tolerance.rate && self.away {
            self.fell = Some(b);
        }
        if b.rate <= self.tolerance.rate {
            return None;
        }
        let low = minimum(self.eval, self.fell.take()?, b);
        (low.gap.abs() <= self.tolerance.graze).then_some(Touch::Grazes(low.theta))
    }

    fn search(
        &mut self,
        a: GapPoint,
        b: GapPoint,
        leaving: bool,
        depth: u32,
    ) -> Result<Option<Touch>, TooLong> {
        let tolerance = self.tolerance;
        if !leaving && a.gap <= 0.0 && a.rate < 0.0 {
            return Ok(Some(Touch::Closes(a.theta)));
        }
        self.budget = self.budget.checked_sub(1).ok_or(TooLong)?;
        let h = b.theta - a.theta;
        let through = !leaving && a.gap > 0.0 && b.gap < 0.0;
        match (self.shape)(a.theta, b.theta) {
            Shape::Clear if !leaving => return Ok(self.clear(b)),
            Shape::Positive if !leaving => return Ok(self.passed(b)),
            Shape::Zero => return Ok(self.passed(b)),
            Shape::Rises => return Ok(self.passed(b)),
            Shape::Falls if through => return Ok(Some(Touch::Closes(root(self.eval, a, b)))),
            Shape::Falls if !leaving => return Ok(self.passed(b)),
            Shape::Concave if through => return Ok(Some(Touch::Closes(root(self.eval, a, b)))),
            Shape::Concave if b.gap > 0.0 => return Ok(self.passed(b)),
            Shape::Convex if a.rate >= 0.0 => return Ok(self.passed(b)),
            Shape::Convex if !leaving && a.gap > 0.0 => return Ok(self.valley(a, b)),
            Shape::Any if h > SHORT_STRETCH => return self.halves(a, b, leaving, depth, None),
            _ => {}
        }
        let start = if leaving { 0.0 } else { a.gap };
        let c = [start, start + a.rate * h / 3.0, b.gap - b.rate * h / 3.0, b.gap];
        // Far away: the cubic would have to be off by more than all that it does on this stretch.
        let swing = c.iter().fold(f64::NEG_INFINITY, |m, x| m.max(*x))
            - c.iter().fold(f64::INFINITY, |m, x| m.min(*x));
        if !leaving && c.iter().all(|x| *x > 2.0 * swing + tolerance.graze) {
            return Ok(self.clear(b));
        }
        let mid = (self.eval)(a.theta + 0.5 * h);
        let value = 0.5 * (start + b.gap) + h * (a.rate - b.rate) / 8.0;
        let rate = 1.5 * (b.gap - start) / h - 0.25 * (a.rate + b.rate);
        // The cubic is off by at most a small multiple of what it is off in the middle.
        let off = 4.0 * (value - mid.gap).abs().max(0.2 * h * (rate - mid.rate).abs());
        if [start, mid.gap, b.gap].iter().all(|x| x.abs() <= tolerance.rounding) {
            return Ok(self.passed(mid).or_else(|| self.passed(b)));
        }
        let clear = if leaving {
            c[1] >= -tolerance.rounding && c[2] > off && c[3] > off
        } else {
            c.iter().all(|x| *x > off)
        };
        if clear {
            return Ok(if c.iter().all(|x| *x > off + tolerance.graze) {
                self.clear(b)
            } else {
                self.passed(b)
            });
        }
        let falls = a.rate < 0.0 && mid.rate < 0.0 && b.rate < 0.0;
        if through && falls {
            return Ok(Some(Touch::Closes(root(self.eval, a, b))));
        }
        let smooth = off <= 0.05 * h * (a.rate.abs() + b.rate.abs());
        if !leaving && a.gap > 0.0 && a.rate < 0.0 && b.rate > 0.0 && smooth {
            return Ok(self.valley(a, b));
        }
        if depth == 0 {
            let closes = (!leaving && b.gap < -tolerance.graze).then_some(Touch::Closes(b.theta));
            return Ok(closes.or_else(|| self.passed(b)));
        }
        self.halves(a, b, leaving, depth, Some(mid))
    }

    /// First the one half, then the other.
    fn halves(
        &mut self,
        a: GapPoint,
        b: GapPoint,
        leaving: bool,
        depth: u32,
        mid: Option<GapPoint>,
    ) -> Result<Option<Touch>, TooLong> {
        let mid = mid.unwrap_or_else(|| (self.eval)(0.5 * (a.theta + b.theta)));
        let depth = depth.saturating_sub(1);
        match self.search(a, mid, leaving, depth)? {
            None => self.search(mid, b, false, depth),
            found => Ok(found),
        }
    }

    /// A stretch with one minimum: the gap stays open, grazes or closes.
    fn valley(&mut self, a: GapPoint, b: GapPoint) -> Option<Touch> {
        let low = if b.rate > 0.0 { minimum(self.eval, a, b) } else { b };
        self.fell = (b.rate <= 0.0).then_some(b);
        if low.gap > self.tolerance.graze {
            None
        } else if low.gap >= -self.tolerance.graze {
            // The rest of a fall belongs to the next stretch.
            (b.rate > 0.0).then_some(Touch::Grazes(low.theta))
        } else {
            Some(Touch::Closes(root(self.eval, a, low)))
        }
    }
}

/// The zero between a (positive) and b (negative): Newton's method inside of a shrinking bracket.
fn root(eval: &mut dyn FnMut(f64) -> GapPoint, mut a: GapPoint, mut b: GapPoint) -> f64 {
    let mut x = a.theta + (b.theta - a.theta) * a.gap / (a.gap - b.gap);
    for _ in 0..MAX_ROOT_STEPS {
        if !(x > a.theta && x < b.theta) {
            x = 0.5 * (a.theta + b.theta);
        }
        if x <= a.theta || x >= b.theta {
            break;
        }
        let at = eval(x);
        let width = b.theta - a.theta;
        if at.gap > 0.0 {
            a = at;
        } else {
            b = at;
        }
        let next = x - at.gap / at.rate;
        if (next - x).abs() <= 2e-16 * x.abs() {
            return next.clamp(a.theta, b.theta);
        }
        // A Newton step that leaves more than half of the bracket is followed by a bisection.
        x = if b.theta - a.theta > 0.5 * width && !next.is_finite() { f64::NAN } else { next };
    }
    0.5 * (a.theta + b.theta)
}

/// The minimum between a (falling) and b (rising), by bisection and secants on the rate.
fn minimum(eval: &mut dyn FnMut(f64) -> GapPoint, mut a: GapPoint, mut b: GapPoint) -> GapPoint {
    let mut best = if a.gap < b.gap { a } else { b };
    for step in 0..MAX_ROOT_STEPS {
        let secant = a.theta + (b.theta - a.theta) * a.rate / (a.rate - b.rate);
        // Where a minimum is flat secants creep.
        let x = if step % 3 == 2 { 0.5 * (a.theta + b.theta) } else { secant };
        if !(x > a.theta && x < b.theta) {
            break;
        }
        let at = eval(x);
        if at.gap < best.gap {
            best = at;
        }
        // A gap that is negative is enough: where exactly it is lowest does not matter.
        if at.gap < -1e-9 * (a.gap.abs() + b.gap.abs()) || b.theta - a.theta < 1e-13 {
            break;
        }
        if at.rate < 0.0 {
            a = at;
        } else {
            b = at;
        }
    }
    best
}

/// How a guard ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// It is negative from the first instant.
    AtOnce,
    /// It is positive up to here.
    At(f64),
}

/// The end of a guard g ≥ 0 that is given by Legendre coefficients, polished by its true values. Values
/// within `noise` of zero are zero. Where the polynomial is not clear of zero by more than its last
/// coefficients, which estimate its error, the true value decides.
pub fn first_end<E>(
    coefficients: &[f64; POINTS],
    noise: f64,
    mut value: impl FnMut(f64) -> Result<f64, E>,
) -> Result<Option<End>, E> {
    let blur = noise + 4.0 * (coefficients[POINTS - 2].abs() + coefficients[POINTS - 1].abs());
    // Positive throughout where the constant part outweighs all others.
    let rest: f64 = coefficients[1..].iter().map(|c| c.abs()).sum();
    if coefficients[0] - rest > blur {
        return Ok(None);
    }
    let p = |theta: f64| polynomial(coefficients, theta);
    let start = value(0.0)?;
    if start < -noise {
        return Ok(Some(End::AtOnce));
    }
    let from_zero = start <= noise;
    let mut grid = vec![];
    if from_zero {
        grid.extend((6..=14).rev().map(|k| 0.5_f64.powi(k)));
    }
    grid.extend((1..=GRID_INTERVALS).map(|i| i as f64 / GRID_INTERVALS as f64));
    let mut positive = (!from_zero).then_some(0.0);
    let mut before = (0.0, start);
    for (k, &theta) in grid.iter().enumerate() {
        let rough = p(theta);
        let here = if rough > blur { rough } else { value(theta)? };
        if here < -noise {
            let Some(from) = positive else { return Ok(Some(End::AtOnce)) };
            if let Some(end) = polish(&mut value, from, theta, noise)? {
                return Ok(Some(End::At(end)));
            }
        }
        if here > noise {
            // A dip between the grid's points.
            if let (Some(from), Some(&next)) = (positive, grid.get(k + 1)) {
                let after = p(next);
                if here <= before.1 && here <= after {
                    let low = lowest(&p, before.0, next);
                    if p(low) < -noise
                        && let Some(end) = polish(&mut value, from, low, noise)?
                    {
                        return Ok(Some(End::At(end)));
                    }
                }
            }
            positive = Some(theta);
        }
        before = (theta, here);
    }
    Ok(None)
}

/// Golden section.
fn lowest(p: &impl Fn(f64) -> f64, mut a: f64, mut b: f64) -> f64 {
    let ratio = 0.5 * (5.0_f64.sqrt() - 1.0);
    for _ in 0..60 {
        let (x, y) = (b - ratio * (b - a), a + ratio * (b - a));
        if p(x) < p(y) {
            b = y;
        } else {
            a = x;
        }
    }
    0.5 * (a + b)
}

/// The zero of the true values in [a, b] by false position with halved ends (Illinois); `None` where the end
/// is not negative.
fn polish<E>(
    value: &mut impl FnMut(f64) -> Result<f64, E>,
    mut a: f64,
    mut b: f64,
    noise: f64,
) -> Result<Option<f64>, E> {
    let (mut fa, mut fb) = (value(a)?, value(b)?);
    if fb > -0.5 * noise {
        return Ok(None);
    }
    if fa <= 0.0 {
        return Ok(Some(a));
    }
    let mut side = 0;
    for _ in 0..MAX_ROOT_STEPS {
        let x = (a * fb - b * fa) / (fb - fa);
        let x = if x > a && x < b { x } else { 0.5 * (a + b) };
        if b - a <= 1e-15 * b.max(1e-3) || x <= a || x >= b {
            break;
        }
        let fx = value(x)?;
        if fx == 0.0 {
            return Ok(Some(x));
        }
        if fx > 0.0 {
            (a, fa) = (x, fx);
            if side == 1 {
                fb *= 0.5;
            }
            side = 1;
        } else {
            (b, fb) = (x, fx);
            if side == -1 {
                fa *= 0.5;
            }
            side = -1;
        }
    }
    Ok(Some(0.5 * (a + b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::gauss_collocation::GAUSS;

    fn touch(f: impl Fn(f64) -> f64, d: impl Fn(f64) -> f64, leaving: bool) -> Option<Touch> {
        let mut eval = |theta: f64| GapPoint { theta, gap: f(theta), rate: d(theta) };
        let (a, b) = (eval(0.0), eval(1.0));
        let mut shape = |_: f64, _: f64| Shape::Unknown;
        let tolerance = GapTolerance { graze: 1e-12, rounding: 0.0, rate: 0.0 };
        Search::new(&mut eval, &mut shape, tolerance).first_touch(a, b, leaving, false).unwrap()
    }

    /// A gap that noise keeps around zero: the search ends and reports that.
    #[test]
    fn a_search_without_end_ends() {
        let mut noise = crate::random::Random(1);
        let mut eval = |theta: f64| {
            let x = noise.unit();
            GapPoint { theta, gap: 1e-3 * x, rate: x - 0.5 }
        };
        let (a, b) = (eval(0.0), eval(1.0));
        let mut shape = |_: f64, _: f64| Shape::Unknown;
        let tolerance = GapTolerance { graze: 1e-12, rounding: 0.0, rate: 0.0 };
        assert_eq!(
            Search::new(&mut eval, &mut shape, tolerance).first_touch(a, b, false, false),
            Err(TooLong)
        );
    }

    #[test]
    fn a_gap_that_closes_and_opens_between_the_ends_is_found() {
        // Below zero on an interval of width 2e-4 only.
        let (c, w) = (0.3713, 1e-4);
        let found = touch(|x| (x - c) * (x - c) - w * w, |x| 2.0 * (x - c), false);
        assert!(matches!(found, Some(Touch::Closes(x)) if (x - (c - w)).abs() < 1e-13), "{found:?}");
        // Fast waves: six zeros, the first counts.
        let found = touch(|x| 0.5 + (40.0 * x).cos(), |x| -40.0 * (40.0 * x).sin(), false);
        let first = (2.0 * std::f64::consts::PI / 3.0) / 40.0;
        assert!(matches!(found, Some(Touch::Closes(x)) if (x - first).abs() < 1e-13), "{found:?}");
    }

    #[test]
    fn a_gap_that_touches_grazes() {
        let c = 0.6180;
        let found = touch(|x| 3.0 * (x - c) * (x - c), |x| 6.0 * (x - c), false);
        assert!(matches!(found, Some(Touch::Grazes(x)) if (x - c).abs() < 1e-6), "{found:?}");
        assert_eq!(touch(|x| 3.0 * (x - c) * (x - c) + 1e-9, |x| 6.0 * (x - c), false), None);
    }

    /// Minima without curvature graze too; a gap that only comes near, or goes on falling, does not.
    #[test]
    fn a_flat_minimum_grazes() {
        let c = 0.6180;
        for power in [4, 6, 10] {
            let (f, n) = (|x: f64| (x - c).powi(power), f64::from(power));
            let d = |x: f64| n * (x - c).powi(power - 1);
            let found = touch(f, d, false);
            assert!(matches!(found, Some(Touch::Grazes(x)) if (x - c).abs() < 1e-9), "{power}: {found:?}");
            assert_eq!(touch(|x| f(x) + 1e-9, d, false), None);
            // From its lowest point on.
            assert_eq!(touch(|x| f(x + c), |x| d(x + c), false), None);
        }
        assert_eq!(touch(|_| 5e-13, |_| 0.0, false), None);
        assert_eq!(touch(|x| 1e-3 * (-30.0 * x).exp(), |x| -3e-2 * (-30.0 * x).exp(), false), None);
    }

    #[test]
    fn leaving_is_not_closing() {
        // A jump of duration 1e-9 of the step.
        for end in [0.5, 1e-3, 1e-9] {
            let found = touch(|x| x * (end - x), |x| end - 2.0 * x, true);
            assert!(
                matches!(found, Some(Touch::Closes(x)) if (x / end - 1.0).abs() < 1e-12),
                "{end}: {found:?}"
            );
        }
        assert_eq!(touch(|x| x * x, |x| 2.0 * x, true), None);
        assert_eq!(touch(|x| x * x * x, |x| 3.0 * x * x, true), None);
    }

    /// A gap that grows with t³, with what rounding leaves of it: the search stays short.
    #[test]
    fn rounding_at_the_start_of_a_flight_is_no_touch() {
        let mut count = 0;
        let mut eval = |theta: f64| {
            count += 1;
            GapPoint { theta, gap: (1.0 + theta * theta * theta) - 1.0, rate: 3.0 * theta * theta - 1e-17 }
        };
        let (a, b) = (eval(0.0), eval(1.0));
        let tolerance = GapTolerance { graze: 1e-12, rounding: 4e-16, rate: 0.0 };
        let mut shape = |_: f64, _: f64| Shape::Unknown;
        assert_eq!(Search::new(&mut eval, &mut shape, tolerance).first_touch(a, b, true, false), Ok(None));
        assert!(count < 200, "{count}");
    }

    #[test]
    fn ends_of_guards() {
        let end = |f: &dyn Fn(f64) -> f64| {
            let values = std::array::from_fn(|i| f(GAUSS.points[i]));
            first_end(&GAUSS.coefficients(&values), 1e-12, |x| Ok::<f64, ()>(f(x))).unwrap()
        };
        assert_eq!(end(&|_| 1.0), None);
        assert_eq!(end(&|x| x), None);
        assert_eq!(end(&|x| -x), Some(End::AtOnce));
        assert_eq!(end(&|x| -x * x), Some(End::AtOnce));
        assert_eq!(end(&|_| 0.0), None);
        let near = |found: Option<End>, x: f64| matches!(found, Some(End::At(y)) if (x - y).abs() < 1e-13);
        assert!(near(end(&|x| 0.25 - x), 0.25));
        assert!(near(end(&|x| x * (0.3 - x)), 0.3));
        // A dip between the points of the grid.
        let c = 0.7031;
        assert!(near(end(&|x| (x - c) * (x - c) - 1e-6), c - 1e-3));
        // Far from a polynomial of degree 7: its value at the start is off by more than the slip is there.
        assert_eq!(end(&|x| (9.0 * x).sin() + 9.0 * x), None);
        assert!(near(end(&|x| (9.0 * x).sin()), std::f64::consts::PI / 9.0));
    }
}
