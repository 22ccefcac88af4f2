//! One step of Newton's method: its equations in the degrees of freedom, and their factors.

use super::{Constraint, Factors, FewDofs, Iterate, LEAST_PROXIMAL, Mode, Reduced, dot};
use crate::linalg::axpy;

impl FewDofs {
    /// One step of Newton's method, or one with the factors of an earlier step. `None` where its equations
    /// are singular.
    #[inline(always)]
    pub(super) fn take_step(&mut self, near: f64, chord: bool) -> Option<()> {
        let m = self.problem.dofs;
        if !chord {
            self.factors.is_factored = false;
            self.factors.frozen.clone_from(&self.iterate.modes);
            self.factors.by_rows = self.has_few_rows();
        }
        if self.factors.by_rows {
            return self.take_row_step(near, chord);
        }
        self.factors.step.clear();
        self.factors.step.resize(m, 0.0);
        if !chord {
            self.factors.matrix.clear();
            self.factors.matrix.resize(m * m, 0.0);
            (0..m).for_each(|i| self.factors.matrix[i * m + i] = 1.0);
        }
        for k in 0..self.problem.constraints.len() {
            self.add_changes(self.problem.constraints[k], self.factors.frozen[k], near);
        }
        if !chord {
            self.assemble(near);
        }
        if !chord {
            if self.factors.symmetric {
                self.factors.factorize_symmetric()?
            } else {
                self.factors.factorize()?
            }
            self.factors.is_factored = near == LEAST_PROXIMAL;
        }
        if self.factors.symmetric {
            self.factors.substitute_symmetric()
        } else {
            self.factors.substitute()
        }
        for k in 0..self.problem.constraints.len() {
            self.change(self.problem.constraints[k], self.factors.frozen[k], near);
        }
        Some(())
    }

    /// Adds −Gᵀ C d of a constraint to the right-hand side.
    #[inline(always)]
    fn add_changes(&mut self, c: Constraint, mode: Mode, near: f64) {
        let (Reduced { g, dofs, .. }, Iterate { r, u, f, .. }) = (&self.problem, &self.iterate);
        let step = &mut self.factors.step;
        let [from, to] = c.span;
        let mut add = |k: usize, change: f64| {
            let i = c.row + k;
            axpy(change, &g[i * *dofs + from..i * *dofs + to], &mut step[from..to]);
        };
        match mode {
            Mode::Open => (0..c.law.dim()).for_each(|k| add(k, -r[c.row + k])),
            Mode::AtBound(bound) => add(0, bound - r[c.row]),
            Mode::Wide(parts) => self.add_wide_changes(c, &parts, near),
            Mode::Hold => {
                (0..c.law.dim()).for_each(|k| add(k, -c.weight(k, near) * u[c.row + k]));
            }
            Mode::Slide { e, k } => {
                let slide = Slide::new(&c, e, k, near);
                let change = slide.change(&u[c.row..], &f[c.row..], [0.0; 3]);
                add(0, change[0]);
                add(1, change[1] * e[0] - change[2] * e[1]);
                add(2, change[1] * e[1] + change[2] * e[0]);
            }
        }
    }

    /// 1 + Gᵀ C G: its upper half where it is symmetric, else all of it.
    #[inline(always)]
    fn assemble(&mut self, near: f64) {
        let m = self.problem.dofs;
        let slides = |(mode, _): &(&Mode, &Constraint)| matches!(mode, Mode::Slide { .. } | Mode::Wide(_));
        let mut sliding = self.factors.frozen.iter().zip(&self.problem.constraints).filter(slides).peekable();
        self.factors.slides = sliding.peek().is_some();
        self.factors.symmetric = sliding.all(|(_, c)| c.law.is_associated());
        for k in 0..self.problem.constraints.len() {
            if matches!(self.factors.frozen[k], Mode::Hold) {
                self.add_hold(self.problem.constraints[k], near);
            }
        }
        if !self.factors.symmetric {
            for i in 1..m {
                for j in 0..i {
                    self.factors.matrix[i * m + j] = self.factors.matrix[j * m + i];
                }
            }
        }
        for k in 0..self.problem.constraints.len() {
            let c = self.problem.constraints[k];
            match self.factors.frozen[k] {
                Mode::Slide { e, k: part } => self.add_slide(c, Slide::new(&c, e, part, near)),
                Mode::Wide(parts) => self.add_wide(c, &parts, near),
                Mode::Open | Mode::AtBound(_) | Mode::Hold => {}
            }
        }
    }

    /// Adds the upper half of Gᵀ C G of a constraint that holds to the matrix.
    #[inline(always)]
    fn add_hold(&mut self, c: Constraint, near: f64) {
        let (Reduced { g, dofs, .. }, matrix) = (&self.problem, &mut self.factors.matrix);
        let [from, to] = c.span;
        let g = |i: usize| &g[i * *dofs + from..i * *dofs + to];
        let rows = matrix.chunks_exact_mut(*dofs).enumerate().skip(from).take(to - from);
        let rows = rows.map(|(i, row)| (i - from, &mut row[i..to]));
        if c.law.dim() != 3 {
            for (i, row) in rows {
                for k in 0..c.law.dim() {
                    let (g, weight) = (g(c.row + k), c.weight(k, near));
                    if g[i] != 0.0 {
                        axpy(weight * g[i], &g[i..], row);
                    }
                }
            }
            return;
        }
        let [g0, g1, g2] = [0, 1, 2].map(|k| g(c.row + k));
        let weights = [c.weight(0, near), c.weight(1, near)];
        for (i, row) in rows {
            let [a, b, d] = [weights[0] * g0[i], weights[1] * g1[i], weights[1] * g2[i]];
            if a == 0.0 && b == 0.0 && d == 0.0 {
                continue;
            }
            for (x, ((p, q), s)) in row.iter_mut().zip(g0[i..].iter().zip(&g1[i..]).zip(&g2[i..])) {
                *x += a * p + b * q + d * s;
            }
        }
    }

    /// Adds Gᵀ C G of a constraint that slides to the matrix.
    #[inline(always)]
    fn add_slide(&mut self, c: Constraint, slide: Slide) {
        let Reduced { g, dofs, .. } = &self.problem;
        let Factors { matrix, along, across, .. } = &mut self.factors;
        let [from, to] = c.span;
        let g = |i: usize| &g[i * *dofs + from..i * *dofs + to];
        let rows = matrix.chunks_exact_mut(*dofs).skip(from).take(to - from).map(|row| &mut row[from..to]);
        let ([g0, g1, g2], e) = ([0, 1, 2].map(|k| g(c.row + k)), slide.e);
        along.clear();
        along.extend(g1.iter().zip(g2).map(|(a, b)| e[0] * a + e[1] * b));
        across.clear();
        across.extend(g1.iter().zip(g2).map(|(a, b)| e[0] * b - e[1] * a));
        let [normal, friction] = slide.by;
        for (i, row) in rows.enumerate() {
            let a = normal[0] * g0[i] + friction[0] * along[i];
            let d = normal[1] * g0[i] + friction[1] * along[i];
            let b = slide.across * across[i];
            if a == 0.0 && b == 0.0 && d == 0.0 {
                continue;
            }
            for (x, ((p, q), s)) in row.iter_mut().zip(g0.iter().zip(&*across).zip(&*along)) {
                *x += a * p + b * q + d * s;
            }
        }
    }

    /// r ← r + δr of a constraint.
    #[inline(always)]
    fn change(&mut self, c: Constraint, mode: Mode, near: f64) {
        let (Reduced { g, dofs, .. }, Iterate { r, u, f, .. }) = (&self.problem, &mut self.iterate);
        let step = &self.factors.step;
        let [from, to] = c.span;
        let du = |i: usize| dot(&g[i * *dofs + from..i * *dofs + to], &step[from..to]);
        match mode {
            Mode::Open => r[c.row..c.row + c.law.dim()].fill(0.0),
            Mode::AtBound(bound) => r[c.row] = bound,
            Mode::Wide(parts) => self.change_wide(c, &parts, near),
            Mode::Hold => {
                for k in 0..c.law.dim() {
                    r[c.row + k] -= c.weight(k, near) * (u[c.row + k] + du(c.row + k));
                }
            }
            Mode::Slide { e, k } => {
                let slide = Slide::new(&c, e, k, near);
                let du = [0, 1, 2].map(|k| du(c.row + k));
                let turned = [du[0], e[0] * du[1] + e[1] * du[2], e[0] * du[2] - e[1] * du[1]];
                let change = slide.change(&u[c.row..], &f[c.row..], turned);
                r[c.row] += change[0];
                r[c.row + 1] += change[1] * e[0] - change[2] * e[1];
                r[c.row + 2] += change[1] * e[1] + change[2] * e[0];
            }
        }
    }
}

impl Factors {
    /// The matrix = Uᵀ U, in its upper half.
    #[inline(always)]
    pub(super) fn factorize_symmetric(&mut self) -> Option<()> {
        let (m, matrix) = (self.step.len(), &mut self.matrix);
        for k in 0..m {
            let (done, rest) = matrix.split_at_mut((k + 1) * m);
            let row = &mut done[k * m + k..];
            if !(row[0] > 0.0 && row[0].is_finite()) {
                return None;
            }
            let scale = 1.0 / row[0].sqrt();
            row.iter_mut().for_each(|x| *x *= scale);
            for (i, other) in rest.chunks_exact_mut(m).enumerate() {
                if row[i + 1] != 0.0 {
                    axpy(-row[i + 1], &row[i + 1..], &mut other[k + 1 + i..]);
                }
            }
        }
        Some(())
    }

    /// δy in the place of the right-hand side, by Uᵀ U.
    #[inline(always)]
    pub(super) fn substitute_symmetric(&mut self) {
        let Factors { matrix, step, .. } = self;
        let m = step.len();
        for k in 0..m {
            let row = &matrix[k * m + k..(k + 1) * m];
            let (done, below) = step.split_at_mut(k + 1);
            done[k] /= row[0];
            axpy(-done[k], &row[1..], below);
        }
        for k in (0..m).rev() {
            let row = &matrix[k * m + k..(k + 1) * m];
            step[k] = (step[k] - dot(&row[1..], &step[k + 1..])) / row[0];
        }
    }

    /// The matrix = L U, rows exchanged.
    #[inline(always)]
    pub(super) fn factorize(&mut self) -> Option<()> {
        let Factors { matrix, pivots, step, .. } = self;
        let m = step.len();
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
    #[inline(always)]
    pub(super) fn substitute(&mut self) {
        let Factors { matrix, pivots, step, .. } = self;
        let m = step.len();
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
///
/// The associated law has, with a = (1, μ)/√(1 + μ²) along the edge of the cone in the plane of n and e, and
/// b at a right angle to it,
///
/// ```text
/// δr_a = −(ρ/ε) (u_a + δu_a) ,   δr_b = −f_b/(1 + ε)
/// ```
pub(super) struct Slide {
    pub(super) e: [f64; 2],
    /// −∂δr/∂δu of n and e, by n and e.
    by: [[f64; 2]; 2],
    /// β.
    pub(super) across: f64,
    /// a of the associated law.
    edge: Option<[f64; 2]>,
    /// α, μ over 1 + ε, and ρ_n.
    normal: f64,
    pub(super) mu: f64,
    pub(super) rho: f64,
    /// 1 + ε and 1 + ε − k.
    pub(super) divisors: [f64; 2],
}

impl Slide {
    pub(super) fn new(c: &Constraint, e: [f64; 2], k: f64, near: f64) -> Self {
        let divisors = [1.0 + near, 1.0 + near - k];
        let (normal, mu, rho) = (c.rho[0] / near, c.law.mu() / divisors[0], c.rho[0]);
        let edge = c.law.is_associated().then(|| {
            let length = c.law.mu().hypot(1.0);
            [1.0 / length, c.law.mu() / length]
        });
        let by = match edge {
            Some([a, b]) => [[normal * a * a, normal * a * b], [normal * a * b, normal * b * b]],
            None => [[normal, 0.0], [mu * (normal + rho), 0.0]],
        };
        Slide { e, by, across: c.rho[1] * k / divisors[1], edge, normal, mu, rho, divisors }
    }

    /// δr_n, δr_e and δr_x with δu_n, δu_e and δu_x.
    fn change(&self, u: &[f64], f: &[f64], [opening, slip, turn]: [f64; 3]) -> [f64; 3] {
        let e = self.e;
        let [along, across] = [e[0] * f[1] + e[1] * f[2], e[0] * f[2] - e[1] * f[1]];
        let across = -across / self.divisors[1] - self.across * turn;
        if let Some([a, b]) = self.edge {
            let (opening, slip) = (u[0] + opening, e[0] * u[1] + e[1] * u[2] + slip);
            let on_edge = -self.normal * (a * opening + b * slip);
            let off_edge = -(a * along - b * f[0]) / self.divisors[0];
            return [a * on_edge - b * off_edge, b * on_edge + a * off_edge, across];
        }
        let normal = -self.normal * (u[0] + opening);
        let friction = self.mu * (normal - self.rho * opening) - along / self.divisors[0];
        [normal, friction, across]
    }
}
