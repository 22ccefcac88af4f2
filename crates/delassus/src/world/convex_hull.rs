//! The convex hull of points, as triangles seen counterclockwise from outside.
//!
//! ```text
//! conv { p₁ … p_n } = ∩ over triangles (a, b, c) of { x : det(b − a, c − a, x − a) ≤ 0 } ,   pᵢ ∈ ℝ³
//! ```
//!
//! Quickhull: to a tetrahedron the point that is farthest outside is added, again and again. The connected
//! triangles that see it are removed, and the boundary of the hole is joined to it. Each triangle keeps the
//! points that see it, so that n points take about n log n operations. A hole of k connected triangles has at
//! most k + 2 boundary edges, so that n points have at most 2 n triangles whatever rounding does, and each
//! point is added at most once: the algorithm ends. A point within rounding of the hull counts as inside, so
//! that flat faces and points given twice do no harm.

use std::collections::{BTreeMap, BinaryHeap};

use glam::DVec3;

/// Distances below this part of the extent are rounding.
const ROUNDING: f64 = 1e-12;

/// A hull of some of the points.
#[derive(Clone, Debug, PartialEq)]
pub struct Hull {
    /// Triangles by index of their corners.
    pub triangles: Vec<[u32; 3]>,
    /// How far the farthest point lies beyond the plane of a triangle.
    pub error: f64,
}

/// Triangles of the hull by index of their corners; `None` where the points lie in a plane.
pub fn convex_hull(points: &[DVec3]) -> Option<Vec<[u32; 3]>> {
    reduced_hull(points, 0.0, usize::MAX).map(|hull| hull.triangles)
}

/// The hull of so few of the points that no other lies farther than a distance outside, and of no more than
/// `most` of them; `None` where they lie in a plane.
pub fn reduced_hull(points: &[DVec3], distance: f64, most: usize) -> Option<Hull> {
    let extent = points.iter().fold(0.0_f64, |e, p| e.max((*p - *points.first().unwrap_or(p)).length()));
    let epsilon = ROUNDING * extent;
    let start = tetrahedron(points, epsilon)?.map(|i| i as u32);
    let mut work = Work { points, epsilon, faces: Vec::new(), queue: BinaryHeap::new(), error: 0.0 };
    // Across the edge from its corner k to the next, a face meets the one with this number.
    const NEIGHBOURS: [[u32; 3]; 4] = [[1, 2, 3], [3, 2, 0], [1, 3, 0], [2, 1, 0]];
    for (face, neighbours) in [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]].iter().zip(NEIGHBOURS) {
        let face: &[usize; 3] = face;
        work.faces.push(Face::new(points, face.map(|i| start[i]), neighbours));
    }
    let others: Vec<u32> = (0..points.len() as u32).filter(|i| !start.contains(i)).collect();
    work.share(others, 0);
    let mut corners = 4;
    while let Some(Candidate { distance: far, face }) = work.queue.pop() {
        let face = face as usize;
        if !work.faces[face].alive || work.faces[face].farthest.0 != far {
            continue;
        }
        if far <= distance || corners >= most {
            work.error = work.error.max(far);
            break;
        }
        match work.add(face) {
            true => corners += 1,
            // Rounding hides which faces see it: it stays outside.
            false => {
                work.error = work.error.max(far);
                work.drop_farthest(face);
            }
        }
    }
    let triangles = work.faces.iter().filter(|face| face.alive).map(|face| face.corners).collect();
    Some(Hull { triangles, error: work.error })
}

/// A face with a point far outside, in the order of the distance; of equals the older face first.
#[derive(PartialEq)]
struct Candidate {
    distance: f64,
    face: u32,
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.distance.total_cmp(&other.distance).then(other.face.cmp(&self.face))
    }
}

struct Face {
    corners: [u32; 3],
    /// The face across the edge from each corner to the next.
    neighbours: [u32; 3],
    normal: DVec3,
    offset: f64,
    /// The points that it keeps, and the distance and place in the list of the farthest.
    outside: Vec<u32>,
    farthest: (f64, usize),
    alive: bool,
}

impl Face {
    fn new(points: &[DVec3], corners: [u32; 3], neighbours: [u32; 3]) -> Self {
        let [a, b, c] = corners.map(|i| points[i as usize]);
        // A sliver has no normal and keeps no points; it goes with the first neighbour that goes.
        let normal = (b - a).cross(c - a).normalize_or_zero();
        let (outside, farthest) = (Vec::new(), (0.0, 0));
        Face { corners, neighbours, normal, offset: normal.dot(a), outside, farthest, alive: true }
    }

    fn distance(&self, p: DVec3) -> f64 {
        self.normal.dot(p) - self.offset
    }

    /// Looks for the farthest of the points that it keeps.
    fn find_farthest(&mut self, points: &[DVec3]) {
        self.farthest = (0.0, 0);
        for (k, &i) in self.outside.iter().enumerate() {
            let distance = self.distance(points[i as usize]);
            if distance > self.farthest.0 {
                self.farthest = (distance, k);
            }
        }
    }
}

/// An edge of the rim: its ends, the face beyond it and which of its edges it is.
#[derive(Clone, Copy)]
struct Rim {
    ends: [u32; 2],
    beyond: u32,
    edge: usize,
}

struct Work<'a> {
    points: &'a [DVec3],
    epsilon: f64,
    faces: Vec<Face>,
    queue: BinaryHeap<Candidate>,
    error: f64,
}

impl Work<'_> {
    /// Gives points to those of the faces from a number on that they see best.
    fn share(&mut self, points: Vec<u32>, from: usize) {
        for i in points {
            let p = self.points[i as usize];
            let mut best = (self.epsilon, None);
            for (k, face) in self.faces.iter().enumerate().skip(from) {
                let distance = face.distance(p);
                if distance > best.0 {
                    best = (distance, Some(k));
                }
            }
            if let (_, Some(k)) = best {
                self.faces[k].outside.push(i);
            }
        }
        for k in from..self.faces.len() {
            self.faces[k].find_farthest(self.points);
            self.enqueue(k);
        }
    }

    fn enqueue(&mut self, face: usize) {
        let distance = self.faces[face].farthest.0;
        if distance > 0.0 {
            self.queue.push(Candidate { distance, face: face as u32 });
        }
    }

    fn drop_farthest(&mut self, face: usize) {
        let k = self.faces[face].farthest.1;
        self.faces[face].outside.swap_remove(k);
        self.faces[face].find_farthest(self.points);
        self.enqueue(face);
    }

    /// Adds the farthest point of a face; `false` where rounding leaves no rim that is one loop.
    fn add(&mut self, face: usize) -> bool {
        let i = self.faces[face].outside[self.faces[face].farthest.1];
        let p = self.points[i as usize];
        // Faces in the plane of the point may count on either side.
        for threshold in [1.0, 16.0, -1.0, 256.0].map(|t| t * self.epsilon) {
            let (seen, rim) = self.hole(face, p, threshold);
            if let Some(rim) = one_loop(&rim) {
                self.fill(i, &seen, &rim);
                return true;
            }
        }
        false
    }

    /// The faces that see a point and hang together with one of them, and the rim around them.
    fn hole(&self, face: usize, p: DVec3, threshold: f64) -> (Vec<u32>, Vec<Rim>) {
        let mut seen = vec![face as u32];
        let mut known = BTreeMap::from([(face as u32, true)]);
        let mut rim = Vec::new();
        let mut next = 0;
        while next < seen.len() {
            let (at, f) = (seen[next], &self.faces[seen[next] as usize]);
            next += 1;
            for k in 0..3 {
                let beyond = f.neighbours[k];
                let other = &self.faces[beyond as usize];
                let sees = *known.entry(beyond).or_insert_with(|| {
                    let sees = other.normal == DVec3::ZERO || other.distance(p) > threshold;
                    if sees {
                        seen.push(beyond);
                    }
                    sees
                });
                if !sees {
                    let ends = [f.corners[k], f.corners[(k + 1) % 3]];
                    // Slivers may meet along two edges: the one with these ends.
                    let edge = (0..3).find(|&e| other.neighbours[e] == at && other.corners[e] == ends[1]);
                    rim.push(Rim { ends, beyond, edge: edge.unwrap_or(0) });
                }
            }
        }
        (seen, rim)
    }

    /// Joins a point to a rim in the place of the faces within.
    fn fill(&mut self, point: u32, seen: &[u32], rim: &[Rim]) {
        let mut points = Vec::new();
        for &k in seen {
            let face = &mut self.faces[k as usize];
            face.alive = false;
            points.extend(std::mem::take(&mut face.outside).into_iter().filter(|&i| i != point));
        }
        let (first, n) = (self.faces.len(), rim.len());
        for (k, edge) in rim.iter().enumerate() {
            let number = |k: usize| (first + k % n) as u32;
            let neighbours = [edge.beyond, number(k + 1), number(k + n - 1)];
            let face = Face::new(self.points, [edge.ends[0], edge.ends[1], point], neighbours);
            self.faces.push(face);
            self.faces[edge.beyond as usize].neighbours[edge.edge] = number(k);
        }
        self.share(points, first);
    }
}

/// The edges of a rim one after the other, where they make one loop.
fn one_loop(rim: &[Rim]) -> Option<Vec<Rim>> {
    let from: BTreeMap<u32, Rim> = rim.iter().map(|edge| (edge.ends[0], *edge)).collect();
    if from.len() != rim.len() || rim.len() < 3 {
        return None;
    }
    let mut ordered = vec![rim[0]];
    while ordered.len() < rim.len() {
        let last = ordered[ordered.len() - 1].ends[1];
        let next = from.get(&last)?;
        if next.ends[0] == rim[0].ends[0] {
            return None;
        }
        ordered.push(*next);
    }
    (ordered[ordered.len() - 1].ends[1] == rim[0].ends[0]).then_some(ordered)
}

/// Four points far apart, the fourth below the triangle of the others.
fn tetrahedron(points: &[DVec3], epsilon: f64) -> Option<[usize; 4]> {
    let farthest = |distance: &dyn Fn(DVec3) -> f64| {
        let mut best = (0, 0.0);
        for (i, p) in points.iter().enumerate() {
            let d = distance(*p);
            if d > best.1 {
                best = (i, d);
            }
        }
        (best.1 > epsilon).then_some(best.0)
    };
    let a = *points.first()?;
    let i = farthest(&|p| (p - a).length())?;
    let along = (points[i] - a).normalize_or_zero();
    let j = farthest(&|p| (p - a).cross(along).length())?;
    let normal = (points[i] - a).cross(points[j] - a).normalize_or_zero();
    let k = farthest(&|p| (p - a).dot(normal).abs())?;
    let above = (points[k] - a).dot(normal) > 0.0;
    Some(if above { [0, j, i, k] } else { [0, i, j, k] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_cube_with_points_inside_and_twice_has_twelve_triangles() {
        let mut points: Vec<DVec3> =
            (0..8).map(|i| DVec3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2))).collect();
        points.push(DVec3::splat(0.5));
        points.push(points[3]);
        assert_eq!(convex_hull(&points).unwrap().len(), 12);
    }

    #[test]
    fn flat_points_have_no_hull() {
        let flat: Vec<DVec3> = (0..9).map(|i| DVec3::new(f64::from(i % 3), f64::from(i / 3), 1.0)).collect();
        for n in 0..=9 {
            assert_eq!(convex_hull(&flat[..n]), None, "{n}");
        }
    }

    /// Points on a sphere: few of them give a hull that the others leave by no more than it says.
    #[test]
    fn a_reduced_hull_says_how_far_others_lie_outside() {
        let n = 20_000;
        let points: Vec<DVec3> = (0..n)
            .map(|i| {
                let (z, a) = (1.0 - (2 * i + 1) as f64 / n as f64, i as f64 * 2.399_963_229_728_653);
                DVec3::new((1.0 - z * z).sqrt() * a.cos(), (1.0 - z * z).sqrt() * a.sin(), z)
            })
            .collect();
        let hull = reduced_hull(&points, 0.0, 200).unwrap();
        assert_eq!(hull.triangles.len(), 2 * 200 - 4);
        let beyond = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| points[i as usize]);
            let n = (b - a).cross(c - a).normalize();
            points.iter().map(|p| (*p - a).dot(n)).fold(0.0, f64::max)
        };
        let worst = hull.triangles.iter().map(beyond).fold(0.0, f64::max);
        assert!((worst - hull.error).abs() < 1e-12, "{worst} {}", hull.error);
        // 200 caps that cover a sphere of area 4π are 1/100 high; points chosen greedily take a few times
        // that.
        assert!(hull.error < 0.05, "{}", hull.error);
        assert_eq!(convex_hull(&points).unwrap().len(), 2 * n - 4);
    }

    /// Grids of points in the faces of a turned cube, where every decision is rounding.
    #[test]
    fn flat_faces_that_are_turned_end() {
        let turn = glam::DQuat::from_euler(glam::EulerRot::XYZ, 0.3, 0.7, 1.1);
        let grid = |k: i32| f64::from(k) / 20.0 - 0.5;
        let mut points = Vec::new();
        for (i, j, k) in (0..21).flat_map(|i| (0..21).flat_map(move |j| (0..21).map(move |k| (i, j, k)))) {
            if [i, j, k].iter().any(|x| *x == 0 || *x == 20) {
                points.push(turn * DVec3::new(grid(i), grid(j), grid(k)));
            }
        }
        let hull = reduced_hull(&points, 0.0, usize::MAX).unwrap();
        assert!(hull.error < 1e-12, "{}", hull.error);
        let volume: f64 = hull
            .triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|i| points[i as usize]);
                a.dot(b.cross(c)) / 6.0
            })
            .sum();
        assert!((volume - 1.0).abs() < 1e-10, "{volume}");
    }

    proptest! {
        #[test]
        fn no_point_lies_outside(points in prop::collection::vec(prop::array::uniform3(-1.0..1.0_f64), 4..60)) {
            let points: Vec<DVec3> = points.into_iter().map(DVec3::from_array).collect();
            let hull = convex_hull(&points).unwrap();
            for t in &hull {
                let [a, b, c] = t.map(|i| points[i as usize]);
                let n = (b - a).cross(c - a).normalize_or_zero();
                // Twice the rounding that counts as inside, for an extent of at most 2√3.
                prop_assert!(points.iter().all(|p| (*p - a).dot(n) < 1e-11));
            }
            // Euler: a closed surface without holes has 2V − 4 triangles.
            let mut used: Vec<u32> = hull.iter().flatten().copied().collect();
            used.sort_unstable();
            used.dedup();
            prop_assert_eq!(hull.len(), 2 * used.len() - 4);
        }
    }
}
