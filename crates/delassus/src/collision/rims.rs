//! Where borders of two flat features cross: edges, and rims of discs.
//!
//! ```text
//! x_a + s e  and  x_b + t f  nearest to each other ,   e and f tangents of rims at the points found last
//! ```
//!
//! A disc is clipped as a polygon of many sides. Where one of these crosses an edge or another rim, the
//! crossing of the true borders is found from there by Newton's method: its error is the distance from a
//! tangent to its circle, and shrinks with the square of itself.

use glam::DVec3;

use super::clip::{CLIP_SLACK, MERGE_DISTANCE, Meeting, Side};
use super::contact::nearest_on_lines;
use super::polytope::Polytope;
use crate::world::Pose;

/// Steps of Newton's method; the fourth is rounding where the first starts at a side of a polygon of 32.
const MAX_STEPS: usize = 8;
/// What the last step may move, in radii.
const MAX_LAST_STEP: f64 = 1e-9;
/// How far the crossing may be from that of the polygon, in radii.
const MAX_MOVE: f64 = 0.3;
/// Half the length of the tangent that stands for a rim, in radii.
const TANGENT_RATIO: f64 = 0.3;
/// Sine of the angle under which borders run side by side: they do not say where they cross.
const MIN_CROSSING_SINE: f64 = 1e-3;

/// The rim of a disc.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rim {
    pub centre: DVec3,
    /// Unit normal, out of the body.
    pub axis: DVec3,
    pub radius: f64,
}

impl Rim {
    /// The tangent at the point of the rim that is nearest to x.
    pub fn near(&self, x: DVec3) -> Option<Side> {
        let d = x - self.centre;
        let outward = (d - self.axis * d.dot(self.axis)).try_normalize()?;
        let middle = self.centre + outward * self.radius;
        let half = self.axis.cross(outward) * (TANGENT_RATIO * self.radius);
        Some(Side { ends: [middle - half, middle + half], outward })
    }

    /// The same, larger by this part.
    fn widened(self, part: f64) -> Rim {
        Rim { radius: self.radius * (1.0 + part), ..self }
    }

    /// The same at a pose.
    pub fn at(self, pose: &Pose) -> Rim {
        Rim { centre: pose.point(self.centre), axis: pose.rotation * self.axis, radius: self.radius }
    }

    /// Whether the foot of x in the plane of the disc lies on it.
    pub fn covers(&self, x: DVec3) -> bool {
        let d = x - self.centre;
        (d - self.axis * d.dot(self.axis)).length() <= self.radius
    }
}

/// A border of a flat feature.
#[derive(Clone, Copy, Debug)]
enum Border {
    Edge(Side),
    Rim(Rim),
}

impl Border {
    fn near(&self, x: DVec3) -> Option<Side> {
        match self {
            Border::Edge(side) => Some(*side),
            Border::Rim(rim) => rim.near(x),
        }
    }

    fn radius(&self) -> f64 {
        match self {
            Border::Edge(_) => 0.0,
            Border::Rim(rim) => rim.radius,
        }
    }
}

/// Two borders, one above the other at a point of each.
struct Crossing {
    sides: [Side; 2],
    points: [DVec3; 2],
}

/// The crossing of two borders near x, of faces across n: their nearest points.
fn crossing(borders: [Border; 2], n: DVec3, x: DVec3) -> Option<Crossing> {
    let size = borders.iter().map(Border::radius).fold(0.0, f64::max);
    let mut points = [x; 2];
    for _ in 0..MAX_STEPS {
        let sides = [borders[0].near(points[0])?, borders[1].near(points[1])?];
        let [e, f] = sides.map(|side| (side.ends[1] - side.ends[0]).normalize_or_zero());
        if n.dot(e.cross(f)).abs() < MIN_CROSSING_SINE {
            return None;
        }
        let (s, t) = nearest_on_lines(e, f, sides[1].ends[0] - sides[0].ends[0]);
        let next = [sides[0].ends[0] + e * s, sides[1].ends[0] + f * t];
        let moved = (next[0] - points[0]).length().max((next[1] - points[1]).length());
        points = next;
        if flat(points[0] - x, n).length() > MAX_MOVE * size {
            return None;
        }
        if moved <= MAX_LAST_STEP * size {
            // What crosses the line beyond an end passes the corner there.
            let on = |border: &Border, side: &Side, s: f64| {
                let length = (side.ends[1] - side.ends[0]).length();
                matches!(border, Border::Rim(_)) || (0.0..=length).contains(&s)
            };
            let crosses = on(&borders[0], &sides[0], s) && on(&borders[1], &sides[1], t);
            return crosses.then_some(Crossing { sides, points });
        }
    }
    None
}

/// The flat side of A below.
#[derive(Clone, Copy, Debug)]
pub(super) enum Under<'a> {
    Disc(Rim),
    Face(&'a Polytope, usize),
}

/// What of B lies over it; lines and discs as seen from A.
#[derive(Clone, Copy, Debug)]
pub(super) enum Over<'a> {
    Disc(Rim),
    Line(Side),
    Face(&'a Polytope, usize),
    Nothing,
}

/// A disc and what lies over or below it: corners of their overlap are those of polygons, and what meets
/// there are rims.
pub(super) struct Discs<'a> {
    /// Outward normal of the flat side of A.
    pub n: DVec3,
    pub below: Under<'a>,
    pub above: Over<'a>,
}

impl Discs<'_> {
    /// What meets at a corner of the overlap, x on B above its foot on A, on these sides of A and B, if on
    /// some; and the points of A and B there, seen from A, where those of the polygon are not the right ones.
    /// `None` for what is over the polygon around the disc of A and not over the disc, and for points of its
    /// rim with nothing above.
    pub fn meeting(
        &self,
        pose: &Pose,
        [side, edge]: [Option<usize>; 2],
        x: DVec3,
        foot: DVec3,
    ) -> Option<(Meeting, Option<[DVec3; 2]>)> {
        let n = self.n;
        let nothing = Some((Meeting { n, m: None, below: false, side: None, edge: None }, None));
        let border = match (side, self.below) {
            (Some(_), Under::Disc(rim)) => Border::Rim(rim),
            (None, Under::Disc(rim)) if !rim.widened(MERGE_DISTANCE).covers(foot) => return None,
            (Some(k), Under::Face(polytope, face)) if !polytope.is_inner(k) => {
                Border::Edge(polytope.side(&polytope.faces[face], k))
            }
            _ => return nothing,
        };
        let m = match self.above {
            Over::Disc(rim) => Some(rim.axis),
            Over::Face(polytope, face) => Some(pose.rotation * polytope.faces[face].normal),
            Over::Line(_) | Over::Nothing => None,
        };
        if let Some(k) = edge {
            let other = match self.above {
                Over::Disc(rim) => Border::Rim(rim),
                Over::Line(line) => Border::Edge(line),
                Over::Face(polytope, face) if !polytope.is_inner(k) => {
                    Border::Edge(polytope.side(&polytope.faces[face], k).at(pose))
                }
                Over::Face(..) | Over::Nothing => return nothing,
            };
            let Some(found) = crossing([border, other], n, x) else { return nothing };
            let [side, edge] = found.sides.map(Some);
            return Some((Meeting { n, m, below: true, side, edge }, Some(found.points)));
        }
        // A corner of A, or a point of its rim, below the face of B.
        let Some(m) = m else { return nothing };
        let side = border.near(foot);
        let foot = match (border, side) {
            (Border::Rim(_), Some(side)) => 0.5 * (side.ends[0] + side.ends[1]),
            _ => foot,
        };
        let below = match self.above {
            Over::Disc(rim) => rim.covers(foot),
            Over::Face(polytope, face) => {
                let (y, slack) = (pose.local_point(foot), CLIP_SLACK * polytope.size());
                let face = &polytope.faces[face];
                (0..face.corners.len()).all(|k| polytope.inside(face, k, y) >= -slack)
            }
            Over::Line(_) | Over::Nothing => false,
        };
        if !below && matches!(border, Border::Rim(_)) {
            return None;
        }
        let above = foot + n * (m.dot(x - foot) / m.dot(n));
        Some((Meeting { n, m: Some(m), below, side, edge: None }, Some([foot, above])))
    }
}

/// The part of x across n.
fn flat(x: DVec3, n: DVec3) -> DVec3 {
    x - n * n.dot(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rim_crosses_an_edge_and_another_rim_where_they_do() {
        let rim = Rim { centre: DVec3::new(0.0, 0.0, 0.1), axis: DVec3::NEG_Z, radius: 1.0 };
        let edge = Side { ends: [DVec3::new(0.6, -2.0, 0.0), DVec3::new(0.6, 2.0, 0.0)], outward: DVec3::X };
        let start = DVec3::new(0.58, 0.75, 0.0);
        let found = crossing([Border::Edge(edge), Border::Rim(rim)], DVec3::Z, start).unwrap();
        // 0.6² + 0.8² = 1.
        assert!((found.points[0] - DVec3::new(0.6, 0.8, 0.0)).length() < 1e-15, "{:?}", found.points);
        assert!((found.points[1] - DVec3::new(0.6, 0.8, 0.1)).length() < 1e-15, "{:?}", found.points);
        assert!((found.sides[1].outward - DVec3::new(0.6, 0.8, 0.0)).length() < 1e-15);
        let other = Rim { centre: DVec3::new(1.2, 0.0, 0.0), axis: DVec3::Z, radius: 1.0 };
        let found = crossing([Border::Rim(other), Border::Rim(rim)], DVec3::Z, start).unwrap();
        assert!((found.points[0] - DVec3::new(0.6, 0.8, 0.0)).length() < 1e-15, "{:?}", found.points);
        assert!(rim.covers(DVec3::new(0.6, 0.79, 5.0)) && !rim.covers(DVec3::new(0.6, 0.81, 5.0)));
        // An edge that touches the rim only does not cross it.
        let edge = Side { ends: [DVec3::new(1.0, -2.0, 0.0), DVec3::new(1.0, 2.0, 0.0)], outward: DVec3::X };
        assert!(crossing([Border::Edge(edge), Border::Rim(rim)], DVec3::Z, DVec3::X).is_none());
    }
}
