//! Moves bodies the least distance that closes all joints and brings them within their limits.
//!
//! ```text
//! min Σ over bodies of |x − x₀|² + θ·(I/m) θ   subject to   g(q, t) = 0 ,   l(q) ≥ 0 ,   θ the rotation vector from q₀ to q
//! ```
//!
//! The distance of a body is the root mean square of how far its mass points move, so that the answer does
//! not depend on units or on which body is heavy. First the method of Levenberg and Marquardt closes the
//! joints,
//!
//! ```text
//! y = −Jᵀ (J Jᵀ + μ)⁻¹ g ,   μ ∼ |g|
//! ```
//!
//! with J in the coordinates of that distance and its rows, with their g, scaled to length one. With this μ
//! it converges fast also where rows are redundant and J has full rank only off the solutions. Then steps
//! along the null space of J lead back towards q₀ while that helps. Limits l that are broken there become
//! bilateral, and are released where they pull: those with λ < 0 in q − q₀ = Jᵀ λ.

use delassus_solve::linalg::{RowSpace, norm};
use glam::{DQuat, DVec3};
use thiserror::Error;

use super::joint_rows::{joint_rows, joint_values, update_joint_coordinates};
use super::mobility::{Island, RANK_TOLERANCE, islands, islands_of};
use super::rows::Rows;
use super::{Body, World, WorldState};

/// What is left of g, as a part of the size of the mechanism.
const TOLERANCE: f64 = 1e-12;
/// What may be left where nothing brings it down: numbers of a file with six digits contradict each other by
/// so much in loops that are redundant.
const ROUNDED_FILE_TOLERANCE: f64 = 1e-6;
/// Singular values of rows that are solved with, above this part of the largest. Damping takes care of the
/// small ones.
const SOLVED_RANK: f64 = 1e-13;
/// Rotation of a body in one step, rad.
const MAX_ROTATION: f64 = 0.5;

/// Loops that are closed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Closure {
    /// How far the body moved that moved most: root mean square over its mass points, m.
    pub moved: f64,
    /// Steps taken.
    pub iterations: usize,
    /// The largest |g| left, m or rad.
    pub error: f64,
}

/// Loops that cannot be closed from where they are.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum CloseError {
    /// No small motion brings the joints nearer to being closed.
    #[error("the loops cannot close: joint `{joint}` is open by {gap:.3e} at best")]
    Open {
        /// The joint that is furthest open where all together are nearest to being closed.
        joint: String,
        /// How far, m or rad.
        gap: f64,
    },
    /// A value is not a finite number, e.g. that of a drive at this time.
    #[error("the position of joint `{joint}` is not a finite number")]
    NotFinite {
        /// The joint.
        joint: String,
    },
}

/// How far a state is from what its joints ask.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Opening {
    /// The largest |g| of bilateral rows, m or rad.
    pub joints: f64,
    /// The joint that is furthest beyond a limit or the length of a rope, and by how much, m or rad.
    pub limit: Option<(usize, f64)>,
}

/// How far joints are open and beyond their limits at a state.
pub fn opening(world: &World, state: &WorldState) -> Opening {
    let mut all = Rows::default();
    joint_rows(world, state, 1.0, &mut all);
    let (bilateral, others) = all.rows.split_at(all.bilateral);
    let joints = bilateral.iter().fold(0.0, |e, row| row.value.abs().max(e));
    let mut found = Opening { joints, limit: None };
    for row in others[..all.limits].iter().filter(|row| row.value < 0.0) {
        if found.limit.is_none_or(|(_, most)| -row.value > most) {
            found.limit = Some((row.joint as usize, -row.value));
        }
    }
    found
}

/// Moves the bodies of a state the least that closes all joints and keeps all limits; velocities stay as they
/// are. Rows between fixed bodies must be closed already. On an error the state is as it was.
pub fn close_loops(world: &World, state: &mut WorldState) -> Result<Closure, CloseError> {
    let given = state.clone();
    update_joint_coordinates(world, state);
    let start = state.clone();
    let mut work = Work { world, rows: Rows::default(), g: Vec::new(), active_limits: Vec::new() };
    let result = work.close_within_limits(&start, state);
    if result.is_err() {
        *state = given;
    }
    result
}

/// Changes the velocities of a state the least, in kinetic energy, so that all bilateral rows have velocity
/// zero. Returns the largest remaining velocity of a row, which is above rounding only where drives
/// contradict each other.
pub fn project_velocities(world: &World, state: &mut WorldState) -> f64 {
    let mut all_rows = Rows::default();
    joint_rows(world, state, 1.0, &mut all_rows);
    for island in islands(world, &all_rows) {
        let weights = |b: usize| root_mass(&world.bodies[b], world.bodies[b].mass).map(f64::recip);
        let (j, lengths) = island.unit_rows(&all_rows, weights);
        let u: Vec<f64> =
            island.rows.iter().zip(&lengths).map(|(&i, l)| -velocity(&all_rows, i, state) / l).collect();
        let y = damped(&j.row_space_with(RANK_TOLERANCE), &u, 0.0);
        for (k, &b) in island.bodies.iter().enumerate() {
            let w = weights(b);
            let v: [f64; 6] = std::array::from_fn(|c| w[c] * y[6 * k + c]);
            state.bodies[b].velocity += DVec3::new(v[0], v[1], v[2]);
            state.bodies[b].angular_velocity += DVec3::new(v[3], v[4], v[5]);
        }
    }
    (0..all_rows.bilateral).fold(0.0, |m, i| velocity(&all_rows, i, state).abs().max(m))
}

/// Velocity of a row, its rate included.
fn velocity(all_rows: &Rows, row: usize, state: &WorldState) -> f64 {
    let row = &all_rows.rows[row];
    let terms = all_rows.blocks_of(row).iter().map(|&(b, j)| {
        let body = &state.bodies[b as usize];
        DVec3::new(j[0], j[1], j[2]).dot(body.velocity)
            + DVec3::new(j[3], j[4], j[5]).dot(body.angular_velocity)
    });
    terms.sum::<f64>() + row.rate
}

/// √ of the diagonal of the mass matrix, for this mass and the radii of gyration of the body.
fn root_mass(body: &Body, mass: f64) -> [f64; 6] {
    let m = mass.sqrt();
    let i = (body.inertia * (mass / body.mass)).map(f64::sqrt);
    [m, m, m, i.x, i.y, i.z]
}

/// V σ/(σ² + μ) Uᵀ b on the leading triplets.
fn damped(space: &RowSpace, b: &[f64], mu: f64) -> Vec<f64> {
    let mut c = space.column_basis.tr_mul_vec(b);
    for (k, c) in c.iter_mut().enumerate() {
        let s = space.singular_values[k];
        *c *= s / (s * s + mu);
    }
    space.basis.mul_vec(&c)
}

struct Work<'a> {
    world: &'a World,
    rows: Rows,
    g: Vec<f64>,
    /// Limits that count as bilateral, by their rows, ascending.
    active_limits: Vec<usize>,
}

impl Work<'_> {
    /// Linearizes the rows at a state.
    fn linearize(&mut self, state: &WorldState) -> Result<(), CloseError> {
        joint_rows(self.world, state, 1.0, &mut self.rows);
        let (bilateral, limits) = (self.rows.bilateral, self.rows.limits);
        match self.rows.rows[..bilateral + limits].iter().find(|row| !row.value.is_finite()) {
            Some(row) => {
                Err(CloseError::NotFinite { joint: self.world.joints[row.joint as usize].name.clone() })
            }
            None => Ok(()),
        }
    }

    /// Sum of squares of the values at a state, each over the length of its row in these spaces.
    fn merit(&mut self, state: &WorldState, islands: &[Island], spaces: &[(RowSpace, Vec<f64>)]) -> f64 {
        joint_values(self.world, state, &mut self.g);
        let square = |(&i, length): (&usize, &f64)| (self.g[i] / length).powi(2);
        let of = |(island, (_, lengths)): (&Island, &(RowSpace, Vec<f64>))| {
            island.rows.iter().zip(lengths).map(square).sum::<f64>()
        };
        islands.iter().zip(spaces).map(of).sum()
    }

    /// Whether all rows are closed to rounding.
    fn closed(&self, state: &WorldState) -> bool {
        self.closed_within(state, TOLERANCE)
    }

    /// Whether all rows are closed to a part of the size of the mechanism.
    fn closed_within(&self, state: &WorldState, tolerance: f64) -> bool {
        let size = size(self.world, state);
        self.bilateral_rows()
            .map(|i| &self.rows.rows[i])
            .all(|row| row.value.abs() <= tolerance * if row.load > 0.0 { size } else { size.max(1.0) })
    }

    /// The bilateral rows of joints, and the active limits.
    fn bilateral_rows(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        (0..self.rows.bilateral).chain(self.active_limits.iter().copied())
    }

    fn islands(&self) -> Vec<Island> {
        islands_of(self.world, &self.rows, self.bilateral_rows())
    }

    /// Closes all joints from the start, with those limits active that bodies would pass and that push them
    /// back.
    fn close_within_limits(
        &mut self,
        start: &WorldState,
        state: &mut WorldState,
    ) -> Result<Closure, CloseError> {
        let mut iterations = 0;
        let mut released: Vec<usize> = Vec::new();
        loop {
            iterations += self.close(state)?;
            iterations += self.shorten(start, state);
            self.linearize(state)?;
            let slack = TOLERANCE * size(self.world, state).max(1.0);
            let limits = self.rows.bilateral..self.rows.bilateral + self.rows.limits;
            let broken =
                limits.filter(|&i| self.rows.rows[i].value < -slack && !self.active_limits.contains(&i));
            let broken: Vec<usize> = broken.collect();
            // A limit that was released and is broken again stays active: each changes at most three times.
            let pulls = if broken.is_empty() { self.pulling(start, state, slack) } else { None };
            match pulls.filter(|i| !released.contains(i)) {
                Some(i) => {
                    released.push(i);
                    self.active_limits.retain(|&k| k != i);
                }
                None if broken.is_empty() => return self.finish(start, state, iterations),
                None => {
                    self.active_limits.extend(broken);
                    self.active_limits.sort_unstable();
                }
            }
        }
    }

    /// The active limit that pulls most, by more than a distance.
    fn pulling(&self, start: &WorldState, state: &WorldState, least: f64) -> Option<usize> {
        let mut most = (-least, None);
        for island in self.islands().iter().filter(|_| !self.active_limits.is_empty()) {
            let space = self.closed_space(island, size(self.world, state));
            // −λ of q₀ − q = −Jᵀ λ
            let mut c = space.basis.tr_mul_vec(&self.displacement_back(start, state, island));
            c.iter_mut().zip(&space.singular_values).for_each(|(c, s)| *c /= s);
            let pull = space.column_basis.mul_vec(&c);
            for (&i, &pull) in island.rows.iter().zip(&pull).filter(|(i, _)| self.active_limits.contains(i)) {
                if -pull < most.0 {
                    most = (-pull, Some(i));
                }
            }
        }
        most.1
    }

    /// Moves the bodies of an island by a factor times y, in the coordinates of the distance.
    fn step(&self, state: &mut WorldState, island: &Island, y: &[f64], factor: f64) {
        for (k, &b) in island.bodies.iter().enumerate() {
            let w = root_mass(&self.world.bodies[b], 1.0);
            let q: [f64; 6] = std::array::from_fn(|c| factor * y[6 * k + c] / w[c]);
            let pose = &mut state.bodies[b].pose;
            pose.position += DVec3::new(q[0], q[1], q[2]);
            let rotation = DQuat::from_scaled_axis(DVec3::new(q[3], q[4], q[5]));
            pose.rotation = (pose.rotation * rotation).normalize();
        }
    }

    fn largest_rotation(&self, island: &Island, y: &[f64]) -> f64 {
        let rotation = |(k, &b): (usize, &usize)| {
            let w = root_mass(&self.world.bodies[b], 1.0);
            norm(&[y[6 * k + 3] / w[3], y[6 * k + 4] / w[4], y[6 * k + 5] / w[5]])
        };
        island.bodies.iter().enumerate().map(rotation).fold(0.0, f64::max)
    }

    /// The space of the rows of an island, each of length one, and their lengths.
    fn space(&self, island: &Island, rank_tolerance: f64) -> (RowSpace, Vec<f64>) {
        let weights = |b: usize| root_mass(&self.world.bodies[b], 1.0).map(f64::recip);
        let (j, lengths) = island.unit_rows(&self.rows, weights);
        (j.row_space_with(rank_tolerance), lengths)
    }

    /// The same where the rows are closed. What is left of them lets a loop that moves look as if it could
    /// not: rows that depend on each other where they are closed differ by as much as that.
    fn closed_space(&self, island: &Island, size: f64) -> RowSpace {
        let left = |i: &usize| self.rows.rows[*i].value.abs() / size;
        let left = island.rows.iter().map(left).fold(0.0, f64::max);
        self.space(island, RANK_TOLERANCE.max(10.0 * left)).0
    }

    /// Closes all joints from a state near by; returns the number of steps.
    fn close(&mut self, state: &mut WorldState) -> Result<usize, CloseError> {
        self.linearize(state)?;
        let islands = self.islands();
        let mut extra = 1.0;
        for iteration in 0..300 {
            if self.closed(state) {
                return Ok(iteration);
            }
            let spaces: Vec<_> = islands.iter().map(|island| self.space(island, SOLVED_RANK)).collect();
            let before = self.merit(state, &islands, &spaces);
            let (mut progress, mut stalls) = (false, true);
            for _ in 0..12 {
                let mut trial = state.clone();
                for (island, (space, lengths)) in islands.iter().zip(&spaces) {
                    let g = island.rows.iter().zip(lengths).map(|(&i, l)| -self.rows.rows[i].value / l);
                    let g: Vec<f64> = g.collect();
                    // Rows have length one, so that singular values are about one and g is a distance.
                    let relative = norm(&g) / size(self.world, state);
                    let y = damped(space, &g, 0.01 * extra * relative.min(1.0));
                    let rotation = self.largest_rotation(island, &y);
                    self.step(&mut trial, island, &y, (MAX_ROTATION / rotation).min(1.0));
                }
                update_joint_coordinates(self.world, &mut trial);
                let after = self.merit(&trial, &islands, &spaces);
                if after < before {
                    progress = after < before * (1.0 - 1e-7);
                    stalls = after > 0.25 * before;
                    *state = trial;
                    extra = (extra * 0.1).max(1.0);
                    break;
                }
                extra *= 10.0;
            }
            self.linearize(state)?;
            // Numbers that contradict each other leave what nothing brings down.
            if !progress || stalls && self.closed_within(state, ROUNDED_FILE_TOLERANCE) {
                break;
            }
        }
        if self.closed_within(state, ROUNDED_FILE_TOLERANCE) { Ok(300) } else { Err(self.open()) }
    }

    /// Moves along the closed positions towards the start while that brings it nearer; returns the number of
    /// steps.
    fn shorten(&mut self, start: &WorldState, state: &mut WorldState) -> usize {
        let mut steps = 0;
        let mut away = self.distance_squared(start, state);
        let rest = self.bilateral_rows().fold(0.0_f64, |m, i| m.max(self.rows.rows[i].value.abs()));
        let tolerance = (1e-9 * size(self.world, state)).max(rest).powi(2);
        for _ in 0..60 {
            let (mut tangential_steps, mut length) = (Vec::new(), 0.0);
            for island in self.islands() {
                let space = self.closed_space(&island, size(self.world, state));
                let back = self.displacement_back(start, state, &island);
                // The component of the displacement in the null space of the rows.
                let seen = space.basis.mul_vec(&space.basis.tr_mul_vec(&back));
                let y: Vec<f64> = back.iter().zip(&seen).map(|(b, s)| b - s).collect();
                length += y.iter().map(|x| x * x).sum::<f64>();
                tangential_steps.push((island, y));
            }
            if length <= tolerance.max(1e-16 * away) {
                break;
            }
            let nearer = [1.0, 0.5, 0.25, 0.125].into_iter().find_map(|factor| {
                let mut trial = state.clone();
                for (island, y) in &tangential_steps {
                    let rotation = self.largest_rotation(island, y);
                    self.step(&mut trial, island, y, factor * (MAX_ROTATION / rotation).min(1.0));
                }
                let more = self.close(&mut trial).ok()?;
                let now = self.distance_squared(start, &trial);
                (now < away).then_some((trial, now, more + 1))
            });
            let Some((trial, now, more)) = nearer else { break };
            (*state, away) = (trial, now);
            steps += more;
        }
        steps
    }

    /// From the state to the start, in the coordinates of the distance.
    fn displacement_back(&self, start: &WorldState, state: &WorldState, island: &Island) -> Vec<f64> {
        let mut out = Vec::with_capacity(6 * island.bodies.len());
        for &b in &island.bodies {
            let w = root_mass(&self.world.bodies[b], 1.0);
            let (to, from) = (start.bodies[b].pose, state.bodies[b].pose);
            let shift = (to.position - from.position).to_array();
            let mut rotation = from.rotation.conjugate() * to.rotation;
            if rotation.w < 0.0 {
                rotation = -rotation;
            }
            let rotation = rotation.to_scaled_axis().to_array();
            out.extend((0..3).map(|c| w[c] * shift[c]));
            out.extend((0..3).map(|c| w[3 + c] * rotation[c]));
        }
        out
    }

    fn distance_squared(&self, start: &WorldState, state: &WorldState) -> f64 {
        let bodies = (0..self.world.bodies.len()).filter(|&b| !self.world.bodies[b].fixed);
        bodies.map(|b| self.distance_of(start, state, b).powi(2)).sum()
    }

    fn distance_of(&self, start: &WorldState, state: &WorldState, body: usize) -> f64 {
        norm(&self.displacement_back(start, state, &Island { bodies: vec![body], rows: Vec::new() }))
    }

    fn finish(
        &mut self,
        start: &WorldState,
        state: &mut WorldState,
        iterations: usize,
    ) -> Result<Closure, CloseError> {
        update_joint_coordinates(self.world, state);
        self.linearize(state)?;
        if !self.closed_within(state, ROUNDED_FILE_TOLERANCE) {
            return Err(self.open());
        }
        let bodies = (0..self.world.bodies.len()).filter(|&b| !self.world.bodies[b].fixed);
        let moved = bodies.map(|b| self.distance_of(start, state, b)).fold(0.0, f64::max);
        let error = self.bilateral_rows().fold(0.0_f64, |m, i| m.max(self.rows.rows[i].value.abs()));
        Ok(Closure { moved, iterations, error })
    }

    /// The joint that is furthest open, by the length of its values.
    fn open(&self) -> CloseError {
        let mut gaps = vec![0.0; self.world.joints.len()];
        for row in self.bilateral_rows().map(|i| &self.rows.rows[i]) {
            gaps[row.joint as usize] += row.value * row.value;
        }
        let worst = (0..gaps.len()).max_by(|&a, &b| gaps[a].total_cmp(&gaps[b])).unwrap_or(0);
        CloseError::Open { joint: self.world.joints[worst].name.clone(), gap: gaps[worst].sqrt() }
    }
}

/// The size of the mechanism: the largest coordinate of a body or distance of a joint from the centre of its
/// body.
fn size(world: &World, state: &WorldState) -> f64 {
    let joints = world.joints.iter().flat_map(|j| j.bodies.into_iter().zip(j.frames));
    let extent = |(b, frame): (usize, crate::world::Pose)| {
        state.bodies[b].pose.position.length().max(frame.position.length())
    };
    let size = joints.map(extent).fold(0.0, f64::max);
    if size > 0.0 { size } else { 1.0 }
}
