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
//!
//! With two tangents the way is an angle θ, e = (cos θ, sin θ), that solves
//!
//! ```text
//! g(θ) = u₁ e₂ − u₂ e₁ = 0 ,   u·e > 0              u = W f(θ) + q
//! ```
//!
//! Sectors of θ are excluded one by one. Where one arc is left, on whose ends g has different signs and on
//! which g' has one, there is exactly one such angle.

use super::interval_matrix::{IntervalMatrix, P_MATRIX_MAX};
use crate::formula::{Interval, Number};

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
    /// Constraints whose tangents are at rest, with the number of these, one or two.
    pub resting: &'a [(usize, usize)],
}

/// What resting constraints do in a mode: those that begin to slide with their signs, those with two tangents
/// that begin to slide, and the rows of tangents that stick.
#[derive(Clone, Default)]
struct FromRest {
    slides: Vec<(usize, f64)>,
    turns: Vec<usize>,
    sticks: Vec<(usize, usize)>,
}

/// What a mode needs to be positive.
struct Signs {
    all: Vec<Interval>,
    /// Of each constraint with two tangents that begins to slide: g, and g' for the first one.
    across: Vec<Interval>,
    slope: Option<Interval>,
}

/// Sectors around the circle.
const SECTORS: usize = 32;
/// Parts into which an arc is cut, and how often.
const PARTS: usize = 8;
const ROUNDS: usize = 6;
/// More than a full turn, 2π.
const FULL_TURN: f64 = 710.0 / 113.0;

/// Both ends of the sectors from one to another, going on behind the last with the first.
fn arc(from: usize, to: usize) -> [f64; 2] {
    let end = |k: usize| FULL_TURN * (k as f64) / SECTORS as f64;
    [end(from), end(to + 1)]
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
                match self.mode(set, &rest, q) {
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
        for &(k, tangents) in self.resting.iter().filter(|(k, _)| members.contains(k)) {
            let turns = |rest: &FromRest| {
                let mut rest = rest.clone();
                rest.turns.push(k);
                rest
            };
            let begins = |rest: &FromRest, sign: f64| {
                let mut rest = rest.clone();
                rest.slides.push((k, sign));
                rest
            };
            let sticks = |rest: &FromRest| {
                let mut rest = rest.clone();
                rest.sticks.push((k, tangents));
                rest
            };
            let ways = |r: &FromRest| match tangents {
                1 => vec![sticks(r), begins(r, 1.0), begins(r, -1.0)],
                _ => vec![sticks(r), turns(r)],
            };
            all = all.iter().flat_map(ways).collect();
        }
        all
    }

    /// The same constraints with the directions of those that begin to slide, at these angles where they have
    /// two tangents; none where they stick.
    fn with_slips<T>(&self, rest: &FromRest, angles: &[Interval], ask: impl FnOnce(&Sliding<'_>) -> T) -> T {
        let ways = [[Interval::ONE], [-Interval::ONE]];
        let turned: Vec<[Interval; 2]> = angles.iter().map(|a| [a.cos(), a.sin()]).collect();
        let mut e = self.e.to_vec();
        rest.slides.iter().for_each(|&(k, sign)| e[k] = &ways[usize::from(sign < 0.0)]);
        rest.turns.iter().zip(&turned).for_each(|(&k, own)| e[k] = own);
        rest.sticks.iter().for_each(|&(k, _)| e[k] = &[]);
        ask(&Sliding { e: &e, resting: &[], ..*self })
    }

    /// Whether the solution of a mode has the signs of the mode: everywhere, nowhere, or unclear.
    fn mode(&self, set: usize, rest: &FromRest, q: &[Interval]) -> Option<bool> {
        let signs = |angles: &[Interval]| self.with_slips(rest, angles, |s| s.signs(set, rest, q));
        if rest.turns.is_empty() {
            let signs = signs(&[])?;
            return if signs.are_broken() { Some(false) } else { signs.hold().then_some(true) };
        }
        let on = |from: usize, to: usize| {
            let [a, b] = arc(from, to);
            Interval::new(a, b)
        };
        let choices = SECTORS.checked_pow(u32::try_from(rest.turns.len()).ok()?)?;
        let mut left = Vec::new();
        for choice in 0..choices.min(SECTORS * SECTORS) {
            let sectors = (0..rest.turns.len()).scan(choice, |rest, _| {
                let k = *rest % SECTORS;
                *rest /= SECTORS;
                Some(on(k, k))
            });
            if !signs(&sectors.collect::<Vec<_>>())?.are_broken() {
                left.push(choice);
            }
        }
        if choices > SECTORS * SECTORS || (rest.turns.len() > 1 && !left.is_empty()) {
            return None;
        }
        let Some(&last) = left.last() else { return Some(false) };
        // One arc, a quarter of the circle at most, which may go on behind the last sector.
        let gap = left.windows(2).position(|pair| pair[1] != pair[0] + 1);
        let [from, to] = match gap {
            None => [left[0], last],
            Some(k) => [left[k + 1], left[k] + SECTORS],
        };
        if to - from + 1 != left.len() || left.len() > SECTORS / 4 {
            return None;
        }
        once_on(arc(from, to), |angle| signs(&[angle]))
    }

    /// The accelerations of a row, per unit of each unknown: normal forces of members, then tangents that
    /// stick.
    fn effects(&self, row: usize, set: usize, members: &[usize], rest: &FromRest) -> Vec<Interval> {
        let flipped = |j: usize| j < self.guides.len() && set >> j & 1 == 1;
        let normals = members.iter().enumerate().map(|(j, &k)| self.column(row, k, flipped(j)));
        normals.chain(self.tangents(rest).map(|column| self.w[(row, column)])).collect()
    }

    /// The rows of tangents that stick.
    fn tangents(&self, rest: &FromRest) -> impl Iterator<Item = usize> {
        let of = |&(k, count): &(usize, usize)| self.offsets[k] + 1..self.offsets[k] + 1 + count;
        rest.sticks.iter().flat_map(of)
    }

    /// The quantities whose signs a mode asks for; `None` where they are not bounded.
    fn signs(&self, set: usize, rest: &FromRest, q: &[Interval]) -> Option<Signs> {
        let members = self.members(set);
        let rows: Vec<usize> = members.iter().map(|&k| self.offsets[k]).chain(self.tangents(rest)).collect();
        let effects: Vec<Vec<Interval>> =
            rows.iter().map(|&row| self.effects(row, set, &members, rest)).collect();
        let right = IntervalMatrix::from_fn(rows.len(), 1, |i, _| -q[rows[i]]);
        let a = IntervalMatrix::from_fn(rows.len(), rows.len(), |i, j| effects[i][j]);
        let f = a.solve(&right)?;
        let moved = |row: usize, f: &IntervalMatrix, start: Interval| {
            let effects = self.effects(row, set, &members, rest);
            effects.iter().enumerate().fold(start, |sum, (j, x)| sum + *x * f[(j, 0)])
        };
        let acceleration = |row: usize| moved(row, &f, q[row]);
        let flipped = |i: usize| i < self.guides.len() && set >> i & 1 == 1;
        let pressure = |i: usize| if flipped(i) { -f[(i, 0)] } else { f[(i, 0)] };
        let mut all: Vec<Interval> = (0..members.len()).map(pressure).collect();
        let open = self.contacts.iter().filter(|k| !members.contains(k)).map(|&k| (self.offsets[k], 1.0));
        let begins = rest.slides.iter().map(|&(k, way)| (self.offsets[k] + 1, way));
        all.extend(open.chain(begins).map(|(row, way)| acceleration(row) * way));
        let mut next = members.len();
        for &(k, count) in &rest.sticks {
            let most = self.mu[k] * pressure(members.iter().position(|&m| m == k)?);
            let own: Vec<Interval> = (next..next + count).map(|j| f[(j, 0)]).collect();
            next += count;
            match own[..] {
                [tangent] => all.extend([most - tangent, most + tangent]),
                [first, second] => all.push(most - (first.powf(2.0) + second.powf(2.0)).sqrt()),
                _ => return None,
            }
        }
        let (mut across, mut slope) = (Vec::new(), None);
        for &k in &rest.turns {
            let ([c, s], row) = ([self.e[k][0], self.e[k][1]], self.offsets[k] + 1);
            let place = members.iter().position(|&m| m == k)?;
            // u without the own friction −μ p e, whose part of u, −μ p W e, is written out: less is lost.
            let others = |row: usize| {
                let effects = self.effects(row, set, &members, rest);
                let own = q[row] + self.w[(row, self.offsets[k])] * f[(place, 0)];
                let others = effects.iter().enumerate().filter(|(j, _)| *j != place);
                others.fold(own, |sum, (j, x)| sum + *x * f[(j, 0)])
            };
            let ([u1, u2], friction) = ([row, row + 1].map(others), self.mu[k] * pressure(place));
            let [w11, w12, w22] = [(row, row), (row, row + 1), (row + 1, row + 1)].map(|at| self.w[at]);
            let (cosine, sine) = (c.powf(2.0) - s.powf(2.0), c * s * 2.0);
            let taken = w11 * c.powf(2.0) + w12 * sine + w22 * s.powf(2.0);
            all.push(u1 * c + u2 * s - friction * taken);
            across.push(u1 * s - u2 * c + friction * ((w22 - w11) * 0.5 * sine + w12 * cosine));
            if rest.turns.len() == 1 {
                // A f = −q by θ: A f' = −A'f, and A' is a column, that of the friction of this constraint.
                let change = |row: usize| {
                    let column = self.offsets[k] + 1;
                    let turned = self.w[(row, column + 1)] * c - self.w[(row, column)] * s;
                    -(self.mu[k] * turned * pressure(place))
                };
                let right = IntervalMatrix::from_fn(rows.len(), 1, |i, _| -change(rows[i]));
                let rates = a.solve(&right)?;
                let [d1, d2] = [row, row + 1].map(|row| moved(row, &rates, Interval::ZERO));
                let own = friction * ((w22 - w11) * cosine - w12 * 2.0 * sine);
                slope = Some(d1 * s - d2 * c + u1 * c + u2 * s + own);
            }
        }
        let defined = !all.iter().chain(&across).chain(&slope).any(|x| x.is_undefined());
        defined.then_some(Signs { all, across, slope })
    }
}

/// Whether a mode holds, at exactly one angle of an arc: parts of it that are excluded are cut off.
fn once_on(mut arc: [f64; 2], signs: impl Fn(Interval) -> Option<Signs>) -> Option<bool> {
    for _ in 0..ROUNDS {
        let ends = arc.map(|x| signs(Interval::point(x)));
        let [a, b] = [ends[0].as_ref()?.across[0], ends[1].as_ref()?.across[0]];
        let whole = signs(Interval::new(arc[0], arc[1]))?;
        let turns = whole.slope.is_some_and(|x| x.lo > 0.0 || x.hi < 0.0);
        let crosses = (a.lo > 0.0 && b.hi < 0.0) || (a.hi < 0.0 && b.lo > 0.0);
        if turns && crosses && whole.all.iter().all(|x| x.lo > 0.0) {
            return Some(true);
        }
        let end = |k: usize| arc[0] + (arc[1] - arc[0]) * (k as f64) / PARTS as f64;
        let broken: Option<Vec<bool>> =
            (0..PARTS).map(|k| Some(signs(Interval::new(end(k), end(k + 1)))?.are_broken())).collect();
        let broken = broken?;
        let Some(from) = broken.iter().position(|broken| !broken) else { return Some(false) };
        let to = PARTS - broken.iter().rev().position(|broken| !broken)?;
        if broken[from..to].contains(&true) || to - from == PARTS {
            return None;
        }
        arc = [end(from), end(to)];
    }
    None
}

impl Signs {
    /// Whether a mode holds nowhere.
    fn are_broken(&self) -> bool {
        self.all.iter().any(|x| x.hi < 0.0) || self.across.iter().any(|x| x.lo > 0.0 || x.hi < 0.0)
    }

    /// Whether a mode without angles holds everywhere.
    fn hold(&self) -> bool {
        self.across.is_empty() && self.all.iter().all(|x| x.lo > 0.0)
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
            let s = Sliding {
                w,
                offsets: &[0],
                guides: &[],
                contacts: &[0],
                mu: &mu,
                e: &none,
                resting: &[(0, 1)],
            };
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
                resting: &[(0, 1)],
            };
            s.count(&q.map(Interval::point))
        };
        // Pressed either way, it sticks with friction above 1/2 and slides below.
        for q in [[-1.0, 0.5], [1.0, 0.5], [1.0, -0.5]] {
            assert_eq!([0.6, 0.4].map(|mu| count(mu, q)), [Some(Count::One); 2]);
        }
    }

    #[test]
    fn a_contact_with_two_tangents_at_rest_sticks_slides_or_does_either() {
        let count = |w: &IntervalMatrix, mu: f64, q: [Interval; 3]| {
            let (mu, none): (_, [&[Interval]; 1]) = ([Interval::point(mu)], [&[]]);
            let resting = &[(0, 2)];
            Sliding { w, offsets: &[0], guides: &[], contacts: &[0], mu: &mu, e: &none, resting }.count(&q)
        };
        let points = |q: [f64; 3]| q.map(Interval::point);
        // A block on a slope of tangent 1/2 towards (3, 4)/5: it sticks above, and slides below, once.
        let block = point(&[&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0]]);
        let slope = points([-1.0, 0.3, 0.4]);
        assert_eq!([0.6, 0.51, 0.49, 0.2].map(|mu| count(&block, mu, slope)), [Some(Count::One); 4]);
        assert_eq!(count(&block, 0.5, slope), None);
        // In every direction of the circle, and with numbers within bounds.
        for k in 0..48 {
            let (s, c) = (f64::from(k) * 0.131).sin_cos();
            assert_eq!(count(&block, 0.4, points([-1.0, 0.5 * c, 0.5 * s])), Some(Count::One), "{k}");
            let around = |x: f64| Interval::new(x - 0.004, x + 0.004);
            let q = [-1.0, 0.5 * c, 0.5 * s].map(around);
            assert_eq!(count(&block, 0.4, q), Some(Count::One), "{k}");
            assert_eq!(count(&block, 0.6, q), Some(Count::One), "{k}");
        }
        // Lifted off, it has no force; the rod of the plane has several solutions here too, or one.
        assert_eq!(count(&block, 0.4, points([1.0, 0.3, 0.4])), Some(Count::One));
        let rod = point(&[&[1.0, 0.9, 0.0], &[0.9, 1.0, 0.0], &[0.0, 0.0, 1.0]]);
        assert_eq!(count(&rod, 2.0, points([0.5, 0.9, 0.0])), Some(Count::Several));
        assert_eq!(count(&rod, 0.5, points([0.5, 0.9, 0.1])), Some(Count::One));
    }

    /// Random problems with one contact at rest: what is counted is what a fine search finds.
    #[test]
    fn counts_agree_with_a_fine_search() {
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / f64::from(1 << 30) - 1.0
        };
        let (mut decided, mut several) = (0, 0);
        for _ in 0..400 {
            let b: [[f64; 3]; 3] = std::array::from_fn(|_| std::array::from_fn(|_| random()));
            let w = |i: usize, j: usize| {
                (0..3).map(|k| b[i][k] * b[j][k]).sum::<f64>() + if i == j { 0.05 } else { 0.0 }
            };
            let (q, mu): ([f64; 3], f64) = (std::array::from_fn(|_| random()), 1.5 * random().abs() + 0.1);
            let bounds = IntervalMatrix::from_fn(3, 3, |i, j| Interval::point(w(i, j)));
            let (mus, none): (_, [&[Interval]; 1]) = ([Interval::point(mu)], [&[]]);
            let s = Sliding {
                w: &bounds,
                offsets: &[0],
                guides: &[],
                contacts: &[0],
                mu: &mus,
                e: &none,
                resting: &[(0, 2)],
            };
            let Some(count) = s.count(&q.map(Interval::point)) else { continue };
            // Open; stick by Cramer's rule; changes of sign of g along the circle.
            let mut found = usize::from(q[0] > 0.0);
            let det = |m: [[f64; 3]; 3]| {
                m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1])
                    - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
                    + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0])
            };
            let whole: [[f64; 3]; 3] = std::array::from_fn(|i| std::array::from_fn(|j| w(i, j)));
            let f: [f64; 3] = std::array::from_fn(|c| {
                det(std::array::from_fn(|i| std::array::from_fn(|j| if j == c { -q[i] } else { w(i, j) })))
                    / det(whole)
            });
            found += usize::from(f[0] > 0.0 && f[1].hypot(f[2]) < mu * f[0]);
            let slip = |k: usize| {
                let (s, c) = (f64::from(k as u32) * std::f64::consts::TAU / 20_000.0).sin_cos();
                let by = |i: usize| w(i, 0) - mu * (c * w(i, 1) + s * w(i, 2));
                let f = -q[0] / by(0);
                let (u, v) = (q[1] + by(1) * f, q[2] + by(2) * f);
                (u * s - v * c, f > 0.0 && u * c + v * s > 0.0)
            };
            found += (0..20_000)
                .filter(|&k| slip(k).1 && slip(k + 1).1 && slip(k).0 * slip(k + 1).0 < 0.0)
                .count();
            let same = match count {
                Count::None => found == 0,
                Count::One => found == 1,
                Count::Several => found > 1,
            };
            assert!(same, "{count:?} {found} {w:?} {q:?} {mu}", w = whole);
            decided += 1;
            several += usize::from(count == Count::Several);
        }
        assert!(decided > 240 && several > 0, "{decided} {several}");
    }
}
