//! All solutions of a contact problem, mode by mode.
//!
//! ```text
//! u = W f + q ,   (f, u) ∈ ⋃ₚ Cₖₚ for each constraint k          choice of one p per k:   K x = r ,  G x ≥ h
//! ```
//!
//! W is m × m, f, u and q are in Rᵐ. Every polyhedral law is a finite union of cones Cₖₚ in (f, u): open,
//! slide, stick. One cone per constraint makes the problem linear: forces f = B x with as many parameters x
//! as there are velocities S u that must vanish, so K x = r with the square matrix K = S W B, and linear
//! inequalities on the result. For frictionless contacts these are the complementary cones of the LCP (000
//! eq. 9, 31); for sliding friction those of 000 eq. 50, 58; for guides the 2^m sign patterns of 000 eq. 37;
//! for contacts at rest the planar modes of Coulomb's law on the acceleration level.
//!
//! * K regular: one candidate, kept if it satisfies the inequalities.
//! * K singular and the system consistent: an affine set cut by the inequalities, a polyhedron.
//!
//! Where the mass is singular, the accelerations stay in the system as unknowns (000 eq. 16).
//!
//! Decisions are made on scaled numbers (every row has unit inverse mass), each relative to the size of its
//! own terms: a slack above −10⁻¹¹ of that size is nonnegative, one below −10⁻⁷ is negative. In between,
//! rounding hides the sign: such a point is not listed, and the set is marked as not
//! [`SolutionSet::decided`]. So is one whose forces are so large that their rounding alone violates the laws
//! by more than 10⁻¹⁰.

mod exact;
mod gauss;
mod mode_cones;
mod robust;
mod scaling;
mod search;

pub use exact::{ExactAnswer, ExactDynamics, ExactList, ExactSolutions, exact_answer, mode_count};
pub use mode_cones::Mode;
pub use robust::{
    ComponentBounds, RobustAnswer, answer_of_found, bounds_of, distance, load_distance, robust_answer,
};

pub(crate) use exact::feasible;
pub(crate) use scaling::scaled_contact;

use crate::linalg::Matrix;
use crate::problem::{Dynamics, Law};
use gauss::{Gauss, gauss_velocity};
use scaling::Scaled;
use search::Search;

/// Slacks above minus this, relative to their terms, count as nonnegative (rounding stays far below).
const SLACK_ROUNDING: f64 = 1e-11;
/// Slacks below minus this, relative to their terms, count as negative.
const SLACK_NEGATIVE: f64 = 1e-7;
/// Problems without friction and with more constraints than this are not searched but solved by Gauss'
/// principle.
const MAX_SEARCHED_FRICTIONLESS: usize = 10;
/// Entries of unit directions below this are rounding of the null space that they came from.
const DIRECTION_ROUNDING: f64 = 1e-10;

/// A convex set of solutions: a point, or a polyhedron {f + D s : G s ≥ h}.
#[derive(Clone, Debug)]
pub struct SolutionComponent {
    /// What each constraint does.
    pub modes: Vec<Mode>,
    /// The force of least norm in the component.
    pub force: Vec<f64>,
    /// u at that force.
    pub velocity: Vec<f64>,
    /// a at that force; empty where the problem was given without dynamics.
    pub acceleration: Vec<f64>,
    /// The directions in which the solution may move; `None` for an isolated solution.
    pub freedom: Option<Freedom>,
    /// [min, max] of every force over the component, ±∞ where unbounded; empty where they were not asked for.
    pub intervals: Vec<[f64; 2]>,
}

/// The directions and bounds of a polyhedron of solutions, in parameters s ∈ R^k, k ≥ 1, with full dimension
/// k: the force is f + D s, the acceleration a + A s, for all s with G s ≥ h (s = 0 is one of them).
#[derive(Clone, Debug)]
pub struct Freedom {
    /// D, m × k. Exactly zero where the forces do not move.
    pub force: Matrix,
    /// A, n × k. Exactly zero where the acceleration does not move.
    pub acceleration: Matrix,
    /// G.
    pub bounds: Matrix,
    /// h.
    pub limits: Vec<f64>,
}

/// All solutions of a contact problem.
#[derive(Clone, Debug, Default)]
pub struct SolutionSet {
    /// The components; none lies in another.
    pub components: Vec<SolutionComponent>,
    /// Whether every mode was examined.
    pub complete: bool,
    /// Whether every decision was clear of rounding.
    pub decided: bool,
    /// The force that one unit of the problem's scaled numbers stands for: rounding of forces is a small part
    /// of it.
    pub force_unit: f64,
    /// Number of modes examined (one where Gauss' principle names it).
    pub modes: u64,
}

/// Options of [`enumerate`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EnumerateOptions {
    /// Largest effort, in regular mode combinations (default 2¹⁸: nine planar contacts at rest, a few
    /// seconds). A problem with more modes is not searched; one whose modes are mostly polyhedra is searched
    /// in part. Either way the set is then not complete.
    pub max_modes: u64,
}

impl Default for EnumerateOptions {
    fn default() -> Self {
        EnumerateOptions { max_modes: 1 << 18 }
    }
}

/// All solutions of the contact problem with these dynamics.
///
/// Without friction and with a positive definite mass all solutions lie in one mode, which Gauss' principle
/// names: larger problems of that kind are not searched.
pub fn enumerate(dynamics: &Dynamics, options: &EnumerateOptions) -> SolutionSet {
    if dynamics.laws.len() > MAX_SEARCHED_FRICTIONLESS && dynamics.laws.iter().all(|l| l.dim() == 1) {
        match gauss_velocity(dynamics, SLACK_ROUNDING, SLACK_NEGATIVE) {
            Gauss::Velocity(u) => {
                if let Some(set) = one_mode(dynamics, &u) {
                    return set;
                }
            }
            Gauss::Impossible => {
                return SolutionSet { complete: true, decided: true, modes: 1, ..SolutionSet::default() };
            }
            Gauss::Undecided => {}
        }
    }
    let scaled = Scaled::of(dynamics).unwrap_or_else(|| Scaled::with_mass(dynamics));
    Search::run(scaled, &dynamics.laws, options)
}

/// All solutions of a problem without friction whose velocities are known: those of the mode that closes the
/// contacts at rest. `None` where it is too close to call which those are.
fn one_mode(dynamics: &Dynamics, u: &[f64]) -> Option<SolutionSet> {
    let scaled = Scaled::of(dynamics)?;
    // Relative to the free velocity of its own row, which is one of the terms of u.
    let size = scaled.magnitude(&[], &vec![0.0; u.len()]);
    let relative: Vec<f64> =
        (0..u.len()).map(|i| u[i] / scaled.velocity_unit[i] / size[i].max(f64::MIN_POSITIVE)).collect();
    let contact = |k: usize| dynamics.laws[k] == Law::Unilateral;
    if (0..u.len()).any(|k| contact(k) && (SLACK_ROUNDING..SLACK_NEGATIVE).contains(&relative[k])) {
        return None;
    }
    // The cones of a contact: open, closed; a joint has one.
    let choice: Vec<usize> =
        (0..u.len()).map(|k| usize::from(contact(k) && relative[k] < SLACK_NEGATIVE)).collect();
    let mut search = Search::new(scaled, &dynamics.laws)?;
    search.examine(&choice);
    // That mode has a solution by theory; where none is found, numbers were too close.
    search.has_found().then(|| search.finished(true, 1))
}

/// All solutions of u = W f + q with these laws; W need not be symmetric, so that with
/// [`Law::Unilateral`] throughout this enumerates the solutions of an LCP.
pub fn enumerate_contact(w: &Matrix, q: &[f64], laws: &[Law], options: &EnumerateOptions) -> SolutionSet {
    let noise = q.iter().map(|x| x.abs()).collect();
    Search::run(Scaled::reduced(w, q, laws, noise), laws, options)
}
