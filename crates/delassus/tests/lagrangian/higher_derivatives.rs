//! Contacts whose force and acceleration vanish together (002 Theorem 5.4).

use delassus::formula::{AnyFormula, Expression, Symbols};
use delassus::lagrangian::{
    Contact, DecidingOptions, DecidingOrder, DerivativesError, Fate, Force, Joint, Measure, State, System,
    deciding_order,
};
use proptest::prelude::*;

/// Formulas in the coordinates of a system.
struct Texts(Symbols);

impl Texts {
    fn of(coordinates: &[&str]) -> Self {
        let mut symbols = Symbols::default();
        coordinates.iter().for_each(|c| symbols.add_coordinate(c).unwrap());
        Texts(symbols)
    }

    fn formula(&self, text: &str) -> AnyFormula {
        AnyFormula::new(Expression::parse(text, &self.0).unwrap())
    }

    fn gap(&self, name: &str, text: &str) -> Contact {
        Contact::frictionless(name, Measure::Displacement(self.formula(text)))
    }
}

fn decide(system: &System, q: &[f64], v: &[f64], touching: &[usize]) -> DecidingOrder {
    let state = State { t: 0.0, q: q.to_vec(), v: v.to_vec() };
    deciding_order(system, &state, touching, &DecidingOptions::default()).unwrap()
}

const G: f64 = 9.81;

/// A unit mass on y ≥ f(x).
fn on_surface(f: &str) -> System {
    let texts = Texts::of(&["x", "y"]);
    System {
        potential: Some(texts.formula("9.81*y")),
        contacts: vec![texts.gap("surface", &format!("y-({f})"))],
        ..System::new("mass", &["x", "y"], texts.formula("(x'^2+y'^2)/2"))
    }
}

#[test]
fn theorem_5_4_over_a_hill() {
    // λ = (g + f″ẋ²)/(1 + f′²) and δ = −g − f″ẋ² vanish at the top with ẋ² = g/κ.
    let v = (G / 2.0).sqrt();
    let cases = [
        ("-x^2+0.1*x^3", Fate::Stays, 1, 6.517_931_139_940_036),
        ("-x^2-0.1*x^3", Fate::Opens, 1, 6.517_931_139_940_036),
        ("-x^2+0.1*x^4", Fate::Stays, 2, 57.741_66),
        ("sqrt(0.25-x^2)-0.5", Fate::Opens, 2, 577.4166),
    ];
    for (surface, fate, order, derivative) in cases {
        // Located to 1e-11, the same is said; the derivative moves with the state.
        for off in [0.0, 1e-11, -1e-11] {
            let found = decide(&on_surface(surface), &[0.0, 0.0], &[v * (1.0 + off), 0.0], &[0]);
            let contact = found.contacts[0];
            assert_eq!((contact.fate, contact.order), (fate, order), "{surface} {off}: {contact:?}");
            assert!(
                (contact.derivative - derivative).abs() < 1e-9 * derivative,
                "{surface}: {}",
                contact.derivative
            );
        }
    }
    // The parabola of free flight touches for good without a force: nothing decides, and that is said.
    let parabola = decide(&on_surface("-x^2"), &[0.0, 0.0], &[v, 0.0], &[0]);
    assert_eq!((parabola.contacts[0].fate, parabola.contacts[0].order), (Fate::Undecided, 12));
    assert!(!parabola.is_decided());
    // Slower or faster, order 0 decides.
    let slow = decide(&on_surface("-x^2"), &[0.0, 0.0], &[v - 0.1, 0.0], &[0]).contacts[0];
    assert_eq!((slow.fate, slow.order), (Fate::Stays, 0));
    let fast = decide(&on_surface("-x^2"), &[0.0, 0.0], &[v + 0.1, 0.0], &[0]).contacts[0];
    assert_eq!((fast.fate, fast.order), (Fate::Opens, 0));
}

/// A unit mass at rest on y ≥ 0 under a force f(t), with the normal given by gap or velocity.
fn pushed(force: &str, by_velocity: bool) -> System {
    let texts = Texts::of(&["y"]);
    let normal = if by_velocity {
        Measure::Velocity(texts.formula("y'"))
    } else {
        Measure::Displacement(texts.formula("y"))
    };
    System {
        forces: vec![Force { coordinate: 0, value: texts.formula(force) }],
        contacts: vec![Contact::frictionless("floor", normal)],
        ..System::new("mass", &["y"], texts.formula("y'^2/2"))
    }
}

#[test]
fn theorem_5_4_under_a_force_in_time() {
    for by_velocity in [false, true] {
        let cases = [
            ("-t", Fate::Stays, 1, 1.0),
            ("t", Fate::Opens, 1, 1.0),
            ("-t^2", Fate::Stays, 2, 2.0),
            ("t^2", Fate::Opens, 2, 2.0),
            ("-sin(t)^5", Fate::Stays, 5, 120.0),
            ("t^9", Fate::Opens, 9, 362_880.0),
        ];
        for (force, fate, order, derivative) in cases {
            let found = decide(&pushed(force, by_velocity), &[0.0], &[0.0], &[0]);
            let contact = found.contacts[0];
            assert_eq!((contact.fate, contact.order), (fate, order), "{force}");
            assert!((contact.derivative - derivative).abs() < 1e-12 * derivative, "{force}");
            // y(1): 1/6 after f = t, 1/12 after f = t², 0 where it stays.
            let y: f64 = found.coefficients[0].iter().sum();
            match force {
                "t" => assert!((y - 1.0 / 6.0).abs() < 1e-15),
                "t^2" => assert!((y - 1.0 / 12.0).abs() < 1e-15),
                _ if fate == Fate::Stays => assert_eq!(y, 0.0),
                _ => {}
            }
        }
    }
    let nothing = decide(&pushed("t^13", false), &[0.0], &[0.0], &[0]);
    assert_eq!(nothing.contacts[0].fate, Fate::Undecided);
}

#[test]
fn several_contacts_are_decided_one_after_the_other() {
    // Two floors under one mass with x along: the first is pressed at order 1, the other let go at order 2.
    let texts = Texts::of(&["x", "y"]);
    let system = System {
        forces: vec![
            Force { coordinate: 0, value: texts.formula("-t") },
            Force { coordinate: 1, value: texts.formula("t^2") },
        ],
        contacts: vec![
            texts.gap("x", "x"),
            texts.gap("y", "y"),
            texts.gap("both", "x+y"),
            texts.gap("again", "3*x"),
        ],
        ..System::new("corner", &["x", "y"], texts.formula("(x'^2+y'^2)/2"))
    };
    let found = decide(&system, &[0.0, 0.0], &[0.0, 0.0], &[0, 1, 2, 3]);
    let fates: Vec<(Fate, usize)> = found.contacts.iter().map(|c| (c.fate, c.order)).collect();
    // x and 3x share the push; x + y opens with y.
    assert_eq!(fates, [(Fate::Stays, 1), (Fate::Opens, 2), (Fate::Opens, 2), (Fate::Stays, 1)]);
    // With the last left out until x is held, it is carried: a joint instead.
    let held = System {
        joints: vec![Joint::frictionless("x", Measure::Displacement(texts.formula("x")))],
        contacts: vec![texts.gap("again", "3*x"), texts.gap("y", "y")],
        ..system
    };
    let found = decide(&held, &[0.0, 0.0], &[0.0, 0.0], &[0, 1]);
    let fates: Vec<(Fate, usize)> = found.contacts.iter().map(|c| (c.fate, c.order)).collect();
    assert_eq!(fates, [(Fate::Carried, 0), (Fate::Opens, 2)]);
}

#[test]
fn friction_slows_down_what_is_pressed() {
    // Sliding along x in space; the weight is carried by a force that fades: λ = t, friction −μ t along the
    // slip.
    let texts = Texts::of(&["x", "y", "z"]);
    let slide = |name: &str| Measure::Displacement(texts.formula(name));
    let system = System {
        potential: Some(texts.formula("9.81*z")),
        forces: vec![Force { coordinate: 2, value: texts.formula("9.81-t") }],
        contacts: vec![
            Contact { slip: vec![slide("x"), slide("y")], ..texts.gap("floor", "z") }.with_friction(0.5),
        ],
        ..System::new("block", &["x", "y", "z"], texts.formula("(x'^2+y'^2+z'^2)/2"))
    };
    let found = decide(&system, &[0.0; 3], &[3.0, 4.0, 0.0], &[0]);
    assert_eq!((found.contacts[0].fate, found.contacts[0].order), (Fate::Stays, 1));
    // ẍ = −0.5·0.6 t, so that x has −0.05 τ³.
    assert!((found.coefficients[0][3] + 0.05).abs() < 1e-12);
    assert!((found.coefficients[1][3] + 0.5 * 0.8 / 6.0).abs() < 1e-12);
    let state = State { t: 0.0, q: vec![0.0; 3], v: vec![0.0; 3] };
    let sticks = deciding_order(&system, &state, &[0], &DecidingOptions::default()).unwrap_err();
    assert_eq!(sticks, DerivativesError::Sticks { name: "floor".into() });
}

#[test]
fn series_of_a_pendulum_keep_its_length_and_energy() {
    // In x and y with a joint, next to a contact that never decides, so that all orders are computed.
    let texts = Texts::of(&["x", "y", "idle"]);
    let system = System {
        potential: Some(texts.formula("9.81*y")),
        joints: vec![Joint::frictionless("rod", Measure::Displacement(texts.formula("sqrt(x^2+y^2)-1")))],
        contacts: vec![Contact::frictionless("idle", Measure::Velocity(texts.formula("idle'")))],
        ..System::new("pendulum", &["x", "y", "idle"], texts.formula("(x'^2+y'^2+idle'^2)/2"))
    };
    let (x, y, w) = (0.6, -0.8, 1.5);
    let found = decide(&system, &[x, y, 0.0], &[-y * w, x * w, 0.0], &[0]);
    assert_eq!(found.contacts[0].fate, Fate::Undecided);
    let (x, y) = (&found.coefficients[0], &found.coefficients[1]);
    assert_eq!(x.len(), 15);
    let square = |a: &[f64], k: usize| (0..=k).map(|j| a[j] * a[k - j]).sum::<f64>();
    let rate = |a: &[f64]| -> Vec<f64> { (1..a.len()).map(|k| k as f64 * a[k]).collect() };
    let (u, v) = (rate(x), rate(y));
    for k in 1..14 {
        // Coefficients grow like those of the period (3.1 per order at most), rounding with them.
        let scale = 1e-14 * 3.2_f64.powi(k as i32 + 2);
        assert!((square(x, k) + square(y, k)).abs() < scale, "length, order {k}");
        let energy = 0.5 * (square(&u, k) + square(&v, k)) + G * y[k];
        assert!(energy.abs() < G * (k + 1) as f64 * scale, "energy, order {k}: {energy:e}");
    }
}

#[test]
fn what_cannot_be_decided_is_refused() {
    let system = pushed("-t", false);
    let state = State { t: 0.0, q: vec![0.0], v: vec![0.0] };
    let ask =
        |system: &System, touching: &[usize], options| deciding_order(system, &state, touching, &options);
    let unknown = ask(&system, &[1], DecidingOptions::default()).unwrap_err();
    assert_eq!(unknown, DerivativesError::UnknownContact { contact: 1, contacts: 1 });
    let high = ask(&system, &[0], DecidingOptions { max_order: 40, ..DecidingOptions::default() });
    assert!(matches!(high, Err(DerivativesError::Options { max_order: 40, .. })));
    let closure =
        System { kinetic: AnyFormula::derivatives_only(|at| at.v[0] * at.v[0] * 0.5), ..system.clone() };
    let closed = ask(&closure, &[0], DecidingOptions::default()).unwrap_err();
    assert!(matches!(closed, DerivativesError::NoSeries { .. }), "{closed}");
    let texts = Texts::of(&["y"]);
    let kink = System { forces: vec![Force { coordinate: 0, value: texts.formula("-abs(t)") }], ..system };
    assert!(matches!(ask(&kink, &[0], DecidingOptions::default()), Err(DerivativesError::NoSeries { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Over f = −κx²/2 + Σ c_j x^j with v² = g/κ, flight has δ = −g − f″ẋ²: the first c_j that is not zero
    /// decides at order j − 2, with δ⁽ʲ⁻²⁾ = −j! c_j vʲ, or λ⁽ʲ⁻²⁾ its opposite.
    #[test]
    fn theorem_5_4_over_random_hills(
        first in 3usize..10,
        kappa in 0.3..5.0f64,
        c in prop::collection::vec(prop_oneof![-1.0..-0.05f64, 0.05..1.0f64], 3),
    ) {
        let terms: Vec<String> = (0..3).map(|i| format!("+({:.17})*x^{}", c[i], first + i)).collect();
        let surface = format!("-{kappa:.17}*x^2/2{}", terms.concat());
        let v = (G / kappa).sqrt();
        let contact = decide(&on_surface(&surface), &[0.0, 0.0], &[v, 0.0], &[0]).contacts[0];
        let factorial: f64 = (1..=first).map(|i| i as f64).product();
        let expected = factorial * c[0].abs() * v.powi(first as i32);
        let fate = if c[0] > 0.0 { Fate::Stays } else { Fate::Opens };
        prop_assert_eq!((contact.fate, contact.order), (fate, first - 2));
        // The state is known to 1e-16, and the order before is sensitive to it.
        prop_assert!((contact.derivative - expected).abs() < 1e-7 * expected, "{} {}", contact.derivative, expected);
    }
}
