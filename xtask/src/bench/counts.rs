//! Instructions and allocations of a step, counted by valgrind.
//!
//! A scene is run for some steps and for twice as many. What the second half takes is the difference: reading
//! the scene, making the world and the first steps, which take their memory, are in both.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

/// Steps of the shorter run where there are few bodies and where there are many.
const STEPS: usize = 300;
const STEPS_OF_MANY: usize = 10;
const MAX_FEW_BODIES: usize = 200;

/// What a step takes in the mean, as far as it was counted.
#[derive(Clone, Copy)]
pub struct Counts {
    pub instructions: Option<f64>,
    pub allocations: Option<f64>,
}

/// Counts the steps of a scene; `None` where there is no valgrind.
pub fn count(program: &[String], folder: &Path, scene: &Value, configuration: &str) -> Option<Counts> {
    let installed = Command::new("valgrind").arg("--version").output().is_ok_and(|o| o.status.success());
    if !installed {
        return None;
    }
    let many = scene["bodies"].as_array().is_some_and(|bodies| bodies.len() > MAX_FEW_BODIES);
    let steps = if many { STEPS_OF_MANY } else { STEPS };
    let each = |tool: &str, key: &str| {
        let [short, long] = [1, 2].map(|times| {
            let mut scene = scene.clone();
            scene["t_end"] = json!((times * steps) as f64 * scene["dt"].as_f64()?);
            scene["sample"] = json!(times * steps);
            // Intervals of all forces at the end take longer than the steps.
            scene["forces"] = json!(false);
            counted(program, folder, &scene, configuration, tool, key)
        });
        Some((long? - short?) / steps as f64)
    };
    Some(Counts {
        instructions: each("callgrind", "Collected :"),
        allocations: each("memcheck", "total heap usage:"),
    })
}

/// The number that a tool of valgrind prints behind a key.
fn counted(
    program: &[String],
    folder: &Path,
    scene: &Value,
    configuration: &str,
    tool: &str,
    key: &str,
) -> Option<f64> {
    let [input, output] = ["scene", "out"].map(|kind| folder.join(format!("counted.{kind}.json")));
    std::fs::write(&input, scene.to_string()).ok()?;
    let mut valgrind = Command::new("valgrind");
    valgrind.arg(format!("--tool={tool}"));
    if tool == "callgrind" {
        valgrind.arg("--callgrind-out-file=/dev/null");
    }
    let out = valgrind.args(program).args([&input, &output]).arg(configuration).env("RAYON_NUM_THREADS", "1");
    let text = String::from_utf8_lossy(&out.output().ok()?.stderr).into_owned();
    number_behind(&text, key)
}

/// The first number behind a key, which may have commas between thousands.
fn number_behind(text: &str, key: &str) -> Option<f64> {
    let (_, behind) = text.split_once(key)?;
    let digits: String = behind
        .trim_start()
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == ',')
        .filter(|c| *c != ',')
        .collect();
    digits.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_behind_their_key() {
        let text = "==1== Collected : 123456\n==1==   total heap usage: 1,234 allocs, 1,230 frees, 9 bytes\n";
        assert_eq!(number_behind(text, "Collected :"), Some(123_456.0));
        assert_eq!(number_behind(text, "total heap usage:"), Some(1234.0));
        assert_eq!(number_behind(text, "other"), None);
    }
}
