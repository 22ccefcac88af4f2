//! Whether another motion obeys the laws as well.
//!
//! ```text
//! C M⁻¹ H z = 0 ,   H z ≠ 0
//! ```
//!
//! H has a column per impulse that may change: each of a bilateral row and of a contact that sticks inside
//! its cone, one along the ray n − μ e of a contact that slides along e. C has the rows whose velocities have
//! to stay what they are: all of what sticks, the normals of what slides. Where forces are strictly inside
//! the laws, r + ε z obeys them for small ε, and moves the bodies otherwise by ε M⁻¹ H z. Without friction
//! that slides, H = Cᵀ and there is no such z. With M^(−½) before both, P a basis of the columns of H and Q
//! one of the rows of C, such a z exists where the rows of P Qᵀ are dependent. Contacts that only touch, a
//! limit that is reached, a drive or dry friction in a joint keep force and velocity here: no more is claimed
//! than is shown.
//!
//! Which solution was found must not decide whether others are looked for. Where contacts only touch, or
//! stick on their cones, the test is made again with their impulses free in both directions: what it finds
//! then is possible, and shown or not by the solution of least impulses.

use super::null_vector::orthonormal_rows;
use super::{Change, Groups, ROUNDING_RATIO, UniquenessScratch, UniquenessSearch, slip_speed};
use super::{MAX_GROUP_COLUMNS, MAX_STEP_WORK, NO_LOAD_RATIO};
use crate::collision::{ContactRows, MAX_CONTACT_ROWS};
use crate::world::{FIXED_SLOT, RowKind};
use delassus_solve::linalg::{dot, norm};
use delassus_solve::problem::Law;
use glam::DVec3;

/// Sine of the angle from which on a direction of forces is not that of others: sliding directions that
/// differ by the rounding of a step are the same.
const MIN_FORCE_SINE: f64 = 1e-6;

/// Points are in a plane up to this part of their distance.
const PLANE_SINE: f64 = 1e-6;

/// Slips, and vectors of the group that is examined, one after the other.
#[derive(Default)]
pub(super) struct MotionScratch {
    /// Slip speeds of contacts that press, zero for others.
    slips: Vec<f64>,
    /// The ray of each body that slides on fixed ones, and a point of it; zero where none is known yet.
    rays: Vec<[DVec3; 2]>,
    /// Columns of M^(−½) H, then P.
    forces: Vec<f64>,
    /// Rows of C M^(−½), then Q.
    kept: Vec<f64>,
    /// P Qᵀ.
    product: Vec<f64>,
}

/// Whether another motion obeys the laws beside the one that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) enum OtherMotion {
    /// None near this solution.
    None,
    /// Impulses of contacts that only touch, or stick on their cones, would have to change, and may not be
    /// able to.
    Possible,
    /// One is shown to.
    Shown,
}

/// Which impulses count as free.
#[derive(Clone, Copy, PartialEq)]
enum Freedom {
    /// Those that are strictly inside the laws.
    Strict,
    /// Those of contacts that only touch too, and of those that stick on their cones.
    Lenient,
}

/// How another motion is looked for.
#[derive(Clone, Copy)]
struct Look {
    /// Slip up to which a contact rests, m/s.
    rest: f64,
    freedom: Freedom,
    /// Whether there are impulses that only the lenient look takes as free.
    doubtful: bool,
}

impl UniquenessSearch<'_> {
    /// Whether another motion obeys the laws at this state.
    pub(in super::super) fn finds_other_motion(&self, scratch: &mut UniquenessScratch) -> OtherMotion {
        let rows = self.linearization.contact_rows();
        let UniquenessScratch { groups, motion, .. } = scratch;
        motion.slips.clear();
        // Memory for contacts that come, and for the first body that slides.
        if motion.slips.capacity() < rows.len() {
            motion.slips.reserve(2 * rows.len());
        }
        if motion.rays.capacity() == 0 {
            motion.rays.reserve(self.model.masses.mass.len() / 6);
        }
        let pressing = rows.iter().zip(&self.impulses.contacts);
        let slip = |(rows, r): (&ContactRows, &[f64; MAX_CONTACT_ROWS])| match r[0] > 0.0 {
            true => slip_speed(rows, self.velocity),
            false => 0.0,
        };
        motion.slips.extend(pressing.map(slip));
        let rest = self.rest_slip_of(motion.slips.iter().copied().fold(0.0, f64::max));
        // The associated law has one motion.
        let coulomb = |law: Law| law.mu() > 0.0 && !law.is_associated();
        let slides = |i: u32| motion.slips[i as usize] > rest && coulomb(rows[i as usize].law);
        if !self.active_contacts().any(slides) || self.slide_on_fixed_planes(motion, rest) {
            return OtherMotion::None;
        }
        let mut look = Look { rest, freedom: Freedom::Strict, doubtful: false };
        if self.some_group_moves_otherwise(groups, motion, &mut look) {
            return OtherMotion::Shown;
        }
        let possible = look.doubtful && {
            look.freedom = Freedom::Lenient;
            self.some_group_moves_otherwise(groups, motion, &mut look)
        };
        if possible { OtherMotion::Possible } else { OtherMotion::None }
    }

    /// Whether a group of bodies that impulses connect has another motion.
    fn some_group_moves_otherwise(
        &self,
        groups: &mut Groups,
        motion: &mut MotionScratch,
        look: &mut Look,
    ) -> bool {
        self.list_pressing(groups);
        self.find_groups(groups);
        let rest = look.rest;
        let (mut work, mut from) = (0, 0);
        while from < groups.parts.len() {
            let first = groups.parts[from][0];
            let count = groups.parts[from..].iter().take_while(|part| part[0] == first).count();
            self.collect(groups, from..from + count, self.velocity, rest);
            from += count;
            // Impulses of a step whose slip turned are shorter than those of its ends.
            for change in &mut groups.changes {
                if let Change::Inside(i) = *change
                    && motion.slips[i as usize] > rest
                {
                    *change = Change::Ray(i);
                } else if let Change::Border(i) = *change {
                    look.doubtful = true;
                    if look.freedom == Freedom::Lenient {
                        *change = Change::Inside(i);
                    }
                }
            }
            let (columns, _) = groups.columns();
            let rays = groups.changes.iter().filter(|change| matches!(change, Change::Ray(_))).count();
            // One impulse that changes needs another, which may be one of a contact that only touches.
            if rays == 0 || columns > MAX_GROUP_COLUMNS {
                continue;
            }
            work += 6 * groups.bodies * columns * columns;
            if work > MAX_STEP_WORK {
                return false;
            }
            if self.group_moves_otherwise(groups, motion, look) {
                return true;
            }
        }
        false
    }

    /// Whether each body that is pressed slides on fixed ones in one direction e, at points of one plane.
    /// With s = Σ z and p = Σ z x of these points, H z = (s f, p × f) of f = n − μ e vanishes where s and p
    /// do, and so does Cᵀ z = (s n, p × n): P Qᵀ is square, and singular in single states only.
    fn slide_on_fixed_planes(&self, motion: &mut MotionScratch, rest: f64) -> bool {
        if !self.linearization.joint_rows().rows.is_empty() {
            return false;
        }
        let MotionScratch { slips, rays, .. } = motion;
        rays.clear();
        rays.resize(self.model.masses.mass.len() / 6, [DVec3::ZERO; 2]);
        let touching = self.model.touching();
        let all = self.linearization.contacts().iter().zip(self.linearization.contact_rows());
        for (i, (contact, rows)) in all.enumerate() {
            if self.impulses.contacts[i][0] <= 0.0 {
                if contact.gap <= touching {
                    return false;
                }
                continue;
            }
            let (slot, side) = match rows.slots {
                [FIXED_SLOT, slot] => (slot, 1.0),
                [slot, FIXED_SLOT] => (slot, -1.0),
                _ => return false,
            };
            if slips[i] <= rest || !matches!(rows.law, Law::Coulomb { .. }) {
                return false;
            }
            let [a, b] = rows.tangents;
            let slip = a * rows.velocity(1, self.velocity) + b * rows.velocity(2, self.velocity);
            let ray = side * (contact.normal - slip * (rows.law.mu() / slips[i]));
            let [known, point] = rays[slot as usize];
            if known == DVec3::ZERO {
                rays[slot as usize] = [ray, contact.point];
                continue;
            }
            let apart = contact.point - point;
            if (ray - known).length_squared() > MIN_FORCE_SINE * MIN_FORCE_SINE
                || contact.normal.dot(apart).abs() > PLANE_SINE * apart.length()
            {
                return false;
            }
        }
        true
    }

    /// Whether the group that is examined, has another motion.
    fn group_moves_otherwise(&self, groups: &Groups, motion: &mut MotionScratch, look: &mut Look) -> bool {
        let n = 6 * groups.bodies;
        let MotionScratch { forces, kept, product, .. } = motion;
        forces.clear();
        kept.clear();
        self.changes_and_their_rows(groups, n, forces, kept);
        if !self.rows_that_keep(groups, n, look, [forces, kept]) || forces.len() > MAX_GROUP_COLUMNS * n {
            return false;
        }
        // Forces of all sizes count alike.
        for column in forces.chunks_exact_mut(n) {
            let size = norm(column).max(f64::MIN_POSITIVE);
            column.iter_mut().for_each(|x| *x /= size);
        }
        let p = orthonormal_rows(forces, n, MIN_FORCE_SINE);
        let q = orthonormal_rows(kept, n, ROUNDING_RATIO);
        if p > q {
            return true;
        }
        product.clear();
        for force in forces.chunks_exact(n).take(p) {
            product.extend(kept.chunks_exact(n).take(q).map(|row| dot(force, row)));
        }
        orthonormal_rows(product, q, ROUNDING_RATIO) < p
    }

    /// Columns of H, and the rows of C that belong to them.
    fn changes_and_their_rows(&self, groups: &Groups, n: usize, forces: &mut Vec<f64>, kept: &mut Vec<f64>) {
        for change in &groups.changes {
            match *change {
                Change::Bilateral(i) => {
                    self.push_row(groups, n, i as usize, forces);
                    self.push_row(groups, n, i as usize, kept);
                }
                Change::Inside(i) => {
                    let rows = &self.linearization.contact_rows()[i as usize];
                    for k in 0..rows.law.dim() {
                        self.push_contact(groups, n, i, |j| f64::from(j == k), kept);
                    }
                    for k in 0..rows.law.dim().min(3) {
                        self.push_contact(groups, n, i, |j| f64::from(j == k), forces);
                    }
                }
                Change::Border(i) => {
                    for k in 0..self.linearization.contact_rows()[i as usize].law.dim() {
                        self.push_contact(groups, n, i, |j| f64::from(j == k), kept);
                    }
                }
                Change::Ray(i) => {
                    self.push_contact(groups, n, i, self.ray(i), forces);
                    for k in (0..self.linearization.contact_rows()[i as usize].law.dim())
                        .filter(|k| *k == 0 || *k > 2)
                    {
                        self.push_contact(groups, n, i, |j| f64::from(j == k), kept);
                    }
                }
                // Contacts that press are listed: the others follow in `rows_that_keep`.
                Change::Unloaded(_) | Change::UnloadedRay(_) => {}
            }
        }
    }

    /// Rows that no change belongs to and whose velocities stay all the same; false where bounds follow loads
    /// that may change.
    fn rows_that_keep(
        &self,
        groups: &Groups,
        n: usize,
        look: &mut Look,
        [forces, kept]: [&mut Vec<f64>; 2],
    ) -> bool {
        let rest = look.rest;
        let largest = self.impulses.contacts.iter().map(|r| r[0]).fold(0.0, f64::max);
        let (touching, rows) = (self.model.touching(), self.linearization.joint_rows());
        for (i, row) in rows.rows.iter().enumerate().skip(rows.bilateral) {
            let mut slots = rows.blocks_of(row).iter().map(|(b, _)| self.model.masses.slot[*b as usize]);
            if !slots.any(|slot| groups.place_of(slot).is_some()) {
                continue;
            }
            match row.kind {
                RowKind::Bounded { per_load, .. } if per_load > 0.0 => return false,
                RowKind::Limit { .. } if row.value > touching => {}
                RowKind::Limit { .. } | RowKind::Bounded { .. } => self.push_row(groups, n, i, kept),
                _ => {}
            }
        }
        let mut unloaded = vec![];
        for (i, contact) in (0..).zip(self.linearization.contact_rows()) {
            let free = |change: &Change| matches!(*change, Change::Inside(k) | Change::Border(k) | Change::Ray(k) if k == i);
            if !contact.slots.into_iter().any(|slot| groups.place_of(slot).is_some())
                || groups.changes.iter().any(free)
            {
                continue;
            }
            let presses = self.impulses.contacts[i as usize][0] > 0.0;
            let touches = self.linearization.contacts()[i as usize].gap <= touching
                && contact.velocity(0, self.velocity) <= rest;
            if touches && self.impulses.contacts[i as usize][0] <= NO_LOAD_RATIO * largest {
                look.doubtful = true;
                if look.freedom == Freedom::Lenient {
                    self.push_unloaded(groups, n, i, rest, [forces, kept]);
                    continue;
                }
            }
            if touches && !presses {
                unloaded.push(i);
            }
            let keep = if presses { contact.law.dim() } else { usize::from(touches) };
            for k in 0..keep {
                self.push_contact(groups, n, i, |j| f64::from(j == k), kept);
            }
        }
        // One contact that slides without a load may get one: z or −z presses it.
        if let [i] = unloaded[..] {
            let contact = &self.linearization.contact_rows()[i as usize];
            if contact.law.mu() > 0.0 && slip_speed(contact, self.velocity) > rest {
                self.push_contact(groups, n, i, self.ray(i), forces);
            }
        }
        true
    }

    /// A contact that only touches, as if any impulse might be added to its own: along its ray where it
    /// slides.
    fn push_unloaded(
        &self,
        groups: &Groups,
        n: usize,
        i: u32,
        rest: f64,
        [forces, kept]: [&mut Vec<f64>; 2],
    ) {
        let rows = &self.linearization.contact_rows()[i as usize];
        if slip_speed(rows, self.velocity) > rest {
            self.push_contact(groups, n, i, |k| f64::from(k == 0), kept);
            self.push_contact(groups, n, i, self.ray(i), forces);
            return;
        }
        for k in 0..rows.law.dim() {
            self.push_contact(groups, n, i, |j| f64::from(j == k), kept);
        }
        for k in 0..rows.law.dim().min(3) {
            self.push_contact(groups, n, i, |j| f64::from(j == k), forces);
        }
    }

    /// The ray n − μ e of a contact that slides along e.
    pub(super) fn ray(&self, i: u32) -> impl Fn(usize) -> f64 {
        let rows = &self.linearization.contact_rows()[i as usize];
        let slip = slip_speed(rows, self.velocity).max(f64::MIN_POSITIVE);
        let along = |k: usize| -rows.law.mu() * rows.velocity(k, self.velocity) / slip;
        let ray = if rows.law.dim() < 3 { [1.0, 0.0, 0.0] } else { [1.0, along(1), along(2)] };
        move |k| ray.get(k).copied().unwrap_or(0.0)
    }

    /// A row of a joint times M^(−½), as far as it acts on the group.
    fn push_row(&self, groups: &Groups, n: usize, i: usize, out: &mut Vec<f64>) {
        let (rows, masses) = (self.linearization.joint_rows(), &self.model.masses);
        let start = out.len();
        out.resize(start + n, 0.0);
        for (body, block) in rows.blocks_of(&rows.rows[i]) {
            groups.add(masses.slot[*body as usize], block, 1.0, &masses.inverse, &mut out[start..]);
        }
    }

    /// Rows of a contact, each times its weight, times M^(−½).
    fn push_contact(
        &self,
        groups: &Groups,
        n: usize,
        i: u32,
        weight: impl Fn(usize) -> f64,
        out: &mut Vec<f64>,
    ) {
        let rows = &self.linearization.contact_rows()[i as usize];
        let start = out.len();
        out.resize(start + n, 0.0);
        for (slot, blocks) in rows.slots.into_iter().zip(&rows.blocks) {
            for (k, block) in blocks.iter().enumerate().take(rows.law.dim()) {
                groups.add(slot, block, weight(k), &self.model.masses.inverse, &mut out[start..]);
            }
        }
    }
}

impl Groups {
    /// The place of the body in a slot, where it is in the group.
    fn place_of(&self, slot: u32) -> Option<usize> {
        let place = *self.place.get(slot as usize)? as usize;
        (self.members.get(place) == Some(&slot)).then_some(place)
    }

    /// Adds a block of a body, where it is in the group, times a weight and M^(−½).
    fn add(&self, slot: u32, block: &[f64; 6], weight: f64, inverse: &[f64], out: &mut [f64]) {
        let Some(place) = self.place_of(slot) else { return };
        let (at, from) = (6 * place, 6 * slot as usize);
        (0..6).for_each(|c| out[at + c] += weight * inverse[from + c].sqrt() * block[c]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::StepOptions;
    use super::super::super::model::fixtures::*;
    use super::super::super::warm_start::Impulses;
    use super::*;
    use crate::world::{ShapeKind, Surface};

    /// Whether another motion is found for a box on four corners with these velocities, where friction μ
    /// opposes the slip of each corner, each pressed by a quarter of the weight; the same without the
    /// shortcut for bodies that slide on planes.
    fn finds_both_ways(mu: f64, linear: DVec3, angular: DVec3) -> [bool; 2] {
        let (mut world, mut state) = ball_on_floor(Surface { mu, ..smooth() }, 0.0, DVec3::ZERO);
        let ball = world.bodies.iter().position(|b| !b.fixed).unwrap();
        world.bodies[ball].shapes[0].kind = ShapeKind::Box { half_extents: DVec3::new(0.2, 0.1, RADIUS) };
        state.bodies[ball].velocity = linear;
        state.bodies[ball].angular_velocity = angular;
        let (model, on) = linearized(world, &mut state, StepOptions::default(), 1e-3);
        let mut velocity = vec![];
        model.masses.gather_velocities(&state.bodies, &mut velocity);
        assert_eq!(on.contacts().len(), 4);
        let contacts = on.contact_rows().iter().map(|rows| {
            let slip = slip_speed(rows, &velocity).max(f64::MIN_POSITIVE);
            let friction = |k: usize| -mu * rows.velocity(k, &velocity) / slip;
            [1.0, friction(1), friction(2), 0.0, 0.0, 0.0]
        });
        let impulses = Impulses { rows: vec![], contacts: contacts.collect() };
        let search =
            UniquenessSearch { model: &model, linearization: &on, impulses: &impulses, velocity: &velocity };
        let mut scratch = UniquenessScratch::default();
        let found = search.finds_other_motion(&mut scratch) == OtherMotion::Shown;
        let rest = search.rest_slip(&velocity);
        let UniquenessScratch { groups, motion, .. } = &mut scratch;
        let mut look = Look { rest, freedom: Freedom::Strict, doubtful: false };
        [found, mu > 0.0 && search.some_group_moves_otherwise(groups, motion, &mut look)]
    }

    fn finds(mu: f64, linear: DVec3, angular: DVec3) -> bool {
        finds_both_ways(mu, linear, angular)[0]
    }

    #[test]
    fn a_box_that_slides_without_spin_needs_no_search() {
        for k in 0..50 {
            let angle = 0.37 * f64::from(k);
            let linear = DVec3::new(angle.cos(), angle.sin(), 0.0);
            let mu = 0.05 * f64::from(k % 12 + 1);
            assert_eq!(finds_both_ways(mu, linear, DVec3::ZERO), [false; 2], "μ {mu}, direction {angle}");
            // The four directions of friction differ in what (1, −1, 1, −1) sees by the square of the spin.
            let spin = DVec3::new(0.0, 0.0, 0.5);
            assert_eq!(finds_both_ways(mu, linear, spin), [true; 2], "μ {mu}, direction {angle}");
        }
    }

    #[test]
    fn a_box_that_slides_and_spins_has_other_motions_and_one_that_only_slides_has_not() {
        // (1, −1, 1, −1) on the corners keeps the floor's normal velocities and, where the directions of
        // friction differ, moves the box.
        assert!(finds(0.3, DVec3::new(2.0, 0.0, 0.0), DVec3::new(0.0, 0.0, 8.0)));
        assert!(!finds(0.3, DVec3::new(2.0, 0.0, 0.0), DVec3::ZERO));
        assert!(!finds(0.3, DVec3::ZERO, DVec3::ZERO));
        assert!(!finds(0.0, DVec3::new(2.0, 0.0, 0.0), DVec3::new(0.0, 0.0, 8.0)));
    }
}
