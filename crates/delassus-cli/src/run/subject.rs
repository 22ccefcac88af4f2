//! The subject of event-driven integration: a system from a file, or a small world as one, with its law of
//! impact.

use delassus::events::{
    EventError, EventOptions, ModeError, Trajectory, WorldSystem, run_events, world_system,
};
use delassus::lagrangian::{FormulaId, State, System};
use delassus::simulation::WorldAsSystem;
use delassus_report::number;
use delassus_scene::Place;
use delassus_solve::impact::ImpactLaw;

use crate::scene::{Scene, WorldScene, ended};

/// End where neither command line nor file gives one, s.
const DEFAULT_T_END: f64 = 1.0;

/// The end of a run: of the command line, of the file, or 1 s after the start.
fn t_end(scene: &Scene, asked: Option<f64>) -> f64 {
    asked.or(scene.file.simulation.t_end).unwrap_or(scene.file.state.t + DEFAULT_T_END)
}

/// The subject of event-driven integration: a system, or a world as one.
pub struct Subject<'a> {
    /// The file's name, for messages.
    pub name: &'a str,
    /// The system.
    pub system: &'a System,
    /// Its state at the start.
    pub state: &'a State,
    /// End, s.
    pub t_end: f64,
    /// Times at which forces may jump.
    pub breakpoints: &'a [f64],
    /// The law of impact of the file.
    pub impact_law: Option<&'a ImpactLaw>,
    /// Whether the file lets contacts that approach at the start have their impact there.
    pub impact_at_start: bool,
    /// The world, where it is one.
    pub world: Option<WorldAsSystem<'a>>,
    /// The file of a system, for messages.
    source: Option<&'a Scene>,
}

impl<'a> Subject<'a> {
    /// A system from a file.
    pub fn of_system(scene: &'a Scene, t_end_asked: Option<f64>) -> Self {
        Subject {
            name: &scene.name,
            system: &scene.file.system,
            state: &scene.file.state,
            t_end: t_end(scene, t_end_asked),
            breakpoints: &scene.file.simulation.breakpoints,
            impact_law: scene.file.impact_law.as_ref(),
            impact_at_start: scene.file.simulation.impact_at_start,
            world: None,
            source: Some(scene),
        }
    }

    /// A world from a file, as a system.
    pub fn of_world(scene: &'a WorldScene, as_system: &'a WorldSystem, t_end_asked: Option<f64>) -> Self {
        let start = &scene.file.state;
        Subject {
            name: &scene.name,
            system: &as_system.system,
            state: &as_system.state,
            t_end: t_end_asked.or(scene.file.simulation.t_end).unwrap_or(start.t + DEFAULT_T_END),
            breakpoints: &[],
            impact_law: None,
            impact_at_start: scene.file.simulation.impact_at_start,
            world: Some(WorldAsSystem { world: &scene.file.world, start, as_system }),
            source: None,
        }
    }

    /// The law of impact: of the command line, of the file, or Moreau's. Newton's is the matrix of the file,
    /// if it has one.
    pub fn law(&self, asked: Option<&ImpactLaw>) -> ImpactLaw {
        match (asked, self.impact_law) {
            (None | Some(ImpactLaw::Newton), Some(law @ ImpactLaw::NewtonMatrix(_))) | (None, Some(law)) => {
                law.clone()
            }
            (Some(law), _) => law.clone(),
            (None, None) => ImpactLaw::Moreau,
        }
    }

    /// Moves it; the error is a message ready for stderr.
    pub fn motion(&self, options: &EventOptions) -> Result<Trajectory, String> {
        run_events(self.system, self.state, options).map_err(|error| self.explain(&error))
    }

    /// Why a run cannot begin, with the place of the formula that is to blame.
    pub fn explain(&self, error: &EventError) -> String {
        let formula = match error {
            EventError::Penetration { index, .. } | EventError::Approach { index, .. } => {
                Some(FormulaId::ContactNormal(*index))
            }
            EventError::JointOpen { index, .. } | EventError::JointTorn { index, .. } => {
                Some(FormulaId::JointValue(*index))
            }
            EventError::Kinematics(e) | EventError::Mode(ModeError::Kinematics(e)) => e.formula(),
            _ => None,
        };
        let place = self.source.and_then(|scene| {
            let place = Place::of(&scene.text, scene.file.locate(formula?)?);
            Some(format!(":{}:{}", place.line, place.column))
        });
        let name = self.name;
        let what = match error {
            // By its name on the command line.
            EventError::Option { option: "t_end", expected, found } => {
                let start = self.state.t;
                format!("t_end (--t-end): expected {expected} ({start} s), found {found}")
            }
            EventError::Option { option: "tolerance", expected, found } => {
                format!("--tolerance: expected {expected}, found {found}")
            }
            EventError::Approach { .. } => {
                format!("{error}: by --impact-at-start, or by `impact_at_start = true` under [simulation]")
            }
            _ => error.to_string(),
        };
        format!("error: {name}{}: {what}\n", place.unwrap_or_default())
    }

    /// What of the file does not act.
    pub fn notes(&self, run: &Trajectory) -> Vec<String> {
        let late = run.late_impulses.iter().map(|impulse| {
            let coordinate = &self.system.coordinates[impulse.coordinate];
            let (value, time, end) = (number(impulse.value), impulse.time, self.t_end);
            format!("the impulse {value} on `{coordinate}` at t = {time} s comes after the end, {end} s, and does not act")
        });
        late.collect()
    }
}

/// A world with its loops closed, as a system; the error is a message ready for stderr.
pub fn world_as_system(scene: &mut WorldScene) -> Result<WorldSystem, String> {
    let text = std::mem::take(&mut scene.text);
    scene.file.close_loops(&text).map_err(|e| ended(e.render(&scene.name, &text)))?;
    world_system(&scene.file.world, &scene.file.state).map_err(|e| format!("error: {}: {e}\n", scene.name))
}
