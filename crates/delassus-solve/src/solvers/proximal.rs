//! The proximal point method around Newton's method: for problems on which Newton's method by itself goes astray.
//!
//! From r_k, r_{k+1} is the solution of the problem with W + a/ρ and q − (a/ρ) r_k in the place of W and q, which has a
//! positive definite matrix; a fixed point solves the problem itself. The weight a falls where Newton's method finds r_{k+1},
//! and grows where it does not.

use super::island::Island;
use super::newton_contact::Newton;
use crate::block_lu::BlockLu;

/// Problems that are solved at most.
const ROUNDS: usize = 60;
/// Sweeps that begin each problem, and steps of Newton's method after them.
const SWEEPS: usize = 4;
const STEPS: usize = 15;

/// Room for [`proximal`].
#[derive(Debug, Default)]
pub(super) struct Room<const D: usize> {
    near: Island<D>,
    u: Vec<[f64; D]>,
    x: Vec<[f64; D]>,
    trial: Vec<[f64; D]>,
}

/// Improves r; returns the error and the number of sweeps and steps. r is left at the best point. `scale` is the error
/// of r = 0.
pub(super) fn proximal<const D: usize>(
    island: &Island<D>,
    r: &mut [[f64; D]],
    target: f64,
    scale: f64,
    newton: &mut Newton<D>,
    lu: &mut BlockLu<D>,
    room: &mut Room<D>,
) -> (f64, usize) {
    let n = r.len();
    let Room { near, u, x, trial } = room;
    near.copy_from(island);
    u.resize(n, [0.0; D]);
    x.clear();
    x.extend_from_slice(r);
    trial.resize(n, [0.0; D]);
    let mut best = island.error(r, u);
    let (mut a, mut count, mut failures) = (0.1, 0, 0);
    for _ in 0..ROUNDS {
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
        for _ in 0..SWEEPS {
            near.sweep(trial);
        }
        let (found, steps) = newton.run(near, trial, goal, STEPS, scale, lu);
        count += SWEEPS + steps;
        if found > goal {
            // Not found: a step half as well solved is still a step, but the next one is kept shorter.
            failures += 1;
            a = (10.0 * a).min(10.0);
            if failures > 8 {
                break;
            }
        } else {
            a *= 0.3;
        }
        x.copy_from_slice(trial);
        let error = island.error(x, u);
        if error < best {
            best = error;
            r.copy_from_slice(x);
        }
        if best <= target {
            return (best, count);
        }
        if found <= goal {
            let (polished, steps) = newton.run(island, trial, target, STEPS, scale, lu);
            count += steps;
            if polished < best {
                best = polished;
                r.copy_from_slice(trial);
            }
            if best <= target {
                return (best, count);
            }
        }
    }
    (best, count)
}
