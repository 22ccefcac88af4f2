//! `map`, `analyze` and `safe` as a user types them, against the exact checker of the tests of
//! `delassus-solve`: no verdict may be wrong.
//!
//! Systems with linear constraints and small integers in which a parameter p stands in one or two places, at
//! values on a tie, beside it by a hair, and far from it. `DELASSUS_SEED` starts elsewhere,
//! `DELASSUS_RANDOM` gives another number of systems:
//!
//! ```sh
//! DELASSUS_RANDOM=3000 cargo test --release -p delassus-cli --test main exact:: -- --nocapture
//! ```

use std::sync::atomic::{AtomicU64, Ordering};

use delassus_solve::linalg::Matrix;
use delassus_solve::problem::{Dynamics, Law, Slip};

use crate::random::Random;
use crate::{Temporary, checker, json};

const QUESTIONS: [&str; 3] = ["existence", "acceleration_unique", "forces_unique"];
const COORDINATES: [&str; 3] = ["x", "y", "z"];

/// A number, or the parameter.
#[derive(Clone, Copy, Debug)]
enum Entry {
    Number(f64),
    Parameter,
}

impl Entry {
    fn at(self, p: f64) -> f64 {
        match self {
            Entry::Number(x) => x,
            Entry::Parameter => p,
        }
    }

    fn text(self) -> String {
        match self {
            Entry::Number(x) => format!("({x:?})"),
            Entry::Parameter => "p".into(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Joint,
    Smooth,
    AtRest,
    /// With this velocity.
    Slides(f64),
}

/// A constraint: its rows, what they have of an acceleration already, and its friction.
#[derive(Clone, Debug)]
struct Constraint {
    kind: Kind,
    rows: Vec<(Vec<Entry>, Entry)>,
    mu: Entry,
}

#[derive(Clone, Debug)]
struct Case {
    mass: Vec<f64>,
    force: Vec<Entry>,
    constraints: Vec<Constraint>,
}

impl Case {
    /// A system of these kinds of constraints, joints first.
    fn random(r: &mut Random, kinds: &[Kind]) -> Self {
        let n = 1 + r.below(3);
        let numbers = |r: &mut Random, n: usize| r.entries(n).into_iter().map(Entry::Number).collect();
        let constraint = |r: &mut Random| {
            let kind = r.pick(kinds);
            let rows = if matches!(kind, Kind::Joint | Kind::Smooth) { 1 } else { 2 };
            let row = |r: &mut Random| {
                let bias = if r.one_in(2) { 0.0 } else { r.entry() };
                (numbers(r, n), Entry::Number(bias))
            };
            let rows = (0..rows).map(|_| row(r)).collect();
            Constraint { kind, rows, mu: Entry::Number(r.pick(&[0.5, 1.0, 1.0, 2.0])) }
        };
        let mut constraints: Vec<Constraint> = (0..1 + r.below(3)).map(|_| constraint(r)).collect();
        constraints.sort_by_key(|c| c.kind != Kind::Joint);
        let mass = (0..n).map(|_| r.pick(&[1.0, 1.0, 2.0])).collect();
        let mut case = Case { mass, force: numbers(r, n), constraints };
        for _ in 0..1 + r.below(2) {
            let (i, k) = (r.below(n), r.below(case.constraints.len()));
            let at = &mut case.constraints[k];
            let row = r.below(at.rows.len());
            match r.below(4) {
                0 => case.force[i] = Entry::Parameter,
                1 => at.rows[row].0[i] = Entry::Parameter,
                2 => at.rows[row].1 = Entry::Parameter,
                _ => at.mu = Entry::Parameter,
            }
        }
        case
    }

    fn truth(&self, p: f64) -> checker::Answer {
        let law = |c: &Constraint| match c.kind {
            Kind::Joint => Law::Bilateral,
            Kind::Smooth => Law::Unilateral,
            Kind::AtRest => Law::CoulombPlane { mu: c.mu.at(p) },
            Kind::Slides(v) => Law::Sliding { mu: c.mu.at(p), slip: Slip::Plane(v.signum()) },
        };
        let rows: Vec<&(Vec<Entry>, Entry)> = self.constraints.iter().flat_map(|c| &c.rows).collect();
        let jacobian = Matrix::from_fn(rows.len(), self.mass.len(), |i, j| rows[i].0[j].at(p));
        let bias = rows.iter().map(|(_, bias)| bias.at(p)).collect();
        let force = self.force.iter().map(|x| x.at(p)).collect();
        let laws = self.constraints.iter().map(law).collect();
        let dynamics = Dynamics::new(Matrix::diagonal(&self.mass), force, jacobian, bias, laws);
        checker::of_dynamics(&dynamics.unwrap())
    }

    fn text(&self) -> String {
        let names = &COORDINATES[..self.mass.len()];
        let sum = |entries: &[Entry]| {
            let terms = entries.iter().zip(names).map(|(c, x)| format!("{}*{x}", c.text()));
            terms.collect::<Vec<_>>().join(" + ")
        };
        let energies = self.mass.iter().zip(names).map(|(m, x)| format!("{m:?}*{x}'^2/2"));
        let mut text = format!(
            "[system]\ncoordinates = {names:?}\n[parameters]\np = 1\n[energy]\nkinetic = \"{}\"\n\
             potential = \"{}\"\n",
            energies.collect::<Vec<_>>().join(" + "),
            sum(&self.force)
        );
        for (k, c) in self.constraints.iter().enumerate() {
            let row = |i: usize| format!("{} + {}*t^2/2", sum(&c.rows[i].0), c.rows[i].1.text());
            let (table, key) = if c.kind == Kind::Joint { ("joint", "value") } else { ("contact", "gap") };
            text += &format!("[[{table}]]\nname = \"c{k}\"\n{key} = \"{}\"\n", row(0));
            if c.rows.len() > 1 {
                let speed = if let Kind::Slides(v) = c.kind { v } else { 0.0 };
                text += &format!("slip = [\"{} + ({speed:?})*t\"]\nmu = \"{}\"\n", row(1), c.mu.text());
            }
        }
        text
    }
}

fn from_environment(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|x| x.parse().ok()).unwrap_or(default)
}

/// Does something with as many systems on all threads, each with random numbers of its own.
fn for_systems(kind: u64, count: u64, of: impl Fn(Random) + Sync) {
    let seed = from_environment("DELASSUS_SEED", 14) ^ kind << 32;
    let count = from_environment("DELASSUS_RANDOM", count);
    let next = AtomicU64::new(0);
    let numbers = || std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)).filter(|k| *k < count));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| numbers().for_each(|k| of(Random(seed.wrapping_add(k << 20)))));
        }
    });
}

/// A verdict in words contradicts an answer.
fn is_wrong(word: &str, truth: bool) -> bool {
    assert!(["proved", "refuted", "unknown"].contains(&word), "{word}");
    word != "unknown" && (word == "proved") != truth
}

#[test]
fn map_and_analyze_say_nothing_wrong() {
    let kinds =
        [Kind::Joint, Kind::Smooth, Kind::AtRest, Kind::AtRest, Kind::Slides(1.0), Kind::Slides(-1.0)];
    let (asked, unknown) = (AtomicU64::new(0), AtomicU64::new(0));
    for_systems(1, 40, |mut r| {
        let case = Case::random(&mut r, &kinds);
        // A tie, and both sides of it; the decimal numbers of `map` lie on the same side as the doubles.
        let tie = r.pick(&[0.5, 1.0, 2.0]);
        let hair = 2f64.powi(-20 - r.below(27) as i32);
        let step = r.pick(&[0.25, hair]);
        let values = [tie - step, tie, tie + step];
        let truth = values.map(|p| case.truth(p));
        let file = Temporary::new("case.toml", case.text().as_bytes());
        let range = format!("p={:?}:{:?}:3", values[0], values[2]);
        for (k, question) in QUESTIONS.into_iter().enumerate() {
            let (_, map) = json(&["map", file.path(), "--x", &range, "--show", question, "--json"]);
            for (i, p) in values.into_iter().enumerate() {
                let word = map["values"][0][i].as_str().unwrap();
                asked.fetch_add(1, Ordering::Relaxed);
                unknown.fetch_add(u64::from(word == "unknown"), Ordering::Relaxed);
                assert!(!is_wrong(word, truth[i][k]), "map {question} {word} at p = {p:?}\n{}", case.text());
            }
        }
        let at = r.below(3);
        let (_, found) = json(&["analyze", file.path(), "--set", &format!("p={:?}", values[at]), "--json"]);
        for (k, question) in QUESTIONS.into_iter().enumerate() {
            let (word, p) = (found[question].as_str().unwrap(), values[at]);
            assert!(!is_wrong(word, truth[at][k]), "analyze {question} {word} at p = {p:?}\n{}", case.text());
        }
    });
    println!("{} verdicts of map, {} unknown", asked.into_inner(), unknown.into_inner());
}

#[test]
fn safe_certifies_nothing_wrong() {
    let kinds = [Kind::Joint, Kind::Smooth, Kind::Slides(1.0), Kind::Slides(-1.0), Kind::Slides(1.0)];
    let (systems, certified) = (AtomicU64::new(0), AtomicU64::new(0));
    for_systems(2, 20, |mut r| {
        let case = Case::random(&mut r, &kinds);
        let file = Temporary::new("case.toml", case.text().as_bytes());
        let (_, safe) = json(&["safe", file.path(), "--over", "p", "--within", "0:3", "--json"]);
        systems.fetch_add(1, Ordering::Relaxed);
        if safe["certified"] != true {
            return;
        }
        certified.fetch_add(1, Ordering::Relaxed);
        let [lo, hi] = [0, 1].map(|i| safe["interval"][i].as_f64().unwrap());
        let ties = (0..=24).map(|i| f64::from(i) / 8.0).filter(|p| (lo..=hi).contains(p));
        let others: Vec<f64> = (0..4).map(|_| r.between(lo, hi)).collect();
        for p in ties.chain([lo, hi]).chain(others) {
            assert_eq!(case.truth(p), [true; 3], "p = {p:?} in [{lo:?}, {hi:?}]\n{}", case.text());
        }
    });
    let (systems, certified) = (systems.into_inner(), certified.into_inner());
    println!("safe: {certified} of {systems} systems have a certified interval");
    assert!(5 * certified > systems, "{certified} of {systems}: nothing was compared");
}
