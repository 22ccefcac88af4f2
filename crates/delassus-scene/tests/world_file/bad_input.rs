//! Every kind of bad world is refused with its line and what was expected.

use delassus_scene::{FileError, read_world};

use super::read::BRICK;
use crate::support::{each_line_is_refused, refused};

fn refuse(text: &str) -> FileError {
    read_world(text, None, &[]).expect_err("a bad world was read")
}

#[test]
fn each_line_is_named() {
    let cases = [
        // (line, what is written instead, message, what was expected)
        ("mass = 1.0", "mass = 0", "`mass` is 0", "a positive number"),
        ("mass = 1.0", "mass = -2.5", "`mass` is -2.5", "a positive number"),
        ("mass = 1.0", "mass = nan", "`mass` is NaN", "a finite number"),
        ("mass = 1.0", "mas = 1.0", "unknown key `mas` in body `brick`", "did you mean `mass`?"),
        ("mass = 1.0", "mass = \"2 g\"", "unexpected `g`", "write `*` for a product"),
        ("mass = 1.0", "mass = \"45 deg\"", "`mass` is `45 deg`", "a mass (kg, g)"),
        ("mass = 1.0", "mass = \"3 kg/m\"", "`mass` is `3 kg/m`", "a mass (kg, g)"),
        ("gravity", "gravity = [0, 0, \"-9.81 m/s\"]", "`gravity` is `-9.81 m/s`", "(m/s^2)"),
        ("velocity = [1", "velocity = [1, \"60 rpm\", 0]", "`velocity` is `60 rpm`", "a speed (m/s)"),
        ("euler_deg", "euler_deg = [0, \"3 mm\", 0]", "`euler_deg` is `3 mm`", "an angle"),
        ("half_extents", "half_extents = [0.1, \"1 s\", 0.1]", "`half_extents` is `1 s`", "a length"),
        ("mu = 0.4", "mu = \"0.4 N\"", "`mu` is `0.4 N`", "a number without a unit"),
        ("mu = 0.4", "mu = \"0.4 deg\"", "`mu` is `0.4 deg`", "a number without a unit"),
        ("force = [0.0", "force = [\"1 Nm\", 0, 0]", "`force` is `1 Nm`", "a force (N)"),
        ("velocity = [1", "torque = [0, 0, \"1 N\"]", "`torque` is `1 N`", "a moment (Nm)"),
        ("name = \"ball\"", "name = \"brick\"", "there is already a body `brick`", "a name of its own"),
        ("name = \"ball\"", "name = \"\"", "the name is empty", "a name"),
        ("gravity", "gravity = [0, 0]", "`gravity` has 2 entries", "three numbers"),
        ("gravity", "gravity = 9.81", "`gravity` is a number", "three numbers"),
        ("gravity", "gravty = [0, 0, 1]", "unknown key `gravty` in [world]", "did you mean `gravity`?"),
        ("gravity", "plane = \"zx\"", "`plane` is `zx`", "\"xz\""),
        ("normal", "normal = [0, 0, 0]", "`normal` has length zero", "a direction"),
        ("normal", "radius = 1", "unknown key `radius` in shape 1 of body `ground`", "`normal`"),
        ("type = \"plane\"", "type = \"plain\"", "`type` is `plain`", "\"plane\""),
        ("velocity = [1", "velocity = [1, inf, 0]", "`velocity` is inf", "a finite number"),
        ("velocity = [1", "velocity = [1, \"y\", 0]", "unknown symbol `y`", "a parameter defined above"),
        (
            "euler_deg",
            "orientation = [2, 0, 0, 0]",
            "`orientation` has length 2",
            "a unit quaternion w, x, y, z",
        ),
        ("euler_deg", "orientation = [0, 0, 0]", "`orientation` has 3 entries", "four numbers"),
        ("half_extents", "half_extents = [0.1, -0.1, 0.1]", "`half_extents` is -0.1", "a positive number"),
        ("radius", "radius = -1", "`radius` is -1", "a positive number"),
        ("radius", "radius = 0", "`radius` is 0", "a positive number"),
        ("density", "density = -1", "`density` is -1", "not negative"),
        (
            "mu = 0.4",
            "mu = -0.4",
            "the friction coefficient of [[friction]] number 1 is -0.4",
            "not negative",
        ),
        (
            "restitution = 0.5",
            "restitution = 1.5",
            "the restitution of [[friction]] number 2 is 1.5",
            "from 0 to 1",
        ),
        ("rolling", "rolling = -1", "`rolling` is -1", "not negative"),
        ("between = [\"ball", "between = [\"bal\", \"*\"]", "unknown body `bal`", "did you mean `ball`?"),
        ("between = [\"ball", "between = [\"ball\"]", "`between` has 1 entries", "two bodies"),
        ("bodies", "bodies = [\"ground\", \"brik\"]", "unknown body `brik`", "did you mean `brick`?"),
        (
            "bodies",
            "bodies = [\"brick\", \"brick\"]",
            "joint `hinge` joins body `brick` to itself",
            "two different bodies",
        ),
        (
            "bodies",
            "bodies = [\"ground\", \"world\"]",
            "joint `hinge` joins two fixed bodies",
            "a body that moves",
        ),
        ("type = \"revolute\"", "type = \"hinge\"", "`type` is `hinge`", "\"revolute\""),
        ("axis = ", "axis = [0, 0, 0]", "`axis` has length zero", "a direction"),
        ("axis = ", "axes = [0, 0, 1]", "unknown key `axes` in joint `hinge`", "did you mean `axis`?"),
        ("limits_deg", "limits_deg = [90, -90]", "`limits_deg` runs from", "the smaller number first"),
        ("limits_deg", "motor = { speed = 1, torque = 2 }", "both `speed` and `torque`", "exactly one"),
        (
            "limits_deg",
            "motor = { force = 2 }",
            "missing key `speed` in motor of joint `hinge`",
            "`position`",
        ),
        ("limits_deg", "spring = { stiffness = -1 }", "`stiffness` is -1", "not negative"),
        ("limits_deg", "drive = \"sin(x)\"", "unknown symbol `x`", "`t`, a parameter or a function"),
        (
            "limits_deg",
            "friction = { mu = -1 }",
            "the friction coefficient of joint `hinge` is -1",
            "not negative",
        ),
        ("limits_deg", "collide = 1", "`collide` is an integer", "true or false"),
        ("dt = ", "dt = 0", "`dt` is 0", "a positive number"),
        ("law = ", "law = \"lcp\"", "`law` is `lcp`", "\"ncp\" or \"ccp\""),
        ("[simulation]", "[simulatoin]", "unknown key `simulatoin`", "did you mean `simulation`?"),
        ("at_most", "at_mots = 1", "unknown key `at_mots`", "did you mean `at_most`?"),
    ];
    each_line_is_refused(BRICK, &cases, refuse);
}

#[test]
fn bodies_that_cannot_be() {
    let body = |text: &str| format!("[world]\n[[body]]\nname = \"b\"\n{text}\n");
    let ball = "[[body.shape]]\ntype = \"sphere\"\nradius = 1";
    let cases = [
        (body("mass = 1"), 2, "body `b` has neither a shape nor an inertia", "a shape, or `inertia`"),
        (body(""), 2, "body `b` has no mass", "`mass`, or `density`"),
        (body(ball), 2, "body `b` has no mass", "`mass`, or `density`"),
        (body("inertia = [1, 1, 1]"), 2, "body `b` has no mass", "`mass`, or `density`"),
        (
            body("mass = 1\ninertia = [1, 1, 2.5]"),
            5,
            "break the triangle inequality: 2.5 > 1 + 1",
            "at most the sum",
        ),
        (
            body("mass = 1\ninertia = [1, 1, 0]"),
            5,
            "principal moments of body `b` are 1, 1 and 0",
            "positive",
        ),
        (
            body("mass = 1\ninertia = [1, -1, 1]"),
            5,
            "principal moments of body `b` are 1, -1 and 1",
            "positive",
        ),
        (body("mass = 1\ninertia = [[1, 2, 0], [2, 1, 0], [0, 0, 1]]"), 5, "are -1, 3 and 1", "positive"),
        (
            body("mass = 1\ninertia = [[1, 2, 0], [3, 1, 0], [0, 0, 1]]"),
            5,
            "not symmetric: entries 12 and 21 are 2 and 3",
            "a symmetric",
        ),
        (body("mass = 1\ninertia = [1, 1]"), 5, "`inertia` has 2 entries", "three principal moments"),
        (
            body("mass = 1\n[[body.shape]]\ntype = \"plane\""),
            5,
            "a plane has no volume",
            "`mass` and `inertia`",
        ),
        (
            body("mass = 1\n[[body.shape]]\ntype = \"convex\"\npoints = [[0,0,0],[1,0,0],[0,1,0],[1,1,0]]"),
            5,
            "the convex is flat",
            "`inertia`",
        ),
        (
            body(
                "mass = 1\n[[body.shape]]\ntype = \"mesh\"\nvertices = [[0,0,0],[1,0,0],[0,1,0]]\ntriangles = [[0,1,2]]",
            ),
            5,
            "the mesh is open",
            "`inertia`",
        ),
        (
            body(&format!("mass = 1\n{ball}\ndensity = 1")),
            8,
            "both `mass` and `density` in body `b`",
            "exactly one",
        ),
        (
            body(&format!("{ball}\ndensity = 1\n{ball}")),
            8,
            "missing key `density` in shape 2 of body `b`",
            "0 for a shape without mass",
        ),
        (body("fixed = true\nvelocity = [1, 0, 0]"), 5, "body `b` is fixed and has a velocity", "not fixed"),
        (
            body(
                "fixed = true\n[[body.shape]]\ntype = \"mesh\"\nvertices = [[0,0,0]]\ntriangles = [[0,0,1]]",
            ),
            8,
            "names corner 1",
            "from 0 to 0",
        ),
        (
            body(
                "fixed = true\n[[body.shape]]\ntype = \"heightfield\"\nheights = [[0, 0], [0]]\nextent = [1, 1]",
            ),
            7,
            "row 2 of `heights` has 1 entries",
            "one length",
        ),
        (
            "[world]\n[system]\ncoordinates = []".to_string(),
            1,
            "both a [system] and a [world] table",
            "one of them",
        ),
        ("[parameters]".to_string(), 1, "expected a [system] or a [world] table", ""),
        ("[system]\ncoordinates = [\"x\"]".to_string(), 1, "expected a [world] table, found a [system]", ""),
    ];
    for (text, line, message, help) in cases {
        refused(&text, line, &[message, help], refuse);
    }
}

#[test]
fn joints_that_cannot_be() {
    let ball = |name: &str| {
        format!("[[body]]\nname = \"{name}\"\nmass = 1\n[[body.shape]]\ntype = \"sphere\"\nradius = 1\n")
    };
    let cases = [
        ("type = \"universal\"\nanchor = [0,0,0]\naxis = [0,0,1]", 14, "missing key `axis2`"),
        ("type = \"universal\"\nanchor = [0,0,0]\naxis = [0,0,1]\naxis2 = [0,0,2]", 20, "are parallel"),
        ("type = \"universal\"\nanchor = [0,0,0]\naxis = [0,0,1]\naxis2 = [0,1,1]", 20, "not perpendicular"),
        ("type = \"distance\"", 14, "neither `anchors` nor `local_anchors`"),
        ("type = \"distance\"\nanchors = [[0,0,0],[0,0,0]]", 14, "`length` is 0"),
        ("type = \"screw\"\nanchor = [0,0,0]\naxis = [0,0,1]", 14, "missing key `pitch`"),
        ("type = \"prismatic\"\naxis = [0,0,1]\nlimits_deg = [0, 1]", 19, "is not an angle"),
        ("type = \"fixed\"\ndrive = \"t\"", 18, "allows no motion"),
        ("type = \"generic\"\nanchor = [0,0,0]\nlocked = [\"q\"]", 19, "`locked` is `q`"),
        ("type = \"gear\"\njoints = [\"k\", \"j\"]\nteeth = [1, 2]", 16, "unknown key `bodies`"),
        (
            "type = \"ball\"\nanchor = [0,0,0]\n[[joint.on]]\ncoordinate = \"s\"\nlimits = [0, 1]",
            14,
            "no curve",
        ),
        ("type = \"ball\"\nanchor = [0,0,0]\nanchors = [[0,0,0],[0,0,0]]", 19, "both `anchor` and `anchors`"),
    ];
    for (joint, line, message) in cases {
        let text = format!(
            "[world]\n{}{}[[joint]]\nname = \"j\"\nbodies = [\"a\", \"b\"]\n{joint}\n",
            ball("a"),
            ball("b")
        );
        refused(&text, line, &[message], refuse);
    }
}

#[test]
fn laws_of_friction_are_named() {
    // The keys of the entry begin at line 4; what is missing is said of the entry.
    let cases = [
        ("spinning = -1", 4, "`spinning` is -1", "not negative"),
        ("spinning = nan", 4, "`spinning`", "finite"),
        ("spinning = \"3 kg\"", 4, "`spinning` is `3 kg`", "a length (m, cm, mm)"),
        ("restitution_tangential = 2", 4, "the restitution of [[friction]] number 1 is 2", "from 0 to 1"),
        (
            "restitution_tangential = 0.5",
            4,
            "`restitution_tangential` acts in rebounds, and `restitution` is 0",
            "`restitution` above 0",
        ),
        ("mu_static = 0.4", 2, "missing key `mu_kinetic`", "both `mu_static` and `mu_kinetic`"),
        (
            "mu_static = 0.4\nmu_kinetic = 0.5",
            4,
            "the static friction 0.4 is less than 0.5",
            "`mu_static` to be at least `mu_kinetic`",
        ),
        ("mu = 0.4\nmu_static = 0.5", 5, "both `mu` and `mu_static`", "exactly one"),
        ("mu = [0.1, 0.2]", 2, "missing key `axis`", "the direction of the first coefficient"),
        ("mu = [0.1, 0.2]\naxis = [0, 0, 0]", 5, "`axis` has length zero", "a direction"),
        ("mu = [0.1, -0.2]\naxis = [0, 0, 1]", 4, "`mu` is -0.2", "a positive number"),
        ("mu = 0.1\naxis = [0, 0, 1]", 4, "`mu` is a number", "two coefficients"),
        ("mu = [0.1, 0.2]\naxis = [0, 0, 1]", 5, "`axis` is fixed in the first body", "the name of a body"),
    ];
    for (keys, line, message, help) in cases {
        let text = format!("[world]\n[[friction]]\nbetween = [\"*\", \"*\"]\n{keys}\n");
        refused(&text, line, &[message, help], refuse);
    }
}

/// A joint that rotates has angles and moments, one that slides lengths and forces.
#[test]
fn units_of_joints_are_those_of_their_motion() {
    let joint = |kind: &str, key: &str| {
        format!(
            "[world]\n[[body]]\nname = \"b\"\nmass = 1\ninertia = [1, 1, 1]\n[[joint]]\nname = \"j\"\n\
             type = \"{kind}\"\nbodies = [\"world\", \"b\"]\nanchor = [0, 0, 0]\naxis = [0, 0, 1]\n{key}\n"
        )
    };
    let cases = [
        ("spring = { stiffness = \"5 N/m\" }", "spring = { stiffness = \"5 Nm/rad\" }", "`stiffness` is"),
        ("spring = { damping = \"5 N*s/m\" }", "spring = { damping = \"5 Nm*s/rad\" }", "`damping` is"),
        (
            "spring = { stiffness = 1, rest = \"5 mm\" }",
            "spring = { stiffness = 1, rest = \"5 deg\" }",
            "`rest` is",
        ),
        ("motor = { speed = \"2 m/s\" }", "motor = { speed = \"2 rad/s\" }", "`speed` is"),
        ("motor = { torque = \"2 N\" }", "motor = { torque = \"2 Nm\" }", "`torque` is"),
        ("motor = { position = \"2 mm\" }", "motor = { position = \"2 deg\" }", "`position` is"),
        ("limits = [\"-2 mm\", \"3 mm\"]", "limits = [\"-2 deg\", \"3 deg\"]", "`limits` is"),
        ("drive = \"2 mm\"", "drive = \"2 deg\"", "`drive` is"),
    ];
    for (friction, message) in [("force = \"1 Nm\"", "`force` is"), ("torque = \"1 N\"", "`torque` is")] {
        let error = refuse(&joint("revolute", &format!("friction = {{ {friction} }}"))).to_string();
        assert!(error.contains(message), "{friction}: {error}");
    }
    for (along, about, message) in cases {
        for (kind, good, bad) in [("prismatic", along, about), ("revolute", about, along)] {
            assert!(read_world(&joint(kind, good), None, &[]).is_ok(), "{kind} {good}");
            let error = refuse(&joint(kind, bad)).to_string();
            assert!(error.contains(message), "{kind} {bad}: {error}");
        }
    }
}
