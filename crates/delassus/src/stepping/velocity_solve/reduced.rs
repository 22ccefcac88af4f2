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
//!
//! Rows of the joints of the tree that give way, h_i·z + b_i + c_i r_i = 0, are no unknowns either: they are
//! in the mass matrix, Lᵀ L = Jᵀ M J + Σ h_i h_iᵀ/c_i, and y* has −L⁻ᵀ Σ h_i b_i/c_i. Their impulses follow
//! from z.

use delassus_solve::linalg::Sparse;

use super::SolveInput;
use crate::stepping::row_targets::RowTarget;
use crate::stepping::warm_start::Impulses;
use crate::world::{CompliantRow, TreeBasis, TreeFactor, TreeScratch, apply_row_impulse, row_velocity};

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
    /// Sizes of the terms of y, and the largest one of compliant rows.
    terms: Vec<f64>,
    offset: f64,
    scratch: TreeScratch,
    rows: ReducedRows,
    /// L, the rows in it, with b_i + H_i v_p, and per row of a joint whether it is one of them.
    factor: TreeFactor,
    folded: Vec<CompliantRow>,
    folded_bias: Vec<f64>,
    is_folded: Vec<bool>,
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
    factor: TreeFactor,
}

impl ReducedRows {
    /// Whether Hᵣ is that of the rows before.
    fn are_known(&self, tree: &TreeBasis, factor: &TreeFactor) -> bool {
        self.tree.as_ref().is_some_and(|known| known.has_motions_of(tree))
            && self.factor == *factor
            && self.ends == self.ends_before
            && self.compliant == self.compliant_before
            && self.blocks == self.blocks_before
    }

    fn remember(&mut self, tree: &TreeBasis, factor: &TreeFactor) {
        self.factor.clone_from(factor);
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
    /// L, with rows that give way in it: of those that `unknown` gives b and c of.
    pub(super) fn factorize(
        &mut self,
        input: &SolveInput<'_>,
        unknown: impl Fn(usize) -> Option<(f64, f64)>,
    ) {
        let ReducedMotion { factor, folded, folded_bias, is_folded, .. } = self;
        folded.clear();
        folded_bias.clear();
        is_folded.clear();
        is_folded.resize(input.rows.rows.len(), false);
        let Some(tree) = input.tree else { return };
        for (i, row) in input.rows.rows.iter().enumerate() {
            let Some((bias, compliance)) = unknown(i).filter(|(_, c)| *c > 0.0) else { continue };
            let blocks = input.rows.blocks_of(row);
            if let Some(row) = tree.compliant_row(i, row.joint, blocks, compliance) {
                folded.push(row);
                folded_bias.push(bias);
                is_folded[i] = true;
            }
        }
        if !folded.is_empty() {
            factor.factorize(tree, folded);
            if factor.is_regular() {
                return;
            }
            folded.clear();
            folded_bias.clear();
            is_folded.fill(false);
        }
        factor.clone_from(tree.factor());
    }

    /// Whether a row of a joint is in the mass matrix.
    pub(super) fn holds_compliant(&self, row: usize) -> bool {
        self.is_folded[row]
    }

    /// v_p and y* of the velocities before.
    pub(super) fn begin(&mut self, tree: &TreeBasis, input: &SolveInput<'_>, v: &[f64]) {
        let SolveInput { masses, targets, rows, .. } = *input;
        let ReducedMotion { particular, moves, motion, momentum, scratch, factor, .. } = self;
        let bias = |i: usize| match targets.joints[i] {
            RowTarget::Velocity { bias } => bias,
            _ => 0.0,
        };
        *moves = tree.particular(masses, bias, scratch, particular);
        momentum.clear();
        momentum.extend(masses.mass.iter().zip(v.iter().zip(&*particular)).map(|(m, (v, p))| m * (v - p)));
        tree.project(masses, momentum, scratch, motion);
        self.offset = 0.0;
        for (row, bias) in self.folded.iter().zip(&mut self.folded_bias) {
            if *moves {
                *bias += row_velocity(rows, row.row, masses, particular);
            }
            let term = row.add_impulse(-*bias / row.compliance, motion);
            self.offset = self.offset.max(term / factor.diagonal(tree, row.first()));
        }
        tree.reduce(factor, motion);
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
        self.rows.are_known(tree, &self.factor)
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
        let ReducedMotion { rows, scratch, factor, .. } = self;
        let mut from = 0;
        for (column, &to) in rows.ends.iter().enumerate() {
            let blocks = rows.blocks[from as usize..to as usize].iter().map(|(slot, block)| (*slot, block));
            tree.reduce_row(factor, blocks, scratch, |i, value| entries.push((i, column, value)));
            from = to;
        }
        // A compliant row has a body of its own, of mass 1/c, which moves along with it.
        let own = rows.compliant.iter().enumerate();
        entries.extend(own.map(|(k, &column)| (tree.motions() + k, column, 1.0)));
        rows.remember(tree, factor);
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
        let top = terms.iter().fold(self.offset, |top: f64, size| top.max(*size));
        if motion.iter().all(|y| y.abs() <= ROUNDINGS * f64::EPSILON * top) {
            motion.fill(0.0);
        }
    }

    /// Turns the velocities without the joints of the tree, `v`, into those of y, and gives compliant rows
    /// their impulses and the rows of the tree those that are the difference.
    pub(super) fn scatter(
        &mut self,
        tree: &TreeBasis,
        input: &SolveInput<'_>,
        row_impulse: &mut [f64],
        v: &mut [f64],
    ) {
        let (masses, rows) = (input.masses, input.rows);
        let ReducedMotion { particular, motion, momentum, scratch, factor, folded, folded_bias, .. } = self;
        momentum.clear();
        momentum.extend_from_slice(v);
        v.copy_from_slice(particular);
        tree.add_motion(factor, masses, motion, scratch, v);
        for (row, bias) in folded.iter().zip(folded_bias) {
            // Not −0: what rests has the same bits in every step.
            let r = 0.0 - (row.velocity(motion) + *bias) / row.compliance;
            row_impulse[row.row] = r;
            apply_row_impulse(rows, row.row, r, masses, momentum);
        }
        momentum.iter_mut().zip(masses.mass.iter().zip(&*v)).for_each(|(p, (m, v))| *p = m * (v - *p));
        tree.reactions(masses, momentum, scratch, row_impulse);
    }

    /// One step of iterative refinement: velocities along the tree, and reactions, towards the velocities
    /// `sum` that all impulses give.
    pub(super) fn refine(
        &mut self,
        tree: &TreeBasis,
        input: &SolveInput<'_>,
        sum: &mut [f64],
        impulses: &mut Impulses,
        v: &mut [f64],
    ) {
        let masses = input.masses;
        let ReducedMotion { motion, momentum, reactions, scratch, factor, folded, .. } = self;
        let defect = |v: &[f64], sum: &[f64], sign: f64, p: &mut Vec<f64>| {
            p.clear();
            p.extend(masses.mass.iter().zip(sum.iter().zip(v)).map(|(m, (sum, v))| sign * m * (sum - v)));
        };
        defect(v, sum, 1.0, momentum);
        tree.project(masses, momentum, scratch, motion);
        tree.reduce(factor, motion);
        tree.add_motion(factor, masses, motion, scratch, v);
        for row in folded {
            let more = -row.velocity(motion) / row.compliance;
            impulses.rows[row.row] += more;
            apply_row_impulse(input.rows, row.row, more, masses, sum);
        }
        defect(v, sum, -1.0, momentum);
        reactions.clear();
        reactions.resize(impulses.rows.len(), 0.0);
        tree.reactions(masses, momentum, scratch, reactions);
        impulses.rows.iter_mut().zip(reactions).for_each(|(r, more)| *r += *more);
    }
}
