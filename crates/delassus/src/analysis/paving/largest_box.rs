//! The largest box around a point that cells of a paving certify.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};

use delassus_solve::lcp::Verdict;

use super::PavedCell;

/// Boxes that are tried until the best one found so far is taken.
const MAX_TRIED: usize = 20_000;

/// A box and the part of the whole that it covers.
struct Candidate {
    volume: f64,
    sides: Vec<[f64; 2]>,
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Candidate {}
impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.volume.total_cmp(&other.volume)
    }
}

/// The largest box with the design in it that no cell that is not proved reaches into; `None` where there is
/// none.
///
/// The whole box is cut back from the obstacle that is nearest to the design, in every way that keeps the
/// design, and so on, the largest box first: the first without an obstacle is the largest of all. Where that
/// takes too long, the largest cut is taken each time.
pub(super) fn largest_box(ranges: &[[f64; 2]], design: &[f64], cells: &[PavedCell]) -> Option<Vec<[f64; 2]>> {
    let obstacles: Vec<&PavedCell> = cells.iter().filter(|c| c.reason.verdict() != Verdict::Proved).collect();
    let candidate = |sides: Vec<[f64; 2]>| {
        let parts = sides.iter().zip(ranges).map(|([a, b], [lo, hi])| (b - a) / (hi - lo));
        Candidate { volume: parts.product(), sides }
    };
    let mut waiting = BinaryHeap::from([candidate(ranges.to_vec())]);
    let mut seen: HashSet<Vec<u64>> = HashSet::new();
    while let Some(Candidate { sides, .. }) = waiting.pop() {
        let Some(obstacle) = nearest_inside(&obstacles, &sides, ranges, design) else { return Some(sides) };
        if seen.len() > MAX_TRIED {
            waiting.clear();
        }
        for k in 0..sides.len() {
            let mut cut = |side: usize, at: f64| {
                let mut smaller = sides.clone();
                smaller[k][side] = at;
                let key = smaller.iter().flatten().map(|x| x.to_bits()).collect();
                if smaller[k][0] < smaller[k][1] && seen.insert(key) {
                    waiting.push(candidate(smaller));
                }
            };
            if obstacle.lo[k] >= design[k] {
                cut(1, obstacle.lo[k]);
            }
            if obstacle.hi[k] <= design[k] {
                cut(0, obstacle.hi[k]);
            }
        }
    }
    None
}

/// The obstacle that reaches into the box and is nearest to the design.
fn nearest_inside<'a>(
    obstacles: &[&'a PavedCell],
    sides: &[[f64; 2]],
    ranges: &[[f64; 2]],
    design: &[f64],
) -> Option<&'a PavedCell> {
    let reaches =
        |c: &PavedCell| sides.iter().enumerate().all(|(k, [lo, hi])| c.lo[k] < *hi && c.hi[k] > *lo);
    let distance = |c: &PavedCell| -> f64 {
        let away =
            |(k, x): (usize, &f64)| (x.clamp(c.lo[k], c.hi[k]) - x).abs() / (ranges[k][1] - ranges[k][0]);
        design.iter().enumerate().map(away).fold(0.0, f64::max)
    };
    obstacles.iter().copied().filter(|c| reaches(c)).min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

#[cfg(test)]
mod tests {
    use super::super::PavingReason::{self, EveryLoad, NoSolution, Undecided};
    use super::*;

    fn cell(lo: [f64; 2], hi: [f64; 2], reason: PavingReason) -> PavedCell {
        PavedCell { lo: lo.to_vec(), hi: hi.to_vec(), reason }
    }

    #[test]
    fn a_step_leaves_the_larger_of_two_boxes() {
        // An L: [0, 4]² without its upper right quarter of size 3 × 2.
        let cells = [
            cell([0.0, 0.0], [4.0, 2.0], EveryLoad),
            cell([0.0, 2.0], [1.0, 4.0], EveryLoad),
            cell([1.0, 2.0], [4.0, 4.0], NoSolution),
        ];
        let ranges = [[0.0, 4.0], [0.0, 4.0]];
        let found = |x: f64, y: f64| largest_box(&ranges, &[x, y], &cells);
        assert_eq!(found(0.5, 0.5), Some(vec![[0.0, 4.0], [0.0, 2.0]]));
        // From the narrow arm only the upright box holds the point.
        assert_eq!(found(0.5, 3.0), Some(vec![[0.0, 1.0], [0.0, 4.0]]));
        assert_eq!(found(2.0, 3.0), None);
        let open = [cell([0.0, 0.0], [4.0, 4.0], Undecided)];
        assert_eq!(largest_box(&ranges, &[1.0, 1.0], &open), None);
    }
}
