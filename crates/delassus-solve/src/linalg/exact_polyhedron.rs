//! Polyhedra over the rationals, by the simplex method with the least-index rule (Bland): it ends, and
//! nothing is rounded.
//!
//! ```text
//! {x : A x = g , x_j ≥ 0 where j is not free}
//! ```

use super::rational::{Int, Tableau};
use num_rational::BigRational;

/// {x : A x = g, x_j ≥ 0 where not free}, brought to a basis. A free column that is not basic has no entries
/// in the rows of others that are not free.
#[derive(Clone)]
pub struct Polyhedron {
    /// [A | g].
    pub tableau: Tableau,
    pub free: Vec<bool>,
    /// The column that is basic in each row.
    pub basis: Vec<usize>,
}

impl Polyhedron {
    /// The polyhedron at a vertex (up to directions of free columns); `None` where it is empty.
    pub fn feasible(mut tableau: Tableau, free: Vec<bool>) -> Option<Self> {
        let columns = free.len();
        let mut basis = vec![None; tableau.rows.len()];
        // Free columns first: their rows then bound nothing. Among equals the emptiest, which cost least.
        let fill = |c: &usize| tableau.rows.iter().filter(|row| !row[*c].is_zero()).count();
        let mut order: Vec<usize> = (0..columns).collect();
        order.sort_by_cached_key(|c| (!free[*c], fill(c)));
        for c in order {
            let new = (0..basis.len()).find(|&r| basis[r].is_none() && !tableau.rows[r][c].is_zero());
            if let Some(r) = new {
                tableau.pivot(r, c);
                basis[r] = Some(c);
            }
        }
        // What is left reads 0 = g.
        if (0..basis.len()).any(|r| basis[r].is_none() && !tableau.rows[r][columns].is_zero()) {
            return None;
        }
        let mut keep = basis.iter().map(Option::is_some);
        tableau.rows.retain(|_| keep.next() == Some(true));
        Polyhedron { tableau, free, basis: basis.into_iter().flatten().collect() }.at_vertex()
    }

    /// Brought to a vertex by the dual simplex method without costs: least column that is negative, least
    /// column that can raise it. `None` where nothing can.
    fn at_vertex(mut self) -> Option<Self> {
        let g = self.free.len();
        loop {
            let low = (0..self.basis.len())
                .filter(|&r| !self.free[self.basis[r]] && self.tableau.rows[r][g].sign() < 0)
                .min_by_key(|&r| self.basis[r]);
            let Some(r) = low else { return Some(self) };
            let c = self.nonbasic().find(|&c| !self.free[c] && self.tableau.rows[r][c].sign() < 0)?;
            self.enter(r, c);
        }
    }

    /// Its part where only the columns to keep differ from zero; `None` where that is empty.
    pub fn restricted(&self, keep: &[bool]) -> Option<Self> {
        let (mut p, g) = (self.clone(), self.free.len());
        let mut r = 0;
        while r < p.basis.len() {
            if keep[p.basis[r]] {
                r += 1;
                continue;
            }
            // Free columns first, then such that stay positive.
            let rank = |c: &usize| (!p.free[*c], p.tableau.rows[r][*c].sign() != p.tableau.rows[r][g].sign());
            let other = p.nonbasic().filter(|&c| keep[c] && !p.tableau.rows[r][c].is_zero()).min_by_key(rank);
            match other {
                Some(c) => p.enter(r, c),
                None if p.tableau.rows[r][g].is_zero() => {
                    p.tableau.rows.remove(r);
                    p.basis.remove(r);
                }
                None => return None,
            }
        }
        let place = |c: usize| keep[..c].iter().filter(|kept| **kept).count();
        p.basis.iter_mut().for_each(|c| *c = place(*c));
        let kept = |c: usize| c == g || keep[c];
        for row in &mut p.tableau.rows {
            let mut c = 0..;
            row.retain(|_| c.next().is_some_and(kept));
        }
        let mut c = 0..;
        p.free.retain(|_| c.next().is_some_and(kept));
        p.at_vertex()
    }

    fn nonbasic(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.free.len()).filter(|c| !self.basis.contains(c))
    }

    fn enter(&mut self, r: usize, c: usize) {
        self.tableau.pivot(r, c);
        self.basis[r] = c;
    }

    /// Whether x_c > 0 somewhere.
    pub fn can_be_positive(&mut self, c: usize) -> bool {
        let g = self.free.len();
        let mut entering = c;
        loop {
            if let Some(r) = self.basis.iter().position(|&b| b == c) {
                if self.tableau.rows[r][g].sign() > 0 {
                    return true;
                }
                // x_c = −Σ T_j x_j: only columns with T_j < 0 raise it.
                let raise = self.nonbasic().find(|&j| !self.free[j] && self.tableau.rows[r][j].sign() < 0);
                match raise {
                    Some(j) => entering = j,
                    None => return false,
                }
            }
            match self.leaving(entering) {
                Some(r) => self.enter(r, entering),
                // Without bound along a direction that raises x_c.
                None => return true,
            }
        }
    }

    /// The greatest (sign 1) or the least (sign −1) x_c of a free column that is basic or held by nothing;
    /// `None` where there is no bound.
    pub fn extreme(&mut self, c: usize, sign: i32) -> Option<BigRational> {
        let g = self.free.len();
        loop {
            let r = self.basis.iter().position(|&b| b == c)?;
            let row = &self.tableau.rows[r];
            // x_c = g − Σ T_j x_j; nothing holds a free column that is not basic.
            if self.nonbasic().any(|j| self.free[j] && !row[j].is_zero()) {
                return None;
            }
            let Some(j) = self.nonbasic().find(|&j| row[j].sign() * sign < 0) else {
                return Some(BigRational::new(row[g].to_big(), self.tableau.denominator.to_big()));
            };
            let r = self.leaving(j)?;
            self.enter(r, j);
        }
    }

    /// The row that blocks first as column c grows: least ratio g/T, then least column.
    fn leaving(&self, c: usize) -> Option<usize> {
        let g = self.free.len();
        let mut best: Option<usize> = None;
        for r in 0..self.basis.len() {
            if self.free[self.basis[r]] || self.tableau.rows[r][c].sign() <= 0 {
                continue;
            }
            let (row, first) = (&self.tableau.rows[r], best.map(|b| &self.tableau.rows[b]));
            let less = match (first, best) {
                (Some(old), Some(b)) => {
                    match Int::cross(&row[g], &old[c], &old[g], &row[c], &Int::ONE).sign() {
                        0 => self.basis[r] < self.basis[b],
                        s => s < 0,
                    }
                }
                _ => true,
            };
            if less {
                best = Some(r);
            }
        }
        best
    }

    /// x at the vertex, times the denominator.
    pub fn point(&self) -> Vec<Int> {
        let mut x = vec![Int::ZERO; self.free.len()];
        for (r, &c) in self.basis.iter().enumerate() {
            x[c] = self.tableau.rows[r][self.free.len()].clone();
        }
        x
    }

    /// The directions of the affine hull, times some positive number.
    pub fn directions(&mut self) -> Vec<Vec<Int>> {
        let columns = self.free.len();
        let moves: Vec<bool> = (0..columns).map(|c| self.free[c] || self.can_be_positive(c)).collect();
        // Columns that stay at zero leave the basis, where they can, in favour of others.
        for r in 0..self.basis.len() {
            if !moves[self.basis[r]] {
                let other = self.nonbasic().find(|&c| moves[c] && !self.tableau.rows[r][c].is_zero());
                if let Some(c) = other {
                    self.enter(r, c);
                }
            }
        }
        let out = self.nonbasic().filter(|&c| moves[c]);
        out.map(|c| {
            let mut x = vec![Int::ZERO; columns];
            x[c] = self.tableau.denominator.clone();
            for (r, &b) in self.basis.iter().enumerate() {
                x[b] = self.tableau.rows[r][c].negated();
            }
            x
        })
        .collect()
    }
}
