//! The contact problem at a state in the numbers that were written, without rounding.
//!
//! ```text
//! M q̈ + F = Jᵀ λ ,   u = J q̈ + γ          all entries fractions
//! ```
//!
//! The derivatives of [`kinematics`](crate::lagrangian::kinematics()), each a part of a formula over
//! fractions. Where a formula is not rational at the state, there is no such problem, but one in intervals.
//! Which contacts are active, and under which law, is what [`assemble`](crate::lagrangian::assemble) decided
//! within its tolerances.

use delassus_solve::analysis::Written as Data;
use delassus_solve::linalg::{Fraction, Interval};
use delassus_solve::modes::ExactDynamics;
use delassus_solve::problem::Law;

use super::Row as KinematicRow;
use super::kinematics::RESIDUE;
use super::{Assembly, ContactState, Kinematics, Measure, State, System, Tolerances};
use crate::formula::{AnyFormula, Constant, HyperDual, Number, Point, Scalar};

/// Time, positions and velocities as they were written.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactState {
    /// Time.
    pub t: Constant,
    /// Positions.
    pub q: Vec<Constant>,
    /// Velocities.
    pub v: Vec<Constant>,
}

/// Of short binary fractions alone; other doubles may stand for something else.
impl From<&State> for ExactState {
    fn from(state: &State) -> Self {
        let of = |x: &[f64]| x.iter().map(|x| Constant::from(*x)).collect();
        ExactState { t: state.t.into(), q: of(&state.q), v: of(&state.v) }
    }
}

/// Directions in which formulas are differentiated.
#[derive(Clone, Copy, PartialEq)]
enum Along {
    Nothing,
    Position(usize),
    Velocity(usize),
    /// The motion at zero acceleration: q moves by q̇, t by 1.
    Motion,
}

/// A row of the problem.
struct Row<X> {
    gradient: Vec<X>,
    velocity: X,
    bias: X,
}

/// The contact problem that was assembled, in the numbers that were written, where all are rational, or else
/// in intervals that hold them, undefined where interval arithmetic finds none; `None` where it was not
/// assembled from this system.
pub fn written_dynamics(system: &System, state: &ExactState, assembly: &Assembly) -> Option<Data> {
    let exact = Written::fractions(state).dynamics(system, assembly)?;
    let ExactDynamics { mass, force, jacobian, bias, mu, slip, .. } = &exact;
    let mut rows = mass.iter().chain(jacobian).chain(slip).flatten();
    if rows.all(|x| x.is_defined()) && force.iter().chain(bias).chain(mu).all(|x| x.is_defined()) {
        return Some(Data::Exactly(exact));
    }
    let mut bounds = Written::intervals(state).dynamics(system, assembly)?;
    // Rational entries are better known than intervals have them.
    let tight = |x: &mut Interval, exact: &Fraction| {
        if exact.is_defined() {
            *x = Interval::from(*exact);
        }
    };
    let tighten = |x: &mut Vec<Interval>, exact: &Vec<Fraction>| {
        x.iter_mut().zip(exact).for_each(|(x, exact)| tight(x, exact));
    };
    tighten(&mut bounds.force, &exact.force);
    tighten(&mut bounds.bias, &exact.bias);
    tighten(&mut bounds.mu, &exact.mu);
    let matrices = [
        (&mut bounds.mass, &exact.mass),
        (&mut bounds.jacobian, &exact.jacobian),
        (&mut bounds.slip, &exact.slip),
    ];
    for (rows, exact) in matrices {
        rows.iter_mut().zip(exact).for_each(|(row, exact)| tighten(row, exact));
    }
    // What gradients drop as the rounding of zero, cos 90° for one, is zero here too where nothing speaks
    // against it.
    for (i, row) in bounds.jacobian.iter_mut().enumerate() {
        let top = row.iter().fold(0.0_f64, |top, x| top.max(x.magnitude()));
        for (j, x) in row.iter_mut().enumerate() {
            let dropped = assembly.dynamics.jacobian[(i, j)] == 0.0;
            if dropped && x.contains(0.0) && x.magnitude() <= 8.0 * RESIDUE * top {
                *x = Interval::ZERO;
            }
        }
    }
    Some(Data::Within(bounds))
}

/// Whether gaps, errors of joints and velocities are what doubles make of them, to the tolerances by which
/// contacts were found open, sliding or at rest: digits may cancel.
pub fn is_state_certain(
    system: &System,
    state: &ExactState,
    kinematics: &Kinematics,
    tolerances: &Tolerances,
) -> bool {
    let (exact, bounds) = (Written::fractions(state), Written::intervals(state));
    let near = |b: Interval, x: f64, tolerance: f64| (b.lo - x).abs().max((b.hi - x).abs()) <= tolerance;
    let sure = |measure: &Measure, value: f64, row: &KinematicRow| {
        let (gap, velocity) = exact.motion(measure);
        let known = gap.is_defined() && velocity.is_defined();
        let (gap, velocity) =
            if known { (Interval::from(gap), Interval::from(velocity)) } else { bounds.motion(measure) };
        near(gap, value, tolerances.position) && near(velocity, row.velocity, tolerances.velocity)
    };
    let slips = |measures: &[Measure], rows: &[KinematicRow]| {
        // Displacements along tangents matter by their velocity alone.
        let speed = |(measure, row): (&Measure, &KinematicRow)| {
            let velocity = exact.motion(measure).1;
            let velocity =
                if velocity.is_defined() { Interval::from(velocity) } else { bounds.motion(measure).1 };
            near(velocity, row.velocity, tolerances.velocity)
        };
        measures.iter().zip(rows).all(speed)
    };
    system
        .joints
        .iter()
        .zip(&kinematics.joints)
        .all(|(j, k)| sure(&j.value, k.value, &k.row) && slips(&j.slip, &k.slip))
        && system
            .contacts
            .iter()
            .zip(&kinematics.contacts)
            .all(|(c, k)| sure(&c.normal, k.gap, &k.normal) && slips(&c.slip, &k.slip))
}

/// A formula over dual numbers of one kind.
type Evaluate<X> = fn(&AnyFormula, &Point<'_, HyperDual<X>>) -> HyperDual<X>;

/// The formulas of a system at a state, over one kind of numbers.
struct Written<X> {
    t: X,
    q: Vec<X>,
    v: Vec<X>,
    evaluate: Evaluate<X>,
    /// v/‖v‖, with the same in doubles.
    direction: fn(&[X], &[f64]) -> Vec<X>,
}

impl Written<Fraction> {
    fn fractions(state: &ExactState) -> Self {
        let all = |x: &[Constant]| x.iter().map(|x| x.exact).collect();
        let (t, q, v) = (state.t.exact, all(&state.q), all(&state.v));
        Written { t, q, v, evaluate: AnyFormula::exact, direction: unit }
    }
}

impl Written<Interval> {
    fn intervals(state: &ExactState) -> Self {
        let all = |x: &[Constant]| x.iter().map(|x| x.bounds).collect();
        let (t, q, v) = (state.t.bounds, all(&state.q), all(&state.v));
        Written { t, q, v, evaluate: AnyFormula::interval, direction: bounded_unit }
    }
}

impl<X: Scalar> Written<X> {
    /// The value of a displacement, zero for a velocity, and the velocity.
    fn motion(&self, measure: &Measure) -> (X, X) {
        match measure {
            Measure::Displacement(h) => {
                let motion = self.derivative(h, Along::Motion, Along::Nothing);
                (motion.value, motion.d1)
            }
            Measure::Velocity(u) => {
                (X::from_f64(0.0), self.derivative(u, Along::Nothing, Along::Nothing).value)
            }
        }
    }

    /// `None` where the problem was not assembled from this system.
    fn dynamics(&self, system: &System, assembly: &Assembly) -> Option<ExactDynamics<X>> {
        let n = self.q.len();
        let zero = X::from_f64(0.0);
        let laws = &assembly.dynamics.laws;
        let mut exact = ExactDynamics {
            mass: vec![vec![zero; n]; n],
            force: vec![zero; n],
            jacobian: vec![],
            bias: vec![],
            laws: laws.clone(),
            mu: vec![],
            slip: vec![],
        };
        for (joint, law) in system.joints.iter().zip(laws) {
            self.add(&mut exact, law, &joint.value, &joint.slip, &joint.mu);
        }
        for (contact, state) in system.contacts.iter().zip(&assembly.contacts) {
            if let ContactState::Active(k) = state {
                let law = laws.get(*k)?;
                let slides = matches!(law, Law::Sliding { .. });
                let mu = if slides { &contact.mu_kinetic } else { &contact.mu_static };
                self.add(&mut exact, law, &contact.normal, &contact.slip, mu);
            }
        }
        let ExactDynamics { mass, force, .. } = &mut exact;
        for i in 0..n {
            for j in 0..=i {
                let entry = self.derivative(&system.kinetic, Along::Velocity(i), Along::Velocity(j)).d12;
                (mass[i][j], mass[j][i]) = (entry, entry);
            }
            let momentum = self.derivative(&system.kinetic, Along::Velocity(i), Along::Motion).d12;
            let gradient = self.derivative(&system.kinetic, Along::Position(i), Along::Nothing).d1;
            force[i] = momentum - gradient;
            if let Some(potential) = &system.potential {
                force[i] = force[i] + self.derivative(potential, Along::Position(i), Along::Nothing).d1;
            }
        }
        for applied in &system.forces {
            let value = self.derivative(&applied.value, Along::Nothing, Along::Nothing).value;
            let entry = force.get_mut(applied.coordinate)?;
            *entry = *entry - value;
        }
        (exact.mu.len() == laws.len()).then_some(exact)
    }

    /// A formula and its derivatives along two directions.
    fn derivative(&self, formula: &AnyFormula, one: Along, two: Along) -> HyperDual<X> {
        let flag = |yes: bool| X::from_f64(if yes { 1.0 } else { 0.0 });
        let position = |along: Along, i: usize| match along {
            Along::Motion => self.v[i],
            _ => flag(along == Along::Position(i)),
        };
        let velocity = |along: Along, i: usize| flag(along == Along::Velocity(i));
        let seeded = |values: &[X], seed: &dyn Fn(Along, usize) -> X| -> Vec<HyperDual<X>> {
            let variable = |(i, x): (usize, &X)| HyperDual::variable(*x, seed(one, i), seed(two, i));
            values.iter().enumerate().map(variable).collect()
        };
        let time = |along: Along| flag(along == Along::Motion);
        let (q, v) = (seeded(&self.q, &position), seeded(&self.v, &velocity));
        let t = HyperDual::variable(self.t, time(one), time(two));
        (self.evaluate)(formula, &Point { q: &q, v: &v, t })
    }

    fn row(&self, measure: &Measure) -> Row<X> {
        let n = self.q.len();
        let gradient = |formula: &AnyFormula, along: fn(usize) -> Along| -> Vec<X> {
            (0..n).map(|i| self.derivative(formula, along(i), Along::Nothing).d1).collect()
        };
        match measure {
            Measure::Displacement(h) => {
                let motion = self.derivative(h, Along::Motion, Along::Motion);
                Row { gradient: gradient(h, Along::Position), velocity: motion.d1, bias: motion.d12 }
            }
            Measure::Velocity(u) => {
                let motion = self.derivative(u, Along::Motion, Along::Nothing);
                Row { gradient: gradient(u, Along::Velocity), velocity: motion.value, bias: motion.d1 }
            }
        }
    }

    /// Adds the rows of a constraint and the numbers of its law.
    fn add(
        &self,
        exact: &mut ExactDynamics<X>,
        law: &Law,
        normal: &Measure,
        slip: &[Measure],
        mu: &AnyFormula,
    ) {
        let slips: Vec<Row<X>> = slip.iter().take(law.dim() - 1).map(|s| self.row(s)).collect();
        let direction = match law {
            Law::Sliding { slip, .. } | Law::BilateralSliding { slip, .. } => {
                let velocities: Vec<X> = slips.iter().map(|row| row.velocity).collect();
                (self.direction)(&velocities, slip.components())
            }
            _ => vec![],
        };
        let friction = law.dim() > 1;
        let value = || self.derivative(mu, Along::Nothing, Along::Nothing).value;
        exact.mu.push(if friction { value() } else { X::from_f64(0.0) });
        exact.slip.push(direction);
        for row in std::iter::once(self.row(normal)).chain(slips) {
            exact.jacobian.push(row.gradient);
            exact.bias.push(row.bias);
        }
    }
}

/// v/‖v‖ where that is rational, and the same direction as in doubles.
fn unit(v: &[Fraction], rounded: &[f64]) -> Vec<Fraction> {
    let speed = v.iter().fold(Fraction::ZERO, |sum, x| sum + *x * *x).root();
    let direction: Vec<Fraction> = v.iter().map(|x| *x / speed).collect();
    // Velocities may cancel to almost nothing in doubles.
    let same = direction.iter().zip(rounded).all(|(x, y)| x.is_defined() && (x.to_f64() - y).abs() < 1e-9);
    if same { direction } else { vec![Fraction::UNDEFINED; v.len()] }
}

/// v/‖v‖: in one dimension its sign, and undefined where that is open.
fn bounded_unit(v: &[Interval], rounded: &[f64]) -> Vec<Interval> {
    if let ([v], [e]) = (v, rounded) {
        let known = !v.is_undefined() && !v.contains(0.0);
        return vec![if known { Interval::point(e.signum()) } else { Interval::UNDEFINED }];
    }
    let speed = v.iter().fold(Interval::ZERO, |sum, x| sum + x.abs() * x.abs()).sqrt();
    v.iter().map(|x| *x / speed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formula::{Expression, Symbols};
    use crate::lagrangian::{Contact, Names, Tolerances, assemble, kinematics};

    /// A plane mass on a floor that moves, sliding along (3, 4): every term of the problem occurs.
    #[test]
    fn the_problem_in_fractions_rounds_to_the_one_in_doubles() {
        let mut symbols = Symbols::default();
        for name in ["x", "y", "z"] {
            symbols.add_coordinate(name).unwrap();
        }
        let formula = |text: &str| AnyFormula::new(Expression::parse(text, &symbols).unwrap());
        let contact = Contact {
            name: "floor".into(),
            normal: Measure::Displacement(formula("z - 0.1*x^2/3 - t^2/7")),
            slip: ["x + 0.3*z", "y"].map(|s| Measure::Displacement(formula(s))).into(),
            mu_static: formula("0.4"),
            mu_kinetic: formula("1/3"),
            restitution: 0.0,
        };
        let mut system = System::new("mass", &["x", "y", "z"], formula("(x'^2 + y'^2)*(1 + z)/3 + 0.7*z'^2"));
        system.potential = Some(formula("9.81*z + x*y/9"));
        system.contacts = vec![contact];
        let state = State { t: 0.0, q: vec![0.0; 3], v: vec![3.0, 4.0, 0.0] };
        let k = kinematics(&system, &state).unwrap();
        let assembly = assemble(&Names::of(&system), &k, &Tolerances::default()).unwrap();
        let Some(Data::Exactly(exact)) = written_dynamics(&system, &ExactState::from(&state), &assembly)
        else {
            panic!("all numbers are rational")
        };
        let d = &assembly.dynamics;
        let near = |x: Fraction, y: f64| (x.to_f64() - y).abs() <= 1e-15 * (1.0 + y.abs());
        for i in 0..3 {
            assert!(near(exact.force[i], d.force[i]) && near(exact.bias[i], d.bias[i]));
            for j in 0..3 {
                assert!(near(exact.mass[i][j], d.mass[(i, j)]));
                assert!(near(exact.jacobian[i][j], d.jacobian[(i, j)]));
            }
        }
        assert_eq!(exact.mass[0][0], Fraction::new(2, 3));
        assert_eq!(exact.mu, [Fraction::new(1, 3)]);
        assert_eq!(exact.slip, [[Fraction::new(3, 5), Fraction::new(4, 5)]]);
        // γ = −2·0.1·3²/3 − 2/7.
        assert_eq!(exact.bias[0], Fraction::new(-31, 35));
        // A slip of irrational length has no such problem.
        let state = State { v: vec![1.0, 1.0, 0.0], ..state };
        let k = kinematics(&system, &state).unwrap();
        let assembly = assemble(&Names::of(&system), &k, &Tolerances::default()).unwrap();
        let data = written_dynamics(&system, &ExactState::from(&state), &assembly);
        assert!(matches!(data, Some(Data::Within(_))));
    }
}
