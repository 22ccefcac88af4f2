//! The pieces of a contact law, and cones of forces and velocities that hold them.
//!
//! ```text
//! open    f = 0                                  u_n ≥ 0
//! stick   ‖f_t‖ ≤ μ f_n                          u = 0
//! slide   f_t = −μ f_n e ,  f_n ≥ 0              u_n = 0 ,  u_t = s e ,  s ≥ 0 ,      e ∈ [e₁, e₂]
//! ```
//!
//! Every solution lies in one of them. A guide with friction is never open: it pushes, as above, or pulls,
//! with −f_n for f_n. In space the directions e of slip are cut into sectors. Their ends are unit vectors
//! with rational components,
//!
//! e(τ) = R iᵏ ((1 − t²) + 2t i)/(1 + t²) ,   τ = k + t ,   k = 0 … 3 ,   0 ≤ t ≤ 1 ,   R = (20 + 21 i)/29
//!
//! (as complex numbers; R keeps the ends off the axes of the problem, where solutions lie often). The arc
//! between e₁ and e₂, at most a quarter of the circle, lies in the triangle of e₁, e₂ and p = (e₁ + e₂)/(1 +
//! e₁·e₂), where the tangents meet: friction is in the cone of (1, −μ e₁), (1, −μ e₂), (1, −μ p).

use super::reduced::Contact;
use crate::linalg::{Interval, rational};
use crate::problem::Law;
use num_bigint::BigInt;
use num_rational::BigRational;

/// A part of a law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Piece {
    /// The whole law.
    Any,
    /// Without force.
    Open,
    /// At rest.
    Stick,
    /// Sliding along e(τ), τ between two numbers of which no integer lies.
    Sector(f64, f64),
    /// Sliding in the plane, with this sign.
    Along(f64),
    /// Closed, with friction in a known direction or none.
    Known,
}

/// Vectors whose nonnegative combinations are all forces, or all velocities, of a piece.
pub(super) struct Rays {
    pub(super) force: Vec<Vec<Interval>>,
    /// Whether forces are also all of the friction cone.
    pub(super) cone: bool,
    pub(super) velocity: Vec<Vec<Interval>>,
    /// Whether the tangential velocity is free.
    pub(super) free: bool,
}

/// e(τ).
pub(super) fn direction(tau: f64) -> [Interval; 2] {
    let turns = tau.floor();
    let t = Interval::point(tau - turns);
    let below = Interval::ONE + t * t;
    let (x, y) = ((Interval::ONE - t * t) / below, t * 2.0 / below);
    let (x, y) = match turns as i64 % 4 {
        0 => (x, y),
        1 => (-y, x),
        2 => (-x, -y),
        _ => (y, -x),
    };
    [(x * 20.0 - y * 21.0) / 29.0, (x * 21.0 + y * 20.0) / 29.0]
}

/// e(τ), exactly; `None` where τ is not finite.
pub(super) fn exact_direction(tau: f64) -> Option<[BigRational; 2]> {
    let whole = |x: i64| BigRational::from(BigInt::from(x));
    let turns = tau.floor();
    let t = rational(tau)? - rational(turns)?;
    let below = whole(1) + &t * &t;
    let (x, y) = ((whole(1) - &t * &t) / &below, whole(2) * t / below);
    let (x, y) = match turns as i64 % 4 {
        0 => (x, y),
        1 => (-y, x),
        2 => (-x, -y),
        _ => (y, -x),
    };
    Some([(&x * whole(20) - &y * whole(21)) / whole(29), (x * whole(21) + y * whole(20)) / whole(29)])
}

/// τ of a direction, up to rounding.
pub(super) fn parameter(e: [f64; 2]) -> f64 {
    // Divided by R.
    let (x, y) = (20.0 * e[0] + 21.0 * e[1], 20.0 * e[1] - 21.0 * e[0]);
    let turns = (y.atan2(x) / std::f64::consts::FRAC_PI_2).rem_euclid(4.0).floor().min(3.0);
    let (x, y) = match turns as i64 {
        0 => (x, y),
        1 => (y, -x),
        2 => (-x, -y),
        _ => (-y, x),
    };
    // tan of half the angle.
    turns + (y / (x.hypot(y) + x)).clamp(0.0, 1.0)
}

impl Piece {
    /// The pieces of a law, of a guide those of its side.
    pub(super) fn all(contact: &Contact) -> Vec<Piece> {
        let open = if contact.is_guide { vec![] } else { vec![Piece::Open] };
        let closed = match contact.law {
            _ if contact.slip.is_some() => vec![Piece::Known],
            Law::CoulombPlane { .. } | Law::BilateralCoulombPlane { .. } => {
                vec![Piece::Stick, Piece::Along(1.0), Piece::Along(-1.0)]
            }
            _ => {
                let sectors = (0..4).map(|k| Piece::Sector(f64::from(k), f64::from(k + 1)));
                [Piece::Stick].into_iter().chain(sectors).collect()
            }
        };
        [open, closed].concat()
    }

    /// Whether it holds no other pieces but smaller sectors.
    pub(super) fn is_mode(self) -> bool {
        self != Piece::Any
    }

    /// The cones of a piece. `corners` is the number of rays around a friction cone.
    pub(super) fn rays(self, contact: &Contact, corners: usize) -> Rays {
        let dim = contact.rows.len();
        let (zero, one, mu) = (Interval::ZERO, Interval::ONE, contact.mu);
        let unit = || {
            let mut x = vec![zero; dim];
            x[0] = one;
            x
        };
        let with = |e: &[Interval]| -> Vec<Interval> {
            std::iter::once(one * contact.side).chain(e.iter().map(|e| -(mu * *e))).collect()
        };
        let known = contact.slip.as_ref().map(|e| with(e));
        let nothing = Rays { force: vec![], cone: false, velocity: vec![], free: false };
        let held = || match (&known, contact.law) {
            (Some(ray), _) => Rays { force: vec![ray.clone()], ..nothing_like() },
            (None, Law::CoulombPlane { .. } | Law::BilateralCoulombPlane { .. }) => {
                Rays { force: vec![with(&[one]), with(&[-one])], ..nothing_like() }
            }
            (None, _) => {
                let around = (0..corners).map(|k| corner(k, corners)).map(|e| with(&e)).collect();
                Rays { force: around, cone: true, ..nothing_like() }
            }
        };
        match self {
            Piece::Any if contact.is_guide => Rays { free: true, ..held() },
            Piece::Any => Rays { velocity: vec![unit()], free: true, ..held() },
            Piece::Open => Rays { velocity: vec![unit()], free: true, ..nothing },
            Piece::Stick => held(),
            Piece::Known => Rays { free: true, ..held() },
            Piece::Along(s) => {
                let s = [Interval::point(s)];
                Rays { force: vec![with(&s)], velocity: vec![vec![zero, s[0]]], ..nothing }
            }
            Piece::Sector(from, to) => {
                let (a, b) = (direction(from), direction(to));
                let below = one + a[0] * b[0] + a[1] * b[1];
                let tip = [(a[0] + b[0]) / below, (a[1] + b[1]) / below];
                let slip = |e: [Interval; 2]| vec![zero, e[0], e[1]];
                let force = vec![with(&a), with(&b), with(&tip)];
                Rays { force, velocity: vec![slip(a), slip(b)], ..nothing }
            }
        }
    }
}

fn nothing_like() -> Rays {
    Rays { force: vec![], cone: false, velocity: vec![], free: false }
}

/// A corner of a regular polygon around the unit circle, up to rounding.
fn corner(k: usize, corners: usize) -> [Interval; 2] {
    let (step, out) =
        (2.0 * std::f64::consts::PI / corners as f64, (std::f64::consts::PI / corners as f64).cos());
    let angle = step * k as f64;
    [Interval::point(angle.cos() / out), Interval::point(angle.sin() / out)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_go_around_once_and_come_back() {
        let mut before = -1.0;
        for k in 0..64 {
            let tau = f64::from(k) / 16.0;
            let e = direction(tau);
            let square = e[0] * e[0] + e[1] * e[1];
            assert!(square.contains(1.0) && square.width() < 1e-14);
            let back = parameter([e[0].middle(), e[1].middle()]);
            assert!((back - tau).abs() < 1e-12 || (back - tau - 4.0).abs() < 1e-12, "{tau} {back}");
            let turned = (e[1].middle().atan2(e[0].middle()) - (21.0_f64).atan2(20.0))
                .rem_euclid(2.0 * std::f64::consts::PI);
            assert!(turned > before - 1e-12 || k == 0, "{tau}");
            before = turned;
        }
        let first = direction(0.0);
        assert!(first[0].contains(20.0 / 29.0) && first[1].contains(21.0 / 29.0), "{first:?}");
    }
}
