//! Impacts of a time step by the laws of impact.
//!
//! ```text
//! M (v⁺ − v⁻) = Jᵀ p ,     (p, J v⁻, J v⁺) in the law of impact
//! ```
//!
//! The solve of a step has Moreau's law in it, 0 ≤ u_n + e u_n⁻ ⊥ r_n ≥ 0. Any other law works on velocities that jump, so the part
//! of a step that ends in a strike goes in two: v⁻ are the velocities with weight and joints carried but without the impulses
//! of the struck contacts, and v⁺ follows for every group of touching and jointed bodies that is struck (001 §6), dense and
//! group by group. What is bounded or given as a force has no percussion; nor has rolling friction.

use delassus_solve::impact::{
    ImpactContact, ImpactLaw, ImpactProblem, ImpactResult, ImpactStatus, resolve_impact,
};
use delassus_solve::linalg::Matrix;
use delassus_solve::problem::{Law, Status};

use super::Stepper;
use super::report::StepReport;
use super::substep::Room;
use super::velocity_solve::{NONE, WIDE, Want};
use super::warm_start::add_impulses;
use crate::world::RowKind;

/// The law of impact of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepImpactLaw {
    /// Moreau's, in the solve of the step itself.
    #[default]
    Moreau,
    /// Newton's.
    Newton,
    /// Poisson's.
    Poisson,
    /// The energetic one, contact after contact, the fastest first.
    Sequence,
}

impl StepImpactLaw {
    /// The law where it is not in the solve.
    fn apart(self) -> Option<ImpactLaw> {
        match self {
            StepImpactLaw::Moreau => None,
            StepImpactLaw::Newton => Some(ImpactLaw::Newton),
            StepImpactLaw::Poisson => Some(ImpactLaw::Poisson),
            StepImpactLaw::Sequence => Some(ImpactLaw::Sequence),
        }
    }
}

/// Bodies that touch or are jointed, and what is between them.
#[derive(Default)]
struct Group {
    slots: Vec<usize>,
    /// Rows of joints that are held, and limits that are reached.
    rows: Vec<usize>,
    limits: Vec<usize>,
    contacts: Vec<usize>,
}

impl Stepper {
    /// Strikes the contacts that rebound, by a law of its own; the wants of the solve that follows are then those of contacts at
    /// rest. Where the law has no outcome, they stay, and the step counts as not solved.
    pub(super) fn strike(&mut self, room: &mut Room, report: &mut StepReport) {
        let Some(law) = self.options.impact_law.apart() else { return };
        let rebounds = |bias: &Option<f64>| bias.is_some_and(|b| b < 0.0);
        if !self.stage.normal_bias.iter().any(rebounds) {
            return;
        }
        for group in self.groups() {
            if !group.contacts.iter().any(|&i| rebounds(&self.stage.normal_bias[i])) {
                continue;
            }
            let struck: Vec<bool> =
                group.contacts.iter().map(|&i| rebounds(&self.stage.normal_bias[i])).collect();
            match self.outcome(&group, &struck, &law, &room.velocity) {
                Some(found) => self.take(&group, &found, room),
                None if report.status == Status::Solved => report.status = Status::NoSolution,
                None => {}
            }
        }
    }

    /// Groups of bodies that move, connected by joints and by contacts that touch.
    fn groups(&self) -> Vec<Group> {
        let bodies = self.masses.mass.len() / 6;
        let mut parent: Vec<usize> = (0..bodies).collect();
        fn root(parent: &[usize], mut i: usize) -> usize {
            while parent[i] != i {
                i = parent[i];
            }
            i
        }
        let slots_of_row = |i: usize| {
            let blocks = self.rows.blocks_of(&self.rows.rows[i]);
            blocks.iter().map(|(body, _)| self.masses.slot[*body as usize] as usize)
        };
        let slots_of_contact = |i: usize| {
            self.contact_rows[i].slots.into_iter().filter(|slot| *slot != NONE).map(|slot| slot as usize)
        };
        let mut join = |slots: Vec<usize>| {
            for pair in slots.windows(2) {
                let (a, b) = (root(&parent, pair[0]), root(&parent, pair[1]));
                parent[a.max(b)] = a.min(b);
            }
        };
        let held = |i: usize| {
            let carries = matches!(self.rows.rows[i].kind, RowKind::Held | RowKind::Limit { .. });
            carries && matches!(self.stage.wants[i], Want::Velocity { .. })
        };
        let rows: Vec<usize> = (0..self.rows.rows.len()).filter(|&i| held(i)).collect();
        let touching: Vec<usize> =
            (0..self.contacts.len()).filter(|&i| self.stage.normal_bias[i].is_some()).collect();
        rows.iter().for_each(|&i| join(slots_of_row(i).collect()));
        touching.iter().for_each(|&i| join(slots_of_contact(i).collect()));
        let mut groups: Vec<Group> = vec![];
        groups.resize_with(bodies, Group::default);
        (0..bodies).for_each(|slot| groups[root(&parent, slot)].slots.push(slot));
        for i in rows {
            if let Some(slot) = slots_of_row(i).next() {
                let group = &mut groups[root(&parent, slot)];
                match self.rows.rows[i].kind {
                    RowKind::Limit { .. } => group.limits.push(i),
                    _ => group.rows.push(i),
                }
            }
        }
        for i in touching {
            if let Some(slot) = slots_of_contact(i).next() {
                groups[root(&parent, slot)].contacts.push(i);
            }
        }
        groups
    }

    /// First the velocities before the strike, then those after it: both with their percussions.
    fn outcome(
        &self,
        group: &Group,
        struck: &[bool],
        law: &ImpactLaw,
        velocity: &[f64],
    ) -> Option<[ImpactResult; 2]> {
        let place = |slot: usize| 6 * group.slots.binary_search(&slot).unwrap_or(0);
        let n = 6 * group.slots.len();
        let mut v = velocity.to_vec();
        for &i in &group.contacts {
            // The impulses of the first half; what of them carries weight is found again below.
            let back = self.stage.contact_impulse[i].map(|r| -r);
            self.contact_rows[i].push(&back, &self.masses.inverse, &mut v);
        }
        let row_of = |i: usize| {
            let mut row = vec![0.0; n];
            for (body, block) in self.rows.blocks_of(&self.rows.rows[i]) {
                let at = place(self.masses.slot[*body as usize] as usize);
                row[at..at + 6].copy_from_slice(block);
            }
            row
        };
        let contact_of = |i: usize| {
            let rows = &self.contact_rows[i];
            let all: Vec<Vec<f64>> = (0..rows.law.dim().min(3))
                .map(|k| {
                    let mut row = vec![0.0; n];
                    for side in (0..2).filter(|side| rows.slots[*side] != NONE) {
                        let at = place(rows.slots[side] as usize);
                        row[at..at + 6].copy_from_slice(&rows.blocks[side][k]);
                    }
                    row
                })
                .collect();
            ImpactContact {
                normal: all[0].clone(),
                slip_drift: vec![0.0; all.len() - 1],
                tangents: all[1..].to_vec(),
                friction: if rows.law == Law::Unilateral { 0.0 } else { rows.law.mu() },
                restitution: self.restitution[i],
                ..ImpactContact::default()
            }
        };
        let limits = group.limits.iter().map(|&i| {
            let row = &self.rows.rows[i];
            let restitution = if let RowKind::Limit { restitution } = row.kind { restitution } else { 0.0 };
            ImpactContact {
                normal: row_of(i),
                normal_drift: row.rate,
                restitution,
                ..ImpactContact::default()
            }
        });
        let contacts: Vec<ImpactContact> =
            group.contacts.iter().map(|&i| contact_of(i)).chain(limits).collect();
        let rows: Vec<Vec<f64>> = group.rows.iter().map(|&i| row_of(i)).collect();
        let mass = group.slots.iter().flat_map(|&slot| &self.masses.mass[6 * slot..6 * slot + 6]);
        let mass: Vec<f64> = mass.copied().collect();
        let mut problem = ImpactProblem {
            mass: Matrix::from_fn(n, n, |i, j| if i == j { mass[i] } else { 0.0 }),
            joints: Matrix::from_fn(rows.len(), n, |i, j| rows[i][j]),
            joint_drift: group.rows.iter().map(|&i| self.rows.rows[i].rate).collect(),
            // Whoever is not struck is at rest.
            contacts: (contacts.iter().enumerate())
                .filter(|(k, _)| struck.get(*k) != Some(&true))
                .map(|(_, contact)| ImpactContact { restitution: 0.0, ..contact.clone() })
                .collect(),
            velocity: group.slots.iter().flat_map(|&s| &v[6 * s..6 * s + 6]).copied().collect(),
            external: vec![],
        };
        let mut before = resolve_impact(&problem, &ImpactLaw::Moreau).ok().filter(is_solved)?;
        let mut resting = before.contact_impulses.into_iter();
        before.contact_impulses = (contacts.iter().enumerate())
            .map(|(k, contact)| match struck.get(k) {
                Some(true) => vec![0.0; 1 + contact.tangents.len()],
                _ => resting.next().unwrap_or_default(),
            })
            .collect();
        problem.contacts = contacts;
        problem.velocity.clone_from(&before.velocity);
        let after = resolve_impact(&problem, law).ok().filter(is_solved)?;
        Some([before, after])
    }

    /// Takes the velocities after a strike, its impulses, and the wants of contacts at rest.
    fn take(&mut self, group: &Group, found: &[ImpactResult; 2], room: &mut Room) {
        let after = &found[1].velocity;
        for (k, &slot) in group.slots.iter().enumerate() {
            room.velocity[6 * slot..6 * slot + 6].copy_from_slice(&after[6 * k..6 * k + 6]);
        }
        for (k, &i) in group.contacts.iter().enumerate() {
            let mut gained = self.stage.contact_impulse[i].map(|r| -r);
            for result in found {
                result.contact_impulses[k].iter().zip(&mut gained).for_each(|(p, r)| *r += p);
            }
            add_impulses(&mut room.part_sum, &self.contacts[i..=i], &[gained]);
            self.stage.normal_bias[i] = Some(0.0);
            self.stage.contact_impulse[i] = [0.0; WIDE];
        }
        for (k, &i) in group.rows.iter().enumerate() {
            let gained: f64 = found.iter().map(|result| result.joint_impulses[k]).sum();
            if let Some(r) = self.row_impulse.get_mut(i) {
                *r += gained;
            }
            self.stage.row_impulse[i] = 0.0;
        }
        for (k, &i) in group.limits.iter().enumerate() {
            let gained: f64 =
                found.iter().map(|result| result.contact_impulses[group.contacts.len() + k][0]).sum();
            if let Some(r) = self.row_impulse.get_mut(i) {
                *r += gained;
            }
            self.stage.wants[i] = Want::Velocity { bias: self.rows.rows[i].rate };
            self.stage.row_impulse[i] = 0.0;
        }
    }
}

fn is_solved(result: &ImpactResult) -> bool {
    result.status == ImpactStatus::Solved
        || (result.status == ImpactStatus::NotConverged && result.violations.is_empty())
}
