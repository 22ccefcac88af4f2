//! Systems whose parameters are not all fixed: a family of systems and states, one for each value of the free
//! parameters.
//!
//! ```text
//! p free  ─▶  variables x₁(p), x₂(p, x₁), …  ─▶  t(x), q(x), v(x)  ─▶  formulas f(q, v, t; x)
//! ```
//!
//! Variables are the free parameters and those that depend on them, in the order of the file. Formulas of the
//! system find them behind the coordinates, at `Point::q[n..]`.

use super::System;
use crate::formula::{Expression, Formula, Number, Point};

/// A parameter that is free, or depends on one that is.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Whether it is free.
    pub free: bool,
    /// Its value where it is not free; its value in the file where it is.
    pub value: Expression,
}

/// A system and a state that depend on free parameters.
#[derive(Clone, Debug)]
pub struct Family {
    /// The system; its formulas take the variables behind the coordinates.
    pub system: System,
    /// Free parameters and what depends on them.
    pub variables: Vec<Variable>,
    /// Time.
    pub t: Expression,
    /// Positions.
    pub q: Vec<Expression>,
    /// Velocities.
    pub v: Vec<Expression>,
}

/// One member of a family, over any number type.
#[derive(Clone, Debug)]
pub struct Member<N> {
    /// Time.
    pub t: N,
    /// Positions, then the variables.
    pub q: Vec<N>,
    /// Velocities.
    pub v: Vec<N>,
}

impl Family {
    /// Names of the free parameters, in the order of the file.
    pub fn free(&self) -> impl Iterator<Item = &str> {
        self.variables.iter().filter(|x| x.free).map(|x| x.name.as_str())
    }

    /// The member with these values of the free parameters, in the order of [`Family::free`].
    ///
    /// # Panics
    /// If there are fewer values than free parameters.
    pub fn member<N: Number>(&self, free: &[N]) -> Member<N> {
        let n = self.q.len();
        let mut q = vec![N::from_f64(0.0); n + self.variables.len()];
        let t = N::from_f64(0.0);
        let mut given = free.iter();
        for (k, variable) in self.variables.iter().enumerate() {
            q[n + k] = if variable.free {
                *given.next().expect("a value for each free parameter")
            } else {
                variable.value.eval(&Point { q: &q, v: &[], t })
            };
        }
        let at = Point { q: &q, v: &[], t };
        let time = self.t.eval(&at);
        let v = self.v.iter().map(|e| e.eval(&at)).collect();
        let positions: Vec<N> = self.q.iter().map(|e| e.eval(&at)).collect();
        q[..n].copy_from_slice(&positions);
        Member { t: time, q, v }
    }
}
