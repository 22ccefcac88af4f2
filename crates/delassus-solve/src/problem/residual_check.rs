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

use super::contact_problem::{ContactProblem, Form};
use super::law::{Law, MAX_LAW_ROWS};
use super::residual::{Point, Residual, fill_steps, measure, step_length};
use crate::linalg::Sparse;

/// Roundings of the terms of a free velocity: two bodies have twelve entries in a row of H, and a solve with
/// M and the sum with b are a few operations more.
const ROUNDINGS: f64 = 16.0;

/// Constraints up to which the blocks are kept for the next problem, with the H that they belong to: in large
/// problems hardly a step has the H of the one before, and to keep it costs as much as to find them.
const MAX_KNOWN_CONSTRAINTS: usize = 500;

/// What rounding may leave of terms of this size; below the least normal number digits are lost.
fn rounding(terms: f64) -> f64 {
    ROUNDINGS * f64::EPSILON * terms + f64::MIN_POSITIVE
}

/// What a check keeps of a problem, and scratch.
#[derive(Clone, Debug, Default)]
pub struct ResidualCheck {
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
                    let block = diagonal_block(delassus, first, law.dim());
                    self.step.push(step_length(law.dim(), |i, j| block[i][j]));
                    first += law.dim();
                }
            }
            Form::Global { mass, jacobian_transposed, force, bias } if self.diagonal.load(mass) => {
                self.body_velocity.clone_from(force);
                self.diagonal.solve(&mut self.body_velocity);
                self.find_free_velocity(jacobian_transposed, bias);
                if !self.diagonal.knows(&problem.laws, jacobian_transposed) {
                    self.diagonal.find_blocks(&problem.laws, jacobian_transposed);
                    self.step.clear();
                    for (law, block) in problem.laws.iter().zip(&self.diagonal.blocks) {
                        self.step.push(step_length(law.dim(), |i, j| block[i.min(j)][i.max(j)]));
                    }
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
    ) -> Residual {
        let Form::Global { jacobian_transposed: h, force, bias, .. } = &problem.form else {
            return Residual::INFINITE;
        };
        let bilateral = problem.laws.iter().all(|law| *law == Law::Bilateral);
        if !bilateral || !self.diagonal.is_diagonal || impulse.len() != bias.len() {
            return Residual::INFINITE;
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
        Residual { rounding: 0.0, ..found }
    }

    /// The residual of the impulses r in the problem that was loaded last; u is written to `velocity`.
    ///
    /// Infinite where r has not one entry per row, or r or u is not finite.
    pub fn residual(
        &mut self,
        problem: &ContactProblem,
        impulse: &[f64],
        velocity: &mut Vec<f64>,
    ) -> Residual {
        velocity.clear();
        velocity.resize(self.free_velocity.len(), 0.0);
        if impulse.len() != self.free_velocity.len() || problem.laws.len() != self.step.len() {
            return Residual::INFINITE;
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
        measure(&problem.laws, &at, &self.step, &self.noise)
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

/// The entries of a block on the diagonal that begins at this row; zero where nothing is stored.
fn diagonal_block(a: &Sparse, first: usize, rows: usize) -> [[f64; MAX_LAW_ROWS]; MAX_LAW_ROWS] {
    let mut block = [[0.0; MAX_LAW_ROWS]; MAX_LAW_ROWS];
    for (i, row) in block.iter_mut().enumerate().take(rows) {
        let (columns, values) = a.row(first + i);
        // Columns ascend.
        let from = columns.partition_point(|&c| c < first);
        for (&c, &x) in columns[from..].iter().zip(&values[from..]) {
            if c >= first + rows {
                break;
            }
            row[c - first] = x;
        }
    }
    block
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

/// A mass matrix without entries beside its diagonal, as that of rigid bodies in their principal axes: no
/// factors, no columns.
#[derive(Clone, Debug, Default)]
struct DiagonalMass {
    is_diagonal: bool,
    /// The diagonal, where M has nothing beside it.
    mass: Vec<f64>,
    /// Laws and H that the blocks come from, no laws where there are no blocks.
    laws: Vec<Law>,
    h: Sparse,
    /// The constraint of each column of H, and the first column of each constraint.
    constraint: Vec<usize>,
    first: Vec<usize>,
    /// The upper triangle of W_ii of each constraint, and scratch of the size of a row each.
    blocks: Vec<[[f64; MAX_LAW_ROWS]; MAX_LAW_ROWS]>,
    terms: Vec<f64>,
}

impl DiagonalMass {
    /// Takes over M; whether it is diagonal.
    fn load(&mut self, mass: &Sparse) -> bool {
        let alone = |i: usize| matches!(mass.row(i).0, &[column] if column == i);
        self.is_diagonal = (0..mass.rows()).all(alone);
        if !self.is_diagonal || self.mass != mass.values() {
            self.mass.clear();
            self.laws.clear();
        }
        if self.is_diagonal && self.mass.is_empty() {
            self.mass.extend_from_slice(mass.values());
        }
        self.is_diagonal
    }

    /// x ← M⁻¹ x.
    fn solve(&self, x: &mut [f64]) {
        x.iter_mut().zip(&self.mass).for_each(|(x, m)| *x /= m);
    }

    /// Whether the blocks are those of these laws and this H already.
    fn knows(&self, laws: &[Law], h: &Sparse) -> bool {
        self.laws == laws && self.h.has_bits_of(h)
    }

    /// The blocks W_ii in one pass over H.
    fn find_blocks(&mut self, laws: &[Law], h: &Sparse) {
        self.laws.clear();
        if laws.len() <= MAX_KNOWN_CONSTRAINTS {
            self.laws.extend_from_slice(laws);
            self.h.clone_from(h);
        }
        let DiagonalMass { mass, constraint, first, blocks, .. } = self;
        constraint.clear();
        first.clear();
        for (i, law) in laws.iter().enumerate() {
            first.push(constraint.len());
            constraint.extend((0..law.dim()).map(|_| i));
        }
        blocks.clear();
        blocks.resize(laws.len(), [[0.0; MAX_LAW_ROWS]; MAX_LAW_ROWS]);
        for (k, m) in mass.iter().enumerate() {
            let (mut columns, mut values) = h.row(k);
            let mobility = 1.0 / m;
            // The rows of a constraint stand side by side.
            while let Some(&column) = columns.first() {
                let c = constraint[column];
                let (block, base) = (&mut blocks[c], first[c]);
                // A contact with friction, all of whose rows move the body: the same sums at less cost.
                if let (&[i, _, k, ..], &[x, y, z, ..]) = (columns, values)
                    && (i, k) == (base, base + 2)
                    && laws[c].dim() == 3
                {
                    let [rx, ry, rz] = [x, y, z].map(|x| x * mobility);
                    block[0][0] += x * rx;
                    block[0][1] += y * rx;
                    block[0][2] += z * rx;
                    block[1][1] += y * ry;
                    block[1][2] += z * ry;
                    block[2][2] += z * rz;
                    (columns, values) = (&columns[3..], &values[3..]);
                    continue;
                }
                let own = columns.iter().take_while(|j| constraint[**j] == c).count();
                let (own_columns, own_values) = (&columns[..own], &values[..own]);
                (columns, values) = (&columns[own..], &values[own..]);
                for (a, (&j, value)) in own_columns.iter().zip(own_values).enumerate() {
                    let response = value * mobility;
                    let row = &mut block[j - base];
                    for (&i, other) in own_columns[a..].iter().zip(&own_values[a..]) {
                        row[i - base] += other * response;
                    }
                }
            }
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
