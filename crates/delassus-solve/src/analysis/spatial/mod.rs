//! Verdicts on contacts at rest in space, whose modes cannot be listed.
//!
//! ```text
//! u = W f + q ,   (f, u) in the laws          all solutions, for all data within their bounds
//! ```
//!
//! W is m × m, on the rows of contacts, joints held (`reduced`). Each law is cut into pieces: open, stick,
//! slip in a sector of directions (`pieces`). A choice of one piece for each contact lies in a cone of forces
//! and a cone of velocities; a linear program finds multipliers that show that it holds no solution, and
//! these are checked in interval arithmetic (`exclude`). Solutions are found by Newton's method and proved by
//! Krawczyk's, which also gives a box in which each is alone (`zero`). Sectors are cut until nothing is left
//! (`search`): then all solutions are known. Otherwise solutions that were proved still exist. Guides with
//! friction push or pull; each choice of their sides is searched by itself.

mod exclude;
mod pieces;
mod proof;
mod reduced;
mod search;
mod zero;

pub use proof::{Cut, Node, PiecesProof, ProvedSolution};

use crate::linalg::Interval;
use crate::modes::{ExactDynamics, Mode};
use crate::problem::{Law, row_offsets};
use proof::{proof_of, proof_without_contacts};
use reduced::Contacts;
use search::{Found, Search};
use zero::Zero;

/// The most linear programs that are solved, for up to [`ROWS_FULL`] rows; with more of them a program takes
/// longer, and fewer are solved.
const PROGRAMS_MAX: usize = 1_000;
/// The rows of four contacts in space.
const ROWS_FULL: usize = 12;
/// The most contacts.
const CONTACTS_MAX: usize = 6;

/// How far contacts at rest in space were examined.
#[derive(Clone, Debug)]
pub struct Sectors {
    /// Existence, unique acceleration, unique forces.
    pub(super) answers: [Option<bool>; 3],
    /// Solutions that were proved: modes of all constraints, and forces of contacts (those of joints are
    /// zero). All there are where no piece is open.
    pub(super) solutions: Vec<(Vec<Mode>, Vec<f64>)>,
    /// How many pieces of the laws hold no solution, or one that is known.
    pub pieces: usize,
    /// How many pieces were left.
    pub open: usize,
}

/// All solutions, as far as they are found; `None` where a law has no sectors.
pub(super) fn all_solutions(d: &ExactDynamics<Interval>) -> Option<Sectors> {
    let in_space = |law: &Law| matches!(law, Law::Coulomb { .. });
    let is_guide = |law: &Law| law.is_bilateral() && *law != Law::Bilateral;
    if !d.laws.iter().any(in_space) || d.laws.iter().any(is_guide) {
        return None;
    }
    let (contacts, found) = search(d)?.pop()?;
    let offsets = row_offsets(&d.laws);
    let listed = |zero: &Zero| {
        let mut modes = vec![Mode::Bilateral; d.laws.len()];
        let mut force = vec![0.0; *offsets.last().unwrap_or(&0)];
        for (contact, mode) in contacts.contacts.iter().zip(zero.words()) {
            modes[contact.constraint] = mode;
            for (i, row) in contact.rows.clone().zip(offsets[contact.constraint]..) {
                force[row] = zero.force[i].middle() * contacts.force_unit[i];
            }
        }
        (modes, force)
    };
    Some(Sectors {
        answers: answers(&found.zeros.iter().collect::<Vec<_>>(), found.open == 0),
        solutions: found.zeros.iter().map(listed).collect(),
        pieces: found.leaves.len(),
        open: found.open,
    })
}

/// What is found within the budget, for each choice of the sides of guides, the last one's sides fastest;
/// `None` where a law has no pieces, or there are too many contacts.
fn search(d: &ExactDynamics<Interval>) -> Option<Vec<(Contacts, Found)>> {
    let contacts = d.laws.iter().filter(|law| **law != Law::Bilateral).count();
    if contacts > CONTACTS_MAX {
        return None;
    }
    let contacts = Contacts::of(d)?;
    let rows = contacts.q.len().max(ROWS_FULL);
    let mut left = PROGRAMS_MAX * ROWS_FULL.pow(3) / rows.pow(3);
    let guides = contacts.contacts.iter().filter(|c| c.is_guide).count();
    let side = |choice: usize, k: usize| if choice >> (guides - 1 - k) & 1 == 0 { 1.0 } else { -1.0 };
    let all = (0..1usize << guides).map(|choice| {
        let sides: Vec<f64> = (0..guides).map(|k| side(choice, k)).collect();
        let contacts = contacts.with_sides(&sides);
        let found = Search::run(&contacts, left);
        left = left.saturating_sub(found.programs);
        (contacts, found)
    });
    Some(all.collect())
}

/// All solutions of contacts in the plane and in space, as far as they are found, as a proof that others can
/// check; `None` where a law has no pieces.
pub fn pieces_proof(d: &ExactDynamics<Interval>) -> Option<PiecesProof> {
    if d.laws.iter().all(|law| *law == Law::Bilateral) {
        return proof_without_contacts(d);
    }
    let all = search(d)?;
    let zeros: Vec<&Zero> = all.iter().flat_map(|(_, found)| &found.zeros).collect();
    proof_of(d, &all, answers(&zeros, all.iter().all(|(_, found)| found.open == 0)))
}

/// Existence, unique acceleration, unique forces.
fn answers(zeros: &[&Zero], complete: bool) -> [Option<bool>; 3] {
    let apart = |of: fn(&Zero) -> &Vec<Interval>| {
        let differ = |(a, b): (&Interval, &Interval)| a.hi < b.lo || b.hi < a.lo;
        let pair = |x: &Zero, y: &Zero| of(x).iter().zip(of(y)).any(differ);
        zeros.iter().enumerate().any(|(k, x)| zeros[..k].iter().any(|y| pair(x, y)))
    };
    match zeros.len() {
        0 if complete => [Some(false); 3],
        0 => [None; 3],
        1 if complete => [Some(true); 3],
        // Velocities that differ belong to accelerations that differ.
        _ => {
            let moves = apart(|zero| &zero.velocity).then_some(false);
            [Some(true), moves, moves.or(apart(|zero| &zero.force).then_some(false))]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Matrix;
    use crate::modes::bounds_of;
    use crate::problem::Dynamics;

    fn of(mass: &[[f64; 3]; 3], force: [f64; 3], rows: &[[f64; 3]], laws: Vec<Law>) -> Option<Sectors> {
        let bias = vec![0.0; rows.len()];
        let d = Dynamics::new(Matrix::from_rows(mass), force.to_vec(), Matrix::from_rows(rows), bias, laws);
        all_solutions(&bounds_of(&d.unwrap(), 0.0))
    }

    #[test]
    fn a_single_contact_may_have_three_solutions() {
        let mass = [[3.0, 2.0, -1.0], [2.0, 4.0, -3.0], [-1.0, -3.0, 6.0]];
        let rows = [[2.0, 2.0, -2.0], [0.0, -1.0, -2.0], [-2.0, -2.0, 1.0]];
        let found = of(&mass, [2.0, 4.0, 0.0], &rows, vec![Law::Coulomb { mu: 1.0 }]).unwrap();
        assert_eq!((found.answers, found.open), ([Some(true), Some(false), Some(false)], 0));
        assert_eq!(found.solutions.len(), 3, "{:?}", found.solutions);
    }

    #[test]
    fn a_point_on_a_plane_has_one_at_any_friction() {
        let unit = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let rows = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
        for (mu, mode) in [(0.1, Mode::Slide), (0.9, Mode::Stick), (40.0, Mode::Stick)] {
            let found = of(&unit, [-0.25, 0.5, 1.0], &rows, vec![Law::Coulomb { mu }]).unwrap();
            assert_eq!((found.answers, found.open), ([Some(true); 3], 0));
            assert_eq!(found.solutions[0].0, [mode]);
        }
        // Lifted.
        let found = of(&unit, [-0.25, 0.5, -1.0], &rows, vec![Law::Coulomb { mu: 0.3 }]).unwrap();
        assert_eq!((found.answers, found.solutions[0].0[0]), ([Some(true); 3], Mode::Open));
    }
}
