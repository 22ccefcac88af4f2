//! The generalized friction cone of one contact, and how far its friction is from jamming.
//!
//! ```text
//! M_c⁻¹ = ⎡a hᵀ⎤        the inverse effective mass of the contact, in the order (normal, tangents)
//!         ⎣h H ⎦
//! ```
//!
//! a is a number, h ∈ R^d, H is d × d with d tangents.
//!
//! | quantity | formula | source |
//! |---|---|---|
//! | cone | δuᵀ Q δu ≤ 0, Q = M_c Q_μ M_c, Q_μ = diag(−μ², I) | 003 eq. 21, 28–31 |
//! | critical friction | μ_crit = ‖H⁻¹h‖ | 003 eq. 34 |
//! | jamming friction | μ_jam = a/‖h‖ | 003 eq. 36 |
//! | jamming direction | e_jam = h/‖h‖ | 003 eq. 40 |
//! | locking angle | α = 2 arccos(μ_jam/μ) where μ > μ_jam | 003 eq. 41 |
//!
//! In a system with other constraints the block is the Schur complement in which those are bilateral (003
//! §4): see [`crate::problem::constrained_delassus`].

use crate::linalg::{Matrix, dot, norm};

/// The friction cone and jamming of one contact (003).
#[derive(Clone, Debug)]
pub struct FrictionCone {
    /// M_c⁻¹ in the order (normal, tangents).
    pub inverse_effective_mass: Matrix,
    /// M_c; `None` where the contact's directions are dependent once the other constraints are held.
    pub effective_mass: Option<Matrix>,
    /// Q in the order (normal, tangents); `None` with the effective mass.
    pub cone: Option<Matrix>,
    /// Whether the other constraints hold the normal, up to rounding: a = 0 and h = 0, and there is nothing
    /// that friction could add to or take from.
    pub is_held: bool,
    /// μ_crit; `None` where the tangential block is singular or the normal is held.
    pub mu_crit: Option<f64>,
    /// μ_jam; `None` where it is infinite (normal and tangents not coupled) or the normal is held.
    pub mu_jam: Option<f64>,
    /// e_jam; zero where normal and tangents are not coupled.
    pub jamming_direction: Vec<f64>,
    /// α in radians; `None` where no direction locks.
    pub locking_angle: Option<f64>,
}

/// The cone of a contact with this inverse effective mass (normal first) and friction coefficient.
///
/// `rounding` δ, one per row or empty where there is none: what rounding may have left of the diagonal
/// entries, and √(δᵢ δⱼ) of the others. A matrix that such an error may have made definite has no inverse
/// here, and of a number that it may have changed by a hundredth nothing is said: a normal counts as held
/// there, and a coupling as none.
pub fn friction_cone(inverse_effective_mass: Matrix, rounding: &[f64], mu: f64) -> FrictionCone {
    let d = inverse_effective_mass.rows();
    let left = |i: usize| rounding.get(i).copied().unwrap_or(0.0);
    // An error E with |E_ij| ≤ √(δᵢ δⱼ) has xᵀEx ≤ d xᵀdiag(δ)x.
    let definite = |rows: &[usize]| {
        let block = inverse_effective_mass.select(rows, rows);
        let least = |i: usize| d as f64 * left(rows[i]);
        Matrix::from_fn(rows.len(), rows.len(), |i, j| block[(i, j)] - if i == j { least(i) } else { 0.0 })
            .is_positive_definite()
    };
    let a = inverse_effective_mass[(0, 0)];
    let h: Vec<f64> = (1..d).map(|i| inverse_effective_mass[(i, 0)]).collect();
    let tangents: Vec<usize> = (1..d).collect();
    let big_h = inverse_effective_mass.select(&tangents, &tangents);
    let trace: f64 = (1..d).map(|i| inverse_effective_mass[(i, i)]).sum();
    let coupling = norm(&h);
    // ‖h‖ ≤ √(a tr H) always; below what a Schur complement leaves of that bound there is no coupling.
    let mixed = (left(0) * (1..d).map(left).sum::<f64>()).sqrt();
    let coupled = coupling > (100.0 * mixed).max(1e-11 * (a * trace).max(0.0).sqrt());
    // The normal is free to accelerate only if a > 0. Where its rounding is not given, a Schur complement
    // leaves 1e-13 or so of its largest entries.
    let noise = if rounding.is_empty() { 1e-12 * (a.abs() + trace) } else { 100.0 * left(0) };
    let is_held = a <= noise;
    let mu_jam = (coupled && !is_held).then(|| a / coupling);
    let jamming_direction = h.iter().map(|x| if coupled { x / coupling } else { 0.0 }).collect::<Vec<f64>>();
    let locking_angle = mu_jam.filter(|jam| mu > *jam).map(|jam| 2.0 * (jam / mu).acos());
    let column = Matrix::from_vec(h.len(), 1, if coupled { h } else { vec![0.0; h.len()] });
    let solved = |a: &Matrix, b: &Matrix, rows: &[usize]| {
        definite(rows).then(|| a.solve_positive_definite(b)).flatten()
    };
    let mu_crit = solved(&big_h, &column, &tangents).filter(|_| !is_held).map(|x| norm(x.data()));
    let all: Vec<usize> = (0..d).collect();
    let effective_mass = solved(&inverse_effective_mass, &Matrix::identity(d), &all);
    let cone = effective_mass.as_ref().map(|m| {
        let q_mu = Matrix::from_fn(d, d, |i, j| match (i, j) {
            (0, 0) => -mu * mu,
            _ if i == j => 1.0,
            _ => 0.0,
        });
        m.mul(&q_mu).mul(m).symmetric_part()
    });
    FrictionCone {
        is_held,
        inverse_effective_mass,
        effective_mass,
        cone,
        mu_crit,
        mu_jam,
        jamming_direction,
        locking_angle,
    }
}

impl FrictionCone {
    /// Whether sliding in the direction `slip` with friction μ jams: e_jam · e_t > μ_jam/μ (003 eq. 39).
    pub fn jams(&self, mu: f64, slip: &[f64]) -> bool {
        self.mu_jam.is_some_and(|jam| mu * dot(&self.jamming_direction, slip) > jam)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rod of mass 1 at 45°, planar: a = 5/2, h = −3/2, H = 5/2 (003 Fig. 2).
    fn rod(mu: f64) -> FrictionCone {
        friction_cone(Matrix::from_rows(&[[2.5, -1.5], [-1.5, 2.5]]), &[], mu)
    }

    #[test]
    fn eq_003_34_critical_friction_of_the_rod() {
        assert!((rod(2.0).mu_crit.unwrap() - 0.6).abs() < 1e-15);
        // Without coupling the critical friction is zero.
        assert_eq!(friction_cone(Matrix::diagonal(&[1.0, 2.0]), &[], 1.0).mu_crit, Some(0.0));
    }

    #[test]
    fn eq_003_36_jamming_friction_of_the_rod() {
        assert!((rod(2.0).mu_jam.unwrap() - 5.0 / 3.0).abs() < 1e-15);
        assert_eq!(friction_cone(Matrix::diagonal(&[1.0, 2.0]), &[], 1.0).mu_jam, None);
    }

    #[test]
    fn eq_003_39_jams_only_in_the_jamming_direction() {
        assert!(rod(2.0).jams(2.0, &[-1.0]));
        assert!(!rod(2.0).jams(2.0, &[1.0]));
        assert!(!rod(1.6).jams(1.6, &[-1.0]));
    }

    #[test]
    fn eq_003_41_locking_angle_of_the_rod() {
        // 003 Fig. 3: 67.1° at μ = 2.
        assert!((rod(2.0).locking_angle.unwrap().to_degrees() - 67.11461952384141).abs() < 1e-9);
        assert_eq!(rod(1.6).locking_angle, None);
    }

    #[test]
    fn eq_003_28_cone_contains_what_friction_can_do() {
        // δu = M_c⁻¹ f with f on the classic cone lies on κ_g; inside for smaller friction, outside for
        // larger.
        let c = rod(2.0);
        let q = c.cone.as_ref().unwrap();
        for (f, sign) in [([1.0, 2.0], 0.0), ([1.0, -2.0], 0.0), ([1.0, 1.0], -1.0), ([1.0, 3.0], 1.0)] {
            let du = c.inverse_effective_mass.mul_vec(&f);
            let kappa = dot(&du, &q.mul_vec(&du));
            if sign == 0.0 {
                assert!(kappa.abs() < 1e-13);
            } else {
                assert!(kappa * sign > 0.1);
            }
        }
    }

    #[test]
    fn what_rounding_left_of_a_singular_mass_is_not_inverted() {
        // Rank one, and 1e-12 of rounding: directions that depend on each other.
        let block = || Matrix::from_rows(&[[1.0, 1.0], [1.0, 1.0 + 1e-12]]);
        assert!(friction_cone(block(), &[], 0.5).effective_mass.is_some());
        let c = friction_cone(block(), &[1e-11; 2], 0.5);
        assert!(c.effective_mass.is_none() && c.cone.is_none());
        assert!((c.mu_crit.unwrap() - 1.0).abs() < 1e-10);
        // A normal that the others hold has no jamming value, however small its tangents are.
        let c = friction_cone(Matrix::from_rows(&[[1e-16, 0.0], [0.0, 1e-9]]), &[1e-15, 0.0], 0.5);
        assert!(c.is_held);
        assert_eq!((c.mu_jam, c.mu_crit, c.effective_mass), (None, None, None));
    }

    #[test]
    fn held_normal_has_neither_jamming_nor_critical_friction() {
        let block = Matrix::from_rows(&[[1e-17, 1e-18], [1e-18, 1.0]]);
        for rounding in [&[][..], &[1e-15, 1e-15]] {
            let c = friction_cone(block.clone(), rounding, 0.5);
            assert!(c.is_held);
            assert_eq!((c.mu_jam, c.mu_crit), (None, None));
        }
        // A coupling that is rounding is none: the critical friction is zero, not noise.
        let c = friction_cone(Matrix::from_rows(&[[1.0, 1e-16], [1e-16, 1.0]]), &[1e-15; 2], 0.5);
        assert_eq!((c.mu_jam, c.mu_crit), (None, Some(0.0)));
    }

    #[test]
    fn the_units_of_the_gap_do_not_decide_whether_the_normal_is_held() {
        // Gaps in units of 2ᵏ: a ← 4ᵏ a, h ← 2ᵏ h, and the numbers follow with 2ᵏ and 2⁻ᵏ.
        for k in [-40, -20, 20, 40] {
            let unit = 2f64.powi(k);
            let block = Matrix::from_rows(&[[2.5 * unit * unit, -1.5 * unit], [-1.5 * unit, 2.5]]);
            let c = friction_cone(block, &[1e-14 * unit * unit, 1e-14], 2.0 * unit);
            assert!((c.mu_jam.unwrap() / unit - 5.0 / 3.0).abs() < 1e-14);
            assert!((c.mu_crit.unwrap() / unit - 0.6).abs() < 1e-14);
            assert!(c.effective_mass.is_some());
        }
    }
}
