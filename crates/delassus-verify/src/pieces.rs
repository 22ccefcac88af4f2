//! All solutions, by pieces of the laws: each holds none, or one that is known.
//!
//! ```text
//! u = W f + q ,   f ∈ C ,   u ∈ D        empty where some y has   Wᵀy − z c ∈ C* ,   −y ∈ D* ,   y·q + z b > 0 ,   z ≥ 0
//! ```
//!
//! C and D are the forces and velocities of a piece, c·f ≥ b one inequality more (z = 0 without). Guides are
//! cut into both of their sides first: they push, or pull with −f_n for f_n.

use serde_json::Value;

use crate::document::{at, field, index, items, list_of, numbered, read};
use crate::fault::{Fault, refuse};
use crate::number::{Interval, Number, number, whole};
use crate::problem::{Answers, Problem};
use crate::reduced::{Contact, Reduced};
use crate::solution::{Mode, Solution};

/// How deep pieces may be cut.
const MAX_DEPTH: usize = 400;

/// A part of a law.
#[derive(Clone, PartialEq)]
enum Piece {
    Any,
    Open,
    Stick,
    /// Sliding in the plane, with this sign.
    Along(i64),
    /// Closed, with friction in a known direction or none.
    Closed,
    /// Sliding between two directions.
    Sector(Box<[[Number; 2]; 2]>),
}

impl Piece {
    /// The mode whose equations hold in it.
    fn mode(&self) -> Option<Mode> {
        match self {
            Piece::Any => None,
            Piece::Open => Some(Mode::Open),
            Piece::Stick => Some(Mode::Stick),
            Piece::Along(s) => Some(Mode::Along(*s)),
            Piece::Closed => Some(Mode::Closed),
            Piece::Sector(..) => Some(Mode::Slide),
        }
    }
}

/// The check of facts with the method `pieces`.
pub fn check(problem: &Problem, facts: &Value) -> Result<Answers, Fault> {
    let reduced = Reduced::new(problem, facts)?;
    let mut solutions = Vec::new();
    for (i, value) in numbered(read(facts, "solutions", items)?) {
        solutions.push(Solution::read(&reduced, value).map_err(|e| at("facts.solutions", i, e))?);
    }
    let complete = facts.get("tree").is_some();
    if complete {
        let tree = Tree { reduced: &reduced, solutions: &solutions };
        let sides = reduced.contacts.iter().map(|c| if c.is_guide() { 0 } else { 1 }).collect();
        let mut region = Region { pieces: vec![Piece::Any; reduced.contacts.len()], sides };
        tree.node(&mut region, field(facts, "tree")?, 0)?;
    }
    let apart = |of: fn(&Solution) -> &Vec<Interval>| {
        let differ = |(a, b): (&Interval, &Interval)| a.hi < b.lo || b.hi < a.lo;
        let pair = |x: &Solution, y: &Solution| of(x).iter().zip(of(y)).any(differ);
        solutions.iter().enumerate().any(|(k, x)| solutions[..k].iter().any(|y| pair(x, y)))
    };
    Ok(match solutions.len() {
        0 if complete => [Some(false); 3],
        0 => [None; 3],
        1 if complete => [Some(true); 3],
        _ => {
            let moves = apart(|s| &s.velocity).then_some(false);
            [Some(true), moves, moves.or(apart(|s| &s.force).then_some(false))]
        }
    })
}

/// A choice of pieces.
struct Region {
    pieces: Vec<Piece>,
    /// Whether each pushes (1) or pulls (−1); 0 for a guide that is not cut yet.
    sides: Vec<i64>,
}

struct Tree<'a> {
    reduced: &'a Reduced<'a>,
    solutions: &'a [Solution],
}

impl Tree<'_> {
    /// Checks that some pieces hold no solution but those that are known.
    fn node(&self, region: &mut Region, node: &Value, depth: usize) -> Result<(), Fault> {
        if depth > MAX_DEPTH {
            return Err(Fault::Form("facts.tree: expected a tree that is less deep".into()));
        }
        if node.get("empty").is_some() {
            let y = read(node, "empty", |value| list_of(value, self.reduced.q.len(), number))?;
            return self.excluded(region, &y, None);
        }
        if node.get("solution").is_some() {
            return self.within(region, node);
        }
        let constraint = read(node, "contact", |value| index(value, usize::MAX))?;
        let contact = self.reduced.contacts.iter().position(|c| c.index == constraint);
        let k = contact.ok_or_else(|| Fault::Form(format!("contact: {constraint} is not a contact")))?;
        if region.sides[k] == 0 {
            for (side, key) in [(1, "push"), (-1, "pull")] {
                region.sides[k] = side;
                self.node(region, field(node, key)?, depth + 1)?;
            }
            region.sides[k] = 0;
            return Ok(());
        }
        let before = region.pieces[k].clone();
        for (piece, child) in self.cut(k, &before, node)? {
            region.pieces[k] = piece;
            self.node(region, child, depth + 1)?;
        }
        region.pieces[k] = before;
        Ok(())
    }

    /// The pieces that a contact, or a guide on its side, is cut into, all of what it was.
    fn cut<'v>(&self, k: usize, before: &Piece, node: &'v Value) -> Result<Vec<(Piece, &'v Value)>, Fault> {
        let contact = &self.reduced.contacts[k];
        let named = |piece: Piece, key: &str| Ok((piece, field(node, key)?));
        let open = if contact.is_guide() { vec![] } else { vec![(Piece::Open, "open")] };
        let with_open = |closed: &[(Piece, &str)]| -> Result<Vec<(Piece, &'v Value)>, Fault> {
            open.iter().chain(closed).map(|(piece, key)| named(piece.clone(), key)).collect()
        };
        match before {
            Piece::Any if contact.slip().is_some() => with_open(&[(Piece::Closed, "closed")]),
            Piece::Any if contact.is_planar() => {
                with_open(&[(Piece::Stick, "stick"), (Piece::Along(1), "plus"), (Piece::Along(-1), "minus")])
            }
            Piece::Any => {
                let mut all = with_open(&[(Piece::Stick, "stick")])?;
                let mut directions = read(node, "directions", directions)?;
                directions.extend(directions.first().cloned());
                all.extend(sectors(&directions, node)?);
                Ok(all)
            }
            Piece::Sector(ends) => {
                let [a, b] = &**ends;
                let directions = read(node, "directions", directions)?;
                if directions.first() != Some(a) || directions.last() != Some(b) {
                    return refuse("sectors do not cover the one that is cut");
                }
                sectors(&directions, node)
            }
            _ => refuse("a piece is cut that has no parts"),
        }
    }

    /// Multipliers exclude some pieces, or of them the forces beyond a bound: row, sign, bound and z.
    fn excluded(
        &self,
        region: &Region,
        y: &[Number],
        beyond: Option<(usize, i64, Number, Number)>,
    ) -> Result<(), Fault> {
        let reduced = self.reduced;
        let zero = whole(0);
        let used: Vec<usize> = (0..y.len()).filter(|&i| y[i] != zero).collect();
        let sum = |of: &dyn Fn(usize) -> Interval| {
            used.iter().fold(Interval::zero(), |sum, &i| &sum + &of(i).times(&y[i]))
        };
        let gain = sum(&|i| reduced.q[i].clone()).lo
            + beyond.as_ref().map_or_else(|| whole(0), |(_, _, bound, z)| bound * z);
        if gain <= zero || beyond.as_ref().is_some_and(|(_, _, _, z)| *z < zero) {
            return refuse("multipliers do not exclude a piece: the load has no gain");
        }
        for ((contact, piece), side) in reduced.contacts.iter().zip(&region.pieces).zip(&region.sides) {
            let rows = contact.rows.clone();
            let mut pressed: Vec<Interval> =
                rows.clone().map(|j| sum(&|i| reduced.w[i][j].clone())).collect();
            if let Some((row, sign, _, z)) = beyond.as_ref().filter(|(row, ..)| rows.contains(row)) {
                let taken = Interval::point(z * whole(*sign));
                pressed[row - rows.start] = &pressed[row - rows.start] - &taken;
            }
            if *side == 0 {
                return refuse("a guide is not cut into its sides");
            }
            pressed[0] = pressed[0].times(&whole(*side));
            if !(moves_against(contact, piece, &y[rows]) && presses(contact, piece, &pressed)) {
                return refuse("multipliers do not exclude a piece");
            }
        }
        Ok(())
    }

    /// All solutions of some pieces are a known one.
    fn within(&self, region: &Region, node: &Value) -> Result<(), Fault> {
        let k = read(node, "solution", |value| index(value, self.solutions.len()))?;
        let solution = &self.solutions[k];
        // A guide that slides in a known direction has one mode on each side.
        let is_cut = |contact: &Contact, piece: &Piece| match piece {
            Piece::Any if contact.is_guide() && contact.slip().is_some() => Some(Mode::Closed),
            piece => piece.mode(),
        };
        let pieces = self.reduced.contacts.iter().zip(&region.pieces);
        if region.sides != solution.sides
            || pieces.zip(&solution.modes).any(|((c, piece), mode)| is_cut(c, piece) != Some(*mode))
        {
            return refuse("a solution is not of the modes of its piece");
        }
        if solution.is_linear() {
            return Ok(());
        }
        let sides = read(node, "sides", items)?;
        let side = |row: usize, sign: i64| {
            let is = |side: &&Value| side["row"] == row as u64 && side["sign"] == sign;
            sides.iter().find(is)
        };
        for row in solution.closed_rows(self.reduced) {
            let contacts = self.reduced.contacts.iter().zip(&solution.sides);
            let normal = contacts.filter(|(c, _)| c.rows.start == row).map(|(_, side)| *side).next();
            for sign in [1, -1] {
                let edge = if sign > 0 { solution.alone[row].hi.clone() } else { -&solution.alone[row].lo };
                // Contacts do not pull, and guides do so on their side alone.
                if normal == Some(-sign) && edge > whole(0) {
                    continue;
                }
                let Some(side) = side(row, sign) else {
                    return refuse("a side of the box of a solution is missing");
                };
                let y = read(side, "multipliers", |value| list_of(value, self.reduced.q.len(), number))?;
                let z = read(side, "weight", number)?;
                self.excluded(region, &y, Some((row, sign, edge, z)))?;
            }
        }
        Ok(())
    }
}

/// Unit vectors.
fn directions(value: &Value) -> Result<Vec<[Number; 2]>, Fault> {
    let mut all = Vec::new();
    for (i, value) in numbered(items(value)?) {
        let pair = list_of(value, 2, number).map_err(|e| at("", i, e))?;
        let pair = <[Number; 2]>::try_from(pair).map_err(|_| Fault::Form("expected two numbers".into()))?;
        if &pair[0] * &pair[0] + &pair[1] * &pair[1] != whole(1) {
            return refuse("a direction does not have length 1");
        }
        all.push(pair);
    }
    Ok(all)
}

/// The sectors between directions, each of which turns left by at most a right angle.
fn sectors<'v>(directions: &[[Number; 2]], node: &'v Value) -> Result<Vec<(Piece, &'v Value)>, Fault> {
    let children = read(node, "slide", items)?;
    if directions.len() != children.len() + 1 {
        return Err(Fault::Form("slide: expected one element a sector".into()));
    }
    let mut all = Vec::new();
    for (pair, child) in directions.windows(2).zip(children) {
        let ([a, b], [c, d]) = (&pair[0], &pair[1]);
        if a * d - b * c <= whole(0) || a * c + b * d < whole(0) {
            return refuse("a sector is not between a straight line and a right angle");
        }
        all.push((Piece::Sector(Box::new([pair[0].clone(), pair[1].clone()])), child));
    }
    Ok(all)
}

/// y·u ≤ 0 for all velocities of a piece.
fn moves_against(contact: &Contact, piece: &Piece, y: &[Number]) -> bool {
    let zero = whole(0);
    let no_slip = || y[1..].iter().all(|y| *y == zero);
    let along = |e: &[Number; 2]| &y[1] * &e[0] + &y[2] * &e[1] <= zero;
    match piece {
        Piece::Any if contact.is_guide() => no_slip(),
        Piece::Any | Piece::Open => y[0] <= zero && no_slip(),
        Piece::Stick => true,
        Piece::Closed => no_slip(),
        Piece::Along(s) => &y[1] * whole(*s) <= zero,
        Piece::Sector(ends) => ends.iter().all(along),
    }
}

/// p·f ≥ 0 for all forces of a piece, the normal ones as if they pushed.
fn presses(contact: &Contact, piece: &Piece, p: &[Interval]) -> bool {
    let zero = whole(0);
    let mu = contact.mu();
    // The ray (1, −μ e).
    let ray = |e: &[Interval]| {
        let across = p[1..].iter().zip(e).fold(Interval::zero(), |sum, (p, e)| &sum + &(p * e));
        (&p[0] - &(mu * &across)).lo >= zero
    };
    match piece {
        Piece::Open => true,
        Piece::Along(s) => ray(&[Interval::point(whole(*s))]),
        Piece::Sector(ends) => {
            let [a, b] = &**ends;
            let below = whole(1) + &a[0] * &b[0] + &a[1] * &b[1];
            let tip = [(&a[0] + &b[0]) / &below, (&a[1] + &b[1]) / &below];
            [a, b, &tip].iter().all(|e| ray(&(*e).clone().map(Interval::point)))
        }
        Piece::Any | Piece::Stick | Piece::Closed => match contact.slip() {
            Some(slip) => ray(&slip),
            None => {
                let across = p[1..].iter().fold(whole(0), |sum, x| sum + x.square().hi);
                p[0].lo >= zero && &p[0].lo * &p[0].lo >= &mu.hi * &mu.hi * across
            }
        },
    }
}
