//! All motions of a system or a small world, where several accelerations satisfy the laws.
//!
//! At each state with several answers the motion branches, an impact without collision among them where there
//! is one (003 §5); every branch is followed to its end or to the next such state, down to a depth. Time
//! stepping also moves a world, with ever shorter steps; the branch is found to which it converges.

use delassus_solve::problem::InvalidProblem;
use thiserror::Error;

use crate::events::{
    Ending, EventError, EventKind, EventOptions, Indeterminate, Trajectory, WorldSystem, run_events,
};
use crate::lagrangian::{State, System};
use crate::stepping::{StepOptions, Stepper};
use crate::world::{World, WorldError, WorldState};

/// Branches after which the search ends.
const MAX_BRANCHES: usize = 4096;
/// Steps of time stepping: the first, and how often it is halved.
const FIRST_STEPS: f64 = 64.0;
const HALVINGS: usize = 8;
/// Time stepping has found its branch where the last halvings, this many, made it come nearer by this factor
/// together.
const SETTLED_HALVINGS: usize = 3;
const SETTLED_RATIO: f64 = 0.5;

/// Why motions cannot be explored.
#[derive(Clone, Debug, Error)]
pub enum ExploreError {
    /// The event-driven motion cannot begin.
    #[error(transparent)]
    Events(#[from] EventError),
    /// The world cannot be stepped.
    #[error(transparent)]
    World(#[from] WorldError),
    /// A time step of the world fails.
    #[error(transparent)]
    Step(#[from] InvalidProblem),
}

/// A world that moves as a system.
#[derive(Clone, Copy)]
pub struct WorldAsSystem<'a> {
    /// The world.
    pub world: &'a World,
    /// Its state at the start.
    pub start: &'a WorldState,
    /// Its coordinates.
    pub as_system: &'a WorldSystem,
}

/// A motion, and those that branch off where it stops.
#[derive(Clone, Debug)]
pub struct Branch {
    /// The last answer that leads here.
    pub choice: Option<usize>,
    /// The answers that lead here, one after the other.
    pub names: Vec<String>,
    /// The motion from the start.
    pub run: Trajectory,
    /// Those that branch off.
    pub children: Vec<Branch>,
}

impl Branch {
    fn leaves(&self) -> usize {
        if self.children.is_empty() { 1 } else { self.children.iter().map(Branch::leaves).sum() }
    }

    /// Whether a motion ends where it branches.
    fn is_cut(&self) -> bool {
        let ends = matches!(self.run.ending, Ending::Indeterminate { .. }) && self.children.is_empty();
        ends || self.children.iter().any(Branch::is_cut)
    }

    /// Branches that were followed to the end.
    fn followed<'a>(&'a self, out: &mut Vec<&'a Branch>) {
        if self.children.is_empty() && self.run.ending == Ending::Done {
            out.push(self);
        }
        self.children.iter().for_each(|child| child.followed(out));
    }
}

/// Time stepping with one step length.
#[derive(Clone, Debug, PartialEq)]
pub struct SteppedBranch {
    /// The step, s.
    pub dt: f64,
    /// The nearest branch, by its answers.
    pub branch: Vec<String>,
    /// How far its end is, m.
    pub distance: f64,
}

/// All motions.
#[derive(Clone, Debug)]
pub struct Exploration {
    /// The motions from the start on.
    pub tree: Branch,
    /// Whether all were followed to their end.
    pub complete: bool,
    /// Time stepping of a world with ever shorter steps; `None` for a system, which it does not move.
    pub time_stepping: Option<Vec<SteppedBranch>>,
}

impl Exploration {
    /// How many motions there are.
    pub fn leaves(&self) -> usize {
        self.tree.leaves()
    }

    /// The branch that the last step lengths agree on and come nearer to.
    pub fn stepping_branch(&self) -> Option<&[String]> {
        let levels = self.time_stepping.as_ref()?;
        let recent = &levels[levels.len().saturating_sub(SETTLED_HALVINGS + 1)..];
        let (first, last) = (recent.first()?, recent.last()?);
        let agree = recent.iter().all(|level| level.branch == last.branch);
        let nearer = last.distance <= SETTLED_RATIO * first.distance || last.distance < 1e-9;
        (agree && nearer).then_some(&last.branch)
    }
}

/// Follows all motions of a system from a state on; `options` hold the end, the law of impact and the times
/// where forces may jump, `depth` how many states with several answers are followed one after the other.
pub fn explore(
    system: &System,
    state: &State,
    world: Option<WorldAsSystem<'_>>,
    options: &EventOptions,
    depth: usize,
) -> Result<Exploration, ExploreError> {
    let mut search = Search { system, state, options, depth, left: MAX_BRANCHES };
    let tree = search.follow(&mut vec![], &mut vec![])?;
    let time_stepping = world.map(|world| time_stepping(world, options, &tree)).transpose()?;
    let complete = search.left > 0 && !tree.is_cut();
    Ok(Exploration { tree, complete, time_stepping })
}

struct Search<'a> {
    system: &'a System,
    state: &'a State,
    options: &'a EventOptions,
    depth: usize,
    /// Branches that may still be followed.
    left: usize,
}

impl Search<'_> {
    fn follow(&mut self, choices: &mut Vec<usize>, names: &mut Vec<String>) -> Result<Branch, ExploreError> {
        self.left = self.left.saturating_sub(1);
        let options = EventOptions {
            indeterminate: Indeterminate::Stop,
            choices: choices.clone(),
            ..self.options.clone()
        };
        let run = run_events(self.system, self.state, &options)?;
        let mut children = vec![];
        if let Ending::Indeterminate { answers } = run.ending
            && choices.len() < self.depth
        {
            for choice in 0..=answers {
                if self.left == 0 {
                    break;
                }
                choices.push(choice);
                names.push(if choice == answers { "jam".into() } else { format!("answer {}", choice + 1) });
                let child = self.follow(choices, names)?;
                // Besides the answers, an impact without collision, where there is one.
                if choice < answers || jams(&child.run, run.state.t) > jams(&run, run.state.t) {
                    children.push(child);
                }
                choices.pop();
                names.pop();
            }
        }
        Ok(Branch { choice: choices.last().copied(), names: names.clone(), run, children })
    }
}

/// Impacts without collision at a time.
fn jams(run: &Trajectory, t: f64) -> usize {
    run.events.iter().filter(|e| e.kind == EventKind::Jam && e.t == t).count()
}

/// Time stepping of a world with ever shorter steps, against all branches.
fn time_stepping(
    WorldAsSystem { world, start, as_system }: WorldAsSystem<'_>,
    options: &EventOptions,
    tree: &Branch,
) -> Result<Vec<SteppedBranch>, ExploreError> {
    let mut nodes = vec![];
    tree.followed(&mut nodes);
    let ends: Vec<WorldState> =
        nodes.iter().map(|node| as_system.world_state(start, &node.run.state)).collect();
    let mut levels = vec![];
    for level in 0..HALVINGS {
        let steps = FIRST_STEPS * f64::from(1u32 << level);
        let dt = (options.t_end - start.t) / steps;
        if ends.is_empty() || dt <= 0.0 {
            break;
        }
        let mut stepper = Stepper::new(world, start.clone(), StepOptions { dt, ..StepOptions::default() })?;
        for _ in 0..steps as usize {
            if options.is_interrupted() {
                return Ok(levels);
            }
            let _ = stepper.step()?;
        }
        let away = |end: &WorldState| -> f64 {
            let pairs = end.bodies.iter().zip(&stepper.state().bodies);
            pairs.map(|(a, b)| (a.pose.position - b.pose.position).length()).sum()
        };
        let nearest = nodes.iter().zip(&ends).map(|(node, end)| (node, away(end)));
        if let Some((node, distance)) = nearest.min_by(|a, b| a.1.total_cmp(&b.1)) {
            levels.push(SteppedBranch { dt, branch: node.names.clone(), distance });
        }
    }
    Ok(levels)
}
