//! The contact problem before the mass is eliminated.
//!
//! M a + F = Jᵀ f,   u = J a + γ,   (f, u) in the laws.
//!
//! M ∈ R^{n×n} mass (symmetric, positive semidefinite), F ∈ R^n internal and external forces moved to the
//! left, a ∈ R^n acceleration, J ∈ R^{m×n} rows of all constraints (normal, tangents; one after the other),
//! γ ∈ R^m the terms d/dt(∇hᵀ)q̇ (000 eq. 4, 8, 16, 35; 001 eq. 6; 003 eq. 2–16).
//!
//! Where M is positive definite, a is eliminated: u = W f + q with W = J M⁻¹ Jᵀ, q = −J M⁻¹ F + γ
//! ([`Dynamics::reduce`]). Elsewhere the full system above is analyzed.

use super::contact_problem::{ContactProblem, Form};
use super::law::{Law, row_offsets};
use super::{ContactView, InvalidProblem, check_finite, check_laws, check_size};
use crate::linalg::{Matrix, Sparse};

/// Mass, forces, constraints and laws at one instant.
#[derive(Clone, Debug)]
pub struct Dynamics {
    /// M, n × n.
    pub mass: Matrix,
    /// F, n.
    pub force: Vec<f64>,
    /// J, m × n.
    pub jacobian: Matrix,
    /// γ, m.
    pub bias: Vec<f64>,
    /// One law per constraint, in the order of the rows of J.
    pub laws: Vec<Law>,
}

/// The contact problem that is left when the acceleration is eliminated (M positive definite).
#[derive(Clone, Debug)]
pub struct Reduced {
    /// W = J M⁻¹ Jᵀ, m × m.
    pub delassus: Matrix,
    /// q = −J M⁻¹ F + γ, m.
    pub free_velocity: Vec<f64>,
    /// M⁻¹ Jᵀ, n × m: the acceleration that each force component causes.
    pub response: Matrix,
    /// −M⁻¹ F, n: the acceleration without contact forces.
    pub free_acceleration: Vec<f64>,
}

impl Reduced {
    /// a = M⁻¹(Jᵀ f − F).
    pub fn acceleration(&self, force: &[f64]) -> Vec<f64> {
        let mut a = self.response.mul_vec(force);
        for (x, free) in a.iter_mut().zip(&self.free_acceleration) {
            *x += free;
        }
        a
    }

    /// The contact problem in force space.
    pub fn problem<'a>(&'a self, laws: &'a [Law]) -> Result<ContactView<'a>, InvalidProblem> {
        ContactView::new(&self.delassus, &self.free_velocity, laws)
    }
}

impl Dynamics {
    /// The dynamics of these parts, checked for sizes, finite numbers and lawful laws.
    pub fn new(
        mass: Matrix,
        force: Vec<f64>,
        jacobian: Matrix,
        bias: Vec<f64>,
        laws: Vec<Law>,
    ) -> Result<Self, InvalidProblem> {
        let n = mass.rows();
        let m = *row_offsets(&laws).last().unwrap_or(&0);
        check_size("columns of the mass matrix", n, mass.cols())?;
        check_size("entries of the force", n, force.len())?;
        check_size("rows of the Jacobian", m, jacobian.rows())?;
        if m > 0 {
            check_size("columns of the Jacobian", n, jacobian.cols())?;
        }
        check_size("entries of the bias", m, bias.len())?;
        check_finite("the mass matrix", mass.data())?;
        check_finite("the force", &force)?;
        check_finite("the Jacobian", jacobian.data())?;
        check_finite("the bias", &bias)?;
        check_laws(&laws)?;
        let jacobian = if m == 0 { Matrix::zeros(0, n) } else { jacobian };
        Ok(Dynamics { mass, force, jacobian, bias, laws })
    }

    /// n, the number of coordinates.
    pub fn coordinates(&self) -> usize {
        self.mass.rows()
    }

    /// The first row of each constraint, and the number of rows as a last entry.
    pub fn offsets(&self) -> Vec<usize> {
        row_offsets(&self.laws)
    }

    /// The same equations as M a = −F + H f, u = Hᵀ a + γ with H = Jᵀ, in sparse matrices: the global form of
    /// a contact problem.
    pub fn contact_problem(&self) -> ContactProblem {
        let form = Form::Global {
            mass: Sparse::from_dense(&self.mass),
            jacobian_transposed: Sparse::from_dense(&self.jacobian.transpose()),
            force: self.force.iter().map(|f| -f).collect(),
            bias: self.bias.clone(),
        };
        ContactProblem { laws: self.laws.clone(), form }
    }

    /// The contact problem in force space, or `None` where M is not positive definite.
    pub fn reduce(&self) -> Option<Reduced> {
        let n = self.coordinates();
        let m = self.jacobian.rows();
        // One factorization for [Jᵀ | −F].
        let rhs =
            Matrix::from_fn(n, m + 1, |i, j| if j < m { self.jacobian[(j, i)] } else { -self.force[i] });
        let x = self.mass.solve_positive_definite(&rhs)?;
        let response = Matrix::from_fn(n, m, |i, j| x[(i, j)]);
        let free_acceleration = x.col(m);
        let w = self.jacobian.mul(&response);
        let mut free_velocity = self.jacobian.mul_vec(&free_acceleration);
        for (q, g) in free_velocity.iter_mut().zip(&self.bias) {
            *q += g;
        }
        // W is symmetric in exact arithmetic; keep it so.
        Some(Reduced { delassus: w.symmetric_part(), free_velocity, response, free_acceleration })
    }
}

/// The Schur complement W_kk − W_kb W_bb⁺ W_bk of a symmetric positive semidefinite W: what W is on the rows
/// `keep` once the rows `bilateral` are kept at zero. With unilateral normals kept and bilateral normals
/// eliminated this is the constrained Delassus matrix A_c (000 eq. 32, 001 eq. 16). Redundant rows in
/// `bilateral` do no harm.
pub fn constrained_delassus(w: &Matrix, keep: &[usize], bilateral: &[usize]) -> Matrix {
    let kk = w.select(keep, keep);
    if bilateral.is_empty() || keep.is_empty() {
        return kk;
    }
    let bk = w.select(bilateral, keep);
    let bb = w.select(bilateral, bilateral);
    let x = bb.solve_positive_definite(&bk).unwrap_or_else(|| bb.pseudo_solve_matrix(&bk));
    let correction = bk.transpose().mul(&x);
    Matrix::from_fn(keep.len(), keep.len(), |i, j| kk[(i, j)] - correction[(i, j)])
}

/// M_c⁻¹ = M⁻¹ − M⁻¹∇g (∇gᵀ M⁻¹ ∇g)⁺ ∇gᵀ M⁻¹, the inverse mass that is left when the constraints with the
/// rows `bilateral_rows` of the Jacobian are kept (000 eq. 32, 001 eq. 17); `None` where M is not positive
/// definite.
pub fn constrained_inverse_mass(mass: &Matrix, bilateral_rows: &Matrix) -> Option<Matrix> {
    let n = mass.rows();
    let inverse = mass.solve_positive_definite(&Matrix::identity(n))?;
    // M⁻¹ on all coordinates and rows: the Schur complement of the joint operator [I; G] M⁻¹ [I; G]ᵀ.
    let all = Matrix::identity(n).stack(bilateral_rows);
    let w = all.mul(&inverse).mul(&all.transpose()).symmetric_part();
    let keep: Vec<usize> = (0..n).collect();
    let eliminate: Vec<usize> = (n..n + bilateral_rows.rows()).collect();
    Some(constrained_delassus(&w, &keep, &eliminate))
}

/// The kinetic angle θ = π − arccos(∇f₁ᵀM⁻¹∇f₂ / (‖∇f₁‖‖∇f₂‖)) between two constraints, norms in M⁻¹
/// (001 eq. 9), from the entries of W on their normals; `None` where a gradient vanishes.
pub fn kinetic_angle(w11: f64, w12: f64, w22: f64) -> Option<f64> {
    if w11.is_nan() || w22.is_nan() || w11 <= 0.0 || w22 <= 0.0 {
        return None;
    }
    let cosine = (w12 / (w11.sqrt() * w22.sqrt())).clamp(-1.0, 1.0);
    Some(std::f64::consts::PI - cosine.acos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_have_one_free_velocity_and_one_delassus_matrix() {
        // A mass of 2 that falls with F = m g = 20 and a spring bias on one contact along each axis.
        let d = Dynamics::new(
            Matrix::diagonal(&[2.0, 2.0]),
            vec![0.0, 20.0],
            Matrix::from_rows(&[[0.0, 1.0], [1.0, 0.0]]),
            vec![0.5, -0.25],
            vec![Law::CoulombPlane { mu: 0.3 }],
        )
        .unwrap();
        let (w, q) = d.contact_problem().local().unwrap();
        assert_eq!(q, [-9.5, -0.25]);
        assert_eq!(w.to_dense(), Matrix::diagonal(&[0.5, 0.5]));
        let reduced = d.reduce().unwrap();
        // Two ways to round the same numbers.
        assert!((reduced.free_velocity[0] + 9.5).abs() <= 1e-14);
        assert!((reduced.delassus[(0, 0)] - 0.5).abs() <= 1e-15);
    }
}
