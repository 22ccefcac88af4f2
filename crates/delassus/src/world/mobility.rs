//! The degrees of freedom of a mechanism, and which of its joint reactions are not unique.
//!
//! ```text
//! degrees of freedom = 6 N − rank J ,   redundant = m − rank J ,   J ∈ ℝ^(m × 6N) all bilateral rows
//! ```
//!
//! N is the number of moving bodies. Reactions λ and λ + z have the same effect if Jᵀ z = 0, so the reaction
//! of row i is unique exactly if every such z has zᵢ = 0. Both answers hold at the given state: a mechanism
//! has more freedom in a singular position than elsewhere. Groups of bodies that no joint connects are
//! decomposed separately.

use delassus_solve::linalg::{Matrix, UnionFind, norm};

use super::joint_rows::joint_rows;
use super::rows::Rows;
use super::{World, WorldState};

/// Singular values below this part of the largest count as zero. Rows and columns have comparable units when
/// they are compared; joints are closed to 1e-9 of the size of a mechanism or better, and as much moves its
/// singular values.
pub(super) const RANK_TOLERANCE: f64 = 1e-8;

/// What joints leave free.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mobility {
    /// Number of bilateral rows.
    pub rows: usize,
    /// How many of them are independent.
    pub rank: usize,
    /// Degrees of freedom, those of bodies without joints included.
    pub degrees_of_freedom: usize,
    /// Rows that follow from others.
    pub redundant: usize,
    /// Rows whose reaction is not unique, by their index in [`Rows`].
    pub rows_not_unique: Vec<usize>,
    /// Joints with such a row, by index.
    pub joints_not_unique: Vec<usize>,
}

/// The mobility of a world at a state.
pub fn mobility(world: &World, state: &WorldState) -> Mobility {
    let mut all_rows = Rows::default();
    joint_rows(world, state, 1.0, &mut all_rows);
    let bodies = world.bodies.iter().filter(|body| !body.fixed).count();
    let mut found = Mobility { rows: all_rows.bilateral, ..Mobility::default() };
    for island in islands(world, &all_rows) {
        let size = joint_size(world, &island.bodies);
        let (j, _) = island.unit_rows(&all_rows, |_| [1.0, 1.0, 1.0, 1.0 / size, 1.0 / size, 1.0 / size]);
        let space = j.row_space_with(RANK_TOLERANCE);
        found.rank += space.rank;
        for (k, &row) in island.rows.iter().enumerate() {
            // 1 − |part of the unit vector in R(J)|² = |part in N(Jᵀ)|², which rounding moves by 1e-15.
            let outside = 1.0 - space.column_basis.row(k).iter().map(|x| x * x).sum::<f64>();
            if outside > 1e-10 {
                found.rows_not_unique.push(row);
            }
        }
    }
    // Rows between fixed bodies constrain nothing that moves: any reaction satisfies them.
    let idle = (0..all_rows.bilateral).filter(|&i| all_rows.blocks_of(&all_rows.rows[i]).is_empty());
    found.rows_not_unique.extend(idle);
    found.rows_not_unique.sort_unstable();
    found.redundant = found.rows - found.rank;
    found.degrees_of_freedom = 6 * bodies - found.rank;
    found.joints_not_unique =
        found.rows_not_unique.iter().map(|&i| all_rows.rows[i].joint as usize).collect();
    found.joints_not_unique.sort_unstable();
    found.joints_not_unique.dedup();
    found
}

/// Bodies that rows connect, and the rows.
pub(super) struct Island {
    /// Bodies, none of them fixed.
    pub bodies: Vec<usize>,
    /// Bilateral rows.
    pub rows: Vec<usize>,
}

/// The bodies that are not fixed and have rows, in groups that no row connects, in the order of their first
/// body.
pub(super) fn islands(world: &World, all_rows: &Rows) -> Vec<Island> {
    islands_of(world, all_rows, 0..all_rows.bilateral)
}

/// The same for some of the rows.
pub(super) fn islands_of(
    world: &World,
    all_rows: &Rows,
    chosen: impl Iterator<Item = usize> + Clone,
) -> Vec<Island> {
    let mut sets = UnionFind::new(world.bodies.len());
    let mut touched = vec![false; world.bodies.len()];
    for i in chosen.clone() {
        let mut first = None;
        for &(body, _) in all_rows.blocks_of(&all_rows.rows[i]) {
            touched[body as usize] = true;
            sets.join(*first.get_or_insert(body as usize), body as usize);
        }
    }
    let mut place = vec![usize::MAX; world.bodies.len()];
    let mut out: Vec<Island> = Vec::new();
    for body in (0..world.bodies.len()).filter(|&b| touched[b]) {
        let r = sets.root(body);
        if place[r] == usize::MAX {
            place[r] = out.len();
            out.push(Island { bodies: Vec::new(), rows: Vec::new() });
        }
        out[place[r]].bodies.push(body);
    }
    for i in chosen {
        if let Some(&(body, _)) = all_rows.blocks_of(&all_rows.rows[i]).first() {
            out[place[sets.root(body as usize)]].rows.push(i);
        }
    }
    out
}

impl Island {
    /// The Jacobian of the bilateral rows with its columns times the weights of each body, its rows then
    /// scaled to length one, and the lengths they had.
    pub fn unit_rows(&self, all_rows: &Rows, weights: impl Fn(usize) -> [f64; 6]) -> (Matrix, Vec<f64>) {
        let mut j = Matrix::zeros(self.rows.len(), 6 * self.bodies.len());
        let mut lengths = Vec::with_capacity(self.rows.len());
        for (k, &i) in self.rows.iter().enumerate() {
            for &(body, block) in all_rows.blocks_of(&all_rows.rows[i]) {
                // Bodies of an island are in ascending order, and every row of it has its bodies in it.
                if let Ok(at) = self.bodies.binary_search(&(body as usize)) {
                    let w = weights(body as usize);
                    (0..6).for_each(|c| j[(k, 6 * at + c)] = block[c] * w[c]);
                }
            }
            let length = norm(j.row(k));
            if length > 0.0 {
                j.row_mut(k).iter_mut().for_each(|x| *x /= length);
            }
            lengths.push(if length > 0.0 { length } else { 1.0 });
        }
        (j, lengths)
    }
}

/// The largest distance of a joint from the centre of one of these bodies; 1 where all joints sit at centres.
fn joint_size(world: &World, bodies: &[usize]) -> f64 {
    let distance = |joint: &crate::world::joint::Joint| {
        let on = |i: usize| bodies.binary_search(&joint.bodies[i]).is_ok();
        (0..2).filter(|&i| on(i)).map(|i| joint.frames[i].position.length()).fold(0.0, f64::max)
    };
    let size = world.joints.iter().map(distance).fold(0.0, f64::max);
    if size > 0.0 { size } else { 1.0 }
}
