//! Billiards: discs in a box, against an event simulation of their own in closed form.

use std::fmt::Write as _;

use delassus::event_driven::{Ending, EventKind, EventOptions, Trajectory, run_events};
use delassus::file::read_system;

const RADIUS: f64 = 0.1;

/// Numbers in [0, 1) from a seed (a linear congruential generator is enough here).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Discs in the box [0, width]² that do not overlap: positions and velocities.
fn discs(n: usize, width: f64, seed: u64) -> (Vec<[f64; 2]>, Vec<[f64; 2]>) {
    let mut random = Random(seed);
    let mut q: Vec<[f64; 2]> = vec![];
    while q.len() < n {
        let p = [(); 2].map(|()| RADIUS + (width - 2.0 * RADIUS) * random.next());
        if q.iter().all(|o| (o[0] - p[0]).hypot(o[1] - p[1]) > 2.05 * RADIUS) {
            q.push(p);
        }
    }
    let v = (0..n).map(|_| [(); 2].map(|()| 2.0 * random.next() - 1.0)).collect();
    (q, v)
}

fn scene(q: &[[f64; 2]], v: &[[f64; 2]], width: f64) -> String {
    let n = q.len();
    let names: Vec<String> = (0..n).flat_map(|i| [format!("x{i}"), format!("y{i}")]).collect();
    let quoted: Vec<String> = names.iter().map(|c| format!("\"{c}\"")).collect();
    let squares: Vec<String> = names.iter().map(|c| format!("{c}'^2")).collect();
    let mut text = format!(
        "[system]\ncoordinates = [{}]\n[energy]\nkinetic = \"({})/2\"\n",
        quoted.join(", "),
        squares.join(" + ")
    );
    let mut contact = |name: String, gap: String| {
        let _ = write!(text, "[[contact]]\nname = \"{name}\"\ngap = \"{gap}\"\nrestitution = 1.0\n");
    };
    for c in &names {
        contact(format!("{c} low"), format!("{c} - {RADIUS}"));
        contact(format!("{c} high"), format!("{} - {c}", width - RADIUS));
    }
    for i in 0..n {
        for j in i + 1..n {
            let gap = format!("sqrt((x{i} - x{j})^2 + (y{i} - y{j})^2) - {}", 2.0 * RADIUS);
            contact(format!("{i} {j}"), gap);
        }
    }
    for (title, values) in [("position", q), ("velocity", v)] {
        let _ = writeln!(text, "[state.{title}]");
        for (i, [x, y]) in values.iter().enumerate() {
            let _ = write!(text, "x{i} = {x:?}\ny{i} = {y:?}\n");
        }
    }
    text
}

/// The same in closed form: the next wall or pair, again and again.
fn exact(mut q: Vec<[f64; 2]>, mut v: Vec<[f64; 2]>, width: f64, t_end: f64) -> (usize, Vec<f64>, f64) {
    let n = q.len();
    let (mut t, mut count, mut closest) = (0.0, 0, f64::INFINITY);
    loop {
        let (mut first, mut what) = (t_end - t, None);
        for i in 0..n {
            for k in 0..2 {
                let wall = if v[i][k] > 0.0 { width - RADIUS } else { RADIUS };
                let dt = (wall - q[i][k]) / v[i][k];
                if dt >= 0.0 && dt < first {
                    (first, what) = (dt, Some((i, usize::MAX, k)));
                }
            }
            for j in i + 1..n {
                let d = [q[i][0] - q[j][0], q[i][1] - q[j][1]];
                let w = [v[i][0] - v[j][0], v[i][1] - v[j][1]];
                let (b, ww) = (d[0] * w[0] + d[1] * w[1], w[0] * w[0] + w[1] * w[1]);
                let c = d[0] * d[0] + d[1] * d[1] - 4.0 * RADIUS * RADIUS;
                let root = b * b - ww * c;
                // How near a miss was, so that near misses are not held against anyone.
                closest = closest.min(if b < 0.0 { root.abs() } else { f64::INFINITY });
                if b < 0.0 && root > 0.0 {
                    let dt = c / (root.sqrt() - b);
                    if dt >= 0.0 && dt < first {
                        (first, what) = (dt, Some((i, j, 0)));
                    }
                }
            }
        }
        for i in 0..n {
            for k in 0..2 {
                q[i][k] += first * v[i][k];
            }
        }
        t += first;
        match what {
            None => return (count, q.into_iter().flatten().collect(), closest),
            Some((i, usize::MAX, k)) => v[i][k] = -v[i][k],
            Some((i, j, _)) => {
                let d = [q[i][0] - q[j][0], q[i][1] - q[j][1]];
                let size = d[0].hypot(d[1]);
                let e = [d[0] / size, d[1] / size];
                let u = (v[i][0] - v[j][0]) * e[0] + (v[i][1] - v[j][1]) * e[1];
                for k in 0..2 {
                    v[i][k] -= u * e[k];
                    v[j][k] += u * e[k];
                }
            }
        }
        count += 1;
    }
}

fn impacts(run: &Trajectory) -> usize {
    run.events.iter().filter(|e| e.kind == EventKind::Impact).count()
}

/// No impact is missed: as many as the closed form counts, and the same end. Discs are convex, so that errors grow by a
/// factor at every impact of two of them; ten impacts leave more than enough digits.
#[test]
fn random_billiards_miss_no_impact() {
    let mut seen = 0;
    for seed in 0..150 {
        let n = 2 + seed as usize % 3;
        let (q, v) = discs(n, 1.0, 7919 * seed + 1);
        let (count, end, closest) = exact(q.clone(), v.clone(), 1.0, 2.0);
        if closest < 1e-9 {
            continue;
        }
        let text = scene(&q, &v, 1.0);
        let file = read_system(&text, &[]).unwrap();
        let options = EventOptions { t_end: 2.0, ..Default::default() };
        let run = run_events(&file.system, &file.state, &options).unwrap();
        assert_eq!(run.ending, Ending::Done, "seed {seed}");
        assert_eq!(impacts(&run), count, "seed {seed}");
        for (a, b) in run.state.q.iter().zip(&end) {
            assert!((a - b).abs() < 1e-6, "seed {seed}: {a} for {b}");
        }
        seen += count;
    }
    assert!(seen > 500, "{seen}");
}

/// Ten discs; in a release build `cargo test --release -- --ignored` runs the 10⁵ events.
fn ten_discs(events: usize) -> (Trajectory, f64) {
    let (q, v) = discs(10, 2.0, 42);
    let text = scene(&q, &v, 2.0);
    let file = read_system(&text, &[]).unwrap();
    let options = EventOptions { t_end: 1e6, max_events: events, ..Default::default() };
    let clock = std::time::Instant::now();
    let run = run_events(&file.system, &file.state, &options).unwrap();
    (run, clock.elapsed().as_secs_f64())
}

#[test]
fn ten_discs_keep_their_energy() {
    let (run, _) = ten_discs(1000);
    assert_eq!(run.ending, Ending::TooManyEvents { events: 1000 });
    assert!((run.energy[1] / run.energy[0] - 1.0).abs() < 1e-12, "{:?}", run.energy);
    let gap = |i: usize, j: usize| {
        let q = &run.state.q;
        (q[2 * i] - q[2 * j]).hypot(q[2 * i + 1] - q[2 * j + 1]) - 2.0 * RADIUS
    };
    assert!((0..10).all(|i| (0..i).all(|j| gap(i, j) > -1e-9)));
}

#[test]
#[ignore = "20 s are asked of the release build: cargo test --release -p delassus --test main a_hundred_thousand -- --ignored"]
fn a_hundred_thousand_events() {
    let (run, seconds) = ten_discs(100_000);
    println!(
        "{} events in {seconds:.2} s, energy {:e}",
        run.events.len(),
        run.energy[1] / run.energy[0] - 1.0
    );
    assert!(seconds < 20.0, "{seconds}");
}
