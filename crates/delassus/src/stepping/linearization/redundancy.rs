//! Which rows of joints are redundant.
//!
//! ```text
//! J_i = Σ c_k J_k over other rows k   ⟺   the part of J_i outside of their span, in the metric of M⁻¹, is zero
//! ```
//!
//! J_i is a bilateral row of a joint (6 entries per body that moves). Gram–Schmidt takes the row that is
//! farthest from the span of those before it first. Impulses of rows that depend on each other are not unique
//! (004 §6).
//!
//! In reduced coordinates the rows of the tree are satisfied identically. What is left of the others there,
//! L⁻ᵀ Jᵀ J_i, has the length of their part outside of the span of the tree. Joints are taken one after the
//! other, the farthest row of each first: a loop has entries only where it moves something.

use delassus_solve::linalg::{dot, norm};

use crate::world::{Masses, Rows, TreeBasis, TreeScratch};

/// A row of unit length that is closer than this to a combination of others is redundant.
const MAX_REDUNDANT_LENGTH: f64 = 1e-7;

/// A row that loses more than this part of its length to the span of others is taken out of it once more.
const MIN_LENGTH_RATIO: f64 = 0.1;

/// Memory of the search for redundant rows.
#[derive(Default)]
pub(super) struct RedundancyScratch {
    /// The rows, weighed to unit length, one after the other, and the direction taken out last.
    dense: Vec<f64>,
    /// Rows that are not yet in the basis, and what of their length is outside of it.
    remaining: Vec<(usize, f64)>,
    /// Reduced coordinates: an orthonormal basis of the rows that are kept, and the motions that each spans.
    basis: Vec<f64>,
    spans: Vec<[usize; 2]>,
    /// The motions that each of the rows spans that are not in it.
    reach: Vec<[usize; 2]>,
    tree: TreeScratch,
}

impl RedundancyScratch {
    /// Which of the bilateral rows follow from others: redundant, and left out. Their share of the load is
    /// one of many.
    pub(super) fn find(
        &mut self,
        masses: &Masses,
        rows: &Rows,
        tree: Option<&TreeBasis>,
        out: &mut Vec<bool>,
    ) {
        out.clear();
        out.resize(rows.rows.len(), false);
        match tree {
            Some(tree) => self.find_reduced(masses, rows, tree, out),
            None => self.find_maximal(masses, rows, out),
        }
    }

    fn find_maximal(&mut self, masses: &Masses, rows: &Rows, out: &mut [bool]) {
        let RedundancyScratch { dense, remaining, .. } = self;
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

    fn find_reduced(&mut self, masses: &Masses, rows: &Rows, tree: &TreeBasis, out: &mut [bool]) {
        let n = tree.motions();
        self.basis.clear();
        self.spans.clear();
        let mut to = 0;
        while to < rows.bilateral {
            let (from, joint) = (to, rows.rows[to].joint);
            to += rows.rows[from..rows.bilateral].iter().take_while(|row| row.joint == joint).count();
            self.remaining.clear();
            self.reach.clear();
            self.dense.clear();
            for i in (from..to).filter(|&i| !tree.holds(i)) {
                let length = self.add_outside(masses, rows, tree, i);
                self.remaining.push((i, length));
            }
            self.take_farthest(n, out);
        }
    }

    /// Adds what is left of a row outside of the span of those that are kept; its length.
    fn add_outside(&mut self, masses: &Masses, rows: &Rows, tree: &TreeBasis, i: usize) -> f64 {
        let RedundancyScratch { dense, basis, spans, reach, tree: scratch, .. } = self;
        let (n, start) = (tree.motions(), dense.len());
        dense.resize(start + n, 0.0);
        let x = &mut dense[start..];
        let blocks = rows.blocks_of(&rows.rows[i]);
        let mut square = 0.0;
        for (body, block) in blocks {
            let at = 6 * masses.slot[*body as usize] as usize;
            square += (0..6).map(|c| block[c] * block[c] * masses.inverse[at + c]).sum::<f64>();
        }
        let scale = if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 };
        let blocks = blocks.iter().map(|(body, block)| (masses.slot[*body as usize], block));
        let (mut first, mut last) = (n, 0);
        tree.reduce_row(blocks, scratch, |i, value| {
            x[i] = scale * value;
            (first, last) = (first.min(i), last.max(i + 1));
        });
        first = first.min(last);
        let mut length = norm(&x[first..last]);
        let mut again = true;
        while again && length >= MAX_REDUNDANT_LENGTH {
            for (q, &[from, to]) in basis.chunks_exact(n).zip(&*spans) {
                // Most loops have nothing in common.
                if from >= last || to <= first {
                    continue;
                }
                let along = dot(&x[from..to], &q[from..to]);
                if along != 0.0 {
                    x[from..to].iter_mut().zip(&q[from..to]).for_each(|(x, q)| *x -= along * q);
                    (first, last) = (first.min(from), last.max(to));
                }
            }
            let left = norm(&x[first..last]);
            again = left < MIN_LENGTH_RATIO * length;
            length = left;
        }
        reach.push([first, last]);
        length
    }

    /// Takes the rows that remain of a joint into the basis, the farthest first; what is in its span then is
    /// redundant.
    fn take_farthest(&mut self, n: usize, out: &mut [bool]) {
        let RedundancyScratch { dense, remaining, basis, spans, reach, .. } = self;
        let farthest = |remaining: &[(usize, f64)]| {
            (0..remaining.len()).max_by(|&a, &b| remaining[a].1.total_cmp(&remaining[b].1).then(b.cmp(&a)))
        };
        while let Some(best) = farthest(remaining) {
            let size = remaining[best].1;
            if size < MAX_REDUNDANT_LENGTH {
                break;
            }
            // Those that are taken have less than no length.
            remaining[best].1 = -1.0;
            let (start, [from, to]) = (basis.len(), reach[best]);
            basis.extend(dense[best * n..(best + 1) * n].iter().map(|x| x / size));
            let q = &basis[start..];
            spans.push([from, to]);
            for (k, (_, length)) in remaining.iter_mut().enumerate().filter(|(_, (_, l))| *l >= 0.0) {
                let x = &mut dense[k * n..(k + 1) * n];
                let along = dot(&x[from..to], &q[from..to]);
                x[from..to].iter_mut().zip(&q[from..to]).for_each(|(x, q)| *x -= along * q);
                reach[k] = [reach[k][0].min(from), reach[k][1].max(to)];
                *length = norm(&x[reach[k][0]..reach[k][1]]);
            }
        }
        remaining.iter().filter(|(_, length)| *length >= 0.0).for_each(|(i, _)| out[*i] = true);
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
        RedundancyScratch::default().find(&model.masses, on.joint_rows(), None, &mut found);
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
