//! Cone programs that find forces at rest and velocities of collapse, solved by `clarabel`.
//!
//! ```text
//! rest:       max t   with B f = F ,  |f_g| ≤ μ_g (f_n − t) ,  |f_b| ≤ L_b (1 − t) ,  t ≤ 1
//! collapse:   max −Fᵀv − Σ L_b |u_b|   with u = Bᵀv ,  G v = 0 ,  u_n ≥ Σ μ_g |u_g| + δ ,  |v_i| ≤ 1
//! factor:     max α   with B f = F + α F₁ ,  f ∈ K
//! ```
//!
//! t is the slack that all contacts have at once, in units of the largest load: where it is negative, it is
//! how much glue each of them would need. What is found here is believed by nobody; the certificate is what
//! counts.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SecondOrderConeT, SolverStatus,
    SupportedConeT, ZeroConeT,
};

use super::{Balance, Support};
use crate::linalg::{GramCholesky, Sparse, dot, max_abs, norm};

/// Programs know no larger coefficient of friction: numbers that differ by more have no digits in common.
/// What they find is checked with the coefficients that are meant.
const MAX_SEARCHED_FRICTION: f64 = 1e4;
/// Weight of the square of forces beside t: of several forces, small ones.
const SMALL_FORCES: f64 = 1e-9;
/// Contacts with less slack of their own than this cannot carry anything.
const MIN_SLACK: f64 = 1e-5;
/// Accuracy that is asked of `clarabel`.
const TOLERANCE: f64 = 1e-10;
/// How fast contacts open in a collapse, at least, relative to the fastest coordinate: tried in this order.
const OPENINGS: [f64; 2] = [1e-6, 1e-8];
/// How far a ray may leave the cones, relative to what the objective falls along it.
const RAY_ERROR: f64 = 1e-6;
/// Velocities below this part of the largest are those of what does not move.
const AT_REST: f64 = 1e-5;

/// Which forces are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RestSearch {
    /// Without friction at contacts, with the same slack for all of them.
    Frictionless,
    /// Without friction, with slack for as many contacts as possible; the others carry nothing.
    FrictionlessMost,
    /// With the same slack for all contacts.
    Common,
    /// With slack for as many contacts as possible; the others carry nothing.
    Most,
}

/// A program in the making: variables x with constraints A x + s = b, s in cones.
#[derive(Default)]
struct Program {
    variables: usize,
    /// Entries (variable, row, value) and right-hand sides of equations, inequalities and cones.
    entries: [Vec<(usize, usize, f64)>; 3],
    right: [Vec<f64>; 3],
    /// Sizes of the cones.
    cones: Vec<usize>,
}

/// What `clarabel` says of a program.
enum Found {
    /// Here the objective is least.
    Point(Vec<f64>),
    /// Along this direction it falls without end.
    Ray(Vec<f64>),
    /// Nothing of use.
    Nothing,
}

impl Found {
    fn point(self) -> Option<Vec<f64>> {
        match self {
            Found::Point(x) => Some(x),
            Found::Ray(_) | Found::Nothing => None,
        }
    }
}

/// A sum of variables with factors.
type Terms<'a> = &'a [(usize, f64)];

impl Program {
    /// Another variable.
    fn variable(&mut self) -> usize {
        self.variables += 1;
        self.variables - 1
    }

    fn push(&mut self, kind: usize, terms: impl Iterator<Item = (usize, f64)>, constant: f64) {
        let row = self.right[kind].len();
        self.right[kind].push(constant);
        self.entries[kind].extend(terms.filter(|(_, x)| *x != 0.0).map(|(v, x)| (v, row, -x)));
    }

    /// Σ terms = value.
    fn equal(&mut self, terms: impl Iterator<Item = (usize, f64)>, value: f64) {
        self.push(0, terms, -value);
    }

    /// Σ terms + constant ≥ 0.
    fn nonnegative(&mut self, terms: Terms<'_>, constant: f64) {
        self.push(1, terms.iter().copied(), constant);
    }

    /// |(the others)| ≤ the first, each a sum of terms and a constant.
    fn cone(&mut self, rows: &[(Vec<(usize, f64)>, f64)]) {
        for (terms, constant) in rows {
            self.push(2, terms.iter().copied(), *constant);
        }
        self.cones.push(rows.len());
    }

    /// The variables at the least of ½ Σ squares x² + objectiveᵀx, as `clarabel` finds them.
    fn solve(&self, squares: &[f64], objective: &[f64]) -> Found {
        let n = self.variables;
        let [equal, at_least, cones] = [0, 1, 2].map(|k| self.right[k].len());
        let first = [0, equal, equal + at_least];
        let all: Vec<(usize, usize, f64)> = (0..3)
            .flat_map(|k| self.entries[k].iter().map(move |&(v, row, x)| (v, first[k] + row, x)))
            .collect();
        let rows = equal + at_least + cones;
        // The rows of Aᵀ are the columns of A.
        let a = Sparse::from_triplets(n, rows, &all);
        let a = CscMatrix::new(rows, n, a.starts().to_vec(), a.columns().to_vec(), a.values().to_vec());
        let diagonal: Vec<(usize, usize, f64)> =
            squares.iter().enumerate().filter(|(_, x)| **x != 0.0).map(|(i, x)| (i, i, *x)).collect();
        let p = Sparse::from_triplets(n, n, &diagonal);
        let p = CscMatrix::new(n, n, p.starts().to_vec(), p.columns().to_vec(), p.values().to_vec());
        let b = self.right.concat();
        let mut kinds: Vec<SupportedConeT<f64>> = vec![ZeroConeT(equal), NonnegativeConeT(at_least)];
        kinds.extend(self.cones.iter().map(|n| SecondOrderConeT(*n)));
        let settings = DefaultSettings {
            verbose: false,
            tol_gap_abs: TOLERANCE,
            tol_gap_rel: TOLERANCE,
            tol_feas: TOLERANCE,
            ..Default::default()
        };
        let Ok(mut solver) = DefaultSolver::new(&p, objective, &a, &b, &kinds, settings) else {
            return Found::Nothing;
        };
        solver.solve();
        let found = &solver.solution.x;
        if found.iter().any(|x| !x.is_finite()) {
            return Found::Nothing;
        }
        match solver.solution.status {
            SolverStatus::DualInfeasible | SolverStatus::AlmostDualInfeasible => Found::Ray(found.clone()),
            SolverStatus::PrimalInfeasible
            | SolverStatus::AlmostPrimalInfeasible
            | SolverStatus::Unsolved => Found::Nothing,
            _ => Found::Point(found.clone()),
        }
    }

    /// Whether ½ Σ squares x² + objectiveᵀx falls without end along a direction d that `clarabel` gives for a
    /// proof: −A d in the cones, no square grows, objectiveᵀd < 0.
    fn proves_unbounded(&self, squares: &[f64], objective: &[f64], direction: &[f64]) -> bool {
        let descent = -dot(objective, direction);
        let small = |x: f64| x <= RAY_ERROR * descent;
        let [equal, at_least, cones] = [0, 1, 2].map(|k| {
            let mut s = vec![0.0; self.right[k].len()];
            self.entries[k].iter().for_each(|&(v, row, x)| s[row] -= x * direction[v]);
            s
        });
        let mut at = 0;
        let within = self.cones.iter().all(|n| {
            let s = &cones[at..at + n];
            at += n;
            small(norm(&s[1..]) - s[0])
        });
        descent > 0.0
            && within
            && equal.iter().all(|s| small(s.abs()))
            && at_least.iter().all(|s| small(-s))
            && squares.iter().zip(direction).all(|(p, d)| small((p * d).abs()))
    }
}

/// The variables of forces in a program.
struct ForceVariables {
    /// The variable of each row; `None` for forces that are zero.
    of: Vec<Option<usize>>,
}

/// A program with one variable for each force of the rows that take part, which balance F less `given`
/// columns; `None` where a load acts on what nothing holds.
fn balance_program(
    balance: &Balance,
    parts: &[bool],
    scale: f64,
    extra: &[f64],
) -> Option<(Program, ForceVariables)> {
    let mut program = Program::default();
    let of: Vec<Option<usize>> = parts.iter().map(|part| part.then(|| program.variable())).collect();
    let factor = program.variable();
    let across = balance.rows.transpose();
    for (j, load) in balance.load.iter().enumerate() {
        let (rows, values) = across.row(j);
        let own = rows.iter().zip(values).filter_map(|(&i, &x)| Some((of[i]?, x)));
        let along = extra.get(j).copied().unwrap_or(0.0);
        if own.clone().next().is_none() {
            if *load != 0.0 || along != 0.0 {
                return None;
            }
            continue;
        }
        program.equal(own.chain([(factor, -along / scale)]), load / scale);
    }
    Some((program, ForceVariables { of }))
}

/// Forces within their cones, with slack t for each contact: `slack` gives its variable.
fn add_cones(
    program: &mut Program,
    balance: &Balance,
    forces: &ForceVariables,
    scale: f64,
    mut slack: impl FnMut(usize, &mut Program) -> Option<usize>,
) {
    for (k, (support, at)) in balance.supports.iter().zip(balance.offsets()).enumerate() {
        let Some(first) = forces.of[at] else { continue };
        match support {
            Support::Joint => {}
            Support::Bounded(most) => {
                let most = most / scale;
                let shrink = slack(k, program).map(|t| (t, -most.min(1.0)));
                for sign in [1.0, -1.0] {
                    let terms: Vec<_> = [(first, sign)].into_iter().chain(shrink).collect();
                    program.nonnegative(&terms, most);
                }
            }
            Support::Contact(_) => {
                let pressed: Vec<(usize, f64)> =
                    [(first, 1.0)].into_iter().chain(slack(k, program).map(|t| (t, -1.0))).collect();
                let mut rubs = false;
                for (coefficient, rows) in support.groups() {
                    let own: Vec<usize> = rows.filter_map(|r| forces.of[at + r]).collect();
                    if own.is_empty() {
                        continue;
                    }
                    rubs = true;
                    let top = pressed.iter().map(|(v, x)| (*v, coefficient * x)).collect();
                    let others = own.iter().map(|v| (vec![(*v, 1.0)], 0.0));
                    let cone: Vec<_> = [(top, 0.0)].into_iter().chain(others).collect();
                    program.cone(&cone);
                }
                if !rubs {
                    program.nonnegative(&pressed, 0.0);
                }
            }
        }
    }
}

/// Rows whose force may be other than zero: all but friction without coefficient, and contacts left out.
fn rows_that_push(balance: &Balance, friction: bool, left_out: &[bool]) -> Vec<bool> {
    let mut parts = vec![false; balance.rows.rows()];
    for (k, (support, at)) in balance.supports.iter().zip(balance.offsets()).enumerate() {
        if left_out.get(k).is_some_and(|out| *out) {
            continue;
        }
        parts[at] = *support != Support::Bounded(0.0);
        for (coefficient, rows) in support.groups() {
            rows.for_each(|r| parts[at + r] = friction && coefficient > 0.0);
        }
    }
    // A row without entries balances nothing.
    (0..parts.len()).for_each(|i| parts[i] &= !balance.rows.row(i).0.is_empty());
    parts
}

/// Forces that balance the load to rounding, and their slack t in units of the largest load; `None` where
/// nothing was found.
pub fn find_rest(balance: &Balance, search: RestSearch) -> Option<(Vec<f64>, f64)> {
    let balance = &*balance.limited(MAX_SEARCHED_FRICTION);
    let scale = max_abs(&balance.load);
    if scale == 0.0 {
        return Some((vec![0.0; balance.rows.rows()], 1.0));
    }
    let friction = matches!(search, RestSearch::Common | RestSearch::Most);
    let left_out = match search {
        RestSearch::Most | RestSearch::FrictionlessMost => without_slack(balance, scale, friction)?,
        RestSearch::Common | RestSearch::Frictionless => vec![],
    };
    let parts = rows_that_push(balance, friction, &left_out);
    let (mut program, forces) = balance_program(balance, &parts, scale, &[])?;
    let t = program.variable();
    add_cones(&mut program, balance, &forces, scale, |_, _| Some(t));
    program.nonnegative(&[(t, -1.0)], 1.0);
    let (squares, objective) = largest(&program, t);
    let found = program.solve(&squares, &objective).point()?;
    let mut out: Vec<f64> = forces.of.iter().map(|v| v.map_or(0.0, |v| scale * found[v])).collect();
    polish(balance, &parts, &mut out);
    Some((out, found[t]))
}

/// Squares and objective of the largest value of a variable, with small forces.
fn largest(program: &Program, variable: usize) -> (Vec<f64>, Vec<f64>) {
    let mut objective = vec![0.0; program.variables];
    objective[variable] = -1.0;
    let mut squares = vec![SMALL_FORCES; program.variables];
    squares[variable] = 0.0;
    (squares, objective)
}

/// Contacts that cannot carry anything in any balance, as far as a program shows it.
fn without_slack(balance: &Balance, scale: f64, friction: bool) -> Option<Vec<bool>> {
    let parts = rows_that_push(balance, friction, &[]);
    let (mut program, forces) = balance_program(balance, &parts, scale, &[])?;
    let mut slacks = vec![None; balance.supports.len()];
    add_cones(&mut program, balance, &forces, scale, |k, program| {
        let Support::Contact(_) = balance.supports[k] else { return None };
        let t = program.variable();
        slacks[k] = Some(t);
        Some(t)
    });
    let mut objective = vec![0.0; program.variables];
    for t in slacks.iter().flatten() {
        objective[*t] = -1.0;
        program.nonnegative(&[(*t, 1.0)], 0.0);
        program.nonnegative(&[(*t, -1.0)], 1e-2);
    }
    let squares = vec![SMALL_FORCES; program.variables];
    let found = program.solve(&squares, &objective).point()?;
    Some(slacks.iter().map(|t| t.is_some_and(|t| found[t] < MIN_SLACK)).collect())
}

/// f ← f + Bᵀ(BBᵀ)⁻¹(F − B f) on the rows that take part, twice; nothing where these depend on each other.
fn polish(balance: &Balance, parts: &[bool], forces: &mut [f64]) {
    let rows: Vec<usize> = (0..parts.len()).filter(|&i| parts[i]).collect();
    let mut place = vec![usize::MAX; balance.load.len()];
    let mut touched = Vec::new();
    let mut entries = Vec::new();
    for (k, &i) in rows.iter().enumerate() {
        let (columns, values) = balance.rows.row(i);
        for (&j, &x) in columns.iter().zip(values) {
            if place[j] == usize::MAX {
                place[j] = touched.len();
                touched.push(j);
            }
            entries.push((k, place[j], x));
        }
    }
    let part = Sparse::from_triplets(rows.len(), touched.len(), &entries);
    let mut factors = GramCholesky::default();
    if !factors.factorize(&part, &vec![1.0; rows.len()]) {
        return;
    }
    for _ in 0..2 {
        let own: Vec<f64> = rows.iter().map(|&i| forces[i]).collect();
        let balanced = part.tr_mul_vec(&own);
        let mut residual: Vec<f64> =
            touched.iter().zip(&balanced).map(|(&j, x)| balance.load[j] - x).collect();
        factors.solve(&mut residual);
        for (&i, change) in rows.iter().zip(part.mul_vec(&residual)) {
            // A force that takes part is never exactly zero: that would leave it out.
            let sum = forces[i] + change;
            forces[i] = if sum == 0.0 { f64::MIN_POSITIVE } else { sum };
        }
    }
}

/// About the largest α with which supports balance F + α F₁: certificates say on which sides of it they do.
/// Very large where nothing ends it, infinite where a ray proves that, `None` where none was found.
pub fn largest_factor(balance: &Balance, direction: &[f64]) -> Option<f64> {
    let balance = &*balance.limited(MAX_SEARCHED_FRICTION);
    let scale = max_abs(&balance.load).max(max_abs(direction));
    if scale == 0.0 {
        return Some(f64::INFINITY);
    }
    let parts = rows_that_push(balance, true, &[]);
    let (mut program, forces) = balance_program(balance, &parts, scale, direction)?;
    add_cones(&mut program, balance, &forces, scale, |_, _| None);
    // The variable of the factor follows those of the forces.
    let factor = forces.of.iter().flatten().count();
    let (squares, objective) = largest(&program, factor);
    match program.solve(&squares, &objective) {
        Found::Point(found) => Some(found[factor]),
        Found::Ray(ray) if program.proves_unbounded(&squares, &objective, &ray) => Some(f64::INFINITY),
        Found::Ray(_) | Found::Nothing => None,
    }
}

/// Velocities under which the load has power, no contact closes and no joint moves, tried by `accept`: with
/// all contacts opening, then with those standing still that have to.
pub fn find_collapse(balance: &Balance, mut accept: impl FnMut(&[f64]) -> bool) -> Option<Vec<f64>> {
    let balance = &*balance.limited(MAX_SEARCHED_FRICTION);
    let free = vec![false; balance.load.len()];
    for opening in OPENINGS {
        let hard = collapse(balance, &free, opening, false);
        if let Some((v, _)) = hard.filter(|(v, _)| accept(v)) {
            return Some(v);
        }
        let Some((v, openings)) = collapse(balance, &free, opening, true) else { continue };
        let mut still = free.clone();
        let slow = AT_REST * max_abs(&v);
        for ((support, at), own) in balance.supports.iter().zip(balance.offsets()).zip(openings) {
            let touched = || (at..at + support.dim()).flat_map(|i| balance.rows.row(i).0.iter().copied());
            if own.is_some_and(|own| own < 0.5 * opening) && touched().all(|j| v[j].abs() <= slow) {
                touched().for_each(|j| still[j] = true);
            }
        }
        if still != free
            && let Some((v, _)) = collapse(balance, &still, opening, false).filter(|(v, _)| accept(v))
        {
            return Some(v);
        }
    }
    None
}

/// The program of a collapse with some coordinates at rest; with how fast each contact opens where that may
/// be slower than asked.
fn collapse(
    balance: &Balance,
    still: &[bool],
    opening: f64,
    soft: bool,
) -> Option<(Vec<f64>, Vec<Option<f64>>)> {
    let scale = max_abs(&balance.load);
    if scale == 0.0 {
        return None;
    }
    let mut program = Program::default();
    let of: Vec<Option<usize>> = still.iter().map(|still| (!still).then(|| program.variable())).collect();
    of.iter().flatten().for_each(|v| {
        program.nonnegative(&[(*v, 1.0)], 1.0);
        program.nonnegative(&[(*v, -1.0)], 1.0);
    });
    let speed = |i: usize, factor: f64| -> Vec<(usize, f64)> {
        let (columns, values) = balance.rows.row(i);
        columns.iter().zip(values).filter_map(|(&j, &x)| Some((of[j]?, factor * x))).collect()
    };
    let mut costs: Vec<(usize, f64)> =
        of.iter().zip(&balance.load).filter_map(|(v, f)| Some(((*v)?, f / scale))).collect();
    let mut openings = vec![None; balance.supports.len()];
    let total: f64 = balance.load.iter().map(|f| f.abs() / scale).sum();
    for (k, (support, at)) in balance.supports.iter().zip(balance.offsets()).enumerate() {
        let normal = speed(at, 1.0);
        match support {
            Support::Joint if normal.is_empty() => {}
            Support::Joint => program.equal(normal.into_iter(), 0.0),
            Support::Bounded(most) => {
                let slip = program.variable();
                costs.push((slip, most / scale));
                for sign in [1.0, -1.0] {
                    let terms: Vec<_> = speed(at, sign).into_iter().chain([(slip, 1.0)]).collect();
                    program.nonnegative(&terms, 0.0);
                }
            }
            Support::Contact(law) if (at..at + law.dim()).all(|i| speed(i, 1.0).is_empty()) => {}
            Support::Contact(_) => {
                let mut opens = normal;
                let constant = if soft {
                    let own = program.variable();
                    openings[k] = Some(own);
                    costs.push((own, -10.0 * total));
                    program.nonnegative(&[(own, 1.0)], 0.0);
                    program.nonnegative(&[(own, -1.0)], opening);
                    opens.push((own, -1.0));
                    0.0
                } else {
                    -opening
                };
                for (coefficient, rows) in support.groups().filter(|(coefficient, _)| *coefficient > 0.0) {
                    let slip = program.variable();
                    opens.push((slip, -coefficient));
                    let others = rows.map(|r| (speed(at + r, 1.0), 0.0));
                    let cone: Vec<_> = [(vec![(slip, 1.0)], 0.0)].into_iter().chain(others).collect();
                    program.cone(&cone);
                }
                program.nonnegative(&opens, constant);
            }
        }
    }
    let mut objective = vec![0.0; program.variables];
    costs.iter().for_each(|(v, cost)| objective[*v] = *cost);
    let found = program.solve(&[], &objective).point()?;
    let velocity = of.iter().map(|v| v.map_or(0.0, |v| found[v])).collect();
    Some((velocity, openings.iter().map(|own| own.map(|own| found[own])).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forged_ray_proves_nothing() {
        // max t with f = t and |g| ≤ f, where t ≤ 1 or not.
        let program = |bounded: bool| {
            let mut program = Program { variables: 3, ..Default::default() };
            program.equal([(0, 1.0), (1, -1.0)].into_iter(), 0.0);
            program.cone(&[(vec![(0, 1.0)], 0.0), (vec![(2, 1.0)], 0.0)]);
            if bounded {
                program.nonnegative(&[(1, -1.0)], 1.0);
            }
            program
        };
        let objective = [0.0, -1.0, 0.0];
        let proves = |squares: f64, ray: [f64; 3]| {
            program(false).proves_unbounded(&[squares, 0.0, squares], &objective, &ray)
        };
        assert!(proves(0.0, [1.0, 1.0, 0.5]) && proves(0.0, [1.0, 1.0, 1.0]));
        assert!(!proves(0.0, [1.0, 1.0, 1.1]), "it leaves the cone");
        assert!(!proves(0.0, [1.1, 1.0, 0.5]), "it leaves the equation");
        assert!(!proves(0.0, [-1.0, -1.0, 0.0]), "t falls along it");
        assert!(!proves(1.0, [1.0, 1.0, 0.5]), "a square grows along it");
        assert!(!proves(0.0, [f64::NAN, 1.0, 0.5]) && !proves(0.0, [1.0, f64::INFINITY, 0.5]));
        assert!(!program(true).proves_unbounded(&[0.0; 3], &objective, &[1.0, 1.0, 0.5]), "t is bounded");
        // What clarabel finds.
        assert!(matches!(program(true).solve(&[], &objective), Found::Point(x) if (x[1] - 1.0).abs() < 1e-6));
        let Found::Ray(ray) = program(false).solve(&[], &objective) else { panic!("it has no end") };
        assert!(program(false).proves_unbounded(&[], &objective, &ray));
    }
}
