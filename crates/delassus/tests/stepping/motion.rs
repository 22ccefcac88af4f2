//! Worlds in motion against closed forms and reference values.

use delassus::stepping::{FrictionLaw, Scheme, Snapshot, StepOptions, StepReport, Stepper};
use delassus::world::energy;
use delassus_solve::analysis::ImpulseRange;
use delassus_solve::problem::Status;
use glam::DVec3;

use crate::support::texts::{FLOOR, WEIGHT};
use crate::support::worlds::world;

const G: f64 = 9.81;

/// Steps to a time; every step must be solved.
fn run(stepper: &mut Stepper, t_end: f64, mut look: impl FnMut(&StepReport, &Stepper)) {
    while stepper.state().t < t_end - 0.5 * stepper.options().dt {
        let report = stepper.step().expect("the numbers are finite");
        assert_eq!(report.status, Status::Solved, "t = {}: residual {}", stepper.state().t, report.residual);
        look(&report, stepper);
    }
}

fn options(dt: f64, scheme: Scheme, law: FrictionLaw) -> StepOptions {
    StepOptions { dt, scheme, law, ..StepOptions::default() }
}

/// A ball of the radius on the floor, moving along x with spin about y.
fn ball(mass: f64, radius: f64, inertia: f64, v: [f64; 3], spin: f64, mu: f64, e: f64) -> String {
    format!(
        "{WEIGHT}{FLOOR}[[body]]\nname = \"ball\"\nmass = {mass}\n\
         inertia = [{inertia}, {inertia}, {inertia}]\nposition = [0, 0, {radius}]\nvelocity = {v:?}\n\
         angular_velocity = [0, {spin}, 0]\n[[body.shape]]\ntype = \"sphere\"\nradius = {radius}\n\
         [[friction]]\nbetween = [\"*\", \"*\"]\nmu = {mu}\nrestitution = {e}\n"
    )
}

fn block(v: [f64; 3], gravity: [f64; 3], mu: f64) -> String {
    format!(
        "[world]\ngravity = {gravity:?}\n{FLOOR}\n[[body]]\nname = \"block\"\nmass = 1\nposition = [0, 0, 0.05]\n\
         velocity = {v:?}\n[[body.shape]]\ntype = \"box\"\nhalf_extents = [0.1, 0.1, 0.05]\n\
         [[friction]]\nbetween = [\"*\", \"*\"]\nmu = {mu}\n"
    )
}

#[test]
fn golden_004_sphere_one_step_of_equation_9() {
    // (v, ω, μ) and v⁺ of both laws: 004.sphere.slide, .impact, .stick, .rolling; tolerance of the reference
    // 1e-7.
    let cases = [
        (
            [1.0, 0.0, 0.0],
            0.0,
            0.3,
            [0.97057, 0.0, 0.14715],
            [0.9091787072243358, 0.20463764258556338, 0.4541064638783211],
        ),
        (
            [1.0, 0.0, -2.0],
            0.0,
            0.3,
            [0.7142857142857143, 0.0, 1.4285714285714284],
            [0.7142857142857197, 0.0, 1.428571428571401],
        ),
        (
            [0.02, 0.0, 0.0],
            0.0,
            0.5,
            [0.014285714285714287, 0.0, 0.02857142857142857],
            [0.014285714285714565, 0.0, 0.028571428571427183],
        ),
        ([1.0, 0.0, 0.0], 2.0, 0.3, [1.0, 0.0, 2.0], [1.0, 0.0, 2.0]),
    ];
    for (v, spin, mu, ncp, ccp) in cases {
        let (world, state) = world(&ball(1.0, 0.5, 0.1, v, spin, mu, 0.0));
        for (law, expected) in [(FrictionLaw::Ncp, ncp), (FrictionLaw::Ccp, ccp)] {
            let mut stepper =
                Stepper::new(&world, state.clone(), options(0.01, Scheme::HalfImplicit, law)).unwrap();
            run(&mut stepper, 0.01, |_, _| {});
            let s = stepper.state().bodies[1];
            let found = [s.velocity.x, s.velocity.z, s.world_angular_velocity().y];
            for k in 0..3 {
                assert!((found[k] - expected[k]).abs() < 1e-7, "{law:?} {v:?}: {found:?} {expected:?}");
            }
        }
    }
}

#[test]
fn golden_004_block_trajectory_the_relaxation_lifts_off_and_the_law_does_not() {
    // A block that cannot turn: a ball with an inertia beyond all moments. dt, largest gap and end of the
    // relaxation, end of the law; tolerance of the reference 1e-10, the solver's share 1e-8.
    let cases = [
        (0.01, 0.009329199999999994, 0.09691684374890183, 0.09699499999999996),
        (0.005, 0.008740599999999996, 0.09941911718749995, 0.09944749999999994),
        (0.0025, 0.008453037499999984, 0.10068446679687477, 0.10069059375000028),
    ];
    let (world, state) = world(&ball(2.0, 0.1, 1e12, [1.0, 0.0, 0.0], 0.0, 0.5, 0.0));
    for (dt, gap, ccp, ncp) in cases {
        for (law, highest, end) in [(FrictionLaw::Ccp, gap, ccp), (FrictionLaw::Ncp, 0.0, ncp)] {
            let mut stepper =
                Stepper::new(&world, state.clone(), options(dt, Scheme::HalfImplicit, law)).unwrap();
            let mut top = 0.0f64;
            run(&mut stepper, 0.4, |_, s| top = top.max(s.state().bodies[1].pose.position.z - 0.1));
            let x = stepper.state().bodies[1].pose.position.x;
            assert!((x - end).abs() < 1e-8, "{law:?} {dt}: {x} {end}");
            assert!((top - highest).abs() < 1e-8, "{law:?} {dt}: {top} {highest}");
        }
    }
    // The closed form of the first step: v_n = μ v_t / (1 + μ²) up to the share of gravity.
    let (v, mu, g, dt) = (1.0, 0.5, G, 0.01);
    let tangential = (v - mu * g * dt) / (1.0 + mu * mu);
    let mut stepper =
        Stepper::new(&world, state, options(dt, Scheme::HalfImplicit, FrictionLaw::Ccp)).unwrap();
    run(&mut stepper, dt, |_, _| {});
    let found = stepper.state().bodies[1].velocity;
    assert!((found.x - tangential).abs() < 1e-8 && (found.z - mu * tangential).abs() < 1e-8, "{found}");
}

#[test]
fn a_block_on_an_incline_sticks_below_the_limit_and_slides_above_it() {
    let mu: f64 = 0.5;
    for factor in [0.99, 1.01, 1.2] {
        let angle = (mu * factor).atan();
        let (world, state) = world(&block([0.0; 3], [G * angle.sin(), 0.0, -G * angle.cos()], mu));
        let mut stepper = Stepper::new(&world, state, StepOptions::default()).unwrap();
        run(&mut stepper, 0.5, |_, _| {});
        let s = stepper.state().bodies[1];
        let expected = G * angle.cos() * (angle.tan() - mu).max(0.0) * 0.5;
        // Creep 1e-10 m/s; friction to a millionth.
        let allowed = 1e-10 + 1e-6 * expected;
        assert!((s.velocity.x - expected).abs() < allowed, "{factor}: {} {expected}", s.velocity.x);
        assert!((s.pose.position.z - 0.05).abs() < 1e-9, "{}", s.pose.position.z);
    }
}

#[test]
fn phys_block_stop_is_the_same_in_every_direction() {
    // v₀²/(2 μ g), exact but for the last part of a step.
    let (mu, v0) = (0.5, 1.0);
    let mut stops = vec![];
    for direction in [0.0f64, 0.3, std::f64::consts::FRAC_PI_4, 2.0] {
        let along = DVec3::new(direction.cos(), direction.sin(), 0.0);
        let (world, state) = world(&block((v0 * along).to_array(), [0.0, 0.0, -G], mu));
        let mut stepper = Stepper::new(&world, state, StepOptions::default()).unwrap();
        let mut lift = 0.0f64;
        run(&mut stepper, 0.3, |_, s| lift = lift.max((s.state().bodies[1].pose.position.z - 0.05).abs()));
        assert!(lift < 1e-9, "{lift}");
        let s = stepper.state().bodies[1];
        assert!(s.velocity.length() < 1e-9);
        stops.push(s.pose.position.dot(along));
    }
    for stop in &stops {
        // The end of sliding falls within a step: μ g dt²/8 at most.
        assert!((stop - 0.1019367991845056).abs() < mu * G * 1e-6 / 8.0 + 1e-9, "{stops:?}");
        assert!((stop - stops[0]).abs() < 1e-9, "{stops:?}");
    }
}

#[test]
fn phys_roll_sphere_disc_hoop_and_backspin() {
    // J = k m r²: v = v₀/(1 + k), from t = k v₀/((1 + k) μ g); backspin (5 v₀ + 2 r ω₀)/7.
    for (k, v0, spin, v_end, t_roll) in [
        (0.4, 2.0, 0.0, 1.4285714285714286, 0.291247997670016),
        (0.5, 2.0, 0.0, 1.3333333333333333, 0.33978933061501865),
        (1.0, 2.0, 0.0, 1.0, 0.509683995922528),
        (0.4, 1.0, -30.0, -0.14285714285714285, 0.5824959953400319),
    ] {
        let (world, state) = world(&ball(1.0, 0.1, k * 0.01, [v0, 0.0, 0.0], spin, 0.2, 0.0));
        let mut stepper = Stepper::new(&world, state, StepOptions::default()).unwrap();
        let mut rolls = None;
        run(&mut stepper, 0.8, |_, s| {
            let b = s.state().bodies[1];
            let slip = b.velocity.x - 0.1 * b.world_angular_velocity().y;
            if rolls.is_none() && slip.abs() < 1e-9 {
                rolls = Some(s.state().t);
            }
            assert!((b.pose.position.z - 0.1).abs() < 1e-12);
        });
        let v = stepper.state().bodies[1].velocity.x;
        assert!((v - v_end).abs() < 1e-9, "{v} {v_end}");
        // In the step in which it happens.
        let found = rolls.expect("it rolls");
        assert!(found >= t_roll - 1e-12 && found < t_roll + 1e-3, "{found} {t_roll}");
    }
}

#[test]
fn a_ball_bounces_to_its_exact_heights_and_comes_to_rest() {
    let text = ball(1.0, 0.1, 0.004, [0.0; 3], 0.0, 0.0, 0.8)
        .replace("position = [0, 0, 0.1]", "position = [0, 0, 1.1]");
    let (world, state) = world(&text);
    let mut stepper = Stepper::new(&world, state, StepOptions::default()).unwrap();
    let (mut heights, mut rest, mut before) = (vec![], None, [1.0; 2]);
    run(&mut stepper, 4.5, |report, s| {
        let z = s.state().bodies[1].pose.position.z - 0.1;
        if before[1] > before[0] && before[1] >= z && before[1] > 1e-3 {
            heights.push(before[1]);
        }
        before = [before[1], z];
        assert!(z > -1e-9, "{z}");
        if let [last, ..] = report.accumulations.as_slice() {
            rest.get_or_insert(last.t);
        }
    });
    for (k, height) in heights.iter().take(5).enumerate() {
        let exact = 0.64f64.powi(k as i32 + 1);
        // Heights are seen at the ends of steps, g (dt/2)²/2 below the top at most.
        assert!((height - exact).abs() < 0.5 * G * 0.25e-6 + 1e-4 * exact, "{k}: {height} {exact}");
    }
    let exact = (2.0 / G).sqrt() * (1.0 + 0.8) / (1.0 - 0.8);
    let found = rest.expect("it comes to rest");
    assert!((found - exact).abs() < 1e-4, "{found} {exact}");
    let s = stepper.state().bodies[1];
    assert!((s.pose.position.z - 0.1).abs() < 1e-9 && s.velocity.length() < 1e-9, "{s:?}");
}

#[test]
fn the_painleve_rod_jams_and_says_so() {
    // 003: rod at 45°, tip sliding towards its own side. μ = 2 exceeds 5/3: impact without collision, the tip
    // sticks and 3/8 of the energy are left; μ = 1 slides on.
    for (mu, jams, ratio) in [(2.0, true, 0.375), (1.0, false, 1.0)] {
        let c = std::f64::consts::FRAC_1_SQRT_2;
        let text = format!(
            "{WEIGHT}{FLOOR}[[body]]\nname = \"rod\"\nmass = 1\n\
             inertia = [0.0001, {i}, {i}]\nposition = [{x}, 0, {z}]\neuler_deg = [0, -45, 0]\nvelocity = [-3, 0, 0]\n\
             [[body.shape]]\ntype = \"sphere\"\nradius = 0.000001\nposition = [-0.5, 0, 0]\n\
             [[friction]]\nbetween = [\"*\", \"*\"]\nmu = {mu}\n",
            i = 0.25 / 3.0,
            x = 0.5 * c,
            z = 0.5 * c + 1e-6,
        );
        let text = text.replace("[0.0001, ", &format!("[{}, ", 0.25 / 3.0));
        let (world, state) = world(&text);
        let kinetic = delassus::world::kinetic_energy(&world, &state);
        let mut stepper =
            Stepper::new(&world, state, StepOptions { dt: 1e-5, ..StepOptions::default() }).unwrap();
        let mut found = vec![];
        run(&mut stepper, 1e-4, |report, _| found.extend(report.jams.clone()));
        let after = delassus::world::kinetic_energy(&world, stepper.state());
        assert!((after / kinetic - ratio).abs() < 2e-3, "{mu}: {}", after / kinetic);
        assert_eq!(found.len(), usize::from(jams), "{found:?}");
        if let [jam] = found.as_slice() {
            assert_eq!((jam.t, jam.contact.as_str()), (0.0, "floor|rod"));
            assert!((jam.mu_jam - 5.0 / 3.0).abs() < 1e-4, "{}", jam.mu_jam);
        }
    }
}

/// Two rods hanging from each other, released from the horizontal.
const DOUBLE_PENDULUM: &str = r#"
[world]
gravity = [0, 0, -9.81]
[[body]]
name = "upper"
mass = 1
inertia = [0.01, 0.09, 0.09]
position = [0.5, 0, 0]
[[body]]
name = "lower"
mass = 2
inertia = [0.02, 0.12, 0.1]
position = [1.5, 0, 0]
[[joint]]
name = "shoulder"
type = "revolute"
bodies = ["world", "upper"]
anchor = [0, 0, 0]
axis = [0, 1, 0]
[[joint]]
name = "elbow"
type = "revolute"
bodies = ["upper", "lower"]
anchor = [1, 0, 0]
axis = [0, 0.8, 0.6]
"#;

#[test]
fn joints_stay_closed_and_the_orders_are_two_and_one() {
    let (world, state) = world(DOUBLE_PENDULUM);
    let end = |scheme, dt: f64| {
        let mut stepper = Stepper::new(&world, state.clone(), options(dt, scheme, FrictionLaw::Ncp)).unwrap();
        let mut worst = 0.0f64;
        run(&mut stepper, 0.512, |report, _| worst = worst.max(report.joint_error));
        assert!(worst < 1e-9, "{worst}");
        let lower = world.bodies.iter().position(|body| body.name == "lower").expect("it has that name");
        (stepper.state().bodies[lower].pose.position, energy(&world, stepper.state()))
    };
    for (scheme, order) in [(Scheme::Symmetric, 2.0), (Scheme::HalfImplicit, 1.0)] {
        let [a, b, c] = [4e-3, 2e-3, 1e-3].map(|dt| end(scheme, dt).0);
        let found = ((a - b).length() / (b - c).length()).log2();
        assert!((found - order).abs() < 0.2, "{scheme:?}: order {found}");
    }
    let start = energy(&world, &state);
    let error = (end(Scheme::Symmetric, 1e-3).1 - start).abs();
    assert!(error < 1e-4, "{error}");
}

#[test]
fn the_energy_of_a_loop_with_redundant_joints_holds() {
    // A parallelogram of revolute joints in space: three rows too many.
    let text = r#"
[world]
gravity = [0, 0, -9.81]
[[body]]
name = "left"
mass = 1
inertia = [0.1, 0.1, 0.1]
position = [0.25, 0, -0.4330127018922193]
[[body]]
name = "right"
mass = 1
inertia = [0.1, 0.1, 0.1]
position = [1.75, 0, -0.4330127018922193]
[[body]]
name = "bar"
mass = 2
inertia = [0.4, 0.4, 0.4]
position = [1.25, 0, -0.8660254037844386]
[[joint]]
name = "a"
type = "revolute"
bodies = ["world", "left"]
anchor = [0, 0, 0]
axis = [0, 1, 0]
[[joint]]
name = "b"
type = "revolute"
bodies = ["world", "right"]
anchor = [1.5, 0, 0]
axis = [0, 1, 0]
[[joint]]
name = "c"
type = "revolute"
bodies = ["left", "bar"]
anchor = [0.5, 0, -0.8660254037844386]
axis = [0, 1, 0]
[[joint]]
name = "d"
type = "revolute"
bodies = ["right", "bar"]
anchor = [2.0, 0, -0.8660254037844386]
axis = [0, 1, 0]
"#;
    let (world, state) = world(text);
    let start = energy(&world, &state);
    let mut stepper = Stepper::new(&world, state, StepOptions::default()).unwrap();
    let mut worst = [0.0f64; 2];
    run(&mut stepper, 2.0, |report, s| {
        worst[0] = worst[0].max(report.joint_error);
        worst[1] = worst[1].max((energy(&world, s.state()) - start).abs());
        assert!(report.non_unique);
    });
    // The largest kinetic energy is some 3 J.
    assert!(worst[0] < 1e-9 && worst[1] < 3e-4, "{worst:?}");
}

#[test]
fn the_legs_of_a_table_share_its_weight_in_a_documented_way() {
    let table = |order: [usize; 4]| {
        let legs = [[0.3, 0.37], [-0.6, 0.37], [-0.6, -0.53], [0.3, -0.53]];
        let shapes: String = order
            .iter()
            .map(|&i| {
                let [x, y] = legs[i];
                format!("[[body.shape]]\ntype = \"sphere\"\nradius = 0.02\nposition = [{x}, {y}, -0.7]\n")
            })
            .collect();
        format!(
            "{WEIGHT}{FLOOR}[[body]]\nname = \"table\"\nmass = 20\n\
             inertia = [2.2, 2.2, 3.3]\nposition = [0, 0, 0.72]\n{shapes}\
             [[friction]]\nbetween = [\"*\", \"*\"]\nmu = 0.5\n"
        )
    };
    // N = N_min + s (1, −1, 1, −1)/2, s from −47.96 to 82.84.
    let least = [74.12, 41.42, 23.98, 56.68];
    let (low, high) = (-47.96, 82.84);
    for order in [[0, 1, 2, 3], [2, 0, 3, 1]] {
        let (world, state) = world(&table(order));
        let mut stepper = Stepper::new(&world, state, StepOptions::default()).unwrap();
        run(&mut stepper, 0.02, |report, _| assert!(report.non_unique));
        let forces = stepper.forces().expect("finite");
        let ImpulseRange::Ranges { normal, .. } = &forces.ranges else { panic!("{:?}", forces.ranges) };
        for (k, contact) in stepper.contacts().iter().enumerate() {
            let leg = order[contact.shapes[1] as usize];
            let sign = if leg % 2 == 0 { 0.5 } else { -0.5 };
            let (a, b) = (least[leg] + sign * low, least[leg] + sign * high);
            let [from, to] = normal[forces.place[k].expect("closed")];
            assert!((forces.contacts[k].0 - least[leg]).abs() < 1e-5, "{leg}: {}", forces.contacts[k].0);
            // The gap at which the cone solver stops, of 196 N.
            assert!((from - a.min(b)).abs() < 1e-4 && (to - a.max(b)).abs() < 1e-4, "{leg}: {from} {to}");
        }
    }
}

/// A body on a plane with this normal, 0.05 m above it, turned along.
fn on_slope(normal: [f64; 3], orientation: [f64; 4], shape: &str, mu: f64) -> String {
    let [x, y, z] = normal.map(|n| 0.05 * n);
    format!(
        "[world]\ngravity = [0, 0, -9.81]\n[[body]]\nname = \"ground\"\nfixed = true\n[[body.shape]]\n\
         type = \"plane\"\nnormal = {normal:?}\n[[body]]\nname = \"b\"\nmass = 2.3\n\
         position = [{x:?}, {y:?}, {z:?}]\norientation = {orientation:?}\n[[body.shape]]\n{shape}\n\
         [[friction]]\nbetween = [\"*\", \"*\"]\nmu = {mu}\n"
    )
}

#[test]
fn forces_that_are_not_unique_are_counted_wherever_the_solver_stops() {
    // At 0.99 of the limit solvers stop on the cones, where a null vector has to lead inwards to be a proof.
    // The run, the forces at an instant and the analysis say the same.
    let normal = [-0.173642392507762, 0.296901844531065, 0.938987547435125];
    let turned = [0.9249333792675005, -0.17186329725778013, -0.031132512557153588, 0.3376270392524339];
    let limit = f64::hypot(normal[0], normal[1]) / normal[2];
    let shapes = [
        ("type = \"box\"\nhalf_extents = [0.1, 0.2, 0.05]", true),
        (
            "type = \"convex\"\npoints = [[-0.2, -0.1, -0.05], [0.2, -0.1, -0.05], [0.0, 0.3, -0.05], \
             [0.0, 0.0, 0.15]]",
            true,
        ),
        ("type = \"cylinder\"\nradius = 0.15\nhalf_height = 0.05", true),
        ("type = \"sphere\"\nradius = 0.05", false),
    ];
    for (shape, many) in shapes {
        for scheme in [Scheme::Symmetric, Scheme::HalfImplicit] {
            let text = on_slope(normal, turned, shape, limit / 0.99);
            let (world, state) = world(&text);
            let analysis = delassus::analysis::analyze_world(
                &world,
                &state,
                &delassus::lagrangian::Tolerances::default(),
                &Default::default(),
            );
            let verdict = analysis.unwrap().analysis.unwrap().forces_unique;
            assert_eq!(verdict == delassus_solve::lcp::Verdict::Refuted, many, "{shape}");
            let options = options(1e-3, scheme, FrictionLaw::Ncp);
            let mut stepper = Stepper::new(&world, state, options).unwrap();
            run(&mut stepper, 0.02, |report, _| assert_eq!(report.non_unique, many, "{scheme:?} {shape}"));
            let ranges = stepper.forces().unwrap().ranges;
            assert_eq!(matches!(ranges, ImpulseRange::Ranges { .. }), many, "{scheme:?} {shape}: {ranges:?}");
            assert_eq!(ranges == ImpulseRange::Unique, !many, "{scheme:?} {shape}: {ranges:?}");
        }
    }
}

#[test]
fn a_stack_stands_under_a_weight_a_thousand_times_its_own() {
    let mut text = format!("[world]\ngravity = [0, 0, -9.81]\n{FLOOR}");
    let offsets = [0.0, 0.7e-3, -0.4e-3, 0.9e-3, -0.8e-3, 0.3e-3];
    for (i, offset) in offsets.iter().enumerate() {
        let mass = if i + 1 == offsets.len() { 1000.0 } else { 1.0 };
        text += &format!(
            "[[body]]\nname = \"box{i}\"\nmass = {mass}\nposition = [{offset}, {}, {}]\n[[body.shape]]\ntype = \"box\"\n\
             half_extents = [0.1, 0.1, 0.1]\n",
            -offset,
            0.1 + 0.2 * i as f64
        );
    }
    text += "[[friction]]\nbetween = [\"*\", \"*\"]\nmu = 0.6\n";
    let (world, state) = world(&text);
    let mut stepper = Stepper::new(&world, state.clone(), StepOptions::default()).unwrap();
    run(&mut stepper, 0.2, |report, _| assert!(report.penetration < 1e-8, "{}", report.penetration));
    for (before, after) in state.bodies.iter().zip(&stepper.state().bodies) {
        let moved = (after.pose.position - before.pose.position).length();
        assert!(moved < 1e-8, "{moved}");
    }
}

#[test]
fn a_snapshot_goes_on_with_the_same_bits_and_so_does_a_second_run() {
    let text = format!(
        "{WEIGHT}{FLOOR}[[body]]\nname = \"die\"\nmass = 1\nposition = [0, 0, 0.3]\n\
         velocity = [1, 0.3, 0]\nangular_velocity = [3, 5, 1]\n[[body.shape]]\ntype = \"box\"\n\
         half_extents = [0.1, 0.08, 0.05]\n[[friction]]\nbetween = [\"*\", \"*\"]\nmu = 0.4\nrestitution = 0.3\n"
    );
    let (world, state) = world(&text);
    let go = |stepper: &mut Stepper, steps: usize| {
        for _ in 0..steps {
            stepper.step().expect("finite");
        }
    };
    let mut whole = Stepper::new(&world, state.clone(), StepOptions::default()).unwrap();
    go(&mut whole, 400);
    let mut first = Stepper::new(&world, state, StepOptions::default()).unwrap();
    go(&mut first, 250);
    let mut second = Stepper::resume(&world, first.snapshot(), StepOptions::default()).unwrap();
    go(&mut second, 150);
    assert_eq!(whole.state(), second.state());
    assert_eq!(whole.snapshot(), second.snapshot());
}

#[test]
fn phys_sphere_on_an_incline_rolls_or_slips() {
    // 30°: rolls with 5/7 g sin α for μ ≥ 2/7 tan α, else slips with g (sin α − μ cos α).
    let angle = 30f64.to_radians();
    for (mu, acceleration) in [(0.3, 3.5035714285714286), (0.1, 4.055429078887465)] {
        let text = ball(1.0, 1.0, 0.4, [0.0; 3], 0.0, mu, 0.0).replace(
            "gravity = [0, 0, -9.81]",
            &format!("gravity = [{}, 0, {}]", G * angle.sin(), -G * angle.cos()),
        );
        let (world, state) = world(&text);
        let mut stepper = Stepper::new(&world, state, StepOptions::default()).unwrap();
        run(&mut stepper, 0.5, |_, _| {});
        let v = stepper.state().bodies[1].velocity.x;
        assert!((v / 0.5 - acceleration).abs() < 1e-8, "{mu}: {} {acceleration}", v / 0.5);
    }
}

#[test]
fn phys_stack_slides_as_one_or_apart() {
    // m₁ on m₂, a force on m₂: both rest, both slide as one, or m₁ stays behind.
    for (force, a1, a2) in
        [(8.0, 0.0, 0.0), (15.0, 2.0570000000000004, 2.0570000000000004), (25.0, 2.943, 6.614)]
    {
        let text = format!(
            "{WEIGHT}{FLOOR}[[body]]\nname = \"upper\"\nmass = 1\nposition = [0, 0, 0.3]\n\
             [[body.shape]]\ntype = \"box\"\nhalf_extents = [0.1, 0.1, 0.1]\n[[body]]\nname = \"lower\"\nmass = 2\n\
             position = [0, 0, 0.1]\nforce = [{force}, 0, 0]\n[[body.shape]]\ntype = \"box\"\n\
             half_extents = [0.5, 0.3, 0.1]\n[[friction]]\nbetween = [\"*\", \"*\"]\nmu = 0.3\n"
        );
        let (world, state) = world(&text);
        let mut stepper = Stepper::new(&world, state, StepOptions::default()).unwrap();
        run(&mut stepper, 0.1, |_, _| {});
        let found = [1, 2].map(|b| stepper.state().bodies[b].velocity.x / 0.1);
        assert!((found[0] - a1).abs() < 1e-7 && (found[1] - a2).abs() < 1e-7, "{force}: {found:?} {a1} {a2}");
    }
}

#[test]
fn phys_rod_falls_on_a_smooth_floor() {
    // θ̇² when it lies flat, from 60°, half length 1: energy, of second order in the step.
    let (l, angle) = (1.0, 60f64.to_radians());
    let text = format!(
        "{WEIGHT}{FLOOR}[[body]]\nname = \"rod\"\nmass = 1\n\
         inertia = [{i}, {i}, {i}]\nposition = [0, 0, {z}]\neuler_deg = [0, -60, 0]\n\
         [[body.shape]]\ntype = \"sphere\"\nradius = 0.000001\nposition = [-{l}, 0, 0]\n",
        i = l * l / 3.0,
        z = l * angle.sin() + 1e-6,
    );
    let (world, state) = world(&text);
    let mut stepper =
        Stepper::new(&world, state, StepOptions { dt: 2e-4, ..StepOptions::default() }).unwrap();
    let mut before = [0.0; 2];
    let mut found = None;
    let first = 5.605714285714285;
    run(&mut stepper, 1.0, |_, s| {
        if s.steps() == 1 {
            let n: f64 = s.contact_forces().map(|(_, n, _)| n).sum();
            assert!((n - first).abs() < 1e-3, "{n}");
        }
        let b = s.state().bodies[1];
        let height = b.pose.position.z - 1e-6;
        let square = b.angular_velocity.length_squared();
        if found.is_none() && height <= 0.0 {
            let part = before[0] / (before[0] - height);
            found = Some(before[1] + part * (square - before[1]));
        }
        before = [height, square];
    });
    let square = found.expect("it falls flat");
    assert!((square - 12.743563816688013).abs() < 1e-3, "{square}");
}

#[test]
fn a_mass_on_a_spring_keeps_its_energy() {
    // k = 40 N/m, m = 0.5 kg: ω = √80, hanging by mg/k below the rest; and a torsion spring on a hinge.
    let text = "[world]\n[[body]]\nname = \"bob\"\nmass = 0.5\ninertia = [1, 1, 1]\n[[body]]\nname = \"wheel\"\nmass = 1\n\
        inertia = [0.2, 0.2, 0.2]\nposition = [5, 0, 0]\nangular_velocity = [0, 0, 3]\n\
        [[joint]]\nname = \"spring\"\ntype = \"prismatic\"\nbodies = [\"world\", \"bob\"]\naxis = [0, 0, 1]\n\
        spring = { stiffness = 40, rest = 0.1 }\n\
        [[joint]]\nname = \"torsion\"\ntype = \"revolute\"\nbodies = [\"world\", \"wheel\"]\nanchor = [5, 0, 0]\n\
        axis = [0, 0, 1]\nspring = { stiffness = 7, rest = 0.5 }\n";
    let (world, state) = world(text);
    // ½ k (0 − 0.1)² + ½ I ω² + ½ k (0 − 0.5)²
    let start = 0.5 * 40.0 * 0.01 + 0.5 * 0.2 * 9.0 + 0.5 * 7.0 * 0.25;
    assert!((energy(&world, &state) - start).abs() < 1e-14);
    let worst = |dt: f64| {
        let mut stepper =
            Stepper::new(&world, state.clone(), StepOptions { dt, ..StepOptions::default() }).unwrap();
        let mut worst = 0.0_f64;
        run(&mut stepper, 2.0, |_, s| worst = worst.max((energy(&world, s.state()) - start).abs()));
        worst
    };
    // With springs that are linear in a straight coordinate the scheme is the implicit midpoint rule, which
    // keeps a quadratic energy to rounding: 500 steps of numbers of size one.
    for dt in [4e-3, 1e-3] {
        assert!(worst(dt) < 1e-11, "{dt}: {}", worst(dt));
    }
    // The bob swings about −mg/k + rest with its closed form.
    let mut stepper =
        Stepper::new(&world, state.clone(), StepOptions { dt: 1e-4, ..StepOptions::default() }).unwrap();
    run(&mut stepper, 0.5, |_, _| {});
    let middle = 0.1 - 0.5 * G / 40.0;
    let z = middle - middle * (80_f64.sqrt() * 0.5).cos();
    // The phase is late by (ω dt)²/12 per radian.
    assert!(
        (stepper.state().bodies[0].pose.position.z - z).abs() < 1e-6,
        "{} {z}",
        stepper.state().bodies[0].pose.position.z
    );
}

#[test]
fn an_elastic_pendulum_keeps_its_energy_to_second_order() {
    // A spring between two points: its coordinate is not linear, and the energy oscillates with dt².
    let text = "[world]\n[[body]]\nname = \"bob\"\nmass = 0.5\ninertia = [1, 1, 1]\nposition = [1, 0, 0]\n[[joint]]\nname = \"spring\"\n\
        type = \"generic\"\nlocked = []\nbodies = [\"world\", \"bob\"]\nanchors = [[0, 0, 0], [1, 0, 0]]\n\
        [[joint.on]]\ncoordinate = \"length\"\nspring = { stiffness = 40, rest = 0.8 }\n";
    let (world, state) = world(text);
    let start = energy(&world, &state);
    assert!((start - 0.5 * 40.0 * 0.04).abs() < 1e-14);
    let worst = |dt: f64| {
        let mut stepper =
            Stepper::new(&world, state.clone(), StepOptions { dt, ..StepOptions::default() }).unwrap();
        let mut worst = 0.0_f64;
        run(&mut stepper, 4.0, |_, s| worst = worst.max((energy(&world, s.state()) - start).abs()));
        worst
    };
    let (coarse, fine) = (worst(4e-3), worst(2e-3));
    assert!((3.5..4.5).contains(&(coarse / fine)), "{coarse} {fine}");
    // The energies that are exchanged are of size 5 J; (ω dt)² = 1.3e-3.
    assert!(coarse < 5.0 * 1.3e-3, "{coarse}");
}

#[test]
fn bodies_that_overlap_at_the_start_are_parted_without_a_velocity() {
    // Two balls of radius 0.1 and masses 1 : 3 that overlap by 1 mm, at rest or moving together, without
    // gravity.
    let ball = |name: &str, mass: f64, x: f64, v: f64| {
        format!(
            "[[body]]\nname = \"{name}\"\nmass = {mass}\nposition = [{x}, 0, 0]\nvelocity = [0, {v}, 0]\n[[body.shape]]\n\
             type = \"sphere\"\nradius = 0.1\n"
        )
    };
    for v in [0.0, 0.5] {
        let text = format!(
            "[world]\ngravity = [0, 0, 0]\n{}{}[[friction]]\nbetween = [\"*\", \"*\"]\nmu = 0.3\nrestitution = 0.5\n",
            ball("a", 1.0, 0.0, v),
            ball("b", 3.0, 0.199, v)
        );
        let (world, state) = world(&text);
        for scheme in [Scheme::Symmetric, Scheme::HalfImplicit] {
            let mut stepper =
                Stepper::new(&world, state.clone(), options(1e-3, scheme, FrictionLaw::Ncp)).unwrap();
            run(&mut stepper, 0.1, |_, _| {});
            let [a, b] = [0, 1].map(|i| stepper.state().bodies[i]);
            for s in [a, b] {
                // What is left to push is what a contact may give way, 1e-8 m, in one step.
                assert!((s.velocity - DVec3::Y * v).length() < 1e-12, "{scheme:?}: {}", s.velocity);
                assert!(s.angular_velocity.length() < 1e-12, "{scheme:?}: {}", s.angular_velocity);
            }
            let gap = b.pose.position.distance(a.pose.position) - 0.2;
            assert!(gap.abs() < 1e-8, "{scheme:?}: {gap:e}");
            // The least motion: in proportion to 1/m.
            assert!((a.pose.position.x + 0.75e-3).abs() < 1e-8, "{scheme:?}: {}", a.pose.position);
        }
    }
}

#[test]
fn a_snapshot_that_overlaps_goes_on_as_it_is() {
    // Resuming must not part what the run it goes on from did not.
    let (world, mut state) = world(&ball(1.0, 0.1, 0.004, [0.0; 3], 0.0, 0.3, 0.0));
    state.bodies[1].pose.position.z -= 1e-4;
    let stepper = Stepper::new(&world, state.clone(), StepOptions::default()).unwrap();
    assert!((stepper.state().bodies[1].pose.position.z - 0.1).abs() < 1e-8);
    let snapshot = Snapshot { state: state.clone(), ..stepper.snapshot() };
    let resumed = Stepper::resume(&world, snapshot, StepOptions::default()).unwrap();
    assert_eq!(resumed.state().bodies, state.bodies);
}

#[test]
fn a_coin_that_wobbles_rolls_on_its_rim_without_sinking_in() {
    // Tilt 0.03: the point that touches runs round the rim with Ω² ≈ 4 g / (r sin tilt), 6.5° in a step of 1
    // ms. A point of the rim that stayed the same during a step would let the coin sink in by ½ r sin(tilt)
    // (Ω dt)² = 2e-5 m.
    let (radius, half, tilt) = (0.1, 0.01, 0.03f64);
    let height = half * tilt.cos() + radius * tilt.sin();
    let turn = (4.0 * G / (radius * tilt.sin())).sqrt();
    let text = format!(
        "[world]\ngravity = [0, 0, -{G}]\n{FLOOR}\n[[body]]\nname = \"coin\"\nmass = 1\nposition = [0, 0, {height}]\n\
         orientation = [{}, 0, {}, 0]\nangular_velocity = [{}, 0, 0]\n[[body.shape]]\ntype = \"cylinder\"\n\
         radius = {radius}\nhalf_height = {half}\n[[friction]]\nbetween = [\"*\", \"*\"]\nmu = 0.8\n",
        (0.5 * tilt).cos(),
        (0.5 * tilt).sin(),
        turn * tilt.sin(),
    );
    let (world, state) = world(&text);
    for scheme in [Scheme::Symmetric, Scheme::HalfImplicit] {
        let mut stepper =
            Stepper::new(&world, state.clone(), options(1e-3, scheme, FrictionLaw::Ncp)).unwrap();
        let (mut around, mut last, mut deepest) = (0.0, None, 0.0f64);
        run(&mut stepper, 0.2, |report, stepper| {
            let up = stepper.state().bodies[1].pose.rotation * DVec3::Z;
            let angle = up.y.atan2(up.x);
            let step: f64 = last.map_or(0.0, |l: f64| (angle - l).sin().asin());
            (around, last) = (around + step, Some(angle));
            deepest = deepest.max(report.penetration);
        });
        assert!(deepest < 1e-6, "{scheme:?}: {deepest:.1e} m");
        // Twice round at least: it did wobble.
        assert!(around.abs() > 4.0 * std::f64::consts::PI, "{scheme:?}: {around}");
    }
}

#[test]
fn a_step_that_cannot_be_solved_ends_after_few_tries() {
    // No residual is so small: each solve fails, and the step reports it. Six tries, then eight passes and a
    // last solve for what is left; halving down to sixteen parts with all passes in each took more than a
    // hundred.
    let text = "[world]\n[[body]]\nname = \"ground\"\nfixed = true\n[[body.shape]]\ntype = \"plane\"\n[[body]]\nname = \"block\"\n\
                mass = 1\nposition = [0, 0, 0.05]\nvelocity = [1, 0.3, 0]\nangular_velocity = [0, 0, 1]\n[[body.shape]]\ntype = \"box\"\n\
                half_extents = [0.1, 0.1, 0.05]\n[[friction]]\nbetween = [\"*\", \"*\"]\nmu = 0.7\n";
    let file = delassus_scene::read_world(text, None, &[]).unwrap();
    let options = StepOptions { tolerance: 1e-300, ..StepOptions::default() };
    let mut stepper = Stepper::new(&file.world, file.state, options).unwrap();
    for _ in 0..20 {
        let report = stepper.step().unwrap();
        assert_ne!(report.status, Status::Solved);
        assert!(report.solves <= 30, "{report:?}");
        assert!(stepper.state().bodies[1].pose.position.is_finite());
    }
}

#[test]
fn contacts_give_no_energy_however_thin_and_fast_a_body_is() {
    // A rod, or a small box, meets a fixed ball: one step may turn it by a radian and more. Without friction,
    // weight and forces nothing can give energy; impacts with e = 1 keep it, at least where the ball meets a
    // face.
    let hit = |radius: f64, half: [f64; 3], e: f64, place: [f64; 3], turn: [f64; 4], speed: f64| {
        format!(
            "[world]\ngravity = [0, 0, 0]\n[[body]]\nname = \"ball\"\nfixed = true\n[[body.shape]]\ntype = \"sphere\"\n\
             radius = {radius}\n[[body]]\nname = \"body\"\nmass = 0.1\nposition = {place:?}\norientation = {turn:?}\n\
             velocity = [0, 0, -{speed}]\n[[body.shape]]\ntype = \"box\"\nhalf_extents = {half:?}\n\
             [[friction]]\nbetween = [\"*\", \"*\"]\nmu = 0\nrestitution = {e}\n"
        )
    };
    let turned = [0.537081595431634, -0.35704740099442994, 0.4676641005291827, -0.6044425550604158];
    let rod = |speed| hit(0.05, [0.1, 0.005, 0.005], 0.0, [0.006, 0.0163, 0.2], turned, speed);
    let cube = |speed| hit(0.02, [0.005; 3], 1.0, [0.001, 0.0, 0.0351], [1.0, 0.0, 0.0, 0.0], speed);
    for (text, kept) in [4.0, 8.0]
        .map(|v| (rod(v), false))
        .into_iter()
        .chain([5.0, 10.0, 20.0, 100.0].map(|v| (cube(v), true)))
    {
        let (world, state) = world(&text);
        for scheme in [Scheme::Symmetric, Scheme::HalfImplicit] {
            let options = options(1e-3, scheme, FrictionLaw::Ncp);
            let mut stepper = Stepper::new(&world, state.clone(), options).unwrap();
            let before = energy(&world, stepper.state());
            for _ in 0..80 {
                stepper.step().unwrap();
            }
            let ratio = energy(&world, stepper.state()) / before;
            // What one step may give is a hundredth.
            assert!(ratio < 1.01, "{scheme:?}: {ratio}\n{text}");
            assert!(!kept || scheme == Scheme::HalfImplicit || ratio > 0.99, "{scheme:?}: {ratio}\n{text}");
        }
    }
}
