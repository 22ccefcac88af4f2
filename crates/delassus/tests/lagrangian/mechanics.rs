//! Mass matrices, forces and bias terms against closed forms.

use delassus::formula::{AnyFormula, Formula, Number, Point};
use delassus::lagrangian::{
    Contact, Force, FormulaId, Joint, Kinematics, KinematicsError, Measure, Row, State, System, kinematics,
};
use delassus_scene::read_system;

use crate::support::near::near_vectors;

/// Closed forms and differentiated ones round differently, by a few ulp of terms of order ten.
const ROUNDING: f64 = 1e-13;

fn at(text: &str) -> Kinematics {
    let file = read_system(text, &[]).unwrap_or_else(|e| panic!("{}", e.render("test", text)));
    kinematics(&file.system, &file.state).unwrap_or_else(|e| panic!("{e}"))
}

#[track_caller]
fn close(found: &[f64], expected: &[f64]) {
    near_vectors(found, expected, ROUNDING);
}

fn close_row(found: &Row, gradient: &[f64], velocity: f64, bias: f64) {
    close(&found.gradient, gradient);
    close(&[found.velocity, found.bias], &[velocity, bias]);
}

#[test]
fn pendulum() {
    let k = at(r#"
        system.coordinates = ["a"]
        parameters = { m = 2, l = 0.7, g = 9.81 }
        energy = { kinetic = "m*l^2*a'^2/2", potential = "-m*g*l*cos(a)" }
        state = { position.a = "30 deg", velocity.a = "30 rpm" }
    "#);
    let w = std::f64::consts::PI;
    close(k.mass.data(), &[2.0 * 0.49]);
    close(&k.force, &[2.0 * 9.81 * 0.7 * 0.5]);
    close(&[k.kinetic_energy], &[0.49 * w * w]);
    close(&[k.potential_energy], &[-2.0 * 9.81 * 0.7 * 3f64.sqrt() / 2.0]);
    assert_eq!(k.mass_rank, 1);
}

#[test]
fn double_pendulum() {
    let k = at(r#"
        system.coordinates = ["a", "b"]
        parameters = { m1 = 1.5, m2 = 0.8, l1 = 0.6, l2 = 0.9, g = 9.81 }
        [energy]
        kinetic = "m1*l1^2*a'^2/2 + m2*((l1*cos(a)*a' + l2*cos(b)*b')^2 + (l1*sin(a)*a' + l2*sin(b)*b')^2)/2"
        potential = "-m1*g*l1*cos(a) - m2*g*(l1*cos(a) + l2*cos(b))"
        [state]
        position = { a = 0.4, b = -1.1 }
        velocity = { a = 2.0, b = 3.0 }
    "#);
    let (m1, m2, l1, l2, g) = (1.5, 0.8, 0.6, 0.9, 9.81);
    let (a, b, va, vb) = (0.4f64, -1.1f64, 2.0, 3.0);
    let (s, c) = (a - b).sin_cos();
    close(k.mass.data(), &[(m1 + m2) * l1 * l1, m2 * l1 * l2 * c, m2 * l1 * l2 * c, m2 * l2 * l2]);
    close(
        &k.force,
        &[
            m2 * l1 * l2 * s * vb * vb + (m1 + m2) * g * l1 * a.sin(),
            -m2 * l1 * l2 * s * va * va + m2 * g * l2 * b.sin(),
        ],
    );
}

const SPHERICAL: &str = r#"
    system.coordinates = ["th", "ph"]
    parameters = { m = 1.3, l = 0.8, g = 9.81 }
    [energy]
    kinetic = "m*l^2/2*(th'^2 + sin(th)^2*ph'^2)"
    potential = "-m*g*l*cos(th)"
    [[force]]
    coordinate = "ph"
    value = "-0.2*ph' + t"
    [[force]]
    coordinate = "ph"
    value = 3
    [state]
    t = 0.25
    position = { th = 0.9, ph = 2.0 }
    velocity = { th = -1.5, ph = 2.5 }
"#;

#[test]
fn spherical_pendulum_with_forces() {
    let k = at(SPHERICAL);
    let (ml2, mgl) = (1.3 * 0.64, 1.3 * 9.81 * 0.8);
    let (s, c) = 0.9f64.sin_cos();
    close(k.mass.data(), &[ml2, 0.0, 0.0, ml2 * s * s]);
    let q = -0.2 * 2.5 + 0.25 + 3.0;
    close(&k.force, &[-ml2 * s * c * 6.25 + mgl * s, 2.0 * ml2 * s * c * -1.5 * 2.5 - q]);
}

#[test]
fn bead_on_a_turning_hoop() {
    // The hoop turns with ω(t) = w t about the vertical: T has no ∂/∂t of a momentum, only ω² sin².
    let k = at(r#"
        system.coordinates = ["th"]
        parameters = { m = 0.5, R = 0.4, g = 9.81, w = 3 }
        [energy]
        kinetic = "m*R^2/2*(th'^2 + (w*t)^2*sin(th)^2)"
        potential = "-m*g*R*cos(th)"
        [state]
        t = 2
        position.th = 0.8
        velocity.th = 1.7
    "#);
    let (s, c) = 0.8f64.sin_cos();
    close(k.mass.data(), &[0.5 * 0.16]);
    close(&k.force, &[-0.08 * 36.0 * s * c + 0.5 * 9.81 * 0.4 * s]);
}

#[test]
fn bead_on_a_shaken_hoop() {
    // The centre moves by a sin(w t): T has terms linear in θ′ and independent of it.
    let k = at(r#"
        system.coordinates = ["th"]
        parameters = { m = 0.5, R = 0.4, g = 9.81, a = 0.3, w = 5 }
        [energy]
        kinetic = "m/2*((a*w*cos(w*t) + R*cos(th)*th')^2 + (R*sin(th)*th')^2)"
        potential = "-m*g*R*cos(th)"
        [state]
        t = 0.37
        position.th = 0.8
        velocity.th = 1.7
    "#);
    let (m, r, g, a, w) = (0.5, 0.4, 9.81, 0.3, 5.0);
    let (s, c) = 0.8f64.sin_cos();
    close(k.mass.data(), &[m * r * r]);
    close(&k.force, &[-m * a * w * w * r * (w * 0.37f64).sin() * c + m * g * r * s]);
}

#[test]
fn growing_mass_brakes() {
    let k = at(r#"
        system.coordinates = ["x"]
        energy.kinetic = "(1 + t)*x'^2/2"
        state = { t = 3, velocity.x = 2 }
    "#);
    close(k.mass.data(), &[4.0]);
    close(&k.force, &[2.0]);
}

#[test]
fn moving_floor_and_nonholonomic_constraints() {
    let k = at(r#"
        system.coordinates = ["x", "y", "a", "s"]
        parameters = { A = 0.1, w = 7, r = 0.3 }
        energy.kinetic = "(x'^2 + y'^2 + a'^2 + s'^2)/2"
        [[contact]]
        name = "floor"
        gap = "y - A*sin(w*t) + x*t^2"
        slip = ["x*cos(a)", "a + t*x"]
        mu_static = "0.5 + 0.1*x"
        mu_kinetic = "0.3"
        restitution = "1/4"
        [[contact]]
        name = "ratchet"
        velocity = "s'*cos(a) - t"
        slip_velocity = ["x*y'"]
        mu = 1
        [[joint]]
        name = "knife"
        velocity = "x'*sin(a) - y'*cos(a)"
        [[joint]]
        name = "roll"
        velocity = "x' - r*cos(a)*s'"
        slip = ["y"]
        mu = "0.1*abs(y')"
        [[joint]]
        name = "guide"
        value = "x^2*y"
        [state]
        t = 0.6
        position = { x = 0.4, y = 0.2, a = 0.9, s = 1.5 }
        velocity = { x = 1.1, y = -0.7, a = 2.3, s = 0.5 }
    "#);
    let (t, x, y, a) = (0.6f64, 0.4f64, 0.2f64, 0.9f64);
    let (vx, vy, va, vs) = (1.1, -0.7, 2.3, 0.5);
    let (amplitude, w, r) = (0.1, 7.0, 0.3);
    let (sin, cos) = a.sin_cos();

    let floor = &k.contacts[0];
    close(&[floor.gap], &[y - amplitude * (w * t).sin() + x * t * t]);
    close_row(
        &floor.normal,
        &[t * t, 1.0, 0.0, 0.0],
        vy - amplitude * w * (w * t).cos() + vx * t * t + 2.0 * x * t,
        amplitude * w * w * (w * t).sin() + 2.0 * x + 4.0 * vx * t,
    );
    close_row(
        &floor.slip[0],
        &[cos, 0.0, -x * sin, 0.0],
        vx * cos - x * sin * va,
        -2.0 * vx * va * sin - x * cos * va * va,
    );
    close_row(&floor.slip[1], &[t, 0.0, 1.0, 0.0], va + x + t * vx, 2.0 * vx);
    close(&[floor.mu_static, floor.mu_kinetic, floor.restitution], &[0.54, 0.3, 0.25]);

    let ratchet = &k.contacts[1];
    assert_eq!(ratchet.gap, 0.0);
    close_row(&ratchet.normal, &[0.0, 0.0, 0.0, cos], vs * cos - t, -vs * sin * va - 1.0);
    close_row(&ratchet.slip[0], &[0.0, x, 0.0, 0.0], x * vy, vx * vy);
    assert_eq!((ratchet.mu_static, ratchet.mu_kinetic), (1.0, 1.0));

    close_row(&k.joints[0].row, &[sin, -cos, 0.0, 0.0], vx * sin - vy * cos, va * (vx * cos + vy * sin));
    close_row(&k.joints[1].row, &[1.0, 0.0, 0.0, -r * cos], vx - r * cos * vs, r * sin * va * vs);
    close_row(&k.joints[1].slip[0], &[0.0, 1.0, 0.0, 0.0], vy, 0.0);
    close(&[k.joints[1].mu], &[0.07]);
    close(&[k.joints[2].value], &[x * x * y]);
    close_row(
        &k.joints[2].row,
        &[2.0 * x * y, x * x, 0.0, 0.0],
        2.0 * x * y * vx + x * x * vy,
        2.0 * y * vx * vx + 4.0 * x * vx * vy,
    );
}

#[test]
fn singular_mass_is_reported() {
    let rank = |kinetic: &str| {
        at(&format!("system.coordinates = [\"x\", \"y\"]\nenergy.kinetic = \"{kinetic}\"")).mass_rank
    };
    assert_eq!(rank("(x' + y')^2/2"), 1);
    assert_eq!(rank("x'^2/2"), 1);
    assert_eq!(rank("0"), 0);
    // Whether a mass is there does not depend on its unit.
    assert_eq!(rank("1e-20*x'^2 + 1e20*y'^2"), 2);
    assert_eq!(rank("1e-20*(x'*cos(0.3) + 1e20*y'*sin(0.3))^2"), 1);
}

/// The spherical pendulum again, once as a generic function and once as closures.
struct SphericalKinetic;

impl Formula for SphericalKinetic {
    fn eval<N: Number>(&self, at: &Point<'_, N>) -> N {
        let s = at.q[0].sin();
        (at.v[0].powf(2.0) + s.powf(2.0) * at.v[1].powf(2.0)) * (1.3 * 0.8f64.powf(2.0) / 2.0)
    }
}

#[test]
fn rust_formulas_and_texts_agree() {
    let file = read_system(SPHERICAL, &[]).unwrap();
    let text = kinematics(&file.system, &file.state).unwrap();
    let system = System {
        potential: Some(AnyFormula::derivatives_only(|at| -1.3 * 9.81 * 0.8 * at.q[0].cos())),
        forces: vec![
            Force { coordinate: 1, value: AnyFormula::derivatives_only(|at| -0.2 * at.v[1] + at.t) },
            Force { coordinate: 1, value: 3.0.into() },
        ],
        ..System::new("spherical", &["th", "ph"], SphericalKinetic)
    };
    let rust = kinematics(&system, &file.state).unwrap();
    close(rust.mass.data(), text.mass.data());
    close(&rust.force, &text.force);
    close(&[rust.kinetic_energy, rust.potential_energy], &[text.kinetic_energy, text.potential_energy]);
}

/// A particle on a line, to which one thing is added that does not fit.
fn particle() -> System {
    System::new("particle", &["x"], AnyFormula::derivatives_only(|at| at.v[0] * at.v[0] / 2.0))
}

fn refuse(system: System, state: (f64, f64)) -> KinematicsError {
    kinematics(&system, &State { t: 0.0, q: vec![state.0], v: vec![state.1] }).unwrap_err()
}

fn contact(normal: Measure) -> Contact {
    Contact::frictionless("tip", normal)
}

#[test]
fn misuse_is_named() {
    let velocity = |f: AnyFormula| System { contacts: vec![contact(Measure::Velocity(f))], ..particle() };
    let gap = |f: AnyFormula| System { contacts: vec![contact(Measure::Displacement(f))], ..particle() };
    let square = AnyFormula::derivatives_only(|at| at.v[0] * at.v[0]);
    let cube = AnyFormula::derivatives_only(|at| at.v[0] + at.v[0].powf(3.0));

    // Not linear, also where the derivatives at the state look so.
    for (system, v) in [(velocity(square.clone()), 1.0), (velocity(cube), 0.0)] {
        let error = refuse(system, (0.0, v));
        assert!(matches!(error, KinematicsError::NotLinear { .. }), "{error}");
        assert_eq!(error.formula(), Some(FormulaId::ContactNormal(0)));
        assert!(error.to_string().contains("contact `tip`"), "{error}");
    }
    for v in [0.0, 1.0] {
        let error = refuse(gap(square.clone()), (0.0, v));
        assert!(matches!(error, KinematicsError::DependsOnVelocity { .. }), "{error}");
        let error = refuse(System { potential: Some(square.clone()), ..particle() }, (0.0, v));
        assert_eq!(error.formula(), Some(FormulaId::Potential));
    }
    let error = refuse(gap(AnyFormula::derivatives_only(|at| at.q[0].sqrt())), (-1.0, 0.0));
    assert!(matches!(error, KinematicsError::NotFinite { .. }), "{error}");
    let error = refuse(gap(AnyFormula::derivatives_only(|at| at.q[0].abs())), (0.0, 0.0));
    assert!(matches!(error, KinematicsError::NotDifferentiable { .. }), "{error}");

    let gap_x = || Measure::Displacement(AnyFormula::derivatives_only(|at| at.q[0]));
    let system = System { contacts: vec![contact(gap_x()).with_friction(-0.1)], ..particle() };
    let error = refuse(system, (0.0, 0.0));
    assert!(error.to_string().starts_with("the static friction of contact `tip` is -0.1"), "{error}");
    let system = System { contacts: vec![Contact { restitution: 1.5, ..contact(gap_x()) }], ..particle() };
    assert!(matches!(refuse(system, (0.0, 0.0)), KinematicsError::Restitution { value: 1.5, .. }));
    let system = System {
        contacts: vec![Contact { slip: vec![gap_x(), gap_x(), gap_x()], ..contact(gap_x()) }],
        ..particle()
    };
    assert_eq!(refuse(system, (0.0, 0.0)).formula(), Some(FormulaId::ContactSlip(0, 2)));
    let system = System {
        joints: vec![Joint { mu: f64::NAN.into(), ..Joint::frictionless("j", gap_x()) }],
        ..particle()
    };
    assert_eq!(refuse(system, (0.0, 0.0)).formula(), Some(FormulaId::JointMu(0)));
    let system = System { forces: vec![Force { coordinate: 1, value: 0.0.into() }], ..particle() };
    assert!(matches!(refuse(system, (0.0, 0.0)), KinematicsError::ForceCoordinate { coordinate: 1, .. }));
    assert!(matches!(refuse(particle(), (f64::NAN, 0.0)), KinematicsError::StateNotFinite { .. }));
    let error = kinematics(&particle(), &State { t: 0.0, q: vec![], v: vec![0.0] }).unwrap_err();
    assert!(matches!(error, KinematicsError::StateSize { coordinates: 1, positions: 0, velocities: 1 }));
}

#[test]
fn negative_mass_is_refused() {
    let mass = |kinetic: &str| {
        let text = format!("system.coordinates = [\"x\", \"y\"]\nenergy.kinetic = \"{kinetic}\"");
        let file = read_system(&text, &[]).unwrap();
        kinematics(&file.system, &file.state).map(|k| k.mass_rank)
    };
    let Err(KinematicsError::NegativeMass { eigenvalue, coordinate }) = mass("x'^2/2 - 3*y'^2/2") else {
        panic!("a negative mass was accepted")
    };
    assert!((eigenvalue + 3.0).abs() < 1e-14);
    assert_eq!(coordinate.as_deref(), Some("y"));
    // Indefinite with a positive diagonal, and with a zero one.
    assert!(matches!(
        mass("x'^2 + y'^2 + 3*x'*y'"),
        Err(KinematicsError::NegativeMass { coordinate: None, .. })
    ));
    assert!(matches!(mass("x'*y'"), Err(KinematicsError::NegativeMass { .. })));
    // Rounding below zero is not a negative mass.
    assert_eq!(mass("(0.1*x' + 0.3*y')^2/2"), Ok(1));
}
