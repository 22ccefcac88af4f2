//! Contact and joint forces: their values, whether they are unique, and where friction jams.
//!
//! ```text
//! f = r/h ,     jam:  w_nn − μ w_nt·e ≤ 0                          (003 eq. 38–39)
//! ```
//!
//! r are the impulses of a step of length h, e is the direction in which a contact slides, μ its friction and
//! w its block of the Delassus matrix, joints included. In a jam a larger normal force does not push the
//! bodies apart. If such a contact also approaches, no sliding force can stop it, and the step does so by an
//! impulse, an impact without collision.

mod instant;
mod mean;

use delassus_solve::analysis::{ImpulseRange, friction_cone};
use delassus_solve::contact::ContactOptions;
use delassus_solve::linalg::Matrix;
use delassus_solve::problem::{ContactProblem, InvalidProblem, Law, Status};
use glam::DVec3;

use super::Stepper;
use super::force_uniqueness::UniquenessScratch;
use super::linearization::Linearization;
use super::model::{MAX_CAREFUL_CONTACTS, Model};
use super::motion_choice::MotionChoice;
use super::report::{Forces, Jam, OtherBodyMotion};
use super::row_targets::{RowTarget, RowTargets, SubstepStart};
use super::static_friction::{MAX_FRICTION_ROUNDS, StaticFriction};
use super::velocity_solve::{FailedSolves, FallbackSolver, Goal, SolveInput};
use super::warm_start::{Impulses, name_of};
use crate::collision::{ContactRows, MAX_CONTACT_ROWS};
use crate::world::{
    Action, ActionKind, BodyState, FIXED_SLOT, MeasuredForces, NormalForce, RowKind, row_velocity,
};
use instant::Instant;

/// Bilateral rows of joints up to which the jam test takes them into account.
const MAX_JAM_ROWS: usize = 600;
/// A contact that closes faster than this part of its slip speed hits and does not slide.
const MAX_CLOSING_RATIO: f64 = 1e-6;
/// The part of its slip speed that a contact that jammed may still have.
const MAX_SLIP_LEFT: f64 = 0.1;
/// Scale-free residual of the solve for the forces at an instant.
const FORCE_TOLERANCE: f64 = 1e-10;
/// Velocities of two motions that differ by less than this part of the largest are the same.
const MOTION_ROUNDING: f64 = 1e-9;

impl Stepper {
    /// The problem of the last solve and its impulses.
    pub fn last_problem(&self) -> (&ContactProblem, &[f64]) {
        self.substep.last_solver(self.model.is_symmetric()).last_problem()
    }

    /// Mean force and moment of each joint on its second body in the last step, world axes, the moment about
    /// the joint's frame on that body.
    pub fn joint_forces(&self) -> Vec<[DVec3; 2]> {
        let (world, rows) = (&self.model.world, self.linearization.joint_rows());
        let mut forces = vec![[DVec3::ZERO; 2]; world.joints.len()];
        for (row, r) in rows.rows.iter().zip(&self.impulses.rows) {
            let joint = &world.joints[row.joint as usize];
            // Where the second body is fixed, the first feels the opposite.
            let (body, sign) = match joint.bodies {
                [a, b] if world.bodies[b].fixed => (a, -1.0),
                [_, b] => (b, 1.0),
            };
            let Some((_, block)) = rows.blocks_of(row).iter().find(|(b, _)| *b as usize == body) else {
                continue;
            };
            let pose = &self.state.bodies[body].pose;
            let side = usize::from(body == joint.bodies[1]);
            let arm = pose.rotation * joint.frames[side].position;
            let scale = sign * r / self.model.options.dt;
            let force = scale * DVec3::from_slice(&block[..3]);
            let moment = scale * (pose.rotation * DVec3::from_slice(&block[3..]));
            forces[row.joint as usize][0] += force;
            forces[row.joint as usize][1] += moment - arm.cross(force);
        }
        forces
    }

    /// Mean force or moment of each actuator along its coordinate in the last step, in the order of
    /// [`actuators`](crate::world::actuators).
    pub fn actuator_forces(&self) -> impl Iterator<Item = f64> {
        let (rows, dt) = (self.linearization.joint_rows(), self.model.options.dt);
        // Rows of actions that are neither limits nor drives follow those, joint by joint, before those of
        // the dry friction of the joint.
        let mut at = rows.bilateral + rows.limits;
        self.model.world.joints.iter().enumerate().flat_map(move |(index, joint)| {
            while rows.rows.get(at).is_some_and(|row| (row.joint as usize) < index) {
                at += 1;
            }
            let first = at;
            let has_row =
                |a: &&Action| !matches!(a.kind, ActionKind::Limits { .. } | ActionKind::Drive { .. });
            let acting = joint.actions.iter().filter(has_row).enumerate();
            let inputs = acting.filter(|(_, action)| action.kind.input().is_some());
            inputs.map(move |(k, _)| self.impulses.rows[first + k] / dt)
        })
    }

    /// What sensors measure of the forces of the last step.
    pub fn measured_forces(&self) -> MeasuredForces {
        let pressing = self.contact_forces().filter(|(_, normal, _)| *normal > 0.0);
        let contacts = pressing.map(|(contact, force, _)| NormalForce {
            bodies: contact.bodies.map(|body| body as usize),
            point: contact.point,
            normal: contact.normal,
            force,
        });
        MeasuredForces { actuators: self.actuator_forces().collect(), contacts: contacts.collect() }
    }

    /// The forces of contacts now: those that the next step would begin with, and which others would do as
    /// well.
    pub fn forces(&self) -> Result<Forces, InvalidProblem> {
        self.forces_now(false)
    }

    /// The same, and another motion where a search finds one: some tens of solves, for up to 64 contacts.
    pub fn forces_and_another_motion(&self) -> Result<Forces, InvalidProblem> {
        self.forces_now(true)
    }

    /// Another motion that obeys the laws as well as the one that the next step takes, where a search finds
    /// one: the bodies that move otherwise in it. Some tens of solves, for up to 64 contacts.
    pub fn another_motion(&self) -> Result<Option<Vec<OtherBodyMotion>>, InvalidProblem> {
        let mut now = self.solve_now()?;
        let found = self.search_other_motion(&mut now)?;
        Ok(found.or_else(|| now.solved.other_motion.then(Vec::new)))
    }

    /// The solve that the next step would begin with.
    fn solve_now(&self) -> Result<SolvedNow, InvalidProblem> {
        let (h, on) = (self.model.options.dt, &self.linearization);
        let mut v = vec![];
        self.model.masses.gather_velocities(&self.state.bodies, &mut v);
        let start = v.clone();
        self.model.kick(&self.state.bodies, h, &mut v);
        let targets = self.force_targets(h, &start, &v);
        let mut impulses = Impulses {
            rows: vec![0.0; on.joint_rows().rows.len()],
            contacts: vec![[0.0; MAX_CONTACT_ROWS]; on.contacts().len()],
        };
        let (kicked, mut rows) = (v.clone(), on.contact_rows().to_vec());
        let mut solver = FallbackSolver::default();
        let mut static_friction = StaticFriction::default();
        let mut solved = Solved { status: Status::Stalled, other_motion: false };
        for _ in 0..MAX_FRICTION_ROUNDS {
            v.copy_from_slice(&kicked);
            let input = self.force_input(&rows, &targets);
            solved = self.solve_forces(&mut solver, &input, &start, &mut impulses, &mut v)?;
            let contacts = (on.contacts(), &rows[..]);
            let changes = static_friction.changes(&self.model, contacts, &targets, &impulses, [&start, &v]);
            if changes.is_empty() {
                break;
            }
            changes.iter().for_each(|&(i, mu)| rows[i].law = rows[i].law.with_mu(mu));
        }
        Ok(SolvedNow { targets, rows, impulses, velocity: v, solver, solved })
    }

    /// Bodies that move otherwise in another motion than the one that was solved for, where one is found.
    fn search_other_motion(
        &self,
        now: &mut SolvedNow,
    ) -> Result<Option<Vec<OtherBodyMotion>>, InvalidProblem> {
        let contacts = self.linearization.contacts().len();
        if now.solved.status != Status::Solved || contacts > MAX_CAREFUL_CONTACTS {
            return Ok(None);
        }
        let input = self.force_input(&now.rows, &now.targets);
        let other = now.solver.other_motion(&input, &now.impulses, &now.velocity)?;
        Ok(other.map(|other| self.bodies_that_move_otherwise(&now.velocity, &other)))
    }

    fn forces_now(&self, search_motion: bool) -> Result<Forces, InvalidProblem> {
        let h = self.model.options.dt;
        let mut now = self.solve_now()?;
        let Solved { status, mut other_motion } = now.solved;
        let mut other_bodies = vec![];
        if search_motion && let Some(others) = self.search_other_motion(&mut now)? {
            (other_motion, other_bodies) = (true, others);
        }
        let SolvedNow { targets, solver, .. } = &now;
        let (problem, impulse) = solver.last_problem();
        let Some(instant) = Instant::new(self, targets, problem, impulse) else {
            unreachable!("a velocity solver makes its problem in global form and never changes that")
        };
        let found = instant.forces()?;
        let unique = match &found.ranges {
            _ if other_motion => Some(false),
            ImpulseRange::Ranges { .. } => Some(false),
            ImpulseRange::Unique if status == Status::Solved => instant.is_unique_at_all(self),
            ImpulseRange::Unique | ImpulseRange::Unknown => None,
        };
        let (mut contacts, mut place, mut next) = (vec![], vec![], 0);
        for bias in &targets.normal_bias {
            let closed = bias.is_some();
            let (normal, friction) = if closed { found.contacts[next] } else { (0.0, DVec3::ZERO) };
            contacts.push((normal / h, friction / h));
            place.push(closed.then_some(found.first + next));
            next += usize::from(closed);
        }
        let ranges = found.ranges.scaled(1.0 / h);
        Ok(Forces { contacts, ranges, place, status, other_motion, other_bodies, unique })
    }

    /// The solve for the forces at an instant.
    fn force_input<'a>(&'a self, contacts: &'a [ContactRows], targets: &'a RowTargets) -> SolveInput<'a> {
        SolveInput {
            masses: &self.model.masses,
            rows: self.linearization.joint_rows(),
            contacts,
            // Maximal coordinates: what is asked of forces is asked of those of joints too.
            tree: None,
            targets,
            duration: self.model.options.dt,
            fall: self.model.options.dt * self.model.world.gravity.length(),
            at_rest: false,
            stress: &[],
            goal: Goal::Any,
            options: ContactOptions { tolerance: FORCE_TOLERANCE, ..ContactOptions::default() },
        }
    }

    /// Solves for the motion that a step takes: rest where it is possible, the canonical one of several.
    fn solve_forces(
        &self,
        solver: &mut FallbackSolver,
        input: &SolveInput<'_>,
        start: &[f64],
        impulses: &mut Impulses,
        v: &mut Vec<f64>,
    ) -> Result<Solved, InvalidProblem> {
        let found = solver.solve(input, start, &mut FailedSolves::default(), impulses, v)?;
        let (model, linearization) = (&self.model, &self.linearization);
        let choice =
            MotionChoice { model, linearization, solver: &mut *solver, input, impulses, velocity: v };
        let (outcome, by_contacts) = choice.choose(found, &mut UniquenessScratch::default())?;
        Ok(Solved { status: outcome.status, other_motion: by_contacts || solver.chose_rest() })
    }

    /// Bodies whose velocities differ by more than rounding.
    fn bodies_that_move_otherwise(&self, taken: &[f64], other: &[f64]) -> Vec<OtherBodyMotion> {
        let (mut a, mut b) = (self.state.bodies.clone(), self.state.bodies.clone());
        self.model.masses.scatter_velocities(taken, &mut a);
        self.model.masses.scatter_velocities(other, &mut b);
        let velocities = |s: &BodyState| [s.velocity, s.world_angular_velocity()];
        let sizes = a.iter().chain(&b).flat_map(|s| velocities(s).map(DVec3::length));
        let rounding = MOTION_ROUNDING * sizes.fold(0.0, f64::max);
        (0..a.len())
            .map(|body| OtherBodyMotion { body, taken: velocities(&a[body]), other: velocities(&b[body]) })
            .filter(|m| (0..2).any(|k| (m.taken[k] - m.other[k]).length() > rounding))
            .collect()
    }

    /// The targets of the forces at this instant: velocities stay, springs push as they are. `start` and `v`
    /// are the velocities before and after the kick.
    fn force_targets(&self, h: f64, start: &[f64], v: &[f64]) -> RowTargets {
        let (on, touching) = (&self.linearization, self.model.touching());
        let rows = on.joint_rows();
        let target = |i: usize| {
            let row = &rows.rows[i];
            match row.kind {
                _ if on.redundant()[i] => RowTarget::LeftOut,
                RowKind::Bilateral | RowKind::Bounded { .. } => RowTarget::Velocity { bias: row.rate },
                RowKind::Limit { .. } if row.value <= touching => RowTarget::Velocity { bias: row.rate },
                RowKind::Limit { .. } => RowTarget::LeftOut,
                RowKind::Applied { force } => RowTarget::Impulse(h * force),
                RowKind::Spring { stiffness, damping } => {
                    let u = row_velocity(rows, i, &self.model.masses, v);
                    RowTarget::Impulse(-h * (stiffness * row.value + damping * u))
                }
                RowKind::Servo { stiffness, damping, push, range: [low, high] } => {
                    let u = row_velocity(rows, i, &self.model.masses, start);
                    RowTarget::Impulse(h * (push - stiffness * row.value - damping * u).clamp(low, high))
                }
                RowKind::Armature { inertia } => {
                    let before = row_velocity(rows, i, &self.model.masses, start);
                    RowTarget::Compliant { bias: -before, compliance: 1.0 / inertia }
                }
            }
        };
        RowTargets {
            joints: (0..rows.rows.len()).map(target).collect(),
            normal_bias: on.contacts().iter().map(|c| (c.gap <= touching).then_some(0.0)).collect(),
            slip_bias: vec![],
        }
    }
}

/// The solve that a step would begin with now.
struct SolvedNow {
    targets: RowTargets,
    /// Contacts with the friction that they have in it.
    rows: Vec<ContactRows>,
    impulses: Impulses,
    velocity: Vec<f64>,
    solver: FallbackSolver,
    solved: Solved,
}

/// How the solve for the forces at an instant ended.
#[derive(Clone, Copy)]
struct Solved {
    status: Status,
    /// Whether another motion was shown.
    other_motion: bool,
}

/// The end of the first half of a substep, of which jams are looked for.
pub(super) struct JamSearch<'a> {
    pub(super) model: &'a Model,
    pub(super) linearization: &'a Linearization,
    pub(super) start: &'a SubstepStart,
    pub(super) h: f64,
    pub(super) velocity: &'a [f64],
    pub(super) contact_impulse: &'a [[f64; MAX_CONTACT_ROWS]],
}

/// Contacts that slid before the substep and stick after it because friction presses them together faster
/// than they can give way (003 eq. 38–39): where no sliding force exists, and where one does but the contact
/// jammed all the same.
pub(super) fn find_jams(on: &JamSearch<'_>, velocity_before: &mut Vec<f64>, jams: &mut Vec<Jam>) {
    let JamSearch { model, linearization, start, .. } = on;
    let contacts = linearization.contacts();
    model.masses.gather_velocities(&start.bodies, velocity_before);
    for (i, contact) in contacts.iter().enumerate().take(start.approach.len()) {
        let rows = &linearization.contact_rows()[i];
        let (Law::Coulomb { mu } | Law::Rolling { mu, .. } | Law::Spinning { mu, .. }) = rows.law else {
            continue;
        };
        let r = &on.contact_impulse[i];
        let slip = [rows.velocity(1, velocity_before), rows.velocity(2, velocity_before)];
        let speed = slip[0].hypot(slip[1]);
        let after = rows.velocity(1, on.velocity).hypot(rows.velocity(2, on.velocity));
        let slides =
            contact.gap <= model.touching() && start.approach[i].speed.abs() <= MAX_CLOSING_RATIO * speed;
        // What one step of regular friction could have stopped is no jam.
        let stopped_by_friction = on.h * (1.0 + mu) * model.world.gravity.length();
        if !slides || r[0] <= 0.0 || speed <= stopped_by_friction || after > MAX_SLIP_LEFT * speed {
            continue;
        }
        let w = block_with_joints(model, linearization, i);
        let e = [slip[0] / speed, slip[1] / speed];
        let pressing = w[(0, 0)] - mu * (w[(0, 1)] * e[0] + w[(0, 2)] * e[1]);
        // Without a friction that can jam, what presses is the rounding of a contact whose joints carry all.
        if let Some(mu_jam) = friction_cone(w, &[], mu).mu_jam.filter(|_| pressing <= 0.0) {
            jams.push(Jam {
                t: start.t,
                contact: name_of(&model.world, contacts, contact),
                point: contact.point,
                impulse: r[0],
                mu,
                mu_jam,
            });
        }
    }
}

/// The 3 × 3 block of W of a contact, with the bilateral rows of joints closed and their rotors. Above
/// [`MAX_JAM_ROWS`] of them, without.
fn block_with_joints(model: &Model, linearization: &Linearization, i: usize) -> Matrix {
    let contact = &linearization.contact_rows()[i];
    let (rows, masses) = (linearization.joint_rows(), &model.masses);
    let inverse = &masses.inverse;
    let mut w = Matrix::from_fn(3, 3, |a, b| contact.self_block(inverse, a, b));
    if rows.bilateral == 0 || rows.bilateral > MAX_JAM_ROWS {
        return w;
    }
    let dense = |j: usize| {
        let mut x = vec![0.0; inverse.len()];
        for (body, block) in rows.blocks_of(&rows.rows[j]) {
            let at = 6 * masses.slot[*body as usize] as usize;
            x[at..at + 6].copy_from_slice(block);
        }
        x
    };
    // A rotor is a body of its own behind its row.
    let rotors: Vec<(usize, f64)> = (rows.rows.iter().enumerate())
        .filter_map(|(j, row)| match row.kind {
            RowKind::Armature { inertia } => Some((j, 1.0 / inertia)),
            _ => None,
        })
        .collect();
    let own_mobility = |a: usize| if a < rows.bilateral { 0.0 } else { rotors[a - rows.bilateral].1 };
    let joints: Vec<Vec<f64>> =
        (0..rows.bilateral).chain(rotors.iter().map(|(j, _)| *j)).map(dense).collect();
    let product =
        |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).zip(inverse).map(|((a, b), m)| a * b * m).sum() };
    let mut own = vec![vec![0.0; inverse.len()]; 3];
    for (k, row) in own.iter_mut().enumerate() {
        for side in (0..2).filter(|&side| contact.slots[side] != FIXED_SLOT) {
            let at = 6 * contact.slots[side] as usize;
            row[at..at + 6].copy_from_slice(&contact.blocks[side][k]);
        }
    }
    let n = joints.len();
    let wjj = Matrix::from_fn(n, n, |a, b| {
        product(&joints[a], &joints[b]) + if a == b { own_mobility(a) } else { 0.0 }
    });
    let wjc = Matrix::from_fn(n, 3, |a, k| product(&joints[a], &own[k]));
    let x = wjj.pseudo_solve_matrix(&wjc);
    for a in 0..3 {
        for b in 0..3 {
            w[(a, b)] -= (0..n).map(|j| wjc[(j, a)] * x[(j, b)]).sum::<f64>();
        }
    }
    w
}

#[cfg(test)]
mod tests {
    use super::super::model::fixtures::*;
    use super::super::options::StepOptions;
    use super::*;
    use crate::world::{ActionKind, Joint, JointKind, Pose, ShapeKind, Surface};

    #[test]
    fn a_guide_carries_the_weight_across_it_and_its_moment() {
        let free = ActionKind::Force { force: formula("0") };
        for swapped in [false, true] {
            let (mut world, mut state) = slider(free.clone(), 0.0, 0.0);
            world.gravity = DVec3::new(-10.0, 0.0, 0.0);
            // The frame on the ball is 0.3 m above its centre.
            let raised = Pose { position: DVec3::new(0.0, 0.0, 0.3), ..Pose::IDENTITY };
            world.joints[0].frames[1] = raised;
            state.bodies[1].pose.position.z = 0.2;
            if swapped {
                world.joints[0].bodies.reverse();
                world.joints[0].frames.reverse();
            }
            let mut stepper = Stepper::new(world, state, StepOptions::default()).unwrap();
            stepper.step().unwrap();
            let [force, moment] = stepper.joint_forces()[0];
            // m g = 20 N on the ball; about the frame the force at the centre turns with −0.3 z × 20 x =
            // −6 y. A fixed second body takes the opposite.
            let sign = if swapped { -1.0 } else { 1.0 };
            assert!((force - sign * 20.0 * DVec3::X).length() < 1e-8, "{force}");
            assert!((moment + sign * 6.0 * DVec3::Y).length() < 1e-8, "{moment}");
        }
    }

    #[test]
    fn actuators_give_their_forces_whatever_stands_beside_them() {
        use crate::world::{JointFriction, Servo, actuators};
        let all = [f64::NEG_INFINITY, f64::INFINITY];
        let servo = Servo {
            name: "servo".into(),
            control: formula("2"),
            control_range: all,
            gain: 1.5,
            offset: 0.0,
            stiffness: 0.0,
            damping: 0.0,
            force_range: all,
        };
        let (mut world, state) = slider(ActionKind::Force { force: formula("3") }, 0.0, 0.0);
        world.gravity = DVec3::ZERO;
        let coordinate = world.joints[0].actions[0].coordinate;
        let mut act = |kind| world.joints[0].actions.push(Action { coordinate, kind });
        act(ActionKind::Limits { lower: -9.0, upper: 9.0, restitution: 0.0 });
        act(ActionKind::Spring { stiffness: 0.0, damping: 1e-9, rest: 0.0 });
        act(ActionKind::Servo(servo));
        world.joints[0].friction = Some(JointFriction { force: 0.5, ..JointFriction::default() });
        let names: Vec<String> = actuators(&world).into_iter().map(|a| a.name).collect();
        assert_eq!(names, [format!("{}#1", world.joints[0].name), "servo".to_string()]);
        let mut stepper = Stepper::new(world, state, StepOptions::default()).unwrap();
        stepper.step().unwrap();
        let found: Vec<f64> = stepper.actuator_forces().collect();
        // 3 N, and 1.5 times the control 2; impulses of a step of 1 ms are right to its tolerance, 1e-10.
        assert!(
            found.len() == 2 && (found[0] - 3.0).abs() < 1e-6 && (found[1] - 3.0).abs() < 1e-6,
            "{found:?}"
        );
    }

    #[test]
    fn a_sliding_ball_has_its_weight_and_coulombs_friction_and_an_open_contact_nothing() {
        let surface = Surface { mu: 0.25, ..smooth() };
        let forces = |gap: f64| {
            let (world, state) = ball_on_floor(surface, gap, 3.0 * DVec3::X);
            Stepper::new(world, state, StepOptions::default()).unwrap().forces().unwrap()
        };
        let found = forces(0.0);
        let (normal, friction) = found.contacts[0];
        // m g and μ m g against the slip, to the tolerance 1e-10 in units of 0.02 N s over 1 ms.
        assert!((normal - 20.0).abs() < 1e-8 && (friction + 5.0 * DVec3::X).length() < 1e-8, "{friction}");
        assert_eq!(
            (found.status, &found.ranges, found.place[0]),
            (Status::Solved, &ImpulseRange::Unique, Some(0))
        );
        // Within range of the next step, and not closed.
        let found = forces(1e-6);
        assert_eq!((found.contacts[0], found.place[0]), ((0.0, DVec3::ZERO), None));
    }

    #[test]
    fn a_guide_leaves_a_contact_only_the_mobility_along_it() {
        let (mut world, mut state) = ball_on_floor(Surface { mu: 0.5, ..smooth() }, 0.0, DVec3::ZERO);
        let (model, on) = linearized(world.clone(), &mut state, StepOptions::default(), 1e-3);
        let near = |w: Matrix, expected: [f64; 3]| {
            (0..3).all(|a| (0..3).all(|b| (w[(a, b)] - if a == b { expected[a] } else { 0.0 }).abs() < 1e-13))
        };
        let tangent = 1.0 / MASS + RADIUS * RADIUS / INERTIA;
        assert!(near(block_with_joints(&model, &on, 0), [1.0 / MASS, tangent, tangent]));
        world.joints.push(Joint::new("guide", JointKind::Prismatic, [0, 1], [Pose::IDENTITY; 2]));
        let (model, on) = linearized(world, &mut state, StepOptions::default(), 1e-3);
        assert!(near(block_with_joints(&model, &on, 0), [1.0 / MASS, 0.0, 0.0]));
    }

    /// Jams of a body that touches the floor at (0.3, 0, −0.4) from its centre and has stopped from a slip
    /// along x.
    fn jams(mu: f64, slip: f64) -> Vec<Jam> {
        let (mut world, mut state) = ball_on_floor(Surface { mu, ..smooth() }, 0.0, slip * DVec3::X);
        world.bodies[1].shapes[0].kind = ShapeKind::Sphere { radius: 0.1 };
        world.bodies[1].shapes[0].pose.position = DVec3::new(0.3, 0.0, -0.3);
        state.bodies[1].pose.position.z = 0.4;
        let (model, on) = linearized(world, &mut state, StepOptions::default(), 1e-3);
        let mut start = SubstepStart::default();
        start.record(&model, &on, &state, 1e-3);
        let search = JamSearch {
            model: &model,
            linearization: &on,
            start: &start,
            h: 1e-3,
            velocity: &[0.0; 6],
            contact_impulse: &[[2.0, 0.0, 0.0, 0.0, 0.0, 0.0]],
        };
        let mut jams = vec![];
        find_jams(&search, &mut vec![], &mut jams);
        jams
    }

    #[test]
    fn a_point_ahead_of_the_centre_jams_above_painleves_friction() {
        // w_nn = 1/m + 0.3²/I = 2.3 and w_nt = 0.3·0.4/I = 2.4 along x.
        let found = jams(1.0, 3.0);
        assert_eq!(found.len(), 1);
        assert!((found[0].mu_jam - 2.3 / 2.4).abs() < 1e-12, "{:?}", found[0]);
        assert_eq!((found[0].impulse, found[0].mu, found[0].contact.as_str()), (2.0, 1.0, "floor|ball"));
        // Below it; trailing behind the centre; slower than one step of friction stops.
        assert!(jams(0.95, 3.0).is_empty() && jams(1.0, -3.0).is_empty() && jams(1.0, 0.01).is_empty());
    }
}
