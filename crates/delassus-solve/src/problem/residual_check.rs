//! The residual of impulses from the data of a problem, without its Delassus matrix.
//!
//! ```text
//! M v = f + H r ,   u = Hᵀ v + b ,   e = ‖(r_i − P_i(r_i − ρ_i û_i))‖ / ‖(ρ_i q_i)‖ ,   q = Hᵀ M⁻¹ f + b
//! ```
//!
//! M ∈ R^{n×n} mass, block diagonal up to an order of its rows; H ∈ R^{n×m}, one column per contact row; r ∈
//! R^m impulses; ρ_i = 1/λ_max(sym W_ii), with the diagonal blocks W_ii = H_iᵀ M⁻¹ H_i alone. A problem in
//! the local form, u = W r + q, has its W already.
//!
//! Every solver of [`crate::contact`] is checked here. The factorization of M, the product with its inverse
//! and the blocks W_ii are computed by code that no solver calls. The sums run over the rows in their order:
//! the same bits for any number of threads. A check of a problem of the size of the one before allocates
//! nothing.

use super::contact_problem::{ContactProblem, Form};
use super::law::{Law, MAX_LAW_ROWS};
use super::residual::{Point, Residual, measure, step_length};
use crate::linalg::Sparse;

/// Roundings of the terms of a free velocity: two bodies have twelve entries in a row of H, and a solve with
/// M and the sum with b are a few operations more.
const ROUNDINGS: f64 = 16.0;

/// What a check keeps of a problem, and scratch.
#[derive(Clone, Debug, Default)]
pub struct ResidualCheck {
    /// q.
    free_velocity: Vec<f64>,
    /// ρ of each constraint.
    step: Vec<f64>,
    /// What rounding may leave of q of each constraint, where its terms cancel; empty where q is given and
    /// not computed.
    noise: Vec<f64>,
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
        self.step.clear();
        self.noise.clear();
        match &problem.form {
            Form::Local { delassus, free_velocity } => {
                self.free_velocity.clone_from(free_velocity);
                let mut first = 0;
                for law in &problem.laws {
                    let block = |i: usize, j: usize| delassus.get(first + i, first + j);
                    self.step.push(step_length(law.dim(), block));
                    first += law.dim();
                }
            }
            Form::Global { mass, jacobian_transposed, force, bias } => {
                self.mass.factor(mass);
                self.columns.transpose(jacobian_transposed);
                self.body_velocity.clone_from(force);
                self.mass.solve(&mut self.body_velocity);
                self.free_velocity.resize(bias.len(), 0.0);
                self.columns.velocity(&self.body_velocity, bias, &mut self.free_velocity);
                self.find_steps(&problem.laws);
                self.find_noise(&problem.laws, bias);
            }
        }
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
                self.mass.solve(momentum);
                self.columns.velocity(momentum, bias, velocity);
            }
        }
        let at = Point { force: impulse, velocity, free_velocity: &self.free_velocity };
        measure(&problem.laws, &at, &self.step, |i| self.noise.get(i).copied().unwrap_or(0.0))
    }

    /// ε (|H|ᵀ |M⁻¹ f| + |b|) times [`ROUNDINGS`]. Joints of a body in free fall have no free velocity but
    /// what is left of numbers of the size of its speed.
    fn find_noise(&mut self, laws: &[Law], bias: &[f64]) {
        let ResidualCheck { columns, noise, body_velocity: v, .. } = self;
        let terms = |j: usize| columns.column(j).map(|(k, h)| (h * v[k]).abs()).sum::<f64>() + bias[j].abs();
        let mut first = 0;
        for law in laws {
            let largest = (first..first + law.dim()).map(terms).fold(0.0, f64::max);
            noise.push(ROUNDINGS * f64::EPSILON * largest);
            first += law.dim();
        }
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
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::contact::{ContactOptions, solve};
    use crate::linalg::Matrix;
    use crate::problem::{ContactView, Status, residual, settle, sphere_pile};

    fn checked(problem: &ContactProblem, impulse: &[f64]) -> (Residual, Vec<f64>) {
        let (mut check, mut velocity) = (ResidualCheck::default(), vec![]);
        check.load(problem);
        (check.residual(problem, impulse, &mut velocity), velocity)
    }

    fn global(mass: &Matrix, h: &Matrix, force: &[f64], bias: &[f64], laws: Vec<Law>) -> ContactProblem {
        let form = Form::Global {
            mass: Sparse::from_dense(mass),
            jacobian_transposed: Sparse::from_dense(h),
            force: force.to_vec(),
            bias: bias.to_vec(),
        };
        ContactProblem::new(laws, form).unwrap()
    }

    #[test]
    fn the_velocity_of_two_balls_between_walls() {
        // Masses 2 and 4; contacts wall–1, 1–2, 2–wall along one line, and a third body that touches nothing.
        let mass = Matrix::diagonal(&[2.0, 4.0, 1.0]);
        let h = Matrix::from_rows(&[[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [0.0, 0.0, 0.0]]);
        let p = global(&mass, &h, &[2.0, -8.0, 5.0], &[0.5, 0.0, 0.0], vec![Law::Unilateral; 3]);
        // r = (0, 2, 0): v = (0, −3/2, 5).
        let (found, u) = checked(&p, &[0.0, 2.0, 0.0]);
        assert_eq!(u, [0.5, -1.5, 1.5]);
        // ρ = (2, 4/3, 4), q = (1.5, −3, 2): F = (0, −2, 0), ‖ρ q‖² = 9 + 16 + 64.
        assert!((found.relative - 2.0 / 89f64.sqrt()).abs() <= 1e-15);
        assert!((found.rounding - 2.0 * f64::EPSILON / 89f64.sqrt()).abs() <= 1e-30);
        assert_eq!(found.velocity, 1.5);
    }

    #[test]
    fn what_rounding_leaves_of_a_free_velocity_is_no_error() {
        // Two bodies of masses 1 and 3 fall with 0.1 m/s and are held together: q is 0, or what 0.3/3 − 0.1
        // leaves.
        let mass = Matrix::diagonal(&[1.0, 3.0]);
        let h = Matrix::from_rows(&[[1.0], [-1.0]]);
        let p = global(&mass, &h, &[0.1, 0.3], &[2e-17], vec![Law::Bilateral]);
        assert_eq!(checked(&p, &[0.0]).0.relative, 0.0);
        // What is more than that counts, relative to the q that there is.
        assert!(checked(&p, &[1e-15]).0.relative > 1.0);
        // Given as a number, q is what it is.
        let (delassus, free_velocity) = p.local().unwrap();
        let given = ContactProblem::new(p.laws.clone(), Form::Local { delassus, free_velocity }).unwrap();
        assert_eq!(checked(&given, &[0.0]).0.relative, 1.0);
    }

    #[test]
    fn perturbed_impulses_are_refused() {
        let pile = sphere_pile(3, 0.5).unwrap();
        let (w, q) = pile.local().unwrap();
        let form = Form::Local { delassus: w, free_velocity: q };
        let local = ContactProblem::new(pile.laws.clone(), form).unwrap();
        let options = ContactOptions { tolerance: 1e-9, ..Default::default() };
        for problem in [&pile, &local] {
            let found = solve(problem, &options, None).unwrap();
            assert_eq!(found.status, Status::Solved);
            let (check, velocity) = checked(problem, &found.impulse);
            assert_eq!((check.relative, &velocity), (found.residual, &found.velocity));
            // One impulse changed by a millionth of the largest moves its contact by as much, a thousand
            // times the tolerance.
            let largest = crate::linalg::max_abs(&found.impulse);
            for k in [0, 7, problem.rows() - 1] {
                let mut forged = found.impulse.clone();
                forged[k] += 1e-6 * largest;
                let refused = checked(problem, &forged).0.relative;
                assert_eq!(
                    settle(refused, Status::Solved, options.tolerance),
                    Status::Stalled,
                    "{k} {refused}"
                );
            }
            let mut none = found.impulse.clone();
            none[0] = f64::NAN;
            assert_eq!(checked(problem, &none).0, Residual::INFINITE);
            assert_eq!(checked(problem, &none[1..]).0, Residual::INFINITE);
        }
    }

    #[test]
    fn a_singular_mass_has_an_infinite_residual() {
        let mass = Matrix::from_rows(&[[1.0, 1.0], [1.0, 1.0]]);
        let p = global(&mass, &Matrix::identity(2), &[1.0, 0.0], &[0.0; 2], vec![Law::Unilateral; 2]);
        assert_eq!(checked(&p, &[0.0, 0.0]).0, Residual::INFINITE);
    }

    #[test]
    fn units_do_not_count() {
        // Numbers whose squares are lost, by powers of two: the same bits.
        let q = [-1.0, 0.25, 0.125];
        let w = Matrix::from_rows(&[[2.0, 0.3, 0.1], [0.3, 1.0, 0.0], [0.1, 0.0, 1.5]]);
        let f = [0.5, 0.1, -0.05];
        let of = |mass: f64, speed: f64| {
            let w = Matrix::from_fn(3, 3, |i, j| mass * w[(i, j)]);
            let q = q.map(|x| speed * x);
            let form = Form::Local { delassus: Sparse::from_dense(&w), free_velocity: q.to_vec() };
            let p = ContactProblem::new(vec![Law::Coulomb { mu: 0.3 }], form).unwrap();
            checked(&p, &f.map(|x| x * speed / mass)).0.relative
        };
        let one = of(1.0, 1.0);
        assert!(one > 1e-3);
        for (mass, speed) in
            [(2f64.powi(600), 1.0), (1.0, 2f64.powi(-700)), (2f64.powi(-300), 2f64.powi(600))]
        {
            assert_eq!(of(mass, speed), one);
        }
    }

    proptest! {
        /// The same residual with W formed, on masses with blocks of 2 × 2 in a shuffled order.
        #[test]
        fn agrees_with_the_delassus_matrix(
            d in prop::collection::vec((0.5f64..4.0, 0.5f64..4.0, -0.9f64..0.9), 3),
            order in Just((0usize..6).collect::<Vec<_>>()).prop_shuffle(),
            h in prop::collection::vec(prop_oneof![Just(0.0), -2.0f64..2.0], 36),
            v in prop::collection::vec(-3.0f64..3.0, 18),
        ) {
            let mut mass = Matrix::zeros(6, 6);
            for (b, &(x, y, c)) in d.iter().enumerate() {
                let (i, j) = (order[2 * b], order[2 * b + 1]);
                mass[(i, i)] = x;
                mass[(j, j)] = y;
                mass[(i, j)] = c * (x * y).sqrt();
                mass[(j, i)] = mass[(i, j)];
            }
            let h = Matrix::from_vec(6, 6, h);
            let laws = vec![Law::Coulomb { mu: 0.4 }, Law::CoulombPlane { mu: 0.2 }, Law::Unilateral];
            let p = global(&mass, &h, &v[..6], &v[6..12], laws);
            let (w, q) = p.local().unwrap();
            let expected = residual(&ContactView::new(&w, &q, &p.laws).unwrap(), &v[12..]);
            let (found, u) = checked(&p, &v[12..]);
            // |c| ≤ 0.9 keeps the condition number below 200: twelve digits are left.
            let size = 1.0 + crate::linalg::max_abs(&u);
            for (u, (wf, q)) in u.iter().zip(w.mul_vec(&v[12..]).iter().zip(&q)) {
                prop_assert!((u - wf - q).abs() <= 1e-12 * size);
            }
            prop_assert!((found.relative - expected.relative).abs() <= 1e-11 * (1.0 + expected.relative));
        }
    }
}
