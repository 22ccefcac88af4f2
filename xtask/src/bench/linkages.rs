//! Bodies with joints in the format of `bench/peer`: loops of bars, rows of them, a chain.

use std::f64::consts::FRAC_PI_2;

use serde_json::{Value, json};

use super::scenes::{base, body, plane, with_joints};

type Vector = [f64; 3];

/// Gravity of a scene without a floor, m/s².
const DOWN: Vector = [0.0, 0.0, -9.81];

fn revolute(bodies: [i64; 2], point: Vector, axis: Vector) -> Value {
    json!({"type": "revolute", "a": bodies[0], "b": bodies[1], "point": point, "axis": axis})
}

/// A bar of 1 kg/m between two points, which touches nothing.
fn bar(from: Vector, to: Vector) -> Value {
    let length = (0..3).map(|k| (to[k] - from[k]).powi(2)).sum::<f64>().sqrt();
    let middle = std::array::from_fn(|k| 0.5 * (from[k] + to[k]));
    body(length, [length.powi(3) / 12.0; 3], middle, None)
}

/// Bars from joint to joint in a closed loop whose last link is the ground.
fn closed_loop(points: [Vector; 4], axes: [Vector; 4], gravity: Vector) -> Value {
    let bars = (0..3).map(|k| bar(points[k], points[k + 1])).collect();
    let between = [[-1, 0], [0, 1], [1, 2], [-1, 2]];
    let joints = (0..4).map(|k| revolute(between[k], points[k], axes[k])).collect();
    with_joints(base(bars, 0.5, 10.0, vec![]), joints, gravity)
}

/// A planar four-bar in space: ground 1 m, crank 0.4 m, coupler 0.9 m, rocker 0.7 m; three of its rows follow
/// from the others.
pub fn four_bar() -> Value {
    let [ground, crank, coupler, rocker] = [1.0, 0.4, 0.9, 0.7_f64];
    let (sin, cos) = 60_f64.to_radians().sin_cos();
    let (a, c) = ([crank * cos, 0.0, crank * sin], [ground, 0.0, 0.0]);
    // The coupler ends where circles about a and c meet.
    let away = (c[0] - a[0]).hypot(c[2] - a[2]);
    let along = (coupler * coupler - rocker * rocker + away * away) / (2.0 * away);
    let across = (coupler * coupler - along * along).sqrt();
    let (x, z) = ((c[0] - a[0]) / away, (c[2] - a[2]) / away);
    let b = [a[0] + along * x - across * z, 0.0, a[2] + along * z + across * x];
    closed_loop([[0.0; 3], a, b, c], [[0.0, 1.0, 0.0]; 4], DOWN)
}

/// Rotation about z by θ, then along x by a, then about x by α: a joint and its link.
fn link(theta: f64, a: f64, alpha: f64) -> [[f64; 4]; 3] {
    let ((s, c), (sa, ca)) = (theta.sin_cos(), alpha.sin_cos());
    [[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0.0, sa, ca, 0.0]]
}

fn compose(first: &[[f64; 4]; 3], second: &[[f64; 4]; 3]) -> [[f64; 4]; 3] {
    std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let moved: f64 = (0..3).map(|k| first[i][k] * second[k][j]).sum();
            moved + if j == 3 { first[i][3] } else { 0.0 }
        })
    })
}

/// Bennett's linkage: four hinges in space that move though they should not, since opposite links are equal
/// and a/sin α = b/sin β.
pub fn bennett() -> Value {
    let (a, b, alpha) = (1.0, 0.8, 50_f64.to_radians());
    let beta = (b / a * alpha.sin()).asin();
    let first = 70_f64.to_radians();
    let second =
        2.0 * ((0.5 * (beta + alpha)).sin() / (0.5 * (beta - alpha)).sin() / (0.5 * first).tan()).atan();
    // Which way the angles are counted follows from that the loop is closed.
    let signs = |k: usize| [0, 1, 2].map(|bit| if k >> bit & 1 == 0 { 1.0 } else { -1.0 });
    let frames = |[p, q, r]: [f64; 3]| {
        let one = link(first, a, alpha);
        let two = compose(&one, &link(p * second, b, beta));
        let three = compose(&two, &link(q * first, a, alpha));
        [one, two, three, compose(&three, &link(r * second, b, beta))]
    };
    let open = |frames: &[[[f64; 4]; 3]; 4]| -> f64 {
        let unit = |i: usize, j: usize| if i == j { 1.0 } else { 0.0 };
        (0..12).map(|k| (frames[3][k / 4][k % 4] - unit(k / 4, k % 4)).powi(2)).sum()
    };
    let all = (0..8).map(|k| frames(signs(k)));
    let closed = all.min_by(|x, y| open(x).total_cmp(&open(y))).unwrap_or_default();
    let [point, axis] = [3, 2].map(|column| {
        let of = |k: usize| closed[k].map(|row| row[column]);
        let start = if column == 3 { [0.0; 3] } else { [0.0, 0.0, 1.0] };
        [start, of(0), of(1), of(2)]
    });
    closed_loop(point, axis, [3.0, 2.0, -9.81])
}

/// N four-bars in a row (IFToMM A02): N + 1 cranks of 1 m on the floor, joined at their tops by N bars, which
/// begin to move by 1 m/s. All pass through the position in which cranks and bars are on one line.
pub fn four_bars(count: usize) -> Value {
    let (y, n) = ([0.0, 1.0, 0.0], count as i64);
    let (mut bars, mut joints) = (vec![], vec![]);
    for k in 0..=count {
        let [foot, top] = [0.0, 1.0].map(|z| [k as f64, 0.0, z]);
        let mut crank = bar(foot, top);
        crank["vel"] = json!([0.5, 0.0, 0.0]);
        crank["omega"] = json!([0.0, 1.0, 0.0]);
        bars.push(crank);
        joints.push(revolute([-1, k as i64], foot, y));
    }
    for k in 0..count {
        let ends = [0.0, 1.0].map(|x| [k as f64 + x, 0.0, 1.0]);
        let mut top = bar(ends[0], ends[1]);
        top["vel"] = json!([1.0, 0.0, 0.0]);
        bars.push(top);
        let own = n + 1 + k as i64;
        joints.push(revolute([k as i64, own], ends[0], y));
        joints.push(revolute([own, k as i64 + 1], ends[1], y));
    }
    with_joints(base(bars, 0.5, 2.0, vec![]), joints, DOWN)
}

/// Twenty capsules with nineteen hinges, their axes by turns across and upright, that fall on a floor.
pub fn chain() -> Value {
    let (length, radius, mass) = (0.2, 0.04, 0.5);
    let across = mass * length * length / 12.0 + mass * radius * radius / 4.0;
    let half = 0.5 * FRAC_PI_2;
    let along_x = [half.cos(), 0.0, half.sin(), 0.0];
    let (mut links, mut joints) = (vec![], vec![]);
    for k in 0..20 {
        let at = |x: f64| [x * length, 0.0, 0.3];
        let inertia = [0.5 * mass * radius * radius, across, across];
        let mut capsule =
            body(mass, inertia, at(k as f64), Some(("capsule", &[radius, 0.5 * length - 0.03])));
        capsule["geoms"][0]["quat"] = json!(along_x);
        if k == 0 {
            capsule["omega"] = json!([0.0, 0.5, 0.0]);
        } else {
            let axis = if k % 2 == 1 { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 1.0] };
            joints.push(revolute([k - 1, k], at(k as f64 - 0.5), axis));
        }
        links.push(capsule);
    }
    with_joints(base(links, 0.5, 5.0, vec![plane([0.0; 3], [0.0, 0.0, 1.0])]), joints, DOWN)
}

#[cfg(test)]
mod tests {
    use super::super::scenes::{Track, opening};
    use super::*;

    /// The bodies as they start.
    fn start(scene: &Value) -> Track {
        let bodies = scene["bodies"].as_array().unwrap();
        let of = |key: &str| json!([bodies.iter().map(|b| b[key].clone()).collect::<Vec<_>>()]);
        Track::read(&json!({"pos": of("pos"), "quat": of("quat"), "vel": of("vel"), "omega": of("omega")}))
            .unwrap()
    }

    #[test]
    fn loops_are_closed_where_they_start() {
        for scene in [four_bar(), bennett(), four_bars(3), chain()] {
            assert!(opening(&scene, &start(&scene)) < 1e-14);
        }
        // Opposite links of Bennett's linkage are equal.
        let point = |k: usize| -> Vector {
            std::array::from_fn(|c| bennett()["joints"][k]["point"][c].as_f64().unwrap())
        };
        let length = |a: Vector, b: Vector| (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f64>().sqrt();
        assert!((length(point(0), point(1)) - length(point(2), point(3))).abs() < 1e-14);
        assert!((length(point(1), point(2)) - length(point(3), point(0))).abs() < 1e-14);
    }
}
