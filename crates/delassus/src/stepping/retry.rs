//! How a step is divided into substeps, and what is done with a substep that failed.
//!
//! ```text
//! Σ h_k = dt ,   h_k ≤ dt/2ⁿ after n substeps that were not solved ,   h_k ends at an impact or a limit
//! ```
//!
//! A step of dt is one substep as long as nothing happens in it. A rebound needs its moment: a substep ends
//! where a contact with restitution closes or a limit is reached. With few contacts a substep that is not
//! solved is made again with half the length. One at whose end joints are open, or in which they give or take
//! energy, is made again with half the length until they do not; the substeps after it grow again.

use delassus_solve::problem::Status;

use super::model::MAX_CAREFUL_CONTACTS;
use super::report::StepReport;
use super::velocity_solve::FailedSolves;

/// Cuts of one step where shapes touch or limits are reached, for few contacts.
const MAX_CUTS: usize = 32;
/// Cuts of one step times its contacts and one.
const MAX_CUT_CONTACTS: usize = 2048;
/// As many times more where bodies rebound: an impact that is not cut at loses its rebound, and a layer of
/// balls that lands has hundreds of them in a step.
const REBOUND_CUTS: usize = 16;
/// How often a step with few contacts that is not solved is halved.
const MAX_HALVINGS: u32 = 6;
/// Shortest substep, s.
pub(super) const SHORTEST_SUBSTEP: f64 = 1e-9;
/// Substeps of one step that may be made shorter for the sake of joints. A passage of a singular position
/// takes some hundreds: their lengths fall and grow in powers of two.
const MAX_SHORT_SUBSTEPS: usize = 2_000;
/// One with contacts counts as many: its solves take longer by so much.
const CONTACT_SUBSTEPS: usize = 4;
/// A rest of a step below this part of it is rounding.
const TIME_ROUNDING: f64 = 1e-9;
/// Overlaps open within the rest of a step, and within no less than this part of one.
const MIN_OPENING_PART: f64 = 0.1;
/// Joints are closed to this part of the position tolerance at most: by default 1e-14 m, some rounding errors
/// of a position of a metre.
const MIN_OPENING: f64 = 1e-4;

/// Time as a count of steps: no drift.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    pub(super) start: f64,
    pub(super) steps: u64,
}

impl Clock {
    /// Counts from this time on.
    pub(super) fn restart(&mut self, start: f64) {
        *self = Clock { start, steps: 0 };
    }

    /// The time after one more step.
    pub(super) fn tick(&mut self, dt: f64) -> f64 {
        self.steps += 1;
        self.start + self.steps as f64 * dt
    }
}

/// What a substep decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SubstepOutcome {
    /// Its positions and velocities are taken.
    Accepted,
    /// It passed a limit: it shall be made again and end there.
    EndAtLimit {
        /// Length until the limit, s.
        length: f64,
    },
    /// Shapes touch within it that were left out: it shall be made again and end there.
    EndAtTouch {
        /// Length until the touch, s.
        length: f64,
    },
    /// A solve failed: shorter ones shall be made.
    Retry {
        /// Length of the next, s.
        length: f64,
    },
    /// Joints are open at its end, or gave or took energy: shorter ones shall be made until they do not.
    Shorten {
        /// Length of the next, s.
        length: f64,
    },
    /// Contacts gave energy: it shall be made again with linearized gaps, and what overlaps is separated
    /// without a velocity.
    Depenetrate,
    /// Joints gave energy, and it may not be shorter: it is never taken.
    JointEnergy {
        /// How much, J.
        gained: f64,
    },
}

/// The time of a step that is left, and how it may be divided.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    dt: f64,
    remaining: f64,
    max_cuts: usize,
    /// Substeps made, those made again with half the length among them.
    substeps: usize,
    halvings: u32,
    /// Halvings for the sake of joints, which are taken back where they are no longer needed, and substeps
    /// made with them.
    shortenings: u32,
    short_substeps: usize,
}

impl Schedule {
    /// A step of dt with this many contacts at its begin, in a world with rebounds or without.
    pub(super) fn new(dt: f64, contacts: usize, rebounds: bool) -> Self {
        let factor = if rebounds { REBOUND_CUTS } else { 1 };
        let max_cuts = (factor * MAX_CUT_CONTACTS / (1 + contacts)).min(factor * MAX_CUTS);
        Schedule { dt, remaining: dt, max_cuts, substeps: 0, halvings: 0, shortenings: 0, short_substeps: 0 }
    }

    /// Time that is left, s.
    pub(super) fn remaining(&self) -> f64 {
        self.remaining
    }

    /// The time in which the next substep opens overlaps.
    pub(super) fn opening_time(&self) -> f64 {
        self.remaining.max(MIN_OPENING_PART * self.dt)
    }

    /// The longest that the next substep may be.
    pub(super) fn longest(&self, failed: &FailedSolves) -> f64 {
        let halvings = if failed.exhausted() { 0 } else { self.halvings } + self.shortenings();
        if halvings == 0 {
            self.remaining
        } else {
            self.remaining.min(self.dt * 0.5_f64.powi(halvings as i32))
        }
    }

    /// Whether the next substep may end at an impact or at a limit.
    pub(super) fn may_cut(&self) -> bool {
        self.substeps < self.max_cuts
    }

    /// Whether the next substep, with this many contacts, may be made again where it fails.
    pub(super) fn may_retry(&self, status: Status, contacts: usize, failed: &FailedSolves) -> bool {
        let careful = contacts <= MAX_CAREFUL_CONTACTS && !failed.exhausted();
        status == Status::Solved && self.halvings < MAX_HALVINGS && careful
    }

    /// Whether the next substep, with this many contacts, may be made again, shorter, for the sake of joints.
    /// What contacts do not let be solved takes long each time, and does not become better by being shorter.
    pub(super) fn may_shorten(&self, contacts: usize, failed: &FailedSolves) -> bool {
        let hopeless = contacts > 0 && failed.exhausted();
        self.short_substeps < MAX_SHORT_SUBSTEPS && !self.is_shortest() && !hopeless
    }

    /// Whether substeps are as short as they may be for the sake of joints.
    pub(super) fn is_shortest(&self) -> bool {
        let half = 0.5_f64.powi((self.halvings + self.shortenings + 1) as i32);
        self.dt * half < SHORTEST_SUBSTEP
    }

    /// Whether substeps are made shorter for the sake of joints.
    pub(super) fn is_short(&self) -> bool {
        self.shortenings() > 0
    }

    /// Halvings for the sake of joints, as long as these are not given up.
    fn shortenings(&self) -> u32 {
        if self.short_substeps < MAX_SHORT_SUBSTEPS { self.shortenings } else { 0 }
    }

    /// Takes the time that is left in few substeps, where no short one can be solved.
    pub(super) fn give_up_short(&mut self) {
        self.short_substeps = self.short_substeps.max(MAX_SHORT_SUBSTEPS);
    }

    /// Substeps that were made shorter for the sake of joints do not count: others shall be made.
    pub(super) fn grow_again(&mut self) {
        (self.shortenings, self.short_substeps) = (0, 0);
    }

    /// How far joints may be open at the end of the next substep, in position tolerances. What is left open
    /// is a velocity that joints do work with, the larger the shorter the substep is.
    pub(super) fn opening(&self) -> f64 {
        0.5_f64.powi(self.shortenings as i32).max(MIN_OPENING)
    }

    /// A substep was not taken for the sake of joints: the next one is half as long.
    pub(super) fn shorten(&mut self, contacts: usize) {
        self.shortenings += 1;
        self.short_substeps += short_cost(contacts);
    }

    /// A substep was not taken: the next one ends where shapes touch.
    pub(super) fn cut(&mut self) {
        self.substeps += 1;
    }

    /// A substep was not taken: the next ones are half as long.
    pub(super) fn halve(&mut self) {
        self.substeps += 1;
        self.halvings += 1;
    }

    /// A substep of this length with this many contacts was taken; whether the next one may be longer again.
    pub(super) fn pass(&mut self, length: f64, grows: bool, contacts: usize) {
        self.remaining -= length;
        // What sums of lengths that differ leave is rounding, no time.
        if self.short_substeps > 0 && self.remaining < TIME_ROUNDING * self.dt {
            self.remaining = 0.0;
        }
        match self.shortenings {
            0 => self.substeps += 1,
            _ => self.short_substeps += short_cost(contacts),
        }
        if grows {
            self.shortenings = self.shortenings.saturating_sub(1);
        }
    }
}

/// As how many short substeps one with this many contacts counts.
fn short_cost(contacts: usize) -> usize {
    if contacts > 0 { CONTACT_SUBSTEPS } else { 1 }
}

/// The length of a substep that shall end at a moment, if it does within the longest.
pub(super) fn length_until(moment: Option<f64>, longest: f64) -> f64 {
    match moment {
        Some(tau) if tau < longest - SHORTEST_SUBSTEP => tau.max(SHORTEST_SUBSTEP),
        _ => longest,
    }
}

/// A report before a substep, as far as the substep adds to it.
#[derive(Clone, Copy)]
pub(super) struct Checkpoint {
    status: Status,
    residual: f64,
    impacts: usize,
    jams: usize,
    accumulations: usize,
}

impl Checkpoint {
    pub(super) fn of(report: &StepReport) -> Self {
        let StepReport { status, residual, impacts, jams, accumulations, .. } = report;
        let (jams, accumulations) = (jams.len(), accumulations.len());
        Checkpoint { status: *status, residual: *residual, impacts: *impacts, jams, accumulations }
    }

    /// The report without the substep; its solves and iterations still count.
    pub(super) fn restore(self, report: &mut StepReport) {
        (report.status, report.residual, report.impacts) = (self.status, self.residual, self.impacts);
        report.failure = report.failure.filter(|_| self.status != Status::Solved);
        report.jams.truncate(self.jams);
        report.accumulations.truncate(self.accumulations);
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::StepFailure;
    use super::*;

    #[test]
    fn substeps_are_halved_six_times_at_most_and_fill_the_step() {
        let (mut schedule, none) = (Schedule::new(1.0, 3, false), FailedSolves::default());
        for n in 0..6 {
            assert!(schedule.may_retry(Status::Solved, 3, &none));
            assert_eq!(schedule.longest(&none), 0.5_f64.powi(n));
            schedule.halve();
        }
        assert!(!schedule.may_retry(Status::Solved, 3, &none));
        for _ in 0..64 {
            assert!(schedule.remaining() > 0.0);
            schedule.pass(schedule.longest(&none), true, 0);
        }
        assert_eq!(schedule.remaining(), 0.0);
    }

    #[test]
    fn substeps_that_are_shorter_for_the_sake_of_joints_grow_again() {
        let (mut schedule, none) = (Schedule::new(1.0, 0, false), FailedSolves::default());
        (0..3).for_each(|_| schedule.shorten(0));
        assert_eq!((schedule.longest(&none), schedule.opening()), (0.125, 0.125));
        schedule.pass(0.125, false, 0);
        schedule.pass(0.125, true, 0);
        assert_eq!(schedule.longest(&none), 0.25);
        schedule.pass(0.25, true, 0);
        schedule.pass(0.5 - 1e-12, true, 0);
        // The rest is rounding.
        assert_eq!(schedule.remaining(), 0.0);
        // Down to a nanosecond, and not for ever.
        let mut schedule = Schedule::new(1e-3, 0, false);
        let halvings = std::iter::repeat_with(|| schedule.may_shorten(0, &none).then(|| schedule.shorten(0)));
        assert_eq!(halvings.take_while(Option::is_some).count(), 19);
        let mut schedule = Schedule::new(1.0, 0, false);
        for _ in 0..MAX_SHORT_SUBSTEPS / 2 {
            assert!(schedule.may_shorten(0, &none));
            schedule.shorten(0);
            schedule.pass(1e-6, true, 0);
        }
        assert!(!schedule.may_shorten(0, &none));
        // What is left is one substep.
        schedule.shorten(0);
        assert_eq!(schedule.longest(&none), schedule.remaining());
    }

    #[test]
    fn many_contacts_and_failed_steps_are_not_retried_and_cuts_are_bounded() {
        let (mut schedule, none) = (Schedule::new(1.0, 1023, false), FailedSolves::default());
        assert!(!schedule.may_retry(Status::Solved, 1023, &none));
        assert!(!schedule.may_retry(Status::Stalled, 1, &none));
        // 2048 over 1024.
        schedule.pass(0.1, true, 0);
        assert!(schedule.may_cut());
        schedule.pass(0.1, true, 0);
        assert!(!schedule.may_cut());
        assert!(!Schedule::new(1.0, 2048, false).may_cut());
    }

    #[test]
    fn a_substep_ends_at_an_impact_that_is_neither_too_near_nor_too_late() {
        assert_eq!(length_until(None, 1e-3), 1e-3);
        assert_eq!(length_until(Some(4e-4), 1e-3), 4e-4);
        assert_eq!(length_until(Some(1e-12), 1e-3), SHORTEST_SUBSTEP);
        assert_eq!(length_until(Some(1e-3 - 1e-10), 1e-3), 1e-3);
    }

    #[test]
    fn a_rollback_keeps_the_work_in_the_report_and_nothing_else() {
        let mut report = StepReport::solved();
        report.solves = 2;
        let checkpoint = Checkpoint::of(&report);
        (report.status, report.failure) = (Status::Stalled, Some(StepFailure::Energy));
        (report.residual, report.impacts, report.solves) = (0.5, 3, 5);
        checkpoint.restore(&mut report);
        assert_eq!((report.status, report.failure), (Status::Solved, None));
        assert_eq!((report.residual, report.impacts, report.solves), (0.0, 0, 5));
    }
}
