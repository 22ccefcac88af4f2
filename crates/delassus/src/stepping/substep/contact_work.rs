//! The work of contacts in the solves of a substep, and a limit on rebounds that would add energy.
//!
//! ```text
//! W = Σ_i r_i·½(u_i⁻ + u_i⁺) ≤ 0 ,   0 ≤ u_n + s e u_n⁻ ⊥ r_n ≥ 0 ,   W(s) ≈ W(0) + s² (W(1) − W(0))
//! ```
//!
//! r are the impulses of contacts, u their velocities before and after a solve, e coefficients of
//! restitution, s the fraction of them that is applied. Moreau's law with one e for all contacts adds no
//! energy without friction. A time step, however, also keeps contacts closed beside those that rebound which
//! would separate (u_n ≥ 0 instead of u_n ≥ −e u_n⁻), and may add some: then s is as large as W ≤ 0 lets it
//! be. W includes the difference ½K·(Δv₂ − Δv₁) between the work of weights in the two solves and along the
//! path, as the account of energy does.

use delassus_solve::problem::InvalidProblem;

use super::super::Stepper;
use super::super::linearization::Linearization;
use super::super::model::Model;
use super::super::row_targets::{RowTargets, SubstepPlan, SubstepView};
use super::super::velocity_solve::SolveOutcome;
use super::super::warm_start::Impulses;
use super::HalfEnd;
use super::half_solve::{Half, HalfSolve, HalfSolver};
use crate::world::FIXED_SLOT;

/// Speeds that open what counts as touching, so many times over, are no gain.
const OPENING_TOUCHINGS: f64 = 10.0;
/// Rebounds are made slower where contacts give more than this part of the energy of the bodies that they
/// push; below is the error of the scheme.
const MAX_REBOUND_GAIN: f64 = 1e-6;

/// Work of the impulses of contacts in a solve, and the kinetic energy before it of the bodies that they
/// push.
#[derive(Clone, Copy, Default)]
pub(super) struct ContactWork {
    pub(super) work: f64,
    pub(super) energy: f64,
    /// K·Δv of the weights.
    pub(super) weights: f64,
}

impl Stepper {
    /// Work of the impulses of contacts in the solve of a half, made last.
    pub(super) fn contact_work(&self, plan: &SubstepPlan, half: Half) -> ContactWork {
        let HalfEnd { before_kick, impulses, velocity, .. } = &self.substep.end;
        let velocities = [before_kick, self.substep.solver.velocity_before(half), velocity];
        ContactWork::of(&self.model, &self.linearization, plan, impulses, velocities)
    }
}

impl ContactWork {
    /// Of a solve with these impulses, with velocities before the kick, after it and after the solve.
    pub(super) fn of(
        model: &Model,
        on: &Linearization,
        plan: &SubstepPlan,
        impulses: &Impulses,
        [before, from, to]: [&[f64]; 3],
    ) -> Self {
        let masses = &model.masses;
        let slack = (OPENING_TOUCHINGS * model.touching() / plan.opening_time).powi(2);
        let mut sum = ContactWork::default();
        let all = on.contact_rows().iter().zip(&impulses.contacts);
        for (rows, r) in all.filter(|(_, r)| r[0] > 0.0) {
            let along = |k: usize| 0.5 * r[k] * (rows.velocity(k, from) + rows.velocity(k, to));
            sum.work += (0..rows.law.dim()).map(along).sum::<f64>();
            for at in rows.slots.iter().filter(|slot| **slot != FIXED_SLOT).map(|&slot| 6 * slot as usize) {
                let body = from[at..at + 6].iter().zip(&masses.mass[at..at + 6]);
                sum.energy += body.map(|(v, m)| 0.5 * m * v * v).sum::<f64>() + 0.5 * masses.mass[at] * slack;
            }
        }
        let all = masses.mass.iter().zip(before).zip(from.iter().zip(to));
        sum.weights = all.map(|((m, before), (from, to))| m * (from - before) * (to - from)).sum();
        sum
    }

    /// That of the only solve of a substep, of the half-implicit scheme. What a rebound gives by its law is
    /// counted as created, as in the symmetric scheme.
    pub(super) fn without_rebounds(self, on: &SubstepView<'_>) -> Self {
        // Contacts that joined the substep come after those that there were at its start.
        let rebounds = (0..on.start.approach.len()).any(|i| on.contact_rebounds_at_start(i));
        ContactWork { work: if rebounds { self.work.min(0.0) } else { self.work }, ..self }
    }
}

/// The second solve of a substep, made, with all that it is made again with.
pub(super) struct ReboundSolve<'a, 'b> {
    pub(super) solve: &'a mut HalfSolve<'b>,
    pub(super) solver: &'a mut HalfSolver,
    pub(super) targets: &'a mut RowTargets,
    pub(super) impulses: &'a mut Impulses,
    pub(super) before_kick: &'a [f64],
    pub(super) velocity: &'a mut Vec<f64>,
    pub(super) plan: &'a SubstepPlan,
    /// Of the first half.
    pub(super) first: ContactWork,
}

impl ReboundSolve<'_, '_> {
    /// Makes the rebounds of contacts without friction slower where they give energy. Springs, motors and
    /// limits have a part in the work of an impact: beside them nothing is done.
    pub(super) fn bound(&mut self, outcome: SolveOutcome) -> Result<SolveOutcome, InvalidProblem> {
        let rows = self.solve.linearization.contact_rows();
        let mut pushing = rows.iter().zip(&self.impulses.contacts).filter(|(_, r)| r[0] > 0.0);
        let joints = &self.solve.linearization.joint_rows();
        if !self.targets.any_rebound()
            || joints.rows.len() > joints.bilateral
            || pushing.any(|(rows, _)| rows.law.mu() > 0.0)
        {
            return Ok(outcome);
        }
        let (with, bound) = self.gain();
        if with <= bound {
            return Ok(outcome);
        }
        let whole = self.targets.normal_bias.clone();
        let mut outcome = self.again(&whole, 0.0)?;
        let (without, _) = self.gain();
        let part = (-without / (with - without)).sqrt();
        if part > 0.0 {
            outcome = self.again(&whole, part)?;
            let (gain, bound) = self.gain();
            if gain > bound {
                outcome = self.again(&whole, 0.0)?;
            }
        }
        Ok(outcome)
    }

    /// The work of contacts in both halves, and what it may be.
    fn gain(&self) -> (f64, f64) {
        let from = self.solver.velocity_before(Half::Second);
        let HalfSolve { model, linearization, .. } = &*self.solve;
        let velocities = [self.before_kick, from, self.velocity];
        let second = ContactWork::of(model, linearization, self.plan, self.impulses, velocities);
        let weights = 0.5 * (second.weights - self.first.weights);
        (self.first.work + second.work + weights, MAX_REBOUND_GAIN * second.energy.max(self.first.energy))
    }

    /// Solves with a part of the rebounds.
    fn again(&mut self, whole: &[Option<f64>], part: f64) -> Result<SolveOutcome, InvalidProblem> {
        for (bias, whole) in self.targets.normal_bias.iter_mut().zip(whole) {
            *bias = whole.map(|b| if b < 0.0 { part * b } else { b });
        }
        self.velocity.copy_from_slice(self.solver.velocity_before(Half::Second));
        self.solve.solve(self.solver, self.targets, self.impulses, self.velocity)
    }
}
