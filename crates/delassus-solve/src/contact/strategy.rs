//! One island: the order in which methods are tried on it, with room for all of them that is used again for the next.

use super::budget::Budget;
use super::cone::{Cone, saxce};
use super::factors::{Factors, WORK_MAX};
use super::first_order::Anderson;
use super::interior_point::InteriorPoint;
use super::island::Island;
use super::newton::Newton;
use super::pivot_island::pivot;
use super::proximal::proximal;
use super::{FrictionOptions, Method, first_order, proximal};
use crate::linalg::{Block, BlockLu, zero_block};
use crate::problem::Status;

/// Room for all methods, made where a method is first used.
#[derive(Default)]
pub(super) struct IslandSolver<const D: usize> {
    u: Vec<[f64; D]>,
    trial: Vec<[f64; D]>,
    /// Where the solve began.
    start: Vec<[f64; D]>,
    shift: Vec<Block<D>>,
    newton: Newton<D>,
    others: Option<Box<Others<D>>>,
}

/// Room for what is not needed often.
#[derive(Default)]
struct Others<const D: usize> {
    interior: InteriorPoint<D>,
    anderson: Anderson<D>,
    proximal: proximal::Room<D>,
    first_order: first_order::Room<D>,
    /// The problem in which the norm chooses, its solution, and the point from which the norm is taken.
    shortened: Island<D>,
    short: Vec<[f64; D]>,
    center: Vec<[f64; D]>,
}

impl<const D: usize> IslandSolver<D> {
    /// Solves an island from r, by pivoting in the end where all else failed; returns the error, the number of iterations,
    /// and whether there is proof that no solution exists.
    pub fn finish(
        &mut self,
        island: &Island<D>,
        r: &mut [[f64; D]],
        target: f64,
        options: &FrictionOptions,
        budget: &mut Budget,
        factors: &mut Factors<D>,
    ) -> (f64, usize, bool) {
        budget.next_island(island.work());
        let (mut error, mut count) = self.run(island, r, target, options, budget, factors);
        if error <= target && options.minimum_norm {
            let most = options.max_iterations;
            let (found, k) = self.shorten(island, r, (error, target), most, budget, factors);
            return (found, count + k, false);
        }
        if options.method != Method::Auto || error <= target || budget.ended().is_some() {
            return (error, count, false);
        }
        if let Some((found, status, pivots)) = pivot(island, options.tolerance) {
            let exact = island.error(&found, &mut self.u[..r.len()]);
            count += pivots;
            if exact < error {
                error = exact;
                r.copy_from_slice(&found);
            }
            if error <= target || status == Status::NoSolution {
                return (error, count, error > target);
            }
        }
        let most = options.max_iterations.min(BY_NAME / island.w.value.len().max(1));
        let (error, k) = self.by_name(island, r, (error, target), (&BY_NAME_ALL, most), budget, factors);
        (error, count + k, false)
    }

    /// Methods one after the other as if each were asked for by its name, from where the solve began, with Newton's method at
    /// the end; r is left at the best point, and its error comes back with the number of steps.
    fn by_name(
        &mut self,
        island: &Island<D>,
        r: &mut [[f64; D]],
        (mut error, target): (f64, f64),
        (methods, most): (&[Method], usize),
        budget: &mut Budget,
        factors: &mut Factors<D>,
    ) -> (f64, usize) {
        let n = r.len();
        let scale = island.error_of_zero(&mut self.u[..n]);
        let (mut trial, start) = (std::mem::take(&mut self.trial), std::mem::take(&mut self.start));
        let mut count = 0;
        for &method in methods {
            trial.clear();
            trial.extend_from_slice(&start);
            let (mut found, k) =
                self.first_order(method, island, &mut trial, (target, most), budget, factors);
            count += k;
            if let Some(lu) = factors.within(&island.w, WORK_MAX).filter(|_| found > target) {
                let (polished, k) = self.newton.run(island, &mut trial, (target, scale), 20, lu, budget);
                (found, count) = (polished, count + k);
            }
            if found < error {
                error = found;
                r.copy_from_slice(&trial);
            }
            if error <= target || budget.ended().is_some() {
                break;
            }
        }
        (self.trial, self.start) = (trial, start);
        (error, count)
    }

    /// A method that needs no factors, or one of them; no steps of any other.
    fn first_order(
        &mut self,
        method: Method,
        island: &Island<D>,
        r: &mut [[f64; D]],
        (target, most): (f64, usize),
        budget: &mut Budget,
        factors: &mut Factors<D>,
    ) -> (f64, usize) {
        let u = &mut self.u[..r.len()];
        let room = &mut self.others.get_or_insert_default().first_order;
        match method {
            Method::GaussSeidel => first_order::gauss_seidel(island, r, u, target, most, budget, room),
            Method::ProjectedGradient => {
                first_order::projected_gradient(island, r, u, target, most, budget, room)
            }
            Method::Spectral => first_order::spectral(island, r, u, target, most, budget, room),
            Method::Admm => first_order::admm(island, r, u, (target, most), budget, room, factors),
            Method::Auto | Method::Newton | Method::InteriorPoint => (island.error(r, u), 0),
        }
    }

    /// Solves an island from r; returns the error and the number of iterations.
    fn run(
        &mut self,
        island: &Island<D>,
        r: &mut [[f64; D]],
        target: f64,
        options: &FrictionOptions,
        budget: &mut Budget,
        factors: &mut Factors<D>,
    ) -> (f64, usize) {
        self.u.resize(island.w.len(), [0.0; D]);
        let u = &mut self.u[..island.w.len()];
        let most = options.max_iterations;
        match options.method {
            Method::Auto => self.auto(island, r, target, most, budget, factors),
            Method::GaussSeidel | Method::ProjectedGradient | Method::Spectral | Method::Admm => {
                self.first_order(options.method, island, r, (target, most), budget, factors)
            }
            Method::Newton => {
                let sweeps = 8.min(most);
                for _ in 0..sweeps {
                    island.sweep(r);
                }
                let Some(lu) = factors.within(&island.w, WORK_MAX) else {
                    return (island.error(r, u), sweeps);
                };
                let scale = island.error_of_zero(u);
                let (error, count) = self.newton.run(island, r, (target, scale), most, lu, budget);
                (error, count + sweeps)
            }
            Method::InteriorPoint => {
                let Some(lu) = factors.within(&island.w, WORK_MAX) else {
                    return (island.error(r, u), 0);
                };
                let interior = &mut self.others.get_or_insert_default().interior;
                interior.start(island, false);
                let (error, count, _) = interior.run(island, r, target, most.min(200), lu, budget);
                (error, count)
            }
        }
    }

    fn auto(
        &mut self,
        island: &Island<D>,
        r: &mut [[f64; D]],
        target: f64,
        most: usize,
        budget: &mut Budget,
        factors: &mut Factors<D>,
    ) -> (f64, usize) {
        let n = island.w.len();
        self.start.clear();
        self.start.extend_from_slice(r);
        let u = &mut self.u[..n];
        let mut lu: Option<&mut BlockLu<D>> = None;
        let mut count = 0;
        let scale = island.error_of_zero(u);
        let mut error = scale;
        if scale <= target {
            r.fill([0.0; D]);
            return (scale, 0);
        }
        // In a simulation the impulses of the step before are often good enough, or nearly.
        let near = r.iter().flatten().any(|x| *x != 0.0) && {
            error = island.error(r, u);
            if error <= target {
                return (error, 0);
            }
            error < NEAR * scale
        };
        // Where nearly all of the free velocity has to be taken away, everything may stick.
        if !near && n > STICK_MIN && scale >= 0.9 * island.reach() {
            lu = factors.cheap(&island.w);
            if let Some(lu) = &mut lu {
                self.trial.resize(n, [0.0; D]);
                let trial = &mut self.trial[..n];
                let (found, k) = stick(island, trial, u, target, lu, &mut self.shift);
                count += k;
                if found <= target {
                    r.copy_from_slice(trial);
                    return (found, count);
                }
            }
        }
        // Where a factorization costs as much as a hundred sweeps, sweeps come first and with all their might.
        if lu.is_none() && n > STICK_MIN {
            lu = factors.cheap(&island.w);
            // So they do where few digits are asked for.
            let few = n > FEW_DIGITS_MIN && target > FEW_DIGITS * scale;
            if lu.is_none() || few {
                let anderson = &mut self.others.get_or_insert_default().anderson;
                let sweeps = if lu.is_none() { 1000 } else { 100 };
                let (found, k) = anderson.run(island, r, target, most.min(sweeps), budget);
                count += k;
                error = found;
                if error <= target {
                    return (error, count);
                }
                lu = match lu {
                    Some(lu) => Some(lu),
                    None => factors.within(&island.w, WORK_MAX),
                };
            }
        }
        // The modes settle long before the digits do, and then Newton's method is quicker; where they settled on the
        // wrong ones, some more sweeps may help.
        for most_sweeps in [SWEEPS, 2 * SWEEPS] {
            let mut settled = 0;
            for k in 1..=most_sweeps {
                if !budget.spend(island.work()) {
                    return (island.error(r, u), count);
                }
                let changes = island.sweep(r);
                count += 1;
                settled = if changes == 0 { settled + 1 } else { 0 };
                if k == 1 || k % 4 == 0 || settled == 2 {
                    error = island.error(r, u);
                    if error <= target {
                        return (error, count);
                    }
                }
                if settled == 2 && most_sweeps == SWEEPS {
                    break;
                }
            }
            if lu.is_none() && n <= STICK_MIN {
                lu = factors.within(&island.w, WORK_MAX);
            }
            let Some(lu) = &mut lu else { break };
            let (found, k) = self.newton.run(island, r, (target, scale), 20, lu, budget);
            count += k;
            error = found;
            if error <= target {
                return (error, count);
            }
        }
        if let Some(lu) = &mut lu {
            for caution in [false, true] {
                let (found, k) = self.path(island, r, (error, target), caution, lu, budget);
                count += k;
                error = found;
                if error <= target {
                    return (error, count);
                }
            }
            let room = &mut self.others.get_or_insert_default().proximal;
            let (found, k) = proximal(island, r, (target, scale), &mut self.newton, lu, budget, room);
            count += k;
            error = found;
            if error <= target {
                return (error, count);
            }
        }
        if budget.ended().is_some() {
            return (error, count);
        }
        // Where sweeps get lost, other methods may not, and the other way round.
        let few = most.min(BY_NAME_FEW).min(BY_NAME / island.w.value.len().max(1));
        let (found, k) = self.by_name(island, r, (error, target), (&BY_NAME_ALL[..3], few), budget, factors);
        error = found;
        count += k;
        // What is left is patience: longer and longer runs of sweeps, with Newton's method at their ends.
        let (mut run, mut swept) = (100, 0);
        while swept < most && error > target && budget.ended().is_none() {
            let anderson = &mut self.others.get_or_insert_default().anderson;
            let (found, k) = anderson.run(island, r, target, run.min(most - swept), budget);
            swept += k.max(1);
            error = found;
            if let Some(lu) = factors.within(&island.w, WORK_MAX).filter(|_| error > target) {
                let (found, k) = self.newton.run(island, r, (target, scale), 20, lu, budget);
                swept += k;
                error = found;
            }
            run *= 2;
        }
        (error, count + swept)
    }

    /// The impulses of least norm among those that go with the velocities of r: with the term of De Saxcé known the law is
    /// convex, and W + ε chooses; proximal steps then take ε back.
    fn shorten(
        &mut self,
        island: &Island<D>,
        r: &mut [[f64; D]],
        (mut error, target): (f64, f64),
        most: usize,
        budget: &mut Budget,
        factors: &mut Factors<D>,
    ) -> (f64, usize) {
        let n = r.len();
        let scale = island.error_of_zero(&mut self.u[..n]);
        // An error of the velocities counts a millionfold in what the norm chooses, one over its weight.
        if let Some(lu) = factors.within(&island.w, WORK_MAX) {
            error = self.newton.run(island, r, (CHOICE * target, scale), 12, lu, budget).0;
        }
        island.error(r, &mut self.u[..n]);
        let room = self.others.get_or_insert_default();
        let (mut near, mut short) = (std::mem::take(&mut room.shortened), std::mem::take(&mut room.short));
        let mut center = std::mem::take(&mut room.center);
        near.copy_from(island);
        center.clear();
        center.resize(n, [0.0; D]);
        // One weight for all: the norm is that of the impulses as they are.
        let weight = CHOICE * island.rho.iter().map(|rho| 1.0 / rho).sum::<f64>() / n as f64;
        for i in 0..n {
            let mut hat = self.u[i];
            saxce(island.cones[i], &mut hat);
            near.q[i][0] += hat[0] - self.u[i][0];
            near.cones[i] = match island.cones[i] {
                Cone::Coulomb { mu, tangents } => Cone::Associated { mu, tangents },
                Cone::Rolling { mu, rolling } => Cone::AssociatedRolling { mu, rolling },
                cone => cone,
            };
            for c in 0..island.cones[i].rows() {
                near.w.value[island.w.diagonal[i]][c][c] += weight;
            }
        }
        short.clear();
        short.extend_from_slice(r);
        let (_, mut count) = self.auto(&near, &mut short, 0.01 * target, most.min(500), budget, factors);
        let mut found = island.error(&short, &mut self.u[..n]);
        if let Some(lu) = factors.within(&island.w, WORK_MAX) {
            for round in 1..=ROUNDS_OF_CHOICE {
                let (_, k) = self.newton.run(&near, &mut short, (0.0, scale), 12, lu, budget);
                found = island.error(&short, &mut self.u[..n]);
                count += k;
                if found <= target || round == ROUNDS_OF_CHOICE {
                    break;
                }
                // The norm of the change from here: ε is taken back, and what was chosen stays.
                for i in 0..n {
                    for c in 0..island.cones[i].rows() {
                        near.q[i][c] -= weight * (short[i][c] - center[i][c]);
                    }
                }
                center.copy_from_slice(&short);
            }
            if found > target {
                let (polished, k) = self.newton.run(island, &mut short, (target, scale), 20, lu, budget);
                (found, count) = (polished, count + k);
            }
        }
        if found <= target {
            r.copy_from_slice(&short);
        }
        let room = self.others.get_or_insert_default();
        (room.shortened, room.short, room.center) = (near, short, center);
        (if found <= target { found } else { error }, count)
    }

    /// Follows the central path, with Newton's method at every hundredth part of the error; r is left at the better point, and
    /// its error comes back with the number of steps.
    fn path(
        &mut self,
        island: &Island<D>,
        r: &mut [[f64; D]],
        (mut error, target): (f64, f64),
        caution: bool,
        lu: &mut BlockLu<D>,
        budget: &mut Budget,
    ) -> (f64, usize) {
        let scale = island.error_of_zero(&mut self.u[..island.w.len()]);
        let interior = &mut self.others.get_or_insert_default().interior;
        interior.start(island, caution);
        self.trial.resize(island.w.len(), [0.0; D]);
        let trial = &mut self.trial[..island.w.len()];
        let (mut level, mut count) = (1e-3 * scale, 0);
        for _ in 0..LEVELS {
            let (mut found, steps, more) =
                interior.run(island, trial, level.max(target), PATH_STEPS, lu, budget);
            count += steps;
            if found > target {
                let (polished, k) = self.newton.run(island, trial, (target, scale), 12, lu, budget);
                count += k;
                found = polished;
            }
            if found < error {
                error = found;
                r.copy_from_slice(trial);
            }
            // A whole run that does not come to its level has lost the path.
            if error <= target || !more || level <= target || (steps == PATH_STEPS && found > level) {
                return (error, count);
            }
            level *= 1e-2;
        }
        (error, count)
    }
}

/// Most tries of Newton's method along the path: from 1e-3 beyond the digits of a number.
const LEVELS: usize = 10;
/// Most steps from one level to the next.
const PATH_STEPS: usize = 60;
/// Methods that are tried one by one in the end, the most steps of their first try, and the products of blocks that each may
/// take: some seconds.
const BY_NAME_ALL: [Method; 4] =
    [Method::GaussSeidel, Method::ProjectedGradient, Method::Spectral, Method::Admm];
const BY_NAME_FEW: usize = 1250;
const BY_NAME: usize = 400_000_000;
/// The weight of the norm where it chooses among impulses.
const CHOICE: f64 = 1e-6;
/// Steps in which the weight of the norm is taken back: each leaves a millionth of it.
const ROUNDS_OF_CHOICE: usize = 4;
/// A start with less than this part of the error of no impulses is near.
const NEAR: f64 = 0.1;
/// Part of the error of no impulses up to which sweeps get there before a factorization does.
const FEW_DIGITS: f64 = 1e-6;
/// Contacts from which on that is so.
const FEW_DIGITS_MIN: usize = 100;
/// The most sweeps before Newton's method has its first try.
const SWEEPS: usize = 12;
/// Largest number of contacts for which sweeps are quicker than a look at whether all of them stick.
const STICK_MIN: usize = 5;

/// The impulses that stop everything, u = 0, by proximal steps (W + ε) δ = −u; whether they are in their cones shows
/// in the error.
fn stick<const D: usize>(
    island: &Island<D>,
    r: &mut [[f64; D]],
    u: &mut [[f64; D]],
    target: f64,
    lu: &mut BlockLu<D>,
    shift: &mut Vec<Block<D>>,
) -> (f64, usize) {
    shift.clear();
    shift.resize(r.len(), zero_block());
    for (i, block) in shift.iter_mut().enumerate() {
        for c in 0..D {
            block[c][c] = if c < island.cones[i].rows() { 1e-5 / island.rho[i] } else { 1.0 };
        }
    }
    r.fill([0.0; D]);
    let mut error = island.error(r, u);
    if !lu.factor(&island.w, shift) {
        return (error, 0);
    }
    for k in 1..=6 {
        lu.solve(u);
        for (r, d) in r.iter_mut().flatten().zip(u.iter().flatten()) {
            *r -= d;
        }
        let before = error;
        error = island.error(r, u);
        if error <= target || error.is_nan() || error > 0.3 * before {
            return (error, k);
        }
    }
    (error, 6)
}
