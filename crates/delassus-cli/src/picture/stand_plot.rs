//! A world at rest seen from the side: bodies by how much of their friction they use, contact forces, and the
//! collapse where it does not stand.

use delassus::analysis::{Standing, Stands};
use delassus::glam::DVec3;
use delassus::world::{ShapeKind, World, WorldState};

use super::canvas::{Anchor, BLACK, Colour, Picture, Shape};

/// Width and height of the drawing.
const SIZE: [f64; 2] = [760.0, 560.0];
/// Free space around it.
const MARGIN: f64 = 50.0;
/// Longest arrow.
const ARROW: f64 = 70.0;
const RED: Colour = [190, 30, 45];
const BLUE: Colour = [30, 80, 170];

/// The two directions of the drawing: up is against gravity, right the horizontal axis along which bodies
/// extend most.
fn view(world: &World, state: &WorldState) -> [DVec3; 2] {
    let up = (-world.gravity).try_normalize().unwrap_or(DVec3::Z);
    let points: Vec<DVec3> = (0..world.bodies.len()).flat_map(|b| corners(world, state, b)).collect();
    let extent = |axis: DVec3| {
        let along = points.iter().map(|p| p.dot(axis));
        along.clone().fold(f64::NEG_INFINITY, f64::max) - along.fold(f64::INFINITY, f64::min)
    };
    let candidates = [DVec3::X, DVec3::Y, DVec3::Z].into_iter();
    let across = candidates.filter_map(|axis| (axis - up * axis.dot(up)).try_normalize());
    let right = across.max_by(|a, b| extent(*a).total_cmp(&extent(*b))).unwrap_or(DVec3::X);
    [right, up]
}

/// Points whose hull is drawn for a body; none for planes.
fn corners(world: &World, state: &WorldState, body: usize) -> Vec<DVec3> {
    let pose = state.bodies[body].pose;
    let mut out = Vec::new();
    for shape in &world.bodies[body].shapes {
        let ball = |radius: f64| {
            let ring = move |k: usize, a: DVec3, b: DVec3| {
                let (s, c) = (std::f64::consts::TAU * k as f64 / 16.0).sin_cos();
                radius * (c * a + s * b)
            };
            (0..16).flat_map(move |k| {
                [ring(k, DVec3::X, DVec3::Y), ring(k, DVec3::X, DVec3::Z), ring(k, DVec3::Y, DVec3::Z)]
            })
        };
        let cuboid = |h: DVec3| {
            (0..8).map(move |k| {
                let sign = |bit: usize| if k >> bit & 1 == 0 { -1.0 } else { 1.0 };
                h * DVec3::new(sign(0), sign(1), sign(2))
            })
        };
        let disc = |radius: f64, z: f64| {
            (0..16).map(move |k| {
                let (s, c) = (std::f64::consts::TAU * k as f64 / 16.0).sin_cos();
                DVec3::new(radius * c, radius * s, z)
            })
        };
        let own: Vec<DVec3> = match &shape.kind {
            ShapeKind::Plane => vec![],
            ShapeKind::Sphere { radius } => ball(*radius).collect(),
            ShapeKind::Box { half_extents } => cuboid(*half_extents).collect(),
            ShapeKind::Capsule { radius, half_height } => [-1.0, 1.0]
                .iter()
                .flat_map(|end| ball(*radius).map(move |p| p + DVec3::Z * (end * half_height)))
                .collect(),
            ShapeKind::Cylinder { radius, half_height } => {
                disc(*radius, -half_height).chain(disc(*radius, *half_height)).collect()
            }
            ShapeKind::Cone { radius, half_height } => {
                disc(*radius, -half_height).chain([DVec3::Z * *half_height]).collect()
            }
            ShapeKind::Convex { points } => points.clone(),
            ShapeKind::Mesh { vertices, .. } => vertices.clone(),
            ShapeKind::Heightfield { extent, .. } => {
                cuboid(DVec3::new(0.5 * extent[0], 0.5 * extent[1], 0.0)).collect()
            }
        };
        out.extend(own.into_iter().map(|p| pose.point(shape.pose.point(p))));
    }
    out
}

/// The corners of the convex hull of points in the plane, counterclockwise (Andrew's chain).
fn hull(mut points: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let turn =
        |a: [f64; 2], b: [f64; 2], c: [f64; 2]| (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    let chain = |points: &mut dyn Iterator<Item = [f64; 2]>| {
        let mut out: Vec<[f64; 2]> = Vec::new();
        for p in points {
            while out.len() >= 2 && turn(out[out.len() - 2], out[out.len() - 1], p) <= 0.0 {
                out.pop();
            }
            out.push(p);
        }
        out.pop();
        out
    };
    let mut lower = chain(&mut points.iter().copied());
    lower.extend(chain(&mut points.iter().rev().copied()));
    lower
}

/// From green at 0 to red at 1.
fn colour_of(utilization: f64) -> Colour {
    let x = utilization.clamp(0.0, 1.0);
    let mix = |a: f64, b: f64| (a + (b - a) * x).round() as u8;
    [mix(200.0, 235.0), mix(228.0, 140.0), mix(200.0, 120.0)]
}

/// Draws a world and what is known of it.
pub fn draw_standing(world: &World, state: &WorldState, standing: &Standing) -> Picture {
    let [right, up] = view(world, state);
    let flat = |p: DVec3| [p.dot(right), p.dot(up)];
    let outlines: Vec<Vec<[f64; 2]>> = (0..world.bodies.len())
        .map(|b| hull(corners(world, state, b).into_iter().map(flat).collect()))
        .collect();
    let all = || outlines.iter().flatten().copied().chain(standing.contacts.iter().map(|c| flat(c.point)));
    let range = |k: usize| {
        let (low, high) =
            all().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), p| (l.min(p[k]), h.max(p[k])));
        if low <= high { [low, high] } else { [-1.0, 1.0] }
    };
    let [x, y] = [range(0), range(1)];
    let spans = [x[1] - x[0], y[1] - y[0]].map(|s| s.max(1e-9));
    let scale = ((SIZE[0] - 2.0 * MARGIN) / spans[0]).min((SIZE[1] - 2.0 * MARGIN - 30.0) / spans[1]);
    let height = spans[1] * scale + 2.0 * MARGIN + 30.0;
    let place = |p: [f64; 2]| [MARGIN + (p[0] - x[0]) * scale, height - MARGIN - (p[1] - y[0]) * scale];
    let mut picture = Picture::new(SIZE[0], height);
    for (b, outline) in outlines.iter().enumerate().filter(|(_, outline)| outline.len() > 2) {
        let used = standing.contacts.iter().filter(|c| c.bodies.contains(&b)).map(|c| c.utilization);
        let fill = if world.bodies[b].fixed { [220, 220, 220] } else { colour_of(used.fold(0.0, f64::max)) };
        let mut points: Vec<[f64; 2]> = outline.iter().map(|p| place(*p)).collect();
        picture.shapes.push(Shape::Area { points: points.clone(), fill });
        points.push(points[0]);
        picture.line(points, BLACK, 0.8);
    }
    let words = match standing.stands {
        Stands::Surely => "surely stands",
        Stands::Possibly => "possibly stands",
        Stands::No => "does not stand",
        Stands::Undecided => "undecided",
    };
    picture.title([MARGIN, 26.0], format!("{}: {words}", world.name));
    match &standing.collapse {
        Some(motion) => {
            picture.text([SIZE[0] - MARGIN, 26.0], "collapse: velocities", Anchor::End);
            let velocities: Vec<[f64; 2]> = motion.iter().map(|[v, _]| flat(*v)).collect();
            let top = velocities.iter().map(|v| v[0].hypot(v[1])).fold(1e-300, f64::max);
            for (body, v) in state.bodies.iter().zip(&velocities) {
                let from = place(flat(body.pose.position));
                let to = [from[0] + ARROW * v[0] / top, from[1] - ARROW * v[1] / top];
                if v[0].hypot(v[1]) > 0.02 * top {
                    picture.arrow(from, to, RED, 1.6);
                }
            }
        }
        None => {
            let note = "colour: friction used; arrows: contact forces";
            picture.text([SIZE[0] - MARGIN, 26.0], note, Anchor::End);
            let forces = || standing.contacts.iter().map(|c| (c.point, c.normal * c.force + c.friction));
            let top = forces().map(|(_, f)| f.length()).fold(1e-300, f64::max);
            for (point, force) in forces() {
                let (at, f) = (place(flat(point)), flat(force));
                let half = [0.5 * ARROW * f[0] / top, -0.5 * ARROW * f[1] / top];
                picture.line(
                    vec![[at[0] - half[0], at[1] - half[1]], [at[0] + half[0], at[1] + half[1]]],
                    BLUE,
                    1.4,
                );
                picture.dot(at, 2.0, BLUE);
            }
        }
    }
    picture
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hull_of_a_square_with_points_inside_is_the_square() {
        let points = vec![[0.0, 0.0], [1.0, 0.0], [0.4, 0.6], [1.0, 1.0], [0.0, 1.0], [0.5, 0.0], [0.5, 0.5]];
        assert_eq!(hull(points), [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]);
        assert!(hull(vec![]).is_empty());
    }
}
