//! Motors that move to a position brake in time.
//!
//! ```text
//! d = u²/(2a) + ½h u ,   a = w F ∓ α ,   w = n·y ,   α = y·f ,   M y = n + Hᵀ r ,   H y = 0
//! ```
//!
//! d is the distance left and u the largest speed from which steps of length h, each slower by a h, end there. n is the row of
//! the motor (6 per body that moves), F the bound on its force, H the rows held and f the weights and given forces: y is how the
//! mechanism answers a unit impulse of the motor, w its mobility, and α what f does to the coordinate by itself.

use delassus_solve::linalg::Sparse;

use super::Stepper;
use super::joint_solve::JointsAlone;
use crate::world::{ActionKind, RowKind, way_to_target};

/// Rows held up to which the answer of the whole mechanism is taken.
const MOST_ROWS: usize = 200;
/// The least part of its strength with which a motor brakes where other forces leave it none.
const LEAST: f64 = 0.01;

impl Stepper {
    /// Lowers the speeds that motors with a bound on their force want on the way to a position.
    pub(super) fn brake_motors(&mut self, h: f64) {
        let world = self.world.clone();
        let is_motor =
            |kind: &ActionKind| matches!(kind, ActionKind::Speed { .. } | ActionKind::Position { .. });
        let brakes =
            |kind: &ActionKind| matches!(kind, ActionKind::Position { force, .. } if force.is_finite());
        for (j, joint) in world.joints.iter().enumerate() {
            if !joint.actions.iter().any(|action| brakes(&action.kind)) {
                continue;
            }
            // The motors of a joint come before its friction, in the order of its actions.
            let bounded = |i: &usize| {
                let row = &self.rows.rows[*i];
                row.joint as usize == j && matches!(row.kind, RowKind::Bounded { .. })
            };
            let places: Vec<usize> = (0..self.rows.rows.len()).filter(bounded).collect();
            for (action, i) in joint.actions.iter().filter(|action| is_motor(&action.kind)).zip(places) {
                let ActionKind::Position { target, force, speed } = &action.kind else { continue };
                if !force.is_finite() {
                    continue;
                }
                let [way, pace] = way_to_target(&world, &self.state, j, action.coordinate, target, h);
                let [w, alpha] = self.answer(i);
                let a = (w * force - alpha * way.signum()).max(LEAST * w * force);
                let u = -0.5 * a * h + (0.25 * (a * h).powi(2) + 2.0 * a * way.abs()).sqrt();
                let wanted = pace + (way / h).clamp(-u, u);
                if wanted.is_finite() {
                    self.rows.rows[i].rate = -wanted.clamp(-speed, *speed);
                }
            }
        }
    }

    /// How the coordinate of a row answers a unit force along it, and the weights and given forces: w and α.
    fn answer(&self, row: usize) -> [f64; 2] {
        let (masses, rows) = (&self.masses, &self.rows);
        let mut n = vec![0.0; masses.mass.len()];
        for (body, block) in rows.blocks_of(&rows.rows[row]) {
            let at = 6 * masses.slot[*body as usize] as usize;
            n[at..at + 6].copy_from_slice(block);
        }
        let held: Vec<usize> = (0..rows.held).filter(|&i| !self.redundant[i]).collect();
        let mut entries = vec![];
        for (column, &i) in held.iter().enumerate() {
            for (body, block) in rows.blocks_of(&rows.rows[i]) {
                let at = 6 * masses.slot[*body as usize] as usize;
                entries.extend((0..6).map(|c| (at + c, column, block[c])));
            }
        }
        // M y
        let mut push = n.clone();
        if !held.is_empty() && held.len() <= MOST_ROWS {
            let h = Sparse::from_triplets(n.len(), held.len(), &entries);
            let diagonal: Vec<_> = masses.mass.iter().enumerate().map(|(i, &m)| (i, i, m)).collect();
            let mut r = vec![];
            if JointsAlone::default().solve(&h, &diagonal, &n, &vec![0.0; held.len()], &mut r).is_some() {
                entries.iter().for_each(|&(i, column, x)| push[i] += x * r[column]);
            }
        }
        let mut accelerations = vec![];
        self.accelerations(&mut accelerations);
        let w = n.iter().zip(&push).zip(&masses.inverse).map(|((n, p), m)| n * p * m).sum();
        let alpha = push.iter().zip(&accelerations).map(|(p, a)| p * a).sum();
        [w, alpha]
    }
}
