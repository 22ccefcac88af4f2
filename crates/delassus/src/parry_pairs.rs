//! What collision asks of parry: a tree of boxes, and contacts of shapes without a closed form. No other file knows parry.

use glam::DVec3;
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::partitioning::{Bvh, BvhWorkspace};

use crate::contact::Contact;
use crate::world::{Pose, ShapeKind};

/// A tree of boxes.
#[derive(Default)]
pub(crate) struct Tree {
    bvh: Bvh,
    workspace: BvhWorkspace,
}

impl Tree {
    /// Puts a box into the tree or moves it.
    pub fn put(&mut self, index: u32, [low, high]: [DVec3; 2]) {
        self.bvh.insert_or_update_partially(Aabb::new(low, high), index, 0.0);
    }

    /// All pairs of boxes that overlap, each once, after some were moved.
    pub fn pairs(&mut self, found: &mut impl FnMut(u32, u32)) {
        self.bvh.refit(&mut self.workspace);
        self.bvh.optimize_incremental(&mut self.workspace);
        self.bvh.traverse_bvtt_single_tree::<false>(&mut self.workspace, found);
    }
}

/// Shapes as parry knows them.
pub(crate) struct Solids {}

impl Solids {
    pub fn new<'a>(_shapes: impl Iterator<Item = &'a ShapeKind>) -> Solids {
        Solids {}
    }

    /// Contacts of two shapes, the second at a pose seen from the first, up to the gap `reach`.
    pub fn touches(&mut self, _pair: [usize; 2], _pose: &Pose, _reach: f64, _out: &mut Vec<Contact>) {}
}
