//! What is true of contacts of every kind, at rest in space too, where modes cannot be listed.
//!
//! ```text
//! {a : N_b a + γ_b = 0 , N_u a + γ_u ≥ 0} = ∅   ⇒   no solution
//! W − Σ ½μ (s e_n e_nᵀ + s⁻¹ W_tᵀ W_t) ≻ 0       ⇒   exactly one
//! ```
//!
//! N_b (p × n) and N_u (m × n) are the normals of joints and contacts; W = J M⁻¹ Jᵀ on the rows of contacts
//! and guides with the joints held, W_t its rows at the tangents of one of them, e_n the unit vector of its
//! normal, s > 0 one number each. The proofs stand beside `implication`. The second is about friction against
//! which normals and tangents are coupled weakly: a single contact whose normal and tangents are not coupled
//! needs μ² < 4 a/λ_max(H), a and H its inverse masses.

use super::decision::{MARGIN, NO_SOLUTION, ONE_ACCELERATION, WELL_POSED};
use super::p000::finding;
use crate::analysis::certificate::{Fact, Finding, MatrixOf, Outcome};
use crate::analysis::rest::equilibrium;
use crate::analysis::{is_free_of_rounding, verify};
use crate::linalg::Matrix;
use crate::problem::{Dynamics, Law, constrained_delassus};

/// The findings that hold of a problem; the others conclude nothing.
pub fn all_any_law(d: &Dynamics) -> Vec<Finding> {
    admissible(d).into_iter().chain(weak_friction(d)).collect()
}

/// No acceleration satisfies the constraints. Numbers that carry rounding could miss one by rounding alone.
fn admissible(d: &Dynamics) -> Option<Finding> {
    let fact = Fact::Admissible(false);
    if d.bias.iter().all(|b| *b == 0.0) || !is_free_of_rounding(d) || !verify::fact(d, &fact) {
        return None;
    }
    let meaning = "no acceleration satisfies the constraints, whatever friction does";
    Some(finding("admissible", d, Outcome::Holds, NO_SOLUTION, vec![fact], meaning))
}

/// Forces without friction hold everything at rest.
pub(super) fn rest(d: &Dynamics) -> Option<Finding> {
    let facts = vec![Fact::PositiveDefinite(MatrixOf::Mass), Fact::Equilibrium(equilibrium(d)?)];
    let meaning = "forces without friction hold everything at rest: no other acceleration is possible";
    Some(finding("rest", d, Outcome::Holds, ONE_ACCELERATION, facts, meaning))
}

/// Friction is weak: one solution.
fn weak_friction(d: &Dynamics) -> Option<Finding> {
    let offsets = d.offsets();
    let rows = |joints: bool| -> Vec<usize> {
        let of = |k: &usize| (d.laws[*k] == Law::Bilateral) == joints;
        (0..d.laws.len()).filter(of).flat_map(|k| offsets[k]..offsets[k + 1]).collect()
    };
    let (joints, others) = (rows(true), rows(false));
    let reduced = d.reduce()?;
    if others.is_empty() || others.len() > super::MAX_SIZE || d.mass.asymmetry() != 0.0 {
        return None;
    }
    let w = constrained_delassus(&reduced.delassus, &others, &joints);
    let place = |row: usize| others.iter().position(|r| *r == row).unwrap_or(0);
    // √(a λ_max(H)) is where both sides of the condition on a single contact have the same room.
    let groups = |k: usize| {
        let (first, end) = (offsets[k], offsets[k + 1]);
        let split = end.min(first + 3);
        [first + 1..split, split..end]
    };
    let weight = |k: usize, g: usize| {
        let tangents: Vec<usize> = groups(k)[g].clone().map(place).collect();
        let (n, block) = (place(offsets[k]), w.select(&tangents, &tangents));
        let s = (w[(n, n)] * block.symmetric_eigenvalues().last().copied().unwrap_or(0.0)).sqrt();
        if s.is_finite() && s > 0.0 { s } else { 1.0 }
    };
    let contact = |k: usize| d.laws[k] != Law::Bilateral;
    let all = (0..d.laws.len()).flat_map(|k| [0, 1].map(|g| if contact(k) { weight(k, g) } else { 1.0 }));
    let weights: Vec<f64> = all.collect();
    let mut rest = w.clone();
    for k in (0..d.laws.len()).filter(|&k| contact(k)) {
        for (g, rows) in groups(k).into_iter().enumerate() {
            let (s, half) = (weights[2 * k + g], 0.5 * d.laws[k].coefficients()[g]);
            if rows.is_empty() {
                continue;
            }
            let tangents = w.select_rows(&rows.map(place).collect::<Vec<_>>());
            let square = tangents.transpose().mul(&tangents);
            let n = place(offsets[k]);
            rest = Matrix::from_fn(rest.rows(), rest.cols(), |i, j| {
                let normal = if (i, j) == (n, n) { half * s } else { 0.0 };
                rest[(i, j)] - half / s * square[(i, j)] - normal
            });
        }
    }
    // Relative to the diagonal of W, so that units do not count.
    let clear = Matrix::from_fn(rest.rows(), rest.cols(), |i, j| {
        rest[(i, j)] - if i == j { MARGIN * w[(i, i)] } else { 0.0 }
    });
    let facts = vec![Fact::PositiveDefinite(MatrixOf::Mass), Fact::WeakFriction(weights)];
    let meaning = "friction is weak against the normals: there is exactly one solution, whatever the load";
    (clear.is_positive_definite() && facts.iter().all(|fact| verify::fact(d, fact)))
        .then(|| finding("weak", d, Outcome::Holds, WELL_POSED, facts, meaning))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Claims;

    /// A point of mass m on a plane at rest in space, pushed along it.
    fn point(mu: f64, bias: f64) -> Dynamics {
        let law = vec![Law::Coulomb { mu }];
        let rows = Matrix::from_rows(&[[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
        let force = vec![-0.25, 0.0, 1.0];
        Dynamics::new(Matrix::diagonal(&[2.0; 3]), force, rows, vec![bias, 0.0, 0.0], law).unwrap()
    }

    fn claims(d: &Dynamics) -> Vec<(&'static str, Claims)> {
        let found = all_any_law(d);
        assert!(found.iter().all(|f| f.certificate.as_ref().unwrap().verify()));
        found.iter().map(|f| (f.id, f.claims)).collect()
    }

    #[test]
    fn a_point_on_a_plane_has_one_solution_up_to_the_bound() {
        // a = 1/m, H = I/m: with s = 1/m tangents and normal ask for μ < 2.
        assert_eq!(claims(&point(1.99, 0.0)), [("weak", WELL_POSED)]);
        assert_eq!(claims(&point(2.01, 0.0)), []);
    }

    #[test]
    fn one_contact_with_three_solutions_is_not_called_unique() {
        // Below its jamming value 1.112, in space at rest.
        let mass = Matrix::from_rows(&[[3.0, 2.0, -1.0], [2.0, 4.0, -3.0], [-1.0, -3.0, 6.0]]);
        let rows = Matrix::from_rows(&[[2.0, 2.0, -2.0], [0.0, -1.0, -2.0], [-2.0, -2.0, 1.0]]);
        let law = vec![Law::Coulomb { mu: 1.0 }];
        let d = Dynamics::new(mass, vec![2.0, 4.0, 0.0], rows, vec![0.0; 3], law).unwrap();
        assert_eq!(claims(&d), []);
    }

    #[test]
    fn walls_that_close_on_a_point_leave_no_acceleration() {
        let rows: [[f64; 3]; 6] = [
            [0.0, 0.0, 1.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
            [0.0, 0.0, -1.0],
            [1.0, 0.0, 0.0],
            [0.0, 1.0, 0.0],
        ];
        let walls = |bias: f64| {
            let bias = vec![bias, 0.0, 0.0, bias, 0.0, 0.0];
            let laws = vec![Law::Coulomb { mu: 0.5 }; 2];
            Dynamics::new(Matrix::identity(3), vec![0.0; 3], Matrix::from_rows(&rows), bias, laws).unwrap()
        };
        assert_eq!(claims(&walls(-2.0)), [("admissible", NO_SOLUTION)]);
        assert_eq!(claims(&walls(2.0)), []);
        // Two thirds carry rounding: then a miss could be rounding.
        assert_eq!(claims(&walls(-2.0 / 3.0)), []);
    }
}
