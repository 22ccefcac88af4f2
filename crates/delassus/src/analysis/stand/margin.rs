//! How much is left before a world falls: brackets of which one end is proved to stand and the other to fall.
//!
//! ```text
//! friction:   μ ← φ μ          load:   F ← F + (α − 1) F₁          tilt:   g ← g cos θ + |g| d sin θ
//! ```
//!
//! More friction never harms: what stands with a factor stands with every larger one, and what falls with one
//! falls with every smaller one. Of loads, those that a world resists form a convex set: between two factors
//! with which it stands it stands. So it is for tilts where weight is the only load, as only the direction
//! counts.

use delassus_solve::analysis::equilibrium::{Balance, largest_factor};
use glam::DVec3;

use super::assembly::AtRest;
use super::{Stands, WorldAtRest, contacts_with, decide};
use crate::world::{FIXED_SLOT, World};

/// Largest factor on friction and loads that is asked for.
const MAX_FACTOR: f64 = 1e3;
/// Least factor on friction that is asked for.
const MIN_FACTOR: f64 = 1e-4;
/// How far the ends of a bracket are from each other, relative to them, where both are found.
const WIDTH: f64 = 1e-6;
/// Largest tilt, rad.
const MAX_TILT: f64 = 1.57;
/// Contacts that use more of their friction than this at the end of a bracket are critical.
const CRITICAL: f64 = 0.99;

/// What is varied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Margin {
    /// A common factor on all coefficients of friction.
    Friction,
    /// A factor on the given force of a body or, where it has none, on its weight.
    Load {
        /// The body.
        body: usize,
    },
    /// The angle by which the ground is tilted, rad, so that this horizontal direction goes down.
    Tilt {
        /// The direction.
        direction: DVec3,
    },
}

/// Where a world stands and where it falls, each proved.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bracket {
    /// With this it stands; `None` where no such value was found.
    pub stands: Option<f64>,
    /// With this it falls; `None` where no such value was found.
    pub falls: Option<f64>,
    /// Contacts at the limit of friction where it just stands.
    pub critical: Vec<String>,
    /// The motion with which it falls, per body.
    pub collapse: Option<Vec<[DVec3; 2]>>,
}

/// The bracket of a margin; `None` where the question makes no sense: a body that does not move, a direction
/// along gravity.
pub fn margin(at_rest: &WorldAtRest, what: Margin) -> Option<Bracket> {
    let at = &at_rest.0;
    if at.vague.is_some() {
        return Some(Bracket::default());
    }
    match what {
        Margin::Friction => Some(friction(at)),
        Margin::Load { body } => {
            let direction = load_on(at, body)?;
            let base: Vec<f64> = at.balance.load.iter().zip(&direction).map(|(f, d)| f - d).collect();
            Some(largest_load(at, &base, &direction))
        }
        Margin::Tilt { direction } => {
            let gravity = at.world.gravity;
            let across = direction - gravity * (direction.dot(gravity) / gravity.length_squared());
            let across = across.try_normalize()?;
            Some(tilt(at, across))
        }
    }
}

/// A search on a line: `of` is the balance at a value.
struct Line<'a, B: Fn(f64) -> Balance> {
    at: &'a AtRest,
    of: B,
    bracket: Bracket,
}

impl<B: Fn(f64) -> Balance> Line<'_, B> {
    /// Asks at one value, and keeps the answer as an end of the bracket.
    fn ask(&mut self, x: f64) -> Option<bool> {
        let decided = decide(&(self.of)(x), self.at.left_out.is_empty());
        match decided.stands {
            Stands::Surely | Stands::Possibly => {
                let forces = decided.forces.as_deref();
                let contacts = contacts_with(self.at, forces);
                self.bracket.stands = Some(x);
                let factor = |own: &super::ContactAtRest| own.utilization * self.friction_at(x);
                let critical = contacts.iter().filter(|c| factor(c) > CRITICAL);
                self.bracket.critical = critical.map(|c| c.name.clone()).collect();
                Some(true)
            }
            Stands::No => {
                self.bracket.falls = Some(x);
                self.bracket.collapse = decided.collapse.map(|v| self.at.motion(&v));
                Some(false)
            }
            Stands::Undecided => None,
        }
    }

    /// What utilizations, which are those of the world as it is, have to be multiplied by.
    fn friction_at(&self, x: f64) -> f64 {
        let mu = |balance: &Balance| match balance.supports.last() {
            Some(delassus_solve::analysis::equilibrium::Support::Contact(law)) => law.mu(),
            _ => 1.0,
        };
        let (now, there) = (mu(&self.at.balance), mu(&(self.of)(x)));
        if there > 0.0 { now / there } else { 1.0 }
    }

    /// Halves the bracket until it is narrow; where a middle is undecided, from both ends towards it.
    fn narrow(&mut self) {
        let (Some(stands), Some(falls)) = (self.bracket.stands, self.bracket.falls) else { return };
        let (mut stands, mut falls) = (stands, falls);
        while (stands - falls).abs() > WIDTH * stands.abs().max(falls.abs()) {
            let middle = 0.5 * (stands + falls);
            match self.ask(middle) {
                Some(true) => stands = middle,
                Some(false) => falls = middle,
                None => {
                    self.approach(stands, middle);
                    self.approach(falls, middle);
                    return;
                }
            }
        }
    }

    /// From an end that is decided towards a value that is not.
    fn approach(&mut self, end: f64, open: f64) {
        let (mut end, mut open) = (end, open);
        for _ in 0..8 {
            let middle = 0.5 * (end + open);
            if self.ask(middle).is_some() { end = middle } else { open = middle }
        }
    }
}

/// The least factor on friction.
fn friction(at: &AtRest) -> Bracket {
    let of = |factor: f64| at.balance.with_friction(factor);
    let mut line = Line { at, of, bracket: Bracket::default() };
    let mut factor = 1.0;
    let first = line.ask(factor);
    // Away from the answer that there is, until the other one comes.
    let step = if first == Some(true) { 0.5 } else { 2.0 };
    while (line.bracket.stands.is_none() || line.bracket.falls.is_none())
        && (MIN_FACTOR..=MAX_FACTOR).contains(&(factor * step))
    {
        factor *= step;
        line.ask(factor);
    }
    if line.bracket.falls.is_none() {
        line.ask(0.0);
    }
    line.narrow();
    line.bracket
}

/// The part of F that is a load on a body.
fn load_on(at: &AtRest, body: usize) -> Option<Vec<f64>> {
    let own = at.world.bodies.get(body)?;
    if at.masses.slot[body] == FIXED_SLOT {
        return None;
    }
    let mut without = at.world.clone();
    if own.force == [DVec3::ZERO; 2] {
        // The weight of one body: what a force that takes it away changes.
        without.bodies[body].force[0] = -own.mass * at.world.gravity;
    } else {
        without.bodies[body].force = [DVec3::ZERO; 2];
    }
    let (rest, _) = at.load_of(&without);
    Some(at.balance.load.iter().zip(&rest).map(|(f, r)| f - r).collect())
}

/// The largest factor on a load beside another one.
pub(super) fn largest_load(at: &AtRest, base: &[f64], direction: &[f64]) -> Bracket {
    let of = |factor: f64| {
        let along = base.iter().zip(direction).map(|(b, d)| b + factor * d).collect();
        // Products and sums of numbers of this size.
        let sizes = base.iter().zip(direction).map(|(b, d)| b.abs() + (factor * d).abs());
        let error = at.balance.load_error.iter().zip(sizes).map(|(e, size)| e + 4.0 * f64::EPSILON * size);
        at.balance.with_load(along, error.collect())
    };
    let at_base = at.balance.with_load(base.to_vec(), at.balance.load_error.clone());
    let mut line = Line { at, of, bracket: Bracket::default() };
    let guess = largest_factor(&at_base, direction).map(|factor| factor.clamp(0.0, MAX_FACTOR));
    let Some(guess) = guess else {
        line.ask(1.0);
        return line.bracket;
    };
    for width in [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2] {
        let ends = [guess * (1.0 - width), guess * (1.0 + width)];
        if line.bracket.stands.is_none() {
            line.ask(ends[0]);
        }
        if line.bracket.falls.is_none() && guess < MAX_FACTOR {
            line.ask(ends[1]);
        }
        if line.bracket.stands.is_some() && (line.bracket.falls.is_some() || guess >= MAX_FACTOR) {
            break;
        }
    }
    line.bracket
}

/// The largest tilt.
fn tilt(at: &AtRest, direction: DVec3) -> Bracket {
    let gravity = at.world.gravity;
    let of = |angle: f64| {
        let turned = gravity * angle.cos() + direction * (gravity.length() * angle.sin());
        let (load, error) = at.load_of(&World { gravity: turned, ..at.world.clone() });
        at.balance.with_load(load, error)
    };
    let mut line = Line { at, of, bracket: Bracket::default() };
    if line.ask(0.0) == Some(true) {
        line.ask(MAX_TILT);
        line.narrow();
    }
    line.bracket
}
