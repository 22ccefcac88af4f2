//! Warm start: impulses of contacts, carried from step to step and matched by key.
//!
//! ```text
//! sum(key) = Σ r of the contacts with this key ,   key = (bodies, shapes, feature)
//! ```
//!
//! A sum is sorted by key, and so are contacts as they are found: the search for one begins where the one
//! before it was found. Only the few that joined later are out of order.

use glam::DVec3;

use crate::collision::{Contact, ContactRows, MAX_CONTACT_ROWS, contact_name, pair_name};
use crate::world::{Row, RowKind, World};

/// Impulses of the rows of joints and of contacts, in their order.
#[derive(Debug, Default)]
pub(super) struct Impulses {
    pub(super) rows: Vec<f64>,
    pub(super) contacts: Vec<[f64; MAX_CONTACT_ROWS]>,
}

impl Clone for Impulses {
    fn clone(&self) -> Self {
        Impulses { rows: self.rows.clone(), contacts: self.contacts.clone() }
    }

    /// In the memory that is there: the derived one would take new memory.
    fn clone_from(&mut self, other: &Self) {
        self.rows.clone_from(&other.rows);
        self.contacts.clone_from(&other.contacts);
    }
}

impl Impulses {
    /// Whether one of them is not zero.
    pub(super) fn are_nonzero(&self) -> bool {
        self.contacts.iter().flatten().any(|r| *r != 0.0) || self.rows.iter().any(|r| *r != 0.0)
    }

    /// Sets all to zero.
    pub(super) fn fill_zero(&mut self) {
        self.rows.fill(0.0);
        self.contacts.fill([0.0; MAX_CONTACT_ROWS]);
    }

    /// Zero for this many contacts; rows of joints keep theirs, and new ones get zero.
    pub(super) fn forget_contacts(&mut self, rows: usize, contacts: usize) {
        self.contacts.clear();
        self.contacts.resize(contacts, [0.0; MAX_CONTACT_ROWS]);
        self.rows.resize(rows, 0.0);
    }

    /// Those of another, times a factor.
    pub(super) fn set_scaled(&mut self, other: &Impulses, scaled: impl Fn(f64) -> f64) {
        self.rows.clear();
        self.rows.extend(other.rows.iter().map(|&x| scaled(x)));
        self.contacts.clear();
        self.contacts.extend(other.contacts.iter().map(|r| r.map(&scaled)));
    }
}

/// Impulses of the rows of joints in the first halves of the last steps, which show where the next one is
/// likely to begin:
///
/// ```text
/// r̂_{k+1} = 3 r_k − 3 r_{k−1} + r_{k−2} = r_{k+1} + O(h⁴)      (of two steps 2 r_k − r_{k−1})
/// ```
///
/// The mean of both halves of the last step, which is known anyhow, is off by O(h²), and joints then by O(h⁴)
/// after the first solve: often more than they may. Kept only for steps that were made whole.
#[derive(Clone, Debug, Default)]
pub(super) struct Trend {
    /// Of the first half that is being made.
    now: Vec<f64>,
    /// Of the last steps, the last one first; empty where unknown.
    past: [Vec<f64>; 3],
    /// The length of these steps, s.
    length: f64,
}

impl Trend {
    /// Records the first half of a substep.
    pub(super) fn record(&mut self, rows: &[f64]) {
        self.now.clear();
        self.now.extend_from_slice(rows);
    }

    /// The substep that was recorded is taken, in a step of length dt.
    pub(super) fn accept(&mut self, length: f64, dt: f64) {
        if length != dt {
            self.forget();
            return;
        }
        if self.length != dt {
            self.forget();
            self.length = dt;
        }
        self.past.rotate_right(1);
        std::mem::swap(&mut self.past[0], &mut self.now);
    }

    /// What comes does not go on from what was.
    pub(super) fn forget(&mut self) {
        self.past.iter_mut().for_each(Vec::clear);
    }

    /// Impulses from which a substep of length h starts: those of rows that are smooth in time go on as
    /// before, where that is known.
    pub(super) fn go_on(&self, h: f64, rows: &[Row], start: &mut [f64]) {
        let [last, before, earlier] = &self.past;
        if [rows.len(), last.len(), before.len()] != [start.len(); 3] || self.length != h {
            return;
        }
        for (i, row) in rows.iter().enumerate() {
            if !matches!(row.kind, RowKind::Limit { .. } | RowKind::Bounded { .. }) {
                start[i] = match earlier.get(i) {
                    Some(earlier) => 3.0 * (last[i] - before[i]) + earlier,
                    None => 2.0 * last[i] - before[i],
                };
            }
        }
    }

    /// Adds what is known for steps of length dt to impulses of rows that are saved.
    pub(super) fn save(&self, dt: f64, saved: &mut Vec<f64>) {
        if self.length == dt {
            self.past.iter().for_each(|rows| saved.extend_from_slice(rows));
        }
    }

    /// Takes it back from there, behind those of `rows` rows.
    pub(super) fn restore(&mut self, dt: f64, rows: usize, saved: &[f64]) {
        self.forget();
        self.length = dt;
        let mut behind = saved.get(rows..).unwrap_or_default().chunks_exact(rows.max(1));
        self.past.iter_mut().for_each(|rows| rows.extend_from_slice(behind.next().unwrap_or_default()));
    }

    /// Whether the next step goes on alike, to the last bit.
    pub(super) fn has_bits_of(&self, other: &Trend) -> bool {
        let same = |a: &[f64], b: &[f64]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
        };
        self.length.to_bits() == other.length.to_bits()
            && self.past.iter().zip(&other.past).all(|(a, b)| same(a, b))
    }

    /// The same, in the memory that is there.
    pub(super) fn copy_from(&mut self, other: &Trend) {
        self.length = other.length;
        self.past.iter_mut().zip(&other.past).for_each(|(rows, other)| rows.clone_from(other));
    }
}

/// Impulses summed over substeps: of contacts by key, of rows of joints in their order.
#[derive(Default)]
pub(super) struct ImpulseSum {
    contacts: Vec<Keyed>,
    rows: Vec<f64>,
}

impl ImpulseSum {
    /// Zero, for this many rows of joints.
    pub(super) fn clear(&mut self, rows: usize) {
        self.contacts.clear();
        self.rows.clear();
        self.rows.resize(rows, 0.0);
    }

    /// Adds impulses. Those of rows count only where there are as many rows as at the start.
    pub(super) fn add(&mut self, contacts: &[Contact], impulses: &Impulses) {
        add_impulses(&mut self.contacts, contacts, &impulses.contacts);
        if self.rows.len() == impulses.rows.len() {
            self.rows.iter_mut().zip(&impulses.rows).for_each(|(s, r)| *s += r);
        }
    }

    /// The sums, for these contacts and this many rows, into `out`; the sum of rows is lost.
    pub(super) fn move_to(&mut self, contacts: &[Contact], rows: usize, out: &mut Impulses) {
        impulses_of(&self.contacts, contacts, &mut out.contacts);
        std::mem::swap(&mut out.rows, &mut self.rows);
        out.rows.resize(rows, 0.0);
    }
}

/// Forces of contacts that were there in a part of a step only. Where bodies lie flush, features come and go
/// with the last digit; forces in a step are reported at the nearest contact that is left between the bodies.
#[derive(Default)]
pub(super) struct HandedOver {
    /// Contacts of the first half of a substep, before they are found anew.
    before: Vec<PastContact>,
    /// Of those the ones that were not found again, and how many of them belong to substeps that were
    /// accepted.
    lost: Vec<PastContact>,
    accepted: usize,
    /// Contacts of all substeps but the last.
    earlier: Vec<PastContact>,
    /// At which contacts of the end, with normal impulse and that of friction in world axes.
    to: Vec<(Key, f64, DVec3)>,
}

/// Contacts for which there is memory from the first step on.
const FEW_CONTACTS: usize = 8;

struct PastContact {
    key: Key,
    point: DVec3,
    normal: f64,
    friction: DVec3,
}

/// The contacts that carry impulses.
fn carrying<'a>(
    contacts: &'a [Contact],
    rows: &'a [ContactRows],
    impulses: &'a Impulses,
) -> impl Iterator<Item = PastContact> + 'a {
    let all = contacts.iter().zip(rows).zip(&impulses.contacts).filter(|(_, r)| r[0] > 0.0);
    all.map(|((contact, rows), r)| PastContact {
        key: key(contact),
        point: contact.point,
        normal: r[0],
        friction: rows.tangents[0] * r[1] + rows.tangents[1] * r[2],
    })
}

impl PastContact {
    fn is_among(&self, contacts: &[Contact]) -> bool {
        contacts.binary_search_by_key(&self.key, key).is_ok() || contacts.iter().any(|c| key(c) == self.key)
    }
}

impl HandedOver {
    /// Begins a step.
    pub(super) fn clear(&mut self) {
        self.lost.clear();
        self.earlier.clear();
        self.to.clear();
        self.accepted = 0;
    }

    /// Records contacts of the first half of a substep, before they are found anew.
    pub(super) fn record(&mut self, contacts: &[Contact], rows: &[ContactRows], impulses: &Impulses) {
        self.before.clear();
        // Memory for what may follow is taken where contacts are new, not at the step that needs it: some
        // from the first step on, since an impact may be the first contact that a half of a step has.
        let some = contacts.len().max(FEW_CONTACTS);
        self.before.reserve(some);
        for list in [&mut self.lost, &mut self.earlier] {
            list.reserve(some);
        }
        self.to.reserve(some);
        self.before.extend(carrying(contacts, rows, impulses));
    }

    /// Keeps those that are not among the contacts of the second half.
    pub(super) fn keep_lost(&mut self, contacts: &[Contact]) {
        self.lost.extend(self.before.drain(..).filter(|past| !past.is_among(contacts)));
    }

    /// Takes back what was kept of a substep that is not accepted.
    pub(super) fn rollback(&mut self) {
        self.lost.truncate(self.accepted);
    }

    /// Accepts a substep.
    pub(super) fn accept(&mut self) {
        self.accepted = self.lost.len();
    }

    /// Records the contacts of a substep that is not the last.
    pub(super) fn record_earlier(&mut self, contacts: &[Contact], rows: &[ContactRows], impulses: &Impulses) {
        self.earlier.extend(carrying(contacts, rows, impulses));
    }

    /// Ends a step with these contacts.
    pub(super) fn end(&mut self, contacts: &[Contact]) {
        let earlier = self.earlier.drain(..).filter(|past| !past.is_among(contacts));
        for past in self.lost.drain(..).chain(earlier) {
            let between = contacts.iter().filter(|contact| contact.bodies == past.key.0);
            let distance = |contact: &&Contact| contact.point.distance_squared(past.point);
            if let Some(near) = between.min_by(|a, b| distance(a).total_cmp(&distance(b))) {
                self.to.push((key(near), past.normal, past.friction));
            }
        }
    }

    /// What a contact got: normal impulse and that of friction.
    pub(super) fn of(&self, contact: &Contact) -> (f64, DVec3) {
        let own = self.to.iter().filter(|(to, ..)| *to == key(contact));
        own.fold((0.0, DVec3::ZERO), |(n, f), (_, normal, friction)| (n + normal, f + *friction))
    }
}

/// What makes a contact the same from step to step: bodies, shapes, feature.
pub(super) type Key = ([u32; 2], [u32; 2], u32);

/// A key and the impulse that goes with it.
pub(super) type Keyed = (Key, [f64; MAX_CONTACT_ROWS]);

/// The key of a contact.
pub(super) fn key(contact: &Contact) -> Key {
    (contact.bodies, contact.shapes, contact.feature)
}

/// The name of a contact among others.
pub(super) fn name_of(world: &World, contacts: &[Contact], contact: &Contact) -> String {
    match contacts.iter().position(|c| key(c) == key(contact)) {
        Some(i) => contact_name(world, contacts, i),
        None => pair_name(world, contact.bodies),
    }
}

/// Adds impulses by key. `sum` stays sorted.
pub(super) fn add_impulses(sum: &mut Vec<Keyed>, contacts: &[Contact], impulses: &[[f64; MAX_CONTACT_ROWS]]) {
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
pub(super) fn impulses_of(sum: &[Keyed], contacts: &[Contact], out: &mut Vec<[f64; MAX_CONTACT_ROWS]>) {
    out.clear();
    let mut at = 0;
    out.extend(contacts.iter().map(|contact| match place(sum, at, key(contact)) {
        Ok(i) => {
            at = i + 1;
            sum[i].1
        }
        Err(_) => [0.0; MAX_CONTACT_ROWS],
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
    use super::super::model::fixtures::*;
    use super::super::options::StepOptions;
    use super::*;
    use crate::collision::Features;
    use crate::world::ShapeKind;
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
        let impulses: Vec<[f64; MAX_CONTACT_ROWS]> =
            (1..=6).map(|k| [f64::from(k); MAX_CONTACT_ROWS]).collect();
        add_impulses(&mut sum, &all, &impulses);
        assert!(sum.windows(2).all(|pair| pair[0].0 < pair[1].0), "{sum:?}");
        add_impulses(
            &mut sum,
            &[contact(4), contact(9)],
            &[[10.0; MAX_CONTACT_ROWS], [20.0; MAX_CONTACT_ROWS]],
        );
        let mut out = vec![];
        let asked = [9, 2, 1, 3, 4, 5, 6, 7, 11].map(contact);
        impulses_of(&sum, &asked, &mut out);
        let found: Vec<f64> = out.iter().map(|r| r[0]).collect();
        assert_eq!(found, [23.0, 0.0, 4.0, 1.0, 10.0, 8.0, 0.0, 5.0, 0.0]);
    }

    #[test]
    fn impulses_of_substeps_add_up_whatever_contacts_come_and_go() {
        let of = |row: f64, contacts: &[f64]| Impulses {
            rows: vec![row],
            contacts: contacts.iter().map(|r| [*r; MAX_CONTACT_ROWS]).collect(),
        };
        let mut sum = ImpulseSum::default();
        sum.clear(1);
        sum.add(&[contact(1), contact(2)], &of(1.0, &[1.0, 2.0]));
        sum.add(&[contact(2), contact(3)], &of(10.0, &[20.0, 30.0]));
        let mut out = Impulses::default();
        sum.move_to(&[contact(3), contact(2)], 2, &mut out);
        assert_eq!((out.rows, out.contacts[0][0], out.contacts[1][0]), (vec![11.0, 0.0], 30.0, 22.0));
    }

    #[test]
    fn a_warm_start_is_scaled_and_contacts_can_be_forgotten() {
        let last = Impulses { rows: vec![2.0], contacts: vec![[4.0; MAX_CONTACT_ROWS]] };
        let mut start = Impulses::default();
        start.set_scaled(&last, |x| 0.5 * x);
        assert_eq!((start.rows[0], start.contacts[0][3]), (1.0, 2.0));
        start.forget_contacts(2, 3);
        assert_eq!((start.rows.clone(), start.contacts.len()), (vec![1.0, 0.0], 3));
        assert!(start.are_nonzero());
        start.fill_zero();
        assert!(!start.are_nonzero());
    }

    #[test]
    fn impulses_go_on_as_before_and_a_step_in_pieces_forgets_them() {
        let row = |kind: RowKind| Row { kind, joint: 0, value: 0.0, rate: 0.0, load: 0.0, blocks: [0, 0] };
        let rows = [row(RowKind::Bilateral), row(RowKind::Limit { restitution: 0.0 })];
        let (mut trend, h) = (Trend::default(), 1e-3);
        let start = |trend: &Trend, h: f64| {
            let mut start = [7.0; 2];
            trend.go_on(h, &rows, &mut start);
            start
        };
        let mut saved = vec![];
        // 1, 3, 6, 10, 15: on a line of two, then on a parabola of three.
        for (k, expected) in [7.0, 7.0, 5.0, 10.0, 15.0].into_iter().enumerate() {
            assert_eq!(start(&trend, h), [expected, 7.0], "{k}");
            // What was saved goes on alike, also where only one step is known.
            let mut again = Trend::default();
            saved.splice(.., [9.0, 9.0]);
            trend.save(h, &mut saved);
            again.restore(h, 2, &saved);
            assert!(again.has_bits_of(&trend) || k == 0);
            assert_eq!(saved.len(), [2, 4, 6, 8, 8][k]);
            trend.record(&[[1.0, 3.0, 6.0, 10.0, 15.0][k], 1.0]);
            trend.accept(h, h);
        }
        assert_eq!(start(&trend, 2.0 * h), [7.0; 2]);
        trend.record(&[8.0, 1.0]);
        trend.accept(0.5 * h, h);
        assert_eq!(start(&trend, h), [7.0; 2]);
        // Steps of another length begin anew.
        trend.accept(h, h);
        trend.record(&[8.0, 1.0]);
        trend.accept(2.0 * h, 2.0 * h);
        assert_eq!((start(&trend, h), start(&trend, 2.0 * h)), ([7.0; 2], [7.0; 2]));
    }

    #[test]
    fn points_between_the_same_bodies_are_counted_in_their_names() {
        let (mut world, mut state) = ball_on_floor(smooth(), 0.0, DVec3::ZERO);
        world.bodies[1].shapes[0].kind = ShapeKind::Box { half_extents: DVec3::splat(RADIUS) };
        let (model, on) = linearized(world, &mut state, StepOptions::default(), 1e-3);
        let names: Vec<String> =
            on.contacts().iter().map(|c| name_of(&model.world, on.contacts(), c)).collect();
        assert_eq!(names, ["floor|ball#1", "floor|ball#2", "floor|ball#3", "floor|ball#4"]);
        // One that is not among them has the names of its bodies.
        assert_eq!(name_of(&model.world, &[], &on.contacts()[0]), "floor|ball");
    }
}
