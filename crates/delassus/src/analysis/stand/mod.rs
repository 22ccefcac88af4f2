//! Does a world at rest stand, how much is left before it falls, and which forces does it resist?
//!
//! ```text
//! F = Jᵀ f ,   f ∈ K          surely | possibly | no | undecided
//! ```
//!
//! - **surely**: every solution of the laws rests. Proved where forces without friction at contacts balance
//!   the load: rest is then the only motion, whatever friction does, by the argument of
//!   [`delassus_solve::analysis`]; where bodies stand on plane faces that are not steeper than their
//!   friction; or where the analysis of a small world proves that the acceleration is unique.
//! - **possibly**: rest is a solution, proved, but others are not excluded. Under Coulomb's law equilibrium
//!   does not mean that a thing stands.
//! - **no**: no forces within friction hold it, proved by a motion in which the loads have power and no
//!   contact closes.
//!
//! Each answer holds for all data within their bounds and is checked by interval arithmetic
//! ([`delassus_solve::analysis::equilibrium`]).

mod assembly;
mod faces;
mod hold;
mod margin;
mod other_motion;

pub use faces::{FaceBody, FaceProof, FaceTree};
pub use hold::{Resistance, ResistanceProof, resistance, resistance_proof};
pub use margin::{Bracket, Margin, MarginProof, margin, margin_proof};

use delassus_solve::analysis::ImpulseRange;
use delassus_solve::analysis::equilibrium::{
    Balance, RestSearch, Support, find_collapse, find_rest, is_collapse, is_rest,
};
use delassus_solve::lcp::Verdict;
use delassus_solve::linalg::max_abs;
use delassus_solve::modes::EnumerateOptions;
use glam::DVec3;
use thiserror::Error;

use super::analyze_world;
use crate::lagrangian::{StateError, Tolerances};
use crate::stepping::{StepOptions, Stepper};
use crate::world::{World, WorldState};
use assembly::AtRest;
use faces::face_proof;
use other_motion::other_motion;

/// Rows up to which the analysis of a world is asked whether its acceleration is unique.
const MAX_ANALYZED_ROWS: usize = 18;
/// Contacts up to which intervals of forces and other motions are looked for.
const MAX_SEARCHED_CONTACTS: usize = 64;

/// Why the question makes no sense.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum StandError {
    /// Something moves.
    #[error("{what} moves with {speed:e}, expected a world at rest")]
    Moves {
        /// What.
        what: String,
        /// How fast.
        speed: f64,
    },
    /// The state breaks a constraint.
    #[error(transparent)]
    State(#[from] StateError),
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// Every solution rests.
    Surely,
    /// Rest is a solution; others are not excluded.
    Possibly,
    /// No equilibrium exists.
    No,
    /// None of these is proved.
    Undecided,
}

/// What proves that a world surely stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Forces without friction at contacts hold it.
    Frictionless,
    /// Every body stands on a plane face that is not steeper than its friction.
    Faces,
    /// The analysis proves that the acceleration is unique.
    UniqueAcceleration,
}

/// A contact of a world at rest, with one of the forces that hold it.
#[derive(Clone, Debug)]
pub struct ContactAtRest {
    /// Name.
    pub name: String,
    /// Bodies A and B.
    pub bodies: [usize; 2],
    /// Where, world axes.
    pub point: DVec3,
    /// Unit normal from A to B.
    pub normal: DVec3,
    /// Normal force, N.
    pub force: f64,
    /// Friction on B, N, world axes.
    pub friction: DVec3,
    /// |friction| / (μ force): 1 at the limit of friction, 0 where nothing is carried.
    pub utilization: f64,
    /// Least and largest normal force that hold the world, where that was computed: not certified.
    pub interval: Option<[f64; 2]>,
}

/// What proves an answer, in the numbers of [`WorldAtRest::balance`].
#[derive(Clone, Debug, PartialEq)]
pub enum Proof {
    /// Forces near which there are some that balance the load, one per row.
    Forces(Vec<f64>),
    /// Velocities that show that there are none.
    Velocity(Vec<f64>),
    /// Faces, with the weight on each of them inside of its contacts.
    Faces(Box<FaceProof>),
}

/// What is known of a world at rest.
#[derive(Clone, Debug)]
pub struct Standing {
    /// The answer.
    pub stands: Stands,
    /// What proves it; where a world surely stands by its unique acceleration, forces prove that it possibly
    /// stands.
    pub proof: Option<Proof>,
    /// Why surely.
    pub reason: Option<Reason>,
    /// The slack that every contact has at once, N: negative where each would need as much glue; `None` where
    /// nothing was found that balances the loads even with glue.
    pub slack: Option<f64>,
    /// The contacts, with forces where these balance the loads.
    pub contacts: Vec<ContactAtRest>,
    /// Name and force of each row of joints, limits and motors, where forces balance the loads.
    pub joints: Vec<(String, f64)>,
    /// Where it does not stand: velocity and angular velocity of each body as it collapses, world axes, up to
    /// a factor.
    pub collapse: Option<Vec<[DVec3; 2]>>,
    /// Acceleration and angular acceleration of each body in another solution of the laws, world axes, where
    /// a search found one: it satisfies them to rounding, and is not certified.
    pub other_motion: Option<Vec<[DVec3; 2]>>,
    /// What the answer does not cover, in words.
    pub notes: Vec<String>,
}

/// Forces and velocities that were found, and the verdict that their check gives.
struct Decision {
    stands: Stands,
    forces: Option<Vec<f64>>,
    collapse: Option<Vec<f64>>,
    slack: Option<f64>,
}

/// Whether a balance is proved to exist or not to; `may_refute`: whether the supports are all there are.
fn decide(balance: &Balance, may_refute: bool) -> Decision {
    let found = find_rest(balance, RestSearch::Common);
    let slack = found.as_ref().map(|(_, slack)| *slack);
    let rests =
        |forces: Vec<f64>| Decision { stands: Stands::Possibly, forces: Some(forces), collapse: None, slack };
    let proved = |forces: &Vec<f64>| is_rest(balance, forces);
    let common = found.map(|(forces, _)| forces);
    if let Some(forces) = common.as_ref().filter(|forces| proved(forces)) {
        return rests(forces.clone());
    }
    // Where all contacts have slack, the rows depend on each other, and no collapse exists.
    if may_refute
        && slack.is_none_or(|slack| slack < 1e-6)
        && let Some(v) = find_collapse(balance, |v| is_collapse(balance, v))
    {
        return Decision { stands: Stands::No, forces: None, collapse: Some(v), slack };
    }
    for search in [RestSearch::Most, RestSearch::Frictionless, RestSearch::FrictionlessMost] {
        if let Some(forces) = find_rest(balance, search).map(|(forces, _)| forces).filter(proved) {
            return rests(forces);
        }
    }
    let forces = common.filter(|_| slack.is_some_and(|slack| slack > 0.0));
    Decision { stands: Stands::Undecided, forces, collapse: None, slack }
}

/// A world at rest whose margins can be asked for.
pub struct WorldAtRest(AtRest);

impl WorldAtRest {
    /// A world at a state in which nothing moves. Gaps, openings of joints and velocities below the
    /// tolerances are zero.
    pub fn new(world: &World, state: &WorldState, tolerances: &Tolerances) -> Result<Self, StandError> {
        AtRest::new(world, state, tolerances).map(WorldAtRest)
    }

    /// Number of contacts of shapes.
    pub fn contacts(&self) -> usize {
        self.0.contacts.len()
    }

    /// The balance that is asked for.
    pub fn balance(&self) -> &Balance {
        &self.0.balance
    }

    /// What each support of the balance is called.
    pub fn support_names(&self) -> &[String] {
        &self.0.names
    }

    /// The one coefficient of sliding friction of all contacts; `None` where there are several.
    pub fn common_friction(&self) -> Option<f64> {
        let mut all = self.0.contacts.iter().map(|(_, rows)| rows.law.mu());
        let first = all.next()?;
        all.all(|mu| mu == first).then_some(first)
    }
}

/// Whether a world at rest stands.
pub fn stand(at_rest: &WorldAtRest, tolerances: &Tolerances) -> Standing {
    let at = &at_rest.0;
    let mut notes: Vec<String> =
        at.left_out.iter().map(|what| format!("{what} is left out: that it falls is not proved")).collect();
    if let Some(vague) = &at.vague {
        notes.push(format!("nothing is decided: the balance leaves out {vague}"));
        let nothing = Decision { stands: Stands::Undecided, forces: None, collapse: None, slack: None };
        return standing(at, nothing, None, notes);
    }
    let searches = [RestSearch::Frictionless, RestSearch::FrictionlessMost];
    let frictionless = searches
        .into_iter()
        .filter_map(|search| find_rest(&at.balance, search))
        .find(|(forces, _)| is_rest(&at.balance, forces));
    let mut decided = decide(&at.balance, at.left_out.is_empty());
    let (mut reason, mut faces) = (None, None);
    if let Some((forces, slack)) = frictionless {
        let slack = decided.slack.or(Some(slack));
        decided = Decision { stands: Stands::Surely, forces: Some(forces), collapse: None, slack };
        reason = Some(Reason::Frictionless);
    } else if let (Stands::Possibly | Stands::Undecided, Some(proof)) = (decided.stands, face_proof(at)) {
        decided.stands = Stands::Surely;
        reason = Some(Reason::Faces);
        faces = Some(proof);
    } else if decided.stands == Stands::Possibly && is_unique(at, tolerances) {
        decided.stands = Stands::Surely;
        reason = Some(Reason::UniqueAcceleration);
    }
    let search = matches!(decided.stands, Stands::Possibly | Stands::Surely | Stands::Undecided);
    let mut out = standing(at, decided, reason, notes);
    if let Some(proof) = faces {
        out.proof = Some(Proof::Faces(Box::new(proof)));
    }
    if search && at.contacts.len() <= MAX_SEARCHED_CONTACTS {
        add_search(at, &mut out);
    }
    if matches!(out.stands, Stands::Possibly | Stands::Undecided) && out.other_motion.is_none() {
        out.notes.push(if at.contacts.len() > MAX_SEARCHED_CONTACTS {
            format!("another motion was not looked for: there are more than {MAX_SEARCHED_CONTACTS} contacts")
        } else {
            "another motion was looked for, and none was found; that there is none is not proved".into()
        });
    }
    out
}

/// Whether the analysis of a small world proves that there is one acceleration.
fn is_unique(at: &AtRest, tolerances: &Tolerances) -> bool {
    at.balance.rows.rows() <= MAX_ANALYZED_ROWS
        && analyze_world(&at.world, &at.state, tolerances, &EnumerateOptions::default()).is_ok_and(|found| {
            found.is_whole && found.analysis.is_some_and(|a| a.acceleration_unique == Verdict::Proved)
        })
}

fn standing(at: &AtRest, decided: Decision, reason: Option<Reason>, notes: Vec<String>) -> Standing {
    let Decision { stands, forces, collapse, slack } = decided;
    let scale = max_abs(&at.balance.load);
    let others = at.names.len() - at.contacts.len();
    let joints = forces
        .as_ref()
        .map_or(vec![], |f| at.names[..others].iter().cloned().zip(f.iter().copied()).collect());
    let proof = match (stands, &forces, &collapse) {
        (Stands::Surely | Stands::Possibly, Some(forces), _) => Some(Proof::Forces(forces.clone())),
        (Stands::No, _, Some(velocity)) => Some(Proof::Velocity(velocity.clone())),
        _ => None,
    };
    Standing {
        stands,
        proof,
        reason,
        slack: slack.map(|slack| slack * scale),
        contacts: contacts_with(at, forces.as_deref()),
        joints,
        collapse: collapse.map(|v| at.motion(&v)),
        other_motion: None,
        notes,
    }
}

/// The contacts of a world with these forces.
fn contacts_with(at: &AtRest, forces: Option<&[f64]>) -> Vec<ContactAtRest> {
    let others = at.names.len() - at.contacts.len();
    let mut next: usize = at.balance.supports[..others].iter().map(Support::dim).sum();
    let mut out = Vec::new();
    for ((contact, rows), name) in at.contacts.iter().zip(&at.names[others..]) {
        let own = forces.map_or(&[0.0; 3][..], |f| &f[next..next + rows.law.dim()]);
        next += rows.law.dim();
        let tangential = |k: usize| own.get(k).copied().unwrap_or(0.0);
        let friction = rows.tangents[0] * tangential(1) + rows.tangents[1] * tangential(2);
        let most = rows.law.mu() * own[0];
        out.push(ContactAtRest {
            name: name.clone(),
            bodies: contact.bodies.map(|b| b as usize),
            point: contact.point,
            normal: contact.normal,
            force: own[0],
            friction,
            utilization: if most > 0.0 { friction.length() / most } else { 0.0 },
            interval: None,
        });
    }
    out
}

/// Intervals of normal forces and another motion, as solvers find them; nothing of it is certified.
fn add_search(at: &AtRest, out: &mut Standing) {
    let options = StepOptions::default();
    let Ok(stepper) = Stepper::new(&at.world, at.state.clone(), options) else { return };
    let Ok(found) = stepper.forces_and_another_motion() else { return };
    if out.stands != Stands::Surely {
        let by_steps = (!found.other_bodies.is_empty()).then(|| {
            let mut motion = vec![[DVec3::ZERO; 2]; at.world.bodies.len()];
            found.other_bodies.iter().for_each(|m| motion[m.body] = m.other.map(|v| v / options.dt));
            motion
        });
        out.other_motion = by_steps.or_else(|| other_motion(at));
    }
    let ImpulseRange::Ranges { normal, .. } = &found.ranges else { return };
    for (contact, place) in stepper.contacts().iter().zip(&found.place) {
        let same = |(own, _): &(crate::collision::Contact, _)| {
            (own.bodies, own.shapes, own.feature) == (contact.bodies, contact.shapes, contact.feature)
        };
        if let (Some(at), Some(place)) = (at.contacts.iter().position(same), place) {
            out.contacts[at].interval = normal.get(*place).copied();
        }
    }
}
