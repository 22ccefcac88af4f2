//! Sliding contacts and guides whose numbers are intervals: one solution for every load, or how many with the
//! load that is given.
//!
//! ```text
//! u = W f + q ,   contact: 0 ≤ u ⊥ f ≥ 0, tangents −μ e f ,   guide: u = 0, tangents −μ e |f|
//! ```
//!
//! W has the normal of each constraint and then its tangents; μ and e are the friction and the direction of
//! sliding of each. A *mode* says of every contact whether it is open, of every guide the sign of its force;
//! in a mode the problem is linear. Every statement is true of all numbers inside of the intervals.

use super::interval_matrix::{IntervalMatrix, P_MATRIX_MAX};
use crate::formula::Interval;

/// Constraints that slide, with all their numbers.
pub(super) struct Sliding<'a> {
    /// W on the rows of all constraints.
    pub w: &'a IntervalMatrix,
    /// The row of the normal of each constraint.
    pub offsets: &'a [usize],
    /// Places of the guides among the constraints.
    pub guides: &'a [usize],
    /// Places of the contacts that are closed, or may be.
    pub contacts: &'a [usize],
    /// Friction coefficients.
    pub mu: &'a [Interval],
    /// Directions of sliding.
    pub e: &'a [&'a [Interval]],
}

/// How many solutions there are, at every point of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    /// None.
    None,
    /// Exactly one.
    One,
    /// At least two.
    Several,
}

impl Sliding<'_> {
    /// The answer of W in a row to the force s·(1, 0) + (0, −μe) of a constraint.
    fn answer(&self, row: usize, k: usize, sign: f64) -> Interval {
        let (w, at) = (self.w, self.offsets[k]);
        let friction =
            (0..self.e[k].len()).fold(Interval::ZERO, |sum, i| sum + self.e[k][i] * w[(row, at + 1 + i)]);
        w[(row, at)] * sign - self.mu[k] * friction
    }

    /// The answer to a unit of normal force; that of a guide pulled in the opposite direction, where
    /// `flipped`.
    fn column(&self, row: usize, k: usize, flipped: bool) -> Interval {
        if flipped { -self.answer(row, k, -1.0) } else { self.answer(row, k, 1.0) }
    }

    fn unknowns(&self) -> usize {
        self.guides.len() + self.contacts.len()
    }

    /// The guides, and the contacts of a set: bit k is guide k flipped, then contact k closed.
    fn members(&self, set: usize) -> Vec<usize> {
        let g = self.guides.len();
        let closed = self.contacts.iter().enumerate().filter(|(i, _)| set >> (g + i) & 1 == 1);
        self.guides.iter().copied().chain(closed.map(|(_, &k)| k)).collect()
    }

    /// The matrix of a mode on its members.
    fn matrix(&self, set: usize, members: &[usize]) -> IntervalMatrix {
        IntervalMatrix::from_fn(members.len(), members.len(), |i, j| {
            let flipped = j < self.guides.len() && set >> j & 1 == 1;
            self.column(self.offsets[members[i]], members[j], flipped)
        })
    }

    /// Whether the matrix of the LCP in (λ⁻ of guides, λ of contacts) is a P-matrix (000 eq. 58): exactly one
    /// solution for every load. `false` where that is not seen.
    pub fn is_p(&self) -> bool {
        let n = self.unknowns();
        if self.guides.is_empty() {
            let lcp = |i: usize, j: usize| self.answer(self.offsets[self.contacts[i]], self.contacts[j], 1.0);
            return IntervalMatrix::from_fn(n, n, lcp).is_p_matrix();
        }
        // The principal minor of a set of unknowns is det G(set)/det G(∅), where G(set) has the guides and
        // the contacts of the set, and the guides of the set are flipped. Solving for λ⁺ first would divide
        // by det G(∅) and lose all digits where it vanishes.
        if n > P_MATRIX_MAX {
            return false;
        }
        let mut common = None;
        (0..1usize << n).all(|set| {
            let sign = self.matrix(set, &self.members(set)).determinant_sign();
            sign.is_some() && *common.get_or_insert(sign) == sign
        })
    }

    /// Whether some load has no solution or several, at every point; `false` where that is not seen.
    ///
    /// Two principal minors of different sign refute the P-property. That needs all loads to be possible: the
    /// normals must be independent.
    pub fn is_refuted(&self) -> bool {
        let n = self.unknowns();
        if n > P_MATRIX_MAX {
            return false;
        }
        let all = self.members(!0);
        let normals =
            IntervalMatrix::from_fn(n, n, |i, j| self.w[(self.offsets[all[i]], self.offsets[all[j]])]);
        if !normals.is_positive_definite() {
            return false;
        }
        // The minor of no contacts at all is 1.
        let mut common = self.guides.is_empty().then_some(1.0);
        (0..1usize << n).any(|set| {
            let members = self.members(set);
            let sign = if members.is_empty() { None } else { self.matrix(set, &members).determinant_sign() };
            sign.is_some_and(|s| *common.get_or_insert(s) != s)
        })
    }

    /// How many solutions there are with the accelerations `q` that the load gives to the rows; `None` where
    /// that is not the same, or not seen, at all points.
    ///
    /// A mode is excluded where one of its forces or gaps has the wrong sign at every point; it is a solution
    /// at every point where all of them have the right one, none of them zero.
    pub fn count(&self, q: &[Interval]) -> Option<Count> {
        let n = self.unknowns();
        if n > P_MATRIX_MAX {
            return None;
        }
        let (mut found, mut unclear) = (0, false);
        for set in 0..1usize << n {
            match self.mode(set, q) {
                Some(true) => found += 1,
                Some(false) => {}
                None => unclear = true,
            }
            if found == 2 {
                return Some(Count::Several);
            }
        }
        match (found, unclear) {
            (_, true) => None,
            (0, false) => Some(Count::None),
            _ => Some(Count::One),
        }
    }

    /// Whether the solution of a mode has the signs of the mode: everywhere, nowhere, or unclear.
    fn mode(&self, set: usize, q: &[Interval]) -> Option<bool> {
        let members = self.members(set);
        let right = IntervalMatrix::from_fn(members.len(), 1, |i, _| -q[self.offsets[members[i]]]);
        let f = self.matrix(set, &members).solve(&right)?;
        let mut everywhere = true;
        let mut sign = |x: Interval| {
            everywhere &= x.lo > 0.0;
            x.hi < 0.0
        };
        let mut nowhere = false;
        for i in 0..members.len() {
            let flipped = i < self.guides.len() && set >> i & 1 == 1;
            nowhere |= sign(if flipped { -f[(i, 0)] } else { f[(i, 0)] });
        }
        for &open in self.contacts.iter().filter(|k| !members.contains(k)) {
            let row = self.offsets[open];
            let gap = (0..members.len()).fold(q[row], |sum, j| {
                let flipped = j < self.guides.len() && set >> j & 1 == 1;
                sum + self.column(row, members[j], flipped) * f[(j, 0)]
            });
            if gap.is_undefined() {
                return None;
            }
            nowhere |= sign(gap);
        }
        if nowhere { Some(false) } else { everywhere.then_some(true) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(rows: &[&[f64]]) -> IntervalMatrix {
        IntervalMatrix::from_fn(rows.len(), rows.len(), |i, j| Interval::point(rows[i][j]))
    }

    /// One contact with w = [a h; h b] that slides along +1.
    fn one(mu: f64, check: impl Fn(&Sliding<'_>)) {
        let w = point(&[&[2.5, 1.5], &[1.5, 2.5]]);
        let e: [&[Interval]; 1] = [&[Interval::ONE]];
        let mu = [Interval::point(mu)];
        check(&Sliding { w: &w, offsets: &[0], guides: &[], contacts: &[0], mu: &mu, e: &e });
    }

    #[test]
    fn one_contact_below_and_above_its_jamming_friction() {
        let count = |s: &Sliding<'_>, q: f64| s.count(&[Interval::point(q), Interval::ZERO]);
        // μ_jam = 2.5/1.5.
        one(1.6, |s| {
            assert!(s.is_p() && !s.is_refuted());
            assert_eq!((count(s, -1.0), count(s, 1.0)), (Some(Count::One), Some(Count::One)));
        });
        one(1.7, |s| {
            assert!(!s.is_p() && s.is_refuted());
            assert_eq!((count(s, -1.0), count(s, 1.0)), (Some(Count::None), Some(Count::Several)));
            // Force zero and gap zero: on the border, not decided.
            assert_eq!(count(s, 0.0), None);
        });
    }

    /// The rod of Painlevé and Klein at 60° with friction 1 has three solutions, with 0.5 one (000 §3.2.1).
    #[test]
    fn two_guides() {
        let (c2, sc) = (0.25, 3f64.sqrt() / 4.0);
        let (a, b, h) = (1.0 + 3.0 * c2, 1.0 - 3.0 * c2, 3.0 * sc);
        // Rows: upper normal, upper tangent, lower normal, lower tangent.
        let w = point(&[
            &[a, -h, b, h],
            &[-h, 1.0 + 9.0 * c2, h, 1.0 - 9.0 * c2],
            &[b, h, a, -h],
            &[h, 1.0 - 9.0 * c2, -h, 1.0 + 9.0 * c2],
        ]);
        let left = [-Interval::ONE];
        let q = [-9.81, 0.0, -9.81, 0.0].map(Interval::point);
        for (mu, is_p, count) in [(0.5, true, Count::One), (1.0, false, Count::Several)] {
            let mu = [Interval::point(mu); 2];
            let s = Sliding {
                w: &w,
                offsets: &[0, 2],
                guides: &[0, 1],
                contacts: &[],
                mu: &mu,
                e: &[&left, &left],
            };
            assert_eq!((s.is_p(), s.is_refuted(), s.count(&q)), (is_p, !is_p, Some(count)));
        }
    }
}
