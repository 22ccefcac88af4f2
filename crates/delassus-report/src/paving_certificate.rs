//! The certificate of a paving: the system as formulas, the box, and cuts down to parts of which each is
//! proved by itself.

use delassus::analysis::{
    Configuration, Paving, PavingProof, PavingQuestion, PavingReason, PavingStep, ProvedCell,
};
use delassus::formula::{AnyFormula, Expression, Formula, Step};
use delassus::lagrangian::{Contact, Family, Joint, Measure};
use delassus_solve::lcp::Verdict;
use delassus_solve::linalg::{Interval, rational};
use serde_json::{Value, json};

use crate::certificate::{container, exact, exacts, interval};
use crate::paving::paving_word;

/// The certificate of a paving; `None` where a formula is not written, or a parameter has no bounds.
pub fn paving_certificate(
    family: &Family,
    question: &PavingQuestion<'_>,
    paving: &Paving,
    proof: &PavingProof,
) -> Option<Value> {
    let problem = Problem { family }.document(question, proof)?;
    let cells: Value = proof.cells.iter().map(|step| of_step(step, cell)).collect();
    let mut facts = json!({ "cells": cells });
    if question.cycle {
        facts["moving"] = json!(proof.moving);
        let all = proof.configurations.iter().map(|c| configuration(c, &proof.moving));
        facts["configurations"] = all.collect();
    }
    Some(container("paving", &family.system.name, problem, claim(paving, proof)?, facts))
}

/// The parts of the box with each verdict; and, where no cell was lost, the certified box and the point that
/// is refuted.
fn claim(paving: &Paving, proof: &PavingProof) -> Option<Value> {
    let zero = || rational(0.0);
    let (mut proved, mut refuted, mut no_state) = (zero()?, zero()?, zero()?);
    let mut waiting = vec![paving.ranges.clone()];
    for step in &proof.cells {
        let sides = waiting.pop()?;
        match step {
            PavingStep::Cut { dimension, at } => {
                let (mut low, mut high) = (sides.clone(), sides);
                (low[*dimension][1], high[*dimension][0]) = (*at, *at);
                waiting.extend([high, low]);
            }
            PavingStep::Leaf(cell) => {
                let mut share = rational(1.0)?;
                for ([a, b], [lo, hi]) in sides.iter().zip(&paving.ranges) {
                    share = share * (rational(*b)? - rational(*a)?) / (rational(*hi)? - rational(*lo)?);
                }
                match (cell.reason.verdict(), cell.reason) {
                    (Verdict::Proved, _) => proved += share,
                    (Verdict::Refuted, _) => refuted += share,
                    (_, PavingReason::NoState) => no_state += share,
                    _ => {}
                }
            }
        }
    }
    let word = |x: &dyn ToString| Value::String(x.to_string());
    let mut claim =
        json!({ "proved": word(&proved), "refuted": word(&refuted), "no_state": word(&no_state) });
    let open = |of: PavingReason| of == PavingReason::Undecided;
    let undecided = |step: &&PavingStep<ProvedCell>| matches!(step, PavingStep::Leaf(c) if open(c.reason));
    let lost = paving.cells.iter().filter(|c| open(c.reason)).count()
        != proof.cells.iter().filter(undecided).count();
    if let (Some(sides), false) = (&paving.certified, lost) {
        claim["box"] = sides.iter().map(|s| exacts(s)).collect();
    }
    if let (Some(found), false) = (&paving.counterexample, lost) {
        claim["counterexample"] = exacts(&found.point);
    }
    Some(claim)
}

fn of_step<T>(step: &PavingStep<T>, leaf: impl Fn(&T) -> Value) -> Value {
    match step {
        PavingStep::Cut { dimension, at } => json!([dimension, exact(*at)]),
        PavingStep::Leaf(own) => leaf(own),
    }
}

fn intervals(all: &[Interval]) -> Value {
    all.iter().map(|x| interval(*x)).collect()
}

fn cell(cell: &ProvedCell) -> Value {
    let mut own = json!({ "is": paving_word(cell.reason) });
    if let Some(values) = cell.values.as_ref().filter(|values| !values.is_empty()) {
        own["at"] = exacts(values);
    }
    if !matches!(cell.parts[..], [] | [PavingStep::Leaf(None)]) {
        let part = |follows: &Option<delassus::analysis::Follows>| match follows {
            Some(own) => json!({ "alone": intervals(&own.coordinates), "from": own.from }),
            None => json!({}),
        };
        own["parts"] = cell.parts.iter().map(|step| of_step(step, part)).collect();
    }
    own
}

fn configuration(own: &Configuration, moving: &[usize]) -> Value {
    let at: Value = moving.iter().map(|&k| exact(own.p[k])).collect();
    let mut document = json!({ "at": at, "alone": intervals(&own.alone) });
    if let Some((from, region)) = &own.from {
        document["from"] = json!(from);
        document["region"] = intervals(region);
    }
    document
}

/// A family as formulas.
struct Problem<'a> {
    family: &'a Family,
}

impl Problem<'_> {
    fn document(&self, question: &PavingQuestion<'_>, proof: &PavingProof) -> Option<Value> {
        let Family { system, variables, t, q, v } = self.family;
        let ranges = |all: &[(&str, [f64; 2])]| -> Value {
            all.iter().map(|(name, [lo, hi])| json!([name, exact(*lo), exact(*hi)])).collect()
        };
        let texts = |all: &[Expression]| all.iter().map(|e| self.text(e)).collect::<Option<Value>>();
        let dependent = variables.iter().filter(|x| !x.free);
        let forces = system.forces.iter().map(|f| Some(json!([f.coordinate, self.formula(&f.value)?])));
        let mut problem = json!({
            "over": ranges(question.over), "for_all": ranges(question.for_all),
            "any_slip": question.any_slip, "any_load": question.any_load,
            "tolerances": {
                "position": exact(question.tolerances.position), "velocity": exact(question.tolerances.velocity),
            },
            "definitions": dependent.map(|x| Some(json!([x.name, self.text(&x.value)?]))).collect::<Option<Value>>()?,
            "coordinates": system.coordinates,
            "time": self.text(t)?, "positions": texts(q)?, "velocities": texts(v)?,
            "kinetic": self.formula(&system.kinetic)?,
            "forces": forces.collect::<Option<Value>>()?,
            "joints": system.joints.iter().map(|j| self.joint(j)).collect::<Option<Value>>()?,
            "contacts": system.contacts.iter().map(|c| self.contact(c)).collect::<Option<Value>>()?,
        });
        if let Some(potential) = &system.potential {
            problem["potential"] = self.formula(potential)?;
        }
        if question.cycle {
            problem["follows"] = json!({ "coordinates": proof.unknowns, "joints": proof.joints });
        }
        Some(problem)
    }

    fn joint(&self, joint: &Joint) -> Option<Value> {
        Some(json!({
            "name": joint.name, "row": self.measure(&joint.value)?, "slip": self.slips(&joint.slip)?,
            "mu": self.formula(&joint.mu)?,
        }))
    }

    fn contact(&self, contact: &Contact) -> Option<Value> {
        Some(json!({
            "name": contact.name, "row": self.measure(&contact.normal)?, "slip": self.slips(&contact.slip)?,
            "mu_static": self.formula(&contact.mu_static)?, "mu_kinetic": self.formula(&contact.mu_kinetic)?,
        }))
    }

    fn slips(&self, all: &[Measure]) -> Option<Value> {
        all.iter().map(|m| self.measure(m)).collect()
    }

    fn measure(&self, measure: &Measure) -> Option<Value> {
        let key = match measure {
            Measure::Displacement(_) => "displacement",
            Measure::Velocity(_) => "velocity",
        };
        Some(json!({ key: self.formula(measure.formula())? }))
    }

    fn formula(&self, formula: &AnyFormula) -> Option<Value> {
        self.steps(&formula.steps()?)
    }

    fn text(&self, text: &Expression) -> Option<Value> {
        self.steps(&text.steps()?)
    }

    fn steps(&self, steps: &[Step]) -> Option<Value> {
        let coordinates = &self.family.system.coordinates;
        let step = |step: &Step| match *step {
            Step::Constant(c) => match c.exact.to_big() {
                Some(written) => Some(Value::String(written.to_string())),
                None if c.bounds.is_undefined() => None,
                None => Some(interval(c.bounds)),
            },
            Step::Position(i) => match i.checked_sub(coordinates.len()) {
                Some(k) => Some(json!(self.family.variables.get(k)?.name)),
                None => Some(json!(coordinates[i])),
            },
            Step::Velocity(i) => Some(json!(format!("{}'", coordinates[i]))),
            Step::Time => Some(json!("t")),
            Step::Operation(name) => Some(json!(name)),
        };
        steps.iter().map(step).collect()
    }
}
