//! Closures as formulas: they have derivatives, and what needs intervals says that they have none.

use delassus::analysis::{FreeSystem, Question, SafeError, SafeMethod, safe_interval};
use delassus::events::{EventKind, EventOptions, run_events};
use delassus::formula::AnyFormula;
use delassus::lagrangian::{Contact, Family, FormulaId, Measure, State, System, Tolerances};
use delassus_scene::{read_family, read_system};

/// A ball dropped from 1 m that keeps half of its velocity, from closures and from formulas of all numbers:
/// the same accumulation at (1 + e)/(1 − e) √(2/g), and closures say that nothing was proved.
#[test]
fn closures_say_that_their_events_are_not_proved() {
    let ball = |kinetic: AnyFormula, potential: AnyFormula, gap: AnyFormula| System {
        potential: Some(potential),
        contacts: vec![Contact {
            restitution: 0.5,
            ..Contact::frictionless("floor", Measure::Displacement(gap))
        }],
        ..System::new("ball", &["y"], kinetic)
    };
    let whole = ball(
        delassus::formula!(|at| at.v[0] * at.v[0] * 0.5),
        delassus::formula!(|at| at.q[0] * 9.81),
        delassus::formula!(|at| at.q[0]),
    );
    let closures = ball(
        AnyFormula::derivatives_only(|at| 0.5 * at.v[0] * at.v[0]),
        AnyFormula::derivatives_only(|at| 9.81 * at.q[0]),
        AnyFormula::derivatives_only(|at| at.q[0]),
    );
    let state = State { t: 0.0, q: vec![1.0], v: vec![0.0] };
    let options = EventOptions { t_end: 2.0, ..EventOptions::default() };
    let exact = (2.0 / 9.81_f64).sqrt() * 3.0;
    for (system, unproved) in [(&whole, 0), (&closures, 3)] {
        let run = run_events(system, &state, &options).unwrap();
        let last = run.events.iter().find(|e| e.kind == EventKind::Accumulation).unwrap();
        assert!((last.t - exact).abs() < 1e-9, "{}", last.t);
        assert_eq!(run.without_intervals.len(), unproved);
    }
    let named = closures.without_intervals();
    assert_eq!(named[2].id, FormulaId::ContactNormal(0));
    assert_eq!(named[2].to_string(), "the gap (or velocity) of contact `floor`");
}

/// The rod of Painlevé is safe for μ below 5/3. With the kinetic energy as a closure nothing is proved: the
/// interval is sampled and says so, and every direction of sliding is refused.
#[test]
fn closures_prove_no_safe_interval() {
    let text = r#"
        system.coordinates = ["x", "y", "theta"]
        parameters.mu = 1.0
        energy = { kinetic = "(x'^2 + y'^2)/2 + theta'^2/6", potential = "9.81*y" }
        contact = [{ name = "tip", gap = "y - sin(theta)", slip = ["x - cos(theta)"], mu = "mu" }]
        [state.position]
        y = "sin(pi/4)"
        theta = "45 deg"
        [state.velocity]
        x = -1
    "#;
    let family = read_family(text, &[], &["mu"]).unwrap();
    let kinetic = AnyFormula::derivatives_only(|at| {
        (at.v[0] * at.v[0] + at.v[1] * at.v[1]) / 2.0 + at.v[2] * at.v[2] / 6.0
    });
    let mut closures = family.clone();
    closures.system.kinetic = kinetic.clone();
    let at = |values: &[(&str, f64)]| {
        let numbers: Vec<(&str, String)> = values.iter().map(|(n, x)| (*n, format!("{x:?}"))).collect();
        let set: Vec<(&str, &str)> = numbers.iter().map(|(n, x)| (*n, x.as_str())).collect();
        let file = read_system(text, &set).ok()?;
        Some((System { kinetic: kinetic.clone(), ..file.system }, file.state))
    };
    let ask = |family: &Family, any_slip: bool| {
        let (within, tolerances) = (Some([0.5, 3.0]), Tolerances::default());
        let question = Question { over: "mu", within, for_all: &[], any_slip, tolerances };
        safe_interval(&FreeSystem { family, present: 1.0, at: &at }, &question)
    };
    let jams = 5.0 / 3.0;
    for (family, method, unproved) in
        [(&family, SafeMethod::IntervalArithmetic, 0), (&closures, SafeMethod::Sampled, 1)]
    {
        let safe = ask(family, false).unwrap();
        let interval = safe.interval.unwrap();
        assert_eq!((interval.method, safe.without_intervals.len()), (method, unproved));
        assert!(interval.hi <= jams && interval.hi > jams - 1e-5, "{interval:?}");
    }
    let error = ask(&closures, true).unwrap_err();
    assert!(
        matches!(&error, SafeError::NoIntervals { formula } if formula.id == FormulaId::Kinetic),
        "{error}"
    );
    assert!(error.to_string().starts_with("the kinetic energy is a closure"), "{error}");
}
