//! Problems side by side.

use delassus_solve::linalg::Matrix;
use delassus_solve::problem::Dynamics;

/// Two problems that have nothing to do with each other.
pub fn joined(p: &Dynamics, q: &Dynamics) -> Dynamics {
    let diagonal = |a: &Matrix, b: &Matrix| {
        let (rows, cols) = (a.rows(), a.cols());
        Matrix::from_fn(rows + b.rows(), cols + b.cols(), |i, j| match (i < rows, j < cols) {
            (true, true) => a[(i, j)],
            (false, false) => b[(i - rows, j - cols)],
            _ => 0.0,
        })
    };
    Dynamics::new(
        diagonal(&p.mass, &q.mass),
        [&p.force[..], &q.force].concat(),
        diagonal(&p.jacobian, &q.jacobian),
        [&p.bias[..], &q.bias].concat(),
        [&p.laws[..], &q.laws].concat(),
    )
    .unwrap()
}
