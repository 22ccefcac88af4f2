//! Everything about a system at one state that the contact problem needs.
//!
//! ```text
//! M q̈ + F = Jᵀ λ ,     u = J q̇ + b ,     u̇ = J q̈ + γ
//!
//! M = ∂²T/∂q̇∂q̇ (n × n)          F = D(∂T/∂q̇) − ∂T/∂q + ∂V/∂q − Q (n)
//! h(q, t):            J = ∂h/∂q ,   u = D h ,              γ = D² h
//! a(q, t)ᵀq̇ + b(q, t): J = aᵀ ,      u = the velocity itself ,  γ = D u
//! ```
//!
//! where D = q̇·∂/∂q + ∂/∂t is the rate at q̈ = 0, so that terms linear in q̇ and explicit time dependence
//! are all in it (000 eq. 1–3; 001 §2). Derivatives are exact: each is one part of a formula evaluated over
//! [`HyperDual`] numbers.

use delassus_solve::linalg::{Matrix, rank_tolerance};
use thiserror::Error;

use super::{FormulaId, FormulaName, Measure, State, System};
use crate::formula::{AnyFormula, ClosedRow, HyperDual, Point};

/// The most negative eigenvalue that rounding may give a mass matrix scaled to unit diagonal.
///
/// Entries come from formulas with a few hundred roundings at most (ε·100 ≈ 2e-14); a negative mass is of
/// order one after scaling. The value lies between, nearer to rounding.
const NEGATIVE_MASS: f64 = -1e-10;

/// How far, relative to its largest entry, the gradient of a velocity may differ between two velocities and
/// still count as constant: well above rounding, well below any nonlinear term that matters.
const LINEARITY: f64 = 1e-9;

/// A system at a state.
#[derive(Clone, Debug)]
pub struct Kinematics {
    /// Mass matrix M, n × n, symmetric.
    pub mass: Matrix,
    /// Rank of M; below n for a singular mass matrix.
    pub mass_rank: usize,
    /// F in M q̈ + F = Jᵀλ, n.
    pub force: Vec<f64>,
    /// T, J.
    pub kinetic_energy: f64,
    /// V, J; 0 where the system has none.
    pub potential_energy: f64,
    /// In the order of the system.
    pub contacts: Vec<ContactKinematics>,
    /// In the order of the system.
    pub joints: Vec<JointKinematics>,
}

/// One constrained direction: velocity u = J q̇ + b, acceleration u̇ = J q̈ + γ.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// J, n.
    pub gradient: Vec<f64>,
    /// u, with the part b that does not come from q̇.
    pub velocity: f64,
    /// γ.
    pub bias: f64,
}

/// A contact at a state.
#[derive(Clone, Debug)]
pub struct ContactKinematics {
    /// h(q, t); 0 where the contact is given by its velocity.
    pub gap: f64,
    /// The normal direction, positive apart.
    pub normal: Row,
    /// The tangential directions.
    pub slip: Vec<Row>,
    /// Friction coefficient while sticking.
    pub mu_static: f64,
    /// Friction coefficient while sliding.
    pub mu_kinetic: f64,
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Resistance to rolling.
    pub rolling: Option<RollingKinematics>,
}

/// Resistance to rolling of a contact at a state.
#[derive(Clone, Debug)]
pub struct RollingKinematics {
    /// The rotations about the two tangents.
    pub rows: [Row; 2],
    /// Coefficient of rolling friction, m.
    pub coefficient: f64,
}

/// A joint at a state.
#[derive(Clone, Debug)]
pub struct JointKinematics {
    /// h(q, t), zero at a consistent state; 0 where the joint is given by its velocity.
    pub value: f64,
    /// The constrained direction.
    pub row: Row,
    /// The tangential directions.
    pub slip: Vec<Row>,
    /// Friction coefficient.
    pub mu: f64,
}

/// Why a system cannot be evaluated at a state.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum KinematicsError {
    /// Positions or velocities of another number than coordinates.
    #[error(
        "the state has {positions} positions and {velocities} velocities, expected {coordinates} of each"
    )]
    StateSize {
        /// Number of coordinates.
        coordinates: usize,
        /// Number of positions given.
        positions: usize,
        /// Number of velocities given.
        velocities: usize,
    },
    /// A position, velocity or time is NaN or infinite.
    #[error("the state has {value} for {quantity}, expected a finite number")]
    StateNotFinite {
        /// Time, or the position or velocity of which coordinate.
        quantity: String,
        /// NaN or infinite.
        value: f64,
    },
    /// A force on a coordinate that the system does not have.
    #[error("force {force} is on coordinate number {coordinate}, expected a number below {coordinates}")]
    ForceCoordinate {
        /// Place in the list of forces.
        force: usize,
        /// The coordinate it names.
        coordinate: usize,
        /// Number of coordinates.
        coordinates: usize,
    },
    /// A formula has no finite value here.
    #[error("{formula} is {value} at this state, expected a finite number")]
    NotFinite {
        /// Which formula.
        formula: FormulaName,
        /// Its value.
        value: f64,
    },
    /// A formula has a value here but no finite derivatives.
    #[error("{formula} has no finite derivatives at this state")]
    NotDifferentiable {
        /// Which formula.
        formula: FormulaName,
    },
    /// A velocity that is not linear in q̇.
    #[error("{formula} is given by a velocity that is not linear in the velocities of the coordinates")]
    NotLinear {
        /// Which formula.
        formula: FormulaName,
    },
    /// A kinetic energy that is not a quadratic function of q̇.
    #[error("{formula} is not a quadratic function of the velocities")]
    NotQuadratic {
        /// Which formula.
        formula: FormulaName,
    },
    /// A displacement or potential that depends on velocities.
    #[error("{formula} depends on velocities, expected a formula of positions and time")]
    DependsOnVelocity {
        /// Which formula.
        formula: FormulaName,
    },
    /// A friction coefficient below zero.
    #[error("{formula} is {} at this state, expected a number that is not negative", brief(.value))]
    NegativeFriction {
        /// Which formula.
        formula: FormulaName,
        /// Its value.
        value: f64,
    },
    /// A coefficient of restitution outside [0, 1].
    #[error("{formula} is {value}, expected a number from 0 to 1")]
    Restitution {
        /// Which formula.
        formula: FormulaName,
        /// Its value.
        value: f64,
    },
    /// A contact or joint with more than two slips.
    #[error("{formula} is one too many, expected at most two slips")]
    TooManySlips {
        /// The third slip.
        formula: FormulaName,
    },
    /// A mass matrix that is not positive semidefinite.
    #[error("the mass matrix has the negative eigenvalue {eigenvalue:e}{}, expected positive masses",
        .coordinate.as_ref().map(|c| format!(" (and a negative entry for `{c}`)")).unwrap_or_default())]
    NegativeMass {
        /// The most negative eigenvalue.
        eigenvalue: f64,
        /// The coordinate with the most negative diagonal entry, if there is one.
        coordinate: Option<String>,
    },
}

/// A number as people write it; one that is almost zero with three digits.
fn brief(value: &f64) -> String {
    if value.abs() < 1e-4 { format!("{value:.2e}") } else { value.to_string() }
}

impl KinematicsError {
    /// The formula that is to blame, if one is.
    pub fn formula(&self) -> Option<FormulaId> {
        match self {
            KinematicsError::StateSize { .. }
            | KinematicsError::StateNotFinite { .. }
            | KinematicsError::ForceCoordinate { .. } => None,
            KinematicsError::NotFinite { formula, .. }
            | KinematicsError::NotDifferentiable { formula }
            | KinematicsError::NotLinear { formula }
            | KinematicsError::NotQuadratic { formula }
            | KinematicsError::DependsOnVelocity { formula }
            | KinematicsError::NegativeFriction { formula, .. }
            | KinematicsError::Restitution { formula, .. }
            | KinematicsError::TooManySlips { formula } => Some(formula.id),
            KinematicsError::NegativeMass { .. } => Some(FormulaId::Kinetic),
        }
    }
}

type Result<T> = std::result::Result<T, KinematicsError>;

/// Mass matrix, force, gradients and bias terms of a system at a state.
pub fn kinematics(system: &System, state: &State) -> Result<Kinematics> {
    check_state(system, state)?;
    let mut at = Evaluator::new(system, state);
    let (mass, mut force) = at.kinetic_terms()?;
    check_quadratic(system, state, &mass)?;
    let mass_rank = mass_rank(system, &mass)?;
    let kinetic_energy = at.value(&system.kinetic, FormulaId::Kinetic)?;
    let mut potential_energy = 0.0;
    if let Some(potential) = &system.potential {
        potential_energy = at.position_value(potential, FormulaId::Potential)?;
        for (f, g) in force.iter_mut().zip(at.gradient(potential, FormulaId::Potential)?) {
            *f += g;
        }
    }
    for (i, applied) in system.forces.iter().enumerate() {
        let value = at.value(&applied.value, FormulaId::Force(i))?;
        let (coordinate, coordinates) = (applied.coordinate, force.len());
        let f = force.get_mut(coordinate);
        *f.ok_or(KinematicsError::ForceCoordinate { force: i, coordinate, coordinates })? -= value;
    }
    let mut contacts = Vec::with_capacity(system.contacts.len());
    for (i, contact) in system.contacts.iter().enumerate() {
        if !(0.0..=1.0).contains(&contact.restitution) {
            let formula = FormulaName::of(system, FormulaId::ContactRestitution(i));
            return Err(KinematicsError::Restitution { formula, value: contact.restitution });
        }
        contacts.push(at.contact(i)?);
    }
    let joints = (0..system.joints.len()).map(|i| at.joint(i)).collect::<Result<Vec<_>>>()?;
    Ok(Kinematics { mass, mass_rank, force, kinetic_energy, potential_energy, contacts, joints })
}

/// How much of the largest entry of a gradient is what rounding leaves of zero: cos 90° is 6e-17.
pub(super) const RESIDUE: f64 = 1e-15;

/// A gradient without what rounding leaves in entries that are zero.
fn without_residue(mut gradient: Vec<f64>) -> Vec<f64> {
    let top = gradient.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    gradient.iter_mut().filter(|x| x.abs() <= RESIDUE * top).for_each(|x| *x = 0.0);
    gradient
}

pub(super) fn check_state(system: &System, state: &State) -> Result<()> {
    let n = system.coordinates.len();
    if state.q.len() != n || state.v.len() != n {
        let (positions, velocities) = (state.q.len(), state.v.len());
        return Err(KinematicsError::StateSize { coordinates: n, positions, velocities });
    }
    let named = |what: &str, x: &[f64]| {
        let i = x.iter().position(|x| !x.is_finite())?;
        Some((format!("the {what} of `{}`", system.coordinates[i]), x[i]))
    };
    let time = (!state.t.is_finite()).then(|| ("time".to_string(), state.t));
    match time.or_else(|| named("position", &state.q)).or_else(|| named("velocity", &state.v)) {
        Some((quantity, value)) => Err(KinematicsError::StateNotFinite { quantity, value }),
        None => Ok(()),
    }
}

/// An error unless the mass matrix is the same at velocities of no significance: the kinetic energy is
/// quadratic.
fn check_quadratic(system: &System, state: &State, mass: &Matrix) -> Result<()> {
    let v = (0..state.v.len()).map(|i| 1.0 + 0.618 * (i as f64 + 1.0).sin() - state.v[i]).collect();
    let probe = State { v, ..state.clone() };
    let Ok((other, _)) = Evaluator::new(system, &probe).kinetic_terms() else { return Ok(()) };
    let size = mass.max_abs().max(other.max_abs());
    // Second derivatives of a quadratic form are its coefficients, to the rounding of their terms.
    if mass.data().iter().zip(other.data()).all(|(a, b)| (a - b).abs() <= 1e-9 * size) {
        return Ok(());
    }
    Err(KinematicsError::NotQuadratic { formula: FormulaName::of(system, FormulaId::Kinetic) })
}

/// Rank of the mass matrix, or an error where it has a negative eigenvalue.
///
/// Both are decided on the matrix scaled to unit diagonal, so that they do not depend on units.
fn mass_rank(system: &System, mass: &Matrix) -> Result<usize> {
    let n = mass.rows();
    let scale: Vec<f64> =
        (0..n).map(|i| if mass[(i, i)] == 0.0 { 1.0 } else { mass[(i, i)].abs().sqrt().recip() }).collect();
    let scaled = Matrix::from_fn(n, n, |i, j| scale[i] * mass[(i, j)] * scale[j]);
    let eigenvalues = scaled.symmetric_eigenvalues();
    let largest = eigenvalues.iter().fold(0.0_f64, |m, e| m.max(e.abs()));
    if eigenvalues.first().is_some_and(|&e| e < NEGATIVE_MASS * largest) {
        let eigenvalue = mass.symmetric_eigenvalues().first().copied().unwrap_or(f64::NAN);
        let worst = (0..n).min_by(|&i, &j| mass[(i, i)].total_cmp(&mass[(j, j)]));
        let coordinate =
            worst.filter(|&i| mass[(i, i)] < 0.0).and_then(|i| system.coordinates.get(i)).cloned();
        return Err(KinematicsError::NegativeMass { eigenvalue, coordinate });
    }
    Ok(eigenvalues.iter().filter(|&&e| e > rank_tolerance(n, n) * largest).count())
}

/// Directions in which formulas are differentiated.
#[derive(Clone, Copy)]
enum Along {
    /// No direction.
    Nothing,
    /// One position.
    Position(usize),
    /// One velocity.
    Velocity(usize),
    /// The motion at zero acceleration: q moves by q̇, t by 1.
    Motion,
}

/// The formulas of a system at a state, and their derivatives.
pub struct Evaluator<'a> {
    system: &'a System,
    state: &'a State,
    /// Velocities at which formulas are tried besides the state's: zero, and one where no two agree.
    probes: [Vec<f64>; 2],
    q: Vec<HyperDual>,
    v: Vec<HyperDual>,
}

impl<'a> Evaluator<'a> {
    pub fn new(system: &'a System, state: &'a State) -> Self {
        let n = state.q.len();
        let size = state.v.iter().fold(1.0_f64, |m, v| m.max(v.abs()));
        let odd = (0..n).map(|i| state.v[i] + size * (1.0 + 0.618 * (i as f64 + 1.0).sqrt())).collect();
        let (q, v) = (vec![HyperDual::default(); n], vec![HyperDual::default(); n]);
        Evaluator { system, state, probes: [vec![0.0; n], odd], q, v }
    }

    fn name(&self, id: FormulaId) -> FormulaName {
        FormulaName::of(self.system, id)
    }

    /// The formula at the state with velocities v, and its derivatives along two directions.
    fn hyper(&mut self, formula: &AnyFormula, v: &[f64], one: Along, two: Along) -> HyperDual {
        let seed = |along: Along, position: Option<usize>, velocity: Option<usize>| match along {
            Along::Nothing => 0.0,
            Along::Position(i) => f64::from(position == Some(i)),
            Along::Velocity(i) => f64::from(velocity == Some(i)),
            Along::Motion => position.map_or(0.0, |i| v[i]),
        };
        for i in 0..v.len() {
            let (p, w) = (Some(i), Some(i));
            self.q[i] = HyperDual::variable(self.state.q[i], seed(one, p, None), seed(two, p, None));
            self.v[i] = HyperDual::variable(v[i], seed(one, None, w), seed(two, None, w));
        }
        let time = |along: Along| f64::from(matches!(along, Along::Motion));
        let t = HyperDual::variable(self.state.t, time(one), time(two));
        formula.hyper(&Point { q: &self.q, v: &self.v, t })
    }

    /// As `hyper` at the state itself, with all parts finite.
    fn at_state(&mut self, f: &AnyFormula, id: FormulaId, one: Along, two: Along) -> Result<HyperDual> {
        let state = self.state;
        let x = self.hyper(f, &state.v, one, two);
        if !x.value.is_finite() {
            return Err(KinematicsError::NotFinite { formula: self.name(id), value: x.value });
        }
        if !(x.d1.is_finite() && x.d2.is_finite() && x.d12.is_finite()) {
            return Err(KinematicsError::NotDifferentiable { formula: self.name(id) });
        }
        Ok(x)
    }

    pub fn value(&self, formula: &AnyFormula, id: FormulaId) -> Result<f64> {
        let State { t, q, v } = self.state;
        let value = formula.value(&Point { q, v, t: *t });
        if !value.is_finite() {
            return Err(KinematicsError::NotFinite { formula: self.name(id), value });
        }
        Ok(value)
    }

    /// The value of a formula that must not depend on velocities: bit for bit the same at any of them.
    fn position_value(&self, formula: &AnyFormula, id: FormulaId) -> Result<f64> {
        let value = self.value(formula, id)?;
        if formula.variables().is_some_and(|known| known.velocities.is_empty()) {
            return Ok(value);
        }
        for v in &self.probes {
            let other = formula.value(&Point { q: &self.state.q, v, t: self.state.t });
            if other.to_bits() != value.to_bits() {
                return Err(KinematicsError::DependsOnVelocity { formula: self.name(id) });
            }
        }
        Ok(value)
    }

    /// Derivatives in closed form, where the formula has them, all of them finite.
    fn closed(&self, formula: &AnyFormula, id: FormulaId) -> Result<Option<ClosedRow>> {
        let State { t, q, v } = self.state;
        let Some(row) = formula.row(&Point { q, v, t: *t }) else { return Ok(None) };
        if !row.value.is_finite() {
            return Err(KinematicsError::NotFinite { formula: self.name(id), value: row.value });
        }
        if !(row.velocity.is_finite() && row.bias.is_finite() && row.gradient.iter().all(|g| g.is_finite())) {
            return Err(KinematicsError::NotDifferentiable { formula: self.name(id) });
        }
        Ok(Some(row))
    }

    /// ∂f/∂q.
    pub fn gradient(&mut self, formula: &AnyFormula, id: FormulaId) -> Result<Vec<f64>> {
        let n = self.q.len();
        if let Some(row) = self.closed(formula, id)? {
            return Ok(row.gradient);
        }
        let mut gradient = vec![0.0; n];
        match formula.variables() {
            Some(known) => {
                for &i in known.positions.iter().filter(|i| **i < n) {
                    gradient[i] = self.at_state(formula, id, Along::Position(i), Along::Nothing)?.d1;
                }
            }
            None => {
                for i in 0..n {
                    gradient[i] = self.at_state(formula, id, Along::Position(i), Along::Nothing)?.d1;
                }
            }
        }
        Ok(gradient)
    }

    /// M and D(∂T/∂q̇) − ∂T/∂q.
    pub fn kinetic_terms(&mut self) -> Result<(Matrix, Vec<f64>)> {
        let n = self.q.len();
        let kinetic = &self.system.kinetic;
        let State { t, q, v } = self.state;
        if let Some((mass, force)) = kinetic.kinetic_terms(&Point { q, v, t: *t }) {
            if mass.is_finite() && force.iter().all(|f| f.is_finite()) {
                return Ok((mass, force));
            }
            return Err(KinematicsError::NotDifferentiable { formula: self.name(FormulaId::Kinetic) });
        }
        let mut mass = Matrix::zeros(n, n);
        let mut force = self.gradient(kinetic, FormulaId::Kinetic)?;
        for i in 0..n {
            let momentum = self.at_state(kinetic, FormulaId::Kinetic, Along::Velocity(i), Along::Motion)?;
            force[i] = momentum.d12 - force[i];
            for j in 0..=i {
                let along = (Along::Velocity(i), Along::Velocity(j));
                let entry = self.at_state(kinetic, FormulaId::Kinetic, along.0, along.1)?.d12;
                mass[(i, j)] = entry;
                mass[(j, i)] = entry;
            }
        }
        Ok((mass, force))
    }

    /// Gap, rows and friction of a contact.
    pub fn contact(&mut self, i: usize) -> Result<ContactKinematics> {
        let contact = &self.system.contacts[i];
        let (gap, normal) = self.measure(&contact.normal, FormulaId::ContactNormal(i))?;
        Ok(ContactKinematics {
            gap,
            normal,
            slip: self.slips(&contact.slip, |k| FormulaId::ContactSlip(i, k))?,
            mu_static: self.friction(&contact.mu_static, FormulaId::ContactMuStatic(i))?,
            mu_kinetic: self.friction(&contact.mu_kinetic, FormulaId::ContactMuKinetic(i))?,
            restitution: contact.restitution,
            rolling: None,
        })
    }

    /// Value, rows and friction of a joint.
    pub fn joint(&mut self, i: usize) -> Result<JointKinematics> {
        let joint = &self.system.joints[i];
        let (value, row) = self.measure(&joint.value, FormulaId::JointValue(i))?;
        let slip = self.slips(&joint.slip, |k| FormulaId::JointSlip(i, k))?;
        Ok(JointKinematics { value, row, slip, mu: self.friction(&joint.mu, FormulaId::JointMu(i))? })
    }

    /// Value and row of a displacement or velocity.
    fn measure(&mut self, measure: &Measure, id: FormulaId) -> Result<(f64, Row)> {
        let (Measure::Displacement(formula) | Measure::Velocity(formula)) = measure;
        if let Some(row) = self.closed(formula, id)? {
            let value = if matches!(measure, Measure::Displacement(_)) { row.value } else { 0.0 };
            let gradient = without_residue(row.gradient);
            return Ok((value, Row { gradient, velocity: row.velocity, bias: row.bias }));
        }
        match measure {
            Measure::Displacement(h) => {
                let value = self.position_value(h, id)?;
                let gradient = self.gradient(h, id)?;
                let motion = self.at_state(h, id, Along::Motion, Along::Motion)?;
                Ok((
                    value,
                    Row { gradient: without_residue(gradient), velocity: motion.d1, bias: motion.d12 },
                ))
            }
            Measure::Velocity(u) => {
                let velocity = self.value(u, id)?;
                let gradient = self.linear_gradient(u, id)?;
                let bias = self.at_state(u, id, Along::Motion, Along::Nothing)?.d1;
                Ok((0.0, Row { gradient: without_residue(gradient), velocity, bias }))
            }
        }
    }

    /// ∂u/∂q̇ of a velocity u = aᵀq̇ + b, which must be the same at all velocities.
    fn linear_gradient(&mut self, u: &AnyFormula, id: FormulaId) -> Result<Vec<f64>> {
        let n = self.q.len();
        let mut gradient = Vec::with_capacity(n);
        for i in 0..n {
            gradient.push(self.at_state(u, id, Along::Velocity(i), Along::Nothing)?.d1);
        }
        let size = gradient.iter().fold(0.0_f64, |m, g| m.max(g.abs()));
        for probe in self.probes.clone() {
            for i in 0..n {
                let other = self.hyper(u, &probe, Along::Velocity(i), Along::Nothing).d1;
                // Written so that NaN at the probe fails too.
                let same = (other - gradient[i]).abs() <= LINEARITY * size.max(other.abs());
                if !same {
                    return Err(KinematicsError::NotLinear { formula: self.name(id) });
                }
            }
        }
        Ok(gradient)
    }

    fn slips(&mut self, slips: &[Measure], id: impl Fn(usize) -> FormulaId) -> Result<Vec<Row>> {
        if slips.len() > 2 {
            return Err(KinematicsError::TooManySlips { formula: self.name(id(2)) });
        }
        slips.iter().enumerate().map(|(k, slip)| Ok(self.measure(slip, id(k))?.1)).collect()
    }

    fn friction(&self, mu: &AnyFormula, id: FormulaId) -> Result<f64> {
        let value = self.value(mu, id)?;
        if value < 0.0 {
            return Err(KinematicsError::NegativeFriction { formula: self.name(id), value });
        }
        Ok(value)
    }
}
