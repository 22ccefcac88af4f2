//! The viewer that stands in every page: built from `web/` into `crates/delassus-page/src/viewer.html`.

use std::path::Path;
use std::process::Command;

/// The file as it is committed.
const VIEWER: &str = "crates/delassus-page/src/viewer.html";

/// Builds the viewer, or with `--check` compares what would be built with what is there, or with `--test`
/// opens pages in a browser, or with `--playground` builds the playground.
pub fn run(root: &Path, arguments: &[String]) -> Result<Vec<String>, String> {
    let web = root.join("web");
    install(&web)?;
    match arguments {
        [] => {
            npm(&web, &["run", "--silent", "check"], &[])?;
            npm(&web, &["run", "--silent", "build"], &[])?;
            println!("{VIEWER}");
            Ok(vec![])
        }
        [one] if one == "--check" => check(root, &web),
        [one] if one == "--playground" => playground(root, &web),
        [one] if one == "--test" => npm(&web, &["run", "--silent", "test"], &[]).map(|()| vec![]),
        _ => Err("usage: cargo xtask web [--check | --test | --playground]".into()),
    }
}

/// The packages of the lock file, where they are not there.
fn install(web: &Path) -> Result<(), String> {
    let stamp = web.join("node_modules/.package-lock.json");
    let time = |path: &Path| path.metadata().and_then(|m| m.modified()).ok();
    if time(&stamp)
        .is_some_and(|there| time(&web.join("package-lock.json")).is_some_and(|lock| lock <= there))
    {
        return Ok(());
    }
    npm(web, &["ci", "--no-audit", "--no-fund", "--silent"], &[])
}

fn check(root: &Path, web: &Path) -> Result<Vec<String>, String> {
    npm(web, &["run", "--silent", "check"], &[])?;
    let built = root.join("target/viewer.html");
    std::fs::create_dir_all(root.join("target")).map_err(|e| format!("target: {e}"))?;
    npm(web, &["run", "--silent", "build"], &[("VIEWER_OUT", &built)])?;
    let read = |path: &Path| std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()));
    let (new, old) = (read(&built)?, read(&root.join(VIEWER))?);
    println!("{VIEWER}: {} bytes", old.len());
    Ok(if new == old { vec![] } else { vec![format!("{VIEWER} is not what web/ gives: cargo xtask web")] })
}

/// Compiles the engine to WebAssembly and builds the playground around it, into `web/dist/playground`.
fn playground(root: &Path, web: &Path) -> Result<Vec<String>, String> {
    const TARGET: &str = "wasm32-unknown-unknown";
    let mut cargo = Command::new(std::env::var("WASM_CARGO").unwrap_or_else(|_| "cargo".into()));
    cargo.args(["build", "--release", "--package", "delassus-wasm", "--target", TARGET]);
    // A toolchain without the target builds the standard library from its source.
    if let Ok(more) = std::env::var("WASM_CARGO_FLAGS") {
        cargo.args(more.split_whitespace());
    }
    let folder = root.join("target/wasm");
    let status = cargo.env("CARGO_TARGET_DIR", &folder).current_dir(root).status();
    if !status.is_ok_and(|status| status.success()) {
        return Err(format!(
            "the engine could not be built: expected the target {TARGET} (rustup target add {TARGET})"
        ));
    }
    let module = folder.join(TARGET).join("release/delassus_wasm.wasm");
    npm(web, &["run", "--silent", "playground"], &[("DELASSUS_WASM", &module)])?;
    println!("web/dist/playground/index.html");
    Ok(vec![])
}

fn npm(web: &Path, arguments: &[&str], environment: &[(&str, &Path)]) -> Result<(), String> {
    let mut command = Command::new("npm");
    command.args(arguments).current_dir(web).envs(environment.iter().copied());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("npm {}: {status}", arguments.join(" "))),
        Err(error) => Err(format!("npm {}: {error}; expected Node 20 or later", arguments.join(" "))),
    }
}
