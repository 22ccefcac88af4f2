//! The cone programs of a set of impulses, solved by `clarabel`.
//!
//! ```text
//! c = c⁰ + Z y in the cones :      min ‖B c‖ ,      min ± cᵢ
//! ```
//!
//! c ∈ Rᵏ, Z is k × z, y ∈ Rᶻ. Where z is large the ends of coordinates are found in c itself, with
//! A c = A c⁰ as equations: A = H B has a few entries per column, since a contact touches two bodies, and
//! Z is full. What is found there is carried to y = Zᵀ (c − c⁰), and is checked as what is found in y. So are
//! ends in parts of the problem ([`Parts`]), which are looked for first, by a method for such programs alone.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SecondOrderConeT, SolverStatus,
    SupportedConeT, ZeroConeT,
};

use super::coordinates::{Coordinates, Freedom};
use super::parts::Parts;
use crate::linalg::{Matrix, dot, norm};

/// How far a point may be from the optimum, as a part of the largest impulse.
const NEAR_BOUND: f64 = 1e-6;
/// Columns of Z from which ends are looked for in all coordinates.
const MANY_COLUMNS: usize = 32;
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
    /// The coordinate of each row of the cones, and its factor.
    places: Vec<(usize, f64)>,
    /// The same set in all coordinates, …
    wide: Option<Wide>,
    /// … and in parts that know nothing of each other.
    parts: Parts,
}

/// A c = A c⁰ , c in the cones: rows s = b − A c/size, the equations first.
struct Wide {
    equations: usize,
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
        let mut places = vec![];
        let mut at = 0;
        for (i, freedom) in freedoms.iter().enumerate() {
            let count = directions[at..].iter().take_while(|(j, _)| *j == i).count();
            let mut add = |c: usize, factor: f64| {
                rows.push(null.row(c).iter().map(|z| -factor * z).collect());
                b.push(factor * start[c] / size);
                places.push((c, factor));
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
        Program { start, null, weight, size, a, b, cones, places, wide: None, parts: Parts::default() }
    }

    /// Looks for ends in all coordinates, whose columns in H B these are: part by part where there are
    /// contacts alone, of joints too where Z has many columns.
    pub(super) fn with_columns(mut self, columns: &Matrix) -> Self {
        self.parts = Parts::new(columns, self.null, &self.cones, &self.places, self.start, self.size);
        if self.null.cols() < MANY_COLUMNS || self.parts.list.iter().all(|part| part.interior.is_some()) {
            return self;
        }
        let equations = columns.rows();
        let (mut starts, mut indices, mut values) = (vec![0], vec![], vec![]);
        for c in 0..columns.cols() {
            for i in (0..equations).filter(|&i| columns[(i, c)] != 0.0) {
                indices.push(i);
                values.push(columns[(i, c)]);
            }
            for (row, (_, factor)) in self.places.iter().enumerate().filter(|(_, place)| place.0 == c) {
                indices.push(equations + row);
                values.push(-factor);
            }
            starts.push(indices.len());
        }
        let a = CscMatrix::new(equations + self.places.len(), columns.cols(), starts, indices, values);
        let mut b: Vec<f64> = columns.mul_vec(self.start).iter().map(|x| x / self.size).collect();
        b.resize(equations + self.places.len(), 0.0);
        let mut cones = vec![ZeroConeT(equations)];
        cones.extend(self.cones.iter().cloned());
        self.wide = Some(Wide { equations, a, b, cones });
        self
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
        let first = self.extreme_of_part(at, sign, &objective);
        if let Some(found) = first.or_else(|| self.wide_extreme(at, sign, &objective)) {
            return Some(found);
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
            if let Some(end) = self.checked(found.status, &objective, &found.x, &found.z) {
                return Some(end);
            }
        }
        None
    }

    /// Whether two coordinates can change together.
    pub(super) fn are_together(&self, c: usize, d: usize) -> bool {
        self.parts.of.is_empty() || self.parts.of[c] == self.parts.of[d]
    }

    /// The same in the part of the coordinate, all others as they were; `None` where that finds none.
    fn extreme_of_part(&self, at: usize, sign: f64, objective: &[f64]) -> Option<Extreme> {
        let part = self.parts.list.get(*self.parts.of.get(at)?)?;
        let own = || part.rows.iter().map(|&row| (row, self.places[row]));
        let cost: Vec<f64> =
            own().map(|(_, (c, factor))| if c == at { sign / factor } else { 0.0 }).collect();
        let found = part.interior.as_ref()?.minimise(&cost)?;
        let mut moved = vec![0.0; self.start.len()];
        let mut multipliers = vec![0.0; self.places.len()];
        for ((row, (c, factor)), (x, z)) in own().zip(found.x.iter().zip(&found.z)) {
            moved[c] = x / factor - self.start[c] / self.size;
            multipliers[row] = *z;
        }
        self.checked(SolverStatus::Solved, objective, &self.null.tr_mul_vec(&moved), &multipliers)
    }

    /// The same, looked for in all coordinates; `None` where that finds none.
    fn wide_extreme(&self, at: usize, sign: f64, objective: &[f64]) -> Option<Extreme> {
        let Wide { equations, a, b, cones } = self.wide.as_ref()?;
        let k = self.start.len();
        let mut cost = vec![0.0; k];
        cost[at] = sign;
        let mut solver =
            DefaultSolver::new(&CscMatrix::zeros((k, k)), &cost, a, b, cones, settings(1e-10)).ok()?;
        solver.solve();
        let found = &solver.solution;
        let is_ray = found.status == SolverStatus::DualInfeasible;
        let from = |c: usize| if is_ray { 0.0 } else { self.start[c] / self.size };
        let moved: Vec<f64> = found.x.iter().enumerate().map(|(c, x)| x - from(c)).collect();
        self.checked(found.status, objective, &self.null.tr_mul_vec(&moved), &found.z[*equations..])
    }

    /// What y and z of a solver are worth.
    fn checked(&self, status: SolverStatus, objective: &[f64], y: &[f64], z: &[f64]) -> Option<Extreme> {
        match status {
            SolverStatus::DualInfeasible if self.proves_unbounded(objective, y) => Some(Extreme::Unbounded),
            // Also where it could not get closer, and is close enough.
            SolverStatus::Solved | SolverStatus::AlmostSolved | SolverStatus::InsufficientProgress
                if self.is_optimal(objective, y, z) =>
            {
                self.coordinates(y).map(Extreme::At)
            }
            _ => None,
        }
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

    /// Sixteen contacts with friction around one body, rows of the normal and two tangents: the ends are
    /// those of the null space, whichever way they are found; where joints pull at each other there is none.
    #[test]
    fn ends_are_the_same_in_all_coordinates() {
        let (count, mu) = (16, 0.4);
        let mut laws = vec![Law::Coulomb { mu }; count];
        laws.extend([Law::Bilateral; 2]);
        let k = 3 * count + 2;
        let columns = Matrix::from_fn(6, k, |row, c| {
            let angle = (c / 3) as f64 * 1.7;
            let arm = [angle.cos(), angle.sin() * 0.7, 0.1 * angle.sin()];
            let axis = [2, 0, 1][c % 3];
            let mut force = [0.0; 3];
            if c < 3 * count {
                force[axis] = 1.0;
            } else {
                force[0] = 1.0;
            }
            let moment = |i: usize, j: usize| arm[i] * force[j] - arm[j] * force[i];
            match row {
                0..3 => force[row],
                _ if c >= 3 * count => 0.0,
                3 => moment(1, 2),
                4 => moment(2, 0),
                _ => moment(0, 1),
            }
        });
        let mut start = vec![0.0; k];
        (0..count).for_each(|i| start[3 * i] = 1.0 + 0.3 * (i as f64).sin());
        let coordinates = Coordinates::new(&laws, row_offsets(&laws), &vec![0.0; k], 1e-9).unwrap();
        let null = columns.row_space_with(1e-10).null_basis;
        assert!(null.cols() >= MANY_COLUMNS);
        let narrow = Program::new(&coordinates, &start, &null, 1.3);
        let wide = Program::new(&coordinates, &start, &null, 1.3).with_columns(&columns);
        for c in [0, 1, 5, 17, 30, 47] {
            for sign in [1.0, -1.0] {
                let objective: Vec<f64> = null.row(c).iter().map(|z| sign * z).collect();
                let Some(Extreme::At(found)) = wide.wide_extreme(c, sign, &objective) else {
                    panic!("{c} {sign}")
                };
                let Some(Extreme::At(known)) = narrow.extreme(c, sign) else { panic!("{c} {sign}") };
                assert!((found[c] - known[c]).abs() < 1e-6, "{c}: {} {}", found[c], known[c]);
                // Found points are solutions: the balance of forces holds to rounding.
                let off: Vec<f64> = found.iter().zip(&start).map(|(a, b)| a - b).collect();
                assert!(norm(&columns.mul_vec(&off)) < 1e-12);
            }
        }
        let objective: Vec<f64> = null.row(3 * count).to_vec();
        assert!(matches!(wide.wide_extreme(3 * count, 1.0, &objective), Some(Extreme::Unbounded)));
    }

    /// Sixteen contacts around a body and three below another one: two parts, whose ends are those of the
    /// whole null space by the general method, and which leave each other alone.
    #[test]
    fn ends_are_the_same_in_parts() {
        let (counts, mu) = ([16, 3], 0.4);
        let laws = vec![Law::Coulomb { mu }; counts[0] + counts[1]];
        let k = 3 * laws.len();
        let columns = Matrix::from_fn(12, k, |row, c| {
            let second = c >= 3 * counts[0];
            if (row >= 6) != second {
                return 0.0;
            }
            let angle = (c / 3) as f64 * 1.7;
            let arm = [angle.cos(), angle.sin() * 0.7, 0.1 * angle.sin()];
            let mut force = [0.0; 3];
            force[[2, 0, 1][c % 3]] = 1.0;
            let moment = |i: usize, j: usize| arm[i] * force[j] - arm[j] * force[i];
            match row % 6 {
                row @ 0..3 => force[row],
                3 => moment(1, 2),
                4 => moment(2, 0),
                _ => moment(0, 1),
            }
        });
        let start: Vec<f64> = (0..k).map(|c| [1.0 + 0.02 * c as f64, 0.1, 0.0][c % 3]).collect();
        let coordinates = Coordinates::new(&laws, row_offsets(&laws), &vec![0.0; k], 1e-9).unwrap();
        let null = columns.row_space_with(1e-10).null_basis;
        let whole = Program::new(&coordinates, &start, &null, 1.3);
        let parts = Program::new(&coordinates, &start, &null, 1.3).with_columns(&columns);
        assert_eq!(parts.parts.list.len(), 2);
        assert!(parts.parts.list.iter().all(|part| part.interior.is_some()));
        assert!(parts.are_together(0, 47) && !parts.are_together(47, 48) && parts.are_together(48, 56));
        for c in [0, 1, 5, 30, 47, 48, 49, 56] {
            for sign in [1.0, -1.0] {
                let objective: Vec<f64> = null.row(c).iter().map(|z| sign * z).collect();
                let Some(Extreme::At(found)) = parts.extreme_of_part(c, sign, &objective) else {
                    panic!("{c} {sign}")
                };
                let Some(Extreme::At(known)) = whole.extreme(c, sign) else { panic!("{c} {sign}") };
                assert!((found[c] - known[c]).abs() < 1e-6, "{c}: {} {}", found[c], known[c]);
                let off: Vec<f64> = found.iter().zip(&start).map(|(a, b)| a - b).collect();
                assert!(norm(&columns.mul_vec(&off)) < 1e-10);
                let other = if c < 48 { &off[48..] } else { &off[..48] };
                assert!(norm(other) < 1e-10, "{other:?}");
            }
        }
    }

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
