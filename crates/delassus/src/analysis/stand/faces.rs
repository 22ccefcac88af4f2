//! Bodies that stand on each other's plane faces, held by friction: when rest is the only motion.
//!
//! ```text
//! (S a)ᵀJᵀf ≤ 0 for every law-abiding (f, u = J a) ,   (S a)ᵀF ≥ 0 ,   SᵀM + MS > 0
//! ⇒   aᵀSᵀM a = (S a)ᵀ(Jᵀf − F) ≤ 0 for every solution of M a + F = Jᵀf   ⇒   a = 0
//! ```
//!
//! S = 1 is the proof for rest without friction. Here each body p stands with one plane face, of normal n and
//! with any contacts in that plane, on the ground or on one other body, so that all of them form trees, and
//! weight g is the only load. (V, Ω) is the acceleration of p relative to what it stands on, at a point o of
//! the face. S is given by what it does to these:
//!
//! ```text
//! V' = V − n (g·V)/(g·n) + d n (n·V) ,      Ω' = g (n·Ω)/(g·n) + d (Ω − n (n·Ω)) ,      d > 0
//! ```
//!
//! Sliding along the face becomes a horizontal motion, spinning about n one about the vertical, and tilting
//! and lifting are multiplied by d. Let e = g/(g·n) − n, a vector in the face, and r a point of it.
//!
//! - *Contacts.* The relative acceleration u = V + Ω × (r − o) becomes u'_t = u_t and u'_n = d u_n − e·u_t. A
//!   contact with f_n > 0 has u_n = 0 and f_t·u_t = −μ f_n |u_t|, so that f·u' = −f_n (e·u_t + μ |u_t|) ≤ 0
//!   where |e| ≤ μ.
//! - *Weight.* Sliding and spinning move nothing up or down. The weight m g of all that stands on the face
//!   acts in the point r of the face below its centre, along g; tilting and lifting cost m |g·n| d u_n(r),
//!   which is not negative as long as no contact closes if r is in the convex hull of the contacts.
//! - *SᵀM* is checked to be positive definite.
//!
//! The first two are what equilibrium needs: it exists with forces along g. The proof holds for all data
//! within their bounds whose faces are plane. It is checked in interval arithmetic.

use delassus_solve::analysis::equilibrium::{GramFactor, definite_factor};
use delassus_solve::linalg::{Interval, Matrix};
use delassus_solve::problem::Law;
use glam::{DMat3, DVec3};

use super::super::WORLD_ROUNDING;
use super::super::interval_matrix::IntervalMatrix;
use super::assembly::AtRest;

/// Bodies up to which the proof is tried.
const MAX_BODIES: usize = 24;
/// Values of d that are tried.
const LIFTS: [f64; 10] = [1.0, 1.125, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 6.0];

/// A vector within bounds.
pub type Bounds = [Interval; 3];

/// Bodies that stand on plane faces, the lower ones first.
#[derive(Clone, Debug, PartialEq)]
pub struct FaceTree {
    /// g, m/s².
    pub gravity: Bounds,
    /// The bodies.
    pub bodies: Vec<FaceBody>,
}

/// A body that stands with one plane face.
#[derive(Clone, Debug, PartialEq)]
pub struct FaceBody {
    /// Its place among the bodies of the world.
    pub index: usize,
    /// The body on which it stands, by its place in the tree; `None` for the ground.
    pub on: Option<usize>,
    /// Mass, kg.
    pub mass: Interval,
    /// Moments of inertia about the centre of mass, world axes: xx, xy, xz, yy, yz, zz.
    pub inertia: [Interval; 6],
    /// The centre of mass.
    pub centre: Bounds,
    /// A normal of the face, towards this body.
    pub normal: Bounds,
    /// The contacts: points of the face and their friction.
    pub contacts: Vec<(Bounds, Interval)>,
}

/// What proves that rest is the only motion.
#[derive(Clone, Debug, PartialEq)]
pub struct FaceProof {
    /// The bodies.
    pub tree: FaceTree,
    /// For each body some of its contacts, counterclockwise seen against the normal, around its weight.
    pub around: Vec<Vec<usize>>,
    /// d.
    pub lift: f64,
    /// What rows and columns of SᵀM are multiplied by: six numbers a body.
    pub scales: Vec<f64>,
    /// What shows that the symmetric part of SᵀM, so scaled, is positive definite.
    pub bound: GramFactor,
}

/// The proof that rest is the only motion of a world; `None` where it is none of bodies on faces, or not
/// proved.
pub(super) fn face_proof(at: &AtRest) -> Option<FaceProof> {
    let tree = face_tree(at)?;
    let around: Option<Vec<Vec<usize>>> = (0..tree.bodies.len()).map(|p| tree.around(p)).collect();
    let around = around?;
    if !(0..tree.bodies.len()).all(|p| tree.sticks(p) && tree.is_inside(p, &around[p])) {
        return None;
    }
    let scaled = |lift: f64| {
        let form = tree.form(lift);
        let scales: Vec<f64> =
            (0..form.rows()).map(|i| (-0.5 * form[(i, i)].middle().log2()).round().exp2()).collect();
        let n = form.rows();
        let scaled = |i: usize, j: usize| form[(i, j)] * Interval::point(scales[i] * scales[j]);
        (IntervalMatrix::from_fn(n, n, scaled), scales)
    };
    let candidates = LIFTS.into_iter().filter_map(|lift| {
        let (form, scales) = scaled(lift);
        if !scales.iter().all(|s| s.is_normal()) {
            return None;
        }
        let middle = Matrix::from_fn(form.rows(), form.rows(), |i, j| form[(i, j)].middle());
        Some((definite_factor(&middle)?, lift, scales, form))
    });
    let (bound, lift, scales, form) = candidates.max_by(|a, b| a.0.shift.total_cmp(&b.0.shift))?;
    form.is_positive_definite().then_some(FaceProof { tree, around, lift, scales, bound })
}

/// The tree of a world; `None` where it is none.
fn face_tree(at: &AtRest) -> Option<FaceTree> {
    let (world, state) = (&at.world, &at.state);
    let moving: Vec<usize> = (0..world.bodies.len()).filter(|&b| !world.bodies[b].fixed).collect();
    let loaded = |&b: &usize| world.bodies[b].force != [DVec3::ZERO; 2];
    if at.names.len() != at.contacts.len()
        || !at.left_out.is_empty()
        || moving.len() > MAX_BODIES
        || moving.iter().any(loaded)
        || !world.joints.is_empty()
    {
        return None;
    }
    let faces = faces(at)?;
    // From the ground up: each body by the one face that leads to it.
    let mut place: Vec<Option<usize>> = vec![None; world.bodies.len()];
    let mut found: Vec<FaceBody> = Vec::new();
    let size = size(at);
    let mut left: Vec<&Face> = faces.iter().collect();
    while !left.is_empty() {
        let known = |b: Option<usize>| b.is_none_or(|b| place[b].is_some());
        let next = left.iter().position(|face| known(face.bodies[0]) || known(face.bodies[1]))?;
        let face = left.swap_remove(next);
        let below = usize::from(!known(face.bodies[0]));
        let (own, on) = (face.bodies[1 - below], face.bodies[below]);
        // Between two that are known there is a loop.
        let own = own.filter(|&b| place[b].is_none())?;
        place[own] = Some(found.len());
        let sign = if below == 0 { 1.0 } else { -1.0 };
        found.push(body_of(at, own, on.and_then(|b| place[b]), sign, face, size));
    }
    (found.len() == moving.len() && !found.is_empty())
        .then(|| FaceTree { gravity: around(world.gravity, max_abs(world.gravity)), bodies: found })
        .filter(|_| state.bodies.iter().all(|b| b.pose.position.is_finite()))
}

/// The contacts of two bodies, in one plane.
struct Face {
    /// The bodies, `None` for all that are fixed.
    bodies: [Option<usize>; 2],
    /// From the first to the second.
    normal: DVec3,
    /// Points and friction.
    contacts: Vec<(DVec3, f64)>,
}

/// The faces; `None` where contacts of two bodies do not lie in one plane, or resist rolling.
fn faces(at: &AtRest) -> Option<Vec<Face>> {
    let mut faces: Vec<Face> = Vec::new();
    for (contact, rows) in &at.contacts {
        let mu = match rows.law {
            Law::Coulomb { mu } => mu,
            Law::Unilateral => 0.0,
            _ => return None,
        };
        // What begins to slide has the smaller friction.
        let [a, b] = contact.bodies.map(|b| b as usize);
        let mu = mu.min(at.world.surface(a, b).mu);
        let mut bodies = [a, b].map(|b| Some(b).filter(|&b| !at.world.bodies[b].fixed));
        let mut normal = contact.normal;
        if bodies[0] > bodies[1] {
            bodies.swap(0, 1);
            normal = -normal;
        }
        match faces.iter_mut().find(|face| face.bodies == bodies) {
            Some(face) => {
                let first = face.contacts[0].0;
                let reach = face.contacts.iter().fold(0.0_f64, |top, (r, _)| top.max(r.distance(first)));
                let off = contact.point - first;
                let flat = face.normal.dot(off).abs() <= WORLD_ROUNDING * reach.max(off.length());
                if !flat || face.normal.distance(normal) > WORLD_ROUNDING {
                    return None;
                }
                face.contacts.push((contact.point, mu));
            }
            None => faces.push(Face { bodies, normal, contacts: vec![(contact.point, mu)] }),
        }
    }
    Some(faces)
}

/// The largest coordinate of what takes part.
fn size(at: &AtRest) -> f64 {
    let points = at.contacts.iter().map(|(contact, _)| max_abs(contact.point));
    let moving = at.world.bodies.iter().zip(&at.state.bodies).filter(|(body, _)| !body.fixed);
    points.chain(moving.map(|(_, state)| max_abs(state.pose.position))).fold(0.0, f64::max)
}

fn max_abs(x: DVec3) -> f64 {
    x.abs().max_element()
}

/// A number that is known to this part of a size.
fn near(x: f64, size: f64) -> Interval {
    let radius = WORLD_ROUNDING * size.max(x.abs());
    Interval::new((x - radius).next_down(), (x + radius).next_up())
}

fn around(x: DVec3, size: f64) -> Bounds {
    x.to_array().map(|x| near(x, size))
}

fn body_of(at: &AtRest, own: usize, on: Option<usize>, sign: f64, face: &Face, size: f64) -> FaceBody {
    let (body, pose) = (&at.world.bodies[own], &at.state.bodies[own].pose);
    let axes = DMat3::from_quat(pose.rotation);
    let inertia = (axes * DMat3::from_diagonal(body.inertia) * axes.transpose()).to_cols_array_2d();
    let largest = body.inertia.max_element();
    let inertia = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)].map(|(i, j)| near(inertia[i][j], largest));
    FaceBody {
        index: own,
        on,
        mass: near(body.mass, 0.0),
        inertia,
        centre: around(pose.position, size),
        normal: around(sign * face.normal, 1.0),
        contacts: face.contacts.iter().map(|(r, mu)| (around(*r, size), near(*mu, 0.0))).collect(),
    }
}

fn minus(a: &Bounds, b: &Bounds) -> Bounds {
    std::array::from_fn(|i| a[i] - b[i])
}

fn dot(a: &Bounds, b: &Bounds) -> Interval {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn cross(a: &Bounds, b: &Bounds) -> Bounds {
    std::array::from_fn(|i| {
        let (j, k) = ((i + 1) % 3, (i + 2) % 3);
        a[j] * b[k] - a[k] * b[j]
    })
}

/// A 6 × 6 matrix.
type Block = [[Interval; 6]; 6];

/// A B, or Aᵀ B.
fn product(a: &Block, transposed: bool, b: &Block) -> Block {
    let of = |i: usize, k: usize| if transposed { a[k][i] } else { a[i][k] };
    std::array::from_fn(|i| {
        std::array::from_fn(|j| (0..6).fold(Interval::ZERO, |sum, k| sum + of(i, k) * b[k][j]))
    })
}

/// r × as a matrix.
fn skew(r: &Bounds) -> [[Interval; 3]; 3] {
    let zero = Interval::ZERO;
    [[zero, -r[2], r[1]], [r[2], zero, -r[0]], [-r[1], r[0], zero]]
}

impl FaceTree {
    /// Whether body q is p or stands on it, however high.
    fn stands_on(&self, q: usize, p: usize) -> bool {
        let mut at = Some(q);
        while let Some(k) = at {
            if k == p {
                return true;
            }
            at = self.bodies[k].on;
        }
        false
    }

    /// All that stands on the face of p, p first.
    fn above(&self, p: usize) -> impl Iterator<Item = &FaceBody> {
        (p..self.bodies.len()).filter(move |&q| self.stands_on(q, p)).map(|q| &self.bodies[q])
    }

    /// Whether the slope of a face is less than the friction of each of its contacts: |e| ≤ μ.
    fn sticks(&self, p: usize) -> bool {
        let (g, n) = (&self.gravity, &self.bodies[p].normal);
        let down = dot(g, n);
        let slope = dot(g, g) * dot(n, n);
        let within = |mu: &Interval| {
            let room = (Interval::ONE + mu.power(2)) * down.power(2) - slope;
            room.lo >= 0.0
        };
        down.hi < 0.0 && self.bodies[p].contacts.iter().all(|(_, mu)| within(mu))
    }

    /// The point of the face of p through which its weight and that of all above acts.
    fn weight_point(&self, p: usize) -> Bounds {
        let body = &self.bodies[p];
        let zero = [Interval::ZERO; 3];
        let (mass, moment) = self.above(p).fold((Interval::ZERO, zero), |(mass, moment), b| {
            (mass + b.mass, std::array::from_fn(|i| moment[i] + b.mass * b.centre[i]))
        });
        let centre: Bounds = std::array::from_fn(|i| moment[i] / mass);
        let height = dot(&minus(&centre, &body.contacts[0].0), &body.normal);
        let along = height / dot(&self.gravity, &body.normal);
        std::array::from_fn(|i| centre[i] - along * self.gravity[i])
    }

    /// The contacts of p that are corners of their convex hull, counterclockwise seen against the normal.
    fn around(&self, p: usize) -> Option<Vec<usize>> {
        let body = &self.bodies[p];
        let vector = |x: &Bounds| DVec3::from_array(x.map(|x| x.middle()));
        let n = vector(&body.normal);
        let [e, h] = [n.any_orthonormal_vector(), n.cross(n.any_orthonormal_vector())];
        let points: Vec<[f64; 2]> =
            body.contacts.iter().map(|(r, _)| [vector(r).dot(e), vector(r).dot(h)]).collect();
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by(|&i, &j| points[i].partial_cmp(&points[j]).unwrap_or(std::cmp::Ordering::Equal));
        let turns = |i: usize, j: usize, k: usize| {
            let side = |a: usize, b: usize| [points[b][0] - points[a][0], points[b][1] - points[a][1]];
            let ([ax, ay], [bx, by]) = (side(i, j), side(j, k));
            ax * by - ay * bx > 0.0
        };
        let half = |order: &mut dyn Iterator<Item = usize>| {
            let mut chain: Vec<usize> = Vec::new();
            for k in order {
                while let [.., i, j] = chain[..] {
                    if turns(i, j, k) {
                        break;
                    }
                    chain.pop();
                }
                chain.push(k);
            }
            chain.pop();
            chain
        };
        let mut all = half(&mut order.iter().copied());
        all.extend(half(&mut order.iter().rev().copied()));
        (all.len() >= 3).then_some(all)
    }

    /// Whether the weight on the face of p acts inside of the polygon of these contacts.
    fn is_inside(&self, p: usize, polygon: &[usize]) -> bool {
        let (body, weight) = (&self.bodies[p], self.weight_point(p));
        (0..polygon.len()).all(|k| {
            let [a, b] = [k, (k + 1) % polygon.len()].map(|k| &body.contacts[polygon[k]].0);
            dot(&body.normal, &cross(&minus(b, a), &minus(&weight, a))).lo > 0.0
        })
    }

    /// The inertia of all that stands on the face of p, at its first contact.
    fn inertia(&self, p: usize) -> Block {
        let origin = &self.bodies[p].contacts[0].0;
        let mut out = [[Interval::ZERO; 6]; 6];
        for b in self.above(p) {
            let r = skew(&minus(&b.centre, origin));
            let [xx, xy, xz, yy, yz, zz] = b.inertia;
            let own = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
            for i in 0..3 {
                out[i][i] = out[i][i] + b.mass;
                for j in 0..3 {
                    out[i][3 + j] = out[i][3 + j] - b.mass * r[i][j];
                    out[3 + i][j] = out[3 + i][j] + b.mass * r[i][j];
                    let square = (0..3).fold(Interval::ZERO, |sum, k| sum + r[i][k] * r[k][j]);
                    out[3 + i][3 + j] = out[3 + i][3 + j] + own[i][j] - b.mass * square;
                }
            }
        }
        out
    }

    /// What S does to the relative acceleration (V, Ω) at the face of p.
    fn image(&self, p: usize, lift: f64) -> Block {
        let (g, n) = (&self.gravity, &self.bodies[p].normal);
        let (down, square, d) = (dot(g, n), dot(n, n), Interval::point(lift));
        let mut out = [[Interval::ZERO; 6]; 6];
        for i in 0..3 {
            for j in 0..3 {
                let one = if i == j { Interval::ONE } else { Interval::ZERO };
                let along = d * n[i] * n[j] / square;
                out[i][j] = one - n[i] * g[j] / down + along;
                out[3 + i][3 + j] = g[i] * n[j] / down + d * one - along;
            }
        }
        out
    }

    /// The symmetric part of SᵀM, by the relative accelerations of all faces.
    fn form(&self, lift: f64) -> IntervalMatrix {
        let count = self.bodies.len();
        let images: Vec<Block> = (0..count).map(|p| self.image(p, lift)).collect();
        let mut out = IntervalMatrix::from_fn(6 * count, 6 * count, |_, _| Interval::ZERO);
        for q in 0..count {
            let inertia = self.inertia(q);
            for p in (0..=q).filter(|&p| self.stands_on(q, p)) {
                // V at the face of q is V + Ω × r of p.
                let r = skew(&minus(&self.bodies[q].contacts[0].0, &self.bodies[p].contacts[0].0));
                let moved: Block = std::array::from_fn(|i| {
                    std::array::from_fn(|j| match (i < 3, j < 3) {
                        (true, false) if p != q => -r[i][j - 3],
                        _ if i == j => Interval::ONE,
                        _ => Interval::ZERO,
                    })
                });
                let both = product(&moved, true, &inertia);
                let (first, second) = (product(&images[p], true, &both), product(&both, false, &images[q]));
                for (i, j) in (0..36).map(|k| (k / 6, k % 6)) {
                    let mean = (first[i][j] + second[i][j]) * Interval::point(0.5);
                    let known = out[(6 * q + j, 6 * p + i)];
                    let mean = if p == q && j < i { known } else { mean };
                    out[(6 * p + i, 6 * q + j)] = mean;
                    out[(6 * q + j, 6 * p + i)] = mean;
                }
            }
        }
        out
    }
}
