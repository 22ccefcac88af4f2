//! Actuators: forces, motors and servos of joints by their names, and what a controller sets of them.

use super::{ActionKind, Servo, World};
use crate::formula::{AnyFormula, Point};

/// A force, motor or servo of a world, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actuator {
    /// The name of the servo; else that of the joint, with a number from 1 where it has several actuators.
    pub name: String,
    /// The joint.
    pub joint: usize,
    /// Its place among the actions of the joint.
    pub action: usize,
}

/// All actuators, in the order of joints and of their actions.
pub fn actuators(world: &World) -> Vec<Actuator> {
    let mut found = vec![];
    for (joint, of) in world.joints.iter().enumerate() {
        let is_input = |kind: &ActionKind| kind.input().is_some();
        let several = of.actions.iter().filter(|action| is_input(&action.kind)).count() > 1;
        let actions = of.actions.iter().enumerate().filter(|(_, action)| is_input(&action.kind));
        for (count, (action, what)) in actions.enumerate() {
            let name = match &what.kind {
                ActionKind::Servo(servo) if !servo.name.is_empty() => servo.name.clone(),
                _ if several => format!("{}#{}", of.name, count + 1),
                _ => of.name.clone(),
            };
            found.push(Actuator { name, joint, action });
        }
    }
    found
}

impl ActionKind {
    /// What a controller sets, a function of time: the target of a motor, a force, or the control of a servo.
    pub fn input(&self) -> Option<&AnyFormula> {
        match self {
            ActionKind::Speed { target: input, .. }
            | ActionKind::Position { target: input, .. }
            | ActionKind::Servo(Servo { control: input, .. })
            | ActionKind::Force { force: input } => Some(input),
            ActionKind::Limits { .. }
            | ActionKind::Spring { .. }
            | ActionKind::Armature { .. }
            | ActionKind::Drive { .. } => None,
        }
    }

    /// Whether the input is this number already, at all times.
    pub fn has_input(&self, value: f64) -> bool {
        let at = Point { q: &[], v: &[], t: 0.0 };
        let has = |input: &AnyFormula| {
            input.variables().is_some_and(|on| !on.time) && input.value(&at).to_bits() == value.to_bits()
        };
        self.input().is_some_and(has)
    }

    /// Sets it; nothing happens to what has no input.
    pub fn set_input(&mut self, to: AnyFormula) {
        match self {
            ActionKind::Speed { target: input, .. }
            | ActionKind::Position { target: input, .. }
            | ActionKind::Servo(Servo { control: input, .. })
            | ActionKind::Force { force: input } => *input = to,
            ActionKind::Limits { .. }
            | ActionKind::Spring { .. }
            | ActionKind::Armature { .. }
            | ActionKind::Drive { .. } => {}
        }
    }
}
