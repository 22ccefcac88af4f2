//! Free velocities that are zero but for rounding.

use delassus_solve::analysis::analyze;
use delassus_solve::lcp::Verdict;
use delassus_solve::linalg::Matrix;
use delassus_solve::modes::EnumerateOptions;
use delassus_solve::problem::{Dynamics, Law, Slip};

#[test]
fn a_free_velocity_of_rounding_alone_is_zero() {
    // −M⁻¹F = (2, 1), so that u = −1 + 1 = 0: open without force, and the only solution.
    let d = Dynamics::new(
        Matrix::from_rows(&[[1.0, -2.0], [-2.0, 5.0]]),
        vec![0.0, -1.0],
        Matrix::from_rows(&[[0.0, -1.0], [0.0, 0.0]]),
        vec![1.0, 0.0],
        vec![Law::Sliding { mu: 1.0, slip: Slip::Plane(-1.0) }],
    )
    .unwrap();
    let a = analyze(&d, &EnumerateOptions::default());
    assert_eq!(a.existence, Verdict::Proved);
    assert_eq!(a.forces_unique, Verdict::Proved, "{:#?}", a.solutions.components);
}
