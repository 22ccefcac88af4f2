//! Event-driven integration: smooth equations between events, a transition at each of them.
//!
//! ```text
//! between events   M q̈ + F = C x ,  R q̈ + γ = 0                        modes fixed, order 16
//! at an event      v⁺ from v⁻ by a law of impact, modes from all solutions of the acceleration problem
//! ```
//!
//! q ∈ ℝⁿ are positions, M the mass matrix, F the given forces, x the unknown forces along C, R the rows of
//! the active constraints with bias γ, v⁻ and v⁺ velocities before and after (002 §3 to 5; 000 §2; 003 §5).
//! Contacts are open, slide or stick. A mode lasts while its event functions stay positive: its gap, its
//! normal force, its reserve of friction or its slip. The first of them that does not makes an event, located
//! to 1e-12 s. Infinitely many impacts in finite time (a Zeno accumulation) end in their limit. Where no
//! acceleration satisfies the laws the contact jams, an impact without collision; where several do, a policy
//! chooses.
//!
//! A run (`integrate`) holds the motion (`motion`: state, modes, `guards`, `gaps`), the step history
//! (`step_history`), the Zeno detector (`zeno`) and the `recorder`; an event is applied by `transition`.
//!
//! ```
//! use delassus::events::{EventKind, EventOptions, run_events};
//!
//! let text = r#"
//! [system]
//! coordinates = ["y"]
//! [energy]
//! kinetic = "y'^2/2"
//! potential = "9.81*y"
//! [[contact]]
//! name = "floor"
//! gap = "y"
//! restitution = 0.5
//! [state.position]
//! y = 1.0
//! "#;
//! let file = delassus_scene::read_system(text, &[])?;
//! let run = run_events(&file.system, &file.state, &EventOptions { t_end: 2.0, ..Default::default() })?;
//! let last = run.events.iter().find(|e| e.kind == EventKind::Accumulation).unwrap();
//! let exact = (2.0 / 9.81_f64).sqrt() * 3.0;
//! assert!((last.t - exact).abs() < 1e-9);
//! assert!(run.state.q[0].abs() < 1e-15);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod equations;
mod external_impulse;
#[cfg(test)]
mod fixtures;
mod gaps;
mod gauss_collocation;
mod guards;
mod impact;
mod integrate;
mod linear_solve;
mod mode_change;
mod mode_selection;
mod motion;
mod projection;
mod recorder;
mod singular;
mod spatial_slip;
mod start;
mod step_history;
mod transition;
mod world_system;
mod zeno;
mod zeno_jump;

pub use world_system::{MOST_BODIES, WorldSystem, WorldSystemError, world_system};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use delassus_solve::impact::{ImpactError, ImpactLaw, ImpactStatus, Violation};
use delassus_solve::problem::InvalidProblem;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::lagrangian::{FormulaName, Impulse, KinematicsError, State, System};
pub use equations::{ContactMode, ModeError};
use integrate::Run;
use start::check;

/// What to do where several accelerations satisfy the laws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Indeterminate {
    /// Follow the one with the least contact forces (Painlevé's principle).
    #[default]
    Detach,
    /// End there.
    Stop,
}

/// Options of [`run_events`].
#[derive(Clone, Debug)]
pub struct EventOptions {
    /// End, s; not before the start (default 1).
    pub t_end: f64,
    /// Local error of positions and velocities, relative to the largest of each or to 1 (default 1e-12; from
    /// 1e-14 to 1e-3).
    pub tolerance: f64,
    /// Law of impact (default Moreau). A matrix of restitution has a row and a column for each contact of the
    /// system.
    pub law: ImpactLaw,
    /// Whether the law of impact is applied to contacts that touch and approach at the start; else that is an
    /// error (default false).
    pub impact_at_start: bool,
    /// Where several accelerations satisfy the laws (default detach).
    pub indeterminate: Indeterminate,
    /// Which answer to follow at the first such states, counted from 0 by growing contact forces; the number
    /// of answers stands for an impact without collision, where there is one. Then by `indeterminate`
    /// (default none).
    pub choices: Vec<usize>,
    /// Most events; the run ends before the next one (default one million).
    pub max_events: usize,
    /// An accumulation of impacts that is no further away than this is jumped to, s (default 1e-3).
    pub accumulation_window: f64,
    /// Longest step, s (default infinite).
    pub max_step: f64,
    /// Times at which forces or constraints may jump; steps end there (default none).
    pub breakpoints: Vec<f64>,
    /// Times at which the motion is recorded (default none).
    pub sample_times: Vec<f64>,
    /// Whether the motion just before and just after each event is recorded too (default false).
    pub sample_events: bool,
    /// Set from another thread, it ends the run after the present step (default none).
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl EventOptions {
    /// Whether the run was asked to end.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|interrupt| interrupt.load(Ordering::Relaxed))
    }
}

impl Default for EventOptions {
    fn default() -> Self {
        EventOptions {
            t_end: 1.0,
            tolerance: 1e-12,
            law: ImpactLaw::Moreau,
            impact_at_start: false,
            indeterminate: Indeterminate::Detach,
            choices: vec![],
            max_events: 1_000_000,
            accumulation_window: 1e-3,
            max_step: f64::INFINITY,
            breakpoints: vec![],
            sample_times: vec![],
            sample_events: false,
            interrupt: None,
        }
    }
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    /// A contact closed at a speed, and velocities jumped.
    Impact,
    /// A contact closed without speed, and stays.
    Close,
    /// A gap touched zero and opened again.
    Graze,
    /// A contact opened.
    Open,
    /// A contact or joint began to slide, or its slip reversed.
    Slide,
    /// A contact or joint began to stick.
    Stick,
    /// Infinitely many impacts came to their end.
    Accumulation,
    /// No acceleration satisfied the laws: an impact without collision.
    Jam,
    /// Several accelerations satisfied the laws, and one was chosen.
    Indeterminate,
    /// An external impulse acted.
    Impulse,
    /// Constraints lost rank at a singular position, where several motions branch; the one was followed that
    /// goes on smoothly.
    Branch,
}

impl EventKind {
    /// All kinds.
    pub const ALL: [EventKind; 11] = [
        EventKind::Impact,
        EventKind::Close,
        EventKind::Graze,
        EventKind::Open,
        EventKind::Slide,
        EventKind::Stick,
        EventKind::Accumulation,
        EventKind::Jam,
        EventKind::Indeterminate,
        EventKind::Impulse,
        EventKind::Branch,
    ];

    /// The name in files and on the terminal.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::Impact => "impact",
            EventKind::Close => "close",
            EventKind::Graze => "graze",
            EventKind::Open => "open",
            EventKind::Slide => "slide",
            EventKind::Stick => "stick",
            EventKind::Accumulation => "accumulation",
            EventKind::Jam => "jam",
            EventKind::Indeterminate => "indeterminate",
            EventKind::Impulse => "impulse",
            EventKind::Branch => "branch",
        }
    }
}

/// An event.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Time, s.
    pub t: f64,
    /// What happened.
    pub kind: EventKind,
    /// Name of the contact or joint, or of the coordinates of an external impulse; empty where the event is
    /// of no single one.
    pub contact: String,
    /// Percussion of an impact or a jam: normal, tangents. Of an external impulse: one number per coordinate.
    pub impulse: Vec<f64>,
    /// Percussion of every joint (001 eq. 72), by name: along its gradient, then friction. Contacts that
    /// collide together share one set, which the first of their events carries.
    pub joint_impulses: Vec<(String, Vec<f64>)>,
    /// Kinetic energy after less before; 0 where velocities do not jump. At the end of infinitely many
    /// impacts: kinetic and potential energy there, less that before the first impact that was jumped over.
    pub energy_change: f64,
    /// Conditions that the outcome of an impact does not satisfy; contacts and joints are numbered as in the
    /// system.
    pub violations: Vec<Violation>,
    /// How many accelerations satisfied the laws, at an indeterminate state; how many motions meet at a
    /// singular position, where that was counted; else 0.
    pub answers: usize,
    /// What every contact does by the answer that was chosen there; empty elsewhere, and where it jams.
    pub chosen: Vec<ContactMode>,
    /// The order of the derivative that decided whether the contact opens or stays closed, where force and
    /// acceleration vanish together (002 Theorem 5.4).
    pub order: Option<usize>,
    /// The velocity with which a singular position was passed, one number per coordinate: the branch that was
    /// followed. Empty elsewhere.
    pub branch: Vec<f64>,
}

/// The motion at an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Time, positions, velocities.
    pub state: State,
    /// Accelerations.
    pub acceleration: Vec<f64>,
    /// Normal and tangential forces of every contact.
    pub contact_forces: Vec<[f64; 3]>,
    /// Force and friction of every joint.
    pub joint_forces: Vec<[f64; 3]>,
    /// What every contact does.
    pub modes: Vec<ContactMode>,
    /// Kinetic and potential energy together, J.
    pub energy: f64,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Ending {
    /// At the end that was asked for.
    Done,
    /// Before it, from outside ([`EventOptions::interrupt`]).
    Interrupted,
    /// More events than allowed.
    TooManyEvents {
        /// How many.
        events: usize,
    },
    /// At a state where several accelerations satisfy the laws, and the policy is to stop.
    Indeterminate {
        /// How many.
        answers: usize,
    },
    /// At a state with no acceleration that satisfies the laws, and no impact that would lead out of it.
    NoSolution,
    /// At a state at which no solution was found, and none excluded.
    Undecided,
    /// At rest in a singular position, from which several motions branch.
    Branches {
        /// Name of the joint that has lost its hold.
        joint: String,
    },
    /// At an instant that events do not let pass: modes that each end at once.
    Stuck,
    /// The step became too short: forces grow beyond all bounds, or a formula jumps.
    StepTooShort,
    /// A gap stays within rounding of zero, and whether it closes is not decided.
    Unresolved {
        /// Name of the contact.
        contact: String,
    },
    /// A formula or the constraints fail there.
    Failed(ModeError),
    /// Numbers that make no impact.
    Impact(ImpactError),
    /// The law of impact has no outcome.
    NoOutcome {
        /// Names of the contacts that took part.
        contacts: Vec<String>,
        /// Their normal velocities before, m/s.
        velocities: Vec<f64>,
        /// Name of the law.
        law: &'static str,
        /// How it was solved.
        status: ImpactStatus,
    },
    /// The energetic law was asked of several contacts.
    OneContact {
        /// Their names.
        contacts: Vec<String>,
    },
}

/// A list of names as people read it.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut out: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    if names.len() > SHOWN {
        out.push(format!("and {} more", names.len() - SHOWN));
    }
    out.join(", ")
}

impl std::fmt::Display for Ending {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ending::Done => write!(f, "done"),
            Ending::Interrupted => write!(f, "interrupted"),
            Ending::TooManyEvents { events } => write!(f, "more than {events} events"),
            Ending::Indeterminate { answers } => {
                write!(f, "{answers} accelerations satisfy the laws, and the policy is to stop")
            }
            Ending::NoSolution => write!(f, "no acceleration satisfies the laws, and no contact jams"),
            Ending::Undecided => {
                write!(f, "no acceleration was found that satisfies the laws, and none was excluded")
            }
            Ending::Branches { joint } => {
                write!(
                    f,
                    "it rests in a singular position, where joint `{joint}` has lost its hold and several motions branch: \
                     which one begins is not determined; a velocity along one of them decides"
                )
            }
            Ending::Stuck => write!(f, "modes change at one instant without end"),
            Ending::StepTooShort => {
                write!(f, "the steps became too short: forces without bound, or a formula that jumps")
            }
            Ending::Unresolved { contact } => {
                write!(
                    f,
                    "whether contact `{contact}` closes is not decided: its gap stays within rounding of zero"
                )
            }
            Ending::Failed(error) => write!(f, "{error}"),
            Ending::Impact(error) => write!(f, "{error}"),
            Ending::NoOutcome { contacts, velocities, law, status } => {
                let what = match status {
                    ImpactStatus::NoSolution => "has no solution",
                    ImpactStatus::TooManyImpacts => "does not come to an end",
                    ImpactStatus::Solved | ImpactStatus::NotConverged => "was not solved",
                };
                let speeds: Vec<String> = velocities.iter().take(8).map(|u| format!("{u:.3e}")).collect();
                let contacts = listed(contacts);
                let speeds = speeds.join(", ");
                write!(
                    f,
                    "the impact of {contacts} under the law `{law}` {what} (normal velocities {speeds})"
                )
            }
            Ending::OneContact { contacts } => {
                let (found, contacts) = (contacts.len(), listed(contacts));
                write!(
                    f,
                    "the energetic law is defined for one contact, and {found} touch at the impact: {contacts}; the law \
                     `sequence` applies the same rule to one after the other"
                )
            }
        }
    }
}

/// A contact or joint that was not where it should be at the start, and was put there.
#[derive(Clone, Debug, PartialEq)]
pub struct StartCorrection {
    /// Name of the contact or joint.
    pub name: String,
    /// Its gap or value as given, m.
    pub value: f64,
    /// Its rate as given, where that was put right too, m/s; else 0.
    pub rate: f64,
}

/// A motion.
#[derive(Clone, Debug)]
pub struct Trajectory {
    /// What was put right at the start: joints that were open, contacts that rested near their surface or
    /// overlapped.
    pub corrections: Vec<StartCorrection>,
    /// What happened, in the order of time.
    pub events: Vec<Event>,
    /// The motion at the times that were asked for, as far as it came.
    pub samples: Vec<Sample>,
    /// The motion just before and just after the instants of events, in the order of time; where they were
    /// asked for.
    pub event_samples: Vec<Sample>,
    /// The last state.
    pub state: State,
    /// What every contact does there.
    pub modes: Vec<ContactMode>,
    /// How it ended.
    pub ending: Ending,
    /// Steps that were taken.
    pub steps: u64,
    /// Steps in which contact or joint forces were not unique.
    pub steps_with_non_unique_forces: u64,
    /// Evaluations of the equations of motion.
    pub evaluations: u64,
    /// Largest gap of a closed contact before it was put back, m.
    pub max_gap_error: f64,
    /// Largest error of a joint before it was put back.
    pub max_joint_error: f64,
    /// The most that a force was outside of its law at the points of the steps, as a part of all forces.
    pub max_force_error: f64,
    /// Kinetic and potential energy at the start and at the end, J.
    pub energy: [f64; 2],
    /// External impulses that do not act because their time lies after `t_end`.
    pub late_impulses: Vec<Impulse>,
    /// Formulas of the system that are closures, without intervals: that none of their events was missed is
    /// sampled, not proved.
    pub without_intervals: Vec<FormulaName>,
}

/// Why a run cannot begin.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum EventError {
    /// An option is out of its range.
    #[error("{option}: expected {expected}, found {found}")]
    Option {
        /// Which.
        option: &'static str,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: f64,
    },
    /// A formula has no meaning at the start.
    #[error(transparent)]
    Kinematics(#[from] KinematicsError),
    /// The equations of motion cannot be solved at the start.
    #[error(transparent)]
    Mode(#[from] ModeError),
    /// A gap is negative at the start.
    #[error(
        "contact `{contact}` penetrates at the start: its gap is {gap:e}, expected at least 0 (within {tolerance:e})"
    )]
    Penetration {
        /// Name of the contact.
        contact: String,
        /// Its number.
        index: usize,
        /// Its gap.
        gap: f64,
        /// What counts as zero.
        tolerance: f64,
    },
    /// A contact that touches approaches at the start.
    #[error(
        "contact `{contact}` touches and approaches at the start: its rate is {rate:e}, expected at least 0 (within \
         {tolerance:e}) unless an impact there is asked for"
    )]
    Approach {
        /// Name of the contact.
        contact: String,
        /// Its number.
        index: usize,
        /// Its rate.
        rate: f64,
        /// What counts as zero.
        tolerance: f64,
    },
    /// An external impulse comes before the start.
    #[error(
        "the impulse on `{coordinate}` at t = {time} s comes before the start, expected a time from {start} s on"
    )]
    EarlyImpulse {
        /// Name of its coordinate.
        coordinate: String,
        /// Its time.
        time: f64,
        /// The start.
        start: f64,
    },
    /// A joint is open at the start.
    #[error(
        "joint `{joint}` is open at the start: its value is {value:e}, expected 0 (within {tolerance:e})"
    )]
    JointOpen {
        /// Name of the joint.
        joint: String,
        /// Its number.
        index: usize,
        /// Its value.
        value: f64,
        /// What counts as zero.
        tolerance: f64,
    },
    /// Velocities at the start tear a joint.
    #[error(
        "the velocities at the start tear joint `{joint}`: its rate is {rate:e}, expected 0 (within {tolerance:e})"
    )]
    JointTorn {
        /// Name of the joint.
        joint: String,
        /// Its number.
        index: usize,
        /// Its rate.
        rate: f64,
        /// What counts as zero.
        tolerance: f64,
    },
    /// Numbers that make no contact problem.
    #[error(transparent)]
    Invalid(#[from] InvalidProblem),
}

/// Integrates a system from a state, event by event.
pub fn run_events(system: &System, start: &State, options: &EventOptions) -> Result<Trajectory, EventError> {
    let at = check(system, start, options)?;
    Ok(Run::new(system, start, options, &at)?.finish())
}
