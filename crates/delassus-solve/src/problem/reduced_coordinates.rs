//! Reduced coordinates: joints without friction solved for as many coordinates (001 §5).
//!
//! q = (q₁, q₂), G₁ a₁ + G₂ a₂ + γ_b = 0   ⇒   a = Z a₂ + a₀,   Z = [−G₁⁻¹G₂; I],   a₀ = [−G₁⁻¹γ_b; 0]
//!
//! G = (G₁ G₂) are the joint gradients (p × n), q₁ the p coordinates that are solved for, q₂ the n − p that
//! are left, in the paper's terms Z = T E₂ᵀ with ∂Ω/∂q₂ = −G₁⁻¹G₂ and a₀ = Ṫẋ (001 eq. 62–65). What is left
//! is a contact problem without joints (001 eq. 63, second line, and 68, 69):
//!
//! ZᵀMZ a₂ + Zᵀ(F + M a₀) = (J Z)ᵀ f,   u = J Z a₂ + (γ + J a₀)
//!
//! with the rows J of the other constraints. Its Delassus matrix A_r equals A_c, the one with joints held by
//! multipliers, in exact arithmetic. Coordinates are chosen by complete pivoting, so that G₁ is as well
//! conditioned as elimination gets it; redundant joints are dropped where they agree with the others.

use super::dynamics::Dynamics;
use super::law::Law;
use crate::linalg::{Matrix, max_abs, rank_tolerance, small};

/// The contact problem in the coordinates that the joints leave.
#[derive(Clone, Debug)]
pub struct ReducedCoordinates {
    /// q₁, the coordinates that were solved for.
    pub dependent: Vec<usize>,
    /// q₂, the coordinates that are left.
    pub independent: Vec<usize>,
    /// Z, n × (n − p): the motions that the joints allow.
    pub basis: Matrix,
    /// a₀, the acceleration that the joints ask for at a₂ = 0.
    pub offset: Vec<f64>,
    /// Rows of the original Jacobian that are left, in order.
    pub rows: Vec<usize>,
    /// The problem in q₂: mass ZᵀMZ, gradients J Z, laws of the constraints that are left.
    pub dynamics: Dynamics,
}

impl ReducedCoordinates {
    /// a = Z a₂ + a₀.
    pub fn acceleration(&self, reduced: &[f64]) -> Vec<f64> {
        self.basis.mul_vec(reduced).iter().zip(&self.offset).map(|(x, y)| x + y).collect()
    }

    /// The forces of the original problem (001 eq. 70): those of the constraints that are left, `force`, and
    /// those of the joints from Gᵀλ_b = M a + F − Jᵀf, the shortest where joints are redundant.
    ///
    /// # Panics
    /// If the sizes are not those of the problem that was reduced.
    pub fn forces(&self, original: &Dynamics, acceleration: &[f64], force: &[f64]) -> Vec<f64> {
        let m = original.jacobian.rows();
        let mut all = vec![0.0; m];
        self.rows.iter().zip(force).for_each(|(&i, f)| all[i] = *f);
        let pushed = original.jacobian.tr_mul_vec(&all);
        let inertia = original.mass.mul_vec(acceleration);
        let missing: Vec<f64> =
            (0..inertia.len()).map(|i| inertia[i] + original.force[i] - pushed[i]).collect();
        let joints: Vec<usize> = (0..m).filter(|i| !self.rows.contains(i)).collect();
        if !joints.is_empty() {
            let of_joints = original.jacobian.select_rows(&joints).transpose().pseudo_solve(&missing);
            joints.iter().zip(&of_joints).for_each(|(&i, f)| all[i] = *f);
        }
        all
    }
}

/// The problem in reduced coordinates; `None` where the joints contradict each other.
pub fn reduced_coordinates(d: &Dynamics) -> Option<ReducedCoordinates> {
    let offsets = d.offsets();
    let n = d.coordinates();
    let joint = |k: &usize| d.laws[*k] == Law::Bilateral;
    let joints: Vec<usize> = (0..d.laws.len()).filter(joint).map(|k| offsets[k]).collect();
    let rows: Vec<usize> =
        (0..d.laws.len()).filter(|k| !joint(k)).flat_map(|k| offsets[k]..offsets[k + 1]).collect();
    let laws: Vec<Law> = d.laws.iter().copied().filter(|l| *l != Law::Bilateral).collect();

    let solved = eliminate(d, &joints)?;
    let dependent: Vec<usize> = solved.iter().map(|s| s.0).collect();
    let independent: Vec<usize> = (0..n).filter(|i| !dependent.contains(i)).collect();
    // Row r of the eliminated system: a_column + Σ_j row_j a_j + row_n = 0 over independent j.
    let mut basis = Matrix::zeros(n, independent.len());
    let mut offset = vec![0.0; n];
    for (j, &i) in independent.iter().enumerate() {
        basis[(i, j)] = 1.0;
    }
    for (column, row) in &solved {
        for (j, &i) in independent.iter().enumerate() {
            basis[(*column, j)] = -row[i];
        }
        offset[*column] = -row[n];
    }
    let transposed = basis.transpose();
    let mut load = d.mass.mul_vec(&offset);
    load.iter_mut().zip(&d.force).for_each(|(x, f)| *x += f);
    let left = d.jacobian.select_rows(&rows);
    let bias = left.mul_vec(&offset).iter().zip(&rows).map(|(x, &i)| x + d.bias[i]).collect();
    let dynamics = Dynamics {
        mass: transposed.mul(&d.mass).mul(&basis).symmetric_part(),
        force: transposed.mul_vec(&load),
        jacobian: if rows.is_empty() { Matrix::zeros(0, independent.len()) } else { left.mul(&basis) },
        bias,
        laws,
    };
    Some(ReducedCoordinates { dependent, independent, basis, offset, rows, dynamics })
}

/// Gauss–Jordan elimination of [G | γ_b] with complete pivoting: (column, the row divided by its pivot) for
/// each pivot. `None` where a row without pivot is left with a bias.
fn eliminate(d: &Dynamics, joints: &[usize]) -> Option<Vec<(usize, Vec<f64>)>> {
    let n = d.coordinates();
    // Rows of unit size, so that pivots of different joints can be compared.
    let mut rows: Vec<Vec<f64>> = joints
        .iter()
        .map(|&i| {
            let top = max_abs(d.jacobian.row(i));
            let scale = if top > 0.0 { 1.0 / top } else { 1.0 };
            d.jacobian.row(i).iter().chain([&d.bias[i]]).map(|x| x * scale).collect()
        })
        .collect();
    let size = rows.iter().map(|r| r[n].abs()).fold(0.0, f64::max);
    let tolerance = rank_tolerance(joints.len(), n);
    let solved = small::gauss_jordan(&mut rows, n, tolerance);
    let agrees = |i: usize| solved.iter().any(|s| s.0 == i) || rows[i][n].abs() <= 1e-10 * size;
    if !(0..rows.len()).all(agrees) {
        return None;
    }
    Some(solved.into_iter().map(|(i, j)| (j, rows[i].clone())).collect())
}
