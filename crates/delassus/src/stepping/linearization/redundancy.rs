//! Which rows of joints are redundant.
//!
//! ```text
//! J_i = Σ c_k J_k over other rows k   ⟺   the part of J_i outside of their span, in the metric of M⁻¹, is zero
//! ```
//!
//! J_i is a bilateral row of a joint (6 entries per body that moves). Gram–Schmidt takes the row that is
//! farthest from the span of those before it first. Impulses of rows that depend on each other are not unique
//! (004 §6).

use delassus_solve::linalg::{dot, norm};

use crate::world::{Masses, Rows};

/// A row of unit length that is closer than this to a combination of others is redundant.
const MAX_REDUNDANT_LENGTH: f64 = 1e-7;

/// Memory of the search for redundant rows.
#[derive(Default)]
pub(super) struct RedundancyScratch {
    /// The rows, weighed to unit length, one after the other, and the direction taken out last.
    dense: Vec<f64>,
    /// Rows that are not yet in the basis, and what of their length is outside of it.
    remaining: Vec<(usize, f64)>,
}

impl RedundancyScratch {
    /// Which of the bilateral rows follow from others: redundant, and left out. Their share of the load is
    /// one of many.
    pub(super) fn find(&mut self, masses: &Masses, rows: &Rows, out: &mut Vec<bool>) {
        let RedundancyScratch { dense, remaining } = self;
        out.clear();
        out.resize(rows.rows.len(), false);
        let n = rows.bilateral;
        let dofs = masses.mass.len();
        // Rows weighed to the same size, and behind them the direction that is taken out of the others.
        dense.clear();
        dense.resize((n + 1) * dofs, 0.0);
        let (dense, direction) = dense.split_at_mut(n * dofs);
        remaining.clear();
        for i in 0..n {
            let row = &mut dense[i * dofs..(i + 1) * dofs];
            for (body, block) in rows.blocks_of(&rows.rows[i]) {
                let at = 6 * masses.slot[*body as usize] as usize;
                for c in 0..6 {
                    row[at + c] = block[c] * masses.inverse[at + c].sqrt();
                }
            }
            let size = norm(row);
            if size > 0.0 {
                row.iter_mut().for_each(|x| *x /= size);
            }
            remaining.push((i, norm(row)));
        }
        // Gram–Schmidt, the farthest from all before it first.
        while let Some(best) = (0..remaining.len()).max_by(|&a, &b| {
            remaining[a].1.total_cmp(&remaining[b].1).then(remaining[b].0.cmp(&remaining[a].0))
        }) {
            let (i, size) = remaining[best];
            if size < MAX_REDUNDANT_LENGTH {
                break;
            }
            remaining.swap_remove(best);
            direction.iter_mut().zip(&dense[i * dofs..(i + 1) * dofs]).for_each(|(d, x)| *d = x / size);
            for (j, length) in remaining.iter_mut() {
                let row = &mut dense[*j * dofs..(*j + 1) * dofs];
                let along = dot(row, direction);
                // Most joints have no body in common.
                if along == 0.0 {
                    continue;
                }
                row.iter_mut().zip(&*direction).for_each(|(x, d)| *x -= along * d);
                *length = norm(row);
            }
        }
        remaining.iter().for_each(|(i, _)| out[*i] = true);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::model::fixtures::*;
    use super::*;
    use crate::stepping::options::StepOptions;
    use crate::world::{ActionKind, Joint, JointKind, Pose};
    use glam::DVec3;

    /// Which rows of these joints between the frame and a ball are redundant.
    fn redundant(joints: Vec<Joint>) -> Vec<bool> {
        let (mut world, mut state) = slider(ActionKind::Force { force: formula("0") }, 0.5, 0.0);
        world.joints = joints;
        let (model, on) = linearized(world, &mut state, StepOptions::default(), 1e-3);
        let mut found = vec![true; 99];
        RedundancyScratch::default().find(&model.masses, on.joint_rows(), &mut found);
        found
    }

    /// A joint at this point of the ball, which is at (0, 0, 0.5).
    fn at_point(kind: JointKind, x: f64) -> Joint {
        let pose = |z: f64| Pose { position: DVec3::new(x, 0.0, z), ..Pose::IDENTITY };
        Joint::new("joint", kind, [0, 1], [pose(0.5), pose(0.0)])
    }

    #[test]
    fn rows_of_one_joint_are_independent_and_those_of_its_twin_follow() {
        assert_eq!(redundant(vec![at_point(JointKind::Revolute, 0.0)]), [false; 5]);
        let twice = redundant(vec![at_point(JointKind::Revolute, 0.0), at_point(JointKind::Revolute, 0.0)]);
        // Five rows twice; of equals the first is kept.
        assert_eq!(twice, [false, false, false, false, false, true, true, true, true, true]);
    }

    #[test]
    fn two_balls_share_the_row_along_their_line() {
        for distance in [1.0, 1e-3] {
            let found = redundant(vec![at_point(JointKind::Ball, 0.0), at_point(JointKind::Ball, distance)]);
            // Six rows leave the rotation about the line: rank 5. Along x the two say the same.
            assert_eq!(found, [false, false, false, true, false, false], "{distance}");
        }
    }

    #[test]
    fn what_differs_by_more_than_the_tolerance_is_kept() {
        // The rows of the second ball differ from those of the first by the distance over the radius of
        // gyration √(0.05/2).
        let rows = |distance: f64| {
            let found = redundant(vec![at_point(JointKind::Ball, 0.0), at_point(JointKind::Ball, distance)]);
            found.into_iter().filter(|redundant| *redundant).count()
        };
        assert_eq!((rows(1e-5), rows(1e-10)), (1, 3));
    }
}
