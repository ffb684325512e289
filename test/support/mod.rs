//! What several test modules need.
