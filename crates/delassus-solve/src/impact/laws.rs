//! The laws of impact that are solved as one problem: Moreau's, Newton's, Poisson's.
//!
//! ```text
//! u⁺ = A p + q,   A = A_c ∈ R^{m×m} with the joints eliminated, q the velocities without percussions.
//! ```
//!
//! * Moreau (001 eq. 84): the contact problem with normal velocities u_n⁺ + e u_n⁻.
//! * Newton (002 eq. 3.9, 3.10): approaching contacts are bilateral in u_n⁺ + e u_n⁻, the others unilateral
//!   in u_n⁺.
//! * Newton with a matrix (001 eq. 76, 77): A p = −(I + E) u_N⁻ on the normals, whatever the signs.
//! * Poisson: compression is the inelastic contact problem; restitution starts from there with p_n = e p_n,c
//!   + x, 0 ≤ x ⊥ u_n⁺ ≥ 0, so that a contact that closes again stays closed.
//!
//! Few planar contacts are solved by listing all solutions; of several the one with the least kinetic energy
//! is taken, and the others are reported.

use super::ImpactStatus;
use super::setting::{Found, Setting};
use crate::contact::{DENSE_TOLERANCE, coulomb_space, solve_any_law};
use crate::lcp::{solve_lifted_mlcp, to_mlcp};
use crate::linalg::{Matrix, max_abs, norm};
use crate::modes::{EnumerateOptions, enumerate_contact};
use crate::problem::{
    ContactView, InvalidProblem, Law, Status, check_finite, check_size, residual, residual_with_least_normal,
    row_offsets, settle,
};

/// Most modes that are listed: six planar contacts with friction, twelve without; milliseconds.
const MAX_LISTED_MODES: u64 = 4096;
/// Two outcomes closer than this, relative to the velocities, are one.
const SAME_OUTCOME_RATIO: f64 = 1e-7;

/// Moreau's law.
pub(super) fn moreau(s: &Setting<'_>) -> Found {
    let guides = guides(s);
    let shift: Vec<f64> = (0..guides.len())
        .map(|k| if guides[k] { 0.0 } else { s.problem.contacts[k].restitution * s.before[s.offsets[k]] })
        .collect();
    solve_laws(s, &guides, &shift)
}

fn guides(s: &Setting<'_>) -> Vec<bool> {
    s.problem.contacts.iter().map(|contact| contact.bilateral).collect()
}

/// Newton's law on contacts that approach, complementarity on the others.
pub(super) fn newton(s: &Setting<'_>) -> Found {
    let guides = guides(s);
    let closing: Vec<bool> = (0..guides.len()).map(|k| !guides[k] && s.approaches(k)).collect();
    let shift: Vec<f64> = (0..closing.len())
        .map(|k| if closing[k] { s.problem.contacts[k].restitution * s.before[s.offsets[k]] } else { 0.0 })
        .collect();
    let bilateral: Vec<bool> = closing.iter().zip(&guides).map(|(a, b)| *a || *b).collect();
    solve_laws(s, &bilateral, &shift)
}

/// Newton's law with a matrix, as an equation.
pub(super) fn newton_matrix(s: &Setting<'_>, e: &Matrix) -> Result<Found, InvalidProblem> {
    let k = s.problem.contacts.len();
    check_size("rows of the restitution matrix", k, e.rows())?;
    check_size("columns of the restitution matrix", k, e.cols())?;
    check_finite("the restitution matrix", e.data())?;
    let normal: Vec<f64> = (0..k).map(|k| s.before[s.offsets[k]]).collect();
    Ok(solve_laws(s, &vec![true; k], &e.mul_vec(&normal)))
}

/// The law of each contact, and the rows of the setting that it keeps (tangents without friction go).
fn laws_of(s: &Setting<'_>, bilateral: &[bool]) -> (Vec<Law>, Vec<usize>) {
    let (mut laws, mut rows) = (Vec::new(), Vec::new());
    for (k, contact) in s.problem.contacts.iter().enumerate() {
        let (at, mu) = (s.offsets[k], contact.friction);
        let law = match (if mu > 0.0 { contact.tangents.len() } else { 0 }, bilateral[k]) {
            (0, false) => Law::Unilateral,
            (0, true) => Law::Bilateral,
            (1, false) => Law::CoulombPlane { mu },
            (1, true) => Law::BilateralCoulombPlane { mu },
            (_, false) => Law::Coulomb { mu },
            (_, true) => Law::BilateralCoulomb { mu },
        };
        rows.extend(at..at + law.dim());
        laws.push(law);
    }
    (laws, rows)
}

/// Percussions on the rows that laws keep, as percussions on all rows.
fn widen(s: &Setting<'_>, rows: &[usize], kept: &[f64]) -> Vec<f64> {
    let mut all = vec![0.0; s.free.len()];
    for (&i, p) in rows.iter().zip(kept) {
        all[i] = *p;
    }
    all
}

/// The contact problem in u_n⁺ + shift.
fn solve_laws(s: &Setting<'_>, bilateral: &[bool], shift: &[f64]) -> Found {
    let (laws, rows) = laws_of(s, bilateral);
    let mut q: Vec<f64> = rows.iter().map(|&i| s.free[i]).collect();
    for (at, shift) in row_offsets(&laws).into_iter().zip(shift) {
        q[at] += shift;
    }
    let a = s.delassus.select(&rows, &rows);
    if laws == [Law::Unilateral] && a[(0, 0)] > 0.0 {
        let p = (-q[0] / a[(0, 0)]).max(0.0);
        let status = checked(&a, &q, &laws, &[p]);
        return Found { impulse: widen(s, &rows, &[p]), status, searched: true, ..Found::default() };
    }
    let set = enumerate_contact(&a, &q, &laws, &EnumerateOptions { max_modes: MAX_LISTED_MODES });
    if set.complete && !set.components.is_empty() {
        let found = set.components.iter().map(|component| widen(s, &rows, &component.force)).collect();
        // A component whose velocities vary is more than one outcome.
        let moving = set.components.iter().any(|component| {
            let freedom = component.freedom.as_ref();
            freedom.is_some_and(|d| {
                a.mul(&d.force).max_abs() > SAME_OUTCOME_RATIO * a.max_abs() * d.force.max_abs()
            })
        });
        let found = least_energy(s, found);
        let taken: Vec<f64> = rows.iter().map(|&i| found.impulse[i]).collect();
        let status = checked(&a, &q, &laws, &taken);
        return Found { status, searched: set.decided && !moving, ..found };
    }
    let (force, status) = one_solution(&a, &q, &laws);
    let status = if set.complete && set.decided { ImpactStatus::NoSolution } else { status };
    // Without friction the nearest point means something; where a solver gave up it does not.
    let means = status != ImpactStatus::NoSolution || laws.iter().all(|law| *law == Law::Bilateral);
    let force = if means && force.iter().all(|p| p.is_finite()) { force } else { vec![0.0; q.len()] };
    Found { impulse: widen(s, &rows, &force), status, ..Found::default() }
}

/// Whether percussions solve a problem, whoever found them.
fn checked(a: &Matrix, q: &[f64], laws: &[Law], p: &[f64]) -> ImpactStatus {
    let found = ContactView::new(a, q, laws).map_or(f64::INFINITY, |view| residual(&view, p).relative);
    status_of(settle(found, Status::Stalled, DENSE_TOLERANCE))
}

/// One solution, or the nearest to one.
fn one_solution(a: &Matrix, q: &[f64], laws: &[Law]) -> (Vec<f64>, ImpactStatus) {
    let Ok(problem) = ContactView::new(a, q, laws) else {
        return (vec![0.0; q.len()], ImpactStatus::NotConverged);
    };
    if laws.iter().all(|law| *law == Law::Bilateral) {
        let negative: Vec<f64> = q.iter().map(|q| -q).collect();
        let force = a.pseudo_solve(&negative);
        let solved = residual(&problem, &force).relative <= SAME_OUTCOME_RATIO;
        return (force, if solved { ImpactStatus::Solved } else { ImpactStatus::NoSolution });
    }
    // One contact in space has a root that is always found; accepted only where its residual is small.
    if let [Law::Coulomb { mu }] = *laws {
        let block = [0, 1, 2].map(|i| [0, 1, 2].map(|j| a[(i, j)]));
        let closed = coulomb_space(&block, &[q[0], q[1], q[2]], mu).map(|p| p.to_vec());
        if let Some(p) = closed.filter(|p| residual(&problem, p).relative <= DENSE_TOLERANCE) {
            return (p, ImpactStatus::Solved);
        }
    }
    let found = solve_any_law(&problem, DENSE_TOLERANCE);
    (found.impulse, status_of(found.status))
}

fn status_of(status: Status) -> ImpactStatus {
    match status {
        Status::Solved => ImpactStatus::Solved,
        Status::NoSolution => ImpactStatus::NoSolution,
        Status::MaxIterations | Status::Stalled | Status::Interrupted => ImpactStatus::NotConverged,
    }
}

/// The solution with the least kinetic energy, the shortest among equals; the others that move otherwise
/// beside it.
fn least_energy(s: &Setting<'_>, mut all: Vec<Vec<f64>>) -> Found {
    let mut outcomes: Vec<(f64, f64, Vec<f64>, Vec<f64>)> = all
        .drain(..)
        .map(|p| {
            let v = s.velocity(&p);
            (s.kinetic_energy(&v), norm(&p), v, p)
        })
        .collect();
    let speed = outcomes.iter().fold(0.0_f64, |m, o| m.max(max_abs(&o.2))).max(max_abs(&s.problem.velocity));
    outcomes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut distinct: Vec<(f64, f64, Vec<f64>, Vec<f64>)> = Vec::new();
    for o in outcomes {
        let same = |d: &&mut (f64, f64, Vec<f64>, Vec<f64>)| {
            d.2.iter().zip(&o.2).all(|(a, b)| (a - b).abs() <= SAME_OUTCOME_RATIO * speed)
        };
        match distinct.iter_mut().find(same) {
            Some(d) if o.1 < d.1 => *d = o,
            Some(_) => {}
            None => distinct.push(o),
        }
    }
    let mut impulses = distinct.into_iter().map(|o| o.3);
    let impulse = impulses.next().unwrap_or_else(|| vec![0.0; s.free.len()]);
    Found { impulse, others: impulses.collect(), ..Found::default() }
}

/// Poisson's law.
pub(super) fn poisson(s: &Setting<'_>) -> Found {
    let guides = guides(s);
    let compression = solve_laws(s, &guides, &vec![0.0; guides.len()]);
    let (laws, rows) = laws_of(s, &guides);
    let kept: Vec<f64> = rows.iter().map(|&i| compression.impulse[i]).collect();
    let offset: Vec<f64> = row_offsets(&laws)
        .into_iter()
        .zip(&s.problem.contacts)
        .map(|(at, c)| if c.bilateral { 0.0 } else { c.restitution * kept[at].max(0.0) })
        .collect();
    if max_abs(&offset) == 0.0 {
        return compression;
    }
    // Restitution starts from the velocities at the end of compression.
    let start = s.contact_velocity(&compression.impulse);
    let q: Vec<f64> = rows.iter().map(|&i| start[i]).collect();
    let a = s.delassus.select(&rows, &rows);
    let (force, status) = with_least_normal(&a, &q, &laws, &offset);
    let total: Vec<f64> =
        compression.impulse.iter().zip(widen(s, &rows, &force)).map(|(c, r)| c + r).collect();
    let status = if compression.status == ImpactStatus::Solved { status } else { compression.status };
    Found { impulse: total, status, ..Found::default() }
}

/// The contact problem with p_n = offset + x, 0 ≤ x ⊥ u_n ≥ 0 and friction bounded by μ p_n.
fn with_least_normal(a: &Matrix, q: &[f64], laws: &[Law], offset: &[f64]) -> (Vec<f64>, ImpactStatus) {
    let (force, reported) = pivot_with_least_normal(a, q, laws, offset)
        .unwrap_or_else(|| (sweep_with_least_normal(a, q, laws, offset), Status::Stalled));
    let residual = match ContactView::new(a, q, laws) {
        Ok(problem) => residual_with_least_normal(&problem, &force, offset),
        Err(_) => f64::INFINITY,
    };
    (force, status_of(settle(residual, reported, DENSE_TOLERANCE)))
}

/// It as a mixed LCP; `None` in space, where it is none.
fn pivot_with_least_normal(
    a: &Matrix,
    q: &[f64],
    laws: &[Law],
    offset: &[f64],
) -> Option<(Vec<f64>, Status)> {
    let offsets = row_offsets(laws);
    let mut lift = to_mlcp(a, q, laws)?;
    // z = z' + offset on the unknowns that are normal percussions: the pairs stay, the constants move.
    let mut known = vec![0.0; lift.mlcp.size()];
    for (at, offset) in offsets.into_iter().zip(offset) {
        if let Some(j) = (0..known.len()).find(|&j| lift.force[(at, j)] != 0.0) {
            known[j] = *offset;
        }
    }
    for (q, shift) in lift.mlcp.vector.iter_mut().zip(lift.mlcp.matrix.mul_vec(&known)) {
        *q += shift;
    }
    let found = solve_lifted_mlcp(&lift.mlcp, DENSE_TOLERANCE, true);
    let z: Vec<f64> = found.z.iter().zip(&known).map(|(z, k)| z + k).collect();
    Some((lift.force_of(&z), found.status))
}

/// The same in space, by sweeps over the contacts that project x on x ≥ 0 and p_t on the disc of radius μ
/// p_n.
fn sweep_with_least_normal(a: &Matrix, q: &[f64], laws: &[Law], offset: &[f64]) -> Vec<f64> {
    const MAX_SWEEPS: usize = 100_000;
    let offsets = row_offsets(laws);
    let mut p = vec![0.0; q.len()];
    for (&at, offset) in offsets.iter().zip(offset) {
        p[at] = *offset;
    }
    let step: Vec<f64> = (0..laws.len())
        .map(|k| {
            let rows: Vec<usize> = (offsets[k]..offsets[k + 1]).collect();
            let top = a.select(&rows, &rows).symmetric_eigenvalues().last().copied().unwrap_or(0.0);
            if top > 0.0 { 1.0 / top } else { 0.0 }
        })
        .collect();
    for _ in 0..MAX_SWEEPS {
        let mut change = 0.0_f64;
        for (k, law) in laws.iter().enumerate() {
            let (at, end) = (offsets[k], offsets[k + 1]);
            let u: Vec<f64> = (at..end).map(|i| crate::linalg::dot(a.row(i), &p) + q[i]).collect();
            let old = p[at..end].to_vec();
            p[at] -= step[k] * u[0];
            if !law.is_bilateral() {
                p[at] = p[at].max(offset[k]);
            }
            for i in at + 1..end {
                p[i] -= step[k] * u[i - at];
            }
            let (length, most) = (norm(&p[at + 1..end]), law.mu() * p[at].abs());
            if length > most {
                p[at + 1..end].iter_mut().for_each(|t| *t *= most / length);
            }
            change = p[at..end].iter().zip(&old).fold(change, |m, (a, b)| m.max((a - b).abs()));
        }
        // Projections contract, so that what is left to move is a modest multiple of the last change.
        if change <= 1e-14 * max_abs(&p) {
            break;
        }
    }
    p
}
