//! Constraints that slide or rest, with numbers within bounds: one answer for every load, or how many with
//! the load that is given.
//!
//! ```text
//! u = W f + q ,    contact: 0 ≤ u_n ⊥ f_n ≥ 0 ,   joint: u_n = 0 ,   sliding: f_t = −μ e |f_n| ,
//! resting: |f_t| ≤ μ |f_n|, against u_t ≠ 0
//! ```
//!
//! What rests with two tangents begins to slide at an angle θ that solves g = u₁ sin θ − u₂ cos θ = 0.

use super::bounds::Bounds;
use super::matrix::{MAX_MINORS, Matrix, determinant_sign, dot, is_p, is_positive_definite, matrix, solve};

/// What the friction of a constraint does.
#[derive(Clone)]
pub enum Friction {
    /// It acts against a direction of sliding.
    Slides { mu: Bounds, e: Vec<Bounds> },
    /// Its tangents rest, one or two.
    Rests { mu: Bounds, tangents: usize },
}

/// A constraint that is closed, or may be.
#[derive(Clone)]
pub struct Own {
    /// The row of its normal; tangents follow.
    pub row: usize,
    pub is_contact: bool,
    pub friction: Friction,
}

/// Constraints with W on all their rows and the accelerations q under the load alone.
pub struct Answers<'a> {
    pub w: &'a Matrix,
    pub q: &'a [Bounds],
    /// Joints with friction, then contacts.
    pub all: Vec<Own>,
}

/// How many answers there are, everywhere on a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    None,
    One,
    Several,
}

/// What a constraint does in a mode: unknown forces, each along several rows, with the row that it keeps at
/// zero; and what must not be negative.
#[derive(Clone, Default)]
struct Mode {
    unknowns: Vec<(Vec<(usize, Bounds)>, usize)>,
    /// Combinations of its unknowns.
    forces: Vec<Vec<f64>>,
    /// The same with μ times the first before the second.
    cone: Option<(Bounds, f64)>,
    /// Rows whose acceleration has a sign.
    accelerations: Vec<(usize, f64)>,
    /// Friction and sign of what begins to slide at an angle, with the row of its normal: one unknown more.
    turns: Option<(Bounds, f64, usize)>,
}

/// What a mode needs to be positive; and where something begins to slide at an angle, g and the slope of the
/// first one.
struct Signs {
    all: Vec<Bounds>,
    across: Vec<Bounds>,
    slope: Option<Bounds>,
}

/// Sectors around the circle.
const SECTORS: usize = 48;

/// The angles at both ends of the sectors from one to another, which go on behind the last with the first:
/// 710/113 is more than a full turn.
fn ends(from: usize, to: usize) -> [f64; 2] {
    [from, to + 1].map(|k| 710.0 / 113.0 * (k as f64) / SECTORS as f64)
}

impl Own {
    /// A force along the normal of a sign, with its friction along a direction.
    fn pressed(&self, mu: Bounds, e: &[Bounds], sign: f64) -> Mode {
        let tangent = |(i, e): (usize, &Bounds)| (self.row + 1 + i, -(mu * *e) * sign);
        let along = [(self.row, Bounds::ONE)].into_iter().chain(e.iter().enumerate().map(tangent)).collect();
        Mode { unknowns: vec![(along, self.row)], forces: vec![vec![sign]], ..Mode::default() }
    }

    fn modes(&self) -> Vec<Mode> {
        let open = Mode { accelerations: vec![(self.row, 1.0)], ..Mode::default() };
        let signs: &[f64] = if self.is_contact { &[1.0] } else { &[1.0, -1.0] };
        let mut modes = if self.is_contact { vec![open] } else { vec![] };
        for &sign in signs {
            match &self.friction {
                Friction::Slides { mu, e } => modes.push(self.pressed(*mu, e, sign)),
                Friction::Rests { mu, tangents: 2 } => {
                    modes.push(Mode { turns: Some((*mu, sign, self.row)), ..Mode::default() });
                    let free = |row: usize| (vec![(row, Bounds::ONE)], row);
                    modes.push(Mode {
                        unknowns: (self.row..self.row + 3).map(free).collect(),
                        forces: vec![vec![sign, 0.0, 0.0]],
                        cone: Some((*mu, sign)),
                        ..Mode::default()
                    });
                }
                Friction::Rests { mu, .. } => {
                    for way in [1.0, -1.0] {
                        let mut mode = self.pressed(*mu, &[Bounds::point(way)], sign);
                        mode.accelerations.push((self.row + 1, way));
                        modes.push(mode);
                    }
                    let free = |row: usize| (vec![(row, Bounds::ONE)], row);
                    modes.push(Mode {
                        unknowns: vec![free(self.row), free(self.row + 1)],
                        forces: vec![vec![sign, 0.0]],
                        cone: Some((*mu, sign)),
                        ..Mode::default()
                    });
                }
            }
        }
        modes
    }
}

impl Answers<'_> {
    fn response(&self, row: usize, along: &[(usize, Bounds)]) -> Bounds {
        dot(along.iter().map(|(k, x)| (self.w[row][*k], *x)))
    }

    /// The matrix of a choice of pressed constraints: joints by their sign, contacts that are closed.
    fn determinant(&self, set: usize) -> Option<(Matrix, bool)> {
        let mut columns = Vec::new();
        for (k, own) in self.all.iter().enumerate() {
            let Friction::Slides { mu, e } = &own.friction else { return None };
            let chosen = k >= 60 || set >> k & 1 == 1;
            if own.is_contact && !chosen {
                continue;
            }
            let sign = if !own.is_contact && chosen { -1.0 } else { 1.0 };
            columns.extend(own.pressed(*mu, e, sign).unknowns);
        }
        let n = columns.len();
        Some((matrix(n, n, |i, j| self.response(columns[i].1, &columns[j].0)), n == 0))
    }

    /// Exactly one answer for every load: a P-matrix, or determinants of one sign.
    pub fn one_for_every_load(&self) -> bool {
        let n = self.all.len();
        if self.all.iter().all(|own| own.is_contact) {
            return self.determinant(!0).is_some_and(|(a, _)| is_p(&a));
        }
        let mut common = None;
        n <= MAX_MINORS
            && (0..1usize << n).all(|set| {
                let sign = self.determinant(set).and_then(|(a, _)| determinant_sign(&a));
                sign.is_some() && *common.get_or_insert(sign) == sign
            })
    }

    /// Two determinants of different sign, and normals that are independent: for some load none or several.
    pub fn not_one_for_some_load(&self) -> bool {
        let n = self.all.len();
        let row = |i: usize| self.all[i].row;
        if n > MAX_MINORS || !is_positive_definite(&matrix(n, n, |i, j| self.w[row(i)][row(j)])) {
            return false;
        }
        let mut signs = (0..1usize << n).filter_map(|set| {
            let (a, empty) = self.determinant(set)?;
            if empty { Some(1) } else { determinant_sign(&a) }
        });
        let first = signs.next();
        signs.any(|sign| Some(sign) != first)
    }

    /// How many answers there are with the load that is given; `None` where that is not seen.
    pub fn count(&self) -> Option<Count> {
        let modes: Vec<Vec<Mode>> = self.all.iter().map(Own::modes).collect();
        let combinations = modes.iter().try_fold(1usize, |n, own| n.checked_mul(own.len()))?;
        if combinations > 1 << (2 * MAX_MINORS) {
            return None;
        }
        let (mut found, mut unclear) = (0, false);
        for mut choice in 0..combinations {
            let chosen: Vec<&Mode> = modes
                .iter()
                .map(|own| {
                    let k = choice % own.len();
                    choice /= own.len();
                    &own[k]
                })
                .collect();
            match self.holds(&chosen) {
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

    /// Whether a mode holds: everywhere, nowhere, or unclear.
    fn holds(&self, chosen: &[&Mode]) -> Option<bool> {
        let turning = chosen.iter().filter(|mode| mode.turns.is_some()).count();
        if turning == 0 {
            let signs = self.signs(chosen, &[])?;
            let all = signs.all.iter().all(|x| x.lo > 0.0);
            return if signs.are_broken() { Some(false) } else { all.then_some(true) };
        }
        if turning > 2 {
            return None;
        }
        let on = |from: usize, to: usize| {
            let [a, b] = ends(from, to);
            Bounds::new(a, b)
        };
        let mut left = Vec::new();
        for choice in 0..SECTORS.pow(turning as u32) {
            let angles = [on(choice % SECTORS, choice % SECTORS), on(choice / SECTORS, choice / SECTORS)];
            if !self.signs(chosen, &angles[..turning])?.are_broken() {
                left.push(choice);
            }
        }
        match (&left[..], turning) {
            ([], _) => return Some(false),
            (_, 1) => {}
            _ => return None,
        }
        // All that is left must be one arc: it begins behind the only gap between those that are left.
        let start = (0..left.len()).find(|&k| k > 0 && left[k] != left[k - 1] + 1);
        let (from, count) = (start.map_or(left[0], |k| left[k]), left.len());
        let is_arc = (0..count).all(|k| left.contains(&((from + k) % SECTORS)));
        if !is_arc || 4 * count > SECTORS {
            return None;
        }
        self.once_on(chosen, ends(from, from + count - 1))
    }

    /// Whether a mode holds at exactly one angle of an arc: parts at its ends that are excluded are cut off.
    fn once_on(&self, chosen: &[&Mode], mut arc: [f64; 2]) -> Option<bool> {
        for _ in 0..8 {
            let whole = self.signs(chosen, &[Bounds::new(arc[0], arc[1])])?;
            let ends: Option<Vec<Signs>> =
                arc.iter().map(|x| self.signs(chosen, &[Bounds::point(*x)])).collect();
            let g: Vec<Bounds> = ends?.iter().map(|s| s.across[0]).collect();
            let once = whole.slope.is_some_and(|x| !x.contains_zero())
                && (g[0].lo > 0.0 && g[1].hi < 0.0 || g[0].hi < 0.0 && g[1].lo > 0.0);
            if once && whole.all.iter().all(|x| x.lo > 0.0) {
                return Some(true);
            }
            let cuts: Vec<f64> = (0..=8).map(|k| arc[0] + (arc[1] - arc[0]) * f64::from(k) / 8.0).collect();
            let mut left = Vec::new();
            for (k, pair) in cuts.windows(2).enumerate() {
                if !self.signs(chosen, &[Bounds::new(pair[0], pair[1])])?.are_broken() {
                    left.push(k);
                }
            }
            let (Some(&first), Some(&last)) = (left.first(), left.last()) else { return Some(false) };
            if last + 1 - first != left.len() || left.len() == 8 {
                return None;
            }
            arc = [cuts[first], cuts[last + 1]];
        }
        None
    }

    /// What a mode needs, with the angles of what turns; `None` where that is not bounded.
    fn signs(&self, chosen: &[&Mode], angles: &[Bounds]) -> Option<Signs> {
        let mut angles = angles.iter();
        let mut turned = Vec::new();
        let mut modes: Vec<Mode> = chosen.iter().map(|mode| (*mode).clone()).collect();
        for (place, mode) in modes.iter_mut().enumerate() {
            let Some((mu, sign, row)) = mode.turns else { continue };
            let (c, s) = angles.next().map(|x| (x.cos(), x.sin()))?;
            let along = vec![(row, Bounds::ONE), (row + 1, -(mu * c) * sign), (row + 2, -(mu * s) * sign)];
            mode.unknowns = vec![(along, row)];
            mode.forces = vec![vec![sign]];
            // The same by the angle.
            let by_angle = vec![(row + 1, mu * s * sign), (row + 2, -(mu * c) * sign)];
            turned.push((place, row, [c, s], mu * sign, by_angle));
        }
        let unknowns: Vec<&(Vec<(usize, Bounds)>, usize)> = modes.iter().flat_map(|m| &m.unknowns).collect();
        let n = unknowns.len();
        let a = matrix(n, n, |i, j| self.response(unknowns[i].1, &unknowns[j].0));
        let f = solve(&a, &matrix(n, 1, |i, _| -self.q[unknowns[i].1]))?;
        let moved =
            |row: usize, f: &Matrix| dot((0..n).map(|j| (self.response(row, &unknowns[j].0), f[j][0])));
        let mut all = Vec::new();
        let mut next = 0;
        let mut first = Vec::new();
        for mode in &modes {
            first.push(next);
            let own = &f[next..next + mode.unknowns.len()];
            next += own.len();
            for factors in &mode.forces {
                all.push(dot(factors.iter().zip(own).map(|(x, f)| (Bounds::point(*x), f[0]))));
            }
            if let Some((mu, sign)) = mode.cone {
                let most = mu * own[0][0] * sign;
                match own {
                    [_, t] => all.extend([most + t[0], most - t[0]]),
                    [_, s, t] => all.push(most - (s[0].square() + t[0].square()).sqrt()),
                    _ => return None,
                }
            }
            for (row, sign) in &mode.accelerations {
                all.push((self.q[*row] + moved(*row, &f)) * *sign);
            }
        }
        let (mut across, mut slope) = (Vec::new(), None);
        for (place, row, [c, s], friction, by_angle) in &turned {
            // The own friction p acts on its own rows with −p (w₁₁ c + w₁₂ s, w₁₂ c + w₂₂ s): written out,
            // less is lost.
            let (at, c, s) = (first[*place], *c, *s);
            let others = |row: usize| {
                let rest = (0..n).filter(|j| *j != at).map(|j| (self.response(row, &unknowns[j].0), f[j][0]));
                self.q[row] + dot(rest) + self.w[row][unknowns[at].1] * f[at][0]
            };
            let ([u, v], p) = ([row + 1, row + 2].map(others), *friction * f[at][0]);
            let [w11, w12, w22] = [(1, 1), (1, 2), (2, 2)].map(|(i, j)| self.w[row + i][row + j]);
            let (cosine, sine) = (c.square() - s.square(), c * s * 2.0);
            all.push(u * c + v * s - p * (w11 * c.square() + w12 * sine + w22 * s.square()));
            across.push(u * s - v * c + p * ((w22 - w11) * sine * 0.5 + w12 * cosine));
            if turned.len() == 1 {
                // A f = −q by the angle: A f' = −A'f.
                let change = |row: usize| self.response(row, by_angle) * f[at][0];
                let rates = solve(&a, &matrix(n, 1, |i, _| -change(unknowns[i].1)))?;
                let [d, e] = [row + 1, row + 2].map(|row| moved(row, &rates));
                let own = p * ((w22 - w11) * cosine - w12 * sine * 2.0);
                slope = Some(d * s - e * c + u * c + v * s + own);
            }
        }
        let defined = !all.iter().chain(&across).chain(&slope).any(|x| x.is_undefined());
        defined.then_some(Signs { all, across, slope })
    }
}

impl Signs {
    /// Whether a mode holds nowhere.
    fn are_broken(&self) -> bool {
        self.all.iter().any(|x| x.hi < 0.0) || self.across.iter().any(|x| !x.contains_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(rows: &[&[f64]]) -> Matrix {
        rows.iter().map(|row| row.iter().map(|x| Bounds::point(*x)).collect()).collect()
    }

    fn own(row: usize, is_contact: bool, friction: Friction) -> Own {
        Own { row, is_contact, friction }
    }

    #[test]
    fn one_contact_that_slides_jams_above_a_friction() {
        // μ_jam = 2.5/1.5.
        let w = numbers(&[&[2.5, 1.5], &[1.5, 2.5]]);
        let check = |mu: f64, q: f64| {
            let friction = Friction::Slides { mu: Bounds::point(mu), e: vec![Bounds::ONE] };
            let q = [Bounds::point(q), Bounds::ZERO];
            let a = Answers { w: &w, q: &q, all: vec![own(0, true, friction)] };
            (a.one_for_every_load(), a.not_one_for_some_load(), a.count())
        };
        assert_eq!(check(1.6, -1.0), (true, false, Some(Count::One)));
        assert_eq!(check(1.7, -1.0), (false, true, Some(Count::None)));
        assert_eq!(check(1.7, 1.0), (false, true, Some(Count::Several)));
        assert_eq!(check(1.6, 0.0).2, None);
    }

    #[test]
    fn one_contact_at_rest_sticks_slides_or_jams() {
        let count = |w: &Matrix, mu: f64, q: [f64; 2]| {
            let q = q.map(Bounds::point);
            let all = vec![own(0, true, Friction::Rests { mu: Bounds::point(mu), tangents: 1 })];
            Answers { w, q: &q, all }.count()
        };
        let w = numbers(&[&[1.0, 0.0], &[0.0, 1.0]]);
        // A block on a slope: it sticks below the slope's tangent and slides above, once either way.
        assert_eq!(count(&w, 0.6, [-1.0, 0.5]), Some(Count::One));
        assert_eq!(count(&w, 0.4, [-1.0, 0.5]), Some(Count::One));
        assert_eq!(count(&w, 0.5, [-1.0, 0.5]), None);
        // With coupling it may also be open, stick, or be held by friction: the rod at rest.
        let coupled = numbers(&[&[1.0, 0.9], &[0.9, 1.0]]);
        assert_eq!(count(&coupled, 2.0, [0.5, 0.9]), Some(Count::Several));
    }

    #[test]
    fn one_contact_with_two_tangents_at_rest_sticks_or_slides_in_a_direction() {
        let count = |w: &Matrix, mu: f64, q: [f64; 3]| {
            let q = q.map(Bounds::point);
            let all = vec![own(0, true, Friction::Rests { mu: Bounds::point(mu), tangents: 2 })];
            Answers { w, q: &q, all }.count()
        };
        let block = numbers(&[&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0], &[0.0, 0.0, 1.0]]);
        for k in 0..40 {
            let (s, c) = (0.157 * f64::from(k)).sin_cos();
            let q = [-1.0, 0.5 * c, 0.5 * s];
            assert_eq!([0.51, 0.49].map(|mu| count(&block, mu, q)), [Some(Count::One); 2], "{k}");
            assert_eq!(count(&block, 0.4, [1.0, q[1], q[2]]), Some(Count::One));
        }
        assert_eq!(count(&block, 0.5, [-1.0, 0.3, 0.4]), None);
        let rod = numbers(&[&[1.0, 0.9, 0.0], &[0.9, 1.0, 0.0], &[0.0, 0.0, 1.0]]);
        assert_eq!(count(&rod, 2.0, [0.5, 0.9, 0.0]), Some(Count::Several));
        assert_eq!(count(&rod, 0.5, [0.5, 0.9, 0.1]), Some(Count::One));
    }
}
