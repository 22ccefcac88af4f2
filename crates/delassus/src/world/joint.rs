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

use glam::DVec3;

use super::{Pose, Servo};
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
    /// A coordinate of its own, the sum of others: its length is Σ factor · (part). It holds nothing; limits,
    /// springs, servos and friction act along its length, and a drive holds it.
    Tendon(Vec<TendonTerm>),
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
            | JointKind::Coupler { .. }
            | JointKind::Tendon(_) => [O; 6],
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
            JointKind::Distance { .. } | JointKind::Rope { .. } | JointKind::Tendon(_) => {
                Some(Coordinate::Length)
            }
            JointKind::PointOnCurve(_) => Some(Coordinate::Parameter),
            JointKind::Generic { locked } => {
                let free = |from: usize| Axis::ALL.into_iter().find(|&k| !locked[from + k as usize]);
                free(3).map(Coordinate::About).or(free(0).map(Coordinate::Along))
            }
        }
    }
}

/// A part of a tendon and its factor.
#[derive(Clone, Debug)]
pub struct TendonTerm {
    /// What a unit of the part adds to the length of the tendon.
    pub factor: f64,
    /// The part.
    pub part: TendonPart,
}

/// What the length of a tendon is made of.
#[derive(Clone, Debug)]
pub enum TendonPart {
    /// A coordinate of another joint that is no tendon.
    Coordinate {
        /// The joint.
        joint: usize,
        /// Its coordinate.
        coordinate: Coordinate,
    },
    /// A polynomial of a coordinate c of another joint that is no tendon: Σ aₖ cᵏ.
    Polynomial {
        /// The joint.
        joint: usize,
        /// Its coordinate.
        coordinate: Coordinate,
        /// a₁ to a₄.
        coefficients: [f64; 4],
    },
    /// The distance between two points, each in the axes of its body.
    Segment {
        /// The bodies.
        bodies: [usize; 2],
        /// The points.
        points: [DVec3; 2],
    },
    /// The motion of a frame on the second body against the first, along and about the axes of the frame: a
    /// velocity without a length. A force along it is a wrench at the frame.
    Twist {
        /// The bodies.
        bodies: [usize; 2],
        /// The frame, in the axes of the second body.
        frame: Pose,
        /// What displacements along and rotations about x, y, z of the frame add.
        axes: [f64; 6],
    },
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

    /// The unit vector along it.
    pub fn vector(self) -> DVec3 {
        match self {
            Axis::X => DVec3::X,
            Axis::Y => DVec3::Y,
            Axis::Z => DVec3::Z,
        }
    }
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
    /// Distance between the origins; of a tendon its length.
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
