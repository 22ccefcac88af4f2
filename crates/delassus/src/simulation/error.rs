//! Errors of a simulation: invalid input, or a step that fails.

use delassus_solve::problem::InvalidProblem;
use thiserror::Error;

use crate::formula::with_suggestion;
use crate::stepping::ControlError;
use crate::world::{CloseError, WorldError};

/// Errors of a simulation: invalid input, or a step that fails.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SimulationError {
    /// Numbers of the world, its state or the options that make no sense.
    #[error(transparent)]
    World(#[from] WorldError),
    /// Joints that cannot be assembled from the initial poses.
    #[error(transparent)]
    Open(#[from] CloseError),
    /// An input between steps that makes no sense.
    #[error(transparent)]
    Control(#[from] ControlError),
    /// No body has this name.
    #[error("unknown body `{name}`: {}", with_suggestion("the name of a body", suggestion))]
    UnknownBody {
        /// The name.
        name: String,
        /// The name of a body that is nearest to it.
        suggestion: Option<String>,
    },
    /// No joint has this name.
    #[error("unknown joint `{name}`: {}", with_suggestion("the name of a joint", suggestion))]
    UnknownJoint {
        /// The name.
        name: String,
        /// The name of a joint that is nearest to it.
        suggestion: Option<String>,
    },
    /// Several bodies or joints have this name; their ids tell them apart.
    #[error("{found} {what} are called `{name}`, expected one; ids tell them apart")]
    Ambiguous {
        /// Bodies or joints.
        what: &'static str,
        /// The name.
        name: String,
        /// How many.
        found: usize,
    },
    /// A joint that has no coordinate, such as a weld.
    #[error("joint `{joint}` has no coordinate")]
    NoCoordinate {
        /// The joint.
        joint: String,
    },
    /// A joint with several forces and motors, where one must be named.
    #[error("joint `{joint}` has {actuators} forces and motors, expected one; `set_actuator` takes a number")]
    ManyActuators {
        /// The joint.
        joint: String,
        /// How many.
        actuators: usize,
    },
    /// An invalid time step or end time.
    #[error("{what} is {value}, but must be {range}")]
    Number {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        range: &'static str,
    },
    /// A contact problem that makes no sense, mostly by numbers that overflow.
    #[error("the step at {t} s cannot be made: {problem}")]
    Step {
        /// Time at the start of the step, s.
        t: f64,
        /// What is wrong.
        problem: InvalidProblem,
    },
    /// Joints gave energy in a step, however short its substeps.
    #[error("the step at {t} s cannot be made: joints gave {gained:.3e} J, however short its substeps")]
    JointEnergy {
        /// Time at its begin, s.
        t: f64,
        /// How much, J.
        gained: f64,
    },
    /// A step would end in positions or velocities that are not finite. The state is the one before it.
    #[error("the step at {t} s gave numbers that are not finite, first for body `{body}`")]
    Diverged {
        /// Time at the start of the step, s.
        t: f64,
        /// The first body with such numbers.
        body: String,
    },
}
