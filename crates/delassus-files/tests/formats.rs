//! Every format gives back what was written, and every bad file is reported.

use std::path::Path;

use delassus_files::{Problem, fclib, json, parse, read, siconos};
use delassus_solve::lcp::{Lcp, Mlcp};
use delassus_solve::linalg::{Matrix, Sparse};
use delassus_solve::problem::{ContactProblem, Form, Law, Slip, row_offsets};
use proptest::prelude::*;

use crate::support::problems;

fn local(laws: Vec<Law>, entries: &[(usize, usize, f64)], x: f64) -> Problem {
    let m = row_offsets(&laws)[laws.len()];
    let entries: Vec<_> = entries.iter().map(|&(i, j, v)| (i % m, j % m, v)).collect();
    let form = Form::Local { delassus: Sparse::from_triplets(m, m, &entries), free_velocity: vec![x; m] };
    Problem::Friction(ContactProblem::new(laws, form).unwrap())
}

fn global(laws: Vec<Law>, entries: &[(usize, usize, f64)], x: f64) -> Problem {
    let (m, n) = (row_offsets(&laws)[laws.len()], 4);
    let mass: Vec<_> = (0..n).map(|i| (i, i, 1.0 + x * x)).collect();
    let h: Vec<_> =
        if m == 0 { vec![] } else { entries.iter().map(|&(i, j, v)| (i % n, j % m, v)).collect() };
    let form = Form::Global {
        mass: Sparse::from_triplets(n, n, &mass),
        jacobian_transposed: Sparse::from_triplets(n, m, &h),
        force: vec![x; n],
        bias: vec![-x; m],
    };
    Problem::Friction(ContactProblem::new(laws, form).unwrap())
}

fn through_dat(problem: &Problem) -> Problem {
    let path = Path::new("unnamed.dat");
    siconos::parse(path, &siconos::format(path, problem).unwrap()).unwrap().problem
}

fn through_json(problem: &Problem) -> Problem {
    let path = Path::new("unnamed.json");
    json::parse(path, &json::format(path, problem).unwrap()).unwrap()
}

fn through_hdf5(problem: &Problem) -> Problem {
    let path = Path::new("unnamed.hdf5");
    fclib::parse(path, fclib::format(path, problem).unwrap()).unwrap().problem
}

#[test]
fn json_holds_every_law() {
    let mu = 0.1 + 0.2;
    let laws = vec![
        Law::Bilateral,
        Law::Unilateral,
        Law::CoulombPlane { mu },
        Law::Coulomb { mu },
        Law::CoulombEllipse { mu: [mu, 0.0] },
        Law::Rolling { mu, rolling: 1e-300 },
        Law::Cone { mu },
        Law::ConePlane { mu },
        Law::ConeRolling { mu, rolling: 0.1 },
        Law::Sliding { mu, slip: Slip::Plane(-1.0) },
        Law::Sliding { mu, slip: Slip::Space([0.6, 0.8]) },
        Law::BilateralSliding { mu, slip: Slip::Space([0.8, 0.6]) },
        Law::BilateralCoulombPlane { mu },
        Law::BilateralCoulomb { mu },
    ];
    let problem = local(laws.clone(), &[(0, 0, 1.0 / 3.0), (1, 5, -0.0)], 0.1);
    assert_eq!(through_json(&problem), problem);
    // The other formats know Coulomb's law and rolling alone.
    let path = Path::new("a.dat");
    assert!(siconos::format(path, &problem).unwrap_err().to_string().contains("cannot hold"));
    for law in laws {
        let problem = local(vec![law, law], &[], 1.0);
        assert_eq!(through_json(&problem), problem);
    }
}

#[test]
fn complementarity_problems_return() {
    let matrix = Matrix::from_rows(&[[1.0, 2.0, 0.1], [3.0, 4.0, 0.0], [0.0, 1e-300, 1.0 / 3.0]]);
    let lcp = Problem::Lcp(Lcp::new(matrix.clone(), vec![0.1, -1e20, 3.0]).unwrap());
    assert_eq!(through_dat(&lcp), lcp);
    assert_eq!(through_json(&lcp), lcp);
    for free in [[true, false, true], [false, false, false], [true, true, false]] {
        let mlcp = Problem::Mlcp(Mlcp::new(matrix.clone(), vec![0.1, 2.0, 3.0], free.to_vec()).unwrap());
        assert_eq!(through_dat(&mlcp), mlcp);
        assert_eq!(through_json(&mlcp), mlcp);
    }
    assert!(fclib::format(Path::new("a.hdf5"), &lcp).is_err());
}

#[test]
fn joints_go_through_fclib() {
    let laws = vec![Law::Bilateral, Law::Bilateral, Law::Coulomb { mu: 0.3 }];
    let problem = global(laws, &[(0, 0, 1.0), (1, 1, 2.0), (2, 2, 3.0), (3, 4, 4.0), (0, 3, 5.0)], 0.7);
    assert_eq!(through_hdf5(&problem), problem);
    assert_eq!(problem.contacts(), Some(1));
    let after = global(vec![Law::Coulomb { mu: 0.3 }, Law::Bilateral], &[], 0.7);
    assert!(fclib::format(Path::new("a.hdf5"), &after).is_err());
    let rolling = local(vec![Law::Rolling { mu: 0.1, rolling: 0.1 }], &[], 0.7);
    assert!(fclib::format(Path::new("a.hdf5"), &rolling).is_err());
}

#[test]
fn bad_json_is_refused() {
    for (text, expected) in [
        (r#"{"kind": "lcp", "matrix": [[1, 2], [3]], "vector": [5, 6]}"#, "expected 2, found 1"),
        ("{\"kind\": \"lcp\",\n \"matrx\": []}", "a.json:2"),
        (
            r#"{"kind": "mlcp", "matrix": [], "vector": []}"#,
            "expected the keys matrix, vector, free, found matrix",
        ),
        (r#"{"kind": "lcp", "matrix": [], "vector": [], "free": []}"#, "a problem of kind lcp"),
        (r#"{"matrix": [], "vector": []}"#, "expected lcp, mlcp, local or global"),
        (r#"{"kind": "local", "laws": [{"law": "glue"}], "delassus": [], "free_velocity": []}"#, "glue"),
        (r#"{"kind": "local", "laws": [{"law": "coulomb"}], "delassus": [], "free_velocity": []}"#, "mu"),
        (
            r#"{"kind": "local", "laws": [{"law": "unilateral"}], "delassus": [[0, 1, 1]], "free_velocity": [1]}"#,
            "a place in 1 × 1",
        ),
        (
            r#"{"kind": "local", "laws": [{"law": "coulomb", "mu": -1}], "delassus": [], "free_velocity": [1, 1, 1]}"#,
            "≥ 0",
        ),
        (
            r#"{"kind": "local", "laws": [{"law": "unilateral"}], "delassus": [], "free_velocity": [1e999]}"#,
            "a.json:1",
        ),
        (
            r#"{"kind": "local", "laws": [{"law": "unilateral"}], "delassus": [], "free_velocity": [1, 2]}"#,
            "free velocity",
        ),
    ] {
        let message = json::parse(Path::new("a.json"), text).unwrap_err().to_string();
        assert!(message.contains(expected) && message.starts_with("a.json"), "{message}");
    }
    assert!(json::parse(Path::new("a.json"), &"[".repeat(100_000)).is_err());
}

#[test]
fn damaged_hdf5_is_refused() {
    let path = Path::new("a.hdf5");
    let laws = vec![Law::Coulomb { mu: 0.3 }; 2];
    let bytes = fclib::format(path, &local(laws.clone(), &[(0, 0, 1.0), (5, 5, 2.0)], 0.7)).unwrap();
    // Cut anywhere: what is missing may be of no use, but the file records its own length.
    for length in 0..bytes.len() {
        let message = fclib::parse(path, bytes[..length].to_vec()).unwrap_err().to_string();
        assert!(message.starts_with("a.hdf5"), "{message}");
    }
    let message = fclib::parse(path, bytes[..bytes.len() - 1].to_vec()).unwrap_err().to_string();
    let expected = format!("the end of the file: expected {} bytes", bytes.len());
    assert!(message.contains(&expected), "{message}");
    // Any one byte changed: no panic.
    for k in 0..bytes.len() {
        for flip in [1, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[k] ^= flip;
            if let Err(e) = fclib::parse(path, changed) {
                assert!(e.to_string().starts_with("a.hdf5"), "{e}");
            }
        }
    }
    let mut other = hdf5_pure::FileBuilder::new();
    other.create_dataset("x").with_f64_data(&[1.0]).with_shape(&[1]);
    let message = fclib::parse(path, other.finish().unwrap()).unwrap_err().to_string();
    assert!(message.contains("expected a group fclib_local"), "{message}");
    let mut without = hdf5_pure::FileBuilder::new();
    let mut group = without.create_group("fclib_local");
    group.create_dataset("spacedim").with_i32_data(&[3]).with_shape(&[1]);
    without.add_group(group.finish());
    let message = fclib::parse(path, without.finish().unwrap()).unwrap_err().to_string();
    assert_eq!(message, "a.hdf5: fclib_local/vectors/mu: expected a dataset, found none of this name");
}

#[test]
fn another_extension_is_read_and_not_written() {
    let problem = local(vec![Law::CoulombPlane { mu: 0.3 }], &[(0, 0, 1.0)], 0.7);
    let text = siconos::format(Path::new("a.dat"), &problem).unwrap();
    for name in ["a.txt", "a", "A.DAT"] {
        assert_eq!(parse(Path::new(name), text.clone().into_bytes()).unwrap().problem, problem, "{name}");
    }
    for name in ["a.txt", "a", "a.dat.old"] {
        let path = std::env::temp_dir().join(format!("delassus-{}", std::process::id())).join(name);
        let message = delassus_files::write(&path, &problem).unwrap_err().to_string();
        assert!(
            message.ends_with(
                "expected one of the extensions .dat, .json, .hdf5 and .h5, which name the format"
            )
        );
    }
}

/// All files of a folder of problems: read, and written and read again in every format that can hold them.
#[test]
fn real_files() {
    let Some(folder) = problems::folder("real_files") else { return };
    for kind in ["lcp", "mlcp", "fc2d", "fc3d", "gfc3d", "rolling"] {
        let mut count = 0;
        for file in std::fs::read_dir(folder.join(kind)).unwrap() {
            let file = file.unwrap().path();
            let problem = read(&file).unwrap();
            let name = file.file_name().unwrap().to_string_lossy().to_lowercase();
            let expected = match kind {
                "fc2d" if name.contains("00000_00117") => "gfc3d",
                "fc2d" if name.starts_with("gfc2d") => "gfc2d",
                _ => kind,
            };
            assert_eq!(problem.kind(), expected, "{name}");
            assert!(through_json(&problem) == problem, "{name}");
            assert!(through_dat(&problem) == problem, "{name}");
            let Problem::Friction(p) = &problem else { continue };
            if !(matches!(p.form, Form::Local { .. }) && kind == "rolling") {
                // Without contacts there is no telling the dimension of the space.
                assert!(through_hdf5(&problem) == problem, "{name}");
            }
            let (w, q) = p.local().unwrap();
            assert_eq!((w.rows(), q.len()), (p.rows(), p.rows()), "{name}");
            println!("{name}: {kind}, {} rows, {} entries in W", w.rows(), w.stored());
            count += 1;
        }
        assert!(count > 0 || kind.ends_with("lcp"));
    }
}

fn numbers() -> impl Strategy<Value = f64> {
    prop_oneof![-1e3f64..1e3, Just(0.0), Just(5e-324), Just(1.7e308), -1e-9f64..1e-9]
}

fn friction() -> impl Strategy<Value = Vec<Law>> {
    let mu = || prop_oneof![Just(0.0), 0.0f64..3.0];
    prop_oneof![
        prop::collection::vec(mu().prop_map(|mu| Law::CoulombPlane { mu }), 1..4),
        prop::collection::vec(mu().prop_map(|mu| Law::Coulomb { mu }), 1..4),
        prop::collection::vec((mu(), mu()).prop_map(|(mu, rolling)| Law::Rolling { mu, rolling }), 1..4),
    ]
}

proptest! {
    #[test]
    fn every_format_gives_back_the_bits(
        laws in friction(),
        entries in prop::collection::vec((0usize..20, 0usize..20, -1e3f64..1e3), 0..30),
        x in numbers().prop_filter("its square is a mass", |x| x.abs() < 1e100),
    ) {
        let (l, g) = (local(laws.clone(), &entries, x), global(laws, &entries, x));
        for p in [&l, &g] {
            prop_assert_eq!(&through_dat(p), p);
            prop_assert_eq!(&through_json(p), p);
        }
        prop_assert_eq!(&through_hdf5(&g), &g);
        if l.kind() != "rolling" {
            prop_assert_eq!(&through_hdf5(&l), &l);
        }
    }

    #[test]
    fn any_text_is_a_problem_or_an_error(words in prop::collection::vec("[0-9]{1,2}|-?[0-9]\\.[0-9]e[0-9]|CSparse|\n|:|to|nan|col", 0..60), name in 0usize..5) {
        let names = ["lcp_a.dat", "a_mlcp.dat", "gfc3d_a.dat", "a.dat", "rfc3d_a.dat"];
        if let Err(e) = parse(Path::new(names[name]), words.join(" ").into_bytes()) {
            prop_assert!(e.to_string().contains("a.dat") || e.to_string().contains("a_mlcp.dat"));
        }
    }
}
