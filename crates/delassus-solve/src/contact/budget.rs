//! How much a solve may take: work, which is counted and the same on every run, and time, which is not.
//!
//! Work is counted in multiplications of numbers, about: D² for each block of W in a sweep, an error
//! check or a product, D³ for each product of blocks in a factorization. Methods ask before they begin an
//! expensive operation; once the budget is spent, each ends with the best point that it has.

use std::time::Instant;

use super::ContactOptions;
use crate::problem::Status;

/// The work on an island where none was given: some seconds, or so many sweeps where these are more.
const DEFAULT_WORK: u64 = 20_000_000_000;
const DEFAULT_SWEEPS: u64 = 4000;

/// What a method is asked for on an island.
pub(super) struct SolveCall<'a> {
    /// The error to reach.
    pub target: f64,
    /// The error of no impulses, for the methods that ask for it.
    pub scale: f64,
    /// The most sweeps or steps.
    pub limit: usize,
    pub budget: &'a mut Budget,
}

/// What a method came to: the error of the best point, and the sweeps and steps that it took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reached {
    pub error: f64,
    pub steps: usize,
}

/// What is left.
#[derive(Clone, Debug)]
pub(super) struct Budget {
    /// For an island, where it was given, and what is left for the one at hand.
    most: Option<u64>,
    left: u64,
    deadline: Option<Instant>,
    ended: Option<Status>,
}

impl Budget {
    /// All that the options allow, from now on.
    pub fn new(options: &ContactOptions) -> Self {
        let deadline = options.time_limit.and_then(|limit| Instant::now().checked_add(limit));
        Budget {
            most: options.max_work,
            left: options.max_work.unwrap_or(DEFAULT_WORK),
            deadline,
            ended: None,
        }
    }

    /// The next island has its own work, here with the one of a sweep; time that is over stays over.
    pub fn next_island(&mut self, sweep: u64) {
        self.left = self.most.unwrap_or(DEFAULT_WORK.max(sweep.saturating_mul(DEFAULT_SWEEPS)));
        self.ended = self.ended.filter(|status| *status == Status::Interrupted);
    }

    /// Whether there is enough left for this work, which is taken then.
    pub fn spend(&mut self, work: u64) -> bool {
        if self.ended.is_some() {
            return false;
        }
        if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.ended = Some(Status::Interrupted);
            return false;
        }
        match self.left.checked_sub(work) {
            Some(left) => self.left = left,
            None => self.ended = Some(Status::MaxIterations),
        }
        self.ended.is_none()
    }

    /// Nothing is left: more work would be in vain.
    pub fn end(&mut self) {
        self.ended = self.ended.or(Some(Status::MaxIterations));
    }

    /// The same time with other work.
    pub fn with_work(&self, most: u64) -> Self {
        Budget { most: Some(most), left: most, ..self.clone() }
    }

    /// Seconds that are left.
    pub fn seconds(&self) -> f64 {
        let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now()).as_secs_f64();
        self.deadline.map_or(f64::INFINITY, left)
    }

    /// How the solve ends, where there was not enough left.
    pub fn ended(&self) -> Option<Status> {
        self.ended
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn work_is_counted_island_by_island() {
        let mut budget = Budget::new(&ContactOptions { max_work: Some(10), ..Default::default() });
        assert!(budget.spend(6) && budget.spend(4) && budget.ended().is_none());
        assert!(!budget.spend(1) && !budget.spend(0));
        assert_eq!(budget.ended(), Some(Status::MaxIterations));
        budget.next_island(7);
        assert!(budget.spend(10) && !budget.spend(1));
        let mut budget = Budget::new(&ContactOptions::default());
        budget.next_island(DEFAULT_WORK);
        assert!(budget.spend(DEFAULT_SWEEPS * DEFAULT_WORK) && !budget.spend(1));
        let limit = Some(Duration::ZERO);
        let mut budget = Budget::new(&ContactOptions { time_limit: limit, ..Default::default() });
        assert!(!budget.spend(0));
        budget.next_island(1);
        assert!(budget.seconds() == 0.0 && !budget.spend(0) && budget.ended() == Some(Status::Interrupted));
    }
}
