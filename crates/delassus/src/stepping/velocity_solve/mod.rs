//! The velocity-level solve of a time step: velocities and impulses from joints, contacts and their targets.
//!
//! ```text
//! v = v* + M⁻¹ Hᵀ r ,   u = H v + b ,   (u_i, r_i) in the law of row or contact i
//! ```
//!
//! v* are the velocities before (6 per body that moves), H the rows of joints and contacts, b their targets:
//! a distance per time, a target speed, a rebound. Source: 004 eq. 9. Rows with a bound on their force
//! (motors, dry friction in joints) are solved as bilateral ones. Where the bound is passed, they get the
//! bound as a known impulse and the rest is solved again.

mod alone;
mod assembly;
mod bounded_newton;
mod bounds;
mod canonical;
mod checked_solution;
mod fallback;
mod joint_loads;
mod least_norm;
mod other_motion;
mod reduced;
mod rest;
mod rounded_motion;
mod row_check;
mod standstill;

pub(super) use fallback::{FailedSolves, FallbackSolver};

use delassus_solve::contact::{ContactOptions, FewDofs, Method, Solution, solve_into};
use delassus_solve::problem::{ContactProblem, Form, InvalidProblem, Law, Status};

use assembly::{Assembly, GlobalForm};
use bounded_newton::settles_bounds;
use bounds::{BoundedRows, shared_loads};
use canonical::{FIRM_PROXIMAL_RATIO, PROXIMAL_RATIO, solve_proximal};
use checked_solution::CheckedSolution;
use rest::{MAX_DEFECT_WORK, MAX_POLISHED_WORK, Pressed, remove_defect, rest_as_before, rest_without_defect};
use row_check::{RowCheck, RowsEnd};
use standstill::{Left, Standstill, stop_rounding};

use super::linearization::JointsAlone;
use super::row_targets::{RowTarget, RowTargets};
use super::warm_start::Impulses;
use crate::collision::{ContactRows, MAX_CONTACT_ROWS};
use crate::world::{Masses, Rows, TreeBasis, apply_row_impulse};

/// Rounds in which bounded rows may go to their bounds and back.
const MAX_BOUND_ROUNDS: usize = 60;
/// The same where another solution is looked for, beside one that is known, in reduced coordinates.
const MAX_SEARCH_ROUNDS: usize = 4;
/// Rounds after which Newton's method looks for the bounds of all rows at once: what it does not find in
/// these, it does not find.
const MAX_NEWTON_ROUNDS: usize = 4;
/// From these rounds on a solution counts that passes the check, whatever the search would do next.
const MIN_TIED_ROUNDS: usize = 8;
/// Rounds that may fail: the next one differs by a row, and fails as well.
const MAX_FAILED_ROUNDS: usize = 3;
/// A round whose rows probably contradict each other gets this part of the work, once.
const HASTY_WORK_DIVISOR: u64 = 64;
/// Impulses that Newton's method has found with the bounds solve the rows without them up to this part of the
/// tolerance: they are as exact as another solve would make them.
const SETTLED_RATIO: f64 = 1e-3;
/// Contacts up to which the impulses of the step before are tried first in motion too: what slides or rolls
/// by itself has the same ones from step to step, and the check costs a part of a solve.
const MAX_CHECKED_CONTACTS: usize = 8;

/// What a velocity solve is given, beside the velocities before.
#[derive(Clone, Copy)]
pub(super) struct SolveInput<'a> {
    pub(super) masses: &'a Masses,
    pub(super) rows: &'a Rows,
    pub(super) contacts: &'a [ContactRows],
    /// The motions that joints leave, in reduced coordinates; `None` in maximal ones.
    pub(super) tree: Option<&'a TreeBasis>,
    pub(super) targets: &'a RowTargets,
    /// For how long forces act: bounds on forces become bounds on impulses by it.
    pub(super) duration: f64,
    /// What gravity gives in a whole step, m/s: velocities far below are none.
    pub(super) fall: f64,
    /// Whether all bodies are at rest: then the impulses of the step before may be the solution.
    pub(super) at_rest: bool,
    /// Impulses of bilateral rows that are added to their loads and move no body; empty for none.
    pub(super) stress: &'a [f64],
    pub(super) goal: Goal,
    pub(super) options: ContactOptions,
}

impl SolveInput<'_> {
    /// The same, for a solution of a kind.
    fn with_goal(&self, goal: Goal) -> Self {
        SolveInput { goal, ..*self }
    }
}

/// How a velocity solve ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct SolveOutcome {
    pub(super) status: Status,
    pub(super) residual: f64,
    pub(super) iterations: usize,
}

impl SolveOutcome {
    /// Nothing was to be solved.
    const NOTHING: SolveOutcome = SolveOutcome { status: Status::Solved, residual: 0.0, iterations: 0 };
    /// Nothing was found.
    const NONE: SolveOutcome =
        SolveOutcome { status: Status::Stalled, residual: f64::INFINITY, iterations: 0 };
}

/// Solves for velocities, one problem after the other, in memory that is kept.
#[derive(Default)]
pub(super) struct VelocitySolver {
    bounds: BoundedRows,
    /// Bounds on the impulses of unknown rows.
    ranges: Vec<[f64; 2]>,
    /// Whether no other method than Newton's in few degrees of freedom is asked.
    newton_alone: bool,
    /// Whether the impulses to start from are those with which Newton's method has found the bounds.
    settled: bool,
    assembly: Assembly,
    /// What was found for the assembled problem.
    found: CheckedSolution,
    joints_alone: JointsAlone,
    few_dofs: FewDofs,
    standstill: Standstill,
    row_check: RowCheck,
    velocity_before: Vec<f64>,
    /// Sums of the sizes of what the velocities of bodies are sums of.
    terms: Vec<f64>,
}

/// Which solution a solve looks for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Goal {
    /// Any solution.
    #[default]
    Any,
    /// The one that is taken where there are several.
    Canonical,
    /// One near the impulses given.
    Near,
    /// One from the impulses given, which are nearly one.
    Polish,
    /// One that lets rest what presses.
    Rest,
    /// Whether the impulses given are one.
    Check,
}

impl VelocitySolver {
    /// A half of a substep begins: its solves depend on none before.
    pub(super) fn begin(&mut self) {
        self.few_dofs.begin();
    }

    /// Solves from the impulses given: `v` and `impulses` become those after the solve.
    pub(super) fn solve(
        &mut self,
        input: &SolveInput<'_>,
        impulses: &mut Impulses,
        v: &mut [f64],
    ) -> Result<SolveOutcome, InvalidProblem> {
        let bounded = self.bounds.begin(input, &impulses.rows);
        self.velocity_before.clear();
        self.velocity_before.extend_from_slice(v);
        let (mut outcome, mut failures) = (SolveOutcome::NOTHING, 0);
        let hasty = SolveInput { options: with_little_work(&input.options), ..*input };
        let mut in_haste = false;
        self.settled = false;
        let settles = bounded && settles_bounds(input);
        let most_rounds =
            if bounded && !settles && input.tree.is_some() { MAX_SEARCH_ROUNDS } else { MAX_BOUND_ROUNDS };
        for round in 0..most_rounds {
            v.copy_from_slice(&self.velocity_before);
            self.apply_known_impulses(input, impulses, v);
            // Rows that hold may contradict each other until some are at their bounds: other methods take
            // long to find no solution. Rest is asked for beside a solution, and is not worth that.
            self.newton_alone = settles && (round == 0 || input.goal == Goal::Rest);
            // Where rows that hold contradict each other, any point shows which of them give way.
            in_haste = settles && round > 0 && !self.settled && failures == 0 && !in_haste;
            let solved = self.solve_unknown(if in_haste { &hasty } else { input }, impulses, v)?;
            outcome = SolveOutcome { iterations: outcome.iterations + solved.iterations, ..solved };
            let ends = [&self.velocity_before[..], v];
            let solves = solved.status == Status::Solved;
            let again = self.newton_alone && !solves
                || bounded && self.bounds.update(input, &impulses.rows, ends, round)
                || in_haste && !solves;
            if !bounded || !again {
                break;
            }
            // Where a row hardly moves at its bound, rounding sends it there and back for ever.
            let ties = solves && round >= MIN_TIED_ROUNDS;
            if ties && self.row_error(input, impulses, v) <= input.options.tolerance {
                break;
            }
            failures += usize::from(!solves && round > 0 && !in_haste);
            if round + 1 == most_rounds || failures == MAX_FAILED_ROUNDS {
                outcome.status = Status::Stalled;
                break;
            }
            self.settled = settles && round < MAX_NEWTON_ROUNDS && self.settle_bounds(input, impulses, v);
        }
        if bounded || input.tree.is_some() {
            outcome = self.check_rows(outcome, input, impulses, v);
        }
        Ok(outcome)
    }

    /// The problem solved last.
    pub(super) fn problem(&self) -> &ContactProblem {
        &self.assembly.problem
    }

    /// Its impulses.
    pub(super) fn impulse(&self) -> &[f64] {
        &self.found.solution.impulse
    }

    /// The status and the residual of impulses that were found to hold as they were, evaluated again.
    pub(super) fn check_again(&mut self, tolerance: f64) -> (Status, f64) {
        if self.assembly.problem.laws.is_empty() {
            return (Status::Solved, 0.0);
        }
        self.found.settle_again(&self.assembly.problem, tolerance)
    }

    /// Impulses that are no unknowns: given ones, and those of rows at their bounds.
    fn apply_known_impulses(&self, input: &SolveInput<'_>, impulses: &mut Impulses, v: &mut [f64]) {
        for (i, target) in input.targets.joints.iter().enumerate() {
            if *target == RowTarget::LeftOut {
                impulses.rows[i] = 0.0;
            } else if let Some(r) = self.bounds.known(input, i) {
                impulses.rows[i] = r;
                apply_row_impulse(input.rows, i, r, input.masses, v);
            }
        }
    }

    /// The problem without the rows whose impulses are known.
    fn solve_unknown(
        &mut self,
        input: &SolveInput<'_>,
        impulses: &mut Impulses,
        v: &mut [f64],
    ) -> Result<SolveOutcome, InvalidProblem> {
        self.assembly.set_rows(input, &self.bounds, impulses, &mut self.found.solution.impulse);
        if self.assembly.problem.laws.is_empty() {
            // Nothing pushes: what the solve before found is no impulse of this one.
            impulses.contacts.fill([0.0; MAX_CONTACT_ROWS]);
            if let Some(tree) = input.tree {
                self.assembly.reduced.begin(tree, input, v);
                self.scatter_reduced(tree, input, impulses, v);
            }
            return Ok(SolveOutcome::NOTHING);
        }
        self.assembly.set_dynamics(input, v);
        // Memory for what comes to rest, before that.
        if self.found.reserve(&self.assembly.problem) {
            self.standstill.reserve(v.len(), self.assembly.problem.laws.len());
        }
        let mut outcome = match self.try_at_once(input, v).or_else(|| self.solve_in_few_dofs(input)) {
            Some(outcome) => outcome,
            None if self.newton_alone => {
                self.solve_joints_alone(&input.options).unwrap_or(SolveOutcome::NONE)
            }
            None => self.solve_assembled(input)?,
        };
        if input.options.minimum_norm && outcome.status == Status::Solved {
            outcome = self.shorten(outcome, &input.options)?;
        }
        match input.tree {
            Some(tree) => self.scatter_reduced(tree, input, impulses, v),
            None => {
                self.scatter(input, impulses, v);
                let stops = input.at_rest && input.goal == Goal::Any && input.rows.rows.is_empty();
                if stops && outcome.status == Status::Solved && !input.options.minimum_norm {
                    outcome = self.stop_what_rests(outcome, input, impulses, v);
                }
            }
        }
        Ok(outcome)
    }

    /// The outcome with impulses that cost one check: those that the solve would start from, as where bodies
    /// rest or roll on, or those of contacts that press alone. `None` where they are no solution.
    fn try_at_once(&mut self, input: &SolveInput<'_>, v: &[f64]) -> Option<SolveOutcome> {
        let few = input.rows.rows.is_empty() && input.contacts.len() <= MAX_CHECKED_CONTACTS;
        // In few degrees of freedom a solve begins with that, and takes away what is left of a motion.
        let asked = (input.at_rest || few) && input.goal == Goal::Any && input.tree.is_none();
        // The solver rejects NaN and infinity.
        let finite = |form: &mut Form| GlobalForm::of(form).force.iter().all(|x| x.is_finite());
        if !asked || input.options.minimum_norm || !finite(&mut self.assembly.problem.form) {
            return None;
        }
        let (problem, tolerance) = (&self.assembly.problem, input.options.tolerance);
        let start = &self.found.solution.impulse;
        let started = start.iter().any(|x| *x != 0.0);
        let alone = few && input.options.method == Method::Auto;
        let propose = |r: &mut Vec<f64>| alone::propose(input, v, r).then_some(1);
        // What slides by itself has other impulses in every step, what rests or rolls the same ones.
        let first = alone && !(started && (input.at_rest || !alone::slides_everywhere(&problem.laws, start)));
        if first && let Some(outcome) = self.found.try_change(problem, tolerance, propose) {
            return Some(outcome);
        }
        if started {
            let (status, residual) = self.found.settle(problem, tolerance);
            if status == Status::Solved {
                return Some(SolveOutcome { status, residual, iterations: 0 });
            }
        }
        match alone && !first {
            true => self.found.try_change_again(problem, tolerance, propose),
            false => None,
        }
    }

    /// Solves contacts of jointed bodies in the few motions that joints leave. `None` where others have to.
    fn solve_in_few_dofs(&mut self, input: &SolveInput<'_>) -> Option<SolveOutcome> {
        let ContactOptions { method, minimum_norm, tolerance, .. } = input.options;
        let problem = &self.assembly.problem;
        let asked = input.tree.is_some() && matches!(input.goal, Goal::Any | Goal::Rest);
        if !asked || method != Method::Auto || minimum_norm || problem.laws.iter().all(Law::is_bilateral) {
            return None;
        }
        if let Some(outcome) = self.rest_on(input) {
            return Some(outcome);
        }
        let problem = &self.assembly.problem;
        if self.settled {
            let (status, residual) = self.found.settle(problem, tolerance);
            if status == Status::Solved && residual <= SETTLED_RATIO * tolerance {
                return Some(SolveOutcome { status, residual, iterations: 0 });
            }
        }
        self.found.try_change(problem, tolerance, |r| match self.newton_alone {
            true => self.few_dofs.solve_from_near(problem, tolerance, r),
            false => self.few_dofs.solve(problem, tolerance, r),
        })
    }

    /// The outcome with the impulses that jointed bodies at rest had before, where they hold and leave no
    /// motion: another solution would have other bits, and the next step too.
    fn rest_on(&mut self, input: &SolveInput<'_>) -> Option<SolveOutcome> {
        let left = left_ratio(input);
        if left == 0.0 {
            return None;
        }
        let Assembly { problem, reduced, .. } = &mut self.assembly;
        let h = GlobalForm::of(&mut problem.form).jacobian_transposed;
        if !reduced.leave_at_rest(h, &self.found.solution.impulse, left) {
            return None;
        }
        let (status, residual) = self.found.settle(&self.assembly.problem, input.options.tolerance);
        (status == Status::Solved).then_some(SolveOutcome { status, residual, iterations: 0 })
    }

    /// Solves what is assembled, joints alone by one factorization.
    fn solve_assembled(&mut self, input: &SolveInput<'_>) -> Result<SolveOutcome, InvalidProblem> {
        let options = &input.options;
        if let Some(outcome) = self.solve_joints_alone(options).or_else(|| self.try_none(input)) {
            return Ok(outcome);
        }
        let (problem, solution) = (&self.assembly.problem, &mut self.found.solution);
        match input.goal {
            Goal::Any | Goal::Rest => {}
            Goal::Canonical => {
                solution.impulse.fill(0.0);
                return solve_proximal(problem, options, PROXIMAL_RATIO, solution);
            }
            Goal::Near => return solve_proximal(problem, options, PROXIMAL_RATIO, solution),
            Goal::Polish => return solve_proximal(problem, options, FIRM_PROXIMAL_RATIO, solution),
            Goal::Check => {
                let (mut status, mut residual) = self.found.settle(problem, options.tolerance);
                // The residual of another law is another number: the equations of sticking have a smaller
                // one.
                if status != Status::Solved
                    && let Some(less) =
                        rest_without_defect(problem, &mut self.found, options.tolerance, MAX_DEFECT_WORK)
                {
                    (residual, status) = (less, Status::Solved);
                }
                return Ok(SolveOutcome { status, residual, iterations: 0 });
            }
        }
        let warm = solution.impulse.iter().any(|r| *r != 0.0);
        if input.at_rest
            && warm
            && input.goal == Goal::Any
            && !options.minimum_norm
            && let Some(residual) = rest_as_before(problem, &mut self.found, options.tolerance)
        {
            return Ok(SolveOutcome { status: Status::Solved, residual, iterations: 0 });
        }
        let (problem, solution) = (&self.assembly.problem, &mut self.found.solution);
        solve_into(problem, options, &mut self.found.workspace, solution)?;
        let Solution { status, residual, iterations, .. } = *solution;
        if status == Status::Solved {
            return Ok(SolveOutcome { status, residual, iterations });
        }
        if input.goal == Goal::Rest {
            remove_defect(problem, Pressed::ByImpulse, &mut solution.impulse);
            return Ok(SolveOutcome { status, residual, iterations });
        }
        let polished = rest_without_defect(problem, &mut self.found, options.tolerance, MAX_POLISHED_WORK);
        Ok(polished.map_or(SolveOutcome { status, residual, iterations }, |residual| SolveOutcome {
            status: Status::Solved,
            residual,
            iterations,
        }))
    }

    /// No impulses, where jointed bodies without contacts move together as they are: what rows have of a
    /// velocity then is the rounding of its terms, and methods would look for digits in it. With contacts,
    /// impulses of the size of rounding are what brings bodies to rest to the bit.
    fn try_none(&mut self, input: &SolveInput<'_>) -> Option<SolveOutcome> {
        if input.tree.is_none() || input.goal == Goal::Check || !input.contacts.is_empty() {
            return None;
        }
        let none = |r: &mut Vec<f64>| {
            r.fill(0.0);
            Some(0)
        };
        let found = self.found.try_change(&self.assembly.problem, input.options.tolerance, none);
        if found.is_some() || !self.assembly.take_out_rounding() {
            return found;
        }
        self.found.try_change(&self.assembly.problem, input.options.tolerance, none)
    }

    /// Solves bilateral rows by one factorization, where there are no others.
    fn solve_joints_alone(&mut self, options: &ContactOptions) -> Option<SolveOutcome> {
        let Assembly { problem, mass_entries, .. } = &mut self.assembly;
        let ContactProblem { laws, form } = &mut *problem;
        if laws.iter().any(|law| *law != Law::Bilateral) {
            return None;
        }
        let GlobalForm { jacobian_transposed, force, bias, .. } = GlobalForm::of(form);
        let impulse = &mut self.found.solution.impulse;
        if !self.joints_alone.solve(jacobian_transposed, mass_entries, force, bias, impulse) {
            return None;
        }
        let (status, residual) = self.found.settle_bilateral(problem, options.tolerance);
        (status == Status::Solved).then_some(SolveOutcome { status, residual, iterations: 1 })
    }

    /// Takes away what the solve left of the motion of bodies at rest, where the check allows it.
    fn stop_what_rests(
        &mut self,
        outcome: SolveOutcome,
        input: &SolveInput<'_>,
        impulses: &mut Impulses,
        v: &mut [f64],
    ) -> SolveOutcome {
        let SolveInput { masses, contacts, targets, fall, .. } = *input;
        let left = Left { masses, contacts, targets, fall, v, terms: &self.terms };
        let stop = |r: &mut Vec<f64>| self.standstill.stop(&left, r).then_some(outcome.iterations + 1);
        let Some(stopped) = self.found.try_change(&self.assembly.problem, input.options.tolerance, stop)
        else {
            return outcome;
        };
        v.copy_from_slice(&self.velocity_before);
        self.scatter(input, impulses, v);
        stopped
    }

    /// The outcome, with the residual of the rows that are no unknowns of the problem, after a refinement
    /// where that is above the tolerance.
    fn check_rows(
        &mut self,
        outcome: SolveOutcome,
        input: &SolveInput<'_>,
        impulses: &mut Impulses,
        v: &mut [f64],
    ) -> SolveOutcome {
        let mut error = self.row_error(input, impulses, v);
        // Masses of a tree that differ by many orders of magnitude cost digits.
        if let Some(tree) = input.tree
            && error > input.options.tolerance
        {
            let sum = self.row_check.velocity_by_impulses_mut();
            self.assembly.reduced.refine(tree, input, sum, impulses, v);
            error = self.row_error(input, impulses, v);
        }
        let solved = outcome.status != Status::Solved || error <= input.options.tolerance;
        let status = if solved { outcome.status } else { Status::Stalled };
        SolveOutcome { status, residual: outcome.residual.max(error), ..outcome }
    }

    fn row_error(&mut self, input: &SolveInput<'_>, impulses: &Impulses, velocity: &[f64]) -> f64 {
        let shared = shared_loads(input, &impulses.rows);
        let loads = shared.as_deref().unwrap_or(&impulses.rows);
        self.row_check.residual(&RowsEnd { input, impulses, before: &self.velocity_before, velocity, loads })
    }

    /// Gives rows and contacts their impulses, and bodies the velocities that follow.
    fn scatter(&mut self, input: &SolveInput<'_>, impulses: &mut Impulses, v: &mut [f64]) {
        let SolveInput { masses, rows, contacts, targets, .. } = *input;
        self.terms.clear();
        self.terms.extend(v.iter().map(|v| v.abs()));
        let impulse = &self.found.solution.impulse;
        for (&i, &r) in self.assembly.unknown_rows.iter().zip(impulse) {
            impulses.rows[i] = r;
            apply_row_impulse(rows, i, r, masses, v);
        }
        let mut at = self.assembly.unknown_rows.len();
        for (i, contact) in contacts.iter().enumerate() {
            impulses.contacts[i] = [0.0; MAX_CONTACT_ROWS];
            if targets.normal_bias[i].is_none() {
                continue;
            }
            let r = &impulse[at..at + contact.law.dim()];
            at += r.len();
            if r.iter().any(|x| *x != 0.0) {
                impulses.contacts[i][..r.len()].copy_from_slice(r);
                contact.apply_impulse(r, &masses.inverse, v);
                contact.add_sizes(r, &masses.inverse, &mut self.terms);
            }
        }
        stop_rounding(&self.terms, v);
    }

    /// The same in reduced coordinates: rows of the tree get what is left of the change.
    fn scatter_reduced(
        &mut self,
        tree: &TreeBasis,
        input: &SolveInput<'_>,
        impulses: &mut Impulses,
        v: &mut [f64],
    ) {
        self.scatter(input, impulses, v);
        let Assembly { problem, reduced, .. } = &mut self.assembly;
        if !problem.laws.is_empty() {
            let h = GlobalForm::of(&mut problem.form).jacobian_transposed;
            reduced.apply_impulses(h, &self.found.solution.impulse, left_ratio(input));
        }
        reduced.scatter(tree, input, &mut impulses.rows, v);
    }
}

/// A small part of the work that is allowed, where that is bounded.
fn with_little_work(options: &ContactOptions) -> ContactOptions {
    ContactOptions { max_work: options.max_work.map(|work| work / HASTY_WORK_DIVISOR), ..*options }
}

/// The part of its terms up to which a motion is one that a solve left, where bodies are at rest: a solve
/// leaves up to the tolerance of a motion, and bodies at rest shall keep none of it. A chain on a floor would
/// roll on for a second with it. The check of the rows has the velocities that they get, and decides.
fn left_ratio(input: &SolveInput<'_>) -> f64 {
    if input.at_rest && input.goal == Goal::Any { input.options.tolerance } else { 0.0 }
}

#[cfg(test)]
mod tests;
