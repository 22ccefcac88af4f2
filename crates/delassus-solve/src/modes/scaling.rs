//! A contact problem in numbers of size one, for the enumeration of its modes.
//!
//! ```text
//! f = S f′ ,   u = S⁻¹ u′ ,   W′ = S W S ,   W′_nn = 1 ,   max |q′| = 1
//! ```
//!
//! S is diagonal, with one entry for the normal and one for the tangents of each constraint (μ changes with
//! them). What counts as zero in a row is then a small fraction of that row's own magnitude
//! ([`Scaled::magnitude`]): a light body beside a heavy one is measured by its own weight.

use super::DIRECTION_ROUNDING;
use crate::linalg::{Matrix, dot, max_abs};
use crate::problem::{Dynamics, Law, row_offsets};

/// The problem in scaled numbers: E_a a + E_f f + E_0 = 0 (absent where the mass was eliminated) and
/// u = U_a a + U_f f + U_0.
pub(super) struct Scaled {
    /// Number of accelerations kept as unknowns (0 or n).
    pub(super) kept: usize,
    pub(super) equilibrium_a: Matrix,
    pub(super) equilibrium_f: Matrix,
    pub(super) equilibrium_0: Vec<f64>,
    pub(super) velocity_a: Matrix,
    pub(super) velocity_f: Matrix,
    pub(super) velocity_0: Vec<f64>,
    /// The laws with μ in scaled forces.
    pub(super) laws: Vec<Law>,
    /// What rounding of the free velocity is a part of, row by row: the sum of the terms that make it up.
    pub(super) noise: Vec<f64>,
    /// Physical force of a row per scaled force.
    pub(super) force_unit: Vec<f64>,
    /// Physical velocity of a row per scaled velocity.
    pub(super) velocity_unit: Vec<f64>,
    /// Physical acceleration of a coordinate per scaled one.
    pub(super) acceleration_unit: Vec<f64>,
    /// a = response·f + free (physical), where the mass was eliminated.
    pub(super) response: Matrix,
    pub(super) free_acceleration: Vec<f64>,
}

impl Scaled {
    /// The contact problem of a system with positive definite mass; `None` otherwise.
    pub(super) fn of(d: &Dynamics) -> Option<Self> {
        let r = d.reduce()?;
        let size: Vec<f64> = r.free_acceleration.iter().map(|x| x.abs()).collect();
        let noise: Vec<f64> = (0..d.bias.len())
            .map(|i| {
                d.bias[i].abs() + d.jacobian.row(i).iter().zip(&size).map(|(j, a)| j.abs() * a).sum::<f64>()
            })
            .collect();
        // A free velocity that is nothing but rounding is zero.
        let q: Vec<f64> = r
            .free_velocity
            .iter()
            .zip(&noise)
            .map(|(q, n)| if q.abs() <= 1e-14 * n { 0.0 } else { *q })
            .collect();
        let mut scaled = Self::reduced(&r.delassus, &q, &d.laws, noise);
        scaled.response = r.response;
        scaled.free_acceleration = r.free_acceleration;
        Some(scaled)
    }

    /// From u = W f + q alone, without accelerations.
    pub(super) fn reduced(w: &Matrix, q: &[f64], laws: &[Law], noise: Vec<f64>) -> Self {
        let m = w.rows();
        let s = row_scales(laws, |i| w[(i, i)].abs().sqrt());
        let c = unit_or_one(max_abs(&(0..m).map(|i| s[i] * q[i]).collect::<Vec<_>>()));
        Scaled {
            kept: 0,
            equilibrium_a: Matrix::zeros(0, 0),
            equilibrium_f: Matrix::zeros(0, m),
            equilibrium_0: vec![],
            velocity_a: Matrix::zeros(m, 0),
            velocity_f: Matrix::from_fn(m, m, |i, j| s[i] * w[(i, j)] * s[j]),
            velocity_0: (0..m).map(|i| s[i] * q[i] / c).collect(),
            laws: scaled_laws(laws, &s),
            noise: noise.iter().zip(&s).map(|(x, s)| x * s / c).collect(),
            force_unit: s.iter().map(|x| x * c).collect(),
            velocity_unit: s.iter().map(|x| c / x).collect(),
            acceleration_unit: vec![],
            response: Matrix::zeros(0, m),
            free_acceleration: vec![],
        }
    }

    pub(super) fn with_mass(d: &Dynamics) -> Self {
        let (n, m) = (d.coordinates(), d.jacobian.rows());
        let g: Vec<f64> = (0..n).map(|i| 1.0 / unit_or_one(d.mass[(i, i)].abs().sqrt())).collect();
        let row = |i: usize| (0..n).fold(0.0_f64, |top, k| top.max((d.jacobian[(i, k)] * g[k]).abs()));
        let s = row_scales(&d.laws, row);
        let c = (0..n)
            .map(|i| (g[i] * d.force[i]).abs())
            .chain((0..m).map(|i| (s[i] * d.bias[i]).abs()))
            .fold(0.0, f64::max);
        let c = unit_or_one(c);
        Scaled {
            kept: n,
            equilibrium_a: Matrix::from_fn(n, n, |i, j| g[i] * d.mass[(i, j)] * g[j]),
            equilibrium_f: Matrix::from_fn(n, m, |i, j| -g[i] * d.jacobian[(j, i)] * s[j]),
            equilibrium_0: (0..n).map(|i| g[i] * d.force[i] / c).collect(),
            velocity_a: Matrix::from_fn(m, n, |i, j| s[i] * d.jacobian[(i, j)] * g[j]),
            velocity_f: Matrix::zeros(m, m),
            velocity_0: (0..m).map(|i| s[i] * d.bias[i] / c).collect(),
            laws: scaled_laws(&d.laws, &s),
            noise: (0..m).map(|i| (s[i] * d.bias[i] / c).abs()).collect(),
            force_unit: s.iter().map(|x| x * c).collect(),
            velocity_unit: s.iter().map(|x| c / x).collect(),
            acceleration_unit: g.iter().map(|x| x * c).collect(),
            response: Matrix::zeros(0, m),
            free_acceleration: vec![],
        }
    }

    /// The size of the terms that make up u in each row at (a, f), and a thousandth of those that made up the
    /// free velocity: what is below 10⁻¹¹ of this is rounding.
    pub(super) fn magnitude(&self, a: &[f64], f: &[f64]) -> Vec<f64> {
        let sum = |row: &[f64], x: &[f64]| row.iter().zip(x).map(|(r, x)| (r * x).abs()).sum::<f64>();
        let mut size: Vec<f64> = (0..self.rows())
            .map(|i| {
                let moved = if self.kept > 0 { sum(self.velocity_a.row(i), a) } else { 0.0 };
                self.velocity_0[i].abs() + sum(self.velocity_f.row(i), f) + moved + 1e-3 * self.noise[i]
            })
            .collect();
        // Friction is as large as the normal force makes it, whether or not it moves anything.
        let offsets = row_offsets(&self.laws);
        for (k, law) in self.laws.iter().enumerate() {
            for t in offsets[k] + 1..offsets[k + 1] {
                size[t] = size[t].max(law.mu() * size[offsets[k]]);
            }
        }
        size
    }

    pub(super) fn rows(&self) -> usize {
        self.velocity_0.len()
    }

    /// The physical acceleration at scaled (a, f).
    pub(super) fn acceleration(&self, a: &[f64], f: &[f64]) -> Vec<f64> {
        if self.kept > 0 {
            return a.iter().zip(&self.acceleration_unit).map(|(x, s)| x * s).collect();
        }
        let mut out = self.acceleration_change(&[], f);
        for (x, free) in out.iter_mut().zip(&self.free_acceleration) {
            *x += free;
        }
        out
    }

    /// The physical change of acceleration along scaled directions of (a, f).
    pub(super) fn acceleration_change(&self, a: &[f64], f: &[f64]) -> Vec<f64> {
        if self.kept > 0 {
            return a.iter().zip(&self.acceleration_unit).map(|(x, s)| x * s).collect();
        }
        if self.response.rows() == 0 {
            return vec![];
        }
        self.response.mul_vec(&self.force(f))
    }

    /// As [`Scaled::acceleration_change`] for a unit direction of (a, f), with rounding set to zero: what is
    /// below DIRECTION_ROUNDING of the acceleration that scaled forces of size one may cause.
    pub(super) fn clean_acceleration_change(&self, direction: &[f64]) -> Vec<f64> {
        let (a, f) = direction.split_at(self.kept);
        let size: Vec<f64> = if self.kept > 0 {
            self.acceleration_unit.clone()
        } else {
            (0..self.response.rows())
                .map(|i| self.response.row(i).iter().zip(&self.force_unit).map(|(r, s)| (r * s).abs()).sum())
                .collect()
        };
        let mut change = self.acceleration_change(a, f);
        for (x, size) in change.iter_mut().zip(size) {
            if x.abs() <= DIRECTION_ROUNDING * size {
                *x = 0.0;
            }
        }
        change
    }

    pub(super) fn force(&self, f: &[f64]) -> Vec<f64> {
        f.iter().zip(&self.force_unit).map(|(x, s)| x * s).collect()
    }

    pub(super) fn velocity(&self, u: &[f64]) -> Vec<f64> {
        u.iter().zip(&self.velocity_unit).map(|(x, s)| x * s).collect()
    }

    /// Scaled u at scaled (a, f).
    pub(super) fn scaled_velocity(&self, a: &[f64], f: &[f64]) -> Vec<f64> {
        let mut u = self.scaled_velocity_change(a, f);
        for (x, u0) in u.iter_mut().zip(&self.velocity_0) {
            *x += u0;
        }
        u
    }

    pub(super) fn scaled_velocity_change(&self, a: &[f64], f: &[f64]) -> Vec<f64> {
        (0..self.rows())
            .map(|i| {
                dot(self.velocity_f.row(i), f)
                    + if self.kept > 0 { dot(self.velocity_a.row(i), a) } else { 0.0 }
            })
            .collect()
    }
}

fn unit_or_one(x: f64) -> f64 {
    if x > 0.0 { x } else { 1.0 }
}

/// One scale for the normal and one for the tangents of each constraint, so that friction discs stay round:
/// 1/(largest of `size`).
fn row_scales(laws: &[Law], size: impl Fn(usize) -> f64) -> Vec<f64> {
    let offsets = row_offsets(laws);
    let mut s = Vec::with_capacity(offsets[laws.len()]);
    for k in 0..laws.len() {
        let normal = unit_or_one(size(offsets[k]));
        s.push(1.0 / normal);
        let tangents = offsets[k] + 1..offsets[k + 1];
        let top = tangents.clone().map(&size).fold(0.0, f64::max);
        s.extend(tangents.map(|_| 1.0 / if top > 0.0 { top } else { normal }));
    }
    s
}

/// |f_t| ≤ μ f_n in scaled forces f = s f̂: μ̂ = μ s_n/s_t.
fn scaled_laws(laws: &[Law], s: &[f64]) -> Vec<Law> {
    let offsets = row_offsets(laws);
    laws.iter()
        .enumerate()
        .map(|(k, law)| {
            let mut law = *law;
            if law.dim() > 1 {
                let ratio = s[offsets[k]] / s[offsets[k] + 1];
                match &mut law {
                    Law::Bilateral | Law::Unilateral => {}
                    Law::CoulombPlane { mu }
                    | Law::Coulomb { mu }
                    | Law::Cone { mu }
                    | Law::ConePlane { mu }
                    | Law::Sliding { mu, .. }
                    | Law::BilateralSliding { mu, .. }
                    | Law::BilateralCoulombPlane { mu }
                    | Law::BilateralCoulomb { mu } => *mu *= ratio,
                    Law::CoulombEllipse { mu: [a, b] }
                    | Law::Rolling { mu: a, rolling: b }
                    | Law::ConeRolling { mu: a, rolling: b } => {
                        *a *= ratio;
                        *b *= ratio;
                    }
                    Law::Spinning { mu, rolling, spinning } | Law::ConeSpinning { mu, rolling, spinning } => {
                        [mu, rolling, spinning].into_iter().for_each(|x| *x *= ratio);
                    }
                }
            }
            law
        })
        .collect()
}

/// The contact problem of a system in scaled numbers, (W, laws); `None` where the mass is singular.
pub fn scaled_contact(d: &Dynamics) -> Option<(Matrix, Vec<f64>, Vec<Law>)> {
    let s = Scaled::of(d)?;
    Some((s.velocity_f, s.velocity_0, s.laws))
}
