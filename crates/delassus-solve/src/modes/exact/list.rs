//! The list of all solutions in rational arithmetic, rounded at the end.
//!
//! ```text
//! {x : A x = g, x_j ≥ 0 for rays} ,   f = B x          argmin ‖f‖ ,   [min f_i, max f_i] ,   projection on (F − F)^⊥
//! ```
//!
//! f ∈ Rᵐ, F is the set of all forces. Near a tie floating point loses the digits of a vertex, and with them
//! those of all that is derived from it.

use super::least_norm::{least_norm, without_span};
use super::{ExactSolutions, Found, Generator, Modes};
use crate::linalg::{Int, Matrix, Polyhedron};
use crate::modes::{Freedom, SolutionComponent};
use num_bigint::{BigInt, Sign};
use num_rational::BigRational;

/// All solutions of a problem, rounded, and what is true of their forces.
pub struct ExactList {
    /// The solutions, none of them in another.
    pub components: Vec<SolutionComponent>,
    /// [min, max] of every force component; ±∞ where unbounded.
    pub intervals: Vec<[f64; 2]>,
    /// The forces of least norm; `None` where there are none, or the search for them was given up.
    pub minimum_norm: Option<Vec<f64>>,
    /// The part of the forces that all solutions share; `None` where there are none, or where solutions
    /// differ in their acceleration.
    pub unique_part: Option<Vec<f64>>,
}

/// A set of solutions at one of its points.
struct Component {
    found_modes: Vec<crate::modes::Mode>,
    force: Vec<BigRational>,
    velocity: Vec<BigRational>,
    acceleration: Vec<BigRational>,
    columns: Vec<Column>,
    /// The coefficients of its generators at the point, and which of them have any sign.
    coefficients: Vec<BigRational>,
    free: Vec<bool>,
    /// Whether its forces of least norm were found.
    is_least: bool,
    /// The least and the greatest of each force; `None` where there is no bound.
    ranges: Vec<[Option<BigRational>; 2]>,
}

/// A direction of a set of solutions.
struct Column {
    force: Vec<BigRational>,
    velocity: Vec<BigRational>,
    acceleration: Vec<BigRational>,
    /// Of the coefficients of generators.
    coefficients: Vec<BigRational>,
}

fn zeros(count: usize) -> Vec<BigRational> {
    vec![BigRational::from_integer(BigInt::from(0)); count]
}

fn over(x: &[Int], denominator: &BigInt) -> Vec<BigRational> {
    x.iter().map(|x| BigRational::new(x.to_big(), denominator.clone())).collect()
}

impl Modes {
    /// The acceleration of forces and velocities, coordinates that nothing determines at zero; without the
    /// constant terms a change of it.
    fn acceleration(&self, f: &[BigRational], u: &[BigRational], constant: bool) -> Vec<BigRational> {
        let (n, m) = (self.coordinates, f.len());
        let mut a = zeros(n);
        for (c, row) in &self.accelerations {
            let last = if constant { row[n + 2 * m].to_big() } else { BigInt::from(0) };
            let mut sum = BigRational::from_integer(last);
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
            let mut a = zeros(self.coordinates);
            a[free] = BigRational::from_integer(BigInt::from(1));
            for (c, row) in &self.accelerations {
                a[*c] = -BigRational::new(row[free].to_big(), self.relations.denominator.to_big());
            }
            a
        })
    }

    /// The solutions of one mode, at their forces of least norm.
    fn component(&self, found: &Found) -> Component {
        let choice = &found.choice;
        let (f, u) = found.point.clone();
        let mut component = Component {
            found_modes: choice.iter().enumerate().map(|(k, &p)| self.cones[k][p].mode).collect(),
            acceleration: self.acceleration(&f, &u, true),
            ranges: f.iter().map(|x| [Some(x.clone()), Some(x.clone())]).collect(),
            force: f,
            velocity: u,
            columns: vec![],
            coefficients: vec![],
            free: self.generators(choice).map(|(_, g)| g.free).collect(),
            is_least: true,
        };
        let tableau = self.equations(self.generators(choice));
        let Some(mut polyhedron) = Polyhedron::feasible(tableau, component.free.clone()) else {
            return component;
        };
        let directions = if found.several { polyhedron.directions() } else { vec![] };
        let one = BigInt::from(1);
        for x in directions {
            let (f, u) = self.expand(choice, &x);
            let (force, velocity) = (over(&f, &one), over(&u, &one));
            let acceleration = self.acceleration(&force, &velocity, false);
            component.columns.push(Column { force, velocity, acceleration, coefficients: over(&x, &one) });
        }
        let m = component.force.len();
        for acceleration in self.kernel_directions() {
            let coefficients = zeros(component.free.len());
            component.columns.push(Column {
                force: zeros(m),
                velocity: zeros(m),
                acceleration,
                coefficients,
            });
        }
        // The vertex at which the polyhedron stands now takes the place of the one found first.
        let denominator = polyhedron.tableau.denominator.to_big();
        component.coefficients = over(&polyhedron.point(), &denominator);
        let (f, u) = self.expand(choice, &polyhedron.point());
        (component.force, component.velocity) = (over(&f, &denominator), over(&u, &denominator));
        component.acceleration = self.acceleration(&component.force, &component.velocity, true);
        if found.force_moves {
            component.ranges = self.ranges(choice);
            component.move_to_least_norm();
        }
        component
    }

    /// The least and the greatest of each force over the solutions of a mode.
    fn ranges(&self, choice: &[usize]) -> Vec<[Option<BigRational>; 2]> {
        // A free column for each force, y_i = f_i.
        let mut tableau = self.equations(self.generators(choice));
        let (m, count) = (self.jacobian.len(), self.generators(choice).count());
        for row in &mut tableau.rows {
            row.splice(count..count, vec![Int::ZERO; m]);
        }
        let one = tableau.denominator.clone();
        for i in 0..m {
            let along = |(at, g): (usize, &Generator)| {
                let inside = (at..at + g.along.force.len()).contains(&i);
                if inside { g.along.force[i - at].times(&one).negated() } else { Int::ZERO }
            };
            let unit = (0..m).map(|j| if j == i { one.clone() } else { Int::ZERO });
            tableau.rows.push(self.generators(choice).map(along).chain(unit).chain([Int::ZERO]).collect());
        }
        let free = self.generators(choice).map(|(_, g)| g.free).chain((0..m).map(|_| true)).collect();
        let Some(mut p) = Polyhedron::feasible(tableau, free) else { return vec![[None, None]; m] };
        (count..count + m).map(|c| [p.extreme(c, -1), p.extreme(c, 1)]).collect()
    }
}

impl Component {
    fn move_to_least_norm(&mut self) {
        let directions: Vec<&[BigRational]> = self.columns.iter().map(|c| &c.force[..]).collect();
        // Rays stay nonnegative.
        let bounds: Vec<(BigRational, Vec<BigRational>)> = (0..self.free.len())
            .filter(|&c| !self.free[c])
            .map(|c| {
                let along = self.columns.iter().map(|column| column.coefficients[c].clone()).collect();
                (self.coefficients[c].clone(), along)
            })
            .collect();
        let Some(step) = least_norm(&self.force, &directions, &bounds) else {
            self.is_least = false;
            return;
        };
        for (column, s) in self.columns.iter().zip(&step).filter(|(_, s)| s.numer().sign() != Sign::NoSign) {
            let parts = [
                (&mut self.force, &column.force),
                (&mut self.velocity, &column.velocity),
                (&mut self.acceleration, &column.acceleration),
                (&mut self.coefficients, &column.coefficients),
            ];
            for (x, along) in parts {
                x.iter_mut().zip(along).for_each(|(x, y)| *x += s * y);
            }
        }
    }

    fn rounded(&self) -> SolutionComponent {
        let rounded = |x: &[BigRational]| -> Vec<f64> { x.iter().map(to_double).collect() };
        SolutionComponent {
            modes: self.found_modes.clone(),
            force: rounded(&self.force),
            velocity: rounded(&self.velocity),
            acceleration: rounded(&self.acceleration),
            freedom: (!self.columns.is_empty()).then(|| self.freedom()),
            intervals: self.ranges.iter().map(|range| union(std::iter::once(range))).collect(),
        }
    }

    /// The directions, each of size one in its forces, or in its accelerations where forces do not move, and
    /// what bounds them.
    fn freedom(&self) -> Freedom {
        let sizes: Vec<BigRational> = self.columns.iter().map(Column::size).collect();
        let matrix = |rows: usize, part: fn(&Column) -> &Vec<BigRational>| {
            Matrix::from_fn(rows, sizes.len(), |i, j| to_double(&(&part(&self.columns[j])[i] / &sizes[j])))
        };
        let all = matrix(self.free.len(), |c| &c.coefficients);
        let (mut rows, mut limits) = (Vec::new(), Vec::new());
        for (c, x) in self.coefficients.iter().enumerate().filter(|(c, _)| !self.free[*c]) {
            let size = all.row(c).iter().fold(0.0_f64, |top, x| top.max(x.abs()));
            if size > 0.0 {
                rows.push(all.row(c).iter().map(|x| x / size).collect::<Vec<f64>>());
                limits.push(-to_double(x) / size);
            }
        }
        Freedom {
            force: matrix(self.force.len(), |c| &c.force),
            acceleration: matrix(self.acceleration.len(), |c| &c.acceleration),
            bounds: Matrix::from_fn(rows.len(), sizes.len(), |i, j| rows[i][j]),
            limits,
        }
    }

    /// ‖f‖².
    fn square(&self) -> BigRational {
        self.force.iter().map(|x| x * x).sum()
    }
}

impl Column {
    fn size(&self) -> BigRational {
        let largest =
            |x: &[BigRational]| x.iter().map(magnitude).max().filter(|x| x.numer().sign() != Sign::NoSign);
        largest(&self.force)
            .or_else(|| largest(&self.acceleration))
            .or_else(|| largest(&self.velocity))
            .unwrap_or_else(|| BigRational::from_integer(BigInt::from(1)))
    }
}

fn magnitude(x: &BigRational) -> BigRational {
    if x.numer().sign() == Sign::Minus { -x } else { x.clone() }
}

/// Sets of solutions up to which all are compared with each other: each comparison takes some linear
/// programs.
const MAX_COMPARED: usize = 64;

impl ExactSolutions {
    /// All of them; `None` where more than `MAX_COMPARED` modes have sets of solutions.
    pub fn list(&self) -> Option<ExactList> {
        if self.found.iter().filter(|x| x.several).count() > MAX_COMPARED {
            return None;
        }
        let all: Vec<Component> =
            self.modes.maximal(&self.found).into_iter().map(|found| self.modes.component(found)).collect();
        let rows = self.modes.jacobian.len();
        let least = all.iter().min_by_key(|c| c.square()).filter(|_| all.iter().all(|c| c.is_least));
        let rounded = |x: &[BigRational]| -> Vec<f64> { x.iter().map(to_double).collect() };
        let intervals = if all.is_empty() { 0 } else { rows };
        Some(ExactList {
            intervals: (0..intervals).map(|i| union(all.iter().map(|c| &c.ranges[i]))).collect(),
            minimum_norm: least.map(|c| rounded(&c.force)),
            unique_part: all
                .first()
                .filter(|_| moves_alike(&all))
                .map(|first| rounded(&unique_part(first, &all))),
            components: all.iter().map(Component::rounded).collect(),
        })
    }
}

/// The interval that holds all ranges.
fn union<'a>(ranges: impl Iterator<Item = &'a [Option<BigRational>; 2]> + Clone) -> [f64; 2] {
    let unbounded = |end: usize| ranges.clone().any(|r| r[end].is_none());
    let ends = |end: usize| ranges.clone().filter_map(move |r| r[end].as_ref());
    let low = if unbounded(0) { None } else { ends(0).min() };
    let high = if unbounded(1) { None } else { ends(1).max() };
    [low.map_or(f64::NEG_INFINITY, to_double), high.map_or(f64::INFINITY, to_double)]
}

/// Whether all solutions have one acceleration.
fn moves_alike(all: &[Component]) -> bool {
    let is_zero = |x: &BigRational| x.numer().sign() == Sign::NoSign;
    all.iter().all(|c| {
        c.acceleration == all[0].acceleration && c.columns.iter().all(|d| d.acceleration.iter().all(is_zero))
    })
}

/// The forces of a component less what lies in the span of all differences of solutions.
fn unique_part(first: &Component, all: &[Component]) -> Vec<BigRational> {
    let mut span: Vec<Vec<BigRational>> = Vec::new();
    for c in all {
        span.push(c.force.iter().zip(&first.force).map(|(a, b)| a - b).collect());
        span.extend(c.columns.iter().map(|column| column.force.clone()));
    }
    without_span(&first.force, &span)
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
