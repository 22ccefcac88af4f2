//! Which other forces go with the motion of a step as well as its mean forces do.
//!
//! ```text
//! H r' = H r ,   r' in the laws ,   r = Σ of the impulses of the step
//! ```
//!
//! H are the columns of joints and contacts at the end of the step, r ∈ Rᵐ. A contact that slides there keeps
//! the direction of its friction, one that sticks may have any force in its cone. Forces of springs, dampers,
//! rotors and drives follow from the motion and stay. Bodies that impulses connect are examined together,
//! group by group.

use std::collections::BTreeMap;

use delassus_solve::analysis::ImpulseRange;
use delassus_solve::linalg::{UnionFind, norm};
use delassus_solve::problem::Law;
use glam::DVec3;

use super::super::Stepper;
use super::super::report::Uniqueness;
use super::instant::{Constraint, Instant};
use crate::world::{FIXED_SLOT, RowKind};

/// Rows of joints and contacts up to which a group is examined: beyond, its cone programs take too long for
/// what is read between steps.
const MAX_GROUP_ROWS: usize = 60;
/// Impulses below this part of the largest are rounding.
const NO_IMPULSE: f64 = 1e-9;
/// Slip below this part of that of the fastest contact is none.
const REST_SLIP_RATIO: f64 = 1e-6;
/// A contact that slides has friction of this part of its cone at least: where its slip turned within the
/// step, the sum is a little shorter than its parts. With less it also stuck.
const SLIDING_PART: f64 = 1.0 - 1e-3;

/// Part of its cone by which friction may be beyond it by rounding.
const CONE_MARGIN: f64 = 1e-6;

/// Joints and contacts of bodies that impulses connect.
#[derive(Default)]
struct Group {
    rows: Vec<usize>,
    contacts: Vec<usize>,
    /// Whether a contact changed its mode or a row has a bound on its force: no intervals.
    no_intervals: bool,
}

/// The impulse of a contact over the step, in its rows, and the direction in which it slides at the end.
struct ContactUse {
    impulse: Vec<f64>,
    slip: Option<Vec<f64>>,
    /// It stuck in a part of the step and slid in another, or its friction is static.
    changed: bool,
}

impl Stepper {
    /// Whether mean forces of the last step are unique, per contact: the normal force and the friction of
    /// each are given, as [`Stepper::contact_forces`] returns them.
    pub fn mean_force_uniqueness(&self, forces: &[(f64, DVec3)]) -> Vec<Uniqueness> {
        let mut found = vec![Uniqueness::Unique; self.contacts().len()];
        let mut velocity = vec![];
        self.model.masses.gather_velocities(&self.state.bodies, &mut velocity);
        let uses = self.contact_uses(forces, &velocity);
        for group in self.groups(&uses).into_values() {
            let answers = self.group_uniqueness(&group, &uses);
            group.contacts.iter().zip(answers).for_each(|(&i, answer)| found[i] = answer);
        }
        found
    }

    /// What each contact did; `None` for those that are open.
    fn contact_uses(&self, forces: &[(f64, DVec3)], velocity: &[f64]) -> Vec<Option<ContactUse>> {
        let (h, on) = (self.model.options.dt, &self.linearization);
        let rows = on.contact_rows();
        let slip = |i: usize| match rows[i].law.dim() {
            0..=2 => vec![],
            _ => vec![rows[i].velocity(1, velocity), rows[i].velocity(2, velocity)],
        };
        let largest = forces.iter().map(|(normal, _)| *normal).fold(0.0, f64::max);
        let loaded = |i: usize| forces[i].0 > NO_IMPULSE * largest;
        let fastest = (0..rows.len()).filter(|&i| loaded(i)).map(|i| norm(&slip(i))).fold(0.0, f64::max);
        let rest = (REST_SLIP_RATIO * fastest).max(self.model.stick_speed());
        let of_contact = |i: usize| {
            let closed = on.contacts()[i].gap <= self.model.touching();
            let pressed = loaded(i) || closed && rows[i].velocity(0, velocity) <= rest;
            if !pressed {
                return None;
            }
            let (normal, friction) = forces[i];
            let mut impulse = vec![h * normal];
            // Tangents are as long as the scales of their rows.
            let along = |t: DVec3| h * friction.dot(t) / t.length_squared().max(f64::MIN_POSITIVE);
            impulse.extend(rows[i].tangents.map(along));
            impulse.extend_from_slice(&self.impulses.contacts[i][3..]);
            impulse.truncate(rows[i].law.dim());
            let (slip, most) = (slip(i), rows[i].law.mu() * impulse[0]);
            let slides = norm(&slip) > rest;
            let used = norm(&impulse[1..impulse.len().min(3)]);
            // Static friction is more than that of its law.
            let changed = if slides { used < SLIDING_PART * most } else { used > (1.0 + CONE_MARGIN) * most };
            // Where it carries a load, its own friction shows which way it slid.
            let slip = match used > 0.0 && most > 0.0 {
                true => impulse[1..impulse.len().min(3)].iter().map(|r| -r / used).collect(),
                false => slip.iter().map(|u| u / norm(&slip)).collect(),
            };
            Some(ContactUse { impulse, slip: slides.then_some(slip), changed })
        };
        (0..rows.len()).map(of_contact).collect()
    }

    /// The groups, by their first bodies.
    fn groups(&self, uses: &[Option<ContactUse>]) -> BTreeMap<usize, Group> {
        let (on, masses) = (&self.linearization, &self.model.masses);
        let rows = on.joint_rows();
        let mut sets = UnionFind::new(masses.mass.len() / 6);
        let mut members: Vec<(usize, bool, usize, bool)> = vec![];
        let mut add = |slots: &mut dyn Iterator<Item = u32>, contact: bool, i: usize, other: bool| {
            let mut slots = slots.filter(|slot| *slot != FIXED_SLOT).map(|slot| slot as usize);
            let Some(first) = slots.next() else { return };
            slots.for_each(|slot| {
                sets.join(first, slot);
            });
            members.push((first, contact, i, other));
        };
        for (i, row) in rows.rows.iter().enumerate() {
            let bounded = matches!(row.kind, RowKind::Bounded { .. });
            let may_change = match row.kind {
                RowKind::Bilateral | RowKind::Bounded { .. } => true,
                RowKind::Limit { .. } => self.impulses.rows[i] != 0.0 || row.value <= self.model.touching(),
                RowKind::Applied { .. }
                | RowKind::Spring { .. }
                | RowKind::Servo { .. }
                | RowKind::Armature { .. } => false,
            };
            if may_change {
                let slots = rows.blocks_of(row).iter().map(|(body, _)| masses.slot[*body as usize]);
                add(&mut { slots }, false, i, bounded);
            }
        }
        for (i, used) in uses.iter().enumerate() {
            if let Some(used) = used {
                add(&mut on.contact_rows()[i].slots.into_iter(), true, i, used.changed);
            }
        }
        let mut groups: BTreeMap<usize, Group> = BTreeMap::new();
        for (slot, contact, i, other) in members {
            let group = groups.entry(sets.root(slot)).or_default();
            if contact { &mut group.contacts } else { &mut group.rows }.push(i);
            group.no_intervals |= other;
        }
        groups
    }

    /// Whether the forces of a group are unique, per contact.
    fn group_uniqueness(&self, group: &Group, uses: &[Option<ContactUse>]) -> Vec<Uniqueness> {
        let unknown = vec![Uniqueness::Unknown; group.contacts.len()];
        let laws = self.linearization.contact_rows();
        let rows = group.rows.len() + group.contacts.iter().map(|&i| laws[i].law.dim()).sum::<usize>();
        if group.contacts.is_empty() || rows > MAX_GROUP_ROWS {
            return unknown;
        }
        let instant = self.instant_of(group, uses);
        if instant.is_independent() {
            return vec![Uniqueness::Unique; group.contacts.len()];
        }
        if group.no_intervals {
            return unknown;
        }
        let h = self.model.options.dt;
        match instant.ranges() {
            Ok(ImpulseRange::Unique) => vec![Uniqueness::Unique; group.contacts.len()],
            Ok(ImpulseRange::Ranges { normal, .. }) => {
                // A contact cannot pull, whatever rounding gives.
                let interval = |[least, largest]: &[f64; 2]| Uniqueness::Interval {
                    least: least.max(0.0) / h,
                    largest: largest.max(0.0) / h,
                };
                normal[instant.first_contact()..].iter().map(interval).collect()
            }
            Ok(ImpulseRange::Unknown) | Err(_) => unknown,
        }
    }

    /// The impulses of a group, as those of a problem whose velocities are zero but for the slips.
    fn instant_of(&self, group: &Group, uses: &[Option<ContactUse>]) -> Instant {
        let (on, masses) = (&self.linearization, &self.model.masses);
        let rows = on.joint_rows();
        let row_slots =
            |i: usize| rows.blocks_of(&rows.rows[i]).iter().map(|(b, _)| masses.slot[*b as usize]);
        let mut slots: Vec<u32> = group.rows.iter().flat_map(|&i| row_slots(i)).collect();
        slots.extend(group.contacts.iter().flat_map(|&i| on.contact_rows()[i].slots));
        slots.retain(|slot| *slot != FIXED_SLOT);
        slots.sort_unstable();
        slots.dedup();
        let put = |column: &mut [f64], slot: u32, block: &[f64; 6]| {
            if let Ok(place) = slots.binary_search(&slot) {
                column[6 * place..6 * place + 6].iter_mut().zip(block).for_each(|(x, b)| *x += b);
            }
        };
        let joints = group.rows.iter().map(|&i| {
            let mut column = vec![0.0; 6 * slots.len()];
            for (body, block) in rows.blocks_of(&rows.rows[i]) {
                put(&mut column, masses.slot[*body as usize], block);
            }
            let limit = matches!(rows.rows[i].kind, RowKind::Limit { .. });
            let law = if limit { Law::Unilateral } else { Law::Bilateral };
            Constraint { law, columns: vec![column], bias: vec![0.0], impulse: vec![self.impulses.rows[i]] }
        });
        let used = |i: usize| uses[i].as_ref();
        let contacts =
            group.contacts.iter().filter_map(|&i| used(i).map(|used| (i, used))).map(|(i, used)| {
                let contact = &on.contact_rows()[i];
                let column = |k: usize| {
                    let mut column = vec![0.0; 6 * slots.len()];
                    contact.slots.iter().zip(&contact.blocks).for_each(|(s, b)| put(&mut column, *s, &b[k]));
                    column
                };
                let mut bias = vec![0.0; contact.law.dim()];
                used.slip.iter().for_each(|slip| bias[1..].iter_mut().zip(slip).for_each(|(b, u)| *b = *u));
                let columns = (0..contact.law.dim()).map(column).collect();
                Constraint { law: contact.law, columns, bias, impulse: used.impulse.clone() }
            });
        Instant::at_rest(self, &slots, joints.collect(), contacts.collect(), &group.contacts)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::options::StepOptions;
    use super::super::super::test_worlds::on_a_floor;
    use super::*;
    use crate::world::ShapeKind;

    fn uniqueness(kind: ShapeKind, height: f64) -> Vec<Uniqueness> {
        let (world, state) = on_a_floor(kind, height, [0.5, 0.0]);
        let mut stepper = Stepper::new(world, state, StepOptions::default()).unwrap();
        stepper.step().unwrap();
        let forces: Vec<(f64, DVec3)> = stepper.contact_forces().map(|(_, n, t)| (n, t)).collect();
        stepper.mean_force_uniqueness(&forces)
    }

    #[test]
    fn one_point_carries_its_weight_and_four_share_it_within_intervals() {
        assert_eq!(uniqueness(ShapeKind::Sphere { radius: 0.1 }, 0.1), [Uniqueness::Unique]);
        let corners = uniqueness(ShapeKind::Box { half_extents: DVec3::splat(0.1) }, 0.1);
        assert_eq!(corners.len(), 4);
        for corner in corners {
            let Uniqueness::Interval { least, largest } = corner else { panic!("{corner:?}") };
            // Nothing to half of the weight, to the precision of a cone program.
            assert!(least.abs() < 1e-4 && (largest - 0.5 * 9.81).abs() < 1e-4, "{least} {largest}");
        }
    }
}
