//! One impact followed along its normal percussion (Darboux, Keller).
//!
//! ```text
//! du/dP = A (1, τ),   τ = −μ u_t/‖u_t‖ while sliding, τ = −A_tt⁻¹A_tn while sticking (‖τ‖ ≤ μ)
//! ```
//!
//! P is the normal percussion so far, A = A_c ∈ R^{(1+d)×(1+d)} the block of the contact with the joints
//! eliminated, u its velocity (normal, d tangents). Compression lasts while u_n < 0, restitution until the
//! coefficient e is used up:
//!
//! | [`Restitution`] | ends when |
//! |---|---|
//! | `Kinematic` (Newton) | u_n = −e u_n⁻ |
//! | `Kinetic` (Poisson) | P = (1 + e) P_c |
//! | `Energetic` (Stronge) | ∫u_n dP over restitution = −e² ∫u_n dP over compression |
//!
//! The energetic law takes energy for every μ and every A, because friction works against slip at each
//! instant.
//!
//! In the plane u is a broken line in P: slide, then stick or slide back, each in closed form. In space the
//! direction of slip rotates; with dP = ‖u_t‖ dσ the direction φ obeys dφ/dσ = n·(A_tn − μ A_tt s), a scalar
//! equation without a singularity, which is integrated to 1e-12. Once the direction has settled, and after
//! slip has stopped, the line is straight again.
//!
//! An impact without collision (003 §5) starts at u_n = 0 with du_n/dP < 0: the contact is pressed in by its
//! own friction until slip stops, whatever the forces.

use serde::{Deserialize, Serialize};

use super::setting::{REST_RATIO, Setting};
use super::{ImpactError, ImpactProblem, ImpactStatus, no_guides};
use crate::linalg::{Matrix, dot, max_abs, norm};

/// What the coefficient of restitution is a ratio of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Restitution {
    /// Normal velocities (Newton).
    Kinematic,
    /// Normal percussions (Poisson).
    Kinetic,
    /// Works of the normal percussion, as a square (Stronge).
    #[default]
    Energetic,
}

/// What the contact does along a stretch of an impact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Motion {
    /// It slides.
    Slip,
    /// It sticks.
    Stick,
}

/// The end of a stretch along which the contact does one thing, in one phase.
#[derive(Clone, Debug, PartialEq)]
pub struct PathPoint {
    /// What the contact did up to here.
    pub motion: Motion,
    /// Whether this stretch belongs to compression.
    pub compression: bool,
    /// Percussion so far: normal, tangents.
    pub impulse: Vec<f64>,
    /// Velocity: normal, tangents.
    pub velocity: Vec<f64>,
    /// ∫u_n dP so far.
    pub work: f64,
}

/// An impact along its percussion.
#[derive(Clone, Debug)]
pub struct ImpactPath {
    /// Whether the impact came to its end.
    pub status: ImpactStatus,
    /// Percussion at the end: normal, tangents.
    pub impulse: Vec<f64>,
    /// Whether there was no approach, and the contact was pressed in by its friction.
    pub without_collision: bool,
    /// The stretches in order; none where nothing happens.
    pub points: Vec<PathPoint>,
}

impl ImpactPath {
    /// The end of compression, if there was one.
    pub fn compression(&self) -> Option<&PathPoint> {
        self.points.iter().rev().find(|point| point.compression)
    }
}

/// Follows the impact of one contact.
pub fn impact_path(problem: &ImpactProblem, restitution: Restitution) -> Result<ImpactPath, ImpactError> {
    if problem.contacts.len() != 1 {
        return Err(ImpactError::OneContact { found: problem.contacts.len() });
    }
    no_guides(problem)?;
    Ok(follow_impact(&Setting::new(problem)?, restitution))
}

/// As [`impact_path`], with the joints already eliminated. The setting has one contact.
pub(super) fn follow_impact(s: &Setting<'_>, restitution: Restitution) -> ImpactPath {
    let contact = &s.problem.contacts[0];
    let mut u = s.free.clone();
    // What u is made of, external impulse included.
    let size: Vec<f64> = s.size.iter().zip(&s.before).zip(&u).map(|((s, b), u)| s + (u - b).abs()).collect();
    if u[0].abs() <= REST_RATIO * size[0] {
        u[0] = 0.0;
    }
    let largest = size[1..].iter().fold(0.0_f64, |m, s| m.max(*s));
    if norm(&u[1..]) <= REST_RATIO * largest {
        u[1..].fill(0.0);
    }
    // Restitution of velocities answers to what was before the external impulse.
    let target = match restitution {
        Restitution::Kinematic => RestitutionTarget::Velocity(-contact.restitution * s.before[0].min(0.0)),
        Restitution::Kinetic => RestitutionTarget::Impulse(contact.restitution),
        Restitution::Energetic => RestitutionTarget::Work(contact.restitution),
    };
    follow(&s.delassus, u, contact.friction, target)
}

/// How far restitution goes: to a velocity, or to e of the percussion, or to e² of the work of compression.
pub(super) enum RestitutionTarget {
    Velocity(f64),
    Impulse(f64),
    Work(f64),
}

/// The impact of one contact with the block A, from the velocity u.
pub(super) fn follow(a: &Matrix, u: Vec<f64>, friction: f64, target: RestitutionTarget) -> ImpactPath {
    let rows = u.len();
    let nothing =
        |status| ImpactPath { status, impulse: vec![0.0; rows], without_collision: false, points: vec![] };
    let mut walk = Walk {
        a,
        mu: friction,
        impulse: vec![0.0; rows],
        work: 0.0,
        target: Target::Rest,
        points: vec![],
        u,
    };
    let push = walk.friction();
    let without_collision = walk.u[0] == 0.0 && dot(a.row(0), &push) < 0.0;
    if walk.u[0] > 0.0 || (walk.u[0] == 0.0 && !without_collision) {
        return nothing(ImpactStatus::Solved);
    }
    let reached = walk.compress().and_then(|()| {
        walk.target = match target {
            RestitutionTarget::Velocity(v) => Target::Velocity(v),
            RestitutionTarget::Impulse(e) => Target::Impulse((1.0 + e) * walk.impulse[0]),
            RestitutionTarget::Work(e) => Target::Work((1.0 - e * e) * walk.work),
        };
        if walk.left() >= 0.0 { Some(()) } else { walk.run() }
    });
    match reached {
        Some(()) => ImpactPath {
            status: ImpactStatus::Solved,
            impulse: walk.impulse,
            without_collision,
            points: walk.points,
        },
        None => nothing(ImpactStatus::NotConverged),
    }
}

/// Where a phase ends; each quantity grows up to its target.
#[derive(Clone, Copy, PartialEq)]
enum Target {
    /// The end of compression, u_n = 0.
    Rest,
    Velocity(f64),
    Impulse(f64),
    Work(f64),
}

/// Most steps of the integration in space, and most straight stretches.
const MAX_STEPS: usize = 100_000;
/// Slip that is this part of what it was has stopped.
const STOPPED_SLIP_RATIO: f64 = 1e-14;
/// Slip that rotates by less than this part of the most it could goes straight on.
const STRAIGHT_SLIP_RATIO: f64 = 1e-13;

/// Why slip in space was followed no further.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Target,
    Stopped,
    Straight,
}

struct Walk<'a> {
    a: &'a Matrix,
    mu: f64,
    u: Vec<f64>,
    impulse: Vec<f64>,
    work: f64,
    target: Target,
    points: Vec<PathPoint>,
}

impl Walk<'_> {
    fn compress(&mut self) -> Option<()> {
        self.run()?;
        // By definition; what is left is rounding.
        self.u[0] = 0.0;
        Some(())
    }

    /// Goes on to the target of the phase; `None` where it is not reached.
    fn run(&mut self) -> Option<()> {
        for _ in 0..MAX_STEPS {
            let slips = self.mu > 0.0 && norm(&self.u[1..]) > 0.0;
            let rotates = slips && self.u.len() == 3 && !self.goes_straight(self.u[2].atan2(self.u[1]));
            let done = if rotates { self.rotating_slip()? } else { self.straight()? };
            let motion = if slips { Motion::Slip } else { self.motion_at_rest() };
            self.points.push(PathPoint {
                motion,
                compression: self.target == Target::Rest,
                impulse: self.impulse.clone(),
                velocity: self.u.clone(),
                work: self.work,
            });
            if done {
                return Some(());
            }
        }
        None
    }

    /// What is missing to the target, as a negative number.
    fn left(&self) -> f64 {
        left(self.target, self.u[0], self.impulse[0], self.work)
    }

    /// (1, τ): percussion per normal percussion.
    fn friction(&self) -> Vec<f64> {
        let slip = norm(&self.u[1..]);
        let mut out = vec![1.0];
        if self.mu == 0.0 {
            out.resize(self.u.len(), 0.0);
        } else if slip > 0.0 {
            out.extend(self.u[1..].iter().map(|t| -self.mu * t / slip));
        } else {
            out.extend(self.start_of_slip().0);
        }
        out
    }

    fn motion_at_rest(&self) -> Motion {
        if self.mu > 0.0 && self.u.len() > 1 { self.start_of_slip().1 } else { Motion::Slip }
    }

    /// τ at u_t = 0: sticking where μ allows, else sliding in the one direction in which slip grows.
    fn start_of_slip(&self) -> (Vec<f64>, Motion) {
        let tangents: Vec<usize> = (1..self.u.len()).collect();
        let pull: Vec<f64> = tangents.iter().map(|&i| -self.a[(i, 0)]).collect();
        let stick = self.a.select(&tangents, &tangents).pseudo_solve(&pull);
        if norm(&stick) <= self.mu {
            return (stick, Motion::Stick);
        }
        let tau = if tangents.len() == 1 {
            vec![self.mu * stick[0].signum()]
        } else {
            self.parting_direction().iter().map(|s| -self.mu * s).collect()
        };
        (tau, Motion::Slip)
    }

    /// (dlnσ, dφ) of a slip σ(cos φ, sin φ), per σ⁻¹dP.
    fn slip_rates(&self, phi: f64) -> (f64, f64) {
        let (s, c) = phi.sin_cos();
        let pull = |i: usize| self.a[(i, 0)] - self.mu * (self.a[(i, 1)] * c + self.a[(i, 2)] * s);
        let (x, y) = (pull(1), pull(2));
        (c * x + s * y, c * y - s * x)
    }

    /// The direction s in which slip that starts at zero grows along a straight line: A_tn − μ A_tt s = g s
    /// with g > 0, so that ‖(μ A_tt + g)⁻¹A_tn‖ = 1. The left-hand side falls with g and is above 1 at g = 0
    /// where μ is too small to stick: there is one such direction.
    fn parting_direction(&self) -> Vec<f64> {
        let pull = [self.a[(1, 0)], self.a[(2, 0)]];
        let at = |g: f64| {
            let (a, b) = (self.mu * self.a[(1, 1)] + g, self.mu * self.a[(1, 2)]);
            let (c, d) = (self.mu * self.a[(2, 1)], self.mu * self.a[(2, 2)] + g);
            let determinant = a * d - b * c;
            [(d * pull[0] - b * pull[1]) / determinant, (a * pull[1] - c * pull[0]) / determinant]
        };
        let (mut low, mut high) = (0.0, norm(&pull));
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if norm(&at(middle)) > 1.0 { low = middle } else { high = middle }
        }
        let s = at(high);
        let length = norm(&s);
        s.iter().map(|s| s / length).collect()
    }

    /// A stretch along which τ is constant, to the target (true) or to where slip stops.
    fn straight(&mut self) -> Option<bool> {
        let direction = self.friction();
        let slope = self.a.mul_vec(&direction);
        let (un, k) = (self.u[0], slope[0]);
        let to_target = match self.target {
            Target::Rest if un == 0.0 && k >= 0.0 => 0.0,
            Target::Rest if k > 0.0 => -un / k,
            Target::Rest => f64::INFINITY,
            Target::Velocity(v) if k > 0.0 => (v - un) / k,
            Target::Velocity(_) => f64::INFINITY,
            Target::Impulse(p) => p - self.impulse[0],
            // u_n ΔP + ½ k ΔP² = rest of the work, without cancellation. In space slip that rotates can press
            // the contact in again (u_n < 0, k < 0); then the target is not on this line.
            Target::Work(w) => {
                let rest = w - self.work;
                let below = un + (un * un + 2.0 * k * rest).sqrt();
                if below > 0.0 { 2.0 * rest / below } else { f64::INFINITY }
            }
        };
        let slip = norm(&self.u[1..]);
        let closing = if self.mu > 0.0 && slip > 0.0 { -dot(&slope[1..], &self.u[1..]) / slip } else { 0.0 };
        let to_stop = if closing > 0.0 { slip / closing } else { f64::INFINITY };
        let length = to_target.min(to_stop);
        if !length.is_finite() {
            return None;
        }
        self.work += un * length + 0.5 * k * length * length;
        for i in 0..self.u.len() {
            self.u[i] += slope[i] * length;
            self.impulse[i] += direction[i] * length;
        }
        if to_stop <= to_target {
            self.u[1..].fill(0.0);
        } else if self.mu > 0.0 && slip == 0.0 && self.motion_at_rest() == Motion::Stick {
            // Sticking keeps u_t = 0; what the slope adds is rounding.
            self.u[1..].fill(0.0);
        }
        Some(to_target <= to_stop)
    }

    /// The most that a slip can rotate or change, per σ⁻¹dP.
    fn rate(&self) -> f64 {
        max_abs(self.a.data()) * (1.0 + self.mu)
    }

    /// Whether slip in this direction keeps it.
    fn goes_straight(&self, phi: f64) -> bool {
        self.slip_rates(phi).1.abs() <= STRAIGHT_SLIP_RATIO * self.rate()
    }

    /// Sliding in space, to the target (true), or to where slip stops or no longer rotates.
    fn rotating_slip(&mut self) -> Option<bool> {
        let start = norm(&self.u[1..]);
        let rate = self.rate();
        if rate == 0.0 {
            return None;
        }
        // φ, ln(σ/σ₀), P, u_n, work, p_1, p_2 over σ⁻¹dP.
        let y0 = [0.0, 0.0, 0.0, self.u[0], self.work, 0.0, 0.0];
        let phi0 = self.u[2].atan2(self.u[1]);
        let slope = |y: &[f64; 7]| {
            let phi = phi0 + y[0];
            let (growth, rotation) = self.slip_rates(phi);
            let (s, c) = phi.sin_cos();
            let sigma = start * y[1].exp();
            let k = self.a[(0, 0)] - self.mu * (self.a[(0, 1)] * c + self.a[(0, 2)] * s);
            [rotation, growth, sigma, sigma * k, sigma * y[3], -self.mu * sigma * c, -self.mu * sigma * s]
        };
        let value = |y: &[f64; 7]| left(self.target, y[3], self.impulse[0] + y[2], y[4]);
        // Errors are measured on numbers of size one.
        let unit_u = max_abs(&self.u).max(f64::MIN_POSITIVE);
        let unit_p = start / rate;
        let work_unit = unit_u * unit_p;
        let unit = [1.0, 1.0, unit_p, unit_u, work_unit, unit_p * (1.0 + self.mu), unit_p * (1.0 + self.mu)];
        let (mut y, mut h) = (y0, 1e-3 / rate);
        let mut end = None;
        for _ in 0..MAX_STEPS {
            let (next, error) = step(&slope, &y, h, &unit);
            let factor = if error > 0.0 { 0.9 * (1e-13 / error).powf(0.2) } else { 4.0 };
            if error > 1e-13 && h > 1e-9 / rate {
                h *= factor.clamp(0.1, 0.9);
                continue;
            }
            if value(&next) >= 0.0 {
                // The length of the last step by bisection, each trial a step of its own.
                let (mut low, mut high) = (0.0, h);
                for _ in 0..80 {
                    let middle = 0.5 * (low + high);
                    if value(&step(&slope, &y, middle, &unit).0) >= 0.0 {
                        high = middle
                    } else {
                        low = middle
                    }
                }
                y = step(&slope, &y, high, &unit).0;
                end = Some(End::Target);
                break;
            }
            y = next;
            if y[1].exp() < STOPPED_SLIP_RATIO {
                end = Some(End::Stopped);
                break;
            }
            if self.goes_straight(phi0 + y[0]) {
                end = Some(End::Straight);
                break;
            }
            h = (h * factor.clamp(0.2, 4.0)).min(0.25 / rate);
        }
        let end = end?;
        let sigma = if end == End::Stopped { 0.0 } else { start * y[1].exp() };
        let (s, c) = (phi0 + y[0]).sin_cos();
        self.u = vec![y[3], sigma * c, sigma * s];
        self.work = y[4];
        for (p, dp) in self.impulse.iter_mut().zip([y[2], y[5], y[6]]) {
            *p += dp;
        }
        Some(end == End::Target)
    }
}

fn left(target: Target, normal: f64, impulse: f64, work: f64) -> f64 {
    match target {
        Target::Rest => normal,
        Target::Velocity(v) => normal - v,
        Target::Impulse(p) => impulse - p,
        Target::Work(w) => work - w,
    }
}

/// One step of Dormand and Prince, and its error relative to `unit` and to the numbers themselves.
fn step(slope: &impl Fn(&[f64; 7]) -> [f64; 7], y: &[f64; 7], h: f64, unit: &[f64; 7]) -> ([f64; 7], f64) {
    const A: [[f64; 6]; 6] = [
        [1.0 / 5.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0, 0.0],
        [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0, 0.0],
        [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0, 0.0],
        [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0, 0.0],
        [35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
    ];
    const E: [f64; 7] =
        [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0];
    let mut k = [[0.0; 7]; 7];
    k[0] = slope(y);
    let mut end = *y;
    for (stage, row) in A.iter().enumerate() {
        end = *y;
        for (j, a) in row.iter().enumerate().take(stage + 1) {
            for i in 0..7 {
                end[i] += h * a * k[j][i];
            }
        }
        k[stage + 1] = slope(&end);
    }
    let mut error = 0.0_f64;
    for i in 0..7 {
        let e: f64 = (0..7).map(|j| E[j] * k[j][i]).sum::<f64>() * h;
        error = error.max(e.abs() / (unit[i] + end[i].abs()));
    }
    (end, error)
}
