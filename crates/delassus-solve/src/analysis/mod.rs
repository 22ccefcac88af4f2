//! Well-posedness of a contact problem: does a solution exist, is it the only one, and what are all
//! solutions?
//!
//! ```text
//! M a + F = Jᵀ f ,   u = J a + γ ,   (f, u) in the laws
//! existence, unique a, unique f:   proved | refuted | unknown
//! ```
//!
//! M is n × n, J is m × n, a and F are in Rⁿ, f, u and γ in Rᵐ. Answers come from exact means alone: positive
//! definiteness, the P-matrix test, the enumeration of all modes, and the propositions of the papers
//! ([`theorems`]). What they cannot decide stays [`Verdict::Unknown`].
//!
//! All modes are examined once more in rational arithmetic ([`crate::modes`]). Numbers that a person writes
//! (integers, tenths, thirds, …) carry no rounding: there a tie is a tie, and that decides
//! ([`analyze_written`]). Numbers that come out of sines and roots do: there margins separate a tie from
//! rounding, and a verdict needs both to agree.
//!
//! Where the forces are not unique (hyperstatic systems, 002 Lemma 5.2 with items 3 and 4 corrected), the set
//! of all forces is given with its least-norm member, the part that all members share, and the interval of
//! every component.
//!
//! "Unique" means that there is exactly one: where no solution exists, uniqueness is refuted too.

mod certificate;
pub mod equilibrium;
mod forces;
mod friction_bounds;
mod friction_cone;
mod implication;
mod impulse_range;
mod rest;
mod spatial;
pub mod theorems;
mod verdicts;
mod verify;

pub use certificate::{Certificate, Claims, Fact, Finding, Kind, MatrixOf, Outcome};
pub use forces::one_solution;
pub use friction_bounds::{FrictionBound, friction_bounds};
pub use friction_cone::{FrictionCone, friction_cone};
pub use impulse_range::{ImpulseRange, MAX_COLUMNS, impulse_range, least_contact_impulses};
pub use rest::{RestProof, rest_proof};
pub use spatial::{Cut, Node, PiecesProof, ProvedSolution, Sectors, pieces_proof};
pub use verify::{exact_matrix, fact};

use crate::lcp::Verdict;
use crate::linalg::{Interval, max_abs, norm};
use crate::modes::{
    ComponentBounds, EnumerateOptions, ExactAnswer, ExactDynamics, ExactList, ExactSolutions, RobustAnswer,
    SolutionComponent, SolutionSet, answer_of_found, bounds_of, distance, enumerate, load_distance,
    mode_count, robust_answer,
};
use crate::problem::{Dynamics, Law, Reduced};
use forces::{add_other_forces, component, measure_intervals, solve_once, solve_quickly, unique_part};
use impulse_range::has_other_forces;
use rest::rest_without_friction;
use spatial::all_solutions;
use verdicts::{Conclusion, Evidence, by_matrix_class, is_clearly_definite, uniqueness};

/// What decided the verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Every mode was examined.
    AllModes,
    /// The LCP matrix is positive definite.
    PositiveDefinite,
    /// The LCP matrix is a P-matrix.
    PMatrix,
    /// A solution was found; others are not excluded.
    Found,
    /// No friction and a positive definite mass: Gauss' principle makes the acceleration unique once a
    /// solution is known (000 Prop. 3 (ii)).
    Gauss,
    /// Forces without friction hold everything at rest: the acceleration is zero and unique.
    Rest,
    /// Every mode was examined, those that slip in space for every direction.
    Sectors,
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
    /// The part of the forces that all solutions found share.
    shared_part: Option<Vec<f64>>,
    /// [min, max] of every force component over the solutions found; ±∞ where unbounded.
    pub intervals: Vec<[f64; 2]>,
    /// The contact problem in force space; `None` where the mass is singular.
    pub reduced: Option<Reduced>,
    /// The answers in rational arithmetic, where they were needed or asked for.
    pub exact: Option<ExactAnswer>,
    /// How far contacts at rest in space were examined; `None` where they were not.
    pub sectors: Option<Sectors>,
    /// Bounds of the data that the verdicts speak of; `None` where these are the doubles alone.
    pub data: Option<ExactDynamics<Interval>>,
    /// What the verdicts follow from.
    evidence: Evidence,
}

/// Largest number of modes that are examined in rational arithmetic, or in intervals.
const EXACT_MODES_MAX: u64 = 4096;
/// Largest sum of coordinates and rows for as many.
const EXACT_SIZE_FULL: usize = 28;
/// Largest sum of coordinates and rows for any.
const EXACT_SIZE_MAX: usize = 48;

/// How many modes of a problem with as many coordinates and rows are examined in rational arithmetic: a mode
/// takes a time that grows with the third power of the size.
fn exact_modes(size: usize) -> u64 {
    let share = |size: usize| (EXACT_SIZE_FULL as u64).pow(3) * EXACT_MODES_MAX / (size as u64).pow(3);
    match size {
        0..=EXACT_SIZE_FULL => EXACT_MODES_MAX,
        _ if size <= EXACT_SIZE_MAX => share(size),
        _ => 0,
    }
}

/// Numbers that were computed are taken to be right to this part of the largest of their row: some units in
/// the last place.
const DATA_ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Doubles that are further than this from the numbers that they stand for, relative to the largest of their
/// row, prove nothing about them.
const MAX_DATA_ERROR: f64 = 1.1e-10;

/// How well the numbers of a problem are known.
#[derive(Clone, Debug)]
pub enum Written {
    /// To the last digit, as they were written: ties are ties.
    Exactly(ExactDynamics),
    /// Within bounds: what hangs on the last digits is unknown.
    Within(ExactDynamics<Interval>),
}

impl Written {
    /// What is known of a problem in doubles: they are what was written where all of them are short, and
    /// were rounded elsewhere.
    pub fn rounded(dynamics: &Dynamics) -> Self {
        Written::Within(bounds_of(dynamics, DATA_ROUNDING))
    }

    /// What is true of intervals that hold all numbers.
    fn has<X>(&self, of: impl FnOnce(&ExactDynamics<Interval>) -> X) -> X {
        match self {
            Written::Exactly(exact) => of(&exact.bounds()),
            Written::Within(bounds) => of(bounds),
        }
    }
}

/// Answers the three questions for a contact problem.
pub fn analyze(dynamics: &Dynamics, options: &EnumerateOptions) -> Analysis {
    analyze_written(dynamics, &Written::rounded(dynamics), options)
}

/// As [`analyze`], for a problem whose numbers are better known than by the doubles that they round to.
pub fn analyze_written(dynamics: &Dynamics, written: &Written, options: &EnumerateOptions) -> Analysis {
    let mut analysis = written_verdicts(dynamics, written, options);
    analysis.data = Some(written.has(Clone::clone));
    analysis
}

/// Residual of the solution of a first look.
const GLANCE_TOLERANCE: f64 = 1e-10;

/// A first look at a problem whose analysis may take long: one solution, where one is found at once, with
/// open intervals and no verdict. What it is worth is for [`analyze`] to say.
pub fn glance(dynamics: &Dynamics) -> Analysis {
    let mut analysis = Analysis::undecided(dynamics);
    let found = analysis.reduced.as_ref().and_then(|r| solve_quickly(dynamics, r, GLANCE_TOLERANCE));
    if let Some(mut component) = found {
        component.intervals = vec![[f64::NEG_INFINITY, f64::INFINITY]; component.force.len()];
        analysis.intervals.clone_from(&component.intervals);
        analysis.solutions.components.push(component);
    }
    analysis
}

fn written_verdicts(dynamics: &Dynamics, written: &Written, options: &EnumerateOptions) -> Analysis {
    let modes = exact_modes(dynamics.coordinates() + dynamics.jacobian.rows());
    let exact = match written {
        _ if modes == 0 => None,
        Written::Exactly(exact) => ExactSolutions::of_written(exact, modes),
        Written::Within(bounds) if bounds.is_exactly(dynamics) => ExactSolutions::of(dynamics, modes),
        Written::Within(_) => None,
    };
    let answer = exact.as_ref().map(ExactSolutions::answer);
    if let (Some(answer), Some(list)) = (answer, exact.and_then(|exact| exact.list())) {
        return Analysis::of_exact(dynamics, answer, list);
    }
    let mut analysis = analyze_rounded(dynamics, options);
    let error = if let Written::Within(bounds) = written { distance(dynamics, bounds) } else { 0.0 };
    analysis.evidence.vague = error > MAX_DATA_ERROR;
    analysis.evidence.bias_known = match written {
        Written::Within(bounds) => {
            dynamics.bias.iter().zip(&bounds.bias).all(|(x, b)| *x != 0.0 || *b == Interval::ZERO)
        }
        Written::Exactly(_) => true,
    };
    if answer.is_some() {
        // Too many sets of solutions to compare with each other: the list is that of floating point.
        analysis.exact = answer;
        analysis.evidence.exact_decides = true;
        analysis.evidence.list_is_partial();
    } else if let Some((robust, all)) = analysis.for_all_data(written) {
        let listed = analysis.lists(dynamics, robust.components.as_deref());
        let definite = || !analysis.evidence.vague && is_clearly_definite(dynamics, error);
        let definite = robust.answers.contains(&None) && definite();
        if all {
            analysis.evidence.take_robust(robust.answers, definite, listed);
        } else {
            // A list that is not complete claims nothing.
            let listed = listed || !analysis.solutions.complete;
            analysis.evidence.take_found(robust.answers, definite, listed);
        }
    } else if analysis.evidence.vague || has_vague_load(dynamics, written) {
        analysis.evidence.take_robust([None; 3], false, false);
    } else {
        let known = analysis.evidence.other_forces == Some(true);
        let other = |c: &SolutionComponent| has_other_forces(dynamics, c);
        analysis.evidence.other_forces = Some(known || analysis.solutions.components.iter().any(other));
    }
    analysis.conclude();
    if answer.is_none()
        && analysis.verdicts().contains(&Verdict::Unknown)
        && let Some(answers) = written.has(rest_without_friction)
    {
        analysis.evidence.take_rest(answers);
        analysis.conclude();
    }
    if answer.is_none() && analysis.verdicts().contains(&Verdict::Unknown) {
        analysis.sectors = written.has(all_solutions);
        analysis.take_sectors(dynamics);
    }
    analysis
}

/// Whether F or γ is less well known than to this part of the largest of its entries.
fn has_vague_load(dynamics: &Dynamics, written: &Written) -> bool {
    matches!(written, Written::Within(bounds) if load_distance(dynamics, bounds) > MAX_DATA_ERROR)
}

impl Analysis {
    /// The analysis of a problem that is too large to be examined: nothing is decided.
    pub fn undecided(dynamics: &Dynamics) -> Self {
        let unknown = Evidence::of([Verdict::Unknown; 3], Method::None, true);
        // Reports count the mode that was not examined.
        let solutions = SolutionSet { decided: true, modes: 1, ..SolutionSet::default() };
        Analysis::new(unknown, solutions, dynamics.reduce())
    }

    /// The analysis in rational arithmetic.
    fn of_exact(dynamics: &Dynamics, answer: ExactAnswer, list: ExactList) -> Self {
        let mut evidence = Evidence::of([Verdict::Unknown; 3], Method::AllModes, true);
        evidence.exact_decides = true;
        let modes = mode_count(&dynamics.laws).unwrap_or(0);
        let ExactList { components, intervals, minimum_norm, unique_part } = list;
        let solutions =
            SolutionSet { components, complete: true, decided: true, modes, ..SolutionSet::default() };
        let mut analysis = Analysis::new(evidence, solutions, dynamics.reduce());
        analysis.exact = Some(answer);
        (analysis.intervals, analysis.minimum_norm, analysis.shared_part) =
            (intervals, minimum_norm, unique_part);
        analysis.conclude();
        analysis
    }

    /// The verdicts that follow from some evidence, with these solutions.
    fn new(evidence: Evidence, solutions: SolutionSet, reduced: Option<Reduced>) -> Self {
        let mut analysis = Analysis {
            existence: Verdict::Unknown,
            acceleration_unique: Verdict::Unknown,
            forces_unique: Verdict::Unknown,
            method: Method::None,
            solutions,
            minimum_norm: None,
            shared_part: None,
            intervals: vec![],
            reduced,
            exact: None,
            sectors: None,
            data: None,
            evidence,
        };
        analysis.conclude();
        analysis
    }

    /// Existence, unique acceleration, unique forces.
    pub fn verdicts(&self) -> [Verdict; 3] {
        [self.existence, self.acceleration_unique, self.forces_unique]
    }

    /// The part of the forces that all solutions share: their projection on the directions in which no two
    /// solutions differ. `None` where the acceleration is not proved to be unique: another one has forces of
    /// its own, and need not be among those found.
    pub fn unique_part(&self) -> Option<&Vec<f64>> {
        self.shared_part.as_ref().filter(|_| self.acceleration_unique == Verdict::Proved)
    }

    /// What is true of all data that were written, by all modes or, where these are too many (false), by
    /// those of the solutions found; `None` where a law is not polyhedral.
    fn for_all_data(&self, written: &Written) -> Option<(RobustAnswer, bool)> {
        written.has(|bounds| match robust_answer(bounds, EXACT_MODES_MAX) {
            Some(all) => Some((all, true)),
            None => Some((answer_of_found(bounds, &self.solutions.components)?, false)),
        })
    }

    /// Whether the list of floating point has each component that there is for all data, and no other.
    fn lists(&self, dynamics: &Dynamics, components: Option<&[ComponentBounds]>) -> bool {
        let listed = &self.solutions.components;
        // The least of the sizes that the data imply: beside a mass of almost nothing the other is all there
        // is.
        let least = |ratios: &[(f64, f64)]| {
            let of = ratios.iter().filter(|(a, b)| *a > 0.0 && *b > 0.0).map(|(a, b)| a / b);
            of.reduce(f64::min).unwrap_or(0.0)
        };
        let (load, rows) = (max_abs(&dynamics.force), dynamics.jacobian.max_abs());
        let acceleration = least(&[(load, dynamics.mass.max_abs()), (max_abs(&dynamics.bias), rows)]);
        let sizes = [acceleration, least(&[(load, rows)])];
        self.solutions.complete
            && components.is_some_and(|all| {
                let found = |b: &ComponentBounds| listed.iter().filter(|c| b.holds(c, sizes)).count() == 1;
                all.len() == listed.len()
                    && all.iter().all(found)
                    && listed.iter().all(|c| all.iter().any(|b| b.holds(c, sizes)))
            })
    }

    /// Draws the verdicts from all evidence: the one place that writes them.
    fn conclude(&mut self) {
        let Conclusion { verdicts, method, decided } = self.evidence.conclude(self.exact.as_ref());
        [self.existence, self.acceleration_unique, self.forces_unique] = verdicts;
        self.method = method;
        self.solutions.decided = decided;
        self.fit_list_to_verdicts();
    }

    /// Near ties a list in floating point may have what the verdicts exclude: what is proved not to exist is
    /// not listed, and forces that are proved to be one are no interval.
    fn fit_list_to_verdicts(&mut self) {
        let proved = Verdict::Proved;
        let components = &mut self.solutions.components;
        if self.existence == Verdict::Refuted {
            components.clear();
            self.intervals.clear();
            (self.minimum_norm, self.shared_part) = (None, None);
            (self.solutions.complete, self.solutions.decided) = (true, true);
            return;
        }
        let forces_vary = |c: &SolutionComponent| c.freedom.as_ref().is_some_and(|d| d.force.max_abs() > 0.0);
        if self.forces_unique != proved || !components.iter().any(forces_vary) {
            return;
        }
        for component in components.iter_mut() {
            let moves = component.freedom.as_ref().is_some_and(|d| d.acceleration.max_abs() > 0.0);
            if !moves || self.acceleration_unique == proved {
                component.freedom = None;
            }
            component.intervals.clear();
        }
        self.intervals.clear();
        self.solutions.complete = false;
    }

    /// Takes what the sectors of slip directions show, and their list where it has more than was found.
    fn take_sectors(&mut self, dynamics: &Dynamics) {
        let Some(sectors) = &self.sectors else { return };
        let list = sectors.solutions.iter().map(|(modes, force)| {
            component(self.reduced.as_ref()?, &dynamics.laws, modes.clone(), force.clone())
        });
        let list: Option<Vec<SolutionComponent>> = list.collect();
        self.evidence.take_sectors(sectors.answers, sectors.open == 0 && list.is_some());
        if let Some(components) = list
            && (sectors.open == 0 || components.len() > 1)
        {
            self.solutions.components = components;
            (self.solutions.complete, self.solutions.modes) = (sectors.open == 0, sectors.pieces as u64);
            self.measure_list(dynamics);
        }
        self.conclude();
    }

    /// The least forces, their intervals and what all share, over the solutions found.
    fn measure_list(&mut self, dynamics: &Dynamics) {
        self.intervals = measure_intervals(&mut self.solutions.components);
        let components = &self.solutions.components;
        self.minimum_norm =
            components.iter().map(|c| &c.force).min_by(|a, b| norm(a).total_cmp(&norm(b))).cloned();
        let moves_alike =
            !components.is_empty() && uniqueness(dynamics, &self.solutions)[0] == Verdict::Proved;
        self.shared_part =
            self.minimum_norm.as_ref().filter(|_| moves_alike).map(|f| unique_part(f, components));
    }

    /// Unique forces are not proved: there may be forces that the problem leaves aside.
    pub fn leave_forces_open(&mut self) {
        self.evidence.forces_open = true;
        self.conclude();
    }

    /// Whether the verdicts are those of the data as they were written, ties included.
    pub fn is_exact(&self) -> bool {
        self.evidence.exact_decides
    }

    /// Whether forces without friction are known to hold everything at rest.
    fn rests(&self) -> bool {
        self.evidence.rests
    }

    /// Whether [`theorems::findings`] can still change a verdict of this analysis: not where all modes
    /// answered in arithmetic without rounding, or for all data within it.
    pub fn may_gain(&self, verdict: Verdict) -> bool {
        !self.is_exact() && (verdict == Verdict::Unknown || !self.evidence.robust)
    }

    /// Whether there may be solutions that are not listed, or some listed that are none.
    pub fn is_partial(&self) -> bool {
        !(self.solutions.complete && self.solutions.decided)
    }

    /// Whether claims about the doubles hold for the data that they are rounded from, as far as that is
    /// known: they follow from facts that hold by a margin, or are among the verdicts.
    fn allows(&self, finding: &Finding) -> bool {
        let Finding { claims, certificate, .. } = finding;
        let own = [claims.existence, claims.acceleration_unique, claims.forces_unique];
        let agrees = |v: Verdict, claim: &Option<bool>| claim.is_none_or(|c| verdicts::answer(v) == Some(c));
        let known = || self.verdicts().into_iter().zip(&own).all(|(v, claim)| agrees(v, claim));
        let robust = |c: &Certificate| {
            let is_robust = |f: &Fact| verify::is_robust(&c.dynamics, f, self.evidence.bias_known);
            c.facts.iter().all(is_robust)
        };
        if self.evidence.exact_decides {
            known()
        } else {
            known()
                || !self.evidence.vague && (!self.evidence.robust || certificate.as_ref().is_some_and(robust))
        }
    }

    /// Adds the claims of findings whose certificates were verified.
    fn add_claims(&mut self, claims: impl Iterator<Item = Claims>) {
        for claim in claims {
            let answers = [claim.existence, claim.acceleration_unique, claim.forces_unique];
            self.evidence.claims.iter_mut().zip(answers).for_each(|(all, own)| all.extend(own));
        }
        self.conclude();
    }
}

/// Whether all numbers of a problem are short binary fractions, below 2²⁰ in size and multiples of 2⁻²⁰: the
/// result of a computation that had to round hardly ever is.
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

/// As [`analyze`], in floating point alone, where margins separate a tie from rounding.
pub fn analyze_rounded(dynamics: &Dynamics, options: &EnumerateOptions) -> Analysis {
    let reduced = dynamics.reduce();
    let mut solutions = enumerate(dynamics, options);
    let all_known = solutions.complete && solutions.decided;
    let (verdicts, method) = if all_known {
        let existence = if solutions.components.is_empty() { Verdict::Refuted } else { Verdict::Proved };
        let [a, f] = uniqueness(dynamics, &solutions);
        ([existence, a, f], Method::AllModes)
    } else {
        // What an incomplete search finds is a solution all the same: solutions exist, and several refute
        // uniqueness.
        let clear = solutions.decided && !solutions.components.is_empty();
        let several = if clear { uniqueness(dynamics, &solutions) } else { [Verdict::Unknown; 2] };
        if solutions.components.is_empty() {
            solutions.components.extend(reduced.as_ref().and_then(|r| solve_once(dynamics, r)));
        }
        let found = !solutions.components.is_empty() && !solutions.complete;
        let ([e, a, f], method) = by_matrix_class(dynamics, reduced.is_some(), found);
        let or = |seen: Verdict, known: Verdict| if seen == Verdict::Refuted { seen } else { known };
        ([e, or(several[0], a), or(several[1], f)], method)
    };
    let evidence = Evidence::of(verdicts, method, solutions.decided);
    let mut analysis = Analysis::new(evidence, solutions, reduced);
    analysis.measure_list(dynamics);
    if !all_known && analysis.forces_unique != Verdict::Proved {
        add_other_forces(dynamics, &mut analysis);
    }
    analysis
}
