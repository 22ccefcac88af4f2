//! Loads handed down from body to body until the ground takes them.
//!
//! Sweeps carry a load from one contact to the next, and in a tall pile they carry it far too slowly. Bodies
//! at rest need G r = −L⁻¹ f, which is triangular up to what several contacts share: bodies are put in levels
//! by the number of contacts between them and the ground, and from the top level down each body is stopped by
//! the contacts that support it, those with lower bodies and with the ground,
//!
//! r_S ← P_K(r_S + ρ G_Sᵀ x),  (Σ_S ρ G_S G_Sᵀ + ε) x = −y.
//!
//! All of the load arrives at the ground in one pass. What the cones do not allow is left to the sweeps, as
//! are bodies that do not come to rest: a pass is a proposal, and whoever asks for it sees whether it was of
//! use.

use rayon::prelude::*;

use super::contact_rows::{NONE, Shared, dot, get, push, set};
use super::system::{System, backward, cholesky, forward};
use crate::contact::cone::project;

/// Rounds in which a body seeks its balance: what a cone cuts off, others may take.
const MAX_BALANCE_ROUNDS: usize = 6;
/// Fewer bodies than this are not worth waking other threads for.
const MIN_PARALLEL_BODIES: usize = 128;

/// The bodies in the order of their levels.
#[derive(Debug, Default)]
pub(super) struct Loads {
    /// Bodies with a way to the ground, the lowest first.
    order: Vec<u32>,
    /// Where each level begins in `order`, and their number as a last entry.
    start: Vec<usize>,
    /// The level of each body.
    level: Vec<u32>,
}

impl Loads {
    /// Finds the levels above the contacts with the ground that are run into; false where there are none.
    pub fn renew<const D: usize, const B: usize>(&mut self, system: &System<D, B>) -> bool {
        let ground = || system.contacts.iter().filter(|c| c.body[1] == NONE && c.body[0] != NONE);
        let approach = |b: usize| system.free[b];
        // A floor is run into with the speed of the fall, walls with that of some unrest.
        let fastest = ground().map(|c| c.velocity(approach)[0]).fold(0.0, f64::min);
        let Loads { order, start, level } = self;
        level.clear();
        level.resize(system.free.len(), NONE);
        order.clear();
        order.reserve(system.free.len());
        for c in ground().filter(|c| c.velocity(approach)[0] < 0.5 * fastest) {
            if level[c.body[0] as usize] == NONE {
                level[c.body[0] as usize] = 0;
                order.push(c.body[0]);
            }
        }
        start.clear();
        start.push(0);
        while start[start.len() - 1] < order.len() {
            let (from, to) = (start[start.len() - 1], order.len());
            for at in from..to {
                let body = order[at] as usize;
                for (k, side) in system.contacts_of(body) {
                    let other = system.contacts[k].body[1 - side];
                    if other != NONE && level[other as usize] == NONE {
                        level[other as usize] = start.len() as u32;
                        order.push(other);
                    }
                }
            }
            start.push(to);
        }
        !order.is_empty()
    }

    /// One pass from the top to the ground, through all contacts or through those that are closed; y is that
    /// of the new r.
    pub fn hand_down<const D: usize, const B: usize>(
        &self,
        system: &System<D, B>,
        r: &[Shared<D>],
        y: &[Shared<B>],
        closed: bool,
    ) {
        for range in self.start.windows(2).rev() {
            let bodies = &self.order[range[0]..range[1]];
            let one = |&b: &u32| set(&y[b as usize], &self.stopped(system, b as usize, r, closed));
            if bodies.len() < MIN_PARALLEL_BODIES {
                bodies.iter().for_each(one);
            } else {
                bodies.par_iter().with_min_len(MIN_PARALLEL_BODIES / 8).for_each(one);
            }
        }
    }

    /// y of a body after its supports have done what they can; only they change their impulses.
    fn stopped<const D: usize, const B: usize>(
        &self,
        system: &System<D, B>,
        body: usize,
        r: &[Shared<D>],
        closed: bool,
    ) -> [f64; B] {
        let mut y = system.moved(body, r);
        let supports = system.contacts_of(body).filter(|&(k, side)| {
            let other = system.contacts[k].body[1 - side];
            let below = other == NONE || self.level[other as usize] < self.level[body];
            below && !(closed && get(&r[k])[0] <= 0.0)
        });
        let mut a = [[0.0; B]; B];
        for (k, side) in supports.clone() {
            let c = &system.contacts[k];
            for row in &c.g[side] {
                for i in 0..B {
                    for j in 0..=i {
                        a[i][j] += c.rho * row[i] * row[j];
                    }
                }
            }
        }
        let largest = (0..B).map(|i| a[i][i]).fold(0.0, f64::max);
        for (i, row) in a.iter_mut().enumerate() {
            row[i] += 1e-6 * largest;
        }
        if !cholesky(&mut a) {
            return y;
        }
        for _ in 0..MAX_BALANCE_ROUNDS {
            let mut x = y.map(|y| -y);
            forward(&a, &mut x);
            backward(&a, &mut x);
            for (k, side) in supports.clone() {
                let c = &system.contacts[k];
                let old = get(&r[k]);
                let mut new = old;
                for (row, new) in c.g[side].iter().zip(&mut new) {
                    *new += c.rho * dot(row, &x);
                }
                project(c.cone, &mut new);
                push(&mut y, &c.g[side], &std::array::from_fn(|a| new[a] - old[a]));
                set(&r[k], &new);
            }
        }
        y
    }
}
