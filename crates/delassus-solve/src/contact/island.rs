//! A connected part of a contact problem, in blocks: u = W r + q, (r_i, u_i) in the cone of constraint i.
//!
//! W has D × D blocks, one row of them for each of the n constraints; ρ_i = 1/λ_max(sym W_ii) is the step in
//! which the error of a point is measured, as by the residual ([`crate::problem`]).

use super::cone::{Cone, error_square, natural};
use super::gauss_seidel::{relaxed, sweep};
use crate::linalg::BlockMatrix;

/// A connected part of a problem.
#[derive(Clone, Debug, Default)]
pub(super) struct Island<const D: usize> {
    pub w: BlockMatrix<D>,
    pub q: Vec<[f64; D]>,
    pub cones: Vec<Cone>,
    pub rho: Vec<f64>,
}

impl<const D: usize> Island<D> {
    /// The work of a sweep, of an error check or of a product with W: its blocks, and what a contact
    /// takes by itself.
    pub fn work(&self) -> u64 {
        ((self.w.value.len() + 4 * self.w.len()) * D * D) as u64
    }

    /// The error of r; u is written.
    pub fn error(&self, r: &[[f64; D]], u: &mut [[f64; D]]) -> f64 {
        error_square(&self.w, &self.q, &self.cones, &self.rho, r, u).sqrt()
    }

    /// The error of r = 0, which sets the scale of an island.
    pub fn error_of_zero(&self, u: &mut [[f64; D]]) -> f64 {
        let mut sum = 0.0;
        for i in 0..self.w.len() {
            u[i] = self.q[i];
            sum +=
                natural(self.cones[i], self.rho[i], &[0.0; D], &self.q[i]).iter().map(|x| x * x).sum::<f64>();
        }
        sum.sqrt()
    }

    /// ‖ρ q‖: the error that r = 0 would have if every contact had to stop.
    pub fn free_velocity_norm(&self) -> f64 {
        let of = |(q, rho): (&[f64; D], &f64)| q.iter().map(|x| (x * rho).powi(2)).sum::<f64>();
        self.q.iter().zip(&self.rho).map(of).sum::<f64>().sqrt()
    }

    /// Takes over some constraints of another problem, an ascending list; `index` has a place for each of
    /// them.
    pub fn select(&mut self, from: &Self, rows: &[usize], index: &mut [usize]) {
        from.w.select(rows, index, &mut self.w);
        self.q.clear();
        self.q.extend(rows.iter().map(|&i| from.q[i]));
        self.cones.clear();
        self.cones.extend(rows.iter().map(|&i| from.cones[i]));
        self.rho.clear();
        self.rho.extend(rows.iter().map(|&i| from.rho[i]));
    }

    /// Becomes a copy of another island in the memory that it has.
    pub fn copy_from(&mut self, other: &Self) {
        self.w.copy_from(&other.w);
        self.q.clone_from(&other.q);
        self.cones.clone_from(&other.cones);
        self.rho.clone_from(&other.rho);
    }

    /// The impulse of contact i that solves it while the others are held.
    pub fn relaxed(&self, i: usize, r: &[[f64; D]]) -> [f64; D] {
        relaxed(&self.w, &self.q, &self.cones, &self.rho, r, (i, true))
    }

    /// One sweep; returns how many contacts changed their mode.
    pub fn sweep(&self, r: &mut [[f64; D]]) -> usize {
        sweep(&self.w, &self.q, &self.cones, &self.rho, r, false)
    }

    /// One sweep in which every contact is solved precisely.
    pub fn precise_sweep(&self, r: &mut [[f64; D]]) {
        sweep(&self.w, &self.q, &self.cones, &self.rho, r, true);
    }
}
