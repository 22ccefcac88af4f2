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
use crate::world::{
    CompliantRow, MAX_ROWS_AT_ONCE, TreeBasis, TreeFactor, TreeScratch, apply_row_impulse, row_velocity,
};

/// Motions below so many times the rounding of their terms are none.
const ROUNDINGS: f64 = 16.0;
/// The part of the largest terms that counts as terms of a motion that has less of its own.
const ELSEWHERE_RATIO: f64 = 1e-2;

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
    /// y with impulses, sizes of its terms, and the largest one of compliant rows.
    after: Vec<f64>,
    terms: Vec<f64>,
    offset: f64,
    scratch: TreeScratch,
    rows: ReducedRows,
    /// L, the rows in it, with b_i + H_i v_p, and per row of a joint whether it is one of them.
    factor: TreeFactor,
    folded: Vec<CompliantRow>,
    /// What L was made of, where it has such rows: they, and Jᵀ M J.
    folded_before: Vec<CompliantRow>,
    mass_before: TreeFactor,
    folded_bias: Vec<f64>,
    is_folded: Vec<bool>,
}

/// Rows of H and what they are reduced to. The passes of a step, and its end and the start of the next one,
/// have most of them in common.
#[derive(Default)]
struct ReducedRows {
    now: RowList,
    before: RowList,
    /// The motions that the rows before were reduced to.
    tree: Option<TreeBasis>,
    factor: TreeFactor,
}

/// Rows and their entries.
#[derive(Default)]
struct RowList {
    /// Slots and blocks of all rows, and where those of each row end.
    blocks: Vec<(u32, [f64; 6])>,
    ends: Vec<u32>,
    /// Columns of compliant rows.
    compliant: Vec<usize>,
    /// Motions and entries of all columns of Hᵣᵀ, and where those of each column end.
    entries: Vec<(u32, f64)>,
    entry_ends: Vec<u32>,
}

impl RowList {
    fn clear(&mut self) {
        self.blocks.clear();
        self.ends.clear();
        self.compliant.clear();
        self.entries.clear();
        self.entry_ends.clear();
    }

    fn blocks_of(&self, row: usize) -> &[(u32, [f64; 6])] {
        let from = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.blocks[from as usize..self.ends[row] as usize]
    }

    fn entries_of(&self, row: usize) -> &[(u32, f64)] {
        let from = if row == 0 { 0 } else { self.entry_ends[row - 1] };
        &self.entries[from as usize..self.entry_ends[row] as usize]
    }

    /// Whether N rows from this one on stand on the same slots.
    fn has_same_slots<const N: usize>(&self, row: usize) -> bool {
        let slots = |row: usize| self.blocks_of(row).iter().map(|(slot, _)| *slot);
        row + N <= self.ends.len() && (row + 1..row + N).all(|other| slots(row).eq(slots(other)))
    }

    /// Reduces N rows on the same slots from this one on.
    fn reduce<const N: usize>(
        &mut self,
        row: usize,
        tree: &TreeBasis,
        factor: &TreeFactor,
        scratch: &mut TreeScratch,
    ) {
        let RowList { blocks, ends, entries, entry_ends, .. } = self;
        let start = |row: usize| if row == 0 { 0 } else { ends[row - 1] as usize };
        let starts: [usize; N] = std::array::from_fn(|n| start(row + n));
        let count = ends[row] as usize - starts[0];
        let together = (0..count).map(|k| (blocks[starts[0] + k].0, starts.map(|at| &blocks[at + k].1)));
        // The paths of all rows are as long as that of the first, whose entries are counted last to first.
        let from = entries.len();
        tree.reduce_rows(factor, together, scratch, |motion, values: [f64; N]| {
            entries.extend(values.map(|value| (motion as u32, value)));
        });
        let length = (entries.len() - from) / N;
        if N > 1 {
            let spare = entries.len();
            for n in 0..N {
                for k in 0..length {
                    let entry = entries[from + k * N + n];
                    entries.push(entry);
                }
            }
            entries.drain(from..spare);
        }
        entry_ends.extend((1..=N).map(|n| (from + n * length) as u32));
    }
}

impl ReducedRows {
    /// Reduces the rows; whether they are others than before.
    fn reduce(&mut self, tree: &TreeBasis, factor: &TreeFactor, scratch: &mut TreeScratch) -> bool {
        let ReducedRows { now, before, .. } = self;
        let same_motions =
            self.tree.as_ref().is_some_and(|known| known.has_motions_of(tree)) && self.factor == *factor;
        if same_motions
            && now.ends == before.ends
            && now.compliant == before.compliant
            && now.blocks == before.blocks
        {
            return false;
        }
        let (mut row, mut next) = (0, 0);
        while row < now.ends.len() {
            let known = |row: usize, from: usize| {
                let rows = from..if same_motions { before.ends.len() } else { 0 };
                rows.into_iter().find(|&other| before.blocks_of(other) == now.blocks_of(row))
            };
            if let Some(other) = known(row, next) {
                now.entries.extend_from_slice(before.entries_of(other));
                now.entry_ends.push(now.entries.len() as u32);
                (row, next) = (row + 1, other + 1);
            } else if now.has_same_slots::<MAX_ROWS_AT_ONCE>(row) {
                now.reduce::<MAX_ROWS_AT_ONCE>(row, tree, factor, scratch);
                row += MAX_ROWS_AT_ONCE;
            } else {
                now.reduce::<1>(row, tree, factor, scratch);
                row += 1;
            }
        }
        if !same_motions {
            self.factor.clone_from(factor);
            match &mut self.tree {
                Some(known) => known.clone_motions_from(tree),
                None => self.tree = Some(tree.clone()),
            }
        }
        true
    }
}

impl ReducedMotion {
    /// L, with rows that give way in it: of those that `unknown` gives b and c of.
    pub(super) fn factorize(
        &mut self,
        input: &SolveInput<'_>,
        unknown: impl Fn(usize) -> Option<(f64, f64)>,
    ) {
        let ReducedMotion { factor, folded, folded_before, mass_before, folded_bias, is_folded, .. } = self;
        folded.clear();
        folded_bias.clear();
        is_folded.clear();
        is_folded.resize(input.rows.rows.len(), false);
        let Some(tree) = input.tree else { return };
        for (i, row) in input.rows.rows.iter().enumerate() {
            // Others have no compliance.
            if !matches!(input.targets.joints[i], RowTarget::Compliant { .. }) {
                continue;
            }
            let Some((bias, compliance)) = unknown(i).filter(|(_, c)| *c > 0.0) else { continue };
            let blocks = input.rows.blocks_of(row);
            if let Some(row) = tree.compliant_row(i, row.joint, blocks, compliance) {
                folded.push(row);
                folded_bias.push(bias);
                is_folded[i] = true;
            }
        }
        if !folded.is_empty() {
            if folded == folded_before && mass_before == tree.mass() {
                return;
            }
            factor.factorize(tree, folded);
            if factor.is_regular() {
                folded_before.clone_from(folded);
                mass_before.clone_from(tree.mass());
                return;
            }
            folded.clear();
            folded_bias.clear();
            is_folded.fill(false);
        }
        folded_before.clear();
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
        // y² is an energy: where weights are carried and all else is at rest, only rounding is left of them.
        let mass: f64 = masses.mass.chunks_exact(6).map(|m| m[0]).sum();
        let rounding = ROUNDINGS * f64::EPSILON * input.fall * mass.sqrt();
        if motion.iter().all(|y| y.abs() <= rounding) {
            motion.fill(0.0);
        }
    }

    /// v_p, where it is not zero.
    pub(super) fn particular(&self) -> Option<&[f64]> {
        self.moves.then_some(&self.particular)
    }

    /// y*.
    pub(super) fn motion(&self) -> &Vec<f64> {
        &self.motion
    }

    /// Changes y* by rounding.
    pub(super) fn set_motion(&mut self, motion: &[f64]) {
        self.motion.copy_from_slice(motion);
    }

    /// The next rows are none that are known.
    pub(super) fn forget_rows(&mut self) {
        self.rows.tree = None;
    }

    /// Begins with no rows of H.
    pub(super) fn clear_rows(&mut self) {
        self.rows.now.clear();
    }

    /// Adds a row of H, a column of Hᵣᵀ.
    pub(super) fn add_row<'a>(&mut self, blocks: impl Iterator<Item = (u32, &'a [f64; 6])>) {
        let RowList { blocks: all, ends, .. } = &mut self.rows.now;
        all.extend(blocks.map(|(slot, block)| (slot, *block)));
        ends.push(all.len() as u32);
    }

    /// The row added last is compliant.
    pub(super) fn add_compliance(&mut self) {
        let RowList { ends, compliant, .. } = &mut self.rows.now;
        compliant.push(ends.len() - 1);
    }

    /// The entries of Hᵣᵀ, where they are others than before; whether they are.
    pub(super) fn reduce_rows(&mut self, tree: &TreeBasis, entries: &mut Vec<(usize, usize, f64)>) -> bool {
        let ReducedMotion { rows, scratch, factor, .. } = self;
        if !rows.reduce(tree, factor, scratch) {
            return false;
        }
        entries.clear();
        for column in 0..rows.now.ends.len() {
            entries
                .extend(rows.now.entries_of(column).iter().map(|(i, value)| (*i as usize, column, *value)));
        }
        // A compliant row has a body of its own, of mass 1/c, which moves along with it.
        let own = rows.now.compliant.iter().enumerate();
        entries.extend(own.map(|(k, &column)| (tree.motions() + k, column, 1.0)));
        std::mem::swap(&mut rows.now, &mut rows.before);
        true
    }

    /// y ← y* + Hᵣᵀ r, or 0 where that leaves bodies at rest.
    pub(super) fn apply_impulses(&mut self, h: &Sparse, impulse: &[f64], left: f64) {
        if self.leave_at_rest(h, impulse, left) {
            self.motion.fill(0.0);
        } else {
            self.motion.clone_from(&self.after);
        }
    }

    /// Whether y* + Hᵣᵀ r has nothing but the rounding of terms that cancel, or this part of them, which is
    /// what a solve leaves. It is evaluated for all motions, y² being an energy.
    pub(super) fn leave_at_rest(&mut self, h: &Sparse, impulse: &[f64], left: f64) -> bool {
        let ReducedMotion { motion, after, terms, .. } = self;
        after.clear();
        terms.clear();
        for (i, y) in motion.iter().enumerate() {
            let (mut sum, mut size) = (*y, y.abs());
            let (columns, values) = h.row(i);
            for (&j, x) in columns.iter().zip(values) {
                let term = x * impulse[j];
                sum += term;
                size += term.abs();
            }
            after.push(sum);
            terms.push(size);
        }
        let top = terms.iter().fold(self.offset, |top: f64, size| top.max(*size));
        let rounding = ROUNDINGS * f64::EPSILON * top;
        let none = |(y, size): (&f64, &f64)| y.abs() <= rounding.max(left * size.max(ELSEWHERE_RATIO * top));
        after.iter().zip(&*terms).all(none)
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
