//! Why a certificate is not accepted.

/// Why a certificate is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is no certificate: what was expected where.
    Form(String),
    /// Its facts do not prove its claim: why not.
    Unproved(String),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Fault::Form(text) | Fault::Unproved(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Fault {}

/// Facts that do not prove the claim.
pub(super) fn refuse<T>(why: &str) -> Result<T, Fault> {
    Err(Fault::Unproved(why.into()))
}
