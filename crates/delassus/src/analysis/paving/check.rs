//! A second look at a paving: whether its cells cover the box without overlap, and whether what they claim
//! holds.
//!
//! The search that made the paving takes no part: each cell is examined by itself, from the system and the
//! numbers of the cell alone.

use thiserror::Error;

use super::super::safe_interval::SafeError;
use super::{Node, PavedCell, Paver, PavingQuestion, PavingReason};
use crate::formula::Interval;
use crate::lagrangian::Family;

/// What is wrong with a paving.
#[derive(Clone, Debug, Error)]
pub enum PavingFault {
    /// The question itself makes no sense.
    #[error(transparent)]
    Question(#[from] SafeError),
    /// A cell has bounds that are no box, or lie outside.
    #[error("cell {cell} is no box inside of the ranges")]
    Bounds {
        /// Its place in the list.
        cell: usize,
    },
    /// The cells leave a gap, overlap, or cannot be separated by cuts from side to side.
    #[error("the cells near cell {cell} overlap or leave a gap")]
    Cover {
        /// One of them.
        cell: usize,
    },
    /// What a cell claims is not proved.
    #[error("cell {cell} claims {claimed:?}, which is not proved: {found:?}")]
    Claim {
        /// Its place in the list.
        cell: usize,
        /// What it claims.
        claimed: PavingReason,
        /// What is proved.
        found: PavingReason,
    },
}

/// Checks that cells cover the box of the question exactly, sharing faces only, and that each of them keeps
/// what it claims. `design` are the values of the file, in the order of [`Family::free`].
pub fn check_paving(
    family: &Family,
    design: &[f64],
    question: &PavingQuestion<'_>,
    cells: &[PavedCell],
) -> Result<(), PavingFault> {
    let mut paver = Paver::new(family, design, question)?;
    let ranges: Vec<[f64; 2]> = question.over.iter().map(|(_, range)| *range).collect();
    for (k, cell) in cells.iter().enumerate() {
        let fits =
            |i: usize| ranges[i][0] <= cell.lo[i] && cell.lo[i] < cell.hi[i] && cell.hi[i] <= ranges[i][1];
        if cell.lo.len() != ranges.len() || cell.hi.len() != ranges.len() || !(0..ranges.len()).all(fits) {
            return Err(PavingFault::Bounds { cell: k });
        }
    }
    covers(&ranges, cells, (0..cells.len()).collect()).map_err(|cell| PavingFault::Cover { cell })?;
    for (k, cell) in cells.iter().enumerate().filter(|(_, c)| c.reason != PavingReason::Undecided) {
        let mut at = paver.domain.clone();
        for (i, &dimension) in paver.outer.iter().enumerate() {
            at[dimension] = Interval::new(cell.lo[i], cell.hi[i]);
        }
        let found = paver.decide(&mut Node { at, touch: None, depth: 0, along: None, next_probe: 0 });
        // One solution for every load is one for this load too.
        let weaker = cell.reason == PavingReason::ThisLoad && found == PavingReason::EveryLoad;
        if found != cell.reason && !weaker {
            return Err(PavingFault::Claim { cell: k, claimed: cell.reason, found });
        }
    }
    Ok(())
}

/// Whether the cells of a list cover a box exactly: it is one of them, or a cut from side to side that no
/// cell crosses leaves two boxes that are covered exactly. The error is a cell where that fails.
fn covers(sides: &[[f64; 2]], cells: &[PavedCell], list: Vec<usize>) -> Result<(), usize> {
    let mut waiting = vec![(sides.to_vec(), list)];
    while let Some((sides, list)) = waiting.pop() {
        let first = *list.first().ok_or(0_usize)?;
        if list.len() == 1 {
            let same = |k: usize| [cells[first].lo[k], cells[first].hi[k]] == sides[k];
            if !(0..sides.len()).all(same) {
                return Err(first);
            }
            continue;
        }
        let (k, at) = (0..sides.len()).find_map(|k| Some((k, cut(cells, &list, k)?))).ok_or(first)?;
        let (low, high): (Vec<usize>, Vec<usize>) = list.into_iter().partition(|&c| cells[c].hi[k] <= at);
        let (mut below, mut above) = (sides.clone(), sides);
        (below[k][1], above[k][0]) = (at, at);
        waiting.push((below, low));
        waiting.push((above, high));
    }
    Ok(())
}

/// The value that is nearest to the middle of the list at which a cut across a dimension crosses no cell.
pub(super) fn cut(cells: &[PavedCell], list: &[usize], k: usize) -> Option<f64> {
    let mut sorted: Vec<[f64; 2]> = list.iter().map(|&c| [cells[c].lo[k], cells[c].hi[k]]).collect();
    sorted.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let mut reached = f64::NEG_INFINITY;
    let mut best: Option<(usize, f64)> = None;
    for (i, [lo, hi]) in sorted.iter().enumerate() {
        let off = i.abs_diff(sorted.len() / 2);
        if i > 0 && *lo >= reached && best.is_none_or(|(known, _)| off < known) {
            best = Some((off, *lo));
        }
        reached = reached.max(*hi);
    }
    best.map(|(_, at)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(lo: [f64; 2], hi: [f64; 2]) -> PavedCell {
        PavedCell { lo: lo.to_vec(), hi: hi.to_vec(), reason: PavingReason::Undecided }
    }

    #[test]
    fn gaps_and_overlaps_are_seen() {
        let sides = [[0.0, 1.0], [0.0, 1.0]];
        let check = |cells: &[PavedCell]| covers(&sides, cells, (0..cells.len()).collect()).is_ok();
        let (left, low, high) =
            (cell([0.0, 0.0], [0.3, 1.0]), cell([0.3, 0.0], [1.0, 0.5]), cell([0.3, 0.5], [1.0, 1.0]));
        assert!(check(&[left.clone(), low.clone(), high.clone()]));
        assert!(check(&[cell([0.0, 0.0], [1.0, 1.0])]));
        assert!(!check(&[]) && !check(&[left.clone(), low.clone()]));
        // One unit in the last place too far, and too short.
        assert!(!check(&[left.clone(), low.clone(), cell([0.3, 0.5_f64.next_down()], [1.0, 1.0])]));
        assert!(!check(&[left.clone(), low.clone(), cell([0.3, 0.5_f64.next_up()], [1.0, 1.0])]));
        assert!(!check(&[left.clone(), left, low, high]));
    }
}
