//! What is true of all contact problems whose numbers lie in given intervals.
//!
//! ```text
//! M a + F = Jᵀ f ,   u = J a + γ ,   (f, u) in the laws          M ∈ 𝐌 , F ∈ 𝐅 , J ∈ 𝐉 , γ ∈ 𝛄 , μ ∈ 𝛍
//! ```
//!
//! a ∈ Rⁿ, f, u ∈ Rᵐ. Numbers that come out of sines and roots are known to some digits only. The answers
//! for the doubles that they were rounded to say nothing about them where a sign or a rank hangs on the last
//! digits; an answer that holds for all numbers within the rounding does. Each mode is examined in interval
//! arithmetic (`mode`): it is empty for all data, holds a solution for all data, or is open. Zeros that are
//! zeros for a reason (a row without an entry, a contact without bias) stay exactly zero, so that a body at
//! rest on more contacts than it needs is decided too; two rows that are parallel but for rounding are not.

mod found;
mod islands;
mod mode;
mod points;
mod star;

pub use found::answer_of_found;

use super::SolutionComponent;
use super::exact::{ExactDynamics, mode_count};
use crate::linalg::{Interval, Matrix};
use crate::problem::{Dynamics, Law, PolyhedralLaw};
use islands::{islands, together};
use mode::{ModeAnswer, Motion};

/// What is true of all problems within some intervals.
#[derive(Clone, Debug, PartialEq)]
pub struct RobustAnswer {
    /// Existence, unique acceleration, unique forces; `None` where it hangs on the last digits.
    pub answers: [Option<bool>; 3],
    /// The components of the set of solutions where each is one point; `None` where one is not, or where it
    /// hangs on the last digits what they are.
    pub components: Option<Vec<ComponentBounds>>,
}

impl RobustAnswer {
    /// Nothing is known.
    const OPEN: RobustAnswer = RobustAnswer { answers: [None; 3], components: None };
}

/// Bounds of a component that is one point for all data. Those of a set of forces would be bounds of all its
/// vertices, and are not known.
#[derive(Clone, Debug, PartialEq)]
pub struct ComponentBounds {
    /// Of its acceleration.
    pub acceleration: Vec<Interval>,
    /// Of its forces.
    pub force: Vec<Interval>,
}

/// Bounds of listed numbers are this narrow, relative to each, or to the size of the data: then the doubles
/// are right to as much. Beside a huge force a small one may have lost all its digits.
const LISTED_WIDTH: f64 = 1e-7;

impl ComponentBounds {
    fn of(answer: &ModeAnswer) -> Option<Self> {
        let one = answer.motion == Motion::Fixed && answer.forces == Motion::Fixed;
        one.then(|| ComponentBounds {
            acceleration: answer.acceleration.clone(),
            force: answer.force.clone(),
        })
    }

    /// Whether a component that was found in floating point is this one: it is a point within the bounds,
    /// which are narrow. `sizes` are those of accelerations and forces that the data imply.
    pub fn holds(&self, c: &SolutionComponent, sizes: [f64; 2]) -> bool {
        let within = |bounds: &[Interval], x: &[f64], size: f64| {
            bounds.iter().zip(x).all(|(b, x)| {
                let margin = LISTED_WIDTH * size.max(x.abs());
                b.width() <= margin && b.lo - margin <= *x && *x <= b.hi + margin
            })
        };
        c.freedom.is_none()
            && within(&self.acceleration, &c.acceleration, sizes[0])
            && within(&self.force, &c.force, sizes[1])
    }
}

/// A direction of a cone of a law, as far as cones differ in it: cones that share a face share generators.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Generator {
    /// A force with this sign of its normal component and friction along −1, 0 or 1 times the slip.
    Force { sign: i8, friction: i8, free: bool },
    /// A velocity in a row, with a sign; 0 is free.
    Velocity { row: usize, sign: i8 },
}

impl Generator {
    fn is_free(&self) -> bool {
        matches!(self, Generator::Force { free: true, .. } | Generator::Velocity { sign: 0, .. })
    }

    /// Whether all multiples of another that its cone allows are multiples of this one.
    fn covers(&self, other: &Generator) -> bool {
        let free_row = |row: usize| *self == Generator::Velocity { row, sign: 0 };
        self == other || matches!(other, Generator::Velocity { row, .. } if free_row(*row))
    }
}

/// The generators of each cone of a law without friction (`still`) or with it; `None` where the law is not
/// polyhedral.
fn cones(law: &Law, frictionless: bool) -> Option<Vec<Vec<Generator>>> {
    let force = |sign: i8, friction: i8| Generator::Force {
        sign,
        friction: if frictionless { 0 } else { friction },
        free: false,
    };
    let velocity = |row: usize, sign: i8| Generator::Velocity { row, sign };
    let tangents = || (1..law.dim()).map(|row| velocity(row, 0));
    let open = || std::iter::once(velocity(0, 1)).chain(tangents()).collect::<Vec<_>>();
    let slide = |sign: i8| std::iter::once(force(sign, 1)).chain(tangents()).collect::<Vec<_>>();
    let at_rest = |sign: i8| {
        let mut stick = vec![force(sign, 1), force(sign, -1)];
        stick.dedup();
        [stick, vec![force(sign, 1), velocity(1, 1)], vec![force(sign, -1), velocity(1, -1)]]
    };
    Some(match law.polyhedral()? {
        PolyhedralLaw::Bilateral => vec![vec![Generator::Force { sign: 1, friction: 0, free: true }]],
        PolyhedralLaw::Unilateral => vec![open(), vec![force(1, 0)]],
        PolyhedralLaw::Sliding { .. } => vec![open(), slide(1)],
        PolyhedralLaw::BilateralSliding { .. } => vec![slide(1), slide(-1)],
        PolyhedralLaw::CoulombPlane { .. } => std::iter::once(open()).chain(at_rest(1)).collect(),
        PolyhedralLaw::BilateralCoulombPlane { .. } => at_rest(1).into_iter().chain(at_rest(-1)).collect(),
    })
}

/// A mode and what is known of it.
struct Examined {
    /// The generators of its cones.
    cones: Vec<Vec<Generator>>,
    answer: ModeAnswer,
}

/// Whether friction may or may not be zero.
fn is_vague(mu: &Interval) -> bool {
    *mu != Interval::ZERO && (mu.is_undefined() || mu.lo <= 0.0)
}

/// Largest sum of coordinates and rows of a part of a problem whose modes are all examined.
const MAX_SIZE: usize = 28;

/// What is true of all problems within the bounds; `None` where a law is not polyhedral, or a part that has
/// nothing to do with the others has more than `max_modes` modes, or more than 28 coordinates and rows.
pub fn robust_answer(bounds: &ExactDynamics<Interval>, max_modes: u64) -> Option<RobustAnswer> {
    let parts = islands(bounds).into_iter().map(|island| {
        let answer = part_answer(&island.problem, max_modes)?;
        Some((island, answer))
    });
    Some(together(&parts.collect::<Option<Vec<_>>>()?))
}

fn part_answer(bounds: &ExactDynamics<Interval>, max_modes: u64) -> Option<RobustAnswer> {
    let large = bounds.mass.len() + bounds.jacobian.len() > MAX_SIZE;
    if large || mode_count(&bounds.laws)? > max_modes {
        return None;
    }
    if bounds.mu.iter().any(is_vague) {
        return Some(RobustAnswer::OPEN);
    }
    let cones = all_cones(bounds)?;
    let definite = Interval::is_positive_definite(&bounds.mass);
    let mut modes: Vec<Examined> = Vec::new();
    let mut choice = vec![0; cones.len()];
    loop {
        let cones_here: Vec<Vec<Generator>> = choice.iter().zip(&cones).map(|(&p, c)| c[p].clone()).collect();
        let answer = mode::examine(bounds, &cones_here, definite);
        modes.push(Examined { cones: cones_here, answer });
        let Some(k) = (0..choice.len()).find(|&k| choice[k] + 1 < cones[k].len()) else { break };
        choice[k] += 1;
        choice[..k].fill(0);
    }
    Some(conclude(&modes, is_least(bounds, definite)))
}

/// Whether the acceleration is the one of least constraint, if there is any: without friction (000 Prop. 3).
fn is_least(bounds: &ExactDynamics<Interval>, definite: bool) -> bool {
    definite && bounds.mu.iter().all(|mu| *mu == Interval::ZERO)
}

/// The cones of each law; `None` where one is not polyhedral.
fn all_cones(bounds: &ExactDynamics<Interval>) -> Option<Vec<Vec<Vec<Generator>>>> {
    let of = |(law, mu): (&Law, &Interval)| cones(law, *mu == Interval::ZERO);
    bounds.laws.iter().zip(&bounds.mu).map(of).collect()
}

/// Whether solutions with these generators alone lie in the cones of a mode.
fn lies_in(support: &[Vec<Generator>], cones: &[Vec<Generator>]) -> bool {
    let covered = |g: &Generator, cone: &[Generator]| cone.iter().any(|c| c.covers(g));
    support.iter().zip(cones).all(|(s, cone)| s.iter().all(|g| covered(g, cone)))
}

/// The modes that may hold solutions, without those whose solutions all belong to another.
fn maximal(modes: &[Examined]) -> Vec<usize> {
    let inside = |i: usize, j: usize| lies_in(&modes[i].answer.support, &modes[j].cones);
    let (empty, open): (Vec<usize>, Vec<usize>) = (0..modes.len()).partition(|&i| modes[i].answer.empty);
    let covered = |i: usize| {
        empty.iter().any(|&j| inside(i, j))
            || open.iter().any(|&j| i != j && inside(i, j) && !(i < j && inside(j, i)))
    };
    open.iter().copied().filter(|&i| !covered(i)).collect()
}

/// The answers from all modes. `least` where the acceleration is unique if there is one.
fn conclude(modes: &[Examined], least: bool) -> RobustAnswer {
    let mut existence = modes.iter().any(|x| x.answer.witness.is_some());
    let mut left = maximal(modes);
    // Modes around a face that hold one solution together.
    let mut stars: Vec<ModeAnswer> = Vec::new();
    while let Some((members, answer)) = left.iter().find_map(|&i| star::around(modes, i)) {
        let in_star =
            |i: &usize| members.iter().any(|&j| lies_in(&modes[*i].answer.support, &modes[j].cones));
        left.retain(|i| !in_star(i));
        stars.push(answer);
        existence = true;
    }
    let apart_from_others = stars.is_empty() || stars.len() + left.len() == 1;
    let left: Vec<&ModeAnswer> = left.iter().map(|&i| &modes[i].answer).chain(&stars).collect();
    if left.is_empty() {
        return RobustAnswer { answers: [Some(false); 3], components: Some(vec![]) };
    }
    if !existence {
        return RobustAnswer::OPEN;
    }
    let (accelerations, forces) = several(&left);
    // One value in all modes: there is one mode, or the value is known to the last digit.
    let one = |of: fn(&ModeAnswer) -> Motion, value: fn(&ModeAnswer) -> &Vec<Interval>| {
        let known = |answer: &ModeAnswer| value(answer).iter().all(|x| x.lo == x.hi);
        let same = |answer: &&ModeAnswer| known(answer) && value(answer) == value(left[0]);
        left.iter().all(|answer| of(answer) == Motion::Fixed) && (left.len() == 1 || left.iter().all(same))
    };
    let answer = |one: bool, several: bool| if one { Some(true) } else { several.then_some(false) };
    let acceleration = answer(least || one(|a| a.motion, |a| &a.acceleration), accelerations);
    let forces = answer(one(|a| a.forces, |a| &a.force), forces);
    let all_hold = apart_from_others && left.iter().all(|answer| answer.witness.is_some());
    let components = left.iter().map(|answer| ComponentBounds::of(answer)).collect::<Option<Vec<_>>>();
    let components = components.filter(|_| all_hold);
    RobustAnswer { answers: [Some(true), acceleration, forces], components }
}

/// Whether modes hold solutions with different accelerations, and with different forces, for all data.
fn several(modes: &[&ModeAnswer]) -> (bool, bool) {
    let witnesses = || modes.iter().filter_map(|answer| answer.witness.as_ref());
    let apart = |x: &[Interval], y: &[Interval]| x.iter().zip(y).any(|(a, b)| a.hi < b.lo || b.hi < a.lo);
    let differ = |part: fn(&mode::Witness) -> &Vec<Interval>| {
        witnesses().enumerate().any(|(i, x)| witnesses().skip(i + 1).any(|y| apart(part(x), part(y))))
    };
    let moves = |of: fn(&ModeAnswer) -> Motion| modes.iter().any(|answer| of(answer) == Motion::Moves);
    (moves(|a| a.motion) || differ(|w| &w.acceleration), moves(|a| a.forces) || differ(|w| &w.force))
}

/// How far the matrices of a problem in doubles, and its friction, are from the numbers within some bounds,
/// relative to the largest of their row; infinite where a bound is undefined, also one of F or γ.
pub fn distance(d: &Dynamics, bounds: &ExactDynamics<Interval>) -> f64 {
    let far = |x: f64, b: &Interval, size: f64| {
        if b.is_undefined() {
            f64::INFINITY
        } else {
            (b.hi - x).abs().max((x - b.lo).abs()) / size.max(x.abs()).max(f64::MIN_POSITIVE)
        }
    };
    let row_size = |i: usize| d.jacobian.row(i).iter().fold(0.0_f64, |top, x| top.max(x.abs()));
    let mut worst = 0.0_f64;
    for (i, row) in bounds.mass.iter().enumerate() {
        for (j, b) in row.iter().enumerate() {
            worst = worst.max(far(d.mass[(i, j)], b, (d.mass[(i, i)] * d.mass[(j, j)]).abs().sqrt()));
        }
    }
    for (i, row) in bounds.jacobian.iter().enumerate() {
        for (j, b) in row.iter().enumerate() {
            worst = worst.max(far(d.jacobian[(i, j)], b, row_size(i)));
        }
    }
    for (law, (mu, e)) in d.laws.iter().zip(bounds.mu.iter().zip(&bounds.slip)) {
        worst = worst.max(far(law.mu(), mu, 0.0));
        if let Law::Sliding { slip, .. } | Law::BilateralSliding { slip, .. } = law {
            let parts = slip.components().iter().zip(e);
            worst = parts.fold(worst, |worst, (x, b)| worst.max(far(*x, b, 1.0)));
        }
    }
    if bounds.force.iter().chain(&bounds.bias).any(|b| b.is_undefined()) { f64::INFINITY } else { worst }
}

/// How far F and γ of a problem in doubles are from the numbers within some bounds, relative to the largest
/// of each: what is left of terms that cancel is all rounding.
pub fn load_distance(d: &Dynamics, bounds: &ExactDynamics<Interval>) -> f64 {
    [(&d.force, &bounds.force), (&d.bias, &bounds.bias)].into_iter().fold(0.0, |worst, (x, bounds)| {
        let size = x.iter().fold(f64::MIN_POSITIVE, |top, x| top.max(x.abs()));
        x.iter().zip(bounds).fold(worst, |worst, (x, b)| worst.max((b.hi - x).max(x - b.lo) / size))
    })
}

/// Bounds of the numbers that a problem in doubles was rounded from, `rounding` relative to the largest of
/// their row. Short binary fractions were hardly rounded and count as they are, zeros above all.
pub fn bounds_of(d: &Dynamics, rounding: f64) -> ExactDynamics<Interval> {
    let n = d.mass.rows();
    let near = |x: f64, size: f64| {
        if crate::linalg::Fraction::of_short(x).is_defined() {
            return Interval::point(x);
        }
        let radius = rounding * size.max(x.abs());
        Interval::new((x - radius).next_down(), (x + radius).next_up())
    };
    let row_size = |m: &Matrix, i: usize| m.row(i).iter().fold(0.0_f64, |top, x| top.max(x.abs()));
    let load = d.force.iter().fold(0.0_f64, |top, x| top.max(x.abs()));
    let mass = |i: usize, j: usize| near(d.mass[(i, j)], (d.mass[(i, i)] * d.mass[(j, j)]).abs().sqrt());
    let slip = |law: &Law| match law {
        Law::Sliding { slip, .. } | Law::BilateralSliding { slip, .. } => {
            slip.components().iter().map(|x| near(*x, 1.0)).collect()
        }
        _ => vec![],
    };
    ExactDynamics {
        mass: (0..n).map(|i| (0..n).map(|j| mass(i, j)).collect()).collect(),
        force: d.force.iter().map(|x| near(*x, load)).collect(),
        jacobian: (0..d.jacobian.rows())
            .map(|i| d.jacobian.row(i).iter().map(|x| near(*x, row_size(&d.jacobian, i))).collect())
            .collect(),
        bias: d.bias.iter().map(|x| near(*x, 0.0)).collect(),
        laws: d.laws.clone(),
        mu: d.laws.iter().map(|law| near(law.mu(), 0.0)).collect(),
        slip: d.laws.iter().map(slip).collect(),
    }
}
