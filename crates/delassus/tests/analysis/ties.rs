//! Data at which rounding could decide: right angles, constraints that are nearly parallel, friction next to
//! a critical value. A verdict may be unknown there, never wrong.

use delassus::analysis::{analyze, examine};
use delassus::lagrangian::Tolerances;
use delassus_scene::read_system;
use delassus_solve::lcp::Verdict;
use delassus_solve::lcp::Verdict::{Proved, Refuted, Unknown};
use delassus_solve::modes::EnumerateOptions;

fn verdicts(text: &str) -> [Verdict; 3] {
    let file = read_system(text, &[]).unwrap();
    let found = analyze(&file.system, &file.state, &Tolerances::default(), &EnumerateOptions::default());
    found.unwrap().analysis.unwrap().verdicts()
}

fn plane(potential: &str, constraints: &str) -> String {
    format!(
        "[system]\ncoordinates = [\"x\", \"y\"]\n[energy]\nkinetic = \"(x'^2 + y'^2)/2\"\n\
         potential = \"{potential}\"\n{constraints}"
    )
}

#[test]
fn a_right_angle_is_exact() {
    let turned = "cos(90*pi/180)*x + sin(90*pi/180)*y";
    for load in ["-x", "x", "x + y", "y - x"] {
        // The same row twice: compatible, redundant.
        let joints =
            format!("[[joint]]\nname=\"a\"\nvalue=\"y\"\n[[joint]]\nname=\"b\"\nvalue=\"{turned}\"\n");
        assert_eq!(verdicts(&plane(load, &joints)), [Proved, Proved, Refuted], "joints, {load}");
        let mixed =
            format!("[[joint]]\nname=\"a\"\nvalue=\"{turned}\"\n[[contact]]\nname=\"c\"\ngap=\"y\"\n");
        assert_eq!(verdicts(&plane(load, &mixed)), [Proved, Proved, Refuted], "joint and contact, {load}");
    }
}

#[test]
fn nearly_parallel_joints_are_not_refuted() {
    // Two independent rows: exactly one acceleration and one pair of forces, if hardly.
    for tilt in ["1e-6", "1e-7", "1e-8", "2^(-30)", "1e-12"] {
        let joints = format!(
            "[[joint]]\nname=\"a\"\nvalue=\"x\"\n[[joint]]\nname=\"b\"\nvalue=\"x + {tilt}*y + t^2/2\"\n"
        );
        for verdict in verdicts(&plane("-x", &joints)) {
            assert_ne!(verdict, Refuted, "{tilt}");
        }
    }
}

#[test]
fn what_is_proved_not_to_exist_is_not_listed() {
    // y″ = 0 by the joint, x″ ≤ 0 by one contact and x″ ≥ 1e-11 by the other: nothing, though floating point
    // finds a continuum within its margins.
    let text = plane(
        "x*sin(pi/6)",
        "[[joint]]\nname=\"k0\"\nvalue=\"y/3\"\n[[contact]]\nname=\"k1\"\ngap=\"-sqrt(9)/3*x + y/3\"\n\
         [[contact]]\nname=\"k2\"\ngap=\"2*sin(pi/6)*x + y/2 - sqrt(9)/6e11*t^2\"\n\
         slip=[\"-x/2 - sqrt(9)/6*y\"]\nmu=1\n",
    );
    let file = read_system(&text, &[]).unwrap();
    let found = analyze(&file.system, &file.state, &Tolerances::default(), &EnumerateOptions::default());
    let analysis = found.unwrap().analysis.unwrap();
    assert_eq!(analysis.existence, Refuted);
    assert!(analysis.solutions.components.is_empty() && analysis.intervals.is_empty());
    assert!(!analysis.is_partial() && analysis.minimum_norm.is_none());
}

#[test]
fn friction_next_to_a_critical_value_is_not_misjudged() {
    // W of the sliding contact y with slip x + y: 1 − μ. Pressed together there is one solution for μ < 1 and
    // none for μ > 1; pulled apart there is one for μ < 1, and two for μ > 1.
    let sliding = |potential: &str, mu: &str| {
        let contact = format!(
            "[[contact]]\nname=\"c\"\ngap=\"y\"\nslip=[\"x + y\"]\nmu=\"{mu}\"\n[state.velocity]\nx = 1.0\n"
        );
        verdicts(&plane(potential, &contact))
    };
    for power in [10, 20, 30, 34, 38, 42, 46] {
        let (below, above) = (format!("1 - 2^(-{power})"), format!("1 + 2^(-{power})"));
        for (potential, mu, truth) in [
            ("y", &below, [true, true, true]),
            ("y", &above, [false, false, false]),
            ("-y", &below, [true, true, true]),
            ("-y", &above, [true, false, false]),
        ] {
            let said = sliding(potential, mu);
            for (v, truth) in said.iter().zip(truth) {
                let right = *v == Unknown || (*v == Proved) == truth;
                assert!(right, "{potential} {mu}: {said:?}");
            }
        }
    }
    assert_eq!(sliding("y", "1 - 2^(-10)"), [Proved; 3]);
    assert_eq!(sliding("y", "1 + 2^(-10)"), [Refuted; 3]);
}

#[test]
fn forces_on_rows_of_very_different_size_push() {
    // A joint and a contact on one coordinate, the row of the contact 2¹⁸ times smaller; and a contact that
    // nothing moves. The joint takes what either contact gives: both may push with any force, and none pulls.
    let text = "[system]\ncoordinates = [\"x\"]\n[energy]\nkinetic = \"x'^2/2\"\npotential = \"3*x\"\n\
                [[joint]]\nname = \"j\"\nvalue = \"(2^-21 - 2^-39)*x\"\n\
                [[contact]]\nname = \"small\"\ngap = \"-2^-39*x\"\n\
                [[contact]]\nname = \"still\"\ngap = \"0*x\"\nslip = [\"0*x - t\"]\nmu = \"0.5 - 2^-45\"\n";
    let file = read_system(text, &[]).unwrap();
    let (tolerances, options) = (Tolerances::default(), EnumerateOptions::default());
    let found = examine(&file.system, &file.state, &file.exact_state, &tolerances, &options).unwrap();
    let analysis = found.analysis.unwrap();
    assert_eq!(analysis.verdicts(), [Proved, Proved, Refuted]);
    for row in [1, 2] {
        assert_eq!(analysis.intervals[row], [0.0, f64::INFINITY], "{:?}", analysis.intervals);
    }
}

#[test]
fn digits_that_cancel_decide_nothing() {
    // Each of them is one; doubles make 0.98, 1 ± 1e-8, 0 or 1.0000000000000002 of it.
    let ones =
        ["(1e15 + pi) - 1e15 - pi + 1", "(1e8 + pi) - 1e8 - pi + 1", "1 + (1e16 + 0.5*pi) - 1e16 - 0.5*pi"];
    // As in the test above with μ = 1 + 2⁻⁵: pressed together there is no solution, and one for less.
    let sliding = |mu: &str| {
        let contact = format!(
            "[[contact]]\nname=\"c\"\ngap=\"y\"\nslip=[\"x + y\"]\nmu=\"{mu}\"\n[state.velocity]\nx = 1.0\n"
        );
        verdicts(&plane("y", &contact))
    };
    for one in ones {
        for verdict in sliding(&format!("({one})*(1 + 2^-5)")) {
            assert_ne!(verdict, Proved, "{one}");
        }
        for verdict in sliding(&format!("({one})*(1 - 2^-5)")) {
            assert_ne!(verdict, Refuted, "{one}");
        }
        // The same rows but for rounding: compatible, whatever their numbers are.
        let joints = format!(
            "[[joint]]\nname=\"a\"\nvalue=\"y\"\n[[joint]]\nname=\"b\"\nvalue=\"y + (({one}) - 1)*x\"\n"
        );
        let said = verdicts(&plane("x + y", &joints));
        assert!(said[0] != Refuted && said[2] != Proved, "{one}: {said:?}");
    }
}

#[test]
fn a_contact_whose_slip_cancels_is_not_taken_for_one_at_rest() {
    // It slides with 1 m/s; doubles have it at rest, where it would stick. The first is rational.
    for speed in ["(1e17 + 1) - 1e17", "(1e17 + pi) - 1e17 - (pi - 1)"] {
        let contact = format!("[[contact]]\nname=\"c\"\ngap=\"y\"\nslip=[\"x + ({speed})*t\"]\nmu=1\n");
        let said = verdicts(&plane("y", &contact));
        assert_eq!(said, [Unknown; 3], "{speed}");
    }
}

#[test]
fn a_contact_whose_approach_cancels_is_not_taken_for_an_impact() {
    // It rests; doubles have it approach with 0.017 m/s.
    let contact = "[[contact]]\nname=\"c\"\ngap=\"y + ((1e15 + pi) - 1e15 - pi)*t\"\n";
    assert_eq!(verdicts(&plane("y", contact)), [Unknown; 3]);
    // One that approaches for sure.
    let file = read_system(&plane("y", "[[contact]]\nname=\"c\"\ngap=\"y - pi*t\"\n"), &[]).unwrap();
    let (tolerances, options) = (Tolerances::default(), EnumerateOptions::default());
    let found = examine(&file.system, &file.state, &file.exact_state, &tolerances, &options).unwrap();
    assert!(found.analysis.is_none());
}
