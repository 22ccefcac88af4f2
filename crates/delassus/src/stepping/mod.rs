//! Time stepping of rigid bodies with joints, contacts and exact Coulomb friction.
//!
//! Default, symmetric: half a kick, a drift that ends with all joints closed and no bodies overlapping, half a kick that
//! ends with velocities which the joints and contacts allow.
//!
//! ```text
//! v½ = v_k + ½h M⁻¹F(q_k) + M⁻¹H(q_k)ᵀ r₁ ,   q_{k+1} = q_k ⊕ h v½ ,   g(q_{k+1}) = 0 ,   0 ≤ gap(q_{k+1}) ⊥ r₁ₙ ≥ 0
//! v_{k+1} = v½ + ½h M⁻¹F(q_{k+1}) + M⁻¹H(q_{k+1})ᵀ r₂ ,   ġ = 0 ,   0 ≤ u_n + e u_n⁻ ⊥ r₂ₙ ≥ 0
//! ```
//!
//! Friction obeys Coulomb's law in both halves, with the velocities v½ and v_{k+1}. Without contacts this is the RATTLE
//! scheme: symplectic, of second order, constraints at the level of positions and of velocities. The half-implicit scheme
//! of 004 eq. 9 has one solve a step, v_{k+1} = v_k + h M⁻¹F + M⁻¹Hᵀ r with gap/h + u_n ≥ 0 and
//! q_{k+1} = q_k ⊕ h v_{k+1}, and is of first order. In both, gaps and joints are those at the end of the step, found by repeating the
//! solve with what the linearization missed (004 keeps them at the level of velocities only).
//!
//! A rebound needs its moment: where a contact with restitution closes or a limit is reached within a step, the step is cut
//! there (`step_moment.rs`). The law in the second solve is Moreau's; other laws of impact act before it (`step_impact.rs`).

mod adaptive;
mod contact_events;
mod control;
mod depenetrate;
mod force_uniqueness;
mod forces;
mod impact;
mod joint_solve;
mod motor_braking;
mod option_names;
mod report;
mod row_targets;
mod run;
mod start;
mod substep;
#[cfg(test)]
mod test_worlds;
mod time_of_impact;
mod velocity_solve;
mod warm_start;

pub use adaptive::{ControlledStep, MOST_HALVINGS, StepControl, controlled_step};
pub use contact_events::{ContactEvent, ContactEventKind, ContactEvents, PairMode};
pub use control::ControlError;
pub use depenetrate::part_bodies;
pub use impact::StepImpactLaw;
pub use option_names::UnknownOption;
pub use report::{Forces, KeyedImpulse, Snapshot, StepFailure, StepReport};
pub use run::{RunError, StepEstimate, StepLength, StepRecord, no_time_left, run_until, time_slack};
pub use start::{
    CLOSED, ClosedJoints, Overlap, StartReport, StartVelocities, is_closed, obey_joints, prepare_start,
};

pub(crate) use velocity_solve::{ContactRows, Masses, NONE, row_velocity};

use std::sync::Arc;

use delassus_solve::contact::Method;
use delassus_solve::problem::{InvalidProblem, Law, Status};
use glam::DVec3;

use crate::collision::{Collider, Contact, contact_name, pair_name};
use crate::world;
use crate::world::{BodyState, RowKind, Rows, World, WorldError, WorldState, check_world, close_loops};
use joint_solve::redundant_rows;
pub use report::{Accumulation, Jam};
use substep::{FEW, Mark, Room, TRIES};
use velocity_solve::{StageData, StageSolver, WIDE};
use warm_start::{Keyed, add_impulses, impulses_of, key};

/// Cuts of one step at impacts, for few contacts.
const CUTS: usize = 32;
/// Contacts slower than this part of what a step of free fall gives do not rebound.
const REST: f64 = 0.1;
/// Shortest part of a step, s.
const SHORTEST: f64 = 1e-9;

/// How often a step with few contacts that is not solved is halved.
const HALVINGS: u32 = 6;

/// The scheme of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// Two solves a step, second order where the motion is smooth.
    #[default]
    Symmetric,
    /// One solve a step, first order (004 eq. 9).
    HalfImplicit,
}

/// The law of friction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrictionLaw {
    /// Coulomb's law.
    #[default]
    Ncp,
    /// The associated cone (004 eq. 11): lifts off while it slides.
    Ccp,
}

/// Options of a [`Stepper`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StepOptions {
    /// Time step, s (default 1e-3).
    pub dt: f64,
    /// Scheme (default symmetric).
    pub scheme: Scheme,
    /// Law of friction (default Coulomb's).
    pub law: FrictionLaw,
    /// Law of impact (default Moreau's); the half-implicit scheme has that one only.
    pub impact_law: StepImpactLaw,
    /// Scale-free residual of each solve (default 1e-10).
    pub tolerance: f64,
    /// Solver (default `Auto`).
    pub method: Method,
    /// How far joints may be open and bodies may overlap after a step, m or rad (default 1e-10).
    pub position_tolerance: f64,
    /// Whether solves start from the impulses of the step before (default yes).
    pub warm_start: bool,
    /// Of several possible impulses, those of least norm (default no; costs another solve).
    pub minimum_norm: bool,
}

impl Default for StepOptions {
    fn default() -> Self {
        StepOptions {
            dt: 1e-3,
            scheme: Scheme::Symmetric,
            law: FrictionLaw::Ncp,
            impact_law: StepImpactLaw::Moreau,
            tolerance: 1e-10,
            method: Method::Auto,
            position_tolerance: 1e-10,
            warm_start: true,
            minimum_norm: false,
        }
    }
}

/// Moves a world in time.
pub struct Stepper {
    world: Arc<World>,
    /// Options; may be changed between steps.
    pub options: StepOptions,
    state: WorldState,
    steps: u64,
    start: f64,
    collider: Collider,
    masses: Masses,
    reach: Vec<f64>,
    margin: Vec<f64>,
    rows: Rows,
    contacts: Vec<Contact>,
    contact_rows: Vec<ContactRows>,
    restitution: Vec<f64>,
    /// Impulses of the last step: rows of joints, and contacts.
    row_impulse: Vec<f64>,
    contact_impulse: Vec<[f64; WIDE]>,
    stage: StageData,
    /// One for the solves that end in positions, one for those that end in velocities.
    solvers: [StageSolver; 2],
    redundant: Vec<bool>,
    loops: bool,
    values: Vec<f64>,
    /// Whether steps do nothing but part bodies: then contacts may give energy.
    parting: bool,
    /// Empty while a step is made.
    room: Room,
}

impl Stepper {
    /// A stepper that begins at a state. Joints that are beyond their limits there are first brought back by the least motion
    /// ([`close_loops`]). Bodies that overlap are moved apart, the least in the sense of their masses, and keep their velocities
    /// ([`part_bodies`]); where that cannot be done, the first step pushes them.
    ///
    /// Refuses what [`check_world`] refuses, and steps and tolerances that are no positive numbers.
    pub fn new(
        world: impl Into<Arc<World>>,
        state: WorldState,
        options: StepOptions,
    ) -> Result<Self, WorldError> {
        let world = world.into();
        check(&world, &state, &options)?;
        let mut stepper = Stepper::as_given(world, state, options);
        let world = stepper.world.clone();
        if stepper.is_beyond_limits() && close_loops(&world, &mut stepper.state).is_ok() {
            stepper.begin();
        }
        let deepest = stepper.contacts.iter().map(|c| -c.gap).fold(0.0, f64::max);
        if deepest > stepper.yielding() && part_bodies(&world, &mut stepper.state).is_some() {
            stepper.begin();
        }
        Ok(stepper)
    }

    /// A stepper that begins at a state whatever overlaps there.
    fn as_given(world: Arc<World>, state: WorldState, options: StepOptions) -> Self {
        let start = state.t;
        let mut stepper = Stepper {
            options,
            state,
            steps: 0,
            start,
            collider: Collider::new(&world),
            masses: Masses::new(&world),
            reach: world.bodies.iter().map(|body| body.reach()).collect(),
            margin: vec![0.0; world.bodies.len()],
            rows: Rows::default(),
            contacts: vec![],
            contact_rows: vec![],
            restitution: vec![],
            row_impulse: vec![],
            contact_impulse: vec![],
            stage: StageData::default(),
            solvers: Default::default(),
            redundant: vec![],
            loops: has_loops(&world),
            values: vec![],
            parting: false,
            room: Room::default(),
            world,
        };
        stepper.begin();
        stepper
    }

    fn begin(&mut self) {
        let mut room = std::mem::take(&mut self.room);
        self.look(self.options.dt, &mut room);
        self.room = room;
        self.forget_impulses();
        self.row_impulse.fill(0.0);
    }

    /// Positions and velocities now.
    pub fn state(&self) -> &WorldState {
        &self.state
    }

    /// Steps made.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Contacts within reach now.
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// Mean force of the last step per contact: normal, and friction in world axes.
    pub fn contact_forces(&self) -> impl Iterator<Item = (&Contact, f64, DVec3)> + '_ {
        let h = self.options.dt;
        self.contacts.iter().zip(&self.contact_rows).zip(&self.contact_impulse).map(move |((c, rows), r)| {
            let [t1, t2] = rows.tangents;
            (c, r[0] / h, (t1 * r[1] + t2 * r[2]) / h)
        })
    }

    /// The name of a contact: its bodies, and a number where they touch at several points.
    pub fn contact_name(&self, contact: &Contact) -> String {
        match self.contacts.iter().position(|c| key(c) == key(contact)) {
            Some(i) => contact_name(&self.world, &self.contacts, i),
            None => pair_name(&self.world, contact.bodies),
        }
    }

    /// What is needed to go on from here.
    pub fn snapshot(&self) -> Snapshot {
        let contacts = self.contacts.iter().zip(&self.contact_impulse);
        Snapshot {
            state: self.state.clone(),
            steps: self.steps,
            start: self.start,
            row_impulse: self.row_impulse.clone(),
            contact_impulse: contacts.map(|(c, r)| (c.bodies, c.shapes, c.feature, *r)).collect(),
        }
    }

    /// A stepper that goes on from a snapshot, with the same bits as the one that made it. Refuses what [`Stepper::new`]
    /// refuses.
    pub fn resume(
        world: impl Into<Arc<World>>,
        snapshot: Snapshot,
        options: StepOptions,
    ) -> Result<Self, WorldError> {
        let world = world.into();
        check(&world, &snapshot.state, &options)?;
        let mut stepper = Stepper::as_given(world, snapshot.state, options);
        (stepper.steps, stepper.start) = (snapshot.steps, snapshot.start);
        let sum: Vec<Keyed> =
            snapshot.contact_impulse.into_iter().map(|(b, s, f, r)| ((b, s, f), r)).collect();
        stepper.row_impulse = snapshot.row_impulse;
        stepper.row_impulse.resize(stepper.rows.rows.len(), 0.0);
        impulses_of(&sum, &stepper.contacts, &mut stepper.contact_impulse);
        Ok(stepper)
    }

    /// Contacts and rows of joints at the present state, for a step of length h that begins here.
    fn look(&mut self, h: f64, room: &mut Room) {
        let symmetric = self.options.scheme == Scheme::Symmetric;
        self.look_ahead(h, if symmetric { 0.5 * h } else { h }, room);
    }

    /// The same; the velocities of the next solve are those after a time `ahead`.
    fn look_ahead(&mut self, h: f64, ahead: f64, room: &mut Room) {
        let fall = 2.0 * h * self.world.gravity.length();
        for (i, body) in self.world.bodies.iter().enumerate() {
            let s = &self.state.bodies[i];
            let speed = s.velocity.length() + s.angular_velocity.length() * self.reach[i] + fall;
            let slack = 1e-6 + 1e-5 * self.reach[i];
            self.margin[i] = if body.fixed { 0.0 } else { h * speed + slack };
        }
        self.collider.collide(&self.world, &self.state, &self.margin, &mut self.contacts);
        world::update_coordinates(&self.world, &mut self.state);
        world::rows_at(&self.world, &self.state, h, self.state.t + ahead, &mut self.rows);
        if self.loops {
            redundant_rows(&self.masses, &self.rows, &mut room.dense, &mut room.lengths, &mut self.redundant);
        } else {
            self.redundant.clear();
            self.redundant.resize(self.rows.rows.len(), false);
        }
        self.brake_motors(h);
        self.linearize();
    }

    fn linearize(&mut self) {
        self.contact_rows.clear();
        self.restitution.clear();
        for contact in &self.contacts {
            let (rows, e) = self.contact_rows_of(contact, &self.state.bodies);
            self.contact_rows.push(rows);
            self.restitution.push(e);
        }
    }

    fn contact_rows_of(&self, contact: &Contact, bodies: &[BodyState]) -> (ContactRows, f64) {
        let [a, b] = contact.bodies;
        let surface = self.world.surface(a as usize, b as usize);
        let mu = surface.mu;
        let law = match self.options.law {
            _ if mu == 0.0 => Law::Unilateral,
            FrictionLaw::Ncp if surface.rolling > 0.0 => Law::Rolling { mu, rolling: surface.rolling },
            FrictionLaw::Ncp => Law::Coulomb { mu },
            FrictionLaw::Ccp if surface.rolling > 0.0 => Law::ConeRolling { mu, rolling: surface.rolling },
            FrictionLaw::Ccp => Law::Cone { mu },
        };
        (ContactRows::new(contact, bodies, &self.masses.slot, law), surface.restitution)
    }

    /// The velocities of bodies, 6 per body that moves, into `v`.
    fn velocities_of(&self, bodies: &[BodyState], v: &mut Vec<f64>) {
        v.clear();
        v.resize(self.masses.mass.len(), 0.0);
        for (s, &slot) in bodies.iter().zip(&self.masses.slot).filter(|(_, slot)| **slot != NONE) {
            let at = 6 * slot as usize;
            v[at..at + 3].copy_from_slice(&s.velocity.to_array());
            v[at + 3..at + 6].copy_from_slice(&s.angular_velocity.to_array());
        }
    }

    fn set_velocities(&mut self, v: &[f64]) {
        let moving = self.state.bodies.iter_mut().zip(&self.masses.slot).filter(|(_, slot)| **slot != NONE);
        for (s, &slot) in moving {
            let at = 6 * slot as usize;
            s.velocity = DVec3::from_slice(&v[at..at + 3]);
            s.angular_velocity = DVec3::from_slice(&v[at + 3..at + 6]);
        }
    }

    /// v += h M⁻¹ F at the present state.
    fn kick(&self, h: f64, v: &mut [f64]) {
        for ((body, s), &slot) in self.world.bodies.iter().zip(&self.state.bodies).zip(&self.masses.slot) {
            if slot != NONE {
                let at = 6 * slot as usize;
                let a = self.world.gravity + body.force[0] / body.mass;
                let b = s.pose.local_vector(body.force[1]) / body.inertia;
                for c in 0..3 {
                    v[at + c] += h * a[c];
                    v[at + 3 + c] += h * b[c];
                }
            }
        }
    }

    /// How close counts as touching.
    fn touching(&self) -> f64 {
        1e3 * self.options.position_tolerance
    }

    /// How far a contact may give way: a tenth of what counts as touching.
    fn yielding(&self) -> f64 {
        0.1 * self.touching()
    }

    /// Accelerations M⁻¹ F at the present state into `out`.
    fn accelerations(&self, out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.masses.mass.len(), 0.0);
        self.kick(1.0, out);
    }

    /// One step.
    ///
    /// Once a scene is steady (the same contacts and joints from step to step) a step takes no memory. What does take some:
    /// contacts and boxes of shapes that come and go, until there is room for them; jams and accumulations, which are named in
    /// the report; problems of more than 500 contacts, which are swept without W or by several threads; motors, drives and
    /// forces given by formulas; contacts of hulls and meshes; and solves that fail and are tried again by other methods.
    pub fn step(&mut self) -> Result<StepReport, InvalidProblem> {
        let mut room = std::mem::take(&mut self.room);
        let report = self.step_in(&mut room);
        self.room = room;
        report
    }

    /// Whether a joint is further beyond a limit than steps leave it.
    fn is_beyond_limits(&self) -> bool {
        let limits = self.rows.held..self.rows.held + self.rows.limits;
        self.rows.rows[limits].iter().any(|row| row.value < -self.touching())
    }

    fn step_in(&mut self, room: &mut Room) -> Result<StepReport, InvalidProblem> {
        let dt = self.options.dt;
        // Brought back by a motion, not by a velocity with which it would go on to the other side.
        if self.is_beyond_limits() && close_loops(&self.world, &mut self.state).is_ok() {
            self.look(dt, room);
            self.forget_impulses();
        }
        let mut report = StepReport {
            status: Status::Solved,
            failure: None,
            residual: 0.0,
            iterations: 0,
            solves: 0,
            penetration: 0.0,
            joint_error: 0.0,
            jams: vec![],
            impacts: 0,
            accumulations: vec![],
            non_unique: false,
        };
        let mut left = dt;
        let cuts = (2048 / (1 + self.contacts.len())).min(CUTS);
        // Impulses of all parts of the step add up to its forces.
        room.step_sum.clear();
        room.row_sum.clear();
        room.row_sum.resize(self.rows.rows.len(), 0.0);
        (room.tries, room.failed) = (0, 0.0);
        let mut halvings = 0;
        for cut in 0.. {
            let most = if room.tries < TRIES { left.min(dt / f64::from(1_u32 << halvings)) } else { left };
            let moment = if cut < cuts { self.next_impact(most, room) } else { None };
            let mut h = match moment {
                Some(tau) if tau < most - SHORTEST => tau.max(SHORTEST),
                _ => most,
            };
            let few = self.contacts.len() <= FEW && room.tries < TRIES;
            let tentative = report.status == Status::Solved && halvings < HALVINGS && few;
            // As if no limit were there; where one is passed, the part ends at it.
            room.past_limits = cut < cuts && self.nears_limit(h, room);
            let mut mark = Mark::of(&report);
            self.part(h, tentative, room, &mut report)?;
            if room.past_limits && !(tentative && report.status != Status::Solved) {
                room.past_limits = false;
                if let Some(tau) = self.passed_limit(h, room) {
                    h = tau.clamp(SHORTEST, h);
                    mark.restore(&mut report);
                    self.take_back(h, room);
                    mark = Mark::of(&report);
                    self.part(h, tentative, room, &mut report)?;
                }
            }
            room.past_limits = false;
            if tentative && report.status != Status::Solved {
                halvings += 1;
                mark.restore(&mut report);
                self.take_back(0.5 * h, room);
                continue;
            }
            if room.grown && !self.parting {
                // No step is short enough: bodies go as far as the linearized gaps let them, and are parted without a velocity.
                self.take_back(h, room);
                room.linear = true;
                let made = self.part(h, false, room, &mut report);
                room.linear = false;
                made?;
            }
            left -= h;
            add_impulses(&mut room.step_sum, &self.contacts, &self.contact_impulse);
            if room.row_sum.len() == self.row_impulse.len() {
                room.row_sum.iter_mut().zip(&self.row_impulse).for_each(|(s, r)| *s += r);
            }
            if left <= 0.0 {
                break;
            }
            self.look(left, room);
            self.forget_impulses();
        }
        self.steps += 1;
        // Counted, not summed: no drift of the clock.
        self.state.t = self.start + self.steps as f64 * dt;
        self.look(dt, room);
        impulses_of(&room.step_sum, &self.contacts, &mut self.contact_impulse);
        std::mem::swap(&mut self.row_impulse, &mut room.row_sum);
        self.row_impulse.resize(self.rows.rows.len(), 0.0);
        report.non_unique = self.is_overdetermined(room);
        report.penetration = self.contacts.iter().map(|c| -c.gap).fold(0.0, f64::max);
        report.joint_error = (self.rows.rows.iter())
            .filter(|row| matches!(row.kind, RowKind::Held))
            .map(|row| row.value.abs())
            .fold(0.0, f64::max);
        // Whatever was solved: bodies that overlap or joints that are open are told, and the next step shall not throw them apart.
        let told = 10.0 * self.touching();
        if report.penetration > told || report.joint_error > told {
            if report.status == Status::Solved {
                report.status = Status::Stalled;
                world::values(&self.world, &self.state, &mut self.values);
                report.failure = Some(self.what_is_open());
            }
            if report.penetration > told
                && !self.parting
                && part_bodies(&self.world, &mut self.state).is_some()
            {
                room.step_sum.clear();
                add_impulses(&mut room.step_sum, &self.contacts, &self.contact_impulse);
                self.look(dt, room);
                impulses_of(&room.step_sum, &self.contacts, &mut self.contact_impulse);
            }
        }
        Ok(report)
    }

    /// No impulses of contacts; those of joints stay.
    fn forget_impulses(&mut self) {
        self.contact_impulse.clear();
        self.contact_impulse.resize(self.contacts.len(), [0.0; WIDE]);
        self.row_impulse.resize(self.rows.rows.len(), 0.0);
    }
}

fn check(world: &World, state: &WorldState, options: &StepOptions) -> Result<(), WorldError> {
    let StepOptions { dt, tolerance, position_tolerance, .. } = *options;
    let numbers = [
        ("the time step", dt),
        ("the tolerance", tolerance),
        ("the tolerance of positions", position_tolerance),
    ];
    for (what, value) in numbers {
        if !(value > 0.0 && value.is_finite()) {
            return Err(WorldError::Number { what, value, range: "positive and finite" });
        }
    }
    check_world(world, state)
}

/// Whether joints close loops: more of them than trees have branches.
fn has_loops(world: &World) -> bool {
    // All fixed bodies are one.
    let mut parent: Vec<usize> = (0..world.bodies.len()).collect();
    let ground = world.bodies.iter().position(|body| body.fixed);
    for (i, body) in world.bodies.iter().enumerate().filter(|(_, body)| body.fixed) {
        debug_assert!(body.fixed);
        parent[i] = ground.unwrap_or(i);
    }
    fn root(parent: &[usize], mut i: usize) -> usize {
        while parent[i] != i {
            i = parent[i];
        }
        i
    }
    for joint in &world.joints {
        let [a, b] = joint.bodies.map(|b| root(&parent, b));
        if a == b {
            return true;
        }
        parent[a.max(b)] = a.min(b);
    }
    false
}
