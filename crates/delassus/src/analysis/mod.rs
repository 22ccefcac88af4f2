//! The contact problem of a system at a state, analyzed: all that `delassus analyze` reports.
//!
//! ```text
//! M q̈ + F = Jᵀ λ ,   u̇ = J q̈ + γ ,   (u̇, λ) ∈ laws   ─▶   existence, uniqueness, all solutions, certificates
//! ```
//!
//! M is n × n, F ∈ ℝⁿ; J (m × n) has the rows of the active constraints and γ ∈ ℝᵐ is their bias (000 §1, 001
//! §2).

mod bounded_rows;
mod impact;
mod interval_contact;
mod interval_matrix;
mod interval_sliding;
mod interval_terms;
mod loop_closure;
mod paving;
mod planar;
mod safe_interval;
mod stand;
mod world;
mod world_forces;
mod world_parts;

pub use impact::{ImpactReport, LawOutcome, impact_report};
pub use loop_closure::Configuration;
pub use paving::{
    Counterexample, Follows, PavedCell, Paving, PavingFault, PavingProof, PavingQuestion, PavingReason,
    PavingStep, ProvedCell, check_paving, pave, paving_proof,
};
pub use safe_interval::{
    End, FreeSystem, Question, Safe, SafeError, SafeInterval, SafeMethod, SystemAt, safe_interval,
};
pub use stand::{
    Bracket, ContactAtRest, FaceBody, FaceProof, FaceTree, Margin, MarginProof, Proof, Reason, Resistance,
    ResistanceProof, StandError, Standing, Stands, WorldAtRest, margin, margin_proof, resistance,
    resistance_proof, stand,
};
pub use world::{analyze_world, glance_world};

use delassus_solve::analysis::theorems::{CheckedFinding, findings};
use delassus_solve::analysis::{
    Analysis, FrictionBound, FrictionCone, Written, analyze_written as analyze_dynamics_written,
    friction_bounds, friction_cone, glance as glance_at_dynamics,
};
use delassus_solve::lcp::{Lcp, sliding_lcp};
use delassus_solve::linalg::{Interval, Matrix};
use delassus_solve::modes::{EnumerateOptions, bounds_of};
use delassus_solve::problem::{Dynamics, Law, constrained_delassus, kinetic_angle};
use thiserror::Error;

use crate::lagrangian::{
    Assembly, ContactState, ExactState, FormulaId, Kinematics, KinematicsError, Names, Row, State,
    StateError, System, Tolerances, assemble, is_state_certain, kinematics, written_dynamics,
};

/// Constraints up to which the angles between all of them are reported.
const MAX_ANGLES: usize = 32;

/// Why an analysis could not begin.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum AnalyzeError {
    /// A formula has no meaning at this state.
    #[error(transparent)]
    Kinematics(#[from] KinematicsError),
    /// The state breaks a constraint.
    #[error(transparent)]
    State(#[from] StateError),
}

impl AnalyzeError {
    /// The formula that is to blame.
    pub fn formula(&self) -> Option<FormulaId> {
        match self {
            AnalyzeError::Kinematics(e) => e.formula(),
            AnalyzeError::State(e) => e.formula(),
        }
    }
}

/// What is known of one contact beside its forces.
#[derive(Clone, Debug)]
pub struct ContactReport {
    /// Name.
    pub name: String,
    /// Where the contact stands.
    pub state: ContactState,
    /// The friction coefficient in force: kinetic where it slides, static where it rests.
    pub mu: f64,
    /// The slip direction where it slides.
    pub slip: Option<Vec<f64>>,
    /// Cone, critical and jamming friction; `None` for contacts without tangents and for singular masses.
    pub cone: Option<FrictionCone>,
    /// Whether it slides so that friction presses it together (003 eq. 39).
    pub jams: bool,
}

/// The kinetic angle between two constraints (001 eq. 9).
#[derive(Clone, Debug)]
pub struct KineticAngle {
    /// Name of the first.
    pub first: String,
    /// Name of the second.
    pub second: String,
    /// The angle in radians.
    pub angle: f64,
}

/// The analysis of a system or a world at a state.
#[derive(Clone, Debug)]
pub struct SystemAnalysis {
    /// What its parts are called.
    pub names: Names,
    /// What the analysis does not cover, in words; one sentence each.
    pub notes: Vec<String>,
    /// Whether the contact problem holds all that acts; where not, nothing is decided and a note names it.
    pub is_whole: bool,
    /// Mass, forces and constraints.
    pub kinematics: Kinematics,
    /// The contact problem.
    pub assembly: Assembly,
    /// Existence, uniqueness and all solutions; `None` where a contact approaches and an impact comes first.
    pub analysis: Option<Analysis>,
    /// One entry per contact, in the order of the system.
    pub contacts: Vec<ContactReport>,
    /// Between all active constraints; none where there are more than 32.
    pub kinetic_angles: Vec<KineticAngle>,
    /// Friction below which the answer is unique.
    pub friction_bounds: Vec<FrictionBound>,
    /// W on the normals of joints and active contacts; `None` for a singular mass.
    pub delassus: Option<Matrix>,
    /// A_c: W on the normals of active contacts with the joints held (000 eq. 32).
    pub constrained_delassus: Option<Matrix>,
    /// The LCP that the problem reduces to (000 eq. 9, 31, 41, 50, 58).
    pub lcp: Option<Lcp>,
    /// What the propositions of the papers conclude, with their certificates checked.
    pub findings: Vec<CheckedFinding>,
    /// What the laws of impact make of contacts that approach.
    pub impact: Option<ImpactReport>,
}

/// Analyzes a system at a state.
pub fn analyze(
    system: &System,
    state: &State,
    tolerances: &Tolerances,
    options: &EnumerateOptions,
) -> Result<SystemAnalysis, AnalyzeError> {
    analyze_written(system, state, &ExactState::from(state), tolerances, options)
}

/// As [`analyze`], with the state also as it was written: where it and all formulas are rational, the answers
/// are those of the numbers as written.
pub fn analyze_written(
    system: &System,
    state: &State,
    written: &ExactState,
    tolerances: &Tolerances,
    options: &EnumerateOptions,
) -> Result<SystemAnalysis, AnalyzeError> {
    let mut result = examine(system, state, written, tolerances, options)?;
    result.impact = impact_report(&result.kinematics, &result.assembly, &state.v);
    add_findings(&mut result);
    Ok(result)
}

/// As [`analyze`], with tolerances and limits of the search as they are by default.
pub fn analyze_at(system: &System, state: &State) -> Result<SystemAnalysis, AnalyzeError> {
    analyze(system, state, &Tolerances::default(), &EnumerateOptions::default())
}

/// A first look at a system whose analysis may take long: masses, contacts and one solution, where one is
/// found at once. It decides nothing.
pub fn glance(
    system: &System,
    state: &State,
    tolerances: &Tolerances,
) -> Result<SystemAnalysis, AnalyzeError> {
    describe(Names::of(system), kinematics(system, state)?, tolerances, true, glance_at_dynamics)
}

/// Adds the propositions of the papers to what [`examine`] found; verified ones take part in the verdicts.
pub fn add_findings(result: &mut SystemAnalysis) {
    if let Some(analysis) = &mut result.analysis {
        result.findings = findings(&result.assembly.dynamics, analysis);
    }
}

/// As [`analyze_written`], without the propositions and their certificates, which take most of the time, and
/// without impacts. The verdicts are the same unless
/// [`Analysis::may_gain`](delassus_solve::analysis::Analysis::may_gain) says that [`add_findings`] can add to
/// them.
pub fn examine(
    system: &System,
    state: &State,
    written: &ExactState,
    tolerances: &Tolerances,
    options: &EnumerateOptions,
) -> Result<SystemAnalysis, AnalyzeError> {
    let (names, kinematics) = (Names::of(system), kinematics(system, state)?);
    let assembly = assemble(&names, &kinematics, tolerances)?;
    // Closures are doubles and nothing else: taken as rounded once.
    let closures = !system.without_intervals().is_empty();
    let certain = closures || is_state_certain(system, written, &kinematics, tolerances);
    describe(names, kinematics, tolerances, certain, |dynamics| {
        if closures {
            return analyze_dynamics_written(dynamics, &Written::rounded(dynamics), options);
        }
        let data = if certain { written_dynamics(system, written, &assembly) } else { None };
        let data = data.unwrap_or_else(|| {
            let mut bounds = bounds_of(dynamics, 0.0);
            // The laws may be others.
            bounds.force.fill(Interval::UNDEFINED);
            Written::Within(bounds)
        });
        analyze_dynamics_written(dynamics, &data, options)
    })
}

/// What the numbers of a world are off by, relative to the largest of their row: differences of positions
/// lose some digits, and γ is accurate to 1e-11 of its terms.
const WORLD_ROUNDING: f64 = 1e-10;

/// How far sums and differences of a world may be off beside that, where their terms cancel.
struct WorldErrors {
    /// Each entry of F.
    force: Vec<f64>,
    /// Each entry of γ that is not zero.
    bias: f64,
}

/// As [`examine`], from masses, forces and constraints of a world on.
fn examine_kinematics(
    names: Names,
    kinematics: Kinematics,
    errors: &WorldErrors,
    tolerances: &Tolerances,
    options: &EnumerateOptions,
) -> Result<SystemAnalysis, AnalyzeError> {
    describe(names, kinematics, tolerances, true, |dynamics| {
        let mut bounds = bounds_of(dynamics, WORLD_ROUNDING);
        let widen = |b: &mut Interval, error: f64| {
            if error > 0.0 {
                *b = Interval::new((b.lo - error).next_down(), (b.hi + error).next_up());
            }
        };
        bounds.force.iter_mut().zip(&errors.force).for_each(|(b, error)| widen(b, *error));
        bounds.bias.iter_mut().filter(|b| **b != Interval::ZERO).for_each(|b| widen(b, errors.bias));
        analyze_dynamics_written(dynamics, &Written::Within(bounds), options)
    })
}

/// The matrices, angles and contacts of a system with the verdicts that `analyze` draws, where no impact
/// comes first; where the state is not `certain`, neither is that.
fn describe(
    names: Names,
    kinematics: Kinematics,
    tolerances: &Tolerances,
    certain: bool,
    analyze: impl FnOnce(&Dynamics) -> Analysis,
) -> Result<SystemAnalysis, AnalyzeError> {
    let assembly = assemble(&names, &kinematics, tolerances)?;
    let dynamics = &assembly.dynamics;
    let impact = assembly.contacts.contains(&ContactState::Approaching);
    let analysis = (!(impact && certain)).then(|| analyze(dynamics));
    let own = if impact { dynamics.reduce() } else { None };
    let reduced = analysis.as_ref().map_or(own.as_ref(), |a| a.reduced.as_ref());
    let offsets = dynamics.offsets();
    let normals: Vec<usize> = offsets[..dynamics.laws.len()].to_vec();
    let (joint_rows, contact_rows) = normals.split_at(names.joints.len());
    let constraints = constraint_names(&names, &assembly);
    let mut kinetic_angles = Vec::new();
    let (mut delassus, mut constrained, mut lcp, mut bounds) = (None, None, None, vec![]);
    if let Some(r) = reduced {
        let w = &r.delassus;
        let angles = if normals.len() <= MAX_ANGLES { normals.len() } else { 0 };
        for i in 0..angles {
            for j in i + 1..angles {
                let (a, b) = (normals[i], normals[j]);
                if let Some(angle) = kinetic_angle(w[(a, a)], w[(a, b)], w[(b, b)]) {
                    kinetic_angles.push(KineticAngle {
                        first: constraints[i].clone(),
                        second: constraints[j].clone(),
                        angle,
                    });
                }
            }
        }
        delassus = Some(w.select(&normals, &normals));
        constrained = Some(constrained_delassus(w, contact_rows, joint_rows));
        lcp = sliding_lcp(w, &r.free_velocity, &dynamics.laws).map(|lift| lift.lcp);
        bounds = friction_bounds(w, &dynamics.laws);
    }
    let contacts = contact_reports(&names, &kinematics, &assembly);
    Ok(SystemAnalysis {
        names,
        notes: vec![],
        is_whole: true,
        analysis,
        contacts,
        kinetic_angles,
        friction_bounds: bounds,
        delassus,
        constrained_delassus: constrained,
        lcp,
        findings: vec![],
        impact: None,
        kinematics,
        assembly,
    })
}

/// Names of the constraints in the order of the dynamics: joints, then active contacts.
pub fn constraint_names(names: &Names, assembly: &Assembly) -> Vec<String> {
    let active = names
        .contacts
        .iter()
        .zip(&assembly.contacts)
        .filter(|(_, s)| matches!(s, ContactState::Active(_)))
        .map(|(c, _)| c.clone());
    names.joints.iter().cloned().chain(active).collect()
}

/// Cone and jamming of every contact, with the joints and the other active contacts held (003 §4).
fn contact_reports(names: &Names, kinematics: &Kinematics, assembly: &Assembly) -> Vec<ContactReport> {
    let others = |skip: usize| -> Vec<&Row> {
        let joints = kinematics.joints.iter().map(|j| &j.row);
        let contacts = kinematics
            .contacts
            .iter()
            .enumerate()
            .filter(|(i, _)| *i != skip && matches!(assembly.contacts[*i], ContactState::Active(_)))
            .map(|(_, c)| &c.normal);
        joints.chain(contacts).collect()
    };
    names
        .contacts
        .iter()
        .enumerate()
        .map(|(i, name)| {
            let k = &kinematics.contacts[i];
            let state = assembly.contacts[i];
            let law = match state {
                ContactState::Active(at) => Some(&assembly.dynamics.laws[at]),
                _ => None,
            };
            let (mu, slip) = match law {
                Some(Law::Sliding { mu, slip }) => (*mu, Some(slip.components().to_vec())),
                _ => (k.mu_static, None),
            };
            let own: Vec<&Row> = std::iter::once(&k.normal).chain(&k.slip).collect();
            let cone = (own.len() > 1)
                .then(|| inverse_effective_mass(&kinematics.mass, &own, &others(i)))
                .flatten()
                .map(|(block, rounding)| friction_cone(block, &rounding, mu));
            let jams = match (&cone, &slip) {
                (Some(cone), Some(e)) => cone.jams(mu, e),
                _ => false,
            };
            ContactReport { name: name.clone(), state, mu, slip, cone, jams }
        })
        .collect()
}

/// A M⁻¹ Aᵀ on the rows `own` with the rows `others` held, and what rounding may have left in its diagonal;
/// `None` for a singular mass.
fn inverse_effective_mass(mass: &Matrix, own: &[&Row], others: &[&Row]) -> Option<(Matrix, Vec<f64>)> {
    let rows: Vec<&Row> = own.iter().chain(others).copied().collect();
    let j = Matrix::from_fn(rows.len(), mass.rows(), |i, k| rows[i].gradient[k]);
    let w = j.mul(&mass.solve_positive_definite(&j.transpose())?).symmetric_part();
    let keep: Vec<usize> = (0..own.len()).collect();
    let eliminate: Vec<usize> = (own.len()..rows.len()).collect();
    // The difference w_kk − w_ke w_ee⁺ w_ek is made of terms up to √(w_ii w_jj). Sums of p terms round by p ε
    // of them, and a solution with w_ee by its condition as much again; w_ee counts with unit diagonal, and
    // its singular values below p ε of the largest are those of dependent rows, which the solution leaves
    // out.
    let p = (rows.len() + mass.rows()) as f64 * f64::EPSILON;
    let unit = |i: usize| w[(i, i)].sqrt().max(f64::MIN_POSITIVE);
    let ee = Matrix::from_fn(others.len(), others.len(), |i, j| {
        let (i, j) = (eliminate[i], eliminate[j]);
        w[(i, j)] / (unit(i) * unit(j))
    });
    let values = ee.singular_values();
    let largest = values.first().copied().unwrap_or(1.0);
    let smallest = values.iter().rev().find(|s| **s > p * largest).copied().unwrap_or(largest);
    let share = p * largest / smallest;
    let rounding = keep.iter().map(|&i| share * w[(i, i)]).collect();
    Some((constrained_delassus(&w, &keep, &eliminate), rounding))
}
