//! Sliding contacts by paper 003: regular, inconsistent (no solution) or indeterminate (several).
//!
//! ```text
//! 0 ≤ (a − μ hᵀe) λ + w ⊥ λ ≥ 0        (003 eq. 38, 47, 49)
//! ```
//!
//! M_c⁻¹ = [a hᵀ; h H] the inverse effective mass of the contact (normal, tangents), e the slip direction, w
//! the normal acceleration without the contact's own force; the normals of all other constraints are
//! bilateral (003 §4). The slope a − μ hᵀe is negative where e_jam·e > μ_jam/μ (003 eq. 39): the contact
//! jams.
//!
//! | slope | w | |
//! |---|---|---|
//! | > 0 | any | regular: one solution |
//! | < 0 | < 0 | inconsistent: none |
//! | < 0 | > 0 | indeterminate: two, with and without contact |
//!
//! With one contact and independent joints without friction this is the whole problem; with more it is a
//! statement about that contact alone, and nothing is claimed for the problem.

use super::decision::{MARGIN, NO_SOLUTION, WELL_POSED};
use super::p000::{all_modes, definite, elsewhere, finding, undecided};
use crate::analysis::certificate::{Claims, Fact, Finding, MatrixOf, Outcome};
use crate::analysis::friction_cone::friction_cone;
use crate::lcp::Verdict;
use crate::linalg::dot;
use crate::problem::{Dynamics, Law, constrained_delassus};

/// What a sliding contact does with the other constraints held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// One solution.
    Regular,
    /// No solution: the contact jams and is pushed together.
    Inconsistent,
    /// Two solutions: the contact jams and is pulled apart.
    Indeterminate,
}

/// The 1 × 1 problem of a sliding contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneContact {
    /// a − μ hᵀe.
    pub slope: f64,
    /// w.
    pub free_acceleration: f64,
    /// μ e_jam·e; compared with `mu_jam`.
    pub pressing: f64,
    /// μ_jam; infinite where normal and tangents are not coupled.
    pub mu_jam: f64,
    /// `None` where a sign is too close to call.
    pub class: Option<Class>,
}

/// The problem of contact `k` (a constraint of the problem, counted from 0) with the others held; `None`
/// unless its law is [`Law::Sliding`] and the mass positive definite.
pub fn one_contact(d: &Dynamics, k: usize) -> Option<OneContact> {
    let Some(Law::Sliding { mu, slip }) = d.laws.get(k) else { return None };
    if definite(&d.mass) != Verdict::Proved {
        return None;
    }
    let r = d.reduce()?;
    let offsets = d.offsets();
    let own: Vec<usize> = (offsets[k]..offsets[k + 1]).collect();
    let others: Vec<usize> = (0..d.laws.len()).filter(|&j| j != k).map(|j| offsets[j]).collect();
    let w = &r.delassus;
    let block = constrained_delassus(w, &own, &others);
    let e = slip.components();
    let h: Vec<f64> = (1..own.len()).map(|i| block[(i, 0)]).collect();
    let (a, along) = (block[(0, 0)], dot(&h, e));
    let slope = a - mu * along;
    // Forces that hold the others against the load push on this contact, too.
    let load: Vec<f64> = others.iter().map(|&i| r.free_velocity[i]).collect();
    let holding = w.select(&others, &others).pseudo_solve(&load);
    let passed = w.select(&own[..1], &others).mul_vec(&holding)[0];
    let free = r.free_velocity[own[0]];
    let free_acceleration = free - passed;
    let size = w[(own[0], own[0])] + mu * along.abs();
    let clear_slope = slope.abs() > MARGIN * size && a > MARGIN * w[(own[0], own[0])];
    let clear_load = free_acceleration.abs() > MARGIN * (free.abs() + passed.abs());
    let class = match (clear_slope, slope > 0.0, clear_load) {
        (true, true, _) => Some(Class::Regular),
        (true, false, true) if free_acceleration < 0.0 => Some(Class::Inconsistent),
        (true, false, true) => Some(Class::Indeterminate),
        _ => None,
    };
    let cone = friction_cone(block, &[], *mu);
    Some(OneContact {
        slope,
        free_acceleration,
        pressing: mu * dot(&cone.jamming_direction, e),
        mu_jam: cone.mu_jam.unwrap_or(f64::INFINITY),
        class,
    })
}

/// Whether contact `k` jams (003 eq. 39), and what follows: the finding holds where it jams.
pub fn jam_003(d: &Dynamics, k: usize) -> Finding {
    const ID: &str = "003.jam";
    let Some(one) = one_contact(d, k) else { return elsewhere(ID, "contacts that slide") };
    let alone =
        d.laws.iter().enumerate().all(|(j, law)| j == k || *law == Law::Bilateral) && independent_joints(d);
    let found = match one.class {
        None => undecided(ID),
        Some(Class::Regular) => {
            let facts =
                vec![Fact::PositiveDefinite(MatrixOf::Mass), Fact::PositiveDefinite(MatrixOf::SlidingLcp)];
            let meaning =
                format!("constraint {k} slides regularly: its force is determined, whatever the load");
            finding(
                ID,
                d,
                Outcome::Fails,
                if alone { WELL_POSED } else { Claims::default() },
                facts,
                &meaning,
            )
        }
        Some(class) => {
            let (claims, words) = if class == Class::Inconsistent {
                (NO_SOLUTION, "jams and is pushed together: no force keeps it apart")
            } else {
                let several = Claims {
                    existence: Some(true),
                    acceleration_unique: Some(false),
                    forces_unique: Some(false),
                };
                (several, "jams and is pulled apart: it may open or stay, both are solutions")
            };
            let meaning = format!("constraint {k} {words}");
            let claims = if alone { claims } else { Claims::default() };
            match if alone { all_modes(d, claims) } else { Some(vec![]) } {
                Some(facts) => finding(ID, d, Outcome::Holds, claims, facts, &meaning),
                None => undecided(ID),
            }
        }
    };
    // Where the others hold the normal, the direction of jamming is one of rounding alone.
    let is_known = one.class.is_some() || one.mu_jam.is_finite();
    Finding { value: is_known.then_some(one.pressing), bound: Some(one.mu_jam), ..found }
}

fn independent_joints(d: &Dynamics) -> bool {
    let offsets = d.offsets();
    let joints: Vec<usize> =
        (0..d.laws.len()).filter(|&k| d.laws[k] == Law::Bilateral).map(|k| offsets[k]).collect();
    d.reduce().is_some_and(|r| definite(&r.delassus.select(&joints, &joints)) == Verdict::Proved)
}

/// [`jam_003`] for every contact that slides.
pub fn all_003(d: &Dynamics) -> Vec<Finding> {
    (0..d.laws.len()).map(|k| jam_003(d, k)).filter(|f| f.outcome != Outcome::NotApplicable).collect()
}
