//! A world in motion, with everything a program reads and sets between steps.
//!
//! ```text
//! (q, v)_{k+1} = step(q, v, u)_k ,   u = forces and moments on bodies, targets of motors
//! ```
//!
//! A [`Simulation`] owns its model and its state. It starts as the command `run` does: joints closed,
//! velocities that obey them, bodies separated ([`prepare_start`]); and it gives the same bits. Inputs u last
//! until they are changed.
//!
//! A rod that stands on its tip is held upright by a moment, τ = k φ + d φ̇ with k above m g l:
//!
//! ```
//! use delassus::prelude::*;
//!
//! let mut scene = Scene::default();
//! let ground = scene.add(Body::fixed("ground", vec![]));
//! let upright = Body::capsule("rod", 1.0, 0.02, 0.5).at(DVec3::new(0.0, 0.0, 0.5));
//! let rod = scene.add(upright.with_angular_velocity(0.1 * DVec3::Y).with_velocity(0.05 * DVec3::X));
//! let hinge = Joint::revolute("hinge").with_force(0.0);
//! let hinge = scene.join([ground, rod], Pose::along(DVec3::ZERO, DVec3::Y), hinge);
//! let mut sim = Simulation::new(scene, StepOptions::default())?;
//! while sim.time() < 3.0 {
//!     let now = sim.joint(hinge)?;
//!     sim.set_control(hinge, -30.0 * now.position - 6.0 * now.velocity)?;
//!     sim.step()?;
//! }
//! assert!(sim.joint("hinge")?.position.abs() < 1e-3);
//! # Ok::<(), SimulationError>(())
//! ```
//!
//! Which forces carry a block on four corners is not unique; the sum is. The answer reports that:
//!
//! ```
//! use delassus::prelude::*;
//!
//! let mut scene = Scene::default();
//! scene.add(Body::ground());
//! scene.add(Body::block("block", 4.0, DVec3::splat(0.5)).at(DVec3::new(0.0, 0.0, 0.5)));
//! let sim = Simulation::new(scene, StepOptions::default())?;
//! let contacts = sim.contacts_now()?;
//! let weight: f64 = contacts.iter().map(|c| c.normal_force).sum();
//! assert!((weight - 4.0 * 9.81).abs() < 1e-6);
//! for c in &contacts {
//!     // Each corner takes from nothing to half of the weight.
//!     assert!(matches!(c.unique, Uniqueness::Interval { largest, .. } if (largest - 19.62).abs() < 1e-3));
//! }
//! # Ok::<(), SimulationError>(())
//! ```

mod contact;
mod error;
mod explore;
mod input;
mod portable;

pub use crate::stepping::Uniqueness;
pub use contact::ContactForce;
pub use error::SimulationError;
pub use explore::{Branch, Exploration, ExploreError, SteppedBranch, WorldAsSystem, explore};
pub use input::{BodyKey, JointKey};
pub use portable::Changed;

use std::convert::Infallible;
use std::ops::ControlFlow;
use std::sync::Arc;

use delassus_solve::problem::Status;
use glam::DVec3;

use crate::stepping;
use crate::stepping::{
    ContactEvent, ContactEvents, RunError, StartReport, StepFailure, StepLength, StepOptions, StepRecord,
    StepReport, Stepper, no_time_left, prepare_start,
};
use crate::world::{BodyId, JointId, Pose, Scene, World, WorldState, energy, joint_coordinate};

/// A world in motion: owns its model and its state.
///
/// Between steps everything can be read and set; names and ids mean the same ([`BodyKey`], [`JointKey`]).
pub struct Simulation {
    stepper: Stepper,
    /// Length of steps, s; the last one before an end may be shorter.
    dt: f64,
    start: StartReport,
    report: Option<StepReport>,
    changed: Changed,
    /// Where the stepper no longer stands at the end of the last step: the forces of that step.
    forces: Option<StepForces>,
    /// Where the step that is being made began, in memory that is kept, and the length of steps by which its
    /// time was counted.
    before: (stepping::Snapshot, f64),
}

/// The mean forces of a step, read while the stepper still stands at its end, and all that is needed to stand
/// there again.
#[derive(Clone, Debug)]
struct StepForces {
    /// Without an answer to whether they are unique.
    contacts: Vec<ContactForce>,
    joints: Vec<[DVec3; 2]>,
    world: Arc<World>,
    end: stepping::Snapshot,
    options: StepOptions,
}

impl StepForces {
    fn read(stepper: &Stepper) -> Self {
        StepForces {
            contacts: contact::mean_forces(stepper),
            joints: stepper.joint_forces(),
            world: stepper.world().clone(),
            end: stepper.snapshot(),
            options: *stepper.options(),
        }
    }
}

/// All that a simulation needs to go on with the same bits: its state, inputs and options.
#[derive(Clone, Debug)]
pub struct Snapshot {
    world: Arc<World>,
    stepper: stepping::Snapshot,
    options: StepOptions,
    dt: f64,
    start: StartReport,
    report: Option<StepReport>,
    changed: Changed,
    forces: Option<StepForces>,
}

impl Snapshot {
    /// Time, s.
    pub fn time(&self) -> f64 {
        self.stepper.state.t
    }

    /// Positions and velocities.
    pub fn state(&self) -> &WorldState {
        &self.stepper.state
    }
}

/// A body as it is now.
#[derive(Clone, Copy, Debug)]
pub struct BodyView<'a> {
    /// Its id.
    pub id: BodyId,
    /// Its name.
    pub name: &'a str,
    /// Centre of mass and principal axes.
    pub pose: Pose,
    /// The frame in which the body was written.
    pub frame: Pose,
    /// Velocity of the centre of mass, world axes, m/s.
    pub velocity: DVec3,
    /// Angular velocity, world axes, rad/s.
    pub angular_velocity: DVec3,
    /// Force and moment that are set on it, world axes, N and N m.
    pub load: [DVec3; 2],
}

impl BodyView<'_> {
    /// The centre of mass.
    pub fn position(&self) -> DVec3 {
        self.pose.position
    }
}

/// The coordinate of a joint as it is now.
#[derive(Clone, Copy, Debug)]
pub struct JointView<'a> {
    /// Its id.
    pub id: JointId,
    /// Its name.
    pub name: &'a str,
    /// Its coordinate, m or rad; angles count full turns.
    pub position: f64,
    /// The rate of its coordinate, m/s or rad/s.
    pub velocity: f64,
}

/// Force and moment of a joint on its second body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointForce {
    /// Force, world axes, N.
    pub force: DVec3,
    /// Moment about the joint's frame on that body, world axes, N m.
    pub moment: DVec3,
}

/// What [`Simulation::run_until`] shows its recorder after every step.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    /// Time, s.
    pub time: f64,
    /// Positions and velocities.
    pub state: &'a WorldState,
    /// The report of the step.
    pub report: &'a StepReport,
    /// Events of contacts in the step: impacts, contacts that open, slide or stick.
    pub events: &'a [ContactEvent],
    /// What moves the world: for recorders that need more.
    pub stepper: &'a Stepper,
}

impl<'a> Frame<'a> {
    fn of(step: &StepRecord<'a>) -> Self {
        let (stepper, state) = (step.stepper, step.stepper.state());
        Frame { time: state.t, state, report: step.report, events: step.events, stepper }
    }

    /// A body, by name or id.
    pub fn body<'k>(&self, key: impl Into<BodyKey<'k>>) -> Result<BodyView<'_>, SimulationError> {
        body_view(self.stepper, key.into())
    }

    /// The coordinate of a joint, by name or id.
    pub fn joint<'k>(&self, key: impl Into<JointKey<'k>>) -> Result<JointView<'_>, SimulationError> {
        joint_view(self.stepper, key.into())
    }

    /// Contacts with their mean forces of the step and which of them are unique; see
    /// [`Simulation::contacts`].
    pub fn contacts(&self) -> Vec<ContactForce> {
        let mut contacts = self.contact_forces();
        contact::decide_uniqueness(self.stepper, &mut contacts);
        contacts
    }

    /// The same at no cost, without the answer to whether they are unique; see
    /// [`Simulation::contact_forces`].
    pub fn contact_forces(&self) -> Vec<ContactForce> {
        contact::mean_forces(self.stepper)
    }

    /// Kinetic and potential energy together, J.
    pub fn energy(&self) -> f64 {
        energy(self.stepper.world(), self.state)
    }
}

fn body_view<'a>(stepper: &'a Stepper, key: BodyKey<'_>) -> Result<BodyView<'a>, SimulationError> {
    let id = input::body_id(stepper.world(), key)?;
    let (body, s) = (&stepper.world().bodies[id.index()], &stepper.state().bodies[id.index()]);
    Ok(BodyView {
        id,
        name: &body.name,
        pose: s.pose,
        frame: s.pose.compose(&body.frame),
        velocity: s.velocity,
        angular_velocity: s.world_angular_velocity(),
        load: body.force,
    })
}

fn joint_view<'a>(stepper: &'a Stepper, key: JointKey<'_>) -> Result<JointView<'a>, SimulationError> {
    let id = input::joint_id(stepper.world(), key)?;
    let name = &stepper.world().joints[id.index()].name;
    match joint_coordinate(stepper.world(), stepper.state(), id.index()) {
        Some([position, velocity]) => Ok(JointView { id, name, position, velocity }),
        None => Err(SimulationError::NoCoordinate { joint: name.clone() }),
    }
}

fn check_dt(dt: f64) -> Result<(), SimulationError> {
    if dt > 0.0 && dt.is_finite() {
        return Ok(());
    }
    let (what, range) = ("the time step", "positive and finite");
    Err(SimulationError::Number { what, value: dt, range })
}

/// What all steps of [`Simulation::run_until`] add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunReport {
    /// Steps made.
    pub steps: u64,
    /// Steps that were not solved to the tolerance.
    pub unsolved_steps: u64,
    /// The first of them: time at its end, s, and what failed.
    pub first_failure: Option<FailedStep>,
    /// Largest residual of a solve.
    pub residual: f64,
    /// Largest overlap at the end of a step, m.
    pub penetration: f64,
    /// Largest opening of a joint at the end of a step, m or rad.
    pub joint_error: f64,
}

/// A step that was not solved to the tolerance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FailedStep {
    /// Time at its end, s.
    pub t: f64,
    /// What failed first, where that is known.
    pub failure: Option<StepFailure>,
}

impl RunReport {
    /// Adds a step that ended at t.
    pub fn add(&mut self, t: f64, report: &StepReport) {
        self.steps += 1;
        if report.status != Status::Solved {
            self.unsolved_steps += 1;
            self.first_failure.get_or_insert(FailedStep { t, failure: report.failure });
        }
        self.residual = self.residual.max(report.residual);
        self.penetration = self.penetration.max(report.penetration);
        self.joint_error = self.joint_error.max(report.joint_error);
    }
}

impl Simulation {
    /// A simulation that starts where the scene stands, prepared by [`prepare_start`].
    pub fn new(scene: Scene, options: StepOptions) -> Result<Self, SimulationError> {
        let Scene { world, mut state } = scene;
        crate::world::check_world(&world, &state)?;
        let start = prepare_start(&world, &mut state)?;
        let stepper = Stepper::new(world, state, options)?;
        let before = (stepper.snapshot(), options.dt);
        let (report, changed, forces) = (None, Changed::Nothing, None);
        Ok(Simulation { stepper, dt: options.dt, start, report, changed, forces, before })
    }

    /// A simulation that goes on from a snapshot, with the same bits as the one that made it.
    pub fn from_snapshot(snapshot: &Snapshot) -> Result<Self, SimulationError> {
        let Snapshot { world, stepper: saved, options, dt, start, report, changed, forces } =
            snapshot.clone();
        let stepper = Stepper::resume(world, saved.clone(), options)?;
        let before = (saved, options.dt);
        Ok(Simulation { stepper, dt, start, report, changed, forces, before })
    }

    /// Time, s.
    pub fn time(&self) -> f64 {
        self.stepper.state().t
    }

    /// Positions and velocities.
    pub fn state(&self) -> &WorldState {
        self.stepper.state()
    }

    /// The model, with the loads and targets that are set now.
    pub fn world(&self) -> &World {
        self.stepper.world()
    }

    /// Options of the steps.
    pub fn options(&self) -> StepOptions {
        StepOptions { dt: self.dt, ..*self.stepper.options() }
    }

    /// What was changed so that the motion could start.
    pub fn start(&self) -> &StartReport {
        &self.start
    }

    /// The report of the last step.
    pub fn report(&self) -> Option<&StepReport> {
        self.report.as_ref()
    }

    /// Kinetic and potential energy together, J.
    pub fn energy(&self) -> f64 {
        energy(self.world(), self.state())
    }

    /// A body as it is now, by name or id.
    pub fn body<'k>(&self, key: impl Into<BodyKey<'k>>) -> Result<BodyView<'_>, SimulationError> {
        body_view(&self.stepper, key.into())
    }

    /// The coordinate of a joint as it is now, by name or id.
    pub fn joint<'k>(&self, key: impl Into<JointKey<'k>>) -> Result<JointView<'_>, SimulationError> {
        joint_view(&self.stepper, key.into())
    }

    /// Mean force and moment of a joint in the last step, by name or id. What is set after the step does not
    /// change them.
    pub fn joint_force<'k>(&self, key: impl Into<JointKey<'k>>) -> Result<JointForce, SimulationError> {
        let id = self.joint_id(key)?;
        let [force, moment] = match &self.forces {
            Some(last) => last.joints[id.index()],
            None => self.stepper.joint_forces()[id.index()],
        };
        Ok(JointForce { force, moment })
    }

    /// All contacts within range at the end of the last step with their mean forces in it, zero before the
    /// first, and whether those are unique: other normal forces that go with the same motion are an interval,
    /// by friction cones and gaps as they are at the end of the step. What is set after the step changes
    /// nothing of it.
    ///
    /// Unknown where contacts began or ceased to slide within the step, beside motors and dry friction of
    /// joints, for other laws than those of Coulomb and his cone, and in groups of bodies with more than 60
    /// rows (20 contacts with friction); where the rows are independent, forces are unique whatever the laws.
    /// An interval takes two cone programs per row. [`Simulation::contact_forces`] leaves the question out.
    pub fn contacts(&self) -> Vec<ContactForce> {
        let mut contacts = self.contact_forces();
        match &self.forces {
            None => contact::decide_uniqueness(&self.stepper, &mut contacts),
            Some(StepForces { world, end, options, .. }) => {
                if let Ok(stepper) = Stepper::resume(world.clone(), end.clone(), *options) {
                    contact::decide_uniqueness(&stepper, &mut contacts);
                }
            }
        }
        contacts
    }

    /// The contacts of [`Simulation::contacts`] with their forces alone, for what reads them at every step:
    /// [`ContactForce::unique`] is [`Uniqueness::Unknown`], and nothing is computed.
    pub fn contact_forces(&self) -> Vec<ContactForce> {
        match &self.forces {
            Some(last) => last.contacts.clone(),
            None => contact::mean_forces(&self.stepper),
        }
    }

    /// The contacts between two bodies, by name or id, in either order; see [`Simulation::contacts`].
    pub fn contacts_between<'k>(
        &self,
        a: impl Into<BodyKey<'k>>,
        b: impl Into<BodyKey<'k>>,
    ) -> Result<Vec<ContactForce>, SimulationError> {
        let (a, b) = (self.body_id(a)?, self.body_id(b)?);
        let mut found = self.contacts();
        found.retain(|c| c.bodies == [a, b] || c.bodies == [b, a]);
        Ok(found)
    }

    /// All contacts within range with the forces at this instant, those that the next step would begin with,
    /// and whether they are unique. Where they are not, the forces are those of least norm, with the interval
    /// of every normal force. Takes a solve and, where forces are not unique, two cone programs per contact.
    ///
    /// Where positions or velocities were set since the last step, the contacts are those of the state that
    /// the next step prepares from them, with joints closed and bodies separated. The simulation itself stays
    /// as it was set.
    pub fn contacts_now(&self) -> Result<Vec<ContactForce>, SimulationError> {
        if self.changed > Changed::Nothing {
            let mut prepared = Simulation::from_snapshot(&self.save())?;
            prepared.settle()?;
            return prepared.contacts_now();
        }
        let t = self.time();
        let forces = self.stepper.forces().map_err(|problem| SimulationError::Step { t, problem })?;
        Ok(ContactForce::now(&self.stepper, &forces))
    }

    /// One step. That it was not solved to the tolerance is no error: the report has it. On an error no time
    /// has passed, and the state is the one from which the step began.
    pub fn step(&mut self) -> Result<StepReport, SimulationError> {
        match self.advance(f64::INFINITY, |frame| ControlFlow::Break(frame.report.clone()))? {
            ControlFlow::Break(report) => Ok(report),
            ControlFlow::Continue(()) => unreachable!("there is always time left"),
        }
    }

    /// Steps until a time, the last one shortened to end there, and shows each to a recorder. Returns what
    /// the steps add up to. A time that has passed is no error: no step is made.
    pub fn run_until(
        &mut self,
        end: f64,
        mut record: impl FnMut(&Frame<'_>),
    ) -> Result<RunReport, SimulationError> {
        if !end.is_finite() {
            let (what, range) = ("the end of the run", "finite");
            return Err(SimulationError::Number { what, value: end, range });
        }
        let mut total = RunReport::default();
        let ControlFlow::Continue(()) = self.advance(end, |frame| {
            total.add(frame.time, frame.report);
            record(frame);
            ControlFlow::<Infallible>::Continue(())
        })?;
        Ok(total)
    }

    /// As [`Simulation::run_until`], until the recorder breaks: for runs that can be interrupted. The end
    /// may be infinite.
    pub fn run_until_break<B>(
        &mut self,
        end: f64,
        record: impl FnMut(&Frame<'_>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, SimulationError> {
        if end.is_nan() {
            let (what, range) = ("the end of the run", "a number");
            return Err(SimulationError::Number { what, value: end, range });
        }
        self.advance(end, record)
    }

    /// Goes on with steps of another length, s. The clock and the forces of the last step stay as they are.
    pub fn set_dt(&mut self, dt: f64) -> Result<(), SimulationError> {
        check_dt(dt)?;
        self.dt = dt;
        Ok(())
    }

    /// Goes on with other options. The clock and the forces of the last step stay as they are.
    pub fn set_options(&mut self, options: StepOptions) -> Result<(), SimulationError> {
        check_dt(options.dt)?;
        let last = self.forces.is_none().then(|| StepForces::read(&self.stepper));
        // The length of steps changes with the next one.
        self.stepper.set_options(StepOptions { dt: self.stepper.options().dt, ..options })?;
        self.forces = self.forces.take().or(last);
        self.dt = options.dt;
        Ok(())
    }

    /// All that is needed to go on from here with the same bits, here or in another simulation.
    pub fn save(&self) -> Snapshot {
        Snapshot {
            world: self.stepper.world().clone(),
            stepper: self.stepper.snapshot(),
            options: *self.stepper.options(),
            dt: self.dt,
            start: self.start.clone(),
            report: self.report.clone(),
            changed: self.changed,
            // Forces that a step handed from one contact to another are known to its stepper only.
            forces: Some(self.forces.clone().unwrap_or_else(|| StepForces::read(&self.stepper))),
        }
    }

    /// Goes back to a snapshot: state, inputs and options.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), SimulationError> {
        *self = Simulation::from_snapshot(snapshot)?;
        Ok(())
    }

    /// Steps until a time or until the recorder breaks. A step that fails is rolled back.
    fn advance<B>(
        &mut self,
        end: f64,
        mut record: impl FnMut(&Frame<'_>) -> ControlFlow<B>,
    ) -> Result<ControlFlow<B>, SimulationError> {
        let mut length = StepLength::Fixed(self.dt);
        if no_time_left(self.time(), end, &length) {
            return Ok(ControlFlow::Continue(()));
        }
        self.settle()?;
        let mut contacts = ContactEvents::new(&self.stepper);
        let Simulation { stepper, before, report, forces, .. } = self;
        let mut remember = |stepper: &Stepper| {
            stepper.snapshot_into(&mut before.0);
            before.1 = stepper.options().dt;
        };
        remember(stepper);
        let run = stepping::run_until(stepper, end, &mut length, &mut contacts, |step| {
            remember(step.stepper);
            *report = Some(step.report.clone());
            *forces = None;
            record(&Frame::of(step))
        });
        run.or_else(|error| Err(self.roll_back(error)?))
    }

    /// Goes back to where the step that failed began, and names what failed.
    fn roll_back(&mut self, error: RunError) -> Result<SimulationError, SimulationError> {
        let diverged = self.state().bodies.iter().position(|s| !s.is_finite());
        let body = diverged.map(|i| self.world().bodies[i].name.clone()).unwrap_or_default();
        // A stepper of its own: what failed may have left numbers that are not finite anywhere.
        let (snapshot, dt) = self.before.clone();
        let options = StepOptions { dt, ..*self.stepper.options() };
        self.stepper = Stepper::resume(self.stepper.world().clone(), snapshot, options)?;
        Ok(match error {
            RunError::Step { t, source } => SimulationError::Step { t, problem: source },
            RunError::NotFinite { t } => SimulationError::Diverged { t, body },
            RunError::JointEnergy { t, gained } => SimulationError::JointEnergy { t, gained },
        })
    }

    /// Makes what was set ready for a step. Positions that were set are prepared as those of a start are; on
    /// an error they stay as they were set.
    fn settle(&mut self) -> Result<(), SimulationError> {
        if self.changed >= Changed::Velocities {
            let mut state = self.state().clone();
            if self.changed == Changed::Positions {
                prepare_start(self.stepper.world(), &mut state)?;
            } else {
                stepping::obey_joints(self.stepper.world(), &mut state);
            }
            for (i, s) in state.bodies.into_iter().enumerate() {
                self.stepper.set_body(i, s)?;
            }
        }
        if self.changed > Changed::Nothing {
            self.stepper.relinearize();
            (self.changed, self.forces) = (Changed::Nothing, None);
        }
        Ok(())
    }
}
