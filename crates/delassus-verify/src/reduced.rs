//! The problem on the rows of contacts: u = W f + q, joints held.
//!
//! ```text
//! K [a; λ] = [Jᵀf − F; −γ_b] ,   K = [M −Gᵀ; G 0]        R K = I − E ,  ε = ‖E‖ < 1  ⇒  |K⁻¹b − R b| ≤ ε/(1 − ε) ‖R b‖
//! ```
//!
//! G are the rows of joints. R comes with the facts; norms are the largest of the entries, each over a
//! size of its own, so that units play no part.

use serde_json::Value;

use crate::document::{list_of, read};
use crate::fault::{Fault, refuse};
use crate::number::{Interval, Number, abs, few_bits, number, whole};
use crate::problem::{Constraint, Law, Problem, Row};

/// A contact and the places of its rows among those of all contacts.
pub struct Contact<'a> {
    /// The constraint.
    pub constraint: &'a Constraint,
    /// Its place among the constraints.
    pub index: usize,
    /// Its rows.
    pub rows: std::ops::Range<usize>,
}

impl Contact<'_> {
    /// μ.
    pub fn mu(&self) -> &Interval {
        &self.constraint.coefficients[0]
    }

    /// Whether it is a guide, whose normal force has either sign.
    pub fn is_guide(&self) -> bool {
        self.constraint.law.is_guide()
    }

    /// Whether friction has one tangent.
    pub fn is_planar(&self) -> bool {
        matches!(self.constraint.law, Law::CoulombPlane | Law::BilateralCoulombPlane)
    }

    /// The direction of slip where friction is known: e in f_t = −μ |f_n| e; zero without friction.
    pub fn slip(&self) -> Option<Vec<Interval>> {
        match self.constraint.law {
            Law::Sliding | Law::BilateralSliding => Some(self.constraint.slip.clone()),
            _ if self.mu().is_zero() => Some(vec![Interval::zero(); self.rows.len() - 1]),
            _ => None,
        }
    }
}

/// u = W f + q.
pub struct Reduced<'a> {
    /// The contacts.
    pub contacts: Vec<Contact<'a>>,
    /// W, row by row.
    pub w: Vec<Vec<Interval>>,
    /// q.
    pub q: Vec<Interval>,
}

/// Σ over a sparse row.
fn along(row: &Row, x: &[Interval]) -> Interval {
    row.iter().fold(Interval::zero(), |sum, (j, entry)| &sum + &(entry * &x[*j]))
}

impl<'a> Reduced<'a> {
    /// From a problem, with the fact `inverse`.
    pub fn new(problem: &'a Problem, facts: &Value) -> Result<Self, Fault> {
        let n = problem.force.len();
        let (mut contacts, mut joints, mut count) = (Vec::new(), Vec::new(), 0);
        for (index, constraint) in problem.constraints.iter().enumerate() {
            match constraint.law {
                Law::Bilateral => joints.push(constraint),
                law if law.is_guide()
                    || matches!(law, Law::Unilateral | Law::CoulombPlane | Law::Coulomb | Law::Sliding) =>
                {
                    let rows = count..count + constraint.rows.len();
                    count = rows.end;
                    contacts.push(Contact { constraint, index, rows });
                }
                _ => return Err(Fault::Form("constraints: expected laws that have pieces".into())),
            }
        }
        let size = n + joints.len();
        let inverse =
            read(facts, "inverse", |value| list_of(value, size, |value| list_of(value, size, number)))?;
        let rows: Vec<(&Row, &Interval)> =
            contacts.iter().flat_map(|c| c.constraint.rows.iter().zip(&c.constraint.bias)).collect();
        let mut right: Vec<Vec<(usize, Interval)>> = rows.iter().map(|(row, _)| (*row).clone()).collect();
        let load = problem.force.iter().map(|f| -f).chain(joints.iter().map(|c| -&c.bias[0]));
        right.push(load.enumerate().collect());
        let answers = solve(&matrix(problem, &joints), &inverse, &right)?;
        let of = |row: &Row, k: usize| along(row, &answers[k]);
        let w = rows.iter().map(|(row, _)| (0..count).map(|k| of(row, k).trimmed()).collect()).collect();
        let q = rows.iter().map(|(row, bias)| (&of(row, count) + bias).trimmed()).collect();
        Ok(Reduced { contacts, w, q })
    }

    /// u of forces.
    pub fn velocity(&self, f: &[Interval]) -> Vec<Interval> {
        let row = |i: usize| {
            let entries = self.w[i].iter().zip(f).filter(|(_, f)| !f.is_zero());
            entries.fold(self.q[i].clone(), |sum, (w, f)| &sum + &(w * f))
        };
        (0..self.q.len()).map(row).collect()
    }
}

/// K, row by row.
fn matrix(problem: &Problem, joints: &[&Constraint]) -> Vec<Row> {
    let n = problem.force.len();
    let mut rows = problem.mass.clone();
    for (k, joint) in joints.iter().enumerate() {
        joint.rows[0].iter().for_each(|(j, x)| rows[*j].push((n + k, -x)));
        rows.push(joint.rows[0].clone());
    }
    rows
}

/// K⁻¹b for some b, within bounds.
fn solve(k: &[Row], inverse: &[Vec<Number>], right: &[Row]) -> Result<Vec<Vec<Interval>>, Fault> {
    let size = k.len();
    let times = |b: &Row| -> Vec<Interval> {
        let row = |r: &Vec<Number>| b.iter().fold(Interval::zero(), |sum, (j, x)| &sum + &x.times(&r[*j]));
        inverse.iter().map(|r| row(r).trimmed()).collect()
    };
    let near: Vec<Vec<Interval>> = right.iter().map(times).collect();
    let weights = weights(k, inverse);
    let mut defect = whole(0);
    for (i, r) in inverse.iter().enumerate() {
        let mut row = vec![Interval::zero(); size];
        row[i] = Interval::point(whole(1));
        for (x, entries) in r.iter().zip(k).filter(|(x, _)| **x != whole(0)) {
            entries.iter().for_each(|(j, y)| row[*j] = &row[*j] - &y.times(x));
        }
        let sum = row.iter().zip(&weights).fold(whole(0), |sum, (x, w)| sum + x.magnitude() * w);
        defect = defect.max(sum / &weights[i]);
    }
    if defect >= whole(1) {
        return refuse("the inverse does not show that forces determine accelerations");
    }
    let share = &defect / (whole(1) - &defect);
    let widened = |x: Vec<Interval>| -> Vec<Interval> {
        let size = x.iter().zip(&weights).map(|(x, w)| x.magnitude() / w).max().unwrap_or_else(|| whole(0));
        let error = |w: &Number| Interval::around(&whole(0), &(&share * &size * w));
        x.iter().zip(&weights).map(|(x, w)| (x + &error(w)).trimmed()).collect()
    };
    Ok(near.into_iter().map(widened).collect())
}

/// Sizes of unknowns with which |I − R K| is small: some steps towards the largest eigenvector of |R||K|.
fn weights(k: &[Row], inverse: &[Vec<Number>]) -> Vec<Number> {
    let mut weights = vec![whole(1); k.len()];
    for _ in 0..3 {
        let sizes: Vec<Number> = k
            .iter()
            .map(|row| row.iter().fold(whole(0), |sum, (j, x)| sum + x.magnitude() * &weights[*j]))
            .collect();
        let size = |r: &Vec<Number>| r.iter().zip(&sizes).fold(whole(0), |sum, (r, s)| sum + abs(r) * s);
        let next: Vec<Number> = inverse.iter().map(|r| few_bits(&size(r))).collect();
        let top = next.iter().max().cloned().unwrap_or_else(|| whole(1));
        weights = next.iter().map(|w| if *w > whole(0) { few_bits(&(w / &top)) } else { whole(1) }).collect();
    }
    weights
}
