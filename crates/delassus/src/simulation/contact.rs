//! Contacts with their forces, as a user reads them.
//!
//! ```text
//! force on B = f_n n + f_t ,   n from A to B ,   f_n ≥ 0 ,   f_t ⟂ n
//! ```

use delassus_solve::analysis::ImpulseRange;
use delassus_solve::modes::Mode;
use glam::DVec3;

use crate::collision::{Contact, contact_names};
use crate::stepping::{Forces, Stepper, Uniqueness};
use crate::world::BodyId;

/// A contact and its force.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactForce {
    /// The names of its bodies, `a|b`, and a number where they touch at several points: `a|b#2`.
    pub name: String,
    /// Bodies A and B.
    pub bodies: [BodyId; 2],
    /// Their names.
    pub body_names: [String; 2],
    /// The middle between the two surfaces, world axes, m.
    pub point: DVec3,
    /// Unit normal from A to B, world axes.
    pub normal: DVec3,
    /// Distance between the surfaces, m; negative where they overlap.
    pub gap: f64,
    /// The whole force on body B, world axes, N; A takes its opposite.
    pub force: DVec3,
    /// Its part along the normal, N; never negative.
    pub normal_force: f64,
    /// Its part along the surfaces: friction on body B, world axes, N.
    pub friction: DVec3,
    /// Whether the contact is open, slides, or sticks or rolls.
    pub mode: Mode,
    /// Whether other normal forces go with the same motion.
    pub unique: Uniqueness,
}

impl ContactForce {
    /// All contacts of a stepper within range, with the forces that [`Stepper::forces`] returned, and which
    /// others go with them.
    pub fn now(stepper: &Stepper, forces: &Forces) -> Vec<ContactForce> {
        let unique = |place: Option<usize>| match (&forces.ranges, place) {
            (_, None) | (ImpulseRange::Unique, _) => Uniqueness::Unique,
            (ImpulseRange::Unknown, _) => Uniqueness::Unknown,
            (ImpulseRange::Ranges { normal, .. }, Some(at)) => match normal.get(at) {
                // A contact cannot pull, whatever rounding gives.
                Some([least, largest]) => {
                    Uniqueness::Interval { least: least.max(0.0), largest: largest.max(0.0) }
                }
                None => Uniqueness::Unknown,
            },
        };
        let names = contact_names(stepper.world(), stepper.contacts());
        let all = stepper.contacts().iter().zip(names).zip(&forces.contacts).zip(&forces.place);
        all.map(|(((contact, name), &(normal, friction)), place)| {
            contact_force(stepper, contact, name, Force { normal, friction, unique: unique(*place) })
        })
        .collect()
    }

    /// The least and the largest normal force that go with the motion, N; `None` where they are not known.
    pub fn interval(&self) -> Option<[f64; 2]> {
        match self.unique {
            Uniqueness::Unique => Some([self.normal_force; 2]),
            Uniqueness::Interval { least, largest } => Some([least, largest]),
            Uniqueness::Unknown => None,
        }
    }
}

/// Decides which of these mean forces are unique, at the end of the step that had them.
pub(super) fn decide_uniqueness(stepper: &Stepper, contacts: &mut [ContactForce]) {
    let forces: Vec<(f64, DVec3)> = contacts.iter().map(|c| (c.normal_force, c.friction)).collect();
    let found = stepper.mean_force_uniqueness(&forces);
    contacts.iter_mut().zip(found).for_each(|(contact, unique)| contact.unique = unique);
}

/// All contacts within range with their mean force of the last step. Uniqueness is not computed.
pub(super) fn mean_forces(stepper: &Stepper) -> Vec<ContactForce> {
    let all = stepper.contact_forces().zip(contact_names(stepper.world(), stepper.contacts()));
    all.map(|((contact, normal, friction), name)| {
        contact_force(stepper, contact, name, Force { normal, friction, unique: Uniqueness::Unknown })
    })
    .collect()
}

/// The force of a contact on body B.
struct Force {
    normal: f64,
    friction: DVec3,
    unique: Uniqueness,
}

fn contact_force(
    stepper: &Stepper,
    contact: &Contact,
    name: String,
    Force { normal, friction, unique }: Force,
) -> ContactForce {
    ContactForce {
        name,
        bodies: contact.bodies.map(|b| BodyId::new(b as usize)),
        body_names: contact.bodies.map(|b| stepper.world().bodies[b as usize].name.clone()),
        point: contact.point,
        normal: contact.normal,
        gap: contact.gap,
        force: normal * contact.normal + friction,
        normal_force: normal,
        friction,
        mode: stepper.contact_mode(contact),
        unique,
    }
}
