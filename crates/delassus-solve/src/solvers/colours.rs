//! Sweeps in an order that lets contacts be solved at the same time: contacts of one colour share no body.
//!
//! Colours are dealt out once for an island, each contact the least that none of its neighbours has; contacts are then kept in the order
//! of their colours, so that a colour is a range. A sweep solves the contacts of a colour from the same impulses, which is what
//! Gauss–Seidel does anyway, since none of them moves another.

use super::friction::Island;
use super::parallel;

/// An island in the order of its colours.
pub(super) struct Coloured<const D: usize> {
    pub island: Island<D>,
    /// Which contact of the original comes k-th.
    order: Vec<usize>,
    /// Where each colour begins, and the number of contacts as a last entry.
    start: Vec<usize>,
    /// The impulses of one colour.
    next: Vec<[f64; D]>,
}

impl<const D: usize> Coloured<D> {
    pub fn new(island: &Island<D>) -> Self {
        let (w, n) = (&island.w, island.w.len());
        let mut colour = vec![usize::MAX; n];
        let mut taken: Vec<usize> = Vec::new();
        for i in 0..n {
            for &j in &w.column[w.start[i]..w.start[i + 1]] {
                if j != i && colour[j] != usize::MAX {
                    taken[colour[j]] = i;
                }
            }
            let free = taken.iter().position(|&by| by != i).unwrap_or(taken.len());
            if free == taken.len() {
                taken.push(usize::MAX);
            }
            colour[i] = free;
        }
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&i| colour[i]);
        let mut start: Vec<usize> =
            (0..n).filter(|&k| k == 0 || colour[order[k]] != colour[order[k - 1]]).collect();
        start.push(n);
        let mut place = vec![0; n];
        for (k, &i) in order.iter().enumerate() {
            place[i] = k;
        }
        let island = Island {
            w: w.permuted(&order, &place),
            q: order.iter().map(|&i| island.q[i]).collect(),
            cones: order.iter().map(|&i| island.cones[i]).collect(),
            rho: order.iter().map(|&i| island.rho[i]).collect(),
        };
        let widest = start.windows(2).map(|s| s[1] - s[0]).max().unwrap_or(0);
        Coloured { island, order, start, next: vec![[0.0; D]; widest] }
    }

    /// One sweep from x, colour by colour; the result is written to r.
    pub fn sweep(&mut self, x: &[[f64; D]], r: &mut [[f64; D]]) {
        parallel::fill(r, |i| x[i]);
        for range in self.start.windows(2) {
            let next = &mut self.next[..range[1] - range[0]];
            let (island, from) = (&self.island, range[0]);
            parallel::fill(next, |k| island.relaxed(from + k, r));
            r[range[0]..range[1]].copy_from_slice(next);
        }
    }

    /// Impulses in the order of colours.
    pub fn sorted(&self, r: &[[f64; D]]) -> Vec<[f64; D]> {
        self.order.iter().map(|&i| r[i]).collect()
    }

    /// Back to the order of the island.
    pub fn restore(&self, sorted: &[[f64; D]], r: &mut [[f64; D]]) {
        for (k, &i) in self.order.iter().enumerate() {
            r[i] = sorted[k];
        }
    }
}
