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

use delassus_solve::analysis::equilibrium::{Balance, Support, find_collapse, is_collapse, largest_factor};
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
            let across = across(at, direction)?;
            Some(tilt(at, across))
        }
    }
}

/// What proves the ends of a bracket, of loads F + x F₁ or of coefficients of friction times x.
#[derive(Clone, Debug)]
pub struct MarginProof {
    /// The balance at x = 0 of loads, at x = 1 of friction.
    pub balance: Balance,
    /// F₁ and how far each entry may be off; `None` where friction is varied.
    pub along: Option<[Vec<f64>; 2]>,
    /// An x with which it stands, and forces near which there are some that balance the load.
    pub stands: Option<(f64, Vec<f64>)>,
    /// An x with which it falls, and velocities that show it.
    pub falls: Option<(f64, Vec<f64>)>,
}

/// What proves a bracket that was found; `None` where nothing does. Of a tilt x is the tangent: then weight
/// has to be the only load, of which the direction alone counts where no force is bounded.
pub fn margin_proof(at_rest: &WorldAtRest, what: Margin, found: &Bracket) -> Option<MarginProof> {
    let at = &at_rest.0;
    let value = |x: f64| if let Margin::Tilt { .. } = what { x.tan() } else { x };
    let ends = [found.stands.map(value), found.falls.map(value)];
    let (balance, along) = match what {
        Margin::Friction => (at.balance.clone(), None),
        Margin::Load { body } => {
            let direction = load_on(at, body)?;
            let base = at.balance.load.iter().zip(&direction).map(|(f, d)| f - d).collect();
            (at.balance.with_load(base, at.balance.load_error.clone()), Some(direction))
        }
        Margin::Tilt { direction } => {
            let free = |body: &crate::world::Body| {
                body.fixed || body.force == [DVec3::ZERO; 2] && body.carried == DVec3::ZERO
            };
            let bounded = |support: &Support| matches!(support, Support::Bounded(_));
            let weight = at.world.bodies.iter().all(free) && at.world.joints.is_empty();
            if !weight || at.balance.supports.iter().any(bounded) {
                return None;
            }
            let gravity = at.world.gravity.length() * across(at, direction)?;
            let (load, _) = at.load_of(&World { gravity, ..at.world.clone() });
            (at.balance.clone(), Some(load))
        }
    };
    let with = |x: f64| match &along {
        None => balance.with_friction(x),
        Some(along) => loaded(&balance, along, x),
    };
    let stands = ends[0].and_then(|x| {
        let decided = decide(&with(x), false);
        Some((x, decided.forces.filter(|_| decided.stands == Stands::Possibly)?))
    });
    let falls = ends[1].and_then(|x| {
        let there = with(x);
        Some((x, find_collapse(&there, |v| is_collapse(&there, v))?))
    });
    let error = |direction: Vec<f64>| {
        let of = |(d, e): (&f64, &f64)| if *d == 0.0 { 0.0 } else { *e };
        let error = direction.iter().zip(&at.balance.load_error).map(of).collect();
        [direction, error]
    };
    let proved = stands.is_some() || falls.is_some();
    proved.then(|| MarginProof { along: along.map(error), balance, stands, falls })
}

/// A balance with the load F + x F₁.
fn loaded(balance: &Balance, along: &[f64], x: f64) -> Balance {
    let load = balance.load.iter().zip(along).map(|(b, d)| b + x * d).collect();
    // Products and sums of numbers of this size.
    let sizes = balance.load.iter().zip(along).map(|(b, d)| b.abs() + (x * d).abs());
    let error = balance.load_error.iter().zip(sizes).map(|(e, size)| e + 4.0 * f64::EPSILON * size);
    balance.with_load(load, error.collect())
}

/// The part of a direction across gravity, of length 1; `None` where there is none.
fn across(at: &AtRest, direction: DVec3) -> Option<DVec3> {
    let gravity = at.world.gravity;
    let across = direction - gravity * (direction.dot(gravity) / gravity.length_squared());
    across.try_normalize()
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
            Some(Support::Contact(law)) => law.mu(),
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
        without.bodies[body].force[0] = -own.mass * at.world.gravity - own.carried;
    } else {
        without.bodies[body].force = [DVec3::ZERO; 2];
    }
    let (rest, _) = at.load_of(&without);
    Some(at.balance.load.iter().zip(&rest).map(|(f, r)| f - r).collect())
}

/// The largest factor on a load beside another one.
pub(super) fn largest_load(at: &AtRest, base: &[f64], direction: &[f64]) -> Bracket {
    let at_base = at.balance.with_load(base.to_vec(), at.balance.load_error.clone());
    let of = |factor: f64| loaded(&at_base, direction, factor);
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
