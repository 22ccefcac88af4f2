//! Contact problems with few degrees of freedom: Newton's method in the velocities of these.
//!
//! ```text
//! y = y* + Gᵀ r ,   u = G y + b ,   G = H M^(−½) (n × m) ,   y* = M^(−½) f ,   m few
//! ```
//!
//! Each step solves the equations that the present mode of each constraint asks for, as in `newton.rs`. They
//! are linear in the changes of r and of u = G y of the constraint itself,
//!
//! ```text
//! δr = −C (d + G δy)   →   (1 + Gᵀ C G) δy = −Gᵀ C d   (m × m)
//! ```
//!
//! where an active constraint, u = 0, has C = ρ/ε: a proximal step, which leaves the solutions where they
//! are. So redundant rows cost nothing but their products, however many there are: a chain of 25 degrees of
//! freedom that lies on 40 points has W of 120 rows and rank 25.

use crate::linalg::{axpy, dot, norm};
use crate::problem::{ContactProblem, Form, Law};

/// Degrees of freedom and rows up to which problems are solved here.
const MAX_DOFS: usize = 72;
const MAX_ROWS: usize = 480;
/// Steps, and steps without half of the error of the best one, after which a solve is given up.
const MAX_STEPS: usize = 40;
const MAX_IDLE_STEPS: usize = 6;
/// ε close to a solution, and the error from which on it is in proportion to that.
const LEAST_PROXIMAL: f64 = 1e-8;
const FAR: f64 = 1e-3;
/// The part of the tolerance that the own error shall reach: the residual is measured by another code.
const TARGET_RATIO: f64 = 0.2;
/// Beyond it steps go on to rounding, as long as each leaves less than this part of the error before.
const ROUNDING: f64 = 1e-15;
const POLISHED_RATIO: f64 = 0.1;
/// A step with factors of an earlier one that leaves more than this part of the error is the last such one.
const CHORD_RATIO: f64 = 0.1;

/// ε at an error relative to that of r = 0.
fn proximal(error: f64) -> f64 {
    if error > FAR { 1e-3 * error.min(1.0) } else { LEAST_PROXIMAL }
}

/// A constraint: its law, rows, degrees of freedom that it moves, and ρ of the normal and of the tangents.
#[derive(Clone, Copy, Debug)]
struct Constraint {
    law: Law,
    row: usize,
    span: [usize; 2],
    rho: [f64; 2],
}

/// What a constraint asks for in a step.
#[derive(Clone, Copy, Debug)]
enum Mode {
    /// r = 0.
    Open,
    /// u = 0.
    Hold,
    /// u_n = 0 (or μ‖u_t‖) and friction at its bound along e, with k = μ y_n/‖y_t‖.
    Slide { e: [f64; 2], k: f64 },
}

/// Memory of solves that is kept.
#[derive(Debug, Default)]
pub struct FewDofs {
    constraints: Vec<Constraint>,
    modes: Vec<Mode>,
    dofs: usize,
    /// G by rows, y*, b, and their q = G y* + b.
    g: Vec<f64>,
    start: Vec<f64>,
    bias: Vec<f64>,
    root_mass: Vec<f64>,
    r: Vec<f64>,
    u: Vec<f64>,
    f: Vec<f64>,
    y: Vec<f64>,
    /// 1 + Gᵀ C G, and the right-hand side, then δy.
    matrix: Vec<f64>,
    step: Vec<f64>,
    pivots: Vec<usize>,
    along: Vec<f64>,
    across: Vec<f64>,
    /// Whether the matrix has the factors of this G near a solution with the modes `frozen`.
    is_factored: bool,
    frozen: Vec<Mode>,
    g_before: Vec<f64>,
    laws_before: Vec<Law>,
}

impl FewDofs {
    /// Solves a problem in global form with a diagonal mass matrix from the impulses given; the steps that it
    /// took. `None` where the problem is none of these, is too large, or was not solved; the impulses then
    /// stay what they are.
    pub fn solve(&mut self, problem: &ContactProblem, tolerance: f64, impulse: &mut [f64]) -> Option<usize> {
        self.load(problem)?;
        self.r.clear();
        self.r.extend_from_slice(impulse);
        self.r.fill(0.0);
        let scale = self.scale();
        if scale == 0.0 {
            impulse.fill(0.0);
            return Some(0);
        }
        self.r.copy_from_slice(impulse);
        let target = TARGET_RATIO * tolerance;
        let found = self.iterate(target, scale, impulse);
        if found.is_some() || impulse.iter().all(|r| *r == 0.0) {
            return found;
        }
        self.r.fill(0.0);
        self.iterate(target, scale, impulse)
    }

    /// Newton's method from r; the steps to the impulses that are found.
    fn iterate(&mut self, target: f64, scale: f64, impulse: &mut [f64]) -> Option<usize> {
        let mut error = self.evaluate() / scale;
        if error <= target {
            impulse.copy_from_slice(&self.r);
            return Some(0);
        }
        let (mut best, mut idle, mut found) = (error, 0, None);
        let mut chord = self.is_factored;
        for steps in 1..=MAX_STEPS {
            let (near, before) = (proximal(error), error);
            chord &= near == LEAST_PROXIMAL && self.has_modes_of_factors();
            self.take_step(near, chord)?;
            error = self.evaluate() / scale;
            chord = if chord { error < CHORD_RATIO * before } else { near == LEAST_PROXIMAL };
            if error <= target && error < best {
                impulse.copy_from_slice(&self.r);
                found = Some(steps);
            }
            idle = if error < 0.5 * best { 0 } else { idle + 1 };
            best = best.min(error);
            let polished = error <= ROUNDING || error.is_nan() || error > POLISHED_RATIO * before;
            if (found.is_some() && polished) || idle > MAX_IDLE_STEPS || !error.is_finite() {
                break;
            }
        }
        found
    }

    /// Whether all constraints have the modes that the factors were made for, slips in any direction.
    fn has_modes_of_factors(&self) -> bool {
        let kind = |mode: &Mode| std::mem::discriminant(mode);
        self.modes.iter().map(kind).eq(self.frozen.iter().map(kind))
    }

    /// G, y*, b and the constraints of a problem.
    fn load(&mut self, problem: &ContactProblem) -> Option<()> {
        let Form::Global { mass, jacobian_transposed, force, bias } = &problem.form else { return None };
        let (m, n) = (jacobian_transposed.rows(), bias.len());
        if m == 0 || m > MAX_DOFS || n > MAX_ROWS {
            return None;
        }
        self.is_factored &= self.dofs == m;
        self.dofs = m;
        self.root_mass.clear();
        for i in 0..m {
            match mass.row(i) {
                (&[column], &[value]) if column == i && value > 0.0 => self.root_mass.push(value.sqrt()),
                _ => return None,
            }
        }
        std::mem::swap(&mut self.g, &mut self.g_before);
        self.g.clear();
        self.g.resize(n * m, 0.0);
        for (i, root) in self.root_mass.iter().enumerate() {
            let (columns, values) = jacobian_transposed.row(i);
            columns.iter().zip(values).for_each(|(&j, x)| self.g[j * m + i] = x / root);
        }
        self.is_factored &= self.g == self.g_before;
        self.start.clear();
        self.start.extend(force.iter().zip(&self.root_mass).map(|(f, root)| f / root));
        self.bias.clone_from(bias);
        self.constraints.clear();
        let mut row = 0;
        for law in &problem.laws {
            if !matches!(law, Law::Bilateral | Law::Unilateral | Law::Coulomb { .. }) {
                return None;
            }
            let constraint = self.constraint(*law, row);
            self.constraints.push(constraint);
            row += law.dim();
        }
        // A law that changed changes the modes, or μ.
        self.is_factored &= self.laws_before == problem.laws;
        self.laws_before.clone_from(&problem.laws);
        Some(())
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.g[i * self.dofs..(i + 1) * self.dofs]
    }

    fn constraint(&self, law: Law, row: usize) -> Constraint {
        let rows = || (row..row + law.dim()).map(|i| self.row(i));
        let from = rows().filter_map(|g| g.iter().position(|x| *x != 0.0)).min().unwrap_or(0);
        let to = rows().filter_map(|g| g.iter().rposition(|x| *x != 0.0)).max().map_or(0, |last| last + 1);
        let invert = |x: f64| if x > 0.0 { 1.0 / x } else { 1.0 };
        let square = |i: usize| dot(self.row(row + i), self.row(row + i));
        let tangent = if law.dim() == 3 {
            let (a, d, b) = (square(1), square(2), dot(self.row(row + 1), self.row(row + 2)));
            invert(0.5 * (a + d) + (0.25 * (a - d) * (a - d) + b * b).sqrt())
        } else {
            1.0
        };
        Constraint { law, row, span: [from, to], rho: [invert(square(0)), tangent] }
    }

    /// ‖(ρ q)‖.
    fn scale(&mut self) -> f64 {
        self.velocities();
        let of = |c: &Constraint| {
            (0..c.law.dim()).map(|k| (c.rho[usize::from(k > 0)] * self.u[c.row + k]).powi(2)).sum::<f64>()
        };
        self.constraints.iter().map(of).sum::<f64>().sqrt()
    }

    /// y and u of r.
    fn velocities(&mut self) {
        let FewDofs { constraints, dofs, g, start, bias, r, u, y, .. } = self;
        y.clone_from(start);
        u.clear();
        u.resize(r.len(), 0.0);
        for c in &*constraints {
            let [from, to] = c.span;
            for i in (c.row..c.row + c.law.dim()).filter(|&i| r[i] != 0.0) {
                axpy(r[i], &g[i * *dofs + from..i * *dofs + to], &mut y[from..to]);
            }
        }
        for c in &*constraints {
            let [from, to] = c.span;
            for i in c.row..c.row + c.law.dim() {
                u[i] = bias[i] + dot(&g[i * *dofs + from..i * *dofs + to], &y[from..to]);
            }
        }
    }

    /// u, modes and F of r; ‖F‖.
    fn evaluate(&mut self) -> f64 {
        self.velocities();
        let FewDofs { constraints, modes, r, u, f, .. } = self;
        modes.clear();
        f.clear();
        for c in &*constraints {
            let (r, u) = (&r[c.row..c.row + c.law.dim()], &u[c.row..c.row + c.law.dim()]);
            let [normal_rho, rho] = c.rho;
            let normal = r[0] - normal_rho * u[0];
            if c.law != Law::Bilateral && normal <= 0.0 {
                modes.push(Mode::Open);
                f.extend_from_slice(r);
                continue;
            }
            f.push(normal_rho * u[0]);
            if r.len() == 1 {
                modes.push(Mode::Hold);
                continue;
            }
            let y = [r[1] - rho * u[1], r[2] - rho * u[2]];
            let (size, most) = (y[0].hypot(y[1]), c.law.mu() * normal);
            if size <= most {
                modes.push(Mode::Hold);
                f.extend(u[1..].iter().map(|u| rho * u));
                continue;
            }
            let e = y.map(|y| y / size);
            modes.push(Mode::Slide { e, k: most / size });
            f.extend([r[1] - most * e[0], r[2] - most * e[1]]);
        }
        norm(f)
    }

    /// One step of Newton's method, or one with the factors of an earlier step. `None` where its equations
    /// are singular.
    fn take_step(&mut self, near: f64, chord: bool) -> Option<()> {
        let m = self.dofs;
        self.step.clear();
        self.step.resize(m, 0.0);
        if !chord {
            self.is_factored = false;
            self.frozen.clone_from(&self.modes);
            self.matrix.clear();
            self.matrix.resize(m * m, 0.0);
            (0..m).for_each(|i| self.matrix[i * m + i] = 1.0);
        }
        for k in 0..self.constraints.len() {
            self.add_changes(self.constraints[k], self.frozen[k], near);
            if !chord {
                self.add_equations(self.constraints[k], self.frozen[k], near);
            }
        }
        if !chord {
            self.factorize()?;
            self.is_factored = near == LEAST_PROXIMAL;
        }
        self.substitute();
        for k in 0..self.constraints.len() {
            self.change(self.constraints[k], self.frozen[k], near);
        }
        Some(())
    }

    /// Adds −Gᵀ C d of a constraint to the right-hand side.
    fn add_changes(&mut self, c: Constraint, mode: Mode, near: f64) {
        let FewDofs { g, dofs, r, u, f, step, .. } = self;
        let [from, to] = c.span;
        let mut add = |k: usize, change: f64| {
            let i = c.row + k;
            axpy(change, &g[i * *dofs + from..i * *dofs + to], &mut step[from..to]);
        };
        match mode {
            Mode::Open => (0..c.law.dim()).for_each(|k| add(k, -r[c.row + k])),
            Mode::Hold => {
                (0..c.law.dim()).for_each(|k| add(k, -c.rho[usize::from(k > 0)] / near * u[c.row + k]));
            }
            Mode::Slide { e, k } => {
                let slide = Slide::new(&c, e, k, near);
                let change = slide.change(&c, &u[c.row..], &f[c.row..], [0.0; 2]);
                add(0, change[0]);
                add(1, change[1] * e[0] - change[2] * e[1]);
                add(2, change[1] * e[1] + change[2] * e[0]);
            }
        }
    }

    /// Adds Gᵀ C G of a constraint to the matrix.
    fn add_equations(&mut self, c: Constraint, mode: Mode, near: f64) {
        let FewDofs { g, dofs, matrix, along, across, .. } = self;
        let [from, to] = c.span;
        let g = |i: usize| &g[i * *dofs + from..i * *dofs + to];
        let rows = matrix.chunks_exact_mut(*dofs).skip(from).take(to - from).map(|row| &mut row[from..to]);
        match mode {
            Mode::Open => {}
            Mode::Hold => {
                let weights = c.rho.map(|rho| rho / near);
                if c.law.dim() == 1 {
                    let g = g(c.row);
                    rows.zip(g).filter(|(_, x)| **x != 0.0).for_each(|(row, x)| axpy(weights[0] * x, g, row));
                    return;
                }
                let [g0, g1, g2] = [0, 1, 2].map(|k| g(c.row + k));
                for (i, row) in rows.enumerate() {
                    let [a, b, d] = [weights[0] * g0[i], weights[1] * g1[i], weights[1] * g2[i]];
                    if a == 0.0 && b == 0.0 && d == 0.0 {
                        continue;
                    }
                    for (x, ((p, q), s)) in row.iter_mut().zip(g0.iter().zip(g1).zip(g2)) {
                        *x += a * p + b * q + d * s;
                    }
                }
            }
            Mode::Slide { e, k } => {
                let slide = Slide::new(&c, e, k, near);
                let [g0, g1, g2] = [0, 1, 2].map(|k| g(c.row + k));
                along.clear();
                along.extend(g1.iter().zip(g2).map(|(a, b)| e[0] * a + e[1] * b));
                across.clear();
                across.extend(g1.iter().zip(g2).map(|(a, b)| e[0] * b - e[1] * a));
                let friction = slide.mu * (slide.normal + c.rho[0]);
                for (i, row) in rows.enumerate() {
                    let (a, b) = (slide.normal * g0[i] + friction * along[i], slide.across * across[i]);
                    if a == 0.0 && b == 0.0 {
                        continue;
                    }
                    for (x, (p, q)) in row.iter_mut().zip(g0.iter().zip(&*across)) {
                        *x += a * p + b * q;
                    }
                }
            }
        }
    }

    /// r ← r + δr of a constraint.
    fn change(&mut self, c: Constraint, mode: Mode, near: f64) {
        let FewDofs { g, dofs, r, u, f, step, .. } = self;
        let [from, to] = c.span;
        let du = |i: usize| dot(&g[i * *dofs + from..i * *dofs + to], &step[from..to]);
        match mode {
            Mode::Open => r[c.row..c.row + c.law.dim()].fill(0.0),
            Mode::Hold => {
                for k in 0..c.law.dim() {
                    r[c.row + k] -= c.rho[usize::from(k > 0)] / near * (u[c.row + k] + du(c.row + k));
                }
            }
            Mode::Slide { e, k } => {
                let slide = Slide::new(&c, e, k, near);
                let du = [0, 1, 2].map(|k| du(c.row + k));
                let change = slide.change(&c, &u[c.row..], &f[c.row..], [du[0], e[0] * du[2] - e[1] * du[1]]);
                r[c.row] += change[0];
                r[c.row + 1] += change[1] * e[0] - change[2] * e[1];
                r[c.row + 2] += change[1] * e[1] + change[2] * e[0];
            }
        }
    }

    /// The matrix = L U, rows exchanged.
    fn factorize(&mut self) -> Option<()> {
        let FewDofs { matrix, pivots, dofs, .. } = self;
        let m = *dofs;
        pivots.clear();
        for k in 0..m {
            let size = |i: usize| matrix[i * m + k].abs();
            let best = (k..m).max_by(|&a, &b| size(a).total_cmp(&size(b)).then(b.cmp(&a)))?;
            if !(size(best) > 0.0 && size(best).is_finite()) {
                return None;
            }
            pivots.push(best);
            if best != k {
                (0..m).for_each(|j| matrix.swap(k * m + j, best * m + j));
            }
            let (done, rest) = matrix.split_at_mut((k + 1) * m);
            let row = &done[k * m..];
            let pivot = 1.0 / row[k];
            for other in rest.chunks_exact_mut(m).filter(|other| other[k] != 0.0) {
                let factor = other[k] * pivot;
                other[k] = factor;
                axpy(-factor, &row[k + 1..], &mut other[k + 1..]);
            }
        }
        Some(())
    }

    /// δy in the place of the right-hand side.
    fn substitute(&mut self) {
        let FewDofs { matrix, pivots, step, dofs, .. } = self;
        let m = *dofs;
        for (k, &pivot) in pivots.iter().enumerate() {
            step.swap(k, pivot);
        }
        for i in 1..m {
            step[i] -= dot(&matrix[i * m..i * m + i], &step[..i]);
        }
        for i in (0..m).rev() {
            let row = &matrix[i * m..(i + 1) * m];
            step[i] = (step[i] - dot(&row[i + 1..], &step[i + 1..])) / row[i];
        }
    }
}

/// The equations of a constraint that slides, with n the normal, e along the slip and x across it:
///
/// ```text
/// δr_n = −α (u_n + δu_n) ,   δr_e = −f_e/(1 + ε) + μ (δr_n − ρ_n δu_n) ,   δr_x = −f_x/(1 + ε − k) − β δu_x
/// ```
struct Slide {
    e: [f64; 2],
    /// α, μ over 1 + ε, and β.
    normal: f64,
    mu: f64,
    across: f64,
    /// 1 + ε and 1 + ε − k.
    divisors: [f64; 2],
}

impl Slide {
    fn new(c: &Constraint, e: [f64; 2], k: f64, near: f64) -> Self {
        let divisors = [1.0 + near, 1.0 + near - k];
        Slide {
            e,
            normal: c.rho[0] / near,
            mu: c.law.mu() / divisors[0],
            across: c.rho[1] * k / divisors[1],
            divisors,
        }
    }

    /// δr_n, δr_e and δr_x with δu_n and δu_x.
    fn change(&self, c: &Constraint, u: &[f64], f: &[f64], [opening, turn]: [f64; 2]) -> [f64; 3] {
        let normal = -self.normal * (u[0] + opening);
        let [along, across] = [self.e[0] * f[1] + self.e[1] * f[2], self.e[0] * f[2] - self.e[1] * f[1]];
        let friction = self.mu * (normal - c.rho[0] * opening) - along / self.divisors[0];
        [normal, friction, -across / self.divisors[1] - self.across * turn]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contact::{ContactOptions, solve};
    use crate::linalg::Sparse;
    use crate::problem::{ResidualCheck, Status};

    /// Numbers that are no pattern.
    fn number(k: usize) -> f64 {
        (0.618_033_988_749_895 * (k * k + 3 * k) as f64).fract() - 0.5
    }

    /// Contacts, limits and joints of a few degrees of freedom under a load that presses on all of them:
    /// far more rows than degrees of freedom.
    fn problem(seed: usize, m: usize, contacts: usize, mu: f64) -> ContactProblem {
        let mut laws = vec![Law::Bilateral, Law::Unilateral];
        laws.extend(vec![Law::Coulomb { mu }; contacts]);
        let n = 2 + 3 * contacts;
        let push: Vec<f64> = (0..m).map(|i| 1.0 + number(seed + 7 * i)).collect();
        let mut entries = vec![];
        for j in 0..n {
            for i in 0..m {
                // Normals lean against the load.
                let normal = j < 2 || (j - 2) % 3 == 0;
                let lean = if normal { 0.8 * push[i] } else { 0.0 };
                entries.push((i, j, lean + number(seed + 31 * j + 17 * i)));
            }
        }
        let mass: Vec<_> = (0..m).map(|i| (i, i, 1.0 + number(seed + i).abs())).collect();
        let form = Form::Global {
            mass: Sparse::from_triplets(m, m, &mass),
            jacobian_transposed: Sparse::from_triplets(m, n, &entries),
            force: push.iter().map(|p| -p).collect(),
            bias: (0..n).map(|j| 1e-2 * number(seed + 5 * j)).collect(),
        };
        ContactProblem::new(laws, form).unwrap()
    }

    #[test]
    fn impulses_solve_what_other_methods_solve() {
        let (mut few, mut solved) = (FewDofs::default(), 0);
        for seed in 0..40 {
            let problem = problem(seed, 6 + seed % 9, 1 + seed % 7, 0.3);
            let mut impulse = vec![0.0; problem.rows()];
            let Some(steps) = few.solve(&problem, 1e-10, &mut impulse) else { continue };
            solved += 1;
            let (mut check, mut velocity) = (ResidualCheck::default(), vec![]);
            check.load(&problem);
            let residual = check.residual(&problem, &impulse, &mut velocity).relative;
            assert!(residual <= 1e-10, "{seed}: {residual:e} after {steps}");
            let other = solve(&problem, &ContactOptions::default(), None).unwrap();
            assert_eq!(other.status, Status::Solved);
            // A start that is a solution is one.
            assert_eq!(few.solve(&problem, 1e-10, &mut impulse), Some(0));
        }
        assert!(solved >= 30, "{solved} of 40");
    }

    #[test]
    fn problems_of_other_kinds_are_left_to_others() {
        let mut few = FewDofs::default();
        let mut wide = problem(1, 6, 2, 0.3);
        wide.laws[2] = Law::Cone { mu: 0.3 };
        let mut impulse = vec![0.5; wide.rows()];
        assert_eq!(few.solve(&wide, 1e-10, &mut impulse), None);
        assert_eq!(impulse, vec![0.5; wide.rows()]);
        for dofs in [0, MAX_DOFS + 1] {
            assert_eq!(few.solve(&problem(1, dofs, 2, 0.3), 1e-10, &mut impulse), None);
        }
    }
}
