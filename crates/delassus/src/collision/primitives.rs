//! Contacts of half-spaces and balls in closed form.
//!
//! ```text
//! half-space: gap = n·c_b − r_b  per corner c_b ;   ball: gap = |c_b − π(c_b)| − r_b ,  π the nearest point of the other core
//! ```
//!
//! Each function takes two shapes, A in its own axes and B at a pose seen from there, and pushes contacts
//! whose core points and directions are in the axes of the shapes and whose normal is in the axes of A. Gaps
//! and points follow from these ([`Contact::gap_and_point_at`]), so they are not filled in here, and contacts
//! beyond the margin are dropped by the caller.
//!
//! A disc that stands flat on a half-space (within [`MAX_FLAT_SINE`]) touches it in four points of its rim, a
//! quarter of the circle apart, the lowest among them: the fewest that support a disc against tilting in
//! every direction. A tilted disc touches it in the lowest point of its rim, whichever that becomes as it
//! rolls.

use glam::DVec3;

use super::contact::{Contact, Features};
use crate::world::Pose;

/// Sine of the tilt under which a disc counts as standing flat: about 3°, beyond which a disc that rocks back
/// within a step would have to rotate faster than the steps resolve.
const MAX_FLAT_SINE: f64 = 0.05;

/// Largest |cosine| between the normal of a half-space and an edge of which both ends may touch it. Edges
/// steeper than 30° touch with their lower end alone.
const MAX_LYING_COSINE: f64 = 0.5;

/// A contact before gap, normal in the world and point are known.
pub(super) fn touch(
    feature: u32,
    core: [DVec3; 2],
    radius: [f64; 2],
    features: Features,
    normal: DVec3,
) -> Contact {
    let (bodies, shapes, gap, point) = ([0; 2], [0; 2], 0.0, DVec3::ZERO);
    Contact { bodies, shapes, feature, core, radius, features, gap, normal, point }
}

/// Corner of a box with the signs in the three lowest bits of `index` (1 is positive).
pub(super) fn corner(half: DVec3, index: u32) -> DVec3 {
    let sign = |bit: u32| if index >> bit & 1 == 1 { 1.0 } else { -1.0 };
    half * DVec3::new(sign(0), sign(1), sign(2))
}

/// Half-space A and a box with rounded edges; a capsule is one of no width, a ball one of no size.
pub(super) fn plane_block(half: DVec3, radius: f64, b: &Pose, out: &mut Vec<Contact>) {
    let up = b.local_vector(DVec3::Z);
    for index in 0..8 {
        let upper = |axis: usize| index >> axis & 1 == 1;
        // Edges without length and steep edges have one end that counts.
        let skip = (0..3).any(|axis| match half[axis] > 0.0 {
            false => upper(axis),
            true => up[axis].abs() > MAX_LYING_COSINE && upper(axis) == (up[axis] > 0.0),
        });
        if !skip {
            on_plane(index, corner(half, index), radius, b, out);
        }
    }
}

/// Half-space A and a point of B with a radius.
pub(super) fn on_plane(feature: u32, core: DVec3, radius: f64, b: &Pose, out: &mut Vec<Contact>) {
    let foot = b.point(core) * DVec3::new(1.0, 1.0, 0.0);
    out.push(touch(feature, [foot, core], [0.0, radius], Features::FaceOfA(DVec3::Z), DVec3::Z));
}

/// Half-space A and a disc of B about its z axis: a cylinder has two, a cone one. `outward` is +1 or −1: on
/// which side of the disc the body ends.
pub(super) fn plane_disc(
    feature: u32,
    height: f64,
    radius: f64,
    outward: f64,
    b: &Pose,
    out: &mut Vec<Contact>,
) {
    let up = b.local_vector(DVec3::Z);
    let across = DVec3::new(up.x, up.y, 0.0);
    let sine = across.length();
    let centre = DVec3::new(0.0, 0.0, height);
    if sine >= MAX_FLAT_SINE {
        let foot = b.point(centre) * DVec3::new(1.0, 1.0, 0.0);
        let features = Features::FaceOfARimOfB(DVec3::Z, DVec3::Z);
        out.push(touch(feature, [foot, centre], [0.0, radius], features, DVec3::Z));
    } else if up.z * outward < 0.0 {
        // Below the resolution of the sine the direction of the lowest point is noise.
        let lowest = if sine > 1e-9 { -across / sine } else { DVec3::X };
        let side = DVec3::Z.cross(lowest);
        for (quarter, direction) in [lowest, side, -lowest, -side].into_iter().enumerate() {
            on_plane(feature + quarter as u32, centre + direction * radius, 0.0, b, out);
        }
    }
}

/// Two balls.
pub(super) fn ball_ball(radius: [f64; 2], b: &Pose, out: &mut Vec<Contact>) {
    let normal = b.position.try_normalize().unwrap_or(DVec3::Z);
    out.push(touch(0, [DVec3::ZERO; 2], radius, Features::Points, normal));
}

/// A ball beyond an edge that is farther from the face beside it by less than this counts as on the face, m:
/// as far as bodies count as touching. Otherwise rounding of its position over a seam would meet the edge
/// behind the seam.
pub(super) const MAX_SEAM_STEP: f64 = 2e-7;

/// A box with rounded edges (a capsule is one of no width) and a ball.
pub(super) fn block_ball(half: DVec3, radius: [f64; 2], b: &Pose, out: &mut Vec<Contact>) {
    let centre = b.position;
    let (nearest, features, feature, normal) = nearest_on_block(half, centre);
    let (features, normal) = past_seam(features, normal, (centre - nearest).length());
    out.push(touch(feature, [nearest, DVec3::ZERO], radius, features, normal));
}

/// Features and normal of a ball whose centre is at a distance from an edge or a corner of A along the
/// normal: those of a face beside it within [`MAX_SEAM_STEP`].
fn past_seam(features: Features, normal: DVec3, distance: f64) -> (Features, DVec3) {
    let faces: &[DVec3] = match &features {
        Features::WedgeOfA(m, n) => &[*m, *n],
        Features::CornerOfA(faces) => faces,
        _ => return (features, normal),
    };
    let Some(&face) = faces.iter().max_by(|m, n| m.dot(normal).total_cmp(&n.dot(normal))) else {
        return (features, normal);
    };
    // |n − face|² = 2 (1 − cos): without cancellation.
    match 0.5 * distance * (normal - face).length_squared() <= MAX_SEAM_STEP {
        true => (Features::FaceOfA(face), face),
        false => (features, normal),
    }
}

/// The point of a box that is nearest to x, on its surface; the feature of the box there, as a feature of A,
/// its number, and the direction from there to x. Inside, the nearest face.
pub(super) fn nearest_on_block(half: DVec3, x: DVec3) -> (DVec3, Features, u32, DVec3) {
    let nearest = x.clamp(-half, half);
    let mut region = 0;
    let mut free = [false; 3];
    for axis in 0..3 {
        let side = if x[axis] > half[axis] {
            2
        } else if x[axis] < -half[axis] {
            0
        } else {
            free[axis] = half[axis] > 0.0;
            1
        };
        region = 3 * region + side;
    }
    let unit = |axis: usize| DVec3::AXES[axis];
    let outward = |axis: usize| unit(axis) * if x[axis] < 0.0 { -1.0 } else { 1.0 };
    let d = x - nearest;
    let fallback = if half.x > 0.0 && half.y > 0.0 { DVec3::Z } else { DVec3::X };
    match free.iter().filter(|&&f| f).count() {
        3 => {
            // Inside: out through the nearest face.
            let depth = half - x.abs();
            let axis = (0..3).min_by(|&i, &j| depth[i].total_cmp(&depth[j])).unwrap_or(0);
            let n = unit(axis) * if x[axis] < 0.0 { -1.0 } else { 1.0 };
            let mut foot = x;
            foot[axis] = n[axis] * half[axis];
            (foot, Features::FaceOfA(n), 27 + 2 * axis as u32 + u32::from(x[axis] < 0.0), n)
        }
        2 => {
            let axis = (0..3).find(|&i| !free[i]).unwrap_or(0);
            let n = unit(axis) * if d[axis] < 0.0 { -1.0 } else { 1.0 };
            (nearest, Features::FaceOfA(n), region, n)
        }
        1 => {
            let axis = (0..3).find(|&i| free[i]).unwrap_or(0);
            let n = d.try_normalize().unwrap_or(fallback);
            let [i, j] = [(axis + 1) % 3, (axis + 2) % 3];
            let features = match half[i] > 0.0 && half[j] > 0.0 {
                true => Features::WedgeOfA(outward(i), outward(j)),
                false => Features::EdgeOfA(unit(axis)),
            };
            (nearest, features, region, n)
        }
        _ => {
            let features = match half.min_element() > 0.0 {
                true => Features::CornerOfA([outward(0), outward(1), outward(2)]),
                false => Features::Points,
            };
            (nearest, features, region, d.try_normalize().unwrap_or(fallback))
        }
    }
}

/// A cylinder and a ball.
pub(super) fn cylinder_ball(radius: f64, half_height: f64, ball: f64, b: &Pose, out: &mut Vec<Contact>) {
    let x = b.position;
    let across = DVec3::new(x.x, x.y, 0.0);
    let rho = across.length();
    let side = if x.z < 0.0 { -1.0 } else { 1.0 };
    let cap = DVec3::new(0.0, 0.0, side * half_height);
    let outward = across.try_normalize().unwrap_or(DVec3::X);
    let end = u32::from(side > 0.0);
    let (beside, above) = (rho - radius, x.z.abs() - half_height);
    let contact = if beside > 0.0 && above > 0.0 {
        let normal = (x - cap - outward * radius).try_normalize().unwrap_or(outward);
        touch(3 + end, [cap, DVec3::ZERO], [radius, ball], Features::RimOfA(DVec3::Z), normal)
    } else if above > 0.0 || (beside <= 0.0 && above > beside) {
        let n = DVec3::Z * side;
        touch(1 + end, [across + cap, DVec3::ZERO], [0.0, ball], Features::FaceOfA(n), n)
    } else {
        let axis = DVec3::new(0.0, 0.0, x.z);
        touch(0, [axis, DVec3::ZERO], [radius, ball], Features::EdgeOfA(DVec3::Z), outward)
    };
    out.push(contact);
}
