//! Reference values, computed independently of this project (`golden.json`).

use delassus_solve::linalg::Matrix;
use serde_json::Value;

/// Inputs and expected values under one name.
pub struct Case(pub Value);

/// All cases.
pub fn cases() -> Vec<Case> {
    let all: Value = serde_json::from_str(include_str!("golden.json")).expect("the file is JSON");
    all["cases"].as_array().expect("a list of cases").iter().cloned().map(Case).collect()
}

/// The case of this name.
pub fn case(id: &str) -> Case {
    cases().into_iter().find(|case| case.id() == id).unwrap_or_else(|| panic!("no reference value {id}"))
}

/// The numbers of a value, row by row where it is a matrix.
pub fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(entries) => entries.iter().flat_map(numbers).collect(),
        value => vec![value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))],
    }
}

/// The matrix of a value, given by its rows.
pub fn matrix(value: &Value) -> Matrix {
    Matrix::from_rows(&value.as_array().expect("an array of rows").iter().map(numbers).collect::<Vec<_>>())
}

impl Case {
    pub fn id(&self) -> &str {
        self.0["id"].as_str().expect("a name")
    }

    pub fn input(&self, key: &str) -> Vec<f64> {
        numbers(&self.0["inputs"][key])
    }

    pub fn one(&self, key: &str) -> f64 {
        self.input(key)[0]
    }

    pub fn matrix(&self, key: &str) -> Matrix {
        matrix(&self.0["inputs"][key])
    }

    pub fn expected(&self, key: &str) -> Vec<f64> {
        numbers(&self.0["expected"][key]["value"])
    }

    /// |found − expected| ≤ tol (1 + |expected|), entry by entry, with the tolerance of the reference value.
    #[track_caller]
    pub fn check(&self, key: &str, found: &[f64]) {
        let expected = self.expected(key);
        let tol = self.0["expected"][key]["tol"].as_f64().expect("a tolerance");
        assert_eq!(found.len(), expected.len(), "{}: {key}: {found:?} for {expected:?}", self.id());
        for (f, e) in found.iter().zip(&expected) {
            let close = (f - e).abs() <= tol * (1.0 + e.abs());
            assert!(close, "{}: {key}: {found:?} for {expected:?}", self.id());
        }
    }
}
