//! What is wrong with a world in a file, beside what can be wrong with any file.

use thiserror::Error;

use crate::mesh_file::MeshError;
use delassus::formula::with_suggestion;
use delassus::world::{CloseError, JointError, NoVolume, WorldError};

/// What is wrong with a world.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum WorldErrorKind {
    /// A vector of the wrong length.
    #[error("`{key}` has {found} entries")]
    Length {
        /// The key.
        key: String,
        /// How many.
        found: usize,
        /// What was expected.
        expected: &'static str,
    },
    /// A number that must be positive.
    #[error("`{key}` is {value}")]
    NotPositive {
        /// The key.
        key: String,
        /// The number.
        value: f64,
    },
    /// A unit of another dimension.
    #[error("`{key}` is `{value}`")]
    Unit {
        /// The key.
        key: String,
        /// What is written.
        value: String,
        /// What was expected.
        expected: &'static str,
    },
    /// A number that must not be negative.
    #[error("`{key}` is {value}")]
    Negative {
        /// The key.
        key: String,
        /// The number.
        value: f64,
    },
    /// A direction of length zero.
    #[error("`{key}` has length zero")]
    NoDirection {
        /// The key.
        key: String,
    },
    /// Two directions that must differ.
    #[error("`{first}` and `{second}` are parallel")]
    Parallel {
        /// One key.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// A quaternion that is far from unit length.
    #[error("`{key}` has length {length}")]
    NotUnit {
        /// The key.
        key: String,
        /// Its length.
        length: f64,
    },
    /// An inertia that is not symmetric.
    #[error("`inertia` is not symmetric: entries {row}{column} and {column}{row} are {upper} and {lower}")]
    NotSymmetric {
        /// Row, from 1.
        row: usize,
        /// Column, from 1.
        column: usize,
        /// Entry above the diagonal.
        upper: f64,
        /// Entry below.
        lower: f64,
    },
    /// Static friction that is weaker than that of sliding.
    #[error("the static friction {sticks} is less than {slides}, that of sliding")]
    WeakStatic {
        /// The coefficient of what sticks.
        sticks: f64,
        /// That of what slides.
        slides: f64,
    },
    /// A direction of friction that belongs to no body.
    #[error("`axis` is fixed in the first body of `between`, which is \"*\"")]
    AxisOfAnyBody,
    /// Tangential restitution where nothing rebounds.
    #[error("`restitution_tangential` acts in rebounds, and `restitution` is 0")]
    SlipWithoutRebound,
    /// A principal moment that is zero or negative.
    #[error("the principal moments of {body} are {}, {} and {}", moments[0], moments[1], moments[2])]
    InertiaNotPositive {
        /// The body.
        body: String,
        /// Principal moments.
        moments: [f64; 3],
    },
    /// Moments that no distribution of mass has.
    #[error("the principal moments of {body} break the triangle inequality: {largest} > {} + {}", others[0], others[1])]
    TriangleInequality {
        /// The body.
        body: String,
        /// The largest moment.
        largest: f64,
        /// The other two.
        others: [f64; 2],
    },
    /// A free body without mass.
    #[error("{body} has no mass")]
    NoMass {
        /// The body.
        body: String,
    },
    /// A free body without shape and inertia.
    #[error("{body} has neither a shape nor an inertia")]
    NoInertia {
        /// The body.
        body: String,
    },
    /// A shape that cannot carry mass on a free body.
    #[error("{shape} cannot carry the mass of a body: {reason}")]
    Volume {
        /// The shape.
        shape: String,
        /// Why.
        reason: NoVolume,
    },
    /// A fixed body with a velocity.
    #[error("{body} is fixed and has a velocity")]
    FixedMoves {
        /// The body.
        body: String,
    },
    /// A file with a mesh or numbers that cannot be used.
    #[error("{file}: {reason}")]
    Mesh {
        /// Its name.
        file: String,
        /// Why.
        reason: MeshError,
    },
    /// A triangle with a corner that is not there.
    #[error("`triangles` names corner {found}")]
    Corner {
        /// The corner.
        found: String,
        /// How many there are.
        corners: usize,
    },
    /// More points than a convex hull is made of.
    #[error("the convex shape has {found} points")]
    TooManyPoints {
        /// How many.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// Rows of heights that differ in length.
    #[error("row {row} of `heights` has {found} entries, the first has {first}")]
    Ragged {
        /// Its number, from 1.
        row: usize,
        /// Its entries.
        found: usize,
        /// Entries of the first.
        first: usize,
    },
    /// A body that is not there.
    #[error("unknown body `{name}`")]
    UnknownBody {
        /// The name.
        name: String,
        /// The one that may have been meant.
        suggestion: Option<String>,
    },
    /// A joint between a body and itself.
    #[error("{joint} joins body `{body}` to itself")]
    JoinsItself {
        /// The joint.
        joint: String,
        /// The body.
        body: String,
    },
    /// A joint between two bodies that do not move.
    #[error("{joint} joins two fixed bodies")]
    JoinsFixed {
        /// The joint.
        joint: String,
    },
    /// Limits in the wrong order.
    #[error("`{key}` runs from {low} to {high}")]
    Limits {
        /// The key.
        key: String,
        /// Lower limit.
        low: f64,
        /// Upper limit.
        high: f64,
    },
    /// Axes that are not perpendicular.
    #[error("`axis` and `axis2` are not perpendicular: the cosine between them is {cosine}")]
    NotPerpendicular {
        /// The cosine.
        cosine: f64,
    },
    /// A factor of zero.
    #[error("`{key}` is zero")]
    Zero {
        /// The key.
        key: String,
    },
    /// A joint that is not there, or has no coordinate.
    #[error("no joint `{name}` with a coordinate stands above")]
    UnknownJoint {
        /// The name.
        name: String,
        /// The one that may have been meant.
        suggestion: Option<String>,
    },
    /// An actuator that is not there.
    #[error("there is no actuator `{name}`")]
    UnknownActuator {
        /// The name.
        name: String,
        /// The one that may have been meant.
        suggestion: Option<String>,
    },
    /// A keyframe or an actuator that was asked for and is not in the file.
    #[error("there is no {what} `{name}`")]
    NotInFile {
        /// What it should be.
        what: &'static str,
        /// The name.
        name: String,
        /// Those that the file has.
        others: Vec<String>,
        /// The one that may have been meant.
        suggestion: Option<String>,
    },
    /// A motor, a limit or the like on a joint without a coordinate.
    #[error("{joint} allows no motion along which this could act")]
    NoCoordinate {
        /// The joint.
        joint: String,
    },
    /// Degrees where the coordinate is a length.
    #[error("the coordinate of {joint} is not an angle")]
    NotAnAngle {
        /// The joint.
        joint: String,
    },
    /// A joint that makes no sense.
    #[error("{0}")]
    Joint(JointError),
    /// An attribute or a child of an XML element.
    #[error("`{attribute}` of <{element}> is {found}")]
    Attribute {
        /// The element.
        element: String,
        /// The attribute, or child.
        attribute: String,
        /// What stands there.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// An XML element that does not belong here, or that is not understood.
    #[error("<{element}> is not understood here")]
    Element {
        /// The element.
        element: String,
        /// What was expected.
        expected: &'static str,
    },
    /// Numbers that make no sense together.
    #[error("{0}")]
    Numbers(WorldError),
    /// Loops that cannot close.
    #[error("{0}")]
    Loops(CloseError),
    /// A vector that leaves the plane of a planar world.
    #[error("`{key}` leaves the plane {plane}")]
    OutOfPlane {
        /// The key.
        key: String,
        /// The plane.
        plane: String,
    },
}

/// Names that a message lists.
const MOST_NAMES: usize = 12;

impl WorldErrorKind {
    /// What was expected, where the message does not say it already.
    pub(super) fn help(&self) -> Option<String> {
        use WorldErrorKind::*;
        let help = match self {
            Length { expected, .. }
            | Unit { expected, .. }
            | Attribute { expected, .. }
            | Element { expected, .. } => {
                return Some(format!("expected {expected}"));
            }
            UnknownBody { suggestion, .. } => {
                return Some(with_suggestion("the name of a body, or `world`", suggestion));
            }
            UnknownJoint { suggestion, .. } => {
                return Some(with_suggestion("the name of a joint above", suggestion));
            }
            UnknownActuator { suggestion, .. } => {
                return Some(with_suggestion("the name of a joint that has a motor", suggestion));
            }
            NotInFile { what, others, suggestion, .. } => {
                let names = others.iter().take(MOST_NAMES).map(|name| format!("`{name}`"));
                let names = names.collect::<Vec<_>>().join(", ");
                let more = others.len().saturating_sub(MOST_NAMES);
                return Some(match others.len() {
                    0 => format!("expected none: the file has no {what} with a name"),
                    _ if more > 0 => with_suggestion(&format!("one of {names} and {more} more"), suggestion),
                    _ => with_suggestion(&format!("one of {names}"), suggestion),
                });
            }
            Corner { corners, .. } => {
                return Some(format!("expected corners from 0 to {}", corners.saturating_sub(1)));
            }
            TooManyPoints { limit, .. } => return Some(format!("expected at most {limit}")),
            NotPositive { .. } => "a positive number",
            WeakStatic { .. } => "`mu_static` to be at least `mu_kinetic`",
            AxisOfAnyBody => "the name of a body there",
            SlipWithoutRebound => "`restitution` above 0 beside it",
            Negative { .. } => "a number that is not negative",
            NoDirection { .. } => "a direction, e.g. [0, 0, 1]",
            Parallel { .. } => "two directions that differ",
            NotUnit { .. } => "a unit quaternion w, x, y, z",
            NotSymmetric { .. } => "a symmetric matrix",
            InertiaNotPositive { .. } => "positive moments",
            TriangleInequality { .. } => "each moment to be at most the sum of the other two",
            NoMass { .. } => "`mass`, or `density` on its shapes, or `fixed = true`",
            NoInertia { .. } => "a shape, or `inertia`, or `fixed = true`",
            Volume { reason: NoVolume::InsideOut { .. }, .. } => {
                "corners of triangles counterclockwise from outside"
            }
            Volume { .. } => "`mass` and `inertia` on the body, or `fixed = true`",
            FixedMoves { .. } => "a fixed body without velocity, or a body that is not fixed",
            Ragged { .. } => "rows of one length",
            JoinsItself { .. } => "two different bodies",
            JoinsFixed { .. } => "a body that moves",
            Limits { .. } => "the smaller number first",
            NotPerpendicular { .. } => "perpendicular axes",
            Zero { .. } => "another number than zero",
            NoCoordinate { .. } => "a joint that moves, or a `[[joint.on]]` with a coordinate",
            NotAnAngle { .. } => "`limits`, in m",
            OutOfPlane { .. } => "a vector in the plane",
            Loops(CloseError::Open { .. }) => {
                "joints that can meet from where they start (--keyframe starts an MJCF elsewhere)"
            }
            Loops(_) => "finite numbers",
            Mesh { .. } | Joint(_) | Numbers(_) => return None,
        };
        Some(format!("expected {help}"))
    }
}
