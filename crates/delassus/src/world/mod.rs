//! Rigid bodies with shapes and joints, and their state.
//!
//! ```text
//! q = (x, ε) per body, x ∈ ℝ³ its centre of mass, ε its unit quaternion
//! v = (ẋ, ω̄) per body, ω̄ the angular velocity in the axes of the body
//! M = diag(m, m, m, I₁, I₂, I₃) per body, constant
//! ```
//!
//! The axes of a body are its principal axes of inertia and their origin is its centre of mass, so that the
//! mass matrix is diagonal and never changes. The frame in which a file wrote the body is kept beside it.
//! Source: 004 §1.

mod actuator;
mod check;
mod construct;
mod convex_hull;
mod joint;
mod joint_check;
mod joint_frames;
mod joint_rows;
mod loop_closure;
mod mass_properties;
mod masses;
mod medium;
mod mobility;
mod rigid_body;
mod rows;
mod sensor;
mod servo;
mod set_joint;
mod tree;

pub use actuator::{Actuator, actuators};
pub use check::{ShapeError, TRIANGLE_TOLERANCE, WorldError, check_body_at, check_shape, check_world};
pub use construct::{BodyId, JointId, PlacedBody, Scene};
pub use convex_hull::{Hull, convex_hull, reduced_hull};
pub use joint::{
    Action, ActionKind, Axis, Coordinate, Curve, Joint, JointFriction, JointKind, TendonPart, TendonTerm,
};
pub use joint_check::{JointError, check_joints};
pub use joint_frames::is_closed;
pub use joint_rows::{coordinate_at, joint_coordinate, joint_rows, joint_values, update_joint_coordinates};
pub use loop_closure::{CloseError, Closure, Opening, close_loops, opening, project_velocities};
pub(crate) use mass_properties::open_edges;
pub use mass_properties::{MassProperties, NoVolume, principal_axes, shape_mass};
pub use medium::{FluidCoefficients, Immersed, ImmersedForm, Medium};
pub use mobility::{Mobility, mobility};
pub use rigid_body::{drift, energy, kinetic_energy, potential_energy};
pub use rows::{Row, RowKind, Rows};
pub use sensor::{
    BodyFrame, Measured, MeasuredForces, NormalForce, Seen, Sensor, SensorKind, Together, Zone,
    effort_sensors, joint_sensors, read_sensors,
};
pub use servo::Servo;
pub use set_joint::set_joint;

pub(crate) use joint_rows::{
    distance_to_target, joint_values_with, other_rows_at, renew_other_rows, update_joint_rows,
};
pub(crate) use masses::{
    FIXED_SLOT, Masses, apply_row_impulse, dot6, mean_row_velocity, row_mobility, row_velocity,
};
pub(crate) use medium::lift_of_medium;
pub(crate) use tree::{CompliantRow, MAX_ROWS_AT_ONCE, Tree, TreeBasis, TreeFactor, TreeScratch};

use std::sync::Arc;

use glam::{DQuat, DVec3};

/// Where a frame stands: x ↦ rotation · x + position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    /// Origin.
    pub position: DVec3,
    /// Axes.
    pub rotation: DQuat,
}

impl Pose {
    /// No displacement.
    pub const IDENTITY: Pose = Pose { position: DVec3::ZERO, rotation: DQuat::IDENTITY };

    /// A point of the frame, seen from outside.
    pub fn point(&self, x: DVec3) -> DVec3 {
        self.rotation * x + self.position
    }

    /// A point outside, seen from the frame.
    pub fn local_point(&self, x: DVec3) -> DVec3 {
        self.rotation.conjugate() * (x - self.position)
    }

    /// A direction outside, seen from the frame.
    pub fn local_vector(&self, x: DVec3) -> DVec3 {
        self.rotation.conjugate() * x
    }

    /// The pose that first applies `inner`, then this one.
    pub fn compose(&self, inner: &Pose) -> Pose {
        Pose { position: self.point(inner.position), rotation: (self.rotation * inner.rotation).normalize() }
    }

    /// The pose that undoes this one.
    pub fn inverse(&self) -> Pose {
        let rotation = self.rotation.conjugate();
        Pose { position: -(rotation * self.position), rotation }
    }
}

/// Bodies, joints and the laws between them; never changes while it moves.
#[derive(Clone, Debug)]
pub struct World {
    /// Name.
    pub name: String,
    /// Acceleration of free fall, m/s².
    pub gravity: DVec3,
    /// Bodies; a fixed one does not move.
    pub bodies: Vec<Body>,
    /// Joints between them.
    pub joints: Vec<Joint>,
    /// Friction and restitution; the last entry that matches a pair of bodies counts.
    pub surfaces: Vec<Surface>,
    /// Pairs of bodies that pass through each other, smaller index first, sorted: those joined by a joint,
    /// unless the file lets them collide.
    pub no_contact: Vec<[usize; 2]>,
    /// The normal of the plane in which all bodies stay, held there by joints; `None` in space.
    pub plane: Option<Axis>,
    /// What is recorded beside the motion of bodies.
    pub sensors: Vec<Sensor>,
    /// Air or water around all bodies, with [`Medium::joint`] as the last joint; `None` where they move
    /// without drag.
    pub medium: Option<Medium>,
}

/// A rigid body.
#[derive(Clone, Debug)]
pub struct Body {
    /// Name.
    pub name: String,
    /// Whether it stands still whatever happens. Mass and inertia then do not count.
    pub fixed: bool,
    /// Mass, kg.
    pub mass: f64,
    /// Principal moments of inertia about the centre of mass, kg m².
    pub inertia: DVec3,
    /// Shapes, in the axes of the body.
    pub shapes: Vec<Shape>,
    /// The frame in which the file wrote the body, seen from the axes of the body.
    pub frame: Pose,
    /// Force on the centre of mass in world axes and moment in world axes, constant in time.
    pub force: [DVec3; 2],
    /// A force on the centre of mass in world axes beside that, which carries weight and stays when a load is
    /// set.
    pub carried: DVec3,
}

/// A shape on a body.
#[derive(Clone, Debug)]
pub struct Shape {
    /// What it is.
    pub kind: ShapeKind,
    /// Where it stands on the body.
    pub pose: Pose,
}

/// The shapes. Axes are z.
#[derive(Clone, Debug)]
pub enum ShapeKind {
    /// All points with z ≤ 0.
    Plane,
    /// A ball.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// A box.
    Box {
        /// Half the edges.
        half_extents: DVec3,
    },
    /// All points within the radius of a segment along z.
    Capsule {
        /// Radius.
        radius: f64,
        /// Half the length of the segment.
        half_height: f64,
    },
    /// A circular cylinder.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Half the height.
        half_height: f64,
    },
    /// A circular cone, apex up, its centre midway between apex and base.
    Cone {
        /// Radius of the base.
        radius: f64,
        /// Half the height.
        half_height: f64,
    },
    /// The convex hull of points.
    Convex {
        /// The points.
        points: Vec<DVec3>,
    },
    /// Triangles, solid where they enclose a volume.
    Mesh {
        /// Corners.
        vertices: Vec<DVec3>,
        /// Corners of each triangle, counterclockwise from outside.
        triangles: Vec<[u32; 3]>,
    },
    /// Heights z over a grid in x and y, centred at the origin.
    Heightfield {
        /// Heights, row by row: rows go along y, entries of a row along x.
        heights: Vec<f64>,
        /// Number of heights along x and y.
        size: [usize; 2],
        /// Extent along x and y.
        extent: [f64; 2],
    },
}

/// What happens where two bodies touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surface {
    /// The two bodies; `None` stands for any.
    pub between: [Option<usize>; 2],
    /// Friction coefficient, of what slides where there is another one of what sticks.
    pub mu: f64,
    /// Friction coefficient of what sticks, at least `mu`; `None` where it is the same.
    pub mu_static: Option<f64>,
    /// Friction that differs across a direction: `mu` is the coefficient along it.
    pub grain: Option<Grain>,
    /// Coefficient of restitution (Newton).
    pub restitution: f64,
    /// Coefficient of restitution of the slip, within the limits of friction: a superball has 1.
    pub restitution_tangential: f64,
    /// Coefficient of rolling friction, m.
    pub rolling: f64,
    /// Coefficient of spinning (drilling) friction, m: the moment about the normal is at most this times the
    /// normal force.
    pub spinning: f64,
}

/// A direction on the surface of a body along which friction is another one than across it. The friction
/// (r_1, r_2) along and across stays within (r_1/μ_1)² + (r_2/μ_2)² ≤ r_n² and takes as much power as it can.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grain {
    /// The body, one of those that touch.
    pub body: usize,
    /// The direction, axes of the body as its shapes are given in; its part across the normal counts.
    pub axis: DVec3,
    /// Friction coefficient across it.
    pub mu_across: f64,
}

impl From<&World> for Arc<World> {
    /// A copy, so that who moves a world in time owns it.
    fn from(world: &World) -> Self {
        Arc::new(world.clone())
    }
}

impl World {
    /// Friction and restitution between two bodies; zero where no entry matches.
    pub fn surface(&self, a: usize, b: usize) -> Surface {
        let matches = |entry: &Surface| {
            let [first, second] = entry.between;
            let is = |named: Option<usize>, body: usize| named.is_none_or(|w| w == body);
            (is(first, a) && is(second, b)) || (is(first, b) && is(second, a))
        };
        self.surfaces.iter().rev().find(|entry| matches(entry)).copied().unwrap_or_default()
    }
}

impl Body {
    /// The constant force on the centre of mass: what is set and what carries weight.
    pub fn constant_force(&self) -> DVec3 {
        self.force[0] + self.carried
    }

    /// Distance from the centre of mass within which all its shapes lie, planes left out.
    pub fn bounding_radius(&self) -> f64 {
        self.shapes.iter().map(|shape| shape.pose.position.length() + shape.kind.radius()).fold(0.0, f64::max)
    }
}

impl ShapeKind {
    /// Distance from the origin within which the shape lies; zero for a plane, which has no end.
    pub fn radius(&self) -> f64 {
        let farthest = |points: &[DVec3]| points.iter().map(|p| p.length()).fold(0.0, f64::max);
        match self {
            ShapeKind::Plane => 0.0,
            ShapeKind::Sphere { radius } => *radius,
            ShapeKind::Box { half_extents } => half_extents.length(),
            ShapeKind::Capsule { radius, half_height } => radius + half_height,
            ShapeKind::Cylinder { radius, half_height } | ShapeKind::Cone { radius, half_height } => {
                radius.hypot(*half_height)
            }
            ShapeKind::Convex { points } => farthest(points),
            ShapeKind::Mesh { vertices, .. } => farthest(vertices),
            ShapeKind::Heightfield { heights, extent, .. } => {
                let high = heights.iter().map(|h| h.abs()).fold(0.0, f64::max);
                (0.5 * extent[0]).hypot(0.5 * extent[1]).hypot(high)
            }
        }
    }
}

/// Positions and velocities at a time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorldState {
    /// Time, s.
    pub t: f64,
    /// One per body.
    pub bodies: Vec<BodyState>,
    /// The coordinate of each joint that has one, as last seen: angles count full turns.
    pub coordinates: Vec<f64>,
}

/// Position and velocity of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyState {
    /// Centre of mass and principal axes.
    pub pose: Pose,
    /// Velocity of the centre of mass, world axes.
    pub velocity: DVec3,
    /// Angular velocity, axes of the body.
    pub angular_velocity: DVec3,
}

impl BodyState {
    /// Angular velocity in world axes.
    pub fn world_angular_velocity(&self) -> DVec3 {
        self.pose.rotation * self.angular_velocity
    }

    /// Whether all its numbers are finite.
    pub fn is_finite(&self) -> bool {
        let (pose, v, w) = (&self.pose, self.velocity, self.angular_velocity);
        pose.position.is_finite() && pose.rotation.is_finite() && v.is_finite() && w.is_finite()
    }
}
