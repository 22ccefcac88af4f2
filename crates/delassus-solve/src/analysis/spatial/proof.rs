//! What a search found, as a proof that others can check: in the units of the problem, cut after cut.
//!
//! Units of contacts are powers of two, so that nothing is rounded here.

use super::pieces::{Piece, exact_direction};
use super::reduced::{Contact, Contacts, inverse};
use super::search::{Found, Leaf, Reason, whole_laws};
use super::zero::Zero;
use crate::linalg::{Interval, Matrix, rational};
use crate::modes::ExactDynamics;
use num_rational::BigRational;

/// A proof that all solutions are known, or some.
#[derive(Clone, Debug)]
pub struct PiecesProof {
    /// About [M −Gᵀ; G 0]⁻¹, G the rows of joints.
    pub inverse: Matrix,
    /// Solutions that exist.
    pub solutions: Vec<ProvedSolution>,
    /// Why there are no others; `None` where there may be.
    pub tree: Option<Node>,
    /// Existence, unique acceleration, unique forces.
    pub answers: [Option<bool>; 3],
}

/// A solution in a box.
#[derive(Clone, Debug)]
pub struct ProvedSolution {
    /// `open`, `stick`, `slide`, `plus`, `minus` or `closed` of each contact, of guides behind `push-` or
    /// `pull-`.
    pub modes: Vec<String>,
    /// The middle, on the rows of closed contacts.
    pub centre: Vec<BigRational>,
    /// Half the width of a box that holds it.
    pub radius: Vec<BigRational>,
    /// Half the width of a box without another.
    pub alone: Vec<BigRational>,
    /// About the inverse of the slope of its equations.
    pub inverse: Matrix,
}

/// Why some pieces of the laws hold no solution that is not known.
#[derive(Clone, Debug)]
pub enum Node {
    /// Multipliers exclude them.
    Empty(Vec<f64>),
    /// All of their solutions are this one: row, sign and multipliers of what lies beyond its box, z last.
    Solution(usize, Vec<(usize, i32, Vec<f64>)>),
    /// They are cut at a constraint.
    Cut(usize, Cut),
}

/// The parts of a piece.
#[derive(Clone, Debug)]
pub struct Cut {
    /// By name.
    pub named: Vec<(&'static str, Node)>,
    /// Directions of sectors of slip, and what is between them; around all of them the first is not repeated.
    pub directions: Vec<[BigRational; 2]>,
    /// One for each sector.
    pub sectors: Vec<Node>,
}

/// What was found for each choice of the sides of guides, as a proof.
pub(super) fn proof_of(
    d: &ExactDynamics<Interval>,
    all: &[(Contacts, Found)],
    answers: [Option<bool>; 3],
) -> Option<PiecesProof> {
    let mut solutions = Vec::new();
    let mut trees = Vec::new();
    for (contacts, found) in all {
        let leaves: Vec<&Leaf> = found.leaves.iter().collect();
        if found.open == 0 {
            let own = Tree { contacts, leaves, first: solutions.len() };
            trees.push(own.node(whole_laws(contacts))?);
        }
        let own: Option<Vec<_>> = found.zeros.iter().map(|zero| proved_solution(contacts, zero)).collect();
        solutions.extend(own?);
    }
    let guides: Vec<usize> =
        all.first()?.0.contacts.iter().filter(|c| c.is_guide).map(|c| c.constraint).collect();
    let tree = if trees.len() == all.len() { sides(&guides, &mut trees.into_iter()) } else { None };
    Some(PiecesProof { inverse: inverse(d)?, solutions, tree, answers })
}

/// The trees of all choices of sides, as one that cuts each guide into its sides.
fn sides(guides: &[usize], trees: &mut impl Iterator<Item = Node>) -> Option<Node> {
    let Some((guide, others)) = guides.split_first() else { return trees.next() };
    let named = vec![("push", sides(others, trees)?), ("pull", sides(others, trees)?)];
    Some(Node::Cut(*guide, Cut { named, directions: vec![], sectors: vec![] }))
}

/// The one solution of a problem without contacts; `None` where joints depend on each other.
pub(super) fn proof_without_contacts(d: &ExactDynamics<Interval>) -> Option<PiecesProof> {
    let only = ProvedSolution {
        modes: vec![],
        centre: vec![],
        radius: vec![],
        alone: vec![],
        inverse: Matrix::zeros(0, 0),
    };
    let tree = Some(Node::Solution(0, vec![]));
    Some(PiecesProof { inverse: inverse(d)?, solutions: vec![only], tree, answers: [Some(true); 3] })
}

fn proved_solution(contacts: &Contacts, zero: &Zero) -> Option<ProvedSolution> {
    let (mut rows, mut scale) = (Vec::new(), Vec::new());
    for (contact, mode) in contacts.contacts.iter().zip(&zero.modes) {
        let r = contact.rows.clone();
        let (f, u) = (contacts.force_unit[r.start], contacts.velocity_unit[r.start]);
        match mode {
            Piece::Open => continue,
            Piece::Any | Piece::Stick => scale.extend(r.clone().map(|_| u)),
            Piece::Sector(..) => scale.extend([u, f * f, f * u]),
            Piece::Along(_) | Piece::Known => {
                scale.extend(r.clone().map(|i| if i == r.start { u } else { f }))
            }
        }
        rows.extend(r);
    }
    let half = |x: &Interval, middle: f64| {
        Some((rational(x.hi)? - rational(middle)?).max(rational(middle)? - rational(x.lo)?))
    };
    let all = |of: &dyn Fn(usize) -> Option<BigRational>| -> Option<Vec<BigRational>> {
        rows.iter().map(|&i| Some(of(i)? * rational(contacts.force_unit[i])?)).collect()
    };
    // A margin for bounds of W that are found by other means.
    let margin = rational(16.0)?;
    let radius = all(&|i| Some(half(&zero.force[i], zero.middle[i])? * &margin))?;
    let alone = all(&|i| half(&zero.alone[i], zero.middle[i]))?;
    Some(ProvedSolution {
        modes: contacts.contacts.iter().zip(&zero.modes).map(|(c, piece)| word(c, piece)).collect(),
        centre: all(&|i| rational(zero.middle[i]))?,
        alone: alone.into_iter().zip(&radius).map(|(a, r)| a.max(r.clone())).collect(),
        radius,
        inverse: Matrix::from_fn(rows.len(), rows.len(), |i, j| {
            contacts.force_unit[rows[i]] * zero.inverse[(i, j)] / scale[j]
        }),
    })
}

/// What a contact does.
fn word(contact: &Contact, piece: &Piece) -> String {
    let side = match contact.is_guide {
        true if contact.side > 0.0 => "push-",
        true => "pull-",
        false => "",
    };
    format!("{side}{}", name(piece))
}

fn name(piece: &Piece) -> &'static str {
    match piece {
        Piece::Any | Piece::Open => "open",
        Piece::Stick => "stick",
        Piece::Sector(..) => "slide",
        Piece::Along(s) => {
            if *s > 0.0 {
                "plus"
            } else {
                "minus"
            }
        }
        Piece::Known => "closed",
    }
}

/// The leaves of one choice of sides.
struct Tree<'a> {
    contacts: &'a Contacts,
    leaves: Vec<&'a Leaf>,
    /// How many solutions other choices have before its own.
    first: usize,
}

impl<'a> Tree<'a> {
    /// The cuts that lead from a region to its leaves.
    fn node(&self, region: Vec<Piece>) -> Option<Node> {
        self.cuts(region, &self.leaves)
    }

    fn cuts(&self, region: Vec<Piece>, leaves: &[&'a Leaf]) -> Option<Node> {
        if let [leaf] = leaves
            && leaf.pieces == region
        {
            return Some(self.end(&leaf.reason));
        }
        let contacts = &self.contacts.contacts;
        let part = |k: usize, piece: Piece| {
            let inside: Vec<&Leaf> =
                leaves.iter().copied().filter(|leaf| is_in(leaf.pieces[k], piece)).collect();
            let mut pieces = region.clone();
            pieces[k] = piece;
            self.cuts(pieces, &inside)
        };
        if let Some(k) = region.iter().position(|p| *p == Piece::Any) {
            let (mut named, mut directions, mut sectors) = (vec![], vec![], vec![]);
            for piece in Piece::all(&contacts[k]) {
                let child = part(k, piece)?;
                match piece {
                    Piece::Sector(from, _) => {
                        directions.push(exact_direction(from)?);
                        sectors.push(child);
                    }
                    _ => named.push((name(&piece), child)),
                }
            }
            return Some(Node::Cut(contacts[k].constraint, Cut { named, directions, sectors }));
        }
        // A direction that no leaf reaches across.
        let cut = region.iter().enumerate().find_map(|(k, piece)| {
            let Piece::Sector(from, to) = *piece else { return None };
            let of =
                |leaf: &&Leaf| if let Piece::Sector(a, b) = leaf.pieces[k] { Some((a, b)) } else { None };
            let all: Vec<(f64, f64)> = leaves.iter().filter_map(of).collect();
            let inner = all
                .iter()
                .map(|s| s.1)
                .find(|tau| from < *tau && *tau < to && all.iter().all(|(a, b)| b <= tau || a >= tau));
            Some((k, from, inner?, to))
        });
        let (k, from, middle, to) = cut?;
        let sectors = vec![part(k, Piece::Sector(from, middle))?, part(k, Piece::Sector(middle, to))?];
        let directions = [from, middle, to].into_iter().map(exact_direction).collect::<Option<Vec<_>>>()?;
        Some(Node::Cut(contacts[k].constraint, Cut { named: vec![], directions, sectors }))
    }

    /// Multipliers in the units of the problem.
    fn end(&self, reason: &Reason) -> Node {
        let contacts = self.contacts;
        // y·u in the units of contacts, times what one of q is: velocity units are 1/s of it, forces s times
        // it.
        let scaled = |y: &[f64]| -> Vec<f64> {
            y.iter().zip(&contacts.velocity_unit).map(|(y, unit)| y / unit).collect()
        };
        match reason {
            Reason::Empty(y) => Node::Empty(scaled(y)),
            Reason::Within(k, sides) => {
                let side = |(beyond, y): &(super::exclude::Beyond, Vec<f64>)| {
                    let mut all = scaled(y);
                    all.push(y[contacts.q.len()] / contacts.force_unit[beyond.row]);
                    (beyond.row, beyond.sign as i32, all)
                };
                Node::Solution(self.first + *k, sides.iter().map(side).collect())
            }
        }
    }
}

/// Whether a piece is part of another.
fn is_in(piece: Piece, of: Piece) -> bool {
    match (piece, of) {
        (Piece::Sector(a, b), Piece::Sector(c, d)) => c <= a && b <= d,
        _ => piece == of,
    }
}
