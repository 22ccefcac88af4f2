//! Which rows of joints are redundant.
//!
//! ```text
//! J_i = Σ c_k J_k over other rows k   ⟺   the part of J_i outside of their span, in the metric of M⁻¹, is zero
//! ```
//!
//! J_i is a bilateral row of a joint: six entries per body that moves, or, in reduced coordinates, what is
//! left of it there, L⁻ᵀ Jᵀ J_i, which has the length of its part outside of the span of the tree. Joints are
//! taken one after the other, the farthest row of each first. Impulses of rows that depend on each other are
//! not unique (004 §6).
//!
//! The part outside of a span is found by reflections, each of which takes a row that is kept to one motion:
//!
//! ```text
//! Q_k … Q_1 J_i = (motions that are taken, the part outside) ,   Q_k = 1 − v_k v_kᵀ ,   |v_k|² = 2
//! ```
//!
//! v_k has entries only at motions that the row moves and that are not yet taken, and only reflections that
//! share a motion with a row act on it: N loops in a row cost N times what one costs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::world::{Masses, Rows, TreeBasis, TreeScratch};

/// A row of unit length that is closer than this to a combination of others is redundant.
const MAX_REDUNDANT_LENGTH: f64 = 1e-7;
/// The same while a singular position is passed. What such a row asks beside the others is a motion a
/// thousand times as fast as it is open, and inertia keeps the bodies on their way for the time in which the
/// row is left out.
const MAX_PASSED_LENGTH: f64 = 1e-3;
/// No entry.
const NONE: u32 = u32::MAX;

/// A row that may be redundant: which one, its joint, and where its entries end.
#[derive(Clone, Copy)]
struct Candidate {
    row: usize,
    joint: u32,
    end: usize,
}

/// Memory of the search for redundant rows.
#[derive(Default)]
pub(super) struct RedundancyScratch {
    candidates: Vec<Candidate>,
    /// Entries (motion, value) of the candidates, in parts of the length that each has in body coordinates.
    entries: Vec<(u32, f64)>,
    joint: JointRows,
    reflections: Reflections,
    tree: TreeScratch,
}

impl RedundancyScratch {
    /// Which of the bilateral rows follow from others: redundant, and left out. Their share of the load is
    /// one of many. Where a singular position is `passed`, rows that nearly do are left out too. The least
    /// length of a row that is kept outside of the span of others, as a part of its own: small near singular
    /// positions.
    pub(super) fn find(
        &mut self,
        masses: &Masses,
        rows: &Rows,
        tree: Option<&TreeBasis>,
        passed: bool,
        out: &mut Vec<bool>,
    ) -> f64 {
        let least = if passed { MAX_PASSED_LENGTH } else { MAX_REDUNDANT_LENGTH };
        out.clear();
        out.resize(rows.rows.len(), false);
        self.candidates.clear();
        self.entries.clear();
        for i in (0..rows.bilateral).filter(|&i| tree.is_none_or(|tree| !tree.holds(i))) {
            self.add_candidate(masses, rows, tree, i);
        }
        let motions = tree.map_or(masses.mass.len(), TreeBasis::motions);
        let RedundancyScratch { candidates, entries, joint, reflections, .. } = self;
        reflections.begin(motions, entries);
        let (mut first_entry, mut independence) = (0, 1.0_f64);
        for own in candidates.chunk_by(|a, b| a.joint == b.joint) {
            let end = own[own.len() - 1].end;
            joint.load(motions, own, entries, first_entry);
            entries[first_entry..end].iter().for_each(|(i, _)| reflections.uses[*i as usize] -= 1);
            independence = independence.min(joint.keep_independent(reflections, own, least, out));
            first_entry = end;
        }
        independence
    }

    fn add_candidate(&mut self, masses: &Masses, rows: &Rows, tree: Option<&TreeBasis>, i: usize) {
        let RedundancyScratch { candidates, entries, tree: scratch, .. } = self;
        let row = &rows.rows[i];
        let blocks = rows.blocks_of(row).iter().map(|(body, block)| (masses.slot[*body as usize], block));
        let mut square = 0.0;
        for (slot, block) in blocks.clone() {
            let at = 6 * slot as usize;
            square += (0..6).map(|c| block[c] * block[c] * masses.inverse[at + c]).sum::<f64>();
        }
        let scale = if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 };
        let mut add = |motion: usize, value: f64| {
            if value != 0.0 {
                entries.push((motion as u32, scale * value));
            }
        };
        match tree {
            Some(tree) => {
                let blocks = blocks.map(|(slot, block)| (slot, [block]));
                tree.reduce_rows(tree.factor(), blocks, scratch, |motion, [value]| add(motion, value));
            }
            None => {
                for (slot, block) in blocks {
                    let at = 6 * slot as usize;
                    (0..6).for_each(|c| add(at + c, block[c] * masses.inverse[at + c].sqrt()));
                }
            }
        }
        candidates.push(Candidate { row: i, joint: row.joint, end: entries.len() });
    }
}

/// The rows of one joint over all motions.
#[derive(Default)]
struct JointRows {
    /// Entries by motion, one row after the other; zero beside the support.
    dense: Vec<f64>,
    motions: usize,
    /// The motions at which they have entries.
    support: Vec<u32>,
    is_in: Vec<bool>,
    /// The length of each row outside of the span; less than zero once the row is kept.
    outside: Vec<f64>,
}

impl JointRows {
    /// Takes the rows of a joint, whose entries begin at a place.
    fn load(&mut self, motions: usize, own: &[Candidate], entries: &[(u32, f64)], first: usize) {
        if self.motions != motions {
            self.dense.clear();
            self.is_in.clear();
            self.is_in.resize(motions, false);
            self.motions = motions;
        } else {
            for &i in &self.support {
                self.is_in[i as usize] = false;
                self.dense.iter_mut().skip(i as usize).step_by(motions).for_each(|x| *x = 0.0);
            }
        }
        self.support.clear();
        if self.dense.len() < own.len() * motions {
            self.dense.resize(own.len() * motions, 0.0);
        }
        self.outside.clear();
        self.outside.resize(own.len(), 0.0);
        let mut from = first;
        for (k, candidate) in own.iter().enumerate() {
            for &(i, value) in &entries[from..candidate.end] {
                self.dense[k * motions + i as usize] = value;
                self.reach(i);
            }
            from = candidate.end;
        }
    }

    /// Adds a motion to the support.
    fn reach(&mut self, motion: u32) {
        if !std::mem::replace(&mut self.is_in[motion as usize], true) {
            self.support.push(motion);
        }
    }

    /// Reflects the rows that are kept, the farthest first, each to one motion; the others, which are less
    /// than a length outside of the span of these, are redundant. The least length of those that are kept.
    fn keep_independent(
        &mut self,
        reflections: &mut Reflections,
        own: &[Candidate],
        least: f64,
        out: &mut [bool],
    ) -> f64 {
        let mut independence = 1.0;
        reflections.apply_all(self);
        for k in 0..own.len() {
            self.outside[k] = self.length(reflections, k);
        }
        while let Some(best) =
            (0..own.len()).max_by(|&a, &b| self.outside[a].total_cmp(&self.outside[b]).then(b.cmp(&a)))
        {
            if self.outside[best] < least {
                break;
            }
            independence = self.outside[best].min(independence);
            let start = reflections.add(self, best);
            self.outside[best] = -1.0;
            for k in 0..own.len() {
                if self.outside[k] >= 0.0 {
                    reflections.apply(start, self.row_mut(k));
                    self.outside[k] = self.length(reflections, k);
                }
            }
        }
        let redundant = own.iter().zip(&self.outside).filter(|(_, length)| **length >= 0.0);
        redundant.for_each(|(candidate, _)| out[candidate.row] = true);
        independence
    }

    fn row_mut(&mut self, k: usize) -> &mut [f64] {
        &mut self.dense[k * self.motions..(k + 1) * self.motions]
    }

    fn entry(&self, k: usize, motion: u32) -> f64 {
        self.dense[k * self.motions + motion as usize]
    }

    /// The length of a row at motions that are not taken.
    fn length(&self, reflections: &Reflections, k: usize) -> f64 {
        let open = self.support.iter().filter(|i| !reflections.taken[**i as usize]);
        open.map(|&i| self.entry(k, i).powi(2)).sum::<f64>().sqrt()
    }
}

/// The reflections Q_k, in the order in which they act.
#[derive(Default)]
struct Reflections {
    /// Entries of all v: the motion, its value, where v begins and ends, and the next entry at the motion.
    motion: Vec<u32>,
    value: Vec<f64>,
    range: Vec<[u32; 2]>,
    next: Vec<u32>,
    /// Per motion its first and its last entry, whether it is taken, and how many rows to come move it.
    first: Vec<u32>,
    last: Vec<u32>,
    taken: Vec<bool>,
    uses: Vec<u32>,
    /// Entries at which reflections to come share a motion with a row.
    ahead: BinaryHeap<Reverse<u32>>,
}

impl Reflections {
    /// No reflections yet, of rows with these entries.
    fn begin(&mut self, motions: usize, entries: &[(u32, f64)]) {
        self.motion.clear();
        self.value.clear();
        self.range.clear();
        self.next.clear();
        for list in [&mut self.first, &mut self.last] {
            list.clear();
            list.resize(motions, NONE);
        }
        self.taken.clear();
        self.taken.resize(motions, false);
        self.uses.clear();
        self.uses.resize(motions, 0);
        entries.iter().for_each(|(i, _)| self.uses[*i as usize] += 1);
    }

    /// Applies the reflection whose entries begin at a place.
    fn apply(&self, start: u32, x: &mut [f64]) {
        let [from, to] = self.range[start as usize].map(|i| i as usize);
        let v = || self.motion[from..to].iter().zip(&self.value[from..to]);
        let along: f64 = v().map(|(&i, v)| v * x[i as usize]).sum();
        v().for_each(|(&i, v)| x[i as usize] -= along * v);
    }

    /// Applies all reflections that share a motion with the rows of a joint, or with one that does.
    fn apply_all(&mut self, rows: &mut JointRows) {
        let mut ahead = std::mem::take(&mut self.ahead);
        ahead.clear();
        let heads = rows.support.iter().map(|i| self.first[*i as usize]);
        ahead.extend(heads.filter(|entry| *entry != NONE).map(Reverse));
        while let Some(Reverse(entry)) = ahead.pop() {
            let [from, to] = self.range[entry as usize];
            while ahead.peek().is_some_and(|Reverse(other)| *other < to) {
                ahead.pop();
            }
            for k in 0..rows.outside.len() {
                self.apply(entry, rows.row_mut(k));
            }
            for entry in from as usize..to as usize {
                rows.reach(self.motion[entry]);
                if self.next[entry] != NONE {
                    ahead.push(Reverse(self.next[entry]));
                }
            }
        }
        self.ahead = ahead;
    }

    /// Adds the reflection that takes a row to one motion: the one that the fewest rows to come move. An
    /// entry of it.
    fn add(&mut self, rows: &JointRows, k: usize) -> u32 {
        let start = self.motion.len();
        for &i in rows.support.iter().filter(|i| !self.taken[**i as usize]) {
            let value = rows.entry(k, i);
            if value != 0.0 {
                self.motion.push(i);
                self.value.push(value);
            }
        }
        let end = self.motion.len();
        let fewest = (start..end).min_by_key(|&e| (self.uses[self.motion[e] as usize], self.motion[e]));
        let pivot = fewest.unwrap_or(start);
        let (x, length) = (self.value[pivot], rows.outside[k]);
        self.value[pivot] += length.copysign(x);
        let scale = 1.0 / (length * (length + x.abs())).sqrt();
        self.value[start..].iter_mut().for_each(|v| *v *= scale);
        self.taken[self.motion[pivot] as usize] = true;
        for entry in start..end {
            let motion = self.motion[entry] as usize;
            match self.last[motion] {
                NONE => self.first[motion] = entry as u32,
                last => self.next[last as usize] = entry as u32,
            }
            self.last[motion] = entry as u32;
            self.next.push(NONE);
            self.range.push([start as u32, end as u32]);
        }
        start as u32
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::model::fixtures::*;
    use super::*;
    use crate::stepping::options::{Coordinates, StepOptions};
    use crate::world::{ActionKind, Body, Joint, JointKind, Pose, World, WorldState};
    use glam::DVec3;

    /// Which rows of these joints between the frame and a ball are redundant.
    fn redundant(joints: Vec<Joint>) -> Vec<bool> {
        let (mut world, mut state) = slider(ActionKind::Force { force: formula("0") }, 0.5, 0.0);
        world.joints = joints;
        let (model, on) = linearized(world, &mut state, StepOptions::default(), 1e-3);
        let mut found = vec![true; 99];
        RedundancyScratch::default().find(&model.masses, on.joint_rows(), None, false, &mut found);
        found
    }

    /// A joint at this point of the ball, which is at (0, 0, 0.5).
    fn at_point(kind: JointKind, x: f64) -> Joint {
        let pose = |z: f64| Pose { position: DVec3::new(x, 0.0, z), ..Pose::IDENTITY };
        Joint::new("joint", kind, [0, 1], [pose(0.5), pose(0.0)])
    }

    #[test]
    fn rows_of_one_joint_are_independent_and_those_of_its_twin_follow() {
        assert_eq!(redundant(vec![at_point(JointKind::Revolute, 0.0)]), [false; 5]);
        let twice = redundant(vec![at_point(JointKind::Revolute, 0.0), at_point(JointKind::Revolute, 0.0)]);
        // Five rows twice; of equals the first is kept.
        assert_eq!(twice, [false, false, false, false, false, true, true, true, true, true]);
    }

    #[test]
    fn two_balls_share_the_row_along_their_line() {
        for distance in [1.0, 1e-3] {
            let found = redundant(vec![at_point(JointKind::Ball, 0.0), at_point(JointKind::Ball, distance)]);
            // Six rows leave the rotation about the line: rank 5. Along x the two say the same.
            assert_eq!(found, [false, false, false, true, false, false], "{distance}");
        }
    }

    #[test]
    fn what_differs_by_more_than_the_tolerance_is_kept() {
        // The rows of the second ball differ from those of the first by the distance over the radius of
        // gyration √(0.05/2).
        let rows = |distance: f64| {
            let found = redundant(vec![at_point(JointKind::Ball, 0.0), at_point(JointKind::Ball, distance)]);
            found.into_iter().filter(|redundant| *redundant).count()
        };
        assert_eq!((rows(1e-5), rows(1e-10)), (1, 3));
    }

    /// N four-bars in a row: cranks on the floor, joined at their tops.
    fn four_bars(n: usize) -> (World, WorldState) {
        let (mut world, mut state) = slider(ActionKind::Force { force: formula("0") }, 0.5, 0.0);
        let ball = world.bodies.pop().unwrap();
        let place = state.bodies.pop().unwrap();
        world.joints.clear();
        world.no_contact.clear();
        let mut add = |x: f64, y: f64| {
            world.bodies.push(Body { shapes: vec![], ..ball.clone() });
            let mut at = place;
            at.pose.position = DVec3::new(x, y, 0.0);
            state.bodies.push(at);
            world.bodies.len() - 1
        };
        let (mut cranks, mut couplers) = (vec![], vec![]);
        for i in 0..=n {
            cranks.push(add(i as f64, 0.5));
            couplers.push(add(i as f64 + 0.5, 1.0));
        }
        let at = |x: f64, y: f64| Pose { position: DVec3::new(x, y, 0.0), ..Pose::IDENTITY };
        let hinge = |bodies, poses| Joint::new("hinge", JointKind::Revolute, bodies, poses);
        for i in 0..=n {
            world.joints.push(hinge([0, cranks[i]], [at(i as f64, 0.0), at(0.0, -0.5)]));
            world.joints.push(hinge([cranks[i], couplers[i]], [at(0.0, 0.5), at(-0.5, 0.0)]));
            if i > 0 {
                world.joints.push(hinge([couplers[i - 1], cranks[i]], [at(0.5, 0.0), at(0.0, 0.5)]));
            }
        }
        (world, state)
    }

    #[test]
    fn a_row_of_loops_costs_as_much_as_it_has_loops() {
        for coordinates in [Coordinates::Reduced, Coordinates::Maximal] {
            let per_loop = |n: usize| {
                let (world, mut state) = four_bars(n);
                let options = StepOptions { coordinates, ..StepOptions::default() };
                let (model, on) = linearized(world, &mut state, options, 1e-3);
                let mut scratch = RedundancyScratch::default();
                let mut found = vec![];
                scratch.find(&model.masses, on.joint_rows(), on.tree(), false, &mut found);
                // Of five rows a planar loop needs two.
                assert_eq!(found.iter().filter(|redundant| **redundant).count(), 3 * n, "{coordinates:?}");
                scratch.reflections.motion.len() as f64 / n as f64
            };
            let few = per_loop(10);
            assert!(per_loop(100) < 1.2 * few, "{coordinates:?}: {few} and {}", per_loop(100));
        }
    }
}
