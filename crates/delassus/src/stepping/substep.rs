//! One part of a time step: kick, drift, kick, with the constraints at its end.
//!
//! ```text
//! v½ = v_k + ½h M⁻¹F + M⁻¹Hᵀ r₁ ,   q_{k+1} = q_k ⊕ h v½ ,   g(q_{k+1}) = 0 ,   0 ≤ gap(q_{k+1}) ⊥ r₁ₙ ≥ 0
//! ```
//!
//! H is taken at q_k; the solve is repeated with what the linearization missed until g and the gaps hold at q_{k+1}.
//! The equations of both schemes stand in `stepper.rs`. Source: 004 eq. 9.

use delassus_solve::contact::{FrictionOptions, Method};
use delassus_solve::problem::{InvalidProblem, Status};

use super::force_uniqueness::Groups;
use super::report::{StepFailure, StepReport};
use super::velocity_solve::{Constraints, ContactRows, Masses, NONE, StageOutcome, WIDE, row_velocity};
use super::warm_start::{Key, Keyed, add_impulses, impulses_of, key};
use super::{Scheme, Stepper};
use crate::collision::{Contact, Features};
use crate::world::{BodyState, Row, drift};

/// Passes over the positions of one step.
const PASSES: usize = 8;
/// Passes that let bodies touch which the linearized gap kept apart, and the number of contacts up to which they are made.
const EXACT: usize = 2;
pub(super) const FEW: usize = 64;

/// A residual from which on impulses have nothing to do with the law, and how much of kinetic energy is too much of it.
const WILD: f64 = 1e-3;
const WILD_ENERGY: f64 = 4.0;
/// How much of the kinetic energy of the bodies that contacts push their work may be. In exact motion it is at most zero. In the
/// scenes it is below 1e-8, among thin discs in a heap now and then 1e-3; a rod that one step turned by a radian was thrown away with
/// a hundred times its energy.
const GROWTH: f64 = 1e-2;

/// Solves of one step that may fail. From then on the step takes what is left of it in one part, each solve is tried once, and
/// where there seems to be no solution at all, with the associated law, which always has one.
pub(super) const TRIES: usize = 6;
/// The work of one solve with few contacts, in multiplications: so much, and so much for each pair of constraints. That is a
/// thousand sweeps and some tens of factorizations.
const WORK: u64 = 2_000_000;
const WORK_OF_A_PAIR: u64 = 10_000;

/// Memory of a step, kept so that the next one takes none. Nothing in it outlives a step.
#[derive(Default)]
pub(super) struct Room {
    /// Bodies at the begin of a part, and the time.
    pub(super) before: Vec<BodyState>,
    pub(super) before_t: f64,
    /// How contacts close there, sorted by key.
    pub(super) approach: Vec<Approach>,
    /// Where limits are there, and how fast they are approached.
    pub(super) limit_begin: Vec<LimitBegin>,
    /// Whether the part goes on past limits that are not reached at its begin.
    pub(super) past_limits: bool,
    /// Velocities that forces alone would give.
    pub(super) free: Vec<f64>,
    /// Velocities.
    pub(super) velocity: Vec<f64>,
    /// M⁻¹ F, or velocities before.
    pub(super) kicked: Vec<f64>,
    /// Work of contacts in the first half of a part and energy of what they push; whether they gave energy in the part, which no
    /// contact does.
    pub(super) work: [f64; 2],
    pub(super) grown: bool,
    /// Whether gaps are kept only as far as their linearization goes, and what overlaps is not pushed out by velocities.
    pub(super) linear: bool,
    /// What a solve started from, and what it found if it is tried again.
    pub(super) start: Vec<f64>,
    kept_velocity: Vec<f64>,
    kept_rows: Vec<f64>,
    kept_contacts: Vec<[f64; WIDE]>,
    /// Impulses of a part and of the step.
    pub(super) part_sum: Vec<Keyed>,
    pub(super) step_sum: Vec<Keyed>,
    pub(super) row_sum: Vec<f64>,
    /// Contacts at the end of a part.
    now: Vec<Contact>,
    /// Contacts that may be none.
    ghosts: Vec<u32>,
    /// Rows or columns, one after the other, and what is left of them.
    pub(super) dense: Vec<f64>,
    pub(super) lengths: Vec<(usize, f64)>,
    /// Bodies that impulses connect.
    pub(super) groups: Groups,
    /// Solves of the step that failed, and the residual of the last one.
    pub(super) tries: usize,
    pub(super) failed: f64,
}

/// A limit at the begin of a part of a step.
#[derive(Clone, Copy)]
pub(super) struct LimitBegin {
    pub(super) value: f64,
    pub(super) speed: f64,
}

/// How a contact closes at the begin of a part of a step.
#[derive(Clone, Copy)]
pub(super) struct Approach {
    pub(super) key: Key,
    pub(super) speed: f64,
    pub(super) gap: f64,
    pub(super) closed: bool,
}

pub(super) fn find_approach(approach: &[Approach], key: Key) -> Option<&Approach> {
    approach.binary_search_by_key(&key, |a| a.key).ok().map(|i| &approach[i])
}

impl Stepper {
    /// A part of a step: one kick, drift and kick. Where it is `tentative`, the first solve that fails ends it: the caller makes
    /// it anew.
    pub(super) fn part(
        &mut self,
        h: f64,
        tentative: bool,
        room: &mut Room,
        report: &mut StepReport,
    ) -> Result<(), InvalidProblem> {
        let symmetric = self.options.scheme == Scheme::Symmetric;
        let kick = if symmetric { 0.5 * h } else { h };
        room.before.clone_from(&self.state.bodies);
        room.before_t = self.state.t;
        self.velocities_of(&self.state.bodies, &mut room.free);
        let touching = self.touching();
        room.approach.clear();
        room.approach.extend(self.contacts.iter().zip(&self.contact_rows).map(|(c, rows)| Approach {
            key: key(c),
            speed: rows.velocity(0, &room.free),
            gap: c.gap,
            closed: c.gap <= touching,
        }));
        room.limit_begin.clear();
        let (rows, masses) = (&self.rows, &self.masses);
        room.limit_begin.extend((rows.held..rows.held + rows.limits).map(|i| {
            let Row { value, rate, .. } = rows.rows[i];
            LimitBegin { value, speed: row_velocity(rows, i, masses, &room.free) + rate }
        }));
        self.kick(kick, &mut room.free);
        self.start_from_last_step(kick);
        self.want_positions(h, symmetric, room);
        self.leave_out_ghosts(h, room);
        let passes = if room.linear { 1 } else { PASSES };
        for pass in 0..passes {
            room.velocity.clone_from(&room.free);
            let outcome = self.solve(0, kick, room)?;
            note(report, outcome, self.options.tolerance);
            if tentative && outcome.status != Status::Solved {
                return Ok(());
            }
            self.set_velocities(&room.velocity);
            let bodies = self.world.bodies.iter().zip(&mut self.state.bodies);
            bodies.filter(|(body, _)| !body.fixed).for_each(|(body, s)| *s = drift(body, s, h));
            self.state.t = room.before_t + h;
            let (worst, inexact) = self.correct_biases(h, room);
            let open = worst > 1.0;
            let found = self.find_missed(h, room);
            let exact = if self.contacts.len() <= FEW { EXACT } else { 0 };
            if !open && !found && (!inexact || pass >= exact) {
                break;
            }
            if pass + 1 == passes {
                // Still open or overlapping by ten times what is allowed: told.
                if worst > 10.0 || found {
                    report.status = worse(report.status, Status::Stalled);
                    report.failure = report.failure.or(Some(self.what_is_open()));
                }
                break;
            }
            self.state.bodies.clone_from(&room.before);
            self.state.t = room.before_t;
        }
        let [work, energy] = self.contact_work(h, &room.start, &room.velocity);
        room.grown = work > GROWTH * energy && !symmetric;
        room.work = [work, energy];
        self.watch(h, room, report);
        std::mem::swap(&mut self.contact_impulse, &mut self.stage.contact_impulse);
        std::mem::swap(&mut self.row_impulse, &mut self.stage.row_impulse);
        if symmetric {
            self.second_half(h, room, report)?;
        }
        if room.grown && !room.linear && !self.parting {
            report.status = worse(report.status, Status::Stalled);
            report.failure.get_or_insert(StepFailure::Energy);
        }
        Ok(())
    }

    /// Work of the impulses of contacts in the solve that led from one set of velocities to another, as the stage holds them, and the
    /// kinetic energy before it of the bodies that they push.
    fn contact_work(&self, h: f64, from: &[f64], to: &[f64]) -> [f64; 2] {
        // Closing what counts as touching is no growth.
        let slack = (10.0 * self.touching() / h).powi(2);
        let (mut work, mut energy) = (0.0, 0.0);
        let pushed = self.contact_rows.iter().zip(&self.stage.contact_impulse).filter(|(_, r)| r[0] > 0.0);
        for (rows, r) in pushed {
            let along = |k: usize| 0.5 * r[k] * (rows.velocity(k, from) + rows.velocity(k, to));
            work += (0..rows.law.dim()).map(along).sum::<f64>();
            for at in rows.slots.iter().filter(|slot| **slot != NONE).map(|&slot| 6 * slot as usize) {
                let body = from[at..at + 6].iter().zip(&self.masses.mass[at..at + 6]);
                energy +=
                    body.map(|(v, m)| 0.5 * m * v * v).sum::<f64>() + 0.5 * self.masses.mass[at] * slack;
            }
        }
        [work, energy]
    }

    /// Back to the begin of the part that was made last, for one of another length.
    pub(super) fn take_back(&mut self, h: f64, room: &mut Room) {
        self.state.bodies.clone_from(&room.before);
        self.state.t = room.before_t;
        self.look(h, room);
        self.forget_impulses();
        self.row_impulse.fill(0.0);
    }

    /// The half of a part that ends in velocities; adds its impulses to those of the first half.
    fn second_half(
        &mut self,
        h: f64,
        room: &mut Room,
        report: &mut StepReport,
    ) -> Result<(), InvalidProblem> {
        room.part_sum.clear();
        add_impulses(&mut room.part_sum, &self.contacts, &self.contact_impulse);
        self.look_ahead(h, 0.0, room);
        self.velocities_of(&self.state.bodies, &mut room.velocity);
        self.kick(0.5 * h, &mut room.velocity);
        impulses_of(&room.part_sum, &self.contacts, &mut self.stage.contact_impulse);
        self.stage.row_impulse.clone_from(&self.row_impulse);
        self.want_velocities(h, room, report);
        self.strike(room, report);
        let outcome = self.solve(1, 0.5 * h, room)?;
        note(report, outcome, self.options.tolerance);
        // A rebound may give what laws of restitution that differ from contact to contact give.
        let rebounds = self.stage.normal_bias.iter().flatten().any(|bias| *bias < 0.0);
        let [work, energy] = self.contact_work(h, &room.start, &room.velocity);
        let work = if rebounds { work.min(0.0) } else { work };
        room.grown = room.work[0] + work > GROWTH * energy.max(room.work[1]);
        self.set_velocities(&room.velocity);
        add_impulses(&mut room.part_sum, &self.contacts, &self.stage.contact_impulse);
        impulses_of(&room.part_sum, &self.contacts, &mut self.contact_impulse);
        self.row_impulse.iter_mut().zip(&self.stage.row_impulse).for_each(|(a, b)| *a += b);
        Ok(())
    }

    /// Where the solve of a kick starts: the impulses of the last step, as far as the kick goes.
    fn start_from_last_step(&mut self, kick: f64) {
        let factor = kick / self.options.dt;
        let warm = self.options.warm_start;
        let scaled = |x: f64| if warm { x * factor } else { 0.0 };
        self.stage.row_impulse.clear();
        self.stage.row_impulse.extend(self.row_impulse.iter().map(|&x| scaled(x)));
        self.stage.contact_impulse.clear();
        self.stage.contact_impulse.extend(self.contact_impulse.iter().map(|r| r.map(scaled)));
    }

    /// Solves a stage from and into `room.velocity`.
    fn solve(
        &mut self,
        which: usize,
        duration: f64,
        room: &mut Room,
    ) -> Result<StageOutcome, InvalidProblem> {
        let constraints = (self.contacts.len() + self.rows.rows.len()) as u64;
        let work = WORK + WORK_OF_A_PAIR * constraints * constraints;
        let options = FrictionOptions {
            tolerance: self.options.tolerance,
            method: self.options.method,
            minimum_norm: self.options.minimum_norm,
            max_work: (self.contacts.len() <= FEW).then_some(work),
            ..FrictionOptions::default()
        };
        let Room { velocity: v, start, kept_velocity, kept_rows, kept_contacts, tries, failed, .. } = room;
        start.clone_from(v);
        let exhausted = *tries >= TRIES;
        if exhausted && *failed > WILD {
            let iterations = self.solve_associated(which, duration, &options, v, start)?;
            return Ok(StageOutcome { status: Status::Stalled, residual: *failed, iterations });
        }
        let on = Constraints { masses: &self.masses, rows: &self.rows, contacts: &self.contact_rows };
        let from_impulses = self.stage.contact_impulse.iter().flatten().any(|r| *r != 0.0)
            || self.stage.row_impulse.iter().any(|r| *r != 0.0);
        let solver = &mut self.solvers[which];
        let first = solver.solve(on, duration, &options, &mut self.stage, v)?;
        if first.status == Status::Solved {
            return Ok(first);
        }
        if exhausted && !wild(first.residual, &self.masses, v, start) {
            return Ok(first);
        }
        *tries += 1;
        let mut last = first;
        // From scratch, where that is another start: what was a bad one may have led astray.
        if from_impulses || options.method != Method::Auto {
            kept_velocity.clone_from(v);
            kept_rows.clone_from(&self.stage.row_impulse);
            kept_contacts.clone_from(&self.stage.contact_impulse);
            v.copy_from_slice(start);
            self.stage.row_impulse.fill(0.0);
            self.stage.contact_impulse.fill([0.0; WIDE]);
            let options = FrictionOptions { method: Method::Auto, ..options };
            let second = solver.solve(on, duration, &options, &mut self.stage, v)?;
            last = StageOutcome { iterations: first.iterations + second.iterations, ..second };
            if second.status == Status::Solved {
                return Ok(last);
            }
            *tries += 1;
            if first.residual <= second.residual {
                self.stage.row_impulse.clone_from(kept_rows);
                self.stage.contact_impulse.clone_from(kept_contacts);
                v.copy_from_slice(kept_velocity);
                last = StageOutcome { iterations: last.iterations, ..first };
            }
        }
        *failed = last.residual;
        // With much friction a wedged body may have no solution at all, and impulses that solve nothing have thrown it out of its
        // box. The associated law always has one, and gives no energy; the step is told as not solved all the same.
        if wild(last.residual, &self.masses, v, start) {
            last.iterations += self.solve_associated(which, duration, &options, v, start)?;
        }
        Ok(last)
    }

    /// Solves a stage with the associated law in the place of Coulomb's, from `start`; without impulses where even that fails.
    fn solve_associated(
        &mut self,
        which: usize,
        duration: f64,
        options: &FrictionOptions,
        v: &mut [f64],
        start: &[f64],
    ) -> Result<usize, InvalidProblem> {
        v.copy_from_slice(start);
        self.stage.row_impulse.fill(0.0);
        self.stage.contact_impulse.fill([0.0; WIDE]);
        let relaxed: Vec<ContactRows> = self.contact_rows.iter().map(ContactRows::associated).collect();
        let on = Constraints { masses: &self.masses, rows: &self.rows, contacts: &relaxed };
        // Convex: what takes long is of no use.
        let max_work = options.max_work.map(|work| work / 4);
        let options = FrictionOptions { method: Method::Auto, max_work, ..*options };
        let outcome = self.solvers[which].solve(on, duration, &options, &mut self.stage, v)?;
        if outcome.status != Status::Solved && wild(outcome.residual, &self.masses, v, start) {
            v.copy_from_slice(start);
            self.stage.row_impulse.fill(0.0);
            self.stage.contact_impulse.fill([0.0; WIDE]);
        }
        Ok(outcome.iterations)
    }

    /// Leaves out contacts that only the linearized gap closes: their shapes do not overlap halfway along the motion without
    /// impulses, nor at its end. What passes an edge is not pushed by it. [`Stepper::find_missed`] takes them back in where other
    /// impulses lead into an overlap.
    ///
    /// Only where bodies move by less than they are thick: what is faster could be through.
    fn leave_out_ghosts(&mut self, h: f64, room: &mut Room) {
        let Room { ghosts, now, free, before, .. } = room;
        ghosts.clear();
        let touching = self.touching();
        for (i, contact) in self.contacts.iter().enumerate() {
            let closes = contact.gap > touching
                && contact.gap + h * self.contact_rows[i].velocity(0, free) < 0.0
                && self.stage.normal_bias[i].is_some_and(|bias| bias > 0.0);
            // Two points have no edge to pass.
            if closes && contact.features != Features::Points {
                let moves = contact.bodies.map(|b| self.margin[b as usize]).iter().sum::<f64>();
                let thick = |side: usize| self.collider.thickness(contact.bodies[side], contact.shapes[side]);
                let (thinner, thicker) = (thick(0).min(thick(1)), thick(0).max(thick(1)));
                // A plane has no edge either.
                if moves < 0.5 * thinner && thicker < f64::INFINITY {
                    ghosts.push(i as u32);
                }
            }
        }
        if ghosts.is_empty() {
            return;
        }
        self.margin.fill(0.0);
        for share in [0.5, 1.0] {
            self.set_velocities(free);
            let bodies = self.world.bodies.iter().zip(&mut self.state.bodies);
            bodies.filter(|(body, _)| !body.fixed).for_each(|(body, s)| *s = drift(body, s, share * h));
            self.collider.collide(&self.world, &self.state, &self.margin, now);
            self.state.bodies.clone_from(before);
            let overlap = |contact: &Contact| {
                let same = |c: &Contact| (c.bodies, c.shapes) == (contact.bodies, contact.shapes);
                now.iter().any(|c| same(c) && c.gap < 0.0)
            };
            ghosts.retain(|&i| !overlap(&self.contacts[i as usize]));
        }
        for &i in ghosts.iter() {
            self.stage.normal_bias[i as usize] = None;
        }
    }

    /// Bodies that overlap at the end of the step though no contact saw them coming: their contacts join the step.
    fn find_missed(&mut self, h: f64, room: &mut Room) -> bool {
        let Room { now, before, .. } = room;
        self.margin.fill(0.0);
        self.collider.collide(&self.world, &self.state, &self.margin, now);
        let tolerance = self.touching();
        let mut found = false;
        for mut contact in now.drain(..) {
            if contact.gap >= -tolerance {
                continue;
            }
            // The point of a rim or an edge that touches may have moved on: one that does not see the overlap is another.
            let poses = contact.bodies.map(|b| &self.state.bodies[b as usize].pose);
            let sees =
                |c: &Contact| key(c) == key(&contact) && c.gap_at(poses[0], poses[1]).0 < -0.5 * tolerance;
            if let Some(i) = self.contacts.iter().position(sees) {
                if self.stage.normal_bias[i].is_none() {
                    self.stage.normal_bias[i] = Some(self.contacts[i].gap / h);
                    found = true;
                }
                continue;
            }
            let [a, b] = contact.bodies.map(|b| &before[b as usize].pose);
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
}

/// A report before a part of a step, as far as the part adds to it.
pub(super) struct Mark {
    status: Status,
    residual: f64,
    impacts: usize,
    jams: usize,
    accumulations: usize,
}

impl Mark {
    pub(super) fn of(report: &StepReport) -> Self {
        let StepReport { status, residual, impacts, jams, accumulations, .. } = report;
        let (jams, accumulations) = (jams.len(), accumulations.len());
        Mark { status: *status, residual: *residual, impacts: *impacts, jams, accumulations }
    }

    /// The report without the part; its solves and iterations still count.
    pub(super) fn restore(self, report: &mut StepReport) {
        (report.status, report.residual, report.impacts) = (self.status, self.residual, self.impacts);
        report.failure = report.failure.filter(|_| self.status != Status::Solved);
        report.jams.truncate(self.jams);
        report.accumulations.truncate(self.accumulations);
    }
}

/// Whether velocities that are no solution had better not be taken: they have nothing to do with the laws, or much more energy than
/// those from which the solve began.
fn wild(residual: f64, masses: &Masses, v: &[f64], start: &[f64]) -> bool {
    let energy = |v: &[f64]| v.iter().zip(&masses.mass).map(|(v, m)| m * v * v).sum::<f64>();
    residual.is_nan() || residual > WILD || energy(v) > WILD_ENERGY * energy(start)
}

fn note(report: &mut StepReport, outcome: StageOutcome, tolerance: f64) {
    if outcome.status != Status::Solved {
        // A solve within the tolerance failed by what it did not solve for.
        let residual = Some(outcome.residual).filter(|r| r.is_nan() || *r > tolerance);
        report.failure.get_or_insert(residual.map_or(StepFailure::Bounds, StepFailure::Residual));
    }
    report.status = worse(report.status, outcome.status);
    report.residual = report.residual.max(outcome.residual);
    report.iterations += outcome.iterations;
    report.solves += 1;
}

fn worse(a: Status, b: Status) -> Status {
    if a == Status::Solved { b } else { a }
}
