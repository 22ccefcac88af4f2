//! The propositions of paper 000 applied to one contact problem, corrected where they are false as printed.
//!
//! ```text
//! M a + F = N_bᵀ λ_b + N_uᵀ λ_u + friction,   N_b a + γ_b = 0,   0 ≤ N_u a + γ_u ⊥ λ_u ≥ 0
//! ```
//!
//! M ∈ R^{n×n}, N_b and N_u the normal gradients of joints and contacts (one row each), γ the terms
//! d/dt(∇hᵀ)q̇. The propositions without friction (000 Prop. 1, 3–8, App. E) are in
//! [`crate::analysis::theorems::p000_frictionless`], those with sliding friction (Prop. 9–14, Cor. 2, the
//! horizontal LCP) in [`crate::analysis::theorems::p000_friction`]; this module holds what they share:
//! three-valued decisions with a margin, and evidence for or against an admissible acceleration.
//!
//! A decision in floating point needs a relative margin of 10⁻⁹; below it the finding is undecided, unless
//! exact arithmetic on the numbers given settles it.

use super::decision::{AdmissibleSet, MARGIN};
use crate::analysis::certificate::{Certificate, Claims, Fact, Finding, Kind, MatrixOf, Outcome};
use crate::analysis::verify;
use crate::lcp::{Lp, Nearest, Verdict, linear_program, nearest_point};
use crate::linalg::{Matrix, dot, max_abs, norm};
use crate::problem::Dynamics;

/// Relative size of what counts as rounding: such a number may be zero.
pub(super) const ROUNDING: f64 = 1e-13;
/// Largest number of contacts and guides whose modes are listed exactly.
const EXACT_MAX: usize = 8;

/// A finding with what follows from its facts; without claims it needs no certificate.
pub(super) fn finding(
    id: &'static str,
    d: &Dynamics,
    outcome: Outcome,
    claims: Claims,
    facts: Vec<Fact>,
    meaning: &str,
) -> Finding {
    let mut f = Finding::silent(id, outcome, meaning);
    if claims != Claims::default() {
        f.claims = claims;
        f.certificate = Some(Certificate::new(id, d, facts, claims));
    }
    f
}

/// The proposition does not speak of this problem.
pub(super) fn elsewhere(id: &'static str, of: &str) -> Finding {
    Finding::silent(id, Outcome::NotApplicable, format!("speaks of {of}"))
}

/// Too close to call.
pub(super) fn undecided(id: &'static str) -> Finding {
    Finding::silent(id, Outcome::Undecided, "too close to call, or beyond the size that is examined")
}

/// The normal rows of joints and guides, and of contacts, with their bias.
pub(super) struct Normals {
    /// N_b.
    pub joints: Matrix,
    /// γ_b.
    pub joint_bias: Vec<f64>,
    /// N_u.
    pub contacts: Matrix,
    /// γ_u.
    pub contact_bias: Vec<f64>,
}

/// Splits the normals by kind.
pub(super) fn normals(d: &Dynamics) -> Normals {
    let offsets = d.offsets();
    let of = |bilateral: bool| -> Vec<usize> {
        (0..d.laws.len()).filter(|&k| d.laws[k].is_bilateral() == bilateral).map(|k| offsets[k]).collect()
    };
    let part = |rows: Vec<usize>| (d.jacobian.select_rows(&rows), rows.iter().map(|&i| d.bias[i]).collect());
    let ((joints, joint_bias), (contacts, contact_bias)) = (part(of(true)), part(of(false)));
    Normals { joints, joint_bias, contacts, contact_bias }
}

/// Whether no law has friction.
pub(super) fn is_frictionless(d: &Dynamics) -> bool {
    d.laws.iter().all(|law| law.mu() == 0.0)
}

/// Whether the symmetric part is positive definite, on the matrix scaled to unit diagonal.
pub(super) fn definite(a: &Matrix) -> Verdict {
    let n = a.rows();
    if (0..n).any(|i| a[(i, i)] <= 0.0) {
        return Verdict::Refuted;
    }
    let d: Vec<f64> = (0..n).map(|i| a[(i, i)].sqrt()).collect();
    let scaled = Matrix::from_fn(n, n, |i, j| a[(i, j)] / (d[i] * d[j]));
    sign(scaled.symmetric_eigenvalues().first().copied().unwrap_or(1.0))
}

/// Whether a number of size one is positive.
pub(super) fn sign(x: f64) -> Verdict {
    if x > MARGIN {
        Verdict::Proved
    } else if x < -MARGIN {
        Verdict::Refuted
    } else {
        Verdict::Unknown
    }
}

/// The rank of a matrix whose rows are scaled to length one; `None` where a singular value is neither clearly
/// zero nor clearly not.
pub(super) fn clear_rank(a: &Matrix) -> Option<usize> {
    let scaled = unit_rows(a);
    let s = scaled.singular_values();
    let top = s.first().copied().unwrap_or(0.0);
    if s.iter().any(|&x| x.is_nan() || (x > ROUNDING * top && x < MARGIN * top)) {
        return None;
    }
    Some(s.iter().filter(|&&x| x > MARGIN * top).count())
}

fn unit_rows(a: &Matrix) -> Matrix {
    let mut scaled = a.clone();
    for i in 0..a.rows() {
        let length = norm(a.row(i));
        if length > 0.0 {
            scaled.row_mut(i).iter_mut().for_each(|x| *x /= length);
        }
    }
    scaled
}

/// Whether the rows are linearly independent.
pub(super) fn independent(rows: &Matrix) -> Verdict {
    match clear_rank(rows) {
        Some(rank) if rank == rows.rows() => Verdict::Proved,
        Some(_) => Verdict::Refuted,
        None => Verdict::Unknown,
    }
}

/// Whether the vector lies in the range of a matrix: the residual of the best approximation is zero to
/// rounding.
pub(super) fn in_range(a: &Matrix, b: &[f64]) -> Verdict {
    let x = a.pseudo_solve(b);
    let r: Vec<f64> = a.mul_vec(&x).iter().zip(b).map(|(p, q)| p - q).collect();
    let size = norm(b) + a.max_abs() * norm(&x);
    if norm(&r) <= 1e-12 * size {
        Verdict::Proved
    } else if norm(&r) > MARGIN * size {
        Verdict::Refuted
    } else {
        Verdict::Unknown
    }
}

/// Whether an acceleration satisfies N_b a + γ_b = 0, N_u a + γ_u ≥ 0 (Assumptions 1, 3, 4 of 000): finds the
/// one with the largest margin at all contacts.
pub(super) fn admissible_set(p: &Normals) -> AdmissibleSet {
    let minus: Vec<f64> = p.joint_bias.iter().map(|x| -x).collect();
    let (start, free) = if minus.is_empty() {
        (vec![0.0; p.contacts.cols()], Matrix::identity(p.contacts.cols()))
    } else {
        (p.joints.pseudo_solve(&minus), p.joints.row_space().null_basis)
    };
    let gap: Vec<f64> = p.joints.mul_vec(&start).iter().zip(&minus).map(|(a, b)| a - b).collect();
    if norm(&gap) > MARGIN * (norm(&minus) + p.joints.max_abs() * norm(&start)) {
        // The part of γ_b outside of the range of N_b is its own witness.
        return AdmissibleSet::Empty(
            gap.iter().map(|x| -x).chain(p.contact_bias.iter().map(|_| 0.0)).collect(),
        );
    }
    let m = p.contact_bias.len();
    if m == 0 {
        return AdmissibleSet::Interior(start);
    }
    let at_start: Vec<f64> =
        p.contacts.mul_vec(&start).iter().zip(&p.contact_bias).map(|(a, b)| a + b).collect();
    let length: Vec<f64> =
        (0..m).map(|i| norm(p.contacts.row(i))).map(|x| if x > 0.0 { x } else { 1.0 }).collect();
    let scaled: Vec<f64> = at_start.iter().zip(&length).map(|(a, l)| a / l).collect();
    let scale = if max_abs(&scaled) > 0.0 { max_abs(&scaled) } else { 1.0 };
    let along = p.contacts.mul(&free);
    let k = along.cols();
    // max t with (N_u Z s)ᵢ/‖nᵢ‖ + (γ)ᵢ/(‖nᵢ‖ scale) ≥ t and t ≤ 1, in units of the scale.
    let g = Matrix::from_fn(m + 1, k + 1, |i, j| match (i < m, j < k) {
        (true, true) => along[(i, j)] / length[i],
        (true, false) | (false, false) => -1.0,
        (false, true) => 0.0,
    });
    let h: Vec<f64> = scaled.iter().map(|x| -x / scale).chain([-1.0]).collect();
    let mut cost = vec![0.0; k];
    cost.push(-1.0);
    if let Lp::Optimal { point, .. } = linear_program(&cost, &g, &h) {
        let step: Vec<f64> = point[..k].iter().map(|s| s * scale).collect();
        let a: Vec<f64> = start.iter().zip(free.mul_vec(&step)).map(|(x, y)| x + y).collect();
        let size = scale + norm(&a);
        let margin = (0..m)
            .map(|i| (dot(p.contacts.row(i), &a) + p.contact_bias[i]) / length[i])
            .fold(f64::INFINITY, f64::min);
        // The joints hold to rounding only; moving onto them exactly must not use up the margin.
        let gap: Vec<f64> = p.joints.mul_vec(&a).iter().zip(&minus).map(|(a, b)| a - b).collect();
        let smallest = p.joints.singular_values().last().copied().unwrap_or(f64::INFINITY);
        if margin > MARGIN * size && norm(&gap) < 1e-3 * margin * smallest {
            return AdmissibleSet::Interior(a);
        }
    }
    let rows = Matrix::from_fn(m, k, |i, j| along[(i, j)] / length[i]);
    match nearest_point(&rows, &h[..m], MARGIN) {
        Nearest::Infeasible(y) => {
            let contact: Vec<f64> = y.iter().zip(&length).map(|(y, l)| y / l).collect();
            let pull: Vec<f64> = p.contacts.tr_mul_vec(&contact).iter().map(|x| -x).collect();
            let joint = if p.joints.rows() == 0 { vec![] } else { p.joints.transpose().pseudo_solve(&pull) };
            let work = dot(&contact, &p.contact_bias) + dot(&joint, &p.joint_bias);
            let size: f64 = contact.iter().map(|x| x.abs()).sum::<f64>() * scale;
            if work < -1e-7 * size {
                AdmissibleSet::Empty(joint.into_iter().chain(contact).collect())
            } else {
                AdmissibleSet::Undecided
            }
        }
        Nearest::Point(_) | Nearest::Undecided => AdmissibleSet::Undecided,
    }
}

/// Facts that prove `claims` for a problem without friction and with positive definite mass: an admissible
/// acceleration where a solution is claimed, multipliers that rule one out where none is; where neither is
/// within reach of floating point, the exact answer to whether there is an admissible acceleration.
pub(super) fn evidence(d: &Dynamics, p: &Normals, set: &AdmissibleSet, claims: Claims) -> Option<Vec<Fact>> {
    let mut facts = vec![Fact::PositiveDefinite(MatrixOf::Mass)];
    match (set, claims.existence) {
        (AdmissibleSet::Interior(a), Some(true)) if independent(&p.joints) == Verdict::Proved => {
            if p.joints.rows() > 0 {
                facts.push(Fact::Rank(MatrixOf::Gradients(Kind::Bilateral), p.joints.rows()));
            }
            if p.contacts.rows() == 0 {
                return Some(facts);
            }
            // Rounding at a zero would break a joint.
            let top = max_abs(a);
            let fact =
                Fact::Reachable(a.iter().map(|x| if x.abs() > 1e-14 * top { *x } else { 0.0 }).collect());
            if verify::fact(d, &fact) {
                facts.push(fact);
                return Some(facts);
            }
        }
        (AdmissibleSet::Empty(multipliers), Some(false)) => {
            let exact = in_order(d, multipliers);
            if let Some(fact) =
                whole_multiples(&exact).map(Fact::Unreachable).find(|fact| verify::fact(d, fact))
            {
                return Some(vec![fact]);
            }
        }
        _ => {}
    }
    let fact = Fact::Admissible(claims.existence?);
    if !verify::fact(d, &fact) {
        return None;
    }
    Some(if claims.existence == Some(true) {
        vec![Fact::PositiveDefinite(MatrixOf::Mass), fact]
    } else {
        vec![fact]
    })
}

/// The exact list of all modes as a fact, where it is short enough and agrees.
pub(super) fn all_modes(d: &Dynamics, claims: Claims) -> Option<Vec<Fact>> {
    let modes = d.laws.iter().filter(|law| !law.is_bilateral() || law.mu() > 0.0).count();
    if modes > EXACT_MAX {
        return None;
    }
    let fact = Fact::AllModes(claims);
    verify::fact(d, &fact).then(|| vec![fact])
}

/// Multipliers of joints and contacts in the order of the problem.
fn in_order(d: &Dynamics, multipliers: &[f64]) -> Vec<f64> {
    let joints = d.laws.iter().filter(|law| law.is_bilateral()).count();
    let (mut b, mut u) = (multipliers[..joints].iter(), multipliers[joints..].iter());
    d.laws
        .iter()
        .map(|law| if law.is_bilateral() { b.next() } else { u.next() }.copied().unwrap_or(0.0))
        .collect()
}

/// The vector itself, then multiples of it with all entries rounded to whole numbers: where the data are
/// short decimals, one of those satisfies the equations exactly.
fn whole_multiples(x: &[f64]) -> impl Iterator<Item = Vec<f64>> {
    let top = max_abs(x);
    let x: Vec<f64> = x.iter().map(|v| if v.abs() > 1e-9 * top { *v } else { 0.0 }).collect();
    let unit = x.iter().map(|v| v.abs()).filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
    let whole = (1..=60u32).filter_map({
        let x = x.clone();
        move |k| {
            let scaled: Vec<f64> = x.iter().map(|v| v / unit * f64::from(k)).collect();
            let close = scaled.iter().all(|v| (v - v.round()).abs() < 1e-6 * (1.0 + v.abs()));
            close.then(|| scaled.iter().map(|v| v.round()).collect())
        }
    });
    std::iter::once(x).chain(whole)
}
