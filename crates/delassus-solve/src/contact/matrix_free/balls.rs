//! Contacts between balls, each stored in 20 numbers.
//!
//! In the form of [`crate::contact::matrix_free::system`] a contact of two balls has, with its axes d_0 = n,
//! d_1, d_2 and for each side two levers α = ±m^(-1/2) and β = arm I^(-1/2), the rows
//!
//! g_k = (α d_k, −β Qᵀ (n × d_k)),
//!
//! where Q takes the axes in which the rotation of the body is counted to those of d. With the rotations of y
//! turned by Q, which changes no length and so not W, the contact needs 20 numbers in the place of 50, and
//! its block of W is diagonal with equal tangents. [`super::lanes`] solves them.
//!
//! Whether contacts are of this kind is read off their rows alone.

use rayon::prelude::*;

use super::contact_rows::{Contact, NONE, dot};
use super::lanes::{Ball, Quads};
use crate::contact::cone::Cone;
use crate::linalg::CHUNK;

/// By which part of its size a row may differ from that of a ball: some roundings of the places of contacts
/// that are far from the origin.
const ROUNDING: f64 = 1e-11;

type Axes = [[f64; 3]; 3];

/// All contacts of a system, where they are of this kind, else none.
#[derive(Debug, Default)]
pub(super) struct Balls {
    /// In the order in which they are swept.
    pub quads: Quads,
    list: Vec<Ball>,
    /// Q of each body.
    turn: Vec<Axes>,
}

impl Balls {
    /// Reads the contacts off their rows, and turns the rotations of rows and of y: whether all are of this
    /// kind; nothing is changed where one is not. `colors` are those of the system, `first_of` gives the
    /// first contact of a body and its side.
    pub fn renew<const D: usize, const B: usize>(
        &mut self,
        contacts: &mut [Contact<D, B>],
        free: &mut [[f64; B]],
        (colors, rest): (&[usize], bool),
        first_of: impl Fn(usize) -> Option<(usize, usize)> + Sync,
    ) {
        let Balls { quads, list, turn } = self;
        list.clear();
        quads.clear();
        if D != 3 || B != 6 || !contacts.iter().all(|c| matches!(c.cone, Cone::Coulomb { tangents: 2, .. })) {
            return;
        }
        let all = &*contacts;
        turn.resize(free.len(), Axes::default());
        turn.par_iter_mut().enumerate().with_min_len(CHUNK).for_each(|(body, turn)| {
            *turn = first_of(body).map_or(Axes::default(), |(k, side)| turn_of(&all[k], side));
        });
        list.resize(all.len(), Ball::default());
        let pairs = list.par_iter_mut().zip(all).with_min_len(CHUNK);
        let read = pairs.map(|(ball, contact)| Ball::of(contact, turn).map(|found| *ball = found).is_some());
        if !read.reduce(|| true, |a, b| a & b) {
            list.clear();
            return;
        }
        let pairs = contacts.par_iter_mut().zip(&*list).with_min_len(CHUNK);
        pairs.for_each(|(contact, ball)| ball.write_rows(contact));
        free.par_iter_mut().zip(&*turn).with_min_len(CHUNK).for_each(|(y, turn)| {
            let turned = rotate(turn, &part(y, 3));
            y.iter_mut().skip(3).zip(turned).for_each(|(y, turned)| *y = turned);
        });
        quads.pack(list, colors, rest, free.len());
    }
}

/// Q of a body from one of its contacts: takes f_k = −a_k/β to n × d_k, where a_k is the part of row k that
/// belongs to rotations.
fn turn_of<const D: usize, const B: usize>(contact: &Contact<D, B>, side: usize) -> Axes {
    let (straight, turned) = parts(contact, side);
    let (alpha, beta) = (length(&straight[0]), length(&turned[1]));
    let d = straight.map(|row| row.map(|x| x / alpha));
    let (e1, e2) = (cross(&d[0], &d[1]), cross(&d[0], &d[2]));
    let [f1, f2] = [1, 2].map(|k| turned[k].map(|x: f64| -x / beta));
    let (e, f) = ([e1, e2, cross(&e1, &e2)], [f1, f2, cross(&f1, &f2)]);
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| e[k][i] * f[k][j]).sum()))
}

impl Ball {
    fn of<const D: usize, const B: usize>(contact: &Contact<D, B>, turn: &[Axes]) -> Option<Ball> {
        let Cone::Coulomb { mu, .. } = contact.cone else { return None };
        let present = (0..2).rev().find(|&s| contact.body[s] != NONE)?;
        let (straight, _) = parts(contact, present);
        let alpha = length(&straight[0]);
        let axes: Axes = straight.map(|row| row.map(|x| x / alpha));
        let unit = |i: usize, j: usize| dot(&axes[i], &axes[j]) - if i == j { 1.0 } else { 0.0 };
        // What is not a number is not near either.
        let near = |difference: f64, size: f64| difference.abs() <= ROUNDING * size;
        if !(0..3).all(|i| (0..=i).all(|j| near(unit(i, j), 1.0))) {
            return None;
        }
        let arms = [1, 2].map(|k| cross(&axes[0], &axes[k]));
        let (mut lever, mut w) = ([[0.0; 2]; 2], [0.0; 2]);
        for side in (0..2).filter(|&s| contact.body[s] != NONE) {
            let (straight, turned) = parts(contact, side);
            let turned = turned.map(|row| rotate(&turn[contact.body[side] as usize], &row));
            let alpha = dot(&straight[0], &axes[0]);
            let beta = -dot(&turned[1], &arms[0]);
            let size = alpha.abs() + beta.abs();
            let rows_agree = (0..3).all(|k| {
                (0..3).all(|c| {
                    let arm = if k == 0 { 0.0 } else { beta * arms[k - 1][c] };
                    near(straight[k][c] - alpha * axes[k][c], size) && near(turned[k][c] + arm, size)
                })
            });
            if !rows_agree {
                return None;
            }
            lever[side] = [alpha, beta];
            w[0] += alpha * alpha;
            w[1] += alpha * alpha + beta * beta;
        }
        let bias = std::array::from_fn(|k| contact.bias.get(k).copied().unwrap_or(0.0));
        let inverse = w.map(|w| 1.0 / w);
        let finite = inverse.iter().all(|x| x.is_finite());
        finite.then_some(Ball { body: contact.body, axes, lever, bias, inverse, mu, rho: contact.rho })
    }

    /// Makes the rows of a contact those of the ball, so that both are the same to the last digits.
    fn write_rows<const D: usize, const B: usize>(&self, contact: &mut Contact<D, B>) {
        for ([alpha, beta], rows) in self.lever.into_iter().zip(&mut contact.g) {
            for (row, d) in rows.iter_mut().zip(&self.axes) {
                let arm = cross(&self.axes[0], d);
                let numbers = d.map(|d| alpha * d).into_iter().chain(arm.map(|a| -beta * a));
                row.iter_mut().zip(numbers).for_each(|(to, x)| *to = x);
            }
        }
    }
}

/// Three numbers of a row from a place on.
fn part<const B: usize>(row: &[f64; B], from: usize) -> [f64; 3] {
    std::array::from_fn(|c| row.get(from + c).copied().unwrap_or(0.0))
}

/// The rows of a side: the parts of translations and of rotations.
fn parts<const D: usize, const B: usize>(contact: &Contact<D, B>, side: usize) -> (Axes, Axes) {
    let rows =
        |from: usize| std::array::from_fn(|k| contact.g[side].get(k).map_or([0.0; 3], |row| part(row, from)));
    (rows(0), rows(3))
}

#[inline(always)]
fn cross(a: &[f64; 3], b: &[f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn length(a: &[f64; 3]) -> f64 {
    dot(a, a).sqrt()
}

fn rotate(axes: &Axes, x: &[f64; 3]) -> [f64; 3] {
    axes.each_ref().map(|row| dot(row, x))
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::system::System;
    use super::*;
    use crate::contact::cone_of;
    use crate::linalg::{Block, Sparse};
    use crate::problem::{ContactProblem, Form, Law, sphere_pile};
    use crate::random::Random;

    pub fn system_of(problem: &ContactProblem) -> System<3, 6> {
        let Form::Global { mass, jacobian_transposed, force, bias } = &problem.form else { unreachable!() };
        let rows: Vec<usize> = (0..=problem.laws.len()).map(|k| 3 * k).collect();
        let cones: Vec<Cone> = problem.laws.iter().filter_map(cone_of).collect();
        let mut system = System::default();
        assert!(system.renew(mass, jacobian_transposed, force, bias, &rows, &cones));
        system
    }

    /// A pile whose spheres count their rotations each in axes of its own.
    pub fn turned_pile() -> ContactProblem {
        let mut pile = sphere_pile(4, 0.5).unwrap();
        let Form::Global { jacobian_transposed, force, bias, .. } = &mut pile.form else { unreachable!() };
        let (n, m) = (force.len(), bias.len());
        let mut random = Random(3);
        let turns: Vec<Axes> = (0..n / 6)
            .map(|_| {
                let [a, b] = [0, 1].map(|_| std::array::from_fn(|_| random.centred()));
                let x = a.map(|v: f64| v / length(&a));
                let z = cross(&x, &b);
                let z = z.map(|v| v / length(&z));
                [x, cross(&z, &x), z]
            })
            .collect();
        let mut entries = vec![];
        for (row, column, value) in jacobian_transposed.triplets() {
            let (body, c) = (row / 6, row % 6);
            if c < 3 {
                entries.push((row, column, value));
            } else {
                entries.extend((0..3).map(|k| (6 * body + 3 + k, column, turns[body][k][c - 3] * value)));
            }
        }
        *jacobian_transposed = Sparse::from_triplets(n, m, &entries);
        bias.iter_mut().for_each(|b| *b = 0.01 * random.centred());
        pile
    }

    #[test]
    fn spheres_are_known_by_their_rows_in_any_axes() {
        for pile in [sphere_pile(4, 0.5).unwrap(), turned_pile()] {
            assert!(!system_of(&pile).balls.quads.is_empty());
        }
    }

    #[test]
    fn other_bodies_and_other_laws_are_not_taken_for_spheres() {
        let mut flat = turned_pile();
        if let Form::Global { mass, .. } = &mut flat.form {
            let mut entries: Vec<_> = mass.triplets().collect();
            entries[3].2 *= 1.001;
            *mass = Sparse::from_triplets(mass.rows(), mass.rows(), &entries);
        }
        let mut cone = turned_pile();
        cone.laws[5] = Law::Cone { mu: 0.5 };
        let mut bent = turned_pile();
        if let Form::Global { jacobian_transposed: h, .. } = &mut bent.form {
            let mut entries: Vec<_> = h.triplets().collect();
            entries[20].2 += 1e-6;
            *h = Sparse::from_triplets(h.rows(), bent.laws.len() * 3, &entries);
        }
        for other in [flat, cone, bent] {
            assert!(system_of(&other).balls.quads.is_empty());
        }
    }

    /// Rows of balls have the W that the contacts had.
    #[test]
    fn turned_rows_leave_w_as_it_was() {
        for contact in &system_of(&turned_pile()).contacts {
            let w: Block<3> = std::array::from_fn(|i| {
                std::array::from_fn(|j| (0..2).map(|s| dot(&contact.g[s][i], &contact.g[s][j])).sum())
            });
            assert!((0..9).all(|c| (w[c / 3][c % 3] - contact.w[c / 3][c % 3]).abs() < 1e-13));
        }
    }
}
