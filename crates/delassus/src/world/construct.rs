//! Worlds written in Rust: bodies from their shapes, surfaces, and a scene that places them.
//!
//! ```text
//! m = Σ mₖ ,   c = Σ mₖ cₖ / m ,   I = Σ (Iₖ + mₖ (|d|² E − d dᵀ)) ,   d = cₖ − c
//! ```
//!
//! A body of given mass m has the density that its shapes k have in common. Its axes are the principal axes
//! of I at the centre of mass c; the frame in which its shapes were given is kept in [`Body::frame`], as for
//! a body of a file.
//!
//! ```
//! use delassus::prelude::*;
//!
//! let mut scene = Scene::default(); // weight along −z, no bodies
//! let ground = scene.add(Body::ground());
//! let crate_ = scene.add(Body::block("crate", 2.0, DVec3::splat(0.1)).at(DVec3::new(0.0, 0.0, 0.1)));
//! scene.world.surfaces.push(Surface::friction(0.5).between(ground, crate_));
//! assert_eq!(scene.world.surface(0, 1).mu, 0.5);
//! assert!((scene.world.bodies[1].inertia.x - 2.0 * 0.02 / 3.0).abs() < 1e-16);
//! ```

use glam::{DQuat, DVec3};

use super::{
    Body, BodyState, Grain, Joint, MassProperties, NoVolume, Pose, Shape, ShapeKind, Surface, World,
    WorldState, principal_axes, shape_mass, update_joint_coordinates,
};

/// Acceleration of free fall where none is given, m/s²: the one of world files.
const GRAVITY: f64 = 9.81;

/// A body of a world: its place in [`World::bodies`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BodyId(u32);

/// A joint of a world: its place in [`World::joints`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct JointId(u32);

impl BodyId {
    /// The body at a place of [`World::bodies`].
    pub fn new(index: usize) -> Self {
        BodyId(index as u32)
    }

    /// Its place in [`World::bodies`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl JointId {
    /// The joint at a place of [`World::joints`].
    pub fn new(index: usize) -> Self {
        JointId(index as u32)
    }

    /// Its place in [`World::joints`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A world and its state at the start.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Bodies, joints and the laws between them.
    pub world: World,
    /// Positions and velocities at the start.
    pub state: WorldState,
}

impl Default for Scene {
    /// No bodies, at time 0, under [`World::default`]'s gravity.
    fn default() -> Self {
        let state = WorldState { t: 0.0, bodies: vec![], coordinates: vec![] };
        Scene { world: World::default(), state }
    }
}

impl Scene {
    /// Adds a body: placed by [`Body::at`], or at rest with its frame at the origin.
    pub fn add(&mut self, body: impl Into<PlacedBody>) -> BodyId {
        let PlacedBody { body, state } = body.into();
        self.world.bodies.push(body);
        self.state.bodies.push(state);
        BodyId::new(self.world.bodies.len() - 1)
    }

    /// Adds a joint between two bodies of the scene where they stand now. `at` is its frame in world axes:
    /// the origin is the point of the joint, z its axis ([`Pose::along`]). The two bodies then pass through
    /// each other. A body that is not of this scene is reported by `check_world`, when the scene begins to
    /// move.
    pub fn join(&mut self, bodies: [BodyId; 2], at: Pose, joint: Joint) -> JointId {
        let bodies = bodies.map(BodyId::index);
        let placed = |b: usize| self.state.bodies.get(b).map_or(Pose::IDENTITY, |s| s.pose);
        let frames = bodies.map(|b| placed(b).inverse().compose(&at));
        self.world.joints.push(Joint { bodies, frames, ..joint });
        self.pass_through(bodies.map(BodyId::new));
        if bodies.iter().all(|&b| b < self.state.bodies.len()) {
            update_joint_coordinates(&self.world, &mut self.state);
        }
        JointId::new(self.world.joints.len() - 1)
    }

    /// Lets two bodies pass through each other: no contacts between them.
    pub fn pass_through(&mut self, bodies: [BodyId; 2]) {
        let [a, b] = bodies.map(BodyId::index);
        let pair = [a.min(b), a.max(b)];
        if let Err(place) = self.world.no_contact.binary_search(&pair) {
            self.world.no_contact.insert(place, pair);
        }
    }
}

/// A body with its state at the start.
#[derive(Clone, Debug)]
pub struct PlacedBody {
    /// The body.
    pub body: Body,
    /// Where its centre of mass and principal axes are, and how they move.
    pub state: BodyState,
}

impl From<Body> for PlacedBody {
    /// At rest, its frame at the origin.
    fn from(body: Body) -> Self {
        body.at(DVec3::ZERO)
    }
}

impl PlacedBody {
    /// The same place, rotated about the origin of the body's frame.
    pub fn rotated(mut self, rotation: DQuat) -> Self {
        let position = self.state.pose.compose(&self.body.frame).position;
        self.state.pose = Pose { position, rotation }.compose(&self.body.frame.inverse());
        self
    }

    /// With a velocity of its centre of mass, world axes, m/s.
    pub fn with_velocity(mut self, velocity: DVec3) -> Self {
        self.state.velocity = velocity;
        self
    }

    /// With an angular velocity, world axes, rad/s. Comes after [`PlacedBody::rotated`].
    pub fn with_angular_velocity(mut self, angular_velocity: DVec3) -> Self {
        self.state.angular_velocity = self.state.pose.local_vector(angular_velocity);
        self
    }
}

impl Default for World {
    /// No bodies, weight 9.81 m/s² along −z.
    fn default() -> Self {
        World {
            name: String::new(),
            gravity: DVec3::new(0.0, 0.0, -GRAVITY),
            bodies: vec![],
            joints: vec![],
            surfaces: vec![],
            no_contact: vec![],
            plane: None,
            sensors: vec![],
            medium: None,
        }
    }
}

impl Default for Body {
    /// A free body of mass 1 kg and moments 1 kg m² without shape, force and name.
    fn default() -> Self {
        Body {
            name: String::new(),
            fixed: false,
            mass: 1.0,
            inertia: DVec3::ONE,
            shapes: vec![],
            frame: Pose::IDENTITY,
            force: [DVec3::ZERO; 2],
            carried: DVec3::ZERO,
        }
    }
}

impl Body {
    /// A body of given mass and shapes of one density; shapes stand in the frame of the body.
    pub fn solid(name: &str, mass: f64, shapes: Vec<Shape>) -> Result<Body, NoVolume> {
        let mut whole = MassProperties::ZERO;
        for shape in &shapes {
            whole = whole.plus(&shape_mass(&shape.kind)?.placed(&shape.pose));
        }
        if whole.mass <= 0.0 {
            return Err(NoVolume::Unbounded { kind: "body without shapes" });
        }
        let whole = whole.scaled(mass / whole.mass);
        let (inertia, rotation) = principal_axes(&whole.inertia);
        let frame = Pose { position: whole.centre, rotation }.inverse();
        let shapes =
            shapes.into_iter().map(|s| Shape { pose: frame.compose(&s.pose), kind: s.kind }).collect();
        Ok(Body { name: name.to_string(), mass, inertia, shapes, frame, ..Body::default() })
    }

    /// A ball.
    pub fn ball(name: &str, mass: f64, radius: f64) -> Body {
        Body::of_shape(name, mass, ShapeKind::Sphere { radius })
    }

    /// A block with these half edges.
    pub fn block(name: &str, mass: f64, half_extents: DVec3) -> Body {
        Body::of_shape(name, mass, ShapeKind::Box { half_extents })
    }

    /// A circular cylinder along z.
    pub fn cylinder(name: &str, mass: f64, radius: f64, half_height: f64) -> Body {
        Body::of_shape(name, mass, ShapeKind::Cylinder { radius, half_height })
    }

    /// All points within the radius of a segment along z.
    pub fn capsule(name: &str, mass: f64, radius: f64, half_height: f64) -> Body {
        Body::of_shape(name, mass, ShapeKind::Capsule { radius, half_height })
    }

    /// A body that never moves.
    pub fn fixed(name: &str, shapes: Vec<Shape>) -> Body {
        Body {
            name: name.to_string(),
            fixed: true,
            mass: 0.0,
            inertia: DVec3::ZERO,
            shapes,
            ..Body::default()
        }
    }

    /// The fixed half space z ≤ 0, named `ground`.
    pub fn ground() -> Body {
        Body::fixed("ground", vec![ShapeKind::Plane.into()])
    }

    /// Where it stands, its frame at the origin, with a velocity of its centre of mass, world axes, m/s.
    pub fn with_velocity(self, velocity: DVec3) -> PlacedBody {
        PlacedBody::from(self).with_velocity(velocity)
    }

    /// At rest, with the origin of its frame at a position, its axes along those of the world.
    pub fn at(self, position: DVec3) -> PlacedBody {
        let pose = Pose { position, rotation: DQuat::IDENTITY }.compose(&self.frame.inverse());
        let state = BodyState { pose, velocity: DVec3::ZERO, angular_velocity: DVec3::ZERO };
        PlacedBody { body: self, state }
    }

    /// A body of one primitive. Where its numbers make no sense, `check_world` names them; the moments then
    /// do not count.
    fn of_shape(name: &str, mass: f64, kind: ShapeKind) -> Body {
        Body::solid(name, mass, vec![kind.clone().into()]).unwrap_or_else(|_| Body {
            name: name.to_string(),
            mass,
            shapes: vec![kind.into()],
            ..Body::default()
        })
    }
}

impl From<ShapeKind> for Shape {
    /// At the origin of the body's frame.
    fn from(kind: ShapeKind) -> Self {
        Shape { kind, pose: Pose::IDENTITY }
    }
}

impl Default for Surface {
    /// Between any two bodies, without friction and restitution.
    fn default() -> Self {
        Surface {
            between: [None, None],
            mu: 0.0,
            mu_static: None,
            grain: None,
            restitution: 0.0,
            restitution_tangential: 0.0,
            rolling: 0.0,
            spinning: 0.0,
        }
    }
}

impl Surface {
    /// Coulomb friction between any two bodies.
    pub fn friction(mu: f64) -> Surface {
        Surface { mu, ..Surface::default() }
    }

    /// The same between two bodies only.
    pub fn between(self, a: BodyId, b: BodyId) -> Surface {
        Surface { between: [Some(a.index()), Some(b.index())], ..self }
    }

    /// The same with a coefficient of restitution (Newton).
    pub fn with_restitution(self, restitution: f64) -> Surface {
        Surface { restitution, ..self }
    }

    /// The same with another, larger, friction coefficient of what sticks.
    pub fn with_static_friction(self, mu_static: f64) -> Surface {
        Surface { mu_static: Some(mu_static), ..self }
    }

    /// The same with another friction coefficient across a direction on one of the two bodies.
    pub fn with_grain(self, body: BodyId, axis: DVec3, mu_across: f64) -> Surface {
        Surface { grain: Some(Grain { body: body.index(), axis, mu_across }), ..self }
    }
}

impl Pose {
    /// A frame at a point whose z axis has a direction: where a joint stands. Where the direction is zero, z
    /// stays.
    pub fn along(point: DVec3, axis: DVec3) -> Pose {
        let rotation =
            axis.try_normalize().map_or(DQuat::IDENTITY, |z| DQuat::from_rotation_arc(DVec3::Z, z));
        Pose { position: point, rotation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{WorldError, check_world, opening};

    #[test]
    fn two_balls_on_a_line_have_steiners_moments() {
        let (m, r, d) = (3.0, 0.2, 0.7);
        let ball = |x: f64| Shape {
            kind: ShapeKind::Sphere { radius: r },
            pose: Pose { position: DVec3::new(x, 0.0, 0.0), rotation: DQuat::IDENTITY },
        };
        let body = Body::solid("dumb-bell", m, vec![ball(0.0), ball(2.0 * d)]).unwrap();
        let own = 0.4 * m * r * r;
        let exact = DVec3::new(own, own + m * d * d, own + m * d * d);
        assert!((body.inertia - exact).length() < 1e-14, "{}", body.inertia);
        // The centre of mass is between them, and the frame stays where it was given.
        assert!((body.frame.position - DVec3::new(-d, 0.0, 0.0)).length() < 1e-15);
        let placed = body.at(DVec3::new(1.0, 2.0, 3.0)).rotated(DQuat::from_rotation_z(1.5));
        let centre = DVec3::new(1.0 + d * 1.5_f64.cos(), 2.0 + d * 1.5_f64.sin(), 3.0);
        assert!((placed.state.pose.position - centre).length() < 1e-14);
    }

    #[test]
    fn joints_are_closed_where_they_are_made() {
        let mut scene = Scene::default();
        let ground = scene.add(Body::ground());
        let tilted = DQuat::from_rotation_x(0.3);
        let rod =
            scene.add(Body::capsule("rod", 1.0, 0.05, 0.4).at(DVec3::new(0.1, 0.2, 1.0)).rotated(tilted));
        let hinge = Pose::along(DVec3::new(0.0, 0.2, 1.4), DVec3::new(0.0, 3.0, 4.0));
        assert!((hinge.rotation * DVec3::Z - DVec3::new(0.0, 0.6, 0.8)).length() < 1e-15);
        let id = scene.join([ground, rod], hinge, Joint::revolute("hinge"));
        assert_eq!((id.index(), scene.world.joints[0].bodies), (0, [0, 1]));
        assert!(opening(&scene.world, &scene.state).joints < 1e-15);
        assert_eq!(scene.world.no_contact, [[0, 1]]);
        assert_eq!(check_world(&scene.world, &scene.state), Ok(()));
    }

    #[test]
    fn numbers_without_sense_are_found_by_the_check() {
        let mut scene = Scene::default();
        scene.add(Body::ball("ball", 1.0, -0.1));
        let error = check_world(&scene.world, &scene.state).unwrap_err();
        assert!(matches!(&error, WorldError::Shape { body, .. } if body == "ball"), "{error}");
        let mut scene = Scene::default();
        scene.add(Body::ball("ball", f64::NAN, 0.1));
        let error = check_world(&scene.world, &scene.state).unwrap_err();
        assert!(matches!(error, WorldError::Body { what: "mass", .. }), "{error}");
    }
}
