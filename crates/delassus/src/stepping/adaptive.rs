//! Steps whose length follows from an estimate of their error.
//!
//! ```text
//! e = max(|y(h) − y(½h, ½h)|, d) ≤ tolerance ,   |y| = max over bodies of |x| + ρ|θ| + T (|v| + ρ|ω|)
//! d = Σ over both halves of the largest |x₁ − x₀ − ¼h (v₀ + v₁)| + ρ|θ₁ − θ₀ − ¼h (ω₀ + ω₁)|
//! ```
//!
//! y(h) is the state after one step of length h, y(½h, ½h) the one after two of half the length, ρ the
//! bounding radius of a body and T the longest step: an error of velocity counts as what it moves a body
//! within it. The two halves are what is kept; where the motion is smooth, their error is a third of e in the
//! symmetric scheme. Richardson's extrapolation would have one order more, but of states that obey joints and
//! contacts it makes one that does not.
//!
//! d, the displacement less that of the mean velocity, is of the same order. It sees what the difference is
//! blind to: a block that comes to rest in the last quarter of a step comes just as far in a step as in two
//! halves, and too short in both by (1 − s)² μg h²/2, where s h is the time of the stop. A rebound changes
//! the velocity on purpose, and at its moment: steps with one go without d.
//!
//! Where bodies hit each other, begin to stick or to slide, a step is of first order, and its error falls
//! with its length only: such steps shrink down to the shortest one, which is taken as it is and counted.
//! Lengths are the longest one halved n times, and a step of length h begins at a multiple of h after the
//! start: every multiple of the longest step is hit, and time is counted in whole numbers of the shortest
//! one.

use delassus_solve::problem::{InvalidProblem, Status};

use super::Stepper;
use super::report::{Snapshot, StepReport};
use super::warm_start::{Keyed, add_impulses, impulses_of};
use crate::world::{Body, World, WorldState};

/// Steps are made anew with half the length where joints are open or bodies overlap by more than this many
/// position tolerances.
const MAX_OPENING_TOLERANCES: f64 = 1e3;
/// The length doubles where the error of a step twice as long would be below this part of the tolerance.
const DOUBLING_RATIO: f64 = 0.8;
/// The most halvings.
pub const MOST_HALVINGS: u32 = 20;

/// How long steps may be, and where a run with steps of changing length stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepControl {
    /// Error that a step may have, m.
    pub tolerance: f64,
    /// The longest step, s.
    pub longest: f64,
    /// How often it may be halved, at most [`MOST_HALVINGS`].
    pub halvings: u32,
    /// How often the next step is halved.
    pub level: u32,
    /// Time at the start, s.
    pub start: f64,
    /// Time since then, in shortest steps.
    pub ticks: u64,
}

/// What a step with an estimate of its error reports.
#[derive(Clone, Debug)]
pub struct ControlledStep {
    /// Its two halves as one step.
    pub report: StepReport,
    /// The estimate, m.
    pub error: f64,
    /// Its length, s.
    pub length: f64,
    /// Steps that were longer and thrown away.
    pub rejected: u64,
    /// Whether the error is within the tolerance and all was solved; the shortest step is taken even if not.
    pub within: bool,
}

impl StepControl {
    /// The length of the next step, s.
    pub fn length(&self) -> f64 {
        self.longest / (1_u64 << self.level) as f64
    }

    /// Time now, s.
    pub fn time(&self) -> f64 {
        self.start + self.ticks as f64 * (self.longest / (1_u64 << self.halvings) as f64)
    }

    /// How many of the longest steps have passed, where it is a whole number of them.
    pub fn whole_steps(&self) -> Option<u64> {
        let whole = 1_u64 << self.halvings;
        self.ticks.is_multiple_of(whole).then(|| self.ticks / whole)
    }

    /// Halves the next step until it is no longer than this, as far as it may.
    pub fn shorten(&mut self, left: f64) {
        while self.length() > left * (1.0 + 1e-9) && self.level < self.halvings {
            self.level += 1;
        }
    }

    /// After a step: its time has passed, and the next may be twice as long.
    fn pass(&mut self, grows: bool) {
        let ticks = 1_u64 << (self.halvings - self.level);
        self.ticks += ticks;
        if grows && self.level > 0 && self.ticks.is_multiple_of(2 * ticks) {
            self.level -= 1;
        }
    }
}

/// One step whose length follows from its error. The stepper then stands as after one step of that length.
pub fn controlled_step(
    stepper: &mut Stepper,
    control: &mut StepControl,
) -> Result<ControlledStep, InvalidProblem> {
    // The error of a step twice as long.
    let doubled = if stepper.model.is_symmetric() { 8.0 } else { 4.0 };
    let begin = Begin { snapshot: stepper.snapshot(), dt: stepper.options().dt, time: control.longest };
    let mut whole: Option<WorldState> = None;
    let mut rejected = 0;
    // Solves and iterations of what was thrown away.
    let mut lost = [0; 2];
    loop {
        let h = control.length();
        let shortest = control.level == control.halvings;
        let (error, mut report) = match two_halves(stepper, &begin, h, &mut whole) {
            Ok(attempt) => attempt,
            Err(invalid) if shortest => return Err(invalid),
            Err(_) => {
                (rejected, control.level, whole) = (rejected + 1, control.level + 1, None);
                continue;
            }
        };
        let error = error.unwrap_or(f64::INFINITY);
        let loose = MAX_OPENING_TOLERANCES * stepper.options().position_tolerance;
        let holds = report.penetration <= loose && report.joint_error <= loose;
        let within = error <= control.tolerance && holds && report.status == Status::Solved;
        if !within && !shortest {
            rejected += 1;
            control.level += 1;
            lost = [lost[0] + report.solves, lost[1] + report.iterations];
            continue;
        }
        report.solves += lost[0];
        report.iterations += lost[1];
        control.pass(within && doubled * error <= DOUBLING_RATIO * control.tolerance);
        stepper.clock.restart(control.time());
        stepper.state.t = control.time();
        return Ok(ControlledStep { report, error, length: h, rejected, within });
    }
}

/// Where steps of several lengths are tried from.
struct Begin {
    snapshot: Snapshot,
    /// The length of the steps with which the snapshot was made.
    dt: f64,
    /// Velocities times this count as errors of positions.
    time: f64,
}

/// Two steps of ½h, left as one of h, and how far they come from one of h; nothing where a number is not
/// finite. `whole` is the state after that one where it is known, and then the state after the first half,
/// which a step of half the length ends in.
fn two_halves(
    stepper: &mut Stepper,
    begin: &Begin,
    h: f64,
    whole: &mut Option<WorldState>,
) -> Result<(Option<f64>, StepReport), InvalidProblem> {
    let (end, cost) = match whole.take() {
        Some(state) => (state, None),
        None => {
            stepper.return_to(&begin.snapshot, begin.dt, h);
            let report = stepper.step()?;
            (stepper.state.clone(), Some(report))
        }
    };
    stepper.return_to(&begin.snapshot, begin.dt, 0.5 * h);
    let mut report = stepper.step()?;
    let mut sum: Vec<Keyed> = vec![];
    add_impulses(&mut sum, stepper.linearization.contacts(), &stepper.impulses.contacts);
    let row_impulse = stepper.impulses.rows.clone();
    let arrivals = std::mem::take(&mut stepper.arrivals);
    *whole = Some(stepper.state.clone());
    let second = stepper.step()?;
    stepper.arrivals.follow(arrivals);
    add_impulses(&mut sum, stepper.linearization.contacts(), &stepper.impulses.contacts);
    join(&mut report, second, cost);
    let world = &stepper.model.world;
    let mut error = distance(world, &end, &stepper.state, begin.time);
    if let (0, Some(middle)) = (report.impacts, whole.as_ref()) {
        let defects = [(&begin.snapshot.state, middle), (middle, &stepper.state)];
        let defects = defects.map(|(a, b)| defect(world, a, b, 0.5 * h));
        // A sum that is not a number must stay one.
        let sum = defects[0] + defects[1];
        error = if sum <= error { error } else { sum };
    }
    stepper.model.options.dt = h;
    stepper.linearize(h);
    impulses_of(&sum, stepper.linearization.contacts(), &mut stepper.impulses.contacts);
    stepper.impulses.rows.iter_mut().zip(&row_impulse).for_each(|(r, first)| *r += first);
    stepper.clock.restart(stepper.state.t);
    Ok((error.is_finite().then_some(error), report))
}

/// The report of two halves, with the work of a whole step beside them.
fn join(report: &mut StepReport, second: StepReport, whole: Option<StepReport>) {
    if report.status == Status::Solved {
        (report.status, report.failure) = (second.status, second.failure);
    }
    report.residual = report.residual.max(second.residual);
    report.solves += second.solves + whole.as_ref().map_or(0, |w| w.solves);
    report.iterations += second.iterations + whole.as_ref().map_or(0, |w| w.iterations);
    report.penetration = report.penetration.max(second.penetration);
    report.joint_error = report.joint_error.max(second.joint_error);
    report.energy.add(&second.energy);
    report.energy_gains.extend(second.energy_gains);
    report.jams.extend(second.jams);
    report.impacts += second.impacts;
    report.accumulations.extend(second.accumulations);
    report.non_unique |= second.non_unique;
    report.non_unique_motion |= second.non_unique_motion;
}

/// |y| of the difference of two states; not a number where one is not.
fn distance(world: &World, a: &WorldState, b: &WorldState, time: f64) -> f64 {
    let mut worst = 0.0_f64;
    for (body, (a, b)) in world.bodies.iter().zip(a.bodies.iter().zip(&b.bodies)) {
        if body.fixed {
            continue;
        }
        let radius = lever(body);
        let rotation = 2.0 * (a.pose.rotation.conjugate() * b.pose.rotation).xyz().length();
        let moved = (a.pose.position - b.pose.position).length() + radius * rotation;
        let speed =
            (a.velocity - b.velocity).length() + radius * (a.angular_velocity - b.angular_velocity).length();
        let error = moved + time * speed;
        if error.is_nan() {
            return error;
        }
        worst = worst.max(error);
    }
    worst
}

/// How far the displacements of bodies in a step are from those of their mean velocities; not a number where
/// one is not.
fn defect(world: &World, a: &WorldState, b: &WorldState, h: f64) -> f64 {
    let mut worst = 0.0_f64;
    for (body, (a, b)) in world.bodies.iter().zip(a.bodies.iter().zip(&b.bodies)) {
        if body.fixed {
            continue;
        }
        let moved = b.pose.position - a.pose.position - 0.5 * h * (a.velocity + b.velocity);
        let rotation = (a.pose.rotation.conjugate() * b.pose.rotation).to_scaled_axis();
        let rotation = rotation - 0.5 * h * (a.angular_velocity + b.angular_velocity);
        let error = moved.length() + lever(body) * rotation.length();
        if error.is_nan() {
            return error;
        }
        worst = worst.max(error);
    }
    worst
}

/// The distance from its centre of mass at which a rotation counts: the bounding radius, at least the radius
/// of gyration.
fn lever(body: &Body) -> f64 {
    body.bounding_radius().max((body.inertia.max_element() / body.mass).sqrt())
}

#[cfg(test)]
mod tests {
    use super::super::model::fixtures::*;
    use super::super::options::StepOptions;
    use super::*;
    use crate::world::ActionKind;
    use glam::DVec3;

    fn control(tolerance: f64) -> StepControl {
        StepControl { tolerance, longest: 1.0, halvings: 4, level: 0, start: 2.0, ticks: 0 }
    }

    #[test]
    fn time_is_counted_in_whole_shortest_steps_and_lengths_double_at_their_multiples() {
        let mut control = control(1.0);
        control.shorten(0.3);
        assert_eq!((control.level, control.length()), (2, 0.25));
        control.pass(true);
        // A step of ½ does not begin at ¼.
        assert_eq!((control.time(), control.level, control.whole_steps()), (2.25, 2, None));
        control.pass(true);
        assert_eq!((control.time(), control.level), (2.5, 1));
        control.pass(false);
        assert_eq!((control.time(), control.level, control.whole_steps()), (3.0, 1, Some(1)));
        control.shorten(0.0);
        assert_eq!(control.level, 4);
    }

    #[test]
    fn free_fall_has_no_error_and_the_longest_step_is_taken() {
        let (world, state) = ball_on_floor(smooth(), 100.0, DVec3::X);
        let mut stepper =
            Stepper::new(&world, state, StepOptions { dt: 1.0, ..StepOptions::default() }).unwrap();
        let mut control = StepControl { start: 0.0, ..control(1e-9) };
        let step = controlled_step(&mut stepper, &mut control).unwrap();
        assert_eq!((step.length, step.rejected, step.within), (1.0, 0, true));
        // The parabola is exact up to rounding of numbers of the order of 100 m.
        assert!(step.error < 1e-12, "{:e}", step.error);
        assert!((stepper.state().bodies[1].pose.position.z - (100.0 + RADIUS - 5.0)).abs() < 1e-12);
        assert_eq!(stepper.state().t, 1.0);
    }

    #[test]
    fn an_oscillator_is_shortened_until_the_estimate_holds() {
        let spring = ActionKind::Spring { stiffness: MASS, damping: 0.0, rest: 0.0 };
        let (world, state) = slider(spring, 1.0, 0.0);
        let mut stepper =
            Stepper::new(&world, state, StepOptions { dt: 1.0, ..StepOptions::default() }).unwrap();
        let mut control = StepControl { start: 0.0, ..control(0.02) };
        let step = controlled_step(&mut stepper, &mut control).unwrap();
        assert!(step.within && step.rejected > 0 && step.error <= 0.02, "{step:?}");
        let (h, z) = (step.length, stepper.state().bodies[1].pose.position.z);
        assert_eq!(stepper.state().t, h);
        // ω = 1: x = cos h, and the estimate bounds what the kept halves miss.
        assert!((z - h.cos()).abs() <= step.error, "{z} {} {}", h.cos(), step.error);
    }
}
