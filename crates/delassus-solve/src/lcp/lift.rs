//! From contact problems to complementarity problems and back.
//!
//! ```text
//! u = W f + q ,  (f, u) in the laws   ⇔   w = M z + q′ ,  0 ≤ z ⊥ w ≥ 0 ,   f = C z + c
//! ```
//!
//! Every reformulation is linear in its unknowns, so each lift carries the map back to the forces: the
//! residual of a solution is always that of the contact problem it came from.
//!
//! With W = J M⁻¹ Jᵀ, subscripts b, u for bilateral and unilateral normals, ξ the direction of slip, and the
//! couplings A_nb, A_tb, A_nu, A_tu, A_nbnu, … of 000 (blocks of W between normals and slip directions):
//!
//! | problem | equation |
//! |---|---|
//! | 0 ≤ λ_u ⊥ A_nu λ_u + w_u ≥ 0 | 000 eq. 9, 001 eq. 2 |
//! | 0 ≤ λ_u ⊥ A_c λ_u + w_c ≥ 0, w_c = −∇h_uᵀM_c⁻¹F − A_unub A_nb⁻¹ γ_b + γ_u | 000 eq. 31–33, (33) corrected |
//! | A_nb λ − A_tb\[μξ\] abs(λ) + w_b = 0 as a horizontal LCP | 000 eq. 37, 41, 45 |
//! | 0 ≤ λ_u ⊥ (A_nu − A_tu\[μξ\]) λ_u + w_u ≥ 0 | 000 eq. 50 |
//! | both kinds, λ_b = λ⁺ − λ⁻ | 000 eq. 57 (second line corrected to −(A_nunb + A_nutb\[μξ\])λ⁻), 58 |
//! | contacts at rest in the plane, three pairs each | Coulomb's law on the acceleration level |

use super::Lcp;
use super::hlcp::HorizontalLcp;
use super::mlcp::Mlcp;
use crate::linalg::Matrix;
use crate::problem::{Law, PolyhedralLaw, SlidingKinds, row_offsets};

/// A mixed LCP whose unknowns x give the forces f = F x.
#[derive(Clone, Debug)]
pub struct MlcpLift {
    /// The problem.
    pub mlcp: Mlcp,
    /// F, m × unknowns.
    pub force: Matrix,
}

impl MlcpLift {
    /// The forces of a solution.
    pub fn force_of(&self, x: &[f64]) -> Vec<f64> {
        self.force.mul_vec(x)
    }
}

/// The contact problem as a mixed LCP, for all polyhedral laws; `None` if one is not polyhedral.
///
/// Unknowns per law: Bilateral — f free; Unilateral, Sliding — f_n; BilateralSliding — λ⁺ free with the row
/// u_n = 0, and the pair (λ⁻, λ⁺), f_n = λ⁺ − λ⁻, f_t = −μ(λ⁺ + λ⁻)e (000 eq. 57); CoulombPlane — the pairs
/// (f_n, u_n), (σ⁺, a⁺), (a⁻, σ⁻) with σ^± = μ f_n ± f_t, u_t = a⁺ − a⁻; BilateralCoulombPlane — both.
// Long: one arm for each law.
pub fn to_mlcp(w: &Matrix, q: &[f64], laws: &[Law]) -> Option<MlcpLift> {
    let offsets = row_offsets(laws);
    let m = offsets[laws.len()];
    // Unknown j: its column of F (row of f, value), whether it is free; row j: forms of u and of x.
    let mut force: Vec<Vec<(usize, f64)>> = Vec::new();
    let mut free: Vec<bool> = Vec::new();
    let mut on_u: Vec<Vec<(usize, f64)>> = Vec::new();
    let mut on_x: Vec<Vec<(usize, f64)>> = Vec::new();
    let mut push = |f: Vec<(usize, f64)>, is_free: bool, u: Vec<(usize, f64)>, x: Vec<(usize, f64)>| {
        force.push(f);
        free.push(is_free);
        on_u.push(u);
        on_x.push(x);
        force.len() - 1
    };
    for (k, law) in laws.iter().enumerate() {
        let at = offsets[k];
        let ray = |sign: f64, mu: f64, e: &[f64]| -> Vec<(usize, f64)> {
            std::iter::once((at, sign))
                .chain(e.iter().enumerate().map(|(i, e)| (at + 1 + i, -mu * e)))
                .collect()
        };
        match law.polyhedral()? {
            PolyhedralLaw::Bilateral => {
                push(vec![(at, 1.0)], true, vec![(at, 1.0)], vec![]);
            }
            PolyhedralLaw::Unilateral => {
                push(vec![(at, 1.0)], false, vec![(at, 1.0)], vec![]);
            }
            PolyhedralLaw::Sliding { mu, slip } => {
                push(ray(1.0, mu, slip.components()), false, vec![(at, 1.0)], vec![]);
            }
            PolyhedralLaw::BilateralSliding { mu, slip } => {
                let plus = push(ray(1.0, mu, slip.components()), true, vec![(at, 1.0)], vec![]);
                push(ray(-1.0, mu, slip.components()), false, vec![], vec![(plus, 1.0)]);
            }
            PolyhedralLaw::CoulombPlane { mu } => {
                // f_n, σ⁺, a⁻ with f_t = σ⁺ − μ f_n; rows u_n, a⁺ = u_t + a⁻, σ⁻ = 2μ f_n − σ⁺.
                let n = push(vec![(at, 1.0), (at + 1, -mu)], false, vec![(at, 1.0)], vec![]);
                push(vec![(at + 1, 1.0)], false, vec![(at + 1, 1.0)], vec![(n + 2, 1.0)]);
                push(vec![], false, vec![], vec![(n, 2.0 * mu), (n + 1, -1.0)]);
            }
            PolyhedralLaw::BilateralCoulombPlane { mu } => {
                let p = push(vec![(at, 1.0), (at + 1, -mu)], true, vec![(at, 1.0)], vec![]);
                push(vec![(at, -1.0), (at + 1, -mu)], false, vec![], vec![(p, 1.0)]);
                push(vec![(at + 1, 1.0)], false, vec![(at + 1, 1.0)], vec![(p + 3, 1.0)]);
                push(vec![], false, vec![], vec![(p, 2.0 * mu), (p + 1, 2.0 * mu), (p + 2, -1.0)]);
            }
        }
    }
    let size = force.len();
    let mut f = Matrix::zeros(m, size);
    for (j, column) in force.iter().enumerate() {
        for &(i, v) in column {
            f[(i, j)] += v;
        }
    }
    let wf = w.mul(&f);
    let mut matrix = Matrix::zeros(size, size);
    let mut vector = vec![0.0; size];
    for i in 0..size {
        for &(row, v) in &on_u[i] {
            for j in 0..size {
                matrix[(i, j)] += v * wf[(row, j)];
            }
            vector[i] += v * q[row];
        }
        for &(j, v) in &on_x[i] {
            matrix[(i, j)] += v;
        }
    }
    Some(MlcpLift { mlcp: Mlcp { matrix, vector, free }, force: f })
}

/// An LCP whose unknowns z give the forces f = F z + f₀.
#[derive(Clone, Debug)]
pub struct LcpLift {
    /// The problem.
    pub lcp: Lcp,
    /// F, m × unknowns.
    pub force: Matrix,
    /// f₀, m: forces that remain at z = 0.
    pub offset: Vec<f64>,
    /// The constraint that each unknown belongs to: λ⁻ of a guide with friction, λ_n of a contact.
    pub constraints: Vec<usize>,
}

impl LcpLift {
    /// The forces of a solution.
    pub fn force_of(&self, z: &[f64]) -> Vec<f64> {
        let mut f = self.force.mul_vec(z);
        f.iter_mut().zip(&self.offset).for_each(|(a, b)| *a += b);
        f
    }
}

/// The parts of a problem whose laws are joints, guides that slide and contacts that slide or have no
/// friction.
struct Sliding {
    /// Force columns of the unknowns solved for: frictionless joints, then λ⁺ of guides with friction.
    solved: Matrix,
    /// Force columns of λ⁻ of guides with friction.
    minus: Matrix,
    /// Force columns of λ_n of contacts.
    contact: Matrix,
    /// Normal rows, in the order of `solved`, and of `contact`.
    bilateral_rows: Vec<usize>,
    contact_rows: Vec<usize>,
    /// Constraints of the columns of `minus`, `contact`.
    guides: Vec<usize>,
    contacts: Vec<usize>,
    joints: usize,
}

fn sliding_parts(laws: &[Law]) -> Option<Sliding> {
    let offsets = row_offsets(laws);
    let m = offsets[laws.len()];
    let SlidingKinds { joints, guides, contacts } = SlidingKinds::of(laws)?;
    let columns = |list: &[usize], sign: f64| {
        let mut f = Matrix::zeros(m, list.len());
        for (j, &k) in list.iter().enumerate() {
            f[(offsets[k], j)] = sign;
            if let Law::Sliding { mu, slip } | Law::BilateralSliding { mu, slip } = &laws[k] {
                for (i, e) in slip.components().iter().enumerate() {
                    f[(offsets[k] + 1 + i, j)] = -mu * e;
                }
            }
        }
        f
    };
    let bilateral: Vec<usize> = joints.iter().chain(&guides).copied().collect();
    Some(Sliding {
        solved: columns(&bilateral, 1.0),
        minus: columns(&guides, -1.0),
        contact: columns(&contacts, 1.0),
        bilateral_rows: bilateral.iter().map(|&k| offsets[k]).collect(),
        contact_rows: contacts.iter().map(|&k| offsets[k]).collect(),
        joints: joints.len(),
        guides,
        contacts,
    })
}

fn beside(a: &Matrix, b: &Matrix) -> Matrix {
    Matrix::from_fn(a.rows(), a.cols() + b.cols(), |i, j| {
        if j < a.cols() { a[(i, j)] } else { b[(i, j - a.cols())] }
    })
}

/// The contact problem as an LCP in (λ⁻, λ_u): 000 eq. 9 (contacts without friction), 31–33 (with joints), 50
/// (sliding contacts), 41 solved for λ⁺ (sliding guides), 58 (all of them). `None` where a law is of another
/// kind, or where the block that has to be inverted (A_nb, or A_nb − A_tb\[μξ\] for guides) is singular.
pub fn sliding_lcp(w: &Matrix, q: &[f64], laws: &[Law]) -> Option<LcpLift> {
    let parts = sliding_parts(laws)?;
    let z_columns = beside(&parts.minus, &parts.contact);
    let (ny, nz) = (parts.bilateral_rows.len(), z_columns.cols());
    // Bilateral rows: K y + L z + q_b = 0 for y = (λ_joints, λ⁺).
    let k = w.select_rows(&parts.bilateral_rows).mul(&parts.solved);
    let l = w.select_rows(&parts.bilateral_rows).mul(&z_columns);
    let rhs =
        Matrix::from_fn(ny, nz + 1, |i, j| if j < nz { -l[(i, j)] } else { -q[parts.bilateral_rows[i]] });
    if ny > 0 && k.rank() < ny {
        return None;
    }
    let y = k.solve_matrix(&rhs)?;
    // f = S y + Z z = F z + f₀.
    let sy = parts.solved.mul(&y);
    let force = Matrix::from_fn(w.rows(), nz, |i, j| sy[(i, j)] + z_columns[(i, j)]);
    let offset = sy.col(nz);
    let u = w.select_rows(&parts.contact_rows);
    let (u_force, u_offset) = (u.mul(&force), u.mul_vec(&offset));
    let guides = parts.guides.len();
    let matrix =
        Matrix::from_fn(
            nz,
            nz,
            |i, j| {
                if i < guides { y[(parts.joints + i, j)] } else { u_force[(i - guides, j)] }
            },
        );
    let vector = (0..nz)
        .map(|i| {
            if i < guides {
                y[(parts.joints + i, nz)]
            } else {
                u_offset[i - guides] + q[parts.contact_rows[i - guides]]
            }
        })
        .collect();
    let constraints = parts.guides.iter().chain(&parts.contacts).copied().collect();
    Some(LcpLift { lcp: Lcp { matrix, vector }, force, offset, constraints })
}

/// A horizontal LCP in (λ⁺, λ⁻) whose unknowns give the forces f = F⁺ λ⁺ + F⁻ λ⁻ + f₀.
#[derive(Clone, Debug)]
pub struct HorizontalLift {
    /// The problem.
    pub hlcp: HorizontalLcp,
    /// F⁺, m × guides.
    pub plus: Matrix,
    /// F⁻, m × guides.
    pub minus: Matrix,
    /// f₀, m.
    pub offset: Vec<f64>,
}

/// Guides that slide with friction, and joints: (Ã_nb − Ã_tb\[μξ\])λ⁺ − (Ã_nb + Ã_tb\[μξ\])λ⁻ + w̃_b = 0 with
/// 0 ≤ λ⁺ ⊥ λ⁻ ≥ 0 (000 eq. 37, 41; with the joints eliminated, 45). `None` where there are contacts, or
/// where the joints are dependent.
pub fn guide_horizontal_lcp(w: &Matrix, q: &[f64], laws: &[Law]) -> Option<HorizontalLift> {
    let parts = sliding_parts(laws)?;
    if !parts.contacts.is_empty() || parts.guides.is_empty() {
        return None;
    }
    let (joint_rows, guide_rows) = parts.bilateral_rows.split_at(parts.joints);
    let joint_columns: Vec<usize> = (0..parts.joints).collect();
    let guide_columns: Vec<usize> = (parts.joints..parts.bilateral_rows.len()).collect();
    let all: Vec<usize> = (0..w.rows()).collect();
    let joint = parts.solved.select(&all, &joint_columns);
    let plus = parts.solved.select(&all, &guide_columns);
    // Joints hold whatever the guides do: λ₀ = −A₀₀⁻¹ W₀(·); fold that into the columns.
    let a00 = w.select(joint_rows, joint_rows);
    let fold = |columns: &Matrix, constant: Option<&[f64]>| -> Option<Matrix> {
        let mut r = w.select_rows(joint_rows).mul(columns);
        if let Some(q) = constant {
            for (i, &row) in joint_rows.iter().enumerate() {
                r[(i, 0)] += q[row];
            }
        }
        let x = a00.solve_positive_definite(&r)?;
        let back = joint.mul(&x);
        Some(Matrix::from_fn(columns.rows(), columns.cols(), |i, j| columns[(i, j)] - back[(i, j)]))
    };
    let plus = fold(&plus, None)?;
    let minus = fold(&parts.minus, None)?;
    let offset = fold(&Matrix::zeros(w.rows(), 1), Some(q))?.col(0);
    let u = w.select_rows(guide_rows);
    let a = u.mul(&plus);
    let minus_u = u.mul(&minus);
    let b = Matrix::from_fn(minus_u.rows(), minus_u.cols(), |i, j| -minus_u[(i, j)]);
    let mut vector = u.mul_vec(&offset);
    vector.iter_mut().zip(guide_rows).for_each(|(v, &row)| *v += q[row]);
    Some(HorizontalLift { hlcp: HorizontalLcp { a, b, vector }, plus, minus, offset })
}

/// The normal and slip couplings A_n = N W Nᵀ and A_t = N W E of 000, over the constraints listed, once the
/// rows of `eliminated` are taken out (tilde quantities of 000 eq. 45, 64): E has the slip direction of each
/// constraint, zero for one without friction.
pub fn couplings(w: &Matrix, laws: &[Law], constraints: &[usize], eliminated: &[usize]) -> (Matrix, Matrix) {
    let offsets = row_offsets(laws);
    let n: Vec<usize> = constraints.iter().map(|&k| offsets[k]).collect();
    let mut e = Matrix::zeros(w.rows(), constraints.len());
    for (j, &k) in constraints.iter().enumerate() {
        if let Law::Sliding { slip, .. } | Law::BilateralSliding { slip, .. } = &laws[k] {
            for (i, c) in slip.components().iter().enumerate() {
                e[(offsets[k] + 1 + i, j)] = *c;
            }
        }
    }
    let all: Vec<usize> = (0..w.rows()).collect();
    let projected = crate::problem::constrained_delassus(w, &all, eliminated);
    (projected.select(&n, &n), projected.select_rows(&n).mul(&e))
}
