//! Intervals hold what they claim to hold, and safe intervals end where closed forms say.

use delassus::analysis::{End, Question, Safe, SafeError, SafeInterval, SafeMethod, analyze};
use delassus::formula::{Expression, Formula, HyperDual, Interval, IntervalDual, Number, Point, Symbols};
use delassus::lagrangian::Tolerances;
use delassus_scene::{SafeTextError, read_family, read_system, safe_interval_of};
use delassus_solve::lcp::Verdict;
use delassus_solve::modes::EnumerateOptions;
use proptest::prelude::*;

const ROD: &str = include_str!("../../../../scenes/painleve-rod.toml");
const SPACE: &str = include_str!("../../../../scenes/rod-in-space.toml");
const ARM: &str = include_str!("../../../../scenes/articulated-arm.toml");
const LADDER: &str = include_str!("../../../../scenes/ladder.toml");
const KLEIN: &str = include_str!("../../../../scenes/painleve-klein.toml");
const INCLINE: &str = include_str!("../../../../scenes/block-on-incline.toml");

fn question(over: &str) -> Question<'_> {
    Question { over, within: None, for_all: &[], any_slip: false, tolerances: Tolerances::default() }
}

fn interval(text: &str, overrides: &[(&str, &str)], question: &Question<'_>) -> SafeInterval {
    safe_interval_of(text, overrides, question).unwrap().interval.unwrap()
}

/// Certified from below, and within 1e-6 of the true value.
fn assert_below(found: SafeInterval, exact: f64) {
    assert_eq!(found.method, SafeMethod::IntervalArithmetic);
    assert_eq!(found.ends[1], End::Boundary);
    assert!(found.hi < exact && exact - found.hi < 1e-6, "{found:?} {exact}");
}

#[test]
fn arithmetic_is_rounded_outward() {
    let sum = Interval::point(0.1) + Interval::point(0.2);
    // 0.1 + 0.2 is not a double; both neighbours of the rounded sum are inside.
    assert!(sum.lo < 0.1 + 0.2 && 0.1 + 0.2 < sum.hi && sum.width() < 2e-16);
    assert_eq!(Interval::point(3.0) + Interval::ZERO, Interval::point(3.0));
    assert_eq!(Interval::new(-2.0, 5.0) * Interval::ZERO, Interval::ZERO);
    let square = Interval::new(-2.0, 1.0).powf(2.0);
    assert_eq!(square.lo, 0.0);
    assert!(square.contains(4.0) && square.hi < 4.0 + 1e-14);
}

#[test]
fn extremes_inside_are_seen() {
    let sine = Interval::new(0.0, 2.0).sin();
    assert_eq!(sine.hi, 1.0);
    assert!(sine.lo.abs() < 1e-15);
    let cosine = Interval::new(3.0, 7.0).cos();
    assert_eq!((cosine.lo, cosine.hi), (-1.0, 1.0));
    let narrow = Interval::new(1.0, 1.1).sin();
    assert!(narrow.width() < 0.1);
}

#[test]
fn what_has_no_value_is_undefined() {
    let around = Interval::new(-1.0, 1.0);
    let undefined = [
        Interval::ONE / around,
        around.sqrt(),
        around.ln(),
        Interval::new(0.5, 1.5).asin(),
        Interval::new(1.0, 2.0).tan(),
        around.atan2(Interval::new(-2.0, -1.0)),
        around.powf(0.5),
        around.powf(-1.0),
        Interval::point(1e300) * Interval::point(1e300),
        Interval::ONE / around + Interval::ONE,
        (Interval::ONE / around) * Interval::ZERO,
    ];
    for x in undefined {
        assert!(x.is_undefined(), "{x:?}");
    }
    // |x| has no derivative at 0; where nothing moves it needs none.
    let moving = IntervalDual { d1: Interval::ONE, ..IntervalDual::constant(around) };
    assert!(moving.abs().d1.is_undefined() && moving.abs().value.contains(0.5));
    assert_eq!(IntervalDual::constant(around).abs().d1, Interval::ZERO);
}

const FORMULAS: [&str; 14] = [
    "x*y - x/(3 + y^2)",
    "sin(x)*cos(y) + tan(x/4)",
    "exp(x/3) + ln(4 + x*y/2)",
    "sqrt(5 + x + y)^3",
    "atan2(y + 4, x)",
    "asin(x/4) + acos(y/5) + atan(x*y)",
    "sinh(x/2) - cosh(y/2) + tanh(x - y)",
    "abs(x + 5)*min(x, y + 6)",
    "max(x, y - 7)^4",
    "x^3 + y^2 + (x + 4)^-2",
    "(x + 4)^2.5",
    "(y + 4)^(x/3)",
    "1/(x^2 + 1)",
    "x^0 + y^1",
];

proptest! {
    /// The value and the derivatives at every point lie in those of the box.
    #[test]
    fn formulas_on_a_box_hold_their_values_at_its_points(
        which in 0..FORMULAS.len(),
        x0 in -2.0..2.0f64, y0 in -2.0..2.0f64, wx in 0.0..1.0f64, wy in 0.0..1.0f64,
        s in 0.0..1.0f64, t in 0.0..1.0f64,
    ) {
        let mut symbols = Symbols::default();
        symbols.add_coordinate("x").unwrap();
        symbols.add_coordinate("y").unwrap();
        let f = Expression::parse(FORMULAS[which], &symbols).unwrap();
        let boxes = [Interval::new(x0, x0 + wx), Interval::new(y0, y0 + wy)];
        let point = [(x0 + s * wx).min(boxes[0].hi), (y0 + t * wy).min(boxes[1].hi)];
        let wide: Vec<IntervalDual> = boxes
            .iter()
            .enumerate()
            .map(|(k, &b)| IntervalDual {
                d1: if k == 0 { Interval::ONE } else { Interval::ZERO },
                d2: if k == 1 { Interval::ONE } else { Interval::ZERO },
                ..IntervalDual::constant(b)
            })
            .collect();
        let narrow = [HyperDual::variable(point[0], 1.0, 0.0), HyperDual::variable(point[1], 0.0, 1.0)];
        let bound = f.eval(&Point { q: &wide, v: &[], t: IntervalDual::from_f64(0.0) });
        let exact = f.eval(&Point { q: &narrow, v: &[], t: HyperDual::constant(0.0) });
        // The numbers at the point are rounded themselves, by a few dozen operations of size up to 1e3.
        let holds = |b: Interval, x: f64| {
            b.is_undefined() || (b.lo - 1e-12 * (1.0 + x.abs()) <= x && x <= b.hi + 1e-12 * (1.0 + x.abs()))
        };
        prop_assert!(holds(bound.value, exact.value), "{:?} {:?}", bound, exact);
        prop_assert!(holds(bound.d1, exact.d1), "{:?} {:?}", bound, exact);
        prop_assert!(holds(bound.d2, exact.d2), "{:?} {:?}", bound, exact);
        prop_assert!(holds(bound.d12, exact.d12), "{:?} {:?}", bound, exact);
        prop_assert!(!bound.value.is_undefined(), "these formulas have a value everywhere on these boxes");
    }

    /// μ_jam = (4 + tan²θ)/(3 tan θ), from below, at any angle.
    #[test]
    fn rod_is_safe_up_to_its_jamming_friction(degrees in 5.0..85.0f64) {
        let angle = format!("{degrees:?} deg");
        let overrides = [("angle", angle.as_str())];
        let tangent = degrees.to_radians().tan();
        let found = interval(ROD, &overrides, &question("mu"));
        let exact = (4.0 + tangent * tangent) / (3.0 * tangent);
        prop_assert!(found.lo == 0.0 && found.hi < exact && (exact - found.hi) / exact < 1e-6);
    }

    /// What is certified holds at random points, by the enumeration of all solutions.
    #[test]
    fn certified_values_have_one_solution(share in 0.0..1.0f64, angle in 0.1..1.5f64) {
        let found = safe_over_all_angles();
        let mu = format!("{:?}", found.lo + share * (found.hi - found.lo));
        let angle = format!("{angle:?}");
        let file = read_system(ROD, &[("mu", &mu), ("angle", &angle)]).unwrap();
        let options = EnumerateOptions::default();
        let result = analyze(&file.system, &file.state, &Tolerances::default(), &options).unwrap();
        prop_assert_eq!(result.analysis.unwrap().forces_unique, Verdict::Proved);
    }
}

/// Friction that is safe for all angles from 0.1 to 1.5; found once.
fn safe_over_all_angles() -> SafeInterval {
    static FOUND: std::sync::OnceLock<SafeInterval> = std::sync::OnceLock::new();
    *FOUND
        .get_or_init(|| interval(ROD, &[], &Question { for_all: &[("angle", [0.1, 1.5])], ..question("mu") }))
}

#[test]
fn rod_over_all_angles_is_safe_up_to_four_thirds() {
    assert_below(safe_over_all_angles(), 4.0 / 3.0);
}

#[test]
fn rod_at_45_degrees_is_safe_up_to_five_thirds() {
    let found: Safe = safe_interval_of(ROD, &[], &question("mu")).unwrap();
    assert_eq!((found.present, found.within), (2.0, [0.0, 20.0]));
    let found = found.interval.unwrap();
    assert_eq!((found.lo, found.ends[0]), (0.0, End::Range));
    assert_below(found, 5.0 / 3.0);
}

#[test]
fn rod_in_space_is_safe_in_all_directions_up_to_its_jamming_friction() {
    assert_below(interval(SPACE, &[], &Question { any_slip: true, ..question("mu") }), 5.0 / 3.0);
    // In the direction of the state, 20° away, cos 20° of the coupling counts.
    let exact = 5.0 / 3.0 / 20f64.to_radians().cos();
    assert_below(interval(SPACE, &[], &question("mu")), exact);
}

#[test]
fn arm_at_configuration_a_is_safe_up_to_0_4208() {
    let posture = [("x0", "0.3388166337832805"), ("c0", "101.74712330460235 deg")];
    let found = interval(ARM, &posture, &Question { any_slip: true, ..question("mu") });
    assert_eq!(found.method, SafeMethod::IntervalArithmetic);
    // The golden value is given to 1e-6.
    assert!(found.hi < 0.420788 && found.hi > 0.420785, "{found:?}");
}

#[test]
fn guides_and_contacts_with_friction() {
    // 4 − 3(μ_b + μ_u) + 2 μ_b μ_u > 0 at 45° (000 Fig. 2(c)).
    assert_below(interval(LADDER, &[("mu_wall", "0.3")], &question("mu_floor")), 3.1 / 2.4);
    // μ₁ + μ₂ < 2/tan θ (000 Fig. 1(b), corrected).
    assert_below(interval(KLEIN, &[], &question("mu")), 1.0 / 60f64.to_radians().tan());
    assert_below(
        interval(KLEIN, &[("mu_lower", "0.2")], &question("mu_upper")),
        2.0 / 60f64.to_radians().tan() - 0.2,
    );
}

#[test]
fn angles_of_a_rod_with_friction_one_and_a_half() {
    // μ_jam(θ) = 3/2 where tan²θ − 4.5 tan θ + 4 = 0: tan θ = (4.5 ∓ √4.25)/2.
    let found =
        interval(ROD, &[("mu", "1.5")], &Question { within: Some([0.02, 1.55]), ..question("angle") });
    assert_below(found, ((4.5 - 4.25f64.sqrt()) / 2.0).atan());
    // From a steep angle the other side is found.
    let steep = [("mu", "1.5"), ("angle", "85 deg")];
    let found = interval(ROD, &steep, &Question { within: Some([0.02, 1.55]), ..question("angle") });
    let exact = ((4.5 + 4.25f64.sqrt()) / 2.0).atan();
    assert!(
        found.lo > exact && found.lo - exact < 1e-6 && found.ends == [End::Boundary, End::Range],
        "{found:?}"
    );
}

/// A particle over a floor at height d: it touches at d = 0 and penetrates above.
const PARTICLE: &str = r#"
[system]
coordinates = ["x", "y"]
[parameters]
d = -0.5
pull = 0.0
[energy]
kinetic = "(x'^2 + y'^2)/2"
potential = "9.81*y"
[[contact]]
name = "floor"
gap = "y - d"
slip = ["x"]
mu = 0.5
[state.velocity]
x = 1.0
y = "-pull"
"#;

#[test]
fn states_that_penetrate_or_approach_are_not_certified() {
    let found = interval(PARTICLE, &[], &Question { within: Some([-1.0, 1.0]), ..question("d") });
    // Gaps down to −1e-6 count as touching.
    assert!(found.lo == -1.0 && found.hi.abs() <= 1.01e-6 && found.ends[1] == End::Boundary, "{found:?}");
    let touching = [("d", "0")];
    let found = interval(PARTICLE, &touching, &Question { within: Some([-1.0, 1.0]), ..question("pull") });
    // With a velocity downward an impact comes first; parting is fine.
    assert!(found.lo == -1.0 && found.hi.abs() <= 1.01e-6, "{found:?}");
}

#[test]
fn contacts_at_rest_are_sampled_and_say_so() {
    let found = safe_interval_of(INCLINE, &[], &question("g")).unwrap();
    assert_eq!(found.interval.unwrap().method, SafeMethod::Sampled);
}

#[test]
fn misuse_is_an_error() {
    assert!(matches!(safe_interval_of(ROD, &[], &question("nu")), Err(SafeTextError::File(_))));
    let reversed = Question { within: Some([1.0, 0.0]), ..question("mu") };
    assert!(matches!(
        safe_interval_of(ROD, &[], &reversed),
        Err(SafeTextError::Question(SafeError::Range { .. }))
    ));
    let twice = Question { for_all: &[("mu", [0.0, 1.0])], ..question("mu") };
    assert!(matches!(
        safe_interval_of(ROD, &[], &twice),
        Err(SafeTextError::Question(SafeError::Twice { .. }))
    ));
}

#[test]
fn members_of_a_family_are_the_systems_of_the_file() {
    let family = read_family(ARM, &[], &["x0", "c0"]).unwrap();
    assert_eq!(family.free().collect::<Vec<_>>(), ["x0", "c0"]);
    // Parameters that depend on the free ones are variables too, in the order of the file.
    let names: Vec<&str> = family.variables.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["x0", "c0", "px", "py", "elbow", "a0", "b0"]);
    let member = family.member(&[0.4, 1.9]);
    let file = read_system(ARM, &[("x0", "0.4"), ("c0", "1.9")]).unwrap();
    for (a, b) in member.q.iter().zip(&file.state.q).chain(member.v.iter().zip(&file.state.v)) {
        // Constants are folded in another order.
        assert!((a - b).abs() < 1e-14, "{a} {b}");
    }
}
