//! The mass matrix of a tree in the velocities of its joints, and its factors.
//!
//! ```text
//! Jᵀ M J + Σ h_i h_iᵀ/c_i = Lᵀ L
//! ```
//!
//! A row i of a joint of the tree that gives way, u_i + b_i + c_i r_i = 0 with u_i = h_i·z (a spring, a
//! damper, a rotor, a servo), moves nothing but its own joint. So it is a term of the mass matrix at that
//! joint, and needs no unknown of its own.

use super::{Inertia, NONE, Tree, TreeBasis, pair};

/// The most motions that a joint leaves.
const MAX_MOTIONS: usize = 6;
/// Rows that are stiffer against the inertia of their joint than this lose as many digits of their force:
/// they stay unknowns.
const MAX_STIFFNESS_RATIO: f64 = 1e4;

/// L, by rows: the entries of a motion, of the one that moves it, and so on.
#[derive(Debug, Default, PartialEq)]
pub struct TreeFactor {
    entries: Vec<f64>,
    /// Whether the matrix is positive definite in floating point numbers.
    regular: bool,
}

/// A row of a joint of the tree that gives way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompliantRow {
    /// Its place among the rows of joints.
    pub row: usize,
    /// c.
    pub compliance: f64,
    /// The first motion of its joint, how many there are, and h.
    first: usize,
    count: usize,
    entries: [f64; MAX_MOTIONS],
}

impl CompliantRow {
    /// The first motion of its joint.
    pub fn first(&self) -> usize {
        self.first
    }

    /// h·z.
    pub fn velocity(&self, z: &[f64]) -> f64 {
        (0..self.count).map(|i| self.entries[i] * z[self.first + i]).sum()
    }

    /// z ← z + h r; the largest term.
    pub fn add_impulse(&self, r: f64, z: &mut [f64]) -> f64 {
        let mut most = 0.0_f64;
        for i in 0..self.count {
            let term = self.entries[i] * r;
            z[self.first + i] += term;
            most = most.max(term.abs());
        }
        most
    }
}

impl Clone for TreeFactor {
    fn clone(&self) -> Self {
        TreeFactor { entries: self.entries.clone(), regular: self.regular }
    }

    // In the memory that is there: the derived one takes new memory in every step.
    fn clone_from(&mut self, other: &Self) {
        self.entries.clone_from(&other.entries);
        self.regular = other.regular;
    }
}

impl TreeFactor {
    /// Memory for the motions of a tree.
    pub(super) fn new(tree: &Tree) -> Self {
        let length = *tree.row_start.last().unwrap_or(&0) as usize;
        TreeFactor { entries: vec![0.0; length], regular: false }
    }

    /// The row of L of a motion: of itself, and of those that move it.
    pub(super) fn row(&self, tree: &Tree, motion: usize) -> &[f64] {
        let [from, to] = [motion, motion + 1].map(|i| tree.row_start[i] as usize);
        &self.entries[from..to]
    }

    /// Whether the matrix is positive definite in floating point numbers.
    pub fn is_regular(&self) -> bool {
        self.regular
    }

    /// L_ii.
    pub fn diagonal(&self, tree: &TreeBasis, motion: usize) -> f64 {
        self.entries[tree.tree.row_start[motion] as usize]
    }

    /// Jᵀ M J from composite inertias, which those of the links become.
    pub(super) fn set_mass(&mut self, basis: &mut [Inertia], tree: &Tree, free: &[super::Twist]) {
        for (k, link) in tree.links.iter().enumerate().rev() {
            let Inertia { mass, moment, about } = basis[k];
            for i in link.motions[0]..link.motions[1] {
                let [v, w] = free[i as usize];
                let momentum = [mass * v + w.cross(moment), moment.cross(v) + about * w];
                let mut j = i;
                for entry in &mut self.entries[tree.row_start[i as usize] as usize..] {
                    *entry = pair(&momentum, &free[j as usize]);
                    j = tree.mover[j as usize];
                    if j == NONE {
                        break;
                    }
                }
            }
            if link.parent != NONE {
                let carrier = &mut basis[link.parent as usize];
                carrier.mass += mass;
                carrier.moment += moment;
                carrier.about += about;
            }
        }
    }

    /// L of the mass matrix of a tree with these rows that give way.
    pub fn factorize(&mut self, basis: &TreeBasis, compliant: &[CompliantRow]) {
        self.entries.clone_from(&basis.mass.entries);
        for row in compliant {
            for i in 0..row.count {
                let at = basis.tree.row_start[row.first + i] as usize;
                for j in 0..=i {
                    self.entries[at + i - j] += row.entries[i] * row.entries[j] / row.compliance;
                }
            }
        }
        self.eliminate(&basis.tree);
    }

    /// The matrix becomes L, from the leaves to the roots.
    pub(super) fn eliminate(&mut self, tree: &Tree) {
        self.regular = true;
        for i in (0..tree.mover.len()).rev() {
            let (before, row) = self.entries.split_at_mut(tree.row_start[i] as usize);
            let row = &mut row[..tree.row_length(i as u32) as usize];
            if row[0].is_nan() || row[0] <= 0.0 {
                self.regular = false;
                return;
            }
            let pivot = row[0].sqrt();
            row.iter_mut().for_each(|x| *x /= pivot);
            let mut j = tree.mover[i];
            for k in 1..row.len() {
                let other = &mut before[tree.row_start[j as usize] as usize..];
                let factor = row[k];
                other.iter_mut().zip(&row[k..]).for_each(|(x, y)| *x -= factor * y);
                j = tree.mover[j as usize];
            }
        }
    }

    /// y ← L⁻ᵀ y.
    pub(super) fn solve_transposed(&self, tree: &Tree, y: &mut [f64]) {
        for i in (0..y.len()).rev() {
            let row = self.row(tree, i);
            y[i] /= row[0];
            let mut j = tree.mover[i];
            for entry in &row[1..] {
                y[j as usize] -= entry * y[i];
                j = tree.mover[j as usize];
            }
        }
    }

    /// z = L⁻¹ y in the place of y.
    pub(super) fn solve(&self, tree: &Tree, y: &mut [f64]) {
        for i in 0..y.len() {
            let row = self.row(tree, i);
            let mut j = tree.mover[i];
            let mut sum = y[i];
            for entry in &row[1..] {
                sum -= entry * y[j as usize];
                j = tree.mover[j as usize];
            }
            y[i] = sum / row[0];
        }
    }
}

impl TreeBasis {
    /// A row of a joint, with its blocks, that gives way by `compliance`; `None` where its joint is not one
    /// of the tree, or where it is too stiff.
    pub fn compliant_row(
        &self,
        row: usize,
        joint: u32,
        blocks: &[(u32, [f64; 6])],
        compliance: f64,
    ) -> Option<CompliantRow> {
        let link = *self.tree.of_joint.get(joint as usize)?;
        let (k, link) = (link as usize, self.tree.links.get(link as usize)?);
        let (_, block) = blocks.iter().find(|(body, _)| *body == link.body)?;
        let wrench = self.wrench(k, block);
        let [first, end] = link.motions.map(|i| i as usize);
        let mut entries = [0.0; MAX_MOTIONS];
        for (i, entry) in (first..end).zip(&mut entries) {
            *entry = pair(&self.free[i], &wrench);
            let inertia = self.mass.entries[self.tree.row_start[i] as usize];
            if *entry * *entry > MAX_STIFFNESS_RATIO * compliance * inertia {
                return None;
            }
        }
        Some(CompliantRow { row, compliance, first, count: end - first, entries })
    }
}
