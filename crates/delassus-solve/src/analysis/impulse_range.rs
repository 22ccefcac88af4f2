//! Which normal impulses go with the same velocities: the least and the largest at every constraint.
//!
//! ```text
//! min / max r_n,i   subject to   M⁻¹H r = M⁻¹H r⁰ ,   r in the laws at the velocities u of r⁰
//! ```
//!
//! With the velocities known, a contact that opens has no impulse, one that slides has r_t = −μ r_n u_t/‖u_t‖, one that
//! sticks lies in its cone: a convex set, described by coordinates c per constraint (none, one, three), r = B c. Impulses are
//! unique where the columns of H B are independent; otherwise each bound is a second-order cone program in the null
//! space of H B, solved by `clarabel` and never believed beyond what the point it returns shows. The set being convex,
//! the mean of all points found is in it too, and lies inside of every cone in which any of them does: where the null
//! space of what is inside there is not empty, there are other impulses, wherever the solver's own point was.
//! A mechanism that stands on more legs than it needs has such a set (004 §6 names it as a weakness).

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SecondOrderConeT, SolverStatus,
    SupportedConeT,
};

use crate::linalg::{Matrix, norm};
use crate::problem::{Form, FrictionProblem, InvalidProblem, Law, inverse_blocks, row_offsets};

/// Columns beyond which no decomposition is tried.
pub const MAX_COLUMNS: usize = 600;
/// Columns up to which friction has its ranges too.
const FRICTION_COLUMNS: usize = 180;
/// Velocities below this part of the largest free velocity count as zero.
const AT_REST: f64 = 1e-7;
/// How far a bound may be from the true one, as a part of the largest impulse.
const NEAR_BOUND: f64 = 1e-6;
/// A range narrower than this part of the largest impulse is one impulse.
const ONE: f64 = 1e-6;

/// What is known of the impulses.
#[derive(Clone, Debug, PartialEq)]
pub enum ImpulseRange {
    /// The impulses are the only ones that go with these velocities.
    Unique,
    /// There are others.
    Ranges {
        /// Least and largest normal impulse (or impulse of a row) per constraint, infinite where nothing bounds it.
        normal: Vec<[f64; 2]>,
        /// The same of every row, in the order of the problem; of friction infinite in problems of more than 180 columns.
        rows: Vec<[f64; 2]>,
        /// The impulses of least norm among them, in the order of the problem.
        least_norm: Vec<f64>,
        /// Directions that span all differences of such impulses, one per column, where they were found.
        differences: Matrix,
    },
    /// Not decided.
    Unknown,
}

impl ImpulseRange {
    /// All impulses times a factor: forces, for one over the time of a step.
    pub fn scaled(self, factor: f64) -> Self {
        match self {
            ImpulseRange::Ranges { mut normal, mut rows, mut least_norm, differences } => {
                let ends = normal.iter_mut().chain(&mut rows).flatten();
                ends.chain(&mut least_norm).for_each(|x| *x *= factor);
                ImpulseRange::Ranges { normal, rows, least_norm, differences }
            }
            other => other,
        }
    }
}

/// How a constraint may change its impulse.
enum Freedom {
    /// Not at all.
    None,
    /// Along one direction, with a coordinate ≥ 0.
    Ray(Vec<f64>),
    /// Freely.
    Line,
    /// Inside its cone.
    Cone(f64),
}

/// The ranges of impulses around a solution, with its velocities kept.
pub fn impulse_range(problem: &FrictionProblem, impulse: &[f64]) -> Result<ImpulseRange, InvalidProblem> {
    let Form::Global { mass, jacobian_transposed, force, bias } = &problem.form else {
        return Ok(ImpulseRange::Unknown);
    };
    let first = row_offsets(&problem.laws);
    let columns: usize = first.last().copied().unwrap_or(0);
    if columns > MAX_COLUMNS {
        return Ok(ImpulseRange::Unknown);
    }
    // v = M⁻¹(f + H r), u = Hᵀ v + b.
    let mut total = jacobian_transposed.mul_vec(impulse);
    total.iter_mut().zip(force).for_each(|(x, f)| *x += f);
    let mut v = vec![0.0; total.len()];
    let mut free = vec![0.0; total.len()];
    let mut weight = vec![1.0; total.len()];
    for (rows, inverse) in inverse_blocks(mass)? {
        for (a, &i) in rows.iter().enumerate() {
            weight[i] = inverse[(a, a)].max(0.0).sqrt();
            for (b, &j) in rows.iter().enumerate() {
                v[i] += inverse[(a, b)] * total[j];
                free[i] += inverse[(a, b)] * force[j];
            }
        }
    }
    let velocity = |v: &[f64]| {
        let mut u = jacobian_transposed.tr_mul_vec(v);
        u.iter_mut().zip(bias).for_each(|(u, b)| *u += b);
        u
    };
    let u = velocity(&v);
    let scale = crate::linalg::max_abs(&velocity(&free)).max(f64::MIN_POSITIVE);
    let rest = AT_REST * scale;

    // Coordinates: r = B c, as columns (constraint, direction).
    let mut directions: Vec<(usize, Vec<f64>)> = vec![];
    let mut freedoms = vec![];
    for (i, law) in problem.laws.iter().enumerate() {
        let rows = first[i]..first[i + 1];
        let unit = |k: usize, n: usize| (0..n).map(|j| if j == k { 1.0 } else { 0.0 }).collect::<Vec<f64>>();
        let u = &u[rows];
        let freedom = match *law {
            Law::Bilateral => Freedom::Line,
            Law::Unilateral if u[0] > rest => Freedom::None,
            Law::Unilateral => Freedom::Ray(vec![1.0]),
            Law::CoulombPlane { mu } | Law::Coulomb { mu } => {
                let slip = norm(&u[1..]);
                if u[0] > rest {
                    Freedom::None
                } else if mu == 0.0 || slip > rest {
                    let along = u[1..].iter().map(|t| if slip > rest { -mu * t / slip } else { 0.0 });
                    Freedom::Ray(std::iter::once(1.0).chain(along).collect())
                } else {
                    Freedom::Cone(mu)
                }
            }
            // The associated law: a slip goes with a velocity of separation.
            Law::Cone { mu } | Law::ConePlane { mu } => {
                let slip = norm(&u[1..]);
                if u[0] > mu * slip + rest {
                    Freedom::None
                } else if mu == 0.0 || slip > rest {
                    let along = u[1..].iter().map(|t| if slip > rest { -mu * t / slip } else { 0.0 });
                    Freedom::Ray(std::iter::once(1.0).chain(along).collect())
                } else {
                    Freedom::Cone(mu)
                }
            }
            Law::Sliding { .. } if u[0] > rest => Freedom::None,
            Law::Sliding { mu, slip } => {
                Freedom::Ray(std::iter::once(1.0).chain(slip.components().iter().map(|e| -mu * e)).collect())
            }
            _ => return Ok(ImpulseRange::Unknown),
        };
        match &freedom {
            Freedom::None => {}
            Freedom::Ray(d) => directions.push((i, d.clone())),
            Freedom::Line => directions.push((i, vec![1.0])),
            Freedom::Cone(_) => (0..law.dim()).for_each(|k| directions.push((i, unit(k, law.dim())))),
        }
        freedoms.push(freedom);
    }
    let dense = jacobian_transposed.to_dense();
    // Weighed with the root of the inverse mass, so that heavy and light bodies count alike.
    let a = Matrix::from_fn(dense.rows(), directions.len(), |row, c| {
        let (i, d) = &directions[c];
        weight[row] * d.iter().enumerate().map(|(k, x)| dense[(row, first[*i] + k)] * x).sum::<f64>()
    });
    let null = a.row_space_with(1e-10).null_basis;
    if null.cols() == 0 {
        return Ok(ImpulseRange::Unique);
    }
    let start: Vec<f64> = directions
        .iter()
        .map(|(i, d)| match d.iter().position(|&x| x == 1.0) {
            Some(k) => impulse[first[*i] + k],
            None => 0.0,
        })
        .collect();
    let size = crate::linalg::max_abs(impulse).max(f64::MIN_POSITIVE);
    let program = Program::new(&freedoms, &directions, &start, &null, size);
    let Some(shortest) = program.shortest() else { return Ok(ImpulseRange::Unknown) };
    let mut rows = vec![[0.0; 2]; impulse.len()];
    let mut mean = shortest.clone();
    let mut points = 1.0;
    let mut wide = false;
    for (c, (i, d)) in directions.iter().enumerate() {
        let own = first[*i] + d.iter().position(|&x| x == 1.0).unwrap_or(0);
        let is_friction = own > first[*i];
        if is_friction && directions.len() > FRICTION_COLUMNS {
            rows[own] = [f64::NEG_INFINITY, f64::INFINITY];
            continue;
        }
        let mut ends = [0.0; 2];
        let mut known = true;
        for (end, sign) in ends.iter_mut().zip([1.0, -1.0]) {
            *end = match program.extreme(c, sign) {
                Some(Extreme::At(point)) => {
                    mean.iter_mut().zip(&point).for_each(|(m, x)| *m += x);
                    points += 1.0;
                    point[c]
                }
                Some(Extreme::Unbounded) => -sign * f64::INFINITY,
                // Wide is honest, but shows nothing.
                None => {
                    known = false;
                    -sign * f64::INFINITY
                }
            };
        }
        if !is_friction && !matches!(freedoms[*i], Freedom::Line) {
            // A contact cannot pull, whatever rounding says.
            ends = ends.map(|x| x.max(0.0));
        }
        wide |= known && ends[1] - ends[0] > ONE * size;
        match &freedoms[*i] {
            Freedom::Ray(d) => {
                for (row, x) in rows[first[*i]..first[*i + 1]].iter_mut().zip(d).filter(|(_, x)| **x != 0.0) {
                    let scaled = ends.map(|end| x * end);
                    *row = [scaled[0].min(scaled[1]), scaled[0].max(scaled[1])];
                }
            }
            _ => rows[own] = ends,
        }
    }
    mean.iter_mut().for_each(|m| *m /= points);
    let differences = differences_at(&a, &freedoms, &directions, &first, &mean, ONE * size);
    if !wide && differences.cols() == 0 {
        return Ok(ImpulseRange::Unknown);
    }
    let mut least_norm = vec![0.0; impulse.len()];
    for ((i, d), c) in directions.iter().zip(&shortest) {
        d.iter().enumerate().for_each(|(k, x)| least_norm[first[*i] + k] += x * c);
    }
    let normal = first[..problem.laws.len()].iter().map(|&i| rows[i]).collect();
    Ok(ImpulseRange::Ranges { normal, rows, least_norm, differences })
}

/// In which directions a point of the set has others beside it, as rows of the problem: the null vectors of the columns that
/// can change both ways there. What lies on its cone can do so along its own ray.
fn differences_at(
    a: &Matrix,
    freedoms: &[Freedom],
    directions: &[(usize, Vec<f64>)],
    first: &[usize],
    point: &[f64],
    clear: f64,
) -> Matrix {
    // Each column as a combination of coordinates.
    let mut columns: Vec<Vec<(usize, f64)>> = vec![];
    let mut at = 0;
    for (i, freedom) in freedoms.iter().enumerate() {
        let count = directions[at..].iter().take_while(|(j, _)| *j == i).count();
        let own = at..at + count;
        at += count;
        match freedom {
            Freedom::None => {}
            Freedom::Line => columns.push(vec![(own.start, 1.0)]),
            Freedom::Ray(_) if point[own.start] > clear => columns.push(vec![(own.start, 1.0)]),
            Freedom::Cone(mu) if mu * point[own.start] - norm(&point[own.start + 1..own.end]) > clear => {
                columns.extend(own.map(|c| vec![(c, 1.0)]));
            }
            Freedom::Cone(_) if point[own.start] > clear => {
                let size = norm(&point[own.clone()]);
                columns.push(own.map(|c| (c, point[c] / size)).collect());
            }
            Freedom::Ray(_) | Freedom::Cone(_) => {}
        }
    }
    let sum = |x: &[(usize, f64)], of: &dyn Fn(usize) -> f64| x.iter().map(|&(c, x)| x * of(c)).sum::<f64>();
    let free = Matrix::from_fn(a.rows(), columns.len(), |row, k| sum(&columns[k], &|c| a[(row, c)]));
    let null = free.row_space_with(1e-10).null_basis;
    let mut found = Matrix::zeros(first.last().copied().unwrap_or(0), null.cols());
    for (k, column) in columns.iter().enumerate() {
        for &(c, x) in column {
            let (i, d) = &directions[c];
            for (row, along) in d.iter().enumerate() {
                (0..null.cols()).for_each(|z| found[(first[*i] + row, z)] += null[(k, z)] * x * along);
            }
        }
    }
    found
}

/// Where a coordinate is least or largest.
enum Extreme {
    /// All coordinates there.
    At(Vec<f64>),
    /// Nowhere: nothing bounds it.
    Unbounded,
}

/// c = c⁰ + Z y in the cones.
struct Program<'a> {
    start: &'a [f64],
    null: &'a Matrix,
    /// Length of the direction of each coordinate.
    weight: Vec<f64>,
    size: f64,
    a: CscMatrix<f64>,
    b: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
}

impl<'a> Program<'a> {
    fn new(
        freedoms: &[Freedom],
        directions: &[(usize, Vec<f64>)],
        start: &'a [f64],
        null: &'a Matrix,
        size: f64,
    ) -> Self {
        // s = b − A y in the cones: s = (the coordinates, the normal times μ) in units of `size`.
        let (mut rows, mut b, mut cones): (Vec<Vec<f64>>, Vec<f64>, Vec<SupportedConeT<f64>>) =
            Default::default();
        let mut at = 0;
        for (i, freedom) in freedoms.iter().enumerate() {
            let count = directions[at..].iter().take_while(|(j, _)| *j == i).count();
            let mut add = |c: usize, factor: f64| {
                rows.push(null.row(c).iter().map(|z| -factor * z).collect());
                b.push(factor * start[c] / size);
            };
            match freedom {
                Freedom::Ray(_) => {
                    add(at, 1.0);
                    cones.push(NonnegativeConeT(1));
                }
                Freedom::Cone(mu) => {
                    add(at, *mu);
                    (1..count).for_each(|k| add(at + k, 1.0));
                    cones.push(SecondOrderConeT(count));
                }
                Freedom::None | Freedom::Line => {}
            }
            at += count;
        }
        let n = null.cols();
        let (mut starts, mut indices, mut values) = (vec![0], vec![], vec![]);
        for j in 0..n {
            for (i, row) in rows.iter().enumerate().filter(|(_, row)| row[j] != 0.0) {
                indices.push(i);
                values.push(row[j]);
            }
            starts.push(indices.len());
        }
        let weight = directions.iter().map(|(_, d)| norm(d)).collect();
        let a = CscMatrix::new(rows.len(), n, starts, indices, values);
        Program { start, null, weight, size, a, b, cones }
    }

    /// The coordinates of least norm. A direction of friction counts with its length, so that the norm is that of r.
    fn shortest(&self) -> Option<Vec<f64>> {
        let n = self.null.cols();
        let weighed = |c: usize, j: usize| self.weight[c] * self.null[(c, j)];
        let rows = self.null.rows();
        let (mut starts, mut indices, mut values) = (vec![0], vec![], vec![]);
        for j in 0..n {
            for i in 0..=j {
                indices.push(i);
                values.push((0..rows).map(|c| weighed(c, i) * weighed(c, j)).sum());
            }
            starts.push(indices.len());
        }
        let hessian = CscMatrix::new(n, n, starts, indices, values);
        let linear: Vec<f64> = (0..n)
            .map(|j| (0..rows).map(|c| weighed(c, j) * self.weight[c] * self.start[c] / self.size).sum())
            .collect();
        for tolerance in [1e-12, 1e-10, 1e-8] {
            let (a, b, cones) = (&self.a, &self.b, &self.cones);
            let mut solver = DefaultSolver::new(&hessian, &linear, a, b, cones, settings(tolerance)).ok()?;
            solver.solve();
            if solver.solution.status == SolverStatus::Solved {
                return self.coordinates(&solver.solution.x);
            }
        }
        None
    }

    /// c⁰ + Z y, in the units of the problem.
    fn coordinates(&self, y: &[f64]) -> Option<Vec<f64>> {
        let at = |c: usize| self.null.row(c).iter().zip(y).map(|(z, y)| z * y).sum::<f64>();
        let found: Vec<f64> = (0..self.null.rows()).map(|c| self.start[c] + self.size * at(c)).collect();
        found.iter().all(|x| x.is_finite()).then_some(found)
    }

    /// Where sign · c[at] is least: the least (sign 1) or the largest (sign −1) value of a coordinate.
    fn extreme(&self, at: usize, sign: f64) -> Option<Extreme> {
        let n = self.null.cols();
        let objective: Vec<f64> = self.null.row(at).iter().map(|z| sign * z).collect();
        if norm(&objective) < 1e-12 {
            return Some(Extreme::At(self.start.to_vec()));
        }
        let zero = CscMatrix::zeros((n, n));
        // As sharp as it goes; a cone without an inside, as at the limit of friction, is hard to get close to.
        for tolerance in [1e-10, 1e-8] {
            let mut solver =
                DefaultSolver::new(&zero, &objective, &self.a, &self.b, &self.cones, settings(tolerance))
                    .ok()?;
            solver.solve();
            let found = &solver.solution;
            let gap = (found.obj_val - found.obj_val_dual).abs();
            let close = gap.max(found.r_prim).max(found.r_dual) <= NEAR_BOUND;
            match found.status {
                SolverStatus::DualInfeasible => return Some(Extreme::Unbounded),
                SolverStatus::Solved => return self.coordinates(&found.x).map(Extreme::At),
                // It could not get closer, and is close enough.
                SolverStatus::AlmostSolved | SolverStatus::InsufficientProgress if close => {
                    return self.coordinates(&found.x).map(Extreme::At);
                }
                _ => {}
            }
        }
        None
    }
}

fn settings(tolerance: f64) -> DefaultSettings<f64> {
    DefaultSettings {
        verbose: false,
        tol_gap_abs: tolerance,
        tol_gap_rel: tolerance,
        tol_feas: tolerance,
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Sparse;

    /// A rigid table of unit mass on legs at the corners (±1, ±1), its centre at (a, b), gravity impulse 1: rows of H
    /// are z, and the rotations about x and y; with friction also x, y and the rotation about z.
    fn table(a: f64, b: f64, mu: Option<f64>) -> FrictionProblem {
        let legs = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]].map(|[x, y]| [x - a, y - b]);
        let wide = if mu.is_some() { 3 } else { 1 };
        let mut entries = vec![];
        for (i, [x, y]) in legs.into_iter().enumerate() {
            entries.extend([(0, wide * i, 1.0), (1, wide * i, y), (2, wide * i, -x)]);
            if wide == 3 {
                entries.extend([(3, 3 * i + 1, 1.0), (4, 3 * i + 2, 1.0)]);
                entries.extend([(5, 3 * i + 1, -y), (5, 3 * i + 2, x)]);
            }
        }
        let laws = vec![mu.map_or(Law::Unilateral, |mu| Law::Coulomb { mu }); 4];
        let mut force = vec![0.0; 6];
        force[0] = -1.0;
        let form = Form::Global {
            mass: Sparse::from_dense(&Matrix::identity(6)),
            jacobian_transposed: Sparse::from_triplets(6, 4 * wide, &entries),
            force,
            bias: vec![0.0; 4 * wide],
        };
        FrictionProblem::new(laws, form).unwrap()
    }

    #[test]
    fn the_legs_of_a_table_share_its_weight_within_closed_bounds() {
        // N = N_min + s (1, −1, 1, −1)/2 with N_min from the three balances, s bounded by N ≥ 0.
        for mu in [None, Some(0.5)] {
            let problem = table(0.3, 0.1, mu);
            let options = Default::default();
            let found = crate::contact::solve(&problem, &options, None).unwrap();
            let ImpulseRange::Ranges { normal: ranges, least_norm, .. } =
                impulse_range(&problem, &found.impulse).unwrap()
            else {
                panic!("the legs share the weight in many ways")
            };
            let least: [f64; 4] = [0.35, 0.2, 0.15, 0.3];
            let (low, high) = (-2.0 * 0.15, 2.0 * 0.2);
            for (i, sign) in [1.0, -1.0, 1.0, -1.0].into_iter().enumerate() {
                let ends: [f64; 2] = [least[i] + sign * low / 2.0, least[i] + sign * high / 2.0];
                let expected = [ends[0].min(ends[1]), ends[0].max(ends[1])];
                // The gap at which the cone solver stops.
                let error = (0..2).map(|k| (ranges[i][k] - expected[k]).abs()).fold(0.0, f64::max);
                assert!(error < 1e-6, "{mu:?} leg {i}: {:?} {expected:?}", ranges[i]);
                let wide = problem.laws[i].dim();
                assert!((least_norm[wide * i] - least[i]).abs() < 1e-8, "{mu:?} leg {i}: {least_norm:?}");
            }
        }
    }

    #[test]
    fn friction_of_three_legs_is_not_unique_wherever_the_solver_stops() {
        // Three legs carry fixed shares, pushed along x by 0.99 of the limit: only friction can change. From points on
        // the cones as from points inside, the ranges are the same.
        let mut problem = table(0.0, 0.3, Some(0.5));
        problem.laws.truncate(3);
        let Form::Global { jacobian_transposed, force, bias, .. } = &mut problem.form else { panic!() };
        let kept: Vec<_> = jacobian_transposed.triplets().filter(|e| e.1 < 9).collect();
        *jacobian_transposed = Sparse::from_triplets(6, 9, &kept);
        bias.truncate(9);
        // Through the centre of pressure: every leg can rub in proportion to its load.
        (force[3], force[5]) = (-0.495, 0.0);
        let found = crate::contact::solve(&problem, &Default::default(), None).unwrap();
        let ImpulseRange::Ranges { normal, rows, least_norm, differences } =
            impulse_range(&problem, &found.impulse).unwrap()
        else {
            panic!("friction can change")
        };
        assert_eq!(differences.cols(), 3);
        // The place of the centre in the triangle of the legs.
        for (range, share) in normal.iter().zip([0.5, 0.15, 0.35]) {
            assert!(range.iter().all(|n| (n - share).abs() < 1e-7), "{normal:?}");
        }
        assert!(rows[1][1] - rows[1][0] > 1e-3, "{rows:?}");
        // From the least impulses the same answer comes out.
        let ImpulseRange::Ranges { rows: again, .. } = impulse_range(&problem, &least_norm).unwrap() else {
            panic!("friction can change")
        };
        for (a, b) in rows.iter().zip(&again) {
            assert!((a[0] - b[0]).abs() < 1e-6 && (a[1] - b[1]).abs() < 1e-6, "{a:?} {b:?}");
        }
    }

    #[test]
    fn three_legs_without_friction_leave_no_choice() {
        let mut problem = table(0.3, 0.1, None);
        problem.laws.truncate(3);
        let Form::Global { jacobian_transposed, bias, .. } = &mut problem.form else { panic!() };
        let kept: Vec<_> = jacobian_transposed.triplets().filter(|e| e.1 < 3).collect();
        *jacobian_transposed = Sparse::from_triplets(6, 3, &kept);
        bias.truncate(3);
        let found = crate::contact::solve(&problem, &Default::default(), None).unwrap();
        assert_eq!(impulse_range(&problem, &found.impulse).unwrap(), ImpulseRange::Unique);
    }
}
