//! What `/diagnostics` says of one part of the bridge.

/// Level of a status in `/diagnostics`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// As it should be.
    Ok,
    /// Something is missing.
    Warn,
    /// Something is broken.
    Error,
    /// Nothing is known yet.
    Stale,
}

/// A status, as `/diagnostics` has it.
#[derive(Debug)]
pub struct Finding {
    /// How bad it is.
    pub level: Level,
    /// The worst, in a sentence.
    pub message: String,
    /// Everything.
    pub values: Vec<(String, String)>,
}

/// A part of the bridge with a status of its own in `/diagnostics`.
pub(super) trait Section: Send {
    /// What the status is called.
    fn name(&self) -> &'static str;

    /// Looks, once per report.
    fn look(&mut self) -> Finding;
}

/// A value of a status.
pub(super) fn value(key: impl ToString, value: impl ToString) -> (String, String) {
    (key.to_string(), value.to_string())
}
