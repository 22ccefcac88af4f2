//! The forces behind a step: of contacts and joints, whether others would do as well, and where friction jams.
//!
//! A contact that slides along e with friction μ is pressed by its own friction where w_nn − μ w_nt·e ≤ 0, w its block of the
//! Delassus matrix with the joints held (003 eq. 38–39); where it also approaches, no sliding force stops it, and the
//! step stops it by an impulse: an impact without collision.

use delassus_solve::analysis::{ImpulseRange, friction_cone, impulse_range};
use delassus_solve::contact::FrictionOptions;
use delassus_solve::linalg::{Matrix, Sparse};
use delassus_solve::problem::{Form, FrictionProblem, InvalidProblem, Law};
use glam::DVec3;

use super::report::{Forces, Jam, StepReport};
use super::substep::Room;
use super::velocity_solve::{Constraints, NONE, StageData, StageSolver, WIDE, Want, row_velocity};
use super::{Scheme, Stepper};
use crate::world::RowKind;

impl Stepper {
    /// The problem of the last solve and its impulses.
    pub fn last_problem(&self) -> (&FrictionProblem, &[f64]) {
        let solver = &self.solvers[usize::from(self.options.scheme == Scheme::Symmetric)];
        (solver.problem(), solver.impulse())
    }

    /// Mean force and moment of each joint on its second body in the last step, world axes, the moment about the joint's
    /// frame on that body.
    pub fn joint_forces(&self) -> Vec<[DVec3; 2]> {
        let mut forces = vec![[DVec3::ZERO; 2]; self.world.joints.len()];
        for (row, r) in self.rows.rows.iter().zip(&self.row_impulse) {
            let joint = &self.world.joints[row.joint as usize];
            // Where the second body is fixed, the first feels the opposite.
            let (body, sign) = match joint.bodies {
                [a, b] if self.world.bodies[b].fixed => (a, -1.0),
                [_, b] => (b, 1.0),
            };
            let Some((_, block)) = self.rows.blocks_of(row).iter().find(|(b, _)| *b as usize == body) else {
                continue;
            };
            let pose = &self.state.bodies[body].pose;
            let side = usize::from(body == joint.bodies[1]);
            let arm = pose.rotation * joint.frames[side].position;
            let scale = sign * r / self.options.dt;
            let force = scale * DVec3::from_slice(&block[..3]);
            let moment = scale * (pose.rotation * DVec3::from_slice(&block[3..]));
            forces[row.joint as usize][0] += force;
            forces[row.joint as usize][1] += moment - arm.cross(force);
        }
        forces
    }

    /// The forces of contacts now: those that the next step would begin with, and which others would do as well.
    pub fn forces(&self) -> Result<Forces, InvalidProblem> {
        let h = self.options.dt;
        let mut v = vec![];
        self.velocities_of(&self.state.bodies, &mut v);
        self.kick(h, &mut v);
        let touching = self.touching();
        let mut data = StageData {
            wants: vec![],
            normal_bias: self.contacts.iter().map(|c| (c.gap <= touching).then_some(0.0)).collect(),
            row_impulse: vec![0.0; self.rows.rows.len()],
            contact_impulse: vec![[0.0; WIDE]; self.contacts.len()],
        };
        for (i, row) in self.rows.rows.iter().enumerate() {
            data.wants.push(match row.kind {
                _ if self.redundant[i] => Want::Nothing,
                RowKind::Held | RowKind::Bounded { .. } => Want::Velocity { bias: row.rate },
                RowKind::Limit { .. } if row.value <= touching => Want::Velocity { bias: row.rate },
                RowKind::Limit { .. } => Want::Nothing,
                RowKind::Applied { force } => Want::Impulse(h * force),
                RowKind::Spring { stiffness, damping } => {
                    let u = row_velocity(&self.rows, i, &self.masses, &v);
                    Want::Impulse(-h * (stiffness * row.value + damping * u))
                }
            });
        }
        let options = FrictionOptions { tolerance: 1e-10, ..FrictionOptions::default() };
        let on = Constraints { masses: &self.masses, rows: &self.rows, contacts: &self.contact_rows };
        let mut solver = StageSolver::default();
        let outcome = solver.solve(on, h, &options, &mut data, &mut v)?;
        let mut impulse = solver.impulse().to_vec();
        let ranges = self.ranges(solver.problem(), &impulse)?;
        if let ImpulseRange::Ranges { least_norm, .. } = &ranges {
            impulse.iter_mut().zip(least_norm).for_each(|(r, least)| *r = *least);
        }
        let laws = &solver.problem().laws;
        let first = delassus_solve::problem::row_offsets(laws);
        let joints = laws.len() - data.normal_bias.iter().flatten().count();
        let mut next = joints;
        let (mut contacts, mut place) = (vec![], vec![]);
        for (i, rows) in self.contact_rows.iter().enumerate() {
            if data.normal_bias[i].is_none() {
                contacts.push((0.0, DVec3::ZERO));
                place.push(None);
                continue;
            }
            let r = &impulse[first[next]..first[next + 1]];
            let friction = match r {
                [_, a, b, ..] => (rows.tangents[0] * *a + rows.tangents[1] * *b) / h,
                _ => DVec3::ZERO,
            };
            contacts.push((r[0] / h, friction));
            place.push(Some(next));
            next += 1;
        }
        Ok(Forces { contacts, ranges: ranges.scaled(1.0 / h), place, status: outcome.status })
    }

    /// The ranges of impulses, of redundant rows of joints too: they come last.
    fn ranges(&self, problem: &FrictionProblem, impulse: &[f64]) -> Result<ImpulseRange, InvalidProblem> {
        let redundant = self.rows.rows.iter().zip(&self.redundant).filter(|(_, redundant)| **redundant);
        let Form::Global { mass, jacobian_transposed, force, bias } = &problem.form else {
            return impulse_range(problem, impulse);
        };
        if redundant.clone().next().is_none() {
            return impulse_range(problem, impulse);
        }
        let mut entries: Vec<(usize, usize, f64)> = jacobian_transposed.triplets().collect();
        let (mut laws, mut bias, mut impulse) = (problem.laws.clone(), bias.clone(), impulse.to_vec());
        for (row, _) in redundant {
            for (body, block) in self.rows.blocks_of(row) {
                let at = 6 * self.masses.slot[*body as usize] as usize;
                entries.extend((0..6).map(|c| (at + c, bias.len(), block[c])));
            }
            laws.push(Law::Bilateral);
            bias.push(row.rate);
            impulse.push(0.0);
        }
        let jacobian_transposed = Sparse::from_triplets(mass.rows(), bias.len(), &entries);
        let form = Form::Global { mass: mass.clone(), jacobian_transposed, force: force.clone(), bias };
        impulse_range(&FrictionProblem::new(laws, form)?, &impulse)
    }

    /// Contacts that slid before the step and stick after it because friction presses them together faster than they can give way
    /// (003 eq. 38–39): where no sliding force exists, and where one does but the contact jammed all the same.
    pub(super) fn watch(&self, h: f64, room: &mut Room, report: &mut StepReport) {
        let touching = self.touching();
        let Room { before, before_t, approach, velocity: v, kicked: old, .. } = room;
        self.velocities_of(before, old);
        for (i, contact) in self.contacts.iter().enumerate().take(approach.len()) {
            let rows = &self.contact_rows[i];
            let (Law::Coulomb { mu } | Law::Rolling { mu, .. }) = rows.law else { continue };
            let r = &self.stage.contact_impulse[i];
            let slip = [rows.velocity(1, old), rows.velocity(2, old)];
            let speed = slip[0].hypot(slip[1]);
            let after = rows.velocity(1, v).hypot(rows.velocity(2, v));
            let closed = contact.gap <= touching && approach[i].speed.abs() <= 1e-6 * speed;
            // What one step of regular friction could have stopped is no jam.
            let stopped_by_friction = h * (1.0 + mu) * self.world.gravity.length();
            if !closed || r[0] <= 0.0 || speed <= stopped_by_friction || after > 0.1 * speed {
                continue;
            }
            let w = self.held_block(i);
            let e = [slip[0] / speed, slip[1] / speed];
            let pressing = w[(0, 0)] - mu * (w[(0, 1)] * e[0] + w[(0, 2)] * e[1]);
            if pressing <= 0.0 {
                let cone = friction_cone(w, mu);
                report.jams.push(Jam {
                    t: *before_t,
                    contact: self.contact_name(contact),
                    point: contact.point,
                    impulse: r[0],
                    mu,
                    mu_jam: cone.mu_jam.unwrap_or(f64::INFINITY),
                });
            }
        }
    }

    /// The 3 × 3 block of W of a contact, with the joints held.
    fn held_block(&self, i: usize) -> Matrix {
        let contact = &self.contact_rows[i];
        let inverse = &self.masses.inverse;
        let mut w = Matrix::from_fn(3, 3, |a, b| contact.self_block(inverse, a, b));
        let held: Vec<usize> =
            (0..self.rows.rows.len()).filter(|&j| matches!(self.rows.rows[j].kind, RowKind::Held)).collect();
        if held.is_empty() || held.len() > 600 {
            return w;
        }
        let dense = |j: usize| {
            let mut x = vec![0.0; inverse.len()];
            let [from, to] = self.rows.rows[j].blocks;
            for (body, block) in &self.rows.blocks[from as usize..to as usize] {
                let at = 6 * self.masses.slot[*body as usize] as usize;
                x[at..at + 6].copy_from_slice(block);
            }
            x
        };
        let joints: Vec<Vec<f64>> = held.iter().map(|&j| dense(j)).collect();
        let product =
            |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).zip(inverse).map(|((a, b), m)| a * b * m).sum() };
        let mut own = vec![vec![0.0; inverse.len()]; 3];
        for (k, row) in own.iter_mut().enumerate() {
            for side in 0..2 {
                if contact.slots[side] != NONE {
                    let at = 6 * contact.slots[side] as usize;
                    row[at..at + 6].copy_from_slice(&contact.blocks[side][k]);
                }
            }
        }
        let n = joints.len();
        let wjj = Matrix::from_fn(n, n, |a, b| product(&joints[a], &joints[b]));
        let wjc = Matrix::from_fn(n, 3, |a, k| product(&joints[a], &own[k]));
        let x = wjj.pseudo_solve_matrix(&wjc);
        for a in 0..3 {
            for b in 0..3 {
                w[(a, b)] -= (0..n).map(|j| wjc[(j, a)] * x[(j, b)]).sum::<f64>();
            }
        }
        w
    }
}
