//! Joints and contacts at a state, linearized: all that a solve sees of the geometry.
//!
//! ```text
//! g(q ⊕ h v) ≈ g + h (J v + ∂g/∂t) ,   gap(q ⊕ h v) ≈ gap + h H v
//! ```
//!
//! J has a row per constraint of a joint, H up to six rows per contact (normal, tangents, rolling,
//! spinning), v six entries per body that moves. A [`Linearization`] is built by [`Linearizer::linearize`]
//! and does not change after that. Two things make another one of it, in its memory: contacts that only the
//! end of a substep shows ([`Linearization::with_contact`]), and coefficients of friction of contacts that
//! begin to stick or to slide ([`Linearization::with_friction`]). Source: 004 eq. 6–9.

mod joint_solve;
mod motor_braking;
mod redundancy;

pub(super) use joint_solve::JointsAlone;

use std::sync::Arc;

use delassus_solve::linalg::UnionFind;

use super::model::Model;
use super::options::Coordinates;
use crate::collision::{Collider, Contact, ContactRows, ShapePair, Sweep};
use crate::world;
use crate::world::{ActionKind, BodyState, Joint, JointKind, Pose, Rows, Tree, TreeBasis, World, WorldState};
use motor_braking::brake_motors;
use redundancy::RedundancyScratch;

/// Margins have this much to spare: a length, m, and a part of the bounding radius.
const SPARE_MARGIN: f64 = 1e-6;
const SPARE_MARGIN_RATIO: f64 = 1e-5;
/// What moves by less than this part of the thinnest shape beyond its margin overlaps what it meets at the
/// end.
const MAX_UNSEEN_RATIO: f64 = 0.5;
/// A substep that ends at a touch ends within this part of what counts as touching.
const SWEEP_RATIO: f64 = 0.5;
/// The margin of each of two balls for overlaps, in what counts as touching: the sum is half of that, so that
/// rounding loses none.
const OVERLAP_MARGIN_RATIO: f64 = -0.25;

/// Rows of loops that are farther than this part of their lengths from depending on others are those of a
/// regular position.
const REGULAR_INDEPENDENCE: f64 = 0.1;

/// A contact, by its place, and the coefficient of friction that it has from now on.
pub(super) type NewCoefficient = (usize, f64);

/// Contacts and rows of joints at a state.
#[derive(Default)]
pub(super) struct Linearization {
    contacts: Vec<Contact>,
    contact_rows: Vec<ContactRows>,
    restitution: Vec<f64>,
    joint_rows: Rows,
    redundant: Vec<bool>,
    tree: Option<TreeBasis>,
    joints_at: JointsAt,
    margins: Vec<f64>,
    silent: Vec<ShapePair>,
}

/// What the rows of joints belong to.
#[derive(Default)]
struct JointsAt {
    poses: Vec<Pose>,
    coordinates: Vec<f64>,
    /// The length of the substep, and whether it passes a singular position.
    length: f64,
    passed: bool,
}

impl Linearization {
    /// Contacts within the margins.
    pub(super) fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// The rows and the law of each contact.
    pub(super) fn contact_rows(&self) -> &[ContactRows] {
        &self.contact_rows
    }

    /// The coefficient of restitution of each contact.
    pub(super) fn restitution(&self) -> &[f64] {
        &self.restitution
    }

    /// The rows of joints.
    pub(super) fn joint_rows(&self) -> &Rows {
        &self.joint_rows
    }

    /// Per row of a joint, whether it follows from others and is left out.
    pub(super) fn redundant(&self) -> &[bool] {
        &self.redundant
    }

    /// The motions that the joints leave, in reduced coordinates. `None` in maximal ones, and where joints
    /// are so far open that they cannot be told apart.
    pub(super) fn tree(&self) -> Option<&TreeBasis> {
        self.tree.as_ref().filter(|tree| tree.is_regular())
    }

    /// How far each body may move in the substep, m.
    pub(super) fn margins(&self) -> &[f64] {
        &self.margins
    }

    /// Pairs of shapes within the margins that gave no contact.
    pub(super) fn silent(&self) -> &[ShapePair] {
        &self.silent
    }

    /// How far a joint is beyond a limit at most, m or rad; zero where none is.
    pub(super) fn limit_error(&self) -> f64 {
        let rows = &self.joint_rows;
        let limits = rows.rows[rows.bilateral..rows.bilateral + rows.limits].iter();
        limits.map(|row| -row.value).fold(0.0, f64::max)
    }

    /// The deepest overlap, m; zero where there is none.
    pub(super) fn penetration(&self) -> f64 {
        self.contacts.iter().map(|c| -c.gap).fold(0.0, f64::max)
    }

    /// The largest opening of a joint, m or rad.
    pub(super) fn joint_error(&self) -> f64 {
        self.joint_rows.rows[..self.joint_rows.bilateral]
            .iter()
            .map(|row| row.value.abs())
            .fold(0.0, f64::max)
    }

    /// The same with other coefficients of friction.
    pub(super) fn with_friction(mut self, changes: &[NewCoefficient]) -> Self {
        for &(i, mu) in changes {
            let law = &mut self.contact_rows[i].law;
            *law = law.with_mu(mu);
        }
        self
    }

    /// The same with a contact that the end of a substep showed, linearized at the poses `bodies` of its
    /// begin.
    pub(super) fn with_contact(mut self, model: &Model, contact: Contact, bodies: &[BodyState]) -> Self {
        let (rows, e) = model.contact_rows(&contact, bodies);
        self.contact_rows.push(rows);
        self.restitution.push(e);
        self.contacts.push(contact);
        self
    }

    /// Puts another one, made of this, in its place.
    pub(super) fn renew(&mut self, other: impl FnOnce(Self) -> Self) {
        *self = other(std::mem::take(self));
    }
}

/// Builds linearizations of one world, in memory that is kept.
pub(super) struct Linearizer {
    collider: Collider,
    bounding_radius: Vec<f64>,
    has_loops: bool,
    /// Whether the rows of joints depend on poses alone, and whether those of bilateral ones and limits do.
    passive: bool,
    timeless: bool,
    tree: Option<Arc<Tree>>,
    /// The same, while it is set aside.
    aside: Option<Arc<Tree>>,
    redundancy: RedundancyScratch,
    /// Whether a singular position is passed.
    passes_singular: bool,
    /// How far rows of loops are from depending on others, as a part of their lengths.
    independence: f64,
    /// Margins with which overlaps are looked for.
    overlap_margins: Vec<f64>,
    wider_margins: Vec<f64>,
    /// The least thickness of a shape, m.
    thinnest: f64,
    balls_alone: bool,
}

impl Linearizer {
    pub(super) fn new(model: &Model) -> Self {
        let world = &model.world;
        let collider = Collider::new(world);
        let tree = match model.options.coordinates {
            Coordinates::Maximal => None,
            Coordinates::Reduced | Coordinates::Auto => Tree::new(world, &model.masses),
        };
        Linearizer {
            bounding_radius: world.bodies.iter().map(|body| body.bounding_radius()).collect(),
            has_loops: has_loops(world),
            passive: world.joints.iter().all(is_passive),
            timeless: world.joints.iter().all(holds_poses),
            tree: tree.map(Arc::new),
            aside: None,
            redundancy: RedundancyScratch::default(),
            passes_singular: false,
            independence: 1.0,
            overlap_margins: vec![],
            wider_margins: vec![],
            thinnest: collider.thinnest(),
            balls_alone: collider.has_balls_alone(),
            collider,
        }
    }

    /// Whether joints are far from singular positions, which only loops have.
    pub(super) fn is_regular(&self) -> bool {
        !self.has_loops || self.independence >= REGULAR_INDEPENDENCE
    }

    /// Goes on in maximal coordinates, where that was left open and they were not yet; whether it does.
    pub(super) fn set_tree_aside(&mut self, coordinates: Coordinates) -> bool {
        if coordinates == Coordinates::Auto && self.tree.is_some() {
            self.aside = self.tree.take();
            return true;
        }
        false
    }

    /// Back to reduced coordinates, where they were set aside.
    pub(super) fn take_tree_back(&mut self) {
        if self.aside.is_some() {
            self.tree = self.aside.take();
        }
    }

    /// From now on, rows of loops that nearly depend on others are left out, or not.
    pub(super) fn pass_singular(&mut self, passes: bool) {
        self.passes_singular = passes;
    }

    /// Contacts and rows of joints at a state, for a substep of length h whose next solve ends in the
    /// velocities after a time `ahead`.
    pub(super) fn linearize(
        &mut self,
        model: &Model,
        state: &mut WorldState,
        h: f64,
        ahead: f64,
        out: &mut Linearization,
    ) {
        let world = &model.world;
        self.set_margins(world, &state.bodies, h, &mut out.margins);
        self.collider.collide(world, state, &out.margins, &mut out.contacts);
        out.silent.clear();
        let silent = self.collider.silent();
        if out.silent.capacity() < silent.len() {
            out.silent.reserve(4 * silent.len());
        }
        out.silent.extend_from_slice(silent);
        self.linearize_joints(model, state, h, ahead, out);
        out.contact_rows.clear();
        out.restitution.clear();
        for contact in &out.contacts {
            let (rows, e) = model.contact_rows(contact, &state.bodies);
            out.contact_rows.push(rows);
            out.restitution.push(e);
        }
    }

    /// Rows of joints and the motions that they leave. The end of a step and the start of the next have the
    /// same, where they depend on poses alone.
    fn linearize_joints(
        &mut self,
        model: &Model,
        state: &mut WorldState,
        h: f64,
        ahead: f64,
        out: &mut Linearization,
    ) {
        let Model { world, masses, .. } = model;
        let JointsAt { poses, coordinates, length, passed } = &mut out.joints_at;
        let same = poses.len() == state.bodies.len()
            && *passed == self.passes_singular
            && poses.iter().zip(&state.bodies).all(|(pose, body)| *pose == body.pose)
            && out.tree.is_some() == self.tree.is_some();
        if self.passive && same && *length == h {
            return;
        }
        (*length, *passed) = (h, self.passes_singular);
        if self.timeless && same && *coordinates == state.coordinates {
            world::renew_other_rows(world, state, [h, state.t + ahead], &mut out.joint_rows);
            return brake_motors(model, state, h, &out.redundant, &mut out.joint_rows);
        }
        poses.clear();
        poses.extend(state.bodies.iter().map(|body| body.pose));
        let t = state.t + ahead;
        world::update_joint_rows(world, state, [h, t], &mut out.joint_rows);
        coordinates.clone_from(&state.coordinates);
        match &self.tree {
            Some(tree) => {
                let basis = out.tree.get_or_insert_with(|| TreeBasis::new(tree.clone()));
                basis.renew(world, state, &out.joint_rows);
            }
            None => out.tree = None,
        }
        if self.has_loops {
            let tree = out.tree.as_ref().filter(|tree| tree.is_regular());
            let Linearizer { redundancy, passes_singular, .. } = self;
            self.independence =
                redundancy.find(masses, &out.joint_rows, tree, *passes_singular, &mut out.redundant);
        } else {
            out.redundant.clear();
            out.redundant.resize(out.joint_rows.rows.len(), false);
        }
        brake_motors(model, state, h, &out.redundant, &mut out.joint_rows);
    }

    /// How far bodies may move within h.
    fn set_margins(&self, world: &World, states: &[BodyState], h: f64, margins: &mut Vec<f64>) {
        let fall = 2.0 * h * world.gravity.length();
        let bodies = world.bodies.iter().zip(states).zip(&self.bounding_radius);
        margins.clear();
        margins.extend(bodies.map(|((body, s), radius)| {
            let speed = s.velocity.length() + s.angular_velocity.length() * radius + fall;
            let spare = SPARE_MARGIN + SPARE_MARGIN_RATIO * radius;
            if body.fixed { 0.0 } else { h * speed + spare }
        }));
    }

    /// Contacts of shapes that overlap at a state by more than what counts as touching, among others that
    /// touch there, into `found`.
    pub(super) fn find_overlaps(&mut self, model: &Model, state: &WorldState, found: &mut Vec<Contact>) {
        // Balls that only touch are no overlaps; shapes of other kinds are measured from their surfaces on.
        let margin = if self.balls_alone { OVERLAP_MARGIN_RATIO * model.touching() } else { 0.0 };
        if self.overlap_margins.first() != Some(&margin) {
            self.overlap_margins.clear();
            self.overlap_margins.resize(model.world.bodies.len(), margin);
        }
        self.collider.collide(&model.world, state, &self.overlap_margins, found);
    }

    /// The least thickness of two shapes; a plane is infinitely thick.
    pub(super) fn thickness(&self, pair: ShapePair) -> f64 {
        self.collider.thickness(pair)
    }

    /// When two shapes first touch, where their bodies move freely from these states for a time h.
    pub(super) fn sweep(&mut self, model: &Model, pair: ShapePair, bodies: &[BodyState], h: f64) -> Sweep {
        self.collider.sweep(&model.world, pair, bodies, h, SWEEP_RATIO * model.touching())
    }

    /// Whether two shapes touch at these poses.
    pub(super) fn touches(&mut self, model: &Model, pair: ShapePair, bodies: &[BodyState]) -> bool {
        self.collider.is_near(pair, bodies, model.touching())
    }

    /// Contacts within reach of bodies that move from a state for a time h, into `found`, where a body moves
    /// so much farther than its margin that it may be through another at the end.
    pub(super) fn find_beyond(
        &mut self,
        model: &Model,
        state: &WorldState,
        h: f64,
        margins: &[f64],
        found: &mut Vec<Contact>,
    ) {
        found.clear();
        let mut wider = std::mem::take(&mut self.wider_margins);
        let bodies = model.world.bodies.iter().zip(&state.bodies).zip(&self.bounding_radius);
        wider.clear();
        wider.extend(bodies.map(|((body, s), radius)| match body.fixed {
            true => 0.0,
            false => h * (s.velocity.length() + s.angular_velocity.length() * radius),
        }));
        let unseen = MAX_UNSEEN_RATIO * self.thinnest;
        if wider.iter().zip(margins).any(|(motion, margin)| motion - margin > unseen) {
            self.collider.collide(&model.world, state, &wider, found);
        }
        self.wider_margins = wider;
    }
}

/// Whether the rows of a joint depend on poses alone.
fn is_passive(joint: &Joint) -> bool {
    let of_poses = |kind: &ActionKind| {
        matches!(kind, ActionKind::Limits { .. } | ActionKind::Spring { .. } | ActionKind::Armature { .. })
    };
    !joint.is_medium() && joint.actions.iter().all(|action| of_poses(&action.kind))
}

/// Whether what a joint locks depends on poses alone, and not on time or on a point of a curve to begin at.
fn holds_poses(joint: &Joint) -> bool {
    let on_curve = matches!(joint.kind, JointKind::PointOnCurve(_));
    !on_curve && !joint.actions.iter().any(|action| matches!(action.kind, ActionKind::Drive { .. }))
}

/// Whether joints close loops: more of them than trees have branches.
fn has_loops(world: &World) -> bool {
    let mut sets = UnionFind::new(world.bodies.len());
    // All fixed bodies are one.
    let fixed: Vec<usize> = (0..world.bodies.len()).filter(|&i| world.bodies[i].fixed).collect();
    for pair in fixed.windows(2) {
        sets.join(pair[0], pair[1]);
    }
    let mut joints = world.joints.iter().filter(|joint| !joint.is_medium());
    joints.any(|joint| !sets.join(joint.bodies[0], joint.bodies[1]))
}

#[cfg(test)]
mod tests {
    use super::super::model::fixtures::*;
    use super::super::options::StepOptions;
    use super::*;
    use crate::world::RowKind;
    use glam::DVec3;

    #[test]
    fn a_contact_within_the_margins_has_the_rows_of_its_point() {
        let (world, mut state) = ball_on_floor(smooth(), 1e-3, DVec3::new(0.0, 0.0, -1.0));
        let h = 1e-2;
        let (_, found) = linearized(world, &mut state, StepOptions::default(), h);
        // h (|v| + 2 h g) and what is spare.
        let margin = h * (1.0 + 2.0 * h * 10.0) + 1e-6 + 1e-5 * RADIUS;
        assert!((found.margins()[1] - margin).abs() < 1e-15 && found.margins()[0] == 0.0);
        assert_eq!(found.contacts().len(), 1);
        assert!((found.contacts()[0].gap - 1e-3).abs() < 1e-15);
        assert!((found.contact_rows()[0].velocity(0, &[3.0, 4.0, -1.0, 0.0, 0.0, 0.0]) + 1.0).abs() < 1e-15);
        assert_eq!((found.penetration(), found.joint_error()), (0.0, 0.0));
    }

    #[test]
    fn what_is_out_of_reach_is_no_contact_until_it_is_added() {
        let (world, mut state) = ball_on_floor(smooth(), 0.5, DVec3::ZERO);
        let (model, found) = linearized(world.clone(), &mut state, StepOptions::default(), 1e-3);
        assert!(found.contacts().is_empty());
        let (_, near) = linearized(world, &mut state, StepOptions::default(), 1.0);
        let found = found.with_contact(&model, near.contacts()[0], &state.bodies);
        assert_eq!(
            (found.contacts().len(), found.contact_rows().len(), found.restitution().len()),
            (1, 1, 1)
        );
        assert_eq!(found.contact_rows()[0].blocks, near.contact_rows()[0].blocks);
    }

    #[test]
    fn a_limit_that_is_passed_and_an_open_joint_are_measured() {
        let limits = ActionKind::Limits { lower: 0.0, upper: 1.0, restitution: 0.0 };
        let (world, mut state) = slider(limits, 1.25, 0.0);
        state.bodies[1].pose.position.x = 0.125;
        let (_, found) = linearized(world, &mut state, StepOptions::default(), 1e-3);
        assert!(found.limit_error() > 0.2 && found.limit_error() <= 0.3);
        assert!((found.joint_error() - 0.125).abs() < 1e-15, "{}", found.joint_error());
        assert!(matches!(found.joint_rows().rows[found.joint_rows().bilateral].kind, RowKind::Limit { .. }));
    }

    #[test]
    fn a_second_joint_between_the_same_bodies_closes_a_loop_and_is_redundant() {
        let spring = ActionKind::Spring { stiffness: 1.0, damping: 0.0, rest: 0.0 };
        let (mut world, mut state) = slider(spring, 0.5, 0.0);
        assert!(!has_loops(&world));
        world.joints.push(Joint::new("twin", JointKind::Prismatic, [0, 1], [Pose::IDENTITY; 2]));
        assert!(has_loops(&world));
        let (_, found) = linearized(world, &mut state, StepOptions::default(), 1e-3);
        // Two prismatic joints lock five motions twice.
        assert_eq!((found.joint_rows().bilateral, found.redundant().iter().filter(|r| **r).count()), (10, 5));
    }
}
