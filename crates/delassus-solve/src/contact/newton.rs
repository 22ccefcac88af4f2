//! Newton's method on the equations that the present mode of each contact asks for (Alart and Curnier's
//! function).
//!
//! With y = r − ρ u, ρ another number for the normal, the tangents, the rolling moments and the moment about
//! the normal, a contact is open where y_n ≤ 0, sticks where ‖y_t‖ ≤ μ y_n, and slides otherwise:
//!
//! | mode | equations |
//! |---|---|
//! | open | r = 0 |
//! | stick | u = 0 |
//! | slide | u_n = 0, r_t = μ y_n e, e = y_t/‖y_t‖ |
//!
//! (the associated law has u_n = μ‖u_t‖ in the place of u_n = 0). Each step solves (A + B W) δ = −F with
//! blocks A, B of one contact, without damping. Where W is singular among the contacts that hold, W + εI
//! takes its place in the matrix, not in F: a proximal step, which leaves the solutions where they are. ε
//! follows the error: far from a solution it keeps the steps short, close to it there is next to nothing of
//! it left.

use super::budget::{Reached, SolveCall};
use super::cone::{Cone, length};
use super::island::Island;
use crate::linalg::{Block, BlockLu, zero_block};

/// What is added to the diagonal of W, relative to the size of its own block, at an error relative to that of
/// r = 0.
fn proximal(error: f64) -> f64 {
    if error > 1e-3 { 1e-3 * error.min(1.0) } else { 1e-10 }
}

/// Scratch for the steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Newton<const D: usize> {
    left: Vec<Block<D>>,
    shift: Vec<Block<D>>,
    step: Vec<[f64; D]>,
    rho: Vec<[f64; 4]>,
    r: Vec<[f64; D]>,
    u: Vec<[f64; D]>,
}

impl<const D: usize> Newton<D> {
    /// Improves r as long as it goes well. r is left at the best point.
    pub fn run(
        &mut self,
        island: &Island<D>,
        r: &mut [[f64; D]],
        SolveCall { target, scale, limit, budget }: SolveCall<'_>,
        lu: &mut BlockLu<D>,
    ) -> Reached {
        let n = island.w.len();
        self.left.resize(n, zero_block());
        self.shift.resize(n, zero_block());
        self.step.resize(n, [0.0; D]);
        self.u.resize(n, [0.0; D]);
        self.rho.clear();
        self.rho.extend((0..n).map(|i| scales(&island.w.value[island.w.diagonal[i]], island.rho[i])));
        self.r.clear();
        self.r.extend_from_slice(r);
        let mut best = island.error(&self.r, &mut self.u);
        let mut error = best;
        let mut since = 0;
        let work = island.work() + lu.multiplications();
        for steps in 0..limit {
            if best <= target || !budget.spend(work) {
                return Reached { error: best, steps };
            }
            let near = proximal(error / scale);
            for i in 0..n {
                let (a, b, f) = equations(island.cones[i], &self.rho[i], near, &self.r[i], &self.u[i]);
                (self.shift[i], self.left[i]) = (a, b);
                self.step[i] = f.map(|x| -x);
            }
            if !lu.factor_scaled(&island.w, &self.left, &self.shift) {
                return Reached { error: best, steps };
            }
            lu.solve(&mut self.step);
            for (x, d) in self.r.iter_mut().flatten().zip(self.step.iter().flatten()) {
                *x += d;
            }
            error = island.error(&self.r, &mut self.u);
            if error < best {
                since = if error < 0.5 * best { 0 } else { since + 1 };
                best = error;
                r.copy_from_slice(&self.r);
            } else {
                since += 1;
            }
            if since >= 3 || !error.is_finite() {
                return Reached { error: best, steps: steps + 1 };
            }
        }
        Reached { error: best, steps: limit }
    }
}

/// ρ of the normal, of the tangents, of rolling and of spinning: 1/λ_max of that part of the block,
/// `otherwise` where it is zero.
fn scales<const D: usize>(w: &Block<D>, otherwise: f64) -> [f64; 4] {
    let invert = |x: f64| if x > 0.0 { 1.0 / x } else { otherwise };
    let pair = |i: usize| {
        if i >= D {
            return otherwise;
        }
        if i + 1 >= D {
            return invert(w[i][i]);
        }
        let (a, d, b) = (w[i][i], w[i + 1][i + 1], 0.5 * (w[i][i + 1] + w[i + 1][i]));
        invert(0.5 * (a + d) + (0.25 * (a - d) * (a - d) + b * b).sqrt())
    };
    [invert(w[0][0]), pair(1), pair(3), pair(5)]
}

/// A, B and F of one contact.
fn equations<const D: usize>(
    cone: Cone,
    rho: &[f64; 4],
    near: f64,
    r: &[f64; D],
    u: &[f64; D],
) -> (Block<D>, Block<D>, [f64; D]) {
    let (mut a, mut b, mut f) = (zero_block::<D>(), zero_block::<D>(), [0.0; D]);
    for c in cone.rows()..D {
        a[c][c] = 1.0;
    }
    let normal = r[0] - rho[0] * u[0];
    if cone != Cone::Free && normal <= 0.0 {
        for c in 0..cone.rows() {
            a[c][c] = 1.0;
            f[c] = r[c];
        }
        return (a, b, f);
    }
    // u_n = 0, in the units of forces as all rows.
    f[0] = rho[0] * u[0];
    b[0][0] = rho[0];
    a[0][0] = near;
    let mut friction = |from: usize, to: usize, mu: f64, rho: f64, press: f64| {
        let mut y = [0.0; D];
        for c in from..to {
            y[c] = r[c] - rho * u[c];
        }
        let size = length(&y, from, to);
        if size <= mu * normal {
            for c in from..to {
                f[c] = rho * u[c];
                b[c][c] = rho;
                a[c][c] = near;
            }
            return;
        }
        let k = mu * normal / size;
        for c in from..to {
            let e = y[c] / size;
            f[c] = r[c] - mu * normal * e;
            a[c][0] = -mu * e;
            b[c][0] = press * mu * e;
            for d in from..to {
                let one = if c == d { 1.0 } else { 0.0 };
                let across = one - e * y[d] / size;
                a[c][d] = (1.0 + near) * one - k * across;
                b[c][d] = rho * k * across;
            }
        }
        let associated = matches!(
            cone,
            Cone::Associated { .. } | Cone::AssociatedRolling { .. } | Cone::AssociatedSpinning { .. }
        );
        if associated {
            let speed = length(u, from, to);
            f[0] -= press * mu * speed;
            for c in from..to {
                b[0][c] = if speed > 0.0 { -press * mu * u[c] / speed } else { 0.0 };
            }
        }
    };
    match cone {
        Cone::Free | Cone::Ray => {}
        Cone::Coulomb { mu, tangents } | Cone::Associated { mu, tangents } => {
            friction(1, (1 + tangents).min(D), mu, rho[1], rho[0]);
        }
        Cone::Rolling { mu, rolling } | Cone::AssociatedRolling { mu, rolling } => {
            friction(1, 3.min(D), mu, rho[1], rho[0]);
            friction(3.min(D), 5.min(D), rolling, rho[2], rho[0]);
        }
        Cone::Spinning { mu, rolling, spinning } | Cone::AssociatedSpinning { mu, rolling, spinning } => {
            friction(1, 3.min(D), mu, rho[1], rho[0]);
            friction(3.min(D), 5.min(D), rolling, rho[2], rho[0]);
            friction(5.min(D), D, spinning, rho[3], rho[0]);
        }
    }
    (a, b, f)
}
