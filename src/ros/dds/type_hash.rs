//! Type hashes (REP 2011, RIHS01) of the messages that the bridge knows.
pub(super) fn of(_type_name: &str) -> Option<&'static str> {
    None
}
