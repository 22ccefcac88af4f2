//! Convex quadratic programs of contact mechanics, solved by `clarabel`.
//!
//! min ½ xᵀP x + cᵀx   subject to   E x = e,  G x ≥ h.
//!
//! | program | unknown | source |
//! |---|---|---|
//! | min ½ aᵀMa + Fᵀa, J_b a + γ_b = 0, J_u a + γ_u ≥ 0 | acceleration (Gauss' principle) | 000 eq. 5, 15, 27 |
//! | min ½ (a + M⁻¹F)ᵀM(a + M⁻¹F), the same constraints | acceleration | 001 eq. 48 |
//! | min ½ λᵀAλ + wᵀλ, λ ≥ 0 | multipliers | 000 eq. 11, 001 eq. 42, 53 |
//! | min ½ λᵀAλ, Aλ + w ≥ 0 | multipliers (Dorn's dual) | 001 eq. 49, 54 |
//! | min ½ yᵀMy with y = a + M⁻¹(F − H₃), ∇hᵀM_c⁻¹M y + H₄ ≥ 0 | acceleration | 001 eq. 56 |
//!
//! `clarabel` may return a point that is not a solution: a program counts as solved only where its status says so
//! and the constraints hold at the point.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, ZeroConeT,
};

use crate::dynamics::{Dynamics, constrained_inverse_mass};
use crate::law::Law;
use crate::matrix::{Matrix, dot, max_abs};

/// A convex quadratic program.
#[derive(Clone, Debug)]
pub struct QuadraticProgram {
    /// P, n × n, symmetric positive semidefinite.
    pub hessian: Matrix,
    /// c, n.
    pub linear: Vec<f64>,
    /// E.
    pub equalities: Matrix,
    /// e.
    pub equality_values: Vec<f64>,
    /// G.
    pub inequalities: Matrix,
    /// h.
    pub inequality_bounds: Vec<f64>,
}

/// The outcome of a quadratic program.
#[derive(Clone, Debug, PartialEq)]
pub enum QpOutcome {
    /// A minimiser.
    Solved {
        /// x.
        point: Vec<f64>,
        /// ½ xᵀP x + cᵀx.
        value: f64,
    },
    /// No point satisfies the constraints.
    Infeasible,
    /// The value has no lower bound.
    Unbounded,
    /// Not decided.
    Unresolved,
}

/// A compressed-column copy; `upper` keeps the upper triangle only, as clarabel wants the Hessian.
fn compressed(a: &Matrix, upper: bool) -> CscMatrix<f64> {
    let (mut start, mut rows, mut values) = (vec![0], vec![], vec![]);
    for j in 0..a.cols() {
        for i in 0..a.rows() {
            if a[(i, j)] != 0.0 && (!upper || i <= j) {
                rows.push(i);
                values.push(a[(i, j)]);
            }
        }
        start.push(rows.len());
    }
    CscMatrix::new(a.rows(), a.cols(), start, rows, values)
}

impl QuadraticProgram {
    /// Solves the program.
    pub fn solve(&self) -> QpOutcome {
        let n = self.linear.len();
        // clarabel: A x + s = b, s in {0}^e × R₊^g.
        let a = Matrix::from_fn(self.equalities.rows() + self.inequalities.rows(), n, |i, j| {
            if i < self.equalities.rows() {
                self.equalities[(i, j)]
            } else {
                -self.inequalities[(i - self.equalities.rows(), j)]
            }
        });
        let b: Vec<f64> =
            self.equality_values.iter().copied().chain(self.inequality_bounds.iter().map(|h| -h)).collect();
        let cones =
            [ZeroConeT(self.equality_values.len()), NonnegativeConeT(self.inequality_bounds.len())];
        let settings = DefaultSettings {
            verbose: false,
            tol_gap_abs: 1e-13,
            tol_gap_rel: 1e-13,
            tol_feas: 1e-13,
            max_iter: 200,
            ..Default::default()
        };
        let hessian = compressed(&self.hessian.symmetric_part(), true);
        let Ok(mut solver) =
            DefaultSolver::new(&hessian, &self.linear, &compressed(&a, false), &b, &cones, settings)
        else {
            return QpOutcome::Unresolved;
        };
        solver.solve();
        let point = solver.solution.x.clone();
        match solver.solution.status {
            // "Almost" and insufficient progress at 1e-13 are common and harmless; the check below decides.
            SolverStatus::Solved | SolverStatus::AlmostSolved | SolverStatus::InsufficientProgress => {
                if self.violation(&point) <= 1e-8 && self.gap(&solver.solution.z, &point) <= 1e-8 {
                    let value = 0.5 * dot(&point, &self.hessian.mul_vec(&point)) + dot(&self.linear, &point);
                    QpOutcome::Solved { point, value }
                } else {
                    QpOutcome::Unresolved
                }
            }
            SolverStatus::PrimalInfeasible => QpOutcome::Infeasible,
            SolverStatus::DualInfeasible => QpOutcome::Unbounded,
            _ => QpOutcome::Unresolved,
        }
    }

    /// Largest violation of a constraint, relative to the size of its bounds.
    fn violation(&self, x: &[f64]) -> f64 {
        let e = self.equalities.mul_vec(x);
        let g = self.inequalities.mul_vec(x);
        let scale = 1.0 + max_abs(&self.equality_values).max(max_abs(&self.inequality_bounds)) + max_abs(x);
        let worst = e.iter().zip(&self.equality_values).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        g.iter().zip(&self.inequality_bounds).map(|(a, b)| b - a).fold(worst, f64::max) / scale
    }

    /// ‖P x + c − Eᵀy − Gᵀz‖ relative to its terms: stationarity with the multipliers found.
    fn gap(&self, dual: &[f64], x: &[f64]) -> f64 {
        let (y, z) = dual.split_at(self.equality_values.len());
        let px = self.hessian.mul_vec(x);
        let (ey, gz) = (self.equalities.tr_mul_vec(y), self.inequalities.tr_mul_vec(z));
        let scale = 1.0 + max_abs(&px).max(max_abs(&self.linear)).max(max_abs(&gz));
        (0..x.len()).map(|i| (px[i] + self.linear[i] + ey[i] - gz[i]).abs()).fold(0.0, f64::max) / scale
    }
}

/// Rows and biases of the bilateral and of the unilateral constraints; `None` where there is friction.
fn frictionless_rows(d: &Dynamics) -> Option<(Matrix, Vec<f64>, Matrix, Vec<f64>)> {
    let rows = |of: Law| -> Vec<usize> { (0..d.laws.len()).filter(|&k| d.laws[k] == of).collect() };
    let (b, u) = (rows(Law::Bilateral), rows(Law::Unilateral));
    if b.len() + u.len() != d.laws.len() {
        return None;
    }
    let pick = |set: &[usize]| (d.jacobian.select_rows(set), set.iter().map(|&i| d.bias[i]).collect());
    let ((jb, gb), (ju, gu)) = (pick(&b), pick(&u));
    Some((jb, gb, ju, gu))
}

fn minus(x: &[f64]) -> Vec<f64> {
    x.iter().map(|v| -v).collect()
}

/// Gauss' principle: min ½ aᵀMa + Fᵀa with J_b a + γ_b = 0 and J_u a + γ_u ≥ 0 (000 eq. 5, 15, 27). `None` where
/// there is friction.
pub fn gauss_principle(d: &Dynamics) -> Option<QuadraticProgram> {
    let (jb, gb, ju, gu) = frictionless_rows(d)?;
    Some(QuadraticProgram {
        hessian: d.mass.clone(),
        linear: d.force.clone(),
        equalities: jb,
        equality_values: minus(&gb),
        inequalities: ju,
        inequality_bounds: minus(&gu),
    })
}

/// 001 eq. 48: least deviation y = a + M⁻¹F from the free acceleration, unilateral constraints alone. The unknown
/// of the program is y; add the free acceleration to have a.
pub fn least_deviation(d: &Dynamics) -> Option<QuadraticProgram> {
    let (jb, _, ju, gu) = frictionless_rows(d)?;
    if jb.rows() > 0 {
        return None;
    }
    let free = d.reduce()?.free_acceleration;
    let at_free = ju.mul_vec(&free);
    Some(QuadraticProgram {
        hessian: d.mass.clone(),
        linear: vec![0.0; d.coordinates()],
        equalities: Matrix::zeros(0, d.coordinates()),
        equality_values: vec![],
        inequality_bounds: gu.iter().zip(&at_free).map(|(g, a)| -g - a).collect(),
        inequalities: ju,
    })
}

/// min ½ λᵀAλ + wᵀλ over λ ≥ 0 (000 eq. 11; 001 eq. 42, with A_c and H₄ eq. 53).
pub fn multiplier_program(a: &Matrix, w: &[f64]) -> QuadraticProgram {
    let n = w.len();
    QuadraticProgram {
        hessian: a.clone(),
        linear: w.to_vec(),
        equalities: Matrix::zeros(0, n),
        equality_values: vec![],
        inequalities: Matrix::identity(n),
        inequality_bounds: vec![0.0; n],
    }
}

/// min ½ λᵀAλ with Aλ + w ≥ 0, Dorn's dual of the program above (001 eq. 49, with A_c and H₄ eq. 54). Where A is
/// singular only Aλ, and so the acceleration, is determined.
pub fn dual_multiplier_program(a: &Matrix, w: &[f64]) -> QuadraticProgram {
    QuadraticProgram {
        hessian: a.clone(),
        linear: vec![0.0; w.len()],
        equalities: Matrix::zeros(0, w.len()),
        equality_values: vec![],
        inequalities: a.clone(),
        inequality_bounds: minus(w),
    }
}

/// 001 eq. 56: min ½ yᵀMy with ∇hᵀM_c⁻¹M y + H₄ ≥ 0. The unknown is y = a + M⁻¹(F − H₃); the second value returned is
/// a at y = 0, that is M⁻¹(H₃ − F). `None` where there is friction or M is singular.
pub fn projected_gauss_principle(d: &Dynamics) -> Option<(QuadraticProgram, Vec<f64>)> {
    let (jb, gb, ju, gu) = frictionless_rows(d)?;
    let inverse = d.mass.solve_positive_definite(&Matrix::identity(d.coordinates()))?;
    let free = minus(&inverse.mul_vec(&d.force));
    // H₃ = −∇g (∇gᵀM⁻¹∇g)⁻¹ H₂ with H₂ = −∇gᵀM⁻¹F + γ_b (001 eq. 12, 15).
    let h2: Vec<f64> = jb.mul_vec(&free).iter().zip(&gb).map(|(a, b)| a + b).collect();
    let w_bb = jb.mul(&inverse).mul(&jb.transpose());
    let h3 = minus(&jb.tr_mul_vec(&w_bb.pseudo_solve(&h2)));
    let base: Vec<f64> = inverse.mul_vec(&h3).iter().zip(&free).map(|(a, b)| a + b).collect();
    // H₄ = ∇hᵀM⁻¹H₃ + H₀ = ∇hᵀ base + γ_u (001 eq. 21).
    let h4: Vec<f64> = ju.mul_vec(&base).iter().zip(&gu).map(|(a, b)| a + b).collect();
    let rows = ju.mul(&constrained_inverse_mass(&d.mass, &jb)?).mul(&d.mass);
    let program = QuadraticProgram {
        hessian: d.mass.clone(),
        linear: vec![0.0; d.coordinates()],
        equalities: Matrix::zeros(0, d.coordinates()),
        equality_values: vec![],
        inequalities: rows,
        inequality_bounds: minus(&h4),
    };
    Some((program, base))
}
