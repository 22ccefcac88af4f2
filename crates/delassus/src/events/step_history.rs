//! Step history: the present step as a polynomial in time, the one before it, and the length of the next.
//!
//! ```text
//! y(t₀ + θh) = y₀ + h ∫₀^θ p(τ) dτ ,     θ ∈ [0, 1] ;     h_next = 0.9 h (ε/e)^(1/s)
//! ```
//!
//! p of degree s − 1 by collocation ([`super::gauss_collocation`]), e the local error of the step and ε the
//! one that is allowed. Root finding and samples read the polynomial of the present step; that of the step
//! before it is the first guess of p, where the motion goes on in the same modes.

use super::gauss_collocation::{Collocation, DenseStep, POINTS, StepOutcome, StepProblem, next_length};

/// The contraction that is aimed at where sweeps and not errors limit steps. It grows as h² for forces that
/// depend on positions, so that the sweeps per unit of time, 1/(h |ln ρ|), are fewest at ρ = e⁻² = 0.14; they
/// are within a tenth of that up to twice the value.
const BEST_CONTRACTION: f64 = 0.25;
/// The first step that is tried, s.
const FIRST_STEP: f64 = 0.1;
/// The step after an event is at most this many times the time between the last two events.
const STEPS_BETWEEN_EVENTS: f64 = 3.0;
/// Events in a row at one instant, after which modes change without end.
const MAX_EVENTS_AT_ONE_INSTANT: usize = 40;

/// Modes change at one instant without end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoProgress;

/// A step that was accepted: its length, and its error in units of the tolerance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AcceptedStep {
    pub(super) length: f64,
    pub(super) error: f64,
}

/// The steps that root finding, interpolation and the choice of the next step need.
pub(super) struct StepHistory {
    collocation: Collocation,
    current: DenseStep,
    previous: DenseStep,
    /// Whether `previous` ends where the next step begins, in the same modes.
    contiguous: bool,
    next_length: f64,
    last: AcceptedStep,
    last_event: f64,
    events_at_this_instant: usize,
}

impl StepHistory {
    /// Before the first step, at time t.
    pub(super) fn new(t: f64) -> StepHistory {
        StepHistory {
            collocation: Collocation::default(),
            current: DenseStep::default(),
            previous: DenseStep::default(),
            contiguous: false,
            next_length: FIRST_STEP,
            last: AcceptedStep { length: FIRST_STEP, error: 1.0 },
            last_event: t,
            events_at_this_instant: 0,
        }
    }

    /// The step that was tried last.
    pub(super) fn current(&self) -> &DenseStep {
        &self.current
    }

    /// The length of the next step to try.
    pub(super) fn next_length(&self) -> f64 {
        self.next_length
    }

    /// Evaluations of the equations of motion so far.
    pub(super) fn evaluations(&self) -> u64 {
        self.collocation.evaluations
    }

    /// Tries a step (see [`Collocation::step`]).
    pub(super) fn try_step<E>(
        &mut self,
        problem: &StepProblem<'_>,
        adjust: impl FnMut() -> Option<f64>,
        rate: impl FnMut(usize, f64, &[f64], &mut [f64]) -> Result<(), E>,
    ) -> Result<StepOutcome, E> {
        let guess = self.contiguous.then_some(&self.previous);
        self.collocation.step(problem, guess, &mut self.current, adjust, rate)
    }

    /// The motion does not go on as in the step before: other modes, other forces, or another start.
    pub(super) fn interrupt(&mut self) {
        self.contiguous = false;
    }

    /// The next step is at most this many times as long as the last, if it continues it.
    pub(super) fn limit_growth(&mut self, factor: f64) {
        if self.contiguous {
            self.next_length = self.next_length.min(factor * self.previous.length);
        }
    }

    /// The present step ended without event.
    pub(super) fn accept(&mut self, step: AcceptedStep) {
        let length = next_length(step.length, step.error);
        // Errors that grow from step to step are expected to grow on.
        let growth = if self.contiguous {
            (step.length / self.last.length) * (self.last.error / step.error).powf(1.0 / POINTS as f64)
        } else {
            1.0
        };
        self.next_length = if growth < 1.0 { length * growth.max(0.5) } else { length.max(step.length) };
        // A longer step would cost more sweeps than it saves steps.
        let contraction = self.collocation.contraction;
        if contraction > 0.0 {
            self.next_length = self.next_length.min(step.length * (BEST_CONTRACTION / contraction).sqrt());
        }
        self.last = step;
        self.events_at_this_instant = 0;
        std::mem::swap(&mut self.current, &mut self.previous);
        self.contiguous = true;
    }

    /// The present step, which began at t, ends with an event at θ. Times up to `shortest` are none.
    pub(super) fn end_at_event(
        &mut self,
        step: AcceptedStep,
        t: f64,
        theta: f64,
        shortest: f64,
    ) -> Result<(), NoProgress> {
        self.next_length = next_length(step.length, step.error).max(step.length);
        let passed = t - self.last_event + theta * step.length;
        if passed > shortest {
            // The next event may well be as near; a polynomial over a much longer time would blur it.
            self.next_length = self.next_length.min(STEPS_BETWEEN_EVENTS * passed);
            self.last_event = t + theta * step.length;
        }
        let at_once = theta * step.length <= shortest;
        self.events_at_this_instant = if at_once { self.events_at_this_instant + 1 } else { 0 };
        self.contiguous = false;
        if self.events_at_this_instant > MAX_EVENTS_AT_ONE_INSTANT { Err(NoProgress) } else { Ok(()) }
    }

    /// Refuses the present step; the next one has this length.
    pub(super) fn repeat_with(&mut self, length: f64) {
        self.next_length = length;
        self.contiguous = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::gauss_collocation::FLOOR;

    fn try_step(history: &mut StepHistory, t: f64, h: f64, y0: &[f64]) {
        let problem = StepProblem { t, h, y0, scale: &[1.0], tolerance: f64::INFINITY, rounding: FLOOR };
        let rate = |_: usize, t: f64, _: &[f64], dy: &mut [f64]| {
            dy[0] = 8.0 * t.powi(7) - 3.0 * t * t;
            Ok::<(), ()>(())
        };
        assert!(matches!(history.try_step(&problem, || None, rate), Ok(StepOutcome::Converged(_))));
    }

    /// p has degree 7, so that y = t⁸ − t³ is followed exactly at every instant of a step.
    #[test]
    fn interpolation_is_exact_to_degree_eight() {
        let mut history = StepHistory::new(0.0);
        try_step(&mut history, 0.5, 1.0, &[0.5_f64.powi(8) - 0.125]);
        let mut y = vec![];
        for k in 0..=20 {
            let theta = f64::from(k) / 20.0;
            history.current().at(theta, &mut y);
            let t = history.current().time(theta);
            // Rounding of terms up to 1.5⁸ = 26.
            assert!((y[0] - (t.powi(8) - t * t * t)).abs() < 1e-13, "{theta}");
        }
    }

    /// A step that continues the one before starts with its polynomial: one evaluation less for the first
    /// slope, and no more after an interruption.
    #[test]
    fn only_a_contiguous_step_is_a_guess() {
        let count = |interrupted: bool| {
            let mut history = StepHistory::new(0.0);
            try_step(&mut history, 0.0, 0.5, &[0.0]);
            history.accept(AcceptedStep { length: 0.5, error: 1.0 });
            if interrupted {
                history.interrupt();
            }
            let before = history.evaluations();
            try_step(&mut history, 0.5, 0.5, &[0.5_f64.powi(8) - 0.125]);
            history.evaluations() - before
        };
        assert!(count(false) < count(true));
    }

    /// 0.9 h e^(−1/8), at most five times h; a step after one whose error grew is shorter than that.
    #[test]
    fn the_next_length_follows_the_error() {
        let mut history = StepHistory::new(0.0);
        assert_eq!(history.next_length(), FIRST_STEP);
        history.accept(AcceptedStep { length: 0.1, error: 1e-3 });
        assert!((history.next_length() - 0.09 * 1e-3_f64.powf(-0.125)).abs() < 1e-15);
        history.accept(AcceptedStep { length: 0.1, error: 0.5 });
        // The ratio of errors is 500, that of steps 1: growth = 500^(−1/8) < 0.5.
        let expected = 0.09 * 0.5_f64.powf(-0.125) * 500.0_f64.powf(-0.125).max(0.5);
        assert!((history.next_length() - expected).abs() < 1e-15);
        history.limit_growth(0.0);
        assert_eq!(history.next_length(), 0.0);
    }

    #[test]
    fn steps_after_events_are_as_short_as_the_time_between_them() {
        let mut history = StepHistory::new(0.0);
        let step = AcceptedStep { length: 1.0, error: 1.0 };
        assert_eq!(history.end_at_event(step, 0.0, 0.25, 1e-13), Ok(()));
        assert_eq!(history.next_length(), STEPS_BETWEEN_EVENTS * 0.25);
        assert_eq!(history.end_at_event(step, 0.25, 0.125, 1e-13), Ok(()));
        assert_eq!(history.next_length(), STEPS_BETWEEN_EVENTS * 0.125);
    }

    #[test]
    fn events_at_one_instant_end() {
        let mut history = StepHistory::new(0.0);
        let step = AcceptedStep { length: 1.0, error: 1.0 };
        let ended = (0..100).position(|_| history.end_at_event(step, 0.0, 0.0, 1e-13).is_err());
        assert_eq!(ended, Some(MAX_EVENTS_AT_ONE_INSTANT));
        // A step in between is progress.
        history.accept(step);
        assert_eq!(history.end_at_event(step, 1.0, 0.0, 1e-13), Ok(()));
    }
}
