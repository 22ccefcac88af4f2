//! Scenes on which engines are compared, in the format of `bench/peer`, each with its error.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::linkages::{bennett, chain, four_bar, four_bars};
use crate::random::Congruential;

/// A scene, and what of its motion is an error, m.
pub struct Scene {
    pub name: &'static str,
    pub json: Value,
    pub error: fn(&Value, &Track) -> f64,
}

/// All bodies at all samples: positions, orientations (w x y z), velocities and angular velocities (world
/// axes).
pub struct Track {
    pub position: Vec<Vec<[f64; 3]>>,
    orientation: Vec<Vec<[f64; 4]>>,
    velocity: Vec<Vec<[f64; 3]>>,
    angular_velocity: Vec<Vec<[f64; 3]>>,
}

impl Track {
    /// Reads what an engine has written.
    pub fn read(out: &Value) -> Result<Track, String> {
        Ok(Track {
            position: samples(out, "pos")?,
            orientation: samples(out, "quat")?,
            velocity: samples(out, "vel")?,
            angular_velocity: samples(out, "omega")?,
        })
    }
}

fn samples<const N: usize>(out: &Value, key: &str) -> Result<Vec<Vec<[f64; N]>>, String> {
    let numbers = |p: &Value| -> Option<[f64; N]> {
        let mut all = [0.0; N];
        for (k, x) in all.iter_mut().enumerate() {
            *x = p[k].as_f64()?;
        }
        Some(all)
    };
    let sample = |s: &Value| s.as_array()?.iter().map(numbers).collect::<Option<Vec<_>>>();
    let all = out[key].as_array().and_then(|all| all.iter().map(sample).collect::<Option<Vec<_>>>());
    all.filter(|all| !all.is_empty()).ok_or_else(|| format!("`{key}` is missing or not finite"))
}

/// Radius of the balls, m.
const RADIUS: f64 = 0.05;
/// How long an engine may take for many balls, s: some take a tenth of a second a step.
const PILE_WALL_CAP: f64 = 300.0;
/// Half the edge of the cubes, m.
const HALF: f64 = 0.1;
const GRAVITY: f64 = 9.81;
/// Friction and speed of the block that slides and of the ball that begins to roll.
const SLIDE: [f64; 2] = [0.3, 3.0];
const ROLL: [f64; 2] = [0.2, 2.0];

/// The scenes of the table. `seconds` is how long balls fall, `settled` where they came to rest, where that
/// is known.
pub fn all(root: &Path, seconds: f64, settled: Option<&[[f64; 3]]>) -> Vec<Scene> {
    let scene = |name, json, error| Scene { name, json, error };
    let mut falling = falling_balls(1000, 5e-3);
    (falling["t_end"], falling["wall_cap"]) = (json!(seconds), json!(PILE_WALL_CAP));
    let mut all = vec![
        scene("incline", incline(), moved),
        scene("slide", slide(), stop_error),
        scene("roll", roll(), roll_error),
        scene("stack 10 1:1", at_rest(stack(10, 1.0)), moved),
        scene("stack 10 1:1000", at_rest(stack(10, 1000.0)), moved),
        scene("stack 20 1:1", at_rest(stack(20, 1.0)), moved),
        scene("stack 20 1:1000", at_rest(stack(20, 1000.0)), moved),
        scene("wall 39", at_rest(wall(6, 6)), moved),
        scene("pyramid 55", at_rest(pyramid(10)), moved),
        scene("four-bar", four_bar(), opening),
        scene("Bennett", bennett(), opening),
        scene("four-bars 2", four_bars(2), opening),
        scene("four-bars 10", four_bars(10), opening),
        scene("four-bars 40", four_bars(40), opening),
        scene("chain 20", chain(), opening),
        scene("ragdoll", ragdoll(root), no_error),
        scene("balls 1000", falling, overlap),
    ];
    if let Some(places) = settled {
        all.push(scene("settled 1000", settled_balls(places, 1), overlap));
        all.push(scene("settled 5000", settled_balls(places, 5), overlap));
    }
    all
}

/// Bodies without joints for so many seconds.
pub fn base(bodies: Vec<Value>, mu: f64, t_end: f64, planes: Vec<Value>) -> Value {
    json!({
        "name": "", "gravity": [0.0, 0.0, -GRAVITY], "dt": 1e-3, "t_end": t_end, "sample": 50, "mu": mu, "rest": 0.0,
        "planes": planes, "bodies": bodies, "joints": [], "wall_cap": 20.0, "breaking": 0.005,
    })
}

/// The same with joints and another gravity.
pub fn with_joints(mut scene: Value, joints: Vec<Value>, gravity: [f64; 3]) -> Value {
    scene["joints"] = json!(joints);
    scene["gravity"] = json!(gravity);
    scene
}

pub fn plane(point: [f64; 3], normal: [f64; 3]) -> Value {
    json!({"point": point, "normal": normal})
}

/// A body at rest with one shape at its centre of mass, or none.
pub fn body(mass: f64, inertia: [f64; 3], position: [f64; 3], shape: Option<(&str, &[f64])>) -> Value {
    let (unit, zero) = ([1.0, 0.0, 0.0, 0.0], [0.0; 3]);
    let geom = |(kind, size): (&str, &[f64])| json!({"type": kind, "size": size, "pos": zero, "quat": unit});
    json!({
        "mass": mass, "inertia": inertia, "pos": position, "quat": unit, "vel": zero, "omega": zero,
        "geoms": shape.map(geom).into_iter().collect::<Vec<_>>(),
    })
}

fn block(mass: f64, [x, y, z]: [f64; 3], position: [f64; 3]) -> Value {
    let inertia = [y * y + z * z, x * x + z * z, x * x + y * y].map(|square| mass / 3.0 * square);
    body(mass, inertia, position, Some(("box", &[x, y, z])))
}

fn floor() -> Vec<Value> {
    vec![plane([0.0; 3], [0.0, 0.0, 1.0])]
}

/// What should not move, for two seconds.
fn at_rest(bodies: Vec<Value>) -> Value {
    base(bodies, 0.5, 2.0, floor())
}

/// A block on a slope of 0.99 times the angle of friction: it sticks.
fn incline() -> Value {
    let (sin, cos) = (0.99 * 0.5_f64).atan().sin_cos();
    let mut scene = base(vec![block(1.0, [0.1, 0.1, 0.05], [0.0, 0.0, 0.05])], 0.5, 4.0, floor());
    scene["gravity"] = json!([GRAVITY * sin, 0.0, -GRAVITY * cos]);
    scene
}

/// A block that slides to its stop.
fn slide() -> Value {
    let mut scene = base(vec![block(1.0, [0.1, 0.1, 0.05], [0.0, 0.0, 0.05])], SLIDE[0], 3.0, floor());
    scene["bodies"][0]["vel"] = json!([SLIDE[1], 0.0, 0.0]);
    scene
}

/// How far the block is in the end from v²/(2 μ g).
fn stop_error(_: &Value, track: &Track) -> f64 {
    let [mu, speed] = SLIDE;
    (track.position[track.position.len() - 1][0][0] - speed * speed / (2.0 * mu * GRAVITY)).abs()
}

/// A ball that slides and then rolls.
fn roll() -> Value {
    let ball = body(1.0, [0.4 * HALF * HALF; 3], [0.0, 0.0, HALF], Some(("sphere", &[HALF])));
    let mut scene = base(vec![ball], ROLL[0], 3.0, floor());
    scene["bodies"][0]["vel"] = json!([ROLL[1], 0.0, 0.0]);
    scene
}

/// How far the ball is in the end from where it should be: it slides for 2 v/(7 μ g), and rolls with 5/7 v.
fn roll_error(scene: &Value, track: &Track) -> f64 {
    let [mu, speed] = ROLL;
    let t_end = scene["t_end"].as_f64().unwrap_or(0.0);
    let slides = 2.0 * speed / (7.0 * mu * GRAVITY);
    let exact = speed * slides - 0.5 * mu * GRAVITY * slides * slides + 5.0 / 7.0 * speed * (t_end - slides);
    (track.position[track.position.len() - 1][0][0] - exact).abs()
}

/// The figure of `scenes/ragdoll.xml`.
fn ragdoll(root: &Path) -> Value {
    let model = root.join("scenes/ragdoll.xml");
    json!({"model": model, "dt": 1e-3, "t_end": 3.0, "sample": 50, "wall_cap": 60.0})
}

/// There is no motion to compare with, and joints cannot open.
fn no_error(_: &Value, _: &Track) -> f64 {
    f64::NAN
}

/// Cubes of 1 kg on top of each other, the uppermost of another mass.
fn stack(count: usize, last: f64) -> Vec<Value> {
    let mass = |k: usize| if k + 1 == count { last } else { 1.0 };
    (0..count).map(|k| block(mass(k), [HALF; 3], [0.0, 0.0, HALF * (2 * k + 1) as f64])).collect()
}

/// Bricks in running bond, with half ones at the ends of every second row.
fn wall(rows: usize, bricks: usize) -> Vec<Value> {
    let [x, y, z] = [0.1, 0.05, 0.03];
    let mut all = vec![];
    for row in 0..rows {
        let length = 2.0 * x * bricks as f64;
        let cells: Vec<(f64, f64)> = if row % 2 == 0 {
            (0..bricks).map(|i| (2.0 * x * (i as f64 + 0.5), x)).collect()
        } else {
            let whole = (1..bricks).map(|i| (2.0 * x * i as f64, x));
            whole.chain([(0.5 * x, 0.5 * x), (length - 0.5 * x, 0.5 * x)]).collect()
        };
        for (at, half) in cells {
            let half = [half - 1e-4, y, z];
            let mass = 1800.0 * 8.0 * half.iter().product::<f64>();
            all.push(block(mass, half, [at, 0.0, z * (2 * row + 1) as f64]));
        }
    }
    all
}

fn pyramid(rows: usize) -> Vec<Value> {
    let at =
        |row: usize, i: usize| [2.1 * HALF * (i as f64 + 0.5 * row as f64), 0.0, HALF * (2 * row + 1) as f64];
    (0..rows).flat_map(|row| (0..rows - row).map(move |i| block(1.0, [HALF; 3], at(row, i)))).collect()
}

/// Balls in a box, on a loose lattice with gaps of this size, that begin to fall.
pub fn falling_balls(count: usize, gap: f64) -> Value {
    let wide = (1..).find(|n| n * n * n >= count).unwrap_or(1);
    let pitch = 2.0 * RADIUS + gap;
    let width = pitch * wide as f64;
    let mut stream = Congruential(1);
    let mut random = || 0.8 * gap * stream.centred();
    let balls = (0..count).map(|k| {
        let [i, j, l] = [k % wide, k / wide % wide, k / (wide * wide)].map(|n| (n as f64 + 0.5) * pitch);
        let position = [i - 0.5 * width + random(), j - 0.5 * width + random(), l + random()];
        ball(position)
    });
    base(balls.collect(), 0.3, 1.0, walls([0.5 * width; 2]))
}

/// Copies of these balls side by side, at rest.
fn settled_balls(places: &[[f64; 3]], copies: usize) -> Value {
    let half = places.iter().fold(0.0_f64, |m, p| m.max(p[0].abs()).max(p[1].abs())) + RADIUS;
    let first = half * (1.0 - copies as f64);
    let shifted = (0..copies).map(|k| first + 2.0 * half * k as f64);
    let balls = shifted.flat_map(|x| places.iter().map(move |p| ball([p[0] + x, p[1], p[2]])));
    let mut scene = base(balls.collect(), 0.3, 0.3, walls([half * copies as f64, half]));
    (scene["sample"], scene["wall_cap"]) = (json!(5), json!(PILE_WALL_CAP));
    scene
}

fn ball(position: [f64; 3]) -> Value {
    let mass = 1000.0 * 4.0 / 3.0 * std::f64::consts::PI * RADIUS.powi(3);
    body(mass, [0.4 * mass * RADIUS * RADIUS; 3], position, Some(("sphere", &[RADIUS])))
}

/// A floor and four walls, so far from the middle along x and y.
fn walls([x, y]: [f64; 2]) -> Vec<Value> {
    let walls =
        [([-x, 0.0], [1.0, 0.0]), ([x, 0.0], [-1.0, 0.0]), ([0.0, -y], [0.0, 1.0]), ([0.0, y], [0.0, -1.0])];
    let upright = walls.map(|([px, py], [nx, ny])| plane([px, py, 0.0], [nx, ny, 0.0]));
    floor().into_iter().chain(upright).collect()
}

fn distance(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
}

/// How far a body is from where it began, at most.
fn moved(_: &Value, track: &Track) -> f64 {
    let samples = &track.position;
    let away =
        |now: &Vec<[f64; 3]>| now.iter().zip(&samples[0]).map(|(a, b)| distance(a, b)).fold(0.0, f64::max);
    samples.iter().map(away).fold(0.0, f64::max)
}

/// How deep balls are in each other or in a plane, at most.
fn overlap(scene: &Value, track: &Track) -> f64 {
    let vector = |v: &Value| -> [f64; 3] { std::array::from_fn(|k| v[k].as_f64().unwrap_or(0.0)) };
    let planes: Vec<_> = scene["planes"].as_array().into_iter().flatten().collect();
    let cell = |p: &[f64; 3]| p.map(|x| (x / (2.0 * RADIUS)).floor() as i64);
    let mut deepest = 0.0_f64;
    for balls in &track.position {
        let mut cells: BTreeMap<[i64; 3], Vec<usize>> = BTreeMap::new();
        for (k, p) in balls.iter().enumerate() {
            cells.entry(cell(p)).or_default().push(k);
            for plane in &planes {
                let (point, normal) = (vector(&plane["point"]), vector(&plane["normal"]));
                let height: f64 = (0..3).map(|c| normal[c] * (p[c] - point[c])).sum();
                deepest = deepest.max(RADIUS - height);
            }
        }
        for (k, p) in balls.iter().enumerate() {
            let at = cell(p);
            for step in 0..27 {
                let near = [at[0] + step / 9 - 1, at[1] + step / 3 % 3 - 1, at[2] + step % 3 - 1];
                let others = cells.get(&near).into_iter().flatten().filter(|&&other| other > k);
                deepest = others.fold(deepest, |d, &o| d.max(2.0 * RADIUS - distance(p, &balls[o])));
            }
        }
    }
    deepest
}

/// How far joints are open, at most.
pub fn opening(scene: &Value, track: &Track) -> f64 {
    let vector = |v: &Value| -> [f64; 3] { std::array::from_fn(|k| v[k].as_f64().unwrap_or(0.0)) };
    let mut widest = 0.0_f64;
    for joint in scene["joints"].as_array().into_iter().flatten() {
        let point = vector(&joint["point"]);
        // The point of the joint on a body; on the ground where there is no such body.
        let end = |key: &str, sample: usize| {
            let Some(b) = joint[key].as_u64().map(|b| b as usize) else { return point };
            let start = vector(&scene["bodies"][b]["pos"]);
            let arm = std::array::from_fn(|k| point[k] - start[k]);
            let turned = rotated(track.orientation[sample][b], arm);
            std::array::from_fn(|k| track.position[sample][b][k] + turned[k])
        };
        for sample in 0..track.position.len() {
            widest = widest.max(distance(&end("a", sample), &end("b", sample)));
        }
    }
    widest
}

/// What a body with this orientation makes of a vector.
fn rotated([w, x, y, z]: [f64; 4], v: [f64; 3]) -> [f64; 3] {
    let cross = |a: [f64; 3], b: [f64; 3]| {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    };
    let t = cross([x, y, z], v).map(|x| 2.0 * x);
    let u = cross([x, y, z], t);
    std::array::from_fn(|k| v[k] + w * t[k] + u[k])
}

/// The change of energy in parts of the largest kinetic energy, at most; bodies of equal moments of inertia.
pub fn energy_drift(scene: &Value, track: &Track) -> Option<f64> {
    let bodies = scene["bodies"].as_array()?;
    let frictionless = scene["planes"].as_array().is_some_and(Vec::is_empty);
    if !frictionless || bodies.is_empty() {
        return None;
    }
    let (mut first, mut largest, mut drift) = (None, 0.0_f64, 0.0_f64);
    for sample in 0..track.position.len() {
        let (mut kinetic, mut potential) = (0.0, 0.0);
        for (b, body) in bodies.iter().enumerate() {
            let (mass, inertia) = (body["mass"].as_f64()?, body["inertia"][0].as_f64()?);
            let square = |v: &[f64; 3]| v.iter().map(|x| x * x).sum::<f64>();
            kinetic += 0.5 * mass * square(&track.velocity[sample][b]);
            kinetic += 0.5 * inertia * square(&track.angular_velocity[sample][b]);
            let down = |k: usize| scene["gravity"][k].as_f64().unwrap_or(0.0);
            potential -= (0..3).map(|k| mass * down(k) * track.position[sample][b][k]).sum::<f64>();
        }
        let start: f64 = *first.get_or_insert(kinetic + potential);
        largest = largest.max(kinetic);
        drift = drift.max((kinetic + potential - start).abs());
    }
    (largest > 0.0).then(|| drift / largest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn track(position: Vec<Vec<[f64; 3]>>) -> Track {
        Track { position, orientation: vec![], velocity: vec![], angular_velocity: vec![] }
    }

    #[test]
    fn bodies_are_as_many_as_the_names_say() {
        let count = |scene: &Scene| scene.json["bodies"].as_array().map_or(0, Vec::len);
        let places = [[0.0, 0.0, RADIUS], [0.1, 0.0, RADIUS]];
        let counts: Vec<usize> = all(Path::new(""), 1.0, Some(&places)).iter().map(count).collect();
        assert_eq!(counts, [1, 1, 1, 10, 10, 20, 20, 39, 55, 3, 3, 5, 21, 81, 20, 0, 1000, 2, 10]);
    }

    #[test]
    fn errors_are_those_of_the_positions() {
        let scene = falling_balls(2, 5e-3);
        let apart = vec![[0.0, 0.0, 1.0], [0.0, 0.0, 1.2]];
        let deep = vec![[0.0, 0.0, 1.0], [0.0, 0.0, 1.09]];
        assert_eq!(overlap(&scene, &track(vec![apart.clone()])), 0.0);
        assert!((overlap(&scene, &track(vec![apart.clone(), deep.clone()])) - 0.01).abs() < 1e-15);
        let below = vec![[0.0, 0.0, 0.03], [0.0, 0.0, 1.2]];
        assert!((overlap(&scene, &track(vec![below])) - 0.02).abs() < 1e-15);
        assert!((moved(&scene, &track(vec![apart, deep])) - 0.11).abs() < 1e-15);
    }

    #[test]
    fn balls_begin_apart() {
        let places = [[0.0, 0.0, RADIUS], [0.11, 0.05, RADIUS]];
        for scene in [falling_balls(64, 1e-4), settled_balls(&places, 5)] {
            let place = |b: &Value| std::array::from_fn(|k| b["pos"][k].as_f64().unwrap());
            let start: Vec<[f64; 3]> = scene["bodies"].as_array().unwrap().iter().map(place).collect();
            assert!(overlap(&scene, &track(vec![start])) < 1e-15);
        }
    }

    #[test]
    fn a_swinging_bar_keeps_its_energy_and_a_turned_arm_its_length() {
        let scene = four_bar();
        let still = |z: f64, speed: f64| {
            let bodies = 3;
            (vec![[0.0, 0.0, z]; bodies], vec![[1.0, 0.0, 0.0, 0.0]; bodies], vec![[speed, 0.0, 0.0]; bodies])
        };
        let ((p, q, v), (r, s, w)) = (still(1.0, 0.0), still(0.0, (2.0 * GRAVITY).sqrt()));
        let none = vec![[0.0; 3]; 3];
        let falls = Track {
            position: vec![p, r],
            orientation: vec![q, s],
            velocity: vec![v, w],
            angular_velocity: vec![none.clone(), none],
        };
        assert!(energy_drift(&scene, &falls).unwrap() < 1e-15);
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let turned = rotated([half, 0.0, 0.0, half], [1.0, 2.0, 3.0]);
        assert!(distance(&turned, &[-2.0, 1.0, 3.0]) < 1e-15);
    }
}
