//! Systems with closed forms, for the unit tests of this folder.

use super::equations::{ContactMode, JointMode, Modes};
use super::gauss_collocation::{Collocation, DenseStep, FLOOR, StepProblem};
use crate::formula::AnyFormula;
use crate::lagrangian::{Contact, Joint, Measure, State, System};

/// Gravity, m/s².
pub(super) const G: f64 = 9.81;

/// A formula of positions and velocities.
macro_rules! formula {
    ($at:ident => $value:expr) => {
        AnyFormula::derivatives_only(move |$at| $value)
    };
}

/// A block of mass 1 on an incline: x along it, downhill, y off it.
pub(super) fn block(angle: f64, mu: f64) -> System {
    let (s, c) = angle.sin_cos();
    let gap = Measure::Displacement(formula!(at => 1.0 * at.q[1]));
    let slip = Measure::Displacement(formula!(at => 1.0 * at.q[0]));
    let contact = Contact { slip: vec![slip], ..Contact::frictionless("plane", gap).with_friction(mu) };
    System {
        potential: Some(formula!(at => G * c * at.q[1] - G * s * at.q[0])),
        contacts: vec![contact],
        ..System::new("block", &["x", "y"], formula!(at => 0.5 * (at.v[0] * at.v[0] + at.v[1] * at.v[1])))
    }
}

/// A point of mass 1 on a horizontal plane in space, z up.
pub(super) fn point_on_plane(mu: f64) -> System {
    let gap = Measure::Displacement(formula!(at => 1.0 * at.q[2]));
    let slip = vec![
        Measure::Displacement(formula!(at => 1.0 * at.q[0])),
        Measure::Displacement(formula!(at => 1.0 * at.q[1])),
    ];
    System {
        potential: Some(formula!(at => G * at.q[2])),
        contacts: vec![Contact { slip, ..Contact::frictionless("plane", gap).with_friction(mu) }],
        ..System::new(
            "point",
            &["x", "y", "z"],
            formula!(at => 0.5 * (at.v[0] * at.v[0] + at.v[1] * at.v[1] + at.v[2] * at.v[2])),
        )
    }
}

/// A ball of mass 2 above a floor at y = 0.
pub(super) fn ball(restitution: f64) -> System {
    let gap = Measure::Displacement(formula!(at => 1.0 * at.q[0]));
    System {
        potential: Some(formula!(at => 2.0 * G * at.q[0])),
        contacts: vec![Contact { restitution, ..Contact::frictionless("floor", gap) }],
        ..System::new("ball", &["y"], formula!(at => at.v[0] * at.v[0]))
    }
}

/// A point of mass 1 on the unit circle, without gravity.
pub(super) fn point_on_circle() -> System {
    let value = Measure::Displacement(formula!(at => at.q[0] * at.q[0] + at.q[1] * at.q[1] - 1.0));
    System {
        joints: vec![Joint::frictionless("circle", value)],
        ..System::new("pendulum", &["x", "y"], formula!(at => 0.5 * (at.v[0] * at.v[0] + at.v[1] * at.v[1])))
    }
}

pub(super) fn state(q: &[f64], v: &[f64]) -> State {
    State { t: 0.0, q: q.to_vec(), v: v.to_vec() }
}

/// One contact in this mode, no joints.
pub(super) fn one_contact(mode: ContactMode) -> Modes {
    Modes { contacts: vec![mode], joints: vec![] }
}

/// One joint without friction, no contacts.
pub(super) fn one_joint() -> Modes {
    Modes { contacts: vec![], joints: vec![JointMode::Smooth] }
}

pub(super) const SLIDE_DOWN: ContactMode = ContactMode::Slide { direction: [1.0, 0.0] };
pub(super) const SLIDE_UP: ContactMode = ContactMode::Slide { direction: [-1.0, 0.0] };

/// The step of length h in which y = (q, v) ∈ ℝ² falls freely from (q, v).
pub(super) fn free_fall(q: f64, v: f64, h: f64) -> DenseStep {
    let mut step = DenseStep::default();
    let problem =
        StepProblem { t: 0.0, h, y0: &[q, v], scale: &[1.0; 2], tolerance: f64::INFINITY, rounding: FLOOR };
    let fall = |_: usize, _: f64, y: &[f64], dy: &mut [f64]| {
        (dy[0], dy[1]) = (y[1], -G);
        Ok::<(), ()>(())
    };
    let outcome = Collocation::default().step(&problem, None, &mut step, || None, fall);
    assert!(outcome.is_ok());
    step
}
