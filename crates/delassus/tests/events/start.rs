//! What a run refuses, what it reports of impulses and limits, and the matrix of restitution: closed forms.

use delassus::events::{Ending, EventError, EventKind, EventOptions, Trajectory, run_events};
use delassus_scene::{FileErrorKind, read_system};
use delassus_solve::impact::{ImpactLaw, ImpactStatus, Violation};
use delassus_solve::linalg::Matrix;

use super::closed_forms::until;
use crate::support::near::near;

const LAWS: [ImpactLaw; 5] =
    [ImpactLaw::Moreau, ImpactLaw::Newton, ImpactLaw::Poisson, ImpactLaw::Energetic, ImpactLaw::Sequence];

fn attempt(text: &str, options: &EventOptions) -> Result<Trajectory, EventError> {
    let file = read_system(text, &[]).unwrap_or_else(|e| panic!("{}", e.render("test", text)));
    let law = file.impact_law.clone().unwrap_or_else(|| options.law.clone());
    run_events(&file.system, &file.state, &EventOptions { law, ..options.clone() })
}

fn run(text: &str, options: &EventOptions) -> Trajectory {
    attempt(text, options).unwrap_or_else(|e| panic!("{e}"))
}

/// A mass at a contact that is not pressed, hit into it with 3 N s at a time.
fn hit(normal: &str, speed: f64, restitution: f64, time: f64) -> String {
    format!(
        "[system]\ncoordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\n\
         [[contact]]\nname = \"wall\"\n{normal}\nrestitution = {restitution}\n\
         [[impulse]]\ntime = {time}\ncoordinate = \"x\"\nvalue = -3\n[state.velocity]\nx = {speed}\n"
    )
}

/// A contact that separates with 1 m/s is driven back with 2 m/s, and rebounds with e times that under every
/// law, whether it is given by a gap or by a velocity. An impulse a moment later, when the gap is open, does
/// the same.
#[test]
fn an_impulse_that_drives_a_contact_back_is_an_impact() {
    for (normal, time) in [("velocity = \"x'\"", 0.5), ("gap = \"x\"", 0.0), ("gap = \"x\"", 1e-7)] {
        for (law, e) in LAWS.iter().flat_map(|law| [0.0, 0.5, 1.0].map(|e| (law, e))) {
            let run = run(&hit(normal, 1.0, e, time), &EventOptions { law: law.clone(), ..until(1.0) });
            let name = format!("{normal} {} e = {e}", law.name());
            assert_eq!(run.ending, Ending::Done, "{name}");
            assert!(run.events.iter().all(|event| event.violations.is_empty()), "{name}: {:?}", run.events);
            near(run.state.v[0], 2.0 * e, 1e-12);
            let reported: Vec<EventKind> = run.events.iter().map(|event| event.kind).collect();
            assert_eq!(reported[..2], [EventKind::Impulse, EventKind::Impact], "{name}: {reported:?}");
            near(run.events[0].energy_change, 2.0 - 0.5, 1e-12);
            near(run.events[1].impulse[0], 2.0 * (1.0 + e), 1e-12);
            near(run.events[1].energy_change, 2.0 * (e * e - 1.0), 1e-12);
        }
    }
}

/// A contact at rest answers at once. Moreau's and Newton's laws know no rebound without a speed before; the
/// others give back what was pressed in, and no energy comes out of nothing.
#[test]
fn an_impulse_on_a_contact_at_rest() {
    for normal in ["velocity = \"x'\"", "gap = \"x\""] {
        for law in &LAWS {
            let run = run(&hit(normal, 0.0, 0.5, 0.25), &EventOptions { law: law.clone(), ..until(0.5) });
            let back = if matches!(law, ImpactLaw::Moreau | ImpactLaw::Newton) { 0.0 } else { 1.5 };
            near(run.state.v[0], back, 1e-12);
            let broken: Vec<_> = run.events.iter().flat_map(|event| &event.violations).collect();
            assert!(broken.is_empty(), "{normal} {}: {broken:?}", law.name());
        }
    }
}

/// One contact rests, another separates: the energetic law applies to one contact, not two.
#[test]
fn what_separates_does_not_count_for_the_energetic_law() {
    let text = "[system]\ncoordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\n\
                [[contact]]\nname = \"wall\"\ngap = \"x\"\n[[contact]]\nname = \"floor\"\ngap = \"y\"\n\
                [[impulse]]\ntime = 0\ncoordinate = \"y\"\nvalue = -1\n[state.velocity]\nx = 1\n";
    let run = run(text, &EventOptions { law: ImpactLaw::Energetic, ..until(0.5) });
    assert_eq!(run.ending, Ending::Done);
    near(run.state.q[0], 0.5, 1e-12);
    near(run.state.v[1], 0.0, 1e-12);
}

const BALL: &str = r#"
[system]
coordinates = ["y"]
[energy]
kinetic = "y'^2/2"
potential = "9.81*y"
[[contact]]
name = "floor"
gap = "y"
restitution = 0.5
[state.position]
y = 1.0
"#;

/// A ball on the floor with a velocity into it is refused, unless an impact is allowed; then it is reported
/// at the start.
#[test]
fn a_velocity_into_a_wall_is_refused_or_asked_for() {
    let text = BALL.replace("y = 1.0", "y = 0.0") + "[state.velocity]\ny = -2.0\n";
    let error = attempt(&text, &until(0.1)).unwrap_err();
    assert!(
        matches!(&error, EventError::Approach { contact, index: 0, rate, .. } if contact == "floor" && *rate == -2.0)
    );
    assert!(error.to_string().contains("`floor` touches and approaches at the start"), "{error}");
    let run = run(&text, &EventOptions { impact_at_start: true, ..until(0.1) });
    assert_eq!((run.events[0].t, run.events[0].kind), (0.0, EventKind::Impact));
    near(run.state.v[0], 1.0 - 0.981, 1e-12);
    // A gap that is open is no wall yet.
    let above = text.replace("y = 0.0", "y = 1e-3");
    assert!(attempt(&above, &until(0.1)).is_ok());
    // So is a velocity into a nonholonomic constraint, and a wall that comes.
    let other = hit("velocity = \"x'\"", -1.0, 0.5, 0.5);
    assert!(matches!(attempt(&other, &until(1.0)), Err(EventError::Approach { .. })));
    let moving = hit("gap = \"x - t\"", 0.0, 0.5, 0.5);
    assert!(matches!(attempt(&moving, &until(1.0)), Err(EventError::Approach { rate, .. }) if rate == -1.0));
}

/// Impulses before the start are refused, those after the end reported, those at the end act.
#[test]
fn impulses_outside_of_the_run() {
    let error = attempt(&hit("gap = \"x + 9\"", 0.0, 0.0, -0.5), &until(1.0)).unwrap_err();
    assert_eq!(error, EventError::EarlyImpulse { coordinate: "x".into(), time: -0.5, start: 0.0 });
    let late = run(&hit("gap = \"x + 9\"", 0.0, 0.0, 1.5), &until(1.0));
    assert_eq!((late.late_impulses.len(), late.late_impulses[0].time, late.state.v[0]), (1, 1.5, 0.0));
    let last = run(&hit("gap = \"x + 9\"", 0.0, 0.0, 1.0), &until(1.0));
    assert_eq!((last.late_impulses.len(), last.state.q[0], last.state.v[0]), (0, 0.0, -3.0));
    assert_eq!(last.events[0].kind, EventKind::Impulse);
}

/// A limit of n events keeps n of them and the state just before the next; with as many as there are, nothing
/// ends early.
#[test]
fn the_limit_of_events_is_exact() {
    let all = run(BALL, &until(2.0));
    assert_eq!(all.ending, Ending::Done);
    for limit in 0..all.events.len() {
        let cut = run(BALL, &EventOptions { max_events: limit, sample_times: vec![0.1, 1.9], ..until(2.0) });
        assert_eq!(cut.ending, Ending::TooManyEvents { events: limit });
        assert_eq!(cut.events[..], all.events[..limit]);
        let next = &all.events[limit];
        if next.kind == EventKind::Impact {
            assert_eq!(cut.state.t, next.t);
            assert!(cut.state.v[0] < 0.0);
        }
        assert_eq!(cut.samples.len(), 1);
    }
    let enough = run(BALL, &EventOptions { max_events: all.events.len(), ..until(2.0) });
    assert_eq!(enough.ending, Ending::Done);
}

/// What the impacts take and what is lost on the way to their end add up to the energy of the fall.
#[test]
fn an_accumulation_tells_the_energy_of_the_impacts_it_jumps_over() {
    let run = run(BALL, &until(2.0));
    let total: f64 = run.events.iter().map(|event| event.energy_change).sum();
    near(total, -9.81, 1e-12);
    let last = run.events.iter().find(|event| event.kind == EventKind::Accumulation).unwrap();
    assert!(last.energy_change < 0.0 && last.energy_change > -1e-4, "{}", last.energy_change);
}

/// States beside events are those before and after the jump.
#[test]
fn states_beside_events() {
    let run = run(BALL, &EventOptions { sample_events: true, ..until(0.6) });
    let speeds: Vec<f64> = run.event_samples.iter().map(|sample| sample.state.v[0]).collect();
    let fall = (2.0 * 9.81_f64).sqrt();
    assert_eq!(speeds.len(), 2);
    near(speeds[0], -fall, 1e-12);
    near(speeds[1], 0.5 * fall, 1e-12);
}

/// A point mass between two planes with normals (1, 0) and (0.8, 0.6), at u⁻ = (−1, −0.2).
fn wedge(impact: &str) -> String {
    format!(
        "[system]\ncoordinates = [\"x\", \"y\"]\n[parameters]\nhalf = 0.5\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\n\
         [[contact]]\nname = \"first\"\ngap = \"x\"\n[[contact]]\nname = \"second\"\ngap = \"0.8*x + 0.6*y\"\n\
         {impact}\n[state.velocity]\nx = -1\ny = 1\n[simulation]\nimpact_at_start = true\n"
    )
}

fn struck(impact: &str) -> Trajectory {
    run(&wedge(impact), &EventOptions { impact_at_start: true, ..until(0.1) })
}

/// 001.impact.energy_gain: E = diag(1, 0) takes the kinetic energy from 1 to 1.3889 with a percussion that
/// pulls, and both are reported. u⁺ = −E u⁻ with entries off the diagonal.
#[test]
fn golden_001_impact_energy_gain_from_the_matrix_of_a_file() {
    let run = struck("[impact]\nrestitution_matrix = [[1, 0], [0, 0]]");
    let impact = &run.events[..2];
    near(impact[0].impulse[0], 5.111111111111112, 1e-10);
    near(impact[1].impulse[0], -3.8888888888888897, 1e-10);
    near(run.energy[1], 1.388888888888888, 1e-10);
    let reported = &impact[0].violations;
    assert!(reported.iter().any(|v| matches!(v, Violation::Adhesion { contact: 1, .. })), "{reported:?}");
    let gain =
        reported.iter().find_map(|v| if let Violation::Energy { gain } = v { Some(*gain) } else { None });
    near(gain.unwrap(), 0.3888888888888875, 1e-10);
    for text in [
        "[impact]\nlaw = \"newton\"\nrestitution_matrix = [[\"half\", 0.25], [0.125, 1]]",
        "[impact]\ncontacts = [\"second\", \"first\"]\nrestitution_matrix = [[1, 0.125], [0.25, 0.5]]",
    ] {
        let run = struck(text);
        let [x, y] = [run.state.v[0], run.state.v[1]];
        near(x, 0.5 + 0.25 * 0.2, 1e-12);
        near(0.8 * x + 0.6 * y, 0.125 + 0.2, 1e-12);
    }
}

/// A matrix that reverses nothing has no outcome; that is reported with the contacts and the law.
#[test]
fn a_matrix_without_an_outcome() {
    let run = struck("[impact]\nrestitution_matrix = [[-1, 0], [0, -1]]");
    match run.ending {
        Ending::NoOutcome { contacts, law, status, .. } => {
            assert_eq!(contacts, ["first", "second"]);
            assert_eq!((law, status), ("newton with a matrix", ImpactStatus::TooManyImpacts));
        }
        other => panic!("{other:?}"),
    }
}

/// The matrix with one entry is Newton's law, in a guide with friction too; and a contact at rest that an
/// impulse lifts is not held.
#[test]
fn a_matrix_beside_guides_and_impulses() {
    let guide = "[system]\ncoordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\n\
                 [[contact]]\nname = \"wall\"\ngap = \"1 - x - y\"\n[[joint]]\nname = \"guide\"\nvalue = \"y\"\n\
                 slip = [\"x\"]\nmu = 0.3\n[impact]\nrestitution_matrix = [[0.5]]\n[state.velocity]\nx = 1.0\n";
    let run_guide = run(guide, &until(1.5));
    let impact = run_guide.events.iter().find(|event| event.kind == EventKind::Impact).unwrap();
    near(impact.impulse[0], 1.5 / 0.7, 1e-12);
    let lifted = hit("gap = \"x\"", 0.0, 0.0, 0.5).replace("value = -3", "value = 3");
    let run_lifted = run(&(lifted + "[impact]\nrestitution_matrix = [[0.5]]\n"), &until(1.0));
    assert!(run_lifted.events.iter().all(|event| event.violations.is_empty()));
    near(run_lifted.state.v[0], 3.0, 1e-12);
    // The size is checked where options come from Rust, too.
    let law = ImpactLaw::NewtonMatrix(Matrix::zeros(2, 2));
    let options = EventOptions { law, ..until(1.0) };
    assert!(matches!(attempt(BALL, &options), Err(EventError::Invalid(_))));
}

/// What is wrong with an `[impact]` table, and where.
#[test]
fn bad_laws_of_impact_in_a_file() {
    type Check = fn(&FileErrorKind) -> bool;
    let cases: [(&str, &str, Check); 9] = [
        ("law = \"moro\"", "expected \"moreau\"", |k| matches!(k, FileErrorKind::UnknownWord { .. })),
        ("law = \"moreau\"\nrestitution_matrix = [[1, 0], [0, 1]]", "beside", |k| {
            matches!(k, FileErrorKind::UnknownWord { .. })
        }),
        ("restitution_matrix = [[1, 0]]", "expected as many rows as contacts: 2 (first, second)", |k| {
            matches!(k, FileErrorKind::PerContact { found: 1, expected: 2, .. })
        }),
        ("restitution_matrix = [[1, 0, 0], [0, 1]]", "as many columns as contacts", |k| {
            matches!(k, FileErrorKind::PerContact { found: 3, .. })
        }),
        ("restitution_matrix = 0.5", "expected an array of rows", |k| {
            matches!(k, FileErrorKind::WrongType { .. })
        }),
        ("restitution_matrix = [[nan, 0], [0, 1]]", "finite", |k| {
            matches!(k, FileErrorKind::NotFinite { .. })
        }),
        ("contacts = [\"first\", \"second\"]", "follow `contacts`", |k| {
            matches!(k, FileErrorKind::MissingKey { key: "restitution_matrix", .. })
        }),
        (
            "restitution_matrix = [[1, 0], [0, 1]]\ncontacts = [\"first\", \"secnd\"]",
            "did you mean `second`",
            |k| matches!(k, FileErrorKind::UnknownContact { .. }),
        ),
        (
            "restitution_matrix = [[1, 0], [0, 1]]\ncontacts = [\"first\", \"first\"]",
            "a name of its own",
            |k| matches!(k, FileErrorKind::DuplicateName { .. }),
        ),
    ];
    for (table, help, is) in cases {
        let text = wedge(&format!("[impact]\n{table}"));
        let error = read_system(&text, &[]).expect_err(table);
        assert!(is(&error.kind), "{table}: {error:?}");
        assert!(error.place.is_some(), "{table}");
        let message = error.render("file.toml", &text);
        assert!(message.contains(help), "{table}: {message}");
    }
}
