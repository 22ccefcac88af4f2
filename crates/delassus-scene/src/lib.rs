//! Scenes as text: Lagrangian systems and worlds of rigid bodies from files, with messages that name the
//! place of a fault.
//!
//! ```text
//! .toml with [system] ─▶ read_system ─▶ SystemFile {system, state, …}
//! .toml with [world]  ─▶ read_world ─┐
//! .xml MJCF, .urdf    ─▶ read_xml   ─┴▶ WorldFile {world, state, …}
//! ```
//!
//! `delassus` knows no file format; whatever reads or writes a scene is here. Unknown keys are errors with a
//! suggestion, and what of an imported file is not understood is listed, never dropped in silence.
#![forbid(unsafe_code)]

mod control;
mod diagnostic;
mod document;
mod expect;
mod import;
mod mesh_file;
mod mjcf;
mod package;
mod scene;
mod set_joints;
mod simulation;
mod system_file;
mod toml_table;
mod urdf;
mod world_file;
mod xml;

pub use control::{ControlError, ControlTable, UnknownActuator, set_controls};
pub use diagnostic::{FileError, FileErrorKind, Place, WorldErrorKind};
pub use document::{MAX_FILE, SceneKind, scene_kind};
pub use expect::{Expect, Expected, ExpectedValue, SolutionCount};
pub use import::{read_xml, read_xml_with};
pub use mesh_file::{MAX_MESH, MeshError, Triangles, read_mesh};
pub use scene::{SceneFile, read_scene};
pub use set_joints::{SetJointError, set_joints};
pub use simulation::{LoadError, LoadedScene, load_scene, load_simulation, simulation_from_text};
pub use system_file::{
    MAX_COORDINATES, SafeTextError, SystemFile, SystemSimulation, check_paving_of, pave_text,
    paving_proof_of, read_family, read_system, safe_interval_of,
};
pub use world_file::{Integrator, WorldExpect, WorldFile, WorldSimulation, read_world};
pub use xml::{ImportOptions, Imported};
