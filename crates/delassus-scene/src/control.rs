//! Controls over time: tables with a column for every actuator.
//!
//! ```text
//! t,    shoulder, elbow        u(t) = u_k                                     for t_k ≤ t < t_{k+1} ,   or
//! 0,    0.1,      -0.4         u(t) = u_k + (u_{k+1} − u_k) (t − t_k) / (t_{k+1} − t_k)
//! 0.5,  0.2,      -0.3
//! ```
//!
//! Before the first time the first value counts, after the last the last.

use std::sync::Arc;

use thiserror::Error;

use delassus::formula::{AnyFormula, HyperDual, Number, Point, clip, nearest};
use delassus::world::{World, actuators};

/// What is expected of the first line, of values and of times.
const HEADER: &str = "`t` and the names of actuators, with commas between them";
const NUMBERS: &str = "a finite number for every column";
const INCREASING: &str = "times that increase";
/// No bounds on a control.
pub(crate) const UNBOUNDED: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// Controls of actuators over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ControlTable {
    times: Vec<f64>,
    columns: Vec<(String, Arc<Vec<f64>>)>,
    /// Whether values change evenly between two times, and not at once at the second.
    pub linear: bool,
}

/// What is wrong with a table of controls.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{unit} {line}: {found}, expected {expected}")]
pub struct ControlError {
    /// What is counted: lines of a text, rows of columns.
    pub unit: &'static str,
    /// Line, or row of values, from 1.
    pub line: usize,
    /// What stands there.
    pub found: String,
    /// What was expected.
    pub expected: &'static str,
}

/// An actuator that a world does not have.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("there is no actuator `{name}`{}", suggestion.as_ref().map_or(String::new(), |s| format!("; perhaps `{s}`")))]
pub struct UnknownActuator {
    /// The name.
    pub name: String,
    /// The one that may have been meant.
    pub suggestion: Option<String>,
}

/// Gives actuators of a world controls by their names: constants, and columns of a table before them.
pub fn set_controls(
    world: &mut World,
    constants: &[(String, f64)],
    table: Option<&ControlTable>,
) -> Result<(), UnknownActuator> {
    let all = actuators(world);
    let columns = table.iter().flat_map(|table| table.names().map(|name| (name, 0.0)));
    for (name, value) in constants.iter().map(|(name, value)| (name.as_str(), *value)).chain(columns) {
        let Some(found) = all.iter().find(|actuator| actuator.name == name) else {
            let suggestion = nearest(name, all.iter().map(|actuator| actuator.name.as_str()));
            return Err(UnknownActuator { name: clip(name), suggestion });
        };
        let input = control(table, name, value, UNBOUNDED, (Activation::None, 0.0));
        world.joints[found.joint].actions[found.action].kind.set_input(input);
    }
    Ok(())
}

impl ControlTable {
    /// A table of times that increase, and columns with a value for each.
    pub(crate) fn new(times: Vec<f64>, columns: Vec<(String, Vec<f64>)>, linear: bool) -> ControlTable {
        let columns = columns.into_iter().map(|(name, column)| (name, Arc::new(column))).collect();
        ControlTable { times, columns, linear }
    }

    /// Reads a table with commas: `t` and the names of actuators in the first line, then one for each time.
    pub fn parse(text: &str, linear: bool) -> Result<ControlTable, ControlError> {
        let wrong = |line: usize, found: String, expected| wrong("line", line + 1, found, expected);
        let mut lines = text
            .lines()
            .enumerate()
            .filter(|(_, l)| !l.trim().is_empty() && !l.trim_start().starts_with('#'));
        let Some((at, header)) = lines.next() else { return Err(wrong(0, "nothing".to_string(), HEADER)) };
        let names: Vec<&str> = header.split(',').map(str::trim).collect();
        check_names(&names).ok_or_else(|| wrong(at, format!("`{}`", clip(header.trim())), HEADER))?;
        let mut columns = vec![Vec::new(); names.len()];
        for (at, line) in lines {
            let row: Option<Vec<f64>> =
                line.split(',').map(|w| w.trim().parse().ok().filter(|x: &f64| x.is_finite())).collect();
            let Some(row) = row.filter(|row| row.len() == names.len()) else {
                return Err(wrong(at, format!("`{}`", clip(line.trim())), NUMBERS));
            };
            if columns[0].last().is_some_and(|last| row[0] <= *last) {
                return Err(wrong(at, format!("the time {}", row[0]), INCREASING));
            }
            columns.iter_mut().zip(&row).for_each(|(column, x)| column.push(*x));
        }
        if columns[0].is_empty() {
            return Err(wrong(at, "no times".to_string(), "a line for each time below the names"));
        }
        let times = columns.remove(0);
        Ok(ControlTable::new(times, names[1..].iter().map(|n| n.to_string()).zip(columns).collect(), linear))
    }

    /// A table of columns: the first is `t`, the others have the names of actuators.
    pub fn from_columns(
        columns: Vec<(String, Vec<f64>)>,
        linear: bool,
    ) -> Result<ControlTable, ControlError> {
        let wrong = |row: usize, found: String, expected| wrong("row", row, found, expected);
        let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
        let listed = || format!("the columns `{}`", clip(&names.join(", ")));
        check_names(&names).ok_or_else(|| wrong(0, listed(), HEADER))?;
        let times = &columns[0].1;
        if times.is_empty() || columns.iter().any(|(_, column)| column.len() != times.len()) {
            return Err(wrong(0, "no times".to_string(), "a value of every column for each time"));
        }
        for row in 0..times.len() {
            if let Some((name, column)) = columns.iter().find(|(_, column)| !column[row].is_finite()) {
                let found = format!("{} in column `{}`", column[row], clip(name));
                return Err(wrong(row + 1, found, NUMBERS));
            }
            if row > 0 && times[row] <= times[row - 1] {
                return Err(wrong(row + 1, format!("the time {}", times[row]), INCREASING));
            }
        }
        let mut columns = columns.into_iter();
        let times = columns.next().map(|(_, times)| times).unwrap_or_default();
        Ok(ControlTable::new(times, columns.collect(), linear))
    }

    /// The names of its columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    /// The times and the values of a column.
    fn column(&self, name: &str) -> Option<(&[f64], &[f64])> {
        let (_, column) = self.columns.iter().find(|(n, _)| n == name)?;
        Some((&self.times, column))
    }
}

fn wrong(unit: &'static str, line: usize, found: String, expected: &'static str) -> ControlError {
    ControlError { unit, line, found, expected }
}

/// Whether columns are called `t` and by names that differ.
fn check_names(names: &[&str]) -> Option<()> {
    let (time, names) = names.split_first()?;
    let twice = names.iter().enumerate().any(|(i, n)| n.is_empty() || names[..i].contains(n));
    (["t", "time"].contains(time) && !names.is_empty() && !twice).then_some(())
}

/// What becomes of a control u before it acts: a.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Activation {
    /// a = u.
    None,
    /// ȧ = u.
    Integrator,
    /// ȧ = (u − a)/τ.
    Filter {
        /// τ, s.
        tau: f64,
    },
}

impl Activation {
    /// a a time x after it was a₀, with the control u + s x.
    fn after(self, a0: f64, [u, s]: [f64; 2], x: HyperDual) -> HyperDual {
        let of = HyperDual::constant;
        match self {
            Activation::None => of(u) + of(s) * x,
            Activation::Integrator => of(a0) + (of(u) + of(0.5 * s) * x) * x,
            Activation::Filter { tau } => {
                of(u - s * tau) + of(s) * x + of(a0 - u + s * tau) * (of(-1.0 / tau) * x).exp()
            }
        }
    }
}

/// A piece of a control: when it begins, the activation then, the control and its slope.
#[derive(Clone, Copy)]
struct Piece {
    from: f64,
    a0: f64,
    control: [f64; 2],
}

/// The activation of an actuator as a function of time: its control is that of a table where that has a
/// column of its name, else a constant, within a range. It begins at the time zero.
pub(crate) fn control(
    table: Option<&ControlTable>,
    name: &str,
    constant: f64,
    [low, high]: [f64; 2],
    (activation, initial): (Activation, f64),
) -> AnyFormula {
    let within = |u: f64| u.clamp(low, high);
    let Some((times, values)) = table.and_then(|table| table.column(name)) else {
        let u = within(constant);
        if activation == Activation::None {
            return AnyFormula::new(u);
        }
        let of = move |at: &Point<'_, HyperDual>| activation.after(initial, [u, 0.0], at.t);
        return AnyFormula::derivatives_only(of);
    };
    let linear = table.is_some_and(|table| table.linear);
    // Before the first time the first value counts.
    let first = Piece { from: 0.0, a0: initial, control: [within(values[0]), 0.0] };
    let mut pieces = vec![first];
    for (k, (&from, &u)) in times.iter().zip(values).enumerate() {
        let slope = match times.get(k + 1) {
            Some(end) if linear => (within(values[k + 1]) - within(u)) / (end - from),
            _ => 0.0,
        };
        let last = pieces[pieces.len() - 1];
        let a0 = activation.after(last.a0, last.control, HyperDual::constant((from - last.from).max(0.0)));
        pieces.push(Piece { from, a0: a0.value, control: [within(u), slope] });
    }
    AnyFormula::derivatives_only(move |at: &Point<'_, HyperDual>| {
        let next = pieces[1..].partition_point(|piece| piece.from <= at.t.value);
        let Piece { from, a0, control } = pieces[next];
        activation.after(a0, control, at.t - HyperDual::constant(from))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_hold_or_change_evenly() {
        let text = "# controls\nt, a, b\n0, 1, 2\n1, 3, -2\n\n3, 5, 0\n";
        let at = |linear: bool, t: f64| {
            let table = ControlTable::parse(text, linear).unwrap();
            let u = control(Some(&table), "a", 9.0, UNBOUNDED, (Activation::None, 0.0));
            u.value(&Point { q: &[], v: &[], t })
        };
        for (t, hold, even) in
            [(-1.0, 1.0, 1.0), (0.5, 1.0, 2.0), (1.0, 3.0, 3.0), (2.0, 3.0, 4.0), (9.0, 5.0, 5.0)]
        {
            assert_eq!((at(false, t), at(true, t)), (hold, even), "{t}");
        }
        let table = ControlTable::parse(text, false).unwrap();
        let value = |name: &str, t: f64| {
            let u = control(Some(&table), name, 7.0, [-1.0, 1.0], (Activation::None, 0.0));
            u.value(&Point { q: &[], v: &[], t })
        };
        assert_eq!(
            [value("b", 0.0), value("b", 1.0), value("b", 3.0), value("c", 0.0)],
            [1.0, -1.0, 0.0, 1.0]
        );
    }

    #[test]
    fn activations_are_those_of_their_equations() {
        // Steps of Runge and Kutta of 1e-3 s along the control, which breaks at whole seconds: 1e-12.
        let text = "t,a\n0,1\n1,3\n2,-2\n";
        for linear in [false, true] {
            let table = ControlTable::parse(text, linear).unwrap();
            let u = |t: f64| match (linear, t) {
                (true, t) if t < 1.0 => 1.0 + 2.0 * t,
                (true, t) => 3.0 - 5.0 * (t - 1.0),
                (false, t) if t < 1.0 => 1.0,
                (false, _) => 3.0,
            };
            for activation in [Activation::Integrator, Activation::Filter { tau: 0.3 }] {
                let exact = control(Some(&table), "a", 0.0, UNBOUNDED, (activation, 0.5));
                let slope = |t: f64, a: f64| match activation {
                    Activation::Filter { tau } => (u(t) - a) / tau,
                    _ => u(t),
                };
                let (mut a, h) = (0.5, 1e-3);
                for k in 0..1999 {
                    let t = f64::from(k) * h;
                    // Just before a break at the end.
                    let end = t + h * (1.0 - 1e-12);
                    let k1 = slope(t, a);
                    let k2 = slope(t + 0.5 * h, a + 0.5 * h * k1);
                    let k3 = slope(t + 0.5 * h, a + 0.5 * h * k2);
                    let k4 = slope(end, a + h * k3);
                    a += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4);
                    let found = exact.value(&Point { q: &[], v: &[], t: f64::from(k + 1) * h });
                    assert!((found - a).abs() < 1e-9, "{linear} {activation:?} {t}: {found} {a}");
                }
            }
        }
    }

    #[test]
    fn columns_are_a_table_too_and_bad_ones_are_refused_with_their_row() {
        let table = |t: &[f64], a: &[f64], first: &str| {
            let columns = vec![(first.to_string(), t.to_vec()), ("a".to_string(), a.to_vec())];
            ControlTable::from_columns(columns, true)
        };
        let text = "t,a\n0,1\n0.1,3\n";
        assert_eq!(table(&[0.0, 0.1], &[1.0, 3.0], "t"), ControlTable::parse(text, true));
        let cases = [
            (table(&[0.0], &[1.0], "x"), "row 0: the columns `x, a`, expected `t` and the names"),
            (table(&[], &[], "t"), "row 0: no times"),
            (table(&[0.0, 0.0], &[1.0, 2.0], "t"), "row 2: the time 0, expected times that increase"),
            (table(&[0.0], &[f64::NAN], "time"), "row 1: NaN in column `a`"),
        ];
        for (found, expected) in cases {
            let error = found.unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn bad_tables_are_refused_with_their_line() {
        let cases = [
            ("", 1, "the names of actuators"),
            ("a,b\n0,1\n", 1, "`t` and the names"),
            ("t,a,a\n", 1, "`t` and the names"),
            ("t,a\n", 1, "a line for each time"),
            ("t,a\n0,1\n0,2\n", 3, "times that increase"),
            ("t,a\n0,1,2\n", 2, "a finite number for every column"),
            ("t,a\n0,inf\n", 2, "a finite number for every column"),
        ];
        for (text, line, expected) in cases {
            let error = ControlTable::parse(text, false).unwrap_err();
            assert!(error.line == line && error.to_string().contains(expected), "{text:?}: {error}");
        }
    }
}
