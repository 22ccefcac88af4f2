//! Rotors of joints: their inertia counts as that of a body that turns with the coordinate.

use delassus::analysis::analyze_world;
use delassus::lagrangian::Tolerances;
use delassus::stepping::{Coordinates, Scheme, StepImpactLaw, StepOptions, Stepper};
use delassus::world::{BodyState, WorldState, energy, joint_coordinate};
use delassus_solve::modes::EnumerateOptions;
use delassus_solve::problem::Status;

use crate::support::worlds::world;

const COORDINATES: [Coordinates; 2] = [Coordinates::Maximal, Coordinates::Reduced];

fn run(text: &str, options: &StepOptions, steps: usize) -> (Stepper, WorldState) {
    let (world, state) = world(text);
    let mut stepper = Stepper::new(&world, state, *options).unwrap();
    for _ in 0..steps {
        let report = stepper.step().unwrap();
        assert_eq!(report.status, Status::Solved, "{report:?}");
    }
    let state = stepper.state().clone();
    (stepper, state)
}

/// The state of the rod at the end of a run.
fn rod((stepper, state): &(Stepper, WorldState)) -> BodyState {
    let index = stepper.world().bodies.iter().position(|body| body.name == "rod").unwrap();
    state.bodies[index]
}

/// A rod of 2 kg that hangs by its end, 0.3 m from its centre, and starts upright along x.
fn pendulum(inertia: f64, joint: &str) -> String {
    format!(
        "[world]\ngravity = [0, 0, -10]\n[[body]]\nname = \"rod\"\nmass = 2\ninertia = [1, {inertia}, 1]\n\
         position = [0.3, 0, 0]\n[[joint]]\nname = \"hinge\"\ntype = \"revolute\"\nbodies = [\"world\", \"rod\"]\n\
         anchor = [0, 0, 0]\naxis = [0, 1, 0]\n{joint}\n"
    )
}

#[test]
fn a_pendulum_with_a_rotor_moves_as_one_with_more_inertia() {
    for coordinates in COORDINATES {
        for scheme in [Scheme::Symmetric, Scheme::HalfImplicit] {
            let options = StepOptions { coordinates, scheme, dt: 2e-3, ..StepOptions::default() };
            let [a, b] = [(0.1, "armature = 0.5"), (0.6, "")]
                .map(|(inertia, joint)| rod(&run(&pendulum(inertia, joint), &options, 200)));
            // Positions are found to 1e-10 m in every step.
            assert!((a.pose.position - b.pose.position).length() < 1e-7, "{a:?} {b:?}");
            assert!((a.angular_velocity - b.angular_velocity).length() < 1e-6, "{a:?} {b:?}");
            assert!(a.angular_velocity.length() > 1.0);
        }
    }
}

#[test]
fn the_energy_of_a_rotor_is_part_of_the_energy() {
    let (world, state) = world(&pendulum(0.1, "armature = 0.5"));
    let start = energy(&world, &state);
    let (stepper, state) = run(&pendulum(0.1, "armature = 0.5"), &StepOptions::default(), 500);
    // ½ (I + m l² + a) φ̇² = m g l sin φ, to h² of the scheme.
    let [angle, speed] = joint_coordinate(stepper.world(), &state, 0).unwrap();
    let total = 0.1 + 2.0 * 0.3 * 0.3 + 0.5;
    let exact = (2.0 * 2.0 * 10.0 * 0.3 * angle.sin() / total).sqrt();
    assert!((speed.abs() - exact).abs() < 1e-5 * exact, "{speed} {exact}");
    assert!((energy(&world, &state) - start).abs() < 1e-5, "{}", energy(&world, &state) - start);
}

#[test]
fn a_gear_with_a_rotor_behind_it_is_a_rotor_with_the_square_of_the_ratio() {
    let geared = "[[body]]\nname = \"rotor\"\nmass = 1\ninertia = [1, 0.02, 1]\nposition = [0, 0.2, 0]\n\
         [[joint]]\nname = \"shaft\"\ntype = \"revolute\"\nbodies = [\"world\", \"rotor\"]\n\
         anchor = [0, 0, 0]\naxis = [0, 1, 0]\n\
         [[joint]]\nname = \"gear\"\ntype = \"coupler\"\njoints = [\"hinge\", \"shaft\"]\nfactors = [5, -1]\n";
    for coordinates in COORDINATES {
        let options = StepOptions { coordinates, dt: 2e-3, ..StepOptions::default() };
        let a = rod(&run(&pendulum(0.1, "armature = 0.5"), &options, 100));
        let b = rod(&run(&(pendulum(0.1, "") + geared), &options, 100));
        let apart = (a.pose.position - b.pose.position).length();
        assert!(apart < 1e-7, "{apart:e}");
    }
}

/// Two rods of 1 m in the xz plane with a rotor of 2 kg m² behind the second hinge.
fn arm() -> String {
    let link = |name: &str, x: f64, on: &str, joint: &str| {
        format!(
            "[[body]]\nname = \"{name}\"\nmass = 1\ninertia = [0.1, 0.1, 0.1]\nposition = [{x}, 0, 0]\n\
             [[joint]]\nname = \"on {name}\"\ntype = \"revolute\"\nbodies = [\"{on}\", \"{name}\"]\n\
             anchor = [{}, 0, 0]\naxis = [0, -1, 0]\n{joint}\n",
            x - 0.5
        )
    };
    let links = link("upper", 0.5, "world", "") + &link("lower", 1.5, "upper", "armature = 2");
    format!("[world]\ngravity = [0, 0, -10]\n{links}")
}

/// Accelerations of its angles: M(q) q̈ + c(q, q̇) + G(q) = 0 with a on the diagonal of M.
fn arm_acceleration([q1, q2, w1, w2]: [f64; 4]) -> [f64; 2] {
    let (m, l, d, inertia, a, g) = (1.0, 1.0, 0.5, 0.1, 2.0, 10.0);
    let m22 = inertia + m * d * d;
    let m12 = m22 + m * l * d * q2.cos();
    let m11 = inertia + m * d * d + m22 + m * l * l + 2.0 * m * l * d * q2.cos();
    let h = m * l * d * q2.sin();
    let f2 = -(h * w1 * w1 + m * g * d * (q1 + q2).cos());
    let f1 = h * w2 * (2.0 * w1 + w2) - (m * g * (d + l) * q1.cos() + m * g * d * (q1 + q2).cos());
    let m22 = m22 + a;
    let det = m11 * m22 - m12 * m12;
    [(m22 * f1 - m12 * f2) / det, (m11 * f2 - m12 * f1) / det]
}

#[test]
fn an_arm_with_a_rotor_has_the_accelerations_of_its_equations() {
    let (world, state) = world(&arm());
    let options = EnumerateOptions::default();
    let found = analyze_world(&world, &state, &Tolerances::default(), &options).unwrap();
    let analysis = found.analysis.unwrap();
    // At rest along x: ω̄˙ of both links about −y.
    let [a1, a2] = arm_acceleration([0.0; 4]);
    let acceleration = &analysis.solutions.components[0].acceleration;
    assert!((acceleration[4] + a1).abs() < 1e-9 && (acceleration[10] + a1 + a2).abs() < 1e-9);
}

#[test]
fn an_arm_with_a_rotor_moves_as_its_equations_with_second_order() {
    // Runge and Kutta with 10⁴ steps: 1e-12.
    let (mut y, n, t) = ([0.0; 4], 10_000, 0.5);
    let h = t / f64::from(n);
    let slope = |y: [f64; 4]| {
        let [a1, a2] = arm_acceleration(y);
        [y[2], y[3], a1, a2]
    };
    let along = |y: [f64; 4], k: [f64; 4], h: f64| std::array::from_fn(|i| y[i] + h * k[i]);
    for _ in 0..n {
        let k1 = slope(y);
        let k2 = slope(along(y, k1, 0.5 * h));
        let k3 = slope(along(y, k2, 0.5 * h));
        let k4 = slope(along(y, k3, h));
        y = std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    for coordinates in COORDINATES {
        let error = |dt: f64| {
            let options =
                StepOptions { coordinates, dt, position_tolerance: 1e-13, ..StepOptions::default() };
            let (stepper, state) = run(&arm(), &options, (t / dt).round() as usize);
            let angle = |joint| joint_coordinate(stepper.world(), &state, joint).unwrap()[0];
            (angle(0) - y[0]).abs().max((angle(1) - y[1]).abs())
        };
        let [coarse, fine] = [error(2e-3), error(1e-3)];
        assert!(fine < 1e-4 && (coarse / fine - 4.0).abs() < 0.2, "{coarse:e} {fine:e}");
    }
}

#[test]
fn a_rod_with_a_rotor_rebounds_with_the_energy_of_both() {
    // A plank that turns about y and hits a post under its tip, without weight.
    let text = "[world]\ngravity = [0, 0, 0]\n[[body]]\nname = \"plank\"\nmass = 2\ninertia = [1, 0.1, 1]\n\
         position = [0.3, 0, 0]\nvelocity = [0, 0, -0.6]\nangular_velocity = [0, 2, 0]\n\
         shape = [{ type = \"sphere\", radius = 0.05, position = [0.2, 0, 0] }]\n\
         [[joint]]\nname = \"hinge\"\ntype = \"revolute\"\nbodies = [\"world\", \"plank\"]\nanchor = [0, 0, 0]\n\
         axis = [0, 1, 0]\narmature = 0.5\n\
         [[body]]\nname = \"post\"\nfixed = true\nposition = [0.5, 0, -0.2]\nshape = [{ type = \"sphere\", radius = 0.1 }]\n\
         [[friction]]\nbetween = [\"plank\", \"post\"]\nmu = 0\nrestitution = 0.5\n";
    for coordinates in COORDINATES {
        for impact_law in [StepImpactLaw::Moreau, StepImpactLaw::Newton, StepImpactLaw::Poisson] {
            let options = StepOptions { coordinates, impact_law, ..StepOptions::default() };
            let (world, state) = world(text);
            let mut stepper = Stepper::new(&world, state, options).unwrap();
            let mut taken = 0.0;
            for _ in 0..100 {
                let report = stepper.step().unwrap();
                assert_eq!(report.status, Status::Solved, "{report:?}");
                taken += report.energy.impacts;
            }
            let [_, speed] = joint_coordinate(stepper.world(), stepper.state(), 0).unwrap();
            assert!((speed + 1.0).abs() < 1e-6, "{coordinates:?} {impact_law:?}: {speed}");
            // ½ (I + m l² + a) (ω² − (e ω)²) with ω = 2.
            let lost = 0.5 * (0.1 + 0.18 + 0.5) * (4.0 - 1.0);
            assert!((taken - lost).abs() < 1e-6, "{coordinates:?} {impact_law:?}: {taken} {lost}");
        }
    }
}
