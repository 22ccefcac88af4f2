//! Contacts and bodies in the form in which sweeps use them without W.
//!
//! M v = f + H r, u = Hᵀ v + b. M is block diagonal, B rows to a body, and symmetric positive definite: with its Cholesky
//! factor, M = L Lᵀ, and y = Lᵀ v, G = L⁻¹ H the mass disappears:
//!
//! y = L⁻¹ f + G r,  u = Gᵀ y + b,  W = Gᵀ G.
//!
//! A contact has D rows and touches one body or two: it holds its two D × B blocks of Gᵀ and its own block of W. Contacts
//! are kept in the order of colours; those of one colour share no body, so that they can be solved at the same time.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::cone::{Cone, largest_eigenvalue};
use super::parallel::{self, PIECE};
use crate::blocks::{Block, zero_block};
use crate::sparse::Sparse;

/// Numbers that threads write at the same time, each in places of its own.
pub(super) type Shared<const N: usize> = [AtomicU64; N];

#[inline(always)]
pub(super) fn get<const N: usize>(from: &Shared<N>) -> [f64; N] {
    std::array::from_fn(|k| f64::from_bits(from[k].load(Ordering::Relaxed)))
}

#[inline(always)]
pub(super) fn set<const N: usize>(to: &Shared<N>, value: &[f64; N]) {
    for k in 0..N {
        to[k].store(value[k].to_bits(), Ordering::Relaxed);
    }
}

pub(super) fn shared<const N: usize>(values: &[[f64; N]]) -> Vec<Shared<N>> {
    values.iter().map(|x| x.map(|x| AtomicU64::new(x.to_bits()))).collect()
}

/// No body: the ground.
pub(super) const NONE: u32 = u32::MAX;

/// Colours with a bit of their own; contacts beyond them are swept one by one.
const COLOURS: usize = 63;

/// A contact with all that a sweep asks of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact<const D: usize, const B: usize> {
    /// The bodies that it touches, [`NONE`] in the place of the ground.
    pub body: [u32; 2],
    /// Gᵀ, restricted to each of them.
    pub g: [[[f64; B]; D]; 2],
    /// Its diagonal block of W.
    pub w: Block<D>,
    /// b.
    pub bias: [f64; D],
    pub cone: Cone,
    /// 1/λ_max(W_ii).
    pub rho: f64,
}

/// A problem in bodies of B rows and contacts of D rows.
#[derive(Debug)]
pub(super) struct System<const D: usize, const B: usize> {
    /// In the order of colours.
    pub contacts: Vec<Contact<D, B>>,
    /// Which constraint of the problem comes k-th.
    pub order: Vec<u32>,
    /// Where each colour begins, and the number of contacts as a last entry.
    pub colours: Vec<usize>,
    /// Whether the contacts of the last colour may share bodies after all.
    pub rest: bool,
    /// L⁻¹ f.
    pub free: Vec<[f64; B]>,
    /// The contacts of body i are `touching[first[i]..first[i + 1]]`, each as 2 k + side.
    pub first: Vec<u32>,
    pub touching: Vec<u32>,
    /// Impulses of the problem are these ones times `unit`.
    pub unit: f64,
    /// ‖ρ q‖.
    pub scale: f64,
}

/// Some bodies.
struct Piece<const B: usize> {
    /// Their contacts, body after body, and how many of them each body has.
    contacts: Vec<u32>,
    counts: Vec<u32>,
    /// L and L⁻¹ f.
    factors: Vec<[[f64; B]; B]>,
    free: Vec<[f64; B]>,
}

impl<const D: usize, const B: usize> System<D, B> {
    /// The system of M, H, f and b, for constraints of at most D rows that begin at `rows`; `None` where M has other blocks, is not
    /// positive definite, or a constraint touches more than two bodies.
    pub fn new(
        mass: &Sparse,
        h: &Sparse,
        force: &[f64],
        bias: &[f64],
        rows: &[usize],
        cones: &[Cone],
    ) -> Option<Self> {
        let n = cones.len();
        if !mass.rows().is_multiple_of(B) || mass.rows() / B >= NONE as usize || n >= (NONE / 2) as usize {
            return None;
        }
        let bodies = mass.rows() / B;
        let mut owner = vec![0_u32; bias.len()];
        for i in 0..n {
            owner[rows[i]..rows[i + 1]].fill(i as u32);
        }
        let pieces: Option<Vec<Piece<B>>> = (0..bodies.div_ceil(PIECE))
            .into_par_iter()
            .map(|k| piece(mass, h, force, &owner, k * PIECE..bodies.min((k + 1) * PIECE)))
            .collect();
        let pieces = pieces?;
        drop(owner);
        let mut touched = vec![[NONE; 2]; n];
        let mut body = 0;
        for piece in &pieces {
            let mut at = piece.contacts.iter();
            for &count in &piece.counts {
                for &i in at.by_ref().take(count as usize) {
                    let side = touched[i as usize].iter().position(|b| *b == NONE)?;
                    touched[i as usize][side] = body;
                }
                body += 1;
            }
        }
        let (order, colours, rest) = coloured(&touched, bodies);
        let unscaled = |&i: &u32| {
            let i = i as usize;
            let g = touched[i].map(|b| match b {
                NONE => [[0.0; B]; D],
                b => {
                    let b = b as usize;
                    let mut block = block(h, b, rows[i]..rows[i + 1]);
                    for row in &mut block {
                        forward(&pieces[b / PIECE].factors[b % PIECE], row);
                    }
                    block
                }
            });
            let mut own = [0.0; D];
            for (own, b) in own.iter_mut().zip(&bias[rows[i]..rows[i + 1]]) {
                *own = *b;
            }
            Contact { body: touched[i], g, w: zero_block(), bias: own, cone: cones[i], rho: 1.0 }
        };
        let mut contacts: Vec<Contact<D, B>> = order.par_iter().with_min_len(PIECE).map(unscaled).collect();
        let mut free: Vec<[f64; B]> = pieces.iter().flat_map(|p| &p.free).copied().collect();
        drop((pieces, touched));
        let power = |top: f64| if top > 0.0 { 2f64.powi(-top.log2().floor() as i32) } else { 1.0 };
        let largest = |c: &Contact<D, B>| c.g.iter().flatten().flatten().fold(0.0_f64, |m, x| m.max(x.abs()));
        // Units in which the largest numbers are about one, so that no product of some of them overflows.
        let size = power(contacts.par_iter().with_min_len(PIECE).map(largest).reduce(|| 0.0, f64::max));
        contacts.par_iter_mut().with_min_len(PIECE).for_each(|c| {
            c.g = c.g.map(|g| g.map(|row| row.map(|x| size * x)));
            for a in 0..D {
                for b in 0..D {
                    c.w[a][b] = (0..2).map(|s| dot(&c.g[s][a], &c.g[s][b])).sum();
                }
            }
            let top = largest_eigenvalue(&c.w, c.cone.rows());
            c.rho = if top > 0.0 { 1.0 / top } else { 1.0 };
        });
        // u = (size G)ᵀ (y/size) + b, all of it times `speed`.
        free.par_iter_mut().with_min_len(PIECE).for_each(|y| *y = y.map(|x| x / size));
        let size_of_free =
            |c: &Contact<D, B>| c.velocity(|b| free[b]).iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let speed = power(contacts.par_iter().with_min_len(PIECE).map(size_of_free).reduce(|| 0.0, f64::max));
        free.par_iter_mut().with_min_len(PIECE).for_each(|y| *y = y.map(|x| x * speed));
        contacts.par_iter_mut().with_min_len(PIECE).for_each(|c| c.bias = c.bias.map(|x| x * speed));
        let square = parallel::sum(n, |k| {
            let c = &contacts[k];
            c.velocity(|b| free[b]).iter().map(|q| (c.rho * q).powi(2)).sum::<f64>()
        });
        let (first, touching) = adjacency(&contacts, bodies);
        let system = System {
            contacts,
            order,
            colours,
            rest,
            free,
            first,
            touching,
            unit: size * size / speed,
            scale: if square > 0.0 { square.sqrt() } else { 1.0 },
        };
        (square.is_finite() && system.unit.is_finite()).then_some(system)
    }
}

impl<const D: usize, const B: usize> System<D, B> {
    /// The contacts of a body, each with its side.
    pub fn contacts_of(&self, body: usize) -> impl Iterator<Item = (usize, usize)> + Clone + '_ {
        let range = self.first[body] as usize..self.first[body + 1] as usize;
        self.touching[range].iter().map(|&t| ((t / 2) as usize, (t % 2) as usize))
    }

    /// Bytes of memory that are held, from the lengths.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        let contacts = self.contacts.len() * size_of::<Contact<D, B>>();
        let numbers = self.order.len() + self.first.len() + self.touching.len();
        contacts + 4 * numbers + self.free.len() * size_of::<[f64; B]>()
    }

    /// Number of islands, the connected parts, and of contacts in the largest one.
    pub fn islands(&self) -> (usize, usize) {
        fn root(parent: &mut [u32], mut i: u32) -> u32 {
            while parent[i as usize] != i {
                parent[i as usize] = parent[parent[i as usize] as usize];
                i = parent[i as usize];
            }
            i
        }
        let mut parent: Vec<u32> = (0..self.free.len() as u32).collect();
        let both = self.contacts.iter().filter(|c| c.body[1] != NONE);
        for c in both {
            let (a, b) = (root(&mut parent, c.body[0]), root(&mut parent, c.body[1]));
            parent[a.max(b) as usize] = a.min(b);
        }
        let mut count = vec![0_usize; parent.len()];
        let mut alone = 0;
        for c in &self.contacts {
            if c.body[0] == NONE {
                alone += 1;
            } else {
                count[root(&mut parent, c.body[0]) as usize] += 1;
            }
        }
        let largest = count.iter().copied().max().unwrap_or(0).max(alone.min(1));
        (alone + count.iter().filter(|c| **c > 0).count(), largest)
    }

    /// y of a body under the impulses r, anew.
    pub fn moved(&self, body: usize, r: &[Shared<D>]) -> [f64; B] {
        let mut y = self.free[body];
        for (k, side) in self.contacts_of(body) {
            push(&mut y, &self.contacts[k].g[side], &get(&r[k]));
        }
        y
    }
}

/// y ← y + G r.
#[inline(always)]
pub(super) fn push<const D: usize, const B: usize>(y: &mut [f64; B], g: &[[f64; B]; D], r: &[f64; D]) {
    for a in 0..D {
        for k in 0..B {
            y[k] += g[a][k] * r[a];
        }
    }
}

impl<const D: usize, const B: usize> Contact<D, B> {
    /// u = Gᵀ y + b, with y of each body given.
    #[inline(always)]
    pub fn velocity(&self, y: impl Fn(usize) -> [f64; B]) -> [f64; D] {
        let mut u = self.bias;
        for (g, &b) in self.g.iter().zip(&self.body) {
            if b != NONE {
                let y = y(b as usize);
                for c in 0..D {
                    u[c] += dot(&g[c], &y);
                }
            }
        }
        u
    }
}

#[inline(always)]
pub(super) fn dot<const B: usize>(a: &[f64; B], b: &[f64; B]) -> f64 {
    let mut sum = 0.0;
    for k in 0..B {
        sum += a[k] * b[k];
    }
    sum
}

/// L with M = L Lᵀ for the block of a body; `None` where it is not symmetric, not positive, or not a block.
fn factor<const B: usize>(mass: &Sparse, body: usize) -> Option<[[f64; B]; B]> {
    let mut a = [[0.0; B]; B];
    for k in 0..B {
        let (columns, values) = mass.row(B * body + k);
        for (&j, &x) in columns.iter().zip(values) {
            if j / B == body {
                a[k][j % B] = x;
            } else if x != 0.0 {
                return None;
            }
        }
    }
    for i in 0..B {
        for j in 0..i {
            if a[i][j] != a[j][i] {
                return None;
            }
        }
    }
    cholesky(&mut a).then_some(a)
}

/// A ← L with A = L Lᵀ, in the lower part; whether A is positive definite.
pub(super) fn cholesky<const B: usize>(a: &mut [[f64; B]; B]) -> bool {
    for i in 0..B {
        for j in 0..=i {
            let mut s = a[i][j];
            for k in 0..j {
                s -= a[i][k] * a[j][k];
            }
            if i > j {
                a[i][j] = s / a[j][j];
            } else if s > 1e-12 * a[i][i] {
                a[i][i] = s.sqrt();
            } else {
                return false;
            }
        }
    }
    true
}

/// x ← L⁻¹ x.
pub(super) fn forward<const B: usize>(l: &[[f64; B]; B], x: &mut [f64; B]) {
    for i in 0..B {
        for k in 0..i {
            x[i] -= l[i][k] * x[k];
        }
        x[i] /= l[i][i];
    }
}

/// x ← L⁻ᵀ x.
pub(super) fn backward<const B: usize>(l: &[[f64; B]; B], x: &mut [f64; B]) {
    for i in (0..B).rev() {
        for k in i + 1..B {
            x[i] -= l[k][i] * x[k];
        }
        x[i] /= l[i][i];
    }
}

/// Hᵀ, restricted to these rows and to a body.
fn block<const D: usize, const B: usize>(h: &Sparse, body: usize, rows: Range<usize>) -> [[f64; B]; D] {
    let mut block = [[0.0; B]; D];
    for k in 0..B {
        let (columns, values) = h.row(B * body + k);
        let from = columns.partition_point(|j| *j < rows.start);
        for (&j, &x) in columns[from..].iter().zip(&values[from..]).take_while(|e| *e.0 < rows.end) {
            block[j - rows.start][k] = x;
        }
    }
    block
}

/// What is to be known of some bodies by themselves.
fn piece<const B: usize>(
    mass: &Sparse,
    h: &Sparse,
    force: &[f64],
    owner: &[u32],
    bodies: Range<usize>,
) -> Option<Piece<B>> {
    let many = bodies.len();
    let mut out = Piece {
        contacts: vec![],
        counts: Vec::with_capacity(many),
        factors: Vec::with_capacity(many),
        free: Vec::with_capacity(many),
    };
    for body in bodies {
        let l = factor::<B>(mass, body)?;
        let mut free = std::array::from_fn(|k| force[B * body + k]);
        forward(&l, &mut free);
        out.free.push(free);
        out.factors.push(l);
        // The rows are ascending: the least contact at their heads is the next one.
        let row: [_; B] = std::array::from_fn(|k| h.row(B * body + k));
        let mut head = [0; B];
        let before = out.contacts.len();
        loop {
            let next = (0..B).filter_map(|k| row[k].0.get(head[k])).map(|&j| owner[j]).min();
            let Some(contact) = next else { break };
            // A stored zero would make a contact touch a body that it does not move.
            let mut moves = false;
            for k in 0..B {
                while row[k].0.get(head[k]).is_some_and(|&j| owner[j] == contact) {
                    moves |= row[k].1[head[k]] != 0.0;
                    head[k] += 1;
                }
            }
            if moves {
                out.contacts.push(contact);
            }
        }
        out.counts.push((out.contacts.len() - before) as u32);
    }
    Some(out)
}

/// Contacts in the order of colours, where each colour begins, and whether the last one is what no colour was left for.
/// Each contact gets, among the colours that its bodies have not met, the one with the fewest contacts.
fn coloured(touched: &[[u32; 2]], bodies: usize) -> (Vec<u32>, Vec<usize>, bool) {
    let mut met = vec![0_u64; bodies];
    let mut count: Vec<usize> = vec![];
    let mut colour = vec![0_u8; touched.len()];
    for (i, pair) in touched.iter().enumerate() {
        let taken = pair.iter().filter(|b| **b != NONE).fold(0, |m, &b| m | met[b as usize]);
        let free = (0..count.len().min(COLOURS)).filter(|c| taken >> c & 1 == 0).min_by_key(|&c| count[c]);
        let c = free.unwrap_or(count.len().min(COLOURS));
        if c == count.len() {
            count.push(0);
        }
        count[c] += 1;
        colour[i] = c as u8;
        for &b in pair.iter().filter(|b| **b != NONE) {
            met[b as usize] |= 1 << c;
        }
    }
    let mut start = vec![0];
    for c in &count {
        start.push(start[start.len() - 1] + c);
    }
    let mut next = start.clone();
    let mut order = vec![0; touched.len()];
    for (i, &c) in colour.iter().enumerate() {
        order[next[c as usize]] = i as u32;
        next[c as usize] += 1;
    }
    (order, start, count.len() > COLOURS)
}

/// For each body its contacts, as 2 k + side.
fn adjacency<const D: usize, const B: usize>(
    contacts: &[Contact<D, B>],
    bodies: usize,
) -> (Vec<u32>, Vec<u32>) {
    let mut first = vec![0_u32; bodies + 1];
    let touched = |c: &Contact<D, B>| c.body.into_iter().filter(|b| *b != NONE);
    for b in contacts.iter().flat_map(touched) {
        first[b as usize + 1] += 1;
    }
    for b in 0..bodies {
        first[b + 1] += first[b];
    }
    let mut next = first.clone();
    let mut touching = vec![0; first[bodies] as usize];
    for (k, c) in contacts.iter().enumerate() {
        for side in 0..2 {
            if c.body[side] != NONE {
                let at = &mut next[c.body[side] as usize];
                touching[*at as usize] = (2 * k + side) as u32;
                *at += 1;
            }
        }
    }
    (first, touching)
}
