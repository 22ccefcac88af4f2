//! Steps whose length follows from an estimate of their error.
//!
//! ```text
//! e = max(|y(h) − y(½h, ½h)|, d) ≤ tolerance ,   |y| = max over bodies of |x| + ρ|θ| + T (|v| + ρ|ω|)
//! d = Σ over both halves of the largest |x₁ − x₀ − ¼h (v₀ + v₁)| + ρ|θ₁ − θ₀ − ¼h (ω₀ + ω₁)|
//! ```
//!
//! y(h) is the state after one step of length h, y(½h, ½h) the one after two of half the length, ρ the reach of a body and T the longest
//! step: an error of velocity counts as what it moves a body within it. The two halves are what is kept; where the motion
//! is smooth, their error is a third of e in the symmetric scheme. Richardson's extrapolation would have one order more, but of
//! states that obey joints and contacts it makes one that does not.
//!
//! d, the way against that of the mean velocity, is of the same order. It sees what the difference is blind to: a block that comes to
//! rest in the last quarter of a step comes just as far in a step as in two halves, and too short in both by (1 − s)² μg h²/2, where s h
//! is the time of the stop. A rebound changes the velocity on purpose, and at its moment: steps with one go without d.
//!
//! Where bodies hit each other, begin to stick or to slide, a step is of first order, and its error falls with its length only:
//! such steps shrink down to the shortest one, which is taken as it is and counted. Lengths are the longest one halved n times, and
//! a step of length h begins at a multiple of h after the start: every multiple of the longest step is hit, and time is counted in
//! whole numbers of the shortest one.

use delassus_solve::problem::{InvalidProblem, Status};

use super::report::{Snapshot, StepReport};
use super::warm_start::{Keyed, add_impulses, impulses_of};
use super::{Scheme, Stepper};
use crate::world::{Body, World, WorldState};

/// Steps are made anew with half the length where joints are open or bodies overlap by more than this many position tolerances.
const LOOSE: f64 = 1e3;
/// The length doubles where the error of a step twice as long would be below this part of the tolerance.
const SAFE: f64 = 0.8;
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

/// What a step with an estimate of its error says of itself.
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
    let doubled = if stepper.options.scheme == Scheme::Symmetric { 8.0 } else { 4.0 };
    let (begin, dt) = (stepper.snapshot(), stepper.options.dt);
    let mut whole: Option<WorldState> = None;
    let mut rejected = 0;
    // Solves and iterations of what was thrown away.
    let mut lost = [0; 2];
    loop {
        let h = control.length();
        let shortest = control.level == control.halvings;
        let attempt = halves(stepper, (&begin, dt), (h, control.longest), &mut whole);
        let (error, mut report) = match attempt {
            Ok(attempt) => attempt,
            Err(invalid) if shortest => return Err(invalid),
            Err(_) => {
                (rejected, control.level, whole) = (rejected + 1, control.level + 1, None);
                continue;
            }
        };
        let error = error.unwrap_or(f64::INFINITY);
        let loose = LOOSE * stepper.options.position_tolerance;
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
        control.pass(within && doubled * error <= SAFE * control.tolerance);
        stepper.set_time(control.time());
        return Ok(ControlledStep { report, error, length: h, rejected, within });
    }
}

/// Two steps of ½h, left as one of h, and how far they come from one of h (velocities times `time`); nothing where a number is not finite. `whole` is the
/// state after that one where it is known, and then the state after the first half, which a step of half the length ends in.
fn halves(
    stepper: &mut Stepper,
    (begin, dt): (&Snapshot, f64),
    (h, time): (f64, f64),
    whole: &mut Option<WorldState>,
) -> Result<(Option<f64>, StepReport), InvalidProblem> {
    let (end, cost) = match whole.take() {
        Some(state) => (state, None),
        None => {
            stepper.return_to(begin, dt, h);
            let report = stepper.step()?;
            (stepper.state.clone(), Some(report))
        }
    };
    stepper.return_to(begin, dt, 0.5 * h);
    let mut report = stepper.step()?;
    let mut sum: Vec<Keyed> = vec![];
    add_impulses(&mut sum, &stepper.contacts, &stepper.contact_impulse);
    let row_impulse = stepper.row_impulse.clone();
    *whole = Some(stepper.state.clone());
    let second = stepper.step()?;
    add_impulses(&mut sum, &stepper.contacts, &stepper.contact_impulse);
    join(&mut report, second, cost);
    let mut error = distance(&stepper.world, &end, &stepper.state, time);
    if let (0, Some(middle)) = (report.impacts, whole.as_ref()) {
        let defects = [(&begin.state, middle), (middle, &stepper.state)];
        let defects = defects.map(|(a, b)| defect(&stepper.world, a, b, 0.5 * h));
        // A sum that is not a number must stay one.
        let sum = defects[0] + defects[1];
        error = if sum <= error { error } else { sum };
    }
    stepper.options.dt = h;
    let mut room = std::mem::take(&mut stepper.room);
    stepper.look(h, &mut room);
    stepper.room = room;
    impulses_of(&sum, &stepper.contacts, &mut stepper.contact_impulse);
    stepper.row_impulse.iter_mut().zip(&row_impulse).for_each(|(r, first)| *r += first);
    (stepper.start, stepper.steps) = (stepper.state.t, 0);
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
    report.jams.extend(second.jams);
    report.impacts += second.impacts;
    report.accumulations.extend(second.accumulations);
    report.non_unique |= second.non_unique;
}

/// |y| of the difference of two states; not a number where one is not.
fn distance(world: &World, a: &WorldState, b: &WorldState, time: f64) -> f64 {
    let mut worst = 0.0_f64;
    for (body, (a, b)) in world.bodies.iter().zip(a.bodies.iter().zip(&b.bodies)) {
        if body.fixed {
            continue;
        }
        let reach = reach(body);
        let turn = 2.0 * (a.pose.rotation.conjugate() * b.pose.rotation).xyz().length();
        let moved = (a.pose.position - b.pose.position).length() + reach * turn;
        let speed =
            (a.velocity - b.velocity).length() + reach * (a.angular_velocity - b.angular_velocity).length();
        let error = moved + time * speed;
        if error.is_nan() {
            return error;
        }
        worst = worst.max(error);
    }
    worst
}

/// How far the ways of bodies in a step are from those of their mean velocities; not a number where one is not.
fn defect(world: &World, a: &WorldState, b: &WorldState, h: f64) -> f64 {
    let mut worst = 0.0_f64;
    for (body, (a, b)) in world.bodies.iter().zip(a.bodies.iter().zip(&b.bodies)) {
        if body.fixed {
            continue;
        }
        let way = b.pose.position - a.pose.position - 0.5 * h * (a.velocity + b.velocity);
        let turn = (a.pose.rotation.conjugate() * b.pose.rotation).to_scaled_axis();
        let turn = turn - 0.5 * h * (a.angular_velocity + b.angular_velocity);
        let error = way.length() + reach(body) * turn.length();
        if error.is_nan() {
            return error;
        }
        worst = worst.max(error);
    }
    worst
}

/// How far from its centre of mass a body counts; one without a shape turns about its mass.
fn reach(body: &Body) -> f64 {
    body.reach().max((body.inertia.max_element() / body.mass).sqrt())
}

impl Stepper {
    /// Goes on with steps of this length, s, which must be positive and finite. Impulses of the last step, where solves start, are
    /// scaled with it; the count of steps begins anew.
    pub fn set_length(&mut self, dt: f64) {
        let (snapshot, before) = (self.snapshot(), self.options.dt);
        self.return_to(&snapshot, before, dt);
    }

    /// Goes back to a snapshot that was made with steps of length `before`, and on from it with steps of length `dt`.
    fn return_to(&mut self, snapshot: &Snapshot, before: f64, dt: f64) {
        self.options.dt = dt;
        self.state.clone_from(&snapshot.state);
        (self.start, self.steps) = (self.state.t, 0);
        let mut room = std::mem::take(&mut self.room);
        self.look(dt, &mut room);
        self.room = room;
        let factor = dt / before;
        let scaled =
            |(b, s, f, r): &crate::stepping::report::KeyedImpulse| ((*b, *s, *f), r.map(|x| x * factor));
        let sum: Vec<Keyed> = snapshot.contact_impulse.iter().map(scaled).collect();
        impulses_of(&sum, &self.contacts, &mut self.contact_impulse);
        self.row_impulse.clear();
        self.row_impulse.extend(snapshot.row_impulse.iter().map(|x| x * factor));
        self.row_impulse.resize(self.rows.rows.len(), 0.0);
    }

    /// Time as someone else has counted it.
    fn set_time(&mut self, t: f64) {
        (self.state.t, self.start, self.steps) = (t, t, 0);
    }
}
