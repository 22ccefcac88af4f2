//! Well-posedness of a contact problem: does the answer exist, is it the only one, and what are all answers?
//!
//! Decided here by exact means alone: positive definiteness, the P-matrix test, and the enumeration of all
//! modes. What is beyond their reach stays [`Verdict::Unknown`].
//!
//! Numbers that come out of sines and divisions carry rounding, and a tie among them is told by margins. Numbers that
//! a person writes (integers, halves, …) carry none: there a tie is a tie, and the list of all modes is gone through
//! once more in rational arithmetic ([`crate::modes`]), which has the last word.
//!
//! Where the forces are not unique (hyperstatic systems, 002 Lemma 5.2 with items 3 and 4 corrected), the set of all
//! forces is given with its least-norm member, the part that all members share, and the interval of every component.
//!
//! "Unique" means that there is exactly one: where no solution exists, uniqueness is refuted too.

mod certificate;
mod friction_bounds;
mod friction_cone;
mod implication;
mod impulse_range;
pub mod theorems;
mod verify;

pub use certificate::{Certificate, Claims, Fact, Finding, Kind, MatrixOf, Outcome};
pub use friction_bounds::{FrictionBound, friction_bounds};
pub use friction_cone::{FrictionCone, friction_cone};
pub use impulse_range::{ImpulseRange, MAX_COLUMNS, impulse_range};
pub use verify::{exact_matrix, fact};

use crate::contact::{FrictionSolution, solve_any_law};
use crate::lcp::{Lp, Verdict, linear_program, p_matrix, sliding_lcp};
use crate::linalg::{Matrix, max_abs, norm};
use crate::modes::{
    EnumerateOptions, ExactAnswer, Freedom, Mode, SolutionPiece, SolutionSet, enumerate, exact_answer,
    scaled_contact,
};
use crate::problem::{ContactProblem, Dynamics, Law, Reduced, worst_constraint};

/// What decided the verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Every mode was examined.
    AllModes,
    /// The LCP matrix is positive definite.
    PositiveDefinite,
    /// The LCP matrix is a P-matrix.
    PMatrix,
    /// A solution was found and is shown; nothing is said about others.
    Found,
    /// No friction and a positive definite mass: Gauss' principle makes the acceleration unique once a
    /// solution is known (000 Prop. 3 (ii)).
    Gauss,
    /// Nothing was decided.
    None,
}

/// The answer to the three questions, and all solutions that were found.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// Is there a solution?
    pub existence: Verdict,
    /// Is there exactly one acceleration?
    pub acceleration_unique: Verdict,
    /// Is there exactly one set of forces?
    pub forces_unique: Verdict,
    /// What decided.
    pub method: Method,
    /// The solutions; all of them where `complete` and `decided`.
    pub solutions: SolutionSet,
    /// The forces of least norm among all solutions found.
    pub minimum_norm: Option<Vec<f64>>,
    /// The part of the forces that all solutions share: their projection on the directions in which no two
    /// solutions differ.
    pub unique_part: Option<Vec<f64>>,
    /// [min, max] of every force component over the solutions found; ±∞ where unbounded.
    pub intervals: Vec<[f64; 2]>,
    /// The contact problem in force space; `None` where the mass is singular.
    pub reduced: Option<Reduced>,
    /// The answers in rational arithmetic, where they were asked for.
    pub exact: Option<ExactAnswer>,
}

/// Two forces or accelerations that differ by less than this, relative to their size, are the same: the
/// enumeration tells solutions apart at 10⁻⁷ of the problem's scale.
const SAME: f64 = 1e-7;

/// Definiteness counts where it is clear of zero by this, on scaled numbers.
const MARGIN: f64 = 1e-8;

/// How far forces may be from a solution at any constraint by itself.
const JUDGED: f64 = 1e-8;

/// A contact whose force is below this part of the largest among forces of least norm does not press: as far as these
/// are solved for.
const OPEN_LEAST: f64 = 1e-7;

/// Largest number of modes, and largest sum of coordinates and rows, that are gone through in rational arithmetic
/// without being asked.
const EXACT_MODES_MAX: u64 = 4096;
const EXACT_SIZE_MAX: usize = 24;

/// Answers the three questions for a contact problem.
pub fn analyze(dynamics: &Dynamics, options: &EnumerateOptions) -> Analysis {
    let mut analysis = analyze_rounded(dynamics, options);
    if is_free_of_rounding(dynamics)
        && let Some(truth) = all_modes_exactly(dynamics)
    {
        analysis.exact = Some(truth);
        for (verdict, yes) in analysis.verdicts().into_iter().zip(truth.answers()) {
            let exact = if yes { Verdict::Proved } else { Verdict::Refuted };
            // A list of solutions that led to another verdict is not the list of all.
            analysis.solutions.decided &= verdict == exact || analysis.method != Method::AllModes;
        }
        let [e, a, f] = truth.answers().map(|yes| if yes { Verdict::Proved } else { Verdict::Refuted });
        (analysis.existence, analysis.acceleration_unique, analysis.forces_unique) = (e, a, f);
        analysis.method = Method::AllModes;
    }
    analysis
}

/// The answers in rational arithmetic; `None` beyond the size that is gone through.
pub fn all_modes_exactly(dynamics: &Dynamics) -> Option<ExactAnswer> {
    let small = dynamics.coordinates() + dynamics.jacobian.rows() <= EXACT_SIZE_MAX;
    small.then(|| exact_answer(dynamics, EXACT_MODES_MAX)).flatten()
}

impl Analysis {
    /// Existence, unique acceleration, unique forces.
    pub fn verdicts(&self) -> [Verdict; 3] {
        [self.existence, self.acceleration_unique, self.forces_unique]
    }
}

/// Whether all numbers of a problem are short binary fractions, below 2²⁰ in size and multiples of 2⁻²⁰: the result of
/// a computation that had to round hardly ever is.
pub fn is_free_of_rounding(d: &Dynamics) -> bool {
    const STEPS: f64 = (1 << 20) as f64;
    let short = |x: &f64| x.abs() <= STEPS && (x * STEPS).fract() == 0.0;
    let in_law = |law: &Law| {
        short(&law.mu())
            && match law {
                Law::Sliding { slip, .. } | Law::BilateralSliding { slip, .. } => {
                    slip.components().iter().all(short)
                }
                _ => true,
            }
    };
    d.mass.data().iter().chain(&d.force).chain(d.jacobian.data()).chain(&d.bias).all(short)
        && d.laws.iter().all(in_law)
}

/// As [`analyze`], in floating point alone, where margins tell a tie from rounding.
pub fn analyze_rounded(dynamics: &Dynamics, options: &EnumerateOptions) -> Analysis {
    let reduced = dynamics.reduce();
    let mut solutions = enumerate(dynamics, options);
    let all_known = solutions.complete && solutions.decided;
    let (existence, acceleration_unique, forces_unique, method) = if all_known {
        let (a, f) = uniqueness(dynamics, &solutions);
        let some = !solutions.pieces.is_empty();
        (if some { Verdict::Proved } else { Verdict::Refuted }, a, f, Method::AllModes)
    } else {
        // What a search in part has found is true all the same: solutions exist, and may be seen to be several.
        let clear = solutions.decided && !solutions.pieces.is_empty();
        let several =
            if clear { uniqueness(dynamics, &solutions) } else { (Verdict::Unknown, Verdict::Unknown) };
        if solutions.pieces.is_empty() {
            solutions.pieces.extend(reduced.as_ref().and_then(|r| solve_once(r, &dynamics.laws)));
        }
        let found = !solutions.pieces.is_empty() && !solutions.complete;
        let (e, a, f, method) = by_matrix_class(dynamics, reduced.is_some(), found);
        let or = |seen: Verdict, known: Verdict| if seen == Verdict::Refuted { seen } else { known };
        (e, or(several.0, a), or(several.1, f), method)
    };
    let minimum_norm =
        solutions.pieces.iter().map(|p| &p.force).min_by(|a, b| norm(a).total_cmp(&norm(b))).cloned();
    let intervals = intervals(&solutions.pieces, dynamics.jacobian.rows());
    let unique_part = minimum_norm.as_ref().map(|f| unique_part(f, &solutions.pieces));
    let mut analysis = Analysis {
        existence,
        acceleration_unique,
        forces_unique,
        method,
        solutions,
        minimum_norm,
        unique_part,
        intervals,
        reduced,
        exact: None,
    };
    if !all_known && analysis.forces_unique != Verdict::Proved {
        add_other_forces(dynamics, &mut analysis);
    }
    analysis
}

/// Where one solution is all that was found: the forces that go with its acceleration, their intervals and the least
/// among them, which takes the place of what the solver happened to find. Where they cannot be told, intervals are open.
fn add_other_forces(dynamics: &Dynamics, analysis: &mut Analysis) {
    let Some(reduced) = &analysis.reduced else { return };
    let [piece] = &mut analysis.solutions.pieces[..] else { return };
    if piece.freedom.is_some() {
        return;
    }
    match impulse_range(&dynamics.contact_problem(), &piece.force) {
        Ok(ImpulseRange::Unique) => {}
        Ok(ImpulseRange::Ranges { rows, least_norm, differences, .. }) => {
            analysis.forces_unique = Verdict::Refuted;
            analysis.intervals = rows;
            let judged = reduced.problem(&dynamics.laws).map(|p| worst_constraint(&p, &least_norm));
            if judged.is_ok_and(|worst| worst <= JUDGED) {
                piece.modes = modes_of(&dynamics.laws, reduced, &least_norm, &piece.velocity, OPEN_LEAST);
                piece.force.clone_from(&least_norm);
            }
            let basis = differences.transpose().row_space_with(1e-9).basis;
            let inside = basis.mul_vec(&basis.tr_mul_vec(&least_norm));
            analysis.unique_part = (basis.cols() > 0)
                .then(|| least_norm.iter().zip(&inside).map(|(f, shared)| f - shared).collect());
            analysis.minimum_norm = Some(least_norm);
        }
        Ok(ImpulseRange::Unknown) | Err(_) => {
            analysis.intervals.fill([f64::NEG_INFINITY, f64::INFINITY]);
            (analysis.minimum_norm, analysis.unique_part) = (None, None);
        }
    }
}

/// Exactly one acceleration, exactly one set of forces, over a complete list of solutions.
fn uniqueness(dynamics: &Dynamics, set: &SolutionSet) -> (Verdict, Verdict) {
    let pieces = &set.pieces;
    let Some(first) = pieces.first() else { return (Verdict::Refuted, Verdict::Refuted) };
    let a_scale =
        pieces.iter().map(|p| max_abs(&p.acceleration)).fold(acceleration_scale(dynamics), f64::max);
    let f_scale = pieces.iter().map(|p| max_abs(&p.force)).fold(set.force_unit, f64::max);
    // Each entry by its own size, and by what rounding of the largest may have left in it.
    let differs = |x: &[f64], y: &[f64], rounding: f64| {
        x.iter().zip(y).any(|(a, b)| (a - b).abs() > SAME * a.abs().max(b.abs()) + rounding)
    };
    let several = |of: fn(&SolutionPiece) -> &Vec<f64>, along: fn(&Freedom) -> &Matrix, rounding: f64| {
        pieces.iter().any(|p| {
            differs(of(p), of(first), rounding)
                || p.freedom.as_ref().is_some_and(|d| along(d).max_abs() > 0.0)
        })
    };
    let verdict = |several: bool| if several { Verdict::Refuted } else { Verdict::Proved };
    (
        verdict(several(|p| &p.acceleration, |d| &d.acceleration, 1e-10 * a_scale)),
        verdict(several(|p| &p.force, |d| &d.force, 1e-12 * f_scale)),
    )
}

/// The size of the accelerations that the data of a problem speak of.
fn acceleration_scale(dynamics: &Dynamics) -> f64 {
    let ratio = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
    ratio(max_abs(&dynamics.force), dynamics.mass.max_abs())
        .max(ratio(max_abs(&dynamics.bias), dynamics.jacobian.max_abs()))
        .max(f64::MIN_POSITIVE)
}

/// Verdicts without the list of all solutions.
fn by_matrix_class(
    dynamics: &Dynamics,
    definite_mass: bool,
    found: bool,
) -> (Verdict, Verdict, Verdict, Method) {
    use Verdict::{Proved, Unknown};
    // On scaled numbers, where the terms that make up the matrix are of size one: a definiteness or a pivot below
    // MARGIN may be what is left of terms that cancelled.
    let lift = scaled_contact(dynamics).and_then(|(w, q, laws)| sliding_lcp(&w, &q, &laws));
    if let Some(lift) = lift {
        let matrix = &lift.lcp.matrix;
        let n = matrix.rows();
        let size = matrix.max_abs().max(1.0);
        let shifted = Matrix::from_fn(n, n, |i, j| matrix[(i, j)] - if i == j { MARGIN * size } else { 0.0 });
        if shifted.is_positive_definite() {
            return (Proved, Proved, Proved, Method::PositiveDefinite);
        }
        if (0..n).all(|i| matrix[(i, i)] > MARGIN * size) && p_matrix(matrix) == Proved {
            return (Proved, Proved, Proved, Method::PMatrix);
        }
    }
    let frictionless = dynamics.laws.iter().all(|l| l.mu() == 0.0 && l.is_polyhedral());
    match (found, frictionless && definite_mass) {
        (true, true) => (Proved, Proved, Unknown, Method::Gauss),
        (true, false) => (Proved, Unknown, Unknown, Method::Found),
        (false, _) => (Unknown, Unknown, Unknown, Method::None),
    }
}

/// One solution of a small dense contact problem, whatever its laws, to a scale-free residual of `tolerance`.
///
/// For the questions of an instant, which ask for all digits of a few contacts. Large problems, and steps in time, go to
/// [`crate::contact::solve`].
pub fn one_solution(problem: &ContactProblem<'_>, tolerance: f64) -> FrictionSolution {
    solve_any_law(problem, tolerance)
}

/// One solution by a solver that is not an enumeration, if it is one to 10⁻⁸ at every constraint by itself.
fn solve_once(reduced: &Reduced, laws: &[Law]) -> Option<SolutionPiece> {
    let problem = reduced.problem(laws).ok()?;
    let solution = one_solution(&problem, 1e-12);
    if worst_constraint(&problem, &solution.impulse) > JUDGED {
        return None;
    }
    let modes = modes_of(laws, reduced, &solution.impulse, &solution.velocity, 1e-9);
    Some(SolutionPiece {
        modes,
        acceleration: reduced.acceleration(&solution.impulse),
        velocity: solution.velocity,
        force: solution.impulse,
        freedom: None,
    })
}

/// What each constraint does: open where its force is below a part of the largest.
fn modes_of(laws: &[Law], reduced: &Reduced, force: &[f64], velocity: &[f64], open: f64) -> Vec<Mode> {
    let offsets = crate::problem::row_offsets(laws);
    let speed = max_abs(&reduced.free_velocity).max(f64::MIN_POSITIVE);
    let top = max_abs(force);
    let mode = |(k, law): (usize, &Law)| {
        let rows = offsets[k]..offsets[k + 1];
        let (f, u) = (&force[rows.clone()], &velocity[rows]);
        if law.is_bilateral() {
            Mode::Held
        } else if f[0] <= open * top {
            Mode::Open
        } else if f.len() > 1 && norm(&u[1..]) <= 1e-9 * speed {
            Mode::Stick
        } else {
            Mode::Slide
        }
    };
    laws.iter().enumerate().map(mode).collect()
}

/// [min, max] of each force component over a union of pieces, by linear programming.
fn intervals(pieces: &[SolutionPiece], rows: usize) -> Vec<[f64; 2]> {
    if pieces.is_empty() {
        return vec![];
    }
    (0..rows)
        .map(|i| {
            let mut range = [f64::INFINITY, f64::NEG_INFINITY];
            for p in pieces {
                let [low, high] = piece_interval(p, i);
                range = [range[0].min(low), range[1].max(high)];
            }
            range
        })
        .collect()
}

fn piece_interval(piece: &SolutionPiece, i: usize) -> [f64; 2] {
    let base = piece.force[i];
    let Some(freedom) = &piece.freedom else { return [base, base] };
    let c = freedom.force.row(i);
    let top = freedom.force.max_abs();
    if max_abs(c) <= 1e-11 * top {
        return [base, base];
    }
    let end = |sign: f64| {
        let cost: Vec<f64> = c.iter().map(|x| sign * x).collect();
        match linear_program(&cost, &freedom.bounds, &freedom.limits) {
            Lp::Optimal { value, .. } => base + sign * value,
            // Without a bound in reach the interval is left open: wide is honest.
            Lp::Unbounded | Lp::Infeasible | Lp::Undecided => -sign * f64::INFINITY,
        }
    };
    [end(1.0), end(-1.0)]
}

/// f less its component in the span of all differences of solutions.
fn unique_part(f: &[f64], pieces: &[SolutionPiece]) -> Vec<f64> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for p in pieces {
        let difference: Vec<f64> = p.force.iter().zip(f).map(|(a, b)| a - b).collect();
        if norm(&difference) > SAME * norm(f) {
            rows.push(difference.iter().map(|x| x / norm(&difference)).collect());
        }
        if let Some(d) = &p.freedom {
            let top = d.force.max_abs();
            rows.extend(
                (0..d.force.cols())
                    .map(|j| d.force.col(j))
                    .filter(|c| norm(c) > 1e-11 * top)
                    .map(|c| c.iter().map(|x| x / norm(&c)).collect()),
            );
        }
    }
    if rows.is_empty() {
        return f.to_vec();
    }
    let basis = Matrix::from_rows(&rows).row_space_with(1e-9).basis;
    let inside = basis.mul_vec(&basis.tr_mul_vec(f));
    f.iter().zip(&inside).map(|(a, b)| a - b).collect()
}
