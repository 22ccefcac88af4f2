//! What a run is asked to do: the command line, then the file, then defaults.

use std::path::PathBuf;

use delassus::stepping::{MOST_HALVINGS, Scheme, StepControl, StepImpactLaw, StepOptions};

use super::arguments::RunArgs;
use super::checkpoint::{Manner, SceneMark};
use crate::scene::WorldScene;

/// More steps than anyone waits for: most likely a mistyped number.
const MAX_STEPS: f64 = 1e9;
/// Frames that are recorded where nothing else is asked.
const DEFAULT_FRAMES: f64 = 1000.0;
/// End where neither command line nor file gives one, s.
const DEFAULT_T_END: f64 = 1.0;

/// Error of an adaptive step, m, and how often it may be halved, where nothing else is asked.
const DEFAULT_ERROR: f64 = 1e-6;
const DEFAULT_HALVINGS: u32 = 6;

/// A run, checked.
pub struct Settings {
    /// Options of the steps.
    pub options: StepOptions,
    /// End, s.
    pub t_end: f64,
    /// Steps between frames.
    pub every: u64,
    /// How the length of steps follows from their error, from the start on.
    pub control: Option<StepControl>,
    /// Times at which forces are reported, ascending.
    pub forces_at: Vec<f64>,
    /// Where the state is saved.
    pub checkpoint: Option<PathBuf>,
    /// How often, in seconds of computing.
    pub checkpoint_every: Option<f64>,
    /// Folder for contact problems.
    pub dump_problems: Option<PathBuf>,
    /// Differs from scene to scene; only where a run is saved or goes on.
    pub scene: SceneMark,
}

impl Settings {
    /// How its steps are made.
    pub fn manner(&self) -> Manner {
        Manner::new(&self.options, self.control.as_ref())
    }

    /// Whether the state after so many steps, or ticks of adaptive ones, is recorded: after every so many
    /// steps, or as much time as these would take.
    pub fn is_frame(&self, steps: u64, ticks: u64) -> bool {
        match self.control {
            Some(control) => {
                StepControl { ticks, ..control }.whole_steps().is_some_and(|n| n.is_multiple_of(self.every))
            }
            None => steps.is_multiple_of(self.every),
        }
    }

    /// The settings of a run; the error is a message ready for stderr.
    pub fn new(args: &RunArgs, scene: &WorldScene) -> Result<Settings, String> {
        let file = scene.file.simulation.step_options();
        let dt = args.dt.unwrap_or(file.dt);
        if !(dt.is_finite() && dt > 0.0) {
            return Err(format!("error: --dt: expected a time step above 0 s, found {dt}\n"));
        }
        let t_end = args.t_end.or(scene.file.simulation.t_end).unwrap_or(DEFAULT_T_END);
        if !(t_end.is_finite() && t_end >= 0.0) {
            return Err(format!("error: --t-end: expected an end not before 0 s, found {t_end}\n"));
        }
        let steps = t_end / dt;
        if steps > MAX_STEPS {
            return Err(format!(
                "error: {}: {t_end:?} s in steps of {dt:?} s are {steps:.3e} steps, expected at most {MAX_STEPS:.0e}\n",
                scene.name
            ));
        }
        let impact_law = args.impact_law.as_ref().and_then(StepImpactLaw::of).unwrap_or_default();
        if args.scheme == Scheme::HalfImplicit && impact_law != StepImpactLaw::Moreau {
            return Err(
                "error: --impact-law: the half-implicit scheme has Moreau's law in its one solve, expected \
                        `moreau`, or --scheme symmetric\n"
                    .into(),
            );
        }
        if let Some(x) = args.checkpoint_every
            && !(x.is_finite() && x > 0.0)
        {
            return Err(format!("error: --checkpoint-every: expected seconds above 0, found {x}\n"));
        }
        let control = adaptive(args, dt)?;
        let mut forces_at = args.forces_at.clone();
        if let Some(t) = forces_at.iter().find(|t| !(0.0..=t_end).contains(*t)) {
            return Err(format!("error: --forces-at: expected times from 0 to {t_end} s, found {t}\n"));
        }
        forces_at.sort_by(f64::total_cmp);
        Ok(Settings {
            options: StepOptions {
                dt,
                law: args.law.unwrap_or(file.law),
                impact_law,
                scheme: args.scheme,
                coordinates: args.coordinates.unwrap_or(file.coordinates),
                tolerance: args.tolerance.unwrap_or(file.tolerance),
                method: args.solver.unwrap_or(file.method),
                warm_start: !args.no_warm_start,
                minimum_norm: args.minimum_norm,
                ..file
            },
            t_end,
            every: args.every.unwrap_or((steps / DEFAULT_FRAMES).ceil().max(1.0) as u64),
            control,
            forces_at,
            checkpoint: args.checkpoint.clone(),
            checkpoint_every: args.checkpoint_every,
            dump_problems: args.dump_problems.clone(),
            scene: if args.checkpoint.is_some() || args.resume.is_some() {
                SceneMark::new(&scene.name, &scene.file.world, &scene.file.state)
            } else {
                SceneMark::default()
            },
        })
    }
}

/// How adaptive steps are asked for.
fn adaptive(args: &RunArgs, dt: f64) -> Result<Option<StepControl>, String> {
    if !args.adaptive {
        return Ok(None);
    }
    let tolerance = args.error.unwrap_or(DEFAULT_ERROR);
    if !(tolerance.is_finite() && tolerance > 0.0) {
        return Err(format!("error: --error: expected a length above 0 m, found {tolerance}\n"));
    }
    let halvings = match args.dt_min {
        None => DEFAULT_HALVINGS,
        Some(shortest) if shortest > 0.0 && shortest <= dt => (dt / shortest).log2().ceil() as u32,
        Some(other) => {
            return Err(format!(
                "error: --dt-min: expected a step above 0 s and up to {dt:?} s, found {other:?}\n"
            ));
        }
    };
    if halvings > MOST_HALVINGS {
        let shortest = dt / f64::from(1 << MOST_HALVINGS);
        return Err(format!(
            "error: --dt-min: expected at least {shortest:e} s, --dt halved {MOST_HALVINGS} times\n"
        ));
    }
    Ok(Some(StepControl { tolerance, longest: dt, halvings, level: 0, start: 0.0, ticks: 0 }))
}
