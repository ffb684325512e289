/// Why bytes are not the expected packet; `what` is its name.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages explain the fields")]
#[non_exhaustive]
pub enum WireError {
    /// The length differs from the fixed one, or is below the minimum.
    #[error("{what}: {found} bytes instead of {expected}")]
    Length { what: &'static str, expected: usize, found: usize },
    /// Wrong check word.
    #[error("{what}: check word {found} instead of {expected}")]
    Tag { what: &'static str, expected: i64, found: i64 },
    /// A field has an invalid value.
    #[error("{what}: field `{field}` has the invalid value {found}")]
    Field { what: &'static str, field: &'static str, found: i64 },
}
