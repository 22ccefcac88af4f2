//! The methods that are tried on an island, in their order.
//!
//! ```text
//! sticking? → sweeps, Newton → central path → proximal points → first order → long sweeps → pivoting → all by name
//! ```
//!
//! Each goes on from the best point so far; the first that reaches the target ends the search.

use std::ops::ControlFlow;

use super::{FIRST_ORDER, FIRST_ORDER_WORK, IslandSolver, NEWTON_STEPS, Progress};
use crate::contact::budget::{Budget, Reached, SolveCall};
use crate::contact::factors::{Factors, WORK_MAX};
use crate::contact::island::Island;
use crate::contact::proximal::proximal;
use crate::linalg::{Block, BlockLu, zero_block};

/// Contacts from which on that is so.
const FEW_DIGITS_MIN: usize = 100;
/// Part of the error of no impulses up to which sweeps get there before a factorization does.
const FEW_DIGITS: f64 = 1e-6;
const FIRST_ORDER_STEPS: usize = 1250;
/// A start with less than this part of the error of no impulses is near.
const NEAR_START_RATIO: f64 = 0.1;
/// Largest number of contacts for which sweeps are quicker than a test of whether all of them stick.
const STICK_MIN: usize = 5;
/// The most sweeps before Newton's method has its first try.
const MAX_SWEEPS_BEFORE_NEWTON: usize = 12;

/// A strategy of [`Method::Auto`](crate::contact::Method::Auto).
#[derive(Clone, Copy)]
enum Strategy {
    /// The impulses that were given, or none.
    Start,
    /// All contacts at rest.
    Stick,
    /// Accelerated sweeps, where factors are dear or few digits are asked for.
    Anderson,
    /// Sweeps until the modes settle, at most so many, then Newton's method.
    SweepsAndNewton { sweeps: usize },
    /// The central path, with Newton's method along it.
    CentralPath { caution: bool },
    /// Proximal points around Newton's method.
    Proximal,
    /// First-order methods for a while.
    FirstOrder,
    /// Longer and longer runs of accelerated sweeps, with Newton's method at their ends.
    LongSweeps,
}

/// The strategies in the order in which they are tried, until one reaches the target.
const STRATEGIES: [Strategy; 10] = [
    Strategy::Start,
    Strategy::Stick,
    Strategy::Anderson,
    Strategy::SweepsAndNewton { sweeps: MAX_SWEEPS_BEFORE_NEWTON },
    Strategy::SweepsAndNewton { sweeps: 2 * MAX_SWEEPS_BEFORE_NEWTON },
    Strategy::CentralPath { caution: false },
    Strategy::CentralPath { caution: true },
    Strategy::Proximal,
    Strategy::FirstOrder,
    Strategy::LongSweeps,
];

impl<const D: usize> IslandSolver<D> {
    /// Tries all strategies in their order, from r.
    pub(super) fn auto(
        &mut self,
        island: &Island<D>,
        r: &mut [[f64; D]],
        SolveCall { target, limit, budget, .. }: SolveCall<'_>,
        factors: &mut Factors<D>,
    ) -> Reached {
        self.start.clear();
        self.start.extend_from_slice(r);
        let scale = island.error_of_zero(&mut self.u[..island.w.len()]);
        let mut progress = Progress {
            island,
            r,
            target,
            scale,
            limit,
            error: scale,
            steps: 0,
            near: false,
            cheap_factors: false,
        };
        for strategy in STRATEGIES {
            let on = &mut progress;
            let next = match strategy {
                Strategy::Start => self.evaluate_start(on),
                Strategy::Stick => self.try_stick(on, factors),
                Strategy::Anderson => self.accelerated_sweeps(on, budget, factors),
                Strategy::SweepsAndNewton { sweeps } => self.sweeps_and_newton(on, sweeps, budget, factors),
                Strategy::CentralPath { caution } => self.central_path(on, caution, budget, factors),
                Strategy::Proximal => self.proximal_points(on, budget, factors),
                Strategy::FirstOrder => self.first_order_methods(on, budget, factors),
                Strategy::LongSweeps => self.long_sweeps(on, budget, factors),
            };
            if next.is_break() || progress.solved() {
                break;
            }
        }
        Reached { error: progress.error, steps: progress.steps }
    }

    /// In a simulation the impulses of the step before are often good enough, or nearly.
    fn evaluate_start(&mut self, on: &mut Progress<'_, D>) -> ControlFlow<()> {
        if on.scale <= on.target {
            on.r.fill([0.0; D]);
        } else if on.r.iter().flatten().any(|x| *x != 0.0) {
            on.error = on.island.error(on.r, &mut self.u[..on.r.len()]);
            on.near = on.error < NEAR_START_RATIO * on.scale;
        }
        ControlFlow::Continue(())
    }

    /// Where nearly all of the free velocity has to be taken away, everything may stick.
    fn try_stick(&mut self, on: &mut Progress<'_, D>, factors: &mut Factors<D>) -> ControlFlow<()> {
        let (island, n) = (on.island, on.r.len());
        let likely = !on.near && n > STICK_MIN && on.scale >= 0.9 * island.free_velocity_norm();
        if let Some(lu) = Some(factors).filter(|_| likely).and_then(|f| f.cheap(&island.w)) {
            on.cheap_factors = true;
            self.trial.resize(n, [0.0; D]);
            let trial = &mut self.trial[..n];
            let found = stick(island, trial, &mut self.u[..n], on.target, lu, &mut self.shift);
            on.steps += found.steps;
            if found.error <= on.target {
                on.error = found.error;
                on.r.copy_from_slice(trial);
            }
        }
        ControlFlow::Continue(())
    }

    /// Where a factorization costs as much as a hundred sweeps, sweeps come first and with all their might.
    /// So they do where few digits are asked for.
    fn accelerated_sweeps(
        &mut self,
        on: &mut Progress<'_, D>,
        budget: &mut Budget,
        factors: &mut Factors<D>,
    ) -> ControlFlow<()> {
        let n = on.r.len();
        if on.cheap_factors || n <= STICK_MIN {
            return ControlFlow::Continue(());
        }
        let cheap = factors.cheap(&on.island.w).is_some();
        if !cheap || (n > FEW_DIGITS_MIN && on.target > FEW_DIGITS * on.scale) {
            let anderson = &mut self.others.get_or_insert_default().anderson;
            let limit = on.limit.min(if cheap { 100 } else { 1000 });
            let call = SolveCall { target: on.target, scale: on.scale, limit, budget };
            let reached = anderson.run(on.island, on.r, call);
            on.advance(reached);
        }
        ControlFlow::Continue(())
    }

    /// The modes settle long before the digits do, and then Newton's method is quicker; where they settled on
    /// the wrong ones, some more sweeps may help.
    fn sweeps_and_newton(
        &mut self,
        on: &mut Progress<'_, D>,
        sweeps: usize,
        budget: &mut Budget,
        factors: &mut Factors<D>,
    ) -> ControlFlow<()> {
        let (island, u) = (on.island, &mut self.u[..on.r.len()]);
        // More sweeps are for another try of Newton's method.
        if sweeps > MAX_SWEEPS_BEFORE_NEWTON && factors.within(&island.w, WORK_MAX).is_none() {
            return ControlFlow::Continue(());
        }
        let mut settled = 0;
        for k in 1..=sweeps {
            if !budget.spend(island.work()) {
                on.error = island.error(on.r, u);
                return ControlFlow::Break(());
            }
            let changes = island.sweep(on.r);
            on.steps += 1;
            settled = if changes == 0 { settled + 1 } else { 0 };
            if k == 1 || k % 4 == 0 || settled == 2 {
                on.error = island.error(on.r, u);
                if on.solved() {
                    return ControlFlow::Break(());
                }
            }
            if settled == 2 && sweeps == MAX_SWEEPS_BEFORE_NEWTON {
                break;
            }
        }
        if let Some(lu) = factors.within(&island.w, WORK_MAX) {
            let call = SolveCall { target: on.target, scale: on.scale, limit: NEWTON_STEPS, budget };
            let reached = self.newton.run(island, on.r, call, lu);
            on.advance(reached);
        }
        ControlFlow::Continue(())
    }

    fn central_path(
        &mut self,
        on: &mut Progress<'_, D>,
        caution: bool,
        budget: &mut Budget,
        factors: &mut Factors<D>,
    ) -> ControlFlow<()> {
        if let Some(lu) = factors.within(&on.island.w, WORK_MAX) {
            let reached = self.path(on, caution, lu, budget);
            on.advance(reached);
        }
        ControlFlow::Continue(())
    }

    fn proximal_points(
        &mut self,
        on: &mut Progress<'_, D>,
        budget: &mut Budget,
        factors: &mut Factors<D>,
    ) -> ControlFlow<()> {
        if let Some(lu) = factors.within(&on.island.w, WORK_MAX) {
            let workspace = &mut self.others.get_or_insert_default().proximal;
            let call = SolveCall { target: on.target, scale: on.scale, limit: on.limit, budget };
            let reached = proximal(on.island, on.r, call, &mut self.newton, lu, workspace);
            on.advance(reached);
        }
        if budget.ended().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Where sweeps diverge, other methods may not, and the other way round.
    fn first_order_methods(
        &mut self,
        on: &mut Progress<'_, D>,
        budget: &mut Budget,
        factors: &mut Factors<D>,
    ) -> ControlFlow<()> {
        let work = FIRST_ORDER_WORK / on.island.w.value.len().max(1);
        let limit = on.limit.min(FIRST_ORDER_STEPS).min(work);
        let call = SolveCall { target: on.target, scale: on.scale, limit, budget };
        let reached = self.by_name(&FIRST_ORDER[..3], on.island, on.r, on.error, call, factors);
        on.advance(reached);
        ControlFlow::Continue(())
    }

    /// The last fallback: longer and longer runs of sweeps, with Newton's method at their ends.
    fn long_sweeps(
        &mut self,
        on: &mut Progress<'_, D>,
        budget: &mut Budget,
        factors: &mut Factors<D>,
    ) -> ControlFlow<()> {
        let (mut run, mut swept) = (100, 0);
        while swept < on.limit && on.error > on.target && budget.ended().is_none() {
            let anderson = &mut self.others.get_or_insert_default().anderson;
            let limit = run.min(on.limit - swept);
            let call = SolveCall { target: on.target, scale: on.scale, limit, budget };
            let found = anderson.run(on.island, on.r, call);
            swept += found.steps.max(1);
            on.error = found.error;
            if let Some(lu) = factors.within(&on.island.w, WORK_MAX).filter(|_| on.error > on.target) {
                let call = SolveCall { target: on.target, scale: on.scale, limit: NEWTON_STEPS, budget };
                let found = self.newton.run(on.island, on.r, call, lu);
                swept += found.steps;
                on.error = found.error;
            }
            run *= 2;
        }
        on.steps += swept;
        ControlFlow::Continue(())
    }
}

/// The impulses that stop everything, u = 0, by proximal steps (W + ε) δ = −u; whether they are in their
/// cones shows in the error.
fn stick<const D: usize>(
    island: &Island<D>,
    r: &mut [[f64; D]],
    u: &mut [[f64; D]],
    target: f64,
    lu: &mut BlockLu<D>,
    shift: &mut Vec<Block<D>>,
) -> Reached {
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
        return Reached { error, steps: 0 };
    }
    for steps in 1..=6 {
        lu.solve(u);
        for (r, d) in r.iter_mut().flatten().zip(u.iter().flatten()) {
            *r -= d;
        }
        let before = error;
        error = island.error(r, u);
        if error <= target || error.is_nan() || error > 0.3 * before {
            return Reached { error, steps };
        }
    }
    Reached { error, steps: 6 }
}
