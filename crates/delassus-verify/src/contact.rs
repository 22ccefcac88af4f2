//! Contact problems: do solutions exist, and are they the only ones?
//!
//! ```text
//! M a + F = Jᵀ f ,   u = J a + γ ,   (f, u) in the laws
//! ```

use serde_json::Value;

use crate::balance::{Balance, rest, without_friction};
use crate::definite::{Symmetric, least_eigenvalue};
use crate::document::{field, inside, read, word};
use crate::fault::{Fault, refuse};
use crate::pieces;
use crate::problem::{Answers, Constraint, Problem};

const QUESTIONS: [&str; 3] = ["existence", "acceleration_unique", "forces_unique"];

/// The check of a certificate of the kind `contact-problem`.
pub fn check(document: &Value) -> Result<String, Fault> {
    let problem = read(document, "problem", Problem::read)?;
    let claimed = read(document, "claim", claims)?;
    let facts = field(document, "facts")?;
    let proved = match read(facts, "method", word).map_err(|e| inside("facts", e))? {
        "rest" => rests(problem, facts)?,
        "pieces" => pieces::check(&problem, facts)?,
        other => {
            return Err(Fault::Form(format!(
                "facts.method: expected \"rest\" or \"pieces\", found \"{other}\""
            )));
        }
    };
    let mut said = Vec::new();
    for ((question, claim), proof) in QUESTIONS.iter().zip(claimed).zip(proved) {
        if claim.is_some() && claim != proof {
            return refuse(&format!("the facts do not prove what is claimed of {question}"));
        }
        said.extend(claim.map(|claim| format!("{question}: {}", if claim { "yes" } else { "no" })));
    }
    Ok(said.join(", "))
}

fn claims(claim: &Value) -> Result<Answers, Fault> {
    let one = |key: &&str| match claim.get(*key) {
        None => Ok(None),
        Some(Value::Bool(yes)) => Ok(Some(*yes)),
        Some(_) => Err(Fault::Form(format!("{key}: expected true or false"))),
    };
    let all = [one(&QUESTIONS[0])?, one(&QUESTIONS[1])?, one(&QUESTIONS[2])?];
    if all == [None; 3] {
        return Err(Fault::Form("expected one of existence, acceleration_unique, forces_unique".into()));
    }
    Ok(all)
}

/// Forces without friction balance F, M is positive definite: a = 0 is the only acceleration. Friction is
/// allowed at pads.
fn rests(problem: Problem, facts: &Value) -> Result<Answers, Fault> {
    let mut mass = Symmetric::default();
    for (i, row) in problem.mass.iter().enumerate() {
        for (j, x) in row {
            if *j != i && !problem.mass[*j].iter().any(|(k, y)| *k == i && y == x) {
                return refuse("the mass is not symmetric");
            }
            if *j <= i {
                mass.add(i, *j, x);
            }
        }
    }
    read(facts, "mass", |fact| least_eigenvalue(problem.mass.len(), mass, fact))?;
    let pads: Vec<bool> = problem.constraints.iter().map(|c| problem.is_pad(c)).collect();
    let balance = Balance::new(problem.constraints, problem.force)?;
    let forces = rest(&balance, &balance.load, facts)?;
    let is_pad = |contact: &Constraint| {
        let at = balance.constraints.iter().position(|c| std::ptr::eq(c, contact));
        at.is_some_and(|at| pads[at])
    };
    without_friction(&balance, &forces, is_pad)?;
    Ok([Some(true), Some(true), None])
}
