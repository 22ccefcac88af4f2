//! Whether a group of bodies has impulses that can be added without any other change.
//!
//! ```text
//! H z = 0 ,   z ≠ 0 ,   gᵢᵀ zᵢ > 0 on the surface of a cone ,   zⱼ ∈ Kⱼ where nothing presses
//! ```
//!
//! With P the projection onto the null space of H, and a all normals of the half-spaces and of the dual cones
//! of the K, such a z is the point of the convex hull of all P a that is nearest to 0, unless that is 0
//! (Gordan). Then the a in the combination that gives 0 allow no strict inequality: what has one of them may
//! change along its ray only where it presses, and not at all where it does not, and the rest is tried again.

use delassus_solve::linalg::{dot, norm};
use delassus_solve::problem::Law;

use super::{Change, Groups, ROUNDING_RATIO, UniquenessSearch};
use crate::world::FIXED_SLOT;

/// Sine of the angle by which a direction leads into a cone.
const MIN_INWARD_SINE: f64 = 1e-3;
/// Steps towards the point of a hull that is nearest to 0.
const MAX_HULL_STEPS: usize = 200;
/// What has this part of an even share in a combination that gives 0, has no strict inequality.
const MIN_SHARE_RATIO: f64 = 0.1;

impl UniquenessSearch<'_> {
    /// Whether the impulses of the group that is examined have others beside them.
    pub(super) fn has_others(&self, groups: &mut Groups) -> bool {
        loop {
            let (columns, _) = groups.columns();
            if columns == 0 {
                return false;
            }
            self.fill(groups, columns);
            let rank = orthonormal_rows(&mut groups.matrix, columns, ROUNDING_RATIO);
            if rank == columns {
                return false;
            }
            let guards = groups.changes.iter().filter(|change| change.is_guarded()).count();
            if guards == 0 || self.leads_inward(groups, columns, rank) {
                return true;
            }
            let Groups { changes, shares, .. } = groups;
            let all = |share: f64| share * guards as f64 > MIN_SHARE_RATIO;
            let mut share = shares.iter();
            changes.retain_mut(|change| match (*change, all(*share.next().unwrap_or(&1.0))) {
                (Change::Border(i), true) => {
                    *change = Change::Ray(i);
                    true
                }
                (Change::Unloaded(_) | Change::UnloadedRay(_), true) => false,
                _ => true,
            });
        }
    }

    /// H of the group, row by row; moments over the longest lever.
    fn fill(&self, groups: &mut Groups, columns: usize) {
        let Groups { place, bodies, changes, matrix, .. } = groups;
        matrix.clear();
        matrix.resize(6 * *bodies * columns, 0.0);
        let mut put = |slot: u32, column: usize, block: &[f64; 6], weight: f64| {
            if slot != FIXED_SLOT {
                let at = 6 * place[slot as usize] as usize;
                (0..6).for_each(|c| matrix[(at + c) * columns + column] += weight * block[c]);
            }
        };
        let (joints, contacts) = (self.linearization.joint_rows(), self.linearization.contact_rows());
        let mut at = 0;
        for change in changes.iter() {
            match *change {
                Change::Bilateral(i) => {
                    for (body, block) in joints.blocks_of(&joints.rows[i as usize]) {
                        put(self.model.masses.slot[*body as usize], at, block, 1.0);
                    }
                }
                Change::Inside(i) | Change::Border(i) | Change::Unloaded(i) => {
                    let rows = &contacts[i as usize];
                    for (slot, blocks) in rows.slots.into_iter().zip(&rows.blocks) {
                        (0..3).for_each(|k| put(slot, at + k, &blocks[k], 1.0));
                    }
                }
                Change::Ray(i) => {
                    let (rows, r) = (&contacts[i as usize], &self.impulses.contacts[i as usize]);
                    for (slot, blocks) in rows.slots.into_iter().zip(&rows.blocks) {
                        (0..3).for_each(|k| put(slot, at, &blocks[k], r[k] / r[0]));
                    }
                }
                Change::UnloadedRay(i) => {
                    let (rows, ray) = (&contacts[i as usize], self.ray(i));
                    for (slot, blocks) in rows.slots.into_iter().zip(&rows.blocks) {
                        (0..3).for_each(|k| put(slot, at, &blocks[k], ray(k)));
                    }
                }
            }
            at += change.columns();
        }
        let is_moment = |row: usize| row % 6 >= 3;
        let rows = || matrix.chunks_exact(columns).enumerate();
        let lever = rows()
            .filter(|(i, _)| is_moment(*i))
            .flat_map(|(_, row)| row)
            .fold(0.0, |m: f64, x| m.max(x.abs()));
        if lever > 0.0 {
            let moments = matrix.chunks_exact_mut(columns).enumerate().filter(|(i, _)| is_moment(*i));
            moments.flat_map(|(_, row)| row).for_each(|x| *x /= lever);
        }
    }

    /// The normal of a half-space that z has to be in, of a change whose part of z this is: of those that the
    /// dual of a cone has, the one that is most against z.
    fn guard(&self, change: Change, z: &[f64]) -> [f64; 3] {
        match change {
            Change::Border(i) => {
                let r = &self.impulses.contacts[i as usize];
                let mu = self.linearization.contact_rows()[i as usize].law.mu();
                let (friction, size) = (r[1].hypot(r[2]), mu.hypot(1.0));
                [mu / size, -r[1] / friction / size, -r[2] / friction / size]
            }
            Change::Unloaded(i) => {
                let mu = least_mu(self.linearization.contact_rows()[i as usize].law);
                let (friction, size) = (z[1].hypot(z[2]), mu.hypot(1.0));
                match friction > 0.0 {
                    true => [mu / size, -z[1] / friction / size, -z[2] / friction / size],
                    false => [1.0, 0.0, 0.0],
                }
            }
            Change::UnloadedRay(_) | Change::Bilateral(_) | Change::Inside(_) | Change::Ray(_) => {
                [1.0, 0.0, 0.0]
            }
        }
    }

    /// Whether a null vector leads into all cones on whose surface a contact rests; the shares that guards
    /// have in the point of their hull that is nearest to 0.
    fn leads_inward(&self, groups: &mut Groups, columns: usize, rank: usize) -> bool {
        let Groups { changes, matrix, inward, z, shares, .. } = groups;
        z.clear();
        z.resize(columns, 0.0);
        shares.clear();
        shares.resize(changes.len(), 0.0);
        // Gilbert: towards the P a that is most against z, as far as z gets shorter.
        for step in 0..MAX_HULL_STEPS {
            let length = norm(z);
            if step > 0 && length <= ROUNDING_RATIO {
                return false;
            }
            let (mut worst, mut at) = ((f64::INFINITY, 0, 0, [0.0; 3]), 0);
            for (k, change) in changes.iter().enumerate() {
                if change.is_guarded() {
                    let part = &z[at..at + change.columns()];
                    let a = self.guard(*change, part);
                    let along = dot(&a[..part.len()], part);
                    if along < worst.0 {
                        worst = (along, k, at, a);
                    }
                }
                at += change.columns();
            }
            let (along, k, at, a) = worst;
            if along > MIN_INWARD_SINE * length {
                return true;
            }
            inward.clear();
            inward.resize(columns, 0.0);
            let width = changes[k].columns();
            inward[at..at + width].copy_from_slice(&a[..width]);
            for q in matrix.chunks_exact(columns).take(rank) {
                let along = dot(q, inward);
                inward.iter_mut().zip(q).for_each(|(p, q)| *p -= along * q);
            }
            let part = if step == 0 {
                1.0
            } else {
                let apart: f64 = inward.iter().zip(z.iter()).map(|(p, z)| (z - p) * (z - p)).sum();
                if apart == 0.0 {
                    return false;
                }
                ((length * length - along) / apart).clamp(0.0, 1.0)
            };
            z.iter_mut().zip(inward.iter()).for_each(|(z, p)| *z += part * (p - *z));
            shares.iter_mut().for_each(|share| *share *= 1.0 - part);
            shares[k] += part;
        }
        false
    }
}

/// Coefficient of sliding friction, the smaller one where it depends on the direction.
fn least_mu(law: Law) -> f64 {
    match law {
        Law::CoulombEllipse { mu } => mu[0].min(mu[1]),
        law => law.mu(),
    }
}

/// Replaces rows by an orthonormal basis of them, which comes first; its size. What is shorter than a part of
/// the largest row is rounding. Gram–Schmidt, twice.
pub(super) fn orthonormal_rows(matrix: &mut [f64], columns: usize, rounding: f64) -> usize {
    let largest = matrix.chunks_exact(columns).map(norm).fold(0.0, f64::max);
    let mut rank = 0;
    for row in 0..matrix.len() / columns {
        matrix.copy_within(row * columns..(row + 1) * columns, rank * columns);
        let (basis, rest) = matrix.split_at_mut(rank * columns);
        let x = &mut rest[..columns];
        for _ in 0..2 {
            for q in basis.chunks_exact(columns) {
                let along = dot(q, x);
                x.iter_mut().zip(q).for_each(|(x, q)| *x -= along * q);
            }
        }
        let left = norm(x);
        if left > rounding * largest {
            x.iter_mut().for_each(|x| *x /= left);
            rank += 1;
            if rank == columns {
                break;
            }
        }
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_orthonormal_basis_has_the_rank_of_its_rows() {
        let mut rows = vec![1.0, 0.0, 1.0, 2.0, 0.0, 2.0, 0.0, 3.0, 0.0];
        assert_eq!(orthonormal_rows(&mut rows, 3, ROUNDING_RATIO), 2);
        assert!((norm(&rows[..3]) - 1.0).abs() < 1e-15 && dot(&rows[..3], &rows[3..6]).abs() < 1e-15);
    }
}
