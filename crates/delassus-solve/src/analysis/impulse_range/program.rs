//! The cone programs of a set of impulses, solved by `clarabel`.
//!
//! ```text
//! c = c⁰ + Z y in the cones :      min ‖B c‖ ,      min ± cᵢ
//! ```
//!
//! c ∈ Rᵏ, Z is k × z, y ∈ Rᶻ.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SecondOrderConeT, SolverStatus,
    SupportedConeT,
};

use super::coordinates::{Coordinates, Freedom};
use crate::linalg::{Matrix, dot, norm};

/// How far a point may be from the optimum, as a part of the largest impulse.
const NEAR_BOUND: f64 = 1e-6;
/// How far a ray may leave the cones, relative to what the objective falls along it.
const RAY_ERROR: f64 = 1e-6;

/// Weight of a joint in the norm of contacts: its square, the share by which that may be missed, is that of
/// rounding in a program.
const JOINT_WEIGHT: f64 = 1e-4;

/// Where a coordinate is least or largest.
pub(super) enum Extreme {
    /// All coordinates there.
    At(Vec<f64>),
    /// Nowhere: nothing bounds it.
    Unbounded,
}

/// c = c⁰ + Z y in the cones.
pub(super) struct Program<'a> {
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
    /// The cones of these coordinates around `start`, with the null space Z.
    pub(super) fn new(coordinates: &Coordinates, start: &'a [f64], null: &'a Matrix, size: f64) -> Self {
        let Coordinates { freedoms, directions, .. } = coordinates;
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

    /// Counts bilateral rows hardly, so that the norm is that of contacts, and joints follow where it leaves
    /// them open.
    pub(super) fn with_light_joints(mut self, coordinates: &Coordinates) -> Self {
        for (weight, (i, _)) in self.weight.iter_mut().zip(&coordinates.directions) {
            if matches!(coordinates.freedoms[*i], Freedom::Line) {
                *weight *= JOINT_WEIGHT;
            }
        }
        self
    }

    /// The coordinates of least norm. A direction of friction counts with its length, so that the norm is
    /// that of r.
    pub(super) fn shortest(&self) -> Option<Vec<f64>> {
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
            let found = &solver.solution;
            // ½ yᵀPy + qᵀy has the gradient BᵀB y + q.
            let weighed = |c: usize| self.weight[c] * dot(self.null.row(c), &found.x);
            let scaled: Vec<f64> = (0..rows).map(|c| self.weight[c] * weighed(c)).collect();
            let gradient: Vec<f64> =
                self.null.tr_mul_vec(&scaled).iter().zip(&linear).map(|(g, q)| g + q).collect();
            if found.status == SolverStatus::Solved && self.is_optimal(&gradient, &found.x, &found.z) {
                return self.coordinates(&found.x);
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

    /// Whether an objective falls without end along a direction d that clarabel gives for a proof: −A d in
    /// the cones, cᵀd < 0.
    fn proves_unbounded(&self, objective: &[f64], direction: &[f64]) -> bool {
        let mut slack = vec![0.0; self.b.len()];
        self.subtract_product(direction, &mut slack);
        let descent = -dot(objective, direction);
        let finite = direction.iter().all(|x| x.is_finite());
        finite && descent > 0.0 && self.outside(&slack) <= RAY_ERROR * descent
    }

    /// Whether y is optimal, by the conditions of Karush, Kuhn and Tucker with the multipliers z that
    /// clarabel gives for a proof: b − A y and z in the cones, which are their own duals, g + Aᵀz = 0, and
    /// the gap gᵀy + bᵀz = 0, with the gradient g of the objective at y.
    fn is_optimal(&self, gradient: &[f64], y: &[f64], z: &[f64]) -> bool {
        let mut slack = self.b.clone();
        self.subtract_product(y, &mut slack);
        let column = |j: usize| self.a.colptr[j]..self.a.colptr[j + 1];
        let multiplied = |j: usize| column(j).map(|k| self.a.nzval[k] * z[self.a.rowval[k]]).sum::<f64>();
        let stationary =
            gradient.iter().enumerate().fold(0.0_f64, |m, (j, g)| m.max((g + multiplied(j)).abs()));
        let (objective, multipliers) = (dot(gradient, y), dot(&self.b, z));
        let most = NEAR_BOUND * (1.0 + objective.abs());
        let small = |x: f64| x <= most;
        y.iter().chain(z).all(|x| x.is_finite())
            && small(stationary)
            && small((objective + multipliers).abs())
            && small(self.outside(&slack))
            && small(self.outside(z))
    }

    /// s ← s − A y.
    fn subtract_product(&self, y: &[f64], s: &mut [f64]) {
        for (j, y) in y.iter().enumerate() {
            for k in self.a.colptr[j]..self.a.colptr[j + 1] {
                s[self.a.rowval[k]] -= self.a.nzval[k] * y;
            }
        }
    }

    /// How far s is outside of the cones, at most.
    fn outside(&self, s: &[f64]) -> f64 {
        let (mut first, mut error) = (0, 0.0_f64);
        for cone in &self.cones {
            let (rows, outside): (usize, fn(&[f64]) -> f64) = match cone {
                NonnegativeConeT(n) => (*n, |s| s.iter().fold(0.0, |m, x| m.max(-x))),
                SecondOrderConeT(n) => (*n, |s| norm(&s[1..]) - s[0]),
                _ => return f64::INFINITY,
            };
            error = error.max(outside(&s[first..first + rows]));
            first += rows;
        }
        error
    }

    /// Where sign · c[at] is least: the least (sign 1) or the largest (sign −1) value of a coordinate.
    pub(super) fn extreme(&self, at: usize, sign: f64) -> Option<Extreme> {
        let n = self.null.cols();
        let objective: Vec<f64> = self.null.row(at).iter().map(|z| sign * z).collect();
        if norm(&objective) < 1e-12 {
            return Some(Extreme::At(self.start.to_vec()));
        }
        let zero = CscMatrix::zeros((n, n));
        // The tightest tolerance first; a cone without interior, as at the limit of friction, is hard to
        // approach.
        for tolerance in [1e-10, 1e-8] {
            let mut solver =
                DefaultSolver::new(&zero, &objective, &self.a, &self.b, &self.cones, settings(tolerance))
                    .ok()?;
            solver.solve();
            let found = &solver.solution;
            match found.status {
                SolverStatus::DualInfeasible if self.proves_unbounded(&objective, &found.x) => {
                    return Some(Extreme::Unbounded);
                }
                // Also where it could not get closer, and is close enough.
                SolverStatus::Solved | SolverStatus::AlmostSolved | SolverStatus::InsufficientProgress
                    if self.is_optimal(&objective, &found.x, &found.z) =>
                {
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
    use crate::problem::{Law, row_offsets};

    #[test]
    fn two_contacts_share_a_load() {
        // c₁ + c₂ = 2, c ≥ 0.
        let laws = [Law::Unilateral; 2];
        let coordinates = Coordinates::new(&laws, row_offsets(&laws), &[0.0; 2], 1e-9).unwrap();
        let (start, null) = ([2.0, 0.0], Matrix::from_rows(&[[-1.0], [1.0]]));
        let program = Program::new(&coordinates, &start, &null, 2.0);
        let shortest = program.shortest().unwrap();
        // The tolerance of the cone program, 10⁻⁸ at worst.
        assert!(shortest.iter().all(|c| (c - 1.0).abs() < 1e-7), "{shortest:?}");
        for (sign, end) in [(1.0, 0.0), (-1.0, 2.0)] {
            let Some(Extreme::At(point)) = program.extreme(1, sign) else { panic!("the set is bounded") };
            assert!((point[1] - end).abs() < 1e-7, "{point:?}");
        }
        // A point that is not the end of the range is refused, whoever calls it that.
        let objective = [program.null[(1, 0)]];
        assert!(program.is_optimal(&objective, &[0.0], &[0.0, 1.0]));
        assert!(!program.is_optimal(&objective, &[0.5], &[0.0, 1.0]));
        assert!(!program.is_optimal(&objective, &[0.0], &[0.0, 0.5]));
        assert!(!program.is_optimal(&objective, &[-0.1], &[0.0, 1.0]));
        // Two joints against each other are not bounded.
        let laws = [Law::Bilateral; 2];
        let coordinates = Coordinates::new(&laws, row_offsets(&laws), &[0.0; 2], 1e-9).unwrap();
        let program = Program::new(&coordinates, &start, &null, 2.0);
        assert!(matches!(program.extreme(0, 1.0), Some(Extreme::Unbounded)));
    }
}
