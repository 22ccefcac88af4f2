//! Moments, springs and dampers on rigid bodies, as energies and generalized forces.
//!
//! ```text
//! Q = (2/‖ε‖²) (−m·u, w m + m × u) ,     V = ½ k (c − c₀)² ,     Q = −d ċ ∂c/∂q
//! c = a·(x_B − x_A) ,     c = ‖x_B − x_A‖ ,     c = c(0) + 2 atan2(r_z, r_w)
//! ```
//!
//! m ∈ ℝ³ is a moment in world axes on the body with the quaternion ε = (w, u); c a coordinate of a joint, k,
//! d and c₀ stiffness, damping and rest; x_A and x_B are points and a an axis that are fixed on bodies or on
//! the ground, r the quaternion of the rotation about the axis of a hinge since the start.

use std::f64::consts::PI;

use glam::DQuat;

use super::formulas::{Frame, Linear};
use super::vectors::{
    PER_BODY, Slot, Vector, add, angular_velocity, arm, constant, cross, dot, place, quaternion, rotated,
    scale, sub, variables, velocity,
};
use crate::formula::{Formula, Number, Point, Variables};

/// Angles up to this since the start are known; at 2π the quaternion is back at 0.
const LARGEST_ROTATION: f64 = 1.99 * PI;

/// The force on coordinate `part` of a body, 3 to 6, by a moment in world axes.
fn moment_on<N: Number>(slot: usize, part: usize, m: Vector<N>, at: &Point<'_, N>) -> N {
    let (w, u) = quaternion(&at.q[PER_BODY * slot + 3..PER_BODY * slot + 7]);
    let size = w * w + dot(u, u);
    let force = match part {
        3 => -dot(m, u),
        _ => (m[part - 4] * w) + cross(m, u)[part - 4],
    };
    force * 2.0 / size
}

/// A constant moment in world axes, as the force on one coordinate of its body.
pub(super) struct Moment {
    pub(super) slot: usize,
    pub(super) part: usize,
    pub(super) moment: [f64; 3],
}

impl Formula for Moment {
    fn eval<N: Number>(&self, at: &Point<'_, N>) -> N {
        moment_on(self.slot, self.part, constant(self.moment), at)
    }

    fn variables(&self) -> Option<Variables> {
        let first = PER_BODY * self.slot + 3;
        Some(Variables { positions: (first..first + 4).collect(), ..Variables::default() })
    }

    fn is_plain(&self) -> bool {
        true
    }
}

/// A coordinate of a joint.
#[derive(Clone, Copy)]
pub(super) enum Stretch {
    /// Displacement of the second origin along this axis of the first frame.
    Along(usize),
    /// Distance of the origins.
    Length,
    /// Rotation about the z axis, which both frames have in common: its value at the start, and what the
    /// rotation of each body was then, with the axes of the first frame.
    About { start: f64, axes: [DQuat; 2] },
}

/// A spring with a damper between two frames.
#[derive(Clone, Copy)]
pub(super) struct Spring {
    pub(super) frames: [Frame; 2],
    pub(super) stretch: Stretch,
    pub(super) stiffness: f64,
    pub(super) damping: f64,
    pub(super) rest: f64,
}

/// a ∘ b.
fn product<N: Number>(a: (N, Vector<N>), b: (N, Vector<N>)) -> (N, Vector<N>) {
    (a.0 * b.0 - dot(a.1, b.1), add(add(scale(b.1, a.0), scale(a.1, b.0)), cross(a.1, b.1)))
}

/// The rotation of a body, followed by a fixed one.
fn rotation<N: Number>(slot: Slot, fixed: DQuat, at: &Point<'_, N>) -> (N, Vector<N>) {
    let fixed = (N::from_f64(fixed.w), constant([fixed.x, fixed.y, fixed.z]));
    match slot {
        None => fixed,
        Some(s) => product(quaternion(&at.q[PER_BODY * s + 3..PER_BODY * s + 7]), fixed),
    }
}

impl Spring {
    fn slots(&self) -> [Slot; 2] {
        self.frames.map(|frame| frame.slot)
    }

    fn apart<N: Number>(&self, at: &Point<'_, N>) -> Vector<N> {
        let [a, b] = &self.frames;
        sub(place(b.slot, b.origin, at), place(a.slot, a.origin, at))
    }

    /// c.
    fn value<N: Number>(&self, at: &Point<'_, N>) -> N {
        let [a, b] = &self.frames;
        match self.stretch {
            Stretch::Along(k) => dot(rotated(a.slot, constant(a.axes[k]), at), self.apart(at)),
            Stretch::Length => {
                let d = self.apart(at);
                dot(d, d).sqrt()
            }
            Stretch::About { start, axes } => {
                let (w, u) = rotation(a.slot, axes[0], at);
                let (rw, r) = product((w, scale(u, N::from_f64(-1.0))), rotation(b.slot, axes[1], at));
                let angle = r[2].atan2(rw) * 2.0;
                // Beyond that the number of turns is not known: no value, which ends a run.
                let known = angle.value().abs() <= LARGEST_ROTATION;
                angle + (if known { start } else { f64::NAN })
            }
        }
    }

    /// Force and moment about the centre of mass with which a unit force along c acts on the first (false) or
    /// second body, and ċ.
    fn direction<N: Number>(&self, second: bool, at: &Point<'_, N>) -> ([Vector<N>; 2], N) {
        let [a, b] = &self.frames;
        let arms = [arm(a.slot, a.origin, at), arm(b.slot, b.origin, at)];
        if let Stretch::About { .. } = self.stretch {
            let axis = rotated(a.slot, constant(a.axes[2]), at);
            let omega = |slot: Slot| match slot {
                Some(slot) => angular_velocity(slot, 1.0, at),
                None => constant([0.0; 3]),
            };
            let rate = dot(axis, sub(omega(b.slot), omega(a.slot)));
            let sign = N::from_f64(if second { 1.0 } else { -1.0 });
            return ([constant([0.0; 3]), scale(axis, sign)], rate);
        }
        let d = self.apart(at);
        // A displacement along an axis of the first body is measured, and pushes, at the second origin.
        let (n, first_arm) = match self.stretch {
            Stretch::Along(k) => (rotated(a.slot, constant(a.axes[k]), at), add(arms[0], d)),
            _ => (scale(d, N::from_f64(1.0) / dot(d, d).sqrt()), arms[0]),
        };
        let rate = dot(n, sub(velocity(b.slot, arms[1], at), velocity(a.slot, first_arm, at)));
        if second {
            ([n, cross(arms[1], n)], rate)
        } else {
            let back = scale(n, N::from_f64(-1.0));
            ([back, cross(first_arm, back)], rate)
        }
    }
}

/// Weights and springs.
pub(super) struct Potential {
    pub(super) weight: Linear,
    pub(super) springs: Vec<Spring>,
}

impl Formula for Potential {
    fn eval<N: Number>(&self, at: &Point<'_, N>) -> N {
        self.springs.iter().fold(self.weight.eval(at), |sum, spring| {
            let stretch = spring.value(at) - spring.rest;
            sum + stretch * stretch * (0.5 * spring.stiffness)
        })
    }

    fn variables(&self) -> Option<Variables> {
        let mut positions = self.weight.variables()?.positions;
        positions.extend(self.springs.iter().flat_map(|s| variables(&s.slots(), false).positions));
        positions.sort_unstable();
        positions.dedup();
        Some(Variables { positions, ..Variables::default() })
    }
}

/// The force of a damper on one coordinate of a body.
pub(super) struct Damper {
    pub(super) spring: Spring,
    pub(super) second: bool,
    pub(super) part: usize,
}

impl Formula for Damper {
    fn eval<N: Number>(&self, at: &Point<'_, N>) -> N {
        let Some(slot) = self.spring.frames[usize::from(self.second)].slot else { return N::from_f64(0.0) };
        let ([force, moment], rate) = self.spring.direction(self.second, at);
        let unit = match self.part {
            k @ 0..3 => force[k],
            part => moment_on(slot, part, moment, at),
        };
        unit * rate * (-self.spring.damping)
    }

    fn variables(&self) -> Option<Variables> {
        Some(variables(&self.spring.slots(), true))
    }
}

/// The fixed rotations after which both bodies have the axes of the first frame at the start, when their
/// rotations are these.
pub(super) fn common_axes(rotations: [DQuat; 2], slots: [Slot; 2], axes: DQuat) -> [DQuat; 2] {
    std::array::from_fn(|i| if slots[i].is_some() { rotations[i].conjugate() * axes } else { axes })
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use crate::events::{Ending, EventOptions, Trajectory, run_events, world_system};
    use crate::world::{
        Action, ActionKind, Body, Coordinate, Joint, JointKind, Pose, Scene, WorldState, energy,
    };

    fn run(scene: &Scene, t_end: f64) -> (Trajectory, WorldState) {
        let found = world_system(&scene.world, &scene.state).unwrap();
        let options = EventOptions { t_end, ..Default::default() };
        let run = run_events(&found.system, &found.state, &options).unwrap();
        let state = found.world_state(&scene.state, &run.state);
        (run, state)
    }

    fn weightless() -> Scene {
        let mut scene = Scene::default();
        scene.world.gravity = DVec3::ZERO;
        scene
    }

    /// A spring with this stiffness, damping and rest between points of two bodies, in their axes.
    fn spring(bodies: [usize; 2], points: [DVec3; 2], [stiffness, damping, rest]: [f64; 3]) -> Joint {
        let frames = points.map(|position| Pose { position, ..Pose::IDENTITY });
        let free = JointKind::Generic { locked: [false; 6] };
        let kind = ActionKind::Spring { stiffness, damping, rest };
        let actions = vec![Action { coordinate: Coordinate::Length, kind }];
        Joint { actions, ..Joint::new("spring", free, bodies, frames) }
    }

    /// x = x₀ + a (1 − e^(−δt)(cos ωt + (δ/ω) sin ωt)) from rest, for 2δ = d/m and ω² = k/m − δ².
    fn damped(a: f64, [stiffness, damping, mass]: [f64; 3], t: f64) -> f64 {
        let delta = damping / (2.0 * mass);
        let omega = (stiffness / mass - delta * delta).sqrt();
        a * (1.0 - (-delta * t).exp() * ((omega * t).cos() + delta / omega * (omega * t).sin()))
    }

    /// A constant moment m about any axis of a ball: ω = m t/I; of a block along a principal axis as well.
    #[test]
    fn a_moment_spins_a_body_up() {
        for (body, moment) in [
            (Body::ball("b", 2.0, 0.5), DVec3::new(0.3, -0.2, 0.5)),
            (Body::block("b", 2.0, DVec3::new(0.1, 0.2, 0.3)), DVec3::new(0.0, 0.4, 0.0)),
        ] {
            let inertia = body.inertia.y;
            let mut scene = weightless();
            scene.add(body.at(DVec3::X));
            scene.world.bodies[0].force[1] = moment;
            let (run, state) = run(&scene, 3.0);
            assert_eq!(run.ending, Ending::Done);
            let omega = state.bodies[0].world_angular_velocity();
            assert!((omega - moment * 3.0 / inertia).length() < 1e-9, "{omega}");
            assert!((state.bodies[0].pose.position - DVec3::X).length() < 1e-12);
        }
    }

    /// A block on a hinge through its centre with a torsion spring and damper; the axis is skew.
    #[test]
    fn a_torsion_spring_turns_a_block() {
        for damping in [0.0, 0.05] {
            let mut scene = weightless();
            let ground = scene.add(Body::fixed("ground", vec![]));
            let body = scene.add(Body::ball("wheel", 2.0, 0.5).at(DVec3::X));
            let at = Pose::along(DVec3::X, DVec3::new(1.0, 2.0, -2.0));
            scene.join([ground, body], at, Joint::revolute("hinge").with_spring(3.0, damping, 0.7));
            let start = energy(&scene.world, &scene.state);
            let (run, mut state) = run(&scene, 4.0);
            assert_eq!(run.ending, Ending::Done);
            crate::world::update_joint_coordinates(&scene.world, &mut state);
            let expected = damped(0.7, [3.0, damping, 0.4 * 2.0 * 0.25], 4.0);
            let angle = crate::world::joint_coordinate(&scene.world, &state, 0).unwrap()[0];
            assert!((angle - expected).abs() < 1e-9, "{angle} for {expected}");
            // The energy of the system is that of the world.
            assert!((run.energy[0] - start).abs() < 1e-12);
            assert!((run.energy[1] - energy(&scene.world, &state)).abs() < 1e-9);
        }
    }

    /// Beyond a full turn from the start the spring has no value, and the run reports that.
    #[test]
    fn a_torsion_spring_ends_the_run_after_a_full_turn() {
        let mut scene = weightless();
        let ground = scene.add(Body::fixed("ground", vec![]));
        let body = scene.add(Body::ball("wheel", 2.0, 0.5).at(DVec3::X));
        let at = Pose::along(DVec3::X, DVec3::Z);
        scene.join([ground, body], at, Joint::revolute("hinge").with_spring(0.01, 0.0, 0.0));
        scene.state.bodies[1].angular_velocity = DVec3::Z * 10.0;
        let (run, _) = run(&scene, 3.0);
        assert!(matches!(run.ending, Ending::Failed(_)), "{:?}", run.ending);
        // Nearly free: a full turn at 10 rad/s.
        assert!(run.state.t > 0.6 && run.state.t < 0.64, "{}", run.state.t);
    }

    /// A slider that hangs on a spring, with a damper.
    #[test]
    fn a_slider_hangs_on_a_spring() {
        let mut scene = Scene::default();
        let ground = scene.add(Body::fixed("ground", vec![]));
        let body = scene.add(Body::ball("bob", 2.0, 0.1).at(DVec3::X));
        let at = Pose::along(DVec3::X, DVec3::Z);
        scene.join([ground, body], at, Joint::prismatic("rail").with_spring(50.0, 3.0, 0.0));
        let (run, state) = run(&scene, 2.0);
        assert_eq!(run.ending, Ending::Done);
        let expected = damped(-2.0 * 9.81 / 50.0, [50.0, 3.0, 2.0], 2.0);
        assert!((state.bodies[1].pose.position.z - expected).abs() < 1e-10);
    }

    /// Two balls on a spring between their centres: their distance swings with the reduced mass.
    #[test]
    fn two_balls_swing_on_a_spring() {
        for damping in [0.0, 0.5] {
            let mut scene = weightless();
            scene.add(Body::ball("a", 1.0, 0.1).at(DVec3::ZERO));
            scene.add(Body::ball("b", 3.0, 0.1).at(DVec3::new(0.8, 0.0, 0.6)));
            scene.world.joints.push(spring([0, 1], [DVec3::ZERO; 2], [20.0, damping, 1.2]));
            let (run, state) = run(&scene, 3.0);
            assert_eq!(run.ending, Ending::Done);
            let distance = (state.bodies[1].pose.position - state.bodies[0].pose.position).length();
            let expected = 1.0 + damped(0.2, [20.0, damping, 0.75], 3.0);
            assert!((distance - expected).abs() < 1e-10, "{distance} for {expected}");
        }
    }

    /// Between points off the centres of blocks that spin: momentum and angular momentum stay, and so does
    /// energy, unless a damper takes it.
    #[test]
    fn springs_keep_momentum() {
        for damping in [0.0, 0.3] {
            let mut scene = weightless();
            let block = |name| Body::block(name, 1.5, DVec3::new(0.1, 0.2, 0.3));
            scene.add(block("a").at(DVec3::ZERO).with_angular_velocity(DVec3::new(1.0, 2.0, 0.5)));
            scene.add(block("b").at(DVec3::X).with_velocity(DVec3::Y));
            let points = [DVec3::new(0.1, 0.2, 0.0), DVec3::new(-0.1, 0.0, 0.3)];
            scene.world.joints.push(spring([0, 1], points, [30.0, damping, 0.5]));
            scene.world.no_contact.push([0, 1]);
            let momenta = |state: &WorldState| {
                let mut sums = [DVec3::ZERO; 2];
                for (body, s) in scene.world.bodies.iter().zip(&state.bodies) {
                    let angular_momentum = s.pose.rotation * (body.inertia * s.angular_velocity);
                    sums[0] += body.mass * s.velocity;
                    sums[1] += angular_momentum + s.pose.position.cross(body.mass * s.velocity);
                }
                sums
            };
            let (run, state) = run(&scene, 2.0);
            assert_eq!(run.ending, Ending::Done);
            let (before, after) = (momenta(&scene.state), momenta(&state));
            assert!((0..2).all(|i| (before[i] - after[i]).length() < 1e-9), "{before:?} {after:?}");
            let lost = run.energy[0] - run.energy[1];
            assert!(if damping == 0.0 { lost.abs() < 1e-9 } else { lost > 0.01 }, "{lost}");
            assert!((run.energy[1] - energy(&scene.world, &state)).abs() < 1e-9);
        }
    }
}
