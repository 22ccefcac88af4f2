//! Which contacts stay and which open where force and acceleration vanish together: higher derivatives
//! decide.
//!
//! ```text
//! q(τ) = Σ q_k τᵏ ,   λ(τ) = Σ λ_k τᵏ ,   δ(τ) = ḧ(q(τ), t) = Σ δ_k τᵏ        (002 Theorem 5.4)
//!
//! (k+2)(k+1) M q_{k+2} = Dᵀλ_k − r_k ,    δ_k = W λ_k + b_k ,    W = J M⁻¹ Dᵀ
//! ```
//!
//! with M mass, J rows of the constraints, D the directions of their forces (J, or J_n − μ s J_t where a
//! contact slides along s), all at τ = 0; r_k and b_k come from the coefficients of lower order. Order after
//! order, a mixed LCP is solved (002 eq. 5.12): joints and contacts that are known to stay are bilateral, δ_k
//! = 0 with λ_k free; contacts that are known to open have λ = 0; the others satisfy 0 ≤ λ_k ⊥ δ_k ≥ 0. The
//! first coefficient that is positive decides: λ_k, and the contact stays; δ_k, and it opens. (The
//! derivatives of the theorem are k! times the coefficients, which the series in the paper leave out; signs
//! are the same.)
//!
//! Coefficients come from formulas evaluated over power series ([`crate::formula`]), without truncation. A
//! coefficient counts as zero where a relative change of the state by the tolerance would explain it: a state
//! that was located numerically satisfies λ = δ = 0 no better than that.
//!
//! Constraints may be displacements or velocities (002 eq. 2.1c); for a velocity u ≥ 0, δ = u̇.

use delassus_solve::modes::{EnumerateOptions, SolutionComponent, enumerate_contact};
use delassus_solve::problem::Law;

use super::taylor_motion::{DerivativesError, HIGHEST_ORDER, Motion, Result};
use super::{State, System};

/// Options of [`deciding_order`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecidingOptions {
    /// The last order that is looked at (default 12, at most [`HIGHEST_ORDER`]).
    pub max_order: usize,
    /// Relative change of the state that must not change a decision (default 1e-9, from 1e-14 to 1e-3).
    pub tolerance: f64,
    /// Slip speeds below this are zero (default 1e-6, as for
    /// [`Tolerances`](crate::lagrangian::active_set::Tolerances)).
    pub rest_speed: f64,
}

impl Default for DecidingOptions {
    fn default() -> Self {
        DecidingOptions { max_order: 12, tolerance: 1e-9, rest_speed: 1e-6 }
    }
}

/// What becomes of a contact just after the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stays closed, with a force.
    Stays,
    /// It opens.
    Opens,
    /// It stays closed because others do: its normal is a combination of theirs. It needs no force of its
    /// own.
    Carried,
    /// Force and acceleration are zero in all orders that were looked at. It may touch without force for
    /// good.
    Undecided,
}

/// What becomes of one contact, and what decides it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactFate {
    /// Its number in the system.
    pub contact: usize,
    /// What becomes of it.
    pub fate: Fate,
    /// The order k of the derivative that decides; the last that was looked at where none does.
    pub order: usize,
    /// λ⁽ᵏ⁾ where it stays, δ⁽ᵏ⁾ where it opens, else 0.
    pub derivative: f64,
}

/// The motion just after a state, order by order.
#[derive(Clone, Debug)]
pub struct DecidingOrder {
    /// One entry for each contact that was asked for, in that order.
    pub contacts: Vec<ContactFate>,
    /// The last order that was looked at.
    pub order: usize,
    /// Coefficients of q(τ), one row per coordinate, up to that order + 2.
    pub coefficients: Vec<Vec<f64>>,
}

impl DecidingOrder {
    /// Whether the fate of every contact is known.
    pub fn is_decided(&self) -> bool {
        self.contacts.iter().all(|c| c.fate != Fate::Undecided)
    }
}

/// What becomes of contacts that touch and do not move apart (002 Theorem 5.4). `touching` are all contacts
/// with zero gap and zero normal velocity; gaps and normal velocities themselves are not looked at.
pub fn deciding_order(
    system: &System,
    state: &State,
    touching: &[usize],
    options: &DecidingOptions,
) -> Result<DecidingOrder> {
    let DecidingOptions { max_order, tolerance, rest_speed } = *options;
    if max_order > HIGHEST_ORDER || !(1e-14..=1e-3).contains(&tolerance) {
        return Err(DerivativesError::Options { max_order, tolerance });
    }
    let mut motion = Motion::new(system, state, touching, rest_speed)?;
    let mut probes: Vec<Motion> = motion
        .nearby(state)
        .iter()
        .filter_map(|s| Motion::new(system, s, touching, rest_speed).ok())
        .collect();
    let joints = system.joints.len();
    let mut fates: Vec<Option<ContactFate>> = vec![None; touching.len()];
    let mut order = 0;
    for k in 0..=max_order {
        order = k;
        let bilateral = bilateral_rows(joints, &fates);
        let mut undecided = Vec::new();
        for i in (0..touching.len()).filter(|&i| fates[i].is_none()).collect::<Vec<_>>() {
            if motion.depends(joints + i, &bilateral) {
                let contact = touching[i];
                fates[i] = Some(ContactFate { contact, fate: Fate::Carried, order: k, derivative: 0.0 });
            } else {
                undecided.push(i);
            }
        }
        let known = motion.known(k)?;
        let noise = motion.noise(&known, &probes, k, tolerance);
        // The rows of this order: bilateral ones first, then the undecided.
        let rows: Vec<usize> =
            bilateral.iter().copied().chain(undecided.iter().map(|i| joints + i)).collect();
        let piece = solve_order(&motion, &known.b, &noise, &rows, bilateral.len(), k)?;
        let (force, delta) = (&piece.force, &piece.velocity);
        let mut coefficient = vec![0.0; joints + touching.len()];
        let factorial: f64 = (1..=k).map(|i| i as f64).product();
        for (place, &row) in rows.iter().enumerate() {
            if place < bilateral.len() {
                coefficient[row] = force[place];
                continue;
            }
            let contact = touching[row - joints];
            // A force is as uncertain as the acceleration that it answers.
            let weight = motion.delassus[(row, row)];
            let decided = |fate, value: f64| {
                Some(ContactFate { contact, fate, order: k, derivative: factorial * value })
            };
            if weight * force[place] > noise[row] {
                coefficient[row] = force[place];
                fates[row - joints] = decided(Fate::Stays, force[place]);
            } else if delta[place] > noise[row] {
                fates[row - joints] = decided(Fate::Opens, delta[place]);
            }
        }
        motion.advance(k, &known.r, &coefficient);
        let now_bilateral = bilateral_rows(joints, &fates);
        probes.retain_mut(|probe| probe.follow(k, &now_bilateral).is_ok());
        if fates.iter().all(Option::is_some) {
            break;
        }
    }
    let contacts = fates
        .into_iter()
        .zip(touching)
        .map(|(fate, &contact)| {
            let undecided = ContactFate { contact, fate: Fate::Undecided, order, derivative: 0.0 };
            fate.unwrap_or(undecided)
        })
        .collect();
    let coefficients = motion.q.iter().map(|q| q.0[..order + 3].to_vec()).collect();
    Ok(DecidingOrder { contacts, order, coefficients })
}

/// Rows with δ = 0 and a force of any sign: those of joints, and of contacts that are known to stay.
fn bilateral_rows(joints: usize, fates: &[Option<ContactFate>]) -> Vec<usize> {
    let stays = |fate: &Option<ContactFate>| fate.is_some_and(|f| f.fate == Fate::Stays);
    (0..joints).chain((0..fates.len()).filter(|&i| stays(&fates[i])).map(|i| joints + i)).collect()
}

/// The mixed LCP of order k in these rows, of which the first `bilateral` ones are bilateral.
fn solve_order(
    motion: &Motion,
    b: &[f64],
    noise: &[f64],
    rows: &[usize],
    bilateral: usize,
    order: usize,
) -> Result<SolutionComponent> {
    let laws: Vec<Law> =
        (0..rows.len()).map(|i| if i < bilateral { Law::Bilateral } else { Law::Unilateral }).collect();
    let w = motion.delassus.select(rows, rows);
    let q: Vec<f64> = rows.iter().map(|&i| if b[i].abs() <= noise[i] { 0.0 } else { b[i] }).collect();
    let mut components = enumerate_contact(&w, &q, &laws, &EnumerateOptions::default()).components;
    if components.is_empty() || velocities_differ(&components, noise, rows) {
        return Err(DerivativesError::Solutions { order, solutions: components.len() });
    }
    Ok(components.swap_remove(0))
}

/// Whether solutions differ in their accelerations (several forces with the same accelerations are one
/// motion).
fn velocities_differ(components: &[SolutionComponent], noise: &[f64], rows: &[usize]) -> bool {
    let first = &components[0].velocity;
    components[1..].iter().any(|piece| {
        piece
            .velocity
            .iter()
            .zip(first)
            .zip(rows)
            .any(|((a, b), &row)| (a - b).abs() > noise[row].max(1e-9 * b.abs()))
    })
}
