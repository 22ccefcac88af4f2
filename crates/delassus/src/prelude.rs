//! What most programs need: `use delassus::prelude::*;`.

pub use glam::{DQuat, DVec3};

pub use crate::analysis::{SystemAnalysis, analyze_at};
pub use crate::formula;
pub use crate::formula::{AnyFormula, Formula, HyperDual, Number, Point};
pub use crate::lagrangian::{Contact, Measure, State, System};
pub use crate::simulation::{ContactForce, Frame, Simulation, SimulationError, Snapshot, Uniqueness};
pub use crate::stepping::{Coordinates, FrictionLaw, Scheme, StepImpactLaw, StepOptions, StepReport};
pub use crate::world::{
    Body, BodyId, Grain, Joint, JointId, JointKind, Pose, Scene, Shape, ShapeKind, Surface, World, WorldState,
};
pub use delassus_solve::lcp::Verdict;
pub use delassus_solve::modes::Mode;
pub use delassus_solve::problem::Status;
