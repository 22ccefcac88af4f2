//! The lemmas of 002 (Lötstedt 1982) §5 on dependent constraints, as corrected.
//!
//! ```text
//! G₁ᵀM⁻¹Gλ + G₁ᵀb = 0,   0 ≤ λ₂ ⊥ G₂ᵀM⁻¹Gλ + G₂ᵀb = δ₂ ≥ 0   (002 eq. 5.2)
//! ```
//!
//! G = (G₁ G₂) are the gradients of joints and contacts as columns, here the rows of J; b = M⁻¹f = −M⁻¹F. The
//! terms of rotating gradients, γ, are absent from (5.2): they have to be zero, or compatible, γ ∈ R(Gᵀ),
//! which shifts b. Any number of constraints may depend linearly on others, as with a table on four legs.

use super::decision::{AdmissibleSet, MARGIN, NO_SOLUTION, ONE_ACCELERATION, WELL_POSED};
use super::frictionless::{Frictionless, ORTHOGONAL, ask, certified, compared};
use super::p001::distance_from_range;
use crate::analysis::certificate::{Fact, Finding, Kind, MatrixOf, Outcome};
use crate::contact::{DENSE_TOLERANCE, solve_any_law};
use crate::lcp::{Nearest, nearest_point};
use crate::linalg::{Matrix, max_abs, norm};
use crate::problem::{Dynamics, Status};

/// The results of all lemmas of 002 that apply to a problem.
pub fn all_002(d: &Dynamics) -> Vec<Finding> {
    let all: [fn(&Dynamics) -> Finding; 2] = [lemma_002_51, lemma_002_52];
    all.iter().map(|proposition| proposition(d)).filter(|f| f.outcome != Outcome::NotApplicable).collect()
}

/// 002 Lemma 5.1: nonnegative forces x of the rows of `gradients` can be replaced by x' ≥ 0 with the same sum
/// Σ xᵢ∇hᵢ whose positive entries belong to independent rows. `None` where an entry of x is negative.
///
/// Carathéodory's argument: as long as the rows that carry are dependent, Σ vᵢ∇hᵢ = 0, go along −v until one
/// of them carries nothing.
///
/// # Panics
/// If x has not one entry per row.
pub fn independent_forces(gradients: &Matrix, x: &[f64]) -> Option<Vec<f64>> {
    assert_eq!(gradients.rows(), x.len(), "one force per row");
    if x.iter().any(|&v| v.is_nan() || v < 0.0) {
        return None;
    }
    let mut x = x.to_vec();
    loop {
        let carrying: Vec<usize> = (0..x.len()).filter(|&i| x[i] > 0.0).collect();
        let length = |i: usize| norm(gradients.row(i));
        if let Some(&i) = carrying.iter().find(|&&i| length(i) == 0.0) {
            x[i] = 0.0;
            continue;
        }
        let columns = Matrix::from_fn(gradients.cols(), carrying.len(), |i, j| {
            gradients[(carrying[j], i)] / length(carrying[j])
        });
        let kernel = columns.row_space_with(MARGIN).null_basis;
        if carrying.is_empty() || kernel.cols() == 0 {
            return Some(x);
        }
        let v: Vec<f64> = (0..carrying.len()).map(|j| kernel[(j, 0)] / length(carrying[j])).collect();
        let small = 1e-12 * max_abs(&v);
        let sign = if v.iter().any(|&y| y > small) { 1.0 } else { -1.0 };
        let steps =
            (0..v.len()).filter(|&j| sign * v[j] > small).map(|j| (j, x[carrying[j]] / (sign * v[j])));
        let Some((stop, step)) = steps.min_by(|a, b| a.1.total_cmp(&b.1)) else { return Some(x) };
        for (j, &i) in carrying.iter().enumerate() {
            x[i] = (x[i] - step * sign * v[j]).max(0.0);
        }
        x[carrying[stop]] = 0.0;
    }
}

/// 002 Lemma 5.2, items 2 and 4: the solution λ₀ of least norm, from any solution λ. All solutions are λ¹ +
/// λ² with one λ¹ ∈ R(J) and λ² ∈ Ker Jᵀ, γᵀλ² = 0, such that contacts push: a polyhedron, whose point next
/// to the origin is one. (Corrected: the printed proof takes the shortest λ₂ first and λ₁ after, which is
/// another solution.) `None` where λ is not a set of frictionless forces, or rounding is in the way.
pub fn least_forces(d: &Dynamics, force: &[f64]) -> Option<Vec<f64>> {
    let s = Frictionless::of(d).ok()?;
    if force.len() != d.laws.len() {
        return None;
    }
    // γ as one more column, so that moving along Ker Jᵀ keeps complementarity where γ is not in R(J).
    let size = max_abs(&d.bias);
    let scale = if size > 0.0 { d.jacobian.max_abs() / size } else { 0.0 };
    let columns = Matrix::from_fn(d.laws.len(), s.n() + 1, |i, j| {
        if j < s.n() { d.jacobian[(i, j)] } else { d.bias[i] * scale }
    });
    let free = columns.transpose().row_space_with(MARGIN).null_basis;
    let along = free.mul_vec(&free.tr_mul_vec(force));
    let shared: Vec<f64> = force.iter().zip(&along).map(|(x, y)| x - y).collect();
    // A contact without force may have −ε after the projection, which no motion along Ker Jᵀ need repair.
    let zero = 1e-12 * max_abs(force);
    let bound = |x: f64| if x.abs() > zero { -x } else { 0.0 };
    let bounds: Vec<f64> = s.contacts.iter().map(|&i| bound(shared[i])).collect();
    match nearest_point(&free.select_rows(&s.contacts), &bounds, 1e-10) {
        Nearest::Point(t) => Some(free.mul_vec(&t).iter().zip(&shared).map(|(x, y)| x + y).collect()),
        Nearest::Infeasible(_) | Nearest::Undecided => None,
    }
}

/// 002 Lemma 5.1: forces of the contacts can be chosen so that only independent contacts carry. Compares the
/// number of contacts that carry, after that choice, with the rank of their gradients.
pub fn lemma_002_51(d: &Dynamics) -> Finding {
    ask(d, "002.lemma51", 0, 1, |s| {
        let id = "002.lemma51";
        let undecided = |meaning| Finding::silent(id, Outcome::Undecided, meaning);
        let Some(rank) = s.rank(Kind::Unilateral) else {
            return undecided("the contacts are nearly dependent");
        };
        if let AdmissibleSet::Empty(z) = s.admissible_set() {
            return nothing(s, id, z);
        }
        let Ok(problem) = s.reduced.problem(&d.laws) else { return undecided("no solution was found") };
        let solution = solve_any_law(&problem, DENSE_TOLERANCE);
        let x: Vec<f64> = s.contacts.iter().map(|&i| solution.impulse[i].max(0.0)).collect();
        let chosen = independent_forces(&d.jacobian.select_rows(&s.contacts), &x);
        let (Status::Solved, Some(chosen)) = (solution.status, chosen) else {
            return undecided("no solution was found");
        };
        let carrying = chosen.iter().filter(|&&x| x > 0.0).count();
        let outcome = if carrying <= rank { Outcome::Holds } else { Outcome::Undecided };
        let meaning = "as many contacts as are independent can carry everything";
        let facts = vec![s.rank_fact(Kind::Unilateral, rank)];
        let finding = compared(id, outcome, carrying as f64, rank as f64, meaning);
        if outcome == Outcome::Holds { certified(finding, d, facts, Default::default()) } else { finding }
    })
}

/// 002 Lemma 5.2: for zero or compatible γ a solution exists; 1. δ₂ and Gλ, and so the acceleration, are the
/// same for all solutions, and λ where G has full column rank; 2. so is the part of λ in R(Gᵀ); 4. one
/// solution has the least norm ([`least_forces`]). Corrected: in 3 and in the proof of 4, G₁λ₁ and G₂λ₂ are
/// not unique where joints and contacts share a direction. Compares the rank of G with its number of columns.
pub fn lemma_002_52(d: &Dynamics) -> Finding {
    ask(d, "002.lemma52", 0, 0, |s| {
        let id = "002.lemma52";
        let count = d.laws.len();
        let Some(rank) = s.rank(Kind::All) else {
            return Finding::silent(id, Outcome::Undecided, "the constraints are nearly dependent");
        };
        let found = |outcome, meaning: &str| compared(id, outcome, rank as f64, count as f64, meaning);
        if rank == count {
            let facts = vec![Fact::PositiveDefinite(MatrixOf::Mass), s.rank_fact(Kind::All, rank)];
            let meaning = "all constraints are independent: one solution";
            return certified(found(Outcome::Holds, meaning), d, facts, WELL_POSED);
        }
        let compatible = distance_from_range(&d.jacobian, &d.bias);
        if compatible > MARGIN {
            return match s.admissible_set() {
                AdmissibleSet::Empty(z) => nothing(s, id, z),
                _ => found(
                    Outcome::Fails,
                    "dependent constraints turn against each other, of which it does not speak",
                ),
            };
        }
        let meaning = "some constraints are redundant: the acceleration and the sum of all forces are unique, single forces need not be";
        match s.solvable(&s.admissible_set()) {
            Some(facts) => certified(found(Outcome::Holds, meaning), d, facts, ONE_ACCELERATION),
            None if compatible <= ORTHOGONAL => found(Outcome::Holds, "the constraints agree, to rounding"),
            None => found(Outcome::Undecided, "whether the constraints agree is too close to call"),
        }
    })
}

fn nothing(s: &Frictionless, id: &'static str, multipliers: Vec<f64>) -> Finding {
    let finding = Finding::silent(id, Outcome::Fails, "no acceleration satisfies all constraints");
    certified(finding, s.dynamics, vec![Fact::Unreachable(multipliers)], NO_SOLUTION)
}
