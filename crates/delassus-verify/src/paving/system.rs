//! The system of a paving, as formulas, and its terms on a box of parameters.
//!
//! ```text
//! M = ∂²T/∂v∂v ,   F = D ∂T/∂v − ∂T/∂q + ∂V/∂q − Q ,   J = ∂h/∂q ,   γ = D D h        D = v·∂/∂q + ∂/∂t
//! ```
//!
//! q ∈ ℝⁿ are positions and v velocities, T and V kinetic and potential energy, Q other forces, h the gap of
//! a contact or the value of a joint. M q̈ + F = Jᵀ f are the equations of motion and ḧ = J q̈ + γ is what a
//! constraint sees of them; D differentiates in time along the motion.

use serde_json::Value;

use super::bounds::Bounds;
use super::formula::{Dual, Formula};
use super::matrix::{Matrix, matrix};
use crate::document::{at as place, index, inside, items, list, list_of, numbered, read, word};
use crate::fault::Fault;
use crate::number::{Interval, Number, number, whole};

/// Things of one kind beyond which a problem is refused.
const MAX_COUNT: usize = 1 << 12;

/// What a constraint is about.
pub enum Measure {
    /// h(q, t).
    Displacement(Formula),
    /// u(q, v, t), linear in v.
    Velocity(Formula),
}

/// A joint or a contact.
pub struct Constraint {
    pub is_contact: bool,
    pub row: Measure,
    pub slip: Vec<Measure>,
    /// Of a joint both are the same.
    pub mu_static: Formula,
    pub mu_kinetic: Formula,
}

/// A parameter and its range.
pub struct Parameter {
    pub name: String,
    pub range: [Number; 2],
}

/// The problem of a paving.
pub struct System {
    /// The parameters of the box, then those for all of whose values it is asked.
    pub parameters: Vec<Parameter>,
    /// How many are those of the box.
    pub over: usize,
    pub any_slip: bool,
    pub any_load: bool,
    pub position_tolerance: Bounds,
    pub velocity_tolerance: Bounds,
    /// Joints, then contacts.
    pub constraints: Vec<Constraint>,
    /// Coordinates that follow from joints, and these joints.
    pub follows: Option<[Vec<usize>; 2]>,
    definitions: Vec<Formula>,
    time: Formula,
    positions: Vec<Formula>,
    velocities: Vec<Formula>,
    kinetic: Formula,
    potential: Option<Formula>,
    forces: Vec<(usize, Formula)>,
}

/// Coordinates that follow from joints, with their velocities.
pub struct Closed {
    pub positions: Vec<Bounds>,
    pub velocities: Vec<Bounds>,
}

impl System {
    /// The problem of a certificate.
    pub fn read(problem: &Value) -> Result<Self, Fault> {
        let parameter = |value: &Value| match items(value)? {
            [name, lo, hi] => {
                Ok(Parameter { name: word(name)?.to_owned(), range: [number(lo)?, number(hi)?] })
            }
            _ => Err(Fault::Form("expected [name, from, to]".into())),
        };
        let mut parameters = read(problem, "over", |value| list(value, parameter))?;
        let over = parameters.len();
        if over == 0 || parameters.iter().any(|p| p.range[0] >= p.range[1]) {
            return Err(Fault::Form("over: expected ranges that are not empty".into()));
        }
        parameters.extend(read(problem, "for_all", |value| list(value, parameter))?);
        if parameters[over..].iter().any(|p| p.range[0] > p.range[1]) {
            return Err(Fault::Form("for_all: expected ranges in order".into()));
        }
        let mut names: Vec<String> = parameters.iter().map(|p| p.name.clone()).collect();
        let mut definitions = Vec::new();
        for (i, value) in numbered(read(problem, "definitions", items)?) {
            let [name, formula] = items(value).map_err(|e| place("definitions", i, e))? else {
                return Err(place("definitions", i, Fault::Form("expected [name, formula]".into())));
            };
            definitions.push(Formula::read(formula, &names).map_err(|e| place("definitions", i, e))?);
            names.push(word(name).map_err(|e| place("definitions", i, e))?.to_owned());
        }
        let coordinates = read(problem, "coordinates", |value| list(value, |v| Ok(word(v)?.to_owned())))?;
        let n = coordinates.len();
        let state = |key: &str| read(problem, key, |value| list_of(value, n, |f| Formula::read(f, &names)));
        let (positions, velocities) = (state("positions")?, state("velocities")?);
        let time = read(problem, "time", |value| Formula::read(value, &names))?;
        names.extend(coordinates.iter().cloned());
        names.extend(coordinates.iter().map(|name| format!("{name}'")));
        names.push("t".into());
        let mut sorted: Vec<&String> = names.iter().collect();
        sorted.sort_unstable();
        if n == 0 || n > MAX_COUNT || sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(Fault::Form("expected coordinates, and every name once".into()));
        }
        let formula = |value: &Value| Formula::read(value, &names);
        let force = |value: &Value| match items(value)? {
            [coordinate, value] => Ok((index(coordinate, n)?, formula(value)?)),
            _ => Err(Fault::Form("expected [coordinate, formula]".into())),
        };
        let flag = |key: &str| {
            read(problem, key, |value| {
                value.as_bool().ok_or_else(|| Fault::Form("expected true or false".into()))
            })
        };
        let tolerance = |key: &str| read(problem, "tolerances", |value| read(value, key, Interval::read));
        let mut constraints = read(problem, "joints", |value| list(value, |v| constraint(v, &names, false)))?;
        let joints = constraints.len();
        constraints.extend(read(problem, "contacts", |value| list(value, |v| constraint(v, &names, true)))?);
        let follows = match problem.get("follows") {
            None => None,
            Some(own) => {
                let all = |key: &str, limit: usize| {
                    read(own, key, |value| list(value, |v| index(v, limit))).map_err(|e| inside("follows", e))
                };
                Some([all("coordinates", n)?, all("joints", joints)?])
            }
        };
        Ok(System {
            over,
            any_slip: flag("any_slip")?,
            any_load: flag("any_load")?,
            position_tolerance: Bounds::around(&tolerance("position")?),
            velocity_tolerance: Bounds::around(&tolerance("velocity")?),
            kinetic: read(problem, "kinetic", formula)?,
            potential: problem.get("potential").map(|_| read(problem, "potential", formula)).transpose()?,
            forces: read(problem, "forces", |value| list(value, force))?,
            parameters,
            constraints,
            follows,
            definitions,
            time,
            positions,
            velocities,
        })
    }

    fn count(&self) -> usize {
        self.positions.len()
    }

    /// The place of the first position among the values.
    fn first(&self) -> usize {
        self.parameters.len() + self.definitions.len()
    }

    /// Values of all names on a box of parameters; with a parameter to differentiate by, in direction b.
    pub fn values(&self, at: &[Bounds], by: Option<usize>, closed: Option<&Closed>) -> Vec<Dual> {
        let one = |k: usize| if by == Some(k) { Bounds::ONE } else { Bounds::ZERO };
        let mut values: Vec<Dual> =
            at.iter().enumerate().map(|(k, x)| Dual { b: one(k), ..Dual::constant(*x) }).collect();
        for formula in &self.definitions {
            let value = formula.at(&values);
            values.push(value);
        }
        let of = |all: &[Formula], values: &[Dual]| all.iter().map(|f| f.at(values)).collect::<Vec<Dual>>();
        let [mut q, mut v] = [of(&self.positions, &values), of(&self.velocities, &values)];
        let time = self.time.at(&values);
        if let (Some(closed), Some([unknowns, _])) = (closed, &self.follows) {
            // How they change with a parameter is not known.
            let slope = if by.is_some() { Bounds::UNDEFINED } else { Bounds::ZERO };
            let known = |x: Bounds| Dual { b: slope, ab: slope, ..Dual::constant(x) };
            for (k, &i) in unknowns.iter().enumerate() {
                (q[i], v[i]) = (known(closed.positions[k]), known(closed.velocities[k]));
            }
        }
        values.extend(q);
        values.extend(v);
        values.push(time);
        values
    }

    /// M.
    pub fn mass(&self, values: &[Dual]) -> Matrix {
        let (n, v) = (self.count(), self.first() + self.count());
        let entry = |i: usize, j: usize| {
            let mut moved = values.to_vec();
            moved[v + i].a = Bounds::ONE;
            moved[v + j].b = Bounds::ONE;
            self.kinetic.at(&moved).ab
        };
        let lower = matrix(n, n, |i, j| if j <= i { entry(i, j) } else { Bounds::ZERO });
        matrix(n, n, |i, j| lower[i.max(j)][i.min(j)])
    }

    /// The values with both directions along the motion.
    fn along_motion(&self, values: &[Dual]) -> Vec<Dual> {
        let (n, q) = (self.count(), self.first());
        let mut moved = values.to_vec();
        for i in 0..n {
            (moved[q + i].a, moved[q + i].b) = (values[q + n + i].value, values[q + n + i].value);
        }
        (moved[q + 2 * n].a, moved[q + 2 * n].b) = (Bounds::ONE, Bounds::ONE);
        moved
    }

    /// F.
    pub fn force(&self, values: &[Dual]) -> Vec<Bounds> {
        let (n, q) = (self.count(), self.first());
        let mut moved = self.along_motion(values);
        (0..n).for_each(|i| moved[q + i].a = Bounds::ZERO);
        moved[q + 2 * n].a = Bounds::ZERO;
        let along = |i: usize| {
            let mut moved = moved.clone();
            moved[q + n + i].a = Bounds::ONE;
            let momentum = self.kinetic.at(&moved).ab;
            moved[q + n + i].a = Bounds::ZERO;
            moved[q + i].a = Bounds::ONE;
            let potential = self.potential.as_ref().map_or(Bounds::ZERO, |v| v.at(&moved).a);
            let given = self.forces.iter().filter(|(k, _)| *k == i).map(|(_, f)| f.at(values).value);
            given.fold(momentum - self.kinetic.at(&moved).a + potential, |sum, f| sum - f)
        };
        (0..n).map(along).collect()
    }

    /// The gradient and the bias of a constraint.
    pub fn row(&self, measure: &Measure, values: &[Dual]) -> (Vec<Bounds>, Bounds) {
        let (n, q) = (self.count(), self.first());
        let gradient = |formula: &Formula, first: usize| {
            let slope = |i: usize| {
                let mut moved = values.to_vec();
                moved[first + i].a = Bounds::ONE;
                formula.at(&moved).a
            };
            (0..n).map(slope).collect::<Vec<Bounds>>()
        };
        let motion = self.along_motion(values);
        match measure {
            Measure::Displacement(h) => (gradient(h, q), h.at(&motion).ab),
            Measure::Velocity(u) => (gradient(u, q + n), u.at(&motion).a),
        }
    }

    /// Bounds of the value and of the velocity of a constraint on a box: as they come, and by the mean value.
    pub fn motion(&self, measure: &Measure, at: &[Bounds], closed: Option<&Closed>) -> [Bounds; 2] {
        let naive = self.rates(measure, at, None, closed);
        let wide: Vec<usize> = (0..at.len()).filter(|k| at[*k].has_width()).collect();
        let middle: Vec<Bounds> = at.iter().map(|x| Bounds::point(x.middle())).collect();
        let mut central = self.rates(measure, &middle, None, closed);
        for &k in &wide {
            let slopes = self.rates(measure, at, Some(k), closed);
            for (sum, slope) in central.iter_mut().zip(slopes) {
                *sum = *sum + slope * (at[k] - middle[k]);
            }
        }
        let both = |k: usize| if central[k].is_undefined() { naive[k] } else { naive[k].and(central[k]) };
        [both(0), both(1)]
    }

    /// Value and velocity of a constraint, or their derivatives by a parameter.
    fn rates(
        &self,
        measure: &Measure,
        at: &[Bounds],
        by: Option<usize>,
        closed: Option<&Closed>,
    ) -> [Bounds; 2] {
        let (n, q) = (self.count(), self.first());
        let mut values = self.values(at, by, closed);
        match measure {
            Measure::Displacement(h) => {
                for i in 0..n {
                    let velocity = values[q + n + i];
                    (values[q + i].a, values[q + i].ab) = (velocity.value, velocity.b);
                }
                values[q + 2 * n].a = Bounds::ONE;
                let x = h.at(&values);
                if by.is_none() { [x.value, x.a] } else { [x.b, x.ab] }
            }
            Measure::Velocity(u) => {
                let x = u.at(&values);
                [Bounds::ZERO, if by.is_none() { x.value } else { x.b }]
            }
        }
    }

    /// The values on a box of parameters with these coordinates in the place of those that follow.
    fn with_coordinates(&self, at: &[Bounds], by: Option<usize>, x: &[Bounds]) -> Vec<Dual> {
        let mut values = self.values(at, by, None);
        for (&i, x) in self.unknowns().iter().zip(x) {
            values[self.first() + i] = Dual::constant(*x);
        }
        values
    }

    /// The coordinates that follow from joints.
    pub fn unknowns(&self) -> &[usize] {
        self.follows.as_ref().map_or(&[], |[unknowns, _]| unknowns)
    }

    fn closing(&self) -> impl Iterator<Item = &Formula> {
        let joints = self.follows.iter().flat_map(|[_, joints]| joints);
        joints.filter_map(|&k| match &self.constraints[k].row {
            Measure::Displacement(h) => Some(h),
            Measure::Velocity(_) => None,
        })
    }

    /// h of the joints that close: as they come, and by the mean value.
    pub fn closing_values(&self, at: &[Bounds], x: &[Bounds]) -> Vec<Bounds> {
        let middle: Vec<Bounds> = at.iter().map(|p| Bounds::point(p.middle())).collect();
        let (naive, central) = (self.with_coordinates(at, None, x), self.with_coordinates(&middle, None, x));
        let wide = (0..at.len()).filter(|k| at[*k].has_width());
        let slopes: Vec<(usize, Vec<Dual>)> =
            wide.map(|k| (k, self.with_coordinates(at, Some(k), x))).collect();
        let value = |h: &Formula| {
            let (naive, central) = (h.at(&naive).value, h.at(&central).value);
            let sum =
                slopes.iter().fold(central, |sum, (k, values)| sum + h.at(values).b * (at[*k] - middle[*k]));
            if sum.is_undefined() { naive } else { naive.and(sum) }
        };
        self.closing().map(value).collect()
    }

    /// Their gradients by the coordinates that follow, and −ḣ while these rest.
    pub fn closing_slopes(&self, at: &[Bounds], x: &[Bounds]) -> (Matrix, Matrix) {
        let (n, q) = (self.count(), self.first());
        let values = self.with_coordinates(at, None, x);
        let mut moved = values.clone();
        for i in (0..n).filter(|i| !self.unknowns().contains(i)) {
            moved[q + i].a = values[q + n + i].value;
        }
        moved[q + 2 * n].a = Bounds::ONE;
        let slope = |h: &Formula, i: usize| {
            let mut turned = values.clone();
            turned[q + i].a = Bounds::ONE;
            h.at(&turned).a
        };
        let gradients = self.closing().map(|h| self.unknowns().iter().map(|&i| slope(h, i)).collect());
        (gradients.collect(), self.closing().map(|h| vec![-h.at(&moved).a]).collect())
    }

    /// The ranges of all dimensions: parameters, then the angles of directions of sliding, from 0 to a little
    /// more than 2π.
    pub fn ranges(&self) -> Vec<[Number; 2]> {
        let circle = [whole(0), Number::new(710.into(), 113.into())];
        let angles = self.constraints.iter().filter(|c| self.has_angle(c)).map(|_| circle.clone());
        self.parameters.iter().map(|p| p.range.clone()).chain(angles).collect()
    }

    /// Whether the direction of sliding of a constraint is a dimension of its own.
    pub fn has_angle(&self, c: &Constraint) -> bool {
        self.any_slip && c.slip.len() == 2
    }
}

fn constraint(value: &Value, names: &[String], is_contact: bool) -> Result<Constraint, Fault> {
    let formula = |key: &str| read(value, key, |value| Formula::read(value, names));
    let slip = read(value, "slip", |value| list(value, |value| measure(value, names)))?;
    if slip.len() > 2 {
        return Err(Fault::Form("slip: expected two at most".into()));
    }
    let [mu_static, mu_kinetic] = if is_contact { ["mu_static", "mu_kinetic"] } else { ["mu", "mu"] };
    Ok(Constraint {
        is_contact,
        row: read(value, "row", |value| measure(value, names))?,
        slip,
        mu_static: formula(mu_static)?,
        mu_kinetic: formula(mu_kinetic)?,
    })
}

fn measure(value: &Value, names: &[String]) -> Result<Measure, Fault> {
    if value.get("velocity").is_some() {
        return Ok(Measure::Velocity(read(value, "velocity", |value| Formula::read(value, names))?));
    }
    let h = read(value, "displacement", |value| Formula::read(value, names))?;
    let velocity = |k: usize| names[k].ends_with('\'');
    if h.names().any(velocity) {
        return Err(Fault::Form("displacement: expected a formula without velocities".into()));
    }
    Ok(Measure::Displacement(h))
}
