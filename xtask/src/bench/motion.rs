//! `cargo xtask bench motion`: time per step and error of engines on the same scenes.
//!
//! An engine is a program that is called with SCENE.json OUT.json CONFIG, as `delassus-peer` is; the format
//! is that of `bench/peer`. `DELASSUS_PEER`, `RAPIER_PEER` and `MUJOCO_PEER` say how to call them, words with
//! spaces between; without the first it is the `delassus-peer` of the last release build. `PEERS_PY` names a
//! Python with MuJoCo for scenes that are MJCF files. Engines that are not there are left out with a line.
//! Each runs with one thread, and its time is CPU time of the stepping alone.
//!
//! Errors are taken from positions, the same for all engines: how far a body moves that should rest, how deep
//! balls overlap, how far a loop of bars opens. Instructions and allocations of a step of Delassus are
//! counted by valgrind, where it is installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::counts::{Counts, count};
use super::picture::{Mark, scatter};
use super::scenes::{Scene, Track, all, energy_drift, falling_balls};

/// Engines with the variable that names their program, and the configurations that are compared.
const ENGINES: [(&str, &str, &[&str]); 3] = [
    ("delassus", "DELASSUS_PEER", &["ncp"]),
    ("rapier", "RAPIER_PEER", &["default", "tuned"]),
    ("mujoco", "MUJOCO_PEER", &["default", "hard"]),
];
/// How long balls fall, s, where no other time is asked for, and until they count as settled.
const FALL: f64 = 5.0;
const SETTLED: f64 = 2.0;

/// What was asked for on the command line.
struct Options {
    words: Vec<String>,
    seconds: f64,
    counts: bool,
}

/// Runs the scenes whose name has one of the words, all without words, with all engines; prints a table,
/// writes it as CSV and draws it.
pub fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let Options { words, seconds, counts } = options(arguments)?;
    let folder = root.join("target/bench-motion");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let asked = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    let places = if asked("settled") { Some(settled(root, &folder)?) } else { None };
    let scenes: Vec<Scene> =
        all(root, seconds, places.as_deref()).into_iter().filter(|s| asked(s.name)).collect();
    if scenes.is_empty() {
        return Err(format!("no scene has a name with {}", words.join(" or ")));
    }
    let mut csv = String::from(
        "scene,engine,configuration,steps,ms_per_step,late_ms,slowest_ms,error_mm,energy_drift,residual,\
         overlap_mm,instructions,allocations\n",
    );
    let mut marks = vec![];
    for scene in &scenes {
        for (engine, variable, configurations) in ENGINES {
            let Some(program) = program(root, engine, variable, scene) else {
                eprintln!("{}: no {engine} (see {variable}), left out", scene.name);
                continue;
            };
            for configuration in configurations {
                match measure(&program, &folder, scene, configuration) {
                    Ok(mut found) => {
                        if counts && engine == "delassus" {
                            found.counts = count(&program, &folder, &scene.json, configuration);
                        }
                        csv += &found.line(scene.name, engine, configuration);
                        eprint!("{}", found.line(scene.name, engine, configuration));
                        let series = format!("{engine} {configuration}");
                        if found.error.is_finite() {
                            marks.push(Mark { series, time: found.milliseconds, error: found.error });
                        }
                    }
                    Err(error) => eprintln!("{engine} {configuration}, {}: {error}", scene.name),
                }
            }
        }
    }
    if csv.lines().count() < 2 {
        return Err("no engine has run".into());
    }
    print!("{}", super::columns(&csv));
    let (table, picture) = (root.join("bench/motion.csv"), root.join("bench/motion.svg"));
    for (path, text) in [(&table, &csv), (&picture, &scatter(&marks))] {
        std::fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))?;
        println!("{}", path.display());
    }
    Ok(())
}

fn options(arguments: &[String]) -> Result<Options, String> {
    let mut options = Options { words: vec![], seconds: FALL, counts: true };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--seconds" => {
                let number =
                    rest.next().and_then(|s| s.parse().ok()).filter(|s: &f64| *s > 0.0 && s.is_finite());
                options.seconds = number.ok_or("--seconds: expected how long balls fall")?;
            }
            "--no-counts" => options.counts = false,
            word if word.starts_with('-') => {
                return Err(format!(
                    "unknown option {word}, expected: bench motion [--seconds S] [--no-counts] [PART OF A NAME…]"
                ));
            }
            word => options.words.push(word.to_owned()),
        }
    }
    Ok(options)
}

/// The words with which an engine is called for a scene, where it is there.
fn program(root: &Path, engine: &str, variable: &str, scene: &Scene) -> Option<Vec<String>> {
    let words = |text: String| Some(text.split_whitespace().map(str::to_owned).collect());
    if scene.json["model"].is_string() && engine != "delassus" {
        let python = std::env::var("PEERS_PY").ok().filter(|_| engine == "mujoco")?;
        return Some(vec![python, root.join("bench/peer/mujoco_model.py").display().to_string()]);
    }
    match std::env::var(variable) {
        // Bodies of a tree have their velocities in joint coordinates there, which scenes do not give.
        Ok(_) if engine == "mujoco" && joined_bodies_move(&scene.json) => None,
        Ok(text) => words(text),
        Err(_) if engine == "delassus" => own_program(root),
        Err(_) => None,
    }
}

/// Whether a body that hangs on a joint begins with a velocity.
fn joined_bodies_move(scene: &Value) -> bool {
    let joints = scene["joints"].as_array().into_iter().flatten();
    let mut hanging = joints.filter_map(|joint| joint["b"].as_u64());
    let nonzero = |v: &Value| v.as_array().is_some_and(|v| v.iter().any(|x| x.as_f64() != Some(0.0)));
    hanging.any(|b| {
        let body = &scene["bodies"][b as usize];
        nonzero(&body["vel"]) || nonzero(&body["omega"])
    })
}

/// How Delassus itself is called.
pub fn own_program(root: &Path) -> Option<Vec<String>> {
    if let Ok(text) = std::env::var("DELASSUS_PEER") {
        return Some(text.split_whitespace().map(str::to_owned).collect());
    }
    let own = root.join("target/release/delassus-peer");
    own.exists().then(|| vec![own.display().to_string()])
}

/// Where a thousand balls are after their fall; kept in a file, since that takes a while.
fn settled(root: &Path, folder: &Path) -> Result<Vec<[f64; 3]>, String> {
    let kept = folder.join("settled.json");
    let last = |track: Track| track.position.into_iter().last().unwrap_or_default();
    if let Ok(text) = std::fs::read_to_string(&kept)
        && let Ok(track) =
            serde_json::from_str(&text).map_err(|e| e.to_string()).and_then(|out| Track::read(&out))
    {
        return Ok(last(track));
    }
    let program = own_program(root).ok_or("DELASSUS_PEER names no program")?;
    let mut scene = falling_balls(1000, 5e-3);
    (scene["t_end"], scene["sample"]) = (json!(SETTLED), json!(2000));
    scene["wall_cap"] = json!(3600.0);
    let out = call(&program, folder, "settled", &scene, "ncp", "1")?;
    std::fs::write(&kept, out.to_string()).map_err(|e| format!("{}: {e}", kept.display()))?;
    Track::read(&out).map(last)
}

/// What an engine did with a scene.
struct Measured {
    steps: u64,
    milliseconds: f64,
    /// The mean of the second half, and the slowest step.
    late: Option<f64>,
    slowest: Option<f64>,
    error: f64,
    drift: Option<f64>,
    /// What an engine reports of itself.
    residual: Option<f64>,
    overlap: Option<f64>,
    counts: Option<Counts>,
}

impl Measured {
    fn line(&self, scene: &str, engine: &str, configuration: &str) -> String {
        let Measured { steps, milliseconds, .. } = self;
        let time = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.4}"));
        let number =
            |x: Option<f64>| x.filter(|x| x.is_finite()).map_or(String::new(), |x| format!("{x:.1e}"));
        let whole = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.0}"));
        let [instructions, allocations] = self.counts.map_or([None; 2], |c| [c.instructions, c.allocations]);
        let cells = [
            format!("{scene},{engine},{configuration},{steps},{milliseconds:.4}"),
            time(self.late),
            time(self.slowest),
            number(Some(1e3 * self.error)),
            number(self.drift),
            number(self.residual),
            number(self.overlap.map(|x| 1e3 * x)),
            whole(instructions),
            whole(allocations),
        ];
        format!("{}\n", cells.join(","))
    }
}

fn measure(
    program: &[String],
    folder: &Path,
    scene: &Scene,
    configuration: &str,
) -> Result<Measured, String> {
    let out = call(program, folder, scene.name, &scene.json, configuration, "1")?;
    let number = |key: &str| out[key].as_f64();
    let steps = out["steps"].as_u64().unwrap_or(0);
    let seconds = number("wall").ok_or("no time in its output")?;
    let track = Track::read(&out)?;
    Ok(Measured {
        steps,
        milliseconds: 1e3 * seconds / steps.max(1) as f64,
        late: late(&out["wh"]),
        slowest: number("slowest").map(|s| 1e3 * s),
        error: (scene.error)(&scene.json, &track),
        drift: energy_drift(&scene.json, &track),
        residual: number("residual"),
        overlap: number("penetration"),
        counts: None,
    })
}

/// Milliseconds of a step in the second half, from pairs of steps and seconds so far.
fn late(history: &Value) -> Option<f64> {
    let history = history.as_array().filter(|h| h.len() > 2)?;
    let at = |k: usize| Some((history[k][0].as_f64()?, history[k][1].as_f64()?));
    let ((from, start), (to, end)) = (at(history.len() / 2)?, at(history.len() - 1)?);
    (to > from).then(|| 1e3 * (end - start) / (to - from))
}

/// Runs a scene and reads what was written.
pub fn call(
    program: &[String],
    folder: &Path,
    name: &str,
    scene: &Value,
    configuration: &str,
    threads: &str,
) -> Result<Value, String> {
    let [input, output] = ["scene", "out"].map(|kind| folder.join(format!("{name}.{kind}.json")));
    std::fs::write(&input, scene.to_string()).map_err(|e| format!("{}: {e}", input.display()))?;
    let _ = std::fs::remove_file(&output);
    let (first, words) = program.split_first().ok_or("no program")?;
    let status = Command::new(first)
        .args(words)
        .args([&input, &output])
        .arg(configuration)
        .envs(["RAYON_NUM_THREADS", "OMP_NUM_THREADS"].map(|variable| (variable, threads)))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .map_err(|e| format!("{first}: {e}"))?;
    let text = std::fs::read_to_string(&output).map_err(|_| format!("{first} ended with {status}"))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", output.display()))
}

/// Removes a folder of files that were made for a measurement.
pub fn remove(folder: &PathBuf) -> Result<(), String> {
    std::fs::remove_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments() {
        let of = |words: &[&str]| options(&words.iter().map(|w| w.to_string()).collect::<Vec<_>>());
        let found = of(&["stack", "--seconds", "0.5", "wall"]).unwrap();
        assert_eq!(
            (found.words, found.seconds, found.counts),
            (vec!["stack".into(), "wall".into()], 0.5, true)
        );
        assert!(!of(&["--no-counts"]).unwrap().counts);
        for wrong in [&["--seconds"][..], &["--seconds", "-1"], &["--fast"]] {
            assert!(of(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn velocities_count_where_a_body_hangs_on_a_joint() {
        let scene = |vel: f64| json!({"joints": [{"a": -1, "b": 0}], "bodies": [{"vel": [0.0, vel, 0.0], "omega": [0.0]}]});
        assert!(joined_bodies_move(&scene(1.0)) && !joined_bodies_move(&scene(0.0)));
        assert!(!joined_bodies_move(&json!({"joints": [], "bodies": [{"vel": [1.0]}]})));
    }

    #[test]
    fn the_second_half_is_counted_from_the_middle() {
        assert_eq!(late(&json!([[10, 1.0], [20, 3.0], [30, 4.0]])), Some(100.0));
        assert_eq!(late(&json!([[10, 1.0]])), None);
    }
}
