//! Writes files that belong together, all or none.
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Why the files were not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetError {
    /// Files exist, and must not be replaced.
    #[error("these exist already: {}", .0.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", "))]
    Exist(Vec<PathBuf>),
    /// The system refused.
    #[error("cannot write {}: {source}", .path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}

/// Writes files, given by name and text, into a directory, which is created if needed. Files get their names after all are
/// written, so that an error leaves none of them.
/// Errors: files that exist, unless `replace`; or the first one that cannot be written.
pub fn write_set(dir: &Path, files: &[(&str, &str)], replace: bool) -> Result<(), SetError> {
    let names = files.iter().map(|(name, _)| dir.join(name));
    let there: Vec<_> = names.filter(|path| path.exists()).collect();
    if !replace && !there.is_empty() {
        return Err(SetError::Exist(there));
    }
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| SetError::Io { path, source }
    };
    fs::create_dir_all(dir).map_err(failed(dir))?;
    let part = |name: &str| dir.join(format!(".{name}.part"));
    let written = files.iter().try_for_each(|(name, text)| {
        let path = part(name);
        fs::write(&path, text).map_err(failed(&path))
    });
    let named = written.and_then(|()| {
        files.iter().try_for_each(|(name, _)| {
            let path = dir.join(name);
            fs::rename(part(name), &path).map_err(failed(&path))
        })
    });
    if named.is_err() {
        for (name, _) in files {
            // Fails for files that were not written.
            let _gone = fs::remove_file(part(name));
        }
    }
    named
}
