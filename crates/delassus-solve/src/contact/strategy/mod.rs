//! Solves one island: the order in which methods are tried, and their scratch, reused for the next island.
//!
//! ```text
//! r ← method k from r ,   k = 1, 2, …     until   error(r) ≤ target
//! ```
//!
//! error is the residual of the island's laws (`cone`), which all methods share. It ends a search; the status
//! of a solution comes from the residual of the original problem.

mod auto;

use crate::contact::budget::{Budget, Reached, SolveCall};
use crate::contact::cone::{Cone, saxce};
use crate::contact::factors::{Factors, WORK_MAX};
use crate::contact::first_order::Anderson;
use crate::contact::interior_point::{InteriorPoint, PathPoint};
use crate::contact::island::Island;
use crate::contact::newton::Newton;
use crate::contact::pivot_island::pivot;
use crate::contact::{ContactOptions, Method, first_order, proximal};
use crate::linalg::{Block, BlockLu};
use crate::problem::Status;

/// Scratch of all methods, made where a method is first used.
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

/// Scratch of what is not needed often.
#[derive(Default)]
struct Others<const D: usize> {
    interior: InteriorPoint<D>,
    anderson: Anderson<D>,
    proximal: proximal::Workspace<D>,
    first_order: first_order::Workspace<D>,
    /// The problem in which the norm chooses, its solution, and the point from which the norm is taken.
    shortened: Island<D>,
    short: Vec<[f64; D]>,
    center: Vec<[f64; D]>,
}

/// How the solve of an island ended.
pub(super) struct IslandEnd {
    pub error: f64,
    pub iterations: usize,
    /// It was proved that the island has no solution.
    pub unsolvable: bool,
}

/// An island on its way through the strategies, with the best point so far.
struct Progress<'a, const D: usize> {
    island: &'a Island<D>,
    r: &'a mut [[f64; D]],
    target: f64,
    /// The error of no impulses.
    scale: f64,
    /// The most steps of a method.
    limit: usize,
    error: f64,
    steps: usize,
    /// Whether r, as it was given, is near a solution.
    near: bool,
    /// Whether there are cheap factors, as far as that was asked.
    cheap_factors: bool,
}

impl<const D: usize> Progress<'_, D> {
    fn solved(&self) -> bool {
        self.error <= self.target
    }

    /// Takes over the error of a method that has worked on r.
    fn advance(&mut self, reached: Reached) {
        self.error = reached.error;
        self.steps += reached.steps;
    }
}

impl<const D: usize> IslandSolver<D> {
    /// Solves an island from r, by pivoting in the end where all else failed.
    pub fn finish(
        &mut self,
        island: &Island<D>,
        r: &mut [[f64; D]],
        target: f64,
        options: &ContactOptions,
        budget: &mut Budget,
        factors: &mut Factors<D>,
    ) -> IslandEnd {
        budget.next_island(island.work());
        let limit = options.max_iterations;
        let Reached { mut error, mut steps } = self.run(island, r, target, options, budget, factors);
        let end = |error: f64, iterations: usize| IslandEnd { error, iterations, unsolvable: false };
        // Impulses without bound swallow every velocity: the error of a point is not known below this.
        let size = r.iter().flatten().map(|x| x * x).sum::<f64>().sqrt();
        let swallowed = f64::EPSILON * size > target;
        let reached = error <= target && !swallowed;
        if error <= target && options.minimum_norm {
            let call = SolveCall { target, scale: f64::INFINITY, limit, budget };
            let short = self.shorten(island, r, error, call, factors);
            return end(short.error, steps + short.steps);
        }
        if options.method != Method::Auto || reached || budget.ended().is_some() {
            return end(error, steps);
        }
        // Who bounds the work of a solve asks for a point, and not for a proof that there is none.
        let proves = options.max_work.is_none();
        if let Some((found, status, pivots)) = pivot(island, options.tolerance, proves) {
            let exact = island.error(&found, &mut self.u[..r.len()]);
            steps += pivots;
            if exact < error || (swallowed && exact <= target) {
                error = exact;
                r.copy_from_slice(&found);
            }
            if status == Status::NoSolution {
                let unsolvable = proves && (swallowed || error > target);
                return IslandEnd { error, iterations: steps, unsolvable };
            }
        }
        if error <= target {
            return end(error, steps);
        }
        let limit = limit.min(FIRST_ORDER_WORK / island.w.value.len().max(1));
        let call = SolveCall { target, scale: f64::INFINITY, limit, budget };
        let found = self.by_name(&FIRST_ORDER, island, r, error, call, factors);
        end(found.error, steps + found.steps)
    }

    /// Methods one after the other as if each were asked for by its name, from where the solve began, with
    /// Newton's method at the end; r, which has this error, is left at the best point.
    fn by_name(
        &mut self,
        methods: &[Method],
        island: &Island<D>,
        r: &mut [[f64; D]],
        mut error: f64,
        SolveCall { target, limit, budget, .. }: SolveCall<'_>,
        factors: &mut Factors<D>,
    ) -> Reached {
        let n = r.len();
        let scale = island.error_of_zero(&mut self.u[..n]);
        let (mut trial, start) = (std::mem::take(&mut self.trial), std::mem::take(&mut self.start));
        let mut steps = 0;
        for &method in methods {
            trial.clear();
            trial.extend_from_slice(&start);
            let call = SolveCall { target, scale, limit, budget };
            let mut found = self.first_order(method, island, &mut trial, call, factors);
            steps += found.steps;
            if let Some(lu) = factors.within(&island.w, WORK_MAX).filter(|_| found.error > target) {
                let call = SolveCall { target, scale, limit: NEWTON_STEPS, budget };
                found = self.newton.run(island, &mut trial, call, lu);
                steps += found.steps;
            }
            if found.error < error {
                error = found.error;
                r.copy_from_slice(&trial);
            }
            if error <= target || budget.ended().is_some() {
                break;
            }
        }
        (self.trial, self.start) = (trial, start);
        Reached { error, steps }
    }

    /// A method that needs no factors, or one of them; no steps of any other.
    fn first_order(
        &mut self,
        method: Method,
        island: &Island<D>,
        r: &mut [[f64; D]],
        call: SolveCall<'_>,
        factors: &mut Factors<D>,
    ) -> Reached {
        let u = &mut self.u[..r.len()];
        let workspace = &mut self.others.get_or_insert_default().first_order;
        match method {
            Method::GaussSeidel => first_order::gauss_seidel(island, r, u, call, workspace),
            Method::ProjectedGradient => first_order::projected_gradient(island, r, u, call, workspace),
            Method::Spectral => first_order::spectral(island, r, u, call, workspace),
            Method::Admm => first_order::admm(island, r, u, call, workspace, factors),
            Method::Auto | Method::Newton | Method::InteriorPoint => {
                Reached { error: island.error(r, u), steps: 0 }
            }
        }
    }

    /// Solves an island from r.
    fn run(
        &mut self,
        island: &Island<D>,
        r: &mut [[f64; D]],
        target: f64,
        options: &ContactOptions,
        budget: &mut Budget,
        factors: &mut Factors<D>,
    ) -> Reached {
        self.u.resize(island.w.len(), [0.0; D]);
        let u = &mut self.u[..island.w.len()];
        let limit = options.max_iterations;
        match options.method {
            Method::Auto => {
                self.auto(island, r, SolveCall { target, scale: f64::INFINITY, limit, budget }, factors)
            }
            Method::GaussSeidel | Method::ProjectedGradient | Method::Spectral | Method::Admm => {
                let call = SolveCall { target, scale: f64::INFINITY, limit, budget };
                self.first_order(options.method, island, r, call, factors)
            }
            Method::Newton => {
                let sweeps = 8.min(limit);
                for _ in 0..sweeps {
                    island.sweep(r);
                }
                let Some(lu) = factors.within(&island.w, WORK_MAX) else {
                    return Reached { error: island.error(r, u), steps: sweeps };
                };
                let scale = island.error_of_zero(u);
                let found = self.newton.run(island, r, SolveCall { target, scale, limit, budget }, lu);
                Reached { error: found.error, steps: found.steps + sweeps }
            }
            Method::InteriorPoint => {
                let Some(lu) = factors.within(&island.w, WORK_MAX) else {
                    return Reached { error: island.error(r, u), steps: 0 };
                };
                let interior = &mut self.others.get_or_insert_default().interior;
                interior.start(island, false);
                let call = SolveCall { target, scale: f64::INFINITY, limit: limit.min(200), budget };
                let end = interior.run(island, r, call, lu);
                Reached { error: end.error, steps: end.steps }
            }
        }
    }

    /// The impulses of least norm among those that go with the velocities of r: with the term of De Saxcé
    /// known the law is convex, and W + ε chooses; proximal steps then take ε back. r has this error.
    fn shorten(
        &mut self,
        island: &Island<D>,
        r: &mut [[f64; D]],
        mut error: f64,
        SolveCall { target, limit, budget, .. }: SolveCall<'_>,
        factors: &mut Factors<D>,
    ) -> Reached {
        let n = r.len();
        let scale = island.error_of_zero(&mut self.u[..n]);
        // An error of the velocities counts a millionfold in what the norm chooses, one over its weight.
        if let Some(lu) = factors.within(&island.w, WORK_MAX) {
            let call = SolveCall { target: NORM_WEIGHT * target, scale, limit: POLISH_STEPS, budget };
            error = self.newton.run(island, r, call, lu).error;
        }
        island.error(r, &mut self.u[..n]);
        let others = self.others.get_or_insert_default();
        let (mut near, mut short) =
            (std::mem::take(&mut others.shortened), std::mem::take(&mut others.short));
        let mut center = std::mem::take(&mut others.center);
        near.copy_from(island);
        center.clear();
        center.resize(n, [0.0; D]);
        // One weight for all: the norm is that of the impulses as they are.
        let weight = NORM_WEIGHT * island.rho.iter().map(|rho| 1.0 / rho).sum::<f64>() / n as f64;
        for i in 0..n {
            let mut hat = self.u[i];
            saxce(island.cones[i], &mut hat);
            near.q[i][0] += hat[0] - self.u[i][0];
            near.cones[i] = match island.cones[i] {
                Cone::Coulomb { mu, tangents } => Cone::Associated { mu, tangents },
                Cone::Rolling { mu, rolling } => Cone::AssociatedRolling { mu, rolling },
                Cone::Spinning { mu, rolling, spinning } => {
                    Cone::AssociatedSpinning { mu, rolling, spinning }
                }
                cone => cone,
            };
            for c in 0..island.cones[i].rows() {
                near.w.value[island.w.diagonal[i]][c][c] += weight;
            }
        }
        short.clear();
        short.extend_from_slice(r);
        let call = SolveCall { target: 0.01 * target, scale, limit: limit.min(500), budget };
        let mut steps = self.auto(&near, &mut short, call, factors).steps;
        let mut found = island.error(&short, &mut self.u[..n]);
        if let Some(lu) = factors.within(&island.w, WORK_MAX) {
            for round in 1..=ROUNDS_OF_CHOICE {
                let call = SolveCall { target: 0.0, scale, limit: POLISH_STEPS, budget };
                steps += self.newton.run(&near, &mut short, call, lu).steps;
                found = island.error(&short, &mut self.u[..n]);
                if found <= target || round == ROUNDS_OF_CHOICE {
                    break;
                }
                // The norm of the change from here: ε is subtracted, and the choice stays.
                for i in 0..n {
                    for c in 0..island.cones[i].rows() {
                        near.q[i][c] -= weight * (short[i][c] - center[i][c]);
                    }
                }
                center.copy_from_slice(&short);
            }
            if found > target {
                let call = SolveCall { target, scale, limit: NEWTON_STEPS, budget };
                let polished = self.newton.run(island, &mut short, call, lu);
                (found, steps) = (polished.error, steps + polished.steps);
            }
        }
        if found <= target {
            r.copy_from_slice(&short);
        }
        let others = self.others.get_or_insert_default();
        (others.shortened, others.short, others.center) = (near, short, center);
        Reached { error: if found <= target { found } else { error }, steps }
    }

    /// Follows the central path, with Newton's method at every hundredth part of the error; r is left at the
    /// better point.
    fn path(
        &mut self,
        on: &mut Progress<'_, D>,
        caution: bool,
        lu: &mut BlockLu<D>,
        budget: &mut Budget,
    ) -> Reached {
        let (island, target, mut error) = (on.island, on.target, on.error);
        let scale = island.error_of_zero(&mut self.u[..island.w.len()]);
        let interior = &mut self.others.get_or_insert_default().interior;
        interior.start(island, caution);
        self.trial.resize(island.w.len(), [0.0; D]);
        let trial = &mut self.trial[..island.w.len()];
        let (mut level, mut count) = (1e-3 * scale, 0);
        for _ in 0..MAX_PATH_LEVELS {
            let call = SolveCall { target: level.max(target), scale, limit: PATH_STEPS, budget };
            let PathPoint { error: mut found, steps, can_continue } = interior.run(island, trial, call, lu);
            count += steps;
            if found > target {
                let call = SolveCall { target, scale, limit: POLISH_STEPS, budget };
                let polished = self.newton.run(island, trial, call, lu);
                count += polished.steps;
                found = polished.error;
            }
            if found < error {
                error = found;
                on.r.copy_from_slice(trial);
            }
            // A whole run that does not come to its level has lost the path.
            let lost = steps == PATH_STEPS && found > level;
            if error <= target || !can_continue || level <= target || lost {
                break;
            }
            level *= 1e-2;
        }
        Reached { error, steps: count }
    }
}

/// Most tries of Newton's method along the path: from 1e-3 beyond the digits of a number.
const MAX_PATH_LEVELS: usize = 10;
/// Most steps from one level to the next.
const PATH_STEPS: usize = 60;
/// Most steps of Newton's method from a point where the modes may be right, and where they are.
const NEWTON_STEPS: usize = 20;
const POLISH_STEPS: usize = 12;
/// Methods that are tried one by one in the end, the most steps of their first try, and the products of
/// blocks that each may take: some seconds.
const FIRST_ORDER: [Method; 4] =
    [Method::GaussSeidel, Method::ProjectedGradient, Method::Spectral, Method::Admm];
const FIRST_ORDER_WORK: usize = 400_000_000;
/// The weight of the norm where it chooses among impulses.
const NORM_WEIGHT: f64 = 1e-6;
/// Rounds that remove the weight of the norm: each leaves a millionth of it.
const ROUNDS_OF_CHOICE: usize = 4;
