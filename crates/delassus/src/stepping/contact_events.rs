//! Events of contacts between two steps: impact, opening, begin of sliding and of sticking.
//!
//! ```text
//! impact:  u_n < −ε_n where a contact closes or rebounds in a substep
//! closed:  gap ≤ δ  and  u_n ≤ ε_n ,      slide:  |u_t| > ε_t ,      stick:  |u_t| ≤ ε_t
//! ```
//!
//! u_n and u_t are the normal and tangential relative velocity of a contact (m/s), r_n its normal impulse, h
//! the step, δ the gap that counts as touching. ε_n = 0.1 |g| h and ε_t = 1e-4 |g| h, both at least 1e-7 m/s:
//! what a step of free fall gives, scaled. Open, slide and stick are reported of pairs of bodies: a pair
//! slides while one of its points does. Jams and the ends of rebounds are found by the step itself
//! ([`StepReport`]); they are listed among the others.
//!
//! Limits of joints and ropes are contacts too: gap is what is left to the limit, u_n its rate (m/s or
//! rad/s), and the name that of the joint. One that closes has an impact, however slow; one that is left
//! opens. Nothing of them is kept from step to step: the start of a step is the end of the one before.

use delassus_solve::modes::Mode;
use glam::DVec3;
use serde::{Deserialize, Serialize};

use super::arrivals::{Arrival, ArrivalAt, limit_point};
use super::model::{LEAST_SPEED, REST_SPEED_RATIO};
use super::{Scheme, StepReport, Stepper};
use crate::collision::{Contact, pair_name};
use crate::world::{RowKind, WorldState, row_velocity};

/// How the bodies of a pair that touch move on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PairMode {
    /// One of their points slides.
    Slide,
    /// All points stick or roll.
    Stick,
}

/// What happened at a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactEventKind {
    /// Bodies hit each other.
    Impact {
        /// Where, world axes.
        point: DVec3,
        /// Speed of approach, m/s; at the limit of a rotation rad/s.
        speed: f64,
    },
    /// All contacts of a pair opened, or a joint left its limit, or a rope became slack.
    Open,
    /// A pair began to slide.
    Slide,
    /// A pair began to stick or roll.
    Stick,
    /// Infinitely many rebounds came to an end.
    ZenoAccumulation,
    /// Friction stopped a contact without a collision (003 §5).
    Jam {
        /// Where, world axes.
        point: DVec3,
        /// Normal impulse, N s.
        impulse: f64,
        /// Friction coefficient.
        mu: f64,
        /// The coefficient above which the contact can jam.
        mu_jam: f64,
    },
}

/// An event of a contact.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactEvent {
    /// When, s.
    pub t: f64,
    /// The contact, by the names of its bodies; of a limit or a rope, the joint.
    pub contact: String,
    /// What happened.
    pub kind: ContactEventKind,
}

/// What counts as motion and as touching in a step.
struct Thresholds {
    /// Separation up to this speed is rest, m/s.
    rest: f64,
    /// Slip up to this speed is none, m/s.
    slip: f64,
    /// A gap up to this is closed, m.
    touching: f64,
}

impl Thresholds {
    fn of(stepper: &Stepper) -> Thresholds {
        let fall = stepper.model.world.gravity.length() * stepper.model.options.dt;
        Thresholds {
            rest: (REST_SPEED_RATIO * fall).max(LEAST_SPEED),
            slip: stepper.model.stick_speed(),
            touching: stepper.model.touching(),
        }
    }

    /// What a contact does at a state: open, sliding, or sticking or rolling.
    fn mode(&self, state: &WorldState, contact: &Contact) -> Mode {
        let u = contact.relative_velocity(&state.bodies);
        let normal = u.dot(contact.normal);
        if contact.gap > self.touching || normal > self.rest {
            Mode::Open
        } else if (u - normal * contact.normal).length() > self.slip {
            Mode::Slide
        } else {
            Mode::Stick
        }
    }
}

/// What a contact does now: open, sliding, or sticking or rolling.
pub(super) fn contact_mode(stepper: &Stepper, contact: &Contact) -> Mode {
    Thresholds::of(stepper).mode(&stepper.state, contact)
}

/// A limit of a joint, or a rope, before a step.
#[derive(Clone, Copy, Debug)]
struct LimitApproach {
    /// What is left to the limit, m or rad.
    value: f64,
    /// Its rate; negative where it approaches.
    speed: f64,
}

/// Finds the events of contacts, step by step.
#[derive(Clone, Debug, Default)]
pub struct ContactEvents {
    t: f64,
    limits: Vec<LimitApproach>,
    modes: Vec<([u32; 2], PairMode)>,
}

impl ContactEvents {
    /// From the state in which a stepper stands: what touches there has begun before.
    pub fn new(stepper: &Stepper) -> Self {
        ContactEvents::with_modes(pair_modes(stepper))
    }

    /// From the pairs that touch, sorted by their bodies, as [`ContactEvents::modes`] returned them.
    pub fn with_modes(modes: Vec<([u32; 2], PairMode)>) -> Self {
        ContactEvents { modes, ..ContactEvents::default() }
    }

    /// Pairs of bodies that touch now, sorted.
    pub fn modes(&self) -> &[([u32; 2], PairMode)] {
        &self.modes
    }

    /// Records the limits from which the next step begins, after its length is set.
    pub fn before_step(&mut self, stepper: &Stepper) {
        self.t = stepper.state().t;
        limits_now(stepper, &mut self.limits);
    }

    /// Adds the events of the step that was made since [`ContactEvents::before_step`].
    pub fn after_step(&mut self, stepper: &Stepper, report: &StepReport, events: &mut Vec<ContactEvent>) {
        ContactEvents::impacts(stepper, events);
        self.change_limits(stepper, events);
        events.extend(report.jams.iter().map(|jam| ContactEvent {
            t: jam.t,
            contact: jam.contact.clone(),
            kind: ContactEventKind::Jam {
                point: jam.point,
                impulse: jam.impulse,
                mu: jam.mu,
                mu_jam: jam.mu_jam,
            },
        }));
        events.extend(report.accumulations.iter().map(|end| ContactEvent {
            t: end.t,
            contact: end.contact.clone(),
            kind: ContactEventKind::ZenoAccumulation,
        }));
        self.change_modes(stepper, events);
    }

    /// Impacts of the step: of each pair of bodies one in a substep.
    fn impacts(stepper: &Stepper, events: &mut Vec<ContactEvent>) {
        let world = &stepper.model.world;
        events.extend(stepper.arrivals.iter().map(|&Arrival { t, at, point, speed }| {
            let contact = match at {
                ArrivalAt::Pair(pair) => pair_name(world, pair),
                ArrivalAt::Limit(joint) => world.joints[joint as usize].name.clone(),
            };
            ContactEvent { t, contact, kind: ContactEventKind::Impact { point, speed } }
        }));
    }

    fn change_modes(&mut self, stepper: &Stepper, events: &mut Vec<ContactEvent>) {
        let mut now = pair_modes(stepper);
        let t = stepper.state().t;
        let event = |pair, kind| ContactEvent { t, contact: pair_name(&stepper.model.world, pair), kind };
        let mode_of = |list: &[([u32; 2], PairMode)], pair: [u32; 2]| {
            list.binary_search_by_key(&pair, |(p, _)| *p).ok().map(|i| list[i].1)
        };
        for &(pair, mode) in &now {
            if mode_of(&self.modes, pair) != Some(mode) {
                events.push(event(
                    pair,
                    match mode {
                        PairMode::Slide => ContactEventKind::Slide,
                        PairMode::Stick => ContactEventKind::Stick,
                    },
                ));
            }
        }
        // Velocities at the end of a half-implicit step belong to the normals at its begin: on a curved
        // surface they seem to separate from those at its end while the contact still carries a force.
        let half_implicit = stepper.model.options.scheme == Scheme::HalfImplicit;
        let Thresholds { touching, .. } = Thresholds::of(stepper);
        let still_touches = |pair: [u32; 2]| {
            let mut of_pair = stepper.contact_forces().filter(|(c, ..)| c.bodies == pair);
            half_implicit && of_pair.any(|(c, normal, _)| normal > 0.0 || c.gap <= touching)
        };
        let mut remaining = vec![];
        for &(pair, mode) in self.modes.iter().filter(|(pair, _)| mode_of(&now, *pair).is_none()) {
            if still_touches(pair) {
                remaining.push((pair, mode));
            } else {
                events.push(event(pair, ContactEventKind::Open));
            }
        }
        now.extend(remaining);
        now.sort_unstable_by_key(|(pair, _)| *pair);
        self.modes = now;
    }
}

impl ContactEvents {
    /// Limits and ropes that were reached or left.
    fn change_limits(&self, stepper: &Stepper, events: &mut Vec<ContactEvent>) {
        if self.limits.is_empty() {
            return;
        }
        let mut now = vec![];
        limits_now(stepper, &mut now);
        let rows = stepper.linearization.joint_rows();
        let of_limits = rows.rows[rows.bilateral..].iter().zip(&stepper.impulses.rows[rows.bilateral..]);
        let (dt, Thresholds { rest, touching, .. }) = (stepper.model.options.dt, Thresholds::of(stepper));
        for ((before, now), (row, impulse)) in self.limits.iter().zip(&now).zip(of_limits) {
            // What comes to rebound has not arrived before it has.
            let rebounds = matches!(row.kind, RowKind::Limit { restitution } if restitution > 0.0);
            let comes = |limit: &LimitApproach| rebounds && limit.value > 0.0 && limit.speed < -rest;
            let is_closed =
                |limit: &LimitApproach| limit.value <= touching && limit.speed <= rest && !comes(limit);
            let joint = &stepper.model.world.joints[row.joint as usize];
            let event = |t: f64, kind| ContactEvent { t, contact: joint.name.clone(), kind };
            let recorded = stepper.arrivals.iter().any(|a| a.at == ArrivalAt::Limit(row.joint));
            let stopped = before.speed < -rest && *impulse > 0.0;
            if !recorded && (stopped || is_closed(now) && !is_closed(before)) {
                let speed = (-before.speed).max(0.0);
                // A rest of the way that is not closed at this speed within the step ends with the step.
                let after = if speed > 0.0 { (before.value.max(0.0) / speed).min(dt) } else { dt };
                let point = limit_point(&stepper.model.world, &stepper.state().bodies, row.joint);
                events.push(event(self.t + after, ContactEventKind::Impact { point, speed }));
            }
            if is_closed(before) && !is_closed(now) {
                events.push(event(stepper.state().t, ContactEventKind::Open));
            }
        }
    }
}

/// The limits of joints and the ropes, in the order of their rows.
fn limits_now(stepper: &Stepper, out: &mut Vec<LimitApproach>) {
    out.clear();
    let (rows, masses) = (stepper.linearization.joint_rows(), &stepper.model.masses);
    if rows.limits == 0 {
        return;
    }
    let mut v = vec![];
    masses.gather_velocities(&stepper.state().bodies, &mut v);
    out.extend((rows.bilateral..rows.bilateral + rows.limits).map(|i| LimitApproach {
        value: rows.rows[i].value,
        speed: row_velocity(rows, i, masses, &v) + rows.rows[i].rate,
    }));
}

/// The pairs of bodies that touch, sorted.
fn pair_modes(stepper: &Stepper) -> Vec<([u32; 2], PairMode)> {
    let thresholds = Thresholds::of(stepper);
    let mut now: Vec<([u32; 2], PairMode)> = vec![];
    for contact in stepper.contacts() {
        let mode = thresholds.mode(stepper.state(), contact);
        if mode == Mode::Open {
            continue;
        }
        let slides = mode == Mode::Slide;
        // Contacts of a pair follow each other.
        match now.last_mut() {
            Some((pair, known)) if *pair == contact.bodies => {
                if slides {
                    *known = PairMode::Slide;
                }
            }
            _ => now.push((contact.bodies, if slides { PairMode::Slide } else { PairMode::Stick })),
        }
    }
    now.sort_unstable_by_key(|(pair, _)| *pair);
    now
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stepping::StepOptions;
    use crate::stepping::test_worlds::on_a_floor;
    use crate::world::{Action, ActionKind, Axis, Coordinate, Joint, JointKind, Pose, ShapeKind};

    const G: f64 = 9.81;

    fn events(mut stepper: Stepper, found: &mut ContactEvents, steps: usize) -> Vec<ContactEvent> {
        let mut events = vec![];
        for _ in 0..steps {
            found.before_step(&stepper);
            let report = stepper.step().unwrap();
            found.after_step(&stepper, &report, &mut events);
        }
        events
    }

    /// A block with the velocity v on a floor with friction μ stops after v / (μ g).
    #[test]
    fn a_block_slides_and_then_sticks() {
        let (world, mut state) =
            on_a_floor(ShapeKind::Box { half_extents: DVec3::splat(0.1) }, 0.1, [0.5, 0.0]);
        state.bodies[1].velocity = DVec3::X;
        let stepper = Stepper::new(world, state, StepOptions::default()).unwrap();
        let dt = stepper.model.options.dt;
        // Where the contact was known before, its sliding does not begin.
        assert_eq!(ContactEvents::new(&stepper).modes(), [([0, 1], PairMode::Slide)]);
        let found = events(stepper, &mut ContactEvents::default(), 300);
        let kinds: Vec<ContactEventKind> = found.iter().map(|event| event.kind).collect();
        assert_eq!(kinds, [ContactEventKind::Slide, ContactEventKind::Stick]);
        assert_eq!((found[0].t, found[0].contact.as_str()), (dt, "floor|body"));
        let stop = 1.0 / (0.5 * G);
        assert!((stop - 1e-9..=stop + dt).contains(&found[1].t), "{} against {stop}", found[1].t);
    }

    /// Dropped from the gap d, a ball hits with √(2 g d), then with e times the speed before, and rests after
    /// √(2 d/g) (1 + e)/(1 − e).
    #[test]
    fn a_ball_bounces_and_then_rests() {
        let (d, e) = (0.1, 0.5);
        let (world, state) = on_a_floor(ShapeKind::Sphere { radius: 0.1 }, 0.1 + d, [0.0, e]);
        let stepper = Stepper::new(world, state, StepOptions::default()).unwrap();
        let dt = stepper.model.options.dt;
        let mut contacts = ContactEvents::new(&stepper);
        assert!(contacts.modes().is_empty());
        let found = events(stepper, &mut contacts, 600);
        let impacts: Vec<[f64; 2]> = (found.iter())
            .filter_map(|event| match event.kind {
                ContactEventKind::Impact { speed, .. } => Some([event.t, speed]),
                _ => None,
            })
            .collect();
        let first = (2.0 * d / G).sqrt();
        // The speed is that at the start of the step in which the ball arrives.
        let speed = |n: i32| G * first * e.powi(n);
        for (n, [_, found]) in impacts.iter().enumerate().take(4) {
            let exact = speed(n as i32);
            assert!((exact - G * dt..=exact + 1e-9).contains(found), "impact {n}: {found} against {exact}");
        }
        assert!((impacts[0][0] - first).abs() < dt, "{impacts:?}");
        assert!((impacts[1][0] - first * (1.0 + 2.0 * e)).abs() < dt, "{impacts:?}");
        assert_eq!(contacts.modes(), [([0, 1], PairMode::Stick)]);
        let end = first * (1.0 + e) / (1.0 - e);
        let accumulation =
            found.iter().find(|event| event.kind == ContactEventKind::ZenoAccumulation).unwrap();
        assert!((accumulation.t - end).abs() < 0.02 * end, "{} against {end}", accumulation.t);
        // Nothing opens or hits after the rebounds have come to an end.
        let last = impacts.last().unwrap()[0];
        assert!(
            last < accumulation.t && found.iter().all(|event| event.t <= accumulation.t + dt),
            "{found:?}"
        );
    }

    /// Impacts as time and speed.
    fn impacts_of(found: &[ContactEvent]) -> Vec<[f64; 2]> {
        let impact = |event: &ContactEvent| match event.kind {
            ContactEventKind::Impact { speed, .. } => Some([event.t, speed]),
            _ => None,
        };
        found.iter().filter_map(impact).collect()
    }

    /// Steps of 0.1 s hold up to ten rebounds: after a fall of t₁ with the speed v, impact n comes at
    /// t₁ (1 + 2 Σ eᵏ) with eⁿ v. At a floor and at the limit of a guide each of them is an event.
    #[test]
    fn no_impact_is_missing_where_a_step_holds_many() {
        let (d, e, dt) = (0.1, 0.8, 0.1);
        let options = StepOptions { dt, ..StepOptions::default() };
        let (floor, on_floor) = on_a_floor(ShapeKind::Sphere { radius: 0.1 }, 0.1 + d, [0.0, e]);
        let (mut guided, mut at_limit) = on_a_floor(ShapeKind::Sphere { radius: 0.1 }, 1.0 + d, [0.0, 0.0]);
        let limits = ActionKind::Limits { lower: 1.0, upper: f64::INFINITY, restitution: e };
        let mut guide = Joint::new("guide", JointKind::Prismatic, [0, 1], [Pose::IDENTITY; 2]);
        guide.actions.push(Action { coordinate: Coordinate::Along(Axis::Z), kind: limits });
        guided.joints.push(guide);
        at_limit.coordinates.push(1.0 + d);
        let first = (2.0 * d / G).sqrt();
        let expected: Vec<[f64; 2]> = (0..10)
            .map(|n| {
                let flights: f64 = (1..=n).map(|k| 2.0 * e.powi(k)).sum();
                [first * (1.0 + flights), G * first * e.powi(n)]
            })
            .collect();
        assert!(expected[9][0] < 1.2, "{expected:?}");
        for (world, state) in [(floor, on_floor), (guided, at_limit)] {
            let stepper = Stepper::new(world, state, options).unwrap();
            let found = impacts_of(&events(stepper, &mut ContactEvents::default(), 12));
            assert!(found.len() >= 10, "{found:?}");
            // Steps under a constant force are exact; 1e-10 m at the tenth speed, 0.19 m/s, are 1e-9 s.
            for (found, exact) in found.iter().zip(&expected) {
                assert!((0..2).all(|k| (found[k] - exact[k]).abs() < 1e-8), "{found:?} for {exact:?}");
            }
        }
    }

    /// A ball 0.01 m above the floor that rises with 0.2 m/s at the start of a step of 0.1 s falls within it:
    /// it hits with √(0.2² + 2 g 0.01) after (0.2 + that)/g.
    #[test]
    fn a_fall_that_begins_upwards_within_a_step_is_an_impact() {
        let (v, d): (f64, f64) = (0.2, 0.01);
        let (world, mut state) = on_a_floor(ShapeKind::Sphere { radius: 0.1 }, 0.1 + d, [0.0, 0.0]);
        state.bodies[1].velocity = DVec3::Z * v;
        let options = StepOptions { dt: 0.1, ..StepOptions::default() };
        let stepper = Stepper::new(world, state, options).unwrap();
        let found = impacts_of(&events(stepper, &mut ContactEvents::default(), 3));
        let speed = (v * v + 2.0 * G * d).sqrt();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            (found[0][0] - (v + speed) / G).abs() < 1e-9 && (found[0][1] - speed).abs() < 1e-9,
            "{found:?}"
        );
    }

    /// A ball 0.5 m below the end of a rope of 1 m falls √(2 · 0.5/g) until the rope is taut, and then has
    /// the speed √(2 g 0.5). Without restitution it stays; with it, it comes back after 2 e v/g.
    #[test]
    fn a_rope_that_goes_taut_is_an_event_in_both_schemes() {
        for scheme in [Scheme::Symmetric, Scheme::HalfImplicit] {
            for e in [0.0, 0.5] {
                let (mut world, state) = on_a_floor(ShapeKind::Sphere { radius: 0.01 }, 2.5, [0.0, 0.0]);
                let end = Pose { position: DVec3::new(0.0, 0.0, 3.0), ..Pose::IDENTITY };
                let rope = JointKind::Rope { length: 1.0, restitution: e };
                world.joints.push(Joint::new("rope", rope, [0, 1], [end, Pose::IDENTITY]));
                let options = StepOptions { scheme, ..StepOptions::default() };
                let stepper = Stepper::new(world, state, options).unwrap();
                let (dt, mut contacts) = (options.dt, ContactEvents::new(&stepper));
                let found = events(stepper, &mut contacts, 750);
                assert!(found.iter().all(|event| event.contact == "rope"), "{found:?}");
                let (taut, v) = ((2.0 * 0.5 / G).sqrt(), (2.0 * G * 0.5).sqrt());
                let ContactEventKind::Impact { point, speed } = found[0].kind else { panic!("{found:?}") };
                // The speed is that at the start of the step; the half-implicit scheme meets limits a step
                // ahead.
                assert!((found[0].t - taut).abs() <= dt && (speed - v).abs() <= 2.0 * G * dt, "{found:?}");
                assert!((point - DVec3::new(0.0, 0.0, 2.0)).length() < v * dt, "{point}");
                let Some(next) = found.get(1) else {
                    assert_eq!(e, 0.0, "{found:?}");
                    continue;
                };
                // It hangs on the rope without moving.
                assert!(e > 0.0, "{found:?}");
                let again = taut + 2.0 * e * v / G;
                assert!(matches!(next.kind, ContactEventKind::Impact { .. }), "{found:?}");
                assert!((next.t - again).abs() <= 3.0 * dt, "{} against {again}", next.t);
            }
        }
    }

    /// A joint that is pushed off its limit leaves it, and one that rests there has no events.
    #[test]
    fn a_limit_is_left_when_the_joint_moves_away() {
        for (push, expected) in [(15.0, vec![ContactEventKind::Open]), (5.0, vec![])] {
            let (mut world, mut state) = on_a_floor(ShapeKind::Sphere { radius: 0.1 }, 1.0, [0.0, 0.0]);
            let limits = ActionKind::Limits { lower: 1.0, upper: f64::INFINITY, restitution: 0.0 };
            let mut guide = Joint::new("guide", JointKind::Prismatic, [0, 1], [Pose::IDENTITY; 2]);
            guide.actions.push(Action { coordinate: Coordinate::Along(Axis::Z), kind: limits });
            world.joints.push(guide);
            world.bodies[1].force[0] = DVec3::Z * push;
            state.coordinates.push(0.0);
            let stepper = Stepper::new(world, state, StepOptions::default()).unwrap();
            let mut contacts = ContactEvents::new(&stepper);
            let found = events(stepper, &mut contacts, 50);
            let kinds: Vec<ContactEventKind> = found.iter().map(|event| event.kind).collect();
            assert_eq!(kinds, expected, "{found:?}");
        }
    }
}
