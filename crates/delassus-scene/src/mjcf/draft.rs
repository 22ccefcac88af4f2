//! A body of an MJCF file in the making, and how its geoms touch others.

use glam::DVec3;

use crate::xml::Node;
use delassus::world::{ImmersedForm, MassProperties, Pose, Shape};

/// A body in the making.
pub(super) struct Draft<'a> {
    pub(super) node: Node<'a>,
    pub(super) name: String,
    /// Where its axes stand in the world.
    pub(super) place: Pose,
    pub(super) fixed: bool,
    /// In its axes.
    pub(super) mass: MassProperties,
    /// The part of it whose weight is compensated.
    pub(super) compensated: MassProperties,
    /// What of it a medium acts on: where it stands on the draft, and its form.
    pub(super) immersed: Vec<(Pose, ImmersedForm)>,
    pub(super) shapes: Vec<Shape>,
    /// How each shape touches.
    pub(super) touches: Vec<Touch>,
    /// Bodies between the joints of this one, and the point where each stands.
    pub(super) links: Vec<(usize, DVec3)>,
}

/// How a geom touches others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Touch {
    /// `contype` and `conaffinity`.
    pub(super) masks: [u32; 2],
    pub(super) priority: i64,
    pub(super) mu: f64,
    pub(super) rolling: f64,
    pub(super) spinning: f64,
    /// Whether it alone makes a contact one with friction.
    pub(super) rough: bool,
}

impl Touch {
    /// All that its friction depends on.
    pub(super) fn friction(&self) -> (f64, f64, f64, bool) {
        (self.mu, self.rolling, self.spinning, self.rough)
    }
}

impl<'a> Draft<'a> {
    /// What does not move.
    pub(super) fn world(node: Node<'a>) -> Self {
        Draft { fixed: true, ..Draft::new(node, "world".to_string(), Pose::IDENTITY) }
    }

    pub(super) fn new(node: Node<'a>, name: String, place: Pose) -> Self {
        let (shapes, touches, links) = (Vec::new(), Vec::new(), Vec::new());
        let (mass, compensated) = (MassProperties::ZERO, MassProperties::ZERO);
        let immersed = Vec::new();
        Draft { node, name, place, fixed: false, mass, compensated, immersed, shapes, touches, links }
    }
}
