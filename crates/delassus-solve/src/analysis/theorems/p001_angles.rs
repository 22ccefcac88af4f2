//! When the constrained Delassus matrix is positive definite: 001 §4.2.2 (Brogliato 2013) and Prop. 15.
//!
//! ```text
//! A_c > 0   ⇔   I > A^(-1/2) E A_b⁻¹ Eᵀ A^(-1/2)   (001 eq. 31)
//! ```
//!
//! A = ∇hᵀM⁻¹∇h (m × m) couples the contacts, A_b = ∇gᵀM⁻¹∇g (p × p) the joints, E = ∇hᵀM⁻¹∇g (m × p)
//! contacts with joints. The cosine of the kinetic angle θ between two constraints is, up to sign, their
//! entry of W over the roots of the diagonal (001 eq. 9). Where A_c > 0, joints being independent, there is
//! one solution for every load.

use super::decision::{MARGIN, WELL_POSED};
use super::frictionless::{Frictionless, ORTHOGONAL, ask, certified, compared};
use super::p001::{blocked, dependent, with_independent_joints};
use crate::analysis::certificate::{Claims, Finding, Kind, Outcome};
use crate::linalg::Matrix;
use crate::problem::{Dynamics, kinetic_angle, reduced_coordinates};

/// 001 Prop. 7: one contact and one joint. A_c = A sin²θ > 0 except where the kinetic angle θ is 0 or π
/// (corrected: the paper excludes only 0). Compares θ, which has to be positive, with π.
pub fn prop_001_7(d: &Dynamics) -> Finding {
    ask(d, "001.prop7", 1, 1, |s| {
        let id = "001.prop7";
        let not = |meaning| Finding::silent(id, Outcome::NotApplicable, meaning);
        let (&[u], &[b]) = (s.contacts.as_slice(), s.joints.as_slice()) else {
            return not("it speaks of one contact and one joint");
        };
        let w = &s.reduced.delassus;
        let Some(theta) = kinetic_angle(w[(u, u)], w[(u, b)], w[(b, b)]) else {
            return not("a gradient vanishes");
        };
        definite(s, id, theta, std::f64::consts::PI, "the joint leaves the contact free to move")
    })
}

/// 001 Prop. 8: independent joints. A_c > 0 only if no ∇h_i is colinear with a ∇g_j. Compares the largest
/// cosine between a contact and a joint with 1.
pub fn prop_001_8(d: &Dynamics) -> Finding {
    joints_and_contacts(d, "001.prop8", |s, id| {
        if s.contacts.iter().any(|&i| s.reduced.delassus[(i, i)] <= 0.0) {
            return Finding::silent(id, Outcome::NotApplicable, "a contact without gradient has no angle");
        }
        let cosines = s.cosines(&s.contacts, &s.joints);
        let (worst, value) = largest((0..s.m()).map(|i| max_abs_row(&cosines, i)));
        necessary(
            s,
            id,
            worst,
            value,
            "no contact is colinear with a joint",
            "a contact is colinear with a joint, which decides its motion",
        )
    })
}

/// 001 Theorem 1: contacts orthogonal to each other, joints orthogonal to each other, in the metric M⁻¹. A_c
/// > 0 if and only if I > [Σᵢ cos θ_ji cos θ_ki]. Compares the largest eigenvalue of that matrix with 1.
pub fn theorem_001_1(d: &Dynamics) -> Finding {
    orthogonal_families(d, "001.thm1", |s, id, sums| {
        let value = sums.symmetric_eigenvalues().last().copied().unwrap_or(0.0);
        definite(s, id, value, 1.0, "the joints leave every contact free to move")
    })
}

/// 001 Corollary 2: under the conditions of Theorem 1, A_c > 0 only if Σᵢ cos²θ_ji < 1 for every contact j.
/// Compares the largest sum with 1.
pub fn corollary_001_2(d: &Dynamics) -> Finding {
    orthogonal_families(d, "001.cor2", |s, id, sums| {
        let (worst, value) = largest((0..s.m()).map(|j| sums[(j, j)]));
        necessary(
            s,
            id,
            worst,
            value,
            "no contact is taken over by the joints together",
            "the joints together decide the motion at a contact",
        )
    })
}

/// 001 Corollary 3: under the conditions of Theorem 1, A_c > 0 if I − [Σ cos cos] is diagonally dominant.
/// Compares the largest row sum Σ_k |Σᵢ cos θ_ji cos θ_ki| with 1; where it is not less, nothing follows.
pub fn corollary_001_3(d: &Dynamics) -> Finding {
    orthogonal_families(d, "001.cor3", |s, id, sums| {
        let (_, value) = largest((0..s.m()).map(|j| sums.row(j).iter().map(|x| x.abs()).sum()));
        sufficient(s, id, value, 1.0, "the couplings with the joints are dominated: one solution")
    })
}

/// 001 Prop. 9: A_c > 0 if I > D_h^(-1/2) E D_g⁻¹ Eᵀ D_h^(-1/2) and the couplings among contacts and among
/// joints are small enough, D_h and D_g the diagonals of A and A_b. "Small enough" is made a number: with O
/// the difference of the two sides of (37), in the spectral norm, λ_max + ‖O‖ < 1 is enough. Compares that
/// sum with 1. (Assumption 3 of the paper asks for couplings with zero diagonal in A^(-1/2) and A_b⁻¹, which
/// is true to first order only, and not needed.)
pub fn prop_001_9(d: &Dynamics) -> Finding {
    independent_families(d, "001.prop9", |s, id| {
        let (a, a_b, e) = blocks(s);
        let bare = normalized(&e, &inverse_root(&diagonal(&a)), &inverse_root(&diagonal(&a_b)));
        let full = normalized(&e, &inverse_root(&a), &inverse_root(&a_b));
        let change = Matrix::from_fn(s.m(), s.m(), |i, j| full[(i, j)] - bare[(i, j)]);
        let top = bare.symmetric_eigenvalues().last().copied().unwrap_or(0.0);
        let value = top + change.singular_values().first().copied().unwrap_or(0.0);
        sufficient(
            s,
            id,
            value,
            1.0,
            "contacts and joints are weakly coupled among themselves, and the kinetic angles leave room",
        )
    })
}

/// 001 Corollary 4: E = εI, one joint for each contact. A_c > 0 for small enough ε: ε² < λ_min(A) λ_min(A_b)
/// is enough. Compares ε with the root of that product.
pub fn corollary_001_4(d: &Dynamics) -> Finding {
    independent_families(d, "001.cor4", |s, id| {
        let (a, a_b, e) = blocks(s);
        let epsilon = e[(0, 0)];
        let size = (a.max_abs() * a_b.max_abs()).sqrt();
        let off = |i: usize, j: usize| if i == j { e[(i, j)] - epsilon } else { e[(i, j)] };
        let matched =
            s.m() == s.p() && (0..s.m()).all(|i| (0..s.p()).all(|j| off(i, j).abs() <= ORTHOGONAL * size));
        if !matched {
            return Finding::silent(
                id,
                Outcome::NotApplicable,
                "contacts and joints are not coupled in pairs of equal strength",
            );
        }
        let least = |x: &Matrix| x.symmetric_eigenvalues().first().copied().unwrap_or(0.0).max(0.0);
        let bound = (least(&a) * least(&a_b)).sqrt();
        sufficient(s, id, epsilon.abs(), bound, "contacts and joints are weakly coupled")
    })
}

/// 001 Prop. 10: independent joints. A_c > 0 if and only if the vectors M_c^(-1/2)∇h_i are independent.
/// Compares the smallest eigenvalue of W on all constraints, scaled to unit diagonal, with 0: it is positive
/// in the same cases.
pub fn prop_001_10(d: &Dynamics) -> Finding {
    with_independent_joints(d, "001.prop10", |s, id| {
        let all: Vec<usize> = (0..d.laws.len()).collect();
        let (_, value) = s.spectrum(&all);
        definite(s, id, value, 0.0, "the contacts are independent in the motions that the joints leave")
    })
}

/// 001 Corollary 5: independent joints. A_c > 0 only if m + p ≤ n. Compares m + p with n.
pub fn corollary_001_5(d: &Dynamics) -> Finding {
    with_independent_joints(d, "001.cor5", |s, id| {
        let (value, bound) = ((s.m() + s.p()) as f64, s.n() as f64);
        if value <= bound {
            return compared(
                id,
                Outcome::Holds,
                value,
                bound,
                "there are enough coordinates for all constraints",
            );
        }
        dependent(
            s,
            compared(id, Outcome::Fails, value, bound, "more constraints than coordinates: A_c is singular"),
        )
    })
}

/// 001 Prop. 15: in reduced coordinates A_r > 0 if and only if ∇h_{n−p} + ∇Ω ∇h_p, (n−p) × m, has rank m
/// (corrected: the paper says n − p). Compares the rank with m.
pub fn prop_001_15(d: &Dynamics) -> Finding {
    joints_and_contacts(d, "001.prop15", |s, id| {
        let Some(r) = reduced_coordinates(d) else {
            return Finding::silent(id, Outcome::Undecided, "the joints cannot be solved for coordinates");
        };
        let rank = r.dynamics.jacobian.row_space_with(MARGIN).rank;
        definite(s, id, rank as f64, s.m() as f64, "the contacts are independent in the reduced coordinates")
    })
}

fn joints_and_contacts(
    d: &Dynamics,
    id: &'static str,
    then: impl FnOnce(&Frictionless, &'static str) -> Finding,
) -> Finding {
    ask(d, id, 1, 1, |_| with_independent_joints(d, id, then))
}

/// Assumptions 1 and 2: contacts independent, joints independent.
fn independent_families(
    d: &Dynamics,
    id: &'static str,
    then: impl FnOnce(&Frictionless, &'static str) -> Finding,
) -> Finding {
    joints_and_contacts(d, id, |s, id| match s.rank(Kind::Unilateral) {
        Some(r) if r == s.m() => then(s, id),
        Some(_) => Finding::silent(id, Outcome::NotApplicable, "the contacts are dependent"),
        None => Finding::silent(id, Outcome::Undecided, "the contacts are nearly dependent"),
    })
}

/// The conditions of Theorem 1, with the matrix C Cᵀ of sums of products of cosines.
fn orthogonal_families(
    d: &Dynamics,
    id: &'static str,
    then: impl FnOnce(&Frictionless, &'static str, &Matrix) -> Finding,
) -> Finding {
    independent_families(d, id, |s, id| {
        let off = |rows: &[usize]| {
            let c = s.cosines(rows, rows);
            (0..rows.len())
                .flat_map(|i| (0..i).map(move |j| (i, j)))
                .map(|(i, j)| c[(i, j)].abs())
                .fold(0.0, f64::max)
        };
        let worst = off(&s.contacts).max(off(&s.joints));
        if worst > MARGIN {
            return Finding::silent(
                id,
                Outcome::NotApplicable,
                "contacts, or joints, are not orthogonal to each other",
            );
        }
        if worst > ORTHOGONAL {
            return Finding::silent(
                id,
                Outcome::Undecided,
                "contacts or joints are too close to orthogonal to call",
            );
        }
        let c = s.cosines(&s.contacts, &s.joints);
        then(s, id, &c.mul(&c.transpose()))
    })
}

/// An equivalence: the outcome is that of A_c > 0.
fn definite(s: &Frictionless, id: &'static str, value: f64, bound: f64, meaning: &str) -> Finding {
    match s.contacts_definite() {
        Outcome::Holds => {
            let finding =
                compared(id, Outcome::Holds, value, bound, format!("{meaning}: one solution for every load"));
            certified(finding, s.dynamics, s.well_posed(), WELL_POSED)
        }
        Outcome::Fails => dependent(
            s,
            compared(id, Outcome::Fails, value, bound, "contacts and joints are dependent: A_c is singular"),
        ),
        outcome => compared(id, outcome, value, bound, "contacts and joints are nearly dependent"),
    }
}

/// A condition that is enough for A_c > 0.
fn sufficient(s: &Frictionless, id: &'static str, value: f64, bound: f64, meaning: &str) -> Finding {
    let clear = MARGIN * bound.abs().max(value.abs());
    let definite = s.contacts_definite();
    if value > bound + clear || definite == Outcome::Fails {
        return compared(id, Outcome::Fails, value, bound, "not met; nothing follows");
    }
    if value < bound - clear && definite == Outcome::Holds {
        let finding = compared(id, Outcome::Holds, value, bound, meaning);
        return certified(finding, s.dynamics, s.well_posed(), WELL_POSED);
    }
    compared(id, Outcome::Undecided, value, bound, "too close to call")
}

/// A condition "value < 1" without which A_c is singular, because contact `worst` cannot move.
fn necessary(s: &Frictionless, id: &'static str, worst: usize, value: f64, met: &str, not: &str) -> Finding {
    if value < 1.0 - MARGIN {
        return compared(id, Outcome::Holds, value, 1.0, met);
    }
    let fact = blocked(s, worst);
    if s.exactly(&fact) {
        return certified(
            compared(id, Outcome::Fails, value, 1.0, not),
            s.dynamics,
            vec![fact],
            Claims::default(),
        );
    }
    compared(id, Outcome::Undecided, value, 1.0, "too close to call")
}

fn largest(values: impl Iterator<Item = f64>) -> (usize, f64) {
    values.enumerate().fold((0, f64::NEG_INFINITY), |x, y| if y.1 > x.1 { y } else { x })
}

fn max_abs_row(a: &Matrix, i: usize) -> f64 {
    a.row(i).iter().fold(0.0, |m, x| x.abs().max(m))
}

/// A, A_b and E.
fn blocks(s: &Frictionless) -> (Matrix, Matrix, Matrix) {
    (s.w(&s.contacts, &s.contacts), s.w(&s.joints, &s.joints), s.w(&s.contacts, &s.joints))
}

fn diagonal(a: &Matrix) -> Matrix {
    Matrix::from_fn(a.rows(), a.cols(), |i, j| if i == j { a[(i, j)] } else { 0.0 })
}

/// R E S² Eᵀ R for symmetric R = A^(-1/2), S = A_b^(-1/2).
fn normalized(e: &Matrix, r: &Matrix, s: &Matrix) -> Matrix {
    let half = r.mul(e).mul(s);
    half.mul(&half.transpose())
}

/// A^(-1/2) of a symmetric positive definite A: its singular vectors are its eigenvectors.
fn inverse_root(a: &Matrix) -> Matrix {
    let space = a.row_space();
    let u = &space.column_basis;
    let scaled = Matrix::from_fn(u.rows(), u.cols(), |i, j| u[(i, j)] / space.singular_values[j].sqrt());
    scaled.mul(&u.transpose())
}
