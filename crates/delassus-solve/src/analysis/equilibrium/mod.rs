//! Does it stand? Forces that balance a load at rest, and velocities that show that there are none.
//!
//! ```text
//! rest:       B f = F ,   f ∈ K                                        B = Jᵀ , n × m
//! collapse:   u = Bᵀv ∈ K* ,   −Fᵀv > Σ_b L_b |u_b|                    no f in K balances F
//! ```
//!
//! F ∈ Rⁿ is the load with the sign of M a + F = Jᵀf; K lets joints push and pull, bounds |f_b| ≤ L_b (dry
//! friction and motors of joints), and holds contacts to f_n ≥ 0 and |f_g| ≤ μ_g f_n for each group g of
//! frictional rows (tangents, rolling, spinning). K* has u = 0 at joints and u_n ≥ Σ_g μ_g |u_g| at contacts.
//!
//! The two exclude each other: Fᵀv = fᵀu ≥ −Σ_b L_b |u_b| for every f in K and u in K*.
//!
//! Numbers are known within bounds ([`Balance::rounding`]), and both proofs hold for all data within these.
//!
//! **Existence.** Let f be near a balance, r = F − B f. Where the rows of B are independent, B x = F has a
//! solution with ‖x − f‖ ≤ ‖r‖/σ_min(B): x = f + Bᵀ(BBᵀ)⁻¹r. If f is farther than that from the boundary of
//! K, x is in K. Forces that are exactly zero stay zero: their columns take no part, so that contacts which
//! cannot carry anything do no harm, and neither do coordinates that no column moves and nothing loads.
//!
//! **Collapse.** A velocity v with G v near zero, G the rows of joints, is within ‖G v‖/σ_min(G) of one with
//! G v = 0, by the same lemma. If it is in K* and has power by more than that, loads cannot be balanced.
//! Coordinates that are exactly zero stay so where no joint moves them: contacts between them do not move.
//!
//! **Least singular values.** A Cholesky factorization of A − s I in floating point that runs to its end
//! proves λ_min(A) ≥ s − e with a bound e of all its rounding (Rump, Verification of positive definiteness,
//! 2006); the file of that bound has the proof.
//!
//! What finds forces and velocities (cone programs, `clarabel`) shares no line with what checks them; a
//! verdict comes from the check alone.

mod certificate;
mod program;
mod regular;

pub use certificate::{is_collapse, is_rest, joint_factor, rest_factor};
pub use program::{RestSearch, find_collapse, find_rest, largest_factor};
pub use regular::{GramFactor, definite_factor, gram_factor};

use std::borrow::Cow;

use crate::linalg::{Fraction, Interval, Sparse};
use crate::problem::Law;

/// What may push where.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Support {
    /// One row, any force.
    Joint,
    /// One row, a force of at most this size.
    Bounded(f64),
    /// As many rows as the law has. Of the law counts which forces it allows: [`Law::Unilateral`],
    /// [`Law::CoulombPlane`], [`Law::Coulomb`], [`Law::Rolling`] or [`Law::Spinning`].
    Contact(Law),
}

impl Support {
    /// Number of rows.
    pub fn dim(&self) -> usize {
        match self {
            Support::Joint | Support::Bounded(_) => 1,
            Support::Contact(law) => law.dim(),
        }
    }

    /// Coefficient and rows of each group of frictional rows, counted from the normal.
    fn groups(&self) -> impl Iterator<Item = (f64, std::ops::Range<usize>)> + use<> {
        let (count, coefficients) = match self {
            Support::Contact(law) => (law.dim(), law.coefficients()),
            _ => (1, [0.0; 3]),
        };
        let ranges = [1..count.min(3), 3..count.min(5), 5..count.min(6)];
        coefficients.into_iter().zip(ranges).filter(|(_, range)| !range.is_empty())
    }

    /// The same with all coefficients of friction times a factor.
    fn with_friction(self, factor: f64) -> Self {
        match self {
            Support::Contact(Law::Rolling { mu, rolling }) => {
                Support::Contact(Law::Rolling { mu: factor * mu, rolling: factor * rolling })
            }
            Support::Contact(Law::Spinning { mu, rolling, spinning }) => Support::Contact(Law::Spinning {
                mu: factor * mu,
                rolling: factor * rolling,
                spinning: factor * spinning,
            }),
            Support::Contact(law) => Support::Contact(law.with_mu(factor * law.mu())),
            other => other,
        }
    }

    /// The same with no coefficient of friction above a limit.
    fn limited(self, most: f64) -> Self {
        match self {
            Support::Contact(Law::Rolling { mu, rolling }) => {
                Support::Contact(Law::Rolling { mu: mu.min(most), rolling: rolling.min(most) })
            }
            Support::Contact(Law::Spinning { mu, rolling, spinning }) => Support::Contact(Law::Spinning {
                mu: mu.min(most),
                rolling: rolling.min(most),
                spinning: spinning.min(most),
            }),
            Support::Contact(law) => Support::Contact(law.with_mu(law.mu().min(most))),
            other => other,
        }
    }
}

/// The question whether supports can balance a load.
#[derive(Clone, Debug)]
pub struct Balance {
    /// J, the rows of all supports one after the other; what is zero for sure is not stored.
    pub rows: Sparse,
    /// F.
    pub load: Vec<f64>,
    /// How far each entry of F may be off beside its rounding.
    pub load_error: Vec<f64>,
    /// Who owns the rows.
    pub supports: Vec<Support>,
    /// Numbers are known to this part of the largest of their row; short binary fractions are exact.
    pub rounding: f64,
}

impl Balance {
    /// The first row of each support, and the number of all.
    pub fn offsets(&self) -> Vec<usize> {
        let mut offsets = vec![0];
        for support in &self.supports {
            offsets.push(offsets[offsets.len() - 1] + support.dim());
        }
        offsets
    }

    /// The same with all coefficients of friction times a factor.
    pub fn with_friction(&self, factor: f64) -> Self {
        let supports = self.supports.iter().map(|s| s.with_friction(factor)).collect();
        Balance { supports, ..self.clone() }
    }

    /// The same with no coefficient of friction above a limit.
    fn limited(&self, most: f64) -> Cow<'_, Self> {
        if self.supports.iter().flat_map(Support::groups).all(|(mu, _)| mu <= most) {
            return Cow::Borrowed(self);
        }
        let supports = self.supports.iter().map(|s| s.limited(most)).collect();
        Cow::Owned(Balance { supports, ..self.clone() })
    }

    /// The same with another load.
    pub fn with_load(&self, load: Vec<f64>, load_error: Vec<f64>) -> Self {
        Balance { load, load_error, ..self.clone() }
    }

    /// Whether the parts fit together and all numbers are finite.
    pub fn is_valid(&self) -> bool {
        let n = self.load.len();
        self.rows.cols() == n
            && self.load_error.len() == n
            && self.offsets().last() == Some(&self.rows.rows())
            && self.rows.is_finite()
            && self.load.iter().chain(&self.load_error).all(|x| x.is_finite())
            && self.supports.iter().all(|s| match s {
                Support::Joint => true,
                Support::Bounded(most) => most.is_finite() && *most >= 0.0,
                Support::Contact(law) => law.coefficients().iter().all(|c| c.is_finite() && *c >= 0.0),
            })
    }

    /// The number that a double stands for, one of a row whose largest has this size.
    pub fn bounds(&self, x: f64, size: f64) -> Interval {
        if Fraction::of_short(x).is_defined() {
            return Interval::point(x);
        }
        let radius = self.rounding * size.max(x.abs());
        Interval::new((x - radius).next_down(), (x + radius).next_up())
    }

    /// Row i of J within its bounds.
    pub fn row_bounds(&self, i: usize) -> impl Iterator<Item = (usize, Interval)> + '_ {
        let (columns, values) = self.rows.row(i);
        let size = crate::linalg::max_abs(values);
        columns.iter().zip(values).map(move |(&j, &x)| (j, self.bounds(x, size)))
    }

    /// F within its bounds.
    pub fn load_bounds(&self) -> Vec<Interval> {
        let size = crate::linalg::max_abs(&self.load);
        let widened = |(x, error): (&f64, &f64)| {
            let known = self.bounds(*x, size);
            if *error == 0.0 {
                return known;
            }
            Interval::new((known.lo - error).next_down(), (known.hi + error).next_up())
        };
        self.load.iter().zip(&self.load_error).map(widened).collect()
    }
}

#[cfg(test)]
mod tests;
