//! Joints of world files.

use delassus::formula::{AnyFormula, Point};
use delassus::world::{Action, ActionKind, Axis, Coordinate, Joint, JointKind, joint_values};
use glam::DVec3;

use super::read::read;

/// Two balls, and a joint with this text between them.
fn with(kind: &str, text: &str) -> String {
    format!(
        "[world]\n[parameters]\nw = 3\n\
         [[body]]\nname = \"a\"\nmass = 1\nposition = [0, 0, 1]\neuler_deg = [10, 20, 30]\n[[body.shape]]\ntype = \"sphere\"\nradius = 0.1\n\
         [[body]]\nname = \"b\"\nmass = 1\nposition = [1, 0, 1]\neuler_deg = [-50, 0, 40]\n[[body.shape]]\ntype = \"sphere\"\nradius = 0.1\n\
         [[joint]]\nname = \"j\"\ntype = \"{kind}\"\nbodies = [\"a\", \"b\"]\n{text}\n"
    )
}

fn joint(kind: &str, text: &str) -> Joint {
    read(&with(kind, text)).world.joints.remove(0)
}

fn at_time(formula: &AnyFormula, t: f64) -> f64 {
    formula.value(&Point { q: &[], v: &[], t })
}

#[test]
fn every_kind_holds_where_it_is_drawn() {
    let place = "anchor = [0.5, 0, 1]\naxis = [0, 1, 1]";
    let cases = [
        ("fixed", "", 6),
        ("fixed", "anchor = [0, 0, 0]", 6),
        ("revolute", place, 5),
        ("prismatic", "axis = [1, 0, 0]", 5),
        ("cylindrical", place, 4),
        ("universal", &format!("{place}\naxis2 = [1, 0, 0]"), 4),
        ("ball", "anchor = [0.5, 0, 1]", 3),
        ("planar", "axis = [0, 0, 1]", 3),
        ("screw", &format!("{place}\npitch = 0.01"), 5),
        ("distance", "anchors = [[0, 0, 1.1], [1, 0, 1]]", 1),
        ("point-on-line", place, 2),
        ("point-on-plane", place, 1),
        (
            "point-on-curve",
            "anchor = [1, 0, 1]\ncurve = [\"cos(s)\", \"sin(s)\", 0]\nrange = [\"-pi\", \"pi\"]\naxis = [0, 0, 1]",
            2,
        ),
        ("generic", &format!("{place}\nlocked = [\"x\", \"rz\"]"), 2),
    ];
    for (kind, text, rows) in cases {
        let file = read(&with(kind, text));
        let mut out = Vec::new();
        joint_values(&file.world, &file.state, &mut out);
        assert_eq!(out.len(), rows, "{kind}");
        // Quaternions and points of size one, a few roundings each.
        assert!(out.iter().all(|g| g.abs() < 1e-14), "{kind}: {out:?}");
        assert_eq!(file.state.coordinates.len(), 1);
        assert_eq!(file.world.no_contact, [[0, 1]], "{kind}");
    }
}

#[test]
fn frames_stand_where_the_file_says() {
    let file = read(&with("universal", "anchor = [0.5, 0, 1]\naxis = [0, 2, 0]\naxis2 = [0, 0, 1]"));
    let j = &file.world.joints[0];
    for k in 0..2 {
        let frame = file.state.bodies[j.bodies[k]].pose.compose(&j.frames[k]);
        assert!((frame.position - DVec3::new(0.5, 0.0, 1.0)).length() < 1e-15);
        assert!((frame.rotation * DVec3::Z - DVec3::Y).length() < 1e-15);
        assert!((frame.rotation * DVec3::X - DVec3::Z).length() < 1e-15);
    }
    // In the axes of the bodies: the anchors differ in the world, and closing the gap is left to assembly.
    let file = read(&with(
        "revolute",
        "local_anchors = [[0.5, 0, 0], [-0.4, 0, 0]]\nlocal_axes = [[0, 0, 1], [0, 0, 1]]",
    ));
    let j = &file.world.joints[0];
    assert!((file.world.bodies[0].frame.local_point(j.frames[0].position) - DVec3::X * 0.5).length() < 1e-15);
    assert!((j.frames[1].rotation * DVec3::Z - DVec3::Z).length() < 1e-15);
    assert_eq!(read(&with("ball", "anchor = [0, 0, 0]\ncollide = true")).world.no_contact, [[0; 2]; 0]);
}

#[test]
fn what_acts_on_a_joint() {
    let place = "anchor = [0.5, 0, 1]\naxis = [0, 0, 1]\n";
    let only = |text: &str| -> Action {
        let mut actions = joint("revolute", &format!("{place}{text}")).actions;
        assert_eq!(actions.len(), 1, "{text}");
        assert_eq!(actions[0].coordinate, Coordinate::About(Axis::Z));
        actions.remove(0)
    };
    let ActionKind::Limits { lower, upper, restitution } =
        only("limits_deg = [-90, \"inf\"]\nrestitution = 0.5").kind
    else {
        panic!()
    };
    assert_eq!((lower, upper, restitution), (-std::f64::consts::FRAC_PI_2, f64::INFINITY, 0.5));
    let ActionKind::Speed { target, force } = only("motor = { speed = \"60 rpm\", force = 5 }").kind else {
        panic!()
    };
    assert_eq!((at_time(&target, 1.0), force), (std::f64::consts::TAU, 5.0));
    let ActionKind::Position { target, force, speed } =
        only("motor = { position = \"w*t\", max_speed = 2 }").kind
    else {
        panic!()
    };
    assert_eq!((at_time(&target, 2.0), force, speed), (6.0, f64::INFINITY, 2.0));
    let ActionKind::Force { force } = only("motor = { torque = \"sin(t)\" }").kind else { panic!() };
    assert_eq!(at_time(&force, 0.5), 0.5_f64.sin());
    let ActionKind::Spring { stiffness, damping, rest } =
        only("spring = { stiffness = 10, rest = \"90 deg\" }").kind
    else {
        panic!()
    };
    assert_eq!((stiffness, damping, rest), (10.0, 0.0, std::f64::consts::FRAC_PI_2));
    let ActionKind::Drive { position } = only("drive = \"w*t^2\"").kind else { panic!() };
    assert_eq!(at_time(&position, 2.0), 12.0);
    let friction =
        joint("revolute", &format!("{place}friction = {{ mu = 0.1, radius = 0.02 }}")).friction.unwrap();
    assert_eq!((friction.coefficient, friction.radius, friction.force), (0.1, 0.02, 0.0));
    let both = joint(
        "cylindrical",
        &format!(
            "{place}limits = [-1, 1]\n[[joint.on]]\ncoordinate = \"z\"\nlimits = [0, 0.5]\nspring = {{ stiffness = 1 }}"
        ),
    );
    let on: Vec<_> = both.actions.iter().map(|a| a.coordinate).collect();
    assert_eq!(on, [Coordinate::About(Axis::Z), Coordinate::Along(Axis::Z), Coordinate::Along(Axis::Z)]);
}

#[test]
fn ropes_and_rods_measure_their_length() {
    let anchors = "anchors = [[0, 0, 1], [1, 0, 1]]";
    assert!(
        matches!(joint("distance", anchors).kind, JointKind::Distance { length } if (length - 1.0).abs() < 1e-15)
    );
    let rope = joint("rope", &format!("{anchors}\nlength = 2\nrestitution = 0.3"));
    assert!(matches!(rope.kind, JointKind::Rope { length: 2.0, restitution: 0.3 }));
    assert!(rope.actions.is_empty());
}

#[test]
fn gears_couple_the_joints_above() {
    let wheels = "[world]\n\
        [[body]]\nname = \"a\"\nmass = 1\n[[body.shape]]\ntype = \"sphere\"\nradius = 0.1\n\
        [[body]]\nname = \"b\"\nmass = 1\nposition = [1, 0, 0]\n[[body.shape]]\ntype = \"sphere\"\nradius = 0.1\n\
        [[joint]]\nname = \"j\"\ntype = \"revolute\"\nbodies = [\"world\", \"a\"]\nanchor = [0, 0, 0]\naxis = [0, 0, 1]\n\
        [[joint]]\nname = \"k\"\ntype = \"revolute\"\nbodies = [\"world\", \"b\"]\nanchor = [1, 0, 0]\naxis = [0, 0, 1]\n";
    let gear = read(&format!(
        "{wheels}[[joint]]\nname = \"g\"\ntype = \"gear\"\njoints = [\"j\", \"k\"]\nteeth = [20, 30]\n"
    ));
    assert_eq!(gear.world.bodies[2].name, "world");
    let JointKind::Coupler { joints, factors, offset } = gear.world.joints[2].kind else { panic!() };
    assert_eq!((joints, factors, offset), ([0, 1], [20.0, 30.0], 0.0));
    assert_eq!(gear.world.joints[2].bodies, [0, 1]);
    assert_eq!(gear.world.no_contact, [[0, 1], [0, 2], [1, 2]]);
    let rope = "[[joint]]\nname = \"d\"\ntype = \"distance\"\nbodies = [\"a\", \"b\"]\nanchors = [[0, 0, 0], [1, 0, 0]]\n";
    let coupler = "[[joint]]\nname = \"c\"\ntype = \"coupler\"\njoints = [\"j\", \"d\"]\nfactors = [2, 3]\n";
    let file = read(&format!("{wheels}{rope}{coupler}"));
    // The offset is the one of the start: an angle of zero and a length of one.
    assert!(
        matches!(file.world.joints[3].kind, JointKind::Coupler { offset, .. } if (offset - 3.0).abs() < 1e-15)
    );
}

#[test]
fn controls_over_time_take_the_place_of_targets() {
    let motor = "anchor = [0.5, 0, 1]\naxis = [0, 1, 1]\nmotor = { speed = 7, force = 2 }";
    let at = |control: &str, t: f64| {
        let world = read(&format!("{}{control}", with("revolute", motor))).world;
        at_time(world.joints[0].actions[0].kind.input().unwrap(), t)
    };
    assert_eq!(at("", 0.5), 7.0);
    assert_eq!(at("[[control]]\nactuator = \"j\"\nvalue = \"w*t\"\n", 0.5), 1.5);
    let table = "[[control]]\nactuator = \"j\"\ntimes = [0, 1]\nvalues = [2, 4]\n";
    assert_eq!(
        [at(table, 0.5), at(&format!("{table}linear = true\n"), 0.5), at(table, 3.0)],
        [2.0, 3.0, 4.0]
    );
    for (control, message) in [
        ("actuator = \"k\"\nvalue = 1\n", "there is no actuator `k`"),
        ("actuator = \"j\"\n", "`value`"),
        ("actuator = \"j\"\ntimes = [1, 1]\nvalues = [0, 0]\n", "times that increase"),
        ("actuator = \"j\"\ntimes = [0, 1]\nvalues = [0]\n", "as many values as there are times"),
        (
            "actuator = \"j\"\nvalue = 1\n[[control]]\nactuator = \"j\"\nvalue = 2\n",
            "already a control of `j`",
        ),
    ] {
        let text = format!("{}[[control]]\n{control}", with("revolute", motor));
        let error = delassus_scene::read_world(&text, None, &[]).unwrap_err().render("w.toml", &text);
        assert!(error.contains(message), "{error}");
    }
}
