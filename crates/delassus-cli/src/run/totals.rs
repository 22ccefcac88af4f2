//! What all steps of a run add up to: its worst numbers, and its events.

use std::collections::BTreeMap;

use delassus::events::EventKind;
use delassus::stepping::{ContactEvent, ContactEventKind, EnergyAccount, PairMode, StepEstimate, StepRecord};
use delassus::stepping::{StepControl, StepLength};
use delassus::world::{World, kinetic_energy};
use delassus_report::failure_text;
use delassus_solve::problem::Status;
use serde::{Deserialize, Serialize};

/// Events that are listed, of those that every contact makes and of those that few make.
const LISTED: usize = 1000;
const LISTED_RARE: usize = 10_000;
/// Energy that was created, and energy that is left over, deserves a note from these parts of the largest
/// kinetic energy on.
const CREATED_RATIO: f64 = 1e-6;
const LEFT_OVER_RATIO: f64 = 1e-3;
/// What is left over of energies that stay is rounding below this part of them.
const ROUNDING_RATIO: f64 = 1e-9;

/// The kinds of events that time steps have, as they are counted.
const COUNTED: [EventKind; 6] = [
    EventKind::Impact,
    EventKind::Open,
    EventKind::Slide,
    EventKind::Stick,
    EventKind::Accumulation,
    EventKind::Jam,
];

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When, s.
    pub t: f64,
    /// What.
    pub kind: EventKind,
    /// The contact, by the names of its bodies; of a limit or a rope, the joint.
    pub contact: String,
    /// Where, for impacts and jams.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub point: Option<[f64; 3]>,
    /// Speed of approach of an impact, m/s, or rad/s at the limit of a rotation.
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

impl From<&ContactEvent> for Event {
    fn from(event: &ContactEvent) -> Event {
        let kind = match event.kind {
            ContactEventKind::Impact { .. } => EventKind::Impact,
            ContactEventKind::Open => EventKind::Open,
            ContactEventKind::Slide => EventKind::Slide,
            ContactEventKind::Stick => EventKind::Stick,
            ContactEventKind::ZenoAccumulation => EventKind::Accumulation,
            ContactEventKind::Jam { .. } => EventKind::Jam,
        };
        let (t, contact) = (event.t, event.contact.clone());
        let plain =
            Event { t, kind, contact, point: None, speed: None, impulse: None, mu: None, mu_jam: None };
        match event.kind {
            ContactEventKind::Impact { point, speed } => {
                Event { point: Some(point.to_array()), speed: Some(speed), ..plain }
            }
            ContactEventKind::Jam { point, impulse, mu, mu_jam } => Event {
                point: Some(point.to_array()),
                impulse: Some(impulse),
                mu: Some(mu),
                // JSON has no infinity.
                mu_jam: Some(mu_jam).filter(|x| x.is_finite()),
                ..plain
            },
            _ => plain,
        }
    }
}

/// What all steps of a run add up to. Goes on over checkpoints.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Totals {
    /// Steps made.
    pub steps: u64,
    /// Energy at the start, J.
    pub energy_start: f64,
    /// Where energy went.
    #[serde(default)]
    pub energy: EnergyTotals,
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
    /// Steps at whose end another motion obeys the laws as well.
    #[serde(default)]
    pub non_unique_motion_steps: u64,
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
    /// How many there were of each kind in [`COUNTED`], also of those that are not listed.
    pub counts: [u64; COUNTED.len()],
    /// Pairs of bodies that touch, where the run was saved.
    pub modes: Vec<([u32; 2], PairMode)>,
}

/// Where the energy of a run went, J.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct EnergyTotals {
    /// Given by motors, drives and forces of joints.
    pub supplied: f64,
    /// Taken by friction, impacts and dampers.
    pub friction: f64,
    /// See `friction`.
    pub impacts: f64,
    /// See `friction`.
    pub dampers: f64,
    /// Put in by contacts and laws of impact: the sum, and per contact.
    pub created: f64,
    /// See `created`.
    pub created_by: BTreeMap<String, f64>,
    /// Largest kinetic energy at the end of a step.
    pub max_kinetic: f64,
    /// Work of joints, which have none in exact motion: the sum, and the least and the largest that it was.
    #[serde(default)]
    pub joints: f64,
    /// See `joints`.
    #[serde(default)]
    pub joints_range: [f64; 2],
}

impl EnergyTotals {
    fn add(&mut self, world: &World, step: &StepRecord<'_>) {
        // A number that a checkpoint can hold.
        let add = |sum: &mut f64, x: f64| *sum = (*sum + x).clamp(f64::MIN, f64::MAX);
        let EnergyAccount { supplied, friction, impacts, dampers, joints } = step.report.energy;
        add(&mut self.supplied, supplied);
        add(&mut self.friction, friction);
        add(&mut self.impacts, impacts);
        add(&mut self.dampers, dampers);
        add(&mut self.joints, joints);
        let [least, largest] = self.joints_range;
        self.joints_range = [least.min(self.joints), largest.max(self.joints)];
        for gain in &step.report.energy_gains {
            add(&mut self.created, gain.energy);
            add(self.created_by.entry(gain.contact.clone()).or_default(), gain.energy);
        }
        let kinetic = kinetic_energy(world, step.stepper.state());
        self.max_kinetic = self.max_kinetic.max(kinetic).min(f64::MAX);
    }

    /// What is left over of the energy between two moments: the error of the scheme.
    pub fn left_over(&self, start: f64, end: f64) -> f64 {
        end - start - self.supplied + self.friction + self.impacts + self.dampers - self.created
    }

    /// What a user should know of it.
    pub fn notes(&self, start: f64, end: f64) -> Vec<String> {
        let mut notes = vec![];
        if self.created > CREATED_RATIO * self.max_kinetic + ROUNDING_RATIO * start.abs().max(end.abs()) {
            let by = self.created_by.iter().max_by(|a, b| a.1.total_cmp(b.1));
            let by = by.map_or(String::new(), |(name, _)| format!(", most of it at {name}"));
            notes.push(format!("laws of impact and contacts created {:.3e} J of energy{by}", self.created));
        }
        let left = self.left_over(start, end);
        let rounding = ROUNDING_RATIO * start.abs().max(end.abs());
        let bound = LEFT_OVER_RATIO * self.max_kinetic + rounding;
        // What joints took at one time and gave at another does not show at the end.
        let [least, largest] = self.joints_range;
        let between = if -least > largest { least } else { largest };
        let word = |x: f64| if x < 0.0 { "lost" } else { "gained" };
        if left.abs() > bound {
            let (size, word) = (left.abs(), word(left));
            notes.push(format!(
                "{size:.3e} J of energy were {word} by the error of the steps, which smaller ones have less of"
            ));
        } else if between.abs() > bound {
            let (size, word) = (between.abs(), word(between));
            notes.push(format!(
                "in between, up to {size:.3e} J of energy were {word} by the error of the steps, which smaller ones \
                 have less of"
            ));
        }
        notes
    }
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
    /// Adds a step, and where its control stands.
    fn add(&mut self, step: &StepEstimate, control: &StepControl) {
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

impl Totals {
    fn push(&mut self, event: Event) {
        let kind = event.kind;
        let counts = self.counts.iter_mut().zip(COUNTED);
        counts.filter(|(_, counted)| *counted == kind).for_each(|(count, _)| *count += 1);
        let rare = matches!(kind, EventKind::Jam | EventKind::Accumulation | EventKind::Impact);
        if self.events.len() < if rare { LISTED_RARE } else { LISTED } {
            self.events.push(event);
        }
    }

    /// Number of events that are not listed.
    pub fn left_out(&self) -> u64 {
        self.counts.iter().sum::<u64>() - self.events.len() as u64
    }

    /// Adds a step that was made.
    pub fn add(&mut self, world: &World, step: &StepRecord<'_>) {
        if let (Some(estimate), StepLength::Adaptive(control)) = (&step.estimate, step.length) {
            self.adaptive.add(estimate, control);
        }
        let report = step.report;
        // A number that a checkpoint can hold.
        let finite = |x: f64| if x.is_nan() { f64::MAX } else { x.min(f64::MAX) };
        self.steps += 1;
        self.max_penetration = self.max_penetration.max(finite(report.penetration));
        self.max_residual = self.max_residual.max(finite(report.residual));
        self.max_joint_error = self.max_joint_error.max(finite(report.joint_error));
        if report.status != Status::Solved {
            self.unsolved_steps += 1;
            if self.first_unsolved.is_none() {
                let tolerance = step.stepper.options().tolerance;
                self.first_unsolved = Some(step.begin);
                self.first_failure = report.failure.map(|f| failure_text(world, f, tolerance));
            }
        }
        self.non_unique_steps += u64::from(report.non_unique);
        self.non_unique_motion_steps += u64::from(report.non_unique_motion);
        self.solves += report.solves as u64;
        self.iterations += report.iterations as u64;
        let carrying = step.stepper.contact_forces().filter(|(_, normal, _)| *normal > 0.0).count();
        self.max_contacts = self.max_contacts.max(carrying);
        self.energy.add(world, step);
        step.events.iter().for_each(|event| self.push(event.into()));
    }
}
