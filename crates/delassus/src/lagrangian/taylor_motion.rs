//! A motion as a power series in time, order by order.
//!
//! ```text
//! (k+2)(k+1) M q_{k+2} = Dᵀλ_k − r_k ,    δ_k = W λ_k + b_k ,    W = J M⁻¹ Dᵀ
//! ```
//!
//! r_k and b_k are what coefficients of lower order contribute to the equations of motion and to the
//! accelerations of the constraints (002 eq. 5.10 to 5.12). See [`crate::lagrangian::higher_derivatives`].

use delassus_solve::linalg::{Matrix, axpy, dot, norm};
use thiserror::Error;

use super::kinematics::{ContactKinematics, Kinematics, KinematicsError, Row, kinematics};
use super::{FormulaId, FormulaName, Measure, State, System};
use crate::formula::{AnyFormula, COEFFICIENTS, DualSeries, Number, Point, Series};

/// What the states that measure sensitivity are off by, relative.
const PROBE: f64 = 1e-6;
/// Rounding of a coefficient, relative to the terms that make it up.
const ROUNDING: f64 = 1e-12;

/// The highest order that the series reach.
pub const HIGHEST_ORDER: usize = COEFFICIENTS - 3;

/// Why derivatives cannot be taken.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum DerivativesError {
    /// The state is none.
    #[error(transparent)]
    Kinematics(#[from] KinematicsError),
    /// A formula without a power series here.
    #[error(
        "{formula} has no power series at this state (it has a kink there, or is a closure, which is written for numbers only)"
    )]
    NoSeries {
        /// Which formula.
        formula: FormulaName,
    },
    /// A contact that the system does not have.
    #[error("contact number {contact} was asked for, expected a number below {contacts}")]
    UnknownContact {
        /// The number.
        contact: usize,
        /// Number of contacts.
        contacts: usize,
    },
    /// A mass matrix without inverse.
    #[error("the mass matrix is singular")]
    SingularMass,
    /// Friction without slip.
    #[error("`{name}` has friction and does not slide: the direction of friction is not known beforehand")]
    Sticks {
        /// Contact or joint.
        name: String,
    },
    /// Friction of a joint.
    #[error("joint `{name}` has friction, whose sign is not known beforehand")]
    JointFriction {
        /// The joint.
        name: String,
    },
    /// No coefficients, or several, satisfy the conditions of an order.
    #[error(
        "order {order} has {solutions} solutions, expected one (friction makes that possible, as it does for forces)"
    )]
    Solutions {
        /// The order.
        order: usize,
        /// How many.
        solutions: usize,
    },
    /// Options out of range.
    #[error(
        "max_order {max_order} or tolerance {tolerance:e} is out of range, expected at most {HIGHEST_ORDER} and 1e-14 to 1e-3"
    )]
    Options {
        /// As given.
        max_order: usize,
        /// As given.
        tolerance: f64,
    },
}

pub(super) type Result<T> = std::result::Result<T, DerivativesError>;

/// In which direction a formula is differentiated.
#[derive(Clone, Copy, PartialEq)]
enum Along {
    Nothing,
    Position(usize),
    Velocity(usize),
}

/// What the coefficients of lower order leave at order k.
pub(super) struct Known {
    /// r_k.
    pub(super) r: Vec<f64>,
    /// b_k.
    pub(super) b: Vec<f64>,
    /// The sizes of the terms that make up b_k.
    sizes: Vec<f64>,
}

/// A motion as far as it is known: rows are all joints, then the touching contacts.
pub(super) struct Motion<'a> {
    system: &'a System,
    touching: &'a [usize],
    t: f64,
    pub(super) q: Vec<Series>,
    forces: Vec<Series>,
    mass: Matrix,
    /// J, its rows at τ = 0.
    rows: Matrix,
    /// D, directions of the forces at τ = 0.
    directions: Matrix,
    /// |J M⁻¹|, entry by entry.
    row_response: Matrix,
    /// J M⁻¹ Dᵀ.
    pub(super) delassus: Matrix,
    /// Time, velocity and acceleration that perturbations are measured by.
    time_scale: f64,
    free_acceleration: Vec<f64>,
}

impl<'a> Motion<'a> {
    pub(super) fn new(system: &'a System, state: &State, touching: &'a [usize], rest: f64) -> Result<Self> {
        let at = kinematics(system, state)?;
        let contacts = system.contacts.len();
        if let Some(&contact) = touching.iter().find(|&&c| c >= contacts) {
            return Err(DerivativesError::UnknownContact { contact, contacts });
        }
        let (rows, directions) = constraint_rows(system, &at, touching, rest)?;
        let response =
            at.mass.solve_positive_definite(&directions.transpose()).ok_or(DerivativesError::SingularMass)?;
        let row_response =
            at.mass.solve_positive_definite(&rows.transpose()).ok_or(DerivativesError::SingularMass)?;
        let force = Matrix::from_vec(at.force.len(), 1, at.force.clone());
        let free = at.mass.solve_positive_definite(&force).ok_or(DerivativesError::SingularMass)?;
        let free_acceleration: Vec<f64> = free.data().iter().map(|a| -a).collect();
        let energy = |x: &[f64]| dot(x, &at.mass.mul_vec(x)).sqrt();
        let (speed, push) = (energy(&state.v), energy(&free_acceleration));
        let time_scale = if speed > 0.0 && push > 0.0 { speed / push } else { 1.0 };
        let q = state.q.iter().zip(&state.v).map(|(&q, &v)| {
            let mut series = Series::constant(q);
            series.0[1] = v;
            series
        });
        Ok(Motion {
            system,
            touching,
            t: state.t,
            q: q.collect(),
            forces: vec![Series::constant(0.0); rows.rows()],
            row_response: Matrix::from_fn(rows.rows(), rows.cols(), |i, j| row_response[(j, i)].abs()),
            delassus: rows.mul(&response),
            rows,
            directions,
            mass: at.mass,
            time_scale,
            free_acceleration,
        })
    }

    /// Two states at the distance [`PROBE`], in directions without a pattern.
    pub(super) fn nearby(&self, state: &State) -> [State; 2] {
        let t = self.time_scale;
        [0.618, 0.414].map(|seed| {
            let sign = |i: usize| if ((i + 1) as f64 * seed).fract() < 0.5 { PROBE } else { -PROBE };
            let n = state.q.len();
            let a = &self.free_acceleration;
            let off = |i: usize, x: f64, rate: f64, a: f64| {
                x + sign(i) * (x.abs() + rate.abs() * t + a.abs() * t * t)
            };
            State {
                t: state.t + sign(2 * n) * t,
                q: (0..n).map(|i| off(i, state.q[i], state.v[i], a[i])).collect(),
                v: (0..n).map(|i| off(n + i, state.v[i], a[i], 0.0)).collect(),
            }
        })
    }

    /// Whether a row is a combination of others.
    pub(super) fn depends(&self, row: usize, others: &[usize]) -> bool {
        let mut with = others.to_vec();
        with.push(row);
        self.rows.select_rows(&with).rank() == self.rows.select_rows(others).rank()
    }

    fn eval(&self, formula: &AnyFormula, id: FormulaId, along: Along) -> Result<DualSeries> {
        let seed = |value: Series, moves: bool| {
            if moves { DualSeries::moving(value) } else { DualSeries::fixed(value) }
        };
        let q: Vec<DualSeries> =
            self.q.iter().enumerate().map(|(i, &q)| seed(q, along == Along::Position(i))).collect();
        let v: Vec<DualSeries> =
            self.q.iter().enumerate().map(|(i, q)| seed(q.rate(), along == Along::Velocity(i))).collect();
        let x = formula.series(&Point { q: &q, v: &v, t: DualSeries::fixed(Series::time(self.t)) });
        if x.value.0.iter().chain(&x.slope.0).all(|c| c.is_finite()) {
            return Ok(x);
        }
        Err(DerivativesError::NoSeries { formula: FormulaName::of(self.system, id) })
    }

    fn slope(&self, formula: &AnyFormula, id: FormulaId, along: Along) -> Result<Series> {
        Ok(self.eval(formula, id, along)?.slope)
    }

    /// The row of a constraint along the motion.
    fn gradient(&self, measure: &Measure, id: FormulaId) -> Result<Vec<Series>> {
        (0..self.q.len())
            .map(|i| match measure {
                Measure::Displacement(h) => self.slope(h, id, Along::Position(i)),
                Measure::Velocity(u) => self.slope(u, id, Along::Velocity(i)),
            })
            .collect()
    }

    /// The velocity of a constraint along the motion.
    fn velocity(&self, measure: &Measure, id: FormulaId) -> Result<Series> {
        Ok(match measure {
            Measure::Displacement(h) => self.eval(h, id, Along::Nothing)?.value.rate(),
            Measure::Velocity(u) => self.eval(u, id, Along::Nothing)?.value,
        })
    }

    /// The measure and the name of a row.
    fn measure(&self, row: usize) -> (&'a Measure, FormulaId) {
        match row.checked_sub(self.system.joints.len()) {
            None => (&self.system.joints[row].value, FormulaId::JointValue(row)),
            Some(i) => {
                let c = self.touching[i];
                (&self.system.contacts[c].normal, FormulaId::ContactNormal(c))
            }
        }
    }

    /// The direction of the force of a row along the motion: J_n − μ s J_t.
    fn direction(&self, row: usize) -> Result<Vec<Series>> {
        let (measure, id) = self.measure(row);
        let mut direction = self.gradient(measure, id)?;
        let Some(i) = row.checked_sub(self.system.joints.len()) else { return Ok(direction) };
        let (index, contact) = (self.touching[i], &self.system.contacts[self.touching[i]]);
        let mu = self.eval(&contact.mu_kinetic, FormulaId::ContactMuKinetic(index), Along::Nothing)?.value;
        if contact.slip.is_empty() || mu.0.iter().all(|x| *x == 0.0) {
            return Ok(direction);
        }
        let slip_id = |k: usize| FormulaId::ContactSlip(index, k);
        let slips: Vec<Series> = contact
            .slip
            .iter()
            .enumerate()
            .map(|(k, slip)| self.velocity(slip, slip_id(k)))
            .collect::<Result<_>>()?;
        let speed = match slips[..] {
            [u] => u.abs(),
            _ => slips.iter().fold(Series::constant(0.0), |s, &u| s + u * u).sqrt(),
        };
        for (k, (slip, &u)) in contact.slip.iter().zip(&slips).enumerate() {
            let weight = mu * u / speed;
            for (d, &g) in direction.iter_mut().zip(&self.gradient(slip, slip_id(k))?) {
                *d = *d - weight * g;
            }
        }
        Ok(direction)
    }

    /// r_k and b_k, with q_{k+2} and λ_k still zero.
    pub(super) fn known(&self, k: usize) -> Result<Known> {
        let n = self.q.len();
        let system = self.system;
        // Values, and the sizes of the terms that they are sums of.
        let mut r = vec![0.0; n];
        let mut terms = vec![0.0; n];
        let mut add = |i: usize, x: f64| {
            r[i] += x;
            terms[i] += x.abs();
        };
        for i in 0..n {
            let momentum = self.slope(&system.kinetic, FormulaId::Kinetic, Along::Velocity(i))?;
            let pull = self.slope(&system.kinetic, FormulaId::Kinetic, Along::Position(i))?;
            add(i, momentum.rate().0[k]);
            add(i, -pull.0[k]);
            if let Some(potential) = &system.potential {
                add(i, self.slope(potential, FormulaId::Potential, Along::Position(i))?.0[k]);
            }
        }
        for (i, force) in system.forces.iter().enumerate() {
            let value = self.eval(&force.value, FormulaId::Force(i), Along::Nothing)?.value.0[k];
            add(force.coordinate, -value);
        }
        for (row, &force) in self.forces.iter().enumerate() {
            // Only lower orders are there, and most rows have none.
            if force.0.iter().any(|x| *x != 0.0) {
                for (i, d) in self.direction(row)?.into_iter().enumerate() {
                    add(i, -(d * force).0[k]);
                }
            }
        }
        let a = self.response(&r);
        let mut b = Vec::with_capacity(self.rows.rows());
        let mut sizes = Vec::with_capacity(self.rows.rows());
        for row in 0..self.rows.rows() {
            let (measure, id) = self.measure(row);
            let rate = self.velocity(measure, id)?.rate().0[k];
            b.push(rate + dot(self.rows.row(row), &a));
            sizes.push(rate.abs() + dot(self.row_response.row(row), &terms));
        }
        Ok(Known { r, b, sizes })
    }

    /// −M⁻¹ r.
    fn response(&self, r: &[f64]) -> Vec<f64> {
        let x = self.mass.solve_positive_definite(&Matrix::from_vec(r.len(), 1, r.to_vec()));
        // The mass was inverted before.
        x.map_or_else(|| vec![f64::NAN; r.len()], |x| x.data().iter().map(|a| -a).collect())
    }

    /// What b_k may be off by: rounding, and a change of the state by the tolerance as the probes show it.
    /// Rows share it in the kinetic metric, so that a row that happens not to feel the probes is not believed
    /// more than others.
    pub(super) fn noise(&self, known: &Known, probes: &[Motion], k: usize, tolerance: f64) -> Vec<f64> {
        let b = &known.b;
        let size: Vec<f64> =
            (0..b.len()).map(|i| self.delassus[(i, i)].abs().sqrt().max(f64::MIN_POSITIVE)).collect();
        // Ten times what two directions show stands for all directions.
        let amplify = 10.0 * tolerance / PROBE;
        // Where terms cancel, as for bodies that fall together, what is left of them is their rounding.
        let mut shared =
            known.sizes.iter().zip(&size).fold(0.0_f64, |m, (terms, s)| m.max(ROUNDING * terms / s));
        for probe in probes {
            let Ok(other) = probe.known(k) else { continue };
            for i in 0..b.len() {
                shared = shared.max(amplify * (other.b[i] - b[i]).abs() / size[i]);
            }
        }
        size.iter().map(|s| s * shared).collect()
    }

    /// Takes λ_k and computes q_{k+2}.
    pub(super) fn advance(&mut self, k: usize, r: &[f64], force: &[f64]) {
        let mut push: Vec<f64> = r.to_vec();
        for (row, f) in force.iter().enumerate() {
            self.forces[row].0[k] = *f;
            axpy(-f, self.directions.row(row), &mut push);
        }
        let a = self.response(&push);
        for (q, a) in self.q.iter_mut().zip(a) {
            q.0[k + 2] = a / ((k + 2) * (k + 1)) as f64;
        }
    }

    /// As [`Motion::advance`] with the forces that hold these rows.
    pub(super) fn follow(&mut self, k: usize, held: &[usize]) -> Result<()> {
        let Known { r, b, .. } = self.known(k)?;
        let target: Vec<f64> = held.iter().map(|&i| -b[i]).collect();
        let forces = self.delassus.select(held, held).pseudo_solve(&target);
        let mut all = vec![0.0; b.len()];
        for (&i, f) in held.iter().zip(forces) {
            all[i] = f;
        }
        // Beyond numbers there is nothing to follow.
        if all.iter().all(|f| f.is_finite()) {
            self.advance(k, &r, &all);
        }
        Ok(())
    }
}

/// J and D at the state.
fn constraint_rows(
    system: &System,
    at: &Kinematics,
    touching: &[usize],
    rest: f64,
) -> Result<(Matrix, Matrix)> {
    let n = at.mass.rows();
    let (mut rows, mut directions): (Vec<Vec<f64>>, Vec<Vec<f64>>) = (vec![], vec![]);
    for (joint, k) in system.joints.iter().zip(&at.joints) {
        if k.mu > 0.0 && !k.slip.is_empty() {
            return Err(DerivativesError::JointFriction { name: joint.name.clone() });
        }
        rows.push(k.row.gradient.clone());
        directions.push(k.row.gradient.clone());
    }
    for &c in touching {
        let contact = &at.contacts[c];
        rows.push(contact.normal.gradient.clone());
        let direction = sliding_direction(contact, rest)
            .ok_or_else(|| DerivativesError::Sticks { name: system.contacts[c].name.clone() })?;
        directions.push(direction);
    }
    let matrix = |rows: &[Vec<f64>]| Matrix::from_fn(rows.len(), n, |i, j| rows[i][j]);
    Ok((matrix(&rows), matrix(&directions)))
}

/// J_n − μ s J_t; `None` where there is friction but no slip.
fn sliding_direction(contact: &ContactKinematics, rest: f64) -> Option<Vec<f64>> {
    let mut direction = contact.normal.gradient.clone();
    let slip: Vec<f64> = contact.slip.iter().map(|row: &Row| row.velocity).collect();
    let speed = norm(&slip);
    if contact.slip.is_empty() || (contact.mu_kinetic == 0.0 && (speed > rest || contact.mu_static == 0.0)) {
        return Some(direction);
    }
    if speed <= rest {
        return None;
    }
    for (row, u) in contact.slip.iter().zip(&slip) {
        axpy(-contact.mu_kinetic * u / speed, &row.gradient, &mut direction);
    }
    Some(direction)
}
