//! The cones of contact forces and what the solvers need of them: projection, the term of De Saxcé,
//! residuals.
//!
//! Every law that the large solvers know reads K ∋ r ⊥ û ∈ K*, û = u + g(u) e_n, with K a cone and g the term
//! of De Saxcé (zero for the associated law).
//!
//! | cone | K | g(u) |
//! |---|---|---|
//! | `Free` | R | 0, and û = 0 |
//! | `Ray` | r_n ≥ 0 | 0 |
//! | `Coulomb` | ‖r_t‖ ≤ μ r_n | μ‖u_t‖ |
//! | `Associated` | ‖r_t‖ ≤ μ r_n | 0 |
//! | `Rolling` | ‖r_t‖ ≤ μ r_n, ‖m‖ ≤ ν r_n | μ‖u_t‖ + ν‖ω‖ |
//! | `AssociatedRolling` | ‖r_t‖ ≤ μ r_n, ‖m‖ ≤ ν r_n | 0 |
//! | `Spinning` | the same and abs(m_n) ≤ σ r_n | μ‖u_t‖ + ν‖ω‖ + σ abs(ω_n) |
//! | `AssociatedSpinning` | the same | 0 |
//!
//! Blocks are padded to D rows; rows beyond those of a cone are zero in r and ignored in u.

use crate::linalg;
use crate::linalg::{Block, BlockMatrix, zero_block};

/// The cone of one constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cone {
    Free,
    Ray,
    Coulomb { mu: f64, tangents: usize },
    Associated { mu: f64, tangents: usize },
    Rolling { mu: f64, rolling: f64 },
    AssociatedRolling { mu: f64, rolling: f64 },
    Spinning { mu: f64, rolling: f64, spinning: f64 },
    AssociatedSpinning { mu: f64, rolling: f64, spinning: f64 },
}

impl Cone {
    /// Rows in use.
    pub fn rows(self) -> usize {
        match self {
            Cone::Free | Cone::Ray => 1,
            Cone::Coulomb { tangents, .. } | Cone::Associated { tangents, .. } => 1 + tangents,
            Cone::Rolling { .. } | Cone::AssociatedRolling { .. } => 5,
            Cone::Spinning { .. } | Cone::AssociatedSpinning { .. } => 6,
        }
    }
}

/// The length of the part `from..to`.
#[inline(always)]
pub(super) fn length<const D: usize>(x: &[f64; D], from: usize, to: usize) -> f64 {
    let mut sum = 0.0;
    for c in from..to.min(D) {
        sum += x[c] * x[c];
    }
    sum.sqrt()
}

/// û from u.
#[inline(always)]
pub(super) fn saxce<const D: usize>(cone: Cone, u: &mut [f64; D]) {
    match cone {
        Cone::Coulomb { mu, tangents } => u[0] += mu * length(u, 1, 1 + tangents),
        Cone::Rolling { mu, rolling } => u[0] += mu * length(u, 1, 3) + rolling * length(u, 3, 5),
        Cone::Spinning { mu, rolling, spinning } => {
            u[0] += mu * length(u, 1, 3) + rolling * length(u, 3, 5) + spinning * length(u, 5, 6);
        }
        Cone::Free
        | Cone::Ray
        | Cone::Associated { .. }
        | Cone::AssociatedRolling { .. }
        | Cone::AssociatedSpinning { .. } => {}
    }
    for c in cone.rows()..D {
        u[c] = 0.0;
    }
}

/// The nearest point of K, written over x.
#[inline(always)]
pub(super) fn project<const D: usize>(cone: Cone, x: &mut [f64; D]) {
    match cone {
        Cone::Free => {}
        Cone::Ray => x[0] = x[0].max(0.0),
        Cone::Coulomb { mu, tangents } | Cone::Associated { mu, tangents } => {
            let t = length(x, 1, 1 + tangents);
            if t <= mu * x[0] {
                return;
            }
            if mu * t <= -x[0] {
                *x = [0.0; D];
                return;
            }
            let n = (x[0] + mu * t) / (1.0 + mu * mu);
            x[0] = n;
            for c in 1..(1 + tangents).min(D) {
                x[c] *= mu * n / t;
            }
        }
        Cone::Rolling { mu, rolling } | Cone::AssociatedRolling { mu, rolling } => {
            let (t, m) = (length(x, 1, 3), length(x, 3, 5));
            let n = rolling_normal(x[0], t, m, mu, rolling);
            let shrink = |size: f64, limit: f64| if size > limit { limit / size } else { 1.0 };
            let (st, sm) = (shrink(t, mu * n), shrink(m, rolling * n));
            x[0] = n;
            for c in 1..D {
                x[c] *= if c < 3 { st } else { sm };
            }
        }
        Cone::Spinning { mu, rolling, spinning } | Cone::AssociatedSpinning { mu, rolling, spinning } => {
            let limits = [mu, rolling, spinning];
            let sizes = [length(x, 1, 3), length(x, 3, 5), length(x, 5, 6)];
            x[0] = spinning_normal(x[0], sizes, limits);
            let n = x[0];
            for c in 1..D {
                let (size, limit) = (sizes[(c - 1) / 2], limits[(c - 1) / 2] * n);
                if size > limit {
                    x[c] *= limit / size;
                }
            }
        }
    }
}

/// The normal part of the projection on two cones that share it: the least a ≥ 0 with
/// a − n ≥ μ (t − μ a)₊ + ν (m − ν a)₊.
pub(super) fn rolling_normal(n: f64, t: f64, m: f64, mu: f64, nu: f64) -> f64 {
    let slope = |a: f64| a - n - mu * (t - mu * a).max(0.0) - nu * (m - nu * a).max(0.0);
    if slope(0.0) >= 0.0 {
        return 0.0;
    }
    // Between the kinks the slope is a straight line.
    for (on_t, on_m) in [(1.0, 1.0), (1.0, 0.0), (0.0, 1.0), (0.0, 0.0)] {
        let a = (n + on_t * mu * t + on_m * nu * m) / (1.0 + on_t * mu * mu + on_m * nu * nu);
        if a > 0.0 && (t > mu * a) == (on_t == 1.0) && (m > nu * a) == (on_m == 1.0) {
            return a;
        }
    }
    // On a kink, to rounding.
    let a = (n + mu * t + nu * m) / (1.0 + mu * mu + nu * nu);
    a.max(n).max(0.0)
}

/// The same with three cones. a − n − Σ μ_i (t_i − μ_i a)₊ is concave: Newton's method from a = 0 climbs to
/// its zero, and passes each of the three kinks at most once.
fn spinning_normal(n: f64, t: [f64; 3], mu: [f64; 3]) -> f64 {
    let mut a = 0.0_f64;
    for _ in 0..4 {
        let (mut push, mut weight) = (n, 1.0);
        for i in (0..3).filter(|&i| t[i] > mu[i] * a) {
            push += mu[i] * t[i];
            weight += mu[i] * mu[i];
        }
        a = a.max(push / weight);
    }
    a
}

/// ρ: 1/λ_max of the symmetric part of each diagonal block, 1 where that is not positive.
pub(super) fn steps<const D: usize>(w: &BlockMatrix<D>, cones: &[Cone], rho: &mut Vec<f64>) {
    rho.resize(w.len(), 1.0);
    linalg::fill(rho, |i| {
        let top = largest_eigenvalue(&w.value[w.diagonal[i]], cones[i].rows());
        if top > 0.0 { 1.0 / top } else { 1.0 }
    });
}

/// The largest eigenvalue of the symmetric part of the leading rows, in closed form for three, by Jacobi
/// rotations otherwise.
pub(super) fn largest_eigenvalue<const D: usize>(a: &Block<D>, rows: usize) -> f64 {
    let rows = rows.min(D);
    let mut s = zero_block::<D>();
    for i in 0..rows {
        for j in 0..rows {
            s[i][j] = 0.5 * (a[i][j] + a[j][i]);
        }
    }
    if rows == 3 {
        // The trigonometric root of the characteristic polynomial.
        let p1 = s[0][1] * s[0][1] + s[0][2] * s[0][2] + s[1][2] * s[1][2];
        let m = (s[0][0] + s[1][1] + s[2][2]) / 3.0;
        let (a, b, c) = (s[0][0] - m, s[1][1] - m, s[2][2] - m);
        let p = ((a * a + b * b + c * c + 2.0 * p1) / 6.0).sqrt();
        if p <= 1e-15 * m.abs() {
            return m;
        }
        let det = a * (b * c - s[1][2] * s[1][2]) - s[0][1] * (s[0][1] * c - s[1][2] * s[0][2])
            + s[0][2] * (s[0][1] * s[1][2] - b * s[0][2]);
        let half = (det / (2.0 * p * p * p)).clamp(-1.0, 1.0);
        return m + 2.0 * p * (half.acos() / 3.0).cos();
    }
    for _ in 0..30 {
        let mut off = 0.0;
        let mut size = 0.0;
        for i in 0..rows {
            for j in 0..rows {
                if i == j {
                    size += s[i][i] * s[i][i];
                } else {
                    off += s[i][j] * s[i][j];
                }
            }
        }
        if off <= 1e-30 * size {
            break;
        }
        for p in 0..rows {
            for k in p + 1..rows {
                if s[p][k] == 0.0 {
                    continue;
                }
                let theta = (s[k][k] - s[p][p]) / (2.0 * s[p][k]);
                let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
                let c = 1.0 / (t * t + 1.0).sqrt();
                linalg::small::rotate(&mut s, rows, [p, k], [c, t * c]);
            }
        }
    }
    (0..rows).map(|i| s[i][i]).fold(f64::NEG_INFINITY, f64::max)
}

/// Σ ‖r_i − P(r_i − ρ_i û_i)‖², the square of what the residual measures; u = W r + q is written to `u`.
pub(super) fn error_square<const D: usize>(
    w: &BlockMatrix<D>,
    q: &[[f64; D]],
    cones: &[Cone],
    rho: &[f64],
    r: &[[f64; D]],
    u: &mut [[f64; D]],
) -> f64 {
    linalg::fill(u, |i| {
        let v = w.row_times(i, r);
        std::array::from_fn(|c| v[c] + q[i][c])
    });
    let u = &*u;
    linalg::sum(w.len(), |i| natural(cones[i], rho[i], &r[i], &u[i]).iter().map(|x| x * x).sum::<f64>())
}

/// r − P(r − ρ û).
#[inline(always)]
pub(super) fn natural<const D: usize>(cone: Cone, rho: f64, r: &[f64; D], u: &[f64; D]) -> [f64; D] {
    let mut hat = *u;
    saxce(cone, &mut hat);
    if cone == Cone::Free {
        // Without a detour over r, whose size must not hide what is left of u.
        return hat.map(|x| rho * x);
    }
    let mut p = *r;
    for c in 0..D {
        p[c] -= rho * hat[c];
    }
    project(cone, &mut p);
    let mut f = *r;
    for c in 0..D {
        f[c] -= p[c];
    }
    f
}
