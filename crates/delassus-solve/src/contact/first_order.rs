//! Methods that use W through its products alone, and one that factors it once: cheap steps, many of them.
//!
//! ```text
//! r ≈ argmin ½ rᵀW r + (q + s)ᵀ r  over r ∈ K ,     s ← g(u) e_n ,   u = W r + q
//! ```
//!
//! K is the product of the cones and g their term of De Saxcé (`cone`). Every method takes steps on this
//! convex problem and renews s with each of them: a fixed point satisfies the law that was asked. The error
//! of a point is the residual of that law, never a number of the method.

use super::budget::{Reached, SolveCall};
use super::coloring::Coloring;
use super::cone::{project, saxce};
use super::factors::{Factors, WORK_MAX};
use super::island::Island;
use crate::linalg;
use crate::linalg::{Block, small, zero_block};

/// Scratch for the points of these methods.
#[derive(Debug, Default)]
pub(super) struct Workspace<const D: usize> {
    points: [Vec<[f64; D]>; 5],
    shift: Vec<Block<D>>,
}

/// Makes all points copies of r.
fn copies<'a, const D: usize>(
    points: &'a mut [Vec<[f64; D]>; 5],
    r: &[[f64; D]],
) -> [&'a mut Vec<[f64; D]>; 5] {
    points.each_mut().map(|point| {
        point.clear();
        point.extend_from_slice(r);
        point
    })
}

/// Sweeps until the error is below the target. r is left at the best point.
pub(super) fn gauss_seidel<const D: usize>(
    island: &Island<D>,
    r: &mut [[f64; D]],
    u: &mut [[f64; D]],
    SolveCall { target, limit, budget, .. }: SolveCall<'_>,
    workspace: &mut Workspace<D>,
) -> Reached {
    let [x, ..] = copies(&mut workspace.points, r);
    let mut best = island.error(r, u);
    let mut next_check = 1;
    for k in 1..=limit {
        if best <= target || !budget.spend(2 * island.work()) {
            return Reached { error: best, steps: k - 1 };
        }
        island.precise_sweep(x);
        // An error check costs as much as a sweep: the later, the rarer.
        if k >= next_check || k == limit {
            next_check = k + 1 + k / 8;
            keep(island, x, r, u, &mut best);
        }
    }
    Reached { error: best, steps: limit }
}

/// Differences that Anderson's method remembers.
const ANDERSON_MEMORY: usize = 8;

/// Scratch of [`Anderson::run`].
#[derive(Default)]
pub(super) struct Anderson<const D: usize> {
    coloring: Coloring<D>,
    u: Vec<[f64; D]>,
    x: Vec<[f64; D]>,
    kept: Vec<[f64; D]>,
    swept: Vec<[f64; D]>,
    change: Vec<[f64; D]>,
    last_swept: Vec<[f64; D]>,
    last_change: Vec<[f64; D]>,
    /// Differences of swept points and of changes, the oldest overwritten first.
    points: [Vec<[f64; D]>; ANDERSON_MEMORY],
    changes: [Vec<[f64; D]>; ANDERSON_MEMORY],
}

impl<const D: usize> Anderson<D> {
    /// Sweeps with Anderson's acceleration: the next point is the combination of the last ones whose changes
    /// by a sweep nearly cancel. It begins anew where the changes grow.
    pub fn run(&mut self, island: &Island<D>, r: &mut [[f64; D]], call: SolveCall<'_>) -> Reached {
        linalg::inside(r.len(), || self.accelerated(island, r, call))
    }

    // Long: one loop over ten vectors, which no part of it could do without.
    fn accelerated(
        &mut self,
        island: &Island<D>,
        r: &mut [[f64; D]],
        SolveCall { target, limit, budget, .. }: SolveCall<'_>,
    ) -> Reached {
        let n = r.len();
        self.coloring.renew(island);
        let Anderson { coloring, u, x, kept, swept, change, last_swept, last_change, points, changes } = self;
        coloring.sort(r, x);
        for point in [&mut *u, &mut *kept, &mut *swept, &mut *change, &mut *last_swept, &mut *last_change] {
            point.resize(n, [0.0; D]);
        }
        kept.copy_from_slice(x);
        let mut best = coloring.island.error(x, u);
        let mut products = [[0.0; ANDERSON_MEMORY]; ANDERSON_MEMORY];
        let (mut size, mut ratio, mut next_check, mut oldest, mut count) =
            (f64::INFINITY, f64::INFINITY, 4, 0, 0);
        // Differences in memory.
        let mut m = 0;
        // A sweep, an error check now and then, and the products of the differences.
        let work = island.work() + (n * D * 4 * ANDERSON_MEMORY) as u64;
        while count < limit && best > target && budget.spend(work) {
            count += 1;
            coloring.sweep(x, swept);
            let island = &coloring.island;
            linalg::fill(change, |i| std::array::from_fn(|c| swept[i][c] - x[i][c]));
            let now = weighted(island, change, change).sqrt();
            // A check costs half a sweep: when the change, which goes with the error, promises success, or
            // after a while.
            if now * ratio <= target || count >= next_check || count == limit {
                next_check = count + 4 + count / 4;
                let error = island.error(swept, u);
                ratio = error / now.max(f64::MIN_POSITIVE);
                if error < best {
                    best = error;
                    kept.copy_from_slice(swept);
                }
            }
            if now > 2.0 * size {
                (m, oldest) = (0, 0);
                x.copy_from_slice(swept);
                size = f64::INFINITY;
                continue;
            }
            if size.is_finite() {
                let newest = if m < ANDERSON_MEMORY { m } else { oldest };
                m = ANDERSON_MEMORY.min(m + 1);
                oldest = (newest + 1) % ANDERSON_MEMORY;
                points[newest].resize(n, [0.0; D]);
                changes[newest].resize(n, [0.0; D]);
                linalg::fill(&mut points[newest], |i| {
                    std::array::from_fn(|c| swept[i][c] - last_swept[i][c])
                });
                linalg::fill(&mut changes[newest], |i| {
                    std::array::from_fn(|c| change[i][c] - last_change[i][c])
                });
                // Only the newest difference has new products.
                for b in 0..m {
                    let product = weighted(island, &changes[newest], &changes[b]);
                    products[newest][b] = product;
                    products[b][newest] = product;
                }
            }
            size = now;
            let right =
                std::array::from_fn(|a| if a < m { weighted(island, &changes[a], change) } else { 0.0 });
            let weights = combination(&products, &right, m);
            linalg::fill(x, |i| {
                let mut y = swept[i];
                if let Some(weights) = &weights {
                    for (w, point) in weights.iter().zip(&points[..m]) {
                        for c in 0..D {
                            y[c] -= w * point[i][c];
                        }
                    }
                    project(island.cones[i], &mut y);
                }
                y
            });
            std::mem::swap(last_swept, swept);
            std::mem::swap(last_change, change);
        }
        coloring.restore(kept, r);
        Reached { error: best, steps: count }
    }
}

/// The weights y of the first m differences, (G + ε) y = b, by Cholesky's method; `None` where there are none
/// or G is not positive definite.
pub(super) fn combination<const N: usize>(g: &[[f64; N]; N], b: &[f64; N], m: usize) -> Option<[f64; N]> {
    if m == 0 {
        return None;
    }
    let top = (0..m).map(|a| g[a][a]).fold(0.0, f64::max);
    let regularized = |i: usize, j: usize| g[i][j] + if i == j { 1e-12 * top } else { 0.0 };
    let (mut l, mut y) = (std::array::from_fn(|i| std::array::from_fn(|j| regularized(i, j))), *b);
    if !small::cholesky(&mut l, m, |_, _| 0.0) {
        return None;
    }
    small::forward(&l, m, &mut y);
    small::backward(&l, m, &mut y);
    y[..m].iter().all(|x| x.is_finite()).then_some(y)
}

/// The better of two points is kept in r.
fn keep<const D: usize>(
    island: &Island<D>,
    x: &[[f64; D]],
    r: &mut [[f64; D]],
    u: &mut [[f64; D]],
    best: &mut f64,
) {
    let error = island.error(x, u);
    if error < *best {
        *best = error;
        r.copy_from_slice(x);
    }
}

/// û at y.
fn hat<const D: usize>(island: &Island<D>, y: &[[f64; D]], out: &mut [[f64; D]]) {
    linalg::fill(out, |i| {
        let mut u = island.w.row_times(i, y);
        for c in 0..D {
            u[c] += island.q[i][c];
        }
        saxce(island.cones[i], &mut u);
        u
    });
}

/// x ← P(y − step · û) for each constraint in its own scale.
fn projected<const D: usize>(
    island: &Island<D>,
    y: &[[f64; D]],
    u: &[[f64; D]],
    step: f64,
    x: &mut [[f64; D]],
) {
    linalg::fill(x, |i| {
        let mut x: [f64; D] = std::array::from_fn(|c| y[i][c] - step * island.rho[i] * u[i][c]);
        project(island.cones[i], &mut x);
        x
    });
}

/// Σ (a·b)/ρ: the scalar product in which a step of length ρ is a unit.
fn weighted<const D: usize>(island: &Island<D>, a: &[[f64; D]], b: &[[f64; D]]) -> f64 {
    linalg::sum(a.len(), |i| (0..D).map(|c| a[i][c] * b[i][c]).sum::<f64>() / island.rho[i])
}

/// Nesterov's acceleration of projected gradients, the step halved where the model is too bold, begun anew
/// where the momentum points uphill.
pub(super) fn projected_gradient<const D: usize>(
    island: &Island<D>,
    r: &mut [[f64; D]],
    u: &mut [[f64; D]],
    SolveCall { target, limit, budget, .. }: SolveCall<'_>,
    workspace: &mut Workspace<D>,
) -> Reached {
    let n = r.len();
    let mut best = island.error(r, u);
    let [x, y, next, force, change] = copies(&mut workspace.points, r);
    let (mut step, mut theta) = (1.0_f64, 1.0_f64);
    let mut next_check = 1;
    for k in 1..=limit {
        if best <= target || !budget.spend(3 * island.work()) {
            return Reached { error: best, steps: k - 1 };
        }
        hat(island, y, force);
        loop {
            projected(island, y, force, step, next);
            for i in 0..n {
                change[i] = std::array::from_fn(|c| next[i][c] - y[i][c]);
            }
            // ½ δᵀWδ must stay below δᵀδ/(2 step).
            island.w.mul_into(change, u);
            let bend: f64 = change.iter().flatten().zip(u.iter().flatten()).map(|(a, b)| a * b).sum();
            if step <= 1e-12 || bend * step <= weighted(island, change, change) {
                break;
            }
            step *= 0.5;
        }
        let uphill: f64 = (0..n)
            .map(|i| {
                let s: f64 = (0..D).map(|c| (y[i][c] - next[i][c]) * (next[i][c] - x[i][c])).sum();
                s / island.rho[i]
            })
            .sum();
        let momentum = if uphill > 0.0 {
            theta = 1.0;
            0.0
        } else {
            let root = 0.5 * (1.0 + (1.0 + 4.0 * theta * theta).sqrt());
            let m = (theta - 1.0) / root;
            theta = root;
            m
        };
        for i in 0..n {
            for c in 0..D {
                y[i][c] = next[i][c] + momentum * (next[i][c] - x[i][c]);
            }
        }
        std::mem::swap(x, next);
        step *= 1.02;
        if k >= next_check || k == limit {
            next_check = k + 1 + k / 16;
            keep(island, x, r, u, &mut best);
        }
    }
    Reached { error: best, steps: limit }
}

/// Projected gradients with the steps of Barzilai and Borwein, two lengths by turns, not monotone.
pub(super) fn spectral<const D: usize>(
    island: &Island<D>,
    r: &mut [[f64; D]],
    u: &mut [[f64; D]],
    SolveCall { target, limit, budget, .. }: SolveCall<'_>,
    workspace: &mut Workspace<D>,
) -> Reached {
    let n = r.len();
    let mut best = island.error(r, u);
    let [x, next, force, after, _] = copies(&mut workspace.points, r);
    hat(island, x, force);
    let mut step = 1.0;
    let mut next_check = 1;
    for k in 1..=limit {
        if best <= target || !budget.spend(2 * island.work()) {
            return Reached { error: best, steps: k - 1 };
        }
        projected(island, x, force, step, next);
        hat(island, next, after);
        let (mut ss, mut sy, mut yy) = (0.0, 0.0, 0.0);
        for i in 0..n {
            for c in 0..D {
                let (s, y) = (next[i][c] - x[i][c], after[i][c] - force[i][c]);
                ss += s * s / island.rho[i];
                sy += s * y;
                yy += y * y * island.rho[i];
            }
        }
        step = if sy <= 0.0 {
            1.0
        } else if k % 2 == 0 {
            ss / sy
        } else {
            sy / yy
        };
        step = step.clamp(1e-6, 1e6);
        std::mem::swap(x, next);
        std::mem::swap(force, after);
        if k >= next_check || k == limit {
            next_check = k + 1 + k / 16;
            keep(island, x, r, u, &mut best);
        }
    }
    Reached { error: best, steps: limit }
}

/// Alternating directions: x from (W + κ) x = κ (z − y) − q − g e_n, z = P(x + y), y += x − z, the penalty
/// κ/ρ adapted to the balance of the two errors.
pub(super) fn admm<const D: usize>(
    island: &Island<D>,
    r: &mut [[f64; D]],
    u: &mut [[f64; D]],
    SolveCall { target, limit, budget, .. }: SolveCall<'_>,
    workspace: &mut Workspace<D>,
    factors: &mut Factors<D>,
) -> Reached {
    let n = r.len();
    let mut best = island.error(r, u);
    let Some(lu) = factors.within(&island.w, WORK_MAX) else {
        return Reached { error: best, steps: 0 };
    };
    let Workspace { points, shift } = workspace;
    shift.clear();
    shift.resize(n, zero_block());
    let [x, z, y, before, _] = copies(points, r);
    y.fill([0.0; D]);
    let (mut kappa, mut adapt, mut next_check) = (0.1, true, 1);
    for k in 1..=limit {
        if best <= target || !budget.spend(3 * island.work()) {
            return Reached { error: best, steps: k - 1 };
        }
        if adapt {
            for i in 0..n {
                for c in 0..D {
                    shift[i][c][c] = kappa / island.rho[i];
                }
            }
            if !budget.spend(lu.multiplications()) || !lu.factor(&island.w, shift) {
                return Reached { error: best, steps: k - 1 };
            }
            adapt = false;
        }
        // The term of De Saxcé at z.
        hat(island, z, u);
        for i in 0..n {
            let plain = island.w.row_times(i, z);
            for c in 0..D {
                let term = if c == 0 { u[i][0] - plain[0] - island.q[i][0] } else { 0.0 };
                let pull = kappa / island.rho[i] * (z[i][c] - y[i][c]);
                x[i][c] = if c < island.cones[i].rows() { pull - island.q[i][c] - term } else { 0.0 };
            }
        }
        lu.solve(x);
        before.copy_from_slice(z);
        let (mut apart, mut moved) = (0.0, 0.0);
        for i in 0..n {
            for c in 0..D {
                z[i][c] = x[i][c] + y[i][c];
            }
            project(island.cones[i], &mut z[i]);
            for c in 0..D {
                y[i][c] += x[i][c] - z[i][c];
                apart += (x[i][c] - z[i][c]).powi(2) / island.rho[i];
                moved += (kappa * (z[i][c] - before[i][c])).powi(2) / island.rho[i];
            }
        }
        if k % 20 == 0 && k < 400 {
            let ratio = (apart / moved.max(f64::MIN_POSITIVE)).sqrt();
            if !(0.2..=5.0).contains(&ratio) {
                let factor = ratio.sqrt().clamp(0.1, 10.0);
                kappa *= factor;
                y.iter_mut().flatten().for_each(|v| *v /= factor);
                adapt = true;
            }
        }
        if k >= next_check || k == limit {
            next_check = k + 1 + k / 16;
            keep(island, z, r, u, &mut best);
        }
    }
    Reached { error: best, steps: limit }
}
