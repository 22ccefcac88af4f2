//! Scenes on which engines are compared, in the format of `bench/peer`, each with its error.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// A scene, and what of the positions at all samples is an error, m.
pub struct Scene {
    pub name: &'static str,
    pub json: Value,
    pub error: fn(&Value, &[Vec<[f64; 3]>]) -> f64,
}

/// Radius of the balls, m.
const RADIUS: f64 = 0.05;
/// Half the edge of the cubes, m.
const HALF: f64 = 0.1;

/// The scenes of the table.
pub fn all() -> Vec<Scene> {
    let scene = |name, json, error| Scene { name, json, error };
    vec![
        scene("stack 10 1:1", at_rest(stack(10, 1.0)), moved),
        scene("stack 10 1:1000", at_rest(stack(10, 1000.0)), moved),
        scene("stack 20 1:1", at_rest(stack(20, 1.0)), moved),
        scene("stack 20 1:1000", at_rest(stack(20, 1000.0)), moved),
        scene("wall 39", at_rest(wall(6, 6)), moved),
        scene("pyramid 55", at_rest(pyramid(10)), moved),
        scene("balls 1000", falling_balls(1000, 5e-3), overlap),
    ]
}

fn base(bodies: Vec<Value>, mu: f64, t_end: f64, planes: Vec<Value>) -> Value {
    json!({
        "name": "", "gravity": [0.0, 0.0, -9.81], "dt": 1e-3, "t_end": t_end, "sample": 50, "mu": mu, "rest": 0.0,
        "planes": planes, "bodies": bodies, "joints": [], "wall_cap": 120.0, "breaking": 0.005,
    })
}

fn plane(point: [f64; 3], normal: [f64; 3]) -> Value {
    json!({"point": point, "normal": normal})
}

fn body(mass: f64, inertia: [f64; 3], position: [f64; 3], kind: &str, size: &[f64]) -> Value {
    let (unit, zero) = ([1.0, 0.0, 0.0, 0.0], [0.0; 3]);
    let geom = json!({"type": kind, "size": size, "pos": zero, "quat": unit});
    json!({
        "mass": mass, "inertia": inertia, "pos": position, "quat": unit, "vel": zero, "omega": zero,
        "geoms": [geom],
    })
}

fn block(mass: f64, [x, y, z]: [f64; 3], position: [f64; 3]) -> Value {
    let inertia = [y * y + z * z, x * x + z * z, x * x + y * y].map(|square| mass / 3.0 * square);
    body(mass, inertia, position, "box", &[x, y, z])
}

/// What should not move, for two seconds.
fn at_rest(bodies: Vec<Value>) -> Value {
    base(bodies, 0.5, 2.0, vec![plane([0.0; 3], [0.0, 0.0, 1.0])])
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
    let (pitch, mass) = (2.0 * RADIUS + gap, 1000.0 * 4.0 / 3.0 * std::f64::consts::PI * RADIUS.powi(3));
    let width = pitch * wide as f64;
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        0.8 * gap * ((state >> 11) as f64 / (1u64 << 53) as f64 - 0.5)
    };
    let balls = (0..count).map(|k| {
        let [i, j, l] = [k % wide, k / wide % wide, k / (wide * wide)].map(|n| (n as f64 + 0.5) * pitch);
        let position = [i - 0.5 * width + random(), j - 0.5 * width + random(), l + random()];
        body(mass, [0.4 * mass * RADIUS * RADIUS; 3], position, "sphere", &[RADIUS])
    });
    let half = 0.5 * width;
    let walls = [
        ([0.0; 3], [0.0, 0.0, 1.0]),
        ([-half, 0.0, 0.0], [1.0, 0.0, 0.0]),
        ([half, 0.0, 0.0], [-1.0, 0.0, 0.0]),
        ([0.0, -half, 0.0], [0.0, 1.0, 0.0]),
        ([0.0, half, 0.0], [0.0, -1.0, 0.0]),
    ];
    base(balls.collect(), 0.3, 1.0, walls.into_iter().map(|(p, n)| plane(p, n)).collect())
}

fn distance(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
}

/// How far a body is from where it began, at most.
fn moved(_: &Value, samples: &[Vec<[f64; 3]>]) -> f64 {
    let away =
        |now: &Vec<[f64; 3]>| now.iter().zip(&samples[0]).map(|(a, b)| distance(a, b)).fold(0.0, f64::max);
    samples.iter().map(away).fold(0.0, f64::max)
}

/// How deep balls are in each other or in a plane, at most.
fn overlap(scene: &Value, samples: &[Vec<[f64; 3]>]) -> f64 {
    let vector = |v: &Value| -> [f64; 3] { std::array::from_fn(|k| v[k].as_f64().unwrap_or(0.0)) };
    let planes: Vec<_> = scene["planes"].as_array().into_iter().flatten().collect();
    let cell = |p: &[f64; 3]| p.map(|x| (x / (2.0 * RADIUS)).floor() as i64);
    let mut deepest = 0.0_f64;
    for balls in samples {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_as_many_as_the_names_say() {
        let count = |scene: &Scene| scene.json["bodies"].as_array().map_or(0, Vec::len);
        let counts: Vec<usize> = all().iter().map(count).collect();
        assert_eq!(counts, [10, 10, 20, 20, 39, 55, 1000]);
    }

    #[test]
    fn errors_are_those_of_the_positions() {
        let scene = falling_balls(2, 5e-3);
        let apart = vec![[0.0, 0.0, 1.0], [0.0, 0.0, 1.2]];
        let deep = vec![[0.0, 0.0, 1.0], [0.0, 0.0, 1.09]];
        assert_eq!(overlap(&scene, std::slice::from_ref(&apart)), 0.0);
        assert!((overlap(&scene, &[apart.clone(), deep.clone()]) - 0.01).abs() < 1e-15);
        let below = vec![[0.0, 0.0, 0.03], [0.0, 0.0, 1.2]];
        assert!((overlap(&scene, &[below]) - 0.02).abs() < 1e-15);
        assert!((moved(&scene, &[apart, deep]) - 0.11).abs() < 1e-15);
    }

    #[test]
    fn balls_begin_apart() {
        let scene = falling_balls(64, 1e-4);
        let place = |b: &Value| std::array::from_fn(|k| b["pos"][k].as_f64().unwrap());
        let start: Vec<[f64; 3]> = scene["bodies"].as_array().unwrap().iter().map(place).collect();
        assert_eq!(overlap(&scene, &[start]), 0.0);
    }
}
