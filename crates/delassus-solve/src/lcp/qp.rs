//! Convex quadratic programs of contact mechanics, solved by `clarabel`.
//!
//! ```text
//! min ½ xᵀP x + cᵀx   subject to   E x = e,  G x ≥ h.
//! ```
//!
//! | program | unknown | source |
//! |---|---|---|
//! | min ½ aᵀMa + Fᵀa, J_b a + γ_b = 0, J_u a + γ_u ≥ 0 | acceleration (Gauss' principle) | 000 eq. 5, 15, 27 |
//! | min ½ (a + M⁻¹F)ᵀM(a + M⁻¹F), the same constraints | acceleration | 001 eq. 48 |
//! | min ½ λᵀAλ + wᵀλ, λ ≥ 0 | multipliers | 000 eq. 11, 001 eq. 42, 53 |
//! | min ½ λᵀAλ, Aλ + w ≥ 0 | multipliers (Dorn's dual) | 001 eq. 49, 54 |
//! | min ½ yᵀMy with y = a + M⁻¹(F − H₃), ∇hᵀM_c⁻¹M y + H₄ ≥ 0 | acceleration | 001 eq. 56 |
//! | min ½‖A p + (I + E)u⁻‖², p ≥ 0, E(I + E)⁻¹A p ≥ 0 | percussions | 001 eq. 80 |
//! | min ½‖u⁺ − u⁻‖², w₁ + A(I + E)⁻ᵀEᵀ w₂ = A(u⁺ + E u⁻), w ≥ 0 | velocities after an impact | 001 eq. 83, corrected |
//!
//! `clarabel` may return a point that is not a solution, whatever its status says: a program counts as solved
//! only where the KKT conditions hold at the point, computed here, after its active set was solved for all
//! digits. It counts as infeasible or unbounded only where the ray that `clarabel` gives for a proof is one,
//! computed here as well.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, ZeroConeT};

use crate::linalg::{Matrix, dot, max_abs};
use crate::problem::{Dynamics, Law, constrained_inverse_mass};

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

/// A compressed-column copy; `upper` keeps the upper triangle only, as clarabel takes the Hessian.
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

/// KKT violations up to this, relative to the size of the terms, are rounding.
const KKT_TOLERANCE: f64 = 1e-9;
/// The error of a ray over its gain, each relative to the size of its terms, up to which the ray is a proof.
/// A Farkas ray with this ratio leaves no feasible point nearer than its inverse times the size of the
/// right-hand side over that of the rows.
const RAY_ERROR: f64 = 1e-6;

impl QuadraticProgram {
    /// Solves the program.
    pub fn solve(&self) -> QpOutcome {
        // At the tightest tolerance clarabel now and then stops early, at a point that may be far from the
        // minimiser; a looser one then brings it close enough for the active set, which gives all digits.
        for tolerance in [1e-13, 1e-10, 1e-8, 1e-5] {
            let (status, x, dual) = self.interior_point(tolerance);
            match status {
                SolverStatus::PrimalInfeasible if self.proves_infeasible(&dual) => {
                    return QpOutcome::Infeasible;
                }
                SolverStatus::DualInfeasible if self.proves_unbounded(&x) => return QpOutcome::Unbounded,
                // A ray that proves nothing is no point either.
                SolverStatus::PrimalInfeasible | SolverStatus::DualInfeasible => continue,
                _ => {}
            }
            if !x.iter().chain(&dual).all(|v| v.is_finite()) {
                continue;
            }
            let polished = self.polish(&x, &dual);
            // Where a constraint is weakly active, the active set of the polished point may be the better
            // one.
            let again = polished.as_ref().and_then(|(x, dual)| self.polish(x, dual));
            let best = [Some((x, dual)), polished, again]
                .into_iter()
                .flatten()
                .min_by(|a, b| self.violation(&a.0, &a.1).total_cmp(&self.violation(&b.0, &b.1)));
            if let Some((point, dual)) = best
                && self.violation(&point, &dual) <= KKT_TOLERANCE
            {
                let value = 0.5 * dot(&point, &self.hessian.mul_vec(&point)) + dot(&self.linear, &point);
                return QpOutcome::Solved { point, value };
            }
        }
        QpOutcome::Unresolved
    }

    /// Whether multipliers (y, z) prove that no point is feasible (Farkas): z ≥ 0, Eᵀy = Gᵀz and hᵀz > eᵀy.
    fn proves_infeasible(&self, dual: &[f64]) -> bool {
        if dual.len() != self.equality_values.len() + self.inequality_bounds.len() {
            return false;
        }
        let (y, z) = dual.split_at(self.equality_values.len());
        let pull = self.equalities.tr_mul_vec(y);
        let push = self.inequalities.tr_mul_vec(z);
        let error = pull.iter().zip(&push).fold(0.0_f64, |m, (y, z)| m.max((y - z).abs()));
        let gain = dot(&self.inequality_bounds, z) - dot(&self.equality_values, y);
        let rows = self.equalities.max_abs().max(self.inequalities.max_abs());
        let values = max_abs(&self.equality_values).max(max_abs(&self.inequality_bounds));
        z.iter().all(|z| *z >= 0.0) && gain > 0.0 && error * values <= RAY_ERROR * gain * rows
    }

    /// Whether the value falls without end along a direction d: P d = 0, E d = 0, G d ≥ 0 and cᵀd < 0.
    fn proves_unbounded(&self, direction: &[f64]) -> bool {
        let descent = -dot(&self.linear, direction) / max_abs(&self.linear).max(f64::MIN_POSITIVE);
        let along = |a: &Matrix, violation: fn(f64) -> f64| {
            let size = a.max_abs().max(f64::MIN_POSITIVE);
            a.mul_vec(direction).iter().fold(0.0_f64, |m, x| m.max(violation(*x / size)))
        };
        let error = along(&self.hessian, f64::abs)
            .max(along(&self.equalities, f64::abs))
            .max(along(&self.inequalities, |x| (-x).max(0.0)));
        direction.iter().all(|x| x.is_finite()) && descent > 0.0 && error <= RAY_ERROR * descent
    }

    /// Status, point and multipliers (of equalities, of inequalities) as clarabel returns them.
    fn interior_point(&self, tolerance: f64) -> (SolverStatus, Vec<f64>, Vec<f64>) {
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
        let cones = [ZeroConeT(self.equality_values.len()), NonnegativeConeT(self.inequality_bounds.len())];
        let settings = DefaultSettings {
            verbose: false,
            tol_gap_abs: tolerance,
            tol_gap_rel: tolerance,
            tol_feas: tolerance,
            ..Default::default()
        };
        let hessian = compressed(&self.hessian.symmetric_part(), true);
        match DefaultSolver::new(&hessian, &self.linear, &compressed(&a, false), &b, &cones, settings) {
            Ok(mut solver) => {
                solver.solve();
                (solver.solution.status, solver.solution.x.clone(), solver.solution.z.clone())
            }
            Err(_) => (SolverStatus::NumericalError, vec![f64::NAN; n], vec![]),
        }
    }

    /// The minimiser with the inequalities that are active at x as equalities: P x − Eᵀy − G_Aᵀz = −c, E x =
    /// e, G_A x = h_A, the shortest solution where it is not unique.
    fn polish(&self, x: &[f64], dual: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
        let (n, ne) = (x.len(), self.equality_values.len());
        let slack = self.inequalities.mul_vec(x);
        let active: Vec<usize> = (0..self.inequality_bounds.len())
            .filter(|&i| dual[ne + i] > slack[i] - self.inequality_bounds[i])
            .collect();
        let rows = self.equalities.stack(&self.inequalities.select_rows(&active));
        let values: Vec<f64> = self
            .equality_values
            .iter()
            .copied()
            .chain(active.iter().map(|&i| self.inequality_bounds[i]))
            .collect();
        let size = n + values.len();
        let kkt = Matrix::from_fn(size, size, |i, j| match (i < n, j < n) {
            (true, true) => self.hessian[(i, j)],
            (true, false) => -rows[(j - n, i)],
            (false, true) => rows[(i - n, j)],
            (false, false) => 0.0,
        });
        let rhs: Vec<f64> = self.linear.iter().map(|c| -c).chain(values).collect();
        let z = kkt.pseudo_solve(&rhs);
        let mut multipliers = vec![0.0; dual.len()];
        // clarabel's sign: P x + c + Eᵀy − Gᵀz = 0.
        for k in 0..ne {
            multipliers[k] = -z[n + k];
        }
        for (k, &i) in active.iter().enumerate() {
            multipliers[ne + i] = z[n + ne + k];
        }
        z.iter().all(|v| v.is_finite()).then(|| (z[..n].to_vec(), multipliers))
    }

    /// The largest violation of the KKT conditions: constraints, signs, stationarity, complementarity, each
    /// relative to the size of its terms.
    fn violation(&self, x: &[f64], dual: &[f64]) -> f64 {
        let (y, z) = dual.split_at(self.equality_values.len());
        let (ex, gx) = (self.equalities.mul_vec(x), self.inequalities.mul_vec(x));
        let size = 1.0
            + max_abs(&self.equality_values)
                .max(max_abs(&self.inequality_bounds))
                .max(max_abs(&ex))
                .max(max_abs(&gx));
        let px = self.hessian.mul_vec(x);
        let (ey, gz) = (self.equalities.tr_mul_vec(y), self.inequalities.tr_mul_vec(z));
        let pull = 1.0 + max_abs(&px).max(max_abs(&self.linear)).max(max_abs(&gz)).max(max_abs(&ey));
        let equality = ex.iter().zip(&self.equality_values).map(|(a, b)| (a - b).abs() / size);
        let bounds = gx.iter().zip(&self.inequality_bounds).map(|(a, b)| (b - a) / size);
        let force = 1.0 + max_abs(dual);
        let signs = z.iter().map(|z| -z / force);
        let stationary = (0..x.len()).map(|i| (px[i] + self.linear[i] + ey[i] - gz[i]).abs() / pull);
        let complementary = gx
            .iter()
            .zip(&self.inequality_bounds)
            .zip(z)
            .map(|((g, h), z)| ((g - h) / size).abs().min((z / force).abs()));
        equality.chain(bounds).chain(signs).chain(stationary).chain(complementary).fold(0.0, f64::max)
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

/// Gauss' principle: min ½ aᵀMa + Fᵀa with J_b a + γ_b = 0 and J_u a + γ_u ≥ 0 (000 eq. 5, 15, 27). `None`
/// where there is friction.
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

/// 001 eq. 48: least deviation y = a + M⁻¹F from the free acceleration, unilateral constraints alone. The
/// unknown of the program is y; add the free acceleration to have a.
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

/// min ½ λᵀAλ with Aλ + w ≥ 0, Dorn's dual of the program above (001 eq. 49, with A_c and H₄ eq. 54). Where A
/// is singular only Aλ, and so the acceleration, is determined.
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

/// 001 eq. 80: min ½‖A p + (I + E)u⁻‖² with p ≥ 0 and E(I + E)⁻¹A p ≥ 0, the percussions p ≥ 0 that come
/// nearest to Newton's law with the restitution matrix E. Not Moreau's law: u⁺ may be negative. `None` where
/// I + E is singular.
pub fn percussion_program(a: &Matrix, e: &Matrix, before: &[f64]) -> Option<QuadraticProgram> {
    let n = before.len();
    let after = restitution_rows(a, e)?;
    let target: Vec<f64> = e.mul_vec(before).iter().zip(before).map(|(a, b)| a + b).collect();
    Some(QuadraticProgram {
        hessian: a.transpose().mul(a),
        linear: a.tr_mul_vec(&target),
        equalities: Matrix::zeros(0, n),
        equality_values: vec![],
        inequalities: Matrix::identity(n).stack(&after),
        inequality_bounds: vec![0.0; 2 * n],
    })
}

/// 001 eq. 83, Dorn's dual of eq. 80 in the unknowns (u⁺, w₁, w₂), with a multiplier for each of the two sets
/// of inequalities; the paper has one for both, and gets percussions that pull. `None` where I + E is
/// singular.
pub fn percussion_dual_program(a: &Matrix, e: &Matrix, before: &[f64]) -> Option<QuadraticProgram> {
    let n = before.len();
    let after = restitution_rows(a, e)?;
    // A u⁺ − w₁ − Cᵀ w₂ = −A E u⁻ with C = E(I + E)⁻¹A.
    let equalities = Matrix::from_fn(n, 3 * n, |i, j| match j / n {
        0 => a[(i, j)],
        1 => -f64::from(u8::from(i == j - n)),
        _ => -after[(j - 2 * n, i)],
    });
    Some(QuadraticProgram {
        hessian: Matrix::from_fn(3 * n, 3 * n, |i, j| f64::from(u8::from(i == j && i < n))),
        linear: (0..3 * n).map(|i| if i < n { -before[i] } else { 0.0 }).collect(),
        equalities,
        equality_values: minus(&a.mul_vec(&e.mul_vec(before))),
        inequalities: Matrix::from_fn(2 * n, 3 * n, |i, j| f64::from(u8::from(j == i + n))),
        inequality_bounds: vec![0.0; 2 * n],
    })
}

/// E(I + E)⁻¹A.
fn restitution_rows(a: &Matrix, e: &Matrix) -> Option<Matrix> {
    let n = e.rows();
    let sum = Matrix::from_fn(n, n, |i, j| e[(i, j)] + f64::from(u8::from(i == j)));
    Some(e.mul(&sum.solve_matrix(a)?))
}

/// 001 eq. 56: min ½ yᵀMy with ∇hᵀM_c⁻¹M y + H₄ ≥ 0. The unknown is y = a + M⁻¹(F − H₃); the second value
/// returned is a at y = 0, that is M⁻¹(H₃ − F). `None` where there is friction or M is singular.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// x ≥ 1 and −x ≥ 1 in one unknown, and 0 = 0.
    fn contradiction() -> QuadraticProgram {
        QuadraticProgram {
            hessian: Matrix::identity(1),
            linear: vec![0.0],
            equalities: Matrix::zeros(1, 1),
            equality_values: vec![0.0],
            inequalities: Matrix::from_rows(&[[1.0], [-1.0]]),
            inequality_bounds: vec![1.0, 1.0],
        }
    }

    #[test]
    fn a_forged_ray_proves_nothing() {
        let program = contradiction();
        // Gᵀz = z₁ − z₂, hᵀz = z₁ + z₂.
        assert!(program.proves_infeasible(&[0.0, 1.0, 1.0]));
        assert!(program.proves_infeasible(&[0.0, 3.0, 3.0 + 1e-9]));
        assert!(!program.proves_infeasible(&[0.0, 1.0, 1.0 + 1e-3]), "Gᵀz is not zero");
        assert!(!program.proves_infeasible(&[0.0, -1.0, -1.0]), "multipliers pull");
        assert!(!program.proves_infeasible(&[1.0, 0.0, 0.0]), "nothing is gained");
        assert!(!program.proves_infeasible(&[0.0, f64::NAN, 1.0]) && !program.proves_infeasible(&[1.0]));
        let feasible = QuadraticProgram { inequality_bounds: vec![1.0, -2.0], ..program };
        assert!(!feasible.proves_infeasible(&[0.0, 1.0, 1.0]));
    }

    #[test]
    fn a_forged_direction_proves_nothing() {
        let program = multiplier_program(&Matrix::diagonal(&[0.0, 1.0]), &[-1.0, -1.0]);
        assert!(program.proves_unbounded(&[1.0, 0.0]) && program.proves_unbounded(&[1.0, 1e-9]));
        assert!(!program.proves_unbounded(&[0.0, 1.0]), "the value is curved along it");
        assert!(!program.proves_unbounded(&[-1.0, 0.0]), "the value grows, and the bound is in the way");
        assert!(!program.proves_unbounded(&[f64::INFINITY, 0.0]));
    }
}
