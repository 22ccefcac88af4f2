//! Joints: which relative motions of two bodies they allow, and what acts along them.
//!
//! ```text
//! g(q, t) = 0 ,   lower ≤ c(q) ≤ upper ,   c the coordinate of a joint
//! ```
//!
//! A joint has a frame on each body, A on the first and B on the second. With d from the origin of A to that
//! of B, the frames measure six relative motions: the three displacements of B along the axes of A and the
//! three rotations of B against A. A kind of joint locks some of them; along or about the others there may be
//! limits, motors, springs, drives and friction. Source: 004 §1, eq. 6.

use thiserror::Error;

use super::{Pose, Servo, World};
use crate::formula::AnyFormula;

/// A joint between two bodies.
#[derive(Clone, Debug)]
pub struct Joint {
    /// Name.
    pub name: String,
    /// The two bodies.
    pub bodies: [usize; 2],
    /// A frame on each body, in its axes; they coincide in the position in which the joint is drawn. Its z
    /// axis is the axis of the joint.
    pub frames: [Pose; 2],
    /// Which motions it allows.
    pub kind: JointKind,
    /// Limits, motors, springs and drives, each on one coordinate.
    pub actions: Vec<Action>,
    /// Dry friction against all motions that the joint allows.
    pub friction: Option<JointFriction>,
}

impl Joint {
    /// A joint without limits, motors, springs, drives and friction.
    pub fn new(name: &str, kind: JointKind, bodies: [usize; 2], frames: [Pose; 2]) -> Joint {
        Joint { name: name.to_string(), bodies, frames, kind, actions: Vec::new(), friction: None }
    }

    /// Whether nothing on it depends on time.
    pub(crate) fn is_timeless(&self) -> bool {
        let timeless = |formula: &AnyFormula| formula.variables().is_some_and(|on| !on.time);
        self.actions.iter().all(|action| match &action.kind {
            ActionKind::Limits { .. } | ActionKind::Spring { .. } | ActionKind::Armature { .. } => true,
            ActionKind::Speed { target, .. } | ActionKind::Position { target, .. } => timeless(target),
            ActionKind::Force { force } => timeless(force),
            ActionKind::Servo(servo) => timeless(&servo.control),
            ActionKind::Drive { position } => timeless(position),
        })
    }

    /// A joint of a kind that [`Scene::join`](super::Scene::join) puts between two bodies.
    pub fn of_kind(name: &str, kind: JointKind) -> Joint {
        Joint::new(name, kind, [0; 2], [Pose::IDENTITY; 2])
    }

    /// A weld, for [`Scene::join`](super::Scene::join).
    pub fn fixed(name: &str) -> Joint {
        Joint::of_kind(name, JointKind::Fixed)
    }

    /// A hinge about z, for [`Scene::join`](super::Scene::join).
    pub fn revolute(name: &str) -> Joint {
        Joint::of_kind(name, JointKind::Revolute)
    }

    /// A slider along z, for [`Scene::join`](super::Scene::join).
    pub fn prismatic(name: &str) -> Joint {
        Joint::of_kind(name, JointKind::Prismatic)
    }

    /// A ball joint, for [`Scene::join`](super::Scene::join).
    pub fn ball(name: &str) -> Joint {
        Joint::of_kind(name, JointKind::Ball)
    }

    /// With something that acts on the coordinate of the joint ([`JointKind::coordinate`]). A joint without
    /// coordinate takes it along z.
    pub fn with_action(mut self, kind: ActionKind) -> Joint {
        let coordinate = self.kind.coordinate().unwrap_or(Coordinate::Along(Axis::Z));
        self.actions.push(Action { coordinate, kind });
        self
    }

    /// With limits of its coordinate, without restitution.
    pub fn with_limits(self, lower: f64, upper: f64) -> Joint {
        self.with_action(ActionKind::Limits { lower, upper, restitution: 0.0 })
    }

    /// With a force or moment along its coordinate, N or N m: what a feedback controller sets.
    pub fn with_force(self, force: impl Into<AnyFormula>) -> Joint {
        self.with_action(ActionKind::Force { force: force.into() })
    }

    /// With a motor that keeps a speed as long as its force or moment suffices.
    pub fn with_speed_motor(self, target: impl Into<AnyFormula>, force: f64) -> Joint {
        self.with_action(ActionKind::Speed { target: target.into(), force })
    }

    /// With a motor that goes to a position as fast as its force or moment allows.
    pub fn with_position_motor(self, target: impl Into<AnyFormula>, force: f64) -> Joint {
        self.with_action(ActionKind::Position { target: target.into(), force, speed: f64::INFINITY })
    }

    /// With a spring and a damper on its coordinate.
    pub fn with_spring(self, stiffness: f64, damping: f64, rest: f64) -> Joint {
        self.with_action(ActionKind::Spring { stiffness, damping, rest })
    }

    /// With the inertia of a rotor that its coordinate drives, kg m² or kg.
    pub fn with_armature(self, inertia: f64) -> Joint {
        self.with_action(ActionKind::Armature { inertia })
    }
}

/// The kinds of joints.
#[derive(Clone, Debug)]
pub enum JointKind {
    /// No relative motion.
    Fixed,
    /// Rotation about z.
    Revolute,
    /// Displacement along z.
    Prismatic,
    /// Rotation about z and displacement along z.
    Cylindrical,
    /// Rotation about the z axis of A and about the x axis of B, which stay perpendicular.
    Universal,
    /// All rotations.
    Ball,
    /// Displacements along x and y, rotation about z.
    Planar,
    /// Rotation about z, with a displacement along z in proportion.
    Screw {
        /// Displacement per full turn, m.
        pitch: f64,
    },
    /// The origins of A and B stay at a distance: a rod with a ball at either end.
    Distance {
        /// The distance, m.
        length: f64,
    },
    /// The origins of A and B are at most at a distance.
    Rope {
        /// The distance, m.
        length: f64,
        /// Coefficient of restitution when it becomes taut.
        restitution: f64,
    },
    /// The origin of B stays on the z axis of A.
    PointOnLine,
    /// The origin of B stays in the xy plane of A.
    PointOnPlane,
    /// The origin of B stays on a curve on the first body.
    PointOnCurve(Curve),
    /// A linear relation between the coordinates c₁ and c₂ of two other joints: gears, rack and pinion,
    /// pulleys.
    ///
    /// factors₁ c₁ + factors₂ c₂ = offset
    Coupler {
        /// The two joints; each has a coordinate (see [`JointKind::coordinate`]).
        joints: [usize; 2],
        /// Their factors.
        factors: [f64; 2],
        /// Right-hand side.
        offset: f64,
    },
    /// Any of the six motions locked: displacements along x, y, z, then rotations about x, y, z. Where two
    /// rotations are free, the first axis after the locked one in the order x, y, z, x, … belongs to A, the
    /// second to B.
    Generic {
        /// Which are locked.
        locked: [bool; 6],
    },
}

impl JointKind {
    /// Which displacements along and rotations about x, y, z are locked.
    pub fn locked(&self) -> [bool; 6] {
        const O: bool = false;
        const I: bool = true;
        match *self {
            JointKind::Fixed => [I; 6],
            JointKind::Revolute => [I, I, I, I, I, O],
            JointKind::Prismatic => [I, I, O, I, I, I],
            JointKind::Cylindrical | JointKind::Screw { .. } => [I, I, O, I, I, O],
            JointKind::Universal => [I, I, I, O, I, O],
            JointKind::Ball => [I, I, I, O, O, O],
            JointKind::Planar => [O, O, I, I, I, O],
            JointKind::PointOnLine => [I, I, O, O, O, O],
            JointKind::PointOnPlane => [O, O, I, O, O, O],
            JointKind::Generic { locked } => locked,
            JointKind::Distance { .. }
            | JointKind::Rope { .. }
            | JointKind::PointOnCurve(_)
            | JointKind::Coupler { .. } => [O; 6],
        }
    }

    /// The coordinate that is meant where a joint is asked for one: the one kept in
    /// [`WorldState::coordinates`](crate::world::WorldState::coordinates), whose full turns are counted.
    pub fn coordinate(&self) -> Option<Coordinate> {
        match *self {
            JointKind::Fixed | JointKind::Coupler { .. } => None,
            JointKind::Revolute
            | JointKind::Cylindrical
            | JointKind::Universal
            | JointKind::Planar
            | JointKind::Screw { .. } => Some(Coordinate::About(Axis::Z)),
            JointKind::Prismatic | JointKind::PointOnLine => Some(Coordinate::Along(Axis::Z)),
            JointKind::Ball => Some(Coordinate::Swing),
            JointKind::PointOnPlane => Some(Coordinate::Along(Axis::X)),
            JointKind::Distance { .. } | JointKind::Rope { .. } => Some(Coordinate::Length),
            JointKind::PointOnCurve(_) => Some(Coordinate::Parameter),
            JointKind::Generic { locked } => {
                let free = |from: usize| Axis::ALL.into_iter().find(|&k| !locked[from + k as usize]);
                free(3).map(Coordinate::About).or(free(0).map(Coordinate::Along))
            }
        }
    }
}

/// A curve in the axes of the first frame of a joint.
#[derive(Clone, Debug)]
pub struct Curve {
    /// x, y, z as functions of a parameter, which is their one coordinate.
    pub point: [AnyFormula; 3],
    /// Parameters between which the nearest point is looked for at the start. Limits on the parameter make
    /// the curve end there: files have them where the curve is not closed.
    pub range: [f64; 2],
}

/// An axis of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// The first.
    X,
    /// The second.
    Y,
    /// The third.
    Z,
}

impl Axis {
    /// All of them.
    pub const ALL: [Axis; 3] = [Axis::X, Axis::Y, Axis::Z];
}

/// A number that measures the relative position of the frames A and B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinate {
    /// Displacement of the origin of B along an axis of A.
    Along(Axis),
    /// Rotation about an axis. Where the joint leaves two rotations free, the angles of the two in sequence;
    /// otherwise the twist 2 atan2(rₖ, r_w) of the relative quaternion r, the angle itself where the rotation
    /// is about axis k.
    About(Axis),
    /// One of three rotations that follow each other, B = A Rx(α) Ry(β) Rz(γ): the angle of that axis. At β =
    /// ±90° the other two are not defined.
    Cardan(Axis),
    /// Distance between the origins.
    Length,
    /// Angle between the z axes.
    Swing,
    /// Parameter of the nearest point of the curve; of a point on a curve only.
    Parameter,
}

/// What acts on one coordinate of a joint.
#[derive(Clone, Debug)]
pub struct Action {
    /// The coordinate c.
    pub coordinate: Coordinate,
    /// What acts.
    pub kind: ActionKind,
}

/// Limits, motors, springs, drives. A function of time is a formula without coordinates.
#[derive(Clone, Debug)]
pub enum ActionKind {
    /// lower ≤ c ≤ upper; either may be infinite.
    Limits {
        /// Least value.
        lower: f64,
        /// Largest value.
        upper: f64,
        /// Coefficient of restitution.
        restitution: f64,
    },
    /// A motor that keeps ċ at a speed as long as its force suffices.
    Speed {
        /// The speed, a function of time.
        target: AnyFormula,
        /// Largest force or moment.
        force: f64,
    },
    /// A motor that moves c to a position as fast as its force and speed allow.
    Position {
        /// The position, a function of time.
        target: AnyFormula,
        /// Largest force or moment.
        force: f64,
        /// Largest speed; may be infinite.
        speed: f64,
    },
    /// A force or moment along c, a function of time.
    Force {
        /// The force or moment.
        force: AnyFormula,
    },
    /// Force −stiffness (c − rest) − damping ċ.
    Spring {
        /// N/m or N m/rad.
        stiffness: f64,
        /// N s/m or N m s/rad.
        damping: f64,
        /// Where it is without force.
        rest: f64,
    },
    /// A controller with a limited force.
    Servo(Servo),
    /// A rotor that c drives, without weight: it has the energy ½ inertia ċ² and pushes back with −inertia
    /// c̈. A rotor with the inertia I behind a gear of ratio n counts as n² I.
    Armature {
        /// kg m² or kg.
        inertia: f64,
    },
    /// c is a given function of time, whatever force it takes.
    Drive {
        /// The function.
        position: AnyFormula,
    },
}

/// Dry friction in a joint, on each motion that it allows by itself.
///
/// ```text
/// |force| ≤ force + coefficient · load ,   |moment| ≤ moment + coefficient · radius · load
/// ```
///
/// The load is the force that holds the locked displacements.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JointFriction {
    /// Friction coefficient.
    pub coefficient: f64,
    /// Radius at which friction acts against rotations, m.
    pub radius: f64,
    /// Friction force without load, N.
    pub force: f64,
    /// Friction moment without load, N m.
    pub moment: f64,
}

/// Rows of all joints at a state: their Jacobian, values and rates.
///
/// The velocity of row i is Σ over its blocks of block · (ẋ, ω̄) of the block's body, plus its rate. A body
/// has at most one block in a row. All rows of kind [`RowKind::Bilateral`] come first, then all of kind
/// [`RowKind::Limit`], then the others; within these, by joint.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// One entry per row.
    pub rows: Vec<Row>,
    /// Body and the six entries of the Jacobian, for the rows one after the other. Fixed bodies have none.
    pub blocks: Vec<(u32, [f64; 6])>,
    /// Number of rows of kind [`RowKind::Bilateral`].
    pub bilateral: usize,
    /// Number of rows of kind [`RowKind::Limit`].
    pub limits: usize,
}

impl Rows {
    /// The blocks of a row.
    pub fn blocks_of(&self, row: &Row) -> &[(u32, [f64; 6])] {
        &self.blocks[row.blocks[0] as usize..row.blocks[1] as usize]
    }
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Index of the joint.
    pub joint: u32,
    /// Its blocks, as a range.
    pub blocks: [u32; 2],
    /// What it demands.
    pub kind: RowKind,
    /// How far the constraint is from being satisfied: g, the distance to a limit, or c − rest of a spring.
    /// Zero for rows that demand a velocity or give a force.
    pub value: f64,
    /// ∂g/∂t of a driven constraint (004 eq. 6b); minus the target speed of a motor.
    pub rate: f64,
    /// How the force λ of this row enters the load of its joint, √(Σ (load λ)²): 1 for a locked displacement,
    /// 0 elsewhere.
    pub load: f64,
}

/// What a row demands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowKind {
    /// g = 0, whatever force it takes.
    Bilateral,
    /// g ≥ 0, with a force that is not negative.
    Limit {
        /// Coefficient of restitution.
        restitution: f64,
    },
    /// Velocity zero as long as the force does not exceed the bound. The bound may be infinite.
    Bounded {
        /// Largest force or moment.
        force: f64,
        /// Largest force or moment per load of the joint: dry friction (m for a moment).
        per_load: f64,
    },
    /// A force −stiffness · value − damping · velocity.
    Spring {
        /// Stiffness.
        stiffness: f64,
        /// Damping.
        damping: f64,
    },
    /// A force push − stiffness · value − damping · velocity within a range.
    Servo {
        /// Stiffness.
        stiffness: f64,
        /// Damping.
        damping: f64,
        /// What it pushes with at the value zero and at rest.
        push: f64,
        /// Least and largest force.
        range: [f64; 2],
    },
    /// A force −inertia · (change of the velocity per time).
    Armature {
        /// Inertia of the rotor.
        inertia: f64,
    },
    /// A given force.
    Applied {
        /// The force or moment.
        force: f64,
    },
}

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

fn check_joint(world: &World, joint: &Joint) -> Result<(), JointError> {
    let name = || joint.name.clone();
    if let Some(&body) = joint.bodies.iter().find(|&&b| b >= world.bodies.len()) {
        return Err(JointError::NoBody { joint: name(), body });
    }
    if joint.bodies[0] == joint.bodies[1] {
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
        _ => {}
    }
    for action in &joint.actions {
        let curve = matches!(joint.kind, JointKind::PointOnCurve(_));
        if action.coordinate == Coordinate::Parameter && !curve {
            return Err(JointError::NoCurve { joint: name() });
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
