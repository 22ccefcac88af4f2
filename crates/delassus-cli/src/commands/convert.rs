//! `delassus convert`: a problem in another format.

use std::path::PathBuf;

use clap::Args;
use delassus_files::{read_all, write};
use serde_json::json;

use crate::output::{CommandResult, json_text, print};

/// Arguments of `convert`.
#[derive(Args)]
pub struct ConvertArgs {
    /// Problem file: Siconos .dat, FCLib .hdf5 or own .json
    pub input: PathBuf,
    /// File to write; its extension selects the format: .dat, .hdf5, .h5 or .json
    pub output: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Runs the command: 0 written; a format that cannot hold the problem is misuse.
pub fn run(args: &ConvertArgs) -> CommandResult {
    let read = read_all(&args.input).map_err(|e| format!("error: {e}"))?;
    write(&args.output, &read.problem).map_err(|e| format!("error: {e}"))?;
    let kind = read.problem.kind();
    let text = if args.json {
        let document = json!({ "kind": kind, "contacts": read.problem.contacts(), "lost": read.ignored });
        json_text(&document)
    } else {
        let mut text = format!("{}: {kind}\n", args.output.display());
        for what in &read.ignored {
            text += &format!("lost: {what}\n");
        }
        text
    };
    print(&text);
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::MISUSE;

    #[test]
    fn there_and_back() {
        let folder = std::env::temp_dir().join(format!("delassus-convert-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let at = |name: &str| folder.join(name);
        let convert = |a: &str, b: &str| {
            run(&ConvertArgs { input: at(a), output: at(b), json: true }).unwrap_or(MISUSE)
        };
        std::fs::write(at("fc2d_a.dat"), "2 1 0 2 2 2 2 1 0 0 1 -2 3 0.1").unwrap();
        assert_eq!(convert("fc2d_a.dat", "b.hdf5"), 0);
        assert_eq!(convert("b.hdf5", "c.json"), 0);
        assert_eq!(convert("c.json", "d.dat"), 0);
        let read = |name: &str| delassus_files::read(&at(name)).unwrap();
        assert_eq!(read("fc2d_a.dat"), read("d.dat"));
        assert_eq!(convert("missing.dat", "e.json"), 2);
        std::fs::write(at("lcp_a.dat"), "1 0 1 1 1 1 1 1").unwrap();
        assert_eq!(convert("lcp_a.dat", "e.hdf5"), 2);
        assert!(!at("e.hdf5").exists());
        for unknown in ["e.xml", "e", "e.dat.bak"] {
            assert_eq!(convert("fc2d_a.dat", unknown), 2, "{unknown}");
            assert!(!at(unknown).exists(), "{unknown}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
