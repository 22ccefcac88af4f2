//! Sweeps in an order that lets contacts be solved at the same time: contacts of one color share no body.
//!
//! Colors are dealt out once for an island, each contact the least that none of its neighbours has; contacts
//! are then kept in the order of their colors, so that a color is a range. A sweep solves the contacts of a
//! color from the same impulses, which is what Gauss–Seidel does anyway, since none of them moves another.

use super::island::Island;
use crate::linalg;

/// An island in the order of its colors.
#[derive(Default)]
pub(super) struct Coloring<const D: usize> {
    pub island: Island<D>,
    /// Which contact of the original comes k-th, and when each contact comes.
    order: Vec<usize>,
    place: Vec<usize>,
    /// Where each color begins, and the number of contacts as a last entry.
    start: Vec<usize>,
    /// The impulses of one color.
    next: Vec<[f64; D]>,
}

impl<const D: usize> Coloring<D> {
    /// Takes over an island; where it has the blocks of the one before, the colors stay.
    pub fn renew(&mut self, island: &Island<D>) {
        if !island.w.permutes_to(&self.order, &self.place, &self.island.w) {
            self.color(island);
            island.w.permute_places(&self.order, &self.place, &mut self.island.w);
        }
        island.w.permute_values(&self.order, &self.place, &mut self.island.w);
        let own = &mut self.island;
        own.q.clear();
        own.q.extend(self.order.iter().map(|&i| island.q[i]));
        own.cones.clear();
        own.cones.extend(self.order.iter().map(|&i| island.cones[i]));
        own.rho.clear();
        own.rho.extend(self.order.iter().map(|&i| island.rho[i]));
    }

    fn color(&mut self, island: &Island<D>) {
        let (w, n) = (&island.w, island.w.len());
        let mut color = vec![usize::MAX; n];
        let mut taken: Vec<usize> = Vec::new();
        for i in 0..n {
            for &j in &w.column[w.start[i]..w.start[i + 1]] {
                if j != i && color[j] != usize::MAX {
                    taken[color[j]] = i;
                }
            }
            let free = taken.iter().position(|&by| by != i).unwrap_or(taken.len());
            if free == taken.len() {
                taken.push(usize::MAX);
            }
            color[i] = free;
        }
        self.order = (0..n).collect();
        self.order.sort_by_key(|&i| color[i]);
        let order = &self.order;
        self.start = (0..n).filter(|&k| k == 0 || color[order[k]] != color[order[k - 1]]).collect();
        self.start.push(n);
        self.place = vec![0; n];
        for (k, &i) in order.iter().enumerate() {
            self.place[i] = k;
        }
        let widest = self.start.windows(2).map(|s| s[1] - s[0]).max().unwrap_or(0);
        self.next = vec![[0.0; D]; widest];
    }

    /// One sweep from x, color by color; the result is written to r.
    pub fn sweep(&mut self, x: &[[f64; D]], r: &mut [[f64; D]]) {
        linalg::fill(r, |i| x[i]);
        for range in self.start.windows(2) {
            let next = &mut self.next[..range[1] - range[0]];
            let (island, from) = (&self.island, range[0]);
            linalg::fill(next, |k| island.relaxed(from + k, r));
            r[range[0]..range[1]].copy_from_slice(next);
        }
    }

    /// Writes impulses in the order of colors.
    pub fn sort(&self, r: &[[f64; D]], sorted: &mut Vec<[f64; D]>) {
        sorted.clear();
        sorted.extend(self.order.iter().map(|&i| r[i]));
    }

    /// Back to the order of the island.
    pub fn restore(&self, sorted: &[[f64; D]], r: &mut [[f64; D]]) {
        for (k, &i) in self.order.iter().enumerate() {
            r[i] = sorted[k];
        }
    }
}
