//! Solutions in one choice of modes, proved by Krawczyk's test.
//!
//! ```text
//! stick   u = 0                   slide   u_n = 0 ,   f₁² + f₂² = μ² f_n² ,   f₁ u₂ − f₂ u₁ = 0
//! closed  u_n = 0 , f_t + μ f_n e = 0         along   u_n = 0 ,   f_t + s μ f_n = 0
//! ```
//!
//! Guides that pull have −f_n for f_n.
//!
//! G(f) = 0 for the forces of closed contacts, u = W f + q. With C and boxes X ⊂ Y around f₀, r and R their
//! radii:
//!
//! |C G(f₀)| + |I − C G'(X)| r < r        ⇒      X holds a zero of G
//! |I − C G'(Y)| R < R                    ⇒      Y holds no two

use serde_json::Value;

use crate::document::{list_of, read, word};
use crate::fault::{Fault, refuse};
use crate::number::{Interval, Number, number, whole};
use crate::reduced::{Contact, Reduced};

/// What a contact does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// No force.
    Open,
    /// u = 0.
    Stick,
    /// Sliding in space.
    Slide,
    /// Sliding in the plane.
    Along(i64),
    /// Friction in a known direction, or none.
    Closed,
}

/// A solution that exists for all data.
pub struct Solution {
    /// One per contact.
    pub modes: Vec<Mode>,
    /// Whether each pushes (1) or pulls (−1), as guides may.
    pub sides: Vec<i64>,
    /// A box that holds it.
    pub force: Vec<Interval>,
    /// Its velocity.
    pub velocity: Vec<Interval>,
    /// A box in which these modes have no other.
    pub alone: Vec<Interval>,
}

impl Solution {
    /// Reads and proves a solution.
    pub fn read(reduced: &Reduced, value: &Value) -> Result<Self, Fault> {
        let words = read(value, "modes", |value| list_of(value, reduced.contacts.len(), mode))?;
        let fits = |(contact, (side, mode)): (&Contact, &(Option<i64>, Mode))| {
            side.is_some() == contact.is_guide()
                && match (contact.slip(), mode) {
                    (_, Mode::Open) => !contact.is_guide(),
                    (slip, Mode::Closed) => slip.is_some(),
                    (slip, Mode::Stick) => slip.is_none(),
                    (slip, Mode::Slide) => slip.is_none() && !contact.is_planar(),
                    (slip, Mode::Along(_)) => slip.is_none() && contact.is_planar(),
                }
        };
        if !reduced.contacts.iter().zip(&words).all(fits) {
            return Err(Fault::Form("modes: expected those of the laws".into()));
        }
        let nothing = vec![];
        let mut solution = Solution {
            modes: words.iter().map(|(_, mode)| *mode).collect(),
            sides: words.iter().map(|(side, _)| side.unwrap_or(1)).collect(),
            force: nothing.clone(),
            velocity: nothing.clone(),
            alone: nothing,
        };
        let rows = solution.closed_rows(reduced);
        let k = rows.len();
        let numbers = |key: &str| read(value, key, |value| list_of(value, k, number));
        let (centre, radius, alone) = (numbers("centre")?, numbers("radius")?, numbers("alone")?);
        let inverse = read(value, "inverse", |value| list_of(value, k, |value| list_of(value, k, number)))?;
        if radius.iter().zip(&alone).any(|(r, a)| *r <= whole(0) || r > a) {
            return refuse("a solution has a box that is empty, or not within the one without another");
        }
        let boxed = |radius: &[Number]| {
            let mut x = vec![Interval::zero(); reduced.q.len()];
            for (i, (c, r)) in rows.iter().zip(centre.iter().zip(radius)) {
                x[*i] = Interval::around(c, r);
            }
            x
        };
        let point = boxed(&vec![whole(0); k]);
        solution.force = boxed(&radius);
        solution.alone = boxed(&alone);
        solution.velocity = reduced.velocity(&solution.force);
        let equations = Equations { reduced, modes: &solution.modes, sides: &solution.sides, rows: &rows };
        let values = equations.values(&point);
        let small = equations.moved(&inverse, &solution.force, &radius);
        for (i, row) in inverse.iter().enumerate() {
            let step = row.iter().zip(&values).fold(Interval::zero(), |sum, (c, g)| &sum + &g.times(c));
            if step.magnitude() + &small[i] >= radius[i] {
                return refuse("the box of a solution is not proved to hold one");
            }
        }
        let large = equations.moved(&inverse, &solution.alone, &alone);
        if large.iter().zip(&alone).any(|(moved, r)| moved >= r) {
            return refuse("the box around a solution may hold another");
        }
        if !solution.obeys(reduced) {
            return refuse("a solution does not obey the inequalities of its modes");
        }
        Ok(solution)
    }

    /// The rows of contacts that are not open.
    pub fn closed_rows(&self, reduced: &Reduced) -> Vec<usize> {
        let closed = reduced.contacts.iter().zip(&self.modes).filter(|(_, mode)| **mode != Mode::Open);
        closed.flat_map(|(contact, _)| contact.rows.clone()).collect()
    }

    /// Whether its equations are linear: then they have no other solution anywhere.
    pub fn is_linear(&self) -> bool {
        !self.modes.contains(&Mode::Slide)
    }

    /// The inequalities of the modes.
    fn obeys(&self, reduced: &Reduced) -> bool {
        let zero = whole(0);
        reduced.contacts.iter().zip(&self.modes).zip(&self.sides).all(|((contact, mode), side)| {
            let (f, u) = (&self.force[contact.rows.clone()], &self.velocity[contact.rows.clone()]);
            let pushes = f[0].times(&whole(*side)).lo >= zero;
            match mode {
                Mode::Open => u[0].lo >= zero,
                Mode::Closed => pushes,
                Mode::Along(s) => pushes && u[1].times(&whole(*s)).lo >= zero,
                Mode::Slide => pushes && (&(&f[1] * &u[1]) + &(&f[2] * &u[2])).hi <= zero,
                Mode::Stick => {
                    let friction = f[1..].iter().fold(whole(0), |sum, f| sum + f.square().hi);
                    pushes && contact.mu().square().lo * f[0].square().lo >= friction
                }
            }
        })
    }
}

/// The side of a guide, and the mode.
fn mode(value: &Value) -> Result<(Option<i64>, Mode), Fault> {
    let whole = word(value)?;
    let (side, mode) = match whole.split_once('-') {
        Some(("push", mode)) => (Some(1), mode),
        Some(("pull", mode)) => (Some(-1), mode),
        _ => (None, whole),
    };
    let mode = match mode {
        "open" => Mode::Open,
        "stick" => Mode::Stick,
        "slide" => Mode::Slide,
        "plus" => Mode::Along(1),
        "minus" => Mode::Along(-1),
        "closed" => Mode::Closed,
        _ => return Err(Fault::Form(format!("expected a mode, found \"{whole}\""))),
    };
    Ok((side, mode))
}

/// G and its slope.
struct Equations<'a> {
    reduced: &'a Reduced<'a>,
    modes: &'a [Mode],
    sides: &'a [i64],
    rows: &'a [usize],
}

impl Equations<'_> {
    /// G(f).
    fn values(&self, f: &[Interval]) -> Vec<Interval> {
        let u = self.reduced.velocity(f);
        let mut all = Vec::new();
        for ((contact, mode), side) in self.reduced.contacts.iter().zip(self.modes).zip(self.sides) {
            let (f, u) = (&f[contact.rows.clone()], &u[contact.rows.clone()]);
            let mu = contact.mu();
            match mode {
                Mode::Open => {}
                Mode::Stick => all.extend_from_slice(u),
                Mode::Slide => {
                    let cone = &(&f[1].square() + &f[2].square()) - &(&mu.square() * &f[0].square());
                    all.extend([u[0].clone(), cone, &(&f[1] * &u[2]) - &(&f[2] * &u[1])]);
                }
                Mode::Along(_) | Mode::Closed => {
                    all.push(u[0].clone());
                    let along = self.direction(contact, *mode, *side);
                    all.extend(f[1..].iter().zip(&along).map(|(f_t, e)| f_t + &(&(mu * e) * &f[0])));
                }
            }
        }
        all
    }

    /// e in f_t = −μ f_n e, with the sign of f_n in it.
    fn direction(&self, contact: &Contact, mode: Mode, side: i64) -> Vec<Interval> {
        match mode {
            Mode::Along(s) => vec![Interval::point(whole(s * side))],
            _ => contact.slip().unwrap_or_default().iter().map(|e| e.times(&whole(side))).collect(),
        }
    }

    /// G'(X), row by row, on the rows of closed contacts.
    fn slope(&self, x: &[Interval]) -> Vec<Vec<Interval>> {
        let u = self.reduced.velocity(x);
        let w = |i: usize| self.rows.iter().map(|j| self.reduced.w[i][*j].clone()).collect::<Vec<_>>();
        let entries = |of: &[(usize, Interval)]| {
            let entry =
                |j: &usize| of.iter().find(|(i, _)| i == j).map_or_else(Interval::zero, |(_, x)| x.clone());
            self.rows.iter().map(entry).collect::<Vec<_>>()
        };
        let (one, two) = (Interval::point(whole(1)), whole(2));
        let mut all = Vec::new();
        for ((contact, mode), side) in self.reduced.contacts.iter().zip(self.modes).zip(self.sides) {
            let (n, mu) = (contact.rows.start, contact.mu());
            match mode {
                Mode::Open => {}
                Mode::Stick => all.extend(contact.rows.clone().map(w)),
                Mode::Slide => {
                    all.push(w(n));
                    let normal = (&mu.square() * &x[n]).times(&-&two);
                    let [f1, f2] = [&x[n + 1], &x[n + 2]];
                    all.push(entries(&[(n, normal), (n + 1, f1.times(&two)), (n + 2, f2.times(&two))]));
                    let own = entries(&[(n + 1, u[n + 2].clone()), (n + 2, -&u[n + 1])]);
                    let cross = w(n + 2).into_iter().zip(w(n + 1)).zip(own);
                    all.push(cross.map(|((w2, w1), own)| &(&(f1 * &w2) - &(f2 * &w1)) + &own).collect());
                }
                Mode::Along(_) | Mode::Closed => {
                    all.push(w(n));
                    let along = self.direction(contact, *mode, *side);
                    all.extend(
                        along.iter().zip(n + 1..).map(|(e, i)| entries(&[(n, mu * e), (i, one.clone())])),
                    );
                }
            }
        }
        all
    }

    /// |I − C G'(X)| r.
    fn moved(&self, inverse: &[Vec<Number>], x: &[Interval], r: &[Number]) -> Vec<Number> {
        let slope = self.slope(x);
        let row = |(i, c): (usize, &Vec<Number>)| {
            (0..r.len()).fold(whole(0), |sum, j| {
                let product =
                    c.iter().zip(&slope).fold(Interval::zero(), |sum, (c, g)| &sum + &g[j].times(c));
                let unit = Interval::point(whole(i64::from(i == j)));
                sum + (&unit - &product).magnitude() * &r[j]
            })
        };
        inverse.iter().enumerate().map(row).collect()
    }
}
