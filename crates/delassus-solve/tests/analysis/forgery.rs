//! Certificates that were forged and sealed again: true facts that do not imply the claims. Number of
//! problems on which all true facts together are tried: `DELASSUS_FORGED`.

use delassus_solve::analysis::theorems::findings;
use delassus_solve::analysis::{Certificate, Claims, Fact, Kind, MatrixOf, analyze, exact_matrix, fact};
use delassus_solve::linalg::Matrix;
use delassus_solve::modes::{EnumerateOptions, ExactAnswer, exact_answer};
use delassus_solve::problem::{Dynamics, Law, Slip};

use crate::support::random::Random;

/// Every id that a certificate may bear.
const IDS: [&str; 60] = [
    "modes",
    "000.prop1i",
    "000.prop1ii",
    "000.appE.iii'",
    "000.appE.iv",
    "000.prop3i",
    "000.prop3ii",
    "000.prop3iii",
    "000.prop3iv",
    "000.prop3v",
    "000.prop3vi",
    "000.prop4",
    "000.prop5",
    "000.cor1",
    "000.prop7i",
    "000.prop7ii",
    "000.prop7iii",
    "000.prop7iv",
    "000.prop7v",
    "000.prop7vi",
    "000.prop7vii",
    "000.prop8",
    "000.prop9",
    "000.prop10",
    "000.prop11",
    "000.prop12",
    "000.prop13",
    "000.prop14",
    "000.cor2",
    "000.hlcp",
    "000.positive",
    "000.pmatrix",
    "001.prop1",
    "001.prop2",
    "001.prop3",
    "001.prop4",
    "001.prop5",
    "001.lemma1",
    "001.lemma2",
    "001.lemma3",
    "001.prop6",
    "001.cor1",
    "001.lemma4",
    "001.prop7",
    "001.prop8",
    "001.thm1",
    "001.cor2",
    "001.cor3",
    "001.prop9",
    "001.cor4",
    "001.prop10",
    "001.cor5",
    "001.prop11",
    "001.prop12",
    "001.prop13",
    "001.prop14",
    "001.lemma5",
    "001.prop15",
    "002.lemma51",
    "002.lemma52",
];
const JAM: &str = "003.jam";

/// Small whole numbers; singular masses, dependent and zero rows are frequent, and so are problems of one
/// kind.
fn random_problem(r: &mut Random, shifts: &[f64]) -> Dynamics {
    let n = 1 + r.below(3);
    let b = Matrix::from_vec(n, n, r.entries(n * n));
    let mut mass = b.mul(&b.transpose());
    let plus = r.pick(shifts);
    (0..n).for_each(|i| mass[(i, i)] += plus);
    let (joints, contacts) = (r.below(3), r.below(4));
    let family = r.below(4);
    let law = |r: &mut Random, bilateral: bool| {
        let (mu, slip) = (r.pick(&[0.0, 0.25, 0.5, 1.0, 2.0]), Slip::Plane(r.pick(&[1.0, -1.0])));
        match (bilateral, if family == 0 { 0 } else { r.below(if family == 1 { 3 } else { 2 }) }) {
            (true, 0) => Law::Bilateral,
            (true, 1) => Law::BilateralSliding { mu, slip },
            (true, _) => Law::BilateralCoulombPlane { mu },
            (false, 0) => Law::Unilateral,
            (false, 1) => Law::Sliding { mu, slip },
            (false, _) => Law::CoulombPlane { mu },
        }
    };
    let laws: Vec<Law> = (0..joints + contacts).map(|k| law(r, k < joints)).collect();
    let m = laws.iter().map(Law::dim).sum();
    let mut rows: Vec<Vec<f64>> = (0..m).map(|_| r.entries(n)).collect();
    if m > 1 && r.below(3) == 0 {
        let sign = r.pick(&[1.0, -1.0, 2.0]);
        let first: Vec<f64> = rows[0].iter().map(|x| sign * x).collect();
        rows[m - 1] = first;
    }
    let jacobian = if m == 0 { Matrix::zeros(0, n) } else { Matrix::from_rows(&rows) };
    let bias = if r.below(3) == 0 { vec![0.0; m] } else { r.entries(m) };
    Dynamics::new(mass, r.entries(n), jacobian, bias, laws).unwrap()
}

fn contradicts(claims: &Claims, truth: &ExactAnswer) -> bool {
    claims.existence.is_some_and(|c| c != truth.existence)
        || claims.acceleration_unique.is_some_and(|c| c != truth.acceleration_unique)
        || claims.forces_unique.is_some_and(|c| c != truth.forces_unique)
}

fn genuine(d: &Dynamics) -> Vec<Certificate> {
    let checked = findings(d, &mut analyze(d, &EnumerateOptions::default()));
    // What floating point finds of all modes is not always true of degenerate problems; then it is refused.
    let kept = checked.into_iter().filter(|f| f.finding.id != "modes" || f.verified == Some(true));
    kept.filter_map(|f| f.finding.certificate).collect()
}

/// A fact that is true where the other one is, and claims less.
fn weaker(d: &Dynamics, f: &Fact) -> Option<Fact> {
    Some(match f.clone() {
        Fact::PositiveDefinite(m) => Fact::PositiveSemidefinite(m),
        Fact::PositiveSemidefinite(m) => Fact::Copositive(m),
        Fact::SingularValuesAtLeast(m, s) => Fact::SingularValuesAtLeast(m, 0.5 * s),
        Fact::SingularValuesAtMost(m, s) => Fact::SingularValuesAtMost(m, 2.0 * s + 1.0),
        Fact::FrictionBelow(k, a, b) => Fact::FrictionBelow(k, 0.5 * a, 2.0 * b),
        Fact::NoBias(Kind::All) if d.laws.iter().any(|l| !l.is_bilateral()) => Fact::NoBias(Kind::Bilateral),
        Fact::AllModes(_) => Fact::AllModes(Claims::default()),
        _ => return None,
    })
}

#[test]
fn genuine_certificates_stand_and_changed_ones_fall() {
    let mut r = Random(3);
    let (mut claimed, mut removals, mut redundant, mut softened) = (0, 0, 0, 0);
    for _ in 0..400 {
        let d = random_problem(&mut r, &[0.0, 1.0, 1.0, 2.0]);
        let truth = exact_answer(&d, 4096).unwrap();
        for c in genuine(&d) {
            assert!(c.verify(), "{}: {:?} {:?} of {d:?}", c.id, c.facts, c.claims);
            assert!(!contradicts(&c.claims, &truth), "{}: {:?}", c.id, c.facts);
            assert!(IDS.contains(&c.id) || c.id == JAM, "{}", c.id);
            if c.claims == Claims::default() {
                continue;
            }
            claimed += 1;
            let forged = |facts: &[Fact], claims: Claims| Certificate::new(c.id, &d, facts.to_vec(), claims);
            assert!(!forged(&[], c.claims).verify());
            for k in 0..c.facts.len() {
                let mut facts = c.facts.clone();
                facts.remove(k);
                // Only a fact without which the others still imply everything may go, or be softened.
                let removed = forged(&facts, c.claims).verify();
                removals += 1;
                redundant += usize::from(removed);
                if let Some(fact) = weaker(&d, &c.facts[k]) {
                    assert!(delassus_solve::analysis::fact(&d, &fact), "{fact:?}");
                    facts.push(fact);
                    softened += 1;
                    assert_eq!(forged(&facts, c.claims).verify(), removed, "{}: {facts:?}", c.id);
                }
            }
            for claims in changed(&c.claims) {
                assert!(!forged(&c.facts, claims).verify(), "{}: {claims:?} from {:?}", c.id, c.facts);
            }
            for id in ["000.prop99", "", "001.lemma1", "001.cor1"] {
                assert!(!Certificate::new(id, &d, c.facts.clone(), c.claims).verify());
            }
        }
    }
    println!("{claimed} certificates with claims, {removals} facts removed, {redundant} of them redundant");
    assert!(claimed > 1000 && softened > 1000, "{claimed}, {softened}");
    assert!(redundant * 2 < removals, "{redundant} of {removals}");
}

/// Each claim turned around, and one added where there is silence.
fn changed(claims: &Claims) -> Vec<Claims> {
    let mut out = Vec::new();
    for which in 0..3 {
        for answer in [true, false] {
            let mut c = *claims;
            let slot = match which {
                0 => &mut c.existence,
                1 => &mut c.acceleration_unique,
                _ => &mut c.forces_unique,
            };
            if *slot != Some(answer) {
                *slot = Some(answer);
                out.push(c);
            }
        }
    }
    out
}

/// All vectors with entries from a list.
fn vectors(entries: &[f64], n: usize) -> Vec<Vec<f64>> {
    (0..n).fold(vec![vec![]], |all, _| {
        all.iter().flat_map(|v| entries.iter().map(|x| [v.clone(), vec![*x]].concat())).collect()
    })
}

/// Everything true that can be claimed of a problem to the checker, but for the list of all modes.
fn all_true_facts(d: &Dynamics) -> Vec<Fact> {
    let kinds = [Kind::Bilateral, Kind::Unilateral, Kind::All];
    let mut matrices = vec![MatrixOf::Mass, MatrixOf::SlidingLcp, MatrixOf::Coupling];
    for k in kinds {
        matrices.extend([
            MatrixOf::Gradients(k),
            MatrixOf::MassAndGradients(k),
            MatrixOf::Delassus(k),
            MatrixOf::SlipCoupling(k),
            MatrixOf::ConstrainedDelassus(k),
            MatrixOf::ConstrainedSlipCoupling(k),
        ]);
    }
    let mut pool = vec![Fact::NoMasslessMotion, Fact::Admissible(true), Fact::Admissible(false)];
    pool.extend(kinds.map(Fact::NoBias));
    for m in matrices {
        let Some(a) = exact_matrix(d, m) else { continue };
        pool.extend([Fact::PositiveDefinite(m), Fact::PositiveSemidefinite(m), Fact::PMatrix(m)]);
        pool.extend([Fact::Copositive(m), Fact::Nonpositive(m), Fact::Rank(m, a.rank())]);
        let at_least = [2.0, 1.0, 0.5, 0.25].map(|s| Fact::SingularValuesAtLeast(m, s));
        let at_most = [0.0, 0.5, 1.0, 2.0, 4.0].map(|s| Fact::SingularValuesAtMost(m, s));
        // The sharpest of each claims most.
        pool.extend(at_least.into_iter().find(|f| fact(d, f)));
        pool.extend(at_most.into_iter().find(|f| fact(d, f)));
    }
    for k in kinds {
        for a in [0.0, 0.5, 1.0, 2.0, 4.0] {
            let below = [0.25, 0.5, 1.0, 2.0].map(|b| Fact::FrictionBelow(k, a, b));
            pool.extend(below.into_iter().find(|f| fact(d, f)));
        }
    }
    pool.extend(
        vectors(&[-2.0, -1.0, 0.0, 1.0, 2.0], d.coordinates())
            .into_iter()
            .map(Fact::Reachable)
            .find(|f| fact(d, f)),
    );
    pool.extend(
        vectors(&[-1.0, 0.0, 1.0], d.laws.len()).into_iter().map(Fact::Unreachable).find(|f| fact(d, f)),
    );
    pool.retain(|f| fact(d, f));
    pool
}

#[test]
fn no_set_of_true_facts_proves_what_is_false() {
    let mut r = Random(11);
    let mut proved = 0;
    let problems = std::env::var("DELASSUS_FORGED").ok().and_then(|x| x.parse().ok()).unwrap_or(200);
    for k in 0..problems {
        // Masses that are not semidefinite, too: the facts have to rule them out.
        let d = random_problem(&mut r, &[0.0, 1.0, 1.0, 2.0, -1.0, -2.0]);
        let truth = exact_answer(&d, 4096).unwrap();
        let facts = all_true_facts(&d);
        let right = [truth.existence, truth.acceleration_unique, truth.forces_unique].map(Some);
        let of = |[existence, acceleration_unique, forces_unique]: [Option<bool>; 3]| Claims {
            existence,
            acceleration_unique,
            forces_unique,
        };
        let [e, a, f] = right;
        let not = |x: Option<bool>| x.map(|x| !x);
        let wrong = [
            [not(e), None, None],
            [not(e); 3],
            [None, not(a), None],
            [e, not(a), None],
            [None, None, not(f)],
            [e, None, not(f)],
            [e, a, not(f)],
        ];
        for id in IDS.into_iter().chain([JAM]) {
            for claims in wrong.map(of) {
                let c = Certificate::new(id, &d, facts.clone(), claims);
                assert!(!c.verify(), "{id}: {claims:?}, {truth:?}, {d:?}");
            }
            // What is true is checked fact by fact, which takes its time.
            for claims in
                [[e, None, None], [e, a, None], [e, a, f]].map(of).into_iter().filter(|_| k % 16 == 0)
            {
                proved += usize::from(Certificate::new(id, &d, facts.clone(), claims).verify());
            }
        }
    }
    println!("{proved} true claims proved");
    assert!(proved > problems / 4, "{proved}");
}

fn one(d: &Dynamics, id: &str) -> Certificate {
    genuine(d).into_iter().find(|c| c.id == id && c.claims != Claims::default()).unwrap()
}

#[test]
fn a_certificate_under_another_name_is_refused() {
    let contact = |laws: Vec<Law>, rows: &[[f64; 2]]| {
        let m = rows.len();
        Dynamics::new(
            Matrix::diagonal(&[1.0, 2.0]),
            vec![1.0, 0.0],
            Matrix::from_rows(rows),
            vec![0.0; m],
            laws,
        )
        .unwrap()
    };
    let mu = 0.125;
    let slip = Slip::Plane(1.0);
    let frictionless = contact(vec![Law::Unilateral], &[[1.0, 0.5]]);
    let sliding = contact(vec![Law::Sliding { mu, slip }], &[[1.0, 0.5], [0.5, 1.0]]);
    let tight = Law::BilateralSliding { mu: 0.75, slip };
    let guide = contact(vec![tight], &[[1.0, 0.5], [0.5, 1.0]]);
    let joints = contact(vec![Law::Bilateral; 2], &[[1.0, 0.0], [2.0, 0.0]]);
    let mixed = contact(vec![Law::Bilateral, Law::Unilateral], &[[1.0, 0.0], [0.0, 1.0]]);
    let cases = [
        // Says more than the other.
        (&frictionless, "000.prop3i", "000.prop3ii"),
        (&frictionless, "000.prop4", "000.prop3iii"),
        (&frictionless, "001.prop2", "001.prop3"),
        (&frictionless, "002.lemma52", "002.lemma51"),
        // Speaks of other laws.
        (&frictionless, "000.prop4", "000.prop5"),
        (&sliding, "000.prop12", "000.prop9"),
        (&sliding, "000.prop12", "000.prop14"),
        (&sliding, "003.jam", "000.hlcp"),
        (&joints, "000.prop1ii", "000.prop8"),
        (&mixed, "000.prop7i", "000.prop3i"),
        // Rests on other facts.
        (&guide, "000.prop9", "000.prop10"),
        (&guide, "000.prop9", "000.hlcp"),
        (&sliding, "000.positive", "000.pmatrix"),
        (&sliding, "000.pmatrix", "000.positive"),
        (&sliding, "000.cor2", "000.prop12"),
        (&joints, "000.prop1ii", "000.prop1i"),
        (&mixed, "000.prop7vii", "modes"),
    ];
    for (d, from, to) in cases {
        let c = if from == "000.cor2" {
            // With the slip reversed no friction presses.
            let law = Law::Sliding { mu, slip: Slip::Plane(-1.0) };
            one(&Dynamics { laws: vec![law], ..d.clone() }, from)
        } else {
            one(d, from)
        };
        assert!(c.verify(), "{from}");
        assert!(!Certificate::new(to, &c.dynamics, c.facts.clone(), c.claims).verify(), "{from} as {to}");
    }
}

#[test]
fn new_facts_hold_and_fail() {
    let d = |mass: [f64; 2], rows: &[[f64; 2]], bias: &[f64], laws: &[Law]| {
        Dynamics::new(
            Matrix::diagonal(&mass),
            vec![0.0; 2],
            Matrix::from_rows(rows),
            bias.to_vec(),
            laws.to_vec(),
        )
        .unwrap()
    };
    let (joint, contact) = (Law::Bilateral, Law::Unilateral);
    // Two joints on one row, and a contact.
    let rows = [[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]];
    let laws = [joint, joint, contact];
    let both = d([1.0, 0.0], &rows, &[1.0, 2.0, 0.0], &laws);
    assert!(fact(&both, &Fact::Admissible(true)) && !fact(&both, &Fact::Admissible(false)));
    assert!(fact(&both, &Fact::NoBias(Kind::Unilateral)) && !fact(&both, &Fact::NoBias(Kind::Bilateral)));
    assert!(!fact(&both, &Fact::NoBias(Kind::All)));
    let torn = d([1.0, 0.0], &rows, &[1.0, 2.0f64.next_up(), 0.0], &laws);
    assert!(fact(&torn, &Fact::Admissible(false)) && !fact(&torn, &Fact::Admissible(true)));
    // No room at all, but admissible: a₂ ≥ 1 and −a₂ ≥ −1.
    let wedge = |gamma: f64| d([1.0, 0.0], &[[0.0, 1.0], [0.0, -1.0]], &[-1.0, gamma], &[contact; 2]);
    assert!(fact(&wedge(1.0), &Fact::Admissible(true)));
    assert!(fact(&wedge(1.0f64.next_down()), &Fact::Admissible(false)));
    // The motion without mass is free to one side, or held.
    assert!(!fact(&both, &Fact::NoMasslessMotion));
    assert!(fact(&wedge(1.0), &Fact::NoMasslessMotion));
    assert!(fact(&d([1.0, 2.0], &[[0.0, 1.0]], &[0.0], &[contact]), &Fact::NoMasslessMotion));
    assert!(!fact(&d([1.0, 0.0], &[[1.0, 0.0]], &[0.0], &[contact]), &Fact::NoMasslessMotion));
    // A joint along q₁ does not act on a contact along q₂.
    let apart = d([1.0, 2.0], &[[1.0, 0.0], [0.0, 1.0]], &[0.0; 2], &[joint, contact]);
    assert!(fact(&apart, &Fact::Rank(MatrixOf::Coupling, 0)));
    let acting = d([1.0, 2.0], &[[1.0, 0.0], [1e-300, 1.0]], &[0.0; 2], &[joint, contact]);
    assert!(fact(&acting, &Fact::Rank(MatrixOf::Coupling, 1)));
}

#[test]
fn an_asymmetric_mass_proves_nothing_by_convexity() {
    let mut c = one(
        &Dynamics::new(
            Matrix::diagonal(&[1.0, 1.0]),
            vec![1.0, 0.0],
            Matrix::from_rows(&[[1.0, 0.5]]),
            vec![0.0],
            vec![Law::Unilateral],
        )
        .unwrap(),
        "000.prop3i",
    );
    c.dynamics.mass[(0, 1)] = 1e-13;
    assert!(c.facts.iter().all(|f| fact(&c.dynamics, f)));
    assert!(!Certificate::new(c.id, &c.dynamics, c.facts.clone(), c.claims).verify());
}

#[test]
fn joints_that_hold_to_rounding_only_prove_nothing() {
    // a₁ = 1 and 2 a₁ = 2 + 10⁻¹²: reachable to rounding, and yet there is no solution.
    let d = |second: f64| {
        Dynamics::new(
            Matrix::identity(2),
            vec![0.0; 2],
            Matrix::from_rows(&[[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]]),
            vec![-1.0, second, 0.0],
            vec![Law::Bilateral, Law::Bilateral, Law::Unilateral],
        )
        .unwrap()
    };
    let claims = Claims { existence: Some(true), ..Claims::default() };
    let sealed = |d: &Dynamics, last: Fact| {
        let rank = Fact::Rank(MatrixOf::Gradients(Kind::Bilateral), 1);
        let facts = vec![Fact::PositiveDefinite(MatrixOf::Mass), rank, Fact::Reachable(vec![1.0, 1.0]), last];
        assert!(facts[..3].iter().all(|f| fact(d, f)));
        Certificate::new("000.cor1", d, facts, claims)
    };
    let torn = d(-2.0 - 1e-12);
    assert!(!exact_answer(&torn, 4).unwrap().existence);
    for last in [
        Fact::NoBias(Kind::Unilateral),
        Fact::PositiveDefinite(MatrixOf::Delassus(Kind::Unilateral)),
        Fact::Admissible(false),
        Fact::Admissible(true),
    ] {
        assert!(!sealed(&torn, last).verify());
    }
    assert!(sealed(&d(-2.0), Fact::Admissible(true)).verify());
    assert!(!sealed(&d(-2.0), Fact::NoBias(Kind::Unilateral)).verify());
}
