//! Sliding and resting contacts and guides whose numbers are intervals: one solution for every load, or how
//! many with the load that is given.
//!
//! ```text
//! u = W f + q ,   contact: 0 ≤ u ⊥ f ≥ 0, tangents −μ e f ,   guide: u = 0, tangents −μ e |f|
//!                 at rest: |tangent| ≤ μ |f|, against the acceleration of the slip where that is not zero
//! ```
//!
//! W has the normal of each constraint and then its tangents; μ and e are the friction and the direction of
//! sliding of each. A *mode* says of every contact whether it is open, of every guide the sign of its force,
//! of what rests which way it begins to slide, if any; in a mode the problem is linear. Every statement is
//! true of all numbers inside of the intervals.

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
    /// Directions of sliding; without meaning at rest.
    pub e: &'a [&'a [Interval]],
    /// Constraints with one tangent, which is at rest.
    pub resting: &'a [usize],
}

/// What resting constraints do in a mode: those that begin to slide with their signs, and those that stick.
#[derive(Clone, Default)]
struct FromRest {
    slides: Vec<(usize, f64)>,
    sticks: Vec<usize>,
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
        if !self.resting.is_empty() {
            return false;
        }
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
        if n > P_MATRIX_MAX || !self.resting.is_empty() {
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
            for rest in self.rest_modes(set) {
                match self.with_slips(&rest, |s| s.mode(set, &rest, q)) {
                    Some(true) => found += 1,
                    Some(false) => {}
                    None => unclear = true,
                }
                if found == 2 {
                    return Some(Count::Several);
                }
            }
        }
        match (found, unclear) {
            (_, true) => None,
            (0, false) => Some(Count::None),
            _ => Some(Count::One),
        }
    }

    /// All that the resting constraints of a mode may do.
    fn rest_modes(&self, set: usize) -> Vec<FromRest> {
        let members = self.members(set);
        let mut all = vec![FromRest::default()];
        for &k in self.resting.iter().filter(|k| members.contains(k)) {
            let begins = |rest: &FromRest, sign: f64| {
                let mut rest = rest.clone();
                rest.slides.push((k, sign));
                rest
            };
            let sticks = |rest: &FromRest| {
                let mut rest = rest.clone();
                rest.sticks.push(k);
                rest
            };
            all = all.iter().flat_map(|r| [sticks(r), begins(r, 1.0), begins(r, -1.0)]).collect();
        }
        all
    }

    /// The same constraints with the directions of those that begin to slide; none where they stick.
    fn with_slips<T>(&self, rest: &FromRest, ask: impl FnOnce(&Sliding<'_>) -> T) -> T {
        let ways = [[Interval::ONE], [-Interval::ONE], [Interval::ZERO]];
        let mut e = self.e.to_vec();
        rest.slides.iter().for_each(|&(k, sign)| e[k] = &ways[usize::from(sign < 0.0)]);
        rest.sticks.iter().for_each(|&k| e[k] = &ways[2]);
        ask(&Sliding { e: &e, resting: &[], ..*self })
    }

    /// The accelerations of a row, per unit of each unknown: normal forces of members, then tangents that
    /// stick.
    fn effects(&self, row: usize, set: usize, members: &[usize], rest: &FromRest) -> Vec<Interval> {
        let flipped = |j: usize| j < self.guides.len() && set >> j & 1 == 1;
        let normals = members.iter().enumerate().map(|(j, &k)| self.column(row, k, flipped(j)));
        normals.chain(rest.sticks.iter().map(|&k| self.w[(row, self.offsets[k] + 1)])).collect()
    }

    /// Whether the solution of a mode has the signs of the mode: everywhere, nowhere, or unclear.
    fn mode(&self, set: usize, rest: &FromRest, q: &[Interval]) -> Option<bool> {
        let members = self.members(set);
        let normals = members.iter().map(|&k| self.offsets[k]);
        let rows: Vec<usize> = normals.chain(rest.sticks.iter().map(|&k| self.offsets[k] + 1)).collect();
        let effects: Vec<Vec<Interval>> =
            rows.iter().map(|&row| self.effects(row, set, &members, rest)).collect();
        let right = IntervalMatrix::from_fn(rows.len(), 1, |i, _| -q[rows[i]]);
        let f = IntervalMatrix::from_fn(rows.len(), rows.len(), |i, j| effects[i][j]).solve(&right)?;
        let acceleration = |row: usize| {
            let effects = self.effects(row, set, &members, rest);
            effects.iter().enumerate().fold(q[row], |sum, (j, x)| sum + *x * f[(j, 0)])
        };
        let pressure = |i: usize| {
            let flipped = i < self.guides.len() && set >> i & 1 == 1;
            if flipped { -f[(i, 0)] } else { f[(i, 0)] }
        };
        let mut everywhere = true;
        let mut sign = |x: Interval| {
            everywhere &= x.lo > 0.0;
            x.hi < 0.0
        };
        let mut nowhere = false;
        for i in 0..members.len() {
            nowhere |= sign(pressure(i));
        }
        let open = self.contacts.iter().filter(|k| !members.contains(k)).map(|&k| (self.offsets[k], 1.0));
        let begins = rest.slides.iter().map(|&(k, way)| (self.offsets[k] + 1, way));
        for (row, way) in open.chain(begins) {
            let found = acceleration(row) * way;
            if found.is_undefined() {
                return None;
            }
            nowhere |= sign(found);
        }
        for (j, &k) in rest.sticks.iter().enumerate() {
            let member = members.iter().position(|&m| m == k)?;
            let (most, tangent) = (self.mu[k] * pressure(member), f[(members.len() + j, 0)]);
            if most.is_undefined() || tangent.is_undefined() {
                return None;
            }
            nowhere |= sign(most - tangent) | sign(most + tangent);
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
        check(&Sliding { w: &w, offsets: &[0], guides: &[], contacts: &[0], mu: &mu, e: &e, resting: &[] });
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
                resting: &[],
            };
            assert_eq!((s.is_p(), s.is_refuted(), s.count(&q)), (is_p, !is_p, Some(count)));
        }
    }

    #[test]
    fn a_contact_at_rest_sticks_slides_or_does_either() {
        let count = |w: &IntervalMatrix, mu: f64, q: [f64; 2]| {
            let (mu, none): (_, [&[Interval]; 1]) = ([Interval::point(mu)], [&[]]);
            let s =
                Sliding { w, offsets: &[0], guides: &[], contacts: &[0], mu: &mu, e: &none, resting: &[0] };
            assert!(!s.is_p() && !s.is_refuted());
            s.count(&q.map(Interval::point))
        };
        // A block on a slope of tangent 1/2.
        let block = point(&[&[1.0, 0.0], &[0.0, 1.0]]);
        assert_eq!([0.6, 0.4].map(|mu| count(&block, mu, [-1.0, 0.5])), [Some(Count::One); 2]);
        assert_eq!(count(&block, 0.5, [-1.0, 0.5]), None);
        // Pulled off, but held down by the friction that its rotation needs: f = −W⁻¹q = (1.63, −2.37).
        let rod = point(&[&[1.0, 0.9], &[0.9, 1.0]]);
        assert_eq!(count(&rod, 2.0, [0.5, 0.9]), Some(Count::Several));
        assert_eq!(count(&rod, 0.5, [0.5, 0.9]), Some(Count::One));
    }

    #[test]
    fn a_guide_at_rest_holds_what_its_friction_can() {
        let w = point(&[&[1.0, 0.0], &[0.0, 1.0]]);
        let count = |mu: f64, q: [f64; 2]| {
            let (mu, none): (_, [&[Interval]; 1]) = ([Interval::point(mu)], [&[]]);
            let s = Sliding {
                w: &w,
                offsets: &[0],
                guides: &[0],
                contacts: &[],
                mu: &mu,
                e: &none,
                resting: &[0],
            };
            s.count(&q.map(Interval::point))
        };
        // Pressed either way, it sticks with friction above 1/2 and slides below.
        for q in [[-1.0, 0.5], [1.0, 0.5], [1.0, -0.5]] {
            assert_eq!([0.6, 0.4].map(|mu| count(mu, q)), [Some(Count::One); 2]);
        }
    }
}
