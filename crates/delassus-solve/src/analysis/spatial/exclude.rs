//! Pieces of the laws that hold no solution.
//!
//! ```text
//! u = W f + q ,   f ∈ C ,   u ∈ D        empty where some y has   Wᵀy − z c ∈ C* ,   −y ∈ D* ,   y·q + z b > 0 ,   z ≥ 0
//! ```
//!
//! W is m × m; C and D are cones of forces and velocities, one for each contact; c·f ≥ b is one inequality
//! more (z = 0 without). Proof: y·u ≤ 0, and y·u = (Wᵀy)·f + y·q ≥ z c·f + y·q ≥ z b + y·q > 0. The
//! multipliers y and z come from a linear program; that they have these properties is checked in interval
//! arithmetic, for all data within their bounds.

use super::pieces::{Piece, Rays};
use super::reduced::{Contact, Contacts};
use crate::lcp::{Lp, linear_program};
use crate::linalg::{Interval, Matrix, dot, norm};

/// c·f ≥ b where c has one entry, ±1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beyond {
    /// The row of the force.
    pub row: usize,
    /// The entry of c.
    pub sign: f64,
    /// b.
    pub bound: f64,
}

/// Multipliers that exclude a choice of pieces, z last; `None` where none were found.
pub(super) fn exclude(
    contacts: &Contacts,
    pieces: &[Piece],
    beyond: Option<Beyond>,
    corners: usize,
) -> Option<Vec<f64>> {
    let rays: Vec<Rays> =
        contacts.contacts.iter().zip(pieces).map(|(c, piece)| piece.rays(c, corners)).collect();
    let y = multipliers(contacts, &rays, beyond)?;
    is_excluded_by(contacts, &rays, beyond, &y).then_some(y)
}

/// The multipliers with the widest margins.
fn multipliers(contacts: &Contacts, rays: &[Rays], beyond: Option<Beyond>) -> Option<Vec<f64>> {
    let w = &contacts.w_middle;
    let m = w.rows();
    // Where velocities are free y is zero.
    let used: Vec<usize> = contacts
        .contacts
        .iter()
        .zip(rays)
        .flat_map(|(c, r)| if r.free { c.rows.start..c.rows.start + 1 } else { c.rows.clone() })
        .collect();
    // Unknowns: y, z, and the margin t.
    let k = used.len();
    let (mut g, mut h) = (Vec::new(), Vec::new());
    let mut demand = |y: &[f64], z: f64, margin: f64| {
        g.push(y.iter().copied().chain([z, -margin]).collect::<Vec<f64>>());
        h.push(0.0);
    };
    let middle = |ray: &[Interval]| ray.iter().map(|x| x.middle()).collect::<Vec<f64>>();
    for (contact, r) in contacts.contacts.iter().zip(rays) {
        for ray in &r.velocity {
            let ray = middle(ray);
            let along = |i: &usize| if contact.rows.contains(i) { -ray[i - contact.rows.start] } else { 0.0 };
            let y: Vec<f64> = used.iter().map(along).collect();
            demand(&y, 0.0, norm(&y));
        }
        for ray in &r.force {
            let ray = middle(ray);
            let along = |i: &usize| dot(&w.row(*i)[contact.rows.clone()], &ray);
            let y: Vec<f64> = used.iter().map(along).collect();
            let z = beyond.filter(|b| contact.rows.contains(&b.row));
            let z = z.map_or(0.0, |b| -b.sign * ray[b.row - contact.rows.start]);
            let length = norm(&y).hypot(z);
            demand(&y, z, length);
        }
    }
    let load: Vec<f64> = used.iter().map(|i| contacts.q_middle[*i]).collect();
    let gain = beyond.map_or(0.0, |b| b.bound);
    demand(&load, gain, norm(&load).hypot(gain).max(1e-3));
    let mut bound = |at: usize, sign: f64, limit: f64| {
        g.push((0..k + 2).map(|j| if j == at { sign } else { 0.0 }).collect());
        h.push(limit);
    };
    for i in 0..k {
        bound(i, 1.0, -1.0);
        bound(i, -1.0, -1.0);
    }
    bound(k, 1.0, 0.0);
    bound(k, -1.0, if beyond.is_some() { -1.0 } else { 0.0 });
    bound(k + 1, -1.0, -1.0);
    let cost: Vec<f64> = (0..k + 2).map(|j| if j == k + 1 { -1.0 } else { 0.0 }).collect();
    let Lp::Optimal { point, .. } = linear_program(&cost, &Matrix::from_rows(&g), &h) else { return None };
    if point[k + 1] <= 0.0 {
        return None;
    }
    let mut y = vec![0.0; m + 1];
    used.iter().zip(&point).for_each(|(i, x)| y[*i] = *x);
    y[m] = point[k].max(0.0);
    Some(y)
}

/// Whether multipliers exclude these cones for all data within their bounds.
fn is_excluded_by(contacts: &Contacts, rays: &[Rays], beyond: Option<Beyond>, y: &[f64]) -> bool {
    let m = contacts.q.len();
    let z = y[m];
    let sum = |of: &dyn Fn(usize) -> Interval| (0..m).fold(Interval::ZERO, |sum, i| sum + of(i) * y[i]);
    let gain = sum(&|i| contacts.q[i]) + beyond.map_or(Interval::ZERO, |b| Interval::point(b.bound) * z);
    if !(gain.lo > 0.0 && z >= 0.0) || (z > 0.0 && beyond.is_none()) {
        return false;
    }
    contacts.contacts.iter().zip(rays).all(|(contact, r)| {
        let rows = contact.rows.clone();
        let mut pressed: Vec<Interval> = rows.clone().map(|j| sum(&|i| contacts.w[i][j])).collect();
        if let Some(b) = beyond.filter(|b| rows.contains(&b.row)) {
            let entry = &mut pressed[b.row - rows.start];
            *entry = *entry - Interval::point(b.sign) * z;
        }
        let moved = &y[rows.clone()];
        let against = |ray: &Vec<Interval>| {
            let power = ray.iter().zip(moved).fold(Interval::ZERO, |sum, (r, y)| sum + *r * *y);
            power.hi <= 0.0
        };
        (!r.free || moved[1..].iter().all(|y| *y == 0.0))
            && r.velocity.iter().all(against)
            && if r.cone {
                is_in_dual_cone(contact, &pressed)
            } else {
                r.force.iter().all(|ray| is_on_side(ray, &pressed))
            }
    })
}

/// ray·g ≥ 0.
fn is_on_side(ray: &[Interval], g: &[Interval]) -> bool {
    ray.iter().zip(g).fold(Interval::ZERO, |sum, (r, g)| sum + *r * *g).lo >= 0.0
}

/// g·f ≥ 0 for all f of the friction cone: g_n ≥ μ‖g_t‖, −g_n of a guide that pulls.
fn is_in_dual_cone(contact: &Contact, g: &[Interval]) -> bool {
    let across = g[1..].iter().fold(Interval::ZERO, |sum, x| sum + *x * *x) * contact.mu * contact.mu;
    let least = (g[0] * contact.side).lo;
    let along = Interval::point(least.max(0.0));
    least >= 0.0 && across.hi <= (along * along).lo
}
