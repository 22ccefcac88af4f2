//! Reduced coordinates: the velocities that a tree of joints allows.
//!
//! ```text
//! v = v_p + J z ,   G v_p = −b ,   G J = 0 ,   Jᵀ M J = Lᵀ L ,   y = L z
//! ```
//!
//! G has the bilateral rows of the joints in the tree, b their targets, z one entry per free motion. Each
//! body that moves is a link, carried by one joint or by none. The twist ξ = (V, Ω) of a link, in world axes
//! and about one point per tree, is that of its parent and what its joint adds:
//!
//! ```text
//! ξ = ξ_parent + Σ s_i z_i + Σ d_j c_j ,   g_j·s_i = 0 ,   g_j·d_k = δ_jk
//! ```
//!
//! s_i are the free motions of the joint, d_j the motion that changes bilateral row j alone; d_j also gives
//! the force of row j from the wrench that the joint transmits. Jᵀ M J is assembled from composite rigid-body
//! inertias and factorized as Lᵀ L from the leaves to the roots, without fill-in (Featherstone). In y the
//! mass matrix is the identity. Springs and dampers of joints are terms of it (`factor.rs`). Source: 001 §5.

mod factor;
mod joint_motions;

use std::sync::Arc;

use glam::{DMat3, DVec3};

use super::joint_frames::Frames;
use super::masses::{FIXED_SLOT, Masses};
use super::{Joint, JointKind, Rows, World, WorldState};
use joint_motions::motions_of;

pub use factor::{CompliantRow, TreeFactor};

/// No link, no motion.
const NONE: u32 = u32::MAX;
/// Rows that are reduced at once: those of a contact.
pub const MAX_ROWS_AT_ONCE: usize = 3;

/// A body that moves and the joint that carries it.
#[derive(Clone, Copy, Debug)]
struct Link {
    body: u32,
    /// The link that carries it; the world or nothing where there is none.
    parent: u32,
    /// The first link of its tree.
    root: u32,
    /// The joint, and which of its bodies this is.
    joint: u32,
    side: u32,
    /// Its free motions, as a range.
    motions: [u32; 2],
    /// Its locked rows among those of all links, as a range.
    locked: [u32; 2],
    /// The last free motion of this link and those that carry it.
    last_motion: u32,
}

/// Which joint carries each body.
#[derive(Debug)]
pub struct Tree {
    /// A link comes after the one that carries it.
    links: Vec<Link>,
    /// The link of each slot, and the one that each joint carries.
    of_slot: Vec<u32>,
    of_joint: Vec<u32>,
    /// Per free motion the one that moves it, and where its row of L begins: the entries of itself, of the
    /// one that moves it, and so on.
    mover: Vec<u32>,
    row_start: Vec<u32>,
}

/// How many motions a joint of a tree locks; `None` for joints that are not part of trees.
fn locked_count(joint: &Joint) -> Option<usize> {
    let count = joint.kind.locked().iter().filter(|locked| **locked).count();
    match joint.kind {
        JointKind::Screw { .. } => Some(count + 1),
        _ => (count > 0).then_some(count),
    }
}

impl Tree {
    /// The tree of a world: joints that lock much before those that lock little. `None` where no joint
    /// carries a body.
    pub fn new(world: &World, masses: &Masses) -> Option<Tree> {
        let mut tree = Tree {
            links: Vec::new(),
            of_slot: vec![NONE; masses.mass.len() / 6],
            of_joint: vec![NONE; world.joints.len()],
            mover: Vec::new(),
            row_start: vec![0],
        };
        let slot = |body: usize| masses.slot[body];
        let moving = |body: usize| slot(body) != FIXED_SLOT;
        let mut joints: Vec<(usize, usize)> = (world.joints.iter().enumerate())
            .filter_map(|(j, joint)| Some((j, locked_count(joint)?)))
            .collect();
        joints.sort_by_key(|&(j, locked)| (std::cmp::Reverse(locked), j));
        let mut any = false;
        for body in (0..world.bodies.len()).filter(|&body| moving(body)) {
            // From what is fixed and what is in a tree already, as far as joints lead.
            loop {
                let carried = |tree: &Tree, b: usize| !moving(b) || tree.of_slot[slot(b) as usize] != NONE;
                let next = joints.iter().find_map(|&(j, locked)| {
                    let [a, b] = world.joints[j].bodies.map(|b| carried(&tree, b));
                    (a != b).then_some((j, locked, u32::from(a)))
                });
                let Some((j, locked, side)) = next else { break };
                let bodies = world.joints[j].bodies;
                let carrier = slot(bodies[1 - side as usize]);
                let parent = if carrier == FIXED_SLOT { NONE } else { tree.of_slot[carrier as usize] };
                let child = bodies[side as usize];
                tree.add(child, slot(child), parent, (j as u32, side), locked);
                any = true;
            }
            if tree.of_slot[slot(body) as usize] == NONE {
                tree.add(body, slot(body), NONE, (NONE, 0), 0);
            }
        }
        any.then_some(tree)
    }

    fn add(&mut self, body: usize, slot: u32, parent: u32, (joint, side): (u32, u32), locked: usize) {
        let index = self.links.len() as u32;
        let before = self.links.get(parent as usize);
        let first = self.mover.len() as u32;
        let mut last_motion = before.map_or(NONE, |p| p.last_motion);
        for motion in first..first + 6 - locked as u32 {
            let moved_by = if last_motion == NONE { 0 } else { self.row_length(last_motion) };
            self.mover.push(last_motion);
            self.row_start.push(self.row_start[motion as usize] + moved_by + 1);
            last_motion = motion;
        }
        let rows = self.links.last().map_or(0, |link| link.locked[1]);
        self.links.push(Link {
            body: body as u32,
            parent,
            root: before.map_or(index, |p| p.root),
            joint,
            side,
            motions: [first, self.mover.len() as u32],
            locked: [rows, rows + locked as u32],
            last_motion,
        });
        self.of_slot[slot as usize] = index;
        if joint != NONE {
            self.of_joint[joint as usize] = index;
        }
    }

    fn row_length(&self, motion: u32) -> u32 {
        self.row_start[motion as usize + 1] - self.row_start[motion as usize]
    }

    /// Number of free motions.
    pub fn motions(&self) -> usize {
        self.mover.len()
    }
}

/// Mass, mass times centre, and inertia about the point of a tree.
#[derive(Clone, Copy, Debug)]
struct Inertia {
    mass: f64,
    moment: DVec3,
    about: DMat3,
}

/// A twist (V, Ω) or a wrench (force, moment) about the point of a tree, world axes.
type Twist = [DVec3; 2];

fn pair(a: &Twist, b: &Twist) -> f64 {
    a[0].dot(b[0]) + a[1].dot(b[1])
}

fn add(to: &mut Twist, factor: f64, by: &Twist) {
    to[0] += factor * by[0];
    to[1] += factor * by[1];
}

/// The motions of a tree at a state.
#[derive(Clone, Debug)]
pub struct TreeBasis {
    tree: Arc<Tree>,
    /// s_i.
    free: Vec<Twist>,
    /// d_j, and the row of the joints that it belongs to.
    locked: Vec<Twist>,
    locked_row: Vec<u32>,
    /// Per row of joints, whether it is one of the tree.
    in_tree: Vec<bool>,
    /// Per link the centre of mass from the point of its tree, and its rotation.
    arm: Vec<DVec3>,
    rotation: Vec<DMat3>,
    inertia: Vec<Inertia>,
    /// Jᵀ M J, by the same rows as L, and L without compliant rows.
    mass: TreeFactor,
    factor: TreeFactor,
}

/// Memory of sums over a tree.
#[derive(Default)]
pub struct TreeScratch {
    twists: Vec<Twist>,
    /// Zero between calls.
    rows: Vec<[f64; MAX_ROWS_AT_ONCE]>,
    paths: Vec<u32>,
}

impl TreeBasis {
    /// Without numbers yet.
    pub fn new(tree: Arc<Tree>) -> Self {
        let (links, motions) = (tree.links.len(), tree.motions());
        let rows = tree.links.last().map_or(0, |link| link.locked[1]) as usize;
        let none = Inertia { mass: 0.0, moment: DVec3::ZERO, about: DMat3::ZERO };
        TreeBasis {
            free: vec![[DVec3::ZERO; 2]; motions],
            locked: vec![[DVec3::ZERO; 2]; rows],
            locked_row: vec![0; rows],
            in_tree: Vec::new(),
            arm: vec![DVec3::ZERO; links],
            rotation: vec![DMat3::IDENTITY; links],
            inertia: vec![none; links],
            mass: TreeFactor::new(&tree),
            factor: TreeFactor::new(&tree),
            tree,
        }
    }

    /// Number of free motions.
    pub fn motions(&self) -> usize {
        self.tree.motions()
    }

    /// Whether a row has the same entries in the motions of another state.
    pub fn has_motions_of(&self, other: &TreeBasis) -> bool {
        Arc::ptr_eq(&self.tree, &other.tree)
            && self.free == other.free
            && self.mass == other.mass
            && self.arm == other.arm
            && self.rotation == other.rotation
    }

    /// Takes over what [`TreeBasis::has_motions_of`] compares, of a state of the same tree or of another one.
    pub fn clone_motions_from(&mut self, other: &TreeBasis) {
        self.tree.clone_from(&other.tree);
        self.free.clone_from(&other.free);
        self.mass.clone_from(&other.mass);
        self.arm.clone_from(&other.arm);
        self.rotation.clone_from(&other.rotation);
    }

    /// Whether the motions of the tree are independent.
    pub fn is_regular(&self) -> bool {
        self.factor.is_regular()
    }

    /// Jᵀ M J.
    pub fn mass(&self) -> &TreeFactor {
        &self.mass
    }

    /// L without compliant rows.
    pub fn factor(&self) -> &TreeFactor {
        &self.factor
    }

    /// Whether a row of a joint holds by itself.
    pub fn holds(&self, row: usize) -> bool {
        self.in_tree[row]
    }

    /// The motions at a state with these rows of joints.
    pub fn renew(&mut self, world: &World, state: &WorldState, rows: &Rows) {
        self.find_rows(rows);
        let tree = self.tree.clone();
        for (k, link) in tree.links.iter().enumerate() {
            let root = tree.links[link.root as usize].body as usize;
            let point = state.bodies[root].pose.position;
            let pose = state.bodies[link.body as usize].pose;
            let body = &world.bodies[link.body as usize];
            let (arm, rotation) = (pose.position - point, DMat3::from_quat(pose.rotation));
            (self.arm[k], self.rotation[k]) = (arm, rotation);
            let central = rotation * DMat3::from_diagonal(body.inertia) * rotation.transpose();
            let outer = DMat3::from_cols(arm * arm.x, arm * arm.y, arm * arm.z);
            let steiner = DMat3::from_diagonal(DVec3::splat(arm.length_squared())) - outer;
            self.inertia[k] =
                Inertia { mass: body.mass, moment: body.mass * arm, about: central + body.mass * steiner };
            let [from, to] = link.motions.map(|m| m as usize);
            let free = &mut self.free[from..to];
            if link.joint == NONE {
                for (i, s) in free.iter_mut().enumerate() {
                    let axis = DVec3::AXES[i % 3];
                    *s = if i < 3 { [axis, DVec3::ZERO] } else { [arm.cross(axis), axis] };
                }
                continue;
            }
            let joint = &world.joints[link.joint as usize];
            let last = state.coordinates.get(link.joint as usize).copied().unwrap_or(0.0);
            let own;
            let frames = match rows.frames.get(link.joint as usize) {
                Some(frames) => frames,
                None => {
                    own = Frames::new(joint, state);
                    &own
                }
            };
            let [from, to] = link.locked.map(|m| m as usize);
            let sign = if link.side == 0 { -1.0 } else { 1.0 };
            // The origin of B, about which the functions of a joint have their moments.
            let origin = arm + frames.arm[link.side as usize];
            motions_of(joint, frames, last, free, &mut self.locked[from..to]);
            for s in free {
                s[0] -= s[1].cross(origin);
            }
            for d in &mut self.locked[from..to] {
                d[0] -= d[1].cross(origin);
                *d = d.map(|part| sign * part);
            }
        }
        self.mass.set_mass(&mut self.inertia, &tree, &self.free);
        self.factor.clone_from(&self.mass);
        self.factor.eliminate(&tree);
    }

    /// Which rows of joints are those of the tree: the first ones of its joints.
    fn find_rows(&mut self, rows: &Rows) {
        if self.in_tree.len() == rows.rows.len() {
            return;
        }
        self.in_tree.clear();
        self.in_tree.resize(rows.rows.len(), false);
        for link in self.tree.links.iter().filter(|link| link.joint != NONE) {
            let first = rows.rows[..rows.bilateral].iter().position(|row| row.joint == link.joint);
            for (k, j) in (link.locked[0]..link.locked[1]).enumerate() {
                let row = first.unwrap_or(0) + k;
                self.locked_row[j as usize] = row as u32;
                self.in_tree[row] = true;
            }
        }
    }

    /// Adds the velocities of links with these twists to `v`.
    fn add_velocities(&self, masses: &Masses, twists: &[Twist], v: &mut [f64]) {
        for (k, (link, [along, about])) in self.tree.links.iter().zip(twists).enumerate() {
            let at = 6 * masses.slot[link.body as usize] as usize;
            let velocity = *along + about.cross(self.arm[k]);
            let angular = self.rotation[k].transpose() * *about;
            for c in 0..3 {
                v[at + c] += velocity[c];
                v[at + 3 + c] += angular[c];
            }
        }
    }

    /// The wrench on a link that six numbers per body, in its axes, are.
    fn wrench(&self, link: usize, p: &[f64]) -> Twist {
        let force = DVec3::from_slice(&p[..3]);
        let moment = self.rotation[link] * DVec3::from_slice(&p[3..6]);
        [force, self.arm[link].cross(force) + moment]
    }

    /// Wrenches of the links by six numbers per body, each with those of the links that it carries.
    fn carried(&self, masses: &Masses, p: &[f64], wrenches: &mut Vec<Twist>) {
        wrenches.clear();
        wrenches.extend(
            self.tree
                .links
                .iter()
                .enumerate()
                .map(|(k, link)| self.wrench(k, &p[6 * masses.slot[link.body as usize] as usize..])),
        );
        for (k, link) in self.tree.links.iter().enumerate().rev() {
            if link.parent != NONE {
                let of_link = wrenches[k];
                add(&mut wrenches[link.parent as usize], 1.0, &of_link);
            }
        }
    }

    /// v_p: velocities with which row j of the tree has the velocity −`bias`(j). Whether they are not zero.
    pub fn particular(
        &self,
        masses: &Masses,
        bias: impl Fn(usize) -> f64,
        scratch: &mut TreeScratch,
        v: &mut Vec<f64>,
    ) -> bool {
        v.clear();
        v.resize(masses.mass.len(), 0.0);
        if self.locked_row.iter().all(|row| bias(*row as usize) == 0.0) {
            return false;
        }
        let twists = &mut scratch.twists;
        twists.clear();
        for link in &self.tree.links {
            let mut twist = twists.get(link.parent as usize).copied().unwrap_or([DVec3::ZERO; 2]);
            for j in link.locked[0] as usize..link.locked[1] as usize {
                add(&mut twist, -bias(self.locked_row[j] as usize), &self.locked[j]);
            }
            twists.push(twist);
        }
        self.add_velocities(masses, twists, v);
        true
    }

    /// Jᵀ p of the momenta p, six per body.
    pub fn project(&self, masses: &Masses, p: &[f64], scratch: &mut TreeScratch, y: &mut Vec<f64>) {
        self.carried(masses, p, &mut scratch.twists);
        y.clear();
        for (link, wrench) in self.tree.links.iter().zip(&scratch.twists) {
            y.extend((link.motions[0]..link.motions[1]).map(|i| pair(&self.free[i as usize], wrench)));
        }
    }

    /// y = L⁻ᵀ f in the place of f = Jᵀ p.
    pub fn reduce(&self, factor: &TreeFactor, y: &mut [f64]) {
        factor.solve_transposed(&self.tree, y);
    }

    /// v ← v + J L⁻¹ y; y becomes z.
    pub fn add_motion(
        &self,
        factor: &TreeFactor,
        masses: &Masses,
        y: &mut [f64],
        scratch: &mut TreeScratch,
        v: &mut [f64],
    ) {
        factor.solve(&self.tree, y);
        let twists = &mut scratch.twists;
        twists.clear();
        for link in &self.tree.links {
            let mut twist = twists.get(link.parent as usize).copied().unwrap_or([DVec3::ZERO; 2]);
            for i in link.motions[0] as usize..link.motions[1] as usize {
                add(&mut twist, y[i], &self.free[i]);
            }
            twists.push(twist);
        }
        self.add_velocities(masses, twists, v);
    }

    /// The entries (motion, values) of L⁻ᵀ Jᵀ h of rows h on the same bodies, with their blocks (slot, six
    /// entries each), last motion first.
    pub fn reduce_rows<'a, const N: usize>(
        &self,
        factor: &TreeFactor,
        blocks: impl IntoIterator<Item = (u32, [&'a [f64; 6]; N])>,
        scratch: &mut TreeScratch,
        mut emit: impl FnMut(usize, [f64; N]),
    ) {
        const { assert!(N <= MAX_ROWS_AT_ONCE) };
        let TreeScratch { rows, paths, .. } = scratch;
        rows.resize(self.motions(), [0.0; MAX_ROWS_AT_ONCE]);
        // The motions that move these bodies, last ones first: the paths to the roots, merged.
        paths.clear();
        for (slot, blocks) in blocks {
            let mut k = self.tree.of_slot[slot as usize];
            let wrenches = blocks.map(|block| self.wrench(k as usize, block));
            paths.push(self.tree.links[k as usize].last_motion);
            while k != NONE {
                let link = &self.tree.links[k as usize];
                for i in link.motions[0] as usize..link.motions[1] as usize {
                    let (row, free) = (&mut rows[i], &self.free[i]);
                    (0..N).for_each(|n| row[n] += pair(free, &wrenches[n]));
                }
                k = link.parent;
            }
        }
        // No motion wraps around to zero.
        while let Some(i) = paths.iter().map(|i| i.wrapping_add(1)).max().and_then(|i| i.checked_sub(1)) {
            let entries = factor.row(&self.tree, i as usize);
            let row = std::mem::take(&mut rows[i as usize]);
            let values: [f64; N] = std::array::from_fn(|n| row[n] / entries[0]);
            let mover = self.tree.mover[i as usize];
            let mut j = mover;
            for entry in &entries[1..] {
                let row = &mut rows[j as usize];
                (0..N).for_each(|n| row[n] -= entry * values[n]);
                j = self.tree.mover[j as usize];
            }
            emit(i as usize, values);
            paths.iter_mut().filter(|path| **path == i).for_each(|path| *path = mover);
        }
    }

    /// Impulses of the rows of the tree that give bodies the momenta p, six per body, into `impulse`.
    pub fn reactions(&self, masses: &Masses, p: &[f64], scratch: &mut TreeScratch, impulse: &mut [f64]) {
        self.carried(masses, p, &mut scratch.twists);
        for (link, wrench) in self.tree.links.iter().zip(&scratch.twists) {
            for j in link.locked[0] as usize..link.locked[1] as usize {
                impulse[self.locked_row[j] as usize] = pair(&self.locked[j], wrench);
            }
        }
    }
}
