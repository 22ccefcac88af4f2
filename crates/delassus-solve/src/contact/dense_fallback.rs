//! One solution of a contact problem u = W f + q, whatever its laws.
//!
//! Polyhedral laws go through the mixed LCP of [`crate::lcp::to_mlcp`] to exact pivoting. Cones (Coulomb's
//! law in space at zero slip, and the associated law) are solved by block Gauss–Seidel sweeps on De Saxcé's
//! projection f_i ← P_K(f_i − ρ_i (u_i + μ_i‖u_t,i‖e_n)) with bilateral rows eliminated exactly, until every
//! contact has settled on open, slide or stick; then by Newton's method on the equations of that mode, which
//! gives all digits. The residual of the result comes from [`crate::problem`], never from the method itself.
//!
//! For small dense problems. [`crate::contact`] is the way for all others, and comes here itself for laws
//! that are no cones (guides with friction, known directions of slip), which its islands of cones in blocks
//! do not know: polyhedral ones have a finite method, and a guide in space or a mixture with Coulomb's law in
//! space has none but these sweeps. The analysis ([`crate::analysis`]) meets any mixture of laws and asks
//! here for a point to 1e-12, whatever they are.

use super::Solution;
use super::cone::{Cone, project};
use crate::lcp::{solve_lifted_mlcp, to_mlcp};
use crate::linalg::{Matrix, dot, norm};
use crate::problem::{ContactView, Law, MAX_LAW_ROWS, Status, residual, row_offsets};

/// Scale-free residual to which a theorem or an impact asks for a solution.
pub const DENSE_TOLERANCE: f64 = 1e-10;
/// Largest number of Gauss–Seidel sweeps.
const MAX_SWEEPS: usize = 20_000;

/// Solves a contact problem to a scale-free residual.
pub fn solve_any_law(problem: &ContactView<'_>, tolerance: f64) -> Solution {
    let m = problem.delassus.dim();
    let w = problem.delassus.block(0..m, 0..m);
    let (impulse, reported, iterations) = match to_mlcp(&w, problem.free_velocity, problem.laws) {
        Some(lift) => {
            let s = solve_lifted_mlcp(&lift.mlcp, tolerance, true);
            (lift.force_of(&s.z), s.status, s.iterations)
        }
        None => {
            let (f, n) = sweep_and_polish(&w, problem, tolerance);
            (f, Status::Stalled, n)
        }
    };
    let (status, residual) = residual(problem, &impulse).settle(reported, tolerance);
    let velocity = problem.velocity(&impulse);
    Solution { impulse, velocity, status, iterations, residual, islands: 1 }
}

fn sweep_and_polish(w: &Matrix, problem: &ContactView<'_>, tolerance: f64) -> (Vec<f64>, usize) {
    let laws = problem.laws;
    let q = problem.free_velocity;
    let offsets = row_offsets(laws);
    let joint_rows: Vec<usize> =
        (0..laws.len()).filter(|&k| laws[k] == Law::Bilateral).map(|k| offsets[k]).collect();
    let w_jj = w.select(&joint_rows, &joint_rows);
    let rho: Vec<f64> = (0..laws.len())
        .map(|k| {
            let rows: Vec<usize> = (offsets[k]..offsets[k + 1]).collect();
            let top = w.select(&rows, &rows).symmetric_eigenvalues().last().copied().unwrap_or(0.0);
            if top > 0.0 { 1.0 / top } else { 1.0 }
        })
        .collect();
    let mut f = vec![0.0; w.rows()];
    let mut best = (f64::INFINITY, f.clone());
    let mut steps = 0;
    let mut next_try = 8;
    for sweep in 0..MAX_SWEEPS {
        hold_joints(w, &w_jj, q, &joint_rows, &mut f);
        for (k, law) in laws.iter().enumerate() {
            if *law != Law::Bilateral {
                relax(w, q, law, offsets[k], rho[k], &mut f);
            }
        }
        // The mode settles long before the digits do: try Newton now and then.
        if sweep + 1 == next_try {
            next_try *= 2;
            hold_joints(w, &w_jj, q, &joint_rows, &mut f);
            let (polished, n) = newton(w, problem, &offsets, &f);
            steps += n;
            for candidate in [polished, f.clone()] {
                let r = residual(problem, &candidate).relative;
                if r < best.0 {
                    best = (r, candidate);
                }
            }
            if best.0 <= 1e-3 * tolerance {
                return (best.1, steps + sweep + 1);
            }
        }
    }
    (best.1, steps + MAX_SWEEPS)
}

/// The forces in joints that keep u = 0 there, whatever the other forces; the shortest where not unique.
fn hold_joints(w: &Matrix, w_jj: &Matrix, q: &[f64], rows: &[usize], f: &mut [f64]) {
    if rows.is_empty() {
        return;
    }
    for &i in rows {
        f[i] = 0.0;
    }
    let rhs: Vec<f64> = rows.iter().map(|&i| -q[i] - dot(w.row(i), f)).collect();
    let column = Matrix::from_vec(rhs.len(), 1, rhs);
    let x = w_jj.solve_positive_definite(&column).unwrap_or_else(|| w_jj.pseudo_solve_matrix(&column));
    for (&i, v) in rows.iter().zip(x.data()) {
        f[i] = *v;
    }
}

/// A few projections on one constraint.
fn relax(w: &Matrix, q: &[f64], law: &Law, at: usize, rho: f64, f: &mut [f64]) {
    let d = law.dim();
    let mut u = [0.0; MAX_LAW_ROWS];
    for _ in 0..4 {
        for r in 0..d {
            u[r] = dot(w.row(at + r), f) + q[at + r];
        }
        let slip = norm(&u[1..d]);
        let block = &mut f[at..at + d];
        match law {
            Law::Bilateral => block[0] -= rho * u[0],
            Law::Unilateral => block[0] = (block[0] - rho * u[0]).max(0.0),
            Law::Sliding { mu, slip } | Law::BilateralSliding { mu, slip } => {
                let mut n = block[0] - rho * u[0];
                if matches!(law, Law::Sliding { .. }) {
                    n = n.max(0.0);
                }
                block[0] = n;
                for (x, e) in block[1..].iter_mut().zip(slip.components()) {
                    *x = -mu * n.abs() * e;
                }
            }
            Law::CoulombPlane { mu } | Law::Coulomb { mu } | Law::Cone { mu } | Law::ConePlane { mu } => {
                for r in 0..d {
                    block[r] -= rho * u[r];
                }
                if !law.is_associated() {
                    block[0] -= rho * mu * slip;
                }
                project_on(Cone::Coulomb { mu: *mu, tangents: d - 1 }, block);
            }
            Law::CoulombEllipse { mu } => {
                // In tangents divided by their coefficients the ellipse is a circle; W_ii grows by their
                // squares.
                let rho = rho / mu[0].max(mu[1]).max(1.0).powi(2);
                block[0] -= rho * (u[0] + (mu[0] * u[1]).hypot(mu[1] * u[2]));
                for c in 0..2 {
                    let scaled = if mu[c] > 0.0 { block[1 + c] / mu[c] } else { 0.0 };
                    block[1 + c] = scaled - rho * mu[c] * u[1 + c];
                }
                project_on(Cone::Coulomb { mu: 1.0, tangents: 2 }, block);
                block[1] *= mu[0];
                block[2] *= mu[1];
            }
            Law::Rolling { mu, rolling } | Law::ConeRolling { mu, rolling } => {
                for r in 0..d {
                    block[r] -= rho * u[r];
                }
                if !law.is_associated() {
                    block[0] -= rho * (mu * norm(&u[1..3]) + rolling * norm(&u[3..5]));
                }
                project_on(Cone::Rolling { mu: *mu, rolling: *rolling }, block);
            }
            Law::Spinning { mu, rolling, spinning } | Law::ConeSpinning { mu, rolling, spinning } => {
                for r in 0..d {
                    block[r] -= rho * u[r];
                }
                if !law.is_associated() {
                    let friction = mu * norm(&u[1..3]) + rolling * norm(&u[3..5]);
                    block[0] -= rho * (friction + spinning * u[5].abs());
                }
                project_on(Cone::Spinning { mu: *mu, rolling: *rolling, spinning: *spinning }, block);
            }
            Law::BilateralCoulombPlane { mu } | Law::BilateralCoulomb { mu } => {
                block[0] -= rho * u[0];
                let radius = mu * block[0].abs();
                for r in 1..d {
                    block[r] -= rho * u[r];
                }
                let size = norm(&block[1..]);
                if size > radius {
                    block[1..].iter_mut().for_each(|x| *x *= radius / size);
                }
            }
        }
    }
}

/// The nearest point of a cone, written over the rows of a contact.
fn project_on(cone: Cone, block: &mut [f64]) {
    let mut x = [0.0; MAX_LAW_ROWS];
    x[..block.len()].copy_from_slice(block);
    match cone {
        // A cone without friction is a ray, of which μ r_n cannot tell the inside.
        Cone::Coulomb { mu: 0.0, .. } => {
            x[0] = x[0].max(0.0);
            x[1..].fill(0.0);
        }
        cone => project(cone, &mut x),
    }
    block.copy_from_slice(&x[..block.len()]);
}

/// Newton's method on the equations of the modes that f shows.
fn newton(w: &Matrix, problem: &ContactView<'_>, offsets: &[usize], start: &[f64]) -> (Vec<f64>, usize) {
    // Rolling and elliptic friction have more modes than the three below: they are left to the sweeps.
    let other = |l: &Law| l.dim() > 3 || matches!(l, Law::CoulombEllipse { .. });
    if problem.laws.iter().any(other) {
        return (start.to_vec(), 0);
    }
    let m = w.rows();
    let mut f = start.to_vec();
    let modes = modes(problem, offsets, start);
    for step in 0..20 {
        let u = problem.velocity(&f);
        let mut g = vec![0.0; m];
        // ∂g = G_f ∂f + G_u ∂u, ∂u = W ∂f.
        let mut on_f = Matrix::zeros(m, m);
        let mut on_u = Matrix::zeros(m, m);
        for (k, law) in problem.laws.iter().enumerate() {
            let rows = offsets[k]..offsets[k + 1];
            equations(law, modes[k], rows.start, &f[rows.clone()], &u[rows], &mut g, &mut on_f, &mut on_u);
        }
        let product = on_u.mul(w);
        let jacobian = Matrix::from_fn(m, m, |i, j| on_f[(i, j)] + product[(i, j)]);
        if !(jacobian.is_finite() && g.iter().all(|x| x.is_finite())) {
            return (start.to_vec(), step);
        }
        let delta = jacobian.pseudo_solve(&g);
        for (x, d) in f.iter_mut().zip(&delta) {
            *x -= d;
        }
        if norm(&delta) <= 1e-15 * norm(&f) {
            return (f, step + 1);
        }
    }
    (f, 20)
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Open,
    Stick,
    Slide,
}

fn modes(problem: &ContactView<'_>, offsets: &[usize], f: &[f64]) -> Vec<State> {
    let u = problem.velocity(f);
    let top = crate::linalg::max_abs(f).max(f64::MIN_POSITIVE);
    problem
        .laws
        .iter()
        .enumerate()
        .map(|(k, law)| {
            let (f, u) = (&f[offsets[k]..offsets[k + 1]], &u[offsets[k]..offsets[k + 1]]);
            let slack = law.mu() * f[0].abs() - norm(&f[1..]);
            if !law.is_bilateral() && f[0] <= 1e-9 * top {
                State::Open
            } else if slack > 1e-6 * f[0].abs() || norm(&u[1..]) == 0.0 {
                State::Stick
            } else {
                State::Slide
            }
        })
        .collect()
}

#[allow(clippy::too_many_arguments, reason = "rows of one Newton system, written in place")]
fn equations(
    law: &Law,
    state: State,
    at: usize,
    f: &[f64],
    u: &[f64],
    g: &mut [f64],
    on_f: &mut Matrix,
    on_u: &mut Matrix,
) {
    let d = law.dim();
    if state == State::Open {
        for r in 0..d {
            g[at + r] = f[r];
            on_f[(at + r, at + r)] = 1.0;
        }
        return;
    }
    // The normal is at rest, except for the associated law, where u_n = μ‖u_t‖.
    let speed = norm(&u[1..]);
    g[at] = u[0];
    on_u[(at, at)] = 1.0;
    let mu = law.mu();
    if let Law::Sliding { slip, .. } | Law::BilateralSliding { slip, .. } = law {
        for (r, e) in slip.components().iter().enumerate() {
            g[at + 1 + r] = f[1 + r] + mu * f[0].abs() * e;
            on_f[(at + 1 + r, at + 1 + r)] = 1.0;
            on_f[(at + 1 + r, at)] = mu * f[0].signum() * e;
        }
        return;
    }
    if d == 1 {
        return;
    }
    if state == State::Stick {
        for r in 1..d {
            g[at + r] = u[r];
            on_u[(at + r, at + r)] = 1.0;
        }
        return;
    }
    if law.is_associated() {
        g[at] -= mu * speed;
        for r in 1..d {
            on_u[(at, at + r)] = -mu * u[r] / speed;
        }
    }
    // ‖u_t‖ f_t + μ|f_n| u_t = 0.
    let sign = f[0].signum();
    for r in 1..d {
        g[at + r] = speed * f[r] + mu * f[0].abs() * u[r];
        on_f[(at + r, at + r)] = speed;
        on_f[(at + r, at)] = mu * sign * u[r];
        for s in 1..d {
            on_u[(at + r, at + s)] = f[r] * u[s] / speed + if r == s { mu * f[0].abs() } else { 0.0 };
        }
    }
}
