//! One contact point between two bodies: its gap as a function of their poses.
//!
//! ```text
//! gap(q) = n(q)·(c_b(q) − c_a(q)) − r_a − r_b ,   n from A to B
//! ```
//!
//! c_a and c_b are core points fixed to the bodies (a corner, the centre of a ball, a point of an edge), r_a and r_b the
//! radii of what surrounds them. Where n comes from depends on the features that touch. The function is exact as long
//! as the same features touch, so that a step can end with the gap itself closed, not its linearization.

use glam::DVec3;

use crate::world::Pose;

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
    /// An edge of A and an edge of B with these unit directions, each in the axes of its body.
    Edges(DVec3, DVec3),
    /// Two points.
    Points,
}

/// A contact point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Bodies A and B.
    pub bodies: [u32; 2],
    /// Which shape of each body.
    pub shapes: [u32; 2],
    /// Which of the points between the two shapes: the same number from step to step while the same features touch.
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
    /// Gap and normal at other poses of the two bodies.
    pub fn gap_at(&self, a: &Pose, b: &Pose) -> (f64, DVec3) {
        let d = b.point(self.core[1]) - a.point(self.core[0]);
        // Where two features touch without radii, their distance gives no direction: the last normal stays.
        let towards = |x: DVec3| {
            let length = x.length();
            if length > 1e-9 * (1.0 + self.radius[0] + self.radius[1]) {
                x * (x.dot(self.normal).signum() / length)
            } else {
                self.normal
            }
        };
        let across = |edge: DVec3| d - edge * d.dot(edge);
        let normal = match self.features {
            Features::FaceOfA(n) => a.rotation * n,
            Features::FaceOfB(n) => -(b.rotation * n),
            Features::EdgeOfA(e) => towards(across(a.rotation * e)),
            Features::EdgeOfB(e) => towards(across(b.rotation * e)),
            Features::Edges(e, f) => towards((a.rotation * e).cross(b.rotation * f)),
            Features::Points => towards(d),
        };
        (normal.dot(d) - self.radius[0] - self.radius[1], normal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DQuat;

    fn contact(core: [DVec3; 2], radius: [f64; 2], features: Features, normal: DVec3) -> Contact {
        let (bodies, shapes, feature) = ([0, 1], [0, 0], 0);
        Contact { bodies, shapes, feature, core, radius, features, gap: 0.0, normal, point: DVec3::ZERO }
    }

    #[test]
    fn the_gap_of_two_balls_is_the_distance_less_the_radii() {
        let c = contact([DVec3::ZERO, DVec3::ZERO], [0.1, 0.2], Features::Points, DVec3::X);
        let b = Pose { position: DVec3::new(3.0, 4.0, 0.0), rotation: DQuat::IDENTITY };
        let (gap, n) = c.gap_at(&Pose::IDENTITY, &b);
        assert!((gap - 4.7).abs() < 1e-14 && (n - DVec3::new(0.6, 0.8, 0.0)).length() < 1e-14);
    }

    #[test]
    fn a_corner_that_turns_keeps_its_height_over_a_face() {
        let corner = DVec3::new(0.1, 0.0, -0.1);
        let c = contact([DVec3::ZERO, corner], [0.0; 2], Features::FaceOfA(DVec3::Z), DVec3::Z);
        let rotation = DQuat::from_rotation_y(0.3);
        let b = Pose { position: DVec3::new(5.0, 0.0, 1.0), rotation };
        let (gap, _) = c.gap_at(&Pose::IDENTITY, &b);
        assert!((gap - (1.0 + (rotation * corner).z)).abs() < 1e-15);
    }
}
