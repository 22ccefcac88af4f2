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
use crate::lcp::{Lp, linear_program};
use crate::linalg::{Interval, Matrix};
use crate::modes::exact::{ExactDynamics, feasible};

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

/// What is known of a mode that may hold solutions.
pub(super) struct ModeAnswer {
    pub(super) witness: Option<Witness>,
    pub(super) motion: Motion,
    pub(super) forces: Motion,
    /// a where it is fixed.
    pub(super) acceleration: Vec<Interval>,
    /// f where it is fixed.
    pub(super) force: Vec<Interval>,
}

/// A column: an acceleration, or the share of a generator of forces.
struct Column {
    /// The constraint and the generator; `None` for accelerations.
    generator: Option<(usize, Generator)>,
    free: bool,
}

/// c + Σ tⱼ xⱼ over the columns that are not basic.
struct Expression {
    constant: Interval,
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
        self.terms.iter().zip(x).fold(self.constant, |sum, (t, x)| sum + *t * Interval::point(*x))
    }

    fn add(&mut self, factor: Interval, other: &Expression) {
        self.constant = self.constant + factor * other.constant;
        for (t, o) in self.terms.iter_mut().zip(&other.terms) {
            *t = *t + factor * *o;
        }
    }
}

/// The equations, row by row with the right-hand side last, and the column that is basic in each.
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
        loop {
            let mut best: Option<(f64, usize, usize)> = None;
            for r in rows.clone().filter(|&r| self.basis[r].is_none()) {
                let row = &self.rows[r];
                let unused = columns.iter().filter(|c| !self.basis.contains(&Some(**c)));
                let size = unused.clone().fold(0.0_f64, |top, &c| top.max(row[c].magnitude()));
                for &c in unused {
                    let least = if row[c].contains(0.0) { 0.0 } else { row[c].lo.abs().min(row[c].hi.abs()) };
                    if least > 0.0 && best.is_none_or(|(top, _, _)| least / size > top) {
                        best = Some((least / size, r, c));
                    }
                }
            }
            let Some((_, r, c)) = best else { return };
            self.pivot(r, c);
        }
    }

    fn pivot(&mut self, r: usize, c: usize) {
        let pivot = self.rows[r][c];
        let mut row: Vec<Interval> = self.rows[r].iter().map(|x| *x / pivot).collect();
        row[c] = Interval::ONE;
        for (i, other) in self.rows.iter_mut().enumerate() {
            let factor = other[c];
            if i == r || factor == Interval::ZERO {
                continue;
            }
            for (x, y) in other.iter_mut().zip(&row) {
                *x = *x - factor * *y;
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

    fn is_defined(&self) -> bool {
        self.rows.iter().flatten().all(|x| !x.is_undefined())
    }
}

/// The force of a generator in the rows of its constraint.
fn force_of(d: &ExactDynamics<Interval>, k: usize, generator: &Generator) -> Vec<Interval> {
    let Generator::Force { sign, friction, .. } = generator else { return vec![] };
    let whole = |x: i8| Interval::point(f64::from(x));
    let slip = |t: usize| d.slip[k].get(t).copied().unwrap_or(Interval::ONE);
    let tangent = |t: usize| -(whole(*friction) * d.mu[k] * slip(t));
    std::iter::once(whole(*sign)).chain((0..d.laws[k].dim() - 1).map(tangent)).collect()
}

/// The solutions of the mode with these generators, and the generators that may have a share in them; `None`
/// where there is no solution for any data.
// Long: one elimination and the questions to its result.
pub(super) fn examine(
    d: &ExactDynamics<Interval>,
    cones: &[Vec<Generator>],
    definite: bool,
) -> Option<(ModeAnswer, Vec<Vec<Generator>>)> {
    let (n, m) = (d.mass.len(), d.jacobian.len());
    let mut offsets = vec![0];
    for law in &d.laws {
        offsets.push(offsets[offsets.len() - 1] + law.dim());
    }
    let mut columns: Vec<Column> = (0..n).map(|_| Column { generator: None, free: true }).collect();
    // The rows whose velocity is not zero, with its sign.
    let mut velocities: Vec<Option<(usize, Generator)>> = vec![None; m];
    for (k, cone) in cones.iter().enumerate() {
        for g in cone {
            match g {
                Generator::Force { free, .. } => {
                    columns.push(Column { generator: Some((k, *g)), free: *free })
                }
                Generator::Velocity { row, .. } => velocities[offsets[k] + row] = Some((k, *g)),
            }
        }
    }
    let forces: Vec<Vec<Interval>> =
        columns.iter().filter_map(|c| c.generator).map(|(k, g)| force_of(d, k, &g)).collect();
    let mut rows: Vec<Vec<Interval>> = Vec::new();
    for i in (0..m).filter(|&i| velocities[i].is_none()) {
        let none = columns[n..].iter().map(|_| Interval::ZERO);
        rows.push(d.jacobian[i].iter().copied().chain(none).chain([-d.bias[i]]).collect());
    }
    let still = rows.len();
    for i in 0..n {
        let effect = columns.iter().filter_map(|c| c.generator).zip(&forces).map(|((k, _), force)| {
            let at = offsets[k];
            -force.iter().enumerate().fold(Interval::ZERO, |sum, (r, f)| sum + d.jacobian[at + r][i] * *f)
        });
        rows.push(d.mass[i].iter().copied().chain(effect).chain([-d.force[i]]).collect());
    }
    let total = rows.len();
    let mut equations = Equations { rows, basis: vec![None; total], columns, relaxed: false };
    let of = |equations: &Equations, test: fn(&Column) -> bool| -> Vec<usize> {
        (0..equations.columns.len()).filter(|&c| test(&equations.columns[c])).collect()
    };
    let accelerations = of(&equations, |c| c.generator.is_none());
    let free = of(&equations, |c| c.generator.is_some() && c.free);
    let rays = of(&equations, |c| !c.free);
    equations.eliminate(0..still, &accelerations);
    if !equations.drop_rest(0..still) {
        return None;
    }
    for columns in [&accelerations, &free, &rays] {
        equations.eliminate(still..total, columns);
    }
    let support = |shares: &dyn Fn(&Generator, usize) -> bool| -> Vec<Vec<Generator>> {
        let of =
            |(k, cone): (usize, &Vec<Generator>)| cone.iter().copied().filter(|g| shares(g, k)).collect();
        cones.iter().enumerate().map(of).collect()
    };
    if !equations.is_defined() {
        let unknown = ModeAnswer {
            witness: None,
            motion: Motion::Unknown,
            forces: Motion::Unknown,
            acceleration: vec![],
            force: vec![],
        };
        return Some((unknown, support(&|_, _| true)));
    }
    if !equations.drop_rest(still..total) {
        return None;
    }
    let solved = Solved::new(&equations);
    let velocity = |i: usize| {
        let mut u = Expression { constant: d.bias[i], terms: vec![Interval::ZERO; solved.rest.len()] };
        for (j, factor) in d.jacobian[i].iter().enumerate().filter(|(_, x)| **x != Interval::ZERO) {
            u.add(*factor, &solved.of[j]);
        }
        u
    };
    // What must not be negative: shares of rays and velocities with a sign.
    let mut conditions: Vec<Expression> = Vec::new();
    let mut idle: Vec<(usize, Generator)> = Vec::new();
    for i in 0..m {
        let Some((k, g @ Generator::Velocity { sign, .. })) = velocities[i] else { continue };
        let mut u = Expression { constant: Interval::ZERO, terms: vec![Interval::ZERO; solved.rest.len()] };
        u.add(Interval::point(if sign < 0 { -1.0 } else { 1.0 }), &velocity(i));
        if u.is_zero() {
            idle.push((k, g));
        }
        if sign != 0 {
            conditions.push(u);
        }
    }
    for (c, column) in equations.columns.iter().enumerate() {
        let Some((k, g)) = column.generator else { continue };
        if solved.of[c].is_zero() {
            idle.push((k, g));
        }
        if !column.free {
            let mut share =
                Expression { constant: Interval::ZERO, terms: vec![Interval::ZERO; solved.rest.len()] };
            share.add(Interval::ONE, &solved.of[c]);
            conditions.push(share);
        }
    }
    if is_empty(&conditions, &solved.free) {
        return None;
    }
    let point = (!equations.relaxed).then(|| inside(&conditions, &solved.free)).flatten();
    let force = |value: &dyn Fn(usize) -> Interval| -> Vec<Interval> {
        let mut f = vec![Interval::ZERO; m];
        let generators = equations.columns.iter().enumerate().filter_map(|(c, x)| Some((c, x.generator?)));
        for ((c, (k, _)), along) in generators.zip(&forces) {
            for (r, x) in along.iter().enumerate() {
                f[offsets[k] + r] = f[offsets[k] + r] + *x * value(c);
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
        let in_row = |(c, (k, _)): (&Vec<Interval>, (usize, Generator))| {
            (offsets[k]..offsets[k + 1]).contains(&i) && c[i - offsets[k]] != Interval::ZERO
        };
        forces.iter().zip(equations.columns.iter().filter_map(|c| c.generator)).any(in_row)
    };
    let held = definite && (0..m).all(|i| velocities[i].is_none() || !acts(i));
    let answer = ModeAnswer {
        witness,
        motion: if held { Motion::Fixed } else { motion(0..n) },
        forces: motion(n..equations.columns.len()),
        acceleration: solved.of[..n]
            .iter()
            .map(|e| if e.is_constant() { e.constant } else { WIDE })
            .collect(),
        force: force(&|c| if solved.of[c].is_constant() { solved.of[c].constant } else { WIDE }),
    };
    Some((answer, support(&|g, k| !idle.contains(&(k, *g)))))
}

/// A value that is not known to the last digit.
const WIDE: Interval = Interval { lo: -f64::MAX, hi: f64::MAX };

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
                terms: rest.iter().map(|&j| -equations.rows[r][j]).collect(),
            },
            None => Expression {
                constant: Interval::ZERO,
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
fn is_empty(conditions: &[Expression], free: &[bool]) -> bool {
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
    let row = |(i, e): (usize, &Expression)| -> Vec<f64> {
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
fn inside(conditions: &[Expression], free: &[bool]) -> Option<(Vec<f64>, bool)> {
    let holds = |x: &[f64]| conditions.iter().all(|e| e.at(x).lo >= 0.0);
    let origin = vec![0.0; free.len()];
    if free.is_empty() {
        return holds(&origin).then_some((origin, true));
    }
    let moving: Vec<&Expression> = conditions.iter().filter(|e| !e.is_constant()).collect();
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
