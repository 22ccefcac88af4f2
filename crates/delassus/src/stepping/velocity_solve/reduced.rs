//! The velocity solve in reduced coordinates: joints of a tree are satisfied identically.
//!
//! ```text
//! v = v_p + J L⁻¹ y ,   y = y* + Hᵣᵀ r ,   u = Hᵣ y + H v_p + b ,   Hᵣ = H J L⁻¹ ,   y* = L⁻ᵀ Jᵀ M (v* − v_p)
//! ```
//!
//! v are the velocities of bodies and v* those before the solve, H the rows that are left to it, r their
//! impulses. G are the rows of the tree, J the motions that they leave free, v_p velocities that obey them,
//! and Jᵀ M J = Lᵀ L, as in [`crate::world::TreeBasis`]. The mass matrix of y is the identity, so a problem
//! in y has the form of one in body velocities, with fewer unknowns and without the rows of the tree. Their
//! impulses λ follow from the change of momentum, M (v − v*) = Hᵀ r + Gᵀ λ. Source: 001 §5.

use delassus_solve::linalg::Sparse;

use super::SolveInput;
use crate::stepping::row_targets::RowTarget;
use crate::stepping::warm_start::Impulses;
use crate::world::{Masses, TreeBasis, TreeScratch};

/// Motions below so many times the rounding of their terms are none.
const ROUNDINGS: f64 = 16.0;

/// Velocities in reduced coordinates, in memory that is kept.
#[derive(Default)]
pub(super) struct ReducedMotion {
    /// v_p, and whether it is not zero.
    particular: Vec<f64>,
    moves: bool,
    /// y*, then y, then z.
    motion: Vec<f64>,
    /// M (v* − v_p), then what bodies gain by the joints of the tree.
    momentum: Vec<f64>,
    /// What a refinement adds to impulses of the rows of the tree.
    reactions: Vec<f64>,
    /// Sizes of the terms of y.
    terms: Vec<f64>,
    scratch: TreeScratch,
    rows: ReducedRows,
}

/// The rows of H that Hᵣ was made of: the passes of a step, and its end and the start of the next one, have
/// the same.
#[derive(Default)]
struct ReducedRows {
    /// Slots and blocks of all rows, and where those of each row end.
    blocks: Vec<(u32, [f64; 6])>,
    ends: Vec<u32>,
    /// Columns of compliant rows.
    compliant: Vec<usize>,
    /// The same of the rows before, and the motions that they were reduced to.
    blocks_before: Vec<(u32, [f64; 6])>,
    ends_before: Vec<u32>,
    compliant_before: Vec<usize>,
    tree: Option<TreeBasis>,
}

impl ReducedRows {
    /// Whether Hᵣ is that of the rows before.
    fn are_known(&self, tree: &TreeBasis) -> bool {
        self.tree.as_ref().is_some_and(|known| known.has_motions_of(tree))
            && self.ends == self.ends_before
            && self.compliant == self.compliant_before
            && self.blocks == self.blocks_before
    }

    fn remember(&mut self, tree: &TreeBasis) {
        match &mut self.tree {
            Some(known) => known.clone_motions_from(tree),
            None => self.tree = Some(tree.clone()),
        }
        std::mem::swap(&mut self.blocks, &mut self.blocks_before);
        std::mem::swap(&mut self.ends, &mut self.ends_before);
        std::mem::swap(&mut self.compliant, &mut self.compliant_before);
    }
}

impl ReducedMotion {
    /// v_p and y* of the velocities before.
    pub(super) fn begin(&mut self, tree: &TreeBasis, input: &SolveInput<'_>, v: &[f64]) {
        let SolveInput { masses, targets, .. } = *input;
        let ReducedMotion { particular, moves, motion, momentum, scratch, .. } = self;
        let bias = |i: usize| match targets.joints[i] {
            RowTarget::Velocity { bias } => bias,
            _ => 0.0,
        };
        *moves = tree.particular(masses, bias, scratch, particular);
        momentum.clear();
        momentum.extend(masses.mass.iter().zip(v.iter().zip(&*particular)).map(|(m, (v, p))| m * (v - p)));
        tree.reduce(masses, momentum, scratch, motion);
    }

    /// v_p, where it is not zero.
    pub(super) fn particular(&self) -> Option<&[f64]> {
        self.moves.then_some(&self.particular)
    }

    /// y*.
    pub(super) fn motion(&self) -> &Vec<f64> {
        &self.motion
    }

    /// Whether Hᵣ is that of the rows before.
    pub(super) fn knows_rows(&self, tree: &TreeBasis) -> bool {
        self.rows.are_known(tree)
    }

    /// The next rows are none that are known.
    pub(super) fn forget_rows(&mut self) {
        self.rows.tree = None;
    }

    /// Begins with no rows of H.
    pub(super) fn clear_rows(&mut self) {
        self.rows.blocks.clear();
        self.rows.ends.clear();
        self.rows.compliant.clear();
    }

    /// Adds a row of H, a column of Hᵣᵀ.
    pub(super) fn add_row<'a>(&mut self, blocks: impl Iterator<Item = (u32, &'a [f64; 6])>) {
        self.rows.blocks.extend(blocks.map(|(slot, block)| (slot, *block)));
        self.rows.ends.push(self.rows.blocks.len() as u32);
    }

    /// The row added last is compliant.
    pub(super) fn add_compliance(&mut self) {
        self.rows.compliant.push(self.rows.ends.len() - 1);
    }

    /// The entries of Hᵣᵀ.
    pub(super) fn reduce_rows(&mut self, tree: &TreeBasis, entries: &mut Vec<(usize, usize, f64)>) {
        let ReducedMotion { rows, scratch, .. } = self;
        let mut from = 0;
        for (column, &to) in rows.ends.iter().enumerate() {
            let blocks = rows.blocks[from as usize..to as usize].iter().map(|(slot, block)| (*slot, block));
            tree.reduce_row(blocks, scratch, |i, value| entries.push((i, column, value)));
            from = to;
        }
        // A compliant row has a body of its own, of mass 1/c, which moves along with it.
        let own = rows.compliant.iter().enumerate();
        entries.extend(own.map(|(k, &column)| (tree.motions() + k, column, 1.0)));
        rows.remember(tree);
    }

    /// y ← y* + Hᵣᵀ r.
    pub(super) fn apply_impulses(&mut self, h: &Sparse, impulse: &[f64]) {
        let ReducedMotion { motion, terms, .. } = self;
        terms.clear();
        terms.extend(motion.iter().map(|y| y.abs()));
        for (i, (y, size)) in motion.iter_mut().zip(&mut *terms).enumerate() {
            let (columns, values) = h.row(i);
            for (&j, x) in columns.iter().zip(values) {
                let term = x * impulse[j];
                *y += term;
                *size += term.abs();
            }
        }
        // Where nothing is left but the rounding of terms that cancel, all rests; y² is an energy.
        let top = terms.iter().fold(0.0, |top: f64, size| top.max(*size));
        if motion.iter().all(|y| y.abs() <= ROUNDINGS * f64::EPSILON * top) {
            motion.fill(0.0);
        }
    }

    /// Turns the velocities without the joints of the tree, `v`, into those of y, and gives the rows of the
    /// tree the impulses that are the difference.
    pub(super) fn scatter(
        &mut self,
        tree: &TreeBasis,
        masses: &Masses,
        row_impulse: &mut [f64],
        v: &mut [f64],
    ) {
        let ReducedMotion { particular, motion, momentum, scratch, .. } = self;
        momentum.clear();
        momentum.extend_from_slice(v);
        v.copy_from_slice(particular);
        tree.add_motion(masses, motion, scratch, v);
        momentum.iter_mut().zip(masses.mass.iter().zip(&*v)).for_each(|(p, (m, v))| *p = m * (v - *p));
        tree.reactions(masses, momentum, scratch, row_impulse);
    }

    /// One step of iterative refinement: velocities along the tree, and reactions, towards the velocities
    /// `sum` that all impulses give.
    pub(super) fn refine(
        &mut self,
        tree: &TreeBasis,
        input: &SolveInput<'_>,
        sum: &[f64],
        impulses: &mut Impulses,
        v: &mut [f64],
    ) {
        let masses = input.masses;
        let ReducedMotion { motion, momentum, reactions, scratch, .. } = self;
        let defect = |v: &[f64], sign: f64, p: &mut Vec<f64>| {
            p.clear();
            p.extend(masses.mass.iter().zip(sum.iter().zip(v)).map(|(m, (sum, v))| sign * m * (sum - v)));
        };
        defect(v, 1.0, momentum);
        tree.reduce(masses, momentum, scratch, motion);
        tree.add_motion(masses, motion, scratch, v);
        defect(v, -1.0, momentum);
        reactions.clear();
        reactions.resize(impulses.rows.len(), 0.0);
        tree.reactions(masses, momentum, scratch, reactions);
        impulses.rows.iter_mut().zip(reactions).for_each(|(r, more)| *r += *more);
    }
}
