//! The verdicts on the three questions, drawn from all evidence in one place.
//!
//! ```text
//! floating point ─▶ rational arithmetic ─▶ other forces ─▶ verified claims ─▶ existence, unique a, unique f
//! ```
//!
//! Each source replaces, completes or contradicts the ones before it:
//!
//! 1. The list of all modes, or the class of the matrix, in floating point with margins ([`uniqueness`],
//!    [`by_matrix_class`]).
//! 2. All modes in rational arithmetic, where the data are known as they were written, or carry no
//!    rounding: these decide, and nothing else counts. Elsewhere all modes in interval arithmetic: a verdict
//!    stands where it holds for all data within the rounding.
//! 3. Two solutions with one acceleration that floating point takes for different are no proof. Where
//!    rational arithmetic does not reach, unique forces are refuted by forces that can be added to a
//!    solution without any other change, exactly.
//! 4. Verified claims of the propositions decide what is unknown, on rounded data those whose facts hold with
//!    slack. Where a claim contradicts a verdict, one of the two has misread the mechanism, and the verdict
//!    is unknown.

use super::Method;
use crate::lcp::{Verdict, p_matrix, sliding_lcp};
use crate::linalg::{Matrix, max_abs};
use crate::modes::{ExactAnswer, Freedom, SolutionComponent, SolutionSet, scaled_contact};
use crate::problem::{Dynamics, Law, row_offsets};

/// Two forces or accelerations that differ by less than this, relative to their size, are the same: the
/// enumeration separates solutions at 10⁻⁷ of the problem's scale.
pub(super) const SAME_SOLUTION: f64 = 1e-7;

/// Definiteness counts where it is clear of zero by this, on scaled numbers.
const DEFINITE_MARGIN: f64 = 1e-8;

/// The same for a mass with unit diagonal: what its inverse makes of rounding stays below DEFINITE_MARGIN.
pub(super) const MASS_MARGIN: f64 = 1e-6;

/// What the verdicts follow from.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    /// Existence, unique acceleration, unique forces in floating point.
    rounded: [Verdict; 3],
    /// What decided these.
    method: Method,
    /// Whether the list of solutions was clear of rounding.
    decided: bool,
    /// Whether the data carry no rounding, so that rational arithmetic decides.
    pub(super) exact_decides: bool,
    /// Whether the verdicts hold for all data within the rounding.
    pub(super) robust: bool,
    /// Whether the doubles are too far from the data to prove anything about them.
    pub(super) vague: bool,
    /// Whether zeros of γ are zeros for sure.
    pub(super) bias_known: bool,
    /// Whether there may be forces that the problem leaves aside.
    pub(super) forces_open: bool,
    /// Whether forces without friction hold everything at rest.
    pub(super) rests: bool,
    /// Whether forces can be added to a solution without any other change; `None` where all modes answer
    /// that.
    pub(super) other_forces: Option<bool>,
    /// The claims of verified findings on each question.
    pub(super) claims: [Vec<bool>; 3],
}

/// The verdicts, what decided them, and whether the list of solutions agrees with them.
pub(super) struct Conclusion {
    pub(super) verdicts: [Verdict; 3],
    pub(super) method: Method,
    pub(super) decided: bool,
}

impl Evidence {
    /// The evidence of floating point alone.
    pub(super) fn of(rounded: [Verdict; 3], method: Method, decided: bool) -> Self {
        Evidence {
            rounded,
            method,
            decided,
            exact_decides: false,
            robust: false,
            vague: false,
            bias_known: true,
            forces_open: false,
            rests: false,
            other_forces: None,
            claims: Default::default(),
        }
    }

    /// What holds for all data within the rounding takes the place of what holds for doubles; `listed` where
    /// the list of solutions has as many as there are.
    pub(super) fn take_robust(&mut self, answers: [Option<bool>; 3], definite: bool, listed: bool) {
        self.robust = true;
        self.decided &= listed;
        self.other_forces = None;
        self.method = if answers[0].is_some() { Method::AllModes } else { Method::None };
        self.rounded = answers.map(|known| known.map_or(Verdict::Unknown, verdict));
        if definite && self.rounded.contains(&Verdict::Unknown) {
            (self.rounded, self.method) = ([Verdict::Proved; 3], Method::PositiveDefinite);
        }
    }

    /// What modes of solutions that were found show for all data, where there are too many modes to examine
    /// all.
    pub(super) fn take_found(&mut self, answers: [Option<bool>; 3], definite: bool, listed: bool) {
        self.take_robust(answers, definite, listed);
        if self.method == Method::AllModes {
            self.method = if answers[1] == Some(true) { Method::Gauss } else { Method::Found };
        }
    }

    /// What is known where forces without friction hold everything at rest, for all data: claims that need no
    /// finding.
    pub(super) fn take_rest(&mut self, answers: [Option<bool>; 3]) {
        self.rests = true;
        if self.method != Method::AllModes {
            self.method = Method::Rest;
        }
        self.claims.iter_mut().zip(answers).for_each(|(all, own)| all.extend(own));
    }

    /// What the sectors of slip directions show for all data: claims that need no finding; `all` where the
    /// list of solutions becomes theirs.
    pub(super) fn take_sectors(&mut self, answers: [Option<bool>; 3], all: bool) {
        if answers[1].is_some() {
            self.method = Method::Sectors;
        }
        self.decided |= all;
        self.claims.iter_mut().zip(answers).for_each(|(all, own)| all.extend(own));
    }

    /// The list of solutions is not that of rational arithmetic.
    pub(super) fn list_is_partial(&mut self) {
        self.decided = false;
    }

    /// The verdicts that follow, with the answers of rational arithmetic where they are known.
    pub(super) fn conclude(&self, exact: Option<&ExactAnswer>) -> Conclusion {
        let mut conclusion = self.conclude_all(exact);
        if self.forces_open && conclusion.verdicts[2] == Verdict::Proved {
            conclusion.verdicts[2] = Verdict::Unknown;
        }
        conclusion
    }

    fn conclude_all(&self, exact: Option<&ExactAnswer>) -> Conclusion {
        let Evidence { rounded, method, decided, .. } = *self;
        let mut conclusion = Conclusion { verdicts: rounded, method, decided };
        let exact = exact.map(ExactAnswer::answers);
        if let Some(truth) = exact.filter(|_| self.exact_decides) {
            conclusion.verdicts = truth.map(verdict);
            conclusion.method = Method::AllModes;
            return conclusion;
        }
        if let Some(other) = self.other_forces {
            conclusion.prove_other_forces(other);
        }
        conclusion.compare(&self.claims, exact);
        conclusion
    }
}

impl Conclusion {
    /// Leaves unique forces refuted only with a proof: there is no solution, there are two accelerations
    /// (with M a + F = Jᵀf these have different forces), or forces can be added to a solution.
    fn prove_other_forces(&mut self, other: bool) {
        let [existence, acceleration, forces] = &mut self.verdicts;
        let proved = *existence == Verdict::Refuted || *acceleration == Verdict::Refuted;
        if *forces == Verdict::Unknown && other {
            *forces = Verdict::Refuted;
        } else if *forces == Verdict::Refuted && !other && !proved {
            *forces = Verdict::Unknown;
        }
    }

    /// Completes the verdicts by claims where they are unknown, and withdraws what claims contradict.
    fn compare(&mut self, claims: &[Vec<bool>; 3], exact: Option<[bool; 3]>) {
        let contradicted = |k: usize, v: Verdict| {
            answer(v).is_some_and(|v| claims[k].iter().chain(exact.as_ref().map(|e| &e[k])).any(|c| *c != v))
        };
        let wrong: [bool; 3] = std::array::from_fn(|k| contradicted(k, self.verdicts[k]));
        // Forces alone may be unique, or not, by the last digits; what the list says of motions then stands.
        let motions = wrong[0] || wrong[1];
        for k in 0..3 {
            if wrong.contains(&true) {
                // A list that misses a solution, or has one too many, answers none of the questions.
                let from_list = self.method == Method::AllModes && motions;
                if wrong[k] || from_list {
                    self.verdicts[k] = Verdict::Unknown;
                }
                self.decided = false;
            } else if self.verdicts[k] == Verdict::Unknown {
                // Claims that contradict each other would be a bug; then the question stays open.
                if let Some(&first) = claims[k].first()
                    && claims[k].iter().all(|c| *c == first)
                {
                    self.verdicts[k] = verdict(first);
                }
            }
        }
    }
}

/// The verdict of an answer.
fn verdict(yes: bool) -> Verdict {
    if yes { Verdict::Proved } else { Verdict::Refuted }
}

/// The answer of a verdict; `None` where it is unknown.
pub(super) fn answer(verdict: Verdict) -> Option<bool> {
    match verdict {
        Verdict::Proved => Some(true),
        Verdict::Refuted => Some(false),
        Verdict::Unknown => None,
    }
}

/// Exactly one acceleration, exactly one set of forces, over a complete list of solutions.
pub(super) fn uniqueness(dynamics: &Dynamics, set: &SolutionSet) -> [Verdict; 2] {
    let components = &set.components;
    let Some(first) = components.first() else { return [Verdict::Refuted; 2] };
    let a_scale =
        components.iter().map(|p| max_abs(&p.acceleration)).fold(acceleration_scale(dynamics), f64::max);
    let f_scale = components.iter().map(|p| max_abs(&p.force)).fold(set.force_unit, f64::max);
    // Each entry by its own size, and by what rounding of the largest may have left in it.
    let differs = |x: &[f64], y: &[f64], rounding: f64| {
        x.iter().zip(y).any(|(a, b)| (a - b).abs() > SAME_SOLUTION * a.abs().max(b.abs()) + rounding)
    };
    let several = |of: fn(&SolutionComponent) -> &Vec<f64>, along: fn(&Freedom) -> &Matrix, rounding: f64| {
        components.iter().any(|p| {
            differs(of(p), of(first), rounding)
                || p.freedom.as_ref().is_some_and(|d| along(d).max_abs() > 0.0)
        })
    };
    let verdict = |several: bool| if several { Verdict::Refuted } else { Verdict::Proved };
    [
        verdict(several(|p| &p.acceleration, |d| &d.acceleration, 1e-10 * a_scale)),
        verdict(several(|p| &p.force, |d| &d.force, 1e-12 * f_scale)),
    ]
}

/// The size of the accelerations that the data of a problem imply.
fn acceleration_scale(dynamics: &Dynamics) -> f64 {
    let ratio = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
    ratio(max_abs(&dynamics.force), dynamics.mass.max_abs())
        .max(ratio(max_abs(&dynamics.bias), dynamics.jacobian.max_abs()))
        .max(f64::MIN_POSITIVE)
}

/// Whether the matrix of the sliding LCP is positive definite by more than an error of the data, relative to
/// the largest of each row.
pub(super) fn is_clearly_definite(dynamics: &Dynamics, error: f64) -> bool {
    // M with unit diagonal and least eigenvalue λ makes an error of W up to some 1/λ times as large.
    if !is_mass_clear(&dynamics.mass, MASS_MARGIN.max(8.0 * error / DEFINITE_MARGIN)) {
        return false;
    }
    // On scaled numbers, where the terms that make up the matrix are of size one: a definiteness below
    // DEFINITE_MARGIN may be what is left of terms that cancelled.
    let contact = scaled_contact(dynamics).filter(|(w, _, laws)| is_lift_clear(w, laws));
    contact.is_some_and(|(w, q, laws)| {
        let lift = sliding_lcp(&w, &q, &laws);
        lift.is_some_and(|lift| is_definite(&lift.lcp.matrix, DEFINITE_MARGIN, terms(&laws)))
    })
}

/// The size of the terms that make up the entries of the sliding LCP on scaled numbers, W_nn − μ W_nt e: a
/// light body makes μ many times as large there.
fn terms(laws: &[Law]) -> f64 {
    1.0 + laws.iter().map(Law::mu).fold(0.0, f64::max)
}

/// Whether the rows that the sliding LCP eliminates leave its entries their digits: those of joints, where
/// their block is definite by a margin. A guide presses on either side, and its block need not be definite.
fn is_lift_clear(w: &Matrix, laws: &[Law]) -> bool {
    let offsets = row_offsets(laws);
    let joints: Vec<usize> =
        (0..laws.len()).filter(|&k| laws[k] == Law::Bilateral).map(|k| offsets[k]).collect();
    laws.iter().all(|law| *law == Law::Bilateral || !law.is_bilateral())
        && is_definite(&w.select(&joints, &joints), MASS_MARGIN, 1.0)
}

/// A − m |A| I is positive definite, |A| the largest entry or what entries are made of.
fn is_definite(a: &Matrix, margin: f64, terms: f64) -> bool {
    let (n, size) = (a.rows(), a.max_abs().max(terms));
    Matrix::from_fn(n, n, |i, j| a[(i, j)] - if i == j { margin * size } else { 0.0 }).is_positive_definite()
}

/// Whether the mass with unit diagonal is positive definite by this margin.
pub(super) fn is_mass_clear(mass: &Matrix, margin: f64) -> bool {
    let unit = |i: usize| mass[(i, i)].sqrt();
    let n = mass.rows();
    (0..n).all(|i| mass[(i, i)] > 0.0)
        && is_definite(&Matrix::from_fn(n, n, |i, j| mass[(i, j)] / (unit(i) * unit(j))), margin, 1.0)
}

/// Verdicts without the list of all solutions.
pub(super) fn by_matrix_class(
    dynamics: &Dynamics,
    definite_mass: bool,
    found: bool,
) -> ([Verdict; 3], Method) {
    use Verdict::{Proved, Unknown};
    // On scaled numbers, where the terms that make up the matrix are of size one: a definiteness or a pivot
    // below DEFINITE_MARGIN may be what is left of terms that cancelled.
    let contact = scaled_contact(dynamics).filter(|(w, _, laws)| is_lift_clear(w, laws));
    let lift = contact.and_then(|(w, q, laws)| Some((sliding_lcp(&w, &q, &laws)?, terms(&laws))));
    if let Some((lift, terms)) = lift {
        let matrix = &lift.lcp.matrix;
        let n = matrix.rows();
        let size = matrix.max_abs().max(terms);
        if is_definite(matrix, DEFINITE_MARGIN, terms) {
            return ([Proved; 3], Method::PositiveDefinite);
        }
        if (0..n).all(|i| matrix[(i, i)] > DEFINITE_MARGIN * size) && p_matrix(matrix) == Proved {
            return ([Proved; 3], Method::PMatrix);
        }
    }
    let frictionless = dynamics.laws.iter().all(|l| l.mu() == 0.0 && l.is_polyhedral());
    match (found, frictionless && definite_mass) {
        (true, true) => ([Proved, Proved, Unknown], Method::Gauss),
        (true, false) => ([Proved, Unknown, Unknown], Method::Found),
        (false, _) => ([Unknown; 3], Method::None),
    }
}

#[cfg(test)]
mod tests {
    use super::Verdict::{Proved, Refuted, Unknown};
    use super::*;

    fn exact(answers: [bool; 3]) -> ExactAnswer {
        let [existence, acceleration_unique, forces_unique] = answers;
        ExactAnswer { existence, acceleration_unique, forces_unique, isolated: 1, continuum: false }
    }

    #[test]
    fn rational_arithmetic_decides_where_the_data_carry_no_rounding() {
        let mut evidence = Evidence::of([Proved, Unknown, Unknown], Method::AllModes, true);
        evidence.exact_decides = true;
        // Claims are about doubles, and do not count.
        evidence.claims = [vec![false], vec![], vec![true]];
        let drawn = evidence.conclude(Some(&exact([true, true, false])));
        assert_eq!((drawn.verdicts, drawn.method), ([Proved, Proved, Refuted], Method::AllModes));
        // On rounded data it contradicts, and the list answers nothing.
        let evidence = Evidence::of([Proved, Proved, Proved], Method::AllModes, true);
        let drawn = evidence.conclude(Some(&exact([true, false, true])));
        assert_eq!((drawn.verdicts, drawn.decided), ([Unknown; 3], false));
    }

    #[test]
    fn unique_forces_are_refuted_only_with_a_proof() {
        let cases = [
            ([Proved, Proved, Unknown], true, Refuted),
            ([Proved, Proved, Proved], true, Proved),
            ([Proved, Proved, Refuted], true, Refuted),
            ([Proved, Proved, Refuted], false, Unknown),
            ([Proved, Refuted, Refuted], false, Refuted),
            ([Refuted, Refuted, Refuted], false, Refuted),
        ];
        for (rounded, other, expected) in cases {
            let mut evidence = Evidence::of(rounded, Method::Found, true);
            evidence.other_forces = Some(other);
            assert_eq!(evidence.conclude(None).verdicts[2], expected, "{rounded:?} {other}");
        }
    }

    #[test]
    fn claims_complete_and_contradict() {
        let mut evidence = Evidence::of([Proved, Unknown, Unknown], Method::Found, true);
        evidence.claims = [vec![true], vec![true, true], vec![true, false]];
        let drawn = evidence.conclude(None);
        // Claims that disagree with each other leave the question open.
        assert_eq!((drawn.verdicts, drawn.decided), ([Proved, Proved, Unknown], true));
        evidence.claims[0] = vec![false];
        let drawn = evidence.conclude(None);
        assert_eq!((drawn.verdicts, drawn.decided), ([Unknown, Unknown, Unknown], false));
    }

    #[test]
    fn forces_that_are_unique_by_the_last_digits_alone_are_unknown() {
        let evidence = Evidence::of([Proved, Proved, Refuted], Method::AllModes, true);
        let drawn = evidence.conclude(Some(&exact([true, true, true])));
        assert_eq!((drawn.verdicts, drawn.decided), ([Proved, Proved, Unknown], false));
    }
}
