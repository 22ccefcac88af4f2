//! The associated law as a convex program in the space of velocities, for what is left when all iterations on
//! W have failed.
//!
//! In the form of [`crate::contact::matrix_free::system`], with T = diag(1, μ, μ) and L the Lorentz cone,
//!
//! min ½‖y − L⁻¹ f‖²,  T (Gᵀ y + b) ∈ L for every contact,
//!
//! has the impulses r = T z as multipliers: y = L⁻¹ f + G T z. Where bodies are all but jammed there is
//! hardly a velocity inside of all cones, and impulses are larger than loads by five or six orders. W then
//! loses, in the products of such impulses, what decides; velocities do not. The program goes to `clarabel`,
//! whose status counts for nothing: its impulses are checked by their residual like any others.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SecondOrderConeT, SupportedConeT, ZeroConeT,
};

use super::contact_rows::NONE;
use super::system::System;
use crate::contact::cone::Cone;

/// The most contacts: some seconds.
pub(super) const MAX_CONTACTS: usize = 20_000;

/// What is added to the diagonal of the systems that are solved on the way: a little keeps more digits, more
/// keeps more pivots.
pub(super) const DIAGONAL_SHIFTS: [f64; 2] = [1e-12, 1e-8];

/// Writes the impulses, in the order of the contacts; false where a law is not associated or no program was
/// made.
pub(super) fn solve<const D: usize, const B: usize>(
    system: &System<D, B>,
    added: f64,
    seconds: f64,
    impulses: &mut Vec<[f64; D]>,
) -> bool {
    let (mut row, mut column, mut value) = (vec![], vec![], vec![]);
    let (mut right, mut cones): (Vec<f64>, Vec<SupportedConeT<f64>>) = (vec![], vec![]);
    for contact in &system.contacts {
        let (rows, mu) = match contact.cone {
            Cone::Free | Cone::Ray => (1, 1.0),
            Cone::Associated { mu, tangents } => (1 + tangents, mu),
            Cone::Coulomb { .. }
            | Cone::Rolling { .. }
            | Cone::AssociatedRolling { .. }
            | Cone::Spinning { .. }
            | Cone::AssociatedSpinning { .. } => return false,
        };
        cones.push(match contact.cone {
            Cone::Free => ZeroConeT(1),
            Cone::Ray => NonnegativeConeT(1),
            _ => SecondOrderConeT(rows),
        });
        for c in 0..rows.min(D) {
            let scale = if c == 0 { 1.0 } else { mu };
            for (g, &body) in contact.g.iter().zip(&contact.body).filter(|(_, body)| **body != NONE) {
                for k in 0..B {
                    if g[c][k] != 0.0 {
                        row.push(right.len());
                        column.push(body as usize * B + k);
                        value.push(-scale * g[c][k]);
                    }
                }
            }
            right.push(scale * contact.bias[c]);
        }
    }
    let n = B * system.free.len();
    let linear: Vec<f64> = system.free.iter().flatten().map(|x| -x).collect();
    let matrix = CscMatrix::new_from_triplets(right.len(), n, row, column, value);
    // It is to go on as long as it can: the residual decides what is enough.
    let settings = DefaultSettings {
        verbose: false,
        tol_gap_abs: 1e-15,
        tol_gap_rel: 1e-15,
        tol_feas: 1e-15,
        static_regularization_constant: added,
        time_limit: seconds,
        ..Default::default()
    };
    let program = DefaultSolver::new(&CscMatrix::identity(n), &linear, &matrix, &right, &cones, settings);
    let Ok(mut program) = program else { return false };
    program.solve();
    let mut at = program.solution.z.iter();
    impulses.clear();
    impulses.extend(system.contacts.iter().map(|contact| {
        let mut r = [0.0; D];
        for (c, (r, z)) in r.iter_mut().zip(at.by_ref().take(contact.cone.rows())).enumerate() {
            *r = match contact.cone {
                Cone::Associated { mu, .. } if c > 0 => mu * z,
                _ => *z,
            };
        }
        r
    }));
    impulses.iter().flatten().all(|x| x.is_finite())
}
