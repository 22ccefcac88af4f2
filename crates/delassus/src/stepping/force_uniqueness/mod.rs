//! Whether a step has other impulses that give the same motion.
//!
//! ```text
//! H z = 0 ,   z ≠ 0 ,   r + ε z in the laws for small ε > 0
//! ```
//!
//! The impulses of a bilateral row and of a contact inside its cone may change in any direction, those of a
//! sliding contact along its own ray. A contact that sticks on its cone, μ r_n = ‖r_t‖, moves into it where
//! gᵀ z > 0 with the inward normal g = (μ, −r_t/‖r_t‖). With p the projections of the g onto the null space
//! of H, such a z is the point of the convex hull of all p that is nearest to 0, unless that is 0 (Gordan);
//! then these contacts may change along their rays only. A z that is found is a proof. Bodies that impulses
//! connect are examined together, group by group.
//!
//! Which of several solutions was found must not decide. A method may leave a contact without a load that
//! others share: where nothing else is found, contacts that only touch may get impulses inside their cones.

mod motion;
mod null_vector;

use delassus_solve::linalg::UnionFind;
use delassus_solve::problem::Law;

use super::linearization::Linearization;
use super::model::Model;
use super::warm_start::Impulses;
use crate::collision::ContactRows;
use crate::world::FIXED_SLOT;
use motion::MotionScratch;

pub(super) use motion::OtherMotion;

/// Columns up to which linear dependence is sought in a group.
const MAX_GROUP_COLUMNS: usize = 40;
/// Products up to which it is sought in a step.
const MAX_STEP_WORK: usize = 4_000_000;
/// Normal impulses up to this part of the largest are none.
const NO_LOAD_RATIO: f64 = 1e-9;
/// Part of the cone by which a force inside is clear of its surface.
const CONE_MARGIN: f64 = 1e-6;
/// The friction of a contact that slides, in μ times its normal impulse, where its slip turned by up to a
/// tenth of a radian in the step.
const TURNED_RATIO: f64 = 0.999;
/// Slip below this part of what gravity gives in a step, and of the fastest contact, is none.
const REST_SLIP_RATIO: f64 = 1e-6;
/// Lengths below this part of the largest are rounding.
const ROUNDING_RATIO: f64 = 1e-9;

/// Memory of the search, kept from step to step.
#[derive(Default)]
pub(super) struct UniquenessScratch {
    groups: Groups,
    motion: MotionScratch,
    /// Velocities at the end of the step.
    pub(super) velocity: Vec<f64>,
}

/// Bodies that impulses connect, and the group among them that is examined.
#[derive(Default)]
struct Groups {
    /// Slots of bodies, joined where impulses connect them.
    sets: UnionFind,
    /// The first slot of the group, and which row or contact: bilateral rows, then contacts.
    parts: Vec<[u32; 2]>,
    /// Per body slot, its place among the bodies of the group that is examined.
    place: Vec<u32>,
    bodies: usize,
    /// Their slots.
    members: Vec<u32>,
    changes: Vec<Change>,
    /// Contacts that may change.
    contacts: Vec<u32>,
    /// H of the group by rows, then an orthonormal basis of its rows; the part p of an inward normal; z, and
    /// the shares of the normals in it.
    matrix: Vec<f64>,
    inward: Vec<f64>,
    z: Vec<f64>,
    shares: Vec<f64>,
}

/// How a row or a contact may change its impulse.
#[derive(Clone, Copy, PartialEq)]
enum Change {
    /// A bilateral row.
    Bilateral(u32),
    /// Three impulses of a contact.
    Inside(u32),
    /// Three impulses, into its cone only.
    Border(u32),
    /// One impulse, in proportion.
    Ray(u32),
    /// Three impulses of a contact that does not press, inside its cone only.
    Unloaded(u32),
    /// One impulse of a contact that does not press, in proportion.
    UnloadedRay(u32),
}

impl Change {
    fn columns(self) -> usize {
        match self {
            Change::Bilateral(_) | Change::Ray(_) | Change::UnloadedRay(_) => 1,
            Change::Inside(_) | Change::Border(_) | Change::Unloaded(_) => 3,
        }
    }

    /// Whether it leads on one side only.
    fn is_guarded(self) -> bool {
        matches!(self, Change::Border(_) | Change::Unloaded(_) | Change::UnloadedRay(_))
    }
}

/// A step whose impulses are examined.
#[derive(Clone, Copy)]
pub(super) struct UniquenessSearch<'a> {
    pub(super) model: &'a Model,
    pub(super) linearization: &'a Linearization,
    pub(super) impulses: &'a Impulses,
    /// Velocities of the bodies, slot by slot.
    pub(super) velocity: &'a [f64],
}

impl UniquenessSearch<'_> {
    /// Whether the impulses are shown to have others beside them.
    pub(super) fn finds_others(&self, scratch: &mut UniquenessScratch) -> bool {
        if self.linearization.redundant().iter().any(|&r| r) {
            return true;
        }
        // The rows of one contact are independent of each other, and so are those of a tree of joints.
        let groups = &mut scratch.groups;
        self.list_pressing(groups);
        if !self.are_independent(groups) && self.some_group_has_others(groups) {
            return true;
        }
        let pressing = groups.contacts.len();
        self.list_touching(groups);
        groups.contacts.len() > pressing
            && !self.are_independent(groups)
            && self.some_group_has_others(groups)
    }

    /// Whether there are too few rows for any of them to depend on others.
    fn are_independent(&self, groups: &Groups) -> bool {
        let (joints, tree) = (self.linearization.joint_rows(), self.linearization.tree());
        let in_tree = || tree.is_some_and(|tree| (0..joints.bilateral).all(|i| tree.holds(i)));
        match joints.rows.is_empty() {
            true => groups.contacts.len() < 2,
            false => groups.contacts.is_empty() && in_tree(),
        }
    }

    fn some_group_has_others(&self, groups: &mut Groups) -> bool {
        let rest = self.rest_slip(self.velocity);
        self.find_groups(groups);
        let mut work = 0;
        let mut from = 0;
        while from < groups.parts.len() {
            let first = groups.parts[from][0];
            let count = groups.parts[from..].iter().take_while(|part| part[0] == first).count();
            self.collect(groups, from..from + count, self.velocity, rest);
            from += count;
            let (columns, sure) = groups.columns();
            if sure > 6 * groups.bodies {
                return true;
            }
            work += 6 * groups.bodies * columns * columns;
            // Nothing that could change: a contact at its limit of rolling, by itself.
            if columns == 0 || columns > MAX_GROUP_COLUMNS || work > MAX_STEP_WORK {
                continue;
            }
            if self.has_others(groups) {
                return true;
            }
        }
        false
    }

    /// Contacts that press.
    fn active_contacts(&self) -> impl Iterator<Item = u32> {
        let no_load = self.no_load();
        let all = (0..).zip(&self.impulses.contacts);
        all.filter(move |(_, r)| r[0] > no_load).map(|(i, _)| i)
    }

    /// Normal impulses up to this are none.
    fn no_load(&self) -> f64 {
        NO_LOAD_RATIO * self.impulses.contacts.iter().map(|r| r[0]).fold(0.0, f64::max)
    }

    /// Lists contacts that press.
    fn list_pressing(&self, groups: &mut Groups) {
        groups.contacts.clear();
        groups.contacts.extend(self.active_contacts());
    }

    /// Adds those that touch without a load, and are not about to open.
    fn list_touching(&self, groups: &mut Groups) {
        let fastest = self.velocity.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let rest = self.rest_slip(self.velocity).max(ROUNDING_RATIO * fastest);
        let (no_load, touching) = (self.no_load(), self.model.touching());
        let all = self.linearization.contacts().iter().zip(self.linearization.contact_rows());
        let loads = self.impulses.contacts.iter().map(|r| r[0]);
        let rests = (0..).zip(all.zip(loads)).filter(|(_, ((contact, rows), load))| {
            *load <= no_load && contact.gap <= touching && rows.velocity(0, self.velocity) <= rest
        });
        groups.contacts.extend(rests.map(|(i, _)| i));
    }

    fn rest_slip(&self, velocity: &[f64]) -> f64 {
        let slip = |i: u32| slip_speed(&self.linearization.contact_rows()[i as usize], velocity);
        self.rest_slip_of(self.active_contacts().map(slip).fold(0.0, f64::max))
    }

    /// The slip below which a contact rests, where the fastest slips at this speed.
    fn rest_slip_of(&self, fastest: f64) -> f64 {
        REST_SLIP_RATIO * (self.model.options.dt * self.model.world.gravity.length()).max(fastest)
    }

    /// Which bodies are connected by impulses, and what connects them, group by group: joints, and the
    /// contacts that are listed.
    fn find_groups(&self, groups: &mut Groups) {
        let Groups { sets, parts, place, contacts, .. } = groups;
        sets.reset(self.model.masses.mass.len() / 6);
        place.clear();
        place.resize(sets.len(), FIXED_SLOT);
        parts.clear();
        let bilateral = self.linearization.joint_rows().bilateral as u32;
        for (i, row) in
            (0..).zip(&self.linearization.joint_rows().rows[..self.linearization.joint_rows().bilateral])
        {
            let slots = self
                .linearization
                .joint_rows()
                .blocks_of(row)
                .iter()
                .map(|(b, _)| self.model.masses.slot[*b as usize]);
            parts.extend(join(sets, slots).map(|slot| [slot, i]));
        }
        for &i in contacts.iter() {
            let slots = self.linearization.contact_rows()[i as usize].slots.into_iter();
            parts.extend(join(sets, slots).map(|slot| [slot, bilateral + i]));
        }
        parts.iter_mut().for_each(|part| part[0] = sets.root(part[0] as usize) as u32);
        parts.sort_unstable();
    }

    /// How the parts of a group may change, and its bodies.
    fn collect(&self, groups: &mut Groups, range: std::ops::Range<usize>, velocity: &[f64], rest: f64) {
        let Groups { parts, place, bodies, members, changes, .. } = groups;
        changes.clear();
        members.clear();
        *bodies = 0;
        let mut see = |slot: u32| {
            if slot != FIXED_SLOT && place[slot as usize] == FIXED_SLOT {
                place[slot as usize] = *bodies as u32;
                *bodies += 1;
                members.push(slot);
            }
        };
        let (bilateral, no_load) = (self.linearization.joint_rows().bilateral as u32, self.no_load());
        for &[_, i] in &parts[range] {
            if i < bilateral {
                let blocks = self
                    .linearization
                    .joint_rows()
                    .blocks_of(&self.linearization.joint_rows().rows[i as usize])
                    .iter();
                blocks.for_each(|(b, _)| see(self.model.masses.slot[*b as usize]));
                changes.push(Change::Bilateral(i));
                continue;
            }
            let i = i - bilateral;
            let (rows, r) =
                (&self.linearization.contact_rows()[i as usize], &self.impulses.contacts[i as usize]);
            rows.slots.into_iter().for_each(&mut see);
            if r[0] <= no_load {
                let slides = rows.law.mu() == 0.0 || slip_speed(rows, velocity) > rest;
                changes.push(if slides { Change::UnloadedRay(i) } else { Change::Unloaded(i) });
                continue;
            }
            let inside = (1.0 - CONE_MARGIN) * rows.law.mu() * r[0];
            let rolls = match rows.law {
                // At its limit the moment would have to change with the normal impulse: left as it is.
                Law::Rolling { rolling, .. } | Law::ConeRolling { rolling, .. } => {
                    r[3].hypot(r[4]) >= (1.0 - CONE_MARGIN) * rolling * r[0]
                }
                Law::Spinning { rolling, spinning, .. } | Law::ConeSpinning { rolling, spinning, .. } => {
                    let most = (1.0 - CONE_MARGIN) * r[0];
                    r[3].hypot(r[4]) >= rolling * most || r[5].abs() >= spinning * most
                }
                _ => false,
            };
            if rolls {
                continue;
            }
            let (friction, slides) = (r[1].hypot(r[2]), slip_speed(rows, velocity) > rest);
            // The sum of impulses whose slip turned is shorter than those of the ends of the step.
            changes.push(if friction < if slides { TURNED_RATIO * inside } else { inside } {
                Change::Inside(i)
            } else if inside > 0.0 && !slides {
                Change::Border(i)
            } else {
                Change::Ray(i)
            });
        }
    }
}

impl Groups {
    /// Columns of the group, and those that it has where what rests on its cone changes along its ray only.
    fn columns(&self) -> (usize, usize) {
        let sure = |change: &Change| if let Change::Border(_) = change { 1 } else { change.columns() };
        (self.changes.iter().map(|change| change.columns()).sum(), self.changes.iter().map(sure).sum())
    }
}

/// The slip speed of a contact.
fn slip_speed(rows: &ContactRows, velocity: &[f64]) -> f64 {
    rows.velocity(1, velocity).hypot(rows.velocity(2, velocity))
}

/// Connects the bodies in these slots; one of them.
fn join(sets: &mut UnionFind, slots: impl Iterator<Item = u32>) -> Option<u32> {
    let mut moving = slots.filter(|slot| *slot != FIXED_SLOT);
    let first = moving.next()?;
    for other in moving {
        sets.join(first as usize, other as usize);
    }
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::super::model::fixtures::*;
    use super::super::options::StepOptions;
    use super::*;
    use crate::world::{ShapeKind, Surface, World, WorldState};
    use glam::DVec3;

    /// Whether others are found beside these impulses of contacts.
    fn finds((world, mut state): (World, WorldState), impulses: &[[f64; 6]]) -> bool {
        let (model, linearization) = linearized(world, &mut state, StepOptions::default(), 1e-3);
        assert_eq!(linearization.contacts().len(), impulses.len());
        let impulses = Impulses { rows: vec![], contacts: impulses.to_vec() };
        let mut velocity = vec![];
        model.masses.gather_velocities(&state.bodies, &mut velocity);
        let search = UniquenessSearch {
            model: &model,
            linearization: &linearization,
            impulses: &impulses,
            velocity: &velocity,
        };
        search.finds_others(&mut UniquenessScratch::default())
    }

    fn rough() -> Surface {
        Surface { mu: 0.5, ..smooth() }
    }

    #[test]
    fn one_contact_has_one_impulse() {
        assert!(!finds(ball_on_floor(rough(), 0.0, DVec3::ZERO), &[[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]]));
        assert!(!finds(ball_on_floor(smooth(), 0.0, DVec3::ZERO), &[[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]]));
    }

    #[test]
    fn a_ball_at_its_limit_of_rolling_has_nothing_that_could_change() {
        let rolling = Surface { rolling: 0.01, ..rough() };
        // ‖moment‖ = rolling · r_n: at the limit, and the only contact of its group.
        assert!(!finds(ball_on_floor(rolling, 0.0, DVec3::X), &[[1.0, 0.0, 0.0, 0.01, 0.0, 0.0]]));
        assert!(!finds(ball_on_floor(rolling, 0.0, DVec3::X), &[[1.0, 0.5, 0.0, 0.006, 0.008, 0.0]]));
        assert!(!finds(ball_on_floor(rolling, 0.0, DVec3::ZERO), &[[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]]));
    }

    /// A ball between two walls a diameter apart, pressed by both.
    fn between_walls(surface: Surface) -> (World, WorldState) {
        let (mut world, mut state) = ball_on_floor(surface, 0.0, DVec3::ZERO);
        world.bodies.push(body("wall", true, ShapeKind::Plane));
        let mut wall = at(DVec3::new(0.0, 0.0, 2.0 * RADIUS), DVec3::ZERO);
        wall.pose.rotation = glam::DQuat::from_rotation_x(std::f64::consts::PI);
        state.bodies.push(wall);
        (world, state)
    }

    #[test]
    fn two_walls_can_press_a_ball_by_any_force() {
        // z = (1, 1): both normal impulses grow together.
        let pressed = [[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]; 2];
        assert!(finds(between_walls(smooth()), &pressed));
        assert!(finds(between_walls(rough()), &pressed));
        // One of them only touches: no matter, both can grow.
        let one = [[1.0, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0; 6]];
        assert!(finds(between_walls(smooth()), &one) && finds(between_walls(rough()), &one));
        // It opens: it gets no load.
        let (world, mut state) = between_walls(smooth());
        let ball = world.bodies.iter().position(|b| !b.fixed).unwrap();
        state.bodies[ball].velocity = DVec3::new(0.0, 0.0, -0.1);
        assert!(!finds((world, state), &one));
    }
}
