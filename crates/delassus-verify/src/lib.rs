//! Checks certificates: documents that state a problem, a claim about it, and facts that prove the claim.
//!
//! ```text
//! problem ⊨ facts ,   facts ⇒ claim          in rational numbers and intervals between them
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
mod fault;
mod number;
mod pieces;
mod problem;
mod reduced;
mod resistance;
mod solution;

use serde_json::Value;

use document::{inside, read, word};
pub use fault::Fault;

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
        "contact-problem" => contact::check(document),
        other => Err(inside(
            "kind",
            Fault::Form(format!(
                "expected \"balance\", \"resistance\" or \"contact-problem\", found \"{other}\""
            )),
        )),
    }
}
