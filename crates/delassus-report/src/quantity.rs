//! One number or word of an analysis: what maps and sweeps show.

use std::borrow::Cow;

use delassus::analysis::SystemAnalysis;
use delassus::lagrangian::{ContactState, Names};
use delassus_solve::analysis::Analysis;
use delassus_solve::analysis::theorems::outcome_of;
use delassus_solve::lcp::{Verdict, p_matrix};
use serde_json::Value;

use crate::document::{analysis_document, verdict_word};
use crate::words::{outcome_word, solution_kind};

/// What is asked of an analysis.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    /// How many solutions there are, in words.
    Solutions,
    /// Whether there is one.
    Existence,
    /// Whether there is one acceleration.
    AccelerationUnique,
    /// Whether there is one set of forces.
    ForcesUnique,
    /// Whether the matrix of the LCP is a P-matrix.
    PMatrix,
    /// Jamming friction of a contact, of the first one where none is named.
    MuJam(Option<String>),
    /// Critical friction.
    MuCrit(Option<String>),
    /// Locking angle, degrees.
    LockingAngle(Option<String>),
    /// Friction below which the answer is unique.
    FrictionBound,
    /// Normal force of a contact or joint in the first solution.
    Force(String),
    /// Whether the hypotheses of a proposition are met.
    Proposition(String),
    /// A place in the document of `analyze`.
    Pointer(String),
}

/// The value of a quantity.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A finite number.
    Number(f64),
    /// A word.
    Word(Cow<'static, str>),
    /// A quantity without a finite value.
    Absent,
    /// No such place in the document.
    Missing,
    /// The file poses no state here.
    NoState,
}

impl Quantity {
    /// From its name, such as `mu_jam:tip`. Contacts and joints must be among `names`, where these are given.
    pub fn parse(text: &str, names: Option<&Names>) -> Result<Quantity, String> {
        use Quantity::*;
        let (name, owner) = match text.split_once(':') {
            Some((name, owner)) => (name, Some(owner)),
            None => (text, None),
        };
        let contact = || match (owner, names) {
            (None, Some(names)) if names.contacts.is_empty() => Err("the system has no contact".to_string()),
            (Some(o), Some(names)) if !names.contacts.iter().any(|n| n == o) => {
                Err(format!("no contact `{o}`; expected one of: {}", names.contacts.join(", ")))
            }
            _ => Ok(owner.map(str::to_owned)),
        };
        if text.starts_with('/') {
            return Ok(Pointer(text.to_string()));
        }
        match (name, owner) {
            ("solutions", None) => Ok(Solutions),
            ("existence", None) => Ok(Existence),
            ("acceleration_unique", None) => Ok(AccelerationUnique),
            ("forces_unique", None) => Ok(ForcesUnique),
            ("p_matrix", None) => Ok(PMatrix),
            ("friction_bound", None) => Ok(FrictionBound),
            ("mu_jam", _) => contact().map(MuJam),
            ("mu_crit", _) => contact().map(MuCrit),
            ("locking_angle", _) => contact().map(LockingAngle),
            ("proposition", Some(o)) => Ok(Proposition(o.to_string())),
            ("force", Some(o)) => match names {
                Some(names) if !names.contacts.iter().chain(&names.joints).any(|n| n == o) => {
                    Err(format!("no contact or joint `{o}`"))
                }
                _ => Ok(Force(o.to_string())),
            },
            _ => Err(format!(
                "no quantity `{text}`; expected solutions, existence, acceleration_unique, forces_unique, p_matrix, \
                 mu_jam, mu_crit, locking_angle, friction_bound, force:NAME, proposition:ID or a place such as \
                 /contacts/0/mu"
            )),
        }
    }

    /// Whether the propositions of the papers and their certificates, which take most of the time, can change
    /// what is shown.
    pub(super) fn needs_propositions(&self, known: &SystemAnalysis) -> bool {
        use Quantity::*;
        let open = |of: fn(&Analysis) -> Verdict| known.analysis.as_ref().is_some_and(|a| a.may_gain(of(a)));
        match self {
            Existence => open(|a| a.existence),
            AccelerationUnique => open(|a| a.acceleration_unique),
            ForcesUnique => open(|a| a.forces_unique),
            Solutions => {
                open(|a| a.existence) || open(|a| a.acceleration_unique) || open(|a| a.forces_unique)
            }
            Pointer(_) => true,
            Proposition(_) | PMatrix | MuJam(_) | MuCrit(_) | LockingAngle(_) | FrictionBound | Force(_) => {
                false
            }
        }
    }

    /// Whether its values are words; places in the document hold both, and count as numbers.
    pub fn is_word(&self) -> bool {
        use Quantity::*;
        match self {
            Solutions | Existence | AccelerationUnique | ForcesUnique | PMatrix | Proposition(_) => true,
            Pointer(_) | MuJam(_) | MuCrit(_) | LockingAngle(_) | FrictionBound | Force(_) => false,
        }
    }

    /// What it is called beside a scale; `text` is its name.
    pub fn label(&self, text: &str) -> String {
        match self {
            Quantity::LockingAngle(_) => "locking angle, deg".to_string(),
            Quantity::MuJam(_) => "jamming friction".to_string(),
            Quantity::MuCrit(_) => "critical friction".to_string(),
            Quantity::FrictionBound => "friction bound".to_string(),
            Quantity::Force(name) => format!("force of {name}"),
            _ => text.to_string(),
        }
    }

    /// Its value.
    pub(super) fn of(&self, result: &SystemAnalysis) -> Cell {
        let verdict = |v: Option<Verdict>| Cell::Word(verdict_word(v.unwrap_or(Verdict::Refuted)).into());
        let number = |x: Option<f64>| x.filter(|x| x.is_finite()).map_or(Cell::Absent, Cell::Number);
        let analysis = result.analysis.as_ref();
        let cone = |name: &Option<String>| {
            let at = match name {
                None => 0,
                Some(name) => result.contacts.iter().position(|c| c.name == *name)?,
            };
            result.contacts.get(at).and_then(|c| c.cone.as_ref())
        };
        match self {
            Quantity::Solutions => Cell::Word(analysis.map_or("no solution", how_many).into()),
            Quantity::Existence => verdict(analysis.map(|a| a.existence)),
            Quantity::AccelerationUnique => verdict(analysis.map(|a| a.acceleration_unique)),
            Quantity::ForcesUnique => verdict(analysis.map(|a| a.forces_unique)),
            Quantity::PMatrix => match &result.lcp {
                Some(lcp) => verdict(Some(p_matrix(&lcp.matrix))),
                None => Cell::Absent,
            },
            Quantity::MuJam(k) => number(cone(k).and_then(|c| c.mu_jam)),
            Quantity::MuCrit(k) => number(cone(k).and_then(|c| c.mu_crit)),
            // No direction locks: the sector is empty.
            Quantity::LockingAngle(k) => number(cone(k).map(|c| c.locking_angle.unwrap_or(0.0).to_degrees())),
            Quantity::FrictionBound => number(result.friction_bounds.first().map(|b| b.bound)),
            Quantity::Force(name) => number(normal_force(result, name)),
            Quantity::Proposition(id) => outcome_of(&result.assembly.dynamics, id)
                .map_or(Cell::Missing, |outcome| Cell::Word(outcome_word(outcome).into())),
            Quantity::Pointer(place) => match analysis_document(result).pointer(place) {
                Some(Value::Number(x)) => number(x.as_f64()),
                Some(Value::String(s)) => Cell::Word(s.clone().into()),
                Some(Value::Bool(b)) => Cell::Word(if *b { "true" } else { "false" }.into()),
                Some(Value::Null) => Cell::Absent,
                Some(_) | None => Cell::Missing,
            },
        }
    }
}

impl Quantity {
    /// Why it is nothing that a cell could hold: a list, a place that no document has, no proposition.
    pub(super) fn refusal(&self, result: &SystemAnalysis) -> Option<String> {
        match self {
            Quantity::Pointer(place) => {
                let document = analysis_document(result);
                let first = place.split('/').nth(1).unwrap_or("");
                let all = document.as_object().into_iter().flat_map(|keys| keys.keys());
                match document.pointer(place) {
                    Some(Value::Array(list)) => {
                        let many = list.len();
                        Some(format!(
                            "`{place}` is a list of {many}: expected a number or word in it, in {place}/0"
                        ))
                    }
                    Some(Value::Object(keys)) => {
                        let keys: Vec<&str> = keys.keys().map(String::as_str).collect();
                        let keys = keys.join(", ");
                        Some(format!("`{place}` is no number or word; expected one in it: {keys}"))
                    }
                    None if document.get(first).is_none() => {
                        let keys = all.map(String::as_str).collect::<Vec<_>>().join(", ");
                        Some(format!("`{place}`: no `{first}` in an analysis; expected one of: {keys}"))
                    }
                    _ => None,
                }
            }
            Quantity::Proposition(id) if outcome_of(&result.assembly.dynamics, id).is_none() => {
                Some(format!("no proposition `{id}` speaks of this scene; `analyze` lists those that do"))
            }
            _ => None,
        }
    }
}

/// How many solutions there are, as far as the verdicts go: a list alone proves nothing.
fn how_many(analysis: &Analysis) -> &'static str {
    use Verdict::{Proved, Refuted};
    let [existence, acceleration, forces] = analysis.verdicts();
    match (existence, acceleration, forces) {
        (Refuted, ..) => "no solution",
        (Proved, Proved, Proved) => "one solution",
        (Proved, _, Refuted) | (Proved, Refuted, _) => match solution_kind(analysis) {
            "infinite" if !analysis.is_partial() => "infinitely many solutions",
            _ => "several solutions",
        },
        _ => "unknown",
    }
}

/// The normal force of a contact or joint in the first solution.
fn normal_force(result: &SystemAnalysis, name: &str) -> Option<f64> {
    let component = result.analysis.as_ref()?.solutions.components.first()?;
    let offsets = result.assembly.dynamics.offsets();
    if let Some(k) = result.names.joints.iter().position(|n| n == name) {
        return component.force.get(offsets[k]).copied();
    }
    let k = result.names.contacts.iter().position(|n| n == name)?;
    match result.assembly.contacts[k] {
        ContactState::Active(at) => component.force.get(offsets[at]).copied(),
        _ => Some(0.0),
    }
}
