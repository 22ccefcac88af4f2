//! Facts of certificates, checked exactly.
//!
//! ```text
//! M a + F = Jᵀ f ,   u = J a + γ   over Q :      is the fact true of these numbers?
//! ```
//!
//! M is n × n, J is m × n. Every matrix is derived anew from M, F, J, γ and the laws, in rational arithmetic,
//! and every comparison is between rational numbers: a fact that passes is true of the numbers of the problem
//! as they stand. The two facts about numbers found in floating point carry their tolerance
//! ([`Fact::Reachable`], [`Fact::Solution`]). Nothing here is shared with the solvers. What is too large to
//! be checked in a moment is refused.

use super::certificate::{Certificate, Claims, Fact, Kind, MatrixOf};
use super::implication;
use super::verdicts::{MASS_MARGIN, is_mass_clear};
use crate::linalg::{RationalMatrix, rational};
use crate::modes::{exact_answer, feasible, mode_count};
use crate::problem::{Dynamics, Law};
use num_bigint::BigInt;
use num_rational::BigRational;

/// Largest number of coordinates, and of rows, for which matrices are derived.
const SIZE_MAX: usize = 24;
/// Largest number of modes that are examined, for problems with up to [`MODES_SIZE_MAX`] coordinates and
/// rows.
const MODES_MAX: u64 = 4096;
/// Largest sum of coordinates and rows for which modes are examined.
const MODES_SIZE_MAX: usize = 24;
/// Largest tolerance of a [`Fact::Solution`].
const TOLERANCE_MAX: f64 = 1e-6;

impl Certificate {
    /// Whether the certificate is whole, its facts imply its claims by the proposition it names, and every
    /// fact is true, by exact arithmetic. `false` where a fact is beyond the size that is checked.
    pub fn verify(&self) -> bool {
        self.is_whole() && implication::follows(self) && self.facts.iter().all(|f| fact(&self.dynamics, f))
    }
}

/// Whether a fact is true of a problem, by exact arithmetic; `false` where it is too large to be checked.
pub fn fact(dynamics: &Dynamics, fact: &Fact) -> bool {
    // Some facts are about normals alone, whatever number of tangents there is.
    let rows = match fact {
        Fact::Admissible(_) | Fact::Unreachable(_) => dynamics.laws.len(),
        _ => dynamics.jacobian.rows(),
    };
    rows <= SIZE_MAX && well_formed(dynamics) && check(dynamics, fact).unwrap_or(false)
}

/// Whether a fact that is true of a problem in doubles is true of all problems that round to it: it speaks of
/// zeros, which rounding leaves alone, or holds by a margin. `false` where that is not known. `bias_known`
/// where zeros of γ are zeros for sure.
pub fn is_robust(d: &Dynamics, fact: &Fact, bias_known: bool) -> bool {
    match fact {
        Fact::PositiveDefinite(MatrixOf::Mass) => is_mass_clear(&d.mass, MASS_MARGIN),
        Fact::NoBias(_) => bias_known,
        // a = 0 satisfies them.
        Fact::Admissible(true) => bias_known && first_rows(d).iter().all(|&i| d.bias[i] == 0.0),
        _ => false,
    }
}

/// Sizes agree, numbers are finite, M is symmetric to 10⁻¹² of its largest entry, μ ≥ 0 and slip directions
/// have length 1 to 10⁻⁸.
fn well_formed(d: &Dynamics) -> bool {
    let (n, m) = (d.mass.rows(), d.laws.iter().map(Law::dim).sum::<usize>());
    let top = d.mass.data().iter().fold(0.0_f64, |a, x| a.max(x.abs()));
    let unit = |e: &[f64]| (e.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() <= 1e-8;
    d.mass.cols() == n
        && d.force.len() == n
        && d.jacobian.rows() == m
        && (m == 0 || d.jacobian.cols() == n)
        && d.bias.len() == m
        && n <= SIZE_MAX
        && d.mass.data().iter().chain(&d.force).chain(d.jacobian.data()).chain(&d.bias).all(|x| x.is_finite())
        && (0..n).all(|i| (0..i).all(|j| (d.mass[(i, j)] - d.mass[(j, i)]).abs() <= 1e-12 * top))
        && d.laws.iter().all(|l| l.coefficients().iter().all(|mu| mu.is_finite() && *mu >= 0.0))
        && d.laws.iter().all(|l| match l {
            Law::Sliding { slip, .. } | Law::BilateralSliding { slip, .. } => unit(slip.components()),
            _ => true,
        })
}

/// `None` where a matrix does not exist, a number is not finite, or the size is too large.
fn check(d: &Dynamics, fact: &Fact) -> Option<bool> {
    match fact {
        Fact::PositiveDefinite(a) => exact_matrix(d, *a)?.is_positive_definite(),
        Fact::NotPositiveDefinite(a, x) => {
            let x = RationalMatrix::column(x)?;
            let zero = (0..x.rows()).all(|i| x.sign(i, 0) == 0);
            Some(!zero && exact_matrix(d, *a)?.form_sign(&x)? <= 0)
        }
        Fact::PositiveSemidefinite(a) => exact_matrix(d, *a)?.is_positive_semidefinite(),
        Fact::PMatrix(a) => exact_matrix(d, *a)?.is_p_matrix(),
        Fact::NotPMatrix(a, set) => {
            let a = exact_matrix(d, *a)?;
            let ordered = set.windows(2).all(|w| w[0] < w[1]);
            let inside = a.rows() == a.cols() && set.last().is_some_and(|&k| k < a.rows());
            Some(ordered && inside && a.minor_sign(set) <= 0)
        }
        Fact::Copositive(a) => exact_matrix(d, *a)?.is_copositive(),
        Fact::NotCopositive(a, x) => {
            let x = RationalMatrix::column(x)?;
            let nonnegative = (0..x.rows()).all(|i| x.sign(i, 0) >= 0);
            Some(nonnegative && exact_matrix(d, *a)?.form_sign(&x)? < 0)
        }
        Fact::Rank(a, rank) => Some(exact_matrix(d, *a)?.rank() == *rank),
        Fact::Nonpositive(a) => Some(exact_matrix(d, *a)?.is_nonpositive()),
        Fact::SingularValuesAtLeast(a, s) => {
            let a = exact_matrix(d, *a)?;
            let s = rational(*s)?;
            Some(s < zero() || a.singular_values_at_least(&s))
        }
        Fact::SingularValuesAtMost(a, s) => {
            let a = exact_matrix(d, *a)?;
            let s = rational(*s)?;
            Some(s >= zero() && a.singular_values_at_most(&s))
        }
        Fact::FrictionBelow(kind, a, b) => {
            let (a, b) = (rational(*a)?, rational(*b)?);
            let mus = constraints(d, *kind).into_iter().map(|k| rational(d.laws[k].mu()));
            mus.collect::<Option<Vec<_>>>().map(|mus| mus.iter().all(|mu| mu * &a < b))
        }
        Fact::Reachable(a) => reachable(d, a),
        Fact::NoBias(kind) => {
            let at = first_rows(d);
            Some(constraints(d, *kind).into_iter().all(|k| d.bias[at[k]] == 0.0))
        }
        Fact::Admissible(claim) => Some(admissible(d)? == *claim),
        Fact::NoMasslessMotion => no_massless_motion(d),
        Fact::Unreachable(multipliers) => unreachable(d, multipliers),
        Fact::Solution(force, tolerance) => solution(d, force, *tolerance),
        Fact::WeakFriction(weights) => weak_friction(d, weights),
        Fact::Equilibrium(forces) => equilibrium(d, forces),
        Fact::AllModes(claims) => all_modes(d, claims),
    }
}

fn zero() -> BigRational {
    BigRational::from(BigInt::from(0))
}

/// The constraints of a kind.
fn constraints(d: &Dynamics, kind: Kind) -> Vec<usize> {
    let of = |k: &usize| match kind {
        Kind::Bilateral => d.laws[*k].is_bilateral(),
        Kind::Unilateral => !d.laws[*k].is_bilateral(),
        Kind::All => true,
    };
    (0..d.laws.len()).filter(of).collect()
}

/// The first row of each constraint.
fn first_rows(d: &Dynamics) -> Vec<usize> {
    d.laws
        .iter()
        .scan(0, |at, law| {
            let first = *at;
            *at += law.dim();
            Some(first)
        })
        .collect()
}

/// One column per constraint listed: `normal` at its normal row, `friction` times the slip direction at its
/// tangents (with μ as a further factor where `with_mu`). `None` where a constraint has friction but no
/// direction of slip.
fn columns(
    d: &Dynamics,
    list: &[usize],
    normal: f64,
    friction: f64,
    with_mu: bool,
) -> Option<RationalMatrix> {
    let (at, m) = (first_rows(d), d.jacobian.rows());
    let mut direction = vec![0.0; m * list.len()];
    let mut unit = vec![0.0; m * list.len()];
    let mut scale = vec![0.0; list.len() * list.len()];
    for (j, &k) in list.iter().enumerate() {
        unit[at[k] * list.len() + j] = normal;
        scale[j * list.len() + j] = if with_mu { d.laws[k].mu() } else { 1.0 };
        match &d.laws[k] {
            Law::Sliding { slip, .. } | Law::BilateralSliding { slip, .. } => {
                for (i, e) in slip.components().iter().enumerate() {
                    direction[(at[k] + 1 + i) * list.len() + j] = *e;
                }
            }
            law if law.mu() == 0.0 => {}
            _ => return None,
        }
    }
    let of = |rows: usize, data: &[f64]| RationalMatrix::of_rows(rows, list.len(), data);
    let tangents = of(m, &direction)?.mul(&of(list.len(), &scale)?);
    Some(of(m, &unit)?.plus(&rational(friction)?, &tangents))
}

/// A matrix of a problem, exactly; `None` where it does not exist, or where M or a block that has to be
/// inverted is singular. Rows and columns go by constraint in the order of the problem; `SlidingLcp` has
/// guides first.
///
/// For the constrained matrices joints are the laws [`Law::Bilateral`]; they are eliminated, and the matrix
/// is of the other constraints of the kind.
pub fn exact_matrix(d: &Dynamics, of: MatrixOf) -> Option<RationalMatrix> {
    if !well_formed(d) || d.jacobian.rows() > SIZE_MAX {
        return None;
    }
    let at = first_rows(d);
    let normals = |list: &[usize]| list.iter().map(|&k| at[k]).collect::<Vec<_>>();
    let others = |kind: Kind| {
        constraints(d, kind).into_iter().filter(|&k| d.laws[k] != Law::Bilateral).collect::<Vec<_>>()
    };
    let gradients = |list: &[usize]| {
        let jacobian = RationalMatrix::of_rows(d.jacobian.rows(), d.mass.rows(), d.jacobian.data())?;
        Some(jacobian.select_rows(&normals(list)))
    };
    let mass = || RationalMatrix::exact(&d.mass);
    let delassus = || delassus(d);
    let constrained = || constrained_delassus(d);
    match of {
        MatrixOf::Mass => mass(),
        MatrixOf::Gradients(kind) => gradients(&constraints(d, kind)),
        MatrixOf::MassAndGradients(kind) => Some(mass()?.above(&gradients(&constraints(d, kind))?)),
        MatrixOf::Delassus(kind) => {
            let rows = normals(&constraints(d, kind));
            Some(delassus()?.select(&rows, &rows))
        }
        MatrixOf::SlipCoupling(kind) => {
            let list = constraints(d, kind);
            Some(delassus()?.select_rows(&normals(&list)).mul(&columns(d, &list, 0.0, 1.0, false)?))
        }
        MatrixOf::ConstrainedDelassus(kind) => {
            let rows = normals(&others(kind));
            Some(constrained()?.select(&rows, &rows))
        }
        MatrixOf::ConstrainedSlipCoupling(kind) => {
            let list = others(kind);
            Some(constrained()?.select_rows(&normals(&list)).mul(&columns(d, &list, 0.0, 1.0, false)?))
        }
        MatrixOf::Coupling => {
            let (u, b) = (constraints(d, Kind::Unilateral), constraints(d, Kind::Bilateral));
            Some(delassus()?.select(&normals(&u), &normals(&b)))
        }
        MatrixOf::SlidingLcp => sliding_lcp(d, &delassus()?),
    }
}

/// W = J M⁻¹ Jᵀ; `None` where M is singular.
fn delassus(d: &Dynamics) -> Option<RationalMatrix> {
    let jacobian = RationalMatrix::of_rows(d.jacobian.rows(), d.mass.rows(), d.jacobian.data())?;
    Some(jacobian.mul(&RationalMatrix::exact(&d.mass)?.solve(&jacobian.transpose())?))
}

/// W_kk − W_kj W_jj⁻¹ W_jk, joints j eliminated; `None` where M or W_jj is singular.
fn constrained_delassus(d: &Dynamics) -> Option<RationalMatrix> {
    let (w, at) = (delassus(d)?, first_rows(d));
    let joints: Vec<usize> =
        (0..d.laws.len()).filter(|&k| d.laws[k] == Law::Bilateral).map(|k| at[k]).collect();
    let all: Vec<usize> = (0..w.rows()).collect();
    let x = w.select(&joints, &joints).solve(&w.select_rows(&joints))?;
    Some(w.plus(&BigRational::from(BigInt::from(-1)), &w.select(&all, &joints).mul(&x)))
}

/// [`Fact::WeakFriction`]; `None` for laws that it does not speak of.
fn weak_friction(d: &Dynamics, weights: &[f64]) -> Option<bool> {
    if weights.len() != 2 * d.laws.len() || weights.iter().any(|s| s.is_nan() || *s <= 0.0) {
        return None;
    }
    let (w, at) = (constrained_delassus(d)?, first_rows(d));
    // Directions of slip have length 1 to 10⁻⁸: a little more friction than there is covers that.
    let half = rational(0.5 * (1.0 + 1e-7))?;
    let (m, mut rest) = (w.rows(), w.clone());
    for (k, law) in d.laws.iter().enumerate() {
        if matches!(law, Law::CoulombEllipse { .. } | Law::Spinning { .. }) || law.is_associated() {
            return None;
        }
        let end = at[k] + law.dim();
        let split = end.min(at[k] + 3);
        for (g, rows) in [at[k] + 1..split, split..end].into_iter().enumerate() {
            let (s, mu) = (rational(weights[2 * k + g])?, rational(law.coefficients()[g])?);
            if rows.is_empty() || mu == zero() {
                continue;
            }
            let mut unit = vec![0.0; m];
            unit[at[k]] = 1.0;
            let normal = RationalMatrix::column(&unit)?;
            let tangents = w.select_rows(&rows.collect::<Vec<_>>());
            rest = rest
                .plus(&(-&half * &mu * &s), &normal.mul(&normal.transpose()))
                .plus(&(-&half * &mu / &s), &tangents.transpose().mul(&tangents));
        }
    }
    let free: Vec<usize> = (0..d.laws.len())
        .filter(|&k| d.laws[k] != Law::Bilateral)
        .flat_map(|k| at[k]..at[k] + d.laws[k].dim())
        .collect();
    rest.select(&free, &free).is_positive_definite()
}

/// The matrix of the LCP in z = (λ⁻, λ_n): f = S y + Z z with y = (λ_joints, λ⁺) from bilateral rows W_b (S y
/// + Z z) = 0, that is y = Y z; its rows are those of Y for the guides and W_u (S Y + Z) for the contacts.
fn sliding_lcp(d: &Dynamics, w: &RationalMatrix) -> Option<RationalMatrix> {
    let at = first_rows(d);
    let of = |test: fn(&Law) -> bool| (0..d.laws.len()).filter(|&k| test(&d.laws[k])).collect::<Vec<_>>();
    let joints = of(|l| matches!(l, Law::Bilateral));
    let guides = of(|l| matches!(l, Law::BilateralSliding { .. }));
    let contacts = of(|l| matches!(l, Law::Unilateral | Law::Sliding { .. }));
    if joints.len() + guides.len() + contacts.len() < d.laws.len() {
        return None;
    }
    let bilateral: Vec<usize> = joints.iter().chain(&guides).copied().collect();
    let s = columns(d, &bilateral, 1.0, -1.0, true)?;
    let z = columns(d, &guides, -1.0, -1.0, true)?.beside(&columns(d, &contacts, 1.0, -1.0, true)?);
    let w_b = w.select_rows(&bilateral.iter().map(|&k| at[k]).collect::<Vec<_>>());
    let w_u = w.select_rows(&contacts.iter().map(|&k| at[k]).collect::<Vec<_>>());
    let minus_y = w_b.mul(&s).solve(&w_b.mul(&z))?;
    let minus = BigRational::from(BigInt::from(-1));
    let contact_rows = w_u.mul(&z.plus(&minus, &s.mul(&minus_y)));
    let guide_rows = minus_y.select_rows(&(joints.len()..bilateral.len()).collect::<Vec<_>>());
    let nothing = guide_rows.plus(&minus, &guide_rows);
    Some(nothing.plus(&minus, &guide_rows).above(&contact_rows))
}

/// The constraints of a problem on the acceleration: N, γ, and which rows are bilateral.
fn normal_rows(d: &Dynamics) -> Option<(RationalMatrix, RationalMatrix)> {
    let at = first_rows(d);
    let bias: Vec<f64> = at.iter().map(|&r| d.bias[r]).collect();
    let jacobian = RationalMatrix::of_rows(d.jacobian.rows(), d.mass.rows(), d.jacobian.data())?;
    Some((jacobian.select_rows(&at), RationalMatrix::column(&bias)?))
}

/// Every bilateral row holds at a to 10⁻⁹ of the sum of the sizes of its terms. Then a is moved by the least
/// amount that makes a largest set of independent bilateral rows hold exactly, and there every unilateral row
/// is > 0.
fn reachable(d: &Dynamics, a: &[f64]) -> Option<bool> {
    if a.len() != d.mass.rows() {
        return None;
    }
    let one = BigRational::from(BigInt::from(1));
    let minus = -one.clone();
    let (n, gamma) = normal_rows(d)?;
    let a = RationalMatrix::column(a)?;
    let value = n.mul(&a).plus(&one, &gamma);
    let size = n.abs().mul(&a.abs()).plus(&one, &gamma.abs());
    let share = rational(1e-9)?;
    let bilateral = constraints(d, Kind::Bilateral);
    if bilateral.iter().any(|&k| value.abs().get(k, 0) > &share * size.get(k, 0)) {
        return Some(false);
    }
    let g = n.select_rows(&bilateral);
    let independent: Vec<usize> = g.independent_rows().into_iter().map(|i| bilateral[i]).collect();
    let g = n.select_rows(&independent);
    let step = g.transpose().mul(&g.mul(&g.transpose()).solve(&value.select_rows(&independent))?);
    let value = n.mul(&a.plus(&minus, &step)).plus(&one, &gamma);
    Some(constraints(d, Kind::Unilateral).iter().all(|&k| value.sign(k, 0) > 0))
}

/// One row per constraint of N x − s = g: s, one per contact, is its slack.
fn with_room(d: &Dynamics, g: impl Fn(usize) -> f64) -> Vec<Vec<f64>> {
    let (at, contacts) = (first_rows(d), constraints(d, Kind::Unilateral));
    let row = |k: usize| {
        let x = (0..d.mass.rows()).map(|j| d.jacobian[(at[k], j)]);
        let s = contacts.iter().map(|&c| if c == k { -1.0 } else { 0.0 });
        x.chain(s).chain([g(at[k])]).collect()
    };
    (0..d.laws.len()).map(row).collect()
}

/// n columns that are free, then one per contact that is not.
fn free_motion(d: &Dynamics) -> Vec<bool> {
    let slacks = constraints(d, Kind::Unilateral).len();
    (0..d.mass.rows() + slacks).map(|c| c < d.mass.rows()).collect()
}

/// N_b a + γ_b = 0, N_u a + γ_u = s ≥ 0 for some a.
fn admissible(d: &Dynamics) -> Option<bool> {
    feasible(&with_room(d, |row| -d.bias[row]), free_motion(d))
}

/// M v = 0, N_b v = 0, N_u v = s ≥ 0 only for v = 0: neither with s = 0 nor with Σs = 1.
fn no_massless_motion(d: &Dynamics) -> Option<bool> {
    let (n, columns) = (d.mass.rows(), free_motion(d).len());
    let rigid = exact_matrix(d, MatrixOf::MassAndGradients(Kind::All))?.rank() == n;
    let mut rows = with_room(d, |_| 0.0);
    for i in 0..n {
        rows.push((0..=columns).map(|j| if j < n { d.mass[(i, j)] } else { 0.0 }).collect());
    }
    rows.push((0..=columns).map(|j| if j < n { 0.0 } else { 1.0 }).collect());
    Some(rigid && !feasible(&rows, free_motion(d))?)
}

/// Nᵀλ = 0, γᵀλ < 0, λ_u ≥ 0: then 0 ≤ λᵀ(N a + γ) = γᵀλ < 0 for no a.
fn unreachable(d: &Dynamics, multipliers: &[f64]) -> Option<bool> {
    if multipliers.len() != d.laws.len() {
        return None;
    }
    let (n, gamma) = normal_rows(d)?;
    let y = RationalMatrix::column(multipliers)?;
    let sum = n.transpose().mul(&y);
    let balanced = (0..sum.rows()).all(|i| sum.sign(i, 0) == 0);
    let pushing = constraints(d, Kind::Unilateral).iter().all(|&k| y.sign(k, 0) >= 0);
    Some(balanced && pushing && gamma.transpose().mul(&y).sign(0, 0) < 0)
}

/// [`Fact::Equilibrium`].
fn equilibrium(d: &Dynamics, forces: &[BigRational]) -> Option<bool> {
    if forces.len() != d.jacobian.rows() || d.bias.iter().any(|b| *b != 0.0) {
        return None;
    }
    for c in 0..d.mass.rows() {
        let mut sum = -rational(d.force[c])?;
        for (i, f) in forces.iter().enumerate() {
            sum += rational(d.jacobian[(i, c)])? * f;
        }
        if sum != zero() {
            return Some(false);
        }
    }
    let each = d.laws.iter().zip(first_rows(d)).map(|(law, at)| {
        let friction = &forces[at + 1..at + law.dim()];
        let pushes = forces[at] >= zero();
        match law {
            Law::Bilateral => Some(true),
            Law::CoulombPlane { mu } if is_pad(d, at) => {
                Some(pushes && abs(&friction[0]) <= rational(*mu)? * &forces[at])
            }
            _ => Some(pushes && friction.iter().all(|f| *f == zero())),
        }
    });
    each.into_iter().try_fold(true, |all, one| Some(all && one?))
}

/// Whether the normal in a row moves one coordinate, which nothing else moves and no mass couples.
fn is_pad(d: &Dynamics, row: usize) -> bool {
    let n = d.mass.rows();
    let moved: Vec<usize> = (0..n).filter(|&c| d.jacobian[(row, c)] != 0.0).collect();
    let [c] = moved[..] else { return false };
    (0..d.jacobian.rows()).all(|i| i == row || d.jacobian[(i, c)] == 0.0)
        && (0..n).all(|i| i == c || d.mass[(i, c)] == 0.0 && d.mass[(c, i)] == 0.0)
}

fn all_modes(d: &Dynamics, claims: &Claims) -> Option<bool> {
    if d.mass.rows() + d.jacobian.rows() > MODES_SIZE_MAX || mode_count(&d.laws)? > MODES_MAX {
        return None;
    }
    let answer = exact_answer(d, MODES_MAX)?;
    let agrees = |claim: Option<bool>, truth: bool| claim.is_none_or(|c| c == truth);
    Some(
        agrees(claims.existence, answer.existence)
            && agrees(claims.acceleration_unique, answer.acceleration_unique)
            && agrees(claims.forces_unique, answer.forces_unique),
    )
}

/// Whether f solves the problem to a tolerance ε ≤ 10⁻⁶.
///
/// With a = M⁻¹(Jᵀf − F) and u = J a + γ, exactly, every condition of every law holds up to ε times a scale:
/// for velocities, row by row, the sum of the sizes of the terms of u, |γ| + |J|(|M⁻¹F| + |M⁻¹Jᵀ||f|); for
/// forces (1 + μ) times the largest component of f. "f_n or u_n vanishes" and "f_t = −μ f_n u_t/|u_t| or u_t
/// vanishes" hold in the sense that one of the two is below its scale times ε.
fn solution(d: &Dynamics, force: &[f64], tolerance: f64) -> Option<bool> {
    if force.len() != d.jacobian.rows() || !(0.0..=TOLERANCE_MAX).contains(&tolerance) {
        return None;
    }
    let (one, epsilon) = (BigRational::from(BigInt::from(1)), rational(tolerance)?);
    let mass = RationalMatrix::exact(&d.mass)?;
    let jacobian = RationalMatrix::of_rows(d.jacobian.rows(), d.mass.rows(), d.jacobian.data())?;
    let (f, gamma) = (RationalMatrix::column(force)?, RationalMatrix::column(&d.bias)?);
    let response = mass.solve(&jacobian.transpose())?;
    let free = mass.solve(&RationalMatrix::column(&d.force)?)?;
    let a = response.mul(&f).plus(&-one.clone(), &free);
    let u = jacobian.mul(&a).plus(&one, &gamma);
    let terms = response.abs().mul(&f.abs()).plus(&one, &free.abs());
    let speed = jacobian.abs().mul(&terms).plus(&one, &gamma.abs());
    let entries = |x: &RationalMatrix| (0..x.rows()).map(|i| x.get(i, 0)).collect::<Vec<_>>();
    let (f, u, speed) = (entries(&f), entries(&u), entries(&speed));
    let top = f.iter().map(abs).max().unwrap_or_else(zero);
    let at = first_rows(d);
    d.laws
        .iter()
        .zip(at)
        .map(|(law, at)| {
            let rows = at..at + law.dim();
            let slack: Vec<BigRational> = speed[rows.clone()].iter().map(|s| s * &epsilon).collect();
            let mu = rational(law.mu())?;
            let force_slack = &epsilon * &top * (&mu + &one);
            obeys(law, &mu, &f[rows.clone()], &u[rows], &slack, &force_slack)
        })
        .try_fold(true, |all, one| one.map(|one| all && one))
}

fn abs(x: &BigRational) -> BigRational {
    if *x < zero() { -x } else { x.clone() }
}

/// Whether f and u obey a law, up to `slack` for the rows of u and `force_slack` for the forces.
fn obeys(
    law: &Law,
    mu: &BigRational,
    f: &[BigRational],
    u: &[BigRational],
    slack: &[BigRational],
    force_slack: &BigRational,
) -> Option<bool> {
    let normal = if law.is_bilateral() {
        abs(&u[0]) <= slack[0]
    } else {
        u[0] >= -slack[0].clone()
            && f[0] >= -force_slack.clone()
            && (u[0] <= slack[0] || f[0] <= *force_slack)
    };
    let size = if law.is_bilateral() { abs(&f[0]) } else { f[0].clone() };
    let limit = mu * &size;
    let length = |x: &[BigRational]| root(&x.iter().map(|x| x * x).fold(zero(), |a, b| a + b));
    let friction = match law {
        Law::Bilateral | Law::Unilateral => true,
        // No certificate speaks of these laws.
        Law::CoulombEllipse { .. } | Law::Rolling { .. } | Law::ConeRolling { .. } => return None,
        Law::Spinning { .. } | Law::ConeSpinning { .. } => return None,
        Law::Sliding { slip, .. } | Law::BilateralSliding { slip, .. } => {
            let e = slip.components().iter().map(|e| rational(*e)).collect::<Option<Vec<_>>>()?;
            f[1..].iter().zip(&e).all(|(f, e)| abs(&(f + &limit * e)) <= *force_slack)
        }
        Law::Cone { .. } | Law::ConePlane { .. } => {
            // K ∋ f ⊥ u ∈ K*: the power is small where either side of each product is.
            let motion = slack.iter().fold(zero(), |a, b| a + b);
            let power = f.iter().zip(u).map(|(f, u)| f * u).fold(zero(), |a, b| a + b);
            let reach = f.iter().map(abs).zip(slack).map(|(f, s)| f * s).fold(zero(), |a, b| a + b);
            let idle = force_slack * u.iter().map(abs).fold(zero(), |a, b| a + b);
            return Some(
                f[0] >= -force_slack.clone()
                    && length(&f[1..]) <= limit + force_slack
                    && u[0] >= mu * length(&u[1..]) - motion * (mu + BigRational::from(BigInt::from(1)))
                    && abs(&power) <= reach + idle,
            );
        }
        Law::CoulombPlane { .. }
        | Law::BilateralCoulombPlane { .. }
        | Law::Coulomb { .. }
        | Law::BilateralCoulomb { .. } => {
            let still = u[1..].iter().zip(&slack[1..]).all(|(u, s)| abs(u) <= *s);
            let speed = length(&u[1..]);
            let opposed = || {
                f[1..]
                    .iter()
                    .zip(&u[1..])
                    .all(|(f, u)| abs(&(f * &speed + &limit * u)) <= force_slack * &speed)
            };
            length(&f[1..]) <= &limit + force_slack && (still || opposed())
        }
    };
    Some(normal && friction)
}

/// √x of x ≥ 0 from below, to 2⁻⁶⁰ of itself: far below every tolerance it is compared with.
fn root(x: &BigRational) -> BigRational {
    // √(p/q) = √(p q)/q, with enough bits before the integer root is taken.
    let product: BigInt = x.numer() * x.denom();
    let bits = 120u64.saturating_sub(product.bits()) + 2;
    let k = bits.div_ceil(2);
    BigRational::new((product << (2 * k)).sqrt(), x.denom() << k)
}
