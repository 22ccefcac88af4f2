//! One solve of a time step: velocities from impulses of joints and contacts.
//!
//! ```text
//! v = v* + M⁻¹ Hᵀ r ,   u = H v + b ,   (u_i, r_i) in the law of row or contact i
//! ```
//!
//! v* are the velocities before (6 per body that moves), H the rows of joints and contacts, b what they want: a
//! distance per time, a wanted speed, a rebound. Source: 004 eq. 9. Rows with a bound on their force (motors, dry friction in
//! joints) are solved as held and, where the bound is passed, given the bound as a known impulse and solved again.

use delassus_solve::contact::{FrictionOptions, FrictionSolution, Workspace, solve_into};
use delassus_solve::linalg::Sparse;
use delassus_solve::problem::{Form, FrictionProblem, InvalidProblem, Law, Status};
use glam::DVec3;

use super::joint_solve::JointsAlone;
use crate::collision::Contact;
use crate::world::{BodyState, Row, RowKind, Rows, World};

/// Rows of a contact: normal, two tangents, two rolling rows.
pub(super) const WIDE: usize = 5;
/// Rounds in which bounded rows may change their mind.
const ROUNDS: usize = 20;
/// A bound that follows the load of its joint is settled when it changes by less than this part.
const SETTLED: f64 = 1e-9;
/// Rows of joints up to which joints alone are solved by a dense factorization.
const DIRECT: usize = 200;

/// A contact with its Jacobian and its law.
#[derive(Clone, Copy, Debug)]
pub struct ContactRows {
    /// Slots of the bodies among those that move; `NONE` for a fixed one.
    pub slots: [u32; 2],
    /// Entries for (ẋ, ω̄) of body A and of body B.
    pub blocks: [[[f64; 6]; WIDE]; 2],
    /// The law.
    pub(super) law: Law,
    /// Tangents, world axes.
    pub tangents: [DVec3; 2],
}

/// The slot of a fixed body.
pub const NONE: u32 = u32::MAX;

impl ContactRows {
    /// The same rows with the associated law in the place of Coulomb's.
    pub(super) fn associated(&self) -> Self {
        let law = match self.law {
            Law::Coulomb { mu } => Law::Cone { mu },
            Law::Rolling { mu, rolling } => Law::ConeRolling { mu, rolling },
            other => other,
        };
        ContactRows { law, ..*self }
    }

    /// The rows at the poses of bodies; the gap's gradient is taken at `point`.
    pub fn new(contact: &Contact, bodies: &[BodyState], slot: &[u32], law: Law) -> Self {
        let n = contact.normal;
        // The world axis that the normal is farthest from gives the first tangent: the same from step to step.
        let axis = if n.x.abs() <= n.y.abs() && n.x.abs() <= n.z.abs() {
            DVec3::X
        } else if n.y.abs() <= n.z.abs() {
            DVec3::Y
        } else {
            DVec3::Z
        };
        let t1 = (axis - n * axis.dot(n)).normalize_or_zero();
        let t2 = n.cross(t1);
        let mut blocks = [[[0.0; 6]; WIDE]; 2];
        let slots = contact.bodies.map(|b| slot[b as usize]);
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            let pose = bodies[contact.bodies[side] as usize].pose;
            let arm = contact.point - pose.position;
            for (k, d) in [n, t1, t2].into_iter().enumerate().take(law.dim()) {
                let moment = pose.local_vector(arm.cross(d));
                let linear = sign * d;
                let angular = sign * moment;
                blocks[side][k] = [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z];
            }
            for (k, d) in [t1, t2].into_iter().enumerate().take(law.dim().saturating_sub(3)) {
                let angular = sign * pose.local_vector(d);
                blocks[side][3 + k] = [0.0, 0.0, 0.0, angular.x, angular.y, angular.z];
            }
        }
        ContactRows { slots, blocks, law, tangents: [t1, t2] }
    }

    /// Velocity of a row.
    pub fn velocity(&self, k: usize, v: &[f64]) -> f64 {
        let mut u = 0.0;
        for side in 0..2 {
            if self.slots[side] != NONE {
                u += dot6(&self.blocks[side][k], &v[6 * self.slots[side] as usize..]);
            }
        }
        u
    }

    /// v += M⁻¹ Hᵀ r.
    pub(super) fn push(&self, r: &[f64], inverse_mass: &[f64], v: &mut [f64]) {
        for side in 0..2 {
            if self.slots[side] != NONE {
                let at = 6 * self.slots[side] as usize;
                for k in 0..self.law.dim() {
                    for c in 0..6 {
                        v[at + c] += inverse_mass[at + c] * self.blocks[side][k][c] * r[k];
                    }
                }
            }
        }
    }

    /// The block of W of the contact with itself.
    pub(super) fn self_block(&self, inverse_mass: &[f64], i: usize, j: usize) -> f64 {
        let mut w = 0.0;
        for side in 0..2 {
            if self.slots[side] != NONE {
                let at = 6 * self.slots[side] as usize;
                for c in 0..6 {
                    w += self.blocks[side][i][c] * inverse_mass[at + c] * self.blocks[side][j][c];
                }
            }
        }
        w
    }
}

pub(super) fn dot6(a: &[f64; 6], v: &[f64]) -> f64 {
    a.iter().zip(&v[..6]).map(|(a, v)| a * v).sum()
}

/// What a stage wants of a row of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Want {
    /// Nothing: left out.
    Nothing,
    /// u + b = 0 (or ≥ 0 for a limit).
    Velocity {
        /// b.
        bias: f64,
    },
    /// u + b + c r = 0.
    Compliant {
        /// b.
        bias: f64,
        /// c.
        compliance: f64,
    },
    /// This impulse.
    Impulse(f64),
}

/// What a stage was given and what it found.
#[derive(Clone, Debug, Default)]
pub(super) struct StageData {
    /// One per row of a joint.
    pub(super) wants: Vec<Want>,
    /// b of the normal row per contact; `None` leaves the contact out.
    pub(super) normal_bias: Vec<Option<f64>>,
    /// In: where to start. Out: the impulses.
    pub(super) row_impulse: Vec<f64>,
    /// In: where to start. Out: the impulses.
    pub(super) contact_impulse: Vec<[f64; WIDE]>,
}

/// How a stage ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct StageOutcome {
    pub(super) status: Status,
    pub(super) residual: f64,
    pub(super) iterations: usize,
}

/// The bodies that move, as the rows of a stage see them.
#[derive(Clone, Debug)]
pub struct Masses {
    /// The place of each body among those that move, or `NONE`.
    pub slot: Vec<u32>,
    /// M, 6 per body that moves.
    pub mass: Vec<f64>,
    /// M⁻¹.
    pub(super) inverse: Vec<f64>,
}

impl Masses {
    pub fn new(world: &World) -> Self {
        let mut slot = vec![NONE; world.bodies.len()];
        let mut mass = vec![];
        for (i, body) in world.bodies.iter().enumerate().filter(|(_, body)| !body.fixed) {
            slot[i] = (mass.len() / 6) as u32;
            mass.extend([body.mass; 3]);
            mass.extend(body.inertia.to_array());
        }
        let inverse = mass.iter().map(|m| 1.0 / m).collect();
        Masses { slot, mass, inverse }
    }
}

/// Solves stages, one after the other, in room that is kept.
pub(super) struct StageSolver {
    problem: FrictionProblem,
    workspace: Workspace,
    solution: FrictionSolution,
    entries: Vec<(usize, usize, f64)>,
    diagonal: Vec<(usize, usize, f64)>,
    springs: Vec<f64>,
    side: Vec<i8>,
    bound: Vec<f64>,
    before: Vec<f64>,
    alone: JointsAlone,
}

impl Default for StageSolver {
    fn default() -> Self {
        let empty = || Sparse::zeros(0, 0);
        let form =
            Form::Global { mass: empty(), jacobian_transposed: empty(), force: Vec::new(), bias: Vec::new() };
        StageSolver {
            problem: FrictionProblem { laws: Vec::new(), form },
            workspace: Workspace::default(),
            solution: FrictionSolution::default(),
            entries: Vec::new(),
            diagonal: Vec::new(),
            springs: Vec::new(),
            side: Vec::new(),
            bound: Vec::new(),
            before: Vec::new(),
            alone: JointsAlone::default(),
        }
    }
}

/// A system of joints and contacts at a state.
#[derive(Clone, Copy)]
pub(super) struct Constraints<'a> {
    pub(super) masses: &'a Masses,
    pub(super) rows: &'a Rows,
    pub(super) contacts: &'a [ContactRows],
}

impl StageSolver {
    /// Solves a stage: `v` becomes the velocities after it.
    pub(super) fn solve(
        &mut self,
        on: Constraints<'_>,
        duration: f64,
        options: &FrictionOptions,
        data: &mut StageData,
        v: &mut [f64],
    ) -> Result<StageOutcome, InvalidProblem> {
        let Constraints { masses, rows, .. } = on;
        // A bounded row is held (0) or at its bound (±1).
        self.side.clear();
        self.side.resize(rows.rows.len(), 0);
        self.bound.clear();
        self.bound.extend(rows.rows.iter().map(|row| limit(&row.kind, 0.0) * duration));
        let bounded = rows.rows.iter().any(|row| matches!(row.kind, RowKind::Bounded { .. }));
        self.before.clear();
        self.before.extend_from_slice(v);
        let mut outcome = StageOutcome { status: Status::Solved, residual: 0.0, iterations: 0 };
        for round in 0..ROUNDS {
            v.copy_from_slice(&self.before);
            for (i, want) in data.wants.iter().enumerate() {
                let known = match (want, self.side[i]) {
                    (Want::Nothing, _) => {
                        data.row_impulse[i] = 0.0;
                        None
                    }
                    (Want::Impulse(r), _) => Some(*r),
                    (Want::Velocity { .. }, s) if s != 0 => Some(f64::from(s) * self.bound[i]),
                    _ => None,
                };
                if let Some(r) = known {
                    data.row_impulse[i] = r;
                    push_row(rows, i, r, masses, v);
                }
            }
            let step = self.solve_rows(on, options, data, v)?;
            outcome.iterations += step.iterations;
            outcome.residual = step.residual;
            outcome.status = step.status;
            if !bounded || !self.change_sides(on, duration, data, v) {
                break;
            }
            if round + 1 == ROUNDS {
                outcome.status = Status::Stalled;
            }
        }
        Ok(outcome)
    }

    /// Lets bounded rows go to their bounds and back; whether one did.
    fn change_sides(&mut self, on: Constraints<'_>, duration: f64, data: &StageData, v: &[f64]) -> bool {
        let Constraints { masses, rows, .. } = on;
        let mut changed = false;
        for (i, row) in rows.rows.iter().enumerate() {
            let (RowKind::Bounded { .. }, Want::Velocity { bias }) = (row.kind, data.wants[i]) else {
                continue;
            };
            let load = (rows.rows.iter().zip(&data.row_impulse))
                .filter(|(other, _)| other.joint == row.joint)
                .map(|(other, r)| (other.load * r).powi(2))
                .sum::<f64>()
                .sqrt();
            let now = limit(&row.kind, load / duration.max(f64::MIN_POSITIVE)) * duration;
            changed |= self.side[i] != 0 && (now - self.bound[i]).abs() > SETTLED * (now + self.bound[i]);
            self.bound[i] = now;
            let r = data.row_impulse[i];
            if self.side[i] == 0 && r.abs() > now {
                self.side[i] = if r > 0.0 { 1 } else { -1 };
                changed = true;
            } else if self.side[i] != 0 {
                // At its bound a force opposes the motion that it could not stop.
                let u = row_velocity(rows, i, masses, v) + bias;
                if u * f64::from(self.side[i]) > 0.0 {
                    self.side[i] = 0;
                    changed = true;
                }
            }
        }
        changed
    }

    /// The problem with rows at their bounds taken out.
    fn solve_rows(
        &mut self,
        on: Constraints<'_>,
        options: &FrictionOptions,
        data: &mut StageData,
        v: &mut [f64],
    ) -> Result<StageOutcome, InvalidProblem> {
        let Constraints { masses, rows, contacts } = on;
        let moving = masses.mass.len();
        let FrictionProblem { laws, form: Form::Global { mass, jacobian_transposed, force, bias } } =
            &mut self.problem
        else {
            return Ok(StageOutcome { status: Status::Stalled, residual: f64::INFINITY, iterations: 0 });
        };
        let (entries, springs, start) = (&mut self.entries, &mut self.springs, &mut self.solution.impulse);
        laws.clear();
        bias.clear();
        entries.clear();
        // A compliant row has a body of its own, of mass 1/c, which moves along with it.
        springs.clear();
        start.clear();
        for (i, row) in rows.rows.iter().enumerate() {
            let (b, compliance) = match data.wants[i] {
                Want::Velocity { bias } if self.side[i] == 0 => (bias, 0.0),
                Want::Compliant { bias, compliance } => (bias, compliance),
                _ => continue,
            };
            let column = bias.len();
            for (body, block) in rows.blocks_of(row) {
                let at = 6 * masses.slot[*body as usize] as usize;
                entries.extend((0..6).map(|c| (at + c, column, block[c])));
            }
            if compliance > 0.0 {
                entries.push((moving + springs.len(), column, 1.0));
                springs.push(1.0 / compliance);
            }
            laws.push(if matches!(row.kind, RowKind::Limit { .. }) {
                Law::Unilateral
            } else {
                Law::Bilateral
            });
            bias.push(b);
            start.push(data.row_impulse[i]);
        }
        for (i, contact) in contacts.iter().enumerate() {
            let Some(b) = data.normal_bias[i] else { continue };
            for k in 0..contact.law.dim() {
                let column = bias.len();
                for s in 0..2 {
                    if contact.slots[s] != NONE {
                        let at = 6 * contact.slots[s] as usize;
                        entries.extend((0..6).map(|c| (at + c, column, contact.blocks[s][k][c])));
                    }
                }
                bias.push(if k == 0 { b } else { 0.0 });
                start.push(data.contact_impulse[i][k]);
            }
            laws.push(contact.law);
        }
        let mut outcome = StageOutcome { status: Status::Solved, residual: 0.0, iterations: 0 };
        if laws.is_empty() {
            return Ok(outcome);
        }
        let dofs = moving + springs.len();
        self.diagonal.clear();
        self.diagonal.extend(masses.mass.iter().chain(springs.iter()).enumerate().map(|(i, &m)| (i, i, m)));
        mass.refill(dofs, dofs, &self.diagonal);
        jacobian_transposed.refill(dofs, bias.len(), entries);
        force.clear();
        force.extend(masses.mass.iter().zip(v.iter()).map(|(m, v)| m * v));
        force.resize(dofs, 0.0);
        let direct = laws.len() <= DIRECT && laws.iter().all(|law| *law == Law::Bilateral);
        let alone = &mut self.alone;
        match direct.then(|| alone.solve(jacobian_transposed, &self.diagonal, force, bias, start)).flatten() {
            Some(residual) if residual <= options.tolerance => {
                outcome.residual = residual;
                outcome.iterations = 1;
            }
            _ => {
                solve_into(&self.problem, options, &mut self.workspace, &mut self.solution)?;
                outcome = StageOutcome {
                    status: self.solution.status,
                    residual: self.solution.residual,
                    iterations: self.solution.iterations,
                };
            }
        }
        let impulse = &self.solution.impulse;
        let mut at = 0;
        for i in 0..rows.rows.len() {
            match data.wants[i] {
                Want::Velocity { .. } if self.side[i] == 0 => {}
                Want::Compliant { .. } => {}
                _ => continue,
            }
            data.row_impulse[i] = impulse[at];
            push_row(rows, i, impulse[at], masses, v);
            at += 1;
        }
        for (i, contact) in contacts.iter().enumerate() {
            data.contact_impulse[i] = [0.0; WIDE];
            if data.normal_bias[i].is_some() {
                let n = contact.law.dim();
                data.contact_impulse[i][..n].copy_from_slice(&impulse[at..at + n]);
                contact.push(&impulse[at..at + n], &masses.inverse, v);
                at += n;
            }
        }
        Ok(outcome)
    }

    /// The problem solved last.
    pub(super) fn problem(&self) -> &FrictionProblem {
        &self.problem
    }

    /// Its impulses.
    pub(super) fn impulse(&self) -> &[f64] {
        &self.solution.impulse
    }
}

fn limit(kind: &RowKind, load: f64) -> f64 {
    match kind {
        RowKind::Bounded { force, per_load } => force + per_load * load,
        _ => f64::INFINITY,
    }
}

/// Velocity of a row of a joint, without its rate.
pub fn row_velocity(rows: &Rows, i: usize, masses: &Masses, v: &[f64]) -> f64 {
    let blocks = rows.blocks_of(&rows.rows[i]);
    blocks.iter().map(|(body, block)| dot6(block, &v[6 * masses.slot[*body as usize] as usize..])).sum()
}

/// H M⁻¹ Hᵀ of a row of a joint by itself.
pub(super) fn row_mobility(rows: &Rows, row: &Row, masses: &Masses) -> f64 {
    let of = |(body, block): &(u32, [f64; 6])| {
        let at = 6 * masses.slot[*body as usize] as usize;
        (0..6).map(|c| block[c] * block[c] * masses.inverse[at + c]).sum::<f64>()
    };
    rows.blocks_of(row).iter().map(of).sum()
}

fn push_row(rows: &Rows, i: usize, r: f64, masses: &Masses, v: &mut [f64]) {
    for (body, block) in rows.blocks_of(&rows.rows[i]) {
        let at = 6 * masses.slot[*body as usize] as usize;
        for c in 0..6 {
            v[at + c] += masses.inverse[at + c] * block[c] * r;
        }
    }
}
