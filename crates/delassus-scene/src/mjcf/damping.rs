//! Damping and rotors of joints that have no coordinates for them, and springs that are tuned by the inertia
//! they move.
//!
//! ```text
//! moment = −damping · ω                                        ball, free: about each axis of the body
//! force  = −damping · v                                        free: at the origin of the body
//! T = ½ armature (v² + ω²)                                     free: v of the origin of the body
//! stiffness = m/(τ² ζ²) ,  damping = 2 m/τ                     `springdamper` = τ ζ,  m = 1/(M⁻¹)ᵢᵢ
//! ```

use glam::{DMat3, DVec3};

use super::Model;
use super::joint::{FileJoint, Kind};
use delassus::world::{
    Action, ActionKind, Coordinate, Joint, JointKind, MassProperties, Pose, TendonPart, TendonTerm,
};

impl<'a> Model<'a> {
    /// Damping and rotors of a ball or free joint: along each of its motions, which are velocities without a
    /// position.
    pub(super) fn drag_joint(&mut self, file: &FileJoint<'a>, bodies: [usize; 2]) {
        let mut kinds = Vec::new();
        if file.damping > 0.0 {
            kinds.push(ActionKind::Spring { stiffness: 0.0, damping: file.damping, rest: 0.0 });
        }
        if file.armature > 0.0 && file.kind == Kind::Ball {
            kinds.push(ActionKind::Armature { inertia: file.armature });
        }
        if kinds.is_empty() {
            return;
        }
        let motions = if file.kind == Kind::Free { 0..6 } else { 3..6 };
        for motion in motions {
            let mut axes = [0.0; 6];
            axes[motion] = 1.0;
            let part = TendonPart::Twist { bodies, frame: Pose::IDENTITY, axes };
            let kind = JointKind::Tendon(vec![TendonTerm { factor: 1.0, part }]);
            let own = file.name.unwrap_or(&self.drafts[bodies[1]].name);
            let name = self.free_name(format!("damping of {own}"));
            let mut joint = Joint::new(&name, kind, bodies, [Pose::IDENTITY; 2]);
            let coordinate = Coordinate::Length;
            joint.actions.extend(kinds.iter().map(|kind| Action { coordinate, kind: kind.clone() }));
            self.joints.push(joint);
            self.spans.push(file.node().range());
        }
    }

    /// Rotors of free joints: what they add to the kinetic energy is that of a point at the origin of the
    /// body and of a ball there, without weight.
    pub(super) fn load_free_bodies(&mut self) {
        for moving in &self.start.moving {
            let free = moving.joints.iter().find(|j| j.kind == Kind::Free && j.armature > 0.0);
            let Some(armature) = free.map(|joint| joint.armature) else { continue };
            let inertia = DMat3::from_diagonal(DVec3::splat(armature));
            let rotor = MassProperties { mass: armature, centre: DVec3::ZERO, inertia };
            let draft = &mut self.drafts[moving.draft];
            draft.mass = draft.mass.plus(&rotor);
            draft.compensated = draft.compensated.plus(&rotor);
        }
    }

    /// Springs and dampers of joints with a `springdamper`, once all that they move is known.
    pub(super) fn tune_springs(&mut self) {
        let joints = self.start.moving.iter().flat_map(|moving| &moving.joints);
        let tuned: Vec<_> = joints.filter_map(|j| Some((j.node(), j.name, j.spring_damper?))).collect();
        for (node, name, [tau, ratio]) in tuned {
            let motion = name.and_then(|name| self.names.motions.get(name)).copied();
            let found = motion.and_then(|motion| Some((motion, self.reflected_inertia(motion)?)));
            let Some((motion, inertia)) = found else {
                let what = "`springdamper` of a joint without a name: it has neither spring nor damper";
                self.source.note(node, what.to_string());
                continue;
            };
            let (stiffness, damping) = (inertia / (tau * ratio).powi(2), 2.0 * inertia / tau);
            let rest = motion.sign * (motion.spring_rest - motion.reference);
            let is_spring =
                |a: &Action| a.coordinate == motion.coordinate && matches!(a.kind, ActionKind::Spring { .. });
            let actions = &mut self.joints[motion.joint].actions;
            actions.retain(|action| !is_spring(action));
            let kind = ActionKind::Spring { stiffness, damping, rest };
            actions.push(Action { coordinate: motion.coordinate, kind });
        }
    }
}
