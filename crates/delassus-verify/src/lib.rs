//! Checks certificates: documents that state a problem, a claim about it, and facts that prove the claim.
//!
//! ```text
//! problem ⊨ facts ,   facts ⇒ claim          in rational numbers and intervals between them or between doubles
//! ```
//!
//! The book's chapter on certificates has the format, the claims and their proofs. Nothing is believed: what
//! a claim needs is computed from the problem in the document. This crate uses no other of the workspace, so
//! that it shares no line with what finds and writes certificates.
#![forbid(unsafe_code)]

mod balance;
mod contact;
mod definite;
mod document;
mod faces;
mod fault;
mod margin;
mod number;
mod paving;
mod pieces;
mod problem;
mod reduced;
mod resistance;
mod solution;

use serde_json::Value;

use document::{at, inside, items, numbered, read, word};
pub use fault::Fault;

/// What a document may be.
const KINDS: [&str; 7] = ["balance", "margin", "resistance", "faces", "contact-problem", "paving", "list"];

/// Checks a certificate; gives what it proves, in words.
pub fn verify(document: &Value) -> Result<String, Fault> {
    if document.get("format").and_then(Value::as_str) != Some("delassus-certificate") {
        return Err(Fault::Form("expected \"format\": \"delassus-certificate\"".into()));
    }
    if document.get("version").and_then(Value::as_u64) != Some(1) {
        return Err(Fault::Form("version: expected 1".into()));
    }
    match read(document, "kind", word)? {
        "balance" => balance::check(document),
        "resistance" => resistance::check(document),
        "margin" => margin::check(document),
        "faces" => faces::check(document),
        "paving" => paving::check(document),
        "list" => check_list(document),
        "contact-problem" => contact::check(document),
        other => Err(inside(
            "kind",
            Fault::Form(format!("expected one of {}, found \"{other}\"", KINDS.join(", "))),
        )),
    }
}

/// Several certificates in one document.
fn check_list(document: &Value) -> Result<String, Fault> {
    let all = read(document, "certificates", items)?;
    let nested = |own: &Value| own.get("kind").and_then(Value::as_str) == Some("list");
    if all.is_empty() || all.iter().any(nested) {
        return Err(Fault::Form("certificates: expected some, and none of them a list".into()));
    }
    let said = numbered(all).map(|(i, own)| verify(own).map_err(|e| at("certificates", i, e)));
    Ok(said.collect::<Result<Vec<String>, Fault>>()?.join("; "))
}
