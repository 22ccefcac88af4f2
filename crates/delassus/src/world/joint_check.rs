//! Whether joints make sense, each by itself.

use thiserror::Error;

use super::joint::{ActionKind, Coordinate, Curve, Joint, JointKind, TendonPart, TendonTerm};
use super::{Servo, World};

/// A joint that makes no sense.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum JointError {
    /// One of its bodies does not exist.
    #[error("joint `{joint}`: there is no body number {body}")]
    NoBody {
        /// The joint.
        joint: String,
        /// The body.
        body: usize,
    },
    /// It joins a body to itself.
    #[error("joint `{joint}` joins body `{body}` to itself")]
    SameBody {
        /// The joint.
        joint: String,
        /// The body.
        body: String,
    },
    /// A number of it is outside of its range.
    #[error("joint `{joint}`: {what} is {value}, but must be {range}")]
    OutOfRange {
        /// The joint.
        joint: String,
        /// What is wrong.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        range: &'static str,
    },
    /// A coupler of joints that do not exist or have no coordinate.
    #[error("coupler `{joint}`: joint number {other} does not exist or has no coordinate")]
    NoCoordinate {
        /// The coupler.
        joint: String,
        /// What it couples.
        other: usize,
    },
    /// A tendon of a joint that does not exist or is one itself, or of a body that does not exist.
    #[error("tendon `{joint}`: {what} number {other} does not exist, or is a tendon or a coupler")]
    NoTendonPart {
        /// The tendon.
        joint: String,
        /// Joint or body.
        what: &'static str,
        /// Its number.
        other: usize,
    },
    /// A tendon with something on another coordinate than its length.
    #[error("tendon `{joint}` has no coordinate but its length")]
    NotLength {
        /// The tendon.
        joint: String,
    },
    /// The parameter of a curve where there is none.
    #[error("joint `{joint}` has no curve, and so no parameter along it")]
    NoCurve {
        /// The joint.
        joint: String,
    },
}

/// Whether the joints of a world make sense, each by itself.
pub fn check_joints(world: &World) -> Result<(), JointError> {
    world.joints.iter().try_for_each(|joint| check_joint(world, joint))
}

// Long: one condition after the other, each with its message.
fn check_joint(world: &World, joint: &Joint) -> Result<(), JointError> {
    let name = || joint.name.clone();
    if let Some(&body) = joint.bodies.iter().find(|&&b| b >= world.bodies.len()) {
        return Err(JointError::NoBody { joint: name(), body });
    }
    if joint.bodies[0] == joint.bodies[1] && !joint.is_medium() {
        return Err(JointError::SameBody { joint: name(), body: world.bodies[joint.bodies[0]].name.clone() });
    }
    let require = |holds: bool, what: &'static str, value: f64, range: &'static str| match holds {
        true => Ok(()),
        false => Err(JointError::OutOfRange { joint: name(), what, value, range }),
    };
    let finite = |what, value: f64| require(value.is_finite(), what, value, "finite");
    let positive = |what, value: f64| require(value.is_finite() && value > 0.0, what, value, "positive");
    let at_least_zero = |what, value: f64| require(value >= 0.0, what, value, "zero or more");
    let restitution = |value| require((0.0..=1.0).contains(&value), "restitution", value, "between 0 and 1");
    for frame in &joint.frames {
        let (p, r) = (frame.position, frame.rotation);
        p.to_array().into_iter().chain(r.to_array()).try_for_each(|x| finite("a number of its frames", x))?;
        require(r.is_normalized(), "the length of the quaternion of a frame", r.length(), "1")?;
    }
    match joint.kind {
        JointKind::Screw { pitch } => finite("pitch", pitch)?,
        JointKind::Distance { length } => positive("length", length)?,
        JointKind::Rope { length, restitution: e } => {
            positive("length", length)?;
            restitution(e)?;
        }
        JointKind::PointOnCurve(Curve { range: [from, to], .. }) => {
            finite("the start of its curve", from)?;
            require(to.is_finite() && to > from, "the end of its curve", to, "behind the start")?;
        }
        JointKind::Coupler { joints, factors, offset } => {
            for other in joints {
                let has = world.joints.get(other).is_some_and(|j| j.kind.coordinate().is_some());
                has.then_some(()).ok_or(JointError::NoCoordinate { joint: name(), other })?;
            }
            factors
                .into_iter()
                .try_for_each(|f| require(f.is_finite() && f != 0.0, "a factor", f, "finite and not 0"))?;
            finite("offset", offset)?;
        }
        JointKind::Tendon(ref terms) => check_tendon(world, joint, terms, &require)?,
        _ => {}
    }
    for action in &joint.actions {
        let curve = matches!(joint.kind, JointKind::PointOnCurve(_));
        if action.coordinate == Coordinate::Parameter && !curve {
            return Err(JointError::NoCurve { joint: name() });
        }
        if matches!(joint.kind, JointKind::Tendon(_)) && action.coordinate != Coordinate::Length {
            return Err(JointError::NotLength { joint: name() });
        }
        match action.kind {
            ActionKind::Limits { lower, upper, restitution: e } => {
                require(lower < f64::INFINITY, "lower limit", lower, "less than infinity")?;
                require(upper > lower, "upper limit", upper, "above the lower one")?;
                restitution(e)?;
            }
            ActionKind::Speed { force, .. } => at_least_zero("force of the motor", force)?,
            ActionKind::Position { force, speed, .. } => {
                at_least_zero("force of the motor", force)?;
                require(speed > 0.0, "speed of the motor", speed, "positive")?;
            }
            ActionKind::Spring { stiffness, damping, rest } => {
                at_least_zero("stiffness", stiffness)?;
                at_least_zero("damping", damping)?;
                [stiffness, damping, rest].into_iter().try_for_each(|x| finite("a number of a spring", x))?;
            }
            ActionKind::Servo(ref servo) => check_servo(servo, &require)?,
            ActionKind::Armature { inertia } => positive("armature", inertia)?,
            ActionKind::Force { .. } | ActionKind::Drive { .. } => {}
        }
    }
    if let Some(friction) = joint.friction {
        at_least_zero("friction coefficient", friction.coefficient)?;
        at_least_zero("friction radius", friction.radius)?;
        at_least_zero("friction force", friction.force)?;
        at_least_zero("friction moment", friction.moment)?;
    }
    Ok(())
}

fn check_tendon(
    world: &World,
    joint: &Joint,
    terms: &[TendonTerm],
    require: &impl Fn(bool, &'static str, f64, &'static str) -> Result<(), JointError>,
) -> Result<(), JointError> {
    let missing = |what, other| Err(JointError::NoTendonPart { joint: joint.name.clone(), what, other });
    let finite = |x: f64| require(x.is_finite(), "a number of a tendon", x, "finite");
    for TendonTerm { factor, part } in terms {
        finite(*factor)?;
        let bodies = match part {
            &TendonPart::Coordinate { joint: other, coordinate }
            | &TendonPart::Polynomial { joint: other, coordinate, .. } => {
                if let TendonPart::Polynomial { coefficients, .. } = part {
                    coefficients.iter().try_for_each(|x| finite(*x))?;
                }
                let is_tendon =
                    |j: &Joint| matches!(j.kind, JointKind::Tendon(_) | JointKind::Coupler { .. });
                let Some(of) = world.joints.get(other).filter(|j| !is_tendon(j)) else {
                    return missing("joint", other);
                };
                if coordinate == Coordinate::Parameter && !matches!(of.kind, JointKind::PointOnCurve(_)) {
                    return Err(JointError::NoCurve { joint: of.name.clone() });
                }
                continue;
            }
            TendonPart::Segment { bodies, points } => {
                points.iter().flat_map(|p| p.to_array()).try_for_each(finite)?;
                bodies
            }
            TendonPart::Twist { bodies, frame, axes } => {
                let numbers = frame.position.to_array().into_iter().chain(*axes);
                numbers.chain(frame.rotation.to_array()).try_for_each(finite)?;
                bodies
            }
        };
        if let Some(&body) = bodies.iter().find(|&&b| b >= world.bodies.len()) {
            return missing("body", body);
        }
    }
    Ok(())
}

fn check_servo(
    servo: &Servo,
    require: &impl Fn(bool, &'static str, f64, &'static str) -> Result<(), JointError>,
) -> Result<(), JointError> {
    for value in [servo.stiffness, servo.damping] {
        require(value.is_finite() && value >= 0.0, "stiffness or damping of a servo", value, "zero or more")?;
    }
    for value in [servo.gain, servo.offset] {
        require(value.is_finite(), "gain or offset of a servo", value, "finite")?;
    }
    for [low, high] in [servo.control_range, servo.force_range] {
        require(low <= high, "the end of a range of a servo", high, "at least its start")?;
    }
    Ok(())
}
