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

mod bounds;
mod canonical;
mod fallback;
mod joint_loads;
mod joint_solve;
mod least_norm;
mod other_motion;
mod reduced;
mod rest;
mod row_check;
mod standstill;

pub(super) use fallback::{FailedSolves, FallbackSolver};
pub(super) use joint_solve::JointsAlone;

use delassus_solve::contact::{ContactOptions, FewDofs, Solution, Workspace, solve_into};
use delassus_solve::linalg::Sparse;
use delassus_solve::problem::{ContactProblem, Form, InvalidProblem, Law, ResidualCheck, Status};

use canonical::solve_proximal;
use rest::{MAX_DEFECT_ROWS, MAX_POLISHED_ROWS, Pressed, remove_defect};
use row_check::RowCheck;
use standstill::{Standstill, stop_rounding};

use super::row_targets::{RowTarget, RowTargets};
use super::warm_start::Impulses;
use crate::collision::{ContactRows, MAX_CONTACT_ROWS};
use crate::world::{FIXED_SLOT, Masses, RowKind, Rows, TreeBasis, apply_row_impulse};
use reduced::ReducedMotion;

/// Rounds in which bounded rows may go to their bounds and back.
const MAX_BOUND_ROUNDS: usize = 60;
/// Contacts up to which the impulses of the step before are tried first in motion too: what slides or rolls
/// by itself has the same ones from step to step, and the check costs a part of a solve.
const MAX_CHECKED_CONTACTS: usize = 8;
/// Rows of joints up to which joints alone are solved by a dense factorization.
const MAX_DIRECT_ROWS: usize = 200;

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
    pub(super) options: ContactOptions,
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
}

/// Solves for velocities, one problem after the other, in memory that is kept.
pub(super) struct VelocitySolver {
    /// Always in global form.
    problem: ContactProblem,
    workspace: Workspace,
    solution: Solution,
    joints_alone: JointsAlone,
    joints_check: ResidualCheck,
    row_check: RowCheck,
    /// The most rows that it was loaded with.
    checked_rows: usize,
    /// Entries of Hᵀ and of the mass matrix.
    jacobian_entries: Vec<(usize, usize, f64)>,
    mass_entries: Vec<(usize, usize, f64)>,
    /// Masses 1/c of the bodies that stand for compliant rows.
    compliant_masses: Vec<f64>,
    /// Per row of a joint: bilateral (0) or at its bound (±1), and the bound on its impulse.
    side: Vec<i8>,
    bound: Vec<f64>,
    velocity_before: Vec<f64>,
    /// Sums of the sizes of what the velocities of bodies are sums of.
    terms: Vec<f64>,
    standstill: Standstill,
    reduced: ReducedMotion,
    few_dofs: FewDofs,
    /// Where a solve in few degrees of freedom began.
    first_impulse: Vec<f64>,
    /// Impulses of bilateral rows that are added to their loads and move no body; empty for none.
    stress: Vec<f64>,
    goal: Goal,
}

/// What a solve looks for.
#[derive(Clone, Copy, Default, PartialEq)]
enum Goal {
    /// Any solution.
    #[default]
    Any,
    /// The one that is taken where there are several.
    Canonical,
    /// One near the impulses given.
    Near,
    /// One that lets rest what presses.
    Rest,
    /// Whether the impulses given are one.
    Check,
}

/// The parts of a problem in global form.
struct GlobalForm<'a> {
    mass: &'a mut Sparse,
    jacobian_transposed: &'a mut Sparse,
    force: &'a mut Vec<f64>,
    bias: &'a mut Vec<f64>,
}

impl<'a> GlobalForm<'a> {
    fn of(form: &'a mut Form) -> Self {
        let Form::Global { mass, jacobian_transposed, force, bias } = form else {
            unreachable!("a velocity solver makes its problem in global form and never changes that")
        };
        GlobalForm { mass, jacobian_transposed, force, bias }
    }
}

impl Default for VelocitySolver {
    fn default() -> Self {
        let form = Form::Global {
            mass: Sparse::default(),
            jacobian_transposed: Sparse::default(),
            force: Vec::new(),
            bias: Vec::new(),
        };
        VelocitySolver {
            problem: ContactProblem { laws: Vec::new(), form },
            workspace: Workspace::default(),
            solution: Solution::default(),
            joints_alone: JointsAlone::default(),
            joints_check: ResidualCheck::default(),
            row_check: RowCheck::default(),
            checked_rows: 0,
            jacobian_entries: Vec::new(),
            mass_entries: Vec::new(),
            compliant_masses: Vec::new(),
            side: Vec::new(),
            bound: Vec::new(),
            velocity_before: Vec::new(),
            terms: Vec::new(),
            standstill: Standstill::default(),
            reduced: ReducedMotion::default(),
            few_dofs: FewDofs::default(),
            first_impulse: Vec::new(),
            stress: Vec::new(),
            goal: Goal::Any,
        }
    }
}

impl VelocitySolver {
    /// Solves from the impulses given: `v` and `impulses` become those after the solve.
    pub(super) fn solve(
        &mut self,
        input: &SolveInput<'_>,
        impulses: &mut Impulses,
        v: &mut [f64],
    ) -> Result<SolveOutcome, InvalidProblem> {
        let bounded = self.begin_bounds(input, &impulses.rows);
        self.velocity_before.clear();
        self.velocity_before.extend_from_slice(v);
        let mut outcome = SolveOutcome::NOTHING;
        for round in 0..MAX_BOUND_ROUNDS {
            v.copy_from_slice(&self.velocity_before);
            self.apply_known_impulses(input, impulses, v);
            let solved = self.solve_unknown(input, impulses, v)?;
            outcome = SolveOutcome { iterations: outcome.iterations + solved.iterations, ..solved };
            if !bounded || !self.update_bounds(input, &impulses.rows, v, round) {
                break;
            }
            if round + 1 == MAX_BOUND_ROUNDS {
                outcome.status = Status::Stalled;
            }
        }
        if bounded || input.tree.is_some() {
            outcome = self.check_rows(outcome, input, impulses, v);
        }
        Ok(outcome)
    }

    /// Solves for a solution of a kind.
    fn solve_for(
        &mut self,
        goal: Goal,
        input: &SolveInput<'_>,
        impulses: &mut Impulses,
        v: &mut [f64],
    ) -> Result<SolveOutcome, InvalidProblem> {
        self.goal = goal;
        let outcome = self.solve(input, impulses, v);
        self.goal = Goal::Any;
        outcome
    }

    /// The problem solved last.
    pub(super) fn problem(&self) -> &ContactProblem {
        &self.problem
    }

    /// Its impulses.
    pub(super) fn impulse(&self) -> &[f64] {
        &self.solution.impulse
    }

    /// Impulses that are no unknowns: given ones, and those of rows at their bounds.
    fn apply_known_impulses(&self, input: &SolveInput<'_>, impulses: &mut Impulses, v: &mut [f64]) {
        for (i, target) in input.targets.joints.iter().enumerate() {
            let known = match (target, self.side[i]) {
                (RowTarget::LeftOut, _) => {
                    impulses.rows[i] = 0.0;
                    None
                }
                (RowTarget::Impulse(r), _) => Some(*r),
                (RowTarget::Velocity { .. }, s) if s != 0 => Some(f64::from(s) * self.bound[i]),
                _ => None,
            };
            if let Some(r) = known {
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
        self.assemble_joints(input, impulses);
        self.assemble_contacts(input, impulses);
        if self.problem.laws.is_empty() {
            // Nothing pushes: what the solve before found is no impulse of this one.
            impulses.contacts.fill([0.0; MAX_CONTACT_ROWS]);
            if let Some(tree) = input.tree {
                self.reduced.begin(tree, input, v);
                self.scatter_reduced(tree, input, impulses, v);
            }
            return Ok(SolveOutcome::NOTHING);
        }
        self.assemble_dynamics(input, v);
        // Memory for the check of what comes to rest, before that.
        if self.problem.rows() > self.checked_rows {
            self.checked_rows = self.problem.rows();
            self.joints_check.load(&self.problem);
            self.standstill.reserve(v.len(), self.problem.laws.len());
            self.first_impulse.reserve(self.checked_rows);
        }
        let few = input.rows.rows.is_empty() && input.contacts.len() <= MAX_CHECKED_CONTACTS;
        // In few degrees of freedom a solve begins with that, and takes away what is left of a motion.
        let held = match (input.at_rest || few) && self.goal == Goal::Any && input.tree.is_none() {
            true => self.check_start(&input.options),
            false => None,
        };
        let mut outcome = match held.or_else(|| self.solve_in_few_dofs(input)) {
            Some(outcome) => outcome,
            None => self.solve_assembled(&input.options)?,
        };
        if input.options.minimum_norm && outcome.status == Status::Solved {
            outcome = self.shorten(outcome, &input.options)?;
        }
        match input.tree {
            Some(tree) => self.scatter_reduced(tree, input, impulses, v),
            None => {
                self.scatter(input, impulses, v);
                let stops = input.at_rest && self.goal == Goal::Any && input.rows.rows.is_empty();
                if stops && outcome.status == Status::Solved && !input.options.minimum_norm {
                    outcome = self.stop_what_rests(outcome, input, impulses, v);
                }
            }
        }
        Ok(outcome)
    }

    /// The target of a row of a joint whose impulse is an unknown: b and the compliance c.
    fn unknown(&self, input: &SolveInput<'_>, i: usize) -> Option<(f64, f64)> {
        if input.tree.is_some_and(|tree| tree.holds(i)) {
            return None;
        }
        match input.targets.joints[i] {
            RowTarget::Velocity { bias } if self.side[i] == 0 => Some((bias, 0.0)),
            RowTarget::Compliant { bias, compliance } => Some((bias, compliance)),
            _ => None,
        }
    }

    /// Laws, columns of Hᵀ, b and starting impulses of joints, from an empty problem.
    fn assemble_joints(&mut self, input: &SolveInput<'_>, impulses: &Impulses) {
        let SolveInput { masses, rows, tree, .. } = *input;
        self.problem.laws.clear();
        GlobalForm::of(&mut self.problem.form).bias.clear();
        self.jacobian_entries.clear();
        self.compliant_masses.clear();
        self.reduced.clear_rows();
        self.solution.impulse.clear();
        for (i, row) in rows.rows.iter().enumerate() {
            let Some((b, compliance)) = self.unknown(input, i) else { continue };
            let bias = GlobalForm::of(&mut self.problem.form).bias;
            let column = bias.len();
            let blocks = rows.blocks_of(row).iter().map(|(body, block)| (masses.slot[*body as usize], block));
            match tree {
                Some(_) => self.reduced.add_row(blocks),
                None => add_row(column, blocks, &mut self.jacobian_entries),
            }
            // A compliant row has a body of its own, of mass 1/c, which moves along with it.
            if compliance > 0.0 {
                match tree {
                    Some(_) => self.reduced.add_compliance(),
                    None => {
                        let own = masses.mass.len() + self.compliant_masses.len();
                        self.jacobian_entries.push((own, column, 1.0));
                    }
                }
                self.compliant_masses.push(1.0 / compliance);
            }
            bias.push(b);
            let limit = matches!(row.kind, RowKind::Limit { .. });
            self.problem.laws.push(if limit { Law::Unilateral } else { Law::Bilateral });
            self.solution.impulse.push(impulses.rows[i]);
        }
    }

    /// The same of contacts, behind those of joints.
    fn assemble_contacts(&mut self, input: &SolveInput<'_>, impulses: &Impulses) {
        let ContactProblem { laws, form } = &mut self.problem;
        let bias = GlobalForm::of(form).bias;
        for (i, contact) in input.contacts.iter().enumerate() {
            if input.targets.normal_bias[i].is_none() {
                continue;
            }
            for k in 0..contact.law.dim() {
                let column = bias.len();
                let moving = (0..2).filter(|&s| contact.slots[s] != FIXED_SLOT);
                let blocks = moving.map(|s| (contact.slots[s], &contact.blocks[s][k]));
                match input.tree {
                    Some(_) => self.reduced.add_row(blocks),
                    None => add_row(column, blocks, &mut self.jacobian_entries),
                }
                bias.push(input.targets.contact_bias(i, k).unwrap_or(0.0));
                self.solution.impulse.push(impulses.contacts[i][k]);
            }
            laws.push(contact.law);
        }
    }

    /// M, Hᵀ and M v*, with the bodies of compliant rows at rest.
    fn assemble_dynamics(&mut self, input: &SolveInput<'_>, v: &[f64]) {
        if let Some(tree) = input.tree {
            return self.assemble_reduced(tree, input, v);
        }
        self.reduced.forget_rows();
        let masses = input.masses;
        let GlobalForm { mass, jacobian_transposed, force, bias } = GlobalForm::of(&mut self.problem.form);
        let dofs = masses.mass.len() + self.compliant_masses.len();
        let all = masses.mass.iter().chain(&self.compliant_masses);
        if !mass.values().iter().eq(all.clone()) {
            self.mass_entries.clear();
            self.mass_entries.extend(all.enumerate().map(|(i, &m)| (i, i, m)));
            mass.refill(dofs, dofs, &self.mass_entries);
        }
        jacobian_transposed.refill(dofs, bias.len(), &self.jacobian_entries);
        force.clear();
        force.extend(masses.mass.iter().zip(v).map(|(m, v)| m * v));
        force.resize(dofs, 0.0);
    }

    /// The outcome with the impulses that the solve would start from, where they solve what is assembled:
    /// what rests costs one check.
    fn check_start(&mut self, options: &ContactOptions) -> Option<SolveOutcome> {
        let Solution { impulse, velocity, .. } = &mut self.solution;
        // The solver rejects NaN and infinity.
        let finite = GlobalForm::of(&mut self.problem.form).force.iter().all(|x| x.is_finite());
        if options.minimum_norm || !finite || impulse.iter().all(|x| *x == 0.0) {
            return None;
        }
        self.joints_check.load(&self.problem);
        let found = self.joints_check.residual(&self.problem, impulse, velocity);
        let (status, residual) = found.settle(Status::Stalled, options.tolerance);
        (status == Status::Solved).then_some(SolveOutcome { status, residual, iterations: 0 })
    }

    /// Solves what is assembled, joints alone by one factorization.
    fn solve_assembled(&mut self, options: &ContactOptions) -> Result<SolveOutcome, InvalidProblem> {
        let ContactProblem { laws, form } = &mut self.problem;
        if laws.len() <= MAX_DIRECT_ROWS && laws.iter().all(|law| *law == Law::Bilateral) {
            let GlobalForm { jacobian_transposed, force, bias, .. } = GlobalForm::of(form);
            let impulse = &mut self.solution.impulse;
            if self.joints_alone.solve(jacobian_transposed, &self.mass_entries, force, bias, impulse) {
                let Solution { impulse, velocity, .. } = &mut self.solution;
                self.joints_check.load(&self.problem);
                let found = self.joints_check.bilateral_residual(&self.problem, impulse, velocity);
                let (status, residual) = found.settle(Status::Stalled, options.tolerance);
                if status == Status::Solved {
                    return Ok(SolveOutcome { status, residual, iterations: 1 });
                }
            }
        }
        match self.goal {
            Goal::Any | Goal::Rest => {}
            Goal::Canonical => {
                self.solution.impulse.fill(0.0);
                return solve_proximal(&self.problem, options, &mut self.solution);
            }
            Goal::Near => return solve_proximal(&self.problem, options, &mut self.solution),
            Goal::Check => {
                let Solution { impulse, velocity, .. } = &mut self.solution;
                self.joints_check.load(&self.problem);
                let found = self.joints_check.residual(&self.problem, impulse, velocity);
                let (mut status, mut residual) = found.settle(Status::Stalled, options.tolerance);
                // The residual of another law is another number: the equations of sticking have a smaller
                // one.
                if status != Status::Solved
                    && let Some(less) = self.rest_without_defect(options.tolerance, MAX_DEFECT_ROWS)
                {
                    (residual, status) = (less, Status::Solved);
                }
                return Ok(SolveOutcome { status, residual, iterations: 0 });
            }
        }
        solve_into(&self.problem, options, &mut self.workspace, &mut self.solution)?;
        let Solution { status, residual, iterations, .. } = self.solution;
        if status == Status::Solved {
            return Ok(SolveOutcome { status, residual, iterations });
        }
        if self.goal == Goal::Rest {
            remove_defect(&self.problem, Pressed::ByImpulse, &mut self.solution.impulse);
            return Ok(SolveOutcome { status, residual, iterations });
        }
        let polished = self.rest_without_defect(options.tolerance, MAX_POLISHED_ROWS);
        Ok(polished.map_or(SolveOutcome { status, residual, iterations }, |residual| SolveOutcome {
            status: Status::Solved,
            residual,
            iterations,
        }))
    }

    /// Gives rows and contacts their impulses, and bodies the velocities that follow.
    fn scatter(&mut self, input: &SolveInput<'_>, impulses: &mut Impulses, v: &mut [f64]) {
        let SolveInput { masses, rows, contacts, targets, .. } = *input;
        self.terms.clear();
        self.terms.extend(v.iter().map(|v| v.abs()));
        let impulse = &self.solution.impulse;
        let mut at = 0;
        for i in 0..rows.rows.len() {
            if self.unknown(input, i).is_some() {
                impulses.rows[i] = impulse[at];
                apply_row_impulse(rows, i, impulse[at], masses, v);
                at += 1;
            }
        }
        for (i, contact) in contacts.iter().enumerate() {
            impulses.contacts[i] = [0.0; MAX_CONTACT_ROWS];
            if targets.normal_bias[i].is_some() {
                let n = contact.law.dim();
                impulses.contacts[i][..n].copy_from_slice(&impulse[at..at + n]);
                contact.apply_impulse(&impulse[at..at + n], &masses.inverse, v);
                contact.add_sizes(&impulse[at..at + n], &masses.inverse, &mut self.terms);
                at += n;
            }
        }
        stop_rounding(&self.terms, v);
    }
}

/// Adds the entries of a row, a column of Hᵀ, with these blocks of slots.
fn add_row<'a>(
    column: usize,
    blocks: impl Iterator<Item = (u32, &'a [f64; 6])>,
    entries: &mut Vec<(usize, usize, f64)>,
) {
    for (slot, block) in blocks {
        let at = 6 * slot as usize;
        entries.extend((0..6).map(|c| (at + c, column, block[c])));
    }
}

#[cfg(test)]
mod tests;
