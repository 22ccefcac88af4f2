//! The contacts of all frames, as many as a page can hold.

use delassus::stepping::Uniqueness;
use glam::DVec3;
use serde_json::{Value, json};

use crate::arrays::Arrays;
use crate::quantize::{Grid, direction};

/// Contacts of all frames together that a page keeps.
const MAX_RECORDS: usize = 150_000;

/// What a contact does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactMark {
    /// It carries nothing.
    Open,
    /// It sticks or rolls.
    Stick,
    /// It slides.
    Slide,
}

/// A contact of a frame.
#[derive(Clone, Copy, Debug)]
pub struct ContactRecord {
    /// Bodies A and B.
    pub bodies: [u32; 2],
    /// Which of the points between them, from 1; 0 where there is one.
    pub number: u16,
    /// Where, world axes.
    pub point: DVec3,
    /// From A to B.
    pub normal: DVec3,
    /// On B, N.
    pub normal_force: f64,
    /// On B, world axes, N.
    pub friction: DVec3,
    /// What it does.
    pub mark: ContactMark,
    /// Coefficient of friction.
    pub mu: f64,
    /// Whether the normal force is the only one that goes with the motion.
    pub unique: Uniqueness,
}

/// Keeps the first of every two.
pub fn halve<T>(list: &mut Vec<T>) {
    let mut odd = false;
    list.retain(|_| {
        odd = !odd;
        odd
    });
}

/// The contacts of all frames.
#[derive(Clone, Debug, Default)]
pub struct ContactFrames {
    /// Those that are kept, strongest first where some are not.
    frames: Vec<Vec<ContactRecord>>,
    /// How many carried a force.
    counts: Vec<u32>,
    kept: usize,
}

impl ContactFrames {
    /// Adds a frame.
    pub fn push(&mut self, records: Vec<ContactRecord>) {
        self.counts.push(records.iter().filter(|record| record.normal_force > 0.0).count() as u32);
        self.kept += records.len();
        self.frames.push(records);
        if self.kept > 2 * MAX_RECORDS {
            self.thin();
        }
    }

    /// Removes the last frame.
    pub fn pop(&mut self) {
        self.counts.pop();
        self.kept -= self.frames.pop().map_or(0, |frame| frame.len());
    }

    /// Keeps every second frame.
    pub fn halve(&mut self) {
        halve(&mut self.frames);
        halve(&mut self.counts);
        self.kept = self.frames.iter().map(Vec::len).sum();
    }

    /// Keeps the strongest contacts of frames that have more than a share which fits all frames.
    fn thin(&mut self) {
        let (mut low, mut high) = (0usize, self.frames.iter().map(Vec::len).max().unwrap_or(0));
        while low < high {
            let middle = (low + high).div_ceil(2);
            let total: usize = self.frames.iter().map(|frame| frame.len().min(middle)).sum();
            if total <= MAX_RECORDS {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        for frame in self.frames.iter_mut().filter(|frame| frame.len() > low) {
            frame.sort_by(|a, b| b.normal_force.total_cmp(&a.normal_force));
            frame.truncate(low);
        }
        self.kept = self.frames.iter().map(Vec::len).sum();
    }

    /// The contacts as the viewer reads them.
    pub fn document(&self, grid: &Grid, arrays: &mut Arrays) -> Value {
        let mut whole = self.clone();
        if whole.kept > MAX_RECORDS {
            whole.thin();
        }
        let all = || whole.frames.iter().flatten();
        let mut ends = vec![0u32];
        for frame in &whole.frames {
            ends.push(ends.last().copied().unwrap_or(0) + frame.len() as u32);
        }
        let of = |pick: fn(&ContactRecord) -> f64| all().map(pick).collect::<Vec<f64>>();
        // Points of large bodies may be further away than all centres of mass: doubles, then.
        let counts = |k: usize| all().map(move |c| grid.count(c.point[k], k));
        let fits = (0..3).all(|k| counts(k).all(|n| i32::try_from(n).is_ok()));
        let point = |k: usize, arrays: &mut Arrays| match fits {
            true => arrays.words(&counts(k).map(|n| n as i32 as u32).collect::<Vec<_>>()),
            false => arrays.doubles(&all().map(|c| c.point[k] - grid.centre[k]).collect::<Vec<_>>()),
        };
        let normal = |k: usize| -> Vec<u16> { all().map(|c| direction(c.normal)[k] as u16).collect() };
        let unique = |c: &ContactRecord| match c.unique {
            Uniqueness::Unknown => (0, [0.0; 2]),
            Uniqueness::Unique => (1, [0.0; 2]),
            Uniqueness::Interval { least, largest } => (2, [least, largest]),
        };
        json!({
            "counts": arrays.words(&whole.counts), "ends": arrays.words(&ends),
            "a": arrays.words(&all().map(|c| c.bodies[0]).collect::<Vec<_>>()),
            "b": arrays.words(&all().map(|c| c.bodies[1]).collect::<Vec<_>>()),
            "number": arrays.halves(&all().map(|c| c.number).collect::<Vec<_>>()),
            "x": point(0, arrays), "y": point(1, arrays), "z": point(2, arrays),
            "nx": arrays.halves(&normal(0)), "ny": arrays.halves(&normal(1)), "nz": arrays.halves(&normal(2)),
            "force": arrays.singles(of(|c| c.normal_force).into_iter()),
            "fx": arrays.singles(of(|c| c.friction.x).into_iter()),
            "fy": arrays.singles(of(|c| c.friction.y).into_iter()),
            "fz": arrays.singles(of(|c| c.friction.z).into_iter()),
            "mu": arrays.singles(of(|c| c.mu).into_iter()),
            "mode": arrays.small(&all().map(|c| c.mark as u8).collect::<Vec<_>>()),
            "unique": arrays.small(&all().map(|c| unique(c).0).collect::<Vec<_>>()),
            "least": arrays.singles(all().map(|c| unique(c).1[0])),
            "largest": arrays.singles(all().map(|c| unique(c).1[1])),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Grid = Grid { centre: DVec3::ZERO, quantum: 1.0 };

    fn record(force: f64) -> ContactRecord {
        ContactRecord {
            bodies: [0, 1],
            number: 0,
            point: DVec3::ZERO,
            normal: DVec3::Z,
            normal_force: force,
            friction: DVec3::ZERO,
            mark: ContactMark::Stick,
            mu: 0.5,
            unique: Uniqueness::Unknown,
        }
    }

    #[test]
    fn too_many_contacts_leave_the_strongest_and_their_count() {
        let mut frames = ContactFrames::default();
        let count = MAX_RECORDS / 10;
        for _ in 0..40 {
            frames.push((0..count).map(|i| record(i as f64)).collect());
        }
        frames.push(vec![record(1.0)]);
        let mut arrays = Arrays::default();
        let document = frames.document(&UNIT, &mut arrays);
        let kept = document["a"]["length"].as_u64().unwrap() as usize;
        assert!(kept <= MAX_RECORDS && kept > MAX_RECORDS / 2, "{kept}");
        // The weakest of each carries nothing: it is open.
        assert_eq!(frames.counts[0] as usize, count - 1);
        assert_eq!(frames.frames[0][0].normal_force, (count - 1) as f64);
        assert_eq!(frames.frames[40].len(), 1);
    }

    #[test]
    fn points_that_are_too_far_away_are_doubles() {
        for (x, kind) in [(2e9, "u32"), (-3e9, "f64"), (1e300, "f64")] {
            let mut frames = ContactFrames::default();
            frames.push(vec![ContactRecord { point: DVec3::new(0.0, x, 0.0), ..record(1.0) }]);
            let document = frames.document(&UNIT, &mut Arrays::default());
            assert!(["x", "y", "z"].iter().all(|key| document[key]["type"] == kind), "{x}: {document}");
        }
    }

    #[test]
    fn every_second_frame_is_left_and_the_last_one_goes() {
        let mut frames = ContactFrames::default();
        for n in 0..5 {
            frames.push(vec![record(1.0); n]);
        }
        frames.halve();
        assert_eq!((frames.counts.clone(), frames.kept), (vec![0, 2, 4], 6));
        frames.pop();
        assert_eq!((frames.counts.clone(), frames.kept), (vec![0, 2], 2));
    }
}
