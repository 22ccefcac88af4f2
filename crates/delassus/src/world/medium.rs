//! Air or water around all bodies: drag and lift by simple shapes that stand for them.
//!
//! In the axes of such a shape, v the velocity of its centre against the medium and ω its angular velocity,
//! the force f and the moment m on it are, in a medium of density ρ and viscosity η,
//!
//! ```text
//! box with edges b:        d = (b₁ + b₂ + b₃)/3
//!   f_i = −(3π d η + ½ ρ b_j b_k |v_i|) v_i ,   m_i = −(π d³ η + ρ b_i (b_j⁴ + b_k⁴) |ω_i| / 64) ω_i
//!
//! ellipsoid with half axes a₁, a₂, a₃:   d = ⅔ (a₁ + a₂ + a₃) ,   V its volume ,   N_i = (a_j a_k)² v_i
//!   A = π |N| / √(N·v)  its shadow along v ,   A⁺ its largest shadow
//!   J_i = (8π/15) a_i max(a_j, a_k)⁴ ,   J⁺ = (8π/15) a_mid a_max⁴
//!   f = −(3π d η + ρ |v| (c_b A + c_s (A⁺ − A))) v                                  blunt and slender drag
//!       + c_k ρ A (N·v)/(|N|² |v|) (N × v) × v + c_m ρ V ω × v                     lift (Kutta, Magnus)
//!       + ρ (μ ∘ v) × ω                                                              the medium set in motion
//!   m = −(π d³ η + ρ |ω ∘ (c_a J + c_s (J⁺ − J))|) ω
//!       + ρ (μ ∘ v) × v + ρ (ι ∘ ω) × ω
//! ```
//!
//! ∘ multiplies component by component. μ and ι are the mass and the moments of a medium of density one that
//! move with an ellipsoid in potential flow (H. Lamb, Hydrodynamics, §§114, 115; κ there is α₀):
//!
//! ```text
//! κ_i = a₁a₂a₃ ∫₀^∞ dλ / ((a_i² + λ) √((a₁² + λ)(a₂² + λ)(a₃² + λ))) ,   μ_i = V κ_i/(2 − κ_i)
//! ι_i = (V/5) (a_j² − a_k²)² (κ_k − κ_j) / (2 (a_j² − a_k²) + (a_j² + a_k²)(κ_j − κ_k))
//! ```
//!
//! Both are the models of MuJoCo, whose numbers this gives. As there, the medium that moves along has no
//! inertia against acceleration, and its density carries no weight.
//!
//! What is written with a minus sign are resistances, which may be stiff: they are rows of a joint of their
//! own, dampers in the solve, six for each shape. The rest are forces like weight. A substep takes
//! resistances at the end of its way, in axes that turned on it: of first order where a shape turns, of
//! second elsewhere.

use std::f64::consts::PI;

use glam::DVec3;

use super::joint_frames::{Frames, Function};
use super::{BodyState, Joint, JointKind, Pose, World, WorldState};

/// What surrounds all bodies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Medium {
    /// Density, kg/m³.
    pub density: f64,
    /// Viscosity, Pa s.
    pub viscosity: f64,
    /// Its velocity, m/s.
    pub wind: DVec3,
    /// What of bodies it acts on.
    pub parts: Vec<Immersed>,
}

/// A shape that stands for a body, or for a part of it, in a medium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Immersed {
    /// The body.
    pub body: usize,
    /// Its centre and axes, seen from the axes of the body.
    pub pose: Pose,
    /// What it is.
    pub form: ImmersedForm,
}

/// The shapes that stand for bodies in a medium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ImmersedForm {
    /// A box.
    Box {
        /// Its edges, m.
        edges: DVec3,
    },
    /// An ellipsoid.
    Ellipsoid {
        /// Half its axes, m.
        half_axes: DVec3,
        /// Its coefficients.
        coefficients: FluidCoefficients,
        /// What moves with it of a medium of density one: mass along and moment about each axis.
        added: [DVec3; 2],
    },
}

/// The coefficients of drag and lift of an ellipsoid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FluidCoefficients {
    /// Drag of its shadow along the velocity.
    pub blunt: f64,
    /// Drag of the rest of its largest shadow.
    pub slender: f64,
    /// Drag of its rotation.
    pub angular: f64,
    /// Lift by its inclination.
    pub kutta: f64,
    /// Lift by its rotation.
    pub magnus: f64,
}

impl Default for FluidCoefficients {
    fn default() -> Self {
        FluidCoefficients { blunt: 0.5, slender: 0.25, angular: 1.5, kutta: 1.0, magnus: 1.0 }
    }
}

/// Force and moment.
type Wrench = [DVec3; 2];

/// What a medium does to a shape, in the axes of the shape: −resistance ∘ velocity + lift.
struct Action {
    /// Along and about each axis, not negative.
    resistance: Wrench,
    lift: Wrench,
}

impl ImmersedForm {
    /// An ellipsoid and what moves with it.
    pub fn ellipsoid(half_axes: DVec3, coefficients: FluidCoefficients) -> Self {
        ImmersedForm::Ellipsoid { half_axes, coefficients, added: added_inertia(half_axes) }
    }

    /// What a medium does to it at the velocity v of its centre and the angular velocity ω.
    fn action(&self, medium: &Medium, v: DVec3, omega: DVec3) -> Action {
        let (density, viscosity) = (medium.density, medium.viscosity);
        match *self {
            ImmersedForm::Box { edges: b } => {
                let d = b.element_sum() / 3.0;
                let sides = DVec3::new(b.y * b.z, b.z * b.x, b.x * b.y);
                let fourth = b * b * b * b;
                let sums = DVec3::splat(fourth.element_sum()) - fourth;
                let force = 3.0 * PI * d * viscosity + 0.5 * density * sides * v.abs();
                let moment = PI * d.powi(3) * viscosity + density / 64.0 * b * sums * omega.abs();
                Action { resistance: [force, moment], lift: [DVec3::ZERO; 2] }
            }
            ImmersedForm::Ellipsoid { half_axes: a, coefficients: c, added: [mass, moment] } => {
                let d = 2.0 / 3.0 * a.element_sum();
                let (longest, shortest) = (a.max_element(), a.min_element());
                let middle = a.element_sum() - longest - shortest;
                let speed = v.length();
                let normal = DVec3::new(a.y * a.z, a.z * a.x, a.x * a.y).powf(2.0) * v;
                let along = normal.dot(v);
                // At rest a shape has no shadow along its velocity, and nothing acts on it.
                let moves = along > 0.0 && speed > 0.0;
                let shadow = if moves { PI * normal.length() / along.sqrt() } else { 0.0 };
                let largest = PI * longest * middle;
                let drag = speed * (c.blunt * shadow + c.slender * (largest - shadow));
                let of = |own: f64, other: f64| 8.0 / 15.0 * PI * own * other.powi(4);
                let most = DVec3::splat(of(middle, longest));
                let turning = DVec3::new(of(a.x, a.y.max(a.z)), of(a.y, a.z.max(a.x)), of(a.z, a.x.max(a.y)));
                let spin = (omega * (c.angular * turning + c.slender * (most - turning))).length();
                let force = 3.0 * PI * d * viscosity + density * drag;
                let torque = PI * d.powi(3) * viscosity + density * spin;
                let volume = 4.0 / 3.0 * PI * a.x * a.y * a.z;
                let kutta = match moves {
                    true => {
                        let slope = along / (normal.length_squared() * speed);
                        c.kutta * shadow * slope * normal.cross(v).cross(v)
                    }
                    false => DVec3::ZERO,
                };
                let (carried, turned) = (mass * v, moment * omega);
                let lift = density * (kutta + c.magnus * volume * omega.cross(v) + carried.cross(omega));
                let twist = density * (carried.cross(v) + turned.cross(omega));
                Action { resistance: [DVec3::splat(force), DVec3::splat(torque)], lift: [lift, twist] }
            }
        }
    }
}

/// Mass and moments of what moves with an ellipsoid in a medium of density one.
fn added_inertia(a: DVec3) -> [DVec3; 2] {
    let volume = 4.0 / 3.0 * PI * a.x * a.y * a.z;
    let s = a * a;
    let of = |i: usize| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        2.0 / 3.0 * a.x * a.y * a.z * carlson_d(s[j], s[k], s[i])
    };
    let kappa = DVec3::new(of(0), of(1), of(2));
    let moment = |i: usize| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        let difference = s[j] - s[k];
        let below = 2.0 * difference + (s[j] + s[k]) * (kappa[j] - kappa[k]);
        // About an axis of rotation nothing is moved: there both differences are rounding.
        match difference.abs() > 1e-9 * (s[j] + s[k]) && below != 0.0 {
            true => volume / 5.0 * difference * difference * (kappa[k] - kappa[j]) / below,
            false => 0.0,
        }
    };
    [volume * kappa / (DVec3::splat(2.0) - kappa), DVec3::new(moment(0), moment(1), moment(2))]
}

/// R_D(x, y, z) = (3/2) ∫₀^∞ dt / ((t + z) √((t + x)(t + y)(t + z))) of positive numbers, by duplication
/// (B. C. Carlson, Numerical computation of real or complex elliptic integrals, 1995, §2).
fn carlson_d(mut x: f64, mut y: f64, mut z: f64) -> f64 {
    let (mut sum, mut factor) = (0.0, 1.0);
    loop {
        let mean = (x + y + 3.0 * z) / 5.0;
        let [a, b, c] = [x, y, z].map(|w| (mean - w) / mean);
        // What the series leaves out is of the sixth order: 3e-16.
        if a.abs().max(b.abs()).max(c.abs()) < 2e-3 {
            let (ab, cc) = (a * b, c * c);
            let (e2, e3) = (ab - 6.0 * cc, (3.0 * ab - 8.0 * cc) * c);
            let (e4, e5) = (3.0 * (ab - cc) * cc, ab * cc * c);
            let series = 1.0 - 3.0 * e2 / 14.0 + e3 / 6.0 + 9.0 * e2 * e2 / 88.0
                - 3.0 * e4 / 22.0
                - 9.0 * e2 * e3 / 52.0
                + 3.0 * e5 / 26.0;
            return 3.0 * sum + factor * series / (mean * mean.sqrt());
        }
        let [u, v, w] = [x, y, z].map(f64::sqrt);
        let lambda = u * v + v * w + w * u;
        sum += factor / (w * (z + lambda));
        factor *= 0.25;
        [x, y, z] = [x, y, z].map(|t| 0.25 * (t + lambda));
    }
}

impl Medium {
    /// Whether it acts on anything.
    pub(crate) fn acts(&self) -> bool {
        self.density > 0.0 || self.viscosity > 0.0
    }

    /// The joint whose rows are the resistances of this medium: a world with a medium has one, as its last.
    /// `ground` is a body that is fixed.
    pub fn joint(ground: usize) -> Joint {
        Joint::new("medium", JointKind::Tendon(vec![]), [ground; 2], [Pose::IDENTITY; 2])
    }

    /// Resistances along and about the axes of a part, and what else acts on it there: lift, and what the
    /// wind pushes with.
    fn action(&self, part: &Immersed, s: &BodyState) -> Action {
        let to_part = part.pose.rotation.conjugate();
        let omega = s.angular_velocity;
        let wind = to_part * s.pose.local_vector(self.wind);
        let v = to_part * (s.pose.local_vector(s.velocity) + omega.cross(part.pose.position));
        let Action { resistance, lift: [force, moment] } = part.form.action(self, v - wind, to_part * omega);
        Action { resistance, lift: [force + resistance[0] * wind, moment] }
    }
}

impl Joint {
    /// Whether its rows are the resistances of a medium.
    pub(crate) fn is_medium(&self) -> bool {
        matches!(&self.kind, JointKind::Tendon(terms) if terms.is_empty())
    }
}

/// Calls a function with every motion that a medium resists: along and about the axes of each of its parts,
/// as a function of frames on a body that is fixed and on the body, and with what resists it now.
pub(super) fn resistances(
    world: &World,
    state: &WorldState,
    ground: usize,
    mut call: impl FnMut([usize; 2], &Frames, Function, f64),
) {
    let Some(medium) = world.medium.as_ref().filter(|medium| medium.acts()) else { return };
    for part in medium.parts.iter().filter(|part| !world.bodies[part.body].fixed) {
        let [along, about] = medium.action(part, &state.bodies[part.body]).resistance;
        let bodies = [ground, part.body];
        let frames = Frames::between(bodies, &[Pose::IDENTITY, part.pose], state);
        for (k, damping) in along.to_array().into_iter().chain(about.to_array()).enumerate() {
            let mut axes = [0.0; 6];
            axes[k] = 1.0;
            call(bodies, &frames, frames.own_motion(&axes), damping);
        }
    }
}

/// Force in world axes and moment in those of the body on every body that moves, without resistances.
pub(crate) fn lift_of_medium(
    world: &World,
    states: impl Fn(usize) -> BodyState,
    mut emit: impl FnMut(usize, Wrench),
) {
    let Some(medium) = world.medium.as_ref().filter(|medium| medium.acts()) else { return };
    for part in medium.parts.iter().filter(|part| !world.bodies[part.body].fixed) {
        let s = states(part.body);
        let [force, moment] = medium.action(part, &s).lift.map(|x| part.pose.rotation * x);
        let moment = moment + part.pose.position.cross(force);
        emit(part.body, [s.pose.rotation * force, moment]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;

    /// Values that Carlson gives (1995, §3).
    #[test]
    fn an_elliptic_integral_has_its_known_values() {
        let near = |a: f64, b: f64| (a - b).abs() < 1e-14;
        assert!(near(carlson_d(1e-300, 2.0, 1.0), 1.797_210_352_103_388_3));
        assert!(near(carlson_d(2.0, 3.0, 4.0), 0.165_105_272_942_610_53));
        assert!(near(carlson_d(1.0, 1.0, 1.0), 1.0));
    }

    /// Half of what a ball displaces moves with it, and nothing turns.
    #[test]
    fn a_ball_carries_half_of_what_it_displaces() {
        let [mass, moment] = added_inertia(DVec3::splat(0.3));
        let half = 2.0 / 3.0 * PI * 0.3_f64.powi(3);
        assert!((mass - DVec3::splat(half)).length() < 1e-14 && moment == DVec3::ZERO, "{mass} {moment}");
    }

    /// Numbers of MuJoCo 4.0.0, `qfrc_passive` and `geom_fluid`: its integrals are quadratures with an error
    /// of 1e-6.
    #[test]
    fn forces_are_those_of_mujoco() {
        let half = DVec3::new(0.1, 0.05, 0.02);
        let given = FluidCoefficients { blunt: 0.4, slender: 0.2, angular: 1.2, kutta: 0.8, magnus: 0.5 };
        let cases = [
            (
                ImmersedForm::Box { edges: 2.0 * half },
                [-3.45460853608806, -2.38927095093262, 1.70118330804403],
                [-0.00768451928590261, 0.00570525964295131, -0.0191662789288539],
            ),
            (
                ImmersedForm::ellipsoid(half, given),
                [-1.83958820690814, -4.42552543190921, 3.28306516257727],
                [-0.133622367493628, 0.0138093811770129, -0.057179780819526],
            ),
        ];
        let rotation = DQuat::from_xyzw(0.5, -0.1, 0.7, 0.5);
        let s = BodyState {
            pose: Pose { position: DVec3::ZERO, rotation },
            velocity: DVec3::new(1.0, 0.5, -0.3),
            angular_velocity: DVec3::new(2.0, -1.0, 3.0),
        };
        let wind = DVec3::new(0.3, -0.1, 0.05);
        let medium = Medium { density: 1000.0, viscosity: 0.7, wind, parts: vec![] };
        for (form, force, moment) in cases {
            let part = Immersed { body: 0, pose: Pose::IDENTITY, form };
            let Action { resistance, lift } = medium.action(&part, &s);
            let along = rotation * (lift[0] - resistance[0] * s.pose.local_vector(s.velocity));
            let about = lift[1] - resistance[1] * s.angular_velocity;
            let near = |a: DVec3, b: [f64; 3]| (a - DVec3::from_array(b)).length() < 1e-5 * a.length();
            assert!(near(along, force) && near(about, moment), "{along} {about}");
        }
        let [mass, inertia] = added_inertia(half);
        let expected = [
            [4.41857517e-05, 1.36721346e-04, 8.07710594e-04],
            [1.68555635e-07, 1.16118313e-06, 1.26400149e-07],
        ];
        for (found, expected) in [mass, inertia].iter().zip(expected) {
            let expected = DVec3::from_array(expected);
            assert!((*found - expected).length() < 1e-4 * expected.length(), "{found} {expected}");
        }
    }
}
