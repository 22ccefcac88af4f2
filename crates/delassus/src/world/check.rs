//! Whether the numbers of a world make sense: for worlds that were made in Rust and not read from a file.
//!
//! ```text
//! m > 0 ,   0 < I₁, I₂, I₃ ,   I₁ ≤ I₂ + I₃ ,   |ε| = 1 ,   radii and extents > 0 ,   corners of triangles among the vertices
//! ```

use glam::{DQuat, DVec3};
use thiserror::Error;

use super::joint_check::{JointError, check_joints};
use super::{
    Body, BodyState, Grain, Immersed, ImmersedForm, Medium, Pose, ShapeKind, Surface, World, WorldState,
};

/// Relative tolerance of the triangle inequality of principal moments of inertia: rounding of what people
/// write.
pub const TRIANGLE_TOLERANCE: f64 = 1e-6;

/// What is wrong with a shape.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ShapeError {
    /// A radius, a height or an extent that is not a positive number.
    #[error("{what} is {value}, but must be positive and finite")]
    NotPositive {
        /// What it is.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A corner or a height that is NaN or infinite.
    #[error("{what} number {index} is not finite")]
    NotFinite {
        /// What it is.
        what: &'static str,
        /// Its number, from 0.
        index: usize,
    },
    /// Too few corners, triangles or heights.
    #[error("there are {found} {what}, but there must be at least {least}")]
    TooFew {
        /// Of what.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there must be.
        least: usize,
    },
    /// A triangle with a corner that is not there.
    #[error("triangle number {triangle} has the corner {corner}, but there are {corners}")]
    Corner {
        /// Its number, from 0.
        triangle: usize,
        /// The corner.
        corner: u32,
        /// How many corners there are.
        corners: usize,
    },
    /// Heights that do not fill their grid.
    #[error("there are {found} heights for a grid of {} times {}", size[0], size[1])]
    Grid {
        /// How many there are.
        found: usize,
        /// The grid.
        size: [usize; 2],
    },
}

/// What is wrong with a world.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum WorldError {
    /// A shape of a body.
    #[error("shape {shape} of body `{body}`: {problem}")]
    Shape {
        /// The body.
        body: String,
        /// The number of the shape, from 0.
        shape: usize,
        /// What is wrong.
        problem: ShapeError,
    },
    /// A number of a body.
    #[error("{what} of body `{body}` is {value}, but must be {range}")]
    Body {
        /// The body.
        body: String,
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        range: &'static str,
    },
    /// A number of the world or of a simulation.
    #[error("{what} is {value}, but must be {range}")]
    Number {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What it must be.
        range: &'static str,
    },
    /// Principal moments of inertia that no distribution of mass has.
    #[error(
        "the moments of inertia of body `{body}` break the triangle inequality: {largest} > {} + {}",
        others[0],
        others[1]
    )]
    Triangle {
        /// The body.
        body: String,
        /// The largest moment.
        largest: f64,
        /// The others.
        others: [f64; 2],
    },
    /// A joint.
    #[error("{0}")]
    Joint(#[from] JointError),
    /// Options that exclude each other.
    #[error("{what} does not go with {other}")]
    Together {
        /// One of them.
        what: &'static str,
        /// The other.
        other: &'static str,
    },
    /// States of another number of bodies.
    #[error("there are states of {states} bodies, but {bodies} bodies")]
    States {
        /// How many states.
        states: usize,
        /// How many bodies.
        bodies: usize,
    },
}

/// Whether a shape makes sense.
pub fn check_shape(kind: &ShapeKind) -> Result<(), ShapeError> {
    let positive = |what: &'static str, value: f64| match value > 0.0 && value.is_finite() {
        true => Ok(()),
        false => Err(ShapeError::NotPositive { what, value }),
    };
    let at_least = |what: &'static str, found: usize, least: usize| match found >= least {
        true => Ok(()),
        false => Err(ShapeError::TooFew { what, found, least }),
    };
    let finite = |points: &[DVec3]| match points.iter().position(|p| !p.is_finite()) {
        None => Ok(()),
        Some(index) => Err(ShapeError::NotFinite { what: "corner", index }),
    };
    match kind {
        ShapeKind::Plane => Ok(()),
        ShapeKind::Sphere { radius } => positive("radius", *radius),
        ShapeKind::Box { half_extents } => {
            half_extents.to_array().into_iter().try_for_each(|x| positive("half an edge", x))
        }
        ShapeKind::Capsule { radius, half_height }
        | ShapeKind::Cylinder { radius, half_height }
        | ShapeKind::Cone { radius, half_height } => {
            positive("radius", *radius)?;
            positive("half the height", *half_height)
        }
        ShapeKind::Convex { points } => {
            at_least("points", points.len(), 4)?;
            finite(points)
        }
        ShapeKind::Mesh { vertices, triangles } => {
            at_least("triangles", triangles.len(), 1)?;
            finite(vertices)?;
            let corners = vertices.len();
            let outside = |t: &[u32; 3]| t.iter().copied().find(|&k| k as usize >= corners);
            match triangles.iter().enumerate().find_map(|(i, t)| Some((i, outside(t)?))) {
                None => Ok(()),
                Some((triangle, corner)) => Err(ShapeError::Corner { triangle, corner, corners }),
            }
        }
        ShapeKind::Heightfield { heights, size, extent } => {
            size.iter().try_for_each(|&n| at_least("heights along an axis", n, 2))?;
            if size[0].checked_mul(size[1]) != Some(heights.len()) {
                return Err(ShapeError::Grid { found: heights.len(), size: *size });
            }
            extent.iter().try_for_each(|&x| positive("extent", x))?;
            match heights.iter().position(|h| !h.is_finite()) {
                None => Ok(()),
                Some(index) => Err(ShapeError::NotFinite { what: "height", index }),
            }
        }
    }
}

/// Whether bodies, shapes and joints of a world make sense, and its state belongs to it.
pub fn check_world(world: &World, state: &WorldState) -> Result<(), WorldError> {
    let (states, bodies) = (state.bodies.len(), world.bodies.len());
    if states != bodies {
        return Err(WorldError::States { states, bodies });
    }
    let number = |what: &'static str, value: f64, holds: bool, range: &'static str| match holds {
        true => Ok(()),
        false => Err(WorldError::Number { what, value, range }),
    };
    world.gravity.to_array().into_iter().try_for_each(|g| number("gravity", g, g.is_finite(), "finite"))?;
    number("the time", state.t, state.t.is_finite(), "finite")?;
    for surface in &world.surfaces {
        check_surface(surface)?;
    }
    world.bodies.iter().zip(&state.bodies).try_for_each(|(body, at)| check_body_at(body, at))?;
    let rows_of_medium = world.joints.iter().filter(|joint| joint.is_medium());
    let (last, count) = (world.joints.last().is_some_and(|joint| joint.is_medium()), rows_of_medium.count());
    if let Some(medium) = &world.medium {
        check_medium(medium, &world.bodies)?;
        number("the number of joints of a medium", count as f64, last && count == 1, "1, the last one")?;
    } else {
        number("the number of joints of a medium", count as f64, count == 0, "0 without a medium")?;
    }
    Ok(check_joints(world)?)
}

/// Whether a medium and what of bodies stands in it make sense.
fn check_medium(medium: &Medium, bodies: &[Body]) -> Result<(), WorldError> {
    let number = |what: &'static str, value: f64, holds: bool, range: &'static str| match holds {
        true => Ok(()),
        false => Err(WorldError::Number { what, value, range }),
    };
    for (what, x) in [("the density of the medium", medium.density), ("its viscosity", medium.viscosity)] {
        number(what, x, x >= 0.0 && x.is_finite(), "at least 0")?;
    }
    medium.wind.to_array().into_iter().try_for_each(|x| number("the wind", x, x.is_finite(), "finite"))?;
    for Immersed { body, pose, form } in &medium.parts {
        let Some(of) = bodies.get(*body) else {
            return number("the number of a body in the medium", *body as f64, false, "that of a body");
        };
        check_pose(of, "a place in the medium", pose)?;
        let (sizes, coefficients) = match form {
            ImmersedForm::Box { edges } => (edges, vec![]),
            ImmersedForm::Ellipsoid { half_axes, coefficients: c, added } => {
                let inner = added.iter().flat_map(|x| x.to_array());
                let given = [c.blunt, c.slender, c.angular, c.kutta, c.magnus];
                (half_axes, given.into_iter().chain(inner).collect())
            }
        };
        let positive = |x: f64| require(of, "a size in the medium", x, x > 0.0 && x.is_finite(), "positive");
        sizes.to_array().into_iter().try_for_each(positive)?;
        let given =
            |x: f64| require(of, "a coefficient in the medium", x, x >= 0.0 && x.is_finite(), "at least 0");
        coefficients.into_iter().try_for_each(given)?;
    }
    Ok(())
}

/// Whether the numbers of a surface are coefficients.
fn check_surface(surface: &Surface) -> Result<(), WorldError> {
    let number = |what: &'static str, value: f64, holds: bool, range: &'static str| match holds {
        true => Ok(()),
        false => Err(WorldError::Number { what, value, range }),
    };
    let positive = |what, x: f64| number(what, x, x >= 0.0 && x.is_finite(), "at least 0");
    let mu = surface.mu;
    positive("a friction coefficient", mu)?;
    for e in [surface.restitution, surface.restitution_tangential] {
        number("a restitution", e, (0.0..=1.0).contains(&e), "from 0 to 1")?;
    }
    let (e, slip) = (surface.restitution, surface.restitution_tangential);
    number("a tangential restitution without restitution", slip, slip == 0.0 || e > 0.0, "0")?;
    positive("a coefficient of rolling", surface.rolling)?;
    positive("a coefficient of spinning", surface.spinning)?;
    if let Some(held) = surface.mu_static {
        let holds = held >= mu && held.is_finite();
        number("a coefficient of static friction", held, holds, "at least that of what slides")?;
    }
    let Some(Grain { body, axis, mu_across }) = surface.grain else { return Ok(()) };
    for mu in [mu, mu_across] {
        let holds = mu > 0.0 && mu.is_finite();
        number("a friction coefficient along or across a direction", mu, holds, "more than 0")?;
    }
    let length = axis.length();
    number(
        "the length of a direction of friction",
        length,
        length > 0.0 && length.is_finite(),
        "more than 0",
    )?;
    let (known, named) = (surface.mu_static.is_none(), surface.between.contains(&Some(body)));
    let held = surface.mu_static.unwrap_or(0.0);
    number("a coefficient of static friction beside a direction of friction", held, known, "left out")?;
    number(
        "the number of a body with a direction of friction",
        body as f64,
        named,
        "one of those between which it is",
    )
}

/// Whether a body and its state make sense.
pub fn check_body_at(body: &Body, at: &BodyState) -> Result<(), WorldError> {
    check_body(body)?;
    check_pose(body, "position", &at.pose)?;
    let numbers = at.velocity.to_array().into_iter().chain(at.angular_velocity.to_array());
    numbers.into_iter().try_for_each(|x| require(body, "a velocity", x, x.is_finite(), "finite"))
}

fn require(
    body: &Body,
    what: &'static str,
    value: f64,
    holds: bool,
    range: &'static str,
) -> Result<(), WorldError> {
    match holds {
        true => Ok(()),
        false => Err(WorldError::Body { body: body.name.clone(), what, value, range }),
    }
}

fn check_pose(body: &Body, what: &'static str, pose: &Pose) -> Result<(), WorldError> {
    let DQuat { x, y, z, w, .. } = pose.rotation;
    let numbers = pose.position.to_array().into_iter().chain([x, y, z, w]);
    numbers.into_iter().try_for_each(|x| require(body, what, x, x.is_finite(), "finite"))?;
    let length = pose.rotation.length();
    require(body, "the length of a quaternion", length, pose.rotation.is_normalized(), "1")
}

/// I₁ ≤ I₂ + I₃ for the largest of them, up to the rounding of files with few digits.
fn check_triangle(body: &Body) -> Result<(), WorldError> {
    let mut moments = body.inertia.to_array();
    moments.sort_by(f64::total_cmp);
    let [a, b, largest] = moments;
    match largest <= (a + b) * (1.0 + TRIANGLE_TOLERANCE) {
        true => Ok(()),
        false => Err(WorldError::Triangle { body: body.name.clone(), largest, others: [a, b] }),
    }
}

fn check_body(body: &Body) -> Result<(), WorldError> {
    let positive = |what, x: f64| require(body, what, x, x > 0.0 && x.is_finite(), "positive and finite");
    if !body.fixed {
        positive("mass", body.mass)?;
        body.inertia.to_array().into_iter().try_for_each(|x| positive("a moment of inertia", x))?;
        check_triangle(body)?;
    }
    let forces = body.force.iter().chain([&body.carried]).flat_map(|f| f.to_array());
    forces.into_iter().try_for_each(|x| require(body, "a force", x, x.is_finite(), "finite"))?;
    for (shape, what) in body.shapes.iter().enumerate() {
        check_shape(&what.kind).map_err(|problem| WorldError::Shape {
            body: body.name.clone(),
            shape,
            problem,
        })?;
        check_pose(body, "a place of a shape", &what.pose)?;
    }
    Ok(())
}
