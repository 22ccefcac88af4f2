//! Mass, centre of mass and inertia of shapes of uniform density.
//!
//! ```text
//! V = ∫ dx ,    c = (1/V) ∫ x dx ,    J = ∫ (x − c)(x − c)ᵀ dx ∈ ℝ³ˣ³ ,    I = (tr J) E − J
//! ```
//!
//! Closed forms for the primitives; polyhedra are sums of tetrahedra with a common corner, signed by the side
//! from which their triangle is seen, so that what lies outside cancels. For the tetrahedron 0, a, b, c with
//! D = det(a, b, c): V = D/6, ∫x = D/24 (a + b + c), ∫xxᵀ = D/120 (aaᵀ + bbᵀ + ccᵀ + ssᵀ), s = a + b + c.

use std::collections::BTreeMap;
use std::f64::consts::PI;

use delassus_solve::linalg::small;
use glam::{DMat3, DQuat, DVec3};
use thiserror::Error;

use super::check::{ShapeError, check_shape};
use super::convex_hull::convex_hull;
use super::{Pose, ShapeKind};

/// Off-diagonal entries below this part of the largest moment are rounding: the axes are left as they are.
/// The moments change by no more than that.
const MAX_OFF_DIAGONAL: f64 = 1e-14;
/// A polyhedron is flat where its volume is below this part of the cube of its extent.
const MIN_RELATIVE_VOLUME: f64 = 1e-12;

/// Mass, centre of mass and inertia about it, in the axes of some frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Mass.
    pub mass: f64,
    /// Centre of mass.
    pub centre: DVec3,
    /// Inertia about the centre of mass.
    pub inertia: DMat3,
}

/// Why a shape gives no mass.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum NoVolume {
    /// A half space or a surface.
    #[error("a {kind} has no volume")]
    Unbounded {
        /// What it is.
        kind: &'static str,
    },
    /// Points or triangles that span nothing.
    #[error("the {kind} is flat")]
    Flat {
        /// What it is.
        kind: &'static str,
    },
    /// Numbers that make no sense.
    #[error("{0}")]
    Invalid(#[from] ShapeError),
    /// A mesh with a hole.
    #[error("the mesh is open: {edges} of its edges have no triangle on the other side")]
    Open {
        /// How many.
        edges: usize,
    },
    /// A mesh whose triangles face inwards.
    #[error("the mesh is inside out: its volume is {volume}")]
    InsideOut {
        /// The volume.
        volume: f64,
    },
}

impl MassProperties {
    /// Nothing.
    pub const ZERO: MassProperties = MassProperties { mass: 0.0, centre: DVec3::ZERO, inertia: DMat3::ZERO };

    fn diagonal(mass: f64, centre: DVec3, moments: DVec3) -> Self {
        MassProperties { mass, centre, inertia: DMat3::from_diagonal(moments) }
    }

    /// The same shape with another density.
    pub fn scaled(&self, factor: f64) -> Self {
        MassProperties { mass: self.mass * factor, centre: self.centre, inertia: self.inertia * factor }
    }

    /// Seen from the frame in which its own frame stands at `pose`.
    pub fn placed(&self, pose: &Pose) -> Self {
        let r = DMat3::from_quat(pose.rotation);
        MassProperties {
            mass: self.mass,
            centre: pose.point(self.centre),
            inertia: r * self.inertia * r.transpose(),
        }
    }

    /// Both together, by parallel axes.
    pub fn plus(&self, other: &Self) -> Self {
        let mass = self.mass + other.mass;
        if mass <= 0.0 {
            return MassProperties::ZERO;
        }
        let d = other.centre - self.centre;
        let reduced = self.mass * other.mass / mass;
        MassProperties {
            mass,
            centre: self.centre + d * (other.mass / mass),
            inertia: self.inertia + other.inertia + about(d) * reduced,
        }
    }
}

/// |d|² E − d dᵀ: the inertia of a unit mass at d.
fn about(d: DVec3) -> DMat3 {
    DMat3::from_diagonal(DVec3::splat(d.length_squared())) - outer(d, d)
}

/// a bᵀ.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Mass properties of a shape of density one, in its own axes.
pub fn shape_mass(kind: &ShapeKind) -> Result<MassProperties, NoVolume> {
    check_shape(kind)?;
    let centred = |mass: f64, x: f64, z: f64| {
        Ok(MassProperties::diagonal(mass, DVec3::ZERO, DVec3::new(x, x, z) * mass))
    };
    match kind {
        ShapeKind::Plane => Err(NoVolume::Unbounded { kind: "plane" }),
        ShapeKind::Heightfield { .. } => Err(NoVolume::Unbounded { kind: "heightfield" }),
        ShapeKind::Sphere { radius: r } => centred(4.0 / 3.0 * PI * r.powi(3), 0.4 * r * r, 0.4 * r * r),
        ShapeKind::Box { half_extents: h } => {
            let mass = 8.0 * h.x * h.y * h.z;
            let s = *h * *h;
            let moments = DVec3::new(s.y + s.z, s.z + s.x, s.x + s.y) * (mass / 3.0);
            Ok(MassProperties::diagonal(mass, DVec3::ZERO, moments))
        }
        ShapeKind::Cylinder { radius: r, half_height: h } => {
            centred(2.0 * PI * r * r * h, r * r / 4.0 + h * h / 3.0, r * r / 2.0)
        }
        ShapeKind::Capsule { radius: r, half_height: h } => {
            let [middle, ends] = [2.0 * PI * r * r * h, 4.0 / 3.0 * PI * r.powi(3)];
            let x = middle * (r * r / 4.0 + h * h / 3.0) + ends * (0.4 * r * r + h * h + 0.75 * h * r);
            let z = middle * r * r / 2.0 + ends * 0.4 * r * r;
            Ok(MassProperties::diagonal(middle + ends, DVec3::ZERO, DVec3::new(x, x, z)))
        }
        ShapeKind::Cone { radius: r, half_height: h } => {
            let mass = 2.0 / 3.0 * PI * r * r * h;
            let moments = DVec3::new(r * r + h * h, r * r + h * h, 2.0 * r * r) * (0.15 * mass);
            Ok(MassProperties::diagonal(mass, DVec3::new(0.0, 0.0, -h / 2.0), moments))
        }
        ShapeKind::Convex { points } => {
            let Some(triangles) = convex_hull(points) else { return Err(NoVolume::Flat { kind: "convex" }) };
            let solid = polyhedron(points, &triangles);
            if solid.mass > MIN_RELATIVE_VOLUME * extent(points).powi(3) {
                Ok(solid)
            } else {
                Err(NoVolume::Flat { kind: "convex" })
            }
        }
        ShapeKind::Mesh { vertices, triangles } => {
            let edges = open_edges(triangles);
            if edges > 0 {
                return Err(NoVolume::Open { edges });
            }
            let solid = polyhedron(vertices, triangles);
            if solid.mass.abs() <= MIN_RELATIVE_VOLUME * extent(vertices).powi(3) {
                return Err(NoVolume::Flat { kind: "mesh" });
            }
            if solid.mass < 0.0 {
                return Err(NoVolume::InsideOut { volume: solid.mass });
            }
            Ok(solid)
        }
    }
}

/// The largest extent of points along an axis.
fn extent(points: &[DVec3]) -> f64 {
    let inf = DVec3::INFINITY;
    let (low, high) = points.iter().fold((inf, -inf), |(l, h), p| (l.min(*p), h.max(*p)));
    (high - low).max_element()
}

/// How many directed edges of a mesh have no other that runs in the opposite direction.
pub(crate) fn open_edges(triangles: &[[u32; 3]]) -> usize {
    let mut balance: BTreeMap<[u32; 2], i64> = BTreeMap::new();
    for t in triangles {
        for (a, b) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
            *balance.entry([a.min(b), a.max(b)]).or_default() += if a < b { 1 } else { -1 };
        }
    }
    balance.values().map(|n| n.unsigned_abs() as usize).sum()
}

/// Signed tetrahedra, their common corner in the middle of the vertices so that little cancels.
fn polyhedron(vertices: &[DVec3], triangles: &[[u32; 3]]) -> MassProperties {
    if vertices.is_empty() {
        return MassProperties::ZERO;
    }
    let origin = vertices.iter().fold(DVec3::ZERO, |s, v| s + *v / vertices.len() as f64);
    let (mut v, mut first, mut second) = (0.0, DVec3::ZERO, DMat3::ZERO);
    for t in triangles {
        let [a, b, c] = t.map(|i| vertices[i as usize] - origin);
        let d = a.dot(b.cross(c));
        let s = a + b + c;
        v += d / 6.0;
        first += s * (d / 24.0);
        second += (outer(a, a) + outer(b, b) + outer(c, c) + outer(s, s)) * (d / 120.0);
    }
    if v == 0.0 {
        return MassProperties::ZERO;
    }
    let c = first / v;
    let j = second - outer(c, c) * v;
    let trace = j.x_axis.x + j.y_axis.y + j.z_axis.z;
    MassProperties { mass: v, centre: origin + c, inertia: DMat3::from_diagonal(DVec3::splat(trace)) - j }
}

/// Principal moments of a symmetric matrix and the rotation whose columns are the axes: I = R diag(moments)
/// Rᵀ.
///
/// Jacobi's method with the smaller of the two angles, so that axes that are principal already keep their
/// order.
pub fn principal_axes(inertia: &DMat3) -> (DVec3, DQuat) {
    let mut a = inertia.to_cols_array_2d();
    let mut r = DMat3::IDENTITY.to_cols_array_2d();
    let scale = a.iter().flatten().fold(0.0_f64, |s, x| s.max(x.abs()));
    // Convergence is quadratic; four sweeps do, and the loop ends anyway.
    for _ in 0..20 {
        let off = a[0][1].abs().max(a[0][2].abs()).max(a[1][2].abs());
        if off.is_nan() || off <= MAX_OFF_DIAGONAL * scale {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q].abs() <= MAX_OFF_DIAGONAL * scale {
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
            let c = 1.0 / t.hypot(1.0);
            let s = t * c;
            // A ← GᵀAG and R ← RG, G the rotation in the plane of p and q; r is kept by columns.
            small::rotate(&mut a, 3, [p, q], [c, s]);
            for k in 0..3 {
                let (x, y) = (r[p][k], r[q][k]);
                (r[p][k], r[q][k]) = (c * x - s * y, s * x + c * y);
            }
        }
    }
    let rotation = DQuat::from_mat3(&DMat3::from_cols_array_2d(&r)).normalize();
    (DVec3::new(a[0][0], a[1][1], a[2][2]), rotation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(a: DMat3, b: DMat3, tolerance: f64) -> bool {
        (a - b).to_cols_array().iter().all(|x| x.abs() <= tolerance)
    }

    /// The eight corners and twelve triangles of a box.
    fn box_mesh(h: DVec3) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let vertices = (0..8)
            .map(|i| {
                h * DVec3::new(
                    f64::from(i & 1) * 2.0 - 1.0,
                    f64::from(i >> 1 & 1) * 2.0 - 1.0,
                    f64::from(i >> 2) * 2.0 - 1.0,
                )
            })
            .collect();
        let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let triangles =
            quads.iter().flat_map(|q: &[u32; 4]| [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]).collect();
        (vertices, triangles)
    }

    /// A body of revolution about z with the profile r(z), as a polyhedron of n sides and n slices.
    fn revolved(profile: impl Fn(f64) -> f64, half: f64, n: u32) -> Vec<DVec3> {
        let mut points = Vec::new();
        for i in 0..=n {
            // Closer near the ends, where the profile of a ball is steep.
            let z = -half * (PI * f64::from(i) / f64::from(n)).cos();
            for k in 0..n {
                let angle = 2.0 * PI * f64::from(k) / f64::from(n);
                points.push(DVec3::new(profile(z) * angle.cos(), profile(z) * angle.sin(), z));
            }
        }
        points
    }

    #[test]
    fn a_box_is_the_same_as_box_mesh_and_hull() {
        let h = DVec3::new(0.3, 0.2, 0.7);
        let exact = shape_mass(&ShapeKind::Box { half_extents: h }).unwrap();
        assert!((exact.mass - 8.0 * 0.042).abs() < 1e-15);
        let (vertices, triangles) = box_mesh(h);
        for kind in [
            ShapeKind::Mesh { vertices: vertices.clone(), triangles },
            ShapeKind::Convex { points: vertices },
        ] {
            let got = shape_mass(&kind).unwrap();
            assert!((got.mass - exact.mass).abs() < 1e-15 && got.centre.length() < 1e-15, "{got:?}");
            assert!(close(got.inertia, exact.inertia, 1e-15), "{got:?} for {exact:?}");
        }
    }

    #[test]
    fn round_shapes_are_the_limit_of_polyhedra() {
        // A regular polygon of n sides differs from its circle by O(1/n²): 2π²/3/n² = 0.4 % of the area for n
        // = 40, twice that for moments.
        let (r, h) = (0.4, 0.6);
        let capsule = move |z: f64| (r * r - (z.abs() - h).max(0.0).powi(2)).max(0.0).sqrt();
        let cases: [(ShapeKind, Vec<DVec3>); 4] = [
            (ShapeKind::Sphere { radius: r }, revolved(|z| (r * r - z * z).max(0.0).sqrt(), r, 40)),
            (ShapeKind::Cylinder { radius: r, half_height: h }, revolved(|_| r, h, 40)),
            (ShapeKind::Cone { radius: r, half_height: h }, revolved(|z| r * (h - z) / (2.0 * h), h, 40)),
            (ShapeKind::Capsule { radius: r, half_height: h }, revolved(capsule, h + r, 40)),
        ];
        for (kind, points) in cases {
            let exact = shape_mass(&kind).unwrap();
            let near = shape_mass(&ShapeKind::Convex { points }).unwrap();
            assert!(
                near.mass < exact.mass && near.mass > 0.985 * exact.mass,
                "{kind:?}: {} {}",
                near.mass,
                exact.mass
            );
            assert!((near.centre - exact.centre).length() < 2e-3, "{kind:?}: {near:?} {exact:?}");
            let scale = exact.inertia.x_axis.x;
            assert!(close(near.inertia, exact.inertia, 0.02 * scale), "{kind:?}: {near:?} {exact:?}");
        }
    }

    #[test]
    fn two_half_boxes_are_a_box() {
        let half = shape_mass(&ShapeKind::Box { half_extents: DVec3::new(0.5, 0.2, 0.3) }).unwrap();
        let at = |x: f64| Pose { position: DVec3::new(x, 1.0, 0.0), rotation: DQuat::from_rotation_x(PI) };
        let both = half.placed(&at(-0.5)).plus(&half.placed(&at(0.5)));
        let whole = shape_mass(&ShapeKind::Box { half_extents: DVec3::new(1.0, 0.2, 0.3) }).unwrap();
        assert!((both.mass - whole.mass).abs() < 1e-15);
        assert!((both.centre - DVec3::Y).length() < 1e-15);
        assert!(close(both.inertia, whole.inertia, 1e-15));
    }

    #[test]
    fn shapes_without_volume_say_why() {
        let (vertices, mut triangles) = box_mesh(DVec3::ONE);
        triangles.pop();
        let open = ShapeKind::Mesh { vertices: vertices.clone(), triangles: triangles.clone() };
        assert_eq!(shape_mass(&open), Err(NoVolume::Open { edges: 3 }));
        let (_, triangles) = box_mesh(DVec3::ONE);
        let reversed: Vec<_> = triangles.iter().map(|t| [t[0], t[2], t[1]]).collect();
        let inside_out = ShapeKind::Mesh { vertices: vertices.clone(), triangles: reversed };
        assert!(
            matches!(shape_mass(&inside_out), Err(NoVolume::InsideOut { volume }) if (volume + 8.0).abs() < 1e-12)
        );
        let flat = ShapeKind::Convex { points: vertices[..4].to_vec() };
        assert_eq!(shape_mass(&flat), Err(NoVolume::Flat { kind: "convex" }));
        assert_eq!(shape_mass(&ShapeKind::Plane), Err(NoVolume::Unbounded { kind: "plane" }));
    }

    proptest! {
        #[test]
        fn principal_axes_give_the_matrix_back(m in prop::array::uniform3(0.1..10.0_f64), q in prop::array::uniform4(-1.0..1.0_f64)) {
            prop_assume!(DQuat::from_array(q).length() > 0.1);
            let r = DMat3::from_quat(DQuat::from_array(q).normalize());
            let a = r * DMat3::from_diagonal(DVec3::from_array(m)) * r.transpose();
            let (moments, rotation) = principal_axes(&a);
            let r = DMat3::from_quat(rotation);
            // Rounding of a few products of numbers of size ten.
            prop_assert!(close(r * DMat3::from_diagonal(moments) * r.transpose(), a, 1e-12));
            let (mut found, mut expected) = (moments.to_array(), m);
            found.sort_by(f64::total_cmp);
            expected.sort_by(f64::total_cmp);
            prop_assert!(found.iter().zip(expected).all(|(g, w)| (g - w).abs() < 1e-12));
        }

        #[test]
        fn a_diagonal_matrix_keeps_its_axes(m in prop::array::uniform3(0.1..10.0_f64)) {
            let a = DMat3::from_diagonal(DVec3::from_array(m));
            prop_assert_eq!(principal_axes(&a), (DVec3::from_array(m), DQuat::IDENTITY));
        }
    }
}
