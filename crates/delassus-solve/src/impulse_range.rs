//! Which normal impulses go with the same velocities: the least and the largest at every constraint.
//!
//! ```text
//! min / max r_n,i   subject to   M⁻¹H r = M⁻¹H r⁰ ,   r in the laws at the velocities u of r⁰
//! ```
//!
//! With the velocities known, a contact that opens has no impulse, one that slides has r_t = −μ r_n u_t/‖u_t‖, one that
//! sticks lies in its cone: a convex set, described by coordinates c per constraint (none, one, three), r = B c. Impulses are
//! unique where the columns of H B are independent; otherwise each bound is a second-order cone program in the null
//! space of H B, solved by `clarabel` and never believed beyond what the point it returns shows.
//! A mechanism that stands on more legs than it needs has such a set (004 §6 names it as a weakness).

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SecondOrderConeT, SolverStatus,
    SupportedConeT,
};

use crate::friction_problem::{Form, FrictionProblem, inverse_blocks};
use crate::law::{Law, row_offsets};
use crate::matrix::{Matrix, norm};
use crate::problem::InvalidProblem;

/// Columns beyond which no decomposition is tried.
pub const MAX_COLUMNS: usize = 600;
/// Velocities below this part of the largest free velocity count as zero.
const AT_REST: f64 = 1e-7;
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
        /// The impulses of least norm among them, in the order of the problem.
        least_norm: Vec<f64>,
    },
    /// Not decided.
    Unknown,
}

impl ImpulseRange {
    /// All impulses times a factor: forces, for one over the time of a step.
    pub fn scaled(self, factor: f64) -> Self {
        match self {
            ImpulseRange::Ranges { mut normal, mut least_norm } => {
                normal.iter_mut().flatten().chain(&mut least_norm).for_each(|x| *x *= factor);
                ImpulseRange::Ranges { normal, least_norm }
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
    let scale = crate::matrix::max_abs(&velocity(&free)).max(f64::MIN_POSITIVE);
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
    let size = crate::matrix::max_abs(impulse).max(f64::MIN_POSITIVE);
    let program = Program::new(&freedoms, &directions, &start, &null, size);
    let mut ranges = vec![[0.0; 2]; problem.laws.len()];
    let mut at = 0;
    let mut decided = true;
    for (i, freedom) in freedoms.iter().enumerate() {
        if matches!(freedom, Freedom::None) {
            continue;
        }
        for (k, sign) in [(0, 1.0), (1, -1.0)] {
            match program.extreme(at, sign) {
                Some(x) => ranges[i][k] = x,
                None => decided = false,
            }
        }
        at += directions.iter().filter(|(j, _)| *j == i).count();
    }
    if !decided {
        return Ok(ImpulseRange::Unknown);
    }
    let wide = ranges.iter().any(|[low, high]| high - low > ONE * size);
    // Friction may change alone: along the null space of what lies inside its cone and can move both ways.
    let inside: Vec<usize> = (0..directions.len())
        .filter(|&c| {
            let i = directions[c].0;
            let own = directions.iter().position(|(j, _)| *j == i).unwrap_or(c);
            match &freedoms[i] {
                Freedom::Line => true,
                Freedom::Cone(mu) => {
                    let t = norm(&start[own + 1..own + problem.laws[i].dim()]);
                    mu * start[own] - t > ONE * size
                }
                Freedom::Ray(_) => start[c] > ONE * size,
                Freedom::None => false,
            }
        })
        .collect();
    let all: Vec<usize> = (0..a.rows()).collect();
    let moves = wide || a.select(&all, &inside).row_space_with(1e-10).null_basis.cols() > 0;
    let Some(shortest) = program.shortest().filter(|_| moves) else { return Ok(ImpulseRange::Unknown) };
    let mut least_norm = vec![0.0; impulse.len()];
    for ((i, d), c) in directions.iter().zip(&shortest) {
        d.iter().enumerate().for_each(|(k, x)| least_norm[first[*i] + k] += x * c);
    }
    Ok(ImpulseRange::Ranges { normal: ranges, least_norm })
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
        let settings = DefaultSettings {
            verbose: false,
            tol_gap_abs: 1e-12,
            tol_gap_rel: 1e-12,
            tol_feas: 1e-12,
            ..Default::default()
        };
        let mut solver =
            DefaultSolver::new(&hessian, &linear, &self.a, &self.b, &self.cones, settings).ok()?;
        solver.solve();
        if !matches!(
            solver.solution.status,
            SolverStatus::Solved | SolverStatus::AlmostSolved | SolverStatus::InsufficientProgress
        ) {
            return None;
        }
        let y = &solver.solution.x;
        let at = |c: usize| self.null.row(c).iter().zip(y).map(|(z, y)| z * y).sum::<f64>();
        let found: Vec<f64> = (0..rows).map(|c| self.start[c] + self.size * at(c)).collect();
        found.iter().all(|x| x.is_finite()).then_some(found)
    }

    /// The least value of sign · c[at], times sign: the least (sign 1) or the largest (sign −1) value of a coordinate.
    fn extreme(&self, at: usize, sign: f64) -> Option<f64> {
        let n = self.null.cols();
        let objective: Vec<f64> = self.null.row(at).iter().map(|z| sign * z).collect();
        if norm(&objective) < 1e-12 {
            return Some(self.start[at]);
        }
        let settings = DefaultSettings { verbose: false, ..Default::default() };
        let zero = CscMatrix::zeros((n, n));
        let mut solver =
            DefaultSolver::new(&zero, &objective, &self.a, &self.b, &self.cones, settings).ok()?;
        solver.solve();
        match solver.solution.status {
            SolverStatus::Solved | SolverStatus::AlmostSolved => {
                let y = &solver.solution.x;
                let step: f64 = self.null.row(at).iter().zip(y).map(|(z, y)| z * y).sum();
                Some(self.start[at] + self.size * step)
            }
            SolverStatus::DualInfeasible | SolverStatus::AlmostDualInfeasible => Some(-sign * f64::INFINITY),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sparse::Sparse;

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
            let found = crate::solvers::friction::solve(&problem, &options, None).unwrap();
            let ImpulseRange::Ranges { normal: ranges, least_norm } =
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
    fn three_legs_without_friction_leave_no_choice() {
        let mut problem = table(0.3, 0.1, None);
        problem.laws.truncate(3);
        let Form::Global { jacobian_transposed, bias, .. } = &mut problem.form else { panic!() };
        let kept: Vec<_> = jacobian_transposed.triplets().filter(|e| e.1 < 3).collect();
        *jacobian_transposed = Sparse::from_triplets(6, 3, &kept);
        bias.truncate(3);
        let found = crate::solvers::friction::solve(&problem, &Default::default(), None).unwrap();
        assert_eq!(impulse_range(&problem, &found.impulse).unwrap(), ImpulseRange::Unique);
    }
}
