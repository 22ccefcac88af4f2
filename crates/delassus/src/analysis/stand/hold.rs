//! Which forces at a point of a body a world resists, in all directions.
//!
//! ```text
//! S = { w ∈ R³ : F − Pᵀw ∈ B K } convex ,   ball of radius ρ r ⊂ conv { r dᵢ } ⊂ S ,   βⱼ dⱼ ∉ S
//! ```
//!
//! w is the force, P its row at the point, dᵢ the corners of a polyhedron in the unit ball, ρ the radius of
//! the ball inside of it. Along each of them a force αᵢ is proved to be resisted and a force βᵢ not to be.
//! Where the world stands without w, r = min αᵢ is resisted along all of them, S being convex.

use delassus_solve::analysis::equilibrium::{find_collapse, is_collapse};
use delassus_solve::linalg::max_abs;
use glam::DVec3;

use super::margin::largest_load;
use super::{AtRest, Stands, WorldAtRest, decide};
use crate::world::FIXED_SLOT;

/// How often the size of the forces that are asked for is set anew.
const MAX_RESCALED: usize = 4;
/// Columns above which a coarser polyhedron is taken.
const MANY_ROWS: usize = 400;

/// The largest force that is resisted in every direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Resistance {
    /// Every force up to this is resisted, N: proved.
    pub resists: f64,
    /// Some force of this size is not, N: proved; `None` where none was found.
    pub fails: Option<f64>,
    /// The direction of that force.
    pub weakest: Option<DVec3>,
    /// The motion with which it gives way there, per body.
    pub collapse: Option<Vec<[DVec3; 2]>>,
    /// In how many directions it was asked.
    pub directions: usize,
}

/// The largest force at a point of a body, world axes, that is resisted in every direction; `None` where the
/// body does not move.
pub fn resistance(at_rest: &WorldAtRest, body: usize, point: DVec3) -> Option<Resistance> {
    let at = &at_rest.0;
    let slot = *at.masses.slot.get(body)?;
    if slot == FIXED_SLOT {
        return None;
    }
    let fine = if at.balance.rows.rows() > MANY_ROWS { 1 } else { 2 };
    let (directions, faces) = icosphere(fine);
    let nothing =
        Resistance { resists: 0.0, fails: None, weakest: None, collapse: None, directions: directions.len() };
    if at.vague.is_some() {
        return Some(nothing);
    }
    // Forces of about the size of the loads at first; where the answer is far from that, of about its size.
    let mut size = Some(max_abs(&at.balance.load)).filter(|x| *x > 0.0).unwrap_or(1.0);
    for _ in 0..MAX_RESCALED {
        let rough = scale_of(at, body, point, size);
        if !(rough < 0.01 * size || rough > 100.0 * size) {
            break;
        }
        size = rough;
    }
    let mut out = nothing;
    let mut ends = Vec::new();
    for direction in &directions {
        let force = size * *direction;
        let load = load_of(at, body, point, force);
        let bracket = largest_load(at, &at.balance.load, &load);
        ends.push(bracket.stands.unwrap_or(0.0) * force.length());
        let fails = bracket.falls.map(|factor| factor * force.length() * (1.0 + 1e-12));
        if let Some(fails) = fails.filter(|fails| out.fails.is_none_or(|least| *fails < least)) {
            (out.fails, out.weakest, out.collapse) = (Some(fails), Some(*direction), bracket.collapse);
        }
    }
    // The empty load is between two corners, so that less than a force that is resisted is resisted too.
    let least = ends.iter().copied().fold(f64::INFINITY, f64::min);
    // Less what lengths and distances round.
    out.resists = least * inner_radius(&directions, &faces) * (1.0 - 1e-9);
    Some(out)
}

/// The least force along an axis that is proved not to be resisted, or is the largest that is asked for.
fn scale_of(at: &AtRest, body: usize, point: DVec3, size: f64) -> f64 {
    let along = |direction: DVec3| {
        let load = load_of(at, body, point, size * direction);
        let bracket = largest_load(at, &at.balance.load, &load);
        bracket.falls.or(bracket.stands).filter(|x| *x > 0.0).map(|factor| factor * size)
    };
    let axes = DVec3::AXES.into_iter().flat_map(|axis| [axis, -axis]);
    let least = axes.filter_map(along).fold(f64::INFINITY, f64::min);
    if least.is_finite() { least } else { size }
}

/// What a force at a point of a body that moves adds to F.
fn load_of(at: &AtRest, body: usize, point: DVec3, force: DVec3) -> Vec<f64> {
    let pose = at.state.bodies[body].pose;
    let mut load = vec![0.0; at.balance.load.len()];
    let first = 6 * at.masses.slot[body] as usize;
    let moment = pose.local_vector((point - pose.position).cross(force));
    for c in 0..3 {
        (load[first + c], load[first + 3 + c]) = (-force[c], -moment[c]);
    }
    at.scale(&mut load);
    load
}

/// What proves a [`Resistance`], in the numbers of [`WorldAtRest::balance`].
#[derive(Clone, Debug, PartialEq)]
pub struct ResistanceProof {
    /// What unit forces along the axes of the world add to F.
    pub push: [Vec<f64>; 3],
    /// Every force up to this is resisted, N: a little less than was found.
    pub resists: f64,
    /// Forces around the origin, and forces of the supports near which some balance them.
    pub corners: Vec<(DVec3, Vec<f64>)>,
    /// The triangles between the corners, counterclockwise seen from outside.
    pub faces: Vec<[usize; 3]>,
    /// A force that is not resisted, and velocities that show it.
    pub weakest: Option<(DVec3, Vec<f64>)>,
}

/// What proves a resistance that was found; `None` where the numbers are too close to their limits to be
/// proved once more.
pub fn resistance_proof(
    at_rest: &WorldAtRest,
    body: usize,
    point: DVec3,
    found: &Resistance,
) -> Option<ResistanceProof> {
    let at = &at_rest.0;
    if *at.masses.slot.get(body)? == FIXED_SLOT || at.vague.is_some() {
        return None;
    }
    let push = DVec3::AXES.map(|axis| load_of(at, body, point, axis));
    let with = |force: DVec3| {
        let sum = |i: usize| (0..3).fold(at.balance.load[i], |sum, k| sum + force[k] * push[k][i]);
        at.balance.with_load((0..push[0].len()).map(sum).collect(), at.balance.load_error.clone())
    };
    let (directions, mut faces) = icosphere(if found.directions > 42 { 2 } else { 1 });
    let inner = inner_radius(&directions, &faces);
    // A margin for what a check by other means rounds.
    let size = found.resists / inner * (1.0 - 1e-6);
    let mut corners = Vec::new();
    for direction in directions.iter().filter(|_| found.resists > 0.0) {
        let force = size * *direction;
        let decided = decide(&with(force), false);
        corners.push((force, decided.forces.filter(|_| decided.stands == Stands::Possibly)?));
    }
    for face in &mut faces {
        let [a, b, c] = face.map(|i| directions[i]);
        if (b - a).cross(c - a).dot(a) < 0.0 {
            face.swap(1, 2);
        }
    }
    let weakest = found.fails.zip(found.weakest).and_then(|(size, direction)| {
        let force = size * (1.0 - 1e-12) * direction;
        let balance = with(force);
        Some((force, find_collapse(&balance, |v| is_collapse(&balance, v))?))
    });
    let resists = if corners.is_empty() { 0.0 } else { size * inner * (1.0 - 1e-9) };
    Some(ResistanceProof { push, resists, corners, faces, weakest })
}

/// The vertices and triangles of an icosahedron whose triangles are divided so often in four.
fn icosphere(divisions: usize) -> (Vec<DVec3>, Vec<[usize; 3]>) {
    let golden = 0.5 * (1.0 + 5.0_f64.sqrt());
    let mut points: Vec<DVec3> = Vec::new();
    for [a, b] in [[1.0, golden], [-1.0, golden], [1.0, -golden], [-1.0, -golden]] {
        points.extend([DVec3::new(0.0, a, b), DVec3::new(a, b, 0.0), DVec3::new(b, 0.0, a)]);
    }
    // Neighbours are at the distance 2, all others at more than 3.
    let near = |a: usize, b: usize, points: &[DVec3]| points[a].distance(points[b]) < 2.5;
    let mut faces = Vec::new();
    for a in 0..12 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                if near(a, b, &points) && near(b, c, &points) && near(a, c, &points) {
                    faces.push([a, b, c]);
                }
            }
        }
    }
    points.iter_mut().for_each(|p| *p = p.normalize());
    for _ in 0..divisions {
        let mut middles = std::collections::BTreeMap::new();
        let mut divided = Vec::new();
        for [a, b, c] in faces {
            let mut middle = |i: usize, j: usize| {
                *middles.entry([i.min(j), i.max(j)]).or_insert_with(|| {
                    points.push((points[i] + points[j]).normalize());
                    points.len() - 1
                })
            };
            let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
            divided.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
        }
        faces = divided;
    }
    (points, faces)
}

/// The distance of the nearest plane of a triangle from the origin.
fn inner_radius(points: &[DVec3], faces: &[[usize; 3]]) -> f64 {
    let distance = |[a, b, c]: &[usize; 3]| {
        let [a, b, c] = [points[*a], points[*b], points[*c]];
        (b - a).cross(c - a).normalize().dot(a).abs()
    };
    faces.iter().map(distance).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_divided_icosahedron_has_the_number_of_faces_of_euler() {
        for (divisions, vertices, least) in [(0, 12, 0.79), (1, 42, 0.93), (2, 162, 0.98)] {
            let (points, faces) = icosphere(divisions);
            assert_eq!((points.len(), faces.len()), (vertices, 2 * vertices - 4));
            // Every edge belongs to two triangles, so that they close around the origin.
            let mut edges = std::collections::BTreeMap::new();
            for [a, b, c] in &faces {
                for [i, j] in [[a, b], [b, c], [c, a]] {
                    *edges.entry([i.min(j), i.max(j)]).or_insert(0) += 1;
                }
            }
            assert!(edges.values().all(|n| *n == 2));
            assert!(inner_radius(&points, &faces) > least);
        }
    }
}
