//! Writes files that belong together, all or none.
use std::path::{Path, PathBuf};
use std::{fs, io};

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
/// written: if the text of one cannot be written, the directory has none of them.
/// Errors: files that exist, unless `replace`; or the first one that cannot be written.
pub fn write_set(dir: &Path, files: &[(&str, &str)], replace: bool) -> Result<(), SetError> {
    let names = files.iter().map(|(name, _)| dir.join(name));
    let existing: Vec<_> = names.filter(|path| path.exists()).collect();
    if !replace && !existing.is_empty() {
        return Err(SetError::Exist(existing));
    }
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| SetError::Io { path, source }
    };
    fs::create_dir_all(dir).map_err(failed(dir))?;
    let part_path = |name: &str| dir.join(format!(".{name}.part"));
    let written = files.iter().try_for_each(|(name, text)| {
        let path = part_path(name);
        fs::write(&path, text).map_err(failed(&path))
    });
    let renamed = written.and_then(|()| {
        files.iter().try_for_each(|(name, _)| {
            let path = dir.join(name);
            fs::rename(part_path(name), &path).map_err(failed(&path))
        })
    });
    if renamed.is_err() {
        for (name, _) in files {
            // Fails for files that were not written.
            let _removed = fs::remove_file(part_path(name));
        }
    }
    renamed
}
