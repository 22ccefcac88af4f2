//! Which contacts stay and which open where force and acceleration vanish together: higher derivatives decide.
//!
//! ```text
//! q(τ) = Σ q_k τᵏ ,   λ(τ) = Σ λ_k τᵏ ,   δ(τ) = ḧ(q(τ), t) = Σ δ_k τᵏ        (002 Theorem 5.4)
//!
//! (k+2)(k+1) M q_{k+2} = Dᵀλ_k − r_k ,    δ_k = W λ_k + b_k ,    W = J M⁻¹ Dᵀ
//! ```
//!
//! with M mass, J rows of the constraints, D the directions of their forces (J, or J_n − μ s J_t where a contact slides
//! along s), all at τ = 0; r_k and b_k come from the coefficients of lower order. Order after order, a mixed LCP is
//! solved (002 eq. 5.12): joints and contacts that are known to stay are held, δ_k = 0 with λ_k free; contacts that are
//! known to open have λ = 0; the others satisfy 0 ≤ λ_k ⊥ δ_k ≥ 0. The first coefficient that is positive decides: λ_k,
//! and the contact stays; δ_k, and it opens. (The derivatives of the theorem are k! times the coefficients, which the
//! series in the paper leave out; signs are the same.)
//!
//! Coefficients come from formulas evaluated over power series ([`crate::series`]), without truncation. A coefficient
//! counts as zero where a relative change of the state by the tolerance would explain it: a state that was located
//! numerically satisfies λ = δ = 0 no better than that.
//!
//! Constraints may be displacements or velocities (002 eq. 2.1c); for a velocity u ≥ 0, δ = u̇.

use delassus_solve::law::Law;
use delassus_solve::matrix::{Matrix, axpy, dot, max_abs};
use delassus_solve::solvers::enumerate::{EnumerateOptions, enumerate_contact};
use thiserror::Error;

use crate::formula::{AnyFormula, Point};
use crate::kinematics::{ContactKinematics, Kinematics, KinematicsError, Row, kinematics};
use crate::series::{COEFFICIENTS, DualSeries, Series};
use crate::system::{FormulaId, FormulaName, Measure, State, System};

/// The highest order that the series can tell.
pub const HIGHEST_ORDER: usize = COEFFICIENTS - 3;

/// What the states that measure sensitivity are off by, relative.
const PROBE: f64 = 1e-6;
/// Rounding of a coefficient, relative to the terms that make it up.
const ROUNDING: f64 = 1e-12;

/// Options of [`deciding_order`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecidingOptions {
    /// The last order that is looked at (default 12, at most [`HIGHEST_ORDER`]).
    pub max_order: usize,
    /// Relative change of the state that must not change a decision (default 1e-9, from 1e-14 to 1e-3).
    pub tolerance: f64,
    /// Slip speeds below this are zero (default 1e-6, as for [`Tolerances`](crate::assemble::Tolerances)).
    pub rest_speed: f64,
}

impl Default for DecidingOptions {
    fn default() -> Self {
        DecidingOptions { max_order: 12, tolerance: 1e-9, rest_speed: 1e-6 }
    }
}

/// What becomes of a contact just after the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stays closed, with a force.
    Stays,
    /// It opens.
    Opens,
    /// It stays closed because others do: its normal is a combination of theirs. It needs no force of its own.
    Carried,
    /// Force and acceleration are zero in all orders that were looked at. It may touch without force for good.
    Undecided,
}

/// What becomes of one contact, and what decides it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactFate {
    /// Its number in the system.
    pub contact: usize,
    /// What becomes of it.
    pub fate: Fate,
    /// The order k of the derivative that decides; the last that was looked at where none does.
    pub order: usize,
    /// λ⁽ᵏ⁾ where it stays, δ⁽ᵏ⁾ where it opens, else 0.
    pub derivative: f64,
}

/// The motion just after a state, order by order.
#[derive(Clone, Debug)]
pub struct DecidingOrder {
    /// One entry for each contact that was asked for, in that order.
    pub contacts: Vec<ContactFate>,
    /// The last order that was looked at.
    pub order: usize,
    /// Coefficients of q(τ), one row per coordinate, up to that order + 2.
    pub coefficients: Vec<Vec<f64>>,
}

impl DecidingOrder {
    /// Whether the fate of every contact is known.
    pub fn is_decided(&self) -> bool {
        self.contacts.iter().all(|c| c.fate != Fate::Undecided)
    }
}

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

type Result<T> = std::result::Result<T, DerivativesError>;

/// What becomes of contacts that touch and do not move apart (002 Theorem 5.4). `touching` are all contacts with zero
/// gap and zero normal velocity; gaps and normal velocities themselves are not looked at.
pub fn deciding_order(
    system: &System,
    state: &State,
    touching: &[usize],
    options: &DecidingOptions,
) -> Result<DecidingOrder> {
    let DecidingOptions { max_order, tolerance, rest_speed } = *options;
    if max_order > HIGHEST_ORDER || !(1e-14..=1e-3).contains(&tolerance) {
        return Err(DerivativesError::Options { max_order, tolerance });
    }
    let mut motion = Motion::new(system, state, touching, rest_speed)?;
    let mut probes: Vec<Motion> = motion
        .nearby(state)
        .iter()
        .filter_map(|s| Motion::new(system, s, touching, rest_speed).ok())
        .collect();
    let joints = system.joints.len();
    let mut fates: Vec<Option<ContactFate>> = vec![None; touching.len()];
    let mut order = 0;
    for k in 0..=max_order {
        order = k;
        let open: Vec<usize> = (0..touching.len()).filter(|&i| fates[i].is_none()).collect();
        let held: Vec<usize> = (0..joints)
            .chain((0..touching.len()).filter(|&i| fate_is(&fates[i], Fate::Stays)).map(|i| joints + i))
            .collect();
        let mut undecided = Vec::new();
        for i in open {
            if motion.depends(joints + i, &held) {
                let contact = touching[i];
                fates[i] = Some(ContactFate { contact, fate: Fate::Carried, order: k, derivative: 0.0 });
            } else {
                undecided.push(i);
            }
        }
        let (r, b) = motion.known(k)?;
        let noise = motion.noise(&b, &probes, k, tolerance);
        // The rows of this order: held ones first, then the undecided.
        let rows: Vec<usize> = held.iter().copied().chain(undecided.iter().map(|i| joints + i)).collect();
        let laws: Vec<Law> =
            (0..rows.len()).map(|i| if i < held.len() { Law::Bilateral } else { Law::Unilateral }).collect();
        let w = motion.delassus.select(&rows, &rows);
        let q: Vec<f64> = rows.iter().map(|&i| if b[i].abs() <= noise[i] { 0.0 } else { b[i] }).collect();
        let set = enumerate_contact(&w, &q, &laws, &EnumerateOptions::default());
        if set.pieces.is_empty() || velocities_differ(&set.pieces, &noise, &rows) {
            return Err(DerivativesError::Solutions { order: k, solutions: set.pieces.len() });
        }
        let (force, delta) = (&set.pieces[0].force, &set.pieces[0].velocity);
        let mut coefficient = vec![0.0; joints + touching.len()];
        let factorial: f64 = (1..=k).map(|i| i as f64).product();
        for (place, &row) in rows.iter().enumerate() {
            if place < held.len() {
                coefficient[row] = force[place];
                continue;
            }
            let contact = touching[row - joints];
            // A force is as uncertain as the acceleration that it answers.
            let weight = motion.delassus[(row, row)];
            let decided = |fate, value: f64| {
                Some(ContactFate { contact, fate, order: k, derivative: factorial * value })
            };
            if weight * force[place] > noise[row] {
                coefficient[row] = force[place];
                fates[row - joints] = decided(Fate::Stays, force[place]);
            } else if delta[place] > noise[row] {
                fates[row - joints] = decided(Fate::Opens, delta[place]);
            }
        }
        motion.advance(k, &r, &coefficient);
        let now_held: Vec<usize> = (0..joints)
            .chain((0..touching.len()).filter(|&i| fate_is(&fates[i], Fate::Stays)).map(|i| joints + i))
            .collect();
        probes.retain_mut(|probe| probe.follow(k, &now_held).is_ok());
        if fates.iter().all(Option::is_some) {
            break;
        }
    }
    let contacts = fates
        .into_iter()
        .zip(touching)
        .map(|(fate, &contact)| {
            let undecided = ContactFate { contact, fate: Fate::Undecided, order, derivative: 0.0 };
            fate.unwrap_or(undecided)
        })
        .collect();
    let coefficients = motion.q.iter().map(|q| q.0[..order + 3].to_vec()).collect();
    Ok(DecidingOrder { contacts, order, coefficients })
}

fn fate_is(fate: &Option<ContactFate>, expected: Fate) -> bool {
    fate.is_some_and(|f| f.fate == expected)
}

/// Whether solutions differ in their accelerations (several forces with the same accelerations are one motion).
fn velocities_differ(
    pieces: &[delassus_solve::solvers::enumerate::SolutionPiece],
    noise: &[f64],
    rows: &[usize],
) -> bool {
    let first = &pieces[0].velocity;
    pieces[1..].iter().any(|piece| {
        piece
            .velocity
            .iter()
            .zip(first)
            .zip(rows)
            .any(|((a, b), &row)| (a - b).abs() > noise[row].max(1e-9 * b.abs()))
    })
}

/// In which direction a formula is differentiated.
#[derive(Clone, Copy, PartialEq)]
enum Along {
    Nothing,
    Position(usize),
    Velocity(usize),
}

/// A motion as far as it is known: rows are all joints, then the touching contacts.
struct Motion<'a> {
    system: &'a System,
    touching: &'a [usize],
    t: f64,
    q: Vec<Series>,
    forces: Vec<Series>,
    mass: Matrix,
    /// J, its rows at τ = 0.
    rows: Matrix,
    /// D, directions of the forces at τ = 0.
    directions: Matrix,
    /// J M⁻¹ Dᵀ.
    delassus: Matrix,
    /// Time, velocity and acceleration that perturbations are measured by.
    time_scale: f64,
    free_acceleration: Vec<f64>,
}

impl<'a> Motion<'a> {
    fn new(system: &'a System, state: &State, touching: &'a [usize], rest: f64) -> Result<Self> {
        let at = kinematics(system, state)?;
        let contacts = system.contacts.len();
        if let Some(&contact) = touching.iter().find(|&&c| c >= contacts) {
            return Err(DerivativesError::UnknownContact { contact, contacts });
        }
        let (rows, directions) = constraint_rows(system, &at, touching, rest)?;
        let response =
            at.mass.solve_positive_definite(&directions.transpose()).ok_or(DerivativesError::SingularMass)?;
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
            delassus: rows.mul(&response),
            rows,
            directions,
            mass: at.mass,
            time_scale,
            free_acceleration,
        })
    }

    /// Two states as far away as [`PROBE`] says, in directions without a pattern.
    fn nearby(&self, state: &State) -> [State; 2] {
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
    fn depends(&self, row: usize, others: &[usize]) -> bool {
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
            [u] => crate::number::Number::abs(u),
            _ => crate::number::Number::sqrt(slips.iter().fold(Series::constant(0.0), |s, &u| s + u * u)),
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
    fn known(&self, k: usize) -> Result<(Vec<f64>, Vec<f64>)> {
        let n = self.q.len();
        let system = self.system;
        let mut r = vec![0.0; n];
        for (i, r) in r.iter_mut().enumerate() {
            let momentum = self.slope(&system.kinetic, FormulaId::Kinetic, Along::Velocity(i))?;
            let pull = self.slope(&system.kinetic, FormulaId::Kinetic, Along::Position(i))?;
            *r += momentum.rate().0[k] - pull.0[k];
            if let Some(potential) = &system.potential {
                *r += self.slope(potential, FormulaId::Potential, Along::Position(i))?.0[k];
            }
        }
        for (i, force) in system.forces.iter().enumerate() {
            r[force.coordinate] -= self.eval(&force.value, FormulaId::Force(i), Along::Nothing)?.value.0[k];
        }
        for (row, &force) in self.forces.iter().enumerate() {
            // Only lower orders are there, and most rows have none.
            if force.0.iter().any(|x| *x != 0.0) {
                for (r, d) in r.iter_mut().zip(self.direction(row)?) {
                    *r -= (d * force).0[k];
                }
            }
        }
        let a = self.response(&r);
        let mut b = Vec::with_capacity(self.rows.rows());
        for row in 0..self.rows.rows() {
            let (measure, id) = self.measure(row);
            b.push(self.velocity(measure, id)?.rate().0[k] + dot(self.rows.row(row), &a));
        }
        Ok((r, b))
    }

    /// −M⁻¹ r.
    fn response(&self, r: &[f64]) -> Vec<f64> {
        let x = self.mass.solve_positive_definite(&Matrix::from_vec(r.len(), 1, r.to_vec()));
        // The mass was inverted before.
        x.map_or_else(|| vec![f64::NAN; r.len()], |x| x.data().iter().map(|a| -a).collect())
    }

    /// What b_k may be off by: rounding, and a change of the state by the tolerance as the probes show it. Rows share it
    /// in the kinetic metric, so that a row that happens not to feel the probes is not believed more than others.
    fn noise(&self, b: &[f64], probes: &[Motion], k: usize, tolerance: f64) -> Vec<f64> {
        let size: Vec<f64> =
            (0..b.len()).map(|i| self.delassus[(i, i)].abs().sqrt().max(f64::MIN_POSITIVE)).collect();
        // Ten times what two directions show stands for all directions.
        let amplify = 10.0 * tolerance / PROBE;
        let mut shared = b.iter().zip(&size).fold(0.0_f64, |m, (b, s)| m.max(ROUNDING * b.abs() / s));
        for probe in probes {
            let Ok((_, other)) = probe.known(k) else { continue };
            for i in 0..b.len() {
                shared = shared.max(amplify * (other[i] - b[i]).abs() / size[i]);
            }
        }
        size.iter().map(|s| s * shared).collect()
    }

    /// Takes λ_k and computes q_{k+2}.
    fn advance(&mut self, k: usize, r: &[f64], force: &[f64]) {
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
    fn follow(&mut self, k: usize, held: &[usize]) -> Result<()> {
        let (r, b) = self.known(k)?;
        let target: Vec<f64> = held.iter().map(|&i| -b[i]).collect();
        let forces = self.delassus.select(held, held).pseudo_solve(&target);
        let mut all = vec![0.0; b.len()];
        for (&i, f) in held.iter().zip(forces) {
            all[i] = f;
        }
        // Beyond numbers there is nothing to follow.
        if max_abs(&all).is_finite() {
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
    let speed = delassus_solve::matrix::norm(&slip);
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
