//! The residual of the rows that are no unknowns of a problem: those that a tree of joints satisfies by its
//! coordinates, those that give way, and those with a bound on their force.
//!
//! ```text
//! M (v − v*) = Hᵀ r ,   u = H v + b ,   u_i = 0 in the tree ,   r_i = P_[−c,c](r_i − u_i / w_i) with a bound c
//! ```
//!
//! H has the rows of all joints and contacts in maximal coordinates, w_i = H_i M⁻¹ H_iᵀ. Errors are parts of
//! the sizes of the terms that a velocity is the sum of; a row that hardly moves is only as exact as the
//! motion beside it, of which it could have √(w_i) √(vᵀ M v) at most. So are the velocities of a body, and a
//! reaction is only as exact as the largest momentum that joints carry. Nothing here is shared with what
//! finds r and v: neither the basis of the tree nor the search for the rows that are at their bounds.

use super::SolveInput;
use crate::collision::MAX_CONTACT_ROWS;
use crate::stepping::row_targets::RowTarget;
use crate::stepping::warm_start::Impulses;
use crate::world::{FIXED_SLOT, Masses, Row, RowKind, Rows};

/// What motion elsewhere adds to the size of a row's terms, as a part of the most that the row could have of
/// it, and what momenta elsewhere add to that of a reaction. With a tolerance of 1e-10 these are some
/// thousand roundings; a chain of twenty links has four hundred.
const ELSEWHERE_RATIO: f64 = 1e-2;

/// Velocities below so many roundings of what gravity gives in a step are none.
const ROUNDINGS: f64 = 16.0;

/// Errors below this part of the tolerance count without what is elsewhere, which only makes them less.
const SMALL_ERROR_RATIO: f64 = 0.1;

/// What a solve ended with.
pub(super) struct RowsEnd<'a> {
    pub(super) input: &'a SolveInput<'a>,
    pub(super) impulses: &'a Impulses,
    /// v*.
    pub(super) before: &'a [f64],
    pub(super) velocity: &'a [f64],
    /// Impulses of rows of joints that their friction follows.
    pub(super) loads: &'a [f64],
}

/// Sums over all rows, in memory that is kept.
#[derive(Default)]
pub(super) struct RowCheck {
    /// v* + M⁻¹ Hᵀ r.
    sum: Vec<f64>,
    /// |v*| + Σ |M⁻¹ Hᵀ r|.
    terms: Vec<f64>,
    /// √(tᵀ M t) of these terms, times the ratio.
    elsewhere: f64,
    /// What reactions change a velocity by that are wrong by the ratio times the largest momentum.
    inexact: Vec<f64>,
}

impl RowCheck {
    /// The largest error of all rows, the balance of momentum included.
    pub(super) fn residual(&mut self, end: &RowsEnd<'_>) -> f64 {
        let small = SMALL_ERROR_RATIO * end.input.options.tolerance;
        self.add_up(end);
        let mut momentum = self.momentum_error(end);
        if momentum > small {
            self.find_inexact(end);
            momentum = self.momentum_error(end);
        }
        momentum.max(self.row_error(end, small))
    }

    /// v* + M⁻¹ Hᵀ r of the end that was checked last.
    pub(super) fn velocity_by_impulses_mut(&mut self) -> &mut [f64] {
        &mut self.sum
    }

    fn add_up(&mut self, end: &RowsEnd<'_>) {
        let SolveInput { masses, rows, contacts, .. } = *end.input;
        self.sum.clear();
        self.sum.extend_from_slice(end.before);
        self.terms.clear();
        self.terms.extend(end.before.iter().map(|v| v.abs()));
        let (sums, terms) = (self.sum.as_chunks_mut::<6>().0, self.terms.as_chunks_mut::<6>().0);
        let inverses = masses.inverse.as_chunks::<6>().0;
        let mut add = |slot: u32, block: &[f64; 6], r: f64| {
            // Copies, which nothing else can change: all six entries at once.
            let (block, inverse) = (*block, inverses[slot as usize]);
            let change: [f64; 6] = std::array::from_fn(|c| inverse[c] * block[c] * r);
            let (sum, terms) = (&mut sums[slot as usize], &mut terms[slot as usize]);
            *sum = std::array::from_fn(|c| sum[c] + change[c]);
            *terms = std::array::from_fn(|c| terms[c] + change[c].abs());
        };
        for (row, &r) in rows.rows.iter().zip(&end.impulses.rows).filter(|(_, r)| **r != 0.0) {
            for (body, block) in rows.blocks_of(row) {
                add(masses.slot[*body as usize], block, r);
            }
        }
        for (contact, r) in contacts.iter().zip(&end.impulses.contacts) {
            let r: &[f64; MAX_CONTACT_ROWS] = r;
            for (slot, blocks) in contact.slots.iter().zip(&contact.blocks) {
                if *slot != FIXED_SLOT {
                    blocks.iter().zip(r).take(contact.law.dim()).for_each(|(block, r)| add(*slot, block, *r));
                }
            }
        }
        let mut energies = [0.0; 6];
        for (m, t) in masses.mass.as_chunks::<6>().0.iter().zip(self.terms.as_chunks::<6>().0) {
            (0..6).for_each(|c| energies[c] += m[c] * t[c] * t[c]);
        }
        let twice_energy = sum_of(&energies);
        // Where weights are carried and all else is at rest, what is left of them is their rounding.
        let mass: f64 = masses.mass.chunks_exact(6).map(|m| m[0]).sum();
        let rounding = ROUNDINGS * f64::EPSILON * end.input.fall * mass.sqrt();
        self.elsewhere = (ELSEWHERE_RATIO * twice_energy.sqrt()).max(rounding / end.input.options.tolerance);
        self.inexact.clear();
        self.inexact.resize(self.terms.len(), 0.0);
    }

    /// A reaction is the difference of momenta, or of their moments about a lever.
    fn find_inexact(&mut self, end: &RowsEnd<'_>) {
        let SolveInput { masses, rows, tree, .. } = *end.input;
        let Some(tree) = tree else { return };
        // Squares first: one root at the end.
        let square = |x: &[f64]| x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
        let (mut momentum, mut moment, mut lever) = (0.0_f64, 0.0_f64, 0.0_f64);
        for (m, t) in masses.mass.chunks_exact(6).zip(self.terms.chunks_exact(6)) {
            let p: [f64; 6] = std::array::from_fn(|c| m[c] * t[c]);
            momentum = momentum.max(square(&p[..3]));
            moment = moment.max(square(&p[3..]));
        }
        let in_tree = || rows.rows.iter().enumerate().filter(|(i, _)| tree.holds(*i)).map(|(_, row)| row);
        for (_, block) in in_tree().flat_map(|row| rows.blocks_of(row)) {
            let (along, about) = (square(&block[..3]), square(&block[3..]));
            if along > 0.0 && about > lever * along {
                lever = about / along;
            }
        }
        let [momentum, moment, lever] = [momentum, moment, lever].map(f64::sqrt);
        // What nothing pushes, as the rotation of a body that is held at its centre, has no terms of its own.
        for (inexact, inverse) in self.inexact.iter_mut().zip(&masses.inverse) {
            *inexact += inverse.sqrt() * self.elsewhere;
        }
        for (body, block) in in_tree().flat_map(|row| rows.blocks_of(row)) {
            let body = six(masses.slot[*body as usize]);
            let turns = block[..3] == [0.0; 3];
            let carried = ELSEWHERE_RATIO * if turns { moment + lever * momentum } else { momentum };
            let inexact = &mut self.inexact[body.clone()];
            for (c, inverse) in masses.inverse[body].iter().enumerate() {
                inexact[c] += inverse * block[c].abs() * carried;
            }
        }
    }

    /// Of v = v* + M⁻¹ Hᵀ r, translations and rotations of each body by themselves.
    fn momentum_error(&self, end: &RowsEnd<'_>) -> f64 {
        let mut worst = 0.0_f64;
        for at in (0..self.sum.len()).step_by(3) {
            let (mut error, mut size) = (0.0_f64, 0.0_f64);
            for k in at..at + 3 {
                error = worse(error, (self.sum[k] - end.velocity[k]).abs());
                size = size.max(self.terms[k] + self.inexact[k]);
            }
            worst = worse(worst, part_of(error, size));
        }
        worst
    }

    fn row_error(&self, end: &RowsEnd<'_>, small: f64) -> f64 {
        let SolveInput { masses, rows, targets, tree, duration, .. } = *end.input;
        let (velocities, sizes) = (end.velocity.as_chunks::<6>().0, self.terms.as_chunks::<6>().0);
        let mut worst = 0.0_f64;
        for (i, row) in rows.rows.iter().enumerate() {
            let in_tree = tree.is_some_and(|tree| tree.holds(i));
            let bound = match row.kind {
                RowKind::Bounded { force, per_load: 0.0 } => Some(force * duration),
                RowKind::Bounded { force, per_load } => {
                    let own = rows.rows.iter().zip(end.loads).filter(|(other, _)| other.joint == row.joint);
                    let load = own.map(|(other, r)| (other.load * r) * (other.load * r)).sum::<f64>().sqrt();
                    Some(force * duration + per_load * load)
                }
                _ => None,
            };
            let servo = match (row.kind, targets.joints[i]) {
                (RowKind::Servo { range, .. }, RowTarget::Compliant { .. })
                    if range.iter().any(|f| f.is_finite()) =>
                {
                    Some(range.map(|f| f * duration))
                }
                _ => None,
            };
            let (bias, compliance) = match targets.joints[i] {
                RowTarget::Velocity { bias } if in_tree || bound.is_some() => (bias, 0.0),
                RowTarget::Compliant { bias, compliance } if servo.is_some() || tree.is_some() => {
                    (bias, compliance)
                }
                _ => continue,
            };
            // Entry by entry: six sums at once.
            let (mut along, mut sums) = ([0.0; 6], [0.0; 6]);
            for (body, block) in rows.blocks_of(row) {
                let slot = masses.slot[*body as usize] as usize;
                let (block, velocity, sizes) = (*block, velocities[slot], sizes[slot]);
                along = std::array::from_fn(|c| along[c] + block[c] * velocity[c]);
                sums = std::array::from_fn(|c| sums[c] + block[c].abs() * sizes[c]);
            }
            let u = bias + sum_of(&along);
            let mut terms = bias.abs() + sum_of(&sums);
            let r = end.impulses.rows[i];
            terms += compliance * r.abs();
            let mut error = (u + compliance * r).abs();
            if let Some(c) = bound {
                let w = mobility(rows, row, masses);
                if w > 0.0 {
                    error = w * (r - (r - u / w).clamp(-c, c)).abs();
                }
            }
            if let Some([low, high]) = servo {
                error = compliance * (r - (-u / compliance).clamp(low, high)).abs();
            }
            let mut part = part_of(error, terms);
            if part.is_nan() || part > small {
                part = part_of(error, terms + mobility(rows, row, masses).sqrt() * self.elsewhere);
            }
            worst = worse(worst, part);
        }
        worst
    }
}

/// The sum of six numbers, in an order that is the same for all.
fn sum_of(x: &[f64; 6]) -> f64 {
    (x[0] + x[2] + x[4]) + (x[1] + x[3] + x[5])
}

/// w_i = H_i M⁻¹ H_iᵀ.
fn mobility(rows: &Rows, row: &Row, masses: &Masses) -> f64 {
    let mut sum = 0.0;
    for (body, block) in rows.blocks_of(row) {
        let inverse = &masses.inverse[six(masses.slot[*body as usize])];
        sum += block.iter().zip(inverse).map(|(h, inverse)| h * h * inverse).sum::<f64>();
    }
    sum
}

/// The places of a body.
fn six(slot: u32) -> std::ops::Range<usize> {
    6 * slot as usize..6 * slot as usize + 6
}

/// The larger one; what is no number is infinite.
fn worse(a: f64, b: f64) -> f64 {
    if b.is_nan() { f64::INFINITY } else { a.max(b) }
}

/// An error as a part of its terms; none where there is none.
fn part_of(error: f64, terms: f64) -> f64 {
    if error == 0.0 { 0.0 } else { error / terms }
}
