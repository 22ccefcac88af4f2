//! Constraints: their laws, rows and numbers.

use serde_json::Value;

use crate::document::{index, items, list, list_of, read, word};
use crate::fault::Fault;
use crate::number::{Interval, whole};

/// Coordinates beyond which a problem is refused.
const MAX_COORDINATES: usize = 1 << 20;

/// A row of J: columns and entries; others are zero.
pub type Row = Vec<(usize, Interval)>;

/// Which forces go with which velocities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// u = 0.
    Bilateral,
    /// |f| ≤ L, f opposes u.
    Bounded,
    /// 0 ≤ u ⊥ f ≥ 0.
    Unilateral,
    /// Coulomb's law with one tangent.
    CoulombPlane,
    /// With two.
    Coulomb,
    /// And a rolling moment.
    Rolling,
    /// And a moment about the normal.
    Spinning,
    /// Friction against a known direction of slip.
    Sliding,
    /// u_n = 0 with a normal force of either sign: a guide, with friction as of [`Law::Sliding`].
    BilateralSliding,
    /// The same with friction as of [`Law::CoulombPlane`].
    BilateralCoulombPlane,
    /// The same with friction as of [`Law::Coulomb`].
    BilateralCoulomb,
}

impl Law {
    /// Whether it holds its normal from both sides, with friction.
    pub fn is_guide(self) -> bool {
        matches!(self, Law::BilateralSliding | Law::BilateralCoulombPlane | Law::BilateralCoulomb)
    }
}

/// A constraint.
pub struct Constraint {
    /// The law.
    pub law: Law,
    /// μ of tangents, of rolling, of spinning; L of [`Law::Bounded`] first.
    pub coefficients: [Interval; 3],
    /// The direction of slip of [`Law::Sliding`] and [`Law::BilateralSliding`].
    pub slip: Vec<Interval>,
    /// Its rows of J, the normal first.
    pub rows: Vec<Row>,
    /// γ of each row.
    pub bias: Vec<Interval>,
}

impl Constraint {
    /// The place of each group of frictional rows, with its coefficient.
    pub fn groups(&self) -> impl Iterator<Item = (&Interval, std::ops::Range<usize>)> {
        let n = self.rows.len();
        let ranges = [1..n.min(3), 3..n.min(5), 5..n.min(6)];
        self.coefficients.iter().zip(ranges).filter(|(_, range)| !range.is_empty())
    }

    /// Whether it is neither a joint nor bounded.
    pub fn is_contact(&self) -> bool {
        !matches!(self.law, Law::Bilateral | Law::Bounded)
    }
}

/// The number of coordinates.
pub fn coordinates(problem: &Value) -> Result<usize, Fault> {
    read(problem, "coordinates", |value| index(value, MAX_COORDINATES))
}

/// A sparse row.
pub fn row(value: &Value, n: usize) -> Result<Row, Fault> {
    let mut entries = list(value, |entry| match items(entry)? {
        [column, x] => Ok((index(column, n)?, Interval::read(x)?)),
        _ => Err(Fault::Form("expected [column, number]".into())),
    })?;
    entries.sort_by_key(|(column, _)| *column);
    if entries.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Err(Fault::Form("expected each column once".into()));
    }
    Ok(entries)
}

/// The list `constraints`.
pub fn constraints(problem: &Value, n: usize) -> Result<Vec<Constraint>, Fault> {
    read(problem, "constraints", |value| list(value, |value| constraint(value, n)))
}

fn constraint(value: &Value, n: usize) -> Result<Constraint, Fault> {
    let rows = read(value, "rows", |value| list(value, |value| row(value, n)))?;
    let name = read(value, "law", word)?;
    let law = match name {
        "bilateral" => Law::Bilateral,
        "bounded" => Law::Bounded,
        "unilateral" => Law::Unilateral,
        "coulomb-plane" => Law::CoulombPlane,
        "coulomb" => Law::Coulomb,
        "rolling" => Law::Rolling,
        "spinning" => Law::Spinning,
        "sliding" => Law::Sliding,
        "bilateral-sliding" => Law::BilateralSliding,
        "bilateral-coulomb-plane" => Law::BilateralCoulombPlane,
        "bilateral-coulomb" => Law::BilateralCoulomb,
        _ => return Err(Fault::Form(format!("law: expected the name of a law, found \"{name}\""))),
    };
    let (count, keys): (&[usize], &[&str]) = match law {
        Law::Bilateral | Law::Unilateral => (&[1], &[]),
        Law::Bounded => (&[1], &["most"]),
        Law::CoulombPlane | Law::BilateralCoulombPlane => (&[2], &["mu"]),
        Law::Coulomb | Law::BilateralCoulomb => (&[3], &["mu"]),
        Law::Rolling => (&[5], &["mu", "rolling"]),
        Law::Spinning => (&[6], &["mu", "rolling", "spinning"]),
        Law::Sliding | Law::BilateralSliding => (&[2, 3], &["mu"]),
    };
    if !count.contains(&rows.len()) {
        return Err(Fault::Form(format!(
            "rows: expected {count:?} of them for \"{name}\", found {}",
            rows.len()
        )));
    }
    let mut coefficients = [Interval::zero(), Interval::zero(), Interval::zero()];
    for (own, key) in coefficients.iter_mut().zip(keys) {
        *own = read(value, key, Interval::read)?;
        if own.lo < whole(0) {
            return Err(Fault::Form(format!("{key}: expected a number that is at least 0")));
        }
    }
    let numbers = |key: &str, count: usize| read(value, key, |value| list_of(value, count, Interval::read));
    let slides = matches!(law, Law::Sliding | Law::BilateralSliding);
    let slip = if slides { numbers("slip", rows.len() - 1)? } else { vec![] };
    let bias = match value.get("bias") {
        Some(_) => numbers("bias", rows.len())?,
        None => vec![Interval::zero(); rows.len()],
    };
    Ok(Constraint { law, coefficients, slip, rows, bias })
}

/// What is claimed, or proved: existence, unique acceleration, unique forces.
pub type Answers = [Option<bool>; 3];

/// A contact problem.
pub struct Problem {
    /// M, row by row.
    pub mass: Vec<Row>,
    /// F.
    pub force: Vec<Interval>,
    /// The constraints.
    pub constraints: Vec<Constraint>,
}

impl Problem {
    /// The problem of a certificate.
    pub fn read(problem: &Value) -> Result<Self, Fault> {
        let n = coordinates(problem)?;
        let mass = read(problem, "mass", |value| list_of(value, n, |value| row(value, n)))?;
        let force = read(problem, "force", |value| list_of(value, n, Interval::read))?;
        Ok(Problem { mass, force, constraints: constraints(problem, n)? })
    }

    /// Whether the normal of a contact moves one coordinate, which nothing else moves and no mass couples.
    pub fn is_pad(&self, contact: &Constraint) -> bool {
        let moved = |row: &Row, j: usize| row.iter().any(|(k, x)| *k == j && !x.is_zero());
        let own: Vec<usize> = contact.rows[0].iter().filter(|(_, x)| !x.is_zero()).map(|(j, _)| *j).collect();
        let [j] = own[..] else { return false };
        let rows = self.constraints.iter().flat_map(|c| &c.rows).filter(|row| moved(row, j)).count();
        let masses = self.mass.iter().filter(|row| moved(row, j)).count();
        contact.law == Law::CoulombPlane && rows == 1 && masses == 1 && moved(&self.mass[j], j)
    }
}
