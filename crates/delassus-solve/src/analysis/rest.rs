//! Rest that needs no friction: the acceleration is zero, and no other is possible.
//!
//! ```text
//! γ = 0 ,   F = Gᵀλ + Σₖ nₖ fₖ + Σₚ tₚ fₚ ,   fₖ ≥ 0 ,   |fₚ| ≤ μₚ Lₚ          ⇒   a = 0 , and a' = 0 for every solution
//! ```
//!
//! G are the rows of joints, nₖ the normals of contacts, tₚ the tangents of pads: contacts in the plane whose
//! normal moves a coordinate of its own, which a given load presses with Lₚ (dry friction and motors of
//! joints are put that way).
//!
//! Proof. With a = 0 and these forces u = γ = 0, and all laws hold. Let (a', f', u') be another solution. At
//! a pad f'_n = L: were it open, its load would close it. For each constraint (f − f')·(u − u') =
//! −f·u' + f'·u' ≤ 0: at a joint u' = 0; at a contact f·u' = f_n u'_n ≥ 0, as f has no friction there, and
//! f'·u' ≤ 0, as friction, rolling friction and spinning friction oppose u'; at a pad −f_t u'_t ≤
//! μ L |u'_t| = −f'·u'. Their sum is (f − f')ᵀJ(a − a') = (a − a')ᵀM(a − a'), which is positive where
//! a' ≠ a and M > 0. ∎
//!
//! All of it is checked in interval arithmetic, for all data within their bounds: entries that are zero for
//! sure stay zero, the forces are chosen away from zero and from their bounds, and a square part of the
//! balance that is regular by a margin takes up what the data may change.

use super::equilibrium::{GramFactor, definite_factor, gram_factor};
use crate::lcp::{Lp, linear_program};
use crate::linalg::{Interval, Matrix, RationalMatrix, Sparse, max_abs, rational};
use crate::modes::{ExactDynamics, bounds_of};
use crate::problem::{Dynamics, Law, row_offsets};
use num_bigint::BigInt;
use num_rational::BigRational;

/// Pivots below this part of the largest entry of a column leave the balance undecided.
const REGULAR: f64 = 1e-6;

/// A force that takes part in the balance.
struct Column {
    /// Its row of J.
    row: usize,
    /// Its size stays below this, for every value within the bounds; `None` for contacts, which push.
    below: Option<f64>,
}

/// Whether all numbers of an interval are greater than this; none of an undefined one.
fn is_above(x: Interval, least: f64) -> bool {
    x.lo > least
}

/// Where forces without friction hold everything at rest, for all data within these bounds: a solution exists
/// and its acceleration is the only one, and whether its forces are, as far as independent rows show it.
pub(super) fn rest_without_friction(d: &ExactDynamics<Interval>) -> Option<[Option<bool>; 3]> {
    // With one acceleration Jᵀ f is the same for all solutions.
    rests(d).then(|| [Some(true), Some(true), are_independent(&d.jacobian).then_some(true)])
}

/// Forces that hold the problem with these doubles at rest without friction, exactly, one per row; `None`
/// where none are found.
pub(super) fn equilibrium(d: &Dynamics) -> Option<Vec<BigRational>> {
    let bounds = bounds_of(d, 0.0);
    let (columns, own) = columns(&bounds)?;
    let mut force = vec![BigRational::from(BigInt::from(0)); d.jacobian.rows()];
    for (k, law) in d.laws.iter().enumerate() {
        let row = d.offsets()[k];
        if let (Law::CoulombPlane { .. }, Some(c)) = (law, coordinate_of_pad(&bounds, row)) {
            force[row] = rational(d.force[c])? / rational(d.jacobian[(row, c)])?;
        }
    }
    let touched = |i: &usize| !own.contains(i) && columns.iter().any(|c| d.jacobian[(c.row, *i)] != 0.0);
    let rows: Vec<usize> = (0..d.force.len()).filter(touched).collect();
    if rows.iter().all(|&i| d.force[i] == 0.0) {
        return Some(force);
    }
    let b = Matrix::from_fn(rows.len(), columns.len(), |i, j| d.jacobian[(columns[j].row, rows[i])]);
    let load: Vec<f64> = rows.iter().map(|&i| d.force[i]).collect();
    let (basis, _) = regular_part(&b)?;
    let inner = inner_forces(&b, &load, &columns)?;
    let outside: Vec<usize> = (0..columns.len()).filter(|j| !basis.contains(j)).collect();
    let all: Vec<usize> = (0..rows.len()).collect();
    let chosen: Vec<f64> = outside.iter().map(|&j| inner[j]).collect();
    let mut left = RationalMatrix::column(&load)?;
    if !outside.is_empty() {
        let taken = RationalMatrix::exact(&b.select(&all, &outside))?.mul(&RationalMatrix::column(&chosen)?);
        left = left.plus(&BigRational::from(BigInt::from(-1)), &taken);
    }
    let inside = RationalMatrix::exact(&b.select(&all, &basis))?.solve(&left)?;
    for (&j, x) in outside.iter().zip(&chosen) {
        force[columns[j].row] = rational(*x)?;
    }
    for (i, &j) in basis.iter().enumerate() {
        force[columns[j].row] = inside.get(i, 0);
    }
    Some(force)
}

/// Forces without friction that hold a problem at rest, as a proof that others can check.
#[derive(Clone, Debug)]
pub struct RestProof {
    /// One per row.
    pub forces: Vec<BigRational>,
    /// What shows that these rows reach every load on the coordinates that they touch, in the order in which
    /// they do.
    pub bound: GramFactor,
    /// What shows that M is positive definite.
    pub mass: GramFactor,
}

/// Forces that hold a problem at rest without friction, for all data within the bounds; the doubles are among
/// these. `None` where none are found.
pub fn rest_proof(d: &Dynamics, bounds: &ExactDynamics<Interval>) -> Option<RestProof> {
    if !rests(bounds) {
        return None;
    }
    let forces = equilibrium(d)?;
    let mut place = vec![None; d.force.len()];
    let (mut entries, mut count, mut columns) = (Vec::new(), 0, 0);
    for (row, _) in
        bounds.jacobian.iter().zip(&forces).filter(|(_, f)| **f != BigRational::from(BigInt::from(0)))
    {
        for (j, x) in row.iter().enumerate().filter(|(_, x)| **x != Interval::ZERO) {
            let at = *place[j].get_or_insert_with(|| {
                count += 1;
                count - 1
            });
            entries.push((at, columns, x.middle()));
        }
        columns += 1;
    }
    let bound = gram_factor(&Sparse::from_triplets(count, columns, &entries))?;
    let n = d.force.len();
    let mass = definite_factor(&Matrix::from_fn(n, n, |i, j| bounds.mass[i][j].middle()))?;
    Some(RestProof { forces, bound, mass })
}

fn rests(d: &ExactDynamics<Interval>) -> bool {
    let opposes = |law: &Law| {
        matches!(
            law,
            Law::Bilateral
                | Law::Unilateral
                | Law::CoulombPlane { .. }
                | Law::Coulomb { .. }
                | Law::Rolling { .. }
                | Law::Spinning { .. }
        )
    };
    if !d.laws.iter().all(opposes)
        || d.bias.iter().any(|b| *b != Interval::ZERO)
        || d.mu.iter().any(|mu| mu.lo.is_nan() || mu.lo < 0.0)
        || !Interval::is_positive_definite(&d.mass)
    {
        return false;
    }
    let Some((columns, own)) = columns(d) else { return false };
    let touched = |i: usize| columns.iter().any(|c| d.jacobian[c.row][i] != Interval::ZERO);
    let (rows, others): (Vec<usize>, Vec<usize>) =
        (0..d.force.len()).filter(|i| !own.contains(i)).partition(|&i| touched(i));
    if others.iter().any(|&i| d.force[i] != Interval::ZERO) {
        return false;
    }
    // Without load there are no forces.
    rows.iter().all(|&i| d.force[i] == Interval::ZERO) || is_balanced(d, &columns, &rows)
}

/// The forces that may balance F, and the coordinates of pads; `None` where a pad is not pressed for sure.
fn columns(d: &ExactDynamics<Interval>) -> Option<(Vec<Column>, Vec<usize>)> {
    let offsets = row_offsets(&d.laws);
    let (mut columns, mut own) = (Vec::new(), Vec::new());
    for (k, law) in d.laws.iter().enumerate() {
        let row = offsets[k];
        if let (Law::CoulombPlane { .. }, Some(c)) = (law, coordinate_of_pad(d, row)) {
            let load = d.force[c] / d.jacobian[row][c];
            let below = (d.mu[k] * load).lo;
            if !is_above(load, 0.0) || below.is_nan() {
                return None;
            }
            own.push(c);
            columns.push(Column { row: row + 1, below: Some(below) });
        } else {
            let below = law.is_bilateral().then_some(f64::INFINITY);
            columns.push(Column { row, below });
        }
    }
    Some((columns, own))
}

/// The coordinate that the normal of a pad moves, and nothing else does.
fn coordinate_of_pad(d: &ExactDynamics<Interval>, row: usize) -> Option<usize> {
    let zero = |x: &Interval| *x == Interval::ZERO;
    let mut moved = (0..d.force.len()).filter(|&i| !zero(&d.jacobian[row][i]));
    let (c, None) = (moved.next()?, moved.next()) else { return None };
    let alone = (0..d.jacobian.len()).all(|i| i == row || zero(&d.jacobian[i][c]))
        && (0..d.force.len()).all(|i| i == c || zero(&d.mass[i][c]) && zero(&d.mass[c][i]));
    alone.then_some(c)
}

/// Whether some forces, each within its bounds for sure, balance F in these coordinates.
fn is_balanced(d: &ExactDynamics<Interval>, columns: &[Column], rows: &[usize]) -> bool {
    let b = Matrix::from_fn(rows.len(), columns.len(), |i, j| d.jacobian[columns[j].row][rows[i]].middle());
    let load: Vec<f64> = rows.iter().map(|&i| d.force[i].middle()).collect();
    if !b.is_finite() || load.iter().any(|x| !x.is_finite()) {
        return false;
    }
    let Some((basis, inverse)) = regular_part(&b) else { return false };
    let Some(force) = inner_forces(&b, &load, columns) else { return false };
    // What the columns outside of the basis leave, times the inverse of the part inside.
    let rest: Vec<Interval> = rows
        .iter()
        .map(|&i| {
            let outside = (0..columns.len()).filter(|j| !basis.contains(j));
            outside.fold(d.force[i], |sum, j| sum - d.jacobian[columns[j].row][i] * Interval::point(force[j]))
        })
        .collect();
    let inside = solve(&inverse, |k, j| match basis.get(j) {
        Some(&column) => d.jacobian[columns[column].row][rows[k]],
        None => rest[k],
    });
    let Some(inside) = inside else { return false };
    (0..columns.len()).all(|j| {
        let x = match basis.iter().position(|k| *k == j) {
            Some(k) => inside[k],
            None => Interval::point(force[j]),
        };
        columns[j].below.map_or(is_above(x, 0.0), |below| x.magnitude() < below)
    })
}

/// Columns that make a square regular matrix, and its inverse.
fn regular_part(b: &Matrix) -> Option<(Vec<usize>, Matrix)> {
    let mut left = b.clone();
    let mut basis = Vec::new();
    for i in 0..b.rows() {
        // Relative to what the column was: what cancelled is no pivot.
        let size = |j: usize| left[(i, j)].abs() / max_abs(&b.col(j)).max(f64::MIN_POSITIVE);
        let best =
            (0..b.cols()).filter(|j| !basis.contains(j)).max_by(|x, y| size(*x).total_cmp(&size(*y)))?;
        if size(best) < REGULAR {
            return None;
        }
        basis.push(best);
        for k in i + 1..b.rows() {
            let factor = left[(k, best)] / left[(i, best)];
            let pivot = left.row(i).to_vec();
            left.row_mut(k).iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
        }
    }
    let all: Vec<usize> = (0..b.rows()).collect();
    let inverse = b.select(&all, &basis).solve_matrix(&Matrix::identity(b.rows()))?;
    inverse.is_finite().then_some((basis, inverse))
}

/// Forces that balance a load to rounding, as far from their bounds as possible.
fn inner_forces(b: &Matrix, load: &[f64], columns: &[Column]) -> Option<Vec<f64>> {
    let one = b.pseudo_solve(load);
    let size = max_abs(&one);
    // Its columns span all changes of forces that balance nothing.
    let kernel = b.row_space().null_basis;
    // Unknowns: changes along the kernel, and the slack t ≤ 1 in units of the largest force.
    let free = kernel.cols();
    let (mut rows, mut limits) = (Vec::new(), Vec::new());
    let mut demand = |i: usize, sign: f64, offset: f64| {
        let along = (0..free).map(|k| sign * kernel[(i, k)]);
        rows.push(along.chain([-size]).collect::<Vec<f64>>());
        limits.push(-sign * one[i] - offset);
    };
    for (i, column) in columns.iter().enumerate() {
        match column.below {
            None => demand(i, 1.0, 0.0),
            Some(below) if below.is_finite() => [1.0, -1.0].iter().for_each(|s| demand(i, *s, below)),
            Some(_) => {}
        }
    }
    rows.push((0..=free).map(|k| if k == free { -1.0 } else { 0.0 }).collect());
    limits.push(-1.0);
    let cost: Vec<f64> = (0..=free).map(|k| if k == free { -1.0 } else { 0.0 }).collect();
    let Lp::Optimal { point, .. } = linear_program(&cost, &Matrix::from_rows(&rows), &limits) else {
        return None;
    };
    let moved = kernel.mul_vec(&point[..free]);
    (point[free] > 0.0).then(|| one.iter().zip(&moved).map(|(x, y)| x + y).collect())
}

/// Whether rows are independent for all data within the bounds.
fn are_independent(rows: &[Vec<Interval>]) -> bool {
    let columns = rows.first().map_or(0, Vec::len);
    let b = Matrix::from_fn(rows.len(), columns, |i, j| rows[i][j].middle());
    if rows.len() > columns || !b.is_finite() {
        return rows.is_empty();
    }
    let Some((basis, inverse)) = regular_part(&b) else { return false };
    solve(&inverse, |k, j| basis.get(j).map_or(Interval::ZERO, |&column| rows[k][column])).is_some()
}

/// The solution of A x = b, [A | b] by its entries, from an inverse of A up to rounding; `None` where A may
/// be singular.
fn solve(inverse: &Matrix, entry: impl Fn(usize, usize) -> Interval) -> Option<Vec<Interval>> {
    let n = inverse.rows();
    let product =
        |i: usize, j: usize| (0..n).fold(Interval::ZERO, |sum, k| sum + entry(k, j) * inverse[(i, k)]);
    // Near the identity.
    let mut system: Vec<Vec<Interval>> = (0..n).map(|i| (0..=n).map(|j| product(i, j)).collect()).collect();
    for i in 0..n {
        if !is_above(system[i][i], 0.5) {
            return None;
        }
        let pivot = system[i].clone();
        for (_, row) in system.iter_mut().enumerate().filter(|(k, row)| *k != i && row[i] != Interval::ZERO) {
            let factor = row[i] / pivot[i];
            row.iter_mut().zip(&pivot).skip(i + 1).for_each(|(x, p)| *x = *x - factor * *p);
        }
    }
    Some((0..n).map(|i| system[i][n] / system[i][i]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modes::bounds_of;
    use crate::problem::Dynamics;

    /// Data are off by this part of the largest of their row.
    const ERROR: f64 = 1e-10;

    fn rests(d: &Dynamics) -> bool {
        super::rests(&bounds_of(d, ERROR))
    }

    /// A table on feet at (x, y), its centre of mass at the height 0.7: coordinates x, y, z and rotations.
    fn table(feet: &[[f64; 2]], load: [f64; 6]) -> Dynamics {
        let rows: Vec<[f64; 6]> = feet
            .iter()
            .flat_map(|[x, y]| {
                [[0.0, 0.0, 1.0, *y, -x, 0.0], [1.0, 0.0, 0.0, 0.0, -0.7, -y], [0.0, 1.0, 0.0, 0.7, 0.0, *x]]
            })
            .collect();
        Dynamics::new(
            Matrix::diagonal(&[1.3, 1.3, 1.3, 0.1, 0.2, 0.3]),
            load.to_vec(),
            Matrix::from_rows(&rows),
            vec![0.0; rows.len()],
            vec![Law::Coulomb { mu: 3.3 }; feet.len()],
        )
        .unwrap()
    }

    const FEET: [[f64; 2]; 4] = [[0.31, 0.2], [-0.29, 0.2], [-0.3, -0.21], [0.3, -0.2]];
    const WEIGHT: [f64; 6] = [0.0, 0.0, 12.753, 0.0, 0.0, 0.0];

    #[test]
    fn a_table_rests_where_its_weight_is_between_its_feet() {
        assert!(rests(&table(&FEET, WEIGHT)));
        assert!(rests(&table(&FEET[..3], [0.0, 0.0, 12.753, 1.0, 1.0, 0.0])));
        // Without the foot on one side it tips, and above the line between two feet the last digits decide.
        assert!(!rests(&table(&FEET[..2], WEIGHT)));
        assert!(!rests(&table(&[[0.3, 0.2], [-0.3, -0.2], [0.3, -0.2]], WEIGHT)));
        // One foot leaves no choice of forces, three with friction do.
        let ball = table(&[[0.0, 0.0]], WEIGHT);
        let answers = |d: &Dynamics| rest_without_friction(&bounds_of(d, ERROR)).unwrap()[2];
        assert_eq!((answers(&ball), answers(&table(&FEET, WEIGHT))), (Some(true), None));
        // Floating it needs no feet; pushed along the floor, by however little, it needs friction.
        assert!(rests(&table(&FEET, [0.0; 6])));
        assert!(!rests(&table(&FEET, [1e-12, 0.0, 12.753, 0.0, 0.0, 0.0])));
        // Lifted, turned about the vertical, moving.
        assert!(!rests(&table(&FEET, [0.0, 0.0, -1.0, 0.0, 0.0, 0.0])));
        assert!(!rests(&table(&FEET, [0.0, 0.0, 12.753, 0.0, 0.0, 1e-9])));
        let moving = Dynamics { bias: vec![1e-300; 12], ..table(&FEET, WEIGHT) };
        assert!(!rests(&moving));
    }

    #[test]
    fn laws_that_do_not_oppose_and_masses_that_are_singular_are_left_aside() {
        let with = |law: Law| Dynamics { laws: vec![law; 4], ..table(&FEET, WEIGHT) };
        assert!(!rests(&with(Law::Cone { mu: 0.5 })));
        let light =
            Dynamics { mass: Matrix::diagonal(&[1.0, 1.0, 1.0, 0.0, 1.0, 1.0]), ..table(&FEET, WEIGHT) };
        assert!(!rests(&light));
        // What cancels of a load is not zero for sure.
        let mut bounds = bounds_of(&table(&FEET, WEIGHT), ERROR);
        bounds.force[0] = Interval::new(-1e-17, 1e-17);
        assert!(!super::rests(&bounds));
        bounds.force[0] = Interval::UNDEFINED;
        assert!(!super::rests(&bounds));
    }

    #[test]
    fn equilibrium_is_checked_exactly_and_other_forces_are_refused() {
        use crate::analysis::certificate::{Certificate, Claims, Fact, MatrixOf};
        let claims = Claims { existence: Some(true), acceleration_unique: Some(true), forces_unique: None };
        let certificate = |d: &Dynamics, force: &[BigRational], claims: Claims| {
            let facts = vec![Fact::PositiveDefinite(MatrixOf::Mass), Fact::Equilibrium(force.to_vec())];
            Certificate::new("rest", d, facts, claims)
        };
        for d in
            [table(&FEET, WEIGHT), table(&FEET[..3], [0.0, 0.0, 12.753, 1.0, 1.0, 0.0]), slider(0.7, 0.15)]
        {
            let force = equilibrium(&d).unwrap();
            assert!(certificate(&d, &force, claims).verify());
            // Other forces, another load, a claim too many, a certificate that was changed.
            for k in 0..force.len() {
                let mut other = force.clone();
                other[k] += rational(1e-30).unwrap();
                assert!(!certificate(&d, &other, claims).verify());
            }
            let heavier = Dynamics { force: d.force.iter().map(|f| 1.5 * f).collect(), ..d.clone() };
            assert!(!certificate(&heavier, &force, claims).verify());
            assert!(!certificate(&d, &force, Claims { forces_unique: Some(true), ..claims }).verify());
            let mut changed = certificate(&d, &force, claims);
            changed.dynamics.mass[(0, 0)] *= 2.0;
            assert!(!changed.verify());
            let moving = Dynamics { bias: vec![1e-300; d.bias.len()], ..d.clone() };
            assert!(!certificate(&moving, &force, claims).verify());
        }
        // Friction that balances is no equilibrium without friction: a pushed table.
        let pushed = table(&FEET, [1.0, 0.0, 12.753, 0.0, 0.7, 0.0]);
        assert!(equilibrium(&pushed).is_none_or(|f| !certificate(&pushed, &f, claims).verify()));
        let mut force = equilibrium(&table(&FEET, WEIGHT)).unwrap();
        (0..4).for_each(|k| force[3 * k + 1] = rational(0.25).unwrap());
        assert!(!certificate(&pushed, &force, claims).verify());
    }

    /// A slider of mass 2 with dry friction: a pad that 5 N press on it, in a coordinate of its own.
    fn slider(push: f64, mu: f64) -> Dynamics {
        Dynamics::new(
            Matrix::diagonal(&[2.0, 1.0]),
            vec![push, 5.0],
            Matrix::from_rows(&[[0.0, 1.0], [1.0, 0.0]]),
            vec![0.0; 2],
            vec![Law::CoulombPlane { mu }],
        )
        .unwrap()
    }

    #[test]
    fn a_slider_rests_up_to_its_dry_friction() {
        assert!(rests(&slider(4.9, 1.0)) && rests(&slider(-4.9, 1.0)) && rests(&slider(0.7, 0.15)));
        // At the bound, beyond it, and without friction.
        assert!(!rests(&slider(5.0, 1.0)) && !rests(&slider(5.1, 1.0)) && !rests(&slider(0.1, 0.0)));
        // A contact whose normal presses what it rubs on is no pad: its friction does not count.
        let mut coupled = slider(1.0, 1.0);
        coupled.mass = Matrix::from_rows(&[[2.0, 0.5], [0.5, 1.0]]);
        assert!(!rests(&coupled));
    }
}
