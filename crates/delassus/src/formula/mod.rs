//! Formulas: how energies, gaps, slips and forces are given.
//!
//! ```text
//! f(q, q̇, t) ∈ ℝ ,   q, q̇ ∈ ℝⁿ
//! ```
//!
//! A [`Formula`] can be evaluated over any [`Number`]; a parsed [`Expression`], a constant and a user's own
//! Rust type all are formulas. [`AnyFormula`] holds one of any kind.
//!
//! | written as | value and derivatives | intervals, power series |
//! |---|---|---|
//! | text: [`Expression`] | yes | yes |
//! | Rust: [`formula!`](crate::formula!), or a type with [`Formula`] | yes | yes |
//! | a closure: [`AnyFormula::derivatives_only`] | yes | no |
//!
//! Intervals prove that no event is missed and that a parameter is safe; power series decide contacts whose
//! acceleration vanishes (002 Theorem 5.4). A closure is written for one number type and gives neither.
//! Whoever needs them reports which formulas have none: `Trajectory::without_intervals`,
//! `Safe::without_intervals` and `DerivativesError::NoSeries`.

mod expression;
mod fraction;
mod hyper_dual;
mod interval;
mod number;
mod parse;
mod suggest;
mod taylor;
mod taylor_dual;

pub use expression::{
    Dimension, Expression, ExpressionError, ExpressionErrorKind, MAX_DEPTH, MAX_LENGTH, MAX_OPERATIONS,
    NameError, Symbols, with_suggestion,
};
pub use fraction::FractionDual;
pub use hyper_dual::{HyperDual, IntervalDual, Scalar};
pub use interval::Interval;
pub use number::{Constant, Number};
pub use parse::{constant, unit_dimension};
pub use suggest::{clip, nearest};

pub(crate) use taylor::{COEFFICIENTS, Series};
pub(crate) use taylor_dual::DualSeries;

use std::fmt;
use std::sync::Arc;

use delassus_solve::linalg::Matrix;

/// The point at which a formula is evaluated: q and q̇ of n numbers each, and t.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a, N> {
    /// Positions q.
    pub q: &'a [N],
    /// Velocities q̇.
    pub v: &'a [N],
    /// Time.
    pub t: N,
}

/// The variables that occur in a formula, ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    /// Places of the positions.
    pub positions: Vec<usize>,
    /// Places of the velocities.
    pub velocities: Vec<usize>,
    /// Whether time occurs.
    pub time: bool,
}

/// One step of a formula in postfix order: a number is put on a stack, or an operation takes its operands
/// from there and puts its result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// A number.
    Constant(Constant),
    /// A position.
    Position(usize),
    /// A velocity.
    Velocity(usize),
    /// Time.
    Time,
    /// `+ - * / ^` or the name of a function.
    Operation(&'static str),
}

/// A displacement or velocity with its derivatives, D = q̇·∂/∂q + ∂/∂t the rate at q̈ = 0.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosedRow {
    /// h of a displacement, u of a velocity.
    pub value: f64,
    /// ∂h/∂q of a displacement, ∂u/∂q̇ of a velocity, which is linear in q̇; n.
    pub gradient: Vec<f64>,
    /// D h of a displacement, u of a velocity.
    pub velocity: f64,
    /// D² h of a displacement, D u of a velocity.
    pub bias: f64,
}

/// A function of positions, velocities and time, written for every number type at once.
pub trait Formula: Send + Sync {
    /// The value at this point.
    fn eval<N: Number>(&self, at: &Point<'_, N>) -> N;

    /// The variables that it depends on; `None` where that is not known. Derivatives by others are not
    /// evaluated.
    fn variables(&self) -> Option<Variables> {
        None
    }

    /// Whether it is a polynomial of low degree, or a ratio of such whose denominator is held away from zero,
    /// so that it has no feature that is finer than the motion of its variables. Where that is not known,
    /// steps look for features.
    fn is_plain(&self) -> bool {
        false
    }

    /// The formula as steps in postfix order, where it is written as such.
    fn steps(&self) -> Option<Vec<Step>> {
        None
    }

    /// Derivatives in closed form, where that is known; else they come from numbers with derivatives. Either
    /// as those of a displacement, which has no velocities in it, or as those of a velocity.
    fn row(&self, _at: &Point<'_, f64>) -> Option<ClosedRow> {
        None
    }

    /// For a kinetic energy T, the mass matrix ∂²T/∂q̇∂q̇ and D(∂T/∂q̇) − ∂T/∂q in closed form, where they
    /// are known.
    fn kinetic_terms(&self, _at: &Point<'_, f64>) -> Option<(Matrix, Vec<f64>)> {
        None
    }
}

impl Formula for f64 {
    fn eval<N: Number>(&self, _: &Point<'_, N>) -> N {
        N::from_f64(*self)
    }

    fn is_plain(&self) -> bool {
        true
    }

    fn variables(&self) -> Option<Variables> {
        Some(Variables::default())
    }

    fn steps(&self) -> Option<Vec<Step>> {
        Some(vec![Step::Constant(Constant::double(*self))])
    }
}

/// What a held formula must be able to do; `Formula` itself has a generic method and cannot be boxed.
trait Erased: Send + Sync {
    fn value(&self, at: &Point<'_, f64>) -> f64;
    fn hyper(&self, at: &Point<'_, HyperDual>) -> HyperDual;
    fn range(&self, at: &Point<'_, Interval>) -> Interval;
    fn interval(&self, at: &Point<'_, IntervalDual>) -> IntervalDual;
    fn series(&self, at: &Point<'_, DualSeries>) -> DualSeries;
    fn exact(&self, at: &Point<'_, FractionDual>) -> FractionDual;
    fn steps(&self) -> Option<Vec<Step>>;
    fn closed_row(&self, at: &Point<'_, f64>) -> Option<ClosedRow>;
    fn closed_kinetic_terms(&self, at: &Point<'_, f64>) -> Option<(Matrix, Vec<f64>)>;
}

impl<F: Formula> Erased for F {
    fn value(&self, at: &Point<'_, f64>) -> f64 {
        self.eval(at)
    }
    fn hyper(&self, at: &Point<'_, HyperDual>) -> HyperDual {
        self.eval(at)
    }
    fn range(&self, at: &Point<'_, Interval>) -> Interval {
        self.eval(at)
    }
    fn interval(&self, at: &Point<'_, IntervalDual>) -> IntervalDual {
        self.eval(at)
    }
    fn series(&self, at: &Point<'_, DualSeries>) -> DualSeries {
        self.eval(at)
    }
    fn exact(&self, at: &Point<'_, FractionDual>) -> FractionDual {
        self.eval(at)
    }
    fn steps(&self) -> Option<Vec<Step>> {
        Formula::steps(self)
    }
    fn closed_row(&self, at: &Point<'_, f64>) -> Option<ClosedRow> {
        self.row(at)
    }
    fn closed_kinetic_terms(&self, at: &Point<'_, f64>) -> Option<(Matrix, Vec<f64>)> {
        self.kinetic_terms(at)
    }
}

/// A closure that is written for one number type only; it is not a `Formula`, so it is erased by hand.
struct Closure<F>(F);

impl<F: Fn(&Point<'_, HyperDual>) -> HyperDual + Send + Sync> Erased for Closure<F> {
    fn value(&self, at: &Point<'_, f64>) -> f64 {
        let q: Vec<HyperDual> = at.q.iter().map(|&x| HyperDual::constant(x)).collect();
        let v: Vec<HyperDual> = at.v.iter().map(|&x| HyperDual::constant(x)).collect();
        (self.0)(&Point { q: &q, v: &v, t: HyperDual::constant(at.t) }).value
    }
    fn hyper(&self, at: &Point<'_, HyperDual>) -> HyperDual {
        (self.0)(at)
    }
    fn range(&self, _: &Point<'_, Interval>) -> Interval {
        Interval::UNDEFINED
    }
    fn interval(&self, _: &Point<'_, IntervalDual>) -> IntervalDual {
        IntervalDual::UNDEFINED
    }
    fn series(&self, _: &Point<'_, DualSeries>) -> DualSeries {
        DualSeries::UNDEFINED
    }
    fn exact(&self, _: &Point<'_, FractionDual>) -> FractionDual {
        FractionDual::UNDEFINED
    }
    fn steps(&self) -> Option<Vec<Step>> {
        None
    }
    fn closed_row(&self, _: &Point<'_, f64>) -> Option<ClosedRow> {
        None
    }
    fn closed_kinetic_terms(&self, _: &Point<'_, f64>) -> Option<(Matrix, Vec<f64>)> {
        None
    }
}

/// A formula of any kind, shared on clone.
#[derive(Clone)]
pub struct AnyFormula {
    formula: Arc<dyn Erased>,
    variables: Option<Arc<Variables>>,
    plain: bool,
    derivatives_only: bool,
}

/// A formula written in Rust that has all a text has: value, derivatives, intervals and power series.
///
/// The body is compiled for every [`Number`](crate::formula::Number), so that constants stand to the right of
/// a quantity: `at.q[0] * 2.0`. Numbers from outside are named in brackets and are `f64`.
///
/// ```
/// use delassus::formula;
/// use delassus::formula::Point;
///
/// let l = 0.5;
/// let gap = formula!([l] |at| at.q[1] - at.q[2].sin() * l);
/// assert!(gap.supports_intervals());
/// assert_eq!(gap.value(&Point { q: &[0.0, 2.0, 0.0], v: &[0.0; 3], t: 0.0 }), 2.0);
/// ```
#[macro_export]
macro_rules! formula {
    (|$at:ident| $value:expr) => {
        $crate::formula!([] |$at| $value)
    };
    ([$($constant:ident),*] |$at:ident| $value:expr) => {{
        struct Given {
            $($constant: f64),*
        }
        impl $crate::formula::Formula for Given {
            fn eval<N: $crate::formula::Number>(&self, $at: &$crate::formula::Point<'_, N>) -> N {
                let Given { $($constant),* } = *self;
                $value
            }
        }
        $crate::formula::AnyFormula::new(Given { $($constant),* })
    }};
}

impl AnyFormula {
    /// Holds a formula.
    pub fn new(formula: impl Formula + 'static) -> Self {
        let variables = formula.variables().map(Arc::new);
        let plain = formula.is_plain();
        AnyFormula { formula: Arc::new(formula), variables, plain, derivatives_only: false }
    }

    /// Holds a closure, e.g. `|at| at.q[1] - 0.5 * at.q[2].sin()`. A closure is written for one number type:
    /// it has a value and derivatives, but no intervals and no power series. Analysis at a state needs none;
    /// event-driven integration then finds events by sampling and reports that, certified intervals are
    /// sampled and reported as such, and derivatives of contacts beyond the second are refused.
    /// [`formula!`](crate::formula!) has them all.
    pub fn derivatives_only<F>(f: F) -> Self
    where
        F: Fn(&Point<'_, HyperDual>) -> HyperDual + Send + Sync + 'static,
    {
        AnyFormula { formula: Arc::new(Closure(f)), variables: None, plain: false, derivatives_only: true }
    }

    /// Whether [`AnyFormula::range`] and [`AnyFormula::interval`] are more than undefined: for all but
    /// closures.
    pub fn supports_intervals(&self) -> bool {
        !self.derivatives_only
    }

    /// Whether [`AnyFormula::series`] is more than undefined: for all but closures.
    pub fn supports_series(&self) -> bool {
        !self.derivatives_only
    }

    /// The variables that it depends on; `None` where that is not known.
    pub fn variables(&self) -> Option<&Variables> {
        self.variables.as_deref()
    }

    /// The plain value.
    pub fn value(&self, at: &Point<'_, f64>) -> f64 {
        self.formula.value(at)
    }

    /// The value with first and mixed second derivatives.
    pub fn hyper(&self, at: &Point<'_, HyperDual>) -> HyperDual {
        self.formula.hyper(at)
    }

    /// Bounds of the value on a box; undefined for a closure, which is written for numbers only.
    pub fn range(&self, at: &Point<'_, Interval>) -> Interval {
        self.formula.range(at)
    }

    /// Bounds of the value and of first and mixed second derivatives on a box; undefined for a closure, which
    /// is written for numbers only.
    pub fn interval(&self, at: &Point<'_, IntervalDual>) -> IntervalDual {
        self.formula.interval(at)
    }

    /// The value along a motion, a power series in time, and that of its derivative in one direction;
    /// undefined for a closure, which is written for numbers only.
    pub fn series(&self, at: &Point<'_, DualSeries>) -> DualSeries {
        self.formula.series(at)
    }

    /// The value with first and mixed second derivatives in fractions, as the formula was written; undefined
    /// where they are not rational, and for a closure.
    pub fn exact(&self, at: &Point<'_, FractionDual>) -> FractionDual {
        self.formula.exact(at)
    }

    /// Whether it is known to have no feature that is finer than the motion of its variables.
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// The formula as steps in postfix order, where it is written as such.
    pub fn steps(&self) -> Option<Vec<Step>> {
        self.formula.steps()
    }

    /// Derivatives in closed form, where the formula has them.
    pub fn row(&self, at: &Point<'_, f64>) -> Option<ClosedRow> {
        self.formula.closed_row(at)
    }

    /// Mass matrix and bias of a kinetic energy in closed form, where the formula has them.
    pub fn kinetic_terms(&self, at: &Point<'_, f64>) -> Option<(Matrix, Vec<f64>)> {
        self.formula.closed_kinetic_terms(at)
    }
}

impl<F: Formula + 'static> From<F> for AnyFormula {
    fn from(formula: F) -> Self {
        AnyFormula::new(formula)
    }
}

impl fmt::Debug for AnyFormula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnyFormula")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_in_rust_has_intervals_and_series_and_a_closure_has_none() {
        let (a, b) = (3.0, -2.0);
        let whole = formula!([a, b] | at | at.q[0] * at.q[0] * a + at.v[0] * at.t + b);
        let closure = AnyFormula::derivatives_only(move |at| a * at.q[0] * at.q[0] + at.v[0] * at.t + b);
        let at = Point { q: &[2.0], v: &[5.0], t: 0.5 };
        assert_eq!(whole.value(&at), 12.5);
        assert_eq!(closure.value(&at), 12.5);
        let around = Interval::new(1.0, 2.0);
        let on = Point { q: &[around], v: &[Interval::point(5.0)], t: Interval::point(0.5) };
        let range = whole.range(&on);
        // 3 q² + 2.5 − 2 on [1, 2], outward by no more than rounding.
        assert!(range.lo <= 3.5 && range.hi >= 12.5 && range.lo > 3.5 - 1e-13 && range.hi < 12.5 + 1e-13);
        assert!(closure.range(&on).is_undefined());
        let q = DualSeries::fixed(Series::time(1.0));
        let along = Point { q: &[q], v: &[DualSeries::fixed(Series::constant(1.0))], t: q };
        // t = 1 + s: 3 (1 + s)² + (1 + s) − 2 = 2 + 7 s + 3 s².
        assert_eq!(whole.series(&along).value.0[..4], [2.0, 7.0, 3.0, 0.0]);
        assert!(closure.series(&along).value.0[0].is_nan());
        assert!(whole.supports_intervals() && whole.supports_series());
        assert!(!closure.supports_intervals() && !closure.supports_series());
        let constant = formula!(|at| at.t);
        assert_eq!(constant.value(&at), 0.5);
    }
}
