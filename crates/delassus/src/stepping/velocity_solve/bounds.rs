//! Rows with a bound on their force: motors, servos and dry friction in joints.
//!
//! ```text
//! u_i = 0 ,  |r_i| ≤ c_i     or     r_i = ∓c_i ,  ±u_i ≥ 0 ,     c_i = h (f_i + μ_i ‖load of the joint‖)
//! ```
//!
//! A servo has u_i + c r_i + b_i = 0 between its bounds. A round solves with the rows below their bounds as
//! bilateral ones and the others as known impulses; after it rows go to their bounds and back, and bounds
//! follow the loads of their joints. What the last round ends with is checked by code that shares nothing
//! with this search.

use super::SolveInput;
use super::joint_loads::least_norm_loads;
use crate::stepping::row_targets::RowTarget;
use crate::world::{Row, RowKind, Rows, row_mobility, row_velocity};

/// From these rounds on a bound that follows its load goes only a part of the way to the next: where the load
/// falls as the friction grows, whole steps go to and fro about the bound that both agree on.
const DAMPED_BOUNDS: [(usize, f64); 3] = [(40, 0.05), (24, 0.2), (8, 0.5)];
/// Up to these rounds a secant takes it there, where what the load asks for grows by less than this part of
/// the bound.
const SECANT_ROUNDS: usize = 24;
const MAX_SECANT_SLOPE: f64 = 0.99;
/// An impulse that is given reaches its bound from this part of it on: where it does not, that costs a round.
const REACHED_RATIO: f64 = 1.0 - 1e-6;
/// A bound that follows the load of its joint has converged when it changes by less than this part of itself,
/// times the tolerance.
const BOUND_TOLERANCE_RATIO: f64 = 0.1;
/// Velocities below this part of what forces changed are rounding.
const VELOCITY_ROUNDING: f64 = 1e-13;

/// Where the rows of joints stand, in memory that is kept.
#[derive(Default)]
pub(super) struct BoundedRows {
    /// Per row, below its bound (0) or at it (±1).
    side: Vec<i8>,
    /// The bound on its impulse; infinite where there is none.
    bound: Vec<f64>,
    /// A bound at which a late round solved, and the one that its loads asked for; not numbers before.
    tried: Vec<[f64; 2]>,
}

impl BoundedRows {
    /// Rows begin where the impulses given have them: at their bounds or below. Whether there are bounds.
    pub(super) fn begin(&mut self, input: &SolveInput<'_>, impulse: &[f64]) -> bool {
        let SolveInput { rows, duration, .. } = *input;
        self.side.clear();
        self.bound.clear();
        let may_have_bounds = |row: &Row| matches!(row.kind, RowKind::Bounded { .. } | RowKind::Servo { .. });
        if !rows.rows.iter().any(may_have_bounds) {
            self.side.resize(rows.rows.len(), 0);
            self.bound.resize(rows.rows.len(), f64::INFINITY);
            return false;
        }
        self.tried.clear();
        self.tried.resize(rows.rows.len(), [f64::NAN; 2]);
        let mut any = false;
        for (i, row) in rows.rows.iter().enumerate() {
            let (mut bound, mut side) = (force_bound(&row.kind, 0.0) * duration, 0);
            if matches!(row.kind, RowKind::Bounded { .. }) {
                any = true;
                let load = joint_load(rows, row, impulse);
                bound = force_bound(&row.kind, load / duration.max(f64::MIN_POSITIVE)) * duration;
                let reached = bound > 0.0 && impulse[i].abs() >= REACHED_RATIO * bound;
                side = if reached { impulse[i].signum() as i8 } else { 0 };
            }
            if let Some([low, high]) = servo_bounds(input, i) {
                any = true;
                let near = |bound: f64| {
                    bound != 0.0 && (impulse[i] - bound).abs() <= (1.0 - REACHED_RATIO) * bound.abs()
                };
                side = if near(high) { 1 } else { -i8::from(near(low)) };
            }
            self.side.push(side);
            self.bound.push(bound);
        }
        any
    }

    /// The impulse of a row that acts and is no unknown: a given one, or its bound.
    pub(super) fn known(&self, input: &SolveInput<'_>, i: usize) -> Option<f64> {
        match (input.targets.joints[i], self.side[i]) {
            (RowTarget::Impulse(r), _) => Some(r),
            (RowTarget::Velocity { .. }, side) if side != 0 => Some(f64::from(side) * self.bound[i]),
            (RowTarget::Compliant { .. }, side) if side != 0 => {
                servo_bounds(input, i).map(|bounds| bounds[usize::from(side > 0)])
            }
            _ => None,
        }
    }

    /// The target of a row whose impulse is an unknown: b and the compliance c.
    pub(super) fn unknown(&self, input: &SolveInput<'_>, i: usize) -> Option<(f64, f64)> {
        if input.tree.is_some_and(|tree| tree.holds(i)) {
            return None;
        }
        match input.targets.joints[i] {
            RowTarget::Velocity { bias } if self.side[i] == 0 => Some((bias, 0.0)),
            RowTarget::Compliant { bias, compliance } if self.side[i] == 0 => Some((bias, compliance)),
            _ => None,
        }
    }

    /// Takes all rows from their bounds; where they were.
    pub(super) fn release(&mut self) -> Vec<i8> {
        let none = vec![0; self.side.len()];
        std::mem::replace(&mut self.side, none)
    }

    /// Where rows are.
    pub(super) fn restore(&mut self, sides: Vec<i8>) {
        self.side = sides;
    }

    /// Bounds on the impulses of rows that are unknowns, in their order.
    pub(super) fn ranges(
        &self,
        input: &SolveInput<'_>,
        unknown: impl Fn(usize) -> bool,
        ranges: &mut Vec<[f64; 2]>,
    ) {
        ranges.clear();
        let unknown = (0..input.rows.rows.len()).filter(|&i| unknown(i));
        ranges.extend(unknown.map(|i| {
            let own = [-self.bound[i], self.bound[i]];
            servo_bounds(input, i).unwrap_or(own)
        }));
    }

    /// The side of an impulse within a range; the one given where there is no room.
    pub(super) fn side_in(r: f64, [low, high]: [f64; 2], otherwise: i8) -> i8 {
        match () {
            () if low == high => otherwise,
            () if r >= high => 1,
            () => -i8::from(r <= low),
        }
    }

    /// Lets bounded rows go to their bounds and back after a round, which led from the velocities `before` to
    /// `v`; whether one did.
    pub(super) fn update(
        &mut self,
        input: &SolveInput<'_>,
        row_impulse: &[f64],
        [before, v]: [&[f64]; 2],
        round: usize,
    ) -> bool {
        let SolveInput { masses, rows, duration, targets, .. } = *input;
        let mut changed = false;
        let damped = DAMPED_BOUNDS.iter().find(|(from, _)| round >= *from).map(|(_, part)| *part);
        let shared = shared_loads(input, row_impulse);
        let loads = shared.as_deref().unwrap_or(row_impulse);
        for (i, row) in rows.rows.iter().enumerate() {
            changed |= self.update_servo(input, i, row_impulse[i], v);
            let (RowKind::Bounded { .. }, RowTarget::Velocity { bias }) = (row.kind, targets.joints[i])
            else {
                continue;
            };
            let load = joint_load(rows, row, loads);
            let now = force_bound(&row.kind, load / duration.max(f64::MIN_POSITIVE)) * duration;
            let settled = BOUND_TOLERANCE_RATIO * input.options.tolerance * (now + self.bound[i]);
            changed |= self.side[i] != 0 && (now - self.bound[i]).abs() > settled;
            self.bound[i] = match damped {
                Some(part) if self.side[i] != 0 => self.next_bound(i, now, part, round),
                _ => now,
            };
            let r = row_impulse[i];
            if self.side[i] == 0 && r.abs() > now {
                self.side[i] = if r > 0.0 { 1 } else { -1 };
                changed = true;
            } else if self.side[i] != 0 {
                // At its bound a force opposes the motion that it could not stop.
                let u = row_velocity(rows, i, masses, v) + bias;
                // Another row that holds the same motion leaves rounding of what both have stopped.
                let before = row_velocity(rows, i, masses, before) + bias;
                let stopped = before.abs() + now * row_mobility(rows, row, masses);
                if u * f64::from(self.side[i]) > VELOCITY_ROUNDING * stopped {
                    self.side[i] = 0;
                    changed = true;
                }
            }
        }
        changed
    }

    /// The next bound of a row whose loads ask for `now`: where the line through this and the one before
    /// meets what it asks for, as long as such steps may lead there soon; later a part of the way.
    fn next_bound(&mut self, i: usize, now: f64, part: f64, round: usize) -> f64 {
        let bound = self.bound[i];
        let [x, y] = std::mem::replace(&mut self.tried[i], [bound, now]);
        let slope = (now - y) / (bound - x);
        let next = bound + (now - bound) / (1.0 - slope);
        // NaN is no slope.
        let meets = slope < MAX_SECANT_SLOPE && next >= 0.0;
        if round < SECANT_ROUNDS && meets { next } else { bound + part * (now - bound) }
    }

    /// Lets a servo go to a bound of its force or back; whether it did.
    fn update_servo(&mut self, input: &SolveInput<'_>, i: usize, r: f64, v: &[f64]) -> bool {
        let Some([low, high]) = servo_bounds(input, i) else { return false };
        let RowTarget::Compliant { bias, compliance } = input.targets.joints[i] else { return false };
        let side = match self.side[i] {
            0 => i8::from(r > high) - i8::from(r < low),
            at => {
                // What it would push with, were it not limited.
                let free = -(row_velocity(input.rows, i, input.masses, v) + bias) / compliance;
                let within = if at > 0 { free < high } else { free > low };
                if within { 0 } else { at }
            }
        };
        std::mem::replace(&mut self.side[i], side) != side
    }
}

/// The bounds on the impulse of a servo that pushes back by a compliance; `None` for other rows.
pub(super) fn servo_bounds(input: &SolveInput<'_>, i: usize) -> Option<[f64; 2]> {
    match (input.rows.rows[i].kind, input.targets.joints[i]) {
        (RowKind::Servo { range, .. }, RowTarget::Compliant { .. }) => {
            range.iter().any(|f| f.is_finite()).then(|| range.map(|f| f * input.duration))
        }
        _ => None,
    }
}

/// Loads of joints where redundant rows share them; `None` where impulses are the loads.
pub(super) fn shared_loads(input: &SolveInput<'_>, row_impulse: &[f64]) -> Option<Vec<f64>> {
    let mut loads = least_norm_loads(input, row_impulse)?;
    loads.iter_mut().zip(input.stress).for_each(|(r, z)| *r += z);
    Some(loads)
}

/// The load of the joint of a row with these impulses of all rows; zero where its bound does not follow it.
fn joint_load(rows: &Rows, row: &Row, impulse: &[f64]) -> f64 {
    if !matches!(row.kind, RowKind::Bounded { per_load, .. } if per_load != 0.0) {
        return 0.0;
    }
    let own = rows.rows.iter().zip(impulse).filter(|(other, _)| other.joint == row.joint);
    own.map(|(row, r)| (row.load * r).powi(2)).sum::<f64>().sqrt()
}

/// The largest force of a row of a joint under a load.
fn force_bound(kind: &RowKind, load: f64) -> f64 {
    match kind {
        RowKind::Bounded { force, per_load } => force + per_load * load,
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::input;
    use super::*;
    use crate::stepping::model::fixtures::*;
    use crate::stepping::options::StepOptions;
    use crate::stepping::row_targets::RowTargets;
    use crate::world::ActionKind;

    const H: f64 = 0.01;

    /// What happens to the last row of a slider, of this kind and with this target: of a ball of 2 kg on a
    /// guide, whose other rows are bilateral and load the joint with their impulses.
    fn with_row(kind: RowKind, target: RowTarget, test: impl FnOnce(&SolveInput<'_>, usize)) {
        let motor = ActionKind::Speed { target: formula("0"), force: 1.0 };
        let (world, mut state) = slider(motor, 0.5, 0.0);
        let (model, on) = linearized(world, &mut state, StepOptions::default(), H);
        let mut rows = on.joint_rows().clone();
        let last = rows.bilateral;
        rows.rows[last].kind = kind;
        let mut joints = vec![RowTarget::Velocity { bias: 0.0 }; last];
        joints.push(target);
        let targets = RowTargets { joints, ..RowTargets::default() };
        test(&SolveInput { rows: &rows, tree: None, ..input(&model, &on, &targets, H) }, last);
    }

    fn along(u: f64) -> [f64; 6] {
        [0.0, 0.0, u, 0.0, 0.0, 0.0]
    }

    #[test]
    fn a_row_goes_to_its_bound_and_leaves_it_when_the_motion_stops() {
        // 50 N for 0.01 s.
        let kind = RowKind::Bounded { force: 50.0, per_load: 0.0 };
        with_row(kind, RowTarget::Velocity { bias: 0.0 }, |input, i| {
            let mut bounds = BoundedRows::default();
            let mut r = vec![0.0; i + 1];
            assert!(bounds.begin(input, &r));
            assert_eq!((bounds.known(input, i), bounds.unknown(input, i)), (None, Some((0.0, 0.0))));
            // Within the bound, and just beyond it.
            r[i] = -0.499;
            assert!(!bounds.update(input, &r, [&along(1.0), &along(0.0)], 0));
            r[i] = -0.501;
            assert!(bounds.update(input, &r, [&along(1.0), &along(0.0)], 0));
            assert_eq!((bounds.known(input, i), bounds.unknown(input, i)), (Some(-0.5), None));
            // It opposes a motion that goes on, and not one that it would turn back.
            r[i] = -0.5;
            assert!(!bounds.update(input, &r, [&along(1.0), &along(0.75)], 1));
            assert!(bounds.update(input, &r, [&along(0.1), &along(-0.15)], 2));
            assert_eq!(bounds.known(input, i), None);
        });
    }

    #[test]
    fn a_row_begins_where_its_impulse_was() {
        let kind = RowKind::Bounded { force: 50.0, per_load: 0.0 };
        with_row(kind, RowTarget::Velocity { bias: 0.0 }, |input, i| {
            let mut bounds = BoundedRows::default();
            let mut r = vec![0.0; i + 1];
            for (given, known) in [(0.5, Some(0.5)), (-0.5, Some(-0.5)), (0.49, None), (0.0, None)] {
                r[i] = given;
                bounds.begin(input, &r);
                assert_eq!(bounds.known(input, i), known, "{given}");
                let mut ranges = vec![];
                bounds.ranges(input, |row| row == i, &mut ranges);
                assert_eq!(ranges, [[-0.5, 0.5]]);
            }
            r[i] = 0.5;
            bounds.begin(input, &r);
            let sides = bounds.release();
            assert_eq!(bounds.known(input, i), None);
            bounds.restore(sides);
            assert_eq!(bounds.known(input, i), Some(0.5));
        });
    }

    #[test]
    fn a_bound_follows_the_load_of_its_joint_and_more_slowly_in_late_rounds() {
        // μ = 0.5 of a load of 3 and 4 N s in two of the directions that the guide holds.
        let kind = RowKind::Bounded { force: 0.0, per_load: 0.5 };
        with_row(kind, RowTarget::Velocity { bias: 0.0 }, |input, i| {
            let held: Vec<usize> = (0..i).filter(|&k| input.rows.rows[k].load == 1.0).collect();
            assert_eq!(held.len(), 2);
            let mut r = vec![0.0; i + 1];
            (r[held[0]], r[held[1]]) = (3.0, -4.0);
            let mut bounds = BoundedRows::default();
            bounds.begin(input, &r);
            r[i] = 3.0;
            assert!(bounds.update(input, &r, [&along(-3.0), &along(-1.0)], 0));
            assert!((bounds.known(input, i).unwrap() - 2.5).abs() < 1e-14);
            // The load doubles: half of the way in round 8, a fifth in round 24.
            (r[held[0]], r[held[1]]) = (6.0, -8.0);
            assert!(bounds.update(input, &r, [&along(-3.0), &along(-1.0)], 8));
            assert!((bounds.known(input, i).unwrap() - 3.75).abs() < 1e-14);
            assert!(bounds.update(input, &r, [&along(-3.0), &along(-1.0)], 24));
            assert!((bounds.known(input, i).unwrap() - 4.0).abs() < 1e-14);
        });
    }

    #[test]
    fn a_servo_holds_its_compliance_between_the_ends_of_its_range() {
        // −20 to 30 N for 0.01 s; u + 2 r − 1 = 0 between.
        let kind = RowKind::Servo { stiffness: 1.0, damping: 1.0, push: 0.0, range: [-20.0, 30.0] };
        with_row(kind, RowTarget::Compliant { bias: -1.0, compliance: 2.0 }, |input, i| {
            let mut bounds = BoundedRows::default();
            let mut r = vec![0.0; i + 1];
            assert!(bounds.begin(input, &r));
            assert_eq!(bounds.unknown(input, i), Some((-1.0, 2.0)));
            r[i] = 0.31;
            assert!(bounds.update(input, &r, [&along(0.0), &along(0.2)], 0));
            assert!((bounds.known(input, i).unwrap() - 0.3).abs() < 1e-15);
            // At 0.2 m/s it would push with 0.4 N s, at 0.5 m/s with 0.25.
            r[i] = 0.3;
            assert!(!bounds.update(input, &r, [&along(0.0), &along(0.2)], 1));
            assert!(bounds.update(input, &r, [&along(0.0), &along(0.5)], 2));
            r[i] = -0.21;
            assert!(bounds.update(input, &r, [&along(0.0), &along(1.4)], 3));
            assert!((bounds.known(input, i).unwrap() + 0.2).abs() < 1e-15);
        });
    }

    #[test]
    fn the_side_of_an_impulse_is_that_of_the_end_it_has_reached() {
        let range = [-2.0, 3.0];
        let sides = [-2.1, -2.0, -1.9, 2.9, 3.0, 3.1].map(|r| BoundedRows::side_in(r, range, 7));
        assert_eq!(sides, [-1, -1, 0, 0, 1, 1]);
        // A range without room says nothing.
        assert_eq!(BoundedRows::side_in(0.0, [0.0; 2], -1), -1);
    }
}
