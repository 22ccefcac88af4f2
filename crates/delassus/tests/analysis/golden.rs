//! The papers' systems against their reference values.

use delassus::analysis::{SystemAnalysis, analyze};
use delassus::lagrangian::Tolerances;
use delassus_scene::read_system;
use delassus_solve::analysis::friction_cone;
use delassus_solve::lcp::{couplings, sliding_lcp};
use delassus_solve::linalg::Matrix;
use delassus_solve::modes::{EnumerateOptions, Mode, SolutionComponent, enumerate, enumerate_contact};
use delassus_solve::problem::{
    Dynamics, Law, Slip, constrained_delassus, constrained_inverse_mass, kinetic_angle,
};

use crate::support::golden::{case, numbers};

fn run(text: &str, set: &[(&str, String)]) -> SystemAnalysis {
    let overrides: Vec<(&str, &str)> = set.iter().map(|(n, v)| (*n, v.as_str())).collect();
    let file = read_system(text, &overrides).unwrap_or_else(|e| panic!("{}", e.render("test", text)));
    analyze(&file.system, &file.state, &Tolerances::default(), &EnumerateOptions::default()).unwrap()
}

fn pieces(result: &SystemAnalysis) -> &[SolutionComponent] {
    let set = &result.analysis.as_ref().unwrap().solutions;
    assert!(set.complete && set.decided);
    &set.components
}

/// The forces in row `at` of all solutions, smallest first.
fn forces(result: &SystemAnalysis, at: usize) -> Vec<f64> {
    let mut f: Vec<f64> = pieces(result).iter().map(|p| p.force[at]).collect();
    f.sort_by(f64::total_cmp);
    f
}

const ROD: &str = r#"
[system]
coordinates = ["x", "y", "theta"]
[parameters]
m = 1.0
l = 1.0
g = 9.81
mu = 2.0
angle = "45 deg"
slip = -1.0
omega = 0.0
[energy]
kinetic = "m*(x'^2+y'^2)/2 + (m*l^2/3)*theta'^2/2"
potential = "m*g*y"
[[contact]]
name = "tip"
gap = "y - l*sin(theta)"
slip = ["x - l*cos(theta)"]
mu = "mu"
[state.position]
y = "l*sin(angle)"
theta = "angle"
[state.velocity]
x = "slip - l*sin(angle)*omega"
y = "l*cos(angle)*omega"
theta = "omega"
"#;

const ARM: &str = include_str!("../../../../scenes/articulated-arm.toml");
const KLEIN: &str = include_str!("../../../../scenes/painleve-klein.toml");
const LADDER: &str = include_str!("../../../../scenes/ladder.toml");

fn rod(mu: f64, degrees: f64) -> SystemAnalysis {
    run(ROD, &[("mu", mu.to_string()), ("angle", format!("{degrees} deg"))])
}

#[test]
fn golden_003_rod_curves() {
    let c = case("003.rod.mu_jam_curve");
    let angles = c.input("theta_deg");
    let cones: Vec<_> = angles.iter().map(|a| rod(0.5, *a).contacts[0].cone.clone().unwrap()).collect();
    c.check("mu_jam", &cones.iter().map(|k| k.mu_jam.unwrap()).collect::<Vec<_>>());
    c.check("mu_crit", &cones.iter().map(|k| k.mu_crit.unwrap()).collect::<Vec<_>>());
    let least = rod(0.5, c.expected("theta_min_deg")[0]);
    c.check("mu_jam_min", &[least.contacts[0].cone.as_ref().unwrap().mu_jam.unwrap()]);
    // Locking angle: where μ follows the curve of a given α, the angle is that α.
    let c = case("003.rod.locking_angle");
    c.check(
        "alpha_deg",
        &[rod(2.0, 45.0).contacts[0].cone.as_ref().unwrap().locking_angle.unwrap().to_degrees()],
    );
    let curves = c.expected("mu_of_theta_for_alpha");
    for (i, alpha) in c.input("curve_alpha_deg").iter().enumerate().skip(1) {
        for (j, angle) in c.input("curve_theta_deg").iter().enumerate() {
            let mu = curves[i * angles.len() + j];
            let got = rod(mu, *angle).contacts[0].cone.as_ref().unwrap().locking_angle.unwrap().to_degrees();
            assert!((got - alpha).abs() < 1e-9 * (1.0 + alpha), "{got} {alpha}");
        }
    }
}

#[test]
fn golden_003_cone_matrices() {
    // The file orders (t1, t2, n); here the normal comes first.
    let reorder = |v: Vec<f64>| Matrix::from_vec(3, 3, v).select(&[2, 0, 1], &[2, 0, 1]);
    for id in ["003.rod.Q_mu0.6000", "003.rod.Q_mu1.0000", "003.rod.Q_mu2.0000"] {
        let c = case(id);
        let mu = c.one("mu");
        let cone = friction_cone(reorder(c.expected("Mc_inv")), &[], mu);
        let back = |m: &Matrix| m.select(&[1, 2, 0], &[1, 2, 0]).data().to_vec();
        c.check("Mc", &back(cone.effective_mass.as_ref().unwrap()));
        c.check("Q", &back(cone.cone.as_ref().unwrap()));
        c.check("e_jam", &cone.jamming_direction);
        match cone.locking_angle {
            Some(angle) => c.check("alpha_deg", &[angle.to_degrees()]),
            None => assert!(c.0["expected"]["alpha_deg"]["value"].is_null()),
        }
        // The planar rod has the same block without the second tangent.
        let planar = rod(mu, 45.0).contacts[0].cone.clone().unwrap();
        let q = cone.cone.as_ref().unwrap().select(&[0, 1], &[0, 1]);
        let got = planar.cone.unwrap();
        assert!((0..4).all(|k| (got.data()[k] - q.data()[k]).abs() < 1e-10));
    }
}

#[test]
fn golden_003_rod_sliding() {
    let c = case("003.rod.sliding_lcp.omega0");
    let result = rod(2.0, 45.0);
    let lcp = result.lcp.as_ref().unwrap();
    c.check("lcp_m", &[lcp.matrix[(0, 0)]]);
    c.check("lcp_q", &[lcp.vector[0]]);
    c.check("lambda_solutions", &forces(&result, 0));
    // The impulse problem of the same jam is solved by sticking.
    let c = case("003.rod.impact_without_collision");
    let w = Matrix::from_vec(2, 2, c.expected("W_tn")).select(&[1, 0], &[1, 0]);
    let block = result.contacts[0].cone.as_ref().unwrap().inverse_effective_mass.clone();
    c.check("W_tn", block.select(&[1, 0], &[1, 0]).data());
    let sliding = [Law::Sliding { mu: 2.0, slip: Slip::Plane(-1.0) }];
    let lift = sliding_lcp(&w, &[0.0, -1.0], &sliding).unwrap();
    c.check("dun_dP_slip", lift.lcp.matrix.data());
    c.check("dut_dP_slip", &[w.mul_vec(&lift.force.col(0))[1]]);
    let set =
        enumerate_contact(&w, &[0.0, -1.0], &[Law::CoulombPlane { mu: 2.0 }], &EnumerateOptions::default());
    // Without approach (u_n = 0) there is the solution without impulse too; any approach leaves the sticking
    // one.
    let stick = set.components.iter().find(|p| p.modes[0] == Mode::Stick).unwrap();
    let f = &stick.force;
    c.check("ncp_impulse_t_n", &[f[1], f[0]]);
    c.check("ncp_post_velocity", &[stick.velocity[1], stick.velocity[0]]);
    let approach =
        enumerate_contact(&w, &[-0.01, -1.0], &[Law::CoulombPlane { mu: 2.0 }], &EnumerateOptions::default());
    assert_eq!(approach.components.len(), 1);
    assert_eq!(approach.components[0].modes[0], Mode::Stick);
    c.check("ratio_Pt_Pn", &[f[1] / f[0]]);
}

#[test]
fn golden_003_arm() {
    for id in ["rho1.tau0", "rho2.tau0", "rho1.tau5", "rho2.tau5", "rho1.tau10"] {
        let c = case(&format!("003.arm.lcp.{id}"));
        let (angles, v) = (c.input("theta_deg"), c.expected("v"));
        let text = arm_at(&angles, &v);
        let result = run(&text, &[("rho", c.one("rho").to_string()), ("tau", c.one("tau1").to_string())]);
        let lcp = result.lcp.as_ref().unwrap();
        c.check("lcp_m", lcp.matrix.data());
        c.check("lcp_q", &lcp.vector);
        c.check("lambda_solutions", &forces(&result, 0));
        let slip: Vec<f64> = result.kinematics.contacts[0].slip.iter().map(|r| r.velocity).collect();
        c.check("u_c", &[slip[0], slip[1], result.kinematics.contacts[0].normal.velocity]);
        let block = &result.contacts[0].cone.as_ref().unwrap().inverse_effective_mass;
        c.check("Mc_inv", block.select(&[1, 2, 0], &[1, 2, 0]).data());
        let q = &result.analysis.as_ref().unwrap().reduced.as_ref().unwrap().free_velocity;
        c.check("du0", &[q[1], q[2], q[0]]);
    }
    let c = case("003.arm.minima");
    for name in ["A", "B"] {
        let angles = c.expected(&format!("{name}.theta_deg"));
        let at = |angles: &[f64]| {
            let cone = run(&arm_at(angles, &[0.0; 4]), &[]).contacts[0].cone.clone().unwrap();
            (cone.mu_jam.unwrap(), cone)
        };
        let (least, cone) = at(&angles);
        c.check(&format!("{name}.mu_jam"), &[least]);
        if name == "A" {
            c.check("e_jam_A", &cone.jamming_direction);
            c.check("alpha_A_mu05_deg", &[cone.locking_angle.unwrap().to_degrees()]);
        }
        // A minimum among configurations with the tip on the plane: move along the two tangent directions.
        for (dx, dt) in [(0.01, 0.0), (-0.01, 0.0), (0.0, 1.0), (0.0, -1.0)] {
            assert!(at(&on_plane(&angles, dx, dt)).0 > least, "{name} {dx} {dt}");
        }
    }
}

/// The scene of the arm with joint angles in degrees and velocities given.
fn arm_at(angles: &[f64], v: &[f64]) -> String {
    let head = ARM.split("[state.position]").next().unwrap();
    format!(
        "{head}[state.position]\na = \"{} deg\"\nb = \"{} deg\"\nc = \"{} deg\"\n\
         [state.velocity]\na = {:e}\nb = {:e}\nc = {:e}\nf = {:e}\n",
        angles[0], angles[1], angles[2], v[0], v[1], v[2], v[3]
    )
}

/// Joint angles with x moved by dx and θ₃ by dt degrees, the tip staying at height 0.6 (elbow as in
/// `angles`).
fn on_plane(angles: &[f64], dx: f64, dt: f64) -> Vec<f64> {
    let r: Vec<f64> = angles.iter().map(|a| a.to_radians()).collect();
    let t3 = r[2] + dt.to_radians();
    let x = 0.5 * r[0].cos() + 0.5 * r[1].cos() + 0.1 * r[2].cos() + dx - 0.1 * t3.cos();
    let y = 0.6 - 0.1 * t3.sin();
    // Two links of 0.5: the middle direction, and half the opening.
    let (middle, half) = (y.atan2(x), (x.hypot(y)).acos());
    vec![(middle - half).to_degrees(), (middle + half).to_degrees(), t3.to_degrees()]
}

#[test]
fn golden_000_painleve_klein() {
    let at = |angle: f64, mu: f64, g: f64, velocity: f64| {
        run(
            KLEIN,
            &[
                ("angle", format!("{angle} deg")),
                ("mu", mu.to_string()),
                ("g", g.to_string()),
                ("velocity", velocity.to_string()),
            ],
        )
    };
    let c = case("000.pk.bound");
    let bound = |angle: &f64| at(*angle, 0.1, 9.81, 1.0).friction_bounds[0].bound;
    c.check("mu_b_max", &c.input("theta_deg").iter().map(bound).collect::<Vec<_>>());
    c.check("mu_at_kink", &[bound(&c.expected("kink_theta_deg")[0])]);
    let c = case("000.pk.matrices");
    let result = at(60.0, 1.0, 9.81, 1.0);
    c.check("A_nb", result.delassus.as_ref().unwrap().data());
    let w = &result.analysis.as_ref().unwrap().reduced.as_ref().unwrap().delassus;
    let (a_n, a_t) = couplings(w, &result.assembly.dynamics.laws, &[0, 1], &[]);
    c.check("A_tb", a_t.data());
    c.check("eig_A_nb", &a_n.symmetric_eigenvalues());
    c.check("sigma_max_A_tb", &a_t.singular_values()[..1]);
    let c = case("000.pk.exact_region");
    for (key, want) in c.0["expected"]["solutions"]["value"].as_object().unwrap() {
        let (fy, xi) = key.split_once(",xi=").unwrap();
        let (fy, xi): (f64, f64) = (fy.trim_start_matches("Fy=").parse().unwrap(), xi.parse().unwrap());
        let result = at(60.0, 1.0, fy, xi);
        let mut got: Vec<(f64, f64)> = pieces(&result).iter().map(|p| (p.force[0], p.force[2])).collect();
        let mut want: Vec<(f64, f64)> =
            want.as_array().unwrap().iter().map(|p| (numbers(p)[0], numbers(p)[1])).collect();
        got.sort_by(|a, b| a.0.total_cmp(&b.0));
        want.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert_eq!(got.len(), want.len(), "{key}: {got:?}");
        for (g, w) in got.iter().zip(&want) {
            assert!((g.0 - w.0).abs() + (g.1 - w.1).abs() < 1e-8, "{key}: {got:?} for {want:?}");
        }
    }
}

#[test]
fn golden_000_ladder_accelerations() {
    for id in ["000.ladder.acc_45_0.3", "000.ladder.acc_45_0.6"] {
        let c = case(id);
        let (angle, om) = (c.one("theta_deg").to_radians(), c.one("thetadot"));
        let head = LADDER.split("[state.position]").next().unwrap();
        let text = format!(
            "{head}[state.position]\nx = {:e}\ny = {:e}\ntheta = {angle:e}\n[state.velocity]\nx = {:e}\ny = {:e}\ntheta = {om}\n",
            angle.cos(),
            angle.sin(),
            -angle.sin() * om,
            angle.cos() * om
        );
        let result =
            run(&text, &[("mu_wall", c.one("mu_b").to_string()), ("mu_floor", c.one("mu_u").to_string())]);
        let only = &pieces(&result)[0];
        assert_eq!(pieces(&result).len(), 1);
        c.check("lambda_nb", &[only.force[0]]);
        c.check("lambda_nu", &[only.force[2]]);
        c.check("qdd", &only.acceleration);
    }
    // The mixed LCP of 000 eq. 58 with and without friction.
    let c = case("000.ladder.M0_beta2");
    let s = std::f64::consts::FRAC_1_SQRT_2;
    let j = Matrix::from_rows(&[[1.0, 0.0, s], [0.0, 1.0, s], [0.0, 1.0, -s], [1.0, 0.0, -s]]);
    let dynamics = |mu: f64| {
        Dynamics::new(
            Matrix::diagonal(&[1.0, 1.0, 1.0 / 3.0]),
            vec![0.0, 9.81, 0.0],
            j.clone(),
            vec![0.0; 4],
            vec![
                Law::BilateralSliding { mu, slip: Slip::Plane(-1.0) },
                Law::Sliding { mu, slip: Slip::Plane(1.0) },
            ],
        )
        .unwrap()
    };
    for (mu, key) in [(0.0, "M0"), (0.3, "M_mu_0.3_0.3_falling")] {
        let d = dynamics(mu);
        let r = d.reduce().unwrap();
        c.check(key, sliding_lcp(&r.delassus, &r.free_velocity, &d.laws).unwrap().lcp.matrix.data());
    }
}

#[test]
fn golden_000_kkt_ranks() {
    let c = case("000.kkt.ranks");
    for k in 1..=6 {
        c.check(&format!("rank_A{k}"), &[c.matrix(&format!("A{k}")).rank() as f64]);
    }
    // Ker Ã ∩ {z ∈ Im F} for M = I₂, F = (1, 0)ᵀ: Ã with z = F y.
    let a = c.matrix("Atilde");
    let with_f = Matrix::from_fn(a.rows(), 3, |i, j| a[(i, j)]);
    c.check("dim_Ker_Atilde_cap_S", &[with_f.row_space().null_basis.cols() as f64]);
}

#[test]
fn golden_000_mixed_lcp() {
    let c = case("000.mixed_lcp");
    let (gb, gu) = (c.matrix("grad_h_b"), c.matrix("grad_h_u"));
    let d = Dynamics::new(
        c.matrix("M"),
        c.input("F"),
        gb.transpose().stack(&gu.transpose()),
        [c.input("gamma_b"), c.input("gamma_u")].concat(),
        vec![Law::Bilateral, Law::Unilateral, Law::Unilateral],
    )
    .unwrap();
    c.check("M_c_inv", constrained_inverse_mass(&d.mass, &gb.transpose()).unwrap().data());
    let r = d.reduce().unwrap();
    c.check("A_c", constrained_delassus(&r.delassus, &[1, 2], &[0]).data());
    let lift = sliding_lcp(&r.delassus, &r.free_velocity, &d.laws).unwrap();
    c.check("A_c", lift.lcp.matrix.data());
    c.check("w_c", &lift.lcp.vector);
    let set = enumerate(&d, &EnumerateOptions::default());
    assert_eq!(set.components.len() as f64, c.expected("n_lcp_solutions")[0]);
    let p = &set.components[0];
    c.check("lambda_b", &p.force[..1]);
    c.check("lambda_u", &p.force[1..]);
    c.check("qdd", &p.acceleration);
    // Without joints and forces that press: 000 Prop. 3 (iv), and 7 (v) as it should read.
    let c = case("000.prop3iv");
    for (s, key) in [(1.0, "n_solutions_s+1"), (-1.0, "n_solutions_s-1")] {
        let d = Dynamics::new(
            Matrix::identity(2),
            vec![0.0, 9.81],
            Matrix::from_rows(&[[0.0, 1.0], [0.0, -1.0]]),
            vec![0.0, 2.0 * s],
            vec![Law::Unilateral; 2],
        )
        .unwrap();
        let set = enumerate(&d, &EnumerateOptions::default());
        c.check(key, &[set.components.len() as f64]);
        if s > 0.0 {
            c.check("lambda_s+1", &set.components[0].force);
        }
    }
    let c = case("000.prop7v_counterexample");
    let d = Dynamics::new(
        Matrix::identity(2),
        vec![0.0, 0.0],
        Matrix::from_rows(&[[0.0, 1.0], [0.0, 1.0]]),
        vec![0.0, -2.0],
        vec![Law::Bilateral, Law::Unilateral],
    )
    .unwrap();
    c.check("n_solutions", &[enumerate(&d, &EnumerateOptions::default()).components.len() as f64]);
}

#[test]
fn golden_001_block_and_rod() {
    for id in ["001.block3.f1_0", "001.block3.f1_-25"] {
        let c = case(id);
        let d = Dynamics::new(
            Matrix::diagonal(&[c.one("m"); 2]),
            vec![c.one("m") * c.one("g") + c.one("f1"), 0.0],
            Matrix::from_rows(&[[1.0, 0.0]; 3]),
            vec![0.0; 3],
            vec![Law::Unilateral; 3],
        )
        .unwrap();
        let r = d.reduce().unwrap();
        c.check("A", r.delassus.data());
        c.check("H0", &r.free_velocity);
        c.check("rank_A", &[r.delassus.rank() as f64]);
        let analysis = delassus_solve::analysis::analyze(&d, &EnumerateOptions::default());
        c.check("lambda_minnorm", analysis.minimum_norm.as_ref().unwrap());
        c.check("lambda_sum", &[analysis.minimum_norm.as_ref().unwrap().iter().sum()]);
        c.check("xdd", &analysis.solutions.components[0].acceleration[..1]);
    }
    for id in ["001.rod43.theta0.3000", "001.rod43.theta0.7854"] {
        let c = case(id);
        let (m, l, t) = (c.one("m"), c.one("l_half"), c.one("theta"));
        let mass = Matrix::diagonal(&[m, m, m * l * l / 3.0]);
        let h = Matrix::from_rows(&[[1.0, 0.0, l * t.sin()]]);
        let g = Matrix::from_rows(&[[0.0, 1.0, -l * t.cos()]]);
        let inverse = constrained_inverse_mass(&mass, &g).unwrap();
        c.check("M_c_inv", inverse.data());
        c.check("rank_Mc_inv", &[inverse.rank() as f64]);
        let both = g.stack(&h);
        let w = both.mul(&mass.solve_positive_definite(&both.transpose()).unwrap());
        c.check("A", &[w[(1, 1)]]);
        c.check("A_c", constrained_delassus(&w, &[1], &[0]).data());
        let angle = kinetic_angle(w[(0, 0)], w[(0, 1)], w[(1, 1)]).unwrap();
        c.check("kinetic_angle_h_g", &[angle]);
        c.check("cos_kinetic_angle", &[angle.cos()]);
    }
    let c = case("001.prop7");
    for (alpha, want) in c.input("alpha").iter().zip(c.expected("angles")) {
        let w = 1.0 + 0.5 * 4.0;
        let angle = kinetic_angle(w, alpha * w, alpha * alpha * w).unwrap();
        assert!((angle - want).abs() < 1e-7);
    }
    let c = case("001.cor5");
    let (h, g) = (c.matrix("grad_h").transpose(), c.matrix("grad_g").transpose());
    let both = g.stack(&h);
    c.check("A_c", constrained_delassus(&both.mul(&both.transpose()), &[2, 3], &[0, 1]).data());
    let c = case("001.thm1");
    for k in [1, 2] {
        let g = c.matrix(&format!("g_set{k}")).transpose();
        let h = Matrix::from_rows(&[[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]);
        let both = g.stack(&h);
        let a_c = constrained_delassus(&both.mul(&both.transpose()), &[2, 3], &[0, 1]);
        c.check(&format!("A_c_{k}"), a_c.data());
        assert_eq!(a_c.is_positive_definite(), c.0["expected"][format!("pd_{k}")]["value"]);
    }
}

#[test]
fn golden_001_elliptic_manipulator() {
    let c = case("001.ex2.elliptic");
    let (x2, v2) = (c.one("x2"), c.one("x2dot"));
    let (q1, v1) = (0.5 * (1.0 - x2 * x2).sqrt(), -0.5 * x2 * v2 / (1.0 - x2 * x2).sqrt());
    let text = format!(
        "[system]\ncoordinates = [\"q1\", \"q2\"]\n[energy]\nkinetic = \"(q1'^2 + q2'^2)/2\"\n\
         [[joint]]\nname = \"groove\"\nvalue = \"4*q1^2 + q2^2 - 1\"\n\
         [[contact]]\nname = \"stop\"\nvelocity = \"q1' + q2' - ({})\"\n\
         [state.position]\nq1 = {q1:e}\nq2 = {x2}\n[state.velocity]\nq1 = {v1:e}\nq2 = {v2}\n",
        v1 + v2
    );
    let result = run(&text, &[]);
    c.check("A_c", result.constrained_delassus.as_ref().unwrap().data());
    c.check("grad_g", &result.kinematics.joints[0].row.gradient);
    // Reduced to x2 alone (001 §5): mass tᵀt with t = (dq1/dx2, 1), Delassus (∇hᵀt)²/mass.
    let t = [v1 / v2, 1.0];
    c.check("reduced_mass", &[t[0] * t[0] + 1.0]);
    c.check("A_r", &[(t[0] + t[1]).powi(2) / (t[0] * t[0] + 1.0)]);
}

#[test]
fn golden_002_hyperstatic() {
    for id in ["4legs_centre", "4legs_offset", "4legs_clip", "5legs_centre", "4legs_tipping"] {
        let c = case(&format!("002.table.{id}"));
        let (legs, com) = (c.matrix("legs"), c.input("com"));
        let j = Matrix::from_fn(legs.rows(), 3, |i, k| match k {
            0 => 1.0,
            1 => legs[(i, 1)] - com[1],
            _ => -(legs[(i, 0)] - com[0]),
        });
        let d = Dynamics::new(
            Matrix::diagonal(&[c.one("m"), c.one("Ix"), c.one("Iy")]),
            vec![c.one("m") * c.one("g"), 0.0, 0.0],
            j.clone(),
            vec![0.0; legs.rows()],
            vec![Law::Unilateral; legs.rows()],
        )
        .unwrap();
        c.check("G", j.transpose().data());
        let analysis = delassus_solve::analysis::analyze(&d, &EnumerateOptions::default());
        let f = analysis.minimum_norm.as_ref().unwrap();
        c.check("lambda_minnorm", f);
        c.check("G_lambda", &j.tr_mul_vec(f));
        c.check("qdd", &analysis.solutions.components[0].acceleration);
        c.check("rank_G", &[j.rank() as f64]);
        // The shared part reproduces Gλ, and the least norm lies within the intervals.
        let shared = j.tr_mul_vec(analysis.unique_part().unwrap());
        c.check("G_lambda", &shared);
        for (x, [low, high]) in f.iter().zip(&analysis.intervals) {
            assert!(low - 1e-9 <= *x && *x <= high + 1e-9);
        }
    }
    let c = case("002.lemma52.overlap");
    let d = Dynamics::new(
        Matrix::identity(1),
        vec![1.0],
        Matrix::from_rows(&[[1.0], [1.0]]),
        vec![0.0; 2],
        vec![Law::Bilateral, Law::Unilateral],
    )
    .unwrap();
    let analysis = delassus_solve::analysis::analyze(&d, &EnumerateOptions::default());
    c.check("lambda_minnorm", analysis.minimum_norm.as_ref().unwrap());
    assert_eq!(analysis.intervals[0][0], f64::NEG_INFINITY);
    assert!((analysis.intervals[0][1] - 1.0).abs() < 1e-9 && analysis.intervals[1][0].abs() < 1e-9);
    assert_eq!(analysis.intervals[1][1], f64::INFINITY);
    let c = case("002.mixed52");
    let (g1, g2) = (c.matrix("G1"), c.matrix("G2"));
    let j = g1.transpose().stack(&g2.transpose());
    let d = Dynamics::new(
        c.matrix("M"),
        c.input("f").iter().map(|x| -x).collect(),
        j.clone(),
        vec![0.0; 5],
        [vec![Law::Bilateral; 2], vec![Law::Unilateral; 3]].concat(),
    )
    .unwrap();
    let analysis = delassus_solve::analysis::analyze(&d, &EnumerateOptions::default());
    let p = &analysis.solutions.components[0];
    c.check("qdd", &p.acceleration);
    c.check("G_lambda", &j.tr_mul_vec(&p.force));
}

#[test]
fn golden_001_qp_instance() {
    use delassus_solve::lcp::{
        QpOutcome, dual_multiplier_program, gauss_principle, least_deviation, multiplier_program,
        projected_gauss_principle,
    };
    let c = case("001.qp.instance");
    let point = |outcome: QpOutcome| match outcome {
        QpOutcome::Solved { point, .. } => point,
        other => panic!("{other:?}"),
    };
    let (h, g) = (c.matrix("grad_h").transpose(), c.matrix("grad_g").transpose());
    let uni =
        Dynamics::new(c.matrix("M"), c.input("F"), h.clone(), c.input("gamma_h"), vec![Law::Unilateral; 2])
            .unwrap();
    let mixed = Dynamics::new(
        c.matrix("M"),
        c.input("F"),
        g.stack(&h),
        [c.input("gamma_g"), c.input("gamma_h")].concat(),
        vec![Law::Bilateral, Law::Unilateral, Law::Unilateral],
    )
    .unwrap();
    let r = uni.reduce().unwrap();
    c.check("A", r.delassus.data());
    c.check("H0", &r.free_velocity);
    let free = &r.free_acceleration;
    let add = |x: Vec<f64>, y: &[f64]| x.iter().zip(y).map(|(a, b)| a + b).collect::<Vec<f64>>();
    c.check("lambda_uni", &point(multiplier_program(&r.delassus, &r.free_velocity).solve()));
    c.check("lambda_uni", &point(dual_multiplier_program(&r.delassus, &r.free_velocity).solve()));
    c.check("qdd_uni", &point(gauss_principle(&uni).unwrap().solve()));
    c.check("qdd_uni", &add(point(least_deviation(&uni).unwrap().solve()), free));
    let r = mixed.reduce().unwrap();
    let lift = sliding_lcp(&r.delassus, &r.free_velocity, &mixed.laws).unwrap();
    c.check("A_c", lift.lcp.matrix.data());
    c.check("H4", &lift.lcp.vector);
    c.check("H2", &r.free_velocity[..1]);
    c.check("M_c_inv", constrained_inverse_mass(&mixed.mass, &g).unwrap().data());
    c.check("lambda_u", &point(multiplier_program(&lift.lcp.matrix, &lift.lcp.vector).solve()));
    c.check("qdd_mixed", &point(gauss_principle(&mixed).unwrap().solve()));
    let (program, base) = projected_gauss_principle(&mixed).unwrap();
    c.check("qdd_mixed", &add(point(program.solve()), &base));
    let set = enumerate(&mixed, &EnumerateOptions::default());
    c.check("lambda_b", &set.components[0].force[..1]);
    c.check("qdd_mixed", &set.components[0].acceleration);
}

#[test]
fn golden_phys_stick_and_slide() {
    let c = case("phys.incline");
    for (angle, acc) in c.input("alpha_deg").iter().zip(c.expected("acc")) {
        let a = angle.to_radians();
        let d = Dynamics::new(
            Matrix::identity(2),
            vec![-9.81 * a.sin(), 9.81 * a.cos()],
            Matrix::from_rows(&[[0.0, 1.0], [1.0, 0.0]]),
            vec![0.0; 2],
            vec![Law::CoulombPlane { mu: c.one("mu") }],
        )
        .unwrap();
        let set = enumerate(&d, &EnumerateOptions::default());
        assert_eq!(set.components.len(), 1);
        assert!((set.components[0].acceleration[0] - acc).abs() < 1e-9);
    }
    // Two blocks on a floor, the lower one pulled: both contacts at rest.
    let c = case("phys.stack");
    let (m1, m2, mu, g) = (c.one("m1"), c.one("m2"), c.one("mu"), c.one("g"));
    for (k, pull) in c.input("F").iter().enumerate() {
        let d = Dynamics::new(
            Matrix::diagonal(&[m1, m1, m2, m2]),
            vec![0.0, m1 * g, -pull, m2 * g],
            Matrix::from_rows(&[
                [0.0, 1.0, 0.0, -1.0],
                [1.0, 0.0, -1.0, 0.0],
                [0.0, 0.0, 0.0, 1.0],
                [0.0, 0.0, 1.0, 0.0],
            ]),
            vec![0.0; 4],
            vec![Law::CoulombPlane { mu }; 2],
        )
        .unwrap();
        let set = enumerate(&d, &EnumerateOptions::default());
        assert_eq!(set.components.len(), 1);
        assert!((set.components[0].acceleration[0] - c.expected("a1")[k]).abs() < 1e-9);
        assert!((set.components[0].acceleration[2] - c.expected("a2")[k]).abs() < 1e-9);
    }
    let c = case("phys.rod_fall_frictionless");
    let result = run(ROD, &[("angle", "60 deg".into()), ("slip", "0".into()), ("mu", "0".into())]);
    c.check("N0", &forces(&result, 0));
}
