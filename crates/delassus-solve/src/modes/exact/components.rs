//! The solutions found in rational arithmetic as components, rounded at the end: none lies in another.
//!
//! ```text
//! S ⊆ B   ⇔   no (f, u) ∈ S has z·(f, u) ≠ 0 or p·(f, u) < 0   for the forms z, p of the mode of B
//! ```
//!
//! S and B satisfy the same dynamics, so that only the cones of B are to be checked. Whether a form can be
//! negative on S is a question to the simplex method: it can where y > 0 with form + y = 0 somewhere.

use super::generators::Pair;
use super::{Found, Modes};
use crate::linalg::{Int, Matrix, Polyhedron};
use crate::modes::{Freedom, SolutionComponent, move_to_least_norm};
use num_bigint::{BigInt, Sign};
use num_rational::BigRational;

impl Modes {
    /// Points that have no other solution nearby, each once.
    pub(super) fn isolated<'a>(&self, found: &'a [Found]) -> Vec<&'a Found> {
        let mut kept: Vec<&Found> = Vec::new();
        for x in found.iter().filter(|x| !x.several) {
            let in_set = |s: &Found| s.several && self.in_cones(&s.choice, &x.point);
            if !kept.iter().any(|y| y.point == x.point) && !found.iter().any(in_set) {
                kept.push(x);
            }
        }
        kept
    }

    /// What lies in no other: isolated points and sets of solutions.
    pub(super) fn maximal<'a>(&self, found: &'a [Found]) -> Vec<&'a Found> {
        let sets: Vec<&Found> = found.iter().filter(|x| x.several).collect();
        let inside = |small: &Found, big: &Found| self.contains(big, small);
        let mut kept = self.isolated(found);
        kept.extend(sets.iter().enumerate().filter_map(|(i, s)| {
            // Of two that are the same the first is kept.
            let covered = |(j, big): (usize, &&Found)| i != j && inside(s, big) && !(i < j && inside(big, s));
            (!sets.iter().enumerate().any(covered)).then_some(*s)
        }));
        // As the search in floating point counts: the first constraint fastest.
        kept.sort_by(|x, y| x.choice.iter().rev().cmp(y.choice.iter().rev()));
        kept
    }

    /// Whether all solutions of one mode satisfy another.
    fn contains(&self, big: &Found, small: &Found) -> bool {
        if !self.in_cones(&big.choice, &small.point) {
            return false;
        }
        big.choice.iter().enumerate().all(|(k, &p)| {
            let cone = &self.cones[k][p];
            p == small.choice[k]
                || cone.zero.iter().all(|form| ![1, -1].iter().any(|s| self.dips(&small.choice, k, form, *s)))
                    && cone.nonnegative.iter().all(|form| !self.dips(&small.choice, k, form, 1))
        })
    }

    /// Whether sign·form, a form on constraint k, is negative at some solution of a mode.
    fn dips(&self, choice: &[usize], k: usize, form: &Pair, sign: i64) -> bool {
        let mut tableau = self.equations(self.generators(choice));
        let scale = tableau.denominator.times(&Int::Small(sign));
        let coefficient = |(at, g): (usize, &super::Generator)| {
            if at != self.offsets[k] {
                return Int::ZERO;
            }
            let parts = form.force.iter().zip(&g.along.force);
            let all = parts.chain(form.velocity.iter().zip(&g.along.velocity));
            all.fold(Int::ZERO, |sum, (x, y)| sum.plus(&x.times(y))).times(&scale)
        };
        let mut row: Vec<Int> = self.generators(choice).map(coefficient).collect();
        let y = row.len();
        row.extend([tableau.denominator.clone(), Int::ZERO]);
        for other in &mut tableau.rows {
            other.insert(y, Int::ZERO);
        }
        tableau.rows.push(row);
        let free = self.generators(choice).map(|(_, g)| g.free).chain([false]).collect();
        Polyhedron::feasible(tableau, free).is_some_and(|mut p| p.can_be_positive(y))
    }

    /// The acceleration of forces and velocities, coordinates that nothing determines at zero; without the
    /// constant terms a change of it.
    fn acceleration(&self, f: &[BigRational], u: &[BigRational], constant: bool) -> Vec<BigRational> {
        let zero = || BigRational::from_integer(BigInt::from(0));
        let (n, m) = (self.coordinates, f.len());
        let mut a = vec![zero(); n];
        for (c, row) in &self.accelerations {
            let mut sum = if constant { BigRational::from_integer(row[n + 2 * m].to_big()) } else { zero() };
            for (x, y) in row[n..n + 2 * m].iter().zip(f.iter().chain(u)).filter(|(x, _)| !x.is_zero()) {
                sum -= y * x.to_big();
            }
            a[*c] = sum / self.relations.denominator.to_big();
        }
        a
    }

    /// A basis of the accelerations that nothing determines.
    fn kernel_directions(&self) -> impl Iterator<Item = Vec<BigRational>> + '_ {
        self.kernel.iter().map(|&free| {
            let mut a = vec![BigRational::from_integer(BigInt::from(0)); self.coordinates];
            a[free] = BigRational::from_integer(BigInt::from(1));
            for (c, row) in &self.accelerations {
                a[*c] = -BigRational::new(row[free].to_big(), self.relations.denominator.to_big());
            }
            a
        })
    }

    /// The solutions of one mode, rounded, at their forces of least norm.
    pub(super) fn component(&self, found: &Found) -> SolutionComponent {
        let choice = &found.choice;
        let modes = choice.iter().enumerate().map(|(k, &p)| self.cones[k][p].mode).collect();
        let free: Vec<bool> = self.generators(choice).map(|(_, g)| g.free).collect();
        let polyhedron = Polyhedron::feasible(self.equations(self.generators(choice)), free);
        let rounded = |x: &[BigRational]| -> Vec<f64> { x.iter().map(to_double).collect() };
        let (f, u) = &found.point;
        let mut component = SolutionComponent {
            modes,
            force: rounded(f),
            velocity: rounded(u),
            acceleration: rounded(&self.acceleration(f, u, true)),
            freedom: None,
        };
        let Some(mut polyhedron) = polyhedron else { return component };
        let mut columns: Vec<Column> = Vec::new();
        let directions = if found.several { polyhedron.directions() } else { vec![] };
        for x in directions {
            let whole = |x: &[Int]| x.iter().map(|x| BigRational::from_integer(x.to_big())).collect();
            let (f, u) = self.expand(choice, &x);
            let (f, u): (Vec<BigRational>, Vec<BigRational>) = (whole(&f), whole(&u));
            let acceleration = self.acceleration(&f, &u, false);
            columns.push(Column::new(f, u, acceleration, whole(&x)));
        }
        for a in self.kernel_directions() {
            let none = |count: usize| vec![BigRational::from_integer(BigInt::from(0)); count];
            columns.push(Column::new(none(f.len()), none(u.len()), a, none(polyhedron.free.len())));
        }
        if columns.is_empty() {
            return component;
        }
        // The vertex at which the polyhedron stands now takes the place of the one found first.
        let denominator = polyhedron.tableau.denominator.to_big();
        let at: Vec<BigRational> =
            polyhedron.point().iter().map(|x| BigRational::new(x.to_big(), denominator.clone())).collect();
        let (f, u) = self.expand(choice, &polyhedron.point());
        let over = |x: &[Int]| -> Vec<BigRational> {
            x.iter().map(|x| BigRational::new(x.to_big(), denominator.clone())).collect()
        };
        let (f, u) = (over(&f), over(&u));
        component.force = rounded(&f);
        component.velocity = rounded(&u);
        component.acceleration = rounded(&self.acceleration(&f, &u, true));
        let freedom = freedom_of(&columns, &at, &polyhedron.free);
        let velocity = matrix(&columns, component.velocity.len(), |c| &c.velocity);
        move_to_least_norm(&mut component, freedom, &velocity);
        component
    }
}

/// A direction of a set of solutions, of size one in its forces, or in its accelerations where forces do not
/// move.
struct Column {
    force: Vec<f64>,
    velocity: Vec<f64>,
    acceleration: Vec<f64>,
    /// Of the coefficients of generators.
    coefficients: Vec<f64>,
}

impl Column {
    fn new(
        f: Vec<BigRational>,
        u: Vec<BigRational>,
        a: Vec<BigRational>,
        coefficients: Vec<BigRational>,
    ) -> Self {
        let size = |x: &[BigRational]| {
            x.iter().max_by_key(|x| magnitude(x)).map(magnitude).filter(|x| x.numer().sign() != Sign::NoSign)
        };
        let size = size(&f).or_else(|| size(&a)).or_else(|| size(&u));
        let size = size.unwrap_or_else(|| BigRational::from_integer(BigInt::from(1)));
        let scaled = |x: Vec<BigRational>| x.iter().map(|x| to_double(&(x / &size))).collect();
        Column {
            force: scaled(f),
            velocity: scaled(u),
            acceleration: scaled(a),
            coefficients: scaled(coefficients),
        }
    }
}

fn magnitude(x: &BigRational) -> BigRational {
    if x.numer().sign() == Sign::Minus { -x } else { x.clone() }
}

fn matrix(columns: &[Column], rows: usize, part: impl Fn(&Column) -> &Vec<f64>) -> Matrix {
    Matrix::from_fn(rows, columns.len(), |i, j| part(&columns[j])[i])
}

/// The directions and what bounds them: coefficients of generators that are not free stay nonnegative.
fn freedom_of(columns: &[Column], at: &[BigRational], free: &[bool]) -> Freedom {
    let (mut rows, mut limits) = (Vec::new(), Vec::new());
    for (c, x) in at.iter().enumerate().filter(|(c, _)| !free[*c]) {
        let row: Vec<f64> = columns.iter().map(|column| column.coefficients[c]).collect();
        let size = row.iter().fold(0.0_f64, |top, x| top.max(x.abs()));
        if size > 0.0 {
            rows.push(row.iter().map(|x| x / size).collect::<Vec<f64>>());
            limits.push(-to_double(x) / size);
        }
    }
    let sizes = columns.first().map_or([0; 2], |c| [c.force.len(), c.acceleration.len()]);
    let bounds = Matrix::from_fn(rows.len(), columns.len(), |i, j| rows[i][j]);
    Freedom {
        force: matrix(columns, sizes[0], |c| &c.force),
        acceleration: matrix(columns, sizes[1], |c| &c.acceleration),
        bounds,
        limits,
    }
}

/// The nearest double, up to a rounding.
fn to_double(x: &BigRational) -> f64 {
    let (n, d) = (x.numer().magnitude(), x.denom().magnitude());
    if x.numer().sign() == Sign::NoSign {
        return 0.0;
    }
    // A quotient of 64 or 65 bits.
    let shift = 64 + d.bits() as i64 - n.bits() as i64;
    let quotient = if shift >= 0 { (n << shift as u64) / d } else { n / (d << shift.unsigned_abs()) };
    let quotient = u128::try_from(quotient).unwrap_or(u128::MAX) as f64;
    // In two steps, so that neither factor leaves the range of doubles before the product does.
    let half = (-shift / 2).clamp(-1000, 1000) as i32;
    let rest = (-shift - i64::from(half)).clamp(-1074, 1023) as i32;
    let size = quotient * 2f64.powi(half) * 2f64.powi(rest);
    if x.numer().sign() == Sign::Minus { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_become_the_nearest_doubles() {
        let ratio = |n: i64, d: i64| BigRational::new(BigInt::from(n), BigInt::from(d));
        for (n, d) in [(1, 3), (-2, 7), (1, 10), (0, 5), (i64::MAX, 1), (1, i64::MAX), (12345, 1000)] {
            let expected = n as f64 / d as f64;
            assert!((to_double(&ratio(n, d)) - expected).abs() <= 4e-16 * expected.abs(), "{n}/{d}");
        }
        let tiny = BigRational::new(BigInt::from(1), BigInt::from(1) << 1030u32);
        assert_eq!(to_double(&tiny), 2f64.powi(-1030));
    }
}
