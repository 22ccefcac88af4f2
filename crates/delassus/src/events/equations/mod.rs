//! The equations of motion in fixed modes.
//!
//! ```text
//! M q̈ + F = C x ,     R q̈ + γ = 0      ⇒      (R M⁻¹ C) x = R M⁻¹ F − γ ,     q̈ = M⁻¹(C x − F)
//! ```
//!
//! M (n × n) is the mass matrix, F ∈ ℝⁿ all given forces, x ∈ ℝᵏ the unknown forces, C (n × k) their
//! directions, R (k × n) the rows of the active constraints and γ ∈ ℝᵏ their bias. For a joint and for a
//! contact that sticks, C = Rᵀ. A contact that slides constrains its normal and pushes along ∇h_n − μ ∇h_t e,
//! e the direction of its slip (002 §4; 000 §2, 3). Where rows depend on each other, x is the shortest of all
//! solutions; all of them give the same accelerations (002 Lemma 5.1).

mod active_rows;

use std::sync::Arc;

use delassus_solve::linalg::{Matrix, axpy, dot, max_abs};

pub(super) use active_rows::ActiveRows;

use super::linear_solve::{MassFactor, Unsolvable, solve_dependent, solve_square};
use crate::formula::{HyperDual, Point};
use crate::lagrangian::{
    ContactKinematics, Evaluator, FormulaId, JointKinematics, KinematicsError, Measure, Row, State, System,
};

/// Gradients up to this part of the largest that they had are zero.
const LOST_HOLD: f64 = 1e-12;

/// States around the start at which gradients of joints are measured.
const GRADIENT_SAMPLES: usize = 4;

/// What a contact does between two events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ContactMode {
    /// No force.
    Open,
    /// Touching; it slides, or there is no friction. The direction of slip is the one at the start of the
    /// step.
    Slide {
        /// Unit vector along the tangents; (0, 0) without friction.
        direction: [f64; 2],
    },
    /// Touching without slip.
    Stick,
}

impl ContactMode {
    /// Whether the contact touches and may push.
    pub fn is_closed(&self) -> bool {
        *self != ContactMode::Open
    }
}

/// What a joint does between two events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum JointMode {
    /// No friction.
    Smooth,
    /// It slides; the sign of its normal force.
    Slide { direction: [f64; 2], sign: f64 },
    /// No slip.
    Stick,
}

/// What everything does.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Modes {
    pub(super) contacts: Vec<ContactMode>,
    pub(super) joints: Vec<JointMode>,
}

/// Masses, forces and rows at a state.
#[derive(Clone, Debug)]
pub(super) struct Equations {
    pub(super) mass: Arc<Matrix>,
    pub(super) force: Vec<f64>,
    /// Sums of the sizes of the terms that make up each force: what its rounding is measured by.
    pub(super) force_size: Vec<f64>,
    /// `None` for contacts that were not asked for.
    pub(super) contacts: Vec<Option<Box<ContactKinematics>>>,
    pub(super) joints: Vec<JointKinematics>,
    /// Per joint, the largest entry that its gradient had so far.
    gradient_sizes: Vec<f64>,
}

impl Equations {
    /// The size of a joint's gradient as a part of the largest that it had so far: one that goes to zero
    /// loses its hold as rows do that become dependent.
    pub(super) fn hold(&self, joint: usize) -> f64 {
        let largest = self.gradient_sizes[joint];
        if largest > 0.0 { max_abs(&self.joints[joint].row.gradient) / largest } else { 1.0 }
    }

    /// Whether a joint holds nothing here: its gradient is rounding.
    pub(super) fn is_lost(&self, joint: usize) -> bool {
        self.hold(joint) <= LOST_HOLD
    }

    /// The normal velocity of a contact; 0 for one that was not asked for.
    pub(super) fn normal_velocity(&self, contact: usize) -> f64 {
        self.contacts[contact].as_ref().map_or(0.0, |c| c.normal.velocity)
    }
}

/// Accelerations and forces at a state, in given modes.
#[derive(Clone, Debug, Default)]
pub(super) struct Response {
    pub(super) acceleration: Vec<f64>,
    /// Normal and tangents of every contact.
    pub(super) contacts: Vec<[f64; 3]>,
    /// Force and friction of every joint.
    pub(super) joints: Vec<[f64; 3]>,
    /// Of the scaled R M⁻¹ C.
    pub(super) determinant: f64,
    /// Its last pivot as a part of the largest, or the square of the least hold; 0 where it was not found.
    pub(super) weakest: f64,
    /// Where forces are not unique, the largest common reserve that they can have.
    pub(super) margin: Option<f64>,
    /// Where forces are not unique, how many rows depend on others.
    pub(super) dependent: Option<Dependent>,
}

/// Why a state has no response in given modes.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModeError {
    /// A formula has no meaning there.
    #[error(transparent)]
    Kinematics(#[from] KinematicsError),
    /// The mass matrix has no inverse.
    #[error("the mass matrix is singular, so that the motion is not determined")]
    SingularMass,
    /// The constraints contradict each other, or friction has reached the point where no force holds them.
    #[error("no forces hold the constraints that are active")]
    Inconsistent,
}

impl From<Unsolvable> for ModeError {
    fn from(error: Unsolvable) -> Self {
        match error {
            Unsolvable::SingularMass => ModeError::SingularMass,
            Unsolvable::Inconsistent => ModeError::Inconsistent,
        }
    }
}

/// A system as the integrator evaluates it.
pub(super) struct Mechanics<'a> {
    system: &'a System,
    /// M where it never changes.
    constant: Option<(Arc<Matrix>, MassFactor)>,
    /// The point at which formulas were evaluated last.
    state: State,
    /// Slips in space up to this have the direction of their mode: their own is rounding.
    zero_slip: f64,
    /// The largest entry that the gradient of each joint had so far.
    gradient_sizes: Vec<f64>,
    /// Rows that depend on others along the present motion; `None` where the state is on its constraints and
    /// shows them.
    dependent: Option<Dependent>,
}

/// Which rows depend on others. A motion is off its constraints by its error, and there rows that depend on
/// each other contradict each other by as much; the dependent ones are left out, since the others imply them
/// (002 Lemma 5.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Dependent {
    /// All rows.
    pub(super) rows: usize,
    /// Pivots of those that do not depend on others.
    pub(super) pivots: Vec<[usize; 2]>,
    /// Whether C = Rᵀ: nothing slides with friction.
    pub(super) symmetric: bool,
}

impl<'a> Mechanics<'a> {
    /// The system; where its mass is constant it is evaluated at this state.
    pub(super) fn new(system: &'a System, state: &State) -> Result<Self, ModeError> {
        let fixed = system.kinetic.variables().is_some_and(|v| v.positions.is_empty() && !v.time);
        let constant = if fixed {
            let mass = Evaluator::new(system, state).kinetic_terms()?.0;
            let factor = MassFactor::new(&mass)?;
            Some((Arc::new(mass), factor))
        } else {
            None
        };
        Ok(Mechanics {
            system,
            constant,
            state: state.clone(),
            zero_slip: 0.0,
            gradient_sizes: vec![],
            dependent: None,
        })
    }

    pub(super) fn system(&self) -> &'a System {
        self.system
    }

    /// Learns how large the gradients of joints are around a state, which may be one at which they vanish.
    pub(super) fn measure_gradients(&mut self, state: &State) {
        if self.system.joints.is_empty() {
            return;
        }
        for sample in 1..=GRADIENT_SAMPLES {
            // The golden ratio spreads the coordinates; formulas that have no value there are left out.
            let turn = |i: usize| ((i + 1) as f64 * 0.618_033_988_749_895 * sample as f64).fract() - 0.5;
            let q: Vec<f64> = state.q.iter().enumerate().map(|(i, q)| q + turn(i)).collect();
            let _ = self.equations((state.t, &q, &vec![0.0; q.len()]), |_| false);
        }
    }

    /// Slips in space up to this have the direction of their mode; returns the bound before.
    pub(super) fn set_zero_slip(&mut self, zero_slip: f64) -> f64 {
        std::mem::replace(&mut self.zero_slip, zero_slip)
    }

    /// The rows that depend on others along the present motion.
    pub(super) fn dependent_rows(&self) -> Option<&Dependent> {
        self.dependent.as_ref()
    }

    /// Finds the rows that depend on others at this state, for the motion from there on.
    pub(super) fn find_dependent_rows(&mut self, state: &State, modes: &Modes) -> Result<(), ModeError> {
        let closed = |i: usize| modes.contacts[i].is_closed();
        let at = self.equations((state.t, &state.q, &state.v), closed)?;
        self.dependent = self.respond(&at, modes)?.dependent;
        Ok(())
    }

    /// All rows count from here on.
    pub(super) fn forget_dependent_rows(&mut self) {
        self.dependent = None;
    }

    /// The constraints that are active in these modes.
    pub(super) fn active_rows<'e>(&self, at: &'e Equations, modes: &Modes) -> ActiveRows<'e> {
        ActiveRows::new(at, modes, self.zero_slip, |_| true)
    }

    /// Whether masses never change.
    pub(super) fn has_constant_mass(&self) -> bool {
        self.constant.is_some()
    }

    /// n.
    pub(super) fn coordinates(&self) -> usize {
        self.system.coordinates.len()
    }

    fn set(&mut self, t: f64, q: &[f64], v: &[f64]) {
        self.state.t = t;
        self.state.q.clear();
        self.state.q.extend_from_slice(q);
        self.state.v.clear();
        self.state.v.extend_from_slice(v);
    }

    /// Masses, forces, joints, and the contacts for which `selected` is true.
    pub(super) fn equations(
        &mut self,
        (t, q, v): (f64, &[f64], &[f64]),
        selected: impl Fn(usize) -> bool,
    ) -> Result<Equations, KinematicsError> {
        let system = self.system;
        if let Some((mass, _)) = &self.constant
            && system.potential.is_none()
            && system.forces.is_empty()
            && system.joints.is_empty()
            && !(0..system.contacts.len()).any(&selected)
        {
            let contacts = vec![None; system.contacts.len()];
            return Ok(Equations {
                mass: Arc::clone(mass),
                force: vec![0.0; q.len()],
                force_size: vec![0.0; q.len()],
                contacts,
                joints: vec![],
                gradient_sizes: vec![],
            });
        }
        self.set(t, q, v);
        let mut at = Evaluator::new(system, &self.state);
        let (mass, mut force) = match &self.constant {
            Some((mass, _)) => (Arc::clone(mass), vec![0.0; q.len()]),
            None => {
                let (mass, force) = at.kinetic_terms()?;
                (Arc::new(mass), force)
            }
        };
        let mut force_size: Vec<f64> = force.iter().map(|f| f.abs()).collect();
        if let Some(potential) = &system.potential {
            let pull = at.gradient(potential, FormulaId::Potential)?;
            axpy(1.0, &pull, &mut force);
            force_size.iter_mut().zip(&pull).for_each(|(size, f)| *size += f.abs());
        }
        for (i, applied) in system.forces.iter().enumerate() {
            let value = at.value(&applied.value, FormulaId::Force(i))?;
            if let Some(f) = force.get_mut(applied.coordinate) {
                *f -= value;
                force_size[applied.coordinate] += value.abs();
            }
        }
        let contact = |i: usize| selected(i).then(|| at.contact(i).map(Box::new)).transpose();
        let contacts = (0..system.contacts.len()).map(contact).collect::<Result<Vec<_>, _>>()?;
        let joints = (0..system.joints.len()).map(|i| at.joint(i)).collect::<Result<Vec<_>, _>>()?;
        self.gradient_sizes.resize(joints.len(), 0.0);
        for (joint, largest) in joints.iter().zip(&mut self.gradient_sizes) {
            *largest = largest.max(max_abs(&joint.row.gradient));
        }
        let gradient_sizes = self.gradient_sizes.clone();
        Ok(Equations { mass, force, force_size, contacts, joints, gradient_sizes })
    }

    /// M⁻¹ B.
    pub(super) fn inverse_mass_times(&self, mass: &Matrix, mut b: Matrix) -> Result<Matrix, ModeError> {
        match &self.constant {
            Some((_, factor)) => factor.solve(&mut b),
            None => MassFactor::new(mass)?.solve(&mut b),
        }
        Ok(b)
    }

    /// L of M.
    pub(super) fn mass_factor(&self, mass: &Matrix) -> Result<MassFactor, ModeError> {
        match &self.constant {
            Some((_, factor)) => Ok(factor.clone()),
            None => Ok(MassFactor::new(mass)?),
        }
    }

    /// Accelerations and forces in these modes.
    pub(super) fn respond(&self, at: &Equations, modes: &Modes) -> Result<Response, ModeError> {
        let n = self.coordinates();
        let active = ActiveRows::new(at, modes, self.zero_slip, |joint| !at.is_lost(joint));
        let k = active.owners.len();
        if k == 0 && at.force.iter().all(|f| *f == 0.0) {
            return Ok(Response {
                acceleration: vec![0.0; n],
                contacts: vec![[0.0; 3]; at.contacts.len()],
                joints: vec![[0.0; 3]; at.joints.len()],
                determinant: 1.0,
                weakest: 1.0,
                ..Response::default()
            });
        }
        let rhs = Matrix::from_fn(n, k + 1, |i, j| if j < k { active.columns[j][i] } else { -at.force[i] });
        let inverse = self.inverse_mass_times(&at.mass, rhs)?;
        let mut acceleration = inverse.col(k);
        let mut response = Response {
            contacts: vec![[0.0; 3]; at.contacts.len()],
            joints: vec![[0.0; 3]; at.joints.len()],
            determinant: 1.0,
            weakest: 1.0,
            ..Response::default()
        };
        if k > 0 {
            let a = times(&active.rows, &inverse, k);
            let b: Vec<f64> = active.rows.iter().map(|r| -dot(&r.gradient, &acceleration) - r.bias).collect();
            let solved = match self.dependent.as_ref().filter(|d| d.rows == k) {
                Some(dependent) => solve_dependent(&a, &b, &dependent.pivots)?,
                None => solve_square(&a, &b)?,
            };
            for (l, x) in acceleration.iter_mut().enumerate() {
                *x += dot(&inverse.row(l)[..k], &solved.x);
            }
            let symmetric = active.friction.iter().all(|f| *f == [0.0; 2]);
            response.determinant = solved.determinant;
            let hold = (0..at.joints.len()).map(|joint| at.hold(joint)).fold(1.0, f64::min);
            response.weakest = solved.weakest.min(hold * hold);
            active.spread(&solved.x, &mut response);
            if let Some(null) = &solved.null {
                response.margin = Some(active.margin(at, modes, &solved.x, null));
                response.dependent = Some(Dependent { rows: k, pivots: solved.pivots, symmetric });
            }
        }
        response.acceleration = acceleration;
        Ok(response)
    }

    /// Contacts whose gap is no larger than this, and those given by a velocity.
    pub(super) fn near(&self, state: &State, gap: f64) -> Vec<bool> {
        let point = Point { q: &state.q, v: &state.v, t: state.t };
        let near = |measure: &Measure| match measure {
            Measure::Displacement(h) => h.value(&point).abs() <= gap,
            Measure::Velocity(_) => true,
        };
        self.system.contacts.iter().map(|contact| near(&contact.normal)).collect()
    }

    /// h and ḣ of a contact's gap.
    pub(super) fn gap(&self, contact: usize, at: &Moving) -> (f64, f64) {
        match &self.system.contacts[contact].normal {
            Measure::Displacement(h) => {
                let x = h.hyper(&Point { q: &at.q, v: &at.v, t: at.t });
                (x.value, x.d1)
            }
            Measure::Velocity(_) => (f64::INFINITY, 0.0),
        }
    }
}

/// A state as a point that moves, for rates of gaps.
#[derive(Default)]
pub(super) struct Moving {
    q: Vec<HyperDual>,
    v: Vec<HyperDual>,
    t: HyperDual,
}

impl Moving {
    pub(super) fn set(&mut self, t: f64, q: &[f64], v: &[f64]) {
        self.t = HyperDual::variable(t, 1.0, 0.0);
        self.q.clear();
        self.q.extend(q.iter().zip(v).map(|(&q, &v)| HyperDual::variable(q, v, 0.0)));
        self.v.clear();
        self.v.extend(v.iter().map(|&v| HyperDual::constant(v)));
    }
}

/// R B for the first k columns of B; rows have few entries.
pub(super) fn times(rows: &[&Row], b: &Matrix, k: usize) -> Matrix {
    let mut product = Matrix::zeros(rows.len(), k);
    for (i, row) in rows.iter().enumerate() {
        for (l, g) in row.gradient.iter().enumerate().filter(|(_, g)| **g != 0.0) {
            axpy(*g, &b.row(l)[..k], product.row_mut(i));
        }
    }
    product
}

impl Response {
    /// The sign of the determinant.
    pub(super) fn determinant_sign(&self) -> f64 {
        self.determinant.signum()
    }

    /// Whether forces are not unique.
    pub(super) fn is_redundant(&self) -> bool {
        self.margin.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::fixtures::{
        G, SLIDE_DOWN, SLIDE_UP, block, one_contact, one_joint, point_on_circle, state,
    };

    /// A block slides with g (sin α ∓ μ cos α), sticks with friction −g sin α, and falls freely where its
    /// contact is open.
    #[test]
    fn a_block_on_an_incline() {
        let (system, at_rest) = (block(0.6, 0.25), state(&[0.0; 2], &[0.0; 2]));
        let (s, c) = 0.6_f64.sin_cos();
        let mut mechanics = Mechanics::new(&system, &at_rest).unwrap();
        for (mode, acceleration, force) in [
            (SLIDE_DOWN, [G * (s - 0.25 * c), 0.0], [G * c, -0.25 * G * c, 0.0]),
            (SLIDE_UP, [G * (s + 0.25 * c), 0.0], [G * c, 0.25 * G * c, 0.0]),
            (ContactMode::Stick, [0.0, 0.0], [G * c, -G * s, 0.0]),
            (ContactMode::Open, [G * s, -G * c], [0.0; 3]),
        ] {
            let at = mechanics.equations((0.0, &at_rest.q, &at_rest.v), |_| true).unwrap();
            let found = mechanics.respond(&at, &one_contact(mode)).unwrap();
            let near = |x: &[f64], y: &[f64]| x.iter().zip(y).all(|(x, y)| (x - y).abs() < 1e-14);
            assert!(near(&found.acceleration, &acceleration), "{mode:?}: {:?}", found.acceleration);
            assert!(near(&found.contacts[0], &force), "{mode:?}: {:?}", found.contacts);
            assert!(!found.is_redundant());
        }
    }

    /// On the unit circle at speed 2 the acceleration is −4 along the radius.
    #[test]
    fn centripetal_acceleration() {
        let (system, at) = (point_on_circle(), state(&[1.0, 0.0], &[0.0, 2.0]));
        let mut mechanics = Mechanics::new(&system, &at).unwrap();
        let equations = mechanics.equations((0.0, &at.q, &at.v), |_| true).unwrap();
        let found = mechanics.respond(&equations, &one_joint()).unwrap();
        assert!((found.acceleration[0] + 4.0).abs() < 1e-15 && found.acceleration[1].abs() < 1e-15);
        // The gradient of x² + y² − 1 is (2, 0).
        assert!((found.joints[0][0] + 2.0).abs() < 1e-15);
    }
}
