//! Slip in space: its direction follows the velocity, and where slip is slow it does so at once.
//!
//! ```text
//! s φ̇ = f sin(α − φ) ,   ṡ = f cos(α − φ) − r          s the speed of slip, φ its angle
//! ```
//!
//! (a point with the force f at the angle α and the friction r.) As s → 0 the angle becomes fast, 1/s, and sweeps over a
//! step do not contract. The angles at the points of a step are then unknowns of their own: with them given the motion is
//! smooth, and
//!
//! ```text
//! e(φᵢ) × vᵢ = 0 ,     ∂vᵢ/∂φⱼ = h aᵢⱼ ∂v̇ⱼ/∂φⱼ
//! ```
//!
//! is solved by Newton's method between the sweeps; aᵢⱼ are the integrals of the collocation. At s = 0 its matrix is that of
//! the integrals, which has an inverse, so that slip also begins without a longest rate. A slip that vanishes along its
//! direction at the start of the step has ended where nothing of it is left across that direction.

use delassus_solve::linalg::{Matrix, dot, norm};

use super::Ending;
use super::equations::{ContactMode, Equations, JointMode, Mechanics, ModeError, Modes, Response};
use super::gauss_collocation::{GAUSS, POINTS};
use super::guards::Condition;
use super::integrate::{Cause, Run};
use super::linear_solve::solve_square;
use crate::lagrangian::{Row, System};

/// A slip that passes zero within this part of what it was passes through it.
const SAME_LINE: f64 = 1e-9;
/// Slips that turn by more than this in a step, rad, tell how long the next may be.
const TURN: f64 = 0.2;
/// By how much a slip may turn in a step, rad.
const MOST_TURN: f64 = 1.2;
/// The angle by which a direction is turned to see what that does, rad.
const DIFFERENCE: f64 = 1e-5;
/// Longest correction of an angle, rad.
const CORRECTION: f64 = 0.5;

/// What slides in space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Slider {
    Contact(usize),
    Joint(usize),
}

impl Slider {
    fn rows<'r>(&self, at: &'r Equations) -> &'r [Row] {
        match *self {
            Slider::Contact(i) => at.contacts[i].as_ref().map_or(&[], |c| &c.slip),
            Slider::Joint(j) => &at.joints[j].slip,
        }
    }

    fn direction<'m>(&self, modes: &'m mut Modes) -> Option<&'m mut [f64; 2]> {
        match *self {
            Slider::Contact(i) => match &mut modes.contacts[i] {
                ContactMode::Slide { direction } => Some(direction),
                _ => None,
            },
            Slider::Joint(j) => match &mut modes.joints[j] {
                JointMode::Slide { direction, .. } => Some(direction),
                _ => None,
            },
        }
    }
}

/// All that slides in space, with friction.
fn sliders(system: &System, modes: &Modes) -> Vec<Slider> {
    let mut list = vec![];
    for (i, mode) in modes.contacts.iter().enumerate() {
        let slides = matches!(mode, ContactMode::Slide { direction } if *direction != [0.0; 2]);
        list.extend((slides && system.contacts[i].slip.len() == 2).then_some(Slider::Contact(i)));
    }
    for (j, mode) in modes.joints.iter().enumerate() {
        let slides = matches!(mode, JointMode::Slide { .. });
        list.extend((slides && system.joints[j].slip.len() == 2).then_some(Slider::Joint(j)));
    }
    list
}

fn turned([x, y]: [f64; 2], angle: f64) -> [f64; 2] {
    let (s, c) = angle.sin_cos();
    [c * x - s * y, s * x + c * y]
}

/// The directions of all that slides in space at the points of a step, as unknowns.
pub(super) struct Turning {
    sliders: Vec<Slider>,
    modes: Modes,
    start: Vec<[f64; 2]>,
    /// Per point and slider.
    directions: Vec<Vec<[f64; 2]>>,
    slips: Vec<Vec<[f64; 2]>>,
    /// Per point, of slider c by the angle of slider d: rates of slip.
    effects: Vec<Vec<Vec<[f64; 2]>>>,
    sweep: usize,
}

impl Turning {
    /// `None` where nothing slides in space.
    pub(super) fn new(system: &System, modes: &Modes) -> Option<Turning> {
        let sliders = sliders(system, modes);
        if sliders.is_empty() {
            return None;
        }
        let mut modes = modes.clone();
        let start: Vec<[f64; 2]> =
            sliders.iter().map(|s| s.direction(&mut modes).map_or([0.0; 2], |e| *e)).collect();
        let count = sliders.len();
        Some(Turning {
            sliders,
            modes,
            directions: vec![start.clone(); POINTS],
            start,
            slips: vec![vec![[0.0; 2]; count]; POINTS],
            effects: vec![vec![vec![[0.0; 2]; count]; count]; POINTS],
            sweep: 0,
        })
    }

    /// Accelerations and forces with the directions of this point.
    pub(super) fn respond(
        &mut self,
        mechanics: &mut Mechanics<'_>,
        point: usize,
        at: &Equations,
    ) -> Result<Response, ModeError> {
        let no_slip = std::mem::replace(&mut mechanics.no_slip, f64::INFINITY);
        let response = self.respond_as_given(mechanics, point, at);
        mechanics.no_slip = no_slip;
        response
    }

    fn respond_as_given(
        &mut self,
        mechanics: &Mechanics<'_>,
        point: usize,
        at: &Equations,
    ) -> Result<Response, ModeError> {
        for (slider, e) in self.sliders.iter().zip(&self.directions[point]) {
            if let Some(direction) = slider.direction(&mut self.modes) {
                *direction = *e;
            }
        }
        let response = mechanics.respond(at, &self.modes)?;
        for (d, by) in self.sliders.iter().enumerate() {
            let e = self.directions[point][d];
            let Some(direction) = by.direction(&mut self.modes) else { continue };
            *direction = turned(e, DIFFERENCE);
            let other = mechanics.respond(at, &self.modes)?;
            if let Some(direction) = by.direction(&mut self.modes) {
                *direction = e;
            }
            let change: Vec<f64> = other
                .acceleration
                .iter()
                .zip(&response.acceleration)
                .map(|(a, b)| (a - b) / DIFFERENCE)
                .collect();
            for (c, slider) in self.sliders.iter().enumerate() {
                if let [a, b] = slider.rows(at) {
                    self.effects[point][c][d] = [dot(&a.gradient, &change), dot(&b.gradient, &change)];
                }
            }
        }
        for (c, slider) in self.sliders.iter().enumerate() {
            if let [a, b] = slider.rows(at) {
                self.slips[point][c] = [a.velocity, b.velocity];
            }
        }
        Ok(response)
    }

    /// After a sweep over a step of length h: Newton's step for all angles after every second one, since the motion has to
    /// follow the angles first. How much that changes velocities.
    pub(super) fn adjust(&mut self, h: f64) -> f64 {
        self.sweep += 1;
        if self.sweep % 2 == 1 {
            return f64::INFINITY;
        }
        let count = self.sliders.len();
        let cross = |a: [f64; 2], b: [f64; 2]| a[0] * b[1] - a[1] * b[0];
        let along = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
        let place = |k: usize| (k / count, k % count);
        let past = |i: usize, c: usize| along(self.start[c], self.slips[i][c]) <= 0.0;
        let size = POINTS * count;
        let matrix = Matrix::from_fn(size, size, |row, column| {
            let ((i, c), (j, d)) = (place(row), place(column));
            if past(i, c) {
                return f64::from(u8::from(row == column));
            }
            let e = self.directions[i][c];
            let own = if row == column { -along(e, self.slips[i][c]) } else { 0.0 };
            own + h * GAUSS.integrals[i][j] * cross(e, self.effects[j][c][d])
        });
        let rest: Vec<f64> = (0..size)
            .map(|row| {
                let (i, c) = place(row);
                // Beyond zero the direction is that at the start.
                if past(i, c) {
                    cross(self.directions[i][c], self.start[c])
                } else {
                    -cross(self.directions[i][c], self.slips[i][c])
                }
            })
            .collect();
        let Ok(solved) = solve_square(&matrix, &rest) else { return f64::INFINITY };
        let mut change = 0.0_f64;
        for (row, angle) in solved.x.iter().enumerate() {
            let (i, c) = place(row);
            self.directions[i][c] = turned(self.directions[i][c], angle.clamp(-CORRECTION, CORRECTION));
            let effect = self.effects[i].iter().map(|of| norm(&of[c])).fold(0.0, f64::max);
            change = change.max(angle.abs() * effect * h);
        }
        change
    }
}

impl Run<'_> {
    /// Gives what slides in space the direction that its slip has now; a slip that turns fast shortens the next step, since
    /// a step sees its slip along the direction at its start.
    pub(super) fn turn_directions(&mut self) -> Result<(), Ending> {
        let no_slip = self.no_slip();
        self.mechanics.no_slip = no_slip;
        let sliders = sliders(self.system, &self.modes);
        if sliders.is_empty() {
            return Ok(());
        }
        let wanted = |i: usize| sliders.contains(&Slider::Contact(i));
        let at = self.mechanics.equations((self.state.t, &self.state.q, &self.state.v), wanted)?;
        let mut angle = 0.0_f64;
        for slider in &sliders {
            let (Some(direction), [a, b]) = (slider.direction(&mut self.modes), slider.rows(&at)) else {
                continue;
            };
            let speed = a.velocity.hypot(b.velocity);
            if speed > no_slip {
                let now = [a.velocity / speed, b.velocity / speed];
                let cross = direction[0] * now[1] - direction[1] * now[0];
                let along = direction[0] * now[0] + direction[1] * now[1];
                angle = angle.max(cross.atan2(along).abs());
                *direction = now;
            }
        }
        if angle > TURN && self.contiguous {
            self.limit_next_step(MOST_TURN / angle);
        }
        Ok(())
    }

    /// Whether a slip in space that vanished along its direction at the start of the step is still there across it.
    pub(super) fn direction_turned(&mut self, theta: f64, cause: Cause) -> Result<bool, Ending> {
        let slider = match cause {
            Cause::Mode(Condition::Slip(i)) => Slider::Contact(i),
            Cause::Mode(Condition::JointSlip(j)) => Slider::Joint(j),
            _ => return Ok(false),
        };
        if !sliders(self.system, &self.modes).contains(&slider) {
            return Ok(false);
        }
        let mut speed = |theta: f64| -> Result<f64, Ending> {
            let mut y = vec![];
            self.dense.at(theta, &mut y);
            let (q, v) = y.split_at(y.len() / 2);
            let t = self.dense.start + theta * self.dense.length;
            let at = self.mechanics.equations((t, q, v), |i| slider == Slider::Contact(i))?;
            Ok(norm(&slider.rows(&at).iter().map(|r| r.velocity).collect::<Vec<_>>()))
        };
        let left = speed(theta)?;
        Ok(left > (SAME_LINE * speed(0.0)?).max(self.no_slip()))
    }
}
