//! `cargo xtask bench motion`: time per step and error of engines on the same scenes, and
//! `cargo xtask bench threads`: steps of many balls with 1, 2, 4, … threads.
//!
//! An engine is a program that is called with SCENE.json OUT.json CONFIG, as `delassus-peer` is; the format
//! is that of `bench/peer`. `DELASSUS_PEER`, `RAPIER_PEER` and `MUJOCO_PEER` say how to call them, words with
//! spaces between; without the first it is the `delassus-peer` of the last release build. Engines that are
//! not there are left out with a line. Each runs with one thread, and its time is CPU time of the stepping
//! alone.
//!
//! Errors are taken from positions, the same for all engines: how far a body moves that should rest, how deep
//! balls overlap, how far a loop of bars opens.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use super::picture::{Mark, scatter};
use super::scenes::{Scene, all, falling_balls};

/// Engines with the variable that names their program, and the configurations that are compared.
const ENGINES: [(&str, &str, &[&str]); 3] = [
    ("delassus", "DELASSUS_PEER", &["ncp"]),
    ("rapier", "RAPIER_PEER", &["default", "tuned"]),
    ("mujoco", "MUJOCO_PEER", &["default", "hard"]),
];
/// Balls for `bench threads`, and the steps of its two runs: what both share is not counted.
const BALLS: usize = 100_000;
const STEPS: [usize; 2] = [2, 8];

/// Runs the scenes whose name has one of the words, all without words, with all engines; prints a table,
/// writes it as CSV and draws it.
pub fn run(root: &Path, words: &[String]) -> Result<(), String> {
    let asked = |scene: &Scene| words.is_empty() || words.iter().any(|word| scene.name.contains(word));
    let scenes: Vec<Scene> = all().into_iter().filter(asked).collect();
    if scenes.is_empty() {
        return Err("expected: cargo xtask bench motion [PART OF A SCENE'S NAME…]".into());
    }
    let folder = root.join("target/bench-motion");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut csv = String::from("scene,engine,configuration,steps,ms_per_step,error_mm,residual,overlap_mm\n");
    let mut marks = vec![];
    for (engine, variable, configurations) in ENGINES {
        let Some(program) = program(root, engine, variable) else {
            println!("{engine}: {variable} names no program, left out");
            continue;
        };
        for scene in &scenes {
            for configuration in configurations {
                match measure(&program, &folder, scene, configuration) {
                    Ok(found) => {
                        csv += &found.line(scene.name, engine, configuration);
                        let series = format!("{engine} {configuration}");
                        marks.push(Mark { series, time: found.milliseconds, error: found.error });
                    }
                    Err(error) => println!("{engine} {configuration}, {}: {error}", scene.name),
                }
            }
        }
    }
    if marks.is_empty() {
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

/// The words with which an engine is called, where it is there.
fn program(root: &Path, engine: &str, variable: &str) -> Option<Vec<String>> {
    if let Ok(words) = std::env::var(variable) {
        return Some(words.split_whitespace().map(str::to_owned).collect());
    }
    let own = root.join("target/release/delassus-peer");
    (engine == "delassus" && own.exists()).then(|| vec![own.display().to_string()])
}

/// What an engine did with a scene.
struct Measured {
    steps: u64,
    milliseconds: f64,
    error: f64,
    /// What Delassus says of itself.
    residual: Option<f64>,
    overlap: Option<f64>,
}

impl Measured {
    fn line(&self, scene: &str, engine: &str, configuration: &str) -> String {
        let Measured { steps, milliseconds, error, .. } = self;
        let [residual, overlap] = [self.residual, self.overlap.map(|x| 1e3 * x)]
            .map(|x| x.map_or(String::new(), |x| format!("{x:.1e}")));
        format!(
            "{scene},{engine},{configuration},{steps},{milliseconds:.4},{:.2e},{residual},{overlap}\n",
            1e3 * error
        )
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
    Ok(Measured {
        steps,
        milliseconds: 1e3 * seconds / steps.max(1) as f64,
        error: (scene.error)(&scene.json, &positions(&out)?),
        residual: number("residual"),
        overlap: number("penetration"),
    })
}

/// Runs a scene and reads what was written.
fn call(
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
        .status()
        .map_err(|e| format!("{first}: {e}"))?;
    let text = std::fs::read_to_string(&output).map_err(|_| format!("{first} ended with {status}"))?;
    serde_json::from_str(&text).map_err(|e| format!("{}: {e}", output.display()))
}

/// Positions of all bodies at all samples.
fn positions(out: &Value) -> Result<Vec<Vec<[f64; 3]>>, String> {
    let point = |p: &Value| Some([p[0].as_f64()?, p[1].as_f64()?, p[2].as_f64()?]);
    let sample = |s: &Value| s.as_array()?.iter().map(point).collect::<Option<Vec<_>>>();
    let all = out["pos"].as_array().and_then(|all| all.iter().map(sample).collect::<Option<Vec<_>>>());
    all.filter(|all| !all.is_empty()).ok_or_else(|| "positions are missing or not finite".into())
}

/// Wall time of a step of many balls by the number of threads, and whether the bits are the same.
pub fn threads(root: &Path, arguments: &[String]) -> Result<(), String> {
    let balls = match arguments {
        [] => BALLS,
        [count] => count.parse().map_err(|_| format!("expected a number of balls, found {count}"))?,
        _ => return Err("expected: bench threads [BALLS]".into()),
    };
    let program = program(root, "delassus", "DELASSUS_PEER").ok_or("DELASSUS_PEER names no program")?;
    let folder = std::env::temp_dir().join("delassus-bench-threads");
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let counts = std::iter::successors(Some(1), |n| Some(2 * n)).take_while(|n| *n <= cores.max(2));
    println!("threads  ms/step  times as fast  bits");
    let mut first: Option<(f64, Vec<Vec<[f64; 3]>>)> = None;
    for count in counts {
        let (mut seconds, mut end) = ([0.0; 2], vec![]);
        for (seconds, steps) in seconds.iter_mut().zip(STEPS) {
            let mut scene = falling_balls(balls, 1e-4);
            scene["t_end"] = json!(steps as f64 * 1e-3);
            let clock = Instant::now();
            let out = call(&program, &folder, "balls", &scene, "ncp", &count.to_string())?;
            *seconds = clock.elapsed().as_secs_f64();
            end = positions(&out)?;
        }
        let each = 1e3 * (seconds[1] - seconds[0]) / (STEPS[1] - STEPS[0]) as f64;
        let (alone, bits) = first.get_or_insert_with(|| (each, end.clone()));
        let same = if *bits == end { "same" } else { "OTHER" };
        println!("{count:7}  {each:7.1}  {:13.2}  {same}", *alone / each);
    }
    remove(&folder)
}

fn remove(folder: &PathBuf) -> Result<(), String> {
    std::fs::remove_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))
}
