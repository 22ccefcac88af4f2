//! Joints that are put somewhere by their names before a world moves.

use thiserror::Error;

use delassus::formula::{clip, nearest};
use delassus::stepping::CLOSED;
use delassus::world::{ActionKind, CloseError, SensorKind, World, WorldState, set_joint};

/// Why a joint could not be put somewhere.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SetJointError {
    /// There is none of this name that has a coordinate.
    #[error("there is no joint `{name}` with a position{}", suggestion.as_ref().map_or(String::new(), |s| format!("; perhaps `{s}`")))]
    Unknown {
        /// The name.
        name: String,
        /// The one that may have been meant.
        suggestion: Option<String>,
    },
    /// It is one of several motions of one joint here.
    #[error(
        "joint `{name}` is one motion of several between its bodies, expected a hinge, slide or the like by itself; a keyframe sets all"
    )]
    Shared {
        /// The name.
        name: String,
    },
    /// It is beyond its limits there.
    #[error("joint `{name}` cannot be put at {position}: its limits are {} and {}", limits[0], limits[1])]
    BeyondLimits {
        /// The name.
        name: String,
        /// The position that was asked for.
        position: f64,
        /// The lower limit and the upper one.
        limits: [f64; 2],
    },
    /// Other joints do not let it get there.
    #[error("joint `{name}` cannot be put at {position}: {reason}")]
    NotReached {
        /// The name.
        name: String,
        /// The position that was asked for.
        position: f64,
        /// What keeps it from there.
        reason: CloseError,
    },
}

/// Puts joints at positions with velocities, m and m/s or rad and rad/s as the file counts them, one after
/// the other; those around a loop follow. What hangs on a joint moves with it.
pub fn set_joints(
    world: &World,
    state: &mut WorldState,
    joints: &[(String, [f64; 2])],
) -> Result<(), SetJointError> {
    let named = || {
        world.sensors.iter().filter_map(|sensor| match sensor.kind {
            SensorKind::JointPosition(measured) => Some((sensor.name.strip_suffix(".position")?, measured)),
            _ => None,
        })
    };
    for (name, [position, velocity]) in joints {
        let Some((_, at)) = named().find(|(own, _)| own == name) else {
            let suggestion = nearest(name, named().map(|(own, _)| own));
            return Err(SetJointError::Unknown { name: clip(name), suggestion });
        };
        if world.joints[at.joint].kind.coordinate() != Some(at.coordinate) {
            return Err(SetJointError::Shared { name: clip(name) });
        }
        let wanted = [at.sign * (position - at.reference), at.sign * velocity];
        for action in world.joints[at.joint].actions.iter().filter(|a| a.coordinate == at.coordinate) {
            let ActionKind::Limits { lower, upper, .. } = action.kind else { continue };
            if !(lower - CLOSED..=upper + CLOSED).contains(&wanted[0]) {
                let [a, b] = [lower, upper].map(|limit| at.sign * limit + at.reference);
                let limits = [a.min(b), a.max(b)];
                let (name, position) = (clip(name), *position);
                return Err(SetJointError::BeyondLimits { name, position, limits });
            }
        }
        set_joint(world, state, at.joint, wanted).map_err(|reason| SetJointError::NotReached {
            name: clip(name),
            position: *position,
            reason,
        })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::read_xml;
    use delassus::world::{MeasuredForces, read_sensors};

    #[test]
    fn joints_are_put_where_the_file_counts_them() {
        let text = r#"<mujoco><compiler angle="radian"/><worldbody><body name="upper">
            <joint name="shoulder" axis="0 -1 0" ref="0.5"/><geom type="capsule" fromto="0 0 0 1 0 0" size="0.1"/>
            <body name="fore" pos="1 0 0"><joint name="elbow" axis="0 0 1"/><joint name="roll" axis="1 0 0"/>
            <geom type="capsule" fromto="0 0 0 1 0 0" size="0.1"/></body>
            <body name="hand" pos="0 1 0"><joint name="slide" type="slide" axis="0 0 1"/><geom size="0.1"/></body>
            </body></worldbody></mujoco>"#;
        let imported = read_xml(text, None).unwrap();
        let (world, mut state) = (imported.file.world, imported.file.state);
        let set = [("shoulder".to_string(), [0.7, 2.0]), ("slide".to_string(), [0.25, -1.0])];
        set_joints(&world, &mut state, &set).unwrap();
        let mut values = vec![];
        read_sensors(&world, &state, &MeasuredForces::default(), &mut values);
        let value = |name: &str| values[world.sensors.iter().position(|s| s.name == name).unwrap()];
        let found =
            ["shoulder.position", "shoulder.velocity", "slide.position", "slide.velocity", "elbow.position"]
                .map(value);
        assert!(
            found.iter().zip([0.7, 2.0, 0.25, -1.0, 0.0]).all(|(a, b)| (a - b).abs() < 1e-12),
            "{found:?}"
        );
        let fails = |name: &str| {
            set_joints(&world, &mut state.clone(), &[(name.to_string(), [0.1, 0.0])]).unwrap_err()
        };
        let text = text.replace("name=\"slide\"", "name=\"slide\" ref=\"1\" range=\"0.5 1.5\"");
        let limited = read_xml(&text, None).unwrap().file;
        let put =
            |at: f64| set_joints(&limited.world, &mut limited.state.clone(), &[("slide".into(), [at, 0.0])]);
        assert_eq!(put(1.5), Ok(()));
        let beyond = put(1.6).unwrap_err().to_string();
        assert_eq!(beyond, "joint `slide` cannot be put at 1.6: its limits are 0.5 and 1.5");
        // The second of two hinges that are one joint here; the first is its own coordinate.
        assert!(fails("roll").to_string().contains("one motion of several"), "{}", fails("roll"));
        assert!(fails("sholder").to_string().ends_with("perhaps `shoulder`"), "{}", fails("sholder"));
    }
}
