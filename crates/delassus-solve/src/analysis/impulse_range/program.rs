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
use crate::linalg::{Matrix, norm};

/// How far a bound may be from the true one, as a part of the largest impulse.
const NEAR_BOUND: f64 = 1e-6;
/// How far a ray may leave the cones, relative to what the objective falls along it.
const RAY_ERROR: f64 = 1e-6;

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

    /// Whether an objective falls without end along a direction d that clarabel gives for a proof: −A d in
    /// the cones, cᵀd < 0.
    fn proves_unbounded(&self, objective: &[f64], direction: &[f64]) -> bool {
        let mut slack = vec![0.0; self.b.len()];
        for (j, d) in direction.iter().enumerate() {
            for k in self.a.colptr[j]..self.a.colptr[j + 1] {
                slack[self.a.rowval[k]] -= self.a.nzval[k] * d;
            }
        }
        let (mut first, mut error) = (0, 0.0_f64);
        for cone in &self.cones {
            let (rows, outside): (usize, fn(&[f64]) -> f64) = match cone {
                NonnegativeConeT(n) => (*n, |s| s.iter().fold(0.0, |m, x| m.max(-x))),
                SecondOrderConeT(n) => (*n, |s| norm(&s[1..]) - s[0]),
                _ => return false,
            };
            error = error.max(outside(&slack[first..first + rows]));
            first += rows;
        }
        let descent = -objective.iter().zip(direction).map(|(c, d)| c * d).sum::<f64>();
        direction.iter().all(|x| x.is_finite()) && descent > 0.0 && error <= RAY_ERROR * descent
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
            let gap = (found.obj_val - found.obj_val_dual).abs();
            let close = gap.max(found.r_prim).max(found.r_dual) <= NEAR_BOUND;
            match found.status {
                SolverStatus::DualInfeasible if self.proves_unbounded(&objective, &found.x) => {
                    return Some(Extreme::Unbounded);
                }
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
        // Two joints against each other are not bounded.
        let laws = [Law::Bilateral; 2];
        let coordinates = Coordinates::new(&laws, row_offsets(&laws), &[0.0; 2], 1e-9).unwrap();
        let program = Program::new(&coordinates, &start, &null, 2.0);
        assert!(matches!(program.extreme(0, 1.0), Some(Extreme::Unbounded)));
    }
}
