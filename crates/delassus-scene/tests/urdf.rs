//! Worlds from URDF.

use delassus::world::{ActionKind, JointKind, ShapeKind, check_world, joint_values};
use delassus_scene::{Imported, read_xml};
use glam::DVec3;
use proptest::prelude::*;

use crate::support::each_part_is_refused;

const ARM: &str = r#"<?xml version="1.0"?>
<robot name="arm">
  <link name="base"><collision><geometry><box size="1 1 0.2"/></geometry></collision></link>
  <link name="upper">
    <inertial><origin xyz="0 0 0.5"/><mass value="2"/><inertia ixx="0.2" iyy="0.2" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.5"/><geometry><cylinder radius="0.05" length="1"/></geometry></collision>
    <visual><geometry><sphere radius="1"/></geometry></visual>
  </link>
  <link name="sensor"><collision><origin xyz="0.1 0 0"/><geometry><sphere radius="0.02"/></geometry></collision></link>
  <link name="lower">
    <inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 0.1" rpy="0 0 1.5707963267948966"/><parent link="base"/><child link="upper"/><axis xyz="1 0 0"/>
    <limit lower="-1" upper="2" effort="10" velocity="1"/><dynamics damping="0.3" friction="0.1"/>
  </joint>
  <joint name="mount" type="fixed"><origin xyz="0 0 1"/><parent link="upper"/><child link="sensor"/></joint>
  <joint name="elbow" type="continuous">
    <origin xyz="0 0 1"/><parent link="upper"/><child link="lower"/><axis xyz="1 0 0"/><mimic joint="shoulder" multiplier="2"/>
  </joint>
</robot>
"#;

#[test]
fn an_arm_is_read() {
    let imported = read_xml(ARM, None).unwrap_or_else(|e| panic!("{}", e.render("arm.urdf", ARM)));
    let (world, state) = (&imported.file.world, &imported.file.state);
    assert_eq!(imported.not_read, ["effort of <limit> (line 15)", "velocity of <limit> (line 15)"]);
    let names: Vec<&str> = world.bodies.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["base", "upper", "lower"]);
    assert!(world.bodies[0].fixed && !world.bodies[1].fixed);
    assert!((state.bodies[1].pose.position - DVec3::new(0.0, 0.0, 0.6)).length() < 1e-14, "centre of mass");
    // The sensor is part of the upper arm, a quarter turn about z.
    let sensor = &world.bodies[1].shapes[1];
    assert!(matches!(sensor.kind, ShapeKind::Sphere { .. }));
    let at = state.bodies[1].pose.compose(&sensor.pose).position;
    assert!((at - DVec3::new(0.0, 0.1, 1.1)).length() < 1e-14, "{at}");
    assert!((state.bodies[2].pose.position - DVec3::new(0.0, 0.0, 1.1)).length() < 1e-14);
    let shoulder = &world.joints[0];
    let axis = state.bodies[1].pose.rotation * shoulder.frames[1].rotation * DVec3::Z;
    assert!((axis - DVec3::Y).length() < 1e-14, "x of the link is y of the world: {axis}");
    assert!(matches!(shoulder.actions[0].kind, ActionKind::Limits { lower: -1.0, upper: 2.0, .. }));
    assert!(matches!(shoulder.actions[1].kind, ActionKind::Spring { damping: 0.3, .. }));
    assert_eq!(shoulder.friction.map(|f| f.moment), Some(0.1));
    assert!(matches!(world.joints[2].kind, JointKind::Coupler { joints: [0, 1], factors: [2.0, -1.0], .. }));
    let mut g = Vec::new();
    joint_values(world, state, &mut g);
    assert!(g.iter().take(11).all(|x| x.abs() < 1e-14), "{g:?}");
}

#[test]
fn bad_robots_are_refused_with_their_line() {
    let cases = [
        ("<mass value=\"2\"/>", "<mass value=\"-2\"/>", 5, "`value` of <mass> is -2"),
        ("<mass value=\"2\"/>", "<mass value=\"two\"/>", 5, "`value` of <mass> is `two`"),
        ("<child link=\"upper\"/>", "<child link=\"uper\"/>", 13, "unknown body `uper`"),
        ("<child link=\"upper\"/>", "<child link=\"base\"/>", 13, "to itself"),
        ("<child link=\"lower\"/>", "<child link=\"sensor\"/>", 18, "a link without another parent"),
        ("type=\"continuous\"", "type=\"hinge\"", 18, "`type` of <joint> is `hinge`"),
        ("lower=\"-1\"", "lower=\"3\"", 15, "runs from 3 to 2"),
        ("<axis xyz=\"1 0 0\"/>", "<axis xyz=\"0 0 0\"/>", 14, "length zero"),
        ("name=\"lower\"", "name=\"upper\"", 10, "`upper` again"),
        ("joint=\"shoulder\"", "joint=\"hip\"", 19, "another joint that moves"),
        ("<cylinder radius=\"0.05\"", "<cylinder radius=\"0\"", 6, "a positive number"),
        ("<cylinder radius=\"0.05\" length=\"1\"/>", "<mesh filename=\"a.stl\"/>", 6, "no folder"),
        ("</robot>", "", 21, "XML"),
    ];
    each_part_is_refused(ARM, &cases);
}

#[test]
fn numbers_that_leave_their_range_are_refused_with_their_place() {
    let link = |origin: &str, mass: &str, moment: &str| {
        format!(
            "<robot name=\"r\">\n<link name=\"a\">\n<inertial>\n<origin xyz=\"{origin} 0 0\"/>\n<mass value=\"{mass}\"/>\n\
             <inertia ixx=\"{moment}\" iyy=\"{moment}\" izz=\"{moment}\"/>\n</inertial>\n</link>\n</robot>"
        )
    };
    let bad = [
        (link("0", "inf", "1"), 5, "`value` of <mass>", "expected"),
        (link("0", "nan", "1"), 5, "`value` of <mass>", "expected"),
        (link("inf", "1", "1"), 4, "`xyz` of <origin>", "expected"),
        (link("0", "1", "inf"), 6, "of <inertia> is `inf`", "expected"),
    ];
    for (text, line, names, expected) in bad {
        let error = read_xml(&text, None).map(|_| ()).unwrap_err();
        let message = error.render("test.urdf", &text);
        let place = error.place.as_ref().unwrap_or_else(|| panic!("no place: {message}"));
        assert_eq!(place.line, line, "{message}");
        assert!(message.contains(names) && message.contains(expected), "{message}");
    }
}

proptest! {
    #[test]
    fn any_text_is_a_robot_or_an_error(at in 0..2000_usize, length in 0..30_usize, piece in "[-0-9a-z<>/\"=. ]{0,12}") {
        let bytes = ARM.as_bytes();
        let start = at % bytes.len();
        let end = (start + length).min(bytes.len());
        let text = String::from_utf8_lossy(&[&bytes[..start], piece.as_bytes(), &bytes[end..]].concat()).into_owned();
        match read_xml(&text, None) {
            Ok(Imported { file, .. }) => prop_assert_eq!(check_world(&file.world, &file.state), Ok(())),
            Err(error) => prop_assert!(!error.render("arm.urdf", &text).is_empty()),
        }
    }
}
