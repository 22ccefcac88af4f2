//! Impulses of contacts by what makes a contact the same from step to step.
//!
//! ```text
//! sum(key) = Σ r of the contacts with this key ,   key = (bodies, shapes, feature)
//! ```
//!
//! A sum is sorted by key, and so are contacts as they are found; but for few that came later, each is looked for where
//! the one before it was found.

use super::velocity_solve::WIDE;
use crate::collision::Contact;

/// What makes a contact the same from step to step: bodies, shapes, feature.
pub(super) type Key = ([u32; 2], [u32; 2], u32);

/// A key and the impulse that goes with it.
pub(super) type Keyed = (Key, [f64; WIDE]);

/// The key of a contact.
pub(super) fn key(contact: &Contact) -> Key {
    (contact.bodies, contact.shapes, contact.feature)
}

/// Adds impulses by key. `sum` stays sorted.
pub(super) fn add_impulses(sum: &mut Vec<Keyed>, contacts: &[Contact], impulses: &[[f64; WIDE]]) {
    let mut at = 0;
    for (contact, impulse) in contacts.iter().zip(impulses) {
        match place(sum, at, key(contact)) {
            Ok(i) => {
                sum[i].1.iter_mut().zip(impulse).for_each(|(s, r)| *s += r);
                at = i + 1;
            }
            Err(i) => {
                sum.insert(i, (key(contact), *impulse));
                at = i + 1;
            }
        }
    }
}

/// The impulse of each contact into `out`; zero for those that are not in `sum`.
pub(super) fn impulses_of(sum: &[Keyed], contacts: &[Contact], out: &mut Vec<[f64; WIDE]>) {
    out.clear();
    let mut at = 0;
    out.extend(contacts.iter().map(|contact| match place(sum, at, key(contact)) {
        Ok(i) => {
            at = i + 1;
            sum[i].1
        }
        Err(_) => [0.0; WIDE],
    }));
}

/// Where a key stands or belongs; `at` is looked at first.
fn place(sum: &[Keyed], at: usize, key: Key) -> Result<usize, usize> {
    match sum.get(at) {
        Some((there, _)) if *there == key => Ok(at),
        None if sum.last().is_none_or(|(last, _)| *last < key) => Err(sum.len()),
        _ => sum.binary_search_by_key(&key, |(k, _)| *k),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collision::Features;
    use glam::DVec3;

    fn contact(feature: u32) -> Contact {
        Contact {
            bodies: [0, 1],
            shapes: [0, 0],
            feature,
            gap: 0.0,
            normal: DVec3::Z,
            point: DVec3::ZERO,
            core: [DVec3::ZERO; 2],
            radius: [0.0; 2],
            features: Features::Points,
        }
    }

    #[test]
    fn contacts_in_any_order_find_their_sums() {
        let mut sum = vec![];
        let all = [3, 5, 9, 1, 7, 5].map(contact);
        let impulses: Vec<[f64; WIDE]> = (1..=6).map(|k| [f64::from(k); WIDE]).collect();
        add_impulses(&mut sum, &all, &impulses);
        assert!(sum.windows(2).all(|pair| pair[0].0 < pair[1].0), "{sum:?}");
        add_impulses(&mut sum, &[contact(4), contact(9)], &[[10.0; WIDE], [20.0; WIDE]]);
        let mut out = vec![];
        let asked = [9, 2, 1, 3, 4, 5, 6, 7, 11].map(contact);
        impulses_of(&sum, &asked, &mut out);
        let found: Vec<f64> = out.iter().map(|r| r[0]).collect();
        assert_eq!(found, [23.0, 0.0, 4.0, 1.0, 10.0, 8.0, 0.0, 5.0, 0.0]);
    }
}
