//! Coordinates that follow from joints: where they are the only ones, and that they go on from those of the
//! file.
//!
//! ```text
//! K(X) = x̃ − Y h(P, x̃) + (I − Y ∂h/∂x(P, X)) (X − x̃) ⊂ int X
//! ```
//!
//! Then every p ∈ P has exactly one x ∈ X with h(p, x) = 0; it lies in K(X) and depends continuously on p.

use serde_json::Value;

use super::bounds::Bounds;
use super::matrix::{Matrix, inverse_of_middle, matrix, solve, times};
use super::system::{Closed, System};
use crate::document::{at as place, index, list, list_of, numbered, read};
use crate::fault::{Fault, refuse};
use crate::number::{Interval, Number, number};

/// A configuration at a point.
struct Configuration {
    /// The values of the parameters on which the joints depend.
    at: Vec<Number>,
    /// It lies in here.
    x: Vec<Bounds>,
}

/// The configurations of a certificate.
pub struct Closure {
    /// The parameters on which the joints depend.
    moving: Vec<usize>,
    configurations: Vec<Configuration>,
}

fn boxes(value: &Value, n: usize) -> Result<Vec<Bounds>, Fault> {
    list_of(value, n, |x| Ok(Bounds::around(&Interval::read(x)?)))
}

fn inside(inner: &[Bounds], outer: &[Bounds]) -> bool {
    inner.iter().zip(outer).all(|(a, b)| a.inside(*b))
}

impl Closure {
    /// The configurations, each checked: it goes on from one before it.
    pub fn read(system: &System, facts: &Value) -> Result<Self, Fault> {
        let unknowns = system.unknowns().len();
        let joints = system.follows.as_ref().map_or(0, |[_, joints]| joints.len());
        if unknowns == 0 || joints != unknowns {
            return Err(Fault::Form("problem.follows: expected as many joints as coordinates".into()));
        }
        let moving = read(facts, "moving", |value| list(value, |k| index(k, system.parameters.len())))?;
        let mut closure = Closure { moving, configurations: vec![] };
        let all = read(facts, "configurations", crate::document::items)?;
        for (k, value) in numbered(all) {
            let new = closure.configuration(system, value).map_err(|e| place("configurations", k, e))?;
            closure.configurations.push(new);
        }
        Ok(closure)
    }

    fn configuration(&self, system: &System, value: &Value) -> Result<Configuration, Fault> {
        let n = system.unknowns().len();
        let at = read(value, "at", |value| list_of(value, self.moving.len(), number))?;
        let alone = read(value, "alone", |value| boxes(value, n))?;
        let here: Vec<Bounds> = at.iter().map(Bounds::of).collect();
        let Some(x) = self.krawczyk(system, &here, &alone) else {
            return refuse("a configuration is not shown to be the only one");
        };
        if self.configurations.is_empty() {
            return Ok(Configuration { at, x });
        }
        let from = read(value, "from", |value| index(value, self.configurations.len()))?;
        let region = read(value, "region", |value| boxes(value, n))?;
        let start = &self.configurations[from];
        let hull: Vec<Bounds> = start.at.iter().zip(&here).map(|(a, b)| Bounds::of(a).hull(*b)).collect();
        let only = self.krawczyk(system, &hull, &region).is_some();
        if !only || !inside(&x, &region) || !inside(&start.x, &region) {
            return refuse("a configuration is not shown to go on from the one before");
        }
        Ok(Configuration { at, x })
    }

    /// K(X) on a box of the parameters that matter, where it lies inside of X. All others are undefined: what
    /// depended on them would be too.
    fn krawczyk(&self, system: &System, here: &[Bounds], wide: &[Bounds]) -> Option<Vec<Bounds>> {
        let image = self.operator(system, here, wide)?;
        image.iter().zip(wide).all(|(a, b)| a.strictly_inside(*b)).then_some(image)
    }

    fn spread(&self, system: &System, here: &[Bounds]) -> Vec<Bounds> {
        let mut at = vec![Bounds::UNDEFINED; system.parameters.len()];
        self.moving.iter().zip(here).for_each(|(&k, x)| at[k] = *x);
        at
    }

    fn operator(&self, system: &System, here: &[Bounds], wide: &[Bounds]) -> Option<Vec<Bounds>> {
        let n = wide.len();
        let at = self.spread(system, here);
        let middle: Vec<Bounds> = at.iter().map(|p| Bounds::point(p.middle())).collect();
        let x: Vec<Bounds> = wide.iter().map(|x| Bounds::point(x.middle())).collect();
        let y = inverse_of_middle(&system.closing_slopes(&middle, &x).0)?;
        let column = |all: Vec<Bounds>| -> Matrix { all.into_iter().map(|x| vec![x]).collect() };
        let base = times(&y, &column(system.closing_values(&at, &x)));
        let turned = times(&y, &system.closing_slopes(&at, wide).0);
        let one = |i: usize, j: usize| if i == j { Bounds::ONE } else { Bounds::ZERO };
        let rest = matrix(n, n, |i, j| one(i, j) - turned[i][j]);
        let away = column(wide.iter().zip(&x).map(|(w, x)| *w - *x).collect());
        let moved = times(&rest, &away);
        let image: Vec<Bounds> = (0..n).map(|i| x[i] - base[i][0] + moved[i][0]).collect();
        image.iter().all(|x| !x.is_undefined()).then_some(image)
    }

    /// The coordinates on a box of parameters, as the facts of a part enclose them.
    pub fn on(
        &self,
        system: &System,
        at: &[Bounds],
        exact: &[[Number; 2]],
        facts: &Value,
    ) -> Result<Closed, Fault> {
        let alone = read(facts, "alone", |value| boxes(value, system.unknowns().len()))?;
        let from = read(facts, "from", |value| index(value, self.configurations.len()))?;
        let start = &self.configurations[from];
        let here: Vec<Bounds> = self.moving.iter().map(|&k| at[k]).collect();
        let within = |(&k, x): (&usize, &Number)| exact[k][0] <= *x && *x <= exact[k][1];
        if !self.moving.iter().zip(&start.at).all(within) || !inside(&start.x, &alone) {
            return refuse("a part does not hold the configuration that it names");
        }
        let Some(mut positions) = self.krawczyk(system, &here, &alone) else {
            return refuse("the coordinates of a part are not shown to be the only ones");
        };
        if let Some(again) = self.operator(system, &here, &positions) {
            let both: Vec<Bounds> = positions.iter().zip(again).map(|(a, b)| a.and(b)).collect();
            if both.iter().all(|x| !x.is_undefined()) {
                positions = both;
            }
        }
        let (gradients, rates) = system.closing_slopes(&self.spread(system, &here), &positions);
        match solve(&gradients, &rates) {
            Some(v) => Ok(Closed { positions, velocities: v.into_iter().map(|row| row[0]).collect() }),
            None => refuse("the velocities of a part have no bounds"),
        }
    }
}
