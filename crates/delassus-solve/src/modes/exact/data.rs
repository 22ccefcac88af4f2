//! The equations of a contact problem in whole numbers, from doubles or from fractions.
//!
//! ```text
//! M a − Jᵀ f = −F ,   −J a + u = γ          each row times a positive number
//! ```
//!
//! M is n × n, J is m × n. Every double is a rational number. Where the numbers of a problem are known as
//! they were written ([`ExactDynamics`]), 0.1 is a tenth and no double near it.

use super::generators::{Cone, Friction, cones};
use crate::linalg::{Fraction, Int, Interval, Matrix, integers, rational, whole};
use crate::problem::{Dynamics, Law};
use num_rational::BigRational;
use std::ops::Neg;

/// A contact problem in the numbers that were written, M a + F = Jᵀ f, u = J a + γ, (f, u) in the laws, or in
/// intervals that hold these numbers. All of them are defined.
#[derive(Clone, Debug)]
pub struct ExactDynamics<X = Fraction> {
    /// M, row by row.
    pub mass: Vec<Vec<X>>,
    /// F.
    pub force: Vec<X>,
    /// J, row by row.
    pub jacobian: Vec<Vec<X>>,
    /// γ.
    pub bias: Vec<X>,
    /// The laws; their own numbers are not read.
    pub laws: Vec<Law>,
    /// μ of each law.
    pub mu: Vec<X>,
    /// The direction of slip of each law that slides; empty for others.
    pub slip: Vec<Vec<X>>,
}

impl ExactDynamics {
    /// Intervals that hold the numbers.
    pub fn bounds(&self) -> ExactDynamics<Interval> {
        let all = |x: &[Fraction]| -> Vec<Interval> { x.iter().map(|x| Interval::from(*x)).collect() };
        let rows = |x: &[Vec<Fraction>]| x.iter().map(|row| all(row)).collect();
        ExactDynamics {
            mass: rows(&self.mass),
            force: all(&self.force),
            jacobian: rows(&self.jacobian),
            bias: all(&self.bias),
            laws: self.laws.clone(),
            mu: all(&self.mu),
            slip: rows(&self.slip),
        }
    }
}

impl ExactDynamics<Interval> {
    /// Whether the bounds leave no numbers but the doubles of a problem.
    pub fn is_exactly(&self, d: &Dynamics) -> bool {
        let is = |b: &Interval, x: f64| b.lo == x && b.hi == x;
        let rows = |all: &[Vec<Interval>], m: &Matrix| {
            all.iter().enumerate().all(|(i, row)| row.iter().zip(m.row(i)).all(|(b, x)| is(b, *x)))
        };
        let slips = |(b, law): (&Vec<Interval>, &Law)| match law {
            Law::Sliding { slip, .. } | Law::BilateralSliding { slip, .. } => {
                b.iter().zip(slip.components()).all(|(b, x)| is(b, *x))
            }
            _ => true,
        };
        rows(&self.mass, &d.mass)
            && rows(&self.jacobian, &d.jacobian)
            && self.force.iter().zip(&d.force).chain(self.bias.iter().zip(&d.bias)).all(|(b, x)| is(b, *x))
            && self.mu.iter().zip(&d.laws).all(|(b, law)| is(b, law.mu()))
            && self.slip.iter().zip(&d.laws).all(slips)
    }
}

/// The equations in whole numbers, and the cones.
pub(super) struct Equations {
    /// [M | −Jᵀ | 0 | −F] and [−J | 0 | I | γ].
    pub(super) rows: Vec<Vec<Int>>,
    /// J times a positive number.
    pub(super) jacobian: Vec<Vec<Int>>,
    pub(super) cones: Vec<Vec<Cone>>,
    pub(super) coordinates: usize,
}

impl Equations {
    /// `None` where a law is not polyhedral or a number is not finite.
    pub(super) fn of_doubles(d: &Dynamics) -> Option<Self> {
        let friction = |law: &Law| {
            let slip = match law {
                Law::Sliding { slip, .. } | Law::BilateralSliding { slip, .. } => slip.components(),
                _ => &[],
            };
            let slip = slip.iter().map(|x| rational(*x)).collect::<Option<_>>()?;
            Some(Friction { mu: rational(law.mu())?, slip })
        };
        let cones = d.laws.iter().map(|law| cones(law, &friction(law)?)).collect::<Option<_>>()?;
        let parts = Parts {
            sizes: (d.mass.rows(), d.jacobian.rows()),
            units: [0.0, 1.0],
            mass: |i, j| d.mass[(i, j)],
            force: |i| d.force[i],
            jacobian: |k, j| d.jacobian[(k, j)],
            bias: |k| d.bias[k],
        };
        parts.equations(|row| Some(integers(row.into_iter())?.0), cones)
    }

    /// `None` where a law is not polyhedral or a number is undefined.
    pub(super) fn of_fractions(d: &ExactDynamics) -> Option<Self> {
        let friction = |k: usize| {
            let slip = d.slip[k].iter().map(|x| x.to_big()).collect::<Option<_>>()?;
            Some(Friction { mu: d.mu[k].to_big()?, slip })
        };
        let cones =
            d.laws.iter().enumerate().map(|(k, law)| cones(law, &friction(k)?)).collect::<Option<_>>()?;
        let parts = Parts {
            sizes: (d.mass.len(), d.jacobian.len()),
            units: [Fraction::ZERO, Fraction::ONE],
            mass: |i: usize, j: usize| d.mass[i][j],
            force: |i: usize| d.force[i],
            jacobian: |k: usize, j: usize| d.jacobian[k][j],
            bias: |k: usize| d.bias[k],
        };
        parts.equations(whole_fractions, cones)
    }
}

/// Fractions times their least common denominator; `None` where one is undefined.
fn whole_fractions(row: Vec<Fraction>) -> Option<Vec<Int>> {
    let row = row.into_iter().map(Fraction::to_big).collect::<Option<Vec<BigRational>>>()?;
    Some(whole(&row))
}

/// The entries of a problem in numbers of any type.
struct Parts<X, M, F, J, B> {
    sizes: (usize, usize),
    /// 0 and 1.
    units: [X; 2],
    mass: M,
    force: F,
    jacobian: J,
    bias: B,
}

impl<X, M, F, J, B> Parts<X, M, F, J, B>
where
    X: Copy + Neg<Output = X>,
    M: Fn(usize, usize) -> X,
    F: Fn(usize) -> X,
    J: Fn(usize, usize) -> X,
    B: Fn(usize) -> X,
{
    fn equations(
        &self,
        whole: impl Fn(Vec<X>) -> Option<Vec<Int>>,
        cones: Vec<Vec<Cone>>,
    ) -> Option<Equations> {
        let ((n, m), [zero, one]) = (self.sizes, self.units);
        let mut rows = Vec::with_capacity(n + m);
        for i in 0..n {
            let a = (0..n).map(|j| (self.mass)(i, j));
            let f = (0..m).map(|k| -(self.jacobian)(k, i));
            rows.push(whole(a.chain(f).chain((0..m).map(|_| zero)).chain([-(self.force)(i)]).collect())?);
        }
        for k in 0..m {
            let a = (0..n).map(|j| -(self.jacobian)(k, j));
            let u = (0..m).map(|l| if l == k { one } else { zero });
            rows.push(whole(a.chain((0..m).map(|_| zero)).chain(u).chain([(self.bias)(k)]).collect())?);
        }
        let all = whole(
            (0..m).flat_map(|k| (0..n).map(move |j| (k, j))).map(|(k, j)| (self.jacobian)(k, j)).collect(),
        )?;
        let jacobian = (0..m).map(|k| all[k * n..(k + 1) * n].to_vec()).collect();
        Some(Equations { rows, jacobian, cones, coordinates: n })
    }
}
