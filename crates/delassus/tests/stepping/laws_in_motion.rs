//! Every law of contact with every scheme and law of impact, in motion.
//!
//! Rolling friction once made every moving contact that reached its limit panic, and no test saw it: problems
//! with rolling friction were solved, worlds with it were read, but none moved. Here everything moves that
//! can be chosen.

use delassus::stepping::{
    FrictionLaw, Scheme, StepControl, StepImpactLaw, StepOptions, StepReport, Stepper, controlled_step,
};
use delassus::world::{World, WorldError, WorldState, energy};
use delassus_solve::problem::Status;

use crate::support::texts::on_floor;
use crate::support::worlds::world;

const G: f64 = 9.81;
const LAWS: [FrictionLaw; 2] = [FrictionLaw::Ncp, FrictionLaw::Ccp];
const SCHEMES: [Scheme; 2] = [Scheme::Symmetric, Scheme::HalfImplicit];
const IMPACT_LAWS: [StepImpactLaw; 4] =
    [StepImpactLaw::Moreau, StepImpactLaw::Newton, StepImpactLaw::Poisson, StepImpactLaw::Sequence];
const SHAPES: [&str; 3] = [
    "type = \"sphere\"\nradius = 0.1",
    "type = \"box\"\nhalf_extents = [0.1, 0.1, 0.1]",
    "type = \"cylinder\"\nradius = 0.1\nhalf_height = 0.1",
];

/// A body of mass 1 above the floor, half of its height 0.1.
fn body(shape: &str, height: f64, v: [f64; 3], spin: [f64; 3], friction: &str) -> (World, WorldState) {
    world(&on_floor(&[&format!(
        "[[body]]
name = \"body\"
mass = 1
position = [0, 0, {height}]
velocity = {v:?}
\
         angular_velocity = {spin:?}
[[body.shape]]
{shape}
[[friction]]
between = [\"body\", \"*\"]
{friction}
"
    )]))
}

#[test]
fn a_ball_with_rolling_friction_slows_down_as_the_closed_form_says() {
    // m a = -F, (2/5) m r² a/r = F r - ρ m g: a = -(5/7) ρ g/r. It rolls from the start, and stops at v
    // r/((5/7) ρ g).
    let (rho, r, v0) = (0.005, 0.1, 1.0);
    let a = 5.0 / 7.0 * rho * G / r;
    let stop = v0 / a;
    for scheme in SCHEMES {
        let (world, state) =
            body(SHAPES[0], r, [v0, 0.0, 0.0], [0.0, v0 / r, 0.0], "mu = 0.5\nrolling = 0.005");
        let options = StepOptions { scheme, ..StepOptions::default() };
        let mut stepper = Stepper::new(&world, state, options).unwrap();
        for step in 1..=3500 {
            let report = stepper.step().unwrap();
            assert_eq!(report.status, Status::Solved, "{scheme:?}, step {step}");
            let (t, ball) = (step as f64 * options.dt, &stepper.state().bodies[1]);
            // The first half of the first kick finds the ball without rolling moment: an offset of half a
            // step.
            let exact = (v0 - a * t).max(0.0);
            assert!(
                (ball.velocity.x - exact).abs() < 1.0001 * a * options.dt,
                "{scheme:?}, t = {t}: {ball:?}"
            );
            assert!((ball.velocity.x - r * ball.angular_velocity.y).abs() < 1e-9, "{scheme:?}, t = {t}");
            if t > stop + 2.0 * options.dt {
                assert!(ball.velocity.length() < 1e-9, "{scheme:?}, t = {t}: at rest, {ball:?}");
            }
        }
        let way = stepper.state().bodies[1].pose.position.x;
        assert!((way - v0 * v0 / (2.0 * a)).abs() < 1.1 * v0 * options.dt, "{scheme:?}: {way}");
    }
}

#[test]
fn every_law_with_every_scheme_moves_on_and_creates_no_energy() {
    let surfaces = [
        "mu = 0",
        "mu = 0.3",
        "mu = 0.3\nrolling = 0.01",
        "mu = 0\nrolling = 0.01",
        "mu = 0.3\nspinning = 0.01",
        "mu = 0\nspinning = 0.01",
        "mu = 0.3\nrolling = 0.01\nspinning = 0.01",
        "mu_static = 0.4\nmu_kinetic = 0.2",
        "mu = [0.02, 0.5]\naxis = [1, 0.4, 0]",
    ];
    for shape in SHAPES {
        for surface in surfaces {
            for restitution in [0.0, 0.5] {
                let friction = format!("{surface}\nrestitution = {restitution}");
                for law in LAWS {
                    for scheme in SCHEMES {
                        for impact_law in IMPACT_LAWS {
                            let options = StepOptions { law, scheme, impact_law, ..StepOptions::default() };
                            if scheme == Scheme::HalfImplicit && impact_law != StepImpactLaw::Moreau {
                                is_refused(shape, &friction, options);
                            } else {
                                falls_and_slides(shape, &friction, options);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The half-implicit scheme has no place for another law of impact than Moreau's.
fn is_refused(shape: &str, friction: &str, options: StepOptions) {
    let (world, state) = body(shape, 0.102, [1.0, 0.2, 0.0], [0.0, 3.0, 1.0], friction);
    let refused = Stepper::new(&world, state, options).err();
    assert!(matches!(refused, Some(WorldError::Together { .. })), "{options:?}: {refused:?}");
}

/// From 2 mm above the floor, along it and turning, for 0.06 s: it lands, slides or rolls, and rebounds.
fn falls_and_slides(shape: &str, friction: &str, options: StepOptions) {
    let (world, state) = body(shape, 0.102, [1.0, 0.2, 0.0], [0.0, 3.0, 1.0], friction);
    let start = energy(&world, &state);
    let mut stepper = Stepper::new(&world, state.clone(), options).unwrap();
    let mut forces = 0.0_f64;
    // Moments about all axes at several points of one body: a solve may end, and say so, where 1e-8 is left.
    let several = shape != SHAPES[0] && friction.contains("rolling") && friction.contains("spinning");
    let ended = |report: &StepReport| report.status == Status::Solved || several && report.residual <= 1e-8;
    for step in 0..60 {
        let report = stepper.step().unwrap();
        assert!(ended(&report), "{shape} {friction} {options:?}, step {step}: {:?}", report.failure);
        forces = stepper.contact_forces().map(|(_, normal, _)| normal).fold(forces, f64::max);
    }
    assert!(forces > 0.0, "{shape} {friction} {options:?}: it lands");
    // Drift of the energy of turning bodies at this step: below 1e-6 of it.
    let end = energy(&world, stepper.state());
    assert!(end <= start + 1e-6 * start.abs(), "{shape} {friction} {options:?}: {start} to {end}");

    let longest = options.dt;
    let mut stepper = Stepper::new(&world, state, options).unwrap();
    let mut control = StepControl { tolerance: 1e-6, longest, halvings: 4, level: 0, start: 0.0, ticks: 0 };
    while control.time() < 0.03 {
        let step = controlled_step(&mut stepper, &mut control).unwrap();
        assert!(ended(&step.report), "{shape} {friction} {options:?}: adaptive");
    }
    let end = energy(&world, stepper.state());
    assert!(end <= start + 1e-6 * start.abs(), "{shape} {friction} {options:?}: adaptive, {start} to {end}");
}
