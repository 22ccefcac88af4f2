//! The loop of a run: steps, their length, frames, checkpoints, Ctrl-C.

use std::io::IsTerminal;
use std::path::Path;
use std::time::Instant;

use delassus::stepping::{Forces, StepControl, StepReport, Stepper, controlled_step};
use delassus::world::{World, WorldState, energy};
use delassus_files::Problem;
use delassus_solve::analysis::ImpulseRange;
use delassus_solve::problem::InvalidProblem;
use indicatif::{ProgressBar, ProgressStyle};

use super::checkpoint;
use super::checkpoint::Checkpoint;
use super::interrupt::is_interrupted;
use super::options::Settings;
use super::output::Outputs;
use super::start::Start;
use super::totals::{AdaptiveTotals, Before, Totals, modes};
use crate::words::count;

/// A rest of time shorter than this part of a step is none.
const NO_TIME: f64 = 1e-9;

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// At the end.
    Done,
    /// By Ctrl-C.
    Interrupted,
    /// By a step that cannot be made, or a file that cannot be written.
    Failed(String),
}

/// A contact and its forces at a moment.
pub struct ContactForce {
    /// Its name.
    pub name: String,
    /// Where, world axes.
    pub point: [f64; 3],
    /// Normal force, N.
    pub normal: f64,
    /// Friction on the second body, world axes, N.
    pub friction: [f64; 3],
    /// Least and largest normal force for the same motion; `None` where it is not known.
    pub range: Option<[f64; 2]>,
}

/// Forces at a time that was asked for.
pub struct ForcesAt {
    /// Time of the state, s.
    pub t: f64,
    /// Whether there are no others; `None` where it is not known.
    pub unique: Option<bool>,
    /// Contacts that are closed.
    pub contacts: Vec<ContactForce>,
    /// Joints with mean force and moment of the last step on the second body, world axes.
    pub joints: Vec<(String, [[f64; 3]; 2])>,
}

/// A run that has ended.
pub struct Run {
    /// How it ended.
    pub ending: Ending,
    /// The last state.
    pub state: WorldState,
    /// What was found.
    pub totals: Totals,
    /// Where it started.
    pub t_start: f64,
    /// Energy at the end.
    pub energy_end: f64,
    /// Contacts that are closed at the end.
    pub contacts: usize,
    /// Degrees of freedom and redundant rows at the start.
    pub mobility: delassus::world::Mobility,
    /// Error that steps were allowed, where they were adaptive, m.
    pub error: Option<f64>,
    /// Forces at times that were asked for.
    pub forces: Vec<ForcesAt>,
    /// What a user should know.
    pub notes: Vec<String>,
    /// Time it took, s.
    pub wall_seconds: f64,
}

/// Moves a world to the end.
///
/// # Errors
///
/// A world that makes no sense, in words.
pub fn simulate(
    world: &World,
    start: Start,
    settings: &Settings,
    outputs: &mut Outputs,
) -> Result<Run, String> {
    let began = Instant::now();
    let t_start = start.state.t;
    let resumed = start.snapshot.is_some();
    let stepper = match start.snapshot {
        Some((snapshot, dt)) => {
            // As it counted; the next step changes the length where another is asked.
            let mut options = settings.options;
            options.dt = dt;
            Stepper::resume(world, snapshot, options)
        }
        None => Stepper::new(world, start.state, settings.options),
    };
    let stepper = stepper.map_err(|e| e.to_string())?;
    let AdaptiveTotals { level, start: from, ticks, longest, .. } = start.totals.adaptive;
    // Where the steps before were not adaptive, or of other lengths, time is counted anew.
    let goes_on = |control: &StepControl| {
        longest > 0.0 && StepControl { start: from, ticks, ..*control }.time() == t_start
    };
    let control = settings.control.map(|control| match goes_on(&control) {
        true => StepControl { level: level.min(control.halvings), start: from, ticks, ..control },
        false => StepControl { start: t_start, ..control },
    });
    let mut runner = Runner {
        world,
        settings,
        stepper,
        totals: start.totals,
        control,
        forces: vec![],
        notes: start.notes,
        began,
        saved: Instant::now(),
        dumped_json: false,
    };
    if !resumed {
        runner.totals.modes = modes(world, &runner.stepper);
    }
    let ending = match runner.go(outputs, resumed) {
        Ok(ending) => ending,
        Err(reason) => Ending::Failed(reason),
    };
    let mut ending = ending;
    if let Err(reason) = outputs.finish().and_then(|()| runner.save())
        && ending == Ending::Done
    {
        ending = Ending::Failed(reason);
    }
    let state = runner.stepper.state().clone();
    Ok(Run {
        ending,
        energy_end: energy(world, &state),
        contacts: runner.stepper.contact_forces().filter(|(_, normal, _)| *normal > 0.0).count(),
        state,
        totals: runner.totals,
        t_start,
        mobility: start.mobility,
        error: settings.control.map(|control| control.tolerance),
        forces: runner.forces,
        notes: runner.notes,
        wall_seconds: began.elapsed().as_secs_f64(),
    })
}

struct Runner<'a> {
    world: &'a World,
    settings: &'a Settings,
    stepper: Stepper,
    totals: Totals,
    /// The lengths of steps, where they follow from their errors.
    control: Option<StepControl>,
    forces: Vec<ForcesAt>,
    notes: Vec<String>,
    began: Instant,
    saved: Instant,
    dumped_json: bool,
}

impl Runner<'_> {
    fn go(&mut self, outputs: &mut Outputs, resumed: bool) -> Result<Ending, String> {
        if let Some(folder) = &self.settings.dump_problems {
            std::fs::create_dir_all(folder)
                .map_err(|e| format!("{}: cannot be made: {e}", folder.display()))?;
        }
        let t_start = self.stepper.state().t;
        let progress = Progress::new(t_start, self.settings.t_end);
        // A state in between that the part before wrote as its last one has been taken off.
        let (mut before, mut recorded) = (Before::default(), !resumed || self.is_frame());
        if !resumed {
            outputs.first_frame(self.world, &self.stepper)?;
        }
        let mut asked =
            self.settings.forces_at.iter().copied().filter(|t| !resumed || *t > t_start).peekable();
        loop {
            let (t, dt) = (self.stepper.state().t, self.settings.options.dt);
            while asked.next_if(|at| *at <= t + NO_TIME * dt).is_some() {
                let forces = self.forces_now().map_err(|e| format!("forces at {t} s: {e}"))?;
                self.forces.push(forces);
            }
            let left = self.settings.t_end - t;
            if left <= NO_TIME * dt || is_interrupted() {
                if !recorded {
                    outputs.frame(self.world, &self.stepper)?;
                }
                let done = left <= NO_TIME * dt;
                return Ok(if done { Ending::Done } else { Ending::Interrupted });
            }
            self.set_length(left);
            before.look(&self.stepper);
            let report = self.step().map_err(|e| format!("the step at {t} s cannot be made: {e}"))?;
            if !finite(self.stepper.state()) {
                return Err(format!("the step at {t} s gave numbers that are not finite"));
            }
            progress.show(&self.stepper, &report, self.began);
            self.dump()?;
            self.totals.add(self.world, &self.stepper, &before, report);
            recorded = self.is_frame();
            if recorded {
                outputs.frame(self.world, &self.stepper)?;
            }
            if self.settings.checkpoint_every.is_some_and(|s| self.saved.elapsed().as_secs_f64() >= s) {
                self.save()?;
                self.saved = Instant::now();
            }
        }
    }

    /// Sets the length of the next step: as asked, or as errors say, and no more than what is left.
    fn set_length(&mut self, left: f64) {
        let wanted = match &mut self.control {
            Some(control) => {
                control.shorten(left);
                control.length()
            }
            None => self.settings.options.dt,
        };
        let length = if left < wanted * (1.0 - NO_TIME) { left } else { wanted };
        if length != self.stepper.options.dt {
            self.stepper.set_length(length);
        }
    }

    fn step(&mut self) -> Result<StepReport, String> {
        match &mut self.control {
            // What is left is shorter than the shortest.
            Some(control) if self.stepper.options.dt < control.length() => {
                self.stepper.step().map_err(|e| e.to_string())
            }
            Some(control) => {
                let step = controlled_step(&mut self.stepper, control).map_err(|e| e.to_string())?;
                self.totals.adaptive.add(&step, control);
                Ok(step.report)
            }
            None => self.stepper.step().map_err(|e| e.to_string()),
        }
    }

    /// Whether the state now is recorded.
    fn is_frame(&self) -> bool {
        self.settings.is_frame(self.totals.steps, self.control.map_or(0, |control| control.ticks))
    }

    /// Saves where the run stands, where that was asked.
    fn save(&self) -> Result<(), String> {
        let Some(path) = &self.settings.checkpoint else { return Ok(()) };
        let checkpoint = Checkpoint {
            snapshot: self.stepper.snapshot(),
            dt: self.stepper.options.dt,
            totals: self.totals.clone(),
            fingerprint: self.settings.fingerprint,
        };
        checkpoint::write(path, self.world, checkpoint)
    }

    /// Writes the contact problem of the step.
    fn dump(&mut self) -> Result<(), String> {
        let Some(folder) = &self.settings.dump_problems else { return Ok(()) };
        let (problem, _) = self.stepper.last_problem();
        if problem.laws.is_empty() {
            return Ok(());
        }
        let problem = Problem::Friction(problem.clone());
        let path = |extension: &str| folder.join(format!("step-{:07}.{extension}", self.totals.steps + 1));
        let write = |path: &Path| delassus_files::write(path, &problem).map_err(|e| e.to_string());
        match write(&path("hdf5")) {
            Ok(()) => Ok(()),
            // FCLib holds joints and contacts with friction only; the own format holds every law.
            Err(reason) => {
                write(&path("json"))?;
                if !self.dumped_json {
                    self.dumped_json = true;
                    self.notes.push(format!("{reason}; such problems were written as .json"));
                }
                Ok(())
            }
        }
    }

    fn forces_now(&self) -> Result<ForcesAt, InvalidProblem> {
        let Forces { contacts, ranges, place, .. } = self.stepper.forces()?;
        let unique = match &ranges {
            ImpulseRange::Unique => Some(true),
            ImpulseRange::Ranges { .. } => Some(false),
            ImpulseRange::Unknown => None,
        };
        let range = |at: usize, normal: f64| match &ranges {
            ImpulseRange::Unique => Some([normal, normal]),
            // A contact cannot pull, whatever rounding says.
            ImpulseRange::Ranges { normal, .. } => normal.get(at).map(|range| range.map(|x| x.max(0.0))),
            ImpulseRange::Unknown => None,
        };
        let all = self.stepper.contacts().iter().zip(contacts).zip(place);
        let closed = all.filter_map(|((contact, force), place)| Some((contact, force, place?)));
        let joints = self.world.joints.iter().zip(self.stepper.joint_forces());
        Ok(ForcesAt {
            t: self.stepper.state().t,
            unique,
            contacts: closed
                .map(|(contact, (normal, friction), at)| ContactForce {
                    name: self.stepper.contact_name(contact),
                    point: contact.point.to_array(),
                    normal,
                    friction: friction.to_array(),
                    range: range(at, normal),
                })
                .collect(),
            joints: joints.map(|(joint, f)| (joint.name.clone(), f.map(|x| x.to_array()))).collect(),
        })
    }
}

fn finite(state: &WorldState) -> bool {
    let body = |s: &delassus::world::BodyState| {
        let (pose, v, w) = (&s.pose, s.velocity, s.angular_velocity);
        pose.position.is_finite() && pose.rotation.is_finite() && v.is_finite() && w.is_finite()
    };
    state.bodies.iter().all(body)
}

/// A bar on stderr where that is a terminal: simulated time, real-time factor, contacts, residual.
struct Progress {
    bar: ProgressBar,
    t_start: f64,
    t_end: f64,
}

impl Progress {
    fn new(t_start: f64, t_end: f64) -> Progress {
        let bar =
            if std::io::stderr().is_terminal() { ProgressBar::new(1000) } else { ProgressBar::hidden() };
        // A message that does not fit is cut, so that the bar stays on one line.
        if let Ok(style) = ProgressStyle::with_template("{bar:10} {wide_msg}") {
            bar.set_style(style);
        }
        Progress { bar, t_start, t_end }
    }

    fn show(&self, stepper: &Stepper, report: &StepReport, began: Instant) {
        if self.bar.is_hidden() {
            return;
        }
        let t = stepper.state().t;
        let factor = (t - self.t_start) / began.elapsed().as_secs_f64();
        let part = (t - self.t_start) / (self.t_end - self.t_start);
        // The message first: the bar is drawn at once.
        self.bar.set_message(format!(
            "{t:.3}/{} s, {} left, {factor:.2}× real time, {}, residual {:.0e}",
            self.t_end,
            duration(began.elapsed().as_secs_f64() * (1.0 - part) / part),
            count(stepper.contacts().len(), "contact"),
            report.residual
        ));
        self.bar.set_position((1000.0 * part) as u64);
    }
}

/// A time to wait, as people say it.
fn duration(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() => "unknown".to_string(),
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
