//! Mode selection: all solutions of the acceleration problem at a state, and the modes that they mean.
//!
//! ```text
//! M q̈ + F = Jᵀ f ,   u̇ = J q̈ + γ ,   (f, u̇) in the laws of the contacts that touch
//! ```
//!
//! M (n × n) is the mass matrix, F ∈ ℝⁿ the forces, J (k × n) the rows of joints and touching contacts, γ ∈
//! ℝᵏ their bias, f ∈ ℝᵏ contact forces and u̇ ∈ ℝᵏ relative accelerations. A contact opens where u̇_n > 0,
//! slides where it does so already or u̇_t ≠ 0, and sticks elsewhere. Where f_n and u̇_n (or the reserve of
//! friction and u̇_t) are zero together, the guard that ended decides; elsewhere higher derivatives do (002
//! Theorem 5.4), and where they are not available the contact stays closed (and sticks) as long as its forces
//! allow.

use delassus_solve::analysis::one_solution;
use delassus_solve::linalg::{Matrix, max_abs, norm};
use delassus_solve::modes::{EnumerateOptions, enumerate};
use delassus_solve::problem::{Dynamics, InvalidProblem, Law, Slip, Status};

use super::equations::{ContactMode, Equations, JointMode, Modes};
use super::guards::Guard;
use crate::lagrangian::Row;

/// Accelerations that differ by less than this part of the largest are one.
const SAME_ACCELERATION: f64 = 1e-6;
/// Accelerations and forces below this part of the largest are zero.
const ZERO_PART: f64 = 1e-8;

/// The residual that a solve in space is asked for, and the one that is accepted: beyond nine digits the
/// solution itself may be rounding.
const AIMED_RESIDUAL: f64 = 1e-12;
const ACCEPTED_RESIDUAL: f64 = 1e-9;

/// One solution of the acceleration problem.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) modes: Modes,
    pub(super) acceleration: Vec<f64>,
    /// Sum of the normal forces of contacts.
    pub(super) pressure: f64,
    /// Contacts whose normal force and acceleration are both zero.
    pub(super) ties: Vec<usize>,
}

/// All that is known of the acceleration problem.
#[derive(Clone, Debug)]
pub(super) enum Decision {
    /// The answers, with different accelerations; more than one where the state is indeterminate.
    Answers(Vec<Answer>),
    /// There is none.
    NoSolution,
    /// The search found none and did not exclude one.
    Unknown,
}

/// The law of friction for these slips: sliding where the slip is faster than `still`.
fn friction(slip: &[Row], mu_static: f64, mu_kinetic: f64, still: f64) -> Option<Result<(f64, Slip), f64>> {
    let v: Vec<f64> = slip.iter().map(|r| r.velocity).collect();
    let speed = norm(&v);
    match *v.as_slice() {
        [] => None,
        [x] if speed > still => Some(Ok((mu_kinetic, Slip::Plane(x.signum())))),
        [x, y] if speed > still => Some(Ok((mu_kinetic, Slip::Space([x / speed, y / speed])))),
        _ if mu_static == 0.0 => None,
        _ => Some(Err(mu_static)),
    }
}

/// Solves the acceleration problem with the contacts in `touching`; slips up to `still` are none. `cause` is
/// the guard that ended, `before` the modes that ended with it.
pub(super) fn decide(
    at: &Equations,
    touching: &[bool],
    still: f64,
    cause: Option<Guard>,
    before: &Modes,
) -> Result<Decision, InvalidProblem> {
    if !touching.contains(&true) && at.joints.iter().all(|joint| joint.slip.is_empty()) {
        let modes = Modes {
            contacts: vec![ContactMode::Open; touching.len()],
            joints: vec![JointMode::Smooth; at.joints.len()],
        };
        return Ok(Decision::Answers(vec![Answer {
            modes,
            acceleration: vec![],
            pressure: 0.0,
            ties: vec![],
        }]));
    }
    let (mut laws, mut rows): (Vec<Law>, Vec<&Row>) = (vec![], vec![]);
    for joint in &at.joints {
        let law = match friction(&joint.slip, joint.mu, joint.mu, still) {
            None => Law::Bilateral,
            Some(Ok((mu, slip))) => Law::BilateralSliding { mu, slip },
            Some(Err(mu)) if joint.slip.len() == 1 => Law::BilateralCoulombPlane { mu },
            Some(Err(mu)) => Law::BilateralCoulomb { mu },
        };
        rows.push(&joint.row);
        rows.extend(joint.slip.iter().take(law.dim() - 1));
        laws.push(law);
    }
    for (contact, _) in at.contacts.iter().zip(touching).filter(|(_, touches)| **touches) {
        let Some(contact) = contact else { continue };
        let law = match friction(&contact.slip, contact.mu_static, contact.mu_kinetic, still) {
            None => Law::Unilateral,
            Some(Ok((mu, slip))) => Law::Sliding { mu, slip },
            Some(Err(mu)) if contact.slip.len() == 1 => Law::CoulombPlane { mu },
            Some(Err(mu)) => Law::Coulomb { mu },
        };
        rows.push(&contact.normal);
        rows.extend(contact.slip.iter().take(law.dim() - 1));
        laws.push(law);
    }
    let n = at.force.len();
    let jacobian = Matrix::from_fn(rows.len(), n, |i, j| rows[i].gradient[j]);
    let bias = rows.iter().map(|r| r.bias).collect();
    let dynamics = Dynamics::new(at.mass.as_ref().clone(), at.force.clone(), jacobian, bias, laws)?;
    let read = Reading { dynamics: &dynamics, force_size: &at.force_size, touching, cause, before };
    if !dynamics.laws.iter().all(Law::is_polyhedral) {
        return read.one();
    }
    let set = enumerate(&dynamics, &EnumerateOptions::default());
    let mut answers: Vec<Answer> = Vec::new();
    let size = set.components.iter().fold(1.0_f64, |m, p| m.max(max_abs(&p.acceleration)));
    for component in &set.components {
        let answer = read.answer(&component.force, &component.velocity, &component.acceleration);
        let twin = answers.iter_mut().find(|known| {
            let apart = known.acceleration.iter().zip(&answer.acceleration).map(|(a, b)| (a - b).abs());
            apart.fold(0.0, f64::max) <= SAME_ACCELERATION * size
        });
        match twin {
            // Of two lists of modes with one acceleration the one with more contacts closed: their forces
            // show when they open.
            Some(known) if closed(&answer.modes) > closed(&known.modes) => *known = answer,
            Some(_) => {}
            None => answers.push(answer),
        }
    }
    answers.sort_by(|a, b| a.pressure.total_cmp(&b.pressure));
    Ok(match answers.is_empty() {
        false => Decision::Answers(answers),
        true if set.complete && set.decided => Decision::NoSolution,
        true => Decision::Unknown,
    })
}

fn closed(modes: &Modes) -> usize {
    modes.contacts.iter().filter(|m| m.is_closed()).count()
}

/// From forces and accelerations to modes.
struct Reading<'a> {
    dynamics: &'a Dynamics,
    /// Sums of the sizes of the terms of every force.
    force_size: &'a [f64],
    touching: &'a [bool],
    cause: Option<Guard>,
    before: &'a Modes,
}

impl Reading<'_> {
    /// One solution, where contacts in space do not allow to list all.
    fn one(&self) -> Result<Decision, InvalidProblem> {
        let Some(reduced) = self.dynamics.reduce() else { return Ok(Decision::Unknown) };
        let problem = reduced.problem(&self.dynamics.laws)?;
        let found = one_solution(&problem, AIMED_RESIDUAL);
        Ok(match found.status {
            _ if found.residual <= ACCEPTED_RESIDUAL => {
                let a = reduced.acceleration(&found.impulse);
                Decision::Answers(vec![self.answer(&found.impulse, &found.velocity, &a)])
            }
            Status::NoSolution => Decision::NoSolution,
            _ => Decision::Unknown,
        })
    }

    fn answer(&self, force: &[f64], velocity: &[f64], acceleration: &[f64]) -> Answer {
        let offsets = self.dynamics.offsets();
        let joints = self.before.joints.len();
        let zero_force = ZERO_PART * max_abs(force).max(max_abs(self.force_size));
        let zero = ZERO_PART * max_abs(velocity).max(max_abs(&self.dynamics.bias)).max(self.free());
        let unit = |x: &[f64], sign: f64| {
            let size = norm(x).max(f64::MIN_POSITIVE);
            [sign * x[0] / size, x.get(1).map_or(0.0, |y| sign * y / size)]
        };
        let pair = |slip: &Slip| {
            let e = slip.components();
            [e[0], e.get(1).copied().unwrap_or(0.0)]
        };
        let mut modes = Modes { contacts: vec![ContactMode::Open; self.touching.len()], joints: vec![] };
        let (mut pressure, mut ties) = (0.0, vec![]);
        for (k, law) in self.dynamics.laws.iter().enumerate().take(joints) {
            let rows = offsets[k]..offsets[k + 1];
            let (f, u) = (&force[rows.clone()], &velocity[rows]);
            let sign = |f: &[f64]| match (self.cause, self.before.joints[k]) {
                (Some(Guard::JointNormalForce(j)), JointMode::Slide { sign, .. })
                    if j == k && f[0].abs() <= zero_force =>
                {
                    -sign
                }
                _ => f[0].signum(),
            };
            modes.joints.push(match law {
                Law::BilateralSliding { slip, .. } => {
                    JointMode::Slide { direction: pair(slip), sign: sign(f) }
                }
                Law::BilateralCoulombPlane { .. } | Law::BilateralCoulomb { .. } => {
                    if norm(&u[1..]) > zero {
                        JointMode::Slide { direction: unit(&u[1..], 1.0), sign: sign(f) }
                    } else if self.cause == Some(Guard::JointFrictionReserve(k)) {
                        JointMode::Slide { direction: unit(&f[1..], -1.0), sign: sign(f) }
                    } else {
                        JointMode::Stick
                    }
                }
                _ => JointMode::Smooth,
            });
        }
        let numbers = self.touching.iter().enumerate().filter(|(_, touches)| **touches).map(|(i, _)| i);
        for (i, k) in numbers.zip(joints..) {
            let rows = offsets[k]..offsets[k + 1];
            let (f, u) = (&force[rows.clone()], &velocity[rows]);
            pressure += f[0];
            let gone = self.cause == Some(Guard::NormalForce(i)) && f[0] <= zero_force;
            if !gone && u[0] <= zero && f[0] <= zero_force {
                ties.push(i);
            }
            modes.contacts[i] = if u[0] > zero || gone {
                ContactMode::Open
            } else {
                match &self.dynamics.laws[k] {
                    Law::Sliding { slip, .. } => ContactMode::Slide { direction: pair(slip) },
                    Law::CoulombPlane { .. } | Law::Coulomb { .. } => {
                        if norm(&u[1..]) > zero {
                            ContactMode::Slide { direction: unit(&u[1..], 1.0) }
                        } else if self.cause == Some(Guard::FrictionReserve(i)) && norm(&f[1..]) > zero_force
                        {
                            ContactMode::Slide { direction: unit(&f[1..], -1.0) }
                        } else {
                            ContactMode::Stick
                        }
                    }
                    _ => ContactMode::Slide { direction: [0.0; 2] },
                }
            };
        }
        Answer { modes, acceleration: acceleration.to_vec(), pressure, ties }
    }

    /// The size of accelerations without contact forces, along the rows: of the terms that make them up,
    /// since bodies that fall together leave only their rounding.
    fn free(&self) -> f64 {
        let Some(reduced) = self.dynamics.reduce() else { return 0.0 };
        let terms = |row: usize| -> f64 {
            self.force_size.iter().enumerate().map(|(i, f)| (reduced.response[(i, row)] * f).abs()).sum()
        };
        (0..self.dynamics.bias.len()).map(terms).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::equations::Mechanics;
    use crate::events::fixtures::{G, SLIDE_DOWN, SLIDE_UP, block, one_contact, state};

    /// The only answer for a block that touches its incline, at velocity v along it.
    fn answer(angle: f64, mu: f64, v: f64, before: ContactMode, cause: Option<Guard>) -> Answer {
        let (system, start) = (block(angle, mu), state(&[0.0; 2], &[v, 0.0]));
        let mut mechanics = Mechanics::new(&system, &start).unwrap();
        let at = mechanics.equations((0.0, &start.q, &start.v), |_| true).unwrap();
        match decide(&at, &[true], 1e-10, cause, &one_contact(before)).unwrap() {
            Decision::Answers(mut answers) if answers.len() == 1 => answers.remove(0),
            other => panic!("{other:?}"),
        }
    }

    /// Below the angle of friction it sticks, above it slides with g (sin α − μ cos α).
    #[test]
    fn a_block_on_an_incline() {
        let rests = answer(0.3, 0.5, 0.0, ContactMode::Stick, None);
        assert_eq!(rests.modes.contacts, [ContactMode::Stick]);
        assert!(max_abs(&rests.acceleration) < 1e-14);
        assert!((rests.pressure - G * 0.3_f64.cos()).abs() < 1e-14);
        let slides = answer(0.6, 0.5, 0.0, ContactMode::Stick, None);
        assert_eq!(slides.modes.contacts, [SLIDE_DOWN]);
        let (s, c) = 0.6_f64.sin_cos();
        assert!((slides.acceleration[0] - G * (s - 0.5 * c)).abs() < 1e-14);
        assert!(slides.ties.is_empty());
    }

    /// One that moves keeps sliding the way it moves, and friction brakes it.
    #[test]
    fn a_block_that_moves_slides_on() {
        for (v, mode) in [(1.0, SLIDE_DOWN), (-1.0, SLIDE_UP)] {
            let found = answer(0.3, 0.5, v, ContactMode::Stick, None);
            assert_eq!(found.modes.contacts, [mode]);
            let (s, c) = 0.3_f64.sin_cos();
            assert!((found.acceleration[0] - G * (s - 0.5 * v.signum() * c)).abs() < 1e-14);
        }
    }

    /// Past the vertical nothing presses: the block falls off.
    #[test]
    fn an_overhang_drops_the_block() {
        let found = answer(2.0, 0.5, 0.0, ContactMode::Stick, None);
        assert_eq!(found.modes.contacts, [ContactMode::Open]);
        assert_eq!(found.pressure, 0.0);
    }

    /// On a vertical plane force and acceleration vanish together: a tie, unless the event was the loss of
    /// the force.
    #[test]
    fn a_tie_is_broken_by_its_cause() {
        let vertical = std::f64::consts::FRAC_PI_2;
        let tie = answer(vertical, 0.0, 1.0, SLIDE_DOWN, None);
        assert_eq!(tie.ties, [0]);
        assert!(tie.modes.contacts[0].is_closed());
        let gone = answer(vertical, 0.0, 1.0, SLIDE_DOWN, Some(Guard::NormalForce(0)));
        assert_eq!(gone.modes.contacts, [ContactMode::Open]);
        assert!(gone.ties.is_empty());
    }
}
