//! Rest before motion: contacts that stuck go on sticking where the laws allow it.
//!
//! ```text
//! r ∈ K ,   u = W r + q ,   u_n = −b ,   u_t = 0   at all contacts that stuck
//! ```
//!
//! With much friction several motions may obey Coulomb's law, and which of them a method finds is chance: a
//! gripper holds a body or lets it fall. The associated law has one motion (004 eq. 11: its velocities
//! minimize a strictly convex function). Where the contacts of an island can stick all together, that motion
//! is to stick: u = 0 and r ∈ K obey it. And where nothing slips, both laws are the same. So the associated
//! law decides whether rest is possible, whatever the method and the order of contacts, and Coulomb's law
//! then confirms its impulses. It is asked only where contacts that stuck were found to move, or where
//! nothing was found: at the onset of a motion, not at every step.

use delassus_solve::contact::{ContactOptions, Method};
use delassus_solve::linalg::{Matrix, UnionFind, rank_tolerance};
use delassus_solve::problem::{
    ContactProblem, Form, InvalidProblem, Law, RelativeResidual, Status, row_offsets,
};

use super::super::row_targets::{RowTarget, RowTargets};
use super::super::warm_start::Impulses;
use super::checked_solution::CheckedSolution;
use super::{Goal, SolveInput, SolveOutcome, VelocitySolver};
use crate::collision::{ContactRows, MAX_CONTACT_ROWS};
use crate::world::FIXED_SLOT;

/// Velocities of contacts below this part of what impulses have to stop in a solve are none. Solves leave
/// their tolerance, 1e-10; the first motion after rest is of the size of what was to be stopped.
const REST_RATIO: f64 = 1e-6;
/// Velocities below this part of what gravity gives in a whole step are none in a substep of any length.
const ROUNDING_RATIO: f64 = 1e-9;
/// The associated law is solved to this part of the tolerance: its impulses shall pass for those of
/// Coulomb's law, also on the surface of a cone.
const TOLERANCE_RATIO: f64 = 0.1;

/// Work up to which a defect is removed: that of the decomposition of a dense matrix of 200 rows.
pub(super) const MAX_DEFECT_WORK: usize = 200 * 200 * 200;
/// Alternate projections, onto u = 0 and onto the cones: so many, and on to the second number while they
/// move impulses. Where these are far inside their cones, a few suffice; they converge linearly, slowly where
/// they are not.
const MIN_PROJECTIONS: usize = 20;
const MAX_PROJECTIONS: usize = 1000;
/// The same, times the entries of H: some milliseconds.
const MAX_PROJECTED_ENTRIES: usize = 10_000_000;
/// A projection that moves impulses by less than this part is rounding.
const PROJECTION_ROUNDING: f64 = 1e-14;

/// Work up to which a solve that failed is finished by the equations of sticking alone: of 60 rows.
pub(super) const MAX_POLISHED_WORK: usize = 60 * 60 * 60;
/// Where a light body carries a heavy one, its velocity is a sum of some tens of impulses, each rounded: no
/// numbers have a smaller residual than about this many times what the rounding of the impulses leaves. It
/// counts up to the second number.
const ROUNDINGS: f64 = 32.0;
const MAX_ROUNDING_RESIDUAL: f64 = 1e-6;

/// What is known before rest is tried.
pub(super) struct Onset<'a> {
    pub(super) input: &'a SolveInput<'a>,
    /// Velocities at the start of the substep, and before the solve.
    pub(super) start: &'a [f64],
    pub(super) before: &'a [f64],
    /// What gravity gives in a whole step, m/s.
    pub(super) fall: f64,
    /// What the solve found, and whether that is a solution.
    pub(super) impulses: &'a Impulses,
    pub(super) velocity: &'a [f64],
    pub(super) solved: bool,
}

/// Islands by the slots of their bodies, and per island what is known of it.
struct Islands {
    sets: UnionFind,
    /// Largest velocity that impulses have to stop at a contact, times [`REST_RATIO`].
    rest: Vec<f64>,
    /// Whether rest is tried.
    tried: Vec<bool>,
}

impl Islands {
    /// The island of a constraint on these slots.
    fn of(&mut self, slots: impl IntoIterator<Item = u32>) -> Option<usize> {
        slots.into_iter().find(|slot| *slot != FIXED_SLOT).map(|slot| self.sets.root(slot as usize))
    }
}

/// Impulses with which islands rest, and which islands do.
pub(super) struct Rest {
    pub(super) impulses: Impulses,
    pub(super) iterations: usize,
    islands: Islands,
}

impl Onset<'_> {
    /// Impulses that let all contacts stick which stuck before, where such contacts move and need not; the
    /// other islands keep those that they have.
    pub(super) fn find_rest(&self, solver: &mut VelocitySolver) -> Result<Option<Rest>, InvalidProblem> {
        if !self.may_be_onset() {
            return Ok(None);
        }
        let Some(mut islands) = self.islands_to_try() else { return Ok(None) };
        let input = self.input;
        let targets = self.targets_of(&mut islands);
        let relaxed: Vec<ContactRows> = input.contacts.iter().map(ContactRows::associated).collect();
        let options = ContactOptions {
            method: Method::Auto,
            tolerance: TOLERANCE_RATIO * input.options.tolerance,
            ..input.options
        };
        let mut impulses = Impulses {
            rows: vec![0.0; self.impulses.rows.len()],
            contacts: vec![[0.0; MAX_CONTACT_ROWS]; self.impulses.contacts.len()],
        };
        let mut v = self.before.to_vec();
        let goal = Goal::Rest;
        let relaxed = SolveInput { contacts: &relaxed, targets: &targets, goal, options, ..*input };
        let outcome = solver.solve(&relaxed, &mut impulses, &mut v)?;
        self.drop_islands_that_move(&mut islands, &v);
        if !islands.tried.contains(&true) {
            return Ok(None);
        }
        let of_rows: Vec<Option<usize>> =
            (0..input.rows.rows.len()).map(|i| self.island_of_row(&mut islands, i)).collect();
        for (i, island) in of_rows.into_iter().enumerate() {
            if !island.is_some_and(|k| islands.tried[k]) {
                impulses.rows[i] = self.impulses.rows[i];
            }
        }
        for (i, contact) in input.contacts.iter().enumerate() {
            if !islands.of(contact.slots).is_some_and(|k| islands.tried[k]) {
                impulses.contacts[i] = self.impulses.contacts[i];
            }
        }
        Ok(Some(Rest { impulses, iterations: outcome.iterations, islands }))
    }

    /// A quick look, before islands are made: some contact that stuck moves, or there is no solution.
    fn may_be_onset(&self) -> bool {
        let contacts = || self.contacts().map(|(_, contact, b)| (contact, b));
        if !contacts().any(|(contact, _)| has_friction(contact)) {
            return false;
        }
        let fastest = contacts().map(|(c, _)| speed(c, NO_BIAS, self.before)).fold(0.0, f64::max);
        let rest = (REST_RATIO * fastest).max(ROUNDING_RATIO * self.fall);
        contacts().any(|(c, b)| {
            speed(c, NO_BIAS, self.start) <= rest && (!self.solved || speed(c, b, self.velocity) > rest)
        })
    }

    /// Contacts of the solve, with b of the normal and of the slip.
    fn contacts(&self) -> impl Iterator<Item = (usize, &ContactRows, [f64; 3])> {
        let bias = |i: usize, k: usize| self.input.targets.contact_bias(i, k);
        let all = self.input.contacts.iter().enumerate();
        all.filter_map(move |(i, contact)| Some((i, contact, [bias(i, 0)?, bias(i, 1)?, bias(i, 2)?])))
    }

    fn slots_of_row(&self, i: usize) -> impl Iterator<Item = u32> {
        let SolveInput { rows, masses, .. } = *self.input;
        rows.blocks_of(&rows.rows[i]).iter().map(|(body, _)| masses.slot[*body as usize])
    }

    fn island_of_row(&self, islands: &mut Islands, i: usize) -> Option<usize> {
        islands.of(self.slots_of_row(i))
    }

    /// Islands in which all contacts that press stuck before, with friction, and some of them move now.
    fn islands_to_try(&self) -> Option<Islands> {
        let bodies = self.before.len() / 6;
        let mut sets = UnionFind::new(bodies);
        let mut join = |slots: &mut dyn Iterator<Item = u32>| {
            let mut moving = slots.filter(|slot| *slot != FIXED_SLOT);
            if let Some(first) = moving.next() {
                moving.for_each(|other| _ = sets.join(first as usize, other as usize));
            }
        };
        (0..self.input.rows.rows.len()).for_each(|i| join(&mut self.slots_of_row(i)));
        self.contacts().for_each(|(_, contact, _)| join(&mut contact.slots.into_iter()));
        let mut islands =
            Islands { sets, rest: vec![ROUNDING_RATIO * self.fall; bodies], tried: vec![false; bodies] };
        for (_, contact, _) in self.contacts() {
            if let Some(k) = islands.of(contact.slots) {
                islands.rest[k] = islands.rest[k].max(REST_RATIO * speed(contact, NO_BIAS, self.before));
            }
        }
        let (mut stuck, mut moves) = (vec![true; bodies], vec![!self.solved; bodies]);
        let mut rough = vec![false; bodies];
        for (i, contact, b) in self.contacts() {
            let Some(k) = islands.of(contact.slots) else { continue };
            let stuck_here = speed(contact, NO_BIAS, self.start) <= islands.rest[k];
            rough[k] |= has_friction(contact) && stuck_here;
            stuck[k] &= stuck_here || self.impulses.contacts[i][0] <= 0.0;
            moves[k] |= stuck_here && speed(contact, b, self.velocity) > islands.rest[k];
        }
        for k in 0..bodies {
            islands.tried[k] = rough[k] && stuck[k] && moves[k];
        }
        // Without a solution the others would be left without one: all islands or none.
        let pressed_elsewhere = |islands: &mut Islands| {
            self.contacts().any(|(_, c, _)| islands.of(c.slots).is_some_and(|k| !islands.tried[k]))
        };
        if !islands.tried.contains(&true) || (!self.solved && pressed_elsewhere(&mut islands)) {
            return None;
        }
        Some(islands)
    }

    /// The targets of the islands that are tried; the others are left out.
    fn targets_of(&self, islands: &mut Islands) -> RowTargets {
        let RowTargets { joints, normal_bias, slip_bias } = self.input.targets;
        let mut joints = joints.clone();
        for (i, target) in joints.iter_mut().enumerate() {
            if !self.island_of_row(islands, i).is_some_and(|k| islands.tried[k]) {
                *target = RowTarget::LeftOut;
            }
        }
        let mut normal_bias = normal_bias.clone();
        for (contact, b) in self.input.contacts.iter().zip(&mut normal_bias) {
            if !islands.of(contact.slots).is_some_and(|k| islands.tried[k]) {
                *b = None;
            }
        }
        RowTargets { joints, normal_bias, slip_bias: slip_bias.clone() }
    }

    /// Islands in which a contact that stuck moves with these velocities are no longer tried.
    fn drop_islands_that_move(&self, islands: &mut Islands, v: &[f64]) {
        for (_, contact, b) in self.contacts() {
            let Some(k) = islands.of(contact.slots) else { continue };
            let stuck = speed(contact, NO_BIAS, self.start) <= islands.rest[k];
            // Not `>`: NaN does not count as rest.
            islands.tried[k] &= !stuck || speed(contact, b, v) <= islands.rest[k];
        }
    }

    /// Whether the islands that were found to rest do so with these velocities of a solve.
    pub(super) fn rests(&self, rest: &mut Rest, outcome: &SolveOutcome, v: &[f64]) -> bool {
        let tried = rest.islands.tried.clone();
        self.drop_islands_that_move(&mut rest.islands, v);
        outcome.status == Status::Solved && tried == rest.islands.tried
    }
}

/// Whether Coulomb's law holds at a contact, with friction.
fn has_friction(contact: &ContactRows) -> bool {
    contact.law.mu() > 0.0 && !contact.law.is_associated()
}

/// Of velocities themselves.
const NO_BIAS: [f64; 3] = [0.0; 3];

/// The velocity of a contact, in rows of a length, with b added.
fn speed(contact: &ContactRows, b: [f64; 3], v: &[f64]) -> f64 {
    let rows = contact.law.dim().min(3);
    let u = |k: usize| contact.velocity(k, v) + b[k];
    (0..rows).map(|k| u(k).powi(2)).sum::<f64>().sqrt()
}

/// Where methods stall because several contacts share a load, the equations of sticking alone may be solved
/// to rounding: for the contacts that press, or for all. The residual of the impulses that do, where it is
/// within the tolerance or within what their own rounding leaves; they are those of the solution then.
///
/// The rule is not that of `RelativeResidual::settle`, which never takes a residual above the tolerance for
/// solved: a body of 1 kg under one of 10⁶ kg has no impulses in floating point numbers whose residual is
/// below 1e-10. The residual that is returned is the one that was found.
pub(super) fn rest_without_defect(
    problem: &ContactProblem,
    found: &mut CheckedSolution,
    tolerance: f64,
    max_work: usize,
) -> Option<f64> {
    if decomposition_work(problem) > max_work {
        return None;
    }
    for pressed in [Pressed::ByImpulse, Pressed::All] {
        let mut impulse = found.solution.impulse.clone();
        remove_defect(problem, pressed, &mut impulse);
        let candidate = found.residual_of(problem, &impulse);
        if is_rest(&candidate, tolerance) {
            found.solution.impulse = impulse;
            return Some(candidate.relative);
        }
    }
    None
}

/// The residual of the impulses that are there, of bodies that were at rest under nearly the same ones, where
/// that is within what their rounding leaves: a solve would not find better ones, and would look for long.
pub(super) fn rest_as_before(
    problem: &ContactProblem,
    found: &mut CheckedSolution,
    tolerance: f64,
) -> Option<f64> {
    let impulse = std::mem::take(&mut found.solution.impulse);
    let candidate = found.residual_of(problem, &impulse);
    found.solution.impulse = impulse;
    is_rest(&candidate, tolerance).then_some(candidate.relative)
}

/// Whether a residual of contacts that stick is within the tolerance, or within what rounding leaves.
fn is_rest(candidate: &RelativeResidual, tolerance: f64) -> bool {
    candidate.relative <= tolerance.max((ROUNDINGS * candidate.rounding).min(MAX_ROUNDING_RESIDUAL))
}

/// About the multiplications of a decomposition of M^(−½)H.
fn decomposition_work(problem: &ContactProblem) -> usize {
    let rows = problem.rows();
    let short = match &problem.form {
        Form::Global { mass, .. } => rows.min(mass.rows()),
        Form::Local { .. } => rows,
    };
    rows * short * short
}

/// Which contacts press.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Pressed {
    /// Those that have an impulse.
    ByImpulse,
    All,
}

/// Takes away what a solve left of u = 0 on the rows that press, for r that shall let them rest.
///
/// ```text
/// r ← P_K(r) − W⁺ u
/// ```
///
/// W⁺ takes the least change: where several contacts share a load, methods stall above the tolerance, while
/// the equations alone are solved to rounding. With A = M^(−½)H, W = AᵀA: from the singular vectors of A,
/// whose singular values differ by as many orders of magnitude only as the roots of masses do.
pub(super) fn remove_defect(problem: &ContactProblem, pressed: Pressed, r: &mut [f64]) {
    let Form::Global { mass, jacobian_transposed, force, bias } = &problem.form else { return };
    let first = row_offsets(&problem.laws);
    let pressed = |(law, at): &(&Law, &usize)| law.is_bilateral() || pressed == Pressed::All || r[**at] > 0.0;
    let active: Vec<(Law, usize)> =
        problem.laws.iter().zip(&first).filter(pressed).map(|(law, at)| (*law, *at)).collect();
    let rows: Vec<usize> = active.iter().flat_map(|(law, at)| *at..at + law.dim()).collect();
    if decomposition_work(problem) > MAX_DEFECT_WORK || active.iter().any(|(law, _)| law.dim() > 3) {
        return;
    }
    let h = jacobian_transposed.to_dense();
    let masses: Vec<f64> = mass.triplets().filter(|(i, j, _)| i == j).map(|(_, _, m)| m).collect();
    let a = Matrix::from_fn(masses.len(), rows.len(), |i, j| h[(i, rows[j])] / masses[i].sqrt());
    // A singular value of W that is rounding is the square of one of A.
    let (singular, vectors) = a.right_vectors(rank_tolerance(rows.len(), rows.len()).sqrt());
    let affordable = MAX_PROJECTED_ENTRIES / (masses.len() * r.len()).max(1);
    for k in 0..affordable.clamp(MIN_PROJECTIONS, MAX_PROJECTIONS) {
        let mut moved = 0.0_f64;
        for (law, at) in active.iter().filter(|(law, _)| !law.is_bilateral()) {
            moved = moved.max(project(law.mu(), &mut r[*at..at + law.dim()]));
        }
        if k >= MIN_PROJECTIONS && moved <= PROJECTION_ROUNDING * r.iter().fold(0.0, |m, x| x.abs().max(m)) {
            break;
        }
        let v: Vec<f64> = (0..masses.len())
            .map(|i| (force[i] + (0..r.len()).map(|j| h[(i, j)] * r[j]).sum::<f64>()) / masses[i])
            .collect();
        let u: Vec<f64> = rows
            .iter()
            .map(|&j| bias[j] + v.iter().enumerate().map(|(i, v)| h[(i, j)] * v).sum::<f64>())
            .collect();
        let mut along = vectors.tr_mul_vec(&u);
        along.iter_mut().zip(&singular).for_each(|(x, s)| *x /= s * s);
        rows.iter().zip(vectors.mul_vec(&along)).for_each(|(&j, change)| r[j] -= change);
    }
}

/// The nearest point of the cone ‖r_t‖ ≤ μ r_n. Not that of the residual, which shares no line with what it
/// checks. How far it is, in the normal.
fn project(mu: f64, r: &mut [f64]) -> f64 {
    let friction = r[1..].iter().map(|x| x * x).sum::<f64>().sqrt();
    // Without friction μ r_n is −0 for every r_n < 0: the sign is asked for itself.
    if r[0] >= 0.0 && friction <= mu * r[0] {
        return 0.0;
    }
    let before = r[0];
    let normal = ((r[0] + mu * friction) / (1.0 + mu * mu)).max(0.0);
    let factor = if friction > 0.0 { mu * normal / friction } else { 0.0 };
    r[0] = normal;
    r[1..].iter_mut().for_each(|x| *x *= factor);
    (normal - before).abs().max((1.0 - factor) * friction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_point_of_a_cone_is_at_a_right_angle_to_what_was_cut() {
        let outside = [1.0, 3.0, 4.0];
        let mut r = outside;
        project(0.5, &mut r);
        let cut: Vec<f64> = outside.iter().zip(&r).map(|(a, b)| a - b).collect();
        assert!((r[1].hypot(r[2]) - 0.5 * r[0]).abs() < 1e-15 && r[0] > 0.0);
        assert!(cut.iter().zip(&r).map(|(a, b)| a * b).sum::<f64>().abs() < 1e-14);
        let (mut inside, mut polar) = ([2.0, 0.6, 0.8], [-8.0, 3.0, 0.0]);
        project(0.5, &mut inside);
        project(0.5, &mut polar);
        assert_eq!((inside, polar), ([2.0, 0.6, 0.8], [0.0; 3]));
        let mut pulled = [-2.0];
        project(0.0, &mut pulled);
        assert_eq!(pulled, [0.0]);
    }
}
