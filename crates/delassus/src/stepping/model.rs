//! Data that is constant during a step: the world, its masses and the options.
//!
//! ```text
//! v ← v + h M⁻¹F(q) ,   q ← q ⊕ h v
//! ```
//!
//! v has 6 entries per moving body, F weight, constant forces and those of a medium. Source: 004 eq. 9.

use std::sync::Arc;

use delassus_solve::problem::Law;

use super::options::{FrictionLaw, Scheme, StepOptions};
use crate::collision::{Contact, ContactRows};
use crate::world::{BodyState, FIXED_SLOT, Grain, Masses, Surface, World, drift, lift_of_medium};
use glam::DVec3;

/// Approach speeds below this fraction of g h, the speed gravity adds in one step, cause no rebound.
pub(super) const REST_SPEED_RATIO: f64 = 0.1;
/// Gaps below this many position tolerances count as touching.
const TOUCHING_TOLERANCES: f64 = 1e3;
/// Allowed penetration, as a fraction of the touching distance.
const YIELDING_RATIO: f64 = 0.1;

/// Slip below this part of what a step of free fall gives is what solves leave.
const SLIP_OF_FREE_FALL: f64 = 1e-4;
/// The least speed that counts as motion, where nothing falls, m/s.
pub(super) const LEAST_SPEED: f64 = 1e-7;
/// Contacts up to which a step is made with care: with retries, bounded work and passes for exact gaps.
pub(super) const MAX_CAREFUL_CONTACTS: usize = 64;
/// A direction of friction whose angle to the normal has a smaller sine gives no tangent.
const MIN_GRAIN_SINE: f64 = 1e-6;

/// A world, its masses and the options of its steps.
pub(super) struct Model {
    pub(super) world: Arc<World>,
    pub(super) masses: Masses,
    pub(super) options: StepOptions,
    /// Whether some surface has another friction of what sticks, and whether some has tangential restitution.
    static_friction: bool,
    tangential_restitution: bool,
}

impl Model {
    pub(super) fn new(world: Arc<World>, options: StepOptions) -> Self {
        Model {
            masses: Masses::new(&world),
            static_friction: world.surfaces.iter().any(|s| s.mu_static.is_some_and(|mu| mu > s.mu)),
            tangential_restitution: world.surfaces.iter().any(|s| s.restitution_tangential > 0.0),
            world,
            options,
        }
    }

    /// Whether some contacts may have another coefficient of friction while they stick.
    pub(super) fn has_static_friction(&self) -> bool {
        self.static_friction
    }

    /// Whether some contacts may have tangential restitution.
    pub(super) fn has_tangential_restitution(&self) -> bool {
        self.tangential_restitution
    }

    /// Slip up to this speed is none, m/s.
    pub(super) fn stick_speed(&self) -> f64 {
        (SLIP_OF_FREE_FALL * self.world.gravity.length() * self.options.dt).max(LEAST_SPEED)
    }

    /// Whether a step has two solves, one that ends in positions and one that ends in velocities.
    pub(super) fn is_symmetric(&self) -> bool {
        self.options.scheme == Scheme::Symmetric
    }

    /// How long forces act before the solve that ends in positions, in a substep of length h.
    pub(super) fn first_kick(&self, h: f64) -> f64 {
        if self.is_symmetric() { 0.5 * h } else { h }
    }

    /// Gap below which a contact counts as touching, m.
    pub(super) fn touching(&self) -> f64 {
        TOUCHING_TOLERANCES * self.options.position_tolerance
    }

    /// Allowed penetration, m.
    pub(super) fn yielding(&self) -> f64 {
        YIELDING_RATIO * self.touching()
    }

    /// Approach speed below which there is no rebound, m/s.
    pub(super) fn rest_speed(&self) -> f64 {
        REST_SPEED_RATIO * self.world.gravity.length() * self.options.dt
    }

    /// Arrival speed below which a contact that closes with the acceleration a comes to rest, m/s: the next
    /// rebound would last less than a small part of a step, or not rise above what counts as touching.
    pub(super) fn zeno_speed(&self, a: f64) -> f64 {
        let a = a.abs();
        (REST_SPEED_RATIO * a * self.options.dt).max((2.0 * a * self.touching()).sqrt())
    }

    /// Whether any bodies rebound from each other.
    pub(super) fn rebounds(&self) -> bool {
        self.world.surfaces.iter().any(|surface| surface.restitution > 0.0)
    }

    /// v ← v + h M⁻¹F at the poses and velocities of these bodies.
    pub(super) fn kick(&self, bodies: &[BodyState], h: f64, v: &mut [f64]) {
        self.weigh(bodies, h, v);
        self.lift(|body| bodies[body], h, v);
    }

    /// The second half of a substep of the length h, after a way with the velocities of `end`: weight at its
    /// end, and a medium of the middle in both halves together, since its forces w depend on velocities.
    ///
    /// ```text
    /// v ← v + (h/2) M⁻¹F(q₁) + (h/2) M⁻¹ (w(q₀, v_½) + w(q₁, v_½) − w(q₀, v₀))
    /// ```
    pub(super) fn second_kick(
        &self,
        start: &[BodyState],
        middle: &[f64],
        end: &[BodyState],
        h: f64,
        v: &mut [f64],
    ) {
        self.weigh(end, 0.5 * h, v);
        if self.world.medium.is_none() {
            return;
        }
        let before = |body: usize| {
            let at = 6 * self.masses.slot[body] as usize;
            BodyState {
                velocity: DVec3::from_slice(&middle[at..at + 3]),
                angular_velocity: DVec3::from_slice(&middle[at + 3..at + 6]),
                ..start[body]
            }
        };
        self.lift(before, 0.5 * h, v);
        self.lift(|body| end[body], 0.5 * h, v);
        self.lift(|body| start[body], -0.5 * h, v);
    }

    /// v ← v + h M⁻¹w of a medium, w without its resistances.
    fn lift(&self, states: impl Fn(usize) -> BodyState, h: f64, v: &mut [f64]) {
        lift_of_medium(&self.world, states, |body, [force, moment]| {
            let at = 6 * self.masses.slot[body] as usize;
            for c in 0..3 {
                v[at + c] += h * force[c] * self.masses.inverse[at + c];
                v[at + 3 + c] += h * moment[c] * self.masses.inverse[at + 3 + c];
            }
        });
    }

    /// v ← v + h M⁻¹F of weight and constant forces at the poses of these bodies.
    fn weigh(&self, bodies: &[BodyState], h: f64, v: &mut [f64]) {
        for ((body, s), &slot) in self.world.bodies.iter().zip(bodies).zip(&self.masses.slot) {
            if slot != FIXED_SLOT {
                let at = 6 * slot as usize;
                let a = self.world.gravity + body.constant_force() / body.mass;
                let b = s.pose.local_vector(body.force[1]) / body.inertia;
                for c in 0..3 {
                    v[at + c] += h * a[c];
                    v[at + 3 + c] += h * b[c];
                }
            }
        }
    }

    /// Accelerations M⁻¹F at the poses and velocities of these bodies into `out`.
    pub(super) fn accelerations(&self, bodies: &[BodyState], out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.masses.mass.len(), 0.0);
        self.kick(bodies, 1.0, out);
    }

    /// The free motion of these bodies over the time h with the velocities `v`.
    pub(super) fn drift(&self, v: &[f64], h: f64, bodies: &mut [BodyState]) {
        self.masses.scatter_velocities(v, bodies);
        let moving = self.world.bodies.iter().zip(bodies).filter(|(body, _)| !body.fixed);
        moving.for_each(|(body, s)| *s = drift(body, s, h));
    }

    /// The rows of a contact with its law at the poses of these bodies, and its coefficient of restitution.
    pub(super) fn contact_rows(&self, contact: &Contact, bodies: &[BodyState]) -> (ContactRows, f64) {
        let surface = self.surface_of(contact);
        let slot = &self.masses.slot;
        let mut rows = match surface.grain {
            None => {
                let mu = surface.mu_static.unwrap_or(surface.mu);
                ContactRows::new(contact, bodies, slot, self.law_of(&surface, mu))
            }
            Some(grain) => {
                let larger = surface.mu.max(grain.mu_across);
                let scale = [surface.mu / larger, grain.mu_across / larger];
                let first = self.along_grain(&grain, contact, bodies);
                ContactRows::along(contact, bodies, slot, self.law_of(&surface, larger), (first, scale))
            }
        };
        if self.static_friction && surface.mu_static.is_some() {
            let u = contact.relative_velocity(bodies);
            if (u - contact.normal * u.dot(contact.normal)).length() > self.stick_speed() {
                rows.law = rows.law.with_mu(surface.mu);
            }
        }
        (rows, surface.restitution)
    }

    /// What happens where the bodies of a contact touch.
    pub(super) fn surface_of(&self, contact: &Contact) -> Surface {
        let [a, b] = contact.bodies;
        self.world.surface(a as usize, b as usize)
    }

    /// The law of a surface with this coefficient of friction.
    pub(super) fn law_of(&self, surface: &Surface, mu: f64) -> Law {
        let Surface { rolling, spinning, .. } = *surface;
        match self.options.law {
            _ if mu == 0.0 && rolling == 0.0 && spinning == 0.0 => Law::Unilateral,
            FrictionLaw::Ncp if spinning > 0.0 => Law::Spinning { mu, rolling, spinning },
            FrictionLaw::Ncp if rolling > 0.0 => Law::Rolling { mu, rolling },
            FrictionLaw::Ncp => Law::Coulomb { mu },
            FrictionLaw::Ccp if spinning > 0.0 => Law::ConeSpinning { mu, rolling, spinning },
            FrictionLaw::Ccp if rolling > 0.0 => Law::ConeRolling { mu, rolling },
            FrictionLaw::Ccp => Law::Cone { mu },
        }
    }

    /// The unit tangent along a direction of friction; where that is along the normal, another direction that
    /// is fixed in the body.
    fn along_grain(&self, grain: &Grain, contact: &Contact, bodies: &[BodyState]) -> DVec3 {
        let rotation = bodies[grain.body].pose.rotation * self.world.bodies[grain.body].frame.rotation;
        let axis = grain.axis.normalize_or_zero();
        let across = |axis: DVec3| {
            let axis = rotation * axis;
            let part = axis - contact.normal * axis.dot(contact.normal);
            (part.length() > MIN_GRAIN_SINE).then(|| part.normalize())
        };
        let other = axis.any_orthonormal_vector();
        across(axis).or_else(|| across(other)).unwrap_or_else(|| contact.normal.any_orthonormal_vector())
    }
}

/// Worlds and substeps for the unit tests of this module.
#[cfg(test)]
pub(super) mod fixtures {
    use super::*;
    use crate::formula::{AnyFormula, Expression, Symbols};
    use crate::stepping::linearization::{Linearization, Linearizer};
    use crate::world::{Action, ActionKind, Axis, Body, Coordinate, Joint, JointKind};
    use crate::world::{Pose, Shape, ShapeKind, WorldState};

    /// The mass, the principal moment of inertia and the radius of each ball.
    pub const MASS: f64 = 2.0;
    pub const INERTIA: f64 = 0.05;
    pub const RADIUS: f64 = 0.25;

    /// A body with one shape at its centre of mass.
    pub fn body(name: &str, fixed: bool, kind: ShapeKind) -> Body {
        Body {
            name: name.into(),
            fixed,
            mass: MASS,
            inertia: DVec3::splat(INERTIA),
            shapes: vec![Shape { kind, pose: Pose::IDENTITY }],
            frame: Pose::IDENTITY,
            force: [DVec3::ZERO; 2],
            carried: DVec3::ZERO,
        }
    }

    /// Where a body is and how fast its centre moves.
    pub fn at(position: DVec3, velocity: DVec3) -> BodyState {
        BodyState { pose: Pose { position, ..Pose::IDENTITY }, velocity, angular_velocity: DVec3::ZERO }
    }

    /// A floor, z ≤ 0, and a ball on it with this gap and velocity. Gravity is 10 m/s².
    pub fn ball_on_floor(surface: Surface, gap: f64, velocity: DVec3) -> (World, WorldState) {
        let floor = body("floor", true, ShapeKind::Plane);
        let ball = body("ball", false, ShapeKind::Sphere { radius: RADIUS });
        let world = World {
            name: String::new(),
            gravity: DVec3::new(0.0, 0.0, -10.0),
            bodies: vec![floor, ball],
            joints: vec![],
            surfaces: vec![surface],
            no_contact: vec![],
            plane: None,
            sensors: vec![],
            medium: None,
        };
        let bodies = vec![at(DVec3::ZERO, DVec3::ZERO), at(DVec3::new(0.0, 0.0, RADIUS + gap), velocity)];
        (world, WorldState { t: 0.0, bodies, coordinates: vec![] })
    }

    /// A surface without friction and restitution.
    pub fn smooth() -> Surface {
        Surface::default()
    }

    /// A formula of time.
    pub fn formula(text: &str) -> AnyFormula {
        AnyFormula::new(Expression::parse(text, &Symbols::default()).unwrap())
    }

    /// A ball that slides along the z axis on the frame, with one action on its coordinate, at height z. No
    /// gravity.
    pub fn slider(kind: ActionKind, z: f64, velocity: f64) -> (World, WorldState) {
        let frame = body("frame", true, ShapeKind::Sphere { radius: 0.5 * RADIUS });
        let ball = body("ball", false, ShapeKind::Sphere { radius: RADIUS });
        let mut joint = Joint::new("guide", JointKind::Prismatic, [0, 1], [Pose::IDENTITY; 2]);
        joint.actions.push(Action { coordinate: Coordinate::Along(Axis::Z), kind });
        let world = World {
            name: String::new(),
            gravity: DVec3::ZERO,
            bodies: vec![frame, ball],
            joints: vec![joint],
            surfaces: vec![],
            no_contact: vec![[0, 1]],
            plane: None,
            sensors: vec![],
            medium: None,
        };
        let bodies = vec![at(DVec3::ZERO, DVec3::ZERO), at(z * DVec3::Z, velocity * DVec3::Z)];
        (world, WorldState { t: 0.0, bodies, coordinates: vec![] })
    }

    /// A model of a world and its linearization at a state, for a substep of length h.
    pub fn linearized(
        world: World,
        state: &mut WorldState,
        options: StepOptions,
        h: f64,
    ) -> (Model, Linearization) {
        let model = Model::new(world.into(), options);
        let mut linearization = Linearization::default();
        Linearizer::new(&model).linearize(&model, state, h, model.first_kick(h), &mut linearization);
        (model, linearization)
    }
}

#[cfg(test)]
mod tests {
    use super::fixtures::*;
    use super::*;

    #[test]
    fn a_kick_gives_weight_and_force_over_mass_and_fixed_bodies_nothing() {
        let (mut world, state) = ball_on_floor(smooth(), 1.0, DVec3::X);
        world.bodies[1].force = [DVec3::new(4.0, 0.0, 0.0), DVec3::new(0.0, 0.1, 0.0)];
        let model = Model::new(world.into(), StepOptions::default());
        let mut v = vec![1.0; 6];
        model.kick(&state.bodies, 0.5, &mut v);
        // ½ s of 4 N on 2 kg, 10 m/s² downwards and 0.1 N m on 0.05 kg m².
        assert_eq!(v, [2.0, 1.0, -4.0, 1.0, 2.0, 1.0]);
        let mut bodies = state.bodies.clone();
        model.drift(&[1.0, 0.0, 2.0, 0.0, 0.0, 0.0], 0.5, &mut bodies);
        assert_eq!(bodies[1].pose.position, state.bodies[1].pose.position + DVec3::new(0.5, 0.0, 1.0));
        assert_eq!(bodies[0], state.bodies[0]);
    }
}
