//! The sets of solutions found in rational arithmetic that lie in no other.
//!
//! ```text
//! S ⊆ B   ⇔   no (f, u) ∈ S has z·(f, u) ≠ 0 or p·(f, u) < 0   for the forms z, p of the mode of B
//! ```
//!
//! S and B satisfy the same dynamics, so that only the cones of B are to be checked. Whether a form can be
//! negative on S is a question to the simplex method: it can where y > 0 with form + y = 0 somewhere.

use super::generators::Pair;
use super::{Found, Modes};
use crate::linalg::{Int, Polyhedron};

impl Modes {
    /// Points that have no other solution nearby, each once.
    pub(super) fn isolated<'a>(&self, found: &'a [Found]) -> Vec<&'a Found> {
        let mut kept: Vec<&Found> = Vec::new();
        for x in found.iter().filter(|x| !x.several) {
            let in_set = |s: &Found| s.several && self.in_cones(&s.choice, &x.point);
            if !kept.iter().any(|y| y.point == x.point) && !found.iter().any(in_set) {
                kept.push(x);
            }
        }
        kept
    }

    /// What lies in no other: isolated points and sets of solutions.
    pub(super) fn maximal<'a>(&self, found: &'a [Found]) -> Vec<&'a Found> {
        let sets: Vec<&Found> = found.iter().filter(|x| x.several).collect();
        let inside = |small: &Found, big: &Found| self.contains(big, small);
        let mut kept = self.isolated(found);
        kept.extend(sets.iter().enumerate().filter_map(|(i, s)| {
            // Of two that are the same the first is kept.
            let covered = |(j, big): (usize, &&Found)| i != j && inside(s, big) && !(i < j && inside(big, s));
            (!sets.iter().enumerate().any(covered)).then_some(*s)
        }));
        // As the search in floating point counts: the first constraint fastest.
        kept.sort_by(|x, y| x.choice.iter().rev().cmp(y.choice.iter().rev()));
        kept
    }

    /// Whether all solutions of one mode satisfy another.
    fn contains(&self, big: &Found, small: &Found) -> bool {
        if !self.in_cones(&big.choice, &small.point) {
            return false;
        }
        big.choice.iter().enumerate().all(|(k, &p)| {
            let cone = &self.cones[k][p];
            p == small.choice[k]
                || cone.zero.iter().all(|form| ![1, -1].iter().any(|s| self.dips(&small.choice, k, form, *s)))
                    && cone.nonnegative.iter().all(|form| !self.dips(&small.choice, k, form, 1))
        })
    }

    /// Whether sign·form, a form on constraint k, is negative at some solution of a mode.
    fn dips(&self, choice: &[usize], k: usize, form: &Pair, sign: i64) -> bool {
        let mut tableau = self.equations(self.generators(choice));
        let scale = tableau.denominator.times(&Int::Small(sign));
        let coefficient = |(at, g): (usize, &super::Generator)| {
            if at != self.offsets[k] {
                return Int::ZERO;
            }
            let parts = form.force.iter().zip(&g.along.force);
            let all = parts.chain(form.velocity.iter().zip(&g.along.velocity));
            all.fold(Int::ZERO, |sum, (x, y)| sum.plus(&x.times(y))).times(&scale)
        };
        let mut row: Vec<Int> = self.generators(choice).map(coefficient).collect();
        let y = row.len();
        row.extend([tableau.denominator.clone(), Int::ZERO]);
        for other in &mut tableau.rows {
            other.insert(y, Int::ZERO);
        }
        tableau.rows.push(row);
        let free = self.generators(choice).map(|(_, g)| g.free).chain([false]).collect();
        Polyhedron::feasible(tableau, free).is_some_and(|mut p| p.can_be_positive(y))
    }
}
