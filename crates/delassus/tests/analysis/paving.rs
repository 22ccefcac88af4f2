//! Boxes of parameters: cells lie on the right side of closed forms, and what is undecided shrinks.

use delassus::analysis::{
    Paving, PavingFault, PavingQuestion, PavingReason, SafeError, analyze, check_paving, pave,
};
use delassus::lagrangian::Tolerances;
use delassus_scene::{SafeTextError, check_paving_of, pave_text, read_system};
use delassus_solve::lcp::Verdict;
use delassus_solve::modes::EnumerateOptions;

const ROD: &str = include_str!("../../../../scenes/painleve-rod.toml");
const DRAWER: &str = include_str!("../../../../scenes/drawer.toml");
const SLIDER: &str = include_str!("../../../../scenes/slider-crank-friction.toml");
const FOUR_BAR: &str = include_str!("../../../../scenes/four-bar-pin.toml");
const ARM: &str = include_str!("../../../../scenes/articulated-arm.toml");
const KLEIN: &str = include_str!("../../../../scenes/painleve-klein.toml");

fn question<'a>(over: &'a [(&'a str, [f64; 2])], boxes: usize) -> PavingQuestion<'a> {
    PavingQuestion {
        over,
        for_all: &[],
        any_slip: false,
        any_load: false,
        cycle: false,
        boxes,
        tolerances: Tolerances::default(),
    }
}

fn undecided(paving: &Paving) -> f64 {
    paving.share(|reason| reason.verdict() == Verdict::Unknown)
}

/// Proved cells have a positive margin at all their corners, refuted ones a negative one. Along each of the
/// parameters the sign of the margin changes once at most between two corners, so that corners speak for
/// their cell.
fn assert_sides(paving: &Paving, margin: impl Fn(&[f64]) -> f64) {
    for cell in &paving.cells {
        for corner in 0..1 << cell.lo.len() {
            let end = |k: usize| if corner >> k & 1 == 1 { cell.hi[k] } else { cell.lo[k] };
            let at: Vec<f64> = (0..cell.lo.len()).map(end).collect();
            // The closed form is rounded itself.
            match cell.reason.verdict() {
                Verdict::Proved => assert!(margin(&at) > -1e-12, "{cell:?} {at:?}"),
                Verdict::Refuted => assert!(margin(&at) < 1e-12, "{cell:?} {at:?}"),
                Verdict::Unknown => {}
            }
        }
    }
}

#[test]
fn rod_over_angle_and_friction_has_the_jamming_curve_between_its_cells() {
    let over = [("angle", [0.1, 1.5]), ("mu", [0.0, 3.0])];
    let jamming = |at: &[f64]| (4.0 + at[0].tan().powi(2)) / (3.0 * at[0].tan()) - at[1];
    let mut left = 1.0;
    for boxes in [200, 800, 3200] {
        let found = pave_text(ROD, &[], &question(&over, boxes)).unwrap();
        assert_sides(&found, jamming);
        assert!(found.boxes <= boxes + 2, "{}", found.boxes);
        // Twice as fine in both directions halves what a curve crosses.
        assert!(undecided(&found) < 0.7 * left, "{boxes}: {} after {left}", undecided(&found));
        left = undecided(&found);
    }
    assert!(left < 0.05, "{left}");
}

#[test]
fn rod_above_its_jamming_friction_has_none_or_several_solutions() {
    let over = [("angle", [0.5, 1.2]), ("mu", [2.0, 3.0])];
    let found = pave_text(ROD, &[], &question(&over, 400)).unwrap();
    assert!(found.cells.iter().any(|c| c.reason == PavingReason::NoSolution));
    assert!(found.cells.iter().all(|c| c.reason != PavingReason::SeveralSolutions));
    // With little gravity the rotation lifts the tip: it may fly, or be held down by its own friction.
    let text = ROD
        .replace("[state.velocity]\n", "[state.velocity]\ntheta = -3\n")
        .replace("x = \"slip\"", "x = \"slip - l*sin(angle)*3\"\ny = \"-3*l*cos(angle)\"");
    let found = pave_text(&text, &[("g", "0.5")], &question(&over, 400)).unwrap();
    assert!(found.cells.iter().any(|c| c.reason == PavingReason::SeveralSolutions), "{found:?}");
    // The design, friction 2 at 45°, is refuted itself.
    let found = pave_text(ROD, &[], &question(&over, 400)).unwrap();
    assert_eq!(found.certified, None);
    let counterexample = found.counterexample.unwrap();
    assert!(
        (counterexample.point[0] - std::f64::consts::FRAC_PI_4).abs() < 1e-3
            && counterexample.point[1] < 2.01
    );
}

/// Random points of cells, against the enumeration of all solutions at the point.
#[test]
fn cells_agree_with_the_analysis_at_their_points() {
    let over = [("mu_upper", [0.0, 1.5]), ("mu_lower", [0.0, 1.5])];
    let found = pave_text(KLEIN, &[], &question(&over, 1500)).unwrap();
    // With this load the solution is unique in places where it is not with others.
    let margin = |at: &[f64]| 2.0 / 60f64.to_radians().tan() - at[0] - at[1];
    assert!(found.cells.iter().any(|c| c.reason == PavingReason::ThisLoad && margin(&c.lo) < 0.0));
    let asked = PavingQuestion { any_load: true, ..question(&over, 1500) };
    assert_sides(&pave_text(KLEIN, &[], &asked).unwrap(), margin);
    for (k, cell) in found.cells.iter().enumerate().filter(|(_, c)| c.reason != PavingReason::Undecided) {
        let share = (k as f64 * 0.618).fract();
        let at = |i: usize| format!("{:?}", cell.lo[i] + share * (cell.hi[i] - cell.lo[i]));
        let file = read_system(KLEIN, &[("mu_upper", &at(0)), ("mu_lower", &at(1))]).unwrap();
        let result =
            analyze(&file.system, &file.state, &Tolerances::default(), &EnumerateOptions::default()).unwrap();
        let unique = result.analysis.unwrap().forces_unique;
        assert_eq!(unique, cell.reason.verdict(), "{cell:?}");
    }
    assert!(undecided(&found) < 0.1);
}

#[test]
fn drawer_jams_where_it_is_shorter_than_friction_times_width() {
    let over = [("length", [0.2, 1.0]), ("width", [0.2, 1.0]), ("mu", [0.1, 1.2])];
    let found = pave_text(DRAWER, &[], &question(&over, 6000)).unwrap();
    assert_sides(&found, |at| at[0] - at[2] * at[1]);
    assert!(undecided(&found) < 0.5, "{}", undecided(&found));
    for wanted in [PavingReason::EveryLoad, PavingReason::NoSolution] {
        assert!(found.cells.iter().any(|c| c.reason == wanted), "{wanted:?}");
    }
    // Over two of them, from a design that is safe: friction 0.5, for lengths above 0.3.
    let over = [("length", [0.2, 1.0]), ("width", [0.2, 1.0])];
    let found = pave_text(DRAWER, &[("mu", "0.5")], &question(&over, 4000)).unwrap();
    assert_sides(&found, |at| at[0] - 0.5 * at[1]);
    let certified = found.certified.clone().unwrap();
    assert!(certified.iter().zip(&found.design).all(|([lo, hi], x)| lo <= x && x <= hi));
    // The largest of all boxes with L > w/2 in it ends at a corner (L, 2 L): (1 − L)(2 L − 0.2), greatest at
    // 0.55, but must hold the design (0.4, 0.6): L ≤ 0.4, where it is 0.6·0.6.
    let area: f64 = certified.iter().map(|[lo, hi]| hi - lo).product();
    assert!(area < 0.36 + 1e-12 && area > 0.33, "{certified:?}");
    // The nearest point that jams, in parts of both ranges of 0.8: L − d = (w + d)/2, d = 0.2/3.
    let point = found.counterexample.unwrap().point;
    assert!(
        (point[0] - (0.4 - 0.2 / 3.0)).abs() < 0.02 && (point[1] - (0.6 + 0.2 / 3.0)).abs() < 0.02,
        "{point:?}"
    );
}

/// μ tan φ < 1 with sin φ = 0.8 sin θ.
fn slider_margin(at: &[f64]) -> f64 {
    let sine = 0.8 * at[0].sin();
    (1.0 - sine * sine).sqrt() - at[1] * sine.abs()
}

#[test]
fn slider_crank_is_covered_over_its_whole_turn() {
    let over = [("angle", [0.0, std::f64::consts::TAU]), ("mu", [0.0, 1.5])];
    let question = PavingQuestion { cycle: true, any_load: true, ..question(&over, 6000) };
    let found = pave_text(SLIDER, &[], &question).unwrap();
    for cell in &found.cells {
        // The margin falls and rises with the sine: between corners the largest sine decides.
        let highest = |lo: f64, hi: f64| {
            let top = |x: f64| lo <= x && x <= hi;
            let half = std::f64::consts::FRAC_PI_2;
            if top(half) || top(3.0 * half) {
                half
            } else if lo.sin().abs() > hi.sin().abs() {
                lo
            } else {
                hi
            }
        };
        if cell.reason.verdict() == Verdict::Proved {
            assert!(slider_margin(&[highest(cell.lo[0], cell.hi[0]), cell.hi[1]]) > 0.0, "{cell:?}");
        }
        if cell.reason.verdict() == Verdict::Refuted {
            for angle in [cell.lo[0], cell.hi[0]] {
                assert!(slider_margin(&[angle, cell.lo[1]]) < 0.0, "{cell:?}");
            }
        }
    }
    assert!(undecided(&found) < 0.12, "{}", undecided(&found));
    // A full turn is certified up to almost 3/4, or a part of it with more friction.
    let low = found.cells.iter().filter(|c| c.lo[1] < 0.6);
    assert!(
        low.clone().count() > 0 && low.clone().all(|c| c.reason == PavingReason::EveryLoad || c.hi[1] > 0.6)
    );
    // The first angle to jam on the way from the design is near 90°.
    assert!(found.counterexample.unwrap().point[1] > 0.75);
    check_paving_of(SLIDER, &[], &question, &found.cells).unwrap();
}

/// det G of both guides for every combination of signs, from the linkage in plain numbers: with the crank
/// driven, the coordinates φ and ψ, their mass matrix and the rows along and across the rocker.
fn four_bar_signs(phi: f64, psi: f64, mu: f64, slip: f64) -> Vec<f64> {
    let (l, r, radius, m, n) = (0.9, 0.7, 0.3, 0.9, 0.7);
    let mass = [m * l * l / 3.0, n * r * r / 3.0];
    let (s, c) = ((phi - psi).sin(), (phi - psi).cos());
    // End of coupler minus end of rocker, along (cos ψ, sin ψ) and across; at the closed linkage.
    let rows = [[-l * s, 0.0], [l * c, -r]];
    let tangent = [radius, -radius];
    let dot = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] / mass[0] + a[1] * b[1] / mass[1];
    (0..4)
        .map(|signs| {
            let column = |j: usize, i: usize| {
                let sign = if signs >> j & 1 == 1 { -1.0 } else { 1.0 };
                dot(rows[i], rows[j]) - sign * mu * slip * dot(rows[i], tangent)
            };
            column(0, 0) * column(1, 1) - column(1, 0) * column(0, 1)
        })
        .collect()
}

/// Coupler and rocker by Freudenstein's way: the angle of the diagonal plus that of the triangle over it.
fn four_bar(theta: f64) -> [f64; 2] {
    let (g, a, l, r) = (1.0, 0.4, 0.9, 0.7);
    let (x, y) = (g - a * theta.cos(), -a * theta.sin());
    let (d, base) = (x.hypot(y), y.atan2(x));
    let phi = base + ((d * d + l * l - r * r) / (2.0 * d * l)).acos();
    let (ex, ey) = (a * theta.cos() + l * phi.cos() - g, a * theta.sin() + l * phi.sin());
    [phi, ey.atan2(ex)]
}

#[test]
fn four_bar_agrees_with_determinants_of_the_linkage() {
    let over = [("angle", [0.0, std::f64::consts::TAU]), ("mu", [0.0, 2.0])];
    let asked = |boxes: usize| {
        let question = PavingQuestion { cycle: true, any_load: true, ..question(&over, boxes) };
        pave_text(FOUR_BAR, &[], &question).unwrap()
    };
    let (coarse, found) = (asked(5000), asked(40_000));
    let mut seen = [0, 0];
    for (k, cell) in found.cells.iter().enumerate() {
        let (s, t) = ((k as f64 * 0.618).fract(), (k as f64 * 0.414).fract());
        let (theta, mu) =
            (cell.lo[0] + s * (cell.hi[0] - cell.lo[0]), cell.lo[1] + t * (cell.hi[1] - cell.lo[1]));
        let [phi, psi] = four_bar(theta);
        // Whichever way the pin turns, the four determinants are the same ones in another order.
        let signs = four_bar_signs(phi, psi, mu, 1.0);
        let same = signs.iter().all(|x| x.signum() == signs[0].signum());
        match cell.reason.verdict() {
            Verdict::Proved => assert!(same, "{cell:?} {signs:?}"),
            Verdict::Refuted => assert!(!same, "{cell:?} {signs:?}"),
            Verdict::Unknown => continue,
        }
        seen[usize::from(same)] += 1;
    }
    assert!(seen[0] > 20 && seen[1] > 20, "{seen:?}");
    // Bounds of the products in the determinants are wide: a turn needs many cells, but more effort decides
    // more.
    let shares = [&coarse, &found].map(undecided);
    assert!(shares[1] < 0.8 * shares[0], "{shares:?}");
}

#[test]
fn arm_in_its_worst_posture_is_certified_below_0_4208_in_all_directions() {
    let posture = [("x0", "0.3388166337832805"), ("c0", "101.74712330460235 deg"), ("mu", "0.2")];
    let over = [("mu", [0.0, 1.0]), ("vf", [-2.0, 2.0])];
    let question = PavingQuestion { any_slip: true, ..question(&over, 20_000) };
    let found = pave_text(ARM, &posture, &question).unwrap();
    // Six digits of the limit are known.
    assert_sides(&found, |at| if (0.420787 - at[0]).abs() < 1e-6 { 0.0 } else { 0.420787 - at[0] });
    let [mu, vf] = found.certified.clone().unwrap()[..] else { panic!() };
    assert!(mu[0] == 0.0 && mu[1] > 0.4 && vf == [-2.0, 2.0], "{mu:?} {vf:?}");
    // Over angles of the last link: never above the smallest jamming friction, 0.404, on the whole box.
    let over = [("mu", [0.0, 0.6]), ("c0", [1.7, 1.85])];
    let found = pave_text(ARM, &posture[..1], &PavingQuestion { over: &over, ..question }).unwrap();
    assert!(found.share(|r| r == PavingReason::EveryLoad) > 0.5, "{}", undecided(&found));
    assert!(found.share(|r| r == PavingReason::SomeLoad) > 0.1, "{}", undecided(&found));
}

/// A limit that depends on one of two parameters costs cuts along that one only.
#[test]
fn cells_are_cut_along_the_parameter_that_keeps_them_open() {
    let posture = [("x0", "0.3388166337832805"), ("c0", "101.74712330460235 deg"), ("mu", "0.2")];
    let over = [("vf", [-2.0, 2.0]), ("mu", [0.0, 1.0])];
    let found =
        pave_text(ARM, &posture, &PavingQuestion { any_slip: true, ..question(&over, 20_000) }).unwrap();
    assert!(undecided(&found) < 1e-5, "{} in {} cells", undecided(&found), found.cells.len());
    assert!(found.cells.len() < 200, "{}", found.cells.len());
}

#[test]
fn tampered_pavings_are_refused() {
    let over = [("angle", [0.2, 1.4]), ("mu", [0.0, 3.0])];
    let asked = question(&over, 400);
    let found = pave_text(ROD, &[], &asked).unwrap();
    check_paving_of(ROD, &[], &asked, &found.cells).unwrap();
    let fault = |cells: &[delassus::analysis::PavedCell]| match check_paving_of(ROD, &[], &asked, cells) {
        Err(SafeTextError::Paving(fault)) => fault,
        other => panic!("{other:?}"),
    };
    let refuted = found.cells.iter().position(|c| c.reason.verdict() == Verdict::Refuted).unwrap();
    let mut lied = found.cells.clone();
    lied[refuted].reason = PavingReason::EveryLoad;
    assert!(matches!(fault(&lied), PavingFault::Claim { cell, .. } if cell == refuted));
    let mut wider = found.cells.clone();
    wider[0].hi[0] = wider[0].hi[0].next_up();
    assert!(matches!(fault(&wider), PavingFault::Cover { .. } | PavingFault::Bounds { .. }));
    assert!(matches!(fault(&found.cells[1..]), PavingFault::Cover { .. }));
}

#[test]
fn what_cannot_be_paved_is_an_error() {
    let error = |text: &str, question: &PavingQuestion<'_>| match pave_text(text, &[], question) {
        Err(SafeTextError::Question(e)) => e,
        other => panic!("{other:?}"),
    };
    assert!(matches!(error(ROD, &question(&[("mu", [1.0, 1.0])], 10)), SafeError::Range { .. }));
    let twice = [("mu", [0.0, 1.0]), ("mu", [0.0, 1.0])];
    assert!(matches!(error(ROD, &question(&twice, 10)), SafeError::Twice { .. }));
    let over = [("angle", [0.2, 1.4])];
    let cycle = PavingQuestion { cycle: true, ..question(&over, 10) };
    assert!(matches!(error(ROD, &cycle), SafeError::CannotClose { .. }));
    // A rod that does not reach the guide.
    let short = SLIDER.replace("rod = 0.5", "rod = 0.3");
    assert!(matches!(error(&short, &cycle), SafeError::OpenLoop));
    // Closed with the crank at 60° only: other angles are no states without --cycle.
    let found = pave_text(SLIDER, &[], &question(&[("angle", [2.0, 3.0])], 50)).unwrap();
    assert_eq!(found.share(|r| r == PavingReason::NoState), 1.0);
}

#[test]
fn pavings_of_families_and_texts_are_the_same() {
    let over = [("angle", [0.2, 1.4]), ("mu", [0.0, 3.0])];
    let asked = question(&over, 100);
    let family = delassus_scene::read_family(ROD, &[], &["angle", "mu"]).unwrap();
    // In the order of the file: mu, then angle.
    let design = [2.0, 45f64.to_radians()];
    let found = pave(&family, &design, &asked).unwrap();
    assert_eq!(found, pave_text(ROD, &[], &asked).unwrap());
    check_paving(&family, &design, &asked, &found.cells).unwrap();
    assert_eq!(found.design, [45f64.to_radians(), 2.0]);
}
