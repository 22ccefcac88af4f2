//! What can be wrong with any scene file, its formulas and its system.

use thiserror::Error;

use super::world_kind::WorldErrorKind;
use delassus::analysis::AnalyzeError;
use delassus::formula::{ExpressionErrorKind, NameError, with_suggestion};

/// What is wrong with a file.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum FileErrorKind {
    /// Larger than what is read.
    #[error("file of {bytes} bytes")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The largest size.
        limit: usize,
    },
    /// Not TOML.
    #[error("{message}")]
    NotToml {
        /// The message of the TOML reader.
        message: String,
    },
    /// Not XML.
    #[error("{message}")]
    NotXml {
        /// The message of the XML reader.
        message: String,
    },
    /// Neither `[system]` nor `[world]`.
    #[error("expected a [system] or a [world] table")]
    NoScene,
    /// Both `[system]` and `[world]`.
    #[error("both a [system] and a [world] table")]
    TwoScenes,
    /// A world where a system is needed.
    #[error("expected a [system] table, found a [world]")]
    NotASystem,
    /// A system where a world is needed.
    #[error("expected a [world] table, found a [system]")]
    NotAWorld,
    /// Something is wrong with a world.
    #[error("{0}")]
    World(WorldErrorKind),
    /// A key that must be there is not.
    #[error("missing key `{key}` in {table}")]
    MissingKey {
        /// The key.
        key: &'static str,
        /// Where it belongs.
        table: String,
        /// What it holds.
        expected: &'static str,
    },
    /// A key that does not belong here.
    #[error("unknown key `{key}` in {table}")]
    UnknownKey {
        /// The key.
        key: String,
        /// Where it stands.
        table: String,
        /// The keys that belong there.
        known: String,
        /// The one that may have been meant.
        suggestion: Option<String>,
    },
    /// A value of the wrong type.
    #[error("`{key}` is {found}")]
    WrongType {
        /// The key.
        key: String,
        /// What was found.
        found: &'static str,
        /// What was expected.
        expected: &'static str,
    },
    /// A formula that cannot be read.
    #[error("{0}")]
    Expression(ExpressionErrorKind),
    /// A name that cannot be used.
    #[error("{0}")]
    Name(NameError),
    /// A name that is used twice.
    #[error("there is already a {owner}")]
    DuplicateName {
        /// The contact or joint that has it.
        owner: String,
    },
    /// A contact or joint without a name.
    #[error("the name is empty")]
    EmptyName,
    /// No coordinates.
    #[error("the system has no coordinates")]
    NoCoordinates,
    /// More coordinates than a system may have.
    #[error("the system has {found} coordinates")]
    TooManyCoordinates {
        /// How many.
        found: usize,
        /// How many it may have.
        limit: usize,
    },
    /// A coordinate that the system does not have.
    #[error("unknown coordinate `{name}`")]
    UnknownCoordinate {
        /// The name.
        name: String,
        /// The coordinates.
        known: String,
        /// The one that may have been meant.
        suggestion: Option<String>,
    },
    /// A contact that the system does not have.
    #[error("unknown contact `{name}`")]
    UnknownContact {
        /// The name.
        name: String,
        /// The contacts.
        known: String,
        /// The one that may have been meant.
        suggestion: Option<String>,
    },
    /// A list that has not as many entries as there are contacts.
    #[error("`{key}` has {found} {what}")]
    PerContact {
        /// The key.
        key: String,
        /// What is counted.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many contacts there are.
        expected: usize,
        /// Their names.
        names: String,
    },
    /// NaN or infinity.
    #[error("`{key}` is {value}")]
    NotFinite {
        /// The key.
        key: String,
        /// The value.
        value: f64,
    },
    /// Two keys of which only one may be given.
    #[error("both `{first}` and `{second}` in {table}")]
    Conflict {
        /// One key.
        first: &'static str,
        /// The other.
        second: &'static str,
        /// Where they stand.
        table: String,
    },
    /// Neither of two keys of which one must be given.
    #[error("neither `{first}` nor `{second}` in {table}")]
    Neither {
        /// One key.
        first: &'static str,
        /// The other.
        second: &'static str,
        /// Where one is missing.
        table: String,
    },
    /// Friction without a direction to act in.
    #[error("{owner} has friction but no slip")]
    FrictionWithoutSlip {
        /// The contact or joint.
        owner: String,
    },
    /// A friction coefficient below zero.
    #[error("the friction coefficient of {owner} is {value}")]
    NegativeFriction {
        /// The contact or joint.
        owner: String,
        /// The coefficient.
        value: f64,
    },
    /// A coefficient of restitution outside [0, 1].
    #[error("the restitution of {owner} is {value}")]
    Restitution {
        /// The contact.
        owner: String,
        /// The coefficient.
        value: f64,
    },
    /// No slips, or more than two.
    #[error("{owner} has {found} slips")]
    SlipCount {
        /// The contact or joint.
        owner: String,
        /// How many.
        found: usize,
    },
    /// A velocity in a formula of positions.
    #[error("`{key}` depends on velocities")]
    DependsOnVelocity {
        /// The key.
        key: String,
    },
    /// A word that is none of those expected.
    #[error("`{key}` is `{found}`")]
    UnknownWord {
        /// The key.
        key: String,
        /// The word.
        found: String,
        /// The words that were expected.
        expected: &'static str,
    },
    /// An override of a parameter that the file does not have.
    #[error("cannot set `{name}`: unknown parameter")]
    UnknownParameter {
        /// The name.
        name: String,
        /// The one that may have been meant.
        suggestion: Option<String>,
    },
    /// An override with a value that cannot be read.
    #[error("cannot set `{name}` to `{value}`: {kind}")]
    Override {
        /// The parameter.
        name: String,
        /// The value given.
        value: String,
        /// What is wrong with it.
        kind: ExpressionErrorKind,
    },
    /// The system cannot be evaluated at the state of the file.
    #[error("{0}")]
    Evaluation(AnalyzeError),
}

impl FileErrorKind {
    /// What was expected, where the message does not say it already.
    pub(super) fn help(&self) -> Option<String> {
        use FileErrorKind::*;
        Some(match self {
            TooLarge { limit, .. } => format!("expected at most {limit} bytes"),
            NotToml { message } if !message.contains("expected") => "expected TOML".to_string(),
            NotToml { .. } | NoScene | NotASystem | NotAWorld | Evaluation(_) => return None,
            NotXml { .. } => "expected XML".to_string(),
            TwoScenes => "expected one of them".to_string(),
            World(kind) => return kind.help(),
            MissingKey { expected, .. } | WrongType { expected, .. } | UnknownWord { expected, .. } => {
                format!("expected {expected}")
            }
            UnknownKey { known, suggestion, .. } => with_suggestion(&format!("one of {known}"), suggestion),
            Expression(kind) => kind.help(),
            Name(NameError::NotAnIdentifier { .. }) => {
                "expected a letter or underscore, then letters, digits and underscores".to_string()
            }
            Name(NameError::Reserved { .. }) => {
                "expected another name: `t`, `pi` and function names are taken".to_string()
            }
            Name(_) | DuplicateName { .. } => "expected a name of its own".to_string(),
            EmptyName => "expected a name".to_string(),
            NoCoordinates => "expected the names of the coordinates, e.g. [\"x\", \"y\"]".to_string(),
            TooManyCoordinates { limit, .. } => format!("expected at most {limit}"),
            UnknownCoordinate { known, suggestion, .. } => {
                with_suggestion(&format!("a coordinate ({known})"), suggestion)
            }
            UnknownContact { known, suggestion, .. } => {
                with_suggestion(&format!("a contact ({known})"), suggestion)
            }
            PerContact { what, expected, names, .. } => {
                format!("expected as many {what} as contacts: {expected} ({names})")
            }
            NotFinite { .. } => "expected a finite number".to_string(),
            Conflict { .. } | Neither { .. } => "expected exactly one of them".to_string(),
            FrictionWithoutSlip { .. } => {
                "expected `slip` or `slip_velocity` beside it: friction acts along a slip".to_string()
            }
            NegativeFriction { .. } => "expected a number that is not negative".to_string(),
            Restitution { .. } => "expected a number from 0 to 1".to_string(),
            SlipCount { .. } => "expected one (planar) or two (spatial)".to_string(),
            DependsOnVelocity { .. } => "expected a formula of positions and time".to_string(),
            UnknownParameter { suggestion, .. } => {
                with_suggestion("a parameter of the file ([parameters])", suggestion)
            }
            Override { kind, .. } => kind.help(),
        })
    }
}
