//! A primal–dual interior point method for Coulomb's law, with the term of De Saxcé inside of the Newton
//! system.
//!
//! With T = diag(1, μ, μ) the cones become Lorentz cones L = {‖x_t‖ ≤ x_n}: r = T x, z = T û, and the law
//! reads L ∋ x ⊥ z ∈ L, z = v + ‖v_t‖ e_n, v = T W T x + T q. The path x ∘ z = τ e is followed to τ = 0. With
//! the scaling point p of Nesterov and Todd, P(p) z = x, a step solves
//!
//! (T W T + G⁻¹ S) δx = G⁻¹ (τ x⁻¹ − ẑ),  S = P(p⁻¹),  G = I + e_n (v_t/‖v_t‖)ᵀ,  ẑ = v + ‖v_t‖ e_n,
//!
//! δz = τ x⁻¹ − z − S δx. Without G, that is without the derivative of ‖v_t‖, it stalls at a handful of
//! digits. S is positive definite inside of the cones, so that a singular W is no obstacle. A contact with
//! rolling friction has two Lorentz cones that share x_n, one with spinning friction three; their S and z add
//! up there.

use super::budget::SolveCall;
use super::cone::{Cone, length};
use super::island::Island;
use crate::linalg::{Block, BlockLu, BlockMatrix, zero_block};

/// A vector of a Lorentz cone, (n, t₁, t₂); unused tangents are zero.
type Lorentz = [f64; 3];

/// x_n² − ‖x_t‖², without cancellation.
#[inline(always)]
fn determinant(x: &Lorentz) -> f64 {
    let t = (x[1] * x[1] + x[2] * x[2]).sqrt();
    (x[0] - t) * (x[0] + t)
}

/// x⁻¹ = J x / det x.
#[inline(always)]
fn inverse(x: &Lorentz) -> Lorentz {
    let d = 1.0 / determinant(x);
    [d * x[0], -d * x[1], -d * x[2]]
}

/// The point p with P(p) z = x, P(p) = 2 p pᵀ − det(p) J.
fn scaling_point(x: &Lorentz, z: &Lorentz) -> Lorentz {
    let (dx, dz) = (determinant(x).sqrt(), determinant(z).sqrt());
    let (x, z) = (x.map(|a| a / dx), z.map(|a| a / dz));
    let gamma = (0.5 * (1.0 + x[0] * z[0] + x[1] * z[1] + x[2] * z[2])).sqrt();
    let k = 0.5 * (dx / dz).sqrt() / gamma;
    [k * (x[0] + z[0]), k * (x[1] - z[1]), k * (x[2] - z[2])]
}

/// P(p) x.
#[inline(always)]
fn quadratic(p: &Lorentz, x: &Lorentz) -> Lorentz {
    let (along, d) = (2.0 * (p[0] * x[0] + p[1] * x[1] + p[2] * x[2]), determinant(p));
    [along * p[0] - d * x[0], along * p[1] + d * x[1], along * p[2] + d * x[2]]
}

/// The largest a with x + a d in the cone.
fn step_to_edge(x: &Lorentz, d: &Lorentz) -> f64 {
    let form = |x: &Lorentz, y: &Lorentz| x[0] * y[0] - x[1] * y[1] - x[2] * y[2];
    // det(x + a d) = c + 2 b a + k a².
    let (k, b, c) = (form(d, d), form(x, d), determinant(x));
    let mut least = if d[0] < 0.0 { -x[0] / d[0] } else { f64::INFINITY };
    let discriminant = b * b - k * c;
    if discriminant >= 0.0 {
        let s = -(b + discriminant.sqrt().copysign(b));
        for a in [s / k, c / s] {
            if a > 0.0 && a < least {
                least = a;
            }
        }
    }
    least
}

/// The rows of the Lorentz cones of a constraint.
fn cones_of(cone: Cone) -> &'static [&'static [usize]] {
    match cone {
        Cone::Free => &[],
        Cone::Ray => &[&[0]],
        Cone::Coulomb { tangents: 1, .. } | Cone::Associated { tangents: 1, .. } => &[&[0, 1]],
        Cone::Coulomb { .. } | Cone::Associated { .. } => &[&[0, 1, 2]],
        Cone::Rolling { .. } | Cone::AssociatedRolling { .. } => &[&[0, 1, 2], &[0, 3, 4]],
        Cone::Spinning { .. } | Cone::AssociatedSpinning { .. } => &[&[0, 1, 2], &[0, 3, 4], &[0, 5]],
    }
}

#[inline(always)]
fn pick<const D: usize>(x: &[f64; D], rows: &[usize]) -> Lorentz {
    let mut out = [0.0; 3];
    for (o, &r) in out.iter_mut().zip(rows) {
        *o = x[r];
    }
    out
}

/// The state of the method between steps, and scratch for them.
#[derive(Clone, Debug, Default)]
pub(super) struct InteriorPoint<const D: usize> {
    w: BlockMatrix<D>,
    q: Vec<[f64; D]>,
    /// The diagonal of T.
    scale: Vec<[f64; D]>,
    x: Vec<[f64; D]>,
    z: Vec<[Lorentz; 3]>,
    /// Scaling points, inverted.
    points: Vec<[Lorentz; 3]>,
    v: Vec<[f64; D]>,
    u: Vec<[f64; D]>,
    r: Vec<[f64; D]>,
    shift: Vec<Block<D>>,
    step: Vec<[f64; D]>,
    step_z: Vec<[Lorentz; 3]>,
    /// What the next step asks of τ, relative to what it is.
    sigma: f64,
    /// The fraction of the distance to the boundary that a step covers.
    step_fraction: f64,
}

/// Where some steps along the central path have come.
pub(super) struct PathPoint {
    pub error: f64,
    pub steps: usize,
    /// Whether more steps may help.
    pub can_continue: bool,
}

impl<const D: usize> InteriorPoint<D> {
    /// Begins on the axes of the cones; with `caution` further inside, and each step stays further away from
    /// the boundary.
    pub fn start(&mut self, island: &Island<D>, caution: bool) {
        let (inside, step_fraction) = if caution { (10.0, 0.9) } else { (1.0, 0.995) };
        self.step_fraction = step_fraction;
        let Island { w, q, cones, rho } = island;
        let n = w.len();
        self.scale.clear();
        self.scale.extend(cones.iter().map(|cone| {
            let mut t = [1.0; D];
            match *cone {
                Cone::Coulomb { mu, .. } | Cone::Associated { mu, .. } => t[1..].fill(mu),
                Cone::Rolling { mu, rolling } | Cone::AssociatedRolling { mu, rolling } => {
                    for c in 1..D {
                        t[c] = if c < 3 { mu } else { rolling };
                    }
                }
                Cone::Spinning { mu, rolling, spinning }
                | Cone::AssociatedSpinning { mu, rolling, spinning } => {
                    (1..D).for_each(|c| t[c] = [mu, rolling, spinning][(c - 1) / 2]);
                }
                Cone::Free | Cone::Ray => {}
            }
            t
        }));
        self.w.copy_from(w);
        for i in 0..n {
            for at in w.start[i]..w.start[i + 1] {
                let (a, b) = (self.scale[i], self.scale[w.column[at]]);
                for r in 0..D {
                    for c in 0..D {
                        self.w.value[at][r][c] *= a[r] * b[c];
                    }
                }
            }
        }
        self.q.clear();
        self.q.extend(q.iter().zip(&self.scale).map(|(q, t)| std::array::from_fn(|c| q[c] * t[c])));
        let speed = self.q.iter().flatten().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
        let force = (0..n).map(|i| rho[i] * length(&q[i], 0, D)).fold(f64::MIN_POSITIVE, f64::max);
        self.x.clear();
        self.z.clear();
        for cone in cones {
            let mut x = [0.0; D];
            if *cone != Cone::Free {
                x[0] = inside * force;
            }
            self.x.push(x);
            self.z.push([[speed, 0.0, 0.0]; 3]);
        }
        self.points.resize(n, [[0.0; 3]; 3]);
        self.step_z.resize(n, [[0.0; 3]; 3]);
        for vector in [&mut self.v, &mut self.u, &mut self.r, &mut self.step] {
            vector.resize(n, [0.0; D]);
        }
        self.shift.resize(n, zero_block());
        self.sigma = 0.3;
    }

    /// Steps until the error of r = T x is below the target; the best r is left in `r`.
    pub fn run(
        &mut self,
        island: &Island<D>,
        r: &mut [[f64; D]],
        SolveCall { target, limit, budget, .. }: SolveCall<'_>,
        lu: &mut BlockLu<D>,
    ) -> PathPoint {
        let mut best = f64::INFINITY;
        let work = 2 * island.work() + lu.multiplications();
        for steps in 0..=limit {
            for ((r, x), t) in self.r.iter_mut().zip(&self.x).zip(&self.scale) {
                *r = std::array::from_fn(|c| x[c] * t[c]);
            }
            let error = island.error(&self.r, &mut self.u);
            if error < best {
                best = error;
                r.copy_from_slice(&self.r);
            }
            if best <= target || steps == limit {
                return PathPoint { error: best, steps, can_continue: true };
            }
            if !budget.spend(work) || !self.advance(&island.cones, &island.rho, lu) {
                return PathPoint { error: best, steps, can_continue: false };
            }
        }
        PathPoint { error: best, steps: limit, can_continue: true }
    }

    /// One step; false where there is none.
    fn advance(&mut self, cones: &[Cone], rho: &[f64], lu: &mut BlockLu<D>) -> bool {
        self.w.mul_into(&self.x, &mut self.v);
        let (mut product, mut count) = (0.0, 0);
        for (i, &cone) in cones.iter().enumerate() {
            for c in 0..D {
                self.v[i][c] += self.q[i][c];
            }
            for (k, rows) in cones_of(cone).iter().enumerate() {
                let (x, z) = (pick(&self.x[i], rows), self.z[i][k]);
                product += x[0] * z[0] + x[1] * z[1] + x[2] * z[2];
                count += 1;
            }
        }
        let tau = self.sigma * product / f64::from(count.max(1));
        for (i, &cone) in cones.iter().enumerate() {
            self.prepare(i, cone, rho[i], tau);
        }
        if !lu.factor(&self.w, &self.shift) {
            return false;
        }
        lu.solve(&mut self.step);
        let mut to_boundary = f64::INFINITY;
        for (i, &cone) in cones.iter().enumerate() {
            for (k, rows) in cones_of(cone).iter().enumerate() {
                let (x, d, z) = (pick(&self.x[i], rows), pick(&self.step[i], rows), self.z[i][k]);
                let (inv, moved) = (inverse(&x), quadratic(&self.points[i][k], &d));
                let dz = std::array::from_fn(|c| tau * inv[c] - z[c] - moved[c]);
                self.step_z[i][k] = dz;
                to_boundary = to_boundary.min(step_to_edge(&x, &d)).min(step_to_edge(&z, &dz));
            }
        }
        let length = (self.step_fraction * to_boundary).min(1.0);
        if length.is_nan() || length < 1e-12 {
            return false;
        }
        for (x, d) in self.x.iter_mut().flatten().zip(self.step.iter().flatten()) {
            *x += length * d;
        }
        for (z, d) in self.z.iter_mut().flatten().flatten().zip(self.step_z.iter().flatten().flatten()) {
            *z += length * d;
        }
        self.sigma = match length {
            a if a > 0.9 => 0.01,
            a if a > 0.5 => 0.1,
            a if a > 0.2 => 0.3,
            _ => 0.7,
        };
        true
    }

    /// The block and the right-hand side of one constraint.
    fn prepare(&mut self, i: usize, cone: Cone, rho: f64, tau: f64) {
        let v = &self.v[i];
        let (mut s, mut direction) = (zero_block::<D>(), [0.0; D]);
        let mut rhs = v.map(|x| -x);
        for (k, rows) in cones_of(cone).iter().enumerate() {
            let x = pick(&self.x[i], rows);
            let p = inverse(&scaling_point(&x, &self.z[i][k]));
            self.points[i][k] = p;
            let (d, inv) = (determinant(&p), inverse(&x));
            for (a, &ra) in rows.iter().enumerate() {
                for (b, &rb) in rows.iter().enumerate() {
                    s[ra][rb] += 2.0 * p[a] * p[b];
                }
                s[ra][ra] += if a == 0 { -d } else { d };
                rhs[ra] += tau * inv[a];
            }
            if matches!(cone, Cone::Coulomb { .. } | Cone::Rolling { .. } | Cone::Spinning { .. }) {
                let slip = rows[1..].iter().map(|&r| v[r] * v[r]).sum::<f64>().sqrt();
                rhs[0] -= slip;
                for &r in &rows[1..] {
                    direction[r] = if slip > 0.0 { v[r] / slip } else { 0.0 };
                }
            }
        }
        // G⁻¹ = I − e_n dᵀ.
        for c in 0..D {
            s[0][c] -= (1..D).map(|r| direction[r] * s[r][c]).sum::<f64>();
        }
        rhs[0] -= (1..D).map(|r| direction[r] * rhs[r]).sum::<f64>();
        // What rounding may take from a pivot that W leaves empty.
        for c in 0..D {
            if c < cone.rows() {
                s[c][c] += 1e-14 / rho;
            } else {
                s[c][c] = 1.0;
                rhs[c] = 0.0;
            }
        }
        self.shift[i] = s;
        self.step[i] = rhs;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scaling_point_maps_one_on_the_other() {
        let (x, z) = ([2.0, 0.5, -1.0], [1.5, -1.2, 0.7]);
        let p = scaling_point(&x, &z);
        for (a, b) in quadratic(&p, &z).iter().zip(x) {
            assert!((a - b).abs() < 1e-14);
        }
        for (a, b) in quadratic(&inverse(&p), &x).iter().zip(z) {
            assert!((a - b).abs() < 1e-14);
        }
    }

    #[test]
    fn the_room_ends_on_the_cone() {
        for d in [[-1.0, 0.3, 0.2], [0.1, 2.0, -1.0], [1.0, -1.5, 0.0]] {
            let x = [1.0, 0.2, 0.1];
            let a = step_to_edge(&x, &d);
            let end = std::array::from_fn(|c| x[c] + a * d[c]);
            assert!(determinant(&end).abs() < 1e-13 && end[0] > 0.0, "{d:?} {a}");
        }
        assert_eq!(step_to_edge(&[1.0, 0.0, 0.0], &[1.0, 0.5, 0.0]), f64::INFINITY);
    }
}
