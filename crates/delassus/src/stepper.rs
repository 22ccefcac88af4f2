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
//! A rebound needs its moment: where a contact with restitution closes within a step, the step is cut there.

use delassus_solve::law::Law;
use delassus_solve::problem::InvalidProblem;
use delassus_solve::solvers::Status;
use delassus_solve::solvers::friction::{FrictionOptions, Method};
use glam::DVec3;

use crate::collide::Collider;
use crate::contact::Contact;
use crate::joint::{Row, RowKind, Rows};
use crate::joint_rows;
use crate::rigid::drift;
use crate::stage::{
    Constraints, ContactRows, Masses, NONE, StageData, StageOutcome, StageSolver, WIDE, Want, redundant_rows,
    row_velocity,
};
pub use crate::step_report::{Accumulation, Forces, Jam, KeyedImpulse, Snapshot, StepReport};
use crate::world::{World, WorldState};

/// Passes over the positions of one step.
const PASSES: usize = 8;
/// Cuts of one step at impacts, for few contacts.
const CUTS: usize = 32;
/// Contacts slower than this part of what a step of free fall gives do not rebound.
const REST: f64 = 0.1;
/// Passes that let bodies touch which the linearized gap kept apart, and the number of contacts up to which they are made.
const EXACT: usize = 2;
const FEW: usize = 64;
/// Shortest part of a step, s.
const SHORTEST: f64 = 1e-9;

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
            tolerance: 1e-10,
            method: Method::Auto,
            position_tolerance: 1e-10,
            warm_start: true,
            minimum_norm: false,
        }
    }
}

/// Moves a world in time.
pub struct Stepper<'a> {
    pub(crate) world: &'a World,
    /// Options; may be changed between steps.
    pub options: StepOptions,
    pub(crate) state: WorldState,
    pub(crate) steps: u64,
    pub(crate) start: f64,
    pub(crate) collider: Collider,
    pub(crate) masses: Masses,
    pub(crate) reach: Vec<f64>,
    pub(crate) margin: Vec<f64>,
    pub(crate) rows: Rows,
    pub(crate) contacts: Vec<Contact>,
    pub(crate) contact_rows: Vec<ContactRows>,
    pub(crate) restitution: Vec<f64>,
    /// Impulses of the last step: rows of joints, and contacts.
    pub(crate) row_impulse: Vec<f64>,
    pub(crate) contact_impulse: Vec<[f64; WIDE]>,
    pub(crate) stage: StageData,
    /// One for the solves that end in positions, one for those that end in velocities.
    pub(crate) solvers: [StageSolver; 2],
    pub(crate) redundant: Vec<bool>,
    pub(crate) loops: bool,
    pub(crate) values: Vec<f64>,
}

impl<'a> Stepper<'a> {
    /// A stepper that begins at a state.
    pub fn new(world: &'a World, state: WorldState, options: StepOptions) -> Self {
        let start = state.t;
        let mut stepper = Stepper {
            world,
            options,
            state,
            steps: 0,
            start,
            collider: Collider::new(world),
            masses: Masses::new(world),
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
            loops: has_loops(world),
            values: vec![],
        };
        stepper.look(stepper.options.dt);
        stepper.row_impulse = vec![0.0; stepper.rows.rows.len()];
        stepper.contact_impulse = vec![[0.0; WIDE]; stepper.contacts.len()];
        stepper
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
        let [a, b] = contact.bodies.map(|b| self.world.bodies[b as usize].name.as_str());
        let same: Vec<_> = self.contacts.iter().filter(|c| c.bodies == contact.bodies).collect();
        match same.iter().position(|c| key(c) == key(contact)) {
            Some(i) if same.len() > 1 => format!("{a}|{b}#{}", i + 1),
            _ => format!("{a}|{b}"),
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

    /// A stepper that goes on from a snapshot, with the same bits as the one that made it.
    pub fn resume(world: &'a World, snapshot: Snapshot, options: StepOptions) -> Self {
        let mut stepper = Stepper::new(world, snapshot.state, options);
        (stepper.steps, stepper.start) = (snapshot.steps, snapshot.start);
        let sum: Vec<(Key, [f64; WIDE])> =
            snapshot.contact_impulse.into_iter().map(|(b, s, f, r)| ((b, s, f), r)).collect();
        stepper.row_impulse = snapshot.row_impulse;
        stepper.match_impulses(&sum);
        stepper
    }

    /// Contacts and rows of joints at the present state, for a step of length h.
    fn look(&mut self, h: f64) {
        let fall = 2.0 * h * self.world.gravity.length();
        for (i, body) in self.world.bodies.iter().enumerate() {
            let s = &self.state.bodies[i];
            let speed = s.velocity.length() + s.angular_velocity.length() * self.reach[i] + fall;
            let slack = 1e-6 + 1e-5 * self.reach[i];
            self.margin[i] = if body.fixed { 0.0 } else { h * speed + slack };
        }
        self.collider.collide(self.world, &self.state, &self.margin, &mut self.contacts);
        joint_rows::update_coordinates(self.world, &mut self.state);
        joint_rows::rows(self.world, &self.state, h, &mut self.rows);
        if self.loops {
            redundant_rows(&self.masses, &self.rows, &mut self.redundant);
        } else {
            self.redundant.clear();
            self.redundant.resize(self.rows.rows.len(), false);
        }
        self.linearize();
    }

    fn linearize(&mut self) {
        self.contact_rows.clear();
        self.restitution.clear();
        for contact in &self.contacts {
            let (rows, e) = self.contact_rows_of(contact, &self.state);
            self.contact_rows.push(rows);
            self.restitution.push(e);
        }
    }

    fn contact_rows_of(&self, contact: &Contact, state: &WorldState) -> (ContactRows, f64) {
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
        (ContactRows::new(contact, state, &self.masses.slot, law), surface.restitution)
    }

    pub(crate) fn velocities(&self) -> Vec<f64> {
        let mut v = vec![0.0; self.masses.mass.len()];
        for (s, &slot) in self.state.bodies.iter().zip(&self.masses.slot).filter(|(_, slot)| **slot != NONE) {
            let at = 6 * slot as usize;
            v[at..at + 3].copy_from_slice(&s.velocity.to_array());
            v[at + 3..at + 6].copy_from_slice(&s.angular_velocity.to_array());
        }
        v
    }

    fn set_velocities(&self, state: &mut WorldState, v: &[f64]) {
        for (s, &slot) in state.bodies.iter_mut().zip(&self.masses.slot).filter(|(_, slot)| **slot != NONE) {
            let at = 6 * slot as usize;
            s.velocity = DVec3::from_slice(&v[at..at + 3]);
            s.angular_velocity = DVec3::from_slice(&v[at + 3..at + 6]);
        }
    }

    /// v += h M⁻¹ F at the present state.
    pub(crate) fn kick(&self, h: f64, v: &mut [f64]) {
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
    pub(crate) fn touching(&self) -> f64 {
        1e3 * self.options.position_tolerance
    }

    /// One step.
    pub fn step(&mut self) -> Result<StepReport, InvalidProblem> {
        let dt = self.options.dt;
        let mut report = StepReport {
            status: Status::Solved,
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
        let mut sum: Vec<(Key, [f64; WIDE])> = vec![];
        let mut row_sum = vec![0.0; self.rows.rows.len()];
        for cut in 0.. {
            let moment = if cut < cuts { self.next_impact(left) } else { None };
            let h = match moment {
                Some(tau) if tau < left - SHORTEST => tau.max(SHORTEST),
                _ => left,
            };
            self.part(h, &mut report)?;
            left -= h;
            add_impulses(&mut sum, &self.contacts, &self.contact_impulse);
            if row_sum.len() == self.row_impulse.len() {
                row_sum.iter_mut().zip(&self.row_impulse).for_each(|(s, r)| *s += r);
            }
            if left <= 0.0 {
                break;
            }
            self.look(left);
            self.match_impulses(&[]);
        }
        self.steps += 1;
        // Counted, not summed: no drift of the clock.
        self.state.t = self.start + self.steps as f64 * dt;
        self.look(dt);
        self.contact_impulse = self.contacts.iter().map(|c| impulse_of(&sum, c)).collect();
        self.row_impulse = row_sum;
        self.row_impulse.resize(self.rows.rows.len(), 0.0);
        report.non_unique = self.is_overdetermined();
        report.penetration = self.contacts.iter().map(|c| -c.gap).fold(0.0, f64::max);
        report.joint_error = (self.rows.rows.iter())
            .filter(|row| matches!(row.kind, RowKind::Held))
            .map(|row| row.value.abs())
            .fold(0.0, f64::max);
        Ok(report)
    }

    /// When the next contact with restitution closes within the time left, if one does.
    fn next_impact(&self, left: f64) -> Option<f64> {
        if self.restitution.iter().all(|&e| e == 0.0) {
            return None;
        }
        let v = self.velocities();
        let mut kicked = vec![0.0; v.len()];
        self.kick(1.0, &mut kicked);
        let mut first: Option<f64> = None;
        for (i, contact) in self.contacts.iter().enumerate().filter(|(i, _)| self.restitution[*i] > 0.0) {
            let (u, a) = (self.contact_rows[i].velocity(0, &v), self.contact_rows[i].velocity(0, &kicked));
            let tau = if contact.gap <= self.touching() {
                // It leaves and may come back.
                if u > 0.0 && a < 0.0 { -2.0 * u / a } else { continue }
            } else {
                let Some(tau) = first_root(contact.gap, u, 0.5 * a) else { continue };
                tau
            };
            if -(u + a * tau) > REST * a.abs() * self.options.dt && tau < left {
                first = Some(first.map_or(tau, |f: f64| f.min(tau)));
            }
        }
        first
    }

    /// A part of a step: one kick, drift and kick.
    fn part(&mut self, h: f64, report: &mut StepReport) -> Result<(), InvalidProblem> {
        let symmetric = self.options.scheme == Scheme::Symmetric;
        let kick = if symmetric { 0.5 * h } else { h };
        let before = self.state.clone();
        let mut free = self.velocities();
        let touching = self.touching();
        let approach: Vec<Approach> = self
            .contacts
            .iter()
            .zip(&self.contact_rows)
            .map(|(c, rows)| Approach {
                key: key(c),
                speed: rows.velocity(0, &free),
                gap: c.gap,
                closed: c.gap <= touching,
            })
            .collect();
        self.kick(kick, &mut free);
        self.stage.row_impulse = scaled(&self.row_impulse, kick / self.options.dt, self.options.warm_start);
        self.stage.contact_impulse =
            scaled_all(&self.contact_impulse, kick / self.options.dt, self.options.warm_start);
        self.want_positions(h, symmetric, &approach);
        let mut v = free.clone();
        let mut known = self.contacts.len();
        for pass in 0..PASSES {
            v.copy_from_slice(&free);
            let outcome = self.solve(0, kick, &mut v)?;
            note(report, outcome);
            let mut next = before.clone();
            self.set_velocities(&mut next, &v);
            for (body, s) in self.world.bodies.iter().zip(&mut next.bodies).filter(|(body, _)| !body.fixed) {
                *s = drift(body, s, h);
            }
            next.t = before.t + h;
            self.state = next;
            let (worst, inexact) = self.correct_biases(h, &v);
            let open = worst > 1.0;
            let found = pass < PASSES / 2 && self.find_missed(&before, h);
            let exact = if self.contacts.len() <= FEW { EXACT } else { 0 };
            if !open && !found && (!inexact || pass >= exact) {
                break;
            }
            if pass + 1 == PASSES {
                // Still open or overlapping by ten times what is allowed: told.
                if worst > 10.0 || found {
                    report.status = worse(report.status, Status::Stalled);
                }
                break;
            }
            self.state = before.clone();
            known = self.contacts.len();
        }
        debug_assert_eq!(known, self.contacts.len());
        self.watch(&before, &approach, h, &v, report);
        // The impulses of the first half, by name, for the second half and for the forces.
        let mut sum: Vec<(Key, [f64; WIDE])> = vec![];
        self.contact_impulse = std::mem::take(&mut self.stage.contact_impulse);
        self.row_impulse = std::mem::take(&mut self.stage.row_impulse);
        if !symmetric {
            return Ok(());
        }
        add_impulses(&mut sum, &self.contacts, &self.contact_impulse);
        let first_rows = self.row_impulse.clone();
        self.look(h);
        let mut v = self.velocities();
        self.kick(0.5 * h, &mut v);
        self.stage.contact_impulse = self.contacts.iter().map(|c| impulse_of(&sum, c)).collect();
        self.stage.row_impulse = first_rows.clone();
        self.want_velocities(h, &v, &approach, &first_rows, report);
        let outcome = self.solve(1, 0.5 * h, &mut v)?;
        note(report, outcome);
        let mut state = std::mem::replace(&mut self.state, before);
        self.set_velocities(&mut state, &v);
        self.state = state;
        add_impulses(&mut sum, &self.contacts, &self.stage.contact_impulse);
        self.contact_impulse = self.contacts.iter().map(|c| impulse_of(&sum, c)).collect();
        self.row_impulse = first_rows;
        self.row_impulse.iter_mut().zip(&self.stage.row_impulse).for_each(|(a, b)| *a += b);
        Ok(())
    }

    fn solve(&mut self, which: usize, duration: f64, v: &mut [f64]) -> Result<StageOutcome, InvalidProblem> {
        let options = FrictionOptions {
            tolerance: self.options.tolerance,
            method: self.options.method,
            minimum_norm: self.options.minimum_norm,
            ..FrictionOptions::default()
        };
        let start = v.to_vec();
        let on = Constraints { masses: &self.masses, rows: &self.rows, contacts: &self.contact_rows };
        let solver = &mut self.solvers[which];
        let first = solver.solve(on, duration, &options, &mut self.stage, v)?;
        if first.status == Status::Solved {
            return Ok(first);
        }
        // From scratch: what was a bad start may have led astray.
        let (kept, after) = (self.stage.clone(), v.to_vec());
        v.copy_from_slice(&start);
        self.stage.row_impulse.fill(0.0);
        self.stage.contact_impulse.fill([0.0; WIDE]);
        let options = FrictionOptions { method: Method::Auto, ..options };
        let mut second = solver.solve(on, duration, &options, &mut self.stage, v)?;
        if second.status != Status::Solved && first.residual <= second.residual {
            self.stage = kept;
            v.copy_from_slice(&after);
            second = StageOutcome { iterations: second.iterations, ..first };
        }
        second.iterations += first.iterations;
        Ok(second)
    }

    /// The wants of the solve that ends in positions.
    fn want_positions(&mut self, h: f64, symmetric: bool, approach: &[Approach]) {
        let share = if symmetric { 0.5 } else { 1.0 };
        let want = |row: &Row| match row.kind {
            RowKind::Held | RowKind::Limit { .. } => Want::Velocity { bias: row.rate + row.value / h },
            RowKind::Bounded { .. } => Want::Velocity { bias: row.rate },
            RowKind::Applied { force } => Want::Impulse(share * h * force),
            RowKind::Spring { stiffness, damping } => {
                // r = −share·h (k (g + share·h u) + d u)
                let resistance = stiffness * share * h + damping;
                Want::Compliant {
                    bias: stiffness * row.value / resistance + row.rate,
                    compliance: 1.0 / (share * h * resistance),
                }
            }
        };
        self.stage.wants.clear();
        let rows = self.rows.rows.iter().zip(&self.redundant);
        self.stage.wants.extend(rows.map(|(row, out)| if *out { Want::Nothing } else { want(row) }));
        self.stage.normal_bias.clear();
        for (i, contact) in self.contacts.iter().enumerate() {
            let speed = approach[i].speed;
            let rebounds = !symmetric && contact.gap <= self.touching() && speed < -self.rest_speed();
            let bias = if rebounds && self.restitution[i] > 0.0 {
                self.restitution[i] * speed
            } else {
                contact.gap / h
            };
            self.stage.normal_bias.push(Some(bias));
        }
    }

    fn rest_speed(&self) -> f64 {
        REST * self.world.gravity.length() * self.options.dt
    }

    /// Adds to the wants what the linearization missed. How far joints are open or bodies overlap, in parts of what is allowed,
    /// and whether a contact pushed bodies that do not touch.
    fn correct_biases(&mut self, h: f64, v: &[f64]) -> (f64, bool) {
        let tolerance = self.options.position_tolerance;
        let (mut worst, mut inexact) = (0.0f64, false);
        joint_rows::values(self.world, &self.state, &mut self.values);
        let near = self.touching();
        let half_implicit = self.options.scheme == Scheme::HalfImplicit;
        for (i, &value) in self.values.iter().enumerate() {
            let row = &self.rows.rows[i];
            let Want::Velocity { bias } = &mut self.stage.wants[i] else { continue };
            match row.kind {
                RowKind::Held => {
                    worst = worst.max(value.abs() / tolerance);
                    *bias += value / h;
                }
                RowKind::Limit { .. } => {
                    let pushed = self.stage.row_impulse[i] > 0.0;
                    worst = worst.max(-value / tolerance);
                    inexact |= pushed && value > near;
                    let predicted = h * (row_velocity(&self.rows, i, &self.masses, v) + *bias);
                    *bias += (value - predicted) / h;
                }
                _ => {}
            }
        }
        for (i, contact) in self.contacts.iter().enumerate() {
            let Some(bias) = &mut self.stage.normal_bias[i] else { continue };
            // A rebound wants a velocity, not a distance.
            if half_implicit && self.restitution[i] > 0.0 && contact.gap <= near {
                continue;
            }
            let [a, b] = contact.bodies.map(|b| &self.state.bodies[b as usize].pose);
            let (gap, _) = contact.gap_at(a, b);
            let pushed = self.stage.contact_impulse[i][0] > 0.0;
            let predicted = h * (self.contact_rows[i].velocity(0, v) + *bias);
            let missed = gap - predicted;
            if missed < -tolerance {
                // A contact gives way by a tenth of what counts as touching.
                worst = worst.max(-gap / (0.1 * near));
            }
            inexact |= pushed && missed > near;
            *bias += missed / h;
        }
        (worst, inexact)
    }

    /// Bodies that overlap at the end of the step though no contact saw them coming: their contacts join the step.
    fn find_missed(&mut self, before: &WorldState, h: f64) -> bool {
        let mut now = vec![];
        self.margin.fill(0.0);
        self.collider.collide(self.world, &self.state, &self.margin, &mut now);
        let tolerance = self.touching();
        let mut found = false;
        for mut contact in now {
            if contact.gap >= -tolerance || self.contacts.iter().any(|c| key(c) == key(&contact)) {
                continue;
            }
            let [a, b] = contact.bodies.map(|b| &before.bodies[b as usize].pose);
            let (gap, normal) = contact.gap_at(a, b);
            let surfaces = (a.point(contact.core[0]) + normal * contact.radius[0])
                + (b.point(contact.core[1]) - normal * contact.radius[1]);
            (contact.gap, contact.normal, contact.point) = (gap, normal, 0.5 * surfaces);
            let (rows, e) = self.contact_rows_of(&contact, before);
            self.contacts.push(contact);
            self.contact_rows.push(rows);
            self.restitution.push(e);
            self.stage.normal_bias.push(Some(gap / h));
            self.stage.contact_impulse.push([0.0; WIDE]);
            found = true;
        }
        found
    }

    /// The wants of the solve that ends in velocities, with rebounds.
    fn want_velocities(
        &mut self,
        h: f64,
        v: &[f64],
        approach: &[Approach],
        first: &[f64],
        report: &mut StepReport,
    ) {
        let touching = self.touching();
        let rest = self.rest_speed();
        self.stage.wants.clear();
        for (i, row) in self.rows.rows.iter().enumerate() {
            let want = match row.kind {
                _ if self.redundant[i] => Want::Nothing,
                RowKind::Held | RowKind::Bounded { .. } => Want::Velocity { bias: row.rate },
                RowKind::Limit { restitution } if row.value <= touching => {
                    let u = row_velocity(&self.rows, i, &self.masses, v) + row.rate;
                    let bias = if u < -rest { restitution * u } else { 0.0 };
                    Want::Velocity { bias: row.rate + bias }
                }
                RowKind::Limit { .. } => Want::Nothing,
                RowKind::Applied { force } => Want::Impulse(0.5 * h * force),
                RowKind::Spring { .. } => Want::Impulse(first.get(i).copied().unwrap_or(0.0)),
            };
            self.stage.wants.push(want);
        }
        self.stage.normal_bias.clear();
        let mut rebounds = 0;
        let mut settled = vec![];
        let mut kicked = vec![0.0; if self.restitution.iter().any(|e| *e > 0.0) { v.len() } else { 0 }];
        if !kicked.is_empty() {
            self.kick(1.0, &mut kicked);
        }
        for (i, contact) in self.contacts.iter().enumerate() {
            let bias = (contact.gap <= touching).then(|| {
                if self.restitution[i] == 0.0 {
                    return 0.0;
                }
                let now = self.contact_rows[i].velocity(0, v);
                let fall = -self.contact_rows[i].velocity(0, &kicked);
                let u = match find_approach(approach, key(contact)) {
                    // A contact that is closed and stays so feels its weight, which is no impact.
                    Some(then) if then.closed && then.speed <= 1e-3 * rest => then.speed,
                    Some(then) => {
                        // The speed at which it arrived, which is not the one with which the step left it here.
                        let arrival = (then.speed * then.speed + 2.0 * fall * then.gap).max(0.0).sqrt();
                        if arrival <= REST * fall.abs() * self.options.dt {
                            settled.push((i, *then, arrival, fall));
                            return 0.0;
                        }
                        -arrival
                    }
                    None => now,
                };
                if u < -rest {
                    rebounds += 1;
                    self.restitution[i] * u
                } else {
                    0.0
                }
            });
            self.stage.normal_bias.push(bias);
        }
        for (i, then, arrival, fall) in settled {
            let e = self.restitution[i];
            if fall > 0.0 && e < 1.0 {
                // Arrival of the free fall, and the rebounds that are left out: Σ 2 eᵏ u/a.
                let rest = (then.speed + arrival) / fall + 2.0 * e * arrival / (fall * (1.0 - e));
                let contact = self.contact_name(&self.contacts[i]);
                report.accumulations.push(Accumulation { t: self.state.t - h + rest, contact });
            }
        }
        report.impacts += rebounds;
    }

    /// Impulses of contacts that are still there.
    fn match_impulses(&mut self, sum: &[(Key, [f64; WIDE])]) {
        self.contact_impulse = self.contacts.iter().map(|c| impulse_of(sum, c)).collect();
        self.row_impulse.resize(self.rows.rows.len(), 0.0);
    }
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

/// What makes a contact the same from step to step.
pub(crate) type Key = ([u32; 2], [u32; 2], u32);

pub(crate) fn key(contact: &Contact) -> Key {
    (contact.bodies, contact.shapes, contact.feature)
}

/// How a contact closes at the begin of a part of a step.
#[derive(Clone, Copy)]
pub(crate) struct Approach {
    pub(crate) key: Key,
    pub(crate) speed: f64,
    pub(crate) gap: f64,
    pub(crate) closed: bool,
}

fn find_approach(approach: &[Approach], key: Key) -> Option<&Approach> {
    approach.binary_search_by_key(&key, |a| a.key).ok().map(|i| &approach[i])
}

/// Adds impulses by key. `sum` stays sorted.
fn add_impulses(sum: &mut Vec<(Key, [f64; WIDE])>, contacts: &[Contact], impulses: &[[f64; WIDE]]) {
    for (contact, impulse) in contacts.iter().zip(impulses) {
        match sum.binary_search_by_key(&key(contact), |(k, _)| *k) {
            Ok(i) => sum[i].1.iter_mut().zip(impulse).for_each(|(s, r)| *s += r),
            Err(i) => sum.insert(i, (key(contact), *impulse)),
        }
    }
}

fn impulse_of(sum: &[(Key, [f64; WIDE])], contact: &Contact) -> [f64; WIDE] {
    match sum.binary_search_by_key(&key(contact), |(k, _)| *k) {
        Ok(i) => sum[i].1,
        Err(_) => [0.0; WIDE],
    }
}

fn scaled(x: &[f64], factor: f64, warm: bool) -> Vec<f64> {
    x.iter().map(|x| if warm { x * factor } else { 0.0 }).collect()
}

fn scaled_all(x: &[[f64; WIDE]], factor: f64, warm: bool) -> Vec<[f64; WIDE]> {
    x.iter().map(|r| r.map(|x| if warm { x * factor } else { 0.0 })).collect()
}

/// The smallest τ > 0 with c + b τ + a τ² = 0, c > 0.
fn first_root(c: f64, b: f64, a: f64) -> Option<f64> {
    let discriminant = b * b - 4.0 * a * c;
    if discriminant < 0.0 {
        return None;
    }
    // In this form nothing cancels, and a = 0 is no exception.
    let tau = if b < 0.0 {
        2.0 * c / (-b + discriminant.sqrt())
    } else {
        let denominator = -b - discriminant.sqrt();
        if a >= 0.0 {
            return None;
        }
        denominator / (2.0 * a)
    };
    (tau > 0.0).then_some(tau)
}

fn note(report: &mut StepReport, outcome: StageOutcome) {
    report.status = worse(report.status, outcome.status);
    report.residual = report.residual.max(outcome.residual);
    report.iterations += outcome.iterations;
    report.solves += 1;
}

fn worse(a: Status, b: Status) -> Status {
    if a == Status::Solved { b } else { a }
}
