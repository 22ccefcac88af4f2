//! One mode of a contact problem in interval arithmetic.
//!
//! ```text
//! ⎡J_S   0  ⎤ ⎡a⎤   ⎡−γ_S⎤
//! ⎢         ⎥ ⎢ ⎥ = ⎢    ⎥      f = B x ,   u = J a + γ ,   x_j ≥ 0 for rays , ± u_i ≥ 0
//! ⎣M   −JᵀB ⎦ ⎣x⎦   ⎣−F  ⎦
//! ```
//!
//! S are the rows whose velocity vanishes in the mode, B has the generators of its forces as columns.
//! Elimination takes pivots that are not zero for any data, rows S first: where these have no bias and hold
//! all motions, a = 0 exactly, however many there are. A row that is left with entries that may or may not
//! be zero is dropped: what is then shown to be empty or fixed is so with the row, and nothing is shown to
//! exist.

use super::Generator;
use super::points::{product, quotient, sum};
use crate::lcp::{Lp, linear_program};
use crate::linalg::{Interval, Matrix};
use crate::modes::exact::{ExactDynamics, feasible};
use crate::problem::row_offsets;

/// Whether something is the same in all solutions of a mode, for all data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Motion {
    Fixed,
    /// For all data there are solutions that differ.
    Moves,
    Unknown,
}

/// A solution that exists for all data: bounds of its acceleration and forces.
pub(super) struct Witness {
    pub(super) acceleration: Vec<Interval>,
    pub(super) force: Vec<Interval>,
}

/// The share of a generator in the one point of a mode.
pub(super) struct Share {
    pub(super) constraint: usize,
    pub(super) generator: Generator,
    pub(super) value: Interval,
    /// The same for the loads of the probe.
    pub(super) probe: Interval,
}

/// What is known of a mode.
pub(super) struct ModeAnswer {
    /// It holds no solution for any data.
    pub(super) empty: bool,
    /// The shares of its generators, signs aside, where its equations have one solution for all data.
    pub(super) shares: Option<Vec<Share>>,
    /// The generators that may have a share in solutions, constraint by constraint.
    pub(super) support: Vec<Vec<Generator>>,
    pub(super) witness: Option<Witness>,
    pub(super) motion: Motion,
    pub(super) forces: Motion,
    /// a where it is fixed.
    pub(super) acceleration: Vec<Interval>,
    /// f where it is fixed.
    pub(super) force: Vec<Interval>,
}

impl ModeAnswer {
    fn nothing(empty: bool, cones: &[Vec<Generator>]) -> Self {
        ModeAnswer {
            empty,
            shares: None,
            support: cones.to_vec(),
            witness: None,
            motion: Motion::Unknown,
            forces: Motion::Unknown,
            acceleration: vec![],
            force: vec![],
        }
    }
}

/// Loads that have nothing to do with the problem, so that no sign is a matter of rounding: a number between
/// one and two of either sign, times a size.
fn probe(i: usize, row: &[Interval]) -> Interval {
    let size = row.iter().fold(0.0_f64, |top, x| top.max(x.magnitude()));
    // Multiples of the golden ratio fill the interval evenly.
    let fraction = ((i + 1) as f64 * 0.618_033_988_749_895).fract();
    let sign = if (i * 7 + 3) % 5 < 3 { 1.0 } else { -1.0 };
    Interval::point(sign * (1.0 + fraction) * if size > 0.0 { size } else { 1.0 })
}

/// A column: an acceleration, or the share of a generator of forces.
struct Column {
    /// The constraint and the generator; `None` for accelerations.
    generator: Option<(usize, Generator)>,
    free: bool,
}

/// c + Σ tⱼ xⱼ over the columns that are not basic.
#[derive(Clone)]
struct Expression {
    constant: Interval,
    /// c for the loads of the probe.
    probe: Interval,
    terms: Vec<Interval>,
}

impl Expression {
    fn is_zero(&self) -> bool {
        self.is_constant() && self.constant == Interval::ZERO
    }

    fn is_constant(&self) -> bool {
        self.terms.iter().all(|t| *t == Interval::ZERO)
    }

    fn at(&self, x: &[f64]) -> Interval {
        self.terms.iter().zip(x).fold(self.constant, |all, (t, x)| sum(all, product(*t, Interval::point(*x))))
    }

    fn add(&mut self, factor: Interval, other: &Expression) {
        self.constant = sum(self.constant, product(factor, other.constant));
        self.probe = self.probe + factor * other.probe;
        for (t, o) in self.terms.iter_mut().zip(&other.terms) {
            *t = sum(*t, product(factor, *o));
        }
    }
}

/// The equations, row by row with the right-hand sides of the problem and of the probe last, and
/// the column that is basic in each.
struct Equations {
    rows: Vec<Vec<Interval>>,
    basis: Vec<Option<usize>>,
    columns: Vec<Column>,
    /// Whether a row was dropped.
    relaxed: bool,
}

impl Equations {
    /// Pivots on these rows in these columns as long as one is not zero for any data, largest first.
    fn eliminate(&mut self, rows: std::ops::Range<usize>, columns: &[usize]) {
        let mut unused: Vec<usize> =
            columns.iter().copied().filter(|c| !self.basis.contains(&Some(*c))).collect();
        // The best pivot of each row, found again where a pivot has changed the row.
        let mut best: Vec<Option<(f64, usize)>> = rows.clone().map(|r| self.best_pivot(r, &unused)).collect();
        loop {
            let mut largest: Option<(f64, usize, usize)> = None;
            for (r, pivot) in rows.clone().zip(&best) {
                if let Some((size, c)) = *pivot
                    && largest.is_none_or(|(top, _, _)| size > top)
                {
                    largest = Some((size, r, c));
                }
            }
            let Some((_, r, c)) = largest else { return };
            let changed: Vec<usize> =
                rows.clone().filter(|&i| i == r || self.rows[i][c] != Interval::ZERO).collect();
            self.pivot(r, c);
            unused.retain(|column| *column != c);
            for i in changed {
                best[i - rows.start] = self.best_pivot(i, &unused);
            }
        }
    }

    /// The entry of a row in these columns that is largest beside the others of the row among those that are
    /// not zero for any data; none in a row that has its pivot.
    fn best_pivot(&self, r: usize, unused: &[usize]) -> Option<(f64, usize)> {
        if self.basis[r].is_some() {
            return None;
        }
        let row = &self.rows[r];
        let size = unused.iter().fold(0.0_f64, |top, &c| top.max(row[c].magnitude()));
        let mut best: Option<(f64, usize)> = None;
        for &c in unused {
            let least = if row[c].contains(0.0) { 0.0 } else { row[c].lo.abs().min(row[c].hi.abs()) };
            if least > 0.0 && best.is_none_or(|(top, _)| least / size > top) {
                best = Some((least / size, c));
            }
        }
        best
    }

    fn pivot(&mut self, r: usize, c: usize) {
        let pivot = self.rows[r][c];
        let mut row: Vec<Interval> = self.rows[r].iter().map(|x| quotient(*x, pivot)).collect();
        row[c] = Interval::ONE;
        let entries: Vec<usize> = (0..row.len()).filter(|&j| row[j] != Interval::ZERO).collect();
        for (i, other) in self.rows.iter_mut().enumerate() {
            let factor = other[c];
            if i == r || factor == Interval::ZERO {
                continue;
            }
            for &j in &entries {
                other[j] = sum(other[j], -product(factor, row[j]));
            }
            other[c] = Interval::ZERO;
        }
        self.rows[r] = row;
        self.basis[r] = Some(c);
    }

    /// Drops what is left of some rows; false where one cannot hold.
    fn drop_rest(&mut self, rows: std::ops::Range<usize>) -> bool {
        for r in rows.filter(|&r| self.basis[r].is_none()) {
            let (last, entries) = (self.columns.len(), &self.rows[r][..self.columns.len()]);
            let nothing = entries.iter().all(|x| *x == Interval::ZERO);
            let right = self.rows[r][last];
            if nothing && !right.contains(0.0) && !right.is_undefined() {
                return false;
            }
            self.relaxed |= !(nothing && right == Interval::ZERO);
        }
        true
    }

    /// Sets accelerations to zero that two velocities without bias require to have either sign, where nothing
    /// else moves in both; true where there are any. The rows that do not move are eliminated.
    fn pin(
        &mut self,
        d: &ExactDynamics<Interval>,
        velocities: &[Option<(usize, Generator)>],
        n: usize,
    ) -> bool {
        let mut pinned = false;
        loop {
            // The signs that velocities with one moving column require of it.
            let mut wanted: Vec<(usize, bool)> = Vec::new();
            for (i, v) in velocities.iter().enumerate() {
                if let Some((_, Generator::Velocity { sign, .. })) = v
                    && *sign != 0
                    && let Some((c, positive)) = self.one_column(d, i, n)
                {
                    wanted.push((c, positive == (*sign > 0)));
                }
            }
            let both = wanted.iter().find(|(c, positive)| wanted.contains(&(*c, !positive)));
            let Some(&(c, _)) = both else { return pinned };
            pinned = true;
            for row in &mut self.rows {
                row[c] = Interval::ZERO;
            }
            let unit = |j: usize| if j == c { Interval::ONE } else { Interval::ZERO };
            self.rows.push((0..self.columns.len() + 2).map(unit).collect());
            self.basis.push(Some(c));
        }
    }

    /// The one acceleration that moves row i, where no other can, and the sign of its effect.
    fn one_column(&self, d: &ExactDynamics<Interval>, i: usize, n: usize) -> Option<(usize, bool)> {
        let last = self.columns.len();
        let mut effect: Vec<Interval> = d.jacobian[i].clone();
        let mut constant = d.bias[i];
        for (row, basic) in self.rows.iter().zip(&self.basis) {
            if let Some(b) = basic.filter(|b| *b < n) {
                let factor = d.jacobian[i][b];
                for c in 0..n {
                    effect[c] = sum(effect[c], -product(factor, row[c]));
                }
                effect[b] = Interval::ZERO;
                constant = sum(constant, product(factor, row[last]));
            }
        }
        let mut moving = (0..n).filter(|&c| effect[c] != Interval::ZERO);
        let c = moving.next()?;
        (moving.next().is_none() && constant == Interval::ZERO && (effect[c].lo > 0.0 || effect[c].hi < 0.0))
            .then(|| (c, effect[c].lo > 0.0))
    }

    fn is_defined(&self) -> bool {
        self.rows.iter().flatten().all(|x| !x.is_undefined())
    }
}

/// The force of a generator in the rows of its constraint.
fn force_of(d: &ExactDynamics<Interval>, k: usize, generator: &Generator) -> Vec<Interval> {
    let Generator::Force { sign, friction, .. } = generator else { return vec![] };
    let whole = |x: i8| Interval::point(f64::from(x));
    let slip = |t: usize| d.slip[k].get(t).copied().unwrap_or(Interval::ONE);
    let tangent = |t: usize| -product(product(whole(*friction), d.mu[k]), slip(t));
    std::iter::once(whole(*sign)).chain((0..d.laws[k].dim() - 1).map(tangent)).collect()
}

/// The equations of a mode, the rows that do not move first, and how many these are.
fn equations(
    d: &ExactDynamics<Interval>,
    offsets: &[usize],
    cones: &[Vec<Generator>],
    velocities: &[Option<(usize, Generator)>],
) -> (Equations, usize) {
    let (n, m) = (d.mass.len(), d.jacobian.len());
    let mut columns: Vec<Column> = (0..n).map(|_| Column { generator: None, free: true }).collect();
    for (k, cone) in cones.iter().enumerate() {
        for g in cone {
            if let Generator::Force { free, .. } = g {
                columns.push(Column { generator: Some((k, *g)), free: *free });
            }
        }
    }
    let mut rows: Vec<Vec<Interval>> = Vec::new();
    for i in (0..m).filter(|&i| velocities[i].is_none()) {
        let none = columns[n..].iter().map(|_| Interval::ZERO);
        let right = [-d.bias[i], -probe(n + i, &d.jacobian[i])];
        rows.push(d.jacobian[i].iter().copied().chain(none).chain(right).collect());
    }
    let still = rows.len();
    for i in 0..n {
        let effect = columns.iter().filter_map(|c| c.generator).map(|(k, g)| {
            let force = force_of(d, k, &g);
            let at = offsets[k];
            -force
                .iter()
                .enumerate()
                .fold(Interval::ZERO, |all, (r, f)| sum(all, product(d.jacobian[at + r][i], *f)))
        });
        let right = [-d.force[i], -probe(i, &d.mass[i])];
        rows.push(d.mass[i].iter().copied().chain(effect).chain(right).collect());
    }
    let total = rows.len();
    (Equations { rows, basis: vec![None; total], columns, relaxed: false }, still)
}

/// What is known of the mode with these generators.
// Long: one elimination and the questions to its result.
pub(super) fn examine(d: &ExactDynamics<Interval>, cones: &[Vec<Generator>], definite: bool) -> ModeAnswer {
    let (n, m) = (d.mass.len(), d.jacobian.len());
    let offsets = row_offsets(&d.laws);
    // The rows whose velocity is not zero, with its sign.
    let mut velocities: Vec<Option<(usize, Generator)>> = vec![None; m];
    for (k, cone) in cones.iter().enumerate() {
        for g in cone {
            if let Generator::Velocity { row, .. } = g {
                velocities[offsets[k] + row] = Some((k, *g));
            }
        }
    }
    let (mut equations, still) = equations(d, &offsets, cones, &velocities);
    let total = equations.rows.len();
    let of = |equations: &Equations, test: fn(&Column) -> bool| -> Vec<usize> {
        (0..equations.columns.len()).filter(|&c| test(&equations.columns[c])).collect()
    };
    let accelerations = of(&equations, |c| c.generator.is_none());
    let free = of(&equations, |c| c.generator.is_some() && c.free);
    let rays = of(&equations, |c| !c.free);
    equations.eliminate(0..still, &accelerations);
    if !equations.drop_rest(0..still) {
        return ModeAnswer::nothing(true, cones);
    }
    let pinned = equations.pin(d, &velocities, n);
    for columns in [&accelerations, &free, &rays] {
        equations.eliminate(still..total, columns);
    }
    if !equations.is_defined() {
        return ModeAnswer::nothing(false, cones);
    }
    if !equations.drop_rest(still..total) {
        return ModeAnswer::nothing(true, cones);
    }
    let solved = Solved::new(&equations);
    let regular = !pinned && solved.rest.is_empty() && equations.basis.iter().all(Option::is_some);
    let velocity = |i: usize, sign: i8| {
        let sign = Interval::point(if sign < 0 { -1.0 } else { 1.0 });
        let mut u = Expression {
            constant: product(sign, d.bias[i]),
            probe: sign * probe(n + i, &d.jacobian[i]),
            terms: vec![Interval::ZERO; solved.rest.len()],
        };
        for (j, factor) in d.jacobian[i].iter().enumerate().filter(|(_, x)| **x != Interval::ZERO) {
            u.add(product(sign, *factor), &solved.of[j]);
        }
        u
    };
    // The share of each generator; those of rays must not be negative.
    let mut all: Vec<(usize, Generator, bool, Expression)> = Vec::new();
    for i in 0..m {
        if let Some((k, g @ Generator::Velocity { sign, .. })) = velocities[i] {
            all.push((k, g, sign == 0, velocity(i, sign)));
        }
    }
    for (c, column) in equations.columns.iter().enumerate() {
        if let Some((k, g)) = column.generator {
            all.push((k, g, column.free, solved.of[c].clone()));
        }
    }
    let support = |(k, cone): (usize, &Vec<Generator>)| -> Vec<Generator> {
        let idle = |g: &Generator| all.iter().any(|(l, h, _, e)| *l == k && h == g && e.is_zero());
        cone.iter().copied().filter(|g| !idle(g)).collect()
    };
    let support: Vec<Vec<Generator>> = cones.iter().enumerate().map(support).collect();
    let share = |(k, g, _, e): &(usize, Generator, bool, Expression)| Share {
        constraint: *k,
        generator: *g,
        value: e.constant,
        probe: e.probe,
    };
    let shares = regular.then(|| all.iter().map(share).collect());
    let conditions: Vec<&Expression> = all.iter().filter(|(_, _, free, _)| !free).map(|x| &x.3).collect();
    let empty = is_empty(&conditions, &solved.free);
    let point = (!equations.relaxed && !empty).then(|| inside(&conditions, &solved.free)).flatten();
    let forces: Vec<(usize, usize, Vec<Interval>)> = (n..equations.columns.len())
        .filter_map(|c| equations.columns[c].generator.map(|(k, g)| (c, k, force_of(d, k, &g))))
        .collect();
    let force = |value: &dyn Fn(usize) -> Interval| -> Vec<Interval> {
        let mut f = vec![Interval::ZERO; m];
        for (c, k, along) in &forces {
            for (r, x) in along.iter().enumerate() {
                f[offsets[*k] + r] = sum(f[offsets[*k] + r], product(*x, value(*c)));
            }
        }
        f
    };
    let at = |x: &[f64], c: usize| solved.of[c].at(x);
    let witness = point.as_ref().map(|(x, _)| Witness {
        acceleration: (0..n).map(|c| at(x, c)).collect(),
        force: force(&|c| at(x, c)),
    });
    let open = point.as_ref().is_some_and(|(_, interior)| *interior);
    let motion = |columns: std::ops::Range<usize>| {
        let certain = |e: &Expression| e.terms.iter().any(|t| !t.contains(0.0));
        if solved.of[columns.clone()].iter().all(Expression::is_constant) {
            Motion::Fixed
        } else if open && solved.of[columns].iter().any(certain) {
            Motion::Moves
        } else {
            Motion::Unknown
        }
    };
    // With a positive definite mass dᵀM d = dᵀJᵀΔf = 0 for the difference d of two accelerations, where all
    // forces act in rows that do not move.
    let acts = |i: usize| {
        forces.iter().any(|(_, k, along)| {
            (offsets[*k]..offsets[k + 1]).contains(&i) && along[i - offsets[*k]] != Interval::ZERO
        })
    };
    let fixed = definite && (0..m).all(|i| velocities[i].is_none() || !acts(i));
    let value = |c: usize| if solved.of[c].is_constant() { solved.of[c].constant } else { ANY_NUMBER };
    ModeAnswer {
        empty,
        shares,
        support,
        witness,
        motion: if fixed { Motion::Fixed } else { motion(0..n) },
        forces: motion(n..equations.columns.len()),
        acceleration: (0..n).map(value).collect(),
        force: force(&value),
    }
}

/// A value that is not known to the last digit.
const ANY_NUMBER: Interval = Interval { lo: -f64::MAX, hi: f64::MAX };

/// Each column as an expression in those that are not basic.
struct Solved {
    of: Vec<Expression>,
    /// The columns that are not basic.
    rest: Vec<usize>,
    /// Whether these are free.
    free: Vec<bool>,
}

impl Solved {
    fn new(equations: &Equations) -> Self {
        let count = equations.columns.len();
        let rest: Vec<usize> = (0..count).filter(|c| !equations.basis.contains(&Some(*c))).collect();
        let expression = |c: usize| match equations.basis.iter().position(|b| *b == Some(c)) {
            Some(r) => Expression {
                constant: equations.rows[r][count],
                probe: equations.rows[r][count + 1],
                terms: rest.iter().map(|&j| -equations.rows[r][j]).collect(),
            },
            None => Expression {
                constant: Interval::ZERO,
                probe: Interval::ZERO,
                terms: rest.iter().map(|&j| if j == c { Interval::ONE } else { Interval::ZERO }).collect(),
            },
        };
        let of = (0..count).map(expression).collect();
        let free = rest.iter().map(|&c| equations.columns[c].free).collect();
        Solved { of, rest, free }
    }
}

/// Whether some condition fails at every x, x_j ≥ 0 where not free, for all data: c̅ + Σ t̅ x ≥ 0 has no
/// solution, a free x being the difference of two that are not.
fn is_empty(conditions: &[&Expression], free: &[bool]) -> bool {
    if conditions.iter().all(|e| e.constant.hi >= 0.0) {
        return false;
    }
    if conditions.iter().any(|e| {
        let helps = |(t, free): (&Interval, &bool)| t.hi > 0.0 || *free && t.lo < 0.0;
        e.constant.hi < 0.0 && !e.terms.iter().zip(free).any(helps)
    }) {
        return true;
    }
    let split = free.iter().filter(|f| **f).count();
    let row = |(i, e): (usize, &&Expression)| -> Vec<f64> {
        let up = e.terms.iter().map(|t| t.hi);
        let down = e.terms.iter().zip(free).filter(|(_, free)| **free).map(|(t, _)| -t.lo);
        let slack = (0..conditions.len()).map(|j| if j == i { -1.0 } else { 0.0 });
        up.chain(down).chain(slack).chain([-e.constant.hi]).collect()
    };
    let rows: Vec<Vec<f64>> = conditions.iter().enumerate().map(row).collect();
    feasible(&rows, vec![false; free.len() + split + conditions.len()]) == Some(false)
}

/// A point x, x_j ≥ 0 where not free, at which all conditions hold for all data, and whether all near it are
/// such points too.
fn inside(conditions: &[&Expression], free: &[bool]) -> Option<(Vec<f64>, bool)> {
    let holds = |x: &[f64]| conditions.iter().all(|e| e.at(x).lo >= 0.0);
    let origin = vec![0.0; free.len()];
    if free.is_empty() {
        return holds(&origin).then_some((origin, true));
    }
    let moving: Vec<&Expression> = conditions.iter().copied().filter(|e| !e.is_constant()).collect();
    let size = |e: &Expression| e.terms.iter().fold(0.0_f64, |top, t| top.max(t.middle().abs()));
    let unit = moving.iter().map(|e| e.constant.magnitude() / size(e)).filter(|x| x.is_finite());
    let unit = unit.fold(0.0_f64, f64::max);
    let unit = if unit > 0.0 { unit } else { 1.0 };
    // max s with c + t x ≥ s |t|, s ≤ unit; shares of rays are among the conditions.
    let k = free.len();
    let bounds = Matrix::from_fn(moving.len() + 1, k + 1, |i, j| match (moving.get(i), j < k) {
        (Some(e), true) => e.terms[j].middle(),
        (Some(e), false) => -size(e),
        (None, true) => 0.0,
        (None, false) => -1.0,
    });
    let limits: Vec<f64> = moving.iter().map(|e| -e.constant.middle()).chain([-unit]).collect();
    let cost: Vec<f64> = (0..=k).map(|j| if j < k { 0.0 } else { -1.0 }).collect();
    if let Lp::Optimal { mut point, .. } = linear_program(&cost, &bounds, &limits) {
        point.truncate(k);
        if holds(&point) {
            let interior = moving.iter().all(|e| e.at(&point).lo > 0.0);
            return Some((point, interior));
        }
    }
    holds(&origin).then_some((origin, false))
}
