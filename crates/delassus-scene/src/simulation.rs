//! Simulations from files.
//!
//! ```text
//! text ─▶ LoadedScene {scene, options, t_end} ─▶ Simulation
//! ```
//!
//! They start and step as the command `run` does with time stepping: joints closed, bodies separated, the
//! options of `[simulation]`; so they give its bits. A simulation steps in time: a file that asks for
//! event-driven integration gives none, but its scene can be loaded.
//!
//! ```
//! let mut sim = delassus_scene::simulation_from_text(r#"
//!     world = {}
//!     body = [
//!         { name = "ground", fixed = true, shape = [{ type = "plane" }] },
//!         { name = "ball", mass = 1, position = [0, 0, 0.2], shape = [{ type = "sphere", radius = 0.1 }] },
//!     ]
//!     simulation.dt = 1e-3
//! "#)?;
//! sim.run_until(1.0, |_| {})?;
//! assert!((sim.contacts()[0].normal_force - 9.81).abs() < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::path::{Path, PathBuf};

use delassus::simulation::{Simulation, SimulationError};
use delassus::stepping::StepOptions;
use delassus::world::Scene;
use thiserror::Error;

use crate::diagnostic::FileError;
use crate::document::MAX_FILE;
use crate::import::read_xml;
use crate::world_file::{Integrator, WorldFile, read_world};
use crate::xml::Imported;

/// A world from a file, and how to move it.
#[derive(Clone, Debug)]
pub struct LoadedScene {
    /// The world and its state at the start, as the file has them.
    pub scene: Scene,
    /// Options of the steps: those of the file, else by default.
    pub options: StepOptions,
    /// The end that the file asks for, s.
    pub t_end: Option<f64>,
    /// The integrator that the file asks for.
    pub integrator: Option<Integrator>,
    /// Elements and attributes of a URDF or MJCF file that were not read.
    pub not_read: Vec<String>,
}

/// Why a file gives no simulation.
#[derive(Debug, Error)]
pub enum LoadError {
    /// It cannot be read.
    #[error("{}: cannot be read: {reason}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: std::io::Error,
    },
    /// It has more bytes than any scene.
    #[error("{}: {bytes} bytes are too many, expected at most {limit}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// How many it has.
        bytes: u64,
        /// How many it may have.
        limit: u64,
    },
    /// Its text has an error.
    #[error("{}", in_file(path, error))]
    File {
        /// The file, where the text is from one.
        path: Option<PathBuf>,
        /// What is wrong, and where.
        error: FileError,
    },
    /// It asks for event-driven integration, and a simulation steps in time.
    #[error(
        "`simulation.integrator` is \"event-driven\", expected \"time-stepping\" or no such key for a simulation; \
         `delassus::events::run_events` integrates event-driven"
    )]
    EventDriven,
    /// The world in it cannot start to move.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
}

/// `file:line:column: what is wrong`, as far as it is known.
fn in_file(path: &Option<PathBuf>, error: &FileError) -> String {
    let other = error.other.as_ref().map(|other| PathBuf::from(&other[0]));
    let path = other.as_ref().or(path.as_ref());
    let mut place = path.map_or(String::new(), |path| format!("{}:", path.display()));
    if let Some(at) = &error.place {
        place += &format!("{}:{}:", at.line, at.column);
    }
    if place.is_empty() { error.to_string() } else { format!("{place} {error}") }
}

/// A simulation of the world in a file: `.toml` with `[world]`, URDF or MJCF. [`load_scene`] lists parts of a
/// URDF or MJCF file that were not read.
pub fn load_simulation(path: impl AsRef<Path>) -> Result<Simulation, LoadError> {
    load_scene(path)?.simulate()
}

/// A simulation of the world in a text with `[world]`.
pub fn simulation_from_text(text: &str) -> Result<Simulation, LoadError> {
    let file = read_world(text, None, &[]).map_err(|error| LoadError::File { path: None, error })?;
    LoadedScene::new(file, vec![]).simulate()
}

/// The world in a file: `.toml` with `[world]`, URDF or MJCF; meshes are looked for beside it.
pub fn load_scene(path: impl AsRef<Path>) -> Result<LoadedScene, LoadError> {
    let path = path.as_ref();
    let cannot = |reason| LoadError::Read { path: path.to_path_buf(), reason };
    let (bytes, limit) = (std::fs::metadata(path).map_err(cannot)?.len(), MAX_FILE as u64);
    if bytes > limit {
        return Err(LoadError::TooLarge { path: path.to_path_buf(), bytes, limit });
    }
    let text = std::fs::read_to_string(path).map_err(cannot)?;
    let wrong = |error| LoadError::File { path: Some(path.to_path_buf()), error };
    let is = |extension: &str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension));
    if is("urdf") || is("xml") {
        let Imported { file, not_read } = read_xml(&text, path.parent()).map_err(wrong)?;
        return Ok(LoadedScene::new(file, not_read));
    }
    let file = read_world(&text, path.parent(), &[]).map_err(wrong)?;
    Ok(LoadedScene::new(file, vec![]))
}

impl LoadedScene {
    fn new(file: WorldFile, not_read: Vec<String>) -> LoadedScene {
        let WorldFile { world, state, simulation, .. } = file;
        let (options, integrator) = (simulation.step_options(), simulation.integrator);
        let scene = Scene { world, state };
        LoadedScene { scene, options, t_end: simulation.t_end, integrator, not_read }
    }

    /// A simulation that starts there. Refuses a file that asks for event-driven integration;
    /// [`Simulation::new`] steps its scene all the same.
    pub fn simulate(self) -> Result<Simulation, LoadError> {
        if self.integrator == Some(Integrator::EventDriven) {
            return Err(LoadError::EventDriven);
        }
        Ok(Simulation::new(self.scene, self.options)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_those_of_the_file() {
        let text = r#"
            world = {}
            body = [{ name = "ball", mass = 1, inertia = [1, 1, 1] }]
            simulation = { dt = 2e-3, tolerance = 1e-8, law = "ccp", solver = "newton", coordinates = "maximal" }
        "#;
        let options = simulation_from_text(text).unwrap().options();
        assert_eq!((options.dt, options.tolerance), (2e-3, 1e-8));
        assert_eq!(options.law, delassus::stepping::FrictionLaw::Ccp);
        assert_eq!(options.method, "newton".parse().unwrap());
        assert_eq!(options.coordinates, delassus::stepping::Coordinates::Maximal);
    }

    #[test]
    fn a_file_that_asks_for_event_driven_integration_is_not_stepped_in_silence() {
        let text = |integrator: &str| {
            format!(
                "world = {{}}\nbody = [{{ name = \"ball\", mass = 1, inertia = [1, 1, 1] }}]\n\
                 simulation.integrator = \"{integrator}\"\n"
            )
        };
        assert!(simulation_from_text(&text("time-stepping")).is_ok());
        let error = simulation_from_text(&text("event-driven")).map(|_| ()).unwrap_err();
        assert!(matches!(error, LoadError::EventDriven), "{error}");
        assert!(error.to_string().starts_with("`simulation.integrator` is \"event-driven\""), "{error}");
    }

    #[test]
    fn errors_name_file_and_place() {
        let error = simulation_from_text("world = {}\nbodi = []\n").map(|_| ()).unwrap_err();
        assert!(error.to_string().starts_with("2:1: "), "{error}");
        let error = load_simulation("no such file.toml").map(|_| ()).unwrap_err();
        assert!(matches!(error, LoadError::Read { .. }), "{error}");
        let open = r#"
            world = {}
            body = [{ name = "a", mass = 1, inertia = [1, 1, 1] }]
            joint = [
                { name = "one", type = "distance", bodies = ["world", "a"], anchors = [[0, 0, 0], [0, 0, 0]], length = 1 },
                { name = "two", type = "distance", bodies = ["world", "a"], anchors = [[9, 0, 0], [0, 0, 0]], length = 1 },
            ]
        "#;
        let error = simulation_from_text(open).map(|_| ()).unwrap_err();
        assert!(matches!(error, LoadError::Simulation(SimulationError::Open(_))), "{error}");
    }

    /// The steps of the command: its start and a stepper with the options of the file.
    #[test]
    fn files_move_as_the_command_moves_them() {
        let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
        for name in ["four-bar.toml", "rolling-sphere.toml", "sliding-block.toml", "ragdoll.xml"] {
            let path = scenes.join(name);
            let mut sim = load_simulation(&path).unwrap_or_else(|e| panic!("{e}"));
            let LoadedScene { scene, options, .. } = load_scene(&path).unwrap();
            let mut state = scene.state;
            delassus::world::close_loops(&scene.world, &mut state).unwrap();
            delassus::world::project_velocities(&scene.world, &mut state);
            let mut stepper = delassus::stepping::Stepper::new(&scene.world, state, options).unwrap();
            for _ in 0..5 {
                sim.step().unwrap();
                stepper.step().unwrap();
            }
            for (a, b) in sim.state().bodies.iter().zip(&stepper.state().bodies) {
                // Where nothing was to be closed, the command keeps the numbers of the file: rounding apart.
                assert!(a.pose.position.distance(b.pose.position) < 1e-9, "{name}");
                assert!(a.velocity.distance(b.velocity) < 1e-6, "{name}");
            }
        }
    }

    /// An arm of two links as a user of robots has it: put somewhere, held there by its motors, read by
    /// names.
    #[test]
    fn an_arm_from_mjcf_is_put_and_held_by_its_controls() {
        let text = r#"<mujoco><option gravity="0 0 0"/>
          <worldbody><body name="upper"><joint name="shoulder" axis="0 1 0" damping="1"/>
            <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03"/>
            <body name="fore" pos="0.4 0 0"><joint name="elbow" axis="0 1 0" damping="1"/>
              <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/></body></body></worldbody>
          <actuator><motor joint="shoulder"/><motor joint="elbow"/></actuator></mujoco>"#;
        let dir = std::env::temp_dir().join(format!("delassus-arm-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let path = dir.join("arm.xml");
        std::fs::write(&path, text).unwrap();
        let mut sim = load_simulation(&path).unwrap_or_else(|e| panic!("{e}"));
        std::fs::remove_dir_all(&dir).unwrap();
        sim.set_joint("shoulder", 0.3, 0.0).unwrap();
        sim.set_joint("elbow", -0.8, 0.0).unwrap();
        let target = [("shoulder", 0.5), ("elbow", -0.5)];
        while sim.time() < 3.0 {
            for (joint, angle) in target {
                let now = sim.joint(joint).unwrap();
                sim.set_control(joint, 20.0 * (angle - now.position) - 2.0 * now.velocity).unwrap();
            }
            sim.step().unwrap();
        }
        for (joint, angle) in target {
            // Overdamped by more than ten time constants.
            let found = sim.joint(joint).unwrap().position;
            assert!((found - angle).abs() < 1e-4, "{joint}: {found}");
        }
    }
}
