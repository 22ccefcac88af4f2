//! A run by time stepping: frames, forces at times, checkpoints, progress, Ctrl-C.

use std::collections::VecDeque;
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use delassus::simulation::ContactForce;
use delassus::stepping::{
    ContactEvents, OtherBodyMotion, StepControl, StepLength, StepRecord, StepReport, Stepper, no_time_left,
    run_until, time_slack,
};
use delassus::world::{BodyState, World, WorldState, energy};
use delassus_files::Problem;
use delassus_report::count;
use delassus_solve::analysis::ImpulseRange;
use delassus_solve::problem::InvalidProblem;
use indicatif::{ProgressBar, ProgressStyle};

use super::checkpoint;
use super::checkpoint::Checkpoint;
use super::interrupt::is_interrupted;
use super::options::Settings;
use super::output::Outputs;
use super::start::{Resumed, Start};
use super::totals::{AdaptiveTotals, Totals};

/// Bodies are at rest below this part of what gravity gives in a step.
const REST_SPEED_RATIO: f64 = 1e-3;
/// Contacts up to which another motion is searched for at the end of a run, in tens of solves.
const MAX_SEARCHED_CONTACTS: usize = 64;

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

/// Forces at a time that was asked for.
pub struct ForcesAt {
    /// Time of the state, s.
    pub t: f64,
    /// Whether there are no others at all, with this or another motion; `None` where it is not known.
    pub unique: Option<bool>,
    /// Whether there are no others with this motion.
    pub unique_for_this_motion: Option<bool>,
    /// Bodies that move otherwise in another motion, where one was found: their names, and their velocities a
    /// step after t.
    pub other_motion: Vec<(String, OtherBodyMotion)>,
    /// That step, s.
    pub dt: f64,
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
    let resumed = start.resumed.is_some();
    let stepper = match start.resumed {
        Some(Resumed { snapshot, dt }) => {
            // As it counted; the next step changes the length where another is asked.
            let mut options = settings.options;
            options.dt = dt;
            Stepper::resume(world, snapshot, options)
        }
        None => Stepper::new(world, start.state, settings.options),
    };
    let stepper = stepper.map_err(|e| e.to_string())?;
    let length = step_length(settings, &start.totals.adaptive, t_start);
    let contacts = if resumed {
        ContactEvents::with_modes(start.totals.modes.clone())
    } else {
        ContactEvents::new(&stepper)
    };
    let mut recorder = Recorder {
        world,
        settings,
        outputs,
        totals: start.totals,
        asked: settings.forces_at.iter().copied().filter(|t| !resumed || *t > t_start).collect(),
        forces: vec![],
        notes: start.notes,
        // The row of a state that the run before wrote although it was no frame was removed.
        recorded: !resumed,
        progress: Progress::new(t_start, settings.t_end),
        began,
        saved: Instant::now(),
        lost: false,
        dumped_json: false,
    };
    let mut run = Moving { stepper, length, contacts };
    let ending = run.go(&mut recorder, resumed).unwrap_or_else(Ending::Failed);
    recorder.progress.finish();
    let finished = recorder.outputs.finish(&recorder.totals.events).and_then(|()| match recorder.lost {
        true => Ok(()),
        false => recorder.save(&run.stepper, &run.contacts),
    });
    let ending = match finished {
        Err(reason) if !matches!(ending, Ending::Failed(_)) => Ending::Failed(reason),
        _ => ending,
    };
    let state = run.stepper.state().clone();
    let energy_end = energy(world, &state);
    recorder.notes.extend(recorder.totals.energy.notes(recorder.totals.energy_start, energy_end));
    if recorder.totals.non_unique_motion_steps == 0 {
        recorder.notes.extend(another_motion_at_rest(&run.stepper));
    }
    Ok(Run {
        ending,
        energy_end,
        contacts: run.stepper.contact_forces().filter(|(_, normal, _)| *normal > 0.0).count(),
        state,
        totals: recorder.totals,
        t_start,
        mobility: start.mobility,
        error: settings.control.map(|control| control.tolerance),
        forces: recorder.forces,
        notes: recorder.notes,
        wall_seconds: began.elapsed().as_secs_f64(),
    })
}

/// How long steps are. Adaptive ones go on from a checkpoint; where the steps before it were not adaptive, or
/// of other lengths, time is counted anew.
fn step_length(settings: &Settings, before: &AdaptiveTotals, t_start: f64) -> StepLength {
    let Some(control) = settings.control else { return StepLength::Fixed(settings.options.dt) };
    let level = before.level.min(control.halvings);
    let resumed = StepControl { level, start: before.start, ticks: before.ticks, ..control };
    if before.longest > 0.0 && resumed.time() == t_start {
        StepLength::Adaptive(resumed)
    } else {
        StepLength::Adaptive(StepControl { start: t_start, ..control })
    }
}

/// What moves.
struct Moving {
    stepper: Stepper,
    length: StepLength,
    contacts: ContactEvents,
}

impl Moving {
    /// Moves to the end; the error is what made a step or a file fail.
    fn go(&mut self, recorder: &mut Recorder<'_>, resumed: bool) -> Result<Ending, String> {
        let settings = recorder.settings;
        if let Some(folder) = &settings.dump_problems {
            std::fs::create_dir_all(folder)
                .map_err(|e| format!("{}: cannot be made: {e}", folder.display()))?;
        }
        if resumed {
            recorder.recorded = recorder.is_frame(&self.length);
        } else {
            recorder.outputs.first_frame(recorder.world, &self.stepper)?;
        }
        recorder.forces_asked(&self.stepper)?;
        if !is_interrupted() {
            let flow =
                run_until(&mut self.stepper, settings.t_end, &mut self.length, &mut self.contacts, |step| {
                    match recorder.record(step) {
                        Ok(()) if is_interrupted() => ControlFlow::Break(Ok(())),
                        Ok(()) => ControlFlow::Continue(()),
                        Err(reason) => ControlFlow::Break(Err(reason)),
                    }
                });
            if let ControlFlow::Break(stopped) = flow.map_err(|e| e.to_string())? {
                stopped?;
            }
        }
        if !recorder.recorded {
            recorder.outputs.frame(recorder.world, &self.stepper)?;
        }
        let done = no_time_left(self.stepper.state().t, settings.t_end, &self.length);
        Ok(if done { Ending::Done } else { Ending::Interrupted })
    }
}

/// What is kept of a run while it goes on.
struct Recorder<'a> {
    world: &'a World,
    settings: &'a Settings,
    outputs: &'a mut Outputs,
    totals: Totals,
    /// Times at which forces are still asked for, ascending.
    asked: VecDeque<f64>,
    forces: Vec<ForcesAt>,
    notes: Vec<String>,
    /// Whether the state now is in the outputs.
    recorded: bool,
    progress: Progress,
    began: Instant,
    saved: Instant,
    /// Whether a frame could not be written: a checkpoint would stand after it.
    lost: bool,
    dumped_json: bool,
}

impl Recorder<'_> {
    /// Records a step that was made.
    fn record(&mut self, step: &StepRecord<'_>) -> Result<(), String> {
        self.progress.show(step.stepper, step.report, self.began);
        self.dump(step.stepper)?;
        self.totals.add(self.world, step);
        self.outputs.step(step.report);
        self.recorded = self.is_frame(step.length);
        if self.recorded {
            self.outputs.frame(self.world, step.stepper).inspect_err(|_| self.lost = true)?;
        }
        if self.settings.checkpoint_every.is_some_and(|s| self.saved.elapsed().as_secs_f64() >= s) {
            // First the tables: a checkpoint never stands after their last row.
            self.outputs.save().inspect_err(|_| self.lost = true)?;
            self.save(step.stepper, step.contacts)?;
            self.saved = Instant::now();
        }
        self.forces_asked(step.stepper)
    }

    /// Whether the state now is recorded.
    fn is_frame(&self, length: &StepLength) -> bool {
        self.settings.is_frame(self.totals.steps, length.control().map_or(0, |control| control.ticks))
    }

    /// Forces at all times asked for that have come.
    fn forces_asked(&mut self, stepper: &Stepper) -> Result<(), String> {
        let t = stepper.state().t;
        let slack = time_slack(self.settings.options.dt);
        while self.asked.front().is_some_and(|at| *at <= t + slack) {
            self.asked.pop_front();
            let forces = forces_now(self.world, stepper).map_err(|e| format!("forces at {t} s: {e}"))?;
            self.forces.push(forces);
        }
        Ok(())
    }

    /// Saves where the run stands, where that was asked.
    fn save(&self, stepper: &Stepper, contacts: &ContactEvents) -> Result<(), String> {
        let Some(path) = &self.settings.checkpoint else { return Ok(()) };
        let modes = contacts.modes().to_vec();
        let checkpoint = Checkpoint {
            snapshot: stepper.snapshot(),
            dt: stepper.options().dt,
            totals: Totals { modes, ..self.totals.clone() },
            scene: self.settings.scene.clone(),
            manner: self.settings.manner(),
        };
        checkpoint::write(path, self.world, checkpoint)
    }

    /// Writes the contact problem of the step.
    fn dump(&mut self, stepper: &Stepper) -> Result<(), String> {
        let Some(folder) = &self.settings.dump_problems else { return Ok(()) };
        let (problem, _) = stepper.last_problem();
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
}

/// What is to say where a run ends at rest though its bodies could begin to move as well: steps count that
/// only where a solve comes upon the other motion. Once a run, for few contacts.
fn another_motion_at_rest(stepper: &Stepper) -> Option<String> {
    let slow = REST_SPEED_RATIO * stepper.world().gravity.length() * stepper.options().dt;
    let at_rest = |s: &BodyState| s.velocity.abs().max(s.angular_velocity.abs()).max_element() <= slow;
    let contacts = stepper.contacts().len();
    if contacts == 0 || contacts > MAX_SEARCHED_CONTACTS || !stepper.state().bodies.iter().all(at_rest) {
        return None;
    }
    let others = stepper.another_motion().ok().flatten()?;
    let name = |motion: &OtherBodyMotion| format!("`{}`", stepper.world().bodies[motion.body].name);
    let names: Vec<String> = others.iter().map(name).collect();
    let whose = if names.is_empty() { String::new() } else { format!(" of {}", names.join(", ")) };
    Some(format!(
        "bodies rest at the end, and another motion{whose} obeys the laws as well; --forces-at prints it"
    ))
}

/// Forces of contacts and joints at the present state.
fn forces_now(world: &World, stepper: &Stepper) -> Result<ForcesAt, InvalidProblem> {
    let forces = stepper.forces_and_another_motion()?;
    let unique_for_this_motion = match &forces.ranges {
        ImpulseRange::Unique => Some(true),
        ImpulseRange::Ranges { .. } => Some(false),
        ImpulseRange::Unknown => None,
    };
    let all = ContactForce::now(stepper, &forces).into_iter().zip(&forces.place);
    let joints = world.joints.iter().zip(stepper.joint_forces());
    Ok(ForcesAt {
        t: stepper.state().t,
        unique: forces.unique,
        unique_for_this_motion,
        other_motion: (forces.other_bodies.iter())
            .map(|motion| (world.bodies[motion.body].name.clone(), *motion))
            .collect(),
        dt: stepper.options().dt,
        contacts: all.filter_map(|(contact, place)| place.is_some().then_some(contact)).collect(),
        joints: joints.map(|(joint, f)| (joint.name.clone(), f.map(|x| x.to_array()))).collect(),
    })
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
        let share = (t - self.t_start) / (self.t_end - self.t_start);
        // The message first: the bar is drawn at once.
        self.bar.set_message(format!(
            "{t:.3}/{} s, {} left, {factor:.2}× real time, {}, residual {:.0e}",
            self.t_end,
            duration(began.elapsed().as_secs_f64() * (1.0 - share) / share),
            count(stepper.contacts().len(), "contact"),
            report.residual
        ));
        self.bar.set_position((1000.0 * share) as u64);
    }

    fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// A time to wait, in words.
fn duration(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() => "unknown".to_string(),
        s if s < 100.0 => format!("{s:.0} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}
