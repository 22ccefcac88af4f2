//! `cargo xtask convergence`: the error of time stepping against event-driven integration, over the step.
//!
//! ```text
//! error(dt) = 1/T ∫ Σ_bodies (‖x_dt − x‖ + 2 r ‖ε_dt − ε‖) dt ,     order = d log error / d log dt
//! ```
//!
//! x are positions of centres, ε orientations as quaternions, r the bounding radius of a body: an L¹ norm in
//! time and of positions, because velocities jump, and the two motions jump at different instants. The
//! reference is event-driven, to 1e-12, or a closed form. Writes a table (CSV) and a picture (SVG) into the
//! book.

use std::fmt::Write as _;
use std::path::Path;

use delassus::events::{Ending, EventOptions, run_events, world_system};
use delassus::lagrangian::State;
use delassus::stepping::{StepOptions, Stepper};
use delassus::world::WorldState;
use delassus_scene::{WorldFile, read_world};

use texts::{FLOOR, WEIGHT, cuboid, hinge, sliding_ball, sphere, surfaces};

#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../../crates/delassus/tests/support/texts.rs"]
mod texts;

/// Numbers of instants at which motions are compared, one after the other: steps of nearly the same length.
/// Errors depend on where in its step an event lies, and their mean over these lengths depends less on it.
const SAMPLES: [usize; 5] = [47, 49, 50, 51, 53];
/// Steps between two instants: doubled from level to level.
const LEVELS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Errors below this are of the distance within which a time step counts a contact as closed, not of its
/// length, m.
const FLOOR_ERROR: f64 = 2e-7;

/// A scene that both integrators know, or whose motion is known.
struct Scene {
    name: &'static str,
    what: &'static str,
    t_end: f64,
    text: fn() -> String,
    /// Where the body `ball` is at a time, in closed form; event-driven integration where there is none.
    closed: Option<fn(f64) -> [f64; 3]>,
}

/// Weight in a world that moves in the plane y = 0.
const IN_PLANE: &str = "[world]\nplane = \"xz\"\ngravity = [0, 0, -9.81]\n";

/// A vertical wall at this x, its free side towards larger x.
fn wall(x: f64) -> String {
    format!(
        "[[body]]\nname = \"wall\"\nfixed = true\n[[body.shape]]\ntype = \"plane\"\nnormal = [1, 0, 0]\noffset = {x:?}\n"
    )
}

const STILL: [f64; 3] = [0.0; 3];

const SCENES: [Scene; 11] = [
    Scene {
        name: "bouncing ball",
        what: "impacts with e = 0.6, up to and past their accumulation",
        t_end: 2.5,
        text: || {
            let ball = sphere("ball", 1.0, 0.1, [0.0, 0.0, 1.1], STILL);
            [WEIGHT, &ball, &surfaces(0.0, 0.6), FLOOR].concat()
        },
        closed: None,
    },
    Scene { name: "sliding ball", what: "slides, then rolls", t_end: 1.0, text: sliding_ball, closed: None },
    Scene {
        name: "block on an incline",
        what: "slides up, stops and stays",
        t_end: 1.0,
        text: || {
            let tilted =
                "[world]\nplane = \"xz\"\ngravity = [\"-9.81*sin(pi/12)\", 0, \"-9.81*cos(pi/12)\"]\n";
            let block = cuboid("block", 1.0, [0.2, 0.2, 0.1], [0.0, 0.0, 0.1], [2.0, 0.0, 0.0]);
            [tilted, &block, &surfaces(0.5, 0.0), FLOOR].concat()
        },
        closed: None,
    },
    Scene {
        name: "stick and slip",
        what: "a pendulum drags a block to and fro",
        t_end: 2.0,
        text: || {
            let block = cuboid("block", 1.0, [0.4, 0.2, 0.1], [0.0, 0.0, 0.1], STILL);
            let bob = "[[body]]\nname = \"bob\"\nmass = 1.0\ninertia = [0.01, 0.01, 0.01]\nposition = [0.4, 0, -0.2]\n";
            let hinge = hinge("hinge", ["block", "bob"], [0.0, 0.0, 0.1]);
            [IN_PLANE, &block, bob, &hinge, &surfaces(0.2, 0.0), FLOOR].concat()
        },
        closed: None,
    },
    Scene {
        name: "pendulum at a wall",
        what: "a joint, impacts with e = 0.7",
        t_end: 3.0,
        text: || {
            let bob = sphere("bob", 1.0, 0.1, [0.8, 0.0, -0.6], STILL);
            let hinge = hinge("hinge", ["world", "bob"], STILL);
            [IN_PLANE, &wall(-0.3), &bob, &hinge, &surfaces(0.0, 0.7)].concat()
        },
        closed: None,
    },
    Scene {
        name: "double pendulum at a wall",
        what: "two joints, impacts with e = 0.8",
        t_end: 2.0,
        text: || {
            let upper = sphere("upper", 1.0, 0.1, [0.6, 0.0, -0.8], STILL);
            let lower = sphere("lower", 1.0, 0.1, [1.2, 0.0, -1.6], STILL);
            let first = hinge("upper hinge", ["world", "upper"], STILL);
            let second = hinge("lower hinge", ["upper", "lower"], [0.6, 0.0, -0.8]);
            [IN_PLANE, &wall(-0.4), &upper, &lower, &first, &second, &surfaces(0.0, 0.8)].concat()
        },
        closed: None,
    },
    Scene {
        name: "rocking block",
        what: "impacts without rebound, from corner to corner",
        t_end: 1.5,
        text: || {
            let block = "[parameters]\ntilt = 0.1\nb = 0.2\nh = 0.6\n\
                [[body]]\nname = \"block\"\nmass = 1.0\n\
                position = [\"b*cos(tilt) - h*sin(tilt)\", 0, \"b*sin(tilt) + h*cos(tilt)\"]\n\
                euler_deg = [0, \"-tilt*180/pi\", 0]\n\
                [[body.shape]]\ntype = \"box\"\nhalf_extents = [\"b\", 0.2, \"h\"]\n";
            [IN_PLANE, block, &surfaces(1.5, 0.0), FLOOR].concat()
        },
        closed: None,
    },
    Scene {
        name: "falling rod",
        what: "slides on its end, then falls flat with e = 0.3",
        t_end: 0.8,
        text: || {
            let rod = "[parameters]\nangle = \"60 deg\"\n\
                [[body]]\nname = \"rod\"\nmass = 1.0\ninertia = [0.03, 0.0833, 0.0833]\n\
                position = [0, 0, \"0.5*sin(angle) + 0.02\"]\neuler_deg = [0, \"-angle*180/pi\", 0]\n\
                [[body.shape]]\ntype = \"sphere\"\nradius = 0.02\nposition = [-0.5, 0, 0]\n\
                [[body.shape]]\ntype = \"sphere\"\nradius = 0.02\nposition = [0.5, 0, 0]\n";
            [IN_PLANE, rod, &surfaces(0.3, 0.3), FLOOR].concat()
        },
        closed: None,
    },
    Scene {
        name: "rolling, uneven ball",
        what: "rolls without slip, moments 2:3:4",
        t_end: 2.0,
        text: || {
            let ball = "[[body]]\nname = \"ball\"\nmass = 1.0\ninertia = [0.002, 0.003, 0.004]\n\
                position = [0, 0, 0.1]\nvelocity = [0.5, -0.3, 0]\nangular_velocity = [3, 5, 4]\n\
                [[body.shape]]\ntype = \"sphere\"\nradius = 0.1\n";
            [WEIGHT, ball, &surfaces(0.9, 0.0), FLOOR].concat()
        },
        closed: None,
    },
    Scene {
        name: "sliding with spin",
        what: "a tripod slides and spins on its feet",
        t_end: 0.5,
        text: || {
            let foot = |x: f64, y: f64| {
                format!(
                    "[[body.shape]]\ntype = \"sphere\"\nradius = 0.02\nposition = [{x:?}, {y:?}, -0.08]\n"
                )
            };
            let feet = [foot(0.2, 0.0), foot(-0.1, 0.15), foot(-0.1, -0.15)].concat();
            let body = "[[body]]\nname = \"tripod\"\nmass = 1.0\ninertia = [0.02, 0.02, 0.03]\n\
                position = [0, 0, 0.1]\nvelocity = [2, 0.5, 0]\nangular_velocity = [0, 0, 6]\n";
            [WEIGHT, body, &feet, &surfaces(0.2, 0.0), FLOOR].concat()
        },
        closed: None,
    },
    Scene {
        name: "ball on a turntable",
        what: "rolls on what turns; against its circle",
        t_end: 2.0,
        text: || {
            let table = "[[body]]\nname = \"table\"\nmass = 1.0\nposition = [0, 0, -0.05]\nangular_velocity = [0, 0, 3]\n[[body.shape]]\n\
                type = \"cylinder\"\nradius = 3\nhalf_height = 0.05\n[[joint]]\nname = \"axle\"\n\
                type = \"revolute\"\nbodies = [\"world\", \"table\"]\nanchor = [0, 0, 0]\naxis = [0, 0, 1]\n\
                drive = \"3*t\"\n";
            // At the table's 3 rad/s (0, 0, 3) × (1, 0, 0) = (0, 3, 0) below it, so that ω = ((3 − 0.2)/r,
            // 0.4/r, 0) rolls with v = (0.4, 0.2, 0).
            let ball = "[[body]]\nname = \"ball\"\nmass = 1.0\nposition = [1, 0, 0.1]\nvelocity = [0.4, 0.2, 0]\n\
                angular_velocity = [28, 4, 0]\n[[body.shape]]\ntype = \"sphere\"\nradius = 0.1\n";
            [WEIGHT, table, ball, &surfaces(0.9, 0.0)].concat()
        },
        closed: Some(on_turntable),
    },
];

/// A uniform ball on a turntable with Ω = 3 rad/s has v̇ = (2/7) Ω × v: a circle.
fn on_turntable(t: f64) -> [f64; 3] {
    let rate = 2.0 / 7.0 * 3.0;
    let (sin, cos) = (rate * t).sin_cos();
    let (u, w) = (0.4, 0.2);
    [1.0 + (u * sin - w * (1.0 - cos)) / rate, (u * (1.0 - cos) + w * sin) / rate, 0.1]
}

/// Errors over steps.
struct Measured {
    dt: Vec<f64>,
    error: Vec<f64>,
}

impl Measured {
    /// The slope of log error over log dt between two levels.
    fn order(&self, level: usize) -> f64 {
        (self.error[level] / self.error[level + 1]).ln() / (self.dt[level] / self.dt[level + 1]).ln()
    }

    /// The least-squares slope over the levels above the floor; `None` where fewer than three are.
    fn fitted(&self) -> Option<f64> {
        let kept = self.dt.iter().zip(&self.error).take_while(|(_, e)| **e > FLOOR_ERROR);
        let (x, y): (Vec<f64>, Vec<f64>) = kept.map(|(h, e)| (h.ln(), e.ln())).unzip();
        if x.len() < 3 {
            return None;
        }
        let n = x.len() as f64;
        let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
        let top: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
        Some(top / x.iter().map(|x| (x - mx) * (x - mx)).sum::<f64>())
    }

    fn in_words(&self) -> String {
        self.fitted().map_or("at the tolerance".into(), |order| format!("order {order:.2}"))
    }
}

/// Measures all scenes, prints them, and writes `book/src/images/convergence.{csv,svg}`.
pub fn run(root: &Path) -> Result<(), String> {
    let mut all = vec![];
    for scene in &SCENES {
        let measured = measure(scene, &LEVELS).map_err(|e| format!("{}: {e}", scene.name))?;
        let last = measured.error.len() - 1;
        println!(
            "{:<26} {:<16}  error {:.2e} at dt = {:.1e} s, {:.2e} at {:.1e} s",
            scene.name,
            measured.in_words(),
            measured.error[0],
            measured.dt[0],
            measured.error[last],
            measured.dt[last]
        );
        all.push(measured);
    }
    let folder = root.join("book/src/images");
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
    };
    write("convergence.csv", table(&all))?;
    write("convergence.svg", picture(&all))
}

/// What a motion is compared with at an instant.
enum Reference {
    State(WorldState),
    /// The place of one body.
    Ball(usize, [f64; 3]),
}

/// The motion at instants.
fn reference(scene: &Scene, file: &WorldFile, instants: &[f64]) -> Result<Vec<Reference>, String> {
    if let Some(closed) = scene.closed {
        let ball = file.world.bodies.iter().position(|body| body.name == "ball").ok_or("no `ball`")?;
        return Ok(instants.iter().map(|t| Reference::Ball(ball, closed(*t))).collect());
    }
    let system = world_system(&file.world, &file.state).map_err(|e| e.to_string())?;
    let options = EventOptions { t_end: scene.t_end, sample_times: instants.to_vec(), ..Default::default() };
    let exact = run_events(&system.system, &system.state, &options).map_err(|e| e.to_string())?;
    if exact.ending != Ending::Done {
        return Err(format!("the reference ended at {} s: {}", exact.state.t, exact.ending));
    }
    let state = |s: &State| Reference::State(system.world_state(&file.state, s));
    Ok(exact.samples.iter().map(|s| state(&s.state)).collect())
}

fn measure(scene: &Scene, levels: &[usize]) -> Result<Measured, String> {
    let text = (scene.text)();
    let file = read_world(&text, None, &[]).map_err(|e| e.render(scene.name, &text))?;
    let mut measured = Measured { dt: vec![], error: vec![0.0; levels.len()] };
    for &steps in levels {
        let mean = SAMPLES.iter().sum::<usize>() as f64 / SAMPLES.len() as f64;
        measured.dt.push(scene.t_end / (mean * steps as f64));
    }
    for samples in SAMPLES {
        let instants: Vec<f64> = (0..=samples).map(|k| scene.t_end * k as f64 / samples as f64).collect();
        let exact = reference(scene, &file, &instants)?;
        for (&steps, error) in levels.iter().zip(&mut measured.error) {
            let dt = scene.t_end / (samples * steps) as f64;
            let options = StepOptions { dt, ..Default::default() };
            let mut stepper =
                Stepper::new(&file.world, file.state.clone(), options).map_err(|e| e.to_string())?;
            let mut sum = 0.0;
            for (k, there) in exact.iter().enumerate().skip(1) {
                for _ in 0..steps {
                    let _ = stepper.step().map_err(|e| e.to_string())?;
                }
                // Trapezoidal rule; the error at the start is zero.
                let weight = if k == samples { 0.5 } else { 1.0 };
                sum += weight
                    * match there {
                        Reference::State(there) => {
                            distance(stepper.state(), there, |i| file.world.bodies[i].bounding_radius())
                        }
                        Reference::Ball(ball, there) => {
                            let apart = stepper.state().bodies[*ball].pose.position.to_array();
                            apart.iter().zip(there).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
                        }
                    };
            }
            *error += sum / (samples * SAMPLES.len()) as f64;
        }
    }
    Ok(measured)
}

/// How far two states are apart: centres, and radius times angle.
fn distance(a: &WorldState, b: &WorldState, reach: impl Fn(usize) -> f64) -> f64 {
    let bodies = a.bodies.iter().zip(&b.bodies).enumerate();
    bodies
        .filter(|(i, _)| reach(*i).is_finite())
        .map(|(i, (a, b))| {
            let (p, q) = (a.pose.rotation, b.pose.rotation);
            // ‖p − q‖ of quaternions is half the angle between them, for small ones.
            let apart = (p - q).length().min((p + q).length());
            (a.pose.position - b.pose.position).length() + 2.0 * reach(i) * apart
        })
        .sum()
}

fn table(all: &[Measured]) -> String {
    let mut out = String::from("scene,dt,error,order\n");
    for (scene, measured) in SCENES.iter().zip(all) {
        for (k, (dt, error)) in measured.dt.iter().zip(&measured.error).enumerate() {
            let order = if k == 0 { String::new() } else { format!("{:.3}", measured.order(k - 1)) };
            let _ = writeln!(out, "{},{dt:e},{error:.6e},{order}", scene.name);
        }
    }
    out
}

/// Errors over steps, both logarithmic, one line a scene, with the slopes 1 and 2 beside them.
// Long: one drawing, from its frame to its legend.
fn picture(all: &[Measured]) -> String {
    const COLOURS: [&str; 11] = [
        "#0072b2", "#d55e00", "#009e73", "#994f00", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#7f3c8d",
        "#11a579", "#e73f74",
    ];
    let frame = [80.0, 50.0, 470.0, 430.0];
    let decades = |values: &mut dyn Iterator<Item = f64>| {
        let (lo, hi) =
            values.filter(|x| *x > 0.0).fold((f64::INFINITY, 0.0_f64), |(lo, hi), x| (lo.min(x), hi.max(x)));
        [lo.log10().floor(), hi.log10().ceil()]
    };
    let x = decades(&mut all.iter().flat_map(|m| m.dt.iter().copied()));
    // What is below the floor by far is drawn at the lower edge.
    let y = decades(&mut all.iter().flat_map(|m| m.error.iter().map(|e| e.max(0.01 * FLOOR_ERROR))));
    let place = |dt: f64, error: f64| {
        let at = |v: f64, range: [f64; 2]| (v.log10() - range[0]) / (range[1] - range[0]);
        [frame[0] + frame[2] * at(dt, x), frame[1] + frame[3] * (1.0 - at(error, y))]
    };
    let mut out = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 860 640\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"860\" height=\"640\" fill=\"white\"/>\n\
         <text x=\"80\" y=\"30\" font-size=\"15\">Time stepping against event-driven integration</text>\n",
    );
    let _ = writeln!(
        out,
        "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"black\"/>",
        frame[0], frame[1], frame[2], frame[3]
    );
    let mut line = |points: &[[f64; 2]], colour: &str, more: &str| {
        let points: Vec<String> = points.iter().map(|p| format!("{:.1},{:.1}", p[0], p[1])).collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" {more}/>",
            points.join(" ")
        );
    };
    let range = |r: [f64; 2]| (r[0] as i32)..=(r[1] as i32);
    for k in range(x) {
        let v = 10f64.powi(k);
        line(&[place(v, 10f64.powf(y[0])), place(v, 10f64.powf(y[1]))], "#dddddd", "");
    }
    for k in range(y) {
        let v = 10f64.powi(k);
        line(&[place(10f64.powf(x[0]), v), place(10f64.powf(x[1]), v)], "#dddddd", "");
    }
    for (slope, dash) in [(1.0, "stroke-dasharray=\"2 4\""), (2.0, "stroke-dasharray=\"8 4\"")] {
        let (from, to) = (10f64.powf(x[1] - 0.4), 10f64.powf(x[1] - 1.4));
        let top = 10f64.powf(y[1] - 0.5);
        line(&[place(from, top), place(to, top * 0.1f64.powf(slope))], "#888888", dash);
    }
    for (measured, colour) in all.iter().zip(COLOURS) {
        let points: Vec<[f64; 2]> = measured
            .dt
            .iter()
            .zip(&measured.error)
            .map(|(h, e)| place(*h, e.max(10f64.powf(y[0]))))
            .collect();
        line(&points, colour, "stroke-width=\"2\"");
    }
    let mut text = |at: [f64; 2], anchor: &str, words: String, more: &str| {
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\" {more}>{words}</text>",
            at[0], at[1]
        );
    };
    for k in range(x) {
        let at = place(10f64.powi(k), 10f64.powf(y[0]));
        text([at[0], at[1] + 18.0], "middle", format!("1e{k}"), "");
    }
    for k in range(y) {
        let at = place(10f64.powf(x[0]), 10f64.powi(k));
        text([at[0] - 8.0, at[1] + 4.0], "end", format!("1e{k}"), "");
    }
    text([frame[0] + 0.5 * frame[2], frame[1] + frame[3] + 42.0], "middle", "dt, s".into(), "");
    let middle = [24.0, frame[1] + 0.5 * frame[3]];
    text(
        middle,
        "middle",
        "error of positions, m".into(),
        &format!("transform=\"rotate(-90 {} {})\"", middle[0], middle[1]),
    );
    for (k, ((scene, measured), colour)) in SCENES.iter().zip(all).zip(COLOURS).enumerate() {
        let at = [frame[0] + frame[2] + 20.0, frame[1] + 20.0 + 46.0 * k as f64];
        text(at, "start", format!("{}: {}", scene.name, measured.in_words()), &format!("fill=\"{colour}\""));
        text([at[0], at[1] + 16.0], "start", scene.what.into(), "font-size=\"10\" fill=\"#555555\"");
    }
    let at = [frame[0] + frame[2] + 20.0, frame[1] + 20.0 + 46.0 * SCENES.len() as f64];
    text(at, "start", "dotted: order 1, dashed: order 2".into(), "fill=\"#888888\"");
    out += "</svg>\n";
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Joints and rebounds at their moment: second order. Half an order would be a rebound that is late by
    /// part of a step. Steps of less than some milliseconds are left out: there impacts at the beginning of a
    /// step are not cut out of it (see the book).
    #[test]
    fn a_pendulum_at_a_wall_is_of_second_order() {
        let scene = SCENES.iter().find(|scene| scene.name == "pendulum at a wall").unwrap();
        let measured = measure(scene, &LEVELS[..5]).unwrap();
        for level in 1..4 {
            let order = measured.order(level);
            assert!((order - 2.0).abs() < 0.15, "{order} at dt = {}", measured.dt[level]);
        }
        // Steps of 0.06 s are made shorter where the joint would take energy: the error is below the line of
        // second order that the other lengths lie on.
        assert!(measured.error[0] < 4.0 * measured.error[1], "{:?}", measured.error);
    }

    /// What rolls, sticks on what turns, or slides and spins, moves along curved ways that a step follows to
    /// second order.
    #[test]
    fn rolling_sticking_and_sliding_with_spin_are_of_second_order() {
        for name in ["rolling, uneven ball", "sliding with spin", "ball on a turntable"] {
            let scene = SCENES.iter().find(|scene| scene.name == name).unwrap();
            let order = measure(scene, &LEVELS[..4]).unwrap().fitted().unwrap();
            assert!((order - 2.0).abs() < 0.15, "{name}: {order}");
        }
    }

    /// Where slip begins and ends forces are continuous, so that steps need not end there for second order.
    #[test]
    fn stick_and_slip_is_of_second_order() {
        let scene = SCENES.iter().find(|scene| scene.name == "stick and slip").unwrap();
        let order = measure(scene, &LEVELS[..5]).unwrap().fitted().unwrap();
        assert!((order - 2.0).abs() < 0.15, "{order}");
    }
}
