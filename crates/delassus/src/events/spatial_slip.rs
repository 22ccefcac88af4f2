//! Slip in space: its direction follows the velocity, and where slip is slow it does so at once.
//!
//! ```text
//! s φ̇ = f sin(α − φ) ,   ṡ = f cos(α − φ) − r          s the speed of slip, φ its angle
//! ```
//!
//! (a point with the force f at the angle α and the friction r.) As s → 0 the angle becomes fast, 1/s, and
//! sweeps over a step do not contract. The angles at the points of a step are then unknowns of their own:
//! with them given the motion is smooth, and
//!
//! ```text
//! e(φᵢ) × vᵢ = 0 ,     ∂vᵢ/∂φⱼ = h aᵢⱼ ∂v̇ⱼ/∂φⱼ
//! ```
//!
//! is solved by Newton's method between the sweeps; aᵢⱼ are the integrals of the collocation. At s = 0 its
//! matrix is that of the integrals, which has an inverse, so that slip also begins without a longest rate. A
//! slip that vanishes along its direction at the start of the step has ended where nothing of it is left
//! across that direction.

use delassus_solve::linalg::{Matrix, dot, norm};

use super::equations::{ContactMode, Equations, JointMode, Mechanics, ModeError, Modes, Response};
use super::gauss_collocation::{DenseStep, GAUSS, POINTS};
use super::guards::{Cause, FirstEvent, Guard};
use super::linear_solve::solve_square;
use crate::lagrangian::{Row, State, System};

/// A slip that passes zero within this part of what it was passes through it.
const SAME_LINE: f64 = 1e-9;
/// Slips that rotate by more than this in a step limit the length of the next, rad.
const SLOW_ROTATION: f64 = 0.2;
/// The most that a slip may rotate in a step, rad.
const MAX_ROTATION: f64 = 1.2;
/// The angle of the difference quotient by which directions act on accelerations, rad.
const DIFFERENCE: f64 = 1e-5;
/// Largest correction of an angle, rad.
const MAX_CORRECTION: f64 = 0.5;

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

fn rotated([x, y]: [f64; 2], angle: f64) -> [f64; 2] {
    let (s, c) = angle.sin_cos();
    [c * x - s * y, s * x + c * y]
}

fn cross(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

fn along(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

/// The directions of all that slides in space at the points of a step, as unknowns.
pub(super) struct SlipDirections {
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

impl SlipDirections {
    /// `None` where nothing slides in space.
    pub(super) fn new(system: &System, modes: &Modes) -> Option<SlipDirections> {
        let sliders = sliders(system, modes);
        if sliders.is_empty() {
            return None;
        }
        let mut modes = modes.clone();
        let start: Vec<[f64; 2]> =
            sliders.iter().map(|s| s.direction(&mut modes).map_or([0.0; 2], |e| *e)).collect();
        let count = sliders.len();
        Some(SlipDirections {
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
        let zero_slip = mechanics.set_zero_slip(f64::INFINITY);
        let response = self.respond_as_given(mechanics, point, at);
        mechanics.set_zero_slip(zero_slip);
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
            *direction = rotated(e, DIFFERENCE);
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

    /// After a sweep over a step of length h: Newton's step for all angles after every second one, since the
    /// motion has to follow the angles first. How much that changes velocities.
    pub(super) fn adjust(&mut self, h: f64) -> f64 {
        self.sweep += 1;
        if self.sweep % 2 == 1 {
            return f64::INFINITY;
        }
        let count = self.sliders.len();
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
            self.directions[i][c] =
                rotated(self.directions[i][c], angle.clamp(-MAX_CORRECTION, MAX_CORRECTION));
            let effect = self.effects[i].iter().map(|of| norm(&of[c])).fold(0.0, f64::max);
            change = change.max(angle.abs() * effect * h);
        }
        change
    }
}

/// Gives what slides in space the direction that its slip has now; returns the largest angle by which one
/// rotated, rad.
pub(super) fn update_slip_directions(
    mechanics: &mut Mechanics<'_>,
    state: &State,
    modes: &mut Modes,
    zero_slip: f64,
) -> Result<f64, ModeError> {
    let sliders = sliders(mechanics.system(), modes);
    let mut angle = 0.0_f64;
    if sliders.is_empty() {
        return Ok(angle);
    }
    let slides = |i: usize| sliders.contains(&Slider::Contact(i));
    let at = mechanics.equations((state.t, &state.q, &state.v), slides)?;
    for slider in &sliders {
        let (Some(direction), [a, b]) = (slider.direction(modes), slider.rows(&at)) else {
            continue;
        };
        let speed = a.velocity.hypot(b.velocity);
        if speed > zero_slip {
            let now = [a.velocity / speed, b.velocity / speed];
            angle = angle.max(cross(*direction, now).atan2(along(*direction, now)).abs());
            *direction = now;
        }
    }
    Ok(angle)
}

/// How much longer than the last step the next may be where slips rotated by this angle in it, since a step
/// sees its slip along the direction at its start; `None` where rotations are slow.
pub(super) fn growth_limit(angle: f64) -> Option<f64> {
    (angle > SLOW_ROTATION).then_some(MAX_ROTATION / angle)
}

/// Whether a slip in space that vanished along its direction at the start of the step is still there across
/// it.
pub(super) fn slip_remains(
    mechanics: &mut Mechanics<'_>,
    modes: &Modes,
    step: &DenseStep,
    event: FirstEvent,
    zero_slip: f64,
) -> Result<bool, ModeError> {
    let slider = match event.cause {
        Cause::Guard(Guard::Slip(i)) => Slider::Contact(i),
        Cause::Guard(Guard::JointSlip(j)) => Slider::Joint(j),
        _ => return Ok(false),
    };
    if !sliders(mechanics.system(), modes).contains(&slider) {
        return Ok(false);
    }
    let mut speed = |theta: f64| -> Result<f64, ModeError> {
        let mut y = vec![];
        step.at(theta, &mut y);
        let (q, v) = y.split_at(y.len() / 2);
        let at = mechanics.equations((step.time(theta), q, v), |i| slider == Slider::Contact(i))?;
        Ok(norm(&slider.rows(&at).iter().map(|r| r.velocity).collect::<Vec<_>>()))
    };
    let left = speed(event.theta)?;
    Ok(left > (SAME_LINE * speed(0.0)?).max(zero_slip))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::fixtures::{one_contact, point_on_plane, state};

    /// A slip (3, 4) has the direction (0.6, 0.8), and has rotated by atan 4/3 from the first axis; one that
    /// is rounding keeps its direction.
    #[test]
    fn directions_follow_the_slip() {
        let system = point_on_plane(0.5);
        for (scale, expected, angle) in [(1.0, [0.6, 0.8], (4.0_f64 / 3.0).atan()), (1e-14, [1.0, 0.0], 0.0)]
        {
            let at = state(&[0.0; 3], &[3.0 * scale, 4.0 * scale, 0.0]);
            let mut mechanics = Mechanics::new(&system, &at).unwrap();
            let mut modes = one_contact(ContactMode::Slide { direction: [1.0, 0.0] });
            let found = update_slip_directions(&mut mechanics, &at, &mut modes, 1e-12).unwrap();
            assert!((found - angle).abs() < 1e-15);
            assert_eq!(modes.contacts[0], ContactMode::Slide { direction: expected });
        }
        // What sticks has no direction.
        let at = state(&[0.0; 3], &[3.0, 4.0, 0.0]);
        let mut mechanics = Mechanics::new(&system, &at).unwrap();
        let mut modes = one_contact(ContactMode::Stick);
        assert_eq!(update_slip_directions(&mut mechanics, &at, &mut modes, 1e-12), Ok(0.0));
        assert!(SlipDirections::new(&system, &modes).is_none());
    }

    #[test]
    fn only_fast_rotations_limit_the_next_step() {
        assert_eq!(growth_limit(0.5 * SLOW_ROTATION), None);
        assert_eq!(growth_limit(0.6), Some(MAX_ROTATION / 0.6));
    }

    #[test]
    fn rotations() {
        let e = rotated([0.6, 0.8], 0.25);
        assert!((along([0.6, 0.8], e) - 0.25_f64.cos()).abs() < 1e-15);
        assert!((cross([0.6, 0.8], e) - 0.25_f64.sin()).abs() < 1e-15);
    }

    /// A slip along (1, 0) that crosses zero at a distance is still there; one that ends on its line is not.
    /// The steps are those of constant velocities and of uniform braking.
    #[test]
    fn a_slip_that_passes_zero_at_a_distance_remains() {
        use crate::events::gauss_collocation::{Collocation, FLOOR, StepProblem};
        let system = point_on_plane(0.5);
        let modes = one_contact(ContactMode::Slide { direction: [1.0, 0.0] });
        for (across, remains) in [(0.5, true), (0.0, false)] {
            let start = state(&[0.0; 3], &[1.0, across, 0.0]);
            let mut mechanics = Mechanics::new(&system, &start).unwrap();
            let y0: Vec<f64> = start.q.iter().chain(&start.v).copied().collect();
            let mut step = DenseStep::default();
            let problem = StepProblem {
                t: 0.0,
                h: 1.0,
                y0: &y0,
                scale: &[1.0; 6],
                tolerance: f64::INFINITY,
                rounding: FLOOR,
            };
            let brake = |_: usize, _: f64, y: &[f64], dy: &mut [f64]| {
                dy[..3].copy_from_slice(&y[3..]);
                dy[3..].copy_from_slice(&[-2.0, 0.0, 0.0]);
                Ok::<(), ()>(())
            };
            assert!(Collocation::default().step(&problem, None, &mut step, || None, brake).is_ok());
            let event = FirstEvent { theta: 0.5, cause: Cause::Guard(Guard::Slip(0)) };
            assert_eq!(slip_remains(&mut mechanics, &modes, &step, event, 1e-12), Ok(remains));
            let other = FirstEvent { theta: 0.5, cause: Cause::Guard(Guard::NormalForce(0)) };
            assert_eq!(slip_remains(&mut mechanics, &modes, &step, other, 1e-12), Ok(false));
        }
    }
}
