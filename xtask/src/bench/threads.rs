//! `cargo xtask bench threads`: steps of many balls with 1, 2, 4, … threads.

use std::path::Path;
use std::time::Instant;

use serde_json::json;

use super::motion::{call, own_program, remove};
use super::scenes::{Track, falling_balls};

/// Balls, and the steps of the two runs: what both share is not counted.
const BALLS: usize = 100_000;
const STEPS: [usize; 2] = [2, 8];

/// Wall time of a step of many balls by the number of threads, and whether the bits are the same.
pub fn run(root: &Path, arguments: &[String]) -> Result<(), String> {
    let balls = match arguments {
        [] => BALLS,
        [count] => count.parse().map_err(|_| format!("expected a number of balls, found {count}"))?,
        _ => return Err("expected: bench threads [BALLS]".into()),
    };
    let program = own_program(root).ok_or("DELASSUS_PEER names no program")?;
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
            end = Track::read(&out)?.position;
        }
        let each = 1e3 * (seconds[1] - seconds[0]) / (STEPS[1] - STEPS[0]) as f64;
        let (alone, bits) = first.get_or_insert_with(|| (each, end.clone()));
        let same = if *bits == end { "same" } else { "OTHER" };
        println!("{count:7}  {each:7.1}  {:13.2}  {same}", *alone / each);
    }
    remove(&folder)
}
