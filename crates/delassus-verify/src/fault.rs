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
            Fault::Form(text) | Fault::Unproved(text) => f.write_str(&short(text)),
        }
    }
}

/// One line of bounded length: what was found may be anything.
fn short(text: &str) -> String {
    const MOST: usize = 300;
    let clean = |c: char| if c.is_control() { ' ' } else { c };
    let cut = if text.chars().nth(MOST).is_some() { " …" } else { "" };
    text.chars().take(MOST).map(clean).collect::<String>() + cut
}

impl std::error::Error for Fault {}

/// Facts that do not prove the claim.
pub(super) fn refuse<T>(why: &str) -> Result<T, Fault> {
    Err(Fault::Unproved(why.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_one_short_line() {
        let found = Fault::Form(format!("expected a number, found \"a\nb{}\"", "9".repeat(1000))).to_string();
        assert!(found.starts_with("expected a number, found \"a b99") && found.chars().count() < 320);
    }
}
