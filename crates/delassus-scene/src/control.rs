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

use delassus::formula::{AnyFormula, HyperDual, Point, clip};

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
#[error("line {line}: {found}, expected {expected}")]
pub struct ControlError {
    /// Line, from 1.
    pub line: usize,
    /// What stands there.
    pub found: String,
    /// What was expected.
    pub expected: &'static str,
}

impl ControlTable {
    /// Reads a table with commas: `t` and the names of actuators in the first line, then one for each time.
    pub fn parse(text: &str, linear: bool) -> Result<ControlTable, ControlError> {
        let wrong = |line: usize, found: String, expected| ControlError { line: line + 1, found, expected };
        let mut lines = text
            .lines()
            .enumerate()
            .filter(|(_, l)| !l.trim().is_empty() && !l.trim_start().starts_with('#'));
        const HEADER: &str = "`t` and the names of actuators, with commas between them";
        let Some((at, header)) = lines.next() else { return Err(wrong(0, "nothing".to_string(), HEADER)) };
        let mut names = header.split(',').map(str::trim);
        let names: Vec<String> = match names.next() {
            Some("t" | "time") => names.map(str::to_string).collect(),
            _ => return Err(wrong(at, format!("`{}`", clip(header.trim())), HEADER)),
        };
        if names.is_empty() || names.iter().enumerate().any(|(i, n)| n.is_empty() || names[..i].contains(n)) {
            return Err(wrong(at, format!("`{}`", clip(header.trim())), HEADER));
        }
        let mut times: Vec<f64> = Vec::new();
        let mut columns = vec![Vec::new(); names.len()];
        for (at, line) in lines {
            let row: Option<Vec<f64>> =
                line.split(',').map(|w| w.trim().parse().ok().filter(|x: &f64| x.is_finite())).collect();
            let Some(row) = row.filter(|row| row.len() == names.len() + 1) else {
                return Err(wrong(
                    at,
                    format!("`{}`", clip(line.trim())),
                    "a finite number for every column",
                ));
            };
            if times.last().is_some_and(|last| row[0] <= *last) {
                return Err(wrong(at, format!("the time {}", row[0]), "times that increase"));
            }
            times.push(row[0]);
            columns.iter_mut().zip(&row[1..]).for_each(|(column, x)| column.push(*x));
        }
        if times.is_empty() {
            return Err(wrong(at, "no times".to_string(), "a line for each time below the names"));
        }
        let columns = names.into_iter().zip(columns).map(|(name, column)| (name, Arc::new(column))).collect();
        Ok(ControlTable { times, columns, linear })
    }

    /// The names of its columns.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|(name, _)| name.as_str())
    }

    /// f(u(t)) as a function of time, for the control u of this name and f(u) = clamp(a·clamp(u) + b)·c
    /// with `gain` = [a, b, c]; `None` where it has no such column.
    pub(super) fn force(
        &self,
        name: &str,
        controls: [f64; 2],
        forces: [f64; 2],
        [a, b, c]: [f64; 3],
    ) -> Option<AnyFormula> {
        let (_, column) = self.columns.iter().find(|(n, _)| n == name)?;
        let (times, column, linear) = (self.times.clone(), column.clone(), self.linear);
        let of = move |u: f64| (a * u.clamp(controls[0], controls[1]) + b).clamp(forces[0], forces[1]) * c;
        Some(AnyFormula::derivatives_only(move |at: &Point<'_, HyperDual>| {
            let next = times.partition_point(|t| *t <= at.t.value);
            let (before, after) = (next.saturating_sub(1), next.min(times.len() - 1));
            let start = HyperDual::constant(of(column[before]));
            if !linear || before == after {
                return start;
            }
            let slope = (of(column[after]) - of(column[before])) / (times[after] - times[before]);
            start + (at.t - HyperDual::constant(times[before])) * HyperDual::constant(slope)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_hold_or_change_evenly() {
        let text = "# controls\nt, a, b\n0, 1, 2\n1, 3, -2\n\n3, 5, 0\n";
        let at = |linear: bool, t: f64| {
            let table = ControlTable::parse(text, linear).unwrap();
            let all = [f64::NEG_INFINITY, f64::INFINITY];
            let force = table.force("a", all, all, [1.0, 0.0, 1.0]).unwrap();
            force.value(&Point { q: &[], v: &[], t })
        };
        for (t, hold, even) in
            [(-1.0, 1.0, 1.0), (0.5, 1.0, 2.0), (1.0, 3.0, 3.0), (2.0, 3.0, 4.0), (9.0, 5.0, 5.0)]
        {
            assert_eq!((at(false, t), at(true, t)), (hold, even), "{t}");
        }
        let table = ControlTable::parse(text, false).unwrap();
        // Controls within ±1, forces 10 u + 4 within ±8, gear 2.
        let force = table.force("b", [-1.0, 1.0], [-8.0, 8.0], [10.0, 4.0, 2.0]).unwrap();
        let value = |t: f64| force.value(&Point { q: &[], v: &[], t });
        assert_eq!([value(0.0), value(1.0), value(3.0)], [16.0, -12.0, 8.0]);
        assert!(table.force("c", [0.0; 2], [0.0; 2], [0.0; 3]).is_none());
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
