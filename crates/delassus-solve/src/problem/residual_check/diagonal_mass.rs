//! A mass matrix without entries beside its diagonal, as that of rigid bodies in their principal axes.
//!
//! ```text
//! W_ii = Σ_k h_kᵢ h_kᵢᵀ / m_k
//! ```
//!
//! m_k are the entries of M, h_kᵢ those of row k of H in the columns of constraint i. No factors are needed
//! and no columns: all blocks come from one pass over H.

use crate::linalg::Sparse;
use crate::problem::law::Law;
use crate::problem::natural_step::step_length;

/// Constraints up to which the blocks are kept for the next problem, with the H that they belong to: in large
/// problems hardly a step has the H of the one before, and to keep it costs as much as to find them.
const MAX_KNOWN_CONSTRAINTS: usize = 500;

/// A mass matrix without entries beside its diagonal, as that of rigid bodies in their principal axes: no
/// factors, no columns.
#[derive(Clone, Debug, Default)]
pub(super) struct DiagonalMass {
    pub is_diagonal: bool,
    /// The diagonal, where M has nothing beside it.
    pub mass: Vec<f64>,
    /// Laws and H that the blocks come from, no laws where there are no blocks.
    pub laws: Vec<Law>,
    h: Sparse,
    /// The constraint of each column of H.
    constraint: Vec<usize>,
    /// The first column of each constraint, and where its block begins.
    first: Vec<(usize, usize)>,
    /// W_ii of each constraint, row by row, the upper triangle.
    blocks: Vec<f64>,
    /// Scratch of the size of a row each.
    pub terms: Vec<f64>,
}

impl DiagonalMass {
    /// Takes over M; whether it is diagonal.
    pub fn load(&mut self, mass: &Sparse) -> bool {
        // Files of blocks store zeros too.
        let diagonal = |i: usize| {
            let (columns, values) = mass.row(i);
            match (columns, values) {
                (&[column], &[m]) => (column == i).then_some(m),
                _ => {
                    let mut entries = columns.iter().zip(values).filter(|e| *e.1 != 0.0);
                    let (&column, &m) = entries.next()?;
                    (column == i && entries.next().is_none()).then_some(m)
                }
            }
        };
        let known = self.mass.len() == mass.rows()
            && self.mass.iter().enumerate().all(|(i, m)| diagonal(i) == Some(*m));
        if !known {
            self.laws.clear();
            self.mass.clear();
            self.mass.extend((0..mass.rows()).map_while(diagonal));
        }
        self.is_diagonal = self.mass.len() == mass.rows();
        self.is_diagonal
    }

    /// x ← M⁻¹ x.
    pub fn solve(&self, x: &mut [f64]) {
        x.iter_mut().zip(&self.mass).for_each(|(x, m)| *x /= m);
    }

    /// Whether the blocks are those of these laws and this H already.
    pub fn knows(&self, laws: &[Law], h: &Sparse) -> bool {
        self.laws == laws && self.h.has_bits_of(h)
    }

    /// The blocks W_ii in one pass over H. What they come from is kept beside them unless the problem is the
    /// only one.
    pub fn find_blocks(&mut self, laws: &[Law], h: &Sparse, only: bool) {
        self.laws.clear();
        if laws.len() <= MAX_KNOWN_CONSTRAINTS && !only {
            self.laws.extend_from_slice(laws);
            self.h.clone_from(h);
        }
        let DiagonalMass { mass, constraint, first, blocks, .. } = self;
        constraint.clear();
        constraint.reserve(h.cols());
        first.clear();
        first.reserve(laws.len());
        let mut size = 0;
        for (i, law) in laws.iter().enumerate() {
            first.push((constraint.len(), size));
            constraint.extend((0..law.dim()).map(|_| i));
            size += law.dim() * law.dim();
        }
        blocks.clear();
        blocks.resize(size, 0.0);
        for (k, m) in mass.iter().enumerate() {
            let (mut columns, mut values) = h.row(k);
            let mobility = 1.0 / m;
            // The rows of a constraint stand side by side.
            while let Some(&column) = columns.first() {
                let c = constraint[column];
                let ((base, place), d) = (first[c], laws[c].dim());
                let block = &mut blocks[place..place + d * d];
                // A contact with friction, all of whose rows move the body: the same sums at less cost.
                if let (&[i, _, k, ..], &[x, y, z, ..]) = (columns, values)
                    && (i, k) == (base, base + 2)
                    && let [xx, xy, xz, _, yy, yz, _, _, zz] = &mut *block
                {
                    let [rx, ry, rz] = [x, y, z].map(|x| x * mobility);
                    *xx += x * rx;
                    *xy += y * rx;
                    *xz += z * rx;
                    *yy += y * ry;
                    *yz += z * ry;
                    *zz += z * rz;
                    (columns, values) = (&columns[3..], &values[3..]);
                    continue;
                }
                let own = columns.iter().take_while(|j| constraint[**j] == c).count();
                let (own_columns, own_values) = (&columns[..own], &values[..own]);
                (columns, values) = (&columns[own..], &values[own..]);
                for (a, (&j, value)) in own_columns.iter().zip(own_values).enumerate() {
                    let response = value * mobility;
                    let row = &mut block[d * (j - base)..d * (j - base + 1)];
                    for (&i, other) in own_columns[a..].iter().zip(&own_values[a..]) {
                        row[i - base] += other * response;
                    }
                }
            }
        }
    }

    /// ρ of each constraint from its block.
    pub fn find_steps(&self, laws: &[Law], steps: &mut Vec<f64>) {
        steps.reserve(laws.len());
        for (law, &(_, place)) in laws.iter().zip(&self.first) {
            let d = law.dim();
            let block = &self.blocks[place..place + d * d];
            steps.push(step_length(d, |i, j| block[d * i.min(j) + i.max(j)]));
        }
    }
}
