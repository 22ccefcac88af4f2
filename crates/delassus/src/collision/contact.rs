//! One contact point between two bodies: its gap as a function of their poses.
//!
//! ```text
//! gap(q) = n(q)·(c_b(q) − c_a(q)) − r_a − r_b ,   n from A to B
//! ```
//!
//! c_a and c_b are core points fixed to the bodies (a corner, the centre of a ball, a point of an edge), r_a
//! and r_b the radii of what surrounds them. Where n comes from depends on the features that touch. A rim is
//! a circle instead of a ball around its core point: the point of the circle nearest to the other body takes
//! its place. The function is exact as long as the same features touch, so that a step can end with the gap
//! itself closed, not its linearization. An edge or a corner that knows the faces beside it stays exact where
//! the other body has passed it: gap = max n·(c_b − c_a) over the directions n between the normals of these
//! faces.

use std::collections::BTreeMap;

use glam::{DQuat, DVec3};

use super::ShapePair;
use crate::world::{BodyState, Pose, World};

/// Where the normal comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Features {
    /// A face of A, whose outward normal in the axes of A this is, and a point of B.
    FaceOfA(DVec3),
    /// A face of B, whose outward normal in the axes of B this is, and a point of A.
    FaceOfB(DVec3),
    /// An edge of A with this unit direction in the axes of A, and a point of B.
    EdgeOfA(DVec3),
    /// An edge of B with this unit direction in the axes of B, and a point of A.
    EdgeOfB(DVec3),
    /// The edge of A between two faces with these outward normals in the axes of A, and a point of B.
    WedgeOfA(DVec3, DVec3),
    /// The edge of B between two faces with these outward normals in the axes of B, and a point of A.
    WedgeOfB(DVec3, DVec3),
    /// The corner of A between three faces with these outward normals, perpendicular to each other, and a
    /// point of B.
    CornerOfA([DVec3; 3]),
    /// The corner of B between three faces with these outward normals, perpendicular to each other, and a
    /// point of A.
    CornerOfB([DVec3; 3]),
    /// An edge of A and an edge of B with these unit directions, each in the axes of its body.
    Edges(DVec3, DVec3),
    /// Two points.
    Points,
    /// A face of A with this outward normal, and the rim of a disc of B about this unit axis, each in the
    /// axes of its body; the core point of B is the centre of the disc, its radius that of the rim.
    FaceOfARimOfB(DVec3, DVec3),
    /// The rim of a disc of A about this unit axis, and a face of B with this outward normal.
    RimOfAFaceOfB(DVec3, DVec3),
    /// The rim of a disc of A about this unit axis, and a point of B.
    RimOfA(DVec3),
    /// The rim of a disc of B about this unit axis, and a point of A.
    RimOfB(DVec3),
}

impl Features {
    /// The same features with A and B exchanged.
    pub fn flipped(self) -> Features {
        match self {
            Features::FaceOfA(n) => Features::FaceOfB(n),
            Features::FaceOfB(n) => Features::FaceOfA(n),
            Features::EdgeOfA(e) => Features::EdgeOfB(e),
            Features::EdgeOfB(e) => Features::EdgeOfA(e),
            Features::WedgeOfA(m, n) => Features::WedgeOfB(m, n),
            Features::WedgeOfB(m, n) => Features::WedgeOfA(m, n),
            Features::CornerOfA(n) => Features::CornerOfB(n),
            Features::CornerOfB(n) => Features::CornerOfA(n),
            Features::Edges(e, f) => Features::Edges(f, e),
            Features::Points => Features::Points,
            Features::FaceOfARimOfB(n, u) => Features::RimOfAFaceOfB(u, n),
            Features::RimOfAFaceOfB(u, n) => Features::FaceOfARimOfB(n, u),
            Features::RimOfA(u) => Features::RimOfB(u),
            Features::RimOfB(u) => Features::RimOfA(u),
        }
    }

    /// The same features with the directions of each body rotated.
    pub fn rotated(self, a: DQuat, b: DQuat) -> Features {
        match self {
            Features::FaceOfA(n) => Features::FaceOfA(a * n),
            Features::FaceOfB(n) => Features::FaceOfB(b * n),
            Features::EdgeOfA(e) => Features::EdgeOfA(a * e),
            Features::EdgeOfB(e) => Features::EdgeOfB(b * e),
            Features::WedgeOfA(m, n) => Features::WedgeOfA(a * m, a * n),
            Features::WedgeOfB(m, n) => Features::WedgeOfB(b * m, b * n),
            Features::CornerOfA(n) => Features::CornerOfA(n.map(|n| a * n)),
            Features::CornerOfB(n) => Features::CornerOfB(n.map(|n| b * n)),
            Features::Edges(e, f) => Features::Edges(a * e, b * f),
            Features::Points => Features::Points,
            Features::FaceOfARimOfB(n, u) => Features::FaceOfARimOfB(a * n, b * u),
            Features::RimOfAFaceOfB(u, n) => Features::RimOfAFaceOfB(a * u, b * n),
            Features::RimOfA(u) => Features::RimOfA(a * u),
            Features::RimOfB(u) => Features::RimOfB(b * u),
        }
    }
}

/// A contact point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Bodies A and B.
    pub bodies: [u32; 2],
    /// Which shape of each body.
    pub shapes: [u32; 2],
    /// Which of the points between the two shapes: the same number from step to step while the same features
    /// touch.
    pub feature: u32,
    /// Core points, each in the axes of its body.
    pub core: [DVec3; 2],
    /// Radii around the core points.
    pub radius: [f64; 2],
    /// Where the normal comes from.
    pub features: Features,
    /// Distance where collision found the contact, negative where the bodies overlap.
    pub gap: f64,
    /// Unit normal from A to B there, world axes.
    pub normal: DVec3,
    /// The middle between the two surfaces there, world axes.
    pub point: DVec3,
}

impl Contact {
    /// The two shapes that touch.
    pub(crate) fn pair(&self) -> ShapePair {
        ShapePair { bodies: self.bodies, shapes: self.shapes }
    }

    /// Velocity of B against A at the point.
    pub(crate) fn relative_velocity(&self, bodies: &[BodyState]) -> DVec3 {
        let [a, b] = self.bodies.map(|b| {
            let s = &bodies[b as usize];
            s.velocity + s.world_angular_velocity().cross(self.point - s.pose.position)
        });
        b - a
    }

    /// Gap and normal at other poses of the two bodies.
    pub fn gap_at(&self, a: &Pose, b: &Pose) -> (f64, DVec3) {
        let (gap, normal, _) = self.gap_and_point_at(a, b);
        (gap, normal)
    }

    /// Gap, normal and the middle between the two surfaces at other poses of the two bodies.
    pub fn gap_and_point_at(&self, a: &Pose, b: &Pose) -> (f64, DVec3, DVec3) {
        let cores = Cores::new(self, a, b);
        let d = cores.d;
        match self.features {
            Features::FaceOfA(n) => cores.point_of_b(a.rotation * n),
            Features::FaceOfB(n) => cores.point_of_a(-(b.rotation * n)),
            Features::EdgeOfA(e) => cores.point_of_b(cores.towards(across(a.rotation * e, d))),
            Features::EdgeOfB(e) => cores.point_of_a(cores.towards(across(b.rotation * e, d))),
            Features::WedgeOfA(m, n) => {
                cores.point_of_b(out_of_wedge([a.rotation * m, a.rotation * n], d).unwrap_or(self.normal))
            }
            Features::WedgeOfB(m, n) => {
                let n = out_of_wedge([b.rotation * m, b.rotation * n], -d).map_or(self.normal, |n| -n);
                cores.point_of_a(n)
            }
            Features::CornerOfA(faces) => {
                cores.point_of_b(out_of_corner(faces.map(|n| a.rotation * n), d).unwrap_or(self.normal))
            }
            Features::CornerOfB(faces) => {
                let n = out_of_corner(faces.map(|n| b.rotation * n), -d).map_or(self.normal, |n| -n);
                cores.point_of_a(n)
            }
            Features::Points => cores.point_of_a(cores.towards(d)),
            Features::Edges(e, f) => {
                let (e, f) = (a.rotation * e, b.rotation * f);
                let (along_a, _) = nearest_on_lines(e, f, d);
                let (gap, n, point) = cores.point_of_a(cores.towards(e.cross(f)));
                (gap, n, point + e * along_a)
            }
            Features::FaceOfARimOfB(n, u) => cores.rim_of_b_on_face(a.rotation * n, b.rotation * u),
            Features::RimOfAFaceOfB(u, n) => cores.rim_of_a_on_face(-(b.rotation * n), a.rotation * u),
            Features::RimOfA(u) => {
                let rim = nearest_on_rim(a.rotation * u, self.radius[0], d);
                let n = cores.towards(d - rim);
                cores.middle_from_b(n, n.dot(d - rim) - self.radius[1])
            }
            Features::RimOfB(u) => {
                let rim = nearest_on_rim(b.rotation * u, self.radius[1], -d);
                let n = cores.towards(d + rim);
                cores.middle_from_a(n, n.dot(d + rim) - self.radius[0])
            }
        }
    }
}

/// The core points of a contact in world axes; each result is (gap, n, middle between the surfaces).
struct Cores {
    a: DVec3,
    b: DVec3,
    /// c_b − c_a.
    d: DVec3,
    radius: [f64; 2],
    /// The normal where collision found the contact.
    normal: DVec3,
}

impl Cores {
    fn new(contact: &Contact, a: &Pose, b: &Pose) -> Self {
        let (a, b) = (a.point(contact.core[0]), b.point(contact.core[1]));
        Cores { a, b, d: b - a, radius: contact.radius, normal: contact.normal }
    }

    /// n·d − r_a − r_b.
    fn gap(&self, n: DVec3) -> f64 {
        n.dot(self.d) - self.radius[0] - self.radius[1]
    }

    /// The direction of x, from A to B. Where two features touch without radii, their distance gives no
    /// direction: the last normal stays.
    fn towards(&self, x: DVec3) -> DVec3 {
        let length = x.length();
        if length > MIN_LENGTH * (1.0 + self.radius[0] + self.radius[1]) {
            x * (x.dot(self.normal).signum() / length)
        } else {
            self.normal
        }
    }

    fn middle_from_a(&self, n: DVec3, gap: f64) -> (f64, DVec3, DVec3) {
        (gap, n, self.a + n * (self.radius[0] + 0.5 * gap))
    }

    fn middle_from_b(&self, n: DVec3, gap: f64) -> (f64, DVec3, DVec3) {
        (gap, n, self.b - n * (self.radius[1] + 0.5 * gap))
    }

    /// A point of A along n.
    fn point_of_a(&self, n: DVec3) -> (f64, DVec3, DVec3) {
        self.middle_from_a(n, self.gap(n))
    }

    /// A point of B along n.
    fn point_of_b(&self, n: DVec3) -> (f64, DVec3, DVec3) {
        self.middle_from_b(n, self.gap(n))
    }

    /// The rim of a disc of A about u, over a face of B towards which n points.
    fn rim_of_a_on_face(&self, n: DVec3, u: DVec3) -> (f64, DVec3, DVec3) {
        let (radius, outward) = (self.radius[0], across(u, n));
        let gap = self.gap(n) + radius - radius * outward.length();
        let rim = self.a + outward.normalize_or_zero() * radius;
        (gap, n, rim + n * (0.5 * gap))
    }

    /// The rim of a disc of B about u, over a face of A with outward normal n.
    fn rim_of_b_on_face(&self, n: DVec3, u: DVec3) -> (f64, DVec3, DVec3) {
        let (radius, outward) = (self.radius[1], across(u, n));
        let gap = self.gap(n) + radius - radius * outward.length();
        let rim = self.b - outward.normalize_or_zero() * radius;
        (gap, n, rim - n * (0.5 * gap))
    }
}

/// Lengths below this give no direction, m; relative to 1 m and the radii where there are any.
const MIN_LENGTH: f64 = 1e-9;

/// The direction in which the point x leaves the wedge below two faces with these normals, through whose edge
/// the origin goes: away from the edge where that is nearest, otherwise out of the face that is nearest.
/// `None` on the edge itself.
fn out_of_wedge([m, n]: [DVec3; 2], x: DVec3) -> Option<DVec3> {
    let edge = m.cross(n).normalize_or_zero();
    let x = x - edge * x.dot(edge);
    if x.length() <= MIN_LENGTH {
        return None;
    }
    let beyond = m.cross(x).dot(edge) >= 0.0 && x.cross(n).dot(edge) >= 0.0;
    Some(if beyond {
        x.normalize()
    } else if m.dot(x) >= n.dot(x) {
        m
    } else {
        n
    })
}

/// The same for the corner below three faces that are perpendicular to each other.
fn out_of_corner(faces: [DVec3; 3], x: DVec3) -> Option<DVec3> {
    if x.length() <= MIN_LENGTH {
        return None;
    }
    // Only the faces below the point count; inside, the nearest one.
    let outside = faces.iter().map(|n| *n * n.dot(x).max(0.0)).sum::<DVec3>();
    let nearest = faces.into_iter().max_by(|m, n| m.dot(x).total_cmp(&n.dot(x)));
    outside.try_normalize().or(nearest)
}

/// How far along two lines with unit directions e and f their nearest points lie; d leads from the origin of
/// the first to that of the second. Parallel lines: at the origin of the second.
pub(super) fn nearest_on_lines(e: DVec3, f: DVec3, d: DVec3) -> (f64, f64) {
    let cosine = e.dot(f);
    let sine_squared = e.cross(f).length_squared();
    if sine_squared < 1e-20 {
        return (d.dot(e), 0.0);
    }
    let s = (d.dot(e) - cosine * d.dot(f)) / sine_squared;
    (s, cosine * s - d.dot(f))
}

/// The component of x perpendicular to the unit direction u.
fn across(u: DVec3, x: DVec3) -> DVec3 {
    x - u * x.dot(u)
}

/// The point of a circle about the origin with axis u that is nearest to x.
fn nearest_on_rim(u: DVec3, radius: f64, x: DVec3) -> DVec3 {
    across(u, x).try_normalize().unwrap_or_else(|| u.any_orthonormal_vector()) * radius
}

/// The name of a pair of bodies that touch.
pub fn pair_name(world: &World, pair: [u32; 2]) -> String {
    let [a, b] = pair.map(|b| world.bodies[b as usize].name.as_str());
    format!("{a}|{b}")
}

/// The name of a contact among those that stand in a list with it: its bodies, and a number where they touch
/// at several points.
pub fn contact_name(world: &World, contacts: &[Contact], index: usize) -> String {
    let pair = contacts[index].bodies;
    let of_pair = |list: &[Contact]| list.iter().filter(|c| c.bodies == pair).count();
    let name = pair_name(world, pair);
    if of_pair(contacts) > 1 { format!("{name}#{}", of_pair(&contacts[..=index])) } else { name }
}

/// The names of all contacts of a list, as [`contact_name`] gives them, in linear time.
pub fn contact_names(world: &World, contacts: &[Contact]) -> Vec<String> {
    // Per pair of bodies, how many points there are and how many have been named.
    let mut points: BTreeMap<[u32; 2], [usize; 2]> = BTreeMap::new();
    for contact in contacts {
        points.entry(contact.bodies).or_default()[0] += 1;
    }
    let name = |contact: &Contact| {
        let [all, named] = points.entry(contact.bodies).or_default();
        *named += 1;
        let name = pair_name(world, contact.bodies);
        if *all > 1 { format!("{name}#{named}") } else { name }
    };
    contacts.iter().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::Body;

    fn contact(core: [DVec3; 2], radius: [f64; 2], features: Features, normal: DVec3) -> Contact {
        let (bodies, shapes, feature) = ([0, 1], [0, 0], 0);
        Contact { bodies, shapes, feature, core, radius, features, gap: 0.0, normal, point: DVec3::ZERO }
    }

    #[test]
    fn contacts_of_a_pair_are_numbered_where_there_are_several() {
        let body = |name: &str| Body {
            name: name.into(),
            fixed: false,
            mass: 1.0,
            inertia: DVec3::ONE,
            shapes: vec![],
            frame: Pose::IDENTITY,
            force: [DVec3::ZERO; 2],
            carried: DVec3::ZERO,
        };
        let world = World {
            name: String::new(),
            gravity: DVec3::ZERO,
            bodies: ["a", "b", "c"].map(body).into(),
            joints: vec![],
            surfaces: vec![],
            no_contact: vec![],
            plane: None,
            sensors: vec![],
            medium: None,
        };
        let c = contact([DVec3::ZERO; 2], [0.0; 2], Features::Points, DVec3::X);
        let list = [c, Contact { bodies: [0, 2], ..c }, Contact { feature: 1, ..c }];
        let names = [0, 1, 2].map(|i| contact_name(&world, &list, i));
        assert_eq!(names, ["a|b#1", "a|c", "a|b#2"]);
        assert_eq!(contact_names(&world, &list), names);
    }

    #[test]
    fn the_gap_of_two_balls_is_the_distance_less_the_radii() {
        let c = contact([DVec3::ZERO, DVec3::ZERO], [0.1, 0.2], Features::Points, DVec3::X);
        let b = Pose { position: DVec3::new(3.0, 4.0, 0.0), rotation: DQuat::IDENTITY };
        let (gap, n) = c.gap_at(&Pose::IDENTITY, &b);
        assert!((gap - 4.7).abs() < 1e-14 && (n - DVec3::new(0.6, 0.8, 0.0)).length() < 1e-14);
    }

    #[test]
    fn what_has_passed_an_edge_or_a_corner_is_beside_it_and_not_in_it() {
        // Far below the third face of the corner.
        let b = |x: f64, z: f64| Pose { position: DVec3::new(x, 0.01, z), rotation: DQuat::IDENTITY };
        let wedge = Features::WedgeOfA(DVec3::X, DVec3::Z);
        let corner = Features::CornerOfA([DVec3::X, DVec3::NEG_Y, DVec3::Z]);
        for features in [wedge, corner, wedge.flipped(), corner.flipped()] {
            let normal = DVec3::new(0.0995, 0.0, 0.995).normalize();
            let swapped = matches!(features, Features::WedgeOfB(..) | Features::CornerOfB(_));
            let c = contact([DVec3::ZERO; 2], [0.0; 2], features, if swapped { -normal } else { normal });
            let gap = |x: f64, z: f64| match swapped {
                false => c.gap_at(&Pose::IDENTITY, &b(x, z)).0,
                true => c.gap_at(&b(x, z), &Pose::IDENTITY).0,
            };
            // Above and outside; beside; above the face; in the solid, nearer to one face or the other.
            assert!((gap(3e-4, 4e-4) - 5e-4).abs() < 1e-18, "{features:?}");
            assert!((gap(1e-4, -2e-3) - 1e-4).abs() < 1e-18, "{features:?}");
            assert!((gap(-2e-3, 1e-4) - 1e-4).abs() < 1e-18, "{features:?}");
            assert!((gap(-1e-4, -2e-3) + 1e-4).abs() < 1e-18, "{features:?}");
            assert!((gap(-2e-3, -1e-4) + 1e-4).abs() < 1e-18, "{features:?}");
        }
    }

    #[test]
    fn a_corner_that_rotates_keeps_its_height_over_a_face() {
        let corner = DVec3::new(0.1, 0.0, -0.1);
        let c = contact([DVec3::ZERO, corner], [0.0; 2], Features::FaceOfA(DVec3::Z), DVec3::Z);
        let rotation = DQuat::from_rotation_y(0.3);
        let b = Pose { position: DVec3::new(5.0, 0.0, 1.0), rotation };
        let (gap, _) = c.gap_at(&Pose::IDENTITY, &b);
        assert!((gap - (1.0 + (rotation * corner).z)).abs() < 1e-15);
    }

    #[test]
    fn the_gap_closes_with_the_normal_velocity_at_the_point() {
        // ġ = n·(v_B − v_A) at the point of contact, for all features: what touches is where gap is extremal.
        let unit = |x: f64, y: f64, z: f64| DVec3::new(x, y, z).normalize();
        let (z, x) = (unit(0.1, 0.2, 1.0), unit(1.0, 0.1, -0.2));
        let beside = unit(0.3, 1.0, 0.4);
        let corner = [unit(0.2, 0.1, 1.0), unit(1.0, 0.0, -0.2), DVec3::ZERO];
        let corner = [corner[0], corner[1], corner[0].cross(corner[1]).normalize()];
        let features = [
            Features::FaceOfA(z),
            Features::EdgeOfA(x),
            Features::WedgeOfA(z, beside),
            Features::CornerOfA(corner),
            Features::FaceOfARimOfB(z, beside),
            Features::RimOfA(x),
        ];
        let both = features.into_iter().chain(features.map(Features::flipped));
        let pose = |p: [f64; 3], w: [f64; 3]| Pose {
            position: DVec3::from_array(p),
            rotation: DQuat::from_scaled_axis(DVec3::from_array(w)),
        };
        let (a, b) = (pose([0.1, 0.0, -0.2], [0.2, 0.1, -0.1]), pose([0.4, 0.3, 1.1], [-0.1, 0.3, 0.2]));
        let v = [DVec3::new(0.3, -0.5, 0.2), DVec3::new(-0.4, 0.1, -0.7)];
        let omega = [DVec3::new(0.6, -0.2, 0.5), DVec3::new(-0.3, 0.4, 0.8)];
        for features in both.chain([Features::Points, Features::Edges(x, beside)]) {
            let n = (b.position - a.position).normalize();
            let core = [DVec3::new(0.05, 0.1, 0.1), DVec3::new(-0.1, 0.05, -0.1)];
            let c = contact(core, [0.12, 0.07], features, n);
            let moved = |h: f64| {
                [(a, 0), (b, 1)].map(|(pose, k)| Pose {
                    position: pose.position + h * v[k],
                    rotation: DQuat::from_scaled_axis(h * omega[k]) * pose.rotation,
                })
            };
            let gap = |h: f64| {
                let [a, b] = moved(h);
                c.gap_at(&a, &b).0
            };
            let (_, n, point) = c.gap_and_point_at(&a, &b);
            let at = |pose: &Pose, k: usize| v[k] + omega[k].cross(point - pose.position);
            let rate = n.dot(at(&b, 1) - at(&a, 0));
            // Central differences: h² from truncation, ε/h from rounding.
            let difference = (gap(1e-5) - gap(-1e-5)) / 2e-5;
            assert!((rate - difference).abs() < 1e-8, "{features:?}: {rate} {difference}");
        }
    }
}
