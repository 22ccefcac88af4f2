//! Constraints that slide or rest, with numbers within bounds: one answer for every load, or how many with
//! the load that is given.
//!
//! ```text
//! u = W f + q ,    contact: 0 ≤ u_n ⊥ f_n ≥ 0 ,   joint: u_n = 0 ,   sliding: f_t = −μ e |f_n| ,
//! resting: |f_t| ≤ μ |f_n|, against u_t ≠ 0
//! ```

use super::bounds::Bounds;
use super::matrix::{MAX_MINORS, Matrix, determinant_sign, dot, is_p, is_positive_definite, matrix, solve};

/// What the friction of a constraint does.
#[derive(Clone)]
pub enum Friction {
    /// It acts against a direction of sliding.
    Slides { mu: Bounds, e: Vec<Bounds> },
    /// Its one tangent rests.
    Rests { mu: Bounds },
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
                Friction::Rests { mu } => {
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
                        accelerations: vec![],
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
        let unknowns: Vec<&(Vec<(usize, Bounds)>, usize)> = chosen.iter().flat_map(|m| &m.unknowns).collect();
        let n = unknowns.len();
        let a = matrix(n, n, |i, j| self.response(unknowns[i].1, &unknowns[j].0));
        let f = solve(&a, &matrix(n, 1, |i, _| -self.q[unknowns[i].1]))?;
        let mut all = Vec::new();
        let mut next = 0;
        for mode in chosen {
            let own = &f[next..next + mode.unknowns.len()];
            next += own.len();
            for factors in &mode.forces {
                all.push(dot(factors.iter().zip(own).map(|(x, f)| (Bounds::point(*x), f[0]))));
            }
            if let Some((mu, sign)) = mode.cone {
                let most = mu * own[0][0] * sign;
                all.extend([most + own[1][0], most - own[1][0]]);
            }
            for (row, sign) in &mode.accelerations {
                let pushed = (0..n).map(|j| (self.response(*row, &unknowns[j].0), f[j][0]));
                all.push((self.q[*row] + dot(pushed)) * *sign);
            }
        }
        if all.iter().any(|x| x.is_undefined()) {
            return None;
        }
        if all.iter().any(|x| x.hi < 0.0) {
            Some(false)
        } else {
            all.iter().all(|x| x.lo > 0.0).then_some(true)
        }
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
            let all = vec![own(0, true, Friction::Rests { mu: Bounds::point(mu) })];
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
}
