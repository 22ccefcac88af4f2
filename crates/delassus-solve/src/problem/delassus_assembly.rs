//! Elimination of the bodies from M v = f + H r, u = Hᵀ v + b: W = Hᵀ M⁻¹ H and q = Hᵀ M⁻¹ f + b, step after
//! step.
//!
//! M ∈ R^{n×n} is block diagonal up to an order of its rows, one block per body; H ∈ R^{n×m} has the contact
//! rows as columns. For a body b with the columns C_b of H that are not zero on it, X_b = M_b⁻¹ H_b, and W_ij
//! = Σ_b h_bᵢᵀ x_bⱼ over the bodies that both rows touch. Which entries there are is found once; as long as
//! the entries of M and H that are not zero stay where they are, a further elimination computes numbers only,
//! and allocates nothing. Where M and H are those of the elimination before, as at the end of one time step
//! and the start of the next, W stays and q alone is computed.

use super::mass_blocks::{diagonal_blocks, solve_block};
use super::{InvalidProblem, check_finite};
use crate::linalg::{Matrix, Sparse, small};

/// Rows of a body up to which its mass is factored here, without an allocation.
const MAX_STACK_ROWS: usize = 32;

/// Where the entries of a sparse matrix are that are not zero.
#[derive(Clone, Debug, Default)]
struct Places {
    start: Vec<usize>,
    column: Vec<usize>,
}

impl Places {
    fn set(&mut self, a: &Sparse) {
        self.start.clear();
        self.start.push(0);
        self.column.clear();
        for i in 0..a.rows() {
            self.column.extend(entries(a, i).map(|e| e.0));
            self.start.push(self.column.len());
        }
    }

    fn row(&self, i: usize) -> &[usize] {
        &self.column[self.start[i]..self.start[i + 1]]
    }

    fn are_those_of(&self, a: &Sparse) -> bool {
        self.start.len() == a.rows() + 1
            && (0..a.rows()).all(|i| entries(a, i).map(|e| e.0).eq(self.row(i).iter().copied()))
    }
}

/// Columns and values of row i that are not zero.
fn entries(a: &Sparse, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
    let (columns, values) = a.row(i);
    columns.iter().zip(values).filter(|e| *e.1 != 0.0).map(|(&j, &x)| (j, x))
}

fn refill<T: Copy>(list: &mut Vec<T>, len: usize, with: T) {
    list.clear();
    list.resize(len, with);
}

/// Adds the columns that were not seen by `viewer` yet to a list.
fn add_unseen(columns: &[usize], viewer: usize, seen: &mut [usize], list: &mut Vec<usize>) {
    for &j in columns {
        if seen[j] != viewer {
            seen[j] = viewer;
            list.push(j);
        }
    }
}

/// A body: a diagonal block of M, as ranges of the lists of [`Elimination`].
#[derive(Clone, Copy, Debug)]
struct Body {
    rows: (usize, usize),
    columns: (usize, usize),
    /// Where its numbers begin in `right` and `solved`: a column of H after the other, and f as the last.
    numbers: usize,
}

/// W and q of a problem in the global form, with scratch to compute them anew.
#[derive(Clone, Debug, Default)]
pub struct Elimination {
    /// W, m × m; symmetric to the last bit where M is.
    pub delassus: Sparse,
    /// q.
    pub free_velocity: Vec<f64>,
    /// Counts how often W was computed: where it is the same, so is W.
    pub revision: u64,
    /// Whether no other problem will follow: M and H are not kept to compare them with its own.
    single: bool,
    mass: Places,
    h: Places,
    /// Whether there is a W, and the M and H that it comes from.
    complete: bool,
    from_mass: Sparse,
    from_h: Sparse,
    bodies: Vec<Body>,
    /// Rows of M, body after body, and columns of H that touch each body, ascending.
    rows: Vec<usize>,
    columns: Vec<usize>,
    /// H and f of each body, and M⁻¹ times these, column by column.
    right: Vec<f64>,
    solved: Vec<f64>,
    /// The bodies that each contact row touches, and as which of their columns.
    touching_start: Vec<usize>,
    touching: Vec<(usize, usize)>,
    /// The place of each row of M in its body.
    local: Vec<usize>,
    /// One body's mass, its factor, and the scales of its rows.
    block: Vec<f64>,
    scale: Vec<f64>,
    /// One row of W, where the next entry of each row goes, and what was seen of each column.
    row: Vec<f64>,
    next: Vec<usize>,
    seen: Vec<usize>,
    /// v without impulses.
    free: Vec<f64>,
}

impl Elimination {
    /// For one problem alone.
    pub fn of_one_problem() -> Self {
        Elimination { single: true, ..Default::default() }
    }

    /// Computes W and q. An error where a body has no inverse mass, or a number overflows.
    pub fn renew(
        &mut self,
        mass: &Sparse,
        h: &Sparse,
        force: &[f64],
        bias: &[f64],
    ) -> Result<(), InvalidProblem> {
        let kept = self.complete && self.from_h.has_bits_of(h) && self.from_mass.has_bits_of(mass);
        self.complete = kept;
        let known = || {
            h.cols() + 1 == self.touching_start.len()
                && self.mass.are_those_of(mass)
                && self.h.are_those_of(h)
        };
        if !kept && !known() {
            self.find_places(mass, h);
        }
        let mut symmetric = true;
        for b in 0..self.bodies.len() {
            symmetric &= self.solve_body(b, mass, h, force, kept)?;
        }
        self.free_velocity.fill(0.0);
        for (i, v) in self.free.iter().enumerate() {
            for (j, x) in entries(h, i) {
                self.free_velocity[j] += x * v;
            }
        }
        for (q, b) in self.free_velocity.iter_mut().zip(bias) {
            *q += b;
        }
        // A mass whose inverse overflows leaves numbers that are none.
        if !kept {
            self.multiply(symmetric);
            check_finite("the Delassus matrix Hᵀ M⁻¹ H", self.delassus.values())?;
        }
        check_finite("the free velocity Hᵀ M⁻¹ f + b", &self.free_velocity)?;
        if !kept {
            self.revision += 1;
        }
        if !kept && !self.single {
            self.from_mass.clone_from(mass);
            self.from_h.clone_from(h);
            self.complete = true;
        }
        Ok(())
    }

    /// What does not change with the numbers. Takes no memory that it had before: entries of H that are zero
    /// but for rounding come and go from step to step.
    fn find_places(&mut self, mass: &Sparse, h: &Sparse) {
        let m = h.cols();
        if !self.mass.are_those_of(mass) {
            self.find_bodies(mass);
        }
        self.h.set(h);
        // Room for the entries that are zero now too.
        let (stored, body_count) = (h.stored(), self.bodies.len());
        self.columns.clear();
        self.columns.reserve(stored);
        refill(&mut self.touching_start, m + 1, 0);
        let (mut numbers, mut largest) = (0, 0);
        // The last body that each column was seen on.
        refill(&mut self.seen, m, usize::MAX);
        for (b, body) in self.bodies.iter_mut().enumerate() {
            let rows = &self.rows[body.rows.0..body.rows.1];
            let (touched, seen) = (&mut self.next, &mut self.seen);
            touched.clear();
            rows.iter().for_each(|&i| add_unseen(self.h.row(i), b, seen, touched));
            touched.sort_unstable();
            for &j in touched.iter() {
                self.touching_start[j + 1] += 1;
            }
            let column = self.columns.len();
            self.columns.extend_from_slice(touched);
            body.columns = (column, self.columns.len());
            body.numbers = numbers;
            numbers += rows.len() * (touched.len() + 1);
            largest = largest.max(rows.len());
        }
        for j in 0..m {
            self.touching_start[j + 1] += self.touching_start[j];
        }
        self.next.clone_from(&self.touching_start);
        self.touching.clear();
        self.touching.reserve(stored);
        self.touching.resize(self.touching_start[m], (0, 0));
        for (b, body) in self.bodies.iter().enumerate() {
            for (c, &j) in self.columns[body.columns.0..body.columns.1].iter().enumerate() {
                self.touching[self.next[j]] = (b, c);
                self.next[j] += 1;
            }
        }
        // The last row of W that each column was seen in.
        refill(&mut self.seen, m, usize::MAX);
        let Elimination { touching, touching_start: first, bodies, columns, next, seen, .. } = self;
        let bodies_of = |i: usize| touching[first[i]..first[i + 1]].iter().map(|(b, _)| *b);
        self.delassus.set_places(m, |i, column| {
            // The rows of a constraint, and those between the same bodies, have the same places.
            if i == 0 || !bodies_of(i).eq(bodies_of(i - 1)) {
                next.clear();
                for (first, last) in bodies_of(i).map(|b| bodies[b].columns) {
                    add_unseen(&columns[first..last], i, seen, next);
                }
                next.sort_unstable();
            }
            column.extend_from_slice(next);
        });
        for list in [&mut self.right, &mut self.solved] {
            list.clear();
            list.reserve(largest * (stored + body_count));
            list.resize(numbers, 0.0);
        }
        refill(&mut self.block, largest * largest, 0.0);
        refill(&mut self.scale, largest, 0.0);
        refill(&mut self.row, m, 0.0);
        refill(&mut self.free_velocity, m, 0.0);
        refill(&mut self.free, mass.rows(), 0.0);
    }

    /// The rows of each body.
    fn find_bodies(&mut self, mass: &Sparse) {
        self.mass.set(mass);
        self.bodies.clear();
        self.rows.clear();
        refill(&mut self.local, mass.rows(), 0);
        for rows in diagonal_blocks(mass) {
            for (k, &i) in rows.iter().enumerate() {
                self.local[i] = k;
            }
            let from = self.rows.len();
            self.rows.extend(rows);
            self.bodies.push(Body { rows: (from, self.rows.len()), columns: (0, 0), numbers: 0 });
        }
    }

    /// H, f and M⁻¹ times these for body b, f alone where H and M⁻¹ H are kept; whether its mass is
    /// symmetric.
    fn solve_body(
        &mut self,
        b: usize,
        mass: &Sparse,
        h: &Sparse,
        force: &[f64],
        kept: bool,
    ) -> Result<bool, InvalidProblem> {
        let body = self.bodies[b];
        let rows = &self.rows[body.rows.0..body.rows.1];
        let columns = &self.columns[body.columns.0..body.columns.1];
        let s = rows.len();
        let begin = if kept { columns.len() } else { 0 };
        let numbers = body.numbers + s * begin..body.numbers + s * (columns.len() + 1);
        let right = &mut self.right[numbers.clone()];
        let solved = &mut self.solved[numbers];
        if let &[i] = rows {
            let point_mass = entries(mass, i).next().map_or(0.0, |e| e.1);
            let last = right.len() - 1;
            if !kept {
                let values = h.row(i).1.iter().filter(|x| **x != 0.0);
                for ((right, solved), x) in right.iter_mut().zip(solved.iter_mut()).zip(values) {
                    (*right, *solved) = (*x, x / point_mass);
                }
            }
            (right[last], solved[last]) = (force[i], force[i] / point_mass);
            self.free[i] = solved[last];
            if point_mass == 0.0 || solved.iter().any(|x| !x.is_finite()) {
                return Err(InvalidProblem::SingularMass { row: i, size: 1 });
            }
            return Ok(true);
        }
        let a = &mut self.block[..s * s];
        a.fill(0.0);
        for (k, &i) in rows.iter().enumerate() {
            for (j, x) in entries(mass, i) {
                a[s * k + self.local[j]] = x;
            }
            right[s * (columns.len() - begin) + k] = force[i];
            if kept {
                continue;
            }
            // Both lists ascend.
            let mut c = 0;
            for (j, x) in entries(h, i) {
                while columns[c] != j {
                    c += 1;
                }
                right[s * c + k] = x;
            }
        }
        solved.copy_from_slice(right);
        let symmetric = (0..s).all(|i| (0..i).all(|j| a[s * i + j] == a[s * j + i]));
        let small = symmetric && s <= MAX_STACK_ROWS;
        if !small || !small::scaled_cholesky_solve(a, &mut self.scale[..s], solved) {
            // Large, indefinite, not symmetric, or singular.
            let mut dense = Matrix::zeros(s, s);
            for (k, &i) in rows.iter().enumerate() {
                for (j, x) in entries(mass, i) {
                    dense[(k, self.local[j])] = x;
                }
            }
            let count = columns.len() + 1 - begin;
            let all = Matrix::from_fn(s, count, |k, c| right[s * c + k]);
            let Some(x) = solve_block(&dense, &all) else {
                return Err(InvalidProblem::SingularMass { row: rows[0], size: s });
            };
            for c in 0..count {
                for k in 0..s {
                    solved[s * c + k] = x[(k, c)];
                }
            }
        }
        for (&i, v) in rows.iter().zip(&solved[s * (columns.len() - begin)..]) {
            self.free[i] = *v;
        }
        Ok(symmetric)
    }

    /// W from H and M⁻¹ H. The structure is symmetric; where M is, rounding is made so by taking the upper
    /// part for both.
    fn multiply(&mut self, symmetric: bool) {
        let (start, column, value) = self.delassus.parts_mut();
        let m = self.row.len();
        self.next.clear();
        self.next.extend_from_slice(&start[..m]);
        for i in 0..m {
            for &(b, c) in &self.touching[self.touching_start[i]..self.touching_start[i + 1]] {
                let body = self.bodies[b];
                let (s, columns) = (body.rows.1 - body.rows.0, &self.columns[body.columns.0..body.columns.1]);
                let own = &self.right[body.numbers + s * c..][..s];
                let first = if symmetric { c } else { 0 };
                let columns = columns[first..].iter();
                let solved = &self.solved[body.numbers + s * first..];
                // Rigid bodies in their principal axes have blocks of one row.
                if let &[h] = own {
                    columns.zip(solved).for_each(|(j, x)| self.row[*j] += h * x);
                    continue;
                }
                for (j, x) in columns.zip(solved.chunks_exact(s)) {
                    self.row[*j] += own.iter().zip(x).map(|(h, x)| h * x).sum::<f64>();
                }
            }
            let from = if symmetric { self.next[i] } else { start[i] };
            for k in from..start[i + 1] {
                let j = column[k];
                value[k] = std::mem::take(&mut self.row[j]);
                if symmetric && j > i {
                    value[self.next[j]] = value[k];
                    self.next[j] += 1;
                }
            }
        }
    }
}
