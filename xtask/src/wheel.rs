//! The Python package as a wheel, by maturin in an environment of its own.

use std::path::Path;
use std::process::Command;

/// Builds the wheel into `target/wheels`.
pub fn build(root: &Path) -> Result<(), String> {
    let environment = root.join("target/python");
    let python = environment.join("bin/python");
    if !python.exists() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    }
    run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "maturin>=1.9,<2"]))?;
    run(Command::new(&python)
        .args(["-m", "maturin", "build", "--release", "--out", "target/wheels"])
        .current_dir(root))
}

fn run(command: &mut Command) -> Result<(), String> {
    let text = format!("{command:?}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{text}: {status}")),
        Err(error) => Err(format!("{text}: {error}; expected Python 3.10 or later with venv")),
    }
}
