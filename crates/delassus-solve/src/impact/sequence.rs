//! Impacts one after the other.
//!
//! ```text
//! u ← u + A_{·k} p_k,   p_k the percussion of contact k by itself, until u_n ≥ 0 everywhere
//! ```
//!
//! A = A_c with the joints eliminated, u the velocities of all contacts. Each impact obeys the energetic law
//! along its percussion, the other contacts passive, so that no sequence creates energy. Which contact comes
//! first may matter: it does not where all rows of one contact are orthogonal to those of the other in the
//! kinetic metric; [`impact_orders`] tries all orders and lists their outcomes.
//!
//! With e < 1 a sequence may have no end (three balls, inelastic collapse); it is cut where the approach that
//! is left is rounding, or after [`MOST_IMPACTS`] with [`ImpactStatus::TooManyImpacts`].

use super::path::{RestitutionTarget, follow};
use super::setting::{Found, Setting};
use super::{ImpactError, ImpactProblem, ImpactStatus, no_guides};
use crate::linalg::max_abs;

/// Most impacts in a sequence.
pub const MOST_IMPACTS: usize = 10_000;
/// Most impacts that are tried in all orders together.
const MAX_TRIED_IMPACTS: usize = 200_000;
/// Approach below this part of the largest velocity at the start is over.
const APPROACH_ROUNDING: f64 = 1e-13;
/// Outcomes closer than this, relative to the velocities, are one.
const SAME_OUTCOME_RATIO: f64 = 1e-9;

/// What comes out of one order of impacts.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderOutcome {
    /// The contacts in the order in which they collide; one such order.
    pub order: Vec<usize>,
    /// v⁺.
    pub velocity: Vec<f64>,
    /// T⁺.
    pub kinetic_energy: f64,
}

/// What comes out of all orders of impacts.
#[derive(Clone, Debug, PartialEq)]
pub struct ImpactOrders {
    /// Outcomes that differ. More than one: the outcome depends on the order.
    pub outcomes: Vec<OrderOutcome>,
    /// Number of orders that were followed to their end.
    pub orders: usize,
    /// Whether all were.
    pub complete: bool,
}

/// The sequence of impacts, the contact with the fastest approach (in the kinetic metric) first.
pub(super) fn run_sequence(s: &Setting<'_>) -> Found {
    let mut walk = Walk::new(s);
    while let Some(k) = walk.fastest() {
        if walk.order.len() == MOST_IMPACTS {
            return walk.found(ImpactStatus::TooManyImpacts);
        }
        if !walk.collide(k) {
            return walk.found(ImpactStatus::NotConverged);
        }
    }
    walk.found(ImpactStatus::Solved)
}

/// Tries all orders of impacts, each contact by itself.
pub fn impact_orders(problem: &ImpactProblem) -> Result<ImpactOrders, ImpactError> {
    no_guides(problem)?;
    let setting = Setting::new(problem)?;
    let mut report = ImpactOrders { outcomes: vec![], orders: 0, complete: true };
    let mut open = vec![Walk::new(&setting)];
    let mut tried = 0;
    while let Some(mut walk) = open.pop() {
        let closing = walk.closing();
        if closing.is_empty() {
            report.orders += 1;
            record(&mut report.outcomes, &setting, walk);
            continue;
        }
        tried += closing.len();
        if walk.order.len() >= MOST_IMPACTS || tried > MAX_TRIED_IMPACTS {
            report.complete = false;
            continue;
        }
        // The last to be tried takes over the walk, so that a long sequence without choice is not copied.
        for &k in &closing[1..] {
            let mut other = walk.clone();
            if other.collide(k) { open.push(other) } else { report.complete = false }
        }
        if walk.collide(closing[0]) { open.push(walk) } else { report.complete = false }
    }
    Ok(report)
}

fn record(outcomes: &mut Vec<OrderOutcome>, s: &Setting<'_>, walk: Walk<'_>) {
    let velocity = s.velocity(&walk.impulse);
    let size = max_abs(&velocity).max(max_abs(&s.problem.velocity));
    let same = |o: &OrderOutcome| {
        o.velocity.iter().zip(&velocity).all(|(a, b)| (a - b).abs() <= SAME_OUTCOME_RATIO * size)
    };
    if !outcomes.iter().any(same) {
        let kinetic_energy = s.kinetic_energy(&velocity);
        outcomes.push(OrderOutcome { order: walk.order, velocity, kinetic_energy });
    }
}

#[derive(Clone)]
struct Walk<'a> {
    s: &'a Setting<'a>,
    u: Vec<f64>,
    impulse: Vec<f64>,
    order: Vec<usize>,
    over: f64,
}

impl<'a> Walk<'a> {
    fn new(s: &'a Setting<'a>) -> Self {
        let over = APPROACH_ROUNDING * max_abs(&s.size).max(max_abs(&s.free));
        Walk { s, u: s.free.clone(), impulse: vec![0.0; s.free.len()], order: vec![], over }
    }

    fn closing(&self) -> Vec<usize> {
        (0..self.s.problem.contacts.len()).filter(|&k| self.u[self.s.offsets[k]] < -self.over).collect()
    }

    fn fastest(&self) -> Option<usize> {
        let speed = |k: &usize| {
            let at = self.s.offsets[*k];
            -self.u[at] / self.s.delassus[(at, at)].max(f64::MIN_POSITIVE).sqrt()
        };
        self.closing().into_iter().max_by(|a, b| speed(a).total_cmp(&speed(b)).then(b.cmp(a)))
    }

    /// The impact of one contact by itself; false where it has no answer.
    fn collide(&mut self, k: usize) -> bool {
        let contact = &self.s.problem.contacts[k];
        let rows: Vec<usize> = (self.s.offsets[k]..self.s.offsets[k + 1]).collect();
        let u: Vec<f64> = rows.iter().map(|&i| self.u[i]).collect();
        let block = self.s.delassus.select(&rows, &rows);
        let path = follow(&block, u, contact.friction, RestitutionTarget::Work(contact.restitution));
        if path.status != ImpactStatus::Solved {
            return false;
        }
        for (&i, p) in rows.iter().zip(&path.impulse) {
            self.impulse[i] += p;
        }
        self.u = self.s.contact_velocity(&self.impulse);
        self.order.push(k);
        true
    }

    fn found(self, status: ImpactStatus) -> Found {
        Found { impulse: self.impulse, status, order: self.order, ..Found::default() }
    }
}
