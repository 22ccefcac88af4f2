//! The check of forces that balance a load, and of velocities that show that none do, for all data within
//! their bounds.
//!
//! ```text
//! rest:       d = ‖F − B f‖/σ_min(B)    |f_g| + d √(1 + μ²) ≤ μ f_n ,   d ≤ f_n ,   |f_b| + d ≤ L_b
//! collapse:   d = ‖G v‖/σ_min(G)        u_n − Σ μ |u_g| ≥ d (‖J_n‖ + Σ μ ‖J_g‖) ,
//!                                       −Fᵀv − Σ L_b |u_b| > d (‖F‖ + Σ L_b ‖J_b‖)
//! ```
//!
//! Everything is computed in intervals; the front has the proofs. μ f_n − |f_g| changes by at most √(1 + μ²)
//! per distance. Velocities change by the lemma along the rows of joints, so that norms count the coordinates
//! that joints move alone.

use super::regular::{GramFactor, gram_factor, least_singular_value};
use super::{Balance, Support};
use crate::linalg::{Interval, Sparse};

/// Whether supports balance the load at rest with forces near these, for all data within the bounds. Forces
/// that are exactly zero stay so.
pub fn is_rest(balance: &Balance, forces: &[f64]) -> bool {
    if !balance.is_valid() || forces.len() != balance.rows.rows() || forces.iter().any(|f| !f.is_finite()) {
        return false;
    }
    let Touched { b, place, residual, error } = touched(balance, forces);
    let untouched = residual.iter().zip(&place).filter(|(_, place)| place.is_none());
    if untouched.into_iter().any(|(r, _)| *r != Interval::ZERO) {
        return false;
    }
    let touched = residual.iter().zip(&place).filter(|(_, place)| place.is_some()).map(|(r, _)| *r);
    match distance(&b, error, touched) {
        Some(distance) => has_room(balance, forces, distance),
        None => false,
    }
}

/// What forces that are not zero do.
struct Touched {
    /// Their columns of B, on the coordinates that they touch, in the order in which they do.
    b: Sparse,
    /// The row of B of each coordinate; `None` where nothing touches it.
    place: Vec<Option<usize>>,
    /// F − B f of each coordinate.
    residual: Vec<Interval>,
    /// How far B may be off, squared.
    error: Interval,
}

fn touched(balance: &Balance, forces: &[f64]) -> Touched {
    let parts: Vec<usize> = (0..forces.len()).filter(|&i| forces[i] != 0.0).collect();
    let mut residual = balance.load_bounds();
    let mut place = vec![None; residual.len()];
    let (mut entries, mut error, mut count) = (Vec::new(), Interval::ZERO, 0);
    for (column, &i) in parts.iter().enumerate() {
        for (j, x) in balance.row_bounds(i) {
            let row = *place[j].get_or_insert_with(|| {
                count += 1;
                count - 1
            });
            entries.push((row, column, x.middle()));
            error = error + deviation(x).power(2);
            residual[j] = residual[j] - x * forces[i];
        }
    }
    Touched { b: Sparse::from_triplets(count, parts.len(), &entries), place, residual, error }
}

/// What shows that the columns of forces that are not zero reach every load on the coordinates that they
/// touch, in the order in which they do: entry by entry of these forces, and of each along its row. `None`
/// where they may not.
pub fn rest_factor(balance: &Balance, forces: &[f64]) -> Option<GramFactor> {
    (balance.is_valid() && forces.len() == balance.rows.rows())
        .then(|| touched(balance, forces).b)
        .and_then(|b| gram_factor(&b))
}

/// What shows that the rows of joints are independent; `None` where they may not be.
pub fn joint_factor(balance: &Balance) -> Option<GramFactor> {
    if !balance.is_valid() {
        return None;
    }
    let mut entries = Vec::new();
    let joints = balance.supports.iter().zip(balance.offsets()).filter(|(s, _)| **s == Support::Joint);
    let mut count = 0;
    for (_, at) in joints {
        entries.extend(balance.row_bounds(at).map(|(j, x)| (count, j, x.middle())));
        count += 1;
    }
    gram_factor(&Sparse::from_triplets(count, balance.load.len(), &entries))
}

/// How far a number of an interval may be from its middle.
fn deviation(x: Interval) -> Interval {
    let middle = Interval::point(x.middle());
    Interval::point((x - middle).magnitude())
}

/// ‖r‖/σ_min rounded up, for a matrix near this one by the root of `error`; `None` where σ_min may be zero.
fn distance(a: &Sparse, error: Interval, residual: impl Iterator<Item = Interval>) -> Option<f64> {
    if a.rows() == 0 {
        return Some(0.0);
    }
    let sigma = least_singular_value(a, root(error).hi)?;
    let distance = norm(residual) / Interval::point(sigma);
    (!distance.is_undefined()).then_some(distance.hi)
}

/// √x.
fn root(x: Interval) -> Interval {
    if x == Interval::ZERO { x } else { x.increasing(|x| x.max(0.0).sqrt()).within(0.0, f64::INFINITY) }
}

/// The length of a vector.
fn norm(x: impl Iterator<Item = Interval>) -> Interval {
    root(x.fold(Interval::ZERO, |sum, x| sum + x.power(2)))
}

/// Whether forces stay in their cones wherever they move by this distance.
fn has_room(balance: &Balance, forces: &[f64], distance: f64) -> bool {
    let d = Interval::point(distance);
    let offsets = balance.offsets();
    balance.supports.iter().zip(&offsets).all(|(support, &at)| {
        let own = &forces[at..at + support.dim()];
        if own.iter().all(|f| *f == 0.0) {
            return true;
        }
        match support {
            Support::Joint => true,
            Support::Bounded(most) => {
                (balance.bounds(*most, 0.0) - d - Interval::point(own[0].abs())).lo >= 0.0
            }
            Support::Contact(_) => {
                own[0] > distance
                    && support.groups().all(|(coefficient, rows)| {
                        let own_rows = own[rows].iter().map(|f| Interval::point(*f));
                        let mu = balance.bounds(coefficient, 0.0);
                        let slope = root(Interval::ONE + mu.power(2));
                        own_rows.clone().all(|f| f == Interval::ZERO)
                            || (mu * own[0] - norm(own_rows) - slope * d).lo >= 0.0
                    })
            }
        }
    })
}

/// Whether velocities show that no forces of the supports balance the load, for any data within the bounds.
pub fn is_collapse(balance: &Balance, velocity: &[f64]) -> bool {
    if !balance.is_valid() || velocity.len() != balance.load.len() || velocity.iter().any(|v| !v.is_finite())
    {
        return false;
    }
    let offsets = balance.offsets();
    let joints: Vec<usize> = balance
        .supports
        .iter()
        .zip(&offsets)
        .filter(|(support, _)| matches!(support, Support::Joint))
        .map(|(_, &at)| at)
        .collect();
    let mut joined = vec![false; velocity.len()];
    let (mut entries, mut error) = (Vec::new(), Interval::ZERO);
    for (row, &i) in joints.iter().enumerate() {
        for (j, x) in balance.row_bounds(i) {
            joined[j] = true;
            entries.push((row, j, x.middle()));
            error = error + deviation(x).power(2);
        }
    }
    let speed = |i: usize| balance.row_bounds(i).fold(Interval::ZERO, |sum, (j, x)| sum + x * velocity[j]);
    let g = Sparse::from_triplets(joints.len(), velocity.len(), &entries);
    let Some(distance) = distance(&g, error, joints.iter().map(|&i| speed(i))) else { return false };
    let d = Interval::point(distance);
    // How much the velocities of some rows may change.
    let change = |rows: std::ops::Range<usize>| {
        let moved = rows.flat_map(|i| balance.row_bounds(i)).filter(|(j, _)| joined[*j]).map(|(_, x)| x);
        d * norm(moved)
    };
    let load = balance.load_bounds();
    let mut power = load.iter().zip(velocity).fold(Interval::ZERO, |sum, (f, v)| sum - *f * *v);
    power = power - d * norm(load.iter().zip(&joined).filter(|(_, joined)| **joined).map(|(f, _)| *f));
    for (support, &at) in balance.supports.iter().zip(&offsets) {
        match support {
            Support::Joint => {}
            Support::Bounded(most) => {
                let slip = speed(at).absolute() + change(at..at + 1);
                power = power - balance.bounds(*most, 0.0) * slip;
            }
            Support::Contact(_) => {
                let mut opening = speed(at) - change(at..at + 1);
                for (coefficient, rows) in support.groups() {
                    let rows = at + rows.start..at + rows.end;
                    let slip = norm(rows.clone().map(speed)) + change(rows);
                    opening = opening - balance.bounds(coefficient, 0.0) * slip;
                }
                if opening.is_undefined() || opening.lo < 0.0 {
                    return false;
                }
            }
        }
    }
    power.lo > 0.0
}
