//! Certificates: written where they prove the verdict, and checked by `delassus verify`.

use std::path::{Path, PathBuf};

use clap::Args;
use delassus_verify::{Fault, verify};
use serde_json::{Value, json};

use crate::output::{CommandResult, json_text, print};

/// The exit code where a certificate was asked for and none proves the verdict.
pub const NO_CERTIFICATE: u8 = 3;

/// Writes a certificate that was checked; where there is none, or it proves nothing, says so and gives the
/// exit code of that.
pub fn write_certificate(path: &Path, certificate: Option<Value>) -> Result<Option<u8>, String> {
    let missing = |why: &str| {
        eprintln!("no certificate for this verdict{why}");
        Ok(Some(NO_CERTIFICATE))
    };
    let Some(certificate) = certificate else { return missing("") };
    if let Err(fault) = verify(&certificate) {
        return missing(&format!(": its margins are too narrow to be checked by other means ({fault})"));
    }
    std::fs::write(path, format!("{certificate}\n"))
        .map_err(|e| format!("error: {}: {e}\n", path.display()))?;
    Ok(None)
}

/// Arguments of `verify`.
#[derive(Args)]
pub struct VerifyArgs {
    /// File that --certificate of another command wrote
    pub file: PathBuf,
    /// Print one JSON document
    #[arg(long)]
    pub json: bool,
}

/// Runs the command: 0 where the certificate proves its claim, 1 where it does not.
pub fn run(args: &VerifyArgs) -> CommandResult {
    let name = args.file.display();
    let text = std::fs::read_to_string(&args.file).map_err(|e| format!("error: {name}: {e}"))?;
    let document: Value = serde_json::from_str(&text)
        .map_err(|e| format!("error: {name}: expected a certificate in JSON: {e}"))?;
    let (verified, said) = match verify(&document) {
        Ok(proved) => (true, proved),
        Err(Fault::Unproved(why)) => (false, why),
        Err(Fault::Form(message)) => return Err(format!("error: {name}: no certificate: {message}")),
    };
    let (kind, about) = (&document["kind"], &document["about"]);
    if args.json {
        let key = if verified { "proves" } else { "fault" };
        print(&json_text(&json!({ "verified": verified, "kind": kind, "about": about, key: said })));
    } else {
        let word = if verified { "verified" } else { "not proved" };
        let about =
            about.as_str().filter(|about| !about.is_empty()).map_or(String::new(), |a| format!("{a}: "));
        print(&format!("{word}: {about}{said}\n"));
    }
    Ok(u8::from(!verified))
}
