//! Flat patches of contact: polygons cut by lines, and the corners that carry them.
//!
//! ```text
//! P ∩ { x : dₖ(x) ≥ 0 , k = 1 … m } ,   P ⊂ ℝ³ a plane polygon, dₖ the distance inside side k
//! ```
//!
//! A load anywhere on a patch is carried by the corners of its hull, so these are all that mechanics needs:
//! points that coincide are one, points within the hull or on its edges are none.

use glam::DVec3;

use super::contact::{Contact, Features, nearest_on_lines};
use crate::world::Pose;

/// Points closer than this, times the size of the shapes, are one; an overlap narrower than this is none.
pub(super) const MERGE_DISTANCE: f64 = 1e-6;
/// Corners outside of a patch by less than this, times the size of the shapes, count as inside.
pub(super) const CLIP_SLACK: f64 = 1e-9;

/// Faces that rise by less over each other, a micrometre over a metre, are flush: what steps leave of a flush
/// contact must not tilt its normals.
const MAX_FLUSH_TILT: f64 = 1e-6;
/// Sine of the angle under which two edges count as parallel: they do not say where they cross.
const MIN_CROSSING_SINE: f64 = 1e-3;
/// Cosine of the angle up to which the normal of a corner of a patch may differ from that of its face. Across
/// faces that are apart by 3° it is steeper only where edges are nearly parallel, or where something else is
/// nearer.
const MIN_CORNER_COSINE: f64 = 0.9;

/// A side of a face: its ends, and the unit direction in the plane of the face out of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    pub ends: [DVec3; 2],
    pub outward: DVec3,
}

impl Side {
    /// The same at a pose.
    pub fn at(self, pose: &Pose) -> Side {
        Side { ends: self.ends.map(|x| pose.point(x)), outward: pose.rotation * self.outward }
    }

    fn direction(&self) -> DVec3 {
        (self.ends[1] - self.ends[0]).normalize_or_zero()
    }

    /// Whether the nearest points of two lines lie on both sides.
    fn faces(&self, other: &Side) -> bool {
        let [e, f] = [self, other].map(Side::direction);
        let (s, t) = nearest_on_lines(e, f, other.ends[0] - self.ends[0]);
        let on = |side: &Side, s: f64| {
            let length = (side.ends[1] - side.ends[0]).length();
            (-MERGE_DISTANCE * length..=(1.0 + MERGE_DISTANCE) * length).contains(&s)
        };
        on(self, s) && on(other, t)
    }
}

/// What meets at a corner of the overlap of a face of A with one of B, or with a line: a corner of B's face
/// over that of A, a corner of A's under that of B, or the crossing of a side of A's face with an edge of
/// B's. All is seen from A.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting {
    /// Outward normal of A's face.
    pub n: DVec3,
    /// Outward normal of B's face; none where it is a line.
    pub m: Option<DVec3>,
    /// Whether the corner, as a point of A's face, lies below B's face, seen along m.
    pub below: bool,
    /// The side of A's face on which the corner lies, if on one.
    pub side: Option<Side>,
    /// The edge of B's face, or the line, on which the corner lies, if on one.
    pub edge: Option<Side>,
}

impl Meeting {
    /// The features that touch and the normal from A to B; directions of B in the axes of B, which is at a
    /// pose seen from A.
    ///
    /// ```text
    /// a side e of A crosses an edge f of B:   n_c = ± e × f / |e × f|
    /// ```
    ///
    /// The edges touch where n_c lies between the normals of the faces on both sides of either edge. Where it
    /// lies beyond n, the edge of B is over the face of A; where beyond −m, that of A is below the face of B.
    /// At each border the normals agree, so that they depend continuously on the pose.
    pub fn features(self, pose: &Pose) -> (Features, DVec3) {
        let on_a = (Features::FaceOfA(self.n), self.n);
        if self.is_flush() {
            return on_a;
        }
        let on_b = match self.m {
            Some(m) if self.below && -m.dot(self.n) >= MIN_CORNER_COSINE => {
                (Features::FaceOfB(pose.local_vector(m)), -m)
            }
            _ => on_a,
        };
        let (Some(side), edge) = (self.side, self.edge) else { return on_a };
        let Some(edge) = edge else { return on_b };
        let (e, f) = (side.direction(), edge.direction());
        let cross = e.cross(f);
        let sine = cross.length();
        let n = cross * (cross.dot(self.n).signum() / sine.max(f64::MIN_POSITIVE));
        if sine < MIN_CROSSING_SINE || n.dot(self.n) < MIN_CORNER_COSINE || n.dot(side.outward) < 0.0 {
            on_a
        } else if self.m.is_some() && n.dot(edge.outward) > 0.0 {
            on_b
        } else if side.faces(&edge) {
            (Features::Edges(e, pose.local_vector(f)), n)
        } else {
            on_a
        }
    }

    /// Whether nothing rises over the face of A: rounding must not tilt normals.
    fn is_flush(&self) -> bool {
        match (self.m, self.edge) {
            (Some(m), _) => (m + self.n).length() <= MAX_FLUSH_TILT,
            (None, Some(line)) => line.direction().dot(self.n).abs() <= MAX_FLUSH_TILT,
            (None, None) => true,
        }
    }
}

/// A corner of a polygon on shape B.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    /// A point of the surface of B, seen from A.
    pub x: DVec3,
    /// The core point of B that belongs to it, in the axes of B.
    pub y: DVec3,
    /// The radius around the core point.
    pub radius: f64,
    /// Whether it is the lowest point of a rim.
    pub rim: bool,
    /// Numbers of the edges before and after it.
    pub edges: [u16; 2],
}

impl Corner {
    /// A point of the surface that is its own core.
    pub fn new(x: DVec3, y: DVec3, edges: [u16; 2]) -> Corner {
        Corner { x, y, radius: 0.0, rim: false, edges }
    }
}

/// A convex polygon; two corners are a segment, one is a point.
#[derive(Clone, Debug, Default)]
pub(super) struct Polygon {
    pub corners: Vec<Corner>,
    spare: Vec<Corner>,
}

impl Polygon {
    /// No corners.
    pub fn clear(&mut self) {
        self.corners.clear();
    }

    /// Keeps what lies where `inside` ≥ 0, and corners that are outside by no more than `slack`: where faces
    /// are flush, rounding would make another corner of them in each step. The edge along the cut is numbered
    /// `edge`.
    pub fn clip(&mut self, edge: u16, slack: f64, inside: impl Fn(DVec3) -> f64) {
        std::mem::swap(&mut self.corners, &mut self.spare);
        self.corners.clear();
        let count = self.spare.len();
        for k in 0..count {
            let (c, d) = (self.spare[k], self.spare[(k + 1) % count]);
            let (s, t) = (inside(c.x), inside(d.x));
            let cut = |edges| {
                let (s, t) = if s < t { (s, t.max(0.0)) } else { (s.max(0.0), t) };
                let w = s / (s - t);
                let radius = c.radius + (d.radius - c.radius) * w;
                Corner { x: c.x + (d.x - c.x) * w, y: c.y + (d.y - c.y) * w, radius, rim: false, edges }
            };
            let (s_inside, t_inside) = (s >= -slack, t >= -slack);
            if s_inside {
                self.corners.push(c);
            }
            // A segment has no edge back.
            if count == 2 && k == 1 {
                continue;
            }
            if s_inside && !t_inside {
                self.corners.push(cut([c.edges[1], edge]));
            } else if !s_inside && t_inside {
                self.corners.push(cut([edge, d.edges[0]]));
            }
        }
    }

    /// Merges corners and drops those on the line between their neighbours, seen along n.
    pub fn reduce(&mut self, n: DVec3, merge: f64) {
        let corners = &mut self.corners;
        let mut k = 0;
        while k < corners.len() && corners.len() > 1 {
            let count = corners.len();
            let (p, q, r) = (corners[(k + count - 1) % count].x, corners[k].x, corners[(k + 1) % count].x);
            let flat = |x: DVec3| x - n * n.dot(x);
            let (along, beside) = (flat(r - p), flat(q - p));
            let height = along.cross(beside).length() / along.length().max(f64::MIN_POSITIVE);
            let double = (q - r).length() <= merge;
            let between = count > 2 && (height <= merge || along.length() <= merge);
            if double || between {
                corners.remove(k);
                // The neighbour before may lie on a line now.
                k = k.saturating_sub(1);
            } else {
                k += 1;
            }
        }
    }
}

/// Reduces contacts from `start` on to the corners of each flat patch: contacts whose normals agree to
/// `parallel` (a cosine) share the first one's patch. The contacts are as pushed by the pairs of shapes; A
/// may be a shape of many pieces.
pub(super) fn reduce_patches(
    pose: &Pose,
    merge: f64,
    parallel: f64,
    start: usize,
    scratch: &mut Vec<Contact>,
    out: &mut Vec<Contact>,
) {
    scratch.clear();
    scratch.extend(out.drain(start..));
    while let Some(&first) = scratch.first() {
        let patch = out.len();
        let mut kept = 0;
        for k in 0..scratch.len() {
            if k == 0 || scratch[k].normal.dot(first.normal) >= parallel {
                out.push(scratch[k]);
            } else {
                scratch[kept] = scratch[k];
                kept += 1;
            }
        }
        scratch.truncate(kept);
        hull_corners(pose, first.normal, merge, patch, out);
    }
}

/// Keeps of the contacts from `start` on the corners of their hull seen along n, and those lower than the
/// others around them.
fn hull_corners(pose: &Pose, n: DVec3, merge: f64, start: usize, out: &mut Vec<Contact>) {
    let u = n.any_orthonormal_vector();
    let v = n.cross(u);
    let key = |c: &Contact| {
        let (gap, _, point) = c.gap_and_point_at(&Pose::IDENTITY, pose);
        (u.dot(point), v.dot(point), gap)
    };
    out[start..].sort_by(|c, d| {
        let (p, q) = (key(c), key(d));
        p.0.total_cmp(&q.0)
            .then(p.1.total_cmp(&q.1))
            .then(p.2.total_cmp(&q.2))
            .then(c.feature.cmp(&d.feature))
    });
    if out.len() - start > 16 {
        outline(&key, merge, start, out);
    }
    let mut k = start;
    while k < out.len() {
        let p = key(&out[k]);
        let inside = |c: usize| {
            let q = key(&out[c]);
            c != k && (p.0 - q.0).hypot(p.1 - q.1) <= merge && (q.2 < p.2 || (q.2 == p.2 && c < k))
        };
        if (start..out.len()).any(inside) || spanned(p, out[start..].iter().map(key), merge) {
            out.remove(k);
        } else {
            k += 1;
        }
    }
}

/// Keeps of many contacts, sorted by place, the corners of their hull and those lower than all of these: what
/// is left is few.
fn outline(key: &impl Fn(&Contact) -> (f64, f64, f64), merge: f64, start: usize, out: &mut Vec<Contact>) {
    let all = out.split_off(start);
    let right_of = |c: &Contact, d: &Contact, e: &Contact| {
        let (p, q, r) = (key(c), key(d), key(e));
        let area = (q.0 - p.0) * (r.1 - p.1) - (q.1 - p.1) * (r.0 - p.0);
        area <= merge * (r.0 - p.0).hypot(r.1 - p.1)
    };
    for backwards in [false, true] {
        let first = out.len();
        for k in 0..all.len() {
            let next = all[if backwards { all.len() - 1 - k } else { k }];
            while out.len() >= first + 2 && right_of(&out[out.len() - 2], &out[out.len() - 1], &next) {
                out.pop();
            }
            out.push(next);
        }
        // The last of each chain is the first of the other.
        out.pop();
    }
    let lowest = out[start..].iter().map(|c| key(c).2).fold(f64::INFINITY, f64::min);
    out.extend(all.iter().filter(|c| key(c).2 < lowest - merge));
}

/// Whether a place lies strictly within the hull of others, or between two of them, and not below the plane
/// they span.
fn spanned(p: (f64, f64, f64), others: impl Iterator<Item = (f64, f64, f64)> + Clone, merge: f64) -> bool {
    // The directions of the others around p leave no open half-plane: the widest angle between neighbours is
    // at most π.
    let around = others.filter(|q| (p.0 - q.0).hypot(p.1 - q.1) > merge && q.2 <= p.2 + merge);
    let mut widest: f64 = 0.0;
    let mut any = false;
    for q in around.clone() {
        any = true;
        let angle = (q.1 - p.1).atan2(q.0 - p.0);
        // The next one counterclockwise; within the merging distance of the opposite direction counts as
        // opposite.
        let mut next = std::f64::consts::TAU;
        for r in around.clone() {
            let ahead = ((r.1 - p.1).atan2(r.0 - p.0) - angle).rem_euclid(std::f64::consts::TAU);
            let tolerance = merge / (r.0 - p.0).hypot(r.1 - p.1);
            if ahead > tolerance && ahead < next {
                next = ahead;
            }
        }
        widest = widest.max(next);
    }
    any && widest <= std::f64::consts::PI + 1e-6
}
