//! Contacts and bodies in the form in which sweeps use them without W.
//!
//! M v = f + H r, u = Hᵀ v + b. M is block diagonal, B rows to a body, and symmetric positive definite: with
//! its Cholesky factor, M = L Lᵀ, and y = Lᵀ v, G = L⁻¹ H the mass disappears:
//!
//! y = L⁻¹ f + G r,  u = Gᵀ y + b,  W = Gᵀ G.
//!
//! A contact has D rows and touches one body or two: it holds its two D × B blocks of Gᵀ and its own block of
//! W. Contacts are kept in the order of the coloring; those of one color share no body, so that they can be
//! solved at the same time.

use std::ops::Range;

use rayon::prelude::*;

use super::balls::Balls;
use super::contact_rows::{Contact, NONE, Shared, dot, get, push};
#[cfg(test)]
use super::lanes::{Ball, Quads};
use crate::contact::cone::{Cone, largest_eigenvalue};
use crate::linalg;
use crate::linalg::{CHUNK, Sparse, UnionFind, small, zero_block};

/// Makes `list` as long as asked, with `value` everywhere.
fn refill<T: Clone>(list: &mut Vec<T>, len: usize, value: T) {
    list.clear();
    list.resize(len, value);
}

/// Colors with a bit of their own; contacts beyond them are swept one by one.
const COLORS: usize = 63;

/// A problem in bodies of B rows and contacts of D rows, with the scratch in which it is made: for a problem
/// like the one before nothing is allocated.
#[derive(Debug, Default)]
pub(super) struct System<const D: usize, const B: usize> {
    /// In the order of the coloring.
    pub contacts: Vec<Contact<D, B>>,
    /// Which constraint of the problem comes k-th.
    pub order: Vec<u32>,
    /// Where each color begins, and the number of contacts as a last entry.
    pub colors: Vec<usize>,
    /// Whether the contacts of the last color may share bodies after all.
    pub rest: bool,
    /// The same contacts in fewer numbers, where all of them are those of balls.
    pub balls: Balls,
    /// L⁻¹ f.
    pub free: Vec<[f64; B]>,
    /// The contacts of body i are `touching[first[i]..first[i + 1]]`, each as 2 k + side.
    pub first: Vec<u32>,
    pub touching: Vec<u32>,
    /// Impulses of the problem are these ones times `unit`.
    pub unit: f64,
    /// ‖ρ q‖.
    pub scale: f64,
    scratch: Scratch<B>,
}

/// Scratch in which a system is made.
#[derive(Debug, Default)]
struct Scratch<const B: usize> {
    chunks: Vec<BodyChunk<B>>,
    /// The constraint of each row, the bodies of each constraint and its color.
    owner: Vec<u32>,
    touched: Vec<[u32; 2]>,
    /// Where the entries of a constraint stand in the rows of each of its bodies, as good as always.
    place: Vec<[u32; 2]>,
    color: Vec<u8>,
    /// The colors that each body has met, the number of contacts of each color.
    met: Vec<u64>,
    count: Vec<usize>,
    /// The next place of each body; a body of the same island, and the number of contacts there.
    next: Vec<u32>,
    parent: UnionFind,
    members: Vec<u32>,
}

/// Some bodies.
#[derive(Debug, Default)]
struct BodyChunk<const B: usize> {
    /// Their contacts with the place of their entries in the first row, body after body, and how many of them
    /// each body has.
    contacts: Vec<[u32; 2]>,
    counts: Vec<u32>,
    /// L and L⁻¹ f.
    factors: Vec<[[f64; B]; B]>,
    free: Vec<[f64; B]>,
}

impl<const D: usize, const B: usize> System<D, B> {
    /// Becomes the system of M, H, f and b, for constraints of at most D rows that begin at `rows`; false
    /// where M has other blocks, is not positive definite, or a constraint touches more than two bodies.
    pub fn renew(
        &mut self,
        mass: &Sparse,
        h: &Sparse,
        force: &[f64],
        bias: &[f64],
        rows: &[usize],
        cones: &[Cone],
    ) -> bool {
        let n = cones.len();
        if !mass.rows().is_multiple_of(B) || mass.rows() / B >= NONE as usize || n >= (NONE / 2) as usize {
            return false;
        }
        let bodies = mass.rows() / B;
        if !self.find_contacts(mass, h, force, rows, bodies) {
            return false;
        }
        self.color(n, bodies);
        let System { contacts, order, free, scratch: Scratch { chunks, touched, place, .. }, .. } = self;
        let unscaled = |&i: &u32| {
            let i = i as usize;
            let g = std::array::from_fn(|side| match touched[i][side] {
                NONE => [[0.0; B]; D],
                b => {
                    let b = b as usize;
                    let mut block = block(h, b, rows[i]..rows[i + 1], place[i][side] as usize);
                    for row in &mut block {
                        forward(&chunks[b / CHUNK].factors[b % CHUNK], row);
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
        order.par_iter().with_min_len(CHUNK).map(unscaled).collect_into_vec(contacts);
        free.clear();
        free.extend(chunks.iter().flat_map(|p| &p.free));
        let power = |top: f64| if top > 0.0 { 2f64.powi(-top.log2().floor() as i32) } else { 1.0 };
        let largest = |c: &Contact<D, B>| c.g.iter().flatten().flatten().fold(0.0_f64, |m, x| m.max(x.abs()));
        // Units in which the largest numbers are about one, so that no product of some of them overflows.
        let size = power(contacts.par_iter().with_min_len(CHUNK).map(largest).reduce(|| 0.0, f64::max));
        contacts.par_iter_mut().with_min_len(CHUNK).for_each(|c| {
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
        free.par_iter_mut().with_min_len(CHUNK).for_each(|y| *y = y.map(|x| x / size));
        let size_of_free =
            |c: &Contact<D, B>| c.velocity(|b| free[b]).iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let speed = power(contacts.par_iter().with_min_len(CHUNK).map(size_of_free).reduce(|| 0.0, f64::max));
        free.par_iter_mut().with_min_len(CHUNK).for_each(|y| *y = y.map(|x| x * speed));
        contacts.par_iter_mut().with_min_len(CHUNK).for_each(|c| c.bias = c.bias.map(|x| x * speed));
        let square = linalg::sum(n, |k| {
            let c = &contacts[k];
            c.velocity(|b| free[b]).iter().map(|q| (c.rho * q).powi(2)).sum::<f64>()
        });
        self.unit = size * size / speed;
        self.scale = if square > 0.0 { square.sqrt() } else { 1.0 };
        self.find_touching(bodies);
        let System { contacts, free, first, touching, balls, colors, rest, .. } = self;
        balls.renew(contacts, free, (colors, *rest), |body| {
            let at = first[body] as usize;
            (at < first[body + 1] as usize)
                .then(|| ((touching[at] / 2) as usize, (touching[at] % 2) as usize))
        });
        square.is_finite() && self.unit.is_finite()
    }

    /// Factors of the masses, and the bodies of each constraint; false where there are more than two.
    fn find_contacts(
        &mut self,
        mass: &Sparse,
        h: &Sparse,
        force: &[f64],
        rows: &[usize],
        bodies: usize,
    ) -> bool {
        let n = rows.len() - 1;
        let Scratch { chunks, owner, touched, place, .. } = &mut self.scratch;
        refill(owner, rows[n], 0);
        for i in 0..n {
            owner[rows[i]..rows[i + 1]].fill(i as u32);
        }
        chunks.resize_with(bodies.div_ceil(CHUNK), BodyChunk::default);
        let owner = &*owner;
        let regular = |(k, chunk): (usize, &mut BodyChunk<B>)| {
            chunk.fill(mass, h, force, owner, k * CHUNK..bodies.min((k + 1) * CHUNK))
        };
        if !chunks.par_iter_mut().enumerate().all(regular) {
            return false;
        }
        refill(touched, n, [NONE; 2]);
        refill(place, n, [0; 2]);
        let mut body = 0;
        for chunk in chunks {
            let mut at = chunk.contacts.iter();
            for &count in &chunk.counts {
                for &[i, from] in at.by_ref().take(count as usize) {
                    let sides = &mut touched[i as usize];
                    let Some(side) = sides.iter().position(|b| *b == NONE) else { return false };
                    sides[side] = body;
                    place[i as usize][side] = from;
                }
                body += 1;
            }
        }
        true
    }

    /// Puts the contacts in the order of the coloring. Each gets, among the colors that its bodies have not
    /// met, the one with the fewest contacts.
    fn color(&mut self, n: usize, bodies: usize) {
        let Scratch { touched, color, met, count, .. } = &mut self.scratch;
        refill(met, bodies, 0);
        refill(color, n, 0);
        count.clear();
        for (i, pair) in touched.iter().enumerate() {
            let taken = pair.iter().filter(|b| **b != NONE).fold(0, |m, &b| m | met[b as usize]);
            let free = (0..count.len().min(COLORS)).filter(|c| taken >> c & 1 == 0).min_by_key(|&c| count[c]);
            let c = free.unwrap_or(count.len().min(COLORS));
            if c == count.len() {
                count.push(0);
            }
            count[c] += 1;
            color[i] = c as u8;
            for &b in pair.iter().filter(|b| **b != NONE) {
                met[b as usize] |= 1 << c;
            }
        }
        self.rest = count.len() > COLORS;
        self.colors.clear();
        self.colors.push(0);
        let mut at = 0;
        for count in count {
            // From here on the place of the next contact of the color.
            let many = std::mem::replace(count, at);
            at += many;
            self.colors.push(at);
        }
        refill(&mut self.order, n, 0);
        for (i, &c) in self.scratch.color.iter().enumerate() {
            let at = &mut self.scratch.count[c as usize];
            self.order[*at] = i as u32;
            *at += 1;
        }
    }

    /// For each body its contacts.
    fn find_touching(&mut self, bodies: usize) {
        let System { contacts, first, touching, scratch: Scratch { next, .. }, .. } = self;
        refill(first, bodies + 1, 0);
        let touched = |c: &Contact<D, B>| c.body.into_iter().filter(|b| *b != NONE);
        for b in contacts.iter().flat_map(touched) {
            first[b as usize + 1] += 1;
        }
        for b in 0..bodies {
            first[b + 1] += first[b];
        }
        next.clone_from(first);
        refill(touching, first[bodies] as usize, 0);
        for (k, c) in contacts.iter().enumerate() {
            for side in 0..2 {
                if c.body[side] != NONE {
                    let at = &mut next[c.body[side] as usize];
                    touching[*at as usize] = (2 * k + side) as u32;
                    *at += 1;
                }
            }
        }
    }
}

impl<const D: usize, const B: usize> System<D, B> {
    /// The contacts of a body, each with its side.
    pub fn contacts_of(&self, body: usize) -> impl Iterator<Item = (usize, usize)> + Clone + '_ {
        let range = self.first[body] as usize..self.first[body + 1] as usize;
        self.touching[range].iter().map(|&t| ((t / 2) as usize, (t % 2) as usize))
    }

    /// Whether all contacts are those of balls.
    pub fn is_of_balls(&self) -> bool {
        !self.balls.quads.is_empty()
    }

    /// Bytes of memory that are held, from the lengths.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        let ball = if self.is_of_balls() { size_of::<Ball>() + Quads::bytes_per_contact() } else { 0 };
        let contact = size_of::<Contact<D, B>>() + ball + size_of::<[u32; 2]>() + size_of::<u8>();
        let body = 2 * size_of::<[f64; B]>() + size_of::<[[f64; B]; B]>() + size_of::<u64>();
        let numbers =
            self.order.len() + self.first.len() + 2 * self.touching.len() + self.scratch.owner.len();
        // The number of contacts of each body, the next place, the island and its members.
        self.contacts.len() * contact + 4 * numbers + self.free.len() * (body + 4 * size_of::<u32>())
    }

    /// Number of islands, the connected parts, and of contacts in the largest one.
    pub fn islands(&mut self) -> (usize, usize) {
        let Scratch { parent, members, .. } = &mut self.scratch;
        parent.reset(self.free.len());
        let both = self.contacts.iter().filter(|c| c.body[1] != NONE);
        for c in both {
            parent.join(c.body[0] as usize, c.body[1] as usize);
        }
        refill(members, parent.len(), 0);
        let mut alone = 0;
        for c in &self.contacts {
            if c.body[0] == NONE {
                alone += 1;
            } else {
                members[parent.root(c.body[0] as usize)] += 1;
            }
        }
        let largest = members.iter().copied().max().unwrap_or(0) as usize;
        (alone + members.iter().filter(|c| **c > 0).count(), largest.max(alone.min(1)))
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
    small::cholesky(a, B, |_, diagonal| 1e-12 * diagonal)
}

/// x ← L⁻¹ x.
pub(super) fn forward<const B: usize>(l: &[[f64; B]; B], x: &mut [f64; B]) {
    small::forward(l, B, x);
}

/// x ← L⁻ᵀ x.
pub(super) fn backward<const B: usize>(l: &[[f64; B]; B], x: &mut [f64; B]) {
    small::backward(l, B, x);
}

/// Hᵀ, restricted to these rows and to a body; `place` is where they probably stand.
fn block<const D: usize, const B: usize>(
    h: &Sparse,
    body: usize,
    rows: Range<usize>,
    place: usize,
) -> [[f64; B]; D] {
    let mut block = [[0.0; B]; D];
    for k in 0..B {
        let (columns, values) = h.row(B * body + k);
        let found = columns.get(place) == Some(&rows.start);
        let from = if found { place } else { columns.partition_point(|j| *j < rows.start) };
        for (&j, &x) in columns[from..].iter().zip(&values[from..]).take_while(|e| *e.0 < rows.end) {
            block[j - rows.start][k] = x;
        }
    }
    block
}

/// A row of H: columns and values.
type Row<'a> = (&'a [usize], &'a [f64]);

impl<const B: usize> BodyChunk<B> {
    /// What is to be known of some bodies by themselves; false where a mass is no block or not positive
    /// definite.
    fn fill(
        &mut self,
        mass: &Sparse,
        h: &Sparse,
        force: &[f64],
        owner: &[u32],
        bodies: Range<usize>,
    ) -> bool {
        self.contacts.clear();
        self.counts.clear();
        self.factors.clear();
        self.free.clear();
        for body in bodies {
            let Some(l) = factor::<B>(mass, body) else { return false };
            let mut free = std::array::from_fn(|k| force[B * body + k]);
            forward(&l, &mut free);
            self.free.push(free);
            self.factors.push(l);
            let row: [_; B] = std::array::from_fn(|k| h.row(B * body + k));
            let before = self.contacts.len();
            if row.iter().all(|(columns, _)| *columns == row[0].0) {
                self.add_contacts_of_equal_rows(&row, owner);
            } else {
                self.add_contacts(&row, owner);
            }
            self.counts.push((self.contacts.len() - before) as u32);
        }
        true
    }
    /// The contacts of a body whose rows have entries in different columns.
    fn add_contacts(&mut self, row: &[Row<'_>; B], owner: &[u32]) {
        // The rows are ascending: the least contact at their heads is the next one.
        let mut head = [0; B];
        loop {
            let next = (0..B).filter_map(|k| row[k].0.get(head[k])).map(|&j| owner[j]).min();
            let Some(contact) = next else { return };
            let from = head[0] as u32;
            // A stored zero would make a contact touch a body that it does not move.
            let mut moves = false;
            for k in 0..B {
                while row[k].0.get(head[k]).is_some_and(|&j| owner[j] == contact) {
                    moves |= row[k].1[head[k]] != 0.0;
                    head[k] += 1;
                }
            }
            if moves {
                self.contacts.push([contact, from]);
            }
        }
    }

    /// The same where all rows have entries in the same columns.
    fn add_contacts_of_equal_rows(&mut self, row: &[Row<'_>; B], owner: &[u32]) {
        let columns = row[0].0;
        let mut from = 0;
        while let Some(&column) = columns.get(from) {
            let contact = owner[column];
            let own = columns[from..].iter().take_while(|j| owner[**j] == contact).count();
            if row.iter().any(|(_, values)| values[from..from + own].iter().any(|x| *x != 0.0)) {
                self.contacts.push([contact, from as u32]);
            }
            from += own;
        }
    }
}
