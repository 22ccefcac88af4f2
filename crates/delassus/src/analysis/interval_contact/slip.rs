//! Which way constraints slide on a box, or whether they rest, from the bounds of their slip velocities.
//!
//! ```text
//! ‖v‖ > ε :  e = v/‖v‖ ,     ‖v‖ ≤ ε :  at rest ,     on the whole box
//! ```

use super::{Matrices, Prover};
use crate::formula::{Interval, Number, Point};

/// Friction coefficients and slip directions of all constraints, and which of them rest.
pub(super) struct Friction {
    pub mu: Vec<Interval>,
    pub e: Vec<Vec<Interval>>,
    pub resting: Vec<(usize, usize)>,
}

/// What the slip of a constraint does on a box.
enum Slip {
    /// It slides along one of these.
    Along(Vec<Vec<Interval>>),
    /// Its tangents rest.
    Rests,
}

impl Prover<'_> {
    /// Friction with every combination of the slip directions that are possible; `None` where a constraint
    /// may slide or rest, or its friction has no meaning.
    pub(super) fn frictions(
        &self,
        matrices: &Matrices,
        closed: &[bool],
        at: &[Interval],
    ) -> Option<Vec<Friction>> {
        let member = self.terms.member(&at[..self.parameters], None);
        let point = Point { q: &member.q, v: &member.v, t: member.t };
        let mut mu = Vec::with_capacity(self.constraints.len());
        let mut resting = Vec::new();
        let mut directions = vec![vec![]];
        for (k, constraint) in self.constraints.iter().enumerate() {
            let kinetic = constraint.mu_kinetic.interval(&point).value;
            let rest = constraint.mu_static.interval(&point).value;
            // Negative friction is no system; negated comparisons catch what is undefined.
            if kinetic.is_undefined() || rest.is_undefined() || kinetic.lo < 0.0 || rest.lo < 0.0 {
                return None;
            }
            let none = vec![vec![Interval::ZERO; constraint.slip.len()]];
            let (possible, own) = match closed[k].then(|| self.slip(k, matrices, [rest, kinetic], at)) {
                None => (none, kinetic),
                Some(Some(Slip::Along(directions))) => (directions, kinetic),
                Some(Some(Slip::Rests)) => {
                    resting.push((k, constraint.slip.len()));
                    (none, rest)
                }
                Some(None) => return None,
            };
            mu.push(own);
            let with = |chosen: &Vec<Vec<Interval>>| -> Vec<Vec<Vec<Interval>>> {
                possible.iter().map(|e| chosen.iter().cloned().chain([e.clone()]).collect()).collect()
            };
            directions = directions.iter().flat_map(with).collect();
        }
        let with = |e| Friction { mu: mu.clone(), e, resting: resting.clone() };
        Some(directions.into_iter().map(with).collect())
    }

    /// The slip directions that are possible on the box, each a vector of intervals, or rest; `None` where
    /// both are possible.
    fn slip(&self, k: usize, matrices: &Matrices, mu: [Interval; 2], at: &[Interval]) -> Option<Slip> {
        let (constraint, velocity) = (&self.constraints[k], &matrices.slip[k]);
        let one = Interval::ONE;
        if self.any_slip {
            return Some(Slip::Along(match (constraint.slip.len(), constraint.angle) {
                (0, _) => vec![vec![]],
                (1, _) => vec![vec![one], vec![-one]],
                (_, Some(k)) => vec![vec![at[k].cos(), at[k].sin()]],
                _ => return None,
            }));
        }
        let rest = self.tolerances.velocity;
        // Where it rests for a moment, friction opposes its acceleration: both directions, and no other law.
        let turns = || {
            let rate = matrices.determined.as_ref().map(|rates| rates[self.offsets[k] + 1]);
            rate.is_some_and(|x| x.lo > 0.0 || x.hi < 0.0)
        };
        let along = |directions| Some(Slip::Along(directions));
        match *velocity.as_slice() {
            [] => along(vec![vec![]]),
            [v] if v.lo > rest => along(vec![vec![one]]),
            [v] if v.hi < -rest => along(vec![vec![-one]]),
            [a, b] if (a.powf(2.0) + b.powf(2.0)).sqrt().lo > rest => {
                let speed = (a.powf(2.0) + b.powf(2.0)).sqrt();
                let unit = Interval::new(-1.0, 1.0);
                along(vec![vec![(a / speed).intersect(unit), (b / speed).intersect(unit)]])
            }
            [_] if !constraint.is_contact && turns() => along(vec![vec![one], vec![-one]]),
            _ if mu == [Interval::ZERO; 2] => along(vec![vec![Interval::ZERO; velocity.len()]]),
            [v] if v.magnitude() <= rest => Some(Slip::Rests),
            [a, b] if (a.powf(2.0) + b.powf(2.0)).sqrt().hi <= rest => Some(Slip::Rests),
            _ => None,
        }
    }
}
