//! The Python interpreter with independent peers of the bridge (PyPI `cyclonedds`, `rosbags`); `make test` provides it.
use std::{env, path::PathBuf};

/// `RFLY_PYTHON`; without it the calling test is skipped, unless `RFLY_REQUIRE_PYTHON=1` forbids that.
pub fn interpreter() -> Option<PathBuf> {
    if let Some(path) = env::var_os("RFLY_PYTHON").filter(|path| !path.is_empty()) {
        return Some(path.into());
    }
    assert!(
        env::var("RFLY_REQUIRE_PYTHON").as_deref() != Ok("1"),
        "RFLY_REQUIRE_PYTHON=1, but RFLY_PYTHON names no interpreter; `make test` sets both"
    );
    eprintln!(
        "skipped: RFLY_PYTHON names no interpreter with cyclonedds and rosbags (`make test` makes one)"
    );
    None
}
