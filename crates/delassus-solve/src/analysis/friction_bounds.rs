//! Friction below which the sliding contact problem is known to have exactly one solution.
//!
//! ```text
//! max μ < σ_min(A_n) / σ_max(A_t)
//! ```
//!
//! A_n holds the normal couplings, A_t the couplings of normals with slip directions, other constraints
//! eliminated where the proposition requires it:
//!
//! | id | constraints | source |
//! |---|---|---|
//! | `000.prop9` | guides with friction | 000 eq. 38 |
//! | `000.prop11` | guides with friction, joints without | 000 Prop. 11 |
//! | `000.prop12` | contacts | 000 eq. 51 |
//! | `000.prop14` | contacts with friction, joints without | 000 eq. 64 |

use crate::lcp::couplings;
use crate::linalg::Matrix;
use crate::problem::{Law, SlidingKinds, row_offsets};

/// A bound on the friction coefficients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrictionBound {
    /// Which proposition.
    pub id: &'static str,
    /// The bound; infinite where normals and slip directions are not coupled.
    pub bound: f64,
}

/// The bounds that apply to a problem with these laws; none where a contact is at rest, or where the normal
/// couplings are singular.
pub fn friction_bounds(w: &Matrix, laws: &[Law]) -> Vec<FrictionBound> {
    let offsets = row_offsets(laws);
    let Some(SlidingKinds { joints, guides, contacts }) = SlidingKinds::of(laws) else { return vec![] };
    let bilateral: Vec<usize> = joints.iter().map(|&k| offsets[k]).collect();
    if !w.select(&bilateral, &bilateral).is_positive_definite() {
        return vec![];
    }
    let (id, of) = match (guides.is_empty(), contacts.is_empty(), joints.is_empty()) {
        (false, true, true) => ("000.prop9", &guides),
        (false, true, false) => ("000.prop11", &guides),
        (true, false, true) => ("000.prop12", &contacts),
        (true, false, false) => ("000.prop14", &contacts),
        _ => return vec![],
    };
    let (a_n, a_t) = couplings(w, laws, of, &bilateral);
    if !a_n.is_positive_definite() {
        return vec![];
    }
    let smallest = a_n.singular_values().last().copied().unwrap_or(0.0);
    let largest = a_t.singular_values().first().copied().unwrap_or(0.0);
    vec![FrictionBound { id, bound: if largest > 0.0 { smallest / largest } else { f64::INFINITY } }]
}
