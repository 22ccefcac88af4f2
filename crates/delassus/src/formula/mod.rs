//! Formulas f(q, q̇, t), the one door through which energies, gaps, slips and forces enter.
//!
//! A [`Formula`] can be evaluated over any [`Number`]; a parsed [`Expression`](crate::formula::expression::Expression),
//! a constant and a user's own Rust type all are formulas. [`AnyFormula`] holds one of any kind, also a closure
//! over [`HyperDual`] where a generic function would be more than is needed.

mod expression;
mod hyper_dual;
mod interval;
mod number;
mod parse;
mod suggest;
mod taylor;
mod taylor_dual;

pub use expression::{
    Expression, ExpressionError, ExpressionErrorKind, MAX_DEPTH, MAX_LENGTH, MAX_OPERATIONS, NameError,
    Symbols, constant, with_suggestion,
};
pub use hyper_dual::{HyperDual, IntervalDual, Scalar};
pub use interval::{Interval, LIBRARY};
pub use number::Number;
pub use suggest::{clip, nearest};
pub use taylor::{COEFFICIENTS, Series};
pub use taylor_dual::DualSeries;

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

    /// The variables that it depends on; `None` where that is not known. Derivatives by others are not evaluated.
    fn variables(&self) -> Option<Variables> {
        None
    }

    /// Whether it is a polynomial of low degree, or a ratio of such whose denominator is held away from zero, so that it has no
    /// feature that is finer than the motion of its variables. Where that is not known, steps look for features.
    fn is_plain(&self) -> bool {
        false
    }

    /// Derivatives in closed form, where that is known; else they come from numbers with derivatives. Either as those of a
    /// displacement, which has no velocities in it, or as those of a velocity.
    fn row(&self, _at: &Point<'_, f64>) -> Option<ClosedRow> {
        None
    }

    /// For a kinetic energy T, the mass matrix ∂²T/∂q̇∂q̇ and D(∂T/∂q̇) − ∂T/∂q in closed form, where they are known.
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
}

/// What a held formula must be able to do; `Formula` itself has a generic method and cannot be boxed.
trait Erased: Send + Sync {
    fn value(&self, at: &Point<'_, f64>) -> f64;
    fn hyper(&self, at: &Point<'_, HyperDual>) -> HyperDual;
    fn range(&self, at: &Point<'_, Interval>) -> Interval;
    fn interval(&self, at: &Point<'_, IntervalDual>) -> IntervalDual;
    fn series(&self, at: &Point<'_, DualSeries>) -> DualSeries;
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
}

impl AnyFormula {
    /// Holds a formula.
    pub fn new(formula: impl Formula + 'static) -> Self {
        let variables = formula.variables().map(Arc::new);
        let plain = formula.is_plain();
        AnyFormula { formula: Arc::new(formula), variables, plain }
    }

    /// Holds a closure, e.g. `|at| at.q[1] - 0.5 * at.q[2].sin()`.
    pub fn closure<F>(f: F) -> Self
    where
        F: Fn(&Point<'_, HyperDual>) -> HyperDual + Send + Sync + 'static,
    {
        AnyFormula { formula: Arc::new(Closure(f)), variables: None, plain: false }
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

    /// Bounds of the value and of first and mixed second derivatives on a box; undefined for a closure, which is
    /// written for numbers only.
    pub fn interval(&self, at: &Point<'_, IntervalDual>) -> IntervalDual {
        self.formula.interval(at)
    }

    /// The value along a motion, a power series in time, and that of its derivative in one direction; undefined for a
    /// closure, which is written for numbers only.
    pub fn series(&self, at: &Point<'_, DualSeries>) -> DualSeries {
        self.formula.series(at)
    }

    /// Whether it is known to have no feature that is finer than the motion of its variables.
    pub fn is_plain(&self) -> bool {
        self.plain
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
