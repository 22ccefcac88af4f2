//! The same step of Newton's method in the rows that act, where these are fewer than the degrees of freedom.
//!
//! ```text
//! holds:   (ρ c + ε) δr + ρ W δr = −ρ (u + G y_k)
//! slides:  ε δr_n + ρ_n W_n δr = −ρ_n (u_n + G_n y_k)
//!          δr_e − μ' (δr_n − ρ_n W_n δr) = −f_e/(1 + ε) − μ' ρ_n G_n y_k ,   μ' = μ/(1 + ε)
//!          δr_x + β W_x δr = −f_x/(1 + ε − k) − β G_x y_k
//! ```
//!
//! W = G Gᵀ over the rows of constraints that hold or slide, e along a slip and x across it; y_k = Gᵀ δr of
//! the constraints that are open or at a bound, whose changes are known. These are the equations of
//! `newton_step.rs` with δy = Gᵀ δr put in, divided by what makes their entries of the order of one. Without
//! slips they are symmetric once they are divided by ρ.

use super::newton_step::Slide;
use super::{Constraint, Factors, FewDofs, Iterate, LEAST_PROXIMAL, Mode, Reduced, dot};
use crate::linalg::axpy;

/// Rows up to this part of the degrees of freedom are fewer: their products are not counted here.
const FEW_ROWS: f64 = 0.75;

impl FewDofs {
    /// Whether the step is made in rows: none has another law than these, and there are few.
    pub(super) fn has_few_rows(&self) -> bool {
        let mut rows = 0;
        for (c, mode) in self.problem.constraints.iter().zip(&self.iterate.modes) {
            match mode {
                Mode::Open | Mode::AtBound(_) => {}
                Mode::Hold => rows += c.law.dim(),
                Mode::Slide { .. } if !c.law.is_associated() => rows += c.law.dim(),
                Mode::Slide { .. } | Mode::Wide(_) => return false,
            }
        }
        rows as f64 <= FEW_ROWS * self.problem.dofs as f64
    }

    /// One step, or one with the factors of an earlier step. `None` where its equations are singular.
    #[inline(always)]
    pub(super) fn take_row_step(&mut self, near: f64, chord: bool) -> Option<()> {
        if !chord {
            self.find_active();
            self.find_products();
        }
        self.factors.step.clear();
        self.factors.step.resize(self.factors.active.len(), 0.0);
        self.add_known_changes();
        self.set_right_side(near);
        if !chord {
            self.set_matrix(near);
            match self.factors.symmetric {
                true => self.factors.factorize_symmetric()?,
                false => self.factors.factorize()?,
            }
            self.factors.is_factored = near == LEAST_PROXIMAL;
        }
        match self.factors.symmetric {
            true => self.factors.substitute_symmetric(),
            false => self.factors.substitute(),
        }
        let (Factors { active, step, .. }, r) = (&self.factors, &mut self.iterate.r);
        active.iter().zip(step).for_each(|(&i, change)| r[i] += change);
        Some(())
    }

    /// The rows of constraints that hold or slide.
    #[inline(always)]
    fn find_active(&mut self) {
        let Factors { active, frozen, symmetric, slides, .. } = &mut self.factors;
        active.clear();
        *slides = false;
        for (c, mode) in self.problem.constraints.iter().zip(&*frozen) {
            if matches!(mode, Mode::Hold | Mode::Slide { .. }) {
                active.extend(c.row..c.row + c.law.dim());
            }
            *slides |= matches!(mode, Mode::Slide { .. });
        }
        *symmetric = !*slides;
    }

    /// W of the active rows.
    #[inline(always)]
    fn find_products(&mut self) {
        let Reduced { g, dofs, constraints, .. } = &self.problem;
        let Factors { active, frozen, products, .. } = &mut self.factors;
        let n = active.len();
        products.clear();
        products.resize(n * n, 0.0);
        let acts = |mode: &Mode| matches!(mode, Mode::Hold | Mode::Slide { .. });
        let mut at = 0;
        for (c, _) in constraints.iter().zip(&*frozen).filter(|(_, mode)| acts(mode)) {
            let mut other_at = 0;
            for (other, _) in constraints.iter().zip(&*frozen).filter(|(_, mode)| acts(mode)) {
                if other_at > at {
                    break;
                }
                let (from, to) = (c.span[0].max(other.span[0]), c.span[1].min(other.span[1]));
                if from < to {
                    for a in 0..c.law.dim() {
                        let row = &g[(c.row + a) * dofs + from..(c.row + a) * dofs + to];
                        for b in 0..other.law.dim() {
                            let column = &g[(other.row + b) * dofs + from..(other.row + b) * dofs + to];
                            let product = dot(row, column);
                            products[(at + a) * n + other_at + b] = product;
                            products[(other_at + b) * n + at + a] = product;
                        }
                    }
                }
                other_at += other.law.dim();
            }
            at += c.law.dim();
        }
    }

    /// y_k, and r of the constraints whose changes are known.
    #[inline(always)]
    fn add_known_changes(&mut self) {
        let (Reduced { g, dofs, constraints, .. }, Iterate { r, .. }) = (&self.problem, &mut self.iterate);
        let Factors { frozen, known, .. } = &mut self.factors;
        known.clear();
        known.resize(*dofs, 0.0);
        for (c, mode) in constraints.iter().zip(&*frozen) {
            let end = match mode {
                Mode::Open => 0.0,
                Mode::AtBound(bound) => *bound,
                _ => continue,
            };
            let [from, to] = c.span;
            for i in c.row..c.row + c.law.dim() {
                let change = end - r[i];
                if change != 0.0 {
                    axpy(change, &g[i * dofs + from..i * dofs + to], &mut known[from..to]);
                    r[i] = end;
                }
            }
        }
    }

    /// The right-hand sides of the active rows.
    #[inline(always)]
    fn set_right_side(&mut self, near: f64) {
        let (Reduced { g, dofs, constraints, .. }, Iterate { u, f, .. }) = (&self.problem, &self.iterate);
        let Factors { frozen, known, step, symmetric, .. } = &mut self.factors;
        let mut at = 0;
        for (c, mode) in constraints.iter().zip(&*frozen) {
            let [from, to] = c.span;
            // u with what the known changes add.
            let moved = |k: usize| {
                let i = c.row + k;
                u[i] + dot(&g[i * dofs + from..i * dofs + to], &known[from..to])
            };
            match *mode {
                Mode::Hold => {
                    for k in 0..c.law.dim() {
                        let scale = if *symmetric { 1.0 } else { c.rho_of(k) };
                        step[at + k] = -scale * moved(k);
                    }
                }
                Mode::Slide { e, k } => {
                    let slide = Slide::new(c, e, k, near);
                    let added = [0, 1, 2].map(|k| moved(k) - u[c.row + k]);
                    let turned =
                        [added[0], e[0] * added[1] + e[1] * added[2], e[0] * added[2] - e[1] * added[1]];
                    let side = slide.right_side(c, &u[c.row..], &f[c.row..], turned);
                    step[at..at + 3].copy_from_slice(&side);
                }
                _ => continue,
            }
            at += c.law.dim();
        }
    }

    /// The matrix of the active rows: its upper half where it is symmetric, else all of it.
    #[inline(always)]
    fn set_matrix(&mut self, near: f64) {
        let constraints = &self.problem.constraints;
        let Factors { frozen, products, matrix, symmetric, active, .. } = &mut self.factors;
        let n = active.len();
        matrix.clone_from(products);
        let mut at = 0;
        for (c, mode) in constraints.iter().zip(&*frozen) {
            match *mode {
                Mode::Hold => {
                    for k in at..at + c.law.dim() {
                        let rho = c.rho_of(k - at);
                        if !*symmetric {
                            matrix[k * n..(k + 1) * n].iter_mut().for_each(|x| *x *= rho);
                        }
                        let own = c.compliance + near / rho;
                        matrix[k * n + k] += if *symmetric { own } else { rho * own };
                    }
                }
                Mode::Slide { e, k } => {
                    let slide = Slide::new(c, e, k, near);
                    slide.set_rows(c, &products[at * n..(at + 3) * n], &mut matrix[at * n..(at + 3) * n]);
                    slide.add_own(near, at, &mut matrix[at * n..(at + 3) * n]);
                }
                _ => continue,
            }
            at += c.law.dim();
        }
    }
}

impl Slide {
    /// The right-hand sides of a contact that slides, with what known changes add to u_n, u_e and u_x.
    fn right_side(&self, c: &Constraint, u: &[f64], f: &[f64], [opening, _, turn]: [f64; 3]) -> [f64; 3] {
        let e = self.e;
        let [along, across] = [e[0] * f[1] + e[1] * f[2], e[0] * f[2] - e[1] * f[1]];
        [
            -c.rho_of(0) * (u[0] + opening),
            -along / self.divisors[0] - self.mu * self.rho * opening,
            -across / self.divisors[1] - self.across * turn,
        ]
    }

    /// The products of W in the rows of a contact that slides.
    #[inline(always)]
    fn set_rows(&self, c: &Constraint, products: &[f64], rows: &mut [f64]) {
        let n = products.len() / 3;
        let e = self.e;
        for j in 0..n {
            let [w_n, w_1, w_2] = [products[j], products[n + j], products[2 * n + j]];
            rows[j] = c.rho_of(0) * w_n;
            rows[n + j] = self.mu * self.rho * w_n;
            rows[2 * n + j] = self.across * (e[0] * w_2 - e[1] * w_1);
        }
    }

    /// The entries of its own impulses beside them.
    fn add_own(&self, near: f64, at: usize, rows: &mut [f64]) {
        let n = rows.len() / 3;
        let e = self.e;
        rows[at] += near;
        rows[n + at] -= self.mu;
        rows[n + at + 1] += e[0];
        rows[n + at + 2] += e[1];
        rows[2 * n + at + 1] -= e[1];
        rows[2 * n + at + 2] += e[0];
    }
}
