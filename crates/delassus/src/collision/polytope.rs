//! Convex polytopes: corners, faces and edges.
//!
//! ```text
//! P = { x : nₖ·(x − vₖ) ≤ 0 } = hull of its corners ,   nₖ the outward normal of face k, vₖ a corner of it
//! ```

use glam::DVec3;

use super::clip::Side;
use super::contact::Features;
use super::primitives::corner;

/// Corners and faces.
#[derive(Clone, Debug, Default)]
pub(super) struct Polytope {
    pub vertices: Vec<DVec3>,
    /// The largest coordinate of a corner.
    size: f64,
    pub faces: Vec<Face>,
    pub edges: Vec<[u32; 2]>,
    /// Of a triangle of a mesh, the sides (bits) on which the mesh goes on flat or upwards: nothing touches
    /// there.
    pub inner_sides: u8,
}

/// A face: outward normal and corners, counterclockwise from outside.
#[derive(Clone, Debug)]
pub(super) struct Face {
    pub normal: DVec3,
    pub corners: Vec<u32>,
}

impl Polytope {
    /// From corners and the corners of each face in any order.
    pub fn new(vertices: Vec<DVec3>, faces: impl Iterator<Item = (DVec3, Vec<u32>)>) -> Polytope {
        let mut edges = Vec::new();
        let mut sorted = Vec::new();
        for (outward, mut corners) in faces {
            let count = corners.len() as f64;
            let middle = corners.iter().map(|&k| vertices[k as usize]).sum::<DVec3>() / count;
            let u = outward.any_orthonormal_vector();
            let v = outward.cross(u);
            let angle = |k: u32| {
                let d = vertices[k as usize] - middle;
                v.dot(d).atan2(u.dot(d))
            };
            corners.sort_by(|&i, &j| angle(i).total_cmp(&angle(j)));
            let around = |k: usize| vertices[corners[k % corners.len()] as usize] - middle;
            let area: DVec3 = (0..corners.len()).map(|k| around(k).cross(around(k + 1))).sum();
            let normal = area.try_normalize().unwrap_or(outward);
            for k in 0..corners.len() {
                let (i, j) = (corners[k], corners[(k + 1) % corners.len()]);
                if !edges.contains(&[i.min(j), i.max(j)]) {
                    edges.push([i.min(j), i.max(j)]);
                }
            }
            sorted.push(Face { normal, corners });
        }
        let mut polytope = Polytope { faces: sorted, edges, ..Polytope::default() };
        polytope.set_corners(vertices);
        polytope
    }

    /// Takes other corners, in the memory that is there.
    pub fn set_corners(&mut self, corners: impl IntoIterator<Item = DVec3>) {
        self.vertices.clear();
        self.vertices.extend(corners);
        self.size = self.vertices.iter().map(|v| v.abs().max_element()).fold(0.0, f64::max);
    }

    /// A box.
    pub fn cuboid(half: DVec3) -> Polytope {
        let vertices = (0..8).map(|k| corner(half, k)).collect();
        let face = |k: usize| {
            let (axis, positive) = (k / 2, k.is_multiple_of(2));
            let normal = DVec3::AXES[axis] * if positive { 1.0 } else { -1.0 };
            (normal, (0..8).filter(|v| (v >> axis & 1 == 1) == positive).collect())
        };
        Polytope::new(vertices, (0..6).map(face))
    }

    /// The largest coordinate.
    pub fn size(&self) -> f64 {
        self.size
    }

    /// The face most along n among some, and the cosine.
    pub fn face_along(&self, n: DVec3, among: impl Fn(&Face) -> bool) -> (usize, f64) {
        let mut best = (0, f64::NEG_INFINITY);
        for (k, face) in self.faces.iter().enumerate().filter(|(_, face)| among(face)) {
            let cosine = face.normal.dot(n);
            if cosine > best.1 {
                best = (k, cosine);
            }
        }
        best
    }

    /// How far x is outside of the plane of a face.
    pub fn height(&self, face: usize, x: DVec3) -> f64 {
        self.faces[face].normal.dot(x - self.corner(&self.faces[face], 0))
    }

    /// A corner of a face, counted on around it.
    pub fn corner(&self, face: &Face, k: usize) -> DVec3 {
        self.vertices[face.corners[k % face.corners.len()] as usize]
    }

    /// Whether nothing touches along a side of a face.
    pub fn is_inner(&self, k: usize) -> bool {
        self.inner_sides.checked_shr(k as u32).is_some_and(|sides| sides & 1 == 1)
    }

    /// A side of a face.
    pub fn side(&self, face: &Face, k: usize) -> Side {
        let ends = [self.corner(face, k), self.corner(face, k + 1)];
        Side { ends, outward: (ends[1] - ends[0]).normalize_or_zero().cross(face.normal) }
    }

    /// How far x is inside the line through an edge of a face.
    pub fn inside(&self, face: &Face, k: usize, x: DVec3) -> f64 {
        let (v, w) = (self.corner(face, k), self.corner(face, k + 1));
        face.normal.cross(w - v).normalize_or_zero().dot(x - v)
    }

    /// The farthest corner along n.
    pub fn support(&self, n: DVec3) -> usize {
        let mut corners = self.vertices.iter().map(|v| n.dot(*v)).enumerate();
        let Some(mut best) = corners.next() else { return 0 };
        for (k, along) in corners {
            if along > best.1 {
                best = (k, along);
            }
        }
        best.0
    }

    /// The point of the surface that is nearest to x; the feature there as one of A, its number, the
    /// direction from there to x (outward where x is inside or behind a single triangle) and the signed
    /// distance.
    pub fn nearest(&self, x: DVec3) -> (DVec3, Features, u32, DVec3, f64) {
        let heights = (0..self.faces.len()).map(|k| (k, self.height(k, x)));
        let highest = heights.fold((0, f64::NEG_INFINITY), |best, at| if at.1 > best.1 { at } else { best });
        let on_face = |k: usize| {
            let (face, s) = (&self.faces[k], self.height(k, x));
            (x - face.normal * s, Features::FaceOfA(face.normal), k as u32, face.normal, s)
        };
        if self.faces.len() > 1 && highest.1 <= 0.0 {
            return on_face(highest.0);
        }
        for (k, face) in self.faces.iter().enumerate() {
            let over = (0..face.corners.len()).all(|e| self.inside(face, e, x) >= 0.0);
            if over && (self.height(k, x) > 0.0 || self.faces.len() == 1) {
                return on_face(k);
            }
        }
        let mut best = (f64::INFINITY, DVec3::ZERO, Features::Points, 0);
        for (k, &[i, j]) in self.edges.iter().enumerate() {
            let (v, w) = (self.vertices[i as usize], self.vertices[j as usize]);
            let s = (x - v).dot(w - v) / (w - v).length_squared().max(f64::MIN_POSITIVE);
            let (point, features, id) = if s <= 0.0 {
                (v, Features::Points, 1 << 16 | i)
            } else if s >= 1.0 {
                (w, Features::Points, 1 << 16 | j)
            } else {
                (v + (w - v) * s, Features::EdgeOfA((w - v).normalize()), 1 << 17 | k as u32)
            };
            let distance = (x - point).length();
            if distance < best.0 {
                best = (distance, point, features, id);
            }
        }
        let outward = self.faces.first().map_or(DVec3::Z, |face| face.normal);
        let n = (x - best.1).try_normalize().unwrap_or(outward);
        (best.1, best.2, best.3, n, best.0)
    }
}
