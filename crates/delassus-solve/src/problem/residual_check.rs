//! The residual of impulses from the data of a problem, without its Delassus matrix.
//!
//! ```text
//! M v = f + H r ,   u = Hᵀ v + b ,   e = ‖(r_i − P_i(r_i − ρ_i û_i))‖ / ‖(ρ_i q_i)‖ ,   q = Hᵀ M⁻¹ f + b
//! ```
//!
//! M ∈ R^{n×n} mass, block diagonal up to a permutation; H ∈ R^{n×m}, one column per contact row; r ∈
//! R^m impulses; ρ_i = 1/λ_max(sym W_ii), with the diagonal blocks W_ii = H_iᵀ M⁻¹ H_i alone. A problem in
//! the local form, u = W r + q, has its W already.
//!
//! Every solver of [`crate::contact`] is checked here. The factorization of M, the product with its inverse
//! and the blocks W_ii are computed by code that no solver calls. The sums run over the rows in their order:
//! the same bits for any number of threads. Checking a problem of the same size again allocates nothing.

mod diagonal_mass;

use super::contact_problem::{ContactProblem, Form};
use super::law::{Law, MAX_LAW_ROWS};
use super::natural_step::{fill_steps, step_length, step_length_of};
use super::residual::{Point, RelativeResidual, measure_relative};
use crate::linalg::Sparse;
use diagonal_mass::DiagonalMass;

/// Roundings of the terms of a free velocity: two bodies have twelve entries in a row of H, and a solve with
/// M and the sum with b are a few operations more.
const ROUNDINGS: f64 = 16.0;

/// What rounding may leave of terms of this size; below the least normal number digits are lost.
fn rounding(terms: f64) -> f64 {
    ROUNDINGS * f64::EPSILON * terms + f64::MIN_POSITIVE
}

/// What a check keeps of a problem, and scratch.
#[derive(Clone, Debug, Default)]
pub struct ResidualCheck {
    /// Whether no other problem will be loaded: nothing is kept for it.
    single: bool,
    /// q.
    free_velocity: Vec<f64>,
    /// ρ of each constraint.
    step: Vec<f64>,
    /// What rounding may leave of each entry of q, where its terms cancel; empty where q is given.
    noise: Vec<f64>,
    diagonal: DiagonalMass,
    mass: MassFactors,
    columns: Columns,
    /// M⁻¹ times the columns of H of one constraint; zero on all rows that the constraint does not touch.
    response: Vec<f64>,
    /// Momentum, then velocity of the bodies.
    body_velocity: Vec<f64>,
}

impl ResidualCheck {
    /// A check of one problem: what the next one might have in common with it is not kept.
    pub(crate) fn of_one_problem() -> Self {
        ResidualCheck { single: true, ..Default::default() }
    }

    /// Takes over the data of a problem: factors M, and computes q and ρ.
    pub fn load(&mut self, problem: &ContactProblem) {
        self.noise.clear();
        match &problem.form {
            Form::Local { delassus, free_velocity } => {
                self.step.clear();
                self.diagonal.laws.clear();
                self.free_velocity.clone_from(free_velocity);
                let mut first = 0;
                self.step.reserve(problem.laws.len());
                for law in &problem.laws {
                    self.step.push(step_at(delassus, first, law.dim()));
                    first += law.dim();
                }
            }
            Form::Global { mass, jacobian_transposed, force, bias } if self.diagonal.load(mass) => {
                self.body_velocity.clone_from(force);
                self.diagonal.solve(&mut self.body_velocity);
                self.find_free_velocity(jacobian_transposed, bias);
                if !self.diagonal.knows(&problem.laws, jacobian_transposed) {
                    self.diagonal.find_blocks(&problem.laws, jacobian_transposed, self.single);
                    self.step.clear();
                    self.diagonal.find_steps(&problem.laws, &mut self.step);
                }
            }
            Form::Global { mass, jacobian_transposed, force, bias } => {
                self.step.clear();
                self.mass.factor(mass);
                self.columns.transpose(jacobian_transposed);
                self.body_velocity.clone_from(force);
                self.mass.solve(&mut self.body_velocity);
                self.free_velocity.resize(bias.len(), 0.0);
                self.columns.velocity(&self.body_velocity, bias, &mut self.free_velocity);
                self.find_steps(&problem.laws);
                self.find_noise(bias);
            }
        }
        fill_steps(&mut self.step);
    }

    /// q = Hᵀ v + b and what rounding may leave of it, of |H|ᵀ |v| + |b|, for v = M⁻¹ f.
    fn find_free_velocity(&mut self, h: &Sparse, bias: &[f64]) {
        let ResidualCheck { free_velocity, noise, body_velocity, .. } = self;
        free_velocity.clear();
        free_velocity.resize(bias.len(), 0.0);
        noise.extend(bias.iter().map(|b| b.abs()));
        for (k, v) in body_velocity.iter().enumerate() {
            let (columns, values) = h.row(k);
            for (&j, h) in columns.iter().zip(values) {
                let term = h * v;
                free_velocity[j] += term;
                noise[j] += term.abs();
            }
        }
        free_velocity.iter_mut().zip(bias).for_each(|(q, b)| *q += b);
        noise.iter_mut().for_each(|size| *size = rounding(*size));
    }

    /// As [`ResidualCheck::residual`], where the rounding of the terms of W r counts as none too: for
    /// bilateral constraints alone, whose impulses have no other choice. Where light bodies carry heavy ones,
    /// W r is a difference of numbers much larger than q, and no r in floating point numbers has a small
    /// residual.
    ///
    /// Infinite where a constraint is not bilateral or the mass matrix is not diagonal.
    pub fn bilateral_residual(
        &mut self,
        problem: &ContactProblem,
        impulse: &[f64],
        velocity: &mut Vec<f64>,
    ) -> RelativeResidual {
        let Form::Global { jacobian_transposed: h, force, bias, .. } = &problem.form else {
            return RelativeResidual::INFINITE;
        };
        let bilateral = problem.laws.iter().all(|law| *law == Law::Bilateral);
        if !bilateral || !self.diagonal.is_diagonal || impulse.len() != bias.len() {
            return RelativeResidual::INFINITE;
        }
        let DiagonalMass { mass, terms, .. } = &mut self.diagonal;
        terms.clear();
        terms.extend(bias.iter().map(|b| b.abs()));
        for (k, m) in mass.iter().enumerate() {
            let (columns, values) = h.row(k);
            let loads = columns.iter().zip(values).map(|(&j, h)| (h * impulse[j]).abs()).sum::<f64>();
            let size = (force[k].abs() + loads) / m;
            columns.iter().zip(values).for_each(|(&j, h)| terms[j] += h.abs() * size);
        }
        terms.iter_mut().for_each(|size| *size = rounding(*size));
        std::mem::swap(&mut self.noise, &mut self.diagonal.terms);
        let found = self.residual(problem, impulse, velocity);
        std::mem::swap(&mut self.noise, &mut self.diagonal.terms);
        RelativeResidual { rounding: 0.0, ..found }
    }

    /// The residual of the impulses r in the problem that was loaded last; u is written to `velocity`.
    ///
    /// Infinite where r has not one entry per row, or r or u is not finite.
    pub fn residual(
        &mut self,
        problem: &ContactProblem,
        impulse: &[f64],
        velocity: &mut Vec<f64>,
    ) -> RelativeResidual {
        velocity.clear();
        velocity.resize(self.free_velocity.len(), 0.0);
        if impulse.len() != self.free_velocity.len() || problem.laws.len() != self.step.len() {
            return RelativeResidual::INFINITE;
        }
        match &problem.form {
            Form::Local { delassus, .. } => {
                delassus.mul_vec_into(impulse, velocity);
                velocity.iter_mut().zip(&self.free_velocity).for_each(|(u, q)| *u += q);
            }
            Form::Global { jacobian_transposed, force, bias, .. } => {
                let momentum = &mut self.body_velocity;
                jacobian_transposed.mul_vec_into(impulse, momentum);
                momentum.iter_mut().zip(force).for_each(|(p, f)| *p += f);
                if !self.diagonal.is_diagonal {
                    self.mass.solve(momentum);
                    self.columns.velocity(momentum, bias, velocity);
                } else {
                    self.diagonal.solve(momentum);
                    add_rows(jacobian_transposed, momentum, velocity);
                    velocity.iter_mut().zip(bias).for_each(|(u, b)| *u += b);
                }
            }
        }
        let at = Point { force: impulse, velocity, free_velocity: &self.free_velocity };
        measure_relative(&problem.laws, &at, &self.step, &self.noise)
    }

    /// [`rounding`] of |H|ᵀ |M⁻¹ f| + |b|. Joints of a body in free fall have no free velocity but
    /// what is left of numbers of the size of its speed.
    fn find_noise(&mut self, bias: &[f64]) {
        let ResidualCheck { columns, noise, body_velocity: v, .. } = self;
        let terms = |j: usize| columns.column(j).map(|(k, h)| (h * v[k]).abs()).sum::<f64>() + bias[j].abs();
        noise.extend((0..bias.len()).map(|j| rounding(terms(j))));
    }

    /// ρ from the blocks W_ii = H_iᵀ M⁻¹ H_i.
    fn find_steps(&mut self, laws: &[Law]) {
        let ResidualCheck { step, mass, columns, response: x, .. } = self;
        x.clear();
        x.resize(mass.body.len(), 0.0);
        let mut first = 0;
        for law in laws {
            let d = law.dim();
            let mut w = [[0.0; MAX_LAW_ROWS]; MAX_LAW_ROWS];
            for j in 0..d {
                let column = first + j;
                for (k, h) in columns.column(column) {
                    x[k] = h;
                }
                for (k, _) in columns.column(column) {
                    let body = mass.body[k];
                    if mass.last_column[body] != column {
                        mass.last_column[body] = column;
                        mass.solve_body(body, x);
                    }
                }
                for (i, w) in w.iter_mut().enumerate().take(d) {
                    w[j] = columns.column(first + i).map(|(k, h)| h * x[k]).sum();
                }
                for (k, _) in columns.column(column) {
                    mass.rows_of(mass.body[k]).iter().for_each(|&i| x[i] = 0.0);
                }
            }
            step.push(step_length(d, |i, j| w[i][j]));
            first += d;
        }
    }
}

/// ρ of the block on the diagonal that begins at this row.
fn step_at(a: &Sparse, first: usize, rows: usize) -> f64 {
    match rows {
        1 => step_of_rows::<1>(a, first),
        2 => step_of_rows::<2>(a, first),
        3 => step_of_rows::<3>(a, first),
        5 => step_of_rows::<5>(a, first),
        _ => step_of_rows::<MAX_LAW_ROWS>(a, first),
    }
}

/// [`step_at`] for N rows; entries that are not stored are zero.
fn step_of_rows<const N: usize>(a: &Sparse, first: usize) -> f64 {
    let mut block = [[0.0; N]; N];
    for (i, row) in block.iter_mut().enumerate() {
        let (columns, values) = a.row(first + i);
        // Columns ascend.
        let from = columns.partition_point(|&c| c < first);
        for (&c, &x) in columns[from..].iter().zip(&values[from..]).take(N) {
            if c >= first + N {
                break;
            }
            row[c - first] = x;
        }
    }
    step_length_of::<N>(|i, j| block[i][j])
}

/// u += Hᵀ v.
fn add_rows(h: &Sparse, v: &[f64], u: &mut [f64]) {
    for (k, v) in v.iter().enumerate() {
        let (columns, values) = h.row(k);
        for (&j, h) in columns.iter().zip(values) {
            u[j] += h * v;
        }
    }
}

/// The columns of H, each with its rows in ascending order; stored zeros are left out.
#[derive(Clone, Debug, Default)]
struct Columns {
    start: Vec<usize>,
    entries: Vec<(usize, f64)>,
    /// Where the next entry of each column goes.
    next: Vec<usize>,
}

impl Columns {
    fn transpose(&mut self, h: &Sparse) {
        let stored = || (0..h.rows()).flat_map(|k| h.row(k).0.iter().zip(h.row(k).1).map(move |e| (k, e)));
        self.start.clear();
        self.start.resize(h.cols() + 1, 0);
        for (_, (&j, _)) in stored().filter(|e| *e.1.1 != 0.0) {
            self.start[j + 1] += 1;
        }
        for j in 0..h.cols() {
            self.start[j + 1] += self.start[j];
        }
        self.next.clone_from(&self.start);
        self.entries.clear();
        self.entries.resize(self.start[h.cols()], (0, 0.0));
        for (k, (&j, &x)) in stored().filter(|e| *e.1.1 != 0.0) {
            self.entries[self.next[j]] = (k, x);
            self.next[j] += 1;
        }
    }

    fn column(&self, j: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.entries[self.start[j]..self.start[j + 1]].iter().copied()
    }

    /// u ← Hᵀ v + b.
    fn velocity(&self, v: &[f64], bias: &[f64], u: &mut [f64]) {
        for (j, (u, b)) in u.iter_mut().zip(bias).enumerate() {
            *u = self.column(j).map(|(k, h)| h * v[k]).sum::<f64>() + b;
        }
    }
}

/// The diagonal blocks of M, one per body, factored with row pivoting: P A = L U.
///
/// A singular block leaves numbers that are not finite, and with them an infinite residual.
#[derive(Clone, Debug, Default)]
struct MassFactors {
    /// The body of each row; while the bodies are found, a row of the same body.
    body: Vec<usize>,
    /// The rows of body b are `rows[start[b]..start[b + 1]]`, ascending.
    start: Vec<usize>,
    rows: Vec<usize>,
    /// Where the factor of each body begins in `factor`, row by row.
    offset: Vec<usize>,
    factor: Vec<f64>,
    /// The row that each step of the elimination takes for its pivot, in the order of `rows`.
    pivot: Vec<usize>,
    /// The place of each row in its body.
    place: Vec<usize>,
    /// The column of H for which a body was solved last.
    last_column: Vec<usize>,
    /// The entries of one body.
    gathered: Vec<f64>,
}

impl MassFactors {
    fn factor(&mut self, mass: &Sparse) {
        self.find_bodies(mass);
        self.factor.clear();
        self.factor.resize(self.offset[self.start.len() - 1], 0.0);
        self.pivot.clear();
        self.pivot.resize(mass.rows(), 0);
        for b in 0..self.start.len() - 1 {
            let (from, s) = (self.start[b], self.start[b + 1] - self.start[b]);
            let a = &mut self.factor[self.offset[b]..self.offset[b + 1]];
            for (k, &i) in self.rows[from..from + s].iter().enumerate() {
                let (columns, values) = mass.row(i);
                for (&j, &x) in columns.iter().zip(values).filter(|e| *e.1 != 0.0) {
                    a[s * k + self.place[j]] = x;
                }
            }
            eliminate(a, &mut self.pivot[from..from + s]);
        }
    }

    /// Rows that an entry of M joins belong to one body.
    fn find_bodies(&mut self, mass: &Sparse) {
        fn root(parent: &mut [usize], mut i: usize) -> usize {
            while parent[i] != i {
                parent[i] = parent[parent[i]];
                i = parent[i];
            }
            i
        }
        let n = mass.rows();
        self.body.clear();
        self.body.extend(0..n);
        for i in 0..n {
            let (columns, values) = mass.row(i);
            for (&j, _) in columns.iter().zip(values).filter(|(j, x)| **j != i && **x != 0.0) {
                let (a, b) = (root(&mut self.body, i), root(&mut self.body, j));
                self.body[a.max(b)] = a.min(b);
            }
        }
        // The least row of a body stands for it, and comes before all others.
        self.start.clear();
        self.place.clear();
        let mut bodies = 0;
        self.last_column.clear();
        for i in 0..n {
            let b = match self.body[i] {
                least if least == i => {
                    self.last_column.push(0);
                    bodies += 1;
                    bodies - 1
                }
                // Below i all entries are bodies already.
                parent => self.body[parent],
            };
            self.body[i] = b;
            self.place.push(self.last_column[b]);
            self.last_column[b] += 1;
        }
        self.offset.clear();
        self.start.push(0);
        self.offset.push(0);
        for b in 0..bodies {
            let s = self.last_column[b];
            self.start.push(self.start[b] + s);
            self.offset.push(self.offset[b] + s * s);
        }
        self.rows.clear();
        self.rows.resize(n, 0);
        for i in 0..n {
            self.rows[self.start[self.body[i]] + self.place[i]] = i;
        }
        self.last_column.fill(usize::MAX);
    }

    fn rows_of(&self, body: usize) -> &[usize] {
        &self.rows[self.start[body]..self.start[body + 1]]
    }

    /// x ← M⁻¹ x.
    fn solve(&mut self, x: &mut [f64]) {
        for b in 0..self.start.len() - 1 {
            self.solve_body(b, x);
        }
    }

    /// x ← M⁻¹ x on the rows of one body.
    fn solve_body(&mut self, body: usize, x: &mut [f64]) {
        let rows = &self.rows[self.start[body]..self.start[body + 1]];
        let a = &self.factor[self.offset[body]..self.offset[body + 1]];
        if let (&[i], &[mass]) = (rows, a) {
            x[i] /= mass;
            return;
        }
        let y = &mut self.gathered;
        y.clear();
        y.extend(rows.iter().map(|&i| x[i]));
        substitute(a, &self.pivot[self.start[body]..self.start[body + 1]], y);
        for (&i, y) in rows.iter().zip(y) {
            x[i] = *y;
        }
    }
}

/// A ← L and U with P A = L U, by rows; L has a unit diagonal.
fn eliminate(a: &mut [f64], pivot: &mut [usize]) {
    let s = pivot.len();
    for k in 0..s {
        let largest = (k..s).fold(k, |p, i| if a[s * i + k].abs() > a[s * p + k].abs() { i } else { p });
        pivot[k] = largest;
        if largest != k {
            for j in 0..s {
                a.swap(s * k + j, s * largest + j);
            }
        }
        for i in k + 1..s {
            let factor = a[s * i + k] / a[s * k + k];
            a[s * i + k] = factor;
            for j in k + 1..s {
                a[s * i + j] -= factor * a[s * k + j];
            }
        }
    }
}

/// x ← A⁻¹ x with what [`eliminate`] left.
fn substitute(a: &[f64], pivot: &[usize], x: &mut [f64]) {
    let s = pivot.len();
    for k in 0..s {
        x.swap(k, pivot[k]);
    }
    for i in 1..s {
        for j in 0..i {
            x[i] -= a[s * i + j] * x[j];
        }
    }
    for i in (0..s).rev() {
        for j in i + 1..s {
            x[i] -= a[s * i + j] * x[j];
        }
        x[i] /= a[s * i + i];
    }
}

#[cfg(test)]
mod tests;
