//! Contacts of boxes with rounded edges: box and box, capsule and box, capsule and capsule.
//!
//! ```text
//! core = { x : |xᵢ| ≤ hᵢ } ,   a capsule's is h = (0, 0, h₃) ;   gap = distance of the cores − r_a − r_b
//! distance = max over n of  n·t − h_a(n) − h_b(n)      n: face normals, eᵢ × fⱼ, and where apart corner to corner
//! ```
//!
//! The pair touches along the direction n in which the cores are farthest apart. Where n is that of a face
//! (within [`MIN_FACE_COSINE`]), the other's face is clipped by it and the corners of the overlap touch, each
//! along the normal of what meets there ([`Meeting`]); elsewhere two edges, an edge and a corner, or two
//! corners.
//!
//! Bare corners and edges that pass along a face closer than [`MIN_FACE_COSINE`] without overlap give no
//! contact: a box that slides over the seam of two others must not hit the edge behind it.

use glam::{DMat3, DVec3};

use super::clip::{CLIP_SLACK, Corner, MERGE_DISTANCE, Meeting, Polygon, Side};
use super::contact::{Contact, Features, nearest_on_lines};
use super::primitives::{corner, nearest_on_block, touch};
use crate::world::Pose;

/// Cosine of the angle (3°) within which the normal is that of a face.
pub(super) const MIN_FACE_COSINE: f64 = 0.9986;

/// Sides of a face that clips another are numbered from here on, edges of the other below.
const FIRST_SIDE: u16 = 4;
/// What [`incident_feature`] gives for a line.
const SEGMENT: u32 = 6;

/// A box with rounded edges.
#[derive(Clone, Copy, Debug)]
pub(super) struct Block {
    pub half: DVec3,
    pub radius: f64,
}

impl Block {
    /// Whether the faces across this axis have an area.
    fn has_face(&self, axis: usize) -> bool {
        self.half[(axis + 1) % 3] > 0.0 && self.half[(axis + 2) % 3] > 0.0
    }

    /// Corners that are not the same point twice.
    fn corners(&self) -> impl Iterator<Item = (u32, DVec3)> + use<> {
        let half = self.half;
        let distinct = move |index: u32| (0..3).all(|axis| half[axis] > 0.0 || index >> axis & 1 == 0);
        (0..8).filter(move |&index| distinct(index)).map(move |index| (index, corner(half, index)))
    }
}

/// Two blocks, B at a pose seen from A; contacts up to the gap `max_gap`. Returns how far the cores are apart
/// at least: where that is more, there are none.
pub(super) fn blocks(
    a: &Block,
    b: &Block,
    pose: &Pose,
    max_gap: f64,
    polygon: &mut Polygon,
    out: &mut Vec<Contact>,
) -> f64 {
    let max_gap = max_gap + a.radius + b.radius;
    let rotation = DMat3::from_quat(pose.rotation);
    let t = pose.position;
    let size = a.half.max_element().max(b.half.max_element());
    let mut best = (f64::NEG_INFINITY, DVec3::Z);
    let mut separation = |n: DVec3, bias: f64| {
        let extent_b = b.half.dot((rotation.transpose() * n).abs());
        let s = n.dot(t).abs() - a.half.dot(n.abs()) - extent_b;
        if s - bias > best.0 {
            best = (s - bias, n * if n.dot(t) < 0.0 { -1.0 } else { 1.0 });
        }
        s
    };
    // Among directions that are equally good up to rounding, a face of A comes before one of B before two
    // edges.
    let bias = 1e-10 * size;
    let mut apart = f64::NEG_INFINITY;
    for axis in 0..3 {
        apart = apart.max(separation(DVec3::AXES[axis], 0.0));
    }
    for axis in 0..3 {
        apart = apart.max(separation(rotation.col(axis), bias));
    }
    if apart > max_gap {
        return apart;
    }
    for (i, j) in edge_pairs(a, b) {
        let n = DVec3::AXES[i].cross(rotation.col(j));
        if n.length_squared() > 1e-10 {
            apart = apart.max(separation(n.normalize(), 2.0 * bias));
        }
    }
    if apart > max_gap {
        return apart;
    }
    let found = out.len();
    let closest = if apart > 1e-12 * size {
        closest_features(a, b, pose, &rotation, out);
        // All candidates share the nearest one's fate.
        out[found].normal
    } else {
        best.1
    };
    let (ref_a, ref_b) = (best_face(a, closest), best_face(b, -(rotation.transpose() * closest)));
    if ref_a.0.max(ref_b.0) >= MIN_FACE_COSINE {
        let candidates = out.len();
        if ref_a.0 >= ref_b.0 - 1e-9 {
            face_contacts((a, b), pose, ref_a.1, closest, false, polygon, out);
        } else {
            let n = -(rotation.transpose() * closest);
            face_contacts((b, a), &pose.inverse(), ref_b.1, n, true, polygon, out);
            for contact in &mut out[candidates..] {
                flip(contact, pose);
            }
        }
        let bare = a.radius + b.radius == 0.0;
        let gap = |c: &Contact| c.gap_at(&Pose::IDENTITY, pose).0;
        let lowest = out[candidates..].iter().map(gap).fold(f64::INFINITY, f64::min);
        // Where what lies over a face is not the nearest, the nearest touches too.
        let nearest = out[found..candidates].first().filter(|_| !bare).copied();
        if bare || lowest.is_finite() {
            out.drain(found..candidates);
            out.extend(nearest.filter(|c| lowest > gap(c) * 1.002 + 1e-9 * size));
            return apart;
        }
    }
    if out.len() == found {
        out.push(crossing(a, b, pose, &rotation, closest));
    }
    keep_line(a, b, pose, found, out);
    apart
}

/// Pairs of edge directions of two blocks.
fn edge_pairs(a: &Block, b: &Block) -> impl Iterator<Item = (usize, usize)> + use<> {
    let (a, b) = (a.half, b.half);
    (0..9).map(|k| (k / 3, k % 3)).filter(move |&(i, j)| a[i] > 0.0 && b[j] > 0.0)
}

/// Exchanges the bodies of a contact that was found with B in the place of A; `pose` is that of B seen from
/// A.
pub(super) fn flip(contact: &mut Contact, pose: &Pose) {
    contact.core.swap(0, 1);
    contact.radius.swap(0, 1);
    contact.features = contact.features.flipped();
    contact.normal = -(pose.rotation * contact.normal);
}

/// How well n agrees with a face, and which: twice the axis, plus one if n is negative there.
fn best_face(block: &Block, n: DVec3) -> (f64, usize) {
    let mut best = (0.0, 0);
    for axis in 0..3 {
        if block.has_face(axis) && n[axis].abs() > best.0 {
            best = (n[axis].abs(), 2 * axis + usize::from(n[axis] < 0.0));
        }
    }
    best
}

/// Contacts of disjoint cores: the nearest pair of features first, then other corners about as near.
fn closest_features(a: &Block, b: &Block, pose: &Pose, rotation: &DMat3, out: &mut Vec<Contact>) {
    let radius = [a.radius, b.radius];
    let start = out.len();
    let inverse = pose.inverse();
    for (index, x) in b.corners() {
        let (nearest, features, region, n) = nearest_on_block(a.half, pose.point(x));
        out.push(touch(1 << 12 | index << 6 | region, [nearest, x], radius, features, n));
    }
    for (index, x) in a.corners() {
        let (nearest, features, region, n) = nearest_on_block(b.half, inverse.point(x));
        let feature = 2 << 12 | index << 6 | region;
        out.push(touch(feature, [x, nearest], radius, features.flipped(), -(pose.rotation * n)));
    }
    for (i, j) in edge_pairs(a, b) {
        let cross = DVec3::AXES[i].cross(rotation.col(j));
        if cross.length_squared() < 1e-10 {
            continue;
        }
        let n = cross.normalize() * if cross.dot(pose.position) < 0.0 { -1.0 } else { 1.0 };
        let (contact, inside) = edge_edge(a, b, pose, rotation, (i, j), n);
        if inside {
            out.push(contact);
        }
    }
    let length = |c: &Contact| (pose.point(c.core[1]) - c.core[0]).length();
    // A strict order: the first of equally near ones, which are corners, then edges.
    let mut nearest = start;
    for k in start..out.len() {
        if length(&out[k]) < length(&out[nearest]) {
            nearest = k;
        }
    }
    out.swap(start, nearest);
    let (distance, n) = (length(&out[start]), out[start].normal);
    let size = a.half.max_element().min(b.half.max_element());
    let mut kept = start + 1;
    for k in start + 1..out.len() {
        if out[k].normal.dot(n) > MIN_FACE_COSINE && length(&out[k]) < distance + 0.1 * size {
            out.swap(kept, k);
            kept += 1;
        }
    }
    out.truncate(kept);
}

/// The contact of the edges along axis i of A and j of B that are farthest in the direction n and against it,
/// and whether the nearest points of their lines lie on both.
fn edge_edge(
    a: &Block,
    b: &Block,
    pose: &Pose,
    rotation: &DMat3,
    (i, j): (usize, usize),
    n: DVec3,
) -> (Contact, bool) {
    let farthest = |half: DVec3, axis: usize, n: DVec3| {
        let index = (0..3).map(|k| u32::from(k != axis && half[k] > 0.0 && n[k] > 0.0) << k).sum::<u32>();
        let mut point = corner(half, index);
        point[axis] = 0.0;
        (index, point)
    };
    let (index_a, middle_a) = farthest(a.half, i, n);
    let (index_b, middle_b) = farthest(b.half, j, -(rotation.transpose() * n));
    let (e, f) = (DVec3::AXES[i], DVec3::AXES[j]);
    let (s, t) = nearest_on_lines(e, rotation.col(j), pose.point(middle_b) - middle_a);
    let inside = s.abs() <= a.half[i] && t.abs() <= b.half[j];
    let (s, t) = (s.clamp(-a.half[i], a.half[i]), t.clamp(-b.half[j], b.half[j]));
    let feature = 3 << 12 | (3 * i + j) as u32 | index_a << 4 | index_b << 7;
    let core = [middle_a + e * s, middle_b + f * t];
    (touch(feature, core, [a.radius, b.radius], Features::Edges(e, f), n), inside)
}

/// The contact of overlapping cores along n that no face explains: two edges cross, or two lines lie in each
/// other.
fn crossing(a: &Block, b: &Block, pose: &Pose, rotation: &DMat3, n: DVec3) -> Contact {
    let across = |(i, j): (usize, usize)| {
        let cross = DVec3::AXES[i].cross(rotation.col(j));
        cross.dot(n).abs() / cross.length().max(1e-5)
    };
    let best = edge_pairs(a, b).max_by(|&p, &q| across(p).total_cmp(&across(q)));
    match best {
        Some(pair) if across(pair) > 0.5 => edge_edge(a, b, pose, rotation, pair, n).0,
        _ => {
            let middle = pose.position.clamp(-a.half, a.half);
            let core = [middle, pose.local_point(middle).clamp(-b.half, b.half)];
            touch(4 << 12, core, [a.radius, b.radius], Features::Points, n)
        }
    }
}

/// Of candidates along one line (parallel edges), the two ends, and one between them that is nearer than
/// both.
fn keep_line(a: &Block, b: &Block, pose: &Pose, start: usize, out: &mut Vec<Contact>) {
    if out.len() - start < 2 {
        return;
    }
    let (first, n) = (out[start], out[start].normal);
    let direction = out[start + 1..]
        .iter()
        .map(|c| c.core[0] - first.core[0])
        .max_by(|x, y| x.length_squared().total_cmp(&y.length_squared()))
        .map(|x| x - n * x.dot(n))
        .unwrap_or(DVec3::ZERO);
    let size = a.half.max_element().min(b.half.max_element());
    let merge = MERGE_DISTANCE * size;
    if direction.length() <= merge {
        out.truncate(start + 1);
        return;
    }
    let direction = direction.normalize();
    let place = |c: &Contact| direction.dot(c.core[0] - first.core[0]);
    let (mut low, mut high) = (start, start);
    for k in start..out.len() {
        if place(&out[k]) < place(&out[low]) - merge {
            low = k;
        }
        if place(&out[k]) > place(&out[high]) + merge {
            high = k;
        }
    }
    let (low, high) = (out[low], out[high]);
    let length = |c: &Contact| (pose.point(c.core[1]) - c.core[0]).length();
    out.truncate(start);
    out.push(low);
    out.push(high);
    let between = place(&first) > place(&low) + merge && place(&first) < place(&high) - merge;
    if between && length(&first) < length(&low).min(length(&high)) - 1e-9 * size {
        out.push(first);
    }
}

/// Contacts of a face of A (numbered as in [`best_face`]) with what of B lies over it.
fn face_contacts(
    (a, b): (&Block, &Block),
    pose: &Pose,
    face: usize,
    n: DVec3,
    flipped: bool,
    polygon: &mut Polygon,
    out: &mut Vec<Contact>,
) {
    let (axis, sign) = (face / 2, if face.is_multiple_of(2) { 1.0 } else { -1.0 });
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    polygon.clear();
    let incident = incident_feature(b, pose, n, polygon);
    let segment = polygon.corners.len() == 2;
    let size = a.half.max_element().min(b.half.max_element());
    let bounds = [(u, 1.0), (v, 1.0), (u, -1.0), (v, -1.0)];
    for (side, (along, bound)) in bounds.into_iter().enumerate() {
        polygon.clip(FIRST_SIDE + side as u16, CLIP_SLACK * size, |x| a.half[along] - bound * x[along]);
    }
    let n = DVec3::AXES[axis] * sign;
    polygon.reduce(n, MERGE_DISTANCE * size);
    if a.radius + b.radius == 0.0 && !segment && polygon.corners.len() < 3 {
        return;
    }
    let steep = polygon.corners.len() == 2 && {
        let d = polygon.corners[1].x - polygon.corners[0].x;
        d.dot(n).abs() > 0.5 * d.length()
    };
    let lower = usize::from(steep && polygon.corners[1].x.dot(n) < polygon.corners[0].x.dot(n));
    let m = (!segment).then(|| pose.rotation * face_normal(incident as usize));
    for (k, c) in polygon.corners.iter().enumerate() {
        if steep && k != lower {
            continue;
        }
        let mut foot = c.x;
        foot[axis] = sign * a.half[axis];
        let ids = (u32::from(flipped) << 3 | face as u32) << 9 | incident << 6;
        let feature = 5 << 16 | ids | u32::from(c.edges[0]) << 3 | u32::from(c.edges[1]);
        let side = c.edges.into_iter().find_map(|edge| edge.checked_sub(FIRST_SIDE)).map(|side| {
            let (across, bound) = bounds[usize::from(side)];
            side_of(a, axis, across, [sign, bound])
        });
        let edge = c.edges.into_iter().find(|&edge| edge < FIRST_SIDE);
        let edge = edge.map(|edge| incident_edge(b, incident, edge).at(pose));
        let (features, n) =
            Meeting { n, m, below: is_below(b, incident, pose.local_point(foot)), side, edge }.features(pose);
        out.push(touch(feature, [foot, c.y], [a.radius, b.radius], features, n));
    }
}

/// The outward normal of a face, numbered as in [`best_face`].
fn face_normal(face: usize) -> DVec3 {
    DVec3::AXES[face / 2] * if face.is_multiple_of(2) { 1.0 } else { -1.0 }
}

/// Whether the foot of a point in the plane of an [`incident_feature`] lies on it.
fn is_below(b: &Block, incident: u32, y: DVec3) -> bool {
    let slack = CLIP_SLACK * b.half.max_element();
    (0..3).filter(|&k| k != incident as usize / 2).all(|k| y[k].abs() <= b.half[k] + slack)
}

/// The side of a face across `axis`: with the signs of the face and of the coordinate `across` it.
fn side_of(block: &Block, axis: usize, across: usize, [sign, bound]: [f64; 2]) -> Side {
    let end = |along: f64| {
        let mut x = block.half * along;
        x[axis] = sign * block.half[axis];
        x[across] = bound * block.half[across];
        x
    };
    Side { ends: [end(-1.0), end(1.0)], outward: DVec3::AXES[across] * bound }
}

/// An edge of an [`incident_feature`], in the axes of its block.
fn incident_edge(b: &Block, incident: u32, edge: u16) -> Side {
    if incident == SEGMENT {
        // The other two have no length.
        return Side { ends: [-b.half, b.half], outward: DVec3::ZERO };
    }
    let axis = incident as usize / 2;
    let sign = if incident.is_multiple_of(2) { 1.0 } else { -1.0 };
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    let (across, bound) = [(v, 1.0), (u, -1.0), (v, -1.0), (u, 1.0)][usize::from(edge % 4)];
    side_of(b, axis, across, [sign, bound])
}

/// The face or segment of B that faces against n, and its number.
fn incident_feature(b: &Block, pose: &Pose, n: DVec3, polygon: &mut Polygon) -> u32 {
    let (_, face) = best_face(b, -pose.local_vector(n));
    let axis = face / 2;
    if !b.has_face(axis) {
        let along = (0..3).find(|&k| b.half[k] > 0.0).unwrap_or(2);
        for (k, end) in [1.0, -1.0].into_iter().enumerate() {
            let y = DVec3::AXES[along] * (end * b.half[along]);
            polygon.corners.push(Corner::new(pose.point(y), y, [k as u16, 1 - k as u16]));
        }
        return SEGMENT;
    }
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    for k in 0..4_u16 {
        let mut y = DVec3::ZERO;
        y[axis] = if face.is_multiple_of(2) { b.half[axis] } else { -b.half[axis] };
        y[u] = if k == 0 || k == 3 { b.half[u] } else { -b.half[u] };
        y[v] = if k < 2 { b.half[v] } else { -b.half[v] };
        polygon.corners.push(Corner::new(pose.point(y), y, [(k + 3) % 4, k]));
    }
    face as u32
}
