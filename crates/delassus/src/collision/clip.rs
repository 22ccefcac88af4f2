//! Flat patches of contact: polygons cut by lines, and the corners that carry them.
//!
//! ```text
//! P ∩ { x : dₖ(x) ≥ 0 , k = 1 … m } ,   P ⊂ ℝ³ a plane polygon, dₖ the distance inside side k
//! ```
//!
//! A load anywhere on a patch is carried by the corners of its hull, so these are all that mechanics needs:
//! points that coincide are one, points within the hull or on its edges are none.

use glam::DVec3;

use super::contact::Contact;
use crate::world::Pose;

/// Points closer than this, times the size of the shapes, are one; an overlap narrower than this is none.
pub(super) const MERGE_DISTANCE: f64 = 1e-6;
/// Corners outside of a patch by less than this, times the size of the shapes, count as inside.
pub(super) const CLIP_SLACK: f64 = 1e-9;

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
