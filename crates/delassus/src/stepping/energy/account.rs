//! Where the energy of a step goes: supplied, dissipated, created.
//!
//! ```text
//! E_{k+1} − E_k = supplied − friction − impacts − dampers + gains + left over
//! ```
//!
//! E is the kinetic energy with that of weights, constant forces and springs. What is left over is the error
//! of the scheme. A contact that stays closed has no normal work in exact motion; one that hits with the
//! restitution e takes 1 − e² of what its normal velocity holds. Where a step stops it without the rebound,
//! because there are too many in one step, the e² are left over: an error, and no law.
//!
//! A substep with an impact holds both the end of a flight and what comes after it. The impulse K of weights
//! ([`super`]) then has another work in the two solves than along the motion at v½:
//!
//! ```text
//! K·v̄₁ + K·v̄₂ − 2K·v½ = ½K·(Δv₂ − Δv₁) ,   Δv = M⁻¹Hᵀr of a solve
//! ```
//!
//! The difference belongs to the impact: a ball that lands without rebound loses ½mv² + mg gap then,
//! which is exact. The same holds for springs and motors of joints, whose impulses act beside that of an
//! impact in one solve: they have the work r·u along the motion, and what r·ū is beyond it belongs to the
//! impact. Friction in joints obeys its law with the velocities after a solve, and takes r·u of these.

use super::super::linearization::Linearization;
use super::super::model::Model;
use super::super::row_targets::{RowTargets, SubstepStart};
use super::super::warm_start::{Impulses, key, name_of};
use crate::collision::Contact;
use crate::world::{FIXED_SLOT, RowKind, World, row_velocity};
use glam::DVec3;

/// A contact that gives more than this part of the kinetic energy in an impact creates energy; below is
/// rounding.
const MIN_IMPACT_GAIN: f64 = 1e-9;
/// The same of all contacts that stay closed, in a substep: below is the error of the scheme.
const MIN_CONTACT_GAIN: f64 = 1e-6;

/// Energy that passed through joints and contacts, J.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EnergyAccount {
    /// Work of motors, drives and given forces of joints and of torques on bodies; negative where they brake.
    pub supplied: f64,
    /// Taken by friction in contacts and joints.
    pub friction: f64,
    /// Taken by impacts of contacts and limits.
    pub impacts: f64,
    /// Taken by dampers.
    pub dampers: f64,
    /// Work of joints beside what drives supply: none in exact motion. It is part of what is left over.
    pub joints: f64,
}

impl EnergyAccount {
    /// Adds another.
    pub fn add(&mut self, other: &EnergyAccount) {
        self.supplied += other.supplied;
        self.friction += other.friction;
        self.impacts += other.impacts;
        self.dampers += other.dampers;
        self.joints += other.joints;
    }

    /// What was supplied less what was taken.
    pub fn balance(&self) -> f64 {
        self.supplied - self.friction - self.impacts - self.dampers
    }
}

/// Energy that a contact or a limit put into a step. None does in exact motion; a law of impact may.
#[derive(Clone, Debug, PartialEq)]
pub struct EnergyGain {
    /// Time at the end of the substep, s.
    pub t: f64,
    /// Name of the contact that gave most, or of the joint.
    pub contact: String,
    /// How much, J.
    pub energy: f64,
}

/// A solve whose impulses have their work in the account.
#[derive(Clone, Copy)]
pub(in super::super) struct AccountedSolve<'a> {
    pub(in super::super) model: &'a Model,
    pub(in super::super) linearization: &'a Linearization,
    pub(in super::super) start: &'a SubstepStart,
    pub(in super::super) targets: &'a RowTargets,
    pub(in super::super) impulses: &'a Impulses,
    /// Velocities before the kick, after it, and after the solve.
    pub(in super::super) velocities: [&'a [f64]; 3],
    /// Whether it begins the substep or ends it.
    pub(in super::super) first: bool,
    /// Whether it does both.
    pub(in super::super) alone: bool,
}

impl AccountedSolve<'_> {
    /// The part of (kick) · Δv that weights have in the solves and not along the way, which velocities after
    /// the first and before the second solve go.
    fn weight_share(&self) -> f64 {
        if self.first { -0.5 } else { 0.5 }
    }
}

/// The work of a contact in a substep.
#[derive(Clone, Copy, Debug)]
struct ContactWork {
    contact: Contact,
    restitution: f64,
    /// Whether it was closed at the start, and whether it rebounds.
    closed: bool,
    rebounds: bool,
    normal: f64,
    friction: f64,
    /// Its share in the work of weights that belongs to impacts.
    weights: f64,
    /// Its normal impulses, N s.
    push: f64,
}

impl ContactWork {
    /// Whether it hits what it touches.
    fn hits(&self) -> bool {
        self.rebounds || !self.closed
    }
}

/// The work of all limits in a substep.
#[derive(Clone, Copy, Debug, Default)]
struct LimitWork {
    work: f64,
    /// Its share in the work of weights that belongs to impacts.
    weights: f64,
    /// Impulses, N s.
    push: f64,
    /// Whether one was reached, and the joint of the last.
    hit: bool,
    joint: usize,
}

/// Work of joints r·(ū − u) in the solves of a substep beyond what they have with the velocities u of the
/// way, which is that of an impact where there is one.
#[derive(Clone, Copy, Debug, Default)]
struct BesideImpact {
    supplied: f64,
    friction: f64,
    dampers: f64,
    springs: f64,
}

/// Work of contacts that do not rebound, together: what one gives, another may have taken in the same solve.
#[derive(Clone, Copy, Default)]
struct SharedWork<'a> {
    work: f64,
    friction: f64,
    impacts: f64,
    /// What it may be by the tolerance of positions.
    slack: f64,
    /// The contact that gave most, and how much.
    most: Option<(&'a Contact, f64)>,
}

impl<'a> SharedWork<'a> {
    fn add(&mut self, contact: &'a Contact, [normal, friction, impacts, slack]: [f64; 4]) {
        self.work += normal + friction;
        self.friction += friction;
        self.impacts += impacts;
        self.slack += slack;
        if self.most.is_none_or(|(_, most)| normal + friction > most) {
            self.most = Some((contact, normal + friction));
        }
    }

    /// The contact that gave most, where they gave energy.
    fn gained(&self, kinetic: f64) -> Option<&'a Contact> {
        let most = self.most.filter(|_| self.work > MIN_CONTACT_GAIN * kinetic + self.slack);
        most.map(|(contact, _)| contact)
    }
}

/// The account of one substep.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct SubstepAccount {
    pub(in super::super) energy: EnergyAccount,
    /// Work of contacts in the solves so far, sorted by key.
    contacts: Vec<ContactWork>,
    /// Work of weights that belongs to impacts.
    weights: f64,
    limits: LimitWork,
    beside: BesideImpact,
    /// Energy that a law of impact beside the solves put in, and one of the contacts that were hit.
    impact: Option<(f64, Contact)>,
}

impl SubstepAccount {
    /// Nothing yet.
    pub(in super::super) fn clear(&mut self) {
        self.energy = EnergyAccount::default();
        self.contacts.clear();
        (self.weights, self.limits, self.beside) = (0.0, LimitWork::default(), BesideImpact::default());
        self.impact = None;
    }

    /// Adds the work of a solve.
    pub(in super::super) fn add(&mut self, solve: &AccountedSolve<'_>) {
        let AccountedSolve { model, velocities: [before, kicked, after], .. } = *solve;
        let all = model.masses.mass.iter().zip(before).zip(kicked.iter().zip(after));
        let kick: f64 =
            all.map(|((m, before), (kicked, after))| m * (kicked - before) * (after - kicked)).sum();
        self.weights += solve.weight_share() * kick;
        self.add_torques(solve);
        self.add_drag(solve);
        self.add_rows(solve);
        if !solve.linearization.contacts().is_empty() {
            self.add_contacts(solve);
        }
    }

    /// Constant torques on bodies have no potential: what they do is supplied.
    fn add_torques(&mut self, solve: &AccountedSolve<'_>) {
        let AccountedSolve { model, velocities: [before, kicked, after], .. } = *solve;
        let masses = &model.masses;
        for (body, &slot) in model.world.bodies.iter().zip(&masses.slot) {
            if slot == FIXED_SLOT || body.force[1] == DVec3::ZERO {
                continue;
            }
            let at = 6 * slot as usize;
            // Along the way, whose velocities are those between the solves.
            let middle = |c: usize| match solve.alone {
                true => 0.5 * (before[c] + after[c]),
                false if solve.first => after[c],
                false => before[c],
            };
            let work = |c: usize| masses.mass[c] * (kicked[c] - before[c]) * middle(c);
            self.energy.supplied += (at + 3..at + 6).map(work).sum::<f64>();
        }
    }

    /// What a medium takes: all that a kick gives beside weight and constant forces.
    fn add_drag(&mut self, solve: &AccountedSolve<'_>) {
        let AccountedSolve { model, velocities: [before, kicked, after], .. } = *solve;
        let Some(medium) = &model.world.medium else { return };
        let duration = if solve.alone { solve.start.length } else { 0.5 * solve.start.length };
        let mut last = None;
        for part in &medium.parts {
            let (body, slot) = (&model.world.bodies[part.body], model.masses.slot[part.body]);
            if slot == FIXED_SLOT || last == Some(part.body) {
                continue;
            }
            last = Some(part.body);
            let weight = model.world.gravity + body.constant_force() / body.mass;
            // Where a constant moment turns it too, all that turns it counts as supplied.
            let entries = if body.force[1] == DVec3::ZERO { 6 } else { 3 };
            for c in 0..entries {
                let at = 6 * slot as usize + c;
                let free = if c < 3 { duration * weight[c] } else { 0.0 };
                let middle = match solve.alone {
                    true => 0.5 * (before[at] + after[at]),
                    false if solve.first => after[at],
                    false => before[at],
                };
                self.energy.dampers -= model.masses.mass[at] * (kicked[at] - before[at] - free) * middle;
            }
        }
    }

    /// Adds the change of the kinetic energy by a law of impact that acts beside the solves.
    pub(in super::super) fn add_impact(&mut self, change: f64, hit: Option<&Contact>) {
        self.energy.impacts -= change;
        self.impact = hit.map(|contact| (change, *contact));
    }

    fn add_rows(&mut self, solve: &AccountedSolve<'_>) {
        let AccountedSolve { model, linearization, impulses, velocities: [before, kicked, after], .. } =
            *solve;
        let rows = linearization.joint_rows();
        let free = rows.bilateral == rows.rows.len() && rows.rows.iter().all(|row| row.rate == 0.0);
        if free {
            return;
        }
        let account = &mut self.energy;
        for (i, (row, r)) in rows.rows.iter().zip(&impulses.rows).enumerate() {
            let u = |v: &[f64]| row_velocity(rows, i, &model.masses, v);
            let mean = || 0.5 * (u(before) + u(after));
            // r (ū − u) with the velocity of the way, which goes between the solves.
            let beside = |r: f64| solve.weight_share() * r * (u(after) - u(before));
            match row.kind {
                RowKind::Bilateral => account.supplied -= r * row.rate,
                RowKind::Limit { .. } if *r != 0.0 => {
                    let then = solve.start.limits[i - rows.bilateral];
                    let kick = row_velocity(rows, i, &model.masses, kicked)
                        - row_velocity(rows, i, &model.masses, before);
                    let limits = &mut self.limits;
                    limits.work += r * mean();
                    limits.weights += solve.weight_share() * r * kick;
                    limits.push += r.abs();
                    limits.hit |= then.value > model.touching() || then.speed.abs() > model.rest_speed();
                    limits.joint = row.joint as usize;
                }
                RowKind::Limit { .. } => {}
                // A row that holds still is a brake.
                RowKind::Bounded { .. } if row.rate == 0.0 => {
                    account.friction -= r * mean();
                    self.beside.friction -= 0.5 * r * (u(after) - u(before));
                }
                RowKind::Bounded { .. } | RowKind::Applied { .. } | RowKind::Servo { .. } => {
                    account.supplied += r * mean();
                    self.beside.supplied += beside(*r);
                }
                RowKind::Spring { damping: 0.0, .. } => self.beside.springs += beside(*r),
                // The work of a rotor is what it has lost.
                RowKind::Armature { .. } => {}
                RowKind::Spring { stiffness, .. } => {
                    self.beside.dampers += beside(*r);
                    // What the spring has lost in the substep and did not give to the bodies.
                    let stored = 0.5 * stiffness * row.value * row.value;
                    account.dampers -= r * mean();
                    account.dampers += if solve.first { stored } else { -stored };
                    if solve.alone {
                        let end =
                            row.value + solve.start.length * row_velocity(rows, i, &model.masses, after);
                        account.dampers -= 0.5 * stiffness * end * end;
                    }
                }
            }
        }
    }

    fn add_contacts(&mut self, solve: &AccountedSolve<'_>) {
        let AccountedSolve {
            linearization: on, targets, impulses, velocities: [before, kicked, after], ..
        } = *solve;
        // Those of the first solve are sorted by key, but for few that came later.
        let known = self.contacts.len();
        let all = on.contacts().iter().zip(on.contact_rows()).zip(&impulses.contacts).enumerate();
        for (i, ((contact, rows), r)) in all.filter(|(_, (_, r))| r[0] > 0.0) {
            let restitution = on.restitution()[i];
            // The solve that ends in positions has gaps as its targets, which may be negative too.
            let rebounds = restitution > 0.0 && (!solve.first || solve.alone) && targets.rebounds(i);
            let then = match solve.first {
                true => solve.start.approach.get(i),
                false => solve.start.approach_of(key(contact)),
            };
            let rest = solve.model.rest_speed();
            let closed = then.is_some_and(|then| then.closed && then.speed.abs() <= rest);
            let work = |k: usize| 0.5 * r[k] * (rows.velocity(k, before) + rows.velocity(k, after));
            let (normal, friction) = (work(0), (1..rows.law.dim()).map(work).sum::<f64>());
            let weights = match closed && !rebounds {
                true => 0.0,
                false => {
                    let kick = |k: usize| r[k] * (rows.velocity(k, kicked) - rows.velocity(k, before));
                    solve.weight_share() * (0..rows.law.dim()).map(kick).sum::<f64>()
                }
            };
            match self.contacts[..known].binary_search_by_key(&key(contact), |w| key(&w.contact)) {
                Ok(at) => {
                    let sum = &mut self.contacts[at];
                    sum.rebounds |= rebounds;
                    sum.normal += normal;
                    sum.friction += friction;
                    sum.weights += weights;
                    sum.push += r[0];
                }
                Err(_) => self.contacts.push(ContactWork {
                    contact: *contact,
                    restitution,
                    closed,
                    rebounds,
                    normal,
                    friction,
                    weights,
                    push: r[0],
                }),
            }
        }
        if solve.first && !self.contacts.is_sorted_by_key(|w| key(&w.contact)) {
            self.contacts.sort_unstable_by_key(|w| key(&w.contact));
        }
    }

    /// Moves the work of joints that belongs to an impact to what hits: to contacts by their impulses, or to
    /// limits.
    fn move_beside_impact(&mut self) {
        let BesideImpact { supplied, friction, dampers, springs } = std::mem::take(&mut self.beside);
        self.energy.supplied -= supplied;
        self.energy.friction += friction;
        self.energy.dampers += dampers;
        let work = supplied + friction + dampers + springs;
        let push: f64 = self.contacts.iter().filter(|work| work.hits()).map(|work| work.push).sum();
        match push > 0.0 {
            true => {
                let hit = self.contacts.iter_mut().filter(|work| work.hits());
                hit.for_each(|contact| contact.weights += work * contact.push / push);
            }
            false => self.limits.work += work,
        }
    }

    /// Closes the account of a substep that ends at t, in which bodies have this kinetic energy and positions
    /// are found to a tolerance that is this speed: what contacts gave goes into `gains` and not into what
    /// they took.
    pub(in super::super) fn close(
        &mut self,
        world: &World,
        contacts: &[Contact],
        [t, kinetic, overlap_speed]: [f64; 3],
        gains: &mut Vec<EnergyGain>,
    ) {
        let gain = |energy: f64, contact: &Contact| EnergyGain {
            t,
            contact: name_of(world, contacts, contact),
            energy,
        };
        let [mut resting, mut landing] = [SharedWork::default(); 2];
        // What weights gave in an impact, and neither a contact that hits nor a limit has.
        if self.limits.hit || self.contacts.iter().any(ContactWork::hits) {
            let hit: f64 = self.contacts.iter().map(|work| work.weights).sum();
            self.energy.impacts -= self.weights - hit - self.limits.weights;
            self.limits.work += self.limits.weights;
            self.move_beside_impact();
        }
        let LimitWork { work: limits, push, hit, joint, .. } = self.limits;
        let limit_slack = if hit { 0.0 } else { overlap_speed * push };
        match limits > MIN_CONTACT_GAIN * kinetic + limit_slack {
            true => gains.push(EnergyGain { t, contact: world.joints[joint].name.clone(), energy: limits }),
            false => self.energy.impacts -= limits,
        }
        for work in &self.contacts {
            let ContactWork { restitution: e, closed, rebounds, friction, .. } = *work;
            let normal = work.normal + work.weights;
            if rebounds && normal + friction > MIN_IMPACT_GAIN * kinetic {
                gains.push(gain(normal + friction, &work.contact));
                continue;
            }
            // In an impact an impulse of one direction turns the motion along the other: what one of normal
            // and friction gives, the other has taken before.
            let (normal, friction) = match work.hits() && normal + friction <= 0.0 {
                true if friction > 0.0 => (normal + friction, 0.0),
                true if normal > 0.0 => (0.0, normal + friction),
                _ => (normal, friction),
            };
            let impacts = match (rebounds, closed) {
                (true, _) => normal,
                (false, false) => (1.0 - e * e).max(0.0) * normal,
                (false, true) => 0.0,
            };
            self.energy.friction -= friction;
            self.energy.impacts -= impacts;
            if !rebounds {
                let shared = if closed { &mut resting } else { &mut landing };
                shared.add(&work.contact, [normal, friction, impacts, overlap_speed * work.push]);
            }
        }
        for shared in [resting, landing] {
            if let Some(contact) = shared.gained(kinetic) {
                gains.push(gain(shared.work, contact));
                self.energy.friction += shared.friction;
                self.energy.impacts += shared.impacts;
            }
        }
        if let Some((change, contact)) = self.impact
            && change > MIN_IMPACT_GAIN * kinetic
        {
            gains.push(gain(change, &contact));
            self.energy.impacts += change;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Stepper;
    use super::super::super::options::StepOptions;
    use super::super::super::test_worlds::on_a_floor;
    use super::*;
    use crate::world::ShapeKind;

    /// A ball on the floor of the world that names contacts, and its contact.
    fn ball_on_a_floor() -> (World, Contact) {
        let (world, state) = on_a_floor(ShapeKind::Sphere { radius: 0.1 }, 0.1, [0.5, 0.0]);
        let mut stepper = Stepper::new(world.clone(), state, StepOptions::default()).unwrap();
        stepper.step().unwrap();
        (world, stepper.contacts()[0])
    }

    /// The account of a substep in which one contact has this work, 100 J kinetic energy and no slack.
    fn closed_account(work: impl Fn(ContactWork) -> ContactWork) -> (EnergyAccount, Vec<EnergyGain>) {
        let (world, contact) = ball_on_a_floor();
        let nothing = ContactWork {
            contact,
            restitution: 0.5,
            closed: false,
            rebounds: false,
            normal: 0.0,
            friction: 0.0,
            weights: 0.0,
            push: 1.0,
        };
        let mut account = SubstepAccount { contacts: vec![work(nothing)], ..SubstepAccount::default() };
        let mut gains = vec![];
        account.close(&world, &[contact], [2.0, 100.0, 0.0], &mut gains);
        (account.energy, gains)
    }

    #[test]
    fn a_rebound_takes_all_of_its_work_and_a_landing_what_its_restitution_leaves() {
        let (account, gains) = closed_account(|work| ContactWork { rebounds: true, normal: -8.0, ..work });
        assert_eq!((account.impacts, account.friction, gains.len()), (8.0, 0.0, 0));
        // e² of it would have come back: left over, an error of the scheme.
        let (account, gains) = closed_account(|work| ContactWork { normal: -8.0, friction: -1.0, ..work });
        assert_eq!((account.impacts, account.friction, gains.len()), (6.0, 1.0, 0));
    }

    #[test]
    fn a_closed_contact_has_friction_and_no_impact() {
        let resting = |work| ContactWork { closed: true, normal: -1e-9, friction: -3.0, ..work };
        let (account, gains) = closed_account(resting);
        assert_eq!((account.impacts, account.friction, gains.len()), (0.0, 3.0, 0));
    }

    #[test]
    fn what_a_contact_gives_is_a_gain_with_its_name_and_no_loss() {
        for (rebounds, closed) in [(true, false), (false, true), (false, false)] {
            let giving = |work| ContactWork { rebounds, closed, normal: 5.0, friction: -1.0, ..work };
            let (account, gains) = closed_account(giving);
            assert_eq!((account.impacts, account.friction), (0.0, 0.0), "{rebounds} {closed}");
            let [gain] = &gains[..] else { panic!("{gains:?}") };
            assert_eq!((gain.t, gain.energy), (2.0, 4.0));
            assert_eq!(gain.contact, "floor|body");
        }
    }

    /// What is below the error of the scheme is no gain.
    #[test]
    fn rounding_is_no_gain() {
        let (_, gains) = closed_account(|work| ContactWork { closed: true, normal: 1e-5, ..work });
        assert!(gains.is_empty(), "{gains:?}");
        let (_, gains) = closed_account(|work| ContactWork { closed: true, normal: 1e-3, ..work });
        assert_eq!(gains.len(), 1);
    }

    /// A ball that falls 0.2 m onto a floor without restitution loses m g h, all of it in the impact, and the
    /// account is closed to rounding.
    #[test]
    fn a_landing_takes_the_whole_fall() {
        let (world, state) = on_a_floor(ShapeKind::Sphere { radius: 0.1 }, 0.3, [0.5, 0.0]);
        let mut stepper = Stepper::new(world, state, StepOptions::default()).unwrap();
        let mut account = EnergyAccount::default();
        for _ in 0..300 {
            let report = stepper.step().unwrap();
            assert!(report.energy_gains.is_empty());
            account.add(&report.energy);
        }
        let fall = 9.81 * 0.2;
        assert!((account.impacts - fall).abs() < 1e-9 * fall, "{account:?}");
        assert!((account.balance() + fall).abs() < 1e-9 * fall, "{account:?}");
    }
}
