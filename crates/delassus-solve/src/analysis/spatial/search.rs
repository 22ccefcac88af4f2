//! All solutions, by cutting the laws into pieces until each piece holds none, or one that is known.
//!
//! ```text
//! laws = ⋃ pieces ,      piece ∩ {u = W f + q} = ∅      or      ⊂ X , the box of a solution that is alone in it
//! ```
//!
//! A choice of pieces that cannot be excluded is cut further: a whole law into its modes, then the widest
//! sector of slip in two. Around the direction of a solution that is known a narrow sector is cut out; that
//! its piece has no forces outside of the box of the solution is shown by excluding what lies beyond each
//! side of it.

use super::exclude::{Beyond, exclude};
use super::pieces::Piece;
use super::reduced::{Contact, Contacts};
use super::zero::{Equations, Zero};

/// Corners of the polygons around friction cones, at first and for narrow sectors.
const CORNERS: [usize; 2] = [12, 48];
/// Sectors narrower than this are narrow.
const NARROW: f64 = 0.05;
/// Sectors narrower than this are not cut.
const LEAST_SECTOR: f64 = 1e-6;
/// How much more is tried once some piece is known to stay open.
const AFTER_OPEN: usize = 300;

/// Why a choice of pieces holds no unknown solution.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// It holds none: multipliers, z last.
    Empty(Vec<f64>),
    /// All its forces lie in the box of a solution: what excludes the forces beyond each of its sides.
    Within(usize, Vec<(Beyond, Vec<f64>)>),
}

/// A choice of pieces and why it holds no unknown solution.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// One per contact.
    pub pieces: Vec<Piece>,
    /// Why.
    pub reason: Reason,
}

/// What a search found.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub(super) zeros: Vec<Zero>,
    pub(super) leaves: Vec<Leaf>,
    /// How many choices of pieces are left open.
    pub(super) open: usize,
    /// How many linear programs were solved.
    pub(super) programs: usize,
}

pub(super) struct Search<'a> {
    contacts: &'a Contacts,
    found: Found,
    /// Half the width of the sectors that are cut out around each solution.
    reach: Vec<f64>,
    limit: usize,
}

impl<'a> Search<'a> {
    /// Searches with at most so many linear programs.
    pub(super) fn run(contacts: &'a Contacts, limit: usize) -> Found {
        let mut search = Search { contacts, found: Found::default(), reach: vec![], limit };
        let mut todo = vec![whole_laws(contacts)];
        while let Some(pieces) = todo.pop() {
            if search.found.programs >= search.limit {
                search.found.open += 1 + todo.len();
                break;
            }
            todo.extend(search.examine(pieces));
        }
        search.found
    }

    /// The smaller pieces that are left of a choice of pieces.
    fn examine(&mut self, pieces: Vec<Piece>) -> Vec<Vec<Piece>> {
        let widest = widest(&pieces);
        let narrow = widest.is_none_or(|(_, width)| width < NARROW) && pieces.iter().all(|p| p.is_mode());
        if let Some(y) = self.exclude(&pieces, None, CORNERS[usize::from(narrow)]) {
            self.found.leaves.push(Leaf { pieces, reason: Reason::Empty(y) });
            return vec![];
        }
        if let Some(k) = pieces.iter().position(|p| !p.is_mode()) {
            // The last one is examined first.
            let all = Piece::all(&self.contacts.contacts[k]);
            return all.into_iter().rev().map(|piece| with(&pieces, k, piece)).collect();
        }
        let mut known = self.zero_in(&pieces);
        if known.is_none() && self.find(&pieces) {
            known = self.zero_in(&pieces);
        }
        match (known, widest) {
            (Some(k), _) => self.cut_around(pieces, k),
            (None, Some((at, width))) if width > LEAST_SECTOR => cut(&pieces, at, 0.5),
            (None, _) => self.leave_open(),
        }
    }

    fn leave_open(&mut self) -> Vec<Vec<Piece>> {
        self.found.open += 1;
        self.limit = self.limit.min(self.found.programs + AFTER_OPEN);
        vec![]
    }

    fn exclude(&mut self, pieces: &[Piece], beyond: Option<Beyond>, corners: usize) -> Option<Vec<f64>> {
        self.found.programs += 1;
        exclude(self.contacts, pieces, beyond, corners)
    }

    /// The solution that is known in a choice of modes and sectors.
    fn zero_in(&self, pieces: &[Piece]) -> Option<usize> {
        self.found.zeros.iter().position(|zero| zero.is_in(pieces))
    }

    /// Looks for a new solution from the middle of sectors.
    fn find(&mut self, pieces: &[Piece]) -> bool {
        let Some(zero) = Equations::new(self.contacts, pieces).zero() else { return false };
        let same = |other: &Zero| {
            let meets =
                |(a, b): (&crate::linalg::Interval, &crate::linalg::Interval)| a.lo <= b.hi && b.lo <= a.hi;
            other.words() == zero.words() && other.force.iter().zip(&zero.force).all(meets)
        };
        if self.found.zeros.iter().any(same) {
            return false;
        }
        self.found.zeros.push(zero);
        self.reach.push(0.25);
        true
    }

    /// Shows that a solution is the only one of a choice of pieces, or cuts it out.
    fn cut_around(&mut self, pieces: Vec<Piece>, k: usize) -> Vec<Vec<Piece>> {
        loop {
            if let Some((at, share)) = self.overhang(&pieces, k) {
                return cut(&pieces, at, share);
            }
            if let Some(sides) = self.is_within(&pieces, k) {
                self.found.leaves.push(Leaf { pieces, reason: Reason::Within(k, sides) });
                return vec![];
            }
            self.reach[k] *= 0.5;
            if widest(&pieces).is_none() || self.reach[k] < LEAST_SECTOR || self.found.programs >= self.limit
            {
                return self.leave_open();
            }
        }
    }

    /// The sector that reaches furthest beyond those cut out around a solution, and where to cut it.
    fn overhang(&self, pieces: &[Piece], k: usize) -> Option<(usize, f64)> {
        let reach = self.reach[k];
        let each = self.found.zeros[k].modes.iter().zip(pieces).enumerate().filter_map(|(at, pair)| {
            let (Piece::Sector(tau, _), Piece::Sector(from, to)) = pair else { return None };
            let turns = ((from + to) / 2.0 - tau) / 4.0;
            let tau = tau + 4.0 * turns.round();
            let (before, behind) = (tau - reach - from, to - tau - reach);
            let share = |x: f64| (x - from) / (to - from);
            // Slivers are not worth a cut.
            let least = 0.05 * reach;
            if before.max(behind) <= least {
                None
            } else if before >= behind {
                Some((at, before, share(tau - reach)))
            } else {
                Some((at, behind, share(tau + reach)))
            }
        });
        each.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _, share)| (at, share))
    }

    /// What excludes forces beyond the sides of the box of a solution; `None` where some may be.
    fn is_within(&mut self, pieces: &[Piece], k: usize) -> Option<Vec<(Beyond, Vec<f64>)>> {
        let mut sides = Vec::new();
        for row in 0..self.contacts.q.len() {
            let at = self.contacts.contacts.iter().position(|c| c.rows.contains(&row))?;
            if pieces[at] == Piece::Open {
                continue;
            }
            let x = self.found.zeros[k].alone[row];
            for beyond in [Beyond { row, sign: 1.0, bound: x.hi }, Beyond { row, sign: -1.0, bound: -x.lo }] {
                // Normal forces on the other side of zero are excluded by the laws.
                let contact = &self.contacts.contacts[at];
                let pulls = row == contact.rows.start && beyond.sign == -contact.side && beyond.bound > 0.0;
                if !pulls {
                    let y = self.exclude(pieces, Some(beyond), CORNERS[1])?;
                    sides.push((beyond, y));
                }
            }
        }
        Some(sides)
    }
}

/// The pieces that hold all others: the whole laws, or all that a guide has on its side.
pub(super) fn whole_laws(contacts: &Contacts) -> Vec<Piece> {
    let known = |c: &Contact| c.is_guide && c.slip.is_some();
    contacts.contacts.iter().map(|c| if known(c) { Piece::Known } else { Piece::Any }).collect()
}

fn with(pieces: &[Piece], at: usize, piece: Piece) -> Vec<Piece> {
    let mut all = pieces.to_vec();
    all[at] = piece;
    all
}

/// A sector in two.
fn cut(pieces: &[Piece], at: usize, share: f64) -> Vec<Vec<Piece>> {
    let Piece::Sector(from, to) = pieces[at] else { return vec![] };
    let middle = from + share * (to - from);
    [(from, middle), (middle, to)].into_iter().map(|(a, b)| with(pieces, at, Piece::Sector(a, b))).collect()
}

/// The widest sector.
fn widest(pieces: &[Piece]) -> Option<(usize, f64)> {
    let width = |piece: &Piece| if let Piece::Sector(a, b) = piece { Some(b - a) } else { None };
    let each = pieces.iter().enumerate().filter_map(|(k, piece)| Some((k, width(piece)?)));
    each.max_by(|a, b| a.1.total_cmp(&b.1))
}
