//! Forces that balance a load at rest, and velocities that show that none do.
//!
//! ```text
//! rest:       B f = F ,   f ∈ K                                        B = Jᵀ
//! collapse:   u = J v ∈ K* ,   −Fᵀv > Σ_b L_b |u_b|
//! ```
//!
//! For all data within their bounds. The proofs stand in the book's chapter on certificates: forces f near a
//! balance are within ‖F − B f‖/σ_min(B) of one, velocities near those that joints allow within
//! ‖G v‖/σ_min(G), and both are that far inside their cones.

use serde_json::Value;
use std::collections::BTreeMap;

use crate::definite::{Symmetric, least_eigenvalue};
use crate::document::{field, list_of, read, word};
use crate::fault::{Fault, refuse};
use crate::number::{Interval, Number, abs, dot, number, root_above, whole};
use crate::problem::{Constraint, Law, Row, constraints, coordinates};

/// Constraints and the load that they have to balance.
pub struct Balance {
    /// The constraints.
    pub constraints: Vec<Constraint>,
    /// F.
    pub load: Vec<Interval>,
}

impl Balance {
    /// The problem of a certificate.
    pub fn read(problem: &Value) -> Result<Self, Fault> {
        let n = coordinates(problem)?;
        let load = read(problem, "load", |value| list_of(value, n, Interval::read))?;
        Balance::new(constraints(problem, n)?, load)
    }

    /// Constraints at rest that rest can answer.
    pub fn new(constraints: Vec<Constraint>, load: Vec<Interval>) -> Result<Self, Fault> {
        if constraints.iter().any(|c| c.law == Law::Sliding || c.law.is_guide()) {
            return Err(Fault::Form("constraints: expected no slip and no guides at rest".into()));
        }
        if constraints.iter().flat_map(|c| &c.bias).any(|b| !b.is_zero()) {
            return Err(Fault::Form("constraints: expected no bias at rest".into()));
        }
        Ok(Balance { constraints, load })
    }

    fn rows(&self) -> Vec<&Row> {
        self.constraints.iter().flat_map(|c| &c.rows).collect()
    }

    /// Each constraint with its part of a list that has one entry per row.
    fn parts<'a>(&'a self, all: &'a [Number]) -> impl Iterator<Item = (&'a Constraint, &'a [Number])> {
        let mut next = 0;
        self.constraints.iter().map(move |c| {
            next += c.rows.len();
            (c, &all[next - c.rows.len()..next])
        })
    }
}

/// The check of a certificate of the kind `balance`.
pub fn check(document: &Value) -> Result<String, Fault> {
    let balance = read(document, "problem", Balance::read)?;
    let claim = read(document, "claim", |claim| read(claim, "stands", word))?;
    let facts = field(document, "facts")?;
    match claim {
        "possibly" => {
            rest(&balance, &balance.load, facts)?;
            Ok("forces within friction balance the load".into())
        }
        "surely" => {
            let forces = rest(&balance, &balance.load, facts)?;
            without_friction(&balance, &forces, |_| false)?;
            Ok("forces without friction balance the load: every solution of the laws rests".into())
        }
        "no" => {
            collapse(&balance, &balance.load, facts)?;
            Ok("no forces within friction balance the load".into())
        }
        other => Err(Fault::Form(format!(
            "claim.stands: expected \"surely\", \"possibly\" or \"no\", found \"{other}\""
        ))),
    }
}

/// Refuses friction at contacts, but for those that `may`.
pub fn without_friction(
    balance: &Balance,
    forces: &[Number],
    may: impl Fn(&Constraint) -> bool,
) -> Result<(), Fault> {
    let smooth = |own: &[Number]| own[1..].iter().all(|f| *f == whole(0));
    if balance.parts(forces).all(|(c, own)| !c.is_contact() || smooth(own) || may(c)) {
        Ok(())
    } else {
        refuse("a contact has friction, where the claim needs forces without")
    }
}

/// Forces near the facts `forces` balance a load, for all data; gives those.
pub fn rest(balance: &Balance, load: &[Interval], facts: &Value) -> Result<Vec<Number>, Fault> {
    let rows = balance.rows();
    let forces = read(facts, "forces", |value| list_of(value, rows.len(), number))?;
    let mut residual = load.to_vec();
    let mut place: BTreeMap<usize, usize> = BTreeMap::new();
    let mut gram = Symmetric::default();
    for (row, force) in rows.iter().zip(&forces).filter(|(_, f)| **f != whole(0)) {
        for (j, x) in row.iter() {
            residual[*j] = &residual[*j] - &x.times(force);
            let next = place.len();
            place.entry(*j).or_insert(next);
        }
        for (k, (j, x)) in row.iter().enumerate() {
            gram.add(place[j], place[j], &x.square());
            row[..k].iter().for_each(|(i, y)| gram.add(place[j], place[i], &(x * y)));
        }
    }
    if residual.iter().enumerate().any(|(j, r)| !place.contains_key(&j) && !r.is_zero()) {
        return refuse("a load acts where no force does");
    }
    let touched = residual.iter().enumerate().filter(|(j, _)| place.contains_key(j)).map(|(_, r)| r);
    let distance = distance(place.len(), gram, touched, facts)?;
    if balance.parts(&forces).all(|(c, own)| has_room(c, own, &distance)) {
        Ok(forces)
    } else {
        refuse("a force is not within its bounds")
    }
}

/// A number not below ‖r‖/σ, σ² the least eigenvalue of a matrix of so many rows.
fn distance<'a>(
    n: usize,
    gram: Symmetric,
    residual: impl Iterator<Item = &'a Interval>,
    facts: &Value,
) -> Result<Number, Fault> {
    if n == 0 {
        return Ok(whole(0));
    }
    let least = read(facts, "bound", |bound| least_eigenvalue(n, gram, bound))?;
    Ok(root_above(&(sum_of_squares(residual) / least)))
}

fn sum_of_squares<'a>(all: impl Iterator<Item = &'a Interval>) -> Number {
    all.fold(whole(0), |sum, x| sum + x.square().hi)
}

/// Whether forces stay in their cone wherever they move by this distance.
fn has_room(c: &Constraint, own: &[Number], d: &Number) -> bool {
    let zero = whole(0);
    if c.law == Law::Bilateral || own.iter().all(|f| *f == zero) {
        return true;
    }
    if c.law == Law::Bounded {
        return abs(&own[0]) + d <= c.coefficients[0].lo;
    }
    // μ f_n − d √(1 + μ²) grows with μ where f_n > d.
    let within = |(mu, rows): (&Interval, std::ops::Range<usize>)| {
        let friction = &own[rows];
        friction.iter().all(|f| *f == zero) || {
            let size = root_above(&friction.iter().map(|f| f * f).fold(whole(0), |a, b| a + b));
            size + root_above(&(&mu.lo * &mu.lo + whole(1))) * d <= &mu.lo * &own[0]
        }
    };
    own[0] > *d && c.groups().all(within)
}

/// The facts `velocity` show that no forces balance a load, whatever the data.
pub fn collapse(balance: &Balance, load: &[Interval], facts: &Value) -> Result<(), Fault> {
    let velocity = read(facts, "velocity", |value| list_of(value, load.len(), number))?;
    let speed = |row: &Row| dot(row.iter().map(|(j, x)| (x, &velocity[*j])));
    let joints: Vec<&Row> =
        balance.constraints.iter().filter(|c| c.law == Law::Bilateral).flat_map(|c| &c.rows).collect();
    let mut joined: BTreeMap<usize, Vec<(usize, &Interval)>> = BTreeMap::new();
    for (i, row) in joints.iter().enumerate() {
        row.iter().for_each(|(j, x)| joined.entry(*j).or_default().push((i, x)));
    }
    let mut gram = Symmetric::default();
    for column in joined.values() {
        for (k, (i, x)) in column.iter().enumerate() {
            gram.add(*i, *i, &x.square());
            column[..k].iter().for_each(|(j, y)| gram.add(*i, *j, &(*x * *y)));
        }
    }
    let speeds: Vec<Interval> = joints.iter().map(|row| speed(row)).collect();
    let d = distance(joints.len(), gram, speeds.iter(), facts)?;
    // How much the velocities of some rows may change.
    let change = |rows: &[Row]| {
        let moved = rows.iter().flatten().filter(|(j, _)| joined.contains_key(j)).map(|(_, x)| x);
        &d * root_above(&sum_of_squares(moved))
    };
    let given = load.iter().zip(&velocity).fold(Interval::zero(), |sum, (f, v)| &sum + &f.times(v));
    let moved = load.iter().enumerate().filter(|(j, _)| joined.contains_key(j)).map(|(_, f)| f);
    let mut power = -given.hi - &d * root_above(&sum_of_squares(moved));
    for c in &balance.constraints {
        let slip = |rows: &[Row]| {
            let speeds: Vec<Interval> = rows.iter().map(speed).collect();
            root_above(&sum_of_squares(speeds.iter())) + change(rows)
        };
        match c.law {
            Law::Bilateral => {}
            Law::Bounded => power -= &c.coefficients[0].hi * slip(&c.rows),
            _ => {
                let opening = speed(&c.rows[0]).lo - change(&c.rows[..1]);
                let needed = c.groups().map(|(mu, rows)| &mu.hi * slip(&c.rows[rows]));
                if opening < needed.fold(whole(0), |a, b| a + b) {
                    return refuse("a contact closes, or slides without opening enough");
                }
            }
        }
    }
    if power > whole(0) { Ok(()) } else { refuse("the load has no power") }
}
