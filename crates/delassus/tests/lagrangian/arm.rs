//! The articulated arm of 003 §6, with the mass matrix corrected: accelerations at zero contact force.

use delassus::lagrangian::kinematics;
use delassus_scene::read_system;
use delassus_solve::linalg::dot;

const ARM: &str = r#"[system]
coordinates = ["a", "b", "c", "f"]
[parameters]
rho = 1.0
L1 = 0.5
L2 = 0.5
L3 = 0.1
h = 0.6
g = 9.81
tau = 0.0
[energy]
kinetic = "(rho*L1^2/3*(L1+3*L2+3*L3))*a'^2/2 + (rho*L2^2/3*(L2+3*L3))*b'^2/2 + (rho*L3^3/3)*c'^2/2 + (rho*L1*L2/2*(L2+2*L3)*cos(a-b))*a'*b' + (rho*L1*L3^2/2*cos(a-c))*a'*c' + (rho*L2*L3^2/2*cos(b-c))*b'*c' + (rho*L1^3/3*cos(a)^2 + rho*L2^3/12*cos(b)^2 + rho*L2*(L1*cos(a)+L2/2*cos(b))^2 + rho*L3^3/12*cos(c)^2 + rho*L3*(L1*cos(a)+L2*cos(b)+L3/2*cos(c))^2)*f'^2/2"
potential = "-rho*g*(L1*(L1/2*sin(a)) + L2*(L1*sin(a)+L2/2*sin(b)) + L3*(L1*sin(a)+L2*sin(b)+L3/2*sin(c)))"
[[force]]
coordinate = "a"
value = "-tau"
[[contact]]
name = "P"
gap = "h - L1*sin(a) - L2*sin(b) - L3*sin(c)"
slip_velocity = ["-(L1*cos(a)+L2*cos(b)+L3*cos(c))*f'", "-L1*sin(a)*a' - L2*sin(b)*b' - L3*sin(c)*c'"]
mu = 0.5
[state.position]
a = "2.5047048166976817 deg"
b = "106.15974108082223 deg"
c = "101.75 deg"
[state.velocity]
a = 0.57282361332647
b = 2.056208662192565
c = 0.0
f = 1.0
"#;

/// u̇₀ = A M⁻¹(−F) + γ for the two tangents and the normal.
///
/// Reference values: Lagrange's equations with the corrected (42) of 003, derivatives by complex step.
#[test]
fn free_acceleration_of_the_contact() {
    let cases = [
        ("1.0", "0.0", [0.3566154566183054, 0.2113620589698741, -9.780892724256175]),
        ("2.0", "0.0", [0.3566154566183054, 0.2113620589698741, -9.780892724256175]),
        ("1.0", "5.0", [0.3566154566183054, 1.4903810217379452, 3.2083474048433347]),
        ("2.0", "5.0", [0.3566154566183054, 0.8508715403539096, -3.286272659706422]),
        ("1.0", "10.0", [0.3566154566183054, 2.769399984506014, 16.197587533942848]),
    ];
    for (rho, tau, expected) in cases {
        let file = read_system(ARM, &[("rho", rho), ("tau", tau)]).unwrap();
        let k = kinematics(&file.system, &file.state).unwrap();
        let minus_force: Vec<f64> = k.force.iter().map(|f| -f).collect();
        let q = k.mass.solve(&minus_force).unwrap();
        let contact = &k.contacts[0];
        for (row, expected) in [&contact.slip[0], &contact.slip[1], &contact.normal].into_iter().zip(expected)
        {
            let found = dot(&row.gradient, &q) + row.bias;
            // The state is given to 16 digits and M has a condition number of some 1e4.
            assert!((found - expected).abs() < 1e-10, "rho {rho}, tau {tau}: {found} is not {expected}");
        }
        // u = (−0.34, −1, 0) as in 003 §6, the position being given to 16 digits.
        let u = [contact.slip[0].velocity, contact.slip[1].velocity, contact.normal.velocity];
        for (found, expected) in u.into_iter().zip([-0.34, -1.0, 0.0]) {
            assert!((found - expected).abs() < 1e-14, "{u:?}");
        }
        assert!(contact.gap.abs() < 1e-15);
    }
}
