//! Every entry of a world file arrives in the world.

use delassus::stepping::FrictionLaw;
use delassus::world::{Pose, ShapeKind};
use delassus_scene::{Expected, SceneKind, scene_kind};
use delassus_scene::{Integrator, WorldFile, read_world};
use glam::{DQuat, DVec3};
use proptest::prelude::*;

/// A world with every table.
pub const BRICK: &str = r#"[world]
name = "a brick on the ground"
gravity = [0.0, 0.0, "-g"]

[parameters]
g = 9.81
size = "10 cm"
tilt = "30 deg"

[[body]]
name = "ground"
fixed = true
[[body.shape]]
type = "plane"
normal = [0.0, 0.0, 2.0]

[[body]]
name = "brick"
mass = 1.0
position = [0.0, 0.0, 0.5]
euler_deg = [0.0, "tilt*180/pi", 0.0]
velocity = [1.0, 0.0, 0.0]
angular_velocity = [0.0, 0.0, "60 rpm"]
force = [0.0, 1.0, 0.0]
[[body.shape]]
type = "box"
half_extents = ["size", "2*size", 0.3]

[[body]]
name = "ball"
position = [1.0, 0.0, 0.5]
[[body.shape]]
type = "sphere"
radius = "size"
density = "7800 kg/m^3"

[[friction]]
between = ["*", "*"]
mu = 0.4
[[friction]]
between = ["ball", "*"]
mu = 0.1
restitution = 0.5
rolling = 1e-3
spinning = "2 mm"
restitution_tangential = 0.25

[[joint]]
name = "hinge"
type = "revolute"
bodies = ["ground", "brick"]
anchor = [0.0, 0.0, 0.5]
axis = [0.0, 1.0, 0.0]
limits_deg = [-90.0, "0.5*pi rad"]

[simulation]
dt = 1e-3
t_end = 2.0
law = "ccp"
integrator = "time-stepping"
solver = "newton"

[expect]
forces_unique = "proved"
[[expect.check]]
path = "/bodies/1/mass"
equals = 1.0
[[expect.run]]
path = "/max_penetration"
at_most = 1e-6
"#;

pub fn read(text: &str) -> WorldFile {
    read_world(text, None, &[]).unwrap_or_else(|e| panic!("{}", e.render("world.toml", text)))
}

fn near(a: DVec3, b: DVec3) -> bool {
    (a - b).length() < 1e-14
}

#[test]
fn every_table_arrives() {
    let file = read(BRICK);
    let world = &file.world;
    assert_eq!(scene_kind(BRICK), Ok(SceneKind::World));
    assert_eq!(world.name, "a brick on the ground");
    assert_eq!(world.gravity, DVec3::new(0.0, 0.0, -9.81));
    assert_eq!(file.parameters.iter().map(|(n, _)| n.as_str()).collect::<Vec<_>>(), ["g", "size", "tilt"]);
    let [ground, brick, ball] = &world.bodies[..] else { panic!("{:?}", world.bodies) };
    assert!(ground.fixed && matches!(ground.shapes[0].kind, ShapeKind::Plane));
    assert_eq!(ground.shapes[0].pose, Pose::IDENTITY);
    assert!((brick.mass, brick.force) == (1.0, [DVec3::Y, DVec3::ZERO]));
    assert!(near(brick.inertia, DVec3::new(0.13, 0.1, 0.05) / 3.0));
    assert!((ball.mass - 7800.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-3).abs() < 1e-12);
    let state = &file.state.bodies[1];
    let tilt = DQuat::from_rotation_y(30_f64.to_radians());
    assert!(
        state.pose.rotation.angle_between(tilt) < 1e-7 && state.pose.position == DVec3::new(0.0, 0.0, 0.5)
    );
    assert!(
        near(state.world_angular_velocity(), DVec3::Z * std::f64::consts::TAU),
        "60 turns a minute, in world axes"
    );
    let [any, of_ball] = [world.surface(0, 1), world.surface(1, 2)];
    assert_eq!((any.mu, any.restitution), (0.4, 0.0));
    assert_eq!((of_ball.mu, of_ball.restitution, of_ball.rolling), (0.1, 0.5, 1e-3));
    assert_eq!((of_ball.spinning, of_ball.restitution_tangential), (2e-3, 0.25));
    assert_eq!(world.no_contact, vec![[0, 1]]);
    let simulation = &file.simulation;
    assert_eq!((simulation.dt, simulation.t_end, simulation.tolerance), (Some(1e-3), Some(2.0), None));
    assert_eq!(simulation.law, Some(FrictionLaw::Ccp));
    assert_eq!(simulation.integrator, Some(Integrator::TimeStepping));
    assert_eq!(simulation.solver, Some(delassus_solve::contact::Method::Newton));
    let expect = file.expect.unwrap();
    assert_eq!(expect.analyze.forces_unique.as_deref(), Some("proved"));
    assert_eq!(expect.check[0].equals, Expected::Number(1.0));
    assert!(expect.check[0].accepts(1.0 + 1e-10) && !expect.check[0].accepts(1.1));
    assert!(expect.run[0].accepts(0.0) && !expect.run[0].accepts(1e-5));
}

#[test]
fn parameters_and_options_can_be_set() {
    let file = read_world(BRICK, None, &[("size", "20 cm"), ("dt", "2 ms"), ("t_end", "1/4")]).unwrap();
    let ShapeKind::Box { half_extents } = file.world.bodies[1].shapes[0].kind else { panic!() };
    assert_eq!(half_extents, DVec3::new(0.2, 0.4, 0.3));
    assert_eq!((file.simulation.dt, file.simulation.t_end), (Some(2e-3), Some(0.25)));
    for (set, message) in
        [(("sise", "1"), "unknown parameter"), (("dt", "-1"), "`dt` is -1"), (("dt", "x"), "cannot set")]
    {
        let error = read_world(BRICK, None, &[set]).unwrap_err().render("w.toml", BRICK);
        assert!(error.contains(message), "{error}");
    }
}

/// A body with this text in its table.
fn one_body(text: &str) -> WorldFile {
    read(&format!("[world]\n[[body]]\nname = \"b\"\n{text}"))
}

#[test]
fn the_centre_of_mass_follows_the_shapes_unless_inertia_is_given() {
    let shapes = "[[body.shape]]\ntype = \"sphere\"\nradius = 0.1\nposition = [1, 0, 0]\n\
                  [[body.shape]]\ntype = \"sphere\"\nradius = 0.1\nposition = [0, 0, 0]\n";
    let place = "mass = 2\nposition = [0, 5, 0]\neuler_deg = [0, 0, 90]\n";
    let file = one_body(&format!("{place}{shapes}"));
    let (body, state) = (&file.world.bodies[0], &file.state.bodies[0]);
    assert!(near(state.pose.position, DVec3::new(0.0, 5.5, 0.0)), "{state:?}");
    // Two balls of 1 kg, each 0.5 m from the middle: parallel axes.
    let ball = 0.4 * 0.01;
    assert!(near(body.inertia, DVec3::new(2.0 * ball, 2.0 * ball + 0.5, 2.0 * ball + 0.5)), "{body:?}");
    let written = state.pose.compose(&body.frame);
    assert!(
        near(written.position, DVec3::Y * 5.0) && near(written.rotation * DVec3::X, DVec3::Y),
        "{written:?}"
    );
    let first = state.pose.compose(&body.shapes[0].pose);
    assert!(near(first.position, DVec3::new(0.0, 6.0, 0.0)), "{first:?}");

    let file = one_body(&format!("{place}inertia = [1, 2, 2.5]\n{shapes}"));
    assert!(near(file.state.bodies[0].pose.position, DVec3::Y * 5.0));
    assert_eq!(file.world.bodies[0].inertia, DVec3::new(1.0, 2.0, 2.5));
    let file = one_body(&format!("{place}inertia = [1, 2, 2.5]\ncenter_of_mass = [0, 0, 1]\n{shapes}"));
    assert!(near(file.state.bodies[0].pose.position, DVec3::new(0.0, 5.0, 1.0)));
}

#[test]
fn roll_pitch_and_yaw_turn_about_the_axes_of_the_world_in_this_order() {
    let file = one_body("fixed = true\neuler_deg = [10, 20, \"30 deg\"]");
    let [x, y, z] = [10_f64, 20.0, 30.0].map(f64::to_radians);
    let want = DQuat::from_rotation_z(z) * DQuat::from_rotation_y(y) * DQuat::from_rotation_x(x);
    let got = file.state.bodies[0].pose.rotation;
    assert!((0..3).all(|k| near(got * DVec3::AXES[k], want * DVec3::AXES[k])), "{got} for {want}");
}

#[test]
fn densities_weigh_shapes() {
    let file = one_body(
        "[[body.shape]]\ntype = \"box\"\nhalf_extents = [0.5, 0.5, 0.5]\ndensity = 3\n\
         [[body.shape]]\ntype = \"box\"\nhalf_extents = [0.5, 0.5, 0.5]\ndensity = 1\nposition = [1, 0, 0]\n\
         [[body.shape]]\ntype = \"plane\"\ndensity = 0\n",
    );
    assert_eq!(file.world.bodies[0].mass, 4.0);
    assert!(near(file.state.bodies[0].pose.position, DVec3::new(0.25, 0.0, 0.0)));
    assert_eq!(file.world.gravity, DVec3::new(0.0, 0.0, -9.81), "where the file gives none");
}

#[test]
fn every_shape_is_read() {
    let text = r#"fixed = true
[[body.shape]]
type = "plane"
normal = [1, 0, 0]
offset = 2
[[body.shape]]
type = "capsule"
radius = 0.1
half_height = 0.2
euler_deg = ["0.5*pi rad", 0, 0]
[[body.shape]]
type = "cylinder"
radius = 0.1
half_height = 0.2
[[body.shape]]
type = "cone"
radius = 0.1
half_height = 0.2
[[body.shape]]
type = "convex"
points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
scale = 2
[[body.shape]]
type = "mesh"
vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
triangles = [[0, 1, 2]]
scale = [1, 2, 3]
[[body.shape]]
type = "heightfield"
heights = [[0, 0, 1], [0, 0.5, 1]]
extent = [4, 2]
"#;
    let shapes = &one_body(text).world.bodies[0].shapes;
    assert!(
        near(shapes[0].pose.position, DVec3::X * 2.0) && near(shapes[0].pose.rotation * DVec3::Z, DVec3::X)
    );
    assert!(near(shapes[1].pose.rotation * DVec3::Z, -DVec3::Y), "roll is about x");
    assert!(matches!(&shapes[4].kind, ShapeKind::Convex { points } if points[1] == DVec3::X * 2.0));
    assert!(matches!(&shapes[5].kind, ShapeKind::Mesh { vertices, .. } if vertices[2] == DVec3::Y * 2.0));
    let ShapeKind::Heightfield { heights, size, extent } = &shapes[6].kind else { panic!() };
    assert_eq!((heights.len(), *size, *extent), (6, [3, 2], [4.0, 2.0]));
}

#[test]
fn meshes_come_from_files_beside_the_world() {
    let folder = std::env::temp_dir().join(format!("delassus-mesh-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(
        folder.join("t.obj"),
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n",
    )
    .unwrap();
    std::fs::write(folder.join("h.txt"), "0 1 2\n3,4,5 # second row\n").unwrap();
    let text = "[world]\n[[body]]\nname = \"b\"\nmass = 6\n[[body.shape]]\ntype = \"mesh\"\nfile = \"t.obj\"\n\
                [[body]]\nname = \"c\"\nfixed = true\n[[body.shape]]\ntype = \"heightfield\"\nfile = \"h.txt\"\nextent = [1, 1]\n";
    let file = read_world(text, Some(&folder), &[]).unwrap();
    assert!(near(file.state.bodies[0].pose.position, DVec3::splat(0.25)));
    // The corner tetrahedron has ∫x² = 1/60 and ∫xy = 1/120, V = 1/6; its axis of symmetry is the diagonal.
    let (mut moments, j) = (file.world.bodies[0].inertia.to_array(), [0.1 - 0.0625, 0.05 - 0.0625]);
    moments.sort_by(f64::total_cmp);
    let want = [2.0 * (j[0] - j[1]), 2.0 * j[0] + j[1], 2.0 * j[0] + j[1]].map(|i| 6.0 * i);
    assert!(moments.iter().all(|m| want.iter().any(|w| (m - w).abs() < 1e-13)), "{moments:?} {want:?}");
    let missing = text.replace("t.obj", "missing.obj");
    let error = read_world(&missing, Some(&folder), &[]).unwrap_err();
    assert_eq!(error.place.as_ref().map(|p| p.line), Some(7));
    assert!(error.to_string().contains("missing.obj: cannot be read"), "{error}");
    assert!(read_world(text, None, &[]).unwrap_err().to_string().contains("no folder"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_planar_world_holds_its_bodies_in_the_plane() {
    let text = "[world]\nplane = \"xz\"\n[[body]]\nname = \"b\"\nmass = 1\nposition = [0, 0, 1]\nvelocity = [1, 0, 2]\nangular_velocity = [0, 3, 0]\n[[body.shape]]\ntype = \"sphere\"\nradius = 0.1\n";
    let file = read(text);
    assert_eq!(file.world.gravity, DVec3::new(0.0, 0.0, -9.81));
    assert_eq!(file.world.joints.len(), 1);
    assert!(file.world.bodies[1].fixed && file.world.no_contact.is_empty());
    let joint = &file.world.joints[0];
    for k in 0..2 {
        let frame = file.state.bodies[joint.bodies[k]].pose.compose(&joint.frames[k]);
        assert!(near(frame.position, DVec3::Z) && near(frame.rotation * DVec3::Z, DVec3::Y), "{frame:?}");
    }
    for (from, to) in
        [("[1, 0, 2]", "[1, 0.1, 2]"), ("[0, 3, 0]", "[0, 3, 1]"), ("\"xz\"", "\"xz\"\ngravity = [0, 1, 0]")]
    {
        let bad = text.replace(from, to);
        assert!(read_world(&bad, None, &[]).unwrap_err().to_string().contains("leaves the plane xz"), "{to}");
    }
}

#[test]
fn what_a_hinge_holds_in_the_plane_needs_no_other_joint() {
    let ball = |name: &str, x: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nmass = 1\nposition = [{x}, 0, 0]\n[[body.shape]]\ntype = \"sphere\"\nradius = 0.1\n"
        )
    };
    let hinge = |name: &str, a: &str, b: &str, axis: &str| {
        format!(
            "[[joint]]\nname = \"{name}\"\ntype = \"revolute\"\nbodies = [\"{a}\", \"{b}\"]\nanchor = [0, 0, 0]\naxis = {axis}\n"
        )
    };
    let bodies = format!("[world]\nplane = \"xz\"\n{}{}{}", ball("a", 0.0), ball("b", 1.0), ball("c", 2.0));
    let names = |joints: String| {
        let file = read(&format!("{bodies}{joints}"));
        file.world.joints.iter().map(|j| j.name.clone()).collect::<Vec<_>>()
    };
    // A chain on the ground, written from its end; a chain that flies; a hinge that does not hold the plane.
    let chain = hinge("bc", "b", "c", "[0, 1, 0]") + &hinge("ab", "a", "b", "[0, -1, 0]");
    assert_eq!(names(format!("{chain}{}", hinge("a", "world", "a", "[0, 1, 0]"))), ["bc", "ab", "a"]);
    assert_eq!(names(chain), ["bc", "ab", "plane of a"]);
    let wrong = hinge("a", "world", "a", "[1, 0, 0]");
    assert_eq!(names(wrong), ["a", "plane of a", "plane of b", "plane of c"]);
}

proptest! {
    /// Whatever the axes in which a body is written, what is written is what stands in the world.
    #[test]
    fn the_frame_of_the_file_is_recovered(
        q in prop::array::uniform4(-1.0..1.0_f64),
        p in prop::array::uniform3(-2.0..2.0_f64),
        s in prop::array::uniform3(-1.0..1.0_f64),
        w in prop::array::uniform3(-5.0..5.0_f64),
    ) {
        let rotation = DQuat::from_xyzw(q[1], q[2], q[3], q[0]);
        prop_assume!(rotation.length() > 0.1);
        let r = rotation.normalize();
        let text = format!(
            "position = {p:?}\norientation = [{}, {}, {}, {}]\nangular_velocity = {w:?}\n\
             [[body.shape]]\ntype = \"box\"\nhalf_extents = [0.1, 0.2, 0.3]\ndensity = 1000\n\
             [[body.shape]]\ntype = \"cone\"\nradius = 0.2\nhalf_height = 0.4\ndensity = 500\nposition = {s:?}\n",
            r.w, r.x, r.y, r.z
        );
        let file = one_body(&text);
        let (body, state) = (&file.world.bodies[0], &file.state.bodies[0]);
        let written = state.pose.compose(&body.frame);
        let close = |a: DVec3, b: DVec3| (a - b).length() < 1e-12;
        prop_assert!(close(written.position, DVec3::from_array(p)));
        prop_assert!(close(written.rotation * DVec3::X, r * DVec3::X) && close(written.rotation * DVec3::Y, r * DVec3::Y));
        let cone = state.pose.compose(&body.shapes[1].pose);
        prop_assert!(close(cone.position, written.point(DVec3::from_array(s))));
        prop_assert!(close(state.world_angular_velocity(), DVec3::from_array(w)));
    }
}
