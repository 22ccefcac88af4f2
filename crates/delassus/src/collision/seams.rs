//! Seams: edges and corners flush behind a face of a neighbour, which a round shape passes unhindered.
//!
//! ```text
//! abs( n·(x_e − x_f) ) ≤ ε ,   |m − n|² ≤ δ²   for a face m beside the edge
//! ```
//!
//! x_e is a point of the edge that is touched, x_f and n a point and the normal of the face that the same
//! round shape touches already.

use super::contact::{Contact, Features};
use super::primitives::MAX_SEAM_STEP;
use crate::world::WorldState;
use glam::DVec3;

/// Square of the sine between two faces that are flush: a rise of 10 µm over a metre.
const MAX_FLUSH_ANGLE_SQUARED: f64 = 1e-10;

/// Drops contacts of round shapes with an edge or a corner that lies flush behind a face on which they are
/// already: what rolls from one floor tile to the next does not meet the edge of the second.
pub(super) fn drop_seams(state: &WorldState, contacts: &mut Vec<Contact>) {
    let round = |c: &Contact| c.radius[0] + c.radius[1] > 0.0;
    let at = |c: &Contact, side: usize| state.bodies[c.bodies[side] as usize].pose;
    let shape = |c: &Contact, side: usize| (c.bodies[side], c.shapes[side]);
    let hidden = |c: &Contact, all: &[Contact]| {
        let Some((owner, faces)) = edge_owner(c).filter(|_| round(c)) else { return false };
        let (rotation, edge) = (at(c, owner).rotation, at(c, owner).point(c.core[owner]));
        all.iter().any(|f| {
            let (side, normal) = match f.features {
                Features::FaceOfA(n) => (0, n),
                Features::FaceOfB(n) => (1, n),
                _ => return false,
            };
            let same = shape(f, 1 - side) == shape(c, 1 - owner) && shape(f, side) != shape(c, owner);
            let (n, foot) = (at(f, side).rotation * normal, at(f, side).point(f.core[side]));
            same && n.dot(edge - foot).abs() <= MAX_SEAM_STEP
                && faces.iter().any(|face| (rotation * *face - n).length_squared() <= MAX_FLUSH_ANGLE_SQUARED)
        })
    };
    // Edges hide nothing, so that the order does not matter.
    for k in (0..contacts.len()).rev() {
        if hidden(&contacts[k], contacts) {
            contacts.remove(k);
        }
    }
}

/// Which side of a contact touches with an edge or a corner, and the faces beside it.
fn edge_owner(contact: &Contact) -> Option<(usize, [DVec3; 3])> {
    match contact.features {
        Features::WedgeOfA(m, n) => Some((0, [m, n, n])),
        Features::WedgeOfB(m, n) => Some((1, [m, n, n])),
        Features::CornerOfA(faces) => Some((0, faces)),
        Features::CornerOfB(faces) => Some((1, faces)),
        _ => None,
    }
}
