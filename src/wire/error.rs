/// Why bytes are not the expected packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The length differs from the fixed one, or is below the minimum.
    #[error("{what}: {found} bytes instead of {expected}")]
    Length {
        /// Packet name.
        what: &'static str,
        /// Required bytes.
        expected: usize,
        /// Bytes received.
        found: usize,
    },
    /// Wrong check word.
    #[error("{what}: check word {found} instead of {expected}")]
    Tag {
        /// Packet name.
        what: &'static str,
        /// Required check word.
        expected: i64,
        /// Check word received.
        found: i64,
    },
    /// A field has an invalid value.
    #[error("{what}: field `{field}` has the invalid value {found}")]
    Field {
        /// Packet name.
        what: &'static str,
        /// Field name.
        field: &'static str,
        /// Value received.
        found: i64,
    },
}
