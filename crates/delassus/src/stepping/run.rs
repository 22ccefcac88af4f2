//! Steps up to a time, of one length or of lengths that follow from their error.
//!
//! ```text
//! h = min(length, t_end − t) ,   (q, v, t) ← step(q, v, h)   until   t_end − t ≤ 1e-9 length
//! ```

use std::ops::ControlFlow;

use delassus_solve::problem::InvalidProblem;
use thiserror::Error;

use super::{ContactEvent, ContactEvents, StepControl, StepFailure, StepReport, Stepper, controlled_step};
use crate::world::BodyState;

/// A rest of time shorter than this part of a step is none.
const NO_TIME: f64 = 1e-9;

/// How long the steps of a run are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepLength {
    /// All of one length, s; the last one may be shorter.
    Fixed(f64),
    /// As their error allows ([`controlled_step`]).
    Adaptive(StepControl),
}

impl StepLength {
    /// The longest step, s.
    pub fn longest(&self) -> f64 {
        match self {
            StepLength::Fixed(dt) => *dt,
            StepLength::Adaptive(control) => control.longest,
        }
    }

    /// The control of adaptive steps.
    pub fn control(&self) -> Option<&StepControl> {
        match self {
            StepLength::Fixed(_) => None,
            StepLength::Adaptive(control) => Some(control),
        }
    }

    /// The length of the next step where this much time is left, s.
    pub fn next(&mut self, left: f64) -> f64 {
        let length = match self {
            StepLength::Fixed(dt) => *dt,
            StepLength::Adaptive(control) => {
                control.shorten(left);
                control.length()
            }
        };
        if left < length * (1.0 - NO_TIME) { left } else { length }
    }
}

/// The estimate of an adaptive step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepEstimate {
    /// Its error, m.
    pub error: f64,
    /// Its length, s.
    pub length: f64,
    /// Longer steps that were made and rejected before it.
    pub rejected: u64,
    /// Whether the error is within the tolerance and all was solved.
    pub within: bool,
}

/// A step that was made, as [`run_until`] shows it to its recorder.
pub struct StepRecord<'a> {
    /// Time at its begin, s.
    pub begin: f64,
    /// The stepper at its end.
    pub stepper: &'a Stepper,
    /// What the step reports.
    pub report: &'a StepReport,
    /// Events of contacts in it.
    pub events: &'a [ContactEvent],
    /// Which contacts touch at its end.
    pub contacts: &'a ContactEvents,
    /// How long the next steps may be.
    pub length: &'a StepLength,
    /// The estimate of an adaptive step; `None` for fixed ones, and for one that is shorter than all adaptive
    /// ones.
    pub estimate: Option<StepEstimate>,
}

/// Why a run cannot go on.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum RunError {
    /// A step cannot be made.
    #[error("the step at {t} s cannot be made: {source}")]
    Step {
        /// Time at its begin, s.
        t: f64,
        /// Why.
        source: InvalidProblem,
    },
    /// Joints gave energy in a step, however short its substeps.
    #[error("the step at {t} s cannot be made: joints gave {gained:.3e} J, however short its substeps")]
    JointEnergy {
        /// Time at its begin, s.
        t: f64,
        /// How much, J.
        gained: f64,
    },
    /// A step ended in NaN or infinity.
    #[error("the step at {t} s gave numbers that are not finite")]
    NotFinite {
        /// Time at its begin, s.
        t: f64,
    },
}

/// The time within which a run with steps of at most this length has arrived, s.
pub fn time_slack(longest: f64) -> f64 {
    NO_TIME * longest
}

/// Whether a run that stands at `t` has arrived, with steps of at most this length.
pub fn no_time_left(t: f64, t_end: f64, length: &StepLength) -> bool {
    t_end - t <= time_slack(length.longest())
}

/// Steps until `t_end`, or until the recorder, which is called after every step, breaks. `contacts` finds the
/// events of contacts; where a run goes on later, `length` and `contacts` go on with it.
pub fn run_until<B>(
    stepper: &mut Stepper,
    t_end: f64,
    length: &mut StepLength,
    contacts: &mut ContactEvents,
    mut record: impl FnMut(&StepRecord<'_>) -> ControlFlow<B>,
) -> Result<ControlFlow<B>, RunError> {
    let mut events = vec![];
    loop {
        let begin = stepper.state().t;
        if no_time_left(begin, t_end, length) {
            return Ok(ControlFlow::Continue(()));
        }
        let h = length.next(t_end - begin);
        if h != stepper.options().dt {
            stepper.change_dt(h);
        }
        contacts.before_step(stepper);
        let (report, estimate) =
            step(stepper, length).map_err(|source| RunError::Step { t: begin, source })?;
        if !stepper.state().bodies.iter().all(BodyState::is_finite) {
            return Err(RunError::NotFinite { t: begin });
        }
        if let Some(StepFailure::JointEnergy { gained }) = report.failure {
            return Err(RunError::JointEnergy { t: begin, gained });
        }
        events.clear();
        contacts.after_step(stepper, &report, &mut events);
        let made =
            StepRecord { begin, stepper, report: &report, events: &events, contacts, length, estimate };
        if let ControlFlow::Break(value) = record(&made) {
            return Ok(ControlFlow::Break(value));
        }
    }
}

fn step(
    stepper: &mut Stepper,
    length: &mut StepLength,
) -> Result<(StepReport, Option<StepEstimate>), InvalidProblem> {
    match length {
        // A rest of time that is shorter than the shortest adaptive step is made as it is.
        StepLength::Adaptive(control) if stepper.options().dt >= control.length() => {
            let step = controlled_step(stepper, control)?;
            let (error, length, rejected, within) = (step.error, step.length, step.rejected, step.within);
            Ok((step.report, Some(StepEstimate { error, length, rejected, within })))
        }
        _ => Ok((stepper.step()?, None)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stepping::StepOptions;
    use crate::stepping::test_worlds::on_a_floor;
    use crate::world::ShapeKind;

    fn falling(dt: f64) -> Stepper {
        let (world, state) = on_a_floor(ShapeKind::Sphere { radius: 0.1 }, 100.0, [0.0, 0.0]);
        Stepper::new(world, state, StepOptions { dt, ..StepOptions::default() }).unwrap()
    }

    /// Free fall over a time that is no multiple of the step: the last step is shorter, and z = 100 − g t²/2,
    /// which the symmetric scheme integrates without error.
    #[test]
    fn fixed_steps_end_at_the_end() {
        let mut stepper = falling(0.03);
        let (mut length, mut contacts) = (StepLength::Fixed(0.03), ContactEvents::new(&stepper));
        let mut times = vec![];
        let flow = run_until(&mut stepper, 0.1, &mut length, &mut contacts, |record| {
            times.push([record.begin, record.stepper.state().t]);
            ControlFlow::<()>::Continue(())
        });
        assert_eq!(flow, Ok(ControlFlow::Continue(())));
        assert_eq!(times.len(), 4);
        assert!(times.windows(2).all(|pair| pair[0][1] == pair[1][0]));
        assert!((times[3][1] - 0.1).abs() < 1e-15, "{times:?}");
        let z = stepper.state().bodies[1].pose.position.z;
        assert!((z - (100.0 - 0.5 * 9.81 * 0.01)).abs() < 1e-12, "{z}");
        // It has arrived: no step more.
        let none = |_: &StepRecord<'_>| ControlFlow::Break(());
        assert_eq!(
            run_until(&mut stepper, 0.1, &mut length, &mut contacts, none),
            Ok(ControlFlow::Continue(()))
        );
    }

    #[test]
    fn a_recorder_breaks_a_run() {
        let mut stepper = falling(0.01);
        let (mut length, mut contacts) = (StepLength::Fixed(0.01), ContactEvents::new(&stepper));
        let third = |record: &StepRecord<'_>| match record.stepper.steps() {
            3 => ControlFlow::Break("third"),
            _ => ControlFlow::Continue(()),
        };
        assert_eq!(
            run_until(&mut stepper, 1.0, &mut length, &mut contacts, third),
            Ok(ControlFlow::Break("third"))
        );
        assert_eq!(stepper.steps(), 3);
    }

    /// Of free fall the scheme makes no error: adaptive steps are as long as they may be, and the rest is
    /// shorter than the shortest one.
    #[test]
    fn adaptive_steps_hit_the_end() {
        let mut stepper = falling(0.1);
        let control =
            StepControl { tolerance: 1e-6, longest: 0.1, halvings: 2, level: 0, start: 0.0, ticks: 0 };
        let mut contacts = ContactEvents::new(&stepper);
        let mut lengths = vec![];
        let mut length = StepLength::Adaptive(control);
        let flow = run_until(&mut stepper, 0.26, &mut length, &mut contacts, |record| {
            lengths.push(record.estimate.map(|step| step.length));
            ControlFlow::<()>::Continue(())
        });
        assert_eq!(flow, Ok(ControlFlow::Continue(())));
        assert_eq!(lengths, [Some(0.1), Some(0.1), Some(0.05), None]);
        assert!((stepper.state().t - 0.26).abs() < 1e-15);
        assert_eq!(length.control().unwrap().ticks, 10);
    }
}
