//! Solutions in one choice of modes: found by Newton's method, proved by Krawczyk's.
//!
//! ```text
//! stick   u = 0
//! slide   u_n = 0 ,   f₁² + f₂² = μ² f_n² ,   f₁ u₂ − f₂ u₁ = 0           u = W f + q
//! known   u_n = 0 ,   f_t + μ f_n e = 0
//! ```
//!
//! G(f) = 0 for the forces f of closed contacts, as many equations as unknowns. With C near G'(f₀)⁻¹ and a
//! box X around f₀,
//!
//! f₀ − C G(f₀) + (I − C G'(X))(X − f₀) ⊂ int X      ⇒      X holds exactly one zero of G (Krawczyk)
//! ‖I − C G'(X)‖ < 1                                 ⇒      X holds at most one
//!
//! in interval arithmetic, for all data within their bounds. The inequalities of the modes are then checked
//! on the first box, which is small; the second may be large.

use super::pieces::{Piece, direction, parameter};
use super::reduced::Contacts;
use crate::linalg::{Interval, Matrix, max_abs};
use crate::modes::Mode;

/// A solution that was proved to exist.
#[derive(Clone, Debug)]
pub(super) struct Zero {
    /// The mode of each contact; a sector is the direction of slip alone.
    pub(super) modes: Vec<Piece>,
    /// A box that holds it.
    pub(super) force: Vec<Interval>,
    /// Its velocity.
    pub(super) velocity: Vec<Interval>,
    /// A box around it in which these modes have no other.
    pub(super) alone: Vec<Interval>,
    /// The middle of both boxes, and about G'⁻¹ there on the rows of closed contacts.
    pub(super) middle: Vec<f64>,
    pub(super) inverse: Matrix,
}

/// The largest number of Newton's steps.
const NEWTON_STEPS: usize = 30;
/// The largest number of inflations of a box.
const INFLATIONS: usize = 20;
/// The largest number of times that the box without another solution is halved.
const HALVINGS: usize = 24;

impl Zero {
    /// What the contacts do.
    pub(super) fn words(&self) -> Vec<Mode> {
        let word = |piece: &Piece| match piece {
            Piece::Any | Piece::Open => Mode::Open,
            Piece::Stick => Mode::Stick,
            Piece::Sector(..) | Piece::Along(_) | Piece::Known => Mode::Slide,
        };
        self.modes.iter().map(word).collect()
    }

    /// Whether a choice of modes and sectors holds it, up to rounding of directions.
    pub(super) fn is_in(&self, pieces: &[Piece]) -> bool {
        self.modes.iter().zip(pieces).all(|(own, piece)| match (own, piece) {
            (Piece::Sector(tau, _), Piece::Sector(from, to)) => {
                let around = |tau: f64| from - 1e-12 <= tau && tau <= to + 1e-12;
                around(*tau) || around(tau - 4.0) || around(tau + 4.0)
            }
            _ => own == piece,
        })
    }
}

/// The equations of one choice of modes.
pub(super) struct Equations<'a> {
    contacts: &'a Contacts,
    modes: &'a [Piece],
    /// The rows of closed contacts.
    rows: Vec<usize>,
}

impl<'a> Equations<'a> {
    pub(super) fn new(contacts: &'a Contacts, modes: &'a [Piece]) -> Self {
        let closed = |(c, mode): (&'a super::reduced::Contact, &Piece)| {
            if *mode == Piece::Open { 0..0 } else { c.rows.clone() }
        };
        let rows = contacts.contacts.iter().zip(modes).flat_map(closed).collect();
        Equations { contacts, modes, rows }
    }

    /// A solution near the one whose directions of slip are those in the middle of the sectors, proved.
    pub(super) fn zero(&self) -> Option<Zero> {
        let mut f = self.start()?;
        let size = max_abs(&f);
        for _ in 0..NEWTON_STEPS {
            let x: Vec<Interval> = f.iter().map(|f| Interval::point(*f)).collect();
            let slope = self.middle_slope(&x)?;
            let values = self.values(&x);
            if values.iter().any(|g| g.is_undefined()) {
                return None;
            }
            let step = slope.solve(&values.iter().map(|g| g.middle()).collect::<Vec<_>>())?;
            if !step.iter().all(|s| s.is_finite()) || max_abs(&f) > 1e9 * size.max(1.0) {
                return None;
            }
            self.rows.iter().zip(&step).for_each(|(i, s)| f[*i] -= s);
            if max_abs(&step) <= 1e-15 * max_abs(&f) {
                break;
            }
        }
        let inverse = self.inverse(&f)?;
        let force = self.box_with_zero(&f, &inverse)?;
        let velocity = self.contacts.velocity(&force);
        let modes = self.clear_modes(&force, &velocity)?;
        let alone = self.box_alone(&f, &inverse, &force)?;
        Some(Zero { modes, force, velocity, alone, middle: f, inverse })
    }

    /// The forces where each contact that slides does so along the middle of its sector.
    fn start(&self) -> Option<Vec<f64>> {
        let (w, m) = (&self.contacts.w_middle, self.contacts.q_middle.len());
        let (mut a, mut b) = (Matrix::zeros(self.rows.len(), self.rows.len()), Vec::new());
        for (contact, mode) in self.contacts.contacts.iter().zip(self.modes) {
            let along: Option<Vec<f64>> = match mode {
                Piece::Open => continue,
                Piece::Sector(from, to) => {
                    Some(direction(0.5 * (from + to)).iter().map(|e| e.middle()).collect())
                }
                Piece::Along(s) => Some(vec![*s]),
                Piece::Known => contact.slip.as_ref().map(|e| e.iter().map(|e| e.middle()).collect()),
                Piece::Any | Piece::Stick => None,
            };
            for i in contact.rows.clone() {
                let row = b.len();
                match &along {
                    Some(e) if i > contact.rows.start => {
                        let at = |r: usize| self.rows.iter().position(|x| *x == r);
                        a.row_mut(row)[at(i)?] = 1.0;
                        a.row_mut(row)[at(contact.rows.start)?] =
                            contact.side * contact.mu.middle() * e[i - contact.rows.start - 1];
                        b.push(0.0);
                    }
                    _ => {
                        self.rows.iter().enumerate().for_each(|(j, r)| a.row_mut(row)[j] = w[(i, *r)]);
                        b.push(-self.contacts.q_middle[i]);
                    }
                }
            }
        }
        let x = if b.is_empty() { vec![] } else { a.solve(&b)? };
        let mut f = vec![0.0; m];
        self.rows.iter().zip(&x).for_each(|(i, x)| f[*i] = *x);
        f.iter().all(|x| x.is_finite()).then_some(f)
    }

    /// G.
    fn values(&self, f: &[Interval]) -> Vec<Interval> {
        let u = self.contacts.velocity(f);
        let mut all = Vec::with_capacity(self.rows.len());
        for (contact, mode) in self.contacts.contacts.iter().zip(self.modes) {
            let r = contact.rows.clone();
            let (f, u) = (&f[r.clone()], &u[r]);
            match mode {
                Piece::Open => {}
                Piece::Any | Piece::Stick => all.extend(u),
                Piece::Sector(..) => {
                    all.push(u[0]);
                    all.push(f[1] * f[1] + f[2] * f[2] - contact.mu * contact.mu * (f[0] * f[0]));
                    all.push(f[1] * u[2] - f[2] * u[1]);
                }
                Piece::Along(s) => all.extend([u[0], f[1] + contact.mu * f[0] * (*s * contact.side)]),
                Piece::Known => {
                    all.push(u[0]);
                    let slip = contact.slip.iter().flatten();
                    let normal = f[0] * contact.side;
                    all.extend(slip.zip(&f[1..]).map(|(e, f_t)| *f_t + contact.mu * *e * normal));
                }
            }
        }
        all
    }

    /// G'.
    fn slope(&self, f: &[Interval]) -> Vec<Vec<Interval>> {
        let u = self.contacts.velocity(f);
        let w = |i: usize| self.rows.iter().map(|j| self.contacts.w[i][*j]).collect::<Vec<_>>();
        let entries = |of: &[(usize, Interval)]| {
            let entry = |j: &usize| of.iter().find(|(i, _)| i == j).map_or(Interval::ZERO, |(_, x)| *x);
            self.rows.iter().map(entry).collect::<Vec<_>>()
        };
        let mut all = Vec::with_capacity(self.rows.len());
        for (contact, mode) in self.contacts.contacts.iter().zip(self.modes) {
            let r = contact.rows.clone();
            let (n, mu) = (r.start, contact.mu);
            match mode {
                Piece::Open => {}
                Piece::Any | Piece::Stick => all.extend(r.map(w)),
                Piece::Sector(..) => {
                    all.push(w(n));
                    let cone =
                        [(n, -(mu * mu * f[n] * 2.0)), (n + 1, f[n + 1] * 2.0), (n + 2, f[n + 2] * 2.0)];
                    all.push(entries(&cone));
                    let own = entries(&[(n + 1, u[n + 2]), (n + 2, -u[n + 1])]);
                    let cross = w(n + 2).into_iter().zip(w(n + 1)).zip(own);
                    all.push(cross.map(|((w2, w1), own)| f[n + 1] * w2 - f[n + 2] * w1 + own).collect());
                }
                Piece::Along(s) => {
                    all.push(w(n));
                    all.push(entries(&[(n, mu * (*s * contact.side)), (n + 1, Interval::ONE)]));
                }
                Piece::Known => {
                    all.push(w(n));
                    let slip = contact.slip.iter().flatten().zip(n + 1..);
                    all.extend(
                        slip.map(|(e, i)| entries(&[(n, mu * *e * contact.side), (i, Interval::ONE)])),
                    );
                }
            }
        }
        all
    }

    fn middle_slope(&self, f: &[Interval]) -> Option<Matrix> {
        let slope = self.slope(f);
        let defined = !slope.iter().flatten().any(|x| x.is_undefined());
        defined.then(|| Matrix::from_fn(slope.len(), slope.len(), |i, j| slope[i][j].middle()))
    }

    fn inverse(&self, f: &[f64]) -> Option<Matrix> {
        let x: Vec<Interval> = f.iter().map(|f| Interval::point(*f)).collect();
        let inverse = self.middle_slope(&x)?.solve_matrix(&Matrix::identity(self.rows.len()))?;
        inverse.is_finite().then_some(inverse)
    }

    /// f ± r on the rows of closed contacts.
    fn around(&self, f: &[f64], r: &[f64]) -> Vec<Interval> {
        let mut x: Vec<Interval> = f.iter().map(|f| Interval::point(*f)).collect();
        for (i, r) in self.rows.iter().zip(r) {
            x[*i] = Interval::outward(f[*i] - r, f[*i] + r);
        }
        x
    }

    /// |I − C G'(X)|.
    fn defect(&self, inverse: &Matrix, x: &[Interval]) -> Matrix {
        let slope = self.slope(x);
        let k = slope.len();
        let product =
            |i: usize, j: usize| (0..k).fold(Interval::ZERO, |sum, l| sum + slope[l][j] * inverse[(i, l)]);
        Matrix::from_fn(k, k, |i, j| {
            let unit = if i == j { Interval::ONE } else { Interval::ZERO };
            let entry = (unit - product(i, j)).magnitude();
            if entry.is_nan() { f64::INFINITY } else { entry }
        })
    }

    /// A small box around f with exactly one zero.
    fn box_with_zero(&self, f: &[f64], inverse: &Matrix) -> Option<Vec<Interval>> {
        let point: Vec<Interval> = f.iter().map(|f| Interval::point(*f)).collect();
        let values = self.values(&point);
        let k = self.rows.len();
        let step: Vec<f64> = (0..k)
            .map(|i| (0..k).fold(Interval::ZERO, |sum, l| sum + values[l] * inverse[(i, l)]).magnitude())
            .collect();
        if step.iter().any(|s| !s.is_finite()) {
            return None;
        }
        let least = 1e-15 * max_abs(f).max(f64::MIN_POSITIVE);
        let mut r: Vec<f64> = step.iter().map(|s| 2.0 * s + least).collect();
        for _ in 0..INFLATIONS {
            let x = self.around(f, &r);
            let defect = self.defect(inverse, &x);
            // The box may be wider than r by its rounding.
            let wide: Vec<f64> = self.rows.iter().map(|i| (x[*i] - f[*i]).magnitude()).collect();
            let image = |i: usize| {
                let moved = (0..k).fold(Interval::point(step[i]), |sum, j| {
                    sum + Interval::point(wide[j]) * Interval::new(0.0, defect[(i, j)])
                });
                moved.hi
            };
            let image: Vec<f64> = (0..k).map(image).collect();
            if image.iter().any(|x| !x.is_finite()) {
                return None;
            }
            if image.iter().zip(&r).all(|(x, r)| x < r) {
                return Some(x);
            }
            r = image.iter().zip(&r).map(|(x, r)| (1.5 * x).max(*r) + least).collect();
        }
        None
    }

    /// The modes of a solution in a box, where all their inequalities hold by a margin.
    fn clear_modes(&self, f: &[Interval], u: &[Interval]) -> Option<Vec<Piece>> {
        let each = self.contacts.contacts.iter().zip(self.modes).map(|(contact, mode)| {
            let r = contact.rows.clone();
            let (f, u) = (&f[r.clone()], &u[r]);
            let pushes = (f[0] * contact.side).lo > 0.0;
            let friction = || f[1..].iter().fold(Interval::ZERO, |sum, x| sum + *x * *x);
            let clear = match mode {
                Piece::Open => u[0].lo > 0.0,
                Piece::Any => false,
                Piece::Stick => pushes && (contact.mu * contact.mu * (f[0] * f[0]) - friction()).lo > 0.0,
                Piece::Sector(..) => pushes && (f[1] * u[1] + f[2] * u[2]).hi < 0.0,
                Piece::Along(s) => pushes && (u[1] * *s).lo > 0.0,
                Piece::Known => pushes,
            };
            let mode = match mode {
                Piece::Sector(..) => {
                    let tau = parameter([-f[1].middle(), -f[2].middle()]);
                    Piece::Sector(tau, tau)
                }
                other => *other,
            };
            clear.then_some(mode)
        });
        each.collect()
    }

    /// A large box around f without two zeros, which holds a small one.
    fn box_alone(&self, f: &[f64], inverse: &Matrix, small: &[Interval]) -> Option<Vec<Interval>> {
        let k = self.rows.len();
        let size = max_abs(f);
        let weight: Vec<f64> = self.rows.iter().map(|i| f[*i].abs().max(0.2 * size)).collect();
        let mut share = 1.0;
        for _ in 0..HALVINGS {
            let r: Vec<f64> = weight.iter().map(|w| share * w).collect();
            let x = self.around(f, &r);
            let defect = self.defect(inverse, &x);
            let shrinks = (0..k).all(|i| {
                let sum = (0..k)
                    .fold(Interval::ZERO, |sum, j| sum + Interval::new(0.0, defect[(i, j)]) * weight[j]);
                sum.hi < weight[i]
            });
            let holds = |(x, s): (&Interval, &Interval)| x.lo <= s.lo && s.hi <= x.hi;
            if shrinks && x.iter().zip(small).all(holds) {
                return Some(x);
            }
            share *= 0.5;
        }
        None
    }
}
