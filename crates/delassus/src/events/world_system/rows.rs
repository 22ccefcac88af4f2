//! Rigid bodies at an instant: rows of constraints on their points, with derivatives in closed form.
//!
//! ```text
//! a = R c :   ȧ = ω × a ,   ä = ω̇ × a + ω × ȧ          ω̇ = −ω (2 ε·ε̇)/‖ε‖²   at ε̈ = 0
//! f·ẋ + m·ω = f·ẋ + (2/‖ε‖²) (−(m·u) ẇ + (w m + m × u)·u̇)
//! T: M = m 1 ⊕ (4/‖ε‖⁴ Gᵀ I G + 4 Ī ε εᵀ) ,   F = 0 ⊕ ((2/‖ε‖²) Gᵀ (ω̄ × I ω̄ + I ω̄̇) + 4 Ī ‖ε̇‖² ε)
//! ```
//!
//! ε = (w, u) the quaternion of a body, ω its angular velocity in world axes and ω̄ = 2 G ε̇/‖ε‖² in its own,
//! G (3 × 4) with G ε = 0 and G Gᵀ = ‖ε‖² 1; c fixed on the body, f and m any force and moment; T the kinetic
//! energy of [`crate::events::world_system`]. Automatic differentiation of the
//! formulas gives the same numbers coordinate by coordinate; a test compares the two.

use delassus_solve::linalg::Matrix;

use super::vectors::{PER_BODY, Slot, Vector, add, angular_velocity, cross, dot, rotated, scale, velocity};
use crate::formula::Point;

/// Something with its first and second rate at q̈ = 0.
pub(super) type Course = [Vector<f64>; 3];

/// a·b with its rates.
pub(super) fn product(a: &Course, b: &Course) -> [f64; 3] {
    [
        dot(a[0], b[0]),
        dot(a[1], b[0]) + dot(a[0], b[1]),
        dot(a[2], b[0]) + 2.0 * dot(a[1], b[1]) + dot(a[0], b[2]),
    ]
}

/// A body at an instant; the ground does not move.
pub(super) struct Motion<'a> {
    at: Point<'a, f64>,
    slot: Slot,
    omega: Vector<f64>,
    omega_rate: Vector<f64>,
}

impl<'a> Motion<'a> {
    pub(super) fn new(slot: Slot, at: &Point<'a, f64>) -> Motion<'a> {
        let (mut omega, mut omega_rate) = ([0.0; 3], [0.0; 3]);
        if let Some(s) = slot {
            let (q, v) = (&at.q[PER_BODY * s + 3..], &at.v[PER_BODY * s + 3..]);
            let (mut size, mut stretch) = (0.0, 0.0);
            for k in 0..4 {
                size += q[k] * q[k];
                stretch += q[k] * v[k];
            }
            omega = angular_velocity(s, 1.0, at);
            omega_rate = scale(omega, -2.0 * stretch / size);
        }
        Motion { at: *at, slot, omega, omega_rate }
    }

    /// ω × a.
    pub(super) fn spun(&self, a: Vector<f64>) -> Vector<f64> {
        cross(self.omega, a)
    }

    /// R c.
    pub(super) fn rotated(&self, c: [f64; 3]) -> Course {
        let a = rotated(self.slot, c, &self.at);
        let rate = self.spun(a);
        [a, rate, add(cross(self.omega_rate, a), self.spun(rate))]
    }

    /// x + R c.
    pub(super) fn place(&self, c: [f64; 3]) -> Course {
        let [a, rate, second] = self.rotated(c);
        match self.slot {
            None => [a, rate, second],
            Some(s) => {
                let three = |x: &[f64]| [x[PER_BODY * s], x[PER_BODY * s + 1], x[PER_BODY * s + 2]];
                [add(three(self.at.q), a), add(three(self.at.v), rate), second]
            }
        }
    }

    /// ẋ + ω × ρ of a point at ρ from the centre of mass, and its rate where ρ has this one.
    pub(super) fn velocity(&self, rho: Vector<f64>, rho_rate: Vector<f64>) -> [Vector<f64>; 2] {
        let rate = add(cross(self.omega_rate, rho), cross(self.omega, rho_rate));
        [velocity(self.slot, rho, &self.at), rate]
    }

    /// Adds the gradient of f·ẋ + m·ω by the velocities of the body.
    pub(super) fn push(&self, f: Vector<f64>, m: Vector<f64>, gradient: &mut [f64]) {
        let Some(s) = self.slot else { return };
        let q = &self.at.q[PER_BODY * s + 3..PER_BODY * s + 7];
        let (w, u) = (q[0], [q[1], q[2], q[3]]);
        let part = 2.0 / (w * w + dot(u, u));
        let across = add(scale(m, w), cross(m, u));
        let g = &mut gradient[PER_BODY * s..PER_BODY * (s + 1)];
        for k in 0..3 {
            g[k] += f[k];
            g[4 + k] += part * across[k];
        }
        g[3] -= part * dot(m, u);
    }
}

/// M and F of bodies with these masses and principal moments.
pub(super) fn kinetic_terms(bodies: &[(f64, [f64; 3])], at: &Point<'_, f64>) -> (Matrix, Vec<f64>) {
    let n = at.q.len();
    let (mut mass, mut force) = (Matrix::zeros(n, n), vec![0.0; n]);
    for (slot, (m, inertia)) in bodies.iter().enumerate() {
        let first = PER_BODY * slot;
        for k in first..first + 3 {
            mass[(k, k)] = *m;
        }
        let (e, de) = (&at.q[first + 3..first + 7], &at.v[first + 3..first + 7]);
        let (w, x, y, z) = (e[0], e[1], e[2], e[3]);
        let g = [[-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]];
        let (mut size, mut stretch, mut speed) = (0.0, 0.0, 0.0);
        for k in 0..4 {
            size += e[k] * e[k];
            stretch += e[k] * de[k];
            speed += de[k] * de[k];
        }
        let mean = inertia.iter().sum::<f64>() / 3.0;
        let omega: Vector<f64> = angular_velocity(slot, -1.0, at);
        let momentum: Vector<f64> = std::array::from_fn(|k| inertia[k] * omega[k]);
        let moment = add(cross(omega, momentum), scale(momentum, -2.0 * stretch / size));
        for i in 0..4 {
            for j in 0..=i {
                let rotational: f64 = (0..3).map(|k| inertia[k] * g[k][i] * g[k][j]).sum();
                let entry = 4.0 * (rotational / (size * size) + mean * e[i] * e[j]);
                mass[(first + 3 + i, first + 3 + j)] = entry;
                mass[(first + 3 + j, first + 3 + i)] = entry;
            }
            let rotational: f64 = (0..3).map(|k| g[k][i] * moment[k]).sum();
            force[first + 3 + i] = 2.0 * rotational / size + 4.0 * mean * speed * e[i];
        }
    }
    (mass, force)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: Vector<f64>, b: Vector<f64>) -> bool {
        (0..3).all(|k| (a[k] - b[k]).abs() < 1e-14)
    }

    /// A point at (1, 0, 0) of a body that turns about z with 3 rad/s moves on a circle.
    #[test]
    fn a_point_of_a_rotating_body_goes_round() {
        let q = [5.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
        let v = [0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 1.5];
        let body = Motion::new(Some(0), &Point { q: &q, v: &v, t: 0.0 });
        let [place, rate, second] = body.place([1.0, 0.0, 0.0]);
        assert!(
            near(place, [6.0, 0.0, 0.0]) && near(rate, [0.0, 3.0, 2.0]) && near(second, [-9.0, 0.0, 0.0])
        );
        let [velocity, _] = body.velocity([1.0, 0.0, 0.0], [0.0; 3]);
        assert!(near(velocity, [0.0, 3.0, 2.0]));
        let ground = Motion::new(None, &Point { q: &q, v: &v, t: 0.0 });
        assert_eq!(ground.place([1.0, 2.0, 3.0]), [[1.0, 2.0, 3.0], [0.0; 3], [0.0; 3]]);
    }

    #[test]
    fn products_have_their_rates() {
        // a = (1, t, t²) and b = (t, t, 1) at t = 2: a·b = t + 2 t², with the rates 1 + 4 t and 4.
        let a = [[1.0, 2.0, 4.0], [0.0, 1.0, 4.0], [0.0, 0.0, 2.0]];
        let b = [[2.0, 2.0, 1.0], [1.0, 1.0, 0.0], [0.0; 3]];
        assert_eq!(product(&a, &b), [10.0, 9.0, 4.0]);
    }

    /// A state with a quaternion that is not of unit length.
    const Q: [f64; 7] = [0.3, -0.1, 0.7, 0.9, 0.2, -0.4, 0.3];
    const V: [f64; 7] = [1.0, 2.0, -3.0, 0.2, -0.5, 0.7, 1.1];

    /// gradient·v = f·ẋ + m·ω, which is linear in v.
    #[test]
    fn the_gradient_of_a_push_gives_its_power() {
        let at = Point { q: &Q, v: &V, t: 0.0 };
        let (f, m) = ([1.0, -2.0, 0.5], [0.3, 0.4, -1.0]);
        let mut gradient = [0.0; 7];
        Motion::new(Some(0), &at).push(f, m, &mut gradient);
        let power = dot(f, [1.0, 2.0, -3.0]) + dot(m, angular_velocity(0, 1.0, &at));
        let found: f64 = gradient.iter().zip(V).map(|(g, v)| g * v).sum();
        assert!((found - power).abs() < 1e-13, "{found} for {power}");
        let mut ground = [0.0; 7];
        Motion::new(None, &at).push(f, m, &mut ground);
        assert_eq!(ground, [0.0; 7]);
    }

    /// ½ vᵀMv = ½ m ẋ² + ½ ω̄ᵀIω̄ + ½ Ī (2 ε·ε̇)², and F·v = ½ vᵀṀv along q̇ = v, as for every kinetic energy
    /// ½ vᵀM(q)v; Ṁ by differences, whose error is 1e-10 of the second derivative of M and 1e-16/1e-5.
    #[test]
    fn kinetic_terms_are_those_of_the_kinetic_energy() {
        let bodies = [(2.0, [0.2, 0.3, 0.4])];
        let (inertia, mean) = ([0.2, 0.3, 0.4], 0.3);
        let energy = |q: &[f64]| {
            let (mass, _) = kinetic_terms(&bodies, &Point { q, v: &V, t: 0.0 });
            0.5 * mass.mul_vec(&V).iter().zip(V).map(|(p, v)| p * v).sum::<f64>()
        };
        let at = Point { q: &Q, v: &V, t: 0.0 };
        let omega: Vector<f64> = angular_velocity(0, -1.0, &at);
        let stretch: f64 = (3..7).map(|k| 2.0 * Q[k] * V[k]).sum();
        let rotational: f64 = (0..3).map(|k| inertia[k] * omega[k] * omega[k]).sum();
        let expected = 0.5 * (2.0 * 14.0 + rotational + mean * stretch * stretch);
        assert!((energy(&Q) - expected).abs() < 1e-13 * expected);
        let (_, force) = kinetic_terms(&bodies, &at);
        let ahead = |h: f64| energy(&std::array::from_fn::<f64, 7, _>(|k| Q[k] + h * V[k]));
        let rate = (ahead(1e-5) - ahead(-1e-5)) / 2e-5;
        let power: f64 = force.iter().zip(V).map(|(f, v)| f * v).sum();
        assert!((power - rate).abs() < 1e-8 * expected, "{power} for {rate}");
    }
}
