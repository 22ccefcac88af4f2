//! The proximal point method around Newton's method: for problems on which Newton's method by itself
//! diverges.
//!
//! From r_k, r_{k+1} is the solution of the problem with W + a/ρ and q − (a/ρ) r_k in the place of W and q,
//! which has a positive definite matrix; a fixed point solves the problem itself. The weight a falls where
//! Newton's method finds r_{k+1}. Where it does not, some more sweeps may help it; where they do not either,
//! the step is taken again with a larger weight. The error may grow on the way: with strong friction the
//! problem is not monotone, and the points first wander.

use super::budget::{Reached, SolveCall};
use super::island::Island;
use super::newton::Newton;
use crate::linalg::BlockLu;

/// Problems that are solved at most, and how many of them without a better point.
const MAX_PROBLEMS: usize = 300;
const MAX_PROBLEMS_WITHOUT_GAIN: usize = 150;
/// Sweeps that begin a problem, and those before another try; each is followed by some steps of Newton's
/// method.
const SWEEPS_BEFORE_NEWTON: [usize; 3] = [4, 16, 64];
const NEWTON_STEPS: usize = 15;
/// Products of blocks that all factorizations together may take: some seconds; and the steps that are taken
/// anyway.
const MAX_FACTOR_WORK: usize = 1_000_000_000;
const MIN_FACTORED_STEPS: usize = 300;
/// The largest weight that is tried.
const MAX_WEIGHT: f64 = 10.0;

/// Scratch of [`proximal`].
#[derive(Debug, Default)]
pub(super) struct Workspace<const D: usize> {
    near: Island<D>,
    u: Vec<[f64; D]>,
    x: Vec<[f64; D]>,
    trial: Vec<[f64; D]>,
}

/// Improves r, which is left at the best point.
pub(super) fn proximal<const D: usize>(
    island: &Island<D>,
    r: &mut [[f64; D]],
    SolveCall { target, scale, budget, .. }: SolveCall<'_>,
    newton: &mut Newton<D>,
    lu: &mut BlockLu<D>,
    workspace: &mut Workspace<D>,
) -> Reached {
    let n = r.len();
    let Workspace { near, u, x, trial } = workspace;
    near.copy_from(island);
    u.resize(n, [0.0; D]);
    x.clear();
    x.extend_from_slice(r);
    trial.resize(n, [0.0; D]);
    let mut best = island.error(r, u);
    let most_steps = (MAX_FACTOR_WORK / lu.work().max(1)).max(MIN_FACTORED_STEPS);
    let (mut a, mut count, mut steps) = (0.1, 0, 0);
    // Rounds for which the weight is held after it was too small, and rounds since the best point.
    let (mut hold, mut since) = (0, 0);
    for _ in 0..MAX_PROBLEMS {
        for i in 0..n {
            let at = island.w.diagonal[i];
            let weight = a / island.rho[i];
            near.w.value[at] = island.w.value[at];
            for c in 0..island.cones[i].rows() {
                near.w.value[at][c][c] += weight;
                near.q[i][c] = island.q[i][c] - weight * x[i][c];
            }
        }
        trial.copy_from_slice(x);
        let goal = (1e-3 * near.error(trial, u)).max(0.1 * target);
        let mut found = f64::INFINITY;
        for sweeps in SWEEPS_BEFORE_NEWTON {
            if !budget.spend(sweeps as u64 * island.work()) {
                return Reached { error: best, steps: count };
            }
            for _ in 0..sweeps {
                near.sweep(trial);
            }
            let call = SolveCall { target: goal, scale, limit: NEWTON_STEPS, budget };
            let run = newton.run(near, trial, call, lu);
            (found, steps, count) = (run.error, steps + run.steps, count + sweeps + run.steps);
            if found <= goal {
                break;
            }
        }
        since += 1;
        if found <= goal {
            if hold == 0 {
                a *= 0.5;
            } else {
                hold -= 1;
            }
            x.copy_from_slice(trial);
            let error = island.error(x, u);
            let polished =
                newton.run(island, trial, SolveCall { target, scale, limit: NEWTON_STEPS, budget }, lu);
            (steps, count) = (steps + polished.steps, count + polished.steps);
            for (point, error) in [(&*x, error), (&*trial, polished.error)] {
                if error < best {
                    (best, since) = (error, 0);
                    r.copy_from_slice(point);
                }
            }
        } else {
            (a, hold) = (3.0 * a, 2);
        }
        if best <= target || a > MAX_WEIGHT || since >= MAX_PROBLEMS_WITHOUT_GAIN || steps >= most_steps {
            break;
        }
    }
    Reached { error: best, steps: count }
}
