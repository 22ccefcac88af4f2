//! The parts of a contact problem that have nothing to do with each other.
//!
//! ```text
//! M = diag(M₁, M₂, …) ,   J = diag(J₁, J₂, …)          solutions = solutions₁ × solutions₂ × …
//! ```
//!
//! Two coordinates belong together where M couples them or a constraint moves both. Each part has few modes,
//! and all of them together as many as the product.

use super::{ComponentBounds, RobustAnswer};
use crate::linalg::{Interval, UnionFind};
use crate::modes::exact::ExactDynamics;
use crate::problem::row_offsets;

/// Components of all parts together up to which they are listed.
const MAX_COMPONENTS: usize = 64;

/// A part with the places of its coordinates and rows in the whole.
pub(super) struct Island {
    pub(super) problem: ExactDynamics<Interval>,
    coordinates: Vec<usize>,
    rows: Vec<usize>,
}

/// The parts of a problem, in the order of their first coordinates; constraints that move nothing come last,
/// each by itself.
pub(super) fn islands(d: &ExactDynamics<Interval>) -> Vec<Island> {
    let (n, offsets) = (d.mass.len(), row_offsets(&d.laws));
    let mut sets = UnionFind::new(n + d.laws.len());
    for (i, row) in d.mass.iter().enumerate() {
        for j in (0..n).filter(|&j| row[j] != Interval::ZERO) {
            sets.join(i, j);
        }
    }
    for k in 0..d.laws.len() {
        let rows = &d.jacobian[offsets[k]..offsets[k + 1]];
        for j in (0..n).filter(|&j| rows.iter().any(|row| row[j] != Interval::ZERO)) {
            sets.join(n + k, j);
        }
    }
    let island = |nodes: Vec<usize>| {
        let (coordinates, laws): (Vec<usize>, Vec<usize>) = nodes.into_iter().partition(|&i| i < n);
        let laws: Vec<usize> = laws.into_iter().map(|k| k - n).collect();
        let rows: Vec<usize> = laws.iter().flat_map(|&k| offsets[k]..offsets[k + 1]).collect();
        let pick = |x: &[Interval], at: &[usize]| -> Vec<Interval> { at.iter().map(|&i| x[i]).collect() };
        let problem = ExactDynamics {
            mass: coordinates.iter().map(|&i| pick(&d.mass[i], &coordinates)).collect(),
            force: pick(&d.force, &coordinates),
            jacobian: rows.iter().map(|&i| pick(&d.jacobian[i], &coordinates)).collect(),
            bias: pick(&d.bias, &rows),
            laws: laws.iter().map(|&k| d.laws[k]).collect(),
            mu: pick(&d.mu, &laws),
            slip: laws.iter().map(|&k| d.slip[k].clone()).collect(),
        };
        Island { problem, coordinates, rows }
    };
    sets.components().into_iter().map(island).collect()
}

/// The answer for the whole from those of its parts.
pub(super) fn together(parts: &[(Island, RobustAnswer)]) -> RobustAnswer {
    // No solution of one part: none of the whole.
    if parts.iter().any(|(_, part)| part.answers[0] == Some(false)) {
        return RobustAnswer { answers: [Some(false); 3], components: Some(vec![]) };
    }
    // One of the whole where there is one of each; none or several where one part has none or several.
    let all = |k: usize| {
        let of = |wanted: Option<bool>| move |(_, part): &(Island, RobustAnswer)| part.answers[k] == wanted;
        if parts.iter().all(of(Some(true))) {
            Some(true)
        } else {
            parts.iter().any(of(Some(false))).then_some(false)
        }
    };
    RobustAnswer { answers: [0, 1, 2].map(all), components: product(parts) }
}

/// All combinations of the components of the parts; `None` where those of one are not known, or there are too
/// many.
fn product(parts: &[(Island, RobustAnswer)]) -> Option<Vec<ComponentBounds>> {
    let coordinates = parts.iter().map(|(island, _)| island.coordinates.len()).sum();
    let rows = parts.iter().map(|(island, _)| island.rows.len()).sum();
    let start = ComponentBounds {
        acceleration: vec![Interval::ZERO; coordinates],
        force: vec![Interval::ZERO; rows],
    };
    let mut all = vec![start];
    for (island, part) in parts {
        let own = part.components.as_ref()?;
        if own.len() * all.len() > MAX_COMPONENTS {
            return None;
        }
        let with = |(whole, own): (&ComponentBounds, &ComponentBounds)| {
            let mut whole = whole.clone();
            island.coordinates.iter().zip(&own.acceleration).for_each(|(&i, x)| whole.acceleration[i] = *x);
            island.rows.iter().zip(&own.force).for_each(|(&i, x)| whole.force[i] = *x);
            whole
        };
        all = all.iter().flat_map(|whole| own.iter().map(move |own| (whole, own))).map(with).collect();
    }
    Some(all)
}
