//! Numbers on the command line that several commands read.

/// A tolerance.
pub fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() && x >= 0.0 => Ok(x),
        _ => Err(format!("expected a number not below 0, found \"{text}\"")),
    }
}

/// A time; each command checks which times make sense.
pub fn seconds(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("expected a number of seconds, found \"{text}\""))
}

/// The law of spatial contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ContactLaw {
    /// Coulomb's law.
    Ncp,
    /// The associated law (paper 004).
    Ccp,
}
