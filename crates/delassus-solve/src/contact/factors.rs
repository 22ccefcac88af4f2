//! LU factors of an island, kept from one solve to the next: the order of elimination and the memory belong
//! to the pattern of blocks, only the numbers are new.

use crate::linalg::{BlockLu, BlockMatrix};

/// Largest number of products of blocks that a factorization may take: some seconds.
pub(super) const WORK_MAX: usize = 400_000_000;

/// Products of blocks that a factorization takes where it is tried before long runs of sweeps: some
/// milliseconds.
pub(super) const CHEAP_WORK: usize = 2_000_000;

/// The factors of an island, made when it is first asked for.
#[derive(Debug, Default)]
pub(super) struct Factors<const D: usize>(Option<Box<Known<D>>>);

/// What is known of a pattern.
#[derive(Debug, Default)]
struct Known<const D: usize> {
    start: Vec<usize>,
    column: Vec<usize>,
    lu: Option<BlockLu<D>>,
    /// A factorization is known to take more than this.
    beyond: usize,
}

impl<const D: usize> Factors<D> {
    /// Factors for matrices like `w`; `None` where a factorization takes more than `work_max` products of
    /// blocks.
    pub fn within(&mut self, w: &BlockMatrix<D>, work_max: usize) -> Option<&mut BlockLu<D>> {
        let known = self.0.get_or_insert_default();
        if known.start != w.start || known.column != w.column {
            known.start.clone_from(&w.start);
            known.column.clone_from(&w.column);
            (known.lu, known.beyond) = (None, 0);
        }
        if known.lu.is_none() && work_max > known.beyond {
            known.lu = BlockLu::new(w, work_max);
            if known.lu.is_none() {
                known.beyond = work_max;
            }
        }
        known.lu.as_mut().filter(|lu| lu.work() <= work_max)
    }

    /// Factors that cost no more than some sweeps; `None` where they are dear, or seem so from the degrees.
    pub fn cheap(&mut self, w: &BlockMatrix<D>) -> Option<&mut BlockLu<D>> {
        let squares: usize = w.start.windows(2).map(|s| (s[1] - s[0]) * (s[1] - s[0])).sum();
        if squares > 2 * CHEAP_WORK { None } else { self.within(w, CHEAP_WORK) }
    }
}
