//! One W, stored dense, sparse, in blocks and not at all: the same numbers.

use delassus_solve::linalg::{BlockMatrix, Matrix, Sparse, max_abs};
use delassus_solve::problem::{
    ContactProblem, ContactView, Delassus, Form, InvalidProblem, Law, MatrixFree, residual,
};
use proptest::prelude::*;

/// Bodies with 1, 3, 6 or 12 coordinates in a shuffled order, and contacts that touch up to three of them.
#[derive(Clone, Debug)]
struct Scene {
    mass: Matrix,
    h: Matrix,
    laws: Vec<Law>,
    /// f on the bodies.
    push: Vec<f64>,
    bias: Vec<f64>,
    impulse: Vec<f64>,
}

impl Scene {
    fn problem(&self) -> ContactProblem {
        let form = Form::Global {
            mass: Sparse::from_dense(&self.mass),
            jacobian_transposed: Sparse::from_dense(&self.h),
            force: self.push.clone(),
            bias: self.bias.clone(),
        };
        ContactProblem::new(self.laws.clone(), form).unwrap()
    }
}

/// `mixed`: laws of one to five rows; else three rows each.
fn scenes(mixed: bool) -> impl Strategy<Value = Scene> {
    let laws = [
        Law::Coulomb { mu: 0.5 },
        Law::CoulombEllipse { mu: [0.3, 0.6] },
        Law::Cone { mu: 0.2 },
        Law::Bilateral,
        Law::Unilateral,
        Law::CoulombPlane { mu: 0.4 },
        Law::Rolling { mu: 0.5, rolling: 0.1 },
    ];
    let laws = laws[..if mixed { laws.len() } else { 3 }].to_vec();
    let body = (prop::sample::select(vec![1usize, 3, 6, 12]), -2i32..=2);
    let contact = (prop::sample::select(laws), prop::collection::vec(any::<prop::sample::Index>(), 1..=3));
    (prop::collection::vec(body, 1..6), prop::collection::vec(contact, 1..7))
        .prop_flat_map(|(bodies, contacts)| {
            let n: usize = bodies.iter().map(|b| b.0).sum();
            let m: usize = contacts.iter().map(|c| c.0.dim()).sum();
            let numbers = |count| prop::collection::vec(-1.0f64..1.0, count);
            (
                (Just(bodies), Just(contacts), Just((0..n).collect::<Vec<_>>()).prop_shuffle()),
                (numbers(n * n), numbers(n * m), numbers(n), numbers(m), numbers(m)),
            )
        })
        .prop_map(|((bodies, contacts, order), (b, entries, push, bias, impulse))| {
            let (n, m) = (push.len(), bias.len());
            let (mut mass, mut h) = (Matrix::zeros(n, n), Matrix::zeros(n, m));
            let mut rows: Vec<&[usize]> = vec![];
            let mut first = 0;
            for &(size, power) in &bodies {
                rows.push(&order[first..first + size]);
                // s (B Bᵀ + size·1): its condition is below 1 + size.
                let block = Matrix::from_fn(size, size, |i, j| b[(first + i) * n + first + j]);
                let block = block.mul(&block.transpose()).symmetric_part();
                for i in 0..size {
                    for j in 0..size {
                        let x = block[(i, j)] + if i == j { size as f64 } else { 0.0 };
                        mass[(order[first + i], order[first + j])] = 10f64.powi(power) * x;
                    }
                }
                first += size;
            }
            let mut column = 0;
            for (law, touched) in &contacts {
                for j in column..column + law.dim() {
                    for &i in touched.iter().flat_map(|t| rows[t.index(rows.len())]) {
                        h[(i, j)] = entries[i * m + j];
                    }
                }
                column += law.dim();
            }
            let laws = contacts.iter().map(|c| c.0).collect();
            Scene { mass, h, laws, push, bias, impulse }
        })
}

fn sizes(a: &Matrix) -> Matrix {
    Matrix::from_fn(a.rows(), a.cols(), |i, j| a[(i, j)].abs())
}

/// The operators agree with the dense product to 1e-13 of the sizes of the terms that are summed: 450
/// roundings, for sums of at most 3 · 12 · 12 products of which the inversion, of condition 13, has left most
/// digits right.
fn agree(scene: &Scene) {
    let dense = scene.h.transpose().mul(&scene.mass.solve_matrix(&scene.h).unwrap());
    let problem = scene.problem();
    let (sparse, q_sparse) = problem.local().unwrap();
    let (free, q) = problem.matrix_free().unwrap().unwrap();
    let m = dense.dim();
    let h_size = sizes(&scene.h);
    let inverse_size = sizes(&scene.mass.solve_matrix(&Matrix::identity(scene.push.len())).unwrap());
    let size = h_size.transpose().mul(&inverse_size.mul(&h_size));
    let mut others: Vec<&dyn Delassus> = vec![&sparse, &free];
    let blocks;
    if scene.laws.iter().all(|l| l.dim() == 3) {
        let place: Vec<(usize, usize)> = (0..m).map(|i| (i / 3, i % 3)).collect();
        blocks = BlockMatrix::<3>::from_sparse(scene.laws.len(), &sparse, &place, &vec![1.0; m], 1.0);
        others.push(&blocks);
    }
    let f = &scene.impulse;
    let expected = dense.apply(f);
    let f_size: Vec<f64> = f.iter().map(|x| x.abs()).collect();
    let scale = size.mul_vec(&f_size);
    let judged = residual(&ContactView::new(&dense, &q, &scene.laws).unwrap(), f);
    for w in others {
        assert_eq!(w.dim(), m);
        let u = w.apply(f);
        for i in 0..m {
            assert!((u[i] - expected[i]).abs() <= 1e-13 * scale[i], "{} {} {}", u[i], expected[i], scale[i]);
            for j in 0..m {
                assert!((w.entry(i, j) - dense[(i, j)]).abs() <= 1e-13 * size[(i, j)]);
                assert_eq!(w.entry(i, j), w.entry(j, i));
            }
        }
        let mut some = vec![f64::NAN; m.div_ceil(2)];
        w.apply_rows(m / 2..m, f, &mut some);
        assert_eq!(some, u[m / 2..], "some rows are the same bits as all of them");
        let block = w.block(m / 2..m, 0..m);
        assert_eq!(block, Matrix::from_fn(m - m / 2, m, |i, j| w.entry(m / 2 + i, j)));
        // The residual takes u with weights 1, ρ and |f| and a factor of at most 1 + μ + μ_r ≤ 2.
        let found = residual(&ContactView::new(w, &q, &scene.laws).unwrap(), f);
        let u_size = max_abs(&scale) + max_abs(&q);
        assert!((found.velocity - judged.velocity).abs() <= 2e-13 * u_size);
        assert_eq!(found.force, judged.force);
        assert!((found.power - judged.power).abs() <= 1e-12 * u_size * max_abs(f));
        assert!((found.relative - judged.relative).abs() <= 1e-12 * (1.0 + judged.relative));
    }
    let push_size: Vec<f64> = scene.push.iter().map(|x| x.abs()).collect();
    let q_size = h_size.tr_mul_vec(&inverse_size.mul_vec(&push_size));
    for i in 0..m {
        assert!((q[i] - q_sparse[i]).abs() <= 1e-13 * (q_size[i] + scene.bias[i].abs()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn mixed_laws(scene in scenes(true)) {
        agree(&scene);
    }

    #[test]
    fn laws_of_three_rows(scene in scenes(false)) {
        agree(&scene);
    }
}

#[test]
fn two_balls_between_walls() {
    // Masses 2 and 4; contacts wall–1, 1–2, 2–wall along one line. Halves and quarters are exact.
    let mass = Sparse::from_dense(&Matrix::diagonal(&[2.0, 4.0]));
    // A zero that is stored joins nothing.
    let h = Sparse::from_triplets(2, 3, &[(0, 0, 1.0), (0, 1, -1.0), (1, 1, 1.0), (1, 2, -1.0), (0, 2, 0.0)]);
    let w = MatrixFree::new(&mass, &h).unwrap();
    let expected = Matrix::from_rows(&[[0.5, -0.5, 0.0], [-0.5, 0.75, -0.25], [0.0, -0.25, 0.25]]);
    assert_eq!(w.block(0..3, 0..3), expected);
    assert_eq!(w.apply(&[4.0, 8.0, 16.0]), [-2.0, 0.0, 2.0]);
    assert_eq!(w.free_velocity(&[2.0, -8.0], &[0.5, 0.0, 0.0]), [1.5, -3.0, 2.0]);
}

/// A mass matrix that is not symmetric, as gyroscopic terms taken implicitly make it: W is not symmetric
/// either.
#[test]
fn masses_without_symmetry() {
    let scene = Scene {
        mass: Matrix::from_rows(&[[2.0, 1.0, 0.0], [-1.0, 2.0, 0.0], [0.0, 0.0, 4.0]]),
        h: Matrix::from_rows(&[[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]]),
        laws: vec![Law::Unilateral; 2],
        push: vec![0.0; 3],
        bias: vec![0.0; 2],
        impulse: vec![1.0, -1.0],
    };
    let (w, _) = scene.problem().matrix_free().unwrap().unwrap();
    let expected = Matrix::from_rows(&[[1.4, -0.2], [0.2, 0.4]]);
    for i in 0..2 {
        for j in 0..2 {
            // Two roundings.
            assert!((w.entry(i, j) - expected[(i, j)]).abs() <= 1e-15, "{i} {j} {}", w.entry(i, j));
        }
        assert!((w.apply(&scene.impulse)[i] - [1.6, -0.2][i]).abs() <= 1e-15);
    }
}

#[test]
fn what_makes_no_operator_is_refused() {
    let one = Sparse::from_dense(&Matrix::identity(1));
    let mass = |x: f64| Sparse::from_triplets(1, 1, &[(0, 0, x)]);
    let refused = |mass: Sparse, h: &Sparse| MatrixFree::new(&mass, h).err();
    assert_eq!(refused(mass(0.0), &one), Some(InvalidProblem::SingularMass { row: 0, size: 1 }));
    assert!(matches!(refused(mass(f64::NAN), &one), Some(InvalidProblem::NotFinite { .. })));
    assert!(matches!(refused(mass(1e-200), &mass(1e100)), Some(InvalidProblem::NotFinite { .. })));
    assert!(matches!(refused(mass(1.0), &Sparse::zeros(2, 1)), Some(InvalidProblem::Size { .. })));
    let local = Form::Local { delassus: one, free_velocity: vec![0.0] };
    let local = ContactProblem::new(vec![Law::Unilateral], local).unwrap();
    assert!(local.matrix_free().unwrap().is_none(), "W is stored already");
}
