//! With which friction, or with how much of a load, a world at rest stands or falls.
//!
//! ```text
//! friction:   μ ← x μ  at contacts          load, tilt:   F ← F + x F₁          x ≥ 0
//! ```
//!
//! Of a tilt x is its tangent and F₁ the weight along the direction of the tilt: where weight is the only
//! load and no force is bounded, the direction of the load alone counts.

use serde_json::Value;

use crate::balance::{Balance, collapse, rest};
use crate::document::{field, inside, read, word};
use crate::fault::Fault;
use crate::number::{Number, decimal, number, whole};
use crate::problem::{Law, Row, row};

/// The check of a certificate of the kind `margin`.
pub fn check(document: &Value) -> Result<String, Fault> {
    let (problem, claim, facts) =
        (field(document, "problem")?, field(document, "claim")?, field(document, "facts")?);
    let n = read(document, "problem", Balance::read)?.load.len();
    let along = match read(claim, "of", word)? {
        "friction" => None,
        "load" | "tilt" => Some(read(problem, "along", |value| row(value, n))?),
        other => {
            let expected = "expected \"friction\", \"load\" or \"tilt\"";
            return Err(Fault::Form(format!("claim.of: {expected}, found \"{other}\"")));
        }
    };
    let mut said = Vec::new();
    for key in ["stands", "falls"] {
        if claim.get(key).is_none() {
            continue;
        }
        let x = read(claim, key, number)?;
        if x < whole(0) {
            return Err(Fault::Form(format!("claim.{key}: expected a number that is not negative")));
        }
        let there = varied(Balance::read(problem)?, along.as_ref(), &x);
        let own = read(document, "facts", |_| field(facts, key))?;
        let checked = if key == "stands" {
            rest(&there, &there.load, own).map(|_| ())
        } else {
            collapse(&there, &there.load, own)
        };
        checked.map_err(|e| inside(&format!("facts.{key}"), e))?;
        said.push(format!("{key} with {}", decimal(&x)));
    }
    if said.is_empty() {
        return Err(Fault::Form("claim: expected the key `stands` or `falls`".into()));
    }
    Ok(format!("{}: {}", read(claim, "of", word)?, said.join(", ")))
}

/// The balance with x times its friction, or with x times a load more.
fn varied(mut balance: Balance, along: Option<&Row>, x: &Number) -> Balance {
    match along {
        Some(along) => along.iter().for_each(|(j, f)| balance.load[*j] = &balance.load[*j] + &f.times(x)),
        None => {
            for c in balance.constraints.iter_mut().filter(|c| c.law != Law::Bounded) {
                c.coefficients.iter_mut().for_each(|mu| *mu = mu.times(x));
            }
        }
    }
    balance
}
