//! Every entry of a system file arrives in the system.

use delassus::lagrangian::{FormulaId, Measure, kinematics};
use delassus_scene::{Expect, Expected, ExpectedValue, SolutionCount, read_system};

pub const ROD: &str = r#"[system]
name = "Painlevé rod"
coordinates = ["x", "y", "theta"]

[parameters]
m = 1.0
l = "m/2"
g = 9.81
mu = 2

[energy]
kinetic   = "m*(x'^2 + y'^2)/2 + (m*l^2/3)*theta'^2/2"
potential = "m*g*y"

[[force]]
coordinate = "theta"
value = "0"

[[contact]]
name = "tip"
gap  = "y - l*sin(theta)"
slip = ["x - l*cos(theta)"]
mu   = "mu"
restitution = 0.0

[[joint]]
name  = "guide"
value = "x - l*cos(theta)"
slip  = ["y + l*sin(theta)"]
mu    = 0.1

[state]
t = 1
[state.position]
theta = "45 deg"
y = "l*sin(pi/4)"
[state.velocity]
x = -1.0

[expect]
existence = "refuted"
solutions = "none"
[[expect.value]]
path = "/contacts/0/mu_jam"
equals = "5/3"
[[expect.value]]
path = "/contacts/0/jams"
equals = true
tolerance = 1e-6
"#;

#[test]
fn the_rod_is_read() {
    let file = read_system(ROD, &[]).unwrap();
    assert_eq!(file.system.name, "Painlevé rod");
    assert_eq!(file.system.coordinates, ["x", "y", "theta"]);
    assert_eq!(file.parameters[1], ("l".to_string(), 0.5));
    assert_eq!(file.parameters.len(), 4);
    let angle = std::f64::consts::FRAC_PI_4;
    assert_eq!(file.state.q, [0.0, 0.5 * angle.sin(), 45.0 * (std::f64::consts::PI / 180.0)]);
    assert_eq!(file.state.v, [-1.0, 0.0, 0.0]);
    assert_eq!(file.state.t, 1.0);
    assert_eq!(file.system.joints[0].name, "guide");
    assert!(matches!(file.system.contacts[0].normal, Measure::Displacement(_)));
    let expected = Expect {
        existence: Some("refuted".to_string()),
        solutions: Some(SolutionCount::Exactly(0)),
        values: vec![
            ExpectedValue {
                path: "/contacts/0/mu_jam".to_string(),
                equals: Expected::Number(5.0 / 3.0),
                tolerance: 1e-9,
            },
            ExpectedValue {
                path: "/contacts/0/jams".to_string(),
                equals: Expected::Boolean(true),
                tolerance: 1e-6,
            },
        ],
        ..Expect::default()
    };
    assert_eq!(file.expect, Some(expected));
    let k = kinematics(&file.system, &file.state).unwrap();
    assert!(k.contacts[0].gap.abs() < 1e-16);
    assert_eq!(k.contacts[0].mu_static, 2.0);
    assert_eq!(k.joints[0].mu, 0.1);
}

#[test]
fn formulas_are_located() {
    let file = read_system(ROD, &[]).unwrap();
    let text = |id| file.locate(id).map(|span| &ROD[span]);
    assert_eq!(text(FormulaId::Potential), Some("\"m*g*y\""));
    assert_eq!(text(FormulaId::ContactNormal(0)), Some("\"y - l*sin(theta)\""));
    assert_eq!(text(FormulaId::ContactSlip(0, 0)), Some("\"x - l*cos(theta)\""));
    assert_eq!(text(FormulaId::ContactMuKinetic(0)), Some("\"mu\""));
    assert_eq!(text(FormulaId::JointMu(0)), Some("0.1"));
    assert_eq!(text(FormulaId::Force(0)), Some("\"0\""));
    assert_eq!(text(FormulaId::ContactSlip(0, 1)), None);
}

#[test]
fn overrides_count_from_where_they_stand() {
    let read = |overrides: &[(&str, &str)]| {
        let parameters = read_system(ROD, overrides).unwrap().parameters;
        parameters.into_iter().map(|(_, value)| value).collect::<Vec<_>>()
    };
    // l follows m; g may be given by m and l; the last of two counts.
    assert_eq!(read(&[("m", "4")]), [4.0, 2.0, 9.81, 2.0]);
    assert_eq!(read(&[("g", "m + l"), ("m", "7"), ("m", "2")]), [2.0, 1.0, 3.0, 2.0]);
    assert_eq!(read(&[("mu", "180 deg")])[3], std::f64::consts::PI);
}

#[test]
fn a_file_may_be_short() {
    let file = read_system("system.coordinates = ['x']\nenergy.kinetic = '''\nx'^2'''", &[]).unwrap();
    assert_eq!(file.state.q, [0.0]);
    assert!(file.system.potential.is_none() && file.system.contacts.is_empty() && file.expect.is_none());
}
