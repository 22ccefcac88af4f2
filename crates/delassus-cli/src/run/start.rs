//! Where a run starts: the file's state with its loops closed, or a checkpoint; and what a user should know
//! of it.

use delassus::stepping::{
    CLOSED, ClosedJoints, Overlap, Snapshot, StartReport, StartVelocities, prepare_start,
};
use delassus::world::{JointKind, Mobility, Opening, World, WorldState, energy, mobility};
use delassus_report::number;

use super::arguments::RunArgs;
use super::checkpoint;
use super::checkpoint::Checkpoint;
use super::options::Settings;
use super::totals::Totals;
use crate::scene::{WorldScene, ended};

/// Overlaps up to this part of the smaller body are not reported.
const REPORTED_OVERLAP_RATIO: f64 = 0.01;
/// Motions up to this are not reported, m.
const LEAST_MOTION: f64 = 1e-6;
/// Overlaps that are listed one by one.
const LISTED_OVERLAPS: usize = 5;

/// The start of a run.
pub struct Start {
    /// Positions and velocities.
    pub state: WorldState,
    /// Where a run goes on.
    pub resumed: Option<Resumed>,
    /// What the run has found before it was saved.
    pub totals: Totals,
    /// Degrees of freedom at the start.
    pub mobility: Mobility,
    /// What a user should know.
    pub notes: Vec<String>,
}

/// A stepper that was saved.
pub struct Resumed {
    /// Its state.
    pub snapshot: Snapshot,
    /// The step length that the snapshot counts in, s.
    pub dt: f64,
}

/// The name of the scene, for messages.
pub fn file_name(args: &RunArgs) -> String {
    args.file.display().to_string()
}

impl Start {
    /// The world, and where it starts; the error is a message ready for stderr.
    pub fn new(scene: WorldScene, args: &RunArgs, settings: &Settings) -> Result<(World, Start), String> {
        let WorldScene { mut file, name, text } = scene;
        let mut notes = vec![];
        if let Some(path) = &args.resume {
            let Checkpoint { snapshot, dt, totals, manner, .. } =
                checkpoint::read(path, &file.world, &settings.scene)?;
            notes.extend(settings.manner().change_in_words(&manner));
            let t = snapshot.state.t;
            if t > settings.t_end {
                let end = settings.t_end;
                return Err(format!(
                    "error: {}: is at {t} s, after the end at {end} s; --t-end sets a later one\n",
                    path.display()
                ));
            }
            let mobility = mobility(&file.world, &snapshot.state);
            let state = snapshot.state.clone();
            return Ok((
                file.world,
                Start { state, resumed: Some(Resumed { snapshot, dt }), totals, mobility, notes },
            ));
        }
        let report = prepare_start(&file.world, &mut file.state)
            .map_err(|e| ended(file.explain_open(e, &text).render(&name, &text)))?;
        notes.extend(in_words(&file.world, &report));
        let mobility = mobility(&file.world, &file.state);
        let totals = Totals { energy_start: energy(&file.world, &file.state), ..Totals::default() };
        Ok((file.world, Start { state: file.state, resumed: None, totals, mobility, notes }))
    }
}

/// What is open or beyond a limit, with the words for several and for one.
pub fn open_in_words(world: &World, open: &Opening, are: &str, is: &str) -> String {
    let mut found = vec![];
    if open.joints > CLOSED {
        found.push(format!("joints {are} open by up to {}", number(open.joints)));
    }
    if let Some((joint, by)) = open.limit.filter(|(_, by)| *by > CLOSED) {
        let joint = &world.joints[joint];
        let what = match joint.kind {
            JointKind::Rope { .. } => "longer than its rope",
            _ => "outside its limits",
        };
        found.push(format!("joint `{}` {is} {what} by {}", joint.name, number(by)));
    }
    found.join(", ")
}

/// What a user should know of a start that was prepared.
fn in_words(world: &World, report: &StartReport) -> Vec<String> {
    let mut notes = vec![];
    if let Some(ClosedJoints { opening, moved }) = &report.joints {
        let what = open_in_words(world, opening, "were", "was");
        notes.push(format!("{what}; bodies were moved by up to {} m to put that right", number(*moved)));
    }
    match report.velocities {
        StartVelocities::Kept => {}
        StartVelocities::Contradict { left } => {
            notes.push(format!("joints contradict each other: velocities break them by {} m/s", number(left)))
        }
        StartVelocities::Changed { body, by } => notes.push(format!(
            "velocities broke the joints: that of body `{}` was changed by {} m/s, the least that obeys them",
            world.bodies[body].name,
            number(by)
        )),
    }
    if !report.overlaps.is_empty() {
        notes.extend(deep_overlaps(world, &report.overlaps));
        match report.separated {
            Some(moved) if moved > LEAST_MOTION => {
                notes.push(format!(
                    "bodies were moved by up to {} m so that they do not overlap",
                    number(moved)
                ));
            }
            Some(_) => {}
            None => {
                notes.push("bodies that overlap could not be moved apart; the first step pushes them".into())
            }
        }
    }
    notes
}

/// Pairs that overlap by more than 1 % of the smaller one.
fn deep_overlaps(world: &World, overlaps: &[Overlap]) -> Vec<String> {
    let is_deep = |overlap: &&Overlap| {
        let size = overlap.bodies.map(|b| world.bodies[b].bounding_radius()).into_iter().filter(|r| *r > 0.0);
        let size = size.fold(f64::INFINITY, f64::min);
        size.is_finite() && overlap.depth > REPORTED_OVERLAP_RATIO * size
    };
    let deep: Vec<&Overlap> = overlaps.iter().filter(is_deep).collect();
    let mut notes: Vec<String> = (deep.iter().take(LISTED_OVERLAPS))
        .map(|overlap| {
            let [a, b] = overlap.bodies.map(|b| &world.bodies[b].name);
            format!("`{a}` and `{b}` overlap by {} m in the file", number(overlap.depth))
        })
        .collect();
    if deep.len() > LISTED_OVERLAPS {
        notes.push(format!("{} more pairs overlap in the file", deep.len() - LISTED_OVERLAPS));
    }
    notes
}
