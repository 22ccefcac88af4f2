//! Arrivals within a step: bodies that hit each other, and joints that hit their limits.
//!
//! ```text
//! gap + u τ − ½ a τ² = 0 ,     speed² = u² + 2 a gap
//! ```
//!
//! u is the velocity of a contact at the start of a substep, a the acceleration with which forces close it. A
//! step may have several rebounds of one pair, and one may begin and end a flight: what the start and the end
//! of a step show misses them. So they are recorded substep by substep; those of substeps that are not taken
//! are dropped. One of each pair in a substep counts, the fastest.

use glam::DVec3;

use super::linearization::Linearization;
use super::model::{LEAST_SPEED, Model};
use super::row_targets::{RowTarget, RowTargets, SubstepStart};
use super::warm_start::{Impulses, Keyed, key};
use crate::world::{BodyState, RowKind, World};

/// Arrivals for which there is memory from the first step on.
const FEW_ARRIVALS: usize = 8;

/// What arrived.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum ArrivalAt {
    /// Two bodies at each other.
    Pair([u32; 2]),
    /// A joint at its limit, or a rope at its length.
    Limit(u32),
}

/// An arrival.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Arrival {
    /// When, s.
    pub(super) t: f64,
    pub(super) at: ArrivalAt,
    pub(super) point: DVec3,
    /// Speed of approach, m/s or rad/s.
    pub(super) speed: f64,
}

/// The arrivals of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Arrivals {
    list: Vec<Arrival>,
    /// How many of them belong to substeps that were accepted.
    accepted: usize,
}

impl Arrivals {
    /// A step begins.
    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.list.reserve(FEW_ARRIVALS);
        self.accepted = 0;
    }

    /// A substep is not taken.
    pub(super) fn rollback(&mut self) {
        self.list.truncate(self.accepted);
    }

    /// A substep is taken.
    pub(super) fn accept(&mut self) {
        self.accepted = self.list.len();
    }

    /// What the step before recorded comes first.
    pub(super) fn follow(&mut self, before: Arrivals) {
        let second = std::mem::replace(&mut self.list, before.list);
        self.list.extend(second);
        self.accepted = self.list.len();
    }

    /// In the order in which they were recorded.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arrival> {
        self.list.iter()
    }

    fn add(&mut self, arrival: Arrival) {
        let now = &mut self.list[self.accepted..];
        match now.iter_mut().find(|known| known.at == arrival.at) {
            Some(known) if known.speed < arrival.speed => *known = arrival,
            Some(_) => {}
            None => self.list.push(arrival),
        }
    }

    /// Contacts that closed on the way of a substep: pushed in the solve that ends in positions, which came
    /// faster than rest.
    pub(super) fn on_the_way(
        &mut self,
        model: &Model,
        on: &Linearization,
        start: &SubstepStart,
        impulses: &Impulses,
    ) {
        let (touching, rest) = (model.touching(), model.rest_speed().max(LEAST_SPEED));
        let kick = model.first_kick(start.length);
        for (i, (contact, rows)) in on.contacts().iter().zip(on.contact_rows()).enumerate() {
            if impulses.contacts[i][0] <= 0.0 {
                continue;
            }
            let u = rows.velocity(0, &start.velocity);
            let fall = (u - rows.velocity(0, &start.free_velocity)) / kick;
            let gap = if contact.gap <= touching { 0.0 } else { contact.gap };
            let speed = (u * u + 2.0 * fall * gap).max(0.0).sqrt();
            if speed <= rest || (gap == 0.0 && u >= 0.0) {
                continue;
            }
            // In this form nothing cancels: u is negative where there is no fall.
            let after = if gap > 0.0 { (2.0 * gap / (speed - u).max(0.0)).min(start.length) } else { 0.0 };
            let (t, at) = (start.t + after, ArrivalAt::Pair(contact.bodies));
            self.add(Arrival { t, at, point: contact.point, speed });
        }
    }

    /// Rebounds in the solve that ends in velocities, at the end of a substep.
    pub(super) fn of_rebounds(
        &mut self,
        (world, bodies, t): (&World, &[BodyState], f64),
        on: &Linearization,
        targets: &RowTargets,
    ) {
        for (i, contact) in on.contacts().iter().enumerate().filter(|(i, _)| targets.rebounds(*i)) {
            let bias = targets.normal_bias[i].unwrap_or(0.0);
            let (speed, at) = (-bias / on.restitution()[i], ArrivalAt::Pair(contact.bodies));
            self.add(Arrival { t, at, point: contact.point, speed });
        }
        let rows = on.joint_rows();
        for (row, target) in rows.rows.iter().zip(&targets.joints).skip(rows.bilateral).take(rows.limits) {
            let (RowKind::Limit { restitution }, RowTarget::Velocity { bias }) = (row.kind, *target) else {
                continue;
            };
            if bias < row.rate {
                let speed = (row.rate - bias) / restitution;
                let point = limit_point(world, bodies, row.joint);
                self.add(Arrival { t, at: ArrivalAt::Limit(row.joint), point, speed });
            }
        }
    }

    /// Contacts that the solve which ends in velocities stops at the end of a substep, without a rebound:
    /// those that it ended at, which nothing had pushed on the way. Velocities are those that arrived.
    pub(super) fn at_the_end(
        &mut self,
        model: &Model,
        on: &Linearization,
        start: &SubstepStart,
        (impulses, way): (&Impulses, &[Keyed]),
        (velocity, t): (&[f64], f64),
    ) {
        let rest = model.rest_speed().max(LEAST_SPEED);
        for (i, (contact, rows)) in on.contacts().iter().zip(on.contact_rows()).enumerate() {
            let pushed = |r: &Keyed| r.1[0] > 0.0;
            let on_the_way = way.binary_search_by_key(&key(contact), |r| r.0).is_ok_and(|k| pushed(&way[k]));
            let touched = start.approach_of(key(contact)).is_some_and(|then| then.closed);
            let speed = -rows.velocity(0, velocity);
            if impulses.contacts[i][0] > 0.0 && !on_the_way && !touched && speed > rest {
                self.add(Arrival { t, at: ArrivalAt::Pair(contact.bodies), point: contact.point, speed });
            }
        }
    }
}

/// Where a joint hits its limit: where it is fixed to its second body.
pub(super) fn limit_point(world: &World, bodies: &[BodyState], joint: u32) -> DVec3 {
    let joint = &world.joints[joint as usize];
    bodies[joint.bodies[1]].pose.point(joint.frames[1].position)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_of_a_pair_in_a_substep_counts_and_what_is_not_taken_is_dropped() {
        let arrival = |t: f64, pair: [u32; 2], speed: f64| Arrival {
            t,
            at: ArrivalAt::Pair(pair),
            point: DVec3::ZERO,
            speed,
        };
        let mut arrivals = Arrivals::default();
        arrivals.clear();
        arrivals.add(arrival(1.0, [0, 1], 2.0));
        arrivals.add(arrival(1.0, [0, 1], 3.0));
        arrivals.add(arrival(1.0, [0, 1], 1.0));
        arrivals.add(arrival(1.0, [0, 2], 1.0));
        let speeds = |of: &Arrivals| of.iter().map(|a| a.speed).collect::<Vec<_>>();
        assert_eq!(speeds(&arrivals), [3.0, 1.0]);
        arrivals.accept();
        arrivals.add(arrival(2.0, [0, 1], 4.0));
        arrivals.rollback();
        assert_eq!(speeds(&arrivals), [3.0, 1.0]);
        // The next substep is another impact.
        arrivals.add(arrival(2.0, [0, 1], 0.5));
        arrivals.accept();
        assert_eq!(speeds(&arrivals), [3.0, 1.0, 0.5]);
        let mut second = Arrivals::default();
        second.add(arrival(3.0, [0, 1], 0.25));
        second.follow(arrivals);
        assert_eq!(speeds(&second), [3.0, 1.0, 0.5, 0.25]);
    }
}
