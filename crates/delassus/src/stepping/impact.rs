//! Impact laws other than Moreau's in a time step.
//!
//! ```text
//! M (v⁺ − v⁻) = Jᵀ p ,     (p, J v⁻, J v⁺) obeys the impact law
//! ```
//!
//! Moreau's law, 0 ≤ u_n + e u_n⁻ ⊥ r_n ≥ 0, is part of the velocity-level solve. The other laws need the
//! velocities just before and just after the impact, so the substep that ends in one is split: v⁻ contains
//! weight and joint reactions but no impulses of the colliding contacts, and v⁺ is computed by a dense solve
//! for each group of touching or jointed bodies that is hit (001 §6). Bounded and applied joint forces,
//! rolling and spinning friction contribute no percussion.

use delassus_solve::impact::{ImpactContact, ImpactLaw, ImpactProblem, ImpactResult, resolve_impact};
use delassus_solve::linalg::{Matrix, UnionFind};
use delassus_solve::problem::{Law, Status};

use super::linearization::Linearization;
use super::model::Model;
use super::row_targets::{RowTarget, RowTargets};
use super::warm_start::{Impulses, Keyed, add_impulses};
use crate::collision::MAX_CONTACT_ROWS;
use crate::world::{FIXED_SLOT, RowKind};

/// What an impact changes of the second half of a substep.
pub(super) struct ImpactState<'a> {
    /// Targets of the solve that follows: contacts that were hit are at rest after it.
    pub(super) targets: &'a mut RowTargets,
    pub(super) velocity: &'a mut [f64],
    /// Impulses of the first half, from which the solve that follows starts.
    pub(super) impulses: &'a mut Impulses,
    /// Impulses of the substep so far: contacts by key, rows of joints.
    pub(super) contact_sum: &'a mut Vec<Keyed>,
    pub(super) row_sum: &'a mut [f64],
}

/// Bodies that touch or are jointed, and what is between them.
#[derive(Default)]
struct Group {
    slots: Vec<usize>,
    /// Bilateral rows of joints, and limits that are reached.
    rows: Vec<usize>,
    limits: Vec<usize>,
    /// Rows of rotors, which turn with their joints in the impact too.
    rotors: Vec<usize>,
    contacts: Vec<usize>,
}

/// Applies a law of impact that is not in the solve to the contacts that rebound; the targets of the solve
/// that follows are then those of contacts at rest. Where the law has no outcome, they stay, and the status
/// is `Stalled`.
pub(super) fn apply_impact_law(model: &Model, on: &Linearization, mut state: ImpactState<'_>) -> Status {
    let mut status = Status::Solved;
    let Some(law) = model.options.impact_law.apart() else { return status };
    if !state.targets.any_rebound() {
        return status;
    }
    let setting = Setting { model, on };
    for group in setting.groups(state.targets) {
        let hit: Vec<bool> = group.contacts.iter().map(|&i| state.targets.rebounds(i)).collect();
        if !hit.contains(&true) {
            continue;
        }
        match setting.resolve(&group, &hit, &law, &state) {
            Some(outcome) => setting.take(&group, &outcome, &mut state),
            // Not solved, for whatever reason: no proof that there is no outcome.
            None => status = Status::Stalled,
        }
    }
    status
}

/// Velocities before the impact and after it, both with the percussions that lead there.
struct Outcome {
    before: ImpactResult,
    after: ImpactResult,
}

impl Outcome {
    /// The sum over both of a percussion.
    fn sum(&self, of: impl Fn(&ImpactResult) -> f64) -> f64 {
        [&self.before, &self.after].into_iter().map(of).sum()
    }
}

/// Where impacts happen.
struct Setting<'a> {
    model: &'a Model,
    on: &'a Linearization,
}

impl Setting<'_> {
    /// Groups of bodies that move, connected by joints and by contacts that touch.
    fn groups(&self, targets: &RowTargets) -> Vec<Group> {
        let (rows_of_joints, masses) = (self.on.joint_rows(), &self.model.masses);
        let bodies = masses.mass.len() / 6;
        let mut sets = UnionFind::new(bodies);
        let slots_of_row = |i: usize| {
            let blocks = rows_of_joints.blocks_of(&rows_of_joints.rows[i]);
            blocks.iter().map(|(body, _)| masses.slot[*body as usize] as usize)
        };
        let slots_of_contact = |i: usize| {
            self.on.contact_rows()[i]
                .slots
                .into_iter()
                .filter(|slot| *slot != FIXED_SLOT)
                .map(|slot| slot as usize)
        };
        let mut join = |slots: Vec<usize>| {
            for pair in slots.windows(2) {
                sets.join(pair[0], pair[1]);
            }
        };
        let carries = |i: usize| match rows_of_joints.rows[i].kind {
            RowKind::Bilateral | RowKind::Limit { .. } => {
                matches!(targets.joints[i], RowTarget::Velocity { .. })
            }
            RowKind::Armature { .. } => true,
            RowKind::Bounded { .. }
            | RowKind::Spring { .. }
            | RowKind::Servo { .. }
            | RowKind::Applied { .. } => false,
        };
        let rows: Vec<usize> = (0..rows_of_joints.rows.len()).filter(|&i| carries(i)).collect();
        let touching: Vec<usize> =
            (0..self.on.contacts().len()).filter(|&i| targets.normal_bias[i].is_some()).collect();
        rows.iter().for_each(|&i| join(slots_of_row(i).collect()));
        touching.iter().for_each(|&i| join(slots_of_contact(i).collect()));
        let mut groups: Vec<Group> = vec![];
        groups.resize_with(bodies, Group::default);
        (0..bodies).for_each(|slot| groups[sets.root(slot)].slots.push(slot));
        for i in rows {
            if let Some(slot) = slots_of_row(i).next() {
                let group = &mut groups[sets.root(slot)];
                match rows_of_joints.rows[i].kind {
                    RowKind::Limit { .. } => group.limits.push(i),
                    RowKind::Armature { .. } => group.rotors.push(i),
                    _ => group.rows.push(i),
                }
            }
        }
        for i in touching {
            if let Some(slot) = slots_of_contact(i).next() {
                groups[sets.root(slot)].contacts.push(i);
            }
        }
        groups
    }

    /// First the velocities before the impact, then those after it: both with their percussions.
    fn resolve(
        &self,
        group: &Group,
        hit: &[bool],
        law: &ImpactLaw,
        state: &ImpactState<'_>,
    ) -> Option<Outcome> {
        let (rows, masses) = (self.on.joint_rows(), &self.model.masses);
        let mut v = state.velocity.to_vec();
        for &i in &group.contacts {
            // The impulses of the first half; what of them carries weight is found again below.
            let back = state.impulses.contacts[i].map(|r| -r);
            self.on.contact_rows()[i].apply_impulse(&back, &masses.inverse, &mut v);
        }
        let velocity = group.slots.iter().flat_map(|&s| &v[6 * s..6 * s + 6]).copied().collect();
        let contacts = self.impact_contacts(group);
        let joints: Vec<Vec<f64>> = group.rows.iter().map(|&i| self.dense_row(group, i)).collect();
        let mass = group.slots.iter().flat_map(|&slot| &masses.mass[6 * slot..6 * slot + 6]);
        let mass: Vec<f64> = mass.copied().collect();
        let (mass, velocity) = self.with_rotors(group, state.targets, &mass, velocity)?;
        let n = mass.rows();
        let mut problem = ImpactProblem {
            mass,
            joints: Matrix::from_fn(joints.len(), n, |i, j| joints[i][j]),
            joint_drift: group.rows.iter().map(|&i| rows.rows[i].rate).collect(),
            // Whoever is not hit is at rest.
            contacts: (contacts.iter().enumerate())
                .filter(|(k, _)| hit.get(*k) != Some(&true))
                .map(|(_, contact)| ImpactContact { restitution: 0.0, ..contact.clone() })
                .collect(),
            velocity,
            external: vec![],
        };
        let mut before =
            resolve_impact(&problem, &ImpactLaw::Moreau).ok().filter(ImpactResult::is_acceptable)?;
        let mut resting = before.contact_impulses.into_iter();
        before.contact_impulses = (contacts.iter().enumerate())
            .map(|(k, contact)| match hit.get(k) {
                Some(true) => vec![0.0; 1 + contact.tangents.len()],
                _ => resting.next().unwrap_or_default(),
            })
            .collect();
        problem.contacts = contacts;
        problem.velocity.clone_from(&before.velocity);
        let after = resolve_impact(&problem, law).ok().filter(ImpactResult::is_acceptable)?;
        Some(Outcome { before, after })
    }

    /// M + Σ a nᵀn, and the velocities v' with which (M + Σ a nᵀn) v' = M v + Σ a nᵀ u½: the rotors of a
    /// group, which had the velocities u½ in the middle of the substep.
    fn with_rotors(
        &self,
        group: &Group,
        targets: &RowTargets,
        mass: &[f64],
        velocity: Vec<f64>,
    ) -> Option<(Matrix, Vec<f64>)> {
        let mut with = Matrix::diagonal(mass);
        if group.rotors.is_empty() {
            return Some((with, velocity));
        }
        let mut momentum: Vec<f64> = mass.iter().zip(&velocity).map(|(m, v)| m * v).collect();
        for &i in &group.rotors {
            let RowTarget::Compliant { bias, compliance } = targets.joints[i] else { continue };
            let (n, inertia) = (self.dense_row(group, i), 1.0 / compliance);
            for (j, x) in n.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                momentum[j] -= inertia * bias * x;
                n.iter().enumerate().for_each(|(k, y)| with[(j, k)] += inertia * x * y);
            }
        }
        let velocity = with.solve(&momentum)?;
        Some((with, velocity))
    }

    /// The contacts of a group, and behind them its limits.
    fn impact_contacts(&self, group: &Group) -> Vec<ImpactContact> {
        let contacts = group.contacts.iter().map(|&i| {
            let rows = &self.on.contact_rows()[i];
            let all: Vec<Vec<f64>> =
                (0..rows.law.dim().min(3)).map(|k| self.dense_contact_row(group, i, k)).collect();
            ImpactContact {
                normal: all[0].clone(),
                slip_drift: vec![0.0; all.len() - 1],
                tangents: all[1..].to_vec(),
                friction: if rows.law == Law::Unilateral { 0.0 } else { rows.law.mu() },
                restitution: self.on.restitution()[i],
                ..ImpactContact::default()
            }
        });
        let limits = group.limits.iter().map(|&i| {
            let row = &self.on.joint_rows().rows[i];
            let restitution = if let RowKind::Limit { restitution } = row.kind { restitution } else { 0.0 };
            ImpactContact {
                normal: self.dense_row(group, i),
                normal_drift: row.rate,
                restitution,
                ..ImpactContact::default()
            }
        });
        contacts.chain(limits).collect()
    }

    /// Where the entries of a body stand among those of its group.
    fn place(group: &Group, slot: u32) -> usize {
        6 * group.slots.binary_search(&(slot as usize)).unwrap_or(0)
    }

    /// A row of a joint over the bodies of its group.
    fn dense_row(&self, group: &Group, i: usize) -> Vec<f64> {
        let rows = self.on.joint_rows();
        let mut dense = vec![0.0; 6 * group.slots.len()];
        for (body, block) in rows.blocks_of(&rows.rows[i]) {
            let at = Self::place(group, self.model.masses.slot[*body as usize]);
            dense[at..at + 6].copy_from_slice(block);
        }
        dense
    }

    /// Row k of a contact over the bodies of its group.
    fn dense_contact_row(&self, group: &Group, i: usize, k: usize) -> Vec<f64> {
        let rows = &self.on.contact_rows()[i];
        let mut dense = vec![0.0; 6 * group.slots.len()];
        for side in (0..2).filter(|side| rows.slots[*side] != FIXED_SLOT) {
            let at = Self::place(group, rows.slots[side]);
            dense[at..at + 6].copy_from_slice(&rows.blocks[side][k]);
        }
        dense
    }

    /// Takes the velocities after an impact, its percussions, and the targets of contacts at rest.
    fn take(&self, group: &Group, outcome: &Outcome, state: &mut ImpactState<'_>) {
        let ImpactState { targets, velocity, impulses, contact_sum, row_sum } = state;
        let after = &outcome.after.velocity;
        for (k, &slot) in group.slots.iter().enumerate() {
            velocity[6 * slot..6 * slot + 6].copy_from_slice(&after[6 * k..6 * k + 6]);
        }
        for (k, &i) in group.contacts.iter().enumerate() {
            let mut gained = impulses.contacts[i].map(|r| -r);
            for result in [&outcome.before, &outcome.after] {
                result.contact_impulses[k].iter().zip(&mut gained).for_each(|(p, r)| *r += p);
            }
            add_impulses(contact_sum, &self.on.contacts()[i..=i], &[gained]);
            targets.normal_bias[i] = Some(0.0);
            impulses.contacts[i] = [0.0; MAX_CONTACT_ROWS];
        }
        let mut add_to_row = |i: usize, gained: f64| {
            if let Some(r) = row_sum.get_mut(i) {
                *r += gained;
            }
            impulses.rows[i] = 0.0;
        };
        for (k, &i) in group.rows.iter().enumerate() {
            add_to_row(i, outcome.sum(|result| result.joint_impulses[k]));
        }
        for &i in &group.rotors {
            let RowTarget::Compliant { bias, compliance } = &mut targets.joints[i] else { continue };
            let n = self.dense_row(group, i);
            let u: f64 = n.iter().zip(after).map(|(n, v)| n * v).sum();
            add_to_row(i, -(u + *bias) / *compliance);
            *bias = -u;
        }
        for (k, &i) in group.limits.iter().enumerate() {
            add_to_row(i, outcome.sum(|result| result.contact_impulses[group.contacts.len() + k][0]));
            targets.joints[i] = RowTarget::Velocity { bias: self.on.joint_rows().rows[i].rate };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::model::fixtures::*;
    use super::super::options::{StepImpactLaw, StepOptions};
    use super::*;
    use crate::world::{ShapeKind, Surface};
    use glam::DVec3;

    /// Velocities along x of a row of three equal balls that touch, after the first hits the two at rest with
    /// speed 1.
    fn three_balls(law: StepImpactLaw, e: f64) -> (Status, Vec<f64>, Vec<Option<f64>>) {
        let (mut world, mut state) = ball_on_floor(Surface { restitution: e, ..smooth() }, 1.0, DVec3::ZERO);
        let centre = state.bodies[1].pose.position;
        for i in 1..3 {
            world.bodies.push(body(&format!("ball{i}"), false, ShapeKind::Sphere { radius: RADIUS }));
            state.bodies.push(at(centre + 2.0 * RADIUS * f64::from(i) * DVec3::X, DVec3::ZERO));
        }
        state.bodies[1].velocity = DVec3::X;
        let options = StepOptions { impact_law: law, ..StepOptions::default() };
        let (model, on) = linearized(world, &mut state, options, 1e-6);
        assert_eq!(on.contacts().len(), 2);
        let mut velocity = vec![];
        model.masses.gather_velocities(&state.bodies, &mut velocity);
        let bias = |i: usize| Some(e * on.contact_rows()[i].velocity(0, &velocity).min(0.0));
        let mut targets =
            RowTargets { joints: vec![], normal_bias: (0..2).map(bias).collect(), slip_bias: vec![] };
        let mut impulses = Impulses { rows: vec![], contacts: vec![[0.0; MAX_CONTACT_ROWS]; 2] };
        let impact = ImpactState {
            targets: &mut targets,
            velocity: &mut velocity,
            impulses: &mut impulses,
            contact_sum: &mut vec![],
            row_sum: &mut [],
        };
        let status = apply_impact_law(&model, &on, impact);
        (status, velocity.chunks(6).map(|v| v[0]).collect(), targets.normal_bias)
    }

    #[test]
    fn the_law_in_the_solve_is_left_to_the_solve() {
        let (status, v, bias) = three_balls(StepImpactLaw::Moreau, 1.0);
        assert_eq!((status, v), (Status::Solved, vec![1.0, 0.0, 0.0]));
        assert!(bias.contains(&Some(-1.0)));
    }

    #[test]
    fn energy_travels_through_the_row_by_the_law_of_sequence() {
        let (status, v, bias) = three_balls(StepImpactLaw::Sequence, 1.0);
        // Equal masses swap velocities, one contact after the other.
        assert_eq!(status, Status::Solved);
        assert!(v.iter().zip([0.0, 0.0, 1.0]).all(|(a, b)| (a - b).abs() < 1e-9), "{v:?}");
        assert_eq!(bias, [Some(0.0), Some(0.0)]);
    }

    #[test]
    fn newtons_law_sends_the_contact_that_is_hit_back_with_its_restitution() {
        let (status, v, _) = three_balls(StepImpactLaw::Newton, 0.5);
        assert_eq!(status, Status::Solved);
        // u₁⁺ = −e u₁⁻ = ½, u₂⁺ = 0 and the momentum 1: v₁ + 2 (v₁ + ½) = 1.
        assert!(v.iter().zip([0.0, 0.5, 0.5]).all(|(a, b)| (a - b).abs() < 1e-9), "{v:?}");
    }
}
