//! Laws of impact: closed forms of the papers and of textbooks, and what must hold for every impact.

use delassus_solve::impact::{
    ImpactContact, ImpactError, ImpactLaw, ImpactProblem, ImpactResult, ImpactStatus, Motion, Restitution,
    Violation, impact_orders, impact_path, kinetic_angles, resolve_impact,
};
use delassus_solve::lcp::{QpOutcome, QuadraticProgram, percussion_dual_program, percussion_program};
use delassus_solve::linalg::Matrix;
use proptest::prelude::*;

use crate::support::near::near_vectors;

fn smooth(normal: &[f64], restitution: f64) -> ImpactContact {
    ImpactContact { normal: normal.to_vec(), restitution, ..ImpactContact::default() }
}

fn rough(normal: &[f64], tangents: &[&[f64]], friction: f64, restitution: f64) -> ImpactContact {
    ImpactContact {
        normal: normal.to_vec(),
        tangents: tangents.iter().map(|t| t.to_vec()).collect(),
        slip_drift: vec![0.0; tangents.len()],
        friction,
        restitution,
        ..ImpactContact::default()
    }
}

fn free(mass: Matrix, velocity: &[f64], contacts: Vec<ImpactContact>) -> ImpactProblem {
    ImpactProblem { mass, velocity: velocity.to_vec(), contacts, ..ImpactProblem::default() }
}

fn solved(problem: &ImpactProblem, law: &ImpactLaw) -> ImpactResult {
    let result = resolve_impact(problem, law).unwrap();
    assert_eq!(result.status, ImpactStatus::Solved, "{law:?}: {result:?}");
    result
}

fn normals(result: &ImpactResult) -> Vec<f64> {
    result.contact_impulses.iter().map(|p| p[0]).collect()
}

/// A point mass in a wedge of two planes with n₁·n₂ = 0.8, u⁻ = (−1, −0.2).
fn wedge(e: [f64; 2]) -> ImpactProblem {
    let contacts = vec![smooth(&[1.0, 0.0], e[0]), smooth(&[0.8, 0.6], e[1])];
    free(Matrix::identity(2), &[-1.0, 1.0], contacts)
}

#[test]
fn eq_001_77_84_wedge_under_newton_and_moreau() {
    let problem = wedge([0.5, 0.5]);
    let angles = kinetic_angles(&problem).unwrap();
    near_vectors(&[angles[(0, 1)]], &[2.498_091_544_796_509], 1e-12);
    for law in [ImpactLaw::Newton, ImpactLaw::NewtonMatrix(Matrix::diagonal(&[0.5, 0.5]))] {
        let newton = solved(&problem, &law);
        near_vectors(&normals(&newton), &[3.5, -2.5], 1e-12);
        near_vectors(&newton.velocity, &[0.5, -0.5], 1e-12);
        near_vectors(&[newton.kinetic_energy_after, newton.kinetic_energy_before], &[0.25, 1.0], 1e-12);
        let [Violation::Adhesion { contact: 1, impulse }] = newton.violations[..] else {
            panic!("{:?}", newton.violations)
        };
        near_vectors(&[impulse], &[-2.5], 1e-12);
    }
    let moreau = solved(&problem, &ImpactLaw::Moreau);
    near_vectors(&normals(&moreau), &[1.5, 0.0], 1e-12);
    near_vectors(&moreau.velocity, &[0.5, 1.0], 1e-12);
    near_vectors(&[moreau.kinetic_energy_after], &[0.625], 1e-12);
    assert!(moreau.violations.is_empty() && moreau.searched && moreau.alternatives.is_empty());
    let inelastic = solved(&wedge([0.0, 0.0]), &ImpactLaw::Moreau);
    near_vectors(&normals(&inelastic), &[1.0, 0.0], 1e-12);
    near_vectors(&[inelastic.contact_velocities_after[1][0]], &[0.6], 1e-12);
}

#[test]
fn eq_002_39_newtons_law_can_make_energy() {
    // 001 eq. 77, 002 eq. 3.9: T rises from 1 to 1.3889, against 002 §3.
    let problem = wedge([1.0, 0.0]);
    for law in [ImpactLaw::Newton, ImpactLaw::NewtonMatrix(Matrix::diagonal(&[1.0, 0.0]))] {
        let result = solved(&problem, &law);
        near_vectors(&normals(&result), &[5.111_111_111_111_112, -3.888_888_888_888_89], 1e-12);
        near_vectors(&[result.kinetic_energy_after], &[1.388_888_888_888_888], 1e-12);
        let gain = result.violations.iter().find_map(|v| match v {
            Violation::Energy { gain } => Some(*gain),
            _ => None,
        });
        near_vectors(&[gain.unwrap()], &[0.388_888_888_888_888], 1e-12);
    }
}

#[test]
fn newtons_equation_without_a_solution_is_said_so() {
    // Two equal normals, E = diag(1, 0): one wall cannot both reflect and stop.
    let contacts = vec![smooth(&[1.0], 1.0), smooth(&[1.0], 0.0)];
    let problem = free(Matrix::identity(1), &[-1.0], contacts);
    let result = resolve_impact(&problem, &ImpactLaw::Newton).unwrap();
    assert_eq!(result.status, ImpactStatus::NoSolution);
    // Moreau's law takes the one that pushes more.
    near_vectors(&solved(&problem, &ImpactLaw::Moreau).velocity, &[1.0], 1e-12);
}

fn minimiser(program: Option<QuadraticProgram>) -> Vec<f64> {
    match program.unwrap().solve() {
        QpOutcome::Solved { point, .. } => point,
        other => panic!("{other:?}"),
    }
}

#[test]
fn eq_001_80_83_least_squares_percussions() {
    // n₁·n₂ = 0.8 and u⁻ = (−1, −0.75): p = (1.4634, 0), and the dual with two multipliers has the same u⁺.
    let a = Matrix::from_rows(&[[1.0, 0.8], [0.8, 1.0]]);
    let (half, before) = (Matrix::diagonal(&[0.5, 0.5]), [-1.0, -0.75]);
    near_vectors(&minimiser(percussion_program(&a, &half, &before)), &[1.463_414_634_146_341, 0.0], 1e-5);
    let dual = minimiser(percussion_dual_program(&a, &half, &before));
    near_vectors(&dual[..2], &[0.463_414_634_146_341, 0.420_731_707_317_073], 1e-5);
    // The single multiplier of the paper gives u⁺ = −e u⁻, Newton's law, whose second percussion pulls.
    // Moreau's law is a third one.
    let contacts = vec![smooth(&[1.0, 0.0], 0.5), smooth(&[0.8, 0.6], 0.5)];
    let problem = free(Matrix::identity(2), &[-1.0, (-0.75 + 0.8) / 0.6], contacts);
    let newton = solved(&problem, &ImpactLaw::Newton);
    near_vectors(&normals(&newton), &[1.666_666_666_666_667, -0.208_333_333_333_333], 1e-12);
    let after: Vec<f64> = newton.contact_velocities_after.iter().map(|u| u[0]).collect();
    near_vectors(&after, &[0.5, 0.375], 1e-12);
    let moreau = solved(&problem, &ImpactLaw::Moreau);
    near_vectors(&normals(&moreau), &[1.5, 0.0], 1e-12);
    let after: Vec<f64> = moreau.contact_velocities_after.iter().map(|u| u[0]).collect();
    near_vectors(&after, &[0.5, 0.45], 1e-12);
    // The wedge of 001 eq. 76 to 81.
    let before = [-1.0, -0.2];
    near_vectors(&minimiser(percussion_program(&a, &half, &before)), &[1.060_975_609_756_097, 0.0], 1e-6);
}

#[test]
fn prop_001_16_orthogonal_joint_feels_nothing() {
    let result = solved(&rod_on_a_line(0.0, 1.0, &[-1.0, 0.0, 0.3]), &ImpactLaw::Moreau);
    assert!(result.contact_impulses[0][0] > 0.5);
    near_vectors(&result.joint_impulses, &[0.0], 1e-14);
}

#[test]
fn prop_001_16_fails_for_a_joint_that_is_not_orthogonal() {
    let result = solved(&rod_on_a_line(0.7, -1.3, &[1.3 * -0.5, 0.7 * -0.5, 0.3]), &ImpactLaw::Moreau);
    assert!(result.joint_impulses[0].abs() > 0.1);
}

/// Two contacts with A_c⁻¹ = M given, their velocities the coordinates.
fn coupled(inverse: [[f64; 2]; 2], before: &[f64]) -> ImpactProblem {
    let contacts = vec![smooth(&[1.0, 0.0], 0.0), smooth(&[0.0, 1.0], 0.0)];
    free(Matrix::from_rows(&inverse), before, contacts)
}

#[test]
fn prop_001_17_nonnegative_restitution_and_monotone_matrices() {
    // A_c⁻¹(I + E) ≥ 0 and E ≥ 0: percussions push and velocities part, for all u⁻ ≤ 0.
    let e = Matrix::from_rows(&[[0.5, 0.1], [0.1, 0.5]]);
    for before in [[-1.0, -0.1], [-0.1, -1.0], [-1.0, -1.0], [-1.0, 0.0]] {
        let result = solved(&coupled([[1.0, 0.5], [0.5, 1.0]], &before), &ImpactLaw::NewtonMatrix(e.clone()));
        let broken = |v: &&Violation| !matches!(v, Violation::Energy { .. });
        assert_eq!(result.violations.iter().find(broken), None);
    }
}

#[test]
fn prop_001_17_fails_where_restitution_has_negative_entries() {
    // Both matrices of the proposition are monotone, percussions push, and yet a contact still approaches: u⁺
    // = −E u⁻ asks for E ≥ 0, which monotony of E(I + E)⁻¹A_c does not give.
    let e = Matrix::from_rows(&[[0.5, -0.4], [-0.4, 0.5]]);
    let mass = Matrix::from_rows(&[[1.0, 0.5], [0.5, 1.0]]);
    let sum = Matrix::from_rows(&[[1.5, -0.4], [-0.4, 1.5]]);
    // The inverses of (I + E)⁻¹A_c and of E(I + E)⁻¹A_c, A_c = M⁻¹.
    let first = mass.mul(&sum);
    let second = first.mul(&e.solve_matrix(&Matrix::identity(2)).unwrap());
    assert!(first.data().iter().chain(second.data()).all(|x| *x >= 0.0));
    let result = solved(&coupled([[1.0, 0.5], [0.5, 1.0]], &[-1.0, -0.1]), &ImpactLaw::NewtonMatrix(e));
    near_vectors(&normals(&result), &[1.335, 0.48], 1e-12);
    let approach = result.violations.iter().find_map(|v| match v {
        Violation::Approach { contact: 1, velocity } => Some(*velocity),
        _ => None,
    });
    near_vectors(&[approach.unwrap()], &[-0.35], 1e-12);
}

#[test]
fn prop_001_18_percussions_differ_velocities_do_not() {
    // The same wall twice: the percussion is shared in any way.
    let problem = free(Matrix::identity(1), &[-1.0], vec![smooth(&[1.0], 0.5), smooth(&[1.0], 0.5)]);
    let result = solved(&problem, &ImpactLaw::NewtonMatrix(Matrix::diagonal(&[0.5, 0.5])));
    near_vectors(&result.velocity, &[0.5], 1e-12);
    near_vectors(&[normals(&result).iter().sum()], &[1.5], 1e-12);
}

#[test]
fn prop_001_18_fails_for_a_contact_in_the_span_of_the_joints() {
    // ∇h(p₁ − p₂) ≠ 0 where the joint takes up what the contact gives: M_c⁻¹∇h = 0.
    let problem = |push: f64| ImpactProblem {
        joints: Matrix::from_rows(&[[1.0, 0.0]]),
        joint_drift: vec![0.0],
        external: vec![push, 0.0],
        ..free(Matrix::identity(2), &[0.0, 1.0], vec![smooth(&[1.0, 0.0], 0.0)])
    };
    let (one, two) = (solved(&problem(0.0), &ImpactLaw::Moreau), solved(&problem(-3.0), &ImpactLaw::Moreau));
    near_vectors(&one.velocity, &two.velocity, 1e-14);
    near_vectors(&[two.joint_impulses[0] + two.contact_impulses[0][0]], &[3.0], 1e-14);
}

#[test]
fn prop_001_19_plastic_impact_is_moreaus() {
    // A_c⁻¹(−u⁻) > 0: (80) with E = 0 and Moreau's rule are one.
    let problem = coupled([[1.0, 0.3], [0.3, 1.0]], &[-1.0, -0.5]);
    let a = problem.mass.solve_matrix(&Matrix::identity(2)).unwrap();
    let least = minimiser(percussion_program(&a, &Matrix::zeros(2, 2), &problem.velocity));
    near_vectors(&normals(&solved(&problem, &ImpactLaw::Moreau)), &least, 1e-9);
}

#[test]
fn prop_001_19_fails_where_a_percussion_would_pull() {
    let a = Matrix::from_rows(&[[1.0, 0.8], [0.8, 1.0]]);
    let p = minimiser(percussion_program(&a, &Matrix::zeros(2, 2), &[-1.0, -0.2]));
    near_vectors(&p, &[0.707_317_073_170_731_8, 0.0], 1e-6);
    let after: Vec<f64> = a.mul_vec(&p).iter().zip([-1.0, -0.2]).map(|(a, b)| a + b).collect();
    near_vectors(&after, &[-0.292_682_926_829_268_2, 0.365_853_658_536_585_5], 1e-6);
    let moreau = solved(&wedge([0.0, 0.0]), &ImpactLaw::Moreau);
    near_vectors(
        &[moreau.contact_velocities_after[0][0], moreau.contact_velocities_after[1][0]],
        &[0.0, 0.6],
        1e-12,
    );
}

/// The rod of 001 Example 3, centre on a line α x + β y + γ = 0, tip on a wall.
fn rod_on_a_line(alpha: f64, beta: f64, velocity: &[f64]) -> ImpactProblem {
    let (half, theta) = (0.5, 0.6_f64);
    let mass = Matrix::diagonal(&[1.0, 1.0, 1.0 * (2.0 * half) * (2.0 * half) / 12.0]);
    ImpactProblem {
        joints: Matrix::from_rows(&[[alpha, beta, 0.0]]),
        joint_drift: vec![0.0],
        ..free(mass, velocity, vec![smooth(&[1.0, 0.0, half * theta.sin()], 0.5)])
    }
}

#[test]
fn eq_001_72_percussions_in_joints() {
    let problem = rod_on_a_line(0.0, 1.0, &[-1.084_696_371_009_255_2, 0.0, 0.3]);
    for law in
        [ImpactLaw::Moreau, ImpactLaw::Newton, ImpactLaw::Poisson, ImpactLaw::Energetic, ImpactLaw::Sequence]
    {
        let result = solved(&problem, &law);
        near_vectors(&normals(&result), &[0.766_689_540_072_953_4], 1e-12);
        near_vectors(&result.joint_impulses, &[0.0], 1e-12);
        near_vectors(&result.velocity, &[-0.318_006_830_936_301_8, 0.0, 2.897_432_869_397_366_8], 1e-12);
        assert!(result.violations.is_empty());
    }
    // p_b = −α/(α² + β²) p_u, with the sign that the paper lost; the same twice over with the joint doubled.
    let (alpha, beta) = (0.7, -1.3);
    let single = rod_on_a_line(alpha, beta, &[1.3 * -0.5, 0.7 * -0.5, 0.3]);
    let one = solved(&single, &ImpactLaw::Moreau);
    let ratio = one.joint_impulses[0] / one.contact_impulses[0][0];
    near_vectors(&[ratio], &[-alpha / (alpha * alpha + beta * beta)], 1e-12);
    let twice = ImpactProblem {
        joints: Matrix::from_rows(&[[alpha, beta, 0.0], [alpha, beta, 0.0]]),
        joint_drift: vec![0.0; 2],
        ..single
    };
    let two = solved(&twice, &ImpactLaw::Moreau);
    near_vectors(&two.velocity, &one.velocity, 1e-12);
    near_vectors(&two.joint_impulses, &[one.joint_impulses[0] / 2.0; 2], 1e-12);
}

#[test]
fn joints_that_cannot_be_held_are_reported() {
    let mut problem = rod_on_a_line(0.0, 1.0, &[-1.0, 0.0, 0.3]);
    problem.joints = Matrix::from_rows(&[[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]);
    problem.joint_drift = vec![0.0, 1.0];
    let result = resolve_impact(&problem, &ImpactLaw::Moreau).unwrap();
    assert_eq!(result.status, ImpactStatus::NoSolution);
    assert!(result.violations.iter().any(|v| matches!(v, Violation::Joint { .. })));
}

#[test]
fn eq_002_211_inelastic_impact() {
    // Three constraints of rank two, and an external impulse.
    let rows = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
    let contacts = rows.iter().map(|r| smooth(r, 0.0)).collect();
    let problem = ImpactProblem {
        external: vec![0.2, 0.0],
        ..free(Matrix::diagonal(&[1.0, 2.0]), &[-1.0, -0.5], contacts)
    };
    let result = solved(&problem, &ImpactLaw::Moreau);
    near_vectors(&result.velocity, &[0.0, 0.0], 1e-9);
    near_vectors(&normals(&result), &[0.2, 0.4, 0.6], 1e-9);
    near_vectors(&[2.0 * result.kinetic_energy_before], &[1.224_744_871_391_589_f64.powi(2)], 1e-12);
    assert!(result.violations.is_empty(), "{:?}", result.violations);
    let wedge =
        free(Matrix::identity(2), &[-1.0, 0.0], vec![smooth(&[1.0, 0.0], 0.0), smooth(&[0.8, 0.6], 0.0)]);
    let result = solved(&wedge, &ImpactLaw::Moreau);
    near_vectors(&normals(&result), &[1.0, 0.0], 1e-10);
    assert!(result.searched && result.alternatives.is_empty());
}

/// Balls of equal mass in a row; contact i between i and i+1.
fn cradle(velocity: &[f64], e: f64) -> ImpactProblem {
    let n = velocity.len();
    let contacts = (0..n - 1)
        .map(|i| {
            let mut normal = vec![0.0; n];
            (normal[i], normal[i + 1]) = (-1.0, 1.0);
            smooth(&normal, e)
        })
        .collect();
    free(Matrix::identity(n), velocity, contacts)
}

#[test]
fn newtons_cradle() {
    let three = cradle(&[1.0, 0.0, 0.0], 1.0);
    for law in [ImpactLaw::Moreau, ImpactLaw::Newton] {
        let result = solved(&three, &law);
        near_vectors(&normals(&result), &[4.0 / 3.0, 2.0 / 3.0], 1e-12);
        near_vectors(&result.velocity, &[-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0], 1e-12);
        near_vectors(&[result.kinetic_energy_after], &[0.5], 1e-12);
        assert!(result.violations.is_empty());
    }
    let sequence = solved(&three, &ImpactLaw::Sequence);
    near_vectors(&sequence.velocity, &[0.0, 0.0, 1.0], 1e-12);
    assert_eq!(sequence.order, [0, 1]);
    near_vectors(&[kinetic_angles(&three).unwrap()[(0, 1)]], &[1.047_197_551_196_597_6], 1e-12);
    let five = solved(&cradle(&[1.0, 0.0, 0.0, 0.0, 0.0], 1.0), &ImpactLaw::Sequence);
    near_vectors(&five.velocity, &[0.0, 0.0, 0.0, 0.0, 1.0], 1e-12);
    let two = solved(&cradle(&[1.0, 1.0, 0.0, 0.0, 0.0], 1.0), &ImpactLaw::Sequence);
    near_vectors(&two.velocity, &[0.0, 0.0, 0.0, 1.0, 1.0], 1e-12);
}

#[test]
fn order_matters_or_not() {
    // Equal balls, both ends come in: any order swaps velocities, the outcome is one.
    let equal = impact_orders(&cradle(&[1.0, 0.0, -1.0], 1.0)).unwrap();
    assert!(equal.complete && equal.orders == 2);
    assert_eq!(equal.outcomes.len(), 1);
    near_vectors(&equal.outcomes[0].velocity, &[-1.0, 0.0, 1.0], 1e-12);
    // A light ball between: the side of the first impact decides.
    let mut unequal = cradle(&[1.0, 0.0, -1.0], 0.5);
    unequal.mass = Matrix::diagonal(&[1.0, 3.0, 1.0]);
    let orders = impact_orders(&unequal).unwrap();
    assert!(orders.complete);
    assert_eq!(orders.outcomes.len(), 2, "{orders:?}");
    // By symmetry one outcome is the mirror of the other.
    let mirror: Vec<f64> = orders.outcomes[0].velocity.iter().rev().map(|v| -v).collect();
    near_vectors(&mirror, &orders.outcomes[1].velocity, 1e-9);
    // Orthogonal normals do not feel each other.
    let corner =
        free(Matrix::identity(2), &[-1.0, -2.0], vec![smooth(&[1.0, 0.0], 0.3), smooth(&[0.0, 1.0], 0.7)]);
    let orders = impact_orders(&corner).unwrap();
    assert_eq!((orders.orders, orders.outcomes.len()), (2, 1));
    near_vectors(&orders.outcomes[0].velocity, &[0.3, 1.4], 1e-12);
}

#[test]
fn sequence_without_end_is_cut() {
    // Three balls with e below 7 − 4√3 = 0.0718 collide forever (inelastic collapse): approach dies out
    // geometrically and the sequence ends at rounding, at the common velocity.
    let problem = cradle(&[1.0, 0.0, -1.0], 0.05);
    let result = solved(&problem, &ImpactLaw::Sequence);
    assert!(result.order.len() > 10);
    assert!(result.violations.is_empty());
    assert!(result.kinetic_energy_after < 1e-12 * result.kinetic_energy_before);
}

#[test]
fn two_balls_dropped() {
    for ratio in [0.5, 0.1, 1e-9] {
        let contacts = vec![smooth(&[1.0, 0.0], 1.0), smooth(&[-1.0, 1.0], 1.0)];
        let problem = free(Matrix::diagonal(&[1.0, ratio]), &[-1.0, -1.0], contacts);
        let result = solved(&problem, &ImpactLaw::Sequence);
        // After the floor the heavy ball goes up with 1 and meets the light one: (3M − m)/(M + m).
        let light = (3.0 - ratio) / (1.0 + ratio);
        near_vectors(&[result.velocity[1]], &[light], 1e-12);
        if ratio < 1e-8 {
            near_vectors(&[result.velocity[1].powi(2)], &[9.0], 2e-8);
        }
    }
}

/// A sphere (m = 1, r = 0.5) that hits a plane; q̇ = (x, z, ω) with ω turning the lowest point against x.
fn sphere(mu: f64, e: f64, velocity: &[f64]) -> ImpactProblem {
    let r = 0.5;
    let mass = Matrix::diagonal(&[1.0, 1.0, 0.4 * r * r]);
    free(mass, velocity, vec![rough(&[0.0, 1.0, 0.0], &[&[1.0, 0.0, -r]], mu, e)])
}

#[test]
fn sphere_on_a_plane() {
    let laws = [
        ImpactLaw::Moreau,
        ImpactLaw::Newton,
        ImpactLaw::NewtonMatrix(Matrix::diagonal(&[0.5])),
        ImpactLaw::Poisson,
        ImpactLaw::Energetic,
        ImpactLaw::Sequence,
    ];
    for law in &laws {
        // Slips: 7/2 μ(1 + e)v_n = 1.05 < 3.
        let slips = solved(&sphere(0.1, 0.5, &[3.0, -2.0, 0.0]), law);
        near_vectors(&slips.contact_impulses[0], &[3.0, -0.3], 1e-9);
        near_vectors(&slips.velocity, &[2.7, 1.0, 1.5], 1e-9);
        assert!(slips.violations.is_empty(), "{law:?} {:?}", slips.violations);
        // Sticks: rolls on with v_t = 5/7 of what it was.
        let sticks = solved(&sphere(0.9, 0.5, &[3.0, -2.0, 0.0]), law);
        near_vectors(&sticks.velocity, &[15.0 / 7.0, 1.0, 30.0 / 7.0], 1e-9);
    }
}

#[test]
fn sphere_in_space_is_the_sphere_in_the_plane() {
    // q̇ = (x, y, z, ω_x, ω_y), contact point velocity (x − r ω_y, y + r ω_x).
    let r = 0.5;
    let inertia = 0.4 * r * r;
    let mass = Matrix::diagonal(&[1.0, 1.0, 1.0, inertia, inertia]);
    let tangents: [&[f64]; 2] = [&[1.0, 0.0, 0.0, 0.0, -r], &[0.0, 1.0, 0.0, r, 0.0]];
    for (mu, expected) in [(0.1, 2.7), (0.9, 15.0 / 7.0)] {
        let (c, s) = (0.6, 0.8);
        let contacts = vec![rough(&[0.0, 0.0, 1.0, 0.0, 0.0], &tangents, mu, 0.5)];
        let problem = free(mass.clone(), &[3.0 * c, 3.0 * s, -2.0, 0.0, 0.0], contacts);
        let laws = [
            ImpactLaw::Moreau,
            ImpactLaw::Newton,
            ImpactLaw::Poisson,
            ImpactLaw::Energetic,
            ImpactLaw::Sequence,
        ];
        for law in laws {
            let result = solved(&problem, &law);
            near_vectors(&result.velocity[..3], &[expected * c, expected * s, 1.0], 1e-9);
        }
    }
}

#[test]
fn rocking_block_of_housner() {
    // Corner A (left) carries, corner B (right) lands: q̇ = (x, z, φ).
    let (b, h) = (0.2, 0.8);
    let mass = Matrix::diagonal(&[1.0, 1.0, (b * b + h * h) / 3.0]);
    // A corner at (±b, −h) from the centre moves with (ẋ + h φ̇, ż ± b φ̇).
    let corner = |side: f64| rough(&[0.0, 1.0, side * b], &[&[1.0, 0.0, h]], 5.0, 0.0);
    // Turning about A, which is at rest: ẋ = −h φ̇, ż = b φ̇.
    let omega = -1.0;
    let problem = free(mass, &[-h * omega, b * omega, omega], vec![corner(-1.0), corner(1.0)]);
    let result = solved(&problem, &ImpactLaw::Moreau);
    near_vectors(&[result.velocity[2] / omega], &[0.911_764_705_882_352_9], 1e-9);
    near_vectors(
        &[result.kinetic_energy_after / result.kinetic_energy_before],
        &[0.831_314_878_892_733_5],
        1e-9,
    );
    near_vectors(
        &result.velocity,
        &[0.729_411_764_705_882_4, 0.182_352_941_176_470_55, -0.911_764_705_882_352_9],
        1e-9,
    );
    near_vectors(&result.contact_impulses[1], &[0.382_352_941_176_470_56, -0.070_588_235_294_117_63], 1e-9);
    near_vectors(&result.contact_impulses[0], &[0.0, 0.0], 1e-9);
}

/// The rod of 003 at 45° that slides into its jam: W = [[2.5, −1.5], [−1.5, 2.5]] on (normal, tangent).
fn jamming_rod(u_n: f64, e: f64) -> ImpactProblem {
    let (c, s) = (0.5_f64.sqrt(), 0.5_f64.sqrt());
    let mass = Matrix::diagonal(&[1.0, 1.0, 1.0 / 3.0]);
    // Tip at −(c, s) from the centre, half length 1: velocity (ẋ + s ω, ẏ − c ω).
    free(mass, &[-1.0, u_n, 0.0], vec![rough(&[0.0, 1.0, -c], &[&[1.0, 0.0, s]], 2.0, e)])
}

#[test]
fn impact_without_collision() {
    let path = impact_path(&jamming_rod(0.0, 0.5), Restitution::Energetic).unwrap();
    assert!(path.without_collision && path.status == ImpactStatus::Solved);
    let slip = &path.points[0];
    assert_eq!((slip.motion, slip.compression), (Motion::Slip, true));
    near_vectors(
        &[slip.impulse[0], slip.velocity[0], slip.velocity[1]],
        &[2.0 / 7.0, -1.0 / 7.0, 0.0],
        1e-10,
    );
    let compression = path.compression().unwrap();
    assert_eq!(compression.motion, Motion::Stick);
    near_vectors(&compression.impulse, &[0.375, 0.625], 1e-10);
    let end = path.points.last().unwrap();
    near_vectors(&[end.velocity[0]], &[0.146_385_010_942_279_96], 1e-10);
    let poisson = impact_path(&jamming_rod(0.0, 0.5), Restitution::Kinetic).unwrap();
    near_vectors(&[poisson.points.last().unwrap().velocity[0]], &[0.3], 1e-10);
    let newton = impact_path(&jamming_rod(0.0, 0.5), Restitution::Kinematic).unwrap();
    near_vectors(&newton.points.last().unwrap().velocity, &[0.0, 0.0], 1e-10);
    // Complementarity at the end of the impact finds the same percussion for e = 0.
    let inelastic = solved(&jamming_rod(0.0, 0.0), &ImpactLaw::Moreau);
    near_vectors(&inelastic.contact_impulses[0], &[0.375, 0.625], 1e-10);
    near_vectors(&[inelastic.contact_impulses[0][1] / inelastic.contact_impulses[0][0]], &[5.0 / 3.0], 1e-10);
    // The other way along the plane nothing happens.
    let mut away = jamming_rod(0.0, 0.5);
    away.velocity[0] = 1.0;
    let path = impact_path(&away, Restitution::Energetic).unwrap();
    assert!(path.points.is_empty() && !path.without_collision);
    // With two tangents the same, integrated.
    let mut space = jamming_rod(0.0, 0.5);
    space.mass = Matrix::diagonal(&[1.0, 1.0, 1.0 / 3.0, 0.25]);
    space.velocity.push(0.0);
    let contact = &mut space.contacts[0];
    contact.normal.push(0.0);
    contact.tangents[0].push(0.0);
    contact.tangents.push(vec![0.0, 0.0, 0.0, 1.0]);
    contact.slip_drift.push(0.0);
    let path = impact_path(&space, Restitution::Energetic).unwrap();
    assert!(path.without_collision);
    near_vectors(&path.compression().unwrap().impulse, &[0.375, 0.625, 0.0], 1e-10);
    near_vectors(&[path.points.last().unwrap().velocity[0]], &[0.146_385_010_942_279_96], 1e-10);
}

/// A contact with this block A on (normal, tangents), its velocity the coordinates.
fn block<const D: usize>(a: [[f64; D]; D], before: [f64; D], mu: f64, e: f64) -> ImpactProblem {
    let unit = |k: usize| -> Vec<f64> { (0..D).map(|i| f64::from(u8::from(i == k))).collect() };
    let rows: Vec<Vec<f64>> = (0..D).map(unit).collect();
    let tangents: Vec<&[f64]> = rows[1..].iter().map(|r| r.as_slice()).collect();
    let mass = Matrix::from_rows(&a).solve_matrix(&Matrix::identity(D)).unwrap().symmetric_part();
    free(mass, &before, vec![rough(&rows[0], &tangents, mu, e)])
}

#[test]
fn friction_at_the_end_of_an_impact_can_make_energy() {
    // Slip turns round during the impact; friction that opposes its end pushed along at its beginning (Kane,
    // Levinson). With e = 1: p_n(1 − 0.12) = 2, p_t = −0.2 p_n, ΔT = ½ p_t(u_t⁺ + u_t⁻).
    let problem = block([[1.0, 0.6], [0.6, 1.0]], [-1.0, -0.7], 0.2, 1.0);
    let normal = 2.0 / 0.88;
    let gain = -0.1 * normal * (-1.4 + 0.6 * normal - 0.2 * normal);
    for law in [ImpactLaw::Moreau, ImpactLaw::Newton] {
        let result = solved(&problem, &law);
        near_vectors(&result.contact_impulses[0], &[normal, -0.2 * normal], 1e-12);
        let [Violation::Energy { gain: reported }] = result.violations[..] else {
            panic!("{:?}", result.violations)
        };
        near_vectors(&[reported], &[gain], 1e-12);
    }
    let energetic = solved(&problem, &ImpactLaw::Energetic);
    assert!(energetic.violations.is_empty());
    assert!(energetic.kinetic_energy_after < energetic.kinetic_energy_before);
}

#[test]
fn slip_that_turns_in_space() {
    // Compression against the classical Runge–Kutta method in P itself with very small steps; slip does not
    // stop.
    let a = [[1.0, 0.3, -0.2], [0.3, 2.0, 0.5], [-0.2, 0.5, 3.0]];
    let (mu, start) = (0.4, [-1.0, 1.5, 1.0]);
    let path = impact_path(&block(a, start, mu, 0.6), Restitution::Energetic).unwrap();
    let slope = |u: [f64; 3]| {
        let speed = u[1].hypot(u[2]);
        let f = [1.0, -mu * u[1] / speed, -mu * u[2] / speed];
        [0, 1, 2].map(|i| a[i][0] * f[0] + a[i][1] * f[1] + a[i][2] * f[2])
    };
    let add = |u: [f64; 3], h: f64, k: [f64; 3]| [0, 1, 2].map(|i| u[i] + h * k[i]);
    let step = |u: [f64; 3], h: f64| {
        let k1 = slope(u);
        let k2 = slope(add(u, h / 2.0, k1));
        let k3 = slope(add(u, h / 2.0, k2));
        let k4 = slope(add(u, h, k3));
        add(u, h / 6.0, [0, 1, 2].map(|i| k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]))
    };
    let (mut u, mut p, h) = (start, 0.0, 1e-4);
    while step(u, h)[0] < 0.0 {
        u = step(u, h);
        p += h;
    }
    // The last bit by the slope there, which is constant to h.
    let rest = -u[0] / slope(u)[0];
    u = step(u, rest);
    p += rest;
    let compression = path.compression().unwrap();
    assert_eq!(compression.motion, Motion::Slip);
    // h⁴ and the rounding of 10⁴ steps are far below; the last bit is off by h².
    near_vectors(&[compression.impulse[0]], &[p], 1e-8);
    near_vectors(&compression.velocity[1..], &u[1..], 1e-8);
    let turned = u[2].atan2(u[1]) - start[2].atan2(start[1]);
    assert!(turned.abs() > 0.05, "slip turned by {turned}");
}

#[test]
fn slip_that_stops_and_starts_again_in_space() {
    // Pressed along tangent 1 with more than friction can hold, slip against it dies out at P = 0.2/1.3 and
    // grows again the other way with du_t/dP = 0.9 − 0.2·2 = 0.5.
    let a = [[1.0, 0.9, 0.0], [0.9, 2.0, 0.0], [0.0, 0.0, 1.0]];
    let path = impact_path(&block(a, [-1.0, -0.2, 0.0], 0.2, 0.5), Restitution::Kinetic).unwrap();
    let stop = 0.2 / 1.3;
    let compression = stop + (1.0 - stop * (1.0 + 0.2 * 0.9)) / (1.0 - 0.2 * 0.9);
    near_vectors(&[path.compression().unwrap().impulse[0]], &[compression], 1e-9);
    let end = path.points.last().unwrap();
    near_vectors(&[end.impulse[0]], &[1.5 * compression], 1e-9);
    near_vectors(&end.velocity[1..], &[0.5 * (1.5 * compression - stop), 0.0], 1e-9);
    // In the plane the same, in closed form.
    let plane =
        impact_path(&block([[1.0, 0.9], [0.9, 2.0]], [-1.0, -0.2], 0.2, 0.5), Restitution::Kinetic).unwrap();
    let motions: Vec<(Motion, bool)> = plane.points.iter().map(|p| (p.motion, p.compression)).collect();
    assert_eq!(motions, [(Motion::Slip, true), (Motion::Slip, true), (Motion::Slip, false)]);
    near_vectors(&plane.impulse, &path.impulse[..2], 1e-9);
}

#[test]
fn slip_that_hardly_stops() {
    // Friction just above what is needed to stick, |A_tn|/A_tt = 1: slip dies out a thousand times slower
    // than it turns.
    let a = [[2.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.5]];
    for mu in [1.001, 1.0 + 1e-9, 1.0, 0.999] {
        let path = impact_path(&block(a, [-1.0, 0.5, -0.4], mu, 0.5), Restitution::Energetic).unwrap();
        assert_eq!(path.status, ImpactStatus::Solved, "{mu}");
        let work = path.compression().unwrap().work;
        let end = path.points.last().unwrap();
        assert!((end.work - 0.75 * work).abs() < 1e-9 * work.abs());
    }
}

#[test]
fn slip_that_presses_in_again_during_restitution() {
    // Slip turns after the end of compression so that friction presses the contact in a second time, before
    // it sticks.
    let a = [
        [1.0808697235180895, -0.46668812765159734, 1.259577187943009],
        [-0.46668812765159734, 0.5690606774313194, -0.5478684920904883],
        [1.259577187943009, -0.5478684920904883, 1.4749098176568018],
    ];
    let start = [-0.06293534335424655, -0.21877601734381077, -0.010198129988121044];
    let problem = block(a, start, 1.1434263830242275, 0.10746118999575048);
    let result = solved(&problem, &ImpactLaw::Energetic);
    assert!(result.violations.is_empty(), "{:?}", result.violations);
    let path = impact_path(&problem, Restitution::Energetic).unwrap();
    assert!(path.points.iter().any(|p| !p.compression && p.velocity[0] < -0.05));
    assert!(path.points.last().unwrap().velocity[0] > 0.0);
}

#[test]
fn misuse_is_an_error() {
    let two = wedge([0.5, 0.5]);
    assert_eq!(
        resolve_impact(&two, &ImpactLaw::Energetic).unwrap_err(),
        ImpactError::OneContact { found: 2 }
    );
    let restitution = resolve_impact(&wedge([1.5, 0.5]), &ImpactLaw::Moreau).unwrap_err();
    assert_eq!(restitution, ImpactError::Restitution { contact: 0, value: 1.5 });
    let singular = free(Matrix::diagonal(&[1.0, 0.0]), &[-1.0, 0.0], vec![smooth(&[1.0, 0.0], 0.0)]);
    assert_eq!(resolve_impact(&singular, &ImpactLaw::Moreau).unwrap_err(), ImpactError::SingularMass);
    let nan = free(Matrix::identity(1), &[f64::NAN], vec![smooth(&[1.0], 0.0)]);
    assert!(matches!(resolve_impact(&nan, &ImpactLaw::Moreau), Err(ImpactError::Invalid(_))));
    let matrix = ImpactLaw::NewtonMatrix(Matrix::identity(3));
    assert!(matches!(resolve_impact(&two, &matrix), Err(ImpactError::Invalid(_))));
    let long = free(Matrix::identity(1), &[1.0], vec![smooth(&[1.0, 2.0], 0.0)]);
    assert!(matches!(resolve_impact(&long, &ImpactLaw::Moreau), Err(ImpactError::Invalid(_))));
}

/// A mass at rest at a wall, hit into it with 3 N s: laws that answer to what P presses in give back e of the
/// velocity after P, and P has worked before them. Moreau's and Newton's laws hold it, and P does no work.
#[test]
fn an_external_impulse_works_before_what_it_presses_in_answers() {
    let problem = ImpactProblem {
        external: vec![-3.0],
        ..free(Matrix::identity(1), &[0.0], vec![smooth(&[1.0], 0.5)])
    };
    for law in [ImpactLaw::Poisson, ImpactLaw::Energetic, ImpactLaw::Sequence] {
        let result = solved(&problem, &law);
        near_vectors(&result.velocity, &[1.5], 1e-14);
        near_vectors(&[result.work, result.kinetic_energy_after], &[4.5, 1.125], 1e-14);
        assert_eq!(result.violations, [], "{}", law.name());
    }
    for law in [ImpactLaw::Moreau, ImpactLaw::Newton] {
        let result = solved(&problem, &law);
        near_vectors(&[result.velocity[0], result.work], &[0.0, 0.0], 1e-14);
        assert_eq!(result.violations, [], "{}", law.name());
    }
}

#[test]
fn moving_wall_does_work() {
    // A wall that comes with speed 1 against a ball at rest: the ball leaves with (1 + e).
    let mut problem = free(Matrix::identity(1), &[0.0], vec![smooth(&[1.0], 0.5)]);
    problem.contacts[0].normal_drift = -1.0;
    for law in
        [ImpactLaw::Moreau, ImpactLaw::Newton, ImpactLaw::Poisson, ImpactLaw::Energetic, ImpactLaw::Sequence]
    {
        let result = solved(&problem, &law);
        near_vectors(&result.velocity, &[1.5], 1e-12);
        near_vectors(&[result.work], &[1.5], 1e-12);
        assert!(result.violations.is_empty(), "{law:?} {:?}", result.violations);
    }
}

/// A random impact: mass B Bᵀ + I, rows and velocities in [−1, 1].
fn random(contacts: usize, tangents: usize, joints: usize) -> impl Strategy<Value = ImpactProblem> {
    let n = 4;
    let numbers = n * n + n + (contacts * (1 + tangents) + joints) * n;
    (prop::collection::vec(-1.0..1.0f64, numbers), 0.0..1.5f64, 0.0..=1.0f64).prop_map(
        move |(x, friction, e)| {
            let b = Matrix::from_vec(n, n, x[..n * n].to_vec());
            let mut mass = b.mul(&b.transpose());
            (0..n).for_each(|i| mass[(i, i)] += 1.0);
            let rows: Vec<Vec<f64>> = x[n * n + n..].chunks(n).map(|r| r.to_vec()).collect();
            let mut velocity = x[n * n..n * n + n].to_vec();
            let joint_rows = &rows[..joints];
            let held = Matrix::from_rows(joint_rows);
            if joints > 0 {
                // Velocities before keep the joints.
                let open = held.mul_vec(&velocity);
                let fix = held.pseudo_solve(&open);
                velocity.iter_mut().zip(fix).for_each(|(v, f)| *v -= f);
            }
            let contacts = rows[joints..]
                .chunks(1 + tangents)
                .map(|r| {
                    // Turned so that it approaches.
                    let un: f64 = r[0].iter().zip(&velocity).map(|(a, b)| a * b).sum();
                    let normal: Vec<f64> = r[0].iter().map(|x| -x * un.signum()).collect();
                    let rest: Vec<&[f64]> = r[1..].iter().map(|t| t.as_slice()).collect();
                    rough(&normal, &rest, friction, e)
                })
                .collect();
            ImpactProblem { joints: held, joint_drift: vec![0.0; joints], ..free(mass, &velocity, contacts) }
        },
    )
}

/// M(v⁺ − v⁻) = Jᵀp, and the energy of the result is that of its velocity.
fn momentum(problem: &ImpactProblem, result: &ImpactResult) -> f64 {
    let n = problem.velocity.len();
    let jump: Vec<f64> = (0..n).map(|i| result.velocity[i] - problem.velocity[i]).collect();
    let mut left = problem.mass.mul_vec(&jump);
    for (i, p) in result.joint_impulses.iter().enumerate() {
        (0..n).for_each(|j| left[j] -= problem.joints[(i, j)] * p);
    }
    for (contact, p) in problem.contacts.iter().zip(&result.contact_impulses) {
        (0..n).for_each(|j| left[j] -= contact.normal[j] * p[0]);
        for (t, p) in contact.tangents.iter().zip(&p[1..]) {
            (0..n).for_each(|j| left[j] -= t[j] * p);
        }
    }
    left.iter().fold(0.0_f64, |m, x| m.max(x.abs()))
}

/// The conditions, counted by this file: (kinematic, kinetic, energetic) violations clear of rounding.
fn count(problem: &ImpactProblem, result: &ImpactResult) -> [usize; 3] {
    let clear = 1e-6;
    let n = problem.velocity.len();
    let at = |row: &[f64]| (0..n).map(|j| row[j] * result.velocity[j]).sum::<f64>();
    let energy = |v: &[f64]| {
        let mv = problem.mass.mul_vec(v);
        (0..n).map(|i| 0.5 * v[i] * mv[i]).sum::<f64>()
    };
    let mut out = [0; 3];
    for (contact, p) in problem.contacts.iter().zip(&result.contact_impulses) {
        out[0] += usize::from(at(&contact.normal) < -clear);
        let t = p[1..].iter().map(|x| x * x).sum::<f64>().sqrt();
        out[1] += usize::from(p[0] < -clear) + usize::from(t > contact.friction * p[0].max(0.0) + clear);
    }
    out[2] = usize::from(energy(&result.velocity) > energy(&problem.velocity) + clear);
    out
}

fn reported(result: &ImpactResult) -> [usize; 3] {
    let mut out = [0; 3];
    for v in &result.violations {
        match v {
            Violation::Approach { .. } | Violation::Joint { .. } => out[0] += 1,
            Violation::Adhesion { .. } | Violation::Friction { .. } => out[1] += 1,
            Violation::Energy { .. } => out[2] += 1,
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn moreau_without_friction_satisfies_everything(mut problem in random(3, 0, 1)) {
        problem.contacts.iter_mut().for_each(|c| c.friction = 0.0);
        let result = resolve_impact(&problem, &ImpactLaw::Moreau).unwrap();
        prop_assert_eq!(result.status, ImpactStatus::Solved);
        prop_assert!(result.violations.is_empty(), "{:?}", result.violations);
        // Rounding of a well-conditioned 4 × 4 system: M has eigenvalues from 1 to 17.
        prop_assert!(momentum(&problem, &result) < 1e-9);
        prop_assert!(result.kinetic_energy_after <= result.kinetic_energy_before * (1.0 + 1e-12));
        if problem.contacts[0].restitution == 1.0 {
            prop_assert!((result.kinetic_energy_after - result.kinetic_energy_before).abs() < 1e-9);
        }
    }

    #[test]
    fn energetic_law_never_makes_energy(problem in prop_oneof![random(1, 1, 1), random(1, 2, 0), random(1, 2, 1)]) {
        let result = resolve_impact(&problem, &ImpactLaw::Energetic).unwrap();
        prop_assert_eq!(result.status, ImpactStatus::Solved);
        prop_assert!(result.violations.is_empty(), "{:?}", result.violations);
        prop_assert!(momentum(&problem, &result) < 1e-9);
        let path = impact_path(&problem, Restitution::Energetic).unwrap();
        let compression = path.compression().unwrap().work;
        let e = problem.contacts[0].restitution;
        let end = path.points.last().unwrap();
        prop_assert!((end.work - compression + e * e * compression).abs() <= 1e-9 * compression.abs());
        // The normal work and that of friction are what the kinetic energy lost.
        prop_assert!(result.kinetic_energy_after <= result.kinetic_energy_before + end.work + 1e-9);
    }

    #[test]
    fn all_violations_are_reported(
        problem in prop_oneof![
            random(2, 1, 0), random(3, 0, 1), random(1, 2, 1), random(2, 1, 1), random(2, 2, 0),
        ],
    ) {
        let k = problem.contacts.len();
        let e = problem.contacts[0].restitution;
        let matrix = ImpactLaw::NewtonMatrix(Matrix::from_fn(k, k, |i, j| if i == j { e } else { 0.1 }));
        for law in [ImpactLaw::Moreau, ImpactLaw::Newton, matrix, ImpactLaw::Poisson, ImpactLaw::Sequence] {
            let result = resolve_impact(&problem, &law).unwrap();
            // Rows that nearly depend on each other let percussions grow, and rounding with them.
            let largest = result.contact_impulses.iter().flatten().chain(&result.joint_impulses);
            let largest = largest.fold(1.0_f64, |m, p| m.max(p.abs()));
            prop_assert!(momentum(&problem, &result) < 1e-11 * largest, "{:?}", law);
            // Coulomb's law has a solution where rows are independent; Newton's with friction may have none.
            let rows: usize = result.contact_impulses.iter().map(Vec::len).sum();
            let independent = rows + result.joint_impulses.len() <= 4;
            let soluble = matches!(law, ImpactLaw::Moreau | ImpactLaw::Poisson);
            // A sequence may not terminate, and reports so.
            let endless = law == ImpactLaw::Sequence && result.status == ImpactStatus::TooManyImpacts;
            if independent && (soluble || law == ImpactLaw::Sequence) && !endless {
                prop_assert_eq!(result.status, ImpactStatus::Solved, "{:?} {:?}", law, problem);
            }
            if law == ImpactLaw::Sequence {
                prop_assert!(result.kinetic_energy_after <= result.kinetic_energy_before * (1.0 + 1e-9));
            }
            let (expected, found) = (count(&problem, &result), reported(&result));
            for i in 0..3 {
                prop_assert!(found[i] >= expected[i], "{:?}: {:?} {:?}", law, result, expected);
            }
        }
    }

    #[test]
    fn poisson_is_newton_without_friction_at_one_contact(mut problem in random(1, 0, 1)) {
        problem.contacts[0].friction = 0.0;
        let one = resolve_impact(&problem, &ImpactLaw::Newton).unwrap();
        for law in [ImpactLaw::Moreau, ImpactLaw::Poisson, ImpactLaw::Energetic, ImpactLaw::Sequence] {
            let other = resolve_impact(&problem, &law).unwrap();
            for (a, b) in one.velocity.iter().zip(&other.velocity) {
                prop_assert!((a - b).abs() < 1e-9, "{:?}", law);
            }
        }
    }
}

#[test]
fn rest_is_relative_to_what_moves() {
    // A joint whose own velocities are rounding, beside a body that moves: nothing is torn.
    let problem = ImpactProblem {
        joints: Matrix::from_rows(&[[0.0, 1.0, 0.0], [1e-17, 1.0, 1e-17]]),
        joint_drift: vec![0.0; 2],
        ..free(Matrix::identity(3), &[-1.0, 1e-19, 0.3], vec![smooth(&[1.0, 0.0, 0.0], 0.5)])
    };
    for law in [ImpactLaw::Moreau, ImpactLaw::Newton, ImpactLaw::Energetic] {
        let result = solved(&problem, &law);
        assert!(result.violations.is_empty(), "{:?}", result.violations);
    }
    // A contact whose approach is rounding is at rest for Newton's law.
    let balls = cradle(&[1.0, 1e-18, 0.0], 1.0);
    near_vectors(&solved(&balls, &ImpactLaw::Newton).velocity, &[-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0], 1e-12);
}

/// A guide with friction: a mass on the line y = 0 hits a wall with the normal (−1, −1) at x' = 1. With e = ½
/// it leaves with −½ and friction pushes forward: 1 − p + 0.3 p = −½. Poisson: compression ends at x' = 0,
/// where friction holds back what it can, and half of its percussion follows.
#[test]
fn a_guide_with_friction_at_an_impact() {
    let guide = ImpactContact { bilateral: true, ..rough(&[0.0, 1.0], &[&[1.0, 0.0]], 0.3, 0.0) };
    let problem = ImpactProblem {
        mass: Matrix::identity(2),
        contacts: vec![smooth(&[-1.0, -1.0], 0.5), guide],
        velocity: vec![1.0, 0.0],
        ..ImpactProblem::default()
    };
    for law in [ImpactLaw::Moreau, ImpactLaw::Newton] {
        let found = resolve_impact(&problem, &law).unwrap();
        assert_eq!(found.status, ImpactStatus::Solved);
        let p = 1.5 / 0.7;
        assert!((found.contact_impulses[0][0] - p).abs() < 1e-12, "{found:?}");
        assert!((found.contact_impulses[1][0] - p).abs() < 1e-12, "{found:?}");
        assert!((found.contact_impulses[1][1] - 0.3 * p).abs() < 1e-12, "{found:?}");
        assert!(found.violations.is_empty(), "{found:?}");
    }
    let found = resolve_impact(&problem, &ImpactLaw::Poisson).unwrap();
    assert_eq!(found.status, ImpactStatus::Solved);
    assert!(
        found.violations.is_empty() && found.velocity[0] < 0.0 && found.velocity[1].abs() < 1e-12,
        "{found:?}"
    );
    // A pull on the guide is no adhesion: the wall on the other side.
    let other =
        ImpactProblem { contacts: vec![smooth(&[-1.0, 1.0], 0.5), problem.contacts[1].clone()], ..problem };
    let found = resolve_impact(&other, &ImpactLaw::Moreau).unwrap();
    assert!(found.contact_impulses[1][0] < -2.0 && found.violations.is_empty(), "{found:?}");
    for law in [ImpactLaw::Energetic, ImpactLaw::Sequence] {
        let refused = resolve_impact(&other, &law);
        assert!(matches!(refused, Err(ImpactError::Guide { contact: 1 })), "{refused:?}");
    }
}
