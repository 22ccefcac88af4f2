//! The problem format of Delassus, `.json`.
//!
//! | `kind` | keys |
//! |---|---|
//! | `lcp` | `matrix` (rows), `vector` |
//! | `mlcp` | `matrix`, `vector`, `free` (one `true` or `false` per row) |
//! | `local` | `laws`, `delassus`, `free_velocity`: u = W r + q |
//! | `global` | `laws`, `mass`, `jacobian_transposed`, `force`, `bias`: M v = f + H r, u = Hᵀ v + b |
//!
//! Sparse matrices are lists of `[row, column, value]`, counted from 0; their sizes follow from the vectors,
//! and repeated entries add up. A law is an object with its name in `law` and its coefficients: `{"law":
//! "coulomb", "mu": 0.5}`. Names: `bilateral`, `unilateral`, `coulomb-plane`, `coulomb`, `coulomb-ellipse`
//! (`mu` of two numbers), `rolling` (`mu`, `rolling`), `cone`, `cone-plane`, `cone-rolling` (`mu`,
//! `rolling`), `sliding` and `bilateral-sliding` (`mu`, `slip` of one or two numbers),
//! `bilateral-coulomb-plane`, `bilateral-coulomb`. Numbers are written with all their digits.

use std::path::Path;

use delassus_solve::lcp::{Lcp, Mlcp, ProblemError};
use delassus_solve::linalg::{Matrix, Sparse};
use delassus_solve::problem::{ContactProblem, Form, Law, row_offsets};
use serde::{Deserialize, Serialize};

use crate::error::FileError;
use crate::problem::Problem;

type Entries = Vec<(usize, usize, f64)>;

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum JsonKind {
    Lcp,
    Mlcp,
    Local,
    Global,
}

/// The keys of all kinds: flat, so that the parser knows the line of a wrong one.
#[derive(Deserialize, Serialize, Default)]
#[serde(deny_unknown_fields)]
struct JsonProblem {
    kind: Option<JsonKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    matrix: Option<Vec<Vec<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vector: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    free: Option<Vec<bool>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    laws: Option<Vec<Law>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delassus: Option<Entries>,
    #[serde(skip_serializing_if = "Option::is_none")]
    free_velocity: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mass: Option<Entries>,
    #[serde(skip_serializing_if = "Option::is_none")]
    jacobian_transposed: Option<Entries>,
    #[serde(skip_serializing_if = "Option::is_none")]
    force: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bias: Option<Vec<f64>>,
}

impl JsonProblem {
    /// The keys that are there.
    fn keys(&self) -> Vec<&'static str> {
        [
            ("matrix", self.matrix.is_some()),
            ("vector", self.vector.is_some()),
            ("free", self.free.is_some()),
            ("laws", self.laws.is_some()),
            ("delassus", self.delassus.is_some()),
            ("free_velocity", self.free_velocity.is_some()),
            ("mass", self.mass.is_some()),
            ("jacobian_transposed", self.jacobian_transposed.is_some()),
            ("force", self.force.is_some()),
            ("bias", self.bias.is_some()),
        ]
        .iter()
        .filter_map(|(name, there)| there.then_some(*name))
        .collect()
    }
}

/// The keys that a kind asks for: these and no others.
fn keys_of(kind: JsonKind) -> &'static [&'static str] {
    match kind {
        JsonKind::Lcp => &["matrix", "vector"],
        JsonKind::Mlcp => &["matrix", "vector", "free"],
        JsonKind::Local => &["laws", "delassus", "free_velocity"],
        JsonKind::Global => &["laws", "mass", "jacobian_transposed", "force", "bias"],
    }
}

/// Reads the text of a `.json` problem; the path names the file in messages.
pub fn parse(path: &Path, text: &str) -> Result<Problem, FileError> {
    let json: JsonProblem =
        serde_json::from_str(text).map_err(|source| FileError::Json { file: path.to_owned(), source })?;
    let wrong = |source| FileError::Problem { file: path.to_owned(), source };
    let square = |rows: Vec<Vec<f64>>| {
        let n = rows.len();
        match rows.iter().find(|r| r.len() != n) {
            Some(row) => {
                Err(wrong(ProblemError::Shape { what: "numbers in a row", expected: n, found: row.len() }))
            }
            None => Ok(Matrix::from_vec(n, n, rows.concat())),
        }
    };
    let sparse = |name: &str, rows: usize, cols: usize, entries: Entries| match entries
        .iter()
        .position(|e| e.0 >= rows || e.1 >= cols)
    {
        Some(k) => Err(FileError::content(
            path,
            format!("\"{name}\", entry {k}"),
            format!("a place in {rows} × {cols}"),
            format!("({}, {})", entries[k].0, entries[k].1),
        )),
        None => Ok(Sparse::from_triplets(rows, cols, &entries)),
    };
    let friction = |laws: Vec<Law>, form: Form| {
        ContactProblem::new(laws, form)
            .map(Problem::Friction)
            .map_err(|source| FileError::Invalid { file: path.to_owned(), source })
    };
    let Some(kind) = json.kind else {
        return Err(FileError::content(path, "\"kind\"", "lcp, mlcp, local or global", "nothing"));
    };
    let (found, expected) = (json.keys(), keys_of(kind));
    if found != expected {
        let list = |keys: &[&str]| keys.join(", ");
        let place = format!("a problem of kind {kind:?}").to_lowercase();
        return Err(FileError::content(path, place, format!("the keys {}", list(expected)), list(&found)));
    }
    let JsonProblem { matrix, vector, free, laws, delassus, free_velocity, .. } = json;
    let JsonProblem { mass, jacobian_transposed, force, bias, .. } = json;
    // What a kind does not have is empty, and what it has is there.
    let (matrix, vector) = (square(matrix.unwrap_or_default())?, vector.unwrap_or_default());
    let laws = laws.unwrap_or_default();
    let m = row_offsets(&laws)[laws.len()];
    match kind {
        JsonKind::Lcp => Lcp::new(matrix, vector).map(Problem::Lcp).map_err(wrong),
        JsonKind::Mlcp => {
            Mlcp::new(matrix, vector, free.unwrap_or_default()).map(Problem::Mlcp).map_err(wrong)
        }
        JsonKind::Local => {
            let delassus = sparse("delassus", m, m, delassus.unwrap_or_default())?;
            friction(laws, Form::Local { delassus, free_velocity: free_velocity.unwrap_or_default() })
        }
        JsonKind::Global => {
            let (force, bias) = (force.unwrap_or_default(), bias.unwrap_or_default());
            let n = force.len();
            let mass = sparse("mass", n, n, mass.unwrap_or_default())?;
            let jacobian_transposed =
                sparse("jacobian_transposed", n, m, jacobian_transposed.unwrap_or_default())?;
            friction(laws, Form::Global { mass, jacobian_transposed, force, bias })
        }
    }
}

/// The text of a `.json` problem.
pub fn format(path: &Path, problem: &Problem) -> Result<String, FileError> {
    let empty = JsonProblem::default();
    let json = match problem {
        Problem::Lcp(p) => JsonProblem {
            kind: Some(JsonKind::Lcp),
            matrix: Some(p.matrix.to_rows()),
            vector: Some(p.vector.clone()),
            ..empty
        },
        Problem::Mlcp(p) => JsonProblem {
            kind: Some(JsonKind::Mlcp),
            matrix: Some(p.matrix.to_rows()),
            vector: Some(p.vector.clone()),
            free: Some(p.free.clone()),
            ..empty
        },
        Problem::Friction(p) => match &p.form {
            Form::Local { delassus, free_velocity } => JsonProblem {
                kind: Some(JsonKind::Local),
                laws: Some(p.laws.clone()),
                delassus: Some(delassus.triplets().collect()),
                free_velocity: Some(free_velocity.clone()),
                ..empty
            },
            Form::Global { mass, jacobian_transposed, force, bias } => JsonProblem {
                kind: Some(JsonKind::Global),
                laws: Some(p.laws.clone()),
                mass: Some(mass.triplets().collect()),
                jacobian_transposed: Some(jacobian_transposed.triplets().collect()),
                force: Some(force.clone()),
                bias: Some(bias.clone()),
                ..empty
            },
        },
    };
    serde_json::to_string(&json)
        .map(|text| text + "\n")
        .map_err(|source| FileError::Json { file: path.to_owned(), source })
}
