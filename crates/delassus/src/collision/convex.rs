//! Contacts of convex shapes along a known direction: hulls, triangles, cylinders and cones.
//!
//! ```text
//! n given with an error of ε  →  features of A along n and of B against it  →  n, gap and points of these, without ε
//! ```
//!
//! The direction comes from an iterative method; the features it points at do not depend on its last digits,
//! and all that is reported is computed from them. Where a face lies across n (within 3°) the other shape's
//! face, line or point is clipped by it, as for boxes; elsewhere edges or corners touch.

use glam::DVec3;

use super::box_box::{Block, MIN_FACE_COSINE, blocks, flip};
use super::clip::{CLIP_SLACK, Corner, MERGE_DISTANCE, Meeting, Polygon, Side};
use super::contact::{Contact, Features};
use super::polytope::{Face, Polytope};
use super::primitives::touch;
use super::rims::{Discs, Over, Rim, Under};
use crate::world::Pose;

/// Sine of the tilt under which a disc lies flat.
const MAX_FLAT_SINE: f64 = 0.05;
/// Slope of a line against the plane across n under which both of its ends touch.
const MAX_LINE_SLOPE: f64 = 0.5;
/// Cosine between two directions up to which one lies beside the other.
const MAX_BESIDE_COSINE: f64 = 0.7;
/// Overlaps of polytopes deeper than this part of their size are never left without a contact.
const MAX_LOST_DEPTH: f64 = 1e-6;
/// Sides of the polygon around a disc that carries another shape, and corners of one that overhangs its
/// support.
const DISC_SIDES: u16 = 32;

/// Sides of a face that clips another are numbered from here on, edges of the other below.
const FIRST_SIDE: u16 = 1000;
/// Faces that are incident features are numbered from here on.
const FIRST_FACE: u32 = 16;
/// Corners that are, alone or as an end of an edge, from here on.
const FIRST_TIP: u32 = 1 << 31;

/// A convex shape, as far as contacts distinguish it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Convex<'a> {
    Ball(f64),
    Capsule { radius: f64, half_height: f64 },
    Cylinder { radius: f64, half_height: f64 },
    Cone { radius: f64, half_height: f64 },
    Polytope(&'a Polytope),
}

/// What touches at a point away from faces.
enum Touched {
    Point(DVec3, f64),
    Edge(DVec3, f64, DVec3),
}

impl<'a> Convex<'a> {
    fn polytope(&self) -> Option<&'a Polytope> {
        match *self {
            Convex::Polytope(polytope) => Some(polytope),
            _ => None,
        }
    }

    /// The radius around the core.
    pub fn radius(&self) -> f64 {
        match *self {
            Convex::Ball(radius) | Convex::Capsule { radius, .. } => radius,
            _ => 0.0,
        }
    }

    pub fn size(&self) -> f64 {
        match *self {
            Convex::Ball(radius) => radius,
            Convex::Capsule { radius, half_height }
            | Convex::Cylinder { radius, half_height }
            | Convex::Cone { radius, half_height } => radius.max(half_height),
            Convex::Polytope(polytope) => polytope.size(),
        }
    }

    /// The flat side that lies across n: its outward normal, a point of it, its number and the cosine to n.
    fn face_along(&self, n: DVec3) -> Option<(DVec3, DVec3, u32, f64)> {
        let found = match *self {
            Convex::Polytope(polytope) if !polytope.faces.is_empty() => {
                let (k, cosine) = polytope.face_along(n, |_| true);
                let face = &polytope.faces[k];
                (face.normal, polytope.corner(face, 0), k as u32, cosine)
            }
            Convex::Cylinder { half_height, .. } | Convex::Cone { half_height, .. } => {
                let cone = matches!(self, Convex::Cone { .. });
                let side = if n.z < 0.0 || cone { -1.0 } else { 1.0 };
                let normal = DVec3::Z * side;
                (normal, normal * half_height, u32::from(side > 0.0), normal.dot(n))
            }
            _ => return None,
        };
        (found.3 >= MIN_FACE_COSINE).then_some(found)
    }

    /// The flat end that lies across n.
    fn disc(&self, n: DVec3) -> Option<Rim> {
        let (axis, origin, ..) = self.face_along(n)?;
        match *self {
            Convex::Cylinder { radius, .. } | Convex::Cone { radius, .. } => {
                Some(Rim { centre: origin, axis, radius })
            }
            _ => None,
        }
    }

    /// Cuts a polygon by the sides of a face found by [`Convex::face_along`].
    fn clip(&self, face: u32, polygon: &mut Polygon) {
        match *self {
            Convex::Polytope(polytope) => {
                let (face, slack) = (&polytope.faces[face as usize], CLIP_SLACK * polytope.size());
                for k in 0..face.corners.len() {
                    polygon.clip(FIRST_SIDE + k as u16, slack, |x| polytope.inside(face, k, x));
                }
            }
            Convex::Cylinder { radius, .. } | Convex::Cone { radius, .. } => {
                // A disc of the same size that lies on it overhangs by rounding only.
                let wide = radius * (1.0 + MERGE_DISTANCE);
                for k in 0..DISC_SIDES {
                    let outward = on_circle(k, DISC_SIDES);
                    polygon.clip(FIRST_SIDE + k, 0.0, |x| wide - outward.dot(x));
                }
            }
            _ => {}
        }
    }

    /// What of the shape, at a pose, faces along w (in its own axes): corners of a face, ends of a line, or a
    /// point. `round` is the number of corners of a disc. Returns a number for it.
    fn feature_along(&self, w: DVec3, pose: &Pose, round: u16, polygon: &mut Polygon) -> u32 {
        polygon.clear();
        let mut feature = Feature { pose, polygon };
        match *self {
            Convex::Ball(radius) => {
                feature.round(DVec3::ZERO, w, radius, [0, 1]);
                0
            }
            Convex::Capsule { radius, half_height } => {
                let end = lower_end(w, half_height);
                feature.round(end, w, radius, [u16::from(end.z < 0.0), 2]);
                if w.z.abs() <= MAX_LINE_SLOPE {
                    feature.round(-end, w, radius, [u16::from(end.z >= 0.0), 2]);
                }
                1
            }
            Convex::Cylinder { radius, half_height } => {
                feature.disc_or_side(w, Revolved { radius, half_height, cone: false }, round)
            }
            Convex::Cone { radius, half_height } => {
                feature.disc_or_side(w, Revolved { radius, half_height, cone: true }, round)
            }
            Convex::Polytope(polytope) => feature.face_or_tip(w, polytope),
        }
    }

    /// What touches at the point p of the core, where n points outward.
    fn touched(&self, p: DVec3, n: DVec3) -> Touched {
        match *self {
            Convex::Ball(radius) => Touched::Point(DVec3::ZERO, radius),
            Convex::Capsule { radius, half_height } => {
                let axis = DVec3::new(0.0, 0.0, p.z.clamp(-half_height, half_height));
                match axis.z.abs() < half_height * (1.0 - 1e-9) {
                    true => Touched::Edge(axis, radius, DVec3::Z),
                    false => Touched::Point(axis, radius),
                }
            }
            Convex::Cylinder { radius, .. } if n.z.abs() < 1e-4 => {
                Touched::Edge(DVec3::new(0.0, 0.0, p.z), radius, DVec3::Z)
            }
            Convex::Cylinder { .. } | Convex::Cone { .. } => Touched::Point(p, 0.0),
            Convex::Polytope(polytope) => {
                let near = 1e-5 * self.size();
                let corner = polytope.vertices.iter().find(|v| (**v - p).length() < near);
                if let Some(&v) = corner {
                    return Touched::Point(v, 0.0);
                }
                for &[i, j] in &polytope.edges {
                    let (v, w) = (polytope.vertices[i as usize], polytope.vertices[j as usize]);
                    let e = (w - v).normalize_or_zero();
                    let foot = v + e * (p - v).dot(e);
                    if (foot - p).length() < near && (p - v).dot(p - w) < 0.0 {
                        return Touched::Edge(foot, 0.0, e);
                    }
                }
                Touched::Point(p, 0.0)
            }
        }
    }
}

/// A cylinder or a cone about z.
struct Revolved {
    radius: f64,
    half_height: f64,
    cone: bool,
}

/// The end of an axis along z that lies farther along w.
fn lower_end(w: DVec3, half_height: f64) -> DVec3 {
    DVec3::Z * if w.z < 0.0 { -half_height } else { half_height }
}

/// Corners of a feature, at the pose of its shape. A place is [number, count]: the corner lies between the
/// edges of its number and of the one before.
struct Feature<'a> {
    pose: &'a Pose,
    polygon: &'a mut Polygon,
}

impl Feature<'_> {
    fn push(&mut self, y: DVec3, outward: DVec3, radius: f64, rim: bool, [k, count]: [u16; 2]) {
        let edges = [(k + count - 1) % count, k];
        let x = self.pose.point(y + outward * radius);
        self.polygon.corners.push(Corner { x, y, radius, rim, edges });
    }

    /// A point of the core without radius.
    fn bare(&mut self, y: DVec3, place: [u16; 2]) {
        self.push(y, DVec3::ZERO, 0.0, false, place);
    }

    /// A point of the core with a ball around it.
    fn round(&mut self, y: DVec3, outward: DVec3, radius: f64, place: [u16; 2]) {
        self.push(y, outward, radius, false, place);
    }

    /// The flat end, with `round` corners, or the side of a cylinder or cone.
    fn disc_or_side(&mut self, w: DVec3, shape: Revolved, round: u16) -> u32 {
        let Revolved { radius, half_height, cone } = shape;
        let across = DVec3::new(w.x, w.y, 0.0);
        let sine = across.length();
        let outward = if sine > 1e-9 { across / sine } else { DVec3::X };
        let end = lower_end(w, half_height);
        let (apex, base) = (DVec3::Z * half_height, DVec3::Z * -half_height);
        if sine < MAX_FLAT_SINE && (!cone || w.z < 0.0) {
            let side = DVec3::Z.cross(outward);
            for k in 0..round {
                let place = on_circle(k, round);
                let y = end + (outward * place.x + side * place.y) * radius;
                self.bare(y, [k, round]);
            }
            return 2;
        }
        if cone {
            // The line from the apex to the rim touches as a whole where it lies across w, else one end.
            let along = base + outward * radius - apex;
            let slope = w.dot(along) / along.length();
            if slope <= MAX_LINE_SLOPE {
                self.bare(apex, [0, 2]);
            }
            if slope >= -MAX_LINE_SLOPE {
                self.push(base, outward, radius, true, [1, 2]);
            }
        } else {
            self.push(end, outward, radius, true, [u16::from(end.z < 0.0), 2]);
            if w.z.abs() <= MAX_LINE_SLOPE {
                self.push(-end, outward, radius, true, [u16::from(end.z >= 0.0), 2]);
            }
        }
        3
    }

    /// The face across w at the corner farthest along w, or else that corner, with the flattest edge there. A
    /// face elsewhere may lie better across w, and has not what touches first.
    fn face_or_tip(&mut self, w: DVec3, polytope: &Polytope) -> u32 {
        let tip = polytope.support(w);
        let other = |&[i, j]: &[u32; 2]| match (i as usize == tip, j as usize == tip) {
            (true, _) => Some(j as usize),
            (_, true) => Some(i as usize),
            _ => None,
        };
        let slope = |k: usize| {
            let d = polytope.vertices[k] - polytope.vertices[tip];
            w.dot(d).abs() / d.length().max(f64::MIN_POSITIVE)
        };
        let ends = polytope.edges.iter().filter_map(other);
        let flattest = ends.min_by(|&i, &j| slope(i).total_cmp(&slope(j)));
        let has = |face: &Face, k: usize| face.corners.contains(&(k as u32));
        let beside = |face: &Face| has(face, tip) && flattest.is_none_or(|end| has(face, end));
        let (best, cosine) = polytope.face_along(w, beside);
        if cosine > 0.5 {
            let face = &polytope.faces[best];
            let count = face.corners.len();
            for k in 0..count {
                self.bare(polytope.corner(face, k), [k as u16, count as u16]);
            }
            return FIRST_FACE + best as u32;
        }
        self.bare(polytope.vertices[tip], [0, 2]);
        if let Some(end) = flattest.filter(|&end| slope(end) < MAX_LINE_SLOPE) {
            self.bare(polytope.vertices[end], [1, 2]);
        }
        FIRST_TIP + tip as u32
    }
}

/// Point of the unit circle, the first along x.
fn on_circle(k: u16, count: u16) -> DVec3 {
    // Quarter circles without rounding.
    let quarters = [DVec3::X, DVec3::Y, DVec3::NEG_X, DVec3::NEG_Y];
    if (4 * k).is_multiple_of(count) {
        return quarters[usize::from(4 * k / count) % 4];
    }
    let angle = std::f64::consts::TAU * f64::from(k) / f64::from(count);
    DVec3::new(angle.cos(), angle.sin(), 0.0)
}

/// Contacts of A and B, at a pose seen from A, near the points `p` of the cores (each in the axes of its
/// shape) along n.
pub(super) fn convex_contacts(
    (a, b): (&Convex, &Convex),
    pose: &Pose,
    n: DVec3,
    p: [DVec3; 2],
    max_gap: f64,
    polygon: &mut Polygon,
    out: &mut Vec<Contact>,
) {
    let m = -pose.local_vector(n);
    // Two that lie across n with their sides: lines, as of capsules.
    let line = |shape: &Convex, n: DVec3| match *shape {
        Convex::Capsule { radius, half_height } => Some((radius, half_height)),
        Convex::Cylinder { radius, half_height } if n.z.abs() < 1e-3 => Some((radius, half_height)),
        _ => None,
    };
    if let (Some(first), Some(second)) = (line(a, n), line(b, m)) {
        let block = |(radius, half_height)| Block { half: DVec3::new(0.0, 0.0, half_height), radius };
        blocks(&block(first), &block(second), pose, max_gap, polygon, out);
        return;
    }
    let start = out.len();
    let (on_a, on_b) = (a.face_along(n), b.face_along(m));
    if lies_flush(a, b, pose, n) || lies_flush(b, a, &pose.inverse(), m) {
        return;
    }
    let first = on_a.map_or(0.0, |face| face.3) >= on_b.map_or(0.0, |face| face.3) - 1e-9;
    if on_a.is_some() && first {
        face_contacts((a, b), pose, n, 0, polygon, out);
    } else if on_b.is_some() {
        face_contacts((b, a), &pose.inverse(), m, 1, polygon, out);
        for contact in &mut out[start..] {
            flip(contact, pose);
        }
    }
    let bare = a.radius() + b.radius() == 0.0 && (on_a.is_some() || on_b.is_some());
    let polytopes = matches!((a, b), (Convex::Polytope(_), Convex::Polytope(_)));
    // Bare corners and edges that pass along a face touch nothing, as for boxes. Where what lies over a face
    // is not the nearest, the nearest touches too.
    let d = pose.point(p[1]) - p[0];
    let distance = n.dot(d) - a.radius() - b.radius();
    let gap = |c: &Contact| c.gap_at(&Pose::IDENTITY, pose).0;
    let lowest = out[start..].iter().map(gap).fold(f64::INFINITY, f64::min);
    let size = a.size().max(b.size());
    if lowest <= distance + 0.002 * distance.abs() + 1e-6 * size {
        return;
    }
    if bare && polytopes {
        // Unless they are inside each other: then the tip of one touches the face of the other.
        if distance < -MAX_LOST_DEPTH * size && lowest >= -MAX_LOST_DEPTH * size {
            let start = out.len();
            if on_a.is_some() && first {
                out.extend(tip_on_face((a, b), pose, n));
            } else {
                out.extend(tip_on_face((b, a), &pose.inverse(), m));
                out[start..].iter_mut().for_each(|contact| flip(contact, pose));
            }
        }
        return;
    }
    // Points that do not face each other along n are not nearest.
    if (d - n * n.dot(d)).length() > 1e-3 * size && distance > -1e-3 * size {
        return;
    }
    let (core, radius, features) = nearest_features((a, b), pose, [n, m], p);
    out.push(touch(1, core, radius, features, n));
}

/// The points of the cores of A and B near `p`, their radii, and the features that touch there; n is the
/// normal in the axes of each, outwards.
fn nearest_features(
    (a, b): (&Convex, &Convex),
    pose: &Pose,
    [n, m]: [DVec3; 2],
    p: [DVec3; 2],
) -> ([DVec3; 2], [f64; 2], Features) {
    match (a.touched(p[0], n), b.touched(p[1], m)) {
        (Touched::Edge(x, r, e), Touched::Edge(y, s, f)) => {
            let cross = e.cross(pose.rotation * f).normalize_or_zero();
            let features = match cross.dot(n).abs() > MIN_FACE_COSINE {
                true => Features::Edges(e, f),
                false => Features::EdgeOfA(e),
            };
            ([x, y], [r, s], features)
        }
        (Touched::Edge(x, r, e), Touched::Point(y, s)) => ([x, y], [r, s], Features::EdgeOfA(e)),
        (Touched::Point(x, r), Touched::Edge(y, s, f)) => ([x, y], [r, s], Features::EdgeOfB(f)),
        (Touched::Point(x, r), Touched::Point(y, s)) if r + s > 0.0 => ([x, y], [r, s], Features::Points),
        // No feature that rotates the normal: the direction stays with A.
        (Touched::Point(x, _), Touched::Point(y, _)) => ([x, y], [0.0; 2], Features::FaceOfA(n)),
    }
}

/// The tip of B, where that is a polytope, on the face of A across n.
fn tip_on_face((a, b): (&Convex, &Convex), pose: &Pose, n: DVec3) -> Option<Contact> {
    let (Some((n, origin, ..)), Convex::Polytope(polytope)) = (a.face_along(n), b) else { return None };
    let y = polytope.vertices[polytope.support(-pose.local_vector(n))];
    let x = pose.point(y);
    Some(touch(2, [x - n * n.dot(x - origin), y], [0.0; 2], Features::FaceOfA(n), n))
}

/// Whether a cylinder or cone B lies in the plane of a face of A, beside it: as on a floor of tiles beside
/// the next tile. It may pass there, and n, along which the two are apart, must not stop it.
fn lies_flush(a: &Convex, b: &Convex, pose: &Pose, n: DVec3) -> bool {
    let Convex::Polytope(polytope) = a else { return false };
    let support = |w: DVec3| {
        let across = w.x.hypot(w.y);
        match *b {
            Convex::Cylinder { radius, half_height } => Some(w.z.abs() * half_height + across * radius),
            Convex::Cone { radius, half_height } => {
                Some((w.z * half_height).max(across * radius - w.z * half_height))
            }
            _ => None,
        }
    };
    let flush = 10.0 * MERGE_DISTANCE * a.size().min(b.size());
    // A triangle of a mesh has no sides of its own.
    polytope.faces.len() > 1
        && polytope.faces.iter().filter(|face| face.normal.dot(n) < MAX_BESIDE_COSINE).any(|face| {
            let height = face.normal.dot(pose.position - polytope.corner(face, 0));
            support(-pose.local_vector(face.normal)).is_some_and(|h| (height - h).abs() <= flush)
        })
}

/// Contacts of the face of A across n with what of B faces it.
pub(super) fn face_contacts(
    (a, b): (&Convex, &Convex),
    pose: &Pose,
    n: DVec3,
    side: u32,
    polygon: &mut Polygon,
    out: &mut Vec<Contact>,
) {
    let Some((n, origin, face, _)) = a.face_along(n) else {
        return;
    };
    let w = -pose.local_vector(n);
    let merge = MERGE_DISTANCE * a.size().min(b.size());
    let mut incident = b.feature_along(w, pose, 4, polygon);
    // The side of a cone is not at one distance from a line.
    let line = match (b, polygon.corners.as_slice()) {
        (Convex::Cone { .. }, _) => None,
        (_, [first, second]) => Some(Side { ends: [first.y, second.y], outward: DVec3::ZERO }.at(pose)),
        _ => None,
    };
    a.clip(face, polygon);
    // The triangles of a mesh share what lies on them.
    let single_face = matches!(a, Convex::Polytope(polytope) if polytope.faces.len() == 1);
    if incident == 2
        && !single_face
        && (polygon.corners.len() != 4 || polygon.corners.iter().any(|c| c.edges[0] >= FIRST_SIDE))
    {
        // A disc that overhangs its support is supported by more of its rim.
        incident = b.feature_along(w, pose, DISC_SIDES, polygon);
        a.clip(face, polygon);
    }
    let area = polygon.corners.len() > 2;
    polygon.reduce(n, merge);
    if area && polygon.corners.len() < 3 {
        return;
    }
    let discs = discs_of((a, b), pose, n, [face, incident], line, single_face);
    for c in &polygon.corners {
        let foot = c.x - n * n.dot(c.x - origin);
        let mut core = [foot, c.y];
        let (features, normal) = match (c.rim, &discs) {
            (true, _) => (Features::FaceOfARimOfB(n, DVec3::Z), n),
            (false, Some(discs)) => {
                let side = c.edges.into_iter().find_map(|edge| edge.checked_sub(FIRST_SIDE)).map(usize::from);
                let edge = c.edges.into_iter().find(|&edge| edge < FIRST_SIDE).map(usize::from);
                let Some((meeting, points)) = discs.meeting(pose, [side, edge], c.x, foot) else { continue };
                if let Some([on_a, on_b]) = points {
                    core = [on_a, pose.local_point(on_b)];
                }
                meeting.features(pose)
            }
            (false, None) => meeting((a, b), pose, [face, incident], line, (c, foot)).features(pose),
        };
        // On the side of a tilted cylinder or cone, the component of the radius towards the face counts.
        let radius = match features {
            Features::FaceOfA(_) if c.radius > 0.0 => n.dot(pose.point(c.y) - c.x),
            _ => c.radius,
        };
        let ids = [side, face, incident, u32::from(c.edges[0]), u32::from(c.edges[1])];
        out.push(touch(number(&ids), core, [0.0, radius], features, normal));
    }
}

/// The disc that is the face of A, or the one of B that lies over it. None where polygons are what they seem:
/// the triangles of a mesh share what lies on them, and see four corners of a disc.
fn discs_of<'a>(
    (a, b): (&Convex<'a>, &Convex<'a>),
    pose: &Pose,
    n: DVec3,
    [face, incident]: [u32; 2],
    line: Option<Side>,
    single_face: bool,
) -> Option<Discs<'a>> {
    let lies = |b: &Convex| incident == 2 && !single_face && b.polytope().is_none();
    let on_b = b.disc(-pose.local_vector(n)).filter(|_| lies(b)).map(|rim| rim.at(pose));
    let below = match a.polytope() {
        Some(polytope) => Under::Face(polytope, face as usize),
        None => Under::Disc(a.disc(n)?),
    };
    let above = match (on_b, line, b.polytope()) {
        (Some(rim), ..) => Over::Disc(rim),
        (None, Some(line), _) => Over::Line(line),
        (None, None, Some(polytope)) if (FIRST_FACE..FIRST_TIP).contains(&incident) => {
            Over::Face(polytope, (incident - FIRST_FACE) as usize)
        }
        _ => Over::Nothing,
    };
    let round = matches!(below, Under::Disc(_)) || matches!(above, Over::Disc(_));
    round.then_some(Discs { n, below, above })
}

/// What meets at a corner of the overlap of a face of A with an incident feature of B, which may be a line.
fn meeting(
    (a, b): (&Convex, &Convex),
    pose: &Pose,
    [face, incident]: [u32; 2],
    line: Option<Side>,
    (corner, foot): (&Corner, DVec3),
) -> Meeting {
    let n = match *a {
        Convex::Polytope(polytope) => polytope.faces[face as usize].normal,
        _ => DVec3::Z * if face == 1 { 1.0 } else { -1.0 },
    };
    let nothing = Meeting { n, m: None, below: false, side: None, edge: None };
    let Some(first) = a.polytope() else { return nothing };
    let mut sides = corner.edges.into_iter().filter_map(|edge| edge.checked_sub(FIRST_SIDE)).map(usize::from);
    if sides.clone().any(|k| first.is_inner(k)) {
        return nothing;
    }
    let side = sides.next().map(|k| first.side(&first.faces[face as usize], k));
    if line.is_some() {
        return Meeting { side, edge: line, ..nothing };
    }
    let Some(second) = b.polytope() else { return nothing };
    let Some(other) = incident.checked_sub(FIRST_FACE).and_then(|k| second.faces.get(k as usize)) else {
        return nothing;
    };
    let edge = corner.edges.into_iter().find(|&edge| edge < FIRST_SIDE).map(usize::from);
    if edge.is_some_and(|k| second.is_inner(k)) {
        return nothing;
    }
    let edge = edge.map(|k| second.side(other, k).at(pose));
    let (y, slack) = (pose.local_point(foot), CLIP_SLACK * second.size());
    let below = (0..other.corners.len()).all(|k| second.inside(other, k, y) >= -slack);
    Meeting { n, m: Some(pose.rotation * other.normal), below, side, edge }
}

/// One number for several (FNV): features of shapes with any number of faces.
pub(super) fn number(ids: &[u32]) -> u32 {
    ids.iter().fold(0x811c_9dc5, |hash: u32, &id| (hash ^ id).wrapping_mul(0x0100_0193))
}
