//! Files that parameters name, read once: what the bridge works with is what a recording has.
use crate::config::Problems;
use std::path::{Path, PathBuf};

/// A file as it was read.
#[derive(Clone, Debug)]
pub struct NamedFile {
    /// The parameter that names it.
    pub parameter: &'static str,
    /// Where it was.
    pub path: PathBuf,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// Reads files, and keeps them and what is wrong with them.
#[derive(Default)]
pub(super) struct Files {
    pub(super) read: Vec<NamedFile>,
    pub(super) problems: Problems,
}

impl Files {
    /// Returns name and text.
    pub(super) fn text(
        &mut self,
        parameter: &'static str,
        path: &Path,
    ) -> Option<(String, String)> {
        let name = path.display().to_string();
        match std::fs::read_to_string(path) {
            Ok(text) => {
                self.keep(parameter, path, text.clone().into_bytes());
                Some((name, text))
            }
            Err(error) => {
                self.problems.push(name, format!("cannot be read: {error}"));
                None
            }
        }
    }

    /// Returns the bytes.
    pub(super) fn bytes(&mut self, parameter: &'static str, path: &Path) -> Option<Vec<u8>> {
        match std::fs::read(path) {
            Ok(bytes) => {
                self.keep(parameter, path, bytes.clone());
                Some(bytes)
            }
            Err(error) => {
                let problem = format!("{} cannot be read: {error}", path.display());
                self.problems.push(parameter, problem);
                None
            }
        }
    }

    fn keep(&mut self, parameter: &'static str, path: &Path, bytes: Vec<u8>) {
        self.read.push(NamedFile {
            parameter,
            path: path.to_owned(),
            bytes,
        });
    }
}
