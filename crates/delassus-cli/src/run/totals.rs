//! What happens during a run: totals of all steps, and events.
//!
//! Open, slide and stick are told of pairs of bodies: a pair slides while one of its points does.

use delassus::collision::Contact;
use delassus::stepping::{ControlledStep, Scheme, StepControl, StepFailure, StepReport, Stepper};
use delassus::world::{World, WorldState};
use delassus_solve::problem::Status;
use glam::DVec3;
use serde::{Deserialize, Serialize};

/// Bodies, shapes and feature of a contact.
type Key = ([u32; 2], [u32; 2], u32);

/// Events that are listed, of those that every contact makes and of those that few make.
const LISTED: usize = 1000;
const LISTED_RARE: usize = 10_000;
/// A gap up to this is closed, m.
const TOUCHING: f64 = 1e-7;
/// Approach slower than this part of what a step of free fall gives is no impact.
const REST: f64 = 0.1;
/// Slip below this part of what a step of free fall gives is none: what solves leave.
const STICKS: f64 = 1e-4;
/// The same where nothing falls, m/s.
const SLOWEST: f64 = 1e-7;

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    /// Bodies hit each other.
    Impact,
    /// A contact opened.
    Open,
    /// A contact began to slide.
    Slide,
    /// A contact began to stick or roll.
    Stick,
    /// Rebounds came to an end.
    Accumulation,
    /// Friction stopped a contact without a collision.
    Jam,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When, s.
    pub t: f64,
    /// What.
    pub kind: EventKind,
    /// The contact, by the names of its bodies.
    pub contact: String,
    /// Where, for impacts and jams.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub point: Option<[f64; 3]>,
    /// Speed of approach of an impact, m/s.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub speed: Option<f64>,
    /// Normal impulse of a jam, N s.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub impulse: Option<f64>,
    /// Friction of a jam, and the friction above which the contact can jam.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mu: Option<f64>,
    /// See `mu`; none where no friction is high enough.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub mu_jam: Option<f64>,
}

impl Event {
    fn new(t: f64, kind: EventKind, contact: String) -> Event {
        Event { t, kind, contact, point: None, speed: None, impulse: None, mu: None, mu_jam: None }
    }
}

/// How the bodies of a pair that touch move on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// One of their points slides.
    Slide,
    /// All points stick or roll.
    Stick,
}

/// What all steps of a run add up to. Goes on over checkpoints.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Totals {
    /// Steps made.
    pub steps: u64,
    /// Energy at the start, J.
    pub energy_start: f64,
    /// Largest overlap at the end of a step, m.
    pub max_penetration: f64,
    /// Largest residual of a solve.
    pub max_residual: f64,
    /// Largest opening of a joint at the end of a step, m or rad.
    pub max_joint_error: f64,
    /// Steps that were not solved to the tolerance.
    pub unsolved_steps: u64,
    /// When the first of them began, s.
    pub first_unsolved: Option<f64>,
    /// What failed in it, in words.
    #[serde(default)]
    pub first_failure: Option<String>,
    /// Steps with other impulses for the same motion.
    pub non_unique_steps: u64,
    /// How adaptive steps went.
    #[serde(default)]
    pub adaptive: AdaptiveTotals,
    /// Solves and their iterations.
    pub solves: u64,
    /// See `solves`.
    pub iterations: u64,
    /// The most contacts at once that carried a force.
    pub max_contacts: usize,
    /// Events, as many as are listed.
    pub events: Vec<Event>,
    /// Impacts, openings, beginnings of sliding and of sticking, ends of rebounds, jams: all, also those that are not
    /// listed.
    pub counts: [u64; 6],
    /// Pairs of bodies that touch now.
    pub modes: Vec<([u32; 2], Mode)>,
}

/// What adaptive steps add up to, and where their control stands.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct AdaptiveTotals {
    /// Steps that were thrown away and made anew with half the length.
    pub rejected: u64,
    /// Steps of the shortest length that were taken though their error is above what was asked.
    pub beyond: u64,
    /// Largest estimate of an error among the others, m.
    pub max_error: f64,
    /// The shortest and the longest step, s.
    pub shortest: f64,
    /// See `shortest`.
    pub longest: f64,
    /// How often the next step is halved, time at the start, and time since then in shortest steps.
    pub level: u32,
    /// See `level`.
    pub start: f64,
    /// See `level`.
    pub ticks: u64,
}

impl AdaptiveTotals {
    /// Takes up a step, and where its control stands.
    pub fn add(&mut self, step: &ControlledStep, control: &StepControl) {
        self.rejected += step.rejected;
        if step.within {
            self.max_error = self.max_error.max(step.error);
        } else {
            self.beyond += 1;
        }
        self.shortest = if self.longest == 0.0 { step.length } else { self.shortest.min(step.length) };
        self.longest = self.longest.max(step.length);
        (self.level, self.start, self.ticks) = (control.level, control.start, control.ticks);
    }
}

/// What is seen of contacts before a step.
#[derive(Default)]
pub struct Before {
    t: f64,
    /// Bodies, shapes, feature; gap, velocity along the normal, point.
    approach: Vec<(Key, f64, f64, DVec3)>,
}

fn key(contact: &Contact) -> ([u32; 2], [u32; 2], u32) {
    (contact.bodies, contact.shapes, contact.feature)
}

/// Velocity of B against A at a contact.
fn relative_velocity(state: &WorldState, contact: &Contact) -> DVec3 {
    let [a, b] = contact.bodies.map(|b| {
        let s = &state.bodies[b as usize];
        s.velocity + s.spin().cross(contact.point - s.pose.position)
    });
    b - a
}

fn name(world: &World, pair: [u32; 2]) -> String {
    let [a, b] = pair.map(|b| world.bodies[b as usize].name.as_str());
    format!("{a}|{b}")
}

impl Before {
    /// Looks at the contacts of a stepper.
    pub fn look(&mut self, stepper: &Stepper) {
        let state = stepper.state();
        self.t = state.t;
        self.approach.clear();
        self.approach.extend(stepper.contacts().iter().map(|contact| {
            (key(contact), contact.gap, relative_velocity(state, contact).dot(contact.normal), contact.point)
        }));
    }
}

impl Totals {
    fn push(&mut self, event: Event) {
        let kind = event.kind;
        self.counts[kind as usize] += 1;
        let rare = matches!(kind, EventKind::Jam | EventKind::Accumulation | EventKind::Impact);
        if self.events.len() < if rare { LISTED_RARE } else { LISTED } {
            self.events.push(event);
        }
    }

    /// Number of events that are not listed.
    pub fn left_out(&self) -> u64 {
        self.counts.iter().sum::<u64>() - self.events.len() as u64
    }

    /// Takes up a step that was made.
    pub fn add(&mut self, world: &World, stepper: &Stepper, before: &Before, report: StepReport) {
        // A number that a checkpoint can hold.
        let held = |x: f64| if x.is_nan() { f64::MAX } else { x.min(f64::MAX) };
        self.steps += 1;
        self.max_penetration = self.max_penetration.max(held(report.penetration));
        self.max_residual = self.max_residual.max(held(report.residual));
        self.max_joint_error = self.max_joint_error.max(held(report.joint_error));
        if report.status != Status::Solved {
            self.unsolved_steps += 1;
            if self.first_unsolved.is_none() {
                self.first_unsolved = Some(before.t);
                self.first_failure = report.failure.map(|f| in_words(world, f, stepper.options.tolerance));
            }
        }
        self.non_unique_steps += u64::from(report.non_unique);
        self.solves += report.solves as u64;
        self.iterations += report.iterations as u64;
        self.impacts(world, stepper, before);
        for jam in report.jams {
            let mut event = Event::new(jam.t, EventKind::Jam, jam.contact);
            event.point = Some(jam.point.to_array());
            event.impulse = Some(jam.impulse);
            event.mu = Some(jam.mu);
            event.mu_jam = Some(jam.mu_jam).filter(|x| x.is_finite());
            self.push(event);
        }
        for accumulation in report.accumulations {
            self.push(Event::new(accumulation.t, EventKind::Accumulation, accumulation.contact));
        }
        self.change_modes(world, stepper);
    }

    /// Contacts that approached before the step and carried a force in it: one event for a pair of bodies.
    fn impacts(&mut self, world: &World, stepper: &Stepper, before: &Before) {
        let dt = stepper.options.dt;
        let rest = (REST * world.gravity.length() * dt).max(SLOWEST);
        let mut found: Vec<([u32; 2], f64, f64, DVec3)> = vec![];
        let mut carrying = 0;
        for (contact, normal, _) in stepper.contact_forces() {
            if normal <= 0.0 {
                continue;
            }
            carrying += 1;
            let Ok(i) = before.approach.binary_search_by_key(&key(contact), |(k, ..)| *k) else { continue };
            let (_, gap, speed, point) = before.approach[i];
            if speed >= -rest {
                continue;
            }
            let t = before.t + (gap.max(0.0) / -speed).min(dt);
            match found.iter_mut().find(|(pair, ..)| *pair == contact.bodies) {
                Some(entry) if speed < entry.2 => *entry = (contact.bodies, t, speed, point),
                Some(_) => {}
                None => found.push((contact.bodies, t, speed, point)),
            }
        }
        self.max_contacts = self.max_contacts.max(carrying);
        for (pair, t, speed, point) in found {
            let mut event = Event::new(t, EventKind::Impact, name(world, pair));
            event.point = Some(point.to_array());
            event.speed = Some(-speed);
            self.push(event);
        }
    }

    fn change_modes(&mut self, world: &World, stepper: &Stepper) {
        let (mut now, mut stay) = (modes(world, stepper), vec![]);
        let t = stepper.state().t;
        let old = std::mem::take(&mut self.modes);
        let at = |list: &[([u32; 2], Mode)], pair: [u32; 2]| {
            list.binary_search_by_key(&pair, |(p, _)| *p).ok().map(|i| list[i].1)
        };
        for &(pair, mode) in &now {
            if at(&old, pair) != Some(mode) {
                let kind = if mode == Mode::Slide { EventKind::Slide } else { EventKind::Stick };
                self.push(Event::new(t, kind, name(world, pair)));
            }
        }
        // Velocities at the end of a half-implicit step belong to the normals at its begin: on a curved surface they seem to part
        // from those at its end while the contact still carries a force.
        let half_implicit = stepper.options.scheme == Scheme::HalfImplicit;
        let touches = |pair: [u32; 2]| {
            let mut of_pair = stepper.contact_forces().filter(|(c, ..)| c.bodies == pair);
            half_implicit && of_pair.any(|(c, normal, _)| normal > 0.0 || c.gap <= TOUCHING)
        };
        for &(pair, mode) in &old {
            if at(&now, pair).is_none() && touches(pair) {
                stay.push((pair, mode));
            } else if at(&now, pair).is_none() {
                self.push(Event::new(t, EventKind::Open, name(world, pair)));
            }
        }
        now.extend(stay);
        now.sort_unstable_by_key(|(pair, _)| *pair);
        self.modes = now;
    }
}

/// What failed.
fn in_words(world: &World, failure: StepFailure, tolerance: f64) -> String {
    match failure {
        StepFailure::Residual(residual) => {
            format!("a solve ended with the residual {residual:.1e}, above the tolerance {tolerance:.0e}")
        }
        StepFailure::Overlap { bodies, depth } => {
            let [a, b] = bodies.map(|b| &world.bodies[b].name);
            format!("bodies `{a}` and `{b}` overlapped by {depth:.1e} m")
        }
        StepFailure::Joint { joint, opening } => {
            format!("joint `{}` was open or beyond its limit by {opening:.1e}", world.joints[joint].name)
        }
        StepFailure::Energy => "contacts would have given energy".into(),
        StepFailure::Bounds => "motors or friction of joints did not settle".into(),
    }
}

/// The pairs of bodies that touch, sorted.
pub fn modes(world: &World, stepper: &Stepper) -> Vec<([u32; 2], Mode)> {
    let fall = world.gravity.length() * stepper.options.dt;
    let (parting, slip) = ((REST * fall).max(SLOWEST), (STICKS * fall).max(SLOWEST));
    let state = stepper.state();
    let mut now: Vec<([u32; 2], Mode)> = vec![];
    for contact in stepper.contacts().iter().filter(|c| c.gap <= TOUCHING) {
        let u = relative_velocity(state, contact);
        let normal = u.dot(contact.normal);
        if normal > parting {
            continue;
        }
        let slides = (u - normal * contact.normal).length() > slip;
        let mode = if slides { Mode::Slide } else { Mode::Stick };
        // Contacts of a pair follow each other.
        match now.last_mut() {
            Some((pair, known)) if *pair == contact.bodies => {
                if slides {
                    *known = Mode::Slide;
                }
            }
            _ => now.push((contact.bodies, mode)),
        }
    }
    now.sort_unstable_by_key(|(pair, _)| *pair);
    now
}
