//! Contacts with rolling and spinning friction: the normal and up to three parts, each with a bound of its
//! own.
//!
//! ```text
//! x_n = max(0, y_n) ,   ‖x_i‖ ≤ μ_i y_n ,   y = r − ρ u      (Coulomb's kind)
//! x = argmin Σ (x_j − y_j)²/ρ_j   on   ‖x_i‖ ≤ μ_i x_n        (associated)
//! ```
//!
//! i = slip (2 rows), rolling (2 rows), spin (1 row), with ρ_n and one ρ_i per part. F = r − x. Its
//! derivative D of x by y gives the step, (1 + ε − D) δr = −F − D ρ δu, in closed form: on the parts that
//! hold D = 1, across a slip D = k, and what is left is the row of a slip, D = μ eᵀ_n, or of the associated
//! law a projector of rank one.

use super::{Constraint, FewDofs, Mode, dot};
use crate::linalg::axpy;
use crate::problem::{Law, MAX_LAW_ROWS};

/// The part of a row: the normal, slip, rolling, spin.
pub(super) const PART: [usize; MAX_LAW_ROWS] = [0, 1, 1, 2, 2, 3];
/// Parts behind the normal, and the first row of each.
pub(super) const PARTS: usize = 3;
pub(super) const FIRST_ROW: [usize; PARTS + 1] = [1, 3, 5, 6];

/// Where the parts of a contact that slides, rolls or spins stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Parts {
    /// Per part, the direction of its force at its bound, and k = ‖x_i‖/‖y_i‖; `None` where it holds.
    at_bound: [Option<([f64; 2], f64)>; PARTS],
}

impl Parts {
    /// Which parts are at their bounds.
    pub(super) fn bounds_reached(&self) -> [bool; PARTS] {
        self.at_bound.map(|part| part.is_some())
    }
}

/// Whether a law has more parts than a slip.
pub(super) fn is_wide(law: &Law) -> bool {
    law.dim() > FIRST_ROW[1]
}

/// The parts of a law.
pub(super) fn parts(law: &Law) -> std::ops::Range<usize> {
    0..FIRST_ROW.iter().filter(|first| **first < law.dim()).count()
}

/// Rows of a part behind the normal.
pub(super) fn rows(part: usize) -> std::ops::Range<usize> {
    FIRST_ROW[part]..FIRST_ROW[part + 1]
}

/// The mode of a contact, and its F.
pub(super) fn mode(c: &Constraint, r: &[f64], u: &[f64], f: &mut Vec<f64>) -> Mode {
    let mu = c.law.coefficients();
    let mut y = [0.0; MAX_LAW_ROWS];
    for k in 0..r.len() {
        y[k] = r[k] - c.rho[PART[k]] * u[k];
    }
    let mut size = [0.0; PARTS];
    for part in parts(&c.law) {
        let at = FIRST_ROW[part];
        size[part] = if part == 2 { y[at].abs() } else { y[at].hypot(y[at + 1]) };
    }
    let normal = if c.law.is_associated() { nearest_normal(&c.law, &c.rho, y[0], &size) } else { y[0] };
    if normal <= 0.0 {
        f.extend_from_slice(r);
        return Mode::Open;
    }
    let mut at_bound = [None; PARTS];
    // As r − (r − ρ u), without its rounding.
    f.push(if c.law.is_associated() { r[0] - normal } else { c.rho[0] * u[0] });
    for part in parts(&c.law) {
        let most = mu[part] * normal;
        if size[part] <= most && mu[part] > 0.0 {
            f.extend(rows(part).map(|k| c.rho[PART[k]] * u[k]));
            continue;
        }
        let (e, k) = match size[part] {
            0.0 => ([1.0, 0.0], 0.0),
            s if part == 2 => ([y[FIRST_ROW[2]] / s, 0.0], most / s),
            s => ([y[FIRST_ROW[part]] / s, y[FIRST_ROW[part] + 1] / s], most / s),
        };
        at_bound[part] = Some((e, k));
        f.extend(rows(part).zip(e).map(|(row, e)| r[row] - most * e));
    }
    if at_bound.iter().all(Option::is_none) {
        // Where all parts hold, the normal is that of y for both laws.
        let at = f.len() - r.len();
        f[at] = c.rho[0] * u[0];
        return Mode::Hold;
    }
    Mode::Wide(Parts { at_bound })
}

/// n of the nearest point of the cone of a law, in the metric of 1/ρ.
///
/// φ'(n) = (n − y_n)/ρ_n − Σ μ_i (‖y_i‖ − μ_i n)₊/ρ_i is the least of 2^N increasing lines, and its zero the
/// largest of theirs.
pub(super) fn nearest_normal(law: &Law, rho: &[f64; PARTS + 1], y: f64, size: &[f64; PARTS]) -> f64 {
    let (mu, parts) = (law.coefficients(), parts(law));
    (0..1_usize << parts.end).fold(f64::NEG_INFINITY, |n, subset| {
        let (mut push, mut weight) = (y / rho[0], 1.0 / rho[0]);
        for i in parts.clone().filter(|i| subset >> i & 1 == 1) {
            push += mu[i] * size[i] / rho[i + 1];
            weight += mu[i] * mu[i] / rho[i + 1];
        }
        n.max(push / weight)
    })
}

/// The equations of a step, δr = change − C δu.
struct WideStep {
    change: [f64; MAX_LAW_ROWS],
    by: [[f64; MAX_LAW_ROWS]; MAX_LAW_ROWS],
}

impl WideStep {
    fn new(c: &Constraint, modes: &Parts, f: &[f64], near: f64) -> Self {
        let mut step = WideStep { change: [0.0; MAX_LAW_ROWS], by: [[0.0; MAX_LAW_ROWS]; MAX_LAW_ROWS] };
        for part in parts(&c.law) {
            let rho = c.rho[part + 1];
            let Some((e, k)) = modes.at_bound[part] else {
                for row in rows(part) {
                    step.change[row] = -f[row] / near;
                    step.by[row][row] = rho / near;
                }
                continue;
            };
            if part == 2 {
                continue;
            }
            // Across the slip.
            let (at, across) = (FIRST_ROW[part], [-e[1], e[0]]);
            let divisor = 1.0 + near - k;
            let change = -(across[0] * f[at] + across[1] * f[at + 1]) / divisor;
            for a in 0..2 {
                step.change[at + a] = change * across[a];
                for b in 0..2 {
                    step.by[at + a][at + b] = rho * k / divisor * across[a] * across[b];
                }
            }
        }
        match c.law.is_associated() {
            true => step.add_edge(c, modes, f, near),
            false => step.add_slips(c, modes, f, near),
        }
        step
    }

    /// The normal, and friction that follows it: δr_n = −(F_n + ρ_n δu_n)/ε and
    /// δr_e = (−F_e + μ (δr_n − ρ_n δu_n))/(1 + ε).
    fn add_slips(&mut self, c: &Constraint, modes: &Parts, f: &[f64], near: f64) {
        let (mu, rho) = (c.law.coefficients(), c.rho[0]);
        self.change[0] = -f[0] / near;
        self.by[0][0] = rho / near;
        for part in parts(&c.law) {
            let Some((e, _)) = modes.at_bound[part] else { continue };
            let along: f64 = rows(part).zip(e).map(|(row, e)| e * f[row]).sum();
            let change = (mu[part] * self.change[0] - along) / (1.0 + near);
            let by = mu[part] * (self.by[0][0] + rho) / (1.0 + near);
            for (row, e) in rows(part).zip(e) {
                self.change[row] += change * e;
                self.by[row][0] += by * e;
            }
        }
    }

    /// The edge of the cone, g = (1, μ_i e_i): D = g hᵀ/w with h = g/ρ and w = hᵀ g is a projector, so that
    /// (1 + ε − D)⁻¹ = (1 + D/ε)/(1 + ε).
    fn add_edge(&mut self, c: &Constraint, modes: &Parts, f: &[f64], near: f64) {
        let mu = c.law.coefficients();
        let mut g = [0.0; MAX_LAW_ROWS];
        g[0] = 1.0;
        let mut along = [0.0; MAX_LAW_ROWS];
        along[0] = f[0];
        for part in parts(&c.law) {
            let Some((e, _)) = modes.at_bound[part] else { continue };
            let size: f64 = rows(part).zip(e).map(|(row, e)| e * f[row]).sum();
            for (row, e) in rows(part).zip(e) {
                (g[row], along[row]) = (mu[part] * e, size * e);
            }
        }
        let per_rho = |row: usize| 1.0 / c.rho[PART[row]];
        let all = 0..c.law.dim();
        let weight: f64 = all.clone().map(|row| g[row] * g[row] * per_rho(row)).sum();
        let on_edge = all.clone().map(|row| g[row] * along[row] * per_rho(row)).sum::<f64>() / weight;
        for row in all.clone() {
            self.change[row] -= (along[row] + g[row] * on_edge / near) / (1.0 + near);
            for other in all.clone() {
                self.by[row][other] += g[row] * g[other] / (weight * near);
            }
        }
    }
}

impl FewDofs {
    /// Adds Gᵀ times what a contact changes by itself to the right-hand side.
    pub(super) fn add_wide_changes(&mut self, c: Constraint, modes: &Parts, near: f64) {
        let step = WideStep::new(&c, modes, &self.iterate.f[c.row..], near);
        let [from, to] = c.span;
        let m = self.problem.dofs;
        for (i, change) in (c.row..c.row + c.law.dim()).zip(step.change) {
            axpy(change, &self.problem.g[i * m + from..i * m + to], &mut self.factors.step[from..to]);
        }
    }

    /// Adds Gᵀ C G of a contact to the matrix.
    pub(super) fn add_wide(&mut self, c: Constraint, modes: &Parts, near: f64) {
        let step = WideStep::new(&c, modes, &self.iterate.f[c.row..], near);
        let ([from, to], m) = (c.span, self.problem.dofs);
        let g = |row: usize| &self.problem.g[(c.row + row) * m + from..(c.row + row) * m + to];
        for i in 0..to - from {
            let target = &mut self.factors.matrix[(from + i) * m + from..(from + i) * m + to];
            for column in 0..c.law.dim() {
                let weight = (0..c.law.dim()).map(|row| g(row)[i] * step.by[row][column]).sum::<f64>();
                if weight != 0.0 {
                    axpy(weight, g(column), target);
                }
            }
        }
    }

    /// r ← r + δr of a contact.
    pub(super) fn change_wide(&mut self, c: Constraint, modes: &Parts, near: f64) {
        let step = WideStep::new(&c, modes, &self.iterate.f[c.row..], near);
        let ([from, to], m) = (c.span, self.problem.dofs);
        let mut du = [0.0; MAX_LAW_ROWS];
        for (k, du) in du.iter_mut().enumerate().take(c.law.dim()) {
            let i = c.row + k;
            *du = dot(&self.problem.g[i * m + from..i * m + to], &self.factors.step[from..to]);
        }
        for row in 0..c.law.dim() {
            self.iterate.r[c.row + row] += step.change[row] - dot(&step.by[row], &du);
        }
    }
}
