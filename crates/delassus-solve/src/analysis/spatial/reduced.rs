//! The contact problem on the rows of contacts, in intervals.
//!
//! ```text
//! M a − Gᵀλ = −F + Jᵀf ,   G a = −γ_b ,   u = J a + γ      ⇒      u = W f + q
//! ```
//!
//! G are the rows of joints, J those of contacts. W and q hold their numbers for all data within the bounds;
//! they exist where the matrix [M −Gᵀ; G 0] is regular for all of them. Forces and velocities of each contact
//! are measured in units of their own, powers of two, so that W has diagonal entries near one and q has
//! entries up to one: nothing is rounded by that.

use crate::linalg::{Interval, Matrix};
use crate::modes::ExactDynamics;
use crate::problem::{Law, row_offsets};
use std::ops::Range;

/// Coefficients beyond this are left aside: their squares would overflow.
const FRICTION_MAX: f64 = 1e50;

/// A contact with its law and its rows.
#[derive(Clone, Debug)]
pub(super) struct Contact {
    pub(super) law: Law,
    pub(super) mu: Interval,
    /// A guide holds its normal from both sides, and pushes along it (1) or pulls (−1); a contact pushes.
    pub(super) is_guide: bool,
    pub(super) side: f64,
    /// Friction is −μ |f_n| times this; `None` where its direction is not known.
    pub(super) slip: Option<Vec<Interval>>,
    pub(super) rows: Range<usize>,
    /// Its place among the constraints of the whole problem.
    pub(super) constraint: usize,
}

/// u = W f + q for contacts, in their units.
#[derive(Clone, Debug)]
pub(super) struct Contacts {
    pub(super) contacts: Vec<Contact>,
    pub(super) w: Vec<Vec<Interval>>,
    pub(super) q: Vec<Interval>,
    /// W in doubles.
    pub(super) w_middle: Matrix,
    pub(super) q_middle: Vec<f64>,
    /// The force that one unit of each row stands for.
    pub(super) force_unit: Vec<f64>,
    /// The velocity that one unit of each row stands for.
    pub(super) velocity_unit: Vec<f64>,
}

impl Contacts {
    /// `None` where a law has no sectors, or where accelerations do not follow from forces.
    pub(super) fn of(d: &ExactDynamics<Interval>) -> Option<Self> {
        let offsets = row_offsets(&d.laws);
        let (mut joints, mut rows, mut contacts) = (Vec::new(), Vec::new(), Vec::new());
        for (k, law) in d.laws.iter().enumerate() {
            match law {
                Law::Bilateral => joints.push(offsets[k]),
                Law::Unilateral
                | Law::Coulomb { .. }
                | Law::CoulombPlane { .. }
                | Law::Sliding { .. }
                | Law::BilateralSliding { .. }
                | Law::BilateralCoulombPlane { .. }
                | Law::BilateralCoulomb { .. } => {
                    let start = rows.len();
                    rows.extend(offsets[k]..offsets[k + 1]);
                    let mu = if *law == Law::Unilateral { Interval::ZERO } else { d.mu[k] };
                    // Friction that may or may not be zero has no modes.
                    if mu != Interval::ZERO && !(mu.lo > 0.0 && mu.hi < FRICTION_MAX) {
                        return None;
                    }
                    let slip = match law {
                        _ if mu == Interval::ZERO => Some(vec![Interval::ZERO; law.dim() - 1]),
                        Law::Sliding { .. } | Law::BilateralSliding { .. } => Some(d.slip[k].clone()),
                        _ => None,
                    };
                    let rows = start..rows.len();
                    let is_guide = law.is_bilateral();
                    contacts.push(Contact { law: *law, mu, is_guide, side: 1.0, slip, rows, constraint: k });
                }
                _ => return None,
            }
        }
        let x = responses(d, &joints, &rows)?;
        let n = d.force.len();
        let along = |i: usize, column: usize| {
            (0..n).fold(Interval::ZERO, |sum, c| sum + d.jacobian[rows[i]][c] * x[c][column])
        };
        let m = rows.len();
        let mut w: Vec<Vec<Interval>> = (0..m).map(|i| (0..m).map(|j| along(i, j)).collect()).collect();
        let mut q: Vec<Interval> = (0..m).map(|i| along(i, m) + d.bias[rows[i]]).collect();
        let (force_unit, velocity_unit) = units(&contacts, &mut w, &mut q)?;
        // Overflow leaves numbers undefined.
        if w.iter().flatten().chain(&q).any(|x| x.is_undefined()) {
            return None;
        }
        let w_middle = Matrix::from_fn(m, m, |i, j| w[i][j].middle());
        let q_middle: Vec<f64> = q.iter().map(|x| x.middle()).collect();
        Some(Contacts { contacts, w, q, w_middle, q_middle, force_unit, velocity_unit })
    }

    /// The contacts with guides that push or pull, a side for each.
    pub(super) fn with_sides(&self, sides: &[f64]) -> Self {
        let mut out = self.clone();
        let guides = out.contacts.iter_mut().filter(|c| c.is_guide);
        guides.zip(sides).for_each(|(contact, side)| contact.side = *side);
        out
    }

    /// u = W f + q.
    pub(super) fn velocity(&self, f: &[Interval]) -> Vec<Interval> {
        let row = |i: usize| self.w[i].iter().zip(f).fold(self.q[i], |sum, (w, f)| sum + *w * *f);
        (0..self.q.len()).map(row).collect()
    }
}

/// About [M −Gᵀ; G 0]⁻¹, G the rows of joints; `None` where it has none.
pub(super) fn inverse(d: &ExactDynamics<Interval>) -> Option<Matrix> {
    let offsets = row_offsets(&d.laws);
    let joints: Vec<usize> =
        (0..d.laws.len()).filter(|&k| d.laws[k] == Law::Bilateral).map(|k| offsets[k]).collect();
    let n = d.force.len();
    let middle = Matrix::from_fn(n + joints.len(), n + joints.len(), |i, j| match (i < n, j < n) {
        (true, true) => d.mass[i][j].middle(),
        (true, false) => -d.jacobian[joints[j - n]][i].middle(),
        (false, true) => d.jacobian[joints[i - n]][j].middle(),
        (false, false) => 0.0,
    });
    let inverse = middle.solve_matrix(&Matrix::identity(n + joints.len()))?;
    inverse.is_finite().then_some(inverse)
}

/// Accelerations of unit forces along rows, and behind them that of the load.
fn responses(d: &ExactDynamics<Interval>, joints: &[usize], rows: &[usize]) -> Option<Vec<Vec<Interval>>> {
    let (n, p) = (d.force.len(), joints.len());
    let matrix = |i: usize, j: usize| match (i < n, j < n) {
        (true, true) => d.mass[i][j],
        (true, false) => -d.jacobian[joints[j - n]][i],
        (false, true) => d.jacobian[joints[i - n]][j],
        (false, false) => Interval::ZERO,
    };
    let right = |i: usize, j: usize| match (i < n, j < rows.len()) {
        (true, true) => d.jacobian[rows[j]][i],
        (true, false) => -d.force[i],
        (false, true) => Interval::ZERO,
        (false, false) => -d.bias[joints[i - n]],
    };
    solve(n + p, rows.len() + 1, matrix, right)
}

/// Bounds of A⁻¹B for all A and B within their bounds; `None` where A may be singular.
pub(super) fn solve(
    n: usize,
    columns: usize,
    a: impl Fn(usize, usize) -> Interval,
    b: impl Fn(usize, usize) -> Interval,
) -> Option<Vec<Vec<Interval>>> {
    if (0..n).any(|i| (0..n).any(|j| a(i, j).is_undefined())) {
        return None;
    }
    let middle = Matrix::from_fn(n, n, |i, j| a(i, j).middle());
    let inverse = middle.solve_matrix(&Matrix::identity(n))?;
    if !inverse.is_finite() {
        return None;
    }
    // Most entries are zero, and add nothing, exactly.
    let entries = |of: &dyn Fn(usize) -> Interval| -> Vec<(usize, Interval)> {
        (0..n).map(|k| (k, of(k))).filter(|(_, x)| *x != Interval::ZERO).collect()
    };
    let right = (0..columns).map(|j| entries(&|k| b(k, j)));
    let whole: Vec<_> = (0..n).map(|j| entries(&|k| a(k, j))).chain(right).collect();
    // Near [I | A⁻¹B].
    let times = |i: usize, column: &[(usize, Interval)]| {
        column.iter().fold(Interval::ZERO, |sum, (k, x)| sum + *x * inverse[(i, *k)])
    };
    let mut system: Vec<Vec<Interval>> =
        (0..n).map(|i| whole.iter().map(|column| times(i, column)).collect()).collect();
    for i in 0..n {
        // An undefined interval is above nothing.
        let is_clear = system[i][i].lo > 0.5;
        if !is_clear {
            return None;
        }
        let pivot = system[i].clone();
        for (_, row) in system.iter_mut().enumerate().filter(|(k, row)| *k != i && row[i] != Interval::ZERO) {
            let factor = row[i] / pivot[i];
            row.iter_mut().zip(&pivot).skip(i + 1).for_each(|(x, p)| *x = *x - factor * *p);
        }
    }
    let x = |i: usize, j: usize| system[i][n + j] / system[i][i];
    Some((0..n).map(|i| (0..columns).map(|j| x(i, j)).collect()).collect())
}

/// A power of two near x > 0.
fn near(x: f64) -> f64 {
    if x > 0.0 && x.is_finite() { x.log2().round().clamp(-500.0, 500.0).exp2() } else { 1.0 }
}

/// Measures each contact in its unit; the force and the velocity that one unit of each row stands for.
fn units(contacts: &[Contact], w: &mut [Vec<Interval>], q: &mut [Interval]) -> Option<(Vec<f64>, Vec<f64>)> {
    let mut unit = vec![1.0; q.len()];
    for contact in contacts {
        let largest = contact.rows.clone().map(|i| w[i][i].magnitude()).fold(0.0, f64::max);
        contact.rows.clone().for_each(|i| unit[i] = near(largest.sqrt().recip()));
    }
    q.iter_mut().zip(&unit).for_each(|(q, own)| *q = *q * *own);
    for (row, own) in w.iter_mut().zip(&unit) {
        row.iter_mut().zip(&unit).for_each(|(w, other)| *w = *w * (own * other));
    }
    let size = q.iter().map(|x| x.magnitude()).fold(0.0, f64::max);
    if !(size > 0.0 && size.is_finite()) {
        return None;
    }
    let load = near(size);
    q.iter_mut().for_each(|x| *x = *x / load);
    Some((unit.iter().map(|s| s * load).collect(), unit.iter().map(|s| load / s).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modes::bounds_of;
    use crate::problem::Dynamics;

    #[test]
    fn joints_are_eliminated_and_units_taken_out() {
        // A slider (x, z) with masses 2 and 8 whose z is tied to x by a joint, on a floor along z.
        let d = Dynamics::new(
            Matrix::diagonal(&[2.0, 8.0]),
            vec![1.0, 6.0],
            Matrix::from_rows(&[[1.0, -1.0], [0.0, 1.0]]),
            vec![0.0, 0.0],
            vec![Law::Bilateral, Law::Unilateral],
        )
        .unwrap();
        let c = Contacts::of(&bounds_of(&d, 0.0)).unwrap();
        // 10 z'' = −7 + f, so that W = 1/10 and q = −7/10.
        let unit = c.force_unit[0];
        let (w, q) = (c.w[0][0], c.q[0]);
        // u/f in the units of both: f = unit f̃, and ũ is u in units that make q of size one.
        assert!((-q.middle() / w.middle() * unit - 7.0).abs() < 1e-12, "{c:?}");
        assert!(w.width() < 1e-14 && (0.4..2.5).contains(&w.middle()) && (0.4..2.5).contains(&-q.middle()));
    }
}
