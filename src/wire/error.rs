/// Why bytes are not the packet they were taken for.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The length differs from the fixed one, or is below the minimum.
    #[error("{what}: {found} bytes instead of {expected}")]
    Length {
        /// Packet name.
        what: &'static str,
        /// Bytes wanted.
        expected: usize,
        /// Bytes received.
        found: usize,
    },
    /// The check word at the start is another one.
    #[error("{what}: check word {found} instead of {expected}")]
    Tag {
        /// Packet name.
        what: &'static str,
        /// Check word wanted.
        expected: i64,
        /// Check word received.
        found: i64,
    },
    /// A field has a value that no sender may use.
    #[error("{what}: field `{field}` has the impossible value {found}")]
    Field {
        /// Packet name.
        what: &'static str,
        /// Field name.
        field: &'static str,
        /// Value received.
        found: i64,
    },
}
