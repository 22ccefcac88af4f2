//! The inertia that an actuator feels in the position of the file, which `dampratio` is a ratio to.
//!
//! ```text
//! 1 / (J M⁻¹ Jᵀ) ,   M = Σ over bodies of J_bᵀ I_b J_b + Σ over rotors of armature · Jᵀ J
//! ```
//!
//! M is the mass matrix of the joints of the file, without its equalities; J says how the length of an
//! actuator, a joint or a tendon changes with them.

use std::collections::BTreeMap;

use delassus_solve::linalg::Matrix;
use glam::{DMat3, DVec3};

use super::Model;
use super::joint::{Kind, Motion};
use super::keyframe::Twist;
use delassus::world::{ActionKind, TendonPart, TendonTerm};

/// A free motion: the velocity that it gives to the origin of the world, and the angular velocity, both in
/// the axes of the world.
type Free = Twist;

/// The free motions of a model in the position of its file.
pub(super) struct FreeMotions<'a> {
    motions: Vec<Free>,
    /// The motions that move each draft.
    of_draft: Vec<Vec<usize>>,
    by_name: BTreeMap<&'a str, usize>,
    mass: Matrix,
}

impl FreeMotions<'_> {
    /// How a motion moves a point.
    fn velocity(&self, motion: usize, point: DVec3) -> DVec3 {
        let Twist { linear, angular } = self.motions[motion];
        linear + angular.cross(point)
    }
}

impl<'a> Model<'a> {
    /// The inertia along a coordinate; `None` where nothing moves it.
    pub(super) fn reflected_inertia(&mut self, motion: Motion) -> Option<f64> {
        if self.free_motions.is_none() {
            self.free_motions = Some(self.find_free_motions());
        }
        let free = self.free_motions.as_ref()?;
        let row = self.row(free, &motion)?;
        let moved = free.mass.solve_positive_definite(&row)?;
        let mobility: f64 = (0..free.motions.len()).map(|i| row[(i, 0)] * moved[(i, 0)]).sum();
        (mobility > 0.0).then_some(1.0 / mobility)
    }

    /// Jᵀ of a coordinate, a column.
    fn row(&self, free: &FreeMotions<'a>, motion: &Motion) -> Option<Matrix> {
        let mut row = Matrix::zeros(free.motions.len(), 1);
        for TendonTerm { factor, part } in self.terms_of(motion, 1.0) {
            match part {
                // A tendon that actuators act along has no curves: their slope in the position of the file.
                TendonPart::Coordinate { joint, coordinate }
                | TendonPart::Polynomial { joint, coordinate, .. } => {
                    let slope = match part {
                        TendonPart::Polynomial { coefficients, .. } => coefficients[0],
                        _ => 1.0,
                    };
                    let is_this = |m: &Motion| m.joint == joint && m.coordinate == coordinate;
                    let named = self.names.motions.iter().find(|(_, m)| is_this(m));
                    let (name, of) = named?;
                    row[(*free.by_name.get(name)?, 0)] += factor * slope * of.sign;
                }
                TendonPart::Segment { bodies, points } => {
                    let [a, b] = [0, 1].map(|k| self.drafts[bodies[k]].place.point(points[k]));
                    let along = (b - a).normalize_or_zero();
                    for (sign, draft, point) in [(-1.0, bodies[0], a), (1.0, bodies[1], b)] {
                        for &i in &free.of_draft[draft] {
                            row[(i, 0)] += factor * sign * along.dot(free.velocity(i, point));
                        }
                    }
                }
                TendonPart::Twist { bodies, frame, axes } => {
                    let at = self.drafts[bodies[1]].place.compose(&frame);
                    let [force, moment] =
                        [&axes[..3], &axes[3..]].map(|v| at.rotation * DVec3::from_slice(v));
                    for &i in &free.of_draft[bodies[1]] {
                        let turn = moment.dot(free.motions[i].angular);
                        row[(i, 0)] += factor * (force.dot(free.velocity(i, at.position)) + turn);
                    }
                }
            }
        }
        Some(row)
    }

    fn find_free_motions(&self) -> FreeMotions<'a> {
        let (mut motions, mut armature) = (Vec::new(), Vec::new());
        let mut of_draft: Vec<Vec<usize>> = vec![Vec::new(); self.drafts.len()];
        let mut by_name = BTreeMap::new();
        for moving in &self.start.moving {
            let place = self.drafts[moving.draft].place;
            of_draft[moving.draft] = of_draft[moving.parent].clone();
            for joint in &moving.joints {
                let anchor = place.point(joint.anchor);
                let about = |axis: DVec3| Free { linear: anchor.cross(axis), angular: axis };
                let along = |axis: DVec3| Free { linear: axis, angular: DVec3::ZERO };
                let new: Vec<Free> = match joint.kind {
                    Kind::Hinge => vec![about(place.rotation * joint.axis)],
                    Kind::Slide => vec![along(place.rotation * joint.axis)],
                    Kind::Ball => DVec3::AXES.map(about).to_vec(),
                    Kind::Free => DVec3::AXES.into_iter().map(along).chain(DVec3::AXES.map(about)).collect(),
                };
                joint.name.map(|name| by_name.insert(name, motions.len()));
                for free in new {
                    of_draft[moving.draft].push(motions.len());
                    motions.push(free);
                    armature.push(joint.armature);
                }
            }
        }
        let mut free =
            FreeMotions { mass: Matrix::zeros(motions.len(), motions.len()), motions, of_draft, by_name };
        armature.into_iter().enumerate().for_each(|(i, rotor)| free.mass[(i, i)] = rotor);
        for (draft, moved_by) in self.drafts.iter().zip(&free.of_draft) {
            let centre = draft.place.point(draft.mass.centre);
            let turn = DMat3::from_quat(draft.place.rotation);
            let inertia = turn * draft.mass.inertia * turn.transpose();
            let velocities: Vec<DVec3> = moved_by.iter().map(|&i| free.velocity(i, centre)).collect();
            for (a, &i) in moved_by.iter().enumerate() {
                let momentum = draft.mass.mass * velocities[a];
                let angular_momentum = inertia * free.motions[i].angular;
                for (b, &j) in moved_by.iter().enumerate() {
                    free.mass[(i, j)] +=
                        momentum.dot(velocities[b]) + angular_momentum.dot(free.motions[j].angular);
                }
            }
        }
        for tendon in self.names.tendons.values().flatten() {
            let actions = self.joints[tendon.motion.joint].actions.iter();
            let rotor: f64 = actions
                .map(|action| if let ActionKind::Armature { inertia } = action.kind { inertia } else { 0.0 })
                .sum();
            let Some(row) = self.row(&free, &tendon.motion).filter(|_| rotor > 0.0) else { continue };
            for i in 0..free.motions.len() {
                (0..free.motions.len()).for_each(|j| free.mass[(i, j)] += rotor * row[(i, 0)] * row[(j, 0)]);
            }
        }
        free
    }
}
