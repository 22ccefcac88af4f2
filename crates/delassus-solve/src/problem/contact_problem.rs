//! Frictional contact problems with sparse data, as files hold them.
//!
//! Local: u = W r + q. Global: M v = f + H r, u = Hᵀ v + b, from which W = Hᵀ M⁻¹ H and q = Hᵀ M⁻¹ f + b.
//!
//! W is m × m, m the rows of all laws; M is ndof × ndof, H is ndof × m and maps impulses to generalized
//! impulses. M is block diagonal up to an order of its rows (one block per body, or per articulated body),
//! and each block is inverted by itself, so that W is as sparse as contacts share bodies.

use super::delassus_assembly::Elimination;
use super::law::Law;
use super::operator::MatrixFree;
use super::{InvalidProblem, check_finite, check_laws, check_size};
use crate::linalg::Sparse;

/// A contact problem that owns its data.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactProblem {
    /// One law per constraint, in the order of the rows.
    pub laws: Vec<Law>,
    /// The equations that the velocities obey.
    pub form: Form,
}

/// The equations between impulses r and velocities u.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// u = W r + q.
    Local {
        /// W, m × m.
        delassus: Sparse,
        /// q.
        free_velocity: Vec<f64>,
    },
    /// M v = f + H r, u = Hᵀ v + b.
    Global {
        /// M, ndof × ndof.
        mass: Sparse,
        /// H, ndof × m: the transposed Jacobian.
        jacobian_transposed: Sparse,
        /// f.
        force: Vec<f64>,
        /// b.
        bias: Vec<f64>,
    },
}

impl ContactProblem {
    /// The problem of these parts, checked: sizes agree, numbers are finite, friction is not negative.
    pub fn new(laws: Vec<Law>, form: Form) -> Result<Self, InvalidProblem> {
        let problem = ContactProblem { laws, form };
        problem.check()?;
        Ok(problem)
    }

    /// Whether sizes agree, numbers are finite, and friction is not negative.
    pub(crate) fn check(&self) -> Result<(), InvalidProblem> {
        check_laws(&self.laws)?;
        let m = self.laws.iter().map(Law::dim).sum();
        match &self.form {
            Form::Local { delassus, free_velocity } => {
                check_size("rows of the Delassus matrix W", m, delassus.rows())?;
                check_size("columns of the Delassus matrix W", m, delassus.cols())?;
                check_size("entries of the free velocity q", m, free_velocity.len())?;
                check_finite("the Delassus matrix W", delassus.values())?;
                check_finite("the free velocity q", free_velocity)
            }
            Form::Global { mass, jacobian_transposed, force, bias } => {
                let n = mass.rows();
                check_size("columns of the mass matrix M", n, mass.cols())?;
                check_size("rows of the matrix H", n, jacobian_transposed.rows())?;
                check_size("columns of the matrix H", m, jacobian_transposed.cols())?;
                check_size("entries of the force f", n, force.len())?;
                check_size("entries of the velocity b", m, bias.len())?;
                check_finite("the mass matrix M", mass.values())?;
                check_finite("the matrix H", jacobian_transposed.values())?;
                check_finite("the force f", force)?;
                check_finite("the velocity b", bias)
            }
        }
    }

    /// Number of rows m of all laws together.
    pub fn rows(&self) -> usize {
        match &self.form {
            Form::Local { free_velocity, .. } => free_velocity.len(),
            Form::Global { bias, .. } => bias.len(),
        }
    }

    /// W and q of the local form. W is symmetric to the last bit where M is.
    pub fn local(&self) -> Result<(Sparse, Vec<f64>), InvalidProblem> {
        match &self.form {
            Form::Local { delassus, free_velocity } => Ok((delassus.clone(), free_velocity.clone())),
            Form::Global { mass, jacobian_transposed, force, bias } => {
                let mut eliminated = Elimination::default();
                eliminated.renew(mass, jacobian_transposed, force, bias)?;
                Ok((eliminated.delassus, eliminated.free_velocity))
            }
        }
    }

    /// W as a product that is never formed, and q; `None` in the local form, which has W already.
    pub fn matrix_free(&self) -> Result<Option<(MatrixFree, Vec<f64>)>, InvalidProblem> {
        let Form::Global { mass, jacobian_transposed, force, bias } = &self.form else { return Ok(None) };
        let w = MatrixFree::new(mass, jacobian_transposed)?;
        let q = w.free_velocity(force, bias);
        check_finite("the free velocity Hᵀ M⁻¹ f + b", &q)?;
        Ok(Some((w, q)))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::linalg::Matrix;

    /// A global problem from dense data.
    pub fn dense_global(
        mass: &Matrix,
        h: &Matrix,
        force: &[f64],
        bias: &[f64],
        laws: Vec<Law>,
    ) -> Result<ContactProblem, InvalidProblem> {
        let form = Form::Global {
            mass: Sparse::from_dense(mass),
            jacobian_transposed: Sparse::from_dense(h),
            force: force.to_vec(),
            bias: bias.to_vec(),
        };
        ContactProblem::new(laws, form)
    }

    /// Masses with 2 × 2 blocks in a shuffled order. The couplings are at most 0.9 of what is positive
    /// definite, which keeps the condition number below 200: twelve digits are left of a solve.
    pub fn shuffled_mass() -> impl Strategy<Value = Matrix> {
        let blocks = prop::collection::vec((0.5f64..4.0, 0.5f64..4.0, -0.9f64..0.9), 3);
        let order = Just((0usize..6).collect::<Vec<_>>()).prop_shuffle();
        (blocks, order).prop_map(|(blocks, order)| {
            let mut mass = Matrix::zeros(6, 6);
            for (b, &(x, y, c)) in blocks.iter().enumerate() {
                let (i, j) = (order[2 * b], order[2 * b + 1]);
                mass[(i, i)] = x;
                mass[(j, j)] = y;
                mass[(i, j)] = c * (x * y).sqrt();
                mass[(j, i)] = mass[(i, j)];
            }
            mass
        })
    }

    fn global(
        mass: &Matrix,
        h: &Matrix,
        force: &[f64],
        bias: &[f64],
    ) -> Result<ContactProblem, InvalidProblem> {
        dense_global(mass, h, force, bias, vec![Law::Unilateral; h.cols()])
    }

    #[test]
    fn two_balls_between_walls() {
        // Masses 2 and 4; contacts wall–1, 1–2, 2–wall along one line, and a third body that touches nothing.
        let mass = Matrix::diagonal(&[2.0, 4.0, 1.0]);
        let h = Matrix::from_rows(&[[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [0.0, 0.0, 0.0]]);
        let p = global(&mass, &h, &[2.0, -8.0, 5.0], &[0.5, 0.0, 0.0]).unwrap();
        let (w, q) = p.local().unwrap();
        let expected = Matrix::from_rows(&[[0.5, -0.5, 0.0], [-0.5, 0.75, -0.25], [0.0, -0.25, 0.25]]);
        assert_eq!(w.to_dense(), expected);
        assert_eq!(w.stored(), 7, "contacts without a common body are not coupled");
        assert_eq!(q, [1.5, -3.0, 2.0]);
    }

    #[test]
    fn bad_problems_are_refused() {
        let (mass, h) = (Matrix::identity(2), Matrix::identity(2));
        assert!(matches!(global(&mass, &h, &[0.0], &[0.0; 2]), Err(InvalidProblem::Size { .. })));
        let h3 = Matrix::identity(3);
        assert!(matches!(global(&mass, &h3, &[0.0; 2], &[0.0; 3]), Err(InvalidProblem::Size { .. })));
        let nan = global(&mass, &h, &[f64::NAN, 0.0], &[0.0; 2]);
        assert_eq!(nan, Err(InvalidProblem::NotFinite { what: "the force f", index: 0 }));
        let singular =
            global(&Matrix::from_rows(&[[1.0, 0.0], [0.0, 0.0]]), &h, &[0.0; 2], &[0.0; 2]).unwrap();
        assert_eq!(singular.local(), Err(InvalidProblem::SingularMass { row: 1, size: 1 }));
        let w = Sparse::zeros(5, 5);
        let rolling = Law::Rolling { mu: 0.5, rolling: -1.0 };
        let form = Form::Local { delassus: w, free_velocity: vec![0.0; 5] };
        assert_eq!(
            ContactProblem::new(vec![rolling], form),
            Err(InvalidProblem::Friction { constraint: 0, mu: -1.0 })
        );
    }

    proptest! {
        /// Against the dense product.
        #[test]
        fn agrees_with_dense_elimination(
            mass in shuffled_mass(),
            h in prop::collection::vec(prop_oneof![Just(0.0), -2.0f64..2.0], 24),
            v in prop::collection::vec(-3.0f64..3.0, 10),
        ) {
            let h = Matrix::from_vec(6, 4, h);
            let (w, q) = global(&mass, &h, &v[..6], &v[6..]).unwrap().local().unwrap();
            prop_assert!(w.is_symmetric());
            let x = mass.solve_matrix(&h).unwrap();
            let expected = h.transpose().mul(&x);
            for i in 0..4 {
                for j in 0..4 {
                    prop_assert!((w.get(i, j) - expected[(i, j)]).abs() <= 1e-12 * (1.0 + expected.max_abs()));
                }
            }
            let free = h.tr_mul_vec(&mass.solve(&v[..6]).unwrap());
            for i in 0..4 {
                prop_assert!((q[i] - free[i] - v[6 + i]).abs() <= 1e-12 * (1.0 + crate::linalg::max_abs(&free)));
            }
        }
    }
}
