//! The dense simplex method with free unknowns.
//!
//! ```text
//! min cᵀ t   s.t.  s = G t − h ≥ 0
//! ```
//!
//! G is p × k with rows of unit length, h and the slacks s are in Rᵖ, c and t in Rᵏ, t free. Phase one
//! minimises one artificial variable a ≥ 0 that shifts all slacks; where its least value v is positive, the
//! row a = v + Σ yⱼ sⱼ holds the Farkas multipliers y ≥ 0, Gᵀ y = 0, hᵀ y = v. The largest coefficient
//! enters; after a long sequence of degenerate pivots the least index does (Bland), which cannot cycle.

use super::inequalities::{Inequalities, shortest_solution};
use crate::linalg::{Dictionary, max_abs};

/// How far, relative to the largest |hᵢ|/‖gᵢ‖, an inequality may fail in a linear program.
pub(super) const LP_TOLERANCE: f64 = 1e-10;
/// Coefficients of the scaled dictionary below this are rounding.
const ENTRY_TOLERANCE: f64 = 1e-11;

/// The outcome of phase one.
pub(super) enum Feasibility {
    /// The basis satisfies all inequalities within the tolerance.
    Feasible,
    /// y ≥ 0, Gᵀ y = 0, hᵀ y > 0 for the scaled rows.
    Infeasible(Vec<f64>),
    /// Rounding left the question open.
    Undecided,
}

/// How a minimisation ended.
pub(super) enum Descent {
    /// At the least value.
    Bottom,
    /// Nothing bounds the value from below.
    Unbounded,
    /// The variable that was minimised left the basis: it is zero.
    LeftBasis,
    /// The limit of iterations was reached.
    Undecided,
}

/// Dictionary of the slacks s = G t − h ≥ 0, the free t, and one artificial variable a ≥ 0.
/// Variables are numbered: sᵢ is i, tⱼ is p + j, a is p + k.
pub(super) struct Simplex {
    p: usize,
    k: usize,
    dictionary: Dictionary,
    basic: Vec<usize>,
    nonbasic: Vec<usize>,
    /// The row of the objective, after the rows of the variables.
    objective: usize,
    /// Columns that take no part: null directions of G, and the artificial variable outside phase one.
    closed: Vec<bool>,
    /// Whether a null direction of G has a cost: then nothing bounds the objective.
    endless: bool,
    /// The constants are of size 1 after division by this.
    scale: f64,
}

impl Simplex {
    pub(super) fn new(system: &Inequalities, c: &[f64]) -> Simplex {
        let (p, k) = (system.h.len(), system.g.cols());
        let mut dictionary = Dictionary::zeros(p + 1, k + 2);
        for i in 0..p {
            let row = dictionary.row_mut(i);
            row[..k].copy_from_slice(system.g.row(i));
            row[k + 1] = -system.h[i] / system.scale;
        }
        let cost = max_abs(c);
        if cost > 0.0 {
            for (t, x) in dictionary.row_mut(p).iter_mut().zip(c) {
                *t = x / cost;
            }
        }
        let mut simplex = Simplex {
            p,
            k,
            dictionary,
            basic: (0..p).collect(),
            nonbasic: (p..=p + k).collect(),
            objective: p,
            closed: vec![false; k + 1],
            endless: false,
            scale: system.scale,
        };
        simplex.closed[k] = true;
        simplex.free_variables_into_the_basis();
        simplex
    }

    /// Every tⱼ that G determines becomes basic, by complete pivoting.
    fn free_variables_into_the_basis(&mut self) {
        loop {
            let (mut best, mut place) = (ENTRY_TOLERANCE, None);
            for i in 0..self.p {
                if self.basic[i] >= self.p {
                    continue;
                }
                for j in 0..self.k {
                    if self.nonbasic[j] >= self.p && self.dictionary.at(i, j).abs() > best {
                        best = self.dictionary.at(i, j).abs();
                        place = Some((i, j));
                    }
                }
            }
            let Some((i, j)) = place else { break };
            self.exchange(i, j);
        }
        // What is left are directions in the null space of G: rounding in the slacks is removed.
        for j in 0..self.k {
            if self.nonbasic[j] >= self.p {
                self.endless |= self.dictionary.at(self.objective, j).abs() > LP_TOLERANCE;
                self.close(j);
            }
        }
    }

    fn close(&mut self, c: usize) {
        self.closed[c] = true;
        (0..=self.p).for_each(|i| self.dictionary.row_mut(i)[c] = 0.0);
    }

    fn exchange(&mut self, r: usize, c: usize) {
        self.dictionary.pivot(r, c);
        std::mem::swap(&mut self.basic[r], &mut self.nonbasic[c]);
    }

    fn is_free(&self, row: usize) -> bool {
        (self.p..self.p + self.k).contains(&self.basic[row])
    }

    /// Phase one: the artificial variable a shifts the slacks that are basic now, and is made small.
    pub(super) fn make_feasible(&mut self, tolerance: f64) -> Feasibility {
        let a = self.k;
        let rows: Vec<usize> = (0..self.p).filter(|&i| !self.is_free(i)).collect();
        let lowest = rows
            .iter()
            .copied()
            .min_by(|&i, &j| self.dictionary.constant(i).total_cmp(&self.dictionary.constant(j)));
        let Some(r) = lowest.filter(|&i| self.dictionary.constant(i) < 0.0) else {
            return Feasibility::Feasible;
        };
        for &i in &rows {
            self.dictionary.row_mut(i)[a] = 1.0;
        }
        self.closed[a] = false;
        self.exchange(r, a);
        match self.minimise(r) {
            Descent::LeftBasis => {}
            Descent::Bottom => {
                // a = v + Σ yⱼ sⱼ with y ≥ 0: then Gᵀ y = 0 and hᵀ y = v.
                let v = self.dictionary.constant(r);
                let mut y = vec![0.0; self.p];
                for j in 0..=self.k {
                    if self.nonbasic[j] < self.p {
                        y[self.nonbasic[j]] = self.dictionary.at(r, j).max(0.0);
                    }
                }
                let sum: f64 = y.iter().sum();
                if v * self.scale > tolerance * sum.max(1.0) {
                    return Feasibility::Infeasible(y);
                }
                // Feasible within the tolerance: a leaves at the place where it does least harm.
                let size = |j: usize| if self.closed[j] { 0.0 } else { self.dictionary.at(r, j).abs() };
                let Some(c) = (0..=self.k).max_by(|&i, &j| size(i).total_cmp(&size(j))) else {
                    return Feasibility::Undecided;
                };
                if size(c) <= ENTRY_TOLERANCE {
                    return Feasibility::Undecided;
                }
                self.dictionary.row_mut(r)[self.k + 1] = 0.0;
                self.exchange(r, c);
            }
            Descent::Unbounded | Descent::Undecided => return Feasibility::Undecided,
        }
        if let Some(c) = self.nonbasic.iter().position(|&x| x == self.p + self.k) {
            self.close(c);
        }
        Feasibility::Feasible
    }

    /// Makes the objective as small as it gets, from a feasible dictionary.
    pub(super) fn minimise_objective(&mut self) -> Descent {
        if self.endless { Descent::Unbounded } else { self.minimise(self.objective) }
    }

    /// Makes the quantity of row `goal` (the objective, or a basic variable bounded by 0) as small as it
    /// gets.
    fn minimise(&mut self, goal: usize) -> Descent {
        let unknowns = self.p + self.k + 1;
        let (mut standing, mut lowest) = (0, f64::INFINITY);
        for _ in 0..200 * (unknowns + 10) {
            // The largest decrease; after long standing still, the least index (Bland), which cannot cycle.
            let bland = standing > unknowns;
            let open =
                (0..=self.k).filter(|&j| !self.closed[j] && self.dictionary.at(goal, j) < -ENTRY_TOLERANCE);
            let entering = if bland {
                open.min_by_key(|&j| self.nonbasic[j])
            } else {
                open.min_by(|&i, &j| self.dictionary.at(goal, i).total_cmp(&self.dictionary.at(goal, j)))
            };
            let Some(c) = entering else { return Descent::Bottom };
            let Some(r) = self.leaving_row(c, goal, bland) else { return Descent::Unbounded };
            self.exchange(r, c);
            if r == goal {
                return Descent::LeftBasis;
            }
            let value = self.dictionary.constant(goal);
            if value < lowest - 1e-13 * lowest.abs().min(1e300) {
                (standing, lowest) = (0, value);
            } else {
                standing += 1;
            }
        }
        Descent::Undecided
    }

    /// The sign-constrained row that limits the variable of column c; of equal ones the goal, then the
    /// largest pivot, or the least index.
    fn leaving_row(&self, c: usize, goal: usize, bland: bool) -> Option<usize> {
        let d = &self.dictionary;
        let limited = (0..self.p).filter(|&i| !self.is_free(i) && d.at(i, c) < -ENTRY_TOLERANCE);
        let ratio = |i: usize| d.constant(i).max(0.0) / -d.at(i, c);
        let least = limited.clone().map(ratio).fold(f64::INFINITY, f64::min);
        let tied = limited.filter(|&i| ratio(i) <= least + 1e-12 * least.max(1.0));
        if tied.clone().any(|i| i == goal) {
            return Some(goal);
        }
        if bland {
            tied.min_by_key(|&i| self.basic[i])
        } else {
            tied.min_by(|&i, &j| d.at(i, c).total_cmp(&d.at(j, c)))
        }
    }

    /// The point of the basis: from the data on the active rows, or of the dictionary where that is better.
    pub(super) fn vertex(&self, system: &Inequalities) -> Vec<f64> {
        let mut t = vec![0.0; self.k];
        for i in 0..self.p {
            if self.is_free(i) {
                t[self.basic[i] - self.p] = self.dictionary.constant(i) * self.scale;
            }
        }
        let active: Vec<usize> = self.nonbasic.iter().copied().filter(|&x| x < self.p).collect();
        let bounds: Vec<f64> = active.iter().map(|&i| system.h[i]).collect();
        let polished = shortest_solution(&system.g.select_rows(&active), &bounds);
        let (raw, exact) = (system.violation(&system.h, &t), system.violation(&system.h, &polished));
        if exact <= raw.max(1e-14 * system.scale) { polished } else { t }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Matrix;

    fn simplex(g: &Matrix, h: &[f64], c: &[f64]) -> (Inequalities, Simplex) {
        let system = Inequalities::new(g, h, LP_TOLERANCE).unwrap();
        let simplex = Simplex::new(&system, c);
        (system, simplex)
    }

    #[test]
    fn phase_one_returns_farkas_multipliers_of_an_empty_interval() {
        // t ≥ 3 and t ≤ 1: y = (1, 1) up to a factor, hᵀ y = 2.
        let (system, mut simplex) = simplex(&Matrix::from_rows(&[[1.0], [-1.0]]), &[3.0, -1.0], &[0.0]);
        let Feasibility::Infeasible(y) = simplex.make_feasible(1e-9) else { panic!("the interval is empty") };
        assert!(y[0] > 0.0 && (y[0] - y[1]).abs() < 1e-15 && system.refutes(&y), "{y:?}");
    }

    #[test]
    fn phase_two_ends_at_the_vertex_of_an_interval() {
        let g = Matrix::from_rows(&[[1.0], [-1.0]]);
        for (cost, vertex) in [(2.0, 1.0), (-0.5, 3.0)] {
            let (system, mut simplex) = simplex(&g, &[1.0, -3.0], &[cost]);
            assert!(matches!(simplex.make_feasible(1e-9), Feasibility::Feasible));
            assert!(matches!(simplex.minimise_objective(), Descent::Bottom));
            assert!((simplex.vertex(&system)[0] - vertex).abs() < 1e-15);
        }
    }

    #[test]
    fn a_cost_along_a_null_direction_of_the_rows_has_no_least_value() {
        let g = Matrix::from_rows(&[[1.0, 1.0]]);
        for (cost, bounded) in [([1.0, 1.0], true), ([1.0, 0.0], false)] {
            let (_, mut simplex) = simplex(&g, &[0.0], &cost);
            assert!(matches!(simplex.make_feasible(1e-9), Feasibility::Feasible));
            assert_eq!(matches!(simplex.minimise_objective(), Descent::Bottom), bounded);
        }
    }
}
